//! The command `indim` as a user meets it: the built binary, its output, its exit codes.

mod advice;
mod color;
mod error_page;
mod eval;
mod explain;
mod files;
mod hostile;
mod kit;
mod larger_than_memory;
mod named;
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
