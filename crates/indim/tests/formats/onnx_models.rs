//! ONNX models as a whole: functions, computed and given shapes, arrays, damaged and hostile files.

use std::io;
use std::sync::Arc;

use crate::support;
use crate::support::onnx::{
    BOOL, FLOAT, INT64, Message, Model, array, float, floats, function, int, list, node, reference,
    tensor, value,
};
use bytes::Bytes;
use indim::formats::{
    Folder, FormatErrorKind, FormatLimits, InputBinding, ReadOptions, SourceFile, read_onnx_tensor,
};
use indim_graph::{Array, NodeKind};
use indim_ops::{ArrayType, DType, c64, f16};

fn named(name: &str) -> Message {
    Message::default().bytes(1, name)
}

/// A model of these nodes, from `x` of `f32[3]` to `y`.
fn model(nodes: Vec<Message>) -> Model {
    Model {
        opset: 18,
        inputs: vec![value("x", FLOAT, Some(&["3"]))],
        nodes,
        outputs: vec![named("y")],
        ..Model::default()
    }
}

fn run(model: &Model, inputs: &[Array]) -> Result<Vec<Array>, &'static str> {
    let model = support::read("test.onnx", model.encoded()).map_err(|error| error.code())?;
    support::run(&*model, inputs).map_err(|error| error.code())
}

fn vector(elements: &[f32]) -> Array {
    Array::new([elements.len()], elements.to_vec()).expect("the elements fill the shape")
}

#[test]
fn functions_are_inlined_with_their_attributes() {
    let factor = node("Constant", &[], &["k"], &[reference("value_float", "factor")]);
    let scaled = [factor, node("Mul", &["a", "k"], &["b"], &[])];
    let half = float("factor", 0.5);
    let model = Model {
        functions: vec![
            function("Scaled", &["a"], &["b"], &scaled, &[half], 18),
            function(
                "Twice",
                &["a", "unused"],
                &["b"],
                &[
                    node("my.Scaled", &["a"], &["c"], &[reference("factor", "outer")]),
                    node("my.Scaled", &["c"], &["b"], &[]),
                ],
                &[],
                18,
            ),
        ],
        ..model(vec![node("my.Twice", &["x"], &["y"], &[float("outer", 8.0)])])
    };
    assert_eq!(run(&model, &[vector(&[1., 2., 3.])]), Ok(vec![vector(&[4., 8., 12.])]));
}

#[test]
fn operators_of_a_function_are_those_of_its_opset() {
    let sums = [node("ReduceSum", &["a"], &["b"], &[support::onnx::ints("axes", &[0])])];
    let old = function("Sums", &["a"], &["b"], &sums, &[], 11);
    let call = vec![node("my.Sums", &["x"], &["y"], &[])];
    let old = Model { functions: vec![old], ..model(call.clone()) };
    assert_eq!(run(&old, &[vector(&[1., 2., 3.])]), Ok(vec![vector(&[6.])]));
    let new = function("Sums", &["a"], &["b"], &sums, &[], 18);
    let new = Model { functions: vec![new], ..model(call) };
    assert_eq!(run(&new, &[vector(&[1., 2., 3.])]), Err("axes-misplaced"));
}

#[test]
fn functions_that_call_themselves_are_named() {
    let calls = |name: &str, called: &str| {
        let nodes = [node(&format!("my.{called}"), &["a"], &["b"], &[])];
        function(name, &["a"], &["b"], &nodes, &[], 18)
    };
    let functions = vec![calls("F", "G"), calls("G", "F")];
    let model = Model { functions, ..model(vec![node("my.F", &["x"], &["y"], &[])]) };
    let error = support::read("test.onnx", model.encoded()).err().expect("an error");
    assert_eq!(error.kind, FormatErrorKind::Cycle { name: "my.F".to_owned() });
    let place = error.location.described.expect("a place");
    assert!(place.contains("in the function my.G"), "{place}");
}

/// Without a limit, calls that double at each step would take longer than the age of the universe, with or
/// without operators.
#[test]
fn calls_that_double_come_to_an_end() {
    for innermost in [vec![], vec![node("Neg", &["a"], &["b"], &[])]] {
        let output = if innermost.is_empty() { "a" } else { "b" };
        let mut functions = vec![function("F0", &["a"], &[output], &innermost, &[], 18)];
        for depth in 1..64 {
            let called = format!("my.F{}", depth - 1);
            let nodes = [node(&called, &["a"], &["c"], &[]), node(&called, &["c"], &["b"], &[])];
            let name = format!("F{depth}");
            functions.push(function(&name, &["a"], &["b"], &nodes, &[], 18));
        }
        let model = Model { functions, ..model(vec![node("my.F63", &["x"], &["y"], &[])]) };
        assert_eq!(run(&model, &[vector(&[0.; 3])]), Err("limit"));
    }
}

#[test]
fn shapes_that_are_computed_become_constants() {
    // `Reshape(x, Concat(Gather(Shape(x), 1), [-1]))`: the pattern by which exporters transpose sizes.
    let nodes = vec![
        node("Shape", &["x"], &["s"], &[]),
        node("Gather", &["s", "one"], &["g"], &[int("axis", 0)]),
        node("Unsqueeze", &["g", "zero"], &["u"], &[]),
        node("Concat", &["u", "open"], &["t"], &[int("axis", 0)]),
        node("Reshape", &["x", "t"], &["y"], &[]),
    ];
    let model = Model {
        inputs: vec![value("x", FLOAT, Some(&["N", "M"]))],
        initializers: vec![
            tensor("one", INT64, &[]).packed(7, &[1]),
            list("zero", &[0]),
            list("open", &[-1]),
        ],
        ..model(nodes)
    };
    let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let results = run(&model, &[x]).unwrap();
    assert_eq!(results[0].shape().to_vec(), [3, 2]);
    // The same model for other sizes.
    let x = Array::new([1, 4], vec![1.0f32; 4]).unwrap();
    assert_eq!(run(&model, &[x]).unwrap()[0].shape().to_vec(), [4, 1]);
}

#[test]
fn sizes_are_scaled_as_floats() {
    let nodes = vec![
        node("Shape", &["x"], &["s"], &[]),
        node("Cast", &["s"], &["f"], &[int("to", FLOAT)]),
        node("Mul", &["f", "scales"], &["g"], &[]),
        node("Floor", &["g"], &["h"], &[]),
        node("Cast", &["h"], &["t"], &[int("to", INT64)]),
        node("ConstantOfShape", &["t"], &["y"], &[]),
    ];
    let scales = floats("scales", &[2], &[1.5, 2.0]);
    let inputs = vec![value("x", FLOAT, Some(&["N", "M"]))];
    let model = Model { inputs, initializers: vec![scales], ..model(nodes) };
    let x = Array::new([3, 1], vec![0.0f32; 3]).unwrap();
    assert_eq!(run(&model, &[x]).unwrap()[0].shape().to_vec(), [4, 2]);
}

#[test]
fn programs_of_a_model_share_its_arrays() {
    let model = Model {
        opset: 18,
        inputs: vec![value("x", FLOAT, Some(&["n", "3"]))],
        initializers: vec![floats("w", &[3], &[1.0, 2.0, 3.0])],
        nodes: vec![node("Add", &["x", "w"], &["y"], &[])],
        outputs: vec![named("y")],
        ..Model::default()
    };
    let model = support::read("test.onnx", model.encoded()).expect("the model is correct");
    let address = |rows: usize| {
        let bound = InputBinding::Type(ArrayType::new(DType::F32, [rows, 3]));
        let program = model.build(&[bound]).expect("the input fits");
        let array = program.graph.iter().find_map(|(_, node)| match &node.kind {
            NodeKind::Constant(array) => Some(array.clone()),
            _ => None,
        });
        let array = array.expect("the program has a constant");
        array.elements::<f32>().expect("the constant is f32").as_ptr().addr()
    };
    assert_eq!(address(1), address(5));
}

#[test]
fn inputs_that_say_shapes_are_bound_by_their_elements() {
    let nodes = vec![
        node("Add", &["sizes", "sizes"], &["t"], &[]),
        node("Expand", &["x", "t"], &["y"], &[]),
    ];
    let inputs = vec![value("x", FLOAT, Some(&["1"])), value("sizes", INT64, Some(&["1"]))];
    let model = Model { inputs, ..model(nodes) };
    let model = support::read("test.onnx", model.encoded()).unwrap();
    assert_eq!(model.inputs().iter().map(|i| i.is_shape).collect::<Vec<_>>(), [false, true]);
    let one = ArrayType::new(DType::F32, [1]);
    let sizes = ArrayType::new(DType::I64, [1]);
    let error =
        model.build(&[InputBinding::Type(one.clone()), InputBinding::Type(sizes)]).unwrap_err();
    assert_eq!(error.code(), "input-elements");
    let sizes = Array::new([1], vec![2i64]).unwrap();
    let program = model.build(&[InputBinding::Type(one), InputBinding::Elements(sizes)]).unwrap();
    let output = program.graph.outputs()[0];
    assert_eq!(program.graph[output].array_type.to_string(), "f32[4]");
    assert_eq!(program.remarks.len(), 1);
}

#[test]
fn errors_of_data_dependent_sizes_list_their_operands() {
    let nodes = vec![
        node("Cast", &["x"], &["whole"], &[int("to", INT64)]),
        node("Abs", &["whole"], &["sizes"], &[]),
        node("Expand", &["x", "sizes"], &["y"], &[]),
    ];
    let model = support::read("test.onnx", model(nodes).encoded()).unwrap();
    let error = model.build(&[InputBinding::Type(ArrayType::new(DType::F32, [3]))]).unwrap_err();
    let FormatErrorKind::DependsOnData { chain } = error.kind else { panic!("{error}") };
    assert_eq!(chain, ["x", "whole, made by Cast", "sizes, made by Abs"]);
}

#[test]
fn sizes_of_one_name_are_equal() {
    let inputs = vec![value("x", FLOAT, Some(&["N"])), value("v", FLOAT, Some(&["N"]))];
    let model = Model { inputs, ..model(vec![node("Add", &["x", "v"], &["y"], &[])]) };
    assert!(run(&model, &[vector(&[1.]), vector(&[2.])]).is_ok());
    assert_eq!(run(&model, &[vector(&[1., 1.]), vector(&[2.])]), Err("input-type"));
}

#[test]
fn defaults_of_inputs_and_operands_that_are_left_out() {
    // Required inputs come first, independent of their order in the file.
    let inputs = vec![value("limit", FLOAT, Some(&[])), value("x", FLOAT, Some(&["3"]))];
    let clip = node("Clip", &["x", "", "limit"], &["y"], &[]);
    let limit = floats("limit", &[], &[1.0]);
    let model = Model { inputs, initializers: vec![limit], ..model(vec![clip]) };
    let model = support::read("test.onnx", model.encoded()).unwrap();
    assert!(model.inputs()[1].has_default && !model.inputs()[0].has_default);
    let x = vector(&[-5., 0., 5.]);
    let program =
        model.build(&[InputBinding::Type(x.array_type().clone()), InputBinding::Default]).unwrap();
    let clipped = indim_graph::evaluate(&program.graph, core::slice::from_ref(&x)).unwrap();
    assert_eq!(clipped, [vector(&[-5., 0., 1.])]);
    let given = support::run(&*model, &[x, Array::from_scalar(-1.0f32)]).unwrap();
    assert_eq!(given, [vector(&[-5., -1., -1.])]);
}

#[test]
fn elements_are_raw_or_in_the_field_of_their_type() {
    let read = |tensor: Message| {
        let source = SourceFile::new("x.pb", tensor.as_ref().to_vec());
        read_onnx_tensor(&source, &FormatLimits::default())
    };
    let of = |tensor: Message| read(tensor).map(|(_, array)| array).map_err(|error| error.code());
    assert_eq!(of(floats("x", &[2], &[1., 2.])), Ok(vector(&[1., 2.])));
    assert_eq!(of(tensor("x", FLOAT, &[2]).float(4, 1.0).float(4, 2.0)), Ok(vector(&[1., 2.])));
    assert_eq!(of(tensor("x", 11, &[]).double(10, 0.5)), Ok(Array::from_scalar(0.5f64)));
    assert_eq!(
        of(tensor("x", 3, &[2]).packed(5, &[-1, 7])),
        Ok(Array::new([2], vec![-1i8, 7]).unwrap())
    );
    assert_eq!(of(tensor("x", BOOL, &[1]).ints(5, &[1])), Ok(Array::new([1], vec![true]).unwrap()));
    assert_eq!(of(tensor("x", 12, &[]).int(11, 7)), Ok(Array::from_scalar(7u32)));
    let halves = Array::new([1], vec![f16::from_bits(0x3c00)]).unwrap();
    assert_eq!(of(tensor("x", 10, &[1]).packed(5, &[0x3c00])), Ok(halves));
    let complex = tensor("x", 14, &[]).float(4, 1.0).float(4, -2.0);
    assert_eq!(of(complex), Ok(Array::from_scalar(c64::new(1.0, -2.0))));
    // Elements out of range, too few, too many, negative, or of an unsupported type.
    assert_eq!(of(tensor("x", 3, &[1]).packed(5, &[300])), Err("bad-element"));
    assert_eq!(of(tensor("x", FLOAT, &[2]).float(4, 1.0)), Err("wrong-element-count"));
    assert_eq!(of(tensor("x", FLOAT, &[1 << 62]).bytes(9, [0; 8])), Err("wrong-element-count"));
    assert_eq!(of(tensor("x", FLOAT, &[i64::MAX, i64::MAX])), Err("wrong-element-count"));
    assert_eq!(of(tensor("x", FLOAT, &[-1]).bytes(9, [0; 4])), Err("attribute"));
    assert_eq!(of(tensor("x", FLOAT, &[1; 2000]).bytes(9, [0; 4])), Err("limit"));
    assert_eq!(of(tensor("x", 8, &[1])), Err("unsupported-type"));
    assert_eq!(of(tensor("x", 23, &[2]).bytes(9, [0])), Err("unsupported-type"));
    assert_eq!(read(floats("weights", &[1], &[0.])).unwrap().0, "weights");
}

/// A folder with one file of 12 bytes.
struct OneFile;

impl Folder for OneFile {
    fn read(&self, name: &str) -> io::Result<Bytes> {
        let bytes = [1.0f32, 2.0, 3.0].map(f32::to_le_bytes).concat();
        match name {
            "w.bin" => Ok(Bytes::from(bytes)),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    }
}

#[test]
fn elements_in_an_external_file() {
    let read = |location: &str, offset: &str, length: &str| {
        let entry = |key: &str, value: &str| Message::default().bytes(1, key).bytes(2, value);
        let tensor = tensor("x", FLOAT, &[2]).int(14, 1).bytes(13, entry("location", location));
        let tensor = tensor.bytes(13, entry("offset", offset)).bytes(13, entry("length", length));
        let source =
            SourceFile::new("x.pb", tensor.as_ref().to_vec()).with_folder(Arc::new(OneFile));
        let read = read_onnx_tensor(&source, &FormatLimits::default());
        read.map(|(_, array)| array).map_err(|error| error.code())
    };
    assert_eq!(read("w.bin", "4", "8"), Ok(vector(&[2., 3.])));
    assert_eq!(read("w.bin", "8", "8"), Err("file-beside"));
    assert_eq!(read("w.bin", "18446744073709551615", "8"), Err("file-beside"));
    assert_eq!(read("w.bin", "-4", "8"), Err("attribute"));
    assert_eq!(read("w.bin", "0", "12"), Err("wrong-element-count"));
    assert_eq!(read("v.bin", "0", "8"), Err("file-beside"));
}

#[test]
fn one_error_lists_all_unsupported_operations() {
    let nodes = vec![
        node("NonZero", &["x", "x"], &["a"], &[]),
        node("my.Thing", &["a"], &["b"], &[]),
        node("NonZero", &["b", "x"], &["c"], &[]),
        node("Frobnicate", &["c"], &["y"], &[]),
    ];
    let error = support::read("test.onnx", model(nodes).encoded()).err().expect("an error");
    let FormatErrorKind::UnsupportedOperations(found) = &error.kind else { panic!("{error}") };
    let names: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.count)).collect();
    assert_eq!(names, [("NonZero", 2), ("my.Thing", 1), ("Frobnicate", 1)]);
    assert_eq!(error.location.described.as_deref(), Some("node 0 (NonZero, opset 18)"));
}

#[test]
fn errors_of_names() {
    let of = |nodes| support::read("test.onnx", model(nodes).encoded()).err().map(|e| e.code());
    let neg = |from: &str, to: &str| node("Neg", &[from], &[to], &[]);
    assert_eq!(of(vec![neg("x", "y")]), None);
    assert_eq!(of(vec![neg("z", "y"), neg("x", "z")]), Some("undefined"));
    assert_eq!(of(vec![neg("x", "y"), neg("x", "y")]), Some("duplicate"));
    assert_eq!(of(vec![neg("x", "x")]), Some("duplicate"));
    assert_eq!(of(vec![neg("x", "z")]), Some("undefined"));
    assert_eq!(of(vec![node("Neg", &["x", "x"], &["y"], &[])]), Some("wrong-count"));
}

#[test]
fn unsupported_element_types_are_refused_while_reading() {
    let identity = || model(vec![node("Identity", &["x"], &["y"], &[])]);
    let read = |model: Model| support::read("test.onnx", model.encoded()).err();
    let texts = Model { initializers: vec![tensor("texts", 8, &[1])], ..identity() };
    assert_eq!(read(texts).map(|error| error.code()), Some("unsupported-type"));
    let text = array("value", &tensor("", 8, &[1]));
    let constant = node("Constant", &[], &["texts"], &[text]);
    let nodes = vec![constant, node("Identity", &["texts"], &["y"], &[])];
    let error = read(Model { nodes, ..identity() }).expect("an error");
    assert!(error.is_out_of_scope(), "{error}");
    let small = Model { inputs: vec![value("x", 23, None)], ..identity() };
    assert_eq!(read(small).map(|error| error.code()), Some("unsupported-type"));
}

#[test]
fn truth_values_are_bytes_to_a_cast_of_bits() {
    let cast = |to: i64| Model {
        opset: 26,
        inputs: vec![value("x", BOOL, None)],
        ..model(vec![node("BitCast", &["x"], &["y"], &[int("to", to)])])
    };
    let x = [Array::new([2], vec![true, false]).unwrap()];
    assert_eq!(run(&cast(2), &x), Ok(vec![Array::new([2], vec![1u8, 0]).unwrap()]));
    assert_eq!(run(&cast(BOOL), &x), Ok(x.to_vec()));
    assert_eq!(run(&cast(INT64), &x), Err("element-type-not-allowed"));
}

/// A model with many features.
fn various() -> Vec<u8> {
    let splat = array("value", &tensor("", FLOAT, &[1]).float(4, 2.0));
    let nodes = vec![
        node("Shape", &["x"], &["s"], &[]),
        node("ConstantOfShape", &["s"], &["c"], &[splat]),
        node("my.Half", &["c"], &["h"], &[]),
        node("Concat", &["x", "h", "w"], &["j"], &[int("axis", -1)]),
        node("ReduceMax", &["j", "zero"], &["y"], &[int("keepdims", 0)]),
    ];
    let half = [
        node("Constant", &[], &["k"], &[float("value_float", 0.5)]),
        node("Mul", &["a", "k"], &["b"], &[]),
    ];
    Model {
        initializers: vec![floats("w", &[2], &[1., 9.]), list("zero", &[0])],
        functions: vec![function("Half", &["a"], &["b"], &half, &[], 18)],
        ..model(nodes)
    }
    .encoded()
}

/// Reads and builds the model; any result is accepted.
fn try_all(bytes: &[u8]) {
    let source = SourceFile::new("test.onnx", bytes.to_vec());
    let format = indim::formats::ModelFormat::Onnx;
    let Ok(model) = indim::formats::read_as(format, &source, &ReadOptions::default()) else {
        return;
    };
    let bound = |input: &indim::formats::ModelInput| match input.array_type() {
        Some(array_type) => InputBinding::Type(array_type),
        None => InputBinding::Type(ArrayType::new(DType::F32, [3])),
    };
    let bounds: Vec<InputBinding> = model.inputs().iter().map(bound).collect();
    if let Err(error) = model.build(&bounds) {
        assert!(!error.draw(&source).is_empty());
    }
}

#[test]
fn damaged_models_give_errors() {
    let bytes = various();
    let model = support::read("test.onnx", &bytes).unwrap();
    assert_eq!(
        support::run(&*model, &[vector(&[3., 4., 5.])]),
        Ok(vec![Array::from_scalar(9.0f32)])
    );
    (0..bytes.len()).for_each(|length| try_all(&bytes[..length]));
    for place in 0..bytes.len() {
        for change in [1, 2, 8, 0x7f, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[place] ^= change;
            try_all(&damaged);
        }
    }
}

/// Tiny messages that would take hundreds of bytes each, and nested graphs.
#[test]
fn many_small_messages_and_deep_ones_end_quickly() {
    let nodes = (0..600_000).fold(Message::default(), |graph, _| graph.bytes(1, []));
    let model = Message::default().int(1, 10).bytes(7, nodes);
    let error = support::read("test.onnx", &model).err().expect("an error");
    assert_eq!(error.code(), "limit");
    let mut deep = Message::default();
    for _ in 0..2000 {
        let attribute = Message::default().bytes(1, "body").bytes(6, deep).int(20, 5);
        deep = Message::default().bytes(1, node("Loop", &["", ""], &["y"], &[attribute]));
    }
    // An output depends on the outermost loop.
    let deep = deep.bytes(12, named("y"));
    let model =
        Message::default().int(1, 10).bytes(8, Message::default().int(2, 18)).bytes(7, deep);
    let error = support::read("test.onnx", &model).err().expect("an error");
    assert_eq!(error.code(), "limit");
}
