//! Sums, products, means, variances and counts.

use indim_graph::GraphError;
use indim_ops::{DType, DTypeClass, Op, ReduceOp};

use super::context::ReductionContext;
use crate::builder::{BuildResult, Value};

/// Minimum size that a symbol stands for.
const MIN_SYMBOL: f64 = 2.0;

impl ReductionContext<'_> {
    /// The type of the accumulator: double precision for floats.
    fn sum_dtype(&self) -> DType {
        let widens = self.options.widens_integers && self.options.dtype.is_none();
        match (self.dtype().class(), widens) {
            (DTypeClass::Float, _) => DType::F64,
            (DTypeClass::Complex, _) => DType::C128,
            (DTypeClass::Unsigned, true) => DType::U64,
            (DTypeClass::Bool, _) | (DTypeClass::Signed, true) => DType::I64,
            _ => self.dtype(),
        }
    }

    /// The result type of a sum: floats keep their type.
    pub(super) fn result_dtype(&self) -> DType {
        let own = match self.dtype().class() {
            DTypeClass::Float | DTypeClass::Complex => self.dtype(),
            _ => self.sum_dtype(),
        };
        self.options.dtype.unwrap_or(own)
    }

    /// The result type of a mean: `f64` for integers.
    fn mean_dtype(&self) -> DType {
        let own = match self.dtype().class() {
            DTypeClass::Float | DTypeClass::Complex => self.dtype(),
            _ => DType::F64,
        };
        self.options.dtype.unwrap_or(own)
    }

    /// The result type of a variance, a standard deviation or a norm: that of a mean, or of its real part
    /// if the mean is complex.
    fn component_dtype(&self) -> DType {
        match self.mean_dtype() {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            dtype => dtype,
        }
    }

    /// A sum or product of the elements in the type of the accumulator; the reduced axes have size 1.
    fn wide_total(&self, op: ReduceOp) -> BuildResult {
        self.fold_keepdims(op, &self.builder().convert(&self.x, self.sum_dtype())?)
    }

    /// The sum of the elements in the type of the accumulator, for a sum or mean that is rounded; the reduced
    /// axes have size 1.
    fn rounded_sum(&self) -> BuildResult {
        match self.sum_of_outer_product()? {
            Some(total) => Ok(total),
            None => self.wide_total(ReduceOp::Add),
        }
    }

    /// The mean in double precision; the reduced axes have size 1.
    pub(super) fn wide_mean(&self) -> BuildResult {
        let sum = match self.sum_of_outer_product()? {
            Some(sum) => sum,
            None => self.fold_keepdims(ReduceOp::Add, &self.to_double()?)?,
        };
        self.divide_by_count(sum)
    }

    /// A sum in double precision divided by the number of its terms.
    fn divide_by_count(&self, sum: Value) -> BuildResult {
        match self.fixed_count(0.0) {
            Some(_) => self.divide_by_fixed_count(sum, 0.0),
            None => Ok(&sum / self.count()?.convert(sum.array_type()?.dtype)),
        }
    }

    /// The variance as an `f64`; the reduced axes have size 1.
    pub(super) fn wide_variance(&self, correction: f64) -> BuildResult {
        let sum = self
            .sum_of_squares(&self.builder().numpy().sub(self.to_double()?, self.wide_mean()?)?)?;
        if let Some(degrees) = self.fixed_count(correction) {
            // If `correction` is below `MIN_SYMBOL`, the divisor is positive for every size of a symbol.
            // Otherwise the sizes decide between the quotient and NaN, so they are pinned.
            let is_always_free = correction < MIN_SYMBOL;
            if !is_always_free {
                self.pin_count("a variance without a degree of freedom is NaN");
            }
            return match degrees > 0.0 {
                true => self.divide_by_fixed_count(sum, correction),
                false => Ok(sum * f64::NAN),
            };
        }
        let degrees = self.count()? - correction;
        Ok(degrees.gt(0).select(sum / &degrees, f64::NAN))
    }

    /// The mean of squared magnitudes as an `f64`; the reduced axes have size 1.
    pub(super) fn wide_mean_square(&self) -> BuildResult {
        self.divide_by_count(self.sum_of_squares(&self.to_double()?)?)
    }

    /// The sum of the squared magnitudes of the selected elements of `x`. Unselected elements become 0
    /// before the square, because the derivative of the square of NaN is NaN.
    fn sum_of_squares(&self, x: &Value) -> BuildResult {
        let masked = self.mask(ReduceOp::Add, x)?;
        self.fold_unmasked(ReduceOp::Add, squared_magnitudes(&masked)?)
    }

    fn is_nonzero(&self) -> BuildResult {
        self.builder().convert(&self.x, DType::Bool)
    }
}

/// The squared magnitudes of numbers in double precision.
fn squared_magnitudes(x: &Value) -> Result<Value, GraphError> {
    Ok(match x.array_type()?.dtype {
        DType::C128 => x.real() * x.real() + x.imag() * x.imag(),
        _ => x * x,
    })
}

/// The square root with derivative 0 at 0, without a division by 0.
fn sqrt_with_zero_derivative(x: &Value) -> Value {
    let is_zero = x.eq(0);
    is_zero.select(0, is_zero.select(1, x).sqrt())
}

pub(super) fn sum(call: &ReductionContext<'_>, exact: bool, partial: bool) -> BuildResult {
    let total = match (exact, partial) {
        (true, _) => call.exact_sum()?,
        (false, true) => call.wide_total(ReduceOp::Add)?,
        (false, false) => call.rounded_sum()?,
    };
    let dtype = call.result_dtype();
    let total = call.with_initial(Op::Add, total, dtype)?;
    if partial { call.to_result_shape(&total) } else { call.round_to(total, dtype) }
}

pub(super) fn prod(call: &ReductionContext<'_>) -> BuildResult {
    let dtype = call.result_dtype();
    call.round_to(call.with_initial(Op::Mul, call.wide_total(ReduceOp::Mul)?, dtype)?, dtype)
}

pub(super) fn mean(call: &ReductionContext<'_>) -> BuildResult {
    call.round_to(call.wide_mean()?, call.mean_dtype())
}

pub(super) fn var(call: &ReductionContext<'_>, correction: f64) -> BuildResult {
    call.round_to(call.wide_variance(correction)?, call.component_dtype())
}

pub(super) fn std(call: &ReductionContext<'_>, correction: f64) -> BuildResult {
    call.round_to(
        sqrt_with_zero_derivative(&call.wide_variance(correction)?),
        call.component_dtype(),
    )
}

pub(super) fn nansum(call: &ReductionContext<'_>) -> BuildResult {
    sum(&call.without_nans(), false, false)
}

pub(super) fn nanprod(call: &ReductionContext<'_>) -> BuildResult {
    prod(&call.without_nans())
}

pub(super) fn nanmean(call: &ReductionContext<'_>) -> BuildResult {
    mean(&call.without_nans())
}

pub(super) fn nanvar(call: &ReductionContext<'_>, correction: f64) -> BuildResult {
    var(&call.without_nans(), correction)
}

pub(super) fn nanstd(call: &ReductionContext<'_>, correction: f64) -> BuildResult {
    std(&call.without_nans(), correction)
}

pub(super) fn all(call: &ReductionContext<'_>) -> BuildResult {
    call.fold(ReduceOp::And, &call.is_nonzero()?)
}

pub(super) fn any(call: &ReductionContext<'_>) -> BuildResult {
    call.fold(ReduceOp::Or, &call.is_nonzero()?)
}

pub(super) fn count_nonzero(call: &ReductionContext<'_>) -> BuildResult {
    call.fold(ReduceOp::Add, &call.is_nonzero()?.convert(DType::I64))
}

pub(super) fn norm(call: &ReductionContext<'_>) -> BuildResult {
    call.round_to(
        sqrt_with_zero_derivative(&call.sum_of_squares(&call.to_double()?)?),
        call.component_dtype(),
    )
}

pub(super) fn dot(call: &ReductionContext<'_>) -> BuildResult {
    let y = call.others[0].clone();
    if call.dtype() == DType::Bool {
        return call.fold(ReduceOp::Or, &(&call.x & y));
    }
    let wide = call.sum_dtype();
    let products = call.x.convert(wide) * y.convert(wide);
    call.round_to(call.fold_keepdims(ReduceOp::Add, &products)?, call.dtype())
}

pub(super) fn vecdot(call: &ReductionContext<'_>) -> BuildResult {
    match call.dtype().class() {
        DTypeClass::Complex => dot(&ReductionContext { x: call.x.conj(), ..call.clone() }),
        _ => dot(call),
    }
}
