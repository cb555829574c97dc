//! Partial results of reductions: those of one chunk, and their combination.
//!
//! A fold has one array, with size 1 along the reduced axis. An arg-reduction has three: where in the chunk
//! the extreme is, the extreme, and how many elements the chunk has along the axis, so that any value that
//! comes behind it knows its place. The first of them is what the reduction gives when all chunks are
//! combined.

use indim_ops::{ArrayType, DType, Op, ReduceOp};
use indim_shape::AxisMap;

use crate::assemble::GraphAssembler;
use crate::graph::{NodeKind, ValueId};
use crate::verify::VerifyErrorKind;

/// The number of arrays in a reduction's partial result.
///
/// ```
/// use indim_graph::chunks::partial_count;
/// use indim_ops::ReduceOp;
/// assert_eq!(partial_count(ReduceOp::Add), 1);
/// assert_eq!(partial_count(ReduceOp::ArgMax), 3); // where it is, what it is, of how many
/// ```
pub fn partial_count(op: ReduceOp) -> usize {
    if op.is_arg_reduction() { 3 } else { 1 }
}

/// Adds what combines the arrays that `op` makes of two chunks, or of chunks that have been combined: `later`
/// lies directly behind `earlier`. Any order of combining neighbours gives the same bits, but for sums and
/// products of floats, which are combined by pairs.
///
/// ```
/// use indim_graph::chunks::combine;
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
/// // The largest of [5, 9, 1] and of [2, 9]: the first 9 is found.
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
/// When they are not what `op` makes of chunks.
///
/// # Panics
/// Unless [`partial_count`] values of each are given.
pub fn combine(
    assembler: &mut GraphAssembler,
    op: ReduceOp,
    earlier: &[ValueId],
    later: &[ValueId],
) -> Result<Vec<ValueId>, VerifyErrorKind> {
    let mut pair = Pair { assembler };
    match (op.is_arg_reduction(), earlier, later) {
        (false, &[x], &[y]) => Ok(vec![pair.elementwise(op.operation(), &[x, y])?]),
        (true, &[i, x, n], &[j, y, m]) => pair.search(op, [i, x, n], [j, y, m]),
        _ => panic!("as many values as the reduction makes of a chunk"),
    }
}

struct Pair<'a> {
    assembler: &'a mut GraphAssembler,
}

impl Pair<'_> {
    /// The first index wins where both have the extreme, or a NaN.
    fn search(
        &mut self,
        op: ReduceOp,
        [i, x, n]: [ValueId; 3],
        [j, y, m]: [ValueId; 3],
    ) -> Result<Vec<ValueId>, VerifyErrorKind> {
        // Among NaNs it is one, which equals nothing.
        let extreme = self.elementwise(op.operation(), &[x, y])?;
        let mut is_earlier = self.elementwise(Op::Eq, &[x, extreme])?;
        if self.assembler[x].array_type.dtype.is_float() {
            let is_nan = self.elementwise(Op::Ne, &[x, x])?;
            is_earlier = self.elementwise(Op::Or, &[is_earlier, is_nan])?;
        }
        let before = self.spread(n, j)?;
        let moved = self.elementwise(Op::Add, &[before, j])?;
        let index = self.elementwise(Op::Select, &[is_earlier, i, moved])?;
        Ok(vec![index, extreme, self.elementwise(Op::Add, &[n, m])?])
    }

    fn elementwise(&mut self, op: Op, operands: &[ValueId]) -> Result<ValueId, VerifyErrorKind> {
        let last = *operands.last().expect("invariant: operations have operands");
        let ArrayType { dtype, shape } = self.assembler[last].array_type.clone();
        let array_type = ArrayType::new(op.result_dtype(dtype), shape);
        self.assembler.add(NodeKind::Elementwise(op), operands, array_type)
    }

    /// A length, whose axes have size 1, everywhere in the shape of `like`.
    fn spread(&mut self, length: ValueId, like: ValueId) -> Result<ValueId, VerifyErrorKind> {
        let shape = self.assembler[like].array_type.shape.clone();
        let map = AxisMap::from((0..shape.rank()).collect::<Vec<usize>>());
        let array_type = ArrayType::new(DType::I64, shape);
        self.assembler.add(NodeKind::BroadcastInDim(map), &[length], array_type)
    }
}
