//! Gathers: copies of elements or rows of a table, selected by indices, to a dense block. Holds unsafe code.
//!
//! Every index is clamped or wrapped into the axis, so a gather reads only the table. If the mode makes an
//! index out of range an error, `run/indices.rs` of `indim-cpu` has reported it before the run.
//!
//! The loops over a tile have strides for the table and for the indices. An innermost loop with a constant
//! index is a row: it is copied as one run, or read in place if it is the whole tile.

use indim_graph::{ScatterMode, TakeMode};
use indim_loops::MemoryUse;
use indim_loops::strides::coalesce::CoalescedAxes;
use indim_ops::DType;
use indim_ops::Level;
use smallvec::SmallVec;

/// A gather of elements of one table by indices of one type.
#[derive(Debug, Clone, Copy)]
pub struct Gather {
    resolve: ResolveFn,
    /// Size of the indexed axis; 0 only in a scatter that drops updates.
    size: usize,
    /// Bytes of an index, and of an element.
    index_size: usize,
    element_size: usize,
}

/// Number of indices that are resolved at a time: the indices and the resolved indices stay in L1.
const INDEX_CHUNK: usize = 256;

/// Resolves one index for each of `resolved`: clamps or wraps it to 0 .. `size`, which is not 0. The function
/// for a scatter that drops updates instead resolves an index out of range to `size`, which may be 0. The
/// indices are `stride` bytes apart.
///
/// # Safety
/// - `indices` plus each of `resolved.len()` multiples of `stride` is valid for reads of an index;
/// - the processor has the level of the function.
type ResolveFn = unsafe fn(resolved: &mut [usize], indices: *const u8, stride: isize, size: usize);

/// Strides of a gather along one loop, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GatherStrides {
    /// Stride of the table if the index stays the same.
    pub(crate) table: isize,
    /// Stride of the indices.
    pub(crate) index: isize,
}

/// One loop over a tile.
#[derive(Debug, Clone, Copy)]
struct LoopLevel {
    count: usize,
    strides: GatherStrides,
}

/// A loop of one iteration.
const SINGLE_ITERATION: LoopLevel =
    LoopLevel { count: 1, strides: GatherStrides { table: 0, index: 0 } };

/// The loops of one gather over a tile, and the stride of the indexed axis.
#[derive(Debug, Clone)]
pub(crate) struct GatherWalk {
    /// Outermost first. The count of the first level is multiplied by the steps of the tile.
    levels: SmallVec<[LoopLevel; 2]>,
    /// Stride of the indexed axis, in bytes.
    stride: isize,
}

impl GatherWalk {
    /// The loops over tiles with `step_elements` elements in each step. `strides` returns the strides along
    /// an axis, `stride` is that of the indexed axis.
    pub(crate) fn new(
        axes: &CoalescedAxes,
        step_elements: usize,
        strides: impl Fn(usize) -> GatherStrides,
        stride: isize,
    ) -> GatherWalk {
        let (mut inner_from, mut elements) = (axes.sizes.len(), 1);
        while elements < step_elements {
            inner_from -= 1;
            elements *= axes.sizes[inner_from];
        }
        let mut levels: SmallVec<[LoopLevel; 2]> = SmallVec::new();
        let step = inner_from.checked_sub(1);
        levels.extend(step.map(|axis| LoopLevel { count: 1, strides: strides(axis) }));
        for axis in inner_from..axes.sizes.len() {
            push_merged(&mut levels, LoopLevel { count: axes.sizes[axis], strides: strides(axis) });
        }
        if levels.is_empty() {
            levels.push(SINGLE_ITERATION);
        }
        GatherWalk { levels, stride }
    }

    /// Whether each tile is one dense row of the table. Elements have `element_size` bytes.
    pub(crate) fn is_one_dense_row(&self, element_size: usize) -> bool {
        let dense = GatherStrides { table: element_size as isize, index: 0 };
        matches!(self.levels[..], [LoopLevel { strides, .. }] if strides == dense)
    }

    /// Counts the memory of the loops.
    pub(crate) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_small_vec(&self.levels);
    }
}

/// Appends an inner level. It is merged with the level around it if one stride walks both.
fn push_merged(levels: &mut SmallVec<[LoopLevel; 2]>, level: LoopLevel) {
    let continues =
        |outer: isize, inner: isize| inner.checked_mul(level.count as isize) == Some(outer);
    match levels.last_mut() {
        Some(LoopLevel { count, strides })
            if continues(strides.table, level.strides.table)
                && continues(strides.index, level.strides.index) =>
        {
            *count *= level.count;
            *strides = level.strides;
        }
        _ => levels.push(level),
    }
}

/// The addresses of a gather.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GatherOperands {
    pub(crate) destination: *mut u8,
    /// The first element of the table, at index 0.
    pub(crate) table: *const u8,
    pub(crate) indices: *const u8,
}

impl GatherOperands {
    /// The addresses in iteration `number` of a loop whose iterations each write `bytes` bytes.
    fn at(self, number: usize, strides: GatherStrides, bytes: usize) -> GatherOperands {
        GatherOperands {
            destination: self.destination.wrapping_add(number * bytes),
            table: self.table.wrapping_offset(number as isize * strides.table),
            indices: self.indices.wrapping_offset(number as isize * strides.index),
        }
    }
}

impl Gather {
    /// A gather of elements of type `element` by indices of the integer type `index`; `size` is not 0.
    pub fn new(mode: TakeMode, index: DType, element: DType, size: usize, level: Level) -> Gather {
        let resolve = resolve_function(Some(mode), index, level);
        Gather { resolve, size, index_size: index.size(), element_size: element.size() }
    }

    /// The indices of a scatter, resolved as in a gather; in [`ScatterMode::Drop`] an index out of range
    /// resolves to `size`.
    pub fn of_scatter(
        mode: ScatterMode,
        index: DType,
        element: DType,
        size: usize,
        level: Level,
    ) -> Gather {
        match mode {
            ScatterMode::Take(mode) => Gather::new(mode, index, element, size.max(1), level),
            ScatterMode::Drop => {
                let resolve = resolve_function(None, index, level);
                Gather { resolve, size, index_size: index.size(), element_size: element.size() }
            }
        }
    }

    /// Size of an index in bytes.
    pub(crate) fn index_size(&self) -> usize {
        self.index_size
    }

    /// Size of an element in bytes.
    pub(crate) fn element_size(&self) -> usize {
        self.element_size
    }

    /// Resolves indices; see `ResolveFn`.
    ///
    /// # Safety
    /// Like `ResolveFn`, for the level of the gather.
    pub unsafe fn resolve(&self, resolved: &mut [usize], indices: *const u8, stride: isize) {
        // SAFETY: the caller has the same obligations.
        unsafe { (self.resolve)(resolved, indices, stride, self.size) }
    }

    /// Address of the row for the first index, for tiles of one row.
    ///
    /// # Safety
    /// - `operands.indices` is valid for reads of an index;
    /// - the processor has the level of the gather.
    pub(crate) unsafe fn row(&self, walk: &GatherWalk, operands: GatherOperands) -> *const u8 {
        let mut index = [0];
        // SAFETY: the caller ensures one readable index and the level.
        unsafe { (self.resolve)(&mut index, operands.indices, 0, self.size) }
        operands.table.wrapping_offset(index[0] as isize * walk.stride)
    }

    /// Gathers the elements of a tile of `steps` steps.
    ///
    /// # Safety
    /// - `operands.indices` is valid for reads of an index in each iteration of the loops;
    /// - `operands.table` is valid for reads of an element in each iteration of the loops, at each index of
    ///   the axis;
    /// - `operands.destination` is valid for writes of one element per iteration;
    /// - the destination overlaps neither table nor indices;
    /// - the processor has the level of the gather.
    pub(crate) unsafe fn gather(&self, walk: &GatherWalk, steps: usize, operands: GatherOperands) {
        let [first, inner @ ..] = &walk.levels[..] else { return };
        let first = LoopLevel { count: first.count * steps, ..*first };
        // SAFETY: these are the loops of the walk over `steps` steps, for which the caller has the
        // obligations.
        unsafe { self.gather_levels(first, inner, walk.stride, operands) }
    }

    /// Gathers by the loop `first` around the loops `inner`.
    ///
    /// # Safety
    /// Like [`Gather::gather`], for these loops.
    unsafe fn gather_levels(
        &self,
        first: LoopLevel,
        inner: &[LoopLevel],
        stride: isize,
        operands: GatherOperands,
    ) {
        // The indices of a few elements of each row, such as colours of pixels, are the same for all rows.
        let repeated = match *inner {
            [rows] if rows.strides.index != 0 => Some((rows, SINGLE_ITERATION)),
            [rows, row] if row.strides.index == 0 => Some((rows, row)),
            _ => None,
        };
        let repeated =
            repeated.filter(|(rows, _)| first.strides.index == 0 && rows.count <= INDEX_CHUNK);
        if let Some((rows, row)) = repeated {
            // SAFETY: these are the caller's loops; the index is constant along the first and the last.
            return unsafe { self.gather_repeated(first, rows, row, stride, operands) };
        }
        // SAFETY: each call has a part of the caller's loops: all of them, or the inner loops of one
        // iteration of the first with the addresses of that iteration.
        unsafe {
            match *inner {
                [] if first.strides.index == 0 => {
                    self.gather_rows(SINGLE_ITERATION, first, stride, operands)
                }
                [] => self.gather_rows(first, SINGLE_ITERATION, stride, operands),
                [row] if row.strides.index == 0 => self.gather_rows(first, row, stride, operands),
                [next, ref inner @ ..] => {
                    let elements: usize = inner.iter().map(|level| level.count).product();
                    let bytes = next.count * elements * self.element_size;
                    for number in 0..first.count {
                        let operands = operands.at(number, first.strides, bytes);
                        self.gather_levels(next, inner, stride, operands);
                    }
                }
            }
        }
    }

    /// Gathers one row for each index, by the loop `rows` around the loop `row`.
    ///
    /// # Safety
    /// - the obligations of [`Gather::gather`], for these two loops;
    /// - the index is constant along `row`.
    unsafe fn gather_rows(
        &self,
        rows: LoopLevel,
        row: LoopLevel,
        stride: isize,
        operands: GatherOperands,
    ) {
        let mut resolved = [0; INDEX_CHUNK];
        let bytes = row.count * self.element_size;
        for first in (0..rows.count).step_by(INDEX_CHUNK) {
            let resolved = &mut resolved[..INDEX_CHUNK.min(rows.count - first)];
            let GatherOperands { destination, table, indices } =
                operands.at(first, rows.strides, bytes);
            let from = TableRows { table, rows: rows.strides.table, stride, row };
            // SAFETY:
            // - the caller ensures a readable index for each of `resolved`, and the level;
            // - `resolve` returns indices within the axis, at which the caller ensures readable rows;
            // - the caller ensures room for one row per index, which do not overlap the table.
            unsafe {
                (self.resolve)(resolved, indices, rows.strides.index, self.size);
                self.gather_resolved(destination, from, resolved);
            }
        }
    }

    /// Like [`Gather::gather_rows`] in each iteration of `first`. All iterations have the same indices, at
    /// most [`INDEX_CHUNK`], which are resolved once.
    ///
    /// # Safety
    /// - the obligations of [`Gather::gather`], for these three loops;
    /// - the index is constant along `first` and `row`.
    unsafe fn gather_repeated(
        &self,
        first: LoopLevel,
        rows: LoopLevel,
        row: LoopLevel,
        stride: isize,
        operands: GatherOperands,
    ) {
        let mut resolved = [0; INDEX_CHUNK];
        let resolved = &mut resolved[..rows.count];
        let bytes = rows.count * row.count * self.element_size;
        // SAFETY: as in `gather_rows`, for the rows of each iteration of `first`.
        unsafe {
            (self.resolve)(resolved, operands.indices, rows.strides.index, self.size);
            for number in 0..first.count {
                let GatherOperands { destination, table, .. } =
                    operands.at(number, first.strides, bytes);
                let from = TableRows { table, rows: rows.strides.table, stride, row };
                self.gather_resolved(destination, from, resolved);
            }
        }
    }

    /// Copies one row for each resolved index.
    ///
    /// # Safety
    /// Like [`gather_sized`], for elements of this gather.
    unsafe fn gather_resolved(&self, destination: *mut u8, from: TableRows, resolved: &[usize]) {
        // SAFETY: the caller has the same obligations, for elements of this size.
        unsafe {
            match self.element_size {
                1 => gather_sized::<u8>(destination, from, resolved),
                2 => gather_sized::<u16>(destination, from, resolved),
                4 => gather_sized::<u32>(destination, from, resolved),
                8 => gather_sized::<u64>(destination, from, resolved),
                _ => gather_sized::<u128>(destination, from, resolved),
            }
        }
    }
}

/// The rows of a table from which a loop gathers.
#[derive(Clone, Copy)]
struct TableRows {
    /// The row of the first iteration at index 0.
    table: *const u8,
    /// Stride between iterations if the index stays the same.
    rows: isize,
    /// Stride of the indexed axis.
    stride: isize,
    /// The loop over the elements of a row.
    row: LoopLevel,
}

impl TableRows {
    /// The row of iteration `number`, at `index` along the axis.
    #[inline(always)]
    fn at(self, number: usize, index: usize) -> *const u8 {
        self.table.wrapping_offset(number as isize * self.rows + index as isize * self.stride)
    }
}

/// Copies one row of elements as wide as `T` for each resolved index.
///
/// # Safety
/// - the row of each iteration, at its resolved index, is valid for reads;
/// - `destination` is valid for writes of `resolved.len()` rows;
/// - the rows do not overlap the destination.
unsafe fn gather_sized<T: Copy>(destination: *mut u8, from: TableRows, resolved: &[usize]) {
    let is_dense = from.row.strides.table == size_of::<T>() as isize;
    // Constant counts and strides compile to one load and one store for each row. SAFETY: the caller has the
    // same obligations; an arm with a constant has the count and strides of the rows.
    unsafe {
        match from.row.count {
            1 if from.rows == 0 && from.stride == size_of::<T>() as isize => {
                let dense = TableRows { rows: 0, stride: size_of::<T>() as isize, ..from };
                gather_dense_rows::<T, 1>(destination, dense, resolved);
            }
            1 => gather_dense_rows::<T, 1>(destination, from, resolved),
            2 if is_dense => gather_dense_rows::<T, 2>(destination, from, resolved),
            3 if is_dense => gather_dense_rows::<T, 3>(destination, from, resolved),
            4 if is_dense => gather_dense_rows::<T, 4>(destination, from, resolved),
            _ => gather_long_rows::<T>(destination, from, resolved),
        }
    }
}

/// Like [`gather_sized`], for dense rows of `COUNT` elements.
///
/// # Safety
/// - the obligations of [`gather_sized`];
/// - rows are dense and have `COUNT` elements.
#[inline(always)]
unsafe fn gather_dense_rows<T: Copy, const COUNT: usize>(
    destination: *mut u8,
    from: TableRows,
    resolved: &[usize],
) {
    let destination = destination.cast::<[T; COUNT]>();
    for (number, &index) in resolved.iter().enumerate() {
        let row = from.at(number, index).cast::<[T; COUNT]>();
        // SAFETY: the caller ensures a readable row at this index, and room for row `number`.
        unsafe { destination.wrapping_add(number).write_unaligned(row.read_unaligned()) }
    }
}

/// Like [`gather_sized`], for rows of any count and stride.
///
/// # Safety
/// Like [`gather_sized`].
unsafe fn gather_long_rows<T: Copy>(destination: *mut u8, from: TableRows, resolved: &[usize]) {
    let LoopLevel { count, strides: GatherStrides { table: stride, .. } } = from.row;
    for (number, &index) in resolved.iter().enumerate() {
        let row = from.at(number, index);
        let to = destination.cast::<T>().wrapping_add(number * count);
        // SAFETY: the caller ensures a readable row of `count` elements at this index, and room for row
        // `number`, which does not overlap it.
        unsafe {
            if stride == size_of::<T>() as isize {
                core::ptr::copy_nonoverlapping(row, to.cast(), count * size_of::<T>());
                continue;
            }
            for index in 0..count {
                let element = row.wrapping_offset(index as isize * stride).cast::<T>();
                to.wrapping_add(index).write_unaligned(element.read_unaligned());
            }
        }
    }
}

/// An integer type of indices.
trait IndexElement: Copy {
    /// The index clamped or wrapped to 0 .. `size`, which is not 0. With `TakeMode::Error` a negative index
    /// counts from the end, and an index out of range becomes some index of the axis.
    fn resolve(self, mode: TakeMode, size: usize) -> usize;

    /// The index, or `size` if it is out of range.
    fn resolve_or_drop(self, size: usize) -> usize;
}

macro_rules! index_elements {
    (signed: $($signed:ty)*; unsigned: $($unsigned:ty)*) => {
        $(impl IndexElement for $signed {
            #[inline(always)]
            fn resolve(self, mode: TakeMode, size: usize) -> usize {
                let (index, size) = (i64::from(self), size as i64);
                let clamped = match mode {
                    TakeMode::Error => index.wrapping_add((index >> 63) & size) as u64,
                    TakeMode::Clip => index.max(0) as u64,
                    // A division takes ten times as long as the rest.
                    TakeMode::Wrap if (index as u64) < size as u64 => index as u64,
                    TakeMode::Wrap => index.rem_euclid(size) as u64,
                };
                clamped.min(size as u64 - 1) as usize
            }

            #[inline(always)]
            fn resolve_or_drop(self, size: usize) -> usize {
                // A negative index is larger than any size.
                (i64::from(self) as u64).min(size as u64) as usize
            }
        })*
        $(impl IndexElement for $unsigned {
            #[inline(always)]
            fn resolve(self, mode: TakeMode, size: usize) -> usize {
                let (index, size) = (u64::from(self), size as u64);
                let clamped = match mode {
                    TakeMode::Wrap if index < size => index,
                    TakeMode::Wrap => index % size,
                    TakeMode::Error | TakeMode::Clip => index.min(size - 1),
                };
                clamped as usize
            }

            #[inline(always)]
            fn resolve_or_drop(self, size: usize) -> usize {
                u64::from(self).min(size as u64) as usize
            }
        })*
    };
}

index_elements! { signed: i8 i16 i32 i64; unsigned: u8 u16 u32 u64 }

/// The function that resolves indices under a mode; without a mode, indices out of range become the size.
fn resolve_function(mode: Option<TakeMode>, index: DType, level: Level) -> ResolveFn {
    match index {
        DType::I8 => resolve_function_of_mode::<i8>(mode, level),
        DType::I16 => resolve_function_of_mode::<i16>(mode, level),
        DType::I32 => resolve_function_of_mode::<i32>(mode, level),
        DType::I64 => resolve_function_of_mode::<i64>(mode, level),
        DType::U8 => resolve_function_of_mode::<u8>(mode, level),
        DType::U16 => resolve_function_of_mode::<u16>(mode, level),
        DType::U32 => resolve_function_of_mode::<u32>(mode, level),
        DType::U64 => resolve_function_of_mode::<u64>(mode, level),
        _ => unreachable!("invariant: indices are integers"),
    }
}

/// The function for a mode, which becomes a constant: its position in `TakeMode::ALL`, or [`DROP_MODE`].
fn resolve_function_of_mode<T: IndexElement>(mode: Option<TakeMode>, level: Level) -> ResolveFn {
    const { assert!(TakeMode::ALL.len() == 3) };
    match mode {
        Some(TakeMode::Error) => resolve_function_of_level::<T, 0>(level),
        Some(TakeMode::Clip) => resolve_function_of_level::<T, 1>(level),
        Some(TakeMode::Wrap) => resolve_function_of_level::<T, 2>(level),
        None => resolve_function_of_level::<T, DROP_MODE>(level),
    }
}

/// The number of the mode that drops updates, after those of `TakeMode`.
const DROP_MODE: usize = 3;

fn resolve_function_of_level<T: IndexElement, const MODE: usize>(level: Level) -> ResolveFn {
    #[cfg(target_arch = "x86_64")]
    if Level::avx2().is_some_and(|avx2| level >= avx2) {
        return resolve_avx2::<T, MODE>;
    }
    let _ = level;
    resolve_generic::<T, MODE>
}

/// # Safety
/// Like [`ResolveFn`], for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn resolve_avx2<T: IndexElement, const MODE: usize>(
    resolved: &mut [usize],
    indices: *const u8,
    stride: isize,
    size: usize,
) {
    // SAFETY: the caller ensures the readable indices; the generic code needs no instructions of a level.
    unsafe { resolve_generic::<T, MODE>(resolved, indices, stride, size) }
}

/// # Safety
/// Like [`ResolveFn`], for any level.
#[inline(always)]
unsafe fn resolve_generic<T: IndexElement, const MODE: usize>(
    resolved: &mut [usize],
    indices: *const u8,
    stride: isize,
    size: usize,
) {
    let write = |resolved: &mut [usize], stride: isize| {
        for (position, to) in resolved.iter_mut().enumerate() {
            let index = indices.wrapping_offset(position as isize * stride).cast::<T>();
            // SAFETY: `position` is below `resolved.len()`, so the caller ensures a readable index here.
            let index = unsafe { index.read_unaligned() };
            *to = match TakeMode::ALL.get(MODE) {
                Some(&mode) => index.resolve(mode, size),
                None => index.resolve_or_drop(size),
            };
        }
    };
    // A constant stride lets the compiler use vectors.
    match stride == size_of::<T>() as isize {
        true => write(resolved, size_of::<T>() as isize),
        false => write(resolved, stride),
    }
}
