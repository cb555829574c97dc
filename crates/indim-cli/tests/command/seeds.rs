//! Every example of the source documents that indim implements, run by the command, with the documents'
//! results.
//!
//! The documents: XLA's "Broadcasting semantics", and OpenVINO's "Broadcast rules for elementwise
//! operations".

use crate::run::{fails, fails_with, succeeds};

/// The result shape that `explain` prints for a bare rule.
#[track_caller]
fn result_shape(arguments: &str) -> String {
    let mut all = vec!["explain", "--json", "--rule"];
    all.extend(arguments.split(' '));
    let explained: serde_json::Value = serde_json::from_str(&succeeds(&all)).expect("valid JSON");
    explained["result"].to_string()
}

/// The code of the error that `explain` gives for a bare rule.
#[track_caller]
fn error_code(arguments: &str) -> String {
    let mut all = vec!["explain", "--rule"];
    all.extend(arguments.split(' '));
    let message = fails(&all);
    let code = message.strip_prefix("error[").and_then(|rest| rest.split_once(']'));
    code.expect("a code").0.to_owned()
}

const MATRIX: &str = "X=[[1,2,3],[4,5,6]]";
const VECTOR: &str = "v=[7,8,9]";

#[test]
fn xla_what_is_broadcasting() {
    let expected = "[[ 8 10 12]\n [11 13 15]]\n";
    assert_eq!(succeeds(&["eval", "add(X, v, dims=[1])", MATRIX, VECTOR]), expected);
    assert_eq!(
        succeeds(&["eval", "--rule", "xla", "add(X, v, dims=[1])", MATRIX, VECTOR]),
        expected
    );
    // XLA's page names this case as NumPy's broadcasting.
    assert_eq!(succeeds(&["eval", "--rule", "numpy", "X + v", MATRIX, VECTOR]), expected);
}

#[test]
fn xla_scalars_broadcast_without_a_list() {
    let expected = "[[ 8  9 10]\n [11 12 13]]\n";
    assert_eq!(succeeds(&["eval", "--rule", "xla", "X + s", MATRIX, "s=7"]), expected);
    assert_eq!(succeeds(&["eval", "--rule", "xla", "X + 7", MATRIX]), expected);
}

#[test]
fn xla_a_vector_without_a_list_is_invalid() {
    fails_with("rank-mismatch-without-dims", &["eval", "--rule", "xla", "X + v", MATRIX, VECTOR]);
}

#[test]
fn xla_a_vector_lands_on_either_axis_of_a_square_matrix() {
    let zeros = "X=[[0,0,0],[0,0,0],[0,0,0]]";
    assert_eq!(
        succeeds(&["eval", "add(X, v, dims=[1])", zeros, VECTOR]),
        "[[7 8 9]\n [7 8 9]\n [7 8 9]]\n"
    );
    assert_eq!(
        succeeds(&["eval", "add(X, v, dims=[0])", zeros, VECTOR]),
        "[[7 7 7]\n [8 8 8]\n [9 9 9]]\n"
    );
}

#[test]
fn xla_a_vector_of_3_does_not_land_on_an_axis_of_2() {
    fails_with("dim-size-mismatch", &["eval", "add(X, v, dims=[0])", MATRIX, VECTOR]);
}

#[test]
fn xla_a_matrix_lands_in_a_cuboid() {
    assert_eq!(result_shape("xla --dims 1,2 2x3x4 3x4"), "[2,3,4]");
}

#[test]
fn xla_formal_definition() {
    for axis in 0..4 {
        let size = [2, 3, 4, 5][axis];
        assert_eq!(result_shape(&format!("xla --dims {axis} 2x3x4x5 [{size}]")), "[2,3,4,5]");
    }
    for (dims, shape) in [("2,3", "4x5"), ("1,2", "3x4"), ("0,3", "2x5")] {
        assert_eq!(result_shape(&format!("xla --dims {dims} 2x3x4x5 {shape}")), "[2,3,4,5]");
    }
    // First axes T and V map to P and N, out of order; then both map to N.
    assert_eq!(error_code("xla --dims 2,1 2x3x4x5 4x3"), "dims-not-strictly-increasing");
    assert_eq!(error_code("xla --dims 1,1 2x3x4x5 3x3"), "dims-not-strictly-increasing");
}

#[test]
fn xla_degenerate_dimensions() {
    for (left, right, result) in [
        ("2x1", "2x3", "[2,3]"),
        ("1x2x5", "7x2x5", "[7,2,5]"),
        ("7x2x5", "7x1x5", "[7,2,5]"),
        ("2x1", "1x3", "[2,3]"),
    ] {
        assert_eq!(result_shape(&format!("xla {left} {right}")), result);
    }
    assert_eq!(error_code("xla 7x2x5 7x2x6"), "degenerate-incompatible");
}

#[test]
fn xla_outer_operation() {
    assert_eq!(
        succeeds(&["eval", "--rule", "xla", "x * y", "x=[[2],[3]]", "y=[[1,10,100]]"]),
        "[[  2  20 200]\n [  3  30 300]]\n"
    );
}

#[test]
fn xla_composition() {
    assert_eq!(
        succeeds(&["eval", "add(v, m, dims=[0])", "v=[1,2,3,4]", "m=[[5,6]]"]),
        "[[ 6  7]\n [ 7  8]\n [ 8  9]\n [ 9 10]]\n"
    );
    assert_eq!(result_shape("xla --dims 1,2 1x2 4x3x1"), "[4,3,2]");
}

#[test]
fn openvino_none() {
    assert_eq!(result_shape("none 2x3 2x3"), "[2,3]");
    assert_eq!(error_code("none 2x3 [3]"), "shapes-differ");
}

#[test]
fn openvino_numpy() {
    for (left, right, result) in [
        ("[]", "[]", "[]"),
        ("[2,3]", "[1]", "[2,3]"),
        ("[3]", "[2,3]", "[2,3]"),
        ("[2,3,5]", "[]", "[2,3,5]"),
        ("[2,1,5]", "[1,4,5]", "[2,4,5]"),
        ("[6,5]", "[2,1,5]", "[2,6,5]"),
        ("[2,1,5]", "[4,1]", "[2,4,5]"),
        ("[3,2,1,4]", "[5,4]", "[3,2,5,4]"),
        ("[1,5,3]", "[5,2,1,3]", "[5,2,5,3]"),
    ] {
        assert_eq!(result_shape(&format!("numpy {left} {right}")), result);
    }
    assert_eq!(error_code("numpy [3] [2]"), "size-mismatch");
    assert_eq!(error_code("numpy [3,1,5] [4,4,5]"), "size-mismatch");
}

#[test]
fn openvino_pdpd() {
    for (attributes, operand) in [
        ("--axis 1", "[3,4]"),
        ("--axis 1", "[3,1]"),
        ("--axis -1", "[4,5]"),
        ("--axis 2", "[4,5]"),
        ("--axis 0", "[1,3]"),
        ("--axis -1", "[]"),
        ("--axis -1", "[5]"),
        ("--axis 3", "[5]"),
    ] {
        assert_eq!(result_shape(&format!("pdpd {attributes} [2,3,4,5] {operand}")), "[2,3,4,5]");
    }
    // -1 is the default.
    assert_eq!(result_shape("pdpd [2,3,4,5] [4,5]"), "[2,3,4,5]");
    assert_eq!(error_code("pdpd --axis 1 [8,1,6,1] [7,1,5]"), "size-mismatch");
}

#[test]
fn openvino_bidirectional() {
    for (data, target, result) in [
        ("[5]", "[1]", "[5]"),
        ("[2,3]", "[3]", "[2,3]"),
        ("[3,1]", "[3,4]", "[3,4]"),
        ("[3,4]", "[]", "[3,4]"),
        ("[3,1]", "[2,1,6]", "[2,3,6]"),
    ] {
        assert_eq!(result_shape(&format!("bidirectional --target {target} {data}")), result);
    }
}

#[test]
fn the_same_sums_under_every_rule() {
    let expected = "[[ 8 10 12]\n [11 13 15]]\n";
    for (rule, expression) in
        [("pdpd", "X + v"), ("pdpd", "add(X, v, axis=1)"), ("numpy", "add(X, v)")]
    {
        assert_eq!(succeeds(&["eval", "--rule", rule, expression, MATRIX, VECTOR]), expected);
    }
}
