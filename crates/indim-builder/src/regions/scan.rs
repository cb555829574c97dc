//! Loops that stack a result of every step.

use core::borrow::Borrow;

use indim_graph::{GraphError, GraphErrorKind, Literal, RegionMismatch, ScatterMode, TakeMode};
use indim_ops::{ArrayType, ScatterOp};
use indim_shape::Shape;

use crate::builder::{GraphBuilder, Value};

impl GraphBuilder {
    /// A loop over the parts of arrays along axis 0: for each position, `body` gets the states and the part
    /// of each array of `xs`, and returns the next states and results. Returns the final states, and the
    /// results of all steps, stacked along a new axis 0. `length` is the number of steps, the size of axis 0
    /// of `xs`.
    ///
    /// `reverse` begins at the last position; results stay at the positions of their parts.
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
        let mut operands: Vec<Value> = initial.iter().map(|value| value.borrow().clone()).collect();
        let count = operands.len();
        let mut types = self.types_of(&self.ids("scan", &operands)?);
        for (index, x) in xs.iter().enumerate() {
            types.push(self.part_type(index, x, length)?);
        }
        let (inner, values) = self.begin_region(&types)?;
        let (mut next, results) = body(&inner, &values[..count], &values[count..])?;
        let states = next.len();
        next.extend(results);
        let step = inner.end_region(&next)?;
        for of in step.result_types().skip(states) {
            let sizes = [length].into_iter().chain(of.shape.iter().copied());
            let stacked = ArrayType::new(of.dtype, sizes.collect::<Shape>());
            self.check_size("scan", &stacked, &[])?;
            let zero = self.literal(Literal::Int(0), of.dtype)?;
            operands.push(self.broadcast_in_dim(zero, &[], stacked.shape)?);
        }
        let end = i64::try_from(length).unwrap_or(i64::MAX);
        let mut finals = self.fori_loop(0..end, &operands, |b, position, values| {
            let (current, stacks) = values.split_at(count);
            let i = if reverse { end - 1 - position } else { position.clone() };
            let mut arguments = current.to_vec();
            for x in &xs {
                arguments.push(b.take(x, &i, 0, TakeMode::Clip)?);
            }
            let mut next = step.inline_into(b, self, &arguments)?;
            let results = next.split_off(states);
            for (stack, result) in stacks.iter().zip(&results) {
                next.push(b.scatter(ScatterOp::Set, stack, &i, result, 0, ScatterMode::Drop)?);
            }
            Ok(next)
        })?;
        let stacked = finals.split_off(count);
        Ok((finals, stacked))
    }

    /// The type of the parts of input `index` along axis 0, whose size must be `length`.
    #[track_caller]
    fn part_type(&self, index: usize, x: &Value, length: usize) -> Result<ArrayType, GraphError> {
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
