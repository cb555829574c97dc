//! Handlers of signals that would end the command without a message, or leave files behind. Holds unsafe
//! code.
//!
//! Reading a mapped file is safe only with these handlers, so files are mapped here.

use std::io;
use std::path::Path;

use indim::array::MappedFile;

/// Maps a file for reading.
///
/// # Errors
/// If the file cannot be opened or mapped, or the handlers cannot be installed.
pub(crate) fn map_file(path: &Path) -> io::Result<MappedFile> {
    watch()?;
    // SAFETY: another process may change the file, which `open` allows a caller that accepts the effects:
    // - changed bytes are valid elements, as any bytes are, and results are written only if
    //   `is_unchanged`;
    // - a read beyond the new end raises `SIGBUS`, and the handler of `watch` then ends the process.
    unsafe { MappedFile::open(path) }
}

#[cfg(unix)]
pub(crate) use unix::watch;

/// Other systems do not let a mapped file shrink.
#[cfg(not(unix))]
pub(crate) fn watch() -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
mod unix {
    use core::mem::MaybeUninit;
    use core::sync::atomic::{AtomicI32, Ordering};
    use std::io::{self, PipeReader, Read};
    use std::os::fd::IntoRawFd;
    use std::sync::{Mutex, PoisonError};
    use std::thread;

    use indim::errors::{Diagnostic, ErrorCode};
    use indim::files::remove_unfinished_files;
    use indim::files::zarr::remove_unfinished_folders;
    use libc::{SIGBUS, SIGHUP, SIGINT, SIGQUIT, SIGTERM, c_int};

    use crate::output::print_message;

    /// The descriptor of the pipe into which the handler writes the number of the signal.
    static PIPE: AtomicI32 = AtomicI32::new(-1);

    static IS_WATCHING: Mutex<bool> = Mutex::new(false);

    /// Starts a thread that handles the signals: it removes unfinished files, prints a message, and ends the
    /// process. Further calls do nothing.
    pub(crate) fn watch() -> io::Result<()> {
        let mut is_watching = IS_WATCHING.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_watching {
            return Ok(());
        }
        let (reader, writer) = io::pipe()?;
        thread::Builder::new().name("signals".to_owned()).spawn(|| wait(reader))?;
        PIPE.store(writer.into_raw_fd(), Ordering::Relaxed);
        for signal in [SIGBUS, SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            handle(signal)?;
        }
        *is_watching = true;
        Ok(())
    }

    fn handle(signal: c_int) -> io::Result<()> {
        let mut old = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: all zeros are an action without flags and mask; without a new action the call only
        // writes the present one.
        let (old, mut action) = unsafe {
            libc::sigaction(signal, core::ptr::null(), old.as_mut_ptr());
            (old.assume_init(), MaybeUninit::<libc::sigaction>::zeroed().assume_init())
        };
        // The parent process may ignore some signals, as `nohup` does.
        if old.sa_sigaction == libc::SIG_IGN {
            return Ok(());
        }
        action.sa_sigaction = on_signal as extern "C" fn(c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        // SAFETY: the handler calls only async-signal-safe functions.
        match unsafe { libc::sigaction(signal, &raw const action, core::ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The signal handler. It replaces the `SIGBUS` handler of Rust's standard library, which ends the
    /// process before the message is printed. Crates for signals cannot install this handler, because
    /// they call the previous one first.
    extern "C" fn on_signal(signal: c_int) {
        let byte = signal as u8;
        // SAFETY:
        // - `write` and `pause` are async-signal-safe;
        // - `byte` lives during the call, and `watch` stored the descriptor before it installed the
        //   handler.
        // The pipe never fills, because the process ends at the first signal.
        unsafe {
            libc::write(PIPE.load(Ordering::Relaxed), (&raw const byte).cast(), 1);
            // Returning would repeat the faulting read.
            if signal == SIGBUS {
                loop {
                    libc::pause();
                }
            }
        }
    }

    fn wait(mut reader: PipeReader) {
        let mut signal = [0];
        if reader.read_exact(&mut signal).is_ok() {
            end(signal[0].into());
        }
    }

    fn end(signal: c_int) {
        remove_unfinished_files();
        remove_unfinished_folders();
        if signal == SIGBUS {
            let changed = Diagnostic::new(
                ErrorCode::FILE_CHANGED,
                "an input file became shorter while it was read, or a disk failed; let its writer finish \
                 first, or give a copy of it",
            );
            print_message(&changed.to_string());
            // SAFETY: `_exit` runs no destructors and waits for no thread, so the thread that is paused
            // in the handler does not matter.
            unsafe { libc::_exit(1) }
        }
        // SAFETY: the default action of the signal ends the process, so its parent sees the signal.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}
