//! The number of operations after all calls are inlined, counted without inlining: a chain of functions that
//! each call the next one twice doubles the number with each function.

use std::collections::HashMap;
use std::sync::Arc;

use indim_model::{FormatError, FormatErrorKind, FormatLimits};

use crate::body::{BodyNode, GraphBody, ModelFunction, decoded, domain_of};
use crate::flatten::{Functions, node_location};
use crate::messages::GraphProto;

/// Maximum depth of regions whose calls are counted: the recursion takes a part of the stack for each.
const MAX_REGION_DEPTH: usize = 60;

/// Checks that a graph has at most as many operations as the limit, with all calls inlined. The time is that
/// of one walk over the nodes of the graph and of the functions.
///
/// # Errors
/// `limit`: at the node of the graph that exceeds the limit.
pub fn check_inlined(
    graph: &GraphBody,
    functions: &Functions,
    limits: &FormatLimits,
) -> Result<(), FormatError> {
    if functions.is_empty() {
        return Ok(());
    }
    let mut counter = Counter { functions, limits, totals: HashMap::new() };
    let mut total = 0_usize;
    for (index, node) in graph.nodes.iter().enumerate() {
        let body = counter.body_of(std::slice::from_ref(node), graph);
        total = total.saturating_add(counter.total_of(&body));
        if total > limits.operations {
            let (what, limit) = ("operations, with calls inlined,", limits.operations);
            let opset = graph.opset(&node.proto.domain);
            let location = node_location(node, index, opset, None);
            return Err(FormatErrorKind::Limit { what, limit }.at(location));
        }
    }
    Ok(())
}

/// The function that a node calls.
pub fn called_function<'f>(
    functions: &'f Functions,
    node: &BodyNode,
) -> Option<&'f Arc<ModelFunction>> {
    if functions.is_empty() {
        return None;
    }
    let proto = &node.proto;
    let domain = domain_of(&proto.domain).to_owned();
    functions.get(&(domain, proto.op_type.clone(), proto.overload.clone()))
}

/// Nodes with their own work units, and the functions that they and their regions call.
#[derive(Default)]
struct CountedBody<'f> {
    work: usize,
    calls: Vec<&'f Arc<ModelFunction>>,
}

struct Counter<'f> {
    functions: &'f Functions,
    limits: &'f FormatLimits,
    /// The total of each function by its address; `None` during its own count.
    totals: HashMap<usize, Option<usize>>,
}

impl<'f> Counter<'f> {
    fn body_of(&self, nodes: &[Arc<BodyNode>], around: &GraphBody) -> CountedBody<'f> {
        let mut body = CountedBody::default();
        self.add(nodes, around, MAX_REGION_DEPTH, &mut body);
        body
    }

    /// Adds nodes to a body. A region that is damaged or nested too deep counts nothing: the reader reports
    /// it.
    fn add(
        &self,
        nodes: &[Arc<BodyNode>],
        around: &GraphBody,
        depth: usize,
        body: &mut CountedBody<'f>,
    ) {
        for node in nodes {
            body.work = body.work.saturating_add(node.work());
            if let Some(function) = called_function(self.functions, node) {
                body.calls.push(function);
                continue;
            }
            let attributes = node.attributes.iter();
            for encoded in attributes.filter_map(|(_, attribute)| attribute.g.as_ref()) {
                let graph = decoded(encoded.clone(), Default::default);
                let region = graph.and_then(|it: GraphProto| around.region(&it.node, self.limits));
                if let (Ok(region), Some(depth)) = (region, depth.checked_sub(1)) {
                    self.add(&region.nodes, around, depth, body);
                }
            }
        }
    }

    /// The work units of a body, with all calls inlined. A stack replaces the recursion of calls; a function
    /// that calls itself counts nothing within itself, because the reader reports the cycle.
    fn total_of(&mut self, body: &CountedBody<'f>) -> usize {
        let mut stack = body.calls.clone();
        let mut bodies: HashMap<usize, CountedBody<'f>> = HashMap::new();
        while let Some(function) = stack.last().copied() {
            let key = address_of(function);
            match self.totals.get(&key) {
                Some(Some(_)) => drop(stack.pop()),
                Some(None) => {
                    let total = bodies.get(&key).map_or(0, |body| self.sum_of(body));
                    self.totals.insert(key, Some(total.saturating_add(function.work())));
                    stack.pop();
                }
                None => {
                    self.totals.insert(key, None);
                    let own = self.body_of(&function.body.nodes, &function.body);
                    let is_new =
                        |it: &&&Arc<ModelFunction>| !self.totals.contains_key(&address_of(it));
                    stack.extend(own.calls.iter().filter(is_new));
                    bodies.insert(key, own);
                }
            }
        }
        self.sum_of(body)
    }

    /// The work units of a body whose functions are counted.
    fn sum_of(&self, body: &CountedBody<'f>) -> usize {
        let total = |function: &&Arc<ModelFunction>| {
            self.totals.get(&address_of(function)).copied().flatten().unwrap_or(0)
        };
        body.calls.iter().map(total).fold(body.work, usize::saturating_add)
    }
}

fn address_of(function: &Arc<ModelFunction>) -> usize {
    Arc::as_ptr(function).addr()
}
