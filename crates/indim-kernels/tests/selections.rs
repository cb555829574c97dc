//! Selections and counting sorts give the elements of a naive stable sort, in the same order.

use core::ops::{ControlFlow, Range};

use indim_kernels::{KeyedPosition, Selection, SortElement, SortKey, SortScratch, sort_positions};
use indim_ops::{bf16, c64, c128, f16};

/// A small deterministic generator (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }
}

/// The positions of keys in sorted order. Equal keys are in the order of their positions.
fn sorted_positions<K: Ord + Copy>(keys: &[K]) -> Vec<i64> {
    let mut positions: Vec<i64> = (0..keys.len() as i64).collect();
    positions.sort_by_key(|&position| keys[position as usize]);
    positions
}

/// The selected positions of each row, whose keys are added as a sort adds them.
fn select<K: SortKey>(selection: &Selection, rows: &[&[K]]) -> Vec<i64> {
    let mut state = selection.rows::<K>();
    let mut positions = Vec::new();
    for row in rows {
        for part in selection.parts() {
            let mut keys = row[part].to_vec();
            if selection.is_reversed() {
                keys.reverse();
                keys.iter_mut().for_each(|key| *key = *key ^ K::MAX);
            }
            state.add(&keys, row.len());
        }
        selection.finish(&mut state, &mut positions);
    }
    positions
}

/// Compares selections of `read` from two rows, the second of which is the first one backwards. Returns
/// whether the row is not sorted instead.
fn assert_selects<K: SortKey>(keys: &[K], sorted: [&[i64]; 2], read: Range<usize>) -> bool {
    let selections = Selection::of_ranges(core::slice::from_ref(&read), keys.len());
    let [selection] = &selections[..] else { return false };
    let backwards: Vec<K> = keys.iter().rev().copied().collect();
    let expected = sorted.map(|positions| &positions[read.clone()]).concat();
    assert!(select(selection, &[keys, &backwards]) == expected, "{read:?} of {}", keys.len());
    true
}

/// Compares the selections of many ranges of a row: each `k` at both ends, and ranges in the middle.
fn assert_selects_ranges<K: SortKey>(keys: &[K]) -> usize {
    let n = keys.len();
    let backwards: Vec<K> = keys.iter().rev().copied().collect();
    let [sorted, reversed] = [keys, &backwards].map(sorted_positions);
    let ends = (1..=n).flat_map(|k| [0..k, n - k..n]);
    let middle = (0..n - 9).step_by(7).flat_map(|start| [1, 2, 9].map(|k| start..start + k));
    ends.chain(middle)
        .filter(|read| assert_selects(keys, [&sorted, &reversed], read.clone()))
        .count()
}

#[test]
fn every_range_of_random_rows_is_selected() {
    let mut random = Random(1);
    for (length, few) in [(512, 5), (513, 1000), (1025, 3), (1100, usize::MAX), (2049, 700)] {
        let keys: Vec<u32> = (0..length).map(|_| random.below(few) as u32).collect();
        let selected = assert_selects_ranges(&keys);
        assert!(selected >= length / 8, "{selected} selections of {length} elements");
    }
}

/// Keys that differ in the upper bits, which are counted, or in the others only.
#[test]
fn keys_of_every_width_are_selected() {
    let mut random = Random(2);
    let bits: Vec<u128> = (0..1200)
        .map(|_| (random.below(3) as u128) << (127 - random.below(2)) | random.below(50) as u128)
        .collect();
    assert_selects_ranges(&bits);
    assert_selects_ranges(&bits.iter().map(|&bits| (bits >> 64 | bits) as u64).collect::<Vec<_>>());
    assert_selects_ranges(&bits.iter().map(|&bits| (bits >> 96 | bits) as u32).collect::<Vec<_>>());
    assert_selects_ranges(
        &bits.iter().map(|&bits| (bits >> 112 | bits) as u16).collect::<Vec<_>>(),
    );
    assert_selects_ranges(&bits.iter().map(|&bits| (bits >> 120 | bits) as u8).collect::<Vec<_>>());
}

/// All lists of 1 to `most` of the numbers below `distinct`.
fn all_lists(distinct: usize, most: u32) -> impl Iterator<Item = Vec<usize>> {
    (1..=most).flat_map(move |length| {
        (0..distinct.pow(length)).map(move |mut code| {
            let digits = (0..length).map(|_| {
                let digit = code % distinct;
                code /= distinct;
                digit
            });
            digits.collect()
        })
    })
}

/// The zeros, NaNs and the ends of the floats.
const FLOATS: [f64; 6] = [f64::NAN, -0.0, 0.0, 1.0, f64::NEG_INFINITY, -f64::NAN];

/// Selects from rows that repeat each short list, and from rows that begin or end with it.
fn assert_selects_lists<T: SortElement>(elements: &[T::Storage], most: u32) {
    for list in all_lists(elements.len(), most) {
        let keys = |row: &mut dyn Iterator<Item = usize>| -> Vec<T::SortKey> {
            row.map(|index| T::key(elements[index])).collect()
        };
        let padding = core::iter::repeat_n(list[0], 1030 - list.len());
        let rows = [
            keys(&mut list.iter().copied().cycle().take(1030)),
            keys(&mut list.iter().copied().chain(padding.clone())),
            keys(&mut padding.chain(list.iter().copied())),
        ];
        for row in &rows {
            for mask in [T::SortKey::default(), T::SortKey::MAX] {
                let row: Vec<_> = row.iter().map(|&key| key ^ mask).collect();
                let backwards: Vec<_> = row.iter().rev().copied().collect();
                let [sorted, reversed] = [&row, &backwards].map(|row| sorted_positions(row));
                for read in [0..1, 0..7, 2..5, 500..530, 1023..1030, 1029..1030] {
                    assert!(assert_selects(&row, [&sorted, &reversed], read));
                }
            }
        }
    }
}

#[test]
fn short_lists_of_special_values_are_selected() {
    assert_selects_lists::<f32>(&FLOATS.map(|float| float as f32), 3);
    assert_selects_lists::<f64>(&FLOATS, 2);
    assert_selects_lists::<f16>(&FLOATS.map(f16::from_f64), 2);
    assert_selects_lists::<bf16>(&FLOATS.map(bf16::from_f64), 2);
    let pairs = [0, 1, 2, 3].map(|index| [FLOATS[index], FLOATS[3 - index]]);
    assert_selects_lists::<c128>(&pairs.map(|[re, im]| c128::new(re, im)), 2);
    assert_selects_lists::<c64>(&pairs.map(|[re, im]| c64::new(re as f32, im as f32)), 2);
    assert_selects_lists::<bool>(&[0, 1], 4);
    assert_selects_lists::<i8>(&[i8::MIN, -1, 0, i8::MAX], 2);
    assert_selects_lists::<i64>(&[i64::MIN, -1, 0, i64::MAX], 2);
    assert_selects_lists::<u64>(&[0, 1, 1 << 63, u64::MAX], 2);
}

/// Sorts elements and positions of a list, as a naive sort does.
fn assert_sorts<T: SortElement>(list: &[T::Storage]) {
    let progress = &mut |_| ControlFlow::Continue(());
    for mask in [T::SortKey::default(), T::SortKey::MAX] {
        let key = |element| T::key(element) ^ mask;
        let keys: Vec<T::SortKey> = list.iter().map(|&element| key(element)).collect();
        let expected = sorted_positions(&keys);
        let mut scratch = SortScratch::<T::Storage, T::SortKey>::default();
        let mut elements = list.to_vec();
        assert!(scratch.sort_elements(&mut elements, key, T::bits, progress).is_continue());
        let found = elements.iter().map(|&element| T::bits(element));
        assert!(found.eq(expected.iter().map(|&at| T::bits(list[at as usize]))));

        let mut items: Vec<KeyedPosition<T::SortKey, u32>> =
            keys.iter().enumerate().map(|(at, &key)| KeyedPosition::new(key, at)).collect();
        let mut positions = Vec::new();
        assert!(sort_positions(&mut items, list.len(), &mut positions, progress).is_continue());
        assert!(positions.iter().map(|&at| i64::from(at)).eq(expected));
    }
}

/// Lists long enough to be counted, of few distinct elements or of more than are counted.
#[test]
fn few_distinct_elements_are_sorted() {
    let mut random = Random(3);
    for length in [2047, 2048, 20_000] {
        for distinct in [1, 2, 6, 63, 64, 65, 100] {
            let numbers: Vec<usize> = (0..length).map(|_| random.below(distinct)).collect();
            let floats = numbers.iter().map(|&number| FLOATS.get(number).copied());
            let floats = floats.zip(&numbers).map(|(it, &number)| it.unwrap_or(number as f64));
            let floats: Vec<f64> = floats.collect();
            assert_sorts::<f64>(&floats);
            assert_sorts::<f32>(&floats.iter().map(|&it| it as f32).collect::<Vec<_>>());
            assert_sorts::<f16>(&floats.iter().map(|&it| f16::from_f64(it)).collect::<Vec<_>>());
            assert_sorts::<c64>(
                &floats.iter().map(|&it| c64::new(1.0, it as f32)).collect::<Vec<_>>(),
            );
            assert_sorts::<c128>(&floats.iter().map(|&it| c128::new(it, 1.0)).collect::<Vec<_>>());
            assert_sorts::<i8>(&numbers.iter().map(|&it| it as i8 - 50).collect::<Vec<_>>());
            assert_sorts::<u64>(
                &numbers.iter().map(|&it| u64::MAX - it as u64).collect::<Vec<_>>(),
            );
            assert_sorts::<bool>(&numbers.iter().map(|&it| it as u8 % 2).collect::<Vec<_>>());
        }
    }
}

#[test]
fn short_lists_are_sorted() {
    for list in all_lists(FLOATS.len(), 5) {
        assert_sorts::<f32>(&list.iter().map(|&index| FLOATS[index] as f32).collect::<Vec<_>>());
    }
}
