//! Names of axes: given for parameters, propagated to other values (`NamedValues`).
//!
//! Names are not part of the graph. The rule set [`RuleSet::Named`], which is elaborated like every other
//! rule set, and reductions along named axes use them.

use std::borrow::Cow;

use indim_graph::{GraphError, GraphErrorKind, ValueId};
use indim_ops::{ArrayType, DType};
use indim_shape::{AxisNames, RuleSet, Shape};

use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::methods::RuleScope;
use crate::operand::{Operand, OperandArg};

impl GraphBuilder {
    /// Like [`GraphBuilder::parameter`], with a name for each axis: `[("time", 8760), ("lat", 721)]`.
    ///
    /// ```
    /// use indim_builder::{ReduceOptions, Reduction, GraphBuilder};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.named_parameter("x", DType::F32, &[("time", 8760), ("lat", 721)])?;
    /// let m = b.named_parameter("m", DType::F32, &[("lat", 721)])?;
    /// let w = b.named_parameter("w", DType::F32, &[("lat", 721), ("time", 8760)])?;
    /// let weighted = b.named().mul(b.named().sub(&x, &m)?, &w)?; // reads `w` transposed
    /// assert_eq!(weighted.axis_names().to_string(), "[time, lat]");
    ///
    /// let mean = b.along(Reduction::Mean, &weighted, ["time"])?;
    /// assert_eq!(mean.axis_names().to_string(), "[lat]");
    ///
    /// let other = b.named_parameter("other", DType::F32, &[("lat", 1)])?;
    /// let error = b.named().sub(&x, &other).unwrap_err();
    /// assert_eq!((error.code(), error.label()), ("size-mismatch", Some("D3")));
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`GraphBuilder::parameter`]; [D1, D4](indim_shape::rules#named-d) if names are empty or not
    /// distinct.
    #[track_caller]
    pub fn named_parameter(&self, name: &str, dtype: DType, axes: &[(&str, usize)]) -> BuildResult {
        let names: AxisNames = axes.iter().map(|(name, _)| *name).collect();
        let sizes: Shape = axes.iter().map(|(_, size)| *size).collect();
        let value = self.parameter(name, dtype, sizes)?;
        self.name_axes(&value, names)
    }

    /// Names the axes of a parameter, before any other value uses it. An empty name leaves an axis unnamed.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.name_axes(&b.symbolic_parameter("x", DType::F32, &["n", "3"])?, ["time", "lat"])?;
    /// let v = b.name_axes(&b.symbolic_parameter("v", DType::F32, &["n"])?, ["time"])?;
    /// assert_eq!(b.named().add(&x, &v)?.axis_names().to_string(), "[time, lat]");
    /// assert_eq!(b.name_axes(&x.exp(), ["time", "lat"]).unwrap_err().code(), "not-a-parameter");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// [D1, D4](indim_shape::rules#named-d) if names are not distinct, or their number is not the rank;
    /// `not-a-parameter`.
    #[track_caller]
    pub fn name_axes(&self, parameter: &Value, names: impl Into<AxisNames>) -> BuildResult {
        let id = self.id("parameter", parameter)?;
        let names = names.into();
        if !self.is_parameter(id) {
            return Err(self.error("parameter", &[id], GraphErrorKind::NotAParameter));
        }
        let given = AxisNames::of_each(names.iter().filter(|name| name.is_some()));
        // Checks only the named axes, because an axis without a name is an error only when an operation
        // matches it by name. A wrong number of names is checked too, and refused.
        let is_whole = names.len() != self.type_of(id).shape.rank() || given.len() == names.len();
        let (shape, checked) = match is_whole {
            true => (self.type_of(id).shape, &names),
            false => (Shape::from(vec![1; given.len()]), &given),
        };
        let rule = RuleSet::Named { names: vec![checked.clone()] };
        if let Err(error) = rule.elaborate(&[shape]) {
            return Err(self.shape_error("parameter", &[id], error));
        }
        self.with_names(|named| named.insert(id, names));
        Ok(parameter.clone())
    }

    /// Operations that match axes by name.
    pub fn named(&self) -> RuleScope {
        self.under(RuleSet::Named { names: Vec::new() })
    }

    /// Broadcasts the operand to the shape of another value. Axes are matched by name, and the operand is
    /// repeated along the axes of `like` that it lacks.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.named_parameter("x", DType::F32, &[("time", 6), ("lat", 4)])?;
    /// let land = b.named_parameter("land", DType::Bool, &[("lat", 4)])?;
    /// assert_eq!(b.broadcast_by_names(&land, &x)?.array_type()?.to_string(), "bool[6, 4]");
    /// assert_eq!(b.broadcast_by_names(&x, &land).unwrap_err().code(), "unknown-axis-name");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// `unknown-axis-name` for an axis that the other value lacks; [D1 to D4](indim_shape::rules#named-d).
    #[track_caller]
    pub fn broadcast_by_names(&self, operand: impl Operand, like: &Value) -> BuildResult {
        let id = self.operand_id("broadcast", operand)?;
        let operand = self.value(id);
        for name in operand.axis_names().iter().flatten() {
            like.axis_of("broadcast", name)?;
        }
        let rule = RuleSet::Named { names: Vec::new() };
        let given = [like.clone(), operand].map(OperandArg::Value);
        let [_, value] =
            self.broadcast_operands("broadcast", given, &rule, |types| Ok(types[0].dtype))?;
        Ok(value)
    }

    /// The operand, transposed to the order of `names`, which must contain the name of every axis.
    #[track_caller]
    pub fn transpose_to(&self, operand: impl Operand, names: &AxisNames) -> BuildResult {
        let id = self.operand_id("transpose", operand)?;
        let value = self.value(id);
        let axes = names.iter().flatten().map(|name| value.axis_named(name));
        self.transpose(&value, &axes.collect::<Result<Vec<_>, _>>()?)
    }

    /// Gives the axes of `to` the names of the axes of `from`, which was reshaped to it by adding or
    /// dropping axes of size 1. `axis_of` returns the axis of `from` for an axis of `to`, because sizes
    /// alone may be ambiguous.
    pub(crate) fn keep_axis_names(
        &self,
        from: &Value,
        to: Value,
        axis_of: impl Fn(usize) -> Option<usize>,
    ) -> Value {
        let (from_id, to_id) = (from.expect_id(), to.expect_id());
        let names = from.axis_names();
        if from_id == to_id || !names.has_any() {
            return to;
        }
        let rank = self.type_of(to_id).shape.rank();
        let kept = (0..rank).map(|axis| Some((&names, axis_of(axis)?)));
        self.with_names(|named| named.merge(to_id, AxisNames::gather(kept)));
        to
    }

    /// The rule; [`RuleSet::Named`] without names gets the axis names of these values.
    pub(crate) fn with_axis_names<'r>(
        &self,
        rule: &'r RuleSet,
        values: &[ValueId],
    ) -> Cow<'r, RuleSet> {
        match rule {
            RuleSet::Named { names } if names.is_empty() => {
                let names = values.iter().map(|&value| self.value(value).axis_names()).collect();
                Cow::Owned(RuleSet::Named { names })
            }
            rule => Cow::Borrowed(rule),
        }
    }
}

impl Value {
    /// The names of the axes, propagated from the parameters. An axis that an operation merges or splits has
    /// no name.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.named_parameter("x", DType::F32, &[("time", 6), ("lat", 4)])?;
    /// assert_eq!(b.transpose(x.exp(), &[1, 0])?.axis_names().to_string(), "[lat, time]");
    /// assert_eq!(b.reshape(&x, [3, 8])?.axis_names().to_string(), "[?, ?]");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    pub fn axis_names(&self) -> AxisNames {
        let Ok(ArrayType { shape, .. }) = self.array_type() else { return AxisNames::unnamed(0) };
        let id = self.expect_id();
        let known = self.builder().with_names(|named| named.get(id).cloned());
        known.unwrap_or_else(|| AxisNames::unnamed(shape.rank()))
    }

    /// The position of the axis with this name.
    ///
    /// # Errors
    /// `unknown-axis-name`, with the existing names.
    #[track_caller]
    pub fn axis_named(&self, name: &str) -> Result<i64, GraphError> {
        self.axis_of("axis", name)
    }

    /// Like [`Value::axis_named`], with this operation in the error.
    #[track_caller]
    pub(crate) fn axis_of(&self, operation: &'static str, name: &str) -> Result<i64, GraphError> {
        self.array_type()?;
        let names = self.axis_names();
        if let Some(axis) = names.axis(name) {
            return Ok(axis as i64);
        }
        let kind = GraphErrorKind::UnknownAxisName { name: name.to_owned(), names };
        Err(self.builder().error(operation, &[self.expect_id()], kind))
    }
}
