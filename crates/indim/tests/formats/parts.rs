//! Parts of programs: what replaces unsupported nodes, and every cut of a program against the whole.

use indim::formats::{
    LintOptions, LintReport, LoadError, LoadedModel, ProgramPart, ReadOptions, SourceFile,
};
use indim::{Array, ArrayView};

use crate::support::onnx::{FLOAT, Message, Model, function, node, tensor, value};

fn part(from: &[&str], to: &[&str]) -> ReadOptions {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let part = ProgramPart { from: owned(from), to: owned(to) };
    ReadOptions::new().part(part)
}

fn load(content: &[u8], options: &ReadOptions) -> Result<LoadedModel, LoadError> {
    LoadedModel::from_source(SourceFile::new("model", content.to_vec()), options)
}

fn loaded(content: &[u8], from: &[&str], to: &[&str]) -> LoadedModel {
    load(content, &part(from, to)).unwrap_or_else(|error| panic!("{error}"))
}

fn run(model: &LoadedModel, inputs: &[&Array]) -> Vec<Array> {
    let views: Vec<_> = inputs.iter().map(|&array| Some(ArrayView::from(array))).collect();
    model.run(&views).unwrap_or_else(|error| panic!("{error}"))
}

fn floats(shape: &[usize], elements: &[f32]) -> Array {
    Array::new(shape, elements.to_vec()).unwrap()
}

fn names(model: &LoadedModel) -> Vec<&str> {
    model.inputs().iter().map(|input| input.name.as_str()).collect()
}

/// Names and types of the values that an error asks for.
fn requested_values(error: &LoadError) -> Vec<String> {
    let text = |(name, value_type): &(String, _)| format!("{name}: {value_type}");
    error.values_to_provide().iter().map(text).collect()
}

fn onnx(nodes: Vec<Message>, functions: Vec<Message>) -> Vec<u8> {
    let inputs =
        vec![value("x", FLOAT, Some(&["2", "3"])), value("unused", FLOAT, Some(&["2", "3"]))];
    let raw: Vec<u8> = [0.5f32, -1., 2.].into_iter().flat_map(f32::to_le_bytes).collect();
    let initializers = vec![tensor("w", FLOAT, &[3]).bytes(9, raw)];
    let outputs = vec![value("y", FLOAT, None)];
    let model = Model { opset: 17, inputs, initializers, nodes, outputs, functions };
    model.encoded()
}

fn foreign(operands: &[&str], results: &[&str]) -> Message {
    node("com.acme.Foreign", operands, results, &[])
}

#[test]
fn a_refused_model_names_the_last_values_of_foreign_nodes() {
    let nodes = vec![
        node("Add", &["x", "w"], &["a"], &[]),
        foreign(&["a"], &["b"]),
        foreign(&["b"], &["c", "d"]),
        node("Mul", &["c", "x"], &["e"], &[]),
        node("Add", &["e", "d"], &["y"], &[]),
    ];
    let content = onnx(nodes, Vec::new());
    let error = load(&content, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.code(), "unsupported-op");
    assert_eq!(requested_values(&error), ["c: ?[...]", "d: ?[...]"]);
    let text = error.draw();
    assert!(text.contains("note: the program runs if given c: ?[...], d: ?[...]"), "{text}");
    // With one of them the other is still missing.
    assert_eq!(requested_values(&load(&content, &part(&["c"], &[])).unwrap_err()), ["d: ?[...]"]);
    assert_eq!(requested_values(&load(&content, &part(&[], &["e"])).unwrap_err()), ["c: ?[...]"]);

    let model = loaded(&content, &["c", "d"], &[]);
    assert_eq!((names(&model), model.outputs()), (vec!["x", "c", "d"], &["y".to_owned()][..]));
    let x = floats(&[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let (c, d) = (floats(&[2, 3], &[2.; 6]), floats(&[3], &[10., 20., 30.]));
    let results = run(&model, &[&x, &c, &d]);
    assert_eq!(results[0].elements::<f32>().unwrap(), [12., 24., 36., 18., 30., 42.]);
}

#[test]
fn what_a_part_does_not_need_is_no_input_of_it() {
    let nodes = vec![
        node("Add", &["x", "w"], &["a"], &[]),
        foreign(&["a"], &["b"]),
        node("Neg", &["b"], &["y"], &[]),
    ];
    let content = onnx(nodes, Vec::new());
    let behind = loaded(&content, &["b"], &[]);
    assert_eq!(names(&behind), ["b"]);
    let before = loaded(&content, &[], &["a"]);
    assert_eq!((names(&before), before.outputs()), (vec!["x"], &["a".to_owned()][..]));
    // A start that nothing needs stays an input, because the caller gives it.
    assert_eq!(names(&loaded(&content, &["b", "x", "b"], &[])), ["x", "b"]);
    let constant = loaded(&content, &["w"], &["a"]);
    assert_eq!(names(&constant), ["x", "w"]);
    for (from, to) in [(&["q"][..], &[][..]), (&[], &["q"])] {
        let error = load(&content, &part(from, to)).unwrap_err();
        assert_eq!(error.code(), "undefined");
        assert!(error.draw().contains("no value is called q"), "{error}");
    }
}

#[test]
fn a_value_of_a_called_function_has_the_address_of_its_call() {
    let inner = [foreign(&["p"], &["q"]), node("Neg", &["q"], &["r"], &[])];
    let twice = function("Twice", &["p"], &["r"], &inner, &[], 17);
    let call = |operand: &str, result: &str| node("my.Twice", &[operand], &[result], &[]);
    let nodes = vec![call("x", "a"), call("a", "b"), node("Add", &["b", "x"], &["y"], &[])];
    let content = onnx(nodes, vec![twice]);
    let error = load(&content, &ReadOptions::default()).unwrap_err();
    assert_eq!(requested_values(&error), ["b::q: ?[...]"]);
    let x = floats(&[2, 3], &[1.; 6]);
    for (start, expected) in [("b", 2.0), ("b::q", 0.0)] {
        let model = loaded(&content, &[start], &[]);
        assert_eq!(names(&model), ["x", start]);
        assert_eq!(run(&model, &[&x, &x])[0].elements::<f32>().unwrap(), [expected; 6]);
    }
    let second = loaded(&content, &["a::q"], &["a"]);
    assert_eq!(run(&second, &[&x])[0].elements::<f32>().unwrap(), [-1.; 6]);
    for unknown in ["a::w", "c::q", "::", "a::q::q"] {
        assert_eq!(load(&content, &part(&[unknown], &[])).unwrap_err().code(), "undefined");
    }
}

#[test]
fn functions_called_by_functions_have_addresses_within_them() {
    let inner = [foreign(&["p"], &["q"]), node("Neg", &["q"], &["r"], &[])];
    let call = |name: &str, operand: &str, result: &str| {
        node(&format!("my.{name}"), &[operand], &[result], &[])
    };
    let outer = [call("Inner", "s", "t"), node("Abs", &["t"], &["u"], &[])];
    let functions = vec![
        function("Inner", &["p"], &["r"], &inner, &[], 17),
        function("Outer", &["s"], &["u"], &outer, &[], 17),
    ];
    let content = onnx(vec![call("Outer", "x", "y")], functions);
    let error = load(&content, &ReadOptions::default()).unwrap_err();
    assert_eq!(requested_values(&error), ["y::t::q: ?[...]"]);
    let model = loaded(&content, &["y::t::q"], &[]);
    assert_eq!(names(&model), ["y::t::q"]);
    let given = floats(&[2], &[-1.0, 2.0]);
    assert_eq!(run(&model, &[&given])[0].elements::<f32>().unwrap(), [1.0, 2.0]);
}

/// A loop that captures a value of a foreign node needs this node; one with a foreign node in its body is
/// given as a whole.
#[test]
fn bodies_need_what_they_capture() {
    let body = |name: &str, nodes: &[Message], output: &str| {
        let body = nodes.iter().fold(Message::default(), |body, node| body.bytes(1, node));
        let body = body.bytes(2, name).bytes(12, value(output, FLOAT, None));
        Message::default().bytes(1, name).bytes(6, body).int(20, 5)
    };
    let branches = [
        body("then_branch", &[node("Add", &["x", "f"], &["s"], &[])], "s"),
        body("else_branch", &[], "g"),
    ];
    let nodes = vec![
        foreign(&["x"], &["f"]),
        foreign(&["x"], &["g"]),
        node("ReduceSum", &["x"], &["sum"], &[]),
        node("Greater", &["sum", "w1"], &["c"], &[]),
        node("If", &["c"], &["y"], &branches),
    ];
    let with_constant = |nodes: Vec<Message>| {
        let model = Model {
            opset: 17,
            inputs: vec![value("x", FLOAT, Some(&["2", "3"]))],
            initializers: vec![crate::support::onnx::floats("w1", &[1, 1], &[0.0])],
            nodes,
            outputs: vec![value("y", FLOAT, None)],
            functions: Vec::new(),
        };
        model.encoded()
    };
    let error = load(&with_constant(nodes.clone()), &ReadOptions::default()).unwrap_err();
    assert_eq!(requested_values(&error), ["f: ?[...]", "g: ?[...]"]);

    let branches = [
        body("then_branch", &[foreign(&["x"], &["s"])], "s"),
        body("else_branch", &[node("Neg", &["x"], &["n"], &[])], "n"),
    ];
    let mut nodes = nodes[2..4].to_vec();
    nodes.push(node("If", &["c"], &["d"], &branches));
    nodes.push(node("Neg", &["d"], &["y"], &[]));
    let content = with_constant(nodes);
    let error = load(&content, &ReadOptions::default()).unwrap_err();
    assert_eq!(requested_values(&error).len(), 1);
    assert_eq!(error.values_to_provide()[0].0, "d");
    assert_eq!(names(&loaded(&content, &["d"], &[])), ["d"]);
}

#[test]
fn a_model_of_which_nothing_else_remains_names_no_value() {
    let nodes = vec![node("Neg", &["x"], &["a"], &[]), foreign(&["a"], &["y"])];
    let error = load(&onnx(nodes, Vec::new()), &ReadOptions::default()).unwrap_err();
    assert!(error.values_to_provide().is_empty());
    assert!(!error.draw().contains("runs if given"), "{error}");
}

const CUSTOM_CALL: &str = "
func.func private @inner(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @foreign(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>, %k: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %x : tensor<2xf32>
  %1:2 = stablehlo.custom_call @foreign(%0) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %2 = func.call @inner(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = stablehlo.add %1#1, %2 : tensor<2xf32>
  %4 = stablehlo.multiply %3, %1#1 : tensor<2xf32>
  return %4 : tensor<2xf32>
}";

#[test]
fn one_result_of_several_is_given_in_stablehlo() {
    let content = CUSTOM_CALL.as_bytes();
    let error = load(content, &ReadOptions::default()).unwrap_err();
    assert_eq!(requested_values(&error), ["1#1: f32[2]", "2: f32[2]"]);
    let model = loaded(content, &["1#1", "2"], &[]);
    assert_eq!(names(&model), ["1#1", "2"]);
    let (first, second) = (floats(&[2], &[2., 3.]), floats(&[2], &[10., 20.]));
    let results = run(&model, &[&first, &second]);
    assert_eq!(results[0].elements::<f32>().unwrap(), [24., 69.]);
    let before = loaded(content, &[], &["0"]);
    assert_eq!((names(&before), before.outputs()), (vec!["x"], &["0".to_owned()][..]));
}

#[test]
fn parts_of_an_opaque_tuple_are_given_in_hlo() {
    let content = b"HloModule m

ENTRY main {
  x = f32[2]{0} parameter(0)
  unused = f32[2]{0} parameter(1)
  both = (f32[2]{0}, f32[2]{0}) custom-call(x), custom_call_target=\"foreign\"
  first = f32[2]{0} get-tuple-element(both), index=0
  second = f32[2]{0} get-tuple-element(both), index=1
  sum = f32[2]{0} add(first, second)
  ROOT y = f32[2]{0} multiply(sum, x)
}
";
    let error = load(content, &ReadOptions::default()).unwrap_err();
    assert_eq!(requested_values(&error), ["first: f32[2]", "second: f32[2]"]);
    let model = loaded(content, &["second", "first"], &[]);
    assert_eq!(names(&model), ["x", "second", "first"]);
    let [x, first] = [[2., 3.], [10., 20.]].map(|elements| floats(&[2], &elements));
    let results = run(&model, &[&x, &x, &first]);
    assert_eq!(results[0].elements::<f32>().unwrap(), [24., 69.]);
    let error = load(content, &part(&[], &["both"])).unwrap_err();
    assert_eq!(error.code(), "unsupported");
}

fn layer(id: usize, operation: &str, data: &str, inputs: usize) -> String {
    let port = |port: usize| format!("<port id=\"{port}\" precision=\"FP32\"><dim>2</dim></port>");
    let ports: String = (0..inputs).map(port).collect();
    let output = match operation {
        "Result" => String::new(),
        _ => format!("<output>{}</output>", port(inputs)),
    };
    format!(
        "<layer id=\"{id}\" name=\"l{id}\" type=\"{operation}\" version=\"opset1\"><data {data}/>\
         <input>{ports}</input>{output}</layer>\n"
    )
}

fn network(layers: &[(&str, &str, &[usize])]) -> Vec<u8> {
    let (mut text, mut edges) = (String::new(), String::new());
    for (id, (operation, data, sources)) in layers.iter().enumerate() {
        text += &layer(id, operation, data, sources.len());
        for (port, &source) in sources.iter().enumerate() {
            let from = layers[source].2.len();
            edges += &format!(
                "<edge from-layer=\"{source}\" from-port=\"{from}\" to-layer=\"{id}\" to-port=\"{port}\"/>\n"
            );
        }
    }
    let text = format!(
        "<?xml version=\"1.0\"?>\n<net name=\"n\" version=\"11\">\n<layers>\n{text}</layers>\n<edges>\n\
         {edges}</edges>\n</net>\n"
    );
    text.into_bytes()
}

const PARAMETER: (&str, &str, &[usize]) = ("Parameter", "element_type=\"f32\" shape=\"2\"", &[]);

#[test]
fn a_layer_that_is_unsupported_is_given_in_openvino() {
    let content = network(&[
        PARAMETER,
        PARAMETER,
        ("Foreign", "", &[0]),
        ("Multiply", "", &[2, 0]),
        ("Result", "", &[3]),
        ("Negative", "", &[1]),
        ("Result", "", &[5]),
    ]);
    let error = load(&content, &ReadOptions::default()).unwrap_err();
    assert_eq!(requested_values(&error), ["l2: f32[2]"]);
    let model = loaded(&content, &["l2"], &["l3"]);
    assert_eq!((names(&model), model.outputs()), (vec!["l0", "l2"], &["l3".to_owned()][..]));
    let [x, given] = [[2., 3.], [10., 20.]].map(|elements| floats(&[2], &elements));
    assert_eq!(run(&model, &[&x, &given])[0].elements::<f32>().unwrap(), [20., 60.]);
    assert_eq!(names(&loaded(&content, &["l2"], &[])), ["l0", "l1", "l2"]);
    let error = load(&content, &part(&["no"], &[])).unwrap_err();
    assert_eq!(error.code(), "undefined");
}

/// Cuts a program at each of its values, and compares the bits of the whole.
fn check_cuts(content: &[u8], inputs: &[Array]) {
    let given: Vec<&Array> = inputs.iter().collect();
    let whole = loaded(content, &[], &[]);
    let input_names: Vec<String> = names(&whole).into_iter().map(str::to_owned).collect();
    let expected = run(&whole, &given);
    let array = |name: &str| &inputs[input_names.iter().position(|known| known == name).unwrap()];
    let source = SourceFile::new("model", content.to_vec());
    let report = LintReport::new(source, &LintOptions::default()).unwrap();
    let values = report.outline().values.iter();
    let mut count = 0;
    for value in values.filter(|value| !value.is_internal && value.producer.is_some()) {
        let until = loaded(content, &[], &[&value.name]);
        let arrays: Vec<&Array> = names(&until).into_iter().map(array).collect();
        let middle = run(&until, &arrays).remove(0);
        let from = loaded(content, &[&value.name], &[]);
        let given = |name| if name == value.name { &middle } else { array(name) };
        let arrays: Vec<&Array> = names(&from).into_iter().map(given).collect();
        assert_eq!(run(&from, &arrays), expected, "cut at {}", value.name);
        count += 1;
    }
    assert!(count >= 4, "{count} cuts");
}

fn random(shape: &[usize], seed: u32) -> Array {
    let count: usize = shape.iter().product();
    let element = |index: usize| ((index as u32 * 7 + seed) % 13) as f32 / 4. - 1.;
    floats(shape, &(0..count).map(element).collect::<Vec<_>>())
}

#[test]
fn every_cut_of_an_onnx_model_gives_the_same_bits() {
    let nodes = vec![
        node("Add", &["x", "w"], &["a"], &[]),
        node("Softmax", &["a"], &["b"], &[]),
        node("Shape", &["a"], &["s"], &[]),
        node("Expand", &["w", "s"], &["e"], &[]),
        node("Sub", &["b", "e"], &["c"], &[]),
        node("Split", &["c"], &["p", "q"], &[crate::support::onnx::int("axis", 0)]),
        node("Max", &["p", "q", "unused"], &["y"], &[]),
    ];
    check_cuts(&onnx(nodes, Vec::new()), &[random(&[2, 3], 1), random(&[2, 3], 5)]);
}

#[test]
fn every_cut_of_a_stablehlo_program_gives_the_same_bits() {
    let text = "
func.func private @scaled(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return %0, %a : tensor<2xf32>, tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>, %k: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.exponential %x : tensor<2xf32>
  %1:2 = func.call @scaled(%0) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %2 = stablehlo.multiply %1#0, %1#1 : tensor<2xf32>
  %3 = stablehlo.subtract %2, %k : tensor<2xf32>
  return %3, %1#0 : tensor<2xf32>, tensor<2xf32>
}";
    check_cuts(text.as_bytes(), &[random(&[2], 1), random(&[2], 5)]);
}

#[test]
fn every_cut_of_an_hlo_program_gives_the_same_bits() {
    let text = "HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  k = f32[3]{0} parameter(1)
  x = f32[2,3]{1,0} parameter(0), metadata={op_name=\"data\"}
  e = f32[2,3]{1,0} exponential(x)
  wide = f32[2,3]{1,0} broadcast(k), dimensions={1}
  d = f32[2,3]{1,0} subtract(e, wide)
  zero = f32[] constant(0)
  s = f32[3]{0} reduce(d, zero), dimensions={0}, to_apply=add
  ROOT t = (f32[3]{0}, f32[2,3]{1,0}) tuple(s, e)
}
";
    check_cuts_of_tuples(text.as_bytes(), &[random(&[2, 3], 1), random(&[3], 5)]);
}

/// Like [`check_cuts`]; the root is a tuple, at which no part ends.
fn check_cuts_of_tuples(content: &[u8], inputs: &[Array]) {
    let error = load(content, &part(&[], &["t"])).unwrap_err();
    assert_eq!(error.code(), "unsupported");
    check_cuts(content, inputs);
}

#[test]
fn every_cut_of_an_openvino_network_gives_the_same_bits() {
    let content = network(&[
        PARAMETER,
        PARAMETER,
        ("Exp", "", &[0]),
        ("Multiply", "", &[2, 1]),
        ("Subtract", "", &[3, 2]),
        ("Tanh", "", &[4]),
        ("Result", "", &[5]),
        ("Result", "", &[3]),
    ]);
    check_cuts(&content, &[random(&[2], 1), random(&[2], 5)]);
}
