//! Copies between strided memory and dense blocks. Holds unsafe code.
//!
//! Kernels read dense blocks. Machine code reads rows that are dense or one element, or with AVX-512 elements
//! of records. Other strided memory is gathered into a block, and results are scattered from a block.
//!
//! Copies depend on the size of elements, not on their type. An inner run is dense, one repeated element, or
//! strided; outer loops step over runs. Gather and scatter are the same copy between two strided sides. The
//! copy walks memory along the shorter stride, and unrolls runs of two to four elements.

use indim_kernels::{StridedCopyFn, strided_copy_function};
pub use indim_loops::walk::runs::ElementRun;
use indim_ops::Level;

/// Copies `steps.count` runs, `steps.stride` bytes apart in memory, to one dense block. Pointers need no
/// alignment.
///
/// # Safety
/// - `source + i * steps.stride + j * run.stride` is valid for reads of an element, for each step `i` and
///   each element `j` of a run;
/// - `destination` is valid for writes of `steps.count * run.count` elements;
/// - source and destination do not overlap;
/// - `element_size` is 1, 2, 4, 8 or 16.
pub unsafe fn gather(
    destination: *mut u8,
    source: *const u8,
    steps: ElementRun,
    run: ElementRun,
    element_size: usize,
) {
    let run_bytes = run.count * element_size;
    let to =
        CopySide { address: destination, steps: run_bytes as isize, run: element_size as isize };
    let from = CopySide { address: source, steps: steps.stride, run: run.stride };
    // SAFETY:
    // - `from` are the caller's elements, and `to` is its block, whose runs are contiguous;
    // - exchanging steps and runs on both sides copies the same elements;
    // - the first run initialises the `run_bytes` that `repeat` reads.
    unsafe {
        if steps.stride == 0 && steps.count > 1 {
            copy(to, from, 1, run.count, element_size);
            repeat(destination, run_bytes, run_bytes * steps.count);
        } else if is_transposed_copy(steps, run) {
            copy(to.transposed(), from.transposed(), run.count, steps.count, element_size);
        } else {
            copy(to, from, steps.count, run.count, element_size);
        }
    }
}

/// Maximum bytes of a run that [`gather_repeated`] copies. Longer runs are copied as fast one by one.
pub(crate) const MAX_REPEATED_RUN_BYTES: usize = 64;

/// Copies `steps.count` runs, `steps.stride` bytes apart in memory, to one dense block that has each run
/// `repeats` times. The inner loop goes over all runs, because a loop over one short run costs more than its
/// copies. Pointers need no alignment.
///
/// # Safety
/// - `source + i * steps.stride + j * run.stride` is valid for reads of an element, for each step `i` and
///   each element `j` of a run;
/// - `destination` is valid for writes of `steps.count * repeats * run.count` elements;
/// - source and destination do not overlap;
/// - `element_size` is 1, 2, 4, 8 or 16.
pub(crate) unsafe fn gather_repeated(
    destination: *mut u8,
    source: *const u8,
    [steps, run]: [ElementRun; 2],
    repeats: usize,
    element_size: usize,
) {
    let run_bytes = run.count * element_size;
    let from = CopySide { address: source, steps: steps.stride, run: run.stride };
    for repeat in 0..repeats {
        let to = CopySide {
            address: destination.wrapping_add(repeat * run_bytes),
            steps: (repeats * run_bytes) as isize,
            run: element_size as isize,
        };
        // SAFETY: `from` are the caller's elements, and `to` is the part of its block for this repetition.
        unsafe { copy(to, from, steps.count, run.count, element_size) }
    }
}

/// Copies one dense block to `steps.count` runs, `steps.stride` bytes apart in memory. Pointers need no
/// alignment.
///
/// # Safety
/// - `source` is valid for reads of `steps.count * run.count` elements;
/// - `destination + i * steps.stride + j * run.stride` is valid for writes of an element, for each step `i`
///   and each element `j` of a run, and no two of these elements share memory;
/// - source and destination do not overlap;
/// - `element_size` is 1, 2, 4, 8 or 16.
pub unsafe fn scatter(
    destination: *mut u8,
    source: *const u8,
    steps: ElementRun,
    run: ElementRun,
    element_size: usize,
) {
    let run_bytes = run.count * element_size;
    let to = CopySide { address: destination, steps: steps.stride, run: run.stride };
    let from = CopySide { address: source, steps: run_bytes as isize, run: element_size as isize };
    // SAFETY:
    // - `from` is the caller's block, whose runs are contiguous, and `to` are its elements;
    // - exchanging steps and runs on both sides copies the same elements.
    unsafe {
        if is_transposed_copy(steps, run) {
            copy(to.transposed(), from.transposed(), run.count, steps.count, element_size);
        } else {
            copy(to, from, steps.count, run.count, element_size);
        }
    }
}

/// A fence after non-temporal stores: other threads see them before any later store.
pub fn fence_non_temporal_stores() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction is part of SSE, which every x86-64 processor has.
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}

/// Upper bound of the bytes that a run spans so that it stays in L1: half of 32 KiB.
const L1_RUN_BYTES: usize = 16 * 1024;

/// Whether the inner loop goes along steps, for each element of the run: if the stride of steps is the
/// shorter one, so that neighbouring steps share cache lines, or if a run is a single element. Runs that
/// are longer than the number of steps and stay in L1 are copied run by run, because the longer inner
/// loop is faster.
fn is_transposed_copy(steps: ElementRun, run: ElementRun) -> bool {
    let [between_steps, in_run] = [steps, run].map(|level| level.stride.unsigned_abs());
    let is_in_l1 = run.count >= steps.count && in_run.saturating_mul(run.count) <= L1_RUN_BYTES;
    steps.count > 1 && (run.count == 1 || between_steps < in_run && !is_in_l1)
}

/// Fills `total` bytes with copies of the first `period` bytes. Each step doubles the filled part.
///
/// # Safety
/// - `destination` is valid for reads and writes of `total` bytes;
/// - the first `period` bytes are initialised.
unsafe fn repeat(destination: *mut u8, period: usize, total: usize) {
    let mut filled = period;
    while filled < total {
        let bytes = filled.min(total - filled);
        // SAFETY:
        // - the bytes before `filled` are initialised, by the caller or by this loop;
        // - `filled + bytes` is at most `total`, and `bytes` at most `filled`, so the parts do not overlap.
        unsafe { core::ptr::copy_nonoverlapping(destination, destination.add(filled), bytes) }
        filled += bytes;
    }
}

/// One side of a copy: the address of its first element, and its strides in bytes.
#[derive(Clone, Copy)]
struct CopySide<P> {
    address: P,
    /// Stride between steps.
    steps: isize,
    /// Stride within a run.
    run: isize,
}

impl<P> CopySide<P> {
    /// The same elements, with steps and runs exchanged.
    fn transposed(self) -> Self {
        CopySide { address: self.address, steps: self.run, run: self.steps }
    }
}

/// Copies `steps` runs of `count` elements.
///
/// # Safety
/// - every element of `from` is valid for reads;
/// - every element of `to` is valid for writes;
/// - the sides do not overlap;
/// - `element_size` is 1, 2, 4, 8 or 16.
unsafe fn copy(
    to: CopySide<*mut u8>,
    from: CopySide<*const u8>,
    steps: usize,
    count: usize,
    element_size: usize,
) {
    // SAFETY: the caller has the same obligations; the type of each arm has `element_size` bytes.
    unsafe {
        match element_size {
            1 => copy_sized::<u8>(to, from, steps, count),
            2 => copy_sized::<u16>(to, from, steps, count),
            4 => copy_sized::<u32>(to, from, steps, count),
            8 => copy_sized::<u64>(to, from, steps, count),
            _ => copy_sized::<u128>(to, from, steps, count),
        }
    }
}

/// # Safety
/// Like [`copy`], for elements of type `T`.
unsafe fn copy_sized<T: Copy>(
    to: CopySide<*mut u8>,
    from: CopySide<*const u8>,
    steps: usize,
    count: usize,
) {
    // SAFETY: the caller has the same obligations; each arm has the number of elements of a run.
    unsafe {
        match count {
            2 => copy_short_runs::<T, 2>(to, from, steps),
            3 => copy_short_runs::<T, 3>(to, from, steps),
            4 => copy_short_runs::<T, 4>(to, from, steps),
            _ => copy_long_runs::<T>(to, from, steps, count),
        }
    }
}

/// # Safety
/// Like [`copy`], for runs of `COUNT` elements of type `T`.
unsafe fn copy_short_runs<T: Copy, const COUNT: usize>(
    to: CopySide<*mut u8>,
    from: CopySide<*const u8>,
    steps: usize,
) {
    for step in 0..steps as isize {
        let source = from.address.wrapping_offset(from.steps * step);
        let destination = to.address.wrapping_offset(to.steps * step);
        let elements: [T; COUNT] = core::array::from_fn(|index| {
            let element = source.wrapping_offset(from.run * index as isize);
            // SAFETY: an element of a run of `from`, which the caller ensures to be readable.
            unsafe { element.cast::<T>().read_unaligned() }
        });
        for (index, element) in elements.into_iter().enumerate() {
            let to = destination.wrapping_offset(to.run * index as isize);
            // SAFETY: an element of a run of `to`, which the caller ensures to be writable.
            unsafe { to.cast::<T>().write_unaligned(element) }
        }
    }
}

/// # Safety
/// Like [`copy`], for elements of type `T`.
unsafe fn copy_long_runs<T: Copy>(
    to: CopySide<*mut u8>,
    from: CopySide<*const u8>,
    steps: usize,
    count: usize,
) {
    let size = size_of::<T>() as isize;
    for step in 0..steps as isize {
        let source = from.address.wrapping_offset(from.steps * step);
        let destination = to.address.wrapping_offset(to.steps * step);
        // Constant strides let the compiler vectorise dense sides.
        // SAFETY:
        // - `source` and `destination` begin one of the caller's runs of `count` elements, which do not
        //   overlap;
        // - each arm uses the strides of the sides, and the copy of `strided_copy` is for elements as wide as
        //   `T` at this stride and for a level of this processor.
        unsafe {
            match (to.run == size, from.run) {
                (true, stride) if stride == size => {
                    core::ptr::copy_nonoverlapping(source, destination, count * size_of::<T>());
                }
                (true, 0) if count > 0 => fill::<T>(destination, source, count),
                (true, stride) => match strided_copy(size_of::<T>(), stride) {
                    Some(copy) => copy(destination, source, count),
                    None => copy_run::<T>(destination, size, source, stride, count),
                },
                (false, stride) if stride == size => {
                    copy_run::<T>(destination, to.run, source, size, count);
                }
                (false, stride) => copy_run::<T>(destination, to.run, source, stride, count),
            }
        }
    }
}

/// Whether a kernel gathers elements of this size at this stride, in bytes.
pub(crate) fn has_strided_copy(element_size: usize, stride: isize) -> bool {
    strided_copy(element_size, stride).is_some()
}

/// The kernel that copies elements of this size at this stride, in bytes, if one exists. Copies give the same
/// bits at all levels, so this is the kernel of the processor's highest level.
fn strided_copy(size: usize, stride: isize) -> Option<StridedCopyFn> {
    let stride = usize::try_from(stride).ok().filter(|stride| stride.is_multiple_of(size))?;
    strided_copy_function(size, stride / size, Level::detect())
}

/// Writes the element at `source` to `count` dense elements.
///
/// # Safety
/// - `source` is valid for reads of a `T`;
/// - `destination` is valid for writes of `count`.
#[inline(always)]
unsafe fn fill<T: Copy>(destination: *mut u8, source: *const u8, count: usize) {
    // SAFETY: the caller ensures a readable element and `count` writable ones.
    unsafe {
        let element = source.cast::<T>().read_unaligned();
        for index in 0..count {
            destination.cast::<T>().wrapping_add(index).write_unaligned(element);
        }
    }
}

/// # Safety
/// Like [`copy`], for one run of elements of type `T`.
#[inline(always)]
unsafe fn copy_run<T: Copy>(
    destination: *mut u8,
    to_stride: isize,
    source: *const u8,
    from_stride: isize,
    count: usize,
) {
    for index in 0..count as isize {
        let from = source.wrapping_offset(from_stride * index).cast::<T>();
        let to = destination.wrapping_offset(to_stride * index).cast::<T>();
        // SAFETY: `index` is below `count`, so the caller ensures a readable and a writable element here.
        unsafe { to.write_unaligned(from.read_unaligned()) }
    }
}
