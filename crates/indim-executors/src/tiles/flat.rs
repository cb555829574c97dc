//! Flat nests: all axes merge into one axis or into rows, and each operand is dense or a single element along
//! them. One function runs over all elements; a small run is one call of it. Holds unsafe code.

use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::Local;
use indim_loops::resize::SizedNest;
use indim_loops::strides::coalesce::CoalescedAxes;
use indim_loops::walk::{RowLimits, balanced_steps, has_rows};
use indim_targets::{Function, OperandForm};
use smallvec::SmallVec;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::{RecordMember, TileCode, element_sizes};
use crate::tiles::functions::Functions;
use crate::tiles::memory::fence_non_temporal_stores;
use crate::tiles::tile::{has_few_rows, long_tile, row_limits};
use crate::tiles::wiring::{is_over, is_streamed, is_streaming_size};

/// Maximum number of operands of a flat nest; nests with more use the general walk.
pub(crate) const MAX_FLAT_OPERANDS: usize = 16;

/// Maximum length of a list of operands that needs no heap allocation.
const INLINE_ITEMS: usize = 4;

/// A flat nest bound to strides.
#[derive(Debug)]
pub(crate) struct FlatNest {
    function: Arc<Function>,
    /// The outputs of the function, then its inputs.
    operands: SmallVec<[FunctionOperand; INLINE_ITEMS]>,
    /// Elements of a row, if each step is a row; `None` if each step is an element.
    row: Option<usize>,
    steps: usize,
    /// Steps of a full tile.
    tile: usize,
    /// Whether the function writes with non-temporal stores.
    is_streamed: bool,
}

/// An operand of the function: its offset and strides in an operand of the nest.
#[derive(Debug, Clone, Copy)]
struct FunctionOperand {
    /// The operand of the nest.
    operand: usize,
    /// Offset from the first element of that operand, in bytes.
    offset: isize,
    /// Stride between elements, in bytes.
    element_stride: isize,
    /// Stride between steps, in bytes.
    step_stride: isize,
    form: OperandForm,
}

impl FlatNest {
    /// Binds the nest to these axes; `Ok(None)` if it is not flat.
    ///
    /// # Errors
    /// If the function is not available.
    pub(crate) fn new(
        code: &TileCode,
        nest: &SizedNest<'_>,
        axes: &CoalescedAxes,
        is_over_input: &[bool],
    ) -> Result<Option<Arc<FlatNest>>, MissingFunction> {
        let Some(functions) = code.functions.as_deref().filter(|_| code.calls.is_empty()) else {
            return Ok(None);
        };
        let count = functions.outputs.len() + functions.inputs.len();
        let nest_steps = NestSteps { code, nest, axes };
        let Some((steps, row)) = nest_steps.steps_and_row().filter(|_| count <= MAX_FLAT_OPERANDS)
        else {
            return Ok(None);
        };
        let Some(operands) = nest_steps.operands(functions) else { return Ok(None) };
        let (outputs, inputs) = operands.split_at(functions.outputs.len());
        let form = |it: &FunctionOperand| it.form;
        let written = outputs.iter().map(|it| &nest.nest.stores[it.operand]);
        let is_streaming_size = is_streaming_size(nest);
        let streamed = written.clone().zip(&functions.outputs).map(|(store, &register)| {
            is_streaming_size
                && is_streamed(store)
                && code.value_stores[register].count == 1
                && !is_over(store, is_over_input)
        });
        let is_in_place = written.clone().any(|store| is_over(store, is_over_input));
        let (forms, is_streamed) =
            (inputs.iter().map(form), streamed.clone().any(|is_streamed| is_streamed));
        let function = functions
            .find_or_compile(forms, streamed, is_in_place, false)
            .ok_or(MissingFunction)?;
        if row.is_some_and(|elements| elements < functions.step()) && !has_few_rows(axes) {
            // The function just compiled has longer steps than assumed and would run these rows slowly.
            return Ok(None);
        }
        let row_elements = row.unwrap_or(1);
        let tile = match nest_steps.fits_tile(steps * row_elements) {
            true => steps,
            false => balanced_steps(steps, long_tile(code, nest) / row_elements),
        };
        Ok(Some(Arc::new(FlatNest { function, operands, row, steps, tile, is_streamed })))
    }
}

/// The error of a function that is not available.
pub(crate) struct MissingFunction;

/// The steps of a nest along its first axis.
struct NestSteps<'a> {
    code: &'a TileCode,
    nest: &'a SizedNest<'a>,
    axes: &'a CoalescedAxes,
}

impl NestSteps<'_> {
    /// The number of steps, and the elements of a step if each is a row; `None` if the nest is not flat.
    fn steps_and_row(&self) -> Option<(usize, Option<usize>)> {
        match self.axes.sizes[..] {
            [] => Some((1, None)),
            [elements] => Some((elements, None)),
            [rows, elements] => {
                // No operand is gathered: all operands are used in place.
                let limits =
                    RowLimits { max_repeated_elements: 0, ..row_limits(self.code, self.axes)? };
                let are_rows = has_rows(self.axes, &element_sizes(self.nest.nest), limits);
                (are_rows && self.fits_tile(elements)).then_some((rows, Some(elements)))
            }
            _ => None,
        }
    }

    /// Whether a tile can have this many elements.
    fn fits_tile(&self, elements: usize) -> bool {
        elements <= self.code.block_elements || elements <= long_tile(self.code, self.nest)
    }

    /// The outputs of the function, then its inputs; `None` if it cannot write each store or read each access
    /// in place.
    fn operands(&self, functions: &Functions) -> Option<SmallVec<[FunctionOperand; INLINE_ITEMS]>> {
        let stores = &self.nest.nest.stores;
        let is_written_once = stores.iter().enumerate().all(|(index, store)| {
            let is_computed = matches!(store.source, Local::Instruction(_));
            is_computed
                && self.code.value_stores[self.code.register(store.source)].first == Some(index)
        });
        if !is_written_once {
            return None;
        }
        let accesses = self.nest.nest.accesses.len();
        let is_block = |(&needs_block, operand): (&bool, usize)| {
            !needs_block || self.function_operand(operand).is_some_and(|it| it.element_stride != 0)
        };
        if !self.code.needs_block.iter().zip(stores.len()..).all(is_block) {
            return None;
        }
        let mut operands = SmallVec::new();
        // For few operands a push for each is faster than `collect`.
        for &register in &functions.outputs {
            let store = self.code.value_stores[register].first?;
            operands.push(self.function_operand(store).filter(|it| it.element_stride != 0)?);
        }
        for &register in &functions.inputs {
            operands.push(
                self.function_operand(self.code.operand(register))
                    .filter(|_| register < accesses)?,
            );
        }
        Some(operands)
    }

    /// The operand with its strides; `None` if it is neither dense nor a single element nor a part of records
    /// along a row, or along all steps if each is an element.
    fn function_operand(&self, operand: usize) -> Option<FunctionOperand> {
        let stores = self.nest.nest.stores.len();
        let dtype = match operand.checked_sub(stores) {
            Some(access) => self.nest.nest.accesses[access].array_type.dtype,
            None => self.nest.nest.stores[operand].target.array_type.dtype,
        };
        let (size, offset) = (dtype.size() as isize, self.axes.offsets[operand]);
        let (step_stride, element_stride) = match *self.axes.strides_of(operand) {
            [step_stride, .., element_stride] => (step_stride, element_stride),
            [element_stride] => (element_stride, element_stride),
            // A single point is dense for any strides.
            [] => (size, size),
        };
        let (form, offset) = match element_stride {
            0 => (OperandForm::RowScalar, offset),
            stride if stride == size => (OperandForm::Dense, offset),
            stride => {
                let RecordMember { records, member, factor } =
                    self.code.record_member(operand, stride)?;
                let first = offset - isize::from(member) * size;
                (OperandForm::Interleaved { records, member, factor }, first)
            }
        };
        Some(FunctionOperand { operand, offset, element_stride, step_stride, form })
    }
}

impl BoundNest for FlatNest {
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
            let mut addresses = [core::ptr::null_mut(); MAX_FLAT_OPERANDS];
            let mut row_strides = [0; MAX_FLAT_OPERANDS];
            let operands = addresses.iter_mut().zip(&mut row_strides).zip(&self.operands);
            for ((address, row_stride), it) in operands {
                let first = it.offset + start as isize * it.step_stride;
                *address = bases.operands[it.operand].wrapping_offset(first);
                *row_stride = it.step_stride;
            }
            let addresses = &mut addresses[..self.operands.len()];
            let row_strides = &row_strides[..addresses.len()];
            // SAFETY:
            // - the addresses are those of steps `start..start + count`, which belong to the caller's
            //   `tiles`, so `BoundNest::run` requires that they are valid;
            // - `FlatNest::new` looked up the function for the forms of these operands;
            // - an interleaved input reads whole records, and `record_members` names only records whose
            //   elements are all accesses of the nest;
            // - an output overlaps an input only exactly (`BoundNest::run`), and then the function was
            //   compiled with `is_in_place`.
            unsafe { self.function.run(addresses, row_strides, rows, elements) }
        }
        if self.is_streamed {
            fence_non_temporal_stores();
        }
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<FlatNest>(1);
        memory_use.add_small_vec(&self.operands);
    }
}
