//! From the syntax tree to a graph: calls are replaced by what they call, with a stack of our own, as deep
//! as the calls are.

use std::collections::HashMap;

use indim_builder::Value;
use indim_model::{
    Expectation, FormatError, FormatErrorKind, FormatLimits, Location, ModelBuilder, ModelProgram,
};
use indim_ops::ArrayType;
use indim_shape::Shape;

use super::attribute::Attributes;
use super::meaning::{Meaning, remark_on_attributes};
use super::syntax::{Block, Function, Module, Operation, Results, Signature, Type, Use};
use crate::operation::check_type;
use crate::slot::Slot;

pub(super) type Made<T> = Result<T, FormatError>;

/// A program in the making.
pub(super) struct Elaborator<'m> {
    module: &'m Module,
    pub(super) attributes: Attributes<'m>,
    limits: &'m FormatLimits,
    pub(super) making: ModelBuilder,
    /// What is called, in what, in ...: the innermost last.
    frames: Vec<Frame<'m>>,
    /// Whether a function is one of those.
    is_called: Vec<bool>,
    pub(super) expectations: Vec<(Expectation, Value, Value)>,
}

/// A block that is gone through.
struct Frame<'m> {
    block: &'m Block,
    /// The number of the next operation.
    next: usize,
    values: HashMap<&'m str, Vec<Slot>>,
    /// The operation whose results it gives; none has the entry.
    caller: Option<&'m Operation>,
    /// The function whose body it is; none has the body of a map, which sees the values around it.
    function: Option<usize>,
    /// In the body of a map: the shape of what stands for its scalars.
    lanes: Option<Shape>,
}

pub(super) fn at(operation: &Operation) -> core::ops::Range<usize> {
    operation.span.start..operation.span.end
}

impl<'m> Elaborator<'m> {
    pub(super) fn new(
        module: &'m Module,
        attributes: Attributes<'m>,
        limits: &'m FormatLimits,
    ) -> Self {
        Elaborator {
            module,
            attributes,
            limits,
            making: ModelBuilder::new(limits),
            frames: Vec::new(),
            is_called: vec![false; module.functions.len()],
            expectations: Vec::new(),
        }
    }

    /// The program of a function, whose arguments have these names, one for each array in them.
    ///
    /// # Errors
    /// What is wrong with the function, and with those that it calls.
    pub(super) fn program(
        mut self,
        entry: usize,
        names: &[String],
        outputs: &[String],
    ) -> Made<ModelProgram> {
        let function: &Function = &self.module.functions[entry];
        let mut names = names.iter();
        let mut arguments = Vec::new();
        for argument in function.body.iter().flat_map(|body| &body.arguments) {
            let place = argument.name.start..argument.name.end;
            let slot = self.parameter(&argument.value_type, &mut names);
            arguments.push(slot.map_err(|kind| kind.in_text(place))?);
        }
        self.enter(entry, arguments, None)?;
        let results = self.run()?;
        let mut budget = self.limits.operations;
        let mut found = Vec::new();
        for result in &results {
            result.arrays(&mut budget, &mut found).map_err(FormatErrorKind::nowhere)?;
        }
        let outputs = outputs.iter().cloned().zip(found).collect();
        self.making.finish(outputs, self.expectations)
    }

    /// A parameter, or as many as a tuple has; tuples are nested as deep as the parser allows.
    fn parameter<'n>(
        &self,
        value_type: &Type,
        names: &mut impl Iterator<Item = &'n String>,
    ) -> Result<Slot, FormatErrorKind> {
        match value_type {
            Type::Array(ArrayType { dtype, shape }) => {
                let name = names.next().map_or("", String::as_str);
                Ok(self.making.builder.parameter(name, *dtype, shape.clone())?.into())
            }
            Type::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.parameter(part, names));
                Slot::tuple(parts.collect::<Result<_, _>>()?)
            }
            Type::Dynamic(_) | Type::Other(_) => {
                Err(FormatErrorKind::Unsupported { what: "parameters of this type are".to_owned() })
            }
        }
    }

    /// Goes through operations until the entry returns.
    fn run(&mut self) -> Made<Vec<Slot>> {
        loop {
            let Some(frame) = self.frames.last_mut() else { return Ok(Vec::new()) };
            let block = frame.block;
            let Some(operation) = block.operations.get(frame.next) else {
                let expected = "`return` at the end of the block".to_owned();
                let place = block.end.start..block.end.end;
                return Err(FormatErrorKind::Unexpected { expected }.in_text(place));
            };
            frame.next += 1;
            if let Some(results) = self.operation(operation)? {
                return Ok(results);
            }
        }
    }

    /// Does an operation; that which returns from the entry gives the results.
    fn operation(&mut self, operation: &'m Operation) -> Made<Option<Vec<Slot>>> {
        self.making.operation(operation.span.start, || Location::text(at(operation)))?;
        let operands = self.operands(operation)?;
        let Some(meaning) = Meaning::of(&operation.name) else {
            let what = format!("{} is", operation.name);
            return Err(FormatErrorKind::Unsupported { what }.in_text(at(operation)));
        };
        if let Some(remark) = remark_on_attributes(meaning, operation) {
            self.making.remark(remark);
        }
        let results = match meaning {
            Meaning::Return => return self.leave(operation, operands),
            Meaning::Call => return self.call(operation, "callee", operands).map(|()| None),
            Meaning::Composite => {
                return self.call(operation, "decomposition", operands).map(|()| None);
            }
            Meaning::Map => return self.map(operation, operands).map(|()| None),
            Meaning::Expect(expected) => self.expect(operation, expected, &operands, false)?,
            Meaning::CustomCall => self.custom_call(operation, operands)?,
            Meaning::Same => operands,
            Meaning::Tuple => {
                vec![Slot::tuple(operands).map_err(|kind| kind.in_text(at(operation)))?]
            }
            Meaning::GetTupleElement => vec![self.part(operation, &operands)?],
            Meaning::Constant => vec![self.constant(operation)?],
            Meaning::ConstantLike => vec![self.constant_like(operation, &operands)?],
            Meaning::Reduce => self.reduce(operation, &operands)?,
            Meaning::Array(shaped) => vec![self.array(operation, shaped, &operands)?],
        };
        self.define(operation, results)?;
        Ok(None)
    }

    /// The values of the operands, which are of the types that the operation says.
    fn operands(&self, operation: &'m Operation) -> Made<Vec<Slot>> {
        let mut operands = Vec::with_capacity(operation.operands.len());
        for operand in &operation.operands {
            operands.push(self.value(*operand)?);
        }
        if let Signature::Function(types, _) = &operation.signature {
            self.check_types(operation, "operands", &operands, types.iter())?;
        }
        Ok(operands)
    }

    fn value(&self, operand: Use) -> Made<Slot> {
        let name = operand.name.of(self.attributes.text);
        for frame in self.frames.iter().rev() {
            if let Some(slots) = frame.values.get(name) {
                if let Some(slot) = slots.get(operand.index) {
                    return Ok(slot.clone());
                }
                break;
            }
            if frame.function.is_some() {
                break;
            }
        }
        let name = match operand.index {
            0 => name.to_owned(),
            index => format!("{name}#{index}"),
        };
        let kind = FormatErrorKind::Undefined { what: "value", name };
        Err(kind.in_text(operand.name.start..operand.name.end))
    }

    pub(super) fn lanes(&self) -> Option<&Shape> {
        self.frames.last()?.lanes.as_ref()
    }

    /// The type as the program means it: in the body of a map, scalars are all elements at once.
    pub(super) fn meant(&self, stated: &ArrayType) -> ArrayType {
        match self.lanes() {
            Some(shape) if stated.shape.is_scalar() => ArrayType::new(stated.dtype, shape.clone()),
            _ => stated.clone(),
        }
    }

    fn check_types<'t>(
        &self,
        operation: &Operation,
        what: &'static str,
        slots: &[Slot],
        types: impl ExactSizeIterator<Item = &'t Type>,
    ) -> Made<()> {
        if slots.len() != types.len() {
            let (expected, given) = (types.len().to_string(), slots.len());
            let kind = FormatErrorKind::Count { what, expected, given };
            return Err(kind.in_text(at(operation)));
        }
        for (slot, value_type) in slots.iter().zip(types) {
            self.check_slot(slot, value_type).map_err(|kind| kind.in_text(at(operation)))?;
        }
        Ok(())
    }

    /// Types of tuples are nested as deep as the parser allows.
    fn check_slot(&self, slot: &Slot, value_type: &Type) -> Result<(), FormatErrorKind> {
        match value_type {
            Type::Array(stated) => check_type(&slot.array()?.value, &self.meant(stated)),
            Type::Tuple(types) => {
                let parts = slot.parts()?;
                if parts.len() != types.len() {
                    let (expected, given) = (types.len().to_string(), parts.len());
                    return Err(FormatErrorKind::Count {
                        what: "parts of a tuple",
                        expected,
                        given,
                    });
                }
                parts.iter().zip(types).try_for_each(|(part, value)| self.check_slot(part, value))
            }
            Type::Dynamic(_) | Type::Other(_) => Ok(()),
        }
    }

    /// Names the results of an operation, which are of the types that it says.
    fn define(&mut self, operation: &'m Operation, slots: Vec<Slot>) -> Made<()> {
        match &operation.signature {
            Signature::Function(_, types) => {
                self.check_types(operation, "results", &slots, types.iter())?;
            }
            Signature::List(types) if slots.len() == 1 && types.len() != 1 => {
                self.check_types(operation, "results", &slots, types[types.len() - 1..].iter())?;
            }
            Signature::List(types) if !slots.is_empty() => {
                self.check_types(operation, "results", &slots, types.iter())?;
            }
            Signature::List(_) | Signature::None => {}
        }
        let named: usize = operation.results.iter().map(|results| results.count).sum();
        if named != 0 && named != slots.len() {
            let (expected, given) = (slots.len().to_string(), named);
            let kind = FormatErrorKind::Count { what: "results", expected, given };
            return Err(kind.in_text(at(operation)));
        }
        let mut slots = slots.into_iter();
        for results in &operation.results {
            let group = slots.by_ref().take(results.count).collect();
            self.name(*results, group)?;
        }
        Ok(())
    }

    fn name(&mut self, results: Results, slots: Vec<Slot>) -> Made<()> {
        let name = results.name.of(self.attributes.text);
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        if frame.values.insert(name, slots).is_some() {
            let kind = FormatErrorKind::Duplicate { what: "value", name: name.to_owned() };
            return Err(kind.in_text(results.name.start..results.name.end));
        }
        Ok(())
    }

    /// Begins the body of a function.
    fn enter(
        &mut self,
        number: usize,
        arguments: Vec<Slot>,
        caller: Option<&'m Operation>,
    ) -> Made<()> {
        let function: &'m Function = &self.module.functions[number];
        let span = caller.map_or(function.span, |caller| caller.span);
        let place = span.start..span.end;
        let Some(block) = &function.body else {
            let what = format!("calls of @{}, which has no body, are", function.name);
            return Err(FormatErrorKind::Unsupported { what }.in_text(place));
        };
        if core::mem::replace(&mut self.is_called[number], true) {
            let name = format!("@{}", function.name);
            return Err(FormatErrorKind::Cycle { name }.in_text(place));
        }
        let lanes = self.lanes().cloned();
        if let Some(caller) = caller {
            let types = block.arguments.iter().map(|argument| &argument.value_type);
            self.check_types(caller, "operands", &arguments, types)?;
        }
        self.push(block, arguments, caller, Some(number), lanes)
    }

    fn push(
        &mut self,
        block: &'m Block,
        arguments: Vec<Slot>,
        caller: Option<&'m Operation>,
        function: Option<usize>,
        lanes: Option<Shape>,
    ) -> Made<()> {
        let values = HashMap::new();
        self.frames.push(Frame { block, next: 0, values, caller, function, lanes });
        for (argument, slot) in block.arguments.iter().zip(arguments) {
            self.name(Results { name: argument.name, count: 1 }, vec![slot])?;
        }
        Ok(())
    }

    fn call(&mut self, operation: &'m Operation, name: &str, operands: Vec<Slot>) -> Made<()> {
        let span = self.attributes.required(operation, name)?;
        let callee = self.attributes.name(span);
        let Some(number) = self.module.function(&callee) else {
            let kind = FormatErrorKind::Undefined { what: "function", name: format!("@{callee}") };
            return Err(kind.in_text(span.start..span.end));
        };
        self.enter(number, operands, Some(operation))
    }

    /// The body of a map, done to all elements at once.
    fn map(&mut self, operation: &'m Operation, operands: Vec<Slot>) -> Made<()> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        let ([block], Some(first)) = (&operation.regions[..], operands.first()) else {
            let kind = FormatErrorKind::Count {
                what: "regions or operands",
                expected: "one region, and operands,".to_owned(),
                given: operation.regions.len(),
            };
            return Err(fail(kind));
        };
        let first = first.array().map_err(fail)?.value.array_type();
        let shape = first.map_err(|error| fail(error.into()))?.shape;
        let axes = self.attributes.integers(operation, "dimensions")?;
        let is_all = axes.iter().copied().eq(0..shape.rank() as i64);
        if !is_all && self.lanes().is_none() {
            return Err(fail(FormatErrorKind::attribute("dimensions", "does not name all axes")));
        }
        for operand in &operands {
            let value = &operand.array().map_err(fail)?.value;
            let dtype = value.array_type().map_err(|error| fail(error.into()))?.dtype;
            check_type(value, &ArrayType::new(dtype, shape.clone())).map_err(fail)?;
        }
        if block.arguments.len() != operands.len() {
            let (what, given) = ("arguments of the body", block.arguments.len());
            let expected = operands.len().to_string();
            return Err(fail(FormatErrorKind::Count { what, expected, given }));
        }
        self.push(block, operands, Some(operation), None, Some(shape))
    }

    /// Ends a block: what it returns are the results of whoever called it.
    fn leave(&mut self, operation: &'m Operation, slots: Vec<Slot>) -> Made<Option<Vec<Slot>>> {
        if let Signature::List(types) = &operation.signature {
            self.check_types(operation, "results", &slots, types.iter())?;
        }
        let function = self.frames.last().and_then(|frame| frame.function);
        if let Some(number) = function {
            let results = &self.module.functions[number].results;
            let types = results.iter().map(|result| &result.value_type);
            self.check_types(operation, "results", &slots, types)?;
            self.is_called[number] = false;
        }
        match self.frames.pop().and_then(|frame| frame.caller) {
            Some(caller) => self.define(caller, slots).map(|()| None),
            None => Ok(Some(slots)),
        }
    }
}
