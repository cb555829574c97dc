//! Reductions by any body in StableHLO and HLO: programs of JAX in `reductions/` give XLA's results; refusals
//! and hostile input.

use std::path::{Path, PathBuf};

use crate::support::{self, npz};
use indim::formats::SourceFile;
use indim_graph::Array;

/// The programs in `reductions/`, with the types of inputs and outputs.
const PROGRAMS: [(&str, &[&str], &[&str]); 10] = [
    ("argmax_last", &["float32", "int32"], &["float32", "int32"]),
    ("welford", &["float32"; 3], &["float32"; 3]),
    ("softmax_pair", &["float32"; 2], &["float32"; 2]),
    ("matrices", &["float32"; 4], &["float32"; 4]),
    ("probability", &["float32"], &["float32"]),
    ("windows", &["float32", "int32"], &["float32", "int32"]),
    ("long_windows", &["float32"; 4], &["float32"; 4]),
    ("tangent_of_a_pool", &["float32"; 2], &["float32"]),
    ("second_derivative_of_a_pool", &["float32"; 2], &["float32"]),
    ("within_a_loop", &["float32"], &["float32"]),
];

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/reductions").join(name)
}

fn run(file: &str, text: &str, inputs: &[Array]) -> Result<Vec<Array>, &'static str> {
    let model = support::read(file, text).map_err(|error| error.code())?;
    support::run(&*model, inputs).map_err(|error| error.code())
}

fn is_near(found: &Array, expected: &Array) -> bool {
    let (Ok(found), Ok(expected)) = (found.elements::<f32>(), expected.elements::<f32>()) else {
        return found == expected;
    };
    let is_near = |(a, b): (&f32, &f32)| a == b || (a - b).abs() <= 1e-5 + 1e-4 * b.abs();
    found.len() == expected.len() && found.iter().zip(expected).all(is_near)
}

#[test]
fn programs_of_jax_give_its_results() {
    for (name, inputs, outputs) in PROGRAMS {
        let arrays = |what: &str, types: &[&str]| {
            let types: Vec<String> = types.iter().map(|&name| name.to_owned()).collect();
            npz::read(&path(&format!("{name}.npz")), what, &types)
        };
        let (inputs, expected) = (arrays("input", inputs), arrays("output", outputs));
        let results = ["mlir", "hlo"].map(|ending| {
            let file = format!("{name}.{ending}");
            let text = std::fs::read_to_string(path(&file)).expect("the file is there");
            let found = run(&file, &text, &inputs).unwrap_or_else(|code| panic!("{file}: {code}"));
            assert_eq!(found.len(), expected.len(), "{file}");
            for (found, expected) in found.iter().zip(&expected) {
                assert!(is_near(found, expected), "{file}: {found} {expected}");
            }
            found
        });
        assert!(results[0] == results[1], "{name}: both formats give the same bits");
    }
}

fn stablehlo(reduction: &str, of: &str) -> String {
    format!(
        "func.func @main(%x: tensor<{of}>) -> tensor<f32> {{
           %z = stablehlo.constant dense<0.0> : tensor<f32>
           %r = stablehlo.reduce(%x init: %z) {reduction}
           return %r : tensor<f32>
         }}"
    )
}

#[test]
fn bodies_that_are_not_associative_are_refused() {
    let types = "across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>";
    let short = format!("applies stablehlo.subtract {types}");
    let long = format!(
        "{types} reducer(%a: tensor<f32>, %b: tensor<f32>) {{
           %s = stablehlo.divide %b, %a : tensor<f32>
           stablehlo.return %s : tensor<f32>
         }}"
    );
    for reduction in [short, long] {
        let text = stablehlo(&reduction, "3xf32");
        let error = support::read("r.mlir", &text).map(drop).unwrap_err();
        assert_eq!(error.code(), "unsupported-op");
        let drawn = error.draw(&SourceFile::new("r.mlir", text));
        assert!(drawn.contains("its body is not associative"), "{drawn}");
    }
}

/// Steps of a body whose every application is a node for each.
fn long_body(steps: usize, combine: impl Fn(usize) -> String) -> String {
    (0..steps).map(combine).collect()
}

#[test]
fn hostile_bodies_end_at_the_limit() {
    let steps = long_body(20_000, |step| {
        let before = if step == 0 { "b".to_owned() } else { format!("s{}", step - 1) };
        format!("  s{step} = f32[] multiply({before}, a)\n")
    });
    let text = format!(
        "HloModule m\nbody {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n{steps}  \
         ROOT r = f32[] add(s19999, b)\n}}\nENTRY e {{\n  x = f32[1099511627776] parameter(0)\n  \
         i = f32[] constant(0)\n  ROOT r = f32[] reduce(x, i), dimensions={{0}}, to_apply=body\n}}"
    );
    let model = support::read("r.hlo", &text).unwrap();
    let built = model.build(&support::bounds_of_declared(&*model));
    assert_eq!(built.map(drop).unwrap_err().code(), "limit");
}

#[test]
fn bodies_and_operands_must_agree() {
    let program = |body: &str, reduce: &str| {
        format!(
            "HloModule m\nbody {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  {body}\n}}\n\
             ENTRY e {{\n  x = f32[4] parameter(0)\n  i = f32[] constant(0)\n  {reduce}, to_apply=body\n}}"
        )
    };
    let body = "m = f32[] multiply(a, b)\n  s = f32[] add(a, b)\n  ROOT r = f32[] subtract(s, m)";
    let whole = "ROOT r = f32[] reduce(x, i), dimensions={0}";
    let x = Array::new([4], vec![0.5_f32; 4]).unwrap();
    let code =
        |body: &str, reduce: &str| run("r.hlo", &program(body, reduce), core::slice::from_ref(&x));
    assert_eq!(code(body, whole).unwrap()[0].scalar::<f32>(), Ok(0.9375));
    let two = "ROOT r = (f32[], f32[]) reduce(x, x, i, i), dimensions={0}";
    assert_eq!(code(body, two), Err("wrong-count"));
    assert_eq!(code(body, "ROOT r = f32[] reduce(x, i), dimensions={0,0}"), Err("attribute"));
    assert_eq!(code(body, "ROOT r = f32[4] reduce(x, i), dimensions={0}"), Err("type-mismatch"));
    let bare = "ROOT r = f32[3] reduce-window(x, i), window={size=2x2}";
    assert_eq!(code(body, bare), Err("attribute"));
    let pair = "s = f32[] subtract(a, b)\n  ROOT r = (f32[], f32[]) tuple(s, a)";
    assert_eq!(code(pair, whole), Err("region-type"));
}
