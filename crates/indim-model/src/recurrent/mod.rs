//! Recurrent layers: LSTM, GRU and RNN, as loops over products and activations; and the checks of their
//! attributes that ONNX and OpenVINO share.
//!
//! - `activation.rs`: activation functions of cells;
//! - `cell.rs`: a step of a cell;
//! - `layer.rs`: the cells of a sequence, in one direction or both.

mod activation;
mod cell;
mod layer;

use indim_builder::Value;

use crate::error::FormatErrorKind;
use crate::shape_values::KnownValue;

pub use activation::CellActivation;
pub use cell::{CellKind, CellWeights, RecurrentCell, recurrent_step};
pub use layer::{RecurrentDirection, RecurrentResults, RecurrentSequence, recurrent_layer};

/// The directions that an attribute `direction` names. A direction is true if it runs from the last step
/// to the first.
///
/// # Errors
/// `attribute` for another name.
pub fn directions(text: &str) -> Result<&'static [bool], FormatErrorKind> {
    match text {
        "forward" => Ok(&[false]),
        "reverse" => Ok(&[true]),
        "bidirectional" => Ok(&[false, true]),
        _ => {
            let problem = "is neither forward, reverse nor bidirectional";
            Err(FormatErrorKind::attribute("direction", problem))
        }
    }
}

/// Checks the size of an operand's axis of directions.
///
/// # Errors
/// `wrong-count`.
pub fn check_directions(expected: usize, given: usize) -> Result<(), FormatErrorKind> {
    if given == expected {
        return Ok(());
    }
    let (what, expected) = ("directions of weights", expected.to_string());
    Err(FormatErrorKind::Count { what, expected, given })
}

/// The lengths of the sequences of `x`, `[length, batch, input]`; `None` if all are known to be the full
/// length.
///
/// # Errors
/// The first error of an operator.
pub fn partial_lengths(lengths: &KnownValue, x: &Value) -> Result<Option<Value>, FormatErrorKind> {
    let whole = x.array_type()?.shape[0] as i64;
    let is_whole = lengths.integers().is_some_and(|known| known.iter().all(|&it| it == whole));
    Ok((!is_whole).then(|| lengths.value.clone()))
}

/// Checks the bound on the arguments of gate functions, and returns it.
///
/// # Errors
/// `attribute` unless it is positive.
pub fn checked_clip(clip: f64) -> Result<f64, FormatErrorKind> {
    let wrong = || FormatErrorKind::attribute("clip", "is not positive");
    if clip > 0.0 { Ok(clip) } else { Err(wrong()) }
}
