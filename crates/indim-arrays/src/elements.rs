//! The elements of an array as Rust numbers (a slice, a vector, or a single number) and as text.

use core::fmt;

use indim_ops::elements::*;
use indim_ops::{DType, Element, for_each_element};
use indim_shape::{Diagnostic, ErrorCode};

use crate::array::Array;
use crate::element_layout::ElementLayout;
use crate::print::array_text;
use crate::view::ArrayError;

/// A failed conversion of an array to a vector or another library's array: the array and the reason.
///
/// ```
/// use indim_arrays::Array;
///
/// fn sum(array: Array) -> Result<f64, Box<dyn std::error::Error>> {
///     Ok(array.into_vec::<f64>()?.iter().sum())
/// }
///
/// let array = Array::new([2], vec![1.0f32, 2.0])?;
/// let message = "the elements are of f32, not of f64: ask for f32, or convert the result, as in f64(x)";
/// assert_eq!(sum(array.clone()).unwrap_err().to_string(), message);
///
/// let error = array.into_vec::<f64>().unwrap_err();
/// assert_eq!(error.code(), "element-type");
/// assert_eq!(error.into_array().into_vec::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct IntoElementsError {
    reason: ArrayError,
    /// Boxed, to keep a `Result` with this error small.
    array: Box<Array>,
}

impl IntoElementsError {
    pub(crate) fn new(reason: ArrayError, array: Array) -> Self {
        IntoElementsError { reason, array: Box::new(array) }
    }

    /// The unchanged array.
    pub fn into_array(self) -> Array {
        *self.array
    }

    /// The reason why the conversion failed.
    pub fn reason(&self) -> &ArrayError {
        &self.reason
    }

    /// A stable name of the kind of error.
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        self.reason.error_code()
    }

    /// The diagnostic of this error.
    pub fn diagnostic(&self) -> Diagnostic {
        self.reason.diagnostic()
    }
}

impl fmt::Display for IntoElementsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.reason, formatter)
    }
}

impl fmt::Debug for IntoElementsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.reason, formatter)
    }
}

impl core::error::Error for IntoElementsError {}

impl From<IntoElementsError> for ArrayError {
    fn from(error: IntoElementsError) -> Self {
        error.reason
    }
}

/// NumPy's text of the array; [`print`](crate::print) has options.
impl fmt::Display for Array {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&array_text(self))
    }
}

impl Array {
    /// The elements in row-major order.
    ///
    /// ```
    /// use indim_arrays::Array;
    ///
    /// let x = Array::new([2], vec![1.0f32, 2.0])?;
    /// assert_eq!(x.elements::<f32>()?, [1.0, 2.0]);
    /// let error = x.elements::<f64>().unwrap_err();
    /// assert_eq!(error.code(), "element-type");
    /// assert!(error.to_string().starts_with("the elements are of f32, not of f64"));
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// `element-type` unless they are of type `T`; `not-row-major` for an array in another memory order.
    pub fn elements<T: ElementLayout>(&self) -> Result<&[T], ArrayError> {
        self.check_row_major()?;
        self.elements_in_memory()
    }

    /// The elements in row-major order, to be overwritten; memory that clones share is copied first.
    ///
    /// # Errors
    /// Like [`Array::elements`].
    ///
    /// # Panics
    /// Like [`Array::view_mut`].
    pub fn elements_mut<T: ElementLayout>(&mut self) -> Result<&mut [T], ArrayError> {
        self.check_row_major()?;
        self.elements_in_memory_mut()
    }

    pub(crate) fn check_row_major(&self) -> Result<(), ArrayError> {
        match self.is_row_major() {
            true => Ok(()),
            false => Err(ArrayError::NotRowMajor {
                array_type: self.array_type().clone(),
                strides: self.strides(),
            }),
        }
    }

    pub(crate) fn check_dtype(&self, wanted: DType) -> Result<(), ArrayError> {
        match self.dtype() == wanted {
            true => Ok(()),
            false => Err(ArrayError::ElementType { elements: self.dtype(), wanted }),
        }
    }

    /// The only element of an array without axes, or with axes of size 1.
    ///
    /// ```
    /// use indim_arrays::Array;
    ///
    /// let sum = Array::from_scalar(2.5f32);
    /// assert_eq!(sum.scalar::<f32>()?, 2.5);
    /// assert_eq!(sum.scalar::<f64>().unwrap_err().code(), "element-type");
    ///
    /// let several = Array::from([2.5f32, 3.5]);
    /// let error = several.scalar::<f32>().unwrap_err();
    /// assert_eq!(error.to_string(), "f32[2] has 2 elements, and a scalar is one");
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// `element-type` unless it is of type `T`; `not-scalar` unless it has exactly one element.
    pub fn scalar<T: ElementLayout>(&self) -> Result<T, ArrayError> {
        match self.elements_in_memory::<T>()? {
            [only] => Ok(*only),
            _ => Err(ArrayError::NotScalar { array_type: self.array_type().clone() }),
        }
    }

    /// The element of a scalar as text; `None` for other arrays.
    ///
    /// ```
    /// assert_eq!(indim_arrays::Array::from_scalar(0.5f32).scalar_text().as_deref(), Some("0.5"));
    /// ```
    pub fn scalar_text(&self) -> Option<String> {
        macro_rules! element {
            ($($variant:ident $type:ident $class:ident;)*) => {
                None$(.or_else(|| self.scalar::<$type>().ok().map(|element| element.to_string())))*
            };
        }
        if !self.shape().is_scalar() {
            return None;
        }
        for_each_element!(element)
    }

    /// The elements in row-major order as a `Vec`: the memory of the array if it was made of a vector and
    /// no clone shares it, else a copy.
    ///
    /// ```
    /// use indim_arrays::Array;
    ///
    /// let array = Array::from([0.0f32, 1.0, 2.0]);
    /// let refused = array.into_vec::<f64>().unwrap_err();
    /// assert_eq!(refused.into_array().into_vec::<f32>()?, [0.0, 1.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `element-type` unless the elements are of type `T`; the error keeps the array.
    pub fn into_vec<T: ElementLayout>(self) -> Result<Vec<T>, IntoElementsError> {
        match self.into_own_vec() {
            Ok(elements) => Ok(elements),
            Err(array) => array.to_vec().map_err(|reason| IntoElementsError::new(reason, array)),
        }
    }

    /// A copy of the elements in row-major order.
    ///
    /// # Errors
    /// `element-type` unless the elements are of type `T`.
    pub fn to_vec<T: ElementLayout>(&self) -> Result<Vec<T>, ArrayError> {
        let elements = self.elements_in_memory::<T>()?;
        if self.is_row_major() {
            return Ok(elements.to_vec());
        }
        Ok(self.row_major_offsets().map(|offset| elements[offset / size_of::<T>()]).collect())
    }

    /// The elements' bytes in row-major order, little-endian.
    ///
    /// ```
    /// assert_eq!(indim_arrays::Array::from([1u16, 2]).to_le_bytes(), [1, 0, 2, 0]);
    /// ```
    pub fn to_le_bytes(&self) -> Vec<u8> {
        macro_rules! bytes {
            ($($variant:ident $type:ident $class:ident;)*) => {
                match self.dtype() {
                    $(DType::$variant => {
                        self.to_vec::<$type>().map(|it| <$type>::into_data(it).to_le_bytes())
                    })*
                }
            };
        }
        if cfg!(target_endian = "little") && self.is_row_major() {
            return self.bytes().to_vec();
        }
        for_each_element!(bytes).expect("invariant: the elements are of the matched type")
    }
}

/// Like [`Array::into_vec`].
impl<T: ElementLayout> TryFrom<Array> for Vec<T> {
    type Error = IntoElementsError;

    fn try_from(array: Array) -> Result<Self, IntoElementsError> {
        array.into_vec()
    }
}
