//! Iteration over the tiles of a walk.

use super::Walk;

/// The current tile of an iteration, with the offsets of its operands.
pub struct Position<'a> {
    walk: &'a Walk,
    /// The index along each outer axis.
    outer: &'a mut Vec<usize>,
    /// The byte offset of each operand at these indices.
    offsets: &'a mut Vec<isize>,
    /// The index of the tile along the tile axis.
    tile: usize,
    /// The first step of the tile along the tile axis.
    first_step: usize,
    /// The number of steps of the tile.
    pub steps: usize,
}

impl<'a> Position<'a> {
    /// The position of the tile with index `tile`. `outer` and `offsets` are scratch memory, overwritten.
    pub fn new(
        walk: &'a Walk,
        tile: usize,
        outer: &'a mut Vec<usize>,
        offsets: &'a mut Vec<isize>,
    ) -> Self {
        let along_axis = walk.tiles_along_axis;
        outer.clear();
        outer.resize(walk.outer_sizes.len(), 0);
        let mut row = tile / along_axis;
        for (index, &size) in outer.iter_mut().zip(&walk.outer_sizes).rev() {
            *index = row % size;
            row /= size;
        }
        offsets.clear();
        offsets.extend(walk.operands.iter().map(|operand| {
            let along = outer.iter().zip(&operand.outer_strides);
            operand.offset + along.map(|(&index, &stride)| index as isize * stride).sum::<isize>()
        }));
        let mut position =
            Position { walk, outer, offsets, tile: tile % along_axis, first_step: 0, steps: 0 };
        position.set_steps();
        position
    }

    fn set_steps(&mut self) {
        self.first_step = self.tile * self.walk.tile_steps;
        // After the last tile, no steps are left.
        self.steps = self.walk.tile_steps.min(self.walk.tile_axis.saturating_sub(self.first_step));
    }

    /// Moves to the next tile.
    pub fn advance(&mut self) {
        self.tile += 1;
        if self.first_step + self.steps == self.walk.tile_axis {
            self.tile = 0;
            self.advance_outer();
        }
        self.set_steps();
    }

    fn advance_outer(&mut self) {
        let walk = self.walk;
        for axis in (0..self.outer.len()).rev() {
            self.outer[axis] += 1;
            let has_wrapped = self.outer[axis] == walk.outer_sizes[axis];
            let distance = if has_wrapped { 1 - walk.outer_sizes[axis] as isize } else { 1 };
            for (offset, operand) in self.offsets.iter_mut().zip(&walk.operands) {
                *offset += distance * operand.outer_strides[axis];
            }
            if !has_wrapped {
                return;
            }
            self.outer[axis] = 0;
        }
    }

    /// The byte offset of an operand's first element in the tile from the first element of its array.
    pub fn offset(&self, operand: usize) -> isize {
        self.offsets[operand] + self.first_step as isize * self.walk.operands[operand].step_stride
    }
}
