//! Operands of contractions that many runs read, packed once: the panels of each, and when they are made.
//! Holds unsafe code.
//!
//! The first run of a program packs what it reads, as it packs operands that are not constant: a program that
//! runs once needs no further memory. The next run packs all constants that earlier runs have read without
//! panels, as far as its memory limit allows.
//!
//! A loop does the same with all operands that its steps do not change: its second step packs them for the
//! later ones, and the panels are freed when the loop ends.

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

    /// Before a run, packs the constants that earlier runs have read, and takes the bytes of the panels from
    /// the budget, as far as it suffices.
    /// If another thread packs, this run does not wait for it.
    pub(crate) fn pack(&self, budget: &mut usize) {
        if self.contractions.is_empty() {
            return;
        }
        let _packing = match self.packing.try_lock() {
            Ok(packing) => packing,
            Err(TryLockError::Poisoned(packing)) => packing.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let _environment = DefaultFloatEnvironment::enter();
        self.contractions.iter().for_each(|contraction| contraction.pack(budget));
    }

    /// Frees all panels, after the runs that read them. Returns whether there were any.
    pub(crate) fn release(&self) -> bool {
        let releases = self.contractions.iter().map(|contraction| contraction.release_packed());
        releases.fold(false, |any, is_released| any | is_released)
    }
}

/// An operand that does not change during a loop, packed for its steps.
#[derive(Debug, Clone)]
pub(crate) struct LoopPanels {
    /// Address of the operand's first element.
    first: usize,
    panels: Arc<Array>,
}

impl LoopPanels {
    /// Packs the operand, and takes the bytes of the panels from the budget. `None` if they exceed it, or if
    /// the memory cannot be allocated.
    ///
    /// # Safety
    /// `first` is valid for reads at each index of the layout.
    pub(crate) unsafe fn new(
        layout: &PackedLayout,
        first: *const u8,
        budget: &mut usize,
    ) -> Option<LoopPanels> {
        let bytes = layout.bytes();
        if bytes > *budget {
            return None;
        }
        // SAFETY: the caller ensures the operand.
        let panels = unsafe { pack(layout, first) }?;
        *budget -= bytes;
        Some(LoopPanels { first: first.addr(), panels: Arc::new(panels) })
    }

    /// The panels, if they are those of the operand at this address.
    pub(crate) fn of(&self, first: *const u8) -> Option<&Array> {
        (self.first == first.addr()).then_some(&*self.panels)
    }
}

/// New panels of an operand; `None` if their memory cannot be allocated.
///
/// # Safety
/// `from`, the first element of the operand, is valid for reads at each index of the layout.
unsafe fn pack(layout: &PackedLayout, from: *const u8) -> Option<Array> {
    // SAFETY: `pack` writes each byte of the panels before they are handed out.
    let panels = unsafe { Array::uninitialised(ArrayType::new(DType::U8, [layout.bytes()])) };
    let mut panels = panels.ok()?;
    // SAFETY: the caller ensures the operand; the memory is new, has the bytes of the layout, and is aligned
    // to 64 bytes.
    unsafe { layout.pack(from, panels.as_mut_ptr().as_ptr()) }
    Some(panels)
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
    pub(crate) fn packed_bytes(&self) -> Option<usize> {
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
        // SAFETY: a run has read the operand at this address in this layout, and the caller of `panels`
        // ensures that its elements are valid; the address lies in `self.array`, whose memory stays allocated
        // and unchanged.
        let Some(panels) = (unsafe { pack(&self.layout, self.first()) }) else { return };
        *self.panels.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(panels));
        self.is_read.store(false, Ordering::Relaxed);
        *budget -= bytes;
    }

    /// Frees the panels. Returns whether there were any.
    pub(crate) fn release(&self) -> bool {
        self.panels.write().unwrap_or_else(PoisonError::into_inner).take().is_some()
    }
}
