//! Row-major strides, without an allocation for a few axes.

use indim_arrays::write_row_major_byte_strides;
use indim_loops::strides::{AxisStrides, zero_strides};
use indim_ops::ArrayType;

/// The strides in bytes of a dense row-major array.
pub(super) fn row_major_strides(array_type: &ArrayType) -> AxisStrides {
    let mut strides = zero_strides(array_type.shape.rank());
    write_row_major_byte_strides(array_type, &mut strides);
    strides
}
