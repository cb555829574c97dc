//! LSTM, GRU and RNN of ONNX, compared with a definition written element by element.

use crate::support;
use crate::support::onnx::{
    FLOAT, Message, Model, StoredModel, float, int, node, run_in_onnx_runtime, value,
};
use crate::support::random::Random;
use indim::{ArrayView, CompileOptions, compile};
use indim_graph::Array;

/// A function of a gate, by its name in a model.
fn activation(name: &str, x: f64, alpha: f64, beta: f64) -> f64 {
    match name {
        "Sigmoid" => 1.0 / (1.0 + (-x).exp()),
        "Tanh" => x.tanh(),
        "Relu" => x.max(0.0),
        "Softsign" => x / (1.0 + x.abs()),
        "Softplus" => x.exp().ln_1p(),
        "Affine" => alpha * x + beta,
        "LeakyRelu" => {
            if x < 0.0 {
                alpha * x
            } else {
                x
            }
        }
        "ThresholdedRelu" => {
            if x > alpha {
                x
            } else {
                0.0
            }
        }
        "ScaledTanh" => alpha * (beta * x).tanh(),
        "HardSigmoid" => (alpha * x + beta).clamp(0.0, 1.0),
        "Elu" => {
            if x < 0.0 {
                alpha * x.exp_m1()
            } else {
                x
            }
        }
        _ => panic!("{name} is not among the functions of this test"),
    }
}

/// The functions with one number, and those with two.
const WITH_ALPHA: [&str; 6] =
    ["Affine", "ScaledTanh", "HardSigmoid", "LeakyRelu", "ThresholdedRelu", "Elu"];
const WITH_BETA: [&str; 3] = ["Affine", "ScaledTanh", "HardSigmoid"];

/// A random layer.
struct Layer {
    operator: &'static str,
    direction: &'static str,
    is_batch_first: bool,
    length: usize,
    batch: usize,
    input: usize,
    hidden: usize,
    clip: Option<f32>,
    couples_forget: bool,
    resets_product: bool,
    functions: Vec<(&'static str, f32, f32)>,
    lengths: Option<Vec<i32>>,
    x: Vec<f32>,
    w: Vec<f32>,
    r: Vec<f32>,
    bias: Option<Vec<f32>>,
    initial: [Option<Vec<f32>>; 2],
    peepholes: Option<Vec<f32>>,
}

impl Layer {
    fn directions(&self) -> usize {
        if self.direction == "bidirectional" { 2 } else { 1 }
    }

    fn gates(&self) -> usize {
        match self.operator {
            "LSTM" => 4,
            "GRU" => 3,
            _ => 1,
        }
    }

    fn states(&self) -> usize {
        if self.operator == "LSTM" { 2 } else { 1 }
    }

    fn random(random: &mut Random) -> Layer {
        let operator = ["LSTM", "GRU", "RNN"][random.below(3)];
        let direction = ["forward", "reverse", "bidirectional"][random.below(3)];
        let mut layer = Layer {
            operator,
            direction,
            is_batch_first: random.below(3) == 0,
            length: 1 + random.below(4),
            batch: 1 + random.below(3),
            input: 1 + random.below(3),
            hidden: 1 + random.below(4),
            clip: (random.below(3) == 0).then_some(0.75),
            couples_forget: random.below(3) == 0,
            resets_product: random.below(2) == 0,
            functions: vec![],
            lengths: None,
            x: vec![],
            w: vec![],
            r: vec![],
            bias: None,
            initial: [None, None],
            peepholes: None,
        };
        let default: &[&'static str] = match operator {
            "LSTM" => &["Sigmoid", "Tanh", "Tanh"],
            "GRU" => &["Sigmoid", "Tanh"],
            _ => &["Tanh"],
        };
        let chooses = random.below(2) == 0;
        let all: Vec<&'static str> = ["Sigmoid", "Tanh", "Relu", "Softsign", "Softplus"]
            .into_iter()
            .chain(WITH_ALPHA)
            .collect();
        for _ in 0..layer.directions() {
            for name in default {
                let name = if chooses { all[random.below(all.len())] } else { name };
                layer.functions.push((name, 0.5, 0.25));
            }
        }
        let mut numbers =
            |count: usize| (0..count).map(|_| random.below(2001) as f32 / 1000.0 - 1.0).collect();
        let Layer { length, batch, input, hidden, .. } = layer;
        let (d, gates) = (layer.directions(), layer.gates());
        layer.x = numbers(length * batch * input);
        layer.w = numbers(d * gates * hidden * input);
        layer.r = numbers(d * gates * hidden * hidden);
        let (bias, initial, peepholes) = (
            numbers(d * 2 * gates * hidden),
            [numbers(d * batch * hidden), numbers(d * batch * hidden)],
            numbers(d * 3 * hidden),
        );
        layer.bias = (random.below(3) > 0).then_some(bias);
        let [h, c] = initial;
        layer.initial = [(random.below(2) > 0).then_some(h), (random.below(2) > 0).then_some(c)];
        layer.peepholes = (random.below(2) > 0 && operator == "LSTM").then_some(peepholes);
        if operator != "LSTM" {
            layer.initial[1] = None;
        }
        let lengths = (0..batch).map(|_| 1 + random.below(length) as i32).collect();
        layer.lengths = match random.below(3) {
            0 => None,
            1 => Some(vec![length as i32; batch]),
            _ => Some(lengths),
        };
        layer
    }

    /// The element of `x` or of a state, whose axes may be swapped.
    fn at(&self, first: usize, second: usize, sizes: [usize; 2]) -> usize {
        match self.is_batch_first {
            true => second * sizes[0] + first,
            false => first * sizes[1] + second,
        }
    }

    /// All results, element by element in double precision.
    fn results(&self) -> Vec<Vec<f64>> {
        let Layer { length, batch, hidden, .. } = *self;
        let d = self.directions();
        let mut all = vec![0.0; length * d * batch * hidden];
        let mut finals = vec![vec![0.0; d * batch * hidden]; self.states()];
        for direction in 0..d {
            let is_reversed = self.direction == "reverse" || direction == 1;
            for b in 0..batch {
                let end = self.lengths.as_ref().map_or(length, |lengths| lengths[b] as usize);
                let mut states = vec![vec![0.0f64; hidden]; self.states()];
                for (state, given) in states.iter_mut().zip(&self.initial) {
                    for (k, element) in state.iter_mut().enumerate() {
                        let at = self.at(direction, b, [d, batch]) * hidden + k;
                        *element = given.as_ref().map_or(0.0, |given| given[at].into());
                    }
                }
                for step in 0..end {
                    let t = if is_reversed { end - 1 - step } else { step };
                    states = self.step(direction, t, b, &states);
                    for (k, element) in states[0].iter().enumerate() {
                        let at = match self.is_batch_first {
                            true => (b * length + t) * d + direction,
                            false => (t * d + direction) * batch + b,
                        };
                        all[at * hidden + k] = *element;
                    }
                }
                for (state, result) in states.iter().zip(&mut finals) {
                    let at = self.at(direction, b, [d, batch]) * hidden;
                    result[at..at + hidden].copy_from_slice(state);
                }
            }
        }
        [vec![all], finals].concat()
    }

    fn step(&self, direction: usize, t: usize, b: usize, states: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let Layer { length, batch, input, hidden, .. } = *self;
        let gates = self.gates();
        let x = |k: usize| f64::from(self.x[self.at(t, b, [length, batch]) * input + k]);
        let bias = |half: usize, row: usize| {
            let at = (direction * 2 + half) * gates * hidden + row;
            self.bias.as_ref().map_or(0.0, |bias| f64::from(bias[at]))
        };
        let from_x = |row: usize| {
            let at = (direction * gates * hidden + row) * input;
            (0..input).map(|k| f64::from(self.w[at + k]) * x(k)).sum::<f64>() + bias(0, row)
        };
        let from_h = |row: usize, h: &[f64]| {
            let at = (direction * gates * hidden + row) * hidden;
            (0..hidden).map(|k| f64::from(self.r[at + k]) * h[k]).sum::<f64>()
        };
        let count = self.functions.len() / self.directions();
        let function = |function: usize, x: f64| {
            let (name, alpha, beta) = self.functions[direction * count + function];
            let clip = self.clip.filter(|_| function < 2);
            let x = clip.map_or(x, |clip| x.clamp(-f64::from(clip), clip.into()));
            activation(name, x, alpha.into(), beta.into())
        };
        let gate = |gate: usize, k: usize, h: &[f64]| {
            let row = gate * hidden + k;
            from_x(row) + from_h(row, h) + bias(1, row)
        };
        let peephole = |gate: usize, k: usize, c: f64| {
            let at = (direction * 3 + gate) * hidden + k;
            self.peepholes.as_ref().map_or(0.0, |weights| f64::from(weights[at]) * c)
        };
        let h = &states[0][..];
        let each = 0..hidden;
        match self.operator {
            "LSTM" => {
                let c = &states[1];
                let pairs = each.map(|k| {
                    let i = function(0, gate(0, k, h) + peephole(0, k, c[k]));
                    let f = match self.couples_forget {
                        true => 1.0 - i,
                        false => function(0, gate(2, k, h) + peephole(2, k, c[k])),
                    };
                    let new = f * c[k] + i * function(1, gate(3, k, h));
                    let o = function(0, gate(1, k, h) + peephole(1, k, new));
                    (o * function(2, new), new)
                });
                let (h, c) = pairs.unzip();
                vec![h, c]
            }
            "GRU" => {
                let r: Vec<f64> = each.clone().map(|k| function(0, gate(1, k, h))).collect();
                let reset: Vec<f64> = each.clone().map(|k| r[k] * h[k]).collect();
                let new = each.map(|k| {
                    let z = function(0, gate(0, k, h));
                    let row = 2 * hidden + k;
                    let own = match self.resets_product {
                        true => r[k] * (from_h(row, h) + bias(1, row)),
                        false => from_h(row, &reset) + bias(1, row),
                    };
                    (1.0 - z) * function(1, from_x(row) + own) + z * h[k]
                });
                vec![new.collect()]
            }
            _ => vec![each.map(|k| function(0, gate(0, k, h))).collect()],
        }
    }

    fn attributes(&self) -> Vec<Message> {
        let text = support::onnx::text;
        let floats = |name: &str, numbers: Vec<f32>| {
            let list = numbers
                .iter()
                .fold(Message::default().bytes(1, name), |list, &number| list.float(7, number));
            list.int(20, 6)
        };
        let names = self
            .functions
            .iter()
            .fold(Message::default().bytes(1, "activations"), |list, (name, ..)| {
                list.bytes(9, name)
            });
        let with = |names: &[&str], number: fn(&(&str, f32, f32)) -> f32| {
            self.functions.iter().filter(|it| names.contains(&it.0)).map(number).collect()
        };
        let mut attributes = vec![
            int("hidden_size", self.hidden as i64),
            text("direction", self.direction),
            int("layout", self.is_batch_first.into()),
            names.int(20, 8),
        ];
        let lists: [(&str, Vec<f32>); 2] = [
            ("activation_alpha", with(&WITH_ALPHA, |it| it.1)),
            ("activation_beta", with(&WITH_BETA, |it| it.2)),
        ];
        for (name, numbers) in lists.into_iter().filter(|(_, numbers)| !numbers.is_empty()) {
            attributes.push(floats(name, numbers));
        }
        attributes.extend(self.clip.map(|clip| float("clip", clip)));
        match self.operator {
            "LSTM" => attributes.push(int("input_forget", self.couples_forget.into())),
            "GRU" => attributes.push(int("linear_before_reset", self.resets_product.into())),
            _ => {}
        }
        attributes
    }

    /// The operands by name, with their shapes; those without elements are left out.
    fn operands(&self) -> Vec<Option<(&'static str, Array)>> {
        let Layer { length, batch, input, hidden, .. } = *self;
        let (d, gates) = (self.directions(), self.gates());
        let swapped = |first: usize, second: usize, third: usize| match self.is_batch_first {
            true => vec![second, first, third],
            false => vec![first, second, third],
        };
        let array = |name, sizes: Vec<usize>, elements: &Vec<f32>| {
            Some((name, Array::new(&sizes[..], elements.clone()).unwrap()))
        };
        let lengths = self.lengths.as_ref();
        vec![
            array("x", swapped(length, batch, input), &self.x),
            array("w", vec![d, gates * hidden, input], &self.w),
            array("r", vec![d, gates * hidden, hidden], &self.r),
            self.bias.as_ref().and_then(|b| array("b", vec![d, 2 * gates * hidden], b)),
            lengths.map(|lengths| ("lengths", Array::new([batch], lengths.clone()).unwrap())),
            self.initial[0].as_ref().and_then(|h| array("h", swapped(d, batch, hidden), h)),
            self.initial[1].as_ref().and_then(|c| array("c", swapped(d, batch, hidden), c)),
            self.peepholes.as_ref().and_then(|p| array("p", vec![d, 3 * hidden], p)),
        ]
    }

    fn model(&self, operands: &[Option<(&'static str, Array)>]) -> Model {
        let names: Vec<&str> = operands
            .iter()
            .map(|operand| operand.as_ref().map_or("", |operand| operand.0))
            .collect();
        let last = names.iter().rposition(|name| !name.is_empty()).unwrap();
        let results = &["y", "y_h", "y_c"][..1 + self.states()];
        let input = |(name, array): &(&'static str, Array)| {
            let sizes: Vec<String> = array.shape().iter().map(usize::to_string).collect();
            let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
            value(name, if *name == "lengths" { 6 } else { FLOAT }, Some(&sizes))
        };
        Model {
            opset: 17,
            inputs: operands.iter().flatten().map(input).collect(),
            nodes: vec![node(self.operator, &names[..=last], results, &self.attributes())],
            outputs: results
                .iter()
                .zip([4, 3, 3])
                .map(|(name, rank)| value(name, FLOAT, Some(&["p", "q", "r", "s"][..rank])))
                .collect(),
            ..Model::default()
        }
    }
}

#[test]
fn random_layers_are_their_definition() {
    let mut random = Random(1);
    for case in 0..200 {
        let layer = Layer::random(&mut random);
        let operands = layer.operands();
        let model = support::read("m.onnx", layer.model(&operands).encoded()).unwrap();
        let arrays: Vec<Array> = operands.into_iter().flatten().map(|it| it.1).collect();
        let found = support::run(&*model, &arrays).unwrap();
        for (number, (found, expected)) in found.iter().zip(layer.results()).enumerate() {
            let found = found.elements::<f32>().unwrap();
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                let difference = (f64::from(*found) - expected).abs();
                let (operator, direction) = (layer.operator, layer.direction);
                assert!(
                    difference <= 1e-4 * (1.0 + expected.abs()),
                    "case {case}, {operator} {direction}, result {number}: {found} {expected}"
                );
            }
        }
    }
}

/// An LSTM with all operands.
fn any_lstm() -> Layer {
    let mut random = Random(2);
    loop {
        let layer = Layer::random(&mut random);
        let has_all = layer.operands().iter().filter(|operand| operand.is_some()).count() == 8;
        if has_all && layer.operator == "LSTM" && layer.directions() == 1 {
            return layer;
        }
    }
}

/// The code of the error of a layer with these operands.
fn code_of(layer: &Layer, operands: Vec<Option<(&'static str, Array)>>) -> &'static str {
    let model = support::read("m.onnx", layer.model(&operands).encoded()).unwrap();
    let arrays: Vec<Array> = operands.into_iter().flatten().map(|it| it.1).collect();
    support::run(&*model, &arrays).expect_err("there is a mistake").code()
}

/// The code of the error of a layer that was changed.
fn code(change: impl FnOnce(&mut Layer)) -> &'static str {
    let mut layer = any_lstm();
    change(&mut layer);
    code_of(&layer, layer.operands())
}

#[test]
fn mistakes_are_errors_with_codes() {
    assert_eq!(code(|layer| layer.direction = "sideways"), "attribute");
    assert_eq!(code(|layer| layer.functions[0].0 = "Cosine"), "attribute");
    assert_eq!(code(|layer| layer.functions.truncate(2)), "attribute");
    for clip in [0.0, -1.0, f32::NAN] {
        assert_eq!(code(|layer| layer.clip = Some(clip)), "attribute", "{clip}");
    }
    let wrong_weights = |name: &str, axis: usize| {
        let layer = any_lstm();
        let mut operands = layer.operands();
        for (known, array) in operands.iter_mut().flatten() {
            if *known == name {
                let mut sizes = array.shape().to_vec();
                sizes[axis] += 1;
                let count = sizes.iter().product();
                *array = Array::new(&sizes[..], vec![0.0f32; count]).unwrap();
            }
        }
        code_of(&layer, operands)
    };
    for (name, axis, expected) in [
        ("w", 0, "wrong-count"),
        ("w", 1, "argument-type"),
        ("w", 2, "argument-type"),
        ("r", 1, "argument-type"),
        ("r", 2, "attribute"),
        ("b", 1, "unexpected"),
        ("h", 2, "argument-type"),
        ("p", 1, "argument-type"),
    ] {
        assert_eq!(wrong_weights(name, axis), expected, "{name} {axis}");
    }
}

#[test]
fn a_layer_without_elements_has_no_steps() {
    let length = 1 << 40;
    let floats = |name, sizes: &[i64]| support::onnx::floats(name, sizes, &[]);
    for (operator, results) in [("LSTM", 3), ("GRU", 2), ("RNN", 2)] {
        let names = &["y", "h", "c"][..results];
        let model = Model {
            opset: 17,
            initializers: vec![
                floats("x", &[length, 1, 0]),
                floats("w", &[2, 0, 0]),
                floats("r", &[2, 0, 0]),
            ],
            nodes: vec![node(
                operator,
                &["x", "w", "r"],
                names,
                &[support::onnx::text("direction", "bidirectional")],
            )],
            outputs: names.iter().map(|name| Message::default().bytes(1, name)).collect(),
            ..Model::default()
        };
        let model = support::read("m.onnx", model.encoded()).unwrap();
        let found = support::run(&*model, &[]).unwrap();
        assert_eq!(found[0].shape().to_vec(), [1 << 40, 2, 1, 0], "{operator}");
        assert_eq!(found[1].shape().to_vec(), [2, 1, 0], "{operator}");
    }
}

#[test]
fn a_compiled_layer_without_elements_ends_at_once() {
    let floats = |name, sizes: &[i64]| support::onnx::floats(name, sizes, &[]);
    let direction = [support::onnx::text("direction", "bidirectional")];
    let model = Model {
        opset: 17,
        inputs: vec![value("x", FLOAT, Some(&["1099511627776", "1", "0"]))],
        initializers: vec![floats("w", &[2, 0, 0]), floats("r", &[2, 0, 0])],
        nodes: vec![node("LSTM", &["x", "w", "r"], &["y", "h"], &direction)],
        outputs: ["y", "h"].iter().map(|name| Message::default().bytes(1, name)).collect(),
        ..Model::default()
    };
    let model = support::read("m.onnx", model.encoded()).unwrap();
    let x = Array::new([1 << 40, 1, 0], Vec::<f32>::new()).unwrap();
    let program = support::build(&*model, std::slice::from_ref(&x)).unwrap();
    let compiled = compile(&program.graph, &CompileOptions::default()).unwrap();
    let found = compiled.run(&[ArrayView::from(&x)]).unwrap();
    assert_eq!(found[0].shape().to_vec(), [1 << 40, 2, 1, 0]);
    assert_eq!(found[1].shape().to_vec(), [2, 1, 0]);
}

#[test]
fn a_layer_has_the_step_limit_of_loops() {
    let floats = |name, sizes: &[i64]| support::onnx::floats(name, sizes, &[]);
    let run = |length: i64| {
        let model = Model {
            opset: 17,
            initializers: vec![
                floats("x", &[length, 1, 0]),
                floats("w", &[1, 1, 0]),
                support::onnx::floats("r", &[1, 1, 1], &[0.5]),
            ],
            nodes: vec![node("RNN", &["x", "w", "r"], &["", "h"], &[])],
            outputs: vec![Message::default().bytes(1, "h")],
            ..Model::default()
        };
        let model = support::read("m.onnx", model.encoded()).unwrap();
        support::build(&*model, &[]).map(|_| ()).map_err(|error| error.code())
    };
    assert_eq!(run(1 << 32), Ok(()));
    assert_eq!(run((1 << 32) + 1), Err("unsupported"));
}

/// ONNX Runtime has no layers with the batch first.
#[test]
fn onnx_runtime_computes_the_same_layers() {
    let mut random = Random(4);
    let layers = (0..150).map(|_| Layer::random(&mut random));
    let models = layers.filter(|layer| !layer.is_batch_first).map(|layer| {
        let operands = layer.operands();
        let content = layer.model(&operands).encoded();
        let inputs: Vec<Array> = operands.into_iter().flatten().map(|it| it.1).collect();
        let model = support::read("m.onnx", &content).unwrap();
        let outputs = support::run(&*model, &inputs).unwrap();
        let name = format!("{} {}", layer.operator, layer.direction);
        StoredModel { name, content, inputs, outputs }
    });
    run_in_onnx_runtime("layers", models);
}
