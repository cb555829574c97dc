//! Models that run with named inputs.

use indim::Array;
use indim::formats::LoadedModel;

use crate::support::onnx::{FLOAT, Model, node, tensor, value};

/// `y = x - w`, where `w` is an input with a default.
fn difference() -> LoadedModel {
    let vector = |name| value(name, FLOAT, Some(&["2"]));
    let default: Vec<u8> = [0.5f32, 1.5].into_iter().flat_map(f32::to_le_bytes).collect();
    let model = Model {
        opset: 17,
        inputs: vec![vector("x"), vector("w")],
        initializers: vec![tensor("w", FLOAT, &[2]).bytes(9, default)],
        nodes: vec![node("Sub", &["x", "w"], &["y"], &[])],
        outputs: vec![vector("y")],
        functions: Vec::new(),
    };
    LoadedModel::from_bytes("difference.onnx", model.encoded()).unwrap()
}

#[test]
fn inputs_are_named_in_any_order_and_may_have_defaults() {
    let model = difference();
    let (x, w) = (Array::from(vec![3.0f32, 4.0]), Array::from(vec![1.0f32, 1.0]));
    let run = |named: &[(&str, &Array)]| {
        let named: Vec<_> = named.iter().map(|&(name, array)| (name, array.view())).collect();
        model.run_named(&named).map(|results| results[0].elements::<f32>().unwrap().to_vec())
    };
    assert_eq!(run(&[("w", &w), ("x", &x)]).unwrap(), [2.0, 3.0]);
    assert_eq!(run(&[("x", &x)]).unwrap(), [2.5, 2.5]);
    let code = |named: &[(&str, &Array)]| run(named).unwrap_err().code();
    assert_eq!(code(&[("w", &w)]), "missing-input");
    assert_eq!(code(&[("x", &x), ("v", &w)]), "unknown-input");
    assert_eq!(code(&[("x", &x), ("x", &w)]), "duplicate-input");
}
