//! Recurrent layers: `LSTM`, `GRU` and `RNN`.

use indim_builder::{Index, Value};
use indim_model::FormatErrorKind;
use indim_model::recurrent::{
    CellActivation, CellKind, CellWeights, RecurrentCell, RecurrentDirection, RecurrentSequence,
    check_directions, checked_clip, directions, partial_lengths, recurrent_layer,
};
use indim_ops::ArrayType;

use super::call::{Call, LoweringResult};

pub(super) fn lstm(call: &Call<'_>) -> LoweringResult {
    let couples_forget = call.int("input_forget", 0)? != 0;
    layer(call, CellKind::Lstm { gates: [0, 1, 2, 3], couples_forget })
}

pub(super) fn gru(call: &Call<'_>) -> LoweringResult {
    let resets_product = call.int("linear_before_reset", 0)? != 0;
    layer(call, CellKind::Gru { resets_product })
}

pub(super) fn rnn(call: &Call<'_>) -> LoweringResult {
    layer(call, CellKind::Rnn)
}

/// Lowers a recurrent layer. The results are the hidden state after every step, then the final states.
fn layer(call: &Call<'_>, kind: CellKind) -> LoweringResult {
    let directions = directions(&call.text("direction", "forward")?)?;
    let is_batch_first = call.int("layout", 0)? != 0;
    let swapped = |value: &Value, order: &[i64]| match is_batch_first {
        true => call.builder.transpose(value, order),
        false => Ok(value.clone()),
    };
    expect_rank(call, 0, 3)?;
    let x = swapped(call.value(0)?, &[1, 0, 2])?;
    let lengths = call.optional(4).map(|lengths| partial_lengths(lengths, &x));
    let lengths = lengths.transpose()?.flatten();
    let activations = activations(call, kind, directions.len())?;
    let clip = call.optional_float("clip")?.map(checked_clip).transpose()?;
    let mut layer = Vec::with_capacity(directions.len());
    for (number, (&is_reversed, activations)) in directions.iter().zip(activations).enumerate() {
        let cell = RecurrentCell { kind, activations, clip };
        let weights = weights(call, kind, (number, directions.len()))?;
        let mut initial = Vec::with_capacity(kind.states());
        for state in 0..kind.states() {
            initial.push(match call.optional(5 + state) {
                Some(given) => {
                    expect_rank(call, 5 + state, 3)?;
                    direction_part(
                        call,
                        &swapped(&given.value, &[1, 0, 2])?,
                        number,
                        directions.len(),
                    )?
                }
                None => zeros(call, &x, &weights)?,
            });
        }
        layer.push(RecurrentDirection { cell, weights, initial, is_reversed });
    }
    let results = recurrent_layer(call.builder, &RecurrentSequence { x, lengths }, &layer)?;
    let mut values = vec![swapped(&results.all, &[2, 0, 1, 3])?.into()];
    for state in &results.finals {
        values.push(swapped(state, &[1, 0, 2])?.into());
    }
    Ok(values)
}

/// The activation functions of each direction. A function with parameters takes the next elements of
/// `activation_alpha` and `activation_beta`.
fn activations(
    call: &Call<'_>,
    kind: CellKind,
    directions: usize,
) -> Result<Vec<Vec<CellActivation>>, FormatErrorKind> {
    let default = match kind {
        CellKind::Lstm { .. } => &["Sigmoid", "Tanh", "Tanh"][..],
        CellKind::Gru { .. } => &["Sigmoid", "Tanh"],
        CellKind::Rnn => &["Tanh"],
    };
    let wrong = |problem: String| FormatErrorKind::attribute("activations", problem);
    let count = default.len() * directions;
    let named = call.texts("activations")?.unwrap_or_default();
    let names: Vec<String> = match named.len() {
        0 => default.iter().cycle().take(count).map(|&name| name.to_owned()).collect(),
        given if given == count => named,
        given => return Err(wrong(format!("has {given} names, not {count}"))),
    };
    let numbers = |name| -> Result<_, FormatErrorKind> {
        Ok(call.floats(name)?.unwrap_or_default().iter().map(|&number| f64::from(number)))
    };
    let (mut alpha, mut beta) = (numbers("activation_alpha")?, numbers("activation_beta")?);
    let mut functions = Vec::with_capacity(count);
    for name in names {
        let function = CellActivation::named(&name, || alpha.next(), || beta.next());
        functions.push(function.ok_or_else(|| wrong(format!("names no function: {name}")))?);
    }
    Ok(functions.chunks(default.len()).map(<[CellActivation]>::to_vec).collect())
}

/// The weights, biases and peepholes of the direction `number`.
fn weights(
    call: &Call<'_>,
    kind: CellKind,
    (number, directions): (usize, usize),
) -> Result<CellWeights, FormatErrorKind> {
    let of = |position: usize, rank: usize| -> Result<Value, FormatErrorKind> {
        expect_rank(call, position, rank)?;
        direction_part(call, call.value(position)?, number, directions)
    };
    let recurrent = of(2, 3)?;
    let hidden = recurrent.array_type()?.shape[1];
    let stated = call.optional_int("hidden_size")?.unwrap_or(hidden as i64);
    if stated != hidden as i64 {
        let problem = format!("is {stated}, the weights have {hidden}");
        return Err(FormatErrorKind::attribute("hidden_size", problem));
    }
    let rows = hidden.saturating_mul(kind.gates()) as i64;
    let (mut input_bias, mut recurrent_bias) = (None, None);
    if call.optional(3).is_some() {
        let bias = of(3, 2)?;
        let sizes = bias.array_type()?.shape;
        if sizes[0] as i64 != rows.saturating_mul(2) {
            let expected =
                format!("{} elements of a bias, not {}", rows.saturating_mul(2), sizes[0]);
            return Err(FormatErrorKind::Unexpected { expected });
        }
        let half =
            |start, stop| call.builder.index(&bias, &[Index::Slice { start, stop, step: None }]);
        (input_bias, recurrent_bias) =
            (Some(half(None, Some(rows))?), Some(half(Some(rows), None)?));
    }
    let has_peepholes = kind.states() == 2 && call.optional(7).is_some();
    let peepholes = has_peepholes.then(|| of(7, 2)).transpose()?;
    Ok(CellWeights { input: of(1, 3)?, recurrent, input_bias, recurrent_bias, peepholes })
}

/// The part of an operand for the direction `number`: its index along axis 0.
fn direction_part(
    call: &Call<'_>,
    value: &Value,
    number: usize,
    directions: usize,
) -> Result<Value, FormatErrorKind> {
    check_directions(directions, value.array_type()?.shape[0])?;
    Ok(call.builder.index(value, &[Index::At(number as i64)])?)
}

/// The initial state if the node has no operand for it: zeros.
fn zeros(call: &Call<'_>, x: &Value, weights: &CellWeights) -> Result<Value, FormatErrorKind> {
    let ArrayType { dtype, shape } = x.array_type()?;
    let hidden = weights.recurrent.array_type()?.shape[1];
    Ok(call.builder.zeros(&ArrayType::new(dtype, [shape[1], hidden]))?)
}

fn expect_rank(call: &Call<'_>, position: usize, rank: usize) -> Result<(), FormatErrorKind> {
    let given = call.shape(position)?.rank();
    let expected = format!("{rank} axes of operand {position}, not {given}");
    if given == rank { Ok(()) } else { Err(FormatErrorKind::Unexpected { expected }) }
}
