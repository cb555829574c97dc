//! Derivatives: graphs that compute the gradients of other graphs.
//!
//! Reverse mode: from the outputs back to the parameters, the rule of each node computes the *cotangents* of
//! its operands from its own cotangent. A cotangent has the type of its value. The cotangents of all uses of
//! a value are added. Rules build graphs of the same operations and reductions, so a derivative is optimised,
//! compiled and differentiated like any other graph.
//!
//! Read `sweep.rs` first, then `dispatch.rs`. The rule of an operation is the function with the name of
//! the operation in `elementary.rs`, `arithmetic.rs`, `choice.rs` or `complex.rs`; `flat.rs` lists the
//! operations without a derivative. `structural.rs`, `take.rs`, `sort.rs`, `reduction.rs`, `scan.rs` and
//! `contraction.rs` have the rules of other kinds of nodes, `branches.rs` and `loops.rs` those of branches
//! and of loops whose length `trip_count.rs` finds; `rule.rs` defines the arguments and results of rules.
//! `selection.rs` finds parameters by name.
//! `copy.rs` copies the used part of a graph. `forward.rs` has forward mode: it carries tangents through
//! loops and branches, and derives the rest from reverse mode.
//!
//! For complex numbers, the cotangent of `x` is that of `y` times the conjugate of `∂y/∂x`, like in PyTorch:
//! the gradient of a real output is the direction of ascent, `∂/∂re + i ∂/∂im`. JAX returns its conjugate.

mod arithmetic;
mod branches;
mod choice;
mod complex;
mod contraction;
mod copy;
mod dispatch;
mod elementary;
mod flat;
mod forward;
mod loops;
mod reduction;
mod rule;
mod scan;
mod selection;
mod sort;
mod structural;
mod sweep;
mod take;
mod trip_count;

use indim_graph::{
    Graph, GraphError, GraphErrorKind, Literal, Node, NodeKind, SizeFacts, ValueId, remove_unused,
};
use indim_ops::{ArrayType, DTypeClass};

use crate::BuildResult;
use indim_builder::{GraphBuilder, Value};
pub use selection::ParameterSelection;
use sweep::{Sweep, SweptParameters};

/// The name of the operation in errors about parameters and outputs of a graph.
const GRADIENT: &str = "gradient";

/// Derivatives of a graph, as graphs of the same operations.
///
/// `wrt` are the parameters with respect to which the graph is differentiated, by position, `&[0]`, or by
/// name, `&["x"]`.
pub trait Differentiate {
    /// The vector-Jacobian product: a graph that computes the gradients with respect to the parameters `wrt`
    /// from a cotangent for each output.
    ///
    /// Its parameters are those of this graph, followed by one for each output of floats or complex numbers,
    /// with the output's type, in order. Its outputs are the gradients, each with the type of its parameter.
    /// The gradient is 0 for a parameter on which no output depends.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_transforms::Differentiate;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [2, 3])?;
    /// let v = b.parameter("v", DType::F32, [3])?;
    /// let graph = b.finish(&[b.mul(&x, &v, &[1])?])?;
    ///
    /// let pullback = graph.vjp(&["v"])?; // or `&[1]`
    /// let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 10.0, 20.0, 30.0])?;
    /// let v = Array::new([3], vec![5.0f32; 3])?;
    /// let cotangent = Array::new([2, 3], vec![1.0f32, 1.0, 1.0, 1.0, 1.0, 2.0])?;
    /// let gradients = evaluate(&pullback, &[x, v, cotangent])?;
    /// assert_eq!(gradients[0].elements::<f32>(), Ok(&[11.0, 22.0, 63.0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `unknown-parameter`; `not-differentiable` for a parameter that is neither of floats nor of complex
    /// numbers, and for nodes without a rule that depend on a parameter in `wrt`: `nextafter`,
    /// `trigamma`, loops of unknown length, scatters that multiply, and cumulative products of complex
    /// numbers; E5 `too-large` if sums in double precision, or the saved states of a loop, do not fit into
    /// memory; `region-limit` if the body of a loop becomes too large.
    fn vjp(&self, wrt: &(impl ParameterSelection + ?Sized)) -> Result<Graph, GraphError>;

    /// Like [`Differentiate::vjp`], with the outputs of this graph before the gradients.
    ///
    /// # Errors
    /// Like [`Differentiate::vjp`].
    fn value_and_vjp(&self, wrt: &(impl ParameterSelection + ?Sized)) -> Result<Graph, GraphError>;

    /// A graph that computes the gradients of the only output, a real scalar, with respect to the parameters
    /// `wrt`. It has the parameters of this graph.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_transforms::Differentiate;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::{DType, ReduceOp};
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F64, [3])?;
    /// let graph = b.finish(&[b.reduce(ReduceOp::Add, x.square(), 0)?])?;
    /// let x = Array::new([3], vec![1.0, -2.0, 3.0])?;
    /// let results = evaluate(&graph.value_and_gradient(&[0])?, &[x])?;
    /// assert_eq!(results[0].elements::<f64>(), Ok(&[14.0][..]));
    /// assert_eq!(results[1].elements::<f64>(), Ok(&[2.0, -4.0, 6.0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `not-one-number` unless the graph has one output, a real scalar; those of [`Differentiate::vjp`].
    fn gradient(&self, wrt: &(impl ParameterSelection + ?Sized)) -> Result<Graph, GraphError>;

    /// Like [`Differentiate::gradient`], with the output of this graph before the gradients.
    ///
    /// # Errors
    /// Like [`Differentiate::gradient`].
    fn value_and_gradient(
        &self,
        wrt: &(impl ParameterSelection + ?Sized),
    ) -> Result<Graph, GraphError>;

    /// The Jacobian-vector product: a graph that computes the derivative of each output in the direction of
    /// tangents of the parameters `wrt`.
    ///
    /// Its parameters are those of this graph, followed by one tangent for each parameter in `wrt`, with its
    /// type. Its outputs are those of this graph, followed by the tangent of each output of floats
    /// or complex numbers, with the output's type.
    ///
    /// The graph is the vector-Jacobian product of the vector-Jacobian product: the pullback is linear in the
    /// cotangents, so its own pullback maps tangents to tangents. A loop carries the tangents of its states
    /// next to them, so the length of a loop may be unknown.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_transforms::Differentiate;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F64, [2])?;
    /// let graph = b.finish(&[x.square()])?;
    /// let x = Array::new([2], vec![3.0, -2.0])?;
    /// let tangent = Array::new([2], vec![1.0, 10.0])?;
    /// let results = evaluate(&graph.jvp(&[0])?, &[x, tangent])?;
    /// assert_eq!(results[1].elements::<f64>(), Ok(&[6.0, -40.0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Like [`Differentiate::vjp`], but not for loops of unknown length.
    fn jvp(&self, wrt: &(impl ParameterSelection + ?Sized)) -> Result<Graph, GraphError>;
}

impl Differentiate for Graph {
    #[track_caller]
    fn vjp(&self, wrt: &(impl ParameterSelection + ?Sized)) -> Result<Graph, GraphError> {
        derive(self, &wrt.positions(self)?, Seeds::Parameters, PrimalOutputs::Omitted)
    }

    #[track_caller]
    fn value_and_vjp(&self, wrt: &(impl ParameterSelection + ?Sized)) -> Result<Graph, GraphError> {
        derive(self, &wrt.positions(self)?, Seeds::Parameters, PrimalOutputs::Included)
    }

    #[track_caller]
    fn gradient(&self, wrt: &(impl ParameterSelection + ?Sized)) -> Result<Graph, GraphError> {
        derive(self, &wrt.positions(self)?, Seeds::One, PrimalOutputs::Omitted)
    }

    #[track_caller]
    fn value_and_gradient(
        &self,
        wrt: &(impl ParameterSelection + ?Sized),
    ) -> Result<Graph, GraphError> {
        derive(self, &wrt.positions(self)?, Seeds::One, PrimalOutputs::Included)
    }

    #[track_caller]
    fn jvp(&self, wrt: &(impl ParameterSelection + ?Sized)) -> Result<Graph, GraphError> {
        forward::jvp((self, None), &wrt.positions(self)?).map(|(graph, _)| graph)
    }
}

/// Like [`Differentiate::jvp`] with respect to the parameters `wrt`, with the facts about the sizes of the
/// graph: the sizes that vary in the graph vary in the result. `facts` are those of the graph's builder. Any
/// node of the result may be unused.
///
/// # Errors
/// Those of [`Differentiate::jvp`].
#[track_caller]
pub fn jvp_with_facts(
    (graph, facts): (&Graph, &SizeFacts),
    wrt: &[usize],
) -> Result<(Graph, SizeFacts), GraphError> {
    forward::jvp((graph, Some(facts)), wrt)
}

/// Like [`Differentiate::vjp`], with the facts about the sizes of the graph and of the result.
#[track_caller]
fn vjp_with_facts(
    (graph, facts): (&Graph, &SizeFacts),
    wrt: &[usize],
) -> Result<(Graph, SizeFacts), GraphError> {
    let b = GraphBuilder::new();
    let parameters = parameters_in(graph, &b)?;
    check_differentiable(graph, wrt)?;
    let seeds = seeds_of(graph, &b, Seeds::Parameters)?;
    let graph = (graph, Some(facts));
    let outputs = swept(&b, graph, &parameters, wrt, seeds, PrimalOutputs::Omitted)?;
    Ok((b.finish(&outputs)?, b.size_facts()))
}

#[track_caller]
fn derive(
    graph: &Graph,
    wrt: &[usize],
    seeds: Seeds,
    primals: PrimalOutputs,
) -> Result<Graph, GraphError> {
    let b = GraphBuilder::new();
    let parameters = parameters_in(graph, &b)?;
    check_differentiable(graph, wrt)?;
    let seeds = seeds_of(graph, &b, seeds)?;
    let outputs = swept(&b, (graph, None), &parameters, wrt, seeds, primals)?;
    Ok(remove_unused(&b.finish(&outputs)?).into_owned())
}

/// Adds the outputs of `graph` to a builder, then the gradients with respect to the parameters `wrt`, for
/// these arguments. `facts` are the size facts of the graph's builder: the sizes that vary in the graph vary
/// in its gradients. `cotangents` has one for each output of floats or complex numbers; without them the
/// graph has one output, a real scalar.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::SymbolicGraph;
/// use indim_ops::{DType, ReduceOp};
/// use indim_transforms::inline_gradients;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F64, [3])?;
/// let graph = b.finish(&[b.reduce(ReduceOp::Add, x.square(), 0)?])?;
///
/// let outer = GraphBuilder::new();
/// let y = outer.parameter("y", DType::F64, [3])?;
/// let results = inline_gradients(&outer, (&graph, &b.size_facts()), &[y], &[0], None)?;
/// let symbolic = SymbolicGraph::new(&outer.finish(&results)?, &outer.size_facts());
/// assert_eq!(symbolic.guards().to_string(), "y: [n]; n >= 2");
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
///
/// # Errors
/// `not-one-number` without cotangents, unless the graph has one output, a real scalar; those of
/// [`Differentiate::vjp`].
#[track_caller]
pub fn inline_gradients(
    b: &GraphBuilder,
    (graph, facts): (&Graph, &SizeFacts),
    arguments: &[Value],
    wrt: &[usize],
    cotangents: Option<&[Value]>,
) -> Result<Vec<Value>, GraphError> {
    let arguments = arguments.iter().map(|argument| b.local(argument));
    let arguments = arguments.collect::<Result<Vec<Value>, GraphError>>()?;
    check_differentiable(graph, wrt)?;
    let seeds = match cotangents {
        None => seeds_of(graph, b, Seeds::One)?,
        Some(cotangents) => {
            let mut cotangents = cotangents.iter();
            let outputs = graph.outputs().iter();
            let seed = |&output: &ValueId| match has_derivatives(&graph[output].array_type) {
                true => cotangents.next().map(|cotangent| b.local(cotangent)).transpose(),
                false => Ok(None),
            };
            outputs.map(seed).collect::<Result<_, GraphError>>()?
        }
    };
    swept(b, (graph, Some(facts)), &arguments, wrt, seeds, PrimalOutputs::Included)
}

/// The gradients of a graph for these arguments, values of the builder, from the cotangents of its outputs.
#[track_caller]
fn swept(
    b: &GraphBuilder,
    (graph, facts): (&Graph, Option<&SizeFacts>),
    arguments: &[Value],
    wrt: &[usize],
    seeds: Vec<Option<Value>>,
    primals: PrimalOutputs,
) -> Result<Vec<Value>, GraphError> {
    let mut differentiated = vec![false; arguments.len()];
    wrt.iter().for_each(|&index| differentiated[index] = true);
    let integers = vec![None; arguments.len()];
    let parameters =
        SweptParameters { values: arguments, wrt: &differentiated, integers: &integers, facts };
    let mut sweep = Sweep::new(graph, b, parameters)?;
    for (&output, seed) in graph.outputs().iter().zip(seeds) {
        if let Some(seed) = seed {
            sweep.add(output, seed);
        }
    }
    let mut outputs: Vec<Value> = match primals {
        PrimalOutputs::Included => {
            graph.outputs().iter().map(|&output| sweep.value(output)).collect()
        }
        PrimalOutputs::Omitted => Vec::new(),
    };
    sweep.run()?;
    for &index in wrt {
        outputs.push(sweep.gradient(graph.parameters()[index])?);
    }
    Ok(outputs)
}

/// Checks that each of these parameters exists and is differentiable.
#[track_caller]
fn check_differentiable(graph: &Graph, wrt: &[usize]) -> Result<(), GraphError> {
    wrt.iter().try_for_each(|&index| differentiable(graph, index).map(drop))
}

/// Adds the parameters of the graph to `b`, which has none yet.
fn parameters_in(graph: &Graph, b: &GraphBuilder) -> Result<Vec<Value>, GraphError> {
    let parameter = |(index, &value)| {
        let ArrayType { dtype, shape } = graph[value].array_type.clone();
        b.parameter(graph.parameter_name(index), dtype, shape)
    };
    graph.parameters().iter().enumerate().map(parameter).collect()
}

/// The value of parameter `index`; an error unless it is differentiable.
#[track_caller]
fn differentiable(graph: &Graph, index: usize) -> Result<ValueId, GraphError> {
    let not_differentiable = |kind, operands| {
        GraphError::new(kind, GRADIENT, operands).at(core::panic::Location::caller())
    };
    let Some(&value) = graph.parameters().get(index) else {
        let kind = GraphErrorKind::UnknownParameter { index, count: graph.parameters().len() };
        return Err(not_differentiable(kind, Vec::new()));
    };
    let array_type = graph[value].array_type.clone();
    match has_derivatives(&array_type) {
        true => Ok(value),
        false => {
            let operands = vec![(graph.parameter_name(index).to_owned(), array_type)];
            Err(not_differentiable(GraphErrorKind::ParameterNotDifferentiable, operands))
        }
    }
}

/// The cotangents of the outputs; `None` for outputs without derivatives.
#[track_caller]
fn seeds_of(
    graph: &Graph,
    b: &GraphBuilder,
    seeds: Seeds,
) -> Result<Vec<Option<Value>>, GraphError> {
    let types = || graph.outputs().iter().map(|&output| graph[output].array_type.clone());
    match seeds {
        Seeds::One => match &types().collect::<Vec<_>>()[..] {
            [only] if only.shape.is_scalar() && only.dtype.is_float() => {
                Ok(vec![Some(b.literal(Literal::Int(1), only.dtype)?)])
            }
            _ => {
                let names = graph.outputs().iter().map(|&output| graph.value_name(output));
                let operands = names.zip(types()).collect();
                let error = GraphError::new(GraphErrorKind::NotOneNumber, GRADIENT, operands);
                Err(error.at(core::panic::Location::caller()))
            }
        },
        Seeds::Parameters => types()
            .enumerate()
            .map(|(index, of)| {
                has_derivatives(&of).then(|| cotangent_parameter(b, index, of)).transpose()
            })
            .collect(),
    }
}

/// The source of the outputs' cotangents.
#[derive(Clone, Copy)]
enum Seeds {
    /// Additional parameters.
    Parameters,
    /// The number 1, for the only output, a real scalar.
    One,
}

/// Whether the derived graph returns the original outputs too, before the gradients.
#[derive(Clone, Copy)]
enum PrimalOutputs {
    Included,
    Omitted,
}

/// Adds a term to a sum of cotangents or tangents; `None` is 0.
fn add_term(sum: &mut Option<Value>, term: Value) {
    *sum = Some(match sum.take() {
        Some(sum_so_far) => sum_so_far + term,
        None => term,
    });
}

/// Adds a parameter of this type to `b`, named by a letter and a number.
fn numbered_parameter(
    b: &GraphBuilder,
    letter: char,
    number: usize,
    of: &ArrayType,
) -> BuildResult {
    b.parameter(&format!("{letter}{number}"), of.dtype, of.shape.clone())
}

/// Adds parameters of these types to `b`, named by a letter and their numbers.
fn numbered_parameters<'t>(
    b: &GraphBuilder,
    letter: char,
    types: impl IntoIterator<Item = (usize, &'t ArrayType)>,
) -> Result<Vec<Value>, GraphError> {
    types.into_iter().map(|(number, of)| numbered_parameter(b, letter, number, of)).collect()
}

/// Whether values of this type can have derivatives.
fn has_derivatives(of: &ArrayType) -> bool {
    matches!(of.dtype.class(), DTypeClass::Float | DTypeClass::Complex)
}

/// Whether the result of a node depends differentiably on its operands. The bits of a number have no
/// derivative.
fn carries_derivative(node: &Node) -> bool {
    !matches!(node.kind, NodeKind::Bitcast) && has_derivatives(&node.array_type)
}

/// A parameter for the cotangent of output `index`, with a new name.
fn cotangent_parameter(b: &GraphBuilder, index: usize, of: ArrayType) -> Result<Value, GraphError> {
    b.parameter(&unused_parameter_name(b, "cotangent", index), of.dtype, of.shape)
}

/// A name for a parameter that no parameter has yet: `{stem}_{number}`, with underscores if it is taken.
fn unused_parameter_name(b: &GraphBuilder, stem: &str, number: usize) -> String {
    let mut name = format!("{stem}_{number}");
    while b.has_parameter(&name) {
        name.push('_');
    }
    name
}
