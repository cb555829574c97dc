//! Combines the results of neighbouring pieces by the summation tree, so a streamed sum has the bits of a
//! sum in memory.

use indim_cpu::Array;
use indim_transforms::chunks::partial_count;

use crate::error::StreamError;
use crate::programs::Programs;

/// Partial results of a reduction, one for each complete subtree of pairs.
#[derive(Default)]
pub(crate) struct PairTree {
    /// Partial results, each with its height in levels of pairs, the highest first. `None` for a subtree
    /// without elements.
    partial_results: Vec<(usize, Option<Vec<Array>>)>,
}

impl PairTree {
    /// Adds the results of the next subtree, of height `level`: one or more for each reduction. Neighbours of
    /// equal height are combined.
    pub(crate) fn add(
        &mut self,
        mut level: usize,
        mut results: Option<Vec<Array>>,
        programs: &mut Programs<'_>,
    ) -> Result<(), StreamError> {
        while let Some((_, before)) =
            self.partial_results.pop_if(|(partial_results, _)| *partial_results == level)
        {
            results = combine(before, results, programs)?;
            level += 1;
        }
        self.partial_results.push((level, results));
        Ok(())
    }

    /// The results of the whole tree. A subtree without a neighbour moves up unchanged. `None` if the
    /// tree has no elements.
    pub(crate) fn finish(
        &mut self,
        programs: &mut Programs<'_>,
    ) -> Result<Option<Vec<Array>>, StreamError> {
        let mut results = None;
        while let Some((_, before)) = self.partial_results.pop() {
            results = combine(before, results, programs)?;
        }
        Ok(results)
    }

    /// The result of each reduction over the whole tree. An arg-reduction has several partial results; this
    /// is the first of them, the index.
    pub(crate) fn finish_each(
        &mut self,
        programs: &mut Programs<'_>,
    ) -> Result<Vec<Array>, StreamError> {
        let mut results = self.finish(programs)?.unwrap_or_default().into_iter();
        let of_each = programs.reductions().iter().map(|&op| {
            let result = results.next();
            results.by_ref().take(partial_count(op) - 1).for_each(drop);
            result
        });
        Ok(of_each.flatten().collect())
    }
}

fn combine(
    before: Option<Vec<Array>>,
    behind: Option<Vec<Array>>,
    programs: &mut Programs<'_>,
) -> Result<Option<Vec<Array>>, StreamError> {
    match (before, behind) {
        (Some(before), Some(behind)) => programs.combine(&before, &behind).map(Some),
        (one, None) | (None, one) => Ok(one),
    }
}
