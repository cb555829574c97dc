//! `Resize`, `Upsample` and `Interpolate`, and padding by elements, against values of their specifications,
//! against positions and weights written here, and against ONNX Runtime and OpenVINO.

use crate::support;
use crate::support::ir::{Network, compare_with_openvino};
use crate::support::onnx::{
    FLOAT, Message, Model, StoredModel, float, floats, int, ints, list, node, run_in_onnx_runtime,
    text, value,
};
use crate::support::random::Random;
use indim_graph::Array;

/// A model of one `Resize` of `x` with scales or sizes of all its axes.
fn resize(
    opset: i64,
    x: &Array,
    (scales, sizes): (&[f32], &[i64]),
    attributes: &[Message],
) -> Model {
    let shape: Vec<String> = x.shape().iter().map(usize::to_string).collect();
    let shape: Vec<&str> = shape.iter().map(String::as_str).collect();
    let operands: &[&str] = match (opset, sizes.is_empty()) {
        (..11, _) => &["x", "scales"],
        (_, true) => &["x", "", "scales"],
        (_, false) => &["x", "", "", "sizes"],
    };
    let initializer = match sizes.is_empty() {
        true => floats("scales", &[scales.len() as i64], scales),
        false => list("sizes", sizes),
    };
    Model {
        opset,
        inputs: vec![value("x", FLOAT, Some(&shape))],
        initializers: vec![initializer],
        nodes: vec![node("Resize", operands, &["y"], attributes)],
        outputs: vec![value("y", FLOAT, Some(&vec!["n"; x.shape().rank()]))],
        ..Model::default()
    }
}

fn run(model: &Model, x: &Array) -> Result<Array, &'static str> {
    let model = support::read("resize.onnx", model.encoded()).map_err(|error| error.code())?;
    let run = support::run(&*model, core::slice::from_ref(x));
    Ok(run.map_err(|error| error.code())?.remove(0))
}

/// A row resized by a scale.
fn row(opset: i64, x: &[f32], scale: f32, attributes: &[Message]) -> Vec<f32> {
    let x = Array::new([x.len()], x.to_vec()).unwrap();
    let found = run(&resize(opset, &x, (&[scale], &[]), attributes), &x);
    found.unwrap_or_else(|code| panic!("{code}")).elements::<f32>().unwrap().to_vec()
}

/// A row resized to a size.
fn row_to(x: &[f32], size: i64, attributes: &[Message]) -> Vec<f32> {
    let x = Array::new([x.len()], x.to_vec()).unwrap();
    let found = run(&resize(19, &x, (&[], &[size]), attributes), &x);
    found.unwrap_or_else(|code| panic!("{code}")).elements::<f32>().unwrap().to_vec()
}

fn assert_near(found: &[f32], expected: &[f32]) {
    let is_near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5 * b.abs().max(1.0);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    assert!(found.iter().zip(expected).all(is_near), "{found:?}, not {expected:?}");
}

fn coordinates(name: &str) -> Message {
    text("coordinate_transformation_mode", name)
}

#[test]
fn the_nearest_element_depends_on_the_rounding() {
    let x = [1., 2., 3., 4.];
    // Positions -0.25, 0.25, 0.75, ..: no ties.
    assert_eq!(row(19, &x, 2.0, &[]), [1., 1., 2., 2., 3., 3., 4., 4.]);
    // Positions 0.5 and 2.5 are ties.
    let rounded = |mode| row(19, &x, 0.5, &[text("nearest_mode", mode)]);
    assert_eq!(rounded("round_prefer_floor"), [1., 3.]);
    assert_eq!(rounded("round_prefer_ceil"), [2., 4.]);
    assert_eq!(rounded("floor"), [1., 3.]);
    assert_eq!(rounded("ceil"), [2., 4.]);
    // The first version rounds x / scale down.
    assert_eq!(row(10, &x, 1.5, &[]), [1., 1., 2., 3., 3., 4.]);
    // 3 / 0.6 is 5, also for the `f32` nearest to 0.6.
    let ten: Vec<f32> = (0..10).map(|n| n as f32).collect();
    let floor = [coordinates("asymmetric"), text("nearest_mode", "floor")];
    assert_eq!(row(19, &ten, 0.6, &floor), [0., 1., 3., 5., 6., 8.]);
}

#[test]
fn positions_follow_each_mode() {
    let x = [0., 10., 20., 30.];
    let linear = |name, scale| row(19, &x, scale, &[text("mode", "linear"), coordinates(name)]);
    assert_near(&linear("half_pixel", 2.0), &[0., 2.5, 7.5, 12.5, 17.5, 22.5, 27.5, 30.]);
    assert_near(&linear("asymmetric", 2.0), &[0., 5., 10., 15., 20., 25., 30., 30.]);
    assert_near(&linear("align_corners", 1.75), &[0., 5., 10., 15., 20., 25., 30.]);
    // The length of the result is 2.4: ONNX Runtime takes the size 2 and gives 30.
    assert_near(&linear("align_corners", 0.6), &[0., 150. / 7.]);
    assert_near(&linear("half_pixel_symmetric", 0.6), &[20. / 3., 70. / 3.]);
    // One element: its position is 0, not 1.5.
    assert_near(&linear("pytorch_half_pixel", 0.25), &[0.]);
    assert_near(&linear("half_pixel", 0.25), &[15.]);
    assert_near(
        &row(11, &x, 2.0, &[coordinates("tf_half_pixel_for_nn")]),
        &[0., 10., 10., 20., 20., 30., 30., 30.],
    );
}

#[test]
fn cubic_weights_have_a_coefficient_and_may_leave_out_what_is_outside() {
    let x = [1., 2., 3., 4.];
    let cubic = |more: &[Message]| row(19, &x, 2.0, &[&[text("mode", "cubic")], more].concat());
    let first = |found: Vec<f32>| found[..4].to_vec();
    assert_near(&first(cubic(&[])), &[0.894_531_25, 1.191_406_2, 1.667_968_8, 2.296_875]);
    let flatter = cubic(&[float("cubic_coeff_a", -0.5)]);
    assert_near(&first(flatter), &[0.929_687_5, 1.179_687_5, 1.726_562_5, 2.25]);
    let excluded = cubic(&[int("exclude_outside", 1)]);
    assert_near(&first(excluded), &[0.863_636_4, 1.173_144_8, 1.645_283, 2.296_875]);
}

#[test]
fn filters_of_axes_that_shrink_weigh_more_elements() {
    let x: Vec<f32> = (1..9).map(|n| n as f32).collect();
    let linear = [text("mode", "linear"), int("antialias", 1)];
    // Weights 1/8, 3/8, 3/8, 1/8 of the elements around each position; the first is repeated.
    assert_near(&row(19, &x, 0.5, &linear), &[1.625, 3.5, 5.5, 7.375]);
    let excluded = [&linear[..], &[int("exclude_outside", 1)]].concat();
    assert_near(&row(19, &x, 0.5, &excluded), &[12. / 7., 3.5, 5.5, 51. / 7.]);
    // An axis that grows is not filtered.
    assert_near(&row(19, &[0., 4.], 2.0, &linear), &[0., 1., 3., 4.]);
    let nearest = Array::new([2], vec![0.0f32, 4.0]).unwrap();
    let model = resize(19, &nearest, (&[2.0], &[]), &[int("antialias", 1)]);
    assert_eq!(run(&model, &nearest), Err("attribute"));
}

#[test]
fn sizes_keep_the_aspect_ratio_if_asked() {
    let x = Array::new([2, 4], (0..8).map(|n| n as f32).collect::<Vec<f32>>()).unwrap();
    let shape = |policy| {
        let model = resize(18, &x, (&[], &[7, 8]), &[text("keep_aspect_ratio_policy", policy)]);
        run(&model, &x).unwrap().shape().to_vec()
    };
    assert_eq!(shape("stretch"), [7, 8]);
    assert_eq!(shape("not_larger"), [4, 8]);
    assert_eq!(shape("not_smaller"), [7, 14]);
    let model = resize(18, &x, (&[], &[3]), &[ints("axes", &[-1])]);
    assert_eq!(run(&model, &x).unwrap().shape().to_vec(), [2, 3]);
    assert_eq!(run(&resize(18, &x, (&[], &[3]), &[]), &x), Err("attribute"));
    assert_eq!(row_to(&[1., 2., 3.], 0, &[]), [0.0f32; 0]);
    let filtered = [text("mode", "linear"), int("antialias", 1)];
    assert_eq!(row_to(&[1., 2., 3.], 0, &filtered), [0.0f32; 0]);
    let empty = Array::new([0], Vec::<f32>::new()).unwrap();
    assert_eq!(run(&resize(19, &empty, (&[], &[2]), &[]), &empty), Err("unexpected"));
}

#[test]
fn parts_of_an_image_are_resized_and_what_is_outside_has_a_value() {
    let x = Array::new([5], vec![0.0f32, 10., 20., 30., 40.]).unwrap();
    let attributes = [
        text("mode", "linear"),
        coordinates("tf_crop_and_resize"),
        float("extrapolation_value", 7.0),
    ];
    let mut model = resize(19, &x, (&[], &[4]), &attributes);
    model.initializers.push(floats("roi", &[2], &[0.25, 1.75]));
    model.nodes = vec![node("Resize", &["x", "roi", "", "sizes"], &["y"], &attributes)];
    assert_eq!(run(&model, &x).unwrap().elements::<f32>().unwrap(), [10., 30., 7., 7.]);
}

#[test]
fn integers_are_rounded_half_to_even_and_saturate() {
    let x = Array::new([2], vec![0u8, 255]).unwrap();
    let mut model = resize(19, &x, (&[2.0], &[]), &[text("mode", "linear")]);
    model.inputs = vec![value("x", 2, Some(&["2"]))];
    model.outputs = vec![value("y", 2, None)];
    assert_eq!(run(&model, &x).unwrap().elements::<u8>().unwrap(), [0, 64, 191, 255]);
    model.nodes = vec![node("Resize", &["x", "", "scales"], &["y"], &[text("mode", "cubic")])];
    assert_eq!(run(&model, &x).unwrap().elements::<u8>().unwrap(), [0, 58, 197, 255]);
}

#[test]
fn padding_repeats_elements_that_stay() {
    let x = Array::new([4], vec![1.0f32, 2., 3., 4.]).unwrap();
    let pad = |opset, mode, pads: &[i64]| {
        let model = Model {
            opset,
            inputs: vec![value("x", FLOAT, Some(&["4"]))],
            initializers: vec![list("pads", pads)],
            nodes: vec![node("Pad", &["x", "pads"], &["y"], &[text("mode", mode)])],
            outputs: vec![value("y", FLOAT, None)],
            ..Model::default()
        };
        run(&model, &x).map(|array| array.elements::<f32>().unwrap().to_vec())
    };
    assert_eq!(pad(13, "edge", &[2, 1]), Ok(vec![1., 1., 1., 2., 3., 4., 4.]));
    assert_eq!(pad(13, "reflect", &[2, 1]), Ok(vec![3., 2., 1., 2., 3., 4., 3.]));
    assert_eq!(pad(19, "wrap", &[2, 5]), Ok(vec![3., 4., 1., 2., 3., 4., 1., 2., 3., 4., 1.]));
    assert_eq!(pad(13, "reflect", &[-1, 2]), Ok(vec![2., 3., 4., 3., 2.]));
    assert_eq!(pad(13, "wrap", &[1, 1]), Err("attribute"));
    assert_eq!(pad(13, "symmetric", &[1, 1]), Err("attribute"));
    assert_eq!(pad(13, "reflect", &[4, 0]), Err("pad-width"));
}

/// Random images with random attributes, as far as ONNX Runtime follows ONNX: it takes the rounded size for
/// `align_corners`, leaves out what is outside under `antialias`, and its ties of nearest elements are those
/// of `f32`.
fn models(count: usize) -> impl Iterator<Item = StoredModel> {
    let random = &mut Random(17);
    let mut made = Vec::new();
    for number in 0..count {
        let shape = [1, 2, 2 + random.below(5), 2 + random.below(6)];
        let x = random.floats(&shape);
        let mode = ["nearest", "linear", "cubic"][random.below(3)];
        let names = ["half_pixel", "pytorch_half_pixel", "asymmetric", "half_pixel_symmetric"];
        let name = names[random.below(4)];
        let mut attributes = vec![text("mode", mode), coordinates(name)];
        if mode == "cubic" && random.below(2) == 0 {
            attributes.push(float("cubic_coeff_a", -0.5));
            attributes.push(int("exclude_outside", 1));
        }
        if mode == "nearest" {
            let names = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"];
            attributes.push(text("nearest_mode", names[random.below(4)]));
        }
        let scales = [0.5, 1.0, 1.5, 2.0, 3.0];
        let scales = [1.0, 1.0, scales[random.below(5)], scales[random.below(5)]];
        let sizes: Vec<i64> = match random.below(2) {
            0 => vec![],
            _ => vec![1, 2, 1 + random.below(9) as i64, 1 + random.below(9) as i64],
        };
        let model = resize(18, &x, (&scales, &sizes), &attributes);
        let outputs = vec![run(&model, &x).unwrap_or_else(|code| panic!("{number}: {code}"))];
        let name = format!("{number} {mode} {name}");
        made.push(StoredModel { name, content: model.encoded(), inputs: vec![x], outputs });
    }
    made.into_iter()
}

#[test]
fn onnx_runtime_resizes_alike() {
    run_in_onnx_runtime("resize", models(80));
}

/// The result of a layer of OpenVINO on a row or matrix and lists of integers.
fn layer(name: &str, attributes: &str, x: &Array, lists: &[&[i64]], sizes: &str) -> Vec<f32> {
    let mut network = Network::default();
    let shape: Vec<String> = x.shape().iter().map(usize::to_string).collect();
    let port = format!("FP32 {}", shape.join(" "));
    let mut sources = vec![network.parameter("f32", &shape.join(","), &port)];
    sources.extend(lists.iter().map(|list| network.integers(list)));
    let sources: Vec<String> = sources.iter().map(usize::to_string).collect();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let layer = network.add(name, attributes, &sources, &[&format!("FP32 {sizes}")]);
    network.result(&layer.to_string());
    let model = network.read().unwrap_or_else(|error| panic!("{name}: {}", error.code()));
    let found = support::run(&*model, core::slice::from_ref(x));
    let found = found.unwrap_or_else(|error| panic!("{name}: {}", error.code())).remove(0);
    found.elements::<f32>().unwrap().to_vec()
}

#[test]
fn layers_of_openvino_resize_pad_normalise_and_reverse() {
    let x = Array::new([4], vec![1.0f32, 2., 3., 4.]).unwrap();
    let interpolate = |attributes: &str, size: i64| {
        let attributes = format!("shape_calculation_mode=\"sizes\" {attributes}");
        layer("Interpolate-11", &attributes, &x, &[&[size], &[0]], &size.to_string())
    };
    let linear = "mode=\"linear\" coordinate_transformation_mode=\"asymmetric\"";
    assert_near(&interpolate(linear, 8), &[1., 1.5, 2., 2.5, 3., 3.5, 4., 4.]);
    let simple = "mode=\"nearest\" nearest_mode=\"simple\"";
    assert_eq!(interpolate(simple, 2), [2., 4.]);
    assert_eq!(interpolate("mode=\"bilinear_pillow\"", 4), [1., 2., 3., 4.]);
    assert_near(&interpolate("mode=\"bilinear_pillow\"", 2), &[12. / 7., 23. / 7.]);
    let first = layer("Interpolate-1", "mode=\"linear\" axes=\"0\"", &x, &[&[7]], "7");
    assert_near(&first, &[1., 1.5, 2., 2.5, 3., 3.5, 4.]);
    let padded = layer("Pad-1", "pad_mode=\"symmetric\"", &x, &[&[2], &[1]], "7");
    assert_eq!(padded, [2., 1., 1., 2., 3., 4., 4.]);
    let x = Array::new([2, 2], vec![1.0f32, 2., 3., 4.]).unwrap();
    let numbers = "size=\"3\" alpha=\"3\" beta=\"1\" bias=\"0\"";
    let normalised = layer("LRN-1", numbers, &x, &[&[1]], "2 2");
    assert_near(&normalised, &[0.2, 0.4, 0.12, 0.16]);
    let reversed = layer("ReverseSequence-1", "batch_axis=\"0\"", &x, &[&[2, 1]], "2 2");
    assert_eq!(reversed, [2., 1., 3., 4.]);
}

/// Complex numbers are parts along the last axis, which the axes do not count.
#[test]
fn fourier_transforms_of_openvino() {
    let array = |shape: &[usize], numbers: &[f32]| Array::new(shape, numbers.to_vec()).unwrap();
    let (x, spectrum) = (array(&[2, 2], &[1., 2., 3., 4.]), array(&[2, 2], &[4., 6., -2., -2.]));
    assert_near(&layer("DFT-7", "", &x, &[&[-1]], "2 2"), &[4., 6., -2., -2.]);
    assert_near(&layer("IDFT-7", "", &spectrum, &[&[0]], "2 2"), &[1., 2., 3., 4.]);
    let (x, half) = (array(&[4], &[1., 2., 3., 4.]), array(&[3, 2], &[10., 0., -2., 2., -2., 0.]));
    assert_near(&layer("RDFT-9", "", &x, &[&[0]], "3 2"), &[10., 0., -2., 2., -2., 0.]);
    assert_near(&layer("RDFT-9", "", &x, &[&[-1], &[2]], "2 2"), &[3., 0., -1., 0.]);
    assert_near(&layer("IRDFT-9", "", &half, &[&[0]], "4"), &[1., 2., 3., 4.]);
    assert_near(&layer("IRDFT-9", "", &half, &[&[0], &[-1]], "4"), &[1., 2., 3., 4.]);
}

#[test]
fn openvino_computes_the_same_layers() {
    compare_with_openvino("openvino_operators.py", 250);
}
