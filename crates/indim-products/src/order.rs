//! The order of summation: blocks, chains and lanes.
//!
//! The summed index is cut into blocks. A short block is one chain of fused multiply-adds from +0, in
//! ascending order; a longer one has a chain in each lane, over every eighth index, and its lanes are
//! added from the left. The sum of each block is widened, and +0 is added to it. These sums are added by
//! pairs, neighbours first; an odd sum is carried up.

pub(crate) use indim_ops::meaning::contraction::{CHAIN, LANES};
pub(crate) use indim_ops::meaning::reduction::BLOCK;

/// The order of the indices of one block in a packed panel: the indices of each chain are adjacent.
pub(crate) struct PanelOrder {
    starts: [usize; LANES],
    is_chain: bool,
}

impl PanelOrder {
    /// The order for a block of this length; elements whose sums have no order are one chain.
    #[inline(always)]
    pub(crate) fn new(length: usize, is_ordered: bool) -> PanelOrder {
        let (whole, rest) = (length / LANES, length % LANES);
        let mut starts = [0; LANES];
        for (lane, start) in starts.iter_mut().enumerate() {
            *start = lane * whole + lane.min(rest);
        }
        PanelOrder { starts, is_chain: length <= CHAIN || !is_ordered }
    }

    /// The position of an index of the block in the panel.
    #[inline(always)]
    pub(crate) fn of(&self, index: usize) -> usize {
        match self.is_chain {
            true => index,
            false => self.starts[index % LANES] + index / LANES,
        }
    }
}

/// The length of the block that begins at a multiple of [`BLOCK`].
#[inline(always)]
pub(crate) fn block_length(start: usize, length: usize) -> usize {
    BLOCK.min(length - start)
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, CHAIN, LANES, PanelOrder};

    #[test]
    fn places_are_a_permutation_that_ascends_in_each_chain() {
        for length in 1..=BLOCK {
            let places = PanelOrder::new(length, true);
            let mut seen = vec![false; length];
            for index in 0..length {
                let place = places.of(index);
                assert!(!core::mem::replace(&mut seen[place], true));
                if length > CHAIN && index >= LANES {
                    assert_eq!(place, places.of(index - LANES) + 1);
                }
            }
        }
    }
}
