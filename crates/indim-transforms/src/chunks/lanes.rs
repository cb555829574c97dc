//! Lanes: the accumulators of an incomplete block of a fold, such as a float sum.
//!
//! A sum takes elements in blocks of 512. Element `i` of a block goes to lane `i % 32`, and each lane
//! takes its elements in order. So a block can be cut anywhere if its lanes are carried from chunk to
//! chunk, as arrays with up to 32 rows along the reduced axis. Elements of different lanes may come in any
//! order, and complete lanes can be folded: a reader that goes lane by lane carries one lane and a few
//! folded lanes.

use indim_ops::meaning::reduction::{REDUCTION_BLOCK, REDUCTION_LANES};
use indim_ops::{ArrayType, ReduceOp};
use indim_shape::{Shape, sort_few_by_key};

use indim_graph::{AxisSlice, Graph, GraphAssembler, NodeKind, ValueId, VerifyErrorKind};

/// The number of lanes that are left after lanes at distances 16, 8 and 4 are folded; these four lanes are
/// combined from the left.
const SEQUENTIAL_LANES: usize = 4;

/// The first lane of each group of `group` neighbouring lanes, in the reading order that carries the
/// fewest lanes.
///
/// The groups come in runs of [`run_length`] groups. The groups of a run are combined in pairs of
/// neighbours, level by level, as the results of blocks are. A run leaves `group` lanes, which
/// [`fold_lanes`] combines with the fold of the runs before it.
///
/// ```
/// use indim_transforms::chunks::{lane_groups, run_length};
///
/// assert_eq!(lane_groups(4), [0, 16, 8, 24, 4, 20, 12, 28]); // (0 + 16) + (8 + 24), ...
/// assert_eq!(run_length(4), 8);
/// assert_eq!(lane_groups(16), [0, 16]);
/// assert_eq!(&lane_groups(1)[..9], [0, 16, 8, 24, 4, 20, 12, 28, 1]);
/// ```
///
/// # Panics
/// Unless `group` is a power of two up to 32.
pub fn lane_groups(group: usize) -> Vec<usize> {
    assert!(
        group.is_power_of_two() && group <= REDUCTION_LANES,
        "a group of 1, 2, 4, 8, 16 or 32 lanes"
    );
    let base = group.max(SEQUENTIAL_LANES);
    // The first lane of each group of a run that begins at lane 0, in the order of the pairs.
    let mut run = vec![0];
    let mut distance = base;
    while distance < REDUCTION_LANES {
        run = run.iter().flat_map(|&lane| [lane, lane + distance]).collect();
        distance *= 2;
    }
    // Groups that are farthest apart are combined first, so they are neighbours in this order.
    sort_few_by_key(&mut run, |&lane: &usize| (lane / base).reverse_bits());
    (0..base).step_by(group).flat_map(|first| run.iter().map(move |lane| first + lane)).collect()
}

/// The number of groups in a run of `lane_groups`.
pub fn run_length(group: usize) -> usize {
    REDUCTION_LANES / group.max(SEQUENTIAL_LANES)
}

/// The graph that folds lanes along an axis. For each reduction it takes an array of the lanes that have
/// elements, and returns the result of the block, with size 1 along the axis. With `has_carry`, each
/// reduction has one more parameter before its lanes: the fold of earlier lanes, which is combined with
/// these lanes from the left.
///
/// ```
/// use indim_transforms::chunks::fold_lanes;
/// use indim_graph::{Array, evaluate};
/// use indim_ops::{ArrayType, DType, ReduceOp};
///
/// let lanes = ArrayType::new(DType::F64, [6]);
/// let graph = fold_lanes(&[(ReduceOp::Add, lanes)], 0, false).unwrap();
/// let lanes = Array::new([6], vec![1.0, 2.0, 4.0, 8.0, 16.0, 32.0])?;
/// assert_eq!(evaluate(&graph, &[lanes])?, [Array::new([1], vec![63.0])?]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// When an array would be too large.
pub fn fold_lanes(
    reductions: &[(ReduceOp, ArrayType)],
    axis: usize,
    has_carry: bool,
) -> Result<Graph, VerifyErrorKind> {
    let mut assembler = GraphAssembler::new();
    let mut outputs = Vec::new();
    for (op, lanes) in reductions {
        let row = with_size(lanes, axis, 1);
        let carry = match has_carry {
            true => Some(parameter(&mut assembler, row.clone())?),
            false => None,
        };
        let block = parameter(&mut assembler, lanes.clone())?;
        let mut rows = Vec::with_capacity(lanes.shape[axis]);
        for lane in 0..lanes.shape[axis] {
            let slices = lanes.shape.iter().enumerate().map(|(other, &size)| match other == axis {
                true => AxisSlice::new(lane, 1, 1),
                false => AxisSlice::whole(size),
            });
            let slices = NodeKind::Slice(slices.collect());
            rows.push(assembler.add(slices, &[block], row.clone())?);
        }
        let mut combine = |x: ValueId, y: ValueId| {
            assembler.add(NodeKind::Elementwise(op.operation()), &[x, y], row.clone())
        };
        let mut distance = REDUCTION_LANES / 2;
        while distance >= SEQUENTIAL_LANES {
            for lane in distance..rows.len() {
                rows[lane - distance] = combine(rows[lane - distance], rows[lane])?;
            }
            rows.truncate(distance);
            distance /= 2;
        }
        let mut rows = carry.into_iter().chain(rows);
        let first = rows.next().expect("invariant: lanes that have elements");
        outputs.push(rows.try_fold(first, combine)?);
    }
    assembler.finish(outputs)
}

/// The number of elements of the longest run of whole blocks from `start` on, at most up to `end`, that is
/// a node of the tree of a sum. `None` if `start` lies within a block, or less than a block is left.
///
/// ```
/// use indim_transforms::chunks::whole_blocks;
///
/// assert_eq!(whole_blocks(0, 3000), Some(2048));
/// assert_eq!(whole_blocks(512, 3000), Some(512)); // [512, 1536) is not a node
/// assert_eq!(whole_blocks(1024, 3000), Some(1024));
/// assert_eq!(whole_blocks(1000, 3000), None);
/// ```
pub fn whole_blocks(start: usize, end: usize) -> Option<usize> {
    let blocks = end.saturating_sub(start) / REDUCTION_BLOCK;
    if !start.is_multiple_of(REDUCTION_BLOCK) || blocks == 0 {
        return None;
    }
    let index = start / REDUCTION_BLOCK;
    let aligned = if index == 0 { usize::MAX } else { 1 << index.trailing_zeros() };
    Some(REDUCTION_BLOCK * aligned.min(1 << blocks.ilog2()))
}

fn parameter(
    assembler: &mut GraphAssembler,
    array_type: ArrayType,
) -> Result<ValueId, VerifyErrorKind> {
    let index = assembler.parameter_count();
    let kind = NodeKind::Parameter { index, name: format!("x{index}") };
    assembler.add(kind, &[], array_type)
}

/// The type with another size along an axis.
fn with_size(array_type: &ArrayType, axis: usize, size: usize) -> ArrayType {
    let mut sizes = array_type.shape.to_vec();
    sizes[axis] = size;
    ArrayType::new(array_type.dtype, Shape::from(sizes))
}

#[cfg(test)]
#[path = "../../tests/unit/lanes.rs"]
mod tests;
