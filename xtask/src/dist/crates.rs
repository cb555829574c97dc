//! The published crates as archives, and the order of publishing.

use std::process::Command;

use super::release::{self, Release};

/// The names of the archives in the order in which a registry accepts them.
pub(crate) const ORDER: &str = "publish-order.txt";

/// Packages each published crate.
pub(crate) fn crates(release: &Release) -> Result<(), String> {
    let order = release.packages.publish_order()?;
    let output = release.output.join("crates");
    release::empty(&output)?;
    let built = release.root.join("target/dist-crates");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.args(["package", "--quiet", "--locked", "--no-verify"]).current_dir(&release.root);
    if release.allows_dirty {
        command.arg("--allow-dirty");
    }
    command.arg("--target-dir").arg(&built);
    command.args(order.iter().map(|package| format!("--package={}", package.name)));
    release::run(&mut command)?;
    let mut names = String::new();
    for package in order {
        let name = format!("{}-{}.crate", package.name, package.version);
        release::copy(&built.join("package").join(&name), &output.join(&name))?;
        names += &format!("{name}\n");
    }
    release::write(&output.join(ORDER), &names)
}
