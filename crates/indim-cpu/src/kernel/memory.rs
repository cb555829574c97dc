//! Moving elements between strided memory and dense blocks. Holds unsafe code.
//!
//! Movers know sizes of elements, not their types. An inner run is dense, one element repeated, or
//! strided; outer loops step over runs.

/// How a run of elements lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The number of elements.
    pub count: usize,
    /// The stride between them in bytes.
    pub stride: isize,
}

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
    // SAFETY: the caller's promise; each size moves elements of that many bytes.
    unsafe {
        match element_size {
            1 => gather_sized::<u8>(destination, source, steps, run),
            2 => gather_sized::<u16>(destination, source, steps, run),
            4 => gather_sized::<u32>(destination, source, steps, run),
            8 => gather_sized::<u64>(destination, source, steps, run),
            _ => gather_sized::<u128>(destination, source, steps, run),
        }
    }
}

/// Copies one dense block to `steps.count` runs, `steps.stride` bytes apart in memory.
///
/// # Safety
/// As [`gather`], with reads and writes exchanged.
pub unsafe fn scatter(
    destination: *mut u8,
    source: *const u8,
    steps: Run,
    run: Run,
    element_size: usize,
) {
    // SAFETY: the caller's promise; each size moves elements of that many bytes.
    unsafe {
        match element_size {
            1 => scatter_sized::<u8>(destination, source, steps, run),
            2 => scatter_sized::<u16>(destination, source, steps, run),
            4 => scatter_sized::<u32>(destination, source, steps, run),
            8 => scatter_sized::<u64>(destination, source, steps, run),
            _ => scatter_sized::<u128>(destination, source, steps, run),
        }
    }
}

/// # Safety
/// As [`gather`], for elements of type `T`.
unsafe fn gather_sized<T: Copy>(destination: *mut u8, source: *const u8, steps: Run, run: Run) {
    let size = size_of::<T>();
    let mut to = destination;
    for step in 0..steps.count {
        let from = source.wrapping_offset(steps.stride * step as isize);
        // SAFETY: a run of the caller's source, and the next places of the destination.
        unsafe {
            if run.stride == size as isize {
                core::ptr::copy_nonoverlapping(from, to, run.count * size);
            } else if run.stride == 0 {
                let element = from.cast::<T>().read_unaligned();
                for index in 0..run.count {
                    to.cast::<T>().wrapping_add(index).write_unaligned(element);
                }
            } else {
                for index in 0..run.count {
                    let place = from.wrapping_offset(run.stride * index as isize);
                    let element = place.cast::<T>().read_unaligned();
                    to.cast::<T>().wrapping_add(index).write_unaligned(element);
                }
            }
        }
        to = to.wrapping_add(run.count * size);
    }
}

/// # Safety
/// As [`scatter`], for elements of type `T`.
unsafe fn scatter_sized<T: Copy>(destination: *mut u8, source: *const u8, steps: Run, run: Run) {
    let mut from = source.cast::<T>();
    for step in 0..steps.count {
        let to = destination.wrapping_offset(steps.stride * step as isize);
        for index in 0..run.count {
            // SAFETY: an element of the caller's source, and its place in the destination.
            unsafe {
                let place = to.wrapping_offset(run.stride * index as isize);
                place.cast::<T>().write_unaligned(from.read_unaligned());
            }
            from = from.wrapping_add(1);
        }
    }
}
