//! Gathers: copies of a table's elements or rows by index to a dense block. Holds unsafe code.
//!
//! Every index is clamped or wrapped to an offset within the axis, so a gather reads only the table. Where
//! an index out of range is an error, `run/indices.rs` has found it before.
//!
//! The levels of a tile are joint runs of the table and of the indices. An innermost level with a constant
//! index is a row: it is copied as one piece, or read in place if it is the whole tile.

use indim_graph::TakeMode;
use indim_kernels::Level;
use indim_loops::MemoryUse;
use indim_loops::strides::coalesce::CoalescedAxes;
use indim_ops::DType;
use smallvec::SmallVec;

/// A gather of elements of one table by indices of one type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gather {
    places: PlacesFn,
    /// Size of the indexed axis.
    size: usize,
    /// Bytes of an index and of an element.
    index_size: usize,
    element_size: usize,
}

/// Indices resolved at a time: indices and offsets stay in L1.
const CHUNK: usize = 256;

/// Writes the offset along an axis of `size` elements of each index; indices are `stride` bytes apart.
///
/// # Safety
/// - each index, one for each offset, is valid for reads;
/// - the processor has the level of the function.
type PlacesFn = unsafe fn(places: &mut [usize], indices: *const u8, stride: isize, size: usize);

/// Strides of a gather along one loop, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GatherStrides {
    /// Stride of the table, at a constant index.
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

const ONCE: LoopLevel = LoopLevel { count: 1, strides: GatherStrides { table: 0, index: 0 } };

/// The loops of one gather over a tile, and the stride of the indexed axis.
#[derive(Debug, Clone)]
pub(crate) struct GatherWalk {
    /// Outermost first; the first level is repeated for each step of the tile.
    levels: SmallVec<[LoopLevel; 2]>,
    stride: isize,
}

impl GatherWalk {
    /// The loops over tiles of `step_elements` elements a step. `strides` are those along each axis,
    /// `stride` is that of the indexed axis.
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
            levels.push(ONCE);
        }
        GatherWalk { levels, stride }
    }

    /// Whether every tile is one dense row of the table, with elements of `element_size` bytes.
    pub(crate) fn is_one_dense_row(&self, element_size: usize) -> bool {
        let dense = GatherStrides { table: element_size as isize, index: 0 };
        matches!(self.levels[..], [LoopLevel { strides, .. }] if strides == dense)
    }

    /// Counts the memory of the loops.
    pub(crate) fn count_bytes(&self, held: &mut MemoryUse) {
        held.small(&self.levels);
    }
}

/// Appends an inner level, merged with the one outside it if both have one stride.
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
    /// The addresses of iteration `number` of a loop whose iterations write `bytes` bytes.
    fn at(self, number: usize, strides: GatherStrides, bytes: usize) -> GatherOperands {
        GatherOperands {
            destination: self.destination.wrapping_add(number * bytes),
            table: self.table.wrapping_offset(number as isize * strides.table),
            indices: self.indices.wrapping_offset(number as isize * strides.index),
        }
    }
}

impl Gather {
    /// A gather by indices of the integer type `index`, for elements of type `element`; `size` is not 0.
    pub(crate) fn new(
        mode: TakeMode,
        index: DType,
        element: DType,
        size: usize,
        level: Level,
    ) -> Gather {
        let places = places_function(mode, index, level);
        Gather { places, size, index_size: index.size(), element_size: element.size() }
    }

    /// Bytes of an index.
    pub(crate) fn index_size(&self) -> usize {
        self.index_size
    }

    /// Bytes of an element.
    pub(crate) fn element_size(&self) -> usize {
        self.element_size
    }

    /// Resolves indices, `stride` bytes apart, to offsets along the axis: one for each of `places`.
    ///
    /// # Safety
    /// The indices are valid for reads; the processor has the level of the gather.
    pub(crate) unsafe fn places(&self, places: &mut [usize], indices: *const u8, stride: isize) {
        // SAFETY: the caller vouches for the indices and the level.
        unsafe { (self.places)(places, indices, stride, self.size) }
    }

    /// Address of the row that the first index names, for tiles of one row.
    ///
    /// # Safety
    /// The index is valid for reads; the processor has the level of the gather.
    pub(crate) unsafe fn row(&self, walk: &GatherWalk, sides: GatherOperands) -> *const u8 {
        let mut place = [0];
        // SAFETY: the caller vouches for the index and the level.
        unsafe { (self.places)(&mut place, sides.indices, 0, self.size) }
        sides.table.wrapping_offset(place[0] as isize * walk.stride)
    }

    /// Gathers the elements of a tile of `steps` steps.
    ///
    /// # Safety
    /// - `indices`, at any iteration of the loops, is valid for reads of an index, and `destination` for
    ///   writes of all elements;
    /// - `table`, at any iteration of the loops and any offset along the axis, is valid for reads of an
    ///   element;
    /// - the table does not overlap the destination;
    /// - the processor has the level of the gather.
    pub(crate) unsafe fn take(&self, walk: &GatherWalk, steps: usize, sides: GatherOperands) {
        let [first, inner @ ..] = &walk.levels[..] else { return };
        let first = LoopLevel { count: first.count * steps, ..*first };
        // SAFETY: the caller vouches for all iterations of these loops.
        unsafe { self.take_levels(first, inner, walk.stride, sides) }
    }

    /// # Safety
    /// Like [`Gather::take`], for these loops.
    unsafe fn take_levels(
        &self,
        first: LoopLevel,
        inner: &[LoopLevel],
        stride: isize,
        sides: GatherOperands,
    ) {
        // SAFETY: the caller vouches for each iteration of the first loop, whose inner loops this call
        // runs.
        unsafe {
            match *inner {
                [] if first.strides.index == 0 => self.take_rows(ONCE, first, stride, sides),
                [] => self.take_rows(first, ONCE, stride, sides),
                [row] if row.strides.index == 0 => self.take_rows(first, row, stride, sides),
                [next, ref inner @ ..] => {
                    let elements: usize = inner.iter().map(|level| level.count).product();
                    let bytes = next.count * elements * self.element_size;
                    for number in 0..first.count {
                        let sides = sides.at(number, first.strides, bytes);
                        self.take_levels(next, inner, stride, sides);
                    }
                }
            }
        }
    }

    /// Gathers rows, one for each index.
    ///
    /// # Safety
    /// Like [`Gather::take`], for these two loops.
    unsafe fn take_rows(
        &self,
        rows: LoopLevel,
        row: LoopLevel,
        stride: isize,
        sides: GatherOperands,
    ) {
        let mut places = [0; CHUNK];
        let bytes = row.count * self.element_size;
        for first in (0..rows.count).step_by(CHUNK) {
            let places = &mut places[..CHUNK.min(rows.count - first)];
            let GatherOperands { destination, table, indices } =
                sides.at(first, rows.strides, bytes);
            let from = Rows { table, rows: rows.strides.table, stride, row };
            // SAFETY: the caller vouches for an index of each row, and for the elements at its offset.
            unsafe {
                (self.places)(places, indices, rows.strides.index, self.size);
                match self.element_size {
                    1 => pick::<u8>(destination, from, places),
                    2 => pick::<u16>(destination, from, places),
                    4 => pick::<u32>(destination, from, places),
                    8 => pick::<u64>(destination, from, places),
                    _ => pick::<u128>(destination, from, places),
                }
            }
        }
    }
}

/// Rows of a table.
#[derive(Clone, Copy)]
struct Rows {
    /// The first row, at index 0.
    table: *const u8,
    /// Stride between rows, at a constant index.
    rows: isize,
    /// Stride of the indexed axis.
    stride: isize,
    /// Elements of a row.
    row: LoopLevel,
}

impl Rows {
    /// Row `number`, at offset `place` along the axis.
    #[inline(always)]
    fn at(self, number: usize, place: usize) -> *const u8 {
        self.table.wrapping_offset(number as isize * self.rows + place as isize * self.stride)
    }
}

/// # Safety
/// The rows at these offsets are valid for reads, and `destination` for writes of as many rows.
unsafe fn pick<T: Copy>(destination: *mut u8, from: Rows, places: &[usize]) {
    let is_dense = from.row.strides.table == size_of::<T>() as isize;
    // SAFETY: the caller vouches for rows and destination. Constant counts and strides compile to one load
    // and one store for each element.
    unsafe {
        match from.row.count {
            1 if from.rows == 0 && from.stride == size_of::<T>() as isize => {
                let dense = Rows { rows: 0, stride: size_of::<T>() as isize, ..from };
                copy_rows::<T, 1>(destination, dense, places);
            }
            1 => copy_rows::<T, 1>(destination, from, places),
            2 if is_dense => copy_rows::<T, 2>(destination, from, places),
            3 if is_dense => copy_rows::<T, 3>(destination, from, places),
            4 if is_dense => copy_rows::<T, 4>(destination, from, places),
            _ => copy_long_rows::<T>(destination, from, places),
        }
    }
}

/// Copies dense rows of `COUNT` elements.
///
/// # Safety
/// Like [`pick`].
#[inline(always)]
unsafe fn copy_rows<T: Copy, const COUNT: usize>(
    destination: *mut u8,
    from: Rows,
    places: &[usize],
) {
    let destination = destination.cast::<[T; COUNT]>();
    for (number, &place) in places.iter().enumerate() {
        let row = from.at(number, place).cast::<[T; COUNT]>();
        // SAFETY: a row of the caller's table and the same row of its destination.
        unsafe { destination.wrapping_add(number).write_unaligned(row.read_unaligned()) }
    }
}

/// # Safety
/// Like [`pick`].
unsafe fn copy_long_rows<T: Copy>(destination: *mut u8, from: Rows, places: &[usize]) {
    let LoopLevel { count, strides: GatherStrides { table: stride, .. } } = from.row;
    for (number, &place) in places.iter().enumerate() {
        let row = from.at(number, place);
        let to = destination.cast::<T>().wrapping_add(number * count);
        // SAFETY: a row of the caller's table and the same row of its destination.
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
    /// The offset of the index along an axis of `size` elements, which is not 0; any offset within the axis
    /// for an index out of range.
    fn place(self, mode: TakeMode, size: usize) -> usize;
}

macro_rules! index_elements {
    (signed: $($signed:ty)*; unsigned: $($unsigned:ty)*) => {
        $(impl IndexElement for $signed {
            #[inline(always)]
            fn place(self, mode: TakeMode, size: usize) -> usize {
                let (index, size) = (i64::from(self), size as i64);
                let place = match mode {
                    TakeMode::Error => index.wrapping_add((index >> 63) & size) as u64,
                    TakeMode::Clip => index.max(0) as u64,
                    // A division takes ten times as long as all other operations.
                    TakeMode::Wrap if (index as u64) < size as u64 => index as u64,
                    TakeMode::Wrap => index.rem_euclid(size) as u64,
                };
                place.min(size as u64 - 1) as usize
            }
        })*
        $(impl IndexElement for $unsigned {
            #[inline(always)]
            fn place(self, mode: TakeMode, size: usize) -> usize {
                let (index, size) = (u64::from(self), size as u64);
                let place = match mode {
                    TakeMode::Wrap if index < size => index,
                    TakeMode::Wrap => index % size,
                    TakeMode::Error | TakeMode::Clip => index.min(size - 1),
                };
                place as usize
            }
        })*
    };
}

index_elements! { signed: i8 i16 i32 i64; unsigned: u8 u16 u32 u64 }

fn places_function(mode: TakeMode, index: DType, level: Level) -> PlacesFn {
    match index {
        DType::I8 => of_mode::<i8>(mode, level),
        DType::I16 => of_mode::<i16>(mode, level),
        DType::I32 => of_mode::<i32>(mode, level),
        DType::I64 => of_mode::<i64>(mode, level),
        DType::U8 => of_mode::<u8>(mode, level),
        DType::U16 => of_mode::<u16>(mode, level),
        DType::U32 => of_mode::<u32>(mode, level),
        DType::U64 => of_mode::<u64>(mode, level),
        _ => unreachable!("invariant: indices are integers"),
    }
}

fn of_mode<T: IndexElement>(mode: TakeMode, level: Level) -> PlacesFn {
    const { assert!(TakeMode::ALL.len() == 3) };
    match mode {
        TakeMode::Error => of_level::<T, 0>(level),
        TakeMode::Clip => of_level::<T, 1>(level),
        TakeMode::Wrap => of_level::<T, 2>(level),
    }
}

fn of_level<T: IndexElement, const MODE: usize>(level: Level) -> PlacesFn {
    #[cfg(target_arch = "x86_64")]
    if Level::avx2().is_some_and(|avx2| level >= avx2) {
        return places_by_avx2::<T, MODE>;
    }
    let _ = level;
    places::<T, MODE>
}

/// # Safety
/// Like [`PlacesFn`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn places_by_avx2<T: IndexElement, const MODE: usize>(
    places: &mut [usize],
    indices: *const u8,
    stride: isize,
    size: usize,
) {
    // SAFETY: the caller vouches for the indices, and this function is compiled for the level.
    unsafe { self::places::<T, MODE>(places, indices, stride, size) }
}

/// # Safety
/// Like [`PlacesFn`].
#[inline(always)]
unsafe fn places<T: IndexElement, const MODE: usize>(
    places: &mut [usize],
    indices: *const u8,
    stride: isize,
    size: usize,
) {
    let write = |places: &mut [usize], stride: isize| {
        for (position, place) in places.iter_mut().enumerate() {
            let index = indices.wrapping_offset(position as isize * stride).cast::<T>();
            // SAFETY: one of the caller's indices, valid for reads.
            *place = unsafe { index.read_unaligned() }.place(TakeMode::ALL[MODE], size);
        }
    };
    // A constant stride lets the compiler use vectors.
    match stride == size_of::<T>() as isize {
        true => write(places, size_of::<T>() as isize),
        false => write(places, stride),
    }
}
