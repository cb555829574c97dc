//! The table of products of arrays: parameters and documentation. `product.rs` elaborates them.

use indim_shape::Einsum;

use super::parameter::{AttributeKey, CallParameter};

/// A product of arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProductFunction {
    Matmul,
    Dot,
    Inner,
    Outer,
    Matvec,
    Vecmat,
    Vecdot,
    Tensordot,
    Einsum,
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct ProductRow {
    function: ProductFunction,
    /// The name.
    pub(crate) name: &'static str,
    /// A call with the defaults.
    pub(crate) call: &'static str,
    /// The documentation.
    pub(crate) doc: &'static str,
}

/// The names of the operands.
pub(crate) const PRODUCT_OPERANDS: &[&str] = &["x", "y"];

/// The table.
pub(crate) const PRODUCTS: &[ProductRow] = &[
    ProductRow {
        function: ProductFunction::Matmul,
        name: "matmul",
        call: "matmul(x, y, dtype)",
        doc: "`x @ y`: products of matrices in the last two axes; the other axes broadcast. A vector is a \
              row on the left and a column on the right. The order of summation is fixed; floats are \
              rounded once. If `dtype` is wider, operands are converted to it first.",
    },
    ProductRow {
        function: ProductFunction::Matvec,
        name: "matvec",
        call: "matvec(x, y, dtype)",
        doc: "Matrices in the last two axes of `x` times vectors in the last axis of `y`.",
    },
    ProductRow {
        function: ProductFunction::Vecmat,
        name: "vecmat",
        call: "vecmat(x, y, dtype)",
        doc: "Vectors in the last axis of `x`, conjugated if they are complex, times matrices in the last \
              two axes of `y`.",
    },
    ProductRow {
        function: ProductFunction::Inner,
        name: "inner",
        call: "inner(x, y, dtype)",
        doc: "The last axis of `x` with the last of `y`. A scalar multiplies.",
    },
    ProductRow {
        function: ProductFunction::Outer,
        name: "outer",
        call: "outer(x, y)",
        doc: "Each element of `x` times each of `y`, both in row-major order.",
    },
    ProductRow {
        function: ProductFunction::Tensordot,
        name: "tensordot",
        call: "tensordot(x, y, axes=2, dtype)",
        doc: "The sum along pairs of axes: the last `axes` of `x` with the first of `y`, or those of two \
              lists, `axes=[[1, 0], [0, 1]]`.",
    },
    ProductRow {
        function: ProductFunction::Einsum,
        name: "einsum",
        call: "einsum(\"ij,jk->ik\", x, y, dtype)",
        doc: "Each letter is an axis; equal letters are one axis, and axes that the result lacks are summed. \
              `...` stands for axes without letters. Three or more operands are multiplied in pairs, in an \
              order that depends on the sizes only.",
    },
];

/// Names that only recorded calls use. In a text `dot` and `vecdot` are functions along axes, so NumPy's
/// functions of these names are recorded as `numpy.dot` and `numpy.vecdot`.
const RECORDED: &[(&str, ProductFunction)] = &[
    ("@", ProductFunction::Matmul),
    ("numpy.dot", ProductFunction::Dot),
    ("numpy.vecdot", ProductFunction::Vecdot),
];

impl ProductFunction {
    /// The function of a name in a text.
    pub(super) fn from_name(name: &str) -> Option<ProductFunction> {
        Some(PRODUCTS.iter().find(|row| row.name == name)?.function)
    }

    /// The function of a name in a recorded call.
    pub(super) fn from_recorded_name(name: &str) -> Option<ProductFunction> {
        let recorded = RECORDED.iter().find(|(known, _)| *known == name);
        recorded.map(|(_, function)| *function).or_else(|| ProductFunction::from_name(name))
    }

    /// Whether the first argument is an equation.
    pub(super) fn takes_equation(self) -> bool {
        self == ProductFunction::Einsum
    }

    /// The parameter at a position of a call.
    pub(super) fn parameter(self, position: usize) -> Option<CallParameter> {
        if self == ProductFunction::Einsum {
            return Some(match position {
                0 => CallParameter::Attribute(AttributeKey::Equation),
                1..=Einsum::MAX_OPERANDS => CallParameter::Operand,
                _ if position == Einsum::MAX_OPERANDS + 1 => {
                    CallParameter::Attribute(AttributeKey::ElementType)
                }
                _ => return None,
            });
        }
        let Some(position) = position.checked_sub(PRODUCT_OPERANDS.len()) else {
            return Some(CallParameter::Operand);
        };
        let attributes: &[AttributeKey] = match self {
            ProductFunction::Outer => &[],
            ProductFunction::Vecdot => &[AttributeKey::Axis, AttributeKey::ElementType],
            // A list for each operand is the recorded form of `axes`.
            ProductFunction::Tensordot => &[
                AttributeKey::SummedAxes,
                AttributeKey::ElementType,
                AttributeKey::LeftAxes,
                AttributeKey::RightAxes,
            ],
            _ => &[AttributeKey::ElementType],
        };
        attributes.get(position).copied().map(CallParameter::Attribute)
    }
}
