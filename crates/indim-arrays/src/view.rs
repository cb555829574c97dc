//! Views of arrays in the caller's memory. Holds unsafe code.
//!
//! Compiled programs read and write arrays through views; `array.rs` has arrays that own their memory. A
//! view consists of an element type, a shape, a stride in bytes for each axis, and a pointer to the first
//! element. Safe constructors check that every element is inside the given memory. Elements need no
//! alignment.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;
use core::ptr::NonNull;
use std::borrow::Cow;

use indim_ops::{ArrayType, DType, Element};
use indim_shape::{Diagnostic, ErrorCode, Shape, ShapeError};

use crate::element_layout::{ElementLayout, as_elements, as_elements_mut};
use crate::layout::{StridedLayout, extent};
use crate::strides::{is_row_major, row_major_byte_strides};

/// The reason why memory cannot be viewed or allocated as an array. `{:?}` has the code and the message.
///
/// ```
/// use indim_arrays::{ArrayError, ArrayView};
/// use indim_shape::Shape;
///
/// let error = ArrayView::from_slice([2, 2], &[1.0f32, 2.0, 3.0]).unwrap_err();
/// assert_eq!(error, ArrayError::ElementCount { shape: Shape::from([2, 2]), given: 3 });
/// assert_eq!(error.code(), "element-count");
/// assert_eq!(format!("{error:?}"), format!("error[element-count]: {error}"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrayError {
    /// [E5](indim_shape::rules#the-explicit-form-e): the array's size does not fit the address space.
    TooLarge(ShapeError),
    /// The system refuses the memory.
    OutOfMemory {
        /// The requested bytes.
        bytes: usize,
    },
    /// The number of strides differs from the number of axes.
    StrideCount {
        /// The number of axes.
        rank: usize,
        /// The number of strides.
        strides: usize,
    },
    /// The slice and the shape have different numbers of elements.
    ElementCount {
        /// The requested shape.
        shape: Shape,
        /// The number of given elements.
        given: usize,
    },
    /// An element would be outside the memory.
    OutOfBounds {
        /// The requested shape.
        shape: Shape,
        /// The number of given bytes.
        bytes: usize,
    },
    /// Two elements of a writable view would share memory, or the search for such elements exceeds its limit.
    SharedElements {
        /// The requested shape.
        shape: Shape,
    },
    /// The elements are requested as another type.
    ElementType {
        /// The type of the elements.
        elements: DType,
        /// The requested type.
        wanted: DType,
    },
    /// Elements in row-major order are requested from an array in another memory order.
    NotRowMajor {
        /// Element type and shape of the array.
        array_type: ArrayType,
        /// Its strides, in elements.
        strides: Vec<isize>,
    },
    /// A scalar is requested from an array with more elements, or none.
    NotScalar {
        /// Element type and shape of the array.
        array_type: ArrayType,
    },
    /// An array of another library is requested with another number of axes.
    AxisCount {
        /// Element type and shape of the array.
        array_type: ArrayType,
        /// The requested number of axes.
        wanted: usize,
    },
    /// Another library's array has an element type that indim lacks, or the other byte order.
    ForeignElements {
        /// Their name in that library.
        name: String,
    },
}

impl ArrayError {
    /// A stable name of the kind of error.
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        match self {
            ArrayError::TooLarge(error) => error.error_code(),
            ArrayError::OutOfMemory { .. } => ErrorCode::OUT_OF_MEMORY,
            ArrayError::StrideCount { .. } => ErrorCode::STRIDE_COUNT,
            ArrayError::ElementCount { .. } => ErrorCode::ELEMENT_COUNT,
            ArrayError::OutOfBounds { .. } => ErrorCode::OUT_OF_BOUNDS,
            ArrayError::SharedElements { .. } => ErrorCode::SHARED_ELEMENTS,
            ArrayError::ElementType { .. } => ErrorCode::ELEMENT_TYPE,
            ArrayError::NotRowMajor { .. } => ErrorCode::NOT_ROW_MAJOR,
            ArrayError::NotScalar { .. } => ErrorCode::NOT_SCALAR,
            ArrayError::AxisCount { .. } => ErrorCode::AXIS_COUNT,
            ArrayError::ForeignElements { .. } => ErrorCode::UNSUPPORTED_TYPE,
        }
    }

    /// The diagnostic of this error.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::new(self.error_code(), self.to_string())
    }
}

impl fmt::Display for ArrayError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArrayError::TooLarge(error) => write!(formatter, "{error}"),
            ArrayError::OutOfMemory { bytes } => {
                write!(formatter, "{bytes} bytes of memory cannot be had")
            }
            ArrayError::StrideCount { rank, strides } => {
                write!(formatter, "{strides} strides were given for {rank} axes")
            }
            ArrayError::ElementCount { shape, given } => write!(
                formatter,
                "an array of shape {shape} has {} elements, the slice has {given}",
                shape.element_count().unwrap_or(usize::MAX)
            ),
            ArrayError::OutOfBounds { shape, bytes } => write!(
                formatter,
                "an array of shape {shape} with these strides leaves its memory of {bytes} bytes"
            ),
            ArrayError::SharedElements { shape } => write!(
                formatter,
                "elements of the writable array of shape {shape} share memory under these strides"
            ),
            ArrayError::ElementType { elements, wanted } => write!(
                formatter,
                "the elements are of {elements}, not of {wanted}: ask for {elements}, or convert the \
                 result, as in {wanted}(x)"
            ),
            ArrayError::NotRowMajor { array_type, strides } => write!(
                formatter,
                "{array_type} is not in row-major order, its strides are {strides:?} elements: take a copy \
                 by `to_row_major` or `into_vec`, or the elements as they are by `elements_in_memory`"
            ),
            ArrayError::NotScalar { array_type } => write!(
                formatter,
                "{array_type} has {} elements, and a scalar is one",
                array_type.shape.element_count().unwrap_or(usize::MAX)
            ),
            ArrayError::AxisCount { array_type, wanted } => write!(
                formatter,
                "{array_type} has {} axes, the array asked for has {wanted}",
                array_type.shape.rank()
            ),
            ArrayError::ForeignElements { name } => {
                write!(
                    formatter,
                    "elements of the type {name} cannot be viewed here: convert them first"
                )
            }
        }
    }
}

impl fmt::Debug for ArrayError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.diagnostic().to_string().trim_end())
    }
}

impl core::error::Error for ArrayError {}

/// Fails if an array with these strides in bytes, and its first element at byte `offset`, does not lie in
/// memory of `bytes` bytes.
fn check_within(
    array_type: &ArrayType,
    strides: &[isize],
    bytes: usize,
    offset: usize,
) -> Result<(), ArrayError> {
    let rank = array_type.shape.rank();
    if strides.len() != rank {
        return Err(ArrayError::StrideCount { rank, strides: strides.len() });
    }
    array_type.shape.byte_count(array_type.dtype.size()).map_err(ArrayError::TooLarge)?;
    if array_type.shape.contains(&0) {
        return Ok(());
    }
    let fits = extent(array_type, strides).is_some_and(|(low, high)| {
        let start = isize::try_from(offset).ok();
        start.and_then(|start| start.checked_add(low)).is_some_and(|lowest| lowest >= 0)
            && start
                .and_then(|start| start.checked_add(high))
                .is_some_and(|end| end as usize <= bytes)
    });
    match fits {
        true => Ok(()),
        false => Err(ArrayError::OutOfBounds { shape: array_type.shape.clone(), bytes }),
    }
}

/// The array type of a slice of `given` elements of type `T` with this shape; an error unless the shape has
/// as many elements.
pub(crate) fn type_of_slice<T: ElementLayout>(
    shape: Shape,
    given: usize,
) -> Result<ArrayType, ArrayError> {
    type_of_elements(T::Element::DTYPE, size_of::<T>(), shape, given)
}

fn type_of_elements(
    dtype: DType,
    element_size: usize,
    shape: Shape,
    given: usize,
) -> Result<ArrayType, ArrayError> {
    let array_type = ArrayType::new(dtype, shape);
    array_type.shape.byte_count(element_size).map_err(ArrayError::TooLarge)?;
    match array_type.shape.element_count() == Ok(given) {
        true => Ok(array_type),
        false => Err(ArrayError::ElementCount { shape: array_type.shape, given }),
    }
}

/// The type of an array of `T`, and the strides and the offset, converted from elements to bytes. Values
/// that overflow saturate, so that the check of bounds refuses them.
fn strided<T: ElementLayout>(
    shape: Shape,
    strides: &[isize],
    offset: usize,
) -> (ArrayType, Vec<isize>, usize) {
    let size = size_of::<T>();
    let in_bytes = |stride: &isize| stride.saturating_mul(size as isize);
    let strides = strides.iter().map(in_bytes).collect();
    (ArrayType::new(T::Element::DTYPE, shape), strides, offset.saturating_mul(size))
}

macro_rules! define_view {
    ($(#[$doc:meta])* $name:ident, $slice:ty) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<'a> {
            array_type: Cow<'a, ArrayType>,
            byte_strides: Cow<'a, [isize]>,
            first: NonNull<u8>,
            is_row_major: bool,
            /// The address range of all elements.
            range: Range<usize>,
            memory: PhantomData<$slice>,
        }

        // SAFETY: like a slice of numbers, a view may move to another thread; its lifetime bounds the
        // borrow of the memory.
        unsafe impl Send for $name<'_> {}
        // SAFETY: like a shared slice of numbers, a shared view is only read.
        unsafe impl Sync for $name<'_> {}

        impl<'a> $name<'a> {
            /// A view of memory whose validity the caller guarantees.
            ///
            /// # Safety
            /// - every element that shape and strides reach from `first` is valid for the lifetime
            ///   `'a`, for reads, and for writes through a mutable view;
            /// - nothing else uses the memory of a mutable view while the view lives, except inputs of the
            ///   same call of `run_into`, which handles their overlap;
            /// - `byte_strides` has one entry per axis, and the array's bytes fit `isize`.
            pub unsafe fn from_raw(
                array_type: ArrayType,
                byte_strides: Vec<isize>,
                first: NonNull<u8>,
            ) -> Self {
                let is_row_major = is_row_major(&array_type, &byte_strides);
                let address = first.as_ptr() as usize;
                let range = StridedLayout::new(&array_type, &byte_strides, address).range;
                let (array_type, byte_strides) = (Cow::Owned(array_type), Cow::Owned(byte_strides));
                $name { array_type, byte_strides, first, is_row_major, range, memory: PhantomData }
            }

            /// Like [`Self::from_raw`], for a dense array that fills `memory`. The caller lends type and
            /// strides, and knows whether the array is row-major.
            ///
            /// # Safety
            /// Like [`Self::from_raw`]; the strides are those of a dense array over `memory`, none is
            /// negative, and `is_row_major` tells whether they are row-major.
            pub unsafe fn of_dense(
                array_type: &'a ArrayType,
                byte_strides: &'a [isize],
                is_row_major: bool,
                memory: NonNull<[u8]>,
            ) -> Self {
                let first = memory.cast::<u8>();
                let range = first.addr().get()..first.addr().get() + memory.len();
                let (array_type, byte_strides) = (Cow::Borrowed(array_type), Cow::Borrowed(byte_strides));
                $name { array_type, byte_strides, first, is_row_major, range, memory: PhantomData }
            }

            /// Whether the elements are dense and in row-major order.
            pub fn is_row_major(&self) -> bool {
                self.is_row_major
            }

            /// Element type and shape.
            pub fn array_type(&self) -> &ArrayType {
                &self.array_type
            }

            /// The stride along each axis in bytes.
            pub fn byte_strides(&self) -> &[isize] {
                &self.byte_strides
            }

            /// The address of the first element.
            pub fn first(&self) -> *mut u8 {
                self.first.as_ptr()
            }

            /// The address range of all elements; empty without elements.
            pub fn range(&self) -> &Range<usize> {
                &self.range
            }

            /// The layout of the elements, for overlap tests.
            pub fn layout(&self) -> StridedLayout<'_> {
                StridedLayout {
                    range: self.range.clone(),
                    element_size: self.array_type.dtype.size(),
                    sizes: self.array_type.shape.sizes(),
                    byte_strides: &self.byte_strides,
                }
            }
        }
    };
}

define_view! {
    /// A read-only view of an array. A clone views the same memory.
    ///
    /// ```
    /// use indim_arrays::ArrayView;
    ///
    /// let x = ArrayView::from_slice([2], &[1.0f32, 2.0])?;
    /// assert_eq!(x.clone().array_type(), x.array_type());
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    #[derive(Clone)]
    ArrayView, &'a [u8]
}

define_view! {
    /// A writable view of an array.
    ///
    /// ```
    /// use indim_arrays::ArrayViewMut;
    ///
    /// let mut memory = [0.0f32; 6];
    /// let x = ArrayViewMut::from_slice([2, 3], &mut memory)?;
    /// assert_eq!(x.array_type().to_string(), "f32[2, 3]");
    /// assert_eq!(x.byte_strides(), [12, 4]);
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ArrayViewMut, &'a mut [u8]
}

/// The address of the first element of the part that begins at index `starts` and has the sizes `extents`.
///
/// # Panics
/// If the part exceeds the array.
fn first_of_part(
    ArrayType { shape, .. }: &ArrayType,
    strides: &[isize],
    first: NonNull<u8>,
    starts: &[usize],
    extents: &Shape,
) -> NonNull<u8> {
    let ends = starts.iter().zip(extents.iter()).zip(shape.iter());
    let is_within = starts.len() == shape.rank()
        && extents.rank() == shape.rank()
        && ends.into_iter().all(|((&start, &extent), &size)| {
            start.checked_add(extent).is_some_and(|end| end <= size)
        });
    assert!(
        is_within,
        "the part of sizes {extents} from {starts:?} exceeds the array of shape {shape}"
    );
    let offsets = starts.iter().zip(strides);
    // The address of a part without elements is not used.
    let offset = offsets.map(|(&start, stride)| (start as isize).wrapping_mul(*stride));
    let offset = offset.fold(0, isize::wrapping_add);
    NonNull::new(first.as_ptr().wrapping_offset(offset)).unwrap_or(first)
}

impl<'a> ArrayView<'a> {
    /// A dense row-major view of `elements`.
    ///
    /// # Errors
    /// `element-count` if the shape and the slice have different numbers of elements;
    /// [E5](indim_shape::rules#the-explicit-form-e) `too-large`.
    pub fn from_slice<T: ElementLayout>(
        shape: impl Into<Shape>,
        elements: &'a [T],
    ) -> Result<Self, ArrayError> {
        let array_type = type_of_slice::<T>(shape.into(), elements.len())?;
        let strides = row_major_byte_strides(&array_type);
        Self::from_bytes(array_type, strides, bytes_of(as_elements(elements)), 0)
    }

    /// A view of `bytes`, with the first element at `offset`, also in bytes.
    ///
    /// # Errors
    /// `out-of-bounds` if an element is outside; `stride-count`; `too-large`.
    pub fn from_bytes(
        array_type: ArrayType,
        byte_strides: Vec<isize>,
        bytes: &'a [u8],
        offset: usize,
    ) -> Result<Self, ArrayError> {
        check_within(&array_type, &byte_strides, bytes.len(), offset)?;
        let first = NonNull::from(bytes).cast::<u8>();
        // SAFETY: `check_within` has checked that every element is inside `bytes`, which lives for 'a.
        // Without elements the address is not used, and `wrapping_add` keeps it defined.
        Ok(unsafe { Self::from_raw(array_type, byte_strides, add_offset(first, offset)) })
    }

    /// A view of `elements`, with the first one at `offset`; `offset` and `strides` count elements. A stride
    /// may be negative, or 0 to repeat elements.
    ///
    /// ```
    /// use indim_arrays::ArrayView;
    ///
    /// let image = [1u8, 2, 3, 4, 5, 6]; // two rows of three
    /// let columns = ArrayView::from_strided([3, 2], &[1, 3], &image, 0)?;
    /// assert_eq!(columns.byte_strides(), [1, 3]);
    /// let backwards = ArrayView::from_strided([6], &[-1], &image, 5)?;
    /// assert_eq!(backwards.first(), image[5..].as_ptr().cast_mut());
    /// let beyond = ArrayView::from_strided([3, 2], &[1, 4], &image, 0).unwrap_err();
    /// assert_eq!(beyond.code(), "out-of-bounds");
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// Like [`ArrayView::from_bytes`].
    pub fn from_strided<T: ElementLayout>(
        shape: impl Into<Shape>,
        strides: &[isize],
        elements: &'a [T],
        offset: usize,
    ) -> Result<Self, ArrayError> {
        let (array_type, strides, offset) = strided::<T>(shape.into(), strides, offset);
        Self::from_bytes(array_type, strides, bytes_of(as_elements(elements)), offset)
    }

    /// The part of the array with the sizes `extents` that begins at index `starts`.
    ///
    /// ```
    /// use indim_arrays::ArrayView;
    ///
    /// let x = ArrayView::from_slice([2, 3], &[0u8, 1, 2, 3, 4, 5])?;
    /// let column = x.part(&[0, 1], &[2, 1].into());
    /// assert_eq!(column.array_type().to_string(), "u8[2, 1]");
    /// assert_eq!(column.byte_strides(), [3, 1]);
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ///
    /// # Panics
    /// If the part exceeds the array.
    pub fn part(&self, starts: &[usize], extents: &Shape) -> ArrayView<'a> {
        let first =
            first_of_part(&self.array_type, &self.byte_strides, self.first, starts, extents);
        let array_type = ArrayType::new(self.array_type.dtype, extents.clone());
        // SAFETY: `first_of_part` asserts that the part is within the array, so its elements are elements
        // of this array, which are valid for 'a. The part has the strides of the array, and no more
        // elements.
        unsafe { ArrayView::from_raw(array_type, self.byte_strides.to_vec(), first) }
    }
}

impl<'a> ArrayViewMut<'a> {
    /// A part of the array, like [`ArrayView::part`].
    ///
    /// ```
    /// use indim_arrays::ArrayViewMut;
    ///
    /// let mut memory = [0.0f32; 6];
    /// let row = ArrayViewMut::from_slice([2, 3], &mut memory)?.into_part(&[1, 0], &[1, 3].into());
    /// assert_eq!(row.array_type().to_string(), "f32[1, 3]");
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ///
    /// # Panics
    /// If the part exceeds the array.
    #[must_use]
    pub fn into_part(self, starts: &[usize], extents: &Shape) -> ArrayViewMut<'a> {
        let first =
            first_of_part(&self.array_type, &self.byte_strides, self.first, starts, extents);
        let array_type = ArrayType::new(self.array_type.dtype, extents.clone());
        // SAFETY: `first_of_part` asserts that the part is within the array, so its elements are elements
        // of this array, which are valid for 'a. The array is taken by value, so nothing else uses its
        // memory.
        unsafe { ArrayViewMut::from_raw(array_type, self.byte_strides.to_vec(), first) }
    }

    /// A dense row-major view of `elements`.
    ///
    /// # Errors
    /// Like [`ArrayView::from_slice`].
    pub fn from_slice<T: ElementLayout>(
        shape: impl Into<Shape>,
        elements: &'a mut [T],
    ) -> Result<Self, ArrayError> {
        let array_type = type_of_slice::<T>(shape.into(), elements.len())?;
        let strides = row_major_byte_strides(&array_type);
        let first = NonNull::from(as_elements_mut(elements)).cast::<u8>();
        // SAFETY: `type_of_slice` has checked that the slice has as many elements as the shape, and that
        // their bytes fit `isize`; the dense row-major strides reach only these elements. They are of the
        // view's type, and borrowed mutably for 'a.
        Ok(unsafe { Self::from_raw(array_type, strides, first) })
    }

    /// A view of `bytes`, with the first element at `offset`, also in bytes.
    ///
    /// # Errors
    /// Like [`ArrayView::from_bytes`], and `shared-elements`.
    pub fn from_bytes(
        array_type: ArrayType,
        byte_strides: Vec<isize>,
        bytes: &'a mut [u8],
        offset: usize,
    ) -> Result<Self, ArrayError> {
        check_within(&array_type, &byte_strides, bytes.len(), offset)?;
        let layout = StridedLayout::new(&array_type, &byte_strides, offset);
        if layout.has_separate_elements() != Some(true) {
            return Err(ArrayError::SharedElements { shape: array_type.shape });
        }
        let first = NonNull::from(bytes).cast::<u8>();
        // SAFETY: every element is inside `bytes`, borrowed mutably for 'a, and no two share memory; both are
        // checked above.
        Ok(unsafe { Self::from_raw(array_type, byte_strides, add_offset(first, offset)) })
    }

    /// Like [`ArrayView::from_strided`], for a writable view: elements must not share memory.
    ///
    /// ```
    /// use indim_arrays::ArrayViewMut;
    ///
    /// let mut interleaved = [0.0f32; 6];
    /// let left = ArrayViewMut::from_strided([3], &[2], &mut interleaved, 0)?;
    /// assert_eq!(left.byte_strides(), [8]);
    /// let repeated = ArrayViewMut::from_strided([3], &[0], &mut interleaved, 0).unwrap_err();
    /// assert_eq!(repeated.code(), "shared-elements");
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// Like [`ArrayViewMut::from_bytes`].
    pub fn from_strided<T: ElementLayout>(
        shape: impl Into<Shape>,
        strides: &[isize],
        elements: &'a mut [T],
        offset: usize,
    ) -> Result<Self, ArrayError> {
        let (array_type, strides, offset) = strided::<T>(shape.into(), strides, offset);
        let bytes = size_of_val(elements);
        let first = NonNull::from(as_elements_mut(elements)).cast::<u8>();
        // SAFETY: the memory is that of the elements, borrowed mutably for 'a. Only elements of the view's
        // type are written into it.
        let memory = unsafe { core::slice::from_raw_parts_mut(first.as_ptr(), bytes) };
        Self::from_bytes(array_type, strides, memory, offset)
    }

    /// Calls `run` with these views, and with a read-only view of the memory of each, in the same order.
    ///
    /// # Safety
    /// `run` does not read an element through one view while it is written through the other, unless it
    /// handles their overlap.
    pub unsafe fn with_reads<R>(
        views: &mut [Self],
        run: impl FnOnce(&mut [Self], &[ArrayView<'_>]) -> R,
    ) -> R {
        let read = |view: &Self| {
            // SAFETY:
            // - the elements are valid for reads during this call, which the view does not outlive;
            // - the caller guarantees that `run` handles the overlap.
            unsafe {
                ArrayView::from_raw(
                    view.array_type().clone(),
                    view.byte_strides().to_vec(),
                    view.first,
                )
            }
        };
        let reads: Vec<ArrayView<'_>> = views.iter().map(read).collect();
        run(views, &reads)
    }

    /// Whether no two elements share memory; `None` if the search for such elements exceeds its limit.
    pub fn has_separate_elements(&self) -> Option<bool> {
        if self.is_row_major { Some(true) } else { self.layout().has_separate_elements() }
    }
}

/// An array of rank 1.
impl<'a, T: ElementLayout> From<&'a [T]> for ArrayView<'a> {
    fn from(elements: &'a [T]) -> Self {
        Self::from_slice([elements.len()], elements)
            .expect("invariant: the bytes of a slice fit the address space")
    }
}

/// An array of rank 1.
impl<'a, T: ElementLayout> From<&'a Vec<T>> for ArrayView<'a> {
    fn from(elements: &'a Vec<T>) -> Self {
        elements.as_slice().into()
    }
}

/// An array of rank 1.
impl<'a, T: ElementLayout, const N: usize> From<&'a [T; N]> for ArrayView<'a> {
    fn from(elements: &'a [T; N]) -> Self {
        elements.as_slice().into()
    }
}

fn add_offset(first: NonNull<u8>, offset: usize) -> NonNull<u8> {
    NonNull::new(first.as_ptr().wrapping_add(offset)).unwrap_or(first)
}

pub(crate) fn bytes_of<T: Element>(elements: &[T]) -> &[u8] {
    let bytes = core::mem::size_of_val(elements);
    // SAFETY: elements are initialised numbers without padding (`Element` is sealed).
    unsafe { core::slice::from_raw_parts(elements.as_ptr().cast(), bytes) }
}
