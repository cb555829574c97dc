//! OpenVINO networks; expected results computed by hand.

use crate::support::ir::{self, Network};
use crate::support::{bounds, run};
use indim::formats::{DeclaredSize, FormatError, FormatErrorKind, InputBinding};
use indim_graph::Array;
use indim_ops::{ArrayType, DType};

fn floats(shape: &[usize], elements: &[f32]) -> Array {
    Array::new(shape, elements.to_vec()).unwrap()
}

fn numbers(array: &Array) -> &[f32] {
    array.elements::<f32>().expect("floats")
}

/// The single result of a network.
fn result(network: &Network, inputs: &[Array]) -> Vec<f32> {
    let model = network.read().unwrap_or_else(|error| panic!("{error}"));
    let results = run(&*model, inputs).unwrap_or_else(|error| panic!("{error}"));
    numbers(&results[0]).to_vec()
}

/// The error of a network, found once the types of the inputs are known.
fn mistake(network: &Network, inputs: &[Array]) -> FormatError {
    match network.read() {
        Err(error) => error,
        Ok(model) => model.build(&bounds(&*model, inputs)).map(|_| ()).expect_err("a mistake"),
    }
}

/// One operation on parameters of these shapes.
fn operation(name: &str, attributes: &str, shapes: &[&str], result: &str) -> Network {
    let mut network = Network::default();
    let sources: Vec<String> = shapes
        .iter()
        .map(|shape| {
            let port = format!("FP32 {}", shape.replace(',', " "));
            network.parameter("f32", shape, &port).to_string()
        })
        .collect();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let id = network.add(name, attributes, &sources, &[result]);
    network.result(&id.to_string());
    network
}

#[test]
fn the_pdpd_axis_says_where_the_second_operand_lands() {
    let attributes = "auto_broadcast=\"PDPD\" auto_broadcast.auto_broadcast_axis=\"0\"";
    let network = operation("Add-1", attributes, &["2,3", "2"], "FP32 2 3");
    let x = floats(&[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let sums = result(&network, &[x, floats(&[2], &[10., 20.])]);
    assert_eq!(sums, [11., 12., 13., 24., 25., 26.]);
}

#[test]
fn an_absent_pdpd_axis_is_the_documented_one_and_gives_a_remark() {
    let network = operation("Add-1", "auto_broadcast=\"pdpd\"", &["2,3", "3"], "FP32 2 3");
    let x = floats(&[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let inputs = [x, floats(&[3], &[10., 20., 30.])];
    assert_eq!(result(&network, &inputs), [11., 22., 33., 14., 25., 36.]);
    let model = network.read().unwrap();
    let program = model.build(&bounds(&*model, &inputs)).unwrap();
    assert!(program.remarks[0].contains("without an axis"), "{:?}", program.remarks);
}

#[test]
fn unused_attributes_give_a_remark() {
    let remarks = |attributes: &str| {
        let network = operation("Add-1", attributes, &["2,3", "3"], "FP32 2 3");
        let inputs = [floats(&[2, 3], &[0.; 6]), floats(&[3], &[0.; 3])];
        let model = network.read().unwrap();
        model.build(&bounds(&*model, &inputs)).unwrap().remarks
    };
    assert!(remarks("auto_broadcast=\"numpy\"").is_empty());
    let found = remarks("autobroadcast=\"pdpd\" keep_dims=\"true\"");
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("(Add, opset1): the operation has no attribute `autobroadcast`"));
}

#[test]
fn a_layer_of_an_operation_set_that_openvino_lacks_is_refused() {
    for set in ["0", "18", "99"] {
        let network = operation(&format!("Add-{set}"), "", &["2", "2"], "FP32 2");
        let error = mistake(&network, &[]);
        let FormatErrorKind::UnsupportedOperations(operations) = &error.kind else {
            panic!("{error}")
        };
        let reason = format!("of the operation set `opset{set}`");
        assert_eq!(operations[0].reason.as_deref(), Some(&*reason));
    }
    assert!(operation("Add-17", "", &["2", "2"], "FP32 2").read().is_ok());
}

#[test]
fn layers_may_stand_in_any_order_and_constants_at_any_byte() {
    let mut network = Network::default();
    network.constants = vec![0xff; 3];
    let x = network.parameter("f32", "2", "FP32 2");
    let c = network.floats("2", &[10., 20.]);
    let y = network.parameter("f32", "2", "FP32 2");
    let sum = network.add("Add-1", "", &[&x.to_string(), &c.to_string()], &["FP32 2"]);
    let all = network.add("Subtract-1", "", &[&sum.to_string(), &y.to_string()], &["FP32 2"]);
    network.result(&all.to_string());
    let turned = network.arranged(|layers| layers.reverse());
    let inputs = [floats(&[2], &[1., 2.]), floats(&[2], &[5., 7.])];
    assert_eq!(result(&network, &inputs), [6., 15.]);
    // Parameters have the order of the file: now y is first.
    let model = ir::read(&turned, &network.constants).unwrap();
    let [x, y] = inputs;
    assert_eq!(numbers(&run(&*model, &[y, x]).unwrap()[0]), [6., 15.]);
}

#[test]
fn version_10_says_less() {
    let network = operation("ReLU-1", "", &["2"], "FP32 2");
    let text = network.text().replace("version=\"11\"", "version=\"10\"");
    let text = text.replace(" precision=\"FP32\"", "").replace(" names=\"v0\"", "");
    let model = ir::read(&text, &[]).unwrap();
    assert_eq!(model.inputs()[0].name, "l0");
    assert_eq!(numbers(&run(&*model, &[floats(&[2], &[-1., 2.])]).unwrap()[0]), [0., 2.]);
}

#[test]
fn commas_in_names_of_values_are_escaped() {
    let network = operation("ReLU-1", "", &["2"], "FP32 2");
    let text = network.text().replace(" names=\"v0\"", r#" names="a\,b,,other""#);
    let model = ir::read(&text, &[]).unwrap();
    assert_eq!(model.inputs()[0].name, "a,b");
}

#[test]
fn both_versions_of_batch_normalization_take_their_operands_in_their_order() {
    let [data, others] = ["1,2,2", "2"];
    let later = operation(
        "BatchNormInference-5",
        "epsilon=\"0\"",
        &[data, others, others, others, others],
        "FP32 1 2 2",
    );
    let first = operation(
        "BatchNormInference-1",
        "epsilon=\"0\"",
        &[others, others, data, others, others],
        "FP32 1 2 2",
    );
    let x = floats(&[1, 2, 2], &[1., 3., 5., 9.]);
    let [gamma, beta] = [floats(&[2], &[2., 10.]), floats(&[2], &[0.5, 1.])];
    let [mean, variance] = [floats(&[2], &[1., 5.]), floats(&[2], &[4., 16.])];
    // (1 - 1) / 2 * 2 + 0.5, (3 - 1) / 2 * 2 + 0.5, (5 - 5) / 4 * 10 + 1, (9 - 5) / 4 * 10 + 1
    let expected = [0.5, 2.5, 1., 11.];
    let [a, b, c, d] = [&gamma, &beta, &mean, &variance].map(Clone::clone);
    assert_eq!(result(&later, &[x.clone(), a, b, c, d]), expected);
    assert_eq!(result(&first, &[gamma, beta, x, mean, variance]), expected);
}

#[test]
fn shapes_may_be_computed() {
    let mut network = Network::default();
    let x = network.parameter("f32", "?,?,2", "FP32 -1 -1 2").to_string();
    let shape = network.add("ShapeOf-3", "output_type=\"i64\"", &[&x], &["I64 3"]).to_string();
    let indices = network.integers(&[1, 0]).to_string();
    let axis = network.integers(&[0]).to_string();
    let front = network.add("Gather-8", "", &[&shape, &indices, &axis], &["I64 2"]).to_string();
    let minus = network.integers(&[-1]).to_string();
    let target = network.add("Concat-1", "axis=\"0\"", &[&front, &minus], &["I64 3"]).to_string();
    let reshaped =
        network.add("Reshape-1", "special_zero=\"false\"", &[&x, &target], &["FP32 -1 -1 -1"]);
    network.result(&reshaped.to_string());
    let model = network.read().unwrap();
    assert_eq!(
        model.inputs()[0].sizes,
        Some(vec![DeclaredSize::Dynamic, DeclaredSize::Dynamic, DeclaredSize::Known(2)])
    );
    let x = floats(&[1, 3, 2], &[1., 2., 3., 4., 5., 6.]);
    let results = run(&*model, &[x]).unwrap();
    assert_eq!(*results[0].array_type(), ArrayType::new(DType::F32, [3, 1, 2]));
    assert_eq!(numbers(&results[0]), [1., 2., 3., 4., 5., 6.]);
}

#[test]
fn inputs_that_say_shapes_are_given_their_elements() {
    let mut network = Network::default();
    let x = network.parameter("f32", "4", "FP32 4").to_string();
    let target = network.parameter("i64", "2", "I64 2").to_string();
    let reshaped =
        network.add("Reshape-1", "special_zero=\"false\"", &[&x, &target], &["FP32 -1 -1"]);
    network.result(&reshaped.to_string());
    let model = network.read().unwrap();
    let is_shape: Vec<bool> = model.inputs().iter().map(|input| input.is_shape).collect();
    assert_eq!(is_shape, [false, true]);
    let x = floats(&[4], &[1., 2., 3., 4.]);
    let target = Array::new([2], vec![2i64, 2]).unwrap();
    let results = run(&*model, &[x.clone(), target.clone()]).unwrap();
    assert_eq!(*results[0].array_type(), ArrayType::new(DType::F32, [2, 2]));
    let types = [x, target].map(|array| InputBinding::Type(array.array_type().clone()));
    assert_eq!(model.build(&types).unwrap_err().code(), "input-elements");
}

#[test]
fn errors_of_data_dependent_sizes_list_their_operands() {
    let mut network = Network::default();
    let x = network.parameter("f32", "2", "FP32 2").to_string();
    let whole = network.add("Convert-1", "destination_type=\"i64\"", &[&x], &["I64 2"]).to_string();
    let reshaped =
        network.add("Reshape-1", "special_zero=\"false\"", &[&x, &whole], &["FP32 -1 -1"]);
    network.result(&reshaped.to_string());
    let error = network.read().map(|_| ()).unwrap_err();
    assert!(error.is_out_of_scope());
    let FormatErrorKind::DependsOnData { chain } = error.kind else { panic!("{error}") };
    assert_eq!(chain, ["layer 0 `l0` (Parameter, opset1)", "layer 1 `l1` (Convert, opset1)"]);
}

#[test]
fn a_long_chain_of_unknown_layers_ends_with_the_operand() {
    let mut network = Network::default();
    let x = network.parameter("f32", "2", "FP32 2").to_string();
    let mut whole = x.clone();
    for _ in 0..12 {
        let layer = network.add("Convert-1", "destination_type=\"i64\"", &[&whole], &["I64 2"]);
        whole = layer.to_string();
    }
    let reshaped =
        network.add("Reshape-1", "special_zero=\"false\"", &[&x, &whole], &["FP32 -1 -1"]);
    network.result(&reshaped.to_string());
    let error = network.read().map(|_| ()).unwrap_err();
    let FormatErrorKind::DependsOnData { chain } = error.kind else { panic!("{error}") };
    assert_eq!(chain.len(), 8);
    assert_eq!(chain[7], "layer 12 `l12` (Convert, opset1)");
}

#[test]
fn ranges_of_sizes_are_kept() {
    let network = operation("ReLU-1", "", &["1..2,..3,2.."], "FP32 -1 -1 -1");
    let model = network.read().unwrap();
    assert_eq!(model.inputs()[0].declared(), "f32[1..2, 0..3, 2..]");
    let bound = |sizes: [usize; 3]| [InputBinding::Type(ArrayType::new(DType::F32, sizes))];
    assert!(model.build(&bound([2, 0, 9])).is_ok());
    for wrong in [[3, 0, 9], [1, 4, 9], [1, 1, 1]] {
        assert_eq!(model.build(&bound(wrong)).unwrap_err().code(), "input-type");
    }
}

#[test]
fn types_of_ports_are_compared_with_inferred_types() {
    let x = [floats(&[2], &[-1., 2.])];
    for wrong in ["FP32 3", "FP16 2", "FP32 2 1", "FP32"] {
        let network = operation("ReLU-1", "", &["2"], wrong);
        let error = mistake(&network, &x);
        assert_eq!(error.code(), "type-mismatch", "{wrong}");
        let source = ir::source(&network.text(), &[]);
        let line = source.line_and_column(error.location.span.clone().unwrap().start).0;
        assert!(network.text().lines().nth(line - 1).unwrap().contains("port id=\"1\""));
    }
    assert_eq!(result(&operation("ReLU-1", "", &["2"], "FP32 -1"), &x), [0., 2.]);
}

#[test]
fn an_operation_is_of_the_newest_version_that_its_set_has() {
    let x = [floats(&[1], &[1.])];
    // The second version has no attributes; the reader ignores unknown ones.
    for (version, attributes) in
        [("Gelu-2", "approximation_mode=\"TANH\""), ("Gelu-6", ""), ("gelu-7", ""), ("Gelu-16", "")]
    {
        let y = result(&operation(version, attributes, &["1"], "FP32 1"), &x)[0];
        assert!((y - 0.841_344_7).abs() < 1e-6, "{version} {y}");
    }
    let tanh = result(&operation("Gelu-7", "approximation_mode=\"TANH\"", &["1"], "FP32 1"), &x);
    assert!((tanh[0] - 0.841_192).abs() < 1e-6);
    let error = mistake(&operation("Gelu-1", "", &["1"], "FP32 1"), &x);
    let FormatErrorKind::UnsupportedOperations(operations) = &error.kind else { panic!() };
    assert_eq!(operations[0].reason.as_deref(), Some("opset1 has none, it came with opset2"));
}

#[test]
fn one_error_lists_all_unsupported_operations() {
    let mut network = Network::default();
    let x = network.parameter("f32", "2", "FP32 2").to_string();
    let a = network.add("CTCLoss-4", "", &[&x, &x], &["FP32 2"]).to_string();
    let b = network.add("DeformableConvolution-1", "", &[&a, &x], &["FP32"]).to_string();
    let c = network.add("CTCLoss-4", "", &[&b, &x], &["FP32 2"]).to_string();
    let d = network.add("Interpolate-1", "mode=\"area\"", &[&c, &x], &["FP32 2"]).to_string();
    network.result(&d);
    let error = network.read().map(|_| ()).unwrap_err();
    let FormatErrorKind::UnsupportedOperations(operations) = &error.kind else { panic!() };
    let found: Vec<(&str, usize)> =
        operations.iter().map(|operation| (operation.name.as_str(), operation.count)).collect();
    assert_eq!(found, [("CTCLoss", 2), ("DeformableConvolution", 1), ("Interpolate", 1)]);
}

/// An operation, its attributes, the shapes of its operands, and the code of its error.
type Mistake<'t> = (&'t str, &'t str, &'t [&'t str], &'t str);

#[test]
fn mistakes_have_their_codes() {
    let cases: [Mistake<'_>; 7] = [
        ("Clamp-1", "min=\"2\" max=\"1\"", &["2"], "attribute"),
        ("Elu-1", "alpha=\"much\"", &["2"], "attribute"),
        ("Add-1", "auto_broadcast=\"bidirectional\"", &["2", "2"], "attribute"),
        ("Add-1", "", &["2", "3"], "size-mismatch"),
        ("LogicalAnd-1", "", &["2", "2"], "unexpected"),
        ("Add-1", "", &["2"], "wrong-count"),
        ("Convert-1", "destination_type=\"f4e2m1\"", &["2"], "unsupported-type"),
    ];
    for (name, attributes, shapes, code) in cases {
        let sizes = shapes.iter().map(|size| size.parse().unwrap());
        let inputs: Vec<Array> = sizes.map(|size| floats(&[size], &vec![1.; size])).collect();
        let error = mistake(&operation(name, attributes, shapes, "FP32 2"), &inputs);
        assert_eq!(error.code(), code, "{name} {attributes}: {error}");
        assert!(error.location.span.is_some(), "{name}");
    }
}
