//! The part of the entry computation between instructions that the caller names.

use std::collections::HashMap;

use indim_model::{FormatError, FormatErrorKind, ReadOptions, remaining_positions};
use indim_text::Span;

use super::syntax::{Computation, HloShape, Instruction, Module};
use super::{SourceText, entry, user_name};

/// The names of the part's inputs and outputs.
#[derive(Debug, Default)]
pub(super) struct PartNames {
    /// Names of the inputs, by the index of the parameter's instruction in the restricted computation.
    starts: HashMap<usize, String>,
    /// Names of the outputs.
    pub(super) ends: Vec<String>,
}

impl PartNames {
    /// The name of an instruction at which the part starts.
    pub(super) fn start_name(&self, instruction: usize) -> Option<&str> {
        self.starts.get(&instruction).map(String::as_str)
    }
}

/// Restricts the module to a part: its first instructions become parameters, its last ones the result, and
/// instructions that the result does not need are removed.
///
/// # Errors
/// `undefined`; `unsupported` for a part that ends at a tuple.
pub(super) fn restrict(
    module: &mut Module,
    source: &SourceText,
    options: &ReadOptions,
) -> Result<PartNames, FormatError> {
    if options.part.is_whole() {
        return Ok(PartNames::default());
    }
    let entry = entry(module, options.function.as_deref())?;
    let text = source.get()?;
    let computation = &mut module.computations[entry];
    let find = |names: &[&str]| -> Result<Vec<usize>, FormatError> {
        names.iter().map(|name| find(computation, text, name)).collect()
    };
    let (starts, ends) = (options.part.starts(), options.part.ends());
    let (start_numbers, end_numbers) = (find(&starts)?, find(&ends)?);
    for &number in &start_numbers {
        replace_by_parameter(computation, number);
    }
    if !end_numbers.is_empty() {
        set_results(computation, &end_numbers)?;
    }
    let positions = retain_needed(computation, &start_numbers);
    let named = start_numbers.iter().zip(starts);
    let starts = named.filter_map(|(&number, name)| Some((positions[number]?, name.to_owned())));
    let starts = starts.collect();
    Ok(PartNames { starts, ends: ends.into_iter().map(str::to_owned).collect() })
}

/// The index of the instruction of this name. A parameter is also found by the user's name for it, which
/// its metadata states (`user_name`).
fn find(computation: &Computation, text: &str, name: &str) -> Result<usize, FormatError> {
    let is_plain = |instruction: &Instruction| instruction.plain_name(text) == Some(name);
    let is_users = |instruction: &Instruction| {
        instruction.opcode == "parameter" && user_name(instruction, text) == Some(name)
    };
    let instructions = &computation.instructions;
    let found = instructions.iter().position(is_plain);
    found
        .or_else(|| instructions.iter().position(is_users))
        .ok_or_else(|| FormatErrorKind::undefined_value(name).without_location())
}

/// Replaces an instruction by a parameter.
fn replace_by_parameter(computation: &mut Computation, number: usize) {
    let instruction = &mut computation.instructions[number];
    if instruction.opcode == "parameter" {
        return;
    }
    "parameter".clone_into(&mut instruction.opcode);
    instruction.parameter = Some(computation.parameters.len());
    instruction.operands.clear();
    instruction.attributes.clear();
    (instruction.called, instruction.content, instruction.literal) = (None, None, None);
    instruction.regions.clear();
    computation.parameters.push(number);
}

/// Makes a tuple of these instructions the result.
fn set_results(computation: &mut Computation, numbers: &[usize]) -> Result<(), FormatError> {
    let mut shapes = Vec::with_capacity(numbers.len());
    for &number in numbers {
        let instruction = &computation.instructions[number];
        match &instruction.shape {
            Some(shape @ HloShape::Array(..)) => shapes.push(shape.clone()),
            _ => {
                let Span { start, end } = instruction.span;
                return Err(FormatErrorKind::end_without_array().in_text(start..end));
            }
        }
    }
    let span = computation.instructions[numbers[0]].span;
    computation.root = computation.instructions.len();
    computation.instructions.push(Instruction {
        parameter: None,
        name: None,
        span,
        text: span,
        opcode: "tuple".to_owned(),
        shape: Some(HloShape::Tuple(shapes)),
        operands: numbers.to_vec(),
        content: None,
        attributes: Vec::new(),
        called: None,
        regions: Vec::new(),
        literal: None,
    });
    Ok(())
}

/// Keeps the instructions on which the root depends, and those in `kept`. Returns the new index of each
/// instruction; `None` for a removed one.
fn retain_needed(computation: &mut Computation, kept: &[usize]) -> Vec<Option<usize>> {
    let roots = [kept, &[computation.root]].concat();
    let instructions = &computation.instructions;
    let operands = |number: usize| instructions[number].operands.iter().copied();
    let positions = remaining_positions(instructions.len(), roots, operands);
    let mut remains = positions.iter().map(Option::is_some);
    computation.instructions.retain(|_| remains.next() == Some(true));
    for operand in computation.instructions.iter_mut().flat_map(|it| &mut it.operands) {
        *operand = positions[*operand].unwrap_or_default();
    }
    computation.root = positions[computation.root].unwrap_or_default();
    computation.parameters =
        computation.parameters.iter().filter_map(|&it| positions[it]).collect();
    for (number, &parameter) in computation.parameters.iter().enumerate() {
        computation.instructions[parameter].parameter = Some(number);
    }
    positions
}
