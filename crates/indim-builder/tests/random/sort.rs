//! Random sorts and searches, shared by the generator of random graphs in this folder and that of
//! `indim-cpu`'s tests.

use indim_builder::{GraphBuilder, Value};
use indim_ops::{ArrayType, SearchSide};

use super::choices::{Choices, computable};

/// A sort of `x`, which has axes, by its elements or by those and others, or the positions of its elements in
/// another value.
pub(crate) fn random_sort(
    choices: &mut Choices<'_>,
    b: &GraphBuilder,
    values: &[Value],
    x: Value,
) -> Value {
    let x = computable(b, x);
    let ArrayType { dtype, shape } = x.array_type().unwrap();
    let axis = choices.below(shape.rank()) as i64;
    let descending = choices.chance(40);
    match choices.below(5) {
        0 => b.argsort(x, axis, descending).unwrap(),
        1 => {
            let same = |value: &&Value| value.array_type().unwrap().shape == shape;
            let others: Vec<Value> = values.iter().filter(same).cloned().collect();
            let count = 1 + choices.below(3);
            let keys: Vec<Value> =
                (0..count).map(|_| computable(b, choices.pick(&others).clone())).collect();
            b.argsort_by(&[keys, vec![x]].concat(), axis, descending).unwrap()
        }
        2 => {
            let table = b.convert(choices.pick(values), dtype).unwrap();
            let count = table.array_type().unwrap().shape.element_count().unwrap();
            let table = b.reshape(table, [count]).unwrap();
            let sorted = if choices.chance(70) { b.sort(table, 0, false).unwrap() } else { table };
            let side = *choices.pick(&[SearchSide::Left, SearchSide::Right]);
            b.search_sorted(sorted, x, side).unwrap()
        }
        _ => b.sort(x, axis, descending).unwrap(),
    }
}
