//! Elaboration from the syntax tree to a graph. Calls are inlined with an explicit stack instead of
//! recursion.

use std::collections::HashMap;

use indim_builder::Value;
use indim_model::{
    Expectation, FormatError, FormatErrorKind, FormatLimits, Location, ModelBuilder, ModelProgram,
};
use indim_ops::ArrayType;
use indim_shape::Shape;

use super::attribute::AttributeReader;
use super::lowering::{Lowering, remark_on_attributes};
use super::syntax::{
    Block, Function, Module, ResultNames, Signature, SyntaxOperation, Type, ValueUse,
};
use indim_xla::operation::check_type;
use indim_xla::value::XlaValue;

pub(super) type ElaborationResult<T> = Result<T, FormatError>;

/// The builder of one program.
pub(super) struct Elaborator<'m> {
    pub(super) module: &'m Module,
    pub(super) attributes: AttributeReader<'m>,
    limits: &'m FormatLimits,
    pub(super) model_builder: ModelBuilder,
    /// Frames of the call stack, the innermost last.
    frames: Vec<Frame<'m>>,
    /// Whether each function is on the stack.
    is_called: Vec<bool>,
    pub(super) expectations: Vec<(Expectation, Value, Value)>,
}

/// A block during its traversal.
struct Frame<'m> {
    block: &'m Block,
    /// Index of the next operation.
    next: usize,
    values: HashMap<&'m str, Vec<XlaValue>>,
    /// The calling operation; `None` for the entry, and for the region of a loop or branch.
    caller: Option<&'m SyntaxOperation>,
    /// The function with this body; `None` for the body of a map, and for the region of a loop or branch,
    /// which also see the values around them.
    function: Option<usize>,
    /// In the body of a map: the shape that replaces its scalars.
    map_shape: Option<Shape>,
}

pub(super) fn at(operation: &SyntaxOperation) -> core::ops::Range<usize> {
    operation.span.start..operation.span.end
}

impl<'m> Elaborator<'m> {
    pub(super) fn new(
        module: &'m Module,
        attributes: AttributeReader<'m>,
        limits: &'m FormatLimits,
    ) -> Self {
        Elaborator {
            module,
            attributes,
            limits,
            model_builder: ModelBuilder::new(limits),
            frames: Vec::new(),
            is_called: vec![false; module.functions.len()],
            expectations: Vec::new(),
        }
    }

    /// The program of a function; `names` has one name for each array in its arguments, `outputs` one
    /// for each array in its results.
    ///
    /// # Errors
    /// Returns the errors of the function and of its callees.
    pub(super) fn program(
        mut self,
        entry: usize,
        names: &[String],
        outputs: &[String],
    ) -> ElaborationResult<ModelProgram> {
        let function: &Function = &self.module.functions[entry];
        let mut names = names.iter();
        let mut arguments = Vec::new();
        for argument in function.body.iter().flat_map(|body| &body.arguments) {
            let range = argument.name.start..argument.name.end;
            let slot = self.parameter(&argument.value_type, &mut names);
            arguments.push(slot.map_err(|kind| kind.in_text(range))?);
        }
        self.enter(entry, arguments, None)?;
        let results = self.run()?;
        let mut budget = self.limits.operations;
        let mut found = Vec::new();
        for result in &results {
            result.arrays(&mut budget, &mut found).map_err(FormatErrorKind::without_location)?;
        }
        let outputs = outputs.iter().cloned().zip(found).collect();
        self.model_builder.finish(outputs, self.expectations)
    }

    /// Adds a parameter, or one for each array in a tuple. The recursion is bounded by the parser's nesting
    /// limit.
    fn parameter<'n>(
        &self,
        value_type: &Type,
        names: &mut impl Iterator<Item = &'n String>,
    ) -> Result<XlaValue, FormatErrorKind> {
        match value_type {
            Type::Array(ArrayType { dtype, shape }) => {
                let name = names.next().map_or("", String::as_str);
                Ok(self.model_builder.builder.parameter(name, *dtype, shape.clone())?.into())
            }
            Type::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.parameter(part, names));
                XlaValue::tuple(parts.collect::<Result<_, _>>()?)
            }
            Type::Dynamic(_) | Type::Other(_) => {
                Err(FormatErrorKind::Unsupported { what: "parameters of this type are".to_owned() })
            }
        }
    }

    /// Runs operations until the innermost frame without a caller returns.
    pub(super) fn run(&mut self) -> ElaborationResult<Vec<XlaValue>> {
        loop {
            let Some(frame) = self.frames.last_mut() else { return Ok(Vec::new()) };
            let block = frame.block;
            let Some(operation) = block.operations.get(frame.next) else {
                let expected = "`return` at the end of the block".to_owned();
                let range = block.end.start..block.end.end;
                return Err(FormatErrorKind::Unexpected { expected }.in_text(range));
            };
            frame.next += 1;
            if let Some(results) = self.operation(operation)? {
                return Ok(results);
            }
        }
    }

    /// Executes an operation. Returns the results of a frame without a caller when the operation returns
    /// from it.
    fn operation(
        &mut self,
        operation: &'m SyntaxOperation,
    ) -> ElaborationResult<Option<Vec<XlaValue>>> {
        self.model_builder.operation(operation.span.start, || Location::text(at(operation)))?;
        let operands = self.operands(operation)?;
        let Some(lowering) = Lowering::of(&operation.name) else {
            let what = format!("{} is", operation.name);
            return Err(FormatErrorKind::Unsupported { what }.in_text(at(operation)));
        };
        if let Some(remark) = remark_on_attributes(lowering, operation) {
            self.model_builder.remark(remark);
        }
        let results = match lowering {
            Lowering::Return => return self.leave(operation, operands),
            Lowering::Call => return self.call(operation, "callee", operands).map(|()| None),
            Lowering::Composite => {
                return self.call(operation, "decomposition", operands).map(|()| None);
            }
            Lowering::Map => return self.map(operation, operands).map(|()| None),
            Lowering::Expect(expected) => self.expect(operation, expected, &operands, false)?,
            Lowering::CustomCall => self.custom_call(operation, operands)?,
            Lowering::Same => operands,
            Lowering::Tuple => {
                vec![XlaValue::tuple(operands).map_err(|kind| kind.in_text(at(operation)))?]
            }
            Lowering::GetTupleElement => vec![self.tuple_element(operation, &operands)?],
            Lowering::Constant => vec![self.constant(operation)?],
            Lowering::ConstantLike => vec![self.constant_like(operation, &operands)?],
            Lowering::Reduce | Lowering::ReduceWindow => {
                self.reduce(operation, &operands, lowering == Lowering::ReduceWindow)?
            }
            Lowering::Scatter => self.scatter(operation, &operands)?,
            Lowering::SelectAndScatter => vec![self.select_and_scatter(operation, &operands)?],
            Lowering::Sort => self.sort(operation, &operands)?,
            Lowering::While => self.while_loop(operation, &operands)?,
            Lowering::Case | Lowering::If => {
                self.conditional(operation, &operands, lowering == Lowering::If)?
            }
            Lowering::TopK => self.top_k(operation, &operands)?,
            Lowering::Array(shaped) => vec![self.array(operation, shaped, &operands)?],
        };
        self.define(operation, results)?;
        Ok(None)
    }

    /// The values of the operands, checked against the types in the operation.
    fn operands(&self, operation: &'m SyntaxOperation) -> ElaborationResult<Vec<XlaValue>> {
        let mut operands = Vec::with_capacity(operation.operands.len());
        let mut budget = self.limits.operations;
        for operand in &operation.operands {
            let value = self.value(*operand)?;
            operands.push(match self.model_builder.is_in_region() {
                true => {
                    let local = value.local(&self.model_builder.builder, &mut budget);
                    local.map_err(|kind| kind.in_text(at(operation)))?
                }
                false => value,
            });
        }
        if let Signature::Function(types, _) = &operation.signature {
            self.check_types(operation, "operands", &operands, types.iter())?;
        }
        Ok(operands)
    }

    /// The value of an operand. The search goes outwards from the innermost frame, and ends with the
    /// body of a function.
    fn value(&self, operand: ValueUse) -> ElaborationResult<XlaValue> {
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

    pub(super) fn map_shape(&self) -> Option<&Shape> {
        self.frames.last()?.map_shape.as_ref()
    }

    /// The type that a value of the type `stated` has during elaboration: in the body of a map, arrays
    /// replace scalars.
    pub(super) fn mapped_type(&self, stated: &ArrayType) -> ArrayType {
        match self.map_shape() {
            Some(shape) if stated.shape.is_scalar() => ArrayType::new(stated.dtype, shape.clone()),
            _ => stated.clone(),
        }
    }

    fn check_types<'t>(
        &self,
        operation: &SyntaxOperation,
        what: &'static str,
        slots: &[XlaValue],
        types: impl ExactSizeIterator<Item = &'t Type>,
    ) -> ElaborationResult<()> {
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

    /// Checks that a value has the type in the text. The recursion is bounded by the parser's nesting limit.
    fn check_slot(&self, slot: &XlaValue, value_type: &Type) -> Result<(), FormatErrorKind> {
        match value_type {
            Type::Array(stated) => check_type(&slot.array()?.value, &self.mapped_type(stated)),
            Type::Tuple(types) => {
                let parts = slot.tuple_elements()?;
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

    /// Binds the results of an operation to their names, checked against the types in the operation.
    fn define(
        &mut self,
        operation: &'m SyntaxOperation,
        slots: Vec<XlaValue>,
    ) -> ElaborationResult<()> {
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

    /// Binds results to their common name in the innermost frame.
    fn name(&mut self, results: ResultNames, slots: Vec<XlaValue>) -> ElaborationResult<()> {
        let name = results.name.of(self.attributes.text);
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        if frame.values.insert(name, slots).is_some() {
            let kind = FormatErrorKind::Duplicate { what: "value", name: name.to_owned() };
            return Err(kind.in_text(results.name.start..results.name.end));
        }
        Ok(())
    }

    /// Pushes a frame for the body of a function.
    fn enter(
        &mut self,
        number: usize,
        arguments: Vec<XlaValue>,
        caller: Option<&'m SyntaxOperation>,
    ) -> ElaborationResult<()> {
        let function: &'m Function = &self.module.functions[number];
        let span = caller.map_or(function.span, |caller| caller.span);
        let range = span.start..span.end;
        let Some(block) = &function.body else {
            let what = format!("calls of @{}, which has no body, are", function.name);
            return Err(FormatErrorKind::Unsupported { what }.in_text(range));
        };
        if core::mem::replace(&mut self.is_called[number], true) {
            let name = format!("@{}", function.name);
            return Err(FormatErrorKind::Cycle { name }.in_text(range));
        }
        let map_shape = self.map_shape().cloned();
        if let Some(caller) = caller {
            let types = block.arguments.iter().map(|argument| &argument.value_type);
            self.check_types(caller, "operands", &arguments, types)?;
        }
        self.push(block, arguments, caller, Some(number), map_shape)
    }

    /// Pushes a frame for a block, with its arguments bound.
    pub(super) fn push(
        &mut self,
        block: &'m Block,
        arguments: Vec<XlaValue>,
        caller: Option<&'m SyntaxOperation>,
        function: Option<usize>,
        map_shape: Option<Shape>,
    ) -> ElaborationResult<()> {
        let values = HashMap::new();
        self.frames.push(Frame { block, next: 0, values, caller, function, map_shape });
        for (argument, slot) in block.arguments.iter().zip(arguments) {
            self.name(ResultNames { name: argument.name, count: 1 }, vec![slot])?;
        }
        Ok(())
    }

    fn call(
        &mut self,
        operation: &'m SyntaxOperation,
        name: &str,
        operands: Vec<XlaValue>,
    ) -> ElaborationResult<()> {
        let span = self.attributes.required(operation, name)?;
        let callee = self.attributes.name(span);
        let Some(number) = self.module.function(&callee) else {
            let kind = FormatErrorKind::Undefined { what: "function", name: format!("@{callee}") };
            return Err(kind.in_text(span.start..span.end));
        };
        self.enter(number, operands, Some(operation))
    }

    /// Pushes a frame for the body of a map, which runs on all elements at once.
    fn map(
        &mut self,
        operation: &'m SyntaxOperation,
        operands: Vec<XlaValue>,
    ) -> ElaborationResult<()> {
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
        if !is_all && self.map_shape().is_none() {
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

    /// Leaves a block: its results become those of the calling operation.
    fn leave(
        &mut self,
        operation: &'m SyntaxOperation,
        slots: Vec<XlaValue>,
    ) -> ElaborationResult<Option<Vec<XlaValue>>> {
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
