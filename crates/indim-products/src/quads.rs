//! Packing of groups of four bytes, and sums of bytes. Holds unsafe code.

use crate::element::FactorQuad;
use crate::initial_sum::InitialSumArguments;
use crate::pack::{PackArguments, RowRun};
use crate::vector::vnni::QuadVector;

/// Bytes of a group.
const GROUP: usize = size_of::<FactorQuad>();

/// Number of groups of a row or column that [`pack_contiguous_groups`] packs together: 16 bytes.
const CONTIGUOUS_GROUPS: usize = 4;

/// The highest bit of each byte of a group.
const HIGHEST_BITS: u32 = 0x8080_8080;

/// Packs groups. If `FLIP`, the highest bit of each byte changes.
///
/// # Safety
/// Like [`PackFn`](crate::pack::PackFn); the source is also valid for reads of every byte of each group.
#[inline(always)]
pub(crate) unsafe fn pack<V: QuadVector, const FLIP: bool>(pack: &PackArguments) {
    let mut index = 0;
    while index < pack.index_run_length {
        let is_contiguous = pack.factor_stride == 1
            && pack.index_stride == GROUP as isize
            && index + CONTIGUOUS_GROUPS < pack.index_run_length
            && pack.used_width == pack.width;
        if is_contiguous {
            // SAFETY: the caller ensures panel, row runs and source. The last index, whose group may be
            // incomplete, is not among them.
            unsafe { pack_contiguous_groups::<V, FLIP>(pack, index) }
            index += CONTIGUOUS_GROUPS;
            continue;
        }
        let from = pack.from.wrapping_offset((index as isize).wrapping_mul(pack.index_stride));
        let row = pack.to.wrapping_add((pack.index_run_start + index) * pack.width * GROUP);
        let is_last = index + 1 == pack.index_run_length;
        let bytes = if is_last && pack.tail > 0 { pack.tail } else { GROUP };
        // SAFETY: the caller ensures panel, row runs and source. A row with padding
        // (`used_width < width`) has whole vectors, so its last vector lies in the row.
        unsafe {
            if pack.used_width < pack.width {
                V::zero().store(row.wrapping_add((pack.width - V::LANES) * GROUP));
            }
            for run in core::slice::from_raw_parts(pack.row_runs, pack.row_run_count) {
                let to = row.wrapping_add(run.first * GROUP);
                let from = from.wrapping_offset(run.offset);
                pack_row_run::<V, FLIP>(run, from, to, pack.factor_stride, bytes);
            }
        }
        index += 1;
    }
}

/// Packs [`CONTIGUOUS_GROUPS`] whole groups, from `index` on, which are contiguous in each row or column.
///
/// # Safety
/// Like [`pack`], for the groups of these indices.
#[inline(always)]
unsafe fn pack_contiguous_groups<V: QuadVector, const FLIP: bool>(
    pack: &PackArguments,
    index: usize,
) {
    let from = pack.from.wrapping_add(index * GROUP);
    let to = pack.to.wrapping_add((pack.index_run_start + index) * pack.width * GROUP);
    // SAFETY: the caller ensures panel, row runs and source.
    unsafe {
        for run in core::slice::from_raw_parts(pack.row_runs, pack.row_run_count) {
            let from = from.wrapping_offset(run.offset);
            let to = to.wrapping_add(run.first * GROUP);
            if run.count == V::LANES {
                let block = V::load_transposed(from, run.stride);
                for (index, groups) in block.into_iter().enumerate() {
                    let groups = if FLIP { groups.flip_high_bits() } else { groups };
                    groups.store(to.wrapping_add(index * pack.width * GROUP));
                }
                continue;
            }
            for index in 0..CONTIGUOUS_GROUPS {
                let to = to.wrapping_add(index * pack.width * GROUP);
                pack_row_run::<V, FLIP>(run, from.wrapping_add(index * GROUP), to, 1, GROUP);
            }
        }
    }
}

/// Packs the groups of a run, with their first `bytes` bytes, which are `factor_stride` apart.
///
/// # Safety
/// - `from` is valid for reads of each byte, `to` for writes of each group;
/// - the processor has the instructions of `V`.
#[inline(always)]
unsafe fn pack_row_run<V: QuadVector, const FLIP: bool>(
    run: &RowRun,
    from: *const u8,
    to: *mut u8,
    factor_stride: isize,
    bytes: usize,
) {
    let flips = if FLIP { HIGHEST_BITS } else { 0 };
    // SAFETY: the caller ensures bytes, groups and instructions.
    unsafe {
        if run.stride == 1 && run.count > 1 {
            let groups = V::load_interleaved(from, factor_stride, bytes, run.count);
            let groups = if FLIP { groups.flip_high_bits() } else { groups };
            return groups.store_first(to, run.count);
        }
        for index in 0..run.count {
            let from = from.wrapping_offset((index as isize).wrapping_mul(run.stride));
            let group = match factor_stride == 1 && bytes == GROUP {
                true => from.cast::<u32>().read_unaligned(),
                false => {
                    let mut group = [0; GROUP];
                    for (index, byte) in group.iter_mut().take(bytes).enumerate() {
                        *byte =
                            from.wrapping_offset(factor_stride.wrapping_mul(index as isize)).read();
                    }
                    u32::from_le_bytes(group)
                }
            };
            to.cast::<u32>().add(index).write_unaligned(group ^ flips);
        }
    }
}

/// Initial sums of rows: the sum of all bytes times -128 if they are signed, otherwise times 128.
///
/// # Safety
/// Like [`InitialSumFn`](crate::initial_sum::InitialSumFn).
#[inline(always)]
pub(crate) unsafe fn initial_sums<V: QuadVector, const IS_SIGNED: bool>(
    arguments: &InitialSumArguments,
) {
    let &InitialSumArguments { x, x_row_stride, is_packed, rows, length, to } = arguments;
    // SAFETY: the caller ensures groups, sums and instructions.
    unsafe {
        if is_packed {
            let step = |index: usize| x.wrapping_add(index * rows * GROUP);
            let sums = (0..length)
                .fold(V::zero(), |sums, index| sums.add_factors(V::load_first(step(index), rows)));
            sums.store_first(to, rows);
        } else {
            for row in 0..rows {
                let sum = row_sum::<V>(x.wrapping_offset(row as isize * x_row_stride), length);
                to.cast::<i32>().add(row).write_unaligned(sum);
            }
        }
        for row in 0..rows {
            let start = to.cast::<i32>().add(row);
            let sum = start.read_unaligned();
            start.write_unaligned(sum.wrapping_mul(if IS_SIGNED { -128 } else { 128 }));
        }
    }
}

/// The sum of the bytes of contiguous groups.
///
/// # Safety
/// - `x` is valid for reads of `length` groups;
/// - the processor has the instructions of `V`.
#[inline(always)]
unsafe fn row_sum<V: QuadVector>(x: *const u8, length: usize) -> i32 {
    // SAFETY: the caller ensures groups and instructions.
    unsafe {
        let mut sums = V::zero();
        for index in (0..length).step_by(V::LANES) {
            let count = V::LANES.min(length - index);
            sums = sums.add_factors(V::load_first(x.wrapping_add(index * GROUP), count));
        }
        sums.reduce_add()
    }
}
