//! Every primitive as a function over lanes in memory, which machine code calls where the processor has no
//! instruction for it. Holds unsafe code.

use std::hint::black_box;

use crate::body::{LaneType, Primitive};
use crate::scalar::{Function, Visitor, visit};

macro_rules! define_lane_function {
    ($($abi:literal, $condition:meta;)*) => {$(
        /// A primitive for so many lanes, which lie densely at any address; a truth value is a byte, 0 or 1.
        ///
        /// # Safety
        /// - `result` is valid for writes of `count` lanes of the result's type;
        /// - `operands` is valid for reads of an address for each operand, and each of these is valid for
        ///   reads of `count` lanes of the operand's type; it may be `result` itself, but overlap it in no
        ///   other way;
        /// - `table` is valid for reads of `table_length` words, or the length is 0.
        #[$condition]
        pub(crate) type LaneFunction = unsafe extern $abi fn(
            result: *mut u8,
            operands: *const *const u8,
            table: *const u64,
            table_length: usize,
            count: usize,
        );

        /// # Safety
        /// As [`LaneFunction`], for the types of `F`.
        #[$condition]
        unsafe extern $abi fn lanes<F: Function>(
            result: *mut u8,
            operands: *const *const u8,
            table: *const u64,
            table_length: usize,
            count: usize,
        ) {
            // SAFETY: the caller's promise.
            unsafe { each_lane::<F>(result, operands, table, table_length, count) }
        }
    )*};
}

define_lane_function! {
    "sysv64", cfg(target_arch = "x86_64");
    "C", cfg(not(target_arch = "x86_64"));
}

/// # Safety
/// As [`LaneFunction`], for the types of `F`.
#[inline(always)]
unsafe fn each_lane<F: Function>(
    result: *mut u8,
    operands: *const *const u8,
    table: *const u64,
    table_length: usize,
    count: usize,
) {
    let table = match table_length {
        0 => &[],
        // SAFETY: the caller's promise.
        _ => unsafe { core::slice::from_raw_parts(table, table_length) },
    };
    let mut lane = 0;
    while lane < count {
        let mut words = [0; 3];
        for (index, (word, operand)) in words.iter_mut().zip(F::OPERANDS).enumerate() {
            let size = operand.size();
            // SAFETY: the caller's promise: an address for each operand, and there `count` lanes.
            *word = unsafe { read(operands.add(index).read().add(lane * size), size) };
        }
        let word = F::apply(words, table);
        let size = F::RESULT.size();
        // SAFETY: the caller's promise.
        unsafe { write(result.add(lane * size), size, word) }
        // The compiler vectorizes no loop whose count it cannot see: these are for size, not for speed.
        lane = black_box(lane + 1);
    }
}

/// # Safety
/// `place` is valid for reads of so many bytes.
#[inline(always)]
unsafe fn read(place: *const u8, size: usize) -> u64 {
    // SAFETY: the caller's promise; the address need not be aligned.
    unsafe {
        match size {
            1 => place.read().into(),
            2 => place.cast::<u16>().read_unaligned().into(),
            4 => place.cast::<u32>().read_unaligned().into(),
            _ => place.cast::<u64>().read_unaligned(),
        }
    }
}

/// # Safety
/// `place` is valid for writes of so many bytes.
#[inline(always)]
unsafe fn write(place: *mut u8, size: usize, word: u64) {
    // SAFETY: the caller's promise; the address need not be aligned.
    unsafe {
        match size {
            1 => place.write(word as u8),
            2 => place.cast::<u16>().write_unaligned(word as u16),
            4 => place.cast::<u32>().write_unaligned(word as u32),
            _ => place.cast::<u64>().write_unaligned(word),
        }
    }
}

struct OutOfLine;

impl Visitor for OutOfLine {
    type Output = LaneFunction;
    fn visit<F: Function>(self) -> LaneFunction {
        lanes::<F>
    }
}

/// The function of a primitive whose last operand has type `operand`; `None` where there is no such
/// primitive, or it has no operands.
pub(crate) fn lane_function(
    primitive: Primitive,
    operand: LaneType,
    result: LaneType,
) -> Option<LaneFunction> {
    visit(primitive, operand, result, OutOfLine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::evaluate;

    /// Every primitive with operands; the table of [`TABLE`].
    const PRIMITIVES: [Primitive; 35] = [
        Primitive::Bits,
        Primitive::Select,
        Primitive::Equal,
        Primitive::Less,
        Primitive::LessUnsigned,
        Primitive::And,
        Primitive::Or,
        Primitive::Xor,
        Primitive::Not,
        Primitive::Add,
        Primitive::Sub,
        Primitive::Mul,
        Primitive::MulHigh,
        Primitive::Div,
        Primitive::Rem,
        Primitive::ShiftLeft,
        Primitive::ShiftRightLogical,
        Primitive::ShiftRightArithmetic,
        Primitive::LeadingZeros,
        Primitive::CountOnes,
        Primitive::Lookup { table: 0 },
        Primitive::MulAdd,
        Primitive::Sqrt,
        Primitive::Abs,
        Primitive::Neg,
        Primitive::Floor,
        Primitive::Ceil,
        Primitive::Trunc,
        Primitive::RoundEven,
        Primitive::Cast,
        Primitive::Canonical,
        Primitive::WidenF16,
        Primitive::RoundToF16,
        Primitive::Constant(0),
        Primitive::Load { input: 0, part: 0 },
    ];

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

    /// Some words of a type, none of them a NaN: processors make those as they like.
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

    /// The low bytes of a word as this machine has them in memory.
    fn native_bytes(word: u64, size: usize) -> Vec<u8> {
        let mut bytes = word.to_le_bytes()[..size].to_vec();
        if cfg!(target_endian = "big") {
            bytes.reverse();
        }
        bytes
    }

    /// What the function writes for these operands, each in memory of its own with a byte before it.
    fn called(
        function: LaneFunction,
        lanes: &[LaneType],
        words: &[Vec<u64>],
        size: usize,
    ) -> Vec<u8> {
        let count = words[0].len();
        let memory = lanes.iter().zip(words).map(|(lane, words)| {
            let bytes = words.iter().flat_map(|&word| native_bytes(word, lane.size()));
            core::iter::once(0xaa).chain(bytes).collect::<Vec<u8>>()
        });
        let memory: Vec<Vec<u8>> = memory.collect();
        let addresses: Vec<*const u8> = memory.iter().map(|bytes| bytes[1..].as_ptr()).collect();
        let mut result = vec![0xaa; count * size + 2];
        // SAFETY: as many lanes of each operand and of the result, and a table of this length.
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
        for primitive in PRIMITIVES {
            for (operand, result) in LANES.iter().flat_map(|&x| LANES.map(|y| (x, y))) {
                let Some(function) = lane_function(primitive, operand, result) else { continue };
                let count = primitive.operand_count();
                let mut lanes = vec![operand; count];
                if primitive == Primitive::Select {
                    lanes[0] = LaneType::Bool;
                }
                // Each word of an operand with each one of the next.
                let place = |index: usize, lane: LaneType, point: usize| {
                    words(lane)[point / 5usize.pow(index as u32) % 5]
                };
                let points = 5usize.pow(count as u32);
                let operands = lanes.iter().enumerate().map(|(index, &lane)| {
                    (0..points).map(|point| place(index, lane, point)).collect()
                });
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
        // 7 of truth values, 20 of 8 integers, 17 of 2 floats, casts and bits between numbers, f16.
        assert_eq!(found, 7 + 8 * 20 + 2 * 17 + 100 + (4 + 4 + 9 + 9) + 2);
    }
}
