//! Views in a nest: broadcasts, slices, windows and reshapes as index maps.

use std::sync::Arc;

use indim_graph::{AxisSlice, AxisWindow, NodeKind, Size, SymbolicShape};

use crate::loop_nest::{AxisIndex, AxisTerm, AxisTerms};

/// The index map of a nest to a value: an affine index for each axis of the value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct View {
    /// The iteration shape of the nest. It is part of equality: nests of different shapes share no
    /// computation.
    shape: SymbolicShape,
    /// The index along each axis of the value.
    pub(crate) axes: Arc<[AxisIndex]>,
    /// Whether the value is the table of a gather. Its gathered axis has a virtual axis as index, numbered
    /// after the axes of the nest.
    is_of_table: bool,
}

impl View {
    /// The view in which each axis of the value moves with the same axis of the nest.
    pub(crate) fn identity(shape: &SymbolicShape) -> Self {
        let index = |(axis, &size): (usize, &Size)| AxisIndex::identity(axis, size);
        View {
            shape: shape.clone(),
            axes: shape.iter().enumerate().map(index).collect(),
            is_of_table: false,
        }
    }

    /// The view of a nest without axes onto the first element of a value with `rank` axes.
    pub(crate) fn of_whole(rank: usize) -> Self {
        let axes = vec![AxisIndex::zero(); rank].into();
        View { shape: SymbolicShape::scalar(), axes, is_of_table: false }
    }

    /// The view of a nest over `shape` onto a value without `axis`.
    pub(crate) fn without_axis(shape: &SymbolicShape, axis: usize) -> Self {
        let left = shape.iter().enumerate().filter(|&(other, _)| other != axis);
        let axes = left.map(|(axis, &size)| AxisIndex::identity(axis, size)).collect();
        View { shape: shape.clone(), axes, is_of_table: false }
    }

    /// The view of the operand of a `BroadcastInDim` with this axis map.
    pub(crate) fn of_broadcast(
        map: &[usize],
        operand: &SymbolicShape,
        result: &SymbolicShape,
    ) -> Self {
        let index = |(&target, &size): (&usize, &Size)| AxisIndex::identity(target, size);
        let axes = map.iter().zip(operand.iter()).map(index).collect();
        View { shape: result.clone(), axes, is_of_table: false }
    }

    /// The view of the operand of a slice.
    pub(crate) fn of_slice(slices: &[AxisSlice], result: &SymbolicShape) -> Self {
        let index = |(axis, slice): (usize, &AxisSlice)| {
            let start = slice.start() as isize;
            let mut index = AxisIndex::new(start, slice.step(), (axis, result[axis]));
            if let Some(start) = slice.symbolic_start() {
                index.start = start.constant();
                start.terms().for_each(|(symbol, factor)| index.add_size(symbol, factor));
            }
            index
        };
        View {
            shape: result.clone(),
            axes: slices.iter().enumerate().map(index).collect(),
            is_of_table: false,
        }
    }

    /// The view of the operand of a window along `axis`, which gives `result`.
    pub(crate) fn of_window(axis: usize, window: &AxisWindow, result: &SymbolicShape) -> Self {
        let inside = result.rank() - 1;
        let mut axes: Vec<AxisIndex> =
            (0..inside).map(|axis| AxisIndex::identity(axis, result[axis])).collect();
        let terms = [(axis, window.stride()), (inside, window.dilation())];
        let moving = terms.into_iter().filter(|&(axis, _)| result[axis] != Size::Known(1));
        let term = |(axis, step)| AxisTerm { axis, step: step as isize };
        axes[axis].terms = moving.map(term).collect();
        View { shape: result.clone(), axes: axes.into(), is_of_table: false }
    }

    /// The view of the operand of a reshape that only adds or drops axes of size 1.
    pub(crate) fn of_unit_reshape(result: &SymbolicShape, operand: &SymbolicShape) -> Self {
        let mut kept = (0..result.rank()).filter(|&axis| result[axis] != Size::Known(1));
        let index = |&size: &Size| match size {
            Size::Known(1) => AxisIndex::zero(),
            _ => AxisIndex::identity(kept.next().unwrap_or(0), size),
        };
        View {
            shape: result.clone(),
            axes: operand.iter().map(index).collect(),
            is_of_table: false,
        }
    }

    /// The view of the table of a gather along `axis`. This axis has `size` elements; its index is a
    /// virtual axis, numbered after the axes of the nest. The indices have `rank` axes.
    pub(crate) fn of_table(&self, axis: usize, rank: usize, size: Size) -> View {
        let virtual_axis = self.shape.rank();
        let term = AxisTerm { axis: virtual_axis, step: 1 };
        let table_index = AxisIndex { terms: AxisTerms::from_buf([term]), ..AxisIndex::zero() };
        let later = self.axes[axis + rank..].iter();
        let axes = self.axes[..axis].iter().chain([&table_index]).chain(later).cloned().collect();
        let shape = self.shape.iter().copied().chain([size]).collect();
        View { shape, axes, is_of_table: true }
    }

    /// The view of a scatter's nest onto the array of `rank` axes that the scatter updates. The outer axes
    /// of the nest are those of the array, the inner axes those of the indices. For a search in a sorted
    /// table, the view onto the values, whose axes are the outer axes too.
    pub(crate) fn of_scattered_array(&self, rank: usize) -> View {
        View { axes: Arc::from(&self.axes[..rank]), ..self.clone() }
    }

    /// The view of a scatter's nest onto the updates: the axes of the indices replace `axis`, one of the
    /// `rank` axes of the array.
    pub(crate) fn of_updates(&self, axis: usize, rank: usize) -> View {
        let (places, indices) = self.axes.split_at(rank);
        let axes = places[..axis].iter().chain(indices).chain(&places[axis + 1..]);
        View { axes: axes.cloned().collect(), ..self.clone() }
    }

    /// Whether the value is the table of a gather.
    pub(crate) fn is_of_table(&self) -> bool {
        self.is_of_table
    }

    /// The view of the indices of a gather or scatter, or of the table of a search: the `rank` axes of
    /// the nest from `axis` on.
    pub(crate) fn of_indices(&self, axis: usize, rank: usize) -> View {
        View {
            shape: self.shape.clone(),
            axes: Arc::from(&self.axes[axis..axis + rank]),
            is_of_table: false,
        }
    }

    /// The composition of this view with `next`: the view of the operand that `next` shows.
    pub(crate) fn compose(&self, next: &View) -> View {
        View {
            shape: self.shape.clone(),
            axes: next.axes.iter().map(|index| index.compose(&self.axes)).collect(),
            is_of_table: self.is_of_table,
        }
    }
}

/// Whether a reshape only adds or drops axes of size 1. It is then a view for any strides.
pub(crate) fn is_unit_reshape(result: &SymbolicShape, operand: &SymbolicShape) -> bool {
    let not_unit = |&&size: &&Size| size != Size::Known(1);
    result.iter().filter(not_unit).eq(operand.iter().filter(not_unit))
}

/// Whether a node is a leaf: memory that exists before the nests run.
pub(crate) fn is_leaf(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Parameter { .. } | NodeKind::Constant(_) | NodeKind::Iota { .. })
}
