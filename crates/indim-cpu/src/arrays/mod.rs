//! Arrays in memory: views of the caller's, buffers of our own, and what memory they lie in.

pub(crate) mod buffer;
pub(crate) mod mapped_file;
pub(crate) mod order;
#[cfg_attr(
    not(feature = "memmap2"),
    allow(unreachable_code, reason = "there are no pages, and their type has no values")
)]
pub(crate) mod pages;
mod system_memory;
pub(crate) mod unnamed_file;
pub(crate) mod view;
