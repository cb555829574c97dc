//! Reductions of one tile, in place or after one function call: the fast path of small runs. Holds unsafe
//! code.

use core::mem::MaybeUninit;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::Local;
use indim_loops::walk::Walk;
use indim_loops::walk::reduction::UnitForm;
use smallvec::SmallVec;

use crate::tiles::code::{INLINE_ITEMS, TileCode};
use crate::tiles::fold_function::FoldFunction;
use crate::tiles::fold_tile::FoldTile;
use crate::tiles::memory::ElementRun;
use crate::tiles::reduce::{BoundPartition, width};
use crate::tiles::single_call::{OperandAddress, SingleCall};
use crate::tiles::tree::{ColumnTree, StepValues};
use crate::tiles::wiring::Wiring;

/// Memory on the stack for computed values, then for accumulators.
#[repr(align(64))]
struct TileMemory(#[allow(dead_code)] [u8; 4096]);

/// A partition of one tile.
#[derive(Debug)]
pub(super) struct SingleTile {
    /// The call that computes the values; `None` if they are in memory, or if a function folds them instead.
    call: Option<SingleCall>,
    /// For each store, the addresses of its values and of its results.
    stores: SmallVec<[(OperandAddress, OperandAddress); 2]>,
    /// Bytes of the computed values.
    value_bytes: usize,
    /// Inputs of the function that folds the values it computes; empty without one.
    inputs: SmallVec<[OperandAddress; INLINE_ITEMS]>,
}

impl SingleTile {
    /// Returns `None` if the partition has several tiles, needs other calls, or does not fit the stack.
    /// `accumulator_bytes` is the memory of the accumulators.
    pub(super) fn new(
        code: &TileCode,
        walk: &Walk,
        wiring: &Wiring,
        accumulator_bytes: usize,
    ) -> Option<SingleTile> {
        let (stores, accesses) = (code.nest.stores.len(), code.nest.accesses.len());
        if walk.tiles() > 1 || !code.calls.is_empty() || wiring.gathers_accesses() {
            return None;
        }
        let values = ValueLayout { walk, code, operand: stores + accesses };
        let (call, inputs) = match (&code.functions, &code.fold_functions) {
            (_, Some(functions)) if wiring.folds => {
                let inputs = functions.inputs.iter();
                (
                    None,
                    inputs
                        .map(|register| OperandAddress::operand(walk, stores + register))
                        .collect(),
                )
            }
            (Some(_), _) => {
                let call =
                    SingleCall::writing(code, walk, wiring, |register| values.address(register))?;
                (Some(call), SmallVec::new())
            }
            _ => (None, SmallVec::new()),
        };
        let addresses = code.nest.stores.iter().enumerate().map(|(index, store)| {
            let values = match store.source {
                Local::Access(access) => OperandAddress::operand(walk, stores + access),
                // For a function that folds its values, this address is not used.
                Local::Instruction(_) => values.address(code.register(store.source))?,
            };
            Some((values, OperandAddress::operand(walk, index)))
        });
        let stores = addresses.collect::<Option<_>>()?;
        let value_bytes = call.as_ref().map_or(0, |_| values.bytes());
        let has_room = value_bytes + accumulator_bytes <= size_of::<TileMemory>();
        has_room.then_some(SingleTile { call, stores, value_bytes, inputs })
    }

    /// Runs the tile.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`](crate::executor::BoundNest::run), for all points of the
    ///   partition;
    /// - `bound` is the partition for which `new` was called.
    pub(super) unsafe fn run(&self, bound: &BoundPartition, code: &TileCode, bases: &[*mut u8]) {
        let mut memory = MaybeUninit::<TileMemory>::uninit();
        let computed = memory.as_mut_ptr().cast::<u8>();
        let accumulators = computed.wrapping_add(self.value_bytes);
        let address = |address: OperandAddress| {
            bases.get(address.operand).copied().unwrap_or(computed).wrapping_offset(address.offset)
        };
        let (folds, width) = (&code.folds[..], width(&bound.partition));
        // SAFETY:
        // - the caller ensures that all operands are valid at all points;
        // - `new` has checked that computed values and accumulators fit `memory`, one after the other;
        // - each store has its values before `fold_values`, and its nodes before `write`.
        unsafe {
            match &bound.fold_function {
                Some(fold_function) => {
                    let columns = bound.accumulators.folded_columns(accumulators, folds, width);
                    self.fold(fold_function, bound, &columns[..folds.len()], address);
                }
                None => self.compute(bound, address),
            }
            for (index, fold) in folds.iter().enumerate() {
                let (values, results) = self.stores[index];
                let columns = bound.accumulators.columns(accumulators, (index, fold), width);
                if bound.fold_function.is_none() {
                    let step_stride = bound.stores[index].source.step_stride;
                    fold_values(bound, columns, StepValues { first: address(values), step_stride });
                }
                let count = bound.partition.results(bound.partition.walk.tile_axis);
                let stride = bound.stores[index].result_stride;
                columns.write(address(results), ElementRun { count, stride });
            }
        }
    }

    /// Folds into the first nodes by the function that computes the values.
    ///
    /// # Safety
    /// - the obligations of [`SingleTile::run`];
    /// - `columns` have memory for the lanes and nodes.
    unsafe fn fold(
        &self,
        fold_function: &FoldFunction,
        bound: &BoundPartition,
        columns: &[ColumnTree<'_>],
        address: impl Fn(OperandAddress) -> *mut u8,
    ) {
        let inputs: SmallVec<[*mut u8; INLINE_ITEMS]> =
            self.inputs.iter().map(|&it| address(it)).collect();
        let tile = FoldTile { fold_function, columns, inputs: &inputs, first: 0 };
        let steps = bound.partition.walk.tile_axis;
        // SAFETY:
        // - the inputs are operands of the nest, which the caller ensures to be readable at all steps or
        //   rows;
        // - `FoldFunction::new` has checked the readable elements of a unit against the function's step;
        // - all steps of the tile are folded at once, from step 0 on.
        unsafe {
            match bound.partition.form {
                UnitForm::Row(length) => tile.fold_rows(steps, length),
                UnitForm::Columns(_) => {
                    tile.fold(steps);
                    tile.finish(steps);
                }
            }
        }
    }

    /// Computes the values, if a call is needed.
    ///
    /// # Safety
    /// - the obligations of [`SingleTile::run`];
    /// - `address` returns memory with room for the values that the call computes.
    unsafe fn compute(&self, bound: &BoundPartition, address: impl Fn(OperandAddress) -> *mut u8) {
        if let (Some(call), Some(function), Some(wired)) =
            (&self.call, &bound.function, &bound.wiring.function)
        {
            // SAFETY:
            // - the caller ensures that the operands are valid and that the values have room;
            // - `find_function` compiled the function for this wiring, with which `call` was made.
            unsafe { call.run(function, &wired.row_strides, address) }
        }
    }

    pub(super) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        self.call.iter().for_each(|call| call.count_bytes(memory_use));
        memory_use.add_small_vec(&self.stores);
        memory_use.add_small_vec(&self.inputs);
    }
}

/// Folds the values of a store into the first nodes.
///
/// # Safety
/// - `values` are valid for reads at all steps or rows of the tile;
/// - `columns` has memory for the lanes and nodes.
unsafe fn fold_values(bound: &BoundPartition, columns: ColumnTree<'_>, values: StepValues) {
    let steps = bound.partition.walk.tile_axis;
    // SAFETY: the caller ensures the values; all steps of the tile are folded at once, from step 0 on.
    unsafe {
        match bound.partition.form {
            UnitForm::Row(length) => {
                columns.fold_rows(values, bound.partition.results(steps), length)
            }
            UnitForm::Columns(_) => {
                columns.fold(values, 0..steps);
                columns.finish(steps);
            }
        }
    }
}

/// Layout of the values that the function of a tile computes. The values count as one more operand of the
/// nest.
struct ValueLayout<'a> {
    walk: &'a Walk,
    code: &'a TileCode,
    /// The number of that operand.
    operand: usize,
}

impl ValueLayout<'_> {
    fn registers(&self) -> &[usize] {
        self.code.functions.as_ref().map_or(&[], |functions| &functions.outputs)
    }

    /// Bytes of the values of these registers, each aligned.
    fn bytes_of(&self, registers: &[usize]) -> usize {
        let elements = self.walk.tile_axis * self.walk.step_elements;
        let bytes = |register: &usize| elements * self.code.element_size(*register);
        registers
            .iter()
            .map(|register| bytes(register).next_multiple_of(align_of::<TileMemory>()))
            .sum()
    }

    /// Bytes of all values.
    fn bytes(&self) -> usize {
        self.bytes_of(self.registers())
    }

    /// Address of the values of a register; `None` if the function does not compute it.
    fn address(&self, register: usize) -> Option<OperandAddress> {
        let before = self.registers().iter().position(|it| *it == register)?;
        let offset = self.bytes_of(&self.registers()[..before]) as isize;
        Some(OperandAddress { operand: self.operand, offset })
    }
}
