//! Reductions that carry the lanes of an incomplete block from piece to piece, so that a piece may end within
//! a block.
//!
//! A row is one position along the reduced axis. A block is 512 rows of the summation tree; row `i` of a
//! block goes to lane `i % 32`, as `indim_ops::meaning::reduction` defines. A row of lanes is up to 32
//! consecutive rows, one for each lane.

use core::ops::Range;

use indim_cpu::{Array, ArrayView};
use indim_io::ArrayRegion;
use indim_ops::meaning::reduction::{REDUCTION_BLOCK, REDUCTION_LANES};
use indim_shape::Shape;
use indim_transforms::chunks::{lane_groups, run_length, whole_blocks};

use crate::error::StreamError;
use crate::job::Job;
use crate::pair_tree::PairTree;
use crate::programs::{ProgramKind, Programs};
use crate::rows::{Piece, RowOrder};

/// Maximum number of rows of lanes that one program adds. The program repeats the operations of a piece
/// for each row of lanes.
pub(crate) const MAX_ROWS_PER_PROGRAM: usize = 4;

/// An input of one piece.
pub(crate) enum PieceInput<'a> {
    /// The input is the same for all rows: the reduced axis does not cut it.
    Common(ArrayView<'a>),
    /// The elements of each region of the piece, and the axes of the input that the reduced axis cuts.
    Regions(Vec<ArrayView<'a>>, Vec<usize>),
}

impl<'a> PieceInput<'a> {
    /// The elements of some rows of a region of the piece; `rows` counts from the first row of the region.
    fn rows(&self, region: usize, rows: &Range<usize>) -> ArrayView<'a> {
        match self {
            PieceInput::Common(view) => view.clone(),
            PieceInput::Regions(regions, axes) => {
                let shape = &regions[region].array_type().shape;
                let (mut starts, mut extents) = (vec![0; shape.rank()], shape.to_vec());
                for &axis in axes {
                    (starts[axis], extents[axis]) = (rows.start, rows.len());
                }
                regions[region].part(&starts, &Shape::from(extents))
            }
        }
    }
}

/// The reduction of the elements read so far along the reduced axis, for one region along the other axes.
pub(crate) struct CarriedReduction<'a> {
    job: &'a Job,
    axis: usize,
    /// The results of complete blocks, combined by pairs.
    blocks: PairTree,
    /// The incomplete block to whose lanes the next rows are added.
    open: Option<OpenBlock>,
}

/// An incomplete block. In the row order `LaneGroups` its groups of lanes are read in the order of
/// [`lane_groups`], which lists them run by run: a run is the groups that are combined by pairs before
/// they are folded. The fields from `position` on are for this order.
#[derive(Default)]
struct OpenBlock {
    /// Index of the block along the reduced axis.
    index: usize,
    /// The lanes of each output to which rows are added: all lanes, or a group of neighbouring lanes.
    lanes: Vec<Array>,
    /// Position of the open group in the list that [`lane_groups`] returns.
    position: usize,
    /// The lanes of the complete groups of the current run, combined by pairs.
    run: PairTree,
    /// Position of the current run in the block.
    run_position: usize,
    /// Number of groups in `run`, with or without elements.
    run_count: usize,
    /// The fold of the complete runs, one array for each output.
    folded: Option<Vec<Array>>,
}

impl<'a> CarriedReduction<'a> {
    pub(crate) fn new(job: &'a Job, axis: usize) -> Self {
        CarriedReduction { job, axis, blocks: PairTree::default(), open: None }
    }

    /// Adds a piece. Returns one result for each output after the last piece along the reduced axis.
    pub(crate) fn add(
        &mut self,
        piece: &Piece,
        inputs: &[PieceInput<'_>],
        programs: &mut Programs<'_>,
    ) -> Result<Option<Vec<Array>>, StreamError> {
        match self.job.row_order {
            RowOrder::LaneGroups(group) => self.add_lanes(group, piece, inputs, programs)?,
            RowOrder::Independent | RowOrder::Carried => {
                self.add_rows(&piece.regions[0], inputs, programs)?;
            }
        }
        if !piece.is_last {
            return Ok(None);
        }
        self.close_block(programs)?;
        self.blocks.finish_each(programs).map(Some)
    }

    /// Adds the next rows. The program of a piece reduces whole blocks, and a short last block that
    /// begins in these rows; other rows are added to the lanes of their block.
    fn add_rows(
        &mut self,
        region: &ArrayRegion,
        inputs: &[PieceInput<'_>],
        programs: &mut Programs<'_>,
    ) -> Result<(), StreamError> {
        let (first, size) = (region.starts()[self.axis], self.job.shape[self.axis]);
        let end = first + region.extents()[self.axis];
        let mut start = first;
        while start < end {
            // The last block is complete with the last row.
            let is_tail = start.is_multiple_of(REDUCTION_BLOCK)
                && end == size
                && end - start < REDUCTION_BLOCK;
            let complete = if is_tail { Some(end - start) } else { whole_blocks(start, end) };
            match complete {
                Some(length) => {
                    let rows = start - first..start - first + length;
                    let views: Vec<_> = inputs.iter().map(|input| input.rows(0, &rows)).collect();
                    let results = programs.run(&self.sizes(region, length), &views)?;
                    let level = (length / REDUCTION_BLOCK).max(1).ilog2() as usize;
                    self.blocks.add(level, Some(results), programs)?;
                    start += length;
                }
                None => {
                    let rows = start..end.min((start / REDUCTION_BLOCK + 1) * REDUCTION_BLOCK);
                    self.add_to_block(rows.clone(), start - first, region, inputs, programs)?;
                    start = rows.end;
                }
            }
        }
        Ok(())
    }

    /// Adds rows of one block to its lanes, and closes the block if it is complete. The first row is row
    /// `offset` of the piece.
    fn add_to_block(
        &mut self,
        rows: Range<usize>,
        offset: usize,
        region: &ArrayRegion,
        inputs: &[PieceInput<'_>],
        programs: &mut Programs<'_>,
    ) -> Result<(), StreamError> {
        self.open(rows.start / REDUCTION_BLOCK, 0, REDUCTION_LANES, region, programs)?;
        let mut added = 0;
        while added < rows.len() {
            let left = rows.start + added..rows.end;
            added += self.add_block_rows(left, offset + added, region, inputs, programs)?;
        }
        match rows.end.is_multiple_of(REDUCTION_BLOCK) {
            true => self.close_block(programs),
            false => Ok(()),
        }
    }

    /// Adds the first of these rows to the lanes of their block, as many as one program can add; returns
    /// their number. The first row is row `offset` of the piece.
    fn add_block_rows(
        &mut self,
        rows: Range<usize>,
        offset: usize,
        region: &ArrayRegion,
        inputs: &[PieceInput<'_>],
        programs: &mut Programs<'_>,
    ) -> Result<usize, StreamError> {
        let lane = rows.start % REDUCTION_LANES;
        // Powers of two only, so that few programs are compiled.
        let (length, count) = match rows.len() / REDUCTION_LANES {
            whole if lane == 0 && whole > 0 => {
                (REDUCTION_LANES, 1 << whole.min(MAX_ROWS_PER_PROGRAM).ilog2())
            }
            _ => (1 << rows.len().min(REDUCTION_LANES - lane).ilog2(), 1),
        };
        let regions = (0..count).map(|row| {
            let start = offset + row * REDUCTION_LANES;
            (0, start..start + length)
        });
        let regions: Vec<_> = regions.collect();
        self.add_region_rows(lane, length, &regions, region, inputs, programs)?;
        Ok(length * count)
    }

    /// Adds the regions of a piece to one group of lanes.
    fn add_lanes(
        &mut self,
        group: usize,
        piece: &Piece,
        inputs: &[PieceInput<'_>],
        programs: &mut Programs<'_>,
    ) -> Result<(), StreamError> {
        let start = piece.regions[0].starts()[self.axis];
        let lane = start % REDUCTION_LANES;
        let position = lane_groups(group).iter().position(|&first| first == lane).unwrap_or(0);
        if self.open.as_ref().is_some_and(|open| open.index != start / REDUCTION_BLOCK) {
            self.close_block(programs)?;
        } else if self.open.as_ref().is_some_and(|open| open.position != position) {
            self.close_group(programs)?;
        }
        self.open(start / REDUCTION_BLOCK, position, group, &piece.regions[0], programs)?;
        let mut region = 0;
        while region < piece.regions.len() {
            let length = piece.regions[region].extents()[self.axis];
            let alike = piece.regions[region..].iter();
            let alike = alike.take_while(|region| region.extents()[self.axis] == length).count();
            let count = 1 << alike.min(MAX_ROWS_PER_PROGRAM).ilog2();
            let regions: Vec<_> =
                (region..region + count).map(|region| (region, 0..length)).collect();
            self.add_region_rows(0, length, &regions, &piece.regions[0], inputs, programs)?;
            region += count;
        }
        Ok(())
    }

    /// Adds rows of a piece to the lanes from `lane` on. Each entry of `regions` is the index of a
    /// region of the piece, and a range of `length` rows in it. `region` gives the extents along the
    /// other axes.
    fn add_region_rows(
        &mut self,
        lane: usize,
        length: usize,
        regions: &[(usize, Range<usize>)],
        region: &ArrayRegion,
        inputs: &[PieceInput<'_>],
        programs: &mut Programs<'_>,
    ) -> Result<(), StreamError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let sizes = with_size(region.extents(), self.axis, length);
        let mut starts = vec![0; sizes.len()];
        starts[self.axis] = lane;
        let extents = Shape::from(&sizes[..]);
        let lanes: Vec<_> = open
            .lanes
            .iter_mut()
            .map(|lanes| lanes.view_mut().into_part(&starts, &extents))
            .collect();
        let mut views = Vec::with_capacity(inputs.len() * regions.len());
        for input in inputs {
            match input {
                PieceInput::Common(view) => views.push(view.clone()),
                PieceInput::Regions(..) => {
                    views.extend(regions.iter().map(|(region, rows)| input.rows(*region, rows)));
                }
            }
        }
        programs.add_to_lanes(sizes, regions.len(), lanes, views)
    }

    /// Begins a block, or a group of lanes of a block, with identities, unless one is open. `index` is
    /// that of the block, `lanes` the number of lanes, and `region` gives the extents along the other
    /// axes.
    fn open(
        &mut self,
        index: usize,
        position: usize,
        lanes: usize,
        region: &ArrayRegion,
        programs: &mut Programs<'_>,
    ) -> Result<(), StreamError> {
        let is_open = |open: &OpenBlock| !open.lanes.is_empty();
        if self.open.as_ref().is_some_and(is_open) {
            return Ok(());
        }
        let sizes = with_size(region.extents(), self.axis, lanes);
        let lanes = programs.identities(sizes)?;
        let open = self.open.get_or_insert_with(|| OpenBlock { index, ..OpenBlock::default() });
        (open.lanes, open.position) = (lanes, position);
        Ok(())
    }

    /// Adds the open group of lanes to its run. If the group begins a new run, the previous run is folded
    /// first.
    fn close_group(&mut self, programs: &mut Programs<'_>) -> Result<(), StreamError> {
        let RowOrder::LaneGroups(group) = self.job.row_order else { return Ok(()) };
        let Some(open) = self.open.as_mut().filter(|open| !open.lanes.is_empty()) else {
            return Ok(());
        };
        let lanes = core::mem::take(&mut open.lanes);
        let length = run_length(group);
        let (run, group) = (open.position / length, open.position % length);
        if run != open.run_position {
            open.close_run(programs)?;
            open.run_position = run;
        }
        // A group without elements still takes its position in the pairs of the run.
        while open.run_count < group {
            open.run.add(0, None, programs)?;
            open.run_count += 1;
        }
        open.run.add(0, Some(lanes), programs)?;
        open.run_count += 1;
        Ok(())
    }

    /// Folds the lanes of the open block, and adds its result to those of the blocks before it.
    fn close_block(&mut self, programs: &mut Programs<'_>) -> Result<(), StreamError> {
        if let RowOrder::LaneGroups(_) = self.job.row_order {
            self.close_group(programs)?;
        }
        let Some(mut open) = self.open.take() else { return Ok(()) };
        let result = match self.job.row_order {
            RowOrder::LaneGroups(_) => {
                open.close_run(programs)?;
                open.folded
            }
            RowOrder::Independent | RowOrder::Carried => {
                let rows = self.job.shape[self.axis] - open.index * REDUCTION_BLOCK;
                let shape = &open.lanes[0].array_type().shape;
                let sizes = with_size(shape, self.axis, rows.min(REDUCTION_LANES));
                let (starts, extents) = (vec![0; sizes.len()], Shape::from(&sizes[..]));
                let views: Vec<_> =
                    open.lanes.iter().map(|lanes| lanes.view().part(&starts, &extents)).collect();
                Some(programs.fold_lanes(sizes, None, &views)?)
            }
        };
        self.blocks.add(0, result, programs)
    }

    /// The sizes of a piece with this number of rows.
    fn sizes(&self, region: &ArrayRegion, rows: usize) -> Vec<usize> {
        with_size(region.extents(), self.axis, rows)
    }
}

impl OpenBlock {
    /// Folds the lanes of the current run, and continues `folded` with the result.
    fn close_run(&mut self, programs: &mut Programs<'_>) -> Result<(), StreamError> {
        self.run_count = 0;
        let Some(lanes) = self.run.finish(programs)? else { return Ok(()) };
        let sizes = lanes[0].array_type().shape.to_vec();
        let views: Vec<_> = lanes.iter().map(Array::view).collect();
        self.folded = Some(programs.fold_lanes(sizes, self.folded.as_deref(), &views)?);
        Ok(())
    }
}

/// The keys of the programs that a job runs most often, with pieces of these extents.
pub(crate) fn main_programs(job: &Job, piece: &[usize]) -> Vec<(ProgramKind, Vec<usize>)> {
    let Some((axis, _)) = job.reduced else { return vec![(ProgramKind::Piece, piece.to_vec())] };
    let (rows, whole) = (piece[axis], Shape::from(piece));
    let of = |of: ProgramKind, rows: usize| (of, with_size(&whole, axis, rows));
    match job.row_order {
        RowOrder::Independent => vec![(ProgramKind::Piece, piece.to_vec())],
        RowOrder::Carried => {
            let count = 1 << (rows / REDUCTION_LANES).clamp(1, MAX_ROWS_PER_PROGRAM).ilog2();
            let mut programs = vec![of(ProgramKind::AddToLanes(count), rows.min(REDUCTION_LANES))];
            programs.extend(whole_blocks(0, rows).map(|blocks| of(ProgramKind::Piece, blocks)));
            programs
        }
        RowOrder::LaneGroups(group) => {
            let count = 1 << (rows / group).clamp(1, MAX_ROWS_PER_PROGRAM).ilog2();
            vec![of(ProgramKind::AddToLanes(count), group)]
        }
    }
}

fn with_size(shape: &Shape, axis: usize, size: usize) -> Vec<usize> {
    let mut sizes = shape.to_vec();
    sizes[axis] = size;
    sizes
}
