//! A program in a file of another system, and the bindings of its inputs; for `indim run`,
//! `indim explain` and `indim convert`.

use std::path::Path;

use indim::errors::{Diagnostic, ErrorCode};
use indim::formats::{
    DeclaredSize, FormatErrorKind, InputBinding, LoadError, LoadErrorKind, LoadedModel,
    ModelFormat, ModelInput, ReadOptions, SourceFile, StagedModel, ValueType, open_model,
};
use indim::{ArrayType, DType, Shape};
use indim_graph::terminal::printable;

use crate::program::shell_quoted;
use crate::source::{LoadedOperand as Operand, in_binding};
use indim_text::parse_array_type;

/// The maximum number of elements of a written example input.
const EXAMPLE_ELEMENTS: usize = 8;

/// The maximum number of values that a refused program asks for in one line.
const MAX_LISTED_VALUES: usize = 8;

/// Loads the program in a file.
pub(crate) fn load(path: &Path, function: Option<&str>) -> Result<LoadedModel, Diagnostic> {
    let function = function.map(str::to_owned);
    read(path, &ReadOptions::new().function(function))?.map_err(|it| it.diagnostic())
}

/// Loads a program, or a part of it, to run it. An error says how to run the rest of the program.
pub(crate) fn load_to_run(path: &Path, options: &ReadOptions) -> Result<StagedModel, Diagnostic> {
    StagedModel::from_source(open_one(path)?, options).map_err(|error| {
        let mut diagnostic = error.diagnostic();
        let option =
            |(name, _): &(String, ValueType)| format!("--from {}=FILE.npy", shell_quoted(name));
        let options: Vec<String> =
            error.values_to_provide().iter().take(MAX_LISTED_VALUES).map(option).collect();
        if !options.is_empty() {
            diagnostic.help(format!("compute them elsewhere and write {}", options.join(" ")));
        }
        diagnostic
    })
}

/// Reads the program in a file.
fn read(path: &Path, options: &ReadOptions) -> Result<Result<LoadedModel, LoadError>, Diagnostic> {
    Ok(LoadedModel::from_source(open_one(path)?, options))
}

/// Opens a file that may hold one program.
pub(crate) fn open_one(path: &Path) -> Result<SourceFile, Diagnostic> {
    let source = open(path)?;
    if source.pieces().len() > 1 && ModelFormat::of(source.bytes()) == Some(ModelFormat::StableHlo)
    {
        let message = format!("{}: the file holds several programs", printable(source.name()));
        let mut error = Diagnostic::new(ErrorCode::SEVERAL_PROGRAMS, message);
        error.help("`indim check` runs those that say themselves what they give");
        return Err(error);
    }
    Ok(source)
}

/// Opens a file that may hold programs.
pub(crate) fn open(path: &Path) -> Result<SourceFile, Diagnostic> {
    open_model(path).map_err(|error| {
        let path = printable(&path.to_string_lossy());
        Diagnostic::new(ErrorCode::IO, format!("{path}: {error}"))
    })
}

/// Whether the argument can only be the path of a program: the file exists, or the name has an ending of
/// programs.
pub(crate) fn is_path(text: &str) -> bool {
    let path = Path::new(text);
    ModelFormat::has_program_extension(path) || path.is_file()
}

/// Binds arguments to inputs: `NAME=SOURCE`, or by position among arguments without a name.
pub(crate) fn bind<'m, 'a>(
    inputs: &'m [ModelInput],
    arguments: &'a [String],
) -> Result<Vec<(&'m str, Option<&'a str>)>, Diagnostic> {
    let mut bound: Vec<(&str, Option<&str>)> =
        inputs.iter().map(|input| (input.name.as_str(), None)).collect();
    let mut positional = Vec::new();
    for argument in arguments {
        let named = argument.split_once('=');
        let position =
            named.and_then(|(name, _)| bound.iter().position(|(known, _)| *known == name));
        match (named, position) {
            (Some((name, source)), Some(position)) => {
                if bound[position].1.replace(source).is_some() {
                    let message = format!("the input `{}` is bound twice", printable(name));
                    return Err(Diagnostic::new(ErrorCode::DUPLICATE_NAME, message));
                }
            }
            (Some((name, _)), None) if !Path::new(argument.as_str()).exists() => {
                return Err(unknown_input(name, inputs));
            }
            _ => positional.push(argument.as_str()),
        }
    }
    let mut unbound = bound.iter_mut().filter(|(_, source)| source.is_none());
    for source in positional {
        match unbound.next() {
            Some(slot) => slot.1 = Some(source),
            None => {
                let message = format!("`{}` is one input too many", printable(source));
                let mut error = Diagnostic::new(ErrorCode::INPUT_COUNT, message);
                error.help(inputs_text(inputs));
                return Err(error);
            }
        }
    }
    Ok(bound)
}

/// The input types: those of the arguments, else those declared in the file.
pub(crate) fn declared_inputs(
    model: &LoadedModel,
    arguments: &[String],
) -> Result<Vec<InputBinding>, Diagnostic> {
    let argument = bind(model.inputs(), arguments)?.into_iter().enumerate();
    let bound = argument.map(|(index, (_, argument))| match (argument, &model.inputs()[index]) {
        (Some(argument), _) => bind_input(model, index, argument),
        (None, input) if input.has_default => Ok(InputBinding::Default),
        // The build reports an input without a declared type as missing.
        (None, input) => Ok(input.array_type().map_or(InputBinding::Default, InputBinding::Type)),
    });
    bound.collect()
}

/// The binding of an input: elements if shapes depend on it, else a type.
fn bind_input(
    model: &LoadedModel,
    index: usize,
    argument: &str,
) -> Result<InputBinding, Diagnostic> {
    let input = &model.inputs()[index];
    let bound = match parse_array_type(argument) {
        Ok(array_type) => Ok(InputBinding::Type(array_type)),
        Err(_) if input.is_shape => Operand::open(argument, usize::MAX).and_then(|source| {
            model.bound_input(index, &source.view()).map_err(|error| error.diagnostic())
        }),
        Err(_) => Operand::declared_type_of(argument, input.dtype).map(InputBinding::Type),
    };
    bound.map_err(|error| in_binding(&input.name, error))
}

fn unknown_input(name: &str, inputs: &[ModelInput]) -> Diagnostic {
    let message = format!("no input is called `{}`", printable(name));
    let mut error = Diagnostic::new(ErrorCode::UNKNOWN_NAME, message);
    error.help(inputs_text(inputs));
    error
}

/// `the inputs are x: f32[N, 3], shape: i64[2]`.
pub(crate) fn inputs_text(inputs: &[ModelInput]) -> String {
    let descriptions: Vec<String> = inputs
        .iter()
        .map(|input| format!("{}: {}", printable(&input.name), input.declared()))
        .collect();
    match descriptions.is_empty() {
        true => "the program takes no inputs".to_owned(),
        false => format!("the inputs are {}", descriptions.join(", ")),
    }
}

/// The error of a program; if an input is missing or of another type, with a list of all inputs.
pub(crate) fn load_diagnostic(error: &LoadError, model: &LoadedModel) -> Diagnostic {
    let mut diagnostic = error.diagnostic();
    if error.code().starts_with("input-") {
        diagnostic.help(inputs_text(model.inputs()));
    }
    if let Some(missing) = missing_input(error, model) {
        let name = printable(&missing.name);
        let literal = example(missing).map(|it| format!(", or elements: {name}='{it}'"));
        diagnostic.help(format!("write {name}=FILE.npy{}", literal.unwrap_or_default()));
    }
    diagnostic
}

/// The input that the error reports as missing.
fn missing_input<'m>(error: &LoadError, model: &'m LoadedModel) -> Option<&'m ModelInput> {
    let LoadErrorKind::Format(error) = &error.kind else { return None };
    let FormatErrorKind::InputMissing { name, .. } = &error.kind else { return None };
    model.inputs().iter().find(|input| input.name == *name)
}

/// A short literal of an input's type: `f32([[1, 2]])`. An open size is 1, or 2 along the last axis.
fn example(input: &ModelInput) -> Option<String> {
    let sizes = input.sizes.as_deref()?;
    let size = |(axis, size): (usize, &DeclaredSize)| match size {
        DeclaredSize::Known(size) => *size,
        _ if axis + 1 == sizes.len() => 2,
        _ => 1,
    };
    let sizes: Vec<usize> = sizes.iter().enumerate().map(size).collect();
    let count = sizes.iter().try_fold(1, |count: usize, size| count.checked_mul(*size))?;
    let element = |position: usize| match input.dtype {
        Some(DType::Bool) => "true".to_owned(),
        _ => (position + 1).to_string(),
    };
    let mut items: Vec<String> = (0..count).take(EXAMPLE_ELEMENTS + 1).map(element).collect();
    if items.len() != count || count == 0 {
        return None;
    }
    for size in sizes.iter().rev() {
        items = items.chunks(*size).map(|list| format!("[{}]", list.join(", "))).collect();
    }
    let dtype = input.dtype.filter(|dtype| *dtype != DType::Bool);
    Some(match dtype {
        Some(dtype) => format!("{dtype}({})", items.concat()),
        None => items.concat(),
    })
}

/// The error that the program gives for inputs of its declared types, with 1 for open sizes; `None` if
/// it gives none, or only an error about inputs, or if an input declares no element type or no rank. For
/// a program with open sizes, only an error that no choice of sizes avoids counts: one that is out of
/// scope.
pub(crate) fn program_error(model: &LoadedModel) -> Option<LoadError> {
    let is_open = |input: &ModelInput| !input.has_default && input.array_type().is_none();
    let has_open = model.inputs().iter().any(is_open);
    let bound = |input: &ModelInput| match input.has_default {
        true => Some(InputBinding::Default),
        false => Some(InputBinding::Type(type_with_ones(input)?)),
    };
    let inputs: Option<Vec<InputBinding>> = model.inputs().iter().map(bound).collect();
    let error = model.program(&inputs?).err()?;
    let is_of_program = !error.code().starts_with("input-");
    (is_of_program && (!has_open || error.is_out_of_scope())).then_some(error)
}

/// The declared type, with 1 for open sizes.
fn type_with_ones(input: &ModelInput) -> Option<ArrayType> {
    let size = |size: &DeclaredSize| if let DeclaredSize::Known(size) = size { *size } else { 1 };
    let shape: Shape = input.sizes.as_ref()?.iter().map(size).collect();
    Some(ArrayType::new(input.dtype?, shape))
}
