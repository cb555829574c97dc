//! Trials of the documents of a release: the site, the licences, the bills.

use std::path::Path;

use serde_json::Value;

use super::{EmptyFolder, require};
use crate::dist::documents::{bill_name, licences_name, site_name};
use crate::dist::product::PRODUCTS;
use crate::dist::release::{self, Release};

/// Unpacks the site; each local file that a page refers to exists.
pub(crate) fn site(release: &Release) -> Result<(), String> {
    let name = site_name(release);
    let folder = EmptyFolder::new("site")?;
    folder.unpack(&release.made(&format!("{name}.tar.gz"))?)?;
    let site = folder.path().join(name);
    for file in ["index.html", "rules.wasm", "expressions.wasm"] {
        require(&site.join(file))?;
    }
    let pages = release::files(&site)?;
    let mut count = 0;
    for page in pages.iter().filter(|page| page.extension().is_some_and(|it| it == "html")) {
        let text = release::read(page)?;
        for reference in references(&text) {
            let parent = page.parent().unwrap_or(&site);
            let target = parent.join(reference);
            let target = if target.is_dir() { target.join("index.html") } else { target };
            require(&target).map_err(|error| format!("{} refers to {error}", page.display()))?;
            count += 1;
        }
    }
    if count < 100 { Err(format!("the pages have only {count} references")) } else { Ok(()) }
}

/// The values of `href` and `src` that are paths, without query and fragment.
fn references(page: &str) -> Vec<&str> {
    let starts = ["href=\"", "src=\""];
    let values = starts.iter().flat_map(|start| page.split(*start).skip(1));
    let paths = values.filter_map(|rest| rest.split('"').next()?.split(['#', '?']).next());
    paths.filter(|path| !path.is_empty() && !path.contains(':')).collect()
}

/// Whether the licences of each product name their crates.
pub(crate) fn licences(release: &Release) -> Result<(), String> {
    PRODUCTS.iter().try_for_each(|product| {
        let text = release::read(&release.output.join(licences_name(release, product)))?;
        if product.links_glibc && !text.contains("\nglibc ") {
            return Err("no licence of glibc".to_owned());
        }
        for identity in release.crates_of(product) {
            let Some(package) = release.packages.0.get(identity) else { continue };
            let entry = format!("\n{} {} ", package.name, package.version);
            if !package.is_local && !text.contains(&entry) {
                return Err(format!("no licence of {}", package.name));
            }
        }
        Ok(())
    })
}

/// Whether each bill is JSON of CycloneDX whose dependencies are its components.
pub(crate) fn bills(release: &Release) -> Result<(), String> {
    PRODUCTS.iter().try_for_each(|product| {
        let path = release.output.join(bill_name(release, product));
        check_bill(&path).map_err(|error| format!("{}: {error}", path.display()))
    })
}

fn check_bill(path: &Path) -> Result<(), String> {
    let bill: Value =
        serde_json::from_str(&release::read(path)?).map_err(|error| error.to_string())?;
    if bill["bomFormat"] != "CycloneDX" {
        return Err("it is not a bill of CycloneDX".to_owned());
    }
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut known: Vec<Value> =
        list(&bill["components"]).iter().map(|component| component["bom-ref"].clone()).collect();
    known.push(bill["metadata"]["component"]["bom-ref"].clone());
    for dependency in list(&bill["dependencies"]) {
        let named = list(&dependency["dependsOn"]);
        if let Some(unknown) = named.iter().find(|reference| !known.contains(reference)) {
            return Err(format!("{unknown} is not a component"));
        }
    }
    if known.len() < 20 { Err(format!("only {} components", known.len())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::references;

    #[test]
    fn references_are_paths_of_this_site() {
        let page = r##"<a href="docs/ops.html#add">a</a> <a href="https://example.org/">b</a>
            <img src="images/x.svg?v=1"> <a href="#top">c</a>"##;
        assert_eq!(references(page), ["docs/ops.html", "images/x.svg"]);
    }
}
