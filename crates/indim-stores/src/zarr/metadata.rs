//! The metadata of an array, versions 2 and 3.

use indim_graph::terminal::printable;
use indim_ops::DType;
use indim_shape::{Diagnostic, ErrorCode, MAX_RANK, RankLimitError};
use serde_json::{Map, Value, json};

use super::chain::{CodecChain, ElementCoding, name_and_configuration};
use super::{bad_zarr, element};
use crate::StoreErrorKind;
use indim_io::codecs::blosc;
use indim_io::result_metadata::chunk_bytes;

/// The known members of a `zarr.json`. Any other member is an error, unless its `must_understand` is
/// false.
const MEMBERS: [&str; 11] = [
    "attributes",
    "chunk_grid",
    "chunk_key_encoding",
    "codecs",
    "data_type",
    "dimension_names",
    "fill_value",
    "node_type",
    "shape",
    "storage_transformers",
    "zarr_format",
];

/// The metadata of an array.
#[derive(Debug, Clone)]
pub(super) struct ArrayMetadata {
    pub(super) shape: Vec<u64>,
    /// Shape of a stored chunk; every size is positive.
    pub(super) chunk: Vec<u64>,
    pub(super) coding: ElementCoding,
    pub(super) codecs: CodecChain,
    pub(super) keys: ChunkKeys,
    /// Axis names, one for each axis; an unnamed axis has an empty name.
    pub(super) axis_names: Option<Vec<String>>,
    pub(super) attributes: Map<String, Value>,
}

/// The form of the names of chunk files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChunkKeys {
    /// Whether a `c` precedes the indices.
    pub(super) has_prefix: bool,
    pub(super) separator: char,
}

impl ChunkKeys {
    /// The name of a chunk, relative to the folder of the array.
    pub(super) fn key(self, index: &[u64]) -> String {
        let mut parts: Vec<String> = index.iter().map(u64::to_string).collect();
        match self.has_prefix {
            true => parts.insert(0, "c".to_owned()),
            false if parts.is_empty() => parts.push("0".to_owned()),
            false => {}
        }
        parts.join(self.separator.encode_utf8(&mut [0; 4]))
    }
}

impl ArrayMetadata {
    /// The metadata in a `zarr.json`.
    pub(super) fn of_version_3(mut text: Value) -> Result<Self, StoreErrorKind> {
        if text["zarr_format"] != 3 || text["node_type"] != "array" {
            return Err(bad_zarr("zarr.json describes no array of version 3"));
        }
        let attributes = take_attributes(&mut text["attributes"])?;
        let members = text.as_object().into_iter().flatten();
        let is_unknown = |(name, value): &(&String, &Value)| {
            !MEMBERS.contains(&name.as_str()) && value["must_understand"] != false
        };
        if let Some((name, _)) = members.clone().find(is_unknown) {
            return Err(bad_zarr(&format!("metadata with an extension `{}`", printable(name))));
        }
        if text["storage_transformers"].as_array().is_some_and(|all| !all.is_empty()) {
            return Err(bad_zarr("storage transformers are not read"));
        }
        let (name, _) = name_and_configuration(&text["data_type"])?;
        let dtype = element::dtype(name).ok_or_else(|| unknown_dtype(name))?;
        let shape = shape(&text["shape"])?;
        let (grid, configuration) = name_and_configuration(&text["chunk_grid"])?;
        if grid != "regular" {
            let grid = printable(grid);
            return Err(bad_zarr(&format!(
                "a `{grid}` grid of chunks is not read: only regular ones are"
            )));
        }
        let chunk = chunk_shape(&configuration["chunk_shape"], shape.len())?;
        let keys = {
            let (name, configuration) = name_and_configuration(&text["chunk_key_encoding"])?;
            match name {
                "default" => chunk_keys(true, &configuration["separator"], '/')?,
                "v2" => chunk_keys(false, &configuration["separator"], '.')?,
                name => return Err(bad_zarr(&format!("chunks named by `{}`", printable(name)))),
            }
        };
        let coding = coding(&text["fill_value"], dtype)?;
        let codecs = CodecChain::of_version_3(&text["codecs"], dtype, &chunk, 0)?;
        let axis_names = match &text["dimension_names"] {
            Value::Array(names) => names.iter().map(axis_name).collect(),
            _ => xarray_axis_names(&attributes),
        };
        let axis_names = axis_names.filter(|names: &Vec<String>| names.len() == shape.len());
        Ok(ArrayMetadata { shape, chunk, coding, codecs, keys, axis_names, attributes })
    }

    /// The metadata in a `.zarray`, and the attributes in a `.zattrs`.
    pub(super) fn of_version_2(
        text: &Value,
        mut attributes: Value,
    ) -> Result<Self, StoreErrorKind> {
        if text["zarr_format"] != 2 {
            return Err(bad_zarr(".zarray describes no array of version 2"));
        }
        let attributes = take_attributes(&mut attributes)?;
        let descr = &text["dtype"];
        let known = descr.as_str().and_then(element::dtype_of_descr);
        let (dtype, is_swapped) = known.ok_or_else(|| match descr.as_str() {
            Some(descr) => unknown_dtype(descr),
            None => unknown_dtype("structure"),
        })?;
        let shape = shape(&text["shape"])?;
        let chunk = chunk_shape(&text["chunks"], shape.len())?;
        let permutation = match text["order"].as_str() {
            Some("C") => None,
            Some("F") => Some((0..shape.len()).rev().collect()),
            _ => return Err(bad_zarr("an order of elements that is neither C nor F")),
        };
        let keys = chunk_keys(false, &text["dimension_separator"], '.')?;
        let coding = coding(&text["fill_value"], dtype)?;
        let (filters, compressor) = (&text["filters"], &text["compressor"]);
        let codecs = CodecChain::of_version_2(filters, compressor, is_swapped, permutation)?;
        let axis_names = xarray_axis_names(&attributes);
        let axis_names = axis_names.filter(|names| names.len() == shape.len());
        Ok(ArrayMetadata { shape, chunk, coding, codecs, keys, axis_names, attributes })
    }
}

/// The `zarr.json` of a new array, with little-endian elements compressed by Blosc.
pub(super) fn array_metadata_json(
    shape: &[usize],
    dtype: DType,
    chunks: &[usize],
    axis_names: Option<&[String]>,
) -> Result<Value, StoreErrorKind> {
    let Some(name) = element::name(dtype) else {
        let message =
            format!("Zarr has no elements of type {dtype}: write another format, as .npy");
        return Err(Diagnostic::new(ErrorCode::ELEMENT_TYPE_NOT_IN_FORMAT, message).into());
    };
    let zero = match dtype {
        DType::Bool => json!(false),
        DType::C64 | DType::C128 => json!([0.0, 0.0]),
        DType::F16 | DType::Bf16 | DType::F32 | DType::F64 => json!(0.0),
        _ => json!(0),
    };
    let mut bytes = json!({"name": "bytes"});
    if dtype.size() > 1 {
        bytes["configuration"] = json!({"endian": "little"});
    }
    let mut codecs = vec![bytes];
    if blosc::is_encodable(chunk_bytes(dtype, chunks)) {
        codecs.push(blosc_metadata(dtype.size()));
    }
    let mut metadata = json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": zero,
        "codecs": codecs,
        "attributes": {},
    });
    if let Some(names) = axis_names {
        let name = |name: &String| Some(name.clone()).filter(|name| !name.is_empty());
        metadata["dimension_names"] = names.iter().map(name).collect();
    }
    Ok(metadata)
}

/// The `zarr.json` of a new group.
pub(super) fn group_metadata_json() -> Value {
    json!({"zarr_format": 3, "node_type": "group", "attributes": {}})
}

fn take_attributes(attributes: &mut Value) -> Result<Map<String, Value>, StoreErrorKind> {
    match attributes.take() {
        Value::Object(attributes) => Ok(attributes),
        Value::Null => Ok(Map::new()),
        _ => Err(bad_zarr("attributes that have no names")),
    }
}

fn unknown_dtype(name: &str) -> StoreErrorKind {
    Diagnostic::new(
        ErrorCode::UNKNOWN_ELEMENT_TYPE,
        format!("elements of type {} are not numbers that indim knows", printable(name)),
    )
    .into()
}

fn coding(fill: &Value, dtype: DType) -> Result<ElementCoding, StoreErrorKind> {
    let bytes = element::fill_bytes(fill, dtype);
    let fill = bytes.ok_or_else(|| {
        bad_zarr(&format!("a fill value {fill} for elements of type {}", dtype.name()))
    })?;
    Ok(ElementCoding { dtype, fill })
}

fn shape(sizes: &Value) -> Result<Vec<u64>, StoreErrorKind> {
    let sizes = numbers(sizes).ok_or_else(|| bad_zarr("`shape` is not a list of sizes"))?;
    RankLimitError::check(sizes.len(), MAX_RANK).map_err(RankLimitError::diagnostic)?;
    Ok(sizes)
}

/// The shape of a chunk of an array of this rank.
pub(super) fn chunk_shape(sizes: &Value, rank: usize) -> Result<Vec<u64>, StoreErrorKind> {
    let chunk = numbers(sizes).filter(|sizes| sizes.len() == rank && !sizes.contains(&0));
    chunk.ok_or_else(|| bad_zarr("the shape of its chunks is not one positive size for each axis"))
}

fn numbers(list: &Value) -> Option<Vec<u64>> {
    list.as_array()?.iter().map(Value::as_u64).collect()
}

fn chunk_keys(
    has_prefix: bool,
    separator: &Value,
    default: char,
) -> Result<ChunkKeys, StoreErrorKind> {
    let separator = match separator {
        Value::Null => default,
        it if it == "/" => '/',
        it if it == "." => '.',
        _ => return Err(bad_zarr("names of chunks with a separator other than `/` and `.`")),
    };
    Ok(ChunkKeys { has_prefix, separator })
}

fn axis_name(name: &Value) -> Option<String> {
    match name {
        Value::Null => Some(String::new()),
        Value::String(name) => Some(name.clone()),
        _ => None,
    }
}

/// The axis names that xarray stores in an attribute.
fn xarray_axis_names(attributes: &Map<String, Value>) -> Option<Vec<String>> {
    let names = attributes.get("_ARRAY_DIMENSIONS")?.as_array()?;
    names.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

/// The codec of results in metadata, for elements of this size.
fn blosc_metadata(element_size: usize) -> Value {
    let shuffle = if element_size > 1 { "shuffle" } else { "noshuffle" };
    json!({
        "name": "blosc",
        "configuration": {
            "cname": "lz4",
            "clevel": 5,
            "shuffle": shuffle,
            "typesize": element_size,
            "blocksize": blosc::BLOCK_BYTES,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_named_by_their_indices() {
        let key = |has_prefix, separator| ChunkKeys { has_prefix, separator };
        assert_eq!(key(true, '/').key(&[1, 20]), "c/1/20");
        assert_eq!(key(true, '.').key(&[1, 20]), "c.1.20");
        assert_eq!(key(false, '.').key(&[1, 20]), "1.20");
        assert_eq!((key(true, '/').key(&[]), key(false, '.').key(&[])), ("c".into(), "0".into()));
    }

    #[test]
    fn results_have_metadata_that_is_read() {
        let names = ["y".to_owned(), String::new()];
        for &dtype in DType::ALL {
            let Ok(text) = array_metadata_json(&[5, 7], dtype, &[2, 3], Some(&names)) else {
                assert!(dtype.is_storage());
                continue;
            };
            let read = ArrayMetadata::of_version_3(text).unwrap();
            assert_eq!((read.shape, read.chunk), (vec![5, 7], vec![2, 3]));
            assert_eq!(read.coding.dtype, dtype);
            assert_eq!(read.coding.fill, vec![0; dtype.size()]);
            assert_eq!(read.axis_names.unwrap(), names);
        }
    }
}
