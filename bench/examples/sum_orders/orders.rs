//! Orders of summation of `f32`: terms go into lanes row by row, lanes are folded at the end of a block, and
//! blocks are added by pairs. Orders differ in lanes, in block length, and in what a lane takes at a time.

use core::array::from_fn;
use core::marker::PhantomData;

use crate::vectors::Vectors;

/// The summands: a power of two of them.
pub(crate) trait Terms: Copy {
    fn len(self) -> usize;
    /// A vector of terms from `start` on.
    fn narrow<V: Vectors>(self, start: usize) -> V::Narrow;
    /// The same, widened.
    fn wide<V: Vectors>(self, start: usize) -> [V::Wide; 2];
}

/// `sum(x)`.
#[derive(Clone, Copy)]
pub(crate) struct Elements<'a>(pub(crate) &'a [f32]);

impl Terms for Elements<'_> {
    #[inline(always)]
    fn len(self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn narrow<V: Vectors>(self, start: usize) -> V::Narrow {
        V::load(&self.0[start..])
    }

    #[inline(always)]
    fn wide<V: Vectors>(self, start: usize) -> [V::Wide; 2] {
        V::load_wide(&self.0[start..])
    }
}

/// `sum((x - y)^2)`: the squares are rounded to `f32`.
#[derive(Clone, Copy)]
pub(crate) struct Squares<'a>(pub(crate) &'a [f32], pub(crate) &'a [f32]);

impl Terms for Squares<'_> {
    #[inline(always)]
    fn len(self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn narrow<V: Vectors>(self, start: usize) -> V::Narrow {
        let difference = V::sub(V::load(&self.0[start..]), V::load(&self.1[start..]));
        V::mul(difference, difference)
    }

    #[inline(always)]
    fn wide<V: Vectors>(self, start: usize) -> [V::Wide; 2] {
        V::widen(self.narrow::<V>(start))
    }
}

/// A way to sum terms.
pub(crate) trait Order {
    fn sum<V: Vectors>(terms: impl Terms) -> f64;
}

/// The terms of one vector of lanes: `ROWS` rows, `stride` terms apart.
pub(crate) trait Take<const ROWS: usize> {
    fn take<V: Vectors>(lanes: &mut [V::Wide; 2], terms: impl Terms, start: usize, stride: usize);
}

#[inline(always)]
fn add<V: Vectors>(x: [V::Wide; 2], y: [V::Wide; 2]) -> [V::Wide; 2] {
    [V::add_wide(x[0], y[0]), V::add_wide(x[1], y[1])]
}

/// Each term, widened.
pub(crate) struct Widened;

impl Take<1> for Widened {
    #[inline(always)]
    fn take<V: Vectors>(lanes: &mut [V::Wide; 2], terms: impl Terms, start: usize, _: usize) {
        *lanes = add::<V>(*lanes, terms.wide::<V>(start));
    }
}

/// Two terms, widened and added before the lane takes their sum.
pub(crate) struct WidenedPair;

impl Take<2> for WidenedPair {
    #[inline(always)]
    fn take<V: Vectors>(lanes: &mut [V::Wide; 2], terms: impl Terms, start: usize, stride: usize) {
        let pair = add::<V>(terms.wide::<V>(start), terms.wide::<V>(start + stride));
        *lanes = add::<V>(*lanes, pair);
    }
}

/// Two terms added in `f32`; their sum and its error (Knuth's two-sum) are widened.
pub(crate) struct ExactPair;

impl Take<2> for ExactPair {
    #[inline(always)]
    fn take<V: Vectors>(lanes: &mut [V::Wide; 2], terms: impl Terms, start: usize, stride: usize) {
        let (a, b) = (terms.narrow::<V>(start), terms.narrow::<V>(start + stride));
        let sum = V::add(a, b);
        let of_b = V::sub(sum, a);
        let error = V::add(V::sub(a, V::sub(sum, of_b)), V::sub(b, of_b));
        *lanes = add::<V>(add::<V>(*lanes, V::widen(sum)), V::widen(error));
    }
}

/// Terms added by pairs in `f32`, and their sum widened.
pub(crate) struct Narrow;

impl<const ROWS: usize> Take<ROWS> for Narrow {
    #[inline(always)]
    fn take<V: Vectors>(lanes: &mut [V::Wide; 2], terms: impl Terms, start: usize, stride: usize) {
        let mut sums: [V::Narrow; ROWS] = from_fn(|row| terms.narrow::<V>(start + row * stride));
        let mut half = ROWS / 2;
        while half > 0 {
            for index in 0..half {
                sums[index] = V::add(sums[2 * index], sums[2 * index + 1]);
            }
            half /= 2;
        }
        *lanes = add::<V>(*lanes, V::widen(sums[0]));
    }
}

/// Blocks of at most `BLOCK` terms, each by `LANES` lanes of `f64`. Lanes take terms in `ROWS` rows, or
/// one by one if there are too few.
pub(crate) struct Blocks<T, const ROWS: usize, const LANES: usize, const BLOCK: usize>(
    PhantomData<T>,
);

impl<T: Take<ROWS>, const ROWS: usize, const LANES: usize, const BLOCK: usize> Order
    for Blocks<T, ROWS, LANES, BLOCK>
{
    #[inline(always)]
    fn sum<V: Vectors>(terms: impl Terms) -> f64 {
        if terms.len() < LANES * ROWS {
            return Blocks::<Widened, 1, LANES, BLOCK>::sum::<V>(terms);
        }
        match LANES / V::ELEMENTS {
            2 => Self::tree::<V, 2>(terms),
            4 => Self::tree::<V, 4>(terms),
            8 => Self::tree::<V, 8>(terms),
            _ => unreachable!("an order has 2, 4 or 8 vectors of lanes"),
        }
    }
}

impl<T: Take<ROWS>, const ROWS: usize, const LANES: usize, const BLOCK: usize>
    Blocks<T, ROWS, LANES, BLOCK>
{
    #[inline(always)]
    fn tree<V: Vectors, const VECTORS: usize>(terms: impl Terms) -> f64 {
        let length = BLOCK.min(terms.len());
        let mut nodes = [0.0; usize::BITS as usize];
        let mut top = 0;
        for block in 0..terms.len() / length {
            let mut node = Self::block::<V, VECTORS>(terms, block * length, length);
            for _ in 0..block.trailing_ones() {
                top -= 1;
                node += nodes[top];
            }
            nodes[top] = node;
            top += 1;
        }
        nodes[0]
    }

    #[inline(always)]
    fn block<V: Vectors, const VECTORS: usize>(
        terms: impl Terms,
        start: usize,
        length: usize,
    ) -> f64 {
        let mut lanes = [[V::zero_wide(); 2]; VECTORS];
        for begin in (start..start + length).step_by(LANES * ROWS) {
            for (vector, lanes) in lanes.iter_mut().enumerate() {
                T::take::<V>(lanes, terms, begin + vector * V::ELEMENTS, LANES);
            }
        }
        fold::<V>(&mut lanes)
    }
}

/// Lanes folded by halves down to four, and these from the left.
#[inline(always)]
fn fold<V: Vectors>(lanes: &mut [[V::Wide; 2]]) -> f64 {
    let mut half = lanes.len() / 2;
    while half > 0 {
        for vector in 0..half {
            lanes[vector] = add::<V>(lanes[vector], lanes[vector + half]);
        }
        half /= 2;
    }
    V::sum(V::add_wide(lanes[0][0], lanes[0][1]))
}

/// Lanes of `f32`, without blocks: eight vectors of them.
pub(crate) struct NarrowLanes;

impl Order for NarrowLanes {
    #[inline(always)]
    fn sum<V: Vectors>(terms: impl Terms) -> f64 {
        let mut lanes = [V::zero(); 8];
        for begin in (0..terms.len()).step_by(8 * V::ELEMENTS) {
            for (vector, lanes) in lanes.iter_mut().enumerate() {
                *lanes = V::add(*lanes, terms.narrow::<V>(begin + vector * V::ELEMENTS));
            }
        }
        for half in [4, 2, 1] {
            for vector in 0..half {
                lanes[vector] = V::add(lanes[vector], lanes[vector + half]);
            }
        }
        fold::<V>(&mut [V::widen(lanes[0])])
    }
}
