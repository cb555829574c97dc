//! Saves a written model with its external file.

use std::io::Write as _;
use std::path::Path;

use indim_model::WrittenModel;

use crate::files::{CompleteOutput, FileError, FileErrorKind, OutputFile};

/// Saves a model, and its external file to the same folder. Neither appears before both are complete.
///
/// ```
/// use indim::formats::{ModelFormat, LoadedModel, WriteOptions, save, write};
/// use indim::{DType, GraphBuilder};
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2])?;
/// let graph = b.finish(&[b.add(&x, &b.scalar(1.5f32), &[])?])?;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.xml");
/// save(&write(ModelFormat::OpenVino, &graph, &["y".to_owned()], &WriteOptions::default())?, &path)?;
/// assert_eq!(LoadedModel::open(&path)?.inputs()[0].name, "x");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`OutputFile::create`] and [`OutputFile::complete`].
pub fn save(written: &WrittenModel, path: &Path) -> Result<(), FileError> {
    let external_file =
        written.external_file.iter().map(|(name, bytes)| (path.with_file_name(name), bytes));
    let files = external_file.chain([(path.to_owned(), &written.content)]);
    let completed = files.map(|(path, bytes)| complete(&path, bytes));
    let completed = completed.collect::<Result<Vec<CompleteOutput>, _>>()?;
    completed.into_iter().try_for_each(CompleteOutput::commit)
}

fn complete(path: &Path, bytes: &[u8]) -> Result<CompleteOutput, FileError> {
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes)
        .map_err(|error| FileError { path: path.to_owned(), kind: FileErrorKind::Io(error) })?;
    file.complete(&mut |_| {})
}
