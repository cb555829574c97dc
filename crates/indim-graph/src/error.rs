//! Errors of graphs: typed data with a stable code, and the drawn report.

use core::fmt;
use core::panic::Location;

use indim_ops::{ArrayType, DType, DTypeClass, Fact, Op, ReduceOp};
use indim_shape::{
    AxisNames, ContractionError, Diagnostic, EinsumError, ErrorCode, OperandLabel, ReductionError,
    Shape, ShapeError, diagnose,
};

use crate::literal::Literal;
use crate::regions::limits::{MAX_REGION_DEPTH, MAX_REGION_NODES, MAX_REGION_OPERANDS};
use crate::terminal::{label, printable, width};
use crate::views::{AxisSlice, AxisWindow};

/// An error in building or differentiating a graph. The verifier reports such errors too
/// ([`VerifyErrorKind::Rule`](crate::VerifyErrorKind::Rule)).
///
/// `{}` and `{:?}` show the drawn report with the caller's line, and so do `unwrap` and `?` in `main`.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3])?;
/// let y = b.parameter("y", DType::F64, [2, 3])?;
/// let error = b.add(&x, &y, &[]).unwrap_err();
/// assert_eq!((error.code(), error.label()), ("element-type-mismatch", Some("TY2")));
/// assert_eq!(error.operand(), Some(1));
/// assert!(error.draw().ends_with("   = help: convert it: f32(y)\n"));
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct GraphError {
    /// The violation.
    pub kind: GraphErrorKind,
    /// The requested operation.
    pub operation: &'static str,
    /// Its operands, by name and type, in order.
    pub operands: Vec<(String, ArrayType)>,
    /// The caller of the builder.
    pub location: Option<&'static Location<'static>>,
}

/// The kinds of errors, without their location.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::GraphErrorKind;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3])?;
/// let error = b.reshape(&x, [4]).unwrap_err();
/// assert!(matches!(error.kind, GraphErrorKind::ReshapeElementCount { .. }));
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum GraphErrorKind {
    /// The shapes do not broadcast.
    Shape(Box<ShapeError>),
    /// [TY1](indim_shape::rules#element-types-ty): the operation does not take elements of this type.
    ElementTypeNotAllowed {
        /// The operand's position.
        operand: usize,
        /// Its element type.
        dtype: DType,
    },
    /// [TY2](indim_shape::rules#element-types-ty), and X1 under xla: the operands' element types differ.
    ElementTypeMismatch {
        /// The position of the operand that differs.
        operand: usize,
        /// Its element type.
        dtype: DType,
        /// The element type that the other operands have.
        expected: DType,
    },
    /// The operation takes another number of operands.
    WrongOperandCount {
        /// The number it takes.
        expected: usize,
        /// The number given.
        given: usize,
    },
    /// A reshape would change the number of elements.
    ReshapeElementCount {
        /// The shape asked for.
        shape: Shape,
    },
    /// The list of a transposition does not name every axis once.
    NotAPermutation {
        /// The list as given.
        permutation: Vec<i64>,
    },
    /// An axis does not exist.
    AxisOutOfRange {
        /// The axis as given.
        axis: i64,
        /// The number of axes.
        rank: usize,
    },
    /// Axis names were given to a value that is not a parameter; the names of its axes follow from its
    /// operands.
    NotAParameter,
    /// No axis of the operand has this name.
    UnknownAxisName {
        /// The name as given.
        name: String,
        /// The names that the axes have.
        names: AxisNames,
    },
    /// A list of axes has one twice.
    AxesNotUnique {
        /// The list as given.
        axes: Vec<i64>,
    },
    /// [R1 to R6](indim_shape::rules#reductions-r): the axes cannot be reduced.
    Reduction(ReductionError),
    /// [P1 to P5](indim_shape::rules#products-p): the axes of two operands cannot be multiplied.
    Contraction(ContractionError),
    /// [P5 to P8](indim_shape::rules#products-p): an `einsum` is not possible.
    Einsum(EinsumError),
    /// A reduction without an identity, such as `max`, along an axis without elements.
    EmptyReduction {
        /// The axis.
        axis: usize,
    },
    /// A scan along no axis or several axes.
    ScanAxes {
        /// The number of axes.
        given: usize,
    },
    /// A reduction without an identity, such as `max`, with a mask but without an initial value: the mask
    /// may select no element.
    InitialRequired,
    /// The function along axes does not take this argument.
    ArgumentNotTaken {
        /// `dtype`, `initial`, `where`, `keepdims`, or the name of a number that only other functions take.
        argument: &'static str,
    },
    /// `dot` of operands with several axes, which is a matrix product in NumPy.
    MatrixProduct,
    /// The number of slices or widths is not the number of axes.
    SliceRank {
        /// The number given.
        given: usize,
        /// The number of axes.
        rank: usize,
    },
    /// A slice with step 0.
    ZeroStep,
    /// A slice out of range.
    SliceOutOfRange {
        /// The axis.
        axis: usize,
        /// The slice.
        slice: AxisSlice,
        /// The size of the axis.
        size: usize,
    },
    /// A window whose size, stride or dilation is 0, or too large.
    BadWindow {
        /// The window.
        window: AxisWindow,
    },
    /// A window that is larger than its axis.
    WindowTooLarge {
        /// The axis.
        axis: usize,
        /// The window.
        window: AxisWindow,
        /// The size of the axis.
        size: usize,
    },
    /// Axes, features or groups of a convolution do not fit.
    Convolution {
        /// The problem, in words.
        problem: String,
    },
    /// A Fourier transform of this length, or with these axes, is not possible: the problem, in words.
    Fourier(String),
    /// An index out of range.
    IndexOutOfRange {
        /// The axis.
        axis: usize,
        /// The index as given.
        index: i64,
        /// The size of the axis.
        size: usize,
    },
    /// An index expression with more indices than axes.
    TooManyIndices {
        /// The number given.
        given: usize,
        /// The number of axes.
        rank: usize,
    },
    /// An index expression with several `...`.
    SeveralEllipses,
    /// Indices of another rank than the operand, for a function that takes an index for each element.
    IndexRank {
        /// The operand's rank.
        expected: usize,
        /// The rank of the indices.
        given: usize,
    },
    /// A concatenation of no values.
    NothingToConcatenate,
    /// An operand of a concatenation differs from the first in the size of another axis, or in the number
    /// of axes.
    ConcatenateShape {
        /// The operand's position.
        operand: usize,
        /// The axis of the concatenation.
        axis: usize,
    },
    /// An operand of a stack does not have the shape of the first.
    StackShape {
        /// The operand's position.
        operand: usize,
    },
    /// A gather along an axis without elements.
    TakeFromEmpty {
        /// The axis.
        axis: usize,
    },
    /// The updates of a scatter do not have the shape of a gather by the same indices.
    ScatterShape {
        /// The required shape.
        expected: Shape,
    },
    /// The table of a search does not have one axis.
    TableRank {
        /// The rank of the table.
        rank: usize,
    },
    /// A key of random numbers is not a `u32[2]`.
    RandomKey,
    /// The body of a loop changes the type of a state.
    LoopStateType(Box<RegionMismatch>),
    /// A region has another number of parameters or results than its loop or branch, or a branch has no
    /// region.
    RegionCount {
        /// The region: `body`, `condition` or `branch 1`.
        region: String,
        /// `parameters`, `results` or `regions`.
        counted: &'static str,
        /// The number it should have.
        expected: usize,
        /// The number it has.
        given: usize,
    },
    /// A parameter or result of a region has another type than its loop or branch needs.
    RegionType(Box<RegionMismatch>),
    /// Regions are nested too deep, have too many nodes, or have results with too many operands.
    RegionLimit {
        /// The region: `body`, `condition` or `branch 1`.
        region: String,
        /// Its nesting.
        depth: usize,
        /// Its nodes, with those of the regions inside.
        nodes: usize,
        /// The operands of all its results together.
        operands: usize,
    },
    /// Padding that repeats or mirrors more elements than an axis has.
    PadWidth {
        /// The axis.
        axis: usize,
        /// The requested width.
        width: usize,
        /// The maximum width.
        max: usize,
    },
    /// An exact sum of elements other than `f64` and `c128`.
    ExactSumType {
        /// Their type.
        dtype: DType,
    },
    /// An exact sum of more elements than its digits can add.
    ExactSumTooLong,
    /// A bitcast between types of different widths, or to `bool` or a complex type.
    BitcastWidth {
        /// The operand's element type.
        from: DType,
        /// The requested element type.
        to: DType,
    },
    /// A float format without bits for an exponent.
    NoExponentBits,
    /// A number is not a value of the element type of the other operands.
    Number {
        /// The number.
        literal: Literal,
        /// The element type of the other operands.
        dtype: DType,
    },
    /// Two parameters have the same name.
    DuplicateParameter {
        /// The name.
        name: String,
    },
    /// A size is neither a number nor a name.
    BadSize {
        /// The given value.
        text: String,
    },
    /// A value belongs to another builder.
    ForeignValue,
    /// An argument of an inlined graph does not have its parameter's type.
    ArgumentType {
        /// The parameter's position.
        operand: usize,
        /// The parameter's type.
        expected: ArrayType,
    },
    /// The operation has no derivative.
    NotDifferentiable,
    /// Values of the parameter's type have no derivatives.
    ParameterNotDifferentiable,
    /// A gradient of a graph whose output is not one real scalar.
    NotOneNumber,
    /// A graph has no parameter with this index.
    UnknownParameter {
        /// The index, from 0.
        index: usize,
        /// The number of parameters.
        count: usize,
    },
    /// A graph has no parameter with this name.
    UnknownParameterName {
        /// The name that no parameter has.
        name: String,
        /// The names of the graph's first parameters, those that the message lists.
        parameters: Vec<String>,
        /// The number of parameters.
        count: usize,
    },
    /// An output of a vectorised graph differs between the elements of the batch, and has no batch axis.
    BatchedOutput {
        /// The position of the output.
        output: usize,
    },
}

/// A type that does not fit in a region of a loop or branch.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::GraphErrorKind;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [])?;
/// let error = b.fori_loop(0..9, &[&x], |_, _, s| Ok(vec![s[0].convert(DType::F64)])).unwrap_err();
/// let GraphErrorKind::LoopStateType(mismatch) = error.kind else { panic!() };
/// assert_eq!((mismatch.expected.dtype, mismatch.found.dtype), (DType::F32, DType::F64));
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RegionMismatch {
    /// The region: `body`, `condition` or `branch 1`.
    pub region: String,
    /// The state, parameter or result.
    pub place: String,
    /// The type it should have.
    pub expected: ArrayType,
    /// The type it has.
    pub found: ArrayType,
}

impl GraphError {
    /// An error in `operation` on these operands, given by name and type.
    pub fn new(
        kind: GraphErrorKind,
        operation: &'static str,
        operands: Vec<(String, ArrayType)>,
    ) -> Self {
        GraphError { kind, operation, operands, location: None }
    }

    /// The same error, with a location.
    #[must_use]
    pub fn at(self, location: &'static Location<'static>) -> Self {
        GraphError { location: Some(location), ..self }
    }

    /// The stable code: `size-mismatch`, `element-type-mismatch`, ...
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        match &self.kind {
            GraphErrorKind::Shape(error) => error.error_code(),
            GraphErrorKind::ElementTypeNotAllowed { .. } => ErrorCode::ELEMENT_TYPE_NOT_ALLOWED,
            GraphErrorKind::ElementTypeMismatch { .. } => ErrorCode::ELEMENT_TYPE_MISMATCH,
            GraphErrorKind::WrongOperandCount { .. } => ErrorCode::WRONG_OPERAND_COUNT,
            GraphErrorKind::ReshapeElementCount { .. } => ErrorCode::RESHAPE_ELEMENT_COUNT,
            GraphErrorKind::NotAPermutation { .. } => ErrorCode::NOT_A_PERMUTATION,
            GraphErrorKind::AxisOutOfRange { .. } => ErrorCode::AXIS_OUT_OF_RANGE,
            GraphErrorKind::NotAParameter => ErrorCode::NOT_A_PARAMETER,
            GraphErrorKind::UnknownAxisName { .. } => ErrorCode::UNKNOWN_AXIS_NAME,
            GraphErrorKind::AxesNotUnique { .. } => ErrorCode::AXES_NOT_UNIQUE,
            GraphErrorKind::Reduction(error) => error.error_code(),
            GraphErrorKind::Contraction(error) => error.error_code(),
            GraphErrorKind::Einsum(error) => error.error_code(),
            GraphErrorKind::EmptyReduction { .. } => ErrorCode::EMPTY_REDUCTION,
            GraphErrorKind::ScanAxes { .. } => ErrorCode::SCAN_AXES,
            GraphErrorKind::InitialRequired => ErrorCode::INITIAL_REQUIRED,
            GraphErrorKind::ArgumentNotTaken { .. } => ErrorCode::ARGUMENT_NOT_TAKEN,
            GraphErrorKind::MatrixProduct => ErrorCode::MATRIX_PRODUCT,
            GraphErrorKind::SliceRank { .. } => ErrorCode::SLICE_RANK,
            GraphErrorKind::ZeroStep => ErrorCode::ZERO_STEP,
            GraphErrorKind::SliceOutOfRange { .. } => ErrorCode::SLICE_OUT_OF_RANGE,
            GraphErrorKind::Convolution { .. } => ErrorCode::CONVOLUTION_SHAPE,
            GraphErrorKind::Fourier(_) => ErrorCode::FOURIER_LENGTH,
            GraphErrorKind::BadWindow { .. } => ErrorCode::BAD_WINDOW,
            GraphErrorKind::WindowTooLarge { .. } => ErrorCode::WINDOW_TOO_LARGE,
            GraphErrorKind::IndexOutOfRange { .. } => ErrorCode::INDEX_OUT_OF_RANGE,
            GraphErrorKind::TooManyIndices { .. } => ErrorCode::TOO_MANY_INDICES,
            GraphErrorKind::SeveralEllipses => ErrorCode::SEVERAL_ELLIPSES,
            GraphErrorKind::IndexRank { .. } => ErrorCode::INDEX_RANK,
            GraphErrorKind::NothingToConcatenate => ErrorCode::NOTHING_TO_CONCATENATE,
            GraphErrorKind::ConcatenateShape { .. } => ErrorCode::CONCATENATE_SHAPE,
            GraphErrorKind::StackShape { .. } => ErrorCode::STACK_SHAPE,
            GraphErrorKind::TakeFromEmpty { .. } => ErrorCode::TAKE_FROM_EMPTY,
            GraphErrorKind::ScatterShape { .. } => ErrorCode::SCATTER_SHAPE,
            GraphErrorKind::TableRank { .. } => ErrorCode::TABLE_RANK,
            GraphErrorKind::RandomKey => ErrorCode::RANDOM_KEY,
            GraphErrorKind::LoopStateType(_) => ErrorCode::LOOP_STATE_TYPE,
            GraphErrorKind::RegionCount { .. } | GraphErrorKind::RegionType(_) => {
                ErrorCode::REGION_TYPE
            }
            GraphErrorKind::RegionLimit { .. } => ErrorCode::REGION_LIMIT,
            GraphErrorKind::PadWidth { .. } => ErrorCode::PAD_WIDTH,
            GraphErrorKind::ExactSumType { .. } => ErrorCode::EXACT_SUM_TYPE,
            GraphErrorKind::ExactSumTooLong => ErrorCode::EXACT_SUM_LENGTH,
            GraphErrorKind::BitcastWidth { .. } => ErrorCode::BITCAST_WIDTH,
            GraphErrorKind::NoExponentBits => ErrorCode::NO_EXPONENT_BITS,
            GraphErrorKind::Number { literal, dtype } if literal.is_of_kind(*dtype) => {
                ErrorCode::LITERAL_OUT_OF_RANGE
            }
            GraphErrorKind::Number { .. } => ErrorCode::LITERAL_KIND,
            GraphErrorKind::DuplicateParameter { .. } => ErrorCode::DUPLICATE_PARAMETER,
            GraphErrorKind::BadSize { .. } => ErrorCode::BAD_SIZE,
            GraphErrorKind::ForeignValue => ErrorCode::FOREIGN_VALUE,
            GraphErrorKind::ArgumentType { .. } => ErrorCode::ARGUMENT_TYPE,
            GraphErrorKind::NotDifferentiable | GraphErrorKind::ParameterNotDifferentiable => {
                ErrorCode::NOT_DIFFERENTIABLE
            }
            GraphErrorKind::NotOneNumber => ErrorCode::NOT_ONE_NUMBER,
            GraphErrorKind::UnknownParameter { .. }
            | GraphErrorKind::UnknownParameterName { .. } => ErrorCode::UNKNOWN_PARAMETER,
            GraphErrorKind::BatchedOutput { .. } => ErrorCode::BATCHED_OUTPUT,
        }
    }

    /// The label of the violated rule, if it has one.
    pub fn label(&self) -> Option<&'static str> {
        match &self.kind {
            GraphErrorKind::Shape(error) => Some(error.label()),
            GraphErrorKind::Reduction(error) => Some(error.label()),
            GraphErrorKind::Contraction(error) => Some(error.label()),
            GraphErrorKind::Einsum(error) => Some(error.label()),
            GraphErrorKind::ElementTypeNotAllowed { .. } => Some("TY1"),
            GraphErrorKind::ElementTypeMismatch { .. } => Some("TY2"),
            _ => None,
        }
    }

    /// The position of the operand that causes the error.
    pub fn operand(&self) -> Option<usize> {
        match &self.kind {
            GraphErrorKind::Shape(error) => error.operand(),
            GraphErrorKind::Contraction(error) => error.operand(),
            GraphErrorKind::Einsum(error) => error.operand(),
            GraphErrorKind::ElementTypeNotAllowed { operand, .. }
            | GraphErrorKind::ElementTypeMismatch { operand, .. }
            | GraphErrorKind::ArgumentType { operand, .. }
            | GraphErrorKind::ConcatenateShape { operand, .. }
            | GraphErrorKind::StackShape { operand } => Some(*operand),
            _ => None,
        }
    }

    /// The violation, in one line.
    pub fn headline(&self) -> String {
        Headline(self).to_string()
    }

    /// The drawn report: headline, shapes with the conflicting axis marked, the rule, and repairs.
    pub fn draw(&self) -> String {
        self.diagnostic().to_string()
    }

    /// The same report as data, without the location.
    pub fn diagnostic(&self) -> Diagnostic {
        let names: Vec<String> = self.operands.iter().map(|(name, _)| printable(name)).collect();
        if let GraphErrorKind::Shape(error) = &self.kind {
            let operands = names.iter().zip(&self.operands);
            let labels: Vec<OperandLabel<'_>> =
                operands.map(|(name, (_, t))| label(name, t.dtype.name())).collect();
            return diagnose(error, self.operation, &labels);
        }
        let mut diagnostic = Diagnostic::new(self.error_code(), self.headline());
        let widest = names.iter().map(|name| width(name)).max().unwrap_or(0);
        for (name, (_, array_type)) in names.iter().zip(&self.operands) {
            let blank = " ".repeat(widest - width(name));
            diagnostic.line(format!("   {name}{blank} : {array_type}"));
        }
        if let GraphErrorKind::Contraction(error) = &self.kind {
            diagnostic.remark(format!("rule {}", error.label()), error.rule().to_string());
        }
        if let Some(help) = self.help() {
            diagnostic.help(help);
        }
        diagnostic
    }

    fn help(&self) -> Option<String> {
        match &self.kind {
            GraphErrorKind::ElementTypeMismatch { operand, expected, .. } => {
                Some(format!("convert it: {expected}({})", self.operand_name(*operand)))
            }
            GraphErrorKind::ElementTypeNotAllowed { operand, dtype } if dtype.is_storage() => {
                Some(match self.operands.get(*operand) {
                    Some((name, _)) => {
                        let name = printable(name);
                        format!("{dtype} is a storage type: convert to f32 first, f32({name})")
                    }
                    None => format!("{dtype} is a storage type: convert an array of f32 to it"),
                })
            }
            GraphErrorKind::ElementTypeNotAllowed { dtype, .. }
                if dtype.class() == DTypeClass::Complex && is_ordering(self.operation) =>
            {
                Some("complex numbers have no order: compare real(x), imag(x) or abs(x)".to_owned())
            }
            GraphErrorKind::ElementTypeNotAllowed { operand: 1, dtype }
                if matches!(self.operation, "take" | "take_along_axis" | "gather") =>
            {
                let indices = self.operand_name(1);
                Some(match dtype {
                    DType::Bool => format!(
                        "a mask is not an index, because the size of the result would depend on its \
                         elements; to choose between elements write where({indices}, x, y)"
                    ),
                    _ => format!("indices are integers: i64({indices})"),
                })
            }
            GraphErrorKind::SliceOutOfRange { .. } => Some(
                "slices in Python's syntax, x[start:stop:step], are clamped to the axis".to_owned(),
            ),
            GraphErrorKind::ElementTypeNotAllowed { dtype, .. }
                if wide_for(self.operation, *dtype).is_some() =>
            {
                let wide = wide_for(self.operation, *dtype)?;
                Some(format!("convert it: {wide}({}), and the result back", self.operand_name(0)))
            }
            GraphErrorKind::Number { literal, .. } => Some(format!(
                "convert the other operands to a type that holds {literal}, or write the number otherwise"
            )),
            GraphErrorKind::Reduction(error) => Some(error.advice()),
            GraphErrorKind::Contraction(error) => error.advice(&self.names()),
            GraphErrorKind::InitialRequired => {
                Some("give `initial`: it is the result if no element is selected".to_owned())
            }
            GraphErrorKind::ExactSumType { dtype } => {
                let wide = if dtype.class() == DTypeClass::Complex { "c128" } else { "f64" };
                Some(format!("convert it: {wide}({})", self.operand_name(0)))
            }
            GraphErrorKind::ExactSumTooLong => {
                Some("sum pieces of fewer than 2^31 elements".to_owned())
            }
            GraphErrorKind::MatrixProduct => {
                let [x, y] = [0, 1].map(|operand| self.operand_name(operand));
                Some(format!(
                    "for a matrix product write {x} @ {y}; for products along an axis name it, as in \
                     vecdot({x}, {y}, axis=-1)"
                ))
            }
            GraphErrorKind::LoopStateType(mismatch) => {
                let RegionMismatch { expected, found, .. } = &**mismatch;
                Some(match expected.shape == found.shape {
                    true => format!(
                        "convert the result of the body, {}(...), or begin with {}",
                        expected.dtype, found.dtype
                    ),
                    false => {
                        "every step has arrays of the same shape: begin with the shape that the body \
                         returns, or write a part of a larger array in each step"
                            .to_owned()
                    }
                })
            }
            GraphErrorKind::ParameterNotDifferentiable => Some(
                "differentiate with respect to floats or complex numbers; integers and bool have no \
                 derivative"
                    .to_owned(),
            ),
            GraphErrorKind::NotDifferentiable if self.operation == "while" => Some(
                "its length is not known: write fori_loop or scan with a known length, or use tangents (jvp)"
                    .to_owned(),
            ),
            GraphErrorKind::NotOneNumber => Some(
                "sum the output, or take its real part; a vector-Jacobian product (vjp) takes any outputs, \
                 with a cotangent for each"
                    .to_owned(),
            ),
            GraphErrorKind::BatchedOutput { .. } => {
                Some("give the output a position for the batch, such as 0, in out_axes".to_owned())
            }
            _ => None,
        }
    }

    fn names(&self) -> Vec<&str> {
        self.operands.iter().map(|(name, _)| name.as_str()).collect()
    }

    fn operand_name(&self, operand: usize) -> String {
        self.operands.get(operand).map_or("?".to_owned(), |(name, _)| printable(name))
    }
}

/// Whether the operation compares elements by their order.
fn is_ordering(operation: &str) -> bool {
    Op::ALL.iter().any(|op| op.name() == operation && op.is(Fact::Orders))
}

/// The wider element type that the message proposes for a reduction which does not take `dtype`: `f64` or
/// `c128`, if the reduction takes it.
fn wide_for(operation: &str, dtype: DType) -> Option<DType> {
    let op: ReduceOp = operation.parse().ok()?;
    let wide = match dtype.class() {
        DTypeClass::Float => DType::F64,
        DTypeClass::Complex => DType::C128,
        _ => return None,
    };
    op.takes(wide).then_some(wide)
}

/// The first line of the drawing.
struct Headline<'a>(&'a GraphError);

impl fmt::Display for Headline<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = self.0.operation;
        match &self.0.kind {
            GraphErrorKind::Shape(error) => write!(formatter, "`{operation}`: {error}"),
            // Without operands, this is the element type of the result, which the call states.
            GraphErrorKind::ElementTypeNotAllowed { dtype, .. } if self.0.operands.is_empty() => {
                write!(formatter, "`{operation}` makes no arrays of {dtype}")
            }
            GraphErrorKind::ElementTypeNotAllowed { operand, dtype } => {
                let name = self.0.operand_name(*operand);
                write!(
                    formatter,
                    "`{operation}` does not take {dtype}, the element type of `{name}`"
                )
            }
            GraphErrorKind::ElementTypeMismatch { operand, dtype, expected } => write!(
                formatter,
                "`{operation}` needs equal element types, but `{}` is {dtype}, not {expected}",
                self.0.operand_name(*operand)
            ),
            GraphErrorKind::WrongOperandCount { expected, given } => {
                write!(formatter, "`{operation}` takes {expected} operands, not {given}")
            }
            GraphErrorKind::ReshapeElementCount { shape } => write!(
                formatter,
                "a reshape keeps the number of elements, but {} and {shape} differ in it",
                self.0.operands.first().map_or_else(String::new, |(_, t)| t.shape.to_string())
            ),
            GraphErrorKind::NotAPermutation { permutation } => {
                write!(formatter, "{permutation:?} does not name every axis of the operand once")
            }
            GraphErrorKind::AxisOutOfRange { axis, rank } => {
                write!(formatter, "axis {axis} does not exist in a shape of rank {rank}")
            }
            GraphErrorKind::NotAParameter => write!(
                formatter,
                "`{}` is not a parameter: the names of its axes follow from its operands",
                self.0.operand_name(0)
            ),
            GraphErrorKind::UnknownAxisName { name, names } => write!(
                formatter,
                "`{}` has no axis `{}`; its axes are {names}",
                self.0.operand_name(0),
                printable(name)
            ),
            GraphErrorKind::AxesNotUnique { axes } => {
                write!(formatter, "`{operation}`: {axes:?} names an axis twice; name each once")
            }
            GraphErrorKind::Reduction(error) => write!(formatter, "`{operation}`: {error}"),
            GraphErrorKind::Contraction(error) => {
                write!(formatter, "`{operation}`: {}", error.describe(&self.0.names()))
            }
            GraphErrorKind::Einsum(error) => {
                write!(formatter, "`{operation}`: {}", error.describe(&self.0.names()))
            }
            GraphErrorKind::EmptyReduction { axis } => write!(
                formatter,
                "`{operation}` of nothing: axis {axis} of `{}` has size 0",
                self.0.operand_name(0)
            ),
            GraphErrorKind::ScanAxes { given } => write!(
                formatter,
                "`{operation}` runs along one axis, not {given}; without an axis it takes all elements in \
                 row-major order"
            ),
            GraphErrorKind::InitialRequired => write!(
                formatter,
                "`{operation}` with a mask needs an initial value, because the mask may select no element"
            ),
            GraphErrorKind::ArgumentNotTaken { argument } => {
                write!(formatter, "`{operation}` takes no `{argument}`")
            }
            GraphErrorKind::ExactSumType { dtype } => {
                write!(formatter, "an exact sum takes f64 or c128, not {dtype}")
            }
            GraphErrorKind::ExactSumTooLong => {
                formatter.write_str("an exact sum takes fewer than 2^31 elements")
            }
            GraphErrorKind::MatrixProduct => {
                write!(formatter, "`{operation}` without axes takes vectors")
            }
            GraphErrorKind::SliceRank { given, rank } => {
                write!(
                    formatter,
                    "`{operation}` takes one entry for each of {rank} axes, not {given}"
                )
            }
            GraphErrorKind::ZeroStep => formatter.write_str("the step of a slice cannot be 0"),
            GraphErrorKind::SliceOutOfRange { axis, slice, size } => {
                write!(
                    formatter,
                    "`{operation}`: {slice} leaves axis {axis}, which has size {size}"
                )
            }
            GraphErrorKind::Convolution { problem } | GraphErrorKind::Fourier(problem) => {
                write!(formatter, "`{operation}`: {problem}")
            }
            GraphErrorKind::BadWindow { window } => write!(
                formatter,
                "`{operation}`: size, stride and dilation of a window are at least 1, not {}, {} and {}",
                window.size(),
                window.stride(),
                window.dilation()
            ),
            GraphErrorKind::WindowTooLarge { axis, window, size } => write!(
                formatter,
                "`{operation}`: a window of {} elements is larger than axis {axis}, which has size {size}",
                window.span()
            ),
            GraphErrorKind::IndexOutOfRange { axis, index, size } => {
                write!(
                    formatter,
                    "index {index} is out of range for axis {axis}, which has size {size}"
                )
            }
            GraphErrorKind::TooManyIndices { given, rank } => {
                write!(formatter, "{given} indices are given for {rank} axes")
            }
            GraphErrorKind::SeveralEllipses => {
                formatter.write_str("an index may have `...` only once")
            }
            GraphErrorKind::IndexRank { expected, given } => write!(
                formatter,
                "`{operation}` takes indices with {expected} axes, as many as `{}` has, not {given}",
                self.0.operand_name(0)
            ),
            GraphErrorKind::NothingToConcatenate => {
                write!(formatter, "`{operation}` of nothing: give at least one operand")
            }
            GraphErrorKind::ConcatenateShape { operand, axis } => write!(
                formatter,
                "`{operation}` along axis {axis} takes operands with equal sizes of all other axes, but \
                 those of `{}` and `{}` differ",
                self.0.operand_name(*operand),
                self.0.operand_name(0)
            ),
            GraphErrorKind::StackShape { operand } => write!(
                formatter,
                "`{operation}` takes operands of equal shapes, but those of `{}` and `{}` differ",
                self.0.operand_name(*operand),
                self.0.operand_name(0)
            ),
            GraphErrorKind::TakeFromEmpty { axis } => {
                write!(formatter, "`{operation}` from nothing: axis {axis} has size 0")
            }
            GraphErrorKind::TableRank { rank } => write!(
                formatter,
                "`{operation}` searches a table with one axis, and this one has {rank}"
            ),
            GraphErrorKind::RandomKey => {
                write!(formatter, "`{operation}` takes a key, u32[2], such as u32([0, 42])")
            }
            GraphErrorKind::LoopStateType(mismatch) => {
                let RegionMismatch { place, expected, found, .. } = &**mismatch;
                let place = printable(place);
                write!(
                    formatter,
                    "the body of the loop returns {found} for {place}, which is {expected}"
                )
            }
            GraphErrorKind::RegionCount { region, counted, expected, given } => {
                write!(
                    formatter,
                    "`{operation}`: the {region} has {given} {counted}, not {expected}"
                )
            }
            GraphErrorKind::RegionType(mismatch) => {
                let RegionMismatch { region, place, expected, found } = &**mismatch;
                let place = printable(place);
                write!(
                    formatter,
                    "`{operation}`: {place} of the {region} is {found}, not {expected}"
                )
            }
            GraphErrorKind::RegionLimit { region, depth, nodes, operands } => write!(
                formatter,
                "`{operation}`: the {region} has {nodes} nodes, nests {depth} regions, and its results take \
                 {operands} operands; at most {MAX_REGION_NODES} nodes, {MAX_REGION_DEPTH} nested regions \
                 and {MAX_REGION_OPERANDS} operands are possible"
            ),
            GraphErrorKind::ScatterShape { expected } => write!(
                formatter,
                "`{operation}`: the updates `{}` must have shape {expected}, like a gather by these indices",
                self.0.operand_name(2)
            ),
            GraphErrorKind::PadWidth { axis, width, max } => write!(
                formatter,
                "`{operation}`: a padding of {width} elements is too wide for axis {axis}, which allows {max}"
            ),
            GraphErrorKind::Number { literal, dtype } => write!(
                formatter,
                "`{operation}`: the {} {literal} is not a value of {dtype}, the type of the other operands",
                literal.kind_name()
            ),
            GraphErrorKind::DuplicateParameter { name } => {
                write!(formatter, "a parameter `{}` exists already", printable(name))
            }
            GraphErrorKind::BadSize { text } => {
                let text = printable(text);
                write!(formatter, "`{text}` is not a size: write a number, or a name such as `n`")
            }
            GraphErrorKind::BitcastWidth { from, to } => write!(
                formatter,
                "the bits of {from} cannot be read as {to}: name an integer or float type of {} bits",
                8 * from.size()
            ),
            GraphErrorKind::NoExponentBits => formatter.write_str(
                "a float format needs at least 1 bit for the exponent; give exponent_bits >= 1",
            ),
            GraphErrorKind::ForeignValue => {
                write!(formatter, "`{operation}` was given a value of another builder")
            }
            GraphErrorKind::ArgumentType { operand, expected } => write!(
                formatter,
                "`{operation}`: the parameter is {expected}, but `{}` is not",
                self.0.operand_name(*operand)
            ),
            GraphErrorKind::ParameterNotDifferentiable => write!(
                formatter,
                "`{}` has no gradient: its elements are neither floats nor complex numbers",
                self.0.operand_name(0)
            ),
            GraphErrorKind::NotDifferentiable => {
                write!(formatter, "`{operation}` has no derivative")
            }
            GraphErrorKind::NotOneNumber => {
                formatter.write_str("a gradient needs one output, a real scalar")
            }
            GraphErrorKind::UnknownParameter { index, count } => {
                write!(formatter, "parameter {index} does not exist in a graph with {count}")
            }
            GraphErrorKind::UnknownParameterName { name, parameters, count } => {
                let quoted = |name: &String| format!("`{}`", printable(name));
                let mut listed: Vec<String> = parameters.iter().map(quoted).collect();
                if listed.len() < *count {
                    listed.push("…".to_owned());
                }
                let (name, listed) = (quoted(name), listed.join(", "));
                write!(formatter, "no parameter is called {name}; the graph has {count}: {listed}")
            }
            GraphErrorKind::BatchedOutput { output } => write!(
                formatter,
                "output {output} differs between the elements of the batch, and out_axes is None for it"
            ),
        }
    }
}

/// The drawn report, with the caller's location below the headline.
impl fmt::Display for GraphError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.location.map(ToString::to_string);
        formatter.write_str(self.diagnostic().at(place).to_string().trim_end())
    }
}

/// Like [`Display`](fmt::Display).
impl fmt::Debug for GraphError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl core::error::Error for GraphError {}
