//! The element types of a product.

use indim_graph::GraphError;
use indim_ops::{DType, DTypeClass, Op};

use crate::builder::{BuildResult, GraphBuilder, Value};

/// The element types of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProductTypes {
    /// The type to which operands are converted.
    pub(super) operands: DType,
    /// The type of the result.
    pub(super) result: DType,
}

impl ProductTypes {
    /// The types for operands of type `own`, and a result of type `result`. Operands are converted to the
    /// type of the result if that loses nothing.
    pub(super) fn new(own: DType, result: DType) -> ProductTypes {
        let rank = |dtype: DType| match dtype.class() {
            DTypeClass::Bool => 0,
            DTypeClass::Signed | DTypeClass::Unsigned => 1,
            DTypeClass::Float => 2,
            DTypeClass::Complex => 3,
        };
        let is_wider = (rank(result), result.size()) > (rank(own), own.size());
        ProductTypes { operands: if is_wider { result } else { own }, result }
    }
}

impl GraphBuilder {
    /// The sum along the last `summed` axes of the products of two values of one type and shape, rounded to
    /// `result`.
    pub(super) fn sum_of_products(
        &self,
        x: &Value,
        y: &Value,
        summed: usize,
        types: ProductTypes,
    ) -> BuildResult {
        let sum = match types.operands {
            _ if summed == 0 => match types.operands {
                DType::Bool => x & y,
                _ => x * y,
            },
            DType::Bool => {
                // As many products as an axis has elements cannot wrap to 0.
                let [x, y] = [self.convert(x, DType::I64)?, self.convert(y, DType::I64)?];
                self.contract(x, y, summed)?.ne(0)
            }
            DType::F16 | DType::Bf16 => {
                let [x, y] = [self.convert(x, DType::F32)?, self.convert(y, DType::F32)?];
                self.contract(x, y, summed)?
            }
            dtype if dtype.class() == DTypeClass::Complex => self.complex_sum(x, y, summed)?,
            _ => self.contract(x, y, summed)?,
        };
        self.convert(sum, types.result)
    }

    /// The sum of complex products as a `c128`: four sums of real products, one difference and one sum.
    fn complex_sum(&self, x: &Value, y: &Value, summed: usize) -> Result<Value, GraphError> {
        let (x, y) = ([x.real(), x.imag()], [y.real(), y.imag()]);
        let sum = |x: &Value, y: &Value| self.contract(x, y, summed);
        let real = sum(&x[0], &y[0])? - sum(&x[1], &y[1])?;
        let imaginary = sum(&x[0], &y[1])? + sum(&x[1], &y[0])?;
        let parts = [real, imaginary];
        self.elementwise(Op::Complex, &parts, &indim_shape::RuleSet::None)
    }
}
