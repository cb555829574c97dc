//! Functions that fold what they compute into accumulators. Holds unsafe code.

use indim_ops::meaning::reduction::LANES;

use crate::compile_fold::JOINED;
use crate::function::{Addresses, ExecutableCode, Function};

/// Maximum number of outputs of a function that folds.
pub const MAX_FOLDS: usize = 4;

/// Bytes of the accumulators of a strip: 32 of the widest type.
const STRIP_BYTES: usize = 256;

/// Arguments of a function that folds rows of columns into a row of accumulators, for several units.
#[derive(Debug, Clone, Copy)]
pub struct FoldArgs<'a> {
    /// Byte strides: for each operand (accumulators, then inputs) from unit to unit, then for each from row
    /// to row. Row strides of accumulators are ignored.
    pub strides: &'a [isize],
    /// Number of units, each with accumulators of its own.
    pub units: usize,
    /// Number of rows folded into the same accumulators, in order.
    pub rows: usize,
    /// Elements of a row, and number of accumulators.
    pub columns: usize,
    /// Whether the accumulators start from the identity; otherwise from their values in memory.
    pub begins: bool,
    /// Whether the 32 accumulators of a unit are combined into one, like a node of 32 lanes in the tree of
    /// a sum. This requires `begins`, 32 columns and [`Function::joins_lanes`].
    pub joins: bool,
}

/// Entry point of code that folds: operands, strides, units, columns, rows, whether accumulators begin.
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*mut *mut u8, *const isize, usize, usize, usize, usize);
/// The same by the system's calling convention.
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
    pub unsafe fn fold(&self, operands: &[*mut u8], folded: FoldArgs<'_>) {
        let FoldArgs { strides, units, rows, columns, begins, joins } = folded;
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
                self.code.fold(&mut addresses, FoldArgs { columns: whole, ..folded });
            }
            if whole < columns {
                for unit in 0..units {
                    self.fold_tail(operands, unit, whole..columns, folded);
                }
            }
        }
    }

    /// Less than a step: those of a whole step that ends with them, of which only these are kept.
    ///
    /// # Safety
    /// Like [`Function::fold`], for these columns of a unit.
    unsafe fn fold_tail(
        &self,
        operands: &[*mut u8],
        unit: usize,
        columns: core::ops::Range<usize>,
        folded: FoldArgs<'_>,
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
            self.code.fold(&mut addresses, FoldArgs { units: 1, columns: self.step(), ..folded });
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

impl ExecutableCode {
    /// # Safety
    /// Like [`Function::fold`]; the columns are a multiple of a step, and some.
    unsafe fn fold(&self, addresses: &mut Addresses, folded: FoldArgs<'_>) {
        let FoldArgs { strides, units, rows, columns, begins, joins } = folded;
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
