//! Recognition of the bodies of reductions.

use indim_ops::{DType, Op, ReduceOp};
use indim_xla::reducer::{Reducer, ReducerBody};

fn of_jax(compare: Op, checks_nan: bool, element: DType) -> Option<Reducer> {
    let mut body = ReducerBody::default();
    let [x, i, y, j] = [0, 1, 2, 3].map(|number| body.argument(number));
    let beyond = body.operation(Some(compare), &[x, y]);
    let is_nan = body.operation(Some(Op::Ne), &[x, x]);
    let wins = match checks_nan {
        true => body.operation(Some(Op::Or), &[beyond, is_nan]),
        false => beyond,
    };
    let equal = body.operation(Some(Op::Eq), &[x, y]);
    let earlier = body.operation(Some(Op::Lt), &[i, j]);
    let first = body.operation(Some(Op::And), &[equal, earlier]);
    let either = body.operation(Some(Op::Or), &[wins, first]);
    let extreme = body.operation(Some(Op::Select), &[wins, x, y]);
    let position = body.operation(Some(Op::Select), &[either, i, j]);
    body.reducer(&[extreme, position], Some(element))
}

#[test]
fn arg_reductions_are_recognised() {
    for element in [DType::F32, DType::I32, DType::Bool] {
        let checks_nan = |compare| of_jax(compare, true, element);
        assert_eq!(checks_nan(Op::Gt), Some(Reducer::ArgReduction(ReduceOp::ArgMax)));
        assert_eq!(checks_nan(Op::Lt), Some(Reducer::ArgReduction(ReduceOp::ArgMin)));
        assert_eq!(checks_nan(Op::Ge), None);
    }
    let max = Some(Reducer::ArgReduction(ReduceOp::ArgMax));
    assert_eq!(of_jax(Op::Gt, false, DType::U8), max);
    for float in [DType::F16, DType::Bf16, DType::F32, DType::F64] {
        assert_eq!(of_jax(Op::Gt, false, float), None, "{float}");
    }
}

#[test]
fn folds_take_both_arguments_once_in_either_order() {
    let reducer = |op, operands: &[usize]| {
        let mut body = ReducerBody::default();
        let arguments = [0, 1].map(|number| body.argument(number));
        let operands: Vec<usize> = operands.iter().map(|&number| arguments[number]).collect();
        let result = body.operation(Some(op), &operands);
        body.reducer(&[result], Some(DType::F32))
    };
    assert_eq!(reducer(Op::Max, &[1, 0]), Some(Reducer::Folds(vec![Op::Max])));
    assert_eq!(reducer(Op::Max, &[0, 0]), None);
    assert_eq!(reducer(Op::Sub, &[0, 1]), Some(Reducer::NotAssociative(Op::Sub)));
    assert_eq!(reducer(Op::Div, &[1, 0]), Some(Reducer::NotAssociative(Op::Div)));
    assert_eq!(reducer(Op::Sub, &[0, 0]), None);
}

#[test]
fn a_body_that_doubles_stays_small() {
    let mut body = ReducerBody::default();
    let mut term = body.argument(0);
    for _ in 0..10_000 {
        term = body.operation(Some(Op::Add), &[term, term]);
    }
    assert_eq!(body.reducer(&[term], Some(DType::F32)), None);
}
