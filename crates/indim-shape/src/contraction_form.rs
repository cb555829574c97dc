//! Elaboration of products of two operands: the explicit form of each rule.
//!
//! A rule gives each axis of the operands a label. All axes with the same label form one axis of the
//! product, which is either an axis of the result or summed. `contraction_error.rs` has the errors.

use alloc::vec::Vec;
use core::fmt;

use crate::axis_map::AxisMap;
use crate::contraction_error::{ContractionError, ContractionViolation};
use crate::contraction_rule::{ContractionRule, DotDimensions};
use crate::explicit::unify;
use crate::shape::Shape;

/// The explicit form of a product of two operands: both are broadcast to one shape, and the products of their
/// elements are summed along its last axes.
///
/// ```
/// use indim_shape::{ContractionRule, Shape};
///
/// let form = ContractionRule::Matmul.elaborate(&[Shape::from([5, 3]), Shape::from([3, 4])])?;
/// assert_eq!(form.shape(), &Shape::from([5, 4, 3])); // rows, columns, summed
/// assert_eq!((&form.maps()[0][..], &form.maps()[1][..]), (&[0, 2][..], &[2, 1][..]));
/// assert_eq!(form.to_string(), "[5, 3] at [0, 2], [3, 4] at [2, 1] of [5, 4, 3*]: [5, 4]");
/// # Ok::<(), indim_shape::ContractionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractionForm {
    operands: [Shape; 2],
    maps: [AxisMap; 2],
    shape: Shape,
    summed: usize,
}

impl ContractionForm {
    /// The operands' shapes.
    pub fn operands(&self) -> &[Shape; 2] {
        &self.operands
    }

    /// For each operand, the axis of [`ContractionForm::shape`] of each of its axes.
    pub fn maps(&self) -> &[AxisMap; 2] {
        &self.maps
    }

    /// The shape to which both operands are broadcast: the axes of the result, then the summed ones.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of summed axes.
    pub fn summed(&self) -> usize {
        self.summed
    }

    /// The result's shape.
    pub fn result(&self) -> Shape {
        Shape::from(&self.shape[..self.shape.rank() - self.summed])
    }

    /// The form of operands whose axes have these labels.
    pub(crate) fn of_labels(
        operands: &[Shape; 2],
        labels: &LabelledProduct,
    ) -> Result<ContractionForm, ContractionViolation> {
        let all: Vec<Label> = labels.result.iter().chain(&labels.summed).copied().collect();
        let mut sizes = Vec::with_capacity(all.len());
        for &label in &all {
            sizes.push(labels.size(operands, label)?);
        }
        let position = |label: &Label| all.iter().position(|other| other == label).unwrap_or(0);
        let map = |of: &Vec<Label>| AxisMap::from(of.iter().map(position).collect::<Vec<usize>>());
        Ok(ContractionForm {
            operands: operands.clone(),
            maps: labels.operands.each_ref().map(map),
            shape: sizes.into(),
            summed: labels.summed.len(),
        })
    }
}

/// Marks summed axes with a star.
impl fmt::Display for ContractionForm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (operand, map)) in self.operands.iter().zip(&self.maps).enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(formatter, "{separator}{operand} at {map}")?;
        }
        formatter.write_str(" of [")?;
        for (axis, size) in self.shape.iter().enumerate() {
            let separator = if axis == 0 { "" } else { ", " };
            let star = if axis >= self.shape.rank() - self.summed { "*" } else { "" };
            write!(formatter, "{separator}{size}{star}")?;
        }
        write!(formatter, "]: {}", self.result())
    }
}

/// The name of an axis of a product.
pub(crate) type Label = u32;

/// A product as lists of labels in axis order: for each operand, for the result and for the summed axes.
#[derive(Debug, Clone)]
pub(crate) struct LabelledProduct {
    pub(crate) operands: [Vec<Label>; 2],
    pub(crate) result: Vec<Label>,
    pub(crate) summed: Vec<Label>,
    /// The axes that may be expanded from size 1 to the size of the other operand's axis.
    pub(crate) expands: Expansion,
}

/// The axes that are expanded from size 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expansion {
    /// None: paired axes have equal sizes.
    None,
    /// Those of the result, as in `matmul`.
    Kept,
    /// All, as in `einsum`.
    All,
}

impl LabelledProduct {
    /// The size of the axes of a label.
    fn size(&self, operands: &[Shape; 2], label: Label) -> Result<usize, ContractionViolation> {
        let is_summed = self.summed.contains(&label);
        let expands = match self.expands {
            Expansion::None => false,
            Expansion::Kept => !is_summed,
            Expansion::All => true,
        };
        let axis = |operand: usize| self.operands[operand].iter().position(|&of| of == label);
        match (axis(0), axis(1)) {
            (Some(x), Some(y)) => {
                let sizes = [operands[0][x], operands[1][y]];
                let size = if expands { unify(sizes[0], sizes[1]) } else { Some(sizes[0]) };
                size.filter(|_| expands || sizes[0] == sizes[1])
                    .ok_or(ContractionViolation::SizeMismatch { axes: [x, y], sizes, is_summed })
            }
            (Some(x), None) => Ok(operands[0][x]),
            (None, Some(y)) => Ok(operands[1][y]),
            (None, None) => unreachable!("invariant: an operand has each label"),
        }
    }
}

impl ContractionRule {
    /// The explicit form for operands of these shapes.
    ///
    /// # Errors
    /// [P1 to P5](crate::rules#products-p).
    pub fn elaborate(&self, operands: &[Shape; 2]) -> Result<ContractionForm, ContractionError> {
        let labels = self.labels(operands.each_ref().map(|shape| shape.rank()));
        let form = labels.and_then(|labels| ContractionForm::of_labels(operands, &labels));
        form.map_err(|violation| ContractionError::new(violation, self.clone(), operands.clone()))
    }

    /// The labels of the axes of operands with these ranks.
    fn labels(&self, ranks: [usize; 2]) -> Result<LabelledProduct, ContractionViolation> {
        match self {
            ContractionRule::Matmul => matmul(check_min_ranks(ranks, [1, 1])?),
            ContractionRule::Matvec => {
                let [x, y] = check_min_ranks(ranks, [2, 1])?;
                Ok(with_batch([x, y], &[MATRIX_ROW, SUMMED_LABEL], &[SUMMED_LABEL]))
            }
            ContractionRule::Vecmat => {
                let [x, y] = check_min_ranks(ranks, [1, 2])?;
                Ok(with_batch([x, y], &[SUMMED_LABEL], &[SUMMED_LABEL, MATRIX_COLUMN]))
            }
            ContractionRule::Dot | ContractionRule::Inner if ranks.contains(&0) => {
                pairs(ranks, [&[], &[]], [&[], &[]])
            }
            ContractionRule::Dot => {
                let [x, y] = ranks;
                pairs(ranks, [&[], &[]], [&[x - 1], &[y.saturating_sub(2)]])
            }
            ContractionRule::Inner => {
                let [x, y] = ranks;
                pairs(ranks, [&[], &[]], [&[x - 1], &[y - 1]])
            }
            ContractionRule::Vecdot { axis } => vecdot(*axis, check_min_ranks(ranks, [1, 1])?),
            ContractionRule::Tensordot { x, y } => {
                let summed = [axes(x, 0, ranks[0], true)?, axes(y, 1, ranks[1], true)?];
                pairs(ranks, [&[], &[]], [&summed[0], &summed[1]])
            }
            ContractionRule::DotGeneral(dimensions) => dot_general(dimensions, ranks),
        }
    }
}

/// P1: each operand has at least this many axes.
fn check_min_ranks(ranks: [usize; 2], min: [usize; 2]) -> Result<[usize; 2], ContractionViolation> {
    match (0..2).find(|&operand| ranks[operand] < min[operand]) {
        Some(operand) => Err(ContractionViolation::TooFewAxes { operand, min: min[operand] }),
        None => Ok(ranks),
    }
}

/// Labels of the matrix axes. Batch axes are numbered from 0, so the labels never collide.
const MATRIX_ROW: Label = Label::MAX - 2;
const MATRIX_COLUMN: Label = Label::MAX - 1;
const SUMMED_LABEL: Label = Label::MAX;

fn matmul(ranks: [usize; 2]) -> Result<LabelledProduct, ContractionViolation> {
    let x: &[Label] = if ranks[0] == 1 { &[SUMMED_LABEL] } else { &[MATRIX_ROW, SUMMED_LABEL] };
    let y: &[Label] = if ranks[1] == 1 { &[SUMMED_LABEL] } else { &[SUMMED_LABEL, MATRIX_COLUMN] };
    Ok(with_batch(ranks, x, y))
}

/// The product of operands whose last axes have the labels `x` and `y`. The axes before them are batch
/// axes, which broadcast.
fn with_batch(ranks: [usize; 2], x: &[Label], y: &[Label]) -> LabelledProduct {
    let matrix_labels = [x, y];
    let batch = [0, 1].map(|operand: usize| ranks[operand] - matrix_labels[operand].len());
    let batch_rank = batch[0].max(batch[1]) as Label;
    let operands = [0, 1].map(|operand: usize| {
        let batch = batch_rank - batch[operand] as Label..batch_rank;
        batch.chain(matrix_labels[operand].iter().copied()).collect::<Vec<Label>>()
    });
    let row_and_column = [MATRIX_ROW, MATRIX_COLUMN]
        .into_iter()
        .filter(|label| matrix_labels.concat().contains(label));
    let result = (0..batch_rank).chain(row_and_column).collect();
    LabelledProduct { operands, result, summed: [SUMMED_LABEL].into(), expands: Expansion::Kept }
}

/// The summed axis moves from the end of each operand to `axis`.
fn vecdot(axis: i64, ranks: [usize; 2]) -> Result<LabelledProduct, ContractionViolation> {
    let axes = [axes(&[axis], 0, ranks[0], true)?[0], axes(&[axis], 1, ranks[1], true)?[0]];
    let mut product = with_batch(ranks, &[SUMMED_LABEL], &[SUMMED_LABEL]);
    for (labels, axis) in product.operands.iter_mut().zip(axes) {
        labels.pop();
        labels.insert(axis, SUMMED_LABEL);
    }
    Ok(product)
}

fn dot_general(
    dimensions: &DotDimensions,
    ranks: [usize; 2],
) -> Result<LabelledProduct, ContractionViolation> {
    let DotDimensions { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } = dimensions;
    let [x, y] = ranks;
    let x = axes(&[&lhs_batch[..], lhs_contracting].concat(), 0, x, false)?;
    let y = axes(&[&rhs_batch[..], rhs_contracting].concat(), 1, y, false)?;
    let ((x_batch, x_summed), (y_batch, y_summed)) =
        (x.split_at(lhs_batch.len()), y.split_at(rhs_batch.len()));
    pairs(ranks, [x_batch, y_batch], [x_summed, y_summed])
}

/// The product that pairs the listed axes. The result has the batch axes, then the remaining axes of
/// operand 0, then those of operand 1.
fn pairs(
    ranks: [usize; 2],
    batch: [&[usize]; 2],
    summed: [&[usize]; 2],
) -> Result<LabelledProduct, ContractionViolation> {
    for [x, y] in [batch, summed] {
        if x.len() != y.len() {
            return Err(ContractionViolation::AxisCount { counts: [x.len(), y.len()] });
        }
    }
    let mut operands: [Vec<Label>; 2] = [Vec::new(), Vec::new()];
    let (batches, sums) = (batch[0].len() as Label, summed[0].len() as Label);
    let mut next = batches + sums;
    let mut result: Vec<Label> = (0..batches).collect();
    for operand in 0..2 {
        for axis in 0..ranks[operand] {
            let position = |axes: &[usize]| axes.iter().position(|&of| of == axis);
            let label = match (position(batch[operand]), position(summed[operand])) {
                (Some(paired), _) => paired as Label,
                (_, Some(paired)) => batches + paired as Label,
                (None, None) => {
                    result.push(next);
                    next += 1;
                    next - 1
                }
            };
            operands[operand].push(label);
        }
    }
    let summed = (batches..batches + sums).collect();
    Ok(LabelledProduct { operands, result, summed, expands: Expansion::None })
}

/// P2 and P3: each axis exists and occurs once. Returns the axes counted from the front, in the given order.
fn axes(
    given: &[i64],
    operand: usize,
    rank: usize,
    allows_negative: bool,
) -> Result<Vec<usize>, ContractionViolation> {
    let mut axes = Vec::with_capacity(given.len());
    for &axis in given {
        let from_front = if axis < 0 && allows_negative {
            axis.checked_add_unsigned(rank as u64)
        } else {
            Some(axis)
        };
        let counted = from_front.and_then(|axis| usize::try_from(axis).ok());
        match counted.filter(|&axis| axis < rank) {
            Some(counted) if axes.contains(&counted) => {
                return Err(ContractionViolation::AxesNotUnique { operand, axis });
            }
            Some(counted) => axes.push(counted),
            None => return Err(ContractionViolation::AxisOutOfRange { operand, axis }),
        }
    }
    Ok(axes)
}
