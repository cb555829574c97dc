//! Nests with concrete sizes for their symbols.
//!
//! Lowering asks only whether sizes are equal, and whether they are 0 or 1. A symbol equals only itself, and
//! stands for sizes of at least 2, so nests with symbols are valid for any concrete sizes of at least 2.
//! Steps in indices are numbers, and axes of windows and concatenations have no symbolic size. A slice begins
//! at a fixed element, or at a fixed distance from the end of an axis: its index has a term for the size.

use core::cell::OnceCell;
use core::cmp::Reverse;
use std::borrow::Cow;
use std::sync::Arc;

use indim_graph::{Size, SymbolicShape};
use indim_ops::ArrayType;
use indim_shape::Shape;
use smallvec::SmallVec;

use crate::dense_nest::{DenseNest, main_access};
use crate::loop_nest::{Access, AxisIndex, IndexCheck, LoopNest, LoopNests, Store, SymbolicType};
pub use crate::sizes::Sizes;
use crate::strides::coalesce::{CoalescedAxes, coalesce};
use crate::strides::{AxisStrides, zero_strides};
use crate::walk::reduction::ReducedAxes;

/// The strides of a nest's operands along its axes.
#[derive(Debug, Clone, Copy)]
pub enum NestStrides<'a> {
    /// The strides of dense arrays.
    Dense,
    /// These strides in bytes, for each operand: the targets of the stores, then the accesses.
    Explicit(&'a [AxisStrides]),
}

/// A nest with concrete sizes.
#[derive(Debug)]
pub struct SizedNest<'a> {
    /// The nest, which may have symbols.
    pub nest: &'a Arc<LoopNest>,
    /// The iteration shape.
    pub shape: SmallVec<[usize; 4]>,
    sizes: Sizes<'a>,
    /// Precomputed coalesced axes, valid for [`NestStrides::Dense`].
    dense_nest: Option<&'a DenseNest>,
    /// The cached result of [`SizedNest::bytes_moved`].
    bytes_moved: OnceCell<usize>,
}

impl<'a> SizedNest<'a> {
    /// A concrete nest.
    ///
    /// # Panics
    /// If the nest has a symbol.
    pub fn with_own_sizes(nest: &'a Arc<LoopNest>) -> Self {
        SizedNest::new(nest, Sizes::default())
    }

    /// The nest with these sizes of its symbols.
    ///
    /// # Panics
    /// If a symbol has no size.
    pub fn new(nest: &'a Arc<LoopNest>, sizes: Sizes<'a>) -> Self {
        let mut shape = SmallVec::new();
        // Axes are few, so a push for each is faster than `collect`.
        nest.shape.iter().for_each(|&size| shape.push(sizes.resolve(size)));
        SizedNest { nest, shape, sizes, dense_nest: None, bytes_moved: OnceCell::new() }
    }

    /// The sizes of the symbols.
    pub fn sizes(&self) -> Sizes<'a> {
        self.sizes
    }

    /// Adds precomputed coalesced axes for dense arrays.
    #[must_use]
    pub fn with_dense_nest(self, dense_nest: Option<&'a DenseNest>) -> Self {
        SizedNest { dense_nest, ..self }
    }

    /// The concrete nest; shared if the nest has no symbols.
    pub fn to_nest(&self) -> Arc<LoopNest> {
        Resizer { sizes: self.sizes, memo: SmallVec::new() }.nest(self.nest)
    }

    /// The number of points.
    pub fn points(&self) -> usize {
        self.shape.iter().fold(1usize, |product, &size| product.saturating_mul(size))
    }

    /// The points of a tile, if the nest is cut into this number of equal tiles.
    pub fn points_per(&self, tiles: usize) -> usize {
        self.points().div_ceil(tiles.max(1))
    }

    /// The size of the reduced axis; 0 if the nest has none.
    pub fn length(&self) -> usize {
        self.nest.reduced.map_or(0, |axis| self.shape[axis])
    }

    /// The bytes of the array of an access; saturates.
    pub fn array_bytes(&self, access: &Access) -> usize {
        self.sizes.array_bytes(&access.array_type)
    }

    /// The number of lines along an axis of the nest, which is the product of all other sizes; saturates.
    pub fn lines(&self, axis: usize) -> usize {
        let others = self.shape.iter().enumerate().filter(|&(other, _)| other != axis);
        others.fold(1, |lines: usize, (_, &size)| lines.saturating_mul(size))
    }

    /// The bytes of an array that the nest accesses, each byte counted once. Counts the whole table of a
    /// gather along the gathered axis.
    pub fn accessed_bytes(&self, access: &Access) -> usize {
        let mut bytes = access.array_type.dtype.size();
        for (index, &size) in access.axes.iter().zip(access.array_type.shape.iter()) {
            let whole = self.sizes.resolve(size);
            let of_axis = |axis: usize| self.shape.get(axis).copied().unwrap_or(whole);
            bytes = bytes.saturating_mul(match index.terms[..] {
                [] => whole.min(1),
                [term] => of_axis(term.axis),
                // Windows that overlap read an element several times.
                ref terms => {
                    let points = terms.iter().map(|term| of_axis(term.axis));
                    points.fold(1, usize::saturating_mul).min(whole)
                }
            });
        }
        bytes
    }

    /// The bytes of all arrays read and written. A broadcast operand counts once; the table of a gather
    /// counts at most one element per point.
    pub fn bytes_moved(&self) -> usize {
        *self.bytes_moved.get_or_init(|| {
            if let Some(dense) = self.dense_nest {
                return dense.bytes(&self.shape);
            }
            let points = self.points();
            let moved = |operand: &Access| {
                let at_most = points.saturating_mul(operand.array_type.dtype.size());
                self.accessed_bytes(operand).min(at_most)
            };
            self.nest.operands().map(moved).fold(0, usize::saturating_add)
        })
    }

    /// The strides of an array's own axes in bytes, if it is dense.
    pub fn dense_array_strides(&self, access: &Access) -> AxisStrides {
        let mut strides = zero_strides(access.axes.len());
        self.for_each_dense(access, |axis, stride| strides[axis] = stride);
        strides
    }

    /// The strides of an operand along the axes of the nest in bytes, if its array is dense.
    pub fn dense_strides(&self, access: &Access) -> AxisStrides {
        let mut strides = zero_strides(self.shape.len());
        self.for_each_dense(access, |axis, stride| {
            for walked in &access.axes[axis].terms {
                // The product exceeds the address space only for an array that is not accessed.
                let along = stride.wrapping_mul(walked.step);
                match strides.get_mut(walked.axis) {
                    Some(stride) => *stride += along,
                    None => {
                        strides.resize(walked.axis, 0);
                        strides.push(along);
                    }
                }
            }
        });
        strides
    }

    /// The strides of each operand along the axes of the nest, in bytes.
    pub fn list_strides<'s>(&self, strides: NestStrides<'s>) -> Cow<'s, [AxisStrides]> {
        match strides {
            NestStrides::Explicit(strides) => Cow::Borrowed(strides),
            NestStrides::Dense => self.nest.operands().map(|of| self.dense_strides(of)).collect(),
        }
    }

    /// The axes, coalesced over all operands; `None` for an empty iteration space.
    pub fn coalesced(&self, strides: NestStrides<'_>) -> Option<CoalescedAxes> {
        match (strides, self.dense_nest) {
            (NestStrides::Dense, Some(dense)) => Some(dense.coalesced(&self.shape)),
            _ => coalesce(&self.shape, &self.list_strides(strides)),
        }
    }

    /// The kept axes, coalesced, and the reduced axis; `None` for an empty result.
    pub fn reduced_axes(&self, reduced: usize, strides: NestStrides<'_>) -> Option<ReducedAxes> {
        let length = self.shape[reduced];
        if let (NestStrides::Dense, Some(dense)) = (strides, self.dense_nest) {
            let (kept, reduced_strides) =
                (dense.coalesced(&self.shape), dense.reduced_strides(&self.shape));
            return Some(ReducedAxes { kept, reduced_strides, length, main: dense.main });
        }
        let strides = &self.list_strides(strides);
        let has_all = |operand: usize| {
            let mut axes = self.shape.iter().zip(&strides[operand]);
            axes.all(|(&size, &stride)| size == 1 || stride != 0)
        };
        let main = main_access(self.nest, has_all).unwrap_or_else(|| self.largest_access());
        ReducedAxes::new(&self.shape, reduced, strides, main)
    }

    /// The operand of the largest access; the first of several.
    fn largest_access(&self) -> usize {
        let accesses = self.nest.accesses.iter().enumerate();
        let bytes =
            |(index, access): &(usize, &Access)| (self.array_bytes(access), Reverse(*index));
        accesses.max_by_key(bytes).map_or(0, |(index, _)| self.nest.stores.len() + index)
    }

    /// Calls `each` with every axis of an array and its stride, if the array is dense.
    fn for_each_dense(&self, access: &Access, mut each: impl FnMut(usize, isize)) {
        let shape = &access.array_type.shape;
        let is_empty = shape.contains(&Size::Known(0));
        let mut stride = if is_empty { 0 } else { access.array_type.dtype.size() as isize };
        for (axis, &size) in shape.iter().enumerate().rev() {
            each(axis, stride);
            // No stride depends on the size of the first axis.
            if axis > 0 {
                // Only a shape that no array in memory can have saturates.
                let size = isize::try_from(self.sizes.resolve(size)).unwrap_or(isize::MAX);
                stride = stride.saturating_mul(size);
            }
        }
    }
}

impl LoopNests {
    /// The concrete nests with these sizes of the symbols.
    #[must_use]
    pub fn resized(&self, sizes: Sizes<'_>) -> LoopNests {
        let mut resizer = Resizer { sizes, memo: SmallVec::new() };
        let counters = self.counters.iter().map(|&(dtype, length)| (dtype, resizer.size(length)));
        let counters = counters.collect();
        LoopNests {
            counters,
            parameters: resizer.types(&self.parameters).collect(),
            outputs: resizer.types(&self.outputs).collect(),
            constants: self.constants.clone(),
            temporaries: resizer.types(&self.temporaries).collect(),
            nests: self.nests.iter().map(|nest| resizer.nest(nest)).collect(),
            checks: self.checks.iter().map(|check| resizer.check(check)).collect(),
            controls: self.controls.clone(),
        }
    }

    /// The types of the inputs and of the outputs with these sizes of the symbols.
    pub fn resized_types<T: FromIterator<ArrayType>>(&self, sizes: Sizes<'_>) -> [T; 2] {
        let mut memo: SmallVec<[(&SymbolicShape, Shape); MAX_MEMO_SHAPES]> = SmallVec::new();
        [&self.parameters, &self.outputs].map(|types| {
            let resized = types.iter().map(|of| {
                let found = memo.iter().find(|(shape, _)| is_equal(shape, &of.shape));
                let shape = found.map(|(_, resized)| resized.clone()).unwrap_or_else(|| {
                    let resized = of.shape.resolve(sizes.0);
                    if memo.len() < MAX_MEMO_SHAPES {
                        memo.push((&of.shape, resized.clone()));
                    }
                    resized
                });
                ArrayType { dtype: of.dtype, shape }
            });
            resized.collect()
        })
    }
}

/// Maximum number of memoised shapes: the arrays of a program share few shapes.
const MAX_MEMO_SHAPES: usize = 8;

/// Replaces the symbols of nests by numbers.
struct Resizer<'a> {
    sizes: Sizes<'a>,
    /// Memoised shapes, each with its resized shape.
    memo: SmallVec<[(&'a SymbolicShape, SymbolicShape); MAX_MEMO_SHAPES]>,
}

impl<'a> Resizer<'a> {
    fn size(&self, size: Size) -> Size {
        Size::Known(self.sizes.resolve(size))
    }

    fn shape(&mut self, shape: &'a SymbolicShape) -> SymbolicShape {
        if let Some((_, resized)) = self.memo.iter().find(|(memo, _)| is_equal(memo, shape)) {
            return resized.clone();
        }
        let resized = match shape.has_symbols() {
            true => shape.iter().map(|&size| self.size(size)).collect(),
            false => shape.clone(),
        };
        if self.memo.len() < MAX_MEMO_SHAPES {
            self.memo.push((shape, resized.clone()));
        }
        resized
    }

    fn array_type(&mut self, array_type: &'a SymbolicType) -> SymbolicType {
        SymbolicType { dtype: array_type.dtype, shape: self.shape(&array_type.shape) }
    }

    fn types(&mut self, types: &'a [SymbolicType]) -> impl Iterator<Item = SymbolicType> {
        types.iter().map(|of| self.array_type(of))
    }

    fn access(&mut self, access: &'a Access) -> Access {
        let array_type = self.array_type(&access.array_type);
        let is_concrete = access.offset_symbols().next().is_none();
        let index = |of: &AxisIndex| AxisIndex {
            start: of.first(self.sizes),
            size_terms: None,
            terms: of.terms.clone(),
        };
        let axes = match is_concrete {
            true => Arc::clone(&access.axes),
            false => access.axes.iter().map(index).collect(),
        };
        Access { buffer: access.buffer, array_type, axes }
    }

    /// The resized nest; the same allocation if nothing changes.
    fn nest(&mut self, nest: &'a Arc<LoopNest>) -> Arc<LoopNest> {
        if !nest.has_symbols() {
            return Arc::clone(nest);
        }
        Arc::new(LoopNest {
            shape: self.shape(&nest.shape),
            reduced: nest.reduced,
            accesses: nest.accesses.iter().map(|of| self.access(of)).collect(),
            instructions: Arc::clone(&nest.instructions),
            stores: nest.stores.iter().map(|of| self.store(of)).collect(),
        })
    }

    fn store(&mut self, store: &'a Store) -> Store {
        let Store { source, reduction, ref target } = *store;
        Store { source, reduction, target: self.access(target) }
    }

    fn check(&mut self, check: &'a IndexCheck) -> IndexCheck {
        IndexCheck {
            access: self.access(&check.access),
            shape: self.shape(&check.shape),
            size: check.size,
            nest: check.nest,
            name: check.name.clone(),
            axis: check.axis,
        }
    }
}

impl LoopNest {
    /// Whether some size is a symbol.
    fn has_symbols(&self) -> bool {
        let has_symbols =
            |of: &Access| of.array_type.shape.has_symbols() || of.offset_symbols().next().is_some();
        self.shape.has_symbols() || self.operands().any(has_symbols)
    }
}

/// Equality without the `memcmp` call of `==`, which is slower for a few sizes.
fn is_equal(shape: &SymbolicShape, other: &SymbolicShape) -> bool {
    shape.rank() == other.rank() && shape.iter().zip(other.iter()).all(|(size, of)| size == of)
}
