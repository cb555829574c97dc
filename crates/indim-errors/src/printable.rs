//! Classification of printable characters.

/// Whether a character of untrusted text is safe to print: it is assigned, and does not control a terminal,
/// break a line or change the writing direction.
///
/// Combining characters are printable, as in `e\u{301}`.
///
/// ```
/// use indim_errors::is_printable;
///
/// assert!("it's größe 幅 e\u{301} 🦀".chars().all(is_printable));
/// assert!(!"\n\u{1b}\u{202e}\u{feff}\u{e000}\u{ffff}".chars().any(is_printable));
/// ```
pub fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return character == ' ' || character.is_ascii_graphic();
    }
    // `escape_debug` escapes unprintable characters; after a letter it leaves combining characters unescaped.
    let mut text = [b'a', 0, 0, 0, 0];
    let bytes = character.encode_utf8(&mut text[1..]).len();
    let behind_letter = core::str::from_utf8(&text[..=bytes]).unwrap_or_default();
    behind_letter.escape_debug().nth(1) == Some(character)
}

#[cfg(test)]
mod tests {
    use super::is_printable;

    #[test]
    fn no_printable_character_steers_breaks_lines_or_turns_the_direction() {
        let turns = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}');
        let is_invisible = |c: char| matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}');
        let is_private = |c: char| matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..);
        let is_none = |c: char| matches!(u32::from(c) & 0xffff, 0xfffe | 0xffff);
        for character in '\0'..=char::MAX {
            let steers = character.is_control() || turns(character) || is_invisible(character);
            let means_nothing = is_private(character) || is_none(character);
            assert!(!is_printable(character) || !steers && !means_nothing, "{character:?}");
            // Letters and digits of all alphabets, as Rust defines them.
            assert!(is_printable(character) || !character.is_alphanumeric(), "{character:?}");
        }
    }
}
