//! Strides of the operands of a nest. Executors use them; lowering does not, because it is independent of
//! strides.
//!
//! - `coalesce.rs`: joint ordering and merging of axes over all operands of a nest.

pub mod coalesce;

use smallvec::SmallVec;

/// The number of axes whose strides fit inline, without an allocation.
const INLINE_AXES: usize = 4;

/// One stride, or another number, for each axis or operand; inline if they are few.
pub type AxisStrides = SmallVec<[isize; INLINE_AXES]>;

/// `count` zeros; faster than `from_elem` for a few.
#[inline]
pub fn zero_strides(count: usize) -> AxisStrides {
    match count <= INLINE_AXES {
        true => AxisStrides::from_buf_and_len([0; INLINE_AXES], count),
        false => AxisStrides::from_elem(0, count),
    }
}
