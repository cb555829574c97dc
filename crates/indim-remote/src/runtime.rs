//! The threads on which requests run, and the wait for a request.

use std::io;
use std::sync::{OnceLock, mpsc};

use tokio::runtime::{Builder, Runtime};

/// Threads of the runtime. Requests mostly wait, so two keep many of them going.
const THREADS: usize = 2;

/// Runs a future on the runtime and waits for it. The calling thread only waits, so it may belong to
/// another runtime.
pub(crate) fn wait<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> io::Result<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime()?.spawn(async move {
        // The receiver waits until it gets the value.
        let _ = sender.send(future.await);
    });
    receiver.recv().map_err(|_| io::Error::other("a request was given up"))
}

/// The runtime of the process, which the first request starts.
fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let start = || {
        let mut builder = Builder::new_multi_thread();
        let builder = builder.worker_threads(THREADS).thread_name("indim-remote").enable_all();
        builder.build().map_err(|error| error.to_string())
    };
    RUNTIME.get_or_init(start).as_ref().map_err(|error| io::Error::other(error.clone()))
}
