//! Models of random operators that published ONNX exports contain: the type of every value is known.
//!
//! The 94 operators are those of 2,190 models of the repository `onnx/models`, at opset 17.

use crate::lint::{graph_attribute, lint, named};
use crate::support::onnx::{
    BOOL, FLOAT, INT64, Message, Model, floats, int, ints, list, node, tensor, text, value,
};
use crate::support::random::Random;

/// A node's operands: `x` is any float, `b` any boolean, `i` any list of indices; `x:1,8` is a float reshaped
/// to `[-1, 1, 8]`; `=1,2` a list of integers, `#1,2` one of floats, `w:3,4` weights of this shape.
struct Row {
    operators: &'static str,
    operands: &'static str,
    attributes: fn() -> Vec<Message>,
    /// A letter for each result, as in the operands; `-` for one that no other node reads, because a reshape
    /// may not divide its number of elements.
    results: &'static str,
}

const fn row(
    operators: &'static str,
    operands: &'static str,
    attributes: fn() -> Vec<Message>,
    results: &'static str,
) -> Row {
    Row { operators, operands, attributes, results }
}

const NONE: fn() -> Vec<Message> = Vec::new;

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("Abs Ceil Clip Cos Elu Erf Exp Floor HardSigmoid HardSwish Identity LeakyRelu Log", "x", NONE, "x"),
    row("LogSoftmax Neg Reciprocal Relu Sigmoid Sign Sin Softmax Softplus Sqrt Tanh Dropout", "x", NONE, "x"),
    row("Add Div Max Min Mul Pow Sub Sum", "x #2", NONE, "x"),
    row("Add Mul Sub", "x:4 x:1", NONE, "x"),
    row("Equal Greater GreaterOrEqual Less LessOrEqual", "x #2", NONE, "b"),
    row("And Or", "b c", NONE, "b"),
    row("Not", "b", NONE, "b"),
    row("Where", "b #1 #2", NONE, "x"),
    row("Cast", "b", || vec![int("to", FLOAT)], "x"),
    row("Cast", "x", || vec![int("to", BOOL)], "b"),
    row("Mod", "i =3", NONE, "i"),
    row("PRelu", "x:8 #1", NONE, "x"),
    row("ArgMax", "x:8", || vec![int("axis", 1)], "i"),
    row("TopK", "x:8 =3", || vec![int("axis", 1)], "xi"),
    row("NonZero", "x", NONE, "i"),
    row("OneHot", "i =8 #0,1", NONE, "x"),
    row("CumSum", "x:8 =1", NONE, "x"),
    row("AveragePool MaxPool", "x:8,6,6", || {
        vec![ints("kernel_shape", &[3, 3]), ints("strides", &[2, 2])]
    }, "x"),
    row("GlobalAveragePool", "x:8,6,6", NONE, "x"),
    row("BatchNormalization", "x:8,4 w:8 w:8 w:8 w:8", NONE, "x"),
    row("InstanceNormalization", "x:8,4 w:8 w:8", NONE, "x"),
    row("LayerNormalization", "x:8 w:8 w:8", NONE, "x"),
    row("LRN", "x:8,4,4", || vec![int("size", 3)], "x"),
    row("Conv", "x:8,6,6 w:4,8,3,3 w:4", || vec![ints("pads", &[1, 1, 1, 1])], "x"),
    row("ConvTranspose", "x:8,6,6 w:8,4,2,2", || vec![ints("strides", &[2, 2])], "x"),
    row("Concat", "x:4 x:4", || vec![int("axis", 1)], "x"),
    row("DepthToSpace", "x:8,2,2", || vec![int("blocksize", 2)], "x"),
    row("Einsum", "x:2,3 w:3,5", || vec![text("equation", "bij,jk->bik")], "x"),
    row("Expand", "x:1,8 =1,4,1", NONE, "x"),
    row("Flatten", "x:2,3", NONE, "x"),
    row("Gather", "x:8 =1,0", || vec![int("axis", 1)], "x"),
    row("GatherElements", "w:9,4 i:4", NONE, "x"),
    row("GatherND", "w:5,4 i:2", NONE, "x"),
    row("Gemm", "x:8 w:8,4 w:4", NONE, "x"),
    row("MatMul", "x:3,8 w:8,4", NONE, "x"),
    row("Pad", "x:2,3 =0,1,0,0,2,0", NONE, "x"),
    row("ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd", "x:2,3", || vec![ints("axes", &[-1])], "x"),
    row("ReduceSum", "x:2,3 =1", || vec![int("keepdims", 0)], "x"),
    row("Resize", "x:2,4,4  #1,1,2,1.5", NONE, "x"),
    row("RoiAlign", "x:2,4,4 w:5,4 =0,0,0,0,0", || vec![int("output_height", 3)], "-"),
    row("ScatterElements", "w:9,4 i:4 x:4", NONE, "-"),
    row("ScatterND", "w:9,4 =0 w:4", NONE, "-"),
    row("Shape", "x", NONE, "-"),
    row("Slice", "x:8,3 =1 =-1 =1", NONE, "x"),
    row("Split", "x:8 =3,5", || vec![int("axis", 1)], "xx"),
    row("Squeeze", "x:1,3 =1", NONE, "x"),
    row("Unsqueeze", "x:3 =0", NONE, "x"),
    row("Tile", "x:3 =2,2", NONE, "x"),
    row("Transpose", "x:2,3", || vec![ints("perm", &[2, 0, 1])], "x"),
    row("Trilu", "x:3,3", NONE, "x"),
    row("Range", "=0 =5 =1", NONE, "-"),
    row("ConstantOfShape", "=2,3", NONE, "-"),
    row("RandomNormalLike", "x", NONE, "x"),
    row("LSTM", "x:2,3 w:1,16,3 w:1,16,4", || vec![int("hidden_size", 4)], "x--"),
    row("If", "y", branches, "x"),
    row("Loop", "=3 y x", body, "x"),
];

fn branches() -> Vec<Message> {
    let branch = |name, operator| {
        graph_attribute(name, &[node(operator, &["x"], &["of_branch"], &[])], &["of_branch"])
    };
    vec![branch("then_branch", "Neg"), branch("else_branch", "Abs")]
}

fn body() -> Vec<Message> {
    let nodes =
        [node("Identity", &["on"], &["again"], &[]), node("Neg", &["state"], &["next"], &[])];
    let mut graph = nodes.iter().fold(Message::default(), |graph, node| graph.bytes(1, node));
    for input in ["step", "on", "state"] {
        graph = graph.bytes(11, named(input));
    }
    graph = ["again", "next"].iter().fold(graph, |graph, name| graph.bytes(12, named(name)));
    vec![Message::default().bytes(1, "body").bytes(6, graph).int(20, 5)]
}

/// The parts of a random model.
struct Parts {
    random: Random,
    nodes: Vec<Message>,
    initializers: Vec<Message>,
    /// Values by the letters of `Row`.
    values: Vec<(char, String)>,
    fresh: usize,
}

impl Parts {
    fn fresh(&mut self, prefix: char) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    fn any(&mut self, letter: char) -> String {
        let of_letter: Vec<&String> = self
            .values
            .iter()
            .filter(|(known, _)| *known == letter)
            .map(|(_, name)| name)
            .collect();
        of_letter[self.random.below(of_letter.len())].clone()
    }

    fn operand(&mut self, text: &str) -> String {
        let sizes =
            |text: &str| -> Vec<i64> { text.split(',').map(|n| n.parse().unwrap()).collect() };
        if let Some((letter, shape)) = text.split_once(':') {
            let shape = sizes(shape);
            let name = self.fresh('s');
            if letter == "w" {
                self.initializers.push(tensor(&name, FLOAT, &shape));
                return name;
            }
            self.initializers.push(list(&name, &[&[-1], &shape[..]].concat()));
            let (of, reshaped) = (self.any(letter.chars().next().unwrap()), self.fresh('r'));
            self.nodes.push(node("Reshape", &[&of, &name], &[&reshaped], &[]));
            return reshaped;
        }
        let name = self.fresh('c');
        match text.split_at_checked(1) {
            Some(("=", numbers)) => self.initializers.push(list(&name, &sizes(numbers))),
            Some(("#", numbers)) => {
                let numbers: Vec<f32> = numbers.split(',').map(|n| n.parse().unwrap()).collect();
                self.initializers.push(floats(&name, &[numbers.len() as i64], &numbers));
            }
            Some(("c", _)) => return self.values[1].1.clone(),
            Some((letter, _)) => return self.any(letter.chars().next().unwrap()),
            None => return String::new(),
        }
        name
    }

    fn add(&mut self, row: &Row) {
        let operators: Vec<&str> = row.operators.split(' ').collect();
        let operator = operators[self.random.below(operators.len())];
        let operands: Vec<String> =
            row.operands.split(' ').map(|operand| self.operand(operand)).collect();
        let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
        let results: Vec<String> = row.results.chars().map(|letter| self.fresh(letter)).collect();
        let names: Vec<&str> = results.iter().map(String::as_str).collect();
        self.nodes.push(node(operator, &operands, &names, &(row.attributes)()));
        self.values.extend(row.results.chars().zip(results).filter(|(letter, _)| *letter != '-'));
    }
}

/// A model of `count` random rows.
fn random_model(seed: u64, count: usize) -> Vec<u8> {
    let inputs = vec![
        value("x", FLOAT, Some(&["N", "3", "H", "W"])),
        value("b", BOOL, Some(&["N", "1"])),
        value("y", BOOL, Some(&[])),
        value("i", INT64, Some(&["N", "L"])),
    ];
    let values = [('x', "x"), ('b', "b"), ('y', "y"), ('i', "i")];
    let values = values.iter().map(|(letter, name)| (*letter, (*name).to_owned())).collect();
    let (nodes, initializers) = (Vec::new(), Vec::new());
    let mut parts = Parts { random: Random(seed), nodes, initializers, values, fresh: 0 };
    for _ in 0..count {
        let row = &ROWS[parts.random.below(ROWS.len())];
        parts.add(row);
    }
    let outputs = vec![named(&parts.values.last().unwrap().1)];
    let Parts { nodes, initializers, .. } = parts;
    Model { opset: 17, inputs, initializers, nodes, outputs, ..Model::default() }.encoded()
}

#[test]
fn no_type_is_unknown_in_models_of_the_operators_of_published_exports() {
    let operators: std::collections::BTreeSet<&str> =
        ROWS.iter().flat_map(|row| row.operators.split(' ')).collect();
    assert!(operators.len() >= 90, "{}", operators.len());
    for seed in 0..150 {
        let report = lint("set.onnx", random_model(seed, 40));
        let unknown: Vec<&str> = report
            .outline()
            .values
            .iter()
            .filter(|value| !value.value_type.is_known())
            .map(|value| value.name.as_str())
            .collect();
        assert!(unknown.is_empty(), "{seed}: {unknown:?} {report}");
        let counts = report.counts();
        assert_eq!((counts.illegal, counts.unknown), (0, 0), "{seed}: {report}");
        assert!(report.passes(true), "{seed}: {report}");
    }
}
