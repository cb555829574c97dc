//! Operations of OpenVINO with indices: gathers against loops over indices written here, the others against
//! results recorded from OpenVINO 2026.4 (CPU) for these operands.

use crate::support::ir::Network;
use crate::support::{bounds, position, run, unravelled};
use indim_graph::Array;
use indim_ops::{DType, f16};

fn port(array: &Array) -> String {
    let name = match array.dtype() {
        DType::F32 => "FP32".to_owned(),
        DType::F16 => "FP16".to_owned(),
        dtype => dtype.name().to_uppercase(),
    };
    let sizes: Vec<String> = array.shape().iter().map(ToString::to_string).collect();
    format!("{name} {}", sizes.join(" ")).trim().to_owned()
}

/// A network of one operation: its inputs, then operands that are constants.
fn network(
    name: &str,
    attributes: &str,
    inputs: &[Array],
    constants: &[i64],
    results: &[&str],
) -> Network {
    let mut network = Network::default();
    let mut sources = Vec::new();
    for input in inputs {
        let sizes: Vec<String> = input.shape().iter().map(ToString::to_string).collect();
        let dtype = input.dtype().name();
        sources.push(network.parameter(dtype, &sizes.join(","), &port(input)).to_string());
    }
    for &constant in constants {
        sources.push(network.integers(&[constant]).to_string());
    }
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let id = network.add(name, attributes, &sources, results);
    for number in 0..results.len() {
        network.result(&format!("{id}:{}", sources.len() + number));
    }
    network
}

/// The results of one operation, which have the types of the expected ones.
fn check(name: &str, attributes: &str, inputs: &[Array], constants: &[i64], expected: &[Array]) {
    let ports: Vec<String> = expected.iter().map(port).collect();
    let ports: Vec<&str> = ports.iter().map(String::as_str).collect();
    let model = network(name, attributes, inputs, constants, &ports).read();
    let model = model.unwrap_or_else(|error| panic!("{name} {attributes}: {error}"));
    let found = run(&*model, inputs).unwrap_or_else(|error| panic!("{name} {attributes}: {error}"));
    assert_eq!(found, expected, "{name} {attributes}");
}

fn code(name: &str, attributes: &str, inputs: &[Array], constants: &[i64]) -> &'static str {
    let results: &[&str] = if name.starts_with("TopK") { &["FP32", "I32"] } else { &["FP32"] };
    match network(name, attributes, inputs, constants, results).read() {
        Err(error) => error.code(),
        Ok(model) => {
            model.build(&bounds(&*model, inputs)).map(|_| ()).expect_err("a mistake").code()
        }
    }
}

fn f32s(shape: &[usize], numbers: &[f32]) -> Array {
    Array::new(shape.to_vec(), numbers.to_vec()).unwrap()
}

fn i32s(shape: &[usize], numbers: &[i32]) -> Array {
    Array::new(shape.to_vec(), numbers.to_vec()).unwrap()
}

fn counted(shape: &[usize]) -> Array {
    let count = shape.iter().product::<usize>();
    f32s(shape, &(1..=count).map(|number| number as f32).collect::<Vec<_>>())
}

/// The definition of `Gather`: the axes before the gathered one, the indices without their batches, the rest.
fn gathered(data: &Array, indices: &Array, axis: usize, batch: usize, from_end: bool) -> Array {
    let (x, i) = (data.elements::<f32>().unwrap(), indices.elements::<i32>().unwrap());
    let sizes: Vec<usize> = data.shape()[..axis]
        .iter()
        .chain(&indices.shape()[batch..])
        .chain(&data.shape()[axis + 1..])
        .copied()
        .collect();
    let count: usize = sizes.iter().product();
    let rank = indices.shape().rank() - batch;
    let element = |number: usize| {
        let at = unravelled(number, &sizes);
        let of_index = at[..batch].iter().chain(&at[axis..axis + rank]);
        let index = i[position(indices.shape(), of_index.copied())];
        let size = data.shape()[axis] as i32;
        let index = if from_end && index < 0 { index + size } else { index };
        if !(0..size).contains(&index) {
            return 0.0;
        }
        let place = at[..axis].iter().copied().chain([index as usize]);
        x[position(data.shape(), place.chain(at[axis + rank..].iter().copied()))]
    };
    f32s(&sizes, &(0..count).map(element).collect::<Vec<_>>())
}

#[test]
fn gathers_give_zero_outside() {
    let data = counted(&[2, 3, 4, 2]);
    let given = [0, -1, 5, 2, -3, 1, 3, 7, -9, 1, 0, 2];
    for (shape, axis, batch) in [
        (&[2, 3, 2][..], 0, 0),
        (&[2, 3, 2], 1, 0),
        (&[2, 3, 2], 3, 0),
        (&[2, 3, 2], 1, 1),
        (&[2, 3, 2], 2, 1),
        (&[2, 3, 2], 3, 2),
        (&[2, 3, 2], 2, 2),
        (&[2, 6], 3, 1),
    ] {
        let indices = i32s(shape, &given);
        let inputs = [data.clone(), indices.clone()];
        for (name, from_end) in [("Gather-7", false), ("Gather-8", true)] {
            let expected = gathered(&data, &indices, axis, batch, from_end);
            let attributes = format!("batch_dims=\"{batch}\"");
            check(name, &attributes, &inputs, &[axis as i64], core::slice::from_ref(&expected));
            if batch > 0 {
                let from_end = batch as i64 - shape.len() as i64;
                let attributes = format!("batch_dims=\"{from_end}\"");
                check(name, &attributes, &inputs, &[axis as i64 - 4], &[expected]);
            }
        }
    }
    let inputs = [data, i32s(&[2, 6], &given)];
    assert_eq!(code("Gather-8", "batch_dims=\"3\"", &inputs, &[2]), "attribute");
    assert_eq!(code("Gather-8", "", &inputs, &[4]), "attribute");
}

#[test]
fn gathers_by_elements_and_vectors() {
    let x = f32s(&[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let indices = i32s(&[2, 2], &[0, -1, 2, 1]);
    let expected = f32s(&[2, 2], &[0.0, 2.0, 5.0, 4.0]);
    check("GatherElements-6", "axis=\"1\"", &[x.clone(), indices], &[], &[expected]);
    let pairs = [x, i32s(&[3, 2], &[0, 1, -1, 2, 1, -1])];
    let y = f32s(&[2, 2, 6], &(0..24).map(|number| number as f32).collect::<Vec<_>>());
    let singles = [y.clone(), i32s(&[2, 2, 1], &[1, 2, 3, 5])];
    let vectors = [y, i32s(&[2, 2, 2], &[1, 1, 0, 2, 0, 3, 0, 5])];
    for name in ["GatherND-5", "GatherND-8"] {
        check(name, "batch_dims=\"0\"", &pairs, &[], &[f32s(&[3], &[1.0, 5.0, 5.0])]);
        let expected = f32s(&[2, 2], &[7.0, 2.0, 15.0, 17.0]);
        check(name, "batch_dims=\"1\"", &vectors, &[], &[expected]);
        let shape: &[usize] = if name == "GatherND-5" { &[4] } else { &[2, 2] };
        let expected = f32s(shape, &[1.0, 8.0, 15.0, 23.0]);
        check(name, "batch_dims=\"2\"", &singles, &[], &[expected]);
    }
    assert_eq!(code("GatherND-8", "batch_dims=\"3\"", &singles, &[]), "attribute");
    // Two batch axes have 2^80 elements together.
    let empty = f32s(&[1 << 40, 1 << 40, 0], &[]);
    let vectors = i32s(&[1 << 40, 1 << 40, 0], &[]);
    assert_eq!(code("GatherND-5", "batch_dims=\"2\"", &[empty, vectors], &[]), "too-large");
}

#[test]
fn scatters_replace_and_reduce() {
    let x = f32s(&[5], &[1.0, 2.0, 3.0, 4.0, -5.0]);
    let indices = i32s(&[4], &[0, 0, -1, 2]);
    let updates = f32s(&[4], &[10.0, -31.0, 7.0, 4.0]);
    let whole = [x.clone(), indices.clone(), updates.clone()];
    let replaced = [-31.0, 2.0, 4.0, 4.0, 7.0];
    check("ScatterUpdate-3", "", &whole, &[0], &[f32s(&[5], &replaced)]);
    check("ScatterElementsUpdate-3", "", &whole, &[0], &[f32s(&[5], &replaced)]);
    let third = -20.0 / 3.0;
    for (reduction, with, without) in [
        ("none", replaced, replaced),
        ("sum", [-20.0, 2.0, 7.0, 4.0, 2.0], [-21.0, 2.0, 4.0, 4.0, 7.0]),
        ("prod", [-310.0, 2.0, 12.0, 4.0, -35.0], [-310.0, 2.0, 4.0, 4.0, 7.0]),
        ("min", [-31.0, 2.0, 3.0, 4.0, -5.0], [-31.0, 2.0, 4.0, 4.0, 7.0]),
        ("max", [10.0, 2.0, 4.0, 4.0, 7.0], [10.0, 2.0, 4.0, 4.0, 7.0]),
        ("mean", [third, 2.0, 3.5, 4.0, 1.0], [-10.5, 2.0, 4.0, 4.0, 7.0]),
    ] {
        for (flag, expected) in [("true", with), ("false", without)] {
            let attributes = format!("reduction=\"{reduction}\" use_init_val=\"{flag}\"");
            let name = "ScatterElementsUpdate-12";
            check(name, &attributes, &whole, &[0], &[f32s(&[5], &expected)]);
            // The mean of whole numbers is truncated.
            let integers = |array: &Array| {
                let numbers: Vec<i32> =
                    array.elements::<f32>().unwrap().iter().map(|&number| number as i32).collect();
                i32s(array.shape(), &numbers)
            };
            let inputs = [integers(&x), indices.clone(), integers(&updates)];
            check(name, &attributes, &inputs, &[0], &[integers(&f32s(&[5], &expected))]);
        }
    }
    let vectors = [x, i32s(&[4, 1], &[0, 0, -1, 2]), updates];
    check("ScatterNDUpdate-3", "", &vectors, &[], &[f32s(&[5], &replaced)]);
    for (reduction, expected) in [
        ("none", replaced),
        ("sum", [-20.0, 2.0, 7.0, 4.0, 2.0]),
        ("sub", [22.0, 2.0, -1.0, 4.0, -12.0]),
        ("prod", [-310.0, 2.0, 12.0, 4.0, -35.0]),
        ("min", [-31.0, 2.0, 3.0, 4.0, -5.0]),
        ("max", [10.0, 2.0, 4.0, 4.0, 7.0]),
    ] {
        let attributes = format!("reduction=\"{reduction}\"");
        check("ScatterNDUpdate-15", &attributes, &vectors, &[], &[f32s(&[5], &expected)]);
    }
    assert_eq!(code("ScatterNDUpdate-15", "reduction=\"mul\"", &vectors, &[]), "attribute");
    assert_eq!(code("ScatterUpdate-3", "", &whole, &[1]), "attribute");
}

fn check_mean(data: Array, indices: &[i32], updates: Array, with: Array, without: Array) {
    let inputs = [data, i32s(&[indices.len()], indices), updates];
    for (flag, expected) in [(true, with), (false, without)] {
        let attributes = format!("reduction=\"mean\" use_init_val=\"{flag}\"");
        check("ScatterElementsUpdate-12", &attributes, &inputs, &[0], &[expected]);
    }
}

#[test]
fn a_mean_of_negative_integers_is_truncated() {
    // OpenVINO's reference evaluation rounds down instead: -3, -1 and -4, -1.
    let indices = [0, 0, 1, 1, 1, 2];
    let list = |numbers: &[i32]| i32s(&[numbers.len()], numbers);
    let (data, updates) = (list(&[0, 0, 5, 7]), list(&[-3, -4, -1, -1, 0, -2]));
    check_mean(data, &indices, updates, list(&[-2, 0, 1, 7]), list(&[-3, 0, -2, 7]));
}

#[test]
fn a_mean_counts_more_updates_than_its_type_holds() {
    macro_rules! check_mean_of {
        ($count:expr, $data:expr, $update:expr, $with:expr, $without:expr) => {
            let array = |numbers: Vec<_>| Array::new([numbers.len()], numbers).unwrap();
            let [with, without] = [vec![$with], vec![$without]].map(array);
            check_mean(
                array(vec![$data]),
                &[0; $count],
                array(vec![$update; $count]),
                with,
                without,
            );
        };
    }
    // In these types 257 and 256 are 1 and 0. The sums of integers themselves wrap.
    check_mean_of!(256, 200_u8, 0, 0, 0);
    check_mean_of!(256, -100_i8, 0, 0, 0);
    check_mean_of!(300, 1_i32, 1 << 30, 0, 0);
    let [least, with, without] = [1.0, 59808.0, 60000.0].map(f16::from_f32);
    check_mean_of!(300, least, without, with, without);
}

#[test]
fn the_greatest_elements_in_each_order() {
    let x = f32s(&[7], &[3.0, 1.0, 3.0, 7.0, -2.0, 7.0, 1.0]);
    for (mode, sort, values, positions) in [
        ("max", "value", [7.0, 7.0, 3.0, 3.0], [3, 5, 0, 2]),
        ("min", "value", [-2.0, 1.0, 1.0, 3.0], [4, 1, 6, 0]),
        ("max", "index", [3.0, 3.0, 7.0, 7.0], [0, 2, 3, 5]),
        ("min", "index", [3.0, 1.0, -2.0, 1.0], [0, 1, 4, 6]),
        ("max", "none", [7.0, 7.0, 3.0, 3.0], [3, 5, 0, 2]),
    ] {
        let attributes = format!("axis=\"0\" mode=\"{mode}\" sort=\"{sort}\" stable=\"true\"");
        let expected = [f32s(&[4], &values), i32s(&[4], &positions)];
        for set in [1, 3, 11] {
            check(&format!("TopK-{set}"), &attributes, core::slice::from_ref(&x), &[4], &expected);
        }
        let wide = Array::new([4], positions.map(i64::from).to_vec()).unwrap();
        let attributes = format!("{attributes} index_element_type=\"i64\"");
        let expected = [expected[0].clone(), wide];
        check("TopK-11", &attributes, core::slice::from_ref(&x), &[4], &expected);
    }
    let code =
        |attributes: &str, k: i64| code("TopK-11", attributes, core::slice::from_ref(&x), &[k]);
    assert_eq!(code("axis=\"0\" mode=\"max\" sort=\"value\"", 8), "unexpected");
    assert_eq!(code("axis=\"0\" mode=\"most\" sort=\"value\"", 1), "attribute");
    assert_eq!(code("axis=\"0\" mode=\"max\" sort=\"up\"", 1), "attribute");
}

#[test]
fn nan_is_the_greatest_number_of_a_row() {
    let table = f32s(&[2, 3], &[1.0, 2.0, f32::NAN, 1.0, 2.0, 3.0]);
    let values = f32s(&[2, 2], &[f32::NAN, 2.0, f32::NAN, 3.0]);
    for (is_right, expected) in [("false", [2, 1, 3, 2]), ("true", [3, 2, 3, 3])] {
        let attributes = format!("right_mode=\"{is_right}\"");
        let expected = Array::new([2, 2], expected.map(i64::from).to_vec()).unwrap();
        let inputs = [table.clone(), values.clone()];
        check("SearchSorted-15", &attributes, &inputs, &[], &[expected]);
    }
}

#[test]
fn one_hot_arrays_and_searches() {
    let indices = i32s(&[7], &[0, -1, 2, 3, 5, -4, -5]);
    for (set, attributes, hot) in [
        (1, "axis=\"0\"", vec![(0, 0), (2, 2), (3, 3)]),
        (16, "axis=\"0\"", vec![(0, 0), (2, 2), (3, 3)]),
        (
            16,
            "axis=\"-2\" negative_indices_mode=\"normalize\"",
            vec![(0, 0), (2, 2), (3, 3), (3, 1), (0, 5)],
        ),
    ] {
        let mut network = Network::default();
        let from = network.parameter("i32", "7", "I32 7").to_string();
        let depth = network.integers(&[4]).to_string();
        let values = [7.0, -1.0].map(|value| network.floats("1", &[value]).to_string());
        let sources = [&from[..], &depth, &values[0], &values[1]];
        let id = network.add(&format!("OneHot-{set}"), attributes, &sources, &["FP32 4 7"]);
        network.result(&id.to_string());
        let model = network.read().unwrap_or_else(|error| panic!("{error}"));
        let found = run(&*model, core::slice::from_ref(&indices)).unwrap().remove(0);
        let mut expected = [-1.0f32; 28];
        hot.iter().for_each(|(row, column)| expected[row * 7 + column] = 7.0);
        assert_eq!(found.elements::<f32>(), Ok(&expected[..]), "{set} {attributes}");
    }
    let values = f32s(&[2, 3], &[0.0, 3.0, 9.0, 1.0, 4.0, 5.0]);
    let table = f32s(&[4], &[1.0, 3.0, 3.0, 5.0]);
    let left = Array::new([2, 3], vec![0i64, 1, 4, 0, 3, 3]).unwrap();
    check("SearchSorted-15", "", &[table, values.clone()], &[], &[left]);
    let tables = f32s(&[2, 4], &[1.0, 3.0, 3.0, 5.0, 0.0, 0.0, 1.0, 2.0]);
    let right = i32s(&[2, 3], &[0, 3, 4, 3, 4, 4]);
    let attributes = "right_mode=\"true\" output_type=\"i32\"";
    check("SearchSorted-15", attributes, &[tables, values], &[], &[right]);
}
