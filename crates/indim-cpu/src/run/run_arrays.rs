//! The arrays of a run, and the address at which each access of a nest begins. Holds unsafe code.

use core::ops::Deref;
use core::ptr::NonNull;

use indim_loops::loop_nest::{Access, BufferId, LoopNest};
use indim_loops::resize::{SizedNest, Sizes};
use indim_loops::scratch::ScratchLayout;
use indim_loops::strides::AxisStrides;
use indim_loops::whole_copies::WholeCopy;
use indim_ops::ArrayType;
use smallvec::SmallVec;

use crate::run::dense_strides::row_major_strides;
use crate::run::scratch::Scratch;
use indim_arrays::{Array, ArrayView, ArrayViewMut};

/// An address in an array of a run: the buffer, and the offset from its first element in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BufferOffset {
    pub(crate) buffer: BufferId,
    pub(crate) offset: isize,
}

/// Views that the caller lends, or that the run owns.
pub(crate) enum Views<'a, V> {
    Borrowed(&'a [V]),
    Owned(Vec<V>),
}

impl<V> Deref for Views<'_, V> {
    type Target = [V];

    fn deref(&self) -> &[V] {
        match self {
            Views::Borrowed(views) => views,
            Views::Owned(views) => views,
        }
    }
}

/// The arrays of a run.
pub(crate) struct RunArrays<'a> {
    constants: &'a [Array],
    /// The layout of `scratch`.
    layout: &'a ScratchLayout,
    inputs: Views<'a, ArrayView<'a>>,
    outputs: Views<'a, ArrayViewMut<'a>>,
    /// Whether all inputs and outputs are row-major, the common case.
    are_row_major: bool,
    pub(crate) scratch: Scratch<'a>,
    /// The copies that the run leaves out, and the addresses that their temporaries have instead.
    omitted: SmallVec<[(&'a WholeCopy, *mut u8); 2]>,
}

impl<'a> RunArrays<'a> {
    pub(crate) fn new(
        constants: &'a [Array],
        layout: &'a ScratchLayout,
        inputs: Views<'a, ArrayView<'a>>,
        outputs: Views<'a, ArrayViewMut<'a>>,
        scratch: Scratch<'a>,
    ) -> Self {
        let are_row_major = inputs.iter().all(ArrayView::is_row_major)
            && outputs.iter().all(ArrayViewMut::is_row_major);
        let omitted = SmallVec::new();
        RunArrays { constants, layout, inputs, outputs, are_row_major, scratch, omitted }
    }

    /// Leaves out copies of whole arrays whose input or output is row-major.
    pub(crate) fn omit_copies(&mut self, copies: impl Iterator<Item = &'a WholeCopy>) {
        for copy in copies {
            let is_row_major = match copy.array {
                BufferId::Parameter(index) => self.inputs[index].is_row_major(),
                BufferId::Output(index) => self.outputs[index].is_row_major(),
                _ => false,
            };
            if is_row_major {
                let first = self.at(BufferOffset { buffer: copy.array, offset: 0 });
                self.omitted.push((copy, first));
            }
        }
    }

    /// Whether the run leaves out this nest.
    pub(crate) fn is_omitted(&self, nest: usize) -> bool {
        self.omitted.iter().any(|(copy, _)| copy.nest == nest)
    }

    /// The address of a temporary.
    #[inline(always)]
    fn temporary(&self, index: usize) -> *mut u8 {
        let omitted = self.omitted.iter().find(|(copy, _)| copy.temporary == index);
        omitted.map_or_else(|| self.scratch.at(self.layout.temporaries[index]), |&(_, first)| first)
    }

    /// The whole array that an operand of a loop or branch reads.
    pub(crate) fn view(&self, access: &Access) -> ArrayView<'a> {
        let array_type = access.array_type.concrete();
        let (first, strides) = self.first_and_strides(access);
        // SAFETY: the elements of a view are valid, by its constructor; constants are arrays; temporaries and
        // counters lie in `scratch`, and earlier nests write them before anything reads the view.
        unsafe { ArrayView::from_raw(array_type, strides.to_vec(), first) }
    }

    /// The array, or part of an array, that a store of a loop or branch writes.
    pub(crate) fn view_mut(&self, target: &Access, array_type: &ArrayType) -> ArrayViewMut<'a> {
        let (first, strides) = self.first_and_strides(target);
        // SAFETY: the elements of a view are valid, by its constructor; temporaries lie in `scratch`; the
        // target of a store has room for the result from its first element on.
        unsafe { ArrayViewMut::from_raw(array_type.clone(), strides.to_vec(), first) }
    }

    fn first_and_strides(&self, access: &Access) -> (NonNull<u8>, AxisStrides) {
        let strides = self.strides(access, || row_major_strides(&access.array_type.concrete()));
        let offset = access.offset(&strides, Sizes::default());
        (non_null(self.at(BufferOffset { buffer: access.buffer, offset })), strides)
    }

    /// Address of an access at the first point of the nest.
    pub(crate) fn first(&self, nest: &SizedNest<'_>, access: &Access) -> *mut u8 {
        let offset = match access.starts_at_origin() {
            true => 0,
            false => {
                let strides = self.strides(access, || nest.dense_array_strides(access));
                access.offset(&strides, nest.sizes())
            }
        };
        self.at(BufferOffset { buffer: access.buffer, offset })
    }

    /// The address at an offset in an array.
    #[inline(always)]
    pub(crate) fn at(&self, at: BufferOffset) -> *mut u8 {
        let first = match at.buffer {
            BufferId::Parameter(index) => self.inputs[index].first(),
            BufferId::Output(index) => self.outputs[index].first(),
            BufferId::Constant(index) => self.constants[index].bytes().as_ptr().cast_mut(),
            BufferId::Counter(index) => self.scratch.at(self.layout.counters[index]),
            BufferId::Temporary(index) => self.temporary(index),
        };
        first.wrapping_offset(at.offset)
    }

    /// Strides of the axes of an array in bytes; `dense` computes those of temporaries, constants and
    /// counters.
    pub(crate) fn strides(
        &self,
        access: &Access,
        dense: impl FnOnce() -> AxisStrides,
    ) -> AxisStrides {
        match access.buffer {
            BufferId::Parameter(index) => self.inputs[index].byte_strides().into(),
            BufferId::Output(index) => self.outputs[index].byte_strides().into(),
            _ => dense(),
        }
    }

    /// Whether all arrays of a nest are row-major.
    pub(crate) fn are_dense(&self, nest: &LoopNest) -> bool {
        let is_dense = |access: &Access| match access.buffer {
            BufferId::Parameter(index) => self.inputs[index].is_row_major(),
            BufferId::Output(index) => self.outputs[index].is_row_major(),
            _ => true,
        };
        self.are_row_major || nest.operands().all(is_dense)
    }
}

/// An address in the memory of a run; dangling if that memory has no bytes.
pub(crate) fn non_null(address: *mut u8) -> NonNull<u8> {
    NonNull::new(address).unwrap_or(NonNull::dangling())
}
