//! The description of a product: element types, and axes by class with their strides.

use core::fmt;

use indim_ops::{DType, DTypeClass};

/// The class of an axis: the operands and the result that have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AxisClass {
    /// In `x`, `y` and the result.
    Batch,
    /// In `x` and the result.
    Row,
    /// In `y` and the result.
    Column,
    /// In `x` and `y`; summed.
    Summed,
}

/// One axis of a product. Strides are in bytes; strides of operands may be zero or negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProductAxis {
    /// The class.
    pub class: AxisClass,
    /// The number of elements along the axis.
    pub size: usize,
    /// The stride of `x`; 0 for columns.
    pub x: isize,
    /// The stride of `y`; 0 for rows.
    pub y: isize,
    /// The stride of the result; 0 for summed axes.
    pub out: isize,
}

/// A sum of products: `out[batch, row, column] = Σ x[batch, row, summed] * y[batch, column, summed]`.
///
/// Summed axes are flattened in the order listed, the last one fastest. The order of the other axes has no
/// effect on the result.
///
/// ```
/// use indim_ops::{DType, Level};
/// use indim_products::{AxisClass, Product, ProductAxis, ProductPlan};
///
/// let axis = |class, size, x, y, out| ProductAxis { class, size, x, y, out };
/// // `[5, 3] @ [3, 4]`, all of them dense and row-major.
/// let product = Product {
///     x: DType::F32,
///     y: DType::F32,
///     compute: DType::F32,
///     out: DType::F32,
///     axes: vec![
///         axis(AxisClass::Row, 5, 12, 0, 16),
///         axis(AxisClass::Column, 4, 0, 4, 4),
///         axis(AxisClass::Summed, 3, 4, 16, 0),
///     ],
/// };
/// let plan = ProductPlan::new(&product, Level::detect(), 1)?;
/// assert_eq!(plan.multiply_adds(), 5 * 4 * 3);
/// # Ok::<(), indim_products::ProductError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Product {
    /// The element type of `x`.
    pub x: DType,
    /// The element type of `y`.
    pub y: DType,
    /// The element type of the products. Operands are converted to it exactly, or, if they are integers,
    /// modulo its range.
    pub compute: DType,
    /// The element type of the result. The sum of floats is an `f64`, which is rounded once. No kernel
    /// takes complex numbers. The low bits of a sum of integers are stored.
    pub out: DType,
    /// The axes.
    pub axes: Vec<ProductAxis>,
}

/// The reason why a product has no plan.
///
/// ```
/// use indim_ops::{DType, Level};
/// use indim_products::{Product, ProductError, ProductPlan};
///
/// let (x, y, compute, out) = (DType::Bool, DType::F32, DType::F32, DType::F32);
/// let product = Product { x, y, compute, out, axes: vec![] };
/// let error = ProductPlan::new(&product, Level::detect(), 1).unwrap_err();
/// assert_eq!(error, ProductError::ElementTypes { x, y, compute, out });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProductError {
    /// No kernel computes products of these element types.
    ElementTypes {
        /// The element type of `x`.
        x: DType,
        /// The element type of `y`.
        y: DType,
        /// The element type of the products.
        compute: DType,
        /// The element type of the result.
        out: DType,
    },
    /// An axis has a stride other than 0 in an operand or result that has no axes of its class.
    Stride {
        /// The position of the axis in the list.
        axis: usize,
    },
    /// The number of elements of the result, or along the summed axes, exceeds `isize::MAX`.
    TooLarge,
}

impl fmt::Display for ProductError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProductError::ElementTypes { x, y, compute, out } => {
                write!(formatter, "no kernel multiplies {x} by {y} in {compute} to give {out}")
            }
            ProductError::Stride { axis } => {
                write!(formatter, "axis {axis} has a stride that its class excludes")
            }
            ProductError::TooLarge => {
                formatter.write_str("the number of elements exceeds the address space")
            }
        }
    }
}

impl core::error::Error for ProductError {}

impl Product {
    /// Checks the strides that classes exclude.
    pub(crate) fn check(&self) -> Result<(), ProductError> {
        for (index, axis) in self.axes.iter().enumerate() {
            let excluded = match axis.class {
                AxisClass::Batch => 0,
                AxisClass::Row => axis.y,
                AxisClass::Column => axis.x,
                AxisClass::Summed => axis.out,
            };
            if excluded != 0 {
                return Err(ProductError::Stride { axis: index });
            }
        }
        Ok(())
    }

    /// The error for element types without a kernel.
    pub(crate) fn unsupported(&self) -> ProductError {
        let &Product { x, y, compute, out, .. } = self;
        ProductError::ElementTypes { x, y, compute, out }
    }

    /// The same product with the operands exchanged; multiplication commutes in every type.
    pub(crate) fn exchanged(&self) -> Product {
        let exchange = |axis: &ProductAxis| ProductAxis {
            class: match axis.class {
                AxisClass::Row => AxisClass::Column,
                AxisClass::Column => AxisClass::Row,
                class => class,
            },
            x: axis.y,
            y: axis.x,
            ..*axis
        };
        let axes = self.axes.iter().map(exchange).collect();
        Product { x: self.y, y: self.x, axes, ..*self }
    }

    /// Whether operands, products and result are all integers, all floats or all complex.
    pub(crate) fn has_one_class(&self) -> bool {
        let is_integer = |dtype: DType| dtype.is_integer();
        let all = [self.x, self.y, self.compute, self.out];
        all.into_iter().all(is_integer)
            || all.into_iter().all(DType::is_float)
            || all.into_iter().all(|dtype| dtype.class() == DTypeClass::Complex)
    }
}
