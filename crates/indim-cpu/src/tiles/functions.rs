//! Machine code of a nest: one function for each operand layout, compiled when the tier-up budget repays
//! it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indim_codegen::{Body, Instruction};
use indim_loops::MemoryUse;
use indim_targets::{Function, OperandForm, OperandLayout, TargetError, TargetKind};

use crate::tiles::tier_up::TierUp;

/// The functions of a nest.
#[derive(Debug)]
pub(crate) struct Functions {
    target: TargetKind,
    body: Body,
    /// Virtual registers of the outputs and of the inputs.
    pub(crate) outputs: Vec<usize>,
    pub(crate) inputs: Vec<usize>,
    made: Mutex<Vec<(OperandLayout, Arc<Function>)>>,
    step: AtomicUsize,
    /// Whether code generation fails for the body, independent of the layout.
    is_refused: AtomicBool,
    tier_up: Arc<TierUp>,
}

/// Upper bound of the functions of a nest. Callers that change strides without end reuse the others.
const MAX_FUNCTIONS: usize = 16;

/// Assumed elements per step of the loop, before a function exists.
const LIKELY_STEP: usize = 32;

impl Functions {
    /// An empty set, for a nest whose body reads and writes these registers.
    pub(crate) fn new(
        target: TargetKind,
        body: Body,
        [outputs, inputs]: [Vec<usize>; 2],
        tier_up: Arc<TierUp>,
    ) -> Functions {
        let (made, step) = (Mutex::default(), AtomicUsize::new(LIKELY_STEP));
        let is_refused = AtomicBool::new(false);
        Functions { target, body, outputs, inputs, made, step, is_refused, tier_up }
    }

    /// Elements per step of the loop, as far as known: rows shorter than this are slow.
    pub(crate) fn step(&self) -> usize {
        self.step.load(Ordering::Relaxed)
    }

    /// Whether functions may still be compiled.
    pub(crate) fn may_be_made(&self) -> bool {
        !self.is_refused.load(Ordering::Relaxed)
    }

    /// The function for inputs of these forms and for outputs with non-temporal stores where `streams` says
    /// so. `None` if the budget does not repay it yet, or if the system refuses memory. A look-up does not
    /// allocate.
    pub(crate) fn function_of(
        &self,
        forms: impl Iterator<Item = OperandForm> + Clone,
        streams: impl Iterator<Item = bool> + Clone,
        is_in_place: bool,
        is_fetched_ahead: bool,
    ) -> Option<Arc<Function>> {
        let is_it = |(known, _): &&(OperandLayout, Arc<Function>)| {
            known.inputs.iter().copied().eq(forms.clone())
                && known.streams.iter().copied().eq(streams.clone())
                && known.is_in_place == is_in_place
                && known.is_fetched_ahead == is_fetched_ahead
        };
        if let Some((_, function)) = self.made().iter().find(is_it) {
            return Some(Arc::clone(function));
        }
        let (inputs, streams) = (forms.collect(), streams.collect());
        self.make(OperandLayout { inputs, streams, is_in_place, is_fetched_ahead })
    }

    /// Compiles the function for this layout.
    fn make(&self, layout: OperandLayout) -> Option<Arc<Function>> {
        if !self.tier_up.affords() {
            return None;
        }
        // No lock is held meanwhile: if two threads compile the same function, one result is dropped.
        let function = match Function::compile(self.target, &self.body, &layout) {
            Ok(function) => function,
            Err(TargetError::Accumulators) => {
                self.is_refused.store(true, Ordering::Relaxed);
                return None;
            }
            Err(_) => {
                self.tier_up.close();
                return None;
            }
        };
        self.tier_up.pay();
        self.step.store(function.step(), Ordering::Relaxed);
        let mut made = self.made();
        if let Some((_, function)) = made.iter().find(|(known, _)| *known == layout) {
            return Some(Arc::clone(function));
        }
        if made.len() == MAX_FUNCTIONS {
            self.tier_up.close();
            return None;
        }
        let function = Arc::new(function);
        self.tier_up.hold(function.bytes());
        made.push((layout, Arc::clone(&function)));
        Some(function)
    }

    /// Lists the functions in use; `operands` describes a layout.
    pub(crate) fn listing(&self, operands: impl Fn(&OperandLayout) -> String) -> String {
        let made = self.made();
        let held = made.iter().filter(|(_, function)| Arc::strong_count(function) > 1);
        let listed = |layout| Function::listing(self.target, &self.body, layout);
        held.map(|(layout, _)| operands(layout) + &listed(layout)).collect()
    }

    /// Counts the memory of the body; the budget counts the functions.
    pub(crate) fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<Instruction>(self.body.instructions.capacity());
        held.own::<usize>(self.outputs.capacity() + self.inputs.capacity());
    }

    fn made(&self) -> MutexGuard<'_, Vec<(OperandLayout, Arc<Function>)>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
