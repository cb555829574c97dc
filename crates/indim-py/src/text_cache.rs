//! Expressions that have been read, by their texts.
//!
//! `cached_computation.rs` bounds their memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indim::RuleSet;
use pyo3::prelude::*;

use crate::cached_computation::CachedComputation;
use crate::computation::Computation;
use crate::error::ComputationError;

/// Texts that are kept for each rule; beyond that the cache starts anew.
const MAX_TEXTS: usize = 1024;

/// The computations of texts with the same rule and the same requested results.
type Texts = HashMap<String, Arc<CachedComputation>>;

/// A rule, and the names of the results; without names those that a text gives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextKey {
    pub(crate) rule: Option<RuleSet>,
    pub(crate) names: Option<Vec<String>>,
}

/// The maximal number of rules with requested results; beyond it the cache is cleared.
const MAX_KEYS: usize = 64;

static TEXTS: Mutex<Vec<(TextKey, Texts)>> = Mutex::new(Vec::new());

fn texts() -> MutexGuard<'static, Vec<(TextKey, Texts)>> {
    TEXTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The computation of what is key for of `text`; without a rule each operation follows its own attributes.
pub(crate) fn computation_of_text(
    py: Python<'_>,
    text: &str,
    key: TextKey,
) -> Result<Arc<CachedComputation>, ComputationError> {
    if let Some((_, texts)) = texts().iter().find(|(of, _)| *of == key)
        && let Some(computation) = texts.get(text)
    {
        return Ok(Arc::clone(computation));
    }
    let computation = Computation::of_expression(text, key.names.as_deref(), key.rule.clone())?;
    let computation = CachedComputation::new(py, computation);
    let before = remember(text, key, &computation);
    // Dropping takes a while; others need not wait for it.
    drop(before);
    computation.make_room();
    Ok(computation)
}

/// Adds a computation; returns those that are kept no longer.
fn remember(
    text: &str,
    key: TextKey,
    computation: &Arc<CachedComputation>,
) -> Vec<(TextKey, Texts)> {
    let mut all = texts();
    let mut before = Vec::new();
    if !all.iter().any(|(of, _)| *of == key) {
        if all.len() >= MAX_KEYS {
            before = core::mem::take(&mut *all);
        }
        all.push((key.clone(), Texts::default()));
    }
    if let Some((_, texts)) = all.iter_mut().find(|(of, _)| *of == key) {
        if texts.len() >= MAX_TEXTS {
            before.push((key, core::mem::take(texts)));
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
