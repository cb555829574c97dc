//! The instructions of a chain put in a line of links: a result that is not used at once, or more than
//! once, is saved meanwhile. Called by `chains.rs`.

use indim_graph::lower::loop_nest::Local;
use indim_ops::{DType, Op};

use crate::blocks::chain::find::{Finder, Kind, Link, Operand};
use crate::blocks::chain::pieces::Register;

/// Links in the making.
struct Line<'a> {
    finder: &'a Finder<'a>,
    /// The element type of the accumulator.
    dtype: DType,
    /// What is known of each member, in the order of their indices, which may lie far apart.
    members: Vec<(usize, Member)>,
    links: Vec<Link>,
    /// How many registers are saved at a time.
    saved: usize,
    /// Places of saved registers that are free again.
    free: Vec<usize>,
}

/// An instruction of a chain.
#[derive(Debug, Clone, Copy)]
struct Member {
    /// How many registers its computation saves at a time, if nothing is saved yet.
    need: usize,
    /// Whether its computation, if nothing is saved yet, changes the mask.
    changes_mask: bool,
    /// Uses to come.
    uses: usize,
    /// Where its result is saved.
    place: Option<usize>,
}

/// The links that compute `root` by `members`, and how many registers they save in memory at a time.
/// The accumulator has elements of type `dtype`.
pub(crate) fn line_up(
    finder: &Finder<'_>,
    members: &[usize],
    root: usize,
    dtype: DType,
) -> (Vec<Link>, usize) {
    let mut line = Line::new(finder, members, dtype);
    line.compute(root);
    (line.links, line.saved)
}

impl<'a> Line<'a> {
    fn new(finder: &'a Finder<'a>, members: &[usize], dtype: DType) -> Self {
        let mut line = Line {
            finder,
            dtype,
            members: Vec::with_capacity(members.len()),
            links: Vec::new(),
            saved: 0,
            free: Vec::new(),
        };
        let mut members = members.to_vec();
        members.sort_unstable();
        for index in members {
            let member = Member {
                need: line.need(index),
                changes_mask: line.changes_mask(index),
                uses: finder.uses[index],
                place: None,
            };
            line.members.push((index, member));
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

    /// Whether the computation of a member changes the mask.
    fn changes_mask(&self, index: usize) -> bool {
        let step = self.finder.steps[index];
        let uses_mask = step.is_some_and(|step| {
            let is_masked = matches!(step.kind, Kind::Select | Kind::Spread);
            is_masked || step.result(self.dtype) != Some(Register::Accumulator)
        });
        let mut operands = self.finder.nest.instructions[index].operands.iter();
        uses_mask || operands.any(|&local| self.would_change_mask(local))
    }

    /// Whether to bring a value into the accumulator changes the mask.
    fn would_change_mask(&self, local: Local) -> bool {
        let is_to_compute = self.operand(local).is_none();
        is_to_compute && self.member(local).is_some_and(|(_, member)| member.changes_mask)
    }

    /// The member that a local is.
    fn member(&self, local: Local) -> Option<(usize, Member)> {
        let Local::Instruction(index) = local else { return None };
        let position = self.position(index)?;
        Some(self.members[position])
    }

    fn position(&self, index: usize) -> Option<usize> {
        self.members.binary_search_by_key(&index, |&(index, _)| index).ok()
    }

    fn set_member(&mut self, index: usize, member: Member) {
        if let Some(position) = self.position(index) {
            self.members[position].1 = member;
        }
    }

    /// Where a value can be had without computing it; none for a member that is yet to be computed.
    fn operand(&self, local: Local) -> Option<Operand> {
        match self.member(local) {
            None => Some(Operand::Local(local)),
            Some((_, member)) => member.place.map(Operand::Saved),
        }
    }

    /// Brings a value into a register.
    fn bring(&mut self, register: Register, local: Local) {
        match self.operand(local) {
            // What was saved last is still there.
            Some(Operand::Saved(place))
                if self.links.last() == Some(&Link::Save(register, place)) => {}
            Some(operand) => self.links.push(Link::Load(register, operand)),
            None => self.bring_computed(register, local),
        }
    }

    /// Computes a member in its register, and saves it there for its other uses.
    fn bring_computed(&mut self, register: Register, local: Local) {
        let Some((index, _)) = self.member(local) else { return };
        self.compute(index);
        // To convert again is no dearer than to save.
        let is_load = self.finder.steps[index].is_some_and(|step| step.kind == Kind::Convert);
        if self.finder.uses[index] > 1 && !is_load {
            self.save(register, local);
        }
    }

    /// Saves the register, which holds the member `local`, if that is not done yet.
    fn save(&mut self, register: Register, local: Local) -> Operand {
        if let Some(operand) = self.operand(local) {
            return operand;
        }
        let place = self.free.pop().unwrap_or(self.saved);
        self.saved = self.saved.max(place + 1);
        self.links.push(Link::Save(register, place));
        if let Some((index, member)) = self.member(local) {
            self.set_member(index, Member { place: Some(place), ..member });
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
            self.set_member(index, member);
        }
    }

    /// Appends the links that compute a member. The depth of the recursion is that of a chain of
    /// `MAXIMUM_LINKS`.
    fn compute(&mut self, index: usize) {
        let Some(step) = self.finder.steps[index] else { return };
        let Some(register) = step.register(self.dtype) else { return };
        let operands = &self.finder.nest.instructions[index].operands;
        match step.kind {
            Kind::Convert => self.links.push(Link::Load(register, Operand::Local(operands[0]))),
            Kind::Spread => {
                self.bring(Register::Bools, operands[0]);
                self.links.push(Link::Spread);
            }
            Kind::Unary(op) => {
                self.bring(register, operands[0]);
                self.links.push(Link::Unary(register, op));
            }
            Kind::Binary(op) | Kind::Compare(op) => {
                self.bring_pair_to(op, register, operands[0], operands[1]);
            }
            Kind::Test => {
                self.bring(register, operands[0]);
                self.links.push(Link::Test(register));
            }
            Kind::Select => self.select(operands),
        }
        self.release(operands);
    }

    /// Appends `op` on two values, with one of them brought into the register.
    fn bring_pair_to(&mut self, op: Op, register: Register, left: Local, right: Local) {
        let (operand, register_is_second) = self.bring_pair(register, left, right);
        self.links.push(Link::Binary { op, register, operand, register_is_second });
    }

    /// Brings one of two values into the register. Says where the other is, and whether the one is the
    /// second.
    fn bring_pair(&mut self, register: Register, left: Local, right: Local) -> (Operand, bool) {
        match (self.operand(left), self.operand(right)) {
            (_, Some(right)) => {
                self.bring(register, left);
                (right, false)
            }
            (Some(left), None) => {
                self.bring(register, right);
                (left, true)
            }
            (None, None) => {
                let need = |local| self.member(local).map_or(0, |(_, member)| member.need);
                let is_right_first = need(left) < need(right);
                let (earlier, later) = if is_right_first { (right, left) } else { (left, right) };
                self.bring(register, earlier);
                // It may have been a part of the earlier one.
                if let Some(operand) = self.operand(later) {
                    return (operand, is_right_first);
                }
                let operand = self.save(register, earlier);
                self.bring(register, later);
                (operand, !is_right_first)
            }
        }
    }

    /// The mask comes first, unless the computations of the other operands need it for themselves.
    fn select(&mut self, operands: &[Local]) {
        let [mask, on_true, on_false] = operands[..] else { return };
        let (op, register) = (Op::Select, Register::Accumulator);
        if ![on_true, on_false].iter().any(|&local| self.would_change_mask(local)) {
            self.bring(Register::Bools, mask);
            return self.bring_pair_to(op, register, on_true, on_false);
        }
        let [on_true, on_false] = [on_true, on_false].map(|local| match self.operand(local) {
            Some(operand) => operand,
            None => {
                self.bring(register, local);
                self.save(register, local)
            }
        });
        self.bring(Register::Bools, mask);
        self.links.push(Link::Load(register, on_true));
        let operand = on_false;
        self.links.push(Link::Binary { op, register, operand, register_is_second: false });
    }
}
