//! Wirings: where the slots of a nest's code get their addresses from under a walk.
//!
//! Known with the walk, before any tile runs: which stores are written in place, which accesses are
//! gathered into registers, and what the links of chains do with operands of these forms.

use indim_kernels::chain::{Form, Opcode, WiredLink};
use indim_loops::HeldBytes;
use indim_loops::loop_nest::{BufferId, Local, Store};
use indim_loops::walk::{OperandWalk, RowForm, TileLayout, Walk};
use indim_ops::DType;

use crate::blocks::chain::{Chain, Link, Operand};
use crate::blocks::code::{BlockCode, Call};
use crate::blocks::registers::REGISTER_BYTES;

/// Where the slots of the code get their addresses from.
#[derive(Debug, Clone)]
pub(crate) struct Wiring {
    /// For each store, whether its instruction writes straight into the array.
    pub(crate) is_direct: Vec<bool>,
    /// For each slot where its register begins, in bytes from the first one; none for slots that
    /// point into arrays.
    pub(crate) registers: Vec<Option<usize>>,
    /// The number of registers.
    pub(crate) register_count: usize,
    /// Whether any call writes past the caches.
    pub(crate) streams: bool,
    /// Whether chains go row by row, because some operand is dense within rows, but not in a tile.
    pub(crate) by_rows: bool,
    /// The links of the code's chains.
    pub(crate) links: Vec<WiredLink>,
    /// For each of the code's calls where its results go.
    pub(crate) destinations: Vec<Destination>,
    /// For each access from which elements are taken, the stride along their axis in bytes; empty if none is.
    pub(crate) table_strides: Vec<isize>,
}

/// Where the results of a call go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination {
    /// From one row to the next, in bytes.
    pub(crate) row_stride: isize,
    /// Whether it is written past the caches.
    pub(crate) streams: bool,
}

/// A nest that moves so many bytes, each counted once, leaves nothing of use in the caches: there are
/// few larger ones. On the machine of the committed records they have 32 MiB.
const STREAMED_BYTES: usize = 64 * 1024 * 1024;

impl Wiring {
    /// `is_read_by_kernel` says which accesses must be blocks, `is_over_input` which outputs lie where an
    /// input lies; empty if none does.
    pub(crate) fn new(
        code: &BlockCode,
        walk: &Walk,
        is_read_by_kernel: &[bool],
        is_over_input: &[bool],
    ) -> Wiring {
        let (stores, accesses) = walk.operands.split_at(code.nest.stores.len());
        let readings = accesses.iter().zip(is_read_by_kernel).zip(&code.is_table);
        let reading = |((operand, &is_by_kernel), &is_table)| match is_table {
            true => Reading::Table,
            false => reading(operand, is_by_kernel),
        };
        let readings: Vec<Reading> = readings.map(reading).collect();
        let is_direct = direct_stores(code, stores, is_over_input);
        let (registers, register_count) = with_gathered(code, &readings);
        let destination = |call: &Call| destination(code, walk, &is_direct, call);
        let destinations: Vec<Destination> = code.calls.iter().map(destination).collect();
        let links =
            code.chains().flat_map(|chain| chain.links.iter().map(move |link| (chain, link)));
        let wired = |(chain, link)| wired(code, walk, &readings, chain, link);
        Wiring {
            registers,
            register_count,
            by_rows: is_by_rows(walk, &is_direct, &readings),
            links: links.map(wired).collect(),
            streams: destinations.iter().any(|destination| destination.streams),
            destinations,
            is_direct,
            table_strides: Vec::new(),
        }
    }

    /// Counts the memory that the wiring holds.
    pub(crate) fn count_bytes(&self, held: &mut HeldBytes) {
        held.own::<bool>(self.is_direct.capacity());
        held.own::<Option<usize>>(self.registers.capacity());
        held.own::<WiredLink>(self.links.capacity());
        held.own::<Destination>(self.destinations.capacity());
        held.own::<isize>(self.table_strides.capacity());
    }

    /// Whether anything that is read or stored passes through a register.
    pub(crate) fn uses_registers(&self, accesses: usize) -> bool {
        let are_gathered = self.registers[..accesses].iter().any(Option::is_some);
        are_gathered || self.is_direct.contains(&false)
    }
}

/// How an access is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Where it is.
    InPlace(Form),
    /// From a register into which it was copied.
    Gathered,
    /// Element by element, where indices say.
    Table,
}

/// Kernels want dense tiles; chains take a single element as well, and rows of either.
fn reading(operand: &OperandWalk, is_read_by_kernel: bool) -> Reading {
    match (&operand.layout, operand.row) {
        (TileLayout::Dense, _) => Reading::InPlace(Form::Block),
        _ if is_read_by_kernel => Reading::Gathered,
        (TileLayout::Single, _) => Reading::InPlace(Form::Single),
        (TileLayout::Strided(_), Some(RowForm::Dense)) => Reading::InPlace(Form::Block),
        (TileLayout::Strided(_), Some(RowForm::Single)) => Reading::InPlace(Form::Single),
        (TileLayout::Strided(_), None) => Reading::Gathered,
    }
}

/// Whether some operand that is used where it is must be walked row by row.
fn is_by_rows(walk: &Walk, is_direct: &[bool], readings: &[Reading]) -> bool {
    let are_read_in_place = readings.iter().map(|reading| matches!(reading, Reading::InPlace(_)));
    let are_in_place = is_direct.iter().copied().chain(are_read_in_place);
    let is_strided = |operand: &OperandWalk| matches!(operand.layout, TileLayout::Strided(_));
    walk.operands.iter().zip(are_in_place).any(|(o, in_place)| in_place && is_strided(o))
}

/// The registers of the code's slots with those of accesses that are gathered, and how many they are.
fn with_gathered(code: &BlockCode, readings: &[Reading]) -> (Vec<Option<usize>>, usize) {
    let mut count = code.register_count;
    let mut registers = Vec::with_capacity(readings.len() + code.registers.len());
    for reading in readings {
        let is_gathered = *reading == Reading::Gathered;
        registers.push(is_gathered.then_some(count * REGISTER_BYTES));
        count += usize::from(is_gathered);
    }
    registers.extend(&code.registers);
    (registers, count)
}

/// For each store, whether its instruction writes straight into the array: not over an input, which a later
/// instruction may read.
fn direct_stores(code: &BlockCode, stores: &[OperandWalk], is_over_input: &[bool]) -> Vec<bool> {
    let is_over_input = |store: &Store| match store.target.buffer {
        BufferId::Output(index) => is_over_input.get(index).copied().unwrap_or(false),
        _ => false,
    };
    let is_direct =
        |(store, target): (usize, &Store)| is_direct(code, stores, store) && !is_over_input(target);
    code.nest.stores.iter().enumerate().map(is_direct).collect()
}

/// Whether a store is written by its instruction itself: a dense one, the first of its value; or rows
/// of it, by a chain whose result nobody reads.
fn is_direct(code: &BlockCode, stores: &[OperandWalk], store: usize) -> bool {
    let source = code.nest.stores[store].source;
    let of_value = code.stored[code.slot(source)];
    match &stores[store].layout {
        _ if !matches!(source, Local::Instruction(_)) || code.nest.reduced.is_some() => false,
        TileLayout::Dense => of_value.first == Some(store),
        TileLayout::Strided(_) => {
            stores[store].row == Some(RowForm::Dense)
                && code.is_left_by_chain(source)
                && of_value.count == 1
        }
        TileLayout::Single => false,
    }
}

/// A link for operands that are read so.
fn wired(
    code: &BlockCode,
    walk: &Walk,
    readings: &[Reading],
    chain: &Chain,
    link: &Link,
) -> WiredLink {
    let (slot, dtype, element_size) = match Operand::of(link) {
        Some(Operand::Local(local)) => {
            let dtype = code.nest.dtype(local);
            (code.slot(local), dtype, dtype.size())
        }
        Some(Operand::Saved(index)) => (code.saved_slot(index), chain.dtype, 0),
        // Nothing is read; the slot of the result has an address in any case.
        None => (code.slot(Local::Instruction(chain.root)), chain.dtype, 0),
    };
    let reading = readings.get(slot).copied().unwrap_or(Reading::Gathered);
    let (form, row_stride) = match reading {
        Reading::InPlace(form) => (form, walk.operands[code.nest.stores.len() + slot].step_stride),
        Reading::Gathered | Reading::Table => {
            (Form::Block, (element_size * walk.step_elements) as isize)
        }
    };
    let stride = if form == Form::Single { 0 } else { element_size };
    WiredLink { opcode: Opcode::of(link, dtype, form), slot, stride, row_stride }
}

/// Only what is left in an array, and read by nobody in the tile, is written past the caches.
fn destination(code: &BlockCode, walk: &Walk, is_direct: &[bool], call: &Call) -> Destination {
    let source = |store: usize| code.nest.stores[store].source;
    // Of several stores of a value only the first is direct.
    match code.stored[call.destination].first.filter(|&store| is_direct[store]) {
        Some(store) => Destination {
            row_stride: walk.operands[store].step_stride,
            // Masks are not; they are small.
            streams: code.bytes_moved >= STREAMED_BYTES
                && code.is_left_by_chain(source(store))
                && code.nest.stores[store].target.array_type.dtype != DType::Bool,
        },
        None => {
            let row_stride = (call.result_size * walk.step_elements) as isize;
            Destination { row_stride, streams: false }
        }
    }
}
