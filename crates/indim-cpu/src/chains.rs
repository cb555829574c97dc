//! Which instructions of a loop nest run together as one chain.
//!
//! A cheap instruction that alone uses the result of another cheap one of the same element type takes
//! it in, and so a tree of instructions grows. The tree is then put in a line for an accumulator:
//! where both operands are trees, the first result is saved while the second is computed.

use indim_graph::lower::loop_nest::{Compute, Instruction, Local, LoopNest};
use indim_graph::{DType, Op};

use crate::kernel::chain::{MAXIMUM_LINKS, chain_operations};

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

/// What happens to the accumulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// It becomes this value.
    Load(Local),
    /// It is saved.
    Save(usize),
    /// `op` on it alone.
    Unary(Op),
    /// `op` on it and a value.
    Binary {
        /// The operation.
        op: Op,
        /// The other operand.
        operand: Operand,
        /// Whether the accumulator is the second operand.
        accumulator_is_second: bool,
    },
}

/// An operand of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operand {
    /// A value of the nest.
    Local(Local),
    /// A saved accumulator.
    Saved(usize),
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
            Link::Load(local) | Link::Binary { operand: Operand::Local(local), .. } => Some(*local),
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
    op: Op,
    dtype: DType,
    /// For each operand, the instruction that was taken in.
    branches: [Option<usize>; 2],
    links: usize,
    saved: usize,
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
        let Compute::Elementwise(op) = instruction.compute else { return None };
        let dtype = instruction.operand_dtype;
        if !chain_operations(dtype).contains(&op) {
            return None;
        }
        let mut branches = [None; 2];
        for (branch, &operand) in branches.iter_mut().zip(&instruction.operands) {
            *branch = self.branch(operand, dtype);
        }
        let (mut links, mut saved) = self.measure(&branches);
        while links > MAXIMUM_LINKS {
            let size = |branch: &&mut Option<usize>| branch.map(|b| self.trees[b].map(|t| t.links));
            *branches.iter_mut().max_by_key(size)? = None;
            (links, saved) = self.measure(&branches);
        }
        branches.iter().flatten().for_each(|&branch| self.is_absorbed[branch] = true);
        Some(Tree { op, dtype, branches, links, saved })
    }

    /// The instruction behind an operand, if it is a tree of `dtype` that nobody else uses.
    fn branch(&self, operand: Local, dtype: DType) -> Option<usize> {
        let Local::Instruction(index) = operand else { return None };
        let is_alike = self.trees[index].is_some_and(|tree| tree.dtype == dtype);
        (is_alike && self.uses[index] == 1).then_some(index)
    }

    /// The links and saved accumulators of a tree with these branches.
    fn measure(&self, branches: &[Option<usize>; 2]) -> (usize, usize) {
        let trees = branches.iter().flatten().filter_map(|&branch| self.trees[branch]);
        let trees: Vec<Tree> = trees.collect();
        match trees[..] {
            [] => (2, 0),
            [tree] => (tree.links + 1, tree.saved),
            _ => {
                let most = trees.iter().map(|tree| tree.saved).max().unwrap_or(0);
                let least = trees.iter().map(|tree| tree.saved).min().unwrap_or(0);
                (trees.iter().map(|tree| tree.links).sum::<usize>() + 2, most.max(least + 1))
            }
        }
    }

    fn task(&self, root: usize) -> Task {
        let Some(tree) = self.trees[root] else { return Task::Kernel(root) };
        let mut links = Vec::with_capacity(tree.links);
        self.line_up(root, &tree, 0, &mut links);
        Task::Chain(Chain { root, dtype: tree.dtype, links, saved: tree.saved })
    }

    /// Appends the links of a tree, which may use the saved accumulators from `saved` on. Its depth is
    /// at most that of [`MAXIMUM_LINKS`].
    fn line_up(&self, index: usize, tree: &Tree, saved: usize, links: &mut Vec<Link>) {
        let operands = &self.nest.instructions[index].operands;
        let branch = |operand: usize| {
            tree.branches[operand].and_then(|index| Some((index, self.trees[index]?)))
        };
        if let [operand] = operands[..] {
            match branch(0) {
                Some((index, tree)) => self.line_up(index, &tree, saved, links),
                None => links.push(Link::Load(operand)),
            }
            links.push(Link::Unary(tree.op));
            return;
        }
        let (operand, accumulator_is_second) = match (branch(0), branch(1)) {
            (Some((left, left_tree)), Some((right, right_tree))) => {
                let left_is_last = left_tree.saved < right_tree.saved;
                let (first, last) = match left_is_last {
                    true => ((right, right_tree), (left, left_tree)),
                    false => ((left, left_tree), (right, right_tree)),
                };
                self.line_up(first.0, &first.1, saved, links);
                links.push(Link::Save(saved));
                self.line_up(last.0, &last.1, saved + 1, links);
                (Operand::Saved(saved), !left_is_last)
            }
            (Some((left, left_tree)), None) => {
                self.line_up(left, &left_tree, saved, links);
                (Operand::Local(operands[1]), false)
            }
            (None, Some((right, right_tree))) => {
                self.line_up(right, &right_tree, saved, links);
                (Operand::Local(operands[0]), true)
            }
            (None, None) => {
                links.push(Link::Load(operands[0]));
                (Operand::Local(operands[1]), false)
            }
        };
        links.push(Link::Binary { op: tree.op, operand, accumulator_is_second });
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
        let loops = lower(&b.finish(&[value]).unwrap()).unwrap();
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
            Link::Load(local) => local.to_string(),
            Link::Save(index) => format!(">s{index}"),
            Link::Unary(op) => op.to_string(),
            Link::Binary { op, operand, accumulator_is_second } => {
                let operand = match operand {
                    Operand::Local(local) => local.to_string(),
                    Operand::Saved(index) => format!("s{index}"),
                };
                if accumulator_is_second {
                    format!("{operand}{op}")
                } else {
                    format!("{op}{operand}")
                }
            }
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
    fn long_trees_are_cut() {
        let text = (0..80).fold("x".to_owned(), |text, _| format!("({text} + y)"));
        let tasks = tasks(&text);
        assert_eq!(tasks.matches('[').count(), 3, "{tasks}");
        assert_eq!(tasks.matches("adda1").count(), 80);
    }
}
