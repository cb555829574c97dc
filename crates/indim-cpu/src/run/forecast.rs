//! What a run will read, write and hold, known before anything is allocated.

use core::fmt;

use indim_graph::lower::loop_nest::{BufferId, LoopProgram};
use indim_graph::lower::scratch::array_bytes;
use indim_ops::ArrayType;

use crate::run::error::RunError;

/// What a run will read, write and hold, known before anything is allocated.
///
/// ```
/// use indim_cpu::{CompileOptions, compile};
/// use indim_graph::GraphBuilder;
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
    Program {
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
            MemoryPiece::Program { bytes } => *bytes,
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
            MemoryPiece::Program { .. } => {
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

/// What is held for a run.
pub(crate) struct Held {
    pub(crate) forecast: Forecast,
    /// What the caller holds of the inputs.
    pub(crate) input_bytes: usize,
    /// What the executable itself holds.
    pub(crate) executable_bytes: usize,
}

/// Refuses a run for which more than `limit` bytes would be held; `allocates_outputs` says whether its
/// outputs are new memory.
pub(crate) fn check_limit(
    limit: usize,
    held: &Held,
    loops: &LoopProgram,
    threads: usize,
    allocates_outputs: bool,
) -> Result<(), RunError> {
    let Held { forecast, input_bytes, executable_bytes } = held;
    let given = if allocates_outputs { 0 } else { forecast.bytes_written };
    let run_bytes = forecast.peak_bytes(threads).saturating_sub(given);
    let bytes = run_bytes.saturating_add(*input_bytes).saturating_add(*executable_bytes);
    if bytes <= limit {
        return Ok(());
    }
    let array = |buffer: BufferId, array_type: &ArrayType| MemoryPiece::Array {
        name: buffer.to_string(),
        array_type: array_type.clone(),
    };
    let outputs = loops.outputs.iter().enumerate().filter(|_| allocates_outputs);
    let temporaries = loops.temporaries.iter().enumerate();
    let counters = loops.counters.iter().enumerate();
    let pieces = outputs
        .map(|(index, output)| array(BufferId::Output(index), output))
        .chain(temporaries.map(|(index, t)| array(BufferId::Temporary(index), t)))
        .chain(counters.map(|(index, &(dtype, length))| {
            array(BufferId::Counter(index), &ArrayType::new(dtype, [length]))
        }));
    let others = [
        MemoryPiece::Inputs { bytes: *input_bytes },
        MemoryPiece::Program { bytes: *executable_bytes },
    ];
    let pieces = pieces.chain(others);
    let registers = MemoryPiece::Registers { threads, bytes: forecast.register_bytes };
    let larger = |a: MemoryPiece, b: MemoryPiece| if b.bytes() > a.bytes() { b } else { a };
    Err(RunError::MemoryLimit { bytes, limit, largest: pieces.fold(registers, larger) })
}
