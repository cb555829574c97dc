//! Failures of a command, and their exit codes.

use std::process::ExitCode;

use indim::errors::Diagnostic;

use crate::output::{print_diagnostic, print_message};
use crate::report::Report;

/// The exit code of a broken invariant: `EX_SOFTWARE` of `sysexits.h`.
const INTERNAL_EXIT_CODE: u8 = 70;

/// A failure, by its cause, with the message for standard error.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is at fault: exit code 1.
    Input(Report),
    /// The input is at fault, and the message has been printed: exit code 1.
    AlreadyReported,
    /// Arguments contradict each other in a way that clap cannot check: exit code 2, like clap's own.
    Usage(String),
    /// An invariant of indim is broken: exit code 70, `EX_SOFTWARE` of `sysexits.h`.
    Internal(Diagnostic),
}

impl Failure {
    /// Prints the message and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Failure::Input(report) => {
                print_diagnostic(report.diagnostic());
                ExitCode::FAILURE
            }
            Failure::AlreadyReported => ExitCode::FAILURE,
            Failure::Usage(message) => {
                print_message(&format!("error: {message}\n\nFor more information, try '--help'."));
                ExitCode::from(2)
            }
            Failure::Internal(diagnostic) => {
                print_diagnostic(diagnostic);
                ExitCode::from(INTERNAL_EXIT_CODE)
            }
        }
    }
}

/// Runs a command; a panic becomes [`Failure::Internal`].
pub(crate) fn guard(command: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    indim::internal_error::catch(command).unwrap_or_else(|panic| Err(Failure::Internal(panic)))
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

#[cfg(test)]
mod tests {
    use std::process::ExitCode;

    use super::{Failure, INTERNAL_EXIT_CODE, guard};

    #[test]
    fn a_panic_is_an_internal_error_with_an_exit_code_of_its_own() {
        let failure = guard(|| panic!("invariant: the sizes agree")).unwrap_err();
        let Failure::Internal(diagnostic) = &failure else { panic!("{failure:?}") };
        let text = diagnostic.to_string();
        assert!(text.starts_with("error[internal-error]: invariant: the sizes agree"), "{text}");
        assert!(text.contains("report it"), "{text}");
        assert_eq!(
            format!("{:?}", failure.report()),
            format!("{:?}", ExitCode::from(INTERNAL_EXIT_CODE))
        );
        assert!(guard(|| Ok(())).is_ok());
    }
}
