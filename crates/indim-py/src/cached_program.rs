//! Programs with what was compiled of them, and how much memory all of them may hold.
//!
//! Bounded: a server that is sent ever new texts, or a function that meets ever new shapes, does not grow.
//! What was used longest ago goes first; it is read or compiled again when it is needed.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::operand::{Operand, OperandType};
use crate::program::{Compiled, Program, ProgramError, Target};
use crate::text_cache::forget;

/// Bytes that programs may hold in all, before and after they are compiled; one that is used may hold more.
const MOST_HELD_BYTES: usize = 64 << 20;

/// Compiled programs that are kept for each program; beyond that the oldest goes.
const MOST_VARIANTS: usize = 64;

/// What a program holds for each byte of its text, before it is compiled.
const BYTES_PER_TEXT_BYTE: usize = 80;

static HELD_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Counts the uses of programs.
static USES: AtomicU64 = AtomicU64::new(0);

/// Every program that is kept somewhere.
static PROGRAMS: Mutex<Vec<Weak<CachedProgram>>> = Mutex::new(Vec::new());

/// Bytes that count as held for as long as this lives.
pub(crate) struct Held(usize);

impl Held {
    pub(crate) fn new(bytes: usize) -> Held {
        HELD_BYTES.fetch_add(bytes, Ordering::Relaxed);
        Held(bytes)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD_BYTES.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// A program with what was compiled of it.
pub(crate) struct CachedProgram {
    pub(crate) program: Program,
    /// The parameters' names as Python's own strings.
    pub(crate) names: Vec<Py<PyString>>,
    variants: Mutex<Vec<Arc<Compiled>>>,
    /// When it was used last.
    used: AtomicU64,
    _held: Held,
}

impl CachedProgram {
    pub(crate) fn new(py: Python<'_>, program: Program) -> Arc<Self> {
        let intern = |name: &String| PyString::intern(py, name).unbind();
        let names = program.parameters.iter().map(intern).collect();
        let text: usize = program.steps.iter().map(|step| step.expression.text().len()).sum();
        let cached = Arc::new(CachedProgram {
            program,
            names,
            variants: Mutex::new(Vec::new()),
            used: AtomicU64::new(USES.fetch_add(1, Ordering::Relaxed)),
            _held: Held::new(text.saturating_mul(BYTES_PER_TEXT_BYTE)),
        });
        let mut programs = lock(&PROGRAMS);
        programs.retain(|program| program.strong_count() > 0);
        programs.push(Arc::downgrade(&cached));
        drop(programs);
        cached
    }

    /// The variant for these operands and targets, compiled now if there is none.
    pub(crate) fn variant(
        &self,
        operands: &[Operand<'_>],
        targets: &[Target],
    ) -> Result<Arc<Compiled>, ProgramError> {
        self.used.store(USES.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let fits = |compiled: &&Arc<Compiled>| {
            operands.iter().zip(&compiled.types).all(|(operand, of)| operand.is_of(of))
                && compiled.targets == targets
        };
        if let Some(compiled) = lock(&self.variants).iter().rev().find(fits) {
            return Ok(Arc::clone(compiled));
        }
        let types: Vec<OperandType> = operands.iter().map(Operand::operand_type).collect();
        let compiled = Arc::new(self.program.compile(types, targets.to_vec())?);
        let mut variants = lock(&self.variants);
        if variants.len() >= MOST_VARIANTS {
            variants.remove(0);
        }
        variants.push(Arc::clone(&compiled));
        drop(variants);
        self.make_room();
        Ok(compiled)
    }

    /// Lets other programs go, and then older variants of this one, until the bound holds.
    pub(crate) fn make_room(&self) {
        let is_too_much = || HELD_BYTES.load(Ordering::Relaxed) > MOST_HELD_BYTES;
        if !is_too_much() {
            return;
        }
        let mut programs: Vec<Arc<CachedProgram>> =
            lock(&PROGRAMS).iter().filter_map(Weak::upgrade).collect();
        programs.sort_by_key(|program| program.used.load(Ordering::Relaxed));
        // Each is dropped before the next is looked at.
        for program in programs {
            if !is_too_much() {
                return;
            }
            if !core::ptr::eq(&*program, self) {
                forget(&program);
                lock(&program.variants).clear();
            }
        }
        let mut variants = lock(&self.variants);
        while variants.len() > 1 && is_too_much() {
            variants.remove(0);
        }
    }

    /// The types for which it was compiled last.
    pub(crate) fn last_types(&self) -> Option<Vec<OperandType>> {
        lock(&self.variants).last().map(|compiled| compiled.types.clone())
    }
}

/// Locks are taken while attached to the interpreter, and given back before it is left.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many bytes programs hold now.
#[pyfunction]
pub(crate) fn _held_bytes() -> usize {
    HELD_BYTES.load(Ordering::Relaxed)
}
