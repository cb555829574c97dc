//! A lane back end that computes nothing: it records each primitive as a step, and a test replays the steps
//! on scalars.

use std::cell::RefCell;
use std::marker::PhantomData;

use indim_ops::lane::{BoolLane, Cast, FloatBits, FloatLane, IntLane, Lane, LaneBackend};

use crate::words::Word;

/// The recording back end.
pub(crate) enum RecordingBackend {}

impl LaneBackend for RecordingBackend {
    type Bool = RecordedLane<bool>;
    type I8 = RecordedLane<i8>;
    type I16 = RecordedLane<i16>;
    type I32 = RecordedLane<i32>;
    type I64 = RecordedLane<i64>;
    type U8 = RecordedLane<u8>;
    type U16 = RecordedLane<u16>;
    type U32 = RecordedLane<u32>;
    type U64 = RecordedLane<u64>;
    type F32 = RecordedLane<f32>;
    type F64 = RecordedLane<f64>;
}

/// A lane: the index of its value. Operands have the first indices, results of steps the following ones.
pub(crate) struct RecordedLane<T> {
    pub(crate) index: usize,
    types: PhantomData<T>,
}

impl<T> Copy for RecordedLane<T> {}

impl<T> Clone for RecordedLane<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> RecordedLane<T> {
    pub(crate) fn at(index: usize) -> Self {
        RecordedLane { index, types: PhantomData }
    }
}

/// The sign of the NaNs that arithmetic makes, which IEEE 754 leaves to the processor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum NanSign {
    /// The sign on x86.
    Negative,
    /// The sign on Arm and RISC-V.
    Positive,
}

/// One primitive: its result for the values before it.
type Step = Box<dyn Fn(&[u64], NanSign) -> u64>;

thread_local! {
    static STEPS: RefCell<(usize, Vec<Step>)> = const { RefCell::new((0, Vec::new())) };
}

/// The recorded primitives.
pub(crate) struct Tape {
    steps: Vec<Step>,
    /// Indices of the result values.
    results: Vec<usize>,
}

impl Tape {
    /// Records the primitives that `define` calls on `operands` values, and the indices of its results.
    pub(crate) fn record(operands: usize, define: impl FnOnce() -> Vec<usize>) -> Tape {
        STEPS.set((operands, Vec::new()));
        let results = define();
        Tape { steps: STEPS.take().1, results }
    }

    pub(crate) fn replay(&self, operands: &[u64], sign: NanSign) -> Vec<u64> {
        let mut values = operands.to_vec();
        for step in &self.steps {
            values.push(step(&values, sign));
        }
        self.results.iter().map(|&index| values[index]).collect()
    }
}

fn step<R>(run: impl Fn(&[u64], NanSign) -> u64 + 'static) -> RecordedLane<R> {
    STEPS.with_borrow_mut(|(operands, steps)| {
        steps.push(Box::new(run));
        RecordedLane::at(*operands + steps.len() - 1)
    })
}

fn constant<R: Word>(value: R) -> RecordedLane<R> {
    step(move |_, sign| value.with_nan(sign).to_word())
}

fn one<A: Word, R: Word>(x: RecordedLane<A>, apply: impl Fn(A) -> R + 'static) -> RecordedLane<R> {
    step(move |values, _| apply(A::of_word(values[x.index])).to_word())
}

fn two<A: Word, B: Word, R: Word>(
    x: RecordedLane<A>,
    y: RecordedLane<B>,
    apply: impl Fn(A, B) -> R + 'static,
) -> RecordedLane<R> {
    step(move |values, _| apply(A::of_word(values[x.index]), B::of_word(values[y.index])).to_word())
}

fn three<A: Word, T: Word>(
    x: RecordedLane<A>,
    y: RecordedLane<T>,
    z: RecordedLane<T>,
    apply: impl Fn(A, T, T) -> T + 'static,
) -> RecordedLane<T> {
    step(move |values, _| {
        let [y, z] = [y, z].map(|lane| T::of_word(values[lane.index]));
        apply(A::of_word(values[x.index]), y, z).to_word()
    })
}

/// The result `x` of arithmetic; a NaN gets the sign of the emulated processor.
fn with_nan_sign<R: Word>(x: RecordedLane<R>) -> RecordedLane<R> {
    step(move |values, sign| R::of_word(values[x.index]).with_nan(sign).to_word())
}

impl<T: Word + Lane<Bool = bool>> Lane for RecordedLane<T> {
    type Bool = RecordedLane<bool>;
    fn select(condition: RecordedLane<bool>, on_true: Self, on_false: Self) -> Self {
        three(condition, on_true, on_false, T::select)
    }
    fn equal(self, other: Self) -> RecordedLane<bool> {
        two(self, other, T::equal)
    }
    fn less(self, other: Self) -> RecordedLane<bool> {
        two(self, other, T::less)
    }
}

impl<A: Word + Cast<B>, B: Word> Cast<RecordedLane<B>> for RecordedLane<A> {
    fn cast(self) -> RecordedLane<B> {
        with_nan_sign(one(self, A::cast))
    }
}

/// Methods of a trait that record the same methods of a scalar.
macro_rules! recorded {
    ($($arity:ident [$($name:ident)*];)*) => { $(recorded!(@$arity $($name)*);)* };
    (@one $($name:ident)*) => { $(fn $name(self) -> Self { one(self, T::$name) })* };
    (@two $($name:ident)*) => {
        $(fn $name(self, other: Self) -> Self { two(self, other, T::$name) })*
    };
    (@made_by_one $($name:ident)*) => { $(fn $name(self) -> Self { with_nan_sign(one(self, T::$name)) })* };
    (@made_by_two $($name:ident)*) => {
        $(fn $name(self, other: Self) -> Self { with_nan_sign(two(self, other, T::$name)) })*
    };
}

impl<T: Word + BoolLane> BoolLane for RecordedLane<T>
where
    Self: Lane<Bool = Self>,
{
    fn constant(value: bool) -> Self {
        constant(T::constant(value))
    }
    recorded! { one [not]; two [and or xor]; }
}

impl<T: Word + IntLane<Bool = bool>> IntLane for RecordedLane<T> {
    const BITS: u32 = T::BITS;
    fn constant(value: i64) -> Self {
        constant(T::constant(value))
    }
    fn minimum() -> Self {
        constant(T::minimum())
    }
    recorded! {
        one [not leading_zeros count_ones];
        two [add sub mul mul_high div_or_zero rem_or_zero and or xor shl shr_logical shr_arithmetic];
    }
    fn less_unsigned(self, other: Self) -> RecordedLane<bool> {
        two(self, other, T::less_unsigned)
    }
    fn lookup<const N: usize>(self, table: &[u64; N]) -> Self {
        let table = *table;
        one(self, move |index: T| index.lookup(&table))
    }
}

impl<T: Word + FloatBits<Bool = bool, Bits: Word>> FloatBits for RecordedLane<T> {
    type Bits = RecordedLane<T::Bits>;
    const MANTISSA_BITS: u32 = T::MANTISSA_BITS;
    fn to_bits(self) -> RecordedLane<T::Bits> {
        one(self, T::to_bits)
    }
    fn from_bits(bits: RecordedLane<T::Bits>) -> Self {
        one(bits, T::from_bits)
    }
}

impl<T: Word + FloatLane<Bool = bool, Bits: Word, Wide = f64>> FloatLane for RecordedLane<T>
where
    f64: Cast<T>,
{
    type Wide = RecordedLane<f64>;
    fn constant(value: f64) -> Self {
        constant(T::constant(value))
    }
    recorded! {
        one [abs neg];
        made_by_one [sqrt floor ceil trunc round_even];
        made_by_two [add sub mul div rem];
    }
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        with_nan_sign(three(self, factor, addend, T::mul_add))
    }
}
