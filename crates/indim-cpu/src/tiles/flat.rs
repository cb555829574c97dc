//! Nests over arrays of which all axes are one, each operand dense or a single element: a function goes from
//! one end to the other, and small runs are one call of it. Holds unsafe code.

use core::ops::Range;
use std::sync::Arc;

use indim_loops::HeldBytes;
use indim_loops::loop_nest::{Local, LoopNest};
use indim_loops::strides::coalesce::CoalescedAxes;
use indim_loops::walk::even_steps;
use indim_targets::{Form, Function, Layout};
use smallvec::SmallVec;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::TileCode;
use crate::tiles::functions::Functions;
use crate::tiles::memory::settle;
use crate::tiles::tile::long_tile;
use crate::tiles::wiring::{is_over, streams};

/// Nests of more operands are walked as others are.
const MOST_OPERANDS: usize = 16;

/// So many need no memory of their own.
const FEW: usize = 4;

/// A function over all elements of a nest.
#[derive(Debug)]
pub(crate) struct Flat {
    function: Arc<Function>,
    /// The operands of the function.
    operands: SmallVec<[Place; FEW]>,
    elements: usize,
    /// The elements of a tile; the last may have fewer.
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
    stride: isize,
}

impl Flat {
    /// The nest over these axes, if it is such a one; `Err` where a function is lacking.
    pub(crate) fn new(
        code: &TileCode,
        nest: &LoopNest,
        axes: &CoalescedAxes,
        is_over_input: &[bool],
    ) -> Result<Option<Flat>, Lacking> {
        let Some(functions) = code.functions.as_deref().filter(|_| code.calls.is_empty()) else {
            return Ok(None);
        };
        let count = functions.outputs.len() + functions.inputs.len();
        if axes.sizes.len() > 1 || count > MOST_OPERANDS {
            return Ok(None);
        }
        let elements = axes.sizes.first().copied().unwrap_or(1);
        let all = Axis { code, nest, axes };
        let (Some(mut operands), Some(inputs)) = (all.outputs(functions), all.inputs(functions))
        else {
            return Ok(None);
        };
        operands.extend_from_slice(&inputs);
        let layout = all.layout(functions, &inputs, is_over_input);
        let streams = layout.streams.contains(&true);
        let function = functions.function(&layout).ok_or(Lacking)?;
        let tile = even_steps(elements, long_tile(code, nest));
        Ok(Some(Flat { function, operands, elements, tile, streams }))
    }
}

/// There is no function.
pub(crate) struct Lacking;

/// The one axis of a nest.
struct Axis<'a> {
    code: &'a TileCode,
    nest: &'a LoopNest,
    axes: &'a CoalescedAxes,
}

impl Axis<'_> {
    /// Where the function writes; `None` if it cannot write all that is stored.
    fn outputs(&self, functions: &Functions) -> Option<SmallVec<[Place; FEW]>> {
        let stores = &self.nest.stores;
        let is_written_once = stores.iter().enumerate().all(|(index, store)| {
            let is_computed = matches!(store.source, Local::Instruction(_));
            is_computed && self.code.stored[self.code.slot(store.source)].first == Some(index)
        });
        let written = functions.outputs.iter().map(|&slot| {
            let store = self.code.stored[slot].first?;
            self.place(store).filter(|place| place.stride != 0)
        });
        is_written_once.then(|| written.collect())?
    }

    /// Where the function reads; `None` if it cannot read there.
    fn inputs(&self, functions: &Functions) -> Option<SmallVec<[Place; FEW]>> {
        let accesses = self.nest.accesses.len();
        let is_block = |(&needs_block, operand): (&bool, usize)| {
            !needs_block || self.place(operand).is_some_and(|place| place.stride != 0)
        };
        let are_blocks = self.code.needs_block.iter().zip(self.nest.stores.len()..).all(is_block);
        let read = functions
            .inputs
            .iter()
            .map(|&slot| self.place(self.nest.stores.len() + slot).filter(|_| slot < accesses));
        are_blocks.then(|| read.collect())?
    }

    /// Where an operand of the nest lies, if it is dense or a single element.
    fn place(&self, operand: usize) -> Option<Place> {
        let stores = self.nest.stores.len();
        let dtype = match operand.checked_sub(stores) {
            Some(access) => self.nest.accesses[access].array_type.dtype,
            None => self.nest.stores[operand].target.array_type.dtype,
        };
        let (size, offset) = (dtype.size() as isize, self.axes.offsets[operand]);
        // A single point is dense, whatever it is a part of.
        let stride = self.axes.strides[operand].first().copied().unwrap_or(size);
        (stride == 0 || stride == size).then_some(Place { operand, offset, stride })
    }

    fn layout(&self, functions: &Functions, inputs: &[Place], is_over_input: &[bool]) -> Layout {
        let store = |slot: usize| {
            let stored = self.code.stored[slot];
            stored.first.map(|store| (&self.nest.stores[store], stored.count))
        };
        let outputs = functions.outputs.iter().map(|&slot| store(slot));
        let streams = |(target, count)| {
            count == 1 && streams(self.nest, target) && !is_over(target, is_over_input)
        };
        let is_in_place =
            |store: Option<_>| store.is_some_and(|(of, _)| is_over(of, is_over_input));
        let form = |place: &Place| if place.stride == 0 { Form::Single } else { Form::Dense };
        Layout {
            inputs: inputs.iter().map(form).collect(),
            streams: outputs.clone().map(|store| store.is_some_and(streams)).collect(),
            is_in_place: outputs.into_iter().any(is_in_place),
            is_fetched_ahead: false,
        }
    }
}

impl BoundNest for Flat {
    fn tiles(&self) -> usize {
        self.elements.div_ceil(self.tile)
    }

    fn tile_elements(&self) -> usize {
        self.tile
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        for tile in tiles {
            let start = tile * self.tile;
            let count = self.tile.min(self.elements - start);
            let mut addresses = [core::ptr::null_mut(); MOST_OPERANDS];
            for (address, place) in addresses.iter_mut().zip(&self.operands) {
                let along = place.offset + start as isize * place.stride;
                *address = bases.operands[place.operand].wrapping_offset(along);
            }
            let addresses = &mut addresses[..self.operands.len()];
            // There is one row.
            let row_strides = &[0; MOST_OPERANDS][..addresses.len()];
            // SAFETY: the caller's promise, for one of the tiles; the function was made for operands that lie
            // so. What is written overlaps nothing that is read, but for what lies exactly over it, of which
            // it knows.
            unsafe { self.function.run(addresses, row_strides, 1, count) }
        }
        if self.streams {
            settle();
        }
    }

    fn count_bytes(&self, held: &mut HeldBytes) {
        held.own::<Flat>(1);
        held.small(&self.operands);
    }
}
