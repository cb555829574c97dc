//! Why a command ends without success, and with which exit code.

use std::process::ExitCode;

use indim::Diagnostic;

use crate::output::{say, tell};
use crate::report::Report;

/// The message for standard error, by whose mistake it is.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is at fault: exit code 1.
    Input(Report),
    /// So too, and it has been said: exit code 1.
    Told,
    /// The arguments do not go together, which clap cannot see: exit code 2, as clap's own.
    Usage(String),
}

impl Failure {
    /// Says what went wrong; the answer is the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Failure::Input(report) => {
                tell(report.diagnostic());
                ExitCode::FAILURE
            }
            Failure::Told => ExitCode::FAILURE,
            Failure::Usage(message) => {
                say(&format!("error: {message}\n\nFor more information, try '--help'."));
                ExitCode::from(2)
            }
        }
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Failure::Input(diagnostic.into())
    }
}

impl From<Report> for Failure {
    fn from(report: Report) -> Self {
        Failure::Input(report)
    }
}
