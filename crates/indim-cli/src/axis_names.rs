//! Axis names of inputs: in types, `x=f32[time: 8760, lat: 721]`, after sources, `x=x.npy[time, lat]`,
//! and in files that store them.

use std::path::Path;

use indim::DType;
use indim::broadcast::{AxisNames, RuleChoice};
use indim::errors::Diagnostic;
use indim::explain::check_axis_names;
use indim_text::{parse_array_type, split_trailing_axis_names};

use crate::source::OpenOperand;

/// Splits `x.npy[time, lat]` into the source and its axis names.
pub(crate) fn split_source(source: &str) -> (&str, Option<AxisNames>) {
    match split_trailing_axis_names(source) {
        // Types, and names of existing files, are not split.
        Some((plain, names))
            if plain.trim().parse::<DType>().is_err()
                && parse_array_type(source).is_err()
                && !Path::new(source).exists() =>
        {
            (plain, Some(names))
        }
        _ => (source, None),
    }
}

/// The axis names of an opened source: those of the argument, else those of the file.
pub(crate) fn axis_names_of(
    source: &OpenOperand,
    argument_names: Option<AxisNames>,
) -> Option<AxisNames> {
    let file_names = || {
        let names = source.stored_source()?.axis_names()?;
        Some(names.iter().map(String::as_str).collect())
    };
    argument_names.or_else(file_names)
}

/// Refuses axis names in the argument for `name` under a rule that ignores names.
pub(crate) fn check_rule(name: &str, rule: RuleChoice) -> Result<(), Diagnostic> {
    check_axis_names(name, rule, "--rule named")
}
