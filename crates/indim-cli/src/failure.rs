//! Why a command ends without success, and with which exit code.

use std::process::ExitCode;

/// The message for standard error, by whose mistake it is.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is at fault: exit code 1.
    Input(String),
    /// The arguments do not go together, which clap cannot see: exit code 2, as clap's own.
    Usage(String),
}

impl Failure {
    /// Says what went wrong; the answer is the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Failure::Input(message) => {
                eprintln!("{}", message.trim_end());
                ExitCode::FAILURE
            }
            Failure::Usage(message) => {
                eprintln!("error: {message}\n\nFor more information, try '--help'.");
                ExitCode::from(2)
            }
        }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::Input(message)
    }
}
