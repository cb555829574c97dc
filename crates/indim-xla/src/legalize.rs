//! Legalisation: rebuilds a graph from operations that XLA has; decomposes all other operations.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{
    Array, AxisSlice, Graph, GraphError, Literal, Node, NodeKind, SortResult, ValueId,
    expand_windows,
};
use indim_model::{
    FormatError, FormatErrorKind, Notes, ProductMatch, location_of, multiplied_and_added,
};
use indim_ops::{ArrayType, DType, DTypeClass, Op, ReduceOp, ScatterOp, scan_accumulator};
use indim_shape::{RuleSet, Shape};

use super::compose::compose;
use super::legal_indices::{scatter, search_sorted, take};
use super::opcode::{Dialect, direction_of, name_of};

/// The legalised graph; `notes` gets decompositions, warnings and unsupported operations. `has_chlo`
/// tells whether operations of chlo are legal. If an output depends on an unsupported operation, the
/// graph has no outputs, and [`Notes::finish`] fails.
///
/// # Errors
/// Returns errors of the builder.
pub fn legalize(graph: &Graph, has_chlo: bool, notes: &mut Notes) -> Result<Graph, FormatError> {
    let graph = &*expand_windows(graph);
    let mut model_builder = Legalizer { graph, builder: GraphBuilder::new(), has_chlo, notes };
    let mut values: Vec<Option<Value>> = vec![None; graph.len()];
    for &parameter in graph.parameters() {
        let node = &graph[parameter];
        values[parameter.index()] = Some(model_builder.parameter(parameter, node)?);
    }
    for (id, node) in graph.iter() {
        if values[id.index()].is_none() {
            let operands: Option<Vec<Value>> =
                node.operands.iter().map(|operand| values[operand.index()].clone()).collect();
            // An unsupported operand has already been noted.
            let Some(operands) = operands else { continue };
            let value = model_builder.node(id, node, &operands);
            values[id.index()] = value.map_err(|kind| kind.at(location_of(graph, id)))?;
        }
    }
    let outputs: Option<Vec<Value>> =
        graph.outputs().iter().map(|output| values[output.index()].clone()).collect();
    let builder = model_builder.builder;
    let finished = builder.finish(&outputs.unwrap_or_default());
    finished.map_err(|error| FormatErrorKind::from(error).without_location())
}

struct Legalizer<'g, 'n> {
    graph: &'g Graph,
    builder: GraphBuilder,
    /// Whether operations of chlo are legal.
    has_chlo: bool,
    notes: &'n mut Notes,
}

/// The legal value of a node; `None` for an unsupported node, which is noted.
type LoweringResult = Result<Option<Value>, FormatErrorKind>;

impl Legalizer<'_, '_> {
    fn parameter(&self, id: ValueId, node: &Node) -> Result<Value, FormatError> {
        let name = match &node.kind {
            NodeKind::Parameter { name, .. } => name.as_str(),
            _ => "",
        };
        let replacement =
            self.builder.parameter(name, node.array_type.dtype, node.array_type.shape.clone());
        replacement.map_err(|error| FormatErrorKind::from(error).at(location_of(self.graph, id)))
    }

    fn node(&mut self, id: ValueId, node: &Node, operands: &[Value]) -> LoweringResult {
        let b = self.builder.clone();
        let array_type = &node.array_type;
        Ok(Some(match &node.kind {
            NodeKind::Parameter { .. } => return Ok(None),
            // The text of an array without elements would list the elements of its first axes.
            NodeKind::Constant(array) if array.element_count() == 0 => {
                let zero = b.literal(Literal::Int(0), array_type.dtype)?;
                b.broadcast_in_dim(zero, &[], array_type.shape.clone())?
            }
            NodeKind::Constant(array) => b.constant(array.clone()),
            NodeKind::Iota { axis } => {
                b.iota(array_type.dtype, array_type.shape.clone(), *axis as i64)?
            }
            NodeKind::Elementwise(op) => return self.elementwise(id, *op, operands),
            NodeKind::Convert => self.convert(id, &operands[0], array_type.dtype)?,
            NodeKind::Bitcast => b.bitcast(&operands[0], array_type.dtype)?,
            NodeKind::BroadcastInDim(map) => {
                let dims: Vec<i64> = map.iter().map(|&axis| axis as i64).collect();
                b.broadcast_in_dim(&operands[0], &dims, array_type.shape.clone())?
            }
            NodeKind::Reshape => b.reshape(&operands[0], array_type.shape.clone())?,
            NodeKind::Reduce { op, axis } => self.reduce(id, *op, &operands[0], *axis as i64)?,
            NodeKind::Slice(slices) => slice(&b, &operands[0], slices)?,
            NodeKind::Concatenate { axis } => b.concatenate(operands, *axis as i64)?,
            NodeKind::Take { axis, mode } => {
                let location = location_of(self.graph, id);
                take(self.notes, location, [&operands[0], &operands[1]], *axis, *mode)?
            }
            NodeKind::Window { .. } => {
                return self.refuse(id, node, "a window with too many elements for slices");
            }
            NodeKind::Scatter { op, axis, mode } => {
                let location = location_of(self.graph, id);
                let operands = [&operands[0], &operands[1], &operands[2]];
                scatter(self.notes, (node.kind.name(), location), *op, operands, (*axis, *mode))?
            }
            NodeKind::Sort { .. } | NodeKind::SearchSorted { .. }
                if node.operands.iter().any(|&id| self.is_complex(id)) =>
            {
                return self.refuse(id, node, "of complex numbers");
            }
            NodeKind::Sort { axis, descending, result: SortResult::Values } => {
                b.sort(&operands[0], *axis as i64, *descending)?
            }
            NodeKind::Sort { axis, descending, result: SortResult::Positions } => {
                b.argsort_by(operands, *axis as i64, *descending)?
            }
            NodeKind::SearchSorted { side } => {
                let by = "a count of the elements before each value";
                self.notes.composed("search_sorted", by, location_of(self.graph, id));
                search_sorted(&operands[0], &operands[1], *side)?
            }
            NodeKind::While { .. } => return self.refuse(id, node, "a loop"),
            NodeKind::Branch { .. } => return self.refuse(id, node, "a branch"),
            NodeKind::Contract { summed } => self.contract(id, operands, *summed)?,
            NodeKind::Scan { op, axis, reverse, exclusive } => {
                let scan = |x: &Value| b.scan(*op, x, *axis as i64, *reverse, false);
                let Some(wide) = window_dtype(*op, array_type) else {
                    return self.refuse(id, node, "a scan");
                };
                let inclusive =
                    b.convert(scan(&b.convert(&operands[0], wide)?)?, array_type.dtype)?;
                match exclusive {
                    true => shift_scan(&inclusive, *op, *axis, *reverse)?,
                    false => inclusive,
                }
            }
        }))
    }

    /// Keeps a contraction that is a matrix product. Any other becomes element-wise products and their sum.
    fn contract(
        &mut self,
        id: ValueId,
        operands: &[Value],
        summed: usize,
    ) -> Result<Value, FormatErrorKind> {
        // The builder makes a constant without elements a broadcast, along an axis that the product may need.
        let is_empty = self.graph[id].array_type.shape.contains(&0);
        if !is_empty && ProductMatch::of_contraction(self.graph, id).is_some() {
            return Ok(self.builder.contract(&operands[0], &operands[1], summed)?);
        }
        self.notes.multiplied_and_added(self.graph, id);
        Ok(multiplied_and_added(&operands[0], &operands[1], summed)?)
    }

    fn refuse(&mut self, id: ValueId, node: &Node, reason: &str) -> LoweringResult {
        let location = location_of(self.graph, id);
        self.notes.unsupported(node.kind.name(), Some(reason.to_owned()), location);
        Ok(None)
    }

    fn is_complex(&self, id: ValueId) -> bool {
        self.graph[id].array_type.dtype.class() == DTypeClass::Complex
    }

    /// Whether XLA has the operation on elements of this type.
    fn has(&self, op: Op, dtype: DType) -> bool {
        let class = dtype.class();
        match (op, class) {
            // jaxlib folds constant sums of booleans into their exclusive or.
            (Op::Add | Op::Mul, DTypeClass::Bool) | (Op::Sign, DTypeClass::Unsigned) => false,
            (Op::IsFinite | Op::IsInf, DTypeClass::Complex) | (Op::Conj, DTypeClass::Float) => {
                false
            }
            // chlo squares complex numbers by (re - im) * (re + im), not by a product.
            (Op::Square, DTypeClass::Complex) => false,
            _ if direction_of(op).is_some() => true,
            _ => match name_of(op) {
                Some((_, Dialect::Chlo | Dialect::ChloAndNameInHlo)) => self.has_chlo,
                Some(_) => true,
                None => false,
            },
        }
    }

    fn elementwise(&mut self, id: ValueId, op: Op, operands: &[Value]) -> LoweringResult {
        let dtype = operands[operands.len() - 1].array_type()?.dtype;
        if self.has(op, dtype) {
            return Ok(Some(self.builder.elementwise(op, operands, &RuleSet::None)?));
        }
        let location = location_of(self.graph, id);
        match compose(op, operands)? {
            Some((value, by)) => {
                self.notes.composed(op.name(), by, location);
                Ok(Some(value))
            }
            None => {
                self.notes.unsupported(op.name(), None, location);
                Ok(None)
            }
        }
    }

    /// XLA's `convert` reads only the real part of a complex number, but the truth value depends on both
    /// parts.
    fn convert(&mut self, id: ValueId, x: &Value, dtype: DType) -> Result<Value, FormatErrorKind> {
        let is_complex = x.array_type()?.dtype.class() == DTypeClass::Complex;
        if dtype != DType::Bool || !is_complex {
            return Ok(self.builder.convert(x, dtype)?);
        }
        self.notes.composed("convert", "x != 0", location_of(self.graph, id));
        Ok(x.real().ne(0.0) | x.imag().ne(0.0))
    }

    /// `reduce_fmax` and `reduce_fmin` ignore NaNs, unless all elements are NaN.
    fn reduce(
        &mut self,
        id: ValueId,
        op: ReduceOp,
        x: &Value,
        axis: i64,
    ) -> Result<Value, FormatErrorKind> {
        let (extreme, nothing) = match op {
            ReduceOp::Fmax => (ReduceOp::Max, f64::NEG_INFINITY),
            ReduceOp::Fmin => (ReduceOp::Min, f64::INFINITY),
            _ => return Ok(self.builder.reduce(op, x, axis)?),
        };
        let by = "select where it is a NaN, and a reduction";
        self.notes.composed(op.name(), by, location_of(self.graph, id));
        let is_nan = x.ne(x);
        let all = self.builder.reduce(ReduceOp::And, &is_nan, axis)?;
        let numbers = self.builder.reduce(extreme, is_nan.select(nothing, x), axis)?;
        Ok(all.select(f64::NAN, numbers))
    }
}

/// XLA slices only forwards; a backward slice is reversed afterwards.
fn slice(b: &GraphBuilder, x: &Value, slices: &[AxisSlice]) -> Result<Value, FormatErrorKind> {
    let forwards = |slice: &AxisSlice| match slice.step() < 0 {
        true => {
            let last = slice.index(slice.count().saturating_sub(1));
            AxisSlice::new(last, slice.count(), -slice.step())
        }
        false => *slice,
    };
    let all: Vec<AxisSlice> = slices.iter().map(forwards).collect();
    let backwards = slices.iter().enumerate().filter(|(_, slice)| slice.step() < 0);
    let axes: Vec<i64> = backwards.map(|(axis, _)| axis as i64).collect();
    let sliced = b.slice(x, &all)?;
    match axes.is_empty() {
        true => Ok(sliced),
        false => Ok(b.reverse(sliced, &axes)?),
    }
}

/// The element type in which a scan is written: its accumulator type, `f64` for sums and products of floats.
/// `None` if XLA lacks the operation in this type, or if the array has no elements, because a window would be
/// empty.
fn window_dtype(op: ReduceOp, array_type: &ArrayType) -> Option<DType> {
    let wide = scan_accumulator(op, array_type.dtype)?;
    (reducer_of(op, wide).is_some() && !array_type.shape.contains(&0)).then_some(wide)
}

/// The exclusive scan: the inclusive scan moved by one position, with the identity in the free place.
fn shift_scan(scan: &Value, op: ReduceOp, axis: usize, reverse: bool) -> Result<Value, GraphError> {
    let (b, ArrayType { dtype, shape }) = (scan.builder(), scan.array_type()?);
    let identity = scan_accumulator(op, dtype).and_then(|wide| Array::identity(op, wide));
    let identity = identity.expect("invariant: `window_dtype` has checked the type");
    let mut widths = vec![(0, 0, 0); shape.rank()];
    widths[axis] = if reverse { (-1, 1, 0) } else { (1, -1, 0) };
    b.pad(scan, b.convert(b.constant(identity), dtype)?, &widths)
}

/// The padding for the windows of a scan: one element less than the axis has, before it, or after it if
/// `reverse`.
pub fn scan_padding(shape: &Shape, axis: usize, reverse: bool) -> Vec<[usize; 2]> {
    let mut padding = vec![[0, 0]; shape.rank()];
    padding[axis][usize::from(reverse)] = shape[axis] - 1;
    padding
}

/// The initial value of a reduction, and the name of its operation in XLA.
pub fn reducer_of(op: ReduceOp, dtype: DType) -> Option<(&'static str, Array)> {
    let name = match op {
        ReduceOp::Add => "add",
        ReduceOp::Mul => "multiply",
        ReduceOp::Max => "maximum",
        ReduceOp::Min => "minimum",
        ReduceOp::And => "and",
        ReduceOp::Or => "or",
        ReduceOp::Xor => "xor",
        _ => return None,
    };
    Array::identity(op, dtype).map(|start| (name, start))
}

/// The name of a scatter's operation in XLA; `None` if updates replace elements.
pub const fn update_of(op: ScatterOp) -> Option<&'static str> {
    Some(match op {
        ScatterOp::Set => return None,
        ScatterOp::Add => "add",
        ScatterOp::Mul => "multiply",
        ScatterOp::Min => "minimum",
        ScatterOp::Max => "maximum",
    })
}

/// The axes of a gather's result, or of a scatter's updates, that are axes of slices: all except the
/// axes of the indices, which replace `axis`.
pub fn offset_axes(rank: usize, axis: usize, index_rank: usize) -> Vec<usize> {
    (0..axis).chain(axis + index_rank..rank + index_rank - 1).collect()
}

/// The comparison direction and the initial extreme of an arg-reduction.
pub fn search_of(op: ReduceOp, dtype: DType) -> Option<(&'static str, Array)> {
    let (direction, fold) = match op {
        ReduceOp::ArgMax => ("GT", ReduceOp::Max),
        ReduceOp::ArgMin => ("LT", ReduceOp::Min),
        _ => return None,
    };
    Array::identity(fold, dtype).map(|start| (direction, start))
}

/// Start, end (exclusive) and step of each axis: `[0:5:2, 1:3:1]`. `None` for a negative step; after
/// legalisation only the builder's `reverse` has one, over a whole axis.
pub fn ranges(slices: &[AxisSlice]) -> Option<Vec<[usize; 3]>> {
    let range = |slice: &AxisSlice| {
        let step = usize::try_from(slice.step()).ok()?;
        let limit = match slice.count() {
            0 => slice.start(),
            count => slice.index(count - 1) + 1,
        };
        Some([slice.start(), limit, step])
    };
    slices.iter().map(range).collect()
}
