//! Elaboration from the syntax tree to a graph. Calls and fusions are inlined with an explicit stack. No
//! computation can call itself, because a callee precedes its callers.

use indim_builder::Value;
use indim_model::{
    FormatError, FormatErrorKind, FormatLimits, Location, ModelBuilder, ModelProgram,
};
use indim_ops::ArrayType;

use super::attribute::Attributes;
use super::gather;
use super::literal;
use super::lowering::{self, ArrayOperation, Lowering};
use super::proto;
use super::reducer;
use super::syntax::{Computation, HloShape, Instruction, Module};
use crate::operation::{Operation, check_type};
use crate::reduction::{ReducedElements, reduce, reduce_by_body};
use crate::sort::{sort, top_k};
use crate::value::{ArrayFact, ArrayValue, XlaValue};

pub(super) type ElaborationResult<T> = Result<T, FormatError>;

/// The builder of one program.
pub(super) struct Elaborator<'m> {
    pub(super) module: &'m Module,
    text: &'m str,
    pub(super) limits: &'m FormatLimits,
    pub(super) model_builder: ModelBuilder,
    /// Frames of the call stack, the innermost last.
    pub(super) frames: Vec<Frame<'m>>,
}

/// A computation during its traversal.
pub(super) struct Frame<'m> {
    pub(super) computation: &'m Computation,
    pub(super) arguments: Vec<XlaValue>,
    /// Results of the instructions so far.
    pub(super) values: Vec<XlaValue>,
    /// In the computation of a map: the shape that replaces its scalars.
    pub(super) map_shape: Option<indim_shape::Shape>,
}

pub(super) fn at(instruction: &Instruction) -> core::ops::Range<usize> {
    instruction.span.start..instruction.span.end
}

pub(super) fn wrong_count(
    what: &'static str,
    expected: impl ToString,
    given: usize,
) -> FormatErrorKind {
    FormatErrorKind::Count { what, expected: expected.to_string(), given }
}

/// The argument of a parameter instruction.
fn argument(instruction: &Instruction, frame: &Frame<'_>) -> Result<XlaValue, FormatErrorKind> {
    let argument = instruction.parameter.and_then(|number| frame.arguments.get(number));
    let expected = frame.computation.parameters.len();
    argument.cloned().ok_or_else(|| wrong_count("operands", expected, frame.arguments.len()))
}

impl<'m> Elaborator<'m> {
    pub(super) fn new(module: &'m Module, text: &'m str, limits: &'m FormatLimits) -> Self {
        Elaborator {
            module,
            text,
            limits,
            model_builder: ModelBuilder::new(limits),
            frames: Vec::new(),
        }
    }

    /// The program of a computation; `names` has one name for each array in its parameters, `outputs` one for
    /// each in its result.
    ///
    /// # Errors
    /// Returns the errors of the computation and of its callees.
    pub(super) fn program(
        mut self,
        entry: usize,
        names: &[String],
        outputs: &[String],
    ) -> ElaborationResult<ModelProgram> {
        let computation = &self.module.computations[entry];
        let mut names = names.iter();
        let mut arguments = Vec::new();
        for &parameter in &computation.parameters {
            let instruction = &computation.instructions[parameter];
            let slot = match &instruction.shape {
                Some(shape) => self.parameter(shape, &mut names),
                None => Err(FormatErrorKind::Unexpected { expected: "a type".to_owned() }),
            };
            arguments.push(slot.map_err(|kind| kind.in_text(at(instruction)))?);
        }
        self.frames.push(Frame { computation, arguments, values: Vec::new(), map_shape: None });
        let result = self.run()?;
        let (mut budget, mut found) = (self.limits.operations, Vec::new());
        result.arrays(&mut budget, &mut found).map_err(FormatErrorKind::without_location)?;
        self.model_builder.finish(outputs.iter().cloned().zip(found).collect(), Vec::new())
    }

    /// Adds a parameter, or one for each array in a tuple. The recursion is bounded by the parser's nesting
    /// limit.
    fn parameter<'n>(
        &self,
        shape: &HloShape,
        names: &mut impl Iterator<Item = &'n String>,
    ) -> Result<XlaValue, FormatErrorKind> {
        match shape {
            HloShape::Array(ArrayType { dtype, shape }, _) => {
                let name = names.next().map_or("", String::as_str);
                Ok(self.model_builder.builder.parameter(name, *dtype, shape.clone())?.into())
            }
            HloShape::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.parameter(part, names));
                XlaValue::tuple(parts.collect::<Result<_, _>>()?)
            }
            HloShape::Dynamic(_) | HloShape::Other(_) => {
                Err(FormatErrorKind::Unsupported { what: "parameters of this type are".to_owned() })
            }
        }
    }

    /// Runs instructions until the first frame has its result.
    pub(super) fn run(&mut self) -> ElaborationResult<XlaValue> {
        // The result of the frame that was popped last, until its caller takes it.
        let mut finished: Option<XlaValue> = None;
        loop {
            let Some(frame) = self.frames.last() else {
                let kind = FormatErrorKind::Unexpected { expected: "a computation".to_owned() };
                return finished.ok_or_else(|| kind.without_location());
            };
            let computation = frame.computation;
            let Some(instruction) = computation.instructions.get(frame.values.len()) else {
                finished = self.frames.pop().map(|frame| frame.values[computation.root].clone());
                continue;
            };
            let result = match finished.take() {
                // The result of the callee.
                Some(result) => Some(result),
                None => {
                    let location = || Location::text(at(instruction));
                    self.model_builder.operation(instruction.span.start, location)?;
                    self.instruction(instruction)?
                }
            };
            if let Some(slot) = result {
                self.check_shape(instruction, &slot)
                    .map_err(|kind| kind.in_text(at(instruction)))?;
                if let Some(frame) = self.frames.last_mut() {
                    frame.values.push(slot);
                }
            }
        }
    }

    /// The result of an instruction; `None` if it pushed a frame for a callee.
    fn instruction(&mut self, instruction: &'m Instruction) -> ElaborationResult<Option<XlaValue>> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let Some(frame) = self.frames.last() else { return Ok(None) };
        let operands: Vec<XlaValue> =
            instruction.operands.iter().map(|&operand| frame.values[operand].clone()).collect();
        let Some(lowering) = Lowering::of(&instruction.opcode) else {
            let what = format!("{} is", instruction.opcode);
            return Err(fail(FormatErrorKind::Unsupported { what }));
        };
        lowering::check_attributes(lowering, instruction, self.text)?;
        let slot = match lowering {
            Lowering::Parameter => argument(instruction, frame).map_err(fail)?,
            Lowering::Constant => self.constant(instruction)?,
            Lowering::Tuple => XlaValue::tuple(operands).map_err(fail)?,
            Lowering::CustomCall if is_top_k(instruction, self.text) => {
                self.top_k(instruction, &operands)?
            }
            Lowering::Same | Lowering::CustomCall => {
                let first = operands.into_iter().next();
                first.ok_or_else(|| fail(wrong_count("operands", "one", 0)))?
            }
            Lowering::GetTupleElement => {
                let index = Attributes { text: self.text, instruction }.integer("index")?;
                let index = usize::try_from(index).unwrap_or(usize::MAX);
                let tuple =
                    operands.first().ok_or_else(|| fail(wrong_count("operands", "one", 0)))?;
                tuple.tuple_element(index).cloned().map_err(fail)?
            }
            Lowering::Call | Lowering::Map => {
                return self.call(instruction, operands, lowering == Lowering::Map).map(|()| None);
            }
            Lowering::Reduce | Lowering::ReduceWindow => {
                self.reduce(instruction, &operands, lowering)?
            }
            Lowering::Scatter => self.scatter(instruction, &operands)?,
            Lowering::SelectAndScatter => self.select_and_scatter(instruction, &operands)?,
            Lowering::TopK => self.top_k(instruction, &operands)?,
            Lowering::Sort => self.sort(instruction, &operands)?,
            Lowering::While => self.while_loop(instruction, &operands)?,
            Lowering::Conditional => self.conditional(instruction, &operands)?,
            Lowering::Bitcast => self.bitcast(instruction, &operands).map_err(fail)?,
            Lowering::Array(shaped) => self.array(instruction, shaped, &operands)?,
        };
        Ok(Some(slot))
    }

    /// The type that a value of the type `stated` has during elaboration: in the computation of a map,
    /// arrays replace scalars.
    fn mapped_type(&self, stated: &ArrayType) -> ArrayType {
        let map_shape = self.frames.last().and_then(|frame| frame.map_shape.as_ref());
        match map_shape {
            Some(shape) if stated.shape.is_scalar() => ArrayType::new(stated.dtype, shape.clone()),
            _ => stated.clone(),
        }
    }

    fn check_shape(
        &self,
        instruction: &Instruction,
        slot: &XlaValue,
    ) -> Result<(), FormatErrorKind> {
        instruction.shape.as_ref().map_or(Ok(()), |shape| self.check_slot(slot, shape))
    }

    /// Checks that a value has the type in the text. The recursion is bounded by the parser's nesting limit.
    fn check_slot(&self, slot: &XlaValue, shape: &HloShape) -> Result<(), FormatErrorKind> {
        match shape {
            HloShape::Array(stated, _) => {
                check_type(&slot.array()?.value, &self.mapped_type(stated))
            }
            HloShape::Tuple(shapes) => {
                let parts = slot.tuple_elements()?;
                if parts.len() != shapes.len() {
                    return Err(wrong_count("parts of a tuple", shapes.len(), parts.len()));
                }
                parts.iter().zip(shapes).try_for_each(|(part, shape)| self.check_slot(part, shape))
            }
            HloShape::Dynamic(_) | HloShape::Other(_) => Ok(()),
        }
    }

    /// Pushes a frame for the callee of an instruction.
    fn call(
        &mut self,
        instruction: &Instruction,
        arguments: Vec<XlaValue>,
        is_map: bool,
    ) -> ElaborationResult<()> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let name = if is_map { "to_apply" } else { "to_apply, or calls," };
        let computation = self.called_computation(instruction, name).map_err(fail)?;
        if computation.parameters.len() != arguments.len() {
            let expected = computation.parameters.len();
            return Err(fail(wrong_count("operands", expected, arguments.len())));
        }
        let mut map_shape = self.frames.last().and_then(|frame| frame.map_shape.clone());
        if is_map && map_shape.is_none() {
            map_shape = Some(self.map_shape(instruction, &arguments)?);
        }
        self.frames.push(Frame { computation, arguments, values: Vec::new(), map_shape });
        Ok(())
    }

    /// The computation that an instruction names by the attribute `name`.
    pub(super) fn called_computation(
        &self,
        instruction: &Instruction,
        name: &str,
    ) -> Result<&'m Computation, FormatErrorKind> {
        let missing = || FormatErrorKind::attribute(name, "is missing");
        instruction.called.map(|number| &self.module.computations[number]).ok_or_else(missing)
    }

    /// The common shape of the operands of a map, which must map over all axes.
    fn map_shape(
        &self,
        instruction: &Instruction,
        operands: &[XlaValue],
    ) -> ElaborationResult<indim_shape::Shape> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let axes = Attributes { text: self.text, instruction }.integers("dimensions")?;
        let mut shape: Option<indim_shape::Shape> = None;
        for operand in operands {
            let value = &operand.array().map_err(fail)?.value;
            let array_type = value.array_type().map_err(|error| fail(error.into()))?;
            let first = shape.get_or_insert_with(|| array_type.shape.clone());
            let expected = ArrayType::new(array_type.dtype, first.clone());
            check_type(value, &expected).map_err(fail)?;
        }
        let shape = shape.ok_or_else(|| fail(wrong_count("operands", "at least one", 0)))?;
        match axes.iter().copied().eq(0..shape.rank() as i64) {
            true => Ok(shape),
            false => Err(fail(FormatErrorKind::attribute("dimensions", "does not name all axes"))),
        }
    }

    fn constant(&mut self, instruction: &Instruction) -> ElaborationResult<XlaValue> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let Some(shape) = &instruction.shape else {
            return Err(fail(FormatErrorKind::Unexpected { expected: "a type".to_owned() }));
        };
        let arrays = match (instruction.content, &instruction.literal) {
            (Some(content), _) => literal::arrays(self.text, content, shape)?,
            (None, Some(literal)) => proto::arrays(literal, shape).map_err(fail)?,
            (None, None) => return Err(fail(FormatErrorKind::Elided { advice: None })),
        };
        let location = || Location::text(at(instruction));
        let mut slots = Vec::new();
        for array in arrays {
            let is_scalar = array.shape().is_scalar();
            let fact = if is_scalar { ArrayFact::Scalar(array.clone()) } else { ArrayFact::None };
            let array_type = array.array_type();
            let map_shape = self.mapped_type(array_type);
            let value = match map_shape == *array_type {
                true => self.model_builder.constant(array, location)?,
                false => {
                    let splat = self.model_builder.splat(array, &map_shape.shape);
                    splat.map_err(|error| fail(error.into()))?
                }
            };
            slots.push(XlaValue::Array(ArrayValue { value, fact }));
        }
        group_into_tuples(shape, &mut slots.into_iter()).map_err(fail)
    }

    fn reduce(
        &mut self,
        instruction: &'m Instruction,
        operands: &[XlaValue],
        lowering: Lowering,
    ) -> ElaborationResult<XlaValue> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let applied = self.called_computation(instruction, "to_apply").map_err(fail)?;
        let attributes = Attributes { text: self.text, instruction };
        let elements = match lowering {
            Lowering::ReduceWindow => ReducedElements::Windows(attributes.window()?),
            _ => ReducedElements::Axes(attributes.integers("dimensions")?),
        };
        let known = XlaValue::all_arrays(operands).map_err(fail)?;
        let b = &self.model_builder.builder;
        let reducer = reducer::of(applied, self.text);
        let results = reducer.map_or(Ok(None), |reducer| reduce(b, &reducer, &known, &elements));
        let results = match results.map_err(fail)? {
            Some(results) => results,
            None => {
                let body = self.reducer_body(instruction, &known)?;
                reduce_by_body(&mut self.model_builder, &body, &known, &elements).map_err(fail)?
            }
        };
        one_or_tuple(results).map_err(fail)
    }

    fn scatter(
        &self,
        instruction: &Instruction,
        operands: &[XlaValue],
    ) -> ElaborationResult<XlaValue> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let applied = self.called_computation(instruction, "to_apply").map_err(fail)?;
        let Some(updates) = reducer::updates_of(applied, self.text) else {
            let what = "a scatter that applies this is".to_owned();
            return Err(fail(FormatErrorKind::Unsupported { what }));
        };
        let scatter = gather::scatter(Attributes { text: self.text, instruction })?;
        let known = XlaValue::all_arrays(operands).map_err(fail)?;
        let builder = &self.model_builder.builder;
        let results = scatter.build(builder, &updates, &known).map_err(fail)?;
        one_or_tuple(results).map_err(fail)
    }

    fn select_and_scatter(
        &self,
        instruction: &Instruction,
        operands: &[XlaValue],
    ) -> ElaborationResult<XlaValue> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let bodies = reducer::select_and_scatter_of(instruction, self.module, self.text);
        let Some(pool) = bodies else {
            let what = "a select-and-scatter that applies these is".to_owned();
            return Err(fail(FormatErrorKind::Unsupported { what }));
        };
        let window = Attributes { text: self.text, instruction }.window()?;
        let known = XlaValue::all_arrays(operands).map_err(fail)?;
        let result = pool.build(&self.model_builder.builder, &known, &window);
        Ok(result.map_err(fail)?.into())
    }

    /// `topk`, or the custom call to which XLA compiles it, in indim's order, as for StableHLO.
    fn top_k(
        &self,
        instruction: &Instruction,
        operands: &[XlaValue],
    ) -> ElaborationResult<XlaValue> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let [operand] = operands else {
            return Err(fail(wrong_count("operands", "one", operands.len())));
        };
        let attributes = Attributes { text: self.text, instruction };
        if attributes.optional("largest").is_some_and(|largest| largest != "true") {
            let what = "a topk of the least elements is".to_owned();
            return Err(fail(FormatErrorKind::Unsupported { what }));
        }
        let count = match &instruction.shape {
            Some(HloShape::Tuple(parts)) => match &parts[..] {
                [HloShape::Array(values, _), _] => values.shape.last().map(|&count| count as i64),
                _ => None,
            },
            _ => None,
        };
        let count = count.map_or_else(|| attributes.integer("k"), Ok)?;
        let results = top_k(&operand.array().map_err(fail)?.value, count).map_err(fail)?;
        one_or_tuple(results.to_vec()).map_err(fail)
    }

    fn sort(
        &self,
        instruction: &Instruction,
        operands: &[XlaValue],
    ) -> ElaborationResult<XlaValue> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let applied = self.called_computation(instruction, "to_apply").map_err(fail)?;
        let Some(comparator) = reducer::comparator_of(applied, self.text, operands.len()) else {
            let what = "a sort that applies this is".to_owned();
            return Err(fail(FormatErrorKind::Unsupported { what }));
        };
        let axes = Attributes { text: self.text, instruction }.integers("dimensions")?;
        let [axis] = axes[..] else {
            return Err(fail(FormatErrorKind::attribute("dimensions", "does not name one axis")));
        };
        let known = XlaValue::all_arrays(operands).map_err(fail)?;
        let b = &self.model_builder.builder;
        let results = sort(b, &comparator, &known, axis).map_err(fail)?;
        one_or_tuple(results).map_err(fail)
    }

    fn bitcast(
        &self,
        instruction: &Instruction,
        operands: &[XlaValue],
    ) -> Result<XlaValue, FormatErrorKind> {
        let ([operand], [number], Some(frame)) =
            (operands, &instruction.operands[..], self.frames.last())
        else {
            return Err(wrong_count("operands", "one", operands.len()));
        };
        let from = &frame.computation.instructions[*number];
        let bitcast = lowering::bitcast(from, instruction)?;
        Ok(bitcast.build(&self.model_builder.builder, &operand.array()?.value)?.into())
    }

    fn array(
        &mut self,
        instruction: &Instruction,
        shaped: ArrayOperation,
        operands: &[XlaValue],
    ) -> ElaborationResult<XlaValue> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let mapped_type = shaped.operation(Attributes { text: self.text, instruction })?;
        self.model_builder.rule(mapped_type.rule());
        let mut values = Vec::with_capacity(operands.len());
        for operand in operands {
            values.push(operand.array().map_err(fail)?.value.clone());
        }
        let stated = match &instruction.shape {
            Some(HloShape::Array(stated, _)) => Some(self.mapped_type(stated)),
            _ => None,
        };
        let value = mapped_type
            .build(&self.model_builder.builder, &values, stated.as_ref())
            .map_err(fail)?;
        let fact = match mapped_type {
            Operation::Iota(axis) => ArrayFact::Iota(axis),
            Operation::HloBroadcast(dims) => ArrayFact::of_broadcast(operands, &dims, &value),
            Operation::Reshape => ArrayFact::of_scalar(operands, &value),
            _ => ArrayFact::None,
        };
        Ok(XlaValue::Array(ArrayValue { value, fact }))
    }
}

/// Whether a custom call is the one to which XLA compiles `topk`.
pub(super) fn is_top_k(instruction: &Instruction, text: &str) -> bool {
    let attributes = Attributes { text, instruction };
    attributes.optional("custom_call_target") == Some("\"TopK\"")
}

/// Groups arrays into the tuples of a type; the recursion is bounded by the parser's nesting limit.
fn group_into_tuples(
    shape: &HloShape,
    arrays: &mut impl Iterator<Item = XlaValue>,
) -> Result<XlaValue, FormatErrorKind> {
    match shape {
        HloShape::Tuple(parts) => {
            let mut slots = Vec::with_capacity(parts.len());
            for part in parts {
                slots.push(group_into_tuples(part, arrays)?);
            }
            XlaValue::tuple(slots)
        }
        _ => arrays.next().ok_or_else(|| wrong_count("arrays", "more", 0)),
    }
}

/// A single result, or the tuple of several.
fn one_or_tuple(results: Vec<Value>) -> Result<XlaValue, FormatErrorKind> {
    let mut results: Vec<XlaValue> = results.into_iter().map(XlaValue::from).collect();
    match results.len() {
        1 => Ok(results.remove(0)),
        _ => XlaValue::tuple(results),
    }
}
