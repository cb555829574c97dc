//! `ScaledDotProductAttention`, `DepthToSpace`, `SpaceToDepth` and `ShuffleChannels` of OpenVINO, against
//! results recorded from OpenVINO 2026.4 (CPU).

use crate::support::ir::Network;
use crate::support::run;
use indim_graph::Array;
use indim_ops::DType;

fn floats(sizes: &[usize], elements: &[f32]) -> Array {
    Array::new(sizes, elements.to_vec()).unwrap()
}

/// A network of one operation of these inputs, with a result of type f32 and this shape.
fn network(name: &str, attributes: &str, inputs: &[Array], sizes: &[usize]) -> Network {
    let mut network = Network::default();
    let mut sources = Vec::new();
    for input in inputs {
        let sizes: Vec<String> = input.shape().iter().map(ToString::to_string).collect();
        let (dtype, precision) = match input.dtype() {
            DType::Bool => ("boolean", "BOOL"),
            _ => ("f32", "FP32"),
        };
        let port = format!("{precision} {}", sizes.join(" "));
        sources.push(network.parameter(dtype, &sizes.join(","), port.trim()).to_string());
    }
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    let id = network.add(name, attributes, &sources, &[&format!("FP32 {}", sizes.join(" "))]);
    network.result(&format!("{id}:{}", sources.len()));
    network
}

fn result(
    name: &str,
    attributes: &str,
    inputs: &[Array],
    sizes: &[usize],
) -> Result<Array, &'static str> {
    let model = network(name, attributes, inputs, sizes).read().map_err(|error| error.code())?;
    Ok(run(&*model, inputs).map_err(|error| error.code())?.remove(0))
}

/// An array of these sizes with the elements 0, 1, 2 and so on.
fn count(sizes: &[usize]) -> Array {
    let elements: Vec<f32> = (0..sizes.iter().product::<usize>()).map(|at| at as f32).collect();
    floats(sizes, &elements)
}

#[test]
fn blocks_of_images() {
    type Case<'c> = (&'c str, &'c str, &'c [usize], &'c [usize], &'c [usize]);
    let cases: [Case<'_>; 6] = [
        (
            "DepthToSpace-1",
            "mode=\"blocks_first\" block_size=\"2\"",
            &[1, 8, 1, 2],
            &[1, 2, 2, 4],
            &[0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15],
        ),
        (
            "DepthToSpace-1",
            "mode=\"depth_first\" block_size=\"2\"",
            &[1, 8, 1, 2],
            &[1, 2, 2, 4],
            &[0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15],
        ),
        (
            "SpaceToDepth-1",
            "mode=\"blocks_first\" block_size=\"2\"",
            &[1, 2, 2, 4],
            &[1, 8, 1, 2],
            &[0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15],
        ),
        (
            "SpaceToDepth-1",
            "mode=\"depth_first\" block_size=\"2\"",
            &[1, 2, 2, 4],
            &[1, 8, 1, 2],
            &[0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15],
        ),
        (
            "ShuffleChannels-1",
            "axis=\"1\" group=\"3\"",
            &[1, 6, 2],
            &[1, 6, 2],
            &[0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11],
        ),
        (
            "ShuffleChannels-1",
            "axis=\"-3\" group=\"2\"",
            &[1, 4, 2, 1],
            &[1, 4, 2, 1],
            &[0, 1, 4, 5, 2, 3, 6, 7],
        ),
    ];
    for (name, attributes, sizes, result_sizes, elements) in cases {
        let elements: Vec<f32> = elements.iter().map(|&element| element as f32).collect();
        let found = result(name, attributes, &[count(sizes)], result_sizes);
        assert_eq!(found, Ok(floats(result_sizes, &elements)), "{name} {attributes}");
    }
    for (name, attributes, code) in [
        ("DepthToSpace-1", "mode=\"blocks_first\" block_size=\"3\"", "attribute"),
        ("DepthToSpace-1", "mode=\"depth_first\" block_size=\"0\"", "attribute"),
        ("DepthToSpace-1", "mode=\"rows_first\" block_size=\"2\"", "attribute"),
        ("SpaceToDepth-1", "mode=\"blocks_first\" block_size=\"3\"", "attribute"),
        ("SpaceToDepth-1", "mode=\"blocks_first\" block_size=\"9223372036854775807\"", "attribute"),
        ("ShuffleChannels-1", "axis=\"1\" group=\"3\"", "attribute"),
        ("ShuffleChannels-1", "axis=\"4\" group=\"1\"", "attribute"),
    ] {
        let found = result(name, attributes, &[count(&[1, 8, 1, 2])], &[1, 8, 1, 2]);
        assert_eq!(found, Err(code), "{name} {attributes}");
    }
    assert_eq!(
        result("SpaceToDepth-1", "mode=\"depth_first\"", &[count(&[2, 2])], &[2, 2]),
        Err("unexpected")
    );
}

#[test]
fn attention_with_masks_and_scales() {
    let query = floats(&[1, 1, 3, 2], &[1.0, 0.0, 0.0, 2.0, 1.0, 1.0]);
    let key = floats(&[1, 1, 4, 2], &[1.0, 1.0, 0.0, 1.0, 2.0, 0.0, 1.0, 0.0]);
    let value = floats(&[1, 1, 4, 1], &[1.0, 2.0, 3.0, 4.0]);
    let flags = [1, 1, 0, 1, 0, 1, 1, 1, 1, 0, 0, 0].map(|flag| flag == 1);
    let mask = Array::new([1, 1, 3, 4], flags.to_vec()).unwrap();
    let bias = floats(&[1, 1, 1, 4], &[0.0, 1.0, 2.0, 3.0]);
    let check = |attributes: &str, more: &[&Array], expected: [f32; 3]| {
        let mut inputs = vec![query.clone(), key.clone(), value.clone()];
        inputs.extend(more.iter().map(|&array| array.clone()));
        let found =
            result("ScaledDotProductAttention-13", attributes, &inputs, &[1, 1, 3, 1]).unwrap();
        assert_eq!(found.shape()[..], [1, 1, 3, 1]);
        for (found, expected) in found.elements::<f32>().unwrap().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{attributes}: {found} {expected}");
        }
    };
    let plain = "causal=\"false\"";
    check(plain, &[], [2.669_761_2, 1.891_140_7, 2.330_238_3]);
    check("causal=\"true\"", &[], [1.0, 1.5, 2.0]);
    // With `causal` the mask has no effect.
    check("causal=\"true\"", &[&mask], [1.0, 1.5, 2.0]);
    check(plain, &[&mask, &floats(&[], &[0.5])], [2.383_651_7, 2.635_824_7, 1.0]);
    check(plain, &[&bias], [3.447_593_7, 3.015_854_4, 3.334_298_6]);
    let vector = floats(&[2], &[1.0, 0.0]);
    let found = result(
        "ScaledDotProductAttention-13",
        plain,
        &[vector, key.clone(), value.clone()],
        &[1, 1, 3, 1],
    );
    assert_eq!(found, Err("unexpected"));
    let found = result(
        "ScaledDotProductAttention-13",
        plain,
        &[mask, key.clone(), value.clone()],
        &[1, 1, 3, 1],
    );
    assert_eq!(found, Err("unexpected"));
    let widths = floats(&[1, 1, 1, 3], &[1.0, 2.0, 3.0]);
    let found = result("ScaledDotProductAttention-13", plain, &[widths, key, value], &[1, 1, 3, 1]);
    assert!(found.is_err(), "queries of another width: {found:?}");
}
