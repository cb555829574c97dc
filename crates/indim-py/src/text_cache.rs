//! Expressions that have been read, with the programs compiled for the operands they met.
//!
//! Bounded: a server that is sent ever new texts does not grow.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::operand::{Operand, OperandType};
use crate::program::{Compiled, Program, ProgramError, Target};
use crate::rule::Rule;

/// Texts that are kept for each rule; beyond that, or the bytes below, the cache starts anew.
const MOST_TEXTS: usize = 1024;

/// Bytes of text that are kept for each rule; a program takes some hundreds for each.
const MOST_BYTES: usize = 256 * 1024;

/// Compiled programs that are kept for each text; beyond that the oldest goes.
const MOST_VARIANTS: usize = 64;

/// A program with what was compiled of it.
pub(crate) struct CachedProgram {
    pub(crate) program: Program,
    /// The parameters' names as Python's own strings.
    pub(crate) names: Vec<Py<PyString>>,
    variants: Mutex<Vec<Arc<Compiled>>>,
}

impl CachedProgram {
    pub(crate) fn new(py: Python<'_>, program: Program) -> Self {
        let intern = |name: &String| PyString::intern(py, name).unbind();
        let names = program.parameters.iter().map(intern).collect();
        CachedProgram { program, names, variants: Mutex::new(Vec::new()) }
    }

    /// The variant for these operands and targets, compiled now if there is none.
    pub(crate) fn variant(
        &self,
        operands: &[Operand<'_>],
        targets: &[Target],
    ) -> Result<Arc<Compiled>, ProgramError> {
        let fits = |compiled: &&Arc<Compiled>| {
            operands.iter().zip(&compiled.types).all(|(operand, of)| operand.is_of(of))
                && compiled.targets == targets
        };
        if let Some(compiled) = self.variants().iter().rev().find(fits) {
            return Ok(Arc::clone(compiled));
        }
        let types: Vec<OperandType> = operands.iter().map(Operand::operand_type).collect();
        let compiled = Arc::new(self.program.compile(types, targets.to_vec())?);
        let mut variants = self.variants();
        if variants.len() >= MOST_VARIANTS {
            variants.remove(0);
        }
        variants.push(Arc::clone(&compiled));
        Ok(compiled)
    }

    /// The types for which it was compiled last.
    pub(crate) fn last_types(&self) -> Option<Vec<OperandType>> {
        self.variants().last().map(|compiled| compiled.types.clone())
    }

    fn variants(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Compiled>>> {
        self.variants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The programs of the texts under one rule.
#[derive(Default)]
struct Texts {
    programs: HashMap<String, Arc<CachedProgram>>,
    bytes: usize,
}

impl Texts {
    fn insert(&mut self, text: &str, program: &Arc<CachedProgram>) {
        if text.len() > MOST_BYTES {
            return;
        }
        if self.programs.len() >= MOST_TEXTS || self.bytes + text.len() > MOST_BYTES {
            *self = Texts::default();
        }
        if self.programs.insert(text.to_owned(), Arc::clone(program)).is_none() {
            self.bytes += text.len();
        }
    }
}

static TEXTS: Mutex<Vec<(Rule, Texts)>> = Mutex::new(Vec::new());

/// The program of `text` under `rule`.
pub(crate) fn program_of_text(
    py: Python<'_>,
    text: &str,
    rule: Rule,
) -> Result<Arc<CachedProgram>, ProgramError> {
    let lock = || TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, texts)) = lock().iter().find(|(of, _)| *of == rule)
        && let Some(program) = texts.programs.get(text)
    {
        return Ok(Arc::clone(program));
    }
    let program = Program::of_expression(text, rule.rule_set())?;
    let program = Arc::new(CachedProgram::new(py, program));
    let mut all = lock();
    if !all.iter().any(|(of, _)| *of == rule) {
        all.push((rule, Texts::default()));
    }
    if let Some((_, texts)) = all.iter_mut().find(|(of, _)| *of == rule) {
        texts.insert(text, &program);
    }
    Ok(program)
}
