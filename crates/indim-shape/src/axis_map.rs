//! Axis maps: the result axis of each operand axis. `explicit.rs` checks their legality.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

/// The result axis of each operand axis. A map may permute axes.
///
/// Clones share the axes.
///
/// ```
/// use indim_shape::AxisMap;
///
/// let swap = AxisMap::from(vec![1, 0]);
/// assert_eq!((&swap[..], swap.to_string().as_str()), (&[1, 0][..], "[1, 0]"));
/// assert!(!swap.is_increasing());
/// assert!(swap.compose(&swap).is_identity_onto(2));
/// assert_eq!(AxisMap::identity(2).compose(&swap), swap);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AxisMap(Arc<[usize]>);

impl AxisMap {
    /// The map of axis `i` to axis `i`.
    pub fn identity(rank: usize) -> Self {
        AxisMap((0..rank).collect())
    }

    /// The map to consecutive axes from `start` on.
    pub(crate) fn consecutive(start: usize, rank: usize) -> Self {
        AxisMap((start..start + rank).collect())
    }

    /// The map to the last axes of a result of rank `result_rank`, in order.
    pub(crate) fn trailing(rank: usize, result_rank: usize) -> Self {
        AxisMap::consecutive(result_rank - rank, rank)
    }

    /// Whether this is the identity map to a result of the same rank.
    pub fn is_identity_onto(&self, result_rank: usize) -> bool {
        self.0.len() == result_rank && self.0.iter().enumerate().all(|(axis, &to)| axis == to)
    }

    /// Whether the axes keep their order. Otherwise the map also transposes.
    pub fn is_increasing(&self) -> bool {
        self.0.windows(2).all(|pair| pair[0] < pair[1])
    }

    /// This map followed by `then`.
    ///
    /// # Panics
    /// If `then` has no entry for an axis of this map.
    pub fn compose(&self, then: &AxisMap) -> AxisMap {
        AxisMap(self.0.iter().map(|&axis| then.0[axis]).collect())
    }
}

impl Deref for AxisMap {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl From<Vec<usize>> for AxisMap {
    fn from(axes: Vec<usize>) -> Self {
        AxisMap(axes.into())
    }
}

impl fmt::Display for AxisMap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.0)
    }
}
