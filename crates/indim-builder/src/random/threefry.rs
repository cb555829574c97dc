//! Threefry-2x32 with 20 rounds: two random words from a key and a counter of two words each.
//!
//! Each result word depends on every bit of the key and of the counter.
//!
//! From J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011. The test
//! has the known answers of the authors' library, Random123.

use crate::builder::Value;

/// Rotation distances in bits: groups of four rounds alternate between the two rows.
const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];

/// The third word of the key is the exclusive or of the others and this number.
const PARITY: u32 = 0x1bd1_1bda;

/// The two words for a key and a counter of `u32`: scalars, or arrays of one shape.
pub(super) fn threefry([first, second]: [Value; 2], [x, y]: [Value; 2]) -> [Value; 2] {
    let third = &first ^ &second ^ PARITY;
    let words = [first, second, third];
    let (mut x, mut y) = (x + &words[0], y + &words[1]);
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            x = &x + &y;
            y = rotate_left(&y, rotation) ^ &x;
        }
        // The two scalars are added first: one addition, not one for each element.
        let number = group as u32 + 1;
        x = x + &words[(group + 1) % 3];
        y = y + (&words[(group + 2) % 3] + number);
    }
    [x, y]
}

/// Rotates each word left by `distance` bits.
fn rotate_left(words: &Value, distance: u32) -> Value {
    words.shl(distance) | words.shr_logical(32 - distance)
}

#[cfg(test)]
mod tests {
    use indim_graph::evaluate;

    use super::*;
    use crate::builder::GraphBuilder;

    /// The words for a key and a counter.
    fn words(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
        let b = GraphBuilder::new();
        let results = threefry(key.map(|word| b.scalar(word)), counter.map(|word| b.scalar(word)));
        let graph = b.finish(&results).unwrap();
        let results = evaluate(&graph, &[]).unwrap();
        [0, 1].map(|index| results[index].elements::<u32>().unwrap()[0])
    }

    #[test]
    fn known_answers_of_random123() {
        assert_eq!(words([0; 2], [0; 2]), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(words([u32::MAX; 2], [u32::MAX; 2]), [0x1cb9_96fc, 0xbb00_2be7]);
        let (key, counter) = ([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3]);
        assert_eq!(words(key, counter), [0xc492_3a9c, 0x483d_f7a0]);
    }
}
