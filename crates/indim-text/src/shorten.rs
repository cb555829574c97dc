//! Shortened quotations of a text for messages.

use indim_graph::terminal::printable_within;

/// Maximum width of a quotation in a message, in columns.
const NAME_WIDTH: usize = 40;

/// A quotation in one line; `...` replaces the text beyond [`NAME_WIDTH`].
pub(crate) fn shorten(text: &str) -> String {
    let in_one_line = |c: char| if c.is_whitespace() { ' ' } else { c };
    // `printable_within` reads at most 4 bytes for each column. One character more shows that the text
    // continues.
    let text: String = text.chars().take(4 * NAME_WIDTH + 1).map(in_one_line).collect();
    printable_within(&text, NAME_WIDTH)
}
