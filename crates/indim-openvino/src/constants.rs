//! The elements of constants, which lie in a file beside the network's.

use std::collections::HashMap;
use std::path::Path;

use bytes::Bytes;
use indim_graph::Array;
use indim_model::{FormatError, FormatErrorKind, FormatLimits, SourceFile, array_of_bytes};
use indim_ops::{ArrayType, DType};
use indim_shape::Shape;

use crate::layer::Layer;

/// How often the bytes of the file may be read, as constants of different types and places.
const READINGS: usize = 16;

/// The file beside the network's, of which constants are pieces. Equal pieces are read once.
pub(super) struct Constants<'s> {
    source: &'s SourceFile,
    limits: &'s FormatLimits,
    content: Option<Bytes>,
    read: HashMap<(usize, DType, usize), Array>,
    bytes: usize,
}

impl<'s> Constants<'s> {
    pub(super) fn new(source: &'s SourceFile, limits: &'s FormatLimits) -> Self {
        Constants { source, limits, content: None, read: HashMap::new(), bytes: 0 }
    }

    /// The elements of a layer that is a constant.
    ///
    /// # Errors
    /// `attribute`, `unsupported-type`, `limit`; `file-beside`, where that ends before they do.
    pub(super) fn read(&mut self, layer: &Layer) -> Result<Array, FormatError> {
        let at = |kind: FormatErrorKind| layer.fault(kind);
        let dtype = layer.element_type("element_type").map_err(at)?;
        let shape = shape(layer, self.limits).map_err(at)?;
        let array_type = ArrayType::new(dtype, shape.clone());
        let [offset, size] =
            [range_end(layer, "offset").map_err(at)?, range_end(layer, "size").map_err(at)?];
        let needed = array_type.shape.byte_count(dtype.size());
        let needed = needed.ok().filter(|&needed| needed as u64 <= size).ok_or_else(|| {
            let given = format!("{size} bytes");
            at(FormatErrorKind::ElementCount { array_type: array_type.clone(), given })
        })?;
        let bytes = self.piece(layer, offset, size, needed)?;
        let key = (offset as usize, dtype, needed);
        if let Some(known) = self.read.get(&key) {
            return known.reshaped(shape).map_err(|_| at(wrong_count(&array_type)));
        }
        self.count(needed).map_err(at)?;
        let array = array_of_bytes(&array_type, &bytes).map_err(at)?;
        self.read.insert(key, array.clone());
        Ok(array)
    }

    /// The bytes from `offset` on of which a layer needs so many.
    fn piece(
        &mut self,
        layer: &Layer,
        offset: u64,
        size: u64,
        needed: usize,
    ) -> Result<Bytes, FormatError> {
        let content = self.content(layer)?;
        let end = offset.checked_add(size).filter(|&end| end <= content.len() as u64);
        if end.is_none() {
            let problem =
                format!("{} bytes, the constant is {size} bytes from {offset} on", content.len());
            let kind = FormatErrorKind::Beside { file: name(self.source), problem };
            return Err(kind.at(layer.data_place()));
        }
        let start = offset as usize;
        Ok(content.slice(start..start + needed))
    }

    /// The file beside the network's, once it is needed.
    fn content(&mut self, layer: &Layer) -> Result<Bytes, FormatError> {
        if let Some(content) = &self.content {
            return Ok(content.clone());
        }
        let file = name(self.source);
        match self.source.neighbour(&file) {
            Ok(content) => Ok(self.content.insert(content).clone()),
            Err(error) => {
                let problem = error.to_string();
                Err(FormatErrorKind::Beside { file, problem }.at(layer.place()))
            }
        }
    }

    /// Counts what was read: a file is not many times as large in memory.
    fn count(&mut self, bytes: usize) -> Result<(), FormatErrorKind> {
        let present = self.content.as_ref().map_or(0, Bytes::len);
        let limit = self.limits.constant_bytes.min(present.saturating_mul(READINGS));
        self.bytes = self.bytes.saturating_add(bytes);
        match self.bytes > limit {
            true => Err(FormatErrorKind::Limit { what: "bytes of constants", limit }),
            false => Ok(()),
        }
    }
}

fn wrong_count(array_type: &ArrayType) -> FormatErrorKind {
    FormatErrorKind::ElementCount { array_type: array_type.clone(), given: "others".to_owned() }
}

/// `model.bin` beside `model.xml`.
fn name(source: &SourceFile) -> String {
    let stem = Path::new(source.name()).file_stem().unwrap_or_default();
    format!("{}.bin", stem.to_string_lossy())
}

fn range_end(layer: &Layer, name: &str) -> Result<u64, FormatErrorKind> {
    let wrong = |_| FormatErrorKind::attribute(name, "is no number of bytes");
    layer.text(name)?.trim().parse().map_err(wrong)
}

fn shape(layer: &Layer, limits: &FormatLimits) -> Result<Shape, FormatErrorKind> {
    let wrong = |_| FormatErrorKind::attribute("shape", "has a negative size");
    let sizes = layer.integers("shape")?;
    if sizes.len() > limits.rank {
        return Err(FormatErrorKind::Limit { what: "axes", limit: limits.rank });
    }
    sizes.into_iter().map(|size| usize::try_from(size).map_err(wrong)).collect()
}
