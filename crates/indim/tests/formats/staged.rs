//! Models with sizes that depend on data, run in stages, against values written here and ONNX Runtime.

use crate::support::ir::{self, Network};
use crate::support::onnx::{
    FLOAT, INT64, Message, Model, StoredModel, int, node, run_in_onnx_runtime, value,
};
use crate::support::random::Random;
use indim::formats::{ProgramPart, ReadOptions, SourceFile, StagedModel};
use indim::{ArrayView, RunOptions};
use indim_graph::Array;
use indim_ops::DType;

fn floats(shape: &[usize], elements: &[f32]) -> Array {
    Array::new(shape, elements.to_vec()).unwrap()
}

fn integers(shape: &[usize], elements: &[i64]) -> Array {
    Array::new(shape, elements.to_vec()).unwrap()
}

fn bools(elements: &[bool]) -> Array {
    Array::new([elements.len()], elements.to_vec()).unwrap()
}

/// The results of a model in stages, or the code of its error.
fn run(source: SourceFile, inputs: &[Array]) -> Result<Vec<Array>, &'static str> {
    let model = StagedModel::from_source(source, &ReadOptions::default());
    let model = model.map_err(|error| error.code())?;
    assert!(model.has_stages());
    let views: Vec<_> = inputs.iter().map(|array| Some(ArrayView::from(array))).collect();
    model.run(&views).map_err(|error| error.code())
}

fn source(model: &Model) -> SourceFile {
    SourceFile::new("x.onnx", model.encoded())
}

/// A model of these nodes, whose inputs `a`, `b`, ... have the types of the arrays.
fn model(inputs: &[Array], nodes: Vec<Message>, outputs: &[(&str, i64, usize)]) -> Model {
    let declared = |(name, array): (&&str, &Array)| {
        let element = match array.dtype() {
            DType::I64 => INT64,
            DType::Bool => 9,
            _ => FLOAT,
        };
        let sizes: Vec<String> = array.shape().iter().map(usize::to_string).collect();
        let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
        value(name, element, Some(&sizes))
    };
    let output = |&(name, element, rank): &(&str, i64, usize)| {
        let sizes: Vec<String> = (0..rank).map(|axis| format!("{name}{axis}")).collect();
        let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
        value(name, element, Some(&sizes))
    };
    Model {
        opset: 13,
        inputs: ["a", "b"].iter().zip(inputs).map(declared).collect(),
        nodes,
        outputs: outputs.iter().map(output).collect(),
        ..Model::default()
    }
}

fn non_zero(x: &Array) -> Array {
    let model = model(
        core::slice::from_ref(x),
        vec![node("NonZero", &["a"], &["y"], &[])],
        &[("y", INT64, 2)],
    );
    run(source(&model), core::slice::from_ref(x)).unwrap().remove(0)
}

#[test]
fn positions_of_elements_are_rows_of_axes() {
    let x = floats(&[2, 3], &[0., 1., f32::NAN, -0.0, 0., -1.]);
    assert_eq!(non_zero(&x), integers(&[2, 3], &[0, 0, 1, 1, 2, 2]));
    assert_eq!(non_zero(&bools(&[true, false, true])), integers(&[1, 2], &[0, 2]));
    assert_eq!(non_zero(&integers(&[2], &[0, 0])), integers(&[1, 0], &[]));
    assert_eq!(non_zero(&floats(&[0, 4], &[])), integers(&[2, 0], &[]));
    assert_eq!(non_zero(&floats(&[0, 1 << 40, 1 << 40], &[])), integers(&[3, 0], &[]));
}

fn compress(x: &Array, condition: &[bool], axis: Option<i64>) -> Result<Array, &'static str> {
    let inputs = [x.clone(), bools(condition)];
    let attributes: Vec<Message> = axis.map(|axis| int("axis", axis)).into_iter().collect();
    let rank = if axis.is_none() { 1 } else { x.shape().rank() };
    let nodes = vec![node("Compress", &["a", "b"], &["y"], &attributes)];
    let model = model(&inputs, nodes, &[("y", FLOAT, rank)]);
    run(source(&model), &inputs).map(|mut results| results.remove(0))
}

#[test]
fn conditions_select_elements_or_parts() {
    let x = floats(&[3, 2], &[1., 2., 3., 4., 5., 6.]);
    assert_eq!(compress(&x, &[false, true, false, true], None), Ok(floats(&[2], &[2., 4.])));
    assert_eq!(compress(&x, &[false, true, true], Some(0)), Ok(floats(&[2, 2], &[3., 4., 5., 6.])));
    assert_eq!(compress(&x, &[false, true], Some(-1)), Ok(floats(&[3, 1], &[2., 4., 6.])));
    assert_eq!(compress(&x, &[false, false], Some(0)), Ok(floats(&[0, 2], &[])));
    assert_eq!(compress(&x, &[false, false, true], Some(1)), Err("index-out-of-range"));
    assert_eq!(compress(&floats(&[0, 2], &[]), &[false], Some(0)), Ok(floats(&[0, 2], &[])));
    assert_eq!(compress(&x, &[true], Some(2)), Err("axis-out-of-range"));
}

fn unique(x: &Array, axis: Option<i64>, is_sorted: bool) -> Result<Vec<Array>, &'static str> {
    let mut attributes: Vec<Message> = axis.map(|axis| int("axis", axis)).into_iter().collect();
    attributes.push(int("sorted", i64::from(is_sorted)));
    let rank = if axis.is_none() { 1 } else { x.shape().rank() };
    let names = ["y", "indices", "inverse", "counts"];
    let nodes = vec![node("Unique", &["a"], &names, &attributes)];
    let lists = names[1..].iter().map(|name| (*name, INT64, 1));
    let outputs: Vec<_> = [("y", FLOAT, rank)].into_iter().chain(lists).collect();
    run(source(&model(core::slice::from_ref(x), nodes, &outputs)), core::slice::from_ref(x))
}

#[test]
fn unique_elements_have_their_first_position_and_their_count() {
    let x = floats(&[6], &[2., 1., 1., 3., 4., 3.]);
    let list = |numbers: &[i64]| integers(&[numbers.len()], numbers);
    let sorted = unique(&x, None, true).unwrap();
    assert_eq!(sorted[0], floats(&[4], &[1., 2., 3., 4.]));
    assert_eq!(sorted[1..], [list(&[1, 0, 3, 4]), list(&[1, 0, 0, 2, 3, 2]), list(&[2, 1, 2, 1])]);
    let unsorted = unique(&x, None, false).unwrap();
    assert_eq!(unsorted[0], floats(&[4], &[2., 1., 3., 4.]));
    assert_eq!(
        unsorted[1..],
        [list(&[0, 1, 3, 4]), list(&[0, 1, 1, 2, 3, 2]), list(&[1, 2, 2, 1])]
    );
    let x = floats(&[3, 3], &[1., 0., 0., 1., 0., 0., 2., 3., 4.]);
    let rows = unique(&x, Some(0), true).unwrap();
    assert_eq!(rows[0], floats(&[2, 3], &[1., 0., 0., 2., 3., 4.]));
    assert_eq!(rows[1..], [list(&[0, 2]), list(&[0, 0, 1]), list(&[2, 1])]);
    let columns = unique(&x, Some(-1), true).unwrap();
    assert_eq!(columns[0], floats(&[3, 3], &[0., 0., 1., 0., 0., 1., 3., 4., 2.]));
    // NaNs are equal, and greatest; so are both zeros.
    let x = floats(&[5], &[f32::NAN, 0.0, -0.0, f32::NAN, 1.0]);
    assert_eq!(unique(&x, None, true).unwrap()[3], list(&[2, 1, 2]));
    let nothing = unique(&floats(&[0], &[]), None, true).unwrap();
    assert_eq!(nothing, [floats(&[0], &[]), list(&[]), list(&[]), list(&[])]);
    assert_eq!(unique(&x, Some(1), true), Err("axis-out-of-range"));
    let parts = unique(&floats(&[3, 0], &[]), Some(0), true).unwrap();
    assert_eq!(parts[1..], [list(&[0]), list(&[0, 0, 0]), list(&[3])]);
    assert_eq!(unique(&floats(&[1 << 40, 0], &[]), Some(0), true), Err("limit"));
    let large = floats(&[0, 1 << 40, 1 << 40], &[]);
    assert_eq!(unique(&large, Some(0), true).unwrap()[1], list(&[]));
}

/// The sizes that data gives determine shapes of the next stages.
#[test]
fn a_model_runs_in_as_many_stages_as_it_has_sizes_from_data() {
    let x = floats(&[2, 3], &[5., 0., 7., 7., 0., 5.]);
    let nodes = vec![
        node("NonZero", &["a"], &["positions"], &[]),
        node("Transpose", &["positions"], &["rows"], &[]),
        node("GatherND", &["a", "rows"], &["elements"], &[]),
        node("Unique", &["elements"], &["unique"], &[]),
        node("Shape", &["unique"], &["shape"], &[]),
        node("Expand", &["b", "shape"], &["wide"], &[]),
        node("Mul", &["unique", "wide"], &["y"], &[]),
    ];
    let inputs = [x, floats(&[1], &[10.0])];
    let model = model(&inputs, nodes, &[("y", FLOAT, 1)]);
    assert_eq!(run(source(&model), &inputs), Ok(vec![floats(&[2], &[50., 70.])]));
    // Part of it has fewer stages.
    let part = ProgramPart { from: vec!["elements".to_owned()], to: vec!["unique".to_owned()] };
    let options = ReadOptions::default().part(part);
    let part = StagedModel::from_source(source(&model), &options).unwrap();
    assert_eq!(part.inputs().len(), 1);
    let elements = floats(&[3], &[2., 1., 2.]);
    let found = part.run(&[Some(ArrayView::from(&elements))]).unwrap();
    assert_eq!(found, [floats(&[2], &[1., 2.])]);
    assert_eq!(part.whole().unwrap_err().code(), "unsupported-op");
}

#[test]
fn a_stage_cannot_compute_other_operators_or_nodes_of_bodies() {
    let x = floats(&[2], &[1., 0.]);
    let nodes = vec![
        node("NonZero", &["a"], &["positions"], &[]),
        node("StringNormalizer", &["positions"], &["y"], &[]),
    ];
    let foreign = model(core::slice::from_ref(&x), nodes, &[("y", INT64, 1)]);
    let error = StagedModel::from_source(source(&foreign), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.code(), "unsupported-op");
    let branch = |name: &str| {
        let body = Message::default()
            .bytes(1, node("NonZero", &["a"], &[name], &[]))
            .bytes(2, name)
            .bytes(12, value(name, INT64, None));
        Message::default().bytes(1, name).bytes(6, body).int(20, 5)
    };
    let branches = [branch("then_branch"), branch("else_branch")];
    let inputs = [x, bools(&[true])];
    let nodes = vec![node("If", &["b"], &["y"], &branches)];
    let branch = model(&inputs, nodes, &[("y", INT64, 2)]);
    let error = StagedModel::from_source(source(&branch), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.code(), "unsupported-op");
}

#[test]
fn openvino_networks_run_in_stages() {
    let x = floats(&[2, 2], &[0., 3., 3., 0.]);
    let mut network = Network::default();
    network.parameter("f32", "2,2", "FP32 2 2");
    network.add("NonZero-3", "output_type=\"i32\"", &["0"], &["I32 2 -1"]);
    network.result("1:1");
    let found = run(ir::source(&network.text(), &network.constants), core::slice::from_ref(&x));
    let expected = Array::new([2, 2], vec![0i32, 1, 1, 0]).unwrap();
    assert_eq!(found, Ok(vec![expected]));
    let mut network = Network::default();
    network.parameter("f32", "2,2", "FP32 2 2");
    let results = ["FP32 -1", "I32 -1", "I32 4", "I64 -1"];
    let attributes = "sorted=\"false\" index_element_type=\"i32\"";
    network.add("Unique-10", attributes, &["0"], &results);
    network.result("1:1");
    network.result("1:3");
    let found = run(ir::source(&network.text(), &network.constants), core::slice::from_ref(&x));
    let inverse = Array::new([4], vec![0i32, 1, 1, 0]).unwrap();
    assert_eq!(found, Ok(vec![floats(&[2], &[0., 3.]), inverse]));
}

#[test]
fn onnx_runtime_finds_the_same_sizes() {
    let random = &mut Random(41);
    let mut models = Vec::new();
    for at in 0..60 {
        let shape = [1 + random.below(3), 1 + random.below(4)];
        let few: Vec<f32> = (0..shape[0] * shape[1]).map(|_| random.below(3) as f32).collect();
        let x = floats(&shape, &few);
        let axis = random.below(3);
        let attributes: Vec<Message> =
            (axis < 2).then(|| int("axis", axis as i64)).into_iter().collect();
        let rank = if axis < 2 { 2 } else { 1 };
        let (inputs, of_node) = match at % 3 {
            0 => {
                let nodes = vec![node("NonZero", &["a"], &["y"], &[])];
                (vec![x.clone()], model(&[x], nodes, &[("y", INT64, 2)]))
            }
            1 => {
                let size = if axis < 2 { shape[axis] } else { shape[0] * shape[1] };
                let condition: Vec<bool> =
                    (0..1 + random.below(size)).map(|_| random.below(2) == 1).collect();
                let inputs = vec![x, bools(&condition)];
                let nodes = vec![node("Compress", &["a", "b"], &["y"], &attributes)];
                (inputs.clone(), model(&inputs, nodes, &[("y", FLOAT, rank)]))
            }
            _ => {
                let order = int("sorted", random.below(2) as i64);
                let names = ["y", "indices", "inverse", "counts"];
                let nodes =
                    vec![node("Unique", &["a"], &names, &[&attributes[..], &[order]].concat())];
                let lists = names[1..].iter().map(|name| (*name, INT64, 1));
                let outputs: Vec<_> = [("y", FLOAT, rank)].into_iter().chain(lists).collect();
                (vec![x.clone()], model(&[x], nodes, &outputs))
            }
        };
        let outputs = run(source(&of_node), &inputs).unwrap();
        let name = format!("{at} stages");
        models.push(StoredModel { name, content: of_node.encoded(), inputs, outputs });
    }
    run_in_onnx_runtime("stages", models);
}

#[test]
fn nodes_obey_the_memory_limit_and_unread_inputs_stay() {
    let x = floats(&[4], &[0., 2., 0., 3.]);
    let nodes = vec![node("NonZero", &["b"], &["y"], &[])];
    let inputs = [x.clone(), x];
    let model = model(&inputs, nodes, &[("y", INT64, 2)]);
    let model = StagedModel::from_source(source(&model), &ReadOptions::default()).unwrap();
    let names: Vec<&str> = model.inputs().iter().map(|input| input.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(model.inputs()[0].declared(), "f32[4]");
    let views: Vec<_> = inputs.iter().map(|array| Some(ArrayView::from(array))).collect();
    assert_eq!(model.run(&views).unwrap(), [integers(&[1, 2], &[1, 3])]);
    let options = RunOptions::new().memory_limit(1);
    let error = model.run_stages(&views, &options).unwrap_err();
    assert_eq!(error.code(), "memory-limit");
}

#[test]
fn the_nodes_of_all_stages_are_limited() {
    let names: Vec<String> = (0..600).map(|number| format!("p{number}")).collect();
    let x = [floats(&[1], &[1.0])];
    let outputs: Vec<(&str, i64, usize)> =
        names.iter().map(|name| (name.as_str(), INT64, 2)).collect();
    // Nodes that do not depend on each other share a stage.
    let nodes = names.iter().map(|name| node("NonZero", &["a"], &[name], &[])).collect();
    let found = run(source(&model(&x, nodes, &outputs)), &x).unwrap();
    assert_eq!(found, vec![integers(&[1, 1], &[0]); 600]);
    let before = ["a"].into_iter().chain(names.iter().map(String::as_str));
    let nodes = names.iter().zip(before);
    let nodes = nodes.map(|(name, before)| node("NonZero", &[before], &[name], &[])).collect();
    assert_eq!(run(source(&model(&x, nodes, &outputs)), &x), Err("limit"));
}
