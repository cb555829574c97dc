//! Random scans, shared by the generator of random graphs in this folder and that of `indim-cpu`'s tests.

use indim_builder::{GraphBuilder, Value};
use indim_ops::{ReduceOp, scan_accumulator};

use super::choices::{Choices, computable};

/// A scan of `x`, which has axes.
pub(crate) fn random_scan(choices: &mut Choices<'_>, b: &GraphBuilder, x: Value) -> Value {
    let x = computable(b, x);
    let array_type = x.array_type().unwrap();
    let takes = |op: &ReduceOp| scan_accumulator(*op, array_type.dtype).is_some();
    let ops: Vec<ReduceOp> = ReduceOp::ALL.iter().copied().filter(takes).collect();
    let axis = choices.below(array_type.shape.rank()) as i64;
    let (reverse, exclusive) = (choices.chance(40), choices.chance(40));
    b.scan(*choices.pick(&ops), x, axis, reverse, exclusive).unwrap()
}
