//! Turns panics of the libraries that decode files into errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use indim_graph::terminal::printable;
use indim_shape::{Diagnostic, ErrorCode};

use crate::StoreErrorKind;

/// Calls a library that decodes a file. A panic of the library becomes an error of `code`, because damaged
/// data causes it.
///
/// A caller drops the decoder that panicked, or never uses it again: its state is unknown.
pub(crate) fn catch_library_panic<T>(
    code: ErrorCode,
    call: impl FnOnce() -> Result<T, StoreErrorKind>,
) -> Result<T, StoreErrorKind> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason");
        let message = format!("damaged: the decoder gave up: {text}");
        Err(Diagnostic::new(code, printable(&message)).into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_the_format() {
        let index = std::hint::black_box(3);
        let read = || -> Result<u8, StoreErrorKind> { Ok([0, 1, 2][index]) };
        let kind = catch_library_panic(ErrorCode::BAD_PNG, read).unwrap_err();
        let error = crate::StoreError::new("x.png", kind);
        assert_eq!(error.code(), "bad-png");
        assert!(error.to_string().contains("out of bounds"), "{error}");
        assert_eq!(catch_library_panic(ErrorCode::BAD_PNG, || Ok(1)).unwrap(), 1);
    }
}
