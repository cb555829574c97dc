//! `If`, `Loop` and `Scan` of ONNX, compared with results by hand, and hostile ones.

use crate::support;
use crate::support::onnx::{
    BOOL, FLOAT, INT64, Message, Model, array, int, ints, list, node, reference, tensor, value,
};
use indim::formats::{ProgramPart, ReadOptions, SourceFile};
use indim_graph::{Array, evaluate};

fn named(name: &str) -> Message {
    Message::default().bytes(1, name)
}

/// An attribute with a body.
pub(super) fn body(name: &str, inputs: &[&str], nodes: &[Message], outputs: &[&str]) -> Message {
    body_with(name, inputs, &[], nodes, outputs)
}

fn body_with(
    name: &str,
    inputs: &[&str],
    initializers: &[Message],
    nodes: &[Message],
    outputs: &[&str],
) -> Message {
    let graph = nodes.iter().fold(Message::default(), |graph, node| graph.bytes(1, node));
    let graph = initializers.iter().fold(graph, |graph, tensor| graph.bytes(5, tensor));
    let graph = inputs.iter().fold(graph, |graph, input| graph.bytes(11, named(input)));
    let graph = outputs.iter().fold(graph, |graph, output| graph.bytes(12, named(output)));
    Message::default().bytes(1, name).bytes(6, graph).int(20, 5)
}

/// A model with the inputs `x` of `f32[3]`, `flag` and `n`.
fn model(initializers: Vec<Message>, nodes: Vec<Message>, outputs: &[&str]) -> Model {
    Model {
        opset: 17,
        inputs: vec![
            value("x", FLOAT, Some(&["3"])),
            value("flag", BOOL, Some(&[])),
            value("n", INT64, Some(&[])),
        ],
        initializers,
        nodes,
        outputs: outputs.iter().map(|name| named(name)).collect(),
        ..Model::default()
    }
}

fn inputs(flag: bool, n: i64) -> [Array; 3] {
    let x = Array::new([3], vec![1.0f32, 2.0, 4.0]).unwrap();
    [x, Array::from_scalar(flag), Array::from_scalar(n)]
}

fn run(model: &Model, flag: bool, n: i64) -> Result<Vec<Array>, &'static str> {
    let model = support::read("test.onnx", model.encoded()).map_err(|error| error.code())?;
    support::run(&*model, &inputs(flag, n)).map_err(|error| error.code())
}

fn floats(array: &Array) -> Vec<f32> {
    array.elements::<f32>().expect("floats").to_vec()
}

fn constant(name: &str, tensor: &Message) -> Message {
    node("Constant", &[], &[name], &[array("value", tensor)])
}

fn truth(name: &str, is_true: bool) -> Message {
    constant(name, &tensor("", BOOL, &[]).packed(5, &[is_true.into()]))
}

fn one_number(name: &str, number: i64) -> Message {
    tensor(name, INT64, &[]).packed(7, &[number])
}

fn constant_float(name: &str, number: f32) -> Message {
    constant(name, &support::onnx::floats("", &[], &[number]))
}

/// A branch that doubles `x`, or negates it if another flag is true.
fn branches() -> Vec<Message> {
    let then = [constant_float("two", 2.0), node("Mul", &["x", "two"], &["a"], &[])];
    let other = [node(
        "If",
        &["big"],
        &["b"],
        &[
            body("then_branch", &[], &[node("Neg", &["x"], &["c"], &[])], &["c"]),
            body("else_branch", &[], &[], &["x"]),
        ],
    )];
    let attributes =
        [body("then_branch", &[], &then, &["a"]), body("else_branch", &[], &other, &["b"])];
    vec![
        constant("ten", &one_number("", 10)),
        node("Greater", &["n", "ten"], &["big"], &[]),
        node("If", &["flag"], &["y"], &attributes),
    ]
}

#[test]
fn branches_read_values_outside_and_nest() {
    let model = model(vec![], branches(), &["y"]);
    for (flag, n, expected) in
        [(true, 0, [2.0, 4.0, 8.0]), (false, 11, [-1.0, -2.0, -4.0]), (false, 10, [1.0, 2.0, 4.0])]
    {
        assert_eq!(floats(&run(&model, flag, n).unwrap()[0]), expected, "{flag} {n}");
    }
}

#[test]
fn a_known_condition_chooses_a_branch_of_any_shape() {
    let sum = node("ReduceSum", &["x"], &["a"], &[int("keepdims", 0)]);
    let attributes = [
        body("then_branch", &[], &[sum], &["a"]),
        body("else_branch", &[], &[node("Neg", &["x"], &["b"], &[])], &["b"]),
    ];
    let of = |condition: Message, name: &str| {
        let nodes = vec![condition, node("If", &[name], &["y"], &attributes)];
        run(&model(vec![], nodes, &["y"]), true, 0)
    };
    let found = of(truth("always", true), "always").unwrap();
    assert_eq!((found[0].shape().rank(), floats(&found[0])), (0, vec![7.0]));
    let found = of(truth("never", false), "never").unwrap();
    assert_eq!(floats(&found[0]), [-1.0, -2.0, -4.0]);
    // A condition of the shape of an array is known too.
    let size = node("Size", &["x"], &["size"], &[]);
    let three = constant("three", &one_number("", 3));
    let equal = node("Equal", &["size", "three"], &["is_three"], &[]);
    let nodes = vec![size, three, equal, node("If", &["is_three"], &["y"], &attributes)];
    assert_eq!(floats(&run(&model(vec![], nodes, &["y"]), true, 0).unwrap()[0]), [7.0]);
    // One of several elements chooses none.
    let flags = constant("flags", &tensor("", BOOL, &[2]).packed(5, &[1, 0]));
    let alike = [
        body("then_branch", &[], &[], &["x"]),
        body("else_branch", &[], &[node("Neg", &["x"], &["b"], &[])], &["b"]),
    ];
    let nodes = vec![flags, node("If", &["flags"], &["y"], &alike)];
    assert_eq!(run(&model(vec![], nodes, &["y"]), true, 0), Err("reshape-element-count"));
    // One that only a run knows needs branches of one type.
    assert_eq!(of(truth("unused", true), "flag"), Err("unsupported"));
    assert_eq!(of(truth("unused", true), "n"), Err("element-type-not-allowed"));
}

/// A loop that adds `step`, a value outside it, and stacks twice each sum.
fn summing(trips: &str, condition: &str, goes_on: &[Message], results: &[&str]) -> Vec<Message> {
    let mut nodes = goes_on.to_vec();
    nodes.push(node("Add", &["s", "step"], &["next"], &[]));
    nodes.push(node("Add", &["next", "next"], &["double"], &[]));
    let step = body("body", &["i", "c", "s"], &nodes, &["go", "next", "double"]);
    vec![
        node("Mul", &["x", "x"], &["step"], &[]),
        node("Loop", &[trips, condition, "x"], results, &[step]),
    ]
}

#[test]
fn a_loop_with_a_known_trip_count_stacks_its_results() {
    let trips = vec![one_number("trips", 2)];
    let always = [node("Identity", &["c"], &["go"], &[])];
    for condition in ["", "yes"] {
        let mut nodes = vec![truth("yes", true)];
        nodes.extend(summing("trips", condition, &always, &["last", "all"]));
        let found = run(&model(trips.clone(), nodes, &["last", "all"]), true, 0).unwrap();
        assert_eq!(floats(&found[0]), [3.0, 10.0, 36.0]);
        assert_eq!(found[1].shape().to_vec(), [2, 3]);
        assert_eq!(floats(&found[1]), [4.0, 12.0, 40.0, 6.0, 20.0, 72.0]);
    }
    // A condition that is false at once, and one that no step makes true.
    let mut nodes = vec![truth("no", false)];
    nodes.extend(summing("trips", "no", &always, &["last", "all"]));
    let found = run(&model(trips.clone(), nodes, &["last", "all"]), true, 0).unwrap();
    assert_eq!((found[1].shape().to_vec(), floats(&found[0])), (vec![0, 3], vec![1.0, 2.0, 4.0]));
    let nodes = summing("trips", "", &[truth("go", false)], &["last", "all"]);
    let found = run(&model(trips, nodes, &["last", "all"]), true, 0).unwrap();
    assert_eq!(found[1].shape().to_vec(), [1, 3]);
}

#[test]
fn an_input_as_trip_count_determines_the_shape_of_the_stack() {
    let always = [node("Identity", &["c"], &["go"], &[])];
    let model = model(vec![], summing("n", "", &always, &["last", "all"]), &["last", "all"]);
    for n in [0, 1, 5] {
        let found = run(&model, true, n).unwrap();
        assert_eq!(found[1].shape().to_vec(), [usize::try_from(n).unwrap(), 3]);
    }
    assert_eq!(run(&model, true, -1).unwrap()[1].shape().to_vec(), [0, 3]);
    // So does an input as condition.
    let model = self::model(vec![], summing("n", "flag", &always, &["last", "all"]), &["all"]);
    assert_eq!(run(&model, true, 2).unwrap()[0].shape().to_vec(), [2, 3]);
    assert_eq!(run(&model, false, 2).unwrap()[0].shape().to_vec(), [0, 3]);
}

#[test]
fn a_loop_ends_by_a_condition_of_its_states() {
    // Until the sum of the state reaches 50.
    let goes_on = [
        constant_float("bound", 50.0),
        node("ReduceSum", &["s"], &["total"], &[int("keepdims", 0)]),
        node("Less", &["total", "bound"], &["go"], &[]),
    ];
    let steps = |limit: i64| {
        let (mut s, mut count) = ([1.0f32, 2.0, 4.0], 0);
        while count < limit {
            let goes_on = s.iter().sum::<f32>() < 50.0;
            s = core::array::from_fn(|at| s[at] + [1.0, 4.0, 16.0][at]);
            count += 1;
            if !goes_on {
                break;
            }
        }
        s
    };
    let model_of = |trips: &str, results: &[&str], outputs: &[&str]| {
        model(vec![], summing(trips, "flag", &goes_on, results), outputs)
    };
    let open = model_of("", &["last"], &["last"]);
    assert_eq!(floats(&run(&open, true, 0).unwrap()[0]), steps(i64::MAX));
    assert_eq!(floats(&run(&open, false, 0).unwrap()[0]), [1.0, 2.0, 4.0]);
    let bounded = model_of("n", &["last"], &["last"]);
    for n in [-1, 0, 1, 2, 100] {
        assert_eq!(floats(&run(&bounded, true, n).unwrap()[0]), steps(n), "{n}");
    }
    // The stack has a size that only a run knows; nobody needs it in the part without it.
    let stacking = model_of("n", &["last", "all"], &["last", "all"]);
    assert_eq!(run(&stacking, true, 3), Err("depends-on-data"));
    let source = SourceFile::new("part.onnx", stacking.encoded());
    let part = ProgramPart { from: vec![], to: vec!["last".to_owned()] };
    let model = indim::formats::read(&source, &ReadOptions::new().part(part)).unwrap();
    let given: Vec<Array> = inputs(true, 3).into_iter().collect();
    assert_eq!(floats(&support::run(&*model, &given).unwrap()[0]), steps(3));
}

#[test]
fn loops_nest_and_count_their_steps() {
    // The sum over i below 3 of the sum over j below 2 of i * j + a constant of the body.
    let inner = [
        node("Mul", &["i", "j"], &["ij"], &[]),
        node("Add", &["t", "ij"], &["u"], &[]),
        node("Add", &["u", "seven"], &["v"], &[]),
        node("Identity", &["d"], &["go2"], &[]),
    ];
    let inner =
        body_with("body", &["j", "d", "t"], &[one_number("seven", 7)], &inner, &["go2", "v"]);
    let outer = [
        node("Loop", &["two", "", "s"], &["next"], &[inner]),
        node("Identity", &["c"], &["go"], &[]),
    ];
    let outer = body("body", &["i", "c", "s"], &outer, &["go", "next"]);
    let nodes = vec![node("Loop", &["three", "", "n"], &["y"], &[outer])];
    let model = model(vec![one_number("three", 3), one_number("two", 2)], nodes, &["y"]);
    assert_eq!(run(&model, true, 100).unwrap()[0].scalar::<i64>(), Ok(100 + 3 + 42));
}

#[test]
fn a_scan_takes_parts_along_axes_in_both_directions() {
    // States: a sum of columns; results: the sum so far, and the part of the other input.
    let nodes = [
        node("Add", &["s", "a"], &["next"], &[]),
        node("Identity", &["next"], &["sum"], &[]),
        node("Mul", &["a", "b"], &["product"], &[]),
    ];
    let step = body("body", &["s", "a", "b"], &nodes, &["next", "sum", "product"]);
    let of = |attributes: &[Message]| {
        let mut all = vec![int("num_scan_inputs", 2), step.clone()];
        all.extend_from_slice(attributes);
        let shapes: [&[&str]; 3] = [&["2"], &["3", "2"], &["2", "3"]];
        let inputs = ["s0", "p", "q"].iter().zip(shapes);
        Model {
            opset: 17,
            inputs: inputs.map(|(name, shape)| value(name, FLOAT, Some(shape))).collect(),
            nodes: vec![node("Scan", &["s0", "p", "q"], &["y", "sums", "products"], &all)],
            outputs: ["y", "sums", "products"].map(named).to_vec(),
            ..Model::default()
        }
    };
    let p: Vec<f32> = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let q: Vec<f32> = vec![10.0, 20.0, 30.0, 40.0, 50.0, 60.0];
    let given = [
        Array::new([2], vec![0.5f32, -0.5]).unwrap(),
        Array::new([3, 2], p.clone()).unwrap(),
        Array::new([2, 3], q.clone()).unwrap(),
    ];
    for (first, second) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let model = of(&[
            ints("scan_input_axes", &[0, -1]),
            ints("scan_input_directions", &[first, second]),
            ints("scan_output_axes", &[1, 0]),
            ints("scan_output_directions", &[second, first]),
        ]);
        let model = support::read("scan.onnx", model.encoded()).unwrap();
        let found = support::run(&*model, &given).unwrap();
        let (mut s, mut sums, mut products) = ([0.5f32, -0.5], [[0.0f32; 3]; 2], [[0.0f32; 2]; 3]);
        for step in 0..3 {
            let at = |reversed: i64| if reversed == 1 { 2 - step } else { step };
            for k in 0..2 {
                s[k] += p[2 * at(first) + k];
                sums[k][at(second)] = s[k];
                products[at(first)][k] = p[2 * at(first) + k] * q[3 * k + at(second)];
            }
        }
        assert_eq!(floats(&found[0]), s);
        assert_eq!(floats(&found[1]), sums.concat(), "{first} {second}");
        assert_eq!(floats(&found[2]), products.concat(), "{first} {second}");
    }
    for (attributes, code) in [
        (ints("scan_input_axes", &[2, 0]), "axis-out-of-range"),
        (ints("scan_input_axes", &[0, 0]), "unexpected"),
        (ints("scan_input_axes", &[0]), "attribute"),
        (ints("scan_output_axes", &[3, 0]), "axis-out-of-range"),
        (ints("scan_output_directions", &[0, 0, 0]), "attribute"),
    ] {
        let mut all = vec![attributes];
        if code != "unexpected" && !all[0].as_ref().starts_with(b"\x0a\x0fscan_input_axes") {
            all.push(ints("scan_input_axes", &[0, 1]));
        }
        let model = support::read("scan.onnx", of(&all).encoded()).unwrap();
        assert_eq!(support::run(&*model, &given).err().map(|error| error.code()), Some(code));
    }
}

/// The code of the error of reading or building a model.
fn code(nodes: Vec<Message>, initializers: Vec<Message>) -> &'static str {
    run(&model(initializers, nodes, &["y"]), true, 3).expect_err("there is a mistake")
}

#[test]
fn mistakes_in_bodies_are_errors_with_codes() {
    let go = || node("Identity", &["c"], &["go"], &[]);
    let looped = |attributes: &[Message]| vec![node("Loop", &["n", "", "x"], &["y"], attributes)];
    let step =
        |nodes: Vec<Message>, outputs: &[&str]| body("body", &["i", "c", "s"], &nodes, outputs);
    assert_eq!(code(looped(&[]), vec![]), "attribute");
    assert_eq!(code(looped(&[int("body", 3)]), vec![]), "attribute");
    // A body does not see the results of its own node.
    assert_eq!(code(looped(&[step(vec![go()], &["go", "y"])]), vec![]), "undefined");
    assert_eq!(code(looped(&[step(vec![go()], &["go"])]), vec![]), "wrong-count");
    assert_eq!(code(looped(&[body("body", &["i"], &[], &["i"])]), vec![]), "wrong-count");
    assert_eq!(code(looped(&[step(vec![], &[])]), vec![]), "wrong-count");
    let grows = vec![go(), node("Concat", &["s", "s"], &["t"], &[int("axis", 0)])];
    assert_eq!(code(looped(&[step(grows, &["go", "t"])]), vec![]), "loop-state-type");
    let unknown = vec![go(), node("com.acme.Foo", &["s"], &["t"], &[])];
    assert_eq!(code(looped(&[step(unknown, &["go", "t"])]), vec![]), "unsupported-op");
    // A body that is not the last node: the rest of the model does not depend on it.
    let mut nodes = looped(&[step(vec![go()], &["go", "x"])]);
    nodes[0] = node("Loop", &["n", "", "x"], &["z"], &[step(vec![go()], &["go", "x"])]);
    nodes.push(node("Neg", &["x"], &["y"], &[]));
    assert!(run(&model(vec![], nodes, &["y"]), true, 3).is_ok());
    let eight = vec![int("num_scan_inputs", 1), step(vec![], &["s", "s"])];
    let scan = Model {
        opset: 8,
        ..model(vec![], vec![node("Scan", &["", "x", "x"], &["y"], &eight)], &["y"])
    };
    assert_eq!(run(&scan, true, 3), Err("unsupported-op"));
}

#[test]
fn unsupported_nodes_of_bodies_are_listed_with_their_place() {
    let nodes = [node("Identity", &["c"], &["go"], &[]), node("NonZero", &["s"], &["t"], &[])];
    let step = body("body", &["i", "c", "s"], &nodes, &["go", "t"]);
    let model = model(vec![], vec![node("Loop", &["n", "", "x"], &["y"], &[step])], &["y"]);
    let source = SourceFile::new("m.onnx", model.encoded());
    let error = indim::formats::read(&source, &ReadOptions::default()).err().unwrap();
    let drawn = error.draw(&source);
    assert!(drawn.contains("NonZero") && drawn.contains("body of node 0 (Loop"), "{drawn}");
}

#[test]
fn hostile_loops_are_refused_before_they_run() {
    let always = [node("Identity", &["c"], &["go"], &[])];
    let steps = |count: i64| {
        let nodes = summing("trips", "", &always, &["y", "all"]);
        run(&model(vec![one_number("trips", count)], nodes, &["y", "all"]), true, 0)
    };
    assert_eq!(steps(1 << 62), Err("unsupported"));
    assert_eq!(steps(i64::MAX), Err("unsupported"));
    assert!(steps(i64::MIN).is_ok());
    let nodes = summing("", "", &always, &["y"]);
    assert_eq!(run(&model(vec![], nodes, &["y"]), true, 0), Err("unsupported"));
    let nodes = summing("trips", "", &always, &["y"]);
    assert_eq!(
        run(&model(vec![list("trips", &[2, 3])], nodes, &["y"]), true, 0),
        Err("reshape-element-count")
    );
    // Parts without elements.
    let part = [node("Neg", &["s"], &["t"], &[])];
    let scan = [int("num_scan_inputs", 1), body("body", &["s", "part"], &part, &["t"])];
    let parts = support::onnx::floats("parts", &[1 << 40, 0], &[]);
    let nodes = vec![node("Scan", &["x", "parts"], &["y"], &scan)];
    assert_eq!(run(&model(vec![parts], nodes, &["y"]), true, 0), Err("unsupported"));
    // A stack that no memory holds.
    let wide = [
        node("Identity", &["c"], &["go"], &[]),
        constant("sizes", &list("", &[1 << 30, 1 << 10])),
        node("Expand", &["total", "sizes"], &["wide"], &[]),
        node("ReduceSum", &["s"], &["total"], &[int("keepdims", 0)]),
    ];
    let wide = [&wide[0], &wide[1], &wide[3], &wide[2]].map(Message::clone);
    let step = body("body", &["i", "c", "s"], &wide, &["go", "s", "wide"]);
    let nodes = vec![node("Loop", &["trips", "", "x"], &["y", "all"], &[step])];
    let model = model(vec![one_number("trips", 1 << 31)], nodes, &["y", "all"]);
    assert_eq!(run(&model, true, 0), Err("too-large"));
}

#[test]
fn bodies_nest_to_a_limit() {
    let nested = |depth: usize| {
        let mut nodes = vec![node("Neg", &["x"], &["y"], &[])];
        for _ in 0..depth {
            let then = body("then_branch", &[], &nodes, &["y"]);
            let other = body("else_branch", &[], &[], &["x"]);
            nodes = vec![node("If", &["flag"], &["y"], &[then, other])];
        }
        run(&model(vec![], nodes, &["y"]), true, 3)
    };
    assert_eq!(floats(&nested(16).unwrap()[0]), [-1.0, -2.0, -4.0]);
    assert_eq!(nested(17), Err("limit"));
    // A function that calls itself in a branch.
    let call = body("then_branch", &[], &[node("my.F", &["a", "p"], &["b"], &[])], &["b"]);
    let other = body("else_branch", &[], &[], &["a"]);
    let branch = [node("If", &["p"], &["c"], &[call, other])];
    let function = support::onnx::function("F", &["a", "p"], &["c"], &branch, &[], 17);
    let nodes = vec![node("my.F", &["x", "flag"], &["y"], &[])];
    let itself = Model { functions: vec![function], ..model(vec![], nodes, &["y"]) };
    assert_eq!(run(&itself, true, 0), Err("cycle"));
}

#[test]
fn a_function_with_a_branch_is_called_twice() {
    let branches = [
        body("then_branch", &[], &[node("Add", &["a", "a"], &["b"], &[])], &["b"]),
        body("else_branch", &[], &[node("Neg", &["a"], &["b"], &[])], &["b"]),
    ];
    let branch = [node("If", &["p"], &["c"], &branches)];
    let function = support::onnx::function("F", &["a", "p"], &["c"], &branch, &[], 17);
    let nodes =
        vec![node("my.F", &["x", "flag"], &["t"], &[]), node("my.F", &["t", "flag"], &["y"], &[])];
    let model = Model { functions: vec![function], ..model(vec![], nodes, &["y"]) };
    assert_eq!(floats(&run(&model, true, 0).unwrap()[0]), [4.0, 8.0, 16.0]);
    assert_eq!(floats(&run(&model, false, 0).unwrap()[0]), [1.0, 2.0, 4.0]);
}

#[test]
fn a_body_has_the_operator_sets_of_the_function_that_runs_it() {
    // `Softmax` is over all axes from the first on before operator set 13, here over one element.
    let of = |name: &str, opset: i64| {
        let other = body("else_branch", &[], &[], &["a"]);
        let branch = [node("If", &["p"], &["c"], &[reference("then_branch", "b"), other])];
        support::onnx::function(name, &["a", "p"], &["c"], &branch, &[], opset).bytes(6, "b")
    };
    let calls = ["F", "G"]
        .map(|name| node(&format!("my.{name}"), &["a", "p"], &[name], &[reference("b", "b")]));
    let both = support::onnx::function("H", &["a", "p"], &["F", "G"], &calls, &[], 17);
    let passed = body("b", &[], &[node("Softmax", &["a"], &["s"], &[])], &["s"]);
    let nodes = vec![
        node("Reshape", &["x", "sizes"], &["rows"], &[]),
        node("my.H", &["rows", "flag"], &["y", "z"], &[passed]),
    ];
    for opsets in [[12, 17], [17, 12]] {
        let functions = vec![of("F", opsets[0]), of("G", opsets[1]), both.clone().bytes(6, "b")];
        let model = Model {
            functions,
            ..model(vec![list("sizes", &[1, 3, 1])], nodes.clone(), &["y", "z"])
        };
        let found = run(&model, true, 0).unwrap();
        let [over_all, over_one] = match opsets[0] {
            12 => [floats(&found[0]), floats(&found[1])],
            _ => [floats(&found[1]), floats(&found[0])],
        };
        assert_eq!(over_one, [1.0; 3], "{opsets:?}");
        assert!(over_all[0] < over_all[1] && over_all[1] < over_all[2], "{opsets:?}");
    }
}

#[test]
fn damaged_bodies_give_errors() {
    let always = [node("Identity", &["c"], &["go"], &[])];
    let mut nodes = branches();
    nodes.extend(summing("trips", "flag", &always, &["last", "all"]));
    let bytes = model(vec![one_number("trips", 2)], nodes, &["y", "all"]).encoded();
    for place in 0..bytes.len() {
        for change in [1, 2, 8, 0x80] {
            let mut damaged = bytes.clone();
            damaged[place] ^= change;
            if let Ok(model) = support::read("damaged.onnx", &damaged) {
                let _ = support::build(&*model, &inputs(true, 0));
            }
        }
    }
}

#[test]
fn a_known_trip_count_gives_a_counted_loop() {
    let always = [node("Identity", &["c"], &["go"], &[])];
    let nodes = summing("trips", "", &always, &["y"]);
    let model = model(vec![one_number("trips", 5)], nodes, &["y"]);
    let model = support::read("m.onnx", model.encoded()).unwrap();
    let program = support::build(&*model, &inputs(true, 0)).unwrap();
    let text = program.graph.to_string();
    assert!(text.contains("limit=5"), "{text}");
    assert_eq!(floats(&evaluate(&program.graph, &inputs(true, 0)).unwrap()[0]), [6.0, 22.0, 84.0]);
}

#[test]
fn axes_and_counts_at_limits_give_a_program_or_an_error() {
    let extremes = [0, 1, -1, 3, 1 << 40, 1 << 62, i64::MAX, i64::MIN];
    let always = [node("Identity", &["c"], &["go"], &[])];
    for number in extremes {
        let nodes = summing("trips", "", &always, &["y", "all"]);
        let counted = model(vec![one_number("trips", number)], nodes, &["y", "all"]);
        let counted = support::read("loop.onnx", counted.encoded()).unwrap();
        let _ = support::build(&*counted, &inputs(true, 0));
        for attribute in [
            "num_scan_inputs",
            "scan_input_axes",
            "scan_output_axes",
            "scan_input_directions",
            "scan_output_directions",
        ] {
            let step = [node("Add", &["s", "part"], &["t"], &[])];
            let step = body("body", &["s", "part"], &step, &["t", "t"]);
            let attributes = match attribute {
                "num_scan_inputs" => vec![int(attribute, number), step],
                _ => vec![int("num_scan_inputs", 1), ints(attribute, &[number]), step],
            };
            let nodes = vec![node("Scan", &["x", "x"], &["last", "y"], &attributes)];
            let scanned = model(vec![], nodes, &["y"]);
            let scanned = support::read("scan.onnx", scanned.encoded()).unwrap();
            let _ = support::build(&*scanned, &inputs(true, 0));
        }
    }
}
