//! A program in a file of another system, and what its inputs are bound to; for `indim run`,
//! `indim explain` and `indim convert`.

use std::path::Path;

use indim::Diagnostic;
use indim::formats::{Bound, Format, LoadError, LoadedModel, ReadOptions, Source};
use indim_graph::terminal::shown;

use crate::source::{Source as Operand, in_binding};
use indim_text::parse_array_type;

/// Loads the program in a file.
pub(crate) fn load(path: &Path, function: Option<&str>) -> Result<LoadedModel, Diagnostic> {
    let source = open(path)?;
    if source.pieces().len() > 1 && Format::of(source.bytes()) == Some(Format::StableHlo) {
        let message = format!("{}: the file holds several programs", shown(source.name()));
        let mut several = Diagnostic::new("several-programs", message);
        several.help("`indim check` runs those that say themselves what they give");
        return Err(several);
    }
    let function = function.map(str::to_owned);
    let options = ReadOptions { function, ..ReadOptions::default() };
    LoadedModel::from_source(source, &options).map_err(|error| error.diagnostic())
}

/// Opens a file that may hold programs.
pub(crate) fn open(path: &Path) -> Result<Source, Diagnostic> {
    Source::open(path).map_err(|error| {
        let path = shown(&path.to_string_lossy());
        Diagnostic::new("io", format!("{path}: {error}"))
    })
}

/// Whether this can only be the path of a program: the file is there, or the name ends as those of programs.
pub(crate) fn is_path(text: &str) -> bool {
    let path = Path::new(text);
    Format::names_a_program(path) || path.is_file()
}

/// Which argument each input is bound to: `NAME=SOURCE`, or by its position among those without a name.
pub(crate) fn bind<'m, 'a>(
    model: &'m LoadedModel,
    arguments: &'a [String],
) -> Result<Vec<(&'m str, Option<&'a str>)>, Diagnostic> {
    let inputs = model.inputs();
    let mut bound: Vec<(&str, Option<&str>)> =
        inputs.iter().map(|input| (input.name.as_str(), None)).collect();
    let mut positional = Vec::new();
    for argument in arguments {
        let named = argument.split_once('=');
        let place = named.and_then(|(name, _)| bound.iter().position(|(known, _)| *known == name));
        match (named, place) {
            (Some((name, source)), Some(place)) => {
                if bound[place].1.replace(source).is_some() {
                    let message = format!("the input `{}` is bound twice", shown(name));
                    return Err(Diagnostic::new("duplicate-name", message));
                }
            }
            (Some((name, _)), None) if !Path::new(argument.as_str()).exists() => {
                return Err(unknown_input(name, model));
            }
            _ => positional.push(argument.as_str()),
        }
    }
    let mut free = bound.iter_mut().filter(|(_, source)| source.is_none());
    for source in positional {
        match free.next() {
            Some(place) => place.1 = Some(source),
            None => {
                let message = format!("`{}` is one input too many", shown(source));
                let mut surplus = Diagnostic::new("input-count", message);
                surplus.help(described_inputs(model));
                return Err(surplus);
            }
        }
    }
    Ok(bound)
}

/// What the inputs are, by their types: those of arguments, else those that the file declares.
pub(crate) fn declared_inputs(
    model: &LoadedModel,
    arguments: &[String],
) -> Result<Vec<Bound>, Diagnostic> {
    let given = bind(model, arguments)?.into_iter().enumerate();
    let bound = given.map(|(index, (_, given))| match (given, &model.inputs()[index]) {
        (Some(given), _) => bound_input(model, index, given),
        (None, input) if input.has_default => Ok(Bound::Default),
        // One whose type the file leaves open is found missing.
        (None, input) => Ok(input.array_type().map_or(Bound::Default, Bound::Type)),
    });
    bound.collect()
}

/// What an input of a program is given: elements where it says shapes, else a type is enough.
fn bound_input(model: &LoadedModel, index: usize, given: &str) -> Result<Bound, Diagnostic> {
    let input = &model.inputs()[index];
    let bound = match parse_array_type(given) {
        Ok(array_type) => Ok(Bound::Type(array_type)),
        Err(_) if input.is_shape => Operand::open(given, usize::MAX).and_then(|source| {
            model.bound_input(index, &source.view()).map_err(|error| error.diagnostic())
        }),
        Err(_) => Operand::type_of(given).map(|(array_type, _)| Bound::Type(array_type)),
    };
    bound.map_err(|error| in_binding(&input.name, error))
}

fn unknown_input(name: &str, model: &LoadedModel) -> Diagnostic {
    let message = format!("no input is called `{}`", shown(name));
    let mut unknown = Diagnostic::new("unknown-name", message);
    unknown.help(described_inputs(model));
    unknown
}

/// `the inputs are x: f32[N, 3], shape: i64[2]`.
pub(crate) fn described_inputs(model: &LoadedModel) -> String {
    let inputs = model.inputs().iter();
    let described: Vec<String> =
        inputs.map(|input| format!("{}: {}", shown(&input.name), input.declared())).collect();
    match described.is_empty() {
        true => "the program takes no inputs".to_owned(),
        false => format!("the inputs are {}", described.join(", ")),
    }
}

/// The error of a program, with its inputs where one is missing.
pub(crate) fn refused(error: &LoadError, model: &LoadedModel) -> Diagnostic {
    let mut diagnostic = error.diagnostic();
    if error.code().starts_with("input-") {
        diagnostic.help(described_inputs(model));
    }
    diagnostic
}
