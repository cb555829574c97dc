//! Choices from the input's bytes, for the targets that generate shapes, texts or graphs from them.

/// A function from a limit, at least 1, to a number below the limit, which it reads from the next bytes:
/// none for the limit 1, one byte up to 2^8, two bytes up to 2^16, else four. Once the bytes are used
/// up, every choice is 0.
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
