//! The cache of computations of expressions: of texts, and of eager operations.
//!
//! `cached_computation.rs` bounds their memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indim::RuleSet;
use pyo3::prelude::*;

use crate::cached_computation::CachedComputation;
use crate::computation::Computation;
use crate::error::ComputationError;
use crate::expression::ExpressionArgument;

/// Maximum number of expressions of one key; beyond it all expressions of the key are dropped.
const MAX_EXPRESSIONS: usize = 1024;

/// Maximum number of keys; beyond it the cache is cleared.
const MAX_KEYS: usize = 64;

/// The computations of expressions of one key, by text.
type Computations = HashMap<String, Arc<CachedComputation>>;

/// The properties of a computation other than its text. Each key has a map from texts to computations.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExpressionKey {
    /// Whether the text identifies an operation. Its operands have names that no user wrote, and a text can
    /// mean something else: `max(x, 1)` may be written for numexpr.
    is_operation: bool,
    /// The rule of every operation; `None` if each operation follows its own attributes.
    rule: Option<RuleSet>,
    /// The names of the requested results; `None` for the results of the text.
    results: Option<Vec<String>>,
}

impl ExpressionKey {
    pub(crate) fn new(
        expression: &ExpressionArgument<'_>,
        rule: Option<RuleSet>,
        results: Option<Vec<String>>,
    ) -> ExpressionKey {
        let is_operation = matches!(expression, ExpressionArgument::Operation(_));
        ExpressionKey { is_operation, rule, results }
    }
}

static CACHE: Mutex<Vec<(ExpressionKey, Computations)>> = Mutex::new(Vec::new());

fn cache() -> MutexGuard<'static, Vec<(ExpressionKey, Computations)>> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The computation of an expression, made now if it is not cached.
pub(crate) fn cached_computation(
    py: Python<'_>,
    expression: &ExpressionArgument<'_>,
    key: ExpressionKey,
) -> Result<Arc<CachedComputation>, ComputationError> {
    let text = expression.key();
    if let Some((_, computations)) = cache().iter().find(|(known, _)| *known == key)
        && let Some(computation) = computations.get(&*text)
    {
        return Ok(Arc::clone(computation));
    }
    let (rule, results) = (key.rule.clone(), key.results.as_deref());
    let computation = match expression {
        ExpressionArgument::Operation(call) => Computation::of_operation(call, rule)?,
        ExpressionArgument::Text(text) => Computation::of_expression(text, results, rule)?,
    };
    let computation = CachedComputation::new(py, computation);
    let evicted = insert(&text, key, &computation);
    // Evicted programs are freed after the lock is released, because that takes long.
    drop(evicted);
    computation.evict_to_limit();
    Ok(computation)
}

/// Adds a computation; returns evicted ones.
fn insert(
    text: &str,
    key: ExpressionKey,
    computation: &Arc<CachedComputation>,
) -> Vec<(ExpressionKey, Computations)> {
    let mut entries = cache();
    let mut evicted = Vec::new();
    if !entries.iter().any(|(known, _)| *known == key) {
        if entries.len() >= MAX_KEYS {
            evicted = core::mem::take(&mut *entries);
        }
        entries.push((key.clone(), Computations::default()));
    }
    if let Some((_, computations)) = entries.iter_mut().find(|(known, _)| *known == key) {
        if computations.len() >= MAX_EXPRESSIONS {
            evicted.push((key, core::mem::take(computations)));
        }
        computations.insert(text.to_owned(), Arc::clone(computation));
    }
    evicted
}

/// Removes a computation, which the caller holds, from the cache.
pub(crate) fn remove_expression(computation: &Arc<CachedComputation>) {
    for (_, computations) in cache().iter_mut() {
        computations.retain(|_, cached| !Arc::ptr_eq(cached, computation));
    }
}
