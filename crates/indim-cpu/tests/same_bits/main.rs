//! "The same bits on every machine": every operation and conversion over special and random values, by the
//! reference evaluator, at every level and by machine code, against digests recorded once and for all.
//!
//! Each cell, an operation at one element type, has a digest, so that a difference names its cell. Digests
//! are of little-endian bytes with canonical NaNs on every machine. After an intended change of a definition,
//! `cargo xtask bits` records them again.

mod cells;
#[path = "../executors/mod.rs"]
mod executors;
mod values;

use std::fs;
use std::path::Path;

use cells::cells;
use executors::executors;

const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/same_bits/digests.txt");

#[test]
fn every_operation_gives_the_recorded_bits_at_every_level() {
    let is_recording = std::env::var_os("INDIM_BLESS").is_some();
    let recorded = fs::read_to_string(Path::new(RECORD)).unwrap_or_default();
    let mut recorded = recorded.lines();
    let (mut found, mut wrong) = (String::new(), Vec::new());
    for cell in cells() {
        let reference = cell.reference();
        let line = format!("{} {reference:016x}", cell.name);
        let expected = recorded.next().unwrap_or("nothing");
        if line != expected && !is_recording {
            wrong.push(format!("`{line}`, but `{expected}` is recorded"));
        }
        found += &format!("{line}\n");
        for options in executors() {
            if cell.executed(&options) != reference {
                let by = format!("{} at {}", options.executor, options.level);
                wrong.push(format!("{} by {by} differs from the reference evaluator", cell.name));
            }
        }
    }
    assert!(wrong.is_empty(), "other bits:\n{}", wrong.join("\n"));
    if is_recording {
        fs::write(RECORD, found).unwrap();
    } else {
        assert_eq!(recorded.next(), None, "more is recorded than there are operations");
    }
}
