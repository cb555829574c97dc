//! Transformed functions as steps of a computation: derivatives of a separately recorded function, and the
//! function for every element of a batch.
//!
//! The function has its own parameters, so that one value can be passed twice and be differentiated once.

use std::collections::HashMap;

use indim::graph::{GraphErrorKind, inline_gradients, jvp_with_facts, vmap_with_facts};
use indim::text::Binding;
use indim::{ArrayType, GraphBuilder, GraphError, Shape, Value};

use crate::computation::Computation;
use crate::error::ComputationError;
use crate::operand::OperandType;

/// A step whose values are the results of a transformed function.
#[derive(Debug, Clone)]
pub(crate) struct Transformed {
    /// The names of these values in later steps.
    pub(crate) names: Vec<String>,
    /// The computation of the function.
    pub(crate) computation: Computation,
    /// The names of the values that its parameters stand for.
    pub(crate) arguments: Vec<String>,
    pub(crate) transformation: Transformation,
}

/// A transformation of a function.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Transformation {
    /// The results, then the gradients with respect to some parameters.
    Gradients {
        /// The positions of these parameters.
        wrt: Vec<usize>,
        /// The names of the cotangents of the results; without them the function has one result, a scalar.
        cotangents: Option<Vec<String>>,
    },
    /// The results, then their tangents.
    Tangents {
        /// The positions of the parameters that have tangents.
        wrt: Vec<usize>,
        /// The names of these tangents.
        tangents: Vec<String>,
    },
    /// The results for every element of a batch.
    Batch {
        /// The batch axis of each argument; `None` for an argument that all elements share.
        in_axes: Vec<Option<i64>>,
        /// The batch axis of each result; `None` for a result that is the same for all elements.
        out_axes: Vec<Option<i64>>,
    },
}

impl Transformed {
    /// Adds the step to a graph; returns a value for each name.
    pub(crate) fn build(
        &self,
        builder: &GraphBuilder,
        values: &HashMap<String, Binding>,
    ) -> Result<Vec<Value>, ComputationError> {
        let array_value = |name: &String| match values.get(name) {
            Some(Binding::Array(value)) => value.clone(),
            _ => unreachable!("invariant: traced values have the names of arrays"),
        };
        let mut arguments: Vec<Value> = self.arguments.iter().map(array_value).collect();
        let types = arguments.iter().map(Value::array_type).collect::<Result<Vec<_>, _>>()?;
        let graph = |types: Vec<ArrayType>| {
            let types: Vec<OperandType> = types.into_iter().map(OperandType::Array).collect();
            self.computation.graph_and_facts(&types)
        };
        let (transformed, facts) = match &self.transformation {
            Transformation::Gradients { wrt, cotangents } => {
                let (graph, facts) = graph(types)?;
                let cotangents: Option<Vec<Value>> =
                    cotangents.as_ref().map(|names| names.iter().map(array_value).collect());
                let (graph, cotangents) = ((&graph, &facts), cotangents.as_deref());
                return Ok(inline_gradients(builder, graph, &arguments, wrt, cotangents)?);
            }
            Transformation::Tangents { wrt, .. } => {
                let (graph, facts) = graph(types)?;
                jvp_with_facts((&graph, &facts), wrt)?
            }
            Transformation::Batch { in_axes, out_axes } => {
                let (size, types) = batch_element(types, in_axes)?;
                let (graph, facts) = graph(types)?;
                vmap_with_facts((&graph, &facts), size, in_axes, out_axes)?
            }
        };
        arguments.extend(self.transformation.directions().iter().map(array_value));
        Ok(builder.inline_with((&transformed, Some(&facts)), &arguments)?)
    }

    /// Whether another step computes the same.
    pub(crate) fn is_same(&self, other: &Transformed) -> bool {
        self.names == other.names
            && self.arguments == other.arguments
            && self.transformation == other.transformation
            && self.computation.is_same(&other.computation)
    }
}

impl Transformation {
    /// The names of the tangents.
    fn directions(&self) -> &[String] {
        match self {
            Transformation::Tangents { tangents, .. } => tangents,
            Transformation::Gradients { .. } | Transformation::Batch { .. } => &[],
        }
    }
}

/// The number of elements of a batch, and the types of the arguments of one element. Tracing counted the axes
/// from the front, and checked that they exist.
///
/// # Errors
/// `argument-type` if arguments have different numbers of elements.
fn batch_element(
    types: Vec<ArrayType>,
    in_axes: &[Option<i64>],
) -> Result<(usize, Vec<ArrayType>), GraphError> {
    let mut size = None;
    let mut elements = Vec::with_capacity(types.len());
    for (operand, (of, axis)) in types.iter().zip(in_axes).enumerate() {
        let Some(axis) = axis.and_then(|axis| usize::try_from(axis).ok()) else {
            elements.push(of.clone());
            continue;
        };
        let mut sizes = of.shape.to_vec();
        let found = sizes.remove(axis);
        elements.push(ArrayType::new(of.dtype, Shape::from(sizes.clone())));
        if *size.get_or_insert(found) != found {
            sizes.insert(axis, size.unwrap_or(found));
            let expected = ArrayType::new(of.dtype, Shape::from(sizes));
            let named = types
                .iter()
                .enumerate()
                .map(|(index, of)| (format!("argument {index}"), of.clone()));
            let kind = GraphErrorKind::ArgumentType { operand, expected };
            return Err(GraphError::new(kind, "vmap", named.collect()));
        }
    }
    Ok((size.unwrap_or(0), elements))
}
