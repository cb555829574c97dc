//! The layers and constants of a written file.

use core::fmt::Write as _;
use std::collections::HashMap;

use indim_graph::Array;
use indim_ops::{ArrayType, DType};

use crate::element_type::{attribute_name, port_name};

/// A value in the file: an output of a layer, with the number of the layer in the file.
#[derive(Debug, Clone)]
pub(super) struct WriterPort {
    layer: usize,
    /// The number of the output.
    output: usize,
    pub(super) array_type: ArrayType,
}

/// An attribute of a layer.
pub(super) type Attribute = (&'static str, String);

struct WriterLayer {
    operation: &'static str,
    /// The operation set that the layer names.
    set: u32,
    name: String,
    attributes: Vec<Attribute>,
    inputs: Vec<WriterPort>,
    /// Empty for a result layer.
    outputs: Vec<ArrayType>,
    /// Names of outputs, each with the number of its output.
    names: Vec<(usize, String)>,
}

/// The builder of a file.
#[derive(Default)]
pub(super) struct File {
    layers: Vec<WriterLayer>,
    constants: Vec<u8>,
    /// Cache of integer lists; equal lists are written once.
    lists: HashMap<Vec<i64>, WriterPort>,
}

impl File {
    /// Adds a layer with an output of this type.
    pub(super) fn layer(
        &mut self,
        (operation, set): (&'static str, u32),
        attributes: &[Attribute],
        inputs: &[WriterPort],
        output: ArrayType,
    ) -> WriterPort {
        let array_type = output.clone();
        let layer = self.add((operation, set), attributes, inputs, vec![output]);
        WriterPort { layer, output: 0, array_type }
    }

    /// Adds a layer with two outputs of the types `outputs`; returns the output number `output`.
    pub(super) fn layer_of_two(
        &mut self,
        operation: (&'static str, u32),
        attributes: &[Attribute],
        inputs: &[WriterPort],
        (outputs, output): ([ArrayType; 2], usize),
    ) -> WriterPort {
        let array_type = outputs[output].clone();
        let layer = self.add(operation, attributes, inputs, outputs.to_vec());
        WriterPort { layer, output, array_type }
    }

    /// Adds a layer and returns its number.
    fn add(
        &mut self,
        (operation, set): (&'static str, u32),
        attributes: &[Attribute],
        inputs: &[WriterPort],
        outputs: Vec<ArrayType>,
    ) -> usize {
        let layer = self.layers.len();
        self.layers.push(WriterLayer {
            operation,
            set,
            name: format!("{operation}_{layer}"),
            attributes: attributes.to_vec(),
            inputs: inputs.to_vec(),
            outputs,
            names: Vec::new(),
        });
        layer
    }

    pub(super) fn parameter(&mut self, name: &str, array_type: &ArrayType) -> WriterPort {
        let sizes = array_type.shape.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let element_type = attribute_name(array_type.dtype).to_owned();
        let attributes = [("shape", sizes), ("element_type", element_type)];
        let port = self.layer(("Parameter", 1), &attributes, &[], array_type.clone());
        self.layers[port.layer].name = name.to_owned();
        self.layers[port.layer].names.push((0, name.to_owned()));
        port
    }

    pub(super) fn constant(&mut self, array: &Array) -> WriterPort {
        let (array_type, bytes) = (array.array_type(), array.to_le_bytes());
        let sizes = array_type.shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let attributes = [
            ("element_type", attribute_name(array_type.dtype).to_owned()),
            ("shape", sizes),
            ("offset", self.constants.len().to_string()),
            ("size", bytes.len().to_string()),
        ];
        self.constants.extend(bytes);
        self.layer(("Const", 1), &attributes, &[], array_type.clone())
    }

    /// A constant of integers along one axis.
    pub(super) fn integer_list(&mut self, numbers: &[i64]) -> WriterPort {
        if let Some(port) = self.lists.get(numbers) {
            return port.clone();
        }
        let array = Array::new([numbers.len()], numbers.to_vec());
        let port = self.constant(&array.expect("invariant: the elements fill the axis"));
        self.lists.insert(numbers.to_vec(), port.clone());
        port
    }

    /// Adds an output of the network.
    pub(super) fn result(&mut self, name: &str, value: &WriterPort) {
        let names = &mut self.layers[value.layer].names;
        let name_of_output = (value.output, name.to_owned());
        if !names.contains(&name_of_output) {
            names.push(name_of_output);
        }
        let output =
            self.layer(("Result", 1), &[], core::slice::from_ref(value), value.array_type.clone());
        let layer = &mut self.layers[output.layer];
        (layer.name, layer.outputs) = (name.to_owned(), Vec::new());
    }

    /// Whether any layer computes elements of one of these types.
    pub(super) fn computes(&self, types: &[DType]) -> bool {
        let mut computing = self.layers.iter().filter(|layer| !layer.inputs.is_empty());
        computing.any(|layer| layer.outputs.iter().any(|output| types.contains(&output.dtype)))
    }

    /// Text of the network, called `name`, and bytes of the external file of constants.
    pub(super) fn finish(self, name: &str) -> (String, Vec<u8>) {
        let mut text = format!(
            "<?xml version=\"1.0\"?>\n<net name=\"{}\" version=\"11\">\n\t<layers>\n",
            escaped(name)
        );
        for (id, layer) in self.layers.iter().enumerate() {
            self.write_layer(&mut text, id, layer);
        }
        text += "\t</layers>\n\t<edges>\n";
        for (to, layer) in self.layers.iter().enumerate() {
            for (input, source) in layer.inputs.iter().enumerate() {
                let from = source.layer;
                let port = self.layers[from].inputs.len() + source.output;
                let edge = format_args!(
                    "\t\t<edge from-layer=\"{from}\" from-port=\"{port}\" to-layer=\"{to}\" \
                     to-port=\"{input}\" />\n"
                );
                append(&mut text, edge);
            }
        }
        text += "\t</edges>\n\t<rt_info />\n</net>\n";
        (text, self.constants)
    }

    fn write_layer(&self, text: &mut String, id: usize, layer: &WriterLayer) {
        let WriterLayer { operation, set, name, attributes, inputs, outputs, names } = layer;
        let name = escaped(name);
        append(
            text,
            format_args!(
                "\t\t<layer id=\"{id}\" name=\"{name}\" type=\"{operation}\" version=\"opset{set}\">\n"
            ),
        );
        if !attributes.is_empty() {
            *text += "\t\t\t<data";
            for (name, value) in attributes {
                append(text, format_args!(" {name}=\"{}\"", escaped(value)));
            }
            *text += " />\n";
        }
        if !inputs.is_empty() {
            *text += "\t\t\t<input>\n";
            for (index, port) in inputs.iter().enumerate() {
                write_port(text, index, &port.array_type, &[]);
            }
            *text += "\t\t\t</input>\n";
        }
        if !outputs.is_empty() {
            *text += "\t\t\t<output>\n";
            for (output, array_type) in outputs.iter().enumerate() {
                let own = names.iter().filter(|(of, _)| *of == output);
                let own: Vec<&str> = own.map(|(_, name)| name.as_str()).collect();
                write_port(text, inputs.len() + output, array_type, &own);
            }
            *text += "\t\t\t</output>\n";
        }
        *text += "\t\t</layer>\n";
    }
}

fn append(text: &mut String, arguments: core::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("invariant: text can be appended to");
}

fn write_port(text: &mut String, id: usize, array_type: &ArrayType, names: &[&str]) {
    let precision = port_name(array_type.dtype);
    append(text, format_args!("\t\t\t\t<port id=\"{id}\" precision=\"{precision}\""));
    if !names.is_empty() {
        // Commas separate names, so a comma within a name is escaped.
        let names = names.iter().map(|name| name.replace('\\', "\\\\").replace(',', "\\,"));
        let names = names.collect::<Vec<_>>().join(",");
        append(text, format_args!(" names=\"{}\"", escaped(&names)));
    }
    *text += ">\n";
    for size in array_type.shape.iter() {
        append(text, format_args!("\t\t\t\t\t<dim>{size}</dim>\n"));
    }
    *text += "\t\t\t\t</port>\n";
}

/// Escapes text for an attribute value; characters that XML cannot represent become `?`.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\t' => escaped += "&#9;",
            '\n' => escaped += "&#10;",
            '\r' => escaped += "&#13;",
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('?'),
            _ => escaped.push(character),
        }
    }
    escaped
}
