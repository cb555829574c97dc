//! Sources and sinks over arrays in memory: for small formats such as CSV, and for tests.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use indim_arrays::{Array, ArrayError};
use indim_ops::ArrayType;

use crate::copy::{copy_from_region, copy_into_region};
use crate::sink::{CompleteResult, Sink, check_complete, with_elements};
use crate::source::{Source, check_region};
use crate::{ArrayRegion, StoreError, StoreErrorKind};

/// An array in memory as a source; [`Source`] has an example.
#[derive(Debug)]
pub struct MemorySource {
    array: Array,
    chunks: Option<Vec<usize>>,
}

impl MemorySource {
    /// The source of an array.
    ///
    /// # Errors
    /// `out-of-memory`, for a copy in row-major order.
    pub fn new(array: Array) -> Result<Self, ArrayError> {
        let array = if array.is_row_major() { array } else { array.to_row_major()? };
        Ok(MemorySource { array, chunks: None })
    }

    /// Declares chunks of this shape.
    ///
    /// # Panics
    /// If `chunks` does not have one size for each axis.
    #[must_use]
    pub fn with_chunks(self, chunks: impl Into<Vec<usize>>) -> Self {
        let chunks = chunks.into();
        assert_eq!(chunks.len(), self.array_type().shape.rank(), "one size for each axis");
        MemorySource { chunks: Some(chunks), ..self }
    }
}

impl Source for MemorySource {
    fn array_type(&self) -> &ArrayType {
        self.array.array_type()
    }

    fn chunks(&self) -> Option<&[usize]> {
        self.chunks.as_deref()
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        let ArrayType { dtype, shape } = self.array_type();
        let read = || {
            check_region(region, self.array_type())?;
            Array::filled(ArrayType::new(*dtype, region.extents().clone()), |bytes| {
                copy_from_region(self.array.bytes(), shape, dtype.size(), region, bytes);
                Ok::<(), StoreErrorKind>(())
            })
        };
        read().map_err(|kind| StoreError::new("memory", kind))
    }
}

/// A sink that collects its result in memory; [`Sink`] has an example.
#[derive(Debug)]
pub struct MemorySink {
    array_type: ArrayType,
    /// The elements, in row-major order.
    bytes: Vec<u8>,
    elements_written: usize,
    chunks: Option<Vec<usize>>,
    result: MemoryResult,
}

/// A handle to the array of a [`MemorySink`], available once the sink is finished.
#[derive(Debug, Clone, Default)]
pub struct MemoryResult(Arc<Mutex<Option<Array>>>);

impl MemoryResult {
    /// Takes the array. `None` if the sink is not finished, or the array has been taken.
    pub fn take(&self) -> Option<Array> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl MemorySink {
    /// A sink, and the handle to its result.
    ///
    /// # Errors
    /// `too-large`, `out-of-memory`.
    pub fn new(array_type: ArrayType) -> Result<(Self, MemoryResult), ArrayError> {
        let size = array_type.dtype.size();
        let count = array_type.shape.byte_count(size).map_err(ArrayError::TooLarge)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(count).map_err(|_| ArrayError::OutOfMemory { bytes: count })?;
        bytes.resize(count, 0);
        let result = MemoryResult::default();
        let sink = MemorySink {
            array_type,
            bytes,
            elements_written: 0,
            chunks: None,
            result: result.clone(),
        };
        Ok((sink, result))
    }

    /// Declares chunks of this shape.
    ///
    /// # Panics
    /// If `chunks` does not have one size for each axis.
    #[must_use]
    pub fn with_chunks(self, chunks: impl Into<Vec<usize>>) -> Self {
        let chunks = chunks.into();
        assert_eq!(chunks.len(), self.array_type.shape.rank(), "one size for each axis");
        MemorySink { chunks: Some(chunks), ..self }
    }

    fn store(&mut self, region: &ArrayRegion, values: &Array) -> Result<(), StoreErrorKind> {
        let ArrayType { dtype, shape } = &self.array_type;
        with_elements(region, values, &self.array_type, |elements| {
            copy_into_region(elements, &mut self.bytes, shape, dtype.size(), region);
            self.elements_written += elements.len() / dtype.size();
            Ok(())
        })
    }

    /// The array, if all its elements are written.
    fn complete_array(&mut self) -> Result<Array, StoreErrorKind> {
        check_complete(&self.array_type, self.elements_written)?;
        let from = mem::take(&mut self.bytes);
        Array::filled(self.array_type.clone(), |bytes| {
            bytes.copy_from_slice(&from);
            Ok(())
        })
    }
}

impl Sink for MemorySink {
    fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    fn chunks(&self) -> Option<&[usize]> {
        self.chunks.as_deref()
    }

    fn scratch_bytes(&self) -> usize {
        self.bytes.len()
    }

    fn write(&mut self, region: &ArrayRegion, values: &Array) -> Result<(), StoreError> {
        self.store(region, values).map_err(|kind| StoreError::new("memory", kind))
    }

    fn complete(mut self: Box<Self>) -> Result<Box<dyn CompleteResult>, StoreError> {
        let array = self.complete_array().map_err(|kind| StoreError::new("memory", kind))?;
        Ok(Box::new(CompleteArray { array, result: self.result }))
    }
}

#[derive(Debug)]
struct CompleteArray {
    array: Array,
    result: MemoryResult,
}

impl CompleteResult for CompleteArray {
    fn commit(self: Box<Self>) -> Result<(), StoreError> {
        *self.result.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.array);
        Ok(())
    }
}
