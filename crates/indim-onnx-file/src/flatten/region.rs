//! Bodies of loops and branches: `If`, `Loop` and `Scan`.

use std::collections::HashMap;
use std::sync::Arc;

use indim_graph::MAX_REGION_DEPTH;
use indim_model::{FormatError, FormatErrorKind, FormatLimits, Location};

use super::node::{FlatNode, ValueNumber};
use super::opaque::{mark_live, remove_dead};
use super::step::{FlatRegion, FlatStep, OpaqueNode, OpaqueStep};
use super::{Flattener, Frame, FrameKind, value_of};
use crate::body::{GraphBody, check_many, decoded};
use crate::messages::{GraphProto, TensorProto, ValueInfoProto};
use crate::operator::OperatorRow;
use crate::unsupported::refusal;

/// The decoded body of a loop or branch.
pub(super) struct RegionGraph {
    pub(super) body: GraphBody,
    inputs: Vec<String>,
    outputs: Vec<String>,
    initializers: Vec<Arc<TensorProto>>,
}

impl RegionGraph {
    /// # Errors
    /// `damaged`, `limit`, `unsupported`.
    fn new(
        graph: &GraphProto,
        outer: &GraphBody,
        limits: &FormatLimits,
        location: &Location,
    ) -> Result<RegionGraph, FormatError> {
        if !graph.sparse_initializer.is_empty() {
            let what =
                "a sparse initializer in the body of a loop or branch (move it to the graph) is";
            let what = what.to_owned();
            return Err(FormatErrorKind::Unsupported { what }.at(location.clone()));
        }
        check_many("initializers", graph.initializer.len(), limits)?;
        let names = |what, infos: &[bytes::Bytes]| -> Result<Vec<String>, FormatError> {
            check_many(what, infos.len(), limits)?;
            let name = |bytes: &bytes::Bytes| {
                decoded(bytes.clone(), || location.clone()).map(|info: ValueInfoProto| info.name)
            };
            infos.iter().map(name).collect()
        };
        let tensors = graph.initializer.iter();
        Ok(RegionGraph {
            body: outer.region(&graph.node, limits)?,
            inputs: names("inputs", &graph.input)?,
            outputs: names("outputs", &graph.output)?,
            initializers: tensors
                .map(|bytes| decoded(bytes.clone(), || location.clone()).map(Arc::new))
                .collect::<Result<_, _>>()?,
        })
    }

    /// The same body with the operator sets of another body around it.
    fn with_operator_sets_of(&self, outer: &GraphBody) -> RegionGraph {
        RegionGraph {
            body: self.body.with_operator_sets_of(outer),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            initializers: self.initializers.clone(),
        }
    }

    fn work(&self) -> usize {
        self.initializers.len() + (self.inputs.len() + self.outputs.len()) / 16
    }
}

impl<O: OperatorRow> Flattener<'_, O> {
    /// Flattens the bodies of a loop or branch and appends the node. Values that a body captures are
    /// appended to the operands of the node.
    ///
    /// # Errors
    /// Those of [`Flattener::graph`]; `attribute` if the node lacks a body.
    pub(super) fn regions(
        &mut self,
        frames: &mut Vec<Frame>,
        graph: &GraphBody,
        mut flat: FlatNode,
        operator: &'static O,
    ) -> Result<(), FormatError> {
        let location = flat.location();
        let first = self.value_count;
        let (mut regions, mut unsupported) = (Vec::new(), Vec::new());
        for &name in operator.signature().regions {
            let (region, found) = self.region(frames, graph, &flat, name)?;
            regions.push(region);
            unsupported.extend(found);
        }
        let mut captured: Vec<ValueNumber> = regions.iter().flat_map(FlatRegion::read).collect();
        captured.retain(|&number| number < first);
        captured.sort_unstable();
        captured.dedup();
        flat.operands.extend(captured.into_iter().map(Some));
        let last = frames.len() - 1;
        let results = self.define_results(&mut frames[last], &flat.node);
        flat.results = results.map_err(|kind| kind.at(location.clone()))?;
        if let Some(reason) = refusal(&flat) {
            let name = operator.signature().name.to_owned();
            unsupported.push(OpaqueNode { name, reason: Some(reason), location });
        }
        if unsupported.is_empty() {
            self.nodes.push(FlatStep { node: flat, operator, regions });
        } else {
            let FlatNode { operands, results, .. } = flat;
            self.opaque.push(OpaqueStep { nodes: unsupported, operands, results });
        }
        Ok(())
    }

    /// Flattens one body; also returns its unsupported nodes on which an output depends.
    fn region(
        &mut self,
        frames: &mut Vec<Frame>,
        graph: &GraphBody,
        flat: &FlatNode,
        name: &'static str,
    ) -> Result<(FlatRegion<O>, Vec<OpaqueNode>), FormatError> {
        let location = flat.location();
        let at = |kind: FormatErrorKind| kind.at(location.clone());
        let last = frames.len() - 1;
        let decoded = self.decoded_region(frames[last].body(graph), flat, name, &location)?;
        self.count(decoded.work()).map_err(at)?;
        let is_region = |frame: &&Frame| matches!(frame.kind, FrameKind::Region { .. });
        if frames.iter().filter(is_region).count() >= MAX_REGION_DEPTH {
            let what = "nested loops and branches";
            return Err(at(FormatErrorKind::Limit { what, limit: MAX_REGION_DEPTH }));
        }
        let described = location.described.clone().unwrap_or_default();
        let mut frame = Frame {
            kind: FrameKind::Region {
                graph: decoded.clone(),
                within: Arc::from(format!("{name} of {described}")),
            },
            next: 0,
            names: HashMap::new(),
            arguments: frames[last].arguments.clone(),
            address: None,
        };
        let first = self.value_count;
        let mut defined = |frame: &mut Frame, name: &str| {
            let number = self.new_value();
            frame.define(name, Some(number)).map_err(at).map(|()| number)
        };
        let names = decoded.inputs.iter();
        let inputs: Vec<ValueNumber> =
            names.map(|name| defined(&mut frame, name)).collect::<Result<_, _>>()?;
        let mut initializers = Vec::with_capacity(decoded.initializers.len());
        for tensor in &decoded.initializers {
            initializers.push((tensor.clone(), defined(&mut frame, &tensor.name)?));
        }
        frames.push(frame);
        let outer = (core::mem::take(&mut self.nodes), core::mem::take(&mut self.opaque));
        self.run(frames, graph)?;
        let mut nodes = core::mem::replace(&mut self.nodes, outer.0);
        let opaque = core::mem::replace(&mut self.opaque, outer.1);
        let outputs = decoded.outputs.iter().map(|name| value_of(frames, name).map_err(at));
        let outputs: Vec<Option<ValueNumber>> = outputs.collect::<Result<_, _>>()?;
        frames.pop();
        let required_values: Vec<ValueNumber> = outputs.iter().flatten().copied().collect();
        let live = mark_live(&nodes, &opaque, &required_values, first..self.value_count);
        let is_live = |result: &ValueNumber| live[result - first];
        remove_dead(&mut nodes, &live, first);
        let opaque = opaque.into_iter();
        let unsupported = opaque.filter(|step| step.results.iter().flatten().any(is_live));
        let unsupported = unsupported.flat_map(|step| step.nodes).collect();
        Ok((FlatRegion { inputs, initializers, nodes, outputs }, unsupported))
    }

    /// The body in the attribute `name` within the body `outer`, decoded or from the cache.
    fn decoded_region(
        &mut self,
        outer: &GraphBody,
        flat: &FlatNode,
        name: &'static str,
        location: &Location,
    ) -> Result<Arc<RegionGraph>, FormatError> {
        let at = |problem: &str| FormatErrorKind::attribute(name, problem).at(location.clone());
        let attribute = flat.attributes.get(name).ok_or_else(|| at("is missing"))?;
        let decoded_within = self.bodies.entry(Arc::as_ptr(attribute).addr()).or_default();
        let outer_key = core::ptr::from_ref(outer).addr();
        if let Some(known) = decoded_within.get(&outer_key) {
            return Ok(known.clone());
        }
        let region = match decoded_within.values().next() {
            Some(known) => known.with_operator_sets_of(outer),
            None => {
                let bytes = attribute.g.clone().ok_or_else(|| at("is not a graph"))?;
                let graph: GraphProto = decoded(bytes, || location.clone())?;
                RegionGraph::new(&graph, outer, self.limits, location)?
            }
        };
        let region = Arc::new(region);
        decoded_within.insert(outer_key, region.clone());
        Ok(region)
    }
}
