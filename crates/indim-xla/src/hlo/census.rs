//! What a program asks for that is not to be had, all of it at once: whoever has the file decides from that.

use indim_model::{Census, FormatError, FormatErrorKind, Location};

use super::attribute::Attributes;
use super::meaning::{Meaning, Shaped, gather};
use super::reducer;
use super::syntax::{Instruction, Module, Shape};

/// Goes through the computation `entry` and all that it calls.
///
/// # Errors
/// `unsupported-op`, with all of them; then `unsupported-type`, `unsupported` of the first type.
pub(super) fn check(module: &Module, text: &str, entry: usize) -> Result<(), FormatError> {
    let computations = vec![None; module.computations.len()];
    let mut walk = Walk { module, text, census: Census::default(), first_type: None, computations };
    walk.reach(entry, false);
    // What is called stands above, so that it is reached before it is come to.
    for number in (0..=entry).rev() {
        if let Some(is_map) = walk.computations[number] {
            for instruction in &module.computations[number].instructions {
                walk.instruction(instruction, is_map);
            }
        }
    }
    walk.census.check()?;
    walk.first_type.map_or(Ok(()), Err)
}

struct Walk<'m> {
    module: &'m Module,
    text: &'m str,
    census: Census,
    first_type: Option<FormatError>,
    /// For each computation that is reached, whether by a map.
    computations: Vec<Option<bool>>,
}

impl Walk<'_> {
    fn reach(&mut self, computation: usize, is_map: bool) {
        let before = self.computations[computation].unwrap_or(false);
        self.computations[computation] = Some(before || is_map);
    }

    fn is_reducer(&self, computation: usize) -> bool {
        reducer::of(&self.module.computations[computation], self.text).is_some()
    }

    fn add(&mut self, instruction: &Instruction, name: &str, reason: Option<&str>) {
        let place = Location::text(instruction.span.start..instruction.span.end);
        self.census.add(name, reason.map(str::to_owned), place);
    }

    fn instruction(&mut self, instruction: &Instruction, is_map: bool) {
        let opcode = &instruction.opcode;
        let Some(meaning) = Meaning::of(opcode) else {
            return self.add(instruction, opcode, None);
        };
        instruction.shape.iter().for_each(|shape| self.shape(shape));
        if is_map && !meaning.is_elementwise() {
            self.add(instruction, opcode, Some("it stands in what a map applies"));
        }
        match (meaning, instruction.called) {
            (Meaning::Call, Some(called)) => self.reach(called, is_map),
            (Meaning::Map, Some(called)) => self.reach(called, true),
            (Meaning::Reduce, Some(called)) if !self.is_reducer(called) => {
                let reason = "what it applies is no sum, product, maximum, minimum, and, or, xor, \
                              or argmax";
                self.add(instruction, opcode, Some(reason));
            }
            (Meaning::Array(Shaped::Gather), _) => {
                let gather = gather(Attributes { text: self.text, instruction }).ok();
                if let Some(reason) = gather.and_then(|gather| gather.refusal()) {
                    self.add(instruction, opcode, Some(reason));
                }
            }
            (Meaning::CustomCall, _) => {
                let attributes = Attributes { text: self.text, instruction };
                let target = attributes.optional("custom_call_target").unwrap_or("");
                if target != "\"Sharding\"" {
                    self.add(instruction, &format!("custom-call {target}"), None);
                }
            }
            _ => {}
        }
    }

    /// The types of unsupported elements, the first in the text. Types are nested as deep as the parser
    /// allows.
    fn shape(&mut self, shape: &Shape) {
        let (kind, span) = match shape {
            Shape::Array(..) => return,
            Shape::Tuple(parts) => return parts.iter().for_each(|part| self.shape(part)),
            Shape::Dynamic(span) => {
                let what = "sizes that are not known are".to_owned();
                (FormatErrorKind::Unsupported { what }, span)
            }
            Shape::Other(span) => {
                let name = span.of(self.text).to_owned();
                (FormatErrorKind::UnsupportedType { name }, span)
            }
        };
        let start = |error: &FormatError| error.place.span.as_ref().map_or(0, |span| span.start);
        if self.first_type.as_ref().is_none_or(|first| span.start < start(first)) {
            self.first_type = Some(kind.in_text(span.start..span.end));
        }
    }
}
