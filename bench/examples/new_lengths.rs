//! What a call costs whose arrays have a length that no call before had, against one that is repeated; and a
//! tiny run by itself. `cargo run --release -p indim-bench --example new_lengths` prints the table.
//!
//! Arrays are so short that computing takes little time. Each length comes once in a round, and there are
//! more of them than are kept, so that each is new again. The lowest median of a round is printed.

#![allow(clippy::print_stdout)]

use core::hint::black_box;
use std::time::{Duration, Instant};

use indim::{
    Along, ArrayView, AxisFunction, CompileOptions, DType, GraphBuilder, SymbolicExecutable,
    SymbolicGraph, Value, compile_symbolic, evaluate,
};

/// The lengths of a round.
const LENGTHS: core::ops::Range<usize> = 1000..2000;

/// How often all are gone through.
const ROUNDS: usize = 20;

/// The median of times.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// How long a call takes for each of the lengths, and how long for one of them again and again.
fn measure(mut call: impl FnMut(&[f32])) -> [Duration; 2] {
    let elements: Vec<f32> = (0..LENGTHS.end).map(|number| number as f32).collect();
    let mut timed = |length: usize| {
        let start = Instant::now();
        call(&elements[..length]);
        start.elapsed()
    };
    let mut shortest = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        let new = LENGTHS.map(&mut timed).collect();
        let repeated = LENGTHS.map(|_| timed(LENGTHS.start)).collect();
        for (shortest, times) in shortest.iter_mut().zip([new, repeated]) {
            *shortest = median(times).min(*shortest);
        }
    }
    shortest
}

/// A program over one array of any length.
fn program(build: impl Fn(&GraphBuilder, &Value) -> Value) -> SymbolicExecutable {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [LENGTHS.start]).expect("it fits");
    let graph = b.finish(&[build(&b, &x)]).expect("it is a graph");
    let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
    compile_symbolic(&symbolic, &CompileOptions::default()).expect("it compiles")
}

fn along(b: &GraphBuilder, function: AxisFunction, x: &Value) -> Value {
    b.along(function, x, &Along::axes(&[0]), &[]).expect("it has elements")
}

fn print(name: &str, [new, repeated]: [Duration; 2]) {
    let [new, repeated] = [new, repeated].map(|time| time.as_nanos() as f64 / 1e3);
    println!("{name:<30} {new:>8.2} {repeated:>8.2} {:>8.2}", new - repeated);
}

fn main() {
    println!("{:<30} {:>8} {:>8} {:>8}", "microseconds a call", "new", "repeated", "more");
    let programs = [
        ("2 * x + 1", program(|_, x| 2.0 * x + 1.0)),
        ("softmax", program(|b, x| along(b, AxisFunction::Softmax, x))),
        (
            "(x - mean(x)) / std(x)",
            program(|b, x| (x - along(b, AxisFunction::Mean, x)) / along(b, AxisFunction::Std, x)),
        ),
    ];
    for (name, program) in &programs {
        print(
            name,
            measure(|x| drop(black_box(program.run(&[ArrayView::from(x)]).expect("it fits")))),
        );
    }
    for text in ["2 * x + 1", "(x - mean(x)) / std(x)"] {
        let name = format!("evaluate {text:?}");
        print(
            &name,
            measure(|x| drop(black_box(evaluate(text, [("x", x)]).expect("it is right")))),
        );
    }
}
