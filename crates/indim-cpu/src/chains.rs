//! Which instructions of a loop nest run together as one chain.
//!
//! From its result a chain grows backwards: it takes in a cheap instruction of its element type when
//! all users of it are in the chain. The instructions are then put in a line for an accumulator: a
//! result that is not used at once, or more than once, is saved meanwhile.

use core::fmt;

use indim_graph::lower::loop_nest::{Compute, Instruction, Local, LoopNest};
use indim_graph::{DType, Op};

use crate::kernel::chain::MAXIMUM_LINKS;
use crate::kernel::chain_links::{chain_operations, chain_sources};

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
    /// The accumulator, converted to bools, is the mask.
    Test,
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

/// What a cheap instruction does in a chain.
#[derive(Debug, Clone, Copy)]
struct ChainStep {
    kind: Kind,
    /// The element type of the accumulator.
    dtype: DType,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A load of another element type.
    Convert,
    Unary(Op),
    Binary(Op),
    /// An operation of two operands whose result is the mask.
    Compare(Op),
    /// A conversion to bool, whose result is the mask.
    Test,
    /// The first operand is the mask.
    Select,
}

impl Kind {
    fn sets_mask(self) -> bool {
        matches!(self, Kind::Compare(_) | Kind::Test)
    }
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
                chain_operations(from).contains(&op).then_some(ChainStep { kind, dtype: from })
            }
            Compute::Convert if to == DType::Bool => {
                let has_chains = !chain_operations(from).is_empty();
                has_chains.then_some(ChainStep { kind: Kind::Test, dtype: from })
            }
            Compute::Convert => {
                let is_source = chain_sources(to).contains(&from);
                is_source.then_some(ChainStep { kind: Kind::Convert, dtype: to })
            }
            Compute::Bitcast => None,
        }
    }
}

struct Finder<'a> {
    nest: &'a LoopNest,
    steps: Vec<Option<ChainStep>>,
    uses: Vec<usize>,
    /// How many uses of each instruction are in the chain that grows.
    taken: Vec<usize>,
}

impl Finder<'_> {
    /// The task that leaves the result of `root`, and the instructions that it takes in.
    fn task(&mut self, root: usize) -> (Task, Vec<usize>) {
        let Some(step) = self.steps[root].filter(|step| step.kind != Kind::Convert) else {
            return (Task::Kernel(root), Vec::new());
        };
        let mut members = self.grow(root, step.dtype);
        loop {
            let mut line = Line::new(self, &members);
            line.compute(root);
            if step.kind.sets_mask() {
                line.links.push(Link::WriteMask);
            }
            if line.links.len() <= MAXIMUM_LINKS {
                let chain = Chain { root, dtype: step.dtype, links: line.links, saved: line.saved };
                return (Task::Chain(chain), members);
            }
            // The last that came in has no users but those before it, and no member as operand.
            members.pop();
        }
    }

    /// The root and, one after another, the cheap instructions of `dtype` all of whose users are in.
    fn grow(&mut self, root: usize, dtype: DType) -> Vec<usize> {
        let mut members = vec![root];
        let mut next = 0;
        while let Some(&user) = members.get(next) {
            next += 1;
            if self.steps[user].is_some_and(|step| step.kind == Kind::Convert) {
                continue;
            }
            for (position, &operand) in self.nest.instructions[user].operands.iter().enumerate() {
                let Local::Instruction(index) = operand else { continue };
                self.taken[index] += 1;
                let is_mask = position == 0 && self.is_select(user);
                let fits = self.is_alike(index, dtype, is_mask);
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

    fn is_select(&self, index: usize) -> bool {
        self.steps[index].is_some_and(|step| step.kind == Kind::Select)
    }

    /// Whether the result of an instruction can be the accumulator, or the mask, of a chain of `dtype`.
    /// A mask can be used only once, because it is not saved.
    fn is_alike(&self, index: usize, dtype: DType, is_mask: bool) -> bool {
        self.steps[index].is_some_and(|step| {
            let sets_mask = step.kind.sets_mask();
            step.dtype == dtype && sets_mask == is_mask && (!is_mask || self.uses[index] == 1)
        })
    }
}

/// Links in the making.
struct Line<'a> {
    finder: &'a Finder<'a>,
    /// For each member what is known of it, by its index less that of the first.
    members: Vec<Option<Member>>,
    first: usize,
    links: Vec<Link>,
    /// How many accumulators are saved at a time.
    saved: usize,
    /// Places of saved accumulators that are free again.
    free: Vec<usize>,
}

/// An instruction of a chain.
#[derive(Debug, Clone, Copy)]
struct Member {
    /// How many accumulators its computation saves at a time, if nothing is saved yet.
    need: usize,
    /// Uses to come.
    uses: usize,
    /// Where its result is saved.
    place: Option<usize>,
}

impl<'a> Line<'a> {
    fn new(finder: &'a Finder<'a>, members: &[usize]) -> Self {
        let first = members.iter().copied().min().unwrap_or(0);
        let last = members.iter().copied().max().unwrap_or(0);
        let mut line = Line {
            finder,
            members: vec![None; last + 1 - first],
            first,
            links: Vec::new(),
            saved: 0,
            free: Vec::new(),
        };
        let mut members = members.to_vec();
        members.sort_unstable();
        for index in members {
            let need = line.need(index);
            let uses = finder.uses[index];
            line.members[index - first] = Some(Member { need, uses, place: None });
        }
        line
    }

    /// What the computation of a member saves at a time, as if it were a tree.
    fn need(&self, index: usize) -> usize {
        let operands = self.finder.nest.instructions[index].operands.iter();
        let mut needs: Vec<usize> =
            operands.filter_map(|&local| Some(self.member(local)?.1.need)).collect();
        needs.sort_unstable_by(|a, b| b.cmp(a));
        needs.iter().enumerate().map(|(earlier, need)| need + earlier).max().unwrap_or(0)
    }

    /// The member that a local is.
    fn member(&self, local: Local) -> Option<(usize, Member)> {
        let Local::Instruction(index) = local else { return None };
        let member = *self.members.get(index.checked_sub(self.first)?)?;
        Some((index, member?))
    }

    /// Where a value can be had without computing it; none for a member that is yet to be computed.
    fn operand(&self, local: Local) -> Option<Operand> {
        match self.member(local) {
            None => Some(Operand::Local(local)),
            Some((_, member)) => member.place.map(Operand::Saved),
        }
    }

    /// Brings a value into the accumulator.
    fn bring(&mut self, local: Local) {
        match (self.operand(local), local) {
            (None, Local::Instruction(index)) => {
                self.compute(index);
                if self.finder.uses[index] > 1 {
                    self.save(local);
                }
            }
            // What was saved last is still there.
            (Some(Operand::Saved(place)), _) if self.links.last() == Some(&Link::Save(place)) => {}
            (operand, _) => {
                self.links.push(Link::Load(operand.unwrap_or(Operand::Local(local))));
            }
        }
    }

    /// Saves the accumulator, which is the result of the member `local`, if that is not done yet.
    fn save(&mut self, local: Local) -> Operand {
        if let Some(operand) = self.operand(local) {
            return operand;
        }
        let place = self.free.pop().unwrap_or(self.saved);
        self.saved = self.saved.max(place + 1);
        self.links.push(Link::Save(place));
        if let Some((index, member)) = self.member(local) {
            self.members[index - self.first] = Some(Member { place: Some(place), ..member });
        }
        Operand::Saved(place)
    }

    /// Frees the places of the operands of a link that have had their last use.
    fn release(&mut self, locals: &[Local]) {
        for &local in locals {
            let Some((index, mut member)) = self.member(local) else { continue };
            member.uses = member.uses.saturating_sub(1);
            if member.uses == 0 {
                self.free.extend(member.place.take());
            }
            self.members[index - self.first] = Some(member);
        }
    }

    /// Appends the links that compute a member. The depth of the recursion is that of a chain of
    /// [`MAXIMUM_LINKS`].
    fn compute(&mut self, index: usize) {
        let Some(step) = self.finder.steps[index] else { return };
        let operands = &self.finder.nest.instructions[index].operands;
        match step.kind {
            Kind::Convert => return self.links.push(Link::Load(Operand::Local(operands[0]))),
            Kind::Unary(op) => {
                self.bring(operands[0]);
                self.links.push(Link::Unary(op));
            }
            Kind::Binary(op) | Kind::Compare(op) => {
                let (operand, accumulator_is_second) = self.bring_pair(operands[0], operands[1]);
                self.links.push(Link::Binary { op, operand, accumulator_is_second });
            }
            Kind::Test => {
                self.bring(operands[0]);
                self.links.push(Link::Test);
            }
            Kind::Select => self.select(operands),
        }
        self.release(operands);
    }

    /// Brings one of two values into the accumulator. Says where the other is, and whether the one is
    /// the second.
    fn bring_pair(&mut self, left: Local, right: Local) -> (Operand, bool) {
        match (self.operand(left), self.operand(right)) {
            (_, Some(right)) => {
                self.bring(left);
                (right, false)
            }
            (Some(left), None) => {
                self.bring(right);
                (left, true)
            }
            (None, None) => {
                let need = |local| self.member(local).map_or(0, |(_, member)| member.need);
                let is_right_first = need(left) < need(right);
                let (earlier, later) = if is_right_first { (right, left) } else { (left, right) };
                self.bring(earlier);
                // It may have been a part of the earlier one.
                if let Some(operand) = self.operand(later) {
                    return (operand, is_right_first);
                }
                let operand = self.save(earlier);
                self.bring(later);
                (operand, !is_right_first)
            }
        }
    }

    /// A mask that is computed comes last, because the computations of the other operands may use it.
    fn select(&mut self, operands: &[Local]) {
        let op = Op::Select;
        let [mask, on_true, on_false] = operands[..] else { return };
        let Some((mask, _)) = self.member(mask) else {
            let (operand, accumulator_is_second) = self.bring_pair(on_true, on_false);
            self.links.push(Link::LoadMask(mask));
            return self.links.push(Link::Binary { op, operand, accumulator_is_second });
        };
        let chosen = [on_true, on_false].map(|local| match self.operand(local) {
            Some(operand) => operand,
            None => {
                self.bring(local);
                self.save(local)
            }
        });
        self.compute(mask);
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
            Link::Test => "bool".to_owned(),
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
        assert_eq!(tasks("where(x < y, x + y, x)"), "[a0 adda1 >s0 a0 lta1 s0 selecta0]");
        assert_eq!(
            tasks("where(x < y, x * y, x) + where(x < y, y, x)"),
            "[a0 lta1 !] [a0 mula1 ?t0 selecta0 >s0 a1 ?t0 selecta0 s0add]"
        );
    }

    #[test]
    fn a_conversion_to_bool_sets_the_mask() {
        assert_eq!(tasks("where(x - y, x, y)"), "[a0 suba1 bool a0 selecta1]");
        assert_eq!(tasks("bool(x)"), "[a0 bool !]");
    }

    #[test]
    fn a_value_of_another_type_is_converted_as_it_is_loaded() {
        assert_eq!(tasks("f32(f64(x) * 2)"), "[a0 mula1] k2");
    }

    #[test]
    fn long_trees_are_cut() {
        let text = (0..80).fold("x".to_owned(), |text, _| format!("({text} + y)"));
        let tasks = tasks(&text);
        assert_eq!(tasks.matches('[').count(), 2, "{tasks}");
        assert_eq!(tasks.matches("adda1").count(), 80);
    }
}
