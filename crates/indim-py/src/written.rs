//! Writes programs in the formats of other systems, for `indim/_written.py`.

use std::path::{Path, PathBuf};

use indim::Graph;
use indim::formats::{Decomposition, ModelFormat, WriteOptions, WrittenModel, save, write};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::format_error;

/// Options of writing: the format, the path if any, whether operations that the format lacks are errors, and
/// the version of the operation set.
#[derive(FromPyObject)]
pub(crate) struct Destination(String, Option<PathBuf>, bool, Option<u32>);

/// The content, the external file with its name, the decomposed operations (operation, replacement, count),
/// warnings, and the copied operations with their numbers.
pub(crate) type ExportParts<'py> = (
    Bound<'py, PyBytes>,
    Option<(String, Bound<'py, PyBytes>)>,
    Vec<(String, String, usize)>,
    Vec<String>,
    Vec<(String, usize)>,
);

impl Destination {
    fn format(&self) -> PyResult<ModelFormat> {
        let format = ModelFormat::named(&self.0).ok_or_else(|| {
            let names = ModelFormat::ALL.map(ModelFormat::name).join(", ");
            PyValueError::new_err(format!("{:?} is not a format: {names}", self.0))
        })?;
        match self.1.as_deref().filter(|path| !format.fits_name(path)) {
            Some(path) => {
                let names = format.extensions().join(" or .");
                let message = format!("{}: {format} is written as .{names}", path.display());
                Err(PyValueError::new_err(message))
            }
            None => Ok(format),
        }
    }

    fn options(&self) -> WriteOptions {
        let Destination(_, path, exact, opset) = self;
        let stem = path.as_deref().and_then(Path::file_stem);
        let name = stem.map_or("model".into(), |stem| stem.to_string_lossy());
        WriteOptions::new().name(name).exact(*exact).opset(*opset)
    }

    /// The format, and the options of its writer.
    pub(crate) fn format_and_options(&self) -> PyResult<(ModelFormat, WriteOptions)> {
        Ok((self.format()?, self.options()))
    }

    /// Saves a model at the path if there is one, and returns its parts.
    pub(crate) fn save_and_export<'py>(
        &self,
        py: Python<'py>,
        written: WrittenModel,
    ) -> PyResult<ExportParts<'py>> {
        if let Some(path) = &self.1 {
            let saved = py.detach(|| save(&written, path));
            saved.map_err(|error| PyOSError::new_err(error.to_string()))?;
        }
        let WrittenModel { content, external_file, composed, mut warnings, carried, dropped } =
            written;
        warnings.extend(dropped.into_iter().map(|it| format!("the written file lacks {it}")));
        let composed = composed.into_iter();
        let composed =
            composed.map(|Decomposition { operation, by, count }| (operation, by, count));
        let external_file = external_file.map(|(name, bytes)| (name, PyBytes::new(py, &bytes)));
        Ok((PyBytes::new(py, &content), external_file, composed.collect(), warnings, carried))
    }
}

/// Writes the graph of a traced function.
pub(crate) fn write_traced<'py>(
    py: Python<'py>,
    graph: &Graph,
    destination: &Destination,
) -> PyResult<ExportParts<'py>> {
    let outputs: Vec<String> = match graph.outputs().len() {
        1 => vec!["result".to_owned()],
        count => (0..count).map(|index| format!("result_{index}")).collect(),
    };
    let (format, options) = destination.format_and_options()?;
    let written = py.detach(|| write(format, graph, &outputs, &options));
    destination.save_and_export(py, written.map_err(|error| format_error(py, &error))?)
}
