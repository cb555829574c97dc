//! The census of unsupported operations and types: one error lists all of them.

use std::collections::HashSet;

use indim_model::{Census, FormatError, FormatErrorKind, Location};

use super::attribute::AttributeReader;
use super::lowering::{ExpectOperation, Lowering};
use super::reducer;
use super::syntax::{Block, Module, SyntaxOperation, Type};

/// Checks the function `entry` and all functions that it calls.
///
/// # Errors
/// `unsupported-op`, with all operations; then `unsupported-type`, `unsupported` for the first type.
pub(super) fn check(
    module: &Module,
    attributes: &AttributeReader<'_>,
    entry: usize,
) -> Result<(), FormatError> {
    let mut walk = CensusWalk::new(module, attributes);
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

/// The refused operations of a module: operations without a lowering, and calls of functions that
/// contain one.
pub(super) struct Refusals<'m> {
    module: &'m Module,
    attributes: &'m AttributeReader<'m>,
    is_refused: Vec<bool>,
}

impl<'m> Refusals<'m> {
    pub(super) fn of(module: &'m Module, attributes: &'m AttributeReader<'m>) -> Self {
        let is_refused = vec![false; module.functions.len()];
        let mut refusals = Refusals { module, attributes, is_refused };
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); module.functions.len()];
        let mut waiting = Vec::new();
        for (number, function) in module.functions.iter().enumerate() {
            let operations = function.body.iter().flat_map(|body| &body.operations);
            for operation in operations {
                let (is_own, called) = refusals.census(operation);
                called.into_iter().for_each(|called| callers[called].push(number));
                if is_own && !core::mem::replace(&mut refusals.is_refused[number], true) {
                    waiting.push(number);
                }
            }
        }
        while let Some(number) = waiting.pop() {
            for &caller in &callers[number] {
                if !core::mem::replace(&mut refusals.is_refused[caller], true) {
                    waiting.push(caller);
                }
            }
        }
        refusals
    }

    /// Whether an operation has no lowering, or calls a function with an operation that has none.
    pub(super) fn is_refused(&self, operation: &SyntaxOperation) -> bool {
        let (is_own, called) = self.census(operation);
        is_own || called.into_iter().any(|called| self.is_refused[called])
    }

    /// Whether the operation itself has no lowering, and the indices of the functions that it calls.
    fn census(&self, operation: &SyntaxOperation) -> (bool, Vec<usize>) {
        let mut walk = CensusWalk::new(self.module, self.attributes);
        walk.any_operation(operation, false);
        (walk.census.check().is_err(), walk.waiting)
    }
}

struct CensusWalk<'m> {
    module: &'m Module,
    attributes: &'m AttributeReader<'m>,
    census: Census,
    first_type: Option<FormatError>,
    seen: HashSet<usize>,
    /// Worklist of called functions.
    waiting: Vec<usize>,
}

impl<'m> CensusWalk<'m> {
    fn new(module: &'m Module, attributes: &'m AttributeReader<'m>) -> Self {
        let (census, seen, waiting) = (Census::default(), HashSet::new(), Vec::new());
        CensusWalk { module, attributes, census, first_type: None, seen, waiting }
    }

    fn reach(&mut self, function: usize) {
        if self.seen.insert(function) {
            self.waiting.push(function);
        }
    }

    /// Adds the function in an attribute to the worklist; an undefined one is reported at the call.
    fn called(&mut self, operation: &SyntaxOperation, name: &str) {
        if let Some(span) = self.attributes.optional(operation, name)
            && let Some(function) = self.module.function(&self.attributes.name(span))
        {
            self.reach(function);
        }
    }

    /// Notes the first unsupported type in the text.
    fn value_type(&mut self, value_type: &Type) {
        let (kind, span) = match value_type {
            Type::Array(_) => return,
            // The recursion is bounded by the parser's nesting limit.
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

    fn add(&mut self, operation: &SyntaxOperation, name: &str, reason: Option<&str>) {
        let place = Location::text(operation.span.start..operation.span.end);
        self.census.add(name, reason.map(str::to_owned), place);
    }

    /// Counts the operations of a block. The recursion is bounded by the parser's nesting limit.
    fn block(&mut self, block: &Block, is_map: bool) {
        block.operations.iter().for_each(|operation| self.any_operation(operation, is_map));
    }

    fn any_operation(&mut self, operation: &SyntaxOperation, is_map: bool) {
        let Some(lowering) = Lowering::of(&operation.name) else {
            return self.add(operation, &operation.name, None);
        };
        operation.signature.types().for_each(|value_type| self.value_type(value_type));
        if is_map && !lowering.is_elementwise() {
            self.add(operation, &operation.name, Some("it stands in the body of a map"));
        }
        self.operation(operation, lowering);
    }

    fn operation(&mut self, operation: &SyntaxOperation, lowering: Lowering) {
        match lowering {
            Lowering::Call => self.called(operation, "callee"),
            Lowering::Composite => self.called(operation, "decomposition"),
            Lowering::Map => operation.regions.iter().for_each(|region| self.block(region, true)),
            Lowering::While | Lowering::Case | Lowering::If => {
                operation.regions.iter().for_each(|region| self.block(region, false));
            }
            Lowering::Reduce | Lowering::ReduceWindow
                if reducer::of(operation, self.attributes).is_none() =>
            {
                let reason =
                    "its body is not a sum, product, maximum, minimum, and, or, xor, or argmax";
                self.add(operation, &operation.name, Some(reason));
            }
            Lowering::Sort if reducer::comparator_of(operation, self.attributes).is_none() => {
                let reason = "its body is not one comparison of a pair";
                self.add(operation, &operation.name, Some(reason));
            }
            Lowering::Scatter if reducer::updates_of(operation, self.attributes).is_none() => {
                let reason = "its body is not the update, or a sum, product, maximum or minimum of each pair";
                self.add(operation, &operation.name, Some(reason));
            }
            Lowering::CustomCall => {
                let target = call_target(operation, self.attributes);
                if target != "Sharding" && ExpectOperation::of(&target).is_none() {
                    self.add(operation, &format!("{} @{target}", operation.name), None);
                }
            }
            _ => {}
        }
    }
}

/// The function that a custom call names.
pub(super) fn call_target(operation: &SyntaxOperation, attributes: &AttributeReader<'_>) -> String {
    let target = attributes.optional(operation, "call_target_name");
    target.map(|span| attributes.name(span)).unwrap_or_default()
}
