//! Arithmetic on the sizes and strides of arrays, which is all it knows of them. Executors and views use it;
//! lowering, which does without strides, does not.

pub mod coalesce;
pub mod layout;
pub mod order;

use smallvec::SmallVec;

/// A stride, or another number, for each of a few axes, which needs no memory of its own.
pub type AxisStrides = SmallVec<[isize; 4]>;
