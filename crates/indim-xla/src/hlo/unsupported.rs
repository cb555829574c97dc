//! Unsupported operations and types: one error lists all operations; another has the first type.

use indim_model::{FormatError, FormatErrorKind, Location, UnsupportedOperations};

use super::attribute::Attributes;
use super::elaborate::is_top_k;
use super::lowering::Lowering;
use super::reducer;
use super::syntax::{HloShape, Instruction, Module};
use crate::reducer::{NOT_ASSOCIATIVE, Reducer};
use crate::select_scatter::UNKNOWN_BODIES;

/// Checks the computation `entry` and all computations that it calls.
///
/// # Errors
/// `unsupported-op`, with all operations; then `unsupported-type`, `unsupported` for the first type.
pub(super) fn check(module: &Module, text: &str, entry: usize) -> Result<(), FormatError> {
    let computations = vec![None; module.computations.len()];
    let mut walk = UnsupportedWalk {
        module,
        text,
        carries: false,
        unsupported: UnsupportedOperations::default(),
        first_type: None,
        computations,
    };
    walk.mark_called(entry, false);
    // Called computations come before their callers, so in reverse order a caller marks its callees first.
    for number in (0..=entry).rev() {
        if let Some(is_map) = walk.computations[number] {
            for instruction in &module.computations[number].instructions {
                walk.instruction(instruction, is_map);
            }
        }
    }
    walk.unsupported.check()?;
    walk.first_type.map_or(Ok(()), Err)
}

/// Whether each instruction of each computation up to `entry` is unsupported, or calls a computation with
/// one that is. If `carries` is true, so is an instruction that a copy of the program keeps: one that the
/// writer lacks, or that means more than its result to other programs.
pub(super) fn unsupported_instructions(
    module: &Module,
    text: &str,
    entry: usize,
    carries: bool,
) -> Vec<Vec<bool>> {
    let computations = vec![None; module.computations.len()];
    let mut walk = UnsupportedWalk {
        module,
        text,
        carries,
        unsupported: UnsupportedOperations::default(),
        first_type: None,
        computations,
    };
    let mut unsupported_instructions: Vec<Vec<bool>> = Vec::with_capacity(entry + 1);
    let mut is_unsupported: Vec<bool> = Vec::with_capacity(entry + 1);
    // Called computations come before their callers.
    for computation in &module.computations[..=entry] {
        let is_instruction_unsupported = |instruction: &Instruction| {
            walk.instruction(instruction, false);
            // `instruction` has marked the computation if it inlines the call; `take` removes the mark.
            let called = instruction.called.filter(|&it| walk.computations[it].take().is_some());
            let mut callees = called.into_iter().chain(instruction.regions.iter().copied());
            let calls_unsupported = callees.any(|it| is_unsupported.get(it) == Some(&true));
            let has_type = walk.first_type.take().is_some() && carries;
            let is_own = core::mem::take(&mut walk.unsupported).check().is_err();
            is_own || has_type || calls_unsupported
        };
        let are_unsupported: Vec<bool> =
            computation.instructions.iter().map(is_instruction_unsupported).collect();
        is_unsupported.push(are_unsupported.contains(&true));
        unsupported_instructions.push(are_unsupported);
    }
    unsupported_instructions
}

struct UnsupportedWalk<'m> {
    module: &'m Module,
    text: &'m str,
    /// Whether to refuse the instructions that a copy of the program keeps.
    carries: bool,
    unsupported: UnsupportedOperations,
    /// The error of the first unsupported type in the text.
    first_type: Option<FormatError>,
    /// For each computation, whether a map calls it; `None` if the walk has not reached it.
    computations: Vec<Option<bool>>,
}

impl UnsupportedWalk<'_> {
    /// Marks a computation as called; `is_map` if a map calls it.
    fn mark_called(&mut self, computation: usize, is_map: bool) {
        let before = self.computations[computation].unwrap_or(false);
        self.computations[computation] = Some(before || is_map);
    }

    fn add(&mut self, instruction: &Instruction, name: &str, reason: Option<&str>) {
        let location = Location::text(instruction.span.start..instruction.span.end);
        self.unsupported.add(name, reason.map(str::to_owned), location);
    }

    fn instruction(&mut self, instruction: &Instruction, is_map: bool) {
        let opcode = &instruction.opcode;
        let Some(lowering) = Lowering::of(opcode) else {
            return self.add(instruction, opcode, None);
        };
        instruction.shape.iter().for_each(|shape| self.shape(shape));
        if is_map && !lowering.is_elementwise() {
            self.add(instruction, opcode, Some("it stands in what a map applies"));
        }
        if self.carries && self.is_more_than_its_result(instruction, lowering) {
            self.add(instruction, opcode, None);
        }
        match (lowering, instruction.called) {
            (Lowering::Call, Some(called)) => self.mark_called(called, is_map),
            (Lowering::Map, Some(called)) => self.mark_called(called, true),
            (Lowering::While | Lowering::Conditional, _) => {
                instruction.regions.iter().for_each(|&region| self.mark_called(region, false));
            }
            (Lowering::Reduce | Lowering::ReduceWindow, Some(called)) => {
                match reducer::of(&self.module.computations[called], self.text) {
                    Some(Reducer::NotAssociative(_)) => {
                        self.add(instruction, opcode, Some(NOT_ASSOCIATIVE));
                    }
                    Some(_) => {}
                    None => self.mark_called(called, false),
                }
            }
            (Lowering::Sort, Some(called)) => {
                let computation = &self.module.computations[called];
                let count = instruction.operands.len();
                if reducer::comparator_of(computation, self.text, count).is_none() {
                    let reason = "the function that it applies is not one comparison of a pair";
                    self.add(instruction, opcode, Some(reason));
                }
            }
            (Lowering::Scatter, Some(called))
                if reducer::updates_of(&self.module.computations[called], self.text).is_none() =>
            {
                let reason = "the function that it applies is not the update, or a sum, product, maximum or \
                              minimum of each pair";
                self.add(instruction, opcode, Some(reason));
            }
            (Lowering::SelectAndScatter, _)
                if reducer::select_and_scatter_of(instruction, self.module, self.text)
                    .is_none() =>
            {
                self.add(instruction, opcode, Some(UNKNOWN_BODIES));
            }
            (Lowering::CustomCall, _) if is_top_k(instruction, self.text) => {}
            (Lowering::CustomCall, _) => {
                let attributes = Attributes { text: self.text, instruction };
                let target = attributes.optional("custom_call_target").unwrap_or("");
                if target != "\"Sharding\"" {
                    self.add(instruction, &format!("custom-call {target}"), None);
                }
            }
            _ => {}
        }
    }

    /// Whether the writer lacks an instruction, or the instruction tells other programs more than its result.
    fn is_more_than_its_result(&self, instruction: &Instruction, lowering: Lowering) -> bool {
        let marks = ["sharding", "frontend_attributes", "control-predecessors"];
        matches!(lowering, Lowering::While | Lowering::Conditional | Lowering::CustomCall)
            || marks.iter().any(|mark| instruction.attribute(self.text, mark).is_some())
            || instruction.shape.as_ref().is_some_and(HloShape::has_own_layout)
    }

    /// Notes the first unsupported type in the text. The recursion is bounded by the parser's nesting
    /// limit.
    fn shape(&mut self, shape: &HloShape) {
        let (kind, span) = match shape {
            HloShape::Array(..) => return,
            HloShape::Tuple(parts) => return parts.iter().for_each(|part| self.shape(part)),
            HloShape::Dynamic(span) => {
                let what = "sizes that are not known are".to_owned();
                (FormatErrorKind::Unsupported { what }, span)
            }
            HloShape::Other(span) => {
                let name = span.of(self.text).to_owned();
                (FormatErrorKind::UnsupportedType { name }, span)
            }
        };
        let start = |error: &FormatError| error.location.span.as_ref().map_or(0, |span| span.start);
        if self.first_type.as_ref().is_none_or(|first| span.start < start(first)) {
            self.first_type = Some(kind.in_text(span.start..span.end));
        }
    }
}
