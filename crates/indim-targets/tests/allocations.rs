//! Calls of functions do not allocate, even if a tail runs on copies. Allocations are counted per thread,
//! because tests run in parallel.

use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::cell::Cell;

use indim_codegen::Definition;
use indim_ops::Level;
use indim_ops::{DType, Op};
use indim_targets::{Function, OperandForm, OperandLayout, machine_code_levels};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: both methods delegate to the system allocator, which upholds the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Memory) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller guarantees a layout of nonzero size.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Memory) {
        // SAFETY: the caller guarantees that `alloc` returned the pointer for this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Adds rows of `elements` elements; returns the number of allocations meanwhile.
fn allocations(level: Level, is_in_place: bool, elements: usize) -> usize {
    const ROWS: usize = 3;
    let body = Definition::Operation(Op::Add, DType::F32).body().unwrap();
    let layout = OperandLayout {
        inputs: vec![OperandForm::Dense; 2],
        is_streamed: vec![false],
        is_in_place,
        has_prefetch: false,
    };
    let function = Function::compile(level, &body, &layout).unwrap();
    let mut x: Vec<f32> = (0..ROWS * elements).map(|index| index as f32).collect();
    let mut y = vec![0.5f32; ROWS * elements];
    let mut sum = vec![0.0f32; ROWS * elements];
    let expected: Vec<f32> = x.iter().map(|x| x + 0.5).collect();
    let (x_at, y_at) = (x.as_mut_ptr().cast(), y.as_mut_ptr().cast());
    let sum_at = if is_in_place { x_at } else { sum.as_mut_ptr().cast() };
    let mut operands: [*mut u8; 3] = [sum_at, x_at, y_at];
    let strides = [(elements * size_of::<f32>()) as isize; 3];
    let before = ALLOCATIONS.get();
    // SAFETY:
    // - the vectors have `ROWS * elements` elements, and this thread owns them;
    // - the output is a vector of its own, or identical with an input if the layout has `is_in_place`.
    unsafe { function.run(&mut operands, &strides, ROWS, elements) }
    let count = ALLOCATIONS.get() - before;
    assert_eq!(if is_in_place { x } else { sum }, expected, "{level:?}, {elements} elements");
    count
}

#[test]
fn calls_do_not_allocate() {
    for &level in machine_code_levels() {
        for elements in 1..70 {
            for is_in_place in [false, true] {
                let count = allocations(level, is_in_place, elements);
                assert_eq!(count, 0, "{level:?}, {elements} elements, in place: {is_in_place}");
            }
        }
    }
}
