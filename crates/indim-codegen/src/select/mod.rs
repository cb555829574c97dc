//! Instruction selection.
//!
//! A step of the loop computes the same number of lanes of every value. A value is in a *register group*:
//! as many registers as its lanes fill. Lanes that fill less than half a register are in its low bytes.
//!
//! A *number* is any value that is not a boolean; NaNs count as numbers. A boolean is a mask for lanes
//! of the size that a comparison read or a select writes. In a vector register all bits of a lane are
//! set or none; in a mask register there is one bit per lane.
//!
//! Row invariants are computed before the row (before the unit in bodies that fold), in one register
//! with the value in all lanes.
//!
//! - `lowering.rs`: the interface of a target to instruction selection;
//! - `pattern.rs`: patterns, groups of primitives that one instruction computes; `ternary_logic.rs`: bitwise
//!   operations on up to three integers as one pattern;
//! - `mask.rs`: booleans as masks;
//! - `memory.rs`: loads and stores;
//! - `guarded_arm.rs`: code that a step skips if no lane needs its result.

mod guarded_arm;
mod lowering;
mod mask;
mod memory;
mod pattern;
mod ternary_logic;

pub use lowering::TargetLowering;
pub use pattern::{Pattern, PatternKind};

use std::collections::HashMap;

use indim_shape::sort_few_by_key;

use crate::allocate::Frame;
use crate::machine::{
    Action, Class, MachineInstruction, Memory, OutOfLineCall, Register, SourceOperand, VirtualCode,
};
use crate::pool::Pool;

use crate::layout::{OperandForm, OperandLayout};
use crate::{Body, LaneType, Primitive, SsaValue};

/// Maximum number of registers of a value: four, for bodies that are one dependency chain.
pub(crate) const MAX_GROUP_REGISTERS: usize = 4;

/// The registers of a value, in lane order.
#[derive(Debug, Clone, Copy)]
pub struct RegisterGroup {
    registers: [Register; MAX_GROUP_REGISTERS],
    /// Number of registers.
    pub count: usize,
}

impl RegisterGroup {
    /// The empty group, for operands that a primitive does not have.
    pub const NONE: RegisterGroup =
        RegisterGroup { registers: [Register(0); MAX_GROUP_REGISTERS], count: 0 };

    /// A group of `count` registers; `register_at` has the register of each index.
    pub fn new(count: usize, mut register_at: impl FnMut(usize) -> Register) -> RegisterGroup {
        let mut registers = [Register(0); MAX_GROUP_REGISTERS];
        for (index, register) in registers[..count].iter_mut().enumerate() {
            *register = register_at(index);
        }
        RegisterGroup { registers, count }
    }

    /// A group that repeats one register, for values with equal lanes.
    pub fn uniform(count: usize, register: Register) -> RegisterGroup {
        RegisterGroup { registers: [register; MAX_GROUP_REGISTERS], count }
    }

    /// The register at this index.
    pub fn register(&self, index: usize) -> Register {
        self.registers[index]
    }

    /// The group of the registers that `map` returns for each register of this one.
    pub fn map(&self, mut map: impl FnMut(Register) -> Register) -> RegisterGroup {
        RegisterGroup::new(self.count, |index| map(self.registers[index]))
    }
}

/// The selected code of a body, over virtual registers.
#[derive(Debug)]
pub(crate) struct Selection<O> {
    /// Code that runs before each row, or before each unit if the body folds.
    pub row: VirtualCode<O>,
    /// Code of each step.
    pub step: VirtualCode<O>,
    pub pool: Pool,
    pub frame: Frame,
}

/// Selects the code of a body, with `lanes` lanes in a step.
pub(crate) fn select<O: TargetLowering>(
    body: &Body,
    layout: &OperandLayout,
    lanes: usize,
) -> Selection<O> {
    let mut selector = Selector::<O>::new(body, layout, lanes);
    selector.select_row();
    let row = core::mem::take(&mut selector.code);
    let step_values = core::mem::take(&mut selector.invariants);
    selector.enter_step(&step_values);
    selector.select_step();
    let Selector { code: step, pool, frame, .. } = selector;
    Selection { row, step, pool, frame }
}

/// For each value, whether it is a row invariant: equal for all elements of a row or, in bodies that
/// fold, for all rows of a unit. Constants are row invariants.
pub(crate) fn row_invariants(body: &Body, layout: &OperandLayout) -> Vec<bool> {
    let mut is_same: Vec<bool> = Vec::with_capacity(body.instructions.len());
    for instruction in &body.instructions {
        is_same.push(match instruction.primitive {
            Primitive::Load { input, .. } => match layout.inputs[input as usize] {
                OperandForm::RowScalar => !body.folds(),
                form => form == OperandForm::UnitScalar,
            },
            _ => instruction.operands().iter().all(|operand| is_same[operand.index()]),
        });
    }
    is_same
}

/// A row invariant that steps read, and its slot in the frame.
#[derive(Debug)]
enum RowInvariant {
    Number(SsaValue, Memory),
    Mask(SsaValue, Memory),
}

/// Instruction selection for one body.
pub struct Selector<'a, O> {
    /// The body.
    pub body: &'a Body,
    /// Layout of its operands.
    pub layout: &'a OperandLayout,
    /// Number of lanes of the step, or of one copy if the step is unrolled later.
    pub lanes: usize,
    /// The current code: that of the row, then that of a step.
    code: VirtualCode<O>,
    pool: Pool,
    frame: Frame,
    is_row_invariant: Vec<bool>,
    /// For each value, the pattern that ends with it.
    patterns: Vec<Option<Pattern>>,
    /// For each value, whether it is computed. Inner values of a pattern are not.
    is_needed: Vec<bool>,
    /// Whether the current code is that of the row, not of a step.
    pub is_in_row: bool,
    /// For each boolean, the lane size in bytes of the mask that its uses prefer.
    preferred_mask_sizes: Vec<usize>,
    /// For each number, its registers in the current code.
    numbers: Vec<Option<RegisterGroup>>,
    /// For each boolean, its masks for lanes of 1, 2, 4 and 8 bytes in the current code.
    masks: Vec<[Option<RegisterGroup>; 4]>,
    /// Row invariants that steps read.
    invariants: Vec<RowInvariant>,
    /// Frame offsets of the lanes of result and operands in calls; `None` before the first call.
    call_frame: Option<[u32; 4]>,
    /// Code that a step may skip.
    guarded_arms: guarded_arm::GuardedArms,
    /// The current value.
    value: SsaValue,
    /// Registers of constants in the current code.
    constants: HashMap<(Memory, Class), Register>,
    /// For each array of records that the code has loaded, by its number in `OperandForm::Interleaved`:
    /// the lanes of each member of a record.
    records: HashMap<u8, Vec<RegisterGroup>>,
}

impl<'a, O: TargetLowering> Selector<'a, O> {
    fn new(body: &'a Body, layout: &'a OperandLayout, lanes: usize) -> Self {
        let count = body.instructions.len();
        let (patterns, is_needed) = pattern::match_patterns::<O>(body);
        Selector {
            patterns,
            is_needed,
            body,
            layout,
            lanes,
            code: VirtualCode::default(),
            pool: Pool::new(O::CONSTANT_BYTES),
            frame: Frame::new(O::REGISTER_BYTES),
            is_row_invariant: row_invariants(body, layout),
            is_in_row: true,
            preferred_mask_sizes: mask::preferred_mask_sizes(body),
            numbers: vec![None; count],
            masks: vec![[None; 4]; count],
            invariants: Vec::new(),
            call_frame: None,
            guarded_arms: guarded_arm::GuardedArms::default(),
            value: SsaValue(0),
            constants: HashMap::new(),
            records: HashMap::new(),
        }
    }

    /// Selects the code of the row. It stores the invariants that steps read in the frame.
    fn select_row(&mut self) {
        let body = self.body;
        let mut is_read = vec![false; body.instructions.len()];
        for index in (0..is_read.len()).filter(|&index| self.is_computed_in_step(index)) {
            let pattern = &self.patterns[index];
            let operands = pattern::operands(body, SsaValue(index as u32), pattern);
            operands.iter().for_each(|operand| is_read[operand.index()] = true);
        }
        for (dtype, lanes) in &body.outputs {
            let count = LaneType::of_element(*dtype).1;
            lanes[..count].iter().for_each(|lane| is_read[lane.index()] = true);
        }
        for (index, is_read) in is_read.into_iter().enumerate() {
            let value = SsaValue(index as u32);
            if !self.is_row_invariant[index] || self.is_constant(value) || !self.is_needed[index] {
                continue;
            }
            self.instruction(value);
            if is_read {
                self.store_invariant(value);
            }
        }
    }

    fn is_constant(&self, value: SsaValue) -> bool {
        matches!(self.body.instruction(value).primitive, Primitive::Constant(_))
    }

    /// Stores a row invariant in the frame, in a slot of its own.
    fn store_invariant(&mut self, value: SsaValue) {
        let slot = Memory::Frame(self.frame.reserve(O::REGISTER_BYTES));
        let whole = O::store(O::REGISTER_BYTES as usize, false);
        let (register, opcode, invariants) = match self.body.lane(value) {
            LaneType::Bool => {
                let size = self.mask_size(value);
                (
                    self.mask(value, size).register(0),
                    O::store_mask(),
                    RowInvariant::Mask(value, slot),
                )
            }
            _ => (self.number(value).register(0), whole, RowInvariant::Number(value, slot)),
        };
        self.emit_store(opcode, true, slot, register);
        self.invariants.push(invariants);
    }

    /// Begins the code of a step: its values have new registers, and invariants have their frame slots as
    /// homes.
    fn enter_step(&mut self, invariants: &[RowInvariant]) {
        self.is_in_row = false;
        self.numbers.fill(None);
        self.masks.fill([None; 4]);
        self.constants.clear();
        self.records.clear();
        for invariants in invariants {
            match *invariants {
                RowInvariant::Number(value, slot) => {
                    let register = self.code.register_with_home(slot, Class::Vector);
                    let count = self.count(self.body.lane(value).size());
                    self.numbers[value.index()] = Some(RegisterGroup::uniform(count, register));
                }
                RowInvariant::Mask(value, slot) => {
                    let register = self.code.register_with_home(slot, O::MASKS);
                    for exponent in 0..4 {
                        let count = self.count(1 << exponent).min(MAX_GROUP_REGISTERS);
                        self.masks[value.index()][exponent] =
                            Some(RegisterGroup::uniform(count, register));
                    }
                }
            }
        }
    }

    /// Selects the code of a step. An output is stored once its lanes are computed, or at the end of the
    /// step if outputs may alias inputs or the step does not compute the output's lanes.
    fn select_step(&mut self) {
        let body = self.body;
        // If an output may alias an input, a step loads all inputs before it stores an output.
        let ready_at = |(dtype, lanes): &(_, [SsaValue; 2])| match self.layout.is_in_place {
            true => usize::MAX,
            false => {
                let count = LaneType::of_element(*dtype).1;
                let last = lanes[..count].iter().map(|lane| lane.index()).max();
                last.filter(|&index| self.is_computed_in_step(index)).unwrap_or(usize::MAX)
            }
        };
        let ready_at: Vec<usize> = body.outputs.iter().map(ready_at).collect();
        let mut outputs: Vec<usize> = (0..body.outputs.len()).collect();
        sort_few_by_key(&mut outputs, |&output| ready_at[output]);
        let mut waiting = outputs.into_iter().peekable();
        self.find_guarded_arms();
        // Records are loaded before all guarded arms: a jump may skip a guarded arm, and code after it may
        // use the same records.
        self.load_all_records();
        for index in 0..body.instructions.len() {
            if !self.is_computed_in_step(index) || self.guarded_arms.contains(index) {
                continue;
            }
            self.select_guarded_arms(SsaValue(index as u32));
            self.instruction(SsaValue(index as u32));
            while let Some(output) = waiting.next_if(|&output| ready_at[output] == index) {
                self.store(output);
            }
        }
        let rest: Vec<usize> = waiting.collect();
        if self.layout.is_in_place {
            rest.iter().for_each(|&output| self.read_output(output));
        }
        rest.into_iter().for_each(|output| self.store(output));
    }

    /// Whether a step computes the value, other than by a load.
    fn is_computed_in_step(&self, index: usize) -> bool {
        let is_read = matches!(self.body.instructions[index].primitive, Primitive::Load { .. });
        self.is_needed[index] && !self.is_row_invariant[index] && !is_read
    }

    /// Selects the code of a value, whose operands are computed.
    fn instruction(&mut self, value: SsaValue) {
        self.value = value;
        if let Some(pattern) = self.patterns[value.index()] {
            return O::lower_pattern(self, value, pattern);
        }
        let instruction = self.body.instruction(value);
        let operand = match instruction.operands().last() {
            Some(&operand) => self.body.lane(operand),
            None => return,
        };
        let is_done = match (operand, instruction.lane) {
            (LaneType::Bool, LaneType::Bool) => self.mask_instruction(value),
            _ => O::lower_primitive(self, value, operand),
        };
        if !is_done {
            self.call(value, operand);
        }
    }

    /// Computes a value out of line: stores the lanes of the operands in the frame, calls the function of the
    /// primitive, and loads the lanes of the result.
    fn call(&mut self, value: SsaValue, operand: LaneType) {
        let body = self.body;
        let instruction = body.instruction(value);
        let bytes = (self.lanes * 8) as u32;
        let frame = &mut self.frame;
        let areas = *self.call_frame.get_or_insert_with(|| [0; 4].map(|_| frame.reserve(bytes)));
        let mut from = [0; 3];
        for (position, &lane) in instruction.operands().iter().enumerate() {
            from[position] = areas[position + 1];
            self.write_lanes(lane, areas[position + 1]);
        }
        let call = OutOfLineCall {
            primitive: instruction.primitive,
            operand,
            result: instruction.lane,
            to: areas[0],
            from,
        };
        self.push(Action::Call(call), false, None, None, [SourceOperand::None; 3]);
        self.read_lanes(value, areas[0]);
    }

    /// Sets the registers of a number; returns `true`, the answer of `lower_primitive`.
    pub fn set(&mut self, value: SsaValue, group: RegisterGroup) -> bool {
        self.numbers[value.index()] = Some(group);
        true
    }

    /// Whether the lanes of a step, of `size` bytes each, fill more than half a register; always true in
    /// the code of the row.
    pub fn is_wide(&self, size: usize) -> bool {
        self.is_in_row || self.lanes * size > O::REGISTER_BYTES as usize / 2
    }

    /// Number of registers for the lanes of a step, of `size` bytes each; 1 in the code of the row.
    pub fn count(&self, size: usize) -> usize {
        if self.is_in_row { 1 } else { (self.lanes * size).div_ceil(O::REGISTER_BYTES as usize) }
    }

    /// Whether a number is in registers.
    pub fn has_number(&self, value: SsaValue) -> bool {
        self.numbers[value.index()].is_some()
    }

    /// The registers of a number; loads an input or constant if necessary.
    pub fn number(&mut self, value: SsaValue) -> RegisterGroup {
        if let Some(group) = self.numbers[value.index()] {
            return group;
        }
        let size = self.body.lane(value).size();
        let group = match self.body.instruction(value).primitive {
            Primitive::Constant(bits) => {
                let register = self.constant(bits, size);
                RegisterGroup::uniform(self.count(size), register)
            }
            Primitive::Load { input, component } => self.load(value, input, component),
            _ => unreachable!("invariant: operands are computed before their uses"),
        };
        self.numbers[value.index()] = Some(group);
        group
    }

    /// The register of a constant with the low `size` bytes of `bits` in every lane.
    pub fn constant(&mut self, bits: u64, size: usize) -> Register {
        let memory = self.pool.splat(bits, size);
        self.constant_of(memory, Class::Vector)
    }

    /// The register of a constant with different lanes.
    pub fn lane_constant(&mut self, words: Vec<u64>) -> Register {
        let memory = self.pool.lane_constant(words);
        self.constant_of(memory, Class::Vector)
    }

    /// The mask register of a constant with a bit per lane.
    pub fn mask_constant(&mut self, bits: u64) -> Register {
        let memory = self.pool.splat(bits, 8);
        self.constant_of(memory, Class::Mask)
    }

    /// The register of a constant in the current code.
    fn constant_of(&mut self, memory: Memory, class: Class) -> Register {
        if let Some(register) = self.constants.get(&(memory, class)) {
            return *register;
        }
        let register = self.code.register_with_home(memory, class);
        self.constants.insert((memory, class), register);
        register
    }

    /// Appends an instruction; returns the register of its result.
    pub fn push(
        &mut self,
        action: Action<O>,
        is_wide: bool,
        immediate: Option<u8>,
        destination: Option<Memory>,
        sources: [SourceOperand; 3],
    ) -> Register {
        let is_result = destination.is_none() && matches!(action, Action::Vector(_));
        let class = match action {
            Action::Vector(opcode) => opcode.result_class(),
            Action::Call(_) | Action::Skip | Action::SkipEnd => Class::Vector,
        };
        let result = is_result.then(|| self.code.register(class));
        let value = self.value;
        let instruction =
            MachineInstruction { action, is_wide, immediate, result, destination, sources, value };
        self.code.instructions.push(instruction);
        result.unwrap_or(Register(0))
    }

    /// Appends an instruction on registers.
    pub fn emit(&mut self, opcode: O, is_wide: bool, sources: &[Register]) -> Register {
        self.emit_immediate(opcode, is_wide, sources, None)
    }

    /// Appends an instruction on registers with an immediate operand.
    pub fn emit_immediate(
        &mut self,
        opcode: O,
        is_wide: bool,
        sources: &[Register],
        immediate: Option<u8>,
    ) -> Register {
        let mut all = [SourceOperand::None; 3];
        for (place, &source) in all.iter_mut().zip(sources) {
            *place = SourceOperand::Register(source);
        }
        self.push(Action::Vector(opcode), is_wide, immediate, None, all)
    }

    /// Appends an instruction whose only source is memory.
    pub fn emit_load(&mut self, opcode: O, is_wide: bool, memory: Memory) -> Register {
        let sources = [SourceOperand::Memory(memory), SourceOperand::None, SourceOperand::None];
        self.push(Action::Vector(opcode), is_wide, None, None, sources)
    }

    /// Appends a store.
    pub(crate) fn emit_store(
        &mut self,
        opcode: O,
        is_wide: bool,
        memory: Memory,
        register: Register,
    ) {
        let sources = [SourceOperand::Register(register), SourceOperand::None, SourceOperand::None];
        self.push(Action::Vector(opcode), is_wide, None, Some(memory), sources);
    }

    /// Appends a gather from a table.
    pub fn emit_gather<const N: usize>(
        &mut self,
        opcode: O,
        is_wide: bool,
        registers: [Register; N],
        table: u32,
    ) -> Register {
        let mut sources = [SourceOperand::None; 3];
        sources[..N].copy_from_slice(&registers.map(SourceOperand::Register));
        sources[2] = SourceOperand::Memory(Memory::Table(table));
        self.push(Action::Vector(opcode), is_wide, None, None, sources)
    }

    /// Appends a unary operation on a group: one instruction per register. Lanes of operand and result have
    /// `size` bytes.
    pub fn unary(
        &mut self,
        opcode: O,
        size: usize,
        x: RegisterGroup,
        immediate: Option<u8>,
    ) -> RegisterGroup {
        let is_wide = self.is_wide(size);
        x.map(|register| self.emit_immediate(opcode, is_wide, &[register], immediate))
    }

    /// Appends a binary operation on two groups: one instruction per pair of registers.
    pub fn binary(
        &mut self,
        opcode: O,
        size: usize,
        x: RegisterGroup,
        y: RegisterGroup,
    ) -> RegisterGroup {
        self.binary_immediate(opcode, size, x, y, None)
    }

    /// Appends a binary operation with an immediate operand on two groups.
    pub fn binary_immediate(
        &mut self,
        opcode: O,
        size: usize,
        x: RegisterGroup,
        y: RegisterGroup,
        immediate: Option<u8>,
    ) -> RegisterGroup {
        let is_wide = self.is_wide(size);
        RegisterGroup::new(x.count, |index| {
            self.emit_immediate(opcode, is_wide, &[x.register(index), y.register(index)], immediate)
        })
    }

    /// Appends a binary operation whose second operand is a constant.
    pub fn binary_constant(
        &mut self,
        opcode: O,
        size: usize,
        x: RegisterGroup,
        bits: u64,
    ) -> RegisterGroup {
        let constant = self.constant(bits, size);
        self.binary(opcode, size, x, RegisterGroup::uniform(x.count, constant))
    }
}
