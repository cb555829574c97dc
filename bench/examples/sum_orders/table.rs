//! The tables: times, then errors.

use core::hint::black_box;
use std::time::{Duration, Instant};

use indim::run::Threads;
use indim::text::{Expression, ParseLimits};
use indim::{
    ArrayView, ArrayViewMut, CompileOptions, Executable, GraphBuilder, RuleSet, RunOptions, compile,
};

use crate::data::{KINDS, Random, error};
use crate::orders::{
    Blocks, Elements, ExactPair, Narrow, NarrowLanes, Order, Squares, Widened, WidenedPair,
};
use crate::vectors::Vectors;

/// Rows and columns: those of the benchmarks, and single rows.
const SHAPES: [[usize; 2]; 6] =
    [[128, 128], [1, 1 << 14], [512, 512], [1, 1 << 18], [4096, 4096], [1, 1 << 24]];

/// The expressions that are summed along rows.
const SUMS: [&str; 2] = ["sum(x, axis=1)", "sum(square(x - y), axis=1)"];

/// A function that sums the rows of two arrays with this many columns.
type SumRows = fn([&[f32]; 2], usize, &mut [f32]);

/// An order: its name, its sums of rows as [`SUMS`] says, and its sum before it is rounded.
struct Candidate {
    name: &'static str,
    sums: [SumRows; 2],
    sum: fn(&[f32]) -> f64,
}

fn candidate<V: Vectors, O: Order>(name: &'static str) -> Candidate {
    let sum = |x: &[f32]| {
        let mut sum = 0.0;
        V::run(
            #[inline(always)]
            || sum = O::sum::<V>(Elements(x)),
        );
        sum
    };
    Candidate { name, sums: [sum_rows::<V, O>, sum_square_rows::<V, O>], sum }
}

fn sum_rows<V: Vectors, O: Order>([x, _]: [&[f32]; 2], columns: usize, sums: &mut [f32]) {
    V::run(
        #[inline(always)]
        || {
            for (row, sum) in x.chunks_exact(columns).zip(sums) {
                *sum = O::sum::<V>(Elements(row)) as f32;
            }
        },
    );
}

fn sum_square_rows<V: Vectors, O: Order>([x, y]: [&[f32]; 2], columns: usize, sums: &mut [f32]) {
    V::run(
        #[inline(always)]
        || {
            let rows = x.chunks_exact(columns).zip(y.chunks_exact(columns));
            for ((x, y), sum) in rows.zip(sums) {
                *sum = O::sum::<V>(Squares(x, y)) as f32;
            }
        },
    );
}

/// No blocks.
const WHOLE: usize = usize::MAX;

/// The first has the order of indim.
fn candidates<V: Vectors>() -> [Candidate; 19] {
    [
        candidate::<V, Blocks<Widened, 1, 32, 512>>("32 lanes, 512"),
        candidate::<V, Blocks<Widened, 1, 32, 1024>>("32 lanes, 1024"),
        candidate::<V, Blocks<Widened, 1, 32, 2048>>("32 lanes, 2048"),
        candidate::<V, Blocks<Widened, 1, 32, 4096>>("32 lanes, 4096"),
        candidate::<V, Blocks<Widened, 1, 32, WHOLE>>("32 lanes, whole row"),
        candidate::<V, Blocks<Widened, 1, 64, 512>>("64 lanes, 512"),
        candidate::<V, Blocks<Widened, 1, 64, 1024>>("64 lanes, 1024"),
        candidate::<V, Blocks<Widened, 1, 64, 2048>>("64 lanes, 2048"),
        candidate::<V, Blocks<Widened, 1, 64, WHOLE>>("64 lanes, whole row"),
        candidate::<V, Blocks<WidenedPair, 2, 32, 512>>("pairs in f64, 512"),
        candidate::<V, Blocks<WidenedPair, 2, 32, 1024>>("pairs in f64, 1024"),
        candidate::<V, Blocks<WidenedPair, 2, 32, WHOLE>>("pairs in f64, whole row"),
        candidate::<V, Blocks<ExactPair, 2, 32, 512>>("exact pairs of f32, 512"),
        candidate::<V, Blocks<ExactPair, 2, 32, WHOLE>>("exact pairs, whole row"),
        candidate::<V, Blocks<Narrow, 2, 32, 512>>("2 terms in f32, 512"),
        candidate::<V, Blocks<Narrow, 4, 32, 512>>("4 terms in f32, 512"),
        candidate::<V, Blocks<Narrow, 4, 32, WHOLE>>("4 in f32, whole row"),
        candidate::<V, Blocks<Narrow, 16, 32, 512>>("16 terms in f32, 512"),
        candidate::<V, NarrowLanes>("lanes of f32, whole row"),
    ]
}

pub(crate) fn print<V: Vectors>() {
    let candidates = candidates::<V>();
    for (which, text) in SUMS.into_iter().enumerate() {
        println!(
            "\n{text}, {}: G elements a second of the first; shortest and median time over its",
            V::NAME
        );
        println!(
            "{:<26}{}",
            "",
            SHAPES.map(|shape| format!("{:>16}", format!("{shape:?}"))).concat()
        );
        let columns = SHAPES.map(|shape| measure(&candidates, which, shape));
        for row in 0..=candidates.len() {
            let name = candidates.get(row).map_or("indim", |candidate| candidate.name);
            let cells = columns.iter().map(|column| {
                let ([shortest, median], [first, first_median]) =
                    (column.times[row], column.times[0]);
                match row {
                    0 => format!("{:>14.2} G", column.elements / shortest / 1e9),
                    _ => format!("{:>11.2} {:.2}", shortest / first, median / first_median),
                }
            });
            println!("{name:<26}{}", cells.collect::<String>());
        }
    }
    print_errors(&candidates);
}

/// The shortest and the median seconds of all candidates and of indim, at one shape.
struct Column {
    elements: f64,
    times: Vec<[f64; 2]>,
}

fn measure(candidates: &[Candidate], which: usize, [rows, columns]: [usize; 2]) -> Column {
    let elements = rows * columns;
    let mut random = Random(1);
    let mut array = || (0..elements).map(|_| random.unit()).collect::<Vec<f32>>();
    let (x, y) = (array(), array());
    let executable = program(SUMS[which], [rows, columns]);
    let inputs = [&x, &y].map(|x| ArrayView::from_slice([rows, columns], x).expect("it fits"));
    let options = RunOptions::new().threads(Threads::Caller);
    let mut sums = vec![0f32; rows];
    let repeat = ((1 << 20) / elements).max(1);
    let mut times = vec![Vec::new(); candidates.len() + 1];
    for _ in 0..if elements > 1 << 20 { 25 } else { 101 } {
        for (candidate, times) in candidates.iter().zip(&mut times) {
            let run = || candidate.sums[which](black_box([&x, &y]), columns, black_box(&mut sums));
            times.push(timed(repeat, run));
        }
        let mut output = [ArrayViewMut::from_slice([rows], &mut sums).expect("it fits")];
        let inputs = &inputs[..executable.parameters().len()];
        let run = || executable.run_into_with(inputs, &mut output, &options).expect("it runs");
        times[candidates.len()].push(timed(repeat, run));
    }
    let shortest_and_median = |mut times: Vec<Duration>| {
        times.sort();
        [times[0], times[times.len() / 2]].map(|time| time.as_secs_f64())
    };
    Column {
        elements: elements as f64,
        times: times.into_iter().map(shortest_and_median).collect(),
    }
}

fn program(text: &str, shape: [usize; 2]) -> Executable {
    let b = GraphBuilder::new();
    let names = if text.contains('y') { &["x", "y"][..] } else { &["x"] };
    let parameter = |&name| (name, b.parameter(name, indim::DType::F32, shape).expect("it fits"));
    let values: Vec<_> = names.iter().map(parameter).collect();
    let expression = Expression::parse(text, &ParseLimits::default()).expect("it parses");
    let sum = expression.build(&b, &values, Some(&RuleSet::Numpy)).expect("it is legal");
    let graph = b.finish(&[sum]).expect("it is a graph");
    compile(&graph, &CompileOptions::default()).expect("it compiles")
}

/// The mean time of a run: of `repeat` runs after a first one, which is not timed.
fn timed(repeat: usize, mut run: impl FnMut()) -> Duration {
    run();
    let start = Instant::now();
    for _ in 0..repeat {
        run();
    }
    start.elapsed() / repeat as u32
}

/// The arrays of each kind of data whose sums are compared, and their length.
const ARRAYS: u64 = 20;
const LENGTH: usize = 1 << 17;

fn print_errors(candidates: &[Candidate]) {
    println!(
        "\nlargest error over the sum of magnitudes, in 2^-53; of {ARRAYS} sums, wrong ones in f32"
    );
    println!("{:<26}{}", "", KINDS.map(|(name, _)| format!("{name:>17}")).concat());
    let arrays = KINDS.map(|(_, make)| {
        let array = |seed| make(LENGTH, &mut Random(seed));
        (0..ARRAYS).map(array).collect::<Vec<Vec<f32>>>()
    });
    for candidate in candidates {
        let cells = arrays.each_ref().map(|arrays| {
            let errors: Vec<(f64, bool)> =
                arrays.iter().map(|x| error(x, (candidate.sum)(x))).collect();
            let largest = errors.iter().fold(0.0, |largest, (error, _)| error.max(largest));
            let wrong = errors.iter().filter(|(_, is_correct)| !is_correct).count();
            format!("{:>12} {wrong:>4}", format!("{:.1e}", largest * 2f64.powi(53)))
        });
        println!("{:<26}{}", candidate.name, cells.concat());
    }
}
