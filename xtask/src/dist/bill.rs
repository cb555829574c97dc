//! Software bills of materials, in the JSON of CycloneDX 1.5.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::packages::{Package, Packages};
use super::product::Product;

/// The bill of a product: its crates, with licences, checksums and dependencies. The same crates give the
/// same bytes.
pub(crate) fn bill(
    packages: &Packages,
    product: &Product,
    identities: &BTreeSet<String>,
) -> Result<String, String> {
    let crates: Vec<&Package> = identities.iter().filter_map(|it| packages.0.get(it)).collect();
    let root_package = crates.iter().find(|package| package.name == product.package);
    let root_package =
        root_package.ok_or_else(|| format!("{} is not a package", product.package))?;
    let mut components: Vec<Value> = (crates.iter())
        .filter(|package| package.name != product.package)
        .map(|package| component(package, "library"))
        .collect();
    if product.links_glibc {
        components.push(json!({
            "type": "library",
            "bom-ref": "glibc",
            "name": "glibc",
            "scope": "required",
            "licenses": [{ "expression": "LGPL-2.1-or-later" }],
            "description": "linked statically, in the version of the machine that built the release",
        }));
    }
    let dependencies: Vec<Value> =
        crates.iter().map(|it| dependency(packages, identities, it)).collect();
    let bill = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": component(root_package, product.kind) },
        "components": components,
        "dependencies": dependencies,
    });
    let text = serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}

fn component(package: &Package, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": address(package),
        "name": package.name,
        "version": package.version,
        "scope": "required",
        "purl": address(package),
        "licenses": [{ "expression": expression(&package.licence) }],
    });
    if let Some(checksum) = &package.checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    if let Some(repository) = &package.repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    component
}

fn dependency(packages: &Packages, identities: &BTreeSet<String>, package: &Package) -> Value {
    let in_product = package.dependencies.iter().filter(|identity| identities.contains(*identity));
    let addresses: BTreeSet<String> =
        in_product.filter_map(|identity| packages.0.get(identity)).map(address).collect();
    json!({ "ref": address(package), "dependsOn": addresses })
}

/// The package URL.
fn address(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

/// Old manifests write `MIT/Apache-2.0`, which is not SPDX.
fn expression(licence: &str) -> String {
    licence.replace('/', " OR ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::product::COMMAND;

    #[test]
    fn a_bill_has_each_crate_once_and_its_dependencies() {
        let root = crate::root();
        let packages = Packages::read(&root).unwrap();
        let identities = packages.in_build_of(&root, COMMAND.package).unwrap();
        let bill: Value =
            serde_json::from_str(&bill(&packages, &COMMAND, &identities).unwrap()).unwrap();
        let components = bill["components"].as_array().unwrap();
        let references: BTreeSet<&str> =
            components.iter().map(|it| it["bom-ref"].as_str().unwrap()).collect();
        assert_eq!(references.len(), components.len(), "each crate once");
        assert_eq!(components.len(), identities.len(), "glibc too, and not the command itself");
        let csv = components.iter().find(|component| component["name"] == "csv").unwrap();
        assert_eq!(csv["licenses"][0]["expression"], "Unlicense OR MIT");
        assert_eq!(csv["hashes"][0]["content"].as_str().unwrap().len(), 64);
        let product = bill["metadata"]["component"]["bom-ref"].as_str().unwrap();
        let dependencies = bill["dependencies"].as_array().unwrap();
        let of_product = dependencies.iter().find(|it| it["ref"] == product).unwrap();
        let of_product = of_product["dependsOn"].as_array().unwrap();
        let names = of_product.iter().map(|reference| reference.as_str().unwrap());
        assert!(names.clone().any(|it| it.starts_with("pkg:cargo/clap@")));
        assert!(!names.clone().any(|it| it.starts_with("pkg:cargo/zip@")), "only a test needs it");
        for reference in names {
            assert!(references.contains(reference), "{reference}");
        }
    }
}
