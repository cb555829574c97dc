//! Bodies of graphs and functions: decoded nodes and the versions of their operators.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use prost::Message;

use indim_model::{FormatError, FormatErrorKind, FormatLimits, Location};

use crate::messages::{AttributeProto, FunctionProto, NodeProto, OperatorSetIdProto};

/// The nodes of a graph or a function.
pub struct GraphBody {
    /// The nodes, in order.
    pub nodes: Vec<Arc<BodyNode>>,
    /// The operator set version of each domain.
    opsets: Arc<HashMap<String, i64>>,
}

/// A node with its attributes.
pub struct BodyNode {
    /// The message without its attributes.
    pub proto: NodeProto,
    /// The attributes whose values the node states.
    pub attributes: NodeAttributes,
    /// References to attributes of the enclosing function: the name in the node, and the name in the
    /// function.
    pub references: Vec<(String, String)>,
}

/// A function of the model.
pub struct ModelFunction {
    /// The nodes.
    pub body: Arc<GraphBody>,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// Names of the attributes without a default.
    attributes: Vec<String>,
    /// Attributes with a default.
    pub defaults: NodeAttributes,
    /// Name of the function, after its domain unless that is ONNX's own, for messages: `my.Scaled`.
    pub shown: String,
}

/// The attributes of a node, or the defaults of a function. They are few, so lookup is linear.
#[derive(Clone, Default)]
pub struct NodeAttributes(Arc<Vec<(String, Arc<AttributeProto>)>>);

impl NodeAttributes {
    /// Attributes with their names.
    pub fn new(attributes: Vec<(String, Arc<AttributeProto>)>) -> Self {
        NodeAttributes(Arc::new(attributes))
    }

    /// The attribute of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<AttributeProto>> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, attribute)| attribute)
    }

    /// The names and the attributes, in order.
    pub fn iter(&self) -> impl Iterator<Item = &(String, Arc<AttributeProto>)> {
        self.0.iter()
    }
}

/// The canonical name of a domain. ONNX's own domain is `""`, which files also write as `ai.onnx`.
pub fn domain_of(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}

/// Decodes a protobuf message; the error of a damaged message is at `location`.
pub fn decoded<M: Message + Default>(
    bytes: Bytes,
    location: impl FnOnce() -> Location,
) -> Result<M, FormatError> {
    let damaged =
        |error: prost::DecodeError| FormatErrorKind::Damaged { problem: error.to_string() };
    M::decode(bytes).map_err(|error| damaged(error).at(location()))
}

impl GraphBody {
    /// # Errors
    /// `damaged`, `limit`.
    pub fn new(
        nodes: &[Bytes],
        opsets: &[OperatorSetIdProto],
        limits: &FormatLimits,
    ) -> Result<GraphBody, FormatError> {
        if nodes.len() > limits.operations {
            let limit = limits.operations;
            return Err(FormatErrorKind::Limit { what: "nodes", limit }.without_location());
        }
        let opsets = opsets.iter();
        let opsets = opsets.map(|opset| (domain_of(&opset.domain).to_owned(), opset.version));
        let opsets = Arc::new(opsets.collect());
        let mut body = GraphBody { nodes: Vec::with_capacity(nodes.len()), opsets };
        for (index, bytes) in nodes.iter().enumerate() {
            let location = || Location::described(format!("node {index}"));
            body.nodes.push(Arc::new(BodyNode::new(decoded(bytes.clone(), location)?)));
        }
        Ok(body)
    }

    /// The nodes of a region, with the operator sets of the body around it.
    ///
    /// # Errors
    /// `damaged`, `limit`.
    pub fn region(&self, nodes: &[Bytes], limits: &FormatLimits) -> Result<GraphBody, FormatError> {
        Ok(GraphBody::new(nodes, &[], limits)?.with_operator_sets_of(self))
    }

    /// The same nodes with the operator sets of another body.
    pub fn with_operator_sets_of(&self, outer: &GraphBody) -> GraphBody {
        GraphBody { nodes: self.nodes.clone(), opsets: outer.opsets.clone() }
    }

    /// The operator set version of a domain.
    pub fn opset(&self, domain: &str) -> Option<i64> {
        self.opsets.get(domain_of(domain)).copied()
    }
}

impl BodyNode {
    fn new(mut proto: NodeProto) -> BodyNode {
        let (mut attributes, mut references) = (Vec::new(), Vec::new());
        for attribute in core::mem::take(&mut proto.attribute) {
            let name = attribute.name.clone();
            match attribute.ref_attr_name.is_empty() {
                true => attributes.push((name, Arc::new(attribute))),
                false => references.push((name, attribute.ref_attr_name)),
            }
        }
        BodyNode { proto, attributes: NodeAttributes::new(attributes), references }
    }

    /// The attributes, with references replaced by the `arguments` of the enclosing function.
    pub fn resolved(&self, arguments: &NodeAttributes) -> NodeAttributes {
        if self.references.is_empty() {
            return self.attributes.clone();
        }
        let mut resolved: Vec<_> = self.attributes.iter().cloned().collect();
        for (name, referred) in &self.references {
            // An attribute that the call omits and that has no default is omitted here too.
            if let Some(attribute) = arguments.get(referred) {
                resolved.push((name.clone(), attribute.clone()));
            }
        }
        NodeAttributes::new(resolved)
    }

    /// Work units of the node, for the limit on operations: one, and one more for every 16 of its
    /// operands, results and references together.
    pub fn work(&self) -> usize {
        let proto = &self.proto;
        let parts = proto.input.len() + proto.output.len() + self.references.len();
        1 + parts / 16
    }

    /// Name of the operator, with its domain.
    pub fn operator_name(&self) -> String {
        match domain_of(&self.proto.domain) {
            "" => self.proto.op_type.clone(),
            domain => format!("{domain}.{}", self.proto.op_type),
        }
    }
}

impl ModelFunction {
    /// # Errors
    /// `damaged`, `limit`.
    pub fn new(proto: FunctionProto, limits: &FormatLimits) -> Result<ModelFunction, FormatError> {
        let body = GraphBody::new(&proto.node, &proto.opset_import, limits)?;
        let defaults = proto.attribute_proto.into_iter();
        let defaults = defaults.map(|attribute| (attribute.name.clone(), Arc::new(attribute)));
        let shown = match domain_of(&proto.domain) {
            "" => proto.name.clone(),
            domain => format!("{domain}.{}", proto.name),
        };
        Ok(ModelFunction {
            body: Arc::new(body),
            inputs: proto.input,
            outputs: proto.output,
            attributes: proto.attribute,
            defaults: NodeAttributes::new(defaults.collect()),
            shown,
        })
    }

    /// Whether the function has an attribute of this name.
    pub fn takes(&self, name: &str) -> bool {
        self.attributes.iter().any(|known| known == name) || self.defaults.get(name).is_some()
    }

    /// Work units of a call, without those of the function's nodes.
    pub fn work(&self) -> usize {
        (self.inputs.len() + self.outputs.len() + self.defaults.0.len()) / 16
    }

    /// The attributes to which nodes of the function can refer: those that the call states (`stated`), and
    /// defaults for the rest.
    pub fn arguments(&self, stated: &NodeAttributes) -> NodeAttributes {
        let is_stated = |name: &str| stated.get(name).is_some();
        let defaults = self.defaults.iter().filter(|(name, _)| !is_stated(name));
        NodeAttributes::new(stated.iter().chain(defaults).cloned().collect())
    }
}

/// # Errors
/// `limit`: `count` exceeds the limit on operations.
pub fn check_many(
    what: &'static str,
    count: usize,
    limits: &FormatLimits,
) -> Result<(), FormatError> {
    let limit = limits.operations;
    match count > limit {
        true => Err(FormatErrorKind::Limit { what, limit }.without_location()),
        false => Ok(()),
    }
}
