//! Memory for the temporaries and counters of a run. Holds unsafe code.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use indim_arrays::{ALIGNMENT, Array, ArrayError};
use indim_ops::{ArrayType, DType};

/// The address of the memory for the temporaries and counters of a run.
#[derive(Clone, Copy)]
pub(crate) struct Scratch<'n> {
    first: *mut u8,
    _memory: PhantomData<&'n mut ScratchMemory>,
}

/// Memory for the temporaries and counters of a run, on the stack if they are small.
pub(crate) struct ScratchMemory {
    on_stack: MaybeUninit<StackMemory>,
    on_heap: Option<Array>,
}

/// Memory on the stack for the temporaries of small runs.
#[repr(align(64))]
struct StackMemory(#[allow(dead_code)] [u8; 1024]);

const _: () = assert!(align_of::<StackMemory>() >= ALIGNMENT);

impl ScratchMemory {
    /// Memory that is not yet allocated.
    pub(crate) fn new() -> Self {
        ScratchMemory { on_stack: MaybeUninit::uninit(), on_heap: None }
    }
}

impl<'n> Scratch<'n> {
    pub(crate) fn new(bytes: usize, memory: &'n mut ScratchMemory) -> Result<Self, ArrayError> {
        if bytes <= size_of::<StackMemory>() {
            return Ok(Scratch {
                first: memory.on_stack.as_mut_ptr().cast(),
                _memory: PhantomData,
            });
        }
        if isize::try_from(bytes).is_err() {
            return Err(ArrayError::OutOfMemory { bytes });
        }
        // SAFETY: no one reads uninitialised bytes: a nest writes each temporary before others read it, and
        // counters are written before their first reader.
        let buffer = unsafe { Array::uninitialised(ArrayType::new(DType::U8, [bytes]))? };
        let first = memory.on_heap.insert(buffer).as_mut_ptr().as_ptr();
        Ok(Scratch { first, _memory: PhantomData })
    }

    /// Scratch in memory of the caller.
    ///
    /// # Safety
    /// While the scratch exists:
    /// - the memory is valid for the layout of the program that runs in it;
    /// - nothing else accesses it.
    pub(crate) unsafe fn in_memory(first: *mut u8) -> Self {
        Scratch { first, _memory: PhantomData }
    }

    /// The address at an offset in bytes.
    pub(crate) fn at(self, offset: usize) -> *mut u8 {
        self.first.wrapping_add(offset)
    }
}
