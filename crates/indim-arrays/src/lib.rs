//! Arrays in memory: views of the caller's arrays, owned buffers, and their allocation.
//!
//! - `view.rs`: an array somewhere in memory, with any strides; `buffer.rs`: one that owns its memory;
//! - `order.rs`: in which order the elements of new outputs lie;
//! - `elements.rs`: the elements of a buffer as numbers of Rust; `print/`: as text;
//! - `pages.rs`: the memory of large arrays, kept for later; `system_memory.rs`: what the system maps;
//! - `stored_as.rs`: types of other crates that lie in memory as elements do; `ndarray.rs` and
//!   `safetensors.rs`: arrays of these crates as views, with features of their names;
//! - `mapped_file.rs`: a file as memory; `unnamed_file.rs`: one to compute in, without a name until it is
//!   whole.
//!
//! Unsafe code stands only in `buffer.rs`, `mapped_file.rs`, `ndarray.rs`, `stored_as.rs`,
//! `system_memory.rs`, `unnamed_file.rs` and `view.rs`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod buffer;
mod elements;
mod mapped_file;
#[cfg(feature = "ndarray")]
mod ndarray;
mod order;
#[cfg_attr(
    not(feature = "memmap2"),
    allow(unreachable_code, reason = "there are no pages, and their type has no values")
)]
mod pages;
pub mod print;
#[cfg(feature = "safetensors")]
pub mod safetensors;
mod stored_as;
mod system_memory;
mod unnamed_file;
mod view;

pub use buffer::{ALIGNMENT, Buffer};
pub use elements::IntoElementsError;
pub use mapped_file::MappedFile;
pub use order::{Order, OutputOrders};
pub use pages::set_memory_pool_limit;
pub use stored_as::{StoredAs, as_elements, as_elements_mut, from_elements};
pub use unnamed_file::{CompleteFile, UnnamedFile, copy_owner_and_mode};
pub use view::{ArrayError, ArrayView, ArrayViewMut, bytes_of_array};
