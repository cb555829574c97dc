//! Sample programs of other systems with inputs and results, in the folder that `INDIM_FORMAT_SAMPLES`
//! names.

use std::path::PathBuf;

use indim::formats::Tolerance;
use indim_graph::Array;
use indim_ops::DType;
use serde_json::Value;

use super::npy;

/// The folder of the samples.
pub(crate) struct Samples {
    folder: PathBuf,
    manifest: Value,
}

/// A program.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) file: PathBuf,
    /// Folder of its arrays.
    pub(crate) arrays: PathBuf,
    /// `float32[2, 3]`
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    pub(crate) is_in_scope: bool,
    /// Its entry in the manifest.
    pub(crate) entry: Value,
}

/// A damaged file.
pub(crate) struct Damaged {
    pub(crate) file: PathBuf,
    /// The line of the error, if it is in one line.
    pub(crate) line: Option<usize>,
    pub(crate) about: String,
}

impl Samples {
    /// Opens the samples. Returns `None` with a message if the variable is not set.
    pub(crate) fn open() -> Option<Samples> {
        let Some(folder) = std::env::var_os("INDIM_FORMAT_SAMPLES") else {
            eprintln!("skipped: INDIM_FORMAT_SAMPLES names no folder of samples");
            return None;
        };
        Some(Samples::in_folder(PathBuf::from(folder)))
    }

    /// The samples in a folder.
    pub(crate) fn in_folder(folder: PathBuf) -> Samples {
        let manifest = std::fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
        Samples { folder, manifest: serde_json::from_str(&manifest).expect("JSON") }
    }

    fn entries(&self, list: &str, format: &str) -> Vec<&Value> {
        let entries = self.manifest[list].as_array().expect("a list");
        entries.iter().filter(|entry| entry["format"] == format).collect()
    }

    /// The programs in a format.
    pub(crate) fn cases(&self, format: &str) -> Vec<Case> {
        let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        let types = |entry: &Value, key: &str| -> Vec<String> {
            let types = entry[key].as_array().into_iter().flatten();
            types.filter_map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let case = |entry: &Value| Case {
            name: text(entry, "name"),
            file: self.folder.join(text(entry, "file")),
            arrays: self.folder.join(text(entry, "arrays")),
            inputs: types(entry, "inputs"),
            outputs: types(entry, "outputs"),
            is_in_scope: entry["in_scope"] == true,
            entry: entry.clone(),
        };
        self.entries("cases", format).into_iter().map(case).collect()
    }

    /// The damaged files of a format.
    pub(crate) fn damaged(&self, format: &str) -> Vec<Damaged> {
        let damaged = |entry: &Value| Damaged {
            file: self.folder.join(entry["file"].as_str().unwrap_or_default()),
            line: entry["line"].as_u64().map(|line| line as usize).filter(|&line| line > 0),
            about: entry["about"].as_str().unwrap_or_default().to_owned(),
        };
        self.entries("errors", format).into_iter().map(damaged).collect()
    }
}

impl Case {
    /// The arrays in `input0.npy`, `input1.npy`, ...
    pub(crate) fn read_inputs(&self) -> Vec<Array> {
        self.read_arrays("input", &self.inputs)
    }

    /// The arrays in `output0.npy`, `output1.npy`, ...
    pub(crate) fn read_outputs(&self) -> Vec<Array> {
        self.read_arrays("output", &self.outputs)
    }

    fn read_arrays(&self, name: &str, types: &[String]) -> Vec<Array> {
        let array = |(index, text): (usize, &String)| {
            npy::read(&self.arrays.join(format!("{name}{index}.npy")), dtype_of(text))
        };
        types.iter().enumerate().map(array).collect()
    }
}

/// The element type of `float32[2, 3]`.
pub(crate) fn dtype_of(text: &str) -> DType {
    let name = text.split('[').next().unwrap_or_default();
    name.parse().unwrap_or_else(|_| panic!("the element type {name}"))
}

/// Accuracy to which results of different systems agree.
pub(crate) fn tolerance(dtype: DType) -> Tolerance {
    let near = |tolerance| Tolerance::Close { absolute: tolerance, relative: tolerance };
    match dtype {
        DType::F64 | DType::C128 => near(1e-9),
        DType::F32 | DType::C64 => near(1e-4),
        DType::F16 => near(1e-2),
        DType::Bf16 => near(3e-2),
        _ => Tolerance::Exact,
    }
}

/// The differences, output by output.
pub(crate) fn mismatches(found: &[Array], expected: &[Array]) -> Vec<String> {
    if found.len() != expected.len() {
        return vec![format!("{} results where {} belong", found.len(), expected.len())];
    }
    let pairs = found.iter().zip(expected).enumerate();
    let compared = pairs.filter_map(|(index, (found, expected))| {
        let difference = tolerance(expected.dtype()).compare(found, expected)?;
        Some(format!("output {index}: {difference:?}"))
    });
    compared.collect()
}
