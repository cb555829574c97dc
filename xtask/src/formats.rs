//! Tests in which other systems read the files that indim writes: JAX, ONNX Runtime and OpenVINO read
//! programs; zarr-python, xarray, Pillow, tifffile and rasterio read arrays. They are installed into
//! environments of their own.

use std::path::Path;

use crate::{cargo, python, remote};

const REQUIREMENTS: &str = "crates/indim/tests/formats/requirements.txt";

/// Installs the systems, and runs the tests that need them.
pub(crate) fn formats(root: &Path) -> bool {
    if !python::is_available() {
        eprintln!("it takes {}", python::INTERPRETER);
        return false;
    }
    let folder = root.join("target/python/formats");
    let Some(interpreter) = python::environment(root, &folder) else { return false };
    let requirements = root.join(REQUIREMENTS);
    let install = ["install".as_ref(), "--requirement".as_ref(), requirements.as_os_str()];
    if !python::pip(root, &interpreter, &install) {
        return false;
    }
    let path = interpreter.to_string_lossy();
    let variables = [("INDIM_JAX_PYTHON", &*path), ("INDIM_ONNX_PYTHON", &*path)];
    let by_rust = ["test", "--package=indim", "--features=onnx,openvino,xla", "--test=formats"];
    cargo(&by_rust, &variables)
        && python::test_with(
            root,
            &interpreter,
            &["tests/test_openvino.py", "tests/test_models.py"],
        )
}

/// Installs the packages that read array files, and runs the test that needs them.
pub(crate) fn stores(root: &Path) -> bool {
    if !python::is_available() {
        eprintln!("it takes {}", python::INTERPRETER);
        return false;
    }
    let folder = root.join("target/python/stores");
    let Some(interpreter) = python::environment(root, &folder) else { return false };
    let requirements = root.join("crates/indim-stores/requirements-test.txt");
    let install = ["install".as_ref(), "--requirement".as_ref(), requirements.as_os_str()];
    if !python::pip(root, &interpreter, &install) {
        return false;
    }
    let path = interpreter.to_string_lossy();
    let test = ["test", "--package=indim-stores", "--features=csv,png,tiff,zarr", "--test=python"];
    cargo(&test, &[("INDIM_STORES_PYTHON", &*path)]) && remote::moto(root, &interpreter)
}
