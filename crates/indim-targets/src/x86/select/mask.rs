//! Truth values, as masks.

use super::super::machine::{REGISTER_BYTES, Register};
use super::super::opcode::{self, Opcode};
use super::cast::extend;
use super::{Parts, Selector};
use crate::layout::Form;
use indim_codegen::{LaneType, Primitive, Value};

/// All bits.
const ONES: u64 = u64::MAX;

impl Selector<'_> {
    /// For lanes of how many bytes the mask of a value is made: of those compared, or chosen among.
    pub(super) fn mask_size(&self, value: Value) -> usize {
        match self.masks[value.index()].iter().position(Option::is_some) {
            Some(exponent) => 1 << exponent,
            None => self.wanted_sizes[value.index()],
        }
    }

    /// The registers of a truth value, for lanes of `size` bytes.
    pub(super) fn mask(&mut self, value: Value, size: usize) -> Parts {
        let exponent = size.ilog2() as usize;
        if let Some(parts) = self.masks[value.index()][exponent] {
            return parts;
        }
        let mut sizes = self.masks[value.index()].iter().zip([1, 2, 4, 8]);
        let known = sizes.find_map(|(parts, known)| Some(((*parts)?, known)));
        let parts = match (known, self.body.instruction(value).primitive) {
            (Some((parts, known)), _) => self.resized(parts, known, size),
            (None, Primitive::Constant(bits)) => {
                let register = self.constant(if bits == 0 { 0 } else { ONES }, 8);
                Parts::same(self.count(size), register)
            }
            (None, Primitive::Load { input, .. }) => self.load_mask(input, size),
            _ => unreachable!("invariant: operands are computed before those that take them"),
        };
        self.masks[value.index()][exponent] = Some(parts);
        parts
    }

    fn resized(&mut self, parts: Parts, from: usize, to: usize) -> Parts {
        // What is the same in all lanes is so whatever their width.
        if self.is_in_row {
            parts
        } else if from < to {
            self.widen(parts, from, to, true)
        } else {
            self.narrow_masks(parts, from, to)
        }
    }

    /// Bytes of truth values as a mask: any that is not 0 is true.
    fn load_mask(&mut self, input: u32, size: usize) -> Parts {
        let count = self.count(size);
        if self.layout.inputs[input as usize] == Form::Single {
            let memory = self.input(input, 1, 0);
            let bytes = self.read(opcode::BROADCAST_8, true, memory);
            let bytes = self.is_not_zero(Parts::same(1, bytes), 1);
            return Parts::same(count, bytes.part(0));
        }
        let lanes_of_part = REGISTER_BYTES as usize / size;
        let parts = Parts::new(count, |index| {
            let memory = self.input(input, 1, index * lanes_of_part);
            match size {
                1 => self.load_lanes(memory, 1),
                _ => self.read(extend(1, size, false), self.is_wide(size), memory),
            }
        });
        self.is_not_zero(parts, size)
    }

    /// Masks of the lanes that are not zero, which are not negative unless they are bytes.
    pub(super) fn is_not_zero(&mut self, parts: Parts, size: usize) -> Parts {
        let zero = self.constant(0, 8);
        let zeros = Parts::same(parts.count, zero);
        if size > 1 {
            return self.pairs(greater(size), size, parts, zeros);
        }
        let is_zero = self.pairs(opcode::EQUAL_8, 1, parts, zeros);
        self.not(is_zero, 1)
    }

    /// Bytes that are 1 where the value is true, and 0 elsewhere.
    pub(super) fn truth_bytes(&mut self, value: Value) -> Parts {
        let mask = self.mask(value, 1);
        self.with(opcode::AND, 1, mask, 1)
    }

    /// Truth values from truth values.
    pub(super) fn mask_instruction(&mut self, value: Value) -> bool {
        let instruction = *self.body.instruction(value);
        let has_size = |&&operand: &&Value| {
            let is_free = self.is_row_value[operand.index()] && !self.is_in_row;
            !is_free && self.masks[operand.index()].iter().any(Option::is_some)
        };
        let size = match instruction.operands().iter().find(has_size) {
            Some(&operand) => self.mask_size(operand),
            None => self.wanted_sizes[value.index()],
        };
        let mut operands = [Parts::same(0, Register(0)); 3];
        for (parts, &operand) in operands.iter_mut().zip(instruction.operands()) {
            *parts = self.mask(operand, size);
        }
        let [x, y, z] = operands;
        let parts = match instruction.primitive {
            Primitive::And => self.pairs(opcode::AND, size, x, y),
            Primitive::Or => self.pairs(opcode::OR, size, x, y),
            Primitive::Xor => self.pairs(opcode::XOR, size, x, y),
            Primitive::Less => self.pairs(opcode::AND_NOT, size, x, y),
            Primitive::Not => self.not(x, size),
            Primitive::Equal => {
                let differs = self.pairs(opcode::XOR, size, x, y);
                self.not(differs, size)
            }
            Primitive::Select => self.blend(opcode::BLEND_8, size, x, y, z),
            _ => return false,
        };
        self.set_mask(value, size, parts)
    }

    pub(super) fn set_mask(&mut self, value: Value, size: usize, parts: Parts) -> bool {
        self.masks[value.index()][size.ilog2() as usize] = Some(parts);
        true
    }

    pub(super) fn not(&mut self, x: Parts, size: usize) -> Parts {
        self.with(opcode::XOR, size, x, ONES)
    }

    /// The lanes of `on_true` where the mask is set, else those of `on_false`.
    pub(super) fn blend(
        &mut self,
        opcode: Opcode,
        size: usize,
        mask: Parts,
        on_true: Parts,
        on_false: Parts,
    ) -> Parts {
        let is_wide = self.is_wide(size);
        Parts::new(on_true.count, |index| {
            let sources = [on_false.part(index), on_true.part(index), mask.part(index)];
            self.vector(opcode, is_wide, &sources)
        })
    }

    /// The number of the second operand where the first holds, else of the third.
    pub(super) fn select(&mut self, value: Value) -> bool {
        let [condition, on_true, on_false] = self.body.instruction(value).operands;
        let lane = self.body.lane(value);
        let opcode = match lane {
            LaneType::F32 | LaneType::I32 | LaneType::U32 => opcode::BLEND_32,
            LaneType::F64 | LaneType::I64 | LaneType::U64 => opcode::BLEND_64,
            _ => opcode::BLEND_8,
        };
        let mask = self.mask(condition, lane.size());
        let [on_true, on_false] = [on_true, on_false].map(|value| self.number(value));
        let parts = self.blend(opcode, lane.size(), mask, on_true, on_false);
        self.set(value, parts)
    }
}

/// For each truth value the bytes of the lanes that it chooses among, if it is not made by comparing lanes.
pub(super) fn wanted_sizes(body: &indim_codegen::Body) -> Vec<usize> {
    let mut sizes = vec![1; body.instructions.len()];
    for (index, instruction) in body.instructions.iter().enumerate().rev() {
        let wanted = match instruction.lane {
            LaneType::Bool => sizes[index],
            lane => lane.size(),
        };
        for operand in instruction.operands() {
            if body.lane(*operand) == LaneType::Bool {
                sizes[operand.index()] = sizes[operand.index()].max(wanted);
            }
        }
    }
    sizes
}

/// Greater than, of signed lanes of `size` bytes.
pub(super) fn greater(size: usize) -> Opcode {
    match size {
        1 => opcode::GREATER_8,
        2 => opcode::GREATER_16,
        4 => opcode::GREATER_32,
        _ => opcode::GREATER_64,
    }
}
