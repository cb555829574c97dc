//! Elements in Rust: which scalar carries which `DType`, and arrays of them.
//!
//! `for_each_element!` lists them. The reference evaluator, the constants of a graph and the kernel
//! tables are made from it.

use core::hash::{Hash, Hasher};
use std::hash::DefaultHasher;
use std::sync::{Arc, OnceLock};

use indim_shape::Shape;

use crate::complex::{Complex, c64, c128};
use crate::dtype::{ArrayType, DType, DTypeClass};
use crate::half::{bf16, f16};

/// Hands the table of element types (`Variant rust_type class`) to another macro, which needs the
/// types `f16`, `bf16`, `c64` and `c128` in scope.
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
        }
    };
}

mod sealed {
    /// Only the types of `for_each_element!` carry elements.
    pub trait Sealed {}
}

/// A Rust scalar that carries one element type.
///
/// The trait is sealed: memory is read and written as these types.
pub trait Element:
    sealed::Sealed + Copy + Default + PartialEq + core::fmt::Debug + Send + Sync + 'static
{
    /// The element type.
    const DTYPE: DType;
    /// The type of one part of a complex element; of any other the type itself.
    type Component: Element;
    /// What lies in memory: any bits are a value of it.
    type Stored: Copy + Default + Send + Sync + 'static;

    /// The element that is stored so; of a bool, whether any bit is set.
    fn from_stored(stored: Self::Stored) -> Self;
    /// How the element is stored.
    fn to_stored(self) -> Self::Stored;

    /// The element with any NaN in it replaced by the canonical quiet NaN of the type.
    fn canonical(self) -> Self;
    /// Wraps dense elements as the data of an array.
    fn into_data(elements: Vec<Self>) -> ArrayData;
    /// The elements, if the data is of this type.
    fn elements(data: &ArrayData) -> Option<&[Self]>;
    /// The element that these little-endian bytes hold; bytes that are missing are 0.
    fn read_bytes(bytes: &[u8]) -> Self;
    /// Appends the little-endian bytes of the element.
    fn write_bytes(self, bytes: &mut Vec<u8>);
}

macro_rules! define_elements {
    ($($variant:ident $type:ident $class:ident;)*) => {
        /// The elements of an array, dense, in row-major order.
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

            /// Whether there are no elements.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The elements of type `dtype` whose little-endian bytes these are; what is left over
            /// is not read.
            pub fn from_le_bytes(dtype: DType, bytes: &[u8]) -> ArrayData {
                match dtype {
                    $(DType::$variant => {
                        let elements = bytes.chunks_exact(dtype.size());
                        ArrayData::$variant(elements.map(<$type as Element>::read_bytes).collect())
                    })*
                }
            }

            /// Whether both have the same elements, bit for bit.
            fn has_bits_of(&self, other: &ArrayData) -> bool {
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
            fn hash_bits(&self, state: &mut impl Hasher) {
                match self {
                    $(ArrayData::$variant(elements) => {
                        for &element in elements {
                            define_elements!(@bits_of $class element).hash(state);
                        }
                    })*
                }
            }

            /// The elements' bytes as this machine has them in memory.
            pub fn to_ne_bytes(&self) -> Vec<u8> {
                let mut bytes = self.to_le_bytes();
                if cfg!(target_endian = "big") && !bytes.is_empty() {
                    // A complex number is two numbers.
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
            type Stored = define_elements!(@stored $class $type);
            #[inline(always)]
            fn from_stored(stored: Self::Stored) -> Self { define_elements!(@from_stored $class stored) }
            #[inline(always)]
            fn to_stored(self) -> Self::Stored { define_elements!(@to_stored $class self) }
            #[inline(always)]
            fn canonical(self) -> Self { define_elements!(@canonical $class self $type) }
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
    (@stored boolean $type:ident) => { u8 };
    (@stored $class:ident $type:ident) => { $type };
    (@from_stored boolean $stored:ident) => { $stored != 0 };
    (@from_stored $class:ident $stored:ident) => { $stored };
    (@to_stored boolean $self:ident) => { u8::from($self) };
    (@to_stored $class:ident $self:ident) => { $self };
    (@canonical half $self:ident $type:ident) => { if $self.is_nan() { $type::NAN } else { $self } };
    (@canonical float $self:ident $type:ident) => { CanonicalNan::canonical_nan($self) };
    (@canonical complex $self:ident $type:ident) => {
        Complex { re: CanonicalNan::canonical_nan($self.re), im: CanonicalNan::canonical_nan($self.im) }
    };
    (@canonical $class:ident $self:ident $type:ident) => { $self };
    (@read boolean $bytes:ident $type:ident) => { first_bytes::<1>($bytes)[0] != 0 };
    (@read half $bytes:ident $type:ident) => {
        $type::from_bits(u16::from_le_bytes(first_bytes($bytes)))
    };
    (@read complex $bytes:ident $type:ident) => {{
        let (re, im) = $bytes.split_at($bytes.len() / 2);
        Complex { re: Element::read_bytes(re), im: Element::read_bytes(im) }
    }};
    (@read $class:ident $bytes:ident $type:ident) => { $type::from_le_bytes(first_bytes($bytes)) };
    (@bits_of half $element:ident) => { $element.to_bits() };
    (@bits_of float $element:ident) => { $element.to_bits() };
    (@bits_of complex $element:ident) => { ($element.re.to_bits(), $element.im.to_bits()) };
    (@bits_of $class:ident $element:ident) => { $element };
    (@bytes boolean $self:ident $bytes:ident) => { $bytes.push(u8::from($self)) };
    (@bytes half $self:ident $bytes:ident) => {
        $bytes.extend_from_slice(&$self.to_bits().to_le_bytes())
    };
    (@bytes complex $self:ident $bytes:ident) => {{
        $bytes.extend_from_slice(&$self.re.to_le_bytes());
        $bytes.extend_from_slice(&$self.im.to_le_bytes());
    }};
    (@bytes $class:ident $self:ident $bytes:ident) => { $bytes.extend_from_slice(&$self.to_le_bytes()) };
}

for_each_element!(define_elements);

/// The first `N` bytes; zeros where there are fewer.
fn first_bytes<const N: usize>(bytes: &[u8]) -> [u8; N] {
    core::array::from_fn(|index| bytes.get(index).copied().unwrap_or_default())
}

/// The value with any NaN replaced by the positive quiet one.
///
/// x86 makes negative NaNs and propagates payloads, other processors do not. The bits are compared
/// as integers: to the compiler all NaNs are equal as floats, so it drops a choice between two where a
/// number is the same anyway (of `sqrt`, in optimised builds).
trait CanonicalNan {
    fn canonical_nan(self) -> Self;
}

macro_rules! define_canonical_nan {
    ($($type:ident)*) => {$(
        impl CanonicalNan for $type {
            #[inline(always)]
            fn canonical_nan(self) -> Self {
                // Without the sign, only NaNs are above infinity.
                let bits = self.to_bits();
                let is_nan = bits << 1 > $type::INFINITY.to_bits() << 1;
                $type::from_bits(if is_nan { $type::NAN.to_bits() } else { bits })
            }
        }
    )*};
}

define_canonical_nan!(f32 f64);

/// An element on which operations compute in a wider type, and round once at the end.
///
/// The 16-bit floats do so always; `c64` in the functions that say so in the table of operations.
pub trait Widened: Element {
    /// The type in which operations compute.
    type Wide: Element;
    /// The same value in the wider type; the sign of a NaN is kept.
    fn widen(self) -> Self::Wide;
}

/// What a result in the wider type becomes. A truth value stays.
pub trait FromWide<Wide: Element>: Element {
    /// The nearest value, half to even; overflow gives an infinity.
    fn from_wide(wide: Wide) -> Self;
}

macro_rules! define_half {
    ($($type:ident)*) => {$(
        impl Widened for $type {
            type Wide = f32;
            #[inline(always)]
            fn widen(self) -> f32 { self.to_f32() }
        }
        impl FromWide<f32> for $type {
            #[inline(always)]
            fn from_wide(wide: f32) -> Self { Self::from_f32(wide) }
        }
    )*};
}

define_half!(f16 bf16);

impl Widened for c64 {
    type Wide = c128;
    #[inline(always)]
    fn widen(self) -> c128 {
        Complex { re: f64::from(self.re), im: f64::from(self.im) }
    }
}

impl FromWide<c128> for c64 {
    #[inline(always)]
    fn from_wide(wide: c128) -> Self {
        Complex { re: wide.re as f32, im: wide.im as f32 }.canonical()
    }
}

impl FromWide<bool> for bool {
    #[inline(always)]
    fn from_wide(wide: bool) -> Self {
        wide
    }
}

/// A dense, row-major array in memory: a constant of a graph, or a result of the reference evaluator.
///
/// ```
/// use indim_graph::Array;
/// let array = Array::new([2, 2], vec![1.0f32, 2.0, 3.0, 4.0]).unwrap();
/// assert_eq!(array.array_type().to_string(), "f32[2, 2]");
/// assert_eq!(array.elements::<f32>().unwrap()[3], 4.0);
/// ```
///
/// Two arrays are equal when their types and the bits of their elements are.
#[derive(Debug, Clone)]
pub struct Array {
    shape: Shape,
    elements: Arc<SharedElements>,
}

/// Elements that never change, with their hash once it was asked for: every pass looks up the
/// constants of a graph, which may be large.
#[derive(Debug)]
struct SharedElements {
    data: ArrayData,
    hash: OnceLock<u64>,
}

impl SharedElements {
    fn new(data: ArrayData) -> Arc<Self> {
        Arc::new(SharedElements { data, hash: OnceLock::new() })
    }

    fn hash(&self) -> u64 {
        *self.hash.get_or_init(|| {
            let mut state = DefaultHasher::new();
            self.data.hash_bits(&mut state);
            state.finish()
        })
    }
}

impl PartialEq for Array {
    fn eq(&self, other: &Self) -> bool {
        let is_same_type = self.dtype() == other.dtype() && self.shape == other.shape;
        is_same_type
            && (Arc::ptr_eq(&self.elements, &other.elements)
                || self.data().has_bits_of(other.data()))
    }
}

impl Eq for Array {}

impl Hash for Array {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dtype().hash(state);
        self.shape.hash(state);
        self.elements.hash().hash(state);
    }
}

/// The number of elements does not fit the shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongElementCount {
    /// The shape asked for.
    pub shape: Shape,
    /// The number of elements given.
    pub elements: usize,
}

impl core::fmt::Display for WrongElementCount {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "{} elements do not fill an array of shape {}", self.elements, self.shape)
    }
}

impl core::error::Error for WrongElementCount {}

impl Array {
    /// An array of `shape` over `elements` in row-major order.
    ///
    /// # Errors
    /// When the number of elements is not that of the shape.
    pub fn new<T: Element>(
        shape: impl Into<Shape>,
        elements: Vec<T>,
    ) -> Result<Self, WrongElementCount> {
        Self::from_data(shape, T::into_data(elements))
    }

    /// An array of `shape` over `data` in row-major order.
    ///
    /// # Errors
    /// When the number of elements is not that of the shape.
    pub fn from_data(shape: impl Into<Shape>, data: ArrayData) -> Result<Self, WrongElementCount> {
        let shape = shape.into();
        match shape.element_count() {
            Ok(count) if count == data.len() => {
                Ok(Array { shape, elements: SharedElements::new(data) })
            }
            _ => Err(WrongElementCount { shape, elements: data.len() }),
        }
    }

    /// An array of rank 0.
    pub fn scalar<T: Element>(value: T) -> Self {
        Array { shape: Shape::scalar(), elements: SharedElements::new(T::into_data(vec![value])) }
    }

    /// The same elements in the same order under another shape.
    ///
    /// # Errors
    /// When the number of elements is not that of the shape.
    pub fn reshaped(&self, shape: Shape) -> Result<Self, WrongElementCount> {
        match shape.element_count() {
            Ok(count) if count == self.data().len() => {
                Ok(Array { shape, elements: self.elements.clone() })
            }
            _ => Err(WrongElementCount { shape, elements: self.data().len() }),
        }
    }

    /// The size of each axis.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The type of each element.
    pub fn dtype(&self) -> DType {
        self.data().dtype()
    }

    /// Element type and shape.
    pub fn array_type(&self) -> ArrayType {
        ArrayType { dtype: self.dtype(), shape: self.shape.clone() }
    }

    /// The elements, whatever their type.
    pub fn data(&self) -> &ArrayData {
        &self.elements.data
    }

    /// The elements in row-major order, if they are of type `T`.
    pub fn elements<T: Element>(&self) -> Option<&[T]> {
        T::elements(self.data())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn hash(array: &Array) -> u64 {
        let mut state = DefaultHasher::new();
        array.hash(&mut state);
        state.finish()
    }

    #[test]
    fn arrays_are_equal_and_hashed_by_bits() {
        let ending_in = |last: f32| {
            let mut elements = vec![0.0f32; 64];
            elements[63] = last;
            Array::new([64], elements).unwrap()
        };
        let arrays = [0.0, -0.0, 1.0, f32::NAN, -f32::NAN].map(ending_in);
        assert_eq!(arrays.iter().map(hash).collect::<HashSet<u64>>().len(), arrays.len());
        for (index, array) in arrays.iter().enumerate() {
            assert_eq!(arrays.iter().position(|other| other == array), Some(index));
        }
        assert_eq!(hash(&arrays[3]), hash(&ending_in(f32::NAN)));
        assert_eq!(arrays[3], ending_in(f32::NAN));
    }

    #[test]
    fn arrays_of_different_types_differ() {
        let flat = Array::new([4], vec![0i32; 4]).unwrap();
        let square = flat.reshaped(Shape::from([2, 2])).unwrap();
        let floats = Array::new([4], vec![0.0f32; 4]).unwrap();
        assert!(flat != square && flat != floats);
        assert!(hash(&flat) != hash(&square) && hash(&flat) != hash(&floats));
    }
}
