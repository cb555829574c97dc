//! Wirings: the address source of each virtual register under a walk.
//!
//! A wiring decides before the first tile which values go straight into an array, which accesses are
//! gathered into blocks, and the operand layout of functions.

use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::{BufferId, Local, Store};
use indim_loops::resize::SizedNest;
use indim_loops::strides::coalesce::CoalescedAxes;
use indim_loops::walk::{OperandWalk, RowForm, TileLayout, Walk};
use indim_ops::DType;
use indim_targets::{Function, OperandForm};
use smallvec::SmallVec;

use crate::tiles::code::BLOCK_BYTES;
use crate::tiles::code::{Call, Callee, INLINE_ITEMS, TileCode, short_list};
use crate::tiles::functions::Functions;
use crate::tiles::gather::{Gather, GatherStrides, GatherWalk};

/// Address sources of the virtual registers of a nest's code.
#[derive(Debug, Clone)]
pub(crate) struct Wiring {
    /// For each store, whether its value is written straight into the array, without a block.
    pub(crate) is_direct: SmallVec<[bool; INLINE_ITEMS]>,
    /// For each access that is gathered, the offset of its block in the workspace, in bytes; `None` for
    /// accesses that are read in place.
    pub(crate) blocks: SmallVec<[Option<usize>; INLINE_ITEMS]>,
    /// Number of blocks of accesses and instructions.
    pub(crate) block_count: usize,
    /// Whether the function writes with non-temporal stores.
    pub(crate) is_streamed: bool,
    /// Whether the function runs row by row, because some operand is dense in rows but not in tiles.
    pub(crate) by_rows: bool,
    /// The operand layout of the function, if the nest has machine code.
    pub(crate) function: Option<FunctionWiring>,
    /// Whether the function folds its values and writes none.
    pub(crate) folds: bool,
    /// For each call, its gather; empty if no call gathers.
    pub(crate) gathers: Vec<Option<GatherWiring>>,
}

/// The gather of a call under a walk.
#[derive(Debug, Clone)]
pub(crate) struct GatherWiring {
    pub(crate) walk: GatherWalk,
    /// Whether each tile is one dense row of the table, which later calls read in place.
    pub(crate) is_in_place: bool,
}

/// The operand layout of a function under a walk.
#[derive(Debug, Clone)]
pub(crate) struct FunctionWiring {
    /// Form of each input.
    pub(crate) forms: SmallVec<[OperandForm; INLINE_ITEMS]>,
    /// Whether each output is written with non-temporal stores.
    pub(crate) is_streamed: SmallVec<[bool; INLINE_ITEMS]>,
    /// Whether an output may lie exactly over an input.
    pub(crate) is_in_place: bool,
    /// Strides between rows in bytes: of the outputs, then of the inputs.
    pub(crate) row_strides: SmallVec<[isize; INLINE_ITEMS]>,
}

/// Minimum bytes that a nest with non-temporal stores moves, where a broadcast operand counts once. So
/// much data evicts itself from the cache before its next use: few last-level caches are larger (32 MiB
/// on the machine of the committed records).
const STREAMED_BYTES: usize = 64 * 1024 * 1024;

impl Wiring {
    /// The wiring of the code under `walk`. `needs_block` tells for each access whether it must be a block,
    /// `is_over_input` for each output whether it lies over an input (empty if none does), `folds` whether
    /// the function folds its values.
    pub(crate) fn new(
        code: &TileCode,
        nest: &SizedNest<'_>,
        walk: &Walk,
        needs_block: &[bool],
        is_over_input: &[bool],
        folds: bool,
    ) -> Wiring {
        let (stores, accesses) = walk.operands.split_at(code.nest.stores.len());
        let accesses = accesses.iter().zip(needs_block).zip(&code.only_gathered);
        let read_modes =
            short_list(accesses.map(
                |((operand, &needs_block), &only_gathered)| match only_gathered {
                    true => ReadMode::Indexed,
                    false => read_mode(operand, needs_block),
                },
            ));
        let is_direct = direct_stores(code, stores, is_over_input);
        let (blocks, block_count) = access_blocks(code, &read_modes);
        let function = match folds {
            true => fold_wiring(code, walk, &read_modes),
            false => function_wiring(code, nest, walk, &is_direct, &read_modes, is_over_input),
        };
        let is_streamed = |wired: &FunctionWiring| wired.is_streamed.contains(&true);
        Wiring {
            blocks,
            block_count,
            by_rows: walk.operands.iter().any(is_repeated)
                || must_walk_rows(walk, &is_direct, &read_modes),
            is_streamed: function.as_ref().is_some_and(is_streamed),
            function,
            folds,
            is_direct,
            gathers: Vec::new(),
        }
    }

    /// Wires the gather of each call; `table_strides` has for each access the stride of its indexed axis.
    pub(crate) fn add_gathers(
        &mut self,
        code: &TileCode,
        axes: &CoalescedAxes,
        walk: &Walk,
        table_strides: &[isize],
    ) {
        let wiring = |call: &Call| match call.callee {
            Callee::Kernel { .. } => None,
            Callee::Gather { gather, table, indices } => {
                let index = IndexStrides::new(self, code, axes, &gather, indices);
                let of_table = axes.strides_of(code.operand(table));
                let strides =
                    |axis| GatherStrides { table: of_table[axis], index: index.axis_stride(axis) };
                let stride = table_strides[table];
                let take = GatherWalk::new(axes, walk.step_elements, strides, stride);
                let is_written = code.value_stores[call.destination]
                    .first
                    .is_some_and(|store| self.is_direct[store]);
                let is_in_place = !is_written && take.is_one_dense_row(gather.element_size());
                Some(GatherWiring { walk: take, is_in_place })
            }
        };
        self.gathers = code.calls.iter().map(wiring).collect();
    }

    /// Counts the memory of the wiring.
    pub(crate) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_small_vec(&self.is_direct);
        memory_use.add_small_vec(&self.blocks);
        memory_use.add_allocation::<Option<GatherWiring>>(self.gathers.capacity());
        self.gathers.iter().flatten().for_each(|take| take.walk.count_bytes(memory_use));
        if let Some(FunctionWiring { forms, is_streamed, row_strides, .. }) = &self.function {
            memory_use.add_small_vec(forms);
            memory_use.add_small_vec(is_streamed);
            memory_use.add_small_vec(row_strides);
        }
    }

    /// The function for this wiring, compiled if needed: `Some(None)` for a nest without machine code, `None`
    /// if the function is not available.
    pub(crate) fn find_function(&self, code: &TileCode) -> Option<Option<Arc<Function>>> {
        match code.functions.as_ref().zip(self.function.as_ref()) {
            Some((functions, FunctionWiring { forms, is_streamed, is_in_place, .. })) => {
                let (forms, is_streamed) = (forms.iter().copied(), is_streamed.iter().copied());
                Some(Some(functions.find_or_compile(forms, is_streamed, *is_in_place, false)?))
            }
            None => Some(None),
        }
    }

    /// Whether the function would run rows shorter than its step, which is slow.
    pub(crate) fn has_short_rows(&self, code: &TileCode, walk: &Walk) -> bool {
        let step = code.functions.as_deref().map_or(0, Functions::step);
        self.by_rows && walk.step_elements < step
    }

    /// Rows of a tile, and elements of each row, as the function runs them.
    pub(crate) fn rows(&self, steps: usize, step_elements: usize) -> (usize, usize) {
        if self.by_rows { (steps, step_elements) } else { (1, steps * step_elements) }
    }

    /// Whether any value of a tile passes through a block. A block with one row for all tiles does not count.
    pub(crate) fn uses_blocks(&self, walk: &Walk) -> bool {
        let accesses = &walk.operands[self.is_direct.len()..];
        let is_gathered = |(block, operand): (&Option<usize>, &OperandWalk)| {
            block.is_some() && !is_repeated(operand)
        };
        self.blocks.iter().zip(accesses).any(is_gathered) || self.is_direct.contains(&false)
    }

    /// Whether any access is gathered into a block.
    pub(crate) fn gathers_accesses(&self) -> bool {
        self.blocks.iter().any(Option::is_some)
    }
}

/// The strides of indices along the axes of a nest, in bytes.
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
        match wiring.blocks.get(indices) {
            Some(None) => IndexStrides::InPlace(axes.strides_of(code.operand(indices))),
            _ => IndexStrides::Block { axes, index_size: gather.index_size() },
        }
    }

    /// Stride of the indices along an axis, in bytes.
    fn axis_stride(&self, axis: usize) -> isize {
        match self {
            IndexStrides::InPlace(strides) => strides[axis],
            IndexStrides::Block { axes, index_size } => {
                let inner: usize = axes.sizes[axis + 1..].iter().product();
                (inner * index_size) as isize
            }
        }
    }
}

/// The way in which a tile reads an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadMode {
    /// In place.
    InPlace(OperandForm),
    /// From a block into which it is gathered.
    Block,
    /// By gathers by index only, in place.
    Indexed,
}

/// The mode of an operand. Kernels need dense tiles; functions also read a single element, and rows of
/// either form.
fn read_mode(operand: &OperandWalk, needs_block: bool) -> ReadMode {
    match (&operand.layout, operand.row) {
        (TileLayout::Dense, _) => ReadMode::InPlace(OperandForm::Dense),
        _ if needs_block => ReadMode::Block,
        (TileLayout::Scalar, _) => ReadMode::InPlace(OperandForm::RowScalar),
        (TileLayout::Strided(_), Some(RowForm::Dense)) => ReadMode::InPlace(OperandForm::Dense),
        (TileLayout::Strided(_), Some(RowForm::Scalar)) => {
            ReadMode::InPlace(OperandForm::RowScalar)
        }
        (TileLayout::Strided(_), Some(RowForm::Repeated) | None) => ReadMode::Block,
    }
}

/// Whether an operand has one row for all tiles, which is gathered.
fn is_repeated(operand: &OperandWalk) -> bool {
    operand.row == Some(RowForm::Repeated)
}

/// Whether some operand in place is strided in a tile, so that the function walks it row by row.
fn must_walk_rows(walk: &Walk, is_direct: &[bool], read_modes: &[ReadMode]) -> bool {
    let are_reads_in_place =
        read_modes.iter().map(|read_mode| matches!(read_mode, ReadMode::InPlace(_)));
    let are_in_place = is_direct.iter().copied().chain(are_reads_in_place);
    let is_strided = |operand: &OperandWalk| matches!(operand.layout, TileLayout::Strided(_));
    walk.operands.iter().zip(are_in_place).any(|(o, is_in_place)| is_in_place && is_strided(o))
}

/// Blocks of the gathered accesses, and the number of blocks including those of instructions.
fn access_blocks(
    code: &TileCode,
    read_modes: &[ReadMode],
) -> (SmallVec<[Option<usize>; INLINE_ITEMS]>, usize) {
    let mut count = code.block_count;
    let blocks = short_list(read_modes.iter().map(|read_mode| {
        let is_gathered = *read_mode == ReadMode::Block;
        count += usize::from(is_gathered);
        is_gathered.then(|| (count - 1) * BLOCK_BYTES)
    }));
    (blocks, count)
}

/// For each store, whether its value is written straight into the array. Into an array over an input only a
/// function may do that, because a call would overwrite operands of later calls.
fn direct_stores(
    code: &TileCode,
    stores: &[OperandWalk],
    is_over_input: &[bool],
) -> SmallVec<[bool; INLINE_ITEMS]> {
    let is_direct = |(store, target): (usize, &Store)| {
        is_direct(code, stores, store)
            && (!is_over(target, is_over_input) || code.is_computed_by_function(target.source))
    };
    short_list(code.nest.stores.iter().enumerate().map(is_direct))
}

/// Whether a store's target lies over an input.
pub(super) fn is_over(store: &Store, is_over_input: &[bool]) -> bool {
    match store.target.buffer {
        BufferId::Output(index) => is_over_input.get(index).copied().unwrap_or(false),
        _ => false,
    }
}

/// Whether a value may be written straight into the array of a store: into dense memory for the first store
/// of the value; into rows if the function computes the value and this is its only store.
fn is_direct(code: &TileCode, stores: &[OperandWalk], store: usize) -> bool {
    let source = code.nest.stores[store].source;
    let of_value = code.value_stores[code.register(source)];
    match &stores[store].layout {
        _ if !matches!(source, Local::Instruction(_)) || code.nest.reduced.is_some() => false,
        TileLayout::Dense => of_value.first == Some(store),
        TileLayout::Strided(_) => {
            stores[store].row == Some(RowForm::Dense)
                && code.is_computed_by_function(source)
                && of_value.count == 1
        }
        TileLayout::Scalar => false,
    }
}

/// The operand layout of the function under a walk.
fn function_wiring(
    code: &TileCode,
    nest: &SizedNest<'_>,
    walk: &Walk,
    is_direct: &[bool],
    read_modes: &[ReadMode],
    is_over_input: &[bool],
) -> Option<FunctionWiring> {
    let functions = code.functions.as_ref()?;
    // In a block the rows of a tile are contiguous.
    let register_stride = |register| (code.element_size(register) * walk.step_elements) as isize;
    let store =
        |register: usize| code.value_stores[register].first.filter(|&store| is_direct[store]);
    let is_streaming_size = is_streaming_size(nest);
    let is_streamed = |register: usize| {
        store(register).filter(|_| is_streaming_size).is_some_and(|store| {
            let target = &code.nest.stores[store];
            is_streamed(target)
                && code.value_stores[register].count == 1
                && !is_over(target, is_over_input)
        })
    };
    let form = |&register: &usize| match read_modes.get(register) {
        Some(ReadMode::InPlace(form)) => *form,
        _ => OperandForm::Dense,
    };
    let written = functions.outputs.iter().map(|&register| match store(register) {
        Some(store) => walk.operands[store].step_stride,
        None => register_stride(register),
    });
    let read = functions.inputs.iter().map(|&register| match read_modes.get(register) {
        Some(ReadMode::InPlace(_)) => walk.operands[code.operand(register)].step_stride,
        Some(ReadMode::Block) if is_repeated(&walk.operands[code.operand(register)]) => 0,
        _ => register_stride(register),
    });
    let is_in_place = |&register: &usize| {
        store(register).is_some_and(|store| is_over(&code.nest.stores[store], is_over_input))
    };
    Some(FunctionWiring {
        forms: short_list(functions.inputs.iter().map(form)),
        is_streamed: short_list(functions.outputs.iter().map(|&register| is_streamed(register))),
        is_in_place: functions.outputs.iter().any(is_in_place),
        row_strides: short_list(written.chain(read)),
    })
}

/// The operand layout of the function that folds its values, under a walk.
fn fold_wiring(code: &TileCode, walk: &Walk, read_modes: &[ReadMode]) -> Option<FunctionWiring> {
    let functions = code.fold_functions.as_ref()?;
    let operand = |register: usize| &walk.operands[code.operand(register)];
    let form = |&register: &usize| match (read_modes[register], &operand(register).layout) {
        (ReadMode::InPlace(OperandForm::RowScalar), TileLayout::Scalar) => OperandForm::UnitScalar,
        (ReadMode::InPlace(form), _) => form,
        _ => OperandForm::Dense,
    };
    let stride = |&register: &usize| match read_modes[register] {
        ReadMode::InPlace(_) => operand(register).step_stride,
        _ => (code.element_size(register) * walk.step_elements) as isize,
    };
    Some(FunctionWiring {
        forms: short_list(functions.inputs.iter().map(form)),
        is_streamed: SmallVec::new(),
        is_in_place: false,
        row_strides: short_list(functions.inputs.iter().map(stride)),
    })
}

/// Whether a nest moves enough bytes for non-temporal stores.
pub(super) fn is_streaming_size(nest: &SizedNest<'_>) -> bool {
    nest.bytes_moved() >= STREAMED_BYTES
}

/// Whether a store of a nest that moves much is non-temporal. Stores of booleans are not: arrays of booleans
/// are small and stay cached.
pub(super) fn is_streamed(store: &Store) -> bool {
    store.target.array_type.dtype != DType::Bool
}
