//! Out-of-line primitives: functions over lanes in memory. Machine code calls them for primitives without
//! an instruction. Holds unsafe code.

use std::hint::black_box;

use indim_codegen::{LaneType, Primitive};
use indim_codegen::{ScalarFunction, ScalarVisitor, visit_scalar_function};

macro_rules! define_lane_function {
    ($($abi:literal, $condition:meta;)*) => {$(
        /// A primitive on `count` dense lanes at unaligned addresses. A boolean is a byte, 0 or 1.
        ///
        /// # Safety
        /// - `result` is valid for writes of `count` lanes of the result's type.
        /// - `operands` is valid for reads of one address per operand. Each of these addresses is valid
        ///   for reads of `count` lanes of the operand's type. These lanes start at `result` or do not
        ///   overlap the result.
        /// - `table` is aligned and valid for reads of `table_length` words, or `table_length` is 0.
        #[$condition]
        pub(crate) type LaneFunction = unsafe extern $abi fn(
            result: *mut u8,
            operands: *const *const u8,
            table: *const u64,
            table_length: usize,
            count: usize,
        );

        /// The out-of-line function of `F`.
        ///
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
            // SAFETY: `each_lane` has the conditions of this function.
            unsafe { each_lane::<F>(result, operands, table, table_length, count) }
        }
    )*};
}

define_lane_function! {
    "sysv64", cfg(target_arch = "x86_64");
    "C", cfg(not(target_arch = "x86_64"));
}

/// Applies `F` to each lane.
///
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
        // SAFETY: the caller guarantees that `table` is aligned and valid for reads of `table_length` words.
        // Machine code passes a table of its constant pool, which is aligned to 8 bytes and never written.
        _ => unsafe { core::slice::from_raw_parts(table, table_length) },
    };
    let mut lane = 0;
    while lane < count {
        let mut words = [0; 3];
        for (index, (word, operand)) in words.iter_mut().zip(F::OPERANDS).enumerate() {
            let size = operand.size();
            // SAFETY:
            // - the caller guarantees an address per operand, and `index` is below their number;
            // - it guarantees `count` lanes there, and `lane` is below `count`.
            *word = unsafe { read(operands.add(index).read().add(lane * size), size) };
        }
        let word = F::apply(words, table);
        let size = F::RESULT.size();
        // SAFETY: the caller guarantees `count` lanes for the result, and `lane` is below `count`.
        unsafe { write(result.add(lane * size), size, word) }
        // `black_box` hides the trip count, so the compiler does not vectorise the loop: hundreds of such
        // functions are compiled for size, not for speed.
        lane = black_box(lane + 1);
    }
}

/// Reads a scalar of `size` bytes, zero-extended.
///
/// # Safety
/// `place` is valid for reads of `size` bytes.
#[inline(always)]
unsafe fn read(place: *const u8, size: usize) -> u64 {
    // SAFETY: the caller guarantees `size` readable bytes; reads of more than a byte are unaligned.
    unsafe {
        match size {
            1 => place.read().into(),
            2 => place.cast::<u16>().read_unaligned().into(),
            4 => place.cast::<u32>().read_unaligned().into(),
            _ => place.cast::<u64>().read_unaligned(),
        }
    }
}

/// Writes the low `size` bytes of a word.
///
/// # Safety
/// `place` is valid for writes of `size` bytes.
#[inline(always)]
unsafe fn write(place: *mut u8, size: usize, word: u64) {
    // SAFETY: the caller guarantees `size` writable bytes; writes of more than a byte are unaligned.
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

/// The function of a primitive; `operand` is the type of the last operand. `None` if the primitive is
/// undefined for these types or has no operands.
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
