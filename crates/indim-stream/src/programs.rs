//! The compiled programs of a pass: one for each shape of its pieces.

use std::collections::HashMap;

use indim_cpu::{ArrayView, Buffer, CompileOptions, Executable, RunOptions, compile};

use crate::error::StreamError;
use crate::plan::Pass;

/// The programs of a pass; there are few shapes, since only the last piece along an axis has another size.
pub(crate) struct Programs<'a> {
    pass: &'a Pass,
    options: &'a CompileOptions,
    others: HashMap<Vec<usize>, Executable>,
}

impl<'a> Programs<'a> {
    pub(crate) fn new(pass: &'a Pass, options: &'a CompileOptions) -> Self {
        Programs { pass, options, others: HashMap::new() }
    }

    /// Runs the program for a piece of this shape on these parts of its inputs.
    pub(crate) fn run(
        &mut self,
        piece: &[usize],
        inputs: &[ArrayView<'_>],
    ) -> Result<Vec<Buffer>, StreamError> {
        Ok(self.executable(piece)?.run_with(inputs, &RunOptions::default())?)
    }

    fn executable(&mut self, piece: &[usize]) -> Result<&Executable, StreamError> {
        if piece == self.pass.piece {
            return Ok(&self.pass.executable);
        }
        if !self.others.contains_key(piece) {
            let graph = self.pass.job.program(piece).map_err(StreamError::Graph)?;
            self.others.insert(piece.to_vec(), compile(&graph, self.options)?);
        }
        Ok(&self.others[piece])
    }
}
