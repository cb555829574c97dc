//! Models compared with the values of another runtime, which here is indim with a mistake.

use indim::formats::{
    Distance, DumpComparison, LintOptions, LintReport, LoadedModel, ProgramPart, ReadOptions,
    SourceFile, Tolerance,
};
use indim::{Array, ArrayView, DType};

use crate::support::ir::Network;
use crate::support::onnx::{FLOAT, Message, Model, int, node, tensor, value};

/// The arrays of a dump by their names.
type Dump = Vec<(String, Array)>;

fn floats(shape: &[usize], elements: &[f32]) -> Array {
    Array::new(shape, elements.to_vec()).unwrap()
}

fn onnx(nodes: Vec<Message>) -> Vec<u8> {
    let inputs = ["x", "k"].map(|name| value(name, FLOAT, Some(&["2", "3"]))).to_vec();
    let raw: Vec<u8> = [0.5f32, -1., 2.].into_iter().flat_map(f32::to_le_bytes).collect();
    let initializers = vec![tensor("w", FLOAT, &[3]).bytes(9, raw)];
    let outputs = vec![value("y", FLOAT, None)];
    Model { opset: 17, inputs, initializers, nodes, outputs, functions: Vec::new() }.encoded()
}

fn inputs() -> Dump {
    let x = floats(&[2, 3], &[0.25, 1., -2., 0.5, 3., -0.75]);
    let k = floats(&[2, 3], &[1.5, -0.5, 2., 0.25, 1., 4.]);
    vec![("x".to_owned(), x), ("k".to_owned(), k)]
}

fn compare(content: &[u8], dump: &Dump) -> DumpComparison {
    let source = SourceFile::new("model", content.to_vec());
    let views: Vec<(String, ArrayView<'_>)> =
        dump.iter().map(|(name, array)| (name.clone(), array.view())).collect();
    DumpComparison::new(&source, &ReadOptions::default(), &views, Tolerance::Exact).unwrap()
}

/// The value, computed from the dump: in place of the values that it gives, and of the inputs.
fn computed(content: &[u8], dump: &Dump, name: &str) -> Array {
    let from = dump.iter().map(|(name, _)| name.clone()).collect();
    let options = ReadOptions::new().part(ProgramPart { from, to: vec![name.to_owned()] });
    let source = SourceFile::new("model", content.to_vec());
    let model = LoadedModel::from_source(source, &options).unwrap();
    let array =
        |name: &str| dump.iter().find(|(known, _)| known == name).map(|(_, array)| array.view());
    let given: Vec<_> = model.inputs().iter().map(|input| array(&input.name)).collect();
    model.run(&given).unwrap().remove(0)
}

/// Names of the values that nodes compute, in their order.
fn values(content: &[u8]) -> Vec<String> {
    let source = SourceFile::new("model", content.to_vec());
    let report = LintReport::new(source, &LintOptions::default()).unwrap();
    let values = report.outline().values.iter();
    let named = values.filter(|value| !value.is_internal && value.producer.is_some());
    named.map(|value| value.name.clone()).collect()
}

/// The dump of a runtime that adds 1 to the value `wrong`, and computes the others as indim does.
fn dump_with(content: &[u8], inputs: Dump, wrong: Option<&str>) -> Dump {
    let mut dump = inputs;
    for name in values(content) {
        if dump.iter().all(|(known, _)| *known != name) {
            let array = computed(content, &dump, &name);
            let array = match wrong == Some(name.as_str()) {
                true => changed(&array),
                false => array,
            };
            dump.push((name, array));
        }
    }
    dump
}

fn changed(array: &Array) -> Array {
    let one = |x: &f32| x + 1.0;
    floats(
        array.shape().sizes(),
        &array.to_vec::<f32>().unwrap().iter().map(one).collect::<Vec<_>>(),
    )
}

/// Names of the values that differ.
fn differing(comparison: &DumpComparison) -> Vec<&str> {
    let values = comparison.compared.iter().filter(|value| value.difference.is_some());
    values.map(|value| value.name.as_str()).collect()
}

/// Every value agrees with itself to the bit, and a mistake shows at the one value that has it.
fn check(content: &[u8], inputs: &Dump, count: usize) {
    let right = compare(content, &dump_with(content, inputs.clone(), None));
    assert_eq!(right.compared.len(), count, "{right:?}");
    let is_same = |distance| matches!(distance, Distance::Ulps(0) | Distance::Difference(0));
    assert!(right.compared.iter().all(|value| value.distance.is_some_and(is_same)), "{right:?}");
    assert_eq!((right.first_difference(), right.unknown.len()), (None, 0));
    let floats = |value: &&indim::formats::ComparedValue| {
        computed(content, inputs, &value.name).dtype() == DType::F32
    };
    for value in right.compared.iter().filter(floats) {
        let wrong = compare(content, &dump_with(content, inputs.clone(), Some(&value.name)));
        assert_eq!(differing(&wrong), [value.name.as_str()]);
        assert_eq!(wrong.first_difference().unwrap().place, value.place);
    }
}

#[test]
fn a_mistake_of_an_onnx_runtime_shows_at_its_node() {
    let nodes = vec![
        node("Add", &["x", "w"], &["a"], &[]),
        node("Softmax", &["a"], &["b"], &[]),
        node("Shape", &["a"], &["s"], &[]),
        node("Expand", &["w", "s"], &["e"], &[]),
        node("Sub", &["b", "e"], &["c"], &[]),
        node("Identity", &["c"], &["same"], &[]),
        node("Split", &["same"], &["p", "q"], &[int("axis", 0)]),
        node("Max", &["p", "q", "k"], &["y"], &[]),
    ];
    let content = onnx(nodes);
    let dump = dump_with(&content, inputs(), None);
    assert_eq!(compare(&content, &dump).compared.len(), dump.len() - 2);
    let wrong = dump_with(&content, inputs(), Some("b"));
    assert_eq!(differing(&compare(&content, &wrong)), ["b"]);
    let wrong = dump_with(&content, inputs(), Some("q"));
    assert_eq!(differing(&compare(&content, &wrong)), ["q"]);
}

#[test]
fn a_mistake_of_a_stablehlo_runtime_shows_at_its_operation() {
    let text = "
func.func @main(%x: tensor<2x3xf32>, %k: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = stablehlo.exponential %x : tensor<2x3xf32>
  %1 = stablehlo.multiply %0, %k : tensor<2x3xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%1 init: %2) applies stablehlo.add across dimensions = [1]
    : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %4 = stablehlo.negate %3 : tensor<2xf32>
  return %4 : tensor<2xf32>
}";
    let inputs = inputs().into_iter().collect();
    check(text.as_bytes(), &inputs, 4);
}

#[test]
fn a_mistake_of_an_xla_runtime_shows_at_its_instruction() {
    let text = "HloModule m

ENTRY main {
  x = f32[2,3]{1,0} parameter(0)
  k = f32[2,3]{1,0} parameter(1)
  e = f32[2,3]{1,0} exponential(x)
  d = f32[2,3]{1,0} subtract(e, k)
  ROOT t = f32[3,2]{1,0} transpose(d), dimensions={1,0}
}
";
    check(text.as_bytes(), &inputs(), 3);
}

#[test]
fn a_mistake_of_openvino_shows_at_its_layer() {
    let mut network = Network::default();
    let shape = "FP32 2 3";
    network.parameter("f32", "2,3", shape);
    network.parameter("f32", "2,3", shape);
    network.add("Exp-1", "", &["0"], &[shape]);
    network.add("Multiply-1", "auto_broadcast=\"numpy\"", &["2", "1"], &[shape]);
    network.add("Negative-1", "", &["3"], &[shape]);
    network.result("4");
    let [(_, x), (_, k)] = <[_; 2]>::try_from(inputs()).unwrap();
    let inputs = vec![("l0_v0".to_owned(), x), ("l1_v0".to_owned(), k)];
    check(network.distinct_text().as_bytes(), &inputs, 3);
}

#[test]
fn foreign_nodes_are_given_and_what_lacks_them_is_named() {
    let foreign =
        |operand: &str, result: &str| node("com.acme.Foreign", &[operand], &[result], &[]);
    let nodes = vec![
        node("Add", &["x", "w"], &["a"], &[]),
        foreign("a", "b"),
        node("Mul", &["b", "k"], &["c"], &[]),
        foreign("c", "d"),
        node("Neg", &["d"], &["y"], &[]),
    ];
    let content = onnx(nodes);
    let mut given = inputs();
    given.push(("b".to_owned(), floats(&[2, 3], &[1., 2., 3., 4., 5., 6.])));
    let a = computed(&content, &inputs(), "a");
    let c = computed(&content, &given, "c");
    let y = floats(&[2, 3], &[0.; 6]);
    given.extend([("a".to_owned(), a), ("c".to_owned(), c), ("y".to_owned(), y)]);
    given.push(("unrelated".to_owned(), Array::from_scalar(1.0f32)));
    let comparison = compare(&content, &given);
    let compared: Vec<&str> = comparison.compared.iter().map(|value| value.name.as_str()).collect();
    assert_eq!((compared, differing(&comparison)), (vec!["a", "c"], vec![]));
    let opaque = &comparison.opaque[0];
    assert_eq!((opaque.name.as_str(), opaque.operator.as_str()), ("b", "com.acme.Foreign"));
    assert_eq!(comparison.lacking, [("y".to_owned(), "d".to_owned())]);
    assert_eq!(comparison.unknown, ["unrelated"]);
    // Without an input, what needs it is not computed.
    given.retain(|(name, _)| name != "x");
    let comparison = compare(&content, &given);
    assert_eq!(comparison.compared.len(), 1);
    assert_eq!(comparison.lacking[0], ("a".to_owned(), "x".to_owned()));
}

#[test]
fn names_of_files_stand_for_those_of_values() {
    let nodes = vec![
        node("Add", &["x", "w"], &["/layer.0/Add_output_0"], &[]),
        node("Neg", &["/layer.0/Add_output_0"], &["/layer.1/Neg:0"], &[]),
        node("Neg", &["/layer.1/Neg:0"], &["y"], &[]),
    ];
    let content = onnx(nodes);
    let dump = dump_with(&content, inputs(), None);
    let spelled = |spell: fn(&str) -> String| -> Dump {
        dump.iter().map(|(name, array)| (spell(name), array.clone())).collect()
    };
    for spell in [
        (|name| name.to_owned()) as fn(&str) -> String,
        |name| name.trim_start_matches('/').to_owned(),
        |name| name.replace(['/', ':'], "_"),
    ] {
        let comparison = compare(&content, &spelled(spell));
        assert_eq!((comparison.compared.len(), comparison.unknown.len()), (3, 0));
        assert_eq!(comparison.compared[1].name, "/layer.1/Neg:0");
    }
}

#[test]
fn an_array_of_another_type_differs_and_is_not_used() {
    let nodes = vec![node("Add", &["x", "w"], &["a"], &[]), node("Neg", &["a"], &["y"], &[])];
    let content = onnx(nodes);
    let mut dump = dump_with(&content, inputs(), None);
    let place = dump.iter().position(|(name, _)| name == "a").unwrap();
    dump[place].1 = floats(&[3], &[0.; 3]);
    let comparison = compare(&content, &dump);
    assert_eq!(differing(&comparison), ["a"]);
    let first = comparison.first_difference().unwrap();
    assert_eq!(first.distance, None);
    let difference = first.difference.as_ref().unwrap();
    assert_eq!((difference.found.as_str(), difference.expected.as_str()), ("f32[2, 3]", "f32[3]"));
}
