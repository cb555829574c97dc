//! The builder's loops and branches.

use core::borrow::Borrow;
use core::ops::Range;
use std::sync::Arc;

use indim_graph::{
    DEFAULT_STEP_LIMIT, GraphError, GraphErrorKind, NodeKind, Region, ValueId, check_branch,
    check_while,
};
use indim_ops::ArrayType;

use super::capture::RegionBody;
use crate::builder::{BuildResult, GraphBuilder, Value};

/// The function that builds one region of a branch.
pub type BranchBody<'a> = dyn Fn(&GraphBuilder) -> Result<Vec<Value>, GraphError> + 'a;

impl GraphBuilder {
    /// A loop: while `condition` of the states is true, `body` computes the next states. Returns the final
    /// states, which are the initial ones if no step runs.
    ///
    /// Each closure gets its own builder, and the states as values of that builder. The closures may also
    /// use values of the outer builder, which the loop reads and does not change. A run that needs more
    /// than [`DEFAULT_STEP_LIMIT`] steps is an error; see [`GraphBuilder::while_loop_up_to`].
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// // Halves x until it is below the bound.
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [])?;
    /// let bound = b.parameter("bound", DType::F32, [])?;
    /// let halved = b.while_loop(&[x], |_, s| Ok(s[0].ge(&bound)), |_, s| Ok(vec![&s[0] * 0.5]))?;
    /// let graph = b.finish(&halved)?;
    /// let results = evaluate(&graph, &[Array::from_scalar(10.0f32), Array::from_scalar(2.0f32)])?;
    /// assert_eq!(results[0].scalar::<f32>(), Ok(1.25));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `region-type` unless the condition is one bool; `loop-state-type` if the body returns other types than
    /// the states have; `region-limit`; `foreign-value`; those of the closures.
    #[track_caller]
    pub fn while_loop(
        &self,
        initial: &[impl Borrow<Value>],
        condition: impl FnOnce(&GraphBuilder, &[Value]) -> BuildResult,
        body: impl FnOnce(&GraphBuilder, &[Value]) -> BuildResult<Vec<Value>>,
    ) -> BuildResult<Vec<Value>> {
        self.while_loop_up_to(DEFAULT_STEP_LIMIT, initial, condition, body)
    }

    /// Like [`GraphBuilder::while_loop`], with at most `limit` steps: a run that needs more is the error
    /// `step-limit`.
    ///
    /// # Errors
    /// Like [`GraphBuilder::while_loop`].
    #[track_caller]
    pub fn while_loop_up_to(
        &self,
        limit: u64,
        initial: &[impl Borrow<Value>],
        condition: impl FnOnce(&GraphBuilder, &[Value]) -> BuildResult,
        body: impl FnOnce(&GraphBuilder, &[Value]) -> BuildResult<Vec<Value>>,
    ) -> BuildResult<Vec<Value>> {
        let initial: Vec<Value> = initial.iter().map(|value| value.borrow().clone()).collect();
        let types = self.types_of(&self.ids("while_loop", &initial)?);
        let (inner, states) = self.begin_region(&types)?;
        let condition = inner.end_region(&[condition(&inner, &states)?])?;
        let (inner, states) = self.begin_region(&types)?;
        let body = inner.end_region(&body(&inner, &states)?)?;
        self.loop_of(limit, &initial, &condition, &body)
    }

    /// Like [`GraphBuilder::while_loop_up_to`], for existing bodies.
    ///
    /// # Errors
    /// Like [`GraphBuilder::while_loop`].
    #[track_caller]
    pub fn loop_of(
        &self,
        limit: u64,
        initial: &[Value],
        condition: &RegionBody,
        body: &RegionBody,
    ) -> BuildResult<Vec<Value>> {
        let states = self.ids("while_loop", initial)?;
        let (expected, given) = (states.len(), body.result_types().len());
        if expected != given {
            let (region, counted) = ("body".to_owned(), "results");
            let kind = GraphErrorKind::RegionCount { region, counted, expected, given };
            return Err(self.error("while_loop", &states, kind));
        }
        let captures = RegionBody::all_captured([condition, body]);
        let condition = condition.region(self, &captures)?;
        let body = body.region(self, &captures)?;
        let operands: Vec<ValueId> = states.iter().chain(&captures).copied().collect();
        self.while_of_ids("while_loop", &condition, &body, &operands, limit)
    }

    /// A loop with a counter: `body` runs for each number of `range`, in order, and computes the next states.
    /// The counter is an `i64`.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I64, [])?;
    /// let sum = b.fori_loop(1..5, &[x], |_, i, s| Ok(vec![&s[0] + i]))?;
    /// let graph = b.finish(&sum)?;
    /// assert_eq!(evaluate(&graph, &[Array::from_scalar(100i64)])?[0].scalar::<i64>(), Ok(110));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Like [`GraphBuilder::while_loop`].
    #[track_caller]
    pub fn fori_loop(
        &self,
        range: Range<i64>,
        initial: &[impl Borrow<Value>],
        body: impl FnOnce(&GraphBuilder, &Value, &[Value]) -> BuildResult<Vec<Value>>,
    ) -> BuildResult<Vec<Value>> {
        let mut states = vec![self.scalar(range.start)];
        states.extend(initial.iter().map(|value| value.borrow().clone()));
        let steps = u64::try_from(i128::from(range.end) - i128::from(range.start)).unwrap_or(0);
        let mut looped = self.while_loop_up_to(
            steps,
            &states,
            |_, states| Ok(states[0].lt(range.end)),
            |b, states| {
                let mut next = vec![&states[0] + 1i64];
                next.extend(body(b, &states[0], &states[1..])?);
                Ok(next)
            },
        )?;
        looped.remove(0);
        Ok(looped)
    }

    /// A branch between two regions: the values of `on_true` if the predicate is true, or else those of
    /// `on_false`. The predicate is a scalar `bool`, or a scalar integer, which is true unless it is 0.
    /// Only the chosen region runs. Both return the same types.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [])?;
    /// let root = b.cond(&x.ge(0), |_| Ok(vec![x.sqrt()]), |_| Ok(vec![-&x]))?;
    /// let graph = b.finish(&root)?;
    /// assert_eq!(evaluate(&graph, &[Array::from_scalar(9.0f32)])?[0].scalar::<f32>(), Ok(3.0));
    /// assert_eq!(evaluate(&graph, &[Array::from_scalar(-9.0f32)])?[0].scalar::<f32>(), Ok(9.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// TY1 unless the predicate is a bool or an integer; `region-type` if it has axes, or if results differ;
    /// `region-limit`; `foreign-value`; those of the closures.
    #[track_caller]
    pub fn cond(
        &self,
        predicate: &Value,
        on_true: impl Fn(&GraphBuilder) -> BuildResult<Vec<Value>>,
        on_false: impl Fn(&GraphBuilder) -> BuildResult<Vec<Value>>,
    ) -> BuildResult<Vec<Value>> {
        self.switch(predicate, &[&on_false, &on_true])
    }

    /// A branch between several regions: the values of the one at `index`, a scalar integer or bool. An index
    /// out of range, also a negative one, selects the last region. Only the chosen region runs.
    ///
    /// # Errors
    /// Like [`GraphBuilder::cond`]; `region-type` without regions.
    #[track_caller]
    pub fn switch(&self, index: &Value, branches: &[&BranchBody<'_>]) -> BuildResult<Vec<Value>> {
        let body = |build: &&BranchBody<'_>| {
            let (inner, _) = self.begin_region(&[])?;
            inner.end_region(&build(&inner)?)
        };
        self.branch_between(index, &branches.iter().map(body).collect::<Result<Vec<_>, _>>()?)
    }

    /// Like [`GraphBuilder::switch`], for existing bodies, which have no parameters.
    ///
    /// # Errors
    /// Like [`GraphBuilder::switch`].
    #[track_caller]
    pub fn branch_between(&self, index: &Value, bodies: &[RegionBody]) -> BuildResult<Vec<Value>> {
        let index = self.id("switch", index)?;
        let captures = RegionBody::all_captured(bodies);
        let regions = bodies.iter().map(|body| body.region(self, &captures));
        let regions = regions.collect::<Result<Vec<Region>, GraphError>>()?;
        self.branch_of_ids("switch", &regions, &[&[index], &captures[..]].concat())
    }

    /// A loop of existing regions. Both regions take all operands as parameters, the states first.
    ///
    /// # Errors
    /// Like [`GraphBuilder::while_loop`].
    #[track_caller]
    pub fn while_of(
        &self,
        condition: &Region,
        body: &Region,
        operands: &[impl Borrow<Value>],
        limit: u64,
    ) -> BuildResult<Vec<Value>> {
        let operands = self.ids("while", operands)?;
        self.while_of_ids("while", condition, body, &operands, limit)
    }

    /// A branch between existing regions, which take the operands as parameters.
    ///
    /// # Errors
    /// Like [`GraphBuilder::switch`].
    #[track_caller]
    pub fn branch_of(
        &self,
        index: &Value,
        branches: &[Region],
        operands: &[impl Borrow<Value>],
    ) -> BuildResult<Vec<Value>> {
        let mut ids = vec![self.id("branch", index)?];
        ids.extend(self.ids("branch", operands)?);
        self.branch_of_ids("branch", branches, &ids)
    }

    #[track_caller]
    fn while_of_ids(
        &self,
        operation: &'static str,
        condition: &Region,
        body: &Region,
        operands: &[ValueId],
        limit: u64,
    ) -> BuildResult<Vec<Value>> {
        let types = self.types_of(operands);
        let checked = check_while(condition, body, &types);
        let states = self.checked(operation, operands, checked)?;
        let node = |(result, array_type): (usize, &ArrayType)| {
            let (condition, body) = (condition.clone(), body.clone());
            let kind = NodeKind::While { condition, body, limit, result };
            self.add_node(kind, operands, array_type.clone())
        };
        Ok(states.iter().enumerate().map(node).collect())
    }

    #[track_caller]
    fn branch_of_ids(
        &self,
        operation: &'static str,
        branches: &[Region],
        operands: &[ValueId],
    ) -> BuildResult<Vec<Value>> {
        let types = self.types_of(operands);
        let shared: Arc<[Region]> = branches.into();
        let results = self.checked(operation, operands, check_branch(branches, &types))?;
        let node = |(result, array_type): (usize, &ArrayType)| {
            let kind = NodeKind::Branch { branches: shared.clone(), result };
            self.add_node(kind, operands, array_type.clone())
        };
        Ok(results.enumerate().map(node).collect())
    }

    pub(super) fn types_of(&self, ids: &[ValueId]) -> Vec<ArrayType> {
        ids.iter().map(|&id| self.type_of(id)).collect()
    }
}
