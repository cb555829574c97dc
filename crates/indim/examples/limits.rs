//! Compile time and memory of the largest texts within the default limits; `docs/limits.md` has the figures.
//!
//! `cargo run --example limits` prints one row per text: its bytes; the nodes of its graph; CPU seconds to
//! parse it, to build the graph and to compile it; the peak memory of the process; the memory of the compiled
//! program. Each text runs in its own process. Linux only: times and memory come from `/proc/self`.

use std::env;
use std::error::Error;
use std::fs;
use std::process::Command;

use indim::array::MAX_RANK;
use indim::text::{Expression, ParseLimits};
use indim::{CompileOptions, DType, GraphBuilder, Shape, compile};

/// A text over `x` and `y`, which have one shape, and `v`, whose first axis has size 1.
struct Case {
    name: &'static str,
    rank: usize,
    text: fn(&ParseLimits) -> String,
}

const CASES: &[Case] = &[
    Case { name: "one name", rank: 2, text: |_| "x".to_owned() },
    Case { name: "sums, rank 2", rank: 2, text: |l| flat(l, 4, |k| format!("+x*{k}")) },
    Case { name: "sums", rank: 64, text: |l| flat(l, 4, |k| format!("+x*{k}")) },
    Case { name: "sines", rank: 64, text: |l| flat(l, 5, |k| format!("+sin(x*{k})")) },
    Case { name: "choices", rank: 64, text: |l| flat(l, 7, |k| format!("+where(x<{k},x,y)")) },
    Case { name: "conversions", rank: 64, text: |l| flat(l, 1, conversion) },
    Case { name: "broadcasts", rank: 64, text: |l| flat(l, 4, |k| format!("+v*{k}")) },
    Case { name: "temporaries", rank: 64, text: |l| flat(l, 7, |k| format!("+y*sin(v*{k})")) },
    Case {
        name: "transpositions",
        rank: 64,
        text: |l| towers(l, "transpose(sin(", |_| "))".to_owned()),
    },
    Case {
        name: "reshapes",
        rank: 64,
        text: |l| towers(l, "reshape(", |k| reshaped(&[3, 3], 64 - k % 2)),
    },
    Case { name: "reshapes kept", rank: 64, text: |l| towers(l, "reshape(sin(", reshaped_back) },
    Case { name: "parameters", rank: 64, text: |l| flat(l, 2, |k| format!("+a{k}")) },
];

/// `x`, followed by as many pieces of this many operands and operations as the limits allow.
fn flat(limits: &ParseLimits, nodes: usize, piece: impl Fn(usize) -> String) -> String {
    let mut text = "x".to_owned();
    for k in 1..(limits.nodes - 1) / nodes {
        let piece = piece(k);
        if text.len() + piece.len() > limits.text_bytes {
            break;
        }
        text += &piece;
    }
    text
}

/// Sums of nested calls, with the largest depth and number that the limits allow.
fn towers(limits: &ParseLimits, open: &str, close: impl Fn(usize) -> String) -> String {
    let levels = open.matches('(').count();
    let deep = (limits.depth - 2) / levels;
    let closing: String = (0..deep).map(close).collect();
    let tower = |k: usize| format!("+{}x*{k}{closing}", open.repeat(deep));
    // A level has at most four operands and operations.
    let count = (limits.text_bytes / tower(1000).len()).min(limits.nodes / (4 * deep + 4)).max(1);
    (0..count).map(tower).collect()
}

fn conversion(k: usize) -> String {
    format!(".astype({})", if k.is_multiple_of(2) { "f64" } else { "f32" })
}

fn reshaped(sizes: &[usize], rank: usize) -> String {
    let sizes: Vec<usize> = sizes.iter().copied().chain(std::iter::repeat(1)).take(rank).collect();
    format!(",{sizes:?})").replace(' ', "")
}

fn reshaped_back(k: usize) -> String {
    format!("){}", if k.is_multiple_of(2) { ",[9])" } else { ",[3,3])" })
}

/// CPU seconds of this process.
fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    let schedule = fs::read_to_string("/proc/self/schedstat")?;
    Ok(schedule.split(' ').next().unwrap_or_default().parse::<f64>()? / 1e9)
}

fn shapes(case: &Case, text: &str) -> [Shape; 2] {
    let rank = if text.contains("[3,3])") { 2 } else { case.rank.min(MAX_RANK) };
    let of = |first: usize| (0..rank).map(|axis| [first, 3, 1][axis.min(2)]).collect();
    [of(3), of(1)]
}

/// Measures one text and prints its row.
fn measure(case: &Case) -> Result<(), Box<dyn Error>> {
    let limits = ParseLimits::default();
    let text = (case.text)(&limits);
    let mut times = vec![processor_seconds()?];
    let expression = Expression::parse(&text, &limits)?;
    times.push(processor_seconds()?);
    let b = GraphBuilder::new();
    let [full, row] = shapes(case, &text);
    let mut values = Vec::new();
    for name in expression.names() {
        values.push((name, b.parameter(name, DType::F64, if name == "v" { &row } else { &full })?));
    }
    let graph = b.finish(&[expression.build(&b, &values, None)?])?;
    times.push(processor_seconds()?);
    let executable = compile(&graph, &CompileOptions::default())?;
    times.push(processor_seconds()?);
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let seconds: Vec<String> =
        times.windows(2).map(|pair| format!("{:7.2}", pair[1] - pair[0])).collect();
    #[expect(clippy::print_stdout, reason = "what the example is for")]
    {
        println!(
            "{:16} {:8} {:6} {} {:>10} {:8} kB",
            case.name,
            text.len(),
            graph.len(),
            seconds.join(" "),
            peak.trim(),
            executable.held_bytes() / 1024,
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(name) = env::args().nth(1) {
        return measure(CASES.iter().find(|case| case.name == name).ok_or("no such text")?);
    }
    for case in CASES {
        if !Command::new(env::current_exe()?).arg(case.name).status()?.success() {
            return Err(format!("{} failed", case.name).into());
        }
    }
    Ok(())
}
