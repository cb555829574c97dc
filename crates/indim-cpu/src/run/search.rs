//! Searches in sorted tables: nests that find the position of each value. No executor compiles them. Holds
//! unsafe code.
//!
//! The calling thread writes the keys of the table to shared memory. A tile is a range of values. Sixteen
//! values are searched together, so that their cache misses overlap. The steps are those of
//! `indim_ops::search_sorted`, so the positions are the same even if the table is not sorted.

use core::fmt;
use core::ops::{ControlFlow, Range};
use std::sync::Arc;

use indim_executors::{Bases, BoundNest, KernelFallback, NestCode, StepProgress, TileProgress};
use indim_kernels::{SortElement, SortKey, for_sort_element};
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, Local, LoopNest, StandaloneInstruction};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::coalesce::{CoalescedAxes, coalesce_some};
use indim_ops::{DType, SearchSide, bf16, c64, c128, f16};

/// A search for arrays of any sizes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableSearch {
    side: SearchSide,
    dtype: DType,
    /// Number of stores, which are the first operands of the nest.
    stores: usize,
    /// Operands of the nest: the table and the values.
    table: usize,
    values: usize,
    /// Rank of the values.
    rank: usize,
}

/// Values of a tile.
const TILE_ELEMENTS: usize = 1 << 14;

/// Values that are searched together.
const SEARCH_LANES: usize = 16;

/// Cost of a search, in bytes moved in the same time: about 20 nanoseconds.
const BYTES_PER_SEARCH: usize = 200;

impl TableSearch {
    /// Returns `None` for a nest that is not a search.
    pub(crate) fn compile(nest: &LoopNest) -> Option<Arc<dyn NestCode>> {
        let (StandaloneInstruction::SearchSorted { side }, instruction) =
            nest.standalone_instruction()?
        else {
            return None;
        };
        let [Local::Access(table), Local::Access(values)] = instruction.operands[..] else {
            return None;
        };
        let stores = nest.stores.len();
        Some(Arc::new(TableSearch {
            side,
            dtype: instruction.operand_dtype,
            stores,
            table: stores + table,
            values: stores + values,
            rank: nest.stores[0].target.axes.len(),
        }))
    }
}

impl NestCode for TableSearch {
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
        let axes = coalesce_some(0, 0..self.rank, shape, &strides)?;
        Some(Arc::new(BoundSearch {
            search: *self,
            length: shape[self.rank],
            table_stride: strides[self.table][self.rank],
            count: axes.sizes.iter().product(),
            axes,
        }))
    }

    fn cost(&self) -> usize {
        BYTES_PER_SEARCH
    }

    fn thread_bytes(&self, _: &SizedNest<'_>) -> usize {
        0
    }

    fn shared_bytes(&self, nest: &SizedNest<'_>) -> usize {
        nest.shape[self.rank].saturating_mul(self.dtype.size())
    }

    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result {
        let [table, values] = [self.table, self.values]
            .map(|operand| describe(&nest.accesses[operand - self.stores]));
        for store in &nest.stores {
            let target = describe(&store.target);
            writeln!(formatter, "search {values} in {table}, {} -> {target}", self.side)?;
        }
        Ok(())
    }

    fn fallback(&self) -> KernelFallback {
        KernelFallback::SearchSorted
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<TableSearch>(1);
    }
}

/// A search bound to sizes and strides.
#[derive(Debug)]
struct BoundSearch {
    search: TableSearch,
    /// Number of elements of the table.
    length: usize,
    /// Stride of the table in bytes.
    table_stride: isize,
    /// The axes of the values and of the stores.
    axes: CoalescedAxes,
    /// Number of values.
    count: usize,
}

impl BoundSearch {
    /// Writes the keys of the table to shared memory.
    ///
    /// # Safety
    /// The obligations of [`BoundNest::prepare`]; the table has elements of type `T`.
    unsafe fn write_keys<T: SortElement>(
        &self,
        bases: &Bases<'_>,
        steps: &mut StepProgress<'_>,
    ) -> ControlFlow<()> {
        let (table, keys) = (bases.operands[self.search.table], bases.shared.cast::<T::SortKey>());
        for index in 0..self.length {
            let from = table.wrapping_offset(self.table_stride.wrapping_mul(index as isize));
            // SAFETY:
            // - the caller ensures that the table is readable;
            // - a key has the size of an element, so the shared memory has room for all of them; only this
            //   nest accesses it.
            unsafe {
                keys.add(index).write_unaligned(T::key(from.cast::<T::Storage>().read_unaligned()));
            }
            steps.advance(1)?;
        }
        ControlFlow::Continue(())
    }

    /// Searches the values of a range.
    ///
    /// # Safety
    /// The obligations of [`BoundNest::run`] for these values, which have type `T`.
    unsafe fn search<T: SortElement>(&self, bases: &Bases<'_>, range: Range<usize>) {
        let keys = bases.shared.cast_const().cast::<T::SortKey>();
        let run_length = self.axes.sizes.last().copied().unwrap_or(1);
        let mut next = range.start;
        while next < range.end {
            let within = next % run_length;
            let lanes = (run_length - within).min(range.end - next).min(SEARCH_LANES);
            let address = |operand: usize, lane: usize| {
                let stride = self.axes.strides_of(operand).last().copied().unwrap_or(0);
                let offset = self.axes.offsets[operand] + self.offset(operand, next / run_length);
                let along = stride.wrapping_mul((within + lane) as isize);
                bases.operands[operand].wrapping_offset(offset).wrapping_offset(along)
            };
            let mut values = [T::SortKey::default(); SEARCH_LANES];
            for (lane, value) in values[..lanes].iter_mut().enumerate() {
                let from = address(self.search.values, lane).cast::<T::Storage>();
                // SAFETY: the caller ensures that each value is readable.
                *value = T::key(unsafe { from.read_unaligned() });
            }
            // SAFETY: `prepare` has written `length` keys to the shared memory.
            let positions = unsafe {
                match self.search.side {
                    SearchSide::Left => positions::<_, false>(keys, self.length, &values),
                    SearchSide::Right => positions::<_, true>(keys, self.length, &values),
                }
            };
            for store in 0..self.search.stores {
                for (lane, &position) in positions[..lanes].iter().enumerate() {
                    let to = address(store, lane).cast::<i64>();
                    // SAFETY: the caller ensures that each element of the stores is writable.
                    unsafe { to.write_unaligned(position as i64) }
                }
            }
            next += lanes;
        }
    }

    /// Offset of the first value of a run along the last axis, in bytes.
    fn offset(&self, operand: usize, mut run: usize) -> isize {
        let (sizes, strides) = (&self.axes.sizes, self.axes.strides_of(operand));
        let outer = sizes.len().saturating_sub(1);
        let mut offset = 0;
        for (&size, &stride) in sizes[..outer].iter().zip(strides).rev() {
            offset += (run % size) as isize * stride;
            run /= size;
        }
        offset
    }
}

/// The position of each value, by the steps of `indim_ops::search_sorted`: after equal keys with
/// `AFTER_EQUAL`. The element types of one width share this code.
///
/// # Safety
/// `keys` are `length` readable keys.
#[inline(never)]
unsafe fn positions<K: SortKey, const AFTER_EQUAL: bool>(
    keys: *const K,
    length: usize,
    values: &[K; SEARCH_LANES],
) -> [usize; SEARCH_LANES] {
    let is_before = |key: K, value: K| if AFTER_EQUAL { key <= value } else { key < value };
    let mut first = [0; SEARCH_LANES];
    let mut count = length;
    // SAFETY: a range of `count` keys from `first` on lies within the table: both begin as the whole table,
    // `first` grows by `half` only if `count` falls by as much, and `half` is at most `count`.
    let key = |index: usize| unsafe { keys.add(index).read_unaligned() };
    while count > 1 {
        let half = count / 2;
        for (first, &value) in first.iter_mut().zip(values) {
            *first += usize::from(is_before(key(*first + half - 1), value)) * half;
        }
        count -= half;
    }
    if length > 0 {
        for (first, &value) in first.iter_mut().zip(values) {
            *first += usize::from(is_before(key(*first), value));
        }
    }
    first
}

impl BoundNest for BoundSearch {
    fn tiles(&self) -> usize {
        self.count.div_ceil(TILE_ELEMENTS)
    }

    fn tile_elements(&self) -> usize {
        TILE_ELEMENTS
    }

    unsafe fn prepare(&self, bases: &Bases<'_>, progress: &TileProgress<'_>) -> ControlFlow<()> {
        let steps = &mut StepProgress::new(progress, 0, 1);
        // SAFETY: the caller has the same obligations; the table has elements of this type.
        unsafe { for_sort_element!(self.search.dtype, self.write_keys(bases, steps)) }
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        let values = tiles.start * TILE_ELEMENTS..(tiles.end * TILE_ELEMENTS).min(self.count);
        // SAFETY: the caller has the same obligations for the values of `tiles`, which have this type.
        unsafe { for_sort_element!(self.search.dtype, self.search(bases, values)) }
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<BoundSearch>(1);
    }
}
