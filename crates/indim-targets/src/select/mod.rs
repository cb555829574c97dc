//! Which machine instructions compute a body.
//!
//! A step of the loop takes a number of lanes, the same for every value: each is in as many registers, its
//! *parts*, as its type needs; where the lanes fill less than half a register, they are its low bytes. Truth
//! values are masks, all bits of a lane set or none, as wide as the lanes that they are made from or choose
//! among. What is the same for a whole row is computed before it, in one register: in all of its lanes.

mod bitwise;
mod instructions;
mod mask;
mod memory;
mod pattern;

pub(crate) use instructions::Instructions;
pub(crate) use pattern::{Pattern, PatternKind};

use std::collections::HashMap;

use crate::allocate::Frame;
use crate::machine::{
    Action, Call, Class, MachineCode, MachineInstruction, Memory, Register, Source,
};
use crate::pool::Pool;

use crate::layout::{OperandForm, OperandLayout};
use indim_codegen::{Body, LaneType, Primitive, Value};

/// The most registers of a value.
pub(crate) const MAX_PARTS: usize = 4;

/// The registers of a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts {
    registers: [Register; MAX_PARTS],
    pub(crate) count: usize,
}

impl Parts {
    /// No registers.
    pub(crate) const NONE: Parts = Parts { registers: [Register(0); MAX_PARTS], count: 0 };

    pub(crate) fn new(count: usize, mut part: impl FnMut(usize) -> Register) -> Parts {
        let mut registers = [Register(0); MAX_PARTS];
        for (index, register) in registers[..count].iter_mut().enumerate() {
            *register = part(index);
        }
        Parts { registers, count }
    }

    /// One register, for all parts.
    pub(crate) fn same(count: usize, register: Register) -> Parts {
        Parts { registers: [register; MAX_PARTS], count }
    }

    pub(crate) fn part(&self, index: usize) -> Register {
        self.registers[index]
    }

    pub(crate) fn map(&self, mut part: impl FnMut(Register) -> Register) -> Parts {
        Parts::new(self.count, |index| part(self.registers[index]))
    }
}

/// What is computed for a body, over registers without number.
#[derive(Debug)]
pub(crate) struct Selection<O> {
    /// Before each row.
    pub(crate) row: MachineCode<O>,
    /// In each step.
    pub(crate) step: MachineCode<O>,
    pub(crate) pool: Pool,
    pub(crate) frame: Frame,
}

/// Selects instructions for a body, with so many lanes a step.
pub(crate) fn select<O: Instructions>(
    body: &Body,
    layout: &OperandLayout,
    lanes: usize,
) -> Selection<O> {
    let mut selector = Selector::<O>::new(body, layout, lanes);
    selector.select_row();
    let row = core::mem::take(&mut selector.code);
    let step_values = core::mem::take(&mut selector.kept);
    selector.enter_step(&step_values);
    selector.select_step();
    let Selector { code: step, pool, frame, .. } = selector;
    Selection { row, step, pool, frame }
}

/// For each value whether it is the same for a whole row; where rows are folded, for all of them.
pub(crate) fn row_values(body: &Body, layout: &OperandLayout) -> Vec<bool> {
    let mut is_same: Vec<bool> = Vec::with_capacity(body.instructions.len());
    for instruction in &body.instructions {
        is_same.push(match instruction.primitive {
            Primitive::Load { input, .. } => match layout.inputs[input as usize] {
                OperandForm::Single => !body.folds(),
                form => form == OperandForm::Same,
            },
            _ => instruction.operands().iter().all(|operand| is_same[operand.index()]),
        });
    }
    is_same
}

/// A value that is computed before a row, and read in its steps.
#[derive(Debug)]
enum Kept {
    Number(Value, Memory),
    Mask(Value, Memory),
}

/// Selection under way.
pub(crate) struct Selector<'a, O> {
    pub(crate) body: &'a Body,
    pub(crate) layout: &'a OperandLayout,
    pub(crate) lanes: usize,
    code: MachineCode<O>,
    pool: Pool,
    frame: Frame,
    is_row_value: Vec<bool>,
    /// For each value the pattern that ends with it.
    patterns: Vec<Option<Pattern>>,
    /// For each value whether it is computed: within a pattern it need not be.
    is_needed: Vec<bool>,
    /// Whether what is computed is the same for a whole row.
    pub(crate) is_in_row: bool,
    /// For truth values that are read: for lanes of how many bytes.
    wanted_sizes: Vec<usize>,
    /// The registers of numbers.
    numbers: Vec<Option<Parts>>,
    /// The registers of masks, for lanes of 1, 2, 4 and 8 bytes.
    masks: Vec<[Option<Parts>; 4]>,
    kept: Vec<Kept>,
    /// Where the lanes of operands and results of calls lie, once there is one.
    call_frame: Option<[u32; 4]>,
    /// What is being computed.
    value: Value,
    /// For constants their registers in this code.
    constants: HashMap<(Memory, Class), Register>,
}

impl<'a, O: Instructions> Selector<'a, O> {
    fn new(body: &'a Body, layout: &'a OperandLayout, lanes: usize) -> Self {
        let count = body.instructions.len();
        let (patterns, is_needed) = pattern::needed::<O>(body);
        Selector {
            patterns,
            is_needed,
            body,
            layout,
            lanes,
            code: MachineCode::default(),
            pool: Pool::new(O::CONSTANT_BYTES),
            frame: Frame::new(O::REGISTER_BYTES),
            is_row_value: row_values(body, layout),
            is_in_row: true,
            wanted_sizes: mask::wanted_sizes(body),
            numbers: vec![None; count],
            masks: vec![[None; 4]; count],
            kept: Vec::new(),
            call_frame: None,
            value: Value(0),
            constants: HashMap::new(),
        }
    }

    /// Computes what is the same for a whole row, and keeps what steps read in the frame.
    fn select_row(&mut self) {
        let body = self.body;
        let mut is_read = vec![false; body.instructions.len()];
        for index in (0..is_read.len()).filter(|&index| self.is_computed_in_step(index)) {
            let pattern = &self.patterns[index];
            let operands = pattern::operands(body, Value(index as u32), pattern);
            operands.iter().for_each(|operand| is_read[operand.index()] = true);
        }
        for (dtype, lanes) in &body.outputs {
            let count = LaneType::of_element(*dtype).1;
            lanes[..count].iter().for_each(|lane| is_read[lane.index()] = true);
        }
        for (index, is_read) in is_read.into_iter().enumerate() {
            let value = Value(index as u32);
            if !self.is_row_value[index] || self.is_constant(value) || !self.is_needed[index] {
                continue;
            }
            self.instruction(value);
            if is_read {
                self.keep(value);
            }
        }
    }

    fn is_constant(&self, value: Value) -> bool {
        matches!(self.body.instruction(value).primitive, Primitive::Constant(_))
    }

    fn keep(&mut self, value: Value) {
        let slot = Memory::Frame(self.frame.reserve(O::REGISTER_BYTES));
        let whole = O::store(O::REGISTER_BYTES as usize, false);
        let (register, opcode, kept) = match self.body.lane(value) {
            LaneType::Bool => {
                let size = self.mask_size(value);
                (self.mask(value, size).part(0), O::store_mask(), Kept::Mask(value, slot))
            }
            _ => (self.number(value).part(0), whole, Kept::Number(value, slot)),
        };
        self.write(opcode, true, slot, register);
        self.kept.push(kept);
    }

    /// Forgets the registers of the row's code; what it keeps is read from the frame.
    fn enter_step(&mut self, kept: &[Kept]) {
        self.is_in_row = false;
        self.numbers.fill(None);
        self.masks.fill([None; 4]);
        self.constants.clear();
        for kept in kept {
            match *kept {
                Kept::Number(value, slot) => {
                    let register = self.code.register_of(slot, Class::Vector);
                    let count = self.count(self.body.lane(value).size());
                    self.numbers[value.index()] = Some(Parts::same(count, register));
                }
                Kept::Mask(value, slot) => {
                    let register = self.code.register_of(slot, O::MASKS);
                    for exponent in 0..4 {
                        let count = self.count(1 << exponent).min(MAX_PARTS);
                        self.masks[value.index()][exponent] = Some(Parts::same(count, register));
                    }
                }
            }
        }
    }

    fn select_step(&mut self) {
        let body = self.body;
        // Where an output lies over an input, all of a step is read before anything is written.
        let ready_at = |(dtype, lanes): &(_, [Value; 2])| match self.layout.is_in_place {
            true => usize::MAX,
            false => {
                let count = LaneType::of_element(*dtype).1;
                let last = lanes[..count].iter().map(|lane| lane.index()).max();
                last.filter(|&index| self.is_computed_in_step(index)).unwrap_or(usize::MAX)
            }
        };
        let ready_at: Vec<usize> = body.outputs.iter().map(ready_at).collect();
        let mut outputs: Vec<usize> = (0..body.outputs.len()).collect();
        outputs.sort_by_key(|&output| ready_at[output]);
        let mut waiting = outputs.into_iter().peekable();
        for index in 0..body.instructions.len() {
            if !self.is_computed_in_step(index) {
                continue;
            }
            self.instruction(Value(index as u32));
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

    /// Whether a step computes the value, other than by reading memory.
    fn is_computed_in_step(&self, index: usize) -> bool {
        let is_read = matches!(self.body.instructions[index].primitive, Primitive::Load { .. });
        self.is_needed[index] && !self.is_row_value[index] && !is_read
    }

    /// Computes a value whose operands are.
    fn instruction(&mut self, value: Value) {
        self.value = value;
        if let Some(pattern) = self.patterns[value.index()] {
            return O::pattern(self, value, pattern);
        }
        let instruction = self.body.instruction(value);
        let operand = match instruction.operands().last() {
            Some(&operand) => self.body.lane(operand),
            None => return,
        };
        let is_done = match (operand, instruction.lane) {
            (LaneType::Bool, LaneType::Bool) => self.mask_instruction(value),
            _ => O::compute(self, value, operand),
        };
        if !is_done {
            self.call(value, operand);
        }
    }

    /// Computes a value out of line: its operands' lanes are written to the frame, the result's read from it.
    fn call(&mut self, value: Value, operand: LaneType) {
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
        let call = Call {
            primitive: instruction.primitive,
            operand,
            result: instruction.lane,
            to: areas[0],
            from,
        };
        self.push(Action::Call(call), false, None, None, [Source::None; 3]);
        self.read_lanes(value, areas[0]);
    }

    pub(crate) fn set(&mut self, value: Value, parts: Parts) -> bool {
        self.numbers[value.index()] = Some(parts);
        true
    }

    /// Whether lanes of so many bytes fill more than half a register.
    pub(crate) fn is_wide(&self, size: usize) -> bool {
        self.is_in_row || self.lanes * size > O::REGISTER_BYTES as usize / 2
    }

    /// How many registers lanes of so many bytes take.
    pub(crate) fn count(&self, size: usize) -> usize {
        if self.is_in_row { 1 } else { (self.lanes * size).div_ceil(O::REGISTER_BYTES as usize) }
    }

    /// Whether a number has registers already.
    #[allow(dead_code, reason = "matters where instructions read and extend at once")]
    pub(crate) fn has_number(&self, value: Value) -> bool {
        self.numbers[value.index()].is_some()
    }

    /// The registers of a number.
    pub(crate) fn number(&mut self, value: Value) -> Parts {
        if let Some(parts) = self.numbers[value.index()] {
            return parts;
        }
        let size = self.body.lane(value).size();
        let parts = match self.body.instruction(value).primitive {
            Primitive::Constant(bits) => {
                let register = self.constant(bits, size);
                Parts::same(self.count(size), register)
            }
            Primitive::Load { input, part } => self.load(value, input, part),
            _ => unreachable!("invariant: operands are computed before those that take them"),
        };
        self.numbers[value.index()] = Some(parts);
        parts
    }

    /// A register with the low `size` bytes of `bits` in every lane.
    pub(crate) fn constant(&mut self, bits: u64, size: usize) -> Register {
        let memory = self.pool.constant(bits, size);
        self.constant_of(memory, Class::Vector)
    }

    /// A register for lanes that are not all alike.
    #[allow(dead_code, reason = "instructions of AVX-512 have such operands")]
    pub(crate) fn lanes_constant(&mut self, words: Vec<u64>) -> Register {
        let memory = self.pool.lanes(words);
        self.constant_of(memory, Class::Vector)
    }

    /// A register with a bit for each lane.
    #[allow(dead_code, reason = "for targets with such registers")]
    pub(crate) fn mask_constant(&mut self, bits: u64) -> Register {
        let memory = self.pool.constant(bits, 8);
        self.constant_of(memory, Class::Mask)
    }

    /// The register of a constant in this code.
    fn constant_of(&mut self, memory: Memory, class: Class) -> Register {
        if let Some(register) = self.constants.get(&(memory, class)) {
            return *register;
        }
        let register = self.code.register_of(memory, class);
        self.constants.insert((memory, class), register);
        register
    }

    pub(crate) fn push(
        &mut self,
        action: Action<O>,
        is_wide: bool,
        immediate: Option<u8>,
        target: Option<Memory>,
        sources: [Source; 3],
    ) -> Register {
        let is_result = target.is_none() && !matches!(action, Action::Call(_));
        let class = match action {
            Action::Vector(opcode) => opcode.result_class(),
            Action::Call(_) => Class::Vector,
        };
        let result = is_result.then(|| self.code.register(class));
        let value = self.value;
        let instruction =
            MachineInstruction { action, is_wide, immediate, result, target, sources, value };
        self.code.instructions.push(instruction);
        result.unwrap_or(Register(0))
    }

    pub(crate) fn vector(&mut self, opcode: O, is_wide: bool, sources: &[Register]) -> Register {
        self.vector_with(opcode, is_wide, sources, None)
    }

    pub(crate) fn vector_with(
        &mut self,
        opcode: O,
        is_wide: bool,
        sources: &[Register],
        immediate: Option<u8>,
    ) -> Register {
        let mut all = [Source::None; 3];
        for (place, &source) in all.iter_mut().zip(sources) {
            *place = Source::Register(source);
        }
        self.push(Action::Vector(opcode), is_wide, immediate, None, all)
    }

    /// An instruction whose source is in memory.
    pub(crate) fn read(&mut self, opcode: O, is_wide: bool, memory: Memory) -> Register {
        let sources = [Source::Memory(memory), Source::None, Source::None];
        self.push(Action::Vector(opcode), is_wide, None, None, sources)
    }

    pub(crate) fn write(&mut self, opcode: O, is_wide: bool, memory: Memory, register: Register) {
        let sources = [Source::Register(register), Source::None, Source::None];
        self.push(Action::Vector(opcode), is_wide, None, Some(memory), sources);
    }

    /// An instruction on registers and a table.
    pub(crate) fn read_table<const N: usize>(
        &mut self,
        opcode: O,
        is_wide: bool,
        registers: [Register; N],
        table: u32,
    ) -> Register {
        let mut sources = [Source::None; 3];
        sources[..N].copy_from_slice(&registers.map(Source::Register));
        sources[2] = Source::Memory(Memory::Table(table));
        self.push(Action::Vector(opcode), is_wide, None, None, sources)
    }

    /// One instruction for each part of one operand, whose lanes have `size` bytes as the result's.
    pub(crate) fn each(
        &mut self,
        opcode: O,
        size: usize,
        x: Parts,
        immediate: Option<u8>,
    ) -> Parts {
        let is_wide = self.is_wide(size);
        x.map(|part| self.vector_with(opcode, is_wide, &[part], immediate))
    }

    /// One instruction for each part of two operands.
    pub(crate) fn pairs(&mut self, opcode: O, size: usize, x: Parts, y: Parts) -> Parts {
        self.pairs_with(opcode, size, x, y, None)
    }

    pub(crate) fn pairs_with(
        &mut self,
        opcode: O,
        size: usize,
        x: Parts,
        y: Parts,
        immediate: Option<u8>,
    ) -> Parts {
        let is_wide = self.is_wide(size);
        Parts::new(x.count, |index| {
            self.vector_with(opcode, is_wide, &[x.part(index), y.part(index)], immediate)
        })
    }

    /// One instruction for each part, with a constant as the second operand.
    pub(crate) fn with(&mut self, opcode: O, size: usize, x: Parts, bits: u64) -> Parts {
        let constant = self.constant(bits, size);
        self.pairs(opcode, size, x, Parts::same(x.count, constant))
    }
}
