//! Functions: the code of a body in executable memory. Holds unsafe code.

use core::fmt;
use core::mem::MaybeUninit;

use memmap2::{Mmap, MmapMut};

use crate::fold_function::MAX_FOLDS;
use crate::instruction_cache::synchronize;
use crate::kinds::TargetKind;
use crate::layout::{OperandForm, OperandLayout};
use crate::perf_map;
use crate::target::{self, Aligned, Target};
use indim_codegen::Body;

/// The reason why a body has no machine code; nests then run another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetError {
    /// No target supports this processor.
    Processor,
    /// The system gives no executable memory.
    Memory,
    /// The body folds, and its accumulators do not fit in registers.
    Accumulators,
}

/// Entry point: operands (outputs first), row strides, rows, elements of a row, and the first element of a
/// row's second step; code that is not aligned ignores the last argument.
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*mut *mut u8, *const isize, usize, usize, usize);
/// The same by the system's calling convention.
#[cfg(not(target_arch = "x86_64"))]
type Entry = unsafe extern "C" fn(*mut *mut u8, *const isize, usize, usize, usize);

/// The code of a body for one layout.
pub struct Function {
    pub(crate) code: ExecutableCode,
    /// The variant with non-temporal stores (whole steps at aligned addresses only), and the outputs it
    /// streams.
    streaming: Option<(ExecutableCode, Vec<bool>)>,
    /// Element size of each operand in bytes, accumulators counted once; 0 for single operands.
    pub(crate) element_bytes: Vec<usize>,
    pub(crate) outputs: usize,
    /// Whether an output may lie over an input: then no step may be repeated.
    is_in_place: bool,
}

/// Code in executable memory.
pub(crate) struct ExecutableCode {
    /// Read and executed, never written.
    memory: Mmap,
    entry: usize,
    /// The elements of a step.
    lanes: usize,
    /// Whether rows may have any number of elements.
    has_exact_tails: bool,
    aligned: Option<Aligned>,
    joins_lanes: bool,
}

/// Alignment of non-temporal stores, in bytes.
const ALIGNMENT: usize = 64;
/// Minimum row length for non-temporal stores: in shorter rows the cache lines at both ends, written with
/// ordinary stores, cost more than the others save.
const MIN_STREAMED_ELEMENTS: usize = 2048;
/// Minimum number of steps of such a row: the first and last step overlap their neighbours.
const MIN_ALIGNED_STEPS: usize = 24;

/// Compiles a body, with a listing in `listing` if given.
fn compile_body(
    target: &dyn Target,
    body: &Body,
    layout: &OperandLayout,
    listing: Option<&mut String>,
) -> Option<target::CompiledCode> {
    match body.folds() {
        true => target.fold(body, layout, listing),
        false => Some(target.compile(body, layout, listing)),
    }
}

/// The target of a kind, if this machine runs it.
fn available(kind: TargetKind) -> Result<&'static dyn Target, TargetError> {
    let target = kind.target().filter(|_| TargetKind::available().contains(&kind));
    target.ok_or(TargetError::Processor)
}

impl Function {
    /// Compiles a body for a kind of processors.
    ///
    /// # Errors
    /// `TargetError` if this machine cannot run compiled code.
    pub fn compile(
        kind: TargetKind,
        body: &Body,
        layout: &OperandLayout,
    ) -> Result<Function, TargetError> {
        let target = available(kind)?;
        let streaming = match target.streams() && layout.streams.contains(&true) {
            true => Some((ExecutableCode::compile(target, body, layout)?, layout.streams.clone())),
            false => None,
        };
        let plain = OperandLayout { streams: vec![false; layout.streams.len()], ..layout.clone() };
        let outputs = body.outputs.iter().map(|(dtype, _)| dtype.size());
        let inputs = body.inputs.iter().zip(&layout.inputs).map(|(dtype, form)| match form {
            OperandForm::Single | OperandForm::Same => 0,
            OperandForm::Dense | OperandForm::Accumulator => dtype.size(),
        });
        let inputs = inputs.take(body.operand_count());
        Ok(Function {
            code: ExecutableCode::compile(target, body, &plain)?,
            streaming,
            element_bytes: outputs.chain(inputs).collect(),
            outputs: body.outputs.len(),
            is_in_place: layout.is_in_place,
        })
    }

    /// Elements of a step. Code without exact tails runs shorter rows on copies of this length.
    pub fn step(&self) -> usize {
        self.code.lanes
    }

    /// Whether the function can combine the 32 accumulators of a unit: see [`FoldArgs::joins`].
    ///
    /// [`FoldArgs::joins`]: crate::FoldArgs::joins
    pub fn joins_lanes(&self) -> bool {
        self.code.joins_lanes
    }

    /// Bytes of executable memory.
    pub fn bytes(&self) -> usize {
        let streaming = self
            .streaming
            .as_ref()
            .map_or(0, |(code, streams)| code.memory.len() + streams.capacity());
        let sizes = self.element_bytes.capacity() * size_of::<usize>();
        size_of::<Function>() + self.code.memory.len() + streaming + sizes
    }

    /// A listing: the instructions of a body's code, below the values they compute.
    pub fn listing(kind: TargetKind, body: &Body, layout: &OperandLayout) -> String {
        let mut listing = String::new();
        if let Ok(target) = available(kind) {
            compile_body(target, body, layout, Some(&mut listing));
        }
        listing
    }

    /// Computes `rows` of `elements` each.
    ///
    /// `operands` are addresses of first elements, outputs first, then inputs; the call overwrites them.
    /// `row_strides` are the byte strides from row to row.
    ///
    /// # Safety
    /// - for each row the elements of every operand are valid for reads, those of outputs for writes:
    ///   `elements` dense ones, of a single input one;
    /// - outputs overlap nothing else, but for those that lie exactly over an input if the layout says so;
    ///   nobody else uses them meanwhile.
    pub unsafe fn run(
        &self,
        operands: &mut [*mut u8],
        row_strides: &[isize],
        rows: usize,
        elements: usize,
    ) {
        assert_eq!((operands.len(), row_strides.len()), (self.element_bytes.len(), operands.len()));
        if rows == 0 || elements == 0 {
            return;
        }
        // SAFETY: the caller guarantees the conditions of `Function::run`.
        unsafe {
            match &self.streaming {
                Some((code, streams)) if elements >= MIN_STREAMED_ELEMENTS => {
                    self.run_streaming(code, streams, operands, row_strides, rows, elements);
                }
                _ => self.run_unstreamed(operands, row_strides, rows, elements),
            }
        }
    }

    /// # Safety
    /// Like [`Function::run`].
    unsafe fn run_unstreamed(
        &self,
        operands: &mut [*mut u8],
        row_strides: &[isize],
        rows: usize,
        elements: usize,
    ) {
        let lanes = self.code.lanes;
        // SAFETY: the caller guarantees the conditions of `Function::run`; tails run on copies or overlap
        // the step before.
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

    /// The first element of each row's second step. The first two steps overlap so that later ones find an
    /// operand aligned.
    fn second_step(
        &self,
        operands: &[*mut u8],
        row_strides: &[isize],
        rows: usize,
        elements: usize,
    ) -> usize {
        let lanes = self.code.lanes;
        let Some(Aligned { operand, bytes }) = self.code.aligned else { return lanes };
        let size = self.element_bytes[operand];
        let before = operands[operand].addr().wrapping_neg() % bytes;
        let is_same_in_rows = rows == 1 || row_strides[operand] % bytes as isize == 0;
        let is_reached = before > 0 && before.is_multiple_of(size) && is_same_in_rows;
        match is_reached && elements >= MIN_ALIGNED_STEPS * lanes {
            true => before / size,
            false => lanes,
        }
    }

    /// Row by row, from where the outputs are aligned.
    ///
    /// # Safety
    /// Like [`Function::run`].
    unsafe fn run_streaming(
        &self,
        code: &ExecutableCode,
        streams: &[bool],
        operands: &[*mut u8],
        row_strides: &[isize],
        rows: usize,
        elements: usize,
    ) {
        for row in 0..rows {
            let mut first = self.addresses_at(operands, row_strides, row, 0);
            let head = self.alignment_head(streams, first.addresses()).unwrap_or(elements);
            self.prefetch_row_ends(streams, operands, row_strides, row, elements);
            let whole = (elements - head) / code.lanes * code.lanes;
            // SAFETY: the three pieces lie in one row, which the caller guarantees to be valid.
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

    /// Prefetches the lines at row ends under non-temporal stores. Ordinary stores into them would wait for
    /// the lines, and all later stores would wait for these.
    fn prefetch_row_ends(
        &self,
        streams: &[bool],
        operands: &[*mut u8],
        row_strides: &[isize],
        row: usize,
        elements: usize,
    ) {
        let end = self.addresses_at(operands, row_strides, row, elements);
        for (&end, _) in end.addresses().iter().zip(streams).filter(|(_, streams)| **streams) {
            prefetch_for_write(end);
        }
    }

    /// Number of elements before all streamed outputs are aligned; `None` if they never are.
    fn alignment_head(&self, streams: &[bool], operands: &[*mut u8]) -> Option<usize> {
        let is_aligned = |head: &usize| {
            let outputs = operands.iter().zip(&self.element_bytes).zip(streams);
            let mut streamed = outputs.filter(|(_, streams)| **streams);
            streamed.all(|((address, bytes), _)| {
                address.addr().wrapping_add(head * bytes).is_multiple_of(ALIGNMENT)
            })
        };
        (0..ALIGNMENT).find(is_aligned)
    }

    /// Addresses of the operands in a row, from one of its elements on.
    fn addresses_at(
        &self,
        operands: &[*mut u8],
        row_strides: &[isize],
        row: usize,
        element: usize,
    ) -> Addresses {
        let mut addresses = Addresses::of(operands);
        let places = addresses.as_mut().iter_mut().zip(row_strides).zip(&self.element_bytes);
        for ((place, &stride), &bytes) in places {
            *place = place.wrapping_offset(stride * row as isize).wrapping_add(element * bytes);
        }
        addresses
    }

    /// Runs a tail on copies padded to a whole step.
    ///
    /// # Safety
    /// Like [`Function::run`], for one row.
    unsafe fn run_padded(&self, operands: &[*mut u8], row_strides: &[isize], elements: usize) {
        if elements == 0 {
            return;
        }
        let count = operands.len();
        let (mut few, mut many) = ([const { MaybeUninit::uninit() }; INLINE_OPERANDS], Vec::new());
        let copies: &mut [MaybeUninit<PaddedStep>] = match few.get_mut(..count) {
            Some(places) => places,
            None => {
                many.resize_with(count, MaybeUninit::uninit);
                &mut many
            }
        };
        copies.fill(MaybeUninit::new(PaddedStep([0; MAX_STEP_BYTES])));
        let first = copies.as_mut_ptr();
        let place = |operand: usize| first.wrapping_add(operand).cast::<u8>();
        let mut addresses = Addresses::of(operands);
        for (operand, address) in addresses.as_mut().iter_mut().enumerate() {
            let bytes = self.element_bytes[operand];
            if bytes == 0 {
                continue;
            }
            if operand >= self.outputs {
                // SAFETY: the caller guarantees the elements; the copy has room for a step of them.
                unsafe {
                    core::ptr::copy_nonoverlapping(*address, place(operand), elements * bytes)
                }
            }
            *address = place(operand);
        }
        let lanes = self.code.lanes;
        // SAFETY: the copy of every operand holds a whole step of elements.
        unsafe { self.code.call(addresses.as_mut(), row_strides, 1, lanes, lanes) }
        for (operand, &address) in operands[..self.outputs].iter().enumerate() {
            let bytes = elements * self.element_bytes[operand];
            // SAFETY: the caller guarantees the elements; the copy holds their results.
            unsafe { core::ptr::copy_nonoverlapping(place(operand), address, bytes) }
        }
    }
}

/// Prefetches a cache line for writing.
fn prefetch_for_write(address: *mut u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults, whatever the address.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_ET0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

impl ExecutableCode {
    fn compile(
        target: &dyn Target,
        body: &Body,
        layout: &OperandLayout,
    ) -> Result<ExecutableCode, TargetError> {
        if body.identities.len() > MAX_FOLDS {
            return Err(TargetError::Accumulators);
        }
        let made = compile_body(target, body, layout, None).ok_or(TargetError::Accumulators)?;
        let mut memory = MmapMut::map_anon(made.bytes.len()).map_err(|_| TargetError::Memory)?;
        memory[..made.bytes.len()].copy_from_slice(&made.bytes);
        let memory = memory.make_exec().map_err(|_| TargetError::Memory)?;
        synchronize(&memory);
        let code = made.bytes.len() - made.entry;
        perf_map::add(memory.as_ptr().addr() + made.entry, code, body.instructions.len());
        let target::CompiledCode { entry, lanes, has_exact_tails, aligned, joins_lanes, .. } = made;
        Ok(ExecutableCode { memory, entry, lanes, has_exact_tails, aligned, joins_lanes })
    }

    /// Offset of the entry point.
    pub(crate) fn address(&self) -> *const u8 {
        self.memory.as_ptr().wrapping_add(self.entry)
    }

    /// Runs the code, which moves the addresses from row to row.
    ///
    /// # Safety
    /// Like [`Function::run`]; rows have at least a step, or the code has exact tails. `second` is the
    /// element with which the second step begins: the number of elements of a step, or less where a row has
    /// two and no output lies over an input.
    unsafe fn call(
        &self,
        operands: &mut [*mut u8],
        row_strides: &[isize],
        rows: usize,
        elements: usize,
        second: usize,
    ) {
        // SAFETY: the code at `entry` has this type by construction, and lives as long as its memory.
        let entry = unsafe { core::mem::transmute::<*const u8, Entry>(self.address()) };
        // SAFETY: the caller guarantees the conditions of `Function::run` for these rows.
        unsafe { entry(operands.as_mut_ptr(), row_strides.as_ptr(), rows, elements, second) }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Function").field("lanes", &self.code.lanes).finish_non_exhaustive()
    }
}

/// Maximum bytes of a step of one operand: four registers of the widest lanes, twice that for complex
/// numbers. Tails on copies occur only with registers of 32 bytes.
const MAX_STEP_BYTES: usize = 256;

/// Elements of a step.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct PaddedStep(#[allow(dead_code)] [u8; MAX_STEP_BYTES]);

/// Number of operands whose per-call data fits on the stack.
const INLINE_OPERANDS: usize = 16;

/// Operand addresses that the code advances from row to row; a few fit without an allocation.
pub(crate) enum Addresses {
    Inline([*mut u8; INLINE_OPERANDS], usize),
    Heap(Vec<*mut u8>),
}

impl Addresses {
    pub(crate) fn of(operands: &[*mut u8]) -> Addresses {
        let mut few = [core::ptr::null_mut(); INLINE_OPERANDS];
        match few.get_mut(..operands.len()) {
            Some(places) => {
                places.copy_from_slice(operands);
                Addresses::Inline(few, operands.len())
            }
            None => Addresses::Heap(operands.to_vec()),
        }
    }

    pub(crate) fn as_mut(&mut self) -> &mut [*mut u8] {
        match self {
            Addresses::Inline(places, count) => &mut places[..*count],
            Addresses::Heap(places) => places,
        }
    }

    fn addresses(&self) -> &[*mut u8] {
        match self {
            Addresses::Inline(places, count) => &places[..*count],
            Addresses::Heap(places) => places,
        }
    }
}
