//! Derivatives: the graph that computes the gradients of another one.
//!
//! Reverse mode: from the outputs back to the parameters, each node hands on the *cotangents* of its
//! operands, made of its own by the rule of its operation. A cotangent has the type of its value; those of
//! a value that is used several times are added once. The rules make graphs of the same operations and
//! reductions, so what comes out is optimised, compiled and differentiated like any other graph.
//!
//! Read `sweep.rs` first, then `dispatch.rs`. The rule of an operation is the function of its name in
//! `elementary.rs`, `arithmetic.rs`, `choice.rs` or `parts.rs`, and one without a derivative stands in the
//! list of `flat.rs`; `structural.rs`, `take.rs` and `reduction.rs` have those of the other kinds of nodes.
//!
//! For complex numbers the cotangent of `x` is that of `y` times the conjugate of `∂y/∂x`, as PyTorch has it:
//! the gradient of a real number points where it grows, `∂/∂re + i ∂/∂im`. JAX gives its conjugate.
//!
//! - `rule.rs`: the rules of the operations: what they are given, and what they give.

mod arithmetic;
mod choice;
mod dispatch;
mod elementary;
mod flat;
mod parts;
mod reduction;
mod rule;
mod structural;
mod sweep;
mod take;

use indim_graph::{Graph, GraphError, GraphErrorKind, Literal, ValueId, remove_unused};
use indim_ops::{ArrayType, DType, DTypeClass};

use crate::builder::{BuildResult, GraphBuilder, Value};
use sweep::Sweep;

/// Name of the operation in errors about parameters and outputs of a graph.
const GRADIENT: &str = "gradient";

/// The derivatives of a graph, which are graphs of the same operations. Bring it into scope to ask for them.
pub trait Differentiate {
    /// The vector-Jacobian product: the graph that computes the gradients with respect to the parameters
    /// `wrt`, given a cotangent for each output.
    ///
    /// Its parameters are those of this graph, then one for each output of floats or complex numbers, of the
    /// output's type and in the order of the outputs. Its outputs are the gradients, each of the type of its
    /// parameter; of a parameter that no output depends on it is 0.
    ///
    /// ```
    /// use indim_builder::{Differentiate, GraphBuilder};
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [2, 3])?;
    /// let v = b.parameter("v", DType::F32, [3])?;
    /// let graph = b.finish(&[b.mul(&x, &v, &[1])?])?;
    ///
    /// let pullback = graph.vjp(&[1])?; // with respect to v
    /// let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 10.0, 20.0, 30.0])?;
    /// let v = Array::new([3], vec![5.0f32; 3])?;
    /// let cotangent = Array::new([2, 3], vec![1.0f32, 1.0, 1.0, 1.0, 1.0, 2.0])?;
    /// let gradients = evaluate(&pullback, &[x, v, cotangent])?;
    /// assert_eq!(gradients[0].elements::<f32>(), Some(&[11.0, 22.0, 63.0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `unknown-parameter`; `not-differentiable` for a parameter that is not of floats or complex numbers,
    /// and for a `nextafter` of what depends on one; E5 `too-large` where sums in double precision do not
    /// fit.
    fn vjp(&self, wrt: &[usize]) -> Result<Graph, GraphError>;

    /// Like [`Differentiate::vjp`], with the outputs of this graph before the gradients.
    ///
    /// # Errors
    /// Like [`Differentiate::vjp`].
    fn value_and_vjp(&self, wrt: &[usize]) -> Result<Graph, GraphError>;

    /// The graph that computes the gradients of the only output, one real number, with respect to the
    /// parameters `wrt`. It has the parameters of this graph.
    ///
    /// ```
    /// use indim_builder::{Differentiate, GraphBuilder};
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::{DType, ReduceOp};
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F64, [3])?;
    /// let graph = b.finish(&[b.reduce(ReduceOp::Add, x.square(), 0)?])?;
    /// let x = Array::new([3], vec![1.0, -2.0, 3.0])?;
    /// let results = evaluate(&graph.value_and_gradient(&[0])?, &[x])?;
    /// assert_eq!(results[0].elements::<f64>(), Some(&[14.0][..]));
    /// assert_eq!(results[1].elements::<f64>(), Some(&[2.0, -4.0, 6.0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `not-one-number` unless the graph gives one real number; otherwise as [`Differentiate::vjp`].
    fn gradient(&self, wrt: &[usize]) -> Result<Graph, GraphError>;

    /// Like [`Differentiate::gradient`], with the output of this graph before the gradients.
    ///
    /// # Errors
    /// Like [`Differentiate::gradient`].
    fn value_and_gradient(&self, wrt: &[usize]) -> Result<Graph, GraphError>;
}

impl Differentiate for Graph {
    #[track_caller]
    fn vjp(&self, wrt: &[usize]) -> Result<Graph, GraphError> {
        derived(self, wrt, Seeds::Parameters, Values::Left)
    }

    #[track_caller]
    fn value_and_vjp(&self, wrt: &[usize]) -> Result<Graph, GraphError> {
        derived(self, wrt, Seeds::Parameters, Values::Kept)
    }

    #[track_caller]
    fn gradient(&self, wrt: &[usize]) -> Result<Graph, GraphError> {
        derived(self, wrt, Seeds::One, Values::Left)
    }

    #[track_caller]
    fn value_and_gradient(&self, wrt: &[usize]) -> Result<Graph, GraphError> {
        derived(self, wrt, Seeds::One, Values::Kept)
    }
}

#[track_caller]
fn derived(
    graph: &Graph,
    wrt: &[usize],
    seeds: Seeds,
    values: Values,
) -> Result<Graph, GraphError> {
    let b = GraphBuilder::new();
    let parameters = parameters_in(graph, &b)?;
    let wrt = wrt.iter().map(|&index| asked(graph, index)).collect::<Result<Vec<_>, _>>()?;
    let mut sweep = Sweep::new(graph, &b, &parameters, &wrt);
    for (&output, seed) in graph.outputs().iter().zip(seeds_of(graph, &b, seeds)?) {
        if let Some(seed) = seed {
            sweep.add(output, seed);
        }
    }
    let mut outputs: Vec<Value> = match values {
        Values::Kept => graph.outputs().iter().map(|&output| sweep.value(output)).collect(),
        Values::Left => Vec::new(),
    };
    sweep.run()?;
    for &parameter in &wrt {
        outputs.push(sweep.gradient(parameter)?);
    }
    Ok(remove_unused(&b.finish(&outputs)?).into_owned())
}

/// The parameters of the graph in `b`, which has none yet.
fn parameters_in(graph: &Graph, b: &GraphBuilder) -> Result<Vec<Value>, GraphError> {
    let parameter = |(index, &value)| {
        let ArrayType { dtype, shape } = graph[value].array_type.clone();
        b.parameter(graph.parameter_name(index), dtype, shape)
    };
    graph.parameters().iter().enumerate().map(parameter).collect()
}

/// The parameter `index`, if it is differentiable.
#[track_caller]
fn asked(graph: &Graph, index: usize) -> Result<ValueId, GraphError> {
    let refused = |kind, operands| {
        GraphError::new(kind, GRADIENT, operands).at(core::panic::Location::caller())
    };
    let Some(&value) = graph.parameters().get(index) else {
        let kind = GraphErrorKind::UnknownParameter { index, count: graph.parameters().len() };
        return Err(refused(kind, Vec::new()));
    };
    let array_type = graph[value].array_type.clone();
    match has_derivatives(&array_type) {
        true => Ok(value),
        false => {
            let operands = vec![(graph.parameter_name(index).to_owned(), array_type)];
            Err(refused(GraphErrorKind::ParameterNotDifferentiable, operands))
        }
    }
}

/// The cotangents of the outputs; none of those that have no derivatives.
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

/// Source of the outputs' cotangents.
#[derive(Clone, Copy)]
enum Seeds {
    /// Parameters of their own.
    Parameters,
    /// The only output is one number, whose cotangent is 1.
    One,
}

/// Whether the derived graph returns the original outputs too, before the gradients.
#[derive(Clone, Copy)]
enum Values {
    Kept,
    Left,
}

/// The elements of `x`, floats, through which no derivative flows: bits have none, so these are its bits read
/// as integers and back. The passes take the pair away.
pub(crate) fn without_derivative(x: &Value) -> BuildResult {
    let dtype = x.array_type()?.dtype;
    let bits = match dtype.size() {
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    };
    x.builder().bitcast(x.builder().bitcast(x, bits)?, dtype)
}

/// Whether values of the type have derivatives.
fn has_derivatives(of: &ArrayType) -> bool {
    matches!(of.dtype.class(), DTypeClass::Float | DTypeClass::Complex)
}

/// A parameter for the cotangent of output `index`, under a name that no other has.
fn cotangent_parameter(b: &GraphBuilder, index: usize, of: ArrayType) -> Result<Value, GraphError> {
    let mut name = format!("cotangent_{index}");
    while b.has_parameter(&name) {
        name.push('_');
    }
    b.parameter(&name, of.dtype, of.shape)
}
