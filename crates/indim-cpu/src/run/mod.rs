//! What users call: graphs compiled into executables, and executables run on arrays.

mod bindings;
pub(crate) mod choice;
#[cfg(feature = "rayon")]
mod chunks;
mod coded;
pub(crate) mod compile;
pub(crate) mod error;
pub(crate) mod executable;
pub(crate) mod float_environment;
pub(crate) mod forecast;
pub(crate) mod groups;
pub(crate) mod in_place;
mod indices;
mod named;
mod nests;
pub(crate) mod options;
mod overlap;
pub(crate) mod program;
mod scatter;
pub(crate) mod symbolic;
#[cfg(feature = "rayon")]
mod team;
pub(crate) mod threads;
