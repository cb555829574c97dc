//! Operands whose shapes do not fit their operator, of operators with and without a lowering.

use crate::lint::{found, lint, output};
use crate::support::onnx::{FLOAT, Message, Model, int, ints, list, node, run_node, text, value};

/// A node of opset 22 whose operands have these shapes; `=1, 2` is a constant list, an empty text a missing
/// operand.
fn model_of(operator: &str, operands: &[&str], attributes: &[Message]) -> Vec<u8> {
    let (mut inputs, mut initializers, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for (name, text) in ["a", "b", "c", "d", "e", "f", "g", "h"].into_iter().zip(operands) {
        let numbers = |text: &str| -> Vec<i64> {
            text.split(", ").map(|number| number.parse().expect("a number")).collect()
        };
        match text.strip_prefix('=') {
            Some(elements) => initializers.push(list(name, &numbers(elements))),
            None if text.is_empty() => {}
            None => {
                let sizes: Vec<&str> = text.split(", ").filter(|size| *size != "[]").collect();
                inputs.push(value(name, FLOAT, Some(&sizes)));
            }
        }
        names.push(if text.is_empty() { "" } else { name });
    }
    let nodes = vec![node(operator, &names, &["y"], attributes)];
    let outputs = vec![Message::default().bytes(1, "y")];
    Model { opset: 22, inputs, initializers, nodes, outputs, ..Model::default() }.encoded()
}

/// Checks that a node is illegal, and that the message contains `expected`.
#[track_caller]
fn illegal(operator: &str, operands: &[&str], attributes: &[Message], expected: &str) {
    let report = lint("operands.onnx", model_of(operator, operands, attributes));
    let verdicts: Vec<&str> = found(&report).iter().map(|(_, verdict, _)| *verdict).collect();
    assert_eq!(verdicts.first(), Some(&"illegal"), "{operator} {operands:?}: {report}");
    let message = &report.findings()[0].message;
    assert!(message.contains(expected), "{operator} {operands:?}: {message}");
    assert!(!report.passes(false));
}

/// Checks the type of the first result.
#[track_caller]
fn typed(operator: &str, operands: &[&str], attributes: &[Message], expected: &str) {
    let report = lint("operands.onnx", model_of(operator, operands, attributes));
    assert_eq!(output(&report), format!("y: {expected}"), "{operator} {operands:?}: {report}");
}

#[test]
fn the_inverse_of_half_a_spectrum_is_twice_as_long() {
    let inverse = [int("onesided", 1), int("inverse", 1)];
    // With the name of a size no lowering runs.
    for batch in ["2", "N"] {
        let x = &format!("{batch}, 3, 2")[..];
        typed("DFT", &[x], &inverse, &format!("f32[{batch}, 4, 1]"));
        typed("DFT", &[x, "=5"], &inverse, &format!("f32[{batch}, 5, 1]"));
    }
}

#[test]
fn operands_of_recurrent_layers_agree() {
    let [x, w, r] = ["5, 3, 4", "1, 32, 4", "1, 32, 8"];
    let hidden = || vec![int("hidden_size", 8)];
    typed("LSTM", &[x, w, r, "1, 64", "3", "1, 3, 8"], &hidden(), "f32[5, 1, 3, 8]");
    let lstm = |operands: &[&str], expected| illegal("LSTM", operands, &hidden(), expected);
    lstm(&[x, "1, 24, 4", r], "axis 1 of `b`, the weights, is 24, not 32");
    lstm(&[x, "2, 32, 4", r], "axis 0 of `b`, the weights, is 2, not 1");
    lstm(&[x, w, "1, 32, 7"], "axis 2 of `c`, the recurrent weights, is 7, not 8");
    lstm(&[x, w, r, "1, 32"], "axis 1 of `d`, the biases, is 32, not 64");
    lstm(&[x, w, r, "", "4"], "axis 0 of `e`, the lengths of the sequences, is 4, not 3");
    lstm(&[x, w, r, "", "", "1, 4, 8"], "axis 1 of `f`, the first hidden state, is 4, not 3");
    lstm(&[x, w, r, "", "", "", "3, 8"], "`g`, the first cell state, has rank 2, not 3");
    lstm(
        &[x, w, r, "", "", "", "", "1, 32"],
        "axis 1 of `h`, the weights of peepholes, is 32, not 24",
    );
    // The same with names of sizes, for which no lowering runs.
    let named = &["T", "N", "4"].join(", ")[..];
    lstm(&[named, w, r, "1, 32"], "axis 1 of `d`, the biases, is 32, not 64");
    illegal("GRU", &[x, "1, 25, 4", "1, 24, 8"], &hidden(), "is 25, not 24");
    illegal(
        "RNN",
        &[x, "1, 8, 5", "1, 8, 8"],
        &hidden(),
        "axis 2 of `b`, the weights, is 5, not 4",
    );
    let both = [int("hidden_size", 8), text("direction", "bidirectional")];
    illegal("RNN", &[x, "1, 8, 4", "1, 8, 8"], &both, "axis 0 of `b`, the weights, is 1, not 2");
}

#[test]
fn operands_of_operators_without_a_lowering_agree() {
    let scores = "2, 5, 9";
    typed("NonMaxSuppression", &["2, 9, 4", scores], &[], "i64[y[0], 3]");
    illegal(
        "NonMaxSuppression",
        &["2, 9, 5", scores],
        &[],
        "axis 2 of `a`, the boxes, is 5, not 4",
    );
    illegal(
        "NonMaxSuppression",
        &["2, 8, 4", scores],
        &[],
        "axis 2 of `b`, the scores, is 9, not 8",
    );
    illegal("NonMaxSuppression", &["B, 8, 4", "2, 9"], &[], "the scores, has rank 2, not 3");
    illegal(
        "RoiAlign",
        &["1, 3, 8, 8", "5, 4", "4"],
        &[],
        "axis 0 of `c`, the images of the regions",
    );
    illegal("Det", &["2, 3, 4"], &[], "3 and 4 differ");
    illegal("GridSample", &["1, 3, 8, 8", "1, 4, 4, 3"], &[], "2 and 3 differ");
    illegal("Resize", &["1, 3, 8", "", "", "=4, 4"], &[], "axis 0 of `d`, the sizes, is 2, not 3");
    illegal("CenterCropPad", &["4, 4", "=3"], &[], "axis 0 of `b`, the sizes, is 1, not 2");
    illegal("Col2Im", &["1, 12, 9", "=4, 5", "=2, 2"], &[], "9 and 12 differ");
    illegal(
        "NegativeLogLikelihoodLoss",
        &["3, 5", "4"],
        &[],
        "axis 0 of `b`, the classes, is 4, not 3",
    );
    illegal(
        "MaxUnpool",
        &["1, 1, 4", "1, 1, 3"],
        &[ints("kernel_shape", &[2])],
        "the indices, is 3, not 4",
    );
    let deformed = ["1, 2, 5, 5", "4, 2, 3, 3", "1, 12, 3, 3"];
    illegal("DeformConv", &deformed, &[], "axis 1 of `c`, the offsets, is 12, not 18");
}

/// The reference implementations compute these nodes; ONNX's inference and ONNX Runtime refuse them.
#[test]
fn ellipses_have_one_rank_and_one_hot_indices_an_axis() {
    let equation = [text("equation", "...ij,...jk->...ik")];
    let problem = "`...` stands for 0 axes, then for 2";
    illegal("Einsum", &["2, 3", "4, 5, 3, 2"], &equation, problem);
    illegal("Einsum", &["2, N", "4, 5, N, 2"], &equation, problem);
    typed("Einsum", &["1, 5, 2, 3", "4, 5, 3, 2"], &equation, "f32[4, 5, 2, 2]");
    illegal("OneHot", &["[]", "=3", "2"], &[], "operand 0 has rank 0, not 1 or more");
    typed("OneHot", &["4", "=3", "2"], &[], "f32[4, 3]");
}

#[test]
fn parameters_of_channels_have_one_element_for_each_channel() {
    let conv = ["1, 3, 8, 8", "16, 3, 3, 3", "1"];
    illegal("Conv", &conv, &[], "axis 0 of `c`, the bias, is 1, not 16");
    illegal("ConvTranspose", &["1, 3, 8", "3, 4, 2", "3"], &[], "the bias, is 3, not 4");
    let normalized = ["2, 6, 4", "6", "1"];
    illegal("InstanceNormalization", &normalized, &[], "axis 0 of `c`, the bias, is 1, not 6");
    let batch = ["2, 6, 4", "6", "6", "1", "6"];
    illegal("BatchNormalization", &batch, &[], "axis 0 of `d`, the mean, is 1, not 6");
    typed("BatchNormalization", &["6", "1", "1", "1", "1"], &[], "f32[6]");
}

#[test]
fn sizes_that_the_operators_define() {
    // A scalar has no axis and so no row of indices.
    typed("NonZero", &["[]"], &[], "i64[0, y[1]]");
    let policy = [text("keep_aspect_ratio_policy", "not_larger")];
    typed("Resize", &["4, 8", "", "", "=6, 16"], &policy, "f32[6, 12]");
    typed("Einsum", &["1, 6", "N, 6"], &[text("equation", "bi,bi->b")], "f32[N]");
    typed("Reshape", &["N, M", "=6, -1"], &[], "f32[6, floor((M*N)/6)]");
    typed("Hardmax", &["2, 0"], &[], "f32[2, 0]");
    // Slices whose bounds lie outside each size, and those that are empty.
    let whole = i64::from(i32::MIN).to_string();
    typed("Slice", &["N", &format!("={whole}"), "=3"], &[], "f32[min(N, 3)]");
    typed("Slice", &["N", "=-1", "=-3"], &[], "f32[0]");
    typed("Slice", &["N", "=-1", "=0"], &[], "f32[0]");
    typed("Slice", &["N", "=-2", "=3"], &[], "f32[y[0]]");
    typed("Slice", &["N", "=2147483647", "=3"], &[], "f32[0]");
}

#[test]
fn pads_without_axes_are_those_of_all_axes() {
    illegal("Pad", &["3, 1, 3", "=1, 0, 1, 3"], &[], "4 pads for 3 axes");
    let x = indim_graph::Array::new([3, 1, 3], vec![0f32; 9]).unwrap();
    let pads = indim_graph::Array::new([4], vec![1i64, 0, 1, 3]).unwrap();
    assert_eq!(run_node(20, "Pad", &[x, pads], &[]).map(|_| ()), Err("attribute"));
}

/// A rank that does not depend on elements is known without them.
#[test]
fn ranks_are_known_without_the_elements_of_shapes() {
    typed("AffineGrid", &["N, 2, 3", "4"], &[], "f32[N, y[1], y[2], 2]");
    typed("Col2Im", &["N, 10, 12", "3", "3"], &[], "f32[N, y[1], y[2], y[3], y[4]]");
    typed("DFT", &["2, N, 1", "", "[]"], &[], "f32[y[0], y[1], y[2]]");
}
