//! Flat nests: all axes merge into one, or into rows one after another, and each operand is dense or a
//! single element along them. One function runs from end to end; a small run is one call of it. Holds
//! unsafe code.

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

/// Nests with more operands use the general walk.
const MAX_OPERANDS: usize = 16;

/// Operands that fit the stack.
const FEW: usize = 4;

/// A function over all elements of a nest.
#[derive(Debug)]
pub(crate) struct Flat {
    function: Arc<Function>,
    /// The operands of the function.
    operands: SmallVec<[Place; FEW]>,
    /// Elements of a row, if steps are rows; `None` if a step is an element.
    row: Option<usize>,
    steps: usize,
    /// Steps of a tile; the last tile may have fewer.
    tile: usize,
    /// Whether the function writes with non-temporal stores.
    streams: bool,
}

/// The addresses of one operand of the function.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The operand of the nest.
    operand: usize,
    /// Offset from the first element of that operand, in bytes.
    offset: isize,
    /// Stride between elements, in bytes.
    along: isize,
    /// Stride between steps, in bytes.
    step: isize,
}

impl Flat {
    /// Binds the nest to these axes; `Ok(None)` if it is not flat, `Err` if the machine code lacks a
    /// function.
    pub(crate) fn new(
        code: &TileCode,
        nest: &SizedNest<'_>,
        axes: &CoalescedAxes,
        is_over_input: &[bool],
    ) -> Result<Option<Arc<Flat>>, MissingFunction> {
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
        let function =
            functions.function_of(forms, streamed, is_in_place, false).ok_or(MissingFunction)?;
        if row.is_some_and(|elements| elements < functions.step()) && !has_few_rows(axes) {
            // A function with long steps would run these short rows slowly.
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

/// The error of a missing function.
pub(crate) struct MissingFunction;

/// The axes of a nest, whose first one is stepped along.
struct Steps<'a> {
    code: &'a TileCode,
    nest: &'a SizedNest<'a>,
    axes: &'a CoalescedAxes,
}

impl Steps<'_> {
    /// The number of steps, and the elements of each if steps are rows; `None` if the nest is not flat.
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

    /// Whether this many elements fit a tile.
    fn fit(&self, elements: usize) -> bool {
        elements <= self.code.block || elements <= long_tile(self.code, self.nest)
    }

    /// Outputs, then inputs of the function; `None` if it cannot write all stores, or cannot read an
    /// operand.
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
        // For so few operands a push for each is faster than `collect`.
        for &slot in &functions.outputs {
            let store = self.code.stored[slot].first?;
            operands.push(self.place(store).filter(|place| place.along != 0)?);
        }
        for &slot in &functions.inputs {
            operands.push(self.place(self.code.operand(slot)).filter(|_| slot < accesses)?);
        }
        Some(operands)
    }

    /// The addresses of an operand that is dense or a single element along a step, or along all steps.
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
            // A single point is dense for any strides.
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
            // SAFETY:
            // - the caller vouches for the operands in `tiles`;
            // - the function was compiled for operands with this layout;
            // - outputs overlap inputs only exactly, in functions compiled for that.
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
