//! The command `indim`. One file per subcommand, each a thin layer over the library.
//!
//! Exit codes: 0 for success; 1 for an error in the input; 2 for wrong usage, as in clap; 70 for a broken
//! invariant.
//!
//! - `axis_names.rs`: axis names of inputs: in types, `x=f32[time: 8760, lat: 721]`, after sources,
//!   `x=x.npy[time, lat]`, and in files that store them;
//! - `bare.rs`: a rule and its attributes without an operation, as `explain` and `convert` take them;
//! - `byte_size.rs`: sizes in bytes as arguments: `4096`, `512MiB`, `1.5GiB`, `2GB`;
//! - `check.rs`: `indim check`: runs programs that contain their expected results, and compares;
//! - `color.rs`: colours of messages, chosen by `--color`; by default on terminals, unless `NO_COLOR` is
//!   set;
//! - `compare.rs`: `indim compare`: compares a model with the values of another runtime;
//! - `computation.rs`: runs a computation over sources on threads, with a progress bar, and delivers results;
//! - `convert.rs`: `indim convert`: translates a broadcast between rule sets, or a program between formats;
//! - `convert_program.rs`: `indim convert FILE`: translates a program between formats;
//! - `convert_reduction.rs`: `indim convert-reduction`: translates the axes of a reduction between systems;
//! - `destination.rs`: destinations of results: a file, in the format of its name, or standard output;
//! - `error_page.rs`: `indim explain --code`: the page of an error code;
//! - `eval.rs`: `indim eval`: an expression over files, literals and standard input, printed or written to
//!   files;
//! - `explain.rs`: `indim explain`: explains an expression or a bare rule, as text, as JSON, as a drawing;
//! - `expression.rs`: expressions as arguments, and their graphs; for `indim eval` and `indim explain`;
//! - `failure.rs`: failures of a command, and their exit codes;
//! - `kit.rs`: kits of cases for testing other systems, in a folder;
//! - `lint.rs`: `indim lint`: broadcasts of models that are illegal, unknown or probably unintended;
//! - `model.rs`: a program in a file of another system, and the bindings of its inputs; for `indim run`,
//!   `indim explain` and `indim convert`;
//! - `ops.rs`: `indim ops`: the operations and functions, with their types, accuracy and other names;
//! - `oracle.rs`: `indim oracle`: reads a stream of cases, writes a stream of verdicts;
//! - `output.rs`: output of commands: results on standard output, warnings on standard error;
//! - `outputs.rs`: the outputs of `-o`: a destination for each result;
//! - `program.rs`: computes a program over sources, as a whole or piece by piece, and prints or writes its
//!   results;
//! - `progress.rs`: progress of a command, drawn on the terminal if it takes long enough;
//! - `report.rs`: an error in the input, for people and for programs;
//! - `rule.rs`: the rules as options of the command line;
//! - `run.rs`: `indim run`: a program in a file of another system, over files, literals and standard input;
//! - `shell.rs`: `indim completions` and `indim man`: completions and manual pages, made from the arguments;
//! - `show.rs`: printing of results: in NumPy's form, as CSV, or as JSON;
//! - `signals.rs`: handlers of signals that would end the command without a message, or leave files behind;
//! - `source.rs`: sources of operands: a file, a member of an archive, a literal, or standard input;
//! - `streamed.rs`: computations over files larger than memory, piece by piece;
//! - `timing.rs`: `--timing`: how long each phase of a command takes.
//!
//! Unsafe code stands only in `signals.rs`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![deny(unsafe_code)]

mod axis_names;
mod bare;
mod byte_size;
mod check;
mod color;
mod compare;
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
mod lint;
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

/// Compile and run programs on n-dimensional arrays in which every broadcast is explicit, checked and free.
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
    Compare(compare::Compare),
    Explain(explain::Explain),
    Lint(lint::Lint),
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
        Command::Compare(compare) => compare.run(),
        Command::Explain(explain) => explain.run(),
        Command::Lint(lint) => lint.run(),
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

/// Prints clap's help or version unchanged, but its errors, which quote arguments, with control characters
/// escaped.
fn refuse(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        error.exit();
    }
    output::print_message(&error.render().to_string());
    ExitCode::from(2)
}
