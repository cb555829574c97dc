//! Results of pieces that are reduced, combined to those of the whole by the tree that a sum takes in memory.

use indim_cpu::{Buffer, CompileOptions, Executable, RunOptions, compile};
use indim_graph::chunks::{combine, partial_count};
use indim_graph::{Graph, GraphAssembler, NodeKind, ValueId};
use indim_ops::{ArrayType, ReduceOp};

use crate::error::StreamError;

/// Partial results of a reduction tree: complete pairs, pairs of pairs and so on.
pub(crate) struct Partial<'a> {
    /// Whose results these are, one after the other; a reduction may have several of a piece.
    reductions: &'a [ReduceOp],
    options: &'a CompileOptions,
    /// How many levels of pairs each is made of, the largest first, and the results.
    waiting: Vec<(usize, Vec<Buffer>)>,
    combination: Option<Executable>,
}

impl<'a> Partial<'a> {
    pub(crate) fn new(reductions: &'a [ReduceOp], options: &'a CompileOptions) -> Self {
        Partial { reductions, options, waiting: Vec::new(), combination: None }
    }

    /// Adds the results of the next piece. Neighbours are combined first.
    pub(crate) fn add(&mut self, results: Vec<Buffer>) -> Result<(), StreamError> {
        let (mut level, mut results) = (0, results);
        while self.waiting.last().is_some_and(|(waiting, _)| *waiting == level) {
            let Some((_, before)) = self.waiting.pop() else { break };
            results = self.combined(&before, &results)?;
            level += 1;
        }
        self.waiting.push((level, results));
        Ok(())
    }

    /// One result of each reduction, of all pieces: odd ones are carried up to where they meet a neighbour.
    /// None without pieces.
    pub(crate) fn finish(mut self) -> Result<Option<Vec<Buffer>>, StreamError> {
        let Some((_, mut results)) = self.waiting.pop() else { return Ok(None) };
        while let Some((_, before)) = self.waiting.pop() {
            results = self.combined(&before, &results)?;
        }
        let mut results = results.into_iter();
        let of_each = self.reductions.iter().map(|&op| {
            let result = results.next();
            results.by_ref().take(partial_count(op) - 1).for_each(drop);
            result
        });
        Ok(of_each.collect())
    }

    fn combined(&mut self, x: &[Buffer], y: &[Buffer]) -> Result<Vec<Buffer>, StreamError> {
        if self.combination.is_none() {
            let types = x.iter().map(|result| result.array_type().clone());
            let graph = combination(self.reductions, types).map_err(StreamError::Graph)?;
            self.combination = Some(compile(&graph, self.options)?);
        }
        let views: Vec<_> = x.iter().chain(y).map(Buffer::view).collect();
        let Some(combination) = &self.combination else { return Ok(Vec::new()) };
        Ok(combination.run_with(&views, &RunOptions::default())?)
    }
}

/// The graph that combines the results of two pieces; `types` are the result types of one of them.
fn combination(
    reductions: &[ReduceOp],
    types: impl Iterator<Item = ArrayType> + Clone,
) -> Result<Graph, indim_graph::VerifyErrorKind> {
    let mut assembler = GraphAssembler::new();
    let mut parameters: Vec<ValueId> = Vec::new();
    for (index, array_type) in types.clone().chain(types).enumerate() {
        let kind = NodeKind::Parameter { index, name: format!("x{index}") };
        parameters.push(assembler.add(kind, &[], array_type)?);
    }
    let (mut x, mut y) = parameters.split_at(parameters.len() / 2);
    let mut outputs = Vec::new();
    for &op in reductions {
        let (of_x, of_y);
        (of_x, x) = x.split_at(partial_count(op));
        (of_y, y) = y.split_at(partial_count(op));
        outputs.extend(combine(&mut assembler, op, of_x, of_y)?);
    }
    assembler.finish(outputs)
}
