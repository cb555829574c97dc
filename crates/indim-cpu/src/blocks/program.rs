//! Programs: a loop nest compiled for one level.
//!
//! A program is straight-line code over slots. There is a slot for each access and one for each
//! instruction's result; at run time a slot is the address of a dense block: a register of the
//! workspace, or, where memory is dense, the array itself.

use core::fmt;
use std::sync::Arc;

use indim_graph::HeldBytes;
use indim_graph::lower::loop_nest::{Access, Compute, Instruction, Local, LoopNest, Store};
use indim_ops::{DType, Op};

use crate::blocks::chain::find::{Chain, Link, Operand, Task, find_chains};
use crate::blocks::chain::links::chain_minimum;
use crate::blocks::chain::pieces::{ACCUMULATOR_BYTES, ChainFn, Code, Form, Register};
use crate::blocks::kernel::{
    KernelFn, bitcast_kernel, chain_kernel, convert_kernel, elementwise_kernel,
};
use crate::level::Level;
use crate::run::scratch::array_bytes;

/// The bytes of a register: several fit into a first-level cache of 32 KiB together.
pub(crate) const REGISTER_BYTES: usize = 4096;

/// One step from source slots to a destination slot.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) destination: usize,
    /// The bytes of an element of the result.
    pub(crate) result_size: usize,
    pub(crate) work: Work,
}

/// What computes a step.
#[derive(Clone)]
pub(crate) enum Work {
    /// One operation.
    Kernel { kernel: KernelFn, sources: [usize; 3] },
    /// Several operations, by as many of the program's links as are said.
    Chain { chain: ChainFn, links: usize },
}

/// A link of a chain: what it does, and the slot of its operand.
#[derive(Clone, Copy)]
pub(crate) struct SlotLink {
    action: Action,
    pub(crate) slot: usize,
    /// The bytes of an element of the operand if it is one of the nest's values.
    element_size: usize,
}

#[derive(Clone, Copy)]
enum Action {
    Load(Register, DType),
    Save(Register),
    Test(Register),
    Spread,
    Apply { op: Op, register: Register, register_is_second: bool },
    WriteMask,
}

impl SlotLink {
    /// The code of the link when its operand has this form.
    pub(crate) fn code(&self, form: Form) -> Code {
        match self.action {
            Action::Load(register, dtype) => Code::load(register, dtype, form),
            Action::Save(register) => Code::save(register),
            Action::Test(register) => Code::test(register),
            Action::Spread => Code::MASK_SPREAD,
            Action::Apply { op, register, register_is_second } => {
                Code::apply(op, register, form, register_is_second)
            }
            Action::WriteMask => Code::MASK_WRITTEN,
        }
    }

    /// From one element of the operand to the next, in bytes, when it has this form.
    pub(crate) fn stride(&self, form: Form) -> usize {
        if form == Form::Single { 0 } else { self.element_size }
    }
}

/// A loop nest compiled for one level.
#[derive(Clone)]
pub struct Program {
    nest: Arc<LoopNest>,
    tasks: Vec<Task>,
    pub(crate) steps: Vec<Step>,
    /// The links of all chains, in order.
    pub(crate) links: Vec<SlotLink>,
    /// For each instruction its register, and for each saved accumulator its place, if it needs one: in
    /// bytes from the first register. Accesses have no register until they need one.
    pub(crate) registers: Vec<Option<usize>>,
    pub(crate) register_count: usize,
    /// For each access, whether a kernel reads it, which needs a block of it in any case.
    pub(crate) is_read_by_kernel: Vec<bool>,
    pub(crate) block: usize,
    /// The bytes of the arrays that are read and written.
    pub(crate) bytes_moved: usize,
    /// The fewest elements of a row for which chains are worth their while; none if there are none, or
    /// if a kernel reads an access: kernels want blocks.
    pub(crate) minimum_row: Option<usize>,
    /// For each instruction, whether its result is left by a chain, and only stored.
    is_left_by_chain: Vec<bool>,
}

impl Program {
    /// Compiles a nest for `level`.
    pub(crate) fn compile(nest: &Arc<LoopNest>, level: Level) -> Program {
        let nest = with_clean_bools(Arc::clone(nest));
        let tasks = find_chains(&nest);
        let mut links = Vec::new();
        let steps = tasks.iter().map(|task| step(&nest, task, level, &mut links)).collect();
        let (registers, register_count) = allocate_registers(&nest, &tasks);
        let accesses = nest.accesses.iter().map(|access| access.array_type.dtype);
        let results = nest.instructions.iter().map(|instruction| instruction.dtype);
        let widest = accesses.chain(results).map(DType::size).max().unwrap_or(1);
        let is_read_by_kernel = read_by_kernels(&nest, &tasks);
        Program {
            bytes_moved: bytes_moved(&nest),
            minimum_row: minimum_row(&tasks).filter(|_| !is_read_by_kernel.contains(&true)),
            is_left_by_chain: left_by_chains(&nest, &tasks),
            is_read_by_kernel,
            nest,
            tasks,
            steps,
            links,
            registers,
            register_count,
            block: REGISTER_BYTES / widest,
        }
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

    /// Counts the memory that the program holds.
    pub(crate) fn count_bytes(&self, held: &mut HeldBytes) {
        held.nest(&self.nest);
        held.own::<Task>(self.tasks.capacity());
        for task in &self.tasks {
            if let Task::Chain(chain) = task {
                held.own::<Link>(chain.links.capacity());
            }
        }
        held.own::<Step>(self.steps.capacity());
        held.own::<SlotLink>(self.links.capacity());
        held.own::<Option<usize>>(self.registers.capacity());
        held.own::<bool>(self.is_read_by_kernel.capacity() + self.is_left_by_chain.capacity());
    }

    /// The most bytes of registers that one thread needs: every access may have to be gathered.
    pub(crate) fn register_bytes(&self) -> usize {
        (self.register_count + self.nest.accesses.len()) * REGISTER_BYTES
    }

    /// Whether a value is the result of a chain, and only stored.
    pub(crate) fn is_left_by_chain(&self, value: Local) -> bool {
        matches!(value, Local::Instruction(index) if self.is_left_by_chain[index])
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

/// The slot of a saved accumulator: they come after the instructions.
fn saved_slot(nest: &LoopNest, index: usize) -> usize {
    nest.accesses.len() + nest.instructions.len() + index
}

/// A bool that is stored as it was read passes through a conversion, which leaves only 0 and 1.
fn with_clean_bools(mut nest: Arc<LoopNest>) -> Arc<LoopNest> {
    for index in 0..nest.stores.len() {
        let source = nest.stores[index].source;
        if nest.stores[index].target.array_type.dtype != DType::Bool
            || matches!(source, Local::Instruction(_))
        {
            continue;
        }
        let nest = Arc::make_mut(&mut nest);
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

/// The step of a task; the links of a chain are appended to `links`.
fn step(nest: &LoopNest, task: &Task, level: Level, links: &mut Vec<SlotLink>) -> Step {
    let destination = slot(nest, Local::Instruction(task.result()));
    let work = match task {
        Task::Kernel(index) => kernel_work(nest, &nest.instructions[*index], level),
        Task::Chain(chain) => {
            links.extend(chain.links.iter().map(|link| slot_link(nest, chain, link)));
            let kernel = chain_kernel(chain.dtype, level);
            Work::Chain {
                chain: kernel.expect("invariant: chains are found for types that have them"),
                links: chain.links.len(),
            }
        }
    };
    let result_size = nest.instructions[task.result()].dtype.size();
    Step { destination, result_size, work }
}

fn kernel_work(nest: &LoopNest, instruction: &Instruction, level: Level) -> Work {
    let kernel = match instruction.compute {
        Compute::Elementwise(op) => elementwise_kernel(op, instruction.operand_dtype, level),
        Compute::Convert => convert_kernel(instruction.operand_dtype, instruction.dtype, level),
        Compute::Bitcast => Some(bitcast_kernel(instruction.dtype)),
    };
    let mut sources = [0; 3];
    for (source, &operand) in sources.iter_mut().zip(&instruction.operands) {
        *source = slot(nest, operand);
    }
    Work::Kernel {
        kernel: kernel.expect("invariant: lowering admits only evaluated types"),
        sources,
    }
}

fn slot_link(nest: &LoopNest, chain: &Chain, link: &Link) -> SlotLink {
    let dtype = match link.local() {
        Some(Local::Access(index)) => nest.accesses[index].array_type.dtype,
        Some(Local::Instruction(index)) => nest.instructions[index].dtype,
        None => chain.dtype,
    };
    let (action, operand) = match *link {
        Link::Load(register, operand) => (Action::Load(register, dtype), Some(operand)),
        Link::Save(register, index) => (Action::Save(register), Some(Operand::Saved(index))),
        Link::Unary(register, op) => {
            (Action::Apply { op, register, register_is_second: false }, None)
        }
        Link::Binary { op, register, operand, register_is_second } => {
            (Action::Apply { op, register, register_is_second }, Some(operand))
        }
        Link::Test(register) => (Action::Test(register), None),
        Link::Spread => (Action::Spread, None),
        Link::WriteMask => (Action::WriteMask, None),
    };
    match operand {
        Some(Operand::Local(local)) => {
            SlotLink { action, slot: slot(nest, local), element_size: dtype.size() }
        }
        Some(Operand::Saved(index)) => {
            SlotLink { action, slot: saved_slot(nest, index), element_size: 0 }
        }
        // Nothing is read; the slot of the result has an address in any case.
        None => {
            let slot = slot(nest, Local::Instruction(chain.root));
            SlotLink { action, slot, element_size: 0 }
        }
    }
}

fn bytes_moved(nest: &LoopNest) -> usize {
    let stores = nest.stores.iter().map(|store| &store.target);
    let bytes = stores.chain(&nest.accesses).map(|access| array_bytes(&access.array_type));
    bytes.fold(0, usize::saturating_add)
}

/// The fewest elements that fill the accumulators of all chains; none if there are none.
fn minimum_row(tasks: &[Task]) -> Option<usize> {
    let chains = tasks.iter().filter_map(|task| match task {
        Task::Chain(chain) => Some(chain_minimum(chain.dtype)),
        Task::Kernel(_) => None,
    });
    chains.max()
}

fn left_by_chains(nest: &LoopNest, tasks: &[Task]) -> Vec<bool> {
    let mut is_left = vec![false; nest.instructions.len()];
    // Those who read a result come after it.
    for task in tasks {
        is_left[task.result()] = matches!(task, Task::Chain(_));
        for operand in task.operands(nest) {
            if let Local::Instruction(index) = operand {
                is_left[index] = false;
            }
        }
    }
    is_left
}

fn read_by_kernels(nest: &LoopNest, tasks: &[Task]) -> Vec<bool> {
    let mut is_read = vec![false; nest.accesses.len()];
    let kernels = tasks.iter().filter(|task| matches!(task, Task::Kernel(_)));
    let operands = kernels.flat_map(|task| task.operands(nest));
    for local in operands.chain(nest.stores.iter().map(|store| store.source)) {
        if let Local::Access(index) = local {
            is_read[index] = true;
        }
    }
    is_read
}

/// Registers for the tasks' results and for saved accumulators, by one scan: a register is free again
/// after the last task that reads it. A result never takes the register of its own operands, which
/// kernels forbid.
fn allocate_registers(nest: &LoopNest, tasks: &[Task]) -> (Vec<Option<usize>>, usize) {
    let last_uses = last_uses(nest, tasks);
    let mut registers: Vec<Option<usize>> = vec![None; nest.instructions.len()];
    let mut free: Vec<usize> = Vec::new();
    let mut is_free: Vec<bool> = Vec::new();
    for (position, task) in tasks.iter().enumerate() {
        let register = free.pop().unwrap_or_else(|| {
            is_free.push(false);
            is_free.len() - 1
        });
        is_free[register] = false;
        registers[task.result()] = Some(register);
        for operand in task.operands(nest) {
            let Local::Instruction(operand) = operand else { continue };
            let Some(register) = registers[operand] else { continue };
            if last_uses[operand] == position && !is_free[register] {
                is_free[register] = true;
                free.push(register);
            }
        }
    }
    let count = is_free.len();
    registers.iter_mut().flatten().for_each(|register| *register *= REGISTER_BYTES);
    let saved = tasks.iter().map(|task| match task {
        Task::Chain(chain) => chain.saved,
        Task::Kernel(_) => 0,
    });
    let saved = saved.max().unwrap_or(0);
    let place = |index| Some(count * REGISTER_BYTES + index * ACCUMULATOR_BYTES);
    registers.extend((0..saved).map(place));
    (registers, count + (saved * ACCUMULATOR_BYTES).div_ceil(REGISTER_BYTES))
}

/// For each instruction, the position of the last task that reads its result; stored results live to
/// the end.
fn last_uses(nest: &LoopNest, tasks: &[Task]) -> Vec<usize> {
    let mut last_uses = vec![0; nest.instructions.len()];
    for (position, task) in tasks.iter().enumerate() {
        for operand in task.operands(nest) {
            if let Local::Instruction(operand) = operand {
                last_uses[operand] = position;
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
        self.list(formatter, &Access::to_string)
    }
}

impl Program {
    /// The listing, with what `describe` makes of the arrays.
    pub fn listing(&self, describe: &dyn Fn(&Access) -> String) -> String {
        struct Listing<'a>(&'a Program, &'a dyn Fn(&Access) -> String);
        impl fmt::Display for Listing<'_> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.list(formatter, self.1)
            }
        }
        Listing(self, describe).to_string()
    }

    fn list(
        &self,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result {
        let registers = self.register_count;
        let plural = if registers == 1 { "" } else { "s" };
        writeln!(formatter, "block of {} elements, {registers} register{plural}", self.block)?;
        for (index, access) in self.nest.accesses.iter().enumerate() {
            writeln!(formatter, "  a{index} = {}", describe(access))?;
        }
        for task in &self.tasks {
            let result = self.name(Local::Instruction(task.result()));
            match task {
                Task::Kernel(index) => {
                    let instruction = &self.nest.instructions[*index];
                    let operands: Vec<String> =
                        instruction.operands.iter().map(|&local| self.name(local)).collect();
                    let text = instruction.to_string();
                    let operation = text.split(' ').next().unwrap_or_default();
                    writeln!(formatter, "  {result} = {operation} {}", operands.join(", "))?;
                }
                Task::Chain(chain) => {
                    let links: Vec<String> =
                        chain.links.iter().map(|link| self.describe_link(link)).collect();
                    writeln!(formatter, "  {result} = {} in {}", links.join(", "), chain.dtype)?;
                }
            }
        }
        for store in &self.nest.stores {
            writeln!(formatter, "  {} -> {}", self.name(store.source), describe(&store.target))?;
        }
        Ok(())
    }

    /// What a value is called in the listing.
    fn name(&self, local: Local) -> String {
        match local {
            Local::Access(index) => format!("a{index}"),
            Local::Instruction(index) => match self.registers[index] {
                Some(register) => format!("r{}", register / REGISTER_BYTES),
                None => format!("t{index}"),
            },
        }
    }

    fn describe_link(&self, link: &Link) -> String {
        let name = |operand: &Operand| match operand {
            Operand::Local(local) => self.name(*local),
            Operand::Saved(_) => operand.to_string(),
        };
        match link {
            Link::Load(Register::Accumulator, operand) => name(operand),
            Link::Load(_, operand) => format!("mask {}", name(operand)),
            Link::Save(_, index) => format!("save s{index}"),
            Link::Unary(_, op) => op.to_string(),
            Link::Test(_) => "bool".to_owned(),
            Link::Spread => "from mask".to_owned(),
            Link::Binary { op, operand, register_is_second: true, .. } => {
                format!("{op} {} ·", name(operand))
            }
            Link::Binary { op, operand, .. } => format!("{op} {}", name(operand)),
            Link::WriteMask => "write mask".to_owned(),
        }
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
