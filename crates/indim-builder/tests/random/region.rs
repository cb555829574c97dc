//! Random loops and branches, shared by the generator of random graphs in this folder and that of
//! `indim-cpu`'s tests.

use indim_builder::{GraphBuilder, Value};
use indim_graph::TakeMode;
use indim_ops::{DType, Op};

use super::choices::{Choices, computable, random_operation};

/// A loop of a few steps over `x` and another value, or a branch between values of its type. Bodies are one
/// operation, so that they cost little.
pub(crate) fn random_region(
    choices: &mut Choices<'_>,
    b: &GraphBuilder,
    values: &[Value],
    x: Value,
) -> Value {
    // The bodies compute with the states.
    let x = if choices.chance(80) { computable(b, x) } else { x };
    let x_type = x.array_type().unwrap();
    let other = choices.pick(values).clone();
    let next = |choices: &mut Choices<'_>, b: &GraphBuilder, x: &Value| {
        // An operation may give another type or shape; the sum of it and the state has those of the state.
        let operated =
            random_operation(choices, b, &[x.clone(), other.clone()], x.clone(), Op::ALL);
        let operated_type = operated.array_type().unwrap();
        match operated_type.shape == x_type.shape {
            true => b.convert(operated, x_type.dtype).unwrap(),
            false => x.clone(),
        }
    };
    let kinds = choices.below(4);
    let steps = choices.below(4) as i64;
    let seed = choices.below(1 << 16) as u64;
    let drawn = || super::choices::pseudo_random(seed);
    match kinds {
        0 => {
            let body = |b: &GraphBuilder, _: &Value, s: &[Value]| {
                Ok(vec![s[1].clone(), next(&mut Choices(&mut drawn()), b, &s[0])])
            };
            b.fori_loop(0..steps, &[&x, &x], body).unwrap().swap_remove(choices.below(2))
        }
        1 if x_type.shape.rank() > 0 && !x_type.dtype.is_storage() => {
            let length = x_type.shape[0];
            let step = |b: &GraphBuilder, s: &[Value], x: &[Value]| {
                let next = b.elementwise(Op::Eq, &[&s[0], &x[0]], &indim_shape::RuleSet::None)?;
                let next = next.select(&s[0], &x[0]);
                Ok((vec![next.clone()], vec![next]))
            };
            if length == 0 {
                return x;
            }
            let first = b.take(&x, b.scalar(0i64), 0, TakeMode::Clip).unwrap();
            let (_, mut all) =
                b.scan_loop(length, &[first], &[&x], choices.chance(50), step).unwrap();
            all.remove(0)
        }
        2 => {
            let body = |b: &GraphBuilder, s: &[Value]| {
                Ok(vec![&s[0] + 1i64, next(&mut Choices(&mut drawn()), b, &s[1])])
            };
            let initial = [b.scalar(0i64), x];
            b.while_loop(&initial, |_, s| Ok(s[0].lt(steps)), body).unwrap().remove(1)
        }
        _ => {
            let index = b.convert(b.scalar(steps - 1), *choices.pick(&[DType::I32, DType::Bool]));
            let branch = |b: &GraphBuilder| Ok(vec![next(&mut Choices(&mut drawn()), b, &x)]);
            let same = |_: &GraphBuilder| Ok(vec![x.clone()]);
            b.switch(&index.unwrap(), &[&branch, &same]).unwrap().remove(0)
        }
    }
}
