//! Output of commands: results on standard output, warnings on standard error.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use indim::errors::{Diagnostic, DiagnosticPart, ErrorCode};
use indim::explain::ExplainedBroadcast;
use indim::text::Expression;
use indim_graph::terminal::{printable, printable_lines};

use crate::color;

/// Writes to standard output; a closed pipe is not an error.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Diagnostic> {
    let mut output = io::stdout().lock();
    ignore_broken_pipe(output.write_all(bytes).and_then(|()| output.flush()))
}

/// The result of writing to standard output; a closed pipe is not an error.
pub(crate) fn ignore_broken_pipe(result: io::Result<()>) -> Result<(), Diagnostic> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Diagnostic::new(ErrorCode::IO, format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints to standard error. All messages go through here or through [`print_diagnostic`], so that control
/// characters in a name, a file or an argument never reach the terminal.
pub(crate) fn print_message(message: &str) {
    let message = printable_lines(message.trim_end());
    write_error(&match message
        .split_once(": ")
        .and_then(|(head, _)| Some((head, title_style(head)?)))
    {
        Some((head, style)) => format!("{style}{head}{style:#}{}", &message[head.len()..]),
        None => message,
    });
}

/// Prints an error, drawn, to standard error.
pub(crate) fn print_diagnostic(diagnostic: &Diagnostic) {
    let mut text = String::new();
    let drawn = diagnostic.write_parts(&mut |kind, part_text| {
        let (style, part_text) = (part_style(kind), printable_lines(part_text));
        write!(text, "{style}{part_text}{style:#}")
    });
    drawn.expect("invariant: text is written to a string");
    write_error(text.trim_end());
}

/// Writes a styled line to standard error; without colours the styles are removed.
fn write_error(text: &str) {
    // A closed standard error cannot be reported.
    let _ = writeln!(AutoStream::new(io::stderr().lock(), color::choice()), "{text}");
}

/// The style of the beginning of a message, such as `error[code]`; `None` if it is not a title.
fn title_style(head: &str) -> Option<Style> {
    let word = head.split('[').next().unwrap_or_default();
    let is_title = head.len() == word.len() || head.ends_with(']');
    let color = match word {
        "error" => AnsiColor::Red,
        "warning" => AnsiColor::Yellow,
        "note" => AnsiColor::Cyan,
        _ => return None,
    };
    is_title.then(|| color.on_default().bold())
}

fn part_style(kind: DiagnosticPart) -> Style {
    match kind {
        DiagnosticPart::Code | DiagnosticPart::Mark => AnsiColor::Red.on_default().bold(),
        DiagnosticPart::Headline => Style::new().bold(),
        DiagnosticPart::Title => AnsiColor::Cyan.on_default().bold(),
        _ => Style::new(),
    }
}

/// Warns on standard error of surprising outer products.
pub(crate) fn warn_of_outer_products(broadcasts: &[ExplainedBroadcast]) {
    for broadcast in broadcasts {
        if let Some(warning) = broadcast.outer_product_warning() {
            print_message(&format!("warning[outer-product]: {warning}"));
        }
    }
}

/// Prints a note to standard error on each name that is assigned but not used.
pub(crate) fn note_unused(expression: &Expression) {
    for name in expression.unused() {
        print_message(&format!(
            "note[unused-value]: no result depends on `{}`, so it is not computed",
            printable(name)
        ));
    }
}
