//! A model in a file: its nodes with their types, its broadcasts and findings.
//!
//! The page has the file and gives the ranges that the reader wants: of ONNX all but the large constants, of
//! OpenVINO's external file the few constants that determine shapes, of other files all bytes. The answers
//! about nodes are in parts, so that each is small.
//!
//! - `answers.rs`: the answers about a read model;
//! - `external.rs`: external files; the page passes ranges of them.

mod answers;
mod external;

use core::ops::Range;
use std::sync::Arc;

use indim::errors::Diagnostic;
use indim::formats::{
    FormatError, FormatErrorKind, FormatLimits, LintOptions, LintReport, ModelFormat, ReadOptions,
    SourceFile,
};
use indim_onnx_file::WeightSkipper;
use indim_shape::ErrorCode;
use serde::{Deserialize, Serialize};

use crate::report::Refusal;
use crate::request::{answered, written};
use answers::{NodeAnswer, NodesAnswer, ReportAnswer, SearchAnswer, TextAnswer};
use external::ExternalFiles;

/// Bytes of a file that show its format.
const BEGINNING_BYTES: u64 = 1 << 16;

/// Bytes of one requested range of a file that is read whole.
pub const MAX_RANGE_BYTES: usize = 1 << 20;

/// Maximum bytes of a file that is read whole: the memory of a page is smaller than that of the command.
const MAX_WHOLE_BYTES: u64 = 1 << 26;

/// Maximum depth of regions, elements and attributes: the stack of a module is smaller than that of the
/// command.
const MAX_DEPTH: usize = 200;

/// Times that the external file of a model is asked for more ranges. One is enough for every format today.
const MAX_ROUNDS: usize = 4;

/// Reads a model from the ranges that it wants, and answers requests about it.
///
/// ```
/// use indim_web::ModelReader;
///
/// let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }";
/// let request = format!(r#"{{"name": "m.mlir", "bytes": {}}}"#, text.len());
/// let mut reader = ModelReader::default();
/// let answer = reader.open(&request);
/// assert_eq!(answer, r#"{"ok":true,"wanted":{"file":"m.mlir","start":0,"end":81}}"#);
/// let answer = reader.give(text.as_bytes());
/// assert!(answer.contains(r#""format":"stablehlo""#), "{answer}");
/// ```
#[derive(Default)]
pub struct ModelReader {
    name: String,
    bytes: u64,
    stage: ReadStage,
    external: Arc<ExternalFiles>,
    rounds: usize,
    format: &'static str,
    skipped: SkippedConstants,
    report: Option<LintReport>,
}

/// The next step of the reader.
#[derive(Default)]
enum ReadStage {
    /// Nothing: no file is open, or its report is ready.
    #[default]
    Idle,
    /// Read the beginning, which shows the format.
    Beginning,
    /// Read all bytes.
    Whole(Vec<u8>),
    /// Read ONNX without its large constants.
    Onnx(Box<WeightSkipper>),
    /// Read a range of an external file.
    External(SourceFile, String, Range<u64>),
}

/// Large constants of ONNX, which are not read.
#[derive(Serialize, Default, Clone, Copy)]
struct SkippedConstants {
    count: usize,
    bytes: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenRequest {
    name: String,
    bytes: u64,
    /// The other files that the user gave.
    #[serde(default)]
    others: Vec<OtherFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OtherFile {
    name: String,
    bytes: u64,
}

/// The answer while bytes are lacking.
#[derive(Serialize)]
struct WantedAnswer {
    ok: bool,
    wanted: WantedRange,
}

#[derive(Serialize)]
struct WantedRange {
    file: String,
    start: u64,
    end: u64,
}

impl ModelReader {
    /// Begins to read a file: `{"name": "m.onnx", "bytes": 400}`, with the same of `others`, the external
    /// files. The answer names the wanted range of a file.
    pub fn open(&mut self, request: &str) -> String {
        *self = ModelReader::default();
        answered(request, |request: OpenRequest| {
            self.name = request.name;
            self.bytes = request.bytes;
            let others = request.others.into_iter().map(|file| (file.name, file.bytes));
            self.external = Arc::new(ExternalFiles::new(others));
            self.stage = ReadStage::Beginning;
            match self.wanted() {
                Some(wanted) => Ok(WantedAnswer { ok: true, wanted }),
                None => Err(self.refuse(FormatErrorKind::UnknownFormat { advice: None })),
            }
        })
    }

    /// Takes the bytes of the wanted range. The answer names the next one, or describes the model.
    pub fn give(&mut self, bytes: &[u8]) -> String {
        let Some(wanted) = self.wanted() else {
            return written(Err::<(), _>(bad_request("no range of a file is wanted")));
        };
        if bytes.len() as u64 != wanted.end - wanted.start {
            self.stage = ReadStage::Idle;
            return written(Err::<(), _>(bad_request("the file changed while it was read")));
        }
        if let Err(refusal) = self.take(bytes) {
            self.stage = ReadStage::Idle;
            return written(Err::<(), _>(refusal));
        }
        if let Some(wanted) = self.wanted() {
            return written(Ok(WantedAnswer { ok: true, wanted }));
        }
        let report = self.report.as_ref().ok_or_else(|| bad_request("no file is open"));
        written(report.map(|report| ReportAnswer::new(report, self.format, self.skipped)))
    }

    /// The nodes from `first` on, at most `count`: `{"first": 0, "count": 500}`.
    pub fn nodes(&self, request: &str) -> String {
        self.about_model(request, NodesAnswer::new)
    }

    /// A node with its operands, attributes and drawn broadcasts: `{"node": 7}`.
    pub fn node(&self, request: &str) -> String {
        self.about_model(request, NodeAnswer::new)
    }

    /// The nodes that contain a text: `{"text": "conv"}`.
    pub fn search(&self, request: &str) -> String {
        self.about_model(request, SearchAnswer::new)
    }

    /// The model as a file that the command writes: `{"form": "html"}`, `svg` or `text`.
    pub fn text(&self, request: &str) -> String {
        self.about_model(request, TextAnswer::new)
    }

    fn about_model<R: serde::de::DeserializeOwned, A: Serialize>(
        &self,
        request: &str,
        answer: impl FnOnce(&LintReport, R) -> Result<A, Box<Refusal>>,
    ) -> String {
        answered(request, |request| match &self.report {
            Some(report) => answer(report, request),
            None => Err(bad_request("no file is open")),
        })
    }

    fn wanted(&self) -> Option<WantedRange> {
        let (file, range) = match &self.stage {
            ReadStage::Idle => return None,
            ReadStage::Beginning => (&self.name, 0..self.bytes.min(BEGINNING_BYTES)),
            ReadStage::Whole(content) => {
                let start = content.len() as u64;
                (&self.name, start..self.bytes.min(start + MAX_RANGE_BYTES as u64))
            }
            ReadStage::Onnx(skipper) => (&self.name, skipper.wanted()?),
            ReadStage::External(_, name, range) => (name, range.clone()),
        };
        let wanted = WantedRange { file: file.clone(), start: range.start, end: range.end };
        (range.start < range.end).then_some(wanted)
    }

    /// Takes the bytes of the wanted range, and moves on to the next stage if it was the last one.
    fn take(&mut self, bytes: &[u8]) -> Result<(), Box<Refusal>> {
        self.stage = match core::mem::take(&mut self.stage) {
            ReadStage::Idle => ReadStage::Idle,
            ReadStage::Beginning => self.begin(bytes)?,
            ReadStage::Whole(mut content) => {
                content.extend_from_slice(bytes);
                ReadStage::Whole(content)
            }
            ReadStage::Onnx(mut skipper) => {
                skipper.give(bytes).map_err(|error| self.refuse_error(&error))?;
                ReadStage::Onnx(skipper)
            }
            ReadStage::External(source, name, range) => {
                self.external.supply(&name, range, bytes.to_vec().into());
                ReadStage::External(source, name, 0..0)
            }
        };
        if self.wanted().is_some() {
            return Ok(());
        }
        match core::mem::take(&mut self.stage) {
            ReadStage::Idle | ReadStage::Beginning => Ok(()),
            ReadStage::Whole(content) => self.lint(SourceFile::new(&*self.name, content)),
            ReadStage::Onnx(skipper) => {
                let model = skipper.finish();
                self.skipped =
                    SkippedConstants { count: model.constants, bytes: model.constant_bytes };
                self.lint(SourceFile::new(&*self.name, model.content))
            }
            ReadStage::External(source, ..) => match self.external.next_missing() {
                Some((name, range)) => {
                    self.stage = ReadStage::External(source, name, range);
                    Ok(())
                }
                None => self.lint(source),
            },
        }
    }

    /// The stage after the beginning of a file.
    fn begin(&self, bytes: &[u8]) -> Result<ReadStage, Box<Refusal>> {
        let limit = FormatLimits::default().file_bytes;
        let is_too_large = |limit: usize| self.bytes > limit as u64;
        let too_large = |limit| FormatErrorKind::Limit { what: "bytes in the file", limit };
        if ModelFormat::of(bytes) == Some(ModelFormat::Onnx) {
            return match is_too_large(limit) {
                true => Err(self.refuse(too_large(limit))),
                false => Ok(ReadStage::Onnx(Box::new(WeightSkipper::new(&*self.name, self.bytes)))),
            };
        }
        if ModelFormat::of(bytes).is_none() && ModelFormat::is_binary(bytes) {
            let advice = ModelFormat::advice(bytes);
            return Err(self.refuse(FormatErrorKind::UnknownFormat { advice }));
        }
        let limit = usize::try_from(MAX_WHOLE_BYTES).unwrap_or(usize::MAX);
        match is_too_large(limit) {
            true => {
                let mut diagnostic = self.diagnostic(too_large(limit));
                diagnostic.remark("help", "the command `indim lint` reads larger files");
                Err(Refusal::new(&diagnostic))
            }
            false => Ok(ReadStage::Whole(bytes.to_vec())),
        }
    }

    /// Makes the report, unless external files can add to it first.
    fn lint(&mut self, source: SourceFile) -> Result<(), Box<Refusal>> {
        self.format = ModelFormat::of(source.bytes()).map_or("", ModelFormat::name);
        let source = source.with_folder(self.external.clone());
        let limits = FormatLimits { depth: MAX_DEPTH, ..FormatLimits::default() };
        let options = LintOptions::new().read(ReadOptions::new().limits(limits));
        let report = LintReport::new(source.clone(), &options);
        let report = report.map_err(|error| Refusal::new(&error.diagnostic()))?;
        let missing = self.external.next_missing();
        match missing.filter(|_| self.rounds < MAX_ROUNDS) {
            Some((name, range)) => {
                self.rounds += 1;
                self.stage = ReadStage::External(source, name, range);
            }
            None => self.report = Some(report),
        }
        Ok(())
    }

    fn refuse(&self, kind: FormatErrorKind) -> Box<Refusal> {
        Refusal::new(&self.diagnostic(kind))
    }

    fn refuse_error(&self, error: &FormatError) -> Box<Refusal> {
        Refusal::new(&error.diagnostic(&SourceFile::new(&*self.name, "")))
    }

    /// The report of an error of the whole file, as the command prints it.
    fn diagnostic(&self, kind: FormatErrorKind) -> Diagnostic {
        kind.without_location().diagnostic(&SourceFile::new(&*self.name, ""))
    }
}

fn bad_request(message: &str) -> Box<Refusal> {
    Refusal::new(&Diagnostic::new(ErrorCode::BAD_REQUEST, message.to_owned()))
}
