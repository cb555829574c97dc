//! Methods of values for products, conversions, shapes and sorts: those of the builder, with deferred errors.
//!
//! Each is the method of `GraphBuilder` of the same name. Use the builder's method to handle an error where
//! it arises.

use core::borrow::Borrow;

use indim_ops::DType;
use indim_shape::Shape;

use crate::builder::Value;
use crate::operand::sealed::Sealed;
use crate::operators::innermost_builder;
use crate::views::Index;

/// The methods that have a result of another shape or element type, or another order of elements.
///
/// ```
/// use indim_builder::{GraphBuilder, Index};
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [4, 3])?;
/// let w = b.parameter("w", DType::F32, [3, 2])?;
/// let columns = x.matmul(&w).maximum(0).sort(0).transpose(&[1, 0]);
/// assert_eq!(columns.array_type()?.to_string(), "f32[2, 4]");
/// let median = (columns.index(&[Index::Ellipsis, Index::At(1)])
///     + columns.index(&[Index::Ellipsis, Index::At(2)])) / 2;
/// let graph = b.finish(&[median.reshape([1, 2]).convert(DType::F64)])?;
///
/// let wrong = w.matmul(&x); // the builder keeps the error for `finish`
/// assert_eq!(b.finish(&[wrong]).unwrap_err().code(), "size-mismatch");
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
impl Value {
    /// Every element converted to `dtype`.
    #[track_caller]
    pub fn convert(&self, dtype: DType) -> Value {
        self.builder().defer_error(self.builder().convert(self, dtype))
    }

    /// The product of matrices, as Python's `@`.
    #[track_caller]
    pub fn matmul(&self, y: impl Borrow<Value>) -> Value {
        let operand = y.borrow().into_arg();
        let builder = innermost_builder(self.builder(), &operand);
        builder.defer_error(builder.matmul(self, y.borrow()))
    }

    /// The same elements in row-major order under another shape.
    #[track_caller]
    pub fn reshape(&self, shape: impl Into<Shape>) -> Value {
        self.builder().defer_error(self.builder().reshape(self, shape))
    }

    /// The axes in another order: axis `i` of the result is axis `permutation[i]`.
    #[track_caller]
    pub fn transpose(&self, permutation: &[i64]) -> Value {
        self.builder().defer_error(self.builder().transpose(self, permutation))
    }

    /// Python's `x[...]` under NumPy's rules.
    #[track_caller]
    pub fn index(&self, indices: &[Index]) -> Value {
        self.builder().defer_error(self.builder().index(self, indices))
    }

    /// The elements along an axis in ascending order.
    #[track_caller]
    pub fn sort(&self, axis: i64) -> Value {
        self.builder().defer_error(self.builder().sort(self, axis, false))
    }

    /// The positions of the elements along an axis in ascending order, as `i64`; equal elements keep their
    /// order.
    #[track_caller]
    pub fn argsort(&self, axis: i64) -> Value {
        self.builder().defer_error(self.builder().argsort(self, axis, false))
    }
}
