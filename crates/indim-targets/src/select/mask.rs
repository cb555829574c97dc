//! Truth values as masks.

use super::{RegisterGroup, Selector, TargetLowering};
use crate::machine::Class;
use indim_codegen::{Body, LaneType, Primitive, Value};

/// All bits.
const ONES: u64 = u64::MAX;

impl<O: TargetLowering> Selector<'_, O> {
    /// Lane size in bytes for which the mask of a value is made: that of the lanes compared or selected.
    pub(super) fn mask_size(&self, value: Value) -> usize {
        match self.masks[value.index()].iter().position(Option::is_some) {
            Some(exponent) => 1 << exponent,
            None => self.preferred_mask_sizes[value.index()],
        }
    }

    /// The registers of a truth value, for lanes of `size` bytes.
    pub(super) fn mask(&mut self, value: Value, size: usize) -> RegisterGroup {
        let exponent = size.ilog2() as usize;
        if let Some(parts) = self.masks[value.index()][exponent] {
            return parts;
        }
        let mut sizes = self.masks[value.index()].iter().zip([1, 2, 4, 8]);
        let known = sizes.find_map(|(parts, known)| Some(((*parts)?, known)));
        let parts = match (known, self.body.instruction(value).primitive) {
            (Some((parts, known)), _) => self.resized(parts, known, size),
            (None, Primitive::Constant(bits)) => {
                let bits = if bits == 0 { 0 } else { ONES };
                let register = match O::MASKS {
                    Class::Vector => self.constant(bits, 8),
                    Class::Mask => self.mask_constant(bits),
                };
                RegisterGroup::uniform(self.count(size), register)
            }
            // As many bits as there are bytes, whatever they choose among.
            (None, Primitive::Load { .. }) if O::MASKS == Class::Mask && size > 1 => {
                let bytes = self.mask(value, 1);
                self.resized(bytes, 1, size)
            }
            (None, Primitive::Load { input, .. }) => self.load_mask(input, size),
            _ => unreachable!("invariant: operands are computed before those that take them"),
        };
        self.masks[value.index()][exponent] = Some(parts);
        parts
    }

    fn resized(&mut self, parts: RegisterGroup, from: usize, to: usize) -> RegisterGroup {
        // What is the same in all lanes is so whatever their width.
        match self.is_in_row {
            true => parts,
            false => O::resize_masks(self, parts, from, to),
        }
    }

    /// Bytes of truth values as a mask: any that is not 0 is true.
    fn load_mask(&mut self, input: u32, size: usize) -> RegisterGroup {
        let count = self.count(size);
        if self.layout.inputs[input as usize].is_one() {
            let memory = self.input(input, 1, 0);
            let bytes = O::broadcast(self, memory, 1);
            // However wide the lanes are, all of a register has the value.
            let is_in_row = core::mem::replace(&mut self.is_in_row, true);
            let bytes = O::nonzero_mask(self, RegisterGroup::uniform(1, bytes), 1);
            self.is_in_row = is_in_row;
            return RegisterGroup::uniform(count, bytes.register(0));
        }
        let bytes = match size {
            1 => self.load_lanes(input, 1),
            _ => O::load_extended(self, input, 1, size, false),
        };
        O::nonzero_mask(self, bytes, size)
    }

    /// Bytes that are 1 where the value is true, and 0 elsewhere.
    pub(super) fn mask_to_bytes(&mut self, value: Value) -> RegisterGroup {
        let mask = self.mask(value, 1);
        O::mask_to_bytes(self, mask)
    }

    /// Truth values from truth values.
    pub(super) fn mask_instruction(&mut self, value: Value) -> bool {
        let instruction = *self.body.instruction(value);
        let has_size = |&&operand: &&Value| {
            let is_free = self.is_row_invariant[operand.index()] && !self.is_in_row;
            !is_free && self.masks[operand.index()].iter().any(Option::is_some)
        };
        let size = match instruction.operands().iter().find(has_size) {
            Some(&operand) => self.mask_size(operand),
            None => self.preferred_mask_sizes[value.index()],
        };
        let mut operands = [RegisterGroup::NONE; 3];
        for (parts, &operand) in operands.iter_mut().zip(instruction.operands()) {
            *parts = self.mask(operand, size);
        }
        let Some(parts) = O::mask_operation(self, instruction.primitive, size, operands) else {
            return false;
        };
        self.masks[value.index()][size.ilog2() as usize] = Some(parts);
        true
    }

    /// A truth value from a truth value or several, where masks are vectors.
    pub(crate) fn vector_mask_operation(
        &mut self,
        primitive: Primitive,
        size: usize,
        [x, y, z]: [RegisterGroup; 3],
    ) -> Option<RegisterGroup> {
        Some(match primitive {
            Primitive::And => self.binary(O::AND, size, x, y),
            Primitive::Or => self.binary(O::OR, size, x, y),
            Primitive::Xor => self.binary(O::XOR, size, x, y),
            Primitive::Less => {
                let x = self.not(x, size);
                self.binary(O::AND, size, x, y)
            }
            Primitive::Not => self.not(x, size),
            Primitive::Equal => {
                let differs = self.binary(O::XOR, size, x, y);
                self.not(differs, size)
            }
            Primitive::Select => O::blend(self, size, x, y, z),
            _ => return None,
        })
    }

    /// Sets the mask that a comparison of lanes of `size` bytes made.
    pub(crate) fn set_mask(&mut self, value: Value, size: usize, parts: RegisterGroup) -> bool {
        let parts = match self.is_in_row {
            true => O::uniform_mask(self, size, parts),
            false => parts,
        };
        self.masks[value.index()][size.ilog2() as usize] = Some(parts);
        true
    }

    pub(crate) fn not(&mut self, x: RegisterGroup, size: usize) -> RegisterGroup {
        self.binary_constant(O::XOR, size, x, ONES)
    }

    /// A select of numbers by a mask.
    pub(crate) fn select(&mut self, value: Value) -> bool {
        let [condition, on_true, on_false] = self.body.instruction(value).operands;
        let size = self.body.lane(value).size();
        let mask = self.mask(condition, size);
        let [on_true, on_false] = [on_true, on_false].map(|value| self.number(value));
        let parts = O::blend(self, size, mask, on_true, on_false);
        self.set(value, parts)
    }
}

/// For each truth value the size of the lanes that it selects, unless a comparison of lanes makes it.
pub(super) fn preferred_mask_sizes(body: &Body) -> Vec<usize> {
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
