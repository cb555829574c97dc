//! Requests for byte ranges of an object: near runs share one, and several are in flight.

use crate::concurrent::for_each_concurrently;

/// Maximum bytes of one request. A longer run is read by several requests at once.
pub const MAX_REQUEST_BYTES: usize = 4 << 20;
/// Runs with a gap of at most this many bytes are read by one request: a request takes about as long as
/// the transfer of so many bytes.
const MAX_GAP_BYTES: usize = 64 << 10;

/// A byte range for one request.
struct Request<'a> {
    start: u64,
    bytes: usize,
    /// The runs in the range: their offsets in it, and where they belong.
    parts: Vec<(usize, &'a mut [u8])>,
}

/// The requests for runs.
struct Requests<'a, R> {
    /// Offsets and lengths, in ascending order.
    runs: R,
    /// The first run of the next request, if it has been taken from `runs`.
    next: Option<(u64, usize)>,
    /// Memory of the runs that are left.
    rest: &'a mut [u8],
}

impl<'a, R: Iterator<Item = (u64, usize)>> Iterator for Requests<'a, R> {
    type Item = Request<'a>;

    fn next(&mut self) -> Option<Request<'a>> {
        let (start, mut bytes) = self.next.take().or_else(|| self.runs.next())?;
        let mut parts = Vec::new();
        let mut take = |offset: usize, count: usize| {
            let (part, rest) = core::mem::take(&mut self.rest).split_at_mut(count);
            self.rest = rest;
            parts.push((offset, part));
        };
        take(0, bytes);
        for (run, count) in self.runs.by_ref() {
            let offset = usize::try_from(run - start).unwrap_or(usize::MAX);
            let is_near = offset <= bytes + MAX_GAP_BYTES;
            if !is_near || offset + count > MAX_REQUEST_BYTES {
                self.next = Some((run, count));
                break;
            }
            take(offset, count);
            bytes = offset + count;
        }
        Some(Request { start, bytes, parts })
    }
}

/// Fills `to` with runs of at most [`MAX_REQUEST_BYTES`] bytes, given by offset and length in ascending
/// order. `read` reads a byte range; up to `requests` reads run at once. `convert` changes each run in place.
///
/// # Errors
/// Those of `read`.
pub fn read_runs<E: Send>(
    runs: impl Iterator<Item = (u64, usize)> + Send,
    to: &mut [u8],
    requests: usize,
    read: impl Fn(u64, usize) -> Result<Vec<u8>, E> + Sync,
    convert: impl Fn(&mut [u8]) + Sync,
) -> Result<(), E> {
    let each = Requests { runs, next: None, rest: to };
    for_each_concurrently(each, requests, |request| {
        let bytes = read(request.start, request.bytes)?;
        for (offset, part) in request.parts {
            part.copy_from_slice(&bytes[offset..offset + part.len()]);
            convert(part);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn near_runs_share_a_request() {
        let far = MAX_GAP_BYTES as u64 + 1;
        let runs = [(5, 2), (7, 1), (8 + far - 1, 3), (8 + far + 2 + far, 4)];
        let (requests, mut to) = (Mutex::new(Vec::new()), [0; 10]);
        let read = |start: u64, bytes: usize| {
            requests.lock().unwrap().push((start, bytes));
            Ok::<_, ()>((start..).take(bytes).map(|it| it as u8).collect())
        };
        read_runs(runs.into_iter(), &mut to, 1, read, |part| part[0] ^= 0x80).unwrap();
        let second = 8 + far + 2 + far;
        let first_bytes = (8 + far - 1 + 3 - 5) as usize;
        assert_eq!(requests.into_inner().unwrap(), [(5, first_bytes), (second, 4)]);
        let expected: Vec<u8> = runs
            .iter()
            .flat_map(|&(start, bytes)| {
                let run = (start..).take(bytes).enumerate();
                run.map(|(index, at)| at as u8 ^ if index == 0 { 0x80 } else { 0 })
            })
            .collect();
        assert_eq!(to.to_vec(), expected);
    }

    #[test]
    fn requests_are_bounded() {
        let half = MAX_REQUEST_BYTES / 2;
        let runs = (0..5).map(|index| ((index * half) as u64, half));
        let (most, mut to) = (Mutex::new(0), vec![0; 5 * half]);
        let read = |_: u64, bytes: usize| {
            let mut most = most.lock().unwrap();
            *most = bytes.max(*most);
            Ok::<_, ()>(vec![1; bytes])
        };
        read_runs(runs, &mut to, 4, read, |_| ()).unwrap();
        assert_eq!(most.into_inner().unwrap(), MAX_REQUEST_BYTES);
        assert!(to.iter().all(|&byte| byte == 1));
    }
}
