//! WebAssembly exports: a page requests a buffer, writes the request into it, calls a function, and reads the
//! answer. Calls are sequential, so one request and one answer exist at a time.
//!
//! The page writes a range of a model file into a buffer of its own. Lengths are in bytes; requests and
//! answers are UTF-8. Only the page calls the exports. No function reads through a pointer, so the file has
//! no unsafe block.

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
#[cfg(feature = "rules")]
#[unsafe(no_mangle)]
extern "C" fn catalogue() -> usize {
    answer(|_| crate::catalogue())
}

/// Answers by [`crate::broadcast`]; returns the length of the answer.
#[cfg(feature = "rules")]
#[unsafe(no_mangle)]
extern "C" fn broadcast() -> usize {
    answer(crate::broadcast)
}

/// Answers by [`crate::reduction`]; returns the length of the answer.
#[cfg(feature = "rules")]
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

/// The model file that the page reads.
#[cfg(feature = "models")]
static MODEL: Mutex<Option<crate::ModelReader>> = Mutex::new(None);

/// A range of a file.
#[cfg(feature = "models")]
static RANGE: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// A buffer for a range of a file; a null pointer if the range is longer than any that is wanted.
#[cfg(feature = "models")]
#[unsafe(no_mangle)]
extern "C" fn range_buffer(length: usize) -> *mut u8 {
    if length > crate::MAX_RANGE_BYTES {
        return core::ptr::null_mut();
    }
    let mut range = locked(&RANGE);
    range.clear();
    range.resize(length, 0);
    range.as_mut_ptr()
}

/// Answers by a method of the model; returns the length of the answer.
#[cfg(feature = "models")]
fn answer_of_model(method: impl Fn(&mut crate::ModelReader, &str) -> String) -> usize {
    answer(|request| method(locked(&MODEL).get_or_insert_default(), request))
}

/// Answers by [`crate::ModelReader::open`]; returns the length of the answer.
#[cfg(feature = "models")]
#[unsafe(no_mangle)]
extern "C" fn open_model() -> usize {
    answer_of_model(crate::ModelReader::open)
}

/// Answers by [`crate::ModelReader::give`] with the range in its buffer; returns the length of the answer.
#[cfg(feature = "models")]
#[unsafe(no_mangle)]
extern "C" fn give_range() -> usize {
    answer_of_model(|model, _| model.give(&locked(&RANGE)))
}

/// Answers by [`crate::ModelReader::nodes`]; returns the length of the answer.
#[cfg(feature = "models")]
#[unsafe(no_mangle)]
extern "C" fn model_nodes() -> usize {
    answer_of_model(|model, request| model.nodes(request))
}

/// Answers by [`crate::ModelReader::node`]; returns the length of the answer.
#[cfg(feature = "models")]
#[unsafe(no_mangle)]
extern "C" fn model_node() -> usize {
    answer_of_model(|model, request| model.node(request))
}

/// Answers by [`crate::ModelReader::search`]; returns the length of the answer.
#[cfg(feature = "models")]
#[unsafe(no_mangle)]
extern "C" fn search_model() -> usize {
    answer_of_model(|model, request| model.search(request))
}

/// Answers by [`crate::ModelReader::text`]; returns the length of the answer.
#[cfg(feature = "models")]
#[unsafe(no_mangle)]
extern "C" fn model_text() -> usize {
    answer_of_model(|model, request| model.text(request))
}
