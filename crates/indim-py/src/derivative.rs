//! Derivatives as steps of a computation: the results of a separately recorded function, with the gradients
//! with respect to some of its parameters.
//!
//! The function has its own parameters, so that one value can be passed twice and be differentiated once.

use std::collections::HashMap;

use indim::text::Binding;
use indim::{Differentiate, GraphBuilder, Value};

use crate::computation::Computation;
use crate::error::ComputationError;
use crate::operand::OperandType;

/// A step whose values are the results of a function, then its gradients.
#[derive(Debug, Clone)]
pub(crate) struct Derivative {
    /// The names of these values in later steps.
    pub(crate) names: Vec<String>,
    /// The computation of the function.
    pub(crate) computation: Computation,
    /// The names of the values that its parameters stand for.
    pub(crate) arguments: Vec<String>,
    /// The positions of the parameters with respect to which it is differentiated.
    pub(crate) wrt: Vec<usize>,
    /// The names of the cotangents of the function's results; without them the function has one result,
    /// a scalar.
    pub(crate) cotangents: Option<Vec<String>>,
}

impl Derivative {
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
        let mut types = Vec::with_capacity(arguments.len());
        for argument in &arguments {
            types.push(OperandType::Array(argument.array_type()?));
        }
        let graph = self.computation.graph(&types, &[], false)?;
        let derived = match &self.cotangents {
            Some(_) => graph.value_and_vjp(&self.wrt)?,
            None => graph.value_and_gradient(&self.wrt)?,
        };
        arguments.extend(self.cotangents.iter().flatten().map(array_value));
        Ok(builder.inline(&derived, &arguments)?)
    }

    /// Whether another derivative computes the same.
    pub(crate) fn is_same(&self, other: &Derivative) -> bool {
        self.names == other.names
            && self.arguments == other.arguments
            && self.wrt == other.wrt
            && self.cotangents == other.cotangents
            && self.computation.is_same(&other.computation)
    }
}
