//! The elements of a buffer as Rust numbers: a slice, a vector, or a single number.

use core::fmt;

use indim_ops::Element;
use indim_shape::{Diagnostic, ErrorCode};

use crate::buffer::Buffer;
use crate::element_layout::ElementLayout;
use crate::print::array_text;
use crate::view::ArrayError;

/// A failed conversion of a buffer to a vector or an array: the buffer and the reason.
///
/// ```
/// use indim_arrays::Buffer;
///
/// fn sum(buffer: Buffer) -> Result<f64, Box<dyn std::error::Error>> {
///     Ok(buffer.into_vec::<f64>()?.iter().sum())
/// }
///
/// let buffer = Buffer::from_slice([2], &[1.0f32, 2.0])?;
/// let message = "the elements are of f32, not of f64: ask for f32, or convert the result, as in f64(x)";
/// assert_eq!(sum(buffer.clone()).unwrap_err().to_string(), message);
///
/// let error = buffer.into_vec::<f64>().unwrap_err();
/// assert_eq!(error.code(), "element-type");
/// assert_eq!(error.into_buffer().into_vec::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct IntoElementsError {
    reason: ArrayError,
    /// Boxed, which keeps results small.
    buffer: Box<Buffer>,
}

impl IntoElementsError {
    pub(crate) fn new(reason: ArrayError, buffer: Buffer) -> Self {
        IntoElementsError { reason, buffer: Box::new(buffer) }
    }

    /// The unchanged buffer.
    pub fn into_buffer(self) -> Buffer {
        *self.buffer
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
impl fmt::Display for Buffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&array_text(self))
    }
}

impl Buffer {
    /// The elements, if they are in row-major order and of type `T`.
    pub fn elements<T: ElementLayout>(&self) -> Option<&[T]> {
        self.elements_in_memory().filter(|_| self.is_row_major())
    }

    /// The only element of an array without axes, or with axes of size 1.
    ///
    /// ```
    /// use indim_arrays::Buffer;
    ///
    /// let sum = Buffer::from_slice([], &[2.5f32])?;
    /// assert_eq!(sum.scalar::<f32>()?, 2.5);
    /// assert_eq!(sum.scalar::<f64>().unwrap_err().code(), "element-type");
    ///
    /// let several = Buffer::from_slice([2], &[2.5f32, 3.5])?;
    /// let error = several.scalar::<f32>().unwrap_err();
    /// assert_eq!(error.to_string(), "f32[2] has 2 elements, and a scalar is one");
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// `element-type` unless it is of type `T`; `not-scalar` unless it has exactly one element.
    pub fn scalar<T: ElementLayout>(&self) -> Result<T, ArrayError> {
        match self.typed_elements::<T>()? {
            [only] => Ok(*only),
            _ => Err(ArrayError::NotScalar { array_type: self.array_type().clone() }),
        }
    }

    /// The elements in memory order.
    pub(crate) fn typed_elements<T: ElementLayout>(&self) -> Result<&[T], ArrayError> {
        self.elements_in_memory().ok_or_else(|| ArrayError::ElementType {
            elements: self.array_type().dtype,
            wanted: T::Element::DTYPE,
        })
    }

    /// A copy of the elements in row-major order as a `Vec`.
    ///
    /// ```
    /// use indim_arrays::Buffer;
    ///
    /// let buffer = Buffer::from_slice([3], &[0.0f32, 1.0, 2.0])?;
    /// let refused = buffer.into_vec::<f64>().unwrap_err();
    /// assert_eq!(refused.into_buffer().into_vec::<f32>()?, [0.0, 1.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `element-type` unless the elements are of type `T`; the error keeps the buffer.
    pub fn into_vec<T: ElementLayout>(self) -> Result<Vec<T>, IntoElementsError> {
        match self.row_major_elements() {
            Ok(elements) => Ok(elements),
            Err(reason) => Err(IntoElementsError::new(reason, self)),
        }
    }

    /// A copy of the elements in row-major order.
    pub(crate) fn row_major_elements<T: ElementLayout>(&self) -> Result<Vec<T>, ArrayError> {
        let elements = self.typed_elements::<T>()?;
        if self.is_row_major() {
            return Ok(elements.to_vec());
        }
        Ok(self.row_major_offsets().map(|offset| elements[offset / size_of::<T>()]).collect())
    }
}

/// Like [`Buffer::into_vec`].
impl<T: ElementLayout> TryFrom<Buffer> for Vec<T> {
    type Error = IntoElementsError;

    fn try_from(buffer: Buffer) -> Result<Self, IntoElementsError> {
        buffer.into_vec()
    }
}
