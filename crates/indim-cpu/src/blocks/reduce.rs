//! The code of a nest with a reduced axis, bound to strides. Holds unsafe code.
//!
//! A tile's values are computed as in any nest, or read where they lie. Then their rows go into the lanes of
//! the tree that `indim_ops::fold` defines: `LANES` rows of accumulators, one accumulator a column. When a
//! block of the tree is complete its lanes are folded into one row, a node, which joins the nodes before it.

use core::cmp::Reverse;
use core::ops::Range;
use std::sync::Arc;

use indim_kernels::FoldedRows;
use indim_loops::HeldBytes;
use indim_loops::loop_nest::{Local, Store};
use indim_loops::scratch::array_bytes;
use indim_ops::meaning::reduction::{BLOCK, LANES};

use crate::blocks::code::BlockCode;
use crate::blocks::memory::{Run, scatter};
use crate::blocks::store_fold::{StoreFold, most_nodes};
use crate::blocks::tiles::{Tile, WORKSPACE, Workspace};
use crate::blocks::wiring::Wiring;
use crate::executor::{Bases, BoundNest};
use crate::walk::position::Position;
use crate::walk::reducing::{Part, Reducing, UnitForm};

/// The code of a nest with a reduced axis under walks.
#[derive(Debug)]
pub(crate) struct BoundReduction {
    code: Arc<BlockCode>,
    parts: Vec<BoundPart>,
}

#[derive(Debug)]
struct BoundPart {
    part: Part,
    wiring: Wiring,
    /// For each store, where the values lie that are reduced.
    sources: Vec<Source>,
    /// For each store where its accumulators begin, in bytes, and its nodes.
    lanes: Vec<usize>,
    nodes: Vec<usize>,
    bytes: usize,
}

/// Where the values of a store lie in a tile.
#[derive(Debug, Clone, Copy)]
struct Source {
    slot: usize,
    /// From one step to the next, in bytes.
    step_stride: isize,
}

impl BoundReduction {
    /// See [`NestCode::bind`](crate::executor::NestCode::bind); the nest has a reduced axis.
    pub(crate) fn new(code: Arc<BlockCode>, strides: &[Vec<isize>]) -> Option<Self> {
        let nest = &code.nest;
        let element_sizes: Vec<usize> =
            nest.operands().map(|operand| operand.array_type.dtype.size()).collect();
        let targets = nest.stores.len();
        let accesses = nest.accesses.iter().enumerate();
        let largest = accesses
            .max_by_key(|(index, access)| (array_bytes(&access.array_type), Reverse(*index)));
        let parts = Reducing {
            sizes: &nest.shape,
            reduced: nest.reduced?,
            strides,
            element_sizes: &element_sizes,
            targets,
            main: largest.map_or(0, |(index, _)| targets + index),
            block: code.block,
            minimum_row: code.minimum_row,
            is_direct: code.calls.is_empty(),
        }
        .parts()?;
        let parts = parts.into_iter().map(|part| BoundPart::new(&code, part)).collect();
        Some(BoundReduction { code, parts })
    }
}

impl BoundPart {
    fn new(code: &BlockCode, part: Part) -> Self {
        let mut in_blocks = code.is_read_by_kernel.clone();
        for store in code.nest.stores.iter().filter(|_| !part.is_direct) {
            if let Local::Access(index) = store.source {
                in_blocks[index] = true;
            }
        }
        let wiring = Wiring::new(code, &part.walk, &in_blocks, &[]);
        let sources = code.nest.stores.iter().map(|store| source(code, &part, store)).collect();
        let (width, finished) = match part.form {
            UnitForm::Columns(columns) => (columns, columns),
            UnitForm::Row(_) => (1, part.walk.tile_steps),
        };
        let length = code.nest.reduced.map_or(0, |axis| code.nest.shape[axis]);
        let (mut lanes, mut nodes, mut bytes) = (Vec::new(), Vec::new(), 0);
        for fold in &code.folds {
            lanes.push(bytes);
            // The lanes make room for the finished results.
            bytes += ((LANES * width).max(finished) * fold.size).next_multiple_of(64);
            nodes.push(bytes);
            let node_count = (most_nodes(length) * width).max(finished);
            bytes += (node_count * fold.size).next_multiple_of(64);
        }
        BoundPart { part, wiring, sources, lanes, nodes, bytes }
    }
}

fn source(code: &BlockCode, part: &Part, store: &Store) -> Source {
    let dense = (part.walk.step_elements * code.nest.dtype(store.source).size()) as isize;
    let step_stride = match store.source {
        Local::Access(index) if part.is_direct => {
            part.walk.operands[code.nest.stores.len() + index].step_stride
        }
        _ => dense,
    };
    Source { slot: code.slot(store.source), step_stride }
}

impl BoundNest for BoundReduction {
    fn tiles(&self) -> usize {
        self.parts.iter().map(|part| part.part.pieces()).sum()
    }

    fn tile_elements(&self) -> usize {
        let elements = self.code.nest.shape.iter().product::<usize>();
        elements.div_ceil(self.tiles().max(1))
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        let mut first = 0;
        for bound in &self.parts {
            let pieces = bound.part.pieces();
            let own = tiles.start.clamp(first, first + pieces) - first
                ..tiles.end.clamp(first, first + pieces) - first;
            if !own.is_empty() {
                // SAFETY: the caller's promise, for some of the tiles.
                unsafe { bound.run(&self.code, bases, own) }
            }
            first += pieces;
        }
    }

    fn count_bytes(&self, held: &mut HeldBytes) {
        held.own::<BoundReduction>(1);
        held.own::<BoundPart>(self.parts.capacity());
        for part in &self.parts {
            part.part.walk.count_bytes(held);
            part.wiring.count_bytes(held);
            held.own::<Source>(part.sources.capacity());
            held.own::<usize>(part.lanes.capacity() + part.nodes.capacity());
            held.own::<isize>(part.part.result_strides.capacity());
        }
    }
}

impl BoundPart {
    /// # Safety
    /// As [`BoundNest::run`], for pieces of this part.
    unsafe fn run(&self, code: &BlockCode, bases: &Bases<'_>, pieces: Range<usize>) {
        let (walk, wiring) = (&self.part.walk, &self.wiring);
        let tiles = match self.part.form {
            UnitForm::Columns(_) => walk.tiles_along_axis,
            UnitForm::Row(_) => 1,
        };
        WORKSPACE.with_borrow_mut(|workspace| {
            workspace.prepare(wiring, code.nest.accesses.len());
            let accumulators = workspace.accumulators(self.bytes);
            let Workspace { slots, operands, gathered, outer, offsets, .. } = workspace;
            let mut position = Position::new(walk, pieces.start * tiles, outer, offsets);
            let tile = Tile { code, walk, wiring, bases: bases.0, slots, operands, gathered };
            let mut reduction = Reduction { bound: self, folds: &code.folds, tile, accumulators };
            for _ in pieces {
                // SAFETY: the caller's promise; the accumulators have room for what `new` counted.
                unsafe {
                    match self.part.form {
                        UnitForm::Columns(width) => {
                            reduction.reduce_columns(&mut position, width, tiles);
                        }
                        UnitForm::Row(length) => reduction.reduce_rows(&mut position, length),
                    }
                }
            }
        });
    }
}

/// What the units of a run share.
struct Reduction<'a> {
    bound: &'a BoundPart,
    folds: &'a [StoreFold],
    tile: Tile<'a>,
    accumulators: *mut u8,
}

impl Reduction<'_> {
    /// Reduces a unit of `width` columns, and goes on to the next.
    ///
    /// # Safety
    /// As [`BoundNest::run`], for the unit that begins at `position`.
    unsafe fn reduce_columns(&mut self, position: &mut Position<'_>, width: usize, tiles: usize) {
        let mut step = 0;
        for index in 0..tiles {
            let steps = step..step + position.steps;
            step = steps.end;
            // SAFETY: the caller's promise; the values of a tile are taken before the next are made.
            unsafe {
                self.tile.compute(position);
                for (store, fold) in self.folds.iter().enumerate() {
                    let Source { slot, step_stride } = self.bound.sources[store];
                    let values = Values { first: self.tile.slot(slot), step_stride };
                    self.columns(store, fold, width).take(values, steps.clone());
                    if index + 1 == tiles {
                        self.columns(store, fold, width).finish(step);
                        self.write(position, store, width);
                    }
                }
            }
            position.advance();
        }
    }

    /// Reduces a tile of whole rows, each at most a block of the tree, and goes on to the next.
    ///
    /// # Safety
    /// As [`BoundNest::run`], for the tile at `position`.
    unsafe fn reduce_rows(&mut self, position: &mut Position<'_>, length: usize) {
        let count = position.steps;
        // SAFETY: the caller's promise; there is room for the results of a tile.
        unsafe {
            self.tile.compute(position);
            for (store, fold) in self.folds.iter().enumerate() {
                let Source { slot, step_stride: row } = self.bound.sources[store];
                let step_stride = row / length as isize;
                let columns = self.columns(store, fold, 1);
                for index in 0..count {
                    let first = self.tile.slot(slot).wrapping_offset(index as isize * row);
                    columns.take_in_block(Values { first, step_stride }, 0..length);
                    columns.fold_lanes(length.min(LANES));
                    columns.leave(index);
                }
                self.write(position, store, count);
            }
        }
        position.advance();
    }

    fn columns<'f>(&self, store: usize, fold: &'f StoreFold, width: usize) -> Columns<'f> {
        Columns {
            fold,
            width,
            lanes: self.accumulators.wrapping_add(self.bound.lanes[store]),
            nodes: self.accumulators.wrapping_add(self.bound.nodes[store]),
        }
    }

    /// Writes `count` results, which stand where the first nodes stand.
    ///
    /// # Safety
    /// As [`BoundNest::run`], for the results at `position`; the lanes have been folded and make room.
    unsafe fn write(&self, position: &Position<'_>, store: usize, count: usize) {
        let fold = &self.folds[store];
        let Columns { lanes: finished, nodes, .. } = self.columns(store, fold, count);
        let to = self.tile.tile_address(store, position);
        let run = Run { count, stride: self.bound.part.result_strides[store] };
        // SAFETY: the caller's promise.
        unsafe {
            (fold.finish)(finished, [nodes.cast_const(); 3], count);
            scatter(to, finished, Run { count: 1, stride: 0 }, run, fold.size);
        }
    }
}

/// The values of a tile.
#[derive(Clone, Copy)]
struct Values {
    first: *const u8,
    step_stride: isize,
}

impl Values {
    fn at(self, step: usize) -> *const u8 {
        self.first.wrapping_offset(step as isize * self.step_stride)
    }
}

/// The tree over some columns, in the making.
#[derive(Clone, Copy)]
struct Columns<'a> {
    fold: &'a StoreFold,
    width: usize,
    lanes: *mut u8,
    nodes: *mut u8,
}

impl Columns<'_> {
    fn lane(&self, lane: usize) -> *mut u8 {
        self.lanes.wrapping_add(lane * self.width * self.fold.size)
    }

    fn node(&self, node: usize) -> *mut u8 {
        self.nodes.wrapping_add(node * self.width * self.fold.size)
    }

    /// Takes these steps along the reduced axis; blocks that are complete become nodes.
    ///
    /// # Safety
    /// The values of the steps are valid for reads; all steps before them have been taken.
    unsafe fn take(&self, values: Values, steps: Range<usize>) {
        let mut step = steps.start;
        while step < steps.end {
            let end = steps.end.min((step / BLOCK + 1) * BLOCK);
            let values = Values { first: values.at(step - steps.start), ..values };
            // SAFETY: the caller's promise.
            unsafe {
                self.take_in_block(values, step % BLOCK..step % BLOCK + (end - step));
                if end.is_multiple_of(BLOCK) {
                    self.fold_lanes(LANES);
                    self.add_node(end / BLOCK - 1);
                }
            }
            step = end;
        }
    }

    /// Takes these steps of one block into its lanes.
    ///
    /// # Safety
    /// The values are valid for reads; all steps of the block before them have been taken.
    unsafe fn take_in_block(&self, values: Values, steps: Range<usize>) {
        let row_bytes = (self.width * self.fold.source_size) as isize;
        let stride = LANES as isize * values.step_stride;
        let mut step = steps.start;
        if values.step_stride != row_bytes {
            let lanes_end = steps.end.min(steps.start + LANES);
            for step in steps.start..lanes_end {
                let count = (steps.end - step).div_ceil(LANES);
                let rows = FoldedRows { count, stride, width: self.width, begins: step < LANES };
                let (lane, values) = (self.lane(step % LANES), values.at(step - steps.start));
                // SAFETY: the caller's promise, for every 32nd step.
                unsafe { (self.fold.take)(lane, values, rows) }
            }
            return;
        }
        while step < steps.end {
            let (lane, left) = (step % LANES, steps.end - step);
            let (count, lanes) = match lane == 0 && left >= LANES {
                true => (left / LANES, LANES),
                false => (1, left.min(LANES - lane)),
            };
            let rows =
                FoldedRows { count, stride, width: lanes * self.width, begins: step < LANES };
            let values = values.at(step - steps.start);
            // SAFETY: the caller's promise; steps that lie one after another are a row.
            unsafe { (self.fold.take)(self.lane(lane), values, rows) }
            step += count * lanes;
        }
    }

    /// Folds so many lanes into the first.
    ///
    /// # Safety
    /// They hold accumulators.
    unsafe fn fold_lanes(&self, mut live: usize) {
        // SAFETY: the caller's promise; the upper lanes are none of the lower ones.
        unsafe {
            for half in [16, 8, 4] {
                if live > half {
                    self.combine(self.lane(0), self.lane(half), 1, (live - half) * self.width);
                    live = half;
                }
            }
            self.combine(self.lane(0), self.lane(1), live - 1, self.width);
        }
    }

    /// Makes the first lane the node of this block, and combines it with those before it that are as large.
    ///
    /// # Safety
    /// The first lane holds the block's result; the nodes of all blocks before it are there.
    unsafe fn add_node(&self, block: usize) {
        let top = block.count_ones() as usize;
        // SAFETY: the caller's promise.
        unsafe {
            self.leave(top);
            self.merge(top, block.trailing_ones() as usize);
        }
    }

    /// Copies the first lane to a node.
    ///
    /// # Safety
    /// It holds accumulators.
    unsafe fn leave(&self, node: usize) {
        // SAFETY: the caller's promise; lanes are no nodes.
        unsafe {
            let bytes = self.width * self.fold.size;
            core::ptr::copy_nonoverlapping(self.lanes, self.node(node), bytes);
        }
    }

    /// Combines the node at `top` with the one below it, and again, so many times.
    ///
    /// # Safety
    /// These nodes hold accumulators.
    unsafe fn merge(&self, top: usize, times: usize) {
        for node in (top - times + 1..=top).rev() {
            // SAFETY: the caller's promise; nodes are apart.
            unsafe { self.combine(self.node(node - 1), self.node(node), 1, self.width) }
        }
    }

    /// Makes one node of all, after `length` steps.
    ///
    /// # Safety
    /// All steps have been taken.
    unsafe fn finish(&self, length: usize) {
        let (blocks, rest) = (length / BLOCK, length % BLOCK);
        // SAFETY: the caller's promise.
        unsafe {
            if rest > 0 {
                self.fold_lanes(rest.min(LANES));
                self.add_node(blocks);
            }
            let top = length.div_ceil(BLOCK).count_ones() as usize - 1;
            self.merge(top, top);
        }
    }

    /// # Safety
    /// Both hold so many accumulators; the second `rows` times so many, which are none of the first.
    unsafe fn combine(&self, to: *mut u8, from: *const u8, rows: usize, width: usize) {
        let stride = (width * self.fold.size) as isize;
        // SAFETY: the caller's promise.
        unsafe {
            (self.fold.combine)(to, from, FoldedRows { count: rows, stride, width, begins: false })
        }
    }
}
