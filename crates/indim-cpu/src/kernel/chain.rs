//! Chains: several cheap operations in one pass over a block. Holds unsafe code.
//!
//! A block kernel reads its operands from memory and writes its result there. For `(x - m) * s + b`
//! that costs more than the arithmetic, and while one kernel works on a block in the cache nobody asks
//! the main memory for the next. A chain keeps a piece of 256 or 512 bytes, the *accumulator*, in the
//! processor's vector registers and takes it through all its links; a link is one operation with
//! one operand. So memory is read and written without a break, and an operand that is one
//! element for the whole block is not spread out first.
//!
//! Beside the accumulator there is a mask, one bool for each of its elements: comparisons set it, a
//! selection uses it, and a chain whose result is a bool ends by writing it.
//!
//! How the accumulator holds elements of a 16-bit float is in `chain_element.rs`.
//!
//! What a link computes is the definition in `indim-graph`'s `meaning/`. A NaN becomes the canonical one
//! only where the accumulator is written: no operation here lets the bits of a NaN show in anything
//! but a NaN. Which instructions become chains is decided in `chains.rs`.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use indim_graph::operations::*;
use indim_graph::{ConvertTo, DType, Element, Law, Op, bf16, f16, meaning};

use super::block::Unaligned;
use super::chain_element::ChainElement;
use super::instructions::Instructions;

/// The most bytes of an accumulator: 8 vector registers of AVX-512.
pub(crate) const ACCUMULATOR_BYTES: usize = 512;

/// The bytes of an accumulator where there are 16 vector registers: 8 of AVX2.
pub(crate) const NARROW_BYTES: usize = 256;

/// The bytes of a cache line.
const LINE_BYTES: usize = 64;

/// The most links of a chain.
pub(crate) const MAXIMUM_LINKS: usize = 64;

/// What a link does with the accumulator, as a number to switch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(u16);

/// Where a link's operand lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// An element of a block for each element of the accumulator.
    Block,
    /// One element for all.
    Single,
}

impl Code {
    const TEST: u16 = u16::MAX - 2;
    const SAVE: u16 = u16::MAX - 1;
    const WRITE_MASK: u16 = u16::MAX;

    /// The accumulator is written to the operand, a place of [`ACCUMULATOR_BYTES`].
    pub(crate) const SAVED: Code = Code(Code::SAVE);

    /// The accumulator, converted to bools, becomes the mask.
    pub(crate) const TESTED: Code = Code(Code::TEST);

    /// The mask is the result: the last link of a chain of comparisons.
    pub(crate) const MASK_WRITTEN: Code = Code(Code::WRITE_MASK);

    /// The operand, elements of type `dtype`, becomes the accumulator; if they are bools, the mask.
    pub(crate) const fn load(dtype: DType, form: Form) -> Code {
        Code(load_code(dtype, form))
    }

    /// `op` on the accumulator and, if it has two operands, the link's; the accumulator may be the
    /// second of them. A comparison sets the mask, a selection goes by it.
    pub(crate) fn apply(op: Op, form: Form, accumulator_is_second: bool) -> Code {
        match mirrored(op) {
            Some(mirrored) if accumulator_is_second => Code(code(mirrored, form, false)),
            Some(_) => Code(code(op, form, false)),
            None => Code(code(op, form, accumulator_is_second && !op.has_law(Law::Commutative))),
        }
    }
}

/// The comparison that gives the same with its operands exchanged.
fn mirrored(op: Op) -> Option<Op> {
    Some(match op {
        Op::Eq => Op::Eq,
        Op::Ne => Op::Ne,
        Op::Lt => Op::Gt,
        Op::Le => Op::Ge,
        Op::Gt => Op::Lt,
        Op::Ge => Op::Le,
        _ => return None,
    })
}

const fn code(op: Op, form: Form, accumulator_is_second: bool) -> u16 {
    op as u16 * 4 + matches!(form, Form::Single) as u16 + accumulator_is_second as u16 * 2
}

/// Codes of loads come after those of operations.
const fn load_code(dtype: DType, form: Form) -> u16 {
    Op::ALL.len() as u16 * 4 + dtype as u16 * 2 + matches!(form, Form::Single) as u16
}

/// The codes of loading elements of one type, as patterns.
trait LoadCodes: Element {
    const BLOCK: u16 = load_code(Self::DTYPE, Form::Block);
    const SINGLE: u16 = load_code(Self::DTYPE, Form::Single);
}

impl<T: Element> LoadCodes for T {}

/// The codes of one operation, as patterns.
trait Codes {
    const OP: Op;
    const BLOCK: u16 = code(Self::OP, Form::Block, false);
    const SINGLE: u16 = code(Self::OP, Form::Single, false);
    const BLOCK_FIRST: u16 = code(Self::OP, Form::Block, true);
    const SINGLE_FIRST: u16 = code(Self::OP, Form::Single, true);
    /// Whether a result may need more bits than the operands have.
    const IS_INEXACT: bool = !matches!(Self::OP, Op::Max | Op::Min | Op::Neg | Op::Abs);
}

/// What a link does, whatever the addresses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkKind {
    pub(crate) code: Code,
    /// From one element of the operand to the next, in bytes: an element's size, or 0.
    pub(crate) stride: usize,
    /// From one row of the operand to the next, in bytes.
    pub(crate) step: isize,
}

/// One operation of a chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub(crate) kind: LinkKind,
    /// The first row of the operand.
    pub(crate) operand: *const u8,
}

/// The elements that a chain computes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) count: usize,
    /// Elements in a row, one after another.
    pub(crate) elements: usize,
    /// From one row of the destination to the next, in bytes.
    pub(crate) step: isize,
    /// Whether the destination is written past the caches; [`super::memory::settle`] must follow.
    pub(crate) streams: bool,
}

/// Takes rows of elements through `links`; the operands of the links are moved on.
///
/// # Safety
/// - `links` are 1 to [`MAXIMUM_LINKS`]; their operations, and the types that they load, are those of
///   the type that the chain was looked up for;
/// - each row of `destination` is valid for writes, of bools if the last link is
///   [`Code::MASK_WRITTEN`], and overlaps no operand;
/// - each row of a link's operand is valid for reads of as many elements if its stride is an element's
///   size, else of one element where the code says so, and of [`ACCUMULATOR_BYTES`] where not; that of
///   [`Code::SAVED`] for writes of [`ACCUMULATOR_BYTES`];
/// - the processor has the level for which the chain was looked up.
pub(crate) type ChainFn = unsafe fn(destination: *mut u8, links: &mut [Link], rows: Rows);

/// The chains of one element type.
pub(super) trait ChainBody {
    /// The type of the elements that are read and written.
    type Element: ChainElement;

    /// Takes one accumulator, a wide or a narrow one, through `links`, from element `first` on.
    ///
    /// # Safety
    /// As [`ChainFn`], for an accumulator full of elements, where the level has the instructions `I`.
    unsafe fn run_piece<I: Instructions, const IS_WIDE: bool>(
        destination: *mut u8,
        links: &[Link],
        first: usize,
        streams: bool,
    );

    /// Runs all rows; by wide accumulators where they fit, if there are registers for them.
    ///
    /// # Safety
    /// As [`ChainFn`], where the level has the instructions `I`.
    #[inline(always)]
    unsafe fn run<I: Instructions>(mut destination: *mut u8, links: &mut [Link], rows: Rows) {
        let size = size_of::<Self::Element>();
        let lane_size = size_of::<<Self::Element as ChainElement>::Lane>();
        let [narrow, wide] = [NARROW_BYTES / lane_size, ACCUMULATOR_BYTES / lane_size];
        for _ in 0..rows.count {
            let streams = rows.streams && destination.addr().is_multiple_of(size);
            // SAFETY: the caller's promise, for one of the rows.
            unsafe {
                match rows.elements {
                    count if count < narrow => run_short::<Self, I>(destination, links, count),
                    count if I::HAS_WIDE_REGISTERS && count >= wide => {
                        run_row::<Self, I, true>(destination, links, count, wide, streams);
                    }
                    count => run_row::<Self, I, false>(destination, links, count, narrow, streams),
                }
            }
            destination = destination.wrapping_offset(rows.step);
            for link in &mut *links {
                link.operand = link.operand.wrapping_offset(link.kind.step);
            }
        }
    }
}

/// Runs all pieces of a row, `length` elements each. The last one overlaps its neighbour: elements
/// computed twice are cheaper than a loop for what is left over.
///
/// Past the caches only whole lines are written. At either end a piece is computed elsewhere, and the
/// part of it before the first line or after the last one is copied.
///
/// # Safety
/// As [`ChainFn`], for one row of `count` elements, which are `length` or more; if it `streams`, a line
/// begins with an element.
#[inline(always)]
unsafe fn run_row<B: ChainBody + ?Sized, I: Instructions, const IS_WIDE: bool>(
    destination: *mut u8,
    links: &[Link],
    count: usize,
    length: usize,
    streams: bool,
) {
    let size = size_of::<B::Element>();
    let mut elsewhere =
        [const { MaybeUninit::<Piece>::uninit() }; ACCUMULATOR_BYTES / NARROW_BYTES];
    let elsewhere = elsewhere.as_mut_ptr().cast::<u8>();
    let before_line = if streams { destination.align_offset(LINE_BYTES) / size } else { 0 };
    let mut first = 0;
    while first < count {
        let is_before_line = first < before_line;
        let (from, length) = match first + length <= count {
            _ if is_before_line => (0, before_line),
            true => (first, length),
            false => (count - length, count - first),
        };
        let is_elsewhere = streams && (is_before_line || from < first);
        let to = if is_elsewhere { elsewhere.wrapping_sub(from * size) } else { destination };
        // SAFETY: the caller's promise; the piece lies within the `count` elements, and what is
        // streamed begins with a line.
        unsafe {
            B::run_piece::<I, IS_WIDE>(to, links, from, streams && !is_elsewhere);
            if is_elsewhere {
                let source = to.wrapping_add(first * size);
                let place = destination.wrapping_add(first * size);
                core::ptr::copy_nonoverlapping(source, place, length * size);
            }
        }
        first += length;
    }
}

/// Memory of a narrow accumulator.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Piece([u8; NARROW_BYTES]);

impl Piece {
    const EMPTY: Piece = Piece([0; NARROW_BYTES]);
}

/// Less than a piece: from copies of the operands with zeros behind them.
///
/// # Safety
/// As [`ChainFn`]; `count` elements fill less than a narrow accumulator.
#[inline(always)]
unsafe fn run_short<B: ChainBody + ?Sized, I: Instructions>(
    destination: *mut u8,
    links: &[Link],
    count: usize,
) {
    let mut copies = [const { MaybeUninit::<Piece>::uninit() }; MAXIMUM_LINKS];
    let mut copied_links = [const { MaybeUninit::<Link>::uninit() }; MAXIMUM_LINKS];
    for ((link, copy), copied_link) in links.iter().zip(&mut copies).zip(&mut copied_links) {
        let copied_link = copied_link.write(*link);
        if link.kind.stride != 0 {
            let copy = copy.write(Piece::EMPTY).0.as_mut_ptr();
            // SAFETY: `count` elements of the operand are fewer bytes than a piece has.
            unsafe { core::ptr::copy_nonoverlapping(link.operand, copy, count * link.kind.stride) }
            copied_link.operand = copy;
        }
    }
    // SAFETY: as many links have been written.
    let copied_links = unsafe { copied_links[..links.len()].assume_init_ref() };
    let mut result = Piece::EMPTY;
    // SAFETY: the copies are full pieces; `count` elements are the caller's.
    unsafe {
        B::run_piece::<I, false>(result.0.as_mut_ptr(), copied_links, 0, false);
        let is_mask = links.last().is_some_and(|link| link.kind.code == Code::MASK_WRITTEN);
        let size = if is_mask { size_of::<bool>() } else { size_of::<B::Element>() };
        core::ptr::copy_nonoverlapping(result.0.as_ptr(), destination, count * size);
    }
}

/// # Safety
/// `operand` is valid for reads of `LENGTH` elements.
#[inline(always)]
unsafe fn load<T: Element, const LENGTH: usize>(operand: *const u8) -> [T; LENGTH] {
    // SAFETY: the caller's promise; any bits are stored elements, at any address.
    let stored = unsafe { *operand.cast::<[Unaligned<T>; LENGTH]>() };
    let mut elements = [T::default(); LENGTH];
    for index in 0..LENGTH {
        elements[index] = stored[index].get();
    }
    elements
}

/// # Safety
/// `operand` is valid for reads of an element.
#[inline(always)]
unsafe fn load_single<T: Element>(operand: *const u8) -> T {
    // SAFETY: the caller's promise.
    unsafe { *operand.cast::<Unaligned<T>>() }.get()
}

/// # Safety
/// `place` is valid for writes of `LENGTH` elements.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "an iterator takes the accumulator out of registers")]
unsafe fn store<T: Element, const LENGTH: usize>(place: *mut u8, accumulator: [T; LENGTH]) {
    let place = place.cast::<Unaligned<T>>();
    for index in 0..LENGTH {
        let element = Unaligned(accumulator[index].to_stored());
        // SAFETY: the caller's promise.
        unsafe { place.wrapping_add(index).write(element) }
    }
}

/// Writes past the caches, to memory that will not be read soon. A line that is written as usual is
/// first read; so this saves a third of the traffic of a sum of two arrays too large for the caches.
///
/// # Safety
/// `place` is valid for writes of `LENGTH` elements, whole lines; the processor has the instructions `I`.
#[inline(always)]
unsafe fn stream<I: Instructions, T: Element, const LENGTH: usize>(
    place: *mut u8,
    accumulator: [T; LENGTH],
) {
    let mut stored = [const { MaybeUninit::<Unaligned<T>>::uninit() }; LENGTH];
    for index in 0..LENGTH {
        stored[index].write(Unaligned(accumulator[index].to_stored()));
    }
    // SAFETY: the accumulator, and the caller's lines.
    unsafe { I::stream(place, stored.as_ptr().cast(), size_of_val(&stored)) }
}

/// `f(x)` for each element. The `map` of arrays is not always inlined, and then it is compiled without
/// the instructions of the level; and with any but a constant to begin with, the first element would
/// be computed by itself.
#[inline(always)]
fn each<T: Element, R: Element, const LENGTH: usize>(
    x: [T; LENGTH],
    f: impl Fn(T) -> R,
) -> [R; LENGTH] {
    let mut results = [R::default(); LENGTH];
    for index in 0..LENGTH {
        results[index] = f(x[index]);
    }
    results
}

/// `f(x, y)` for each pair.
#[inline(always)]
fn with<T: Copy, R: Element, const LENGTH: usize>(
    x: &[T; LENGTH],
    y: [T; LENGTH],
    f: impl Fn(T, T) -> R,
) -> [R; LENGTH] {
    let mut results = [R::default(); LENGTH];
    for index in 0..LENGTH {
        results[index] = f(x[index], y[index]);
    }
    results
}

/// `f(mask, x, y)` for each three.
#[inline(always)]
fn choose<T: Element, const LENGTH: usize>(
    mask: &[bool; LENGTH],
    x: &[T; LENGTH],
    y: [T; LENGTH],
    f: impl Fn(bool, T, T) -> T,
) -> [T; LENGTH] {
    let mut results = [T::default(); LENGTH];
    for index in 0..LENGTH {
        results[index] = f(mask[index], x[index], y[index]);
    }
    results
}

/// How a link reads its operand and rounds its result. Methods, because a closure is not always
/// inlined, and then it is compiled without the instructions of the level.
struct Lanes<T, I, const LENGTH: usize> {
    operand: *const u8,
    types: PhantomData<(T, I)>,
}

impl<T: ChainElement, I: Instructions, const LENGTH: usize> Lanes<T, I, LENGTH> {
    /// # Safety
    /// `operand` is valid for reads by those of the methods that are called; the processor has the
    /// instructions `I`.
    #[inline(always)]
    unsafe fn of(operand: *const u8) -> Self {
        Lanes { operand, types: PhantomData }
    }

    /// An element for each of the accumulator.
    #[inline(always)]
    fn block(&self) -> [T::Lane; LENGTH] {
        // SAFETY: promised where this was made.
        unsafe { T::widen::<I, LENGTH>(load(self.operand)) }
    }

    /// One element for all.
    #[inline(always)]
    fn single(&self) -> [T::Lane; LENGTH] {
        // SAFETY: promised where this was made.
        [unsafe { load_single::<T>(self.operand) }.widen_single(); LENGTH]
    }

    /// The nearest values of the element type.
    #[inline(always)]
    fn rounded(&self, x: [T::Lane; LENGTH]) -> [T::Lane; LENGTH] {
        // SAFETY: promised where this was made.
        unsafe { T::rounded::<I, LENGTH>(x) }
    }
}

macro_rules! define_chains {
    ($(
        $variant:ident $type:ident $module:ident $body:ident
        commutative [$($commutative:ident $commutative_name:ident)*]
        ordered [$($ordered:ident $ordered_name:ident)*]
        unary [$($unary:ident $unary_name:ident)*]
        converted [$($source_variant:ident $source:ident)*]
        widened [$($half_variant:ident $half:ident)*];
    )*) => {
        /// The operations that chains of elements of type `dtype` may hold.
        pub(crate) const fn chain_operations(dtype: DType) -> &'static [Op] {
            match dtype {
                $(DType::$variant => &[
                    Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Select,
                    $(Op::$commutative,)* $(Op::$ordered,)* $(Op::$unary,)*
                ],)*
                _ => &[],
            }
        }

        /// The element types that chains of elements of type `dtype` convert when they load them.
        pub(crate) const fn chain_sources(dtype: DType) -> &'static [DType] {
            match dtype {
                $(DType::$variant => &[$(DType::$source_variant,)* $(DType::$half_variant,)*],)*
                _ => &[],
            }
        }

        /// The fewest elements that fill an accumulator of a chain of elements of type `dtype`.
        pub(crate) const fn chain_minimum(dtype: DType) -> usize {
            match dtype {
                $(DType::$variant => NARROW_BYTES / size_of::<<$type as ChainElement>::Lane>(),)*
                _ => NARROW_BYTES / dtype.size(),
            }
        }

        /// Calls `visitor` with the chains of elements of type `dtype`.
        pub(super) fn visit_chain<V: ChainVisitor>(dtype: DType, visitor: V) -> Option<ChainFn> {
            match dtype {
                $(DType::$variant => Some(visitor.chain::<$body>()),)*
                _ => None,
            }
        }

        $(
            pub(super) struct $body;

            impl ChainBody for $body {
                type Element = $type;

                #[inline(always)]
                unsafe fn run_piece<I: Instructions, const IS_WIDE: bool>(
                    destination: *mut u8,
                    links: &[Link],
                    first: usize,
                    streams: bool,
                ) {
                    const SIZE: usize = size_of::<<$type as ChainElement>::Lane>();
                    // SAFETY: the caller's promise.
                    unsafe {
                        if IS_WIDE {
                            Self::take_through::<I, { ACCUMULATOR_BYTES / SIZE }>(destination, links, first, streams);
                        } else {
                            Self::take_through::<I, { NARROW_BYTES / SIZE }>(destination, links, first, streams);
                        }
                    }
                }
            }

            impl $body {
                /// # Safety
                /// As [`ChainBody::run_piece`], for an accumulator of `LENGTH` elements.
                #[inline(always)]
                unsafe fn take_through<I: Instructions, const LENGTH: usize>(
                    destination: *mut u8,
                    links: &[Link],
                    first: usize,
                    streams: bool,
                ) {
                    let mut x = [<$type as ChainElement>::Lane::default(); LENGTH];
                    let mut mask = [false; LENGTH];
                    for link in links {
                        let operand = link.operand.wrapping_add(first * link.kind.stride);
                        // SAFETY: the caller's promise.
                        let lanes = unsafe { Lanes::<$type, I, LENGTH>::of(operand) };
                        match link.kind.code.0 {
                            <$type as LoadCodes>::BLOCK => x = lanes.block(),
                            <$type as LoadCodes>::SINGLE => x = lanes.single(),
                            $(
                                <$source as LoadCodes>::BLOCK => {
                                    // SAFETY: the caller's promise for this code.
                                    let stored = unsafe { load::<$source, LENGTH>(operand) };
                                    x = each(stored, ConvertTo::convert);
                                }
                                <$source as LoadCodes>::SINGLE => {
                                    // SAFETY: the caller's promise for this code.
                                    let stored = unsafe { load_single::<$source>(operand) };
                                    x = [stored.convert(); LENGTH];
                                }
                            )*
                            $(
                                <$half as LoadCodes>::BLOCK => {
                                    // SAFETY: the caller's promise for this code.
                                    x = unsafe { <$half>::widen::<I, LENGTH>(load(operand)) };
                                }
                                <$half as LoadCodes>::SINGLE => {
                                    // SAFETY: the caller's promise for this code.
                                    let stored = unsafe { load_single::<$half>(operand) };
                                    x = [stored.widen_single(); LENGTH];
                                }
                            )*
                            // SAFETY: the caller's promise for these codes.
                            <bool as LoadCodes>::BLOCK => mask = unsafe { load::<bool, LENGTH>(operand) },
                            // SAFETY: the caller's promise for these codes.
                            <bool as LoadCodes>::SINGLE => mask = [unsafe { load_single(operand) }; LENGTH],
                            Code::TEST => mask = each(x, ConvertTo::<bool>::convert),
                            // SAFETY: the caller's promise for this code.
                            Code::SAVE => unsafe { store(operand.cast_mut(), <$type>::narrow::<I, LENGTH>(x)) },
                            Code::WRITE_MASK => {
                                // SAFETY: the caller's promise, for a piece of the destination.
                                return unsafe { store(destination.wrapping_add(first), mask) };
                            }
                            <Select as Codes>::BLOCK => x = choose(&mask, &x, lanes.block(), meaning::$module::select),
                            <Select as Codes>::SINGLE => x = choose(&mask, &x, lanes.single(), meaning::$module::select),
                            <Select as Codes>::BLOCK_FIRST => {
                                x = choose(&mask, &x, lanes.block(), |mask, x, y| meaning::$module::select(mask, y, x))
                            }
                            <Select as Codes>::SINGLE_FIRST => {
                                x = choose(&mask, &x, lanes.single(), |mask, x, y| meaning::$module::select(mask, y, x))
                            }
                            <Eq as Codes>::BLOCK => mask = with(&x, lanes.block(), meaning::$module::eq),
                            <Eq as Codes>::SINGLE => mask = with(&x, lanes.single(), meaning::$module::eq),
                            <Ne as Codes>::BLOCK => mask = with(&x, lanes.block(), meaning::$module::ne),
                            <Ne as Codes>::SINGLE => mask = with(&x, lanes.single(), meaning::$module::ne),
                            <Lt as Codes>::BLOCK => mask = with(&x, lanes.block(), meaning::$module::lt),
                            <Lt as Codes>::SINGLE => mask = with(&x, lanes.single(), meaning::$module::lt),
                            <Le as Codes>::BLOCK => mask = with(&x, lanes.block(), meaning::$module::le),
                            <Le as Codes>::SINGLE => mask = with(&x, lanes.single(), meaning::$module::le),
                            <Gt as Codes>::BLOCK => mask = with(&x, lanes.block(), meaning::$module::gt),
                            <Gt as Codes>::SINGLE => mask = with(&x, lanes.single(), meaning::$module::gt),
                            <Ge as Codes>::BLOCK => mask = with(&x, lanes.block(), meaning::$module::ge),
                            <Ge as Codes>::SINGLE => mask = with(&x, lanes.single(), meaning::$module::ge),
                            $(
                                <$commutative as Codes>::BLOCK => {
                                    x = with(&x, lanes.block(), meaning::$module::$commutative_name);
                                    if <$commutative as Codes>::IS_INEXACT { x = lanes.rounded(x); }
                                }
                                <$commutative as Codes>::SINGLE => {
                                    x = with(&x, lanes.single(), meaning::$module::$commutative_name);
                                    if <$commutative as Codes>::IS_INEXACT { x = lanes.rounded(x); }
                                }
                            )*
                            $(
                                <$ordered as Codes>::BLOCK => {
                                    x = with(&x, lanes.block(), meaning::$module::$ordered_name);
                                    if <$ordered as Codes>::IS_INEXACT { x = lanes.rounded(x); }
                                }
                                <$ordered as Codes>::SINGLE => {
                                    x = with(&x, lanes.single(), meaning::$module::$ordered_name);
                                    if <$ordered as Codes>::IS_INEXACT { x = lanes.rounded(x); }
                                }
                                <$ordered as Codes>::BLOCK_FIRST => {
                                    x = with(&x, lanes.block(), |x, y| meaning::$module::$ordered_name(y, x));
                                    if <$ordered as Codes>::IS_INEXACT { x = lanes.rounded(x); }
                                }
                                <$ordered as Codes>::SINGLE_FIRST => {
                                    x = with(&x, lanes.single(), |x, y| meaning::$module::$ordered_name(y, x));
                                    if <$ordered as Codes>::IS_INEXACT { x = lanes.rounded(x); }
                                }
                            )*
                            $(<$unary as Codes>::BLOCK => {
                                x = each(x, meaning::$module::$unary_name);
                                if <$unary as Codes>::IS_INEXACT { x = lanes.rounded(x); }
                            })*
                            _ => {}
                        }
                    }
                    // SAFETY: the caller's promise.
                    let results = unsafe { <$type>::narrow::<I, LENGTH>(each(x, Element::canonical)) };
                    let place = destination.wrapping_add(first * size_of::<$type>());
                    // SAFETY: the caller's promise, for a piece of the destination.
                    unsafe {
                        match streams {
                            true => stream::<I, _, LENGTH>(place, results),
                            false => store(place, results),
                        }
                    }
                }
            }
        )*
    };
}

macro_rules! define_codes {
    ($($operation:ident)*) => {
        $(impl Codes for $operation { const OP: Op = Op::$operation; })*
    };
}

define_codes! { Add Mul Max Min And Or Xor Sub Div Neg Abs Square Sqrt Not Eq Ne Lt Le Gt Ge Select }

/// What is to be made of the chains of one element type.
pub(super) trait ChainVisitor {
    fn chain<B: ChainBody>(self) -> ChainFn;
}

// The cheap operations: those whose cost is that of moving their operands.
define_chains! {
    F32 f32 float ChainF32
        commutative [Add add Mul mul Max max Min min]
        ordered [Sub sub Div div]
        unary [Neg neg Abs abs Square square Sqrt sqrt]
        converted [I8 i8 U8 u8 I16 i16 U16 u16 I32 i32]
        widened [F16 f16 Bf16 bf16];
    F64 f64 float ChainF64
        commutative [Add add Mul mul Max max Min min]
        ordered [Sub sub Div div]
        unary [Neg neg Abs abs Square square Sqrt sqrt]
        converted [I8 i8 U8 u8 I16 i16 U16 u16 I32 i32 F32 f32]
        widened [];
    F16 f16 float ChainF16
        commutative [Add add Mul mul Max max Min min]
        ordered [Sub sub Div div]
        unary [Neg neg Abs abs Square square Sqrt sqrt]
        converted []
        widened [];
    Bf16 bf16 float ChainBf16
        commutative [Add add Mul mul Max max Min min]
        ordered [Sub sub Div div]
        unary [Neg neg Abs abs Square square Sqrt sqrt]
        converted []
        widened [];
    I32 i32 integer ChainI32
        commutative [Add add Mul mul Max max Min min And and Or or Xor xor]
        ordered [Sub sub]
        unary [Neg neg Not not]
        converted []
        widened [];
    I64 i64 integer ChainI64
        commutative [Add add Mul mul Max max Min min And and Or or Xor xor]
        ordered [Sub sub]
        unary [Neg neg Not not]
        converted []
        widened [];
    U8 u8 integer ChainU8
        commutative [Add add Max max Min min And and Or or Xor xor]
        ordered [Sub sub]
        unary [Not not]
        converted []
        widened [];
}
