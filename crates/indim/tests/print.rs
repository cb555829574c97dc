//! Printed arrays equal NumPy's text, for a thousand arrays.
//!
//! The cases come from `data/make_print.py`.

mod common;

use std::fs;

use common::{bytes, data, dense, shape};
use indim::array::{ArrayData, Order};
use indim::array::{bf16, row_major_byte_strides};
use indim::compile;
use indim::print::array_text;
use indim::{Array, ArrayType, ArrayView, CompileOptions, DType, GraphBuilder, RunOptions};

/// An array and its text.
struct Case {
    head: String,
    array_type: ArrayType,
    elements: Vec<u8>,
    text: String,
}

fn cases() -> Vec<Case> {
    let corpus = fs::read_to_string(data("numpy_print.txt")).unwrap();
    let case = |case: &str| {
        let (head, text) = case.split_once('\n').unwrap();
        let [dtype, sizes, pattern] = head.split(' ').collect::<Vec<_>>()[..] else {
            panic!("not the head of a case: {head}");
        };
        let array_type = ArrayType::new(dtype.parse().unwrap(), shape(sizes)?);
        let length = array_type.shape.byte_count(array_type.dtype.size()).unwrap();
        let elements: Vec<u8> = bytes(pattern).into_iter().cycle().take(length).collect();
        // The corpus is little-endian.
        let elements = ArrayData::from_le_bytes(array_type.dtype, &elements).to_ne_bytes();
        let text = text.strip_suffix('\n').unwrap_or(text).to_owned();
        Some(Case { head: head.to_owned(), array_type, elements, text })
    };
    format!("\n{corpus}").split("\n# ").skip(1).filter_map(case).collect()
}

fn buffer(array_type: ArrayType, elements: &[u8]) -> Array {
    let strides = row_major_byte_strides(&array_type);
    dense(&ArrayView::from_bytes(array_type, strides, elements, 0).unwrap())
}

#[test]
fn arrays_are_printed_as_numpy_prints_them() {
    let cases = cases();
    let mut differences = Vec::new();
    for case in &cases {
        let text = array_text(&buffer(case.array_type.clone(), &case.elements));
        if text != case.text {
            differences.push(format!("{}\nexpected\n{}\nfound\n{text}\n", case.head, case.text));
        }
    }
    let shown = differences.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{} differ\n{shown}", differences.len());
    assert_eq!(cases.len(), 1595);
}

#[test]
fn bf16_is_printed_as_if_numpy_had_it() {
    let text = |numbers: &[f32]| {
        let elements: Vec<u8> =
            numbers.iter().flat_map(|x| bf16::from_f32(*x).to_bits().to_ne_bytes()).collect();
        array_text(&buffer(ArrayType::new(DType::Bf16, [numbers.len()]), &elements))
    };
    assert_eq!(text(&[0.5, 0.1, -100.0]), "[   0.5    0.1 -100. ]");
    assert_eq!(text(&[2000.0, f32::NAN]), "[2.e+03    nan]");
}

#[test]
fn ranks_that_numpy_does_not_have_are_described() {
    let array_type = ArrayType::new(DType::U8, [1; 65]);
    let text = array_text(&buffer(array_type, &[1]));
    assert!(text.starts_with("<u8[1, 1, "), "{text}");
    assert!(text.ends_with("has too many axes to print>"), "{text}");
}

#[test]
fn a_summary_of_many_axes_stays_small() {
    let mut sizes = vec![1; 64];
    sizes[..4].copy_from_slice(&[7, 7, 7, 7]);
    let array_type = ArrayType::new(DType::U8, sizes);
    assert_eq!(array_text(&buffer(array_type, &[5; 2401])).matches('5').count(), 6 * 6 * 6 * 6);
}

#[test]
fn a_result_in_another_order_prints_the_same() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3]).unwrap();
    let graph = b.finish(&[-x]).unwrap();
    let executable = compile(&graph, &CompileOptions::default()).unwrap();
    let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let inputs = [ArrayView::from_slice([2, 3], &x).unwrap()];
    let options = RunOptions::new().order(Order::F);
    let result = executable.run_with(&inputs, &options).unwrap();
    assert!(!result[0].is_row_major());
    assert_eq!(array_text(&result[0]), "[[-1. -2. -3.]\n [-4. -5. -6.]]");
}
