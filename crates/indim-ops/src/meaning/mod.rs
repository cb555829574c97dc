//! Definitions of operations on one element, written once over the algebra of `lane.rs`.
//!
//! A row of the op table names the classes it takes; the function of the same name stands in the
//! module of each class. The reference evaluator runs these functions one element at a time; the
//! kernels of `indim-cpu` are the same functions, vectorised by the compiler. So the rules here:
//! `#[inline(always)]` on everything, no `if` on a lane, no panicking operation.

pub mod boolean;
pub mod canonical;
pub mod complex;
pub mod convert;
mod elementary;
pub mod float;
pub mod float_bits;
pub mod half;
pub mod identity;
pub mod integer;
pub mod reduction;
pub mod running_sum;
