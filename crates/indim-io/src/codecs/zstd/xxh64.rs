//! The hash xxHash64 with seed 0, the checksum of frames.

const PRIMES: [u64; 5] = [
    0x9e37_79b1_85eb_ca87,
    0xc2b2_ae3d_27d4_eb4f,
    0x1656_67b1_9e37_79f9,
    0x85eb_ca77_c2b2_ae63,
    0x27d4_eb2f_1656_67c5,
];

fn round(sum: u64, word: u64) -> u64 {
    sum.wrapping_add(word.wrapping_mul(PRIMES[1])).rotate_left(31).wrapping_mul(PRIMES[0])
}

/// The hash of some bytes.
pub(super) fn xxh64(bytes: &[u8]) -> u64 {
    let (stripes, rest) = bytes.as_chunks::<32>();
    let mut hash = match stripes {
        [] => PRIMES[4],
        stripes => {
            let mut sums =
                [PRIMES[0].wrapping_add(PRIMES[1]), PRIMES[1], 0, PRIMES[0].wrapping_neg()];
            for stripe in stripes {
                let words = stripe.as_chunks::<8>().0;
                for (sum, word) in sums.iter_mut().zip(words) {
                    *sum = round(*sum, u64::from_le_bytes(*word));
                }
            }
            let turned = [1, 7, 12, 18].iter().zip(sums).map(|(&by, sum)| sum.rotate_left(by));
            let hash = turned.fold(0u64, u64::wrapping_add);
            sums.iter().fold(hash, |hash, &sum| {
                (hash ^ round(0, sum)).wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3])
            })
        }
    };
    hash = hash.wrapping_add(bytes.len() as u64);
    let (words, rest) = rest.as_chunks::<8>();
    for word in words {
        hash ^= round(0, u64::from_le_bytes(*word));
        hash = hash.rotate_left(27).wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3]);
    }
    let (halves, rest) = rest.as_chunks::<4>();
    for half in halves {
        hash ^= u64::from(u32::from_le_bytes(*half)).wrapping_mul(PRIMES[0]);
        hash = hash.rotate_left(23).wrapping_mul(PRIMES[1]).wrapping_add(PRIMES[2]);
    }
    for &byte in rest {
        hash ^= u64::from(byte).wrapping_mul(PRIMES[4]);
        hash = hash.rotate_left(11).wrapping_mul(PRIMES[0]);
    }
    hash = (hash ^ hash >> 33).wrapping_mul(PRIMES[1]);
    hash = (hash ^ hash >> 29).wrapping_mul(PRIMES[2]);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_reference() {
        assert_eq!(xxh64(b""), 0xef46_db37_51d8_e999);
        assert_eq!(xxh64(b"a"), 0xd24e_c4f1_a98c_6e5b);
        assert_eq!(xxh64(b"abc"), 0x44bc_2cf5_ad77_0999);
    }
}
