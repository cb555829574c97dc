//! The times to build a graph, to compile it, and to generate its machine code, for graphs from one operation
//! to about the maximum of a function. `cargo run --release -p indim-bench --example compile_times` prints
//! the table.
//!
//! A graph is one nest over 32 elements. The time of machine code is the first run minus the shortest
//! repeated run. The table has the shortest time of several rounds. The column `each` is the additional time
//! of a row over the row before, divided by the number of additional operations.

#![allow(clippy::print_stdout)]

use core::hint::black_box;
use std::time::Instant;

use indim::run::{ExecutorChoice, Level};
use indim::{ArrayView, CompileOptions, DType, Graph, GraphBuilder, Value, compile};

/// So few elements that computing them takes no measurable time.
const ELEMENTS: usize = 32;

/// With two primitives for each, the last are near what a function may have (262,144).
const OPERATIONS: [usize; 11] = [1, 5, 10, 20, 50, 200, 1000, 5000, 20_000, 50_000, 100_000];

/// The next value of a graph, of the index of an operation and of all values so far.
type Next = fn(usize, &[Value]) -> Value;

/// Builds a graph of any number of operations, up to a maximum.
struct Kind {
    name: &'static str,
    max_operations: usize,
    next: Next,
}

const KINDS: [Kind; 3] = [
    Kind { name: "sums and products, one after another", max_operations: 100_000, next: chained },
    Kind {
        name: "sums and products, of values from long before",
        max_operations: 100_000,
        next: long_lived,
    },
    Kind { name: "sines, of some fifty primitives each", max_operations: 1000, next: sine },
];

fn chained(index: usize, values: &[Value]) -> Value {
    let (x, last) = (&values[index % 2], &values[values.len() - 1]);
    if index.is_multiple_of(2) { last * x } else { last + x }
}

/// Value `i` is read again when there are `2 * i` values, so half of the values are live at once.
fn long_lived(index: usize, values: &[Value]) -> Value {
    let (early, last) = (&values[values.len() / 2], &values[values.len() - 1]);
    if index.is_multiple_of(2) { last * early } else { last + early }
}

fn sine(_: usize, values: &[Value]) -> Value {
    values[values.len() - 1].sin()
}

fn build(next: Next, operations: usize) -> Graph {
    let b = GraphBuilder::new();
    let parameter = |name| b.parameter(name, DType::F32, [ELEMENTS]).expect("it fits");
    let mut values = vec![parameter("x"), parameter("y")];
    for index in 0..operations {
        let value = next(index, &values);
        values.push(value);
    }
    b.finish(&values[values.len() - 1..]).expect("it is a graph")
}

/// The time of `work` in microseconds, and its result.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = black_box(work());
    (start.elapsed().as_secs_f64() * 1e6, result)
}

/// The time of machine code at a level: the first run less the shortest of five more.
fn machine_code_time(graph: &Graph, level: Level) -> f64 {
    let executor = ExecutorChoice::Machine;
    let options = CompileOptions::new().level(level).executor(executor);
    let executable = compile(graph, &options).expect("it compiles");
    let (x, y) = ([0.5f32; ELEMENTS], [1.0f32; ELEMENTS]);
    let inputs = [ArrayView::from(&x), ArrayView::from(&y)];
    let inputs = &inputs[..executable.inputs().len()];
    let run = || executable.run(inputs).expect("it fits");
    let (first, _) = timed(run);
    let repeated = (0..5).map(|_| timed(run).0).fold(f64::INFINITY, f64::min);
    first - repeated
}

/// The shortest times of building, compiling and making machine code at each level.
fn measure(next: Next, operations: usize, levels: &[Level]) -> Vec<f64> {
    let rounds = (20_000 / operations).clamp(3, 500);
    let mut shortest = vec![f64::INFINITY; 2 + levels.len()];
    for _ in 0..rounds {
        let (building, graph) = timed(|| build(next, operations));
        let (compiling, _) = timed(|| compile(&graph, &CompileOptions::default()));
        let making = levels.iter().map(|&level| machine_code_time(&graph, level));
        let times = [building, compiling].into_iter().chain(making);
        for (shortest, time) in shortest.iter_mut().zip(times) {
            *shortest = time.min(*shortest);
        }
    }
    shortest
}

fn main() {
    let mut levels = Level::available().to_vec();
    // The baseline has no machine code.
    levels.retain(|&level| level > Level::BASELINE || Level::detect() == Level::BASELINE);
    let names: Vec<String> = levels.iter().map(|level| format!("code {level}")).collect();
    let columns = ["build", "compile"].into_iter().chain(names.iter().map(String::as_str));
    let heading: String = columns.map(|name| format!("{name:>12} {:>8}", "each")).collect();
    for Kind { name, max_operations, next } in KINDS {
        println!("{name}; microseconds\n{:>10}{heading}", "operations");
        let mut before = (0, vec![0.0; 2 + levels.len()]);
        for operations in OPERATIONS.into_iter().filter(|&operations| operations <= max_operations)
        {
            let times = measure(next, operations, &levels);
            let more = (operations - before.0) as f64;
            let each = times.iter().zip(&before.1).map(|(time, before)| (time - before) / more);
            let row: String = times
                .iter()
                .zip(each)
                .map(|(time, each)| format!("{time:>12.2} {each:>8.3}"))
                .collect();
            println!("{operations:>10}{row}");
            before = (operations, times);
        }
    }
}
