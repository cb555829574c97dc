//! Records the instructions of a loop nest as one body.

use indim_graph::Array;
use indim_loops::loop_nest::{
    BufferId, InstructionKind, Local, LoopNest, NestInstruction, NestReduction, Store,
};
use indim_ops::{DType, ReduceOp};

use crate::body::{Body, LaneType, Primitive, SsaValue};
use crate::builder::BodyBuilder;
use crate::definitions::Definition;
use crate::rewriter::Rewriter;

/// Maximum number of instructions of a body. Larger bodies take too much time and memory to compile.
pub const MAX_BODY_INSTRUCTIONS: usize = 1 << 18;

/// The body of a nest, and the nest's value for each input and output.
#[derive(Debug, Clone, PartialEq)]
pub struct NestBody {
    /// The computation at one point.
    pub body: Body,
    /// The nest's value for each input: an access, or an element gathered by a [`InstructionKind::Take`].
    pub inputs: Vec<Local>,
    /// The nest's value for each output, in the order of first stores. A gathered or read value that is
    /// stored unchanged is not an output.
    pub outputs: Vec<Local>,
}

/// Records the computation of a nest's stores. `None` if no store takes a computed value, if the nest
/// computes a gather index itself or runs alone ([`LoopNest::is_standalone`]), or if the body exceeds
/// [`MAX_BODY_INSTRUCTIONS`].
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_codegen::record_nest;
/// use indim_loops::{loop_nest::Local, lower};
/// use indim_ops::DType;
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::I32, [9])?;
/// let nests = lower(&b.finish(&[(&x + 1) * &x])?);
/// let recorded = record_nest(&nests.nests[0]).unwrap();
/// assert_eq!(recorded.outputs, [Local::Instruction(1)]);
/// assert_eq!(recorded.body.interpret(&[[6, 0], [1, 0]]), [[42, 0]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn record_nest(nest: &LoopNest) -> Option<NestBody> {
    record_nest_with_constants(nest, &[])
}

/// Like [`record_nest`], with the graph's constants ([`LoopNests::constants`]): a constant of one element
/// becomes a constant of the body.
///
/// [`LoopNests::constants`]: indim_loops::loop_nest::LoopNests::constants
pub fn record_nest_with_constants(nest: &LoopNest, constants: &[Array]) -> Option<NestBody> {
    let outputs = computed_outputs(nest);
    if outputs.is_empty() || has_computed_gather_index(nest) || nest.is_standalone() {
        return None;
    }
    let mut recorder = record_values(nest, constants, &outputs)?;
    for &output in &outputs {
        let lanes = recorder.lanes(output);
        recorder.builder.output(nest.dtype(output), lanes);
    }
    let (body, remaining) = recorder.builder.finish().simplified().without_unread_inputs();
    let inputs = remaining.into_iter().map(|input| recorder.inputs[input]).collect();
    Some(NestBody { body, inputs, outputs })
}

/// A recorder with the computation of these values; `None` above [`MAX_BODY_INSTRUCTIONS`] instructions.
fn record_values<'a>(
    nest: &'a LoopNest,
    constants: &'a [Array],
    values: &[Local],
) -> Option<NestRecorder<'a>> {
    let is_needed = needed_instructions(nest, values);
    let mut recorder = NestRecorder::new(nest, constants);
    for index in (0..is_needed.len()).filter(|&index| is_needed[index]) {
        recorder.record(index);
        if recorder.builder.len() > MAX_BODY_INSTRUCTIONS {
            return None;
        }
    }
    Some(recorder)
}

/// Records the body that folds each stored value of a nest with a reduced axis into an accumulator
/// ([`Body::with_folds`]). Returns the body, and the nest's value for each input except the accumulators.
///
/// `None` if an element is gathered, a store has no reduction, no body can fold a store
/// ([`Body::with_folds`]), or the computation exceeds [`MAX_BODY_INSTRUCTIONS`].
pub fn record_folds(nest: &LoopNest, constants: &[Array]) -> Option<(Body, Vec<Local>)> {
    if nest.instructions.iter().any(is_gather) {
        return None;
    }
    let sources: Vec<Local> = nest.stores.iter().map(|store| store.source).collect();
    let fold = |store: &Store| store.reduction.map(|NestReduction { op, dtype }| (op, dtype));
    let folds: Vec<(ReduceOp, DType)> = nest.stores.iter().map(fold).collect::<Option<_>>()?;
    let mut recorder = record_values(nest, constants, &sources)?;
    for source in sources {
        let lanes = recorder.lanes(source);
        recorder.builder.output(nest.dtype(source), lanes);
    }
    let (body, remaining) = recorder.builder.finish().with_folds(&folds)?.without_unread_inputs();
    Some((body, remaining.into_iter().map(|input| recorder.inputs[input]).collect()))
}

fn is_gather(instruction: &NestInstruction) -> bool {
    matches!(instruction.kind, InstructionKind::Take { .. })
}

/// Computed values that the nest stores, each once: [`NestBody::outputs`].
fn computed_outputs(nest: &LoopNest) -> Vec<Local> {
    let mut is_output = vec![false; nest.instructions.len()];
    let mut outputs = Vec::new();
    for store in &nest.stores {
        if let Local::Instruction(index) = store.source
            && !is_gather(&nest.instructions[index])
            && !is_output[index]
        {
            is_output[index] = true;
            outputs.push(store.source);
        }
    }
    outputs
}

/// Whether an instruction computes the index of a gather.
fn has_computed_gather_index(nest: &LoopNest) -> bool {
    let is_computed = |local: &Local| matches!(local, Local::Instruction(_));
    nest.instructions
        .iter()
        .filter(|instruction| is_gather(instruction))
        .any(|take| take.operands.iter().any(is_computed))
}

/// For each instruction, whether an output needs it.
fn needed_instructions(nest: &LoopNest, outputs: &[Local]) -> Vec<bool> {
    let mut is_needed = vec![false; nest.instructions.len()];
    let mut next = outputs.to_vec();
    while let Some(local) = next.pop() {
        if let Local::Instruction(index) = local
            && !core::mem::replace(&mut is_needed[index], true)
            && !is_gather(&nest.instructions[index])
        {
            next.extend(&nest.instructions[index].operands);
        }
    }
    is_needed
}

/// The body of a nest under construction.
struct NestRecorder<'a> {
    nest: &'a LoopNest,
    constants: &'a [Array],
    builder: BodyBuilder,
    /// The nest's value for each input so far.
    inputs: Vec<Local>,
    /// Lanes of each visited access.
    accesses: Vec<Option<[SsaValue; 2]>>,
    /// Lanes of each visited instruction.
    instructions: Vec<Option<[SsaValue; 2]>>,
}

impl<'a> NestRecorder<'a> {
    fn new(nest: &'a LoopNest, constants: &'a [Array]) -> Self {
        NestRecorder {
            nest,
            constants,
            builder: BodyBuilder::default(),
            inputs: Vec::new(),
            accesses: vec![None; nest.accesses.len()],
            instructions: vec![None; nest.instructions.len()],
        }
    }

    /// The array of an access, if it is a constant of one element.
    fn constant(&self, local: Local) -> Option<&'a Array> {
        let Local::Access(index) = local else { return None };
        let BufferId::Constant(index) = self.nest.accesses[index].buffer else { return None };
        self.constants.get(index).filter(|constant| constant.element_count() == 1)
    }

    /// Lanes of a value: an earlier result, a constant, or a new input.
    fn lanes(&mut self, local: Local) -> [SsaValue; 2] {
        let constant = self.constant(local);
        let known = match local {
            Local::Access(index) => &mut self.accesses[index],
            Local::Instruction(index) => &mut self.instructions[index],
        };
        *known.get_or_insert_with(|| match constant {
            Some(constant) => constant_lanes(&mut self.builder, constant),
            None => {
                self.inputs.push(local);
                self.builder.input(self.nest.dtype(local))
            }
        })
    }

    /// Records an instruction of the nest. A gather records nothing: its element is an input.
    fn record(&mut self, index: usize) {
        let NestInstruction { kind, operands: sources, operand_dtype, dtype } =
            &self.nest.instructions[index];
        let mut operands = [[SsaValue(0); 2]; 3];
        for (lanes, &operand) in operands.iter_mut().zip(sources) {
            *lanes = self.lanes(operand);
        }
        let definition = match *kind {
            InstructionKind::Elementwise(op) => Definition::Operation(op, *operand_dtype),
            InstructionKind::Convert => Definition::Conversion(*operand_dtype, *dtype),
            InstructionKind::Bitcast => {
                self.instructions[index] = Some(self.bitcast(*dtype, operands[0]));
                return;
            }
            InstructionKind::Take { .. } => return,
            InstructionKind::Standalone(_) => {
                unreachable!("invariant: executors compile no nest that runs alone")
            }
        };
        let body =
            definition.body().expect("invariant: lowering keeps the signatures of operations");
        self.instructions[index] = Some(self.builder.inline(&body, &operands));
    }

    /// A bitcast: one lane as another type, several lanes unchanged.
    fn bitcast(&mut self, dtype: DType, lanes: [SsaValue; 2]) -> [SsaValue; 2] {
        match LaneType::of_element(dtype) {
            (LaneType::Bool, _) | (_, 2..) => lanes,
            (lane, _) => [self.builder.push(Primitive::Bits, lane, &lanes[..1]), SsaValue(0)],
        }
    }
}

/// The lanes of an array of one element.
fn constant_lanes(builder: &mut BodyBuilder, array: &Array) -> [SsaValue; 2] {
    let (lane, count) = LaneType::of_element(array.dtype());
    let mut lanes = [SsaValue(0); 2];
    let bytes = array.to_le_bytes();
    for (value, bytes) in lanes[..count].iter_mut().zip(bytes.chunks(lane.size())) {
        let bits = bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
        *value = builder.constant(lane, bits);
    }
    lanes
}
