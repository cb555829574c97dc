//! Nests of one tile and one function call: the fast path of small runs. Holds unsafe code.

use indim_loops::MemoryUse;
use indim_loops::walk::Walk;
use indim_targets::Function;
use smallvec::SmallVec;

use crate::tiles::code::TileCode;
use crate::tiles::wiring::Wiring;

/// Upper bound of the operands of a nest that one call runs.
const MAX_SINGLE_CALL_OPERANDS: usize = 16;

/// Maximum length of a list of operands that needs no heap allocation.
const INLINE_ITEMS: usize = 4;

/// The function call of a nest of one tile.
#[derive(Debug)]
pub(super) struct SingleCall {
    /// The address of each operand of the function.
    operands: SmallVec<[OperandAddress; INLINE_ITEMS]>,
    rows: usize,
    elements: usize,
}

/// An address in a run of one tile: an operand of the nest, or memory of the run, and an offset.
#[derive(Debug, Clone, Copy)]
pub(super) struct OperandAddress {
    /// The operand of the nest; a number after the last operand stands for memory of the run.
    pub(super) operand: usize,
    /// Offset from the first element of the operand, in bytes.
    pub(super) offset: isize,
}

impl OperandAddress {
    /// The address of an operand of the nest in a walk of one tile.
    pub(super) fn operand(walk: &Walk, operand: usize) -> OperandAddress {
        OperandAddress { operand, offset: walk.operands[operand].offset }
    }
}

impl SingleCall {
    /// The call that writes every store; `None` if the nest has several tiles or needs other calls.
    pub(super) fn new(code: &TileCode, walk: &Walk, wiring: &Wiring) -> Option<SingleCall> {
        let is_stored = !wiring.is_direct.contains(&false);
        let of_store = |register: usize| {
            let mut sources = code.nest.stores.iter().map(|store| code.register(store.source));
            let store = sources.position(|source| source == register)?;
            Some(OperandAddress::operand(walk, store))
        };
        SingleCall::writing(code, walk, wiring, of_store).filter(|_| is_stored)
    }

    /// The call that writes the value of each register to its `address`; `None` if the nest has several tiles
    /// or needs other calls.
    pub(super) fn writing(
        code: &TileCode,
        walk: &Walk,
        wiring: &Wiring,
        address: impl Fn(usize) -> Option<OperandAddress>,
    ) -> Option<SingleCall> {
        let (functions, stores) = (code.functions.as_ref()?, code.nest.stores.len());
        let accesses = code.nest.accesses.len();
        let is_one_call = walk.tiles() == 1
            && code.calls.is_empty()
            && !wiring.gathers_accesses()
            && !wiring.is_streamed
            && stores + accesses <= MAX_SINGLE_CALL_OPERANDS;
        if !is_one_call {
            return None;
        }
        let of_access = |&register: &usize| {
            (register < accesses).then(|| OperandAddress::operand(walk, stores + register))
        };
        let written = functions.outputs.iter().map(|&register| address(register));
        let operands = written.chain(functions.inputs.iter().map(of_access));
        let operands = operands.collect::<Option<_>>()?;
        let (rows, elements) = wiring.rows(walk.tile_axis, walk.step_elements);
        Some(SingleCall { operands, rows, elements })
    }

    /// Runs the tile.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`](crate::executor::BoundNest::run), for all points;
    /// - `address` returns the addresses of the operands in this run, and memory with room for other values;
    /// - `function` and `row_strides` are those of the wiring with which this call was made.
    pub(super) unsafe fn run(
        &self,
        function: &Function,
        row_strides: &[isize],
        address: impl Fn(OperandAddress) -> *mut u8,
    ) {
        let mut addresses = [core::ptr::null_mut(); MAX_SINGLE_CALL_OPERANDS];
        for (to, &operand) in addresses.iter_mut().zip(&self.operands) {
            *to = address(operand);
        }
        let addresses = &mut addresses[..self.operands.len()];
        // SAFETY:
        // - the addresses are the caller's operands, and `BoundNest::run` requires that all their
        //   points are valid;
        // - the caller passes the function and strides of the wiring, so the layout is that of the function.
        unsafe { function.run(addresses, row_strides, self.rows, self.elements) }
    }

    pub(super) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_small_vec(&self.operands);
    }
}
