//! Elaboration of indices, and of functions that rearrange, join or sort arrays.

use core::str::FromStr;

use indim_builder::{Index, NodeAccess, PadMode, Value};
use indim_graph::{AxisWindow, Literal, ScatterMode, TakeMode};
use indim_ops::{DType, Op, ScatterOp, SearchSide, promote_all};
use indim_shape::{RuleSet, Shape, TargetRule};

use super::data_movement_function::DataMovementFunction;
use super::elaborate::{ElaborateResult, Elaborator};
use super::error::{ExprError, ExprErrorKind};
use super::parameter::AttributeKey;
use super::syntax::{AttributeValue, IndexItem, NamedAttribute, NodeIndex};
use crate::span::Span;

/// Maximum order of `diff`, because each order adds nodes.
const MAX_DIFFERENCES: i128 = 64;

/// A call of a data movement function.
pub(super) struct DataMovementCall<'c> {
    pub(super) function: DataMovementFunction,
    pub(super) nodes: &'c [NodeIndex],
    attributes: &'c [NamedAttribute],
    pub(super) mark: Span,
}

impl Elaborator<'_, '_> {
    /// `x[...]`.
    pub(super) fn index(
        &self,
        operand: NodeIndex,
        items: &[IndexItem],
        mark: Span,
    ) -> ElaborateResult<Value> {
        let mut nodes = vec![operand];
        let mut indices = Vec::with_capacity(items.len());
        for item in items {
            indices.push(match *item {
                Index::At(index) => Index::At(index),
                Index::Slice { start, stop, step } => Index::Slice { start, stop, step },
                Index::NewAxis => Index::NewAxis,
                Index::Ellipsis => Index::Ellipsis,
                Index::Elements(node) => match self.literal(node) {
                    Some(Literal::Int(index)) if i64::try_from(index).is_ok() => {
                        Index::At(index as i64)
                    }
                    Some(literal) => {
                        let kind = ExprErrorKind::BadIndex { literal };
                        return Err(ExprError::new(kind, self.extent(node)));
                    }
                    None => {
                        nodes.push(node);
                        Index::Elements(self.value(node)?)
                    }
                },
            });
        }
        self.builder
            .index(self.value(operand)?, &indices)
            .map_err(|error| self.graph_error(error, &nodes, mark))
    }

    pub(super) fn movement(
        &self,
        function: DataMovementFunction,
        nodes: &[NodeIndex],
        attributes: &[NamedAttribute],
        mark: Span,
    ) -> ElaborateResult<Value> {
        let call = DataMovementCall { function, nodes, attributes, mark };
        match function {
            DataMovementFunction::Concatenate | DataMovementFunction::Stack => {
                self.concatenate(&call)
            }
            DataMovementFunction::Take => self.take(&call),
            DataMovementFunction::TakeAlongAxis => self.take_along_axis(&call),
            DataMovementFunction::Scatter(op) => self.scatter(&call, op),
            DataMovementFunction::DynamicSlice => self.dynamic_slice(&call),
            DataMovementFunction::DynamicUpdateSlice => self.dynamic_update_slice(&call),
            DataMovementFunction::Pad => self.pad(&call),
            DataMovementFunction::SlidingWindowView => self.sliding_window_view(&call),
            DataMovementFunction::Diff => self.diff(&call),
            DataMovementFunction::Flip => self.flip(&call),
            DataMovementFunction::Roll => self.roll(&call),
            DataMovementFunction::ExpandDims => self.expand_dims(&call),
            DataMovementFunction::Squeeze => self.squeeze(&call),
            DataMovementFunction::Sort | DataMovementFunction::Argsort => self.sort(&call),
            DataMovementFunction::Lexsort => self.lexsort(&call),
            DataMovementFunction::SearchSorted => self.search_sorted(&call),
        }
    }

    /// The result of the builder; an error gets the span and the operands of the call.
    pub(super) fn graph<T>(
        &self,
        call: &DataMovementCall<'_>,
        result: Result<T, indim_graph::GraphError>,
    ) -> ElaborateResult<T> {
        result.map_err(|error| self.graph_error(error, call.nodes, call.mark))
    }

    /// Elaborates `concatenate` and `stack`. Under the rules numpy and named, operands of different element
    /// types are promoted.
    fn concatenate(&self, call: &DataMovementCall<'_>) -> ElaborateResult<Value> {
        let mut values = Vec::with_capacity(call.nodes.len());
        for &node in call.nodes {
            values.push(self.value(node)?);
        }
        self.promote(call, &mut values)?;
        if call.is_flat() {
            for value in &mut values {
                *value = self.flatten(call, value)?;
            }
        }
        let axis = call.axis().unwrap_or(0);
        self.graph(
            call,
            match call.function {
                DataMovementFunction::Stack => self.builder.stack(&values, axis),
                _ => self.builder.concatenate(&values, axis),
            },
        )
    }

    /// Converts values to their common type under the rules numpy and named.
    fn promote(&self, call: &DataMovementCall<'_>, values: &mut [Value]) -> ElaborateResult<()> {
        if super::typing::promotes(&self.rule_of(&[])?) {
            let dtypes: ElaborateResult<Vec<DType>> =
                values.iter().map(|value| self.dtype(value, call.mark)).collect();
            let common = promote_all(dtypes?).map_err(|(left, right)| {
                ExprError::new(ExprErrorKind::NoPromotion { left, right }, call.mark)
            })?;
            for value in values {
                let converted = self.builder.convert(&*value, common.unwrap_or(DType::F64));
                *value = self.graph(call, converted)?;
            }
        }
        Ok(())
    }

    fn sort(&self, call: &DataMovementCall<'_>) -> ElaborateResult<Value> {
        let mut x = self.value(call.nodes[0])?;
        if call.is_flat() {
            x = self.flatten(call, &x)?;
        }
        let rank = self.array_shape(&x, call.mark)?.rank();
        let axis = self.checked_axes(call, &[call.axis().unwrap_or(-1)], rank)?[0] as i64;
        let descending = match self.number(call, "descending")? {
            None => false,
            Some(Literal::Bool(descending)) => descending,
            Some(_) => return Err(self.bad_argument(call, "descending", "True or False")),
        };
        let sorted = match call.function {
            DataMovementFunction::Argsort => self.builder.argsort(x, axis, descending),
            _ => self.builder.sort(x, axis, descending),
        };
        self.graph(call, sorted)
    }

    fn lexsort(&self, call: &DataMovementCall<'_>) -> ElaborateResult<Value> {
        let nodes = call.nodes.iter().rev();
        let keys = nodes.map(|&node| self.value(node)).collect::<ElaborateResult<Vec<Value>>>()?;
        let axis = match keys.first() {
            Some(key) => {
                let rank = self.array_shape(key, call.mark)?.rank();
                self.checked_axes(call, &[call.axis().unwrap_or(-1)], rank)?[0]
            }
            None => 0,
        };
        self.graph(call, self.builder.argsort_by(&keys, axis as i64, false))
    }

    fn search_sorted(&self, call: &DataMovementCall<'_>) -> ElaborateResult<Value> {
        let side = match call.given(AttributeKey::Side).map(|given| &given.value) {
            Some(AttributeValue::Word(word)) => self.word(call, word, "`left` or `right`")?,
            _ => SearchSide::Left,
        };
        let mut operands = [self.value(call.nodes[0])?, self.value(call.nodes[1])?];
        self.promote(call, &mut operands)?;
        let [table, values] = operands;
        self.graph(call, self.builder.search_sorted(table, values, side))
    }

    /// Without an axis, indices count elements in row-major order, as in NumPy.
    fn take(&self, call: &DataMovementCall<'_>) -> ElaborateResult<Value> {
        let mode = self.take_mode(call)?;
        let [x, indices] = [self.value(call.nodes[0])?, self.value(call.nodes[1])?];
        let (x, axis) = match call.axis() {
            Some(axis) => (x, axis),
            None => (self.flatten(call, &x)?, 0),
        };
        self.graph(call, self.builder.take(x, indices, axis, mode))
    }

    fn take_along_axis(&self, call: &DataMovementCall<'_>) -> ElaborateResult<Value> {
        let mode = self.take_mode(call)?;
        let [x, indices] = [self.value(call.nodes[0])?, self.value(call.nodes[1])?];
        let x = if call.is_flat() { self.flatten(call, &x)? } else { x };
        let axis = call.axis().unwrap_or(-1);
        self.graph(call, self.builder.take_along_axis(x, indices, axis, mode))
    }

    /// Elaborates a scatter. Updates broadcast to the shape of a gather by these indices; a number takes the
    /// type of the array.
    fn scatter(&self, call: &DataMovementCall<'_>, op: ScatterOp) -> ElaborateResult<Value> {
        let mode = match call.word() {
            None | Some("raise") => ScatterMode::Take(TakeMode::Error),
            Some(mode) => self.word(call, mode, "`error`, `clip`, `wrap` or `drop`")?,
        };
        let [x, indices] = [self.value(call.nodes[0])?, self.value(call.nodes[1])?];
        let updates = match self.literal(call.nodes[2]) {
            Some(literal) => self.scalar(literal, self.dtype(&x, call.mark)?, call.mark)?,
            None => self.value(call.nodes[2])?,
        };
        let axis = call.axis().unwrap_or(0);
        let shape = self.array_shape(&x, call.mark)?;
        let at = self.checked_axes(call, &[axis], shape.rank())?[0];
        let of_indices = self.array_shape(&indices, call.mark)?;
        let expected: Shape =
            shape[..at].iter().chain(of_indices.iter()).chain(&shape[at + 1..]).copied().collect();
        let rule = TargetRule::Unidirectional;
        let updates =
            self.graph(call, self.builder.broadcast_to_target(updates, &rule, expected))?;
        self.graph(call, self.builder.scatter(op, x, indices, updates, axis, mode))
    }

    fn take_mode(&self, call: &DataMovementCall<'_>) -> ElaborateResult<TakeMode> {
        match call.word() {
            None | Some("raise") => Ok(TakeMode::Error),
            Some(mode) => self.word(call, mode, "`error`, `clip` or `wrap`"),
        }
    }

    /// The elements of `x` in row-major order, along one axis.
    fn flatten(&self, call: &DataMovementCall<'_>, x: &Value) -> ElaborateResult<Value> {
        let count = self.array_shape(x, call.mark)?.element_count().unwrap_or(usize::MAX);
        self.graph(call, self.builder.reshape_inferred(x, [count], Some(0)))
    }

    /// Parses the word of a mode or of a side; `expected` lists the legal words for the error.
    fn word<T: FromStr>(
        &self,
        call: &DataMovementCall<'_>,
        word: &str,
        expected: &'static str,
    ) -> ElaborateResult<T> {
        word.parse().map_err(|_| {
            let kind = ExprErrorKind::Unexpected { found: word.to_owned(), expected };
            let span = call.span_of(AttributeKey::Mode).or(call.span_of(AttributeKey::Side));
            ExprError::new(kind, span.unwrap_or(call.mark))
        })
    }

    fn pad(&self, call: &DataMovementCall<'_>) -> ElaborateResult<Value> {
        const MODES: &str = "`constant`, `edge`, `wrap`, `reflect` or `symmetric`";
        let x = self.value(call.nodes[0])?;
        let rank = self.array_shape(&x, call.mark)?.rank();
        let given = call.pairs();
        // One pair holds for all axes, as in NumPy.
        let pairs = if given.len() == 1 { vec![given[0]; rank] } else { given.to_vec() };
        let number = self.number(call, "constant_values")?;
        let mode = match call.word() {
            None | Some("constant") => {
                let dtype = self.dtype(&x, call.mark)?;
                let literal = number.unwrap_or(Literal::Int(0));
                if !literal.is_of_kind(dtype) && number.is_some() {
                    let kind = ExprErrorKind::LiteralKind { literal, dtype };
                    return Err(ExprError::new(kind, call.mark));
                }
                let value = self.scalar(literal, dtype, call.mark)?;
                let widths: Vec<(i64, i64, usize)> =
                    pairs.iter().map(|&(low, high)| (low, high, 0)).collect();
                return self.graph(call, self.builder.pad(x, value, &widths));
            }
            Some(mode) => self.word::<PadMode>(call, mode, MODES)?,
        };
        let size = |size: i64| {
            let span = call.span_of(AttributeKey::Widths).unwrap_or(call.mark);
            usize::try_from(size)
                .map_err(|_| ExprError::new(ExprErrorKind::NegativeSize { size }, span))
        };
        let mut widths = Vec::with_capacity(pairs.len());
        for (low, high) in pairs {
            widths.push((size(low)?, size(high)?));
        }
        self.graph(call, self.builder.extend(x, &widths, mode))
    }

    /// Elaborates `sliding_window_view`. Without axes, each axis has a window, as in NumPy.
    fn sliding_window_view(&self, call: &DataMovementCall<'_>) -> ElaborateResult<Value> {
        let x = self.value(call.nodes[0])?;
        let rank = self.array_shape(&x, call.mark)?.rank();
        let given = call.integers(AttributeKey::WindowShape).unwrap_or_default();
        let axes = call.axes().unwrap_or_else(|| (0..rank as i64).collect());
        if given.len() != axes.len() {
            let expected = "one size for each axis: name axes with axis=";
            return Err(self.bad_argument(call, "window_shape", expected));
        }
        let [stride, dilation] =
            [self.stride_or_dilation(call, "stride")?, self.stride_or_dilation(call, "dilation")?];
        let mut windows = Vec::with_capacity(axes.len());
        for (axis, &size) in axes.into_iter().zip(given) {
            let span = call.span_of(AttributeKey::WindowShape).unwrap_or(call.mark);
            let size = usize::try_from(size)
                .map_err(|_| ExprError::new(ExprErrorKind::NegativeSize { size }, span))?;
            windows.push((axis, AxisWindow::new(size, stride, dilation)));
        }
        self.graph(call, self.builder.sliding_window_view(x, &windows))
    }

    /// A stride or dilation; 1 if it is not given.
    fn stride_or_dilation(
        &self,
        call: &DataMovementCall<'_>,
        name: &'static str,
    ) -> ElaborateResult<usize> {
        match self.number(call, name)? {
            None => Ok(1),
            Some(Literal::Int(distance @ 1..)) if usize::try_from(distance).is_ok() => {
                Ok(distance as usize)
            }
            Some(_) => Err(self.bad_argument(call, name, "a whole number from 1 on")),
        }
    }

    /// The difference of truth values is `!=`.
    fn diff(&self, call: &DataMovementCall<'_>) -> ElaborateResult<Value> {
        let mut x = self.value(call.nodes[0])?;
        let times = match self.number(call, "n")? {
            None => 1,
            Some(Literal::Int(times)) if (0..=MAX_DIFFERENCES).contains(&times) => times,
            Some(_) => return Err(self.bad_argument(call, "n", "a whole number from 0 to 64")),
        };
        let shape = self.array_shape(&x, call.mark)?;
        let axis = self.checked_axes(call, &[call.axis().unwrap_or(-1)], shape.rank())?[0];
        let op = if self.dtype(&x, call.mark)? == DType::Bool { Op::Ne } else { Op::Sub };
        for _ in 0..times {
            let part = |start, stop| {
                let mut indices = vec![Index::ALL; shape.rank()];
                indices[axis] = Index::Slice { start, stop, step: None };
                self.graph(call, self.builder.index(&x, &indices))
            };
            let parts = [part(Some(1), None)?, part(None, Some(-1))?];
            x = self.graph(call, self.builder.elementwise(op, &parts, &RuleSet::None))?;
        }
        Ok(x)
    }

    fn flip(&self, call: &DataMovementCall<'_>) -> ElaborateResult<Value> {
        let x = self.value(call.nodes[0])?;
        let rank = self.array_shape(&x, call.mark)?.rank();
        let axes = call.axes().unwrap_or_else(|| (0..rank as i64).collect());
        self.graph(call, self.builder.reverse(x, &axes))
    }

    /// Without axes, elements move in row-major order, as in NumPy.
    fn roll(&self, call: &DataMovementCall<'_>) -> ElaborateResult<Value> {
        let mut x = self.value(call.nodes[0])?;
        let shifts = call.integers(AttributeKey::Shift).unwrap_or_default();
        let Some(axes) = call.axes() else {
            let shift = shifts.iter().fold(0i64, |sum, shift| sum.wrapping_add(*shift));
            let roll = self.builder.roll(self.flatten(call, &x)?, shift, 0);
            return self.graph(call, roll.and_then(|roll| self.builder.reshape_like(&roll, &x)));
        };
        let shifts = if shifts.len() == 1 { vec![shifts[0]; axes.len()] } else { shifts.to_vec() };
        let axes = if axes.len() == 1 { vec![axes[0]; shifts.len()] } else { axes };
        if shifts.len() != axes.len() {
            return Err(self.bad_argument(call, "shift", "one number, or one for each axis"));
        }
        for (shift, axis) in shifts.into_iter().zip(axes) {
            x = self.graph(call, self.builder.roll(x, shift, axis))?;
        }
        Ok(x)
    }

    fn expand_dims(&self, call: &DataMovementCall<'_>) -> ElaborateResult<Value> {
        let x = self.value(call.nodes[0])?;
        let Some(axes) = call.axes() else {
            let kind = ExprErrorKind::MissingArgument {
                function: call.function.name().to_owned(),
                argument: "axis",
            };
            return Err(ExprError::new(kind, call.mark));
        };
        let rank = self.array_shape(&x, call.mark)?.rank() + axes.len();
        let axes = self.checked_axes(call, &axes, rank)?;
        let is_new = |axis: usize| if axes.contains(&axis) { Index::NewAxis } else { Index::ALL };
        let indices: Vec<Index> = (0..rank).map(is_new).collect();
        self.graph(call, self.builder.index(x, &indices))
    }

    fn squeeze(&self, call: &DataMovementCall<'_>) -> ElaborateResult<Value> {
        let x = self.value(call.nodes[0])?;
        let mut sizes = self.array_shape(&x, call.mark)?.to_vec();
        match call.axes() {
            None => sizes.retain(|&size| size != 1),
            Some(axes) => {
                let mut axes = self.checked_axes(call, &axes, sizes.len())?;
                axes.sort_unstable();
                for axis in axes.into_iter().rev() {
                    let size = sizes.remove(axis);
                    if size != 1 {
                        return Err(ExprError::new(
                            ExprErrorKind::SqueezedSize { axis, size },
                            call.mark,
                        ));
                    }
                }
            }
        }
        self.graph(call, self.builder.reshape(x, sizes))
    }

    /// Normalises axes and checks that they are below `rank` and unique; negative axes count from the end.
    fn checked_axes(
        &self,
        call: &DataMovementCall<'_>,
        axes: &[i64],
        rank: usize,
    ) -> ElaborateResult<Vec<usize>> {
        use indim_graph::{GraphError, GraphErrorKind};
        let refuse = |kind| {
            let error = GraphError::new(kind, call.function.name(), Vec::new());
            Err(self.graph_error(error, &[], call.mark))
        };
        let mut checked = Vec::with_capacity(axes.len());
        for &axis in axes {
            let counted = if axis < 0 { i128::from(axis) + rank as i128 } else { i128::from(axis) };
            let Some(index) = usize::try_from(counted).ok().filter(|&index| index < rank) else {
                return refuse(GraphErrorKind::AxisOutOfRange { axis, rank });
            };
            if checked.contains(&index) {
                return refuse(GraphErrorKind::AxesNotUnique { axes: axes.to_vec() });
            }
            checked.push(index);
        }
        Ok(checked)
    }

    /// The number of a keyword argument; `None` if the call does not have it.
    fn number(
        &self,
        call: &DataMovementCall<'_>,
        name: &'static str,
    ) -> ElaborateResult<Option<Literal>> {
        let wanted = AttributeKey::Argument(name);
        let given = call.attributes.iter().find(|given| given.attribute == wanted);
        let Some(NamedAttribute { value: AttributeValue::Number(node), .. }) = given else {
            return Ok(None);
        };
        match self.literal(*node) {
            Some(number) => Ok(Some(number)),
            None => Err(self.bad_argument(call, name, "a number")),
        }
    }

    fn bad_argument(
        &self,
        call: &DataMovementCall<'_>,
        argument: &'static str,
        expected: &'static str,
    ) -> ExprError {
        let function = call.function.name();
        ExprError::new(ExprErrorKind::BadArgument { function, argument, expected }, call.mark)
    }
}

impl DataMovementCall<'_> {
    fn given(&self, attribute: AttributeKey) -> Option<&NamedAttribute> {
        self.attributes.iter().find(|given| given.attribute == attribute)
    }

    pub(super) fn span_of(&self, attribute: AttributeKey) -> Option<Span> {
        self.given(attribute).map(|given| given.span)
    }

    pub(super) fn integers(&self, attribute: AttributeKey) -> Option<&[i64]> {
        match &self.given(attribute)?.value {
            AttributeValue::Integers(values) => Some(values),
            _ => None,
        }
    }

    fn axis(&self) -> Option<i64> {
        self.integers(AttributeKey::Axis)?.first().copied()
    }

    /// Whether the call has `axis=None`.
    fn is_flat(&self) -> bool {
        self.given(AttributeKey::Axis)
            .is_some_and(|given| matches!(given.value, AttributeValue::All))
    }

    fn axes(&self) -> Option<Vec<i64>> {
        self.integers(AttributeKey::Axes).map(<[i64]>::to_vec)
    }

    fn word(&self) -> Option<&str> {
        match &self.given(AttributeKey::Mode)?.value {
            AttributeValue::Word(word) => Some(word),
            _ => None,
        }
    }

    fn pairs(&self) -> &[(i64, i64)] {
        match self.given(AttributeKey::Widths).map(|given| &given.value) {
            Some(AttributeValue::Pairs(pairs)) => pairs,
            _ => &[],
        }
    }
}
