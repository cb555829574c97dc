//! Shapes that are computed from data: the stages that they end, against values written here and ONNX
//! Runtime.

use crate::support::ir::{self, Network};
use crate::support::onnx::{
    FLOAT, INT64, Message, Model, StoredModel, floats as tensor, function, int, list, node,
    run_in_onnx_runtime, text, value,
};
use crate::support::random::Random;
use indim::ArrayView;
use indim::formats::{ProgramPart, ReadOptions, SourceFile, StagedModel};
use indim_graph::Array;

fn floats(shape: &[usize], elements: &[f32]) -> Array {
    Array::new(shape, elements.to_vec()).unwrap()
}

fn staged(model: &Model) -> StagedModel {
    let source = SourceFile::new("x.onnx", model.encoded());
    let model = StagedModel::from_source(source, &ReadOptions::default());
    model.unwrap_or_else(|error| panic!("{error}"))
}

fn run(model: &StagedModel, x: &Array) -> Result<Vec<Array>, &'static str> {
    model.run(&[Some(ArrayView::from(x))]).map_err(|error| error.code())
}

/// A model whose input `a` of `rows` rows is data. `n` is the largest element as an integer, `list` the
/// list of it, `pair` the list [2, n].
fn model(rows: &str, nodes: Vec<Message>, element: i64, rank: usize) -> Model {
    let sizes: Vec<String> = (0..rank).map(|axis| format!("y{axis}")).collect();
    let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
    let mut all = vec![
        node("ReduceMax", &["a"], &["max"], &[int("keepdims", 0)]),
        node("Cast", &["max"], &["n"], &[int("to", INT64)]),
        node("Reshape", &["n", "one"], &["list"], &[]),
        node("Concat", &["two", "list"], &["pair"], &[int("axis", 0)]),
    ];
    all.extend(nodes);
    Model {
        opset: 13,
        inputs: vec![value("a", FLOAT, Some(&[rows, "3"]))],
        initializers: vec![
            list("one", &[1]),
            list("two", &[2]),
            list("zero", &[0]),
            list("zeros", &[0, 0]),
            tensor("row", &[1, 3], &[1.0, 2.0, 3.0]),
        ],
        nodes: all,
        outputs: vec![value("y", element, Some(&sizes))],
        ..Model::default()
    }
}

/// For each operator with an operand that determines a shape: a node that computes it from data, and the
/// type of its result.
fn nodes_with_shapes_from_data() -> Vec<(&'static str, Vec<Message>, i64, usize)> {
    let constant = |name: &str, number: i64| {
        let tensor = Message::default().int(2, INT64).packed(7, &[number]);
        let value = Message::default().bytes(1, "value").bytes(5, tensor).int(20, 4);
        node("Constant", &[], &[name], &[value])
    };
    let of = |operator: &str, inputs: &[&str], attributes: &[Message]| {
        node(operator, inputs, &["y"], attributes)
    };
    let cast = node("Cast", &["list"], &["scale"], &[int("to", FLOAT)]);
    let scales = node("Concat", &["unit", "scale"], &["scales"], &[int("axis", 0)]);
    let unit = node("Cast", &["one"], &["unit"], &[int("to", FLOAT)]);
    vec![
        ("expand", vec![of("Expand", &["max", "pair"], &[])], FLOAT, 2),
        ("tile", vec![of("Tile", &["row", "pair"], &[])], FLOAT, 2),
        ("filled", vec![of("ConstantOfShape", &["pair"], &[])], FLOAT, 2),
        (
            "range",
            vec![
                constant("first", 0),
                constant("step", 1),
                of("Range", &["first", "n", "step"], &[]),
            ],
            INT64,
            1,
        ),
        ("slice", vec![of("Slice", &["row", "zero", "list", "one"], &[])], FLOAT, 2),
        (
            "pad",
            {
                let pads = node("Concat", &["zeros", "pair"], &["pads"], &[int("axis", 0)]);
                vec![pads, of("Pad", &["row", "pads"], &[])]
            },
            FLOAT,
            2,
        ),
        (
            "resize",
            {
                let sizes = [text("mode", "nearest")];
                vec![unit, cast, scales, of("Resize", &["row", "", "scales"], &sizes)]
            },
            FLOAT,
            2,
        ),
        (
            "top",
            {
                let flat = node("Reshape", &["a", "minus"], &["flat"], &[]);
                let minus = node("Neg", &["one"], &["minus"], &[]);
                let top = node("TopK", &["flat", "list"], &["y", "at"], &[]);
                vec![minus, flat, top]
            },
            FLOAT,
            1,
        ),
        (
            "reshape",
            {
                let wide = node("Expand", &["row", "pair_of_three"], &["wide"], &[]);
                let three = node("Concat", &["list", "one", "one"], &["ones"], &[int("axis", 0)]);
                let shape = node("Mul", &["ones", "three"], &["threes"], &[]);
                let of_three =
                    node("Concat", &["list", "three_list"], &["pair_of_three"], &[int("axis", 0)]);
                let list = node("Slice", &["threes", "one", "two"], &["three_list"], &[]);
                let reshaped = of("Reshape", &["wide", "threes_first"], &[]);
                let first =
                    node("Concat", &["three_list", "list"], &["threes_first"], &[int("axis", 0)]);
                vec![three_of(), three, shape, list, of_three, wide, first, reshaped]
            },
            FLOAT,
            2,
        ),
    ]
}

fn three_of() -> Message {
    node("Add", &["one", "two"], &["three"], &[])
}

/// The largest element is a number from 1 to 3.
fn data(random: &mut Random, rows: usize) -> Array {
    let mut elements: Vec<f32> = (0..rows * 3).map(|_| random.below(3) as f32 + 1.0).collect();
    elements[random.below(rows * 3)] += 0.25;
    floats(&[rows, 3], &elements)
}

#[test]
fn onnx_runtime_computes_the_same_shapes() {
    let random = &mut Random(43);
    let mut models = Vec::new();
    for (name, nodes, element, rank) in nodes_with_shapes_from_data() {
        // A long input with known sizes, and one whose sizes are open.
        for rows in ["N", "500"] {
            let model = model(rows, nodes.clone(), element, rank);
            let staged = staged(&model);
            assert!(staged.has_stages(), "{name}");
            let is_shape: Vec<bool> = staged.inputs().iter().map(|it| it.is_shape).collect();
            assert_eq!(is_shape, [false], "{name}");
            for rows in if rows == "N" { [2, 700] } else { [500; 2] } {
                let x = data(random, rows);
                let outputs = run(&staged, &x).unwrap_or_else(|code| panic!("{name}: {code}"));
                let (content, inputs) = (model.encoded(), vec![x]);
                let name = format!("{name} {rows}");
                models.push(StoredModel { name, content, inputs, outputs });
            }
        }
    }
    run_in_onnx_runtime("shapes", models);
}

#[test]
fn shapes_from_shapes_from_data_take_a_stage_each() {
    let nodes = vec![
        node("Expand", &["max", "pair"], &["wide"], &[]),
        node("ReduceSum", &["wide"], &["sum"], &[int("keepdims", 0)]),
        node("Cast", &["sum"], &["m"], &[int("to", INT64)]),
        node("Reshape", &["m", "one"], &["shape"], &[]),
        node("Expand", &["max", "shape"], &["longer"], &[]),
        node("NonZero", &["longer"], &["y"], &[]),
    ];
    let staged = staged(&model("N", nodes, INT64, 2));
    let x = floats(&[1, 3], &[1.0, 2.0, 0.0]);
    // 2 · (2 · 2) = 8 positions.
    let expected = Array::new([1, 8], (0..8i64).collect::<Vec<_>>()).unwrap();
    assert_eq!(run(&staged, &x), Ok(vec![expected]));
    assert_eq!(staged.whole().unwrap_err().code(), "unsupported-op");
}

/// A short list of integers is a shape, which is read before the program is built: no stage is needed.
#[test]
fn inputs_that_can_be_shapes_need_no_stage() {
    let mut model = Model {
        opset: 13,
        inputs: vec![value("a", INT64, Some(&["2"]))],
        initializers: vec![list("one", &[1]), tensor("x", &[], &[5.0])],
        nodes: vec![
            node("Add", &["a", "one"], &["shape"], &[]),
            node("Expand", &["x", "shape"], &["y"], &[]),
        ],
        outputs: vec![value("y", FLOAT, Some(&["y0", "y1"]))],
        ..Model::default()
    };
    let shape = Array::new([2], vec![0i64, 1]).unwrap();
    for sizes in ["2", "N"] {
        model.inputs = vec![value("a", INT64, Some(&[sizes]))];
        let staged = staged(&model);
        assert!(!staged.has_stages() && staged.inputs()[0].is_shape);
        assert_eq!(run(&staged, &shape), Ok(vec![floats(&[1, 2], &[5.0, 5.0])]));
    }
    // A maximum of many integers is no shape.
    model.nodes[0] = node("ReduceMax", &["a"], &["shape"], &[]);
    model.inputs = vec![value("a", INT64, Some(&["N"]))];
    model.outputs = vec![value("y", FLOAT, Some(&["y0"]))];
    let staged = staged(&model);
    assert!(staged.has_stages() && !staged.last().inputs().iter().any(|it| it.name == "a"));
    let labels = Array::new([3000], (0..3000).map(|at| at % 3).collect::<Vec<i64>>()).unwrap();
    assert_eq!(run(&staged, &labels), Ok(vec![floats(&[2], &[5.0, 5.0])]));
}

/// A body that captures a size from data, and the trip count of a loop that stacks results.
#[test]
fn bodies_and_trip_counts_read_sizes_of_earlier_stages() {
    let graph = |nodes: &[Message], inputs: &[Message], outputs: &[Message]| {
        let graph = nodes.iter().fold(Message::default(), |graph, node| graph.bytes(1, node));
        let graph = inputs.iter().fold(graph.bytes(2, "g"), |graph, input| graph.bytes(11, input));
        outputs.iter().fold(graph, |graph, output| graph.bytes(12, output))
    };
    let attribute =
        |name: &str, graph: &Message| Message::default().bytes(1, name).bytes(6, graph).int(20, 5);
    let inputs = [value("i", INT64, Some(&[])), value("go", 9, Some(&[]))];
    let body = graph(
        &[
            node("Identity", &["go"], &["on"], &[]),
            node("Expand", &["max", "pair"], &["wide"], &[]),
        ],
        &inputs,
        &[value("on", 9, Some(&[])), value("wide", FLOAT, None)],
    );
    let looped = node("Loop", &["n", ""], &["y"], &[attribute("body", &body)]);
    let model = model("N", vec![looped], FLOAT, 3);
    let staged = staged(&model);
    assert!(staged.has_stages());
    let random = &mut Random(44);
    let mut models = Vec::new();
    for rows in [1, 2, 9] {
        let x = data(random, rows);
        let outputs = run(&staged, &x).unwrap_or_else(|code| panic!("{code}"));
        let (content, inputs) = (model.encoded(), vec![x]);
        models.push(StoredModel { name: format!("loop {rows}"), content, inputs, outputs });
    }
    run_in_onnx_runtime("loops", models);
}

#[test]
fn nodes_of_called_functions_end_stages() {
    let inner = [
        node("NonZero", &["p"], &["q"], &[]),
        node("Transpose", &["q"], &["rows"], &[]),
        node("GatherND", &["p", "rows"], &["r"], &[]),
    ];
    let call = |operand: &str, result: &str| node("my.Chosen", &[operand], &[result], &[]);
    let model = Model {
        opset: 13,
        inputs: vec![value("a", FLOAT, Some(&["N"]))],
        nodes: vec![call("a", "b"), node("Sub", &["b", "least"], &["c"], &[]), call("c", "y")],
        initializers: vec![tensor("least", &[1], &[1.0])],
        outputs: vec![value("y", FLOAT, Some(&["M"]))],
        functions: vec![function("Chosen", &["p"], &["r"], &inner, &[], 13)],
    };
    let staged = staged(&model);
    let x = floats(&[5], &[0., 1., 3., 0., 2.]);
    assert_eq!(run(&staged, &x), Ok(vec![floats(&[2], &[2., 1.])]));
    // A part that ends within the second call.
    let part = ProgramPart { from: Vec::new(), to: vec!["y::rows".to_owned()] };
    let source = SourceFile::new("x.onnx", model.encoded());
    let part = StagedModel::from_source(source, &ReadOptions::default().part(part)).unwrap();
    assert_eq!(run(&part, &x), Ok(vec![Array::new([2, 1], vec![1i64, 2]).unwrap()]));
}

#[test]
fn openvino_networks_take_shapes_from_data() {
    let mut network = Network::default();
    network.parameter("f32", "?,3", "FP32 -1 3");
    let axes = network.integers(&[0, 1]);
    network.add("ReduceMax-1", "keep_dims=\"false\"", &["0", &axes.to_string()], &["FP32"]);
    network.add("Convert-1", "destination_type=\"i64\"", &["2"], &["I64"]);
    let [zero, one] = [0, 1].map(|number| network.integers(&[number]));
    let empty = network.integers(&[]);
    let shaped = network.add(
        "Reshape-1",
        "special_zero=\"false\"",
        &[&zero.to_string(), &empty.to_string()],
        &["I64"],
    );
    let step = network.add(
        "Reshape-1",
        "special_zero=\"false\"",
        &[&one.to_string(), &empty.to_string()],
        &["I64"],
    );
    let range = network.add(
        "Range-4",
        "output_type=\"i64\"",
        &[&shaped.to_string(), "3", &step.to_string()],
        &["I64 -1"],
    );
    network.result(&range.to_string());
    let source = ir::source(&network.distinct_text(), &network.constants);
    let staged = StagedModel::from_source(source, &ReadOptions::default());
    let staged = staged.unwrap_or_else(|error| panic!("{error}"));
    assert!(staged.has_stages());
    let x = floats(&[2, 3], &[1., 4.5, 2., 3., 0., 1.]);
    let expected = Array::new([4], vec![0i64, 1, 2, 3]).unwrap();
    assert_eq!(run(&staged, &x), Ok(vec![expected]));
}
