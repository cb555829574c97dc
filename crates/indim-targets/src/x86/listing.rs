//! How instructions are written for people: below the values that they compute.

use core::fmt::Write;

use iced_x86::{Instruction, OpKind, Register};

use indim_codegen::{Body, Value};

/// The listing of a function, as it is made.
pub(super) struct Listing<'a> {
    pub(super) text: &'a mut String,
    body: &'a Body,
    /// For each value, whether its line has been written.
    is_described: Vec<bool>,
    /// For which value the last instruction is.
    current: Option<Value>,
}

impl<'a> Listing<'a> {
    /// Appends to `text` what is made of a body.
    pub(super) fn new(text: &'a mut String, body: &'a Body) -> Self {
        Listing { text, body, is_described: vec![false; body.instructions.len()], current: None }
    }

    /// Which register points to which operand; those for which there is no register lie in the array to which
    /// `array` points.
    pub(super) fn operands(&mut self, registers: &[Register], array: Register) {
        let outputs = self.body.outputs.len();
        for operand in 0..outputs + self.body.inputs.len() {
            let _ = match registers.get(operand) {
                Some(&register) => write!(self.text, "; {} points to ", name(register)),
                None => write!(self.text, "; [{}+{:#x}] points to ", name(array), 8 * operand),
            };
            let _ = match operand.checked_sub(outputs) {
                None => writeln!(self.text, "{}", self.body.described_output(operand)),
                Some(input) => {
                    writeln!(self.text, "input {input}: {}", self.body.inputs[input])
                }
            };
        }
    }

    /// What counts the elements of a row.
    pub(super) fn loops(&mut self, index: Register, limit: Register, lanes: usize) {
        let (index, limit) = (name(index), name(limit));
        let _ = writeln!(
            self.text,
            "; {index} is the first of the {lanes} elements of a step, {limit} where the last step begins"
        );
    }

    /// Writes the lines of all values but these, which instructions are for.
    pub(super) fn values_elsewhere(&mut self, with_instructions: impl Iterator<Item = Value>) {
        let mut has_instructions = vec![false; self.is_described.len()];
        with_instructions.for_each(|value| has_instructions[value.index()] = true);
        let others = (0..has_instructions.len()).filter(|&index| !has_instructions[index]);
        let others: Vec<Value> = others.map(|index| Value(index as u32)).collect();
        if !others.is_empty() {
            let _ = writeln!(self.text, "; in memory, or computed as part of others:");
        }
        others.into_iter().for_each(|value| self.value(value));
    }

    /// The instructions to come are for this value: its line, where that has not been written.
    pub(super) fn value(&mut self, value: Value) {
        if self.current.replace(value) == Some(value) {
            return;
        }
        let _ = match core::mem::replace(&mut self.is_described[value.index()], true) {
            false => writeln!(self.text, "  ; {}", self.body.described(value)),
            true => writeln!(self.text, "  ; {value}"),
        };
    }
}

/// Appends an instruction, in the order of operands that Intel has; `label` is where it jumps to, `constant`
/// says what lies at an address.
pub(super) fn written(
    listing: &mut String,
    instruction: &Instruction,
    label: &str,
    constant: impl Fn(u64) -> String,
) {
    let mnemonic = format!("{:?}", instruction.mnemonic()).to_lowercase();
    let _ = write!(listing, "    {mnemonic:<12}");
    for operand in 0..instruction.op_count() {
        let _ = write!(listing, "{}", if operand == 0 { " " } else { ", " });
        operand_written(listing, instruction, operand, label);
    }
    listing.truncate(listing.trim_end().len());
    if instruction.is_ip_rel_memory_operand() {
        let _ = write!(listing, "  ; {}", constant(instruction.memory_displacement64()));
    }
    listing.push('\n');
}

fn operand_written(listing: &mut String, instruction: &Instruction, operand: u32, label: &str) {
    let _ = match instruction.op_kind(operand) {
        OpKind::Register => write!(listing, "{}", name(instruction.op_register(operand))),
        OpKind::Memory => memory_written(listing, instruction),
        OpKind::NearBranch64 => write!(listing, "{label}"),
        OpKind::Immediate32to64 => write!(listing, "{}", instruction.immediate32to64()),
        OpKind::Immediate8 => write!(listing, "{:#x}", instruction.immediate8()),
        _ => write!(listing, "{:#x}", instruction.immediate64()),
    };
}

fn memory_written(listing: &mut String, instruction: &Instruction) -> core::fmt::Result {
    if instruction.is_ip_rel_memory_operand() {
        return write!(listing, "[constant]");
    }
    write!(listing, "[{}", name(instruction.memory_base()))?;
    if instruction.memory_index() != Register::None {
        let scale = instruction.memory_index_scale();
        write!(listing, "+{scale}*{}", name(instruction.memory_index()))?;
    }
    match instruction.memory_displacement64() as i64 {
        0 => {}
        displacement if displacement < 0 => write!(listing, "-{:#x}", -displacement)?,
        displacement => write!(listing, "+{displacement:#x}")?,
    }
    write!(listing, "]")
}

fn name(register: Register) -> String {
    format!("{register:?}").to_lowercase()
}
