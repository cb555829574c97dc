//! Booleans as masks.

use super::{RegisterGroup, Selector, TargetLowering};
use crate::machine::Class;
use crate::{Body, LaneType, Primitive, SsaValue};

/// All bits set.
const ONES: u64 = u64::MAX;

impl<O: TargetLowering> Selector<'_, O> {
    /// Lane size in bytes of the mask of a boolean: the size of an existing mask, or else the preferred size.
    pub(super) fn mask_size(&self, value: SsaValue) -> usize {
        match self.masks[value.index()].iter().position(Option::is_some) {
            Some(exponent) => 1 << exponent,
            None => self.preferred_mask_sizes[value.index()],
        }
    }

    /// The mask of a boolean for lanes of `size` bytes; converts a mask of another size if necessary.
    pub(super) fn mask(&mut self, value: SsaValue, size: usize) -> RegisterGroup {
        let exponent = size.ilog2() as usize;
        if let Some(group) = self.masks[value.index()][exponent] {
            return group;
        }
        let mut sizes = self.masks[value.index()].iter().zip([1, 2, 4, 8]);
        let known = sizes.find_map(|(group, known)| Some(((*group)?, known)));
        let group = match (known, self.body.instruction(value).primitive) {
            (Some((group, known)), _) => self.resize_mask(group, known, size),
            (None, Primitive::Constant(bits)) => {
                let bits = if bits == 0 { 0 } else { ONES };
                let register = match O::MASKS {
                    Class::Vector => self.constant(bits, 8),
                    Class::Mask => self.mask_constant(bits),
                };
                RegisterGroup::uniform(self.count(size), register)
            }
            // A mask register is loaded by comparing bytes, then resized.
            (None, Primitive::Load { .. }) if O::MASKS == Class::Mask && size > 1 => {
                let bytes = self.mask(value, 1);
                self.resize_mask(bytes, 1, size)
            }
            (None, Primitive::Load { input, .. }) => self.load_mask(input, size),
            _ => unreachable!("invariant: operands are computed before their uses"),
        };
        self.masks[value.index()][exponent] = Some(group);
        group
    }

    fn resize_mask(&mut self, group: RegisterGroup, from: usize, to: usize) -> RegisterGroup {
        // A mask with equal lanes is valid for any lane size.
        match self.is_in_row {
            true => group,
            false => O::resize_masks(self, group, from, to),
        }
    }

    /// Loads booleans as a mask. Any nonzero byte is true.
    fn load_mask(&mut self, input: u32, size: usize) -> RegisterGroup {
        let count = self.count(size);
        if self.layout.inputs[input as usize].is_scalar() {
            let memory = self.input(input, 1, 0);
            let bytes = O::broadcast(self, memory, 1);
            // The byte is broadcast to the whole register, as in the code of the row.
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

    /// A boolean as bytes, 1 or 0.
    pub(super) fn mask_to_bytes(&mut self, value: SsaValue) -> RegisterGroup {
        let mask = self.mask(value, 1);
        O::mask_to_bytes(self, mask)
    }

    /// Lowers a primitive with boolean operands and result, on masks of the size that an operand has.
    pub(super) fn mask_instruction(&mut self, value: SsaValue) -> bool {
        let instruction = *self.body.instruction(value);
        // In a step, the mask of a row invariant is valid for every size, so such an operand does not
        // decide.
        let has_size = |&&operand: &&SsaValue| {
            let is_free = self.is_row_invariant[operand.index()] && !self.is_in_row;
            !is_free && self.masks[operand.index()].iter().any(Option::is_some)
        };
        let size = match instruction.operands().iter().find(has_size) {
            Some(&operand) => self.mask_size(operand),
            None => self.preferred_mask_sizes[value.index()],
        };
        let mut operands = [RegisterGroup::NONE; 3];
        for (group, &operand) in operands.iter_mut().zip(instruction.operands()) {
            *group = self.mask(operand, size);
        }
        let Some(group) = O::mask_operation(self, instruction.primitive, size, operands) else {
            return false;
        };
        self.masks[value.index()][size.ilog2() as usize] = Some(group);
        true
    }

    /// Lowers a primitive with boolean operands and result, if masks are vectors.
    pub fn vector_mask_operation(
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

    /// Sets the mask of a boolean, for lanes of `size` bytes; returns `true`, the answer of
    /// `lower_primitive`.
    pub fn set_mask(&mut self, value: SsaValue, size: usize, group: RegisterGroup) -> bool {
        let group = match self.is_in_row {
            true => O::uniform_mask(self, size, group),
            false => group,
        };
        self.masks[value.index()][size.ilog2() as usize] = Some(group);
        true
    }

    /// The bitwise negation; lanes have `size` bytes.
    pub fn not(&mut self, x: RegisterGroup, size: usize) -> RegisterGroup {
        self.binary_constant(O::XOR, size, x, ONES)
    }

    /// Lowers a select between numbers.
    pub fn select(&mut self, value: SsaValue) -> bool {
        let [condition, on_true, on_false] = self.body.instruction(value).operands;
        let size = self.body.lane(value).size();
        let mask = self.mask(condition, size);
        let [on_true, on_false] = [on_true, on_false].map(|value| self.number(value));
        let group = O::blend(self, size, mask, on_true, on_false);
        self.set(value, group)
    }
}

/// For each boolean, the size of the widest lanes that it selects, directly or through other booleans; 1 if
/// it selects none.
pub(super) fn preferred_mask_sizes(body: &Body) -> Vec<usize> {
    let mut sizes = vec![1; body.instructions.len()];
    for (index, instruction) in body.instructions.iter().enumerate().rev() {
        let mask_size = match instruction.lane {
            LaneType::Bool => sizes[index],
            lane => lane.size(),
        };
        for operand in instruction.operands() {
            if body.lane(*operand) == LaneType::Bool {
                sizes[operand.index()] = sizes[operand.index()].max(mask_size);
            }
        }
    }
    sizes
}
