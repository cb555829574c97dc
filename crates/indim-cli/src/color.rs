//! Colours of messages, chosen by `--color`; by default on terminals, unless `NO_COLOR` is set.

use std::ffi::OsString;
use std::sync::OnceLock;

use anstream::ColorChoice;
use clap::{Args, ValueEnum};

/// The condition for colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ColorMode {
    /// On a terminal, unless the environment has NO_COLOR or TERM=dumb.
    Auto,
    /// Everywhere, also in a file or a pipe.
    Always,
    /// Nowhere.
    Never,
}

/// The option of all commands.
#[derive(Debug, Args)]
pub(crate) struct Color {
    /// Colours of messages and help.
    // `set_choice` has already read it, so that errors of the arguments are coloured too.
    #[arg(
        id = "color",
        long = "color",
        global = true,
        value_name = "WHEN",
        default_value = "auto"
    )]
    _when: ColorMode,
}

static CHOICE: OnceLock<ColorChoice> = OnceLock::new();

/// The choice that `set_choice` has stored; automatic if none is stored.
pub(crate) fn choice() -> ColorChoice {
    *CHOICE.get().unwrap_or(&ColorChoice::Auto)
}

/// Stores the choice of the last `--color` among the arguments. It is read before clap parses them, so
/// that clap's errors are coloured too.
pub(crate) fn set_choice(arguments: impl Iterator<Item = OsString>) {
    let arguments: Vec<String> =
        arguments.map(|argument| argument.to_string_lossy().into_owned()).collect();
    let before_operands = arguments.iter().take_while(|argument| *argument != "--");
    let given = before_operands.enumerate().filter_map(|(at, argument)| {
        match argument.strip_prefix("--color")? {
            "" => arguments.get(at + 1).map(String::as_str),
            value => value.strip_prefix('='),
        }
    });
    let _ = CHOICE.set(match given.last() {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    });
}
