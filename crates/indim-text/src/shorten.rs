//! Pieces of a text that messages quote.

use indim_graph::terminal::shown_within;

/// Names and found text are cut to so many columns in messages.
const NAME_WIDTH: usize = 40;

/// A piece of the text in one line, with dots in place of what is too long for a message.
pub(crate) fn shorten(text: &str) -> String {
    let in_one_line = |c: char| if c.is_whitespace() { ' ' } else { c };
    // No more than what can be shown is looked at, and a bit, so that it is seen to go on.
    let text: String = text.chars().take(4 * NAME_WIDTH + 1).map(in_one_line).collect();
    shown_within(&text, NAME_WIDTH)
}
