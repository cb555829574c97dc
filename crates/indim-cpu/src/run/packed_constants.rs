//! Constant operands of contractions, packed once for all runs: the panels of each, and when they are made.
//! Holds unsafe code.
//!
//! The first run of a program packs what it reads, as it packs operands that are not constant: a program that
//! runs once needs no further memory. The next run packs all constants that earlier runs have read without
//! panels, as far as its memory limit allows.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};

use indim_arrays::Array;
use indim_loops::loop_nest::BufferId;
use indim_ops::{ArrayType, DType};
use indim_products::PackedLayout;

use crate::run::contraction::Contraction;
use crate::run::float_environment::DefaultFloatEnvironment;

/// The constant that each parameter of a region is in every run, if any.
pub(crate) type ConstantParameters = [Option<Array>];

/// The constant in a buffer of a program, if it has one.
pub(crate) fn constant(
    buffer: BufferId,
    constants: &[Array],
    parameters: &ConstantParameters,
) -> Option<Array> {
    match buffer {
        BufferId::Constant(index) => Some(constants[index].clone()),
        BufferId::Parameter(index) => parameters.get(index)?.clone(),
        BufferId::Output(_) | BufferId::Counter(_) | BufferId::Temporary(_) => None,
    }
}

/// The contractions with constant operands of a program and of its regions.
#[derive(Debug, Default)]
pub(crate) struct PackedConstants {
    contractions: Vec<Arc<Contraction>>,
    /// Held by the thread that packs.
    packing: Mutex<()>,
}

impl PackedConstants {
    pub(crate) fn new(contractions: Vec<Arc<Contraction>>) -> PackedConstants {
        PackedConstants { contractions, packing: Mutex::new(()) }
    }

    /// Before a run, packs the constants that earlier runs have read, until the panels have `budget` bytes.
    /// If another thread packs, this run does not wait for it.
    pub(crate) fn pack(&self, mut budget: usize) {
        if self.contractions.is_empty() {
            return;
        }
        let _packing = match self.packing.try_lock() {
            Ok(packing) => packing,
            Err(TryLockError::Poisoned(packing)) => packing.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let _environment = DefaultFloatEnvironment::enter();
        self.contractions.iter().for_each(|contraction| contraction.pack(&mut budget));
    }

    /// Frees all panels, after the runs that read them. Returns whether there were any.
    pub(crate) fn release(&self) -> bool {
        let releases = self.contractions.iter().map(|contraction| contraction.release_packed());
        releases.fold(false, |any, is_released| any | is_released)
    }
}

/// A constant operand of a product in one layout, and its panels.
#[derive(Debug)]
pub(crate) struct PackedConstant {
    layout: PackedLayout,
    /// The constant. It is held, so no other array has its address while this exists.
    array: Array,
    /// Offset of the operand's first element in the constant, in bytes.
    offset: isize,
    /// Whether a run has read this operand and found no panels, since they were last packed.
    is_read: AtomicBool,
    panels: RwLock<Option<Arc<Array>>>,
}

impl PackedConstant {
    /// `None` if no element of the constant begins at the offset.
    pub(crate) fn new(layout: PackedLayout, array: Array, offset: isize) -> Option<PackedConstant> {
        let is_inside = usize::try_from(offset).is_ok_and(|offset| offset < array.bytes().len());
        let (is_read, panels) = (AtomicBool::new(false), RwLock::default());
        is_inside.then_some(PackedConstant { layout, array, offset, is_read, panels })
    }

    /// Whether this is the operand at an offset of its constant, in a layout.
    pub(crate) fn is(&self, layout: &PackedLayout, offset: isize) -> bool {
        self.layout == *layout && self.offset == offset
    }

    /// The panels of the operand whose first element is at this address. `None` if they are not packed, or
    /// if the operand is another array or another part of this one.
    ///
    /// # Safety
    /// `first` is valid for reads at each index of the layout.
    pub(crate) unsafe fn panels(&self, first: *const u8) -> Option<Arc<Array>> {
        if self.first() != first {
            return None;
        }
        let panels = self.panels.read().unwrap_or_else(PoisonError::into_inner).clone();
        if panels.is_none() {
            self.is_read.store(true, Ordering::Relaxed);
        }
        panels
    }

    fn first(&self) -> *const u8 {
        self.array.bytes().as_ptr().wrapping_offset(self.offset)
    }

    /// Bytes of the panels, if they are packed.
    fn packed_bytes(&self) -> Option<usize> {
        let panels = self.panels.read().unwrap_or_else(PoisonError::into_inner);
        panels.as_ref().map(|_| self.layout.bytes())
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<PackedConstant>() + self.layout.heap_bytes() + self.packed_bytes().unwrap_or(0)
    }

    /// Whether a run has read this operand without panels.
    pub(crate) fn is_read(&self) -> bool {
        self.is_read.load(Ordering::Relaxed)
    }

    /// Packs the constant, if a run has read it and it is not packed, and takes the bytes of the panels from
    /// the budget. Does nothing if they exceed it, or if the memory cannot be allocated.
    pub(crate) fn pack(&self, budget: &mut usize) {
        let bytes = self.layout.bytes();
        if !self.is_read() || bytes > *budget || self.packed_bytes().is_some() {
            return;
        }
        // SAFETY: `pack` writes each byte of the panels before they are handed out.
        let panels = unsafe { Array::uninitialised(ArrayType::new(DType::U8, [bytes])) };
        let Ok(mut panels) = panels else { return };
        // SAFETY:
        // - a run has read the operand at this address in this layout, and the caller of `panels` ensures
        //   that its elements are valid; the address lies in `self.array`, whose memory stays allocated and
        //   unchanged;
        // - the memory is new, has the bytes of the layout, and is aligned to 64 bytes.
        unsafe { self.layout.pack(self.first(), panels.as_mut_ptr().as_ptr()) }
        *self.panels.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(panels));
        self.is_read.store(false, Ordering::Relaxed);
        *budget -= bytes;
    }

    /// Frees the panels. Returns whether there were any.
    pub(crate) fn release(&self) -> bool {
        self.panels.write().unwrap_or_else(PoisonError::into_inner).take().is_some()
    }
}
