//! Sorts of several columns together by a sorting network: each lane of a vector is a column. Holds unsafe
//! code.
//!
//! The network is Batcher's merge exchange (Knuth, Algorithm 5.2.2M), which sorts any number of rows. Its
//! exchanges depend on positions alone, so they have no branches, and all columns take the same ones.
//!
//! A network is not stable. It sorts keys from which the elements are computed back, so columns in which
//! different bits compare as equal (zeros of both signs, NaNs with different payloads) are refused.

use core::marker::PhantomData;
use core::ops::{BitAnd, BitXor};

use indim_ops::{DType, DTypeClass, bf16, f16};

use super::exchange::Exchange;

/// Bytes of a row of the columns that are sorted together: a cache line. For elements of `size` bytes it
/// has `COLUMN_BYTES / size` columns.
pub const COLUMN_BYTES: usize = 64;

/// The order of the elements in sorted columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnOrder {
    /// The bits that are inverted in each key: the sign bit of unsigned integers, all for a descending order.
    inverted: u64,
    /// The bits that are inverted in negative elements: all but the sign bit for floats.
    inverted_if_negative: u64,
    /// The bits of the magnitude: none for integers.
    magnitude: u64,
    /// The magnitude of infinity; greater ones are NaNs.
    infinity: u64,
    /// The NaN that is greater than all other elements by its bits, too. Columns may have no other NaN.
    nan: u64,
    /// The bits of -0, which compares equal to +0; for integers a value that no element has under
    /// `zero_mask`.
    negative_zero: u64,
    /// The bits that are compared with `negative_zero`.
    zero_mask: u64,
}

impl ColumnOrder {
    /// The order of `bool`, integers and real floats; `None` for other types.
    pub fn new(dtype: DType, is_descending: bool) -> Option<ColumnOrder> {
        let all = u64::MAX >> (64 - 8 * dtype.size().min(8));
        let sign = all ^ (all >> 1);
        let reversed = if is_descending { all } else { 0 };
        let integer = |inverted: u64| ColumnOrder {
            inverted: inverted ^ reversed,
            inverted_if_negative: 0,
            magnitude: 0,
            infinity: 0,
            nan: 0,
            negative_zero: 1,
            zero_mask: 0,
        };
        let float = |infinity: u64, nan: u64| ColumnOrder {
            inverted: reversed,
            inverted_if_negative: all >> 1,
            magnitude: all >> 1,
            infinity,
            nan,
            negative_zero: sign,
            zero_mask: all,
        };
        match (dtype.class(), dtype) {
            (_, DType::F16) => {
                Some(float(f16::INFINITY.to_bits().into(), f16::NAN.to_bits().into()))
            }
            (_, DType::Bf16) => {
                Some(float(bf16::INFINITY.to_bits().into(), bf16::NAN.to_bits().into()))
            }
            (_, DType::F32) => {
                Some(float(f32::INFINITY.to_bits().into(), f32::NAN.to_bits().into()))
            }
            (_, DType::F64) => Some(float(f64::INFINITY.to_bits(), f64::NAN.to_bits())),
            (DTypeClass::Bool | DTypeClass::Unsigned, _) => Some(integer(sign)),
            (DTypeClass::Signed, _) => Some(integer(0)),
            _ => None,
        }
    }
}

/// One row of columns that are sorted together.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct ColumnRow(pub [u8; COLUMN_BYTES]);

/// Columns of 64-bit words.
pub(crate) const WORD_COLUMNS: usize = COLUMN_BYTES / size_of::<u64>();

impl ColumnRow {
    /// The word of a column.
    pub(crate) fn word(&self, column: usize) -> u64 {
        let mut bytes = [0; size_of::<u64>()];
        bytes.copy_from_slice(&self.0[column * size_of::<u64>()..][..size_of::<u64>()]);
        u64::from_ne_bytes(bytes)
    }

    /// Sets the word of a column.
    pub(crate) fn set_word(&mut self, column: usize, word: u64) {
        self.0[column * size_of::<u64>()..][..size_of::<u64>()]
            .copy_from_slice(&word.to_ne_bytes());
    }
}

/// Sorts each of the `COLUMN_BYTES / size` columns of `rows`, which have elements of `size` bytes. Returns
/// `false` and changes nothing if elements of a column may compare as equal although their bits differ.
///
/// # Safety
/// The processor has the level for which the function was looked up.
pub type SortColumnsFn = unsafe fn(rows: &mut [ColumnRow], order: &ColumnOrder) -> bool;

/// The body of a sort of columns, independent of the level.
pub(crate) trait SortColumns {
    /// Like [`SortColumnsFn`], with the exchanges of a level.
    ///
    /// # Safety
    /// The processor has the level of `E`, and the caller is compiled for it.
    unsafe fn run<E: Exchange>(rows: &mut [ColumnRow], order: &ColumnOrder) -> bool;
}

/// A signed integer type as wide as the elements, in which keys are compared.
pub(crate) trait KeyWord:
    Copy + Default + Ord + BitAnd<Output = Self> + BitXor<Output = Self>
{
    /// The bits of the word.
    fn from_bits(bits: u64) -> Self;
    /// All bits are the sign bit.
    fn signs(self) -> Self;
}

macro_rules! words {
    ($($type:ident)*) => { $(
        impl KeyWord for $type {
            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                bits as $type
            }

            #[inline(always)]
            fn signs(self) -> Self {
                self >> ($type::BITS - 1)
            }
        }
    )* };
}

words!(i8 i16 i32 i64);

/// The sort of columns of elements as wide as `K`, in rows of `LANES`.
pub(super) struct NetworkBody<K, const LANES: usize>(PhantomData<K>);

/// The parts of a [`ColumnOrder`] as words.
struct WordOrder<K> {
    inverted: K,
    inverted_if_negative: K,
    magnitude: K,
    infinity: K,
    nan: K,
    negative_zero: K,
    zero_mask: K,
}

impl<K: KeyWord> WordOrder<K> {
    #[inline(always)]
    fn new(order: &ColumnOrder) -> Self {
        WordOrder {
            inverted: K::from_bits(order.inverted),
            inverted_if_negative: K::from_bits(order.inverted_if_negative),
            magnitude: K::from_bits(order.magnitude),
            infinity: K::from_bits(order.infinity),
            nan: K::from_bits(order.nan),
            negative_zero: K::from_bits(order.negative_zero),
            zero_mask: K::from_bits(order.zero_mask),
        }
    }

    /// Whether an element with other bits may compare as equal.
    #[inline(always)]
    fn is_ambiguous(&self, element: K) -> bool {
        let is_other_nan = (element & self.magnitude > self.infinity) & (element != self.nan);
        is_other_nan | ((element & self.zero_mask) == self.negative_zero)
    }

    #[inline(always)]
    fn key(&self, element: K) -> K {
        element ^ (element.signs() & self.inverted_if_negative) ^ self.inverted
    }

    #[inline(always)]
    fn element(&self, key: K) -> K {
        let element = key ^ self.inverted;
        element ^ (element.signs() & self.inverted_if_negative)
    }
}

impl<K: KeyWord, const LANES: usize> SortColumns for NetworkBody<K, LANES> {
    #[inline(always)]
    unsafe fn run<E: Exchange>(rows: &mut [ColumnRow], order: &ColumnOrder) -> bool {
        const {
            assert!(size_of::<[K; LANES]>() == COLUMN_BYTES, "a row is a cache line");
            assert!(align_of::<[K; LANES]>() <= align_of::<ColumnRow>(), "rows are aligned");
        }
        // SAFETY: the type of a row has the size of `ColumnRow` and at most its alignment, has no padding,
        // and any bits are its value.
        let rows = unsafe {
            core::slice::from_raw_parts_mut(rows.as_mut_ptr().cast::<[K; LANES]>(), rows.len())
        };
        let order = WordOrder::<K>::new(order);
        // Loops over all elements of all rows: the compiler would unroll one over the lanes of a row, and
        // then vectorise that over the rows.
        let elements = rows.as_flattened_mut();
        if elements.iter().fold(false, |any, &element| any | order.is_ambiguous(element)) {
            return false;
        }
        elements.iter_mut().for_each(|element| *element = order.key(*element));
        // SAFETY: the caller has the obligations of the level.
        unsafe { exchange_all::<E, K, LANES>(rows) }
        rows.as_flattened_mut().iter_mut().for_each(|key| *key = order.element(*key));
        true
    }
}

/// The exchanges of the network, in order.
///
/// # Safety
/// Like [`Exchange::exchange`].
#[inline(always)]
unsafe fn exchange_all<E: Exchange, K: KeyWord, const LANES: usize>(rows: &mut [[K; LANES]]) {
    let length = rows.len();
    if length < 2 {
        return;
    }
    let first = length.next_power_of_two() / 2;
    let mut p = first;
    while p > 0 {
        let (mut q, mut r, mut distance) = (first, 0, p);
        loop {
            // SAFETY: the caller has the same obligations.
            unsafe { exchange_at::<E, K, LANES>(rows, p, r, distance) }
            if q == p {
                break;
            }
            distance = q - p;
            q /= 2;
            r = p;
        }
        p /= 2;
    }
}

/// Exchanges rows `i` and `i + distance` for each `i` whose bit `p` equals that of `r`.
///
/// # Safety
/// Like [`Exchange::exchange`].
#[inline(always)]
unsafe fn exchange_at<E: Exchange, K: KeyWord, const LANES: usize>(
    rows: &mut [[K; LANES]],
    p: usize,
    r: usize,
    distance: usize,
) {
    let end = rows.len().saturating_sub(distance);
    let mut start = r;
    while start < end {
        let count = p.min(end - start);
        let (low, high) = rows[start..].split_at_mut(distance);
        for (low, high) in low.iter_mut().zip(high).take(count) {
            // SAFETY: the caller has the same obligations.
            unsafe { E::exchange(low, high) }
        }
        start += 2 * p;
    }
}
