//! What generators of random graphs share: the one beside this file, and that of `indim-cpu`'s tests.

use indim_graph::{GraphBuilder, Value};
use indim_ops::{ArrayType, DType, DTypeClass, Op, ReduceOp};
use indim_shape::{RuleSet, Shape};

/// A source of choices: a function that gives a number below a limit, which is at least 1.
pub(crate) struct Choices<'a>(pub(crate) &'a mut dyn FnMut(usize) -> usize);

impl Choices<'_> {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.0)(limit.max(1))
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A pseudo-random function (SplitMix64). The same seed makes the same choices on every machine.
pub(crate) fn pseudo_random(mut state: u64) -> impl FnMut(usize) -> usize {
    move |limit| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % limit as u64) as usize
    }
}

/// A shape that broadcasts to `full` under numpy: some sizes become 1, some leading axes vanish.
pub(crate) fn partial_shape(choices: &mut Choices<'_>, full: &[usize]) -> Shape {
    let dropped = if choices.chance(30) { choices.below(full.len() + 1) } else { 0 };
    full[dropped..].iter().map(|&size| if choices.chance(40) { 1 } else { size }).collect()
}

/// `x` in another element type, by its value or by its bits.
pub(crate) fn random_conversion(choices: &mut Choices<'_>, b: &GraphBuilder, x: Value) -> Value {
    let dtype = *choices.pick(DType::ALL);
    match choices.chance(50) {
        true => b.bitcast(&x, dtype).unwrap_or(x),
        false => b.convert(x, dtype).unwrap(),
    }
}

/// `x`, which has axes, reduced along one; also as sums are written, through a wider type.
pub(crate) fn random_reduction(choices: &mut Choices<'_>, b: &GraphBuilder, x: Value) -> Value {
    let ArrayType { dtype, shape } = x.array_type().unwrap();
    let axis = choices.below(shape.rank()) as i64;
    let takes: Vec<ReduceOp> = ReduceOp::ALL
        .iter()
        .copied()
        .filter(|op| op.takes(dtype) || op.takes(wide(dtype)))
        .collect();
    let op = *choices.pick(&takes);
    let wide = if op.takes(dtype) && choices.chance(50) { dtype } else { wide(dtype) };
    let operand = b.convert(&x, if op.takes(wide) { wide } else { dtype }).unwrap();
    // A search among nothing is refused.
    let Ok(reduced) = b.reduce(op, operand, axis) else { return x };
    let mut kept = shape.to_vec();
    kept[axis as usize] = 1;
    // With an axis of size 1 it broadcasts with the others again.
    b.reshape(reduced, kept).unwrap()
}

fn wide(dtype: DType) -> DType {
    match dtype.class() {
        DTypeClass::Float => DType::F64,
        DTypeClass::Complex => DType::C128,
        DTypeClass::Unsigned => DType::U64,
        _ => DType::I64,
    }
}

/// An operation `among` these on the element type of `x`, which is its last operand.
pub(crate) fn random_operation(
    choices: &mut Choices<'_>,
    b: &GraphBuilder,
    values: &[Value],
    x: Value,
    among: &[Op],
) -> Value {
    let dtype = x.array_type().unwrap().dtype;
    let takes: Vec<Op> = among.iter().copied().filter(|op| op.takes(dtype)).collect();
    let op = *choices.pick(&takes);
    let operands: Vec<Value> = (0..op.arity().count())
        .map(|index| {
            let operand = if index + 1 == op.arity().count() {
                x.clone()
            } else {
                choices.pick(values).clone()
            };
            b.convert(operand, op.operand_dtype(index, dtype)).unwrap()
        })
        .collect();
    // Shapes that do not broadcast together, after a transposition say, leave `x` as it was.
    b.elementwise(op, &operands, &RuleSet::Numpy).unwrap_or(x)
}
