//! Bodies of loops and branches, and their captured values.
//!
//! A value of an outer builder that a body uses becomes a parameter of the body.

use indim_graph::{Graph, GraphError, Region, ValueId};
use indim_ops::ArrayType;

use crate::builder::{GraphBuilder, Value};

/// A body of a loop or branch, and the values of the outer builder that it uses.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::{Array, evaluate};
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [])?;
/// let (inner, _) = b.begin_region(&[])?;
/// let root = inner.end_region(&[inner.sqrt(&x)?])?; // x is a value outside the body
/// let (inner, _) = b.begin_region(&[])?;
/// let zero = inner.end_region(&[inner.scalar(0.0f32)])?;
/// let graph = b.finish(&b.branch_between(&x.ge(0), &[zero, root])?)?;
/// assert_eq!(evaluate(&graph, &[Array::from_scalar(9.0f32)])?[0].scalar::<f32>(), Ok(3.0));
/// assert_eq!(evaluate(&graph, &[Array::from_scalar(-9.0f32)])?[0].scalar::<f32>(), Ok(0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RegionBody {
    graph: Graph,
    /// The outer values; their parameters follow the body's own parameters.
    captures: Vec<ValueId>,
}

impl GraphBuilder {
    /// A builder for the body of a loop or branch, and its parameters, of these types. The body may use
    /// values of this builder; [`GraphBuilder::end_region`] completes it.
    ///
    /// # Errors
    /// E5 `too-large`.
    pub fn begin_region(
        &self,
        parameters: &[ArrayType],
    ) -> Result<(GraphBuilder, Vec<Value>), GraphError> {
        let inner = self.body_builder();
        let states = named_parameters(&inner, "s", parameters)?;
        Ok((inner, states))
    }

    /// The value that stands for `value` in this builder: `value` itself, or, in a body, the parameter
    /// for a value of an outer builder.
    ///
    /// # Errors
    /// `foreign-value`; the first error of an operator.
    #[track_caller]
    pub fn local(&self, value: &Value) -> Result<Value, GraphError> {
        Ok(self.value(self.id("capture", value)?))
    }

    /// The body that this builder has built, with these results.
    ///
    /// # Errors
    /// The first error of an operator; `foreign-value`.
    #[track_caller]
    pub fn end_region(&self, results: &[Value]) -> Result<RegionBody, GraphError> {
        // A result may be an outer value, which `finish` captures.
        let graph = self.finish(results)?;
        Ok(RegionBody { graph, captures: self.captures() })
    }
}

impl RegionBody {
    /// The number of parameters that are not values of the outer builder.
    pub fn parameter_count(&self) -> usize {
        self.graph.parameters().len() - self.captures.len()
    }

    /// The types of the results.
    pub fn result_types(&self) -> impl ExactSizeIterator<Item = &ArrayType> {
        self.graph.outputs().iter().map(|&output| &self.graph[output].array_type)
    }

    /// The graph of the body, and the values of `outer` that its last parameters stand for.
    pub fn parts(&self, outer: &GraphBuilder) -> (&Graph, Vec<Value>) {
        (&self.graph, self.captures.iter().map(|&id| outer.value(id)).collect())
    }

    /// Adds the nodes of the body to `b` and returns the results. `b` is `outer`, or the builder of a
    /// body inside it.
    ///
    /// # Errors
    /// `wrong-operand-count` for another number of `arguments` than parameters; `foreign-value`.
    pub fn inline_into(
        &self,
        b: &GraphBuilder,
        outer: &GraphBuilder,
        arguments: &[Value],
    ) -> Result<Vec<Value>, GraphError> {
        let (graph, captures) = self.parts(outer);
        let arguments: Vec<Value> = arguments.iter().cloned().chain(captures).collect();
        b.inline(graph, &arguments)
    }

    /// The outer values that several bodies use, each value once.
    pub(super) fn all_captured<'a>(
        bodies: impl IntoIterator<Item = &'a RegionBody>,
    ) -> Vec<ValueId> {
        let mut all = Vec::new();
        for value in bodies.into_iter().flat_map(|body| &body.captures) {
            if !all.contains(value) {
                all.push(*value);
            }
        }
        all
    }

    /// The region of this body, whose parameters are those of the body, then all values of `captures`,
    /// which several bodies share.
    pub(super) fn region(
        &self,
        outer: &GraphBuilder,
        captures: &[ValueId],
    ) -> Result<Region, GraphError> {
        if *captures == self.captures {
            return Ok(Region::new(self.graph.clone()));
        }
        let count = self.parameter_count();
        let own = self.graph.parameters()[..count].iter();
        let own: Vec<ArrayType> = own.map(|&it| self.graph[it].array_type.clone()).collect();
        let types: Vec<ArrayType> = captures.iter().map(|&value| outer.type_of(value)).collect();
        let b = GraphBuilder::new();
        let mut arguments = named_parameters(&b, "s", &own)?;
        let all = named_parameters(&b, "c", &types)?;
        for value in &self.captures {
            let position = captures.iter().position(|other| other == value);
            arguments.extend(position.map(|position| all[position].clone()));
        }
        let results = b.inline(&self.graph, &arguments)?;
        Ok(Region::new(b.finish(&results)?))
    }
}

/// Parameters of these types, named by a letter and a number.
fn named_parameters(
    b: &GraphBuilder,
    letter: &str,
    types: &[ArrayType],
) -> Result<Vec<Value>, GraphError> {
    let named = types.iter().enumerate();
    named
        .map(|(number, of)| b.parameter(&format!("{letter}{number}"), of.dtype, of.shape.clone()))
        .collect()
}
