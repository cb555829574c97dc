//! The forecast of the memory that a run will read, write and hold: its totals, and the check against a
//! limit. `Executable::forecast` in `executable.rs` computes it before the run allocates.

use indim_loops::loop_nest::{BufferId, LoopNests};
use indim_ops::ArrayType;

use crate::run::error::RunError;
use crate::run::memory_piece::MemoryPiece;

/// The memory that a run will read, write and hold, computed before it allocates.
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
    /// Bytes of the inputs that are read. Each element counts once, even if it is broadcast.
    pub bytes_read: usize,
    /// Bytes of the outputs.
    pub bytes_written: usize,
    /// Peak bytes of the temporaries between loop nests, of counters (arrays of the numbers 0, 1, 2, ...),
    /// and of the memory that the threads of a nest share. A temporary is freed after its last reader.
    pub temporary_bytes: usize,
    /// Peak bytes of the virtual registers and accumulators of one thread.
    pub register_bytes: usize,
}

impl Forecast {
    /// Peak memory in bytes of a run with `threads` threads that allocates its outputs. The inputs are not
    /// included.
    pub fn peak_bytes(&self, threads: usize) -> usize {
        let registers = self.register_bytes.saturating_mul(threads);
        self.bytes_written.saturating_add(self.temporary_bytes).saturating_add(registers)
    }
}

/// The memory that counts towards the limit of a run: what the run allocates, the executable, and what the
/// caller reports for the inputs.
pub(crate) struct RunMemory {
    pub(crate) forecast: Forecast,
    /// Bytes that the caller reports for the inputs (`RunOptions::input_bytes`).
    pub(crate) input_bytes: usize,
    /// Bytes of the executable.
    pub(crate) executable_bytes: usize,
    pub(crate) threads: usize,
    /// Whether the run allocates the outputs.
    pub(crate) allocates_outputs: bool,
}

impl RunMemory {
    /// The bytes that count towards the limit.
    pub(crate) fn bytes(&self) -> usize {
        let given = if self.allocates_outputs { 0 } else { self.forecast.bytes_written };
        let run_bytes = self.forecast.peak_bytes(self.threads).saturating_sub(given);
        run_bytes.saturating_add(self.input_bytes).saturating_add(self.executable_bytes)
    }

    /// Refuses a run that would hold more than `limit` bytes; the error names the largest part of this
    /// memory. `nests` are the concrete nests of the run.
    pub(crate) fn check<'a>(
        &self,
        limit: usize,
        nests: impl FnOnce() -> &'a LoopNests,
    ) -> Result<(), RunError> {
        let bytes = self.bytes();
        match bytes <= limit {
            true => Ok(()),
            false => Err(RunError::MemoryLimit { bytes, limit, largest: self.largest(nests()) }),
        }
    }

    /// The largest piece of the memory of the run; the first of several pieces of equal size.
    fn largest(&self, loops: &LoopNests) -> MemoryPiece {
        let array = |buffer: BufferId, array_type: ArrayType| MemoryPiece::Array {
            name: buffer.to_string(),
            array_type,
        };
        let outputs = loops.outputs.iter().enumerate().filter(|_| self.allocates_outputs);
        let outputs =
            outputs.map(|(index, output)| array(BufferId::Output(index), output.concrete()));
        let temporaries = loops.temporaries.iter().enumerate();
        let temporaries =
            temporaries.map(|(index, t)| array(BufferId::Temporary(index), t.concrete()));
        let counters = loops.counters.iter().enumerate().map(|(index, &(dtype, length))| {
            array(BufferId::Counter(index), ArrayType::new(dtype, [length.resolve(&[])]))
        });
        let inputs = MemoryPiece::Inputs { bytes: self.input_bytes };
        let executable = MemoryPiece::Executable { bytes: self.executable_bytes };
        let pieces = outputs.chain(temporaries).chain(counters).chain([inputs, executable]);
        let (threads, bytes) = (self.threads, self.forecast.register_bytes);
        let larger = |a: MemoryPiece, b: MemoryPiece| if b.bytes() > a.bytes() { b } else { a };
        pieces.fold(MemoryPiece::Registers { threads, bytes }, larger)
    }
}
