//! Loops and branches of model files: a loop ends by a trip count, by a condition of its body, or by both.
//!
//! If the number of steps is known while the file is read, the loop becomes a counted loop, which can
//! also stack a result of every step. Otherwise its condition is evaluated at run time.

use indim_builder::{GraphBuilder, RegionBody, Value};
use indim_graph::{
    Array, DEFAULT_STEP_LIMIT, GraphError, GraphErrorKind, RegionMismatch, TakeMode,
};
use indim_ops::{ArrayType, DType};
use indim_shape::Shape;

use crate::error::FormatErrorKind;
use crate::shape_values::KnownValue;

/// The results of a loop: its final states, and the results stacked along a new axis 0.
type LoopResults = Result<(Vec<Value>, Vec<Value>), FormatErrorKind>;

/// The trip count and the first condition of a loop.
#[derive(Debug, Clone, Default)]
pub struct LoopEnd {
    /// The maximum number of steps, an integer with one element; `None` is no limit.
    pub trips: Option<KnownValue>,
    /// Whether the first step runs, a bool with one element; `None` is true.
    pub enters: Option<KnownValue>,
}

/// A loop's number of steps and the condition that its body returns, as far as they are known.
#[derive(Debug, Clone, Copy)]
pub struct LoopLength {
    /// The number of steps.
    pub steps: Option<usize>,
    /// Whether the body returns, as its first result, a condition that is evaluated at run time.
    pub has_condition: bool,
}

/// The value of a known bool of one element.
pub fn truth(known: &KnownValue) -> Option<bool> {
    match known.elements.as_ref()?.elements::<bool>().ok()? {
        [one] => Some(*one),
        _ => None,
    }
}

/// The value of a known integer of one element.
pub fn whole_number(known: &KnownValue) -> Option<i64> {
    match known.integers()?[..] {
        [one] => Some(one),
        _ => None,
    }
}

/// Checks the number of steps of a loop.
///
/// # Errors
/// `unsupported` for more than [`DEFAULT_STEP_LIMIT`] steps.
pub fn check_steps(steps: u64) -> Result<(), FormatErrorKind> {
    if steps <= DEFAULT_STEP_LIMIT {
        return Ok(());
    }
    let what = format!("a loop of {steps} steps, more than {DEFAULT_STEP_LIMIT}, is");
    Err(FormatErrorKind::Unsupported { what })
}

impl LoopEnd {
    /// The length of the loop, as far as it is known. `goes_on` is the condition that the body returns,
    /// if known.
    ///
    /// # Errors
    /// `unsupported` for more than [`DEFAULT_STEP_LIMIT`] steps, and for a loop that nothing ends.
    pub fn length(&self, goes_on: Option<bool>) -> Result<LoopLength, FormatErrorKind> {
        let trips = self.trips.as_ref().map(whole_number);
        let enters = self.enters.as_ref().map_or(Some(true), truth);
        let steps = match (enters, goes_on, trips) {
            (Some(false), ..) | (_, _, Some(Some(..=0))) => Some(0),
            (Some(true), Some(false), None | Some(Some(_))) => Some(1),
            (Some(true), Some(true), Some(Some(steps))) => Some(steps.unsigned_abs()),
            (Some(true), Some(true), None) => {
                let what =
                    "a loop without a trip count whose condition is always true is".to_owned();
                return Err(FormatErrorKind::Unsupported { what });
            }
            _ => None,
        };
        steps.map_or(Ok(()), check_steps)?;
        let steps = steps.map(|steps| usize::try_from(steps).unwrap_or(usize::MAX));
        Ok(LoopLength { steps, has_condition: steps.is_none() && goes_on != Some(true) })
    }

    /// Builds the loop. `body` takes the step number (`i64`) and the states; trailing states that it
    /// does not read may be absent. `body` returns the condition, if `length` has one, the next states,
    /// then the values to stack.
    ///
    /// # Errors
    /// `depends-on-data` for results to stack of an unknown number of steps; errors of the builder.
    pub fn build(
        &self,
        builder: &GraphBuilder,
        initial: &[Value],
        length: LoopLength,
        body: &RegionBody,
    ) -> LoopResults {
        if let Some(steps) = length.steps {
            return Ok(builder.counted_loop(steps, initial, body)?);
        }
        let condition = usize::from(length.has_condition);
        if body.result_types().len() > initial.len() + condition {
            return Err(unknown_length());
        }
        let scalar = |known: &KnownValue| builder.reshape(&known.value, Shape::scalar());
        let trips = self.trips.as_ref().map(scalar).transpose()?;
        let trips = trips.map(|trips| trips.convert(DType::I64));
        let enters = match &self.enters {
            Some(enters) => scalar(enters)?,
            None => builder.scalar(true),
        };
        // The states of the `while` loop: the step number, the condition if the body returns one, then
        // `initial`.
        let mut states = vec![builder.scalar(0i64)];
        states.extend(length.has_condition.then(|| enters.clone()));
        states.extend_from_slice(initial);
        let looped = builder.while_loop_up_to(
            DEFAULT_STEP_LIMIT,
            &states,
            |b, s| {
                let goes_on = if length.has_condition { s[1].clone() } else { b.local(&enters)? };
                Ok(match &trips {
                    Some(trips) => s[0].lt(trips) & goes_on,
                    None => goes_on,
                })
            },
            |b, s| {
                let mut arguments = vec![s[0].clone()];
                arguments.extend(
                    s[1 + condition..]
                        .iter()
                        .take(body.parameter_count().saturating_sub(1))
                        .cloned(),
                );
                let mut next = vec![&s[0] + 1i64];
                next.extend(body.inline_into(b, builder, &arguments)?);
                Ok(next)
            },
        )?;
        Ok((looped[1 + condition..].to_vec(), Vec::new()))
    }
}

fn unknown_length() -> FormatErrorKind {
    let cause = "the number of steps of the loop, whose results are stacked; a trip count that is known \
                 and a condition that is always true would make it known";
    FormatErrorKind::DependsOnData { chain: vec![cause.to_owned()] }
}

/// The slice of `x` at index `position` of an axis, without that axis. For an axis of size 0 the result
/// is zeros, because a loop over this axis runs no step.
///
/// # Errors
/// Those of [`GraphBuilder::take`].
pub fn part_of(
    builder: &GraphBuilder,
    x: &Value,
    position: &Value,
    axis: usize,
) -> Result<Value, FormatErrorKind> {
    let ArrayType { dtype, shape } = x.array_type()?;
    if shape[axis] > 0 {
        return Ok(builder.take(x, position, axis as i64, TakeMode::Clip)?);
    }
    let sizes = shape.iter().enumerate().filter(|(other, _)| *other != axis);
    let sizes: Shape = sizes.map(|(_, &size)| size).collect();
    Ok(builder.zeros(&ArrayType::new(dtype, sizes))?)
}

/// A stack of results along axis 0 with that axis moved to `axis`; `is_reversed` reverses the order of the
/// results.
///
/// # Errors
/// Those of [`GraphBuilder::reverse`] and [`GraphBuilder::transpose`].
pub fn move_stack_axis(
    builder: &GraphBuilder,
    stack: &Value,
    axis: usize,
    is_reversed: bool,
) -> Result<Value, FormatErrorKind> {
    let mut permutation: Vec<i64> = (1..stack.array_type()?.shape.rank() as i64).collect();
    permutation.insert(axis, 0);
    let stack = match is_reversed {
        true => builder.reverse(stack, &[0])?,
        false => stack.clone(),
    };
    Ok(builder.transpose(stack, &permutation)?)
}

/// Checks that a body returns the types of the states.
///
/// # Errors
/// `loop-state-type`, which names the state.
pub fn check_states<'n>(
    operation: &'static str,
    mut name: impl FnMut(usize) -> &'n str,
    states: &[ArrayType],
    found: &[ArrayType],
) -> Result<(), FormatErrorKind> {
    let mut pairs = states.iter().zip(found).enumerate();
    let Some((position, (expected, found))) = pairs.find(|(_, (state, found))| state != found)
    else {
        return Ok(());
    };
    let mismatch = RegionMismatch {
        region: "body".to_owned(),
        place: format!("the state `{}`", name(position)),
        expected: expected.clone(),
        found: found.clone(),
    };
    let kind = GraphErrorKind::LoopStateType(Box::new(mismatch));
    Err(GraphError::new(kind, operation, Vec::new()).into())
}

/// The branch between two bodies, by a condition with one element. Both return the same types.
///
/// # Errors
/// `unsupported` if the types differ; errors of the builder.
pub fn branch(
    builder: &GraphBuilder,
    condition: &Value,
    [on_true, on_false]: [RegionBody; 2],
) -> Result<Vec<Value>, FormatErrorKind> {
    let differs = |(result, (first, second)): (usize, (&ArrayType, &ArrayType))| {
        let what = || {
            format!(
                "a branch whose result {result} is {first} if its condition is true, else {second}, and \
                 whose condition is not known while the file is read, is"
            )
        };
        (first != second).then(|| FormatErrorKind::Unsupported { what: what() })
    };
    let pairs = on_true.result_types().zip(on_false.result_types()).enumerate();
    let differing = pairs.map(differs).find(Option::is_some);
    if let Some(kind) = differing.flatten() {
        return Err(kind);
    }
    let condition = builder.reshape(condition, Shape::scalar())?;
    Ok(builder.branch_between(&condition, &[on_false, on_true])?)
}

/// The types of values.
///
/// # Errors
/// The first error of an operator.
pub fn types_of(values: &[Value]) -> Result<Vec<ArrayType>, FormatErrorKind> {
    values.iter().map(|value| Ok(value.array_type()?)).collect()
}

/// A condition that is known to be true.
pub fn known_true(builder: &GraphBuilder) -> KnownValue {
    KnownValue::constant(builder, Array::from_scalar(true))
}
