//! Sorts: read from files of every format that has them; refused by name by the writers.

use crate::support;
use crate::support::onnx::{FLOAT, INT64, Model, int};
use indim::formats::{FormatErrorKind, ModelFormat, WriteOptions, write};
use indim_builder::GraphBuilder;
use indim_graph::{Array, evaluate};
use indim_ops::{DType, SearchSide};

const FORMATS: [ModelFormat; 4] =
    [ModelFormat::StableHlo, ModelFormat::Hlo, ModelFormat::OpenVino, ModelFormat::Onnx];

/// JAX's comparator of floats: zeros and NaNs become one each, then the total order decides.
fn total(of: [&str; 2]) -> String {
    let compared = "(tensor<f32>, tensor<f32>) -> tensor<i1>";
    let canonical = |argument: &str, name: &str| {
        format!(
            "%{name}z = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %{name}1 = stablehlo.compare EQ, {argument}, %{name}z, FLOAT : {compared}
    %{name}2 = stablehlo.select %{name}1, %{name}z, {argument} : tensor<i1>, tensor<f32>
    %{name}3 = stablehlo.compare NE, {argument}, {argument}, FLOAT : {compared}
    %{name}n = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %{name} = stablehlo.select %{name}3, %{name}n, %{name}2 : tensor<i1>, tensor<f32>
    "
        )
    };
    canonical(of[0], "x") + &canonical(of[1], "y")
}

fn stablehlo(text: &str, inputs: &[Array]) -> Vec<Array> {
    let model = support::read("test.mlir", text).unwrap();
    support::run(&*model, inputs).unwrap()
}

fn numbers() -> Array {
    let x = [2.0f32, f32::NAN, -0.0, 5.0, 0.0, 2.0, -1.0, 9.0];
    Array::new([2, 4], x.to_vec()).unwrap()
}

/// `jnp.sort` and `jnp.argsort`, as JAX lowers them.
#[test]
fn sorts_of_jax_carry_their_operands() {
    let (floats, integers) = ("tensor<2x4xf32>", "tensor<2x4xi64>");
    let types = format!("{floats}, {integers}, {floats}");
    let [one, index] = ["tensor<f32>", "tensor<i64>"];
    let text = format!(
        "func.func @main(%a: {floats}, %b: {floats}) -> ({types}) {{
  %i = stablehlo.iota dim = 1 : {integers}
  %r:3 = \"stablehlo.sort\"(%a, %i, %b) <{{dimension = 1 : i64, is_stable = true}}> ({{
  ^bb0(%1: {one}, %2: {one}, %3: {index}, %4: {index}, %5: {one}, %6: {one}):
    {}%9 = stablehlo.compare LT, %x, %y, TOTALORDER : ({one}, {one}) -> tensor<i1>
    stablehlo.return %9 : tensor<i1>
  }}) : ({types}) -> ({types})
  return %r#0, %r#1, %r#2 : {types}
}}",
        total(["%1", "%2"])
    );
    let carried = Array::new([2, 4], (0..8).map(|at| at as f32 * 10.0).collect()).unwrap();
    let results = stablehlo(&text, &[numbers(), carried]);
    let places = [2i64, 0, 3, 1, 2, 0, 1, 3];
    assert_eq!(results[1].elements::<i64>(), Ok(&places[..]));
    let carried = [20.0f32, 0.0, 30.0, 10.0, 60.0, 40.0, 50.0, 70.0];
    assert_eq!(results[2].elements::<f32>(), Ok(&carried[..]));
    let sorted: Vec<u32> =
        results[0].elements::<f32>().unwrap().iter().map(|number| number.to_bits()).collect();
    let expected = [-0.0f32, 2.0, 5.0, f32::NAN, -1.0, 0.0, 2.0, 9.0].map(f32::to_bits);
    assert_eq!(sorted, expected);
}

/// `jax.export` moves constants out of the comparator, into the body of the function; another function may
/// have other values of these names.
#[test]
fn comparators_read_constants_of_their_function() {
    let (array, scalar) = ("tensor<2x4xf32>", "tensor<f32>");
    let terms = total(["%1", "%2"]).replace("%yz", "%xz").replace("%yn", "%xn");
    let is_inner = |line: &&str| !line.contains("stablehlo.constant");
    let terms: String = terms.lines().filter(is_inner).map(|line| format!("{line}\n")).collect();
    let function = |name: &str, zero: &str| {
        format!(
            "func.func {name}(%a: {array}) -> {array} {{
  %xz = stablehlo.constant dense<{zero}> : {scalar}
  %xn = stablehlo.constant dense<0x7FC00000> : {scalar}
  %r = \"stablehlo.sort\"(%a) <{{dimension = 1 : i64, is_stable = true}}> ({{
  ^bb0(%1: {scalar}, %2: {scalar}):
    {terms}%9 = stablehlo.compare LT, %x, %y, TOTALORDER : ({scalar}, {scalar}) -> tensor<i1>
    stablehlo.return %9 : tensor<i1>
  }}) : ({array}) -> {array}
  return %r : {array}
}}
"
        )
    };
    let text = function("private @other", "1.0") + &function("public @main", "0.0");
    let expected = Array::new([2, 4], vec![-0.0f32, 2.0, 5.0, f32::NAN, -1.0, 0.0, 2.0, 9.0]);
    let results = stablehlo(&text, &[numbers()]);
    let bits = |array: &Array| -> Vec<u32> {
        array.elements::<f32>().unwrap().iter().map(|element| element.to_bits()).collect()
    };
    assert_eq!(bits(&results[0]), bits(&expected.unwrap()));
    // The constant of `@other` is no zero, and indim knows no such comparator.
    let other =
        text.replace("private @other", "public @first").replace("public @main", "private @second");
    assert!(support::read("test.mlir", other).is_err());
}

/// `jnp.lexsort`, and a comparator of the second operand in descending order.
#[test]
fn several_keys_and_other_keys_are_recognised() {
    let (all, one) = ("tensor<4xi32>", "tensor<i32>");
    let sort = |body: &str| {
        format!(
            "func.func @main(%a: {all}, %b: {all}) -> ({all}, {all}) {{
  %r:2 = \"stablehlo.sort\"(%a, %b) <{{dimension = 0 : i64, is_stable = true}}> ({{
  ^bb0(%1: {one}, %2: {one}, %3: {one}, %4: {one}):
    {body}
  }}) : ({all}, {all}) -> ({all}, {all})
  return %r#0, %r#1 : {all}, {all}
}}"
        )
    };
    let types = "(tensor<i32>, tensor<i32>) -> tensor<i1>";
    let compare = |name: &str, direction: &str, pair: &str| {
        format!("%{name} = stablehlo.compare {direction}, {pair}, SIGNED : {types}\n")
    };
    let inputs =
        [vec![1, 0, 1, 0], vec![5, 8, 3, 2]].map(|x: Vec<i32>| Array::new([4], x).unwrap());
    let lexicographic = compare("5", "LT", "%3, %4")
        + &compare("6", "LT", "%1, %2")
        + &compare("7", "EQ", "%1, %2")
        + "%8 = stablehlo.and %7, %5 : tensor<i1>
           %9 = stablehlo.or %6, %8 : tensor<i1>
           stablehlo.return %9 : tensor<i1>";
    let results = stablehlo(&sort(&lexicographic), &inputs);
    assert_eq!(results[0].elements::<i32>(), Ok(&[0, 0, 1, 1][..]));
    assert_eq!(results[1].elements::<i32>(), Ok(&[2, 8, 3, 5][..]));

    let second = compare("5", "GT", "%3, %4") + "stablehlo.return %5 : tensor<i1>";
    let results = stablehlo(&sort(&second), &inputs);
    assert_eq!(results[0].elements::<i32>(), Ok(&[0, 1, 1, 0][..]));
    assert_eq!(results[1].elements::<i32>(), Ok(&[8, 5, 3, 2][..]));

    let mixed = compare("5", "LT", "%1, %4") + "stablehlo.return %5 : tensor<i1>";
    let error = support::read("test.mlir", sort(&mixed)).err().unwrap();
    assert!(matches!(error.kind, FormatErrorKind::UnsupportedOperations(_)), "{error}");
}

#[test]
fn the_greatest_elements_of_chlo_come_with_their_positions() {
    let text = "func.func @main(%a: tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {
  %v, %i = chlo.top_k(%a, k = 2) : tensor<2x4xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
  return %v, %i : tensor<2x2xf32>, tensor<2x2xi32>
}";
    let results = stablehlo(text, &[numbers()]);
    assert!(results[0].elements::<f32>().unwrap()[0].is_nan());
    assert_eq!(results[0].elements::<f32>().unwrap()[1..], [5.0, 9.0, 2.0]);
    assert_eq!(results[1].elements::<i32>(), Ok(&[1, 3, 3, 1][..]));
}

#[test]
fn sorts_of_hlo_are_tuples() {
    let text = "HloModule m
cmp {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=GT
}
ENTRY e {
  x = f32[2,4] parameter(0)
  i = s32[2,4] iota(), iota_dimension=0
  s = (f32[2,4], s32[2,4]) sort(x, i), dimensions={0}, is_stable=true, to_apply=cmp
  ROOT p = s32[2,4] get-tuple-element(s), index=1
}";
    let model = support::read("test.hlo", text).unwrap();
    let results = support::run(&*model, &[numbers()]).unwrap();
    assert_eq!(results[0].elements::<i32>(), Ok(&[0, 0, 0, 1, 1, 1, 1, 0][..]));
}

#[test]
fn the_greatest_elements_of_onnx() {
    let top_k = |opset, k: Option<i64>, attributes: &[_]| {
        let types = if k.is_some() { &[FLOAT, INT64][..] } else { &[FLOAT] };
        let model = Model::of_node(opset, "TopK", types, attributes, 2).encoded();
        let model = support::read("test.onnx", &model).map_err(|error| error.code())?;
        let k = k.map(|k| Array::new([1], vec![k]).unwrap());
        let inputs: Vec<Array> = [numbers()].into_iter().chain(k).collect();
        support::run(&*model, &inputs).map_err(|error| error.code())
    };
    let results = top_k(11, Some(3), &[]).unwrap();
    assert_eq!(results[1].elements::<i64>(), Ok(&[1, 3, 0, 3, 1, 0][..]));
    assert_eq!(results[0].elements::<f32>().unwrap()[1..], [5.0, 2.0, 9.0, 2.0, 0.0]);
    let results = top_k(24, Some(1), &[int("axis", 0), int("largest", 0)]).unwrap();
    assert_eq!(results[0].elements::<f32>(), Ok(&[0.0, 2.0, -1.0, 5.0][..]));
    assert_eq!(results[1].elements::<i64>(), Ok(&[1, 1, 1, 0][..]));
    let results = top_k(1, None, &[int("k", 1)]).unwrap();
    assert_eq!(results[1].elements::<i64>(), Ok(&[1, 3][..]));
    assert_eq!(top_k(11, Some(5), &[]).unwrap_err(), "attribute");
    assert_eq!(top_k(10, Some(1), &[int("largest", 0)]).unwrap_err(), "attribute");
}

#[test]
fn writers_of_other_formats_refuse_sorts_by_name() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3]).unwrap();
    let places = b.search_sorted(&x, &x, SearchSide::Left).unwrap();
    let several = b.argsort_by(&[x.clone(), x.clone()], 0, false).unwrap();
    for (value, name) in [(several, "sort"), (places, "search_sorted")] {
        let graph = b.finish(&[value]).unwrap();
        for format in FORMATS {
            let is_refused = match format {
                ModelFormat::Onnx => true,
                ModelFormat::OpenVino => name == "sort",
                _ => false,
            };
            if !is_refused {
                continue;
            }
            let written = write(format, &graph, &["y".to_owned()], &WriteOptions::default());
            let message = written.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(message.contains(name), "{format}: {message}");
        }
    }
}

#[test]
fn sorts_are_written_to_onnx_and_read_back() {
    let x = numbers();
    let b = GraphBuilder::new();
    let p = b.parameter("x", DType::F32, [2, 4]).unwrap();
    let positive = b.gt(&p, 0.0, &[]).unwrap();
    let outputs = [
        b.sort(&p, 1, false).unwrap(),
        b.argsort(&p, 0, true).unwrap(),
        b.sort(&positive, 1, true).unwrap(),
    ];
    let graph = b.finish(&outputs).unwrap();
    let names = ["a", "b", "c"].map(str::to_owned);
    let written = write(ModelFormat::Onnx, &graph, &names, &WriteOptions::default()).unwrap();
    let model = support::read("sorts.onnx", &written.content).unwrap();
    let results = support::run(&*model, core::slice::from_ref(&x)).unwrap();
    let bits = |arrays: Vec<Array>| -> Vec<Vec<u8>> {
        arrays.into_iter().map(|array| array.to_le_bytes()).collect()
    };
    assert_eq!(bits(results), bits(evaluate(&graph, &[x]).unwrap()));

    let two = b.argsort_by(&[p.clone(), p.clone()], 0, false).unwrap();
    let graph = b.finish(&[two]).unwrap();
    let error = write(ModelFormat::Onnx, &graph, &names[..1], &WriteOptions::default());
    assert!(error.err().unwrap().to_string().contains("sort"));
}

/// JAX's `approx_max_k` and `approx_min_k`, as JAX lowers them.
#[test]
fn approximate_top_k_is_exact() {
    let program = |direction: &str, config: &str| {
        format!(
            "func.func @before(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) \
             -> tensor<i1> {{
  %0 = stablehlo.compare {direction}, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}}
func.func public @main(%x: tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {{
  %0 = stablehlo.iota dim = 1 : tensor<2x4xi32>
  %c = stablehlo.constant dense<-1> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1:2 = stablehlo.custom_call @ApproxTopK(%x, %0, %z, %c) {{backend_config = \"\", \
             called_computations = [@before], mhlo.backend_config = {{{config}, is_fallback = true, \
             recall_target = 0.949999988 : f32, reduction_dim = 1 : i64, top_k = 2 : i64}}}} \
             : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) \
             -> (tensor<2x2xf32>, tensor<2x2xi32>)
  return %1#0, %1#1 : tensor<2x2xf32>, tensor<2x2xi32>
}}"
        )
    };
    let x = Array::new([2, 4], vec![3.0_f32, 1.0, 3.0, 2.0, -1.0, 8.0, 0.0, 5.0]).unwrap();
    let exact = "aggregate_to_topk = true";
    for (direction, values, positions) in
        [("GT", [3.0, 3.0, 8.0, 5.0], [0, 2, 1, 3]), ("LT", [1.0, 2.0, -1.0, 0.0], [1, 3, 0, 2])]
    {
        let found = stablehlo(&program(direction, exact), core::slice::from_ref(&x));
        assert_eq!(found[0].elements::<f32>(), Ok(&values[..]), "{direction}");
        assert_eq!(found[1].elements::<i32>(), Ok(&positions[..]), "{direction}");
    }
    for text in [program("GE", exact), program("GT", "aggregate_to_topk = false")] {
        let error = support::read("test.mlir", &text).map(drop).unwrap_err();
        assert_eq!(error.code(), "unsupported-op");
    }
}
