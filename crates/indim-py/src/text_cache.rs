//! Expressions that have been read, by their texts.
//!
//! How much they hold is bounded in `cached_computation.rs`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indim::RuleSet;
use pyo3::prelude::*;

use crate::cached_computation::CachedComputation;
use crate::computation::Computation;
use crate::error::ComputationError;

/// Texts that are kept for each rule; beyond that the cache starts anew.
const MOST_TEXTS: usize = 1024;

/// The computations of the texts under one rule.
type Texts = HashMap<String, Arc<CachedComputation>>;

static TEXTS: Mutex<Vec<(Option<RuleSet>, Texts)>> = Mutex::new(Vec::new());

fn texts() -> MutexGuard<'static, Vec<(Option<RuleSet>, Texts)>> {
    TEXTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The computation of `text` under `rule`; without one each operation follows its own attributes.
pub(crate) fn computation_of_text(
    py: Python<'_>,
    text: &str,
    rule: Option<RuleSet>,
) -> Result<Arc<CachedComputation>, ComputationError> {
    if let Some((_, texts)) = texts().iter().find(|(of, _)| *of == rule)
        && let Some(computation) = texts.get(text)
    {
        return Ok(Arc::clone(computation));
    }
    let computation = Computation::of_expression(text, rule.clone())?;
    let computation = CachedComputation::new(py, computation);
    let before = remember(text, rule, &computation);
    // Dropping takes a while; others need not wait for it.
    drop(before);
    computation.make_room();
    Ok(computation)
}

/// Adds a computation; returns those that are kept no longer.
fn remember(text: &str, rule: Option<RuleSet>, computation: &Arc<CachedComputation>) -> Texts {
    let mut all = texts();
    if !all.iter().any(|(of, _)| *of == rule) {
        all.push((rule.clone(), Texts::default()));
    }
    let mut before = Texts::default();
    if let Some((_, texts)) = all.iter_mut().find(|(of, _)| *of == rule) {
        if texts.len() >= MOST_TEXTS {
            before = core::mem::take(texts);
        }
        texts.insert(text.to_owned(), Arc::clone(computation));
    }
    before
}

/// Forgets the text of a computation that the caller holds.
pub(crate) fn forget(computation: &Arc<CachedComputation>) {
    for (_, texts) in texts().iter_mut() {
        texts.retain(|_, kept| !Arc::ptr_eq(kept, computation));
    }
}
