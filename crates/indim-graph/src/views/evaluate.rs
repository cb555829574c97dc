//! Reference evaluation of slices, windows, concatenations, gathers and scatters.

use indim_ops::elements::*;
use indim_ops::{ArrayData, DType, Element};
use indim_shape::Shape;

use super::{AxisSlice, AxisWindow, ScatterMode, TakeMode};
use indim_arrays::Array;

/// The index along each axis of the element at `position` in row-major order.
pub(crate) fn unravel(mut position: usize, shape: &Shape) -> Vec<usize> {
    let mut index = vec![0; shape.rank()];
    for (axis, &size) in shape.iter().enumerate().rev() {
        index[axis] = position % size;
        position /= size;
    }
    index
}

/// The position in row-major order of the element with this index along each axis.
fn ravel(index: impl Iterator<Item = usize>, shape: &Shape) -> usize {
    index.zip(shape.iter()).fold(0, |position, (index, &size)| position * size + index)
}

fn element_count(shape: &Shape) -> usize {
    shape.element_count().expect("invariant: the builder checked the size")
}

/// For each element of the result in row-major order, the position of its source in the operand.
pub(crate) fn slice_sources(slices: &[AxisSlice], operand: &Shape, result: &Shape) -> Vec<usize> {
    let source = |position| {
        let index = unravel(position, result);
        ravel(slices.iter().zip(index).map(|(slice, index)| slice.index(index)), operand)
    };
    (0..element_count(result)).map(source).collect()
}

/// For each element of the result in row-major order, the position of its source in the operand.
pub(crate) fn window_sources(
    axis: usize,
    window: &AxisWindow,
    operand: &Shape,
    result: &Shape,
) -> Vec<usize> {
    let source = |position| {
        let mut index = unravel(position, result);
        let element = index.pop().expect("invariant: windows are the last axis");
        index[axis] = window.index(index[axis], element);
        ravel(index.into_iter(), operand)
    };
    (0..element_count(result)).map(source).collect()
}

/// For each element of the result in row-major order, the position of its source in the operand.
///
/// # Errors
/// The first index out of range, with its position among the indices.
pub(crate) fn take_sources(
    axis: usize,
    mode: TakeMode,
    operand: &Shape,
    indices: &Array,
    result: &Shape,
) -> Result<Vec<usize>, (i128, usize)> {
    let mode = ScatterMode::Take(mode);
    let targets = scatter_targets(axis, mode, operand, indices, result)?;
    Ok(targets.into_iter().flatten().collect())
}

/// For each update of a scatter in row-major order, the position of its element in the operand; `None` for
/// a dropped update.
///
/// # Errors
/// The first index out of range, with its position among the indices.
pub(crate) fn scatter_targets(
    axis: usize,
    mode: ScatterMode,
    operand: &Shape,
    indices: &Array,
    updates: &Shape,
) -> Result<Vec<Option<usize>>, (i128, usize)> {
    let numbers = integers(indices);
    let rank = indices.shape().rank();
    let target = |position| {
        let index = unravel(position, updates);
        let (before, rest) = index.split_at(axis);
        let (of_indices, after) = rest.split_at(rank);
        let index_position = ravel(of_indices.iter().copied(), indices.shape());
        let axis_index = mode
            .resolve(numbers[index_position], operand[axis])
            .ok_or((numbers[index_position], index_position))?;
        let index = before.iter().copied().chain([axis_index]).chain(after.iter().copied());
        Ok((axis_index < operand[axis]).then(|| ravel(index, operand)))
    };
    (0..element_count(updates)).map(target).collect()
}

/// The elements of an array of integers.
pub(crate) fn integers(array: &Array) -> Vec<i128> {
    macro_rules! read {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match array.dtype() {
                $(DType::$variant => read!(@$class $type),)*
            }
        };
        (@signed $type:ident) => { to_i128::<$type>(array) };
        (@unsigned $type:ident) => { to_i128::<$type>(array) };
        (@$class:ident $type:ident) => {
            unreachable!("invariant: the builder checked the type of the indices")
        };
    }
    indim_ops::for_each_element!(read)
}

fn to_i128<T: Element + Into<i128>>(array: &Array) -> Vec<i128> {
    let elements: &[T] = array.element_slice().expect("invariant: read as its own type");
    elements.iter().map(|&x| x.into()).collect()
}

/// The concatenation of the operands along `axis`.
pub(crate) fn evaluate_concatenation(operands: &[&Array], axis: usize) -> ArrayData {
    macro_rules! concatenate {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match operands[0].dtype() {
                $(DType::$variant => $type::into_data(concatenate_elements::<$type>(operands, axis)),)*
            }
        };
    }
    indim_ops::for_each_element!(concatenate)
}

fn concatenate_elements<T: Element>(operands: &[&Array], axis: usize) -> Vec<T> {
    // Without elements the outer axes may be of any size, and the loop below would run over all of them.
    if operands.iter().all(|operand| operand.element_count() == 0) {
        return Vec::new();
    }
    let outer: usize = operands[0].shape()[..axis].iter().product();
    let mut elements = Vec::new();
    for outer in 0..outer {
        for operand in operands {
            let length: usize = operand.shape()[axis..].iter().product();
            let all: &[T] = operand.element_slice().expect("invariant: operands are of one type");
            elements.extend_from_slice(&all[outer * length..][..length]);
        }
    }
    elements
}
