//! The order of summation: blocks, chains and lanes.
//!
//! The summed index is cut into blocks. A short block is one chain of fused multiply-adds from +0, in
//! ascending order; a longer one has a chain in each lane, over every eighth index, and its lanes are
//! added from the left. The sum of each block is widened, and +0 is added to it. These sums are added by
//! pairs, neighbours first; an odd sum is carried up.

pub(crate) use indim_ops::meaning::contraction::{CONTRACTION_LANES, MAX_CHAIN};
pub(crate) use indim_ops::meaning::reduction::REDUCTION_BLOCK;

/// The order of the indices of one block in a packed panel: the indices of each chain are adjacent.
pub(crate) struct PanelOrder {
    /// Position of the first index of each lane in the panel.
    lane_starts: [usize; CONTRACTION_LANES],
    /// Whether the block is one chain, so that positions are indices.
    is_chain: bool,
}

impl PanelOrder {
    /// The order for a block of this length; elements whose sums have no order are one chain.
    #[inline(always)]
    pub(crate) fn new(length: usize, is_ordered: bool) -> PanelOrder {
        let (whole, rest) = (length / CONTRACTION_LANES, length % CONTRACTION_LANES);
        let mut lane_starts = [0; CONTRACTION_LANES];
        for (lane, start) in lane_starts.iter_mut().enumerate() {
            *start = lane * whole + lane.min(rest);
        }
        PanelOrder { lane_starts, is_chain: length <= MAX_CHAIN || !is_ordered }
    }

    /// The position of an index of the block in the panel.
    #[inline(always)]
    pub(crate) fn position(&self, index: usize) -> usize {
        match self.is_chain {
            true => index,
            false => self.lane_starts[index % CONTRACTION_LANES] + index / CONTRACTION_LANES,
        }
    }
}

/// The length of the block that begins at index `start`, a multiple of [`REDUCTION_BLOCK`], in a sum of
/// `length` indices.
#[inline(always)]
pub(crate) fn block_length(start: usize, length: usize) -> usize {
    REDUCTION_BLOCK.min(length - start)
}

#[cfg(test)]
mod tests {
    use super::{CONTRACTION_LANES, MAX_CHAIN, PanelOrder, REDUCTION_BLOCK};

    #[test]
    fn positions_are_a_permutation_that_ascends_in_each_chain() {
        for length in 1..=REDUCTION_BLOCK {
            let order = PanelOrder::new(length, true);
            let mut seen = vec![false; length];
            for index in 0..length {
                let position = order.position(index);
                assert!(!core::mem::replace(&mut seen[position], true));
                if length > MAX_CHAIN && index >= CONTRACTION_LANES {
                    assert_eq!(position, order.position(index - CONTRACTION_LANES) + 1);
                }
            }
        }
    }
}
