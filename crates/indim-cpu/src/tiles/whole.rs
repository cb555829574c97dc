//! Nests of one tile that is one call of a function: small runs, done without looking for anything else.
//! Holds unsafe code.

use indim_loops::HeldBytes;
use indim_loops::walk::Walk;
use indim_targets::Function;
use smallvec::SmallVec;

use crate::tiles::code::TileCode;
use crate::tiles::wiring::Wiring;

/// Nests of more operands are not small.
const MOST_OPERANDS: usize = 16;

/// So many need no memory of their own.
const FEW: usize = 4;

/// The one call.
#[derive(Debug)]
pub(super) struct Whole {
    /// For each operand of the function, which of the nest's it is, and how far from its first element the
    /// walk begins, in bytes.
    operands: SmallVec<[(usize, isize); FEW]>,
    rows: usize,
    elements: usize,
}

impl Whole {
    /// `None` where there is more to do than the call.
    pub(super) fn new(code: &TileCode, walk: &Walk, wiring: &Wiring) -> Option<Whole> {
        let (functions, stores) = (code.functions.as_ref()?, code.nest.stores.len());
        let accesses = code.nest.accesses.len();
        let is_one_call = walk.tiles() == 1
            && code.calls.is_empty()
            && !wiring.uses_registers(accesses)
            && !wiring.streams
            && stores + accesses <= MOST_OPERANDS;
        if !is_one_call {
            return None;
        }
        let of_store = |slot: &usize| {
            let mut sources = code.nest.stores.iter().map(|store| code.slot(store.source));
            sources.position(|source| source == *slot)
        };
        let of_access = |slot: &usize| (*slot < accesses).then_some(stores + slot);
        let written = functions.outputs.iter().map(of_store);
        let operands = written.chain(functions.inputs.iter().map(of_access));
        let placed = operands.map(|operand| operand.map(|it| (it, walk.operands[it].offset)));
        let operands = placed.collect::<Option<_>>()?;
        let (rows, elements) = wiring.rows(walk.tile_axis, walk.step_elements);
        Some(Whole { operands, rows, elements })
    }

    /// # Safety
    /// As [`BoundNest::run`](crate::executor::BoundNest::run), for the one tile; `bases` are the addresses of
    /// the nest's operands, and the function was made for them.
    pub(super) unsafe fn run(&self, function: &Function, row_strides: &[isize], bases: &[*mut u8]) {
        let mut addresses = [core::ptr::null_mut(); MOST_OPERANDS];
        for (address, &(operand, offset)) in addresses.iter_mut().zip(&self.operands) {
            *address = bases[operand].wrapping_offset(offset);
        }
        let addresses = &mut addresses[..self.operands.len()];
        // SAFETY: the caller's promise.
        unsafe { function.run(addresses, row_strides, self.rows, self.elements) }
    }

    pub(super) fn count_bytes(&self, held: &mut HeldBytes) {
        held.small(&self.operands);
    }
}
