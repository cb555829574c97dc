//! `--timing`: how long each phase of a command takes.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use crate::output::print_message;

/// A clock that records phases, and prints them on drop if it has any.
pub(crate) struct Timing {
    /// The end of the previous phase; `None` if the clock is off.
    last: RefCell<Option<Instant>>,
    phases: RefCell<Vec<(&'static str, Duration)>>,
}

impl Timing {
    /// A clock that starts now, or stays off.
    pub(crate) fn new(is_on: bool) -> Self {
        Timing { last: RefCell::new(is_on.then(Instant::now)), phases: RefCell::default() }
    }

    /// Records the end of a phase, by its name.
    pub(crate) fn mark(&self, phase: &'static str) {
        if let Some(last) = &mut *self.last.borrow_mut() {
            self.phases.borrow_mut().push((phase, last.elapsed()));
            *last = Instant::now();
        }
    }
}

impl Drop for Timing {
    fn drop(&mut self) {
        let phases = self.phases.take();
        if phases.is_empty() {
            return;
        }
        let milliseconds = |time: Duration| format!("{:.3} ms", time.as_secs_f64() * 1e3);
        let each = phases.iter().map(|(phase, time)| format!("{phase} {}", milliseconds(*time)));
        let total: Duration = phases.iter().map(|(_, time)| time).sum();
        let each: Vec<String> = each.collect();
        print_message(&format!("note: {}; in all {}", each.join(", "), milliseconds(total)));
    }
}
