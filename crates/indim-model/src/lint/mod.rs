//! Findings about the broadcasts of a model: what is illegal, unknown, or legal but hardly meant.
//!
//! False alarms are worse than misses: each rule here leaves out what programs do on purpose.
//!
//! - `finding.rs`: a finding; `facts.rs`: users, constants and channel axes of the values;
//! - `verdicts.rs`: findings from verdicts and types; `promoted.rs`: ranks promoted by accident and outer
//!   products; `wrong_axis.rs`: constants for the channels on another axis; `needless.rs`: nodes that change
//!   nothing; `runtimes.rs`: operators whose results depend on the runtime.

mod facts;
mod finding;
mod needless;
mod promoted;
mod runtimes;
mod verdicts;
mod wrong_axis;

use std::collections::HashSet;

use indim_shape::ErrorCode;

pub use finding::{Finding, FindingLevel, FindingVerdict};

use crate::outline::Outline;
use facts::Facts;

/// Findings of one file; more do not help the reader.
const MAX_FINDINGS: usize = 1000;

/// The findings about a model, in the order of its nodes, without those with a code in `allowed`.
///
/// ```
/// use indim_model::lint::findings;
/// use indim_model::outline::Outline;
///
/// assert!(findings(&Outline::default(), &[]).is_empty());
/// ```
pub fn findings(outline: &Outline, allowed: &[ErrorCode]) -> Vec<Finding> {
    let facts = Facts::new(outline);
    let mut found = Vec::new();
    verdicts::find(outline, &mut found);
    promoted::find(outline, &facts, &mut found);
    wrong_axis::find(outline, &facts, &mut found);
    needless::find(outline, &facts, &mut found);
    runtimes::find(outline, &mut found);
    found.retain(|finding| !allowed.contains(&finding.code));
    // A function that is called twice gives each finding twice.
    let mut told = HashSet::new();
    found.retain(|finding| told.insert((finding.code, finding.message.clone())));
    found.sort_by_key(|finding| finding.node);
    found.truncate(MAX_FINDINGS);
    found
}
