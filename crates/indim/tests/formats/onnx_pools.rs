//! ONNX pools with positions and norms, and response normalisation, against loops over elements written here
//! and against ONNX Runtime.

use crate::support;
use crate::support::onnx::{
    FLOAT, INT64, Message, Model, StoredModel, float, int, ints, node, run_in_onnx_runtime, value,
};
use crate::support::random::Random;
use indim_graph::Array;

/// A model of one node of an image, with results of these element types.
fn model(operator: &str, image: &Array, results: &[i64], attributes: &[Message]) -> Model {
    let shape: Vec<String> = image.shape().iter().map(usize::to_string).collect();
    let shape: Vec<&str> = shape.iter().map(String::as_str).collect();
    let outputs = &["y", "positions"][..results.len()];
    let sizes = vec!["n"; shape.len()];
    let declared = outputs.iter().zip(results);
    Model {
        opset: 18,
        inputs: vec![value("x", FLOAT, Some(&shape))],
        nodes: vec![node(operator, &["x"], outputs, attributes)],
        outputs: declared.map(|(name, &of)| value(name, of, Some(&sizes))).collect(),
        ..Model::default()
    }
}

fn run(model: &Model, inputs: &[Array]) -> Result<Vec<Array>, &'static str> {
    let model = support::read("pool.onnx", model.encoded()).map_err(|error| error.code())?;
    support::run(&*model, inputs).map_err(|error| error.code())
}

fn pooled(image: &Array, attributes: &[Message]) -> (Vec<f32>, Vec<i64>) {
    let model = model("MaxPool", image, &[FLOAT, INT64], attributes);
    let found = run(&model, core::slice::from_ref(image)).unwrap();
    (found[0].elements().unwrap().to_vec(), found[1].elements().unwrap().to_vec())
}

#[test]
fn positions_are_those_of_the_first_largest_element() {
    let nan = f32::NAN;
    let row = |x: &[f32]| Array::new([1, 1, x.len()], x.to_vec()).unwrap();
    let kernel = |size| ints("kernel_shape", &[size]);
    assert_eq!(pooled(&row(&[1., 3., 3., 2.]), &[kernel(2)]), (vec![3., 3., 3.], vec![1, 1, 2]));
    // NaN is ignored; a window without numbers has its first element. Padding has no position.
    let pads = ints("pads", &[1, 1]);
    let found = pooled(&row(&[nan, nan, -2.]), &[kernel(2), pads.clone()]);
    assert_eq!(found, (vec![f32::NEG_INFINITY, f32::NEG_INFINITY, -2., -2.], vec![0, 0, 2, 2]));
    let found = pooled(&row(&[-f32::INFINITY; 2]), &[kernel(2), pads]);
    assert_eq!(found.1, [0, 0, 1]);
    // Positions count over batches and channels.
    let image = Array::new([2, 2, 1, 2], (0..8).map(|n| n as f32).collect::<Vec<f32>>()).unwrap();
    let whole = ints("kernel_shape", &[1, 2]);
    assert_eq!(pooled(&image, &[whole]).1, [1, 3, 5, 7]);
    // In the order of columns the first axis of the image counts first.
    let image = Array::new([1, 2, 2, 3], (0..12).map(|n| n as f32).collect::<Vec<f32>>()).unwrap();
    let windows = [ints("kernel_shape", &[1, 2]), int("storage_order", 1)];
    assert_eq!(pooled(&image, &windows).1, [2, 4, 3, 5, 8, 10, 9, 11]);
    let wrong =
        model("MaxPool", &image, &[FLOAT, INT64], &[windows[0].clone(), int("storage_order", 2)]);
    assert_eq!(run(&wrong, &[image]), Err("attribute"));
}

#[test]
fn an_inverse_pool_puts_elements_at_their_positions() {
    let x = Array::new([1, 1, 2], vec![5.0f32, 6.]).unwrap();
    let positions = Array::new([1, 1, 2], vec![1i64, 2]).unwrap();
    let attributes = [ints("kernel_shape", &[2]), ints("strides", &[2])];
    let unpool = |shape: Option<&[i64]>, positions: &Array| {
        let mut inputs = vec![value("x", FLOAT, Some(&["1", "1", "2"]))];
        inputs.push(value("i", INT64, Some(&["1", "1", "2"])));
        let operands: &[&str] = if shape.is_some() { &["x", "i", "shape"] } else { &["x", "i"] };
        let model = Model {
            opset: 11,
            inputs,
            initializers: shape
                .map(|shape| support::onnx::list("shape", shape))
                .into_iter()
                .collect(),
            nodes: vec![node("MaxUnpool", operands, &["y"], &attributes)],
            outputs: vec![value("y", FLOAT, None)],
            ..Model::default()
        };
        run(&model, &[x.clone(), positions.clone()])
            .map(|found| found[0].elements::<f32>().unwrap().to_vec())
    };
    assert_eq!(unpool(None, &positions), Ok(vec![0., 5., 6., 0.]));
    assert_eq!(unpool(Some(&[1, 1, 5]), &positions), Ok(vec![0., 5., 6., 0., 0.]));
    assert_eq!(unpool(Some(&[2, 1, 5]), &positions), Err("attribute"));
}

#[test]
fn responses_are_normalised_over_channels() {
    let random = &mut Random(5);
    for size in 1..6 {
        let x = random.floats(&[2, 4, 3]);
        let numbers = x.elements::<f32>().unwrap();
        let attributes =
            [int("size", size), float("alpha", 0.5), float("beta", 0.75), float("bias", 2.0)];
        let found = run(&model("LRN", &x, &[FLOAT], &attributes), core::slice::from_ref(&x));
        let found = found.unwrap().remove(0);
        for (position, (&found, &x)) in
            found.elements::<f32>().unwrap().iter().zip(numbers).enumerate()
        {
            let (n, c, at) = (position / 12, (position / 3 % 4) as i64, position % 3);
            let (first, last) = (c - (size - 1) / 2, c + size / 2);
            let channels = (first.max(0)..=last.min(3)).map(|c| c as usize);
            let sum: f64 = channels.map(|c| f64::from(numbers[(n * 4 + c) * 3 + at]).powi(2)).sum();
            let expected = f64::from(x) / (2.0 + 0.5 / size as f64 * sum).powf(0.75);
            assert!((f64::from(found) - expected).abs() < 1e-5, "{size}: {found}, not {expected}");
        }
    }
    let x = random.floats(&[2]);
    let lrn = model("LRN", &x, &[FLOAT], &[int("size", 3)]);
    assert_eq!(run(&lrn, core::slice::from_ref(&x)), Err("unexpected"));
    let x = random.floats(&[1, 2]);
    let lrn = model("LRN", &x, &[FLOAT], &[int("size", 0)]);
    assert_eq!(run(&lrn, core::slice::from_ref(&x)), Err("attribute"));
}

#[test]
fn norms_of_windows_have_an_order() {
    let x = Array::new([1, 1, 4], vec![3.0f32, -4., 0., 12.]).unwrap();
    let norms = |operator: &str, attributes: &[Message]| {
        let found = run(&model(operator, &x, &[FLOAT], attributes), core::slice::from_ref(&x));
        found.map(|found| found[0].elements::<f32>().unwrap().to_vec())
    };
    let windows = [ints("kernel_shape", &[2]), ints("strides", &[2])];
    assert_eq!(norms("LpPool", &windows), Ok(vec![5., 12.]));
    assert_eq!(norms("LpPool", &[&windows[..], &[int("p", 1)]].concat()), Ok(vec![7., 12.]));
    assert_eq!(norms("GlobalLpPool", &[]), Ok(vec![13.]));
    assert_eq!(norms("GlobalLpPool", &[int("p", 0)]), Err("attribute"));
}

#[test]
fn onnx_runtime_computes_the_same_pools() {
    let random = &mut Random(29);
    let mut models = Vec::new();
    for number in 0..60 {
        let shape = [1 + random.below(2), 2 + random.below(3), 4 + random.below(3), 5];
        let x = random.floats(&shape);
        let kernel = [1 + random.below(3) as i64, 1 + random.below(3) as i64];
        let pads: Vec<i64> =
            (0..4).map(|side| random.below(kernel[side % 2] as usize) as i64).collect();
        let windows = [
            ints("kernel_shape", &kernel),
            ints("strides", &[1 + random.below(2) as i64, 1 + random.below(2) as i64]),
            ints("pads", &pads),
        ];
        let model = match number % 3 {
            0 => {
                let order = int("storage_order", random.below(2) as i64);
                model("MaxPool", &x, &[FLOAT, INT64], &[&windows[..], &[order]].concat())
            }
            1 => {
                let p = int("p", 1 + random.below(3) as i64);
                model("LpPool", &x, &[FLOAT], &[&windows[..], &[p]].concat())
            }
            // ONNX Runtime takes odd sizes only.
            _ => model("LRN", &x, &[FLOAT], &[int("size", 1 + 2 * random.below(3) as i64)]),
        };
        let outputs = run(&model, core::slice::from_ref(&x)).unwrap();
        let name = format!("{number} pool");
        models.push(StoredModel { name, content: model.encoded(), inputs: vec![x], outputs });
    }
    run_in_onnx_runtime("pools", models);
}
