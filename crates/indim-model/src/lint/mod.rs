//! Findings about a model: broadcasts that are illegal, undecided or probably unintended, wrong stated types,
//! needless nodes, and results that depend on the runtime.
//!
//! False alarms are worse than misses: each check leaves out broadcasts that programs intend.
//!
//! - `finding.rs`: a finding; `facts.rs`: users, constants and channel axes of the values; `chain.rs`: chains
//!   of broadcast nodes;
//! - `verdicts.rs`: findings from verdicts on broadcasts, errors of nodes, and stated types; `promoted.rs`:
//!   ranks promoted by accident and outer products; `wrong_axis.rs`: per-channel constants on an axis other
//!   than the channel axis; `needless.rs`: nodes that change nothing; `repeated.rs`: constants that repeat
//!   their elements; `pdpd.rs`: axes of the rule pdpd that OpenVINO itself ignores or reads differently;
//!   `runtimes.rs`: operators whose results depend on the runtime.

mod chain;
mod facts;
mod finding;
mod needless;
mod pdpd;
mod promoted;
mod repeated;
mod runtimes;
mod verdicts;
mod wrong_axis;

use core::cmp::Reverse;
use core::ops::Range;
use std::collections::HashSet;

use indim_shape::ErrorCode;

pub use finding::{Finding, FindingLevel, FindingVerdict};

use crate::outline::Outline;
use facts::Facts;

/// Maximum findings of one file; more do not help the reader. Errors are kept first.
const MAX_FINDINGS: usize = 1000;

/// The findings about a model, each once, in the order of its nodes, without those with a code in `allowed`.
/// At most 1000 of them: errors are kept first.
///
/// ```
/// use indim_model::lint::findings;
/// use indim_model::outline::Outline;
///
/// assert!(findings(&Outline::default(), &[]).is_empty());
/// ```
pub fn findings(outline: &Outline, allowed: &[ErrorCode]) -> Vec<Finding> {
    let facts = Facts::new(outline);
    let mut findings = Vec::new();
    verdicts::find(outline, &mut findings);
    promoted::find(outline, &facts, &mut findings);
    wrong_axis::find(outline, &facts, &mut findings);
    needless::find(outline, &facts, &mut findings);
    repeated::find(outline, &facts, &mut findings);
    pdpd::find(outline, &mut findings);
    runtimes::find(outline, &mut findings);
    findings.retain(|finding| !allowed.contains(&finding.code));
    // A function that is called twice gives each finding twice. Other nodes can have the same name.
    let mut reported = HashSet::new();
    findings.retain(|finding| {
        let region = finding.node.map(|node| outline.nodes[node].region.clone());
        let Finding { code, message, label, .. } = finding;
        reported.insert((*code, message.clone(), label.clone(), region, own_place(finding)))
    });
    limit_findings(findings, MAX_FINDINGS)
}

/// The place of a finding in the file, without the call of the function that contains it.
fn own_place(finding: &Finding) -> (Option<Range<usize>>, Option<String>) {
    let described = finding.location.described.as_deref();
    let own = described.and_then(|text| text.split(", in the function ").next());
    (finding.location.span.clone(), own.map(str::to_owned))
}

/// At most `limit` findings in the order of their nodes: if there are more, those of the highest level.
fn limit_findings(mut findings: Vec<Finding>, limit: usize) -> Vec<Finding> {
    if findings.len() > limit {
        findings.sort_by_key(|finding| Reverse(finding.verdict.level()));
        findings.truncate(limit);
    }
    findings.sort_by_key(|finding| finding.node);
    findings
}

#[cfg(test)]
mod tests {
    use indim_shape::ErrorCode;

    use super::{Finding, FindingVerdict, limit_findings};
    use crate::outline::{Outline, OutlineNode};

    /// Notes beyond the limit must not push out an error.
    #[test]
    fn an_error_is_kept_before_notes() {
        let node = OutlineNode::default();
        let outline = Outline { nodes: vec![node; 5], ..Outline::default() };
        let finding = |(node, verdict)| {
            Finding::new(&outline, node, (ErrorCode::OUTER_PRODUCT, verdict), format!("{node}"))
        };
        let verdicts = [FindingVerdict::Advice; 4].into_iter().chain([FindingVerdict::Illegal]);
        let findings: Vec<Finding> = verdicts.enumerate().map(finding).collect();
        let kept = |limit: usize| -> Vec<Option<usize>> {
            limit_findings(findings.clone(), limit).iter().map(|finding| finding.node).collect()
        };
        assert_eq!(kept(2), [Some(0), Some(4)]);
        assert_eq!(kept(5), [Some(0), Some(1), Some(2), Some(3), Some(4)]);
    }
}
