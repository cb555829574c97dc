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

/// Why there is no machine code: what runs nests otherwise has to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetError {
    /// There is no target for this processor.
    Processor,
    /// The system gives no executable memory.
    Memory,
    /// The body folds, and its accumulators do not stay in registers.
    Accumulators,
}

/// What the code is: operands (outputs first), strides from row to row, rows, elements in each, and with
/// which of them the second step of a row begins; code that is not aligned does not ask for that.
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*mut *mut u8, *const isize, usize, usize, usize);
/// As on x86-64, by the convention of the system.
#[cfg(not(target_arch = "x86_64"))]
type Entry = unsafe extern "C" fn(*mut *mut u8, *const isize, usize, usize, usize);

/// The code of a body for one layout.
pub struct Function {
    pub(crate) code: Code,
    /// The same, written past the caches, whole steps at aligned addresses only; and which outputs are.
    streaming: Option<(Code, Vec<bool>)>,
    /// The bytes of an element of each operand, accumulators counted once; 0 of single ones.
    pub(crate) element_bytes: Vec<usize>,
    pub(crate) outputs: usize,
    /// Whether an output may lie over an input, so that no step is done twice.
    is_in_place: bool,
}

/// Code in executable memory.
pub(crate) struct Code {
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

/// What is written past the caches must be aligned so.
const ALIGNMENT: usize = 64;
/// Of shorter rows the lines at their ends, which are written as usual, cost more than all others save.
const LONG_ROW: usize = 2048;
/// Nor are those of fewer steps, where part of one is done twice.
const MANY_STEPS: usize = 24;

/// The code of a body; its listing goes to `listing`, if there is one.
fn make(
    target: &dyn Target,
    body: &Body,
    layout: &OperandLayout,
    listing: Option<&mut String>,
) -> Option<target::Code> {
    match body.folds() {
        true => target.fold(body, layout, listing),
        false => Some(target.compile(body, layout, listing)),
    }
}

/// The target of a kind, if this machine is one.
fn available(kind: TargetKind) -> Result<&'static dyn Target, TargetError> {
    let target = kind.target().filter(|_| TargetKind::available().contains(&kind));
    target.ok_or(TargetError::Processor)
}

impl Function {
    /// Compiles a body for a kind of processors.
    ///
    /// # Errors
    /// `TargetError` where the machine cannot run code that is made.
    pub fn compile(
        kind: TargetKind,
        body: &Body,
        layout: &OperandLayout,
    ) -> Result<Function, TargetError> {
        let target = available(kind)?;
        let streaming = match target.streams() && layout.streams.contains(&true) {
            true => Some((Code::compile(target, body, layout)?, layout.streams.clone())),
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
            code: Code::compile(target, body, &plain)?,
            streaming,
            element_bytes: outputs.chain(inputs).collect(),
            outputs: body.outputs.len(),
            is_in_place: layout.is_in_place,
        })
    }

    /// The elements of a step: where code has no exact tails, shorter rows are copied to memory of such a
    /// length and back.
    pub fn step(&self) -> usize {
        self.code.lanes
    }

    /// Whether one that folds can join the 32 accumulators of a unit: see [`Folded::joins`].
    ///
    /// [`Folded::joins`]: crate::Folded::joins
    pub fn joins_lanes(&self) -> bool {
        self.code.joins_lanes
    }

    /// The bytes of memory that it holds.
    pub fn bytes(&self) -> usize {
        let streaming = self
            .streaming
            .as_ref()
            .map_or(0, |(code, streams)| code.memory.len() + streams.capacity());
        let sizes = self.element_bytes.capacity() * size_of::<usize>();
        size_of::<Function>() + self.code.memory.len() + streaming + sizes
    }

    /// The instructions, beside the values they compute, of the code for a body.
    pub fn listing(kind: TargetKind, body: &Body, layout: &OperandLayout) -> String {
        let mut listing = String::new();
        if let Ok(target) = available(kind) {
            make(target, body, layout, Some(&mut listing));
        }
        listing
    }

    /// Computes `rows` of so many `elements`.
    ///
    /// `operands` are the addresses of the first elements, the outputs first, then the inputs, and mean
    /// nothing afterwards; `row_strides` are the bytes from a row to the next.
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
        // SAFETY: the caller's promise.
        unsafe {
            match &self.streaming {
                Some((code, streams)) if elements >= LONG_ROW => {
                    self.run_streaming(code, streams, operands, row_strides, rows, elements);
                }
                _ => self.run_plain(operands, row_strides, rows, elements),
            }
        }
    }

    /// # Safety
    /// As [`Function::run`].
    unsafe fn run_plain(
        &self,
        operands: &mut [*mut u8],
        row_strides: &[isize],
        rows: usize,
        elements: usize,
    ) {
        let lanes = self.code.lanes;
        // SAFETY: the caller's promise; what is less than a step is copied, or part of a step done twice.
        unsafe {
            let is_exact = self.code.has_exact_tails || elements.is_multiple_of(lanes);
            if is_exact || elements > lanes && !self.is_in_place {
                let second = self.second_step(operands, row_strides, rows, elements);
                return self.code.call(operands, row_strides, rows, elements, second);
            }
            let whole = elements / lanes * lanes;
            for row in 0..rows {
                let rest = self.moved(operands, row_strides, row, whole);
                self.run_copied(rest.addresses(), row_strides, elements - whole);
            }
            if whole > 0 {
                self.code.call(operands, row_strides, rows, whole, lanes);
            }
        }
    }

    /// The element with which the second step of each row begins: where the first is done in part once more,
    /// so that the others find an operand aligned.
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
        match is_reached && elements >= MANY_STEPS * lanes {
            true => before / size,
            false => lanes,
        }
    }

    /// Row by row, from where the outputs are aligned.
    ///
    /// # Safety
    /// As [`Function::run`].
    unsafe fn run_streaming(
        &self,
        code: &Code,
        streams: &[bool],
        operands: &[*mut u8],
        row_strides: &[isize],
        rows: usize,
        elements: usize,
    ) {
        for row in 0..rows {
            let mut first = self.moved(operands, row_strides, row, 0);
            let head = self.unaligned(streams, first.addresses()).unwrap_or(elements);
            self.fetch_ends(streams, operands, row_strides, row, elements);
            let whole = (elements - head) / code.lanes * code.lanes;
            // SAFETY: the caller's promise, for three pieces of one row.
            unsafe {
                if head > 0 {
                    self.run_plain(first.as_mut(), row_strides, 1, head);
                }
                if whole > 0 {
                    let mut aligned = self.moved(operands, row_strides, row, head);
                    code.call(aligned.as_mut(), row_strides, 1, whole, code.lanes);
                }
                if head + whole < elements {
                    let mut rest = self.moved(operands, row_strides, row, head + whole);
                    self.run_plain(rest.as_mut(), row_strides, 1, elements - head - whole);
                }
            }
        }
    }

    /// Fetches the lines where a row ends that is written past the caches. What is written into them as usual
    /// would wait for them, and all that is written later would wait for that.
    fn fetch_ends(
        &self,
        streams: &[bool],
        operands: &[*mut u8],
        row_strides: &[isize],
        row: usize,
        elements: usize,
    ) {
        let end = self.moved(operands, row_strides, row, elements);
        for (&end, _) in end.addresses().iter().zip(streams).filter(|(_, streams)| **streams) {
            fetch(end);
        }
    }

    /// How many elements come before all outputs that are written past the caches are aligned, if they ever
    /// are.
    fn unaligned(&self, streams: &[bool], operands: &[*mut u8]) -> Option<usize> {
        let is_aligned = |head: &usize| {
            let outputs = operands.iter().zip(&self.element_bytes).zip(streams);
            let mut streamed = outputs.filter(|(_, streams)| **streams);
            streamed.all(|((address, bytes), _)| {
                address.addr().wrapping_add(head * bytes).is_multiple_of(ALIGNMENT)
            })
        };
        (0..ALIGNMENT).find(is_aligned)
    }

    /// The addresses in a row, from an element on.
    fn moved(
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

    /// Less than a step, through copies.
    ///
    /// # Safety
    /// As [`Function::run`], for one row.
    unsafe fn run_copied(&self, operands: &[*mut u8], row_strides: &[isize], elements: usize) {
        if elements == 0 {
            return;
        }
        let count = operands.len();
        let (mut few, mut many) = ([const { MaybeUninit::uninit() }; FEW_OPERANDS], Vec::new());
        let copies: &mut [MaybeUninit<StepCopy>] = match few.get_mut(..count) {
            Some(places) => places,
            None => {
                many.resize_with(count, MaybeUninit::uninit);
                &mut many
            }
        };
        copies.fill(MaybeUninit::new(StepCopy([0; MAX_STEP_BYTES])));
        let first = copies.as_mut_ptr();
        let place = |operand: usize| first.wrapping_add(operand).cast::<u8>();
        let mut addresses = Addresses::of(operands);
        for (operand, address) in addresses.as_mut().iter_mut().enumerate() {
            let bytes = self.element_bytes[operand];
            if bytes == 0 {
                continue;
            }
            if operand >= self.outputs {
                // SAFETY: the caller's elements, and room for a step of them.
                unsafe {
                    core::ptr::copy_nonoverlapping(*address, place(operand), elements * bytes)
                }
            }
            *address = place(operand);
        }
        let lanes = self.code.lanes;
        // SAFETY: every operand has a whole step of elements.
        unsafe { self.code.call(addresses.as_mut(), row_strides, 1, lanes, lanes) }
        for (operand, &address) in operands[..self.outputs].iter().enumerate() {
            let bytes = elements * self.element_bytes[operand];
            // SAFETY: the caller's elements, which have been computed.
            unsafe { core::ptr::copy_nonoverlapping(place(operand), address, bytes) }
        }
    }
}

/// Asks for the line of memory at an address, to write there.
fn fetch(address: *mut u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: any address may be asked for.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_ET0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

impl Code {
    fn compile(
        target: &dyn Target,
        body: &Body,
        layout: &OperandLayout,
    ) -> Result<Code, TargetError> {
        if body.identities.len() > MAX_FOLDS {
            return Err(TargetError::Accumulators);
        }
        let made = make(target, body, layout, None).ok_or(TargetError::Accumulators)?;
        let mut memory = MmapMut::map_anon(made.bytes.len()).map_err(|_| TargetError::Memory)?;
        memory[..made.bytes.len()].copy_from_slice(&made.bytes);
        let memory = memory.make_exec().map_err(|_| TargetError::Memory)?;
        synchronize(&memory);
        let code = made.bytes.len() - made.entry;
        perf_map::add(memory.as_ptr().addr() + made.entry, code, body.instructions.len());
        let target::Code { entry, lanes, has_exact_tails, aligned, joins_lanes, .. } = made;
        Ok(Code { memory, entry, lanes, has_exact_tails, aligned, joins_lanes })
    }

    /// Where the code begins.
    pub(crate) fn address(&self) -> *const u8 {
        self.memory.as_ptr().wrapping_add(self.entry)
    }

    /// Runs the code, which moves the addresses from row to row.
    ///
    /// # Safety
    /// As [`Function::run`]; rows have at least a step, or the code has exact tails. `second` is the element
    /// with which the second step begins: the number of elements of a step, or less where a row has two and
    /// no output lies over an input.
    unsafe fn call(
        &self,
        operands: &mut [*mut u8],
        row_strides: &[isize],
        rows: usize,
        elements: usize,
        second: usize,
    ) {
        // SAFETY: there is a function of this type, which lives as long as the memory.
        let entry = unsafe { core::mem::transmute::<*const u8, Entry>(self.address()) };
        // SAFETY: the caller's promise.
        unsafe { entry(operands.as_mut_ptr(), row_strides.as_ptr(), rows, elements, second) }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Function").field("lanes", &self.code.lanes).finish_non_exhaustive()
    }
}

/// A step takes at most four registers of the widest lanes, and complex numbers have two of these; where less
/// than a step is copied, registers have 32 bytes.
const MAX_STEP_BYTES: usize = 256;

/// The elements of a step.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct StepCopy(#[allow(dead_code)] [u8; MAX_STEP_BYTES]);

/// For so many operands what a call needs of each is on the stack.
const FEW_OPERANDS: usize = 16;

/// Addresses that the code moves from row to row: few of them need no memory of their own.
pub(crate) enum Addresses {
    Few([*mut u8; FEW_OPERANDS], usize),
    Many(Vec<*mut u8>),
}

impl Addresses {
    pub(crate) fn of(operands: &[*mut u8]) -> Addresses {
        let mut few = [core::ptr::null_mut(); FEW_OPERANDS];
        match few.get_mut(..operands.len()) {
            Some(places) => {
                places.copy_from_slice(operands);
                Addresses::Few(few, operands.len())
            }
            None => Addresses::Many(operands.to_vec()),
        }
    }

    pub(crate) fn as_mut(&mut self) -> &mut [*mut u8] {
        match self {
            Addresses::Few(places, count) => &mut places[..*count],
            Addresses::Many(places) => places,
        }
    }

    fn addresses(&self) -> &[*mut u8] {
        match self {
            Addresses::Few(places, count) => &places[..*count],
            Addresses::Many(places) => places,
        }
    }
}
