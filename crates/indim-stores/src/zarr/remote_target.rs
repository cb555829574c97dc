//! A Zarr result in a remote store: chunks are whole objects, and metadata is written last, so that an
//! unfinished result has none.

use std::path::Path;

use indim_io::{ByteStore, FirstRead};
use indim_remote::{RemoteName, RemoteStore, Settings};
use serde_json::Value;

use super::array_path::{CONSOLIDATED_GROUP, OTHER_GROUP, check_name, parent_groups, path_error};
use super::remote::read_json;
use super::{MAX_METADATA_BYTES, metadata};
use crate::StoreErrorKind;

/// The name of a new array, and what is written when its chunks are complete.
#[derive(Debug)]
pub(super) struct RemoteTarget {
    store: RemoteStore,
    metadata: Vec<u8>,
    /// Groups around the array that have no metadata yet, innermost first.
    new_groups: Vec<RemoteStore>,
}

impl RemoteTarget {
    /// Checks that the name is free: chunks of an array that is there would remain under the new one.
    pub(super) fn create(name: &Path, metadata: &Value) -> Result<Self, StoreErrorKind> {
        let settings = Settings::from_environment();
        let store = RemoteStore::open(&name.to_string_lossy(), &settings)?;
        store.check_writable()?;
        for document in ["zarr.json", ".zarray", ".zgroup"] {
            if store.open(document, FirstRead::Nothing)?.is_some() {
                return Err(path_error(
                    "an array or a group is there, which is not replaced in a remote store: name another \
                     array, or remove it first",
                ));
            }
        }
        let mut new_groups = Vec::new();
        for (group, child) in parent_groups(name) {
            let group = group.to_string_lossy();
            // A bucket is not a group.
            if RemoteName::parse(&group).is_err() {
                break;
            }
            check_name(child)?;
            let group = RemoteStore::open(&group, &settings)?;
            match read_json(&group, "zarr.json", MAX_METADATA_BYTES)? {
                Some((text, _)) if text["node_type"] != "group" => {
                    return Err(path_error(OTHER_GROUP));
                }
                Some((text, _)) if !text["consolidated_metadata"].is_null() => {
                    return Err(path_error(CONSOLIDATED_GROUP));
                }
                Some(_) => {}
                None if group.open(".zgroup", FirstRead::Nothing)?.is_some() => {
                    return Err(path_error(OTHER_GROUP));
                }
                None => new_groups.push(group),
            }
        }
        Ok(RemoteTarget { store, metadata: document_bytes(metadata), new_groups })
    }

    pub(super) fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), StoreErrorKind> {
        self.store.put(key, bytes)
    }

    /// Makes the array appear, then the groups around it.
    pub(super) fn commit(self) -> Result<(), StoreErrorKind> {
        self.store.put("zarr.json", self.metadata)?;
        let group = document_bytes(&metadata::group_metadata_json());
        self.new_groups.iter().try_for_each(|it| it.put("zarr.json", group.clone()))
    }
}

fn document_bytes(document: &Value) -> Vec<u8> {
    format!("{document:#}\n").into_bytes()
}
