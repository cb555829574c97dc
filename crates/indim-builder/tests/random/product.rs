//! Random products, shared by the generator of random graphs in this folder and that of `indim-cpu`'s tests.

use indim_builder::{GraphBuilder, Value};
use indim_ops::{ArrayType, DType};
use indim_shape::ContractionRule;

use super::choices::{Choices, computable};

/// Maximum products of elements in a contraction of a random graph.
const MAX_PRODUCTS: usize = 100_000;

/// The product of `x`, which has axes, and another value under a random rule, or `x` itself if no rule takes
/// them.
pub(crate) fn random_product(
    choices: &mut Choices<'_>,
    b: &GraphBuilder,
    values: &[Value],
    x: Value,
) -> Value {
    let x = computable(b, x);
    let ArrayType { dtype, shape } = x.array_type().unwrap();
    let y = b.convert(choices.pick(values), dtype).unwrap();
    let y_rank = y.array_type().unwrap().shape.rank();
    let permutation: Vec<i64> = (0..y_rank as i64).rev().collect();
    let y = if choices.chance(50) { b.transpose(y, &permutation).unwrap() } else { y };
    let y_shape = y.array_type().unwrap().shape;
    // The axes that `tensordot` may pair.
    let pair = (0..shape.rank()).find_map(|axis| {
        let other = y_shape.iter().position(|size| *size == shape[axis])?;
        Some((axis as i64, other as i64))
    });
    let rule = match (choices.below(6), pair) {
        (0, Some((axis, other))) => ContractionRule::Tensordot { x: vec![axis], y: vec![other] },
        (1, _) => ContractionRule::Inner,
        (2, _) => ContractionRule::Dot,
        (3, _) => ContractionRule::Vecdot { axis: -1 },
        _ => ContractionRule::Matmul,
    };
    let shapes = [shape.clone(), y_shape];
    let Ok(form) = rule.elaborate(&shapes) else { return x };
    let count = form.shape().iter().copied().fold(1, usize::saturating_mul);
    if count > MAX_PRODUCTS {
        return x;
    }
    if matches!(dtype, DType::I8 | DType::U8) && choices.chance(50) {
        // Bytes of any signs with a sum of 32 bits.
        let y = b.convert(y, *choices.pick(&[DType::I8, DType::U8])).unwrap();
        let [wide_x, wide_y] = [&x, &y].map(|value| b.convert(value, DType::I32).unwrap());
        return b.product(&rule, wide_x, wide_y, None).unwrap_or(x);
    }
    let computing: Vec<DType> =
        DType::ALL.iter().copied().filter(|dtype| !dtype.is_storage()).collect();
    let result = if choices.chance(30) { Some(*choices.pick(&computing)) } else { None };
    b.product(&rule, &x, y, result).unwrap_or(x)
}
