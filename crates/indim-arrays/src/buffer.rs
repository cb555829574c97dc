//! Arrays that own their memory. Holds unsafe code.
//!
//! A run allocates them for new outputs and for scratch memory. Large ones use the pages of `pages.rs`;
//! `view.rs` has their views.

use core::fmt;
use core::ptr::NonNull;
use std::alloc::Layout;

use indim_graph::Array;
use indim_ops::{ArrayType, DType, Element, bf16, c64, c128, f16, for_each_element};
use indim_shape::Shape;

use crate::element_layout::{ElementLayout, as_elements};
use crate::pages::{self, Pages};
use crate::strides::{is_row_major, row_major_strides};
use crate::view::{ArrayError, ArrayView, ArrayViewMut, bytes_of};

/// The alignment of buffers: a cache line, and the widest vector register.
pub const ALIGNMENT: usize = 64;

/// An array that owns its memory: dense, aligned to [`ALIGNMENT`], and row-major unless the run was asked for
/// another memory order.
///
/// ```
/// use indim_arrays::Buffer;
/// use indim_ops::{ArrayType, DType};
///
/// let array_type = ArrayType::new(DType::F32, [2, 2]);
/// // SAFETY: all elements are written before anything is read.
/// let buffer = unsafe {
///     let mut buffer = Buffer::uninitialised_in_order(array_type, Some(vec![4, 8]))?;
///     buffer.as_mut_ptr().cast::<[f32; 4]>().write([0.0, 1.0, 0.0, 1.0]);
///     buffer
/// };
/// assert_eq!((buffer.array_type().to_string().as_str(), buffer.strides()), ("f32[2, 2]", vec![4, 8]));
/// assert_eq!(buffer.elements_in_memory::<f32>(), Some(&[0.0, 1.0, 0.0, 1.0][..]));
/// assert_eq!(buffer.elements::<f32>(), None); // they are not in row-major order
/// assert_eq!(buffer.to_row_major()?.elements::<f32>(), Some(&[0.0, 0.0, 1.0, 1.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Buffer {
    array_type: ArrayType,
    strides: Vec<isize>,
    is_row_major: bool,
    first: NonNull<u8>,
    bytes: usize,
    memory: Memory,
}

/// The memory of a buffer.
enum Memory {
    /// Memory of the allocator, with its start and layout.
    Allocated(NonNull<u8>, Layout),
    /// Pages of the pool, which return to it when dropped.
    Pages { _pages: Pages },
}

// SAFETY: a buffer owns its memory, which holds plain numbers.
unsafe impl Send for Buffer {}
// SAFETY: a buffer owns its memory, and a shared buffer is only read.
unsafe impl Sync for Buffer {}

impl fmt::Debug for Buffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Buffer({})", self.array_type)
    }
}

/// A copy with the same memory order.
///
/// # Panics
/// If memory is exhausted; [`Buffer::try_clone`] returns that as an error.
impl Clone for Buffer {
    fn clone(&self) -> Self {
        self.try_clone().expect("there is memory for a copy")
    }
}

impl Buffer {
    /// Memory for an array. Nothing is allocated unless its size fits the address space.
    ///
    /// # Errors
    /// [E5](indim_shape::rules#the-explicit-form-e) `too-large`; `out-of-memory`.
    ///
    /// # Safety
    /// The elements are not initialised: the caller must write each of them before the buffer is
    /// read or handed out.
    pub unsafe fn uninitialised(array_type: ArrayType) -> Result<Self, ArrayError> {
        // SAFETY: the caller writes each element before the buffer is read or handed out, which is the
        // contract of both functions.
        unsafe { Self::uninitialised_in_order(array_type, None) }
    }

    /// Like [`Buffer::uninitialised`], with the strides of a dense array in bytes; `None` is row-major.
    ///
    /// # Safety
    /// Like [`Buffer::uninitialised`].
    pub unsafe fn uninitialised_in_order(
        array_type: ArrayType,
        strides: Option<Vec<isize>>,
    ) -> Result<Self, ArrayError> {
        let bytes =
            array_type.shape.byte_count(array_type.dtype.size()).map_err(ArrayError::TooLarge)?;
        let (first, memory) = allocate(bytes).ok_or(ArrayError::OutOfMemory { bytes })?;
        let (strides, is_row_major) = match strides {
            Some(strides) => {
                let is_row_major = is_row_major(&array_type, &strides);
                (strides, is_row_major)
            }
            None => (row_major_strides(&array_type), true),
        };
        Ok(Buffer { array_type, strides, is_row_major, first, bytes, memory })
    }

    /// A row-major array whose bytes `fill` writes; they are zero before. For bools every byte except 0 is
    /// true.
    ///
    /// ```
    /// use indim_arrays::{ArrayError, Buffer};
    /// use indim_ops::{ArrayType, DType};
    ///
    /// let buffer = Buffer::filled(ArrayType::new(DType::Bool, [3]), |bytes| {
    ///     bytes[1] = 7;
    ///     Ok::<(), ArrayError>(())
    /// })?;
    /// assert_eq!(buffer.elements::<bool>(), Some(&[false, true, false][..]));
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
        Self::filled_with_strides(array_type, None, fill)
    }

    /// Like [`Buffer::filled`], for an array in column-major order: neighbours along the first axis are
    /// adjacent, as in Fortran.
    ///
    /// ```
    /// use indim_arrays::{ArrayError, Buffer};
    /// use indim_ops::{ArrayType, DType};
    ///
    /// let buffer = Buffer::filled_column_major(ArrayType::new(DType::U8, [2, 2]), |bytes| {
    ///     bytes.copy_from_slice(&[1, 2, 3, 4]);
    ///     Ok::<(), ArrayError>(())
    /// })?;
    /// assert_eq!(buffer.to_row_major()?.elements::<u8>(), Some(&[1, 3, 2, 4][..]));
    /// # Ok::<(), ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// Like [`Buffer::filled`].
    pub fn filled_column_major<E: From<ArrayError>>(
        array_type: ArrayType,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Self, E> {
        let reversed: Shape = array_type.shape.iter().rev().copied().collect();
        reversed.byte_count(array_type.dtype.size()).map_err(ArrayError::TooLarge)?;
        let mut strides = row_major_strides(&ArrayType::new(array_type.dtype, reversed));
        strides.reverse();
        Self::filled_with_strides(array_type, Some(strides), fill)
    }

    /// A row-major array with a copy of these elements.
    ///
    /// ```
    /// use indim_arrays::Buffer;
    ///
    /// let x = Buffer::from_slice([2, 2], &[1.0f32, 2.0, 3.0, 4.5])?;
    /// assert_eq!(x.array_type().to_string(), "f32[2, 2]");
    /// assert_eq!(x.to_string(), "[[1.  2. ]\n [3.  4.5]]"); // as NumPy prints it
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// Like [`ArrayView::from_slice`]; `out-of-memory`.
    pub fn from_slice<T: ElementLayout>(
        shape: impl Into<Shape>,
        elements: &[T],
    ) -> Result<Self, ArrayError> {
        let view = ArrayView::from_slice(shape, elements)?;
        Self::copied(view.array_type().clone(), None, bytes_of(as_elements(elements)))
    }

    /// An array with a copy of these bytes as its elements.
    fn copied(
        array_type: ArrayType,
        strides: Option<Vec<isize>>,
        bytes: &[u8],
    ) -> Result<Self, ArrayError> {
        // SAFETY: every byte is written below.
        let buffer = unsafe { Self::uninitialised_in_order(array_type, strides)? };
        assert_eq!(buffer.bytes, bytes.len(), "the bytes are those of the array");
        // SAFETY: the new memory is owned, does not overlap `bytes`, and has the same length; the bytes are
        // elements of the type.
        unsafe {
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.first.as_ptr(), bytes.len());
        }
        Ok(buffer)
    }

    /// A copy with the same memory order.
    ///
    /// ```
    /// use indim_arrays::Buffer;
    ///
    /// let x = Buffer::from_slice([2], &[1.0f32, 2.0])?;
    /// assert_eq!(x.try_clone()?.elements::<f32>(), x.elements::<f32>());
    /// # Ok::<(), indim_arrays::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn try_clone(&self) -> Result<Self, ArrayError> {
        Self::copied(self.array_type.clone(), Some(self.strides.clone()), self.bytes())
    }

    fn filled_with_strides<E: From<ArrayError>>(
        array_type: ArrayType,
        strides: Option<Vec<isize>>,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Self, E> {
        let is_bool = array_type.dtype == DType::Bool;
        // SAFETY: every element is written before the buffer is handed out, as 0 or 1 if it is a bool.
        let buffer = unsafe { Self::uninitialised_in_order(array_type, strides)? };
        // SAFETY: the memory is owned and of this size; zeros are initialised bytes.
        let bytes = unsafe {
            buffer.first.write_bytes(0, buffer.bytes);
            core::slice::from_raw_parts_mut(buffer.first.as_ptr(), buffer.bytes)
        };
        fill(bytes)?;
        if is_bool {
            bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        Ok(buffer)
    }

    /// Element type and shape.
    pub fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    /// The address of the first byte, for callers that own the buffer and lend its memory themselves.
    pub fn as_mut_ptr(&mut self) -> NonNull<u8> {
        self.first
    }

    /// The stride along each axis in bytes.
    pub fn strides(&self) -> Vec<isize> {
        self.strides.clone()
    }

    /// Whether the elements are in row-major order.
    pub fn is_row_major(&self) -> bool {
        self.is_row_major
    }

    /// The bytes of the elements in native byte order and memory order: row-major, unless the run was asked
    /// for another order.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the memory is owned, of this size, and initialised before the buffer was handed out.
        unsafe { core::slice::from_raw_parts(self.first.as_ptr(), self.bytes) }
    }

    /// The elements in memory order, if they are of type `T`.
    pub fn elements_in_memory<T: ElementLayout>(&self) -> Option<&[T]> {
        let count = self.bytes / core::mem::size_of::<T>();
        // SAFETY: T has the layout of the buffer's element type, and the memory is aligned for it and
        // initialised; kernels write only 0 and 1 as bool.
        (T::Element::DTYPE == self.array_type.dtype)
            .then(|| unsafe { core::slice::from_raw_parts(self.first.as_ptr().cast(), count) })
    }

    /// The byte offset of each element from the first one, in row-major order.
    pub(crate) fn row_major_offsets(&self) -> impl Iterator<Item = usize> {
        let strides = self.strides();
        let mut index = vec![0usize; strides.len()];
        let offset = move |_| {
            let along = index.iter().zip(&strides).map(|(&i, &stride)| i * stride.unsigned_abs());
            let offset = along.sum();
            for (index, &size) in index.iter_mut().zip(self.array_type.shape.iter()).rev() {
                *index += 1;
                if *index < size {
                    break;
                }
                *index = 0;
            }
            offset
        };
        (0..self.bytes / self.array_type.dtype.size()).map(offset)
    }

    /// A copy in row-major order.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn to_row_major(&self) -> Result<Buffer, ArrayError> {
        let size = self.array_type.dtype.size();
        // SAFETY: the loop writes every element.
        let mut copy = unsafe { Buffer::uninitialised(self.array_type.clone())? };
        let to = copy.as_mut_ptr().as_ptr();
        for (position, offset) in self.row_major_offsets().enumerate() {
            let from = self.first.as_ptr().wrapping_add(offset).cast_const();
            // SAFETY: both buffers have the same number of elements of this size.
            unsafe { core::ptr::copy_nonoverlapping(from, to.wrapping_add(position * size), size) }
        }
        Ok(copy)
    }

    /// A copy as an array of `indim-graph`.
    pub fn to_array(&self) -> Array {
        macro_rules! copy {
            ($($variant:ident $type:ident $class:ident;)*) => {
                match self.array_type.dtype {
                    $(DType::$variant => self
                        .row_major_elements::<$type>()
                        .map(|elements| Array::new(self.array_type.shape.clone(), elements)),)*
                }
            };
        }
        for_each_element!(copy)
            .expect("invariant: the elements are of the matched type")
            .expect("invariant: a buffer has as many elements as its shape")
    }

    /// A view for reading.
    pub fn view(&self) -> ArrayView<'_> {
        // SAFETY: the buffer owns the memory and lends it.
        unsafe {
            ArrayView::of_dense(&self.array_type, &self.strides, self.is_row_major, self.memory())
        }
    }

    /// A view for writing.
    pub fn view_mut(&mut self) -> ArrayViewMut<'_> {
        // SAFETY: the buffer owns the memory and lends it exclusively.
        unsafe {
            ArrayViewMut::of_dense(
                &self.array_type,
                &self.strides,
                self.is_row_major,
                self.memory(),
            )
        }
    }

    fn memory(&self) -> NonNull<[u8]> {
        NonNull::slice_from_raw_parts(self.first, self.bytes)
    }
}

impl<'a> From<&'a Buffer> for ArrayView<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        buffer.view()
    }
}

fn allocate(bytes: usize) -> Option<(NonNull<u8>, Memory)> {
    if bytes >= pages::MIN_POOLED_BYTES
        && let Some(mut pages) = Pages::new(bytes)
        && let Some(first) = NonNull::new(pages.first())
    {
        return Some((first, Memory::Pages { _pages: pages }));
    }
    // Small arrays, and machines that cannot map memory, such as WebAssembly. Allocators are slow for aligned
    // small blocks, but fast for slightly larger ones.
    let layout = Layout::from_size_align(bytes.checked_add(ALIGNMENT)?, 1).ok()?;
    // SAFETY: the layout is not of size zero.
    let start = NonNull::new(unsafe { std::alloc::alloc(layout) })?;
    let before = start.addr().get().next_multiple_of(ALIGNMENT) - start.addr().get();
    // SAFETY: the memory has `ALIGNMENT` bytes more than needed, and `before` is less than that.
    Some((unsafe { start.add(before) }, Memory::Allocated(start, layout)))
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Memory::Allocated(start, layout) = self.memory {
            // SAFETY: the memory was allocated with this layout and is freed once.
            unsafe { std::alloc::dealloc(start.as_ptr(), layout) }
        }
    }
}
