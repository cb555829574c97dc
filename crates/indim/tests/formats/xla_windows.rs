//! Convolutions and reductions of windows in StableHLO and HLO: the examples of StableHLO's specification,
//! and values computed by hand.

use crate::support;
use indim_graph::Array;

fn run(name: &str, program: &str, inputs: &[Array]) -> Result<Array, &'static str> {
    let model = support::read(name, program).map_err(|error| error.code())?;
    Ok(support::run(&*model, inputs).map_err(|error| error.code())?.remove(0))
}

/// The operand and the kernel of the specification's example of `convolution`.
fn example() -> [Array; 2] {
    let x = vec![1, 2, 5, 6, 3, 4, 7, 8, 10, 11, 14, 15, 12, 13, 16, 17_i64];
    [Array::new([1, 4, 4, 1], x).unwrap(), Array::new([3, 3, 1, 1], vec![1_i64; 9]).unwrap()]
}

fn sums() -> Array {
    Array::new([1, 2, 2, 1], vec![10_i64, 26, 46, 62]).unwrap()
}

#[test]
fn stablehlo_convolutions() {
    let generic = "\"stablehlo.convolution\"(%x, %k) {
      window_strides = array<i64: 4, 4>, padding = dense<0> : tensor<2x2xi64>,
      lhs_dilation = array<i64: 2, 2>, rhs_dilation = array<i64: 1, 1>,
      window_reversal = array<i1: false, false>,
      dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
      feature_group_count = 1 : i64, batch_group_count = 1 : i64,
      precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]
    }";
    let pretty = "stablehlo.convolution(%x, %k)
      dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [4, 4], pad = [[0, 0], [0, 0]], lhs_dilate = [2, 2], rhs_dilate = [1, 1],
                reverse = [false, true]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64,
       precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}";
    for operation in [generic, pretty] {
        let program = format!(
            "func.func @main(%x: tensor<1x4x4x1xi64>, %k: tensor<3x3x1x1xi64>) -> tensor<1x2x2x1xi64> {{
               %r = {operation} : (tensor<1x4x4x1xi64>, tensor<3x3x1x1xi64>) -> tensor<1x2x2x1xi64>
               return %r : tensor<1x2x2x1xi64>
             }}"
        );
        assert_eq!(run("c.mlir", &program, &example()), Ok(sums()), "{program}");
    }
}

/// A kernel of two different rows, read forwards and backwards.
#[test]
fn stablehlo_windows_have_an_entry_for_each_axis() {
    let inputs = [
        Array::new([1, 1, 2, 2], vec![1_i64, 10, 100, 1000]).unwrap(),
        Array::new([1, 1, 2, 2], vec![1_i64, 2, 3, 4]).unwrap(),
    ];
    let found = |attributes: &str| {
        let program = format!(
            "func.func @main(%x: tensor<1x1x2x2xi64>, %k: tensor<1x1x2x2xi64>) -> tensor<1x1x1x1xi64> {{
               %r = {attributes} : (tensor<1x1x2x2xi64>, tensor<1x1x2x2xi64>) -> tensor<1x1x1x1xi64>
               return %r : tensor<1x1x1x1xi64>
             }}"
        );
        let result = run("c.mlir", &program, &inputs)?;
        Ok::<i64, &str>(result.elements().unwrap()[0])
    };
    let generic = |attributes: &str| {
        found(&format!(
            "\"stablehlo.convolution\"(%x, %k) {{dimension_numbers = \
             #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, {attributes}, \
             feature_group_count = 1 : i64, batch_group_count = 1 : i64}}"
        ))
    };
    let pretty = |window: &str| {
        found(&format!(
            "stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], \
             window = {{{window}}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}"
        ))
    };
    let cases = [
        ("false, false", Ok(4321)),
        ("true, false", Ok(2143)),
        ("false, true", Ok(3412)),
        ("true, true", Ok(1234)),
        ("true", Err("attribute")),
        ("true, false, true", Err("attribute")),
        ("true, maybe", Err("attribute")),
        ("maybe", Err("attribute")),
        ("true false", Err("attribute")),
        ("10", Err("attribute")),
    ];
    for (flags, expected) in cases {
        assert_eq!(generic(&format!("window_reversal = array<i1: {flags}>")), expected, "{flags}");
        assert_eq!(pretty(&format!("reverse = [{flags}]")), expected, "{flags}");
    }
    assert_eq!(pretty("reverse = [1, 0]"), Ok(2143));
    assert_eq!(generic("window_reversal = dense<[true, false]> : tensor<2xi1>"), Ok(2143));
    // One element of `dense` stands for all of its type.
    assert_eq!(generic("window_reversal = dense<true> : tensor<2xi1>"), Ok(1234));
    assert_eq!(generic("window_reversal = dense<true> : tensor<1xi1>"), Err("attribute"));
    assert_eq!(generic("window_strides = dense<1> : tensor<2xi64>"), Ok(4321));
    assert_eq!(generic("window_strides = dense<1> : tensor<1xi64>"), Err("attribute"));
    assert_eq!(generic("window_strides = array<i64: 1>"), Err("attribute"));
    assert_eq!(generic("padding = dense<0> : tensor<1x2xi64>"), Err("attribute"));
    assert_eq!(pretty("stride = [1], pad = [[0, 0], [0, 0]]"), Err("attribute"));
    assert_eq!(pretty("stride = [1, 1], pad = [[0, 0]]"), Err("attribute"));
    assert_eq!(pretty("lhs_dilate = [1, 1, 1]"), Err("attribute"));
}

#[test]
fn hlo_convolutions() {
    let program = |attributes: &str, result: &str| {
        format!(
            "HloModule m\nENTRY e {{\n  x = s64[1,4,4,1] parameter(0)\n  k = s64[3,3,1,1] parameter(1)\n  \
             ROOT r = {result} convolution(x, k), {attributes}\n}}"
        )
    };
    let window = "window={size=3x3 stride=4x4 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f";
    let found = run("c.hlo", &program(window, "s64[1,2,2,1]"), &example());
    assert_eq!(found, Ok(sums()));
    let padded = "window={size=3x3 pad=-1_0x0_-1 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f, \
                  feature_group_count=1, operand_precision={highest,highest}";
    // Nine elements of the rows 1 to 3 and the columns 0 to 2.
    let found = run("c.hlo", &program(padded, "s64[1,1,1,1]"), &example());
    assert_eq!(found, Ok(Array::new([1, 1, 1, 1], vec![90_i64]).unwrap()));
    let code =
        |attributes: &str| run("c.hlo", &program(attributes, "s64[1,2,2,1]"), &example()).err();
    assert_eq!(code("window={size=3x3}, dim_labels=b01f_01oi->b01f"), None);
    assert_eq!(code("window={size=2x3}, dim_labels=b01f_01io->b01f"), Some("attribute"));
    assert_eq!(code("window={size=3}, dim_labels=b01f_01io->b01f"), Some("attribute"));
    assert_eq!(code("window={size=3x3 pad=1x1}, dim_labels=b01f_01io->b01f"), Some("attribute"));
    assert_eq!(code("window={size=3x3 stride=0x1}, dim_labels=b01f_01io->b01f"), Some("attribute"));
    assert_eq!(code("window={size=3x3}, dim_labels=b01f_01io"), Some("attribute"));
    let grouped = "window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=2";
    assert_eq!(code(grouped), Some("convolution-shape"));
}

#[test]
fn windows_are_reduced_from_an_initial_value() {
    let x = Array::new([3, 2], vec![1_i64, 2, 3, 4, 5, 6]).unwrap();
    let inputs = [x, Array::from_scalar(0_i64)];
    let stablehlo = "func.func @main(%x: tensor<3x2xi64>, %i: tensor<i64>) -> tensor<2x2xi64> {
      %r = \"stablehlo.reduce_window\"(%x, %i) ({
        ^bb0(%a: tensor<i64>, %b: tensor<i64>):
          %s = stablehlo.add %a, %b : tensor<i64>
          stablehlo.return %s : tensor<i64>
      }) {
        window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>,
        base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>,
        padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>
      } : (tensor<3x2xi64>, tensor<i64>) -> tensor<2x2xi64>
      return %r : tensor<2x2xi64>
    }";
    let expected = Array::new([2, 2], vec![0_i64, 0, 3, 4]).unwrap();
    assert_eq!(run("r.mlir", stablehlo, &inputs), Ok(expected.clone()));
    let hlo = "HloModule m
add {
  a = s64[] parameter(0)
  b = s64[] parameter(1)
  ROOT s = s64[] add(a, b)
}
ENTRY e {
  x = s64[3,2] parameter(0)
  i = s64[] parameter(1)
  ROOT r = s64[2,2] reduce-window(x, i), to_apply=add,
    window={size=2x1 stride=4x1 pad=2_1x0_0 lhs_dilate=2x1 rhs_dilate=3x1}
}";
    assert_eq!(run("r.hlo", hlo, &inputs), Ok(expected));
    // The initial value is also in the padding.
    let inputs = [inputs[0].clone(), Array::from_scalar(100_i64)];
    let expected = Array::new([2, 2], vec![300_i64, 300, 203, 204]).unwrap();
    assert_eq!(run("r.hlo", hlo, &inputs), Ok(expected.clone()));
    assert_eq!(run("r.mlir", stablehlo, &inputs), Ok(expected));
}

#[test]
fn the_largest_of_a_window_is_nan_if_one_is() {
    let program = "HloModule m
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b)
}
ENTRY e {
  x = f32[4] parameter(0)
  i = f32[] constant(-inf)
  ROOT r = f32[2] reduce-window(x, i), window={size=2 stride=2}, to_apply=max
}";
    let x = Array::new([4], vec![1.0, f32::NAN, 3.0, 2.0]).unwrap();
    let found = run("r.hlo", program, core::slice::from_ref(&x)).unwrap();
    let found: &[f32] = found.elements().unwrap();
    assert!(found[0].is_nan() && found[1] == 3.0, "{found:?}");
    let bare = program.replace("window={size=2 stride=2}, ", "");
    assert_eq!(run("r.hlo", &bare, core::slice::from_ref(&x)), Err("attribute"));
    let other = program.replace("maximum(a, b)", "subtract(a, b)");
    assert_eq!(run("r.hlo", &other, &[]).err(), Some("unsupported-op"));
}
