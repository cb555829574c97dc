//! Machine code of a nest: one function for each operand layout, compiled once the tier-up budget pays for
//! it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indim_codegen::{Body, SsaInstruction};
use indim_loops::MemoryUse;
use indim_ops::Level;
use indim_targets::{Function, OperandForm, OperandLayout, TargetError};

use crate::tiles::tier_up::TierUp;

/// The functions of a nest, by operand layout.
#[derive(Debug)]
pub(crate) struct Functions {
    level: Level,
    body: Body,
    /// Virtual registers of the outputs, and of the inputs.
    pub(crate) outputs: Vec<usize>,
    pub(crate) inputs: Vec<usize>,
    compiled: Mutex<Vec<(OperandLayout, Arc<Function>)>>,
    step: AtomicUsize,
    /// Whether code generation fails for the body under every layout.
    is_refused: AtomicBool,
    tier_up: Arc<TierUp>,
}

/// Upper bound of the functions of a nest, in case callers change strides without end. Further layouts run
/// by kernels.
const MAX_FUNCTIONS: usize = 16;

/// Elements per step of the loop, assumed before a function exists.
const ASSUMED_STEP: usize = 32;

impl Functions {
    /// No functions yet, for a nest whose body writes and reads these registers.
    pub(crate) fn new(
        level: Level,
        body: Body,
        [outputs, inputs]: [Vec<usize>; 2],
        tier_up: Arc<TierUp>,
    ) -> Functions {
        let (compiled, step) = (Mutex::default(), AtomicUsize::new(ASSUMED_STEP));
        let is_refused = AtomicBool::new(false);
        Functions { level, body, outputs, inputs, compiled, step, is_refused, tier_up }
    }

    /// Elements per step of the loop of the last compiled function. Shorter rows are slow.
    pub(crate) fn step(&self) -> usize {
        self.step.load(Ordering::Relaxed)
    }

    /// Whether functions may still be compiled.
    pub(crate) fn may_compile(&self) -> bool {
        !self.is_refused.load(Ordering::Relaxed)
    }

    /// The function for inputs of these forms; `is_streamed` tells for each output whether its stores are
    /// non-temporal, `is_in_place` whether an output may lie exactly over an input, `has_prefetch`
    /// whether the function prefetches its inputs. `None` if the budget does not pay for it yet, or if
    /// compilation fails. A look-up does not allocate.
    pub(crate) fn find_or_compile(
        &self,
        forms: impl Iterator<Item = OperandForm> + Clone,
        is_streamed: impl Iterator<Item = bool> + Clone,
        is_in_place: bool,
        has_prefetch: bool,
    ) -> Option<Arc<Function>> {
        let is_it = |(known, _): &&(OperandLayout, Arc<Function>)| {
            known.inputs.iter().copied().eq(forms.clone())
                && known.is_streamed.iter().copied().eq(is_streamed.clone())
                && known.is_in_place == is_in_place
                && known.has_prefetch == has_prefetch
        };
        if let Some((_, function)) = self.compiled().iter().find(is_it) {
            return Some(Arc::clone(function));
        }
        let (inputs, is_streamed) = (forms.collect(), is_streamed.collect());
        self.compile(OperandLayout { inputs, is_streamed, is_in_place, has_prefetch })
    }

    /// Compiles the function for this layout.
    fn compile(&self, layout: OperandLayout) -> Option<Arc<Function>> {
        if !self.tier_up.can_pay() {
            return None;
        }
        // The lock is not held during compilation: if two threads compile one function, one result is
        // dropped.
        let function = match Function::compile(self.level, &self.body, &layout) {
            Ok(function) => function,
            Err(TargetError::Unsupported) if self.body.folds() => {
                self.is_refused.store(true, Ordering::Relaxed);
                return None;
            }
            Err(_) => {
                self.tier_up.close();
                return None;
            }
        };
        self.tier_up.spend();
        self.step.store(function.step(), Ordering::Relaxed);
        let mut compiled = self.compiled();
        if let Some((_, function)) = compiled.iter().find(|(known, _)| *known == layout) {
            return Some(Arc::clone(function));
        }
        if compiled.len() == MAX_FUNCTIONS {
            self.tier_up.close();
            return None;
        }
        let function = Arc::new(function);
        self.tier_up.add_bytes(function.bytes());
        compiled.push((layout, Arc::clone(&function)));
        Some(function)
    }

    /// The listing of the functions that bindings hold; `operands` describes a layout.
    pub(crate) fn listing(&self, operands: impl Fn(&OperandLayout) -> String) -> String {
        let compiled = self.compiled();
        let functions_in_use =
            compiled.iter().filter(|(_, function)| Arc::strong_count(function) > 1);
        let listed = |layout| Function::listing(self.level, &self.body, layout);
        functions_in_use.map(|(layout, _)| operands(layout) + &listed(layout)).collect()
    }

    /// Counts the memory of the body. `TierUp` counts that of the functions.
    pub(crate) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<SsaInstruction>(self.body.instructions.capacity());
        memory_use.add_allocation::<usize>(self.outputs.capacity() + self.inputs.capacity());
    }

    fn compiled(&self) -> MutexGuard<'_, Vec<(OperandLayout, Arc<Function>)>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
