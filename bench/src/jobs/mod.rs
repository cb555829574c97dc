//! The jobs, by subject.

pub(crate) mod bias;
pub(crate) mod chain;
pub(crate) mod complex;
pub(crate) mod features;
pub(crate) mod functions;
pub(crate) mod fused;
pub(crate) mod pictures;
pub(crate) mod reductions;
