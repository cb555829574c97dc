//! Wirings: where a program's slots get their addresses from under a plan.
//!
//! Known with the plan, before any tile runs: which stores are written in place, which accesses are
//! gathered into registers, and what the links of chains do with operands of these forms.

use indim_graph::HeldBytes;
use indim_graph::lower::loop_nest::{BufferId, Local, Store};
use indim_ops::DType;

use crate::blocks::chain::pieces::{Form, LinkKind};
use crate::blocks::program::{Program, REGISTER_BYTES, SlotLink, Step};
use crate::walk::{OperandPlan, Plan, TileLayout};

/// Where the slots of a program get their addresses from.
#[derive(Debug, Clone)]
pub(crate) struct Wiring {
    /// For each store, whether its instruction writes straight into the array.
    pub(crate) is_direct: Vec<bool>,
    /// For each slot where its register begins, in bytes from the first one; none for slots that
    /// point into arrays.
    pub(crate) registers: Vec<Option<usize>>,
    /// The number of registers.
    pub(crate) register_count: usize,
    /// Whether any step writes past the caches.
    pub(crate) streams: bool,
    /// Whether chains go row by row, because some operand is dense within rows, but not in a tile.
    pub(crate) by_rows: bool,
    /// What the links of the program's chains do.
    pub(crate) links: Vec<LinkKind>,
    /// For each of the program's steps where its results go.
    pub(crate) destinations: Vec<Destination>,
}

/// Where the results of a step go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination {
    /// From one row to the next, in bytes.
    pub(crate) step: isize,
    /// Whether it is written past the caches.
    pub(crate) streams: bool,
}

/// A nest that moves so many bytes, each counted once, leaves nothing of use in the caches: there are
/// few larger ones. On the machine of the committed records they have 32 MiB.
const STREAMED_BYTES: usize = 64 * 1024 * 1024;

impl Wiring {
    /// `is_over_input` says which outputs lie where an input lies; empty if none does.
    pub(crate) fn new(program: &Program, plan: &Plan, is_over_input: &[bool]) -> Wiring {
        let (stores, accesses) = plan.operands.split_at(program.stores().len());
        let ways: Vec<Way> = accesses
            .iter()
            .zip(&program.is_read_by_kernel)
            .map(|(operand, &is_read_by_kernel)| way(operand, is_read_by_kernel))
            .collect();
        // An input that is written over may be read by a later instruction.
        let is_over_input = |store: &Store| match store.target.buffer {
            BufferId::Output(index) => is_over_input.get(index).copied().unwrap_or(false),
            _ => false,
        };
        let stored = stored(program);
        let is_direct = |(store, target): (usize, &Store)| {
            is_direct(program, &stored, stores, store) && !is_over_input(target)
        };
        let is_direct: Vec<bool> = program.stores().iter().enumerate().map(is_direct).collect();
        let direct_rows = stores.iter().zip(&is_direct).any(|(o, &d)| d && is_by_rows(o));
        let read_rows =
            accesses.iter().zip(&ways).any(|(o, w)| *w != Way::Gathered && is_by_rows(o));
        let mut register_count = program.register_count;
        let mut registers = Vec::with_capacity(ways.len() + program.registers.len());
        for way in &ways {
            let is_gathered = *way == Way::Gathered;
            registers.push(is_gathered.then_some(register_count * REGISTER_BYTES));
            register_count += usize::from(is_gathered);
        }
        registers.extend(&program.registers);
        let destination = |step: &Step| destination(program, plan, &is_direct, &stored, step);
        let destinations: Vec<Destination> = program.steps.iter().map(destination).collect();
        let link = |link: &SlotLink| link_kind(plan, accesses, &ways, link);
        Wiring {
            registers,
            register_count,
            by_rows: direct_rows || read_rows,
            links: program.links.iter().map(link).collect(),
            streams: destinations.iter().any(|destination| destination.streams),
            destinations,
            is_direct,
        }
    }

    /// Counts the memory that the wiring holds.
    pub(crate) fn count_bytes(&self, held: &mut HeldBytes) {
        held.own::<bool>(self.is_direct.capacity());
        held.own::<Option<usize>>(self.registers.capacity());
        held.own::<LinkKind>(self.links.capacity());
        held.own::<Destination>(self.destinations.capacity());
    }

    /// Whether anything that is read or stored passes through a register.
    pub(crate) fn uses_registers(&self, accesses: usize) -> bool {
        let are_gathered = self.registers[..accesses].iter().any(Option::is_some);
        are_gathered || self.is_direct.contains(&false)
    }
}

/// How an access is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Where it is.
    InPlace(Form),
    /// From a register into which it was copied.
    Gathered,
}

impl Way {
    fn form(self) -> Form {
        match self {
            Way::InPlace(form) => form,
            Way::Gathered => Form::Block,
        }
    }
}

/// Kernels want dense tiles; chains take a single element as well, and rows of either.
fn way(operand: &OperandPlan, is_read_by_kernel: bool) -> Way {
    match (&operand.layout, operand.row) {
        (TileLayout::Dense, _) => Way::InPlace(Form::Block),
        _ if is_read_by_kernel => Way::Gathered,
        (TileLayout::Single, _) => Way::InPlace(Form::Single),
        (TileLayout::Strided(_), Some(form)) => Way::InPlace(form),
        (TileLayout::Strided(_), None) => Way::Gathered,
    }
}

/// Whether an operand that is used where it is must be walked row by row.
fn is_by_rows(operand: &OperandPlan) -> bool {
    matches!(operand.layout, TileLayout::Strided(_))
}

/// The stores of one value.
#[derive(Debug, Clone, Copy, Default)]
struct Stored {
    /// The first of them.
    first: Option<usize>,
    count: usize,
}

/// The stores of each slot's value.
fn stored(program: &Program) -> Vec<Stored> {
    let slots = program.accesses().len() + program.registers.len();
    let mut stored = vec![Stored::default(); slots];
    for (index, store) in program.stores().iter().enumerate() {
        let of_value = &mut stored[program.slot(store.source)];
        of_value.first.get_or_insert(index);
        of_value.count += 1;
    }
    stored
}

/// Whether a store is written by its instruction itself: a dense one, the first of its value; or rows
/// of it, by a chain whose result nobody reads.
fn is_direct(program: &Program, stored: &[Stored], stores: &[OperandPlan], store: usize) -> bool {
    let source = program.stores()[store].source;
    let of_value = stored[program.slot(source)];
    match &stores[store].layout {
        _ if !matches!(source, Local::Instruction(_)) => false,
        TileLayout::Dense => of_value.first == Some(store),
        TileLayout::Strided(_) => {
            stores[store].row == Some(Form::Block)
                && program.is_left_by_chain(source)
                && of_value.count == 1
        }
        TileLayout::Single => false,
    }
}

fn link_kind(plan: &Plan, accesses: &[OperandPlan], ways: &[Way], link: &SlotLink) -> LinkKind {
    let way = ways.get(link.slot).copied().unwrap_or(Way::Gathered);
    let form = way.form();
    let stride = link.stride(form);
    let step = match way {
        Way::InPlace(_) => accesses[link.slot].step_stride,
        Way::Gathered => (stride * plan.step_elements) as isize,
    };
    LinkKind { code: link.code(form), stride, step }
}

/// Only what is left in an array, and read by nobody in the tile, is written past the caches.
fn destination(
    program: &Program,
    plan: &Plan,
    is_direct: &[bool],
    stored: &[Stored],
    step: &Step,
) -> Destination {
    let source = |store: usize| program.stores()[store].source;
    // Of several stores of a value only the first is direct.
    match stored[step.destination].first.filter(|&store| is_direct[store]) {
        Some(store) => Destination {
            step: plan.operands[store].step_stride,
            // Masks are not; they are small.
            streams: program.bytes_moved >= STREAMED_BYTES
                && program.is_left_by_chain(source(store))
                && program.stores()[store].target.array_type.dtype != DType::Bool,
        },
        None => {
            Destination { step: (step.result_size * plan.step_elements) as isize, streams: false }
        }
    }
}
