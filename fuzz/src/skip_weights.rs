//! Copies of ONNX files without their large constants: any bytes end, a copy is small, and a copy of a copy
//! is the same. Only messages above 64 KiB are inspected, so the bytes also choose a large file.

use indim_onnx_file::{SkippedModel, WeightSkipper};

use crate::choices::choices;

/// Numbers of the fields on the way to large constants, and of the fields of constants.
const FIELDS: [u64; 12] = [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15];

/// The fields from a model to the elements of an initializer of its graph.
const INITIALIZER: [u64; 3] = [7, 5, 9];

/// Sizes of content that is no message: with a header inside and outside of the limit, and of several ranges.
const SIZES: [usize; 6] = [0, 3, 100, 65_530, 70_000, 300_000];

/// Maximum bytes of content that is no message, in one file.
const MAX_CONTENT: usize = 1 << 20;

/// The target `skip_weights`.
pub fn run(bytes: &[u8]) {
    check(bytes);
    let mut left = MAX_CONTENT;
    check(&message(&mut choices(bytes), 0, &mut left));
}

fn check(file: &[u8]) {
    let Some(skipped) = skip(file) else { return };
    assert!(skipped.constant_bytes <= file.len() as u64);
    assert!(skipped.content.len() <= 2 * file.len() + 256 * skipped.constants);
    let again = skip(&skipped.content).expect("a copy of a copy");
    assert_eq!(again.content.len(), skipped.content.len());
    assert!(again.content == skipped.content && again.constants == 0);
}

/// The copy of a file; `None` if the skipper reports an error.
fn skip(file: &[u8]) -> Option<SkippedModel> {
    let mut skipper = WeightSkipper::new("m.onnx", file.len() as u64);
    let mut read = 0;
    while let Some(range) = skipper.wanted() {
        let range = range.start as usize..range.end as usize;
        read += range.len();
        assert!(read <= 3 * file.len() + (1 << 20), "the ranges end");
        skipper.give(&file[range]).ok()?;
    }
    Some(skipper.finish())
}

/// A message with fields of every wire type, some of them damaged.
fn message(next: &mut dyn FnMut(usize) -> usize, depth: usize, left: &mut usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..next(6) {
        let field = match next(2) {
            0 => INITIALIZER[depth.min(INITIALIZER.len() - 1)],
            _ => FIELDS[next(FIELDS.len())],
        };
        match next(10) {
            0 => {
                varint(field << 3, &mut bytes);
                varint(next(1 << 16) as u64, &mut bytes);
            }
            1 => {
                varint(field << 3 | 5, &mut bytes);
                bytes.extend([1, 2, 3, 4]);
            }
            2 => bytes.push(next(256) as u8),
            _ => {
                let content = match depth < 6 && next(3) > 0 {
                    true => message(next, depth + 1, left),
                    false => {
                        let size = SIZES[next(SIZES.len())].min(*left);
                        *left -= size;
                        vec![next(256) as u8; size]
                    }
                };
                varint(field << 3 | 2, &mut bytes);
                let length = content.len() as u64;
                varint(if next(16) == 0 { length + next(9) as u64 } else { length }, &mut bytes);
                bytes.extend(content);
            }
        }
    }
    bytes
}

fn varint(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}
