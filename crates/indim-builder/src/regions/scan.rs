//! Loops that stack a result of every step.

use core::borrow::Borrow;

use indim_graph::{GraphError, GraphErrorKind, RegionMismatch, ScatterMode, TakeMode};
use indim_ops::{ArrayType, ScatterOp};
use indim_shape::Shape;

use super::capture::RegionBody;
use crate::builder::{GraphBuilder, Value};

impl GraphBuilder {
    /// A loop over the slices of arrays along axis 0: for each position, `body` gets the states and the
    /// slice of each array of `xs`, and returns the next states and the results of the step. Returns the
    /// final states, and the results of all steps, stacked along a new axis 0. `length` is the number of
    /// steps, the size of axis 0 of `xs`.
    ///
    /// With `reverse` the loop begins at the last position; each result stays at the position of its
    /// slice.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [4])?;
    /// let zero = b.scalar(0i32);
    /// let (sum, sums) = b.scan_loop(4, &[zero], &[x], false, |_, s, x| {
    ///     let next = &s[0] + &x[0];
    ///     Ok((vec![next.clone()], vec![next]))
    /// })?;
    /// let graph = b.finish(&[&sum[0], &sums[0]])?;
    /// let results = evaluate(&graph, &[Array::new([4], vec![1i32, 2, 3, 4])?])?;
    /// assert_eq!(results[0].scalar::<i32>(), Ok(10));
    /// assert_eq!(results[1].elements::<i32>(), Ok(&[1, 3, 6, 10][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `axis-out-of-range` for an `x` without axes, `region-type` if the size of its axis 0 is not `length`;
    /// E5 `too-large`; like [`GraphBuilder::while_loop`].
    #[track_caller]
    pub fn scan_loop(
        &self,
        length: usize,
        initial: &[impl Borrow<Value>],
        xs: &[impl Borrow<Value>],
        reverse: bool,
        body: impl FnOnce(
            &GraphBuilder,
            &[Value],
            &[Value],
        ) -> Result<(Vec<Value>, Vec<Value>), GraphError>,
    ) -> Result<(Vec<Value>, Vec<Value>), GraphError> {
        let xs: Vec<Value> = xs.iter().map(|x| x.borrow().clone()).collect();
        let initial: Vec<Value> = initial.iter().map(|value| value.borrow().clone()).collect();
        let count = initial.len();
        let mut types = self.types_of(&self.ids("scan", &initial)?);
        for (index, x) in xs.iter().enumerate() {
            types.push(self.slice_type(index, x, length)?);
        }
        let (inner, values) = self.begin_region(&types)?;
        let (mut next, results) = body(&inner, &values[..count], &values[count..])?;
        let states = next.len();
        next.extend(results);
        let step = inner.end_region(&next)?;
        self.stacking_loop((length, reverse), initial, (states, &step), |b, i, current| {
            let mut arguments = current.to_vec();
            for x in &xs {
                arguments.push(b.take(x, i, 0, TakeMode::Clip)?);
            }
            Ok(arguments)
        })
    }

    /// A loop of `length` steps with a recorded body. The body takes the step number (`i64`) and the states.
    /// It may omit trailing states that it does not read. It returns the next states, then the values to
    /// stack. The loop returns the final states, and the values of all steps, stacked along a new axis 0.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::evaluate;
    /// use indim_ops::{ArrayType, DType};
    ///
    /// let b = GraphBuilder::new();
    /// let number = ArrayType::new(DType::I64, []);
    /// let (inner, values) = b.begin_region(&[number.clone(), number])?;
    /// let next = &values[0] + &values[1];
    /// let step = inner.end_region(&[next.clone(), next])?;
    /// let (sum, sums) = b.counted_loop(4, &[b.scalar(10i64)], &step)?;
    /// let results = evaluate(&b.finish(&[&sum[0], &sums[0]])?, &[])?;
    /// assert_eq!(results[0].scalar::<i64>(), Ok(16));
    /// assert_eq!(results[1].elements::<i64>(), Ok(&[10, 11, 13, 16][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `region-type` if the body has fewer results than states; E5 `too-large`; like
    /// [`GraphBuilder::while_loop`].
    #[track_caller]
    pub fn counted_loop(
        &self,
        length: usize,
        initial: &[Value],
        step: &RegionBody,
    ) -> Result<(Vec<Value>, Vec<Value>), GraphError> {
        let (expected, given) = (initial.len(), step.result_types().len());
        if given < expected {
            let (region, counted) = ("body".to_owned(), "results");
            let kind = GraphErrorKind::RegionCount { region, counted, expected, given };
            return Err(self.error("counted_loop", &[], kind));
        }
        let (body, count) = ((initial.len(), step), step.parameter_count());
        self.stacking_loop((length, false), initial.to_vec(), body, |_, i, current| {
            Ok([i].into_iter().chain(current).take(count).cloned().collect())
        })
    }

    /// A loop whose `step` returns the next states (`states` of them), then the results to stack at the
    /// position of the step. `operands` are the initial states.
    /// `arguments` gives the values of the step's parameters for a position and the current states.
    #[track_caller]
    fn stacking_loop(
        &self,
        (length, reverse): (usize, bool),
        mut operands: Vec<Value>,
        (states, step): (usize, &RegionBody),
        arguments: impl FnOnce(&GraphBuilder, &Value, &[Value]) -> Result<Vec<Value>, GraphError>,
    ) -> Result<(Vec<Value>, Vec<Value>), GraphError> {
        let count = operands.len();
        for result_type in step.result_types().skip(states) {
            let sizes = [length].into_iter().chain(result_type.shape.iter().copied());
            let stacked = ArrayType::new(result_type.dtype, sizes.collect::<Shape>());
            self.check_size("scan", &stacked, &[])?;
            operands.push(self.zeros(&stacked)?);
        }
        let end = i64::try_from(length).unwrap_or(i64::MAX);
        let mut final_values = self.fori_loop(0..end, &operands, |b, position, values| {
            let (current, stacks) = values.split_at(count);
            let i = if reverse { end - 1 - position } else { position.clone() };
            let mut next = step.inline_into(b, self, &arguments(b, &i, current)?)?;
            let results = next.split_off(states);
            for (stack, result) in stacks.iter().zip(&results) {
                next.push(b.scatter(ScatterOp::Set, stack, &i, result, 0, ScatterMode::Drop)?);
            }
            Ok(next)
        })?;
        let stacked = final_values.split_off(count);
        Ok((final_values, stacked))
    }

    /// The type of the slices of input `index` along axis 0, whose size must be `length`.
    #[track_caller]
    fn slice_type(&self, index: usize, x: &Value, length: usize) -> Result<ArrayType, GraphError> {
        let id = self.id("scan", x)?;
        let found = self.type_of(id);
        let axis = self.checked_axis("scan", &[id], 0, found.shape.rank())?;
        let part: Shape = found.shape.iter().skip(1).copied().collect();
        if found.shape[axis] != length {
            let sizes: Shape = [length].into_iter().chain(part.iter().copied()).collect();
            let expected = ArrayType::new(found.dtype, sizes);
            let (region, place) = ("loop".to_owned(), format!("input {index}"));
            let mismatch = RegionMismatch { region, place, expected, found };
            return Err(self.error("scan", &[id], GraphErrorKind::RegionType(Box::new(mismatch))));
        }
        Ok(ArrayType::new(found.dtype, part))
    }
}
