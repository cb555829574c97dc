//! Small OpenVINO networks, built as text.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use bytes::Bytes;
use indim::formats::{Folder, FormatError, Model, ReadOptions, SourceFile};
use indim_graph::Array;
use indim_ops::DType;

use super::npy;
use super::samples::mismatches;

/// The builder of a network.
#[derive(Default)]
pub(crate) struct Network {
    layers: Vec<Layer>,
    /// Content of the file of constants.
    pub(crate) constants: Vec<u8>,
}

struct Layer {
    text: String,
    /// Layer and port of each input; without a port the first one.
    sources: Vec<(usize, Option<usize>)>,
}

/// A folder whose constants are in memory.
struct MemoryFolder(Bytes);

impl Folder for MemoryFolder {
    fn read(&self, name: &str) -> std::io::Result<Bytes> {
        match name {
            "model.bin" => Ok(self.0.clone()),
            _ => PathBuf::from("no such folder").read(name),
        }
    }
}

/// Attributes and elements of a port: `FP32 2 3` is a port of type f32[2, 3].
fn port(id: usize, text: &str) -> String {
    let (precision, sizes) = text.split_once(' ').unwrap_or((text, ""));
    let sizes: String = sizes.split_whitespace().map(|size| format!("<dim>{size}</dim>")).collect();
    format!("<port id=\"{id}\" precision=\"{precision}\" names=\"v{id}\">{sizes}</port>\n")
}

impl Network {
    /// Adds a layer and returns its number. `Add-1` is the operation of the first operation set; sources
    /// are numbers of layers, `3:4` for port 4 of layer 3.
    pub(crate) fn add(
        &mut self,
        operation: &str,
        attributes: &str,
        sources: &[&str],
        results: &[&str],
    ) -> usize {
        let id = self.layers.len();
        let (operation, set) = operation.split_once('-').unwrap();
        let ports = |texts: &[&str], first: usize| -> String {
            texts.iter().enumerate().map(|(index, text)| port(first + index, text)).collect()
        };
        let (inputs, outputs) =
            (ports(&vec!["FP32"; sources.len()], 0), ports(results, sources.len()));
        let text = format!(
            "<layer id=\"{id}\" name=\"l{id}\" type=\"{operation}\" version=\"opset{set}\">\n\
             <data {attributes}/>\n<input>\n{inputs}</input>\n<output>\n{outputs}</output>\n</layer>\n"
        );
        let source = |text: &&str| match text.split_once(':') {
            Some((layer, port)) => (layer.parse().unwrap(), Some(port.parse().unwrap())),
            None => (text.parse().unwrap(), None),
        };
        self.layers.push(Layer { text, sources: sources.iter().map(source).collect() });
        id
    }

    pub(crate) fn parameter(&mut self, element_type: &str, shape: &str, port: &str) -> usize {
        let attributes = format!("element_type=\"{element_type}\" shape=\"{shape}\"");
        self.add("Parameter-1", &attributes, &[], &[port])
    }

    /// A constant of integers along one axis.
    pub(crate) fn integers(&mut self, numbers: &[i64]) -> usize {
        let (offset, count) = (self.constants.len(), numbers.len());
        numbers.iter().for_each(|number| self.constants.extend(number.to_le_bytes()));
        let attributes = format!(
            "element_type=\"i64\" shape=\"{count}\" offset=\"{offset}\" size=\"{}\"",
            8 * count
        );
        self.add("Const-1", &attributes, &[], &[&format!("I64 {count}")])
    }

    /// A constant of floats.
    pub(crate) fn floats(&mut self, shape: &str, numbers: &[f32]) -> usize {
        let offset = self.constants.len();
        numbers.iter().for_each(|number| self.constants.extend(number.to_le_bytes()));
        let size = 4 * numbers.len();
        let attributes =
            format!("element_type=\"f32\" shape=\"{shape}\" offset=\"{offset}\" size=\"{size}\"");
        self.add("Const-1", &attributes, &[], &[&format!("FP32 {}", shape.replace(',', " "))])
    }

    pub(crate) fn result(&mut self, source: &str) -> usize {
        self.add("Result-1", "", &[source], &[])
    }

    /// A network for a body of the next layers; [`Network::nest`] puts it in one of them. It continues the
    /// constants.
    pub(crate) fn inner(&mut self) -> Network {
        Network { layers: Vec::new(), constants: core::mem::take(&mut self.constants) }
    }

    /// Puts a body into a layer: its element (`body`, `then_body`), and the elements of its ports.
    pub(crate) fn nest(&mut self, layer: usize, element: &str, inner: Network, ports: &str) {
        let layers: String = inner.layers.iter().map(|layer| layer.text.as_str()).collect();
        let edges = inner.edges();
        let body = format!(
            "{ports}<{element}>\n<layers>\n{layers}</layers>\n<edges>\n{edges}</edges>\n</{element}>\n\
             </layer>\n"
        );
        let text = &mut self.layers[layer].text;
        text.truncate(text.len() - "</layer>\n".len());
        text.push_str(&body);
        self.constants = inner.constants;
    }

    /// The text, with the layers in the order that `arrange` gives them.
    pub(crate) fn arranged(&self, arrange: impl FnOnce(&mut Vec<&str>)) -> String {
        let mut layers: Vec<&str> = self.layers.iter().map(|layer| layer.text.as_str()).collect();
        arrange(&mut layers);
        let (layers, edges) = (layers.concat(), self.edges());
        format!(
            "<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\">\n<layers>\n{layers}</layers>\n\
             <edges>\n{edges}</edges>\n</net>\n"
        )
    }

    fn edges(&self) -> String {
        let mut edges = String::new();
        for (to, layer) in self.layers.iter().enumerate() {
            for (index, &(from, port)) in layer.sources.iter().enumerate() {
                // Ports of results have the numbers after those of inputs.
                let first = self.layers.get(from).map_or(0, |layer| layer.sources.len());
                let port = port.unwrap_or(first);
                edges += &format!(
                    "<edge from-layer=\"{from}\" from-port=\"{port}\" to-layer=\"{to}\" \
                     to-port=\"{index}\"/>\n"
                );
            }
        }
        edges
    }

    pub(crate) fn text(&self) -> String {
        self.arranged(|_| ())
    }

    /// The text, in which each port has a name of its own: `l3_v1`.
    pub(crate) fn distinct_text(&self) -> String {
        let mut layer = String::new();
        let own_names = |line: &str| {
            let id = line.strip_prefix("<layer id=\"").and_then(|rest| rest.split('"').next());
            if let Some(id) = id {
                layer = id.to_owned();
            }
            line.replace("names=\"v", &format!("names=\"l{layer}_v"))
        };
        self.text().lines().map(own_names).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn read(&self) -> Result<Box<dyn Model>, FormatError> {
        read(&self.text(), &self.constants)
    }
}

/// A text with an external file of constants.
pub(crate) fn source(text: &str, constants: &[u8]) -> SourceFile {
    let folder = Arc::new(MemoryFolder(Bytes::copy_from_slice(constants)));
    SourceFile::new("model.xml", text.as_bytes().to_vec()).with_folder(folder)
}

/// The model of a text with an external file of constants.
pub(crate) fn read(text: &str, constants: &[u8]) -> Result<Box<dyn Model>, FormatError> {
    indim::formats::read(&source(text, constants), &ReadOptions::default())
}

/// Compares networks that a script of OpenVINO writes with its results, if an environment variable names a
/// Python that has it.
pub(crate) fn compare_with_openvino(script: &str, count: usize) {
    let Some(python) = std::env::var_os("INDIM_ONNX_PYTHON") else {
        eprintln!("skipped: INDIM_ONNX_PYTHON names no Python with openvino");
        return;
    };
    let folder = std::env::temp_dir().join(format!("indim-{script}-{}", std::process::id()));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/support").join(script);
    let run = Command::new(python).arg(script).arg(&folder).arg(count.to_string()).output();
    let run = run.expect("the script starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let mut wrong = Vec::new();
    for number in 0..count {
        let folder = folder.join(format!("{number:04}"));
        let source = SourceFile::open(folder.join("model.xml")).unwrap();
        let model = indim::formats::read(&source, &ReadOptions::default());
        let model = model.unwrap_or_else(|error| panic!("{number}: {}", error.draw(&source)));
        let array = |(index, dtype): (usize, DType)| {
            npy::read(&folder.join(format!("input{index}.npy")), dtype)
        };
        let types = model.inputs().iter().map(|input| input.dtype.expect("a stated type"));
        let inputs: Vec<Array> = types.enumerate().map(array).collect();
        let found = super::run(&*model, &inputs);
        let found = found.unwrap_or_else(|error| panic!("{number}: {}", error.draw(&source)));
        let output = |(index, array): (usize, &Array)| {
            npy::read(&folder.join(format!("output{index}.npy")), array.dtype())
        };
        let expected: Vec<Array> = found.iter().enumerate().map(output).collect();
        for difference in mismatches(&found, &expected) {
            wrong.push(format!("{number}: {difference}"));
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
