//! Recurrent layers: LSTM, GRU and RNN, as loops over products and activations.
//!
//! - `activation.rs`: activation functions of cells;
//! - `cell.rs`: a step of a cell;
//! - `layer.rs`: the cells of a sequence, in one direction or both.

mod activation;
mod cell;
mod layer;

pub use activation::CellActivation;
pub use cell::{CellKind, CellWeights, RecurrentCell};
pub use layer::{RecurrentDirection, RecurrentResults, RecurrentSequence};
