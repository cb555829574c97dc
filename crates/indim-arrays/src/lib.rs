//! Arrays in memory: owned arrays, views of memory of any owner, and allocation.
//!
//! - `array.rs`: arrays that own their memory; `memory.rs`: the memory of arrays, which clones share;
//!   `values.rs`: arrays of given values; `bits.rs`: equality;
//! - `view.rs`: views of arrays in any memory, with any strides;
//! - `strides.rs`: strides of dense arrays in any memory order; `layout.rs`: overlap of strided arrays;
//! - `elements.rs`: the elements of an array as Rust numbers; `print/`: arrays as text;
//! - `pages.rs`: a pool of memory for large arrays; `system_memory.rs`: memory mapped by the system;
//! - `element_layout.rs`: types of other crates with the memory layout of elements; `ndarray.rs` and
//!   `safetensors.rs`: arrays of these crates as views, behind features of these names;
//! - `mapped_file.rs`: mapped input files; `unnamed_file.rs`: output files without a name until they are
//!   complete.
//!
//! Unsafe code stands only in `array.rs`, `memory.rs`, `mapped_file.rs`, `ndarray.rs`, `element_layout.rs`,
//! `system_memory.rs`, `unnamed_file.rs` and `view.rs`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod array;
mod bits;
mod element_layout;
mod elements;
mod layout;
mod mapped_file;
mod memory;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg_attr(
    not(feature = "memmap2"),
    allow(unreachable_code, reason = "without the feature, the type of pages has no values")
)]
mod pages;
pub mod print;
#[cfg(feature = "safetensors")]
pub mod safetensors;
mod strides;
mod system_memory;
mod unnamed_file;
mod values;
mod view;

pub use array::Array;
pub use element_layout::{ElementLayout, as_elements, as_elements_mut, from_elements};
pub use elements::IntoElementsError;
pub use layout::StridedLayout;
pub use mapped_file::MappedFile;
pub use memory::ALIGNMENT;
pub use pages::set_memory_pool_limit;
pub use strides::{
    dense_byte_strides, is_column_major, row_major_byte_strides, write_row_major_byte_strides,
};
pub use unnamed_file::{CompleteFile, UnnamedFile, copy_owner_and_mode};
pub use view::{ArrayError, ArrayView, ArrayViewMut};
