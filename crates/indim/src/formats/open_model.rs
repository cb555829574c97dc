//! Opens model files. Large constants of ONNX stay in the file until they are needed, so a model does not
//! hold them twice.

use std::io;
use std::path::Path;

use indim_model::SourceFile;

/// A file of the file system, with its folder for external files.
///
/// Constants of ONNX that are larger than 64 KiB stay in the file. Programs read them when they are compiled,
/// and fail if the file has changed since. Models of less than 1 MiB are read as a whole.
///
/// ```
/// use indim::formats::{LoadedModel, ReadOptions, open_model};
///
/// let path = std::env::temp_dir().join(format!("indim-open-{}.mlir", std::process::id()));
/// let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }";
/// std::fs::write(&path, text)?;
/// let source = open_model(&path)?;
/// assert_eq!(source.whole_bytes()?, text);
/// assert_eq!(LoadedModel::from_source(source, &ReadOptions::default())?.inputs().len(), 1);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the error of the system.
pub fn open_model(path: impl AsRef<Path>) -> io::Result<SourceFile> {
    let path = path.as_ref();
    #[cfg(feature = "onnx")]
    if let Some(source) = large_onnx::open(path)? {
        return Ok(source);
    }
    SourceFile::open(path)
}

#[cfg(feature = "onnx")]
mod large_onnx {
    use std::ffi::OsStr;
    use std::fs::{File, Metadata};
    use std::io::{self, Read as _, Seek as _, SeekFrom};
    use std::ops::Range;
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::SystemTime;

    use bytes::Bytes;
    use indim_model::{Folder, ModelFormat, SourceFile};
    use indim_onnx::WeightSkipper;

    /// Minimum bytes of a file whose constants stay in it.
    const MIN_BYTES: u64 = 1 << 20;

    /// Opens a large ONNX file without its large constants. `None` for other files, and for a file with
    /// constants that cannot be read alone.
    pub(super) fn open(path: &Path) -> io::Result<Option<SourceFile>> {
        let extension = path.extension().unwrap_or_default();
        let mut extensions = ModelFormat::Onnx.extensions().iter();
        let is_onnx = extensions.any(|known| extension.eq_ignore_ascii_case(known));
        let Some(name) = path.file_name().and_then(OsStr::to_str).filter(|_| is_onnx) else {
            return Ok(None);
        };
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() < MIN_BYTES {
            return Ok(None);
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let (name, version) = (name.to_owned(), version(&metadata));
        let model = ModelFolder { name, file: Mutex::new(file), version, folder };
        let Some(content) = model.without_constants(metadata.len())? else { return Ok(None) };
        Ok(Some(SourceFile::new(path.to_string_lossy(), content).with_folder(Arc::new(model))))
    }

    /// The folder of a model, whose own file is read like an external one.
    struct ModelFolder {
        /// Name of the file of the model.
        name: String,
        file: Mutex<File>,
        version: Version,
        folder: PathBuf,
    }

    /// The length of a file, and the time of its last change if the system tells it.
    type Version = (u64, Option<SystemTime>);

    fn version(metadata: &Metadata) -> Version {
        (metadata.len(), metadata.modified().ok())
    }

    impl ModelFolder {
        /// The file without its large constants; `None` if it is damaged, so that the reader of whole files
        /// reports it, or if constants are not raw bytes.
        fn without_constants(&self, length: u64) -> io::Result<Option<Vec<u8>>> {
            let mut skipper = WeightSkipper::new(&self.name, length);
            while let Some(range) = skipper.wanted() {
                let Ok(start) = usize::try_from(range.start) else { return Ok(None) };
                let Ok(end) = usize::try_from(range.end) else { return Ok(None) };
                if skipper.give(&self.own_range(start..end)?).is_err() {
                    return Ok(None);
                }
            }
            let skipped = skipper.finish();
            let is_smaller = skipped.constants > 0 && !skipped.has_typed_elements;
            Ok(is_smaller.then_some(skipped.content))
        }

        /// Some bytes of the model's own file.
        fn own_range(&self, range: Range<usize>) -> io::Result<Bytes> {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            if version(&file.metadata()?) != self.version {
                return Err(io::Error::other("it has changed since the model was loaded"));
            }
            // Memory is allocated only if the bytes exist.
            let is_inside = range.start <= range.end && range.end as u64 <= self.version.0;
            if !is_inside {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            file.seek(SeekFrom::Start(range.start as u64))?;
            let mut bytes = vec![0; range.len()];
            file.read_exact(&mut bytes)?;
            Ok(bytes.into())
        }
    }

    impl Folder for ModelFolder {
        fn read(&self, name: &str) -> io::Result<Bytes> {
            match name == self.name {
                true => self.own_range(0..usize::try_from(self.version.0).unwrap_or(usize::MAX)),
                false => self.folder.read(name),
            }
        }

        fn read_range(&self, name: &str, range: Range<usize>) -> io::Result<Bytes> {
            match name == self.name {
                true => self.own_range(range),
                false => self.folder.read_range(name, range),
            }
        }

        fn whole_program(&self) -> Option<io::Result<Bytes>> {
            Some(self.read(&self.name))
        }
    }
}
