//! The blocks of scans: 512 elements of one line, or 512 elements of each of several neighbouring lines.
//! A block consists of *runs* of `RUN_LENGTH` elements.

use indim_ops::meaning::scan::{RUN_LENGTH, SCAN_BLOCK};
use indim_ops::{Element, Fold, ScalarBackend, ScanCarry};

/// Runs that are folded side by side, to hide the latency of their folds.
const PARALLEL_RUNS: usize = 8;

/// Replaces the elements of a block of one line, at most [`SCAN_BLOCK`], by the results. Returns the fold of
/// the block.
#[inline(always)]
pub fn scan_line<F: Fold<A>, A: Element>(
    carry: &ScanCarry<A>,
    elements: &mut [A],
    exclusive: bool,
) -> A {
    let mut before = F::identity::<ScalarBackend>();
    let mut add_earlier = |elements: &mut [A], total: A| {
        for element in elements {
            *element = carry.result::<F>(before, *element);
        }
        before = F::combine::<ScalarBackend>(before, total);
    };
    let (whole, rest) = elements.as_chunks_mut::<{ PARALLEL_RUNS * RUN_LENGTH }>();
    for runs in whole {
        let totals = scan_runs::<F, A, PARALLEL_RUNS>(runs, exclusive);
        for (run, total) in runs.chunks_exact_mut(RUN_LENGTH).zip(totals) {
            add_earlier(run, total);
        }
    }
    for run in rest.chunks_mut(RUN_LENGTH) {
        let [total] = scan_runs::<F, A, 1>(run, exclusive);
        add_earlier(run, total);
    }
    before
}

/// Replaces the elements of `N` runs, which are full unless there is one, by the fold of their run up to each
/// element, without the element itself if `exclusive`. Returns the fold of each run.
#[inline(always)]
fn scan_runs<F: Fold<A>, A: Element, const N: usize>(
    elements: &mut [A],
    exclusive: bool,
) -> [A; N] {
    let mut folds = [F::identity::<ScalarBackend>(); N];
    for position in 0..elements.len() / N {
        for (run, fold) in folds.iter_mut().enumerate() {
            let element = &mut elements[run * RUN_LENGTH + position];
            let next = F::combine::<ScalarBackend>(*fold, *element);
            *element = if exclusive { *fold } else { next };
            *fold = next;
        }
    }
    folds
}

/// The fold of a full block of one line.
#[inline(always)]
pub fn fold_line<F: Fold<A>, A: Element>(elements: &[A]) -> A {
    let mut totals = [F::identity::<ScalarBackend>(); SCAN_BLOCK / RUN_LENGTH];
    for (total, run) in totals.iter_mut().zip(elements.chunks(RUN_LENGTH)) {
        for &element in run {
            *total = F::combine::<ScalarBackend>(*total, element);
        }
    }
    let start = F::identity::<ScalarBackend>();
    totals.iter().fold(start, |fold, &total| F::combine::<ScalarBackend>(fold, total))
}

/// Maximum number of lines that are scanned together, one vector lane each: their state is at most 3 KiB for
/// `f64`.
pub const MAX_SCAN_LANES: usize = 64;

/// The state of neighbouring lines within a block, and the element of each at one position.
pub struct BlockLanes<A> {
    /// Number of lines.
    width: usize,
    /// The fold of the current run. If the order has no effect ([`Fold::IS_ORDERED`]), of all earlier
    /// elements, which takes one combination for each element instead of four.
    run_folds: [A; MAX_SCAN_LANES],
    /// The fold of the earlier runs of the block, if the order has an effect.
    earlier_runs: [A; MAX_SCAN_LANES],
    elements: [A; MAX_SCAN_LANES],
}

impl<A: Element> BlockLanes<A> {
    /// The state before the first element of a block, without the elements before the block.
    ///
    /// # Panics
    /// The methods panic if `width` is above [`MAX_SCAN_LANES`].
    pub fn new<F: Fold<A>>(width: usize) -> Self {
        let none = [F::identity::<ScalarBackend>(); MAX_SCAN_LANES];
        BlockLanes { width, run_folds: none, earlier_runs: none, elements: none }
    }

    /// The state before the first element of a block whose results [`BlockLanes::results`] computes.
    ///
    /// # Panics
    /// If `width` is above [`MAX_SCAN_LANES`].
    pub fn after<F: Fold<A>>(width: usize, carries: &ScanCarries<A>) -> Self {
        let mut lines = Self::new::<F>(width);
        if !F::IS_ORDERED {
            let none = F::identity::<ScalarBackend>();
            for (lane, fold) in lines.run_folds[..width].iter_mut().enumerate() {
                *fold = carries.get(lane).result::<F>(none, none);
            }
        }
        lines
    }

    /// The state of one line at the end of a block whose fold is `total`.
    pub fn of_total(total: A) -> Self {
        let totals = [total; MAX_SCAN_LANES];
        BlockLanes { width: 1, run_folds: totals, earlier_runs: totals, elements: totals }
    }

    /// One element of each line, which [`BlockLanes::results`] replaces by the results.
    pub fn elements(&mut self) -> &mut [A] {
        &mut self.elements[..self.width]
    }

    /// Folds the element of each line.
    #[inline(always)]
    pub fn push<F: Fold<A>>(&mut self) {
        let run_folds = &mut self.run_folds[..self.width];
        for (fold, &element) in run_folds.iter_mut().zip(&self.elements[..self.width]) {
            *fold = F::combine::<ScalarBackend>(*fold, element);
        }
    }

    /// Folds the element of each line, and replaces it by the result.
    #[inline(always)]
    pub fn results<F: Fold<A>>(&mut self, carries: &ScanCarries<A>, exclusive: bool) {
        let width = self.width;
        let (run_folds, earlier_runs) = (&mut self.run_folds[..width], &self.earlier_runs[..width]);
        let (blocks, groups) = (&carries.blocks[..width], &carries.groups[..width]);
        let elements = &mut self.elements[..width];
        for lane in 0..width {
            let next = F::combine::<ScalarBackend>(run_folds[lane], elements[lane]);
            let fold = if exclusive { run_folds[lane] } else { next };
            run_folds[lane] = next;
            let carry = ScanCarry { blocks: blocks[lane], groups: groups[lane] };
            elements[lane] = match F::IS_ORDERED {
                true => carry.result::<F>(earlier_runs[lane], fold),
                false => fold,
            };
        }
    }

    /// Ends a run: its fold joins that of the earlier runs.
    #[inline(always)]
    pub fn end_run<F: Fold<A>>(&mut self) {
        if !F::IS_ORDERED {
            return;
        }
        for (earlier, fold) in self.earlier_runs.iter_mut().zip(&mut self.run_folds) {
            *earlier = F::combine::<ScalarBackend>(*earlier, *fold);
            *fold = F::identity::<ScalarBackend>();
        }
    }

    /// The fold of a whole block for each line, after its last run, with the elements before the block if
    /// the order has no effect.
    pub fn totals<F: Fold<A>>(&self) -> &[A] {
        let totals = if F::IS_ORDERED { &self.earlier_runs } else { &self.run_folds };
        &totals[..self.width]
    }
}

/// The states of neighbouring lines between two blocks, with a list for each field of [`ScanCarry`].
pub struct ScanCarries<A> {
    blocks: [A; MAX_SCAN_LANES],
    groups: [A; MAX_SCAN_LANES],
}

impl<A: Element> ScanCarries<A> {
    /// The states before the first block.
    pub fn first<F: Fold<A>>() -> Self {
        let none = [F::identity::<ScalarBackend>(); MAX_SCAN_LANES];
        ScanCarries { blocks: none, groups: none }
    }

    /// The state of one line.
    ///
    /// # Panics
    /// If `lane` is at least [`MAX_SCAN_LANES`], like [`ScanCarries::set`].
    pub fn get(&self, lane: usize) -> ScanCarry<A> {
        ScanCarry { blocks: self.blocks[lane], groups: self.groups[lane] }
    }

    /// Sets the state of one line.
    pub fn set(&mut self, lane: usize, carry: ScanCarry<A>) {
        (self.blocks[lane], self.groups[lane]) = (carry.blocks, carry.groups);
    }

    /// Sets the states after block number `block`, from the state of the lines at its end.
    pub fn end_block<F: Fold<A>>(&mut self, block: usize, lines: &BlockLanes<A>) {
        for (lane, &total) in lines.totals::<F>().iter().enumerate() {
            let carry = match F::IS_ORDERED {
                true => self.get(lane).after::<F>(block, total),
                false => ScanCarry { blocks: total, ..ScanCarry::first::<F>() },
            };
            self.set(lane, carry);
        }
    }
}
