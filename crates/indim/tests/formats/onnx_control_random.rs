//! Random nested `If`, `Loop` and `Scan` of ONNX: the program of indim's text computes the same, and so does
//! ONNX Runtime.

use crate::support::onnx::{
    BOOL, FLOAT, INT64, Message, Model, StoredModel, floats, int, ints, list, node,
    run_in_onnx_runtime, tensor, value,
};
use crate::support::{self, random::Random};
use indim::run::ExecutorChoice;
use indim::text::parse_graph;
use indim::{ArrayView, CompileOptions, compile};
use indim_graph::{Array, Graph};

/// The generator of a model; all values are of `f32[2, 3]`.
struct Generator {
    random: Random,
    fresh: usize,
    depth: usize,
    initializers: Vec<Message>,
}

/// An attribute with a body whose inputs and outputs have types.
fn body(name: &str, inputs: &[Message], nodes: &[Message], outputs: &[Message]) -> Message {
    let mut graph = Message::default().bytes(2, "body");
    for (field, messages) in [(1, nodes), (11, inputs), (12, outputs)] {
        graph = messages.iter().fold(graph, |graph, message| graph.bytes(field, message));
    }
    Message::default().bytes(1, name).bytes(6, graph).int(20, 5)
}

fn matrix(name: &str) -> Message {
    value(name, FLOAT, Some(&["2", "3"]))
}

impl Generator {
    fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    fn any(&mut self, values: &[String]) -> String {
        values[self.random.below(values.len())].clone()
    }

    /// Adds a node; returns its result.
    fn add(
        &mut self,
        nodes: &mut Vec<Message>,
        operator: &str,
        of: &[&str],
        with: &[Message],
    ) -> String {
        let name = self.name("v");
        nodes.push(node(operator, of, &[&name], with));
        name
    }

    /// Adds operations on values, whose results stay between -1 and 1.
    fn operations(&mut self, nodes: &mut Vec<Message>, values: &mut Vec<String>) {
        for _ in 0..1 + self.random.below(3) {
            let (a, b) = (self.any(values), self.any(values));
            let made = match self.random.below(5) {
                0 => self.add(nodes, "Neg", &[&a], &[]),
                1 => self.add(nodes, "MatMul", &[&a, "square"], &[]),
                2 => self.add(nodes, "Mul", &[&a, &b], &[]),
                _ => self.add(nodes, "Add", &[&a, &b], &[]),
            };
            values.push(self.add(nodes, "Tanh", &[&made], &[]));
        }
        if self.depth < 2 && self.random.below(2) == 0 {
            self.control(nodes, values);
        }
    }

    fn control(&mut self, nodes: &mut Vec<Message>, values: &mut Vec<String>) {
        self.depth += 1;
        match self.random.below(4) {
            0 => self.branch(nodes, values),
            1 => self.scan(nodes, values),
            kind => self.repeat(nodes, values, kind == 2),
        }
        self.depth -= 1;
    }

    fn branch(&mut self, nodes: &mut Vec<Message>, values: &mut Vec<String>) {
        let of = self.any(values);
        let sum = self.add(nodes, "ReduceSum", &[&of], &[int("keepdims", 0)]);
        let condition = self.add(nodes, "Greater", &[&sum, "zero"], &[]);
        let branches = ["then_branch", "else_branch"].map(|name| {
            let (mut nodes, mut inner) = (Vec::new(), values.clone());
            self.operations(&mut nodes, &mut inner);
            let last = inner.last().expect("there are values").clone();
            let result = self.add(&mut nodes, "Neg", &[&last], &[]);
            body(name, &[], &nodes, &[matrix(&result)])
        });
        values.push(self.add(nodes, "If", &[&condition], &branches));
    }

    /// A loop that stacks its results, or one that ends by a condition.
    fn repeat(&mut self, nodes: &mut Vec<Message>, values: &mut Vec<String>, stacks: bool) {
        let [step, condition, state] = ["i", "c", "s"].map(|name| self.name(name));
        let mut inner = [&values[..], core::slice::from_ref(&state)].concat();
        let mut within = Vec::new();
        self.operations(&mut within, &mut inner);
        let last = inner.last().expect("there are values").clone();
        let number = self.add(&mut within, "Cast", &[&step], &[int("to", 1)]);
        let sum = self.add(&mut within, "Add", &[&last, &number], &[]);
        let next = self.add(&mut within, "Tanh", &[&sum], &[]);
        let goes_on = match stacks {
            true => self.add(&mut within, "Identity", &[&condition], &[]),
            false => {
                let total = self.add(&mut within, "ReduceSum", &[&next], &[int("keepdims", 0)]);
                self.add(&mut within, "Less", &[&total, "half"], &[])
            }
        };
        let mut outputs = vec![value(&goes_on, BOOL, Some(&[])), matrix(&next)];
        if stacks {
            let result = self.add(&mut within, "Neg", &[&last], &[]);
            outputs.push(matrix(&result));
        }
        let inputs =
            [value(&step, INT64, Some(&[])), value(&condition, BOOL, Some(&[])), matrix(&state)];
        let trips = self.name("trips");
        let count = 1 + self.random.below(3) as i64;
        self.initializers.push(tensor(&trips, INT64, &[]).packed(7, &[count]));
        let [last, stack] = ["last", "stack"].map(|name| self.name(name));
        let results = &[&*last, &*stack][..if stacks { 2 } else { 1 }];
        let initial = self.any(values);
        let enters = ["", "yes"][self.random.below(2)];
        let step = body("body", &inputs, &within, &outputs);
        nodes.push(node("Loop", &[&trips, enters, &initial], results, &[step]));
        values.push(last);
        if stacks {
            values.push(self.add(nodes, "ReduceSum", &[&stack, "axis0"], &[int("keepdims", 0)]));
        }
    }

    fn scan(&mut self, nodes: &mut Vec<Message>, values: &mut Vec<String>) {
        let [state, part] = ["s", "p"].map(|name| self.name(name));
        let axis = self.random.below(2) as i64;
        let mut within = Vec::new();
        let row = match axis {
            0 => part.clone(),
            _ => self.add(&mut within, "Unsqueeze", &[&part, "axis1"], &[]),
        };
        let sum = self.add(&mut within, "Add", &[&state, &row], &[]);
        let mut inner = [&values[..], &[state.clone(), sum]].concat();
        self.operations(&mut within, &mut inner);
        let last = inner.last().expect("there are values").clone();
        let next = self.add(&mut within, "Tanh", &[&last], &[]);
        let result = self.add(&mut within, "Neg", &[&state], &[]);
        let size = if axis == 0 { "3" } else { "2" };
        let inputs = [matrix(&state), value(&part, FLOAT, Some(&[size]))];
        let out = self.random.below(3) as i64;
        let mut direction = || [self.random.below(2) as i64];
        let attributes = [
            body("body", &inputs, &within, &[matrix(&next), matrix(&result)]),
            int("num_scan_inputs", 1),
            ints("scan_input_axes", &[axis]),
            ints("scan_input_directions", &direction()),
            ints("scan_output_axes", &[out]),
            ints("scan_output_directions", &direction()),
        ];
        let [last, stack, axes] = ["last", "stack", "axes"].map(|name| self.name(name));
        let (initial, over) = (self.any(values), self.any(values));
        nodes.push(node("Scan", &[&initial, &over], &[&last, &stack], &attributes));
        self.initializers.push(list(&axes, &[out]));
        values.push(last);
        values.push(self.add(nodes, "ReduceSum", &[&stack, &axes], &[int("keepdims", 0)]));
    }

    fn model(mut self) -> Model {
        let (mut nodes, mut values) = (Vec::new(), vec!["x".to_owned(), "y".to_owned()]);
        for _ in 0..2 {
            self.operations(&mut nodes, &mut values);
            self.control(&mut nodes, &mut values);
        }
        let outputs = values[values.len() - 2..].iter().map(|name| matrix(name)).collect();
        let square: Vec<f32> = (0..9).map(|_| self.random.below(21) as f32 / 10.0 - 1.0).collect();
        let mut initializers = vec![
            floats("square", &[3, 3], &square),
            floats("zero", &[], &[0.0]),
            floats("half", &[], &[0.5]),
            tensor("yes", BOOL, &[]).packed(5, &[1]),
            list("axis0", &[0]),
            list("axis1", &[1]),
        ];
        initializers.extend(self.initializers);
        let inputs = vec![matrix("x"), matrix("y")];
        Model { opset: 17, inputs, initializers, nodes, outputs, ..Model::default() }
    }
}

fn models(count: u64) -> impl Iterator<Item = StoredModel> {
    (0..count).map(|seed| {
        let random = Random(100 + seed);
        let generator = Generator { random, fresh: 0, depth: 0, initializers: vec![] };
        let content = generator.model().encoded();
        let mut random = Random(seed);
        let mut array = || {
            let numbers = (0..6).map(|_| random.below(201) as f32 / 100.0 - 1.0);
            Array::new([2, 3], numbers.collect::<Vec<_>>()).unwrap()
        };
        let inputs = vec![array(), array()];
        let model = support::read("random.onnx", &content);
        let model = model.unwrap_or_else(|error| panic!("{seed}: {error} {:?}", error.location));
        let outputs = support::run(&*model, &inputs);
        let outputs =
            outputs.unwrap_or_else(|error| panic!("{seed}: {error} {:?}", error.location));
        StoredModel { name: format!("random {seed}"), content, inputs, outputs }
    })
}

#[test]
fn random_models_are_those_of_their_texts() {
    for StoredModel { name, content, inputs, outputs } in models(60) {
        let model = support::read("random.onnx", &content).unwrap();
        let program = support::build(&*model, &inputs).unwrap();
        let read_back =
            parse_graph(&program.graph.to_string()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(indim_graph::evaluate(&read_back, &inputs).unwrap(), outputs, "{name}");
    }
}

/// Bits of the results of a compiled program.
fn compiled(graph: &Graph, inputs: &[Array], options: &CompileOptions) -> Vec<Vec<u8>> {
    let program = compile(graph, options).unwrap_or_else(|error| panic!("{error}"));
    let view = |array: &Array| {
        let elements = array.elements::<f32>().expect("floats").to_vec();
        (array.shape().clone(), elements)
    };
    let arrays: Vec<_> = inputs.iter().map(view).collect();
    let views: Vec<ArrayView<'_>> = arrays
        .iter()
        .map(|(shape, elements)| ArrayView::from_slice(shape.clone(), elements).unwrap())
        .collect();
    let results = program.run(&views).unwrap_or_else(|error| panic!("{error}"));
    results.iter().map(|result| result.bytes().to_vec()).collect()
}

#[test]
fn compiled_models_give_the_bits_of_the_evaluator() {
    for StoredModel { name, content, inputs, outputs } in models(60) {
        let model = support::read("random.onnx", &content).unwrap();
        let program = support::build(&*model, &inputs).unwrap();
        let expected: Vec<Vec<u8>> = outputs.iter().map(Array::to_le_bytes).collect();
        for executor in [ExecutorChoice::Blocks, ExecutorChoice::Machine] {
            for optimize in [false, true] {
                let options = CompileOptions::default().optimize(optimize).executor(executor);
                let found = compiled(&program.graph, &inputs, &options);
                assert!(found == expected, "{name} {executor} {optimize}");
            }
        }
    }
}

#[test]
fn onnx_runtime_computes_the_same_loops() {
    run_in_onnx_runtime("loops", models(60));
}
