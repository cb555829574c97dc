//! WebAssembly exports: a page requests a buffer, writes the request into it, calls a function, and reads the
//! answer. Calls are sequential, so one request and one answer exist at a time.
//!
//! Lengths are in bytes of UTF-8. Only the page calls the exports. No function reads through a pointer, so
//! the file has no unsafe block.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::request::MAX_REQUEST_BYTES;

static REQUEST: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static ANSWER: Mutex<String> = Mutex::new(String::new());

fn locked<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A buffer for a request of `length` bytes; a null pointer if the request is too long.
#[unsafe(no_mangle)]
extern "C" fn request_buffer(length: usize) -> *mut u8 {
    if length > MAX_REQUEST_BYTES {
        return core::ptr::null_mut();
    }
    let mut request = locked(&REQUEST);
    request.clear();
    request.resize(length, 0);
    request.as_mut_ptr()
}

/// The address of the answer, valid until the next call.
#[unsafe(no_mangle)]
extern "C" fn answer_buffer() -> *const u8 {
    locked(&ANSWER).as_ptr()
}

/// Answers the request, and returns the length of the answer.
fn answer(function: impl Fn(&str) -> String) -> usize {
    let request = std::mem::take(&mut *locked(&REQUEST));
    let text = function(&String::from_utf8_lossy(&request));
    let length = text.len();
    *locked(&ANSWER) = text;
    length
}

/// Answers by [`crate::catalogue`]; returns the length of the answer.
#[unsafe(no_mangle)]
extern "C" fn catalogue() -> usize {
    answer(|_| crate::catalogue())
}

/// Answers by [`crate::broadcast`]; returns the length of the answer.
#[unsafe(no_mangle)]
extern "C" fn broadcast() -> usize {
    answer(crate::broadcast)
}

/// Answers by [`crate::reduction`]; returns the length of the answer.
#[unsafe(no_mangle)]
extern "C" fn reduction() -> usize {
    answer(crate::reduction)
}

/// Answers by [`crate::expression`]; returns the length of the answer.
#[cfg(feature = "expressions")]
#[unsafe(no_mangle)]
extern "C" fn expression() -> usize {
    answer(crate::expression)
}
