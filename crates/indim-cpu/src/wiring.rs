//! Wirings: where a program's slots get their addresses from under a plan.
//!
//! Known with the plan, before any tile runs: which stores are written in place, which accesses are
//! gathered into registers, and what the links of chains do with operands of these forms.

use indim_graph::lower::loop_nest::{BufferId, Local};

use crate::kernel::chain::{Code, Form};
use crate::plan::{OperandPlan, Plan, TileLayout};
use crate::program::Program;

/// Where the slots of a program get their addresses from.
#[derive(Debug, Clone)]
pub(crate) struct Wiring {
    /// For each store, whether its instruction writes straight into the array.
    pub(crate) is_direct: Vec<bool>,
    /// For each slot its register; none for slots that point into arrays.
    pub(crate) registers: Vec<Option<usize>>,
    /// The number of registers.
    pub(crate) register_count: usize,
    /// For each link of the program's chains, its code and the stride of its operand.
    pub(crate) links: Vec<(Code, usize)>,
}

impl Wiring {
    /// `is_over_input` says which outputs lie where an input lies; empty if none does.
    pub(crate) fn new(program: &Program, plan: &Plan, is_over_input: &[bool]) -> Wiring {
        let accesses = &plan.operands[program.stores().len()..];
        let forms: Vec<Form> =
            (0..accesses.len()).map(|access| form(program, accesses, access)).collect();
        let mut register_count = program.register_count;
        let mut registers = Vec::with_capacity(forms.len() + program.registers.len());
        for (operand, form) in accesses.iter().zip(&forms) {
            let is_gathered = operand.layout != TileLayout::Dense && *form == Form::Block;
            registers.push(is_gathered.then_some(register_count));
            register_count += usize::from(is_gathered);
        }
        registers.extend(&program.registers);
        let links = program.links.iter().map(|link| {
            let form = forms.get(link.slot).copied().unwrap_or(Form::Block);
            (link.code(form), link.stride(form))
        });
        Wiring {
            is_direct: direct_stores(program, plan, is_over_input),
            registers,
            register_count,
            links: links.collect(),
        }
    }
}

/// The form in which an access is read: a single element needs no block if all readers are chains.
fn form(program: &Program, accesses: &[OperandPlan], access: usize) -> Form {
    let is_single = accesses[access].layout == TileLayout::Single;
    if is_single && !program.is_read_by_kernel[access] { Form::Single } else { Form::Block }
}

/// Which stores are written by their instruction itself: dense ones, the first of each value, but not
/// over an input that a later instruction may read.
fn direct_stores(program: &Program, plan: &Plan, is_over_input: &[bool]) -> Vec<bool> {
    let stores = program.stores();
    let is_over_input = |store: usize| match stores[store].target.buffer {
        BufferId::Output(index) => is_over_input.get(index).copied().unwrap_or(false),
        _ => false,
    };
    let is_first = |store: usize| !stores[..store].iter().any(|s| s.source == stores[store].source);
    (0..stores.len())
        .map(|store| {
            plan.operands[store].layout == TileLayout::Dense
                && matches!(stores[store].source, Local::Instruction(_))
                && is_first(store)
                && !is_over_input(store)
        })
        .collect()
}
