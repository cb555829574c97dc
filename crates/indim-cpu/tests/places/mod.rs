//! Places of elements in row-major order.

/// The index of an element.
pub(crate) fn unravelled(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (at, &size) in at.iter_mut().zip(shape).rev() {
        (*at, number) = (number % size, number / size);
    }
    at
}
