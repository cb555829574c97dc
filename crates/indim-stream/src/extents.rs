//! The largest pieces of a job within a memory limit.

use indim_ops::meaning::reduction::{REDUCTION_BLOCK, REDUCTION_LANES};
use indim_transforms::chunks::{CutPolicy, run_length};

use crate::job::{Job, JobOperand};
use crate::rows::RowOrder;

/// The order in which axes are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CutOrder {
    /// From the outermost axis on, whose elements are farthest apart in row-major arrays.
    First,
    /// From the innermost axis on.
    Last,
    /// By halves: each time the axis whose cut saves the most memory. In a product of matrices, a piece of
    /// the result has about as many rows as columns, so few pieces read the same rows or columns.
    Halved,
}

impl CutOrder {
    pub(crate) const ALL: [CutOrder; 3] = [CutOrder::First, CutOrder::Last, CutOrder::Halved];
}

/// Peak memory of a job with pieces of this shape, in bytes: one piece is read while another is computed and
/// a third is written.
pub(crate) fn held_bytes(job: &Job, piece: &[usize]) -> usize {
    let inputs = job.inputs.iter().filter(|(_, stored)| !stored.is_in_memory);
    let inputs = inputs.map(|(operand, stored)| {
        operand.bytes(piece).saturating_mul(2).saturating_add(stored.scratch_bytes)
    });
    let copies = match job.reduced {
        None => 2,
        Some((axis, _)) => {
            let size = job.shape[axis];
            // Each level of the pair tree holds one partial result until its neighbour exists; results are
            // copied once.
            let leaves = match job.row_order {
                RowOrder::Independent => job.piece_counts(piece)[axis],
                RowOrder::Carried | RowOrder::LaneGroups(_) => size.div_ceil(REDUCTION_BLOCK),
            };
            leaves.max(1).ilog2() as usize + 4 + carried_lanes(job.row_order, size)
        }
    };
    let outputs = job.outputs.iter().map(|output| {
        let scratch = output.sinks.iter().map(|(_, stored)| stored.scratch_bytes);
        let scratch = scratch.fold(0, usize::saturating_add);
        output.bytes(piece).saturating_mul(copies).saturating_add(scratch)
    });
    inputs.chain(outputs).fold(0, usize::saturating_add)
}

/// Number of lanes in memory at a time, for a reduced axis of this length. Each lane is as large as the
/// outputs of a piece.
fn carried_lanes(order: RowOrder, size: usize) -> usize {
    match order {
        RowOrder::Independent => 0,
        RowOrder::Carried => size.min(REDUCTION_LANES),
        // The open group, one group for each level of pairs, and the result of combining two groups; then
        // the fold of the complete runs, before and after another run is added.
        RowOrder::LaneGroups(group) => group * (run_length(group).ilog2() as usize + 2) + 2,
    }
}

/// The bytes of lanes that a job carries from piece to piece.
pub(crate) fn carried_bytes(job: &Job, piece: &[usize]) -> usize {
    let Some((axis, _)) = job.reduced else { return 0 };
    let lanes = carried_lanes(job.row_order, job.shape[axis]);
    let bytes = job.outputs.iter().map(|output| output.bytes(piece).saturating_mul(lanes));
    bytes.fold(0, usize::saturating_add)
}

/// The largest piece shape with which the job holds at most `limit` bytes, for axes that are cut in this
/// order. If no shape fits, the smallest shape, or nearly the smallest.
pub(crate) fn largest_pieces(job: &Job, limit: usize, order: CutOrder) -> Vec<usize> {
    let mut piece = job.shape.to_vec();
    if let Some((axis, _)) = job.reduced {
        piece[axis] = job.row_order.max_extent(piece[axis]);
    }
    let whole = piece.clone();
    let mut axes: Vec<usize> = (0..piece.len()).filter(|&axis| job.is_cut[axis]).collect();
    if order == CutOrder::Last {
        axes.reverse();
    }
    // First pieces of whole chunks, then smaller ones.
    for is_whole_chunks in [true, false] {
        if order == CutOrder::Halved {
            halve(job, limit, &axes, is_whole_chunks, &mut piece);
            continue;
        }
        for &axis in &axes {
            if held_bytes(job, &piece) <= limit {
                break;
            }
            let unit = ExtentUnit::of(job, axis, is_whole_chunks);
            let fits = |extent: usize| {
                let mut smaller = piece.clone();
                smaller[axis] = extent;
                held_bytes(job, &smaller) <= limit
            };
            piece[axis] = unit.largest(whole[axis], fits);
        }
    }
    piece
}

/// Halves a piece until it fits or no axis can be cut further.
fn halve(job: &Job, limit: usize, axes: &[usize], is_whole_chunks: bool, piece: &mut Vec<usize>) {
    while held_bytes(job, piece) > limit {
        let halved = axes.iter().filter_map(|&axis| {
            let half = piece[axis] / 2;
            let unit = ExtentUnit::of(job, axis, is_whole_chunks);
            let extent = unit.largest(job.shape[axis], |extent| extent <= half);
            let mut smaller = piece.clone();
            smaller[axis] = extent;
            (extent < piece[axis]).then_some(smaller)
        });
        match halved.min_by_key(|smaller| held_bytes(job, smaller)) {
            Some(smaller) => *piece = smaller,
            None => break,
        }
    }
}

/// Whether pieces follow the order of the elements for each sequential sink, and the storage order for
/// each sequential source.
pub(crate) fn is_in_order(job: &Job, piece: &[usize]) -> bool {
    let is_cut = |axis: usize| piece[axis] < job.shape[axis];
    let order: Vec<usize> = job.order().into_iter().filter(|&axis| is_cut(axis)).collect();
    let is_written_in_order = job.outputs.iter().all(|output| {
        let mut sinks = output.sinks.iter();
        !sinks.any(|(_, stored)| stored.is_sequential)
            || is_storage_order(&output.operand, false, &order, piece)
    });
    is_written_in_order
        && job.inputs.iter().all(|(operand, stored)| {
            !stored.is_sequential
                || is_storage_order(operand, stored.is_column_major, &order, piece)
        })
}

/// Whether pieces in the order of these axes, the slowest first, visit the elements of an array in storage
/// order. Successive pieces with the same region visit it once.
fn is_storage_order(
    operand: &JobOperand,
    is_column_major: bool,
    order: &[usize],
    piece: &[usize],
) -> bool {
    let extents = operand.extents(piece);
    let mut axes: Vec<usize> = (0..extents.rank()).collect();
    if is_column_major {
        axes.reverse();
    }
    let moved = |&axis: &usize| operand.axes[axis].filter(|along| order.contains(along));
    let along: Vec<usize> = axes.iter().filter_map(moved).collect();
    let last = axes.iter().rposition(|axis| moved(axis).is_some());
    // A region is contiguous in storage if its extent is 1 along all axes outside the innermost cut axis.
    let is_dense = last.is_none_or(|last| axes[..last].iter().all(|&axis| extents[axis] == 1));
    is_dense && order.starts_with(&along)
}

/// The unit of piece extents along an axis.
enum ExtentUnit {
    /// 512 elements, times a power of two.
    Aligned,
    MultipleOf(usize),
}

impl ExtentUnit {
    fn of(job: &Job, axis: usize, is_whole_chunks: bool) -> ExtentUnit {
        if let Some((reduced, policy)) = job.reduced
            && reduced == axis
        {
            match job.row_order {
                RowOrder::Independent if policy == CutPolicy::Aligned => {
                    return ExtentUnit::Aligned;
                }
                RowOrder::LaneGroups(group) => return ExtentUnit::MultipleOf(group),
                RowOrder::Independent | RowOrder::Carried => {}
            }
        }
        let size = job.shape[axis];
        let chunk = |chunks: &Option<Vec<usize>>, axes: &[Option<usize>]| {
            let of = axes.iter().position(|&of| of == Some(axis))?;
            Some(chunks.as_ref()?[of].max(1))
        };
        let of_sinks = job.outputs.iter().flat_map(|output| {
            let sinks = output.sinks.iter();
            sinks.filter_map(|(_, stored)| chunk(&stored.chunks, &output.operand.axes))
        });
        let of_sources = job.inputs.iter().filter(|_| is_whole_chunks);
        let of_sources = of_sources.filter_map(|(it, stored)| chunk(&stored.chunks, &it.axes));
        let must = of_sinks.fold(1, |unit, chunk| common_multiple(unit, chunk, size));
        let wanted = of_sources.fold(must, |unit, chunk| common_multiple(unit, chunk, size));
        // If no multiple of all chunks is shorter than the axis, only the chunks of sinks count, which
        // are mandatory.
        ExtentUnit::MultipleOf(if wanted < size { wanted } else { must })
    }

    /// The largest extent that fits, or else the smallest. A `MultipleOf` is then reduced, so that all
    /// pieces have about equal sizes.
    fn largest(&self, size: usize, fits: impl Fn(usize) -> bool) -> usize {
        if fits(size) {
            return size;
        }
        match *self {
            ExtentUnit::Aligned => {
                let doubled = |&extent: &usize| extent.checked_mul(2);
                let extents = core::iter::successors(Some(REDUCTION_BLOCK), doubled);
                let extents: Vec<usize> = extents.take_while(|&extent| extent < size).collect();
                let fitting = extents.iter().rev().find(|&&extent| fits(extent));
                *fitting.or(extents.first()).unwrap_or(&size)
            }
            ExtentUnit::MultipleOf(unit) => {
                let (mut fitting, mut too_many) = (1, size.div_ceil(unit));
                while too_many - fitting > 1 {
                    let middle = fitting + (too_many - fitting) / 2;
                    let to = if fits(middle * unit) { &mut fitting } else { &mut too_many };
                    *to = middle;
                }
                // Pieces have about equal sizes.
                let pieces = size.div_ceil(fitting * unit);
                size.div_ceil(pieces).next_multiple_of(unit).min(size)
            }
        }
    }
}

/// The least common multiple, at most `max`.
pub(crate) fn common_multiple(a: usize, b: usize, max: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b).map_or(max, |multiple| multiple.min(max))
}
