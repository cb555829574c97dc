//! Arithmetic on the sizes and strides of arrays, which is all it knows of them. Executors and views use it;
//! lowering, which does without strides, does not.
//!
//! - `coalesce.rs`: joint ordering and merging of axes over all operands of a nest;
//! - `layout.rs`: whether strided arrays share memory, decided exactly: pure arithmetic on addresses, sizes
//!   and strides;
//! - `order.rs`: the orders in which the elements of dense arrays lie, and the strides that they make.

pub mod coalesce;
pub mod layout;
pub mod order;

use smallvec::SmallVec;

/// The number of axes whose data fit inline, without an allocation.
const INLINE_AXES: usize = 4;

/// A stride, or another number, for each of a few axes, which needs no memory of its own.
pub type AxisStrides = SmallVec<[isize; INLINE_AXES]>;

/// So many zeros; where they are few faster than `from_elem`.
#[inline]
pub fn zero_strides(count: usize) -> AxisStrides {
    match count <= INLINE_AXES {
        true => AxisStrides::from_buf_and_len([0; INLINE_AXES], count),
        false => AxisStrides::from_elem(0, count),
    }
}
