//! Elements of constants, which are in an external file.

use std::collections::HashMap;
use std::path::Path;

use bytes::Bytes;
use indim_graph::Array;
use indim_model::{
    FormatError, FormatErrorKind, FormatLimits, SourceFile, array_of_packed_bytes, packed_bytes,
};
use indim_ops::{ArrayType, DType};
use indim_shape::{MAX_RANK, Shape};
use roxmltree::Node;

use crate::layer::Layer;
use crate::network::Network;

/// Maximum bytes read as constants, as a multiple of the size of the external file. Constants can
/// overlap with different types and offsets.
const MAX_REREADS: usize = 16;

/// The external file of constants. A range that several constants read in one type becomes one array.
pub(super) struct Constants<'s> {
    source: &'s SourceFile,
    limits: &'s FormatLimits,
    content: Option<Bytes>,
    /// The arrays read so far, by offset in bytes, element type and number of bytes.
    read: HashMap<(usize, DType, usize), Array>,
    /// The bytes of all arrays read so far.
    bytes: usize,
}

impl<'s> Constants<'s> {
    pub(super) fn new(source: &'s SourceFile, limits: &'s FormatLimits) -> Self {
        Constants { source, limits, content: None, read: HashMap::new(), bytes: 0 }
    }

    /// The elements of a constant layer.
    ///
    /// # Errors
    /// `attribute`, `unsupported-type`, `limit`; `file-beside` if the file is too short.
    pub(super) fn read(&mut self, layer: &Layer) -> Result<Array, FormatError> {
        let at = |kind: FormatErrorKind| layer.fault(kind);
        let dtype = layer.element_type("element_type").map_err(at)?;
        let shape = shape(layer, self.limits).map_err(at)?;
        let array_type = ArrayType::new(dtype, shape.clone());
        let [offset, size] = [
            bytes_attribute(layer, "offset").map_err(at)?,
            bytes_attribute(layer, "size").map_err(at)?,
        ];
        let needed = packed_bytes(&array_type);
        let needed = needed.ok().filter(|&needed| needed as u64 <= size).ok_or_else(|| {
            let given = format!("{size} bytes");
            at(FormatErrorKind::ElementCount { array_type: array_type.clone(), given })
        })?;
        let bytes = self.layer_bytes(layer, offset, size, needed)?;
        let key = (offset as usize, dtype, needed);
        if let Some(known) = self.read.get(&key) {
            return known.reshaped(shape).map_err(|_| at(wrong_count(&array_type)));
        }
        self.count(needed).map_err(at)?;
        let array = array_of_packed_bytes(&array_type, &bytes).map_err(at)?;
        self.read.insert(key, array.clone());
        Ok(array)
    }

    /// The first `needed` of the `size` bytes of a layer at `offset`.
    fn layer_bytes(
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
            let kind = FormatErrorKind::ExternalFile { file: name(self.source), problem };
            return Err(kind.at(layer.data_location()));
        }
        let start = offset as usize;
        Ok(content.slice(start..start + needed))
    }

    /// The external file, opened on first use.
    fn content(&mut self, layer: &Layer) -> Result<Bytes, FormatError> {
        if let Some(content) = &self.content {
            return Ok(content.clone());
        }
        let file = name(self.source);
        match self.source.external_file(&file) {
            Ok(content) => Ok(self.content.insert(content).clone()),
            Err(error) => {
                let problem = error.to_string();
                Err(FormatErrorKind::ExternalFile { file, problem }.at(layer.location()))
            }
        }
    }

    /// Counts bytes against the limit, so constants in memory are at most a multiple of the file.
    fn count(&mut self, bytes: usize) -> Result<(), FormatErrorKind> {
        let present = self.content.as_ref().map_or(0, Bytes::len);
        let limit = self.limits.constant_bytes.min(present.saturating_mul(MAX_REREADS));
        self.bytes = self.bytes.saturating_add(bytes);
        match self.bytes > limit {
            true => Err(FormatErrorKind::Limit { what: "bytes of constants", limit }),
            false => Ok(()),
        }
    }
}

/// Reads short lists of integers, such as axes, from constants, without the rest of the external file.
pub(super) struct ShortLists<'s> {
    source: &'s SourceFile,
    limits: &'s FormatLimits,
}

impl<'s> ShortLists<'s> {
    pub(super) fn new(source: &'s SourceFile, limits: &'s FormatLimits) -> Self {
        ShortLists { source, limits }
    }

    /// The elements of an operand that is a short constant list. `None` for any other operand, and for a
    /// network without its external file.
    pub(super) fn read(
        &self,
        network: &Network,
        layer: &Layer,
        operand: usize,
    ) -> Option<Vec<i64>> {
        let constant = &network.layers[layer.sources.get(operand)?.layer];
        let shape = shape(constant, self.limits).ok().filter(|_| constant.is("Const"))?;
        if shape.rank() > 1 || shape.iter().any(|&size| size > MAX_RANK) {
            return None;
        }
        let array_type = ArrayType::new(constant.element_type("element_type").ok()?, shape);
        let needed = packed_bytes(&array_type).ok()?;
        let start = usize::try_from(bytes_attribute(constant, "offset").ok()?).ok()?;
        let range = start..start.checked_add(needed)?;
        let bytes = self.source.external_file_range(&name(self.source), range).ok()?;
        indim_model::integers(&array_of_packed_bytes(&array_type, &bytes).ok()?)
    }
}

/// The external file of constants.
///
/// # Errors
/// `file-beside`.
pub(super) fn external_file(source: &SourceFile) -> Result<Bytes, FormatErrorKind> {
    let file = name(source);
    source.external_file(&file).map_err(|error| {
        let problem = error.to_string();
        FormatErrorKind::ExternalFile { file, problem }
    })
}

/// The bytes of a constant with these attributes.
///
/// # Errors
/// `attribute`, if they are not all in the file.
pub(super) fn bytes_at(content: &Bytes, data: Node<'_, '_>) -> Result<Bytes, FormatErrorKind> {
    let number = |name: &str| data.attribute(name).and_then(|text| text.trim().parse().ok());
    let range = number("offset").zip(number("size"));
    let range =
        range.and_then(|(start, size): (usize, usize)| Some(start..start.checked_add(size)?));
    let range = range.filter(|range| range.end <= content.len());
    let outside = || FormatErrorKind::attribute("offset", "is not within the file of constants");
    range.map(|range| content.slice(range)).ok_or_else(outside)
}

fn wrong_count(array_type: &ArrayType) -> FormatErrorKind {
    FormatErrorKind::ElementCount { array_type: array_type.clone(), given: "others".to_owned() }
}

/// `model.bin` for `model.xml`.
fn name(source: &SourceFile) -> String {
    let stem = Path::new(source.name()).file_stem().unwrap_or_default();
    format!("{}.bin", stem.to_string_lossy())
}

/// An attribute in bytes: `offset` or `size`.
fn bytes_attribute(layer: &Layer, name: &str) -> Result<u64, FormatErrorKind> {
    let wrong = |_| FormatErrorKind::attribute(name, "is not a number of bytes");
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
