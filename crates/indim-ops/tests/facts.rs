//! The facts in the table of operations hold, over special and other values of every type.

use indim_ops::{AnyLane, Arity, DType, Fact, Op, ScalarBackend};

const VALUES: [f64; 18] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    0.1,
    -0.3,
    0.5,
    -2.5,
    3.7,
    100.0,
    -117.0,
    1e-7,
    -6e-8,
    65504.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

type Lane = AnyLane<ScalarBackend>;

/// The values as elements of a type.
fn elements(dtype: DType) -> impl Iterator<Item = Lane> + Clone {
    VALUES.into_iter().map(move |value| Lane::F64(value).convert(dtype))
}

/// The bits of a result, whose NaNs are canonical.
fn shown(result: Option<Lane>) -> String {
    format!("{:?}", result.expect("operands of the signature's types"))
}

/// All combinations of elements that an operation takes if the last operand is of this type.
fn combinations(op: Op, dtype: DType) -> Vec<Vec<Lane>> {
    let with_each = |rows: Vec<Vec<Lane>>, index: usize| -> Vec<Vec<Lane>> {
        let operand = elements(op.operand_dtype(index, dtype));
        let extended =
            |row: Vec<Lane>| operand.clone().map(move |last| [&row[..], &[last]].concat());
        rows.into_iter().flat_map(extended).collect()
    };
    (0..op.arity().count()).fold(vec![vec![]], with_each)
}

#[test]
fn exchanged_operands_give_the_same_as_the_mirrored_operation() {
    let mut checked = 0;
    for &op in Op::ALL {
        let Some(swapped) = op.swapped() else { continue };
        assert_eq!(swapped.swapped(), Some(op));
        for &dtype in DType::ALL.iter().filter(|&&dtype| op.takes(dtype)) {
            for operands in combinations(op, dtype) {
                let exchanged = [operands[1], operands[0]];
                let name = format!("{op} {dtype} {operands:?}");
                assert_eq!(shown(op.apply(&operands)), shown(swapped.apply(&exchanged)), "{name}");
            }
            checked += 1;
        }
    }
    assert!(checked > 100);
}

/// 16 bits give the same as 32: an exact result does not depend on the type of the computation.
#[test]
fn exact_operations_round_nothing() {
    let mut wrong = Vec::new();
    for &op in Op::ALL.iter().filter(|op| op.takes(DType::F16)) {
        let rounds = combinations(op, DType::F16).into_iter().any(|operands| {
            let wide = |operand: &Lane| match operand.dtype() {
                DType::Bool => *operand,
                _ => operand.convert(DType::F64),
            };
            let in_64_bits: Vec<Lane> = operands.iter().map(wide).collect();
            let narrow = op.apply(&operands).map(|result| wide(&result));
            shown(narrow) != shown(op.apply(&in_64_bits))
        });
        let in_the_type_itself = op.name().starts_with("total_") || op == Op::Nextafter;
        if !in_the_type_itself && rounds == op.is(Fact::Exact) {
            wrong.push(op);
        }
    }
    assert_eq!(wrong, []);
}

#[test]
fn ordering_operations_are_not_for_complex_numbers() {
    let orders: Vec<Op> = Op::ALL.iter().copied().filter(|op| op.is(Fact::Orders)).collect();
    assert!(orders.iter().all(|op| op.takes(DType::F32) && !op.takes(DType::C64)), "{orders:?}");
    assert!(orders.iter().all(|op| op.arity() != Arity::Unary));
    assert!([Op::Lt, Op::Max, Op::Fmin, Op::Clamp].iter().all(|op| orders.contains(op)));
}
