//! Recurrent layers: cells, and sequences of them.
//!
//! In OpenVINO the batch is the first axis, and one bias serves both products of a cell. The bias of a
//! GRU with `linear_before_reset` has a fourth part: the bias of the state's product, which the reset
//! gate multiplies.

use indim_builder::{Index, Value};
use indim_model::FormatErrorKind;
use indim_model::recurrent::{
    CellActivation, CellKind, CellWeights, RecurrentCell, RecurrentDirection, RecurrentSequence,
    check_directions, checked_clip, directions, partial_lengths, recurrent_layer, recurrent_step,
};
use indim_ops::ArrayType;

use crate::call::{Call, LoweringResult};

pub(super) fn lstm_cell(call: &Call<'_>) -> LoweringResult<Vec<Value>> {
    lower_cell(call, lstm(call)?)
}

pub(super) fn gru_cell(call: &Call<'_>) -> LoweringResult<Vec<Value>> {
    lower_cell(call, gru(call)?)
}

pub(super) fn rnn_cell(call: &Call<'_>) -> LoweringResult<Vec<Value>> {
    lower_cell(call, CellKind::Rnn)
}

pub(super) fn lstm_sequence(call: &Call<'_>) -> LoweringResult<Vec<Value>> {
    lower_sequence(call, lstm(call)?)
}

pub(super) fn gru_sequence(call: &Call<'_>) -> LoweringResult<Vec<Value>> {
    lower_sequence(call, gru(call)?)
}

pub(super) fn rnn_sequence(call: &Call<'_>) -> LoweringResult<Vec<Value>> {
    lower_sequence(call, CellKind::Rnn)
}

/// The gates are in the order of the letters of `weights_format`.
fn lstm(call: &Call<'_>) -> LoweringResult<CellKind> {
    let order = call.layer.word("weights_format", "fico");
    let gate_position = |gate: char| order.find(gate);
    let gate_positions =
        (gate_position('i'), gate_position('o'), gate_position('f'), gate_position('c'));
    let (Some(i), Some(o), Some(f), Some(c), 4) =
        (gate_positions.0, gate_positions.1, gate_positions.2, gate_positions.3, order.len())
    else {
        return Err(FormatErrorKind::attribute("weights_format", "is no order of f, i, c and o"));
    };
    let couples_forget = call.layer.flag("input_forget", Some(false))?;
    Ok(CellKind::Lstm { gates: [i, o, f, c], couples_forget })
}

fn gru(call: &Call<'_>) -> LoweringResult<CellKind> {
    let resets_product = call.layer.flag("linear_before_reset", Some(false))?;
    Ok(CellKind::Gru { resets_product })
}

/// Operands: the input, the states, the weights of both products, the bias.
fn lower_cell(call: &Call<'_>, kind: CellKind) -> LoweringResult<Vec<Value>> {
    let states: Vec<Value> = (1..=kind.states()).map(|state| call.value(state)).collect();
    let operand = |position: usize| call.has(position).then(|| call.value(position));
    let first = 1 + kind.states();
    let weights = [call.value(first), call.value(first + 1)];
    let weights = cell_weights(call, kind, weights, operand(first + 2))?;
    Ok(recurrent_step(
        call.builder,
        &recurrent_cell(call, kind)?,
        &call.value(0),
        &states,
        &weights,
    )?)
}

/// Operands: the input, the states, the lengths, the weights of both products, the bias.
fn lower_sequence(call: &Call<'_>, kind: CellKind) -> LoweringResult<Vec<Value>> {
    let directions = directions(&call.layer.word("direction", "forward"))?;
    let first = 2 + kind.states();
    let ranks = [(0, 3), (1, 3), (first, 3), (first + 1, 3), (first + 2, 2)];
    for (position, rank) in ranks.into_iter().chain((kind.states() == 2).then_some((2, 3))) {
        let given = call.shape(position)?.rank();
        if given != rank {
            let expected = format!("{rank} axes of operand {position}, not {given}");
            return Err(FormatErrorKind::Unexpected { expected });
        }
    }
    let x = call.builder.transpose(call.value(0), &[1, 0, 2])?;
    let lengths = partial_lengths(&call.operands[first - 1], &x)?;
    let mut layer = Vec::with_capacity(directions.len());
    for (number, &is_reversed) in directions.iter().enumerate() {
        let part = |position: usize, axis: usize| -> LoweringResult {
            check_directions(directions.len(), call.shape(position)?[axis])?;
            let mut index = vec![Index::ALL; axis];
            index.push(Index::At(number as i64));
            Ok(call.builder.index(call.value(position), &index)?)
        };
        let initial = (1..=kind.states()).map(|state| part(state, 1));
        let weights = [part(first, 0)?, part(first + 1, 0)?];
        layer.push(RecurrentDirection {
            cell: recurrent_cell(call, kind)?,
            weights: cell_weights(call, kind, weights, Some(part(first + 2, 0)?))?,
            initial: initial.collect::<LoweringResult<_>>()?,
            is_reversed,
        });
    }
    let results = recurrent_layer(call.builder, &RecurrentSequence { x, lengths }, &layer)?;
    let mut values = vec![call.builder.transpose(&results.all, &[2, 1, 0, 3])?];
    for state in &results.finals {
        values.push(call.builder.transpose(state, &[1, 0, 2])?);
    }
    Ok(values)
}

/// The weights and biases of a cell. Splits the bias of a GRU with `linear_before_reset`.
fn cell_weights(
    call: &Call<'_>,
    kind: CellKind,
    [input, recurrent]: [Value; 2],
    bias: Option<Value>,
) -> LoweringResult<CellWeights> {
    let (mut input_bias, mut recurrent_bias) = (bias, None);
    if let (CellKind::Gru { resets_product: true }, Some(bias)) = (kind, &input_bias) {
        let ArrayType { dtype, shape } = bias.array_type()?;
        let hidden = recurrent.array_type()?.shape.last().copied().unwrap_or_default();
        if shape.to_vec() != [hidden.saturating_mul(4)] {
            let expected = format!("4 times {hidden} elements of the bias, not {shape}");
            return Err(FormatErrorKind::Unexpected { expected });
        }
        let rows = (hidden * 3) as i64;
        let part =
            |start, stop| call.builder.index(bias, &[Index::Slice { start, stop, step: None }]);
        let zeros = call.builder.zeros(&ArrayType::new(dtype, [hidden * 2]))?;
        recurrent_bias = Some(call.builder.concatenate(&[zeros, part(Some(rows), None)?], 0)?);
        input_bias = Some(part(None, Some(rows))?);
    }
    Ok(CellWeights { input, recurrent, input_bias, recurrent_bias, peepholes: None })
}

/// The kind of a cell with the activation functions and the clip that its attributes state.
fn recurrent_cell(call: &Call<'_>, kind: CellKind) -> LoweringResult<RecurrentCell> {
    let default = match kind {
        CellKind::Lstm { .. } => "sigmoid,tanh,tanh",
        CellKind::Gru { .. } => "sigmoid,tanh",
        CellKind::Rnn => "tanh",
    };
    let names = call.layer.word("activations", default);
    let names = if names.is_empty() { default.to_owned() } else { names };
    let (alpha, beta) =
        (number_list(call, "activations_alpha")?, number_list(call, "activations_beta")?);
    let mut activations = Vec::with_capacity(kind.activations());
    for (position, name) in names.split(',').enumerate().take(kind.activations() + 1) {
        let number = |numbers: &[f64]| numbers.get(position).copied();
        let function = CellActivation::named(name.trim(), || number(&alpha), || number(&beta));
        let wrong =
            || FormatErrorKind::attribute("activations", format!("names no function: {name}"));
        activations.push(function.ok_or_else(wrong)?);
    }
    if activations.len() != kind.activations() {
        let problem = format!("has not {} names", kind.activations());
        return Err(FormatErrorKind::attribute("activations", problem));
    }
    let clip = call.layer.attribute("clip").map(|_| call.layer.float("clip")).transpose()?;
    // 0 and infinity limit nothing.
    let clip = clip.filter(|&clip| clip != 0.0 && clip != f64::INFINITY);
    let clip = clip.map(checked_clip).transpose()?;
    Ok(RecurrentCell { kind, activations, clip })
}

/// A list of numbers; empty without the attribute.
fn number_list(call: &Call<'_>, name: &str) -> LoweringResult<Vec<f64>> {
    let text = call.layer.attribute(name).unwrap_or_default();
    let numbers = text.split(',').map(str::trim).filter(|number| !number.is_empty());
    let wrong = |_| FormatErrorKind::attribute(name, "is no list of numbers");
    numbers.map(|number| number.parse().map_err(wrong)).collect()
}
