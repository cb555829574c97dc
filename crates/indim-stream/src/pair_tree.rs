//! Results of neighbouring pieces, combined to those of the whole by the tree that a sum takes in memory.

use indim_cpu::Buffer;
use indim_graph::chunks::partial_count;

use crate::error::StreamError;
use crate::programs::Programs;

/// Results of pieces of a reduction: those of complete pairs, pairs of pairs and so on.
#[derive(Default)]
pub(crate) struct PairTree {
    /// Of how many levels of pairs each is made, the largest first; no results where there are no elements.
    waiting: Vec<(usize, Option<Vec<Buffer>>)>,
}

impl PairTree {
    /// Adds the results of what comes next, which are made of `level` levels of pairs: those of a piece, one
    /// or more for each reduction. Neighbours are combined first.
    pub(crate) fn add(
        &mut self,
        mut level: usize,
        mut results: Option<Vec<Buffer>>,
        programs: &mut Programs<'_>,
    ) -> Result<(), StreamError> {
        while let Some((_, before)) = self.waiting.pop_if(|(waiting, _)| *waiting == level) {
            results = combined(before, results, programs)?;
            level += 1;
        }
        self.waiting.push((level, results));
        Ok(())
    }

    /// The results of all: odd ones are carried up to where they meet a neighbour. `None` without elements.
    pub(crate) fn finish(
        &mut self,
        programs: &mut Programs<'_>,
    ) -> Result<Option<Vec<Buffer>>, StreamError> {
        let mut results = None;
        while let Some((_, before)) = self.waiting.pop() {
            results = combined(before, results, programs)?;
        }
        Ok(results)
    }

    /// One result of each reduction, of all that was added; a search has several.
    pub(crate) fn finish_each(
        &mut self,
        programs: &mut Programs<'_>,
    ) -> Result<Vec<Buffer>, StreamError> {
        let mut results = self.finish(programs)?.unwrap_or_default().into_iter();
        let of_each = programs.reductions().iter().map(|&op| {
            let result = results.next();
            results.by_ref().take(partial_count(op) - 1).for_each(drop);
            result
        });
        Ok(of_each.flatten().collect())
    }
}

fn combined(
    before: Option<Vec<Buffer>>,
    behind: Option<Vec<Buffer>>,
    programs: &mut Programs<'_>,
) -> Result<Option<Vec<Buffer>>, StreamError> {
    match (before, behind) {
        (Some(before), Some(behind)) => programs.combined(&before, &behind).map(Some),
        (one, None) | (None, one) => Ok(one),
    }
}
