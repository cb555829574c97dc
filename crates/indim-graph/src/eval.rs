//! The reference evaluator: node by node, element by element.
//!
//! It is simple and slow. Tests compare the bits of executors with it, and constant folding uses it. Loops
//! call a function pointer for each element, because one loop per operation would be vectorised, which makes
//! builds slow.

use core::fmt;

use indim_ops::elements::*;
use indim_ops::{
    ArrayData, ArrayType, Binary, ContractionElement, ConvertTo, ConvertVisitor, DType, Element,
    Fold, FoldVisitor, FromWide, NarrowElement, OpVisitor, ReduceOp, ScalarBackend, ScanElement,
    ScanVisitor, ScatterFold, ScatterOp, ScatterVisitor, Ternary, Unary, contract, fold, scan,
    visit_convert, visit_scan,
};
use indim_shape::{AxisMap, Shape};

use crate::graph::{Graph, Node, NodeKind, ValueId};
use crate::regions::evaluate::{evaluate_branch, evaluate_while};
use crate::sorting::{evaluate_search, evaluate_sort};
use crate::views::evaluate::{
    evaluate_concatenation, scatter_targets, slice_sources, take_sources, unravel, window_sources,
};
use crate::views::{ScatterMode, TakeMode};
use indim_arrays::Array;

/// An error of an evaluation: wrong arguments, an index out of range, or too many steps of a loop.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EvalError {
    /// The numbers of arguments and of parameters differ.
    ArgumentCount {
        /// The number of parameters.
        expected: usize,
        /// The number of arguments.
        given: usize,
    },
    /// An argument does not have its parameter's type.
    ArgumentType {
        /// The parameter's name.
        name: String,
        /// The parameter's type.
        expected: ArrayType,
        /// The argument's type.
        given: ArrayType,
    },
    /// An index is out of range.
    IndexOutOfRange {
        /// The index.
        index: i128,
        /// Its position among the indices, in row-major order.
        position: usize,
        /// The indexed axis.
        axis: usize,
        /// The size of that axis.
        size: usize,
    },
    /// A loop needs more steps than its limit.
    StepLimit {
        /// The limit.
        limit: u64,
    },
}

impl fmt::Display for EvalError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::ArgumentCount { expected, given } => {
                write!(formatter, "{given} arguments were given for {expected} parameters")
            }
            EvalError::ArgumentType { name, expected, given } => {
                write!(formatter, "parameter `{name}` is {expected}, the argument is {given}")
            }
            EvalError::IndexOutOfRange { index, position, axis, size } => write!(
                formatter,
                "index {index}, at position {position} of the indices, is out of range for axis {axis}, \
                 which has size {size}"
            ),
            EvalError::StepLimit { limit } => {
                write!(formatter, "a loop needs more than {limit} steps, its limit")
            }
        }
    }
}

impl core::error::Error for EvalError {}

/// The outputs of `graph` for these arguments.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::{Array, evaluate};
/// use indim_ops::DType;
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::I32, [2, 2])?;
/// let v = b.parameter("v", DType::I32, [2])?;
/// let graph = b.finish(&[b.mul(x, v, &[0])?])?;
/// let x = Array::new([2, 2], vec![1, 2, 3, 4])?;
/// let v = Array::new([2], vec![10, 100])?;
/// assert_eq!(evaluate(&graph, &[x, v])?[0].elements::<i32>().unwrap(), [10, 20, 300, 400]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the arguments do not match the parameters, an index is out of range, or a loop exceeds its limit.
pub fn evaluate(graph: &Graph, arguments: &[Array]) -> Result<Vec<Array>, EvalError> {
    let expected = graph.parameters().len();
    if arguments.len() != expected {
        return Err(EvalError::ArgumentCount { expected, given: arguments.len() });
    }
    let mut values: Vec<Array> = Vec::with_capacity(graph.len());
    for (_, node) in graph.iter() {
        let value = match &node.kind {
            NodeKind::Parameter { index, name } => {
                check_argument(name, &node.array_type, &arguments[*index])?
            }
            _ => {
                let operand = |&operand: &ValueId| &values[operand.index()];
                evaluate_node(node, &node.operands.iter().map(operand).collect::<Vec<_>>())?
            }
        };
        values.push(value);
    }
    Ok(graph.outputs().iter().map(|output| values[output.index()].clone()).collect())
}

fn check_argument(name: &str, expected: &ArrayType, given: &Array) -> Result<Array, EvalError> {
    if given.array_type() == expected {
        return Ok(given.clone().into_row_major());
    }
    Err(EvalError::ArgumentType {
        name: name.to_owned(),
        expected: expected.clone(),
        given: given.array_type().clone(),
    })
}

/// The result of one node, which is not a parameter, for these operands.
pub(crate) fn evaluate_node(node: &Node, operands: &[&Array]) -> Result<Array, EvalError> {
    let ArrayType { dtype, shape } = &node.array_type;
    let data = match &node.kind {
        NodeKind::Parameter { .. } => unreachable!("invariant: parameters are bound, not computed"),
        NodeKind::Constant(array) => return Ok(array.clone()),
        NodeKind::Elementwise(op) => {
            let last = operands.last().expect("invariant: operations have operands");
            op.visit(last.dtype(), Elementwise { operands })
        }
        NodeKind::Convert => {
            Some(visit_convert(operands[0].dtype(), *dtype, Conversion { operand: operands[0] }))
        }
        NodeKind::Bitcast => Some(ArrayData::from_le_bytes(*dtype, &operands[0].to_le_bytes())),
        NodeKind::Iota { axis } => Some(iota(*dtype, shape, *axis)),
        NodeKind::BroadcastInDim(map) => {
            Some(select_elements(operands[0], &broadcast_sources(operands[0], map, shape)))
        }
        NodeKind::Reduce { op, axis } => reduce(*op, operands[0], *axis),
        NodeKind::Slice(slices) => {
            Some(select_elements(operands[0], &slice_sources(slices, operands[0].shape(), shape)))
        }
        NodeKind::Window { axis, window } => Some(select_elements(
            operands[0],
            &window_sources(*axis, window, operands[0].shape(), shape),
        )),
        NodeKind::Concatenate { axis } => Some(evaluate_concatenation(operands, *axis)),
        NodeKind::Take { axis, mode } => {
            Some(select_elements(operands[0], &gather_sources(*axis, *mode, operands, shape)?))
        }
        NodeKind::Scatter { op, axis, mode } => {
            Some(evaluate_scatter(*op, *axis, *mode, operands)?)
        }
        NodeKind::Contract { summed } => Some(evaluate_contraction(operands, *summed)),
        NodeKind::Scan { op, axis, reverse, exclusive } => {
            let lines = AxisLines::new(operands[0], *axis);
            let scan = AxisScan { lines, reverse: *reverse, exclusive: *exclusive };
            visit_scan(*op, operands[0].dtype(), scan)
        }
        NodeKind::Sort { axis, descending, result } => {
            Some(evaluate_sort(*axis, *descending, *result, operands))
        }
        NodeKind::SearchSorted { side } => Some(evaluate_search(*side, operands[0], operands[1])),
        NodeKind::While { condition, body, limit, result } => {
            return evaluate_while(condition, body, *limit, *result, operands);
        }
        NodeKind::Branch { branches, result } => {
            return evaluate_branch(branches, *result, operands);
        }
        NodeKind::Reshape => {
            return Ok(operands[0]
                .reshaped(shape.clone())
                .expect("invariant: a reshape keeps the count"));
        }
    };
    let data = data.expect("invariant: the builder checked the signature");
    Ok(Array::from_data(shape.clone(), data).expect("invariant: a node fills its shape"))
}

struct Elementwise<'a> {
    operands: &'a [&'a Array],
}

// The compiler makes one copy of these functions per element type, not per operation: operations are
// function pointers.
impl Elementwise<'_> {
    fn elements<T: Element>(&self, operand: usize) -> &[T] {
        self.operands[operand]
            .element_slice()
            .expect("invariant: operands have the signature's types")
    }

    #[inline(never)]
    fn of_one<T: Element, R: Element>(&self, apply: fn(T) -> R) -> ArrayData {
        R::into_data(of_one(self.elements(0), apply))
    }

    #[inline(never)]
    fn of_two<T: Element, R: Element>(&self, apply: fn(T, T) -> R) -> ArrayData {
        R::into_data(of_two(self.elements(0), self.elements(1), apply))
    }

    #[inline(never)]
    fn of_one_widened<T, W, R>(&self, apply: fn(T::Wide) -> W) -> ArrayData
    where
        T: NarrowElement,
        W: Element,
        R: FromWide<W>,
    {
        narrow_elements::<R, W>(&of_one(&widen_elements(self.elements::<T>(0)), apply))
    }

    #[inline(never)]
    fn of_two_widened<T, W, R>(&self, apply: fn(T::Wide, T::Wide) -> W) -> ArrayData
    where
        T: NarrowElement,
        W: Element,
        R: FromWide<W>,
    {
        let [x, y] = [0, 1].map(|operand| widen_elements(self.elements::<T>(operand)));
        narrow_elements::<R, W>(&of_two(&x, &y, apply))
    }
}

impl OpVisitor for Elementwise<'_> {
    type Output = ArrayData;

    fn unary<O: Unary<T>, T: Element>(self) -> ArrayData {
        self.of_one(O::call)
    }

    fn binary<O: Binary<T>, T: Element>(self) -> ArrayData {
        self.of_two(O::call)
    }

    fn ternary<O: Ternary<T>, T: Element>(self) -> ArrayData {
        let [x, y] = [1, 2].map(|operand| self.elements(operand));
        O::Result::into_data(of_three(self.elements(0), x, y, O::call))
    }

    // A narrow type, which is computed in a wider type, shares the functions of the wider type.

    fn widened_unary<O, T>(self) -> ArrayData
    where
        O: Unary<T, Result: FromWide<<O as Unary<T::Wide>>::Result>> + Unary<T::Wide> + 'static,
        T: NarrowElement,
    {
        self.of_one_widened::<T, _, <O as Unary<T>>::Result>(<O as Unary<T::Wide>>::call)
    }

    fn widened_binary<O, T>(self) -> ArrayData
    where
        O: Binary<T, Result: FromWide<<O as Binary<T::Wide>>::Result>> + Binary<T::Wide> + 'static,
        T: NarrowElement,
    {
        self.of_two_widened::<T, _, <O as Binary<T>>::Result>(<O as Binary<T::Wide>>::call)
    }
}

// The loops write into zeros. Iterators that collect would be three functions for each pair of types, with
// landing pads.

fn of_one<A: Element, R: Element>(x: &[A], apply: fn(A) -> R) -> Vec<R> {
    filled(x.len(), &|results| apply_to_each(x, apply, results))
}

/// The elements that `fill` computes.
#[inline(never)]
fn filled<R: Element>(count: usize, fill: &dyn Fn(&mut [R])) -> Vec<R> {
    let mut results = vec![R::default(); count];
    fill(&mut results);
    results
}

#[inline(always)]
fn apply_to_each<A: Element, R: Element>(x: &[A], apply: fn(A) -> R, results: &mut [R]) {
    for (&x, result) in x.iter().zip(results) {
        *result = apply(x);
    }
}

fn of_two<A: Element, R: Element>(x: &[A], y: &[A], apply: fn(A, A) -> R) -> Vec<R> {
    filled(x.len(), &|results| {
        for ((&x, &y), result) in x.iter().zip(y).zip(results) {
            *result = apply(x, y);
        }
    })
}

fn of_three<A: Element, B: Element, R: Element>(
    x: &[A],
    y: &[B],
    z: &[B],
    apply: fn(A, B, B) -> R,
) -> Vec<R> {
    filled(x.len(), &|results| {
        for (((&x, &y), &z), result) in x.iter().zip(y).zip(z).zip(results) {
            *result = apply(x, y, z);
        }
    })
}

#[inline(never)]
fn widen_elements<T: NarrowElement>(elements: &[T]) -> Vec<T::Wide> {
    of_one(elements, T::widen::<ScalarBackend>)
}

#[inline(never)]
fn narrow_elements<R: FromWide<W>, W: Element>(wide: &[W]) -> ArrayData {
    R::into_data(of_one(wide, R::from_wide::<ScalarBackend>))
}

struct Conversion<'a> {
    operand: &'a Array,
}

impl<'a> Conversion<'a> {
    #[inline(never)]
    fn elements<T: Element>(&self) -> &'a [T] {
        self.operand.element_slice().expect("invariant: visited with its own type")
    }
}

impl ConvertVisitor for Conversion<'_> {
    type Output = ArrayData;

    fn convert<A: ConvertTo<B>, B: Element>(self) -> ArrayData {
        B::into_data(of_one(self.elements(), A::convert))
    }

    fn convert_through(self, _: DType, through: DType, to: DType) -> ArrayData {
        let data = visit_convert(self.operand.dtype(), through, Conversion { ..self });
        let shape = self.operand.shape().clone();
        let converted = Array::from_data(shape, data).expect("invariant: of the operand's size");
        visit_convert(through, to, Conversion { operand: &converted })
    }
}

/// For each element of the result in row-major order, the position of its source in the operand.
fn broadcast_sources(operand: &Array, map: &AxisMap, result: &Shape) -> Vec<usize> {
    if result.contains(&0) {
        // Its other axes may have more elements than memory.
        return Vec::new();
    }
    let mut strides = vec![0; result.rank()];
    for ((&to, &size), stride) in
        map.iter().zip(operand.shape().iter()).zip(operand.shape().row_major_strides())
    {
        strides[to] = if size == 1 { 0 } else { stride as usize };
    }
    // Axis by axis: an index for each element would need an allocation, or a division for each axis.
    let mut sources = vec![0];
    for (&size, &stride) in result.iter().zip(&strides) {
        let mut next = Vec::with_capacity(sources.len() * size);
        for &first in &sources {
            next.extend((0..size).map(|index| first + index * stride));
        }
        sources = next;
    }
    sources
}

/// The elements at `sources`, in that order.
fn select_elements(array: &Array, sources: &[usize]) -> ArrayData {
    macro_rules! pick {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match array.dtype() {
                $(DType::$variant => {
                    let elements = array.elements::<$type>();
                    let elements = elements.expect("invariant: of its own type");
                    ArrayData::$variant(elements_at(elements, sources))
                })*
            }
        };
    }
    indim_ops::for_each_element!(pick)
}

#[inline(never)]
fn elements_at<T: Element>(elements: &[T], sources: &[usize]) -> Vec<T> {
    filled(sources.len(), &|results| {
        for (result, &source) in results.iter_mut().zip(sources) {
            *result = elements[source];
        }
    })
}

/// For each element of a gather in row-major order, the position of its source in the table.
fn gather_sources(
    axis: usize,
    mode: TakeMode,
    operands: &[&Array],
    result: &Shape,
) -> Result<Vec<usize>, EvalError> {
    let size = operands[0].shape()[axis];
    let out_of_range =
        |(index, position)| EvalError::IndexOutOfRange { index, position, axis, size };
    take_sources(axis, mode, operands[0].shape(), operands[1], result).map_err(out_of_range)
}

/// The result of a scatter.
fn evaluate_scatter(
    op: ScatterOp,
    axis: usize,
    mode: ScatterMode,
    operands: &[&Array],
) -> Result<ArrayData, EvalError> {
    let (operand, indices, updates) = (operands[0], operands[1], operands[2]);
    let size = operand.shape()[axis];
    let out_of_range =
        |(index, position)| EvalError::IndexOutOfRange { index, position, axis, size };
    let targets = scatter_targets(axis, mode, operand.shape(), indices, updates.shape());
    let targets = &targets.map_err(out_of_range)?;
    let data = op.visit(operand.dtype(), ScatterEvaluation { operand, updates, targets });
    Ok(data.expect("invariant: the builder checked the signature"))
}

/// The evaluation of a scatter: combines elements of the operand with their updates, in order.
struct ScatterEvaluation<'a> {
    operand: &'a Array,
    updates: &'a Array,
    /// For each update, the position of its element in the operand; `None` for a dropped update.
    targets: &'a [Option<usize>],
}

impl ScatterVisitor for ScatterEvaluation<'_> {
    type Output = ArrayData;

    fn scatter<F: ScatterFold<T>, T: Element>(self) -> ArrayData {
        self.fold_updates::<T, F::Accumulator>(F::begin, F::combine, F::finish)
    }
}

impl ScatterEvaluation<'_> {
    fn fold_updates<T: Element, A: Element>(
        &self,
        begin: fn(T) -> A,
        combine: fn(A, T) -> A,
        finish: fn(A) -> T,
    ) -> ArrayData {
        let [operand, updates] = [self.operand, self.updates]
            .map(|array| array.element_slice::<T>().expect("invariant: operands are of one type"));
        let mut accumulators = of_one(operand, begin);
        for (target, &update) in self.targets.iter().zip(updates) {
            if let &Some(target) = target {
                accumulators[target] = combine(accumulators[target], update);
            }
        }
        T::into_data(of_one(&accumulators, finish))
    }
}

/// The sums of products along the last `summed` axes.
fn evaluate_contraction(operands: &[&Array], summed: usize) -> ArrayData {
    let shape = operands[0].shape();
    let (result_sizes, summed_sizes) = shape.split_at(shape.rank() - summed);
    let (count, length) = (result_sizes.iter().product(), summed_sizes.iter().product());
    macro_rules! contract {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match operands[0].dtype() {
                $(DType::$variant => contract!(@$class $type),)*
            }
        };
        (@boolean $type:ident) => { unreachable!("invariant: the builder checked the signature") };
        (@half $type:ident) => { contract!(@boolean $type) };
        (@complex $type:ident) => { contract!(@boolean $type) };
        (@float8 $type:ident) => { contract!(@boolean $type) };
        (@nibble $type:ident) => { contract!(@boolean $type) };
        (@$class:ident $type:ident) => { sums_of_products::<$type>(operands, count, length) };
    }
    indim_ops::for_each_element!(contract)
}

fn sums_of_products<T: ContractionElement>(
    operands: &[&Array],
    count: usize,
    length: usize,
) -> ArrayData {
    let [x, y] = [0, 1].map(|operand: usize| {
        let elements = operands[operand].element_slice::<T>();
        elements.expect("invariant: operands are of one type")
    });
    let row = |row: usize| row * length..(row + 1) * length;
    let sum = |index: usize| contract(&x[row(index)], &y[row(index)]);
    <T::Sum as Element>::into_data((0..count).map(sum).collect())
}

/// The reduction along `axis`, for each index of the other axes in row-major order.
fn reduce(op: ReduceOp, operand: &Array, axis: usize) -> Option<ArrayData> {
    let visitor = AxisLines::new(operand, axis);
    match op.is_arg_reduction() {
        false => op.visit(operand.dtype(), visitor),
        // If any element is NaN, the fold returns NaN, which equals no element: `position` then finds the
        // first NaN.
        true => op.extremum().visit(operand.dtype(), ArgReduction(visitor)),
    }
}

/// The lines of an operand along one axis: `outer * inner` lines of `length` elements, which are `inner`
/// apart in row-major order.
struct AxisLines<'a> {
    operand: &'a Array,
    outer: usize,
    length: usize,
    inner: usize,
}

impl<'a> AxisLines<'a> {
    fn new(operand: &'a Array, axis: usize) -> Self {
        let inner = operand.shape()[axis + 1..].iter().product();
        let outer = operand.shape()[..axis].iter().product();
        AxisLines { operand, outer, length: operand.shape()[axis], inner }
    }

    /// The elements.
    fn elements<T: Element>(&self) -> &[T] {
        self.operand.element_slice().expect("invariant: visited with its own type")
    }

    /// The position of the first element of each line along the axis, in row-major order of the other axes.
    fn line_starts(&self) -> impl Iterator<Item = usize> {
        let (block, inner) = (self.length * self.inner, self.inner);
        (0..self.outer).flat_map(move |outer| (0..inner).map(move |index| outer * block + index))
    }

    /// The results of `each` on the elements of every line along the axis, in row-major order of the other
    /// axes.
    #[inline(never)]
    fn map<T: Element, R: Element>(&self, each: fn(&[T]) -> R) -> ArrayData {
        let elements = self.elements();
        R::into_data(filled(self.outer * self.inner, &|results| {
            let mut line = vec![T::default(); self.length];
            for (result, first) in results.iter_mut().zip(self.line_starts()) {
                self.read_line(elements, first, &mut line);
                *result = each(&line);
            }
        }))
    }

    /// Copies the elements of the line that begins at the position `first`.
    #[inline(never)]
    fn read_line<T: Element>(&self, elements: &[T], first: usize, line: &mut [T]) {
        for (index, element) in line.iter_mut().enumerate() {
            *element = elements[first + index * self.inner];
        }
    }
}

impl FoldVisitor for AxisLines<'_> {
    type Output = ArrayData;

    fn fold<F: Fold<T>, T: Element>(self) -> ArrayData {
        self.map(fold::<F, T>)
    }
}

/// A scan along an axis.
struct AxisScan<'a> {
    lines: AxisLines<'a>,
    reverse: bool,
    exclusive: bool,
}

impl ScanVisitor for AxisScan<'_> {
    type Output = ArrayData;

    fn scan<F: Fold<A>, T: ScanElement<A>, A: Element>(self) -> ArrayData {
        self.map(scan::<F, T, A>)
    }
}

impl AxisScan<'_> {
    /// The operand with each line along the axis replaced by the result of `each` on it, in the order of
    /// the scan. The second argument of `each` is `exclusive`.
    fn map<T: Element>(&self, each: fn(&[T], bool) -> Vec<T>) -> ArrayData {
        let AxisLines { length, inner, .. } = self.lines;
        let elements: &[T] = self.lines.elements();
        let mut results = vec![T::default(); elements.len()];
        let mut line = vec![T::default(); length];
        for first in self.lines.line_starts() {
            self.lines.read_line(elements, first, &mut line);
            if self.reverse {
                line.reverse();
            }
            for (index, &result) in each(&line, self.exclusive).iter().enumerate() {
                let index = if self.reverse { length - 1 - index } else { index };
                results[first + index * inner] = result;
            }
        }
        T::into_data(results)
    }
}

/// An arg-reduction along an axis: the position of the extreme that the fold returns.
struct ArgReduction<'a>(AxisLines<'a>);

impl FoldVisitor for ArgReduction<'_> {
    type Output = ArrayData;

    fn fold<F: Fold<T>, T: Element>(self) -> ArrayData {
        self.0.map(|line: &[T]| position(line, fold::<F, T>(line)))
    }
}

/// The position of the first NaN, or else of the first element equal to `extreme`; `i64::MAX` for a line
/// without elements.
fn position<T: Element>(line: &[T], extreme: T) -> i64 {
    #[expect(clippy::eq_op, reason = "a NaN differs from itself")]
    let is_found = |&x: &T| x == extreme || x != x;
    line.iter().position(is_found).map_or(i64::MAX, |index| index as i64)
}

fn iota(dtype: DType, shape: &Shape, axis: usize) -> ArrayData {
    let count = shape.element_count().expect("invariant: the builder checked the size");
    let indices: Vec<u64> =
        (0..count).map(|position| unravel(position, shape)[axis] as u64).collect();
    let indices = Array::new(shape, indices).expect("invariant: one index per element");
    visit_convert(DType::U64, dtype, Conversion { operand: &indices })
}
