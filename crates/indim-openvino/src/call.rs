//! A call of an operation: a layer with its operands, for the lowering to nodes.

use indim_builder::{GraphBuilder, Value};
use indim_ops::DType;
use indim_shape::Shape;

use crate::layer::Layer;
use indim_model::shape_values::KnownValue;
use indim_model::{FormatErrorKind, FormatLimits, RuleNote};

/// The result of a lowering, or its error.
pub(super) type LoweringResult<T = Value> = Result<T, FormatErrorKind>;

/// A layer during its lowering.
pub(super) struct Call<'c> {
    pub(super) builder: &'c GraphBuilder,
    pub(super) layer: &'c Layer,
    pub(super) operands: &'c [KnownValue],
    pub(super) limits: &'c FormatLimits,
    pub(super) rule: &'c RuleNote,
    /// Whether a layer reads the second result.
    pub(super) reads_second: bool,
}

impl Call<'_> {
    /// An operand.
    pub(super) fn value(&self, operand: usize) -> Value {
        self.operands[operand].value.clone()
    }

    /// The element type of an operand.
    pub(super) fn dtype(&self, operand: usize) -> LoweringResult<DType> {
        Ok(self.operands[operand].value.array_type()?.dtype)
    }

    /// The sizes of an operand.
    pub(super) fn shape(&self, operand: usize) -> LoweringResult<Shape> {
        Ok(self.operands[operand].value.array_type()?.shape)
    }

    /// Whether an optional operand is present.
    pub(super) fn has(&self, operand: usize) -> bool {
        operand < self.operands.len()
    }

    /// The elements of an operand that must be known: integers along one axis, or a scalar.
    pub(super) fn integers(&self, operand: usize) -> LoweringResult<Vec<i64>> {
        let known = &self.operands[operand];
        let Some(array) = &known.elements else {
            return Err(FormatErrorKind::DependsOnData { chain: vec![self.layer.described()] });
        };
        let expected = || {
            let expected = format!("whole numbers along one axis as operand {operand}");
            FormatErrorKind::Unexpected { expected }
        };
        let is_list = array.shape().rank() <= 1;
        known.integers().filter(|_| is_list).ok_or_else(expected)
    }

    /// An operand with one integer.
    pub(super) fn integer(&self, operand: usize) -> LoweringResult<i64> {
        match self.integers(operand)?[..] {
            [number] => Ok(number),
            _ => {
                let expected = format!("one whole number as operand {operand}");
                Err(FormatErrorKind::Unexpected { expected })
            }
        }
    }

    /// The shape that an operand lists, whose elements must be known.
    pub(super) fn target(&self, operand: usize) -> LoweringResult<Shape> {
        let sizes = self.integers(operand)?;
        self.check_rank(sizes.len())?;
        let wrong = |_| FormatErrorKind::Unexpected {
            expected: format!("sizes as operand {operand}, none of them negative"),
        };
        sizes.into_iter().map(|size| usize::try_from(size).map_err(wrong)).collect()
    }

    /// # Errors
    /// `limit`.
    pub(super) fn check_rank(&self, rank: usize) -> LoweringResult<()> {
        let limit = self.limits.rank;
        match rank > limit {
            true => Err(FormatErrorKind::Limit { what: "axes", limit }),
            false => Ok(()),
        }
    }

    /// Normalises an axis of a value of this rank; negative axes count from the end.
    pub(super) fn axis(&self, axis: i64, rank: usize) -> LoweringResult<usize> {
        let wrong = || FormatErrorKind::attribute("axis", format!("is {axis}, of {rank} axes"));
        axis_from_front(axis, rank).ok_or_else(wrong)
    }

    /// Normalises the distinct axes in an operand, for a value of this rank.
    pub(super) fn axes(&self, operand: usize, rank: usize) -> LoweringResult<Vec<usize>> {
        let given = self.integers(operand)?;
        let mut axes = Vec::with_capacity(given.len().min(rank));
        for axis in given {
            let axis = self.axis(axis, rank)?;
            if axes.contains(&axis) {
                return Err(FormatErrorKind::attribute("axes", "names an axis twice"));
            }
            axes.push(axis);
        }
        Ok(axes)
    }

    /// # Errors
    /// `unexpected`: the operation does not support the element type of an operand.
    pub(super) fn check_dtype(
        &self,
        takes: impl Fn(DType) -> bool,
        what: &str,
    ) -> LoweringResult<()> {
        (0..self.operands.len()).try_for_each(|operand| self.check_dtype_of(operand, &takes, what))
    }

    /// # Errors
    /// `unexpected`.
    pub(super) fn check_dtype_of(
        &self,
        operand: usize,
        takes: impl Fn(DType) -> bool,
        what: &str,
    ) -> LoweringResult<()> {
        let dtype = self.dtype(operand)?;
        if takes(dtype) {
            return Ok(());
        }
        let expected = format!("{what}; operand {operand} is of type {dtype}");
        Err(FormatErrorKind::Unexpected { expected })
    }
}

/// An axis of a value of this rank, counted from the front; a negative axis counts from the end.
pub(super) fn axis_from_front(axis: i64, rank: usize) -> Option<usize> {
    let axis = if axis < 0 { axis.checked_add_unsigned(rank as u64)? } else { axis };
    usize::try_from(axis).ok().filter(|&axis| axis < rank)
}
