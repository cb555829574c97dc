//! Conformance kits: random cases of a rule with the oracle's verdicts, for testing other systems.
//!
//! `generate.rs` makes cases that the rule most likely takes, `mutate.rs` puts mistakes in; what is legal and
//! what the result is, the oracle alone says. `operation.rs` is the table of operations, `draft.rs` a case
//! before the oracle has seen it, `random.rs` the source of chance. `file.rs` makes files of other systems of
//! cases.
//!
//! - `hlo.rs`: cases as text of HLO;
//! - `onnx.rs`: cases as models of ONNX: of opset 21, and under the old rule of opset 6;
//! - `openvino.rs`: cases as OpenVINO's IR: `auto_broadcast` of the operation, or the mode of `Broadcast`;
//! - `stablehlo.rs`: cases as text of StableHLO, in the generic form: the pretty one cannot say types that
//!   do not fit.

mod draft;
#[cfg(feature = "formats")]
mod file;
mod generate;
#[cfg(feature = "formats")]
mod hlo;
mod mutate;
#[cfg(feature = "onnx")]
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

/// One of so many cases is illegal.
const ILLEGAL: usize = 3;
/// So many cases are looked at until one is as it is wanted. Some rules refuse hardly anything.
const TRIES: usize = 100;
/// Of so many illegal cases, the one is taken whose mistake has been seen least often.
const CANDIDATES: usize = 12;

/// What is wrong with a case: the label of the rule, where it has one, and the code.
type Mistake = (Option<&'static str>, ErrorCode);

/// The cases of a rule, without end; two of three are legal.
///
/// ```
/// use indim::RuleSetName;
/// use indim::oracle::{Kit, verdict};
///
/// for case in Kit::new(RuleSetName::Numpy, 7).take(10) {
///     assert_eq!(verdict(case.text()), case.verdict());
/// }
/// ```
pub struct Kit {
    rule: RuleSetName,
    operations: Vec<&'static KitOperation>,
    random: SplitMix64,
    /// The number of the next case.
    next: usize,
    /// How often each mistake has been made.
    mistakes: HashMap<Mistake, usize>,
}

/// A case, and what the oracle says of it.
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
    /// The cases that a rule and a seed make: the same ones on every machine.
    pub fn new(rule: RuleSetName, seed: u64) -> Kit {
        let operations = OPERATIONS.iter().collect();
        Kit { rule, operations, random: SplitMix64::new(seed), next: 0, mistakes: HashMap::new() }
    }

    /// A legal case; none where none is found.
    fn legal(&mut self) -> Option<KitCase> {
        (0..TRIES).find_map(|_| {
            let draft = generate(self.rule, &self.operations, &mut self.random);
            Some(self.asked(draft)).filter(|case| case.mistake.is_none())
        })
    }

    /// An illegal case with a mistake that has not been made often; none where the rule refuses nothing.
    fn illegal(&mut self) -> Option<KitCase> {
        let mut rarest: Option<(Draft, Mistake)> = None;
        let mut candidates = 0;
        for _ in 0..TRIES {
            let draft = generate(self.rule, &self.operations, &mut self.random);
            let draft = mutate(self.rule, draft, &mut self.random);
            // Shapes and types alone decide it, and are asked about sooner.
            let Err(refusal) = answered(&draft.line(self.next, self.rule, &[])) else { continue };
            if refusal.code == ErrorCode::BAD_REQUEST {
                continue;
            }
            let mistake = (refusal.label, refusal.code);
            candidates += 1;
            if rarest.as_ref().is_none_or(|(_, least)| self.seen(&mistake) < self.seen(least)) {
                rarest = Some((draft, mistake));
            }
            if candidates == CANDIDATES {
                break;
            }
        }
        let (draft, mistake) = rarest?;
        *self.mistakes.entry(mistake).or_default() += 1;
        Some(self.asked(draft))
    }

    fn seen(&self, mistake: &Mistake) -> usize {
        self.mistakes.get(mistake).copied().unwrap_or(0)
    }

    /// The case of a draft, with elements for its operands, and the oracle's verdict.
    fn asked(&mut self, draft: Draft) -> KitCase {
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
        let is_illegal = self.random.one_in(ILLEGAL);
        let illegal = if is_illegal { self.illegal() } else { None };
        let case = illegal.or_else(|| self.legal());
        self.next += 1;
        case
    }
}

impl KitCase {
    /// The case as a line of JSON, which [`verdict`] takes.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The verdict on it, a line of JSON.
    pub fn verdict(&self) -> &str {
        &self.verdict
    }

    /// Both as one line of JSON: an object with `case` and `expected`.
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

    /// The code of what is wrong with an illegal case.
    pub fn code(&self) -> Option<&'static str> {
        self.mistake.map(|(_, code)| code.as_str())
    }

    /// The label of the rule that an illegal case breaks, where it has one.
    pub fn label(&self) -> Option<&'static str> {
        self.mistake.and_then(|(label, _)| label)
    }
}
