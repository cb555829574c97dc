//! The cells of a sequence, in one direction or both.

use indim_builder::{GraphBuilder, NodeAccess as _, Value};
use indim_graph::{GraphError, GraphErrorKind};
use indim_ops::{ArrayType, DType};
use indim_shape::Shape;

use super::cell::{CellWeights, RecurrentCell, RecurrentStep, check_cell, input_gates};
use crate::error::FormatErrorKind;
use crate::loops::check_steps;

/// One direction of a recurrent layer.
#[derive(Debug, Clone)]
pub struct RecurrentDirection {
    /// The cell.
    pub cell: RecurrentCell,
    /// Its weights.
    pub weights: CellWeights,
    /// The initial states, each `[batch, hidden]`.
    pub initial: Vec<Value>,
    /// Whether it begins at the end of the sequence.
    pub is_reversed: bool,
}

/// The operand of a recurrent layer.
#[derive(Debug, Clone)]
pub struct RecurrentSequence {
    /// The inputs, `[length, batch, input]`.
    pub x: Value,
    /// The length of each sequence, integers of shape `[batch]`; `None` if every sequence has `length`
    /// steps.
    pub lengths: Option<Value>,
}

/// The results of a recurrent layer.
#[derive(Debug, Clone)]
pub struct RecurrentResults {
    /// The state `h` after every step, `[length, directions, batch, hidden]`; 0 after the end of a sequence.
    pub all: Value,
    /// The final states, each `[directions, batch, hidden]`.
    pub finals: Vec<Value>,
}

/// A recurrent layer. One product of the input and its weights serves all steps; a loop
/// ([`GraphBuilder::scan_loop`]) computes the rest. A step after the end of a sequence keeps the
/// states.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::{Array, evaluate};
/// use indim_model::recurrent::{
///     CellActivation, CellKind, CellWeights, RecurrentCell, RecurrentDirection, RecurrentSequence,
///     recurrent_layer,
/// };
/// use indim_ops::DType;
///
/// // h = relu(x + 2 * h)
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [3, 1, 1])?;
/// let number = |number: f32| b.constant(Array::new([1, 1], vec![number]).unwrap());
/// let cell = RecurrentCell {
///     kind: CellKind::Rnn,
///     activations: vec![CellActivation::Relu],
///     clip: None,
/// };
/// let weights = CellWeights {
///     input: number(1.0),
///     recurrent: number(2.0),
///     input_bias: None,
///     recurrent_bias: None,
///     peepholes: None,
/// };
/// let initial = vec![number(0.0)];
/// let forward = RecurrentDirection { cell, weights, initial, is_reversed: false };
/// let sequence = RecurrentSequence { x, lengths: None };
/// let results = recurrent_layer(&b, &sequence, &[forward]).unwrap();
/// let graph = b.finish(&[results.all])?;
/// let x = Array::new([3, 1, 1], vec![1.0f32, 2.0, 3.0])?;
/// assert_eq!(evaluate(&graph, &[x])?[0].elements::<f32>(), Ok(&[1.0, 4.0, 11.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Like [`recurrent_step`](super::recurrent_step); `wrong-operand-count` without directions;
/// `axis-out-of-range` unless `x` has three axes; `argument-type` for `lengths` of another shape;
/// `unsupported` for more than [`DEFAULT_STEP_LIMIT`](indim_graph::DEFAULT_STEP_LIMIT) steps of states with
/// elements.
pub fn recurrent_layer(
    builder: &GraphBuilder,
    sequence: &RecurrentSequence,
    directions: &[RecurrentDirection],
) -> Result<RecurrentResults, FormatErrorKind> {
    let results = layer_directions(builder, sequence, directions)?;
    // The first axis of the results counts the steps; the others are axes of the states.
    let sizes = results.all.array_type()?.shape;
    if !sizes[1..].contains(&0) {
        check_steps(sizes[0] as u64)?;
    }
    Ok(results)
}

/// The results of all directions, stacked.
fn layer_directions(
    builder: &GraphBuilder,
    sequence: &RecurrentSequence,
    directions: &[RecurrentDirection],
) -> Result<RecurrentResults, GraphError> {
    let mut results = Vec::with_capacity(directions.len());
    for direction in directions {
        results.push(layer_direction(builder, sequence, direction)?);
    }
    let Some((_, finals)) = results.first() else {
        let kind = GraphErrorKind::WrongOperandCount { expected: 1, given: 0 };
        return Err(builder.error("recurrent_layer", &[], kind));
    };
    let stacked = |state: usize| {
        let finals: Vec<&Value> = results.iter().map(|(_, finals)| &finals[state]).collect();
        builder.stack(&finals, 0)
    };
    let finals = (0..finals.len()).map(stacked).collect::<Result<Vec<_>, _>>()?;
    let all: Vec<&Value> = results.iter().map(|(all, _)| all).collect();
    Ok(RecurrentResults { all: builder.stack(&all, 1)?, finals })
}

/// The state `h` after every step, and the final states.
fn layer_direction(
    builder: &GraphBuilder,
    RecurrentSequence { x, lengths }: &RecurrentSequence,
    RecurrentDirection { cell, weights, initial, is_reversed }: &RecurrentDirection,
) -> Result<(Value, Vec<Value>), GraphError> {
    let ArrayType { dtype, shape } = x.array_type()?;
    let &[length, batch, _] = &shape[..] else {
        let kind = GraphErrorKind::AxisOutOfRange { axis: 2, rank: shape.rank() };
        return Err(builder.error("recurrent_layer", &[builder.id("recurrent_layer", x)?], kind));
    };
    check_cell(builder, cell, x, initial, weights)?;
    let lengths = lengths.as_ref().map(|lengths| builder.convert(lengths, DType::I64));
    let lengths = lengths.transpose()?;
    if let Some(lengths) = &lengths {
        let expected = ArrayType::new(DType::I64, [batch]);
        if lengths.array_type()? != expected {
            let id = builder.id("recurrent_layer", lengths)?;
            let kind = GraphErrorKind::ArgumentType { operand: 0, expected };
            return Err(builder.error("recurrent_layer", &[id], kind));
        }
    }
    let state = initial[0].array_type()?.shape;
    // States without elements need no loop. The memory of the stacked results would not bound the
    // length of such a loop.
    if length == 0 || state.contains(&0) {
        let sizes: Shape = [length].into_iter().chain(state.iter().copied()).collect();
        return Ok((builder.zeros(&ArrayType::new(dtype, sizes))?, initial.clone()));
    }
    let mut xs = vec![input_gates(builder, x, weights)?];
    let lengths = match lengths {
        Some(lengths) => {
            xs.push(builder.iota(DType::I64, [length], 0)?);
            Some(builder.broadcast_in_dim(lengths, &[0], state)?)
        }
        None => None,
    };
    let (finals, all) = builder.scan_loop(length, initial, &xs, *is_reversed, |b, s, x| {
        let mut next = RecurrentStep::new(b, cell, weights).next_states(&x[0], s)?;
        let mut result = next[0].clone();
        if let (Some(lengths), Some(position)) = (&lengths, x.get(1)) {
            let is_within = position.lt(lengths);
            let kept = next.iter().zip(s).map(|(next, state)| is_within.select(next, state));
            next = kept.collect();
            result = is_within.select(result, 0);
        }
        Ok((next, vec![result]))
    })?;
    Ok((all[0].clone(), finals))
}
