//! Operand axes whose sizes must agree, such as the summed axes of a product, compared symbolically.

use indim_shape::Diagnostic;

use super::broadcast::shape_problem;
use super::condition::NamedCondition;
use super::node::{ValueIndex, operator_label};
use super::stated::StatedNode;
use super::{Outline, SymbolicSize};

/// Two lists of operand axes: the products of their sizes must agree. Each list has the position of its
/// operand, then the axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisPair {
    /// The axes of both operands.
    pub axes: [(usize, Vec<usize>); 2],
    /// Whether a size of 1 agrees with every other size.
    pub may_expand: bool,
}

impl AxisPair {
    /// Two axes, each after its operand, that have the same size.
    ///
    /// ```
    /// use indim_model::outline::AxisPair;
    ///
    /// let summed = AxisPair::equal((0, 2), (1, 1));
    /// assert_eq!((summed.axes[1].0, summed.may_expand), (1, false));
    /// ```
    pub fn equal((first, axis): (usize, usize), (second, other): (usize, usize)) -> Self {
        AxisPair { axes: [(first, vec![axis]), (second, vec![other])], may_expand: false }
    }
}

/// The comparison of all axis pairs of a node: its first error, and conditions on open sizes.
#[derive(Default)]
pub(super) struct Agreement {
    pub(super) problem: Option<Diagnostic>,
    pub(super) conditions: Vec<NamedCondition>,
}

impl Outline {
    /// Compares the sizes of the axis pairs of a node; axes of unknown size are not compared.
    pub(super) fn agreement(&self, node: &StatedNode) -> Agreement {
        let mut agreement = Agreement::default();
        for pair in &node.axis_pairs {
            let [first, second] = pair.axes.each_ref().map(|axes| self.product_of(node, axes));
            let (Some(first), Some(second)) = (first, second) else { continue };
            if first == second || (pair.may_expand && (first.is(1) || second.is(1))) {
                continue;
            }
            if first.number().is_some() && second.number().is_some() {
                let problem = || self.disagreement(node, pair, [&first, &second]);
                agreement.problem.get_or_insert_with(problem);
                continue;
            }
            let equal = NamedCondition::equal(&first, &second);
            let may_be_one = |size: &SymbolicSize| {
                pair.may_expand && size.may_be_equal(&SymbolicSize::known(1), 1)
            };
            let ones = [first, second].into_iter().filter(may_be_one).collect();
            agreement.conditions.push(NamedCondition { ones, ..equal });
        }
        if agreement.problem.is_some() {
            agreement.conditions.clear();
        }
        agreement
    }

    /// The product of the sizes of some axes of an operand.
    fn product_of(
        &self,
        node: &StatedNode,
        (operand, axes): &(usize, Vec<usize>),
    ) -> Option<SymbolicSize> {
        let value: ValueIndex = (*node.operands.get(*operand)?)?;
        let sizes = self.values[value].value_type.sizes.as_deref()?;
        let sizes: Vec<&SymbolicSize> =
            axes.iter().map(|&axis| sizes.get(axis)).collect::<Option<_>>()?;
        SymbolicSize::product(sizes)
    }

    fn disagreement(
        &self,
        node: &StatedNode,
        pair: &AxisPair,
        sizes: [&SymbolicSize; 2],
    ) -> Diagnostic {
        let typed = |&value: &ValueIndex| {
            let value = &self.values[value];
            (indim_graph::terminal::printable(&value.name), value.value_type.clone())
        };
        let axes = |position: usize| {
            let (operand, axes) = &pair.axes[position];
            let name = node.operands[*operand].as_ref().map(typed).unwrap_or_default().0;
            let numbers: Vec<String> = axes.iter().map(usize::to_string).collect();
            let noun = if axes.len() == 1 { "axis" } else { "axes" };
            format!("{noun} {} of `{name}` ({})", numbers.join(", "), sizes[position])
        };
        let problem = format!("{} meets {}", axes(0), axes(1));
        let operands: Vec<_> = node.operands.iter().flatten().map(typed).collect();
        shape_problem(&operator_label(&node.operator, &node.name), &problem, &operands)
    }
}
