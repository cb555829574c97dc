//! Loops, branches and recurrent layers of OpenVINO, compared with results by hand, and hostile ones.

use crate::support::ir::{Network, compare_with_openvino};
use crate::support::{self, random::Random};
use indim_graph::Array;

fn run(network: &Network, inputs: &[Array]) -> Result<Vec<Array>, &'static str> {
    let model = network.read().map_err(|error| error.code())?;
    support::run(&*model, inputs).map_err(|error| error.code())
}

fn floats(array: &Array) -> Vec<f32> {
    array.elements::<f32>().expect("floats").to_vec()
}

/// A `TensorIterator` over `f32[2, 6]` in parts of `size`: the state `s` of `f32[2, size]` becomes
/// `s + part`; the results are the last state, all states, and the last doubled state.
fn iterator(size: usize, input: &str, output: &str) -> Network {
    let part = format!("FP32 2 {size}");
    let mut network = Network::default();
    network.parameter("f32", "2,6", "FP32 2 6");
    network.parameter("f32", &format!("2,{size}"), &part);
    let iterator = network.add("TensorIterator-1", "", &["0", "1"], &[&part, "FP32 2 -1", &part]);
    let mut inner = network.inner();
    inner.parameter("f32", &format!("2,{size}"), &part);
    inner.parameter("f32", &format!("2,{size}"), &part);
    inner.add("Add-1", "", &["0", "1"], &[&part]);
    inner.add("Add-1", "", &["2", "2"], &[&part]);
    inner.result("2");
    inner.result("3");
    let ports = format!(
        "<port_map><input external_port_id=\"0\" internal_layer_id=\"0\" {input}/>\n\
         <input external_port_id=\"1\" internal_layer_id=\"1\"/>\n\
         <output external_port_id=\"2\" internal_layer_id=\"4\"/>\n\
         <output external_port_id=\"3\" internal_layer_id=\"4\" {output}/>\n\
         <output external_port_id=\"4\" internal_layer_id=\"5\"/></port_map>\n\
         <back_edges><edge from-layer=\"4\" to-layer=\"1\"/></back_edges>\n"
    );
    network.nest(iterator, "body", inner, &ports);
    for port in 2..5 {
        network.result(&format!("{iterator}:{port}"));
    }
    network
}

fn numbers(shape: &[usize]) -> Array {
    let count: usize = shape.iter().product();
    Array::new(shape, (0..count).map(|number| number as f32).collect::<Vec<_>>()).unwrap()
}

#[test]
fn an_iterator_takes_parts_and_joins_results() {
    let cases: [(usize, &str, &str, &[usize], bool); 5] = [
        (1, "axis=\"1\"", "axis=\"1\"", &[0, 1, 2, 3, 4, 5], false),
        (
            2,
            "axis=\"1\" start=\"0\" end=\"-1\" stride=\"2\" part_size=\"2\"",
            "axis=\"1\" start=\"0\" end=\"-1\" stride=\"2\" part_size=\"2\"",
            &[0, 1, 2],
            false,
        ),
        (
            1,
            "axis=\"-1\" start=\"-1\" end=\"0\" stride=\"-1\" part_size=\"1\"",
            "axis=\"1\" start=\"-1\" end=\"0\" stride=\"-1\" part_size=\"1\"",
            &[5, 4, 3, 2, 1, 0],
            true,
        ),
        (
            3,
            "axis=\"1\" start=\"-1\" end=\"0\" stride=\"-3\" part_size=\"3\"",
            "axis=\"1\" stride=\"3\" part_size=\"3\"",
            &[1, 0],
            false,
        ),
        (1, "axis=\"1\" start=\"2\" end=\"5\"", "axis=\"1\"", &[2, 3, 4], false),
    ];
    for (size, input, output, order, is_reversed) in cases {
        let network = iterator(size, input, output);
        let x = numbers(&[2, 6]);
        let found = run(&network, &[x.clone(), numbers(&[2, size])]).unwrap();
        let (x, mut state) = (floats(&x), floats(&numbers(&[2, size])));
        let mut all = vec![Vec::new(); 2];
        for &part in order {
            for row in 0..2 {
                for k in 0..size {
                    state[row * size + k] += x[row * 6 + part * size + k];
                }
            }
            for (row, all) in all.iter_mut().enumerate() {
                let new = state[row * size..(row + 1) * size].to_vec();
                let place = if is_reversed { 0 } else { all.len() };
                all.splice(place..place, new);
            }
        }
        assert_eq!(floats(&found[0]), state, "{input}");
        assert_eq!(found[1].shape().to_vec(), [2, size * order.len()], "{input}");
        assert_eq!(floats(&found[1]), all.concat(), "{input}");
        let doubled: Vec<f32> = state.iter().map(|number| number * 2.0).collect();
        assert_eq!(floats(&found[2]), doubled, "{input}");
    }
}

#[test]
fn wrong_ports_are_errors_with_codes() {
    let run = |size: usize, input: &str, output: &str| {
        run(&iterator(size, input, output), &[numbers(&[2, 6]), numbers(&[2, size])])
    };
    for (size, input, output, code) in [
        (1, "axis=\"2\"", "axis=\"1\"", "attribute"),
        (1, "axis=\"-3\"", "axis=\"1\"", "attribute"),
        (1, "axis=\"9223372036854775807\"", "axis=\"1\"", "attribute"),
        (1, "axis=\"1\"", "axis=\"5\"", "attribute"),
        (1, "axis=\"1\" stride=\"0\"", "axis=\"1\"", "unsupported"),
        (1, "axis=\"1\" stride=\"2\"", "axis=\"1\"", "unsupported"),
        (1, "axis=\"1\" stride=\"-9223372036854775808\"", "axis=\"1\"", "unsupported"),
        (1, "axis=\"1\" start=\"4\" end=\"2\"", "axis=\"1\"", "attribute"),
        (1, "axis=\"1\" start=\"0\" end=\"7\"", "axis=\"1\"", "attribute"),
        (1, "axis=\"1\" start=\"-9223372036854775808\"", "axis=\"1\"", "attribute"),
        (1, "axis=\"one\"", "axis=\"1\"", "attribute"),
        (4, "axis=\"1\" stride=\"4\" part_size=\"4\"", "axis=\"1\"", "attribute"),
        (2, "axis=\"1\" stride=\"2\" part_size=\"2\"", "axis=\"1\"", "attribute"),
    ] {
        assert_eq!(run(size, input, output), Err(code), "{input} {output}");
    }
    let text = iterator(1, "axis=\"1\"", "axis=\"1\"").text();
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let model =
            support::ir::read(&text.replace(from, to), &[]).map_err(|error| error.code())?;
        support::run(&*model, &[numbers(&[2, 6]), numbers(&[2, 1])]).map_err(|error| error.code())
    };
    for (from, to, code) in [
        ("internal_layer_id=\"4\"", "internal_layer_id=\"77\"", "undefined"),
        ("internal_layer_id=\"4\"", "internal_layer_id=\"2\"", "unexpected"),
        ("<input external_port_id=\"0\"", "<input external_port_id=\"9\"", "undefined"),
        ("<edge from-layer=\"4\" to-layer=\"1\"/>", "", "unexpected"),
        (
            "<edge from-layer=\"4\" to-layer=\"1\"/>",
            "<edge from-layer=\"4\" to-layer=\"99\"/>",
            "undefined",
        ),
        ("to-layer=\"1\"/></back", "to-layer=\"0\"/></back", "type-mismatch"),
        ("<body>", "<then_body>", "damaged"),
    ] {
        match changed(from, to) {
            Err(found) => assert_eq!(found, code, "{from} {to}"),
            // Without the back edge the state is the same in every step.
            Ok(found) => assert_eq!(floats(&found[0]), [5.0, 12.0]),
        }
    }
    let (start, end) = (text.find("<body>").unwrap(), text.find("</body>").unwrap() + 7);
    let without = text[..start].to_owned() + &text[end..];
    let code = support::ir::read(&without, &[])
        .and_then(|model| support::run(&*model, &[numbers(&[2, 6]), numbers(&[2, 1])]))
        .unwrap_err()
        .code();
    assert_eq!(code, "unexpected");
}

#[test]
fn ports_with_extreme_numbers_give_a_program_or_an_error() {
    let extremes = [0, 1, 2, 6, -1, -7, 1 << 40, i64::MAX, i64::MIN, i64::MIN + 1];
    let mut random = Random(7);
    for _ in 0..400 {
        let mut port = || {
            let names = ["start", "end", "stride", "part_size", "axis"];
            let attributes = names.map(|name| match random.below(3) {
                0 => format!("{name}=\"{}\"", extremes[random.below(extremes.len())]),
                _ => format!("{name}=\"1\""),
            });
            attributes.join(" ")
        };
        let (input, output) = (port(), port());
        if let Ok(model) = iterator(1, &input, &output).read() {
            let _ = support::build(&*model, &[numbers(&[2, 6]), numbers(&[2, 1])]);
        }
    }
}

#[test]
fn damaged_ports_and_bodies_give_errors() {
    let text = iterator(2, "axis=\"1\" stride=\"2\" part_size=\"2\"", "axis=\"1\"").text();
    let from = text.find("<port_map>").expect("there are ports");
    for place in (from..text.len()).step_by(2) {
        for character in ["9", "\"", ""] {
            let mut damaged = text.clone();
            damaged.replace_range(place..=place, character);
            if let Ok(model) = support::ir::read(&damaged, &[]) {
                let _ = support::build(&*model, &[numbers(&[2, 6]), numbers(&[2, 2])]);
            }
        }
    }
}

/// A `Loop`: the state becomes `s + step number + y`, until the trip count or until a limit is reached.
/// Without a number the trip count is an input.
fn looped(trips: &[i64], stacks: bool) -> Network {
    let mut network = Network::default();
    network.parameter("f32", "3", "FP32 3");
    network.parameter("f32", "3", "FP32 3");
    network.parameter("f32", "", "FP32");
    if trips.is_empty() {
        network.parameter("i64", "", "I64");
    } else {
        network.integers(trips);
    }
    network.parameter("boolean", "", "BOOL");
    let layer = network.add("Loop-5", "", &["3", "4", "0", "1", "2"], &["FP32 3", "FP32 -1 3"]);
    let mut inner = network.inner();
    inner.parameter("f32", "3", "FP32 3");
    inner.parameter("f32", "3", "FP32 3");
    inner.parameter("f32", "", "FP32");
    inner.parameter("i64", "1", "I64 1");
    inner.add("Convert-1", "destination_type=\"f32\"", &["3"], &["FP32 1"]);
    inner.add("Add-1", "", &["0", "4"], &["FP32 3"]);
    inner.add("Add-1", "", &["5", "1"], &["FP32 3"]);
    inner.integers(&[0]);
    inner.add("ReduceMax-1", "keep_dims=\"false\"", &["6", "7"], &["FP32"]);
    inner.add("Less-1", "", &["8", "2"], &["BOOL"]);
    inner.result("6");
    inner.result("9");
    inner.integers(&[0]);
    inner.add("Unsqueeze-1", "", &["6", "12"], &["FP32 1 3"]);
    inner.result("13");
    let condition = match stacks {
        true => "",
        false => {
            "<output external_port_id=\"-1\" internal_layer_id=\"11\" purpose=\"execution_condition\"/>"
        }
    };
    let ports = format!(
        "<port_map><input external_port_id=\"2\" internal_layer_id=\"0\"/>\n\
         <input external_port_id=\"3\" internal_layer_id=\"1\"/>\n\
         <input external_port_id=\"4\" internal_layer_id=\"2\"/>\n\
         <input external_port_id=\"-1\" internal_layer_id=\"3\" purpose=\"current_iteration\"/>\n\
         <output external_port_id=\"5\" internal_layer_id=\"10\"/>\n\
         <output external_port_id=\"6\" internal_layer_id=\"14\" axis=\"0\"/>\n\
         {condition}</port_map>\n\
         <back_edges><edge from-layer=\"10\" to-layer=\"0\"/></back_edges>\n"
    );
    network.nest(layer, "body", inner, &ports);
    network.result("5:5");
    if stacks {
        network.result("5:6");
    }
    network
}

#[test]
fn a_loop_ends_by_its_count_or_its_condition() {
    let inputs = |limit: f32, enters: bool| {
        let y = Array::new([3], vec![0.5f32, 0.25, 1.0]).unwrap();
        [numbers(&[3]), y, Array::from_scalar(limit), Array::from_scalar(enters)]
    };
    let expected = |trips: i64, limit: f32| {
        let (mut s, mut step) = ([0.0f32, 1.0, 2.0], 0);
        while trips < 0 || step < trips {
            for (element, y) in s.iter_mut().zip([0.5, 0.25, 1.0]) {
                *element += step as f32 + y;
            }
            step += 1;
            if s.iter().copied().fold(f32::MIN, f32::max) >= limit {
                break;
            }
        }
        s.to_vec()
    };
    for (trips, limit) in [(5, 1e9), (-1, 30.0), (4, 5.0), (0, 5.0), (1, 0.0)] {
        let found = run(&looped(&[trips], false), &inputs(limit, true)).unwrap();
        assert_eq!(floats(&found[0]), expected(trips, limit), "{trips} {limit}");
    }
    // A trip count that only a run knows; a negative one is no limit.
    for (trips, limit) in [(5i64, 1e9), (-1, 30.0), (4, 5.0), (0, 5.0)] {
        let [x, y, bound, enters] = inputs(limit, true);
        let found = run(&looped(&[], false), &[x, y, bound, Array::from_scalar(trips), enters]);
        assert_eq!(floats(&found.unwrap()[0]), expected(trips, limit), "{trips} {limit}");
    }
    let found = run(&looped(&[5], false), &inputs(100.0, false)).unwrap();
    assert_eq!(floats(&found[0]), [0.0, 1.0, 2.0]);
    // Whether a loop is entered is known only to a run, and so is the size of a stack.
    assert_eq!(run(&looped(&[2], true), &inputs(1.0, true)), Err("depends-on-data"));
    assert_eq!(run(&looped(&[1 << 62], true), &inputs(1.0, true)), Err("depends-on-data"));
}

#[test]
fn a_branch_passes_operands_by_ports() {
    let mut network = Network::default();
    network.parameter("boolean", "1", "BOOL 1");
    network.parameter("f32", "2", "FP32 2");
    network.parameter("f32", "2", "FP32 2");
    let layer = network.add("If-8", "", &["0", "1", "2"], &["FP32 2", "FP32 2"]);
    for (element, operation, outputs) in [("then", "Subtract-1", [0, 1]), ("else", "Add-1", [1, 0])]
    {
        let mut inner = network.inner();
        inner.parameter("f32", "2", "FP32 2");
        inner.parameter("f32", "2", "FP32 2");
        inner.add(operation, "", &["0", "1"], &["FP32 2"]);
        inner.result("2");
        inner.result("0");
        let [first, second] = outputs;
        let ports = format!(
            "<{element}_port_map><input external_port_id=\"2\" internal_layer_id=\"0\"/>\n\
             <input external_port_id=\"1\" internal_layer_id=\"1\"/>\n\
             <output external_port_id=\"{first}\" internal_layer_id=\"3\"/>\n\
             <output external_port_id=\"{second}\" internal_layer_id=\"4\"/></{element}_port_map>\n"
        );
        network.nest(layer, &format!("{element}_body"), inner, &ports);
    }
    network.result("3:3");
    network.result("3:4");
    let [a, b] = [vec![1.0f32, 2.0], vec![10.0, 30.0]].map(|it| Array::new([2], it).unwrap());
    for (flag, expected) in
        [(true, [[9.0, 28.0], [10.0, 30.0]]), (false, [[10.0, 30.0], [11.0, 32.0]])]
    {
        let flag = Array::new([1], vec![flag]).unwrap();
        let found = run(&network, &[flag, a.clone(), b.clone()]).unwrap();
        assert_eq!([floats(&found[0]), floats(&found[1])], expected.map(Vec::from));
    }
}

/// A branch of two inputs whose outputs are `-x`, `2x` and `x`, or `x`, `-x` and `2x`. The port map lists
/// them in another order.
fn three_outputs(ids: &[usize]) -> Network {
    let mut network = Network::default();
    network.parameter("boolean", "", "BOOL");
    network.parameter("f32", "2", "FP32 2");
    let layer = network.add("If-8", "", &["0", "1"], &["FP32 2"; 3]);
    for (element, order) in [("then", [3, 4, 5, 3]), ("else", [5, 3, 4, 5])] {
        let mut inner = network.inner();
        inner.parameter("f32", "2", "FP32 2");
        inner.add("Negative-1", "", &["0"], &["FP32 2"]);
        inner.add("Add-1", "", &["0", "0"], &["FP32 2"]);
        for source in ["1", "2", "0"] {
            inner.result(source);
        }
        let outputs = ids.iter().zip(order).rev().map(|(id, result)| {
            format!("<output external_port_id=\"{id}\" internal_layer_id=\"{result}\"/>\n")
        });
        let outputs: String = outputs.collect();
        let ports = format!(
            "<{element}_port_map><input external_port_id=\"1\" internal_layer_id=\"0\"/>\n\
             {outputs}</{element}_port_map>\n"
        );
        network.nest(layer, &format!("{element}_body"), inner, &ports);
    }
    for port in 2..5 {
        network.result(&format!("{layer}:{port}"));
    }
    network
}

#[test]
fn outputs_of_a_branch_have_the_ranks_of_their_numbers() {
    let x = Array::new([2], vec![1.0f32, 3.0]).unwrap();
    let (same, negative, double) = ([1.0, 3.0], [-1.0, -3.0], [2.0, 6.0]);
    for ids in [[0, 1, 2], [2, 3, 4], [1, 2, 9]] {
        for (flag, expected) in
            [(true, [negative, double, same]), (false, [same, negative, double])]
        {
            let found = run(&three_outputs(&ids), &[Array::from_scalar(flag), x.clone()]).unwrap();
            let found: Vec<Vec<f32>> = found.iter().map(floats).collect();
            assert_eq!(found, expected.map(Vec::from), "{ids:?} {flag}");
        }
    }
    let inputs = [Array::from_scalar(true), x];
    for (ids, code) in
        [(&[0, 1, 2, 3][..], "undefined"), (&[0, 1, 1], "duplicate"), (&[0, 1], "unexpected")]
    {
        assert_eq!(run(&three_outputs(ids), &inputs), Err(code), "{ids:?}");
    }
}

/// Branches within branches, each with the operand of the one around it.
fn nested(depth: usize) -> Network {
    let mut network = Network::default();
    network.parameter("f32", "2", "FP32 2");
    network.parameter("boolean", "", "BOOL");
    if depth == 0 {
        network.add("Negative-1", "", &["0"], &["FP32 2"]);
        network.result("2");
        return network;
    }
    let layer = network.add("If-8", "", &["1", "0"], &["FP32 2"]);
    for (element, depth) in [("then", depth - 1), ("else", 0)] {
        let ports = format!(
            "<{element}_port_map><input external_port_id=\"1\" internal_layer_id=\"0\"/>\n\
             <input external_port_id=\"0\" internal_layer_id=\"1\"/>\n\
             <output external_port_id=\"0\" internal_layer_id=\"3\"/></{element}_port_map>\n"
        );
        network.nest(layer, &format!("{element}_body"), nested(depth), &ports);
    }
    network.result("2:2");
    network
}

#[test]
fn bodies_nest_to_a_limit() {
    let x = Array::new([2], vec![1.0f32, -2.0]).unwrap();
    let inputs = [x, Array::from_scalar(true)];
    assert_eq!(floats(&run(&nested(16), &inputs).unwrap()[0]), [-1.0, 2.0]);
    assert_eq!(run(&nested(17), &inputs), Err("limit"));
}

/// The gates of an LSTM in OpenVINO's order: forget, input, cell, output.
fn lstm(x: &[f32], h: &[f32], c: &[f32], w: &[f32], r: &[f32], b: &[f32]) -> [Vec<f32>; 2] {
    let (input, hidden) = (x.len(), h.len());
    let gate = |gate: usize, k: usize| {
        let row = gate * hidden + k;
        let of_x: f32 = (0..input).map(|i| w[row * input + i] * x[i]).sum();
        let of_h: f32 = (0..hidden).map(|i| r[row * hidden + i] * h[i]).sum();
        of_x + of_h + b[row]
    };
    let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
    let next = |k: usize| sigmoid(gate(0, k)) * c[k] + sigmoid(gate(1, k)) * gate(2, k).tanh();
    let new: Vec<f32> = (0..hidden).map(next).collect();
    let h = (0..hidden).map(|k| sigmoid(gate(3, k)) * new[k].tanh()).collect();
    [h, new]
}

fn random_floats(random: &mut Random, shape: &[usize]) -> Array {
    let count: usize = shape.iter().product();
    let numbers = (0..count).map(|_| random.below(2001) as f32 / 1000.0 - 1.0);
    Array::new(shape, numbers.collect::<Vec<_>>()).unwrap()
}

fn assert_near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
}

#[test]
fn a_sequence_is_its_cells_in_both_directions() {
    let (length, input, hidden) = (4, 2, 3);
    let mut random = Random(5);
    let shapes: [&[usize]; 7] = [
        &[1, length, input],
        &[1, 2, hidden],
        &[1, 2, hidden],
        &[1],
        &[2, 4 * hidden, input],
        &[2, 4 * hidden, hidden],
        &[2, 4 * hidden],
    ];
    let mut network = Network::default();
    let mut arrays: Vec<Array> =
        shapes.iter().map(|shape| random_floats(&mut random, shape)).collect();
    arrays[3] = Array::new([1], vec![3i32]).unwrap();
    for (number, array) in arrays.iter().enumerate() {
        let sizes: Vec<String> = array.shape().iter().map(usize::to_string).collect();
        let (element, precision) = if number == 3 { ("i32", "I32") } else { ("f32", "FP32") };
        network.parameter(element, &sizes.join(","), &format!("{precision} {}", sizes.join(" ")));
    }
    let attributes =
        "hidden_size=\"3\" direction=\"bidirectional\" activations=\"sigmoid,tanh,tanh\"";
    let operands = ["0", "1", "2", "3", "4", "5", "6"];
    let results = ["FP32 1 2 4 3", "FP32 1 2 3", "FP32 1 2 3"];
    network.add("LSTMSequence-5", attributes, &operands, &results);
    for port in 7..10 {
        network.result(&format!("7:{port}"));
    }
    let found = run(&network, &arrays).unwrap();
    let [x, h, c, _, w, r, b] = &arrays[..] else { panic!("seven operands") };
    let part = |array: &Array, direction: usize| {
        let all = floats(array);
        all[direction * all.len() / 2..(direction + 1) * all.len() / 2].to_vec()
    };
    let (mut all, mut finals) = (vec![0.0; 2 * length * hidden], [Vec::new(), Vec::new()]);
    for direction in 0..2 {
        let (mut h, mut c) = (part(h, direction), part(c, direction));
        for step in 0..3 {
            let t = if direction == 1 { 2 - step } else { step };
            let (w, r, b) = (part(w, direction), part(r, direction), part(b, direction));
            [h, c] = lstm(&floats(x)[t * input..(t + 1) * input], &h, &c, &w, &r, &b);
            let at = (direction * length + t) * hidden;
            all[at..at + hidden].copy_from_slice(&h);
        }
        finals[0].extend(h);
        finals[1].extend(c);
    }
    assert_near(&floats(&found[0]), &all);
    assert_near(&floats(&found[1]), &finals[0]);
    assert_near(&floats(&found[2]), &finals[1]);
}

#[test]
fn a_sequence_without_elements_has_no_steps() {
    let length = 1 << 40;
    let mut network = Network::default();
    network.floats(&format!("1,{length},0"), &[]);
    network.floats("1,1,0", &[]);
    network.floats("1,1,0", &[]);
    network.integers(&[length]);
    network.floats("1,0,0", &[]);
    network.floats("1,0,0", &[]);
    network.floats("1,0", &[]);
    let results = [&format!("FP32 1 1 {length} 0"), "FP32 1 1 0", "FP32 1 1 0"];
    let operands = ["0", "1", "2", "3", "4", "5", "6"];
    network.add("LSTMSequence-5", "hidden_size=\"0\"", &operands, &results);
    for port in 7..10 {
        network.result(&format!("7:{port}"));
    }
    let found = run(&network, &[]).unwrap();
    assert_eq!(found[0].shape().to_vec(), [1, 1, 1 << 40, 0]);
    assert_eq!(found[2].shape().to_vec(), [1, 1, 0]);
}

#[test]
fn a_gru_cell_resets_its_state_or_its_product() {
    let mut random = Random(6);
    for resets_product in [false, true] {
        let biases = if resets_product { 8 } else { 6 };
        let shapes: [&[usize]; 5] = [&[1, 2], &[1, 2], &[6, 2], &[6, 2], &[biases]];
        let arrays: Vec<Array> =
            shapes.iter().map(|shape| random_floats(&mut random, shape)).collect();
        let mut network = Network::default();
        for array in &arrays {
            let sizes: Vec<String> = array.shape().iter().map(usize::to_string).collect();
            network.parameter("f32", &sizes.join(","), &format!("FP32 {}", sizes.join(" ")));
        }
        let attributes = format!("hidden_size=\"2\" linear_before_reset=\"{resets_product}\"");
        network.add("GRUCell-3", &attributes, &["0", "1", "2", "3", "4"], &["FP32 1 2"]);
        network.result("5:5");
        let found = run(&network, &arrays).unwrap();
        let [x, h, w, r, b] = &arrays.iter().map(floats).collect::<Vec<_>>()[..] else { panic!() };
        let product = |weights: &[f32], row: usize, of: &[f32]| {
            weights[2 * row] * of[0] + weights[2 * row + 1] * of[1]
        };
        let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
        let gate = |row: usize| sigmoid(product(w, row, x) + product(r, row, h) + b[row]);
        let reset = [gate(2) * h[0], gate(3) * h[1]];
        let expected: Vec<f32> = (0..2)
            .map(|k| {
                let own = match resets_product {
                    true => gate(2 + k) * (product(r, 4 + k, h) + b[6 + k]),
                    false => product(r, 4 + k, &reset),
                };
                let new = (product(w, 4 + k, x) + own + b[4 + k]).tanh();
                (1.0 - gate(k)) * new + gate(k) * h[k]
            })
            .collect();
        assert_near(&floats(&found[0]), &expected);
        assert_eq!(run(&replaced(&arrays, "activations=\"sine,tanh\""), &arrays), Err("attribute"));
        assert_eq!(run(&replaced(&arrays, "activations=\"tanh\""), &arrays), Err("attribute"));
        for clip in ["-1", "-inf", "NaN"] {
            let network = replaced(&arrays, &format!("clip=\"{clip}\""));
            assert_eq!(run(&network, &arrays), Err("attribute"), "{clip}");
        }
        for clip in ["0", "inf"].into_iter().filter(|_| !resets_product) {
            let found = run(&replaced(&arrays, &format!("clip=\"{clip}\"")), &arrays).unwrap();
            assert_near(&floats(&found[0]), &expected);
        }
    }
}

/// A cell of these operands with other attributes.
fn replaced(arrays: &[Array], attributes: &str) -> Network {
    let mut network = Network::default();
    for array in arrays {
        let sizes: Vec<String> = array.shape().iter().map(usize::to_string).collect();
        network.parameter("f32", &sizes.join(","), &format!("FP32 {}", sizes.join(" ")));
    }
    network.add("GRUCell-3", attributes, &["0", "1", "2", "3", "4"], &["FP32 1 2"]);
    network.result("5:5");
    network
}

#[test]
fn openvino_computes_the_same_loops_and_layers() {
    compare_with_openvino("openvino_control.py", 100);
}
