//! Progress within long tiles, counted in steps of work.

use core::ops::ControlFlow;

use crate::executor::TileProgress;

/// Steps between two reports: about a millisecond of cache misses.
const STEPS_PER_REPORT: usize = 1 << 16;

/// Reports the elements of tiles while they run, in proportion to the steps of their work. A step is the
/// work of one pass on one element.
///
/// ```
/// use core::ops::ControlFlow;
/// use indim_executors::StepProgress;
///
/// let computed = std::sync::Mutex::new(Vec::new());
/// let progress = |elements: usize| {
///     computed.lock().unwrap().push(elements);
///     ControlFlow::Continue(())
/// };
/// // Four passes over 100 000 elements; the fourth has nothing to do.
/// let mut steps = StepProgress::new(&progress, 100_000, 4);
/// for _ in 0..3 {
///     assert!(steps.advance(100_000).is_continue());
/// }
/// assert!(steps.finish().is_continue());
/// assert_eq!(*computed.lock().unwrap(), [25_000, 25_000, 25_000, 25_000]);
/// ```
pub struct StepProgress<'a> {
    progress: &'a TileProgress<'a>,
    /// Elements that are not reported.
    elements: usize,
    steps_per_element: usize,
    /// Steps since the last report.
    steps: usize,
}

impl<'a> StepProgress<'a> {
    /// The progress of `elements` elements that take at most about `steps_per_element` steps each.
    pub fn new(
        progress: &'a TileProgress<'a>,
        elements: usize,
        steps_per_element: usize,
    ) -> StepProgress<'a> {
        StepProgress { progress, elements, steps_per_element, steps: 0 }
    }

    /// Counts steps, and reports after every some of them. `Break` if the run must stop.
    #[inline]
    pub fn advance(&mut self, steps: usize) -> ControlFlow<()> {
        self.steps += steps;
        if self.steps < STEPS_PER_REPORT {
            return ControlFlow::Continue(());
        }
        let elements = (self.steps / self.steps_per_element.max(1)).min(self.elements);
        self.elements -= elements;
        self.steps = 0;
        (self.progress)(elements)
    }

    /// Reports the elements that are left. `Break` if the run must stop.
    pub fn finish(self) -> ControlFlow<()> {
        (self.progress)(self.elements)
    }
}
