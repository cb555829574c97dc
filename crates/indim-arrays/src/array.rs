//! The owned array, for inputs, constants and results. Holds unsafe code.
//!
//! `memory.rs` has the memory of arrays, `values.rs` constructors of arrays with given values,
//! `elements.rs` conversions to Rust numbers, `bits.rs` equality.

use core::fmt;
use core::ptr::NonNull;
use std::sync::Arc;

use indim_ops::{ArrayType, DType, Element};
use indim_shape::Shape;

use crate::element_layout::{ElementLayout, as_elements};
use crate::memory::Memory;
use crate::strides::{advance, is_row_major, row_major_byte_strides, shared_byte_strides};
use crate::view::{ArrayError, ArrayView, ArrayViewMut, bytes_of, type_of_slice};

/// An array that owns its memory. It is dense, and row-major unless the call that created it requested
/// another memory order.
///
/// ```
/// use indim_arrays::Array;
///
/// let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?; // the vector's memory, not a copy
/// assert_eq!(x.array_type().to_string(), "f32[2, 3]");
/// assert_eq!(x.elements::<f32>()?[3], 4.0);
/// assert_eq!(x.to_string(), "[[1. 2. 3.]\n [4. 5. 6.]]"); // as NumPy prints it
/// assert_eq!(x.into_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A clone shares the memory; [`Array::view_mut`] copies it first if it is shared. Two arrays are equal if
/// their types and the bits of their elements are equal, in any memory order. `{}` prints an array as NumPy
/// does.
#[derive(Clone)]
pub struct Array {
    array_type: ArrayType,
    byte_strides: Arc<[isize]>,
    is_row_major: bool,
    /// The size of all elements in bytes.
    bytes: usize,
    memory: Arc<Memory>,
}

/// The type and the elements, as NumPy prints them.
impl fmt::Debug for Array {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Array({}: {self})", self.array_type)
    }
}

impl Array {
    /// An array of `shape` over `elements` in row-major order, without a copy.
    ///
    /// # Errors
    /// `element-count` if the number of elements is not that of the shape;
    /// [E5](indim_shape::rules#the-explicit-form-e) `too-large`.
    pub fn new<T: ElementLayout>(
        shape: impl Into<Shape>,
        elements: Vec<T>,
    ) -> Result<Self, ArrayError> {
        let array_type = type_of_slice::<T>(shape.into(), elements.len())?;
        let bytes = size_of_val(elements.as_slice());
        Ok(Self::row_major(array_type, bytes, Memory::from_vec(elements)))
    }

    /// A row-major array with a copy of these elements.
    ///
    /// ```
    /// use indim_arrays::Array;
    ///
    /// let x = Array::from_slice([2, 2], &[1.0f32, 2.0, 3.0, 4.5])?;
    /// assert_eq!(x.to_string(), "[[1.  2. ]\n [3.  4.5]]");
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// Like [`Array::new`]; `out-of-memory`.
    pub fn from_slice<T: ElementLayout>(
        shape: impl Into<Shape>,
        elements: &[T],
    ) -> Result<Self, ArrayError> {
        let array_type = type_of_slice::<T>(shape.into(), elements.len())?;
        Self::copied(array_type, None, bytes_of(as_elements(elements)))
    }

    /// A row-major array with uninitialised memory, aligned to [`ALIGNMENT`](crate::ALIGNMENT). Nothing is
    /// allocated if the size does not fit the address space.
    ///
    /// # Errors
    /// [E5](indim_shape::rules#the-explicit-form-e) `too-large`; `out-of-memory`.
    ///
    /// # Safety
    /// The elements are not initialised: the caller must write each of them before the array is
    /// read or handed out.
    pub unsafe fn uninitialised(array_type: ArrayType) -> Result<Self, ArrayError> {
        // SAFETY: the caller writes each element before the array is read or handed out, which is the
        // contract of both functions.
        unsafe { Self::uninitialised_in_order(array_type, None) }
    }

    /// Like [`Array::uninitialised`], for a dense array with these strides, in bytes; `None` is row-major.
    ///
    /// ```
    /// use indim_arrays::Array;
    /// use indim_ops::{ArrayType, DType, Element};
    ///
    /// let array_type = ArrayType::new(DType::F32, [2, 2]);
    /// // SAFETY: all elements are written before anything is read.
    /// let array = unsafe {
    ///     let mut array = Array::uninitialised_in_order(array_type, Some(vec![4, 8]))?;
    ///     array.as_mut_ptr().cast::<[f32; 4]>().write([0.0, 1.0, 0.0, 1.0]);
    ///     array
    /// };
    /// assert_eq!((array.strides(), array.byte_strides()), (vec![1, 2], &[4, 8][..]));
    /// assert_eq!(array.elements_in_memory::<f32>()?, [0.0, 1.0, 0.0, 1.0]);
    /// assert_eq!(array.elements::<f32>().unwrap_err().code(), "not-row-major");
    /// assert_eq!(array.to_row_major()?.elements::<f32>()?, [0.0, 0.0, 1.0, 1.0]);
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// Like [`Array::uninitialised`].
    ///
    /// # Safety
    /// Like [`Array::uninitialised`]; the strides are those of a dense array of this type.
    pub unsafe fn uninitialised_in_order(
        array_type: ArrayType,
        byte_strides: Option<Vec<isize>>,
    ) -> Result<Self, ArrayError> {
        let bytes =
            array_type.shape.byte_count(array_type.dtype.size()).map_err(ArrayError::TooLarge)?;
        let memory = Memory::new(bytes).ok_or(ArrayError::OutOfMemory { bytes })?;
        Ok(match byte_strides {
            Some(strides) => {
                let is_row_major = is_row_major(&array_type, &strides);
                Array { array_type, byte_strides: strides.into(), is_row_major, bytes, memory }
            }
            None => Self::row_major(array_type, bytes, memory),
        })
    }

    fn row_major(array_type: ArrayType, bytes: usize, memory: Arc<Memory>) -> Self {
        let byte_strides = shared_byte_strides(&array_type);
        Array { array_type, byte_strides, is_row_major: true, bytes, memory }
    }

    /// A row-major array. `fill` gets its bytes, all zero, and writes them. In an array of bools, every byte
    /// except 0 becomes true.
    ///
    /// ```
    /// use indim_arrays::{Array, ArrayError};
    /// use indim_ops::{ArrayType, DType, Element};
    ///
    /// let array = Array::filled(ArrayType::new(DType::Bool, [3]), |bytes| {
    ///     bytes[1] = 7;
    ///     Ok::<(), ArrayError>(())
    /// })?;
    /// assert_eq!(array.elements::<bool>()?, [false, true, false]);
    /// # Ok::<(), ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// [E5](indim_shape::rules#the-explicit-form-e) `too-large`; `out-of-memory`; the error of
    /// `fill`.
    pub fn filled<E: From<ArrayError>>(
        array_type: ArrayType,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Self, E> {
        Self::filled_in_order(array_type, None, fill)
    }

    /// Like [`Array::filled`], for an array in column-major order: neighbours along the first axis are
    /// adjacent, as in Fortran.
    ///
    /// ```
    /// use indim_arrays::{Array, ArrayError};
    /// use indim_ops::{ArrayType, DType, Element};
    ///
    /// let array = Array::filled_column_major(ArrayType::new(DType::U8, [2, 2]), |bytes| {
    ///     bytes.copy_from_slice(&[1, 2, 3, 4]);
    ///     Ok::<(), ArrayError>(())
    /// })?;
    /// assert_eq!(array.to_row_major()?.elements::<u8>()?, [1, 3, 2, 4]);
    /// # Ok::<(), ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// Like [`Array::filled`].
    pub fn filled_column_major<E: From<ArrayError>>(
        array_type: ArrayType,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Self, E> {
        let reversed: Shape = array_type.shape.iter().rev().copied().collect();
        reversed.byte_count(array_type.dtype.size()).map_err(ArrayError::TooLarge)?;
        let mut strides = row_major_byte_strides(&ArrayType::new(array_type.dtype, reversed));
        strides.reverse();
        Self::filled_in_order(array_type, Some(strides), fill)
    }

    fn filled_in_order<E: From<ArrayError>>(
        array_type: ArrayType,
        byte_strides: Option<Vec<isize>>,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Self, E> {
        let is_bool = array_type.dtype == DType::Bool;
        // SAFETY: all bytes are zeroed below, and `fill` may overwrite them, before the array is handed out;
        // the loop turns the bytes of bools into 0 and 1. The strides are `None`, or those that
        // `filled_column_major` computes for a dense array.
        let array = unsafe { Self::uninitialised_in_order(array_type, byte_strides)? };
        let first = array.memory.first();
        // SAFETY: the memory is new, so only `array` owns it and nothing else refers to it. It has
        // `array.bytes` bytes, which `write_bytes` initialises first.
        let bytes = unsafe {
            first.write_bytes(0, array.bytes);
            core::slice::from_raw_parts_mut(first.as_ptr(), array.bytes)
        };
        fill(bytes)?;
        if is_bool {
            bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        Ok(array)
    }

    /// An array with a copy of these bytes as its elements.
    fn copied(
        array_type: ArrayType,
        byte_strides: Option<Vec<isize>>,
        bytes: &[u8],
    ) -> Result<Self, ArrayError> {
        // SAFETY: every byte is written below. The callers pass the strides of a dense array, or `None`.
        let array = unsafe { Self::uninitialised_in_order(array_type, byte_strides)? };
        assert_eq!(array.bytes, bytes.len(), "the bytes are those of the array");
        // SAFETY: the memory is new, so it does not overlap `bytes`, and the assertion checks that it has
        // the same length. The bytes are elements of the type, because the callers take them from such
        // elements.
        unsafe {
            let to = array.memory.first().as_ptr();
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
        Ok(array)
    }

    /// Element type and shape.
    pub fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    /// The type of each element.
    pub fn dtype(&self) -> DType {
        self.array_type.dtype
    }

    /// The size of each axis.
    pub fn shape(&self) -> &Shape {
        &self.array_type.shape
    }

    /// The number of elements.
    pub fn element_count(&self) -> usize {
        self.bytes / self.dtype().size()
    }

    /// The stride along each axis in elements, as in ndarray.
    pub fn strides(&self) -> Vec<isize> {
        let size = self.dtype().size() as isize;
        self.byte_strides.iter().map(|stride| stride / size).collect()
    }

    /// The stride along each axis in bytes, as in NumPy.
    pub fn byte_strides(&self) -> &[isize] {
        &self.byte_strides
    }

    /// Whether the elements are in row-major order.
    pub fn is_row_major(&self) -> bool {
        self.is_row_major
    }

    /// The bytes of the elements, in native byte order, in the order in which they are in memory; see
    /// [`Array::is_row_major`].
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the array owns the memory, which has `self.bytes` bytes. The contract of `uninitialised`
        // has every element written before the array is handed out.
        unsafe { core::slice::from_raw_parts(self.memory.first().as_ptr(), self.bytes) }
    }

    /// The address of the first byte, for callers that own the array and lend its memory themselves. The
    /// address must not be used for writes after the array is cloned, because the clone shares the memory.
    ///
    /// # Panics
    /// Like [`Array::view_mut`].
    pub fn as_mut_ptr(&mut self) -> NonNull<u8> {
        self.make_unique();
        self.memory.first()
    }

    /// Makes this array the only owner of its memory, by a copy if other arrays share it.
    fn make_unique(&mut self) {
        match Arc::get_mut(&mut self.memory) {
            // The caller may change the bytes, so the stored hash becomes invalid.
            Some(memory) => drop(memory.hash.take()),
            None => {
                let strides = Some(self.byte_strides.to_vec());
                let copy = Self::copied(self.array_type.clone(), strides, self.bytes());
                *self = copy.expect("there is memory for a copy");
            }
        }
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// The elements in the order in which they are in memory; see [`Array::is_row_major`].
    ///
    /// # Errors
    /// `element-type` unless they are of type `T`.
    pub fn elements_in_memory<T: ElementLayout>(&self) -> Result<&[T], ArrayError> {
        self.check_dtype(T::Element::DTYPE)?;
        let first = self.memory.first().as_ptr().cast();
        // SAFETY: `check_dtype` found that T has the layout of the array's element type. The memory holds
        // `element_count` elements, is aligned for any element type, and is initialised; kernels write only
        // 0 and 1 as bool.
        Ok(unsafe { core::slice::from_raw_parts(first, self.element_count()) })
    }

    /// Like [`Array::elements`], for code that is generic over [`Element`].
    ///
    /// # Errors
    /// Like [`Array::elements`].
    pub fn element_slice<T: Element>(&self) -> Result<&[T], ArrayError> {
        self.check_row_major()?;
        self.check_dtype(T::DTYPE)?;
        let first = self.memory.first().as_ptr().cast();
        // SAFETY: `check_dtype` found that the element type is `T`. The memory holds `element_count`
        // elements, is aligned for any element type, and is initialised.
        Ok(unsafe { core::slice::from_raw_parts(first, self.element_count()) })
    }

    /// Like [`Array::elements_in_memory`], to be overwritten; shared memory is copied first.
    ///
    /// ```
    /// use indim_arrays::Array;
    ///
    /// let mut x = Array::new([2], vec![1.0f32, 2.0])?;
    /// let before = x.clone();
    /// x.elements_in_memory_mut::<f32>()?[0] = 5.0;
    /// assert_eq!((x.to_string(), before.to_string()), ("[5. 2.]".into(), "[1. 2.]".into()));
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// `element-type` unless they are of type `T`.
    ///
    /// # Panics
    /// Like [`Array::view_mut`].
    pub fn elements_in_memory_mut<T: ElementLayout>(&mut self) -> Result<&mut [T], ArrayError> {
        self.check_dtype(T::Element::DTYPE)?;
        let first = self.as_mut_ptr().as_ptr().cast();
        // SAFETY: `check_dtype` found that T has the layout of the array's element type. The memory holds
        // `element_count` elements, is aligned for any element type, and is initialised. `as_mut_ptr` made
        // this array, which is borrowed exclusively, the only owner.
        Ok(unsafe { core::slice::from_raw_parts_mut(first, self.element_count()) })
    }

    /// The elements as a vector, without a copy, if the array was made of a vector that no clone shares.
    ///
    /// # Errors
    /// Returns the array itself unless its elements are of type `T`, in row-major order, in memory of a
    /// vector that only this array owns.
    pub(crate) fn into_own_vec<T: ElementLayout>(self) -> Result<Vec<T>, Array> {
        if !self.is_row_major || self.check_dtype(T::Element::DTYPE).is_err() {
            return Err(self);
        }
        let (count, Array { array_type, bytes, memory, .. }) = (self.element_count(), self);
        // SAFETY: `check_dtype` found that the elements are of type `T`; the memory holds `count` of them,
        // initialised.
        let elements = unsafe { Memory::into_vec(memory, count) };
        elements.map_err(|memory| Self::row_major(array_type, bytes, memory))
    }

    /// The byte offset of each element from the first one, in row-major order. Strides of an owned array are
    /// not negative.
    pub(crate) fn row_major_offsets(&self) -> impl Iterator<Item = usize> {
        let strides = &self.byte_strides;
        let mut index = vec![0usize; strides.len()];
        let offset = move |_| {
            let along = index.iter().zip(&**strides).map(|(&i, stride)| i * stride.unsigned_abs());
            let offset = along.sum();
            advance(&mut index, &self.array_type.shape);
            offset
        };
        (0..self.element_count()).map(offset)
    }

    /// The array in row-major order: a clone, or a copy if it is in another order.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn to_row_major(&self) -> Result<Array, ArrayError> {
        if self.is_row_major {
            return Ok(self.clone());
        }
        let size = self.dtype().size();
        // SAFETY: the loop writes every element.
        let copy = unsafe { Array::uninitialised(self.array_type.clone())? };
        let (from, to) = (self.memory.first().as_ptr(), copy.memory.first().as_ptr());
        for (position, offset) in self.row_major_offsets().enumerate() {
            let from = from.wrapping_add(offset).cast_const();
            // SAFETY: `position` counts the elements, so both addresses are those of an element, of `size`
            // bytes, in its own array. The arrays do not overlap, because the memory of the copy is new.
            unsafe { core::ptr::copy_nonoverlapping(from, to.wrapping_add(position * size), size) }
        }
        Ok(copy)
    }

    /// Like [`Array::to_row_major`], for callers that cannot return an error.
    ///
    /// # Panics
    /// If memory for a copy is exhausted.
    #[must_use]
    pub fn into_row_major(self) -> Array {
        match self.is_row_major {
            true => self,
            false => self.to_row_major().expect("there is memory for a copy"),
        }
    }

    /// The array with another shape, in row-major order; it shares the memory if this one is row-major.
    ///
    /// ```
    /// use indim_arrays::Array;
    ///
    /// let x = Array::new([4], vec![1u8, 2, 3, 4])?;
    /// assert_eq!(x.reshaped([2, 2])?.to_string(), "[[1 2]\n [3 4]]");
    /// assert_eq!(x.reshaped([3]).unwrap_err().code(), "element-count");
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// `element-count` if the number of elements is not that of the shape; `out-of-memory`.
    pub fn reshaped(&self, shape: impl Into<Shape>) -> Result<Self, ArrayError> {
        let (shape, given) = (shape.into(), self.element_count());
        if shape.element_count() != Ok(given) {
            return Err(ArrayError::ElementCount { shape, given });
        }
        let (array_type, memory) =
            (ArrayType::new(self.dtype(), shape), self.to_row_major()?.memory);
        Ok(Self::row_major(array_type, self.bytes, memory))
    }

    /// A view for reading.
    pub fn view(&self) -> ArrayView<'_> {
        // SAFETY: the strides are those of a dense array over the whole memory. The array owns the memory,
        // and the borrow of the array for the life of the view keeps it alive and unwritten, since only a
        // sole owner writes.
        unsafe {
            let memory = self.byte_range();
            ArrayView::of_dense(&self.array_type, &self.byte_strides, self.is_row_major, memory)
        }
    }

    /// A view for writing. If clones share the memory, this array gets a copy of it first.
    ///
    /// # Panics
    /// If memory for that copy is exhausted.
    pub fn view_mut(&mut self) -> ArrayViewMut<'_> {
        self.make_unique();
        // SAFETY: the strides are those of a dense array over the whole memory. `make_unique` made this
        // array the only owner, and the view borrows the array exclusively.
        unsafe {
            let memory = self.byte_range();
            ArrayViewMut::of_dense(&self.array_type, &self.byte_strides, self.is_row_major, memory)
        }
    }

    fn byte_range(&self) -> NonNull<[u8]> {
        NonNull::slice_from_raw_parts(self.memory.first(), self.bytes)
    }
}

impl<'a> From<&'a Array> for ArrayView<'a> {
    fn from(array: &'a Array) -> Self {
        array.view()
    }
}

impl<'a> From<&'a mut Array> for ArrayViewMut<'a> {
    /// Like [`Array::view_mut`].
    fn from(array: &'a mut Array) -> Self {
        array.view_mut()
    }
}
