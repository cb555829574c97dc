//! Out-of-line primitives: functions over lanes in memory, called by machine code without an instruction
//! for the primitive. Holds unsafe code.

use std::hint::black_box;

use indim_codegen::{LaneType, Primitive};
use indim_codegen::{ScalarFunction, ScalarVisitor, visit_scalar_function};

macro_rules! define_lane_function {
    ($($abi:literal, $condition:meta;)*) => {$(
        /// A primitive on `count` dense lanes at any address; a truth value is a byte, 0 or 1.
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
        /// Like [`LaneFunction`], for the types of `F`.
        #[$condition]
        unsafe extern $abi fn lanes<F: ScalarFunction>(
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
/// Like [`LaneFunction`], for the types of `F`.
#[inline(always)]
unsafe fn each_lane<F: ScalarFunction>(
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
/// `place` is valid for reads of the scalar's bytes.
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
/// `place` is valid for writes of the scalar's bytes.
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

struct LaneFunctionVisitor;

impl ScalarVisitor for LaneFunctionVisitor {
    type Output = LaneFunction;
    fn visit<F: ScalarFunction>(self) -> LaneFunction {
        lanes::<F>
    }
}

/// The function of a primitive whose last operand has type `operand`; `None` if the primitive is undefined
/// for it or has no operands.
pub(crate) fn lane_function(
    primitive: Primitive,
    operand: LaneType,
    result: LaneType,
) -> Option<LaneFunction> {
    visit_scalar_function(primitive, operand, result, LaneFunctionVisitor)
}

#[cfg(test)]
#[path = "../tests/unit/out_of_line.rs"]
mod tests;
