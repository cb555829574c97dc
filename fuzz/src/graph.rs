//! Random graphs, run at every instruction-set level, dense and strided, against the reference
//! evaluator. The generator and the comparison are those of `indim-cpu`'s differential tests; here the
//! fuzzer's bytes make the choices.

use crate::choices::choices;

#[path = "../../crates/indim-cpu/tests/random/mod.rs"]
#[allow(unsafe_code, reason = "an output over an input cannot be lent as slices")]
mod random;

/// Makes a graph of the bytes and checks its execution.
pub fn run(bytes: &[u8]) {
    random::check(&mut random::Choices(&mut choices(bytes)));
}
