//! Zarr arrays in remote stores. No folder is listed: metadata has known names, and the names of arrays are
//! in the consolidated metadata of their group.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use indim_graph::terminal::printable;
use indim_io::{ByteStore, FirstRead, StoredObject};
use indim_remote::{RemoteName, RemoteStore, Settings};
use indim_shape::{Diagnostic, ErrorCode};
use serde_json::Value;

use super::metadata::ArrayMetadata;
use super::{ZarrArray, array_list, bad_zarr, metadata_limit};
use crate::{StoreError, StoreErrorKind};
use indim_io::concurrent::for_each_concurrently;
use indim_io::remote_name::without_query;

/// The metadata of version 3, and of version 2 with its attributes.
const DOCUMENTS: [&str; 3] = ["zarr.json", ".zarray", ".zattrs"];

/// A metadata document, open for a check that it stays the same.
type Document = (Value, Box<dyn StoredObject>);

/// Opens the array of a remote name.
pub(super) fn open(name: &Path, limit: usize) -> Result<ZarrArray, StoreError> {
    open_inner(name, limit).map_err(|kind| StoreError::new(without_query(name), kind))
}

fn open_inner(name: &Path, limit: usize) -> Result<ZarrArray, StoreErrorKind> {
    let settings = Settings::from_environment();
    let text = name.to_string_lossy();
    let store = RemoteStore::open(&text, &settings)?;
    let (metadata, document) = read_metadata(&store, &text, &settings, metadata_limit(limit))?;
    let check_unchanged = move || document.check_unchanged();
    ZarrArray::of_store(name, Box::new(store), metadata, Box::new(check_unchanged), limit)
}

/// The metadata of an array. The documents of both versions are requested at once, so opening takes one
/// round trip. If there is none, the consolidated metadata of the groups around it is read.
fn read_metadata(
    store: &RemoteStore,
    name: &str,
    settings: &Settings,
    max_bytes: u64,
) -> Result<(ArrayMetadata, Box<dyn StoredObject>), StoreErrorKind> {
    let read = Mutex::new([None, None, None]);
    for_each_concurrently(0..DOCUMENTS.len(), DOCUMENTS.len(), |index| {
        let (key, first) = (DOCUMENTS[index], FirstRead::Whole { max_bytes });
        let opened = match key {
            ".zattrs" => store.open_optional(key, first),
            _ => store.open(key, first),
        };
        let document = opened.and_then(|it| it.map(|object| json(key, object)).transpose());
        read.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(document);
        Ok::<(), StoreErrorKind>(())
    })?;
    let read = read.into_inner().unwrap_or_else(PoisonError::into_inner);
    let [version_3, version_2, attributes] = read.map(|document| document.unwrap_or(Ok(None)));
    // A server may refuse names that do not exist, so one version is enough.
    match (version_3, version_2) {
        (Ok(Some((text, _))), _) if text["node_type"] == "group" => Err(group_error(name, &text)),
        (Ok(Some((text, document))), _) => Ok((ArrayMetadata::of_version_3(text)?, document)),
        (_, Ok(Some((text, document)))) => {
            let attributes = attributes?.map_or(Value::Null, |(text, _)| text);
            Ok((ArrayMetadata::of_version_2(&text, attributes)?, document))
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
        (Ok(None), Ok(None)) => read_consolidated(store, name, settings, max_bytes),
    }
}

/// A JSON document of at most `max_bytes` bytes; `None` if it does not exist.
pub(super) fn read_json(
    store: &RemoteStore,
    key: &str,
    max_bytes: u64,
) -> Result<Option<Document>, StoreErrorKind> {
    let opened = store.open(key, FirstRead::Whole { max_bytes })?;
    opened.map(|object| json(key, object)).transpose()
}

fn json(key: &str, object: Box<dyn StoredObject>) -> Result<Document, StoreErrorKind> {
    let bytes = object.read(0, super::usize_of(object.length()))?;
    let text = serde_json::from_slice(&bytes);
    Ok((text.map_err(|error| bad_zarr(&format!("{key}: {error}")))?, object))
}

/// The metadata of an array that has no documents of its own, from the consolidated metadata of a group
/// around it, or of the group that it names.
fn read_consolidated(
    store: &RemoteStore,
    name: &str,
    settings: &Settings,
    max_bytes: u64,
) -> Result<(ArrayMetadata, Box<dyn StoredObject>), StoreErrorKind> {
    // A group of version 2 has its list next to it; one of version 3 has been read already.
    if let Some((text, _)) = read_json(store, ".zmetadata", max_bytes)? {
        return Err(group_error(name, &text));
    }
    let mut group = name.trim_end_matches('/');
    let mut error = None;
    while let Some((parent, _)) = group.rsplit_once('/') {
        // The parents of the outermost `.zarr` are folders of the bucket, not groups.
        if ends_in_zarr(group) || RemoteName::parse(parent).is_err() {
            break;
        }
        group = parent;
        let parent = RemoteStore::open(group, settings)?;
        let key = name[group.len()..].trim_matches('/');
        let consolidated = match read_json(&parent, "zarr.json", max_bytes)? {
            Some(document) => Some(document),
            None => read_json(&parent, ".zmetadata", max_bytes)?,
        };
        let Some((text, document)) = consolidated else { continue };
        if let Some(metadata) = consolidated_array(&text, key)? {
            return Ok((metadata, document));
        }
        // An outer group may have the list.
        let headline = "the group of Zarr around it has no array of this name";
        error = Some(array_list_error(group, &text, headline));
    }
    Err(error.unwrap_or_else(|| {
        let message = "no array of Zarr: it has no zarr.json or .zarray";
        Diagnostic::new(ErrorCode::NOT_ZARR, message).into()
    }))
}

fn ends_in_zarr(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".zarr")
}

/// The metadata of the array `key` in the consolidated metadata of a group.
fn consolidated_array(text: &Value, key: &str) -> Result<Option<ArrayMetadata>, StoreErrorKind> {
    let version_3 = &text["consolidated_metadata"]["metadata"][key];
    if version_3["node_type"] == "array" {
        return ArrayMetadata::of_version_3(version_3.clone()).map(Some);
    }
    let version_2 = &text["metadata"];
    match &version_2[format!("{key}/.zarray")] {
        Value::Null => Ok(None),
        array => {
            let attributes = version_2[format!("{key}/.zattrs")].clone();
            ArrayMetadata::of_version_2(array, attributes).map(Some)
        }
    }
}

/// The error of a group in place of an array.
fn group_error(name: &str, text: &Value) -> StoreErrorKind {
    array_list_error(name, text, "a Zarr group; name one of its arrays")
}

/// An error with the names of the arrays in consolidated metadata.
fn array_list_error(group: &str, text: &Value, headline: &str) -> StoreErrorKind {
    let version_3 = text["consolidated_metadata"]["metadata"].as_object().into_iter().flatten();
    let version_3 = version_3.filter(|(_, node)| node["node_type"] == "array");
    let version_2 = text["metadata"].as_object().into_iter().flatten();
    let version_2 = version_2.filter_map(|(key, _)| key.strip_suffix("/.zarray"));
    let names = version_3.map(|(key, _)| key.as_str()).chain(version_2).map(printable).collect();
    array_list(names, group, headline, "its metadata lists none: it is not consolidated")
}
