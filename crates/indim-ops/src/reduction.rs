//! THE table of reductions, and what is derived from it.
//!
//! A reduction along one axis folds its elements by an operation of the table, in the element type of the
//! operand. A row gives the name, that operation, the element types, what comes out of nothing (`identity`,
//! by its name in `meaning/identity.rs`), and the sentence of the documentation. In which order elements are
//! taken is said once, in `meaning/reduction.rs`.

use core::fmt;
use core::str::FromStr;

use crate::complex::c128;
use crate::dtype::DType;
use crate::element::Element;
use crate::element_lanes::{ElementLanes, FromWide, Widened};
use crate::half::{bf16, f16};
use crate::lane::LaneBackend;
use crate::meaning;
use crate::op::{Binary, Op, Operation, UnknownOp, for_class, is_of_word, operations};
use crate::scalars::ScalarBackend;

/// Hands the table of reductions to another macro.
#[macro_export]
macro_rules! for_each_reduction {
    ($callback:ident) => {
        $callback! {
            folds {
                /// The sum, +0 of nothing. Integers wrap; of floats it is the sum of the fixed tree.
                reduce_add = Add add zero [signed unsigned f64_c128];
                /// The product, 1 of nothing. Integers wrap; of floats it is the product of the fixed tree.
                reduce_mul = Mul mul one [signed unsigned f64_c128];
                /// The largest element; any NaN gives a NaN, -0 is below +0. Of nothing -inf, or the type's
                /// least value.
                reduce_max = Max max lowest [boolean signed unsigned float];
                /// The smallest element; any NaN gives a NaN, -0 is below +0. Of nothing inf, or the type's
                /// greatest value.
                reduce_min = Min min highest [boolean signed unsigned float];
                /// The largest number; NaN if all are NaN.
                reduce_fmax = Fmax fmax nan [float];
                /// The smallest number; NaN if all are NaN.
                reduce_fmin = Fmin fmin nan [float];
                /// Whether all hold; of integers the bits that all have. Of nothing all bits.
                reduce_and = And and ones [boolean signed unsigned];
                /// Whether any holds; of integers the bits that any has. Of nothing none.
                reduce_or = Or or zero [boolean signed unsigned];
                /// Whether an odd number holds; of integers the bits that an odd number has.
                reduce_xor = Xor xor zero [boolean signed unsigned];
            }
            searches {
                /// Where the first NaN is, or else the first element equal to the largest one; an `i64`.
                argmax = ArgMax Max [boolean signed unsigned float];
                /// Where the first NaN is, or else the first element equal to the smallest one; an `i64`.
                argmin = ArgMin Min [boolean signed unsigned float];
            }
        }
    };
}

/// Hands the table of widenings to another macro: a sum of the third type may read elements of the first as
/// they are, which become those of the third without rounding. The second type holds the sum of those that a
/// lane takes in a block of the tree: without rounding too where it is another one than the third.
#[macro_export]
macro_rules! for_each_widening {
    ($callback:ident) => {
        $callback! {
            f16 f64 f64; bf16 f64 f64; f32 f64 f64;
            bool u8 i64; i8 i16 i64; i16 i32 i64; i32 i64 i64;
            u8 u16 u64; u16 u32 u64; u32 u64 u64;
        }
    };
}

/// The fold of an operation of the table over elements of type `T`.
pub trait Fold<T: Element>: Operation {
    /// The identity: combining with it changes no element; the result of no elements.
    fn identity<L: LaneBackend>() -> T::In<L>;
    /// Two elements, or folds of elements, combined; a NaN may have any bits.
    fn combine<L: LaneBackend>(x: T::In<L>, y: T::In<L>) -> T::In<L>;
}

/// A function of the fold of one element type; see [`ReduceOp::visit`].
pub trait FoldVisitor {
    /// Its result.
    type Output;
    /// Called for a fold of elements of type `T`.
    fn fold<F: Fold<T>, T: Element>(self) -> Self::Output;
}

macro_rules! implement {
    (($name:ident $op:ident $identity:ident), $variant:ident $type:ident widened) => {
        impl Fold<$type> for operations::$op {
            #[inline(always)]
            fn identity<L: LaneBackend>() -> <$type as ElementLanes>::In<L> {
                let wide = meaning::identity::float::$identity::<
                    <<$type as Widened>::Wide as ElementLanes>::In<L>,
                >();
                <$type as FromWide<_>>::from_wide::<L>(wide)
            }
            #[inline(always)]
            fn combine<L: LaneBackend>(
                x: <$type as ElementLanes>::In<L>,
                y: <$type as ElementLanes>::In<L>,
            ) -> <$type as ElementLanes>::In<L> {
                <Self as Binary<$type>>::over::<L>(x, y)
            }
        }
    };
    (($name:ident $op:ident $identity:ident), $variant:ident $type:ident $module:ident) => {
        impl Fold<$type> for operations::$op {
            #[inline(always)]
            fn identity<L: LaneBackend>() -> <$type as ElementLanes>::In<L> {
                meaning::identity::$module::$identity()
            }
            #[inline(always)]
            fn combine<L: LaneBackend>(
                x: <$type as ElementLanes>::In<L>,
                y: <$type as ElementLanes>::In<L>,
            ) -> <$type as ElementLanes>::In<L> {
                meaning::$module::$name(x, y)
            }
        }
    };
}

macro_rules! visit {
    (($op:ident $dtype:ident $visitor:ident), $variant:ident $type:ident $module:ident) => {
        if $dtype == DType::$variant {
            return Some($visitor.fold::<operations::$op, $type>());
        }
    };
}

macro_rules! define_reductions {
    (
        folds { $(
            $(#[doc = $doc:literal])+
            $name:ident = $op:ident $meaning:ident $identity:ident [$($class:ident)*];
        )* }
        searches { $(
            $(#[doc = $sdoc:literal])+
            $sname:ident = $search:ident $extreme:ident [$($sclass:ident)*];
        )* }
    ) => {
        /// A reduction of the elements along one axis.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ReduceOp {
            $($(#[doc = $doc])+ $op,)*
            $($(#[doc = $sdoc])+ $search,)*
        }

        impl ReduceOp {
            /// Every reduction, in the order of the table.
            pub const ALL: &[ReduceOp] = &[$(ReduceOp::$op,)* $(ReduceOp::$search),*];

            /// The name in indim's text.
            pub const fn name(self) -> &'static str {
                match self {
                    $(ReduceOp::$op => stringify!($name),)*
                    $(ReduceOp::$search => stringify!($sname),)*
                }
            }

            /// The result of the reduction, with its edge cases.
            pub fn doc(self) -> &'static str {
                match self {
                    $(ReduceOp::$op => concat!($($doc),+).trim(),)*
                    $(ReduceOp::$search => concat!($($sdoc),+).trim(),)*
                }
            }

            /// Whether the reduction takes elements of type `dtype`.
            pub fn takes(self, dtype: DType) -> bool {
                match self {
                    $(ReduceOp::$op => $(is_of_word!($class dtype))||*,)*
                    $(ReduceOp::$search => $(is_of_word!($sclass dtype))||*,)*
                }
            }

            /// The operation that combines two elements; of a search, two of those searched among.
            pub const fn operation(self) -> Op {
                match self {
                    $(ReduceOp::$op => Op::$op,)*
                    $(ReduceOp::$search => Op::$extreme,)*
                }
            }

            /// The fold that finds the element for which is searched; of a fold itself.
            pub const fn searched(self) -> ReduceOp {
                match self {
                    $(ReduceOp::$op => self,)*
                    $(ReduceOp::$search => ReduceOp::$extreme,)*
                }
            }

            /// Whether the result says where an element is.
            pub const fn is_search(self) -> bool {
                match self {
                    $(ReduceOp::$op => false,)*
                    $(ReduceOp::$search => true,)*
                }
            }

            /// Calls `visitor` with the fold of elements of type `dtype`; `None` where the reduction does not
            /// take the type, or is a search.
            pub fn visit<V: FoldVisitor>(self, dtype: DType, visitor: V) -> Option<V::Output> {
                match self {
                    $(ReduceOp::$op => { $(for_class!($class, visit, ($op dtype visitor));)* })*
                    $(ReduceOp::$search => {})*
                }
                None
            }
        }

        $($(for_class!($class, implement, ($meaning $op $identity));)*)*
    };
}

for_each_reduction!(define_reductions);

impl ReduceOp {
    /// The element type of the result, of elements of type `dtype`.
    ///
    /// ```
    /// use indim_ops::{DType, ReduceOp};
    /// assert_eq!(ReduceOp::Max.result_dtype(DType::U8), DType::U8);
    /// assert_eq!(ReduceOp::ArgMax.result_dtype(DType::U8), DType::I64);
    /// assert!(!ReduceOp::Add.takes(DType::F32), "floats are summed in f64");
    /// ```
    pub const fn result_dtype(self, dtype: DType) -> DType {
        if self.is_search() { DType::I64 } else { dtype }
    }

    /// Whether the sum of elements of type `wide` may read elements of type `narrow`, which become `wide`
    /// without rounding.
    ///
    /// ```
    /// use indim_ops::{DType, ReduceOp};
    /// assert!(ReduceOp::Add.widens(DType::F32, DType::F64));
    /// assert!(!ReduceOp::Add.widens(DType::F64, DType::I64));
    /// ```
    pub fn widens(self, narrow: DType, wide: DType) -> bool {
        macro_rules! is_widening {
            ($($narrow:ident $lane:ident $wide:ident;)*) => {
                $((narrow == <$narrow>::DTYPE && wide == <$wide>::DTYPE))||*
            };
        }
        matches!(self, ReduceOp::Add) && for_each_widening!(is_widening)
    }
}

impl fmt::Display for ReduceOp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for ReduceOp {
    type Err = UnknownOp;

    /// Reads the name in indim's text: `reduce_add`.
    fn from_str(text: &str) -> Result<Self, UnknownOp> {
        ReduceOp::ALL.iter().copied().find(|op| op.name() == text).ok_or(UnknownOp)
    }
}

/// The fold `F` of these elements along an axis, in their order: the definition of every fold.
///
/// ```
/// use indim_ops::{fold, operations::{Add, Max}};
/// assert_eq!(fold::<Add, f64>(&[]), 0.0);
/// assert_eq!(fold::<Add, i8>(&[100, 100]), -56);
/// assert_eq!(fold::<Max, i32>(&[3, 9, 4]), 9);
/// ```
pub fn fold<F: Fold<T>, T: Element>(elements: &[T]) -> T {
    let folded = meaning::reduction::tree(
        elements,
        F::identity::<ScalarBackend>(),
        F::combine::<ScalarBackend>,
    );
    folded.canonical()
}
