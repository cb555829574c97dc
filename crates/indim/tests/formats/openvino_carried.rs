//! OpenVINO networks with layers that indim lacks, written as OpenVINO IR: with a known operation in place of
//! the foreign one, the written network computes what the source computes.

use crate::support;
use crate::support::ir::{self, Network};
use indim::formats::{LoadedModel, ModelFormat, ReadOptions, WriteOptions, WrittenModel};
use indim_graph::Array;

const IR: ModelFormat = ModelFormat::OpenVino;

/// The network as OpenVINO IR, around the layers that indim lacks.
fn carried(text: &str, constants: &[u8]) -> WrittenModel {
    let (source, options) = (ir::source(text, constants), ReadOptions::default());
    let error = LoadedModel::from_source(source.clone(), &options).unwrap_err();
    let model = LoadedModel::carrying(source, &options, IR, &error).expect("the same format");
    let model = model.unwrap_or_else(|error| panic!("{error}"));
    let inputs = model.declared().unwrap_or_else(|error| panic!("{error}"));
    let written = model.write(IR, &inputs, &WriteOptions::default());
    written.unwrap_or_else(|error| panic!("{error}"))
}

/// The results, with `Sqrt` in place of the foreign operation.
fn run(text: &str, constants: &[u8], inputs: &[Array]) -> Vec<Array> {
    let text = text.replace("type=\"Foreign\"", "type=\"Sqrt\"");
    let read = ir::read(&text, constants);
    let model =
        read.unwrap_or_else(|error| panic!("{}\n{text}", error.draw(&ir::source(&text, &[]))));
    support::run(&*model, inputs).unwrap()
}

fn numbers(sizes: &[usize], first: f32) -> Array {
    let count: usize = sizes.iter().product();
    Array::new(sizes, (0..count).map(|at| first + at as f32).collect::<Vec<f32>>()).unwrap()
}

/// A branch that gives the layer of `operation` of its only input.
fn branch(network: &mut Network, layer: usize, element: &str, operation: &str) {
    let mut inner = network.inner();
    let x = inner.parameter("f32", "2,3", "FP32 2 3");
    let w = inner.floats("3", &[4.0, 9.0, 16.0]);
    let y = inner.add(operation, "", &[&x.to_string()], &["FP32 2 3"]);
    let z = inner.add("Multiply-1", "", &[&y.to_string(), &w.to_string()], &["FP32 2 3"]);
    let end = inner.result(&z.to_string());
    let ports = format!(
        "<{element}_port_map><input external_port_id=\"1\" internal_layer_id=\"{x}\"/>\
         <output external_port_id=\"2\" internal_layer_id=\"{end}\"/></{element}_port_map>"
    );
    network.nest(layer, &format!("{element}_body"), inner, &ports);
}

fn network() -> Network {
    let mut network = Network::default();
    let text = |layer: usize| layer.to_string();
    let unused = network.parameter("f32", "5", "FP32 5");
    assert_eq!(unused, 0);
    let x = network.parameter("f32", "2,3", "FP32 2 3");
    let flag = network.parameter("boolean", "", "BOOL");
    let w = network.floats("3", &[1.0, 4.0, 9.0]);
    let product = network.add("Multiply-1", "", &[&text(x), &text(w)], &["FP32 2 3"]);
    let foreign = network.add("Foreign-1", "scale=\"2\"", &[&text(product)], &["FP32 2 3"]);
    let sum = network.add("Add-1", "", &[&text(foreign), &text(w)], &["FP32 2 3"]);
    let choice = network.add("If-8", "", &[&text(flag), &text(sum)], &["FP32 2 3"]);
    branch(&mut network, choice, "then", "Foreign-1");
    branch(&mut network, choice, "else", "Negative-1");
    let open = network.add("Foreign-1", "", &[&text(w)], &["FP32 -1"]);
    let behind = network.add("Add-1", "", &[&text(open), &text(choice)], &["FP32 2 3"]);
    let end = network.add("Abs-1", "", &[&text(behind)], &["FP32 2 3"]);
    network.result(&text(end));
    network.result(&text(foreign));
    network.result(&text(x));
    network
}

#[test]
fn layers_and_branches_are_copied_with_their_constants() {
    let network = network();
    let text = network.distinct_text();
    let written = carried(&text, &network.constants);
    let operations = [("Add", 1), ("Foreign", 2), ("If", 1)];
    let operations = operations.map(|(name, count)| (name.to_owned(), count));
    assert_eq!(written.carried, operations);
    let read = |written: &WrittenModel| {
        let text = String::from_utf8(written.content.clone()).unwrap();
        (text, written.external_file.clone().unwrap().1)
    };
    let (first, constants) = read(&written);
    assert!(first.contains("scale=\"2\""), "{first}");
    let (second, second_constants) = read(&carried(&first, &constants));
    for is_then in [true, false] {
        let flag = Array::from_scalar(is_then);
        let inputs = [numbers(&[5], 0.0), numbers(&[2, 3], 1.0), flag];
        let expected = run(&text, &network.constants, &inputs);
        assert_eq!(run(&first, &constants, &inputs), expected);
        assert_eq!(run(&second, &second_constants, &inputs), expected);
        // |√w + f(√(x w) + w) v|, with f the square root or the negation.
        let (x, w, v) = (1.0f32, 1.0f32, 4.0f32);
        let sum = (x * w).sqrt() + w;
        let chosen = if is_then { sum.sqrt() } else { -sum };
        assert_eq!(expected[0].elements::<f32>().unwrap()[0], (w.sqrt() + chosen * v).abs());
    }
}

#[test]
fn a_network_of_copied_layers_alone_keeps_its_inputs() {
    let mut network = Network::default();
    let x = network.parameter("f32", "2,3", "FP32 2 3").to_string();
    let foreign = network.add("Foreign-1", "", &[&x], &["FP32 2 3"]).to_string();
    network.result(&foreign);
    let text = network.distinct_text();
    let written = carried(&text, &network.constants);
    let first = String::from_utf8(written.content).unwrap();
    let inputs = [numbers(&[2, 3], 1.0)];
    assert_eq!(run(&first, &[], &inputs), run(&text, &[], &inputs));
}
