//! Axes along which the elements of a constant repeat, and constants with evenly spaced elements.

use indim_graph::Array;
use indim_model::integers;
use indim_ops::DType;

use indim_onnx_file::messages::TensorProto;

/// Minimum bytes of a constant whose repeated axes are found. A smaller constant has nothing to save.
const MIN_BYTES: usize = 4096;

/// The axes along which all elements of a constant are equal. The comparison of ordinary weights ends at
/// their first elements. Elements in external files and in typed fields are not read.
pub(super) fn repeated_axes(tensor: &TensorProto) -> Vec<usize> {
    let Some(bytes) = tensor.raw_data.as_ref().filter(|bytes| bytes.len() >= MIN_BYTES) else {
        return Vec::new();
    };
    let sizes: Option<Vec<usize>> =
        tensor.dims.iter().map(|&size| usize::try_from(size).ok()).collect();
    let Some(sizes) = sizes.filter(|sizes| sizes.len() <= indim_shape::MAX_RANK) else {
        return Vec::new();
    };
    let count = sizes.iter().try_fold(1usize, |count, &size| count.checked_mul(size));
    let element = match count {
        Some(count) if count > 0 && bytes.len().is_multiple_of(count) => bytes.len() / count,
        _ => return Vec::new(),
    };
    let is_repeated = |&axis: &usize| {
        let inner: usize = sizes[axis + 1..].iter().product::<usize>() * element;
        sizes[axis] > 1
            && bytes.chunks_exact(inner * sizes[axis]).all(|block| is_repetition(block, inner))
    };
    (0..sizes.len()).filter(is_repeated).collect()
}

/// Maximum deviation from even spacing, as a part of the distance between the first and the last element:
/// coordinates are rounded to `f32`.
const SPACING_TOLERANCE: f64 = 1e-5;

/// Whether the elements are at least three different numbers with one distance, as coordinates are.
pub(super) fn is_evenly_spaced(array: &Array) -> bool {
    let numbers: Option<Vec<f64>> = match array.dtype() {
        DType::F32 => array.elements::<f32>().ok().map(|it| it.iter().map(|&n| n.into()).collect()),
        DType::F64 => array.elements::<f64>().ok().map(<[f64]>::to_vec),
        DType::Bool => None,
        _ => integers(array).map(|it| it.into_iter().map(|n| n as f64).collect()),
    };
    let Some(numbers) = numbers.filter(|numbers| numbers.len() >= 3) else { return false };
    let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
    let step = (last - first) / (numbers.len() - 1) as f64;
    let is_near = |(index, number): (usize, &f64)| {
        let expected = first + index as f64 * step;
        (number - expected).abs() <= SPACING_TOLERANCE * (last - first).abs()
    };
    step != 0.0 && step.is_finite() && numbers.iter().enumerate().all(is_near)
}

/// Whether all parts of `length` bytes of the block are equal: each one equals the first.
fn is_repetition(block: &[u8], length: usize) -> bool {
    block[length..].chunks_exact(length).all(|part| part == &block[..length])
}

#[cfg(test)]
mod tests {
    use super::repeated_axes;
    use indim_onnx_file::messages::TensorProto;

    /// The repeated axes of an `f32` tensor `[2, 16, 64]`; `element` gives each element from its index.
    fn axes(element: impl Fn(usize, usize, usize) -> f32) -> Vec<usize> {
        let mut raw = Vec::new();
        for a in 0..2 {
            for b in 0..16 {
                (0..64).for_each(|c| raw.extend(element(a, b, c).to_le_bytes()));
            }
        }
        let raw_data = Some(raw.into());
        repeated_axes(&TensorProto { dims: vec![2, 16, 64], raw_data, ..TensorProto::default() })
    }

    #[test]
    fn axes_that_the_elements_do_not_depend_on_are_found() {
        assert_eq!(axes(|a, b, c| (a * 1000 + b * 64 + c) as f32), [] as [usize; 0]);
        assert_eq!(axes(|_, b, c| (b * 64 + c) as f32), [0]);
        assert_eq!(axes(|a, _, c| (a * 64 + c) as f32), [1]);
        assert_eq!(axes(|a, b, _| (a * 16 + b) as f32), [2]);
        assert_eq!(axes(|_, b, _| b as f32), [0, 2]);
        assert_eq!(axes(|_, _, _| 1.5), [0, 1, 2]);
        // One element differs, the last.
        let last = |a, b, c| if (a, b, c) == (1, 15, 63) { 1. } else { 0. };
        assert_eq!(axes(last), [] as [usize; 0]);
    }

    #[test]
    fn sizes_that_do_not_fit_the_bytes_give_nothing() {
        let tensor = |dims: Vec<i64>| {
            let raw_data = Some(vec![0; 4097].into());
            repeated_axes(&TensorProto { dims, raw_data, ..TensorProto::default() })
        };
        for dims in [vec![4096], vec![-1, 4097], vec![0], vec![i64::MAX, i64::MAX]] {
            assert!(tensor(dims).is_empty());
        }
    }
}
