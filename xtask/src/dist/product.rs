//! The products with binaries: the command and the Python package.

/// A product with binaries.
pub(crate) struct Product {
    /// Its name in the names of files.
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    /// Its type in a bill of materials.
    pub(crate) kind: &'static str,
    /// Whether glibc is linked into it, so that licences and bill name glibc.
    pub(crate) links_glibc: bool,
}

pub(crate) const COMMAND: Product =
    Product { name: "command", package: "indim-cli", kind: "application", links_glibc: true };

pub(crate) const PYTHON: Product =
    Product { name: "python", package: "indim-py", kind: "library", links_glibc: false };

pub(crate) const PRODUCTS: [&Product; 2] = [&COMMAND, &PYTHON];
