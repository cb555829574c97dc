//! Out-of-line functions of all primitives, compared with `evaluate`.

use super::*;
use indim_codegen::evaluate;

#[path = "../../../indim-codegen/tests/unit/primitives.rs"]
mod primitives;

/// Primitives without operands, which have no function.
const WITHOUT: [Primitive; 2] =
    [Primitive::Constant(0), Primitive::Load { input: 0, component: 0 }];

/// The table of [`Primitive::Lookup`].
const TABLE: [u64; 4] = [1 << 63 | 1, 2, 300, 70_000];

const LANES: [LaneType; 11] = [
    LaneType::Bool,
    LaneType::I8,
    LaneType::I16,
    LaneType::I32,
    LaneType::I64,
    LaneType::U8,
    LaneType::U16,
    LaneType::U32,
    LaneType::U64,
    LaneType::F32,
    LaneType::F64,
];

/// Some words of a type, without NaNs, whose bits processors choose.
fn words(lane: LaneType) -> [u64; 5] {
    match lane {
        LaneType::Bool => [0, 1, 1, 0, 1],
        LaneType::F32 => [1.5f32, -0.0, 3e9, -7.25, f32::INFINITY].map(|x| x.to_bits().into()),
        LaneType::F64 => [1.5, -0.0, 1e300, -7.25, f64::INFINITY].map(f64::to_bits),
        _ => [0, 1, 200, u64::MAX, 0x8081_8283_8485_8687].map(|word| low(lane, word)),
    }
}

fn low(lane: LaneType, word: u64) -> u64 {
    word & u64::MAX >> (64 - 8 * lane.size())
}

/// The low bytes of a word, in the byte order of this machine.
fn native_bytes(word: u64, size: usize) -> Vec<u8> {
    let mut bytes = word.to_le_bytes()[..size].to_vec();
    if cfg!(target_endian = "big") {
        bytes.reverse();
    }
    bytes
}

/// Calls a function on operands at odd addresses; returns the bytes of the results.
fn called(function: LaneFunction, lanes: &[LaneType], words: &[Vec<u64>], size: usize) -> Vec<u8> {
    let count = words[0].len();
    let memory = lanes.iter().zip(words).map(|(lane, words)| {
        let bytes = words.iter().flat_map(|&word| native_bytes(word, lane.size()));
        core::iter::once(0xaa).chain(bytes).collect::<Vec<u8>>()
    });
    let memory: Vec<Vec<u8>> = memory.collect();
    let addresses: Vec<*const u8> = memory.iter().map(|bytes| bytes[1..].as_ptr()).collect();
    let mut result = vec![0xaa; count * size + 2];
    // SAFETY:
    // - each operand and the result have `count` lanes, in vectors of this function;
    // - the table has `TABLE.len()` aligned words.
    unsafe {
        let place = result.as_mut_ptr().add(1);
        function(place, addresses.as_ptr(), TABLE.as_ptr(), TABLE.len(), count);
    }
    assert_eq!((result[0], result[count * size + 1]), (0xaa, 0xaa));
    result[1..count * size + 1].to_vec()
}

#[test]
fn functions_give_what_primitives_give() {
    let mut found = 0;
    for primitive in primitives::PRIMITIVES.into_iter().chain(WITHOUT) {
        for (operand, result) in LANES.iter().flat_map(|&x| LANES.map(|y| (x, y))) {
            let Some(function) = lane_function(primitive, operand, result) else { continue };
            let count = primitive.operand_count();
            let mut lanes = vec![operand; count];
            if primitive == Primitive::Select {
                lanes[0] = LaneType::Bool;
            }
            // All combinations of the operands' words.
            let place = |index: usize, lane: LaneType, point: usize| {
                words(lane)[point / 5usize.pow(index as u32) % 5]
            };
            let points = 5usize.pow(count as u32);
            let operands = lanes
                .iter()
                .enumerate()
                .map(|(index, &lane)| (0..points).map(|point| place(index, lane, point)).collect());
            let operands: Vec<Vec<u64>> = operands.collect();
            let written = called(function, &lanes, &operands, result.size());
            for (point, bytes) in written.chunks(result.size()).enumerate() {
                let mut given = [0; 3];
                given.iter_mut().zip(&operands).for_each(|(word, words)| *word = words[point]);
                let expected = evaluate(primitive, operand, result, given, &TABLE);
                let expected = native_bytes(expected, result.size());
                assert_eq!(bytes, expected, "{primitive:?}.{operand}.{result} of {given:x?}");
            }
            found += 1;
        }
    }
    // 7 primitives on booleans, 20 on each of 8 integers, 17 on each of 2 floats; 100 casts; bitcasts by
    // size; 3 primitives of 16-bit floats.
    assert_eq!(found, 7 + 8 * 20 + 2 * 17 + 100 + (4 + 4 + 9 + 9) + 3);
}
