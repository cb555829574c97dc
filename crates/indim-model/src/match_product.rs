//! Matching of matrix products: recovers the arrays that a contraction multiplies, before their broadcasts,
//! and the role of each axis.

use indim_builder::Value;
use indim_graph::{Graph, GraphError, NodeKind, ValueId};
use indim_ops::{DType, DTypeClass, ReduceOp};
use indim_shape::{DotDimensions, Shape};

/// A value that is a product of two arrays, which other formats compute by one operation.
///
/// The axes of the product are those of the contraction's operands: first the axes of its result, then the
/// summed axes.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_model::ProductMatch;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [7, 5, 3])?;
/// let y = b.parameter("y", DType::F32, [3, 4])?;
/// let product = b.matmul(&x, &y)?;
/// let graph = b.finish(&[product])?;
/// let found = ProductMatch::find(&graph, graph.outputs()[0]).expect("a product");
/// assert_eq!(found.dtype, DType::F32);
/// assert_eq!(found.dot().dimensions.lhs_contracting, [2]);
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ProductMatch {
    /// The element type of the result; operands of other types are converted to it first.
    pub dtype: DType,
    /// Whether the operation computes the same bits as the graph. A sum of `f32` products that is not rounded
    /// to `f32` is written as a product of `f64`, which is more precise.
    pub is_exact: bool,
    operands: [ProductOperand; 2],
    shape: Shape,
    summed: usize,
}

/// An operand of a product.
#[derive(Debug, Clone, PartialEq)]
struct ProductOperand {
    source: ValueId,
    /// The axis of the product for each axis of the source that is not expanded, in the order of the
    /// source's axes; then axes of size 1 that the source lacks but the operation needs.
    axes: Vec<usize>,
}

/// The role of an axis of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AxisRole {
    /// An axis that both operands have.
    Batch,
    /// An axis that only the first operand has.
    Row,
    /// An axis that only the second operand has.
    Column,
}

/// A product as XLA's `dot_general`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DotForm {
    /// The operands.
    pub operands: [ValueId; 2],
    /// The shapes to which the operands are reshaped, which drops axes of size 1 that the product lacks.
    pub shapes: [Shape; 2],
    /// The attributes.
    pub dimensions: DotDimensions,
    /// The shape of the operation's result.
    pub result: Shape,
    /// The axis of the operation's result for each axis of the value.
    pub order: Vec<usize>,
}

/// A product as NumPy's `matmul`: each operand is reshaped, transposed and reshaped again, and the result
/// reshaped and transposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatMulForm {
    /// The operands of the operation, exchanged if the transposed product needs fewer transpositions.
    pub operands: [MatMulOperand; 2],
    /// The shape of the operation's result.
    pub result: Shape,
    /// The shape to which the result is reshaped: one axis for each merged axis.
    pub unmerged: Shape,
    /// The axis of `unmerged` for each axis of the value.
    pub order: Vec<usize>,
}

/// An operand of a [`MatMulForm`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatMulOperand {
    /// The value.
    pub source: ValueId,
    /// The shape to which the value is reshaped first, which drops axes of size 1 that the product lacks.
    pub shape: Shape,
    /// The permutation of the axes of `shape` that follows.
    pub order: Vec<usize>,
    /// The shape of the matrices to which the permuted value is reshaped.
    pub matrices: Shape,
    /// Whether the operation transposes the last two axes of `matrices`.
    pub is_transposed: bool,
}

impl ProductMatch {
    /// The product that computes `value`, if any: a contraction, or a conversion that rounds its result
    /// to the type of its operands or of the arrays from which they are converted.
    pub fn find(graph: &Graph, value: ValueId) -> Option<ProductMatch> {
        let node = &graph[value];
        match node.kind {
            NodeKind::Contract { .. } => {
                let dtype = node.array_type.dtype;
                let is_exact = graph[node.operands[0]].array_type.dtype == dtype;
                Some(ProductMatch {
                    dtype,
                    is_exact,
                    ..ProductMatch::of_contraction(graph, value)?
                })
            }
            NodeKind::Convert => {
                let found = ProductMatch::of_contraction(graph, node.operands[0])?;
                let dtype = node.array_type.dtype;
                let is_source = |operand: &ProductOperand| {
                    graph[operand.source].array_type.dtype == dtype && dtype.is_float()
                };
                let is_rounded = match found.dtype {
                    DType::F32 => dtype == DType::F32 || found.operands.iter().all(is_source),
                    _ => false,
                };
                is_rounded.then_some(ProductMatch { dtype, ..found })
            }
            _ => None,
        }
    }

    /// The product that a contraction computes, in the type of its operands; `None` if an operand is a
    /// broadcast along an axis that the operation needs in both.
    pub fn of_contraction(graph: &Graph, value: ValueId) -> Option<ProductMatch> {
        let node = &graph[value];
        let NodeKind::Contract { summed } = node.kind else { return None };
        let array_type = graph[node.operands[0]].array_type.clone();
        let shape = array_type.shape;
        let [x, y] = [0, 1].map(|index| ProductOperand::of(graph, node.operands[index], &shape));
        let kept = shape.rank() - summed;
        let mut operands = [x, y];
        for (axis, &size) in shape.iter().enumerate() {
            for index in 0..2 {
                let has = |index: usize| operands[index].axes.contains(&axis);
                let is_needed = axis >= kept || index == 0 && !has(1);
                if !is_needed || has(index) {
                    continue;
                }
                if size != 1 {
                    return None;
                }
                operands[index].axes.push(axis);
            }
        }
        Some(ProductMatch { dtype: array_type.dtype, is_exact: true, operands, shape, summed })
    }

    /// The operands.
    pub fn operands(&self) -> [ValueId; 2] {
        self.operands.each_ref().map(|operand| operand.source)
    }

    /// The number of axes of the result.
    fn rank(&self) -> usize {
        self.shape.rank() - self.summed
    }

    fn role(&self, axis: usize) -> AxisRole {
        match self.operands.each_ref().map(|operand| operand.axes.contains(&axis)) {
            [true, true] => AxisRole::Batch,
            [true, false] => AxisRole::Row,
            _ => AxisRole::Column,
        }
    }

    fn axes_of(&self, role: AxisRole) -> Vec<usize> {
        (0..self.rank()).filter(|&axis| self.role(axis) == role).collect()
    }

    fn sizes(&self, axes: &[usize]) -> Vec<usize> {
        axes.iter().map(|&axis| self.shape[axis]).collect()
    }

    /// The product as `dot_general`.
    pub fn dot(&self) -> DotForm {
        let (batch, summed) = (self.axes_of(AxisRole::Batch), self.summed_axes());
        let [x, y] = &self.operands;
        let places = |operand: &ProductOperand, axes: &[usize]| -> Vec<i64> {
            axes.iter().map(|&axis| position_in(&operand.axes, axis) as i64).collect()
        };
        let free = |operand: &ProductOperand| -> Vec<usize> {
            let is_free = |axis: &&usize| !batch.contains(axis) && !summed.contains(axis);
            operand.axes.iter().filter(is_free).copied().collect()
        };
        let axes = [batch.clone(), free(x), free(y)].concat();
        DotForm {
            operands: self.operands(),
            shapes: [x, y].map(|operand| self.sizes(&operand.axes).into()),
            dimensions: DotDimensions {
                lhs_batch: places(x, &batch),
                rhs_batch: places(y, &batch),
                lhs_contracting: places(x, &summed),
                rhs_contracting: places(y, &summed),
            },
            result: self.sizes(&axes).into(),
            order: (0..self.rank()).map(|axis| position_in(&axes, axis)).collect(),
        }
    }

    fn summed_axes(&self) -> Vec<usize> {
        (self.rank()..self.shape.rank()).collect()
    }

    /// The product as `matmul`.
    pub fn matmul(&self) -> MatMulForm {
        let last = self.rank().checked_sub(1).map(|axis| self.role(axis));
        // The product commutes, so a transposed product has its operands exchanged.
        let is_exchanged =
            last == Some(AxisRole::Row) && !self.axes_of(AxisRole::Column).is_empty();
        if is_exchanged {
            let [x, y] = self.operands.clone();
            return ProductMatch { operands: [y, x], ..self.clone() }.as_matmul();
        }
        self.as_matmul()
    }

    /// The axes of the operation's result in three groups: leading axes, rows and columns.
    fn groups(&self) -> [Vec<usize>; 3] {
        let [rows, columns] = [AxisRole::Row, AxisRole::Column].map(|role| self.axes_of(role));
        let mut rest: Vec<usize> = (0..self.rank()).collect();
        let column = rest.pop_if(|axis| self.role(*axis) == AxisRole::Column);
        let row = rest.pop_if(|axis| self.role(*axis) == AxisRole::Row);
        let is_numpy = row.is_some() != rows.is_empty() && column.is_some() != columns.is_empty();
        match is_numpy {
            // NumPy's `matmul` broadcasts leading axes that only one operand has.
            true => [rest, row.into_iter().collect(), column.into_iter().collect()],
            false => [self.axes_of(AxisRole::Batch), rows, columns],
        }
    }

    /// The product as `matmul`, with the operands in their present order.
    fn as_matmul(&self) -> MatMulForm {
        let [leading, rows, columns] = self.groups();
        let x = self.matrices(0, &leading, &rows);
        let y = self.matrices(1, &leading, &columns);
        let vectors = [&x, &y].map(|operand| operand.matrices.rank() == 1);
        let merged = |axes: &[usize]| self.sizes(axes).into_iter().product::<usize>();
        let mut result = self.sizes(&leading);
        result.extend((!vectors[0]).then(|| merged(&rows)));
        result.extend((!vectors[1]).then(|| merged(&columns)));
        let axes = [leading, rows, columns].concat();
        MatMulForm {
            operands: [x, y],
            result: result.into(),
            unmerged: self.sizes(&axes).into(),
            order: (0..self.rank()).map(|axis| position_in(&axes, axis)).collect(),
        }
    }

    /// An operand as matrices; its rows or columns, `own`, are merged into one axis.
    fn matrices(&self, index: usize, leading: &[usize], own: &[usize]) -> MatMulOperand {
        let ProductOperand { source, axes } = &self.operands[index];
        let summed = self.summed_axes();
        let has = |axis: &usize| axes.contains(axis);
        let present: Vec<usize> = leading.iter().copied().filter(has).collect();
        let merged = |axes: &[usize]| self.sizes(axes).into_iter().product::<usize>();
        // Leading axes that the operand lacks have size 1; `matmul` adds those before its first one.
        let mut sizes: Vec<usize> = leading
            .iter()
            .copied()
            .skip_while(|axis| !has(axis))
            .map(|axis| if has(&axis) { self.shape[axis] } else { 1 })
            .collect();
        let is_vector = sizes.is_empty() && own.is_empty();
        let (rows, columns): (&[usize], &[usize]) =
            if index == 0 { (own, &summed) } else { (&summed, own) };
        let in_place = [&present[..], rows, columns].concat();
        let transposed = [&present[..], columns, rows].concat();
        let is_transposed = !is_vector && in_place != *axes && transposed == *axes;
        let axis_order = if is_transposed { &transposed } else { &in_place };
        match (is_vector, is_transposed) {
            (true, _) => sizes.push(merged(&summed)),
            (false, true) => sizes.extend([merged(columns), merged(rows)]),
            (false, false) => sizes.extend([merged(rows), merged(columns)]),
        }
        MatMulOperand {
            source: *source,
            shape: self.sizes(axes).into(),
            order: axis_order.iter().map(|&axis| position_in(axes, axis)).collect(),
            matrices: sizes.into(),
            is_transposed,
        }
    }
}

impl ProductOperand {
    /// The source of an operand of this shape, before its broadcasts and lossless conversions.
    fn of(graph: &Graph, value: ValueId, shape: &Shape) -> ProductOperand {
        let mut source = value;
        // The axis of the product for each axis of the source; `None` for an axis that a broadcast expands.
        let mut axes: Vec<Option<usize>> = (0..shape.rank()).map(Some).collect();
        loop {
            let node = &graph[source];
            let Some(&operand) = node.operands.first() else { break };
            let from = &graph[operand].array_type;
            match &node.kind {
                NodeKind::BroadcastInDim(map) => {
                    let sizes = &node.array_type.shape;
                    let axis =
                        |(&to, &size): (&usize, &usize)| axes[to].filter(|_| size == sizes[to]);
                    axes = map.iter().zip(from.shape.iter()).map(axis).collect();
                }
                NodeKind::Convert if widens(from.dtype, node.array_type.dtype) => {}
                _ => break,
            }
            source = operand;
        }
        ProductOperand { source, axes: axes.into_iter().flatten().collect() }
    }
}

/// The products of two values of one shape, added along their last `summed` axes. Floats are computed in
/// double precision. Writers use this function for contractions that are no matrix products.
///
/// # Errors
/// None, if the values have one shape with that many axes.
pub fn multiplied_and_added(x: &Value, y: &Value, summed: usize) -> Result<Value, GraphError> {
    let is_float = x.array_type()?.dtype.is_float();
    let wide = |value: &Value| if is_float { value.convert(DType::F64) } else { value.clone() };
    let mut sum = wide(x) * wide(y);
    for _ in 0..summed {
        let last = sum.array_type()?.shape.rank() as i64 - 1;
        sum = sum.builder().reduce(ReduceOp::Add, &sum, last)?;
    }
    Ok(sum)
}

/// Whether a conversion keeps every element.
fn widens(from: DType, to: DType) -> bool {
    let is_same_kind = from.class() == to.class() && from.class() != DTypeClass::Complex;
    is_same_kind && from.size() < to.size()
}

/// The position of an axis in a list that contains it.
fn position_in(axes: &[usize], axis: usize) -> usize {
    axes.iter().position(|&other| other == axis).unwrap_or(0)
}
