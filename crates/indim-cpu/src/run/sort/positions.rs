//! Positions of elements along the sorted axis.

/// An integer type of positions along the sorted axis.
pub(super) trait SortPosition: Copy + Default + 'static {
    fn new(position: usize) -> Self;
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
#[derive(Clone, Copy, Default)]
pub(super) struct KeyedPosition<K, P> {
    pub(super) key: K,
    pub(super) position: P,
}
