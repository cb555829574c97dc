//! The rule of branches: a branch with the same index. Each of its regions computes a region of the branch
//! again, and propagates the cotangents of the results to the arguments. The cotangent of an argument is 0
//! if the region that runs does not use it.

use indim_graph::{Graph, GraphError, Region};
use indim_ops::ArrayType;

use indim_builder::{GraphBuilder, Value};

use super::copy::{given_parameters, inline_used};
use super::sweep::{Sweep, SweptParameters};
use super::{numbered_parameter, numbered_parameters};

/// The regions and operands of a branch.
pub(super) struct BranchRule<'a> {
    pub(super) regions: &'a [Region],
    /// The values of the operands in the builder: the index, then the arguments.
    pub(super) operands: Vec<Value>,
    /// Whether they depend differentiably on a requested parameter.
    pub(super) depends: Vec<bool>,
    /// The integers among them that are known.
    pub(super) integers: Vec<Option<i128>>,
    /// Whether the branch runs in each step of a loop: [`Sweep::of_body`].
    pub(super) is_in_body: bool,
}

impl BranchRule<'_> {
    /// The cotangents of the operands that depend, computed from those of the results; each with the number
    /// of its operand. The cotangent of an argument is added to its sum in `sums`.
    pub(super) fn cotangents(
        &self,
        b: &GraphBuilder,
        of_results: &[Option<Value>],
        sums: &[Option<Value>],
    ) -> Result<Vec<(usize, Value)>, GraphError> {
        let given = of_results.iter().chain(sums).flatten();
        let arguments: Vec<&Value> = self.operands[1..].iter().chain(given).collect();
        let mut bodies = Vec::with_capacity(self.regions.len());
        for region in self.regions {
            let rule = self.region_rule(region, of_results, sums)?;
            let (inner, _) = b.begin_region(&[])?;
            let given = given_parameters(&rule, arguments.iter().copied());
            let results = inline_used(&inner, &rule, rule.outputs(), &given)?;
            bodies.push(inner.end_region(&results)?);
        }
        let of_operands = b.branch_between(&self.operands[0], &bodies)?;
        let dependent = (1..self.operands.len()).filter(|&operand| self.depends[operand]);
        Ok(dependent.zip(of_operands).collect())
    }

    /// The rule of a region. Its parameters are the arguments, the cotangents of the results that have one,
    /// then the sums of the arguments that have one; its outputs are the cotangents of the arguments that
    /// depend.
    fn region_rule(
        &self,
        region: &Region,
        of_results: &[Option<Value>],
        sums: &[Option<Value>],
    ) -> Result<Graph, GraphError> {
        let b = GraphBuilder::new();
        let values = numbered_parameters(&b, 'c', region.parameter_types().enumerate())?;
        let parameters = SweptParameters {
            values: &values,
            wrt: &self.depends[1..],
            integers: &self.integers[1..],
            facts: None,
        };
        let graph = region.graph();
        let mut sweep = Sweep::new(graph, &b, parameters)?;
        if self.is_in_body {
            sweep = sweep.of_body();
        }
        let mut seeds = Vec::new();
        for (number, of) in present(of_results, region.result_types()) {
            seeds.push((number, numbered_parameter(&b, 'd', number, of)?));
        }
        // The sums first: a region may return an argument.
        for (number, of) in present(sums, region.parameter_types()) {
            sweep.begin_sum(graph.parameters()[number], numbered_parameter(&b, 's', number, of)?);
        }
        for (number, seed) in seeds {
            sweep.add(graph.outputs()[number], seed);
        }
        sweep.run()?;
        let dependent = graph.parameters().iter().zip(&self.depends[1..]);
        let results = dependent.filter(|(_, depends)| **depends);
        let results = results.map(|(&parameter, _)| sweep.gradient(parameter));
        b.finish(&results.collect::<Result<Vec<Value>, GraphError>>()?)
    }
}

/// The types of the values that are present, with their numbers.
fn present<'t>(
    values: &[Option<Value>],
    types: impl Iterator<Item = &'t ArrayType>,
) -> impl Iterator<Item = (usize, &'t ArrayType)> {
    types.enumerate().filter(|(number, _)| values[*number].is_some())
}
