//! The cache of computations and their compiled programs, and its memory limit.
//!
//! The limit bounds the memory of a server that evaluates ever new texts, and of a function that is
//! called with ever new shapes. The least recently used computation is evicted first; it is parsed or
//! compiled again when needed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::computation::{CastTarget, CompiledVariant, Computation, SymbolicProgram};
use crate::error::ComputationError;
use crate::expression_cache::remove_expression;
use crate::memory_use::{MemoryUse, held_bytes};
use crate::operand::{Operand, OperandType, number_inputs};
use crate::variants::Variants;

/// Limit of the memory of all computations and their programs, in bytes. The computation in use may exceed
/// it alone.
const MAX_CACHE_BYTES: usize = 64 << 20;

/// Maximum number of programs for all sizes that each computation caches; the oldest is evicted first.
const MAX_PROGRAMS: usize = 8;

/// Estimated bytes of a computation per byte of its text, before compilation.
const BYTES_PER_TEXT_BYTE: usize = 80;

/// The clock of the eviction order: it counts the uses of computations.
static USE_COUNT: AtomicU64 = AtomicU64::new(0);

/// All live computations.
static COMPUTATIONS: Mutex<Vec<Weak<CachedComputation>>> = Mutex::new(Vec::new());

/// A computation with its compiled programs.
pub(crate) struct CachedComputation {
    pub(crate) computation: Computation,
    /// The parameters' names as Python strings.
    pub(crate) names: Vec<Py<PyString>>,
    variants: Mutex<Variants>,
    /// Programs for all sizes. One is compiled when operands of known element types and ranks arrive
    /// with a second shape.
    programs: Mutex<Vec<Arc<SymbolicProgram>>>,
    /// The time of the last use, on the clock of [`USE_COUNT`].
    last_use: AtomicU64,
    _memory_use: MemoryUse,
}

impl CachedComputation {
    pub(crate) fn new(py: Python<'_>, computation: Computation) -> Arc<Self> {
        let intern = |name: &String| PyString::intern(py, name).unbind();
        let names = computation.parameters.iter().map(intern).collect();
        let text = computation.text_length();
        let cached = Arc::new(CachedComputation {
            computation,
            names,
            variants: Mutex::default(),
            programs: Mutex::new(Vec::new()),
            last_use: AtomicU64::new(USE_COUNT.fetch_add(1, Ordering::Relaxed)),
            _memory_use: MemoryUse::new(text.saturating_mul(BYTES_PER_TEXT_BYTE)),
        });
        let mut computations = lock(&COMPUTATIONS);
        computations.retain(|computation| computation.strong_count() > 0);
        computations.push(Arc::downgrade(&cached));
        drop(computations);
        cached
    }

    /// The variant for these operands and targets, compiled now if none exists.
    pub(crate) fn variant(
        &self,
        operands: &[Operand<'_>],
        targets: &[CastTarget],
    ) -> Result<Arc<CompiledVariant>, ComputationError> {
        // Two threads may get the same time, which does no harm.
        let now = USE_COUNT.load(Ordering::Relaxed);
        USE_COUNT.store(now + 1, Ordering::Relaxed);
        self.last_use.store(now, Ordering::Relaxed);
        let numbers = number_inputs(operands);
        let fits = |compiled: &CompiledVariant| {
            operands.iter().zip(&compiled.types).all(|(operand, of)| operand.has_type(of))
                && compiled.targets == targets
                && compiled.numbers.is_valid_for(&numbers)
        };
        if let Some(compiled) = lock(&self.variants).find(operands, fits) {
            return Ok(compiled);
        }
        let types: Vec<OperandType> = operands.iter().map(Operand::operand_type).collect();
        let compiled = Arc::new(self.find_or_compile(types, targets)?);
        let evicted = lock(&self.variants).insert(&compiled);
        // Evicted programs are freed after the lock is released, because that takes long.
        drop(evicted);
        self.evict_to_limit();
        Ok(compiled)
    }

    /// The variant for these types. If a program for all sizes accepts them, it is bound to their sizes.
    /// If a known variant differs only in sizes, a program for all sizes is compiled. Otherwise the
    /// variant is compiled for these sizes alone.
    fn find_or_compile(
        &self,
        types: Vec<OperandType>,
        targets: &[CastTarget],
    ) -> Result<CompiledVariant, ComputationError> {
        let of_kind = |program: &&Arc<SymbolicProgram>| program.accepts(&types, targets);
        let programs: Vec<Arc<SymbolicProgram>> =
            lock(&self.programs).iter().rev().filter(of_kind).cloned().collect();
        if let Some(compiled) = programs.iter().find_map(|program| program.bind(&types, targets)) {
            return Ok(compiled);
        }
        let is_known = |variant: &Arc<CompiledVariant>| variant.has_kind(&types, targets);
        if !lock(&self.variants).iter().any(is_known) {
            return self.computation.compile(types, targets.to_vec());
        }
        let (compiled, program) = self.computation.compile_symbolic(types, targets.to_vec())?;
        let mut programs = lock(&self.programs);
        if programs.len() >= MAX_PROGRAMS {
            programs.remove(0);
        }
        programs.extend(program.map(Arc::new));
        drop(programs);
        Ok(compiled)
    }

    /// Evicts other computations, and then older variants of this one, until the limit holds.
    pub(crate) fn evict_to_limit(&self) {
        let is_over_limit = || held_bytes() > MAX_CACHE_BYTES;
        if !is_over_limit() {
            return;
        }
        let mut computations: Vec<Arc<CachedComputation>> =
            lock(&COMPUTATIONS).iter().filter_map(Weak::upgrade).collect();
        computations.sort_by_key(|computation| computation.last_use.load(Ordering::Relaxed));
        // Each `Arc` is dropped before the memory use is read again, so evicted memory is no longer
        // counted.
        for computation in computations {
            if !is_over_limit() {
                return;
            }
            if !core::ptr::eq(&*computation, self) {
                remove_expression(&computation);
                *lock(&computation.variants) = Variants::default();
                lock(&computation.programs).clear();
            }
        }
        let mut variants = lock(&self.variants);
        while variants.iter().len() > 1 && is_over_limit() {
            variants.remove_oldest();
        }
    }

    /// The types of the last compilation.
    pub(crate) fn last_types(&self) -> Option<Vec<OperandType>> {
        lock(&self.variants).iter().next_back().map(|compiled| compiled.types.clone())
    }
}

/// Locks a mutex, even if it is poisoned. The caller is attached to the interpreter, and releases the
/// lock before it detaches: a thread that waits for the lock while attached would keep the owner from
/// attaching.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
