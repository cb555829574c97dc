//! `NonMaxSuppression` in stages, against ONNX Runtime, OpenVINO and a definition written here.

use crate::support::ir::{self, Network};
use crate::support::onnx::{
    FLOAT, INT64, Model, StoredModel, floats as tensor, int, list, node, run_in_onnx_runtime, value,
};
use crate::support::random::Random;
use indim::formats::{ReadOptions, SourceFile, StagedModel};
use indim::{ArrayView, RunOptions};
use indim_graph::Array;

fn floats(shape: &[usize], elements: &[f32]) -> Array {
    Array::new(shape, elements.to_vec()).unwrap()
}

/// Operands and attributes of a node.
#[derive(Clone, Copy)]
struct Case {
    has_centers: bool,
    max: Option<i64>,
    iou: Option<f32>,
    score: Option<f32>,
}

fn staged(case: Case) -> (StagedModel, Vec<u8>) {
    let mut initializers = vec![list("max", &[case.max.unwrap_or(0)])];
    let mut inputs = vec!["a", "b", if case.max.is_some() { "max" } else { "" }];
    for (name, threshold) in [("iou", case.iou), ("score", case.score)] {
        initializers.extend(threshold.map(|number| tensor(name, &[1], &[number])));
        inputs.push(if threshold.is_some() { name } else { "" });
    }
    let attributes = [int("center_point_box", i64::from(case.has_centers))];
    let model = Model {
        opset: 11,
        inputs: vec![
            value("a", FLOAT, Some(&["batch", "boxes", "4"])),
            value("b", FLOAT, Some(&["batch", "classes", "boxes"])),
        ],
        initializers,
        nodes: vec![node("NonMaxSuppression", &inputs, &["y"], &attributes)],
        outputs: vec![value("y", INT64, Some(&["chosen", "3"]))],
        ..Model::default()
    };
    let content = model.encoded();
    let source = SourceFile::new("x.onnx", content.clone());
    let staged = StagedModel::from_source(source, &ReadOptions::default());
    (staged.unwrap_or_else(|error| panic!("{error}")), content)
}

fn run(case: Case, inputs: &[Array; 2]) -> Result<Array, &'static str> {
    let views: Vec<_> = inputs.iter().map(|array| Some(ArrayView::from(array))).collect();
    let results = staged(case).0.run(&views).map_err(|error| error.code());
    results.map(|mut results| results.remove(0))
}

fn rows(found: &Array) -> Vec<&[i64]> {
    found.elements::<i64>().unwrap().chunks(3).collect()
}

const CASE: Case = Case { has_centers: false, max: Some(3), iou: Some(0.5), score: None };

#[test]
fn the_best_boxes_that_overlap_no_better_one_remain() {
    // Boxes 0 and 1 overlap by 9/11, boxes 0 and 2 touch, box 3 has its corners in the other order.
    let boxes = [0., 0., 1., 1., 0., 0.1, 1., 1.1, 0., 1., 1., 2., 4., 4., 3., 3.];
    let boxes = floats(&[1, 4, 4], &boxes);
    let scores = |scores: &[f32; 4]| floats(&[1, 1, 4], scores);
    let inputs = [boxes.clone(), scores(&[0.5, 0.9, 0.5, 0.7])];
    let found = run(CASE, &inputs).unwrap();
    assert_eq!(rows(&found), [[0, 0, 1], [0, 0, 3], [0, 0, 2]]);
    let one = run(Case { max: Some(1), ..CASE }, &inputs).unwrap();
    assert_eq!(rows(&one), [[0, 0, 1]]);
    let good = run(Case { score: Some(0.7), ..CASE }, &inputs).unwrap();
    assert_eq!(rows(&good), [[0, 0, 1]]);
    // Without a limit nothing is chosen, as ONNX states; equal scores keep their order.
    assert_eq!(run(Case { max: None, ..CASE }, &inputs).unwrap().shape().sizes(), [0, 3]);
    let ties = run(CASE, &[boxes.clone(), scores(&[1., 1., 1., 1.])]).unwrap();
    assert_eq!(rows(&ties), [[0, 0, 0], [0, 0, 2], [0, 0, 3]]);
    // A box without a score is not chosen.
    let unknown = run(CASE, &[boxes, scores(&[0.1, f32::NAN, 0.2, f32::NEG_INFINITY])]).unwrap();
    assert_eq!(rows(&unknown), [[0, 0, 2], [0, 0, 0], [0, 0, 3]]);
}

#[test]
fn operands_are_checked_and_the_choice_can_be_stopped() {
    let boxes = |count: usize| floats(&[1, count, 4], &vec![1.0; count * 4]);
    let scores = |count: usize| floats(&[1, 1, count], &vec![1.0; count]);
    assert_eq!(run(CASE, &[boxes(2), scores(3)]), Err("input-type"));
    assert_eq!(run(Case { iou: Some(1.5), ..CASE }, &[boxes(2), scores(2)]), Err("unexpected"));
    assert_eq!(run(CASE, &[boxes(0), scores(0)]).unwrap().shape().sizes(), [0, 3]);
    let (model, inputs) = (staged(CASE).0, [boxes(9), scores(9)]);
    let views: Vec<_> = inputs.iter().map(|array| Some(ArrayView::from(array))).collect();
    let progress = |_: usize| core::ops::ControlFlow::Break(());
    let stopped = model.run_stages(&views, &RunOptions::new().progress(&progress)).unwrap_err();
    assert_eq!(stopped.code(), "stopped");
}

/// Boxes on a coarse grid, so that ties and equal overlaps occur, some with NaN or without area.
fn random_inputs(random: &mut Random, has_centers: bool, has_nan: bool) -> [Array; 2] {
    let [batch, classes, boxes] = [1 + random.below(2), 1 + random.below(3), random.below(12)];
    let mut of_boxes = Vec::new();
    for _ in 0..batch * boxes {
        let [a, b, c, d] = [(); 4].map(|()| random.below(5) as f32 * 0.5);
        let mut one = if has_centers { [a, b, c, d] } else { [a, b, a + c, b + d] };
        if random.below(4) == 0 {
            one.swap(0, 2);
        }
        if has_nan && random.below(12) == 0 {
            one[random.below(4)] = f32::NAN;
        }
        of_boxes.extend(one);
    }
    let scores: Vec<f32> =
        (0..batch * classes * boxes).map(|_| random.below(6) as f32 / 4.0 - 0.25).collect();
    [floats(&[batch, boxes, 4], &of_boxes), floats(&[batch, classes, boxes], &scores)]
}

#[test]
fn onnx_runtime_chooses_the_same_boxes() {
    let random = &mut Random(47);
    let mut models = Vec::new();
    for at in 0..400 {
        let has_centers = random.below(2) == 1;
        let inputs = random_inputs(random, has_centers, at % 2 == 0);
        let case = Case {
            has_centers,
            max: (random.below(8) > 0).then(|| random.below(6) as i64 - 1),
            iou: (random.below(4) > 0).then(|| random.below(5) as f32 / 4.0),
            score: (random.below(3) > 0).then(|| random.below(4) as f32 / 4.0),
        };
        let (model, content) = staged(case);
        let views: Vec<_> = inputs.iter().map(|array| Some(ArrayView::from(array))).collect();
        let outputs = model.run(&views).unwrap_or_else(|error| panic!("{error}"));
        models.push(StoredModel { name: format!("{at}"), content, inputs: inputs.into(), outputs });
    }
    run_in_onnx_runtime("boxes", models);
}

/// OpenVINO drops a box whose overlap equals the threshold, which ONNX keeps, and gives the scores, too.
#[test]
fn openvino_networks_choose_boxes_with_their_scores() {
    let boxes = floats(&[1, 3, 4], &[0., 0., 1., 1., 0., 0., 1., 0.5, 3., 3., 4., 4.]);
    let scores = floats(&[1, 2, 3], &[0.5, 0.25, 0.75, 0.125, 1.0, 0.0]);
    let case = Case { max: Some(2), ..CASE };
    let found = run(case, &[boxes.clone(), scores.clone()]).unwrap();
    assert_eq!(rows(&found), [[0, 0, 2], [0, 0, 0], [0, 1, 1], [0, 1, 0]]);

    let mut network = Network::default();
    network.parameter("f32", "1,3,4", "FP32 1 3 4");
    network.parameter("f32", "1,2,3", "FP32 1 2 3");
    let max = network.integers(&[2]).to_string();
    let thresholds = [0.5, 0.0].map(|number| network.floats("1", &[number]).to_string());
    let attributes = "box_encoding=\"corner\" sort_result_descending=\"true\" output_type=\"i32\"";
    let sources = ["0", "1", &max, &thresholds[0], &thresholds[1]];
    let results = ["I32 -1 3", "FP32 -1 3", "I32 1"];
    let chosen = network.add("NonMaxSuppression-9", attributes, &sources, &results);
    (5..8).for_each(|port| {
        network.result(&format!("{chosen}:{port}"));
    });
    let source = ir::source(&network.distinct_text(), &network.constants);
    let staged = StagedModel::from_source(source, &ReadOptions::default());
    let staged = staged.unwrap_or_else(|error| panic!("{error}"));
    let views = [Some(ArrayView::from(&boxes)), Some(ArrayView::from(&scores))];
    let positions = Array::new([3, 3], vec![0i32, 1, 1, 0, 0, 2, 0, 0, 0]).unwrap();
    let scored = floats(&[3, 3], &[0., 1., 1., 0., 0., 0.75, 0., 0., 0.5]);
    let count = Array::new([1], vec![3i32]).unwrap();
    assert_eq!(staged.run(&views).unwrap(), [positions, scored, count]);
}

/// The results of earlier operation sets are padded, and one without attributes looks like a node of ONNX.
#[test]
fn openvino_networks_of_earlier_operation_sets_are_refused() {
    let mut network = Network::default();
    network.parameter("f32", "1,3,4", "FP32 1 3 4");
    network.parameter("f32", "1,2,3", "FP32 1 2 3");
    let max = network.integers(&[2]).to_string();
    let chosen = network.add("NonMaxSuppression-4", "", &["0", "1", &max], &["I64 -1 3"]);
    network.result(&chosen.to_string());
    let source = ir::source(&network.distinct_text(), &network.constants);
    let staged = StagedModel::from_source(source, &ReadOptions::default());
    assert_eq!(staged.unwrap_err().code(), "unsupported-op");
}
