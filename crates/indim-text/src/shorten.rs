//! Shortened quotations of a text for messages.

use indim_graph::terminal::shown_within;

/// Columns that a quotation takes in a message at most.
const NAME_WIDTH: usize = 40;

/// A quotation in one line, with dots in place of the excess.
pub(crate) fn shorten(text: &str) -> String {
    let in_one_line = |c: char| if c.is_whitespace() { ' ' } else { c };
    // One character more than the quotation can hold, so that `shown_within` sees that the text continues.
    let text: String = text.chars().take(4 * NAME_WIDTH + 1).map(in_one_line).collect();
    shown_within(&text, NAME_WIDTH)
}
