//! An operation in the file and the operands that it has, for whoever makes nodes of it.

use indim_builder::{GraphBuilder, Value};
use indim_ops::DType;
use indim_shape::Shape;

use crate::layer::Layer;
use indim_model::shape_values::KnownValue;
use indim_model::{FormatErrorKind, FormatLimits, RuleNote};

/// What is made of an operation, or why not.
pub(super) type Lowered<T = Value> = Result<T, FormatErrorKind>;

/// A layer to be made into nodes.
pub(super) struct Call<'c> {
    pub(super) builder: &'c GraphBuilder,
    pub(super) layer: &'c Layer,
    pub(super) operands: &'c [KnownValue],
    pub(super) limits: &'c FormatLimits,
    pub(super) rule: &'c RuleNote,
}

impl Call<'_> {
    /// An operand.
    pub(super) fn value(&self, operand: usize) -> Value {
        self.operands[operand].value.clone()
    }

    /// The element type of an operand.
    pub(super) fn dtype(&self, operand: usize) -> Lowered<DType> {
        Ok(self.operands[operand].value.array_type()?.dtype)
    }

    /// The sizes of an operand.
    pub(super) fn shape(&self, operand: usize) -> Lowered<Shape> {
        Ok(self.operands[operand].value.array_type()?.shape)
    }

    /// Whether the operand is there, where it may be left out.
    pub(super) fn has(&self, operand: usize) -> bool {
        operand < self.operands.len()
    }

    /// An operand that has to be known: whole numbers along one axis, or a single one.
    pub(super) fn integers(&self, operand: usize) -> Lowered<Vec<i64>> {
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

    /// An operand that is one whole number.
    pub(super) fn integer(&self, operand: usize) -> Lowered<i64> {
        match self.integers(operand)?[..] {
            [number] => Ok(number),
            _ => {
                let expected = format!("one whole number as operand {operand}");
                Err(FormatErrorKind::Unexpected { expected })
            }
        }
    }

    /// The sizes that an operand says.
    pub(super) fn target(&self, operand: usize) -> Lowered<Shape> {
        let sizes = self.integers(operand)?;
        self.check_rank(sizes.len())?;
        let wrong = |_| FormatErrorKind::Unexpected {
            expected: format!("sizes as operand {operand}, none of them negative"),
        };
        sizes.into_iter().map(|size| usize::try_from(size).map_err(wrong)).collect()
    }

    /// # Errors
    /// `limit`.
    pub(super) fn check_rank(&self, rank: usize) -> Lowered<()> {
        let limit = self.limits.rank;
        match rank > limit {
            true => Err(FormatErrorKind::Limit { what: "axes", limit }),
            false => Ok(()),
        }
    }

    /// The axis of a value with so many, counted from the end where it is negative.
    pub(super) fn axis(&self, axis: i64, rank: usize) -> Lowered<usize> {
        let from_front = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
        match usize::try_from(from_front) {
            Ok(axis) if axis < rank => Ok(axis),
            _ => Err(FormatErrorKind::attribute("axis", format!("is {axis}, of {rank} axes"))),
        }
    }

    /// The axes that an operand says, of a value with so many; none twice.
    pub(super) fn axes(&self, operand: usize, rank: usize) -> Lowered<Vec<usize>> {
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
    /// `unexpected`: an operand of another type than the operation takes.
    pub(super) fn check_dtype(&self, takes: impl Fn(DType) -> bool, what: &str) -> Lowered<()> {
        (0..self.operands.len()).try_for_each(|operand| self.check_dtype_of(operand, &takes, what))
    }

    /// # Errors
    /// `unexpected`.
    pub(super) fn check_dtype_of(
        &self,
        operand: usize,
        takes: impl Fn(DType) -> bool,
        what: &str,
    ) -> Lowered<()> {
        let dtype = self.dtype(operand)?;
        if takes(dtype) {
            return Ok(());
        }
        let expected = format!("{what}; operand {operand} is of type {dtype}");
        Err(FormatErrorKind::Unexpected { expected })
    }
}
