//! Writes programs of files; nodes that indim cannot compute or write are copied into a file of the same
//! format.

use indim::formats::{LoadError, LoadedModel, ProgramPart, ReadOptions, SourceFile, open_model};
use pyo3::prelude::*;

use crate::error::load_error;
use crate::internal_error::guard;
use crate::model::bind_declared_inputs;
use crate::written::{Destination, ExportParts};

/// Writes the program in a file, or in `content`, which has nodes that indim cannot compute. `inputs` are
/// arrays or types by their names.
#[pyfunction]
#[pyo3(signature = (path, content, function, part, destination, inputs))]
pub(crate) fn _write_carried<'py>(
    py: Python<'py>,
    path: &str,
    content: Option<Vec<u8>>,
    function: Option<String>,
    part: (Vec<String>, Vec<String>),
    destination: Destination,
    inputs: Vec<NamedInput<'py>>,
) -> PyResult<ExportParts<'py>> {
    guard(py, || {
        let source = match content {
            Some(content) => SourceFile::new(path, content),
            None => py.detach(|| open_model(path))?,
        };
        let part = ProgramPart { from: part.0, to: part.1 };
        let read = ReadOptions::new().function(function).part(part);
        let model = py.detach(|| LoadedModel::from_source(source.clone(), &read));
        let model = model.as_ref().map_err(LoadError::clone);
        write_or_carry(py, model, (&source, &read), &inputs, &destination)
    })
}

/// An input by its name: an array or a type, or `None` for the declared type.
pub(crate) type NamedInput<'py> = (String, Option<Bound<'py, PyAny>>);

/// Writes a program. If it cannot be loaded or written as a whole, and the format is its own, nodes are
/// copied.
pub(crate) fn write_or_carry<'py>(
    py: Python<'py>,
    model: Result<&LoadedModel, LoadError>,
    (source, read): (&SourceFile, &ReadOptions),
    inputs: &[NamedInput<'py>],
    destination: &Destination,
) -> PyResult<ExportParts<'py>> {
    let (format, options) = destination.format_and_options()?;
    let write = |model: &LoadedModel| -> PyResult<Result<_, LoadError>> {
        let bindings = bind_declared_inputs(py, model, &in_order(model, inputs))?;
        Ok(py.detach(|| model.write(format, &bindings, &options)))
    };
    let error = match model {
        Ok(model) => match write(model)? {
            Ok(written) => return destination.save_and_export(py, written),
            Err(error) => error,
        },
        Err(error) => error,
    };
    let carrying = py
        .detach(|| LoadedModel::carrying(source.clone(), read, format, &error))
        .unwrap_or(Err(error));
    let written = carrying.map_or_else(|error| Ok(Err(error)), |model| write(&model))?;
    destination.save_and_export(py, written.map_err(|error| load_error(py, &error))?)
}

/// The inputs in the order of a model.
fn in_order<'py>(
    model: &LoadedModel,
    inputs: &[NamedInput<'py>],
) -> Vec<Option<Bound<'py, PyAny>>> {
    let named = |name: &str| inputs.iter().find(|(it, _)| it == name)?.1.clone();
    model.inputs().iter().map(|input| named(&input.name)).collect()
}
