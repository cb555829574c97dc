//! The instructions of a chain put in sequence, as links: a result that is not used at once, or more than
//! once, is saved meanwhile.

use std::collections::BTreeMap;

use indim_kernels::chain::Accumulator;
use indim_loops::loop_nest::Local;
use indim_ops::{DType, Op};

use super::cheap::{Candidates, Kind};
use super::{Link, Operand};

/// Links in the making.
struct Sequence<'a> {
    candidates: &'a Candidates<'a>,
    /// The element type of the accumulator.
    dtype: DType,
    /// What is known of each member, by the index of its instruction.
    members: BTreeMap<usize, Member>,
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
    /// Whether its computation, if nothing is saved yet, changes the mask.
    changes_mask: bool,
    /// Uses to come.
    uses: usize,
    /// Where its result is saved.
    place: Option<usize>,
}

/// The links that compute `root` by `members`, and how many accumulators they save in memory at a time.
/// The accumulator has elements of type `dtype`.
pub(crate) fn put_in_sequence(
    candidates: &Candidates<'_>,
    members: &[usize],
    root: usize,
    dtype: DType,
) -> (Vec<Link>, usize) {
    let mut sequence = Sequence::new(candidates, members, dtype);
    sequence.compute(root);
    (sequence.links, sequence.saved)
}

impl<'a> Sequence<'a> {
    fn new(candidates: &'a Candidates<'a>, members: &[usize], dtype: DType) -> Self {
        let mut sequence = Sequence {
            candidates,
            dtype,
            members: BTreeMap::new(),
            links: Vec::new(),
            saved: 0,
            free: Vec::new(),
        };
        let mut members = members.to_vec();
        members.sort_unstable();
        for index in members {
            let member = Member {
                need: sequence.need(index),
                changes_mask: sequence.changes_mask(index),
                uses: candidates.uses[index],
                place: None,
            };
            sequence.members.insert(index, member);
        }
        sequence
    }

    /// What the computation of a member saves at a time, as if it were a tree.
    fn need(&self, index: usize) -> usize {
        let operands = self.candidates.nest.instructions[index].operands.iter();
        let mut needs: Vec<usize> =
            operands.filter_map(|&local| Some(self.member(local)?.1.need)).collect();
        needs.sort_unstable_by(|a, b| b.cmp(a));
        needs.iter().enumerate().map(|(earlier, need)| need + earlier).max().unwrap_or(0)
    }

    /// Whether the computation of a member changes the mask.
    fn changes_mask(&self, index: usize) -> bool {
        let cheap = self.candidates.cheap[index];
        let uses_mask = cheap.is_some_and(|cheap| {
            let is_masked = matches!(cheap.kind, Kind::Select | Kind::Spread);
            is_masked || cheap.result(self.dtype) != Some(Accumulator::Values)
        });
        let mut operands = self.candidates.nest.instructions[index].operands.iter();
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
        Some((index, *self.members.get(&index)?))
    }

    /// Where a value can be had without computing it; none for a member that is yet to be computed.
    fn operand(&self, local: Local) -> Option<Operand> {
        match self.member(local) {
            None => Some(Operand::Local(local)),
            Some((_, member)) => member.place.map(Operand::Saved),
        }
    }

    /// Brings a value into a accumulator.
    fn bring(&mut self, accumulator: Accumulator, local: Local) {
        match self.operand(local) {
            // What was saved last is still there.
            Some(Operand::Saved(place))
                if self.links.last() == Some(&Link::Save(accumulator, place)) => {}
            Some(operand) => self.links.push(Link::Load(accumulator, operand)),
            None => self.bring_computed(accumulator, local),
        }
    }

    /// Computes a member in its accumulator, and saves it there for its other uses.
    fn bring_computed(&mut self, accumulator: Accumulator, local: Local) {
        let Some((index, _)) = self.member(local) else { return };
        self.compute(index);
        // To convert again is no dearer than to save.
        let is_load = self.candidates.cheap[index].is_some_and(|cheap| cheap.kind == Kind::Convert);
        if self.candidates.uses[index] > 1 && !is_load {
            self.save(accumulator, local);
        }
    }

    /// Saves the accumulator, which holds the member `local`, if that is not done yet.
    fn save(&mut self, accumulator: Accumulator, local: Local) -> Operand {
        if let Some(operand) = self.operand(local) {
            return operand;
        }
        let place = self.free.pop().unwrap_or(self.saved);
        self.saved = self.saved.max(place + 1);
        self.links.push(Link::Save(accumulator, place));
        if let Some((index, member)) = self.member(local) {
            self.members.insert(index, Member { place: Some(place), ..member });
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
            self.members.insert(index, member);
        }
    }

    /// Appends the links that compute a member. The depth of the recursion is that of a chain of
    /// `MAXIMUM_LINKS`.
    fn compute(&mut self, index: usize) {
        let Some(cheap) = self.candidates.cheap[index] else { return };
        let Some(accumulator) = cheap.accumulator(self.dtype) else { return };
        let operands = &self.candidates.nest.instructions[index].operands;
        match cheap.kind {
            Kind::Convert => self.links.push(Link::Load(accumulator, Operand::Local(operands[0]))),
            Kind::Spread => {
                self.bring(Accumulator::Bools, operands[0]);
                self.links.push(Link::Spread);
            }
            Kind::Unary(op) => {
                self.bring(accumulator, operands[0]);
                self.links.push(Link::Unary(accumulator, op));
            }
            Kind::Binary(op) | Kind::Compare(op) => {
                self.bring_pair_to(op, accumulator, operands[0], operands[1]);
            }
            Kind::Test => {
                self.bring(accumulator, operands[0]);
                self.links.push(Link::Test(accumulator));
            }
            Kind::Select => self.select(operands),
        }
        self.release(operands);
    }

    /// Appends `op` on two values, with one of them brought into the accumulator.
    fn bring_pair_to(&mut self, op: Op, accumulator: Accumulator, left: Local, right: Local) {
        let (operand, accumulator_is_second) = self.bring_pair(accumulator, left, right);
        self.links.push(Link::Binary { op, accumulator, operand, accumulator_is_second });
    }

    /// Brings one of two values into the accumulator. Says where the other is, and whether the one is the
    /// second.
    fn bring_pair(
        &mut self,
        accumulator: Accumulator,
        left: Local,
        right: Local,
    ) -> (Operand, bool) {
        match (self.operand(left), self.operand(right)) {
            (_, Some(right)) => {
                self.bring(accumulator, left);
                (right, false)
            }
            (Some(left), None) => {
                self.bring(accumulator, right);
                (left, true)
            }
            (None, None) => {
                let need = |local| self.member(local).map_or(0, |(_, member)| member.need);
                let is_right_first = need(left) < need(right);
                let (earlier, later) = if is_right_first { (right, left) } else { (left, right) };
                self.bring(accumulator, earlier);
                // It may have been a part of the earlier one.
                if let Some(operand) = self.operand(later) {
                    return (operand, is_right_first);
                }
                let operand = self.save(accumulator, earlier);
                self.bring(accumulator, later);
                (operand, !is_right_first)
            }
        }
    }

    /// The mask comes first, unless the computations of the other operands need it for themselves.
    fn select(&mut self, operands: &[Local]) {
        let [mask, on_true, on_false] = operands[..] else { return };
        let (op, accumulator) = (Op::Select, Accumulator::Values);
        if ![on_true, on_false].iter().any(|&local| self.would_change_mask(local)) {
            self.bring(Accumulator::Bools, mask);
            return self.bring_pair_to(op, accumulator, on_true, on_false);
        }
        let [on_true, on_false] = [on_true, on_false].map(|local| match self.operand(local) {
            Some(operand) => operand,
            None => {
                self.bring(accumulator, local);
                self.save(accumulator, local)
            }
        });
        self.bring(Accumulator::Bools, mask);
        self.links.push(Link::Load(accumulator, on_true));
        let (operand, accumulator_is_second) = (on_false, false);
        self.links.push(Link::Binary { op, accumulator, operand, accumulator_is_second });
    }
}
