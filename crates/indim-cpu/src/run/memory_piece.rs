//! Pieces of the memory that a run holds, for errors.

use core::fmt;

use indim_loops::scratch::array_bytes;
use indim_ops::ArrayType;

/// A piece of the memory that a run holds.
///
/// ```
/// use indim_cpu::MemoryPiece;
/// use indim_ops::{ArrayType, DType};
///
/// let array_type = ArrayType::new(DType::F32, [1000]);
/// assert_eq!(MemoryPiece::Array { name: "output 0".to_owned(), array_type }.bytes(), 4000);
/// assert_eq!(MemoryPiece::Registers { threads: 2, bytes: 4096 }.bytes(), 8192);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryPiece {
    /// An output, a temporary or a counter.
    Array {
        /// Its name: `output 0`.
        name: String,
        /// Its type.
        array_type: ArrayType,
    },
    /// The executable itself, with its constants.
    Executable {
        /// Its bytes.
        bytes: usize,
    },
    /// The virtual registers of all threads.
    Registers {
        /// The number of threads.
        threads: usize,
        /// The bytes of each thread.
        bytes: usize,
    },
    /// Memory of the caller for the inputs.
    Inputs {
        /// Its bytes.
        bytes: usize,
    },
}

impl MemoryPiece {
    /// The bytes of the piece.
    pub fn bytes(&self) -> usize {
        match self {
            MemoryPiece::Array { array_type, .. } => array_bytes(array_type),
            MemoryPiece::Executable { bytes } => *bytes,
            MemoryPiece::Registers { threads, bytes } => threads.saturating_mul(*bytes),
            MemoryPiece::Inputs { bytes } => *bytes,
        }
    }
}

impl fmt::Display for MemoryPiece {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes();
        match self {
            MemoryPiece::Array { name, array_type } => {
                write!(formatter, "{name}, {array_type}, with {bytes} bytes")
            }
            MemoryPiece::Executable { .. } => {
                write!(formatter, "the compiled program, with {bytes} bytes")
            }
            MemoryPiece::Registers { threads, .. } => {
                let plural = if *threads == 1 { "" } else { "s" };
                write!(formatter, "the registers of {threads} thread{plural}, with {bytes} bytes")
            }
            MemoryPiece::Inputs { .. } => {
                write!(formatter, "the inputs that were read into memory, with {bytes} bytes")
            }
        }
    }
}
