//! Partial results of reductions: the results of one chunk, and their combination.
//!
//! The partial result of a fold is one array, with size 1 along the reduced axis. An arg-reduction has three
//! arrays: the index of the extreme in the chunk, the extreme, and the number of elements of the chunk along
//! the axis, which offsets the indices of later chunks. The first array is the result after all chunks are
//! combined.

use indim_ops::{ArrayType, DType, Op, ReduceOp};
use indim_shape::AxisMap;

use indim_graph::{GraphAssembler, NodeKind, ValueId, VerifyErrorKind};

/// The number of arrays in a reduction's partial result.
///
/// ```
/// use indim_transforms::chunks::partial_count;
/// use indim_ops::ReduceOp;
/// assert_eq!(partial_count(ReduceOp::Add), 1);
/// assert_eq!(partial_count(ReduceOp::ArgMax), 3); // index, extreme, number of elements
/// ```
pub fn partial_count(op: ReduceOp) -> usize {
    if op.is_arg_reduction() { 3 } else { 1 }
}

/// Adds nodes that combine the partial results of `op` of two adjacent ranges of chunks, `earlier` and
/// `later`. Any order of combining neighbours gives the same bits, except for ordered reductions
/// ([`ReduceOp::is_ordered`]), which must be combined in pairs, level by level, as
/// [`Stage::reduced`](super::Stage::reduced) says.
///
/// ```
/// use indim_transforms::chunks::combine;
/// use indim_graph::{Array, GraphAssembler, NodeKind, evaluate};
/// use indim_ops::{ArrayType, DType, ReduceOp};
///
/// let mut assembler = GraphAssembler::new();
/// let mut values = Vec::new();
/// for (index, dtype) in [DType::I64, DType::F64, DType::I64].repeat(2).into_iter().enumerate() {
///     let kind = NodeKind::Parameter { index, name: format!("x{index}") };
///     values.push(assembler.add(kind, &[], ArrayType::new(dtype, [1]))?);
/// }
/// let outputs = combine(&mut assembler, ReduceOp::ArgMax, &values[..3], &values[3..])?;
/// let graph = assembler.finish(outputs)?;
///
/// // The largest of [5, 9, 1] and of [2, 9] is the first 9.
/// let array = |element: i64| Array::new([1], vec![element]).unwrap();
/// let nine = Array::new([1], vec![9.0]).unwrap();
/// let chunks = [array(1), nine.clone(), array(3), array(1), nine, array(2)];
/// let results = evaluate(&graph, &chunks).unwrap();
/// assert_eq!(results[0], array(1));
/// assert_eq!(results[2], array(5));
/// # Ok::<(), indim_graph::VerifyErrorKind>(())
/// ```
///
/// # Errors
/// If the values do not have the types of partial results of `op`.
///
/// # Panics
/// Unless both slices have [`partial_count`] values.
pub fn combine(
    assembler: &mut GraphAssembler,
    op: ReduceOp,
    earlier: &[ValueId],
    later: &[ValueId],
) -> Result<Vec<ValueId>, VerifyErrorKind> {
    let mut combiner = Combiner { assembler };
    match (op.is_arg_reduction(), earlier, later) {
        (false, &[x], &[y]) => Ok(vec![combiner.elementwise(op.operation(), &[x, y])?]),
        (true, &[i, x, n], &[j, y, m]) => combiner.arg_reduce(op, [i, x, n], [j, y, m]),
        _ => panic!("combine takes `partial_count` values of each range of chunks"),
    }
}

struct Combiner<'a> {
    assembler: &'a mut GraphAssembler,
}

impl Combiner<'_> {
    /// Combines two arg-reductions, each an index, an extreme and a number of elements. The earlier index
    /// wins a tie, also between NaNs.
    fn arg_reduce(
        &mut self,
        op: ReduceOp,
        [i, x, n]: [ValueId; 3],
        [j, y, m]: [ValueId; 3],
    ) -> Result<Vec<ValueId>, VerifyErrorKind> {
        // If `x` or `y` is NaN, the extreme is NaN, and neither of them equals it.
        let extreme = self.elementwise(op.operation(), &[x, y])?;
        let mut is_earlier = self.elementwise(Op::Eq, &[x, extreme])?;
        if self.assembler[x].array_type.dtype.is_float() {
            let is_nan = self.elementwise(Op::Ne, &[x, x])?;
            is_earlier = self.elementwise(Op::Or, &[is_earlier, is_nan])?;
        }
        let offset = self.broadcast(n, j)?;
        let offset_index = self.elementwise(Op::Add, &[offset, j])?;
        let index = self.elementwise(Op::Select, &[is_earlier, i, offset_index])?;
        Ok(vec![index, extreme, self.elementwise(Op::Add, &[n, m])?])
    }

    fn elementwise(&mut self, op: Op, operands: &[ValueId]) -> Result<ValueId, VerifyErrorKind> {
        let last = *operands.last().expect("invariant: operations have operands");
        let ArrayType { dtype, shape } = self.assembler[last].array_type.clone();
        let array_type = ArrayType::new(op.result_dtype(dtype), shape);
        self.assembler.add(NodeKind::Elementwise(op), operands, array_type)
    }

    /// A length, whose axes have size 1, broadcast to the shape of `like`.
    fn broadcast(&mut self, length: ValueId, like: ValueId) -> Result<ValueId, VerifyErrorKind> {
        let shape = self.assembler[like].array_type.shape.clone();
        let map = AxisMap::from((0..shape.rank()).collect::<Vec<usize>>());
        let array_type = ArrayType::new(DType::I64, shape);
        self.assembler.add(NodeKind::BroadcastInDim(map), &[length], array_type)
    }
}
