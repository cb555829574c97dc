//! `indim lint`: finds broadcasts of models that are illegal, unknown or probably unintended.

use std::path::{Path, PathBuf};

use clap::Args;
use indim::errors::{Diagnostic, ErrorCode};
use indim::formats::{LintOptions, LintReport, OutlineOptions, SarifLog, ValueType};
use indim_graph::terminal::printable;

use crate::failure::Failure;
use crate::model::open;
use crate::output::{print, print_diagnostic};

/// Find broadcasts in models that are illegal, unknown or probably unintended, without running them.
#[derive(Debug, Args)]
#[command(after_help = "\
Each finding has a code: `indim explain --code CODE` explains it, and `--allow CODE` hides it. The types of
nodes that indim does not compute come from a shape rule, from the file, or from --declare.

  indim lint model.onnx
  indim lint *.onnx --strict --json
  indim lint models/*.onnx --sarif > findings.sarif
  indim lint model.onnx --declare 'foo_y=f32[2, N]' --allow outer-product")]
pub(crate) struct Lint {
    /// Models: StableHLO, HLO, OpenVINO IR or ONNX.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
    /// Print a SARIF 2.1.0 log, for review tools.
    #[arg(long, conflicts_with = "json")]
    sarif: bool,
    /// Exit with 1 also if indim cannot tell whether a broadcast is legal, unless `--allow unknown-type`
    /// hides this finding.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    declared: DeclareArgs,
    /// Hide findings with this code: they do not change the exit status, but the last line still counts
    /// their broadcasts. Repeat the option for several codes.
    #[arg(long, value_name = "CODE")]
    allow: Vec<ErrorCode>,
}

/// Types that the user declares for values of a file.
#[derive(Debug, Args)]
pub(crate) struct DeclareArgs {
    /// The type of a value that neither the file nor a shape rule gives, such as 'y=f32[2, N]'. A file
    /// without this value is an error. Repeat the option for several values.
    #[arg(long = "declare", value_name = "NAME=TYPE")]
    declared: Vec<String>,
}

impl DeclareArgs {
    /// The declared types by their names.
    pub(crate) fn options(&self) -> Result<OutlineOptions, Failure> {
        let parse = |text: &String| {
            let declared = text.rsplit_once('=').and_then(|(name, value_type)| {
                Some((name.to_owned(), ValueType::parse(value_type, name)?))
            });
            declared.ok_or_else(|| {
                Failure::Usage(format!(
                    "--declare takes NAME=TYPE, as in 'y=f32[2, N]': {}",
                    printable(text)
                ))
            })
        };
        let types: Vec<_> = self.declared.iter().map(parse).collect::<Result<_, _>>()?;
        Ok(OutlineOptions::new().declared(types))
    }
}

impl Lint {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let options =
            LintOptions::new().outline(self.declared.options()?).allowed(self.allow.clone());
        let mut passes = true;
        let (mut reports, mut log) = (Vec::new(), SarifLog::default());
        for file in &self.files {
            let report = report(file, &options);
            passes &= report.as_ref().is_ok_and(|report| report.passes(self.strict));
            match report {
                Ok(report) if self.sarif => log.add(&report),
                Ok(report) if self.json => reports.push(report.to_json()),
                Ok(report) => print(report.to_string().as_bytes())?,
                Err(error) if self.sarif => log.add_refused(&file.to_string_lossy(), &error),
                Err(error) if self.json => reports.push(refused_json(file, &error)),
                Err(error) => print_diagnostic(&error),
            }
        }
        if self.json {
            print(format!("{{\"files\":[{}]}}\n", reports.join(",")).as_bytes())?;
        }
        if self.sarif {
            print(format!("{log}\n").as_bytes())?;
        }
        if passes { Ok(()) } else { Err(Failure::AlreadyReported) }
    }
}

/// The findings about a file.
pub(crate) fn report(file: &Path, options: &LintOptions) -> Result<LintReport, Diagnostic> {
    LintReport::new(open(file)?, options).map_err(|error| error.diagnostic())
}

/// A file that cannot be read, as JSON.
fn refused_json(file: &Path, diagnostic: &Diagnostic) -> String {
    serde_json::json!({
        "file": printable(&file.to_string_lossy()),
        "error": {
            "code": diagnostic.code.as_str(),
            "level": "error",
            "place": diagnostic.location,
            "message": diagnostic.headline,
        },
    })
    .to_string()
}
