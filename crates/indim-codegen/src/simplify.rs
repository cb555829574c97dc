//! Simplification of bodies: dead-code elimination, and canonical NaNs only where observable.
//!
//! Every operation returns canonical NaNs, but most operations cannot tell NaNs apart. A NaN is therefore
//! made canonical only where its bits are observed: at stores and at bitcasts of floats to integers.
//! Arithmetic makes NaNs of its own and observes none.

use crate::body::{Body, Instruction, LaneType, Primitive, Value};
use crate::builder::BodyBuilder;
use crate::instructions::Instructions;
use crate::nans::{Nans, is_canonical, possible_nans};

impl Body {
    /// Removes instructions that no output needs, and canonicalises NaNs only where their bits are
    /// observed. Inputs and outputs stay the same for all NaNs that arithmetic may make.
    ///
    /// ```
    /// use indim_codegen::{BodyBuilder, LaneType, Primitive};
    /// use indim_ops::DType;
    /// let mut builder = BodyBuilder::new(vec![DType::F32]);
    /// let x = builder.push(Primitive::Load { input: 0, part: 0 }, LaneType::F32, &[]);
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
        let mut values = vec![Value(0); self.instructions.len()];
        for (index, instruction) in self.instructions.iter().enumerate() {
            if !demand.is_needed[index] {
                continue;
            }
            // What is no operand is the value 0.
            let operands = instruction.operands.map(|operand| values[operand.index()]);
            let operands = &operands[..instruction.operands().len()];
            values[index] = match instruction.primitive {
                Primitive::Canonical
                    if !demand.is_looked_at[index]
                        || is_canonical(&builder, &nans, operands[0]) =>
                {
                    operands[0]
                }
                _ => builder.push_from(&self, instruction, operands),
            };
            for new in nans.len()..builder.len() {
                nans.push(possible_nans(&builder, &nans, builder.instruction(Value(new as u32))));
            }
        }
        for (dtype, lanes) in &self.outputs {
            builder.output(*dtype, lanes.map(|lane| values[lane.index()]));
        }
        let body = Body { identities: self.identities, ..builder.finish() };
        body.without_dead().with_rounding_in_bits()
    }

    /// Removes instructions that no output needs.
    fn without_dead(mut self) -> Body {
        let is_needed = Demand::of(&self).is_needed;
        let mut values = vec![Value(0); self.instructions.len()];
        let mut kept = 0;
        for index in (0..is_needed.len()).filter(|&index| is_needed[index]) {
            let mut instruction = self.instructions[index];
            instruction.operands = instruction.operands.map(|operand| values[operand.index()]);
            values[index] = Value(kept as u32);
            self.instructions[kept] = instruction;
            kept += 1;
        }
        self.instructions.truncate(kept);
        for (_, lanes) in &mut self.outputs {
            *lanes = lanes.map(|lane| values[lane.index()]);
        }
        self
    }

    /// Removes unread operands; returns the remaining ones. Accumulators stay.
    pub(crate) fn with_read_inputs(mut self) -> (Body, Vec<usize>) {
        let operands = self.operand_count();
        let mut is_read = vec![false; self.inputs.len()];
        is_read[operands..].fill(true);
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
        (self, read.into_iter().filter(|&input| input < operands).collect())
    }
}

/// Demands of the outputs on each value.
struct Demand {
    is_needed: Vec<bool>,
    /// Whether an instruction or output can tell which NaN it is.
    is_looked_at: Vec<bool>,
}

impl Demand {
    fn of(body: &Body) -> Demand {
        let count = body.instructions.len();
        let mut demand = Demand { is_needed: vec![false; count], is_looked_at: vec![false; count] };
        for (dtype, lanes) in &body.outputs {
            for &lane in &lanes[..LaneType::of_element(*dtype).1] {
                // Of an accumulator the last one is made canonical.
                demand.add(lane, !body.folds());
            }
        }
        // Those who take a value come after it.
        for (index, instruction) in body.instructions.iter().enumerate().rev() {
            if demand.is_needed[index] {
                demand.pass_on(instruction, demand.is_looked_at[index]);
            }
        }
        demand
    }

    fn add(&mut self, value: Value, is_looked_at: bool) {
        self.is_needed[value.index()] = true;
        self.is_looked_at[value.index()] |= is_looked_at;
    }

    /// Demands of an instruction on its operands.
    fn pass_on(&mut self, instruction: &Instruction, is_looked_at: bool) {
        let asks = match instruction.primitive {
            Primitive::Bits => true,
            Primitive::Select | Primitive::Neg | Primitive::Abs => is_looked_at,
            _ => false,
        };
        for &operand in instruction.operands() {
            self.add(operand, asks);
        }
    }
}
