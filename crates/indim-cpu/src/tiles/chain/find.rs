//! Which instructions of a loop nest run together as one chain.
//!
//! From its result a chain grows backwards: it takes in a cheap instruction when all users of it are in
//! the chain. Instructions of the chain's element type compute in the accumulator; conditions, which are
//! bools or u8, in the mask. `sequence.rs` then puts them in sequence.

use indim_kernels::chain::{Accumulator, MAXIMUM_LINKS};
use indim_loops::loop_nest::{Local, LoopNest};
use indim_ops::DType;

use super::cheap::{Candidates, Cheap, Kind};
use super::sequence::put_in_sequence;
use super::{Chain, Link, Operand};

/// What is done at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    /// One instruction, by its kernel.
    Kernel(usize),
    /// Several cheap instructions.
    Chain(Chain),
}

impl Task {
    /// The instruction whose result is left in memory.
    pub(crate) fn result(&self) -> usize {
        match self {
            Task::Kernel(index) => *index,
            Task::Chain(chain) => chain.root,
        }
    }

    /// The chain, if it is one.
    pub(crate) fn chain(&self) -> Option<&Chain> {
        match self {
            Task::Chain(chain) => Some(chain),
            Task::Kernel(_) => None,
        }
    }

    /// The values that are read.
    pub(crate) fn operands<'a>(&'a self, nest: &'a LoopNest) -> Vec<Local> {
        match self {
            Task::Kernel(index) => nest.instructions[*index].operands.clone(),
            Task::Chain(chain) => chain.links.iter().filter_map(Operand::local).collect(),
        }
    }
}

/// The tasks of a nest, in order.
pub(crate) fn find_tasks(nest: &LoopNest) -> Vec<Task> {
    let count = nest.instructions.len();
    let mut finder = Finder { candidates: Candidates::of(nest), taken: vec![0; count] };
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

/// Looks for the instructions of chains.
struct Finder<'a> {
    candidates: Candidates<'a>,
    /// How many uses of each instruction are in the chain that grows.
    taken: Vec<usize>,
}

impl Finder<'_> {
    /// The task that leaves the result of `root`, and the instructions that it takes in.
    fn task(&mut self, root: usize) -> (Task, Vec<usize>) {
        let is_conversion = |cheap: &Cheap| matches!(cheap.kind, Kind::Convert | Kind::Spread);
        let Some(cheap) = self.candidates.cheap[root].filter(|cheap| !is_conversion(cheap)) else {
            return (Task::Kernel(root), Vec::new());
        };
        let dtype = if cheap.dtype == DType::Bool { self.compared(root) } else { cheap.dtype };
        let mut members = self.grow(root, dtype);
        loop {
            let (mut links, saved) = put_in_sequence(&self.candidates, &members, root, dtype);
            if cheap.result(dtype) == Some(Accumulator::Bools) {
                links.push(Link::WriteMask);
            }
            if links.len() <= MAXIMUM_LINKS {
                return (Task::Chain(Chain { root, dtype, links, saved }), members);
            }
            // The last that came in has no users but those before it, and no member as operand.
            members.pop();
        }
    }

    /// The element type of what is compared for a condition and nothing else: the widest, if there are
    /// several.
    fn compared(&self, root: usize) -> DType {
        let mut widest = DType::U8;
        let mut conditions = vec![root];
        let mut next = 0;
        while next < conditions.len().min(MAXIMUM_LINKS) {
            for &operand in &self.candidates.nest.instructions[conditions[next]].operands {
                let Local::Instruction(index) = operand else { continue };
                let dtype = self.candidates.cheap[index].map(|cheap| cheap.dtype);
                match dtype {
                    Some(DType::Bool) => conditions.push(index),
                    Some(dtype)
                        if self.candidates.uses[index] == 1 && dtype.size() > widest.size() =>
                    {
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
            for (position, &operand) in
                self.candidates.nest.instructions[user].operands.iter().enumerate()
            {
                let Local::Instruction(index) = operand else { continue };
                let wanted =
                    self.candidates.cheap[user].and_then(|cheap| cheap.wanted(dtype, position));
                let result = self.candidates.cheap[index].and_then(|cheap| cheap.result(dtype));
                let fits = wanted.is_some() && wanted == result;
                self.taken[index] += usize::from(fits);
                if fits
                    && self.taken[index] == self.candidates.uses[index]
                    && members.len() < MAXIMUM_LINKS
                {
                    members.push(index);
                }
            }
        }
        for &member in &members {
            for &operand in &self.candidates.nest.instructions[member].operands {
                if let Local::Instruction(index) = operand {
                    self.taken[index] = 0;
                }
            }
        }
        members
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/chains.rs"]
mod tests;
