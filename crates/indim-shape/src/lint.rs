//! A lint for legal broadcasts that are seldom intended. It runs only if a caller requests it.

use core::fmt;

use crate::explicit::Broadcast;

/// A broadcast in which every operand expands and the result is far larger than each of them, such as `[n,
/// 1]` with `[n]`.
///
/// ```
/// use indim_shape::{RuleSet, Shape, surprising_outer_product};
///
/// let outer = RuleSet::Numpy.elaborate(&[Shape::from([1000, 1]), Shape::from([2000])])?;
/// assert_eq!(
///     surprising_outer_product(&outer, 100).unwrap().to_string(),
///     "every operand expands: the result has 2000000 elements, and operand 1, the largest, has 2000",
/// );
/// # Ok::<(), indim_shape::ShapeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OuterProduct {
    /// The operand with the most elements.
    pub largest_operand: usize,
    /// The number of its elements.
    pub largest_count: usize,
    /// The number of elements of the result.
    pub result_count: usize,
}

impl fmt::Display for OuterProduct {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OuterProduct { largest_operand, largest_count, result_count } = self;
        write!(
            formatter,
            "every operand expands: the result has {result_count} elements, and operand \
             {largest_operand}, the largest, has {largest_count}"
        )
    }
}

/// The finding if each of at least two operands expands and the result has more than `factor` times the
/// elements of the largest operand.
///
/// ```
/// use indim_shape::{RuleSet, Shape, surprising_outer_product};
///
/// let outer = RuleSet::Numpy.elaborate(&[Shape::from([1000, 1]), Shape::from([1000])])?;
/// let found = surprising_outer_product(&outer, 100).unwrap();
/// assert_eq!(found.result_count, 1_000_000);
///
/// let row = RuleSet::Numpy.elaborate(&[Shape::from([1000, 1000]), Shape::from([1000])])?;
/// assert_eq!(surprising_outer_product(&row, 100), None);
/// # Ok::<(), indim_shape::ShapeError>(())
/// ```
pub fn surprising_outer_product(broadcast: &Broadcast, factor: usize) -> Option<OuterProduct> {
    let result_count = broadcast.result().element_count().ok()?;
    if broadcast.operands().len() < 2 || result_count == 0 {
        return None;
    }
    let mut largest = (0, 0);
    for (operand, shape) in broadcast.operands().iter().enumerate() {
        let count = shape.element_count().ok()?;
        if count > largest.1 {
            largest = (operand, count);
        }
    }
    let (largest_operand, largest_count) = largest;
    // If the largest operand has fewer elements than the result, every operand expands.
    let all_expand = largest_count < result_count;
    let is_far_larger = result_count > largest_count.saturating_mul(factor);
    (all_expand && is_far_larger).then_some(OuterProduct {
        largest_operand,
        largest_count,
        result_count,
    })
}
