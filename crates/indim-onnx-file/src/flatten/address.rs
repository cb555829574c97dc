//! Addresses of the values of called functions, which name them for parts of a model: `y::t` is the value `t`
//! of the call whose first result is `y`.

use std::sync::Arc;

use super::{Flattener, ValueNumber};
use crate::operator::OperatorRow;

/// Separates the first result of a call from the names inside the function.
const SEPARATOR: &str = "::";

/// Maximum bytes of an address: names of calls within calls add up.
const MAX_BYTES: usize = 1 << 10;

/// Whether the name can be an address.
pub(super) fn is_address(name: &str) -> bool {
    name.contains(SEPARATOR)
}

/// The start of the addresses of a called function's values: the first named result of the call. `start` is
/// that of the caller, which is empty for the main graph. `None` without such a result, and if it is too
/// long.
pub fn address_of_call(start: &str, results: &[String]) -> Option<Arc<str>> {
    let result = results.iter().find(|name| !name.is_empty())?;
    let length = start.len() + result.len() + SEPARATOR.len();
    (length <= MAX_BYTES).then(|| Arc::from([start, result, SEPARATOR].concat()))
}

/// The address of a value whose function has addresses with this start; `None` without a name, and if it is
/// too long.
pub fn address_of(start: &str, name: &str) -> Option<Arc<str>> {
    let is_short = !name.is_empty() && start.len() + name.len() <= MAX_BYTES;
    is_short.then(|| Arc::from([start, name].concat()))
}

impl<O: OperatorRow> Flattener<'_, O> {
    /// Notes a value of a called function, if a part starts or ends there.
    pub(super) fn note_address(
        &mut self,
        start: Option<&str>,
        name: &str,
        value: Option<ValueNumber>,
    ) {
        let start = start.filter(|start| !start.is_empty() && !self.addressed.is_empty());
        let address = start.and_then(|start| address_of(start, name));
        if let Some(noted) = address.and_then(|address| self.addressed.get_mut(&*address)) {
            *noted = value;
        }
    }
}
