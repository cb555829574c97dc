//! Results have the same bits if threads flush subnormal numbers to zero, round in another direction or trap.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{
    Array, ArrayView, CompileOptions, Executable, ExecutorChoice, RunOptions, Threads, compile,
};
use indim_graph::Graph;
use indim_ops::{DType, ReduceOp};
use rayon::{ThreadPool, ThreadPoolBuilder};

#[path = "executors/mod.rs"]
mod executors;

/// The control register of the floating-point unit of a thread.
#[cfg(target_arch = "x86_64")]
mod control {
    use std::arch::asm;

    /// The flags of past exceptions.
    const FLAGS: u32 = 0x3f;

    pub(crate) type Word = u32;

    pub(crate) const DEFAULT: u32 = 0x1f80;

    /// Flush to zero and denormals are zero; rounds up; traps invalid operations and division by zero.
    pub(crate) const OTHERS: [u32; 3] = [DEFAULT | 0x8040, DEFAULT | 0x4000, DEFAULT & !0x280];

    pub(crate) fn modes() -> u32 {
        let mut word = 0u32;
        // SAFETY: the instruction writes only the four bytes of `word`.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word) }
        word & !FLAGS
    }

    pub(crate) fn set(word: u32) {
        // SAFETY: the instruction reads the four bytes of `word`, in which no reserved bit is set.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word) }
    }
}

/// The control register of the floating-point unit of a thread.
#[cfg(target_arch = "aarch64")]
mod control {
    use std::arch::asm;

    pub(crate) type Word = u64;

    pub(crate) const DEFAULT: u64 = 0;

    /// Flush to zero; rounds up; every NaN becomes the default one.
    pub(crate) const OTHERS: [u64; 3] = [1 << 24, 1 << 22, 1 << 25];

    pub(crate) fn modes() -> u64 {
        let word: u64;
        // SAFETY: programs may read this register.
        unsafe { asm!("mrs {}, fpcr", out(reg) word) }
        word
    }

    pub(crate) fn set(word: u64) {
        // SAFETY: programs may write this register, and these bits exist.
        unsafe { asm!("msr fpcr, {}", in(reg) word) }
    }
}

const ROWS: usize = 5000;
const COLUMNS: usize = 64;

/// Products, functions, counters, sums and a folded constant, whose results are subnormal or rounded.
fn graph() -> Graph {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [ROWS, COLUMNS]).unwrap();
    let tiny = b.constant(Array::new([2], vec![3.0e-39f32, 0.1]).unwrap());
    let folded =
        b.div(&tiny, b.constant(Array::new([2], vec![3.0f32, 3.0]).unwrap()), &[0]).unwrap();
    let halves: Value = 0.5 * &x;
    let ratios = b.exp(&x).unwrap() / 3.0;
    let counters = b.iota(DType::F32, [ROWS, COLUMNS], 0).unwrap() * 0.1 + &x;
    let rows = b.reduce(ReduceOp::Add, ratios.convert(DType::F64), 1).unwrap();
    let columns = b.reduce(ReduceOp::Add, halves.convert(DType::F64), 0).unwrap();
    let sum = b.reduce(ReduceOp::Add, &columns, 0).unwrap();
    b.finish(&[halves, ratios, counters, rows, columns, sum, folded]).unwrap()
}

fn executable(executor: ExecutorChoice) -> Executable {
    compile(&graph(), &CompileOptions::new().executor(executor)).unwrap()
}

/// Subnormal numbers, small ones and a NaN.
fn numbers() -> Vec<f32> {
    let number = |index: usize| match index % 4 {
        0 => f32::from_bits(index as u32 + 1),
        1 => -1.0e-38 / (index as f32 + 1.0),
        _ => (index % 1000) as f32 * 0.1,
    };
    (0..ROWS * COLUMNS).map(number).collect()
}

fn bytes(results: &[Array]) -> Vec<Vec<u8>> {
    results.iter().map(|result| result.bytes().to_vec()).collect()
}

fn run(executable: &Executable, x: &[f32], threads: Threads<'_>) -> Vec<Vec<u8>> {
    let x = ArrayView::from_slice([ROWS, COLUMNS], x).unwrap();
    let options = RunOptions::new().threads(threads);
    bytes(&executable.run_with(&[x], &options).unwrap())
}

/// The result of `compute` on a thread with these modes, which it must not change.
fn in_environment<R: Send>(modes: control::Word, compute: impl FnOnce() -> R + Send) -> R {
    let of_thread = || {
        control::set(modes);
        let result = compute();
        let after = control::modes();
        control::set(control::DEFAULT);
        assert_eq!(after, modes, "the caller's environment");
        result
    };
    thread::scope(|scope| scope.spawn(of_thread).join().unwrap())
}

/// A pool whose threads have these modes.
fn pool(modes: control::Word) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(3);
    builder.start_handler(move |_| control::set(modes)).build().unwrap()
}

#[test]
fn compiling_and_running_give_the_same_bits_in_every_environment() {
    let x = numbers();
    let default = pool(control::DEFAULT);
    for executor in executors::EXECUTORS {
        let expected = run(&executable(executor), &x, Threads::Caller);
        for modes in control::OTHERS {
            let other = pool(modes);
            for threads in [Threads::Caller, Threads::Pool(&default), Threads::Pool(&other)] {
                let results = in_environment(modes, || run(&executable(executor), &x, threads));
                assert!(results == expected, "{executor:?}, modes {modes:#x}, {threads:?}");
                let results = run(&executable(executor), &x, threads);
                assert!(results == expected, "{executor:?}, workers with {modes:#x}, {threads:?}");
            }
        }
    }
}

#[test]
fn a_panic_of_the_callers_leaves_its_environment() {
    let x = numbers();
    for modes in control::OTHERS {
        in_environment(modes, || {
            let view = ArrayView::from_slice([ROWS, COLUMNS], &x).unwrap();
            let progress = |_| -> ControlFlow<()> { panic!("heard") };
            let options = RunOptions::new().progress(&progress);
            let executable = executable(ExecutorChoice::Automatic);
            let result = catch_unwind(AssertUnwindSafe(|| executable.run_with(&[view], &options)));
            assert!(result.is_err());
        });
    }
}
