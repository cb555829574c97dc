//! The time of a call with a new array length, compared with a repeated call and with a run of the compiled
//! program alone, for arrays of one and of two axes. `cargo run --release -p indim-bench --example
//! new_lengths` prints the tables.
//!
//! Arrays are so short that computing takes little time. Each length comes once in a round, and there are
//! more of them than are kept, so that each is new again. The lowest median of a round is printed.

#![allow(clippy::print_stdout)]

use core::hint::black_box;
use std::time::{Duration, Instant};

use indim::graph::{Reduction, SymbolicGraph};
use indim::run::{SymbolicExecutable, compile_symbolic};
use indim::{ArrayView, CompileOptions, DType, GraphBuilder, Value, evaluate};

/// The lengths of a round.
const LENGTHS: core::ops::Range<usize> = 1000..2000;

/// The number of rounds.
const ROUNDS: usize = 20;

/// The median of times.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The time of a call for each length, and for the middle length repeated.
fn measure(mut call: impl FnMut(usize)) -> [Duration; 2] {
    let mut timed = |length: usize| {
        let start = Instant::now();
        call(length);
        start.elapsed()
    };
    let middle = LENGTHS.start.midpoint(LENGTHS.end);
    let mut shortest = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        let new = LENGTHS.map(&mut timed).collect();
        let repeated = LENGTHS.map(|_| timed(middle)).collect();
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

fn reduce(b: &GraphBuilder, function: Reduction, x: &Value) -> Value {
    b.along(function, x, [0]).expect("it has elements")
}

fn print(name: &str, [new, repeated]: [Duration; 2]) {
    let [new, repeated] = [new, repeated].map(|time| time.as_nanos() as f64 / 1e3);
    println!("{name:<66} {new:>8.2} {repeated:>8.2} {:>8.2}", new - repeated);
}

/// The shape that stands for a length.
type Shape = fn(usize) -> [usize; 2];

/// Arrays of two axes.
const SHAPES: [(&str, Shape); 3] = [
    ("[n, 8]", |length| [length - 900, 8]),
    ("[8, n]", |length| [8, length - 900]),
    // The middle length has rows and columns of middle length.
    ("[n, m]", |length| [10 + (length + 19) % 32, 20 + length / 32]),
];

const TEXTS: [&str; 6] = [
    "2 * x + v",
    "x * x + 1",
    "x - mean(x, axis=0)",
    "x / sum(x, axis=1, keepdims=true)",
    "(x - mean(x, axis=0)) / std(x, axis=0)",
    "softmax(x, axis=1)",
];

/// Prints what calls cost over arrays of two axes; `v` lies along the second.
fn print_two_axes(elements: &[f32]) {
    for (text, (shape_name, shape)) in TEXTS.iter().flat_map(|text| SHAPES.map(|it| (text, it))) {
        let takes_v = text.contains('v') && !text.contains('(');
        let times = measure(|length| {
            let [rows, columns] = shape(length);
            let x = ArrayView::from_slice([rows, columns], &elements[..rows * columns]);
            let v = ArrayView::from(&elements[..columns]);
            let mut inputs = vec![("x", x.expect("it fits"))];
            inputs.extend(takes_v.then_some(("v", v)));
            drop(black_box(evaluate(text, inputs).expect("it is right")));
        });
        print(&format!("evaluate {text:?} {shape_name}"), times);
    }
}

fn main() {
    let elements: Vec<f32> = (0..10 * LENGTHS.end).map(|number| number as f32).collect();
    println!("{:<66} {:>8} {:>8} {:>8}", "microseconds a call", "new", "repeated", "more");
    let programs = [
        ("2 * x + 1", program(|_, x| 2.0 * x + 1.0)),
        ("softmax", program(|b, x| reduce(b, Reduction::Softmax, x))),
        (
            "(x - mean(x)) / std(x)",
            program(|b, x| (x - reduce(b, Reduction::Mean, x)) / reduce(b, Reduction::Std, x)),
        ),
    ];
    for (name, program) in &programs {
        print(
            name,
            measure(|length| {
                let x = ArrayView::from(&elements[..length]);
                drop(black_box(program.run(&[x]).expect("it fits")));
            }),
        );
    }
    for text in ["2 * x + 1", "(x - mean(x)) / std(x)"] {
        let name = format!("evaluate {text:?}");
        print(
            &name,
            measure(|length| {
                let x = &elements[..length];
                drop(black_box(evaluate(text, [("x", x)]).expect("it is right")));
            }),
        );
    }
    print_two_axes(&elements);
}
