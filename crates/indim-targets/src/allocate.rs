//! Register allocation, instruction by instruction.
//!
//! The code is a straight line, so each value's next use is known. Without a free register the allocator
//! evicts the value with the farthest next use (Belady). Values with a home in memory are not spilled: an
//! instruction reads them there if it can have an operand in memory.

use crate::machine::{
    Action, Class, MachineInstruction, Memory, Opcode, Register, ResultConstraint, SourceOperand,
    VirtualCode,
};

/// The allocated location of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllocatedOperand {
    None,
    Register(u8),
    Memory(Memory),
}

/// A step of the allocated code.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AllocatedInstruction {
    /// Fills a register from memory.
    Load { to: u8, from: Memory },
    /// Writes a register to memory.
    Store { to: Memory, from: u8 },
    /// Copies a register.
    Copy { to: u8, from: u8 },
    /// The instruction of this index.
    Instruction { index: usize, result: Option<u8>, sources: [AllocatedOperand; 3] },
}

/// The stack frame of a function: its spill slots and other memory.
#[derive(Debug)]
pub(crate) struct Frame {
    bytes: u32,
    free: Vec<u32>,
    /// Bytes of a register.
    register_bytes: u32,
}

impl Frame {
    /// An empty frame.
    pub(crate) fn new(register_bytes: u32) -> Frame {
        Frame { bytes: 0, free: Vec::new(), register_bytes }
    }

    /// Reserves `bytes` for as long as the function runs; returns their offset.
    pub(crate) fn reserve(&mut self, bytes: u32) -> u32 {
        let first = self.bytes;
        self.bytes += bytes.next_multiple_of(self.register_bytes);
        first
    }

    /// Takes a spill slot for one register; returns its offset.
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| self.reserve(self.register_bytes))
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> u32 {
        self.bytes
    }
}

/// A register that has its value before the code begins and keeps it, with its real register.
pub(crate) type Pinned = (Register, u8);

/// How instructions read elements of a step that they use once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementAccess {
    /// As memory operands of instructions that allow them.
    MemoryOperand,
    /// From registers that were loaded before: in a tail only loads are masked.
    #[allow(dead_code, reason = "for targets with masks")]
    Register,
}

/// Allocates registers for the code; `pinned` registers have theirs already.
pub(crate) fn allocate<O: Opcode>(
    code: &VirtualCode<O>,
    pinned: &[Pinned],
    elements: ElementAccess,
    frame: &mut Frame,
) -> Vec<AllocatedInstruction> {
    let mut allocator = Allocator::new(code, pinned, elements, frame);
    for index in 0..code.instructions.len() {
        allocator.instruction(index);
    }
    allocator.steps
}

/// Maximum number of vector registers live at once, without values that have a home in memory.
pub(crate) fn pressure<O: Opcode>(code: &VirtualCode<O>) -> usize {
    let uses = Uses::new(code);
    let (mut live, mut most) = (0usize, 0);
    for (index, instruction) in code.instructions.iter().enumerate() {
        let is_vector = |register: &Register| code.classes[register.index()] == Class::Vector;
        let is_own = |register: &Register| match code.homes[register.index()] {
            None => is_vector(register),
            Some(memory) => matches!(memory, Memory::Step { .. }),
        };
        let mut sources: Vec<Register> = instruction.registers().filter(is_own).collect();
        sources.sort_unstable_by_key(|register| register.index());
        sources.dedup();
        let begins = |register: &&Register| {
            code.homes[register.index()].is_some() && uses.first(**register) == Some(index)
        };
        live += sources.iter().filter(begins).count();
        most = most.max(live);
        live -= sources.iter().filter(|register| uses.last(**register) == Some(index)).count();
        if let Some(result) = instruction.result.filter(is_vector) {
            live += 1;
            most = most.max(live);
            live -= usize::from(uses.last(result).is_none());
        }
    }
    most
}

/// The register that an instruction moves into an accumulator.
fn into_accumulator<O>(instruction: &MachineInstruction<O>) -> Option<Register> {
    match (instruction.target, instruction.sources[0]) {
        (Some(Memory::Accumulator { .. }), SourceOperand::Register(register)) => Some(register),
        _ => None,
    }
}

/// For each register the real register of the accumulator that it becomes. Every read of the accumulator's
/// previous value precedes the instruction that makes the next one.
fn accumulator_of<O>(code: &VirtualCode<O>, pinned: &[Pinned]) -> Vec<Option<u8>> {
    let mut accumulator_of = vec![None; code.homes.len()];
    for instruction in &code.instructions {
        if let Some(register) = into_accumulator(instruction) {
            accumulator_of[register.index()] = Some(real_target(code, pinned, instruction));
        }
    }
    accumulator_of
}

/// The real register of the accumulator that an instruction fills.
fn real_target<O>(
    code: &VirtualCode<O>,
    pinned: &[Pinned],
    instruction: &MachineInstruction<O>,
) -> u8 {
    let is_target = |pinned: &&Pinned| code.homes[pinned.0.index()] == instruction.target;
    pinned.iter().find(is_target).expect("invariant: accumulators are pinned").1
}

/// The uses of each register: indices of the instructions that read it, in order.
struct Uses {
    /// Start of each register's uses in `indices`, and the end of the last.
    starts: Vec<u32>,
    indices: Vec<u32>,
}

impl Uses {
    fn new<O: Opcode>(code: &VirtualCode<O>) -> Uses {
        let mut starts = vec![0u32; code.homes.len() + 1];
        for register in code.instructions.iter().flat_map(MachineInstruction::registers) {
            starts[register.index() + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut indices = vec![0; *starts.last().unwrap_or(&0) as usize];
        for (index, instruction) in code.instructions.iter().enumerate() {
            for register in instruction.registers() {
                indices[next[register.index()] as usize] = index as u32;
                next[register.index()] += 1;
            }
        }
        Uses { starts, indices }
    }

    fn of(&self, register: Register) -> &[u32] {
        let [from, to] = [0, 1].map(|next| self.starts[register.index() + next] as usize);
        &self.indices[from..to]
    }

    fn first(&self, register: Register) -> Option<usize> {
        self.of(register).first().map(|&index| index as usize)
    }

    fn last(&self, register: Register) -> Option<usize> {
        self.of(register).last().map(|&index| index as usize)
    }
}

/// No later use.
const NEVER: u32 = u32::MAX;

struct Allocator<'a, O> {
    code: &'a VirtualCode<O>,
    uses: Uses,
    /// For each virtual register the index in `uses.indices` of its next use.
    next: Vec<u32>,
    homes: Vec<Option<Memory>>,
    assigned: Vec<Option<u8>>,
    /// The virtual register in each real register.
    contents: Vec<Option<Register>>,
    pinned_registers: &'a [Pinned],
    /// Pinned real registers, as bits.
    pinned: u64,
    elements: ElementAccess,
    /// For each register the real register of the accumulator that it becomes.
    accumulator_of: Vec<Option<u8>>,
    frame: &'a mut Frame,
    /// Spill slots of sources of the current instruction: free once it is emitted.
    released: Vec<u32>,
    steps: Vec<AllocatedInstruction>,
}

impl<'a, O: Opcode> Allocator<'a, O> {
    fn new(
        code: &'a VirtualCode<O>,
        pinned: &'a [Pinned],
        elements: ElementAccess,
        frame: &'a mut Frame,
    ) -> Self {
        let uses = Uses::new(code);
        let mut allocator = Allocator {
            code,
            next: uses.starts[..code.homes.len()].to_vec(),
            uses,
            homes: code.homes.clone(),
            assigned: vec![None; code.homes.len()],
            contents: vec![None; O::REGISTERS + O::MASK_REGISTERS],
            pinned_registers: pinned,
            pinned: 0,
            elements,
            accumulator_of: accumulator_of(code, pinned),
            frame,
            released: Vec::new(),
            steps: Vec::with_capacity(code.instructions.len() * 5 / 4),
        };
        for &(register, real) in pinned {
            allocator.assigned[register.index()] = Some(real);
            allocator.contents[usize::from(real)] = Some(register);
            allocator.pinned |= 1 << real;
        }
        allocator
    }

    /// The index of the next instruction that reads the register, from the current one on.
    fn next_use(&self, register: Register) -> u32 {
        let end = self.uses.starts[register.index() + 1];
        let next = self.next[register.index()];
        if next < end { self.uses.indices[next as usize] } else { NEVER }
    }

    fn instruction(&mut self, index: usize) {
        let instruction = &self.code.instructions[index];
        if let Some(register) = into_accumulator(instruction) {
            return self
                .accumulate(register, real_target(self.code, self.pinned_registers, instruction));
        }
        if let Action::Call(_) = instruction.action {
            self.evict_all();
        }
        let (sources, locked) = self.sources(instruction);
        // From here on `next_use` refers to later instructions.
        for register in instruction.registers() {
            self.next[register.index()] += 1;
        }
        let (result, sources) = match self.result_rule(instruction) {
            Some(ResultConstraint::TiedToFirst | ResultConstraint::TiedToEither) => {
                self.tied_result(instruction, sources, locked)
            }
            Some(ResultConstraint::EarlyClobber) => {
                let result = self.take(locked, self.result_class(instruction));
                self.free_dead(instruction);
                (Some(result), sources)
            }
            Some(ResultConstraint::Any) => {
                self.free_dead(instruction);
                let accumulator = instruction.result.and_then(|it| self.accumulator_of[it.index()]);
                let class = self.result_class(instruction);
                // Sources are read before the result is there: it may take the register of any.
                (Some(accumulator.unwrap_or_else(|| self.take(0, class))), sources)
            }
            None => {
                self.free_dead(instruction);
                (None, sources)
            }
        };
        self.steps.push(AllocatedInstruction::Instruction { index, result, sources });
        self.frame.free.append(&mut self.released);
        if let (Some(real), Some(register)) = (result, instruction.result) {
            self.contents[usize::from(real)] = Some(register);
            self.assigned[register.index()] = Some(real);
            if self.next_use(register) == NEVER {
                self.free(register);
            }
        }
    }

    /// Puts what a register holds into an accumulator, unless it is there.
    fn accumulate(&mut self, register: Register, to: u8) {
        self.next[register.index()] += 1;
        match self.assigned[register.index()] {
            Some(real) if real == to => {}
            Some(from) => self.steps.push(AllocatedInstruction::Copy { to, from }),
            None => self.load(to, register),
        }
        if self.next_use(register) == NEVER {
            self.free(register);
            self.frame.free.append(&mut self.released);
        }
    }

    fn result_rule(&self, instruction: &MachineInstruction<O>) -> Option<ResultConstraint> {
        instruction.result?;
        Some(match instruction.action {
            Action::Vector(opcode) => opcode.result(),
            Action::Call(_) => ResultConstraint::Any,
        })
    }

    fn result_class(&self, instruction: &MachineInstruction<O>) -> Class {
        instruction.result.map_or(Class::Vector, |result| self.class(result))
    }

    fn class(&self, register: Register) -> Class {
        self.code.classes[register.index()]
    }

    /// Locations of the sources, and the real registers among them as bits.
    fn sources(&mut self, instruction: &MachineInstruction<O>) -> ([AllocatedOperand; 3], u64) {
        let mut locked = 0u64;
        for register in instruction.registers() {
            if let Some(real) = self.assigned[register.index()] {
                locked |= 1 << real;
            }
        }
        let mut places = [AllocatedOperand::None; 3];
        let own = self.reload_position(instruction);
        for (position, source) in instruction.sources.into_iter().enumerate() {
            places[position] = match source {
                SourceOperand::None => AllocatedOperand::None,
                SourceOperand::Memory(memory) => AllocatedOperand::Memory(memory),
                SourceOperand::Register(register) if own == Some(position) => {
                    let real = self.take(locked, self.class(register));
                    self.load(real, register);
                    locked |= 1 << real;
                    AllocatedOperand::Register(real)
                }
                SourceOperand::Register(register) => {
                    let home = self.homes[register.index()];
                    let home = home.filter(|&home| self.may_read(instruction, position, home));
                    let assigned = self.source(register, home, locked);
                    if let AllocatedOperand::Register(real) = assigned {
                        locked |= 1 << real;
                    }
                    assigned
                }
            };
        }
        (places, locked)
    }

    /// Position of the source that must be loaded because the result replaces it.
    fn reload_position(&self, instruction: &MachineInstruction<O>) -> Option<usize> {
        let may_be_replaced = match self.result_rule(instruction)? {
            ResultConstraint::TiedToFirst => 1,
            ResultConstraint::TiedToEither => 2,
            ResultConstraint::Any | ResultConstraint::EarlyClobber => 0,
        };
        instruction.sources[..may_be_replaced].iter().position(|source| {
            matches!(source, SourceOperand::Register(register) if self.assigned[register.index()].is_none())
        })
    }

    fn load(&mut self, to: u8, register: Register) {
        let home = self.homes[register.index()];
        let from = home.expect("invariant: what is no longer in a register is in memory");
        self.steps.push(AllocatedInstruction::Load { to, from });
    }

    /// Whether the source at a position may be what lies in memory there.
    fn may_read(&self, it: &MachineInstruction<O>, position: usize, home: Memory) -> bool {
        let is_loaded =
            matches!(home, Memory::Step { .. }) && self.elements == ElementAccess::Register;
        !is_loaded && it.may_read(position, home)
    }

    /// Location of a source; `home` is its memory, if the instruction may read it there.
    fn source(
        &mut self,
        register: Register,
        home: Option<Memory>,
        locked: u64,
    ) -> AllocatedOperand {
        if let Some(real) = self.assigned[register.index()] {
            return AllocatedOperand::Register(real);
        }
        let is_needed_again = {
            let end = self.uses.starts[register.index() + 1];
            self.next[register.index()] + 1 < end
        };
        let class = self.class(register);
        if let Some(home) = home
            && !(is_needed_again && self.has_free(class))
        {
            return AllocatedOperand::Memory(home);
        }
        let real = self.take(locked, class);
        self.load(real, register);
        self.contents[usize::from(real)] = Some(register);
        self.assigned[register.index()] = Some(real);
        AllocatedOperand::Register(real)
    }

    fn has_free(&self, class: Class) -> bool {
        self.contents[O::numbers(class)].contains(&None)
    }

    /// A real register for something new, none of those locked.
    fn take(&mut self, locked: u64, class: Class) -> u8 {
        let mut all = O::numbers(class);
        if let Some(free) =
            all.find(|&real| self.contents[real].is_none() && locked >> real & 1 == 0)
        {
            return free as u8;
        }
        let candidates = O::numbers(class).filter(|real| (locked | self.pinned) >> real & 1 == 0);
        let farthest = candidates.max_by_key(|&real| {
            let register = self.contents[real].expect("invariant: none is free");
            // On a tie the value that has a home: it needs no spill.
            (self.next_use(register), self.homes[register.index()].is_some())
        });
        let real = farthest.expect("invariant: an instruction locks four registers at most");
        self.evict(real);
        real as u8
    }

    /// Frees a real register; its value is written to the frame if it is nowhere else.
    fn evict(&mut self, real: usize) {
        let Some(register) = self.contents[real].take() else { return };
        self.assigned[register.index()] = None;
        if self.next_use(register) != NEVER && self.homes[register.index()].is_none() {
            let home = Memory::Frame(self.frame.take());
            self.homes[register.index()] = Some(home);
            self.steps.push(AllocatedInstruction::Store { to: home, from: real as u8 });
        }
    }

    fn evict_all(&mut self) {
        for real in 0..self.contents.len() {
            self.evict(real);
        }
    }

    fn free(&mut self, register: Register) {
        if let Some(real) = self.assigned[register.index()] {
            if self.pinned >> real & 1 == 1 {
                return;
            }
            self.contents[usize::from(real)] = None;
            self.assigned[register.index()] = None;
        }
        // What was spilled here can be used again; homes of others stay.
        if let (Some(Memory::Frame(bytes)), None) =
            (self.homes[register.index()], self.code.homes[register.index()])
        {
            self.released.push(bytes);
            self.homes[register.index()] = None;
        }
    }

    fn free_dead(&mut self, instruction: &MachineInstruction<O>) {
        for register in instruction.registers() {
            if self.next_use(register) == NEVER {
                self.free(register);
            }
        }
    }

    /// Whether the register of a source must not be written.
    fn is_live_after(
        &self,
        instruction: &MachineInstruction<O>,
        sources: [AllocatedOperand; 3],
        position: usize,
    ) -> bool {
        let AllocatedOperand::Register(real) = sources[position] else { return true };
        let register = self.contents[usize::from(real)];
        let again = instruction.registers().filter(|&source| Some(source) == register).count() > 1;
        let is_pinned = self.pinned >> real & 1 == 1;
        is_pinned || again || register.is_some_and(|register| self.next_use(register) != NEVER)
    }

    /// The result in the register of a source, which is copied if it is needed again.
    fn tied_result(
        &mut self,
        instruction: &MachineInstruction<O>,
        mut sources: [AllocatedOperand; 3],
        locked: u64,
    ) -> (Option<u8>, [AllocatedOperand; 3]) {
        let may_be_second = self.result_rule(instruction) == Some(ResultConstraint::TiedToEither);
        if may_be_second
            && self.is_live_after(instruction, sources, 0)
            && !self.is_live_after(instruction, sources, 1)
        {
            sources.swap(0, 1);
        }
        let AllocatedOperand::Register(real) = sources[0] else {
            unreachable!("invariant: what is replaced is in a register");
        };
        let result = if self.is_live_after(instruction, sources, 0) {
            let result = self.take(locked, Class::Vector);
            self.steps.push(AllocatedInstruction::Copy { to: result, from: real });
            sources[0] = AllocatedOperand::Register(result);
            result
        } else {
            real
        };
        self.free_dead(instruction);
        (Some(result), sources)
    }
}
