//! Broken invariants as diagnostics: a front end catches panics here and never shows a bare one.
//!
//! ```
//! let error = indim::internal_error::catch(|| -> () { panic!("invariant: sizes agree") }).unwrap_err();
//! assert_eq!(error.code, indim::errors::ErrorCode::INTERNAL_ERROR);
//! assert!(error.to_string().starts_with("error[internal-error]: invariant: sizes agree"));
//! ```

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

use indim_shape::{Diagnostic, ErrorCode};

/// The source location of the last panic of any thread, which a panic's payload lacks.
static LOCATION: Mutex<Option<String>> = Mutex::new(None);

/// Replaces the panic hook of the process by one that prints nothing, for front ends that use [`catch`].
///
/// With `RUST_BACKTRACE` set the previous hook runs too, so it prints the panic and its backtrace.
pub fn install_hook() {
    let previous = panic::take_hook();
    let prints = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    panic::set_hook(Box::new(move |panic| {
        let location = panic.location().map(ToString::to_string);
        *LOCATION.lock().unwrap_or_else(PoisonError::into_inner) = location;
        if prints {
            previous(panic);
        }
    }));
}

/// Calls `work` and returns its result.
///
/// # Errors
/// `internal-error` with the message of the panic, if `work` panics; the source location too, after
/// [`install_hook`].
pub fn catch<R>(work: impl FnOnce() -> R) -> Result<R, Diagnostic> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| diagnostic(&*payload))
}

/// The diagnostic of a panic with this payload.
fn diagnostic(payload: &(dyn Any + Send)) -> Diagnostic {
    let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without a message".to_owned(),
    };
    let location = LOCATION.lock().unwrap_or_else(PoisonError::into_inner).take();
    let place = location.map(|location| format!(" ({location})")).unwrap_or_default();
    let mut diagnostic = Diagnostic::new(ErrorCode::INTERNAL_ERROR, format!("{message}{place}"));
    diagnostic.help(format!(
        "this is a mistake in indim {}: report it with this message, the program and its input types",
        env!("CARGO_PKG_VERSION")
    ));
    diagnostic
}
