//! Which instructions of a loop nest run together as one chain.
//!
//! From its result a chain grows backwards: it takes in a cheap instruction when all users of it are in
//! the chain. Instructions of the chain's element type compute in the accumulator; conditions, which are
//! bools or u8, in the mask. `chain_line.rs` then puts them in a line.

use core::fmt;

use indim_graph::lower::loop_nest::{Compute, Instruction, Local, LoopNest};
use indim_ops::{DType, Op};

use crate::blocks::chain::line::line_up;
use crate::blocks::chain::links::{chain_operations, chain_sources};
use crate::blocks::chain::mask::mask_operations;
use crate::blocks::chain::pieces::{MAXIMUM_LINKS, Register};

/// What is done at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    /// One instruction, by its kernel.
    Kernel(usize),
    /// Several cheap instructions.
    Chain(Chain),
}

/// Cheap instructions put in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chain {
    /// The instruction whose result the chain leaves.
    pub(crate) root: usize,
    /// The element type of the accumulator.
    pub(crate) dtype: DType,
    /// What happens to the accumulator and the mask.
    pub(crate) links: Vec<Link>,
    /// How many saved accumulators it needs at a time.
    pub(crate) saved: usize,
}

/// What happens to the accumulator or the mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// The register becomes this value; an accumulator converts one of another type.
    Load(Register, Operand),
    /// The register is saved.
    Save(Register, usize),
    /// `op` on the register alone.
    Unary(Register, Op),
    /// The register, converted to bools, is the mask.
    Test(Register),
    /// The mask, converted to the element type, is the accumulator.
    Spread,
    /// `op` on the register and a value: it becomes the register, or the mask if `op` compares; a
    /// selection goes by the mask.
    Binary {
        /// The operation.
        op: Op,
        /// Where one operand is.
        register: Register,
        /// The other operand.
        operand: Operand,
        /// Whether the register is the second operand.
        register_is_second: bool,
    },
    /// The mask is the result.
    WriteMask,
}

/// An operand of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operand {
    /// A value of the nest.
    Local(Local),
    /// A saved accumulator.
    Saved(usize),
}

impl fmt::Display for Operand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Local(local) => local.fmt(formatter),
            Operand::Saved(index) => write!(formatter, "s{index}"),
        }
    }
}

impl Task {
    /// The instruction whose result is left in memory.
    pub(crate) fn result(&self) -> usize {
        match self {
            Task::Kernel(index) => *index,
            Task::Chain(chain) => chain.root,
        }
    }

    /// The values that are read.
    pub(crate) fn operands<'a>(&'a self, nest: &'a LoopNest) -> Vec<Local> {
        match self {
            Task::Kernel(index) => nest.instructions[*index].operands.clone(),
            Task::Chain(chain) => chain.links.iter().filter_map(Link::local).collect(),
        }
    }
}

impl Link {
    /// The value of the nest that it reads.
    pub(crate) fn local(&self) -> Option<Local> {
        match self {
            Link::Load(_, Operand::Local(local))
            | Link::Binary { operand: Operand::Local(local), .. } => Some(*local),
            _ => None,
        }
    }
}

/// The tasks of a nest, in order.
pub(crate) fn find_chains(nest: &LoopNest) -> Vec<Task> {
    let count = nest.instructions.len();
    let steps = nest.instructions.iter().map(ChainStep::of).collect();
    let mut finder = Finder { nest, steps, uses: uses(nest), taken: vec![0; count] };
    let mut is_absorbed = vec![false; count];
    let mut tasks = Vec::new();
    // All users of an instruction come after it, so from the end it is known whether one took it in.
    for root in (0..count).rev() {
        if !is_absorbed[root] {
            let (task, members) = finder.task(root);
            members.iter().for_each(|&member| is_absorbed[member] = true);
            tasks.push(task);
        }
    }
    tasks.reverse();
    tasks
}

/// How often each instruction's result is used.
fn uses(nest: &LoopNest) -> Vec<usize> {
    let mut uses = vec![0; nest.instructions.len()];
    let operands = nest.instructions.iter().flat_map(|instruction| &instruction.operands);
    for &local in operands.chain(nest.stores.iter().map(|store| &store.source)) {
        if let Local::Instruction(index) = local {
            uses[index] += 1;
        }
    }
    uses
}

/// What a cheap instruction does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChainStep {
    pub(crate) kind: Kind,
    /// The element type of its operands, or, of `Convert` and `Spread`, of its result: that of the
    /// accumulator, or of the mask.
    dtype: DType,
}

/// How a chain computes an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A load of another element type.
    Convert,
    /// A conversion of bools.
    Spread,
    Unary(Op),
    /// An operation of two operands.
    Binary(Op),
    /// One whose result is of bools.
    Compare(Op),
    /// A conversion to bool.
    Test,
    /// The first operand is the mask.
    Select,
}

impl ChainStep {
    /// None for an instruction that is not cheap.
    fn of(instruction: &Instruction) -> Option<ChainStep> {
        let (from, to) = (instruction.operand_dtype, instruction.dtype);
        match instruction.compute {
            Compute::Elementwise(op) => {
                let kind = match instruction.operands.len() {
                    1 => Kind::Unary(op),
                    3 => Kind::Select,
                    _ if from != to => Kind::Compare(op),
                    _ => Kind::Binary(op),
                };
                let operations = [chain_operations(from), mask_operations(from)];
                let is_cheap = operations.iter().any(|known| known.contains(&op));
                is_cheap.then_some(ChainStep { kind, dtype: from })
            }
            Compute::Convert if to == DType::Bool => {
                let has_chains = !chain_operations(from).is_empty();
                has_chains.then_some(ChainStep { kind: Kind::Test, dtype: from })
            }
            Compute::Convert if from == DType::Bool => {
                let has_chains = !chain_operations(to).is_empty();
                has_chains.then_some(ChainStep { kind: Kind::Spread, dtype: to })
            }
            Compute::Convert => {
                let is_source = chain_sources(to).contains(&from);
                is_source.then_some(ChainStep { kind: Kind::Convert, dtype: to })
            }
            Compute::Bitcast => None,
        }
    }

    /// Where a chain of `dtype` has the result; none if it cannot compute it.
    pub(crate) fn result(self, dtype: DType) -> Option<Register> {
        match (self.register(dtype)?, self.kind) {
            (_, Kind::Compare(_) | Kind::Test) => Some(Register::Bools),
            (register, _) => Some(register),
        }
    }

    /// The register in which a chain of `dtype` computes it; none if it cannot.
    pub(crate) fn register(self, dtype: DType) -> Option<Register> {
        let is_of_mask = match self.kind {
            Kind::Unary(op) | Kind::Binary(op) | Kind::Compare(op) => {
                mask_operations(self.dtype).contains(&op)
            }
            Kind::Test => true,
            Kind::Convert | Kind::Spread | Kind::Select => false,
        };
        match self.dtype {
            own if own == dtype => Some(Register::Accumulator),
            DType::Bool if is_of_mask => Some(Register::Bools),
            DType::U8 if is_of_mask => Some(Register::Bytes),
            _ => None,
        }
    }

    /// Where a chain of `dtype` wants an operand.
    fn wanted(self, dtype: DType, position: usize) -> Option<Register> {
        match self.kind {
            Kind::Spread => Some(Register::Bools),
            Kind::Select if position == 0 => Some(Register::Bools),
            // It is loaded from where it is.
            Kind::Convert => None,
            _ => self.register(dtype),
        }
    }
}

/// Looks for the instructions of chains.
pub(crate) struct Finder<'a> {
    pub(crate) nest: &'a LoopNest,
    /// For each instruction what it does, if it is cheap.
    pub(crate) steps: Vec<Option<ChainStep>>,
    /// How often each instruction's result is used.
    pub(crate) uses: Vec<usize>,
    /// How many uses of each instruction are in the chain that grows.
    taken: Vec<usize>,
}

impl Finder<'_> {
    /// The task that leaves the result of `root`, and the instructions that it takes in.
    fn task(&mut self, root: usize) -> (Task, Vec<usize>) {
        let is_conversion = |step: &ChainStep| matches!(step.kind, Kind::Convert | Kind::Spread);
        let Some(step) = self.steps[root].filter(|step| !is_conversion(step)) else {
            return (Task::Kernel(root), Vec::new());
        };
        let dtype = if step.dtype == DType::Bool { self.compared(root) } else { step.dtype };
        let mut members = self.grow(root, dtype);
        loop {
            let (mut links, saved) = line_up(self, &members, root, dtype);
            if step.result(dtype) == Some(Register::Bools) {
                links.push(Link::WriteMask);
            }
            if links.len() <= MAXIMUM_LINKS {
                return (Task::Chain(Chain { root, dtype, links, saved }), members);
            }
            // The last that came in has no users but those before it, and no member as operand.
            members.pop();
        }
    }

    /// The element type of what is compared for a condition and nothing else: the widest, if there are several.
    fn compared(&self, root: usize) -> DType {
        let mut widest = DType::U8;
        let mut conditions = vec![root];
        let mut next = 0;
        while next < conditions.len().min(MAXIMUM_LINKS) {
            for &operand in &self.nest.instructions[conditions[next]].operands {
                let Local::Instruction(index) = operand else { continue };
                let dtype = self.steps[index].map(|step| step.dtype);
                match dtype {
                    Some(DType::Bool) => conditions.push(index),
                    Some(dtype) if self.uses[index] == 1 && dtype.size() > widest.size() => {
                        widest = dtype;
                    }
                    _ => {}
                }
            }
            next += 1;
        }
        widest
    }

    /// The root and, one after another, the instructions all of whose users are in and which a chain of
    /// `dtype` computes where these want them.
    fn grow(&mut self, root: usize, dtype: DType) -> Vec<usize> {
        let mut members = vec![root];
        let mut next = 0;
        while let Some(&user) = members.get(next) {
            next += 1;
            for (position, &operand) in self.nest.instructions[user].operands.iter().enumerate() {
                let Local::Instruction(index) = operand else { continue };
                let wanted = self.steps[user].and_then(|step| step.wanted(dtype, position));
                let result = self.steps[index].and_then(|step| step.result(dtype));
                let fits = wanted.is_some() && wanted == result;
                self.taken[index] += usize::from(fits);
                if fits && self.taken[index] == self.uses[index] && members.len() < MAXIMUM_LINKS {
                    members.push(index);
                }
            }
        }
        for &member in &members {
            for &operand in &self.nest.instructions[member].operands {
                if let Local::Instruction(index) = operand {
                    self.taken[index] = 0;
                }
            }
        }
        members
    }
}

#[cfg(test)]
mod tests {
    use indim_graph::GraphBuilder;
    use indim_graph::lower::lower;
    use indim_shape::RuleSet;
    use indim_text::{Expression, Limits};

    use super::*;

    /// The tasks of an expression over f32 vectors: `k2` is a kernel, `[...]` a chain.
    fn tasks(text: &str) -> String {
        let expression = Expression::parse(text, &Limits::default()).unwrap();
        let b = GraphBuilder::new();
        let parameter = |name: &String| (name.clone(), b.parameter(name, DType::F32, [8]).unwrap());
        let names: Vec<_> = expression.names().iter().map(|n| parameter(&n.to_string())).collect();
        let arguments: Vec<_> =
            names.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let value = expression.build(&b, &arguments, Some(&RuleSet::Numpy)).unwrap();
        let loops = lower(&b.finish(&[value]).unwrap());
        let nest = loops.nests.last().unwrap();
        let describe = |task: &Task| match task {
            Task::Kernel(index) => format!("k{index}"),
            Task::Chain(chain) => {
                let links: Vec<String> = chain.links.iter().map(describe_link).collect();
                format!("[{}]", links.join(" "))
            }
        };
        find_chains(nest).iter().map(describe).collect::<Vec<_>>().join(" ")
    }

    fn describe_link(link: &Link) -> String {
        match *link {
            Link::Load(Register::Accumulator, operand) => operand.to_string(),
            Link::Load(_, operand) => format!("?{operand}"),
            Link::Save(_, place) => format!(">s{place}"),
            Link::Unary(_, op) => op.to_string(),
            Link::Test(_) => "bool".to_owned(),
            Link::Spread => "spread".to_owned(),
            Link::Binary { op, operand, register_is_second: true, .. } => {
                format!("{operand}{op}")
            }
            Link::Binary { op, operand, .. } => format!("{op}{operand}"),
            Link::WriteMask => "!".to_owned(),
        }
    }

    #[test]
    fn a_line_of_operations_is_one_chain() {
        assert_eq!(tasks("(x - m) * s + b"), "[a0 suba1 mula2 adda3]");
        assert_eq!(tasks("m - sqrt(x)"), "[a0 sqrt a1sub]");
    }

    #[test]
    fn where_both_operands_are_trees_one_is_saved() {
        assert_eq!(tasks("(x + y) / (x - y)"), "[a0 adda1 >s0 a0 suba1 s0div]");
        // The tree that saves more comes first, so that fewer are saved at a time.
        assert_eq!(
            tasks("(x + y) / ((x - y) * (x / y))"),
            "[a0 suba1 >s0 a0 diva1 s0mul >s0 a0 adda1 divs0]"
        );
    }

    #[test]
    fn costly_operations_stand_alone() {
        assert_eq!(tasks("exp(x + y) * y"), "[a0 adda1] k1 [t1 mula1]");
        // The sum is needed by the kernel too.
        assert_eq!(tasks("exp(x + y) * (x + y)"), "[a0 adda1] k1 [t1 mult0]");
    }

    #[test]
    fn results_used_twice_are_saved() {
        assert_eq!(tasks("(x + y) * (x + y)"), "[a0 adda1 >s0 muls0]");
        assert_eq!(tasks("(x + y) * ((x + y) - x)"), "[a0 adda1 >s0 suba0 s0mul]");
        assert_eq!(
            tasks("(x * x - y * y) / (x * x + y * y)"),
            "[a0 mula0 >s0 a1 mula1 >s1 s0sub >s2 s0 adds1 s2div]"
        );
        // A saved accumulator's place is used again after its last use.
        assert_eq!(
            tasks("sqrt((x + y) * (x + y)) * sqrt((x - y) * (x - y))"),
            "[a0 adda1 >s0 muls0 sqrt >s0 a0 suba1 >s1 muls1 sqrt s0mul]"
        );
    }

    #[test]
    fn a_comparison_sets_the_mask_and_a_selection_goes_by_it() {
        assert_eq!(tasks("x * y > 2.5 * y"), "[a0 mula1 >s0 a2 mula1 s0gt !]");
        assert_eq!(tasks("where(x < y, x + y, x)"), "[a0 lta1 a0 adda1 selecta0]");
        assert_eq!(
            tasks("where(x < y, x * y, x) + where(x < y, y, x)"),
            "[a0 lta1 >s0 a0 mula1 selecta0 >s1 ?s0 a1 selecta0 s1add]"
        );
        // The chosen operand needs the mask for itself, so it comes first.
        assert_eq!(
            tasks("where(x < y, where(x < 1, x, 1), y)"),
            "[a0 lta2 a0 selecta2 >s0 a0 lta1 s0 selecta1]"
        );
    }

    #[test]
    fn conditions_are_composed_in_the_mask() {
        assert_eq!(
            tasks("where((x > 0) & (y < 1), x, y)"),
            "[a0 gta1 >s0 a2 lta3 s0and a0 selecta2]"
        );
        assert_eq!(tasks("(x > 0) & ~(y < 1)"), "[a0 gta1 >s0 a2 lta3 not s0and !]");
        assert_eq!(tasks("where(u8(x) & 4 != 0, x, y)"), "k0 [?t0 anda1 nea2 a0 selecta3]");
        assert_eq!(tasks("f32(x > y) * x"), "[a0 gta1 spread mula0]");
        // Conditions on different types meet in the widest.
        assert_eq!(tasks("(x > 0) & (f64(y) < 1)"), "[a0 gta1 !] [a2 lta3 t0and !]");
        assert_eq!(tasks("bool(u8(x)) & (u8(y) != 0)"), "k0 k2 [t0 bool >s0 t2 nea2 s0and !]");
    }

    #[test]
    fn a_conversion_to_bool_sets_the_mask() {
        assert_eq!(tasks("where(x - y, x, y)"), "[a0 suba1 bool a0 selecta1]");
        assert_eq!(tasks("bool(x)"), "[a0 bool !]");
    }

    #[test]
    fn a_value_of_another_type_is_converted_as_it_is_loaded() {
        assert_eq!(tasks("f32(f64(x) * 2)"), "[a0 mula1] k2");
        // As often as it is wanted in the accumulator.
        assert_eq!(
            tasks("(f64(x) - f64(y)) / (f64(x) + f64(y))"),
            "[a0 >s0 a1 s0sub >s1 a1 s0add s1div]"
        );
    }

    #[test]
    fn long_trees_are_cut() {
        let text = (0..80).fold("x".to_owned(), |text, _| format!("({text} + y)"));
        let tasks = tasks(&text);
        assert_eq!(tasks.matches('[').count(), 2, "{tasks}");
        assert_eq!(tasks.matches("adda1").count(), 80);
    }
}
