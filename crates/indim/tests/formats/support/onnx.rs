//! ONNX models encoded byte by byte: an implementation of the messages independent of the reader.

use std::path::Path;
use std::process::Command;

use indim_graph::Array;
use indim_ops::DType;

/// The builder of a message: a sequence of fields.
#[derive(Clone, Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// An integer.
    pub(crate) fn int(mut self, field: u64, number: i64) -> Message {
        self.varint(field << 3);
        self.varint(number as u64);
        self
    }

    /// A float of 32 bits.
    pub(crate) fn float(mut self, field: u64, number: f32) -> Message {
        self.varint(field << 3 | 5);
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    /// A float of 64 bits.
    pub(crate) fn double(mut self, field: u64, number: f64) -> Message {
        self.varint(field << 3 | 1);
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    /// Bytes, a text or a message.
    pub(crate) fn bytes(mut self, field: u64, bytes: impl AsRef<[u8]>) -> Message {
        let bytes = bytes.as_ref();
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Numbers one by one: the unpacked encoding.
    pub(crate) fn ints(self, field: u64, numbers: &[i64]) -> Message {
        numbers.iter().fold(self, |message, &number| message.int(field, number))
    }

    /// Numbers in the packed encoding.
    pub(crate) fn packed(self, field: u64, numbers: &[i64]) -> Message {
        let mut packed = Message::default();
        numbers.iter().for_each(|&number| packed.varint(number as u64));
        self.bytes(field, packed)
    }
}

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// ONNX's numbers of element types.
pub(crate) const FLOAT: i64 = 1;
pub(crate) const INT64: i64 = 7;
pub(crate) const BOOL: i64 = 9;

fn message() -> Message {
    Message::default()
}

/// An integer attribute.
pub(crate) fn int(name: &str, number: i64) -> Message {
    message().bytes(1, name).int(3, number).int(20, 2)
}

/// A float attribute.
pub(crate) fn float(name: &str, number: f32) -> Message {
    message().bytes(1, name).float(2, number).int(20, 1)
}

/// An attribute with a list of integers.
pub(crate) fn ints(name: &str, numbers: &[i64]) -> Message {
    message().bytes(1, name).ints(8, numbers).int(20, 7)
}

/// A text attribute.
pub(crate) fn text(name: &str, text: &str) -> Message {
    message().bytes(1, name).bytes(4, text).int(20, 3)
}

/// An array attribute.
pub(crate) fn array(name: &str, tensor: &Message) -> Message {
    message().bytes(1, name).bytes(5, tensor).int(20, 4)
}

/// A reference to the attribute `of` of the enclosing function.
pub(crate) fn reference(name: &str, of: &str) -> Message {
    message().bytes(1, name).bytes(21, of)
}

/// An array with a name, without elements.
pub(crate) fn tensor(name: &str, element_type: i64, dims: &[i64]) -> Message {
    message().bytes(8, name).int(2, element_type).packed(1, dims)
}

/// An array of `f32` with raw bytes.
pub(crate) fn floats(name: &str, dims: &[i64], elements: &[f32]) -> Message {
    let raw: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
    tensor(name, FLOAT, dims).bytes(9, raw)
}

/// A list of `i64`, its elements unpacked.
pub(crate) fn list(name: &str, elements: &[i64]) -> Message {
    tensor(name, INT64, &[elements.len() as i64]).packed(7, elements)
}

/// A node; its domain is `ai.onnx` unless the operator is written `domain.Name`.
pub(crate) fn node(
    operator: &str,
    inputs: &[&str],
    outputs: &[&str],
    attributes: &[Message],
) -> Message {
    let (domain, operator) = operator.rsplit_once('.').unwrap_or(("", operator));
    let mut node = inputs.iter().fold(message(), |node, input| node.bytes(1, input));
    node = outputs.iter().fold(node, |node, output| node.bytes(2, output));
    node = node.bytes(4, operator).bytes(7, domain);
    attributes.iter().fold(node, |node, attribute| node.bytes(5, attribute))
}

/// An input or output whose sizes are numbers or names; with `None` its rank is unknown.
pub(crate) fn value(name: &str, element_type: i64, sizes: Option<&[&str]>) -> Message {
    let dimension = |size: &&str| match size.parse() {
        Ok(size) => message().int(1, size),
        Err(_) => message().bytes(2, size),
    };
    let mut array_type = message().int(1, element_type);
    if let Some(sizes) = sizes {
        let shape = sizes.iter().map(dimension).fold(message(), |shape, size| shape.bytes(1, size));
        array_type = array_type.bytes(2, shape);
    }
    message().bytes(1, name).bytes(2, message().bytes(1, array_type))
}

/// A function of the domain `my`, for an operator set of ONNX.
pub(crate) fn function(
    name: &str,
    inputs: &[&str],
    outputs: &[&str],
    nodes: &[Message],
    defaults: &[Message],
    opset: i64,
) -> Message {
    let mut function = message().bytes(1, name).bytes(10, "my");
    function = inputs.iter().fold(function, |function, input| function.bytes(4, input));
    function = outputs.iter().fold(function, |function, output| function.bytes(5, output));
    function = nodes.iter().fold(function, |function, node| function.bytes(7, node));
    function = defaults.iter().fold(function, |function, default| function.bytes(11, default));
    function.bytes(9, imported("", opset)).bytes(9, imported("my", 1))
}

fn imported(domain: &str, version: i64) -> Message {
    message().bytes(1, domain).int(2, version)
}

/// The builder of a model.
#[derive(Clone, Default)]
pub(crate) struct Model {
    pub(crate) opset: i64,
    pub(crate) inputs: Vec<Message>,
    pub(crate) initializers: Vec<Message>,
    pub(crate) nodes: Vec<Message>,
    pub(crate) outputs: Vec<Message>,
    pub(crate) functions: Vec<Message>,
}

impl Model {
    /// A model of one node: inputs `a`, `b`, ... of any shape, results `y0`, `y1`, ...
    pub(crate) fn of_node(
        opset: i64,
        operator: &str,
        element_types: &[i64],
        attributes: &[Message],
        results: usize,
    ) -> Model {
        let names: Vec<String> =
            (b'a'..).map(|name| (name as char).to_string()).take(element_types.len()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let outputs: Vec<String> = (0..results).map(|index| format!("y{index}")).collect();
        let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
        let inputs = names.iter().zip(element_types);
        Model {
            opset,
            inputs: inputs.map(|(name, &element_type)| value(name, element_type, None)).collect(),
            nodes: vec![node(operator, &names, &outputs, attributes)],
            outputs: outputs.iter().map(|name| message().bytes(1, name)).collect(),
            ..Model::default()
        }
    }

    /// Bytes of the file.
    pub(crate) fn encoded(&self) -> Vec<u8> {
        let mut graph = message().bytes(2, "g");
        for (field, messages) in
            [(1, &self.nodes), (5, &self.initializers), (11, &self.inputs), (12, &self.outputs)]
        {
            graph = messages.iter().fold(graph, |graph, message| graph.bytes(field, message));
        }
        let model =
            message().int(1, 10).bytes(8, imported("", self.opset)).bytes(8, imported("my", 1));
        let model = model.bytes(7, graph);
        self.functions.iter().fold(model, |model, function| model.bytes(25, function)).0
    }
}

/// The result of a model of one node, or the code of the error.
pub(crate) fn run_node(
    opset: i64,
    operator: &str,
    inputs: &[Array],
    attributes: &[Message],
) -> Result<Array, &'static str> {
    let number = |array: &Array| match array.dtype() {
        DType::F32 => FLOAT,
        DType::U8 => 2,
        DType::I8 => 3,
        DType::I32 => 6,
        DType::I64 => INT64,
        dtype => panic!("{dtype} is not among the types of this test"),
    };
    let types: Vec<i64> = inputs.iter().map(number).collect();
    let model = Model::of_node(opset, operator, &types, attributes, 1).encoded();
    let model = super::read("test.onnx", &model).map_err(|error| error.code())?;
    Ok(super::run(&*model, inputs).map_err(|error| error.code())?.remove(0))
}

/// A model with inputs and the expected results.
pub(crate) struct StoredModel {
    pub(crate) name: String,
    pub(crate) content: Vec<u8>,
    pub(crate) inputs: Vec<Array>,
    pub(crate) outputs: Vec<Array>,
}

/// Stores bytes and types of arrays for a script.
fn store(folder: &Path, name: &str, arrays: &[Array]) {
    for (index, array) in arrays.iter().enumerate() {
        let path = |ending: &str| folder.join(format!("{name}{index}.{ending}"));
        let stated = format!("{} {}", array.dtype().numpy_name(), array.shape());
        std::fs::write(path("bin"), array.to_le_bytes()).unwrap();
        std::fs::write(path("txt"), stated).unwrap();
    }
}

/// Compares results with those of ONNX Runtime, if an environment variable names a Python that has it.
pub(crate) fn run_in_onnx_runtime(test: &str, models: impl IntoIterator<Item = StoredModel>) {
    let Some(python) = std::env::var_os("INDIM_ONNX_PYTHON") else {
        eprintln!("skipped: INDIM_ONNX_PYTHON names no Python with onnxruntime");
        return;
    };
    let folder = std::env::temp_dir().join(format!("indim-onnx-{test}-{}", std::process::id()));
    for (index, model) in models.into_iter().enumerate() {
        let folder = folder.join(format!("{index:04} {}", model.name).replace(' ', "_"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("model.onnx"), model.content).unwrap();
        store(&folder, "input", &model.inputs);
        store(&folder, "output", &model.outputs);
    }
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/support/onnx_runtime.py");
    let run = Command::new(python).arg(script).arg(&folder).output().expect("the script starts");
    std::fs::remove_dir_all(&folder).unwrap();
    eprintln!("{}", String::from_utf8_lossy(&run.stdout));
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
