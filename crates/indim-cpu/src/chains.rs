//! Which instructions of a loop nest run together as one chain.
//!
//! A cheap instruction that alone uses the result of another cheap one of the same element type takes
//! it in, and so a tree of instructions grows. The tree is then put in a line for an accumulator:
//! where both operands are trees, the first result is saved while the second is computed.

use core::fmt;

use indim_graph::lower::loop_nest::{Compute, Instruction, Local, LoopNest};
use indim_graph::{DType, Op};

use crate::kernel::chain::{MAXIMUM_LINKS, chain_operations, chain_sources};

/// What is done at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    /// One instruction, by its kernel.
    Kernel(usize),
    /// A tree of instructions.
    Chain(Chain),
}

/// A tree of instructions put in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chain {
    /// The instruction whose result the chain leaves.
    pub(crate) root: usize,
    /// The element type of all of it.
    pub(crate) dtype: DType,
    /// What happens to the accumulator.
    pub(crate) links: Vec<Link>,
    /// How many saved accumulators it needs at a time.
    pub(crate) saved: usize,
}

/// What happens to the accumulator or the mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// The accumulator becomes this value, converted if it is of another type.
    Load(Operand),
    /// The mask becomes this value.
    LoadMask(Local),
    /// The accumulator is saved.
    Save(usize),
    /// `op` on the accumulator alone.
    Unary(Op),
    /// `op` on the accumulator and a value: it becomes the accumulator, or the mask if `op` compares;
    /// a selection goes by the mask.
    Binary {
        /// The operation.
        op: Op,
        /// The other operand.
        operand: Operand,
        /// Whether the accumulator is the second operand.
        accumulator_is_second: bool,
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
            Link::Load(Operand::Local(local))
            | Link::LoadMask(local)
            | Link::Binary { operand: Operand::Local(local), .. } => Some(*local),
            _ => None,
        }
    }
}

/// The tasks of a nest, in order.
pub(crate) fn find_chains(nest: &LoopNest) -> Vec<Task> {
    let mut finder = Finder { nest, uses: uses(nest), trees: Vec::new(), is_absorbed: Vec::new() };
    for instruction in &nest.instructions {
        let tree = finder.tree(instruction);
        finder.trees.push(tree);
        finder.is_absorbed.push(false);
    }
    (0..nest.instructions.len())
        .filter(|&index| !finder.is_absorbed[index])
        .map(|index| finder.task(index))
        .collect()
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

/// A tree whose root is a cheap instruction.
#[derive(Debug, Clone, Copy)]
struct Tree {
    kind: Kind,
    /// The element type of the accumulator.
    dtype: DType,
    /// For each operand, the instruction that was taken in.
    branches: [Option<usize>; 3],
    links: usize,
    saved: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A load of another element type.
    Convert,
    Unary(Op),
    Binary(Op),
    /// An operation of two operands whose result is the mask.
    Compare(Op),
    /// The first operand is the mask.
    Select,
}

impl Kind {
    /// The kind of an instruction, and the element type of the accumulator; none if it is not cheap.
    fn of(instruction: &Instruction) -> Option<(Kind, DType)> {
        let Compute::Elementwise(op) = instruction.compute else {
            let is_source = chain_sources(instruction.dtype).contains(&instruction.operand_dtype);
            return is_source.then_some((Kind::Convert, instruction.dtype));
        };
        let dtype = instruction.operand_dtype;
        let kind = match instruction.operands.len() {
            1 => Kind::Unary(op),
            3 => Kind::Select,
            _ if instruction.dtype != dtype => Kind::Compare(op),
            _ => Kind::Binary(op),
        };
        chain_operations(dtype).contains(&op).then_some((kind, dtype))
    }
}

struct Finder<'a> {
    nest: &'a LoopNest,
    uses: Vec<usize>,
    trees: Vec<Option<Tree>>,
    is_absorbed: Vec<bool>,
}

impl Finder<'_> {
    /// The tree of an instruction with as many branches as fit; none if it is not cheap.
    fn tree(&mut self, instruction: &Instruction) -> Option<Tree> {
        let (kind, dtype) = Kind::of(instruction)?;
        let mut tree = Tree { kind, dtype, branches: [None; 3], links: 0, saved: 0 };
        if kind != Kind::Convert {
            for (operand, &local) in instruction.operands.iter().enumerate() {
                let is_mask = kind == Kind::Select && operand == 0;
                tree.branches[operand] = self.branch(local, dtype, is_mask);
            }
        }
        self.measure(&mut tree, &instruction.operands);
        // One link more, because the mask may have to be written.
        while tree.links >= MAXIMUM_LINKS {
            let size = |branch: &&mut Option<usize>| branch.map(|b| self.trees[b].map(|t| t.links));
            *tree.branches.iter_mut().max_by_key(size)? = None;
            self.measure(&mut tree, &instruction.operands);
        }
        tree.branches.iter().flatten().for_each(|&branch| self.is_absorbed[branch] = true);
        Some(tree)
    }

    /// The instruction behind an operand, if it is a tree of `dtype` that nobody else uses.
    fn branch(&self, operand: Local, dtype: DType, is_mask: bool) -> Option<usize> {
        let Local::Instruction(index) = operand else { return None };
        let is_alike = self.trees[index].is_some_and(|tree| {
            tree.dtype == dtype && matches!(tree.kind, Kind::Compare(_)) == is_mask
        });
        (is_alike && self.uses[index] == 1).then_some(index)
    }

    /// Counts the links and saved accumulators of a tree with its branches.
    fn measure(&self, tree: &mut Tree, operands: &[Local]) {
        let mut line = Line { finder: self, links: Vec::new(), saved: 0 };
        line.append(tree, operands, 0);
        (tree.links, tree.saved) = (line.links.len(), line.saved);
    }

    fn task(&self, root: usize) -> Task {
        let tree = match self.trees[root] {
            Some(tree) if tree.kind != Kind::Convert => tree,
            _ => return Task::Kernel(root),
        };
        let mut line = Line { finder: self, links: Vec::with_capacity(tree.links + 1), saved: 0 };
        line.append(&tree, &self.nest.instructions[root].operands, 0);
        if matches!(tree.kind, Kind::Compare(_)) {
            line.links.push(Link::WriteMask);
        }
        Task::Chain(Chain { root, dtype: tree.dtype, links: line.links, saved: line.saved })
    }
}
/// Links in the making.
struct Line<'a> {
    finder: &'a Finder<'a>,
    links: Vec<Link>,
    /// How many accumulators are saved at a time.
    saved: usize,
}

impl Line<'_> {
    /// Appends the links of a tree, which may save accumulators from number `saved` on. The depth of
    /// the recursion is that of a tree of [`MAXIMUM_LINKS`].
    fn append(&mut self, tree: &Tree, operands: &[Local], saved: usize) {
        match tree.kind {
            Kind::Convert => self.links.push(Link::Load(Operand::Local(operands[0]))),
            Kind::Unary(op) => {
                match tree.branches[0] {
                    Some(branch) => self.append_branch(branch, saved),
                    None => self.links.push(Link::Load(Operand::Local(operands[0]))),
                }
                self.links.push(Link::Unary(op));
            }
            Kind::Binary(op) | Kind::Compare(op) => {
                let (operand, second) = self.append_pair(tree, operands, 0, saved);
                self.links.push(Link::Binary { op, operand, accumulator_is_second: second });
            }
            Kind::Select => self.append_select(tree, operands, saved),
        }
    }

    /// Appends the instruction that was taken in.
    fn append_branch(&mut self, index: usize, saved: usize) {
        if let Some(tree) = self.finder.trees[index] {
            let operands = &self.finder.nest.instructions[index].operands;
            self.append(&tree, operands, saved);
        }
    }

    fn save(&mut self, index: usize) -> Operand {
        self.links.push(Link::Save(index));
        self.saved = self.saved.max(index + 1);
        Operand::Saved(index)
    }

    /// Brings the operands `first` and `first + 1` where an operation wants them: one into the
    /// accumulator. Says where the other is, and whether the one is the second.
    fn append_pair(
        &mut self,
        tree: &Tree,
        operands: &[Local],
        first: usize,
        saved: usize,
    ) -> (Operand, bool) {
        match (tree.branches[first], tree.branches[first + 1]) {
            (Some(left), Some(right)) => {
                let needs = |branch: usize| self.finder.trees[branch].map_or(0, |tree| tree.saved);
                let left_is_last = needs(left) < needs(right);
                let (earlier, later) = if left_is_last { (right, left) } else { (left, right) };
                self.append_branch(earlier, saved);
                let operand = self.save(saved);
                self.append_branch(later, saved + 1);
                (operand, !left_is_last)
            }
            (Some(left), None) => {
                self.append_branch(left, saved);
                (Operand::Local(operands[first + 1]), false)
            }
            (None, Some(right)) => {
                self.append_branch(right, saved);
                (Operand::Local(operands[first]), true)
            }
            (None, None) => {
                self.links.push(Link::Load(Operand::Local(operands[first])));
                (Operand::Local(operands[first + 1]), false)
            }
        }
    }

    /// The mask comes last, because the trees of the other operands may use it too.
    fn append_select(&mut self, tree: &Tree, operands: &[Local], mut saved: usize) {
        let op = Op::Select;
        let Some(mask) = tree.branches[0] else {
            let (operand, second) = self.append_pair(tree, operands, 1, saved);
            self.links.push(Link::LoadMask(operands[0]));
            self.links.push(Link::Binary { op, operand, accumulator_is_second: second });
            return;
        };
        let mut chosen = [1, 2].map(|operand| Operand::Local(operands[operand]));
        for (operand, chosen) in [1, 2].into_iter().zip(&mut chosen) {
            if let Some(branch) = tree.branches[operand] {
                self.append_branch(branch, saved);
                *chosen = self.save(saved);
                saved += 1;
            }
        }
        self.append_branch(mask, saved);
        self.links.push(Link::Load(chosen[0]));
        self.links.push(Link::Binary { op, operand: chosen[1], accumulator_is_second: false });
    }
}

#[cfg(test)]
mod tests {
    use indim_graph::lower::lower;
    use indim_graph::{Expression, GraphBuilder, Limits};
    use indim_shape::RuleSet;

    use super::*;

    /// The tasks of an expression over f32 vectors: `k2` is a kernel, `[...]` a chain.
    fn tasks(text: &str) -> String {
        let expression = Expression::parse(text, &Limits::default()).unwrap();
        let b = GraphBuilder::new();
        let parameter = |name: &String| (name.clone(), b.parameter(name, DType::F32, [8]).unwrap());
        let names: Vec<_> = expression.names().iter().map(|n| parameter(&n.to_string())).collect();
        let arguments: Vec<_> = names.iter().map(|(name, value)| (name.as_str(), *value)).collect();
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
            Link::Load(operand) => operand.to_string(),
            Link::LoadMask(local) => format!("?{local}"),
            Link::Save(index) => format!(">s{index}"),
            Link::Unary(op) => op.to_string(),
            Link::Binary { op, operand, accumulator_is_second: true } => format!("{operand}{op}"),
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
    fn costly_operations_and_results_used_twice_stand_alone() {
        assert_eq!(tasks("exp(x + y) * y"), "[a0 adda1] k1 [t1 mula1]");
        assert_eq!(tasks("(x + y) * (x + y)"), "[a0 adda1] [t0 mult0]");
    }

    #[test]
    fn a_comparison_sets_the_mask_and_a_selection_goes_by_it() {
        assert_eq!(tasks("x * y > 2.5 * y"), "[a0 mula1 >s0 a2 mula1 s0gt !]");
        assert_eq!(tasks("where(x < y, x + y, x)"), "[a0 adda1 >s0 a0 lta1 s0 selecta0]");
        assert_eq!(
            tasks("where(x < y, x * y, x) + where(x < y, y, x)"),
            "[a0 lta1 !] [a0 mula1 ?t0 selecta0 >s0 a1 ?t0 selecta0 s0add]"
        );
    }

    #[test]
    fn a_value_of_another_type_is_converted_as_it_is_loaded() {
        assert_eq!(tasks("f32(f64(x) * 2)"), "[a0 mula1] k2");
    }

    #[test]
    fn long_trees_are_cut() {
        let text = (0..80).fold("x".to_owned(), |text, _| format!("({text} + y)"));
        let tasks = tasks(&text);
        assert_eq!(tasks.matches('[').count(), 3, "{tasks}");
        assert_eq!(tasks.matches("adda1").count(), 80);
    }
}
