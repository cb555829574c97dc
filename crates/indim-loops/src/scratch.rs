//! Placement of temporaries and counters of a run in one arena, which reuses memory.
//!
//! Memory of a temporary is reused after its last read. The places are
//! chosen when the graph is compiled, the largest arrays first, each at the lowest place where it meets
//! none that lives at the same time.

use core::ops::Range;

use indim_ops::ArrayType;

use smallvec::SmallVec;

use crate::loop_nest::{BufferId, LoopNests};
use crate::memory_use::MemoryUse;
use crate::resize::Sizes;

/// The number of arrays whose data fit inline, without an allocation.
const FEW: usize = 6;

/// The places of temporaries and counters in the memory of a run.
#[derive(Debug, Clone, Default)]
pub struct ScratchLayout {
    /// The offset of each temporary.
    pub temporaries: SmallVec<[usize; FEW]>,
    /// The offset of each counter.
    pub counters: Vec<usize>,
    /// The nest before which each counter is written.
    pub counter_nests: Vec<usize>,
    /// The bytes of the whole.
    pub bytes: usize,
}

/// Live ranges of temporaries, as ranges of nests, for any sizes.
#[derive(Debug)]
pub struct LiveRanges {
    /// The first and the last nest that uses each temporary, then each counter.
    nests: Vec<(usize, usize)>,
}

impl LiveRanges {
    /// Those of the arrays between these nests.
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

    /// Counts the memory that it holds.
    pub fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<(usize, usize)>(self.nests.capacity());
    }
}

/// An array that lives from the first to the last nest that uses it.
#[derive(Debug, Clone, Copy)]
struct Tenant {
    bytes: usize,
    first_nest: usize,
    last_nest: usize,
}

impl ScratchLayout {
    /// The places for the arrays between the nests of `loops` over these sizes, which have these `lives`, all
    /// multiples of `alignment`, a power of two; but for the temporaries that are `elsewhere`. The nests of
    /// each range in `together`, in order, run at the same time.
    pub fn new(
        loops: &LoopNests,
        sizes: Sizes<'_>,
        lives: &LiveRanges,
        alignment: usize,
        elsewhere: &[usize],
        together: &[Range<usize>],
    ) -> ScratchLayout {
        let range = |nest: usize| {
            let range = together.iter().find(|range| range.contains(&nest));
            range.cloned().unwrap_or(nest..nest + 1)
        };
        let mut tenants: SmallVec<[Tenant; FEW]> = SmallVec::new();
        let mut add = |bytes: usize| {
            let (first_nest, last_nest) = lives.nests[tenants.len()];
            tenants.push(match together.is_empty() || first_nest == usize::MAX {
                true => Tenant { bytes, first_nest, last_nest },
                false => Tenant {
                    bytes,
                    first_nest: range(first_nest).start,
                    last_nest: range(last_nest).end - 1,
                },
            });
        };
        loops.temporaries.iter().for_each(|of| add(sizes.array_bytes(of)));
        for &(dtype, length) in &loops.counters {
            add(sizes.of(length).saturating_mul(dtype.size()));
        }
        elsewhere.iter().for_each(|&index| tenants[index].bytes = 0);
        let (mut temporaries, bytes) =
            little(&tenants, alignment).unwrap_or_else(|| places(&tenants, alignment));
        let count = loops.temporaries.len();
        let counters = temporaries[count..].into();
        let counter_nests = tenants[count..].iter().map(|tenant| tenant.first_nest).collect();
        temporaries.truncate(count);
        ScratchLayout { temporaries, counters, counter_nests, bytes }
    }
}

impl ScratchLayout {
    /// Makes room for so many more bytes, which nothing else uses at any time; where they begin.
    pub fn append(&mut self, bytes: usize, alignment: usize) -> usize {
        if bytes == 0 {
            return self.bytes;
        }
        let place = end(self.bytes, 0, alignment);
        self.bytes = place.saturating_add(bytes);
        place
    }

    /// Counts the memory that the layout itself holds.
    pub fn count_bytes(&self, held: &mut MemoryUse) {
        held.small(&self.temporaries);
        held.own::<usize>(self.counters.capacity() + self.counter_nests.capacity());
    }
}

/// The bytes of an array; more than there can be for one that fits no memory.
pub fn array_bytes(array_type: &ArrayType) -> usize {
    array_type.shape.byte_count(array_type.dtype.size()).unwrap_or(usize::MAX)
}

/// For so many arrays, the largest ones, a place is looked for; those after them lie behind one another,
/// because the search time grows with their number.
const MAX_PLACED: usize = 1024;

/// So few bytes, which runs may have on the stack, are not worth a search.
const LITTLE: usize = 1024;

/// Like [`places`], one after the other, if that takes little memory.
fn little(tenants: &[Tenant], alignment: usize) -> Option<(SmallVec<[usize; FEW]>, usize)> {
    let (mut places, mut total) = (SmallVec::new(), 0);
    for tenant in tenants {
        let place = end(total, 0, alignment);
        places.push(place);
        total = place.saturating_add(tenant.bytes);
        if total > LITTLE {
            return None;
        }
    }
    Some((places, total))
}

/// The offset of each tenant, and the bytes of the arena.
///
/// Sums saturate: what begins so far up is never allocated.
fn places(tenants: &[Tenant], alignment: usize) -> (SmallVec<[usize; FEW]>, usize) {
    let mut largest_first: SmallVec<[usize; FEW]> = (0..tenants.len()).collect();
    largest_first.sort_by_key(|&index| core::cmp::Reverse(tenants[index].bytes));
    let mut places = SmallVec::from_elem(0usize, tenants.len());
    // By where they begin.
    let mut placed: SmallVec<[usize; FEW]> = SmallVec::new();
    let mut total = 0usize;
    for index in largest_first {
        let tenant = tenants[index];
        let is_searched = placed.len() < MAX_PLACED;
        let place = match is_searched {
            true => lowest_place(tenants, &places, &placed, &tenant, alignment),
            false => end(total, 0, alignment),
        };
        places[index] = place;
        if is_searched {
            placed.insert(placed.partition_point(|&other| places[other] <= place), index);
        }
        total = total.max(place.saturating_add(tenant.bytes));
    }
    (places, total)
}

/// The lowest place where the tenant meets none of `placed`, which are in the order of their places.
fn lowest_place(
    tenants: &[Tenant],
    places: &[usize],
    placed: &[usize],
    tenant: &Tenant,
    alignment: usize,
) -> usize {
    let mut place = 0usize;
    for &other in placed {
        if !lives_with(tenant, &tenants[other]) {
            continue;
        }
        if places[other].saturating_sub(place) >= tenant.bytes {
            break;
        }
        place = place.max(end(places[other], tenants[other].bytes, alignment));
    }
    place
}

fn lives_with(tenant: &Tenant, other: &Tenant) -> bool {
    tenant.first_nest <= other.last_nest && other.first_nest <= tenant.last_nest
}

/// The next free offset.
fn end(place: usize, bytes: usize, alignment: usize) -> usize {
    // A power of two, so that nothing is divided.
    let beyond = place.saturating_add(bytes).checked_add(alignment - 1);
    beyond.map_or(usize::MAX, |beyond| beyond & !(alignment - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALIGNMENT: usize = 64;

    fn tenant(bytes: usize, first_nest: usize, last_nest: usize) -> Tenant {
        Tenant { bytes, first_nest, last_nest }
    }

    #[test]
    fn what_does_not_live_together_shares_its_place() {
        let (found, bytes) =
            places(&[tenant(100, 0, 1), tenant(100, 1, 2), tenant(100, 2, 3)], ALIGNMENT);
        assert_eq!((&found[..], bytes), (&[0, 128, 0][..], 228));
    }

    #[test]
    fn little_memory_is_not_searched() {
        let tenants = [tenant(100, 0, 1), tenant(8, 2, 2)];
        let (found, bytes) = little(&tenants, ALIGNMENT).unwrap();
        assert_eq!((&found[..], bytes), (&[0, 128][..], 136));
        assert_eq!(little(&[tenant(LITTLE + 1, 0, 0)], ALIGNMENT), None);
    }

    #[test]
    fn small_arrays_fill_gaps() {
        // The large ones at 0 and 640, 128 bytes behind them; where the second was there is a gap later.
        let tenants = [tenant(64, 1, 1), tenant(640, 0, 1), tenant(128, 0, 1), tenant(640, 0, 0)];
        let (found, bytes) = places(&tenants, ALIGNMENT);
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
            let tenants: Vec<Tenant> = (0..random(12))
                .map(|_| {
                    let first = random(6) as usize;
                    tenant(random(300) as usize, first, first + random(3) as usize)
                })
                .collect();
            let (places, total) = places(&tenants, ALIGNMENT);
            for (a, one) in tenants.iter().enumerate() {
                assert!(places[a] % ALIGNMENT == 0 && places[a] + one.bytes <= total);
                for (b, other) in tenants.iter().enumerate().skip(a + 1) {
                    let apart =
                        places[a] + one.bytes <= places[b] || places[b] + other.bytes <= places[a];
                    assert!(apart || !lives_with(one, other), "{one:?} and {other:?}");
                }
            }
        }
    }

    #[test]
    fn of_very_many_the_smallest_lie_behind_the_others() {
        let mut tenants = vec![tenant(64, 0, 0); MAX_PLACED];
        tenants.extend([tenant(8, 1, 1), tenant(8, 1, 1)]);
        let (places, bytes) = places(&tenants, ALIGNMENT);
        assert_eq!(places[MAX_PLACED..], [64 * MAX_PLACED, 64 * MAX_PLACED + 64]);
        assert_eq!(bytes, 64 * MAX_PLACED + 72);
    }

    #[test]
    fn sizes_that_fit_nowhere_saturate() {
        let (_, bytes) = places(&[tenant(usize::MAX, 0, 1), tenant(usize::MAX, 1, 1)], ALIGNMENT);
        assert_eq!(bytes, usize::MAX);
    }
}
