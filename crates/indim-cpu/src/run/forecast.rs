//! What a run will read, write and hold, known before anything is allocated.

use core::fmt;

use indim_loops::loop_nest::{BufferId, LoopNests};
use indim_loops::scratch::array_bytes;
use indim_ops::ArrayType;

use crate::run::error::RunError;

/// What a run will read, write and hold, known before anything is allocated.
///
/// ```
/// use indim_cpu::{CompileOptions, compile};
/// use indim_builder::GraphBuilder;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [1000])?;
/// let executable = compile(&b.finish(&[-x])?, &CompileOptions::default())?;
/// let forecast = executable.forecast();
/// assert_eq!((forecast.bytes_read, forecast.bytes_written), (4000, 4000));
/// assert!(forecast.peak_bytes(2) >= 4000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Forecast {
    /// The bytes of the inputs that are read, each counted once however often it is broadcast.
    pub bytes_read: usize,
    /// The bytes of the outputs.
    pub bytes_written: usize,
    /// The most bytes that are held between loop nests at a time: what no later nest reads makes room.
    pub temporary_bytes: usize,
    /// The most bytes of registers that a thread holds while it computes.
    pub register_bytes: usize,
}

impl Forecast {
    /// The most memory that a run into new memory holds beside the inputs, with so many threads.
    pub fn peak_bytes(&self, threads: usize) -> usize {
        let registers = self.register_bytes.saturating_mul(threads);
        self.bytes_written.saturating_add(self.temporary_bytes).saturating_add(registers)
    }
}

/// A part of the memory that a run holds.
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
        /// Which one: `output 0`.
        name: String,
        /// Its type.
        array_type: ArrayType,
    },
    /// The executable itself, with its constants.
    Executable {
        /// The bytes that it holds.
        bytes: usize,
    },
    /// The registers of all threads.
    Registers {
        /// How many threads compute.
        threads: usize,
        /// The bytes that each of them holds.
        bytes: usize,
    },
    /// What the caller holds for the inputs.
    Inputs {
        /// The bytes of it.
        bytes: usize,
    },
}

impl MemoryPiece {
    /// The bytes of it.
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

/// What a run holds beside the arrays it is given.
pub(crate) struct Held {
    pub(crate) forecast: Forecast,
    /// What the caller holds of the inputs.
    pub(crate) input_bytes: usize,
    /// What the executable itself holds.
    pub(crate) executable_bytes: usize,
    pub(crate) threads: usize,
    /// Whether the outputs are new memory.
    pub(crate) allocates_outputs: bool,
}

impl Held {
    /// Refuses a run of these nests for which more than `limit` bytes would be held.
    pub(crate) fn check<'a>(
        &self,
        limit: usize,
        nests: impl FnOnce() -> &'a LoopNests,
    ) -> Result<(), RunError> {
        let given = if self.allocates_outputs { 0 } else { self.forecast.bytes_written };
        let run_bytes = self.forecast.peak_bytes(self.threads).saturating_sub(given);
        let bytes =
            run_bytes.saturating_add(self.input_bytes).saturating_add(self.executable_bytes);
        match bytes <= limit {
            true => Ok(()),
            false => Err(RunError::MemoryLimit { bytes, limit, largest: self.largest(nests()) }),
        }
    }

    /// The largest piece, the first of several.
    fn largest(&self, loops: &LoopNests) -> MemoryPiece {
        let array = |buffer: BufferId, array_type: &ArrayType| MemoryPiece::Array {
            name: buffer.to_string(),
            array_type: array_type.clone(),
        };
        let outputs = loops.outputs.iter().enumerate().filter(|_| self.allocates_outputs);
        let outputs = outputs.map(|(index, output)| array(BufferId::Output(index), output));
        let temporaries = loops.temporaries.iter().enumerate();
        let temporaries = temporaries.map(|(index, t)| array(BufferId::Temporary(index), t));
        let counters = loops.counters.iter().enumerate().map(|(index, &(dtype, length))| {
            array(BufferId::Counter(index), &ArrayType::new(dtype, [length]))
        });
        let inputs = MemoryPiece::Inputs { bytes: self.input_bytes };
        let executable = MemoryPiece::Executable { bytes: self.executable_bytes };
        let pieces = outputs.chain(temporaries).chain(counters).chain([inputs, executable]);
        let (threads, bytes) = (self.threads, self.forecast.register_bytes);
        let larger = |a: MemoryPiece, b: MemoryPiece| if b.bytes() > a.bytes() { b } else { a };
        pieces.fold(MemoryPiece::Registers { threads, bytes }, larger)
    }
}
