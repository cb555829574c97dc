//! Reductions of one tile, in place or after one call: the fast path of small runs. Holds unsafe code.

use core::mem::MaybeUninit;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::Local;
use indim_loops::walk::Walk;
use indim_loops::walk::reduction::UnitForm;
use smallvec::SmallVec;

use crate::tiles::code::{FEW, TileCode};
use crate::tiles::folded::FoldedTile;
use crate::tiles::folding::Folding;
use crate::tiles::memory::Run;
use crate::tiles::reduce::{BoundPart, width};
use crate::tiles::tree::{Columns, Values};
use crate::tiles::whole::{Placed, Whole};
use crate::tiles::wiring::Wiring;

/// Memory on the stack for computed values, then accumulators.
#[repr(align(64))]
struct Memory(#[allow(dead_code)] [u8; 4096]);

/// The single tile.
#[derive(Debug)]
pub(super) struct WholeTile {
    /// The call that computes the values; `None` if they are in memory, or if a function folds them.
    call: Option<Whole>,
    /// For each store, the addresses of its values and of its results.
    stores: SmallVec<[(Placed, Placed); 2]>,
    /// Bytes of the computed values.
    computed: usize,
    /// Inputs of the function that folds what it computes.
    folded: SmallVec<[Placed; FEW]>,
}

impl WholeTile {
    /// Returns `None` if the tile needs other calls or does not fit the stack; `bytes` is the memory of the
    /// accumulators. A function may fold what it computes.
    pub(super) fn new(
        code: &TileCode,
        walk: &Walk,
        wiring: &Wiring,
        accumulator_bytes: usize,
    ) -> Option<WholeTile> {
        let (stores, accesses) = (code.nest.stores.len(), code.nest.accesses.len());
        if walk.tiles() > 1 || !code.calls.is_empty() || wiring.gathers() {
            return None;
        }
        let own = Computed { walk, code, first: stores + accesses };
        let (call, folded) = match (&code.functions, &code.folding) {
            (_, Some(functions)) if wiring.folds => {
                let inputs = functions.inputs.iter();
                (None, inputs.map(|slot| Placed::operand(walk, stores + slot)).collect())
            }
            (Some(_), _) => {
                let call = Whole::writing(code, walk, wiring, |slot| own.place(slot))?;
                (Some(call), SmallVec::new())
            }
            _ => (None, SmallVec::new()),
        };
        let places = code.nest.stores.iter().enumerate().map(|(index, store)| {
            let values = match store.source {
                Local::Access(access) => Placed::operand(walk, stores + access),
                // A function that folds its values does not write them.
                Local::Instruction(_) => own.place(code.slot(store.source))?,
            };
            Some((values, Placed::operand(walk, index)))
        });
        let stores = places.collect::<Option<_>>()?;
        let computed = call.as_ref().map_or(0, |_| own.bytes());
        let has_room = computed + accumulator_bytes <= size_of::<Memory>();
        has_room.then_some(WholeTile { call, stores, computed, folded })
    }

    /// # Safety
    /// Like [`BoundNest::run`](crate::executor::BoundNest::run), for the single tile of this part.
    pub(super) unsafe fn run(&self, bound: &BoundPart, code: &TileCode, bases: &[*mut u8]) {
        let mut memory = MaybeUninit::<Memory>::uninit();
        let computed = memory.as_mut_ptr().cast::<u8>();
        let accumulators = computed.wrapping_add(self.computed);
        let address = |placed: Placed| {
            bases.get(placed.operand).copied().unwrap_or(computed).wrapping_offset(placed.offset)
        };
        let (folds, width) = (&code.folds[..], width(&bound.part));
        // SAFETY: the caller vouches for the tile; `new` has checked that values and accumulators fit.
        unsafe {
            match &bound.folding {
                Some(folding) => {
                    let columns = bound.accumulators.folded_columns(accumulators, folds, width);
                    self.fold(folding, bound, &columns[..folds.len()], address);
                }
                None => self.compute(bound, address),
            }
            for (index, fold) in folds.iter().enumerate() {
                let (values, results) = self.stores[index];
                let columns = bound.accumulators.columns(accumulators, (index, fold), width);
                if bound.folding.is_none() {
                    let step_stride = bound.stores[index].source.step_stride;
                    take(bound, columns, Values { first: address(values), step_stride });
                }
                let count = match bound.part.form {
                    UnitForm::Row(_) => bound.part.walk.tile_axis,
                    UnitForm::Columns(count) => count,
                };
                let stride = bound.stores[index].result_stride;
                columns.write(address(results), Run { count, stride });
            }
        }
    }

    /// Folds into the first nodes by the function that computes the values.
    ///
    /// # Safety
    /// Like [`WholeTile::run`], with memory for the accumulators.
    unsafe fn fold(
        &self,
        folding: &Folding,
        bound: &BoundPart,
        columns: &[Columns<'_>],
        address: impl Fn(Placed) -> *mut u8,
    ) {
        let inputs: SmallVec<[*mut u8; FEW]> = self.folded.iter().map(|&it| address(it)).collect();
        let tile = FoldedTile { folding, columns, inputs: &inputs, first: 0 };
        let steps = bound.part.walk.tile_axis;
        // SAFETY: the caller vouches for the tile and the memory.
        unsafe {
            match bound.part.form {
                UnitForm::Row(length) => tile.take_rows(steps, length),
                UnitForm::Columns(_) => {
                    tile.take(steps);
                    tile.finish(steps);
                }
            }
        }
    }

    /// Computes the values, if a call is needed.
    ///
    /// # Safety
    /// Like [`WholeTile::run`], with memory for the values.
    unsafe fn compute(&self, bound: &BoundPart, address: impl Fn(Placed) -> *mut u8) {
        if let (Some(call), Some(function), Some(wired)) =
            (&self.call, &bound.function, &bound.wiring.function)
        {
            // SAFETY: the caller vouches for the tile; the function was compiled for this wiring.
            unsafe { call.run(function, &wired.row_strides, address) }
        }
    }

    pub(super) fn count_bytes(&self, held: &mut MemoryUse) {
        self.call.iter().for_each(|call| call.count_bytes(held));
        held.small(&self.stores);
        held.small(&self.folded);
    }
}

/// Folds the values of a store into the first nodes.
///
/// # Safety
/// The values of the tile are computed; the accumulators have memory.
unsafe fn take(bound: &BoundPart, columns: Columns<'_>, values: Values) {
    let steps = bound.part.walk.tile_axis;
    // SAFETY: the caller vouches for the values, which are all folded at once.
    unsafe {
        match bound.part.form {
            UnitForm::Row(length) => columns.fold_rows(values, steps, length),
            UnitForm::Columns(_) => {
                columns.take(values, 0..steps);
                columns.finish(steps);
            }
        }
    }
}

/// Layout of the values that the function of a tile computes, numbered after the operands of the nest.
struct Computed<'a> {
    walk: &'a Walk,
    code: &'a TileCode,
    first: usize,
}

impl Computed<'_> {
    fn slots(&self) -> &[usize] {
        self.code.functions.as_ref().map_or(&[], |functions| &functions.outputs)
    }

    /// Bytes of the values of these registers.
    fn bytes_of(&self, slots: &[usize]) -> usize {
        let elements = self.walk.tile_axis * self.walk.step_elements;
        let bytes = |slot: &usize| elements * self.code.element_size(*slot);
        slots.iter().map(|slot| bytes(slot).next_multiple_of(align_of::<Memory>())).sum()
    }

    fn bytes(&self) -> usize {
        self.bytes_of(self.slots())
    }

    /// Address of the value of a register.
    fn place(&self, slot: usize) -> Option<Placed> {
        let before = self.slots().iter().position(|it| *it == slot)?;
        let offset = self.bytes_of(&self.slots()[..before]) as isize;
        Some(Placed { operand: self.first, offset })
    }
}
