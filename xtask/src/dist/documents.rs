//! The site, the licences of dependencies, and the bills of materials.

use super::bill;
use super::release::{self, Release};
use crate::site;

/// The products with binaries: names in file names, and their packages.
pub(crate) const PRODUCTS: [(&str, &str); 2] = [("command", "indim-cli"), ("python", "indim-py")];

/// Builds the site, and packs it.
pub(crate) fn site(release: &Release) -> Result<(), String> {
    if !site::site(&release.root, &[]) {
        return Err("the site cannot be built".to_owned());
    }
    let name = format!("indim-{}-site", release.version);
    let stage = release.root.join("target/dist-site");
    release::empty(&stage)?;
    let built = release.root.join("target/site");
    for file in release::files(&built)? {
        let inner = file.strip_prefix(&built).map_err(|error| error.to_string())?;
        let target = stage.join(&name).join(inner);
        target.parent().map_or(Ok(()), release::create)?;
        release::copy(&file, &target)?;
    }
    release.pack(&stage, &name)?;
    std::fs::remove_dir_all(&stage).map_err(|error| format!("{}: {error}", stage.display()))
}

/// Writes the licences of each product.
pub(crate) fn licences(release: &Release) -> Result<(), String> {
    PRODUCTS.iter().try_for_each(|(product, package)| {
        let path = release.output.join(licences_name(release, product));
        release::write(&path, &release.licences_of(package)?)
    })
}

/// Writes the bill of each product.
pub(crate) fn bills(release: &Release) -> Result<(), String> {
    PRODUCTS.iter().try_for_each(|(product, package)| {
        let identities = release.packages.in_build_of(&release.root, package)?;
        let bill = bill::bill(&release.packages, package, &identities)?;
        release::write(&release.output.join(bill_name(release, product)), &bill)
    })
}

pub(crate) fn licences_name(release: &Release, product: &str) -> String {
    format!("indim-{}-{product}-licences.txt", release.version)
}

pub(crate) fn bill_name(release: &Release, product: &str) -> String {
    format!("indim-{}-{product}.cdx.json", release.version)
}
