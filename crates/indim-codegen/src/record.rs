//! The recording lane back end: each primitive appends an instruction to a body.
//!
//! Lanes do not refer to their body: the builder is thread-local, and [`record`] returns the body.
//!
//! Most definitions of operations are inlined into each other, so the primitives here are
//! `inline(never)`: each use of a primitive is one call. Large definitions that other definitions use
//! are calls too ([`FloatLane::IS_RECORDED`]). This keeps the compiled code of all operations small.

use std::cell::RefCell;
use std::marker::PhantomData;

use indim_ops::lane::{BoolLane, Cast, FloatBits, FloatLane, IntLane, Lane, LaneBackend};
use indim_ops::{AnyLane, Complex, DType, StorageElement, for_each_element};

use crate::body::{Body, LaneType, Primitive, SsaValue};
use crate::builder::BodyBuilder;
use crate::scalar::Word;

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

/// A lane of type `T`: a value of the body under construction.
pub(crate) struct RecordedLane<T> {
    value: SsaValue,
    scalar: PhantomData<T>,
}

impl<T> Copy for RecordedLane<T> {}

impl<T> Clone for RecordedLane<T> {
    fn clone(&self) -> Self {
        *self
    }
}

thread_local! {
    static BUILDER: RefCell<BodyBuilder> = RefCell::default();
}

/// An element of any type.
type RecordedElement = AnyLane<RecordingBackend>;

/// Records the body of `define` on operands of these types.
///
/// # Panics
/// If `define` calls `record`, or returns `None`.
pub(crate) fn record(
    operands: &[DType],
    define: fn(&[RecordedElement]) -> Option<RecordedElement>,
) -> Body {
    let outer = BUILDER.replace(BodyBuilder::new(operands.to_vec()));
    assert!(outer.is_empty(), "calls of `record` cannot be nested");
    let operands: Vec<RecordedElement> =
        operands.iter().enumerate().map(|(index, &dtype)| operand(dtype, index as u32)).collect();
    let result = define(&operands).expect("invariant: recorded with operands of its types");
    let mut builder = BUILDER.take();
    builder.output(result.dtype(), lanes(result));
    builder.finish()
}

fn lane_of<T>(value: SsaValue) -> RecordedLane<T> {
    RecordedLane { value, scalar: PhantomData }
}

fn push<R: Word>(primitive: Primitive, operands: &[SsaValue]) -> RecordedLane<R> {
    lane_of(push_value(primitive, R::LANE, operands))
}

#[inline(never)]
fn push_value(primitive: Primitive, lane: LaneType, operands: &[SsaValue]) -> SsaValue {
    BUILDER.with_borrow_mut(|builder| builder.push(primitive, lane, operands))
}

fn constant<R: Word>(value: R) -> RecordedLane<R> {
    push(Primitive::Constant(value.to_word()), &[])
}

macro_rules! define_elements {
    ($($variant:ident $type:ident $class:ident;)*) => {
        /// The element loaded from an input.
        fn operand(dtype: DType, input: u32) -> RecordedElement {
            match dtype {
                $(DType::$variant => AnyLane::$variant(define_elements!(@operand $class input)),)*
            }
        }

        /// The lanes of an element.
        fn lanes(any: RecordedElement) -> Vec<SsaValue> {
            match any {
                $(AnyLane::$variant(x) => define_elements!(@lanes $class x),)*
            }
        }
    };
    (@operand half $input:ident) => {
        FloatBits::from_bits(push(Primitive::Load { input: $input, component: 0 }, &[]))
    };
    (@operand float8 $input:ident) => {
        StorageElement::new(push(Primitive::Load { input: $input, component: 0 }, &[]))
    };
    (@operand nibble $input:ident) => { define_elements!(@operand float8 $input) };
    (@operand complex $input:ident) => {
        Complex::new(
            push(Primitive::Load { input: $input, component: 0 }, &[]),
            push(Primitive::Load { input: $input, component: 1 }, &[]),
        )
    };
    (@operand $class:ident $input:ident) => { push(Primitive::Load { input: $input, component: 0 }, &[]) };
    (@lanes half $x:ident) => { vec![FloatBits::to_bits($x).value] };
    (@lanes float8 $x:ident) => { vec![$x.bits().value] };
    (@lanes nibble $x:ident) => { vec![$x.bits().value] };
    (@lanes complex $x:ident) => { vec![$x.re.value, $x.im.value] };
    (@lanes $class:ident $x:ident) => { vec![$x.value] };
}

for_each_element!(define_elements);

impl<T: Word + Lane<Bool = bool>> Lane for RecordedLane<T> {
    type Bool = RecordedLane<bool>;
    #[inline(never)]
    fn select(condition: RecordedLane<bool>, on_true: Self, on_false: Self) -> Self {
        push(Primitive::Select, &[condition.value, on_true.value, on_false.value])
    }
    #[inline(never)]
    fn equal(self, other: Self) -> RecordedLane<bool> {
        push(Primitive::Equal, &[self.value, other.value])
    }
    #[inline(never)]
    fn less(self, other: Self) -> RecordedLane<bool> {
        push(Primitive::Less, &[self.value, other.value])
    }
}

impl<A: Word + Cast<B>, B: Word> Cast<RecordedLane<B>> for RecordedLane<A> {
    #[inline(never)]
    fn cast(self) -> RecordedLane<B> {
        push(Primitive::Cast, &[self.value])
    }
}

/// Trait methods that push one primitive on operands of `Self`.
macro_rules! primitives {
    ($($method:ident $primitive:ident ($($other:ident)*);)*) => {$(
        #[inline(never)]
        fn $method(self $(, $other: Self)*) -> Self {
            push(Primitive::$primitive, &[self.value $(, $other.value)*])
        }
    )*};
}

impl<T: Word + BoolLane> BoolLane for RecordedLane<T>
where
    Self: Lane<Bool = Self>,
{
    #[inline(never)]
    fn constant(value: bool) -> Self {
        constant(T::constant(value))
    }
    primitives! { and And(other); or Or(other); xor Xor(other); not Not(); }
}

impl<T: Word + IntLane<Bool = bool>> IntLane for RecordedLane<T> {
    const BITS: u32 = T::BITS;
    #[inline(never)]
    fn constant(value: i64) -> Self {
        constant(T::constant(value))
    }
    #[inline(never)]
    fn minimum() -> Self {
        constant(T::minimum())
    }
    primitives! {
        add Add(other); sub Sub(other); mul Mul(other); mul_high MulHigh(other);
        div_or_zero Div(other); rem_or_zero Rem(other);
        and And(other); or Or(other); xor Xor(other); not Not();
        shl ShiftLeft(amount);
        shr_logical ShiftRightLogical(amount);
        shr_arithmetic ShiftRightArithmetic(amount);
        leading_zeros LeadingZeros(); count_ones CountOnes();
    }
    #[inline(never)]
    fn less_unsigned(self, other: Self) -> RecordedLane<bool> {
        push(Primitive::LessUnsigned, &[self.value, other.value])
    }
    #[inline(never)]
    fn lookup<const N: usize>(self, table: &[u64; N]) -> Self {
        let table = BUILDER.with_borrow_mut(|builder| builder.table(table));
        push(Primitive::Lookup { table }, &[self.value])
    }
}

impl<T: Word + FloatBits<Bool = bool, Bits: Word>> FloatBits for RecordedLane<T> {
    type Bits = RecordedLane<T::Bits>;
    const MANTISSA_BITS: u32 = T::MANTISSA_BITS;
    #[inline(never)]
    fn to_bits(self) -> RecordedLane<T::Bits> {
        push(Primitive::Bits, &[self.value])
    }
    #[inline(never)]
    fn from_bits(bits: RecordedLane<T::Bits>) -> Self {
        push(Primitive::Bits, &[bits.value])
    }
    primitives! { with_canonical_nan Canonical(); }
}

impl<T: Word + FloatLane<Bool = bool, Bits: Word, Wide = f64>> FloatLane for RecordedLane<T>
where
    f64: Cast<T>,
{
    type Wide = RecordedLane<f64>;
    const IS_RECORDED: bool = true;
    #[inline(never)]
    fn constant(value: f64) -> Self {
        constant(T::constant(value))
    }
    primitives! {
        add Add(other); sub Sub(other); mul Mul(other); div Div(other); rem Rem(other);
        mul_add MulAdd(factor addend);
        sqrt Sqrt(); abs Abs(); neg Neg();
        floor Floor(); ceil Ceil(); trunc Trunc(); round_even RoundEven();
    }
}
