//! Elements taken by their indices: from indices to places in memory, and from there to a dense block. Holds
//! unsafe code.
//!
//! Whatever an index is, it becomes a place within the axis, so that no memory but the table's is read. Where
//! another index is an error, it was found before (`run/indices.rs`).

use indim_graph::TakeMode;
use indim_ops::DType;

use crate::tiles::memory::Run;

/// Elements of one table, taken by indices of one type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taker {
    places: PlacesFn,
    /// The elements of the axis.
    size: usize,
    /// The bytes of an index, and of an element.
    index_size: usize,
    element_size: usize,
}

/// So many indices become places at a time.
const CHUNK: usize = 256;

/// Writes the places in bytes of elements at `indices`, for an axis of so many elements of a stride.
///
/// # Safety
/// `indices` is valid for reads of as many indices as there are places.
type PlacesFn = unsafe fn(places: &mut [isize], indices: *const u8, size: usize, stride: isize);

impl Taker {
    /// For indices of type `index`, which is an integer, and elements of type `element`; `size` is not 0.
    pub(crate) fn new(mode: TakeMode, index: DType, element: DType, size: usize) -> Taker {
        let places = places_function(mode, index);
        Taker { places, size, index_size: index.size(), element_size: element.size() }
    }

    /// The bytes of an index.
    pub(crate) fn index_size(&self) -> usize {
        self.index_size
    }

    /// The bytes of an element.
    pub(crate) fn element_size(&self) -> usize {
        self.element_size
    }

    /// Takes `steps.count` runs of elements: each from where it would be in the table without its index, and
    /// as many strides on as the index says.
    ///
    /// # Safety
    /// - `indices` is valid for reads of an index for each element, `destination` for writes of the elements;
    /// - `table`, plus any step and any element of the run, plus any place along the axis, is valid for reads
    ///   of an element; the table does not overlap the destination.
    pub(crate) unsafe fn take(
        &self,
        destination: *mut u8,
        table: *const u8,
        indices: *const u8,
        steps: Run,
        run: Run,
        stride: isize,
    ) {
        for step in 0..steps.count {
            let from = table.wrapping_offset(steps.stride * step as isize);
            let before = step * run.count;
            let to = destination.wrapping_add(before * self.element_size);
            let indices = indices.wrapping_add(before * self.index_size);
            // SAFETY: one run of the caller's.
            unsafe { self.take_run(to, from, indices, run, stride) }
        }
    }

    /// # Safety
    /// As [`Taker::take`], for one run.
    unsafe fn take_run(
        &self,
        destination: *mut u8,
        table: *const u8,
        indices: *const u8,
        run: Run,
        stride: isize,
    ) {
        let mut places = [0; CHUNK];
        for first in (0..run.count).step_by(CHUNK) {
            let places = &mut places[..CHUNK.min(run.count - first)];
            let indices = indices.wrapping_add(first * self.index_size);
            let from = Side {
                address: table.wrapping_offset(run.stride * first as isize),
                stride: run.stride,
            };
            let to = destination.wrapping_add(first * self.element_size);
            // SAFETY: so many indices, and elements at these places, of the caller's.
            unsafe {
                (self.places)(places, indices, self.size, stride);
                match self.element_size {
                    1 => pick::<u8>(to, from, places),
                    2 => pick::<u16>(to, from, places),
                    4 => pick::<u32>(to, from, places),
                    8 => pick::<u64>(to, from, places),
                    _ => pick::<u128>(to, from, places),
                }
            }
        }
    }
}

/// Where the elements of a run would be without their indices.
#[derive(Clone, Copy)]
struct Side {
    address: *const u8,
    stride: isize,
}

/// # Safety
/// The elements at these places are valid for reads, and `destination` for writes of as many.
unsafe fn pick<T: Copy>(destination: *mut u8, from: Side, places: &[isize]) {
    let destination = destination.cast::<T>();
    // SAFETY: the caller's promise. A constant stride is one addition less.
    unsafe {
        match from.stride {
            0 => {
                for (index, &place) in places.iter().enumerate() {
                    let element = from.address.wrapping_offset(place).cast::<T>().read_unaligned();
                    destination.wrapping_add(index).write_unaligned(element);
                }
            }
            stride => {
                for (index, &place) in places.iter().enumerate() {
                    let along = stride * index as isize;
                    let element = from.address.wrapping_offset(along + place).cast::<T>();
                    destination.wrapping_add(index).write_unaligned(element.read_unaligned());
                }
            }
        }
    }
}

/// An integer as an index.
trait IndexElement: Copy {
    /// The place along an axis of `size` elements, which is not 0; some place for an index that names none.
    fn place(self, mode: TakeMode, size: usize) -> usize;
}

macro_rules! index_elements {
    (signed: $($signed:ty)*; unsigned: $($unsigned:ty)*) => {
        $(impl IndexElement for $signed {
            #[inline(always)]
            fn place(self, mode: TakeMode, size: usize) -> usize {
                let (index, size) = (i64::from(self), size as i64);
                let place = match mode {
                    TakeMode::Error if index < 0 => index + size,
                    TakeMode::Error | TakeMode::Clip => index,
                    TakeMode::Wrap => index.rem_euclid(size),
                };
                place.clamp(0, size - 1) as usize
            }
        })*
        $(impl IndexElement for $unsigned {
            #[inline(always)]
            fn place(self, mode: TakeMode, size: usize) -> usize {
                let (index, size) = (u64::from(self), size as u64);
                let place = match mode {
                    TakeMode::Wrap => index % size,
                    TakeMode::Error | TakeMode::Clip => index.min(size - 1),
                };
                place as usize
            }
        })*
    };
}

index_elements! { signed: i8 i16 i32 i64; unsigned: u8 u16 u32 u64 }

fn places_function(mode: TakeMode, index: DType) -> PlacesFn {
    match index {
        DType::I8 => of_mode::<i8>(mode),
        DType::I16 => of_mode::<i16>(mode),
        DType::I32 => of_mode::<i32>(mode),
        DType::I64 => of_mode::<i64>(mode),
        DType::U8 => of_mode::<u8>(mode),
        DType::U16 => of_mode::<u16>(mode),
        DType::U32 => of_mode::<u32>(mode),
        DType::U64 => of_mode::<u64>(mode),
        _ => unreachable!("invariant: indices are integers"),
    }
}

fn of_mode<T: IndexElement>(mode: TakeMode) -> PlacesFn {
    const { assert!(TakeMode::ALL.len() == 3) };
    match mode {
        TakeMode::Error => places::<T, 0>,
        TakeMode::Clip => places::<T, 1>,
        TakeMode::Wrap => places::<T, 2>,
    }
}

/// # Safety
/// As [`PlacesFn`].
unsafe fn places<T: IndexElement, const MODE: usize>(
    places: &mut [isize],
    indices: *const u8,
    size: usize,
    stride: isize,
) {
    for (position, place) in places.iter_mut().enumerate() {
        // SAFETY: one of the caller's indices.
        let index = unsafe { indices.cast::<T>().wrapping_add(position).read_unaligned() };
        *place = index.place(TakeMode::ALL[MODE], size) as isize * stride;
    }
}
