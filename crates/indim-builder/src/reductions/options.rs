//! Options of functions along axes, and the checks of their calls.

use core::borrow::Borrow;
use core::ops::RangeFull;
use std::borrow::Cow;

use indim_graph::parameter::Parameter;
use indim_graph::signature::check_operands;
use indim_graph::{GraphError, GraphErrorKind, Literal};
use indim_ops::{ArrayType, DType, DTypeClass};
use indim_shape::{ReductionRuleName, RuleSet, Shape, TargetRule};

use super::Reduction;
use super::context::ReductionContext;
use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::{Operand, OperandArg};

/// Options of a function along axes: axes, `keepdims`, mask, initial value, element type, and the numbers
/// that some functions take.
///
/// Axes alone are options too: an integer, an array, slice or vector of them, names, and `()` or `..` for
/// all axes.
///
/// ```
/// use indim_builder::{GraphBuilder, ReduceOptions};
/// use indim_graph::{Array, evaluate};
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3])?;
/// let largest = x.max(ReduceOptions::axes(-1).keepdims(true));
/// assert_eq!(largest.array_type()?.to_string(), "f32[2, 1]");
///
/// let sum = x.sum(ReduceOptions::axes([0]).selected(x.gt(0)).initial(10));
/// let graph = b.finish(&[largest, sum])?;
/// let x = Array::new([2, 3], vec![1.0f32, 3.0, 2.0, -1.0, 3.0, -2.0])?;
/// let results = evaluate(&graph, &[x])?;
/// assert_eq!(results[0].elements::<f32>(), Ok(&[3.0, 3.0][..]));
/// assert_eq!(results[1].elements::<f32>(), Ok(&[11.0, 16.0, 12.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReduceOptions {
    /// The axes; negative ones count from the end; `None` for all.
    pub axes: Option<Vec<i64>>,
    /// The axes by name, instead of `axes`.
    pub names: Option<Vec<String>>,
    /// Whether the result keeps the axes, with size 1.
    pub keepdims: bool,
    /// The rule set: which axes are the default, which are legal, and whether `max` and `min` of no
    /// elements have a value.
    pub rule: ReductionRuleName,
    /// Whether sums and products of integers have 64 bits unless `dtype` is set, like under the numpy rule.
    pub widens_integers: bool,
    /// The element type of the result, to which elements are converted first.
    pub dtype: Option<DType>,
    /// A mask of type `bool` that broadcasts to the operand; only selected elements are reduced.
    pub selected: Option<Value>,
    /// An initial value, combined with the result; an element of the result's type.
    pub initial: Option<Initial>,
    /// The numbers of the function's [parameters](Reduction::parameters), by name; other parameters have
    /// their defaults.
    pub numbers: Vec<(&'static str, Literal)>,
}

/// The initial value of a reduction: a number, or a value that broadcasts to the result.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Initial {
    /// A number, which the result's element type must represent.
    Number(Literal),
    /// A value. It is converted to the result's type; an error if that may lose a fraction or an imaginary
    /// part.
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
    /// Keyword of expressions: whether the result keeps reduced axes, with size 1.
    pub const KEEPDIMS: Parameter = Parameter::new::<bool>("keepdims", &["false"]);

    /// Keyword of expressions: the element type.
    pub const DTYPE: Parameter = Parameter::described("dtype", "an element type such as f32");

    /// Keyword of expressions: the initial value.
    pub const INITIAL: Parameter = Parameter::described("initial", "a number or a scalar");

    /// Keyword of expressions: the mask of selected elements.
    pub const WHERE: Parameter = Parameter::described("where", "truth values");

    /// Options for all axes, which the result does not keep; integers keep their type.
    pub fn new() -> ReduceOptions {
        ReduceOptions::default()
    }

    /// Options for these axes: `ReduceOptions::axes([0, -1])`, or names, `ReduceOptions::axes("time")`.
    pub fn axes(axes: impl Into<ReduceOptions>) -> ReduceOptions {
        axes.into()
    }

    /// Whether the result keeps the axes, with size 1.
    pub fn keepdims(self, keepdims: bool) -> Self {
        ReduceOptions { keepdims, ..self }
    }

    /// The rule set: which axes are the default, which are legal, and whether `max` and `min` of no
    /// elements have a value.
    pub fn rule(self, rule: ReductionRuleName) -> Self {
        ReduceOptions { rule, ..self }
    }

    /// Whether sums and products of integers have 64 bits unless `dtype` is set, like under the numpy rule.
    pub fn widens_integers(self, widens_integers: bool) -> Self {
        ReduceOptions { widens_integers, ..self }
    }

    /// The element type of the result, to which elements are converted first.
    pub fn dtype(self, dtype: DType) -> Self {
        ReduceOptions { dtype: Some(dtype), ..self }
    }

    /// Reduces only the elements that are true in this mask, which broadcasts to the operand: NumPy's
    /// `where=`.
    pub fn selected(self, mask: impl Borrow<Value>) -> Self {
        ReduceOptions { selected: Some(mask.borrow().clone()), ..self }
    }

    /// An initial value, combined with the result.
    pub fn initial(self, initial: impl Into<Initial>) -> Self {
        ReduceOptions { initial: Some(initial.into()), ..self }
    }

    /// `var` and `std` divide by the number of elements minus this: NumPy's `ddof`.
    pub fn correction(self, correction: f64) -> Self {
        self.number("correction", Literal::Float(correction))
    }

    /// `layer_norm` and `rms_norm` add this to the variance or the mean square.
    pub fn epsilon(self, epsilon: f64) -> Self {
        self.number("epsilon", Literal::Float(epsilon))
    }

    /// Whether `argmax` and `argmin` return the last of equal elements.
    pub fn last(self, last: bool) -> Self {
        self.number("last", Literal::Bool(last))
    }

    /// Whether `sum` is correctly rounded, which is slow.
    pub fn exact(self, exact: bool) -> Self {
        self.number("exact", Literal::Bool(exact))
    }

    /// A number of a parameter of the function, by name.
    pub fn number(mut self, parameter: &'static str, number: Literal) -> Self {
        self.numbers.retain(|&(name, _)| name != parameter);
        self.numbers.push((parameter, number));
        self
    }

    /// The numbers of the function's parameters, in order; `None` is the default.
    fn numbers_of(&self, function: Reduction) -> Vec<Option<Literal>> {
        let number = |parameter: &Parameter| {
            let found = self.numbers.iter().find(|&&(name, _)| name == parameter.name());
            found.map(|&(_, number)| number)
        };
        function.parameters().iter().map(number).collect()
    }

    /// Whether the option for this argument is set: `keepdims`, `dtype`, `initial` or `where`.
    fn has(&self, argument: &Parameter) -> bool {
        match argument.name() {
            "keepdims" => self.keepdims,
            "dtype" => self.dtype.is_some(),
            "initial" => self.initial.is_some(),
            _ => self.selected.is_some(),
        }
    }
}

/// All axes.
impl From<()> for ReduceOptions {
    fn from((): ()) -> Self {
        ReduceOptions::default()
    }
}

/// All axes.
impl From<RangeFull> for ReduceOptions {
    fn from(_: RangeFull) -> Self {
        ReduceOptions::default()
    }
}

impl From<&ReduceOptions> for ReduceOptions {
    fn from(options: &ReduceOptions) -> Self {
        options.clone()
    }
}

/// Conversions of axes to options: positions (`i64`, `i32`, `isize` or `usize`) and names (`&str`).
macro_rules! axes_of {
    ($($type:ty, $field:ident, $convert:expr;)*) => {$(
        impl From<$type> for ReduceOptions {
            fn from(axis: $type) -> Self {
                [axis].into()
            }
        }

        impl<const COUNT: usize> From<[$type; COUNT]> for ReduceOptions {
            fn from(axes: [$type; COUNT]) -> Self {
                axes.as_slice().into()
            }
        }

        impl<const COUNT: usize> From<&[$type; COUNT]> for ReduceOptions {
            fn from(axes: &[$type; COUNT]) -> Self {
                axes.as_slice().into()
            }
        }

        impl From<Vec<$type>> for ReduceOptions {
            fn from(axes: Vec<$type>) -> Self {
                axes.as_slice().into()
            }
        }

        impl From<&Vec<$type>> for ReduceOptions {
            fn from(axes: &Vec<$type>) -> Self {
                axes.as_slice().into()
            }
        }

        impl From<&[$type]> for ReduceOptions {
            fn from(axes: &[$type]) -> Self {
                let axes = axes.iter().copied().map($convert).collect();
                ReduceOptions { $field: Some(axes), ..ReduceOptions::default() }
            }
        }
    )*};
}

axes_of! {
    i64, axes, i64::from;
    i32, axes, i64::from;
    isize, axes, |axis| axis as i64;
    usize, axes, |axis| i64::try_from(axis).unwrap_or(i64::MAX);
    &str, names, str::to_owned;
}

/// Conversions of numbers to initial values.
macro_rules! initial_number {
    ($($type:ident $variant:ident $wide:ident;)*) => {$(
        impl From<$type> for Initial {
            fn from(number: $type) -> Self {
                Initial::Number(Literal::$variant($wide::from(number)))
            }
        }
    )*};
}

initial_number! {
    bool Bool bool;
    i32 Int i128;
    i64 Int i128;
    u64 Int i128;
    f32 Float f64;
    f64 Float f64;
}

impl GraphBuilder {
    /// A function of one operand along axes.
    ///
    /// ```
    /// use indim_builder::{GraphBuilder, Reduction};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [4, 3])?;
    /// assert_eq!(b.along(Reduction::Mean, &x, 0)?.array_type()?.to_string(), "f32[3]");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// Like [`GraphBuilder::along_of`].
    #[track_caller]
    pub fn along(
        &self,
        function: Reduction,
        operand: impl Operand,
        options: impl Into<ReduceOptions>,
    ) -> BuildResult {
        let operand = self.value(self.operand_id(function.name(), operand)?);
        self.along_of(function, &[operand], options, &RuleSet::None)
    }

    /// A function of one or several operands along axes. If it [pairs](Reduction::pairs) the elements of
    /// two operands, they are broadcast under `rule`, and the axes are those of the broadcast shape.
    ///
    /// ```
    /// use indim_builder::{GraphBuilder, Reduction};
    /// use indim_ops::DType;
    /// use indim_shape::RuleSet;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [4, 3])?;
    /// let v = b.parameter("v", DType::F32, [3])?;
    /// let products = b.along_of(Reduction::VecDot, &[x, v], -1, &RuleSet::Numpy)?;
    /// assert_eq!(products.array_type()?.to_string(), "f32[4]");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// `wrong-operand-count`; TY1 and TY2; [R1 to R6](indim_shape::rules#reductions-r), `unknown-axis-name`;
    /// `scan-axes` for a scan along several axes; `argument-not-taken`; `empty-reduction` for an extreme or
    /// arg-reduction of no elements; `initial-required` for an extreme with a mask and without an initial
    /// value; `matrix-product`; the labels of `rule`; E5 `too-large`.
    #[track_caller]
    pub fn along_of(
        &self,
        function: Reduction,
        operands: &[Value],
        options: impl Into<ReduceOptions>,
        rule: &RuleSet,
    ) -> BuildResult {
        let options = &options.into();
        let name = function.name();
        let ids = self.ids(name, operands)?;
        let types: Vec<ArrayType> = ids.iter().map(|&id| self.type_of(id)).collect();
        if let Err(kind) = check_call(function, &types, options) {
            return Err(self.error(name, &ids, kind));
        }
        let paired = match operands {
            [x, y] if function.pairs() => Some(self.broadcast_pair(name, x, y, rule)?),
            _ => None,
        };
        let operands = paired.as_ref().map_or(operands, |paired| &paired[..]);
        let x = match options.dtype {
            Some(dtype) => self.convert(&operands[0], dtype)?,
            None => operands[0].clone(),
        };
        let array_type = x.array_type()?;
        let options = &self.resolve_axis_names(name, &x, options)?;
        let axes = match checked_axes(function, options, &array_type.shape) {
            Ok(axes) => axes,
            Err(kind) => return Err(self.error(name, &ids, kind)),
        };
        let selected = match &options.selected {
            Some(selected) => Some(self.broadcast_mask(name, &x, selected)?),
            None => None,
        };
        let call =
            ReductionContext { x, others: &operands[1..], array_type, axes, selected, options };
        function.define(&call, &options.numbers_of(function))
    }

    /// A function along axes, as a method of its first operand. Two operands have equal shapes, or one is
    /// a scalar. The builder defers an error.
    #[track_caller]
    pub(super) fn along_deferred(
        &self,
        function: Reduction,
        operands: &[OperandArg],
        options: ReduceOptions,
    ) -> Value {
        let result = self.ids_of(function.name(), operands, 0).and_then(|ids| {
            let values: Vec<Value> = ids.iter().map(|&id| self.value(id)).collect();
            let rule = match values.iter().any(Value::is_scalar) {
                true => RuleSet::Xla { dims: Vec::new() },
                false => RuleSet::None,
            };
            self.along_of(function, &values, options, &rule)
        });
        self.defer_error(result)
    }

    /// The options, with axis names replaced by axis positions.
    #[track_caller]
    fn resolve_axis_names<'a>(
        &self,
        function: &'static str,
        x: &Value,
        options: &'a ReduceOptions,
    ) -> Result<Cow<'a, ReduceOptions>, GraphError> {
        let Some(names) = &options.names else { return Ok(Cow::Borrowed(options)) };
        let axes = names.iter().map(|name| x.axis_of(function, name));
        let axes = Some(axes.collect::<Result<Vec<_>, _>>()?);
        Ok(Cow::Owned(ReduceOptions { axes, names: None, ..options.clone() }))
    }

    #[track_caller]
    fn broadcast_pair(
        &self,
        name: &'static str,
        x: &Value,
        y: &Value,
        rule: &RuleSet,
    ) -> Result<[Value; 2], GraphError> {
        let operands = [x, y].map(crate::operand::sealed::Sealed::into_arg);
        self.broadcast_operands(name, operands, rule, |types| Ok(types[0].dtype))
    }

    /// The mask, checked and broadcast to the shape of `x`.
    #[track_caller]
    fn broadcast_mask(&self, name: &'static str, x: &Value, selected: &Value) -> BuildResult {
        let dtype = selected.array_type()?.dtype;
        if dtype != DType::Bool {
            let ids = self.ids(name, &[x, selected])?;
            let kind = GraphErrorKind::ElementTypeNotAllowed { operand: 1, dtype };
            return Err(self.error(name, &ids, kind));
        }
        let shape = x.array_type()?.shape;
        let mask = self.broadcast_onto(selected, &TargetRule::Unidirectional, shape)?;
        self.equate(mask.expect_id(), x.expect_id());
        Ok(mask)
    }
}

/// Checks operands and options against the function.
fn check_call(
    function: Reduction,
    operands: &[ArrayType],
    options: &ReduceOptions,
) -> Result<(), GraphErrorKind> {
    let count = function.operands().len();
    let dtype = check_operands(operands, count, false, |dtype| function.takes(dtype))?;
    let arguments = [
        ReduceOptions::KEEPDIMS,
        ReduceOptions::DTYPE,
        ReduceOptions::INITIAL,
        ReduceOptions::WHERE,
    ];
    let is_accepted = |argument: &Parameter| {
        function.arguments().iter().any(|accepted| accepted.name() == argument.name())
    };
    if let Some(argument) =
        arguments.iter().find(|argument| options.has(argument) && !is_accepted(argument))
    {
        return Err(GraphErrorKind::ArgumentNotTaken { argument: argument.name() });
    }
    let is_parameter =
        |name| function.parameters().iter().any(|parameter| parameter.name() == name);
    if let Some(&(argument, _)) = options.numbers.iter().find(|&&(name, _)| !is_parameter(name)) {
        return Err(GraphErrorKind::ArgumentNotTaken { argument });
    }
    match options.dtype {
        Some(real)
            if dtype.class() == DTypeClass::Complex && real.class() != DTypeClass::Complex =>
        {
            Err(GraphErrorKind::ElementTypeMismatch { operand: 0, dtype, expected: real })
        }
        _ if function.is_extreme() && options.selected.is_some() && options.initial.is_none() => {
            Err(GraphErrorKind::InitialRequired)
        }
        _ if function == Reduction::Dot && options.axes.is_none() && options.names.is_none() => {
            check_vectors(operands)
        }
        _ => Ok(()),
    }
}

/// Checks that operands are vectors or scalars, as `dot` without axes requires.
fn check_vectors(operands: &[ArrayType]) -> Result<(), GraphErrorKind> {
    match operands.iter().any(|operand| operand.shape.rank() > 1) {
        true => Err(GraphErrorKind::MatrixProduct),
        false => Ok(()),
    }
}

/// The reduced axes, counted from the front, in ascending order. An error if an axis has size 0, the
/// result has elements, and the function has no value without elements.
fn checked_axes(
    function: Reduction,
    options: &ReduceOptions,
    shape: &Shape,
) -> Result<Vec<usize>, GraphErrorKind> {
    let rule = options.rule.rule(options.axes.as_deref(), options.keepdims, shape.rank());
    let form = rule.elaborate(shape).map_err(GraphErrorKind::Reduction)?;
    let axes = form.axes().to_vec();
    let may_flatten = options.axes.is_none() && !function.pairs();
    if function.is_scan() && !may_flatten && axes.len() != 1 {
        return Err(GraphErrorKind::ScanAxes { given: axes.len() });
    }
    let has_results = !form.result().contains(&0);
    let needs_elements = match function {
        Reduction::Max | Reduction::Min => !has_start_value(options),
        _ if function.is_extreme() => options.initial.is_none(),
        _ => function.is_arg_reduction(),
    };
    match axes.iter().find(|&&axis| shape[axis] == 0) {
        Some(&axis) if needs_elements && has_results => {
            Err(GraphErrorKind::EmptyReduction { axis })
        }
        _ => Ok(axes),
    }
}

/// Whether an extreme of no elements has a value: the initial value, or, under rule sets that allow it,
/// the identity.
fn has_start_value(options: &ReduceOptions) -> bool {
    use ReductionRuleName::{Onnx, StableHlo, Xla};
    options.initial.is_some() || matches!(options.rule, Xla | StableHlo | Onnx)
}
