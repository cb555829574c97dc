//! Results of pieces that are reduced, combined to those of the whole by the tree that a sum takes in memory.

use indim_cpu::{Buffer, CompileOptions, Executable, RunOptions, compile};
use indim_graph::{Graph, GraphAssembler, NodeKind};
use indim_ops::{ArrayType, Op};

use crate::error::StreamError;

/// What has been combined so far: of complete pairs, pairs of pairs and so on.
pub(crate) struct Partial<'a> {
    /// Of each result of a piece the operation that combines two.
    operations: &'a [Op],
    options: &'a CompileOptions,
    /// How many levels of pairs each is made of, the largest first, and the results.
    waiting: Vec<(usize, Vec<Buffer>)>,
    combination: Option<Executable>,
}

impl<'a> Partial<'a> {
    pub(crate) fn new(operations: &'a [Op], options: &'a CompileOptions) -> Self {
        Partial { operations, options, waiting: Vec::new(), combination: None }
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

    /// The results of all pieces: odd ones are carried up to where they meet a neighbour. None without
    /// pieces.
    pub(crate) fn finish(mut self) -> Result<Option<Vec<Buffer>>, StreamError> {
        let Some((_, mut results)) = self.waiting.pop() else { return Ok(None) };
        while let Some((_, before)) = self.waiting.pop() {
            results = self.combined(&before, &results)?;
        }
        Ok(Some(results))
    }

    fn combined(&mut self, x: &[Buffer], y: &[Buffer]) -> Result<Vec<Buffer>, StreamError> {
        if self.combination.is_none() {
            let types = x.iter().map(|result| result.array_type().clone());
            let graph = combination(self.operations, types).map_err(StreamError::Graph)?;
            self.combination = Some(compile(&graph, self.options)?);
        }
        let views: Vec<_> = x.iter().chain(y).map(Buffer::view).collect();
        let Some(combination) = &self.combination else { return Ok(Vec::new()) };
        Ok(combination.run_with(&views, &RunOptions::default())?)
    }
}

/// The graph that combines two results of each type.
fn combination(
    operations: &[Op],
    types: impl Iterator<Item = ArrayType> + Clone,
) -> Result<Graph, indim_graph::VerifyErrorKind> {
    let mut assembler = GraphAssembler::new();
    let mut parameters = Vec::new();
    for (index, array_type) in types.clone().chain(types.clone()).enumerate() {
        let kind = NodeKind::Parameter { index, name: format!("x{index}") };
        parameters.push(assembler.add(kind, &[], array_type)?);
    }
    let (x, y) = parameters.split_at(operations.len());
    let mut outputs = Vec::new();
    for ((&op, array_type), operands) in operations.iter().zip(types).zip(x.iter().zip(y)) {
        let operands = [*operands.0, *operands.1];
        outputs.push(assembler.add(NodeKind::Elementwise(op), &operands, array_type)?);
    }
    assembler.finish(outputs)
}
