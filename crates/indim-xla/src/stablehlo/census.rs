//! What a program asks for that is not to be had, all of it at once: whoever has the file decides from that.

use indim_model::{Census, FormatError, FormatErrorKind, Location};

use super::attribute::Attributes;
use super::meaning::{Expected, Meaning, Shaped, gather};
use super::reducer;
use super::syntax::{Block, Module, Operation, Type};

/// Goes through the function `entry` and all that it calls.
///
/// # Errors
/// `unsupported-op`, with all of them; then `unsupported-type`, `unsupported` of the first type.
pub(super) fn check(
    module: &Module,
    attributes: &Attributes<'_>,
    entry: usize,
) -> Result<(), FormatError> {
    let mut walk = Walk {
        module,
        attributes,
        census: Census::default(),
        first_type: None,
        seen: vec![false; module.functions.len()],
        waiting: Vec::new(),
    };
    walk.reach(entry);
    while let Some(number) = walk.waiting.pop() {
        let function = &module.functions[number];
        function.results.iter().for_each(|result| walk.value_type(&result.value_type));
        if let Some(body) = &function.body {
            body.arguments.iter().for_each(|argument| walk.value_type(&argument.value_type));
            walk.block(body, false);
        }
    }
    walk.census.check()?;
    walk.first_type.map_or(Ok(()), Err)
}

struct Walk<'m> {
    module: &'m Module,
    attributes: &'m Attributes<'m>,
    census: Census,
    first_type: Option<FormatError>,
    seen: Vec<bool>,
    /// Functions that are called, but not gone through yet.
    waiting: Vec<usize>,
}

impl Walk<'_> {
    fn reach(&mut self, function: usize) {
        if !core::mem::replace(&mut self.seen[function], true) {
            self.waiting.push(function);
        }
    }

    /// The function that an attribute names; that there is none, is found where it is called.
    fn called(&mut self, operation: &Operation, name: &str) {
        if let Some(span) = self.attributes.optional(operation, name)
            && let Some(function) = self.module.function(&self.attributes.name(span))
        {
            self.reach(function);
        }
    }

    /// The types of unsupported elements, the first in the text.
    fn value_type(&mut self, value_type: &Type) {
        let (kind, span) = match value_type {
            Type::Array(_) => return,
            // Nested as deep as the parser allows.
            Type::Tuple(parts) => return parts.iter().for_each(|part| self.value_type(part)),
            Type::Dynamic(span) => {
                let what = "sizes that are not known, `?`, are".to_owned();
                (FormatErrorKind::Unsupported { what }, span)
            }
            Type::Other(span) => {
                let name = span.of(self.attributes.text).to_owned();
                (FormatErrorKind::UnsupportedType { name }, span)
            }
        };
        let start = |error: &FormatError| error.place.span.as_ref().map_or(0, |span| span.start);
        if self.first_type.as_ref().is_none_or(|first| span.start < start(first)) {
            self.first_type = Some(kind.in_text(span.start..span.end));
        }
    }

    fn add(&mut self, operation: &Operation, name: &str, reason: Option<&str>) {
        let place = Location::text(operation.span.start..operation.span.end);
        self.census.add(name, reason.map(str::to_owned), place);
    }

    /// Regions are nested as deep as the parser allows.
    fn block(&mut self, block: &Block, is_map: bool) {
        for operation in &block.operations {
            let Some(meaning) = Meaning::of(&operation.name) else {
                self.add(operation, &operation.name, None);
                continue;
            };
            operation.signature.types().for_each(|value_type| self.value_type(value_type));
            if is_map && !meaning.is_elementwise() {
                self.add(operation, &operation.name, Some("it stands in the body of a map"));
            }
            self.operation(operation, meaning);
        }
    }

    fn operation(&mut self, operation: &Operation, meaning: Meaning) {
        match meaning {
            Meaning::Call => self.called(operation, "callee"),
            Meaning::Composite => self.called(operation, "decomposition"),
            Meaning::Map => operation.regions.iter().for_each(|region| self.block(region, true)),
            Meaning::Reduce if reducer::of(operation, self.attributes).is_none() => {
                let reason =
                    "its body is no sum, product, maximum, minimum, and, or, xor, or argmax";
                self.add(operation, &operation.name, Some(reason));
            }
            Meaning::Array(Shaped::Gather) => {
                let gather = gather(operation, self.attributes).ok();
                if let Some(reason) = gather.and_then(|gather| gather.refusal()) {
                    self.add(operation, &operation.name, Some(reason));
                }
            }
            Meaning::CustomCall => {
                let target = self.attributes.optional(operation, "call_target_name");
                let target = target.map(|span| self.attributes.name(span)).unwrap_or_default();
                if target != "Sharding" && Expected::of(&target).is_none() {
                    self.add(operation, &format!("{} @{target}", operation.name), None);
                }
            }
            _ => {}
        }
    }
}
