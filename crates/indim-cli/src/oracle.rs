//! `indim oracle`: reads a stream of cases, writes a stream of verdicts.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

use clap::{Args, value_parser};
use indim::broadcast::RuleSetName;
use indim::errors::{Diagnostic, ErrorCode};
use indim::formats::ModelFormat;
use indim_oracle::{DEFAULT_ELEMENT_LIMIT, bad_line, write_verdict};

use crate::kit;
use crate::output;
use crate::rule::rule_set;

/// Maximum length of a line, in bytes. A longer line is refused unread, because parsed numbers take about
/// ten times the size of their text.
const MAX_LINE_BYTES: usize = 16 << 20;

/// Judge broadcasts and reductions, for tests of other systems.
///
/// The command reads one case a line from standard input, a JSON object, and writes one verdict a line to
/// standard output. With --kit it writes random cases and their verdicts to a folder instead.
/// docs/oracle.md describes cases and verdicts.
#[derive(Debug, Args)]
pub(crate) struct Oracle {
    /// Maximum number of elements of a computed result.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_ELEMENT_LIMIT)]
    limit_elements: usize,
    /// Write random cases and their verdicts to `cases.jsonl` in this folder, and read no standard input.
    #[arg(long, value_name = "DIR", requires = "rule")]
    kit: Option<PathBuf>,
    /// The rule of the cases in the kit.
    #[arg(long, requires = "kit", value_parser = rule_set())]
    rule: Option<RuleSetName>,
    /// The number of cases in the kit, at most a million.
    #[arg(long, value_name = "N", requires = "kit", default_value_t = 1000,
          value_parser = value_parser!(u32).range(..=kit::MAX_CASES))]
    cases: u32,
    /// The seed of the random cases. A rule and a seed give the same cases on every machine.
    #[arg(long, value_name = "S", requires = "kit", default_value_t = 0)]
    seed: u64,
    /// Also write each case as a model file of this format, such as 0000/model.onnx, and for legal cases the
    /// inputs and the expected result as .npy.
    #[arg(long, value_name = "FORMAT", requires = "kit", value_parser = kit::formats())]
    files: Option<ModelFormat>,
}

impl Oracle {
    /// Writes a kit, or answers every line of standard input. Only a broken pipe or unreadable input ends the
    /// stream early.
    pub(crate) fn run(&self) -> Result<(), Diagnostic> {
        if let (Some(folder), Some(rule)) = (&self.kit, self.rule) {
            let (cases, seed, files) = (self.cases as usize, self.seed, self.files);
            return kit::write(&kit::KitPlan { folder, rule, cases, seed, files });
        }
        let input = BufReader::new(io::stdin().lock());
        let output = BufWriter::new(io::stdout().lock());
        write_verdicts(
            input,
            output,
            &OracleLimits { line_bytes: MAX_LINE_BYTES, elements: self.limit_elements },
        )
    }
}

/// The limits of a case.
struct OracleLimits {
    /// The maximum number of bytes of a line.
    line_bytes: usize,
    /// The maximum number of elements of a computed result.
    elements: usize,
}

fn write_verdicts<R: Read>(
    mut input: BufReader<R>,
    mut output: impl Write,
    limits: &OracleLimits,
) -> Result<(), Diagnostic> {
    let mut line = Vec::new();
    while let Some(is_whole) = next_line(&mut input, &mut line, limits.line_bytes)
        .map_err(|error| Diagnostic::new(ErrorCode::IO, format!("standard input: {error}")))?
    {
        let text = String::from_utf8_lossy(&line);
        if is_whole && text.trim().is_empty() {
            continue;
        }
        let written = match is_whole {
            true => write_verdict(text.trim(), limits.elements, &mut output),
            false => {
                let message = format!("the line is longer than {} bytes", limits.line_bytes);
                output.write_all(bad_line(&message).as_bytes())
            }
        };
        // A client that sends case by case waits for each verdict, so nothing may stay buffered while the
        // next line is awaited.
        let is_client_waiting = !input.buffer().contains(&b'\n');
        let written = written.and_then(|()| output.write_all(b"\n"));
        let written =
            written.and_then(|()| if is_client_waiting { output.flush() } else { Ok(()) });
        if written.is_err() {
            return output::ignore_broken_pipe(written);
        }
    }
    output::ignore_broken_pipe(output.flush())
}

/// Reads a line and returns whether it is complete; the rest of a line that is too long is skipped. `None`
/// at the end.
fn next_line(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    max_bytes: usize,
) -> io::Result<Option<bool>> {
    line.clear();
    let limit = max_bytes as u64 + 1;
    if input.by_ref().take(limit).read_until(b'\n', line)? == 0 {
        return Ok(None);
    }
    let is_whole = line.len() <= max_bytes || line.ends_with(b"\n");
    if !is_whole {
        input.skip_until(b'\n')?;
    }
    Ok(Some(is_whole))
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read, Write};
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::{OracleLimits, write_verdicts};

    const CASE: &str = r#"{"rule":"none","operands":[{"shape":[2]}]}"#;
    const VERDICT: &str = r#"{"ok":true,"dtype":"f32","shape":[2],"maps":[[0]]}"#;

    fn answers(text: &[u8], max_bytes: usize) -> Vec<String> {
        let mut output = Vec::new();
        let limits = OracleLimits { line_bytes: max_bytes, elements: 10 };
        write_verdicts(BufReader::new(text), &mut output, &limits).unwrap();
        String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_stream_goes_on_after_a_bad_line() {
        let text = [CASE.as_bytes(), b"\n\xff\xfe{\n \r\n", CASE.as_bytes()].concat();
        let answers = answers(&text, 100);
        assert_eq!(answers.len(), 3, "a blank line has no verdict");
        assert_eq!((&*answers[0], &*answers[2]), (VERDICT, VERDICT));
        assert!(answers[1].contains(r#""code":"bad-request""#), "{}", answers[1]);
    }

    #[test]
    fn a_line_too_long_has_one_verdict() {
        let text = format!("{}\n{CASE}\n{CASE}", "x".repeat(50_000));
        let answers = answers(text.as_bytes(), CASE.len());
        let refusal =
            r#"{"ok":false,"code":"bad-request","message":"the line is longer than 42 bytes"}"#;
        assert_eq!(answers, [refusal, VERDICT, VERDICT]);
    }

    /// Standard input of a client that sends a line and waits for its verdict before the next line.
    struct Lines(Receiver<String>);
    struct Verdicts(Sender<()>);

    impl Read for Lines {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let line = self.0.recv().unwrap_or_default();
            buffer[..line.len()].copy_from_slice(line.as_bytes());
            Ok(line.len())
        }
    }

    impl Write for Verdicts {
        fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
            Ok(buffer.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            let _ = self.0.send(());
            Ok(())
        }
    }

    #[test]
    fn a_verdict_is_sent_before_the_next_line_is_awaited() {
        let (send, lines) = channel();
        let (verdicts, flushed) = channel();
        std::thread::scope(|scope| {
            let limits = OracleLimits { line_bytes: 100, elements: 10 };
            let lines = BufReader::new(Lines(lines));
            scope.spawn(move || write_verdicts(lines, Verdicts(verdicts), &limits));
            for _ in 0..3 {
                send.send(format!("{CASE}\n")).unwrap();
                flushed.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
            }
            drop(send);
        });
    }
}
