//! The published crates as archives, and the order of publishing.

use std::process::Command;

use super::packages::Package;
use super::release::{self, Release};
use crate::program::{self, cargo_program};

/// The names of the archives in the order in which a registry accepts them.
pub(crate) const ORDER: &str = "publish-order.txt";

pub(crate) fn name(package: &Package) -> String {
    format!("{}-{}.crate", package.name, package.version)
}

/// Packages each published crate.
pub(crate) fn crates(release: &Release) -> Result<(), String> {
    let order = release.packages.publish_order()?;
    let built = release.root.join("target/dist-crates");
    let mut command = Command::new(cargo_program());
    command.args(["package", "--quiet", "--locked", "--no-verify"]).current_dir(&release.root);
    if release.allows_dirty {
        command.arg("--allow-dirty");
    }
    command.arg("--target-dir").arg(&built);
    command.args(order.iter().map(|package| format!("--package={}", package.name)));
    program::run(&mut command)?;
    let mut names = String::new();
    for name in order.into_iter().map(name) {
        release::copy(&built.join("package").join(&name), &release.output.join(&name))?;
        names += &format!("{name}\n");
    }
    release::write(&release.output.join(ORDER), &names)
}
