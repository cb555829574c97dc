//! From the syntax tree to a graph: what is called stands in place of calls and fusions, with a stack of
//! our own. Nothing calls itself: what is called stands above.

use indim_builder::Value;
use indim_model::{
    FormatError, FormatErrorKind, FormatLimits, Location, ModelBuilder, ModelProgram,
};
use indim_ops::ArrayType;

use super::attribute::Attributes;
use super::literal;
use super::meaning::{self, Meaning, Shaped};
use super::proto;
use super::reducer;
use super::syntax::{Computation, Instruction, Module, Shape};
use crate::operation::{Operation, check_type};
use crate::reduction::reduce;
use crate::slot::{Fact, Known, Slot};

type Made<T> = Result<T, FormatError>;

/// A program in the making.
pub(super) struct Elaborator<'m> {
    module: &'m Module,
    text: &'m str,
    limits: &'m FormatLimits,
    making: ModelBuilder,
    /// What is called, in what, in ...: the innermost last.
    frames: Vec<Frame<'m>>,
}

/// A computation that is gone through.
struct Frame<'m> {
    computation: &'m Computation,
    arguments: Vec<Slot>,
    /// The results so far.
    values: Vec<Slot>,
    /// In what a map applies: the shape of what stands for its scalars.
    lanes: Option<indim_shape::Shape>,
}

fn at(instruction: &Instruction) -> core::ops::Range<usize> {
    instruction.span.start..instruction.span.end
}

fn wrong_count(what: &'static str, expected: impl ToString, given: usize) -> FormatErrorKind {
    FormatErrorKind::Count { what, expected: expected.to_string(), given }
}

impl<'m> Elaborator<'m> {
    pub(super) fn new(module: &'m Module, text: &'m str, limits: &'m FormatLimits) -> Self {
        Elaborator { module, text, limits, making: ModelBuilder::new(limits), frames: Vec::new() }
    }

    /// The program of a computation, whose parameters have these names, one for each array in them.
    ///
    /// # Errors
    /// What is wrong with the computation, and with those that it calls.
    pub(super) fn program(mut self, entry: usize, names: &[String]) -> Made<ModelProgram> {
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
        self.frames.push(Frame { computation, arguments, values: Vec::new(), lanes: None });
        let result = self.run()?;
        let (mut budget, mut found) = (self.limits.operations, Vec::new());
        result.arrays(&mut budget, &mut found).map_err(FormatErrorKind::nowhere)?;
        let name = |(number, value): (usize, Value)| (format!("output{number}"), value);
        self.making.finish(found.into_iter().enumerate().map(name).collect(), Vec::new())
    }

    /// A parameter, or as many as a tuple has; tuples are nested as deep as the parser allows.
    fn parameter<'n>(
        &self,
        shape: &Shape,
        names: &mut impl Iterator<Item = &'n String>,
    ) -> Result<Slot, FormatErrorKind> {
        match shape {
            Shape::Array(ArrayType { dtype, shape }, _) => {
                let name = names.next().map_or("", String::as_str);
                Ok(self.making.builder.parameter(name, *dtype, shape.clone())?.into())
            }
            Shape::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.parameter(part, names));
                Slot::tuple(parts.collect::<Result<_, _>>()?)
            }
            Shape::Dynamic(_) | Shape::Other(_) => {
                Err(FormatErrorKind::Unsupported { what: "parameters of this type are".to_owned() })
            }
        }
    }

    /// Goes through instructions until the entry has its result.
    fn run(&mut self) -> Made<Slot> {
        let mut finished: Option<Slot> = None;
        loop {
            let Some(frame) = self.frames.last() else {
                let kind = FormatErrorKind::Unexpected { expected: "a computation".to_owned() };
                return finished.ok_or_else(|| kind.nowhere());
            };
            let computation = frame.computation;
            let Some(instruction) = computation.instructions.get(frame.values.len()) else {
                finished = self.frames.pop().map(|frame| frame.values[computation.root].clone());
                continue;
            };
            let result = match finished.take() {
                // What the instruction called is finished.
                Some(result) => Some(result),
                None => {
                    let place = || Location::text(at(instruction));
                    self.making.operation(instruction.span.start, place)?;
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

    /// The result of an instruction; nothing where a computation is called for it.
    fn instruction(&mut self, instruction: &'m Instruction) -> Made<Option<Slot>> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let Some(frame) = self.frames.last() else { return Ok(None) };
        let operands: Vec<Slot> =
            instruction.operands.iter().map(|&operand| frame.values[operand].clone()).collect();
        let Some(meaning) = Meaning::of(&instruction.opcode) else {
            let what = format!("{} is", instruction.opcode);
            return Err(fail(FormatErrorKind::Unsupported { what }));
        };
        meaning::check_attributes(meaning, instruction, self.text)?;
        let slot = match meaning {
            Meaning::Parameter => self.argument(instruction, frame).map_err(fail)?,
            Meaning::Constant => self.constant(instruction)?,
            Meaning::Tuple => Slot::tuple(operands).map_err(fail)?,
            Meaning::Same | Meaning::CustomCall => {
                let first = operands.into_iter().next();
                first.ok_or_else(|| fail(wrong_count("operands", "one", 0)))?
            }
            Meaning::GetTupleElement => {
                let index = Attributes { text: self.text, instruction }.integer("index")?;
                let index = usize::try_from(index).unwrap_or(usize::MAX);
                let tuple =
                    operands.first().ok_or_else(|| fail(wrong_count("operands", "one", 0)))?;
                tuple.part(index).cloned().map_err(fail)?
            }
            Meaning::Call | Meaning::Map => {
                return self.call(instruction, operands, meaning == Meaning::Map).map(|()| None);
            }
            Meaning::Reduce => self.reduce(instruction, &operands)?,
            Meaning::Bitcast => self.bitcast(instruction, &operands).map_err(fail)?,
            Meaning::Array(shaped) => self.array(instruction, shaped, &operands)?,
        };
        Ok(Some(slot))
    }

    fn argument(
        &self,
        instruction: &Instruction,
        frame: &Frame<'m>,
    ) -> Result<Slot, FormatErrorKind> {
        let number = instruction.content.and_then(|span| span.of(self.text).trim().parse().ok());
        let argument = number.and_then(|number: usize| frame.arguments.get(number));
        let given = frame.arguments.len();
        argument
            .cloned()
            .ok_or_else(|| wrong_count("operands", frame.computation.parameters.len(), given))
    }

    /// The type as the program means it: in what a map applies, scalars are all elements at once.
    fn meant(&self, stated: &ArrayType) -> ArrayType {
        let lanes = self.frames.last().and_then(|frame| frame.lanes.as_ref());
        match lanes {
            Some(shape) if stated.shape.is_scalar() => ArrayType::new(stated.dtype, shape.clone()),
            _ => stated.clone(),
        }
    }

    fn check_shape(&self, instruction: &Instruction, slot: &Slot) -> Result<(), FormatErrorKind> {
        instruction.shape.as_ref().map_or(Ok(()), |shape| self.check_slot(slot, shape))
    }

    /// Types are nested as deep as the parser allows.
    fn check_slot(&self, slot: &Slot, shape: &Shape) -> Result<(), FormatErrorKind> {
        match shape {
            Shape::Array(stated, _) => check_type(&slot.array()?.value, &self.meant(stated)),
            Shape::Tuple(shapes) => {
                let parts = slot.parts()?;
                if parts.len() != shapes.len() {
                    return Err(wrong_count("parts of a tuple", shapes.len(), parts.len()));
                }
                parts.iter().zip(shapes).try_for_each(|(part, shape)| self.check_slot(part, shape))
            }
            Shape::Dynamic(_) | Shape::Other(_) => Ok(()),
        }
    }

    /// Begins what an instruction calls.
    fn call(&mut self, instruction: &Instruction, arguments: Vec<Slot>, is_map: bool) -> Made<()> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let Some(called) = instruction.called else {
            let name = if is_map { "to_apply" } else { "to_apply, or calls," };
            return Err(fail(FormatErrorKind::attribute(name, "is missing")));
        };
        let computation = &self.module.computations[called];
        if computation.parameters.len() != arguments.len() {
            let expected = computation.parameters.len();
            return Err(fail(wrong_count("operands", expected, arguments.len())));
        }
        let mut lanes = self.frames.last().and_then(|frame| frame.lanes.clone());
        if is_map && lanes.is_none() {
            lanes = Some(self.lanes(instruction, &arguments)?);
        }
        self.frames.push(Frame { computation, arguments, values: Vec::new(), lanes });
        Ok(())
    }

    /// The one shape of what a map is applied to, all of whose axes it names.
    fn lanes(&self, instruction: &Instruction, operands: &[Slot]) -> Made<indim_shape::Shape> {
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

    fn constant(&mut self, instruction: &Instruction) -> Made<Slot> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let Some(shape) = &instruction.shape else {
            return Err(fail(FormatErrorKind::Unexpected { expected: "a type".to_owned() }));
        };
        let arrays = match (instruction.content, &instruction.literal) {
            (Some(content), _) => literal::arrays(self.text, content, shape)?,
            (None, Some(literal)) => proto::arrays(literal, shape).map_err(fail)?,
            (None, None) => return Err(fail(FormatErrorKind::Elided { advice: None })),
        };
        let place = || Location::text(at(instruction));
        let mut slots = Vec::new();
        for array in arrays {
            let is_scalar = array.shape().is_scalar();
            let fact = if is_scalar { Fact::Scalar(array.clone()) } else { Fact::None };
            let array_type = array.array_type();
            let lanes = self.meant(&array_type);
            let value = match lanes == array_type {
                true => self.making.constant(array, place)?,
                false => {
                    let splat = self.making.splat(array, &lanes.shape);
                    splat.map_err(|error| fail(error.into()))?
                }
            };
            slots.push(Slot::Array(Known { value, fact }));
        }
        grouped(shape, &mut slots.into_iter()).map_err(fail)
    }

    fn reduce(&self, instruction: &Instruction, operands: &[Slot]) -> Made<Slot> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let Some(called) = instruction.called else {
            return Err(fail(FormatErrorKind::attribute("to_apply", "is missing")));
        };
        let Some(reducer) = reducer::of(&self.module.computations[called], self.text) else {
            let what = "a reduction that applies this is".to_owned();
            return Err(fail(FormatErrorKind::Unsupported { what }));
        };
        let axes = Attributes { text: self.text, instruction }.integers("dimensions")?;
        let known: Result<Vec<Known>, _> = operands.iter().map(|o| o.array().cloned()).collect();
        let results = reduce(&self.making.builder, &reducer, &known.map_err(fail)?, &axes);
        let mut results: Vec<Slot> = results.map_err(fail)?.into_iter().map(Slot::from).collect();
        match results.len() {
            1 => Ok(results.remove(0)),
            _ => Slot::tuple(results).map_err(fail),
        }
    }

    fn bitcast(
        &self,
        instruction: &Instruction,
        operands: &[Slot],
    ) -> Result<Slot, FormatErrorKind> {
        let ([operand], [number], Some(frame)) =
            (operands, &instruction.operands[..], self.frames.last())
        else {
            return Err(wrong_count("operands", "one", operands.len()));
        };
        let from = &frame.computation.instructions[*number];
        let bitcast = meaning::bitcast(from, instruction)?;
        Ok(bitcast.build(&self.making.builder, &operand.array()?.value)?.into())
    }

    fn array(
        &mut self,
        instruction: &Instruction,
        shaped: Shaped,
        operands: &[Slot],
    ) -> Made<Slot> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let meant = shaped.operation(Attributes { text: self.text, instruction })?;
        self.making.rule(meant.rule());
        let mut values = Vec::with_capacity(operands.len());
        for operand in operands {
            values.push(operand.array().map_err(fail)?.value.clone());
        }
        let stated = match &instruction.shape {
            Some(Shape::Array(stated, _)) => Some(self.meant(stated)),
            _ => None,
        };
        let value = meant.build(&self.making.builder, &values, stated.as_ref()).map_err(fail)?;
        let fact = match meant {
            Operation::Iota(axis) => Fact::Iota(axis),
            _ => Fact::None,
        };
        Ok(Slot::Array(Known { value, fact }))
    }
}

/// Arrays as the parts of a type, which is nested as deep as the parser allows.
fn grouped(
    shape: &Shape,
    arrays: &mut impl Iterator<Item = Slot>,
) -> Result<Slot, FormatErrorKind> {
    match shape {
        Shape::Tuple(parts) => {
            let mut slots = Vec::with_capacity(parts.len());
            for part in parts {
                slots.push(grouped(part, arrays)?);
            }
            Slot::tuple(slots)
        }
        _ => arrays.next().ok_or_else(|| wrong_count("arrays", "more", 0)),
    }
}
