//! The nodes of a graph or of a function, decoded, and what their operators are looked up by.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use prost::Message;

use indim_model::{FormatError, FormatErrorKind, FormatLimits, Location};

use super::messages::{AttributeProto, FunctionProto, NodeProto, OperatorSetIdProto};

/// The nodes of a graph or a function.
pub(super) struct Body {
    pub(super) nodes: Vec<Arc<Node>>,
    /// The version of the operators of each domain.
    opsets: HashMap<String, i64>,
}

/// A node with its attributes.
pub(super) struct Node {
    /// Without its attributes.
    pub(super) proto: NodeProto,
    /// The attributes that it says itself.
    pub(super) attributes: Attributes,
    /// The attributes whose value is an attribute of the function around it: their names, and those there.
    pub(super) references: Vec<(String, String)>,
}

/// A function of the model.
pub(super) struct Function {
    pub(super) body: Body,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    /// The names of attributes that a call says.
    attributes: Vec<String>,
    /// Attributes that a call need not say.
    pub(super) defaults: Attributes,
    /// Its name with its domain.
    pub(super) shown: String,
}

/// The attributes of a node: few, so that they are looked for one by one.
#[derive(Clone, Default)]
pub(super) struct Attributes(Arc<Vec<(String, Arc<AttributeProto>)>>);

impl Attributes {
    pub(super) fn new(attributes: Vec<(String, Arc<AttributeProto>)>) -> Self {
        Attributes(Arc::new(attributes))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<AttributeProto>> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, attribute)| attribute)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(String, Arc<AttributeProto>)> {
        self.0.iter()
    }
}

/// The domain under its one name: ONNX's own has two.
pub(super) fn domain_of(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}

/// A message, or that it is damaged.
pub(super) fn decoded<M: Message + Default>(
    bytes: Bytes,
    place: impl FnOnce() -> Location,
) -> Result<M, FormatError> {
    let damaged =
        |error: prost::DecodeError| FormatErrorKind::Damaged { problem: error.to_string() };
    M::decode(bytes).map_err(|error| damaged(error).at(place()))
}

impl Body {
    /// # Errors
    /// `damaged`, `limit`.
    pub(super) fn new(
        nodes: &[Bytes],
        opsets: &[OperatorSetIdProto],
        limits: &FormatLimits,
    ) -> Result<Body, FormatError> {
        if nodes.len() > limits.operations {
            let limit = limits.operations;
            return Err(FormatErrorKind::Limit { what: "nodes", limit }.nowhere());
        }
        let mut body = Body { nodes: Vec::with_capacity(nodes.len()), opsets: HashMap::new() };
        for opset in opsets {
            body.opsets.insert(domain_of(&opset.domain).to_owned(), opset.version);
        }
        for (index, bytes) in nodes.iter().enumerate() {
            let place = || Location::described(format!("node {index}"));
            body.nodes.push(Arc::new(Node::new(decoded(bytes.clone(), place)?)));
        }
        Ok(body)
    }

    /// The version of the operators of a domain.
    pub(super) fn opset(&self, domain: &str) -> Option<i64> {
        self.opsets.get(domain_of(domain)).copied()
    }
}

impl Node {
    fn new(mut proto: NodeProto) -> Node {
        let (mut attributes, mut references) = (Vec::new(), Vec::new());
        for attribute in core::mem::take(&mut proto.attribute) {
            let name = attribute.name.clone();
            match attribute.ref_attr_name.is_empty() {
                true => attributes.push((name, Arc::new(attribute))),
                false => references.push((name, attribute.ref_attr_name)),
            }
        }
        Node { proto, attributes: Attributes::new(attributes), references }
    }

    /// The attributes, with those that are `arguments` of the function around it.
    pub(super) fn resolved(&self, arguments: &Attributes) -> Attributes {
        if self.references.is_empty() {
            return self.attributes.clone();
        }
        let mut resolved: Vec<_> = self.attributes.iter().cloned().collect();
        for (name, referred) in &self.references {
            // What the call does not say, and has no default, is not said here either.
            if let Some(attribute) = arguments.get(referred) {
                resolved.push((name.clone(), attribute.clone()));
            }
        }
        Attributes::new(resolved)
    }

    /// What the node takes of the work that a file may ask for: one step, and more if it is large.
    pub(super) fn work(&self) -> usize {
        let proto = &self.proto;
        let parts = proto.input.len() + proto.output.len() + self.references.len();
        1 + parts / 16
    }

    /// The name of the operator, with its domain.
    pub(super) fn operator_name(&self) -> String {
        match domain_of(&self.proto.domain) {
            "" => self.proto.op_type.clone(),
            domain => format!("{domain}.{}", self.proto.op_type),
        }
    }
}

impl Function {
    /// # Errors
    /// `damaged`, `limit`.
    pub(super) fn new(
        proto: FunctionProto,
        limits: &FormatLimits,
    ) -> Result<Function, FormatError> {
        let body = Body::new(&proto.node, &proto.opset_import, limits)?;
        let defaults = proto.attribute_proto.into_iter();
        let defaults = defaults.map(|attribute| (attribute.name.clone(), Arc::new(attribute)));
        let shown = match domain_of(&proto.domain) {
            "" => proto.name.clone(),
            domain => format!("{domain}.{}", proto.name),
        };
        Ok(Function {
            body,
            inputs: proto.input,
            outputs: proto.output,
            attributes: proto.attribute,
            defaults: Attributes::new(defaults.collect()),
            shown,
        })
    }

    /// Whether it has an attribute of this name.
    pub(super) fn takes(&self, name: &str) -> bool {
        self.attributes.iter().any(|known| known == name) || self.defaults.get(name).is_some()
    }

    /// What a call takes of the work that a file may ask for, beside that of the nodes.
    pub(super) fn work(&self) -> usize {
        (self.inputs.len() + self.outputs.len() + self.defaults.0.len()) / 16
    }

    /// The attributes within a call that says these.
    pub(super) fn arguments(&self, said: &Attributes) -> Attributes {
        let is_said = |name: &str| said.get(name).is_some();
        let defaults = self.defaults.iter().filter(|(name, _)| !is_said(name));
        Attributes::new(said.iter().chain(defaults).cloned().collect())
    }
}
