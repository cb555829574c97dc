//! The input's bytes as choices, for the targets that make something structured of them.

/// A function that gives a number below a limit, which is at least 1, from the next bytes: one where
/// one can say it, else two or four. When the bytes are used up every choice is 0.
pub(crate) fn choices(bytes: &[u8]) -> impl FnMut(usize) -> usize {
    let mut rest = bytes;
    move |limit| {
        let width = match limit {
            1 => 0,
            2..=0x100 => 1,
            0x101..=0x1_0000 => 2,
            _ => 4,
        };
        let (taken, left) = rest.split_at(width.min(rest.len()));
        rest = left;
        taken.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)) % limit
    }
}
