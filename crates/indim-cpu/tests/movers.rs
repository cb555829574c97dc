//! The copies of `memory` against loops over bytes: every element size, counts near multiples of vectors,
//! strides of every sign and kind. They access only the elements.

use indim_cpu::memory::{ElementRun, gather, scatter};

const SIZES: [usize; 5] = [1, 2, 4, 8, 16];
const COUNTS: [usize; 12] = [0, 1, 2, 3, 4, 7, 8, 16, 17, 33, 64, 100];
const STEPS: [usize; 7] = [0, 1, 2, 3, 4, 9, 40];
const GUARD: u8 = 0xA5;

/// Strided memory: exactly the bytes of its elements, and the offset of element (0, 0).
struct Strided {
    bytes: Vec<u8>,
    first: usize,
}

impl Strided {
    fn new(steps: ElementRun, run: ElementRun, size: usize) -> Strided {
        let reach = |level: ElementRun| level.stride * (level.count.max(1) as isize - 1);
        let (low, high) = [reach(steps), reach(run)]
            .iter()
            .fold((0, 0), |(low, high), &reach| (low + reach.min(0), high + reach.max(0)));
        let length = (high - low) as usize + size;
        let bytes = (0..length).map(|index| (index * 7 + index / 256) as u8).collect();
        Strided { bytes, first: low.unsigned_abs() }
    }

    fn place(&self, steps: ElementRun, step: usize, run: ElementRun, index: usize) -> usize {
        (self.first as isize + steps.stride * step as isize + run.stride * index as isize) as usize
    }
}

/// The offset of each element in memory, in the order of the block.
fn places(memory: &Strided, steps: ElementRun, run: ElementRun) -> Vec<usize> {
    (0..steps.count)
        .flat_map(|step| (0..run.count).map(move |index| (step, index)))
        .map(|(step, index)| memory.place(steps, step, run, index))
        .collect()
}

fn check_gather(steps: ElementRun, run: ElementRun, size: usize) {
    let memory = Strided::new(steps, run, size);
    let places = places(&memory, steps, run);
    let expected: Vec<u8> =
        places.iter().flat_map(|&place| memory.bytes[place..place + size].to_vec()).collect();
    // Misaligned by one byte.
    let mut block = vec![GUARD; 1 + expected.len() + 16];
    let source = memory.bytes[memory.first..].as_ptr();
    // SAFETY: the memory covers all runs, the block all elements.
    unsafe { gather(block[1..].as_mut_ptr(), source, steps, run, size) }
    assert_eq!(block[1..1 + expected.len()], expected, "{steps:?} {run:?} of {size} bytes");
    let after = &block[1 + expected.len()..];
    assert!(block[0] == GUARD && after.iter().all(|&byte| byte == GUARD), "{steps:?} {run:?}");
}

fn check_scatter(steps: ElementRun, run: ElementRun, size: usize) {
    let mut memory = Strided::new(steps, run, size);
    let places = places(&memory, steps, run);
    let block: Vec<u8> = (0..places.len() * size).map(|index| (index * 11 + 5) as u8).collect();
    let mut expected = memory.bytes.clone();
    for (element, &place) in block.chunks(size).zip(&places) {
        expected[place..place + size].copy_from_slice(element);
    }
    let destination = memory.bytes[memory.first..].as_mut_ptr();
    // SAFETY: the memory covers all runs, the block all elements.
    unsafe { scatter(destination, block.as_ptr(), steps, run, size) }
    assert!(memory.bytes == expected, "{steps:?} {run:?} of {size} bytes");
}

/// Repeated, dense, reversed, with gaps, of odd bytes, and far apart.
fn strides(size: isize, count: usize) -> [isize; 10] {
    let span = size * count.max(1) as isize;
    let gaps = [2, 3, 4, -3].map(|step| step * size);
    let [second, third, fourth, back] = gaps;
    [0, size, -size, second, third, fourth, back, size + 1, span, span + 40]
}

#[test]
fn gather_copies_every_element() {
    for size in SIZES {
        for (count, steps) in COUNTS.into_iter().flat_map(|c| STEPS.map(|s| (c, s))) {
            for stride in strides(size as isize, 1) {
                for step_stride in strides(size as isize, count) {
                    let steps = ElementRun { count: steps, stride: step_stride };
                    check_gather(steps, ElementRun { count, stride }, size);
                    // The shape of a transposed operand: far apart along the run, near across.
                    let run = ElementRun { count, stride: size as isize * 40 + stride };
                    check_gather(steps, run, size);
                }
            }
        }
    }
}

#[test]
fn scatter_writes_every_element_and_nothing_else() {
    for size in SIZES {
        for (count, steps) in COUNTS.into_iter().flat_map(|c| STEPS.map(|s| (c, s))) {
            for stride in [1, -1, 2, -3].map(|stride| stride * size as isize) {
                // Runs that do not overlap: adjacent, with gaps, or interleaved.
                let span = stride.abs() * count.max(1) as isize;
                for step_stride in [span, -span, span + 3] {
                    let steps = ElementRun { count: steps, stride: step_stride };
                    check_scatter(steps, ElementRun { count, stride }, size);
                    let across = ElementRun { count: steps.count, stride };
                    let along = ElementRun { count, stride: stride.abs() * STEPS[6] as isize };
                    check_scatter(across, along, size);
                }
            }
        }
    }
}
