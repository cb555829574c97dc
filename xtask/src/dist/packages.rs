//! The packages of the workspace and their dependencies, as cargo lists them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::release::MACHINES;
use crate::program::{self, cargo_program, tree};

/// One crate of the lock file.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The SPDX expression of its manifest.
    pub(crate) licence: String,
    pub(crate) repository: Option<String>,
    pub(crate) folder: PathBuf,
    /// Whether it belongs to this workspace.
    pub(crate) is_local: bool,
    /// Whether its manifest allows publishing.
    pub(crate) is_published: bool,
    /// SHA-256 of its archive in the registry, from the lock file.
    pub(crate) checksum: Option<String>,
    /// Identities of the packages that it depends on, without development dependencies.
    pub(crate) dependencies: BTreeSet<String>,
    /// The crates that must be published before it: dependencies with a version, of any kind.
    pub(crate) published_first: BTreeSet<String>,
}

/// All packages, by cargo's identity.
pub(crate) struct Packages(pub(crate) BTreeMap<String, Package>);

impl Packages {
    /// Reads `cargo metadata` and the lock file.
    pub(crate) fn read(root: &Path) -> Result<Packages, String> {
        let mut metadata = Command::new(cargo_program());
        metadata.args(["metadata", "--format-version=1", "--locked"]).current_dir(root);
        let text = program::text(&mut metadata)?;
        let metadata: Value =
            serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
        let lock = std::fs::read_to_string(root.join("Cargo.lock"))
            .map_err(|error| format!("Cargo.lock: {error}"))?;
        let checksums = checksums(&lock);
        let mut dependencies: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for node in array(&metadata["resolve"]["nodes"]) {
            let is_built = |dependency: &&Value| {
                array(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev")
            };
            let packages = array(&node["deps"]).iter().filter(is_built);
            let identities = packages.map(|dependency| text_of(&dependency["pkg"])).collect();
            dependencies.insert(node["id"].as_str().unwrap_or_default(), identities);
        }
        let members: BTreeSet<&str> =
            array(&metadata["workspace_members"]).iter().filter_map(Value::as_str).collect();
        let packages = array(&metadata["packages"]).iter().map(|package| {
            let identity = text_of(&package["id"]);
            let (name, version) = (text_of(&package["name"]), text_of(&package["version"]));
            let folder = Path::new(package["manifest_path"].as_str().unwrap_or_default());
            let with_version = |dependency: &&Value| dependency["req"] != "*";
            let package = Package {
                checksum: checksums.get(&(name.clone(), version.clone())).cloned(),
                licence: text_of(&package["license"]),
                repository: package["repository"].as_str().map(str::to_owned),
                folder: folder.parent().unwrap_or(folder).to_owned(),
                is_local: members.contains(identity.as_str()),
                is_published: !package["publish"].is_array(),
                dependencies: dependencies.remove(identity.as_str()).unwrap_or_default(),
                published_first: (array(&package["dependencies"]).iter().filter(with_version))
                    .map(|dependency| text_of(&dependency["name"]))
                    .collect(),
                name,
                version,
            };
            (identity, package)
        });
        Ok(Packages(packages.collect()))
    }

    /// Identities of the crates in a build of `root_package` for the release's machines, itself included.
    pub(crate) fn in_build_of(
        &self,
        root: &Path,
        root_package: &str,
    ) -> Result<BTreeSet<String>, String> {
        let mut found = BTreeSet::new();
        for machine in MACHINES {
            for (name, version) in tree(root, root_package, machine.target, "normal")? {
                let is_it =
                    |(_, it): &(&String, &Package)| it.name == name && it.version == version;
                match self.0.iter().find(is_it) {
                    Some((identity, _)) => found.insert(identity.clone()),
                    None => return Err(format!("cargo metadata does not list {name} {version}")),
                };
            }
        }
        Ok(found)
    }

    /// The published crates of the workspace.
    pub(crate) fn published(&self) -> impl Iterator<Item = &Package> {
        self.0.values().filter(|package| package.is_local && package.is_published)
    }

    /// The published crates of the workspace, each after those that it depends on.
    pub(crate) fn publish_order(&self) -> Result<Vec<&Package>, String> {
        let mut rest: Vec<&Package> = self.published().collect();
        rest.sort_by(|a, b| a.name.cmp(&b.name));
        let mut ordered: Vec<&Package> = Vec::new();
        while !rest.is_empty() {
            let waits = |package: &&Package| {
                rest.iter().any(|other| package.published_first.contains(&other.name))
            };
            let (later, ready): (Vec<&Package>, Vec<&Package>) =
                rest.iter().partition(|it| waits(it));
            if ready.is_empty() {
                let names: Vec<&str> = later.iter().map(|package| &*package.name).collect();
                return Err(format!("these crates depend on each other: {}", names.join(", ")));
            }
            ordered.extend(ready);
            rest = later;
        }
        Ok(ordered)
    }
}

/// The checksums of a lock file, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let entries = lock.split("[[package]]").skip(1);
    let value = |entry: &str, key: &str| {
        let start = format!("{key} = \"");
        let line = entry.lines().find(|line| line.starts_with(&start))?;
        Some(line[start.len()..].trim_end_matches('"').to_owned())
    };
    let checksum = |entry| {
        Some(((value(entry, "name")?, value(entry, "version")?), value(entry, "checksum")?))
    };
    entries.filter_map(checksum).collect()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packages() -> Packages {
        Packages::read(&crate::root()).unwrap()
    }

    #[test]
    fn each_crate_is_published_after_its_dependencies() {
        let packages = packages();
        let order = packages.publish_order().unwrap();
        let names: Vec<&str> = order.iter().map(|package| &*package.name).collect();
        let place = |name: &str| names.iter().position(|&it| it == name);
        assert!(place("indim-shape") < place("indim-graph"), "{names:?}");
        assert!(place("indim").is_some() && place("indim") < place("indim-cli"), "{names:?}");
        assert_eq!(place("xtask"), None, "it is not published");
        for package in &order {
            for dependency in package.published_first.iter().filter_map(|name| place(name)) {
                assert!(Some(dependency) < place(&package.name), "{}: {names:?}", package.name);
            }
        }
    }

    #[test]
    fn each_crate_of_the_registry_has_a_checksum() {
        let packages = packages();
        for package in packages.0.values() {
            assert_eq!(package.checksum.is_some(), !package.is_local, "{}", package.name);
        }
    }
}
