//! The memory of arrays, which clones share. Holds unsafe code.

use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use std::alloc::Layout;
use std::sync::{Arc, OnceLock};

use crate::element_layout::ElementLayout;
use crate::pages::{self, Pages};

/// The alignment of new memory in bytes: a cache line, and the widest vector register.
pub const ALIGNMENT: usize = 64;

/// Owned memory, freed when the last array that shares it is dropped.
pub(crate) struct Memory {
    first: NonNull<u8>,
    allocation: Allocation,
    /// The hash of the bytes, once computed: every pass hashes the constants of a graph, which may be large.
    pub(crate) hash: OnceLock<u64>,
}

/// The origin of memory, which determines how it is freed.
enum Allocation {
    /// Memory of the allocator, with its start and layout.
    Block(NonNull<u8>, Layout),
    /// The elements of a vector, with the layout of its capacity.
    Vector(Layout),
    /// Pages of the pool, which return to it when dropped.
    Pages { _pages: Pages },
}

// SAFETY: the memory has no other owner and is not tied to a thread; it holds plain numbers.
unsafe impl Send for Memory {}
// SAFETY: shared memory is only read. An array writes only after `make_unique` has made it the sole owner.
unsafe impl Sync for Memory {}

impl Memory {
    /// Uninitialised memory, aligned to [`ALIGNMENT`]; `None` if the system refuses it.
    pub(crate) fn new(bytes: usize) -> Option<Arc<Memory>> {
        let (first, allocation) = allocate(bytes)?;
        Some(Arc::new(Memory { first, allocation, hash: OnceLock::new() }))
    }

    /// The memory of a vector, without a copy.
    pub(crate) fn from_vec<T: ElementLayout>(elements: Vec<T>) -> Arc<Memory> {
        let mut elements = ManuallyDrop::new(elements);
        let layout = Layout::array::<T>(elements.capacity());
        let layout = layout.expect("invariant: a vector has a layout");
        let first = NonNull::new(elements.as_mut_ptr().cast());
        let first = first.expect("invariant: the elements of a vector have an address");
        Arc::new(Memory { first, allocation: Allocation::Vector(layout), hash: OnceLock::new() })
    }

    /// Converts the memory back to a vector of `count` elements, without a copy. Returns the memory
    /// unchanged if it is shared, or did not come from a vector of elements of this layout.
    ///
    /// # Safety
    /// The memory holds `count` initialised values of type `T`.
    pub(crate) unsafe fn into_vec<T: ElementLayout>(
        memory: Arc<Memory>,
        count: usize,
    ) -> Result<Vec<T>, Arc<Memory>> {
        let Allocation::Vector(layout) = memory.allocation else { return Err(memory) };
        if layout.align() != align_of::<T>() || layout.size() % size_of::<T>() != 0 {
            return Err(memory);
        }
        let (memory, capacity) = (Arc::try_unwrap(memory)?, layout.size() / size_of::<T>());
        let memory = ManuallyDrop::new(memory);
        // SAFETY:
        // - the memory was allocated by a vector with this capacity and layout;
        // - `try_unwrap` succeeded, so nothing shares the memory, and `ManuallyDrop` keeps its owner from
        //   freeing it;
        // - the caller guarantees `count` initialised values of type `T`, the contract of this function.
        Ok(unsafe { Vec::from_raw_parts(memory.first.as_ptr().cast(), count, capacity) })
    }

    /// The address of the first byte.
    pub(crate) fn first(&self) -> NonNull<u8> {
        self.first
    }
}

fn allocate(bytes: usize) -> Option<(NonNull<u8>, Allocation)> {
    if bytes >= pages::MIN_POOLED_BYTES
        && let Some(mut pages) = Pages::new(bytes)
        && let Some(first) = NonNull::new(pages.first())
    {
        return Some((first, Allocation::Pages { _pages: pages }));
    }
    // For small arrays, and where the system maps no memory, as on WebAssembly. Allocators are slow for
    // aligned small blocks, but fast for slightly larger blocks that are aligned here.
    let layout = Layout::from_size_align(bytes.checked_add(ALIGNMENT)?, 1).ok()?;
    // SAFETY: the size of the layout is at least `ALIGNMENT`, so it is not zero.
    let start = NonNull::new(unsafe { std::alloc::alloc(layout) })?;
    let before = start.addr().get().next_multiple_of(ALIGNMENT) - start.addr().get();
    // SAFETY: the block has `ALIGNMENT` bytes more than `bytes`, and `before` is less than `ALIGNMENT`, so
    // the result is inside the block.
    Some((unsafe { start.add(before) }, Allocation::Block(start, layout)))
}

impl Drop for Memory {
    fn drop(&mut self) {
        let (start, layout) = match self.allocation {
            Allocation::Block(start, layout) => (start, layout),
            Allocation::Vector(layout) if layout.size() > 0 => (self.first, layout),
            // A vector without capacity has no memory; pages free themselves.
            Allocation::Vector(_) | Allocation::Pages { .. } => return,
        };
        // SAFETY: the memory was allocated by the global allocator with this layout, in `allocate` or by
        // the vector, and this drop of its only owner frees it once.
        unsafe { std::alloc::dealloc(start.as_ptr(), layout) }
    }
}
