//! Flattens a model to one list of nodes: inlines calls of functions, resolves names to indices, and looks
//! up operators.
//!
//! `node.rs`: a node of the list; `step.rs`: nodes with their bodies, and opaque nodes; `region.rs`: bodies
//! of loops and branches; `opaque.rs`: outputs that do not depend on opaque nodes; `address.rs`: names for
//! the values of called functions.
//!
//! A stack of frames replaces the recursion of calls. Each visited node and each call counts against the
//! limit on operations, so exponential expansion of calls ends.

mod address;
mod node;
mod opaque;
mod region;
mod step;

use std::collections::HashMap;
use std::sync::Arc;

use indim_graph::terminal::printable;
use indim_model::{FormatError, FormatErrorKind, FormatLimits, Location};

pub use self::address::{address_of, address_of_call};
pub use self::node::{FlatNode, ValueNumber, node_location};
pub use self::opaque::{mark_live, prune, remove_dead};
use self::region::RegionGraph;
pub use self::step::{FlatRegion, FlatStep, OpaqueNode, OpaqueStep};
use crate::NEWEST_OPSET;
use crate::attribute_table;
use crate::body::{BodyNode, GraphBody, ModelFunction, NodeAttributes, domain_of};
use crate::inlined::called_function;
use crate::operator::OperatorRow;
use crate::unsupported::{refusal, why_unknown};

/// Maximum number of remarks; more do not help the user.
const MAX_REMARKS: usize = 16;

/// The functions of a model, by domain, name and overload.
pub type Functions = HashMap<(String, String, String), Arc<ModelFunction>>;

/// The state of the flattening: the nodes so far, and the model's functions.
pub struct Flattener<'m, O: OperatorRow> {
    functions: &'m Functions,
    limits: &'m FormatLimits,
    /// Nodes with a lowering.
    pub nodes: Vec<FlatStep<O>>,
    /// Nodes without a lowering.
    pub opaque: Vec<OpaqueStep>,
    /// The number of values so far.
    pub value_count: usize,
    /// Remarks about attributes that the called functions lack.
    pub remarks: Vec<String>,
    /// Cache of decoded bodies of loops and branches. The first key is the address of the attribute: each
    /// call of a function flattens its nodes again. The second key is the address of the enclosing body,
    /// which has the operator sets: functions with other operator sets can share the attribute.
    bodies: HashMap<usize, HashMap<usize, Arc<RegionGraph>>>,
    /// Work units so far, which count against the limit on operations.
    work: usize,
    /// The values of called functions at which a part starts or ends, by their addresses.
    addressed: HashMap<String, Option<ValueNumber>>,
}

/// A body during its traversal, with the values of its names.
struct Frame {
    /// The graph, called function, or body of a loop or branch that the frame traverses.
    kind: FrameKind,
    /// Position of the next node.
    next: usize,
    /// The value of each name; `None` for an input that the call omits.
    names: HashMap<String, Option<ValueNumber>>,
    /// The attributes to which the nodes can refer.
    arguments: NodeAttributes,
    /// The start of the addresses of its values; empty for the main graph, `None` within a body.
    address: Option<Arc<str>>,
}

enum FrameKind {
    Graph,
    /// A call of `function` by `node`; `within` is `the function my.Scaled`.
    Call {
        function: Arc<ModelFunction>,
        within: Arc<str>,
        node: Arc<BodyNode>,
    },
    /// The body of a loop or branch; it sees the names around it.
    Region {
        graph: Arc<RegionGraph>,
        within: Arc<str>,
    },
}

/// The bodies nested in a node, which are still to be flattened.
enum NestedBodies<O: 'static> {
    None,
    /// The body of the called function.
    Call(Frame),
    /// The bodies of a loop or branch.
    Regions(FlatNode, &'static O),
}

impl Frame {
    fn body<'f>(&'f self, graph: &'f GraphBody) -> &'f GraphBody {
        match &self.kind {
            FrameKind::Graph => graph,
            FrameKind::Call { function, .. } => &function.body,
            FrameKind::Region { graph, .. } => &graph.body,
        }
    }

    fn within(&self) -> Option<Arc<str>> {
        match &self.kind {
            FrameKind::Graph => None,
            FrameKind::Call { within, .. } | FrameKind::Region { within, .. } => {
                Some(within.clone())
            }
        }
    }

    /// Location of a node of the body.
    fn location_of(&self, graph: &GraphBody, index: usize, node: &BodyNode) -> Location {
        let opset = self.body(graph).opset(&node.proto.domain);
        node_location(node, index, opset, self.within().as_deref())
    }

    fn define(&mut self, name: &str, value: Option<ValueNumber>) -> Result<(), FormatErrorKind> {
        if self.names.insert(name.to_owned(), value).is_some() {
            let name = name.to_owned();
            return Err(FormatErrorKind::Duplicate { what: "value", name });
        }
        Ok(())
    }
}

/// The value of a name. The search begins in the innermost frame. From the body of a loop or branch it
/// goes on to the enclosing frame; a function sees only its own names.
fn value_of(frames: &[Frame], name: &str) -> Result<Option<ValueNumber>, FormatErrorKind> {
    if name.is_empty() {
        return Ok(None);
    }
    for frame in frames.iter().rev() {
        match (frame.names.get(name), &frame.kind) {
            (Some(value), _) => return Ok(*value),
            (None, FrameKind::Region { .. }) => {}
            (None, _) => break,
        }
    }
    Err(FormatErrorKind::Undefined { what: "value", name: name.to_owned() })
}

impl<'m, O: OperatorRow> Flattener<'m, O> {
    /// A flattening without nodes.
    pub fn new(functions: &'m Functions, limits: &'m FormatLimits) -> Self {
        Flattener {
            functions,
            limits,
            nodes: Vec::new(),
            opaque: Vec::new(),
            value_count: 0,
            remarks: Vec::new(),
            bodies: HashMap::new(),
            work: 0,
            addressed: HashMap::new(),
        }
    }

    /// Allocates a new value.
    pub fn new_value(&mut self) -> ValueNumber {
        self.value_count += 1;
        self.value_count - 1
    }

    /// Flattens a graph; returns the values of its outputs. `names` has the values of its inputs and
    /// initializers.
    ///
    /// # Errors
    /// `undefined`, `duplicate`, `cycle`, `limit`, `wrong-count`, `operator-too-new`.
    pub fn graph(
        &mut self,
        graph: &GraphBody,
        names: HashMap<String, Option<ValueNumber>>,
        outputs: &[(String, Location)],
    ) -> Result<Vec<ValueNumber>, FormatError> {
        let (arguments, address) = (NodeAttributes::default(), Some(Arc::from("")));
        let kind = FrameKind::Graph;
        let mut frames = vec![Frame { kind, next: 0, names, arguments, address }];
        let addresses = outputs.iter().filter(|(name, _)| address::is_address(name));
        self.addressed = addresses.map(|(name, _)| (name.clone(), None)).collect();
        self.run(&mut frames, graph)?;
        let value = |(name, location): &(String, Location)| {
            let undefined = || FormatErrorKind::Undefined { what: "value", name: name.clone() };
            let value = value_of(&frames, name).or_else(|kind| match self.addressed.get(name) {
                Some(&Some(value)) => Ok(Some(value)),
                _ => Err(kind),
            });
            let value = value.and_then(|value| value.ok_or_else(undefined));
            value.map_err(|kind| kind.at(location.clone()))
        };
        outputs.iter().map(value).collect()
    }

    /// Flattens the nodes of the last frame and of the calls in it; the frame stays. Bodies of loops and
    /// branches recurse, up to the limit on their depth.
    ///
    /// # Errors
    /// Those of [`Flattener::graph`].
    fn run(&mut self, frames: &mut Vec<Frame>, graph: &GraphBody) -> Result<(), FormatError> {
        let base = frames.len();
        loop {
            let last = frames.len() - 1;
            let index = frames[last].next;
            frames[last].next += 1;
            match frames[last].body(graph).nodes.get(index).cloned() {
                Some(node) => match self.node(frames, graph, index, &node) {
                    Ok(NestedBodies::None) => {}
                    Ok(NestedBodies::Call(frame)) => frames.push(frame),
                    Ok(NestedBodies::Regions(flat, operator)) => {
                        self.regions(frames, graph, flat, operator)?;
                    }
                    Err(kind) => return Err(kind.at(frames[last].location_of(graph, index, &node))),
                },
                None if frames.len() > base => self.leave_call(frames)?,
                None => return Ok(()),
            }
        }
    }

    /// Flattens one node: appends an operator, or returns the frame of a call or the bodies of a loop or
    /// branch, which `run` then flattens.
    fn node(
        &mut self,
        frames: &mut [Frame],
        graph: &GraphBody,
        index: usize,
        node: &Arc<BodyNode>,
    ) -> Result<NestedBodies<O>, FormatErrorKind> {
        let last = frames.len() - 1;
        let opset = frames[last].body(graph).opset(&node.proto.domain);
        self.count(node.work())?;
        let operands = node.proto.input.iter().map(|name| value_of(frames, name));
        let operands: Vec<Option<ValueNumber>> = operands.collect::<Result<_, _>>()?;
        let attributes = node.resolved(&frames[last].arguments);
        if let Some(called) = called_function(self.functions, node) {
            let frame = self.call(frames, called.clone(), node, &operands, &attributes)?;
            return Ok(NestedBodies::Call(frame));
        }
        let definition = operator::<O>(node, opset)?;
        let has_regions =
            definition.is_some_and(|(operator, _)| !operator.signature().regions.is_empty());
        // The bodies of a node do not see its results.
        let results = match has_regions {
            true => Vec::new(),
            false => self.define_results(&mut frames[last], node)?,
        };
        let frame = &frames[last];
        let Some((operator, version)) = definition else {
            let (name, reason) = (node.operator_name(), why_unknown(&node.proto));
            let location = frame.location_of(graph, index, node);
            let nodes = vec![OpaqueNode { name, reason, location }];
            self.opaque.push(OpaqueStep { nodes, operands, results });
            return Ok(NestedBodies::None);
        };
        let name = operator.signature().name;
        attribute_table::check(name, version, &attributes)?;
        let flat = FlatNode {
            node: node.clone(),
            operator: name,
            version,
            opset: opset.unwrap_or_default(),
            attributes,
            operands,
            results,
            index,
            within: frame.within(),
        };
        if has_regions {
            return Ok(NestedBodies::Regions(flat, operator));
        }
        match refusal(&flat) {
            Some(reason) => {
                let (name, location) = (name.to_owned(), flat.location());
                let nodes = vec![OpaqueNode { name, reason: Some(reason), location }];
                let FlatNode { operands, results, .. } = flat;
                self.opaque.push(OpaqueStep { nodes, operands, results });
            }
            None => self.nodes.push(FlatStep { node: flat, operator, regions: Vec::new() }),
        }
        Ok(NestedBodies::None)
    }

    /// New values for the results of a node; `None` for an unnamed result.
    fn define_results(
        &mut self,
        frame: &mut Frame,
        node: &BodyNode,
    ) -> Result<Vec<Option<ValueNumber>>, FormatErrorKind> {
        let mut results = Vec::with_capacity(node.proto.output.len());
        for name in &node.proto.output {
            let value = (!name.is_empty()).then(|| self.new_value());
            if value.is_some() {
                frame.define(name, value)?;
                self.note_address(frame.address.as_deref(), name, value);
            }
            results.push(value);
        }
        Ok(results)
    }

    /// # Errors
    /// `limit`.
    fn count(&mut self, work: usize) -> Result<(), FormatErrorKind> {
        self.work = self.work.saturating_add(work);
        let limit = self.limits.operations;
        if self.work > limit {
            let what = "operations, with calls inlined,";
            return Err(FormatErrorKind::Limit { what, limit });
        }
        Ok(())
    }

    /// The frame of a call.
    fn call(
        &mut self,
        frames: &[Frame],
        function: Arc<ModelFunction>,
        node: &Arc<BodyNode>,
        operands: &[Option<ValueNumber>],
        attributes: &NodeAttributes,
    ) -> Result<Frame, FormatErrorKind> {
        let is_this = |frame: &Frame| match &frame.kind {
            FrameKind::Graph | FrameKind::Region { .. } => false,
            FrameKind::Call { function: open, .. } => Arc::ptr_eq(open, &function),
        };
        if frames.iter().any(is_this) {
            let name = function.shown.clone();
            return Err(FormatErrorKind::Cycle { name });
        }
        if frames.len() > self.limits.depth {
            let limit = self.limits.depth;
            return Err(FormatErrorKind::Limit { what: "calls within calls", limit });
        }
        self.count(function.work())?;
        check_count((0, function.inputs.len()), operands.len())?;
        let results = node.proto.output.len();
        if results > function.outputs.len() {
            let expected = format!("at most {}", function.outputs.len());
            return Err(FormatErrorKind::Count { what: "results", expected, given: results });
        }
        self.remark_attributes(&function, attributes);
        let arguments = function.arguments(attributes);
        let within = Arc::from(format!("the function {}", function.shown));
        let mut names = HashMap::with_capacity(function.inputs.len());
        for (position, input) in function.inputs.iter().enumerate() {
            names.insert(input.clone(), operands.get(position).copied().flatten());
        }
        let kind = FrameKind::Call { function, within, node: node.clone() };
        let address = frames.last().and_then(|frame| frame.address.clone());
        let address = address.filter(|_| !self.addressed.is_empty());
        let address = address.and_then(|address| address_of_call(&address, &node.proto.output));
        Ok(Frame { kind, next: 0, names, arguments, address })
    }

    /// Reports attributes that the called function lacks; other systems ignore them too.
    fn remark_attributes(&mut self, function: &ModelFunction, attributes: &NodeAttributes) {
        for (name, _) in attributes.iter().filter(|(name, _)| !function.takes(name)) {
            let [name, function] = [name, &function.shown].map(|text| printable(text));
            let remark = format!("the function {function} has no attribute {name}: it is ignored");
            if self.remarks.len() < MAX_REMARKS && !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
    }

    /// Leaves a call: gives its outputs the names of the node's results in the caller.
    fn leave_call(&mut self, frames: &mut Vec<Frame>) -> Result<(), FormatError> {
        let Some(left) = frames.pop() else { return Ok(()) };
        let FrameKind::Call { function, node, within } = &left.kind else { return Ok(()) };
        let location = Location::described(within.to_string());
        for (output, given) in function.outputs.iter().zip(&node.proto.output) {
            let value = value_of(core::slice::from_ref(&left), output);
            let defined = value.and_then(|value| match (given.is_empty(), frames.last_mut()) {
                (false, Some(caller)) => caller.define(given, value),
                _ => Ok(()),
            });
            defined.map_err(|kind| kind.at(location.clone()))?;
        }
        Ok(())
    }
}

/// The operator of a node with its version; `None` for a name that the table lacks and for a node of
/// another domain than ONNX's own.
fn operator<O: OperatorRow>(
    node: &BodyNode,
    opset: Option<i64>,
) -> Result<Option<(&'static O, i64)>, FormatErrorKind> {
    if !domain_of(&node.proto.domain).is_empty() {
        return Ok(None);
    }
    let Some(operator) = O::named(&node.proto.op_type) else { return Ok(None) };
    let opset = opset.ok_or_else(|| FormatErrorKind::Undefined {
        what: "operator set that the model imports",
        name: "ai.onnx".to_owned(),
    })?;
    if opset > NEWEST_OPSET {
        let what = format!("opset {opset}, newer than {NEWEST_OPSET}, is");
        return Err(FormatErrorKind::Unsupported { what });
    }
    let signature = operator.signature();
    let version = signature.version(opset).ok_or_else(|| FormatErrorKind::OperatorTooNew {
        name: signature.name.to_owned(),
        introduced: signature.first_opset(),
        opset,
    })?;
    check_count(signature.operands, node.proto.input.len())?;
    Ok(Some((operator, version)))
}

fn check_count((min, max): (usize, usize), given: usize) -> Result<(), FormatErrorKind> {
    if (min..=max).contains(&given) {
        return Ok(());
    }
    let expected = match max {
        usize::MAX => format!("at least {min}"),
        _ if min == max => min.to_string(),
        _ => format!("{min} to {max}"),
    };
    Err(FormatErrorKind::Count { what: "operands", expected, given })
}
