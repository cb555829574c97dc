//! OpenVINO's convolutions and pools, against loops over indices written here.

use crate::support::ir::Network;
use crate::support::random::Random;
use crate::support::{bounds, run};
use indim_graph::Array;

fn numbers(array: &Array) -> &[f32] {
    array.elements().unwrap()
}

fn network(name: &str, attributes: &str, inputs: &[Array], results: &[&str]) -> Network {
    let mut network = Network::default();
    let mut sources = Vec::new();
    for input in inputs {
        let sizes: Vec<String> = input.shape().iter().map(ToString::to_string).collect();
        let port = format!("FP32 {}", sizes.join(" "));
        sources.push(network.parameter("f32", &sizes.join(","), &port).to_string());
    }
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let id = network.add(name, attributes, &sources, results);
    network.result(&id.to_string());
    network
}

/// The result of one operation, whose type is `result`.
fn operation(name: &str, attributes: &str, inputs: &[Array], result: &[usize]) -> Array {
    let sizes: Vec<String> = result.iter().map(ToString::to_string).collect();
    let port = format!("FP32 {}", sizes.join(" "));
    let network = network(name, attributes, inputs, &[&port]);
    let model = network.read().unwrap_or_else(|error| panic!("{error}"));
    run(&*model, inputs).unwrap_or_else(|error| panic!("{error}")).remove(0)
}

/// The code of the error of one operation.
fn code(name: &str, attributes: &str, inputs: &[Array]) -> &'static str {
    match network(name, attributes, inputs, &["FP32"]).read() {
        Err(error) => error.code(),
        Ok(model) => {
            let built = model.build(&bounds(&*model, inputs)).map(|_| ());
            built.expect_err("a mistake").code()
        }
    }
}

const PLAIN: &str = "strides=\"2\" pads_begin=\"1\" pads_end=\"0\" dilations=\"2\"";

/// Elements `2 o + 2 t - 1` of 7, for three elements `t` of a window.
fn index(o: usize, t: usize) -> Option<usize> {
    (2 * o + 2 * t).checked_sub(1).filter(|&index| index < 7)
}

#[test]
fn convolutions_are_sums_over_indices() {
    let random = &mut Random(3);
    let x = random.floats(&[2, 4, 7]);
    let w = random.floats(&[3, 4, 3]);
    let found = operation("Convolution-1", PLAIN, &[x.clone(), w.clone()], &[2, 3, 2]);
    let mut expected = Vec::new();
    for (n, f, o) in (0..12).map(|i| (i / 6, i / 2 % 3, i % 2)) {
        let mut sum = 0.0;
        for (t, c) in (0..12).map(|i| (i / 4, i % 4)) {
            let Some(i) = index(o, t) else { continue };
            sum += numbers(&x)[(n * 4 + c) * 7 + i] * numbers(&w)[(f * 4 + c) * 3 + t];
        }
        expected.push(sum);
    }
    assert_eq!(numbers(&found), expected);
    // Two groups, each with two features and three results.
    let w = random.floats(&[2, 3, 2, 3]);
    let found = operation("GroupConvolution-1", PLAIN, &[x.clone(), w.clone()], &[2, 6, 2]);
    let mut expected = Vec::new();
    for (n, g, f, o) in (0..24).map(|i| (i / 12, i / 6 % 2, i / 2 % 3, i % 2)) {
        let mut sum = 0.0;
        for (t, c) in (0..6).map(|i| (i / 2, i % 2)) {
            let Some(i) = index(o, t) else { continue };
            let of_w = ((g * 3 + f) * 2 + c) * 3 + t;
            sum += numbers(&x)[(n * 4 + g * 2 + c) * 7 + i] * numbers(&w)[of_w];
        }
        expected.push(sum);
    }
    assert_eq!(numbers(&found), expected);
}

#[test]
fn transposed_convolutions_scatter_their_weights() {
    let random = &mut Random(5);
    let x = random.floats(&[1, 4, 3]);
    let attributes =
        "strides=\"2\" pads_begin=\"1\" pads_end=\"0\" dilations=\"1\" output_padding=\"1\"";
    for (groups, shape) in [(1, vec![4, 2, 3]), (2, vec![2, 2, 2, 3])] {
        let w = random.floats(&shape);
        let (name, made) = match groups {
            1 => ("ConvolutionBackpropData-1", 2),
            _ => ("GroupConvolutionBackpropData-1", 4),
        };
        let found = operation(name, attributes, &[x.clone(), w.clone()], &[1, made, 7]);
        let (taken, of_group) = (4 / groups, made / groups);
        let mut expected = vec![0.0_f32; made * 7];
        for (c, i, f, t) in (0..4 * 3 * of_group * 3)
            .map(|k| (k / (9 * of_group), k / (3 * of_group) % 3, k / 3 % of_group, k % 3))
        {
            let Some(place) = (i * 2 + t).checked_sub(1) else { continue };
            let to = (c / taken * of_group + f) * 7 + place;
            expected[to] += numbers(&x)[c * 3 + i] * numbers(&w)[(c * of_group + f) * 3 + t];
        }
        assert_eq!(numbers(&found), expected, "{groups} groups");
    }
}

fn row(elements: &[f32]) -> Array {
    Array::new([1, 1, elements.len()], elements.to_vec()).unwrap()
}

#[test]
fn padding_by_name_and_rounding() {
    let x = row(&[1.0, 2.0, 3.0, 4.0, 5.0]);
    let pool = |name: &str, attributes: &str, count: usize| {
        let attributes = format!("kernel=\"3\" strides=\"2\" {attributes}");
        let found = operation(name, &attributes, core::slice::from_ref(&x), &[1, 1, count]);
        numbers(&found).to_vec()
    };
    let pads = |begin: usize, end: usize| format!("pads_begin=\"{begin}\" pads_end=\"{end}\"");
    let excluded = format!("{} exclude-pad=\"true\"", pads(1, 1));
    assert_eq!(pool("AvgPool-1", &excluded, 3), [1.5, 3.0, 4.5]);
    let included = format!("{} exclude-pad=\"false\" rounding_type=\"ceil_torch\"", pads(1, 1));
    assert_eq!(pool("AvgPool-14", &included, 3), [1.0, 3.0, 3.0]);
    let ceil = format!("{} rounding_type=\"ceil\"", pads(0, 1));
    assert_eq!(pool("MaxPool-1", &ceil, 3), [3.0, 5.0, 5.0]);
    assert_eq!(pool("MaxPool-1", &pads(0, 1), 2), [3.0, 5.0]);
    assert_eq!(pool("MaxPool-1", "auto_pad=\"same_upper\"", 3), [2.0, 4.0, 5.0]);
    let w = row(&[1.0, 10.0]);
    let same = |name: &str| {
        let attributes = format!("strides=\"1\" auto_pad=\"{name}\"");
        let found = operation("Convolution-1", &attributes, &[x.clone(), w.clone()], &[1, 1, 5]);
        numbers(&found).to_vec()
    };
    assert_eq!(same("same_upper"), [21.0, 32.0, 43.0, 54.0, 5.0]);
    assert_eq!(same("same_lower"), [10.0, 21.0, 32.0, 43.0, 54.0]);
}

/// The longer half of an odd padding is on the other side than in a convolution.
#[test]
fn the_size_of_a_transposed_result_gives_its_padding() {
    let (x, w) = (row(&[1.0, 10.0, 100.0]), row(&[1.0, 2.0, 3.0]));
    let transposed = |pad: &str, size: Option<i64>, count: usize| {
        let mut network = Network::default();
        let mut sources = vec![
            network.parameter("f32", "1,1,3", "FP32 1 1 3").to_string(),
            network.parameter("f32", "1,1,3", "FP32 1 1 3").to_string(),
        ];
        sources.extend(size.map(|size| network.integers(&[size]).to_string()));
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        let attributes = format!("strides=\"2\" auto_pad=\"{pad}\"");
        let port = format!("FP32 1 1 {count}");
        let id = network.add("ConvolutionBackpropData-1", &attributes, &sources, &[&port]);
        network.result(&id.to_string());
        let model = network.read().unwrap_or_else(|error| panic!("{error}"));
        let found = run(&*model, &[x.clone(), w.clone()]).unwrap_or_else(|error| panic!("{error}"));
        numbers(&found[0]).to_vec()
    };
    let whole = [1.0, 2.0, 13.0, 20.0, 130.0, 200.0, 300.0];
    assert_eq!(transposed("same_upper", Some(6), 6), whole[1..]);
    assert_eq!(transposed("same_lower", Some(6), 6), whole[..6]);
    assert_eq!(transposed("same_upper", None, 7), whole);
}

#[test]
fn mistakes_have_their_codes() {
    let (x, w) = (row(&[1.0, 2.0]), row(&[1.0]));
    let both = [x.clone(), w];
    assert_eq!(code("Convolution-1", "strides=\"0\"", &both), "attribute");
    assert_eq!(code("Convolution-1", "strides=\"1,1\"", &both), "attribute");
    assert_eq!(code("Convolution-1", "auto_pad=\"other\"", &both), "attribute");
    let wide = Array::new([1, 2, 1], vec![1.0_f32; 2]).unwrap();
    assert_eq!(code("Convolution-1", "", &[x.clone(), wide]), "convolution-shape");
    assert_eq!(code("GroupConvolution-1", "", &both), "unexpected");
    let one = core::slice::from_ref(&x);
    assert_eq!(code("MaxPool-1", "", one), "attribute");
    assert_eq!(code("MaxPool-1", "kernel=\"3\"", one), "attribute");
    assert_eq!(code("AvgPool-1", "kernel=\"1\"", one), "attribute");
}

#[test]
fn the_positions_of_a_pool_count_over_the_axes_from_one_on() {
    let x = Array::new([2, 1, 3], vec![1.0f32, 3.0, 2.0, 5.0, 5.0, f32::NAN]).unwrap();
    let one = core::slice::from_ref(&x);
    let pool = |axis: &str, element: &str| {
        let attributes =
            format!("kernel=\"2\" strides=\"1\" axis=\"{axis}\" index_element_type=\"{element}\"");
        let port = format!("{} 2 1 2", element.to_uppercase());
        let mut pool = network("MaxPool-8", &attributes, one, &["FP32 2 1 2", &port]);
        pool.result("1:2");
        let model = pool.read().unwrap_or_else(|error| panic!("{error}"));
        run(&*model, one).map_err(|error| error.code())
    };
    let found = pool("0", "i64").unwrap();
    assert_eq!(numbers(&found[0]), [3.0, 3.0, 5.0, 5.0]);
    assert_eq!(found[1].elements::<i64>().unwrap(), [1, 1, 3, 4]);
    for axis in ["1", "-1"] {
        assert_eq!(pool(axis, "i32").unwrap()[1].elements::<i32>().unwrap(), [1, 1, 0, 1]);
    }
    assert_eq!(pool("3", "i64"), Err("attribute"));
    assert_eq!(pool("0", "u8"), Err("attribute"));
    // A window of padding alone has the position 0.
    let one_element = Array::new([1, 1, 1], vec![4.0f32]).unwrap();
    let attributes = "kernel=\"1\" strides=\"1\" pads_begin=\"1\" pads_end=\"0\" axis=\"0\"";
    let ports = ["FP32 1 1 2", "I64 1 1 2"];
    let mut padding = network("MaxPool-8", attributes, core::slice::from_ref(&one_element), &ports);
    padding.result("1:2");
    let found = run(&*padding.read().unwrap(), &[one_element]).unwrap();
    assert_eq!(found[1].elements::<i64>().unwrap(), [0, 0]);
    // A window of a whole image has no positions that nobody reads.
    let x = Array::new([1, 1, 5000], vec![1.0f32; 5000]).unwrap();
    let results = ["FP32 1 1 1", "I64 1 1 1"];
    let mut whole = network("MaxPool-8", "kernel=\"5000\"", core::slice::from_ref(&x), &results);
    let model = whole.read().unwrap();
    assert_eq!(numbers(&run(&*model, core::slice::from_ref(&x)).unwrap()[0]), [1.0]);
    whole.result("1:2");
    let error = run(&*whole.read().unwrap(), &[x]).map_err(|error| error.code());
    assert_eq!(error, Err("limit"));
}
