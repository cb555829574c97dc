//! The site, the licences of dependencies, and the bills of materials.

use super::bill;
use super::product::{PRODUCTS, Product};
use super::release::{self, Release};
use crate::site;

pub(crate) fn site_name(release: &Release) -> String {
    format!("indim-{}-site", release.version)
}

pub(crate) fn licences_name(release: &Release, product: &Product) -> String {
    format!("indim-{}-{}-licences.txt", release.version, product.name)
}

pub(crate) fn bill_name(release: &Release, product: &Product) -> String {
    format!("indim-{}-{}.cdx.json", release.version, product.name)
}

/// Builds the site, and packs it.
pub(crate) fn site(release: &Release) -> Result<(), String> {
    if !site::site(&release.root, &[]) {
        return Err("the site cannot be built".to_owned());
    }
    release.pack(&release.root.join("target/site"), &site_name(release))
}

/// Writes the licences of each product.
pub(crate) fn licences(release: &Release) -> Result<(), String> {
    PRODUCTS.iter().try_for_each(|product| {
        let path = release.output.join(licences_name(release, product));
        release::write(&path, &release.licences_of(product)?)
    })
}

/// Writes the bill of each product.
pub(crate) fn bills(release: &Release) -> Result<(), String> {
    PRODUCTS.iter().try_for_each(|product| {
        let bill = bill::bill(&release.packages, product, release.crates_of(product))?;
        release::write(&release.output.join(bill_name(release, product)), &bill)
    })
}
