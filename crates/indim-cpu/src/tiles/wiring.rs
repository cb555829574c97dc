//! Wirings: the address source of each virtual register under a walk.
//!
//! A wiring is known before any tile runs: which stores are written in place, which accesses are gathered
//! into blocks, and how functions walk the operands.

use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::{BufferId, Local, Store};
use indim_loops::resize::SizedNest;
use indim_loops::strides::coalesce::CoalescedAxes;
use indim_loops::walk::{OperandWalk, RowForm, TileLayout, Walk};
use indim_ops::DType;
use indim_targets::{Function, OperandForm};
use smallvec::SmallVec;

use crate::tiles::code::REGISTER_BYTES;
use crate::tiles::code::{Call, Callee, FEW, TileCode, few};
use crate::tiles::functions::Functions;
use crate::tiles::gather::{Gather, GatherStrides, GatherWalk};

/// Address sources of the virtual registers of a nest's code.
#[derive(Debug, Clone)]
pub(crate) struct Wiring {
    /// For each store, whether its instruction writes straight into the array.
    pub(crate) is_direct: SmallVec<[bool; FEW]>,
    /// Block of each gathered access, as an offset in bytes in the workspace; `None` for accesses that are
    /// read in place.
    pub(crate) registers: SmallVec<[Option<usize>; FEW]>,
    /// Number of blocks, those of instructions included.
    pub(crate) register_count: usize,
    /// Whether any call writes with non-temporal stores.
    pub(crate) streams: bool,
    /// Whether the function runs row by row, since some operand is dense within rows but not in a tile.
    pub(crate) by_rows: bool,
    /// The operand layout of the function, if the nest has machine code.
    pub(crate) function: Option<FunctionWiring>,
    /// Whether that is the function that folds, which writes no values.
    pub(crate) folds: bool,
    /// The gather of each call; empty if no call gathers.
    pub(crate) takes: Vec<Option<GatherWiring>>,
}

/// The gather of a call.
#[derive(Debug, Clone)]
pub(crate) struct GatherWiring {
    pub(crate) walk: GatherWalk,
    /// Whether each tile is one row of the table, which later calls read in place.
    pub(crate) in_place: bool,
}

/// The operand layout of a function.
#[derive(Debug, Clone)]
pub(crate) struct FunctionWiring {
    /// Form of each input.
    pub(crate) forms: SmallVec<[OperandForm; FEW]>,
    /// Whether each output is written with non-temporal stores.
    pub(crate) streams: SmallVec<[bool; FEW]>,
    /// Whether an output may lie exactly over an input.
    pub(crate) is_in_place: bool,
    /// Stride between rows in bytes, of the outputs, then of the inputs.
    pub(crate) row_strides: SmallVec<[isize; FEW]>,
}

/// Bytes moved, each counted once, above which a nest writes with non-temporal stores: it leaves nothing
/// useful in the caches, and few last-level caches are larger. On the machine of the committed records they
/// have 32 MiB.
const STREAMED_BYTES: usize = 64 * 1024 * 1024;

impl Wiring {
    /// `needs_block` says which accesses must be blocks, `is_over_input` which outputs lie over an input
    /// (empty if none does), `folds` whether the function folds what it computes.
    pub(crate) fn new(
        code: &TileCode,
        nest: &SizedNest<'_>,
        walk: &Walk,
        needs_block: &[bool],
        is_over_input: &[bool],
        folds: bool,
    ) -> Wiring {
        let (stores, accesses) = walk.operands.split_at(code.nest.stores.len());
        let accesses = accesses.iter().zip(needs_block).zip(&code.only_taken);
        let readings =
            few(accesses.map(|((operand, &needs_block), &only_taken)| match only_taken {
                true => Reading::Taken,
                false => reading(operand, needs_block),
            }));
        let is_direct = direct_stores(code, stores, is_over_input);
        let (registers, register_count) = gathered(code, &readings);
        let function = match folds {
            true => folding_wiring(code, walk, &readings),
            false => function_wiring(code, nest, walk, &is_direct, &readings, is_over_input),
        };
        let streams = |wired: &FunctionWiring| wired.streams.contains(&true);
        Wiring {
            registers,
            register_count,
            by_rows: is_by_rows(walk, &is_direct, &readings),
            streams: function.as_ref().is_some_and(streams),
            function,
            folds,
            is_direct,
            takes: Vec::new(),
        }
    }

    /// Adds the gather of each call over these axes; `table_strides` are the strides of the indexed axis of
    /// each access.
    pub(crate) fn add_takes(
        &mut self,
        code: &TileCode,
        axes: &CoalescedAxes,
        walk: &Walk,
        table_strides: &[isize],
    ) {
        let wiring = |call: &Call| match call.callee {
            Callee::Kernel { .. } => None,
            Callee::Take { gather, table, indices } => {
                let index = IndexStrides::new(self, code, axes, &gather, indices);
                let of_table = axes.strides_of(code.operand(table));
                let strides =
                    |axis| GatherStrides { table: of_table[axis], index: index.along(axis) };
                let stride = table_strides[table];
                let take = GatherWalk::new(axes, walk.step_elements, strides, stride);
                let is_written =
                    code.stored[call.destination].first.is_some_and(|store| self.is_direct[store]);
                let in_place = !is_written && take.is_one_dense_row(gather.element_size());
                Some(GatherWiring { walk: take, in_place })
            }
        };
        self.takes = code.calls.iter().map(wiring).collect();
    }

    /// Counts the memory of the wiring.
    pub(crate) fn count_bytes(&self, held: &mut MemoryUse) {
        held.small(&self.is_direct);
        held.small(&self.registers);
        held.own::<Option<GatherWiring>>(self.takes.capacity());
        self.takes.iter().flatten().for_each(|take| take.walk.count_bytes(held));
        if let Some(FunctionWiring { forms, streams, row_strides, .. }) = &self.function {
            held.small(forms);
            held.small(streams);
            held.small(row_strides);
        }
    }

    /// The function of the code, `Some(None)` without machine code; `None` if a function is missing.
    pub(crate) fn find_function(&self, code: &TileCode) -> Option<Option<Arc<Function>>> {
        match code.functions.as_ref().zip(self.function.as_ref()) {
            Some((functions, FunctionWiring { forms, streams, is_in_place, .. })) => {
                let (forms, streams) = (forms.iter().copied(), streams.iter().copied());
                Some(Some(functions.function_of(forms, streams, *is_in_place, false)?))
            }
            None => Some(None),
        }
    }

    /// Whether a function would run rows shorter than its step.
    pub(crate) fn has_short_rows(&self, code: &TileCode, walk: &Walk) -> bool {
        let step = code.functions.as_deref().map_or(0, Functions::step);
        self.by_rows && walk.step_elements < step
    }

    /// Rows of a tile and elements of each row, for a function.
    pub(crate) fn rows(&self, steps: usize, step_elements: usize) -> (usize, usize) {
        if self.by_rows { (steps, step_elements) } else { (1, steps * step_elements) }
    }

    /// Whether any value passes through a block.
    pub(crate) fn uses_registers(&self) -> bool {
        self.gathers() || self.is_direct.contains(&false)
    }

    /// Whether any access is gathered into a block.
    pub(crate) fn gathers(&self) -> bool {
        self.registers.iter().any(Option::is_some)
    }
}

/// Strides of indices along the axes of a tile, in bytes.
enum IndexStrides<'a> {
    /// Indices that are read in place.
    InPlace(&'a [isize]),
    /// Indices in a block, in the order of the tile.
    Block { axes: &'a CoalescedAxes, index_size: usize },
}

impl<'a> IndexStrides<'a> {
    fn new(
        wiring: &Wiring,
        code: &TileCode,
        axes: &'a CoalescedAxes,
        gather: &Gather,
        indices: usize,
    ) -> IndexStrides<'a> {
        match wiring.registers.get(indices) {
            Some(None) => IndexStrides::InPlace(axes.strides_of(code.operand(indices))),
            _ => IndexStrides::Block { axes, index_size: gather.index_size() },
        }
    }

    fn along(&self, axis: usize) -> isize {
        match self {
            IndexStrides::InPlace(strides) => strides[axis],
            IndexStrides::Block { axes, index_size } => {
                let inner: usize = axes.sizes[axis + 1..].iter().product();
                (inner * index_size) as isize
            }
        }
    }
}

/// The way in which an access is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// In place.
    InPlace(OperandForm),
    /// From the block into which it was copied.
    Gathered,
    /// Only by gathers, in place.
    Taken,
}

/// Kernels need dense tiles; functions also accept a single element, and rows of either form.
fn reading(operand: &OperandWalk, needs_block: bool) -> Reading {
    match (&operand.layout, operand.row) {
        (TileLayout::Dense, _) => Reading::InPlace(OperandForm::Dense),
        _ if needs_block => Reading::Gathered,
        (TileLayout::Single, _) => Reading::InPlace(OperandForm::Single),
        (TileLayout::Strided(_), Some(RowForm::Dense)) => Reading::InPlace(OperandForm::Dense),
        (TileLayout::Strided(_), Some(RowForm::Single)) => Reading::InPlace(OperandForm::Single),
        (TileLayout::Strided(_), None) => Reading::Gathered,
    }
}

/// Whether some operand that is used in place must be walked row by row.
fn is_by_rows(walk: &Walk, is_direct: &[bool], readings: &[Reading]) -> bool {
    let are_read_in_place = readings.iter().map(|reading| matches!(reading, Reading::InPlace(_)));
    let are_in_place = is_direct.iter().copied().chain(are_read_in_place);
    let is_strided = |operand: &OperandWalk| matches!(operand.layout, TileLayout::Strided(_));
    walk.operands.iter().zip(are_in_place).any(|(o, in_place)| in_place && is_strided(o))
}

/// Blocks of the gathered accesses, and the number of blocks with those of the code.
fn gathered(code: &TileCode, readings: &[Reading]) -> (SmallVec<[Option<usize>; FEW]>, usize) {
    let mut count = code.register_count;
    let registers = few(readings.iter().map(|reading| {
        let is_gathered = *reading == Reading::Gathered;
        count += usize::from(is_gathered);
        is_gathered.then(|| (count - 1) * REGISTER_BYTES)
    }));
    (registers, count)
}

/// For each store, whether its value is written straight into the array. If the array lies over an input,
/// which a later call may read, only a function may do that.
fn direct_stores(
    code: &TileCode,
    stores: &[OperandWalk],
    is_over_input: &[bool],
) -> SmallVec<[bool; FEW]> {
    let is_direct = |(store, target): (usize, &Store)| {
        is_direct(code, stores, store)
            && (!is_over(target, is_over_input) || code.is_of_function(target.source))
    };
    few(code.nest.stores.iter().enumerate().map(is_direct))
}

/// Whether a store's target lies over an input.
pub(super) fn is_over(store: &Store, is_over_input: &[bool]) -> bool {
    match store.target.buffer {
        BufferId::Output(index) => is_over_input.get(index).copied().unwrap_or(false),
        _ => false,
    }
}

/// Whether a store may be written straight into the array: a dense one that is the first of its value, or
/// rows of it if no call reads the value.
fn is_direct(code: &TileCode, stores: &[OperandWalk], store: usize) -> bool {
    let source = code.nest.stores[store].source;
    let of_value = code.stored[code.slot(source)];
    match &stores[store].layout {
        _ if !matches!(source, Local::Instruction(_)) || code.nest.reduced.is_some() => false,
        TileLayout::Dense => of_value.first == Some(store),
        TileLayout::Strided(_) => {
            stores[store].row == Some(RowForm::Dense)
                && code.is_of_function(source)
                && of_value.count == 1
        }
        TileLayout::Single => false,
    }
}

/// The operand layout of the code's function under a walk.
fn function_wiring(
    code: &TileCode,
    nest: &SizedNest<'_>,
    walk: &Walk,
    is_direct: &[bool],
    readings: &[Reading],
    is_over_input: &[bool],
) -> Option<FunctionWiring> {
    let functions = code.functions.as_ref()?;
    // In a block the rows of a tile are contiguous.
    let register_stride = |slot| (code.element_size(slot) * walk.step_elements) as isize;
    let store = |slot: usize| code.stored[slot].first.filter(|&store| is_direct[store]);
    let moves_much = moves_much(nest);
    let streams = |slot: usize| {
        store(slot).filter(|_| moves_much).is_some_and(|store| {
            let target = &code.nest.stores[store];
            is_streamed(target) && code.stored[slot].count == 1 && !is_over(target, is_over_input)
        })
    };
    let form = |&slot: &usize| match readings.get(slot) {
        Some(Reading::InPlace(form)) => *form,
        _ => OperandForm::Dense,
    };
    let written = functions.outputs.iter().map(|&slot| match store(slot) {
        Some(store) => walk.operands[store].step_stride,
        None => register_stride(slot),
    });
    let read = functions.inputs.iter().map(|&slot| match readings.get(slot) {
        Some(Reading::InPlace(_)) => walk.operands[code.operand(slot)].step_stride,
        _ => register_stride(slot),
    });
    let is_in_place = |&slot: &usize| {
        store(slot).is_some_and(|store| is_over(&code.nest.stores[store], is_over_input))
    };
    Some(FunctionWiring {
        forms: few(functions.inputs.iter().map(form)),
        streams: few(functions.outputs.iter().map(|&slot| streams(slot))),
        is_in_place: functions.outputs.iter().any(is_in_place),
        row_strides: few(written.chain(read)),
    })
}

/// The operand layout of the code's folding function under a walk.
fn folding_wiring(code: &TileCode, walk: &Walk, readings: &[Reading]) -> Option<FunctionWiring> {
    let functions = code.folding.as_ref()?;
    let operand = |slot: usize| &walk.operands[code.operand(slot)];
    let form = |&slot: &usize| match (readings[slot], &operand(slot).layout) {
        (Reading::InPlace(OperandForm::Single), TileLayout::Single) => OperandForm::Same,
        (Reading::InPlace(form), _) => form,
        _ => OperandForm::Dense,
    };
    let stride = |&slot: &usize| match readings[slot] {
        Reading::InPlace(_) => operand(slot).step_stride,
        _ => (code.element_size(slot) * walk.step_elements) as isize,
    };
    Some(FunctionWiring {
        forms: few(functions.inputs.iter().map(form)),
        streams: SmallVec::new(),
        is_in_place: false,
        row_strides: few(functions.inputs.iter().map(stride)),
    })
}

/// Whether a nest moves enough bytes for non-temporal stores.
pub(super) fn moves_much(nest: &SizedNest<'_>) -> bool {
    nest.bytes_moved() >= STREAMED_BYTES
}

/// Whether a store of such a nest is non-temporal. Masks are small and stay cached.
pub(super) fn is_streamed(store: &Store) -> bool {
    store.target.array_type.dtype != DType::Bool
}
