//! A step of a recurrent cell.

use core::ops::Range;

use indim_builder::{GraphBuilder, Index, NodeAccess as _, Value};
use indim_graph::{GraphError, GraphErrorKind};
use indim_ops::ArrayType;

use super::CellActivation;

/// The equations of a cell, with the position of each gate in its weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CellKind {
    /// Long short-term memory: states `h` and `c`.
    Lstm {
        /// The positions of the gates `i`, `o`, `f` and `c`.
        gates: [usize; 4],
        /// Whether the forget gate is `1 - i`.
        couples_forget: bool,
    },
    /// Gated recurrent unit: state `h`, gates `z`, `r` and `h` in this order.
    Gru {
        /// Whether the reset gate multiplies the product of `h` and the recurrent weights, with its bias,
        /// instead of `h`.
        resets_product: bool,
    },
    /// A cell with one function: state `h`.
    Rnn,
}

/// A recurrent cell.
#[derive(Debug, Clone, PartialEq)]
pub struct RecurrentCell {
    /// Its equations.
    pub kind: CellKind,
    /// Its functions, with ONNX's names: `f`, `g` and `h` of [`CellKind::Lstm`], `f` and `g` of
    /// [`CellKind::Gru`], `f` of [`CellKind::Rnn`]. `f` applies to the gates, `g` to the candidate for the
    /// new state, `h` to the state `c`. The only function of an RNN gives its state.
    pub activations: Vec<CellActivation>,
    /// If given, the operands of the gates' functions are clamped to the range from `-clip` to `clip`.
    pub clip: Option<f64>,
}

/// The weights of a cell. Their `gates * hidden` rows are ordered gate by gate.
#[derive(Debug, Clone)]
pub struct CellWeights {
    /// Weights of the input, `[gates * hidden, input]`.
    pub input: Value,
    /// Weights of the state `h`, `[gates * hidden, hidden]`.
    pub recurrent: Value,
    /// The bias of the product with the input, `[gates * hidden]`.
    pub input_bias: Option<Value>,
    /// The bias of the product with the state, `[gates * hidden]`.
    pub recurrent_bias: Option<Value>,
    /// Weights of the state `c` in the gates `i`, `o` and `f` of [`CellKind::Lstm`], `[3 * hidden]`.
    pub peepholes: Option<Value>,
}

impl CellKind {
    /// The number of gates.
    pub const fn gates(self) -> usize {
        match self {
            CellKind::Lstm { .. } => 4,
            CellKind::Gru { .. } => 3,
            CellKind::Rnn => 1,
        }
    }

    /// The number of states.
    pub const fn states(self) -> usize {
        if matches!(self, CellKind::Lstm { .. }) { 2 } else { 1 }
    }

    /// The number of functions.
    pub const fn activations(self) -> usize {
        match self {
            CellKind::Lstm { .. } => 3,
            CellKind::Gru { .. } => 2,
            CellKind::Rnn => 1,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            CellKind::Lstm { .. } => "lstm",
            CellKind::Gru { .. } => "gru",
            CellKind::Rnn => "rnn",
        }
    }
}

/// One step of a recurrent cell: `x` is `[batch, input]`, each state `[batch, hidden]`. Returns the next
/// states, `h` first.
///
/// A gate is a function of `(x · Wᵀ + Wb) + (h · Rᵀ + Rb)`, computed in this order.
///
/// # Errors
/// `wrong-operand-count` for another number of states or functions than the cell has; `argument-type` for
/// weights and states of other shapes.
pub fn recurrent_step(
    builder: &GraphBuilder,
    cell: &RecurrentCell,
    x: &Value,
    states: &[Value],
    weights: &CellWeights,
) -> Result<Vec<Value>, GraphError> {
    check_cell(builder, cell, x, states, weights)?;
    let gates = input_gates(builder, x, weights)?;
    RecurrentStep::new(builder, cell, weights).next_states(&gates, states)
}

/// `x · Wᵀ + Wb`; the last axis of `x` is the input.
pub(super) fn input_gates(
    builder: &GraphBuilder,
    x: &Value,
    weights: &CellWeights,
) -> Result<Value, GraphError> {
    add_bias(builder, builder.inner(x, &weights.input)?, weights.input_bias.as_ref())
}

fn add_bias(
    builder: &GraphBuilder,
    product: Value,
    bias: Option<&Value>,
) -> Result<Value, GraphError> {
    bias.map_or(Ok(product.clone()), |bias| builder.numpy().add(product, bias))
}

/// Checks the types of the operands of a step or, with `x` of three axes, of a sequence.
pub(super) fn check_cell(
    builder: &GraphBuilder,
    cell: &RecurrentCell,
    x: &Value,
    states: &[Value],
    weights: &CellWeights,
) -> Result<(), GraphError> {
    let name = cell.kind.name();
    let counts =
        [(cell.kind.states(), states.len()), (cell.kind.activations(), cell.activations.len())];
    if let Some(&(expected, given)) = counts.iter().find(|(expected, given)| expected != given) {
        let kind = GraphErrorKind::WrongOperandCount { expected, given };
        return Err(builder.error(name, &[], kind));
    }
    let (of_x, of_r) = (x.array_type()?, weights.recurrent.array_type()?);
    let hidden = of_r.shape.last().copied().unwrap_or_default();
    let input = of_x.shape.last().copied().unwrap_or_default();
    let batch = of_x.shape.iter().rev().nth(1).copied().unwrap_or_default();
    let rows = hidden.saturating_mul(cell.kind.gates());
    let check = |value: &Value, sizes: &[usize]| {
        let expected = ArrayType::new(of_x.dtype, sizes);
        if value.array_type()? == expected {
            return Ok(());
        }
        let kind = GraphErrorKind::ArgumentType { operand: 0, expected };
        Err(builder.error(name, &[builder.id(name, value)?], kind))
    };
    check(&weights.input, &[rows, input])?;
    check(&weights.recurrent, &[rows, hidden])?;
    for bias in [&weights.input_bias, &weights.recurrent_bias].into_iter().flatten() {
        check(bias, &[rows])?;
    }
    if let Some(peepholes) = &weights.peepholes {
        check(peepholes, &[hidden.saturating_mul(3)])?;
    }
    states.iter().try_for_each(|state| check(state, &[batch, hidden]))
}

/// A step of a cell: what all steps share.
pub(super) struct RecurrentStep<'s> {
    builder: &'s GraphBuilder,
    cell: &'s RecurrentCell,
    weights: &'s CellWeights,
}

impl<'s> RecurrentStep<'s> {
    pub(super) fn new(
        builder: &'s GraphBuilder,
        cell: &'s RecurrentCell,
        weights: &'s CellWeights,
    ) -> RecurrentStep<'s> {
        RecurrentStep { builder, cell, weights }
    }

    /// The next states. `x` is the part of the gates that depends on the input, from `input_gates`.
    pub(super) fn next_states(
        &self,
        x: &Value,
        states: &[Value],
    ) -> Result<Vec<Value>, GraphError> {
        match (self.cell.kind, states) {
            (CellKind::Lstm { gates, couples_forget }, [h, c]) => {
                self.lstm(gates, couples_forget, x, [h, c])
            }
            (CellKind::Gru { resets_product }, [h, ..]) => self.gru(resets_product, x, h),
            (_, [h, ..]) => {
                let sum = x + self.product(h, 0..1)?;
                Ok(vec![self.activate(0, &sum)?])
            }
            (_, []) => Ok(Vec::new()),
        }
    }

    fn lstm(
        &self,
        [i, o, f, g]: [usize; 4],
        couples_forget: bool,
        x: &Value,
        [h, c]: [&Value; 2],
    ) -> Result<Vec<Value>, GraphError> {
        let product = self.product(h, 0..4)?;
        let gate = |gate| Ok(self.gate_slice(x, gate)? + self.gate_slice(&product, gate)?);
        let add_peephole = |sum: Value, position, c: &Value| match &self.weights.peepholes {
            Some(weights) => {
                let weights = self.gate_slice(weights, position)?;
                Ok(sum + self.builder.numpy().mul(c, weights)?)
            }
            None => Ok(sum),
        };
        let input = self.activate(0, &add_peephole(gate(i)?, 0, c)?)?;
        let forget = match couples_forget {
            true => 1 - &input,
            false => self.activate(0, &add_peephole(gate(f)?, 2, c)?)?,
        };
        let new_c = forget * c + input * self.activate(1, &gate(g)?)?;
        let output = self.activate(0, &add_peephole(gate(o)?, 1, &new_c)?)?;
        // Not clipped: ONNX Runtime and OpenVINO clip only the gates.
        let new_h = output * self.cell.activations[2].of(&new_c)?;
        Ok(vec![new_h, new_c])
    }

    fn gru(&self, resets_product: bool, x: &Value, h: &Value) -> Result<Vec<Value>, GraphError> {
        let product = self.product(h, 0..if resets_product { 3 } else { 2 })?;
        let gate = |gate| {
            self.activate(0, &(self.gate_slice(x, gate)? + self.gate_slice(&product, gate)?))
        };
        let (update, reset) = (gate(0)?, gate(1)?);
        let candidate = match resets_product {
            true => reset * self.gate_slice(&product, 2)?,
            false => self.product(&(reset * h), 2..3)?,
        };
        let new = self.activate(1, &(self.gate_slice(x, 2)? + candidate))?;
        Ok(vec![(1 - &update) * new + update * h])
    }

    /// `h · Rᵀ + Rb` of some gates.
    fn product(&self, h: &Value, gates: Range<usize>) -> Result<Value, GraphError> {
        let all = 0..self.cell.kind.gates();
        let part = |of: &Value| match gates == all {
            true => Ok(of.clone()),
            false => self.builder.index(of, &[self.gate_rows(&gates)?]),
        };
        let bias = self.weights.recurrent_bias.as_ref().map(part).transpose()?;
        let product = self.builder.inner(h, part(&self.weights.recurrent)?)?;
        add_bias(self.builder, product, bias.as_ref())
    }

    /// Applies activation number `function` to `x`, after clipping.
    fn activate(&self, function: usize, x: &Value) -> Result<Value, GraphError> {
        let x = self.cell.clip.map_or_else(|| x.clone(), |clip| x.clamp(-clip, clip));
        self.cell.activations[function].of(&x)
    }

    /// The part of `of` that belongs to gate `gate`, along the last axis.
    fn gate_slice(&self, of: &Value, gate: usize) -> Result<Value, GraphError> {
        self.builder.index(of, &[Index::Ellipsis, self.gate_rows(&(gate..gate + 1))?])
    }

    /// The rows of the weights that belong to some gates.
    fn gate_rows(&self, gates: &Range<usize>) -> Result<Index, GraphError> {
        let shape = self.weights.recurrent.array_type()?.shape;
        let hidden = shape.last().copied().unwrap_or_default();
        let at = |gate: usize| i64::try_from(gate.saturating_mul(hidden)).ok();
        Ok(Index::Slice { start: at(gates.start), stop: at(gates.end), step: None })
    }
}
