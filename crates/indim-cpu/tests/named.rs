//! Inputs by name, and runs that write over their inputs without unsafe code.

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{
    ArrayView, ArrayViewMut, CompileOptions, Executable, InPlace, RunError, compile,
    row_major_byte_strides,
};
use indim_ops::{ArrayType, DType};

/// A function of `x` and `y`, both `f64[2, 3]`.
fn executable(function: impl Fn(&Value, &Value) -> Vec<Value>) -> Executable {
    let b = GraphBuilder::new();
    let [x, y] = ["x", "y"].map(|name| b.parameter(name, DType::F64, [2, 3]).unwrap());
    compile(&b.finish(&function(&x, &y)).unwrap(), &CompileOptions::default()).unwrap()
}

fn view(elements: &[f64; 6]) -> ArrayView<'_> {
    ArrayView::from_slice([2, 3], elements).unwrap()
}

const X: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
const Y: [f64; 6] = [0.5; 6];

#[test]
fn inputs_are_bound_by_name_in_any_order() {
    let difference = executable(|x, y| vec![x - y]);
    let array_type = ArrayType::new(DType::F64, [2, 3]);
    let inputs: Vec<_> = difference.inputs().collect();
    assert_eq!(inputs, [("x", &array_type), ("y", &array_type)]);

    let results = difference.run_named(&[("y", view(&Y)), ("x", view(&X))]).unwrap();
    assert_eq!(results[0].elements::<f64>().unwrap(), X.map(|x| x - 0.5));

    let code = |named: &[(&str, ArrayView<'_>)]| difference.run_named(named).unwrap_err().code();
    assert_eq!(code(&[("x", view(&X))]), "missing-input");
    assert_eq!(code(&[("x", view(&X)), ("x", view(&X)), ("y", view(&Y))]), "duplicate-input");
    let unknown = difference.run_named(&[("x", view(&X)), ("z", view(&Y))]).unwrap_err();
    assert_eq!(unknown.to_string(), "no parameter is called \"z\"; the parameters are x, y");
    assert!(matches!(unknown, RunError::UnknownInput { .. }));
    assert_eq!(format!("{unknown:?}"), format!("error[unknown-input]: {unknown}"));
}

#[test]
fn outputs_are_written_over_inputs() {
    let mut x = X;
    let scaled = executable(|x, y| vec![x * y]);
    let over = InPlace::Overwrite(ArrayViewMut::from_slice([2, 3], &mut x).unwrap());
    scaled.run_in_place(vec![over, InPlace::Read(view(&Y))]).unwrap();
    assert_eq!(x, X.map(|x| x * 0.5));

    // Exchanged: each output reads the input that the other one overwrites.
    let exchanged = executable(|x, y| vec![y + 0, x + 0]);
    let (mut x, mut y) = (X, Y);
    let over = [&mut x, &mut y]
        .map(|memory| InPlace::Overwrite(ArrayViewMut::from_slice([2, 3], memory).unwrap()));
    exchanged.run_in_place(Vec::from(over)).unwrap();
    assert_eq!((x, y), (Y, X));

    // Column-major, and next to elements that do not belong to the array.
    let mut memory = [9.0f64; 8].map(f64::to_ne_bytes).concat();
    let array_type = ArrayType::new(DType::F64, [2, 3]);
    let column_major = ArrayViewMut::from_bytes(array_type, vec![8, 16], &mut memory, 8).unwrap();
    let sum = executable(|x, y| vec![x + y]);
    sum.run_in_place(vec![InPlace::Read(view(&X)), InPlace::Overwrite(column_major)]).unwrap();
    let elements: Vec<f64> =
        memory.chunks_exact(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap())).collect();
    assert_eq!(elements, [9.0, 10.0, 13.0, 11.0, 14.0, 12.0, 15.0, 9.0]);
}

#[test]
fn as_many_inputs_are_overwritten_as_there_are_outputs() {
    let sum = executable(|x, y| vec![x + y]);
    let error =
        sum.run_in_place(vec![InPlace::Read(view(&X)), InPlace::Read(view(&Y))]).unwrap_err();
    assert_eq!(error.code(), "output-count");
}

#[test]
fn a_slice_has_as_many_elements_as_the_array() {
    for length in [0, 5, 7] {
        let mut elements = vec![0f32; length];
        let error = ArrayView::from_slice([2, 3], &elements).unwrap_err();
        assert_eq!(error.code(), "element-count");
        let error = ArrayViewMut::from_slice([2, 3], &mut elements).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("an array of shape [2, 3] has 6 elements, the slice has {length}")
        );
    }
    let huge = ArrayView::from_slice([usize::MAX, 2], &[0f32]).unwrap_err();
    assert_eq!(huge.code(), "too-large");
}

#[test]
fn a_buffer_of_any_order_becomes_a_vector_in_row_major_order() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [2, 3]).unwrap();
    let doubled = compile(&b.finish(&[2 * x]).unwrap(), &CompileOptions::default()).unwrap();
    let options = indim_cpu::RunOptions::new().order(indim_cpu::Order::F);
    let result = doubled.run_with(&[view(&X)], &options).unwrap().remove(0);
    assert_ne!(result.byte_strides(), row_major_byte_strides(result.array_type()));
    let result = result.into_vec::<f32>().unwrap_err().into_array();
    assert_eq!(result.into_vec::<f64>().unwrap(), X.map(|x| 2.0 * x));
}
