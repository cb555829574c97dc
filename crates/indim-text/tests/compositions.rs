//! Compositions give the values of their formulas, and keep the promises of their documentation.

use indim_builder::{Composition, GraphBuilder, Value};
use indim_graph::{Array, GraphError, Literal, evaluate};
use indim_ops::{Arity, DType, Element, Op, bf16, f16};
use indim_shape::RuleSet;
use indim_text::{Binding, Expression, ParseLimits};

type BuildResult = Result<Value, GraphError>;

fn apply<T: Element>(
    function: impl Fn(&GraphBuilder, Value) -> BuildResult,
    values: &[T],
) -> Vec<T> {
    let b = GraphBuilder::new();
    let x = b.parameter("x", T::DTYPE, [values.len()]).unwrap();
    let graph = b.finish(&[function(&b, x).unwrap()]).unwrap();
    let results = evaluate(
        &graph,
        &[Array::from_data([values.len()], T::into_data(values.to_vec())).unwrap()],
    )
    .unwrap();
    results[0].element_slice::<T>().unwrap().to_vec()
}

/// Every bit counts, and NaNs are equal.
fn assert_same<T: Element + core::fmt::Debug>(found: &[T], expected: &[T], what: &str) {
    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{what}");
}

fn apply_one(function: impl Fn(&GraphBuilder, Value) -> BuildResult, argument: f64) -> f64 {
    apply(function, &[argument])[0]
}

/// Values of PyTorch's functions, from their formulas in 50 digits.
#[test]
fn activations_have_the_values_of_their_formulas() {
    let near = |result: f64, expected: f64| {
        assert!((result - expected).abs() <= 4e-15 * expected.abs(), "{result} {expected}");
    };
    near(apply_one(|b, x| b.relu(x), -2.0), 0.0);
    near(apply_one(|b, x| b.elu(x, 0.5), -1.0), -0.316_060_279_414_278_84);
    near(apply_one(|b, x| b.elu(x, 0.5), 2.0), 2.0);
    near(apply_one(|b, x| b.selu(x), -1.0), -1.111_330_737_812_562_7);
    near(apply_one(|b, x| b.gelu(x), -1.0), -0.158_655_253_931_457_05);
    near(apply_one(|b, x| b.gelu(x), -3.0), -0.004_049_694_094_890_284);
    near(apply_one(|b, x| b.gelu_tanh(x), -1.0), -0.158_808_009_391_723_24);
    near(apply_one(|b, x| b.swish(x, 1.0), -1.0), -0.268_941_421_369_995_1);
    near(apply_one(|b, x| b.swish(x, 2.0), 1.0), 0.880_797_077_977_882_4);
    near(apply_one(|b, x| b.softplus(x), -40.0), 4.248_354_255_291_589e-18);
    near(apply_one(|b, x| b.softplus(x), 1000.0), 1000.0);
    near(apply_one(|b, x| b.softsign(x), -3.0), -0.75);
    near(apply_one(|b, x| b.mish(x), 1.0), 0.865_098_388_267_310_3);
    near(apply_one(|b, x| b.hard_sigmoid(x, 0.2, 0.5), 1.0), 0.7);
    near(apply_one(|b, x| b.hard_sigmoid(x, 0.2, 0.5), -9.0), 0.0);
    near(apply_one(|b, x| b.hard_swish(x), 1.0), 2.0 / 3.0);
    near(apply_one(|b, x| b.hard_swish(x), 4.0), 4.0);
}

/// The formula of a composition: its documentation's first text in backquotes, if it begins with one.
fn formula(composition: Composition) -> Option<&'static str> {
    composition.doc().strip_prefix('`')?.split('`').next().filter(|text| text.contains('('))
}

/// The result of a text over `x` and `y`, with the parameters as numbers, as the bits of f64 or as 0 and 1.
fn computed(text: &str, composition: Composition, dtype: DType) -> Vec<u64> {
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.3,
        -0.3,
        2.5,
        -2.5,
        7.0,
        -30.0,
        1e-7,
        1e30,
        -1e30,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let (rows, columns) = (values.len(), values.len());
    let grid = |at: fn(usize, usize) -> usize| -> Array {
        let element = |k: usize| values[at(k / columns, k % columns)];
        Array::new([rows, columns], (0..rows * columns).map(element).collect()).unwrap()
    };
    let b = GraphBuilder::new();
    let parameter = |name| {
        let wide = b.parameter(name, DType::F64, [rows, columns]).unwrap();
        Binding::Array(b.convert(wide, dtype).unwrap())
    };
    let mut bindings = vec![("x", parameter("x")), ("y", parameter("y"))];
    for parameter in composition.parameters() {
        let default = parameter.default().and_then(|text| text.parse().ok());
        bindings.push((parameter.name(), Binding::Number(Literal::Float(default.unwrap_or(0.0)))));
    }
    let expression = Expression::parse(text, &ParseLimits::default()).unwrap();
    let result = expression.build_bound(&b, &bindings, Some(&RuleSet::None)).unwrap();
    let graph = b.finish(&[b.convert(result, DType::F64).unwrap()]).unwrap();
    let results = evaluate(&graph, &[grid(|row, _| row), grid(|_, column| column)]).unwrap();
    results[0].elements::<f64>().unwrap().iter().map(|x| x.to_bits()).collect()
}

#[test]
fn the_formulas_of_the_documentation_give_the_same_bits() {
    let mut count = 0;
    for &composition in Composition::ALL {
        let Some(formula) = formula(composition) else { continue };
        let operands = if composition.arity() == Arity::Unary { "x" } else { "x, y" };
        for dtype in [DType::F64, DType::F32, DType::F16, DType::Bf16] {
            if composition.takes(dtype) {
                let call = computed(&format!("{composition}({operands})"), composition, dtype);
                assert_eq!(call, computed(formula, composition, dtype), "{composition} {dtype}");
            }
        }
        count += 1;
    }
    assert!(count >= 14, "only {count} compositions have a formula");
}

#[test]
fn no_name_stands_twice_in_the_tables() {
    let operations = Op::ALL.iter().map(|op| (op.name(), op.aliases()));
    let compositions = Composition::ALL.iter().map(|c| (c.name(), c.aliases()));
    let mut names: Vec<&str> = operations
        .chain(compositions)
        .flat_map(|(name, aliases)| core::iter::once(name).chain(aliases.iter().copied()))
        .collect();
    names.sort_unstable();
    let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn relu_takes_integers_and_elu_does_not() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I32, [2, 3]).unwrap();
    assert!(b.relu(&x).is_ok());
    let error = b.elu(&x, 1.0).unwrap_err();
    assert_eq!((error.code(), error.operation), ("element-type-not-allowed", "elu"));
}

#[test]
fn two_operands_broadcast_by_a_rule() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [4, 3]).unwrap();
    let v = b.parameter("v", DType::F32, [4]).unwrap();
    let text = |value: Value| value.array_type().unwrap().to_string();
    assert_eq!(text(b.heaviside(&x, &v, &[0]).unwrap()), "f32[4, 3]");
    assert_eq!(text(b.pdpd(0).isclose(&x, &v, 1e-5, 1e-8, false).unwrap()), "bool[4, 3]");
    assert_eq!(b.numpy().heaviside(&x, &v).unwrap_err().code(), "size-mismatch");
    assert_eq!(text(b.heaviside(&x, 0.5, &[]).unwrap()), "f32[4, 3]");
    assert_eq!(text(x.heaviside(0.5).isclose(&x, 1e-5, 1e-8, false)), "bool[4, 3]");
    assert_eq!(b.heaviside(&x, b.scalar(1.0f64), &[]).unwrap_err().code(), "element-type-mismatch");
}

#[test]
fn nan_to_num_replaces_by_the_limits_of_the_type() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let replaced = apply(|b, x| b.nan_to_num(x, 0.0, None, None), &[inf, -inf, nan, -0.0, 2.5]);
    assert_same(&replaced, &[f64::MAX, f64::MIN, 0.0, -0.0, 2.5], "f64");
    let given = apply(|b, x| b.nan_to_num(x, -1.0, Some(nan), Some(inf)), &[inf, -inf, nan]);
    assert_same(&given, &[nan, inf, -1.0], "given");
    let singles =
        apply(|b, x| b.nan_to_num(x, 0.0, None, Some(7.0)), &[f32::INFINITY, -f32::INFINITY]);
    assert_same(&singles, &[f32::MAX, 7.0], "f32");
    let halves = [f16::from_f32(f32::INFINITY), f16::from_f32(f32::NAN)];
    let replaced = apply(|b, x| b.nan_to_num(x, 0.0, None, None), &halves);
    assert_same(&replaced, &[f16::from_f32(65504.0), f16::from_f32(0.0)], "f16");
    let brains = apply(|b, x| b.nan_to_num(x, 0.0, None, None), &[bf16::from_f32(f32::INFINITY)]);
    assert_eq!(brains[0].to_bits(), 0x7f7f);
    assert_eq!(apply(|b, x| b.nan_to_num(x, 9.0, None, None), &[0u8, 255]), [0, 255]);
    assert_eq!(apply(|b, x| b.nan_to_num(x, 9.0, None, None), &[true, false]), [true, false]);
}

#[test]
fn round_takes_digits_before_and_behind_the_point() {
    let round = |values: &[f64], decimals| apply(|b, x| b.round(x, decimals), values);
    assert_same(&round(&[2.5, -0.4, 1e300], 0), &[2.0, -0.0, 1e300], "to integers");
    assert_same(&round(&[1.125, -0.375, 0.1], 2), &[1.12, -0.38, 0.1], "two digits");
    assert_same(&round(&[1e300, f64::INFINITY, 1.5], 20), &[1e300, f64::INFINITY, 1.5], "large");
    assert_same(&round(&[1.5, 0.0], 400), &[1.5, 0.0], "more digits than there are");
    assert_same(&round(&[15.0, 25.0, -1e300], -1), &[20.0, 20.0, -1e300], "tens");
    assert_same(&round(&[1.5, -1e300, f64::NAN], -400), &[0.0, -0.0, f64::NAN], "nothing is left");
    let halves = apply(|b, x| b.round(x, 5), &[f16::from_f32(1.5), f16::from_f32(0.3)]);
    assert_same(&halves, &[f16::from_f32(1.5), f16::from_f32(0.3)], "f16");
}

/// Compared with exact integers of 128 bits.
#[test]
fn integers_are_rounded_exactly() {
    fn expected(x: i128, power: i128) -> i128 {
        let (quotient, above) = (x.div_euclid(power), x.rem_euclid(power));
        let is_up = 2 * above > power || (2 * above == power && quotient % 2 != 0);
        (quotient + i128::from(is_up)) * power
    }
    for decimals in -20..2 {
        let power = 10i128.pow(u32::try_from(-decimals.min(0)).unwrap());
        macro_rules! check {
            ($($type:ident)*) => {$({
                let near = |x: i128| [x - 1, x, x + 1];
                let small = [0, 5, 15, 25, 127, -128, power / 2, 3 * power / 2, -power / 2];
                let edges = [$type::MIN as i128, $type::MAX as i128].into_iter().chain(small);
                let in_range = |x| $type::try_from(x).ok();
                let values: Vec<$type> = edges.flat_map(near).filter_map(in_range).collect();
                let is_value = $type::try_from(power).is_ok();
                let rounded: Vec<$type> = values.iter()
                    .map(|&x| if is_value { expected(x as i128, power) as $type } else { 0 })
                    .collect();
                assert_eq!(apply(|b, x| b.round(x, decimals.into()), &values), rounded, "{decimals}");
            })*};
        }
        check!(i8 i16 i32 i64 u8 u16 u32 u64);
    }
}

#[test]
fn sinc_and_angles() {
    let sinc = apply(|b, x| b.sinc(x), &[0.0, -0.0, 0.5, 1e-310, f64::INFINITY]);
    assert_same(&sinc, &[1.0, 1.0, core::f64::consts::FRAC_2_PI, 1.0, f64::NAN], "sinc");
    let whole = apply_one(|b, x| b.sinc(x), 3.0);
    assert!(whole != 0.0 && whole.abs() < 1e-16, "{whole}");
    assert_same(&apply(|b, x| b.deg2rad(x), &[180.0, -0.0]), &[core::f64::consts::PI, -0.0], "");
    let right = apply(|b, x| b.rad2deg(x), &[f16::from_f32(1.5)]);
    assert_same(&right, &[f16::from_f32(1.5f32.to_degrees())], "f16");
}

#[test]
fn isclose_tells_infinities_and_nans() {
    let is_close = |x: &[f64], y: &[f64], equal_nan| -> Vec<bool> {
        let b = GraphBuilder::new();
        let parameter = |name| b.parameter(name, DType::F64, [x.len()]).unwrap();
        let values = [parameter("x"), parameter("y")];
        let result = b.none().isclose(&values[0], &values[1], 1e-5, 1e-8, equal_nan).unwrap();
        let array = |values: &[f64]| Array::new([values.len()], values.to_vec()).unwrap();
        let graph = b.finish(&[result]).unwrap();
        evaluate(&graph, &[array(x), array(y)]).unwrap()[0].elements::<bool>().unwrap().to_vec()
    };
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let x = [1.0, 1.0, inf, inf, 1.0, nan, 0.0];
    let y = [1.00001, 1.0001, inf, -inf, inf, nan, 1e-9];
    assert_eq!(is_close(&x, &y, false), [true, false, true, false, false, false, true]);
    assert_eq!(is_close(&x, &y, true), [true, false, true, false, false, true, true]);
}
