//! The table of reductions, and code generated from it.
//!
//! A reduction folds the elements along one axis by an operation of the table of operations, in the element
//! type of the operand. A row has the name, the operation, the definition of the operation, the identity (a
//! function in `meaning/identity.rs`), the classes of element types, the classes for which the order of the
//! elements changes the bits (`ordered`), and the documentation. An arg-reduction returns the index of an
//! extreme. `meaning/reduction.rs` defines the order of the elements.

use core::fmt;
use core::str::FromStr;

use crate::complex::c128;
use crate::dtype::DType;
use crate::element::Element;
use crate::element_lanes::{ElementLanes, FromWide, NarrowElement};
use crate::half::{bf16, f16};
use crate::meaning;
use crate::op::{Binary, Op, OpType, UnknownOp, for_class, is_of_word, operations};
use indim_lanes::ScalarBackend;
use indim_lanes::lane::LaneBackend;

/// Passes the table of reductions to another macro.
#[macro_export]
macro_rules! for_each_reduction {
    ($callback:ident) => {
        $callback! {
            folds {
                /// The sum; +0 without elements. Integers wrap; floats are summed by the fixed tree.
                reduce_add = Add add zero [signed unsigned f64_c128] ordered [f64_c128];
                /// The product; 1 without elements. Integers wrap; floats are multiplied by the fixed tree.
                reduce_mul = Mul mul one [signed unsigned f64_c128] ordered [f64_c128];
                /// The largest element; any NaN gives a NaN, -0 is below +0. Without elements -inf, or the
                /// type's minimum.
                reduce_max = Max max lowest [boolean signed unsigned float] ordered [];
                /// The smallest element; any NaN gives a NaN, -0 is below +0. Without elements inf, or the
                /// type's maximum.
                reduce_min = Min min highest [boolean signed unsigned float] ordered [];
                /// The largest number; NaN if all are NaN.
                reduce_fmax = Fmax fmax nan [float] ordered [];
                /// The smallest number; NaN if all are NaN.
                reduce_fmin = Fmin fmin nan [float] ordered [];
                /// Logical and; bitwise and of integers. Without elements true, or all bits.
                reduce_and = And and ones [boolean signed unsigned] ordered [];
                /// Logical or; bitwise or of integers. Without elements false, or no bits.
                reduce_or = Or or zero [boolean signed unsigned] ordered [];
                /// Exclusive or: whether an odd number of elements is true; bitwise for integers.
                reduce_xor = Xor xor zero [boolean signed unsigned] ordered [];
            }
            arg_reductions {
                /// The index of the first NaN, or else of the first largest element; an `i64`.
                argmax = ArgMax Max [boolean signed unsigned float];
                /// The index of the first NaN, or else of the first smallest element; an `i64`.
                argmin = ArgMin Min [boolean signed unsigned float];
            }
        }
    };
}

/// Passes the table of widening sums to another macro: `narrow lane wide;`.
///
/// A sum of type `wide` may read elements of type `narrow` directly, because they convert without rounding.
/// `lane` is the accumulator type of one lane in a block of the tree. If `lane` is narrower than `wide`,
/// the 16 elements that one lane takes from a block still cannot overflow it.
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

/// The fold of elements of type `T` by an operation of the table.
pub trait Fold<T: Element>: OpType {
    /// Whether the order of the elements changes the bits of the result: [`ReduceOp::is_ordered`].
    const IS_ORDERED: bool;
    /// The identity, which is the result without elements. Combining with it changes no element, with the
    /// exceptions that `meaning/identity.rs` names.
    fn identity<L: LaneBackend>() -> T::In<L>;
    /// The combination of two elements, or of two partial folds; a NaN may have any bits.
    fn combine<L: LaneBackend>(x: T::In<L>, y: T::In<L>) -> T::In<L>;
}

/// A visitor of the fold of one element type; see [`ReduceOp::visit`].
pub trait FoldVisitor {
    /// Its result.
    type Output;
    /// Called for a fold of elements of type `T`.
    fn fold<F: Fold<T>, T: Element>(self) -> Self::Output;
}

macro_rules! implement {
    (($name:ident $op:ident $identity:ident), $variant:ident $type:ident widened) => {
        impl Fold<$type> for operations::$op {
            const IS_ORDERED: bool = ReduceOp::$op.is_ordered(DType::$variant);
            #[inline(always)]
            fn identity<L: LaneBackend>() -> <$type as ElementLanes>::In<L> {
                let wide = meaning::identity::float::$identity::<
                    <<$type as NarrowElement>::Wide as ElementLanes>::In<L>,
                >();
                <$type as FromWide<_>>::from_wide::<L>(wide)
            }
            #[inline(always)]
            fn combine<L: LaneBackend>(
                x: <$type as ElementLanes>::In<L>,
                y: <$type as ElementLanes>::In<L>,
            ) -> <$type as ElementLanes>::In<L> {
                <Self as Binary<$type>>::apply_in::<L>(x, y)
            }
        }
    };
    (($name:ident $op:ident $identity:ident), $variant:ident $type:ident $module:ident) => {
        impl Fold<$type> for operations::$op {
            const IS_ORDERED: bool = ReduceOp::$op.is_ordered(DType::$variant);
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
            $name:ident = $op:ident $meaning:ident $identity:ident [$($class:ident)*]
                ordered [$($ordered:ident)*];
        )* }
        arg_reductions { $(
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

            /// The name of the scan by this operation, in indim's text.
            pub const fn scan_name(self) -> &'static str {
                match self {
                    $(ReduceOp::$op => concat!("scan_", stringify!($meaning)),)*
                    $(ReduceOp::$search => concat!("scan_", stringify!($sname)),)*
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

            /// Whether the order of the elements changes the bits of the result, for elements of type
            /// `dtype`. It does for sums and products of floats and complex numbers, which follow the fixed
            /// tree.
            pub const fn is_ordered(self, dtype: DType) -> bool {
                match self {
                    $(ReduceOp::$op => false $(|| is_of_word!($ordered dtype))*,)*
                    $(ReduceOp::$search => false,)*
                }
            }

            /// The operation that combines two elements; for an arg-reduction, the operation of its extreme.
            pub const fn operation(self) -> Op {
                match self {
                    $(ReduceOp::$op => Op::$op,)*
                    $(ReduceOp::$search => Op::$extreme,)*
                }
            }

            /// For an arg-reduction, the fold that gives its extreme; for a fold, the fold itself.
            pub const fn extremum(self) -> ReduceOp {
                match self {
                    $(ReduceOp::$op => self,)*
                    $(ReduceOp::$search => ReduceOp::$extreme,)*
                }
            }

            /// Whether the result is the index of an element.
            pub const fn is_arg_reduction(self) -> bool {
                match self {
                    $(ReduceOp::$op => false,)*
                    $(ReduceOp::$search => true,)*
                }
            }

            /// Calls `visitor` with the fold of elements of type `dtype`; `None` if the reduction does not
            /// take the type, or is an arg-reduction.
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
    /// The element type of the result, for elements of type `dtype`.
    ///
    /// ```
    /// use indim_ops::{DType, ReduceOp};
    /// assert_eq!(ReduceOp::Max.result_dtype(DType::U8), DType::U8);
    /// assert_eq!(ReduceOp::ArgMax.result_dtype(DType::U8), DType::I64);
    /// assert!(!ReduceOp::Add.takes(DType::F32), "floats are summed in f64");
    /// ```
    pub const fn result_dtype(self, dtype: DType) -> DType {
        if self.is_arg_reduction() { DType::I64 } else { dtype }
    }

    /// The reduction whose scan has this name in indim's text.
    ///
    /// ```
    /// use indim_ops::ReduceOp;
    /// assert_eq!(ReduceOp::from_scan_name("scan_max"), Some(ReduceOp::Max));
    /// assert_eq!(ReduceOp::from_scan_name("scan_argmax"), None);
    /// ```
    pub fn from_scan_name(name: &str) -> Option<ReduceOp> {
        let mut scans = ReduceOp::ALL.iter().copied().filter(|op| !op.is_arg_reduction());
        scans.find(|op| op.scan_name() == name)
    }

    /// Whether a sum of type `wide` may read elements of type `narrow`, which convert without rounding.
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

    /// Parses the name in indim's text: `reduce_add`.
    fn from_str(text: &str) -> Result<Self, UnknownOp> {
        ReduceOp::ALL.iter().copied().find(|op| op.name() == text).ok_or(UnknownOp)
    }
}

/// The fold `F` of these elements along an axis: the definition of every fold.
///
/// ```
/// use indim_ops::{fold, operations::{Add, Max}};
/// assert_eq!(fold::<Add, f64>(&[]), 0.0);
/// assert_eq!(fold::<Add, i8>(&[100, 100]), -56);
/// assert_eq!(fold::<Max, i32>(&[3, 9, 4]), 9);
/// ```
pub fn fold<F: Fold<T>, T: Element>(elements: &[T]) -> T {
    // `combine` is a function pointer, so that all folds of one element type share the code of the tree.
    let combine: fn(T, T) -> T = F::combine::<ScalarBackend>;
    meaning::reduction::tree(elements, F::identity::<ScalarBackend>(), combine).canonical()
}
