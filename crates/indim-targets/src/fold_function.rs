//! Functions that fold what they compute into accumulators. Holds unsafe code.

use indim_ops::meaning::reduction::LANES;

use crate::compile_fold::JOINED;
use crate::function::{Addresses, Code, Function};

/// A function that folds has at most so many outputs.
pub const MAX_FOLDS: usize = 4;

/// The bytes of the accumulators of a strip: 32 of the widest.
const STRIP_BYTES: usize = 256;

/// What a function folds: rows of columns into a row of accumulators; and that for several units.
#[derive(Debug, Clone, Copy)]
pub struct Folded<'a> {
    /// For each operand, accumulators first, then inputs, the bytes from a unit to the next; behind these for
    /// each the bytes from a row to the next, where those of accumulators mean nothing.
    pub strides: &'a [isize],
    /// How many units there are, each with accumulators of its own.
    pub units: usize,
    /// The rows that go into the same accumulators, one after another.
    pub rows: usize,
    /// The elements of a row, and the accumulators.
    pub columns: usize,
    /// Whether the accumulators begin here; they hold something otherwise.
    pub begins: bool,
    /// Whether those of a unit become one, as the tree of a sum makes a node of 32 lanes. They begin then,
    /// they are 32, and the function [can](Function::joins_lanes).
    pub joins: bool,
}

/// What the code of a function that folds is: operands, strides, units, columns, rows, whether accumulators
/// begin.
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*mut *mut u8, *const isize, usize, usize, usize, usize);
/// As on x86-64, by the convention of the system.
#[cfg(not(target_arch = "x86_64"))]
type Entry = unsafe extern "C" fn(*mut *mut u8, *const isize, usize, usize, usize, usize);

impl Function {
    /// Folds rows into accumulators, for a body that does so.
    ///
    /// `operands` are the addresses of the first accumulator of each output, then of the first elements of
    /// each input.
    ///
    /// # Safety
    /// - for each row of each unit `columns` elements of every dense input are valid for reads, and the one
    ///   of any other;
    /// - if `columns` is no multiple of [`Function::step`], as many as are lacking to one are valid for reads
    ///   before the first element of each row of dense inputs, or `columns` is larger than a step;
    /// - for each unit `columns` accumulators, or the one that they become, are valid for writes, and for
    ///   reads unless they begin; they are none of the inputs' elements, and nobody else uses them meanwhile.
    pub unsafe fn fold(&self, operands: &[*mut u8], folded: Folded<'_>) {
        let Folded { strides, units, rows, columns, begins, joins } = folded;
        assert_eq!((operands.len(), strides.len()), (self.element_bytes.len(), 2 * operands.len()));
        assert!(!joins || self.joins_lanes() && begins && columns == LANES);
        if units == 0 || rows == 0 {
            return;
        }
        let whole = columns / self.step() * self.step();
        // SAFETY: the caller's promise.
        unsafe {
            if whole > 0 {
                let mut addresses = Addresses::of(operands);
                self.code.fold(&mut addresses, Folded { columns: whole, ..folded });
            }
            if whole < columns {
                for unit in 0..units {
                    self.fold_rest(operands, unit, whole..columns, folded);
                }
            }
        }
    }

    /// Less than a step: those of a whole step that ends with them, of which only these are kept.
    ///
    /// # Safety
    /// As [`Function::fold`], for these columns of a unit.
    unsafe fn fold_rest(
        &self,
        operands: &[*mut u8],
        unit: usize,
        columns: core::ops::Range<usize>,
        folded: Folded<'_>,
    ) {
        let before = self.step() - columns.len();
        let mut strips = [Strip([0; STRIP_BYTES]); MAX_FOLDS];
        let mut addresses = Addresses::of(operands);
        let places = addresses.as_mut().iter_mut().zip(folded.strides).zip(&self.element_bytes);
        for ((place, &stride), &bytes) in places {
            let column = (columns.start as isize - before as isize) * bytes as isize;
            *place = place.wrapping_offset(stride * unit as isize + column);
        }
        let kept = |output: usize| {
            let bytes = self.element_bytes[output];
            (before * bytes, columns.len() * bytes)
        };
        for (output, strip) in strips[..self.outputs].iter_mut().enumerate() {
            let (first, bytes) = kept(output);
            let place = &mut addresses.as_mut()[output];
            if !folded.begins {
                let from = place.wrapping_add(first);
                // SAFETY: the caller's accumulators; a strip has room for those of a step.
                unsafe {
                    core::ptr::copy_nonoverlapping(from, strip.0[first..].as_mut_ptr(), bytes);
                }
            }
            *place = strip.0.as_mut_ptr();
        }
        // SAFETY: the caller's promise; the strips have room for the accumulators of a step.
        unsafe {
            self.code.fold(&mut addresses, Folded { units: 1, columns: self.step(), ..folded });
        }
        for (output, strip) in strips[..self.outputs].iter().enumerate() {
            let (_, bytes) = kept(output);
            let (first, _) = kept(output);
            let stride = folded.strides[output] * unit as isize;
            let to = operands[output].wrapping_offset(stride);
            let to = to.wrapping_add(columns.start * self.element_bytes[output]);
            // SAFETY: the caller's accumulators.
            unsafe { core::ptr::copy_nonoverlapping(strip.0[first..].as_ptr(), to, bytes) }
        }
    }
}

impl Code {
    /// # Safety
    /// As [`Function::fold`]; the columns are a multiple of a step, and some.
    unsafe fn fold(&self, addresses: &mut Addresses, folded: Folded<'_>) {
        let Folded { strides, units, rows, columns, begins, joins } = folded;
        let begins = if joins { JOINED } else { begins.into() };
        // SAFETY: there is a function of this type, which lives as long as the memory.
        let entry = unsafe { core::mem::transmute::<*const u8, Entry>(self.address()) };
        let operands = addresses.as_mut().as_mut_ptr();
        // SAFETY: the caller's promise.
        unsafe { entry(operands, strides.as_ptr(), units, columns, rows, begins) }
    }
}

/// The accumulators of a strip.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Strip([u8; STRIP_BYTES]);
