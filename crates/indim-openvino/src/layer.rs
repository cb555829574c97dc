//! A layer of the file: its name, operation, attributes and ports.

use core::ops::Range;

use indim_graph::terminal::printable;
use indim_model::{FormatError, FormatErrorKind, FormatLimits, Location};
use roxmltree::Node;

use crate::xml;

/// A layer of the file.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) id: u64,
    pub(super) name: String,
    /// Name of the operation in the file.
    pub(super) operation: String,
    /// Operation set: `opset1`.
    pub(super) version: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) inputs: Vec<Port>,
    pub(super) outputs: Vec<Port>,
    /// Source of each input; complete once the edges have been read.
    pub(super) sources: Vec<Edge>,
    /// Byte range of its start tag.
    span: Range<usize>,
    /// Byte range of its attributes, if it has any.
    data: Option<Range<usize>>,
}

/// An edge, seen from its target.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    /// Position of the source layer.
    pub(super) layer: usize,
    /// Index of the output of the source.
    pub(super) output: usize,
    /// Byte range of the edge in the file.
    pub(super) span: Range<usize>,
}

/// A port of a layer.
#[derive(Debug, Clone)]
pub(super) struct Port {
    pub(super) id: u64,
    /// Names of the value.
    pub(super) names: Vec<String>,
    /// Name of the element type.
    pub(super) precision: Option<String>,
    /// The size of each axis; `None` is unknown.
    pub(super) sizes: Vec<Option<usize>>,
    /// Byte range of the port's start tag.
    pub(super) span: Range<usize>,
}

impl Layer {
    /// # Errors
    /// `attribute`, `unexpected`, `limit`: errors in the file.
    pub(super) fn read(node: Node<'_, '_>, limits: &FormatLimits) -> Result<Layer, FormatError> {
        let data = xml::child(node, "data");
        let attributes = data.into_iter().flat_map(|data| data.attributes());
        let ports = |side: &str| match xml::child(node, side) {
            Some(side) => {
                xml::children(side, "port").map(|port| Port::read(port, limits)).collect()
            }
            None => Ok(Vec::new()),
        };
        Ok(Layer {
            id: xml::number(node, "id")?,
            name: node.attribute("name").unwrap_or_default().to_owned(),
            operation: xml::attribute(node, "type")?.to_owned(),
            version: node.attribute("version").unwrap_or_default().to_owned(),
            attributes: attributes.map(|a| (a.name().to_owned(), a.value().to_owned())).collect(),
            inputs: ports("input")?,
            outputs: ports("output")?,
            sources: Vec::new(),
            span: xml::start_tag(&node),
            data: data.map(|data| xml::start_tag(&data)),
        })
    }

    /// Whether the layer has this operation; letter case does not matter.
    pub(super) fn is(&self, operation: &str) -> bool {
        self.operation.eq_ignore_ascii_case(operation)
    }

    /// ``layer 12 `Add_3` (Add, opset1)``.
    pub(super) fn described(&self) -> String {
        let [name, operation, version] =
            [&self.name, &self.operation, &self.version].map(|s| printable(s));
        format!("layer {} `{name}` ({operation}, {version})", self.id)
    }

    /// Location of its start tag.
    pub(super) fn location(&self) -> Location {
        Location { span: Some(self.span.clone()), described: Some(self.described()) }
    }

    /// Location of its attributes, else of its start tag.
    pub(super) fn data_location(&self) -> Location {
        let span = self.data.as_ref().unwrap_or(&self.span);
        Location { span: Some(span.clone()), described: Some(self.described()) }
    }

    /// Location of one of its ports.
    pub(super) fn port_location(&self, port: &Port) -> Location {
        Location { span: Some(port.span.clone()), described: Some(self.described()) }
    }

    /// Adds the location where the error can be repaired: the attributes for an error of an attribute,
    /// of the broadcast rule, of an element type or of the size of a constant, else the start tag of the
    /// layer.
    pub(super) fn fault(&self, kind: FormatErrorKind) -> FormatError {
        let is_of_attributes = match &kind {
            FormatErrorKind::Attribute { name, .. } => self.attribute(name).is_some(),
            FormatErrorKind::Graph(_) => {
                self.attribute("auto_broadcast").is_some() || self.attribute("mode").is_some()
            }
            FormatErrorKind::UnsupportedType { .. } | FormatErrorKind::ElementCount { .. } => true,
            _ => false,
        };
        kind.at(if is_of_attributes { self.data_location() } else { self.location() })
    }

    /// The name of an output whose port has none.
    pub(super) fn value_name(&self, output: usize) -> String {
        match output {
            0 => self.name.clone(),
            _ => format!("{}.{output}", self.name),
        }
    }

    /// Whether an output has this name.
    pub(super) fn has_value(&self, output: usize, name: &str) -> bool {
        let port = &self.outputs[output];
        port.is_called(name) || (port.names.is_empty() && self.value_name(output) == name)
    }

    /// A `Parameter` layer with the type of an output of this layer.
    pub(super) fn as_parameter(&self, id: u64, name: &str, output: usize) -> Layer {
        let port = Port { names: vec![name.to_owned()], ..self.outputs[output].clone() };
        let stated = port.precision.as_deref().or_else(|| self.attribute("element_type"));
        let size = |size: &Option<usize>| size.map_or("?".to_owned(), |size| size.to_string());
        let sizes: Vec<String> = port.sizes.iter().map(size).collect();
        let attribute = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        Layer {
            id,
            name: name.to_owned(),
            operation: "Parameter".to_owned(),
            version: "opset1".to_owned(),
            attributes: vec![
                attribute("element_type", stated.unwrap_or("dynamic")),
                attribute("shape", &sizes.join(",")),
            ],
            inputs: Vec::new(),
            outputs: vec![port],
            sources: Vec::new(),
            span: self.span.clone(),
            data: None,
        }
    }

    /// A `Result` layer for the output of this layer that `edge` names.
    pub(super) fn as_result(&self, id: u64, name: &str, edge: Edge) -> Layer {
        let port = self.outputs[edge.output].clone();
        Layer {
            id,
            name: name.to_owned(),
            operation: "Result".to_owned(),
            version: "opset1".to_owned(),
            attributes: Vec::new(),
            inputs: vec![port],
            outputs: Vec::new(),
            sources: vec![edge],
            span: self.span.clone(),
            data: None,
        }
    }

    /// Removes the inputs.
    pub(super) fn disconnect(&mut self) {
        self.inputs.clear();
        self.sources.clear();
    }

    /// The text of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, text)| text.as_str())
    }
}

impl Port {
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    fn read(node: Node<'_, '_>, limits: &FormatLimits) -> Result<Port, FormatError> {
        let mut sizes = Vec::new();
        for size in xml::children(node, "dim") {
            sizes.push(dimension(size)?);
            if sizes.len() > limits.rank {
                let kind = FormatErrorKind::Limit { what: "axes", limit: limits.rank };
                return Err(kind.in_text(xml::start_tag(&node)));
            }
        }
        Ok(Port {
            id: xml::number(node, "id")?,
            names: node.attribute("names").map(names).unwrap_or_default(),
            precision: node.attribute("precision").map(str::to_owned),
            sizes,
            span: xml::start_tag(&node),
        })
    }
}

/// The size of an axis; -1, `?` and ranges mean unknown.
fn dimension(node: Node<'_, '_>) -> Result<Option<usize>, FormatError> {
    let text = node.text().unwrap_or_default().trim();
    match text {
        "-1" | "?" => Ok(None),
        _ if text.contains("..") => Ok(None),
        _ => text.parse().map(Some).map_err(|_| {
            let expected = "the size of an axis".to_owned();
            FormatErrorKind::Unexpected { expected }.in_text(xml::start_tag(&node))
        }),
    }
}

/// The names in a list; a backslash escapes a comma within a name.
fn names(list: &str) -> Vec<String> {
    let (mut names, mut name) = (Vec::new(), String::new());
    let mut characters = list.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => name.extend(characters.next()),
            ',' => names.push(core::mem::take(&mut name)),
            _ => name.push(character),
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
    names
}
