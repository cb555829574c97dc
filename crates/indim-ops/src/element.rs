//! Rust types of elements, and lists of elements.
//!
//! `for_each_element!` is the table of these types. The reference evaluator, the constants of a graph and
//! the kernel tables are generated from it.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use crate::complex::Complex;
use crate::dtype::{DType, DTypeClass};
use crate::element_lanes::ElementLanes;
use elements::*;
use indim_lanes::ScalarBackend;

/// Passes the table of element types (`Variant rust_type class`) to another macro, which needs the
/// types of [`elements`] in scope.
#[macro_export]
macro_rules! for_each_element {
    ($callback:ident) => {
        $callback! {
            Bool bool boolean;
            I8 i8 signed;
            I16 i16 signed;
            I32 i32 signed;
            I64 i64 signed;
            U8 u8 unsigned;
            U16 u16 unsigned;
            U32 u32 unsigned;
            U64 u64 unsigned;
            F16 f16 half;
            Bf16 bf16 half;
            F32 f32 float;
            F64 f64 float;
            C64 c64 complex;
            C128 c128 complex;
            F8E4m3fn f8e4m3fn float8;
            F8E5m2 f8e5m2 float8;
            F8E4m3fnuz f8e4m3fnuz float8;
            F8E5m2fnuz f8e5m2fnuz float8;
            F8E4m3b11fnuz f8e4m3b11fnuz float8;
            I4 i4 nibble;
            U4 u4 nibble;
        }
    };
}

/// The Rust types of `for_each_element!` that Rust itself does not have.
pub mod elements {
    pub use crate::complex::{c64, c128};
    pub use crate::half::{bf16, f16};
    pub use crate::storage::{f8e4m3b11fnuz, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, i4, u4};
}

mod sealed {
    /// Implemented only for the types of `for_each_element!`.
    pub trait Sealed {}
}

/// A Rust type that represents one element type.
///
/// The trait is sealed, because unsafe code reads and writes memory as these types.
///
/// ```
/// use indim_ops::{DType, Element, bf16};
///
/// assert_eq!((u8::DTYPE, bf16::DTYPE), (DType::U8, DType::Bf16));
/// ```
pub trait Element:
    sealed::Sealed
    + ElementLanes<In<ScalarBackend> = Self>
    + Copy
    + Default
    + PartialEq
    + core::fmt::Debug
    + Send
    + Sync
    + 'static
{
    /// The element type.
    const DTYPE: DType;
    /// The type of the parts of a complex element; for any other type the type itself.
    type Component: Element;
    /// The representation in memory, for which any bits are a valid value: `u8` for `bool`, else the type
    /// itself.
    type Storage: Copy + Default + Send + Sync + 'static;

    /// The element of this representation; a `bool` is true if any bit is set.
    fn from_storage(storage: Self::Storage) -> Self;
    /// The representation of the element in memory.
    fn to_storage(self) -> Self::Storage;

    /// The element with any NaN in it replaced by the canonical quiet NaN of the type.
    #[inline(always)]
    fn canonical(self) -> Self {
        Self::canonical_in::<ScalarBackend>(self)
    }
    /// Wraps dense elements as the data of an array.
    fn into_data(elements: Vec<Self>) -> ArrayData;
    /// The elements, if the data is of this type.
    fn elements(data: &ArrayData) -> Option<&[Self]>;
    /// The element of these little-endian bytes; missing bytes are 0.
    fn read_bytes(bytes: &[u8]) -> Self;
    /// Appends the little-endian bytes of the element.
    fn write_bytes(self, bytes: &mut Vec<u8>);
}

macro_rules! define_elements {
    ($($variant:ident $type:ident $class:ident;)*) => {
        /// The elements of an array, dense, in row-major order.
        ///
        /// ```
        /// use indim_ops::{ArrayData, DType, Element};
        ///
        /// let data = f32::into_data(vec![1.0, f32::NAN]);
        /// assert_eq!((data.dtype(), data.len(), data.is_empty()), (DType::F32, 2, false));
        /// assert_eq!(ArrayData::from_le_bytes(DType::U16, &[1, 0, 2, 0]), ArrayData::U16(vec![1, 2]));
        /// assert_eq!(ArrayData::U16(vec![1, 2]).to_le_bytes(), [1, 0, 2, 0]);
        /// assert!(data.has_bits_of(&data) && data != data); // a NaN equals nothing
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        pub enum ArrayData {
            $(
                #[doc = concat!("Elements of type `", stringify!($type), "`.")]
                $variant(Vec<$type>),
            )*
        }

        impl ArrayData {
            /// The type of the elements.
            pub fn dtype(&self) -> DType {
                match self { $(ArrayData::$variant(_) => DType::$variant,)* }
            }

            /// The number of elements.
            pub fn len(&self) -> usize {
                match self { $(ArrayData::$variant(elements) => elements.len(),)* }
            }

            /// Whether `len` is 0.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The elements of type `dtype` with these little-endian bytes; an incomplete last element is
            /// ignored.
            pub fn from_le_bytes(dtype: DType, bytes: &[u8]) -> ArrayData {
                match dtype {
                    $(DType::$variant => {
                        let elements = bytes.chunks_exact(dtype.size());
                        ArrayData::$variant(elements.map(<$type as Element>::read_bytes).collect())
                    })*
                }
            }

            /// Whether both have the same elements, bit for bit.
            pub fn has_bits_of(&self, other: &ArrayData) -> bool {
                match (self, other) {
                    $((ArrayData::$variant(elements), ArrayData::$variant(others)) => {
                        let bits = |&element: &$type| define_elements!(@bits_of $class element);
                        elements.len() == others.len()
                            && elements.iter().map(bits).eq(others.iter().map(bits))
                    })*
                    _ => false,
                }
            }

            /// Hashes the bits of the elements.
            pub fn hash_bits(&self, state: &mut impl Hasher) {
                match self {
                    $(ArrayData::$variant(elements) => {
                        for &element in elements {
                            define_elements!(@bits_of $class element).hash(state);
                        }
                    })*
                }
            }

            /// The elements' bytes in native byte order.
            pub fn to_ne_bytes(&self) -> Vec<u8> {
                let mut bytes = self.to_le_bytes();
                if cfg!(target_endian = "big") && !bytes.is_empty() {
                    // A complex number is two numbers, each with its own byte order.
                    let is_complex = self.dtype().class() == DTypeClass::Complex;
                    let parts = if is_complex { 2 } else { 1 };
                    bytes.chunks_exact_mut(self.dtype().size() / parts).for_each(<[u8]>::reverse);
                }
                bytes
            }

            /// The elements' bytes, little-endian.
            pub fn to_le_bytes(&self) -> Vec<u8> {
                let mut bytes = Vec::with_capacity(self.len() * self.dtype().size());
                match self {
                    $(ArrayData::$variant(elements) => {
                        elements.iter().for_each(|element| element.write_bytes(&mut bytes));
                    })*
                }
                bytes
            }
        }

        $(define_elements!(@element $variant $type $class);)*
    };
    (@element $variant:ident $type:ident $class:ident) => {
        impl sealed::Sealed for $type {}

        impl Element for $type {
            const DTYPE: DType = DType::$variant;
            type Component = define_elements!(@component $type);
            type Storage = define_elements!(@storage $class $type);
            #[inline(always)]
            fn from_storage(storage: Self::Storage) -> Self { define_elements!(@from_storage $class storage) }
            #[inline(always)]
            fn to_storage(self) -> Self::Storage { define_elements!(@to_storage $class self) }
            fn into_data(elements: Vec<Self>) -> ArrayData { ArrayData::$variant(elements) }
            fn elements(data: &ArrayData) -> Option<&[Self]> {
                match data { ArrayData::$variant(elements) => Some(elements), _ => None }
            }
            fn read_bytes(bytes: &[u8]) -> Self { define_elements!(@read $class bytes $type) }
            fn write_bytes(self, bytes: &mut Vec<u8>) { define_elements!(@bytes $class self bytes) }
        }
    };
    (@component c64) => { f32 };
    (@component c128) => { f64 };
    (@component $type:ident) => { $type };
    (@storage boolean $type:ident) => { u8 };
    (@storage $class:ident $type:ident) => { $type };
    (@from_storage boolean $storage:ident) => { $storage != 0 };
    (@from_storage $class:ident $storage:ident) => { $storage };
    (@to_storage boolean $self:ident) => { u8::from($self) };
    (@to_storage $class:ident $self:ident) => { $self };
    (@read boolean $bytes:ident $type:ident) => { first_bytes::<1>($bytes)[0] != 0 };
    (@read half $bytes:ident $type:ident) => {
        $type::from_bits(u16::from_le_bytes(first_bytes($bytes)))
    };
    (@read float8 $bytes:ident $type:ident) => { $type::from_bits(first_bytes::<1>($bytes)[0]) };
    (@read nibble $bytes:ident $type:ident) => { $type::from_bits(first_bytes::<1>($bytes)[0]) };
    (@read complex $bytes:ident $type:ident) => {{
        let (re, im) = $bytes.split_at($bytes.len() / 2);
        Complex { re: Element::read_bytes(re), im: Element::read_bytes(im) }
    }};
    (@read $class:ident $bytes:ident $type:ident) => { $type::from_le_bytes(first_bytes($bytes)) };
    (@bits_of half $element:ident) => { $element.to_bits() };
    (@bits_of float8 $element:ident) => { $element.to_bits() };
    (@bits_of nibble $element:ident) => { $element.to_bits() };
    (@bits_of float $element:ident) => { $element.to_bits() };
    (@bits_of complex $element:ident) => { ($element.re.to_bits(), $element.im.to_bits()) };
    (@bits_of $class:ident $element:ident) => { $element };
    (@bytes boolean $self:ident $bytes:ident) => { $bytes.push(u8::from($self)) };
    (@bytes half $self:ident $bytes:ident) => {
        $bytes.extend_from_slice(&$self.to_bits().to_le_bytes())
    };
    (@bytes float8 $self:ident $bytes:ident) => { $bytes.push($self.to_bits()) };
    (@bytes nibble $self:ident $bytes:ident) => { $bytes.push($self.to_bits()) };
    (@bytes complex $self:ident $bytes:ident) => {{
        $bytes.extend_from_slice(&$self.re.to_le_bytes());
        $bytes.extend_from_slice(&$self.im.to_le_bytes());
    }};
    (@bytes $class:ident $self:ident $bytes:ident) => { $bytes.extend_from_slice(&$self.to_le_bytes()) };
}

for_each_element!(define_elements);

/// The first `N` bytes, padded with zeros.
fn first_bytes<const N: usize>(bytes: &[u8]) -> [u8; N] {
    core::array::from_fn(|index| bytes.get(index).copied().unwrap_or_default())
}
