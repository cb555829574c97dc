//! How instructions are written for people: below the values that they compute.

use core::fmt::Write;

use indim_codegen::{Body, Value};

use crate::allocate::Step;
use crate::compile::Parts;
use crate::machine::MachineCode;

/// The listing of a function, as it is made.
pub(crate) struct Listing<'a> {
    pub(crate) text: &'a mut String,
    body: &'a Body,
    /// For each value, whether its line has been written.
    is_described: Vec<bool>,
    /// For which value the last instruction is.
    current: Option<Value>,
}

impl<'a> Listing<'a> {
    /// Appends to `text` what is made of a body.
    pub(crate) fn new(text: &'a mut String, body: &'a Body) -> Self {
        Listing { text, body, is_described: vec![false; body.instructions.len()], current: None }
    }

    /// What registers and memory hold, and which values have no instruction. Registers point to `pointers`,
    /// to the array of the others, and hold the index of a step's first element and of the last one's.
    pub(crate) fn parts<O>(
        &mut self,
        parts: &Parts<'_, O>,
        pointers: &[String],
        [array, index, limit]: [String; 3],
    ) {
        self.operands(pointers, &array);
        self.loops(&index, &limit, parts.lanes);
        let instructions = [parts.row.0, parts.step.0].into_iter().flat_map(|it| &it.instructions);
        self.values_elsewhere(instructions.map(|instruction| instruction.value));
    }

    /// Which register points to which operand; those for which there is no register lie in the array to which
    /// `array` points.
    fn operands(&mut self, registers: &[String], array: &str) {
        let outputs = self.body.outputs.len();
        // Accumulators are in no memory while rows are folded.
        let in_memory = if self.body.folds() { outputs } else { 0 };
        for operand in 0..outputs + self.body.operand_count() {
            let register = operand.checked_sub(in_memory).and_then(|index| registers.get(index));
            let _ = match register {
                Some(register) => write!(self.text, "; {register} points to "),
                None => write!(self.text, "; [{array}+{:#x}] points to ", 8 * operand),
            };
            let _ = match operand.checked_sub(outputs) {
                None => writeln!(self.text, "{}", self.body.described_output(operand)),
                Some(input) => {
                    writeln!(self.text, "input {input}: {}", self.body.inputs[input])
                }
            };
        }
    }

    /// In which registers accumulators stay.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no other target folds yet"))]
    pub(crate) fn accumulators(&mut self, registers: impl Iterator<Item = (u32, String)>) {
        for (output, register) in registers {
            let _ = writeln!(self.text, "; {register} holds lanes of output {output}");
        }
    }

    /// What counts the elements of a row.
    fn loops(&mut self, index: &str, limit: &str, lanes: usize) {
        let _ = writeln!(
            self.text,
            "; {index} is the first of the {lanes} elements of a step, {limit} where the last step begins"
        );
    }

    /// Writes the lines of all values but these, which instructions are for.
    fn values_elsewhere(&mut self, with_instructions: impl Iterator<Item = Value>) {
        let mut has_instructions = vec![false; self.is_described.len()];
        with_instructions.for_each(|value| has_instructions[value.index()] = true);
        let others = (0..has_instructions.len()).filter(|&index| !has_instructions[index]);
        let others: Vec<Value> = others.map(|index| Value(index as u32)).collect();
        if !others.is_empty() {
            let _ = writeln!(self.text, "; in memory, or computed as part of others:");
        }
        others.into_iter().for_each(|value| self.value(value));
    }

    /// Writes an instruction.
    #[allow(dead_code, reason = "those of x86-64 are written piece by piece")]
    pub(crate) fn instruction(&mut self, text: &str) {
        let _ = writeln!(self.text, "    {text}");
    }

    /// Names the next instruction.
    pub(crate) fn label(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    /// The instructions to come are for the value of the next of these steps, those before it too.
    pub(crate) fn value_of<O>(&mut self, code: &MachineCode<O>, steps: &[Step]) {
        let value = |step: &Step| match *step {
            Step::Instruction { index, .. } => Some(code.instructions[index].value),
            _ => None,
        };
        steps.iter().find_map(value).into_iter().for_each(|value| self.value(value));
    }

    /// The instructions to come are for this value: its line, where that has not been written.
    fn value(&mut self, value: Value) {
        if self.current.replace(value) == Some(value) {
            return;
        }
        let _ = match core::mem::replace(&mut self.is_described[value.index()], true) {
            false => writeln!(self.text, "  ; {}", self.body.described(value)),
            true => writeln!(self.text, "  ; {value}"),
        };
    }
}
