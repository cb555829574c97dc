//! `RoiAlign`, `Det`, `MelWeightMatrix`, and pools whose kernel exceeds the axis, against loops written here
//! and against ONNX Runtime.

use crate::support;
use crate::support::onnx::{
    FLOAT, INT64, Message, Model, StoredModel, float, int, ints, node, run_in_onnx_runtime,
    run_node, text, value,
};
use crate::support::random::Random;
use indim::ArrayView;
use indim::formats::LoadedModel;
use indim_graph::Array;

fn array(shape: &[usize], elements: &[f32]) -> Array {
    Array::new(shape, elements.to_vec()).unwrap()
}

/// Zeros.
fn floats_of(shape: &[usize]) -> Array {
    Array::zeros(indim_ops::DType::F32, shape).unwrap()
}

fn model(
    opset: i64,
    operator: &str,
    inputs: &[Array],
    rank: usize,
    attributes: &[Message],
) -> Model {
    let names = ["a", "b", "c", "d", "e"];
    let declared = |(name, array): (&&str, &Array)| {
        let sizes: Vec<String> = array.shape().iter().map(usize::to_string).collect();
        let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
        let element = if array.dtype() == indim_ops::DType::I64 { INT64 } else { FLOAT };
        value(name, element, Some(&sizes))
    };
    Model {
        opset,
        inputs: names.iter().zip(inputs).map(declared).collect(),
        nodes: vec![node(operator, &names[..inputs.len()], &["y"], attributes)],
        outputs: vec![value("y", FLOAT, Some(&vec!["n"; rank]))],
        ..Model::default()
    }
}

fn results(model: &Model, inputs: &[Array]) -> Result<Array, &'static str> {
    let model = support::read("x.onnx", model.encoded()).map_err(|error| error.code())?;
    support::run(&*model, inputs).map(|mut found| found.remove(0)).map_err(|error| error.code())
}

fn stored(name: String, model: &Model, inputs: Vec<Array>) -> StoredModel {
    let outputs = vec![results(model, &inputs).unwrap_or_else(|code| panic!("{name}: {code}"))];
    StoredModel { name, content: model.encoded(), inputs, outputs }
}

/// The determinant by expansion along the first row.
fn expanded(x: &[Vec<f64>]) -> f64 {
    let minor = |column: usize| -> Vec<Vec<f64>> {
        let without = |row: &Vec<f64>| {
            let mut row = row.clone();
            row.remove(column);
            row
        };
        x[1..].iter().map(without).collect()
    };
    let term = |column: usize| {
        let sign = if column.is_multiple_of(2) { 1.0 } else { -1.0 };
        sign * x[0][column] * expanded(&minor(column))
    };
    if x.is_empty() { 1.0 } else { (0..x.len()).map(term).sum() }
}

#[test]
fn determinants_are_those_of_their_expansion() {
    let random = &mut Random(11);
    for size in 0..6 {
        for batch in 0..3 {
            let x = random.floats(&[batch, size, size]);
            let found = run_node(11, "Det", core::slice::from_ref(&x), &[]).unwrap();
            assert_eq!(found.shape().sizes(), [batch]);
            let rows: Vec<f64> = x.elements::<f32>().unwrap().iter().map(|&x| x.into()).collect();
            for (position, &found) in found.elements::<f32>().unwrap().iter().enumerate() {
                let matrix: Vec<Vec<f64>> = (0..size)
                    .map(|row| rows[(position * size + row) * size..][..size].to_vec())
                    .collect();
                // The determinant of whole numbers is one.
                assert_eq!(f64::from(found), f64::from(expanded(&matrix) as f32), "{matrix:?}");
            }
        }
    }
    let det = |shape: &[usize], x: &[f32]| run_node(22, "Det", &[array(shape, x)], &[]);
    assert_eq!(det(&[2, 2], &[1., 2., 2., 4.]), Ok(Array::from_scalar(0.0f32)));
    assert_eq!(det(&[2, 2], &[0., 1., 1., 0.]), Ok(Array::from_scalar(-1.0f32)));
    let nan = det(&[2, 2], &[1., 2., f32::NAN, 4.]).unwrap();
    assert!(nan.scalar::<f32>().unwrap().is_nan());
    assert_eq!(det(&[2, 3], &[0.; 6]), Err("unexpected"));
    assert_eq!(det(&[2], &[0.; 2]), Err("unexpected"));
}

fn regions(
    mode: &str,
    samples: i64,
    regions: &[f32],
    images: &[i64],
) -> Result<Array, &'static str> {
    let x = array(&[1, 1, 2, 3], &[1., 2., 3., 4., 5., 6.]);
    let regions = array(&[regions.len() / 4, 4], regions);
    let images = Array::new([images.len()], images.to_vec()).unwrap();
    let attributes = [text("mode", mode), int("sampling_ratio", samples)];
    let inputs = [x, regions, images];
    let content = model(22, "RoiAlign", &inputs, 4, &attributes).encoded();
    let model = LoadedModel::from_bytes("x.onnx", content).map_err(|error| error.code())?;
    let views = inputs.each_ref().map(|array| Some(ArrayView::from(array)));
    model.run(&views).map(|mut found| found.remove(0)).map_err(|error| error.code())
}

#[test]
fn regions_are_averages_of_samples_between_elements() {
    let one = |x: f32| Ok(array(&[1, 1, 1, 1], &[x]));
    // A region around the first element, with a sample at its middle: (0, 0).
    assert_eq!(regions("avg", 1, &[0., 0., 1., 1.], &[0]), one(1.0));
    assert_eq!(regions("avg", 0, &[0.5, 0., 1.5, 1.], &[0]), one(1.5));
    // Two by two samples at (0.25, 0.25) to (0.75, 0.75).
    assert_eq!(regions("avg", 2, &[0.5, 0.5, 1.5, 1.5], &[0]), one(3.0));
    // The largest of the weighted elements, not of the samples: 5 times 0.75 squared.
    assert_eq!(regions("max", 2, &[0.5, 0.5, 1.5, 1.5], &[0]), one(5.0 * 0.75 * 0.75));
    // More than 1 outside, a sample is 0.
    assert_eq!(regions("avg", 1, &[-3., -3., -2., -2.], &[0]), one(0.0));
    // No region, a region without samples, and images that do not exist.
    assert_eq!(regions("avg", 0, &[], &[]), Ok(array(&[0, 1, 1, 1], &[])));
    assert_eq!(regions("max", 0, &[1., 1., 0., 0.], &[0]), one(0.0));
    for image in [1, -1, i64::MAX] {
        assert_eq!(regions("avg", 1, &[0., 0., 1., 1.], &[image]), Err("index-out-of-range"));
    }
    // An image without elements has none inside.
    let inputs =
        [floats_of(&[1, 1, 0, 3]), floats_of(&[2, 4]), Array::new([2], vec![0i64, 0]).unwrap()];
    let found = run_node(22, "RoiAlign", &inputs, &[int("output_width", 3)]);
    assert_eq!(found, Ok(floats_of(&[2, 1, 1, 3])));
    // A region of too many samples is refused before the work.
    assert_eq!(regions("avg", 0, &[0., 0., 1e30, 1e30], &[0]), Err("step-limit"));
    assert_eq!(regions("avg", 300, &[0., 0., 1., 1.], &[0]), Err("attribute"));
    assert_eq!(regions("sum", 1, &[0., 0., 1., 1.], &[0]), Err("attribute"));
    assert_eq!(regions("avg", 1, &[0., 0., 1., 1.], &[0, 0]), Err("unexpected"));
}

#[test]
fn a_kernel_may_exceed_its_axis_by_less_than_a_stride_if_ceil_mode_rounds_up() {
    let x = array(&[1, 1, 2], &[1.0, 2.0]);
    let pool = |operator: &str, numbers: [i64; 3], more: &[Message]| {
        let [kernel, stride, ceils] = numbers;
        let mut attributes = vec![
            ints("kernel_shape", &[kernel]),
            ints("strides", &[stride]),
            int("ceil_mode", ceils),
        ];
        attributes.extend(more.iter().cloned());
        run_node(22, operator, core::slice::from_ref(&x), &attributes)
    };
    let one = |x: f32| Ok(array(&[1, 1, 1], &[x]));
    assert_eq!(pool("MaxPool", [3, 2, 1], &[]), one(2.0));
    assert_eq!(pool("AveragePool", [3, 2, 1], &[]), one(1.5));
    // The elements that rounding adds do not count.
    let counted = [int("count_include_pad", 1)];
    assert_eq!(pool("AveragePool", [4, 3, 1], &counted), one(1.5));
    assert_eq!(pool("LpPool", [4, 3, 1], &[int("p", 1)]), one(3.0));
    for refused in [[3, 2, 0], [3, 1, 1], [4, 2, 1], [i64::from(i32::MAX), 3, 1]] {
        assert_eq!(pool("MaxPool", refused, &[]), Err("attribute"), "{refused:?}");
    }
}

#[test]
fn mel_weights_are_triangles_over_the_bins_of_a_spectrum() {
    let mel = |length: i64, bins: i64, edges: [f32; 2]| {
        let inputs = [
            Array::from_scalar(bins),
            Array::from_scalar(length),
            Array::from_scalar(8192i64),
            Array::from_scalar(edges[0]),
            Array::from_scalar(edges[1]),
        ];
        results(&model(17, "MelWeightMatrix", &inputs, 2, &[]), &inputs)
    };
    // The example of ONNX: a triangle of one bin in each column.
    let found = mel(16, 8, [0.0, 4096.0]).unwrap();
    assert_eq!(found.shape().sizes(), [9, 8]);
    let found = found.elements::<f32>().unwrap();
    let rows = [0, 0, 1, 1, 2, 3, 4, 5];
    for (position, &found) in found.iter().enumerate() {
        let expected = if rows[position % 8] == position / 8 { 1.0 } else { 0.0 };
        assert_eq!(found, expected, "{position}");
    }
    assert_eq!(mel(-1, 8, [0.0, 4096.0]), Err("unexpected"));
    assert_eq!(mel(1 << 30, 8, [0.0, 4096.0]), Err("limit"));
    assert_eq!(mel(16, 0, [0.0, 4096.0]).unwrap().shape().sizes(), [9, 0]);
}

#[test]
fn onnx_runtime_computes_the_same() {
    let random = &mut Random(31);
    let mut models = Vec::new();
    for at in 0..160 {
        let quarter = |random: &mut Random, limit: usize| random.below(limit) as f32 / 4.0;
        match at % 4 {
            0 => {
                let (count, opset) = (random.below(4), [10, 16, 22][random.below(3)]);
                let shape = [1 + random.below(2), 2, 3 + random.below(4), 3 + random.below(4)];
                let x = random.floats(&shape);
                let mut corners = Vec::new();
                for _ in 0..count {
                    let [left, top] = [quarter(random, 40) - 3.0, quarter(random, 40) - 3.0];
                    // ONNX Runtime reads elements outside the image for a region of negative size.
                    corners.extend([
                        left,
                        top,
                        left + quarter(random, 40),
                        top + quarter(random, 40),
                    ]);
                }
                let images = (0..count).map(|_| random.below(shape[0]) as i64).collect::<Vec<_>>();
                let inputs =
                    vec![x, array(&[count, 4], &corners), Array::new([count], images).unwrap()];
                let mut attributes = vec![
                    text("mode", ["avg", "max"][random.below(2)]),
                    int("output_height", 1 + random.below(3) as i64),
                    int("output_width", 1 + random.below(3) as i64),
                    int("sampling_ratio", random.below(3) as i64),
                    float("spatial_scale", [1.0, 0.5, 0.75][random.below(3)]),
                ];
                if opset > 10 && random.below(2) == 1 {
                    let name = "coordinate_transformation_mode";
                    attributes.push(text(name, "output_half_pixel"));
                }
                let of_node = model(opset, "RoiAlign", &inputs, 4, &attributes);
                models.push(stored(format!("{at} regions"), &of_node, inputs));
            }
            3 => {
                let number = |random: &mut Random, limit: usize| random.below(limit) as i64;
                let inputs = vec![
                    Array::from_scalar(1 + number(random, 9)),
                    Array::from_scalar(8 + number(random, 100)),
                    Array::from_scalar(8000 + number(random, 9000)),
                    Array::from_scalar(random.below(400) as f32),
                    Array::from_scalar(1000.0 + random.below(3000) as f32),
                ];
                let of_node = model(17, "MelWeightMatrix", &inputs, 2, &[]);
                models.push(stored(format!("{at} mel weights"), &of_node, inputs));
            }
            1 => {
                let (batch, size) = (1 + random.below(3), 1 + random.below(5));
                let inputs = vec![random.floats(&[batch, size, size])];
                let of_node = model(22, "Det", &inputs, 1, &[]);
                models.push(stored(format!("{at} determinant"), &of_node, inputs));
            }
            _ => {
                let (size, kernel) = (1 + random.below(4), 1 + random.below(6) as i64);
                let stride = 1 + random.below(4) as i64;
                let pads = [0; 2].map(|_| random.below(kernel as usize) as i64);
                let inputs = vec![random.floats(&[1, 2, size])];
                let operator = ["MaxPool", "AveragePool", "LpPool"][random.below(3)];
                let mut attributes = vec![
                    ints("kernel_shape", &[kernel]),
                    ints("strides", &[stride]),
                    ints("pads", &pads),
                    int("ceil_mode", 1),
                ];
                if operator == "AveragePool" {
                    attributes.push(int("count_include_pad", random.below(2) as i64));
                }
                let of_node = model(22, operator, &inputs, 3, &attributes);
                // Kernels that exceed the axis by a stride are refused.
                if results(&of_node, &inputs) != Err("attribute") {
                    models.push(stored(format!("{at} {operator}"), &of_node, inputs));
                }
            }
        }
    }
    run_in_onnx_runtime("regions", models);
}
