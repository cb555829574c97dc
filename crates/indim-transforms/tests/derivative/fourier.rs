//! Pullbacks of Fourier transforms are their adjoints, and tangents are their values.

use indim_builder::{FourierOptions, GraphBuilder, Value};
use indim_ops::fourier::function::FourierTransform;

use super::{Argument, pullback, pushforward, value};

fn numbers(seed: usize, count: usize) -> Vec<f64> {
    (0..count).map(|index| ((index * 37 + seed * 11) % 23) as f64 / 7.0 - 1.5).collect()
}

/// The real and imaginary parts of a transform along axis 0 of a complex array, given by its parts.
fn parts(x: &Value, transform: FourierTransform, length: usize) -> Value {
    let b: &GraphBuilder = x.builder();
    let part = |index| b.index(x, &[indim_builder::Index::At(index)]).unwrap();
    let operand = match transform {
        FourierTransform::Rfft | FourierTransform::Ihfft => part(0),
        _ => b.complex(part(0), part(1), &[]).unwrap(),
    };
    let options = FourierOptions { axes: vec![0], sizes: Some(vec![length]), ..Default::default() };
    let result = b.fourier(operand, transform, &options).unwrap();
    match transform {
        FourierTransform::Irfft | FourierTransform::Hfft => result,
        _ => b.stack(&[result.real(), result.imag()], 0).unwrap(),
    }
}

#[test]
fn pullbacks_are_adjoints() {
    use FourierTransform::{Fft, Hfft, Ifft, Ihfft, Irfft, Rfft};
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    for transform in [Fft, Ifft, Rfft, Irfft, Hfft, Ihfft] {
        // Cropped, padded, in several stages, and by a convolution.
        for (size, length) in [(5, 4), (6, 7), (36, 36), (67, 67), (1, 1)] {
            let function: super::Function<'_> = &|values| parts(&values[0], transform, length);
            let point = Argument(vec![2, size, 2], numbers(0, 4 * size));
            let direction = numbers(1, 4 * size);
            let image: Vec<f64> = value(function, &[Argument(point.0.clone(), direction.clone())]);
            let tangent: Vec<f64> = pushforward(
                function,
                core::slice::from_ref(&point),
                core::slice::from_ref(&direction),
            );
            let close = |x: f64, y: f64| (x - y).abs() <= 1e-12 * (length as f64);
            assert!(image.iter().zip(&tangent).all(|(&x, &y)| close(x, y)), "{transform:?}");
            let cotangent = numbers(2, image.len());
            let gradient = pullback(function, &[point], &cotangent).remove(0);
            let (left, right) = (dot(&cotangent, &image), dot(&gradient, &direction));
            assert!(close(left, right), "{transform:?} {size} {length}: {left} {right}");
        }
    }
}
