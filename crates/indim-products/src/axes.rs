//! The axes of one class, merged by strides, and offsets of their elements.

use core::ops::Range;

use indim_shape::sort_few_by_key;

use crate::product::{AxisClass, Product};

/// The arrays of a product, as indices into strides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProductArray {
    X = 0,
    Y = 1,
    Out = 2,
}

/// An axis of a product, or several that have been merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Axis {
    size: usize,
    /// Strides in bytes, by [`ProductArray`].
    strides: [isize; 3],
}

/// The layout of groups of neighbouring summed indices, pairs or groups of four, whose products one
/// instruction adds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FactorGroups {
    strides: [isize; 3],
    /// Number of indices in the last group if it is incomplete, otherwise 0.
    pub(crate) tail: usize,
}

impl FactorGroups {
    /// The stride of an array between the indices of a group, in bytes.
    pub(crate) fn stride(&self, operand: ProductArray) -> isize {
        self.strides[operand as usize]
    }

    /// The layout without the strides of other arrays.
    pub(crate) fn of_array(&self, operand: ProductArray) -> FactorGroups {
        let mut strides = [0; 3];
        strides[operand as usize] = self.stride(operand);
        FactorGroups { strides, tail: self.tail }
    }
}

/// Runs of elements of one length, at one stride.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Runs {
    pub(crate) count: usize,
    strides: [isize; 3],
}

impl Runs {
    /// One run.
    pub(crate) fn one() -> Runs {
        Runs { count: 1, strides: [0; 3] }
    }

    /// The stride of an array between runs, in bytes.
    pub(crate) fn stride(&self, operand: ProductArray) -> isize {
        self.strides[operand as usize]
    }
}

/// The axes of one class, slowest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Axes {
    axes: Vec<Axis>,
    /// The number of elements.
    pub(crate) size: usize,
}

impl Axes {
    /// The axes of a class. Returns `None` if their number of elements exceeds `isize::MAX`.
    ///
    /// Axes that are not summed are sorted by the strides of the result, then of the operands, so that more
    /// of them merge.
    pub(crate) fn of_class(product: &Product, class: AxisClass) -> Option<Axes> {
        let of_class = product.axes.iter().filter(|axis| axis.class == class);
        let mut axes: Vec<Axis> = of_class
            .map(|axis| Axis { size: axis.size, strides: [axis.x, axis.y, axis.out] })
            .collect();
        let size = axes.iter().try_fold(1, |size: usize, axis| size.checked_mul(axis.size));
        let size = match axes.iter().any(|axis| axis.size == 0) {
            true => 0,
            false => size.filter(|&size| isize::try_from(size).is_ok())?,
        };
        axes.retain(|axis| axis.size != 1);
        if class != AxisClass::Summed {
            let key = |axis: &Axis| {
                let [x, y, out] = axis.strides.map(isize::unsigned_abs);
                core::cmp::Reverse((out, x, y))
            };
            sort_few_by_key(&mut axes, key);
        }
        Some(Axes { axes: merge(axes), size })
    }

    /// The axes as one array has them: strides of other arrays are 0, and axes are
    /// merged by the strides of this array alone.
    pub(crate) fn of_array(&self, operand: ProductArray) -> Axes {
        let own = |axis: &Axis| {
            let mut strides = [0; 3];
            strides[operand as usize] = axis.strides[operand as usize];
            Axis { size: axis.size, strides }
        };
        Axes { axes: merge(self.axes.iter().map(own).collect()), size: self.size }
    }

    /// No axes: one element.
    pub(crate) fn none() -> Axes {
        Axes { axes: Vec::new(), size: 1 }
    }

    /// Whether an array has the same elements at every index.
    pub(crate) fn is_broadcast(&self, operand: ProductArray) -> bool {
        self.axes.iter().all(|axis| axis.strides[operand as usize] == 0)
    }

    /// The stride of an array in bytes, if its elements have one stride along all axes.
    pub(crate) fn uniform_stride(&self, operand: ProductArray) -> Option<isize> {
        let stride = self.fastest_stride(operand);
        (self.uniform_run_length(operand) == self.axes_size()).then_some(stride)
    }

    /// The number of elements along the fastest axes that have one stride in an array; 1 without axes.
    pub(crate) fn uniform_run_length(&self, operand: ProductArray) -> usize {
        let stride = self.fastest_stride(operand);
        let mut run = 1_usize;
        for axis in self.axes.iter().rev() {
            if axis.strides[operand as usize] != stride.wrapping_mul(run as isize) {
                break;
            }
            run = run.saturating_mul(axis.size);
        }
        run
    }

    /// The product of the sizes of the axes; saturates.
    fn axes_size(&self) -> usize {
        self.axes.iter().fold(1, |size, axis| size.saturating_mul(axis.size))
    }

    /// The stride of the fastest axis in bytes; 0 without axes.
    pub(crate) fn fastest_stride(&self, operand: ProductArray) -> isize {
        self.axes.last().map_or(0, |axis| axis.strides[operand as usize])
    }

    /// The size of the fastest axis; 1 without axes.
    pub(crate) fn fastest_size(&self) -> usize {
        self.axes.last().map_or(1, |axis| axis.size)
    }

    /// The run `first` and the runs after it that end up to `end`, if `first` has all elements of the fastest
    /// axis at one index of the slower ones; otherwise `first` alone.
    pub(crate) fn next_runs(&self, first: &Range<usize>, end: usize) -> Runs {
        let alone = Runs::one();
        let [.., slower, fastest] = &self.axes[..] else { return alone };
        if first.len() != fastest.size || !first.start.is_multiple_of(fastest.size) {
            return alone;
        }
        let left = slower.size - first.start / fastest.size % slower.size;
        let count = left.min((end - first.start) / fastest.size).max(1);
        Runs { count, strides: slower.strides }
    }

    /// The elements from `start` on, before `end`, that differ only in the index of the fastest axis.
    pub(crate) fn next_run(&self, start: usize, end: usize) -> Runs {
        let Some(fastest) = self.axes.last() else { return Runs::one() };
        let count = (fastest.size - start % fastest.size).min(end - start);
        Runs { count, strides: fastest.strides }
    }

    /// The offset of an element in bytes.
    pub(crate) fn offset(&self, mut index: usize, operand: ProductArray) -> isize {
        let mut offset = 0_isize;
        for axis in self.axes.iter().rev() {
            let stride = axis.strides[operand as usize];
            if index < axis.size {
                return offset.wrapping_add((index as isize).wrapping_mul(stride));
            }
            let position = (index % axis.size.max(1)) as isize;
            index /= axis.size.max(1);
            offset = offset.wrapping_add(position.wrapping_mul(stride));
        }
        offset
    }

    /// Writes the offsets of consecutive elements, from `start` on.
    pub(crate) fn write_offsets(&self, start: usize, operand: ProductArray, to: &mut [isize]) {
        if let Some(stride) = self.uniform_stride(operand) {
            for (index, offset) in to.iter_mut().enumerate() {
                *offset = ((start + index) as isize).wrapping_mul(stride);
            }
            return;
        }
        let (run, stride) = (self.fastest_size(), self.fastest_stride(operand));
        let mut written = 0;
        while written < to.len() {
            let first = start + written;
            let count = (run - first % run).min(to.len() - written);
            let mut offset = self.offset(first, operand);
            for place in &mut to[written..written + count] {
                *place = offset;
                offset = offset.wrapping_add(stride);
            }
            written += count;
        }
    }

    /// The axes of groups of `count` neighbouring elements, and the layout within a group. `None` if a
    /// group would cross the border of the fastest of several axes, or if there are fewer than `count`
    /// elements.
    pub(crate) fn group_elements(&self, count: usize) -> Option<(Axes, FactorGroups)> {
        let fastest = self.axes.last()?;
        let tail = fastest.size % count;
        if tail > 0 && self.axes.len() > 1 || self.size < count {
            return None;
        }
        let mut axes = self.axes.clone();
        let grouped = Axis {
            size: fastest.size.div_ceil(count),
            strides: fastest.strides.map(|stride| stride.wrapping_mul(count as isize)),
        };
        *axes.last_mut()? = grouped;
        let groups = FactorGroups { strides: fastest.strides, tail };
        Some((Axes { axes, size: self.size.div_ceil(count) }, groups))
    }

    /// These axes with another number of elements. Serves only to compute the maximum memory of a plan,
    /// for which no other property of grouped axes matters.
    pub(crate) fn with_size(&self, size: usize) -> Axes {
        Axes { axes: self.axes.clone(), size }
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.axes.capacity() * size_of::<Axis>()
    }
}

/// Merges neighbouring axes that have one stride in every array.
fn merge(axes: Vec<Axis>) -> Vec<Axis> {
    let mut merged: Vec<Axis> = Vec::with_capacity(axes.len());
    for axis in axes {
        let size = axis.size as isize;
        match merged.last_mut() {
            Some(slower)
                if (0..3).all(|it| slower.strides[it] == axis.strides[it].wrapping_mul(size)) =>
            {
                *slower =
                    Axis { size: slower.size.saturating_mul(axis.size), strides: axis.strides };
            }
            _ => merged.push(axis),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use indim_ops::DType;

    use super::{Axes, ProductArray};
    use crate::product::{AxisClass, Product, ProductAxis};

    fn rows(axes: &[(usize, isize, isize)]) -> Axes {
        let axis = |&(size, x, out)| ProductAxis { class: AxisClass::Row, size, x, y: 0, out };
        let (x, y, compute, out) = (DType::F32, DType::F32, DType::F32, DType::F32);
        let product = Product { x, y, compute, out, axes: axes.iter().map(axis).collect() };
        Axes::of_class(&product, AxisClass::Row).unwrap()
    }

    #[test]
    fn dense_axes_merge() {
        assert_eq!(
            rows(&[(3, 80, 40), (2, 40, 20), (5, 8, 4)]).uniform_stride(ProductArray::X),
            Some(8)
        );
        assert_eq!(
            rows(&[(5, 8, 4), (3, 80, 40), (2, 40, 20)]).uniform_stride(ProductArray::Out),
            Some(4)
        );
        assert_eq!(
            rows(&[(3, 80, 40), (2, 32, 20), (5, 8, 4)]).uniform_stride(ProductArray::X),
            None
        );
        assert_eq!(rows(&[(1, 80, 40)]).uniform_stride(ProductArray::X), Some(0));
        // The axes do not merge, because `x` has gaps; the result has none.
        assert_eq!(
            rows(&[(3, 80, 40), (2, 32, 20), (5, 8, 4)]).uniform_stride(ProductArray::Out),
            Some(4)
        );
        assert_eq!(
            rows(&[(3, 80, 40), (2, 40, 24), (5, 8, 4)]).uniform_run_length(ProductArray::X),
            30
        );
        assert_eq!(
            rows(&[(3, 80, 40), (2, 32, 20), (5, 8, 4)]).uniform_run_length(ProductArray::X),
            5
        );
    }

    #[test]
    fn runs_end_with_the_slower_axis() {
        let axes = rows(&[(3, 100, 40), (4, -7, 20), (5, 8, 4)]);
        let runs = |first, end| {
            let runs = axes.next_runs(&first, end);
            (runs.count, runs.stride(ProductArray::X))
        };
        assert_eq!(runs(0..5, 60), (4, -7));
        assert_eq!(runs(10..15, 60), (2, -7));
        assert_eq!(runs(20..25, 33), (2, -7));
        assert_eq!(runs(10..14, 60), (1, 0));
        assert_eq!(runs(11..16, 60), (1, 0));
        assert_eq!(rows(&[(5, 8, 4)]).next_runs(&(0..5), 5).count, 1);
    }

    #[test]
    fn offsets_follow_the_axes() {
        let axes = rows(&[(3, 100, 40), (2, -7, 20), (5, 8, 4)]);
        let mut offsets = [0; 30];
        axes.write_offsets(0, ProductArray::X, &mut offsets);
        for (index, &offset) in offsets.iter().enumerate() {
            let (slow, middle, fast) = (index / 10, index / 5 % 2, index % 5);
            assert_eq!(offset, slow as isize * 100 - middle as isize * 7 + fast as isize * 8);
            assert_eq!(offset, axes.offset(index, ProductArray::X));
            let mut rest = vec![0; 30 - index];
            axes.write_offsets(index, ProductArray::X, &mut rest);
            assert_eq!(rest[0], offset);
        }
    }
}
