//! In which order the elements of a new result lie: NumPy's `order`.

use indim::ArrayType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::numpy_api::NumpyArray;

/// NumPy's `order` argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Row-major.
    C,
    /// Column-major.
    F,
    /// Column-major if every input is, else row-major.
    A,
    /// As the inputs lie.
    K,
}

impl Order {
    pub(crate) fn parse(text: &str) -> PyResult<Self> {
        match text {
            "C" | "c" => Ok(Order::C),
            "F" | "f" => Ok(Order::F),
            "A" | "a" => Ok(Order::A),
            "K" | "k" => Ok(Order::K),
            _ => {
                Err(PyValueError::new_err(format!("`order` is 'C', 'F', 'A' or 'K', not {text:?}")))
            }
        }
    }

    /// The strides in bytes of a new array; `None` for row-major.
    pub(crate) fn strides(
        self,
        result: &ArrayType,
        inputs: &[&NumpyArray<'_>],
    ) -> Option<Vec<isize>> {
        let rank = result.shape.rank();
        if rank < 2 {
            return None;
        }
        let axes: Vec<usize> = match self {
            Order::C => return None,
            Order::F => (0..rank).rev().collect(),
            Order::A if !inputs.is_empty() && inputs.iter().all(|input| is_column_major(input)) => {
                (0..rank).rev().collect()
            }
            Order::A => return None,
            Order::K if inputs.iter().all(|input| is_row_major(input)) => return None,
            Order::K => axes_by_stride(result, inputs),
        };
        let mut strides = vec![0; rank];
        let mut stride = result.dtype.size() as isize;
        for &axis in axes.iter().rev() {
            strides[axis] = stride;
            stride *= result.shape[axis].max(1) as isize;
        }
        Some(strides)
    }
}

fn is_dense<'a>(axes: impl Iterator<Item = (&'a usize, &'a isize)>, element_size: usize) -> bool {
    let mut expected = element_size as isize;
    for (&size, &stride) in axes {
        if size != 1 && stride != expected {
            return false;
        }
        expected *= size as isize;
    }
    true
}

fn is_row_major(array: &NumpyArray<'_>) -> bool {
    is_dense(array.sizes().iter().zip(array.strides()).rev(), array.dtype().size())
}

fn is_column_major(array: &NumpyArray<'_>) -> bool {
    is_dense(array.sizes().iter().zip(array.strides()), array.dtype().size())
}

/// The axes from the outermost to the innermost, as NumPy's iterator sorts them: by insertion, an axis
/// moves outwards past one whose strides are larger in some input and smaller in none.
fn axes_by_stride(result: &ArrayType, inputs: &[&NumpyArray<'_>]) -> Vec<usize> {
    let rank = result.shape.rank();
    let strides: Vec<Vec<usize>> =
        inputs.iter().filter_map(|input| aligned_strides(result, input)).collect();
    // From the innermost outwards, as NumPy's iterator counts.
    let mut axes: Vec<usize> = (0..rank).rev().collect();
    for from in 1..rank {
        let axis = axes[from];
        let mut to = from;
        for position in (0..from).rev() {
            match is_inside(axis, axes[position], &strides) {
                Some(true) => to = position,
                Some(false) => break,
                None => {}
            }
        }
        axes[to..=from].rotate_right(1);
    }
    axes.reverse();
    axes
}

/// Whether `axis` belongs inside of `other`; `None` when no input says.
fn is_inside(axis: usize, other: usize, inputs: &[Vec<usize>]) -> Option<bool> {
    let mut answer = None;
    for strides in inputs {
        let (stride, other_stride) = (strides[axis], strides[other]);
        if stride != 0 && other_stride != 0 {
            if other_stride <= stride {
                // Row-major wins where inputs disagree.
                return Some(false);
            }
            answer = Some(true);
        }
    }
    answer
}

/// The magnitudes of the strides along the axes of the result; `None` for an input that does not
/// broadcast onto it from the right.
fn aligned_strides(result: &ArrayType, input: &NumpyArray<'_>) -> Option<Vec<usize>> {
    let rank = result.shape.rank();
    let missing = rank.checked_sub(input.sizes().len())?;
    let mut strides = vec![0; rank];
    for (index, (&size, &stride)) in input.sizes().iter().zip(input.strides()).enumerate() {
        let axis = missing + index;
        if size == result.shape[axis] && size != 1 {
            strides[axis] = stride.unsigned_abs();
        } else if size != 1 {
            return None;
        }
    }
    Some(strides)
}
