//! Scatters: nests that add updates to elements selected by indices. No executor compiles them. Holds unsafe
//! code.
//!
//! One thread sorts the updates by target with a counting sort, which is stable. A tile is a range of
//! targets, and each target sums its updates in row-major order. So every number of threads gives the same
//! bits.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, InstructionKind, Local, LoopNest};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::coalesce::{CoalescedAxes, coalesce_some};
use indim_ops::Level;
use indim_ops::{DType, RunningSum, bf16, c64, c128, f16};

use indim_executors::Gather;
use indim_executors::{Bases, BoundNest, KernelFallback, NestCode};

/// A scatter for arrays of any sizes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scatter {
    /// The scattered axis, and the rank of the result.
    axis: usize,
    rank: usize,
    gather: Gather,
    dtype: DType,
    /// Number of stores, which are the first operands of the nest.
    stores: usize,
    /// Operands of the nest: the array to which updates are added, the indices, the updates.
    operand: usize,
    indices: usize,
    updates: usize,
}

/// Approximate elements of a tile: enough that the distribution of tiles costs little.
const TILE_ELEMENTS: usize = 4096;

/// Indices resolved at a time.
const INDICES: usize = 256;

/// Elements of a target that are summed together: enough for vectors, few enough to clear for each target. A
/// target of one element has one sum.
const MAX_SUMS: usize = 64;

impl Scatter {
    /// Returns `None` for a nest that is not a scatter.
    pub(crate) fn compile(nest: &LoopNest, level: Level) -> Option<Arc<dyn NestCode>> {
        let [instruction] = &nest.instructions[..] else { return None };
        let InstructionKind::ScatterAdd { axis, mode, size } = instruction.kind else {
            return None;
        };
        let [Local::Access(operand), Local::Access(indices), Local::Access(updates)] =
            instruction.operands[..]
        else {
            return None;
        };
        let index = nest.accesses[indices].array_type.dtype;
        let stores = nest.stores.len();
        Some(Arc::new(Scatter {
            axis,
            rank: nest.stores[0].target.axes.len(),
            gather: Gather::new(mode, index, instruction.dtype, size.max(1), level),
            dtype: instruction.dtype,
            stores,
            operand: stores + operand,
            indices: stores + indices,
            updates: stores + updates,
        }))
    }
}

impl NestCode for Scatter {
    fn bind(
        self: Arc<Self>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
        _: &[bool],
    ) -> Option<Arc<dyn BoundNest>> {
        let (strides, shape) = (nest.list_strides(strides), &nest.shape);
        if shape[..self.rank].contains(&0) {
            return None;
        }
        let outer = coalesce_some(0, 0..self.axis, shape, &strides)?;
        let inner = coalesce_some(0, self.axis + 1..self.rank, shape, &strides)?;
        let loops = (self.rank..shape.len()).map(|axis| IndexLoop {
            count: shape[axis],
            index: strides[self.indices][axis],
            update: strides[self.updates][axis],
        });
        let elements: usize = inner.sizes.iter().product();
        Some(Arc::new(BoundScatter {
            size: shape[self.axis],
            along: strides.iter().map(|strides| strides[self.axis]).collect(),
            rows: outer.sizes.iter().product::<usize>() * shape[self.axis],
            rows_per_tile: (TILE_ELEMENTS / elements).max(1),
            outer,
            inner,
            loops: loops.collect(),
            elements,
            scatter: *self,
        }))
    }

    fn cost(&self) -> usize {
        0
    }

    fn thread_bytes(&self, _: &SizedNest<'_>) -> usize {
        0
    }

    fn shared_bytes(&self, nest: &SizedNest<'_>) -> usize {
        let indices = nest.shape[self.rank..].iter().fold(1, |n: usize, &m| n.saturating_mul(m));
        let starts = nest.shape[self.axis].saturating_add(STARTS_BEYOND);
        indices.saturating_mul(3).saturating_add(starts).saturating_mul(size_of::<usize>())
    }

    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result {
        let [operand, indices, updates] = [self.operand, self.indices, self.updates]
            .map(|operand| describe(&nest.accesses[operand - self.stores]));
        writeln!(formatter, "sort {indices} by target")?;
        for store in &nest.stores {
            let target = describe(&store.target);
            writeln!(formatter, "  {operand} + {updates} of each target -> {target}")?;
        }
        Ok(())
    }

    fn fallback(&self) -> KernelFallback {
        KernelFallback::Scatter
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<Scatter>(1);
    }
}

/// A loop over an axis of the indices.
#[derive(Debug, Clone, Copy)]
struct IndexLoop {
    count: usize,
    /// Strides in bytes of the indices and of the updates.
    index: isize,
    update: isize,
}

/// A scatter bound to sizes and strides.
#[derive(Debug)]
struct BoundScatter {
    scatter: Scatter,
    /// Size of the scattered axis.
    size: usize,
    /// Stride in bytes of each operand along the scattered axis.
    along: Vec<isize>,
    /// The axes before and after the scattered axis.
    outer: CoalescedAxes,
    inner: CoalescedAxes,
    loops: Vec<IndexLoop>,
    /// Elements of a target: the product of the axes after the scattered axis.
    elements: usize,
    /// Number of targets over all outer indices.
    rows: usize,
    rows_per_tile: usize,
}

/// Entries of the list of starts in addition to one for each target: the end of the last target, and one for
/// the shift of the counting sort.
const STARTS_BEYOND: usize = 2;

/// The updates sorted by target, in shared memory.
#[derive(Clone, Copy)]
struct SortedUpdates {
    /// For each target the position of its first update; then the number of updates.
    starts: *mut usize,
    /// For each position the offset of its update from the first update, in bytes.
    updates: *mut isize,
}

/// An update before the sort. Each index is read once, because another process may write a mapped file
/// meanwhile.
#[derive(Clone, Copy)]
struct Update {
    /// Index along the scattered axis.
    target: usize,
    /// Offset of the update from the first update, in bytes.
    offset: isize,
}

impl BoundScatter {
    /// The lists of sorted updates in shared memory.
    fn sorted(&self, bases: &Bases<'_>) -> SortedUpdates {
        let starts = bases.shared.cast::<usize>();
        SortedUpdates { starts, updates: starts.wrapping_add(self.size + STARTS_BEYOND).cast() }
    }

    /// Number of indices.
    fn count(&self) -> usize {
        self.loops.iter().map(|level| level.count).product()
    }

    /// Calls `visit` with the update of each index, in row-major order.
    ///
    /// # Safety
    /// `indices` is valid for reads of an index at every point of the loops.
    unsafe fn for_each_index(&self, indices: *const u8, mut visit: impl FnMut(Update)) {
        const ONCE: IndexLoop = IndexLoop { count: 1, index: 0, update: 0 };
        let (inner, outer) = self.loops.split_last().unwrap_or((&ONCE, &[]));
        let mut targets = [0; INDICES];
        for number in 0..outer.iter().map(|level| level.count).product() {
            let index = unravelled(number, outer.iter().map(|level| (level.count, level.index)));
            let update = unravelled(number, outer.iter().map(|level| (level.count, level.update)));
            for first in (0..inner.count).step_by(INDICES) {
                let targets = &mut targets[..INDICES.min(inner.count - first)];
                let along = |stride: isize| stride * first as isize;
                let from = indices.wrapping_offset(index + along(inner.index));
                // SAFETY: the caller ensures readable indices at every point of the loops; these are points
                // `first..first + targets.len()` of the inner loop.
                unsafe { self.scatter.gather.resolve(targets, from, inner.index) }
                for (number, &target) in targets.iter().enumerate() {
                    let offset = update + inner.update * (first + number) as isize;
                    visit(Update { target, offset });
                }
            }
        }
    }

    /// Sums the updates of one target, `SUMS` elements at a time; `row` numbers the targets over all outer
    /// indices.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for the tile of the target;
    /// - `prepare` has sorted the updates.
    unsafe fn sum_row<T: RunningSum, const SUMS: usize>(&self, bases: &Bases<'_>, row: usize) {
        let (outer, target) = (row / self.size, row % self.size);
        let SortedUpdates { starts, updates } = self.sorted(bases);
        // SAFETY: `prepare` has written the start of each target, the end of the last one, and the offset of
        // each update; starts increase up to the number of updates.
        let updates = unsafe {
            let (first, end) = (*starts.add(target), *starts.add(target + 1));
            core::slice::from_raw_parts(updates.add(first), end - first)
        };
        let (axes, length) = match self.inner.sizes.split_last() {
            Some((&length, axes)) => (axes, length),
            None => (&[][..], 1),
        };
        for number in 0..axes.iter().product() {
            let run = |operand: usize| {
                let strides = self.inner.strides_of(operand);
                let of_outer = self
                    .outer
                    .sizes
                    .iter()
                    .copied()
                    .zip(self.outer.strides_of(operand).iter().copied());
                let of_inner = axes.iter().copied().zip(strides.iter().copied());
                let offset = self.outer.offsets[operand] + self.inner.offsets[operand];
                StridedRun {
                    first: bases.operands[operand].wrapping_offset(
                        offset
                            + target as isize * self.along[operand]
                            + unravelled(outer, of_outer)
                            + unravelled(number, of_inner),
                    ),
                    stride: strides.last().copied().unwrap_or(0),
                }
            };
            let (from, updated) = (run(self.scatter.operand), run(self.scatter.updates));
            for first in (0..length).step_by(SUMS) {
                let count = SUMS.min(length - first);
                let mut sums = [T::Sum::default(); SUMS];
                let sums = &mut sums[..count];
                // SAFETY:
                // - elements `first..first + count` of the target are valid in the operand and the stores,
                //   which the caller ensures;
                // - `update` is the offset of a point of the updates, and the caller ensures that those are
                //   readable.
                unsafe {
                    from.at(first).read::<T>(sums, |sum, element| *sum = element.begin());
                    for &update in updates {
                        let terms = updated.at(first).moved(update);
                        terms.read::<T>(sums, |sum, term| *sum = T::plus(*sum, term));
                    }
                    for store in 0..self.scatter.stores {
                        run(store).at(first).write::<T>(sums);
                    }
                }
            }
        }
    }

    /// Sums the updates of these targets.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for the tiles of the targets;
    /// - `prepare` has sorted the updates.
    unsafe fn sum_rows<T: RunningSum>(&self, bases: &Bases<'_>, rows: Range<usize>) {
        for row in rows {
            // SAFETY: the caller has the same obligations for each of `rows`.
            unsafe {
                match self.elements {
                    1 => self.sum_row::<T, 1>(bases, row),
                    _ => self.sum_row::<T, MAX_SUMS>(bases, row),
                }
            }
        }
    }
}

/// Offset of point `number` in row-major order, for axes of these sizes and strides.
fn unravelled(mut number: usize, axes: impl DoubleEndedIterator<Item = (usize, isize)>) -> isize {
    let mut offset = 0;
    for (size, stride) in axes.rev() {
        offset += (number % size) as isize * stride;
        number /= size;
    }
    offset
}

/// A run of elements at one stride, in bytes.
#[derive(Clone, Copy)]
struct StridedRun {
    first: *mut u8,
    stride: isize,
}

impl StridedRun {
    /// The run from element `number` on.
    fn at(self, number: usize) -> StridedRun {
        self.moved(self.stride * number as isize)
    }

    /// The run at an offset.
    fn moved(self, bytes: isize) -> StridedRun {
        StridedRun { first: self.first.wrapping_offset(bytes), ..self }
    }

    /// Calls `combine` with each sum and its element.
    ///
    /// # Safety
    /// One element for each sum is valid for reads.
    #[inline(always)]
    unsafe fn read<T: RunningSum>(self, sums: &mut [T::Sum], combine: impl Fn(&mut T::Sum, T)) {
        let each = |sums: &mut [T::Sum], stride: isize| {
            for (number, sum) in sums.iter_mut().enumerate() {
                let from = self.first.wrapping_offset(number as isize * stride).cast::<T>();
                // SAFETY: the caller ensures a readable element for each sum.
                combine(sum, unsafe { from.read_unaligned() });
            }
        };
        // A constant stride lets the compiler use vectors.
        match self.stride == size_of::<T>() as isize {
            true => each(sums, size_of::<T>() as isize),
            false => each(sums, self.stride),
        }
    }

    /// Writes the result of each sum.
    ///
    /// # Safety
    /// One element for each sum is valid for writes.
    unsafe fn write<T: RunningSum>(self, sums: &[T::Sum]) {
        for (number, &sum) in sums.iter().enumerate() {
            let to = self.first.wrapping_offset(number as isize * self.stride).cast::<T>();
            // SAFETY: the caller ensures a writable element for each sum.
            unsafe { to.write_unaligned(T::finish(sum)) }
        }
    }
}

impl BoundNest for BoundScatter {
    fn tiles(&self) -> usize {
        self.rows.div_ceil(self.rows_per_tile)
    }

    fn tile_elements(&self) -> usize {
        self.rows_per_tile * self.elements
    }

    unsafe fn prepare(&self, bases: &Bases<'_>) {
        let SortedUpdates { starts, updates } = self.sorted(bases);
        let unsorted = updates.wrapping_add(self.count()).cast::<Update>();
        let indices = bases.operands[self.scatter.indices].cast_const();
        // SAFETY:
        // - `shared_bytes` counts the starts and, for each index, a sorted and an unsorted update, which is
        //   two words;
        // - only this nest accesses the shared memory, and no tile runs before this function returns;
        // - `Gather` resolves each index to a target, so starts and updates stay within their lists;
        // - the caller ensures that all indices are readable.
        unsafe {
            starts.write_bytes(0, self.size + STARTS_BEYOND);
            let starts = core::slice::from_raw_parts_mut(starts, self.size + STARTS_BEYOND);
            let mut count = 0;
            self.for_each_index(indices, |update| {
                // Two entries ahead: the second pass advances each start to that of the next target.
                starts[update.target + STARTS_BEYOND] += 1;
                unsorted.add(count).write(update);
                count += 1;
            });
            for next in STARTS_BEYOND..starts.len() {
                starts[next] += starts[next - 1];
            }
            for &Update { target, offset } in core::slice::from_raw_parts(unsorted, count) {
                let number = &mut starts[target + 1];
                updates.add(*number).write(offset);
                *number += 1;
            }
        }
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        let rows =
            tiles.start * self.rows_per_tile..(tiles.end * self.rows_per_tile).min(self.rows);
        // SAFETY: `rows` are the targets of the caller's `tiles`, and `BoundNest::run` requires `prepare`.
        unsafe {
            match self.scatter.dtype {
                DType::I8 => self.sum_rows::<i8>(bases, rows),
                DType::I16 => self.sum_rows::<i16>(bases, rows),
                DType::I32 => self.sum_rows::<i32>(bases, rows),
                DType::I64 => self.sum_rows::<i64>(bases, rows),
                DType::U8 => self.sum_rows::<u8>(bases, rows),
                DType::U16 => self.sum_rows::<u16>(bases, rows),
                DType::U32 => self.sum_rows::<u32>(bases, rows),
                DType::U64 => self.sum_rows::<u64>(bases, rows),
                DType::F16 => self.sum_rows::<f16>(bases, rows),
                DType::Bf16 => self.sum_rows::<bf16>(bases, rows),
                DType::F32 => self.sum_rows::<f32>(bases, rows),
                DType::F64 => self.sum_rows::<f64>(bases, rows),
                DType::C64 => self.sum_rows::<c64>(bases, rows),
                DType::C128 => self.sum_rows::<c128>(bases, rows),
                DType::Bool => unreachable!("invariant: scatters take no `bool`"),
            }
        }
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<BoundScatter>(1);
        held.own::<isize>(self.along.capacity());
        held.own::<IndexLoop>(self.loops.capacity());
    }
}
