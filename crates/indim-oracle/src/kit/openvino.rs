//! Cases as OpenVINO IR: `auto_broadcast` of the operation, or the mode of `Broadcast`.

use indim_ops::{ArrayType, DType, Op};
use indim_shape::RuleSetName as Rule;

use super::KitCase;

/// The external file of a model, with its name.
type ExternalFile = Option<(String, Vec<u8>)>;

/// The network and its constants, or `None` if OpenVINO lacks the operation.
pub(super) fn file(case: &KitCase) -> Option<(Vec<u8>, ExternalFile)> {
    let (operation, version) = match case.operation() {
        None => ("Broadcast", "opset3"),
        Some(operation) => (operation.openvino?, "opset1"),
    };
    let mut network = IrNetwork::default();
    let mut inputs = case.draft.types();
    for (index, input) in inputs.iter().enumerate() {
        network.parameter(index, input);
    }
    let lists = [case.target(), case.draft.dims.clone()];
    for list in lists.into_iter().flatten() {
        inputs.push(network.list(&list));
    }
    let result = case.stated_result();
    let name = format!("id=\"{}\" name=\"y\" type=\"{operation}\"", inputs.len());
    network.layer(&name, version, &attributes(case), &inputs, Some(&result));
    let name = format!("id=\"{}\" name=\"result\" type=\"Result\"", inputs.len() + 1);
    network.layer(&name, "opset1", "", core::slice::from_ref(&result), None);
    Some(network.finish(inputs.len()))
}

/// The broadcast attributes of the operation.
fn attributes(case: &KitCase) -> String {
    let (attribute, rule, axis_name) = match case.rule {
        _ if case.draft.target.is_none() && case.draft.shapes.len() == 1 => return String::new(),
        Rule::None => ("auto_broadcast", "none", ""),
        Rule::Numpy => ("auto_broadcast", "numpy", ""),
        Rule::Pdpd => ("auto_broadcast", "pdpd", "auto_broadcast.auto_broadcast_axis"),
        Rule::Bidirectional => ("mode", "bidirectional", ""),
        Rule::Explicit => ("mode", "explicit", ""),
        Rule::PdpdBroadcast => ("mode", "pdpd", "mode.mode.axis"),
        _ => ("mode", "numpy", ""),
    };
    let mut text = format!("{attribute}=\"{rule}\"");
    if let Some(axis) = case.draft.axis {
        text += &format!(" {axis_name}=\"{axis}\"");
    }
    if case.operation().is_some_and(|operation| operation.op == Op::Div) {
        text += " m_pythondiv=\"false\"";
    }
    text
}

/// The text of a network. Layers are numbered in order: the inputs of the single operation, the
/// operation, the result.
#[derive(Default)]
struct IrNetwork {
    layers: String,
    constants: Vec<u8>,
    /// Whether the network has constants, which may all be empty.
    has_lists: bool,
    /// Number of inputs so far, which is the number of the next layer.
    count: usize,
}

impl IrNetwork {
    fn parameter(&mut self, index: usize, array_type: &ArrayType) {
        let name = format!("id=\"{}\" name=\"x{index}\" type=\"Parameter\"", self.count);
        let sizes: Vec<String> = array_type.shape.iter().map(usize::to_string).collect();
        let data =
            format!("shape=\"{}\" element_type=\"{}\"", sizes.join(","), names(array_type.dtype).0);
        self.layer(&name, "opset1", &data, &[], Some(array_type));
        self.count += 1;
    }

    /// A constant of integers.
    fn list(&mut self, numbers: &[i64]) -> ArrayType {
        let array_type = ArrayType::new(DType::I64, [numbers.len()]);
        let (offset, count) = (self.constants.len(), numbers.len());
        self.has_lists = true;
        self.constants.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        let name = format!("id=\"{}\" name=\"list{}\" type=\"Const\"", self.count, self.count);
        let data = format!(
            "element_type=\"i64\" shape=\"{count}\" offset=\"{offset}\" size=\"{}\"",
            8 * count
        );
        self.layer(&name, "opset1", &data, &[], Some(&array_type));
        self.count += 1;
        array_type
    }

    fn layer(
        &mut self,
        name: &str,
        version: &str,
        data: &str,
        inputs: &[ArrayType],
        output: Option<&ArrayType>,
    ) {
        let ports = |types: &[ArrayType], first: usize| -> String {
            let ports = types.iter().zip(first..);
            ports.map(|(array_type, id)| port(id, array_type)).collect()
        };
        self.layers += &format!("<layer {name} version=\"{version}\">\n");
        if !data.is_empty() {
            self.layers += &format!("<data {data}/>\n");
        }
        if !inputs.is_empty() {
            self.layers += &format!("<input>\n{}</input>\n", ports(inputs, 0));
        }
        if let Some(output) = output {
            let ports = ports(core::slice::from_ref(output), inputs.len());
            self.layers += &format!("<output>\n{ports}</output>\n");
        }
        self.layers += "</layer>\n";
    }

    /// The files. The layer with number `operation` has all layers before it as inputs; the next layer is
    /// the result.
    fn finish(self, operation: usize) -> (Vec<u8>, ExternalFile) {
        let edge = |from: usize, port: usize, to: usize, input: usize| {
            format!(
                "<edge from-layer=\"{from}\" from-port=\"{port}\" to-layer=\"{to}\" to-port=\"{input}\"/>\n"
            )
        };
        let mut edges: String = (0..operation).map(|it| edge(it, 0, operation, it)).collect();
        edges += &edge(operation, operation, operation + 1, 0);
        let text = format!(
            "<?xml version=\"1.0\"?>\n<net name=\"case\" version=\"11\">\n<layers>\n{}</layers>\n\
             <edges>\n{edges}</edges>\n</net>\n",
            self.layers
        );
        let external_file = self.has_lists.then(|| ("model.bin".to_owned(), self.constants));
        (text.into_bytes(), external_file)
    }
}

fn port(id: usize, array_type: &ArrayType) -> String {
    let sizes: String = array_type.shape.iter().map(|size| format!("<dim>{size}</dim>")).collect();
    format!("<port id=\"{id}\" precision=\"{}\">{sizes}</port>\n", names(array_type.dtype).1)
}

/// The names of an element type in attributes and in ports.
fn names(dtype: DType) -> (&'static str, &'static str) {
    match dtype {
        DType::Bool => ("boolean", "BOOL"),
        DType::I32 => ("i32", "I32"),
        DType::I64 => ("i64", "I64"),
        _ => ("f32", "FP32"),
    }
}
