//! Coalesced axes of nests over whole dense arrays, computed once for all sizes.
//!
//! The stride of a dense operand along an axis is the element size times the sizes of the axes inside it.
//! Two axes merge if, for every operand, the axes inside the outer axis are the inner axis and the axes
//! inside the inner axis. This depends on the axes of the operands, not on the sizes.

use core::cmp::Reverse;

use indim_graph::Size;
use indim_shape::sort_few_by_key;
use smallvec::SmallVec;

use crate::loop_nest::{Access, LoopNest};
use crate::memory_use::MemoryUse;
use crate::strides::coalesce::CoalescedAxes;
use crate::strides::{AxisStrides, zero_strides};

/// A set of axes of a nest, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct AxisSet(u32);

impl AxisSet {
    fn with(self, axis: usize) -> AxisSet {
        AxisSet(self.0 | 1 << axis)
    }

    fn contains(self, axis: usize) -> bool {
        self.0 >> axis & 1 == 1
    }

    fn len(self) -> u32 {
        self.0.count_ones()
    }
}

/// A count of bytes or points, times the sizes of some axes.
#[derive(Debug, Clone, Copy)]
struct SizeProduct {
    count: usize,
    axes: AxisSet,
}

impl SizeProduct {
    /// The product for these sizes of axes; saturates.
    fn of(self, sizes: &[usize]) -> usize {
        let (mut product, mut rest) = (self.count, self.axes.0);
        while rest != 0 {
            product = product.saturating_mul(sizes[rest.trailing_zeros() as usize]);
            rest &= rest - 1;
        }
        product
    }

    /// Like [`SizeProduct::of`], for a stride.
    fn stride(self, sizes: &[usize]) -> isize {
        // Only a shape that no array in memory can have saturates.
        isize::try_from(self.of(sizes)).unwrap_or(isize::MAX)
    }
}

/// The axes of a nest in the memory order of a dense operand.
#[derive(Debug)]
struct DenseOperand {
    /// The bytes of an element.
    size: usize,
    /// The axes of the nest that the operand has.
    axes: AxisSet,
    /// For each axis of the nest, the axes inside it; `None` for a broadcast axis.
    inside: SmallVec<[Option<AxisSet>; 4]>,
}

impl DenseOperand {
    /// `None` if the nest does not traverse each axis of the array completely, element by element.
    fn new(access: &Access, sizes: &[Size]) -> Option<DenseOperand> {
        let mut inside = SmallVec::from_elem(None, sizes.len());
        let mut axes = AxisSet::default();
        let walked = access.axes.iter().zip(access.array_type.shape.iter());
        for (index, &size) in walked.rev().filter(|(_, size)| **size != Size::Known(1)) {
            let walked =
                index.single_term().filter(|walked| walked.step == 1 && index.starts_at_zero())?;
            if sizes.get(walked.axis) != Some(&size) || axes.contains(walked.axis) {
                return None;
            }
            inside[walked.axis] = Some(axes);
            axes = axes.with(walked.axis);
        }
        Some(DenseOperand { size: access.array_type.dtype.size(), axes, inside })
    }

    /// The stride in bytes along an axis of the nest.
    fn stride(&self, axis: usize) -> SizeProduct {
        match self.inside[axis] {
            Some(axes) => SizeProduct { count: self.size, axes },
            None => SizeProduct { count: 0, axes: AxisSet::default() },
        }
    }
}

/// The coalesced axes of a nest over whole dense arrays, for any sizes.
#[derive(Debug)]
pub struct DenseNest {
    /// The operand whose memory order determines the order of the axes.
    pub(crate) main: usize,
    /// The size of each merged axis, outermost first, without the reduced axis.
    merged: Vec<SizeProduct>,
    /// The strides in bytes along the merged axes: those of the first operand, then of the second, and so on.
    strides: Vec<SizeProduct>,
    /// The stride in bytes of each operand along the reduced axis, if any.
    reduced: Vec<SizeProduct>,
    /// The bytes of each operand.
    bytes: Vec<SizeProduct>,
}

/// The operand whose memory order determines the axis order of a nest with a reduced axis: among the accesses
/// that have all axes, the first with the largest elements.
pub(crate) fn main_access(nest: &LoopNest, has_all: impl Fn(usize) -> bool) -> Option<usize> {
    let size = |&operand: &usize| {
        let access = &nest.accesses[operand - nest.stores.len()];
        (access.array_type.dtype.size(), Reverse(operand))
    };
    let accesses = nest.stores.len()..nest.stores.len() + nest.accesses.len();
    accesses.filter(|&operand| has_all(operand)).max_by_key(size)
}

impl DenseNest {
    /// The coalesced axes of `nest`, valid for any sizes of its symbols. `None` if an array is not traversed
    /// completely, if no candidate for the main operand has all axes, if a size is 0, or if the nest has more
    /// than 32 axes.
    pub fn new(nest: &LoopNest) -> Option<DenseNest> {
        let sizes = nest.shape.sizes();
        if sizes.len() > u32::BITS as usize || sizes.contains(&Size::Known(0)) {
            return None;
        }
        let operands = nest.operands().map(|access| DenseOperand::new(access, sizes));
        let operands = operands.collect::<Option<Vec<DenseOperand>>>()?;
        let mut axes: Vec<usize> =
            (0..sizes.len()).filter(|&axis| sizes[axis] != Size::Known(1)).collect();
        let has_all = |operand: &DenseOperand| axes.iter().all(|&axis| operand.axes.contains(axis));
        let main = match nest.reduced {
            None => Some(0).filter(|_| operands.first().is_some_and(has_all)),
            Some(_) => main_access(nest, |operand| has_all(&operands[operand])),
        }?;
        axes.retain(|&axis| nest.reduced != Some(axis));
        sort_few_by_key(&mut axes, |&axis| Reverse(operands[main].inside[axis].map(AxisSet::len)));
        let mut merged: Vec<(AxisSet, usize)> = Vec::new();
        for axis in axes {
            let continues = |outer: usize| {
                operands.iter().all(|operand| {
                    operand.inside[outer] == operand.inside[axis].map(|inside| inside.with(axis))
                })
            };
            match merged.last_mut() {
                Some(last) if continues(last.1) => *last = (last.0.with(axis), axis),
                _ => merged.push((AxisSet::default().with(axis), axis)),
            }
        }
        let points = |&(axes, _): &(AxisSet, usize)| SizeProduct { count: 1, axes };
        let strides = |operand: &DenseOperand| -> Vec<SizeProduct> {
            merged.iter().map(|&(_, innermost)| operand.stride(innermost)).collect()
        };
        let strides_along = |axis| operands.iter().map(|operand| operand.stride(axis)).collect();
        let bytes =
            |operand: &DenseOperand| SizeProduct { count: operand.size, axes: operand.axes };
        Some(DenseNest {
            main,
            merged: merged.iter().map(points).collect(),
            strides: operands.iter().flat_map(strides).collect(),
            reduced: nest.reduced.map_or(Vec::new(), strides_along),
            bytes: operands.iter().map(bytes).collect(),
        })
    }

    /// The coalesced axes for these sizes, without the reduced axis.
    pub(crate) fn coalesced(&self, sizes: &[usize]) -> CoalescedAxes {
        let mut axes = CoalescedAxes::new(SmallVec::new(), zero_strides(self.bytes.len()));
        // Axes are few, so a push for each is faster than `collect`.
        self.merged.iter().for_each(|points| axes.sizes.push(points.of(sizes)));
        self.strides.iter().for_each(|stride| axes.strides.push(stride.stride(sizes)));
        axes
    }

    /// The stride of each operand along the reduced axis, for these sizes.
    pub(crate) fn reduced_strides(&self, sizes: &[usize]) -> AxisStrides {
        let mut strides = zero_strides(self.reduced.len());
        for (stride, product) in strides.iter_mut().zip(&self.reduced) {
            *stride = product.stride(sizes);
        }
        strides
    }

    /// The bytes of all arrays for these sizes.
    pub(crate) fn bytes(&self, sizes: &[usize]) -> usize {
        self.bytes.iter().fold(0, |bytes, of| bytes.saturating_add(of.of(sizes)))
    }

    /// Counts the memory of this structure.
    pub fn count_bytes(&self, memory_use: &mut MemoryUse) {
        let lists = [&self.merged, &self.strides, &self.reduced, &self.bytes];
        lists.iter().for_each(|list| memory_use.add_allocation::<SizeProduct>(list.capacity()));
    }
}
