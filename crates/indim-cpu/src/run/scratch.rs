//! Memory for the temporaries and counters of a run. Holds unsafe code.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use indim_arrays::{ALIGNMENT, Array, ArrayError};
use indim_ops::{ArrayType, DType};

/// Memory for the temporaries and counters of a run, on the stack if they are small.
pub(crate) struct Scratch<'n> {
    first: *mut u8,
    /// The owner of the memory; `None` for memory on the stack or of the caller.
    _buffer: Option<Array>,
    _on_stack: PhantomData<&'n mut StackMemory>,
}

/// Memory on the stack for the temporaries of small runs.
#[repr(align(64))]
pub(crate) struct StackMemory(#[allow(dead_code)] [u8; 1024]);

const _: () = assert!(align_of::<StackMemory>() >= ALIGNMENT);

impl<'n> Scratch<'n> {
    pub(crate) fn new(
        bytes: usize,
        on_stack: &'n mut MaybeUninit<StackMemory>,
    ) -> Result<Self, ArrayError> {
        if bytes <= size_of::<StackMemory>() {
            let first = on_stack.as_mut_ptr().cast();
            return Ok(Scratch { first, _buffer: None, _on_stack: PhantomData });
        }
        if isize::try_from(bytes).is_err() {
            return Err(ArrayError::OutOfMemory { bytes });
        }
        // SAFETY: no one reads uninitialised bytes: a nest writes each temporary before others read it, and
        // counters are written before their first reader.
        let mut buffer = unsafe { Array::uninitialised(ArrayType::new(DType::U8, [bytes]))? };
        let first = buffer.as_mut_ptr().as_ptr();
        Ok(Scratch { first, _buffer: Some(buffer), _on_stack: PhantomData })
    }

    /// Scratch in memory of the caller.
    ///
    /// # Safety
    /// While the scratch exists:
    /// - the memory is valid for the layout of the program that runs in it;
    /// - nothing else accesses it.
    pub(crate) unsafe fn in_memory(first: *mut u8) -> Self {
        Scratch { first, _buffer: None, _on_stack: PhantomData }
    }

    /// The address at an offset in bytes.
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        self.first.wrapping_add(offset)
    }
}
