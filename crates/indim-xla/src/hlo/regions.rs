//! Loops, branches and reductions: each of their computations becomes a region ([`RegionBody`]). An operand
//! or result of a loop or branch may be a tuple; its arrays are the states that a loop carries from step to
//! step.

use indim_builder::{RegionBody, Value};
use indim_graph::DEFAULT_STEP_LIMIT;
use indim_model::FormatErrorKind;
use indim_ops::{ArrayType, DType};

use super::elaborate::{ElaborationResult, Elaborator, Frame, at, wrong_count};
use super::syntax::{Computation, Instruction};
use crate::value::{ArrayValue, XlaValue, scalar_types, types_of};

impl<'m> Elaborator<'m> {
    /// `while(start), condition=.., body=..`.
    pub(super) fn while_loop(
        &mut self,
        instruction: &'m Instruction,
        operands: &[XlaValue],
    ) -> ElaborationResult<XlaValue> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let ([start], [condition, body]) = (operands, &instruction.regions[..]) else {
            let expected = "one operand, a condition and a body";
            let given = operands.len() + instruction.regions.len();
            return Err(fail(wrong_count("parts of a loop", expected, given)));
        };
        let initial = self.arrays_of(start).map_err(fail)?;
        let types = types_of(&initial).map_err(fail)?;
        let (condition, _) = self.region(instruction, *condition, start, Some(&types))?;
        let (body, _) = self.region(instruction, *body, start, Some(&types))?;
        let builder = &self.model_builder.builder;
        let results = builder.loop_of(DEFAULT_STEP_LIMIT, &initial, &condition, &body);
        let results = results.map_err(|error| fail(error.into()))?;
        start.with_arrays(&mut results.into_iter()).map_err(fail)
    }

    /// `conditional(index, a, b), branch_computations={..}`, or `true_computation=.., false_computation=..`:
    /// each computation has an operand of its own. If the index is a bool, the first computation is the one
    /// for true.
    pub(super) fn conditional(
        &mut self,
        instruction: &'m Instruction,
        operands: &[XlaValue],
    ) -> ElaborationResult<XlaValue> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let regions = &instruction.regions;
        let Some((index, arguments)) = operands.split_first() else {
            return Err(fail(wrong_count("operands", "at least two", 0)));
        };
        if regions.is_empty() || regions.len() != arguments.len() {
            let (expected, given) = (regions.len() + 1, operands.len());
            return Err(fail(wrong_count("operands", expected, given)));
        }
        let index = index.array().map_err(fail)?.value.clone();
        let mut bodies: Vec<RegionBody> = Vec::with_capacity(regions.len());
        let mut result = None;
        for (&region, argument) in regions.iter().zip(arguments) {
            let (body, returned) = self.region(instruction, region, argument, None)?;
            bodies.push(body);
            result.get_or_insert(returned);
        }
        let index_type = index.array_type().map_err(|error| fail(error.into()))?;
        if index_type.dtype == DType::Bool {
            bodies.reverse();
        }
        let values = self.model_builder.builder.branch_between(&index, &bodies);
        let values = values.map_err(|error| fail(error.into()))?;
        match result {
            Some(result) => result.with_arrays(&mut values.into_iter()).map_err(fail),
            None => Err(fail(wrong_count("computations", "at least one", 0))),
        }
    }

    /// Elaborates a computation of one parameter to a body; also returns its result. The arrays of a loop's
    /// argument are states: parameters of the body, of these types. A branch has no states; its body uses the
    /// argument itself.
    fn region(
        &mut self,
        instruction: &'m Instruction,
        region: usize,
        argument: &XlaValue,
        states: Option<&[ArrayType]>,
    ) -> ElaborationResult<(RegionBody, XlaValue)> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let computation = &self.module.computations[region];
        if computation.parameters.len() != 1 {
            let given = computation.parameters.len();
            return Err(fail(wrong_count("parameters of a computation", "one", given)));
        }
        let parameters = self.model_builder.begin_region(states.unwrap_or(&[])).map_err(fail)?;
        let argument = match states {
            None => {
                let mut budget = self.limits.operations;
                argument.local(&self.model_builder.builder, &mut budget)
            }
            Some(_) => argument.with_arrays(&mut parameters.into_iter()),
        };
        let arguments = vec![argument.map_err(fail)?];
        self.body(instruction, computation, arguments)
    }

    /// Elaborates the computation that a reduction applies to `count` values and as many starts.
    pub(super) fn reducer_body(
        &mut self,
        instruction: &'m Instruction,
        operands: &[ArrayValue],
    ) -> ElaborationResult<RegionBody> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let computation = self.called_computation(instruction, "to_apply").map_err(fail)?;
        let (expected, given) = (operands.len(), computation.parameters.len());
        if expected != given {
            return Err(fail(wrong_count("parameters of a computation", expected, given)));
        }
        let (values, _) = operands.split_at(expected / 2);
        let types = scalar_types(values.iter().chain(values)).map_err(fail)?;
        let arguments = self.model_builder.begin_region(&types).map_err(fail)?;
        let arguments = arguments.into_iter().map(XlaValue::from).collect();
        Ok(self.body(instruction, computation, arguments)?.0)
    }

    /// Runs a computation in the region that was begun, and ends the region.
    fn body(
        &mut self,
        instruction: &Instruction,
        computation: &'m Computation,
        arguments: Vec<XlaValue>,
    ) -> ElaborationResult<(RegionBody, XlaValue)> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(instruction));
        let outer = core::mem::take(&mut self.frames);
        self.frames.push(Frame { computation, arguments, values: Vec::new(), map_shape: None });
        let result = self.run()?;
        self.frames = outer;
        let results = self.arrays_of(&result).map_err(fail)?;
        Ok((self.model_builder.end_region(&results).map_err(fail)?, result))
    }

    /// The arrays of a value, in order.
    fn arrays_of(&self, value: &XlaValue) -> Result<Vec<Value>, FormatErrorKind> {
        let (mut budget, mut found) = (self.limits.operations, Vec::new());
        value.arrays(&mut budget, &mut found)?;
        Ok(found)
    }
}
