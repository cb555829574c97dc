//! Chains: several cheap operations in one pass over a block. Holds unsafe code.
//!
//! A block kernel reads its operands from memory and writes its result there. For `(x - m) * s + b`
//! that costs more than the arithmetic, and while one kernel works on a block in the cache nobody asks
//! the main memory for the next. A chain keeps a piece of 256 or 512 bytes, the *accumulator*, in the
//! processor's vector registers and takes it through all its links; a link is one operation with
//! one operand. So memory is read and written without a break, and an operand that is one
//! element for the whole block is not spread out first.
//!
//! Beside the accumulator there is a mask, one byte for each of its elements: comparisons set it, a
//! selection uses it, and a chain whose result is a bool ends by writing it. It has operations of its
//! own, because conditions are composed: `(a > 1) & (b < 2)`, or `q & 4 != 0` where the mask holds a
//! u8 meanwhile.
//!
//! Here is how pieces and rows are walked. What the links do with them is in `chain_links.rs`, for the
//! mask in `chain_mask.rs`, how the accumulator holds elements of a 16-bit float in
//! `chain_element.rs`. Which instructions become chains is decided in `chains.rs`.

use core::mem::MaybeUninit;

use indim_ops::{DType, Op};

use super::element::ChainElement;
use crate::blocks::kernel::instructions::Instructions;

/// The most bytes of an accumulator: 8 vector registers of AVX-512.
pub(crate) const ACCUMULATOR_BYTES: usize = 512;

/// The bytes of an accumulator where there are 16 vector registers: 8 of AVX2.
pub(crate) const NARROW_BYTES: usize = 256;

/// The bytes of a cache line.
const LINE_BYTES: usize = 64;

/// The most links of a chain.
pub(crate) const MAXIMUM_LINKS: usize = 64;

/// What a link does with the accumulator or the mask, as a number to switch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) u16);

/// Where one operand of a link is, and how it is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Register {
    /// The accumulator.
    Accumulator,
    /// The mask, as bools.
    Bools,
    /// The mask, as u8.
    Bytes,
}

/// Where a link's operand lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// An element of a block for each element of the accumulator.
    Block,
    /// One element for all.
    Single,
}

impl Code {
    pub(crate) const SPREAD: u16 = u16::MAX - 7;
    pub(crate) const LOAD_BYTES: u16 = u16::MAX - 6;
    pub(crate) const LOAD_BYTE: u16 = u16::MAX - 5;
    pub(crate) const TEST: u16 = u16::MAX - 4;
    pub(crate) const TEST_MASK: u16 = u16::MAX - 3;
    pub(crate) const SAVE: u16 = u16::MAX - 2;
    pub(crate) const SAVE_MASK: u16 = u16::MAX - 1;
    pub(crate) const WRITE_MASK: u16 = u16::MAX;

    /// The mask is the result: the last link of a chain of conditions.
    pub(crate) const MASK_WRITTEN: Code = Code(Code::WRITE_MASK);

    /// The mask, bools converted to the chain's type, becomes the accumulator.
    pub(crate) const MASK_SPREAD: Code = Code(Code::SPREAD);

    /// The register is written to the operand, a place of [`ACCUMULATOR_BYTES`].
    pub(crate) const fn save(register: Register) -> Code {
        match register {
            Register::Accumulator => Code(Code::SAVE),
            Register::Bools | Register::Bytes => Code(Code::SAVE_MASK),
        }
    }

    /// The register, converted to bools, becomes the mask.
    pub(crate) const fn test(register: Register) -> Code {
        match register {
            Register::Accumulator => Code(Code::TEST),
            Register::Bools | Register::Bytes => Code(Code::TEST_MASK),
        }
    }

    /// The operand becomes what the register holds; that of an accumulator has elements of type `dtype`.
    pub(crate) const fn load(register: Register, dtype: DType, form: Form) -> Code {
        Code(match register {
            Register::Accumulator => load_code(dtype, form),
            Register::Bools => load_code(DType::Bool, form),
            Register::Bytes => match form {
                Form::Block => Code::LOAD_BYTES,
                Form::Single => Code::LOAD_BYTE,
            },
        })
    }

    /// `op` on the register and, if it has two operands, the link's; the register may be the second of
    /// them. A comparison sets the mask, a selection goes by it.
    pub(crate) fn apply(op: Op, register: Register, form: Form, register_is_second: bool) -> Code {
        let (op, is_second) = match op.mirrored() {
            Some(mirrored) if register_is_second => (mirrored, false),
            _ => (op, register_is_second),
        };
        Code(match register {
            Register::Accumulator => code(op, form, is_second),
            Register::Bools => mask_code(op, DType::Bool, form),
            Register::Bytes => mask_code(op, DType::U8, form),
        })
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

/// What a link does, whatever the addresses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkKind {
    pub(crate) code: Code,
    /// From one element of the operand to the next, in bytes: an element's size, or 0.
    pub(crate) stride: usize,
    /// From one row of the operand to the next, in bytes.
    pub(crate) step: isize,
}

/// One operation of a chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub(crate) kind: LinkKind,
    /// The first row of the operand.
    pub(crate) operand: *const u8,
}

/// The elements that a chain computes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) count: usize,
    /// Elements in a row, one after another.
    pub(crate) elements: usize,
    /// From one row of the destination to the next, in bytes.
    pub(crate) step: isize,
    /// Whether the destination is written past the caches; [`crate::blocks::memory::settle`] must follow.
    pub(crate) streams: bool,
}

/// Takes rows of elements through `links`; the operands of the links are moved on.
///
/// # Safety
/// - `links` are 1 to [`MAXIMUM_LINKS`]; their operations, and the types that they load, are those of
///   the type that the chain was looked up for;
/// - each row of `destination` is valid for writes, of bools if the last link is
///   [`Code::MASK_WRITTEN`], and overlaps no operand;
/// - each row of a link's operand is valid for reads of as many elements if its stride is an element's
///   size, else of one element where the code says so, and of [`ACCUMULATOR_BYTES`] where not; that of
///   [`Code::save`] for writes of [`ACCUMULATOR_BYTES`];
/// - the processor has the level for which the chain was looked up.
pub(crate) type ChainFn = unsafe fn(destination: *mut u8, links: &mut [Link], rows: Rows);

/// The chains of one element type.
pub(crate) trait ChainBody {
    /// The type of the elements that are read and written.
    type Element: ChainElement;

    /// Takes one accumulator, a wide or a narrow one, through `links`, from element `first` on.
    ///
    /// # Safety
    /// As [`ChainFn`], for an accumulator full of elements, where the level has the instructions `I`.
    unsafe fn run_piece<I: Instructions, const IS_WIDE: bool>(
        destination: *mut u8,
        links: &[Link],
        first: usize,
        streams: bool,
    );

    /// Runs all rows; by wide accumulators where they fit, if there are registers for them. What is less
    /// than a narrow one is taken through from a copy.
    ///
    /// # Safety
    /// As [`ChainFn`], where the level has the instructions `I`.
    #[inline(always)]
    unsafe fn run<I: Instructions>(mut destination: *mut u8, links: &mut [Link], rows: Rows) {
        let size = size_of::<Self::Element>();
        let lane_size = size_of::<<Self::Element as ChainElement>::Lane>();
        let [narrow, wide] = [NARROW_BYTES / lane_size, ACCUMULATOR_BYTES / lane_size];
        let is_short = rows.elements < narrow;
        let (mut operands, mut result) = (ShortOperands::new(), Piece::EMPTY);
        for _ in 0..rows.count {
            let streams = rows.streams && destination.addr().is_multiple_of(size);
            // SAFETY: the caller's promise, for one of the rows; a copy is as long as an accumulator. Short
            // rows share the call for narrow accumulators, because each call is compiled for itself.
            unsafe {
                let (to, links, count) = match is_short {
                    true => (result.0.as_mut_ptr(), operands.copy(links, rows.elements), narrow),
                    false => (destination, &*links, rows.elements),
                };
                if I::HAS_WIDE_REGISTERS && count >= wide {
                    run_row::<Self, I, true>(to, links, count, wide, streams);
                } else {
                    run_row::<Self, I, false>(to, links, count, narrow, streams && !is_short);
                }
                if is_short {
                    let is_mask = links.last().is_some_and(|it| it.kind.code == Code::MASK_WRITTEN);
                    let bytes = rows.elements * if is_mask { size_of::<bool>() } else { size };
                    core::ptr::copy_nonoverlapping(result.0.as_ptr(), destination, bytes);
                }
            }
            destination = destination.wrapping_offset(rows.step);
            for link in links.iter_mut().filter(|link| link.kind.step != 0) {
                link.operand = link.operand.wrapping_offset(link.kind.step);
            }
        }
    }
}

/// Runs all pieces of a row, `length` elements each. The last one overlaps its neighbour: elements
/// computed twice are cheaper than a loop for what is left over.
///
/// Past the caches only whole lines are written. At either end a piece is computed elsewhere, and the
/// part of it before the first line or after the last one is copied.
///
/// # Safety
/// As [`ChainFn`], for one row of `count` elements, which are `length` or more; if it `streams`, a line
/// begins with an element.
#[inline(always)]
unsafe fn run_row<B: ChainBody + ?Sized, I: Instructions, const IS_WIDE: bool>(
    destination: *mut u8,
    links: &[Link],
    count: usize,
    length: usize,
    streams: bool,
) {
    let size = size_of::<B::Element>();
    let mut elsewhere =
        [const { MaybeUninit::<Piece>::uninit() }; ACCUMULATOR_BYTES / NARROW_BYTES];
    let elsewhere = elsewhere.as_mut_ptr().cast::<u8>();
    let before_line = if streams { destination.align_offset(LINE_BYTES) / size } else { 0 };
    let mut first = 0;
    while first < count {
        let is_before_line = first < before_line;
        let (from, length) = match first + length <= count {
            _ if is_before_line => (0, before_line),
            true => (first, length),
            false => (count - length, count - first),
        };
        let is_elsewhere = streams && (is_before_line || from < first);
        let to = if is_elsewhere { elsewhere.wrapping_sub(from * size) } else { destination };
        // SAFETY: the caller's promise; the piece lies within the `count` elements, and what is
        // streamed begins with a line.
        unsafe {
            B::run_piece::<I, IS_WIDE>(to, links, from, streams && !is_elsewhere);
            if is_elsewhere {
                let source = to.wrapping_add(first * size);
                let place = destination.wrapping_add(first * size);
                core::ptr::copy_nonoverlapping(source, place, length * size);
            }
        }
        first += length;
    }
}

/// Memory of a narrow accumulator.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Piece([u8; NARROW_BYTES]);

impl Piece {
    const EMPTY: Piece = Piece([0; NARROW_BYTES]);
}

/// Operands of a row of less than a piece: copies with zeros behind them.
struct ShortOperands {
    copies: [MaybeUninit<Piece>; MAXIMUM_LINKS],
    links: [MaybeUninit<Link>; MAXIMUM_LINKS],
}

impl ShortOperands {
    #[inline(always)]
    fn new() -> Self {
        ShortOperands {
            copies: [const { MaybeUninit::uninit() }; MAXIMUM_LINKS],
            links: [const { MaybeUninit::uninit() }; MAXIMUM_LINKS],
        }
    }

    /// The links, with copies of `count` elements of their operands.
    ///
    /// # Safety
    /// As [`ChainFn`]; `count` elements fill less than a narrow accumulator.
    unsafe fn copy(&mut self, links: &[Link], count: usize) -> &[Link] {
        for ((link, copy), copied_link) in links.iter().zip(&mut self.copies).zip(&mut self.links) {
            let copied_link = copied_link.write(*link);
            if link.kind.stride != 0 {
                let copy = copy.write(Piece::EMPTY).0.as_mut_ptr();
                let bytes = count * link.kind.stride;
                // SAFETY: `count` elements of the operand are fewer bytes than a piece has.
                unsafe { core::ptr::copy_nonoverlapping(link.operand, copy, bytes) }
                copied_link.operand = copy;
            }
        }
        // SAFETY: as many links have been written.
        unsafe { self.links[..links.len()].assume_init_ref() }
    }
}

/// What is to be made of the chains of one element type.
pub(crate) trait ChainVisitor {
    fn chain<B: ChainBody>(self) -> ChainFn;
}
