//! The custom call `ApproxTopK`, JAX's `approx_max_k` and `approx_min_k`, computed exactly: the first
//! elements of a stable sort.

use indim_builder::{GraphBuilder, Value};
use indim_graph::AxisSlice;
use indim_model::FormatErrorKind;

use super::attribute::AttributeReader;
use super::reducer;
use super::syntax::{Module, SyntaxOperation};
use indim_xla::sort::{Comparator, sort};
use indim_xla::value::ArrayValue;

/// The call with its attributes.
pub(super) struct ApproximateTopK {
    comparator: Comparator,
    axis: i64,
    count: usize,
}

impl ApproximateTopK {
    /// The name of the called function.
    pub(super) const TARGET: &str = "ApproxTopK";

    /// Reads the attributes of a call; `None` for a comparator that indim lacks, or a call that leaves more
    /// elements than it counts.
    pub(super) fn of(
        operation: &SyntaxOperation,
        attributes: &AttributeReader<'_>,
        module: &Module,
    ) -> Option<Self> {
        let called = attributes.optional(operation, "called_computations")?;
        let name = called.of(attributes.text).trim_matches(['[', ']', ' ']);
        let name = name.strip_prefix('@')?.trim_matches('"');
        let block = module.functions[module.function(name)?].body.as_ref()?;
        let comparator =
            reducer::comparator_of_block(block, attributes, operation.operands.len() / 2)?;
        let config = attributes.optional(operation, "mhlo.backend_config")?.of(attributes.text);
        if member(config, "aggregate_to_topk")? != "true" {
            return None;
        }
        let axis = member(config, "reduction_dim")?.parse().ok()?;
        let count = member(config, "top_k")?.parse().ok()?;
        Some(ApproximateTopK { comparator, axis, count })
    }

    /// The first elements of the operands, which are followed by as many initial values.
    ///
    /// # Errors
    /// `attribute`; errors of the builder.
    pub(super) fn build(
        &self,
        b: &GraphBuilder,
        operands: &[ArrayValue],
    ) -> Result<Vec<Value>, FormatErrorKind> {
        let operands = &operands[..operands.len() / 2];
        let mut results = Vec::with_capacity(operands.len());
        for sorted in sort(b, &self.comparator, operands, self.axis)? {
            let shape = sorted.array_type()?.shape;
            let mut slices: Vec<_> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
            let axis = if self.axis < 0 { self.axis + shape.rank() as i64 } else { self.axis };
            let slice = usize::try_from(axis).ok().and_then(|axis| slices.get_mut(axis));
            let problem = || FormatErrorKind::attribute("reduction_dim", "is not an axis");
            *slice.ok_or_else(problem)? = AxisSlice::new(0, self.count, 1);
            results.push(b.slice(sorted, &slices)?);
        }
        Ok(results)
    }
}

/// The value of `name` in `{name = 3 : i64, other = true}`, without its type.
fn member<'t>(config: &'t str, name: &str) -> Option<&'t str> {
    let members = config.trim_matches(['{', '}']).split(',');
    let mut pairs = members.filter_map(|member| member.split_once('='));
    let (_, value) = pairs.find(|(found, _)| found.trim() == name)?;
    value.split_whitespace().next()
}
