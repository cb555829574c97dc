//! The path of a Zarr result, and the groups that are created with it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use indim_shape::{Diagnostic, ErrorCode};

use super::{is_zarr, read_metadata};
use crate::StoreErrorKind;

/// The message of a parent that is no group of version 3.
pub(super) const OTHER_GROUP: &str = "the folder around it is not a Zarr group of version 3, in which \
    results are written: name another, as in `out.zarr` or `out.zarr/name`";
/// The message of a group with consolidated metadata.
pub(super) const CONSOLIDATED_GROUP: &str =
    "the group around it has consolidated metadata, which would not know of it: name another group";

/// The path of a new array, and the groups to create above it.
#[derive(Debug, Clone)]
pub(super) struct ArrayPath {
    path: PathBuf,
    /// Missing groups, outermost first.
    new_groups: Vec<PathBuf>,
}

impl ArrayPath {
    /// Resolves and checks the path of a new array.
    pub(super) fn of(path: &Path) -> Result<Self, StoreErrorKind> {
        let link_target = resolve_link(path)?;
        let path = link_target.as_deref().unwrap_or(path);
        check_free(path)?;
        let mut new_groups = Vec::new();
        for (group, name) in parent_groups(path) {
            check_name(name)?;
            match group.exists() {
                true => check_group(group)?,
                false => new_groups.insert(0, group.to_owned()),
            }
        }
        Ok(ArrayPath { path: path.to_owned(), new_groups })
    }

    /// The path that a rename publishes: the outermost new group, or the array.
    pub(super) fn outermost(&self) -> &Path {
        self.new_groups.first().unwrap_or(&self.path)
    }

    /// Paths of the new groups, relative to `outermost`.
    pub(super) fn groups(&self) -> impl Iterator<Item = PathBuf> {
        self.new_groups.iter().map(|group| self.relative_path(group))
    }

    /// Path of the array, relative to `outermost`.
    pub(super) fn array(&self) -> PathBuf {
        self.relative_path(&self.path)
    }

    fn relative_path(&self, node: &Path) -> PathBuf {
        node.strip_prefix(self.outermost()).unwrap_or(Path::new("")).to_owned()
    }

    /// Source and target of the rename. `store` is the unfinished folder, which has the content of
    /// `outermost`. The paths are computed at the end, because earlier results may have created some of
    /// the groups.
    pub(super) fn rename_paths(&self, store: &Path) -> Result<(PathBuf, PathBuf), StoreErrorKind> {
        check_free(&self.path)?;
        // Another process may have created an array under the name of a group.
        self.new_groups
            .iter()
            .filter(|group| group.exists())
            .try_for_each(|group| check_group(group))?;
        let node = self.new_groups.iter().find(|group| !group.exists()).unwrap_or(&self.path);
        Ok((store.join(self.relative_path(node)), node.clone()))
    }
}

/// The target of a path that is a symbolic link, else `None`.
fn resolve_link(path: &Path) -> Result<Option<PathBuf>, StoreErrorKind> {
    if !fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink()) {
        return Ok(None);
    }
    match fs::canonicalize(path) {
        Ok(path) => Ok(Some(path)),
        Err(_) => Err(path_error("it is a link that leads nowhere: remove it first")),
    }
}

/// The groups above an array, innermost first, each with the name of its child on the path: all parent
/// folders up to the outermost one called `*.zarr`. Without such a parent there are no groups if the
/// array itself is called `*.zarr`; otherwise its parent folder is the only group.
pub(super) fn parent_groups(path: &Path) -> Vec<(&Path, Option<&OsStr>)> {
    let is_called_zarr = |path: &&Path| {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zarr"))
    };
    let parents: Vec<&Path> = path.ancestors().skip(1).collect();
    let outermost = parents.iter().rposition(is_called_zarr);
    let count = match outermost {
        Some(outermost) => outermost + 1,
        None if is_called_zarr(&path) => 0,
        None => 1,
    };
    let inner = path.ancestors().map(Path::file_name);
    let is_empty = |group: &Path| group.as_os_str().is_empty();
    let parents = parents.into_iter().map(|it| if is_empty(it) { Path::new(".") } else { it });
    parents.zip(inner).take(count).collect()
}

pub(super) fn check_name(name: Option<&OsStr>) -> Result<(), StoreErrorKind> {
    match name.and_then(OsStr::to_str) {
        None => Err(path_error("it has no name")),
        Some(name) if name.starts_with("__") || name.starts_with('.') => {
            Err(path_error("names in groups of Zarr do not begin with `__` or a dot"))
        }
        Some(_) => Ok(()),
    }
}

/// Fails if a folder is not a Zarr 3 group, or has consolidated metadata, which would lack the new array.
fn check_group(group: &Path) -> Result<(), StoreErrorKind> {
    let metadata = metadata(group);
    if metadata["node_type"] != "group" {
        return Err(path_error(OTHER_GROUP));
    }
    match metadata["consolidated_metadata"].is_null() {
        true => Ok(()),
        false => Err(path_error(CONSOLIDATED_GROUP)),
    }
}

/// Fails if the path exists and is neither an array nor an empty folder.
fn check_free(path: &Path) -> Result<(), StoreErrorKind> {
    let Ok(old) = fs::symlink_metadata(path) else { return Ok(()) };
    let is_array = path.join(".zarray").is_file() || metadata(path)["node_type"] == "array";
    if old.is_dir() && (is_array || fs::read_dir(path)?.next().is_none()) {
        return Ok(());
    }
    Err(path_error(match old.is_dir() && is_zarr(path) {
        true => {
            "a group of Zarr is there, which is not replaced: name an array in it, or remove it first"
        }
        false => "another file or folder has this name: name another array, or remove it first",
    }))
}

fn metadata(node: &Path) -> serde_json::Value {
    let text = read_metadata(node, "zarr.json").unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

pub(super) fn path_error(message: &str) -> StoreErrorKind {
    Diagnostic::new(ErrorCode::ZARR_IN_PLACE, message).into()
}

/// The parent folder, `.` for a bare name.
pub(super) fn parent(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}
