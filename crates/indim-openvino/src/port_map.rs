//! Port maps: the values that a loop or branch passes to its bodies and back (`port_map`, `back_edges`).

use std::collections::HashMap;

use roxmltree::Node;

use indim_model::{FormatError, FormatErrorKind};

use crate::layer::Layer;
use crate::xml;

/// The ports of one body.
#[derive(Debug, Default)]
pub(super) struct PortMap {
    pub(super) inputs: Vec<MappedPort>,
    pub(super) outputs: Vec<MappedPort>,
    /// The position in the body of a result, and that of the parameter that gets it in the next step.
    pub(super) back_edges: Vec<(usize, usize)>,
}

/// A port of the layer around a body, and a parameter or result of the body.
#[derive(Debug)]
pub(super) struct MappedPort {
    /// Identifier of the port of the layer; `None` for a port of the loop itself, such as its condition.
    pub(super) external: Option<u64>,
    /// Position of the parameter or result in the body.
    pub(super) internal: usize,
    /// The parts of the array, if each step takes or makes one part.
    pub(super) parts: Option<Partition>,
    /// The attribute `purpose` in lower case; empty without it.
    pub(super) purpose: String,
}

/// The division of an array into parts along an axis, as the attributes of the port state it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Partition {
    pub(super) axis: i64,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) stride: i64,
    pub(super) part_size: i64,
}

impl PortMap {
    /// The ports of a body with these layers; `layer` is the element of the layer around it.
    ///
    /// # Errors
    /// `attribute`; `undefined` for a layer that the body lacks; `duplicate`.
    pub(super) fn read(
        layer: Node<'_, '_>,
        name: &str,
        layers: &[Layer],
    ) -> Result<PortMap, FormatError> {
        let positions = layers.iter().enumerate().map(|(position, layer)| (layer.id, position));
        let positions: HashMap<u64, usize> = positions.collect();
        let find = |node: Node<'_, '_>, attribute: &str| {
            let id = xml::number(node, attribute)?;
            let (what, name) = ("layer of the body", id.to_string());
            let undefined = FormatErrorKind::Undefined { what, name };
            positions.get(&id).copied().ok_or_else(|| undefined.in_text(xml::start_tag(&node)))
        };
        let port = |node| -> Result<MappedPort, FormatError> {
            let external = xml::integer(node, "external_port_id", None)?;
            let axis = node.attribute("axis").map(|_| xml::integer(node, "axis", None));
            let parts = match axis.transpose()? {
                Some(axis) => {
                    let stride = xml::integer(node, "stride", Some(1))?;
                    Some(Partition {
                        axis,
                        start: xml::integer(node, "start", Some(0))?,
                        end: xml::integer(node, "end", Some(-1))?,
                        stride,
                        part_size: xml::integer(node, "part_size", Some(1))?,
                    })
                }
                None => None,
            };
            Ok(MappedPort {
                external: u64::try_from(external).ok(),
                internal: find(node, "internal_layer_id")?,
                parts,
                purpose: node.attribute("purpose").unwrap_or_default().to_ascii_lowercase(),
            })
        };
        let mut map = PortMap::default();
        for node in xml::children(layer, name) {
            for input in xml::children(node, "input") {
                map.inputs.push(port(input)?);
            }
            for output in xml::children(node, "output") {
                map.outputs.push(port(output)?);
            }
        }
        let edges = xml::children(layer, "back_edges");
        let mut known = HashMap::new();
        for edge in edges.flat_map(|edges| xml::children(edges, "edge")) {
            let (from, to) = (find(edge, "from-layer")?, find(edge, "to-layer")?);
            if known.insert(to, from).is_some() {
                let (what, name) = ("back edge to", layers[to].name.clone());
                let kind = FormatErrorKind::Duplicate { what, name };
                return Err(kind.in_text(xml::start_tag(&edge)));
            }
            map.back_edges.push((from, to));
        }
        Ok(map)
    }
}
