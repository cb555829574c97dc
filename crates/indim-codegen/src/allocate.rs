//! Register allocation in one pass over straight-line code.
//!
//! The next use of each value is known. If no register is free, the allocator evicts the value with the
//! farthest next use (Belady). A value with a home, memory that always holds the value, is not spilled:
//! an instruction that allows a memory operand reads the value there, other instructions reload it.

use indim_shape::sort_few_by_key;

use crate::machine::{
    Action, Class, MachineInstruction, MachineOpcode, Memory, Register, ResultConstraint,
    SourceOperand, VirtualCode,
};

/// The location of a source operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllocatedOperand {
    /// No operand at this position.
    None,
    /// A register, by number.
    Register(u8),
    /// A memory operand.
    Memory(Memory),
}

/// An instruction of the allocated code.
#[derive(Debug, Clone, Copy)]
pub enum AllocatedInstruction {
    /// Loads a register from the home or the spill slot of a value.
    Load {
        /// Number of the register.
        to: u8,
        /// The home or the spill slot.
        from: Memory,
    },
    /// Spills a register.
    Store {
        /// The spill slot.
        to: Memory,
        /// Number of the register.
        from: u8,
    },
    /// Copies a register.
    Copy {
        /// Number of the written register.
        to: u8,
        /// Number of the read register.
        from: u8,
    },
    /// The instruction at this index of the code, with its registers.
    Instruction {
        /// Index of the instruction in the code.
        index: usize,
        /// Number of the register of the result.
        result: Option<u8>,
        /// Source operands.
        sources: [AllocatedOperand; 3],
    },
}

/// The stack frame of a function: spill slots, row invariants, and the lanes of operands and results of
/// out-of-line calls.
#[derive(Debug)]
pub struct Frame {
    /// Number of bytes reserved so far.
    bytes: u32,
    /// Byte offsets of free spill slots.
    free: Vec<u32>,
    /// Bytes of a vector register.
    register_bytes: u32,
}

impl Frame {
    /// An empty frame.
    pub fn new(register_bytes: u32) -> Frame {
        Frame { bytes: 0, free: Vec::new(), register_bytes }
    }

    /// Reserves `bytes` bytes for the whole function; returns their byte offset in the frame.
    pub(crate) fn reserve(&mut self, bytes: u32) -> u32 {
        let first = self.bytes;
        self.bytes += bytes.next_multiple_of(self.register_bytes);
        first
    }

    /// Takes a spill slot of one register; returns its byte offset in the frame.
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| self.reserve(self.register_bytes))
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }
}

/// A virtual register that stays in a physical register during the whole code, and the physical
/// register. The physical register is loaded before the code begins.
pub(crate) type PinnedRegister = (Register, u8);

/// How instructions read elements of a step that are in no register yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementAccess {
    /// Elements are memory operands, if the instruction allows them. Elements that later instructions read
    /// too are loaded into a register if one is free.
    MemoryOperand,
    /// Separate instructions load elements into registers: in a masked tail, only loads are masked.
    Register,
}

/// Allocates registers for the code. Spill slots are taken from `frame`.
pub(crate) fn allocate<O: MachineOpcode>(
    code: &VirtualCode<O>,
    pinned: &[PinnedRegister],
    elements: ElementAccess,
    frame: &mut Frame,
) -> Vec<AllocatedInstruction> {
    let mut allocator = Allocator::new(code, pinned, elements, frame);
    for index in 0..code.instructions.len() {
        allocator.instruction(index);
    }
    allocator.steps
}

/// Maximum number of vector registers live at once. Constants, row invariants and accumulators do not count;
/// elements of the step do.
pub(crate) fn pressure<O: MachineOpcode>(code: &VirtualCode<O>) -> usize {
    let uses = Uses::new(code);
    let (mut live, mut max_live) = (0usize, 0);
    for (index, instruction) in code.instructions.iter().enumerate() {
        let is_vector = |register: &Register| code.classes[register.index()] == Class::Vector;
        let is_own = |register: &Register| match code.homes[register.index()] {
            None => is_vector(register),
            Some(memory) => matches!(memory, Memory::Step { .. }),
        };
        let mut sources: Vec<Register> = instruction.registers().filter(is_own).collect();
        sort_few_by_key(&mut sources, |register| register.index());
        sources.dedup();
        let begins = |register: &&Register| {
            code.homes[register.index()].is_some() && uses.first(**register) == Some(index)
        };
        live += sources.iter().filter(begins).count();
        max_live = max_live.max(live);
        live -= sources.iter().filter(|register| uses.last(**register) == Some(index)).count();
        if let Some(result) = instruction.result.filter(is_vector) {
            live += 1;
            max_live = max_live.max(live);
            live -= usize::from(uses.last(result).is_none());
        }
    }
    max_live
}

/// The register whose value an instruction moves into an accumulator.
fn into_accumulator<O>(instruction: &MachineInstruction<O>) -> Option<Register> {
    match (instruction.destination, instruction.sources[0]) {
        (Some(Memory::Accumulator { .. }), SourceOperand::Register(register)) => Some(register),
        _ => None,
    }
}

/// For each virtual register that holds the next value of an accumulator, the physical register of that
/// accumulator. The next value may be computed there, because no later instruction reads the previous value.
fn accumulator_of<O>(code: &VirtualCode<O>, pinned: &[PinnedRegister]) -> Vec<Option<u8>> {
    let mut accumulator_of = vec![None; code.homes.len()];
    for instruction in &code.instructions {
        if let Some(register) = into_accumulator(instruction) {
            accumulator_of[register.index()] =
                Some(accumulator_register(code, pinned, instruction));
        }
    }
    accumulator_of
}

/// The physical register of the accumulator that an instruction writes.
fn accumulator_register<O>(
    code: &VirtualCode<O>,
    pinned: &[PinnedRegister],
    instruction: &MachineInstruction<O>,
) -> u8 {
    let is_destination =
        |pinned: &&PinnedRegister| code.homes[pinned.0.index()] == instruction.destination;
    pinned.iter().find(is_destination).expect("invariant: accumulators are pinned").1
}

/// For each virtual register, the indices of the instructions that read it, in order.
struct Uses {
    /// Start of each register's uses in `indices`, and the end of the last.
    starts: Vec<u32>,
    indices: Vec<u32>,
}

impl Uses {
    fn new<O: MachineOpcode>(code: &VirtualCode<O>) -> Uses {
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

/// The next use of a value that is not used again.
const NO_NEXT_USE: u32 = u32::MAX;

struct Allocator<'a, O> {
    code: &'a VirtualCode<O>,
    uses: Uses,
    /// For each virtual register, the index in `uses.indices` of its next use.
    next: Vec<u32>,
    /// For each virtual register, its home in memory, or its spill slot.
    homes: Vec<Option<Memory>>,
    /// For each virtual register, its physical register.
    assigned: Vec<Option<u8>>,
    /// For each physical register, the virtual register that it holds.
    contents: Vec<Option<Register>>,
    pinned_registers: &'a [PinnedRegister],
    /// Bit set of the pinned physical registers.
    pinned: u64,
    elements: ElementAccess,
    /// For each virtual register that holds the next value of an accumulator, the accumulator's physical
    /// register.
    accumulator_of: Vec<Option<u8>>,
    frame: &'a mut Frame,
    /// Spill slots of the current instruction's sources. They become free after the instruction.
    released: Vec<u32>,
    /// The allocated instructions so far.
    steps: Vec<AllocatedInstruction>,
}

impl<'a, O: MachineOpcode> Allocator<'a, O> {
    fn new(
        code: &'a VirtualCode<O>,
        pinned: &'a [PinnedRegister],
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
        for &(register, physical) in pinned {
            allocator.assigned[register.index()] = Some(physical);
            allocator.contents[usize::from(physical)] = Some(register);
            allocator.pinned |= 1 << physical;
        }
        allocator
    }

    /// Index of the next instruction that reads the register, starting at the current one.
    fn next_use(&self, register: Register) -> u32 {
        let end = self.uses.starts[register.index() + 1];
        let next = self.next[register.index()];
        if next < end { self.uses.indices[next as usize] } else { NO_NEXT_USE }
    }

    /// Appends an instruction with its registers, after the loads, spills and copies that it needs.
    fn instruction(&mut self, index: usize) {
        let instruction = &self.code.instructions[index];
        if let Some(register) = into_accumulator(instruction) {
            return self.accumulate(
                register,
                accumulator_register(self.code, self.pinned_registers, instruction),
            );
        }
        match instruction.action {
            Action::Vector(_) => {}
            // A call preserves no vector register. Both paths to the end of a guarded arm must find
            // values in the same places, so no value stays in a register at a skip or at its end.
            Action::Call(_) | Action::Skip | Action::SkipEnd => self.evict_all(),
        }
        let (sources, locked) = self.sources(instruction);
        // From here on, `next_use` means uses after this instruction.
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
                // Sources are read before the result is written, so the result may take the register of
                // any source that is dead.
                (Some(accumulator.unwrap_or_else(|| self.take(0, class))), sources)
            }
            None => {
                self.free_dead(instruction);
                (None, sources)
            }
        };
        self.steps.push(AllocatedInstruction::Instruction { index, result, sources });
        self.frame.free.append(&mut self.released);
        if let (Some(physical), Some(register)) = (result, instruction.result) {
            self.contents[usize::from(physical)] = Some(register);
            self.assigned[register.index()] = Some(physical);
            if self.next_use(register) == NO_NEXT_USE {
                self.free(register);
            }
        }
    }

    /// Moves the value of a register into an accumulator, unless it was computed there.
    fn accumulate(&mut self, register: Register, to: u8) {
        self.next[register.index()] += 1;
        match self.assigned[register.index()] {
            Some(physical) if physical == to => {}
            Some(from) => self.steps.push(AllocatedInstruction::Copy { to, from }),
            None => self.load(to, register),
        }
        if self.next_use(register) == NO_NEXT_USE {
            self.free(register);
            self.frame.free.append(&mut self.released);
        }
    }

    fn result_rule(&self, instruction: &MachineInstruction<O>) -> Option<ResultConstraint> {
        instruction.result?;
        Some(match instruction.action {
            Action::Vector(opcode) => opcode.result(),
            Action::Call(_) | Action::Skip | Action::SkipEnd => ResultConstraint::Any,
        })
    }

    fn result_class(&self, instruction: &MachineInstruction<O>) -> Class {
        instruction.result.map_or(Class::Vector, |result| self.class(result))
    }

    fn class(&self, register: Register) -> Class {
        self.code.classes[register.index()]
    }

    /// Locations of the sources, and the bit set of the physical registers among them.
    fn sources(&mut self, instruction: &MachineInstruction<O>) -> ([AllocatedOperand; 3], u64) {
        let mut locked = 0u64;
        for register in instruction.registers() {
            if let Some(physical) = self.assigned[register.index()] {
                locked |= 1 << physical;
            }
        }
        let mut places = [AllocatedOperand::None; 3];
        // The position of a source that needs a register of its own, which the result takes.
        let reloaded = self.reload_position(instruction);
        for (position, source) in instruction.sources.into_iter().enumerate() {
            places[position] = match source {
                SourceOperand::None => AllocatedOperand::None,
                SourceOperand::Memory(memory) => AllocatedOperand::Memory(memory),
                SourceOperand::Register(register) if reloaded == Some(position) => {
                    let physical = self.take(locked, self.class(register));
                    self.load(physical, register);
                    locked |= 1 << physical;
                    AllocatedOperand::Register(physical)
                }
                SourceOperand::Register(register) => {
                    let home = self.homes[register.index()];
                    let home = home.filter(|&home| self.may_read(instruction, position, home));
                    let assigned = self.source(register, home, locked);
                    if let AllocatedOperand::Register(physical) = assigned {
                        locked |= 1 << physical;
                    }
                    assigned
                }
            };
        }
        (places, locked)
    }

    /// Position of a source that is tied to the result and must be loaded. No later use finds it in that
    /// register, because the result overwrites it.
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

    /// Appends a load of a value from its home or spill slot.
    fn load(&mut self, to: u8, register: Register) {
        let home = self.homes[register.index()];
        let from = home.expect("invariant: a value without a register has a home");
        self.steps.push(AllocatedInstruction::Load { to, from });
    }

    /// Whether the source at `position` may be read from its home.
    fn may_read(&self, it: &MachineInstruction<O>, position: usize, home: Memory) -> bool {
        let is_loaded =
            matches!(home, Memory::Step { .. }) && self.elements == ElementAccess::Register;
        !is_loaded && it.may_read(position, home)
    }

    /// Location of a source, which is loaded if necessary. `home` is its memory, if the instruction may read
    /// it there.
    fn source(
        &mut self,
        register: Register,
        home: Option<Memory>,
        locked: u64,
    ) -> AllocatedOperand {
        if let Some(physical) = self.assigned[register.index()] {
            return AllocatedOperand::Register(physical);
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
        let physical = self.take(locked, class);
        self.load(physical, register);
        self.contents[usize::from(physical)] = Some(register);
        self.assigned[register.index()] = Some(physical);
        AllocatedOperand::Register(physical)
    }

    fn has_free(&self, class: Class) -> bool {
        self.contents[O::numbers(class)].contains(&None)
    }

    /// Takes a physical register that is not in the bit set `locked`; evicts its value if none is free.
    fn take(&mut self, locked: u64, class: Class) -> u8 {
        let mut all = O::numbers(class);
        if let Some(free) =
            all.find(|&physical| self.contents[physical].is_none() && locked >> physical & 1 == 0)
        {
            return free as u8;
        }
        let candidates =
            O::numbers(class).filter(|physical| (locked | self.pinned) >> physical & 1 == 0);
        let farthest = candidates.max_by_key(|&physical| {
            let register = self.contents[physical].expect("invariant: no register is free");
            // On a tie, prefer a value with a home: it needs no spill.
            (self.next_use(register), self.homes[register.index()].is_some())
        });
        let physical = farthest.expect("invariant: an instruction locks four registers at most");
        self.evict(physical);
        physical as u8
    }

    /// Frees a physical register. Its value is spilled if it is used later and has no home.
    fn evict(&mut self, physical: usize) {
        let Some(register) = self.contents[physical].take() else { return };
        self.assigned[register.index()] = None;
        if self.next_use(register) != NO_NEXT_USE && self.homes[register.index()].is_none() {
            let home = Memory::Frame(self.frame.take());
            self.homes[register.index()] = Some(home);
            self.steps.push(AllocatedInstruction::Store { to: home, from: physical as u8 });
        }
    }

    /// Frees all physical registers that are not pinned. Code with calls pins none.
    fn evict_all(&mut self) {
        for physical in 0..self.contents.len() {
            if self.pinned >> physical & 1 == 0 {
                self.evict(physical);
            }
        }
    }

    /// Frees the physical register and the spill slot of a value without further uses.
    fn free(&mut self, register: Register) {
        if let Some(physical) = self.assigned[register.index()] {
            if self.pinned >> physical & 1 == 1 {
                return;
            }
            self.contents[usize::from(physical)] = None;
            self.assigned[register.index()] = None;
        }
        // Release a spill slot. The homes of constants, operands and invariants stay.
        if let (Some(Memory::Frame(bytes)), None) =
            (self.homes[register.index()], self.code.homes[register.index()])
        {
            self.released.push(bytes);
            self.homes[register.index()] = None;
        }
    }

    /// Frees the sources without further uses.
    fn free_dead(&mut self, instruction: &MachineInstruction<O>) {
        for register in instruction.registers() {
            if self.next_use(register) == NO_NEXT_USE {
                self.free(register);
            }
        }
    }

    /// Whether the result must not overwrite the source at `position`: a later instruction or another
    /// position reads the source, its register is pinned, or the source is in memory.
    fn is_live_after(
        &self,
        instruction: &MachineInstruction<O>,
        sources: [AllocatedOperand; 3],
        position: usize,
    ) -> bool {
        let AllocatedOperand::Register(physical) = sources[position] else { return true };
        let register = self.contents[usize::from(physical)];
        let is_read_twice =
            instruction.registers().filter(|&source| Some(source) == register).count() > 1;
        let is_pinned = self.pinned >> physical & 1 == 1;
        is_pinned
            || is_read_twice
            || register.is_some_and(|register| self.next_use(register) != NO_NEXT_USE)
    }

    /// Assigns the result to the register of a tied source. A source that is needed later is copied first.
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
        let AllocatedOperand::Register(physical) = sources[0] else {
            unreachable!("invariant: a tied source is in a register");
        };
        let result = if self.is_live_after(instruction, sources, 0) {
            let result = self.take(locked, Class::Vector);
            self.steps.push(AllocatedInstruction::Copy { to: result, from: physical });
            sources[0] = AllocatedOperand::Register(result);
            result
        } else {
            physical
        };
        self.free_dead(instruction);
        (Some(result), sources)
    }
}
