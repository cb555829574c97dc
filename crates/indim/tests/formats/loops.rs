//! Loops and branches of StableHLO and HLO, compared with results by hand.

use crate::support::{read, run};
use indim::formats::{InputBinding, SourceFile};
use indim_graph::Array;

fn results(name: &str, text: &str, inputs: &[Array]) -> Vec<Array> {
    let source = SourceFile::new(name, text.to_owned());
    let model = read(name, text).unwrap_or_else(|error| panic!("{}", error.draw(&source)));
    run(model.as_ref(), inputs).unwrap_or_else(|error| panic!("{}", error.draw(&source)))
}

fn code(name: &str, text: &str) -> &'static str {
    let model = match read(name, text) {
        Ok(model) => model,
        Err(error) => return error.code(),
    };
    let types = model.inputs().iter().map(|input| input.array_type().expect("types are known"));
    let types: Vec<_> = types.map(InputBinding::Type).collect();
    model.build(&types).expect_err("there is a mistake").code()
}

fn f32s(elements: &[f32]) -> Array {
    Array::new([elements.len()], elements.to_vec()).unwrap()
}

/// Adds `%step`, a value outside the loop, `%n` times; a function computes the sum.
const COUNTED: &str = "\
func.func @main(%x: tensor<3xf32>, %step: tensor<3xf32>, %n: tensor<i32>) -> (tensor<i32>, tensor<3xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %s = %x) : tensor<i32>, tensor<3xf32>
   cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = func.call @sum(%s, %step) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<3xf32>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<3xf32>
}
func.func private @sum(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %a, %b : tensor<3xf32>
  return %0 : tensor<3xf32>
}
";

#[test]
fn a_loop_of_stablehlo_uses_values_outside_it() {
    for n in [0, 1, 4] {
        let inputs =
            [f32s(&[1.0, 2.0, 3.0]), f32s(&[0.5, 1.0, -1.0]), Array::from_scalar::<i32>(n)];
        let found = results("loop.mlir", COUNTED, &inputs);
        let steps = n as f32;
        let expected = [1.0 + 0.5 * steps, 2.0 + steps, 3.0 - steps];
        assert_eq!(found[0].scalar::<i32>(), Ok(n));
        assert_eq!(found[1].elements::<f32>().unwrap(), expected);
    }
}

#[test]
fn loops_and_branches_of_stablehlo_nest() {
    let text = "\
func.func @main(%index: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %0 = \"stablehlo.case\"(%index) ({
    %1 = stablehlo.negate %x : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }, {
    %1 = \"stablehlo.while\"(%x) ({
    ^bb0(%s: tensor<f32>):
      %c = stablehlo.constant dense<100.0> : tensor<f32>
      %2 = stablehlo.compare LT, %s, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }, {
    ^bb0(%s: tensor<f32>):
      %2 = stablehlo.add %s, %s : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }, {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %p = stablehlo.compare GT, %x, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = \"stablehlo.if\"(%p) ({
      stablehlo.return %x : tensor<f32>
    }, {
      stablehlo.return %zero : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %0 : tensor<f32>
}
";
    let cases = [(0, 3.0, -3.0), (1, 3.0, 192.0), (2, 3.0, 3.0), (2, -3.0, 0.0), (-3, -3.0, 0.0)];
    for (index, x, expected) in cases {
        let inputs = [Array::from_scalar::<i32>(index), Array::from_scalar::<f32>(x)];
        let found = results("case.mlir", text, &inputs);
        assert_eq!(found[0].scalar::<f32>(), Ok(expected), "{index} {x}");
    }
}

#[test]
fn regions_of_stablehlo_that_do_not_fit_are_refused() {
    let types = "(tensor<i32>, tensor<i32>) -> tensor<i1>";
    let wide = COUNTED
        .replace(
            &format!("%i, %n, SIGNED : {types}"),
            "%s, %s : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>",
        )
        .replace("return %1 : tensor<i1>", "return %1 : tensor<3xi1>");
    assert_eq!(code("loop.mlir", &wide), "region-type");
    // A mistake in a body is shown at its place.
    let broken = COUNTED.replace("stablehlo.add %i, %one", "stablehlo.add %i, ?");
    let error = read("loop.mlir", &broken).err().expect("there is a mistake");
    let drawn = error.draw(&SourceFile::new("loop.mlir", broken.clone()));
    assert!(drawn.contains("loop.mlir:9:"), "{drawn}");
    let branch = |index: &str, regions: &str| {
        format!(
            "func.func @main(%i: tensor<{index}>, %x: tensor<f32>) -> tensor<f32> {{
  %0 = \"stablehlo.case\"(%i) ({regions}) : (tensor<{index}>) -> tensor<f32>
  return %0 : tensor<f32>
}}"
        )
    };
    let region = "{ stablehlo.return %x : tensor<f32> }";
    assert_eq!(code("case.mlir", &branch("i32", "")), "wrong-count");
    assert_eq!(code("case.mlir", &branch("f32", region)), "element-type-not-allowed");
    let other = "{ stablehlo.return %i : tensor<i32> }";
    assert_eq!(code("case.mlir", &branch("i32", &format!("{region}, {other}"))), "region-type");
}

#[test]
fn bodies_nest_to_a_limit() {
    let mut body = "%y = stablehlo.add %x, %x : tensor<f32>".to_owned();
    for _ in 0..17 {
        body = format!(
            "%y = \"stablehlo.case\"(%i) ({{ {body}
            stablehlo.return %y : tensor<f32> }}) : (tensor<i32>) -> tensor<f32>"
        );
    }
    let text = format!(
        "func.func @main(%i: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {{
  {body}
  return %y : tensor<f32>
}}"
    );
    assert_eq!(code("deep.mlir", &text), "limit");
}

#[test]
fn loops_of_hlo_have_tuples_as_states() {
    let text = "\
HloModule m
next {
  p = (s32[], (f32[2], s32[])) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  rest = (f32[2], s32[]) get-tuple-element(p), index=1
  x = f32[2] get-tuple-element(rest), index=0
  n = s32[] get-tuple-element(rest), index=1
  y = f32[2] add(x, x)
  pair = (f32[2], s32[]) tuple(y, n)
  ROOT r = (s32[], (f32[2], s32[])) tuple(j, pair)
}
more {
  p = (s32[], (f32[2], s32[])) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  rest = (f32[2], s32[]) get-tuple-element(p), index=1
  n = s32[] get-tuple-element(rest), index=1
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = f32[2] parameter(0)
  n = s32[] parameter(1)
  zero = s32[] constant(0)
  pair = (f32[2], s32[]) tuple(x, n)
  start = (s32[], (f32[2], s32[])) tuple(zero, pair)
  w = (s32[], (f32[2], s32[])) while(start), condition=more, body=next
  last = (f32[2], s32[]) get-tuple-element(w), index=1
  ROOT r = f32[2] get-tuple-element(last), index=0
}
";
    let found = results("loop.hlo", text, &[f32s(&[1.0, -3.0]), Array::from_scalar(5i32)]);
    assert_eq!(found[0].elements::<f32>().unwrap(), [32.0, -96.0]);
}

#[test]
fn branches_of_hlo_have_an_operand_each() {
    let with = |index: &str, attributes: &str| {
        format!(
            "HloModule m
negated {{
  p = f32[] parameter(0)
  ROOT r = f32[] negate(p)
}}
doubled {{
  p = f32[] parameter(0)
  ROOT r = f32[] add(p, p)
}}
ENTRY e {{
  i = {index} parameter(0)
  x = f32[] parameter(1)
  y = f32[] parameter(2)
  ROOT r = f32[] conditional(i, x, y), {attributes}
}}
"
        )
    };
    let [x, y] = [3.0f32, 5.0].map(Array::from_scalar);
    let of = |text: &str, index: Array| {
        results("branch.hlo", text, &[index, x.clone(), y.clone()])[0].scalar::<f32>().unwrap()
    };
    let listed = with("s32[]", "branch_computations={negated, %doubled}");
    let found = [-1, 0, 1, 2].map(|index: i32| of(&listed, Array::from_scalar(index)));
    assert_eq!(found, [10.0, -3.0, 10.0, 10.0]);
    // The first operand is that of true.
    let named = with("pred[]", "true_computation=negated, false_computation=doubled");
    assert_eq!(of(&named, Array::from_scalar(true)), -3.0);
    assert_eq!(of(&named, Array::from_scalar(false)), 10.0);
}
