//! Bytes of elements, or bits of them, that were put together by their significance, back in their places.

/// The elements of `element` bytes of which `from` has all first bytes, then all second bytes, and so on;
/// what is less than an element stands at the end as it is.
pub(super) fn unshuffle_bytes(from: &[u8], element: usize, to: &mut [u8]) {
    let count = from.len() / element;
    for (byte, plane) in from[..count * element].chunks_exact(count.max(1)).enumerate() {
        for (index, &value) in plane.iter().enumerate() {
            to[index * element + byte] = value;
        }
    }
    to[count * element..].copy_from_slice(&from[count * element..]);
}

/// Like [`unshuffle_bytes`], of bits: of each byte of the elements all first bits, then all second bits. Of
/// another number of elements than a multiple of eight no bits are shuffled.
pub(super) fn unshuffle_bits(from: &[u8], element: usize, to: &mut [u8]) {
    let count = from.len() / element;
    debug_assert!(count.is_multiple_of(8), "the bits of {count} elements are as they were");
    let row = count / 8;
    to[..count * element].fill(0);
    for byte in 0..element {
        for bit in 0..8 {
            let plane = &from[(byte * 8 + bit) * row..][..row];
            for (group, &bits) in plane.iter().enumerate() {
                for index in 0..8 {
                    to[(group * 8 + index) * element + byte] |= (bits >> index & 1) << bit;
                }
            }
        }
    }
    to[count * element..].copy_from_slice(&from[count * element..]);
}
