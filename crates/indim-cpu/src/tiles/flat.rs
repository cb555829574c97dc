//! Nests over arrays of which all axes are one, or are rows that follow one another, each operand dense or a
//! single element along them: a function goes from one end to the other, and small runs are one call of it.
//! Holds unsafe code.

use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::Local;
use indim_loops::resize::SizedNest;
use indim_loops::strides::coalesce::CoalescedAxes;
use indim_loops::walk::{even_steps, has_rows};
use indim_targets::{Function, OperandForm};
use smallvec::SmallVec;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::{TileCode, element_sizes};
use crate::tiles::functions::Functions;
use crate::tiles::memory::settle;
use crate::tiles::tile::{has_few_rows, long_tile, minimum_row};
use crate::tiles::wiring::{is_over, is_streamed, moves_much};

/// Nests of more operands are walked as others are.
const MAX_OPERANDS: usize = 16;

/// So many need no memory of their own.
const FEW: usize = 4;

/// A function over all elements of a nest.
#[derive(Debug)]
pub(crate) struct Flat {
    function: Arc<Function>,
    /// The operands of the function.
    operands: SmallVec<[Place; FEW]>,
    /// The elements of a step, where steps are rows; else each is an element.
    row: Option<usize>,
    steps: usize,
    /// The steps of a tile; the last may have fewer.
    tile: usize,
    /// Whether anything is written past the caches.
    streams: bool,
}

/// Where an operand of a function lies.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Which operand of the nest it is.
    operand: usize,
    /// How far it begins from that one's first element, in bytes.
    offset: isize,
    /// From one element to the next, in bytes.
    along: isize,
    /// From one step to the next.
    step: isize,
}

impl Flat {
    /// The nest over these axes, if it is such a one; `Err` where a function is lacking.
    pub(crate) fn new(
        code: &TileCode,
        nest: &SizedNest<'_>,
        axes: &CoalescedAxes,
        is_over_input: &[bool],
    ) -> Result<Option<Arc<Flat>>, Lacking> {
        let Some(functions) = code.functions.as_deref().filter(|_| code.calls.is_empty()) else {
            return Ok(None);
        };
        let count = functions.outputs.len() + functions.inputs.len();
        let all = Steps { code, nest, axes };
        let Some((steps, row)) = all.of_nest().filter(|_| count <= MAX_OPERANDS) else {
            return Ok(None);
        };
        let Some(operands) = all.operands(functions) else { return Ok(None) };
        let (outputs, inputs) = operands.split_at(functions.outputs.len());
        let form =
            |place: &Place| if place.along == 0 { OperandForm::Single } else { OperandForm::Dense };
        let written = outputs.iter().map(|place| &nest.nest.stores[place.operand]);
        let moves_much = moves_much(nest);
        let streamed = written.clone().zip(&functions.outputs).map(|(store, &slot)| {
            moves_much
                && is_streamed(store)
                && code.stored[slot].count == 1
                && !is_over(store, is_over_input)
        });
        let is_in_place = written.clone().any(|store| is_over(store, is_over_input));
        let (forms, streams) = (inputs.iter().map(form), streamed.clone().any(|streams| streams));
        let function = functions.function_of(forms, streamed, is_in_place, false).ok_or(Lacking)?;
        if row.is_some_and(|elements| elements < functions.step()) && !has_few_rows(axes) {
            // Now it is known that they are short.
            return Ok(None);
        }
        let row_elements = row.unwrap_or(1);
        let tile = match all.fit(steps * row_elements) {
            true => steps,
            false => even_steps(steps, long_tile(code, nest) / row_elements),
        };
        Ok(Some(Arc::new(Flat { function, operands, row, steps, tile, streams })))
    }
}

/// There is no function.
pub(crate) struct Lacking;

/// The axes of a nest, of which the first is gone through step by step.
struct Steps<'a> {
    code: &'a TileCode,
    nest: &'a SizedNest<'a>,
    axes: &'a CoalescedAxes,
}

impl Steps<'_> {
    /// How many there are, and the elements of each where they are rows; `None` for nests of other axes.
    fn of_nest(&self) -> Option<(usize, Option<usize>)> {
        match self.axes.sizes[..] {
            [] => Some((1, None)),
            [elements] => Some((elements, None)),
            [rows, elements] => {
                let minimum = minimum_row(self.code, self.axes)?;
                let are_rows = has_rows(self.axes, &element_sizes(self.nest.nest), minimum);
                (are_rows && self.fit(elements)).then_some((rows, Some(elements)))
            }
            _ => None,
        }
    }

    /// Whether so many elements are no more than a tile has.
    fn fit(&self, elements: usize) -> bool {
        elements <= self.code.block || elements <= long_tile(self.code, self.nest)
    }

    /// Where the function writes, then where it reads; `None` if it cannot write all that is stored, or read
    /// there.
    fn operands(&self, functions: &Functions) -> Option<SmallVec<[Place; FEW]>> {
        let stores = &self.nest.nest.stores;
        let is_written_once = stores.iter().enumerate().all(|(index, store)| {
            let is_computed = matches!(store.source, Local::Instruction(_));
            is_computed && self.code.stored[self.code.slot(store.source)].first == Some(index)
        });
        if !is_written_once {
            return None;
        }
        let accesses = self.nest.nest.accesses.len();
        let is_block = |(&needs_block, operand): (&bool, usize)| {
            !needs_block || self.place(operand).is_some_and(|place| place.along != 0)
        };
        if !self.code.needs_block.iter().zip(stores.len()..).all(is_block) {
            return None;
        }
        let mut operands = SmallVec::new();
        // Few, so that a push for each is faster than `collect`.
        for &slot in &functions.outputs {
            let store = self.code.stored[slot].first?;
            operands.push(self.place(store).filter(|place| place.along != 0)?);
        }
        for &slot in &functions.inputs {
            operands.push(self.place(self.code.operand(slot)).filter(|_| slot < accesses)?);
        }
        Some(operands)
    }

    /// Where an operand of the nest lies, if it is dense or a single element along a step, or all of them.
    fn place(&self, operand: usize) -> Option<Place> {
        let stores = self.nest.nest.stores.len();
        let dtype = match operand.checked_sub(stores) {
            Some(access) => self.nest.nest.accesses[access].array_type.dtype,
            None => self.nest.nest.stores[operand].target.array_type.dtype,
        };
        let (size, offset) = (dtype.size() as isize, self.axes.offsets[operand]);
        let (step, along) = match *self.axes.strides_of(operand) {
            [step, .., along] => (step, along),
            [along] => (along, along),
            // A single point is dense, whatever it is a part of.
            [] => (size, size),
        };
        (along == 0 || along == size).then_some(Place { operand, offset, along, step })
    }
}

impl BoundNest for Flat {
    fn tiles(&self) -> usize {
        self.steps.div_ceil(self.tile)
    }

    fn tile_elements(&self) -> usize {
        self.tile * self.row.unwrap_or(1)
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        for tile in tiles {
            let start = tile * self.tile;
            let count = self.tile.min(self.steps - start);
            let (rows, elements) = self.row.map_or((1, count), |elements| (count, elements));
            let mut addresses = [core::ptr::null_mut(); MAX_OPERANDS];
            let mut row_strides = [0; MAX_OPERANDS];
            let operands = addresses.iter_mut().zip(&mut row_strides).zip(&self.operands);
            for ((address, row_stride), place) in operands {
                let first = place.offset + start as isize * place.step;
                *address = bases.operands[place.operand].wrapping_offset(first);
                *row_stride = place.step;
            }
            let addresses = &mut addresses[..self.operands.len()];
            let row_strides = &row_strides[..addresses.len()];
            // SAFETY: the caller's promise, for one of the tiles; the function was made for operands that lie
            // so. What is written overlaps nothing that is read, but for what lies exactly over it, of which
            // it knows.
            unsafe { self.function.run(addresses, row_strides, rows, elements) }
        }
        if self.streams {
            settle();
        }
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<Flat>(1);
        held.small(&self.operands);
    }
}
