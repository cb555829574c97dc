//! Requests for byte ranges of an object: near runs share one, and several are in flight.

use crate::concurrent::for_each_concurrently;

/// Maximum bytes of one request. A longer run is read by several requests at once.
pub const MAX_REQUEST_BYTES: usize = 4 << 20;
/// Maximum number of runs of one request. Their positions take 1 MiB, a quarter of [`MAX_REQUEST_BYTES`]:
/// single bytes at a distance of 32 or more still fill a request.
const MAX_PARTS: usize = 128 << 10;
/// Maximum bytes of memory of one request: its answer, and the positions of its runs.
pub const MAX_REQUEST_MEMORY: usize = MAX_REQUEST_BYTES + MAX_PARTS * size_of::<Part>();
/// Runs with a gap of at most this many bytes are read by one request: a request takes about as long as
/// the transfer of 64 KiB.
const MAX_GAP_BYTES: usize = 64 << 10;

/// A run in the byte range of a request. `u32` suffices for [`MAX_REQUEST_BYTES`].
struct Part {
    offset: u32,
    bytes: u32,
}

/// A byte range for one request.
struct Request<'a> {
    start: u64,
    bytes: usize,
    parts: Vec<Part>,
    /// Memory of the runs, one after another.
    to: &'a mut [u8],
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
        let part = |offset: usize, count| Part { offset: offset as u32, bytes: count as u32 };
        let (mut parts, mut total) = (vec![part(0, bytes)], bytes);
        for (run, count) in self.runs.by_ref() {
            let offset = usize::try_from(run - start).unwrap_or(usize::MAX);
            let is_near = offset <= bytes + MAX_GAP_BYTES;
            if !is_near || offset + count > MAX_REQUEST_BYTES || parts.len() == MAX_PARTS {
                self.next = Some((run, count));
                break;
            }
            parts.push(part(offset, count));
            total += count;
            bytes = offset + count;
        }
        let (to, rest) = core::mem::take(&mut self.rest).split_at_mut(total);
        self.rest = rest;
        Some(Request { start, bytes, parts, to })
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
        let mut rest = request.to;
        for Part { offset, bytes: count } in request.parts {
            let to = rest.split_off_mut(..count as usize).unwrap_or_default();
            to.copy_from_slice(&bytes[offset as usize..][..to.len()]);
            convert(to);
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

    /// Every other byte, as a column of `u8[n, 2]`: the positions of its runs take more than their bytes.
    #[test]
    fn the_positions_of_runs_are_bounded() {
        let count = 2 * MAX_PARTS + 1;
        let runs = (0..count as u64).map(|index| (2 * index, 1));
        let (requests, mut to) = (Mutex::new(Vec::new()), vec![0; count]);
        let read = |start: u64, bytes: usize| {
            requests.lock().unwrap().push((start, bytes));
            Ok::<_, ()>((start..).take(bytes).map(|it| (it / 2) as u8).collect())
        };
        read_runs(runs, &mut to, 1, read, |_| ()).unwrap();
        let full = 2 * MAX_PARTS as u64;
        let expected = [(0, full as usize - 1), (full, full as usize - 1), (2 * full, 1)];
        assert_eq!(requests.into_inner().unwrap(), expected);
        assert!(to.iter().zip(0_usize..).all(|(&byte, index)| byte == index as u8));
        assert_eq!(MAX_REQUEST_MEMORY, MAX_REQUEST_BYTES + (1 << 20));
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
