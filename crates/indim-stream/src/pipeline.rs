//! The pipeline of three threads: one reads a piece while the second computes one and the third writes one.

use std::sync::mpsc::sync_channel;
use std::thread;

use crate::error::StreamError;

/// Reads, computes and writes each piece, each step on a thread of its own. Pieces keep their order. The
/// first error ends the pipeline.
pub(crate) fn pipeline<P: Clone + Send, I: Send, O: Send>(
    pieces: impl Iterator<Item = P> + Send,
    mut read: impl FnMut(&P) -> Result<I, StreamError> + Send,
    mut compute: impl FnMut(&P, I) -> Result<O, StreamError>,
    mut write: impl FnMut(&P, O) -> Result<(), StreamError> + Send,
) -> Result<(), StreamError> {
    // Channels without a buffer: a thread holds its finished piece until the next thread receives it.
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
        // The closure owns its ends of the channels; when it returns, the other threads end.
        let compute_all = move || {
            for (piece, input) in inputs {
                let output = compute(&piece, input?)?;
                if to_write.send((piece, output)).is_err() {
                    // The writer has failed and returns the error.
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
