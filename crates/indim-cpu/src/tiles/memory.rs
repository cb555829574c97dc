//! Copies between strided memory and dense blocks. Holds unsafe code.
//!
//! Copies depend on the size of elements, not on their type. An inner run is dense, one repeated element,
//! or strided; outer loops step over runs. Both directions are one copy between two strided sides, which
//! walks memory along its shorter stride and never pays a loop for a run of two to four elements.

use indim_kernels::{Level, StridedCopyFn, strided_copy_function};
pub use indim_loops::walk::runs::Run;

/// Copies `steps.count` runs, `steps.stride` bytes apart in memory, to one dense block.
///
/// # Safety
/// - `source` plus any step and any element of the run is valid for reads of an element;
/// - `destination` is valid for writes of all of them;
/// - the two do not overlap; `element_size` is 1, 2, 4, 8 or 16.
pub unsafe fn gather(
    destination: *mut u8,
    source: *const u8,
    steps: Run,
    run: Run,
    element_size: usize,
) {
    let run_bytes = run.count * element_size;
    let to = Side { address: destination, steps: run_bytes as isize, run: element_size as isize };
    let from = Side { address: source, steps: steps.stride, run: run.stride };
    // SAFETY: the caller vouches for both sides; the block has room for all steps, in order.
    unsafe {
        if steps.stride == 0 && steps.count > 1 {
            copy(to, from, 1, run.count, element_size);
            repeat(destination, run_bytes, run_bytes * steps.count);
        } else if is_crosswise(steps, run) {
            copy(to.crosswise(), from.crosswise(), run.count, steps.count, element_size);
        } else {
            copy(to, from, steps.count, run.count, element_size);
        }
    }
}

/// Copies one dense block to `steps.count` runs, `steps.stride` bytes apart in memory.
///
/// # Safety
/// Like [`gather`], with reads and writes exchanged; no two elements share memory.
pub unsafe fn scatter(
    destination: *mut u8,
    source: *const u8,
    steps: Run,
    run: Run,
    element_size: usize,
) {
    let run_bytes = run.count * element_size;
    let to = Side { address: destination, steps: steps.stride, run: run.stride };
    let from = Side { address: source, steps: run_bytes as isize, run: element_size as isize };
    // SAFETY: the caller vouches for both sides; the block has all steps, in order.
    unsafe {
        if is_crosswise(steps, run) {
            copy(to.crosswise(), from.crosswise(), run.count, steps.count, element_size);
        } else {
            copy(to, from, steps.count, run.count, element_size);
        }
    }
}

/// A fence after non-temporal stores: other threads see them before any later store.
pub fn settle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of the target has this instruction.
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}

/// Upper bound, in bytes, of runs that stay in L1 while all their steps are copied.
const NEAR_BYTES: usize = 16 * 1024;

/// Whether to walk memory step by step for each element of the run: if the neighbours in memory (and the
/// cache line) lie along steps, or if a run is a single element. A long run in L1 is copied run by run,
/// because its loop is the longer one.
fn is_crosswise(steps: Run, run: Run) -> bool {
    let [across, along] = [steps, run].map(|level| level.stride.unsigned_abs());
    let is_near = run.count >= steps.count && along.saturating_mul(run.count) <= NEAR_BYTES;
    steps.count > 1 && (run.count == 1 || across < along && !is_near)
}

/// Fills `total` bytes with copies of the first `period` bytes, doubling the filled part each time.
///
/// # Safety
/// `destination` is valid for reads of `period` bytes and writes of `total` ones.
unsafe fn repeat(destination: *mut u8, period: usize, total: usize) {
    let mut filled = period;
    while filled < total {
        let bytes = filled.min(total - filled);
        // SAFETY: the bytes before `filled` are initialised, and the caller vouches for `total` bytes of
        // room.
        unsafe { core::ptr::copy_nonoverlapping(destination, destination.add(filled), bytes) }
        filled += bytes;
    }
}

/// One side of a copy: its first element, and the strides in bytes of steps and within a run.
#[derive(Clone, Copy)]
struct Side<P> {
    address: P,
    steps: isize,
    run: isize,
}

impl<P> Side<P> {
    /// The same elements, with steps and runs exchanged.
    fn crosswise(self) -> Self {
        Side { address: self.address, steps: self.run, run: self.steps }
    }
}

/// Copies `steps` runs of `count` elements.
///
/// # Safety
/// - every element of `from` is valid for reads, every one of `to` for writes;
/// - the sides do not overlap; `element_size` is 1, 2, 4, 8 or 16.
unsafe fn copy(
    to: Side<*mut u8>,
    from: Side<*const u8>,
    steps: usize,
    count: usize,
    element_size: usize,
) {
    // SAFETY: the caller vouches for both sides; each arm copies elements of `element_size` bytes.
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
    to: Side<*mut u8>,
    from: Side<*const u8>,
    steps: usize,
    count: usize,
) {
    // SAFETY: the caller vouches for both sides, with elements as wide as `T`.
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
    to: Side<*mut u8>,
    from: Side<*const u8>,
    steps: usize,
) {
    for step in 0..steps as isize {
        let source = from.address.wrapping_offset(from.steps * step);
        let destination = to.address.wrapping_offset(to.steps * step);
        let elements: [T; COUNT] = core::array::from_fn(|index| {
            let place = source.wrapping_offset(from.run * index as isize);
            // SAFETY: an element of the caller's source.
            unsafe { place.cast::<T>().read_unaligned() }
        });
        for (index, element) in elements.into_iter().enumerate() {
            let place = destination.wrapping_offset(to.run * index as isize);
            // SAFETY: an element of the caller's destination.
            unsafe { place.cast::<T>().write_unaligned(element) }
        }
    }
}

/// # Safety
/// Like [`copy`], for elements of type `T`.
unsafe fn copy_long_runs<T: Copy>(
    to: Side<*mut u8>,
    from: Side<*const u8>,
    steps: usize,
    count: usize,
) {
    let size = size_of::<T>() as isize;
    for step in 0..steps as isize {
        let source = from.address.wrapping_offset(from.steps * step);
        let destination = to.address.wrapping_offset(to.steps * step);
        // SAFETY: a run of the caller's. Constant strides let the compiler vectorise dense sides.
        unsafe {
            match (to.run == size, from.run) {
                (true, stride) if stride == size => {
                    core::ptr::copy_nonoverlapping(source, destination, count * size_of::<T>());
                }
                (true, 0) if count > 0 => fill::<T>(destination, source, count),
                (true, stride) => match strided_copy::<T>(stride) {
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

/// The kernel that copies elements as wide as `T` at this stride, if one exists. Copies are the same at all
/// levels, so it has the highest.
fn strided_copy<T>(stride: isize) -> Option<StridedCopyFn> {
    let size = size_of::<T>();
    let stride = usize::try_from(stride).ok().filter(|stride| stride.is_multiple_of(size))?;
    strided_copy_function(size, stride / size, Level::detect())
}

/// Writes the element at `source` to `count` dense elements.
///
/// # Safety
/// `source` is valid for reads of a `T`, `destination` for writes of `count`.
#[inline(always)]
unsafe fn fill<T: Copy>(destination: *mut u8, source: *const u8, count: usize) {
    // SAFETY: the caller vouches for the source and for `count` elements of the destination.
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
        // SAFETY: an element of the caller's source and the same element of its destination.
        unsafe { to.write_unaligned(from.read_unaligned()) }
    }
}
