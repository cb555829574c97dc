//! Forward mode, derived from reverse mode.

use indim_graph::{Graph, GraphError, remove_unused};
use indim_ops::ArrayType;

use super::{Differentiate, parameters_in, unused_parameter_name};
use indim_builder::{GraphBuilder, Value};

/// The Jacobian-vector product of `graph` with respect to the parameters `wrt`.
///
/// Transposing a pullback, which is linear in the cotangents, needs no value of a cotangent, so zeros take
/// their place.
#[track_caller]
pub(super) fn jvp(graph: &Graph, wrt: &[usize]) -> Result<Graph, GraphError> {
    let pullback = graph.vjp(wrt)?;
    let (own, all) = (graph.parameters().len(), pullback.parameters().len());
    let pushforward = pullback.vjp(&(own..all).collect::<Vec<usize>>())?;
    let b = GraphBuilder::new();
    let mut arguments = parameters_in(graph, &b)?;
    let mut outputs = b.inline(graph, &arguments)?;
    for &cotangent in &pullback.parameters()[own..] {
        arguments.push(b.zeros(&pullback[cotangent].array_type)?);
    }
    for (position, &parameter) in wrt.iter().enumerate() {
        let array_type = graph[graph.parameters()[parameter]].array_type.clone();
        arguments.push(tangent_parameter(&b, position, array_type)?);
    }
    outputs.extend(b.inline(&pushforward, &arguments)?);
    Ok(remove_unused(&b.finish(&outputs)?).into_owned())
}

/// A parameter for the tangent of the parameter at `position` in `wrt`, with a new name.
fn tangent_parameter(
    b: &GraphBuilder,
    position: usize,
    of: ArrayType,
) -> Result<Value, GraphError> {
    b.parameter(&unused_parameter_name(b, "tangent", position), of.dtype, of.shape)
}
