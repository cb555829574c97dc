//! Fourier transforms are those of the definition, for all lengths, axes and normalisations.

use core::f64::consts::TAU;

use indim_builder::{FourierOptions, GraphBuilder};
use indim_graph::{Array, evaluate};
use indim_ops::fourier::function::{FourierNorm, FourierTransform};
use indim_ops::{DType, c64, c128};

use FourierTransform::{Fft, Hfft, Ifft, Ihfft, Irfft, Rfft};

/// Random numbers between -1 and 1, the same each time.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn complex(count: usize, seed: u64) -> Vec<c128> {
    let parts = numbers(2 * count, seed);
    parts.chunks(2).map(|parts| c128::new(parts[0], parts[1])).collect()
}

/// The transform of a row by its definition; the angle is reduced exactly.
fn definition(x: &[c128], inverse: bool) -> Vec<c128> {
    let length = x.len();
    let result = |k: usize| {
        let mut sum = (0.0, 0.0);
        for (j, x) in x.iter().enumerate() {
            let angle = TAU * (j * k % length) as f64 / length as f64;
            let (sin, cos) = if inverse { angle } else { -angle }.sin_cos();
            sum.0 += x.re * cos - x.im * sin;
            sum.1 += x.re * sin + x.im * cos;
        }
        c128::new(sum.0, sum.1)
    };
    (0..length).map(result).collect()
}

/// The result of a transform of an array.
fn transformed(x: Array, transform: FourierTransform, options: &FourierOptions) -> Array {
    let b = GraphBuilder::new();
    let array_type = x.array_type().clone();
    let parameter = b.parameter("x", array_type.dtype, array_type.shape).unwrap();
    let graph = b.finish(&[b.fourier(&parameter, transform, options).unwrap()]).unwrap();
    evaluate(&graph, &[x]).unwrap().remove(0)
}

fn row(x: &[c128], transform: FourierTransform) -> Array {
    transformed(Array::new([x.len()], x.to_vec()).unwrap(), transform, &FourierOptions::default())
}

#[track_caller]
fn assert_close(result: &[c128], expected: &[c128], bound: f64) {
    assert_eq!(result.len(), expected.len());
    for (index, (x, y)) in result.iter().zip(expected).enumerate() {
        let error = (x.re - y.re).abs().max((x.im - y.im).abs());
        assert!(error <= bound, "element {index} of {}: {x:?} and not {y:?}", result.len());
    }
}

/// All small lengths, with primes up to the convolution, and some longer ones.
fn lengths() -> impl Iterator<Item = usize> {
    (1..=70).chain([97, 101, 127, 128, 210, 256, 360, 499, 512, 1000, 1024, 1200])
}

#[test]
fn complex_transforms_are_those_of_the_definition() {
    for length in lengths() {
        let x = complex(length, length as u64);
        let bound = 4e-15 * length as f64;
        assert_close(row(&x, Fft).elements().unwrap(), &definition(&x, false), bound);
        let mut inverse = definition(&x, true);
        inverse.iter_mut().for_each(|x| *x = c128::new(x.re / length as f64, x.im / length as f64));
        assert_close(row(&x, Ifft).elements().unwrap(), &inverse, 4e-15);
    }
}

#[test]
fn transforms_of_real_numbers_are_halves_of_the_complex_ones() {
    for length in lengths() {
        let x = numbers(length, length as u64);
        let wide: Vec<c128> = x.iter().map(|&x| c128::new(x, 0.0)).collect();
        let expected = definition(&wide, false);
        let bound = 4e-15 * length as f64;
        let real = Array::new([length], x.clone()).unwrap();
        let options = FourierOptions::default();
        let full = transformed(real.clone(), Fft, &options);
        assert_close(full.elements().unwrap(), &expected, bound);
        let half = transformed(real.clone(), Rfft, &options);
        assert_close(half.elements().unwrap(), &expected[..length / 2 + 1], bound);
        let inverse = transformed(real.clone(), Ihfft, &options);
        let conjugates: Vec<c128> = expected[..length / 2 + 1]
            .iter()
            .map(|x| c128::new(x.re / length as f64, -x.im / length as f64))
            .collect();
        assert_close(inverse.elements().unwrap(), &conjugates, 4e-15);
        // Back to the real numbers.
        let sized = FourierOptions { sizes: Some(vec![length]), ..options };
        for (half, transform) in [(half, Irfft), (inverse, Hfft)] {
            let back = transformed(half, transform, &sized);
            let back = back.elements::<f64>().unwrap();
            assert!(back.iter().zip(&x).all(|(x, y)| (x - y).abs() <= 4e-15), "{length}");
        }
    }
}

#[test]
fn a_real_result_ignores_imaginary_parts_that_symmetry_makes_zero() {
    let half = vec![c128::new(1.0, 5.0), c128::new(2.0, 1.0), c128::new(3.0, -7.0)];
    let result = row(&half, Irfft);
    assert_eq!(result.elements::<f64>().unwrap(), [2.0, -1.0, 0.0, 0.0]);
    // Real operands are complex ones without imaginary parts.
    let options = FourierOptions::default();
    let real = transformed(Array::new([3], vec![1.0, 2.0, 3.0]).unwrap(), Irfft, &options);
    assert_eq!(real.elements::<f64>().unwrap(), [2.0, -0.5, 0.0, -0.5]);
}

#[test]
fn several_axes_are_transformed_one_after_another() {
    let [a, b, c] = [6, 5, 4];
    let x = complex(a * b * c, 7);
    let mut expected = x.clone();
    // Along the last axis, then along the first.
    for row in expected.chunks_mut(c) {
        let transformed = definition(row, false);
        row.copy_from_slice(&transformed);
    }
    for column in 0..b * c {
        let values: Vec<c128> = (0..a).map(|row| expected[row * b * c + column]).collect();
        for (row, value) in definition(&values, false).into_iter().enumerate() {
            expected[row * b * c + column] = value;
        }
    }
    let array = Array::new([a, b, c], x).unwrap();
    let axes = FourierOptions { axes: vec![0, -1], ..FourierOptions::default() };
    let result = transformed(array, Fft, &axes);
    assert_close(result.elements().unwrap(), &expected, 1e-12);
    let back = FourierOptions { norm: FourierNorm::Backward, ..axes };
    let array = Array::new([a, b, c], numbers(a * b * c, 3)).unwrap();
    let half = transformed(array.clone(), Rfft, &back);
    assert_eq!(half.array_type().to_string(), "c128[6, 5, 3]");
    let result = transformed(half, Irfft, &back);
    let pairs = result.elements::<f64>().unwrap().iter().zip(array.elements::<f64>().unwrap());
    assert!(pairs.into_iter().all(|(x, y)| (x - y).abs() < 1e-15));
}

#[test]
fn operands_are_cropped_padded_and_scaled() {
    let x = complex(6, 1);
    let array = Array::new([6], x.clone()).unwrap();
    for (length, norm, factor) in [
        (4, FourierNorm::Backward, 1.0),
        (9, FourierNorm::Ortho, 1.0 / 3.0),
        (8, FourierNorm::Forward, 0.125),
    ] {
        let mut expected = x.clone();
        expected.resize(length, c128::new(0.0, 0.0));
        let mut expected = definition(&expected, false);
        expected.iter_mut().for_each(|x| *x = c128::new(x.re * factor, x.im * factor));
        let options = FourierOptions { sizes: Some(vec![length]), norm, ..Default::default() };
        let result = transformed(array.clone(), Fft, &options);
        assert_close(result.elements().unwrap(), &expected, 1e-14);
    }
}

#[test]
fn narrow_floats_are_computed_in_64_bits_and_rounded_once() {
    let x = numbers(100, 2);
    let narrow: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    let wide: Vec<f64> = narrow.iter().map(|&x| x.into()).collect();
    let options = FourierOptions::default();
    let narrow = transformed(Array::new([100], narrow).unwrap(), Rfft, &options);
    let wide = transformed(Array::new([100], wide).unwrap(), Rfft, &options);
    let rounded =
        wide.elements::<c128>().unwrap().iter().map(|x| c64::new(x.re as f32, x.im as f32));
    assert!(rounded.eq(narrow.elements::<c64>().unwrap().iter().copied()));
}

#[test]
fn errors_and_types() {
    let b = GraphBuilder::new();
    let code = |dtype: DType, size: usize, transform, sizes: Option<Vec<usize>>| {
        let x =
            b.parameter(&format!("{dtype}{size}{transform:?}{sizes:?}"), dtype, [size]).unwrap();
        let result = b.fourier(&x, transform, &FourierOptions { sizes, ..Default::default() });
        match result {
            Ok(value) => value.array_type().unwrap().to_string(),
            Err(error) => error.code().to_string(),
        }
    };
    for (dtype, size, transform, sizes, expected) in [
        (DType::I8, 4, Fft, None, "c128[4]"),
        (DType::Bool, 5, Rfft, None, "c128[3]"),
        (DType::F16, 4, Rfft, None, "c64[3]"),
        (DType::C64, 4, Irfft, None, "f32[6]"),
        (DType::Bf16, 4, Hfft, None, "bf16[6]"),
        (DType::C64, 4, Ifft, Some(vec![7]), "c64[7]"),
        (DType::C64, 4, Rfft, None, "element-type-not-allowed"),
        (DType::C128, 1, Irfft, None, "fourier-length"),
        (DType::F32, 0, Fft, None, "fourier-length"),
        (DType::F32, 1, Fft, Some(vec![0]), "fourier-length"),
        (DType::F32, 1, Fft, Some(vec![1 << 31]), "fourier-length"),
        (DType::F32, 1, Fft, Some(vec![2, 2]), "fourier-length"),
    ] {
        assert_eq!(code(dtype, size, transform, sizes), expected, "{dtype} {size} {transform:?}");
    }
    // Graphs of long transforms are small: roots of unity are products of two small tables.
    #[cfg(target_pointer_width = "64")]
    for size in [(1 << 31) - 8, (1 << 31) - 1] {
        assert_eq!(code(DType::F32, size, Fft, None), format!("c64[{size}]"));
    }
    let empty = Array::new([0, 4], Vec::<f64>::new()).unwrap();
    let result = transformed(empty, Fft, &FourierOptions::default());
    assert_eq!(result.array_type().to_string(), "c128[0, 4]");
}

#[test]
fn transforms_without_elements_are_empty() {
    // The product of two overflows `usize`.
    let large = 1 << (usize::BITS / 2 + 8);
    for (shape, axis) in [([0, large, large, 4], 3), ([4, large, large, 0], 0)] {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, shape).unwrap();
        for transform in [FourierTransform::Fft, FourierTransform::Rfft, FourierTransform::Irfft] {
            let options = FourierOptions { axes: vec![axis], ..FourierOptions::default() };
            let result = b.fourier(&x, transform, &options).unwrap().array_type().unwrap();
            let (size, dtype) = match transform {
                FourierTransform::Fft => (4, DType::C64),
                FourierTransform::Rfft => (3, DType::C64),
                _ => (6, DType::F32),
            };
            let mut expected = shape;
            expected[axis as usize] = size;
            assert_eq!((result.dtype, result.shape.sizes()), (dtype, &expected[..]));
        }
    }
}
