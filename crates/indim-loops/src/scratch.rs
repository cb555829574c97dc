//! Placement of temporaries and counters in one arena, which reuses memory.
//!
//! The memory of a temporary is reused after its last read. Offsets are chosen before a run, for the
//! largest arrays first. Each array gets the lowest offset at which it overlaps no array that is live at
//! the same time. Arenas of at most `MAX_UNPACKED_BYTES` are not packed: their arrays follow one
//! another.

use core::ops::Range;

use indim_ops::ArrayType;

use smallvec::SmallVec;

use crate::loop_nest::{BufferId, LoopNests};
use crate::memory_use::MemoryUse;
use crate::resize::Sizes;

/// The number of arrays whose data fit inline, without an allocation.
const INLINE_ARRAYS: usize = 6;

/// Offsets in bytes of temporaries and counters in the arena of a run.
#[derive(Debug, Clone, Default)]
pub struct ScratchLayout {
    /// The offset of each temporary.
    pub temporaries: SmallVec<[usize; INLINE_ARRAYS]>,
    /// The offset of each counter.
    pub counters: Vec<usize>,
    /// The nest before which each counter is written.
    pub counter_nests: Vec<usize>,
    /// The bytes of the arena.
    pub bytes: usize,
}

/// Live ranges of temporaries and counters, as ranges of nests, for any sizes.
#[derive(Debug)]
pub struct LiveRanges {
    /// The first and the last nest that uses each temporary, then each counter.
    nests: Vec<(usize, usize)>,
}

impl LiveRanges {
    /// The live ranges of the temporaries and counters of these nests.
    pub fn of(loops: &LoopNests) -> LiveRanges {
        let temporaries = loops.temporaries.len();
        let mut nests = vec![(usize::MAX, 0); temporaries + loops.counters.len()];
        for (nest, code) in loops.nests.iter().enumerate() {
            for access in code.operands() {
                let (first, last) = match access.buffer {
                    BufferId::Temporary(index) => &mut nests[index],
                    BufferId::Counter(index) => &mut nests[temporaries + index],
                    _ => continue,
                };
                *first = nest.min(*first);
                *last = nest.max(*last);
            }
        }
        LiveRanges { nests }
    }

    /// Counts the memory of this structure.
    pub fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<(usize, usize)>(self.nests.capacity());
    }
}

/// An array in the arena, live from the first to the last nest that uses it.
#[derive(Debug, Clone, Copy)]
pub struct LiveArray {
    /// Its bytes.
    pub bytes: usize,
    /// The first nest that uses it.
    pub first_nest: usize,
    /// The last nest that uses it.
    pub last_nest: usize,
}

/// Offsets of arrays in one arena, multiples of `alignment`, a power of two, and the bytes of the arena.
/// Arrays that are not live at the same time share memory.
pub fn pack_arrays(
    arrays: &[LiveArray],
    alignment: usize,
) -> (SmallVec<[usize; INLINE_ARRAYS]>, usize) {
    packed_offsets(arrays, alignment)
}

impl ScratchLayout {
    /// The layout for the temporaries and counters of `loops` with these sizes and `live_ranges`.
    ///
    /// Offsets are multiples of `alignment`, a power of two. Temporaries in `external` have memory elsewhere
    /// and take none here. The nests of each range in `concurrent` run at the same time; the ranges are
    /// sorted.
    pub fn new(
        loops: &LoopNests,
        sizes: Sizes<'_>,
        live_ranges: &LiveRanges,
        alignment: usize,
        external: &[usize],
        concurrent: &[Range<usize>],
    ) -> ScratchLayout {
        let range = |nest: usize| {
            let range = concurrent.iter().find(|range| range.contains(&nest));
            range.cloned().unwrap_or(nest..nest + 1)
        };
        let mut allocations: SmallVec<[LiveArray; INLINE_ARRAYS]> = SmallVec::new();
        let mut add = |bytes: usize| {
            let (first_nest, last_nest) = live_ranges.nests[allocations.len()];
            allocations.push(match concurrent.is_empty() || first_nest == usize::MAX {
                true => LiveArray { bytes, first_nest, last_nest },
                false => LiveArray {
                    bytes,
                    first_nest: range(first_nest).start,
                    last_nest: range(last_nest).end - 1,
                },
            });
        };
        loops.temporaries.iter().for_each(|of| add(sizes.array_bytes(of)));
        for &(dtype, length) in &loops.counters {
            add(sizes.resolve(length).saturating_mul(dtype.size()));
        }
        external.iter().for_each(|&index| allocations[index].bytes = 0);
        let (mut temporaries, bytes) = consecutive_offsets(&allocations, alignment)
            .unwrap_or_else(|| packed_offsets(&allocations, alignment));
        let count = loops.temporaries.len();
        let counters = temporaries[count..].into();
        let counter_nests =
            allocations[count..].iter().map(|allocation| allocation.first_nest).collect();
        temporaries.truncate(count);
        ScratchLayout { temporaries, counters, counter_nests, bytes }
    }
}

impl ScratchLayout {
    /// Adds `bytes` bytes that share memory with no other array; returns their offset.
    pub fn append(&mut self, bytes: usize, alignment: usize) -> usize {
        if bytes == 0 {
            return self.bytes;
        }
        let place = end(self.bytes, 0, alignment);
        self.bytes = place.saturating_add(bytes);
        place
    }

    /// Counts the memory of this structure, not of the arena.
    pub fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_small_vec(&self.temporaries);
        memory_use
            .add_allocation::<usize>(self.counters.capacity() + self.counter_nests.capacity());
    }
}

/// The bytes of an array; saturates.
pub fn array_bytes(array_type: &ArrayType) -> usize {
    array_type.shape.byte_count(array_type.dtype.size()).unwrap_or(usize::MAX)
}

/// Number of arrays, the largest ones, that are packed. The others are placed one after another, because the
/// search for each grows with the number of packed arrays.
const MAX_PACKED_ARRAYS: usize = 1024;

/// Maximum bytes of an arena that is not packed: a run may have it on the stack.
const MAX_UNPACKED_BYTES: usize = 1024;

/// Like [`packed_offsets`], but one array after another; `None` above [`MAX_UNPACKED_BYTES`].
fn consecutive_offsets(
    allocations: &[LiveArray],
    alignment: usize,
) -> Option<(SmallVec<[usize; INLINE_ARRAYS]>, usize)> {
    let (mut offsets, mut total) = (SmallVec::new(), 0);
    for allocation in allocations {
        let place = end(total, 0, alignment);
        offsets.push(place);
        total = place.saturating_add(allocation.bytes);
        if total > MAX_UNPACKED_BYTES {
            return None;
        }
    }
    Some((offsets, total))
}

/// The offset of each allocation, packed, and the bytes of the arena.
///
/// Sums saturate: an arena of `usize::MAX` bytes is never allocated.
fn packed_offsets(
    allocations: &[LiveArray],
    alignment: usize,
) -> (SmallVec<[usize; INLINE_ARRAYS]>, usize) {
    let mut largest_first: SmallVec<[usize; INLINE_ARRAYS]> = (0..allocations.len()).collect();
    largest_first.sort_by_key(|&index| core::cmp::Reverse(allocations[index].bytes));
    let mut offsets = SmallVec::from_elem(0usize, allocations.len());
    // Sorted by offset.
    let mut placed: SmallVec<[usize; INLINE_ARRAYS]> = SmallVec::new();
    let mut total = 0usize;
    for index in largest_first {
        let allocation = allocations[index];
        let is_searched = placed.len() < MAX_PACKED_ARRAYS;
        let place = match is_searched {
            true => lowest_offset(allocations, &offsets, &placed, &allocation, alignment),
            false => end(total, 0, alignment),
        };
        offsets[index] = place;
        if is_searched {
            placed.insert(placed.partition_point(|&other| offsets[other] <= place), index);
        }
        total = total.max(place.saturating_add(allocation.bytes));
    }
    (offsets, total)
}

/// The lowest offset at which the allocation overlaps none of `placed`, which are sorted by offset.
fn lowest_offset(
    allocations: &[LiveArray],
    offsets: &[usize],
    placed: &[usize],
    allocation: &LiveArray,
    alignment: usize,
) -> usize {
    let mut place = 0usize;
    for &other in placed {
        if !is_live_with(allocation, &allocations[other]) {
            continue;
        }
        if offsets[other].saturating_sub(place) >= allocation.bytes {
            break;
        }
        place = place.max(end(offsets[other], allocations[other].bytes, alignment));
    }
    place
}

fn is_live_with(allocation: &LiveArray, other: &LiveArray) -> bool {
    allocation.first_nest <= other.last_nest && other.first_nest <= allocation.last_nest
}

/// The first aligned offset after `bytes` bytes at `place`.
fn end(place: usize, bytes: usize, alignment: usize) -> usize {
    // A mask replaces the division, because the alignment is a power of two.
    let beyond = place.saturating_add(bytes).checked_add(alignment - 1);
    beyond.map_or(usize::MAX, |beyond| beyond & !(alignment - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALIGNMENT: usize = 64;

    fn allocation(bytes: usize, first_nest: usize, last_nest: usize) -> LiveArray {
        LiveArray { bytes, first_nest, last_nest }
    }

    #[test]
    fn disjoint_live_ranges_share_memory() {
        let (found, bytes) = packed_offsets(
            &[allocation(100, 0, 1), allocation(100, 1, 2), allocation(100, 2, 3)],
            ALIGNMENT,
        );
        assert_eq!((&found[..], bytes), (&[0, 128, 0][..], 228));
    }

    #[test]
    fn little_memory_is_not_packed() {
        let allocations = [allocation(100, 0, 1), allocation(8, 2, 2)];
        let (found, bytes) = consecutive_offsets(&allocations, ALIGNMENT).unwrap();
        assert_eq!((&found[..], bytes), (&[0, 128][..], 136));
        assert_eq!(
            consecutive_offsets(&[allocation(MAX_UNPACKED_BYTES + 1, 0, 0)], ALIGNMENT),
            None
        );
    }

    #[test]
    fn small_arrays_fill_gaps() {
        // The large arrays are at 0 and 640, the 128 bytes after them. The large array at 640 is dead in
        // nest 1, so the 64 bytes take its place.
        let allocations = [
            allocation(64, 1, 1),
            allocation(640, 0, 1),
            allocation(128, 0, 1),
            allocation(640, 0, 0),
        ];
        let (found, bytes) = packed_offsets(&allocations, ALIGNMENT);
        assert_eq!((&found[..], bytes), (&[640, 0, 1280, 640][..], 1408));
    }

    #[test]
    fn no_two_that_live_together_share_a_byte() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let allocations: Vec<LiveArray> = (0..random(12))
                .map(|_| {
                    let first = random(6) as usize;
                    allocation(random(300) as usize, first, first + random(3) as usize)
                })
                .collect();
            let (offsets, total) = packed_offsets(&allocations, ALIGNMENT);
            for (a, one) in allocations.iter().enumerate() {
                assert!(offsets[a] % ALIGNMENT == 0 && offsets[a] + one.bytes <= total);
                for (b, other) in allocations.iter().enumerate().skip(a + 1) {
                    let apart = offsets[a] + one.bytes <= offsets[b]
                        || offsets[b] + other.bytes <= offsets[a];
                    assert!(apart || !is_live_with(one, other), "{one:?} and {other:?}");
                }
            }
        }
    }

    #[test]
    fn the_smallest_of_many_arrays_follow_the_others() {
        let mut allocations = vec![allocation(64, 0, 0); MAX_PACKED_ARRAYS];
        allocations.extend([allocation(8, 1, 1), allocation(8, 1, 1)]);
        let (offsets, bytes) = packed_offsets(&allocations, ALIGNMENT);
        assert_eq!(
            offsets[MAX_PACKED_ARRAYS..],
            [64 * MAX_PACKED_ARRAYS, 64 * MAX_PACKED_ARRAYS + 64]
        );
        assert_eq!(bytes, 64 * MAX_PACKED_ARRAYS + 72);
    }

    #[test]
    fn sizes_that_fit_nowhere_saturate() {
        let (_, bytes) = packed_offsets(
            &[allocation(usize::MAX, 0, 1), allocation(usize::MAX, 1, 1)],
            ALIGNMENT,
        );
        assert_eq!(bytes, usize::MAX);
    }
}
