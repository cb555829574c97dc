//! Expressions that have been read, by their texts.
//!
//! How much they hold is bounded in `cached_program.rs`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indim::RuleSet;
use pyo3::prelude::*;

use crate::cached_program::CachedProgram;
use crate::program::{Program, ProgramError};

/// Texts that are kept for each rule; beyond that the cache starts anew.
const MOST_TEXTS: usize = 1024;

/// The programs of the texts under one rule.
type Texts = HashMap<String, Arc<CachedProgram>>;

static TEXTS: Mutex<Vec<(Option<RuleSet>, Texts)>> = Mutex::new(Vec::new());

fn texts() -> MutexGuard<'static, Vec<(Option<RuleSet>, Texts)>> {
    TEXTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program of `text` under `rule`; without one each operation follows its own attributes.
pub(crate) fn program_of_text(
    py: Python<'_>,
    text: &str,
    rule: Option<RuleSet>,
) -> Result<Arc<CachedProgram>, ProgramError> {
    if let Some((_, texts)) = texts().iter().find(|(of, _)| *of == rule)
        && let Some(program) = texts.get(text)
    {
        return Ok(Arc::clone(program));
    }
    let program = Program::of_expression(text, rule.clone())?;
    let program = CachedProgram::new(py, program);
    let before = remember(text, rule, &program);
    // Dropping takes a while; others need not wait for it.
    drop(before);
    program.make_room();
    Ok(program)
}

/// Adds a program; returns those that are kept no longer.
fn remember(text: &str, rule: Option<RuleSet>, program: &Arc<CachedProgram>) -> Texts {
    let mut all = texts();
    if !all.iter().any(|(of, _)| *of == rule) {
        all.push((rule.clone(), Texts::default()));
    }
    let mut before = Texts::default();
    if let Some((_, texts)) = all.iter_mut().find(|(of, _)| *of == rule) {
        if texts.len() >= MOST_TEXTS {
            before = core::mem::take(texts);
        }
        texts.insert(text.to_owned(), Arc::clone(program));
    }
    before
}

/// Forgets the text of a program that the caller holds.
pub(crate) fn forget(program: &Arc<CachedProgram>) {
    for (_, texts) in texts().iter_mut() {
        texts.retain(|_, kept| !Arc::ptr_eq(kept, program));
    }
}
