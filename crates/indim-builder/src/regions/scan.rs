//! Loops that stack a result of every step.

use core::borrow::Borrow;

use indim_graph::{GraphError, GraphErrorKind, Literal, ScatterMode, TakeMode};
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
    /// `axis-out-of-range` for an `x` without axes, `index-out-of-range` if its axis 0 is not `length`; E5
    /// `too-large`; like [`GraphBuilder::while_loop`].
    #[track_caller]
    pub fn scan_loop(
        &self,
        length: usize,
        initial: &[impl Borrow<Value>],
        xs: &[impl Borrow<Value>],
        reverse: bool,
        body: impl Fn(&GraphBuilder, &[Value], &[Value]) -> Result<(Vec<Value>, Vec<Value>), GraphError>,
    ) -> Result<(Vec<Value>, Vec<Value>), GraphError> {
        let xs: Vec<Value> = xs.iter().map(|x| x.borrow().clone()).collect();
        for x in &xs {
            self.check_length(x, length)?;
        }
        let states = self.ids("scan", initial)?;
        let types: Vec<ArrayType> = states.iter().map(|&id| self.type_of(id)).collect();
        let part = |b: &GraphBuilder, x: &Value, i: &Value| b.take(x, i, 0, TakeMode::Clip);
        // Built once to learn the types of the results, which the stacks need.
        let (inner, inner_states) = self.begin_region(&types)?;
        let i = inner.scalar(0i64);
        let parts = xs.iter().map(|x| part(&inner, x, &i)).collect::<Result<Vec<_>, _>>()?;
        let (_, results) = body(&inner, &inner_states, &parts)?;
        let outputs = results.iter().map(Value::array_type).collect::<Result<Vec<_>, _>>()?;
        let mut operands: Vec<Value> = initial.iter().map(|value| value.borrow().clone()).collect();
        for of in &outputs {
            let sizes = [length].into_iter().chain(of.shape.iter().copied());
            let stacked = ArrayType::new(of.dtype, sizes.collect::<Shape>());
            self.check_size("scan", &stacked, &[])?;
            let zero = self.literal(Literal::Int(0), of.dtype)?;
            operands.push(self.broadcast_in_dim(zero, &[], stacked.shape)?);
        }
        let count = states.len();
        let end = i64::try_from(length).unwrap_or(i64::MAX);
        let mut finals = self.fori_loop(0..end, &operands, |b, step, values| {
            let (states, stacks) = values.split_at(count);
            let i = if reverse { end - 1 - step } else { step.clone() };
            let parts = xs.iter().map(|x| part(b, x, &i)).collect::<Result<Vec<_>, _>>()?;
            let (mut next, results) = body(b, states, &parts)?;
            for (stack, result) in stacks.iter().zip(&results) {
                next.push(b.scatter(ScatterOp::Set, stack, &i, result, 0, ScatterMode::Drop)?);
            }
            Ok(next)
        })?;
        let stacked = finals.split_off(count);
        Ok((finals, stacked))
    }

    #[track_caller]
    fn check_length(&self, x: &Value, length: usize) -> Result<(), GraphError> {
        let id = self.id("scan", x)?;
        let shape = self.type_of(id).shape;
        let axis = self.checked_axis("scan", &[id], 0, shape.rank())?;
        match shape[axis] == length {
            true => Ok(()),
            false => {
                let index = i64::try_from(length).unwrap_or(i64::MAX).saturating_sub(1);
                let kind = GraphErrorKind::IndexOutOfRange { axis, index, size: shape[axis] };
                Err(self.error("scan", &[id], kind))
            }
        }
    }
}
