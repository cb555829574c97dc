//! Simplification of bodies: dead-code elimination and removal of redundant NaN canonicalisation.
//!
//! The definition of every operation with a float result ends with [`Primitive::Canonical`], but most
//! operations cannot tell NaNs apart. The instruction stays only if the bits of a NaN are observed: by a
//! store or by a bitcast to an integer. Arithmetic does not observe them.

use crate::body::{Body, LaneType, Primitive, SsaInstruction, SsaValue};
use crate::builder::BodyBuilder;
use crate::nans::{Nans, is_canonical, possible_nans};
use crate::rewriter::Rewriter;

impl Body {
    /// Removes dead instructions and canonicalisation of NaNs whose bits are not observed. Outputs keep
    /// their bits, for any NaNs that the processor's arithmetic makes. Also applies the rewrites of
    /// [`BodyBuilder::push`] again, and lowers `RoundBf16` to integer arithmetic.
    ///
    /// ```
    /// use indim_codegen::{BodyBuilder, LaneType, Primitive};
    /// use indim_ops::DType;
    /// let mut builder = BodyBuilder::new(vec![DType::F32]);
    /// let x = builder.push(Primitive::Load { input: 0, component: 0 }, LaneType::F32, &[]);
    /// let mut y = x;
    /// for _ in 0..2 {
    ///     let sum = builder.push(Primitive::Add, LaneType::F32, &[y, x]);
    ///     y = builder.push(Primitive::Canonical, LaneType::F32, &[sum]);
    /// }
    /// builder.output(DType::F32, [y]);
    /// assert_eq!(builder.finish().simplified().to_string(), "\
    /// v0 = load.f32 input 0
    /// v1 = add.f32 v0, v0
    /// v2 = add.f32 v0, v1
    /// v3 = canonical.f32 v2
    /// output 0: f32 = v3
    /// ");
    /// ```
    pub fn simplified(self) -> Body {
        let demand = Demand::of(&self);
        let mut builder = BodyBuilder::new(self.inputs.clone());
        let mut nans: Vec<Nans> = Vec::with_capacity(self.instructions.len());
        let mut values = vec![SsaValue(0); self.instructions.len()];
        for (index, instruction) in self.instructions.iter().enumerate() {
            if !demand.is_needed[index] {
                continue;
            }
            // Unused operands are value 0.
            let operands = instruction.operands.map(|operand| values[operand.index()]);
            let operands = &operands[..instruction.operands().len()];
            values[index] = match instruction.primitive {
                Primitive::Canonical
                    if !demand.is_nan_observed[index]
                        || is_canonical(&builder, &nans, operands[0]) =>
                {
                    operands[0]
                }
                _ => builder.push_from(&self, instruction, operands),
            };
            for new in nans.len()..builder.len() {
                nans.push(possible_nans(
                    &builder,
                    &nans,
                    builder.instruction(SsaValue(new as u32)),
                ));
            }
        }
        for (dtype, lanes) in &self.outputs {
            builder.output(*dtype, lanes.map(|lane| values[lane.index()]));
        }
        let body = Body { identities: self.identities, ..builder.finish() };
        body.without_dead_code().with_lowered_rounding()
    }

    /// Removes dead instructions.
    fn without_dead_code(mut self) -> Body {
        let is_needed = Demand::of(&self).is_needed;
        let mut values = vec![SsaValue(0); self.instructions.len()];
        let mut needed_count = 0;
        for index in (0..is_needed.len()).filter(|&index| is_needed[index]) {
            let mut instruction = self.instructions[index];
            instruction.operands = instruction.operands.map(|operand| values[operand.index()]);
            values[index] = SsaValue(needed_count as u32);
            self.instructions[needed_count] = instruction;
            needed_count += 1;
        }
        self.instructions.truncate(needed_count);
        for (_, lanes) in &mut self.outputs {
            *lanes = lanes.map(|lane| values[lane.index()]);
        }
        self
    }

    /// Removes unread inputs; returns the indices of the remaining ones. Accumulators stay and are not
    /// among the indices.
    pub(crate) fn without_unread_inputs(mut self) -> (Body, Vec<usize>) {
        let array_inputs = self.non_accumulator_input_count();
        let mut is_read = vec![false; self.inputs.len()];
        is_read[array_inputs..].fill(true);
        for instruction in &self.instructions {
            if let Primitive::Load { input, .. } = instruction.primitive {
                is_read[input as usize] = true;
            }
        }
        let read: Vec<usize> = (0..is_read.len()).filter(|&input| is_read[input]).collect();
        let mut numbers = vec![0; is_read.len()];
        for (number, &input) in read.iter().enumerate() {
            numbers[input] = number as u32;
        }
        for instruction in &mut self.instructions {
            if let Primitive::Load { input, .. } = &mut instruction.primitive {
                *input = numbers[*input as usize];
            }
        }
        self.inputs = read.iter().map(|&input| self.inputs[input]).collect();
        (self, read.into_iter().filter(|&input| input < array_inputs).collect())
    }
}

/// The demand on each value, computed backwards from the outputs.
struct Demand {
    /// Whether an output or a needed instruction uses the value.
    is_needed: Vec<bool>,
    /// Whether an output or a needed instruction observes the bits of the value if it is a NaN.
    is_nan_observed: Vec<bool>,
}

impl Demand {
    fn of(body: &Body) -> Demand {
        let count = body.instructions.len();
        let mut demand =
            Demand { is_needed: vec![false; count], is_nan_observed: vec![false; count] };
        for (dtype, lanes) in &body.outputs {
            for &lane in &lanes[..LaneType::of_element(*dtype).1] {
                // Only the result of a whole reduction is made canonical, not its accumulators.
                demand.add(lane, !body.folds());
            }
        }
        for (index, instruction) in body.instructions.iter().enumerate().rev() {
            if demand.is_needed[index] {
                demand.propagate(instruction, demand.is_nan_observed[index]);
            }
        }
        demand
    }

    fn add(&mut self, value: SsaValue, is_nan_observed: bool) {
        self.is_needed[value.index()] = true;
        self.is_nan_observed[value.index()] |= is_nan_observed;
    }

    /// Propagates the demand on an instruction to its operands.
    fn propagate(&mut self, instruction: &SsaInstruction, is_nan_observed: bool) {
        let observes_nans = match instruction.primitive {
            Primitive::Bits => true,
            Primitive::Select | Primitive::Neg | Primitive::Abs => is_nan_observed,
            _ => false,
        };
        for &operand in instruction.operands() {
            self.add(operand, observes_nans);
        }
    }
}
