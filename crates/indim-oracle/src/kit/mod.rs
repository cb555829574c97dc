//! Conformance kits: random cases of a rule with the verdicts of the oracle, for testing other systems.
//!
//! The oracle alone decides legality and results.
//!
//! - `generate.rs`: cases that are probably legal; `mutate.rs`: puts mistakes into cases;
//! - `operation.rs`: the table of operations; `draft.rs`: a case without its verdict; `random.rs`: random
//!   numbers;
//! - `file.rs`: cases as model files; `hlo.rs`: HLO text; `stablehlo.rs`: StableHLO in the generic form,
//!   because the pretty form cannot state mismatched types; `onnx.rs`: ONNX, opset 21, and opset 6 under its
//!   legacy rule; `openvino.rs`: OpenVINO IR, with `auto_broadcast` of the operation or the mode of
//!   `Broadcast`.

mod draft;
#[cfg(feature = "formats")]
mod file;
mod generate;
#[cfg(feature = "formats")]
mod hlo;
mod mutate;
#[cfg(feature = "formats")]
mod onnx;
#[cfg(feature = "formats")]
mod openvino;
mod operation;
mod random;
#[cfg(feature = "formats")]
mod stablehlo;

use std::collections::HashMap;

use indim_graph::Array;
use indim_shape::{ErrorCode, RuleSetName};

use super::{answered, verdict};
use draft::Draft;
use generate::generate;
use mutate::mutate;
use operation::{KitOperation, OPERATIONS};
use random::SplitMix64;

#[cfg(feature = "formats")]
pub use file::native_rules;

/// One in this many cases is illegal.
const ILLEGAL_EVERY: usize = 3;
/// Maximum number of drafts tried for one case: some rules refuse hardly any draft.
const MAX_TRIES: usize = 100;
/// Number of illegal drafts collected for one case. The draft with the rarest mistake so far becomes the
/// case.
const CANDIDATES: usize = 12;

/// The mistake of a case: the label of the broken rule, if any, and the error code.
type Mistake = (Option<&'static str>, ErrorCode);

/// An endless iterator over random cases of a rule; two in three are legal.
///
/// ```
/// use indim_oracle::{Kit, verdict};
/// use indim_shape::RuleSetName;
///
/// for case in Kit::new(RuleSetName::Numpy, 7).take(10) {
///     assert_eq!(verdict(case.text()), case.verdict());
/// }
/// ```
pub struct Kit {
    rule: RuleSetName,
    operations: Vec<&'static KitOperation>,
    random: SplitMix64,
    /// The id of the next case.
    next: usize,
    /// The number of cases so far with each mistake.
    mistakes: HashMap<Mistake, usize>,
}

/// A case with its verdict.
pub struct KitCase {
    text: String,
    verdict: String,
    mistake: Option<Mistake>,
    operands: Vec<Array>,
    expected: Option<Array>,
    #[cfg(feature = "formats")]
    rule: RuleSetName,
    #[cfg(feature = "formats")]
    draft: Draft,
}

impl Kit {
    /// The cases of a rule for a seed, the same on every machine.
    pub fn new(rule: RuleSetName, seed: u64) -> Kit {
        let operations = OPERATIONS.iter().collect();
        Kit { rule, operations, random: SplitMix64::new(seed), next: 0, mistakes: HashMap::new() }
    }

    /// A legal case, or `None` if none is found.
    fn legal(&mut self) -> Option<KitCase> {
        (0..MAX_TRIES).find_map(|_| {
            let draft = generate(self.rule, &self.operations, &mut self.random);
            Some(self.with_verdict(draft)).filter(|case| case.mistake.is_none())
        })
    }

    /// An illegal case with a rare mistake, or `None` if the rule refuses none of the drafts.
    fn illegal(&mut self) -> Option<KitCase> {
        let mut rarest: Option<(Draft, Mistake)> = None;
        let mut candidates = 0;
        for _ in 0..MAX_TRIES {
            let draft = generate(self.rule, &self.operations, &mut self.random);
            let draft = mutate(self.rule, draft, &mut self.random);
            // Shapes and types alone decide legality, and the verdict on them is cheaper.
            let Err(refusal) = answered(&draft.line(self.next, self.rule, &[])) else { continue };
            if refusal.code == ErrorCode::BAD_REQUEST {
                continue;
            }
            let mistake = (refusal.label, refusal.code);
            candidates += 1;
            if rarest
                .as_ref()
                .is_none_or(|(_, rarest)| self.count_of(&mistake) < self.count_of(rarest))
            {
                rarest = Some((draft, mistake));
            }
            if candidates == CANDIDATES {
                break;
            }
        }
        let (draft, mistake) = rarest?;
        *self.mistakes.entry(mistake).or_default() += 1;
        Some(self.with_verdict(draft))
    }

    fn count_of(&self, mistake: &Mistake) -> usize {
        self.mistakes.get(mistake).copied().unwrap_or(0)
    }

    /// The case of a draft, with random elements for its operands, and its verdict.
    fn with_verdict(&mut self, draft: Draft) -> KitCase {
        let operands = draft.arrays(&mut self.random);
        let text = draft.line(self.next, self.rule, &operands);
        let (mistake, expected) = match answered(&text) {
            Ok(answer) => (None, answer.array),
            Err(refusal) => (Some((refusal.label, refusal.code)), None),
        };
        KitCase {
            verdict: verdict(&text),
            text,
            mistake,
            operands,
            expected,
            #[cfg(feature = "formats")]
            rule: self.rule,
            #[cfg(feature = "formats")]
            draft,
        }
    }
}

impl Iterator for Kit {
    type Item = KitCase;

    fn next(&mut self) -> Option<KitCase> {
        let is_illegal = self.random.one_in(ILLEGAL_EVERY);
        let illegal = if is_illegal { self.illegal() } else { None };
        let case = illegal.or_else(|| self.legal());
        self.next += 1;
        case
    }
}

impl KitCase {
    /// The case as a line of JSON, for [`verdict`].
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The verdict, a line of JSON.
    pub fn verdict(&self) -> &str {
        &self.verdict
    }

    /// Case and verdict as one line of JSON, an object with `case` and `expected`.
    pub fn line(&self) -> String {
        format!("{{\"case\":{},\"expected\":{}}}", self.text, self.verdict)
    }

    /// The operands.
    pub fn operands(&self) -> &[Array] {
        &self.operands
    }

    /// The result of a legal case.
    pub fn expected(&self) -> Option<&Array> {
        self.expected.as_ref()
    }

    /// The error code of an illegal case.
    pub fn code(&self) -> Option<&'static str> {
        self.mistake.map(|(_, code)| code.as_str())
    }

    /// The label of the rule that an illegal case breaks, if it has one.
    pub fn label(&self) -> Option<&'static str> {
        self.mistake.and_then(|(label, _)| label)
    }
}
