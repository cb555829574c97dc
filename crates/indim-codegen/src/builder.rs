//! Construction of bodies: value numbering, constant folding and rewrites.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use indim_ops::DType;

use crate::body::{Body, LaneType, Primitive, SsaInstruction, SsaValue};
use crate::rewrite::{Rewrite, rewrite};
use crate::rewriter::Rewriter;
use crate::scalar::evaluate;

/// A body under construction.
#[derive(Debug, Default)]
pub struct BodyBuilder {
    body: Body,
    /// The value of each distinct instruction. The table stores values only; their instructions are in
    /// `body`.
    numbering: HashTable<SsaValue>,
    hasher: RandomState,
    /// Scratch of `inline_values`: the value of each instruction of the inlined body.
    inlined: Vec<SsaValue>,
}

impl BodyBuilder {
    /// An empty body that reads elements of these types.
    pub fn new(inputs: Vec<DType>) -> BodyBuilder {
        BodyBuilder { body: Body { inputs, ..Body::default() }, ..BodyBuilder::default() }
    }

    /// Whether the body is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.body == Body::default()
    }

    /// Number of instructions.
    pub(crate) fn len(&self) -> usize {
        self.body.instructions.len()
    }

    /// Adds an instruction with a result of type `lane`, or a simpler equivalent, unless an earlier
    /// value equals the result; returns the value. The bits of NaNs from arithmetic may change.
    ///
    /// ```
    /// use indim_codegen::{BodyBuilder, LaneType, Primitive};
    /// use indim_ops::DType;
    /// let mut builder = BodyBuilder::new(vec![DType::I32]);
    /// let x = builder.push(Primitive::Load { input: 0, component: 0 }, LaneType::I32, &[]);
    /// let zero = builder.push(Primitive::Constant(0), LaneType::I32, &[]);
    /// assert_eq!(builder.push(Primitive::Add, LaneType::I32, &[x, zero]), x);
    /// ```
    pub fn push(
        &mut self,
        primitive: Primitive,
        lane: LaneType,
        operands: &[SsaValue],
    ) -> SsaValue {
        let mut array = [SsaValue(0); 3];
        array[..operands.len()].copy_from_slice(operands);
        let mut instruction = SsaInstruction { primitive, lane, operands: array };
        loop {
            instruction = self.with_ordered_operands(instruction);
            if let Some(bits) = self.constant_result(&instruction) {
                return self.value_number(SsaInstruction {
                    primitive: Primitive::Constant(bits),
                    lane,
                    operands: [SsaValue(0); 3],
                });
            }
            match rewrite(self, &instruction) {
                Rewrite::Value(value) => return value,
                // The loop ends: each rewrite gives a simpler instruction.
                Rewrite::Instruction(simpler) => instruction = simpler,
                Rewrite::Unchanged => return self.value_number(instruction),
            }
        }
    }

    /// Adds an input of type `dtype`; returns its lanes.
    pub(crate) fn input(&mut self, dtype: DType) -> [SsaValue; 2] {
        let input = self.body.inputs.len() as u32;
        self.body.inputs.push(dtype);
        let (lane, count) = LaneType::of_element(dtype);
        let mut lanes = [SsaValue(0); 2];
        for (component, value) in lanes[..count].iter_mut().enumerate() {
            *value = self.push(Primitive::Load { input, component: component as u8 }, lane, &[]);
        }
        lanes
    }

    /// The index of a table, which is added if it is new. The search is linear: a body has few tables.
    pub(crate) fn table(&mut self, entries: &[u64]) -> u32 {
        let tables = &mut self.body.tables;
        let found = tables.iter().position(|table| **table == *entries);
        found.unwrap_or_else(|| {
            tables.push(Arc::from(entries));
            tables.len() - 1
        }) as u32
    }

    /// Like [`BodyBuilder::table`], without a copy of the entries.
    pub(crate) fn shared_table(&mut self, table: &Arc<[u64]>) -> u32 {
        let tables = &mut self.body.tables;
        let found = tables.iter().position(|other| Arc::ptr_eq(other, table) || other == table);
        found.unwrap_or_else(|| {
            tables.push(Arc::clone(table));
            tables.len() - 1
        }) as u32
    }

    /// Like [`BodyBuilder::push`], for an instruction of another body on operands of this one.
    pub(crate) fn push_from(
        &mut self,
        body: &Body,
        instruction: &SsaInstruction,
        operands: &[SsaValue],
    ) -> SsaValue {
        let primitive = match instruction.primitive {
            Primitive::Lookup { table } => {
                Primitive::Lookup { table: self.shared_table(&body.tables[table as usize]) }
            }
            primitive => primitive,
        };
        self.push(primitive, instruction.lane, operands)
    }

    /// Inlines `body` on these inputs; returns the lanes of its first output.
    pub(crate) fn inline(&mut self, body: &Body, inputs: &[[SsaValue; 2]]) -> [SsaValue; 2] {
        self.inline_values(body, inputs);
        body.outputs[0].1.map(|lane| self.inlined[lane.index()])
    }

    /// Inlines `body` on these inputs; returns the lanes of all outputs.
    pub(crate) fn inline_all(
        &mut self,
        body: &Body,
        inputs: &[[SsaValue; 2]],
    ) -> Vec<[SsaValue; 2]> {
        self.inline_values(body, inputs);
        let outputs = body.outputs.iter();
        outputs.map(|(_, lanes)| lanes.map(|lane| self.inlined[lane.index()])).collect()
    }

    /// Inlines `body` on these inputs; leaves the value of each instruction of `body` in `inlined`.
    fn inline_values(&mut self, body: &Body, inputs: &[[SsaValue; 2]]) {
        let tables: Vec<u32> = body.tables.iter().map(|table| self.shared_table(table)).collect();
        let mut values = core::mem::take(&mut self.inlined);
        values.clear();
        for instruction in &body.instructions {
            let mut operands = [SsaValue(0); 3];
            for (operand, value) in operands.iter_mut().zip(instruction.operands()) {
                *operand = values[value.index()];
            }
            let operands = &operands[..instruction.operands().len()];
            values.push(match instruction.primitive {
                Primitive::Load { input, component } => {
                    inputs[input as usize][usize::from(component)]
                }
                Primitive::Lookup { table } => {
                    let table = tables[table as usize];
                    self.push(Primitive::Lookup { table }, instruction.lane, operands)
                }
                primitive => self.push(primitive, instruction.lane, operands),
            });
        }
        self.inlined = values;
    }

    /// Adds an output of type `dtype` with these lanes.
    pub fn output(&mut self, dtype: DType, lanes: impl AsRef<[SsaValue]>) {
        let lanes = lanes.as_ref();
        let second = lanes.get(1).copied().unwrap_or(SsaValue(0));
        self.body.outputs.push((dtype, [lanes[0], second]));
    }

    /// Finishes the body.
    pub fn finish(self) -> Body {
        self.body
    }

    /// Value number of an instruction: equal instructions share one.
    fn value_number(&mut self, instruction: SsaInstruction) -> SsaValue {
        let hash = hash(&self.hasher, &instruction);
        let instructions = &mut self.body.instructions;
        let is_same = |known: &SsaValue| instructions[known.index()] == instruction;
        if let Some(&known) = self.numbering.find(hash, is_same) {
            return known;
        }
        let value = SsaValue(instructions.len() as u32);
        instructions.push(instruction);
        let rehash = |known: &SsaValue| self::hash(&self.hasher, &instructions[known.index()]);
        self.numbering.insert_unique(hash, value, rehash);
        value
    }

    /// Puts the two operands that commute in canonical order: a constant comes second, because machine
    /// code can read the second operand from memory; otherwise the earlier value comes first.
    fn with_ordered_operands(&self, mut instruction: SsaInstruction) -> SsaInstruction {
        use Primitive::{Add, And, Equal, Mul, MulAdd, MulHigh, Or, Xor};
        if matches!(instruction.primitive, Add | And | Equal | Mul | MulAdd | MulHigh | Or | Xor) {
            let key = |value: SsaValue| (self.constant_bits(value).is_some(), value);
            let [first, second, _] = instruction.operands;
            if key(second) < key(first) {
                instruction.operands.swap(0, 1);
            }
        }
        instruction
    }

    /// The result of an instruction whose operands are all constants.
    fn constant_result(&self, instruction: &SsaInstruction) -> Option<u64> {
        let last = *instruction.operands().last()?;
        let mut words = [0; 3];
        for (word, &operand) in words.iter_mut().zip(instruction.operands()) {
            *word = self.constant_bits(operand)?;
        }
        let table: &[u64] = match instruction.primitive {
            Primitive::Lookup { table } => &self.body.tables[table as usize],
            _ => &[],
        };
        let operand = self.instruction(last).lane;
        Some(evaluate(instruction.primitive, operand, instruction.lane, words, table))
    }
}

impl Rewriter for BodyBuilder {
    fn instruction(&self, value: SsaValue) -> &SsaInstruction {
        self.body.instruction(value)
    }

    fn push(&mut self, primitive: Primitive, lane: LaneType, operands: &[SsaValue]) -> SsaValue {
        BodyBuilder::push(self, primitive, lane, operands)
    }
}

/// Hashes an instruction as four words; the derived implementation would hash more. Most of the time of
/// recording is hashing.
fn hash(hasher: &RandomState, instruction: &SsaInstruction) -> u64 {
    let [first, second, third] = instruction.operands.map(|operand| u64::from(operand.0));
    let payload = match instruction.primitive {
        Primitive::Constant(bits) => bits,
        Primitive::Load { input, component } => u64::from(input) << 8 | u64::from(component),
        Primitive::Lookup { table } => table.into(),
        _ => 0,
    };
    let mut state = hasher.build_hasher();
    core::mem::discriminant(&instruction.primitive).hash(&mut state);
    state.write_u64(payload);
    state.write_u64(first << 8 | instruction.lane as u64);
    state.write_u64(second << 32 | third);
    state.finish()
}
