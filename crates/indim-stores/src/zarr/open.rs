//! Opens arrays with the library `zarrs`. Valid metadata of version 2 that it rejects is amended first.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use zarrs::array::{Array, ArrayMetadata, ArrayMetadataV2};

use super::store::FolderStore;
use super::{bad, bad_text, guarded, read_metadata};
use crate::StoreErrorKind;

/// Opens an array whose metadata has been checked.
pub(super) fn open(path: &Path) -> Result<(Arc<FolderStore>, Array<FolderStore>), StoreErrorKind> {
    let store = Arc::new(FolderStore::new(path));
    let amended = if path.join("zarr.json").is_file() { None } else { amended(path)? };
    let array = guarded(|| match amended {
        Some(metadata) => {
            Array::new_with_metadata(store.clone(), "/", metadata).map_err(|error| bad(&error))
        }
        None => Array::open(store.clone(), "/").map_err(|error| bad(&error)),
    });
    Ok((store, array?))
}

/// Amended metadata of version 2; `None` if the library accepts it unchanged.
fn amended(path: &Path) -> Result<Option<ArrayMetadata>, StoreErrorKind> {
    let mut metadata = parsed(path, ".zarray")?;
    // The library rejects column-major order for rank 0.
    let has_no_axes = metadata["shape"].as_array().is_some_and(Vec::is_empty);
    let is_turned = has_no_axes && metadata["order"] == "F";
    // The library rejects a null fill value for complex types. It means undefined; use zero, as for other
    // types.
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
