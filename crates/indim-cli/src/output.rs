//! What commands say: results on standard output, warnings on standard error.

use std::io::{self, Write};

use indim::explain::ExplainedBroadcast;
use indim::{Diagnostic, Expression};
use indim_graph::terminal::{lines_shown, shown};

/// Writes to standard output; a reader that has seen enough is no error.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Diagnostic> {
    let mut output = io::stdout().lock();
    written(output.write_all(bytes).and_then(|()| output.flush()))
}

/// What came of writing to standard output; a reader that has seen enough is no error.
pub(crate) fn written(result: io::Result<()>) -> Result<(), Diagnostic> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Diagnostic::new("io", format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Says something on standard error. All that is said there passes through here, so that nothing in a
/// name, a file or an argument can steer the terminal.
pub(crate) fn say(message: &str) {
    eprintln!("{}", lines_shown(message.trim_end()));
}

/// Says on standard error which broadcasts are outer products that may surprise.
pub(crate) fn warn_of_outer_products(broadcasts: &[ExplainedBroadcast]) {
    for broadcast in broadcasts {
        if let Some(warning) = broadcast.outer_product_warning() {
            say(&format!("warning[outer-product]: {warning}"));
        }
    }
}

/// Says on standard error which names are assigned for nothing.
pub(crate) fn note_unused(expression: &Expression) {
    for name in expression.unused() {
        say(&format!(
            "note[unused-value]: no result depends on `{}`, so it is not computed",
            shown(name)
        ));
    }
}
