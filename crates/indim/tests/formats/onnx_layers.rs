//! ONNX layers of transformers, losses, windows of signals and samples of images, against loops over elements
//! and values by hand.

use crate::support;
use crate::support::onnx::{
    BOOL, FLOAT, INT64, Message, Model, float, int, ints, node, text, value,
};
use crate::support::random::Random;
use indim_graph::Array;
use indim_ops::DType;

fn floats(shape: &[usize], elements: &[f32]) -> Array {
    Array::new(shape, elements.to_vec()).unwrap()
}

fn list(elements: &[i64]) -> Array {
    Array::new([elements.len()], elements.to_vec()).unwrap()
}

/// The results of one node; an operand without a name is absent.
fn results(
    opset: i64,
    operator: &str,
    operands: &[(&str, &Array)],
    attributes: &[Message],
    count: usize,
) -> Result<Vec<Array>, &'static str> {
    let number = |array: &Array| match array.dtype() {
        DType::F32 => FLOAT,
        DType::I64 => INT64,
        DType::Bool => BOOL,
        dtype => panic!("{dtype} is not among the types of this test"),
    };
    let names: Vec<&str> = operands.iter().map(|(name, _)| *name).collect();
    let given = operands.iter().filter(|(name, _)| !name.is_empty());
    let inputs: Vec<Array> = given.clone().map(|(_, array)| (*array).clone()).collect();
    let outputs: Vec<String> = (0..count).map(|index| format!("y{index}")).collect();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let model = Model {
        opset,
        inputs: given.map(|(name, array)| value(name, number(array), None)).collect(),
        nodes: vec![node(operator, &names, &outputs, attributes)],
        outputs: outputs.iter().map(|name| Message::default().bytes(1, name)).collect(),
        ..Model::default()
    };
    let model = support::read("x.onnx", model.encoded()).map_err(|error| error.code())?;
    support::run(&*model, &inputs).map_err(|error| error.code())
}

fn result(
    opset: i64,
    operator: &str,
    operands: &[(&str, &Array)],
    attributes: &[Message],
) -> Vec<f32> {
    let found = results(opset, operator, operands, attributes, 1);
    let found = found.unwrap_or_else(|code| panic!("{operator}: {code}")).remove(0);
    found.elements::<f32>().unwrap().to_vec()
}

fn assert_near(found: &[f32], expected: &[f32]) {
    let is_near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5 * b.abs().max(1.0) || a == b;
    assert_eq!(found.len(), expected.len(), "{found:?}");
    assert!(found.iter().zip(expected).all(is_near), "{found:?}, not {expected:?}");
}

/// Sizes of an attention: batch, heads of queries and keys, queries, keys, widths of keys and values.
struct Sizes {
    batch: usize,
    heads: usize,
    own: usize,
    queries: usize,
    keys: usize,
    width: usize,
    value_width: usize,
}

/// Attention element by element; `sees` tells whether a query sees a key.
fn attention(
    sizes: &Sizes,
    [q, k, v]: [&[f32]; 3],
    sees: impl Fn(usize, usize, usize) -> bool,
) -> Vec<f32> {
    let Sizes { batch, heads, own, queries, keys, width, value_width } = *sizes;
    let scale = 1.0 / (width as f64).sqrt();
    let mut result = Vec::new();
    for (b, h) in (0..batch).flat_map(|b| (0..heads).map(move |h| (b, h))) {
        let of_keys = b * own + h / (heads / own);
        for i in 0..queries {
            let mut weights = vec![0.0; keys];
            for (j, weight) in weights.iter_mut().enumerate().filter(|(j, _)| sees(b, i, *j)) {
                let product = (0..width).map(|d| {
                    f64::from(q[((b * heads + h) * queries + i) * width + d])
                        * f64::from(k[(of_keys * keys + j) * width + d])
                });
                *weight = (product.sum::<f64>() * scale).exp();
            }
            let sum: f64 = weights.iter().sum();
            for d in 0..value_width {
                let terms = weights.iter().enumerate();
                let terms =
                    terms.map(|(j, w)| w * f64::from(v[(of_keys * keys + j) * value_width + d]));
                let total: f64 = terms.sum();
                result.push(if sum == 0.0 { 0.0 } else { (total / sum) as f32 });
            }
        }
    }
    result
}

fn small(random: &mut Random, shape: &[usize]) -> Array {
    let count: usize = shape.iter().product();
    let numbers = (0..count).map(|_| random.below(41) as f32 / 20.0 - 1.0);
    Array::new(shape, numbers.collect::<Vec<f32>>()).unwrap()
}

#[test]
fn attention_is_a_softmax_of_products_over_the_keys_that_a_query_sees() {
    let random = &mut Random(7);
    for case in 0..60 {
        let own = 1 + random.below(2);
        let sizes = Sizes {
            batch: 1 + random.below(2),
            heads: own * (1 + random.below(3)),
            own,
            queries: 1 + random.below(4),
            keys: 1 + random.below(5),
            width: 1 + random.below(4),
            value_width: 1 + random.below(3),
        };
        let Sizes { batch, heads, own, queries, keys, width, value_width } = sizes;
        let q = small(random, &[batch, heads, queries, width]);
        let k = small(random, &[batch, own, keys, width]);
        let v = small(random, &[batch, own, keys, value_width]);
        let elements = [&q, &k, &v].map(|array| array.elements::<f32>().unwrap());
        let mut operands = vec![("q", &q), ("k", &k), ("v", &v)];
        let mask: Vec<bool> = (0..queries * keys).map(|_| random.below(3) > 0).collect();
        let mask_array = Array::new([queries, keys], mask.clone()).unwrap();
        let lengths: Vec<i64> = (0..batch).map(|_| random.below(keys + 1) as i64).collect();
        let lengths_array = list(&lengths);
        let is_masked = case % 2 == 0;
        let is_causal = case % 3 == 0;
        let is_padded = case % 5 == 0;
        let left = if case % 4 == 0 { 1 } else { -1 };
        operands.push(if is_masked { ("mask", &mask_array) } else { ("", &mask_array) });
        if is_padded {
            operands.extend([("", &q), ("", &q), ("lengths", &lengths_array)]);
        }
        let attributes = [int("is_causal", i64::from(is_causal)), int("left_window_size", left)];
        let found = result(25, "Attention", &operands, &attributes);
        let sees = |b: usize, i: usize, j: usize| {
            let offset = if is_padded { lengths[b] - queries as i64 } else { 0 };
            let distance = i as i64 + offset - j as i64;
            (!is_masked || mask[i * keys + j])
                && (!is_causal || distance >= 0)
                && (left < 0 || distance <= left)
                && (!is_padded || (j as i64) < lengths[b])
        };
        assert_near(&found, &attention(&sizes, elements, sees));
    }
}

#[test]
fn attention_has_a_cache_and_operands_with_heads_in_the_last_axis() {
    let random = &mut Random(9);
    // [batch, length, heads * width] with two heads of width 2.
    let [q, k, v] =
        [small(random, &[1, 1, 4]), small(random, &[1, 1, 4]), small(random, &[1, 1, 4])];
    let [past_key, past_value] = [small(random, &[1, 2, 2, 2]), small(random, &[1, 2, 2, 2])];
    let operands =
        [("q", &q), ("k", &k), ("v", &v), ("", &q), ("pk", &past_key), ("pv", &past_value)];
    let attributes = [int("q_num_heads", 2), int("kv_num_heads", 2), int("is_causal", 1)];
    let found = results(24, "Attention", &operands, &attributes, 4).unwrap();
    let shapes: Vec<Vec<usize>> = found.iter().map(|array| array.shape().to_vec()).collect();
    let cache = vec![1, 2, 3, 2];
    assert_eq!(shapes, [vec![1, 1, 4], cache.clone(), cache, vec![1, 2, 1, 3]]);
    let key = found[1].elements::<f32>().unwrap();
    let (new, past) = (k.elements::<f32>().unwrap(), past_key.elements::<f32>().unwrap());
    assert_eq!(key, [&past[..4], &new[..2], &past[4..], &new[2..]].concat());
    let sizes = Sizes { batch: 1, heads: 2, own: 2, queries: 1, keys: 3, width: 2, value_width: 2 };
    let elements = [&q, &found[1], &found[2]].map(|array| array.elements::<f32>().unwrap());
    let expected = attention(&sizes, elements, |_, _, _| true);
    assert_near(found[0].elements::<f32>().unwrap(), &expected);
    assert_eq!(results(24, "Attention", &operands[..3], &[], 1), Err("attribute"));
    let heads = [int("q_num_heads", 1), int("kv_num_heads", 2)];
    assert_eq!(results(24, "Attention", &operands[..3], &heads, 1), Err("attribute"));
    assert_eq!(results(24, "Attention", &operands[..5], &attributes, 1), Err("unexpected"));
}

#[test]
fn attention_shows_its_scores_after_each_stage() {
    let [q, k] = [floats(&[1, 1, 1, 1], &[2.0]), floats(&[1, 1, 2, 1], &[1.0, 3.0])];
    let mask = floats(&[1, 2], &[0.5, f32::NEG_INFINITY]);
    let shown = |mode: i64| {
        let operands = [("q", &q), ("k", &k), ("v", &k), ("mask", &mask)];
        let attributes =
            [float("scale", 1.0), float("softcap", 4.0), int("qk_matmul_output_mode", mode)];
        let found = results(23, "Attention", &operands, &attributes, 4).unwrap().remove(3);
        found.elements::<f32>().unwrap().to_vec()
    };
    assert_eq!(shown(0), [2.0, 6.0]);
    let capped = [4.0 * 0.5f32.tanh(), 4.0 * 1.5f32.tanh()];
    assert_near(&shown(1), &capped);
    assert_near(&shown(2), &[capped[0] + 0.5, f32::NEG_INFINITY]);
    assert_eq!(shown(3), [1.0, 0.0]);
}

#[test]
fn rotary_embeddings_turn_pairs_by_angles_of_positions() {
    let x = floats(&[1, 1, 1, 4], &[1., 2., 3., 4.]);
    let cosine = floats(&[2, 2], &[1., 1., 0.5, 0.25]);
    let sine = floats(&[2, 2], &[0., 0., 2.0, 4.0]);
    let positions = Array::new([1, 1], vec![1i64]).unwrap();
    let operands = [("x", &x), ("c", &cosine), ("s", &sine), ("i", &positions)];
    let halves = [0.5 - 6., 0.5 - 16., 2. + 1.5, 8. + 1.];
    assert_eq!(result(23, "RotaryEmbedding", &operands, &[]), halves);
    let pairs = [0.5 - 4., 2. + 1., 0.75 - 16., 12. + 1.];
    assert_eq!(result(23, "RotaryEmbedding", &operands, &[int("interleaved", 1)]), pairs);
    // Two elements are turned, two stay.
    let [cosine, sine] = [floats(&[1, 1, 1], &[0.5]), floats(&[1, 1, 1], &[2.0])];
    let operands = [("x", &x), ("c", &cosine), ("s", &sine)];
    let part = [int("rotary_embedding_dim", 2)];
    assert_eq!(result(23, "RotaryEmbedding", &operands, &part), [0.5 - 4., 2. + 1., 3., 4.]);
    let odd = [int("rotary_embedding_dim", 3)];
    assert_eq!(results(23, "RotaryEmbedding", &operands, &odd, 1), Err("attribute"));
}

#[test]
fn updates_are_written_into_a_cache() {
    let cache = floats(&[2, 3, 1], &[1., 2., 3., 4., 5., 6.]);
    let update = floats(&[2, 2, 1], &[7., 8., 9., 10.]);
    let first = list(&[1, 0]);
    let operands = [("c", &cache), ("u", &update), ("i", &first)];
    assert_eq!(result(24, "TensorScatter", &operands, &[]), [1., 7., 8., 9., 10., 6.]);
    assert_eq!(result(24, "TensorScatter", &operands[..2], &[]), [7., 8., 3., 9., 10., 6.]);
    let first = list(&[2, 0]);
    let operands = [("c", &cache), ("u", &update), ("i", &first)];
    let circular = [text("mode", "circular")];
    assert_eq!(result(24, "TensorScatter", &operands, &circular), [8., 2., 7., 9., 10., 6.]);
}

#[test]
fn losses_weigh_and_ignore_classes() {
    let x = floats(&[2, 3], &[-1., -2., -3., -4., -5., -6.]);
    let classes = list(&[1, 2]);
    let weights = floats(&[3], &[1., 0.5, 0.25]);
    let loss = |operands: &[(&str, &Array)], attributes: &[Message]| {
        result(13, "NegativeLogLikelihoodLoss", operands, attributes)
    };
    let (plain, weighed) =
        ([("x", &x), ("t", &classes)], [("x", &x), ("t", &classes), ("w", &weights)]);
    assert_eq!(loss(&plain, &[text("reduction", "none")]), [2., 6.]);
    assert_eq!(loss(&plain, &[text("reduction", "sum")]), [8.]);
    assert_eq!(loss(&plain, &[]), [4.]);
    assert_eq!(loss(&weighed, &[text("reduction", "none")]), [1., 1.5]);
    assert_near(&loss(&weighed, &[]), &[2.5 / 0.75]);
    assert_eq!(loss(&weighed, &[int("ignore_index", 2)]), [2.]);
    // An ignored class need not exist.
    let classes = list(&[1, -100]);
    let operands = [("x", &x), ("t", &classes)];
    assert_eq!(loss(&operands, &[int("ignore_index", -100)]), [2.]);
    let x = floats(&[1, 2, 2], &[0., 0., 0., 0.]);
    let classes = Array::new([1, 2], vec![0i64, 1]).unwrap();
    let operands = [("x", &x), ("t", &classes)];
    let found = results(13, "SoftmaxCrossEntropyLoss", &operands, &[], 2).unwrap();
    assert_near(found[0].elements::<f32>().unwrap(), &[2f32.ln()]);
    assert_near(found[1].elements::<f32>().unwrap(), &[-(2f32.ln()); 4]);
}

#[test]
fn sequences_are_reversed_up_to_their_lengths() {
    let x = floats(&[3, 2], &[1., 2., 3., 4., 5., 6.]);
    let lengths = list(&[2, 3]);
    let operands = [("x", &x), ("l", &lengths)];
    assert_eq!(result(10, "ReverseSequence", &operands, &[]), [3., 6., 1., 4., 5., 2.]);
    let lengths = list(&[1, 2, 0]);
    let operands = [("x", &x), ("l", &lengths)];
    let axes = [int("batch_axis", 0), int("time_axis", 1)];
    assert_eq!(result(10, "ReverseSequence", &operands, &axes), [1., 2., 4., 3., 5., 6.]);
    let same = [int("batch_axis", 1), int("time_axis", 1)];
    assert_eq!(results(10, "ReverseSequence", &operands, &same, 1), Err("attribute"));
}

#[test]
fn axes_are_cropped_and_padded_around_their_centre() {
    let x = floats(&[4, 1], &[1., 2., 3., 4.]);
    let sizes = list(&[1, 4]);
    let operands = [("x", &x), ("s", &sizes)];
    assert_eq!(result(18, "CenterCropPad", &operands, &[]), [0., 2., 0., 0.]);
    let sizes = list(&[7]);
    let operands = [("x", &x), ("s", &sizes)];
    let found = result(18, "CenterCropPad", &operands, &[ints("axes", &[-2])]);
    assert_eq!(found, [0., 1., 2., 3., 4., 0., 0.]);
}

#[test]
fn windows_of_signals_are_sums_of_cosines() {
    let size = Array::from_scalar(4i64);
    let window =
        |operator, periodic| result(17, operator, &[("n", &size)], &[int("periodic", periodic)]);
    assert_near(&window("HannWindow", 1), &[0.0, 0.5, 1.0, 0.5]);
    assert_near(&window("HannWindow", 0), &[0.0, 0.75, 0.75, 0.0]);
    assert_near(&window("HammingWindow", 1), &[0.086_956_52, 0.543_478_25, 1.0, 0.543_478_25]);
    assert_near(&window("BlackmanWindow", 0), &[0.0, 0.63, 0.63, 0.0]);
    let negative = Array::from_scalar(-1i64);
    assert_eq!(results(17, "HannWindow", &[("n", &negative)], &[], 1), Err("unexpected"));
}

#[test]
fn fourier_transforms_have_parts_along_the_last_axis() {
    let x = floats(&[1, 4, 1], &[1., 2., 3., 4.]);
    let whole = [10., 0., -2., 2., -2., 0., -2., -2.];
    assert_near(&result(17, "DFT", &[("x", &x)], &[]), &whole);
    let half = [int("onesided", 1)];
    assert_near(&result(17, "DFT", &[("x", &x)], &half), &whole[..6]);
    let spectrum = floats(&[1, 4, 2], &whole);
    let found = result(17, "DFT", &[("x", &spectrum)], &[int("inverse", 1), int("axis", -2)]);
    assert_near(&found, &[1., 0., 2., 0., 3., 0., 4., 0.]);
    // Since version 20 the axis is an operand; the length crops or pads it.
    let (x, axis) = (floats(&[4, 1, 1], &[1., 2., 3., 4.]), Array::from_scalar(0i64));
    let [two, five] = [2, 5i64].map(Array::from_scalar);
    let cropped = result(20, "DFT", &[("x", &x), ("n", &two), ("axis", &axis)], &[]);
    assert_near(&cropped, &[3., 0., -1., 0.]);
    let padded = result(20, "DFT", &[("x", &x), ("n", &five), ("axis", &axis)], &half);
    assert_near(&padded[..2], &[10., 0.]);
    assert_eq!(padded.len(), 6);
    let back = [int("inverse", 1), int("onesided", 1)];
    let half = floats(&[3, 2], &whole[..6]);
    assert_near(&result(20, "DFT", &[("x", &half)], &back), &[1., 2., 3., 4.]);
    let none = Array::from_scalar(0i64);
    let empty = [("x", &x), ("n", &none), ("axis", &axis)];
    assert_eq!(results(20, "DFT", &empty, &[], 1), Err("fourier-length"));
    let parts = Array::from_scalar(-1i64);
    let wrong = [("x", &x), ("n", &two), ("axis", &parts)];
    assert_eq!(results(20, "DFT", &wrong, &[], 1), Err("unexpected"));
}

#[test]
fn quantization_by_data_takes_the_range_with_zero() {
    let quantized = |x: &[f32]| {
        let found = results(11, "DynamicQuantizeLinear", &[("x", &floats(&[x.len()], x))], &[], 3);
        let found = found.unwrap();
        let zero = found[2].elements::<u8>().unwrap()[0];
        (found[0].elements::<u8>().unwrap().to_vec(), found[1].elements::<f32>().unwrap()[0], zero)
    };
    assert_eq!(quantized(&[-1.0, 0.0, 254.0]), (vec![0, 1, 255], 1.0, 1));
    assert_eq!(quantized(&[51.0, 255.0]), (vec![51, 255], 1.0, 0));
    assert_eq!(quantized(&[0.0, 0.0]), (vec![0, 0], 1.0 / 255.0, 0));
}

#[test]
fn images_are_sampled_at_the_positions_of_a_grid() {
    let image = floats(&[1, 1, 2, 2], &[1., 2., 3., 4.]);
    // The first coordinate is that of the last axis.
    let grid = floats(&[1, 1, 4, 2], &[0., 0., -1., -1., 1., -1., 3., 0.]);
    let operands = [("x", &image), ("g", &grid)];
    let sample =
        |opset: i64, attributes: &[Message]| result(opset, "GridSample", &operands, attributes);
    assert_eq!(sample(20, &[int("align_corners", 1)]), [2.5, 1., 2., 0.]);
    assert_eq!(sample(16, &[]), [2.5, 0.25, 0.5, 0.]);
    assert_eq!(sample(20, &[text("padding_mode", "border")]), [2.5, 1., 2., 3.]);
    let reflected = [text("padding_mode", "reflection"), int("align_corners", 1)];
    assert_eq!(sample(20, &reflected), [2.5, 1., 2., 2.]);
    let nearest = [text("mode", "nearest"), int("align_corners", 1)];
    assert_eq!(sample(20, &nearest), [1., 1., 2., 0.]);
    let cubic = [text("mode", "cubic"), int("align_corners", 1), text("padding_mode", "border")];
    assert_eq!(sample(20, &cubic)[1..3], [1., 2.]);
    // Cubic weights beyond the border, as in ONNX Runtime and PyTorch: position 4.375, and -0.3125.
    let row = floats(&[1, 1, 1, 5], &[1., 2., 5., 10., 17.]);
    let grid = floats(&[1, 1, 2, 2], &[0.95, 0., -0.925, 0.]);
    let cubic = [text("mode", "cubic"), text("padding_mode", "border")];
    let found = result(20, "GridSample", &[("x", &row), ("g", &grid)], &cubic);
    let cubic_weight = |t: f32| -0.75 * ((t - 5.0) * t + 8.0) * t + 3.0;
    let expected = [17.0 - 7.0 * cubic_weight(1.375), 1.0 + cubic_weight(2.0 - 0.6875)];
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
    let other = floats(&[1, 1, 1, 3], &[0.; 3]);
    let operands = [("x", &image), ("g", &other)];
    assert_eq!(results(20, "GridSample", &operands, &[], 1), Err("unexpected"));
}

#[test]
fn grids_are_affine_maps_of_positions() {
    let matrix = floats(&[1, 2, 3], &[1., 0., 0.5, 0., 2., 0.]);
    let size = list(&[1, 1, 2, 2]);
    let operands = [("t", &matrix), ("s", &size)];
    let found = result(20, "AffineGrid", &operands, &[int("align_corners", 1)]);
    assert_eq!(found, [-0.5, -2., 1.5, -2., -0.5, 2., 1.5, 2.]);
    assert_eq!(result(20, "AffineGrid", &operands, &[]), [0., -1., 1., -1., 0., 1., 1., 1.]);
}

#[test]
fn blocks_of_an_image_are_added() {
    // Three blocks of two elements: positions 0 and 1, 1 and 2, 2 and 3.
    let blocks = floats(&[1, 2, 3], &[1., 2., 3., 10., 20., 30.]);
    let [image, block] = [list(&[4]), list(&[2])];
    let operands = [("x", &blocks), ("i", &image), ("b", &block)];
    assert_eq!(result(18, "Col2Im", &operands, &[]), [1., 12., 23., 30.]);
    let padded = [ints("pads", &[1, 1]), ints("strides", &[2])];
    assert_eq!(result(18, "Col2Im", &operands, &padded), [10., 2., 20., 3.]);
    let image = list(&[5]);
    let operands = [("x", &blocks), ("i", &image), ("b", &block)];
    assert_eq!(results(18, "Col2Im", &operands, &[], 1), Err("unexpected"));
}
