//! The long measurement of accuracy: all 2^32 arguments in 32 bits, many in 64 bits.
//!
//! `cargo run --release -p indim-graph --example accuracy [FUNCTION]`

#[path = "../tests/accuracy/measure.rs"]
mod measure;

use std::thread;

use measure::{BINARY, BinaryCase, Random, UNARY, UnaryCase, Worst};

const DOUBLE_SAMPLES: u64 = 1 << 25;

/// Splits the work over all cores and keeps the worst of all parts.
fn in_parallel(work: impl Fn(u64, u64) -> Worst + Sync) -> Worst {
    let parts = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> =
            (0..parts).map(|part| scope.spawn(move || work(part, parts))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("invariant: a measurement does not panic"))
            .fold(Worst::default(), merge)
    })
}

fn merge(one: Worst, other: Worst) -> Worst {
    let worse = if one.error >= other.error { one } else { other };
    let tried = one.tried + other.tried;
    Worst { tried, not_nearest: one.not_nearest + other.not_nearest, ..worse }
}

fn unary_single(case: &UnaryCase) -> Worst {
    in_parallel(|part, parts| {
        let mut worst = Worst::default();
        for bits in (part..1 << 32).step_by(parts as usize) {
            case.measure_single(f32::from_bits(bits as u32), &mut worst);
        }
        worst
    })
}

fn unary_double(case: &UnaryCase) -> Worst {
    in_parallel(|part, parts| {
        let (mut worst, mut random) = (Worst::default(), Random(part));
        for _ in 0..DOUBLE_SAMPLES / parts {
            case.measure_double(random.argument(), &mut worst);
        }
        worst
    })
}

fn binary_single(case: &BinaryCase) -> Worst {
    in_parallel(|part, parts| {
        let (mut worst, mut random) = (Worst::default(), Random(part));
        for _ in 0..8 * DOUBLE_SAMPLES / parts {
            let (x, y) = random.arguments(150.0);
            case.measure_single(x as f32, y as f32, &mut worst);
        }
        worst
    })
}

fn binary_double(case: &BinaryCase) -> Worst {
    in_parallel(|part, parts| {
        let (mut worst, mut random) = (Worst::default(), Random(part));
        for _ in 0..DOUBLE_SAMPLES / parts {
            let (x, y) = random.arguments(1080.0);
            case.measure_double(x, y, &mut worst);
        }
        worst
    })
}

#[allow(clippy::print_stdout, reason = "the report is what this program is for")]
fn report(name: &str, single: Worst, double: Worst) {
    println!(
        "{name:9} f32: max {:.4} ULP at {:?}, {} arguments, {} not nearest",
        single.error, single.at, single.tried, single.not_nearest
    );
    println!(
        "{name:9} f64: max {} floats from the nearest at {:?}, {} arguments, {:.3} % not nearest",
        double.error,
        double.at,
        double.tried,
        100.0 * double.not_nearest as f64 / double.tried as f64
    );
}

fn main() {
    let wanted = std::env::args().nth(1);
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    for case in UNARY.iter().filter(|case| is_wanted(case.name)) {
        report(case.name, unary_single(case), unary_double(case));
    }
    for case in BINARY.iter().filter(|case| is_wanted(case.name)) {
        report(case.name, binary_single(case), binary_double(case));
    }
}
