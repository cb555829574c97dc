//! Programs: a loop nest compiled for one level.
//!
//! A program is straight-line code over slots. There is a slot for each access and one for each
//! instruction's result; at run time a slot is the address of a dense block: a register of the
//! workspace, or, where memory is dense, the array itself.

use core::fmt;

use indim_graph::DType;
use indim_graph::lower::loop_nest::{Access, Compute, Instruction, Local, LoopNest, Store};

use crate::kernel::{KernelFn, convert_kernel, elementwise_kernel};
use crate::level::Level;

/// The bytes of a register: several fit into a first-level cache of 32 KiB together.
pub(crate) const REGISTER_BYTES: usize = 4096;

/// One step: a kernel from source slots to a destination slot.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) kernel: KernelFn,
    pub(crate) destination: usize,
    pub(crate) sources: [usize; 3],
}

/// A loop nest compiled for one level.
#[derive(Clone)]
pub struct Program {
    nest: LoopNest,
    pub(crate) steps: Vec<Step>,
    /// For each instruction slot its register; accesses have no register until they need one.
    pub(crate) registers: Vec<usize>,
    pub(crate) register_count: usize,
    pub(crate) block: usize,
}

impl Program {
    /// Compiles a nest for `level`.
    pub(crate) fn compile(nest: &LoopNest, level: Level) -> Program {
        let nest = with_clean_bools(nest.clone());
        let steps = nest
            .instructions
            .iter()
            .enumerate()
            .map(|(index, instruction)| step(&nest, index, instruction, level))
            .collect();
        let (registers, register_count) = allocate_registers(&nest);
        let accesses = nest.accesses.iter().map(|access| access.array_type.dtype);
        let results = nest.instructions.iter().map(|instruction| instruction.dtype);
        let widest = accesses.chain(results).map(DType::size).max().unwrap_or(1);
        Program { nest, steps, registers, register_count, block: REGISTER_BYTES / widest }
    }

    /// What is read, in the order of the first slots.
    pub(crate) fn accesses(&self) -> &[Access] {
        &self.nest.accesses
    }

    /// What is written.
    pub(crate) fn stores(&self) -> &[Store] {
        &self.nest.stores
    }

    /// The sizes of the nest's axes.
    pub(crate) fn sizes(&self) -> &[usize] {
        &self.nest.shape
    }

    /// The number of instructions.
    pub(crate) fn instruction_count(&self) -> usize {
        self.nest.instructions.len()
    }

    /// The most bytes of registers that one thread needs: every access may have to be gathered.
    pub(crate) fn register_bytes(&self) -> usize {
        (self.register_count + self.nest.accesses.len()) * REGISTER_BYTES
    }

    /// The slot of a value.
    pub(crate) fn slot(&self, local: Local) -> usize {
        slot(&self.nest, local)
    }
}

fn slot(nest: &LoopNest, local: Local) -> usize {
    match local {
        Local::Access(index) => index,
        Local::Instruction(index) => nest.accesses.len() + index,
    }
}

/// A bool that is stored as it was read passes through a conversion, which leaves only 0 and 1.
fn with_clean_bools(mut nest: LoopNest) -> LoopNest {
    for index in 0..nest.stores.len() {
        let source = nest.stores[index].source;
        if nest.stores[index].target.array_type.dtype != DType::Bool
            || matches!(source, Local::Instruction(_))
        {
            continue;
        }
        nest.instructions.push(Instruction {
            compute: Compute::Convert,
            operands: vec![source],
            operand_dtype: DType::Bool,
            dtype: DType::Bool,
        });
        nest.stores[index].source = Local::Instruction(nest.instructions.len() - 1);
    }
    nest
}

fn step(nest: &LoopNest, index: usize, instruction: &Instruction, level: Level) -> Step {
    let kernel = match instruction.compute {
        Compute::Elementwise(op) => elementwise_kernel(op, instruction.operand_dtype, level),
        Compute::Convert => convert_kernel(instruction.operand_dtype, instruction.dtype, level),
    };
    let mut sources = [0; 3];
    for (source, &operand) in sources.iter_mut().zip(&instruction.operands) {
        *source = slot(nest, operand);
    }
    Step {
        kernel: kernel.expect("invariant: lowering admits only evaluated types"),
        destination: slot(nest, Local::Instruction(index)),
        sources,
    }
}

/// Registers for the instructions' results by one scan: a register is free again after the last
/// instruction that reads it. A result never takes the register of its own operands, which kernels
/// forbid.
fn allocate_registers(nest: &LoopNest) -> (Vec<usize>, usize) {
    let last_uses = last_uses(nest);
    let mut registers: Vec<usize> = Vec::with_capacity(nest.instructions.len());
    let mut free: Vec<usize> = Vec::new();
    let mut count = 0;
    for (index, instruction) in nest.instructions.iter().enumerate() {
        registers.push(free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        }));
        for &operand in &instruction.operands {
            let Local::Instruction(operand) = operand else { continue };
            if last_uses[operand] == index && !free.contains(&registers[operand]) {
                free.push(registers[operand]);
            }
        }
    }
    (registers, count)
}

/// For each instruction, the last instruction that reads its result; stored results live to the end.
fn last_uses(nest: &LoopNest) -> Vec<usize> {
    let mut last_uses = vec![0; nest.instructions.len()];
    for (index, instruction) in nest.instructions.iter().enumerate() {
        for &operand in &instruction.operands {
            if let Local::Instruction(operand) = operand {
                last_uses[operand] = index;
            }
        }
    }
    for store in &nest.stores {
        if let Local::Instruction(index) = store.source {
            last_uses[index] = usize::MAX;
        }
    }
    last_uses
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "block of {} elements, {} registers", self.block, self.register_count)?;
        for (index, access) in self.nest.accesses.iter().enumerate() {
            writeln!(formatter, "  a{index} = {access}")?;
        }
        let name = |local: Local| match local {
            Local::Access(index) => format!("a{index}"),
            Local::Instruction(index) => format!("r{}", self.registers[index]),
        };
        for (index, instruction) in self.nest.instructions.iter().enumerate() {
            let operands: Vec<String> = instruction.operands.iter().map(|&o| name(o)).collect();
            let text = instruction.to_string();
            let operation = text.split(' ').next().unwrap_or_default();
            writeln!(
                formatter,
                "  r{} = {operation} {}",
                self.registers[index],
                operands.join(", ")
            )?;
        }
        for store in &self.nest.stores {
            writeln!(formatter, "  {} -> {}", name(store.source), store.target)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
