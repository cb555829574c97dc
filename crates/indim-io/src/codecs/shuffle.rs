//! Blosc's byte shuffle, and the inverses of its byte and bit shuffles.

/// Unshuffles bytes: `from` has the first byte of each element of `element_size` bytes, then the second
/// byte of each, and so on. A remainder shorter than an element follows unchanged.
pub fn unshuffle_bytes(from: &[u8], element_size: usize, to: &mut [u8]) {
    let count = from.len() / element_size;
    for (byte, plane) in from[..count * element_size].chunks_exact(count.max(1)).enumerate() {
        for (index, &value) in plane.iter().enumerate() {
            to[index * element_size + byte] = value;
        }
    }
    to[count * element_size..].copy_from_slice(&from[count * element_size..]);
}

/// Unshuffles bits: for each byte of an element, `from` has bit 0 of all elements, then bit 1 of all, and so
/// on. Blosc shuffles bits only if the number of elements is a multiple of eight.
pub(crate) fn unshuffle_bits(from: &[u8], element_size: usize, to: &mut [u8]) {
    let count = from.len() / element_size;
    debug_assert!(count.is_multiple_of(8), "the bits of {count} elements are as they were");
    let row = count / 8;
    to[..count * element_size].fill(0);
    for byte in 0..element_size {
        for bit in 0..8 {
            let plane = &from[(byte * 8 + bit) * row..][..row];
            for (group, &bits) in plane.iter().enumerate() {
                for index in 0..8 {
                    to[(group * 8 + index) * element_size + byte] |= (bits >> index & 1) << bit;
                }
            }
        }
    }
    to[count * element_size..].copy_from_slice(&from[count * element_size..]);
}

/// The inverse of [`unshuffle_bytes`].
pub(crate) fn shuffle_bytes(from: &[u8], element_size: usize, to: &mut [u8]) {
    let count = from.len() / element_size;
    let (planes, rest) = to.split_at_mut(count * element_size);
    for (byte, plane) in planes.chunks_exact_mut(count.max(1)).enumerate() {
        for (value, element) in plane.iter_mut().zip(from.chunks_exact(element_size)) {
            *value = element[byte];
        }
    }
    rest.copy_from_slice(&from[count * element_size..]);
}
