//! Reading, computing and writing at the same time: each on a thread of its own, one piece each.

use std::sync::mpsc::sync_channel;
use std::thread;

use crate::error::StreamError;

/// Does three things with each piece, one after another, while others are done with other pieces. Pieces keep
/// their order. The first error ends all.
pub(crate) fn pipeline<P: Clone + Send, I: Send, O: Send>(
    pieces: impl Iterator<Item = P> + Send,
    mut read: impl FnMut(&P) -> Result<I, StreamError> + Send,
    mut compute: impl FnMut(&P, I) -> Result<O, StreamError>,
    mut write: impl FnMut(&P, O) -> Result<(), StreamError> + Send,
) -> Result<(), StreamError> {
    // Without room in between: who has a piece ready keeps it until the next one takes it.
    let (to_compute, inputs) = sync_channel(0);
    let (to_write, outputs) = sync_channel(0);
    thread::scope(|scope| {
        let reader = move || {
            for piece in pieces {
                let input = read(&piece);
                let is_last = input.is_err();
                if to_compute.send((piece, input)).is_err() || is_last {
                    break;
                }
            }
        };
        let writer =
            move || outputs.into_iter().try_for_each(|(piece, output)| write(&piece, output));
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        named("reader").spawn_scoped(scope, reader).map_err(StreamError::Threads)?;
        let writer = named("writer").spawn_scoped(scope, writer).map_err(StreamError::Threads)?;
        // Owns its ends of the channels, so that the others end when it does.
        let compute_all = move || {
            for (piece, input) in inputs {
                let output = compute(&piece, input?)?;
                if to_write.send((piece, output)).is_err() {
                    // The writer says why.
                    break;
                }
            }
            Ok(())
        };
        let computed = compute_all();
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        computed.and(written)
    })
}
