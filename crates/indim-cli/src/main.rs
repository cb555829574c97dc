//! The command `indim`. One file per subcommand; what they do is in the library.
//!
//! Exit codes: 0; 1 for an error in the input; 2 for wrong usage (clap's own); 70 for a broken invariant.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![deny(unsafe_code)]

mod axis_names;
mod bare;
mod byte_size;
mod check;
mod color;
mod computation;
mod convert;
mod convert_program;
mod convert_reduction;
mod destination;
mod error_page;
mod eval;
mod explain;
mod expression;
mod failure;
mod kit;
mod model;
mod ops;
mod oracle;
mod output;
mod outputs;
mod program;
mod progress;
mod report;
mod rule;
mod run;
mod shell;
mod show;
#[allow(unsafe_code)]
mod signals;
mod source;
mod streamed;
mod timing;

use std::process::ExitCode;

use anstream::ColorChoice;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Element-wise computation on n-dimensional arrays in which every broadcast is explicit, checked
/// and free.
#[derive(Debug, Parser)]
#[command(name = "indim", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    _color: color::Color,
}

#[derive(Debug, Subcommand)]
enum Command {
    Eval(eval::Eval),
    Run(run::Run),
    Check(check::Check),
    Explain(explain::Explain),
    Convert(convert::Convert),
    ConvertReduction(convert_reduction::ConvertReduction),
    Ops(ops::Ops),
    Oracle(oracle::Oracle),
    Completions(shell::Completions),
    #[command(name = "man")]
    Manual(shell::Manual),
}

fn main() -> ExitCode {
    indim::internal_error::install_hook();
    color::set_choice(std::env::args_os());
    let arguments = match parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    let result = failure::guard(|| match arguments.command {
        Command::Eval(eval) => eval.run(),
        Command::Run(run) => run.run(),
        Command::Check(check) => check.run(),
        Command::Explain(explain) => explain.run(),
        Command::Convert(convert) => convert.run(),
        Command::ConvertReduction(convert) => convert.run(),
        Command::Ops(ops) => ops.run(),
        Command::Oracle(oracle) => oracle.run().map_err(Into::into),
        Command::Completions(completions) => completions.run(Arguments::command()),
        Command::Manual(manual) => manual.run(Arguments::command()),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// The arguments; help is coloured as messages are.
fn parse() -> Result<Arguments, clap::Error> {
    let choice = match color::choice() {
        ColorChoice::Always | ColorChoice::AlwaysAnsi => clap::ColorChoice::Always,
        ColorChoice::Never => clap::ColorChoice::Never,
        ColorChoice::Auto => clap::ColorChoice::Auto,
    };
    let matches = Arguments::command().color(choice).try_get_matches()?;
    Arguments::from_arg_matches(&matches)
}

/// What clap says instead of arguments: help and the version as it has them, and its errors, which
/// repeat arguments, as everything on standard error.
fn refuse(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        error.exit();
    }
    output::say(&error.render().to_string());
    ExitCode::from(2)
}
