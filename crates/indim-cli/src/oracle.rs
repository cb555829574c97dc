//! `indim oracle`: a stream of cases in, a stream of verdicts out.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

/// A line longer than this is no case; the rest of it is skipped.
const MAXIMUM_LINE: u64 = 256 << 20;

/// Answers every line of standard input; only broken pipes and unreadable input end the stream early.
pub(crate) fn run() -> Result<(), String> {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut output = BufWriter::new(io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(MAXIMUM_LINE).read_until(b'\n', &mut line);
        if read.map_err(|error| format!("error[io]: standard input: {error}"))? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        let written = writeln!(output, "{}", indim::oracle::verdict(text.trim()));
        // Whoever sends case by case waits for each verdict: none is held back while input is awaited.
        let is_next_here = input.buffer().contains(&b'\n');
        let flushed = written.and_then(|()| if is_next_here { Ok(()) } else { output.flush() });
        match flushed {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            result => result.map_err(|error| format!("error[io]: standard output: {error}"))?,
        }
    }
    output.flush().or_else(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(format!("error[io]: standard output: {error}")),
    })
}
