//! The complete measurement of accuracy: all 2^32 arguments in 32 bits, all 2^16 of the 16-bit floats, many
//! in 64 bits; and checksums, by which other machines show that they give the same bits.
//!
//! `cargo run --release -p indim-ops --example accuracy -- [record | check] [every=N] [FUNCTION...]`
//!
//! It prints a line for each function and type. `record` puts the lines into `tests/accuracy/measured.txt`;
//! `check` measures nothing, it only compares the checksums over all arguments of 32 bits with those in
//! that file, so it takes no `every=N`. Elsewhere `every=N` takes every N-th argument of 32 bits. With
//! `RUSTFLAGS="-C target-cpu=native"` it is several times faster, and the bits are the same.

#[path = "../tests/accuracy/functions.rs"]
mod functions;
#[path = "../tests/accuracy/measure.rs"]
mod measure;
#[path = "../tests/accuracy/random.rs"]
mod random;
#[path = "../tests/accuracy/record.rs"]
mod record;
#[path = "../tests/accuracy/reference.rs"]
mod reference;

use std::path::Path;
use std::process::ExitCode;
use std::thread;

use functions::{UNARY_FUNCTIONS, UnaryFunction, checksum_of, sample_checksum};
use measure::{BINARY, BinaryCase, UnaryCase, WorstError, unary_cases};
use random::Random;
use record::FunctionLine;

const DOUBLE_SAMPLES: u64 = 1 << 25;
const RECORD_PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/accuracy/measured.txt");

/// Divides the work among all cores, and combines the results.
fn in_parallel<T: Send>(work: impl Fn(u64, u64) -> T + Sync, together: impl Fn(T, T) -> T) -> T {
    let parts = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> =
            (0..parts).map(|part| scope.spawn(move || work(part, parts))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("invariant: a measurement does not panic"))
            .reduce(together)
            .expect("invariant: there is a core")
    })
}

fn merge(one: WorstError, other: WorstError) -> WorstError {
    let worse = if one.error >= other.error { one } else { other };
    let tried = one.tried + other.tried;
    WorstError { tried, not_nearest: one.not_nearest + other.not_nearest, ..worse }
}

fn unary_single(case: &UnaryCase, every: u64) -> WorstError {
    let part = |part: u64, parts: u64| {
        let mut worst = WorstError::default();
        for bits in (part * every..1 << 32).step_by((parts * every) as usize) {
            case.measure_single(f32::from_bits(bits as u32), &mut worst);
        }
        worst
    };
    in_parallel(part, merge)
}

/// The checksum over all arguments of 32 bits.
fn checksum(function: &UnaryFunction) -> u64 {
    let part = |part, parts: u64| {
        let arguments = (part..1 << 32).step_by(parts as usize).map(|bits| bits as u32);
        checksum_of(function, arguments)
    };
    in_parallel(part, u64::wrapping_add)
}

fn unary_double(case: &UnaryCase) -> WorstError {
    let part = |part, parts| {
        let (mut worst, mut random) = (WorstError::default(), Random(part));
        for _ in 0..DOUBLE_SAMPLES / parts {
            case.measure_double(random.argument(), &mut worst);
        }
        worst
    };
    in_parallel(part, merge)
}

fn binary_single(case: &BinaryCase) -> WorstError {
    let part = |part, parts| {
        let (mut worst, mut random) = (WorstError::default(), Random(part));
        for _ in 0..8 * DOUBLE_SAMPLES / parts {
            let (x, y) = random.arguments(150.0);
            case.measure_single(x as f32, y as f32, &mut worst);
        }
        worst
    };
    in_parallel(part, merge)
}

fn binary_double(case: &BinaryCase) -> WorstError {
    let part = |part, parts| {
        let (mut worst, mut random) = (WorstError::default(), Random(part));
        for _ in 0..DOUBLE_SAMPLES / parts {
            let (x, y) = random.arguments(1080.0);
            case.measure_double(x, y, &mut worst);
        }
        worst
    };
    in_parallel(part, merge)
}

fn line(name: &str, dtype: &str, worst: WorstError) -> FunctionLine {
    FunctionLine {
        name: name.to_owned(),
        dtype: dtype.to_owned(),
        error: worst.error,
        tried: worst.tried,
        not_nearest: worst.not_nearest,
        sample_checksum: None,
        checksum: None,
    }
}

fn unary_lines(case: &UnaryCase, every: u64) -> Vec<FunctionLine> {
    let (function, name) = (case.function, case.function.name);
    let mut single = line(name, "f32", unary_single(case, every));
    single.sample_checksum = Some(sample_checksum(function));
    single.checksum = (every == 1).then(|| checksum(function));
    vec![
        line(name, "f16", case.measure_f16()),
        line(name, "bf16", case.measure_bf16()),
        single,
        line(name, "f64", unary_double(case)),
    ]
}

fn binary_lines(case: &BinaryCase) -> Vec<FunctionLine> {
    vec![line(case.name, "f32", binary_single(case)), line(case.name, "f64", binary_double(case))]
}

/// Writes the lines into the record, in place of older ones of the same function and type.
fn update_record(lines: &[FunctionLine]) -> std::io::Result<()> {
    let text = std::fs::read_to_string(Path::new(RECORD_PATH))?;
    let mut all = FunctionLine::read_all(&text);
    for line in lines {
        let is_same = |other: &FunctionLine| other.name == line.name && other.dtype == line.dtype;
        match all.iter_mut().find(|other| is_same(other)) {
            Some(known) => *known = line.clone(),
            None => all.push(line.clone()),
        }
    }
    std::fs::write(RECORD_PATH, FunctionLine::write_all(&all))
}

/// Whether the checksum of `case` is the recorded one; prints the verdict.
#[allow(clippy::print_stdout, reason = "the report is what this program is for")]
fn check(function: &UnaryFunction, recorded: &[FunctionLine]) -> bool {
    let is_line = |line: &&FunctionLine| line.name == function.name && line.dtype == "f32";
    let expected = recorded.iter().find(is_line).and_then(|line| line.checksum);
    let is_same = expected.is_none_or(|expected| expected == checksum(function));
    let verdict = match (expected, is_same) {
        (None, _) => "no checksum is recorded",
        (_, true) => "the same bits for all 2^32 arguments",
        (_, false) => "OTHER BITS than recorded",
    };
    println!("{}: {verdict}", function.name);
    is_same
}

#[allow(clippy::print_stdout, reason = "the report is what this program is for")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (mode, names) = match arguments.split_first() {
        Some((mode, names)) if mode == "record" || mode == "check" => (mode.as_str(), names),
        _ => ("", arguments.as_slice()),
    };
    let every = names.iter().find_map(|name| name.strip_prefix("every=")?.parse().ok());
    if mode == "check" && every.is_some() {
        println!("the checksums are recorded over all arguments: `check` takes no `every=N`");
        return ExitCode::FAILURE;
    }
    let every: u64 = every.unwrap_or(1).max(1);
    let names: Vec<&String> = names.iter().filter(|name| !name.starts_with("every=")).collect();
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| *wanted == name);
    let functions = UNARY_FUNCTIONS.iter().filter(|function| is_wanted(function.name));
    if mode == "check" {
        let recorded = FunctionLine::read_all(include_str!("../tests/accuracy/measured.txt"));
        let differing = functions.filter(|function| !check(function, &recorded)).count();
        return if differing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let unary = unary_cases().filter(|case| is_wanted(case.function.name));
    let binary = BINARY.iter().filter(|case| is_wanted(case.name)).map(binary_lines);
    for lines in unary.map(|case| unary_lines(&case, every)).chain(binary) {
        lines.iter().for_each(|line| print!("{}", line.write()));
        if mode == "record"
            && let Err(error) = update_record(&lines)
        {
            println!("{RECORD_PATH} cannot be written: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
