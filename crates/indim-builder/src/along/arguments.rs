//! Options of functions along axes, and the check of their calls.

use std::borrow::Cow;

use indim_graph::signature::check_operands;
use indim_graph::{GraphError, GraphErrorKind, Literal};
use indim_ops::{ArrayType, DType, DTypeClass};
use indim_shape::{ReductionRuleName, RuleSet, Shape, TargetRule};

use super::Reduction;
use super::reduced::Reduced;
use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::composition::Parameter;
use crate::operand::Operand;

/// Options of a reduction: axes, mask, initial value, element type, `keepdims`.
///
/// ```
/// use indim_builder::{ReduceOptions, Reduction, GraphBuilder};
/// use indim_graph::{Array, Literal, evaluate};
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3])?;
/// let along = ReduceOptions { keepdims: true, ..ReduceOptions::axes(&[-1]) };
/// let largest = b.along(Reduction::Max, &x, &along, &[])?;
/// assert_eq!(largest.array_type()?.to_string(), "f32[2, 1]");
///
/// let positive = ReduceOptions { selected: Some(x.gt(0)), ..ReduceOptions::axes(&[0]) };
/// let begun = ReduceOptions { initial: Some(Literal::Int(10).into()), ..positive };
/// let sum = b.along(Reduction::Sum, &x, &begun, &[])?;
/// let graph = b.finish(&[largest, sum])?;
/// let x = Array::new([2, 3], vec![1.0f32, 3.0, 2.0, -1.0, 3.0, -2.0])?;
/// let results = evaluate(&graph, &[x])?;
/// assert_eq!(results[0].elements::<f32>(), Some(&[3.0, 3.0][..]));
/// assert_eq!(results[1].elements::<f32>(), Some(&[11.0, 16.0, 12.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReduceOptions {
    /// The axes, from the end where they are negative; all without a list.
    pub axes: Option<Vec<i64>>,
    /// The axes by their names, in place of `axes`; the operand's axes must have these.
    pub names: Option<Vec<String>>,
    /// Whether the axes stay, with size 1.
    pub keepdims: bool,
    /// The rule for the axes: their default, and which axes are legal.
    pub rule: ReductionRuleName,
    /// Whether integers are summed in 64 bits, as under the numpy rule.
    pub widens_integers: bool,
    /// The element type to which elements are converted before, and that the result has.
    pub dtype: Option<DType>,
    /// Truth values that broadcast onto the operand: only where they hold are elements taken.
    pub selected: Option<Value>,
    /// Initial value, combined with the result at the end; an element of the result's type.
    pub initial: Option<Initial>,
}

/// Initial value of a reduction: a number, or a value that broadcasts onto the result.
#[derive(Debug, Clone)]
pub enum Initial {
    /// A number, which must be one of the result's element type.
    Number(Literal),
    /// A value, which is converted unless that would lose a fraction or an imaginary part.
    Value(Value),
}

impl From<Literal> for Initial {
    fn from(number: Literal) -> Self {
        Initial::Number(number)
    }
}

impl From<Value> for Initial {
    fn from(value: Value) -> Self {
        Initial::Value(value)
    }
}

impl ReduceOptions {
    /// Keyword of expressions: whether reduced axes stay, with size 1.
    pub const KEEPDIMS: Parameter = Parameter::new::<bool>("keepdims", &["false"]);

    /// Keyword of expressions: the element type.
    pub const DTYPE: Parameter = Parameter::described("dtype", "an element type such as f32");

    /// Keyword of expressions: the initial value.
    pub const INITIAL: Parameter = Parameter::described("initial", "a number or a scalar");

    /// Keyword of expressions: the mask of selected elements.
    pub const WHERE: Parameter = Parameter::described("where", "truth values");

    /// Along these axes, which go; integers keep their type.
    pub fn axes(axes: &[i64]) -> ReduceOptions {
        ReduceOptions { axes: Some(axes.to_vec()), ..ReduceOptions::default() }
    }

    /// Along the axes of these names, which go.
    pub fn named(names: &[&str]) -> ReduceOptions {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        ReduceOptions { names: Some(names), ..ReduceOptions::default() }
    }

    /// Whether what is said by the argument of this name is said.
    fn gives(&self, argument: &Parameter) -> bool {
        match argument.name() {
            "keepdims" => self.keepdims,
            "dtype" => self.dtype.is_some(),
            "initial" => self.initial.is_some(),
            _ => self.selected.is_some(),
        }
    }
}

impl GraphBuilder {
    /// A function of one operand along axes; `numbers` are its [parameters](Reduction::parameters), or
    /// nothing for their defaults.
    ///
    /// # Errors
    /// Like [`GraphBuilder::along_of`].
    #[track_caller]
    pub fn along(
        &self,
        function: Reduction,
        operand: impl Operand,
        along: &ReduceOptions,
        numbers: &[Option<Literal>],
    ) -> BuildResult {
        let operand = self.value(self.given_id(function.name(), operand)?);
        self.along_of(function, &[operand], along, numbers, &RuleSet::None)
    }

    /// A function of one or several operands along axes. If it [pairs](Reduction::pairs) the elements of two
    /// operands, `rule` says how they broadcast, and the axes are those of the broadcast shape.
    ///
    /// ```
    /// use indim_builder::{ReduceOptions, Reduction, GraphBuilder};
    /// use indim_ops::DType;
    /// use indim_shape::RuleSet;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [4, 3])?;
    /// let v = b.parameter("v", DType::F32, [3])?;
    /// let along = ReduceOptions::axes(&[-1]);
    /// let products = b.along_of(Reduction::VecDot, &[x, v], &along, &[], &RuleSet::Numpy)?;
    /// assert_eq!(products.array_type()?.to_string(), "f32[4]");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// `wrong-operand-count`; TY1 and TY2; [R1 to R6](indim_shape::rules#reductions-r), `unknown-axis-name`;
    /// `argument-not-taken`;
    /// `empty-reduction` where an extreme is sought among nothing, `initial-required` where that is so as
    /// soon as no element is selected; `matrix-product`; the labels of `rule`; E5 `too-large`.
    #[track_caller]
    pub fn along_of(
        &self,
        function: Reduction,
        operands: &[Value],
        along: &ReduceOptions,
        numbers: &[Option<Literal>],
        rule: &RuleSet,
    ) -> BuildResult {
        let name = function.name();
        let ids = self.ids(name, operands)?;
        let types: Vec<ArrayType> = ids.iter().map(|&id| self.type_of(id)).collect();
        if let Err(kind) = check_call(function, &types, along) {
            return Err(self.error(name, &ids, kind));
        }
        let paired = match operands {
            [x, y] if function.pairs() => Some(self.paired(name, x, y, rule)?),
            _ => None,
        };
        let operands = paired.as_ref().map_or(operands, |paired| &paired[..]);
        let x = match along.dtype {
            Some(dtype) => self.convert(&operands[0], dtype)?,
            None => operands[0].clone(),
        };
        let array_type = x.array_type()?;
        let along = &self.with_positions(name, &x, along)?;
        let axes = match checked_axes(function, along, &array_type.shape) {
            Ok(axes) => axes,
            Err(kind) => return Err(self.error(name, &ids, kind)),
        };
        let selected = match &along.selected {
            Some(selected) => Some(self.selected(name, &x, selected)?),
            None => None,
        };
        let reduced = Reduced { x, others: &operands[1..], array_type, axes, selected, along };
        function.define(&reduced, numbers)
    }

    /// The options, with axis names replaced by axis positions.
    #[track_caller]
    fn with_positions<'a>(
        &self,
        function: &'static str,
        x: &Value,
        along: &'a ReduceOptions,
    ) -> Result<Cow<'a, ReduceOptions>, GraphError> {
        let Some(names) = &along.names else { return Ok(Cow::Borrowed(along)) };
        let axes = names.iter().map(|name| x.axis_of(function, name));
        let axes = Some(axes.collect::<Result<Vec<_>, _>>()?);
        Ok(Cow::Owned(ReduceOptions { axes, names: None, ..along.clone() }))
    }

    #[track_caller]
    fn paired(
        &self,
        name: &'static str,
        x: &Value,
        y: &Value,
        rule: &RuleSet,
    ) -> Result<[Value; 2], GraphError> {
        let operands = [x, y].map(crate::operand::sealed::Sealed::given);
        self.expanded(name, operands, rule, |types| Ok(types[0].dtype))
    }

    /// The truth values that select elements of `x`, in its shape.
    #[track_caller]
    fn selected(&self, name: &'static str, x: &Value, selected: &Value) -> BuildResult {
        let dtype = selected.array_type()?.dtype;
        if dtype != DType::Bool {
            let ids = self.ids(name, &[x, selected])?;
            let kind = GraphErrorKind::ElementTypeNotAllowed { operand: 1, dtype };
            return Err(self.error(name, &ids, kind));
        }
        let shape = x.array_type()?.shape;
        let everywhere = self.spread(selected, &TargetRule::Unidirectional, shape)?;
        self.equate(everywhere.known_id(), x.known_id());
        Ok(everywhere)
    }
}

/// Checks operands and options against the function.
fn check_call(
    function: Reduction,
    operands: &[ArrayType],
    along: &ReduceOptions,
) -> Result<(), GraphErrorKind> {
    let count = function.operands().len();
    let dtype = check_operands(operands, count, false, |dtype| function.takes(dtype))?;
    let arguments = [
        ReduceOptions::KEEPDIMS,
        ReduceOptions::DTYPE,
        ReduceOptions::INITIAL,
        ReduceOptions::WHERE,
    ];
    let is_taken = |argument: &Parameter| {
        function.arguments().iter().any(|taken| taken.name() == argument.name())
    };
    if let Some(argument) =
        arguments.iter().find(|argument| along.gives(argument) && !is_taken(argument))
    {
        return Err(GraphErrorKind::ArgumentNotTaken { argument: argument.name() });
    }
    match along.dtype {
        Some(real)
            if dtype.class() == DTypeClass::Complex && real.class() != DTypeClass::Complex =>
        {
            Err(GraphErrorKind::ElementTypeMismatch { operand: 0, dtype, expected: real })
        }
        _ if function.is_extreme() && along.selected.is_some() && along.initial.is_none() => {
            Err(GraphErrorKind::InitialRequired)
        }
        _ if function == Reduction::Dot && along.axes.is_none() && along.names.is_none() => {
            check_vectors(operands)
        }
        _ => Ok(()),
    }
}

/// `dot` without axes is that of vectors.
fn check_vectors(operands: &[ArrayType]) -> Result<(), GraphErrorKind> {
    match operands.iter().any(|operand| operand.shape.rank() > 1) {
        true => Err(GraphErrorKind::MatrixProduct),
        false => Ok(()),
    }
}

/// The axes, counted from the front, in ascending order; an error if they hold no elements and the function
/// needs some.
fn checked_axes(
    function: Reduction,
    along: &ReduceOptions,
    shape: &Shape,
) -> Result<Vec<usize>, GraphErrorKind> {
    let rule = along.rule.rule(along.axes.as_deref(), along.keepdims, shape.rank());
    let form = rule.elaborate(shape).map_err(GraphErrorKind::Reduction)?;
    let axes = form.axes().to_vec();
    let has_results = !form.result().contains(&0);
    let seeks = match function {
        Reduction::Max | Reduction::Min => !begins(along),
        _ if function.is_extreme() => along.initial.is_none(),
        _ => function.is_arg_reduction(),
    };
    match axes.iter().find(|&&axis| shape[axis] == 0) {
        Some(&axis) if seeks && has_results => Err(GraphErrorKind::EmptyReduction { axis }),
        _ => Ok(axes),
    }
}

/// Whether a fold has something to begin with: by what is said, or by a rule that has a value for it.
fn begins(along: &ReduceOptions) -> bool {
    use ReductionRuleName::{Onnx, StableHlo, Xla};
    along.initial.is_some() || matches!(along.rule, Xla | StableHlo | Onnx)
}
