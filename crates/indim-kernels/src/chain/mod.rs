//! Chains: several cheap operations in one pass over a block. Why, and what they gain, is in
//! `docs/decisions/chains.md`.
//!
//! A chain keeps a piece of 256 or 512 bytes, the *accumulator*, in the processor's vector registers and
//! takes it through all its links; a link is one operation with one operand. Beside the accumulator of
//! values there is another, the *mask*, one byte for each element: comparisons set it, a selection uses it,
//! and a chain whose result is a bool ends by writing it. Bools, and u8 as in `q & 4 != 0`, are computed
//! in it.
//!
//! A link is written in two ways, because it is known in two steps. A [`Link`] says what happens to which
//! value: whoever compiles a nest chooses it, and lists it for users. A [`WiredLink`] says the same in
//! numbers, once the strides are known: an opcode to switch on, and how far to step.
//!
//! `pieces.rs` walks pieces and rows; what a link does with a piece is in `links.rs`, with the mask in
//! `mask.rs`, both by `accumulator.rs`; and how it holds elements in `element.rs`.

mod accumulator;
mod element;
pub(crate) mod links;
mod mask;
mod opcode;
pub(crate) mod pieces;

pub use links::{chain_minimum, chain_operations, chain_sources};
pub use mask::mask_operations;
pub use opcode::Opcode;
pub use pieces::{ACCUMULATOR_BYTES, ChainFn, Rows, WiredLink};

use indim_ops::{DType, Op};

/// The most links of a chain.
pub const MAXIMUM_LINKS: usize = 64;

/// How an operand that is used where it is goes with the elements that are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// An element for each of them, one after another.
    Block,
    /// One element for all.
    Single,
}

/// What a chain holds in vector registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accumulator {
    /// Values of the chain's element type.
    Values,
    /// The mask, as bools.
    Bools,
    /// The mask, as u8.
    Bytes,
}

/// What happens to an accumulator; `O` is what operands are to whoever chooses links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link<O> {
    /// It becomes this value; that of values converts one of another type.
    Load(Accumulator, O),
    /// It is saved.
    Save(Accumulator, usize),
    /// `op` on it alone.
    Unary(Accumulator, Op),
    /// Converted to bools, it is the mask.
    Test(Accumulator),
    /// The mask, converted to the element type, is the accumulator of values.
    Spread,
    /// `op` on it and a value: it becomes the result, or the mask does if `op` compares; a selection goes
    /// by the mask.
    Binary {
        /// The operation.
        op: Op,
        /// Where one operand is.
        accumulator: Accumulator,
        /// The other operand.
        operand: O,
        /// Whether the accumulator is the second operand.
        accumulator_is_second: bool,
    },
    /// The mask is the result.
    WriteMask,
}

impl<O> Link<O> {
    /// Whether it has to do with the mask.
    pub fn is_of_mask(&self) -> bool {
        match *self {
            Link::Load(accumulator, _)
            | Link::Save(accumulator, _)
            | Link::Unary(accumulator, _) => accumulator != Accumulator::Values,
            Link::Test(_) | Link::Spread | Link::WriteMask => true,
            Link::Binary { op, accumulator, .. } => {
                let is_comparison = op.result_dtype(DType::F32) == DType::Bool;
                accumulator != Accumulator::Values || is_comparison || op == Op::Select
            }
        }
    }
}
