//! Views in a nest: broadcasts, slices and reshapes as maps from axes to axes.

use std::sync::Arc;

use indim_graph::{AxisSlice, NodeKind};
use indim_shape::Shape;

use crate::loop_nest::{AxisIndex, AxisTerm};

/// The position in a value at each point of a nest.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct View {
    /// The iteration shape of the nest. Views of nests of different shapes differ: each nest would compute
    /// what it shows by itself.
    shape: Shape,
    /// The index along each axis of the value.
    pub(crate) axes: Arc<[AxisIndex]>,
    /// Whether elements are taken from the value, along an axis moved by one beyond those of the nest.
    is_of_table: bool,
}

impl View {
    /// Every axis of the nest walks the same axis of the value.
    pub(crate) fn identity(shape: &Shape) -> Self {
        let index = |(axis, &size): (usize, &usize)| AxisIndex::identity(axis, size);
        View {
            shape: shape.clone(),
            axes: shape.iter().enumerate().map(index).collect(),
            is_of_table: false,
        }
    }

    /// The view of a nest over `shape` onto a value without `axis`.
    pub(crate) fn without_axis(shape: &Shape, axis: usize) -> Self {
        let left = shape.iter().enumerate().filter(|&(other, _)| other != axis);
        let axes = left.map(|(axis, &size)| AxisIndex::identity(axis, size)).collect();
        View { shape: shape.clone(), axes, is_of_table: false }
    }

    /// The view of the operand of a `BroadcastInDim` that lands so.
    pub(crate) fn of_broadcast(map: &[usize], operand: &Shape, result: &Shape) -> Self {
        let index = |(&target, &size): (&usize, &usize)| AxisIndex::identity(target, size);
        let axes = map.iter().zip(operand.iter()).map(index).collect();
        View { shape: result.clone(), axes, is_of_table: false }
    }

    /// The view of the operand of a slice.
    pub(crate) fn of_slice(slices: &[AxisSlice], result: &Shape) -> Self {
        let index = |(axis, slice): (usize, &AxisSlice)| AxisIndex {
            start: slice.start(),
            term: (slice.count() != 1).then_some(AxisTerm { axis, step: slice.step() }),
        };
        View {
            shape: result.clone(),
            axes: slices.iter().enumerate().map(index).collect(),
            is_of_table: false,
        }
    }

    /// The view of the operand of a reshape that only adds or drops axes of size 1.
    pub(crate) fn of_unit_reshape(result: &Shape, operand: &Shape) -> Self {
        let mut kept = (0..result.rank()).filter(|&axis| result[axis] != 1);
        let index = |&size: &usize| match size {
            1 => AxisIndex::FIRST,
            _ => AxisIndex::identity(kept.next().unwrap_or(0), size),
        };
        View {
            shape: result.clone(),
            axes: operand.iter().map(index).collect(),
            is_of_table: false,
        }
    }

    /// The view of a gathered operand: its `axis` goes over `size` elements by an axis beyond those of the
    /// nest; the indices have `rank` axes.
    pub(crate) fn of_table(&self, axis: usize, rank: usize, size: usize) -> View {
        let beyond = self.shape.rank();
        let taken = AxisIndex { start: 0, term: Some(AxisTerm { axis: beyond, step: 1 }) };
        let behind = self.axes[axis + rank..].iter();
        let axes = self.axes[..axis].iter().chain([&taken]).chain(behind).copied().collect();
        let shape = self.shape.iter().copied().chain([size]).collect();
        View { shape, axes, is_of_table: true }
    }

    /// The view of a scatter's nest, which iterates over places and then over indices, onto the array of
    /// `rank` axes that is added to.
    pub(crate) fn of_places(&self, rank: usize) -> View {
        View { axes: Arc::from(&self.axes[..rank]), ..self.clone() }
    }

    /// The view of such a nest onto the updates: the indices replace `axis`.
    pub(crate) fn of_updates(&self, axis: usize, rank: usize) -> View {
        let (places, indices) = self.axes.split_at(rank);
        let axes = places[..axis].iter().chain(indices).chain(&places[axis + 1..]);
        View { axes: axes.copied().collect(), ..self.clone() }
    }

    /// Whether elements are taken from the value.
    pub(crate) fn is_of_table(&self) -> bool {
        self.is_of_table
    }

    /// The view of the indices of a gather, which have `rank` axes in place of `axis`.
    pub(crate) fn of_indices(&self, axis: usize, rank: usize) -> View {
        View {
            shape: self.shape.clone(),
            axes: Arc::from(&self.axes[axis..axis + rank]),
            is_of_table: false,
        }
    }

    /// This view of a value that is itself seen through `next`.
    pub(crate) fn through(&self, next: &View) -> View {
        let index = |index: &AxisIndex| match index.term {
            Some(walked) => index.along(walked.step, &self.axes[walked.axis]),
            None => *index,
        };
        View {
            shape: self.shape.clone(),
            axes: next.axes.iter().map(index).collect(),
            is_of_table: self.is_of_table,
        }
    }
}

/// Whether a reshape only adds or drops axes of size 1, so that it is a view of any strides.
pub(crate) fn is_unit_reshape(result: &Shape, operand: &Shape) -> bool {
    let not_unit = |&&size: &&usize| size != 1;
    result.iter().filter(not_unit).eq(operand.iter().filter(not_unit))
}

/// Whether a node is read from memory rather than computed.
pub(crate) fn is_leaf(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Parameter { .. } | NodeKind::Constant(_) | NodeKind::Iota { .. })
}
