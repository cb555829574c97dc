//! Arrays, their element types and shapes, views of other memory, and arrays of other crates.
//!
//! ```
//! use indim::array::Order;
//! use indim::{Array, ArrayView, DType};
//!
//! let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! assert_eq!((x.dtype(), x.shape().sizes()), (DType::F32, &[2, 3][..]));
//!
//! // A view reads the memory of its owner; a transposed one reads it in another order.
//! let memory = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let columns = ArrayView::from_strided([3, 2], &[1, 3], &memory, 0)?;
//! assert_eq!(columns.array_type().to_string(), "f32[3, 2]");
//! assert_eq!(Order::default(), Order::C);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With the features `ndarray`, `half`, `num-complex` and `safetensors`, arrays and numbers of these crates
//! are inputs without a copy.

pub use indim_cpu::{
    Array, ArrayError, ArrayView, ArrayViewMut, ElementLayout, IntoElementsError, MappedFile,
    Order, as_elements, as_elements_mut, from_elements, row_major_byte_strides,
    set_memory_pool_limit,
};
pub use indim_ops::{
    ArrayData, ArrayType, Complex, DType, DTypeClass, Element, UnknownDType, bf16, c64, c128,
    f8e4m3b11fnuz, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f16, i4, u4,
};
pub use indim_shape::{MAX_RANK, RankLimitError, Shape};
