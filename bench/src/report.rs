//! The table.

#![allow(clippy::print_stdout)]

use crate::measure::Measurement;

/// The columns; `README.md` explains them.
pub(crate) fn heading(threads: usize) {
    println!(
        "level {}, {threads} threads; ratios are times over times",
        indim::run::Level::detect()
    );
    println!(
        "{:<26}{:>8}{:>13}{:>14}{:>10}{:>8}{:>8}{:>10}  best peer",
        "job", "size", "elements/s", "bytes/s", "to limit", "run", "fresh", "rested"
    );
}

pub(crate) fn row(measured: &Measurement) {
    let rate = |amount: usize| amount as f64 / measured.ours / 1e9;
    let peer = measured
        .best_peer()
        .map_or("-".to_owned(), |peer| format!("{} {:.2}", peer.engine, peer.ratio));
    println!(
        "{:<26}{:>8}{:>9.3} G/s{:>9.2} GB/s{:>10.2}{:>8.2}{:>8}{:>7.1} us  {peer}",
        measured.job,
        measured.size,
        rate(measured.elements),
        rate(measured.bytes),
        measured.ours / measured.limit,
        measured.pooled / measured.ours,
        measured.fresh.map_or("-".to_owned(), |fresh| format!("{:.2}", fresh / measured.ours)),
        measured.rested * 1e6,
    );
}
