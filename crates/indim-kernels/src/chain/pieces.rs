//! How a chain goes through rows, and through the pieces of a row that fill an accumulator. Holds unsafe
//! code.

use core::mem::MaybeUninit;

use super::MAXIMUM_LINKS;
use super::element::ChainElement;
use super::opcode::Opcode;
use crate::kernel::instructions::Instructions;

/// The most bytes of an accumulator: 8 vector registers of AVX-512.
pub const ACCUMULATOR_BYTES: usize = 512;

/// The most bytes of a narrow accumulator: 8 vector registers of AVX2.
pub(crate) const NARROW_BYTES: usize = 256;

/// The bytes of a cache line.
const LINE_BYTES: usize = 64;

/// A link under a walk: what it does, as numbers, whatever the addresses.
#[derive(Debug, Clone, Copy)]
pub struct WiredLink {
    /// What it does.
    pub opcode: Opcode,
    /// The slot of the operand, or of the result if there is none.
    pub slot: usize,
    /// From one element of the operand to the next, in bytes: an element's size, or 0.
    pub stride: usize,
    /// From one row of the operand to the next, in bytes.
    pub row_stride: isize,
}

/// The elements that a chain computes.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    /// How many there are.
    pub count: usize,
    /// Elements in a row, one after another.
    pub elements: usize,
    /// From one row of the destination to the next, in bytes.
    pub row_stride: isize,
    /// Whether the destination is written past the caches; a store fence must follow.
    pub streams: bool,
}

/// Takes rows of elements through `links`; `operands`, the first row of each link's, are moved on.
///
/// # Safety
/// - there are 1 to [`MAXIMUM_LINKS`] links, and as many operands; their operations, and the types that they
///   load, are those of the type that the chain was looked up for, and without the mask none is of it;
/// - each row of `destination` is valid for writes, of bools if the last link writes the mask, and overlaps
///   no operand;
/// - each row of a link's operand is valid for reads of as many elements if its stride is an element's
///   size, else of one element where the opcode says so, and of [`ACCUMULATOR_BYTES`] where not; that of
///   one that saves for writes of [`ACCUMULATOR_BYTES`];
/// - the processor has the level for which the chain was looked up.
pub type ChainFn =
    unsafe fn(destination: *mut u8, links: &[WiredLink], operands: &mut [*const u8], rows: Rows);

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
        links: &[WiredLink],
        operands: &[*const u8],
        first: usize,
        streams: bool,
    );

    /// Runs all rows; by wide accumulators where they fit, if there are registers for them. What is less
    /// than a narrow one is taken through from a copy.
    ///
    /// # Safety
    /// As [`ChainFn`], where the level has the instructions `I`.
    #[inline(always)]
    unsafe fn run<I: Instructions>(
        mut destination: *mut u8,
        links: &[WiredLink],
        operands: &mut [*const u8],
        rows: Rows,
    ) {
        let size = size_of::<Self::Element>();
        let lane_size = size_of::<<Self::Element as ChainElement>::Lane>();
        let (narrow, wide) = I::ACCUMULATOR_BYTES;
        let (narrow, wide) = (narrow / lane_size, wide / lane_size);
        let is_short = rows.elements < narrow;
        let (mut short, mut result) = (ShortOperands::new(), Piece::EMPTY);
        for _ in 0..rows.count {
            let streams = rows.streams && destination.addr().is_multiple_of(size);
            // SAFETY: the caller's promise, for one of the rows; a copy is as long as an accumulator. Short
            // rows share the call for narrow accumulators, because each call is compiled for itself.
            unsafe {
                let (to, from, count) = match is_short {
                    true => {
                        let copies = short.copy(links, operands, rows.elements);
                        (result.0.as_mut_ptr(), copies, narrow)
                    }
                    false => (destination, &*operands, rows.elements),
                };
                if const { I::ACCUMULATOR_BYTES.1 > I::ACCUMULATOR_BYTES.0 } && count >= wide {
                    run_row::<Self, I, true>(to, links, from, count, wide, streams);
                } else {
                    run_row::<Self, I, false>(to, links, from, count, narrow, streams && !is_short);
                }
                if is_short {
                    let is_mask = links.last().is_some_and(|link| link.opcode.writes_mask());
                    let bytes = rows.elements * if is_mask { size_of::<bool>() } else { size };
                    core::ptr::copy_nonoverlapping(result.0.as_ptr(), destination, bytes);
                }
            }
            destination = destination.wrapping_offset(rows.row_stride);
            for (operand, link) in operands.iter_mut().zip(links) {
                *operand = operand.wrapping_offset(link.row_stride);
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
    links: &[WiredLink],
    operands: &[*const u8],
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
            B::run_piece::<I, IS_WIDE>(to, links, operands, from, streams && !is_elsewhere);
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
    addresses: [MaybeUninit<*const u8>; MAXIMUM_LINKS],
}

impl ShortOperands {
    #[inline(always)]
    fn new() -> Self {
        ShortOperands {
            copies: [const { MaybeUninit::uninit() }; MAXIMUM_LINKS],
            addresses: [const { MaybeUninit::uninit() }; MAXIMUM_LINKS],
        }
    }

    /// The addresses of copies of `count` elements of the operands, or of the operands that are not copied.
    ///
    /// # Safety
    /// As [`ChainFn`]; `count` elements fill less than a narrow accumulator.
    unsafe fn copy(
        &mut self,
        links: &[WiredLink],
        operands: &[*const u8],
        count: usize,
    ) -> &[*const u8] {
        let places = self.copies.iter_mut().zip(&mut self.addresses);
        for ((link, &operand), (copy, address)) in links.iter().zip(operands).zip(places) {
            let address = address.write(operand);
            if link.stride != 0 {
                let copy = copy.write(Piece::EMPTY).0.as_mut_ptr();
                let bytes = count * link.stride;
                // SAFETY: `count` elements of the operand are fewer bytes than a piece has.
                unsafe { core::ptr::copy_nonoverlapping(operand, copy, bytes) }
                *address = copy;
            }
        }
        // SAFETY: as many addresses have been written.
        unsafe { self.addresses[..links.len()].assume_init_ref() }
    }
}
