//! Nests of one tile and one function call: the fast path of small runs. Holds unsafe code.

use indim_loops::MemoryUse;
use indim_loops::walk::Walk;
use indim_targets::Function;
use smallvec::SmallVec;

use crate::tiles::code::{Callee, TileCode};
use crate::tiles::gather::{Gather, GatherOperands, GatherWalk};
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
    /// The operands of the function that are rows of tables, and their positions in `operands`, which have
    /// the addresses of the tables.
    table_rows: Vec<(usize, TableRow)>,
    rows: usize,
    elements: usize,
}

/// A row of a table, selected by one index and read in place.
#[derive(Debug, Clone)]
struct TableRow {
    gather: Gather,
    walk: GatherWalk,
    table: OperandAddress,
    indices: OperandAddress,
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
            && !wiring.gathers_accesses()
            && !wiring.is_streamed
            && stores + accesses <= MAX_SINGLE_CALL_OPERANDS;
        if !is_one_call {
            return None;
        }
        let of_access = |register: usize| {
            (register < accesses).then(|| OperandAddress::operand(walk, stores + register))
        };
        // The table row that each call gives, by its register.
        let mut calls: SmallVec<[(usize, TableRow); 1]> = SmallVec::new();
        for (number, call) in code.calls.iter().enumerate() {
            let Callee::Gather { gather, table, indices } = call.callee else { return None };
            let wired = wiring.gathers.get(number)?.as_ref().filter(|wired| wired.is_in_place)?;
            let [table, indices] = [of_access(table)?, of_access(indices)?];
            let walk = wired.walk.clone();
            calls.push((call.destination, TableRow { gather, walk, table, indices }));
        }
        let mut operands: SmallVec<[OperandAddress; INLINE_ITEMS]> =
            functions.outputs.iter().map(|&register| address(register)).collect::<Option<_>>()?;
        let mut table_rows = Vec::new();
        for &register in &functions.inputs {
            operands.push(match calls.iter().find(|(destination, _)| *destination == register) {
                Some((_, row)) => {
                    table_rows.push((operands.len(), row.clone()));
                    row.table
                }
                None => of_access(register)?,
            });
        }
        let (rows, elements) = wiring.rows(walk.tile_axis, walk.step_elements);
        let fits = operands.len() <= MAX_SINGLE_CALL_OPERANDS;
        fits.then_some(SingleCall { operands, table_rows, rows, elements })
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
        for (position, TableRow { gather, walk, table, indices }) in &self.table_rows {
            let [table, indices] = [*table, *indices].map(|of| address(of).cast_const());
            let row = GatherOperands { destination: core::ptr::null_mut(), table, indices };
            // SAFETY: `BoundNest::run` requires that the index is readable, and that the processor has the
            // level.
            addresses[*position] = unsafe { gather.row(walk, row) }.cast_mut();
        }
        let addresses = &mut addresses[..self.operands.len()];
        // SAFETY:
        // - the addresses are the caller's operands, and `BoundNest::run` requires that all their
        //   points are valid; a row is one of the table, because `Gather` clamps the index;
        // - the caller passes the function and strides of the wiring, so the layout is that of the function.
        unsafe { function.run(addresses, row_strides, self.rows, self.elements) }
    }

    pub(super) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_small_vec(&self.operands);
        memory_use.add_allocation::<(usize, TableRow)>(self.table_rows.capacity());
        self.table_rows.iter().for_each(|(_, row)| row.walk.count_bytes(memory_use));
    }
}
