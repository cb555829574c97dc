//! Written files in NumPy's format `.npy`. `indim-stores` reads them.
//!
//! - `descr.rs`: element types in headers;
//! - `write.rs`: headers, and whole files.

mod descr;
mod write;

pub use descr::{from_descr, number_size};
pub use write::{check_length, npy_header, write_npy, write_npy_to, write_text};
