//! indim with other crates: the examples, `eval!`, and `ndarray` arrays in every layout.

use indim::array::{Order, as_elements, from_elements};
use indim::{
    Array, ArrayView, ArrayViewMut, CompileOptions, DType, Executable, GraphBuilder, RunOptions,
    compile, eval, evaluate, inputs,
};
use ndarray::{Array2, ArrayD, ArrayView2, Axis, IxDyn, Slice, arr2, array};
use num_complex::Complex;

/// Each example checks its results itself.
macro_rules! examples {
    ($($name:ident $path:literal)*) => {$(
        #[path = $path]
        mod $name;

        #[test]
        fn $name() {
            $name::main().unwrap();
        }
    )*};
}

examples! {
    standardise "../examples/standardise.rs"
    pictures "../examples/pictures.rs"
    black_scholes "../examples/black_scholes.rs"
    masked_select "../examples/masked_select.rs"
    demodulation "../examples/demodulation.rs"
    batches "../examples/batches.rs"
}

#[test]
fn executables_are_shared_by_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Executable>();
}

#[test]
fn a_macro_takes_what_users_have() {
    let (x, k) = (vec![1.0f32, 2.0], 2);
    let slice = &x[..];
    let array = Array::new([2], x.clone()).unwrap();
    for result in [
        eval!("x * k", x, k),
        eval!("x * k", x = slice, k = k),
        eval!("x * k", x = &array, k = &k),
        eval!("x * k", x = [&x[..], &[]].concat(), k = 1 + 1),
        eval!("x * k", x = array.clone(), k = 2.0),
    ] {
        assert_eq!(result.unwrap().elements::<f32>().unwrap(), [2.0, 4.0]);
    }
    let r#type = [1i64, 2];
    assert_eq!(eval!("type + 1", r#type).unwrap().elements::<i64>().unwrap(), [2, 3]);
    assert_eq!(eval!("pi").unwrap().clone().dtype(), DType::F64);
    let both = eval!("a = x + 1; a, a * 2", x).unwrap();
    assert_eq!(both[1].elements::<f32>().unwrap(), [4.0, 6.0]);
    let error = eval!("x + y", x, y = [1.0f32, 2.0, 3.0]).unwrap_err();
    assert_eq!((error.code(), error.location.file()), ("size-mismatch", file!()));
}

/// A generator of small numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

/// An array whose axes are permuted, sliced with steps of either sign, and repeated.
fn any_layout(numbers: &mut Numbers, sizes: &mut Vec<usize>) -> ArrayD<f32> {
    let rank = numbers.below(4);
    *sizes = (0..rank).map(|_| numbers.below(4) + usize::from(numbers.below(8) > 0)).collect();
    let mut count = 0.0;
    ArrayD::from_shape_simple_fn(IxDyn(sizes), || {
        count += 1.0;
        count
    })
}

#[test]
fn arrays_of_ndarray_are_read_and_written_in_every_layout() {
    let mut numbers = Numbers(1);
    for _ in 0..2000 {
        let mut sizes = Vec::new();
        let mut owned = any_layout(&mut numbers, &mut sizes);
        let mut view = owned.view_mut();
        for axis in 0..sizes.len() {
            let steps = [1, -1, 2, -2, 3];
            let slice = Slice::new(0, None, steps[numbers.below(steps.len())]);
            view.slice_axis_inplace(Axis(axis), slice);
            view.swap_axes(axis, numbers.below(sizes.len()));
        }
        let expected = view.mapv(|x| 2.0 * x + 1.0);

        let result = evaluate("2 * x + 1", [("x", &view)]).unwrap();
        assert_eq!(result.ndarray::<f32, IxDyn>().unwrap(), expected);
        assert_eq!(result.to_ndarray::<f32, IxDyn>().unwrap(), expected);
        assert!(result.ndarray::<f64, IxDyn>().is_err());

        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, view.shape()).unwrap();
        let graph = b.finish(&[2 * x + 1]).unwrap();
        let executable = compile(&graph, &CompileOptions::default()).unwrap();
        let given = view.to_owned();
        executable.run_into(&[(&given).into()], &mut [ArrayViewMut::from(&mut view)]).unwrap();
        assert_eq!(view, expected);
    }
}

#[test]
fn a_repeated_array_is_read_where_it_lies() {
    let row = arr2(&[[1.0f64, 2.0, 3.0]]);
    let repeated = row.broadcast((1000, 3)).unwrap();
    let view = ArrayView::from(&repeated);
    assert_eq!(view.byte_strides(), [0, 8]);
    let sum = evaluate("sum(x, axis=0)", [("x", &repeated)]).unwrap();
    assert_eq!(sum.elements::<f64>().unwrap(), [1000.0, 2000.0, 3000.0]);
}

#[test]
fn results_become_arrays_of_ndarray_of_known_dimensions() {
    let (x, v) = (arr2(&[[1.0f32, 2.0], [3.0, 4.0]]), array![10.0f32, 20.0]);
    let result = evaluate("x + v", inputs![x, v]).unwrap();
    let view: ArrayView2<'_, f32> = (&result).try_into().unwrap();
    assert_eq!(view, arr2(&[[11.0, 22.0], [13.0, 24.0]]));
    // After an error the buffer is unchanged.
    let refused = ndarray::Array1::<f32>::try_from(result).unwrap_err();
    assert_eq!((refused.code(), refused.reason().code()), ("axis-count", "axis-count"));
    let refused = Array2::<f64>::try_from(refused.into_array()).unwrap_err();
    assert_eq!(refused.code(), "element-type");
    let result: Array2<f32> = refused.into_array().try_into().unwrap();
    assert_eq!(result, arr2(&[[11.0, 22.0], [13.0, 24.0]]));
    let any: ArrayD<f32> = evaluate("sum(x)", [("x", &x)]).unwrap().try_into().unwrap();
    assert_eq!(any.into_dimensionality::<ndarray::Ix0>().unwrap().into_scalar(), 10.0);
}

#[test]
fn columns_of_a_slice_are_read_and_written_where_they_lie() {
    let interleaved = [1.0f32, 10.0, 2.0, 20.0, 3.0, 30.0];
    let channel = |first| ArrayView::from_strided([3], &[2], &interleaved, first).unwrap();
    let sum = evaluate("left + right", [("left", channel(0)), ("right", channel(1))]).unwrap();
    assert_eq!(sum.elements::<f32>().unwrap(), [11.0, 22.0, 33.0]);
    let backwards = ArrayView::from_strided([3, 2], &[-2, -1], &interleaved, 5).unwrap();
    let reversed = evaluate("+x", [("x", backwards)]).unwrap();
    assert_eq!(reversed.into_vec::<f32>().unwrap(), [30.0, 3.0, 20.0, 2.0, 10.0, 1.0]);

    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3]).unwrap();
    let doubled = compile(&b.finish(&[2 * x]).unwrap(), &CompileOptions::default()).unwrap();
    let mut target = [0.0f32; 6];
    let into = ArrayViewMut::from_strided([3], &[-2], &mut target, 4).unwrap();
    doubled.run_into(&[channel(0)], &mut [into]).unwrap();
    assert_eq!(target, [6.0, 0.0, 4.0, 0.0, 2.0, 0.0]);

    let (large, elements) = (isize::MAX, &[0.0f64; 4][..]);
    for (shape, strides, offset) in [
        ([2, 2], &[2, 2][..], 0),
        ([2, 2], &[2, 1], 1),
        ([2, 2], &[-1, 1], 0),
        ([2, 2], &[large, 1], 0),
        ([2, 2], &[-large, large], 2),
        ([2, 2], &[0, 0], usize::MAX),
        ([2, 2], &[0, 0], 4),
    ] {
        let error = ArrayView::from_strided(shape, strides, elements, offset).unwrap_err();
        assert_eq!(error.code(), "out-of-bounds", "{shape:?} {strides:?} {offset}");
    }
    let error = ArrayView::from_strided([2, 2], &[1], elements, 0).unwrap_err();
    assert_eq!(error.code(), "stride-count");
    assert!(ArrayView::from_strided([2, 0], &[large, large], elements, usize::MAX).is_ok());
}

#[test]
fn buffers_are_copied_printed_and_read_as_numbers() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 2]).unwrap();
    let negative = compile(&b.finish(&[-x]).unwrap(), &CompileOptions::default()).unwrap();
    let x = arr2(&[[1.0f32, 2.0], [3.0, 4.5]]);
    let options = RunOptions::new().order(Order::F);
    let result = negative.run_with(&[(&x).into()], &options).unwrap().remove(0);
    let copy = result.clone();
    assert_eq!((copy.strides(), copy.bytes()), (result.strides(), result.bytes()));
    drop(result);
    assert_eq!(copy.to_string(), "[[-1.  -2. ]\n [-3.  -4.5]]");
    assert_eq!(Vec::<f32>::try_from(copy).unwrap(), [-1.0, -2.0, -3.0, -4.5]);

    let total = evaluate("sum(x, keepdims=True)", [("x", &x)]).unwrap();
    assert_eq!(total.scalar::<f32>().unwrap(), 10.5);
    assert_eq!(total.scalar::<i32>().unwrap_err().code(), "element-type");
    let row = evaluate("sum(x, axis=0)", [("x", &x)]).unwrap();
    assert_eq!(row.scalar::<f32>().unwrap_err().code(), "not-scalar");
}

/// Errors that `?` passes to a `main` with a boxed error.
#[test]
fn errors_are_drawn_whichever_way_they_are_shown() {
    fn fails() -> Result<(), Box<dyn std::error::Error>> {
        let x = [1.0f32, 2.0];
        evaluate("x + y", inputs![x, y = [1.0f32, 2.0, 3.0]])?;
        Ok(())
    }
    let error = fails().unwrap_err();
    let (shown, debugged) = (error.to_string(), format!("{error:?}"));
    assert!(shown.contains("\n   | x + y\n") && shown.contains(file!()), "{shown}");
    assert_eq!(shown, debugged);

    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2]).unwrap();
    let y = b.parameter("y", DType::F32, [3]).unwrap();
    let error = b.add(&x, &y, &[]).unwrap_err();
    assert!(error.to_string().contains("\n   x : f32[2]"), "{error}");
    assert!(error.to_string().contains(file!()), "{error}");
    assert_eq!(error.headline().lines().count(), 1);
    let boxed: Box<dyn std::error::Error> =
        evaluate("1.0", inputs![]).unwrap().into_vec::<i8>().unwrap_err().into();
    assert!(boxed.to_string().starts_with("the elements are of f64, not of i8"), "{boxed}");
}

#[test]
fn half_floats_come_and_go_as_they_are() {
    let weights = arr2(&[[half::f16::from_f32(0.5), half::f16::from_f32(1.5)]]);
    let doubled = evaluate("w * 2", [("w", &weights)]).unwrap();
    assert_eq!(doubled.array_type().to_string(), "f16[1, 2]");
    let theirs: Vec<half::f16> = doubled.ndarray::<_, IxDyn>().unwrap().iter().copied().collect();
    assert_eq!(theirs, [half::f16::from_f32(1.0), half::f16::from_f32(3.0)]);
    let elements = as_elements(&theirs);
    assert_eq!(from_elements::<half::f16>(elements), theirs);
}

#[test]
fn slices_and_vectors_of_other_crates_are_inputs_and_outputs() {
    let weights = vec![half::bf16::from_f32(0.5); 3];
    let doubled = evaluate("w * 2", [("w", &weights)]).unwrap();
    assert_eq!(doubled.elements::<half::bf16>(), Ok(&[half::bf16::ONE; 3][..]));
    assert_eq!(doubled.elements::<half::f16>().ok(), None);
    assert_eq!(doubled.into_vec::<half::bf16>().unwrap(), [half::bf16::ONE; 3]);
    let signal = [Complex::new(3.0f32, 4.0); 2];
    let length = indim::eval!("abs(signal)", signal).unwrap();
    assert_eq!(length.elements::<f32>(), Ok(&[5.0, 5.0][..]));
    let mut turned = [Complex::new(0.0f32, 0.0); 2];
    let options = indim::CompileOptions::default();
    let b = indim::GraphBuilder::new();
    let x = b.parameter("x", indim::DType::C64, [2]).unwrap();
    let turn = indim::compile(&b.finish(&[x.conj()]).unwrap(), &options).unwrap();
    let into = indim::ArrayViewMut::from_slice([2], &mut turned).unwrap();
    turn.run_into(&[ArrayView::from(&signal)], &mut [into]).unwrap();
    assert_eq!(turned, [Complex::new(3.0, -4.0); 2]);
}
