//! Progress of a command, drawn on the terminal if it takes long enough.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The delay before the bar is drawn, so that short commands show none.
const DRAW_DELAY: Duration = Duration::from_millis(500);

/// A progress bar on standard error, if that is a terminal. Drop clears the bar.
pub(crate) struct TerminalProgress {
    bar: ProgressBar,
    done: AtomicUsize,
}

impl TerminalProgress {
    /// A bar of a computation, in elements.
    pub(crate) fn of_elements(count: usize) -> Self {
        Self::new(count, "{bar:40} {percent}% of {len} elements, {eta} left")
    }

    /// A bar of writing, in bytes.
    pub(crate) fn of_bytes(count: usize) -> Self {
        Self::new(count, "{bar:40} {percent}% of {binary_total_bytes} written, {eta} left")
    }

    fn new(count: usize, template: &str) -> Self {
        let bar = match io::stderr().is_terminal() {
            true => ProgressBar::new(count as u64),
            false => ProgressBar::hidden(),
        };
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        TerminalProgress { bar: bar.with_style(style), done: AtomicUsize::new(0) }
    }

    /// Adds to the amount that is done; any thread may call it.
    pub(crate) fn advance(&self, count: usize) {
        let done = self.done.fetch_add(count, Ordering::Relaxed) + count;
        if self.bar.elapsed() > DRAW_DELAY {
            self.bar.set_position(done as u64);
        }
    }
}

impl Drop for TerminalProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
