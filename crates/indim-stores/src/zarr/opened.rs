//! Arrays opened by the library `zarrs`, of version 2 with what it takes amiss put right first.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use zarrs::array::{Array, ArrayMetadata, ArrayMetadataV2};

use super::files::Files;
use super::{bad, bad_text, guarded, read_metadata};
use crate::StoreErrorKind;

/// The array in a folder whose metadata was looked at.
pub(super) fn open(path: &Path) -> Result<(Arc<Files>, Array<Files>), StoreErrorKind> {
    let store = Arc::new(Files::new(path));
    let amended = if path.join("zarr.json").is_file() { None } else { amended(path)? };
    let array = guarded(|| match amended {
        Some(metadata) => {
            Array::new_with_metadata(store.clone(), "/", metadata).map_err(|error| bad(&error))
        }
        None => Array::open(store.clone(), "/").map_err(|error| bad(&error)),
    });
    Ok((store, array?))
}

/// The metadata of version 2, where the library would not take it as it is.
fn amended(path: &Path) -> Result<Option<ArrayMetadata>, StoreErrorKind> {
    let mut metadata = parsed(path, ".zarray")?;
    // The order of no axes, which the library holds for impossible.
    let has_no_axes = metadata["shape"].as_array().is_some_and(Vec::is_empty);
    let is_turned = has_no_axes && metadata["order"] == "F";
    // Missing chunks of complex numbers that may be anything: zeros, as those of other numbers.
    let is_complex = metadata["dtype"].as_str().is_some_and(|dtype| dtype.contains('c'));
    let is_anything = is_complex && metadata.get("fill_value").is_some_and(Value::is_null);
    if is_turned {
        metadata["order"] = json!("C");
    }
    if is_anything {
        metadata["fill_value"] = json!([0.0, 0.0]);
    }
    if !is_turned && !is_anything {
        return Ok(None);
    }
    let metadata = serde_json::from_value(metadata);
    let mut metadata: ArrayMetadataV2 = metadata.map_err(|error| bad(&error))?;
    if path.join(".zattrs").is_file() {
        let attributes = serde_json::from_value(parsed(path, ".zattrs")?);
        metadata.attributes = attributes.map_err(|error| bad(&error))?;
    }
    Ok(Some(ArrayMetadata::V2(metadata)))
}

fn parsed(path: &Path, name: &str) -> Result<Value, StoreErrorKind> {
    let text = read_metadata(path, name)?;
    serde_json::from_slice(&text).map_err(|error| bad_text(&format!("{name}: {error}")))
}
