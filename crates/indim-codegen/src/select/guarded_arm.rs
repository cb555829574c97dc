//! Guarded arms: code that a step skips if no lane needs its result.
//!
//! A guarded arm is the values that only one arm of a select needs. Machine code jumps over their
//! computation if the condition selects the other arm in every lane. The registers of a skipped arm are then
//! undefined, which is harmless because the select reads none of their lanes.

use std::collections::BTreeMap;

use crate::{LaneType, Primitive, SsaValue};

use super::{RegisterGroup, Selector, TargetLowering, pattern};
use crate::machine::{Action, Register, SourceOperand};

/// Minimum number of values in a guarded arm. A jump costs reloads of the values in registers around it, and
/// about twenty cycles if it is mispredicted.
const MIN_ARM_VALUES: usize = 64;

/// Maximum number of values in a guarded arm, which bounds the search for a guarded arm and the distance of
/// its jump: a conditional jump of aarch64 reaches 1 MiB.
const MAX_ARM_VALUES: usize = 2048;

/// Minimum number of values in the other arm. A shorter arm usually handles special operands, which hardly
/// any step has in every lane, so a jump would not pay.
const MIN_OTHER_ARM_VALUES: usize = 8;

/// An arm of a select.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arm {
    OnTrue,
    OnFalse,
}

/// The values that only one arm of a select needs.
#[derive(Debug)]
struct GuardedArm {
    arm: Arm,
    /// The values in the order of the body; the last one is the result of the arm.
    values: Vec<SsaValue>,
}

/// The guarded arms of the code of a step.
#[derive(Debug, Default)]
pub(super) struct GuardedArms {
    /// The guarded arms of selects, by index of the select.
    by_select: BTreeMap<usize, Vec<GuardedArm>>,
    /// For each value, whether a guarded arm computes it.
    is_guarded: Vec<bool>,
}

impl GuardedArms {
    /// Whether a guarded arm computes the value.
    pub(super) fn contains(&self, index: usize) -> bool {
        self.is_guarded.get(index).copied().unwrap_or(false)
    }
}

impl<O: TargetLowering> Selector<'_, O> {
    /// Finds the guarded arms of a step, from the last select to the first. Guarded arms do not nest.
    pub(super) fn find_guarded_arms(&mut self) {
        let count = self.body.instructions.len();
        let uses = self.uses_in_step();
        let mut found = GuardedArms { by_select: BTreeMap::new(), is_guarded: vec![false; count] };
        for index in (0..count).rev() {
            if !self.is_select(index) || found.is_guarded[index] {
                continue;
            }
            let arms = [Arm::OnTrue, Arm::OnFalse];
            let values = arms.map(|arm| self.values_of_arm(index, arm, &uses));
            if values.iter().any(|values| values.len() < MIN_OTHER_ARM_VALUES) {
                continue;
            }
            let guarded =
                arms.into_iter().zip(values).map(|(arm, values)| GuardedArm { arm, values });
            let long: Vec<GuardedArm> =
                guarded.filter(|it| it.values.len() >= MIN_ARM_VALUES).collect();
            for value in long.iter().flat_map(|arm| &arm.values) {
                found.is_guarded[value.index()] = true;
            }
            found.by_select.insert(index, long);
        }
        self.guarded_arms = found;
    }

    /// Whether a step computes the value as a select between numbers.
    fn is_select(&self, index: usize) -> bool {
        let instruction = &self.body.instructions[index];
        instruction.primitive == Primitive::Select
            && instruction.lane != LaneType::Bool
            && self.patterns[index].is_none()
            && self.is_computed_in_step(index)
    }

    /// For each value, the number of uses by values of the step and by outputs.
    fn uses_in_step(&self) -> Vec<usize> {
        let body = self.body;
        let mut uses = vec![0; body.instructions.len()];
        for index in (0..uses.len()).filter(|&index| self.is_computed_in_step(index)) {
            let operands = pattern::operands(body, SsaValue(index as u32), &self.patterns[index]);
            operands.iter().for_each(|operand| uses[operand.index()] += 1);
        }
        for (dtype, lanes) in &body.outputs {
            let count = LaneType::of_element(*dtype).1;
            lanes[..count].iter().for_each(|lane| uses[lane.index()] += 1);
        }
        uses
    }

    /// The values of the step that only this arm of a select needs; none if there are too many.
    fn values_of_arm(&self, select: usize, arm: Arm, uses: &[usize]) -> Vec<SsaValue> {
        let [_, on_true, on_false] = self.body.instructions[select].operands;
        let last = if arm == Arm::OnTrue { on_true } else { on_false };
        // For each value that a value of the arm uses, the number of these uses.
        let mut pending = BTreeMap::from([(last, 1)]);
        let mut values = Vec::new();
        while let Some((value, arm_uses)) = pending.pop_last() {
            let is_exclusive = arm_uses == uses[value.index()];
            if !is_exclusive || !self.is_computed_in_step(value.index()) {
                continue;
            }
            if values.len() == MAX_ARM_VALUES {
                return Vec::new();
            }
            values.push(value);
            for &operand in pattern::operands(self.body, value, &self.patterns[value.index()]) {
                *pending.entry(operand).or_insert(0) += 1;
            }
        }
        values.reverse();
        values
    }

    /// Selects the code of the guarded arms of a select.
    pub(super) fn select_guarded_arms(&mut self, select: SsaValue) {
        for guarded in self.guarded_arms.by_select.remove(&select.index()).unwrap_or_default() {
            self.select_guarded_arm(select, &guarded);
        }
    }

    /// Selects the code of a guarded arm, between the jump over it and its end.
    fn select_guarded_arm(&mut self, select: SsaValue, GuardedArm { arm, values }: &GuardedArm) {
        self.value = select;
        let size = self.body.lane(select).size();
        let mask = self.taken_mask(select, *arm, size);
        let sources = [SourceOperand::Register(mask), SourceOperand::None, SourceOperand::None];
        self.push(Action::Skip, self.is_wide(size), Some(size as u8), None, sources);
        // Registers that the arm computes are undefined after it, except for its result.
        let (numbers, masks) = (self.numbers.clone(), self.masks.clone());
        values.iter().for_each(|&value| self.instruction(value));
        self.push(Action::SkipEnd, true, None, None, [SourceOperand::None; 3]);
        let last = values.last().map_or(0, |value| value.index());
        let result = self.numbers[last];
        (self.numbers, self.masks) = (numbers, masks);
        self.numbers[last] = result;
    }

    /// A mask that is not zero if a lane of the step takes this arm. The mask is the `or` of the masks
    /// of several registers, so the positions of its bits have no meaning.
    fn taken_mask(&mut self, select: SsaValue, arm: Arm, size: usize) -> Register {
        let condition = self.body.instruction(select).operands[0];
        let masks = self.mask(condition, size);
        let mut taken: Option<RegisterGroup> = None;
        for index in 0..masks.count {
            let mask = RegisterGroup::new(1, |_| masks.register(index));
            let mask = match arm {
                Arm::OnTrue => mask,
                Arm::OnFalse => self.combine_masks(Primitive::Not, size, [mask, mask]),
            };
            taken = Some(match taken {
                None => mask,
                Some(others) => self.combine_masks(Primitive::Or, size, [others, mask]),
            });
        }
        taken.map_or(Register(0), |taken| taken.register(0))
    }

    fn combine_masks(
        &mut self,
        primitive: Primitive,
        size: usize,
        [x, y]: [RegisterGroup; 2],
    ) -> RegisterGroup {
        let operands = [x, y, RegisterGroup::NONE];
        let combined = O::mask_operation(self, primitive, size, operands);
        combined.expect("invariant: targets combine masks")
    }
}
