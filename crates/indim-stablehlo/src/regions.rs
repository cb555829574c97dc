//! Loops and branches: their regions become bodies, which may use the values around them.

use indim_builder::{RegionBody, Value};
use indim_graph::DEFAULT_STEP_LIMIT;
use indim_model::FormatErrorKind;
use indim_ops::ArrayType;

use super::elaborate::{ElaborationResult, Elaborator, at};
use super::syntax::{Block, SyntaxOperation};
use indim_xla::value::{XlaValue, types_of};

impl<'m> Elaborator<'m> {
    /// `while`: the first region is the condition, the second one the body; both take the states.
    pub(super) fn while_loop(
        &mut self,
        operation: &'m SyntaxOperation,
        operands: &[XlaValue],
    ) -> ElaborationResult<Vec<XlaValue>> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        let [condition, body] = &operation.regions[..] else {
            return Err(fail(region_count("two", operation)));
        };
        let initial = arrays(operands).map_err(fail)?;
        let types = types_of(&initial).map_err(fail)?;
        let condition = self.region(operation, condition, &types)?;
        let body = self.region(operation, body, &types)?;
        let builder = &self.model_builder.builder;
        let results = builder.loop_of(DEFAULT_STEP_LIMIT, &initial, &condition, &body);
        Ok(results.map_err(|error| fail(error.into()))?.into_iter().map(XlaValue::from).collect())
    }

    /// `case`, or `if`, whose first region is the one of true.
    pub(super) fn conditional(
        &mut self,
        operation: &'m SyntaxOperation,
        operands: &[XlaValue],
        is_if: bool,
    ) -> ElaborationResult<Vec<XlaValue>> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        let (index, count) = (arrays(operands).map_err(fail)?, operation.regions.len());
        let [index] = &index[..] else {
            let (what, expected, given) = ("operands", "one".to_owned(), index.len());
            return Err(fail(FormatErrorKind::Count { what, expected, given }));
        };
        if count == 0 || is_if && count != 2 {
            return Err(fail(region_count(if is_if { "two" } else { "at least one" }, operation)));
        }
        let regions = operation.regions.iter();
        let mut bodies = Vec::with_capacity(count);
        for region in regions {
            bodies.push(self.region(operation, region, &[])?);
        }
        if is_if {
            bodies.reverse();
        }
        let results = self.model_builder.builder.branch_between(index, &bodies);
        Ok(results.map_err(|error| fail(error.into()))?.into_iter().map(XlaValue::from).collect())
    }

    /// Elaborates a region to a body with parameters of these types.
    pub(super) fn region(
        &mut self,
        operation: &'m SyntaxOperation,
        block: &'m Block,
        types: &[ArrayType],
    ) -> ElaborationResult<RegionBody> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        if block.arguments.len() != types.len() {
            let (expected, given) = (types.len().to_string(), block.arguments.len());
            let what = "arguments of a region";
            return Err(fail(FormatErrorKind::Count { what, expected, given }));
        }
        let states = self.model_builder.begin_region(types).map_err(fail)?;
        self.push(block, states.into_iter().map(XlaValue::from).collect(), None, None, None)?;
        let results = arrays(&self.run()?).map_err(fail)?;
        self.model_builder.end_region(&results).map_err(fail)
    }
}

fn region_count(expected: &str, operation: &SyntaxOperation) -> FormatErrorKind {
    let (expected, given) = (expected.to_owned(), operation.regions.len());
    FormatErrorKind::Count { what: "regions", expected, given }
}

fn arrays(values: &[XlaValue]) -> Result<Vec<Value>, FormatErrorKind> {
    values.iter().map(|value| Ok(value.array()?.value.clone())).collect()
}
