//! Records: the times of one run, one JSON line each, in a file for the machine and the date.

use std::fs::File;
use std::io::{Result, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::Request;
use crate::measure::Measurement;

/// A record, open for appending.
pub(crate) struct Record {
    file: File,
}

impl Record {
    /// Appends to the record of this machine and day; the first line has the conditions of the run.
    pub(crate) fn start(note: &str, request: &Request) -> Result<Record> {
        let cpu = cpu_model();
        let date = today();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/records");
        std::fs::create_dir_all(folder)?;
        let path = format!("{folder}/{date}-{}.jsonl", file_name_of(&cpu));
        let file = File::options().create(true).append(true).open(&path)?;
        let mut record = Record { file };
        record.write(&json!({
            "date": date,
            "cpu": cpu,
            "level": indim::run::Level::detect().to_string(),
            "threads": request.threads,
            "seconds_per_job": request.budget.as_secs_f64(),
            "note": note,
        }))?;
        Ok(record)
    }

    pub(crate) fn add(&mut self, measured: &Measurement) -> Result<()> {
        let ours = [
            ("indim", measured.ours),
            ("loop by hand", measured.limit),
            ("indim run", measured.pooled),
            ("indim rested", measured.rested),
        ];
        let ours = ours.into_iter().chain(measured.fresh.map(|fresh| ("indim run fresh", fresh)));
        let ours = ours.chain(measured.alone.map(|alone| ("indim alone", alone)));
        let peers = measured.peers.iter().map(|peer| (peer.engine.as_str(), peer.seconds));
        for (engine, seconds) in ours.chain(peers) {
            self.write(&json!({
                "job": measured.job,
                "size": measured.size,
                "shape": measured.shape,
                "bytes": measured.bytes,
                "engine": engine,
                "seconds": seconds,
            }))?;
        }
        Ok(())
    }

    fn write(&mut self, line: &Value) -> Result<()> {
        writeln!(self.file, "{line}")
    }
}

/// The name of the processor.
fn cpu_model() -> String {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        information.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or(std::env::consts::ARCH.to_owned(), |(_, model)| model.trim().to_owned())
}

/// Letters and digits in lower case, with single hyphens between.
fn file_name_of(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

/// The date in UTC, `2026-11-21`.
fn today() -> String {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date_of(time.as_secs() / 86_400)
}

/// The date `days` days after 1970-01-01.
fn date_of(mut days: u64) -> String {
    let is_leap = |year: u64| match year.is_multiple_of(100) {
        true => year.is_multiple_of(400),
        false => year.is_multiple_of(4),
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::{date_of, file_name_of};

    #[test]
    fn days_become_dates() {
        let dates = [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_322, "2000-12-31"),
            (11_323, "2001-01-01"),
            (20_778, "2026-11-21"),
        ];
        for (days, date) in dates {
            assert_eq!(date_of(days), date);
        }
    }

    #[test]
    fn processors_give_names_of_files() {
        assert_eq!(file_name_of("AMD EPYC 9R14  96-Core"), "amd-epyc-9r14-96-core");
        assert_eq!(file_name_of("Intel(R) Xeon(R)"), "intel-r-xeon-r");
    }
}
