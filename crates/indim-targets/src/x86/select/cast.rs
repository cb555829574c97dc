//! Lowering of conversions between types, and between lane widths.

use super::super::instruction_set::X86InstructionSet;
use super::super::opcode::Opcode;
use super::float::{ORDERED, by_size};
use super::{Register, RegisterGroup, X86Selector};
use indim_codegen::layout::OperandForm;
use indim_codegen::{LaneType, Primitive, SsaValue};

/// Rounding mode of `vcvtps2ph`.
const TO_NEAREST_EVEN: u8 = 0;

impl<S: X86InstructionSet> X86Selector<'_, '_, S> {
    /// Lowers a conversion; `false` if there is no short sequence.
    pub(super) fn cast(&mut self, value: SsaValue) -> bool {
        let to = self.body.lane(value);
        let operand = self.body.instruction(value).operands[0];
        let from = self.body.lane(operand);
        let group = match (from.is_float(), to.is_float()) {
            (false, false) => self.integer_to_integer(operand, from, to.size()),
            (false, true) => {
                let Some(group) = S::integer_to_float(self, operand, from, to) else {
                    return false;
                };
                group
            }
            (true, false) => {
                let x = self.number(operand);
                match to.size() {
                    4.. => S::float_to_integer(self, x, from, to),
                    _ => self.float_to_narrow(x, from, to),
                }
            }
            (true, true) => self.float_to_float(operand, from, to),
        };
        self.set(value, group)
    }

    /// Converts integers to `to` bytes; an input that is not in registers yet is loaded and extended at once.
    pub(in crate::x86) fn integer_to_integer(
        &mut self,
        operand: SsaValue,
        from: LaneType,
        to: usize,
    ) -> RegisterGroup {
        if let Some(group) = self.load_extended(operand, from, to) {
            return group;
        }
        let x = self.number(operand);
        self.resize(x, from, to)
    }

    /// Converts integers to `to` bytes: truncates, or extends by the signedness of `from`.
    fn resize(&mut self, x: RegisterGroup, from: LaneType, to: usize) -> RegisterGroup {
        match from.size() {
            size if size < to => self.widen(x, size, to, from.is_signed()),
            size => S::narrow(self, x, size, to),
        }
    }

    /// Loads and extends an input in one instruction, if it is not in registers already.
    fn load_extended(
        &mut self,
        operand: SsaValue,
        from: LaneType,
        to: usize,
    ) -> Option<RegisterGroup> {
        if from.size() >= to {
            return None;
        }
        let opcode = extend(from.size(), to, from.is_signed());
        self.load_widened(operand, opcode, from.size(), to)
    }

    /// Loads and widens an input by one instruction for each register of the result, if the input is not in
    /// registers already. Unlike the upper half of a register, a memory operand needs no shuffle before it is
    /// widened.
    fn load_widened(
        &mut self,
        operand: SsaValue,
        opcode: Opcode<S>,
        from: usize,
        to: usize,
    ) -> Option<RegisterGroup> {
        let Primitive::Load { input, .. } = self.body.instruction(operand).primitive else {
            return None;
        };
        // The parts of a complex number are not contiguous.
        let is_whole = self.body.inputs[input as usize].size() == from;
        let is_dense = self.layout.inputs[input as usize] == OperandForm::Dense;
        (is_whole && is_dense && !self.has_number(operand))
            .then(|| self.load_input_widened(input, opcode, from, to))
    }

    /// Loads and widens a dense input by one instruction for each register of the result.
    pub(super) fn load_input_widened(
        &mut self,
        input: u32,
        opcode: Opcode<S>,
        from: usize,
        to: usize,
    ) -> RegisterGroup {
        let bytes_per_register = S::REGISTER_BYTES as usize / to * from;
        let is_wide = self.is_wide(to);
        RegisterGroup::new(self.count(to), |index| {
            let memory = self.input(input, from, index * bytes_per_register);
            self.emit_load(opcode, is_wide, memory)
        })
    }

    /// Widens a number by an instruction that may load it.
    fn number_widened(
        &mut self,
        operand: SsaValue,
        opcode: Opcode<S>,
        from: usize,
        to: usize,
    ) -> RegisterGroup {
        self.load_widened(operand, opcode, from, to).unwrap_or_else(|| {
            let x = self.number(operand);
            self.widen_with(opcode, x, from, to)
        })
    }

    /// Extends lanes of `from` bytes to `to` bytes.
    pub(in crate::x86) fn widen(
        &mut self,
        x: RegisterGroup,
        from: usize,
        to: usize,
        is_signed: bool,
    ) -> RegisterGroup {
        self.widen_with(extend(from, to, is_signed), x, from, to)
    }

    /// Widens lanes by one instruction per register of the result, on the corresponding lanes of the source.
    pub(in crate::x86) fn widen_with(
        &mut self,
        opcode: Opcode<S>,
        x: RegisterGroup,
        from: usize,
        to: usize,
    ) -> RegisterGroup {
        let bytes = from * S::REGISTER_BYTES as usize / to;
        let is_wide = self.is_wide(to);
        RegisterGroup::new(self.count(to), |index| {
            let first = index * bytes;
            let register = x.register(first / S::REGISTER_BYTES as usize);
            let low = S::shift_down_bytes(self, register, first % S::REGISTER_BYTES as usize);
            self.emit(opcode, is_wide, &[low])
        })
    }

    /// Broadcasts the low 8 bytes, whose lanes are equal, to the whole register.
    pub(in crate::x86) fn broadcast_low(&mut self, low: Register) -> Register {
        self.emit(Opcode::BROADCAST_64, true, &[low])
    }

    fn float_to_float(&mut self, operand: SsaValue, from: LaneType, to: LaneType) -> RegisterGroup {
        match (from, to) {
            (LaneType::F32, LaneType::F64) => {
                self.number_widened(operand, Opcode::F32_TO_F64, 4, 8)
            }
            (LaneType::F64, LaneType::F32) => {
                let x = self.number(operand);
                self.narrow_with(Opcode::F64_TO_F32, 8, x, None)
            }
            _ => self.number(operand),
        }
    }

    /// Lowers the conversion of binary16 to `f32`.
    pub(super) fn widen_f16(&mut self, value: SsaValue) -> bool {
        let operand = self.body.instruction(value).operands[0];
        let group = self.number_widened(operand, Opcode::F16_TO_F32, 2, 4);
        self.set(value, group)
    }

    /// Lowers the rounding of `f32` to binary16. NaNs are made canonical first, because the instruction keeps
    /// their sign and upper bits.
    pub(super) fn round_to_f16(&mut self, value: SsaValue) -> bool {
        let operand = self.body.instruction(value).operands[0];
        let x = self.number(operand);
        let x = self.canonicalize_nans(4, x);
        let group = self.narrow_with(Opcode::F32_TO_F16, 4, x, Some(TO_NEAREST_EVEN));
        self.set(value, group)
    }

    /// Narrows lanes of `size` bytes to half by an instruction whose result fills half a register, and
    /// concatenates the halves.
    pub(in crate::x86) fn narrow_with(
        &mut self,
        opcode: Opcode<S>,
        size: usize,
        x: RegisterGroup,
        immediate: Option<u8>,
    ) -> RegisterGroup {
        let is_wide = self.is_wide(size);
        let halves = x.map(|register| self.emit_immediate(opcode, is_wide, &[register], immediate));
        if self.is_in_row {
            return RegisterGroup::uniform(1, self.broadcast_low(halves.register(0)));
        }
        if x.count == 1 {
            return halves;
        }
        RegisterGroup::new(x.count / 2, |index| {
            S::concat_halves(self, [halves.register(2 * index), halves.register(2 * index + 1)])
        })
    }

    /// Clamps floats between two limits; NaNs become 0 first.
    pub(in crate::x86) fn clamp(
        &mut self,
        x: RegisterGroup,
        size: usize,
        min: f64,
        max: f64,
    ) -> RegisterGroup {
        let is_number = self.compare_floats(size, x, x, ORDERED);
        let x = S::move_or_zero(self, size, is_number, x);
        let bits = |limit: f64| match size {
            4 => u64::from((limit as f32).to_bits()),
            _ => limit.to_bits(),
        };
        let x = self.binary_constant(
            by_size(size, Opcode::MAX_F32, Opcode::MAX_F64),
            size,
            x,
            bits(min),
        );
        self.binary_constant(by_size(size, Opcode::MIN_F32, Opcode::MIN_F64), size, x, bits(max))
    }

    /// Converts floats to integers of 8 or 16 bits, saturating: clamps, converts to 32 bits, and truncates.
    fn float_to_narrow(&mut self, x: RegisterGroup, from: LaneType, to: LaneType) -> RegisterGroup {
        let (min, max) = match to {
            LaneType::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
            LaneType::U8 => (0.0, f64::from(u8::MAX)),
            LaneType::I16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
            _ => (0.0, f64::from(u16::MAX)),
        };
        let x = self.clamp(x, from.size(), min, max);
        let x = match from {
            LaneType::F32 => self.unary(Opcode::F32_TO_I32, 4, x, None),
            _ => self.narrow_with(Opcode::F64_TO_I32, 8, x, None),
        };
        S::narrow(self, x, 4, to.size())
    }
}

/// The instruction that extends lanes of `from` bytes to `to` bytes.
pub(super) fn extend<S: X86InstructionSet>(from: usize, to: usize, is_signed: bool) -> Opcode<S> {
    match (from, to, is_signed) {
        (1, 2, true) => Opcode::EXTEND_I8_16,
        (1, 4, true) => Opcode::EXTEND_I8_32,
        (1, _, true) => Opcode::EXTEND_I8_64,
        (2, 4, true) => Opcode::EXTEND_I16_32,
        (2, _, true) => Opcode::EXTEND_I16_64,
        (_, _, true) => Opcode::EXTEND_I32_64,
        (1, 2, false) => Opcode::EXTEND_U8_16,
        (1, 4, false) => Opcode::EXTEND_U8_32,
        (1, _, false) => Opcode::EXTEND_U8_64,
        (2, 4, false) => Opcode::EXTEND_U16_32,
        (2, _, false) => Opcode::EXTEND_U16_64,
        (_, _, false) => Opcode::EXTEND_U32_64,
    }
}
