//! Loop nests as pseudocode in the style of NumPy.

use indim_cpu::row_major_byte_strides;
use indim_graph::TakeMode;
use indim_graph::terminal::printable;
use indim_loops::loop_nest::{
    Access, BufferId, InstructionKind, Local, LoopNest, LoopNests, NestInstruction, NestReduction,
    StandaloneInstruction, Store,
};
use indim_loops::strides::AxisStrides;
use indim_loops::strides::coalesce::coalesce;

/// Prints the loop nests of a graph, with the names of its arrays.
pub(super) struct Listing<'a> {
    /// The names of the parameters.
    pub(super) names: &'a [String],
    pub(super) loops: &'a LoopNests,
}

impl Listing<'_> {
    /// All nests, in order.
    pub(super) fn text(&self) -> String {
        self.loops.nests.iter().map(|nest| self.nest(nest)).collect()
    }

    /// One nest.
    pub(super) fn nest(&self, nest: &LoopNest) -> String {
        let indices: Vec<String> = (0..nest.shape.rank()).map(|axis| format!("i{axis}")).collect();
        let sizes: Vec<String> = nest.shape.iter().map(ToString::to_string).collect();
        let mut text = match indices.is_empty() {
            true => "once:".to_owned(),
            false => format!("for {} in ndindex({}):", indices.join(", "), sizes.join(", ")),
        };
        text += &format!("{}\n", merged(nest));
        let is_only_stored = only_stored(nest);
        for (index, instruction) in nest.instructions.iter().enumerate() {
            if !is_only_stored[index] {
                text += &format!("    _{index} = {}\n", self.instruction(nest, instruction));
            }
        }
        for store in &nest.stores {
            let value = match store.source {
                Local::Instruction(index) if is_only_stored[index] => {
                    self.instruction(nest, &nest.instructions[index])
                }
                local => self.local(nest, local),
            };
            let value = match (store.reduction, nest.reduced) {
                (Some(NestReduction { op, dtype }), Some(axis)) => {
                    let reduced = format!("{op}({value} for {})", indices[axis]);
                    let result = store.target.array_type.dtype;
                    if dtype == result { reduced } else { format!("{result}({reduced})") }
                }
                _ => rounded(nest, store, value),
            };
            text += &format!("    {} = {value}\n", self.access(&store.target));
        }
        text
    }

    fn instruction(&self, nest: &LoopNest, instruction: &NestInstruction) -> String {
        let operands: Vec<String> =
            instruction.operands.iter().map(|&local| self.local(nest, local)).collect();
        if let (InstructionKind::Take { mode, .. }, &[Local::Access(table), indices]) =
            (instruction.kind, &instruction.operands[..])
        {
            let index = self.local(nest, indices);
            let index = match mode {
                TakeMode::Error => index,
                TakeMode::Clip | TakeMode::Wrap => format!("{mode}({index})"),
            };
            return self.access_at(&nest.accesses[table], |axis| match axis < nest.shape.rank() {
                true => format!("i{axis}"),
                false => index.clone(),
            });
        }
        let function = match instruction.kind {
            InstructionKind::Elementwise(op) => op.to_string(),
            InstructionKind::Convert => instruction.dtype.to_string(),
            // A bitcast to the same type is a copy.
            InstructionKind::Bitcast if instruction.operand_dtype == instruction.dtype => {
                "copy".to_owned()
            }
            InstructionKind::Bitcast => format!("bitcast_{}", instruction.dtype),
            InstructionKind::Take { .. } => "take".to_owned(),
            InstructionKind::Standalone(StandaloneInstruction::Scatter { op, .. }) => {
                format!("scatter_{op}")
            }
            InstructionKind::Standalone(StandaloneInstruction::Scan { op, .. }) => {
                op.scan_name().to_owned()
            }
            InstructionKind::Standalone(StandaloneInstruction::Sort {
                axis,
                descending,
                result,
                read,
            }) => {
                let order = if descending { "descending " } else { "" };
                let keys = operands.join(", ");
                return format!("sort({keys} for i{axis}: {order}{result}{read})");
            }
            InstructionKind::Standalone(StandaloneInstruction::SearchSorted { side }) => {
                format!("searchsorted.{side}")
            }
            InstructionKind::Standalone(StandaloneInstruction::Control { index }) => {
                self.loops.controls[index].name().to_owned()
            }
            InstructionKind::Standalone(StandaloneInstruction::Contract { summed }) => {
                let rank = nest.shape.rank();
                let along: Vec<String> = (rank - summed..rank).map(|a| format!("i{a}")).collect();
                let products = operands.join(" * ");
                return format!("contract({products} for {})", along.join(", "));
            }
        };
        format!("{function}({})", operands.join(", "))
    }

    fn local(&self, nest: &LoopNest, local: Local) -> String {
        match local {
            Local::Access(index) => self.access(&nest.accesses[index]),
            Local::Instruction(index) => format!("_{index}"),
        }
    }

    /// An access, such as `x[i0, 0]`; for a scalar its name or its number.
    pub(super) fn access(&self, access: &Access) -> String {
        self.access_at(access, |axis| format!("i{axis}"))
    }

    /// Like [`Listing::access`], with `index` for the index of an axis of the nest.
    fn access_at(&self, access: &Access, index: impl Fn(usize) -> String) -> String {
        let indices: Vec<String> = access.axes.iter().map(|axis| axis.to_text(&index)).collect();
        if let BufferId::Counter(_) = access.buffer {
            return format!("{}({})", access.array_type.dtype, indices.join(", "));
        }
        let name = self.buffer(access.buffer);
        match indices.is_empty() {
            true => name,
            false => format!("{name}[{}]", indices.join(", ")),
        }
    }

    fn buffer(&self, buffer: BufferId) -> String {
        match buffer {
            BufferId::Parameter(index) => match self.names.get(index) {
                Some(name) => printable(name),
                None => format!("size{}", index - self.names.len()),
            },
            BufferId::Output(_) if self.loops.outputs.len() == 1 => "result".to_owned(),
            BufferId::Output(index) => format!("result{index}"),
            BufferId::Constant(index) => {
                let array = self.loops.constants.get(index);
                let number = array.and_then(|array| array.scalar_text());
                number.unwrap_or_else(|| format!("constant{index}"))
            }
            BufferId::Counter(index) => format!("counter{index}"),
            BufferId::Temporary(index) => format!("kept{index}"),
        }
    }
}

/// The value of a store, converted if the stored type differs, as for a contraction that rounds its sums.
fn rounded(nest: &LoopNest, store: &Store, value: String) -> String {
    let result = store.target.array_type.dtype;
    match nest.dtype(store.source) == result {
        true => value,
        false => format!("{result}({value})"),
    }
}

/// For each instruction, whether its only use is one store.
fn only_stored(nest: &LoopNest) -> Vec<bool> {
    let mut uses = vec![0; nest.instructions.len()];
    let mut stores = uses.clone();
    let operands = nest.instructions.iter().flat_map(|instruction| &instruction.operands);
    operands.filter_map(instruction_index).for_each(|index| uses[index] += 1);
    let sources = nest.stores.iter().map(|store| &store.source);
    sources.filter_map(instruction_index).for_each(|index| stores[index] += 1);
    uses.iter().zip(&stores).map(|(&uses, &stores)| uses == 0 && stores == 1).collect()
}

fn instruction_index(local: &Local) -> Option<usize> {
    match *local {
        Local::Instruction(index) => Some(index),
        Local::Access(_) => None,
    }
}

/// A comment of the pseudocode with the coalesced shape of the nest for dense arrays; empty if that is
/// the shape of the nest.
fn merged(nest: &LoopNest) -> String {
    // The reduced axis is not coalesced, so a nest with one has no comment.
    if nest.reduced.is_some() {
        return String::new();
    }
    let accesses = nest.stores.iter().map(|store| &store.target).chain(&nest.accesses);
    let rank = nest.shape.rank();
    let dense = |access: &Access| {
        access.strides(rank, &row_major_byte_strides(&access.array_type.concrete()))
    };
    let strides: Vec<AxisStrides> = accesses.map(dense).collect();
    let shape = nest.shape.concrete();
    match coalesce(&shape, &strides) {
        Some(axes) if axes.sizes[..] != shape[..] => {
            let sizes: Vec<String> = axes.sizes.iter().map(ToString::to_string).collect();
            match sizes.is_empty() {
                true => "  # a single point".to_owned(),
                false => format!("  # merged into ({})", sizes.join(", ")),
            }
        }
        _ => String::new(),
    }
}
