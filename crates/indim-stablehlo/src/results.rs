//! Elaboration of single operations to their results.

use indim_model::{Expectation, FormatErrorKind, Location, Tolerance};
use indim_ops::ArrayType;

use super::approximate_top_k::ApproximateTopK;
use super::dense::Dense;
use super::elaborate::{ElaborationResult, Elaborator, at};
use super::gather;
use super::lowering::{ArrayOperation, ExpectOperation};
use super::reducer;
use super::syntax::SyntaxOperation;
use super::windows;
use indim_xla::operation::{Operation, check_type};
use indim_xla::sort::{sort, top_k};
use indim_xla::value::{ArrayFact, ArrayValue, XlaValue};

impl Elaborator<'_> {
    pub(super) fn array(
        &mut self,
        operation: &SyntaxOperation,
        shaped: ArrayOperation,
        operands: &[XlaValue],
    ) -> ElaborationResult<XlaValue> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        let mapped_type = shaped.operation(operation, &self.attributes)?;
        self.model_builder.rule(mapped_type.rule());
        let mut values = Vec::with_capacity(operands.len());
        for operand in operands {
            values.push(operand.array().map_err(fail)?.value.clone());
        }
        let stated = self.result_type(operation);
        let value = mapped_type
            .build(&self.model_builder.builder, &values, stated.as_ref())
            .map_err(fail)?;
        let fact = match mapped_type {
            Operation::Iota(axis) => ArrayFact::Iota(axis),
            Operation::BroadcastInDim(dims) => ArrayFact::of_broadcast(operands, &dims, &value),
            Operation::Reshape => ArrayFact::of_scalar(operands, &value),
            _ => ArrayFact::None,
        };
        Ok(XlaValue::Array(ArrayValue { value, fact }))
    }

    /// The type of the single result in the text.
    fn result_type(&self, operation: &SyntaxOperation) -> Option<ArrayType> {
        operation.first_array_type().map(|stated| self.mapped_type(stated))
    }

    pub(super) fn tuple_element(
        &self,
        operation: &SyntaxOperation,
        operands: &[XlaValue],
    ) -> ElaborationResult<XlaValue> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        let index = self.attributes.integer(operation, "index")?;
        let [tuple] = operands else {
            let (expected, given) = ("one".to_owned(), operands.len());
            return Err(fail(FormatErrorKind::Count { what: "operands", expected, given }));
        };
        // A negative index names no element.
        tuple.tuple_element(usize::try_from(index).unwrap_or(usize::MAX)).cloned().map_err(fail)
    }

    pub(super) fn constant(&mut self, operation: &SyntaxOperation) -> ElaborationResult<XlaValue> {
        let span = self.attributes.required(operation, "value")?;
        let admit = |bytes| self.model_builder.check_constant(bytes);
        let dense = Dense::read(&self.attributes, span, operation.first_array_type(), admit)?;
        self.dense(dense, operation)
    }

    fn dense(&mut self, dense: Dense, operation: &SyntaxOperation) -> ElaborationResult<XlaValue> {
        let location = Location::text(at(operation));
        let (value, fact) = match dense {
            Dense::Full(array) => {
                let fact = if array.shape().is_scalar() {
                    ArrayFact::Scalar(array.clone())
                } else {
                    ArrayFact::None
                };
                (self.model_builder.constant(array, || location)?, fact)
            }
            Dense::Splat(element, shape) => {
                let fact = if shape.is_scalar() {
                    ArrayFact::Scalar(element.clone())
                } else {
                    ArrayFact::None
                };
                let shape =
                    self.map_shape().filter(|_| shape.is_scalar()).cloned().unwrap_or(shape);
                let value = self.model_builder.splat(element, &shape);
                (value.map_err(|error| FormatErrorKind::from(error).at(location))?, fact)
            }
        };
        Ok(XlaValue::Array(ArrayValue { value, fact }))
    }

    pub(super) fn constant_like(
        &mut self,
        operation: &SyntaxOperation,
        operands: &[XlaValue],
    ) -> ElaborationResult<XlaValue> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        let [like] = operands else {
            let (expected, given) = ("one".to_owned(), operands.len());
            return Err(fail(FormatErrorKind::Count { what: "operands", expected, given }));
        };
        let array_type = like.array().map_err(fail)?.value.array_type();
        let array_type = array_type.map_err(|error| fail(error.into()))?;
        let span = self.attributes.required(operation, "value")?;
        let dense = Dense::element(&self.attributes, span, &array_type)?;
        self.dense(dense, operation)
    }

    pub(super) fn scatter(
        &self,
        operation: &SyntaxOperation,
        operands: &[XlaValue],
    ) -> ElaborationResult<Vec<XlaValue>> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        let Some(updates) = reducer::updates_of(operation, &self.attributes) else {
            let what = "a scatter with this body is".to_owned();
            return Err(fail(FormatErrorKind::Unsupported { what }));
        };
        let scatter = gather::scatter(operation, &self.attributes)?;
        let known = XlaValue::all_arrays(operands).map_err(fail)?;
        let builder = &self.model_builder.builder;
        let results = scatter.build(builder, &updates, &known);
        Ok(results.map_err(fail)?.into_iter().map(XlaValue::from).collect())
    }

    pub(super) fn select_and_scatter(
        &self,
        operation: &SyntaxOperation,
        operands: &[XlaValue],
    ) -> ElaborationResult<XlaValue> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        let Some(pool) = reducer::select_and_scatter_of(operation, &self.attributes) else {
            let what = "a select_and_scatter with these bodies is".to_owned();
            return Err(fail(FormatErrorKind::Unsupported { what }));
        };
        let window = windows::of_reduce_window(operation, &self.attributes)?;
        let known = XlaValue::all_arrays(operands).map_err(fail)?;
        let result = pool.build(&self.model_builder.builder, &known, &window);
        Ok(XlaValue::from(result.map_err(fail)?))
    }

    pub(super) fn sort(
        &self,
        operation: &SyntaxOperation,
        operands: &[XlaValue],
    ) -> ElaborationResult<Vec<XlaValue>> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        let Some(comparator) = reducer::comparator_of(operation, &self.attributes) else {
            let what = "a sort with this comparator is".to_owned();
            return Err(fail(FormatErrorKind::Unsupported { what }));
        };
        let axis = match self.attributes.optional(operation, "dimension") {
            Some(_) => self.attributes.integer(operation, "dimension")?,
            None => -1,
        };
        let known = XlaValue::all_arrays(operands).map_err(fail)?;
        let b = &self.model_builder.builder;
        let results = sort(b, &comparator, &known, axis);
        Ok(results.map_err(fail)?.into_iter().map(XlaValue::from).collect())
    }

    /// `top_k` in indim's order: zeros are equal and NaN is greatest. XLA's order has -0 before +0.
    pub(super) fn top_k(
        &self,
        operation: &SyntaxOperation,
        operands: &[XlaValue],
    ) -> ElaborationResult<Vec<XlaValue>> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        let [operand] = operands else {
            let (expected, given) = ("one".to_owned(), operands.len());
            return Err(fail(FormatErrorKind::Count { what: "operands", expected, given }));
        };
        let count = self.attributes.integer(operation, "k")?;
        let results = top_k(&operand.array().map_err(fail)?.value, count).map_err(fail)?;
        Ok(results.map(XlaValue::from).to_vec())
    }

    fn approximate_top_k(
        &self,
        operation: &SyntaxOperation,
        operands: &[XlaValue],
    ) -> ElaborationResult<Vec<XlaValue>> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        let Some(call) = ApproximateTopK::of(operation, &self.attributes, self.module) else {
            let what = "an ApproxTopK with these attributes is".to_owned();
            return Err(fail(FormatErrorKind::Unsupported { what }));
        };
        let known = XlaValue::all_arrays(operands).map_err(fail)?;
        let results = call.build(&self.model_builder.builder, &known).map_err(fail)?;
        Ok(results.into_iter().map(XlaValue::from).collect())
    }

    pub(super) fn custom_call(
        &mut self,
        operation: &SyntaxOperation,
        operands: Vec<XlaValue>,
    ) -> ElaborationResult<Vec<XlaValue>> {
        let span = self.attributes.required(operation, "call_target_name")?;
        let target = self.attributes.name(span);
        match ExpectOperation::of(&target) {
            Some(expected) => self.expect(operation, expected, &operands, true),
            None if target == "Sharding" => Ok(operands),
            None if target == ApproximateTopK::TARGET => {
                self.approximate_top_k(operation, &operands)
            }
            None => {
                let what = format!("custom calls of @{target} are");
                Err(FormatErrorKind::Unsupported { what }.in_text(at(operation)))
            }
        }
    }

    /// Records a check in the program as an expectation.
    pub(super) fn expect(
        &mut self,
        operation: &SyntaxOperation,
        expected: ExpectOperation,
        operands: &[XlaValue],
        as_call: bool,
    ) -> ElaborationResult<Vec<XlaValue>> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        if self.model_builder.is_in_region() {
            let what = "checks inside loops and branches are".to_owned();
            return Err(fail(FormatErrorKind::Unsupported { what }));
        }
        let tolerance: Tolerance = expected.tolerance(operation, &self.attributes, as_call)?;
        let constant = match expected.is_constant {
            true => Some(self.constant(operation)?),
            false => None,
        };
        let all: Vec<&XlaValue> = operands.iter().chain(&constant).collect();
        let [result, expected] = all[..] else {
            let (expected, given) = ("a result and its expected value".to_owned(), all.len());
            return Err(fail(FormatErrorKind::Count { what: "operands", expected, given }));
        };
        let result = result.array().map_err(fail)?.value.clone();
        let expected = expected.array().map_err(fail)?.value.clone();
        let array_type = expected.array_type().map_err(|error| fail(error.into()))?;
        check_type(&result, &array_type).map_err(fail)?;
        let location = Location::text(at(operation));
        let expectation = Expectation { result: 0, expected: 0, tolerance, location };
        self.expectations.push((expectation, result, expected));
        Ok(Vec::new())
    }
}
