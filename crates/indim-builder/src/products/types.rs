//! The element types of a product, and the contraction of operands of each type.

use indim_graph::GraphError;
use indim_ops::{DType, DTypeClass, Op};
use indim_shape::ContractionForm;

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
    /// type of the result if it is wider ([`DType::is_wider_than`]). This rounds `i64` to `f32`, for example.
    pub(super) fn new(own: DType, result: DType) -> ProductTypes {
        ProductTypes { operands: if result.is_wider_than(own) { result } else { own }, result }
    }
}

/// The explicit form of a product, with the product's name for errors.
pub(super) struct NamedForm<'a> {
    /// The name of the product in errors.
    pub(super) name: &'static str,
    /// The form, whose shape the operands are broadcast to.
    pub(super) form: &'a ContractionForm,
}

impl GraphBuilder {
    /// The sum of the products of two values of one type, rounded to the type of the result. Conversions, and
    /// real and imaginary parts, are taken before the broadcast, so that each factor of the contraction is
    /// a broadcast array, which is not materialised.
    #[track_caller]
    pub(super) fn sum_of_products(
        &self,
        named_form: &NamedForm<'_>,
        [x, y]: [&Value; 2],
        types: ProductTypes,
    ) -> BuildResult {
        let converted = |dtype: DType| -> Result<[Value; 2], GraphError> {
            Ok([self.convert(x, dtype)?, self.convert(y, dtype)?])
        };
        if named_form.form.summed() == 0 {
            let [x, y] = self.broadcast_to_form(named_form, [x, y])?;
            let product = if types.operands == DType::Bool { x & y } else { x * y };
            return self.convert(product, types.result);
        }
        let sum = match types.operands {
            DType::Bool => {
                // A count of true products is below 2^63, so it does not wrap to 0.
                let [x, y] = converted(DType::I64)?;
                self.broadcast_contraction(named_form, [&x, &y])?.ne(0)
            }
            DType::F16 | DType::Bf16 => {
                let [x, y] = converted(DType::F32)?;
                self.broadcast_contraction(named_form, [&x, &y])?
            }
            dtype if dtype.class() == DTypeClass::Complex => {
                self.complex_sum(named_form, [x, y])?
            }
            _ => self.broadcast_contraction(named_form, [x, y])?,
        };
        self.convert(sum, types.result)
    }

    /// The sum of complex products as a `c128`: four sums of real products, one difference and one sum.
    #[track_caller]
    fn complex_sum(&self, named_form: &NamedForm<'_>, [x, y]: [&Value; 2]) -> BuildResult {
        let (x, y) = ([x.real(), x.imag()], [y.real(), y.imag()]);
        let sum = |x: &Value, y: &Value| self.broadcast_contraction(named_form, [x, y]);
        let real = sum(&x[0], &y[0])? - sum(&x[1], &y[1])?;
        let imaginary = sum(&x[0], &y[1])? + sum(&x[1], &y[0])?;
        let parts = [real, imaginary];
        self.elementwise(Op::Complex, &parts, &indim_shape::RuleSet::None)
    }

    /// The contraction of two values that are broadcast to the shape of the form.
    #[track_caller]
    fn broadcast_contraction(
        &self,
        named_form: &NamedForm<'_>,
        values: [&Value; 2],
    ) -> BuildResult {
        let [x, y] = self.broadcast_to_form(named_form, values)?;
        self.contract(x, y, named_form.form.summed())
    }

    /// Two values that are broadcast to the shape of the form.
    #[track_caller]
    fn broadcast_to_form(
        &self,
        named_form: &NamedForm<'_>,
        [x, y]: [&Value; 2],
    ) -> Result<[Value; 2], GraphError> {
        let NamedForm { name, form } = named_form;
        let [x_map, y_map] = form.maps();
        Ok([
            self.checked_broadcast(name, x.expect_id(), x_map, form.shape())?,
            self.checked_broadcast(name, y.expect_id(), y_map, form.shape())?,
        ])
    }
}
