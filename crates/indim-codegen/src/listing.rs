//! Listings: instructions as text, each below the value that it computes.

use core::fmt::Write;

use crate::{Body, SsaValue};

use crate::allocate::AllocatedInstruction;
use crate::compile::EncoderInput;
use crate::machine::VirtualCode;

/// A listing under construction.
pub struct CodeListing<'a> {
    /// The text so far.
    pub text: &'a mut String,
    body: &'a Body,
    /// For each value, whether its definition is written.
    is_described: Vec<bool>,
    /// The value that the last instruction computes.
    current: Option<SsaValue>,
}

impl<'a> CodeListing<'a> {
    /// A listing of a body, whose methods append to `text`.
    pub fn new(text: &'a mut String, body: &'a Body) -> Self {
        CodeListing {
            text,
            body,
            is_described: vec![false; body.instructions.len()],
            current: None,
        }
    }

    /// Writes the header: the registers of operand addresses and of the loop, and the values without
    /// instructions. `pointers` are the registers with operand addresses. `array` holds the address of the
    /// array of all operand addresses, `index` the index of a step's first element, `limit` the last such
    /// index.
    pub fn header<O>(
        &mut self,
        input: &EncoderInput<'_, O>,
        pointers: &[String],
        [array, index, limit]: [String; 3],
    ) {
        self.operands(pointers, &array);
        self.loops(&index, &limit, input.lanes);
        let instructions = [input.row.0, input.step.0].into_iter().flat_map(|it| &it.instructions);
        self.values_elsewhere(instructions.map(|instruction| instruction.value));
    }

    /// Writes the address of each operand: in a register, or in the array at `array`.
    fn operands(&mut self, registers: &[String], array: &str) {
        let outputs = self.body.outputs.len();
        // In bodies that fold, only inputs have pointer registers: accumulators are in vector registers.
        let in_memory = if self.body.folds() { outputs } else { 0 };
        for operand in 0..outputs + self.body.non_accumulator_input_count() {
            let register = operand.checked_sub(in_memory).and_then(|index| registers.get(index));
            let _ = match register {
                Some(register) => write!(self.text, "; {register} points to "),
                None => write!(self.text, "; [{array}+{:#x}] points to ", 8 * operand),
            };
            let _ = match operand.checked_sub(outputs) {
                None => writeln!(self.text, "{}", self.body.display_output(operand)),
                Some(input) => {
                    writeln!(self.text, "input {input}: {}", self.body.inputs[input])
                }
            };
        }
    }

    /// Writes the registers of accumulators.
    pub fn accumulators(&mut self, registers: impl Iterator<Item = (u32, String)>) {
        for (output, register) in registers {
            let _ = writeln!(self.text, "; {register} holds lanes of output {output}");
        }
    }

    /// Writes the registers of the loop over a row.
    fn loops(&mut self, index: &str, limit: &str, lanes: usize) {
        let _ = writeln!(
            self.text,
            "; {index} is the index of the first of {lanes} elements of a step, {limit} that of the last step"
        );
    }

    /// Writes the values that have no instruction of their own.
    fn values_elsewhere(&mut self, with_instructions: impl Iterator<Item = SsaValue>) {
        let mut has_instructions = vec![false; self.is_described.len()];
        with_instructions.for_each(|value| has_instructions[value.index()] = true);
        let others = (0..has_instructions.len()).filter(|&index| !has_instructions[index]);
        let others: Vec<SsaValue> = others.map(|index| SsaValue(index as u32)).collect();
        if !others.is_empty() {
            let _ = writeln!(self.text, "; in memory, or part of another instruction:");
        }
        others.into_iter().for_each(|value| self.value(value));
    }

    /// Writes an instruction.
    pub fn instruction(&mut self, text: &str) {
        let _ = writeln!(self.text, "    {text}");
    }

    /// Writes a label of the next instruction.
    pub fn label(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    /// Writes the value that the first of these allocated instructions computes that is no reload or spill.
    /// Those before it belong to its value.
    pub fn value_of<O>(&mut self, code: &VirtualCode<O>, allocated: &[AllocatedInstruction]) {
        let value = |step: &AllocatedInstruction| match *step {
            AllocatedInstruction::Instruction { index, .. } => Some(code.instructions[index].value),
            _ => None,
        };
        allocated.iter().find_map(value).into_iter().for_each(|value| self.value(value));
    }

    /// Writes a value if it is not the current one: its definition the first time, later its name.
    fn value(&mut self, value: SsaValue) {
        if self.current.replace(value) == Some(value) {
            return;
        }
        let _ = match core::mem::replace(&mut self.is_described[value.index()], true) {
            false => writeln!(self.text, "  ; {}", self.body.display_value(value)),
            true => writeln!(self.text, "  ; {value}"),
        };
    }
}
