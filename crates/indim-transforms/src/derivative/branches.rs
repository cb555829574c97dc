//! The rule of branches: a branch with the same index. Each of its regions computes a region of the branch
//! again, and propagates the cotangents of the results to the arguments. The cotangent of an argument is 0
//! if the region that runs does not use it.

use indim_graph::{Graph, GraphError, Region};
use indim_ops::ArrayType;

use indim_builder::{GraphBuilder, Value};

use super::copy::{given_parameters, inline_used};
use super::sweep::{Sweep, SweptParameters};

/// The regions and operands of a branch.
pub(super) struct BranchRule<'a> {
    pub(super) regions: &'a [Region],
    /// The values of the operands in the builder: the index, then the arguments.
    pub(super) operands: Vec<Value>,
    /// Whether they depend differentiably on a requested parameter.
    pub(super) depends: &'a [bool],
    /// The integers among them that are known.
    pub(super) integers: Vec<Option<i128>>,
}

impl BranchRule<'_> {
    /// The cotangents of the operands that depend, computed from those of the results; each with the number
    /// of its operand.
    pub(super) fn cotangents(
        &self,
        b: &GraphBuilder,
        cotangents: &[Option<Value>],
    ) -> Result<Vec<(usize, Value)>, GraphError> {
        let arguments: Vec<&Value> =
            self.operands[1..].iter().chain(cotangents.iter().flatten()).collect();
        let mut bodies = Vec::with_capacity(self.regions.len());
        for region in self.regions {
            let rule = self.region_rule(region, cotangents)?;
            let (inner, _) = b.begin_region(&[])?;
            let given = given_parameters(&rule, arguments.iter().copied());
            let results = inline_used(&inner, &rule, rule.outputs(), &given)?;
            bodies.push(inner.end_region(&results)?);
        }
        let of_operands = b.branch_between(&self.operands[0], &bodies)?;
        let dependent = (1..self.operands.len()).filter(|&operand| self.depends[operand]);
        Ok(dependent.zip(of_operands).collect())
    }

    /// The rule of a region. Its parameters are the arguments, then the cotangents of the results that have
    /// one; its outputs are the cotangents of the arguments that depend.
    fn region_rule(
        &self,
        region: &Region,
        cotangents: &[Option<Value>],
    ) -> Result<Graph, GraphError> {
        let b = GraphBuilder::new();
        let parameter = |letter: char, number: usize, of: &ArrayType| {
            b.parameter(&format!("{letter}{number}"), of.dtype, of.shape.clone())
        };
        let values =
            region.parameter_types().enumerate().map(|(number, of)| parameter('c', number, of));
        let values = values.collect::<Result<Vec<Value>, GraphError>>()?;
        let parameters = SweptParameters {
            values: &values,
            wrt: &self.depends[1..],
            integers: &self.integers[1..],
        };
        let graph = region.graph();
        let mut sweep = Sweep::new(graph, &b, parameters)?;
        for (number, of) in region.result_types().enumerate() {
            if cotangents[number].is_some() {
                sweep.add(graph.outputs()[number], parameter('d', number, of)?);
            }
        }
        sweep.run()?;
        let dependent = graph.parameters().iter().zip(&self.depends[1..]);
        let results = dependent.filter(|(_, depends)| **depends);
        let results = results.map(|(&parameter, _)| sweep.gradient(parameter));
        b.finish(&results.collect::<Result<Vec<Value>, GraphError>>()?)
    }
}
