//! Stable sorts of the positions of elements by their keys.

use core::ops::ControlFlow;

use crate::kernel::sort_columns::{COLUMN_BYTES, ColumnRow, WORD_COLUMNS};
use crate::kernel::sort_word_columns;
use crate::packed_words::WordPacking;
use crate::sort_keys::SortKey;
use crate::sort_order::{ITEMS_PER_CALL, SortProgress, SortScratch, call_after};

/// An integer type of positions along a sorted axis.
pub trait SortPosition: Copy + Default + 'static {
    /// The position as this type, which has room for it.
    fn new(position: usize) -> Self;

    /// The position.
    fn get(self) -> usize;
}

macro_rules! positions {
    ($($type:ident)*) => { $(
        impl SortPosition for $type {
            #[inline(always)]
            fn new(position: usize) -> $type {
                position as $type
            }

            #[inline(always)]
            fn get(self) -> usize {
                self as usize
            }
        }
    )* };
}

positions!(u32 u64);

/// A key with the position of its element.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeyedPosition<K, P> {
    key: K,
    position: P,
}

impl<K, P: SortPosition> KeyedPosition<K, P> {
    /// The key of the element at a position.
    #[inline(always)]
    pub fn new(key: K, position: usize) -> Self {
        KeyedPosition { key, position: P::new(position) }
    }
}

/// Maximum elements of rows that are sorted together.
const MAX_LENGTH_TOGETHER: usize = 128;

/// Minimum rows that are sorted together: a network takes the same time for any number of rows.
const MIN_ROWS_TOGETHER: usize = 4;

/// Bytes of the columns of rows of `length` elements that are sorted together.
pub const fn position_column_bytes(length: usize) -> usize {
    if length <= MAX_LENGTH_TOGETHER { length * size_of::<ColumnRow>() } else { 0 }
}

/// Sorts rows of `length` keyed positions, stably, and replaces `positions` by those of the sorted items.
/// Equal items keep the order of `positions`, which are those of each row by another key, or empty for items
/// in order. `progress` may stop the sort.
pub fn sort_positions<K: SortKey, P: SortPosition>(
    items: &mut [KeyedPosition<K, P>],
    length: usize,
    positions: &mut Vec<P>,
    progress: &mut SortProgress<'_>,
) -> ControlFlow<()> {
    let (mut scratch, mut columns) = (SortScratch::default(), Vec::new());
    let are_short = (2..=MAX_LENGTH_TOGETHER).contains(&length) && positions.is_empty();
    for (group, items) in items.chunks_mut(WORD_COLUMNS * length).enumerate() {
        let is_group = are_short && items.len() >= MIN_ROWS_TOGETHER * length;
        let packings = is_group.then(|| sort_columns(items, length, &mut columns)).flatten();
        for (row, items) in items.chunks_exact_mut(length).enumerate() {
            let packing = packings.map(|packings| packings[row]);
            if packing.is_some_and(|packing| take_column(items, &columns, row, &packing)) {
                continue;
            }
            if !positions.is_empty() {
                let first = (group * WORD_COLUMNS + row) * length;
                arrange(items, &positions[first..][..length], progress)?;
            }
            scratch.sort(items, |item| item.key, progress)?;
        }
    }
    drop(scratch);
    positions.clear();
    positions.reserve_exact(items.len());
    for part in items.chunks(ITEMS_PER_CALL) {
        positions.extend(part.iter().map(|item| item.position));
        call_after(part, progress)?;
    }
    ControlFlow::Continue(())
}

/// Sorts rows of items together: row `r` becomes column `r` of words. Returns the packing of each row; `None`
/// if they must be sorted one by one.
fn sort_columns<K: SortKey, P: SortPosition>(
    items: &[KeyedPosition<K, P>],
    length: usize,
    columns: &mut Vec<ColumnRow>,
) -> Option<[WordPacking; WORD_COLUMNS]> {
    columns.clear();
    columns.resize(length, ColumnRow([0; COLUMN_BYTES]));
    let mut packings = [WordPacking::default(); WORD_COLUMNS];
    for (column, (row, packing)) in items.chunks_exact(length).zip(&mut packings).enumerate() {
        *packing = WordPacking::new(row.iter().map(|item| item.key), length)?;
        for (position, (item, to)) in row.iter().zip(&mut *columns).enumerate() {
            to.set_word(column, packing.pack(item.key, position));
        }
    }
    sort_word_columns(columns).then_some(packings)
}

/// Arranges the positions of a row of items like its sorted column. The keys stay. Returns `false` and
/// changes nothing if bits decide that the words lack.
fn take_column<K: SortKey, P: SortPosition>(
    items: &mut [KeyedPosition<K, P>],
    columns: &[ColumnRow],
    column: usize,
    packing: &WordPacking,
) -> bool {
    let words = columns.iter().map(|row| row.word(column));
    if !packing.are_sorted(words.clone(), |position| items[position].key) {
        return false;
    }
    for (item, word) in items.iter_mut().zip(words) {
        item.position = P::new(packing.position(word));
    }
    true
}

/// Arranges items, which are in order of their positions, in the order of `positions`.
fn arrange<K: SortKey, P: SortPosition>(
    items: &mut [KeyedPosition<K, P>],
    positions: &[P],
    progress: &mut SortProgress<'_>,
) -> ControlFlow<()> {
    let mut keys = Vec::with_capacity(items.len());
    for part in items.chunks(ITEMS_PER_CALL) {
        keys.extend(part.iter().map(|item| item.key));
        call_after(part, progress)?;
    }
    let parts = items.chunks_mut(ITEMS_PER_CALL).zip(positions.chunks(ITEMS_PER_CALL));
    for (items, positions) in parts {
        for (item, &position) in items.iter_mut().zip(positions) {
            *item = KeyedPosition { key: keys[position.get()], position };
        }
        call_after(items, progress)?;
    }
    ControlFlow::Continue(())
}
