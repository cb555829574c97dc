//! NumPy's `einsum`: the equation, and its elaboration into products of two operands.
//!
//! Each operand first loses its repeated labels, by diagonals, and the labels that neither the output nor
//! another operand has, by sums. Then pairs of operands are multiplied, each as a [`ContractionForm`]. The
//! order of the pairs depends on the sizes only, so all machines multiply in the same order: the next pair
//! is the one whose result exceeds its two operands together by the fewest elements; of equal pairs, the
//! one with the fewest multiplications, and of these the first.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::axis_map::AxisMap;
use crate::contraction_form::{ContractionForm, Expansion, Label, LabelledProduct};
use crate::einsum_error::{EinsumError, EinsumViolation};
use crate::explicit::unify;
use crate::shape::Shape;

/// An equation of `einsum`.
///
/// ```
/// use indim_shape::{Einsum, Shape};
///
/// let einsum: Einsum = "ij,jk->ik".parse()?;
/// let plan = einsum.elaborate(&[Shape::from([5, 3]), Shape::from([3, 4])])?;
/// assert_eq!(plan.products[0].form.result(), Shape::from([5, 4]));
/// assert!("ij,j->k".parse::<Einsum>().unwrap_err().to_string().contains("`k`"));
/// # Ok::<(), indim_shape::EinsumError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Einsum {
    equation: String,
    operands: Vec<Term>,
    /// `None` for an implicit output.
    output: Option<Term>,
}

/// The labels of one operand, or of the output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Term {
    /// The labels before `...`; all labels of a term without `...`.
    before: Vec<Label>,
    /// Whether the term has `...`.
    has_ellipsis: bool,
    /// The labels after `...`.
    after: Vec<Label>,
}

/// Base of the labels of the axes of `...`: `ELLIPSIS_BASE + n` is the axis `n` places before the last.
/// Letters have smaller labels.
const ELLIPSIS_BASE: Label = 1 << 16;

/// The steps of an `einsum`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EinsumPlan {
    /// The steps of each operand alone.
    pub operands: Vec<EinsumOperand>,
    /// The products, in order. Each removes its two operands from the list of operands and appends its
    /// result.
    pub products: Vec<EinsumProduct>,
    /// With a single operand: the result axis of each axis that is left after its own steps. Otherwise
    /// the identity, because the last product is the result.
    pub result: AxisMap,
}

/// The steps of one operand of an `einsum`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EinsumOperand {
    /// Diagonals, in order: the second axis is removed, and the first runs along the diagonal of both.
    pub diagonals: Vec<[usize; 2]>,
    /// The axes that are then summed, in ascending order.
    pub summed: Vec<usize>,
}

/// A product of two operands of an `einsum`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EinsumProduct {
    /// The positions of the operands in the list; the first is smaller.
    pub operands: [usize; 2],
    /// The product.
    pub form: ContractionForm,
}

impl fmt::Display for Einsum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.equation)
    }
}

impl core::str::FromStr for Einsum {
    type Err = EinsumError;

    fn from_str(equation: &str) -> Result<Self, EinsumError> {
        let parsed = || {
            let (operands, output) = match equation.split_once("->") {
                Some((operands, output)) => (operands, Some(parse_term(output)?)),
                None => (equation, None),
            };
            let operands = operands.split(',').map(parse_term).collect::<Result<Vec<Term>, _>>()?;
            if operands.len() > Einsum::MAX_OPERANDS {
                return Err(format!("an einsum has at most {} operands", Einsum::MAX_OPERANDS));
            }
            let einsum = Einsum { equation: equation.to_string(), operands, output };
            einsum.check_output().map(|()| einsum)
        };
        parsed().map_err(|reason| EinsumError::new(EinsumViolation::Equation { reason }, equation))
    }
}

fn parse_term(text: &str) -> Result<Term, String> {
    let mut term = Term::default();
    let mut rest = text.trim();
    while let Some(character) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("...") {
            if core::mem::replace(&mut term.has_ellipsis, true) {
                return Err("`...` occurs twice in one operand".to_string());
            }
            rest = after;
            continue;
        }
        let labels = if term.has_ellipsis { &mut term.after } else { &mut term.before };
        match character {
            'a'..='z' | 'A'..='Z' => labels.push(Label::from(character)),
            ' ' => {}
            _ => return Err(format!("`{character}` is not a label: labels are letters")),
        }
        rest = &rest[character.len_utf8()..];
    }
    Ok(term)
}

/// The letter of a label, or `...`.
fn label_text(label: Label) -> String {
    match char::from_u32(label) {
        Some(letter) if label < ELLIPSIS_BASE => letter.to_string(),
        _ => "...".to_string(),
    }
}

impl Term {
    /// The labels of an operand of this rank; `None` if the term does not fit the rank.
    fn labels(&self, rank: usize) -> Option<Vec<Label>> {
        let more = rank.checked_sub(self.before.len() + self.after.len())?;
        if more > 0 && !self.has_ellipsis {
            return None;
        }
        let ellipsis = (0..more as Label).rev().map(|from_end| ELLIPSIS_BASE + from_end);
        Some(
            self.before.iter().copied().chain(ellipsis).chain(self.after.iter().copied()).collect(),
        )
    }

    fn letters(&self) -> impl Iterator<Item = Label> {
        self.before.iter().chain(&self.after).copied()
    }
}

impl Einsum {
    /// Maximum number of operands, because the search for the next pair compares all pairs.
    pub const MAX_OPERANDS: usize = 32;

    /// The number of operands.
    pub fn operand_count(&self) -> usize {
        self.operands.len()
    }

    fn check_output(&self) -> Result<(), String> {
        let Some(output) = &self.output else { return Ok(()) };
        let mut seen = Vec::new();
        for label in output.letters() {
            if !self.operands.iter().any(|term| term.letters().any(|of| of == label)) {
                return Err(format!(
                    "no operand has the label `{}` of the output",
                    label_text(label)
                ));
            }
            if seen.contains(&label) {
                return Err(format!("the output has the label `{}` twice", label_text(label)));
            }
            seen.push(label);
        }
        let has_ellipsis = self.operands.iter().any(|term| term.has_ellipsis);
        match output.has_ellipsis && !has_ellipsis {
            true => Err("the output has `...`, but no operand has".to_string()),
            false => Ok(()),
        }
    }

    /// The steps for operands of these shapes.
    ///
    /// # Errors
    /// [P5, P7, P8](crate::rules#products-p).
    pub fn elaborate(&self, shapes: &[Shape]) -> Result<EinsumPlan, EinsumError> {
        self.plan(shapes).map_err(|violation| EinsumError::new(violation, &self.equation))
    }

    fn plan(&self, shapes: &[Shape]) -> Result<EinsumPlan, EinsumViolation> {
        let (expected, given) = (self.operands.len(), shapes.len());
        if expected != given {
            return Err(EinsumViolation::OperandCount { expected, given });
        }
        let mut operands = Vec::with_capacity(given);
        for (operand, (term, shape)) in self.operands.iter().zip(shapes).enumerate() {
            let labels = term.labels(shape.rank()).ok_or_else(|| EinsumViolation::Rank {
                operand,
                labels: term.letters().count(),
                rank: shape.rank(),
            })?;
            operands.push(Labelled { labels, shape: shape.clone() });
        }
        check_sizes(&operands)?;
        let output = self.output_labels(&operands)?;
        let order = first_appearance(&operands);
        let steps = (0..given).map(|operand| prepare(&mut operands, operand, &output)).collect();
        let products = multiply(&mut operands, &output, &order);
        let position = |label: &Label| output.iter().position(|other| other == label).unwrap_or(0);
        let result = match products.is_empty() {
            true => operands[0].labels.iter().map(position).collect::<Vec<usize>>(),
            false => (0..output.len()).collect(),
        };
        Ok(EinsumPlan { operands: steps, products, result: AxisMap::from(result) })
    }

    /// The labels of the output. An implicit output has the axes of `...`, then the letters that occur
    /// once, in ASCII order.
    fn output_labels(&self, operands: &[Labelled]) -> Result<Vec<Label>, EinsumViolation> {
        let all = || operands.iter().flat_map(|operand| operand.labels.iter().copied());
        let mut ellipsis: Vec<Label> = all().filter(|label| *label >= ELLIPSIS_BASE).collect();
        ellipsis.sort_unstable_by(|a, b| b.cmp(a));
        ellipsis.dedup();
        if let Some(output) = &self.output {
            let rank = output.letters().count() + ellipsis.len();
            return output.labels(rank).ok_or_else(|| EinsumViolation::Equation {
                reason: "the output lacks the axes of `...`".to_string(),
            });
        }
        let is_single = |label: &Label| all().filter(|other| other == label).count() == 1;
        let mut letters: Vec<Label> =
            all().filter(|label| *label < ELLIPSIS_BASE).filter(is_single).collect();
        letters.sort_unstable();
        Ok(ellipsis.into_iter().chain(letters).collect())
    }
}

/// An operand with the label of each axis.
#[derive(Debug, Clone)]
struct Labelled {
    labels: Vec<Label>,
    shape: Shape,
}

impl Labelled {
    fn size(&self, label: Label) -> Option<usize> {
        self.labels.iter().position(|&of| of == label).map(|axis| self.shape[axis])
    }
}

/// P5: axes of one label have one size. An axis of size 1 is expanded, unless the label repeats in its
/// operand.
fn check_sizes(operands: &[Labelled]) -> Result<(), EinsumViolation> {
    let mut sizes: Vec<(Label, usize)> = Vec::new();
    for (operand, Labelled { labels, shape }) in operands.iter().enumerate() {
        for (axis, (&label, &size)) in labels.iter().zip(shape.iter()).enumerate() {
            let mismatch = |expected: usize| EinsumViolation::SizeMismatch {
                label: label_text(label),
                operand,
                axis,
                size,
                expected,
            };
            if let Some(first) = labels[..axis].iter().position(|&other| other == label)
                && shape[first] != size
            {
                return Err(mismatch(shape[first]));
            }
            match sizes.iter_mut().find(|(other, _)| *other == label) {
                Some((_, known)) => *known = unify(*known, size).ok_or_else(|| mismatch(*known))?,
                None => sizes.push((label, size)),
            }
        }
    }
    Ok(())
}

/// The labels in the order in which the equation has them.
fn first_appearance(operands: &[Labelled]) -> Vec<Label> {
    let mut order = Vec::new();
    for &label in operands.iter().flat_map(|operand| &operand.labels) {
        if !order.contains(&label) {
            order.push(label);
        }
    }
    order
}

/// Removes the repeated labels of one operand, and the labels that neither the output nor another
/// operand has. Returns these steps.
fn prepare(operands: &mut [Labelled], operand: usize, output: &[Label]) -> EinsumOperand {
    let Labelled { mut labels, shape } = operands[operand].clone();
    let mut sizes = shape.to_vec();
    let mut diagonals = Vec::new();
    let mut axis = 0;
    while axis < labels.len() {
        match labels[..axis].iter().position(|&other| other == labels[axis]) {
            Some(first) => {
                diagonals.push([first, axis]);
                labels.remove(axis);
                sizes.remove(axis);
            }
            None => axis += 1,
        }
    }
    let is_elsewhere = |label: &Label| {
        let mut others = operands.iter().enumerate().filter(|(other, _)| *other != operand);
        output.contains(label) || others.any(|(_, other)| other.labels.contains(label))
    };
    let summed: Vec<usize> =
        (0..labels.len()).filter(|&axis| !is_elsewhere(&labels[axis])).collect();
    for &axis in summed.iter().rev() {
        labels.remove(axis);
        sizes.remove(axis);
    }
    operands[operand] = Labelled { labels, shape: sizes.into() };
    EinsumOperand { diagonals, summed }
}

/// Multiplies pairs until one operand is left.
fn multiply(operands: &mut Vec<Labelled>, output: &[Label], order: &[Label]) -> Vec<EinsumProduct> {
    let mut products = Vec::new();
    while operands.len() > 1 {
        let uses = LabelUses::new(operands, output, order);
        let positions = 0..operands.len();
        let pairs = positions.clone().flat_map(|x| (x + 1..positions.end).map(move |y| [x, y]));
        let pair = pairs.min_by_key(|&pair| pair_cost(&pair.map(|at| &operands[at]), &uses));
        let [x, y] = pair.expect("invariant: there are two operands");
        let pair = [x, y].map(|at| &operands[at]);
        let (mut result, summed): (Vec<Label>, Vec<Label>) = order
            .iter()
            .copied()
            .filter(|label| pair.iter().any(|operand| operand.labels.contains(label)))
            .partition(|&label| uses.is_needed(&pair, label));
        if operands.len() == 2 {
            // The last product has the output's axes in the output's order.
            result = output.to_vec();
        }
        let own = pair.map(|operand| operand.labels.clone());
        let labels = LabelledProduct { operands: own, result, summed, expands: Expansion::All };
        let shapes = pair.map(|operand| operand.shape.clone());
        let form = ContractionForm::of_labels(&shapes, &labels);
        let form = form.expect("invariant: the sizes of all labels were checked");
        operands.remove(y);
        operands.remove(x);
        operands.push(Labelled { labels: labels.result, shape: form.result() });
        products.push(EinsumProduct { operands: [x, y], form });
    }
    products
}

/// For each label, the number of operands that have it; one more if the output has it.
struct LabelUses(Vec<(Label, usize)>);

impl LabelUses {
    fn new(operands: &[Labelled], output: &[Label], order: &[Label]) -> LabelUses {
        let count = |label: &Label| {
            let having = operands.iter().filter(|operand| operand.labels.contains(label));
            (*label, having.count() + usize::from(output.contains(label)))
        };
        LabelUses(order.iter().map(count).collect())
    }

    /// Whether the output or an operand outside the pair has a label.
    fn is_needed(&self, pair: &[&Labelled; 2], label: Label) -> bool {
        let use_count = self.0.iter().find(|(of, _)| *of == label).map_or(0, |(_, count)| *count);
        let pair_count = pair.iter().filter(|operand| operand.labels.contains(&label)).count();
        use_count > pair_count
    }
}

/// By how many elements the product of a pair exceeds its two operands together, and its multiplications.
fn pair_cost(pair: &[&Labelled; 2], uses: &LabelUses) -> [i128; 2] {
    let [left, right] = pair;
    let size_of = |label: Label| {
        let [of_left, of_right] = pair.map(|operand| operand.size(label).unwrap_or(1));
        unify(of_left, of_right).unwrap_or(1)
    };
    let new = right.labels.iter().filter(|label| left.size(**label).is_none());
    let labels = left.labels.iter().chain(new).copied();
    let kept = labels.clone().filter(|&label| uses.is_needed(pair, label)).map(size_of);
    let of = |operand: &Labelled| element_count(operand.shape.iter().copied());
    let growth = element_count(kept).saturating_sub(of(left)).saturating_sub(of(right));
    [growth, element_count(labels.map(size_of))]
}

/// The number of elements of an array of these sizes; saturates.
fn element_count(sizes: impl Iterator<Item = usize>) -> i128 {
    sizes.fold(1, |count: i128, size| count.saturating_mul(size as i128))
}
