//! Functions: compiled bodies in executable memory. Holds unsafe code.

use core::fmt;
use core::mem::MaybeUninit;

use memmap2::{Mmap, MmapMut};

use crate::fold_function::MAX_FOLDS;
use crate::instruction_cache::synchronize;
use crate::levels::target;
use crate::perf_map;
use indim_codegen::Body;
use indim_codegen::layout::OperandLayout;
use indim_codegen::target::{AlignedOperand, CompiledCode, Target};
use indim_ops::Level;

/// Reason why a body has no machine code. The caller then falls back to other code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetError {
    /// No target compiles for the level.
    Processor,
    /// The system does not map executable memory.
    Memory,
    /// The target does not support the body. All targets refuse some bodies that fold: too many outputs or
    /// inputs, accumulators that do not fit in registers, or a primitive that is called out of line.
    Unsupported,
}

/// Entry point. Arguments: addresses of the operands (outputs first), row strides in bytes, number of rows,
/// elements of a row, and the index at which each row's second step begins: less than a step if the first
/// two steps overlap for alignment (`Function::second_step`). Only code with aligned steps reads the last
/// argument.
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*mut *mut u8, *const isize, usize, usize, usize);
/// Like the entry point on x86-64, with the calling convention of the platform.
#[cfg(not(target_arch = "x86_64"))]
type Entry = unsafe extern "C" fn(*mut *mut u8, *const isize, usize, usize, usize);

/// The compiled code of a body for one operand layout.
pub struct Function {
    pub(crate) code: ExecutableCode,
    /// The variant with non-temporal stores, and for each output whether such stores write it. The
    /// variant runs whole steps only, with these outputs at aligned addresses.
    streaming: Option<(ExecutableCode, Vec<bool>)>,
    /// Distance between elements of each operand in bytes, outputs first: the element size, the size of a
    /// record of an interleaved operand, or 0 for an operand with one element per row. An accumulator is
    /// counted once, as an output.
    pub(crate) element_strides: Vec<usize>,
    /// Number of outputs.
    pub(crate) outputs: usize,
    /// Whether an output may alias an input. Steps then must not overlap.
    is_in_place: bool,
}

/// Machine code in executable memory.
pub(crate) struct ExecutableCode {
    /// Mapped readable and executable, not writable.
    memory: Mmap,
    /// Byte offset of the entry point.
    entry: usize,
    /// Number of elements that a step computes.
    lanes: usize,
    /// Whether tails are masked, so that rows may have any number of elements.
    has_exact_tails: bool,
    /// The operand that the second step of a row may align.
    aligned: Option<AlignedOperand>,
    /// Whether code that folds can combine the 32 accumulators of a unit into one.
    can_reduce_lanes: bool,
}

/// Alignment of streamed outputs, in bytes: the widest register, and a cache line.
const ALIGNMENT: usize = 64;
/// Minimum elements of a row for non-temporal stores. In shorter rows the cache lines at both ends, which
/// need ordinary stores, cost more than the other stores save.
const MIN_STREAMED_ELEMENTS: usize = 2048;
/// Minimum steps of a row with aligned steps: aligning costs up to one more step per row.
const MIN_ALIGNED_STEPS: usize = 24;

impl Function {
    /// Compiles a body for a level.
    ///
    /// # Errors
    /// If the level has no target, or the target cannot compile the body.
    pub fn compile(
        level: Level,
        body: &Body,
        layout: &OperandLayout,
    ) -> Result<Function, TargetError> {
        let target = target(level).ok_or(TargetError::Processor)?;
        let streaming = match target.has_non_temporal_stores() && layout.is_streamed.contains(&true)
        {
            true => {
                Some((ExecutableCode::compile(target, body, layout)?, layout.is_streamed.clone()))
            }
            false => None,
        };
        let plain =
            OperandLayout { is_streamed: vec![false; layout.is_streamed.len()], ..layout.clone() };
        let outputs = body.outputs.iter().map(|(dtype, _)| dtype.size());
        let inputs = body.inputs.iter().zip(&layout.inputs);
        let inputs = inputs.map(|(dtype, form)| form.element_stride(dtype.size()));
        let inputs = inputs.take(body.non_accumulator_input_count());
        Ok(Function {
            code: ExecutableCode::compile(target, body, &plain)?,
            streaming,
            element_strides: outputs.chain(inputs).collect(),
            outputs: body.outputs.len(),
            is_in_place: layout.is_in_place,
        })
    }

    /// Number of elements that a step of the loop computes.
    pub fn step(&self) -> usize {
        self.code.lanes
    }

    /// Whether the function can combine the 32 accumulators of a unit into one: see
    /// [`FoldArgs::reduces_lanes`].
    ///
    /// [`FoldArgs::reduces_lanes`]: crate::FoldArgs::reduces_lanes
    pub fn can_reduce_lanes(&self) -> bool {
        self.code.can_reduce_lanes
    }

    /// Memory use in bytes: code, constants and this value.
    pub fn bytes(&self) -> usize {
        let streaming = self
            .streaming
            .as_ref()
            .map_or(0, |(code, is_streamed)| code.memory.len() + is_streamed.capacity());
        let sizes = self.element_strides.capacity() * size_of::<usize>();
        size_of::<Function>() + self.code.memory.len() + streaming + sizes
    }

    /// The listing of a body's code: instructions in text, each below the value that it computes. Empty if
    /// the level has no target.
    pub fn listing(level: Level, body: &Body, layout: &OperandLayout) -> String {
        let mut listing = String::new();
        if let Some(target) = target(level) {
            target.compile(body, layout, Some(&mut listing));
        }
        listing
    }

    /// Computes `rows` rows of `elements` elements.
    ///
    /// `operands` are the addresses of the first elements, outputs first, then inputs; the call overwrites
    /// them. `row_strides` are the distances between rows, in bytes.
    ///
    /// # Panics
    /// If the number of operands or strides is not that of the body.
    ///
    /// # Safety
    /// - In each row, every input is valid for reads: `elements` elements, `elements` records if its form is
    ///   `Interleaved`, or one element if its form is `RowScalar` or `UnitScalar`.
    /// - In each row, every output is valid for writes of `elements` elements.
    /// - An output overlaps no other operand, except that it may be identical with an input if the layout
    ///   has `is_in_place`.
    /// - No other thread accesses outputs, or writes inputs, during the call.
    pub unsafe fn run(
        &self,
        operands: &mut [*mut u8],
        row_strides: &[isize],
        rows: usize,
        elements: usize,
    ) {
        assert_eq!(
            (operands.len(), row_strides.len()),
            (self.element_strides.len(), operands.len())
        );
        if rows == 0 || elements == 0 {
            return;
        }
        // SAFETY:
        // - the caller of `run` guarantees valid memory;
        // - the assertion above ensures an address and a stride per operand, and the return above that
        //   `rows` and `elements` are greater than 0;
        // - `code` and `is_streamed` are those of the streaming variant.
        unsafe {
            match &self.streaming {
                Some((code, is_streamed)) if elements >= MIN_STREAMED_ELEMENTS => {
                    self.run_streaming(code, is_streamed, operands, row_strides, rows, elements);
                }
                _ => self.run_unstreamed(operands, row_strides, rows, elements),
            }
        }
    }

    /// Runs rows with ordinary stores.
    ///
    /// # Safety
    /// Like [`Function::run`], with `rows` and `elements` greater than 0, and one address and one stride per
    /// operand.
    unsafe fn run_unstreamed(
        &self,
        operands: &mut [*mut u8],
        row_strides: &[isize],
        rows: usize,
        elements: usize,
    ) {
        let lanes = self.code.lanes;
        // SAFETY:
        // - memory is valid: the caller guarantees it for whole rows, and the tail and the whole steps of a
        //   row lie in it;
        // - `call` needs rows of at least one step, or code with exact tails: the first call has exact tails,
        //   whole steps (at least one, because `elements` is positive), or more than a step; the second call
        //   has at least one whole step;
        // - overlapping steps need outputs that alias no input: the first call has them only if
        //   `is_in_place` is false, and code that aligns the second step is never in place;
        // - `run_padded` needs less than a step: `elements - whole` is a remainder.
        unsafe {
            let is_exact = self.code.has_exact_tails || elements.is_multiple_of(lanes);
            if is_exact || elements > lanes && !self.is_in_place {
                let second = self.second_step(operands, row_strides, rows, elements);
                return self.code.call(operands, row_strides, rows, elements, second);
            }
            let whole = elements / lanes * lanes;
            for row in 0..rows {
                let rest = self.addresses_at(operands, row_strides, row, whole);
                self.run_padded(rest.addresses(), row_strides, elements - whole);
            }
            if whole > 0 {
                self.code.call(operands, row_strides, rows, whole, lanes);
            }
        }
    }

    /// Index of the first element of each row's second step. In long rows the first two steps overlap, so
    /// that from the second step on, one operand is accessed at aligned addresses.
    fn second_step(
        &self,
        operands: &[*mut u8],
        row_strides: &[isize],
        rows: usize,
        elements: usize,
    ) -> usize {
        let lanes = self.code.lanes;
        let Some(AlignedOperand { operand, bytes }) = self.code.aligned else { return lanes };
        let size = self.element_strides[operand];
        let before = operands[operand].addr().wrapping_neg() % bytes;
        let is_same_in_rows = rows == 1 || row_strides[operand] % bytes as isize == 0;
        let is_reached = before > 0 && before.is_multiple_of(size) && is_same_in_rows;
        match is_reached && elements >= MIN_ALIGNED_STEPS * lanes {
            true => before / size,
            false => lanes,
        }
    }

    /// Runs rows with non-temporal stores. The elements before the first aligned address and after the last
    /// whole step use ordinary stores.
    ///
    /// # Safety
    /// Like [`Function::run_unstreamed`]; `code` and `is_streamed` are those of the streaming variant.
    unsafe fn run_streaming(
        &self,
        code: &ExecutableCode,
        is_streamed: &[bool],
        operands: &[*mut u8],
        row_strides: &[isize],
        rows: usize,
        elements: usize,
    ) {
        for row in 0..rows {
            let mut first = self.addresses_at(operands, row_strides, row, 0);
            let head = self.alignment_head(is_streamed, first.addresses()).unwrap_or(elements);
            self.prefetch_row_ends(is_streamed, operands, row_strides, row, elements);
            let whole = (elements - head) / code.lanes * code.lanes;
            // SAFETY:
            // - head, whole steps and rest partition one row, which the caller guarantees to be valid;
            // - non-temporal stores need aligned addresses: `alignment_head` aligns all streamed outputs to
            //   64 bytes, and a step advances each by a multiple of the bytes of one store;
            // - `call` gets whole steps that do not overlap.
            unsafe {
                if head > 0 {
                    self.run_unstreamed(first.as_mut(), row_strides, 1, head);
                }
                if whole > 0 {
                    let mut aligned = self.addresses_at(operands, row_strides, row, head);
                    code.call(aligned.as_mut(), row_strides, 1, whole, code.lanes);
                }
                if head + whole < elements {
                    let mut rest = self.addresses_at(operands, row_strides, row, head + whole);
                    self.run_unstreamed(rest.as_mut(), row_strides, 1, elements - head - whole);
                }
            }
        }
    }

    /// Prefetches the cache line at the end of the row in each streamed output. Ordinary stores write
    /// the last elements; on a cache miss these stores would stall, and so would all later stores.
    fn prefetch_row_ends(
        &self,
        is_streamed: &[bool],
        operands: &[*mut u8],
        row_strides: &[isize],
        row: usize,
        elements: usize,
    ) {
        let end = self.addresses_at(operands, row_strides, row, elements);
        for (&end, _) in
            end.addresses().iter().zip(is_streamed).filter(|(_, is_streamed)| **is_streamed)
        {
            prefetch_for_write(end);
        }
    }

    /// Number of elements before the first one at which all streamed outputs are aligned; `None` if no
    /// element aligns all of them.
    fn alignment_head(&self, is_streamed: &[bool], operands: &[*mut u8]) -> Option<usize> {
        let is_aligned = |head: &usize| {
            let outputs = operands.iter().zip(&self.element_strides).zip(is_streamed);
            let mut streamed = outputs.filter(|(_, is_streamed)| **is_streamed);
            streamed.all(|((address, bytes), _)| {
                address.addr().wrapping_add(head * bytes).is_multiple_of(ALIGNMENT)
            })
        };
        (0..ALIGNMENT).find(is_aligned)
    }

    /// Addresses of the operands at an element of a row.
    fn addresses_at(
        &self,
        operands: &[*mut u8],
        row_strides: &[isize],
        row: usize,
        element: usize,
    ) -> Addresses {
        let mut addresses = Addresses::of(operands);
        let with_strides =
            addresses.as_mut().iter_mut().zip(row_strides).zip(&self.element_strides);
        for ((address, &stride), &bytes) in with_strides {
            *address = address.wrapping_offset(stride * row as isize).wrapping_add(element * bytes);
        }
        addresses
    }

    /// Runs less than a step of one row, on copies padded to a whole step.
    ///
    /// # Safety
    /// Like [`Function::run`], for one row; `elements` is less than a step.
    unsafe fn run_padded(&self, operands: &[*mut u8], row_strides: &[isize], elements: usize) {
        if elements == 0 {
            return;
        }
        let count = operands.len();
        let (mut few, mut many) = ([const { MaybeUninit::uninit() }; INLINE_OPERANDS], Vec::new());
        let copies: &mut [MaybeUninit<PaddedStep>] = match few.get_mut(..count) {
            Some(copies) => copies,
            None => {
                many.resize_with(count, MaybeUninit::uninit);
                &mut many
            }
        };
        copies.fill(MaybeUninit::new(PaddedStep([0; MAX_STEP_BYTES])));
        let first = copies.as_mut_ptr();
        let copy_of = |operand: usize| first.wrapping_add(operand).cast::<u8>();
        let mut addresses = Addresses::of(operands);
        for (operand, address) in addresses.as_mut().iter_mut().enumerate() {
            let bytes = self.element_strides[operand];
            if bytes == 0 {
                continue;
            }
            if operand >= self.outputs {
                // SAFETY:
                // - the caller guarantees that the input is valid for reads of `elements` elements;
                // - the copy has `MAX_STEP_BYTES`, at least a step, and `elements` is less than a step;
                // - the copy is a local buffer, so it does not overlap the input.
                unsafe {
                    core::ptr::copy_nonoverlapping(*address, copy_of(operand), elements * bytes)
                }
            }
            *address = copy_of(operand);
        }
        let lanes = self.code.lanes;
        // SAFETY:
        // - the copy of each dense operand has `MAX_STEP_BYTES`, at least a step, and was initialised;
        // - operands with one element keep their address, which the caller guarantees to be valid;
        // - copies are local and distinct, so outputs overlap nothing, and no other thread uses them;
        // - the row is one whole step.
        unsafe { self.code.call(addresses.as_mut(), row_strides, 1, lanes, lanes) }
        for (operand, &address) in operands[..self.outputs].iter().enumerate() {
            let bytes = elements * self.element_strides[operand];
            // SAFETY:
            // - the caller guarantees that the output is valid for writes of `elements` elements;
            // - the copy holds a whole step of results, and does not overlap the output.
            unsafe { core::ptr::copy_nonoverlapping(copy_of(operand), address, bytes) }
        }
    }
}

/// Prefetches a cache line for writing, on x86-64.
fn prefetch_for_write(address: *mut u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint and does not fault at any address.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_ET0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

impl ExecutableCode {
    /// Compiles the body and maps the code executable.
    fn compile(
        target: &dyn Target,
        body: &Body,
        layout: &OperandLayout,
    ) -> Result<ExecutableCode, TargetError> {
        if body.identities.len() > MAX_FOLDS {
            return Err(TargetError::Unsupported);
        }
        let compiled = target.compile(body, layout, None).ok_or(TargetError::Unsupported)?;
        let mut memory =
            MmapMut::map_anon(compiled.bytes.len()).map_err(|_| TargetError::Memory)?;
        memory[..compiled.bytes.len()].copy_from_slice(&compiled.bytes);
        let memory = memory.make_exec().map_err(|_| TargetError::Memory)?;
        synchronize(&memory);
        let code = compiled.bytes.len() - compiled.entry;
        perf_map::add(memory.as_ptr().addr() + compiled.entry, code, body.instructions.len());
        let CompiledCode { entry, lanes, has_exact_tails, aligned, can_reduce_lanes, .. } =
            compiled;
        Ok(ExecutableCode { memory, entry, lanes, has_exact_tails, aligned, can_reduce_lanes })
    }

    /// Address of the entry point.
    pub(crate) fn address(&self) -> *const u8 {
        self.memory.as_ptr().wrapping_add(self.entry)
    }

    /// Calls the code, which advances the addresses in `operands` from row to row.
    ///
    /// # Safety
    /// - The conditions of [`Function::run`], with an address and a stride per operand.
    /// - `rows` and `elements` are greater than 0.
    /// - Rows have at least one step, or the code has exact tails.
    /// - No output aliases an input, or a row is whole steps, or the code has exact tails.
    /// - `second` is the number of elements of a step. In code with `aligned` it may also be a smaller
    ///   positive number, if a row has at least two steps.
    unsafe fn call(
        &self,
        operands: &mut [*mut u8],
        row_strides: &[isize],
        rows: usize,
        elements: usize,
        second: usize,
    ) {
        // SAFETY:
        // - the encoder of the target emits a function of this signature and calling convention at `entry`;
        // - the mapping is executable and lives as long as `self`, and `synchronize` has made the code
        //   visible to instruction fetch.
        let entry = unsafe { core::mem::transmute::<*const u8, Entry>(self.address()) };
        // SAFETY: the caller guarantees the conditions of the code, as listed above.
        unsafe { entry(operands.as_mut_ptr(), row_strides.as_ptr(), rows, elements, second) }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Function").field("lanes", &self.code.lanes).finish_non_exhaustive()
    }
}

/// Maximum bytes of one operand in a step on copies: four registers of 32 bytes, twice that for complex
/// numbers. Targets with wider registers mask their tails.
const MAX_STEP_BYTES: usize = 256;

/// Copy of one operand's elements in a step.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct PaddedStep(#[allow(dead_code)] [u8; MAX_STEP_BYTES]);

/// Maximum operands of a call without a heap allocation: their addresses and copies are on the stack.
const INLINE_OPERANDS: usize = 16;

/// Operand addresses, which the code advances from row to row.
pub(crate) enum Addresses {
    Inline([*mut u8; INLINE_OPERANDS], usize),
    Heap(Vec<*mut u8>),
}

impl Addresses {
    /// A copy of these addresses, which the code may overwrite.
    pub(crate) fn of(operands: &[*mut u8]) -> Addresses {
        let mut few = [core::ptr::null_mut(); INLINE_OPERANDS];
        match few.get_mut(..operands.len()) {
            Some(addresses) => {
                addresses.copy_from_slice(operands);
                Addresses::Inline(few, operands.len())
            }
            None => Addresses::Heap(operands.to_vec()),
        }
    }

    pub(crate) fn as_mut(&mut self) -> &mut [*mut u8] {
        match self {
            Addresses::Inline(addresses, count) => &mut addresses[..*count],
            Addresses::Heap(addresses) => addresses,
        }
    }

    fn addresses(&self) -> &[*mut u8] {
        match self {
            Addresses::Inline(addresses, count) => &addresses[..*count],
            Addresses::Heap(addresses) => addresses,
        }
    }
}
