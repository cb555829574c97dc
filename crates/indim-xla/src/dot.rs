//! Matrix products: `dot_general`, the older `dot`, and the algorithm that a file asks for.

use indim_builder::{GraphBuilder, Value};
use indim_model::FormatErrorKind;
use indim_ops::{ArrayType, DType};
use indim_shape::{ContractionRule, DotDimensions};

/// A matrix product with its attributes.
///
/// `precision_config` has no effect: a contraction has one definition, which is at least as precise as XLA's
/// most precise mode.
#[derive(Debug, Clone, PartialEq)]
pub struct DotOperation {
    /// The batch axes and the summed axes; `None` for StableHLO's `dot`, whose axes follow from the ranks.
    pub dimensions: Option<DotDimensions>,
    /// The algorithm, if the file has one.
    pub algorithm: Option<DotAlgorithm>,
}

/// An algorithm of a product: the element types of multiplication and addition.
///
/// ```
/// use indim_ops::DType;
/// use indim_xla::dot::DotAlgorithm;
///
/// let algorithm = DotAlgorithm::named("dot_bf16_bf16_f32").unwrap();
/// assert_eq!(algorithm.sum_type(DType::Bf16), Some(DType::F32));
/// assert_eq!(algorithm.sum_type(DType::F32), None); // the operands would be rounded
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DotAlgorithm {
    /// The element types to which the operands are rounded, by name.
    pub operands: [String; 2],
    /// The element type of the partial sums, by name.
    pub accumulation: String,
    /// Number of multiplications for each product; more than one emulate a wider type.
    pub operations: i64,
}

impl DotAlgorithm {
    /// The algorithm by its name in HLO: `dot_f32_f32_f32`, `dot_bf16_bf16_f32_x3`.
    pub fn named(name: &str) -> Option<DotAlgorithm> {
        let parts: Vec<&str> = name.strip_prefix("dot_")?.split('_').collect();
        let [lhs, rhs, accumulation, rest @ ..] = &parts[..] else { return None };
        let operations = match rest {
            [] => 1,
            [times] => times.strip_prefix('x')?.parse().ok()?,
            _ => return None,
        };
        let operands = [(*lhs).to_owned(), (*rhs).to_owned()];
        Some(DotAlgorithm { operands, accumulation: (*accumulation).to_owned(), operations })
    }

    /// The type in which products of operands of type `own` are added. `None` if the algorithm rounds
    /// the operands, takes several multiplications for a product, or adds in a type other than `f32` and
    /// `f64`, or in `f32` for operands of `f64`.
    pub fn sum_type(&self, own: DType) -> Option<DType> {
        let keeps = |name: &String| match name.as_str() {
            "f64" => own.is_float(),
            "f32" => own.is_float() && own != DType::F64,
            name => own.is_float() && name == own.name(),
        };
        let sum = match self.accumulation.as_str() {
            "f64" => DType::F64,
            "f32" if own != DType::F64 => DType::F32,
            _ => return None,
        };
        (self.operations == 1 && self.operands.iter().all(keeps)).then_some(sum)
    }
}

impl DotOperation {
    /// The rule of the operands' axes.
    pub fn rule(&self) -> ContractionRule {
        match &self.dimensions {
            Some(dimensions) => ContractionRule::DotGeneral(dimensions.clone()),
            None => ContractionRule::Dot,
        }
    }

    /// Builds the product; `stated` is the result type in the file. The operands are multiplied in the
    /// widest of their types and the element type of the result, or in the type of the algorithm's sums.
    /// A sum is rounded to a narrower result once.
    ///
    /// # Errors
    /// `unsupported` for an algorithm that rounds operands or sums; `unexpected` for a `dot` of operands
    /// other than vectors and matrices; errors of the builder.
    pub fn build(
        &self,
        b: &GraphBuilder,
        lhs: &Value,
        rhs: &Value,
        stated: &ArrayType,
    ) -> Result<Value, FormatErrorKind> {
        let types = [lhs.array_type()?, rhs.array_type()?];
        let is_small = |of: &ArrayType| (1..=2).contains(&of.shape.rank());
        if self.dimensions.is_none() && !types.iter().all(is_small) {
            let expected = "vectors or matrices as operands of `dot`".to_owned();
            return Err(FormatErrorKind::Unexpected { expected });
        }
        let operands = [lhs.clone(), rhs.clone()];
        let [lhs, rhs] = match self.operand_type(&types, stated)? {
            Some(dtype) => operands.map(|operand| operand.convert(dtype)),
            None => operands,
        };
        Ok(b.product(&self.rule(), lhs, rhs, Some(stated.dtype))?)
    }

    /// The type to which the operands are converted; `None` if they keep theirs.
    fn operand_type(
        &self,
        types: &[ArrayType; 2],
        stated: &ArrayType,
    ) -> Result<Option<DType>, FormatErrorKind> {
        let [lhs, rhs] = types.each_ref().map(|of| of.dtype);
        let Some(algorithm) = &self.algorithm else {
            // HLO's operands may differ in their types.
            return Ok((lhs != rhs).then(|| wider(wider(lhs, rhs), stated.dtype)));
        };
        match (algorithm.sum_type(lhs), algorithm.sum_type(rhs)) {
            (Some(sum), Some(_)) => Ok(Some(sum)),
            _ => {
                let DotAlgorithm { operands: [x, y], accumulation, operations } = algorithm;
                let what = format!(
                    "a product of {lhs} and {rhs} as {operations} of {x} and {y} with sums in \
                     {accumulation} is"
                );
                Err(FormatErrorKind::Unsupported { what })
            }
        }
    }
}

/// The wider of two types. If neither represents all elements of the other, the narrowest type that does.
pub(crate) fn wider(x: DType, y: DType) -> DType {
    match (x, y) {
        (DType::F16, DType::Bf16) | (DType::Bf16, DType::F16) => DType::F32,
        (DType::F64, DType::C64) | (DType::C64, DType::F64) => DType::C128,
        _ if y.is_wider_than(x) => y,
        _ => x,
    }
}
