//! `indim completions` and `indim man`: completions and manual pages, made from the arguments.

use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use indim::errors::{Diagnostic, ErrorCode};
use indim_text::catalogue::entries;

use crate::failure::Failure;
use crate::output::print;

/// Print the completion script for a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  indim completions bash > ~/.local/share/bash-completion/completions/indim
  indim completions zsh > \"${fpath[1]}/_indim\"
  indim completions fish > ~/.config/fish/completions/indim.fish")]
pub(crate) struct Completions {
    /// The shell that reads the script.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Runs the command; `command` is all of `indim`.
    pub(crate) fn run(&self, command: Command) -> Result<(), Failure> {
        // `indim ops` itself accepts any text, and suggests a near name.
        let names = PossibleValuesParser::new(entries().map(|entry| entry.name));
        let mut command = command
            .mut_subcommand("ops", |ops| ops.mut_arg("name", |name| name.value_parser(names)));
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut command, "indim", &mut text);
        if self.shell == Shell::Fish {
            // The generator for fish omits the values of operands.
            let names: Vec<&str> = entries().map(|entry| entry.name).collect();
            let line = format!(
                "complete -c indim -n \"__fish_indim_using_subcommand ops\" -f -a \"{}\"\n",
                names.join(" ")
            );
            text.extend(line.bytes());
        }
        Ok(print(&text)?)
    }
}

/// Print the manual page of indim, or of one of its commands, in the format of `man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  indim man > ~/.local/share/man/man1/indim.1
  indim man eval > ~/.local/share/man/man1/indim-eval.1
  indim man | man -l -")]
pub(crate) struct Manual {
    /// The command; without it, the page of indim itself.
    #[arg(value_name = "COMMAND")]
    of: Option<String>,
}

impl Manual {
    /// Runs the command; `command` is all of `indim`.
    pub(crate) fn run(&self, mut command: Command) -> Result<(), Failure> {
        // Names and usages of subcommands begin with `indim`.
        command.build();
        let page = match &self.of {
            None => command,
            Some(of) => {
                let usage =
                    || Failure::Usage(format!("no command is called `{}`", of.escape_debug()));
                command.find_subcommand(of).cloned().ok_or_else(usage)?
            }
        };
        let mut text = Vec::new();
        let written = Man::new(page).render(&mut text);
        written.map_err(|error| Diagnostic::new(ErrorCode::IO, error.to_string()))?;
        Ok(print(&text)?)
    }
}
