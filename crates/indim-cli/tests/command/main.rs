//! The command `indim`: its output and exit codes, tested on the built binary.

mod advice;
mod color;
mod compare;
// Some examples need sizes beyond 32 bits.
#[cfg(all(unix, target_pointer_width = "64"))]
mod error_codes;
mod error_page;
mod eval;
mod explain;
mod files;
mod hostile;
mod illegal_models;
mod kit;
mod larger_than_memory;
mod named;
mod parts;
#[cfg(unix)]
mod pipes;
mod programs;
#[cfg(unix)]
mod readme;
mod run;
mod seeds;
mod show;
mod sources;
mod statements;
mod stores;
mod streams;
mod terminal;
mod timing;
