//! Opcodes: what links do, as numbers that the interpreter of `links.rs` and `mask.rs` switches on.

use indim_ops::operations::*;
use indim_ops::{DType, Element, Op};

use super::Form;
use super::{Accumulator, Link};

/// What a link does to an accumulator, as a number to switch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opcode(pub(crate) u16);

impl Opcode {
    pub(crate) const SPREAD: u16 = u16::MAX - 7;
    pub(crate) const LOAD_BYTES: u16 = u16::MAX - 6;
    pub(crate) const LOAD_BYTE: u16 = u16::MAX - 5;
    pub(crate) const TEST: u16 = u16::MAX - 4;
    pub(crate) const TEST_MASK: u16 = u16::MAX - 3;
    pub(crate) const SAVE: u16 = u16::MAX - 2;
    pub(crate) const SAVE_MASK: u16 = u16::MAX - 1;
    pub(crate) const WRITE_MASK: u16 = u16::MAX;

    /// Whether the mask is the result.
    pub fn writes_mask(self) -> bool {
        self.0 == Opcode::WRITE_MASK
    }

    /// That of a link whose operand has this form, and elements of type `dtype`.
    pub fn of<O>(link: &Link<O>, dtype: DType, form: Form) -> Opcode {
        Opcode(match *link {
            Link::Load(Accumulator::Values, _) => load_code(dtype, form),
            Link::Load(Accumulator::Bools, _) => load_code(DType::Bool, form),
            Link::Load(Accumulator::Bytes, _) if form == Form::Single => Opcode::LOAD_BYTE,
            Link::Load(Accumulator::Bytes, _) => Opcode::LOAD_BYTES,
            Link::Save(Accumulator::Values, _) => Opcode::SAVE,
            Link::Save(..) => Opcode::SAVE_MASK,
            Link::Test(Accumulator::Values) => Opcode::TEST,
            Link::Test(_) => Opcode::TEST_MASK,
            Link::Spread => Opcode::SPREAD,
            Link::Unary(accumulator, op) => operation(op, accumulator, form, false),
            Link::Binary { op, accumulator, accumulator_is_second, .. } => {
                operation(op, accumulator, form, accumulator_is_second)
            }
            Link::WriteMask => Opcode::WRITE_MASK,
        })
    }
}

/// `op` on the accumulator and, if it has two operands, the link's.
fn operation(op: Op, accumulator: Accumulator, form: Form, accumulator_is_second: bool) -> u16 {
    let (op, is_second) = match op.mirrored() {
        Some(mirrored) if accumulator_is_second => (mirrored, false),
        _ => (op, accumulator_is_second),
    };
    match accumulator {
        Accumulator::Values => code(op, form, is_second),
        Accumulator::Bools => mask_code(op, DType::Bool, form),
        Accumulator::Bytes => mask_code(op, DType::U8, form),
    }
}

pub(crate) const fn code(op: Op, form: Form, accumulator_is_second: bool) -> u16 {
    op as u16 * 4 + matches!(form, Form::Single) as u16 + accumulator_is_second as u16 * 2
}

/// Codes of loads come after those of operations.
pub(crate) const fn load_code(dtype: DType, form: Form) -> u16 {
    Op::ALL.len() as u16 * 4 + dtype as u16 * 2 + matches!(form, Form::Single) as u16
}

/// Codes of operations on the mask, bools or u8, come after all others.
pub(crate) const fn mask_code(op: Op, dtype: DType, form: Form) -> u16 {
    let first = load_code(DType::C128, Form::Single) + 1;
    first
        + op as u16 * 4
        + matches!(form, Form::Single) as u16
        + matches!(dtype, DType::Bool) as u16 * 2
}

/// The codes of loading elements of one type, as patterns.
pub(crate) trait LoadCodes: Element {
    const BLOCK: u16 = load_code(Self::DTYPE, Form::Block);
    const SINGLE: u16 = load_code(Self::DTYPE, Form::Single);
}

impl<T: Element> LoadCodes for T {}

/// The codes of one operation, as patterns.
pub(crate) trait Codes {
    const OP: Op;
    const BLOCK: u16 = code(Self::OP, Form::Block, false);
    const SINGLE: u16 = code(Self::OP, Form::Single, false);
    const BLOCK_FIRST: u16 = code(Self::OP, Form::Block, true);
    const SINGLE_FIRST: u16 = code(Self::OP, Form::Single, true);
}

macro_rules! define_codes {
    ($($operation:ident)*) => {
        $(impl Codes for $operation { const OP: Op = Op::$operation; })*
    };
}

define_codes! { Add Mul Max Min And Or Xor Sub Div Neg Conj Abs Square Sqrt Not Eq Ne Lt Le Gt Ge Select }
