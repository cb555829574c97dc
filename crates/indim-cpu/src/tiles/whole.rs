//! Nests of one tile that is one call of a function: the fast path of small runs. Holds unsafe code.

use indim_loops::MemoryUse;
use indim_loops::walk::Walk;
use indim_targets::Function;
use smallvec::SmallVec;

use crate::tiles::code::TileCode;
use crate::tiles::wiring::Wiring;

/// Upper bound of the operands of a small nest.
const MAX_OPERANDS: usize = 16;

/// Operands that fit the stack.
const FEW: usize = 4;

/// The call of the one tile.
#[derive(Debug)]
pub(super) struct Whole {
    /// The address of each operand of the function.
    operands: SmallVec<[Placed; FEW]>,
    rows: usize,
    elements: usize,
}

/// An address in a small run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    /// The operand of the nest; a larger number names memory of the run.
    pub(super) operand: usize,
    /// Offset from that operand's first element, in bytes.
    pub(super) offset: isize,
}

impl Placed {
    /// An operand of the nest under a walk of one tile.
    pub(super) fn operand(walk: &Walk, operand: usize) -> Placed {
        Placed { operand, offset: walk.operands[operand].offset }
    }
}

impl Whole {
    /// Returns `None` if the tile needs more than one call.
    pub(super) fn new(code: &TileCode, walk: &Walk, wiring: &Wiring) -> Option<Whole> {
        let is_stored = !wiring.is_direct.contains(&false);
        let of_store = |slot: usize| {
            let mut sources = code.nest.stores.iter().map(|store| code.slot(store.source));
            let store = sources.position(|source| source == slot)?;
            Some(Placed::operand(walk, store))
        };
        Whole::writing(code, walk, wiring, of_store).filter(|_| is_stored)
    }

    /// The call that computes one tile and writes the value of each register to its `place`; `None` if
    /// other calls are needed.
    pub(super) fn writing(
        code: &TileCode,
        walk: &Walk,
        wiring: &Wiring,
        place: impl Fn(usize) -> Option<Placed>,
    ) -> Option<Whole> {
        let (functions, stores) = (code.functions.as_ref()?, code.nest.stores.len());
        let accesses = code.nest.accesses.len();
        let is_one_call = walk.tiles() == 1
            && code.calls.is_empty()
            && !wiring.gathers()
            && !wiring.streams
            && stores + accesses <= MAX_OPERANDS;
        if !is_one_call {
            return None;
        }
        let of_access =
            |&slot: &usize| (slot < accesses).then(|| Placed::operand(walk, stores + slot));
        let written = functions.outputs.iter().map(|&slot| place(slot));
        let operands = written.chain(functions.inputs.iter().map(of_access));
        let operands = operands.collect::<Option<_>>()?;
        let (rows, elements) = wiring.rows(walk.tile_axis, walk.step_elements);
        Some(Whole { operands, rows, elements })
    }

    /// # Safety
    /// Like [`BoundNest::run`](crate::executor::BoundNest::run), for the one tile; `address` gives the
    /// addresses of the operands, and the function was compiled for their layout.
    pub(super) unsafe fn run(
        &self,
        function: &Function,
        row_strides: &[isize],
        address: impl Fn(Placed) -> *mut u8,
    ) {
        let mut addresses = [core::ptr::null_mut(); MAX_OPERANDS];
        for (place, &operand) in addresses.iter_mut().zip(&self.operands) {
            *place = address(operand);
        }
        let addresses = &mut addresses[..self.operands.len()];
        // SAFETY: the caller vouches for the operands and the layout.
        unsafe { function.run(addresses, row_strides, self.rows, self.elements) }
    }

    pub(super) fn count_bytes(&self, held: &mut MemoryUse) {
        held.small(&self.operands);
    }
}
