//! Lowering of conversions between types, and between lane widths.

use super::super::opcode::{self, InstructionFamily, REGISTER_BYTES};
use super::{NeonSelector, Opcode, RegisterGroup};
use indim_codegen::{LaneType, SsaValue};

impl NeonSelector<'_, '_> {
    /// Lowers a conversion; `false` for 64-bit integers to `f32`, which by way of `f64` would round twice.
    pub(super) fn cast(&mut self, value: SsaValue) -> bool {
        let to = self.body.lane(value);
        let operand = self.body.instruction(value).operands[0];
        let from = self.body.lane(operand);
        if !from.is_float() && from.size() == 8 && to == LaneType::F32 {
            return false;
        }
        let x = self.number(operand);
        let group = match (from.is_float(), to.is_float()) {
            (false, false) => self.resize(x, from, to.size()),
            (false, true) => {
                let x = self.resize(x, from, to.size());
                let family = match from.is_signed() {
                    true => opcode::FROM_SIGNED,
                    false => opcode::FROM_UNSIGNED,
                };
                self.unary(family.of(to.size()), to.size(), x, None)
            }
            (true, false) => self.float_to_integer(x, from.size(), to),
            (true, true) => self.float_to_float(x, from.size(), to.size()),
        };
        self.set(value, group)
    }

    /// Converts integers to `to` bytes: truncates, or extends by the signedness of `from`.
    fn resize(&mut self, x: RegisterGroup, from: LaneType, to: usize) -> RegisterGroup {
        match from.size() {
            size if size < to => Opcode::widen(self, x, size, to, from.is_signed()),
            size => self.narrow(x, size, to),
        }
    }

    /// Doubles the size of lanes: one instruction for the lower lanes of a register, another for the upper
    /// ones.
    pub(super) fn widen_lanes(
        &mut self,
        [low, high]: [InstructionFamily; 2],
        size: usize,
        x: RegisterGroup,
    ) -> RegisterGroup {
        RegisterGroup::new(self.count(2 * size), |index| {
            let family = if index % 2 == 0 { low } else { high };
            self.emit(family.of(size), true, &[x.register(index / 2)])
        })
    }

    /// Narrows lanes to their low bytes.
    pub(super) fn narrow(&mut self, mut x: RegisterGroup, from: usize, to: usize) -> RegisterGroup {
        let mut size = from;
        while size > to {
            size /= 2;
            x = self.halve_lanes(x, size, opcode::EVEN.of(size));
        }
        x
    }

    /// Halves lanes to `size` bytes, by an instruction on two registers.
    fn halve_lanes(&mut self, x: RegisterGroup, size: usize, opcode: Opcode) -> RegisterGroup {
        RegisterGroup::new(self.count(size), |index| {
            let second = (2 * index + 1).min(x.count - 1);
            self.emit(opcode, true, &[x.register(2 * index), x.register(second)])
        })
    }

    /// Narrows lanes of `size` bytes to half by an instruction whose result fills half a register, and
    /// concatenates the halves.
    fn narrow_with(
        &mut self,
        family: InstructionFamily,
        size: usize,
        x: RegisterGroup,
    ) -> RegisterGroup {
        let halves = self.unary(family.of(size), size, x, None);
        let is_half = !self.is_in_row && self.lanes * size <= REGISTER_BYTES as usize;
        if is_half {
            halves
        } else {
            self.halve_lanes(halves, size / 2, opcode::INTERLEAVE_LOW.of(8))
        }
    }

    /// Converts floats to integers. The instructions saturate, and NaNs become 0.
    fn float_to_integer(&mut self, x: RegisterGroup, from: usize, to: LaneType) -> RegisterGroup {
        let (convert, narrow) = match to.is_signed() {
            true => (opcode::TO_SIGNED, opcode::NARROW_SIGNED),
            false => (opcode::TO_UNSIGNED, opcode::NARROW_UNSIGNED),
        };
        let is_widened = from < to.size();
        let x = if is_widened { self.float_to_float(x, 4, 8) } else { x };
        let mut size = from.max(to.size());
        let mut x = self.unary(convert.of(size), size, x, None);
        while size > to.size() {
            x = self.narrow_with(narrow, size, x);
            size /= 2;
        }
        x
    }

    fn float_to_float(&mut self, x: RegisterGroup, from: usize, to: usize) -> RegisterGroup {
        match (from, to) {
            (4, 8) => self.widen_lanes(EXTEND_FLOAT, 4, x),
            (8, 4) => self.narrow_with(opcode::NARROW_FLOAT, 8, x),
            _ => x,
        }
    }

    /// Lowers the conversion of binary16 to `f32`.
    pub(super) fn widen_f16(&mut self, value: SsaValue) -> bool {
        let operand = self.body.instruction(value).operands[0];
        let x = self.number(operand);
        let group = self.widen_lanes(EXTEND_FLOAT, 2, x);
        self.set(value, group)
    }

    /// Lowers the rounding of `f32` to binary16. NaNs are made canonical first, because the instruction keeps
    /// their sign and upper bits.
    pub(super) fn round_to_f16(&mut self, value: SsaValue) -> bool {
        let operand = self.body.instruction(value).operands[0];
        let x = self.number(operand);
        let x = self.canonicalize_nans(4, x);
        let group = self.narrow_with(opcode::NARROW_FLOAT, 4, x);
        self.set(value, group)
    }
}

const EXTEND_FLOAT: [InstructionFamily; 2] = [opcode::EXTEND_FLOAT, opcode::EXTEND_FLOAT_HIGH];
