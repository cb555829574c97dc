//! Elements as words, one for each lane: the form in which operands and results are compared.

use indim_ops::lane::{FloatBits, LaneBackend};
use indim_ops::{AnyLane, Complex, DType, ScalarBackend, StorageElement, for_each_element};

use crate::back_end::{NanSign, RecordedLane, RecordingBackend};

/// A scalar as a word.
pub(crate) trait Word: Copy + 'static {
    fn to_word(self) -> u64;
    fn of_word(word: u64) -> Self;
    /// The value, with this sign if it is a NaN.
    fn with_nan(self, _: NanSign) -> Self {
        self
    }
}

impl Word for bool {
    fn to_word(self) -> u64 {
        self.into()
    }
    fn of_word(word: u64) -> bool {
        word != 0
    }
}

macro_rules! integer_words {
    ($($type:ident $unsigned:ident)*) => {$(
        impl Word for $type {
            fn to_word(self) -> u64 { (self as $unsigned).into() }
            fn of_word(word: u64) -> $type { word as $type }
        }
    )*};
}

integer_words!(i8 u8 i16 u16 i32 u32 i64 u64 u8 u8 u16 u16 u32 u32 u64 u64);

macro_rules! float_words {
    ($($type:ident $bits:ident)*) => {$(
        impl Word for $type {
            fn to_word(self) -> u64 { self.to_bits().into() }
            fn of_word(word: u64) -> $type { $type::from_bits(word as $bits) }
            fn with_nan(self, sign: NanSign) -> $type {
                match sign {
                    _ if !self.is_nan() => self,
                    NanSign::Negative => -$type::NAN,
                    NanSign::Positive => $type::NAN,
                }
            }
        }
    )*};
}

float_words!(f32 u32 f64 u64);

/// A lane as a word: the bits of a scalar, or the index of a recorded value.
pub(crate) trait WordLane {
    fn word(self) -> u64;
    fn of(word: u64) -> Self;
}

impl<T: Word> WordLane for T {
    fn word(self) -> u64 {
        self.to_word()
    }
    fn of(word: u64) -> Self {
        T::of_word(word)
    }
}

impl<T> WordLane for RecordedLane<T> {
    fn word(self) -> u64 {
        self.index as u64
    }
    fn of(word: u64) -> Self {
        RecordedLane::at(word as usize)
    }
}

/// A lane back end whose lanes are words.
pub(crate) trait WordLanes:
    LaneBackend<
        Bool: WordLane,
        I8: WordLane,
        I16: WordLane,
        I32: WordLane,
        I64: WordLane,
        U8: WordLane,
        U16: WordLane,
        U32: WordLane,
        U64: WordLane,
        F32: WordLane,
        F64: WordLane,
    >
{
}

impl WordLanes for ScalarBackend {}
impl WordLanes for RecordingBackend {}

macro_rules! define_words {
    ($($variant:ident $type:ident $class:ident;)*) => {
        /// The element of type `dtype` whose lanes are these words.
        pub(crate) fn any_of<L: WordLanes>(dtype: DType, words: &[u64]) -> AnyLane<L> {
            match dtype {
                $(DType::$variant => AnyLane::$variant(define_words!(@of $class words)),)*
            }
        }

        /// The words of the lanes of an element.
        pub(crate) fn words_of<L: WordLanes>(any: AnyLane<L>) -> Vec<u64> {
            match any {
                $(AnyLane::$variant(x) => define_words!(@words $class x),)*
            }
        }
    };
    (@of half $words:ident) => { FloatBits::from_bits(WordLane::of($words[0])) };
    (@of float8 $words:ident) => { StorageElement::new(WordLane::of($words[0])) };
    (@of nibble $words:ident) => { StorageElement::new(WordLane::of($words[0])) };
    (@of complex $words:ident) => {
        Complex::new(WordLane::of($words[0]), WordLane::of($words[1]))
    };
    (@of $class:ident $words:ident) => { WordLane::of($words[0]) };
    (@words half $x:ident) => { vec![FloatBits::to_bits($x).word()] };
    (@words float8 $x:ident) => { vec![$x.bits().word()] };
    (@words nibble $x:ident) => { vec![$x.bits().word()] };
    (@words complex $x:ident) => { vec![$x.re.word(), $x.im.word()] };
    (@words $class:ident $x:ident) => { vec![$x.word()] };
}

for_each_element!(define_words);
