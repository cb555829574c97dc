//! Calls of code that folds its results into accumulators. Holds unsafe code.

use indim_ops::meaning::reduction::REDUCTION_LANES;

use crate::function::{Addresses, ExecutableCode, Function};

/// Maximum number of outputs of a body that folds.
pub const MAX_FOLDS: usize = 4;

/// Maximum bytes of the accumulators of one output in a step: 32 elements of 8 bytes.
const STRIP_BYTES: usize = 256;

/// Maximum operands of a body that folds: its outputs, at most [`MAX_FOLDS`], and its inputs.
pub const MAX_FOLD_OPERANDS: usize = 16;

/// Arguments of a call that folds, for each unit, the rows of a matrix into one row of accumulators.
#[derive(Debug, Clone, Copy)]
pub struct FoldArgs<'a> {
    /// Strides in bytes: from unit to unit for each operand (accumulators, then inputs), then from row to
    /// row for each operand. Row strides of accumulators are ignored.
    pub strides: &'a [isize],
    /// Number of units. Each has accumulators of its own.
    pub units: usize,
    /// Number of rows of a unit. They are folded in order.
    pub rows: usize,
    /// Number of elements of a row, and number of accumulators of each output in a unit.
    pub columns: usize,
    /// Whether accumulators start from the identity instead of their values in memory.
    pub starts_from_identity: bool,
    /// Whether the 32 accumulators of a unit are combined into one, like a node of 32 lanes in the summation
    /// tree. Requires `starts_from_identity`, 32 columns and [`Function::can_reduce_lanes`].
    pub reduces_lanes: bool,
}

/// Value of the mode argument: accumulators start from the identity, and lanes are combined at the end
/// of a unit.
pub(crate) const REDUCE_LANES_MODE: usize = 2;

/// Entry point of code that folds. Arguments: addresses of the operands (outputs first), strides in bytes,
/// number of units, columns and rows, and how accumulators begin: 0 from memory, 1 from the identity,
/// [`REDUCE_LANES_MODE`] from the identity and combined at the end of a unit.
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*mut *mut u8, *const isize, usize, usize, usize, usize);
/// Like the entry point on x86-64, with the calling convention of the platform.
#[cfg(not(target_arch = "x86_64"))]
type Entry = unsafe extern "C" fn(*mut *mut u8, *const isize, usize, usize, usize, usize);

impl Function {
    /// Folds rows into accumulators, for a body that folds.
    ///
    /// `operands` are the addresses of the first accumulator of each output, then of the first element of
    /// each input.
    ///
    /// # Panics
    /// If the number of operands or strides is not that of the body, or `reduces_lanes` lacks a requirement.
    ///
    /// # Safety
    /// - The body folds: [`Body::folds`](indim_codegen::Body::folds).
    /// - In each row of each unit, dense inputs are valid for reads of `columns` elements, interleaved inputs
    ///   for reads of `columns` records, other inputs for reads of one element.
    /// - If `columns` is not a multiple of [`Function::step`], a last step overlaps the columns before
    ///   the tail. If `columns` is less than a step, the step begins before the row: the elements or
    ///   records that it reads before the first one of each row of a dense or interleaved input are
    ///   valid for reads.
    /// - In each unit, `columns` accumulators of each output (one if `reduces_lanes` is set) are valid for
    ///   writes, and for reads unless `starts_from_identity` is set.
    /// - Accumulators overlap no input, and no other thread accesses them, or writes inputs, during the
    ///   call.
    pub unsafe fn fold(&self, operands: &[*mut u8], args: FoldArgs<'_>) {
        let FoldArgs { strides, units, rows, columns, starts_from_identity, reduces_lanes } = args;
        assert_eq!(
            (operands.len(), strides.len()),
            (self.element_strides.len(), 2 * operands.len())
        );
        assert!(
            !reduces_lanes
                || self.can_reduce_lanes() && starts_from_identity && columns == REDUCTION_LANES
        );
        if units == 0 || rows == 0 {
            return;
        }
        let whole = columns / self.step() * self.step();
        // SAFETY:
        // - the caller of `fold` guarantees valid memory; whole steps and tails are parts of it;
        // - `ExecutableCode::fold` gets a positive number of whole steps; after the return above, units
        //   and rows are greater than 0;
        // - `fold_tail` gets less than a step, within one unit;
        // - the assertions ensure an address and two strides per operand, and the requirements of
        //   `reduces_lanes`.
        unsafe {
            if whole > 0 {
                let mut addresses = Addresses::of(operands);
                self.code.fold(&mut addresses, FoldArgs { columns: whole, ..args });
            }
            if whole < columns {
                for unit in 0..units {
                    self.fold_tail(operands, unit, whole..columns, args);
                }
            }
        }
    }

    /// Folds the last columns of a unit, less than a step. A whole step that ends with these columns folds
    /// into local accumulators, and only the accumulators of these columns are copied back.
    ///
    /// # Safety
    /// Like [`Function::fold`], for one unit; `columns` are its last ones, fewer than a step.
    unsafe fn fold_tail(
        &self,
        operands: &[*mut u8],
        unit: usize,
        columns: core::ops::Range<usize>,
        args: FoldArgs<'_>,
    ) {
        let before = self.step() - columns.len();
        let mut strips = [Strip([0; STRIP_BYTES]); MAX_FOLDS];
        let mut addresses = Addresses::of(operands);
        let with_strides =
            addresses.as_mut().iter_mut().zip(args.strides).zip(&self.element_strides);
        for ((address, &stride), &bytes) in with_strides {
            let column = (columns.start as isize - before as isize) * bytes as isize;
            *address = address.wrapping_offset(stride * unit as isize + column);
        }
        // Byte offset and size of the columns' accumulators in a strip.
        let strip_range = |output: usize| {
            let bytes = self.element_strides[output];
            (before * bytes, columns.len() * bytes)
        };
        for (output, strip) in strips[..self.outputs].iter_mut().enumerate() {
            let (first, bytes) = strip_range(output);
            let address = &mut addresses.as_mut()[output];
            if !args.starts_from_identity {
                let from = address.wrapping_add(first);
                // SAFETY:
                // - the caller guarantees that the accumulators of these columns are valid for reads;
                // - `first + bytes` is one step of accumulators, which fits in a strip.
                unsafe {
                    core::ptr::copy_nonoverlapping(from, strip.0[first..].as_mut_ptr(), bytes);
                }
            }
            *address = strip.0.as_mut_ptr();
        }
        // SAFETY:
        // - the step reads the columns of the tail and those before it, which the caller guarantees;
        // - accumulators are local strips with room for a step, and overlap no input;
        // - columns are one whole step.
        unsafe {
            self.code.fold(&mut addresses, FoldArgs { units: 1, columns: self.step(), ..args });
        }
        for (output, strip) in strips[..self.outputs].iter().enumerate() {
            let (first, bytes) = strip_range(output);
            let stride = args.strides[output] * unit as isize;
            let to = operands[output].wrapping_offset(stride);
            let to = to.wrapping_add(columns.start * self.element_strides[output]);
            // SAFETY:
            // - the caller guarantees that the accumulators of these columns are valid for writes;
            // - the strip holds `first + bytes` bytes, and is local, so it does not overlap them.
            unsafe { core::ptr::copy_nonoverlapping(strip.0[first..].as_ptr(), to, bytes) }
        }
    }
}

impl ExecutableCode {
    /// Calls the code, which advances the addresses from unit to unit.
    ///
    /// # Safety
    /// Like [`Function::fold`], with an address and two strides per operand; units and rows are greater than
    /// 0, and columns are a positive number of whole steps.
    unsafe fn fold(&self, addresses: &mut Addresses, args: FoldArgs<'_>) {
        let FoldArgs { strides, units, rows, columns, starts_from_identity, reduces_lanes } = args;
        let mode = if reduces_lanes { REDUCE_LANES_MODE } else { starts_from_identity.into() };
        // SAFETY:
        // - for a body that folds, the encoder emits a function of this signature and calling convention;
        // - the mapping is executable and lives as long as `self`, and `synchronize` has made the code
        //   visible to instruction fetch.
        let entry = unsafe { core::mem::transmute::<*const u8, Entry>(self.address()) };
        let operands = addresses.as_mut().as_mut_ptr();
        // SAFETY: the caller guarantees the conditions of the code, as listed above.
        unsafe { entry(operands, strides.as_ptr(), units, columns, rows, mode) }
    }
}

/// Local accumulators of one output in a step.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Strip([u8; STRIP_BYTES]);
