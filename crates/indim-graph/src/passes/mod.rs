//! Passes: graph → graph with the same results, bit for bit.
//!
//! Every pass rebuilds the graph through the arena, which shares equal nodes, and leaves out what
//! no output needs. Parameters always stay.
//!
//! - `bitcast.rs`: bits read as another type and back are what they were;
//! - `concatenation.rs`: concatenations of concatenations: along one axis they are one;
//! - `empty.rs`: values without elements are constants: they need no computation, however large their
//!   operands are;
//! - `fold.rs`: constant folding: small computations on constants are done now, by the reference evaluator;
//! - `power.rs`: powers that are another operation, bit for bit: `x^2` is `square`, `x^-1` is `reciprocal`;
//! - `reduction.rs`: reductions brought down to those along axes of at least two elements, which loop nests
//!   know;
//! - `reshape.rs`: results whose axes were added, as `keepdims` does, and then dropped again: what is
//!   computed between is computed without them, so that it may be stored where it belongs;
//! - `sink.rs`: sinking broadcasts: what all operands repeat is computed once, before it is repeated;
//! - `stack.rs`: reductions of stacks: element by element, from where the parts are.

mod bitcast;
mod concatenation;
mod empty;
mod fold;
mod power;
mod reduction;
mod reshape;
mod sink;
mod stack;

use core::cell::Cell;
use std::borrow::Cow;

use crate::graph::{Graph, GraphArena, Node, NodeKind, ValueId};

/// Runs all passes.
///
/// Derivatives are taken of the graph as it was built: passes keep every bit of the values, but a kink may
/// come to have another slope.
pub fn optimize(graph: &Graph) -> Graph {
    let graph = rewrite(graph, empty::replace_empty);
    let graph = rewrite(&graph, bitcast::read_through);
    let graph = replace_outputs(&graph, reshape::drop_axes);
    let graph = rewrite(&graph, sink::sink_broadcasts);
    let graph = rewrite(&graph, concatenation::merge_nested);
    let folded = Cell::new(0);
    let graph = rewrite(&graph, |arena, node| fold::fold_constants(arena, node, &folded));
    rewrite(&graph, power::replace_powers)
}

/// The graph without values that no output needs; its parameters stay.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::remove_unused;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [3])?;
/// let doubled = 2 * &x;
/// let graph = b.finish(&[x.exp()])?;
/// assert_eq!(remove_unused(&graph).len(), graph.len() - 3); // 2, its broadcast, the product
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
pub fn remove_unused(graph: &Graph) -> Cow<'_, Graph> {
    without_unused(graph).map_or(Cow::Borrowed(graph), Cow::Owned)
}

/// `None` if an output needs every value.
fn without_unused(graph: &Graph) -> Option<Graph> {
    let is_live = live_values(graph);
    let is_whole = is_live.iter().all(|&live| live);
    (!is_whole).then(|| {
        let (arena, outputs) = copied(graph, &is_live);
        arena.finish(outputs)
    })
}

/// The graph without pairs of bitcasts from a type to another one and back, and without unused values; with
/// it the value of `graph` that each of its values is.
///
/// Definitions have such pairs where no derivative is to flow.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::drop_bitcast_pairs;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [3])?;
/// let bits = b.bitcast(&x, DType::U32)?;
/// let graph = b.finish(&[b.bitcast(bits, DType::F32)?.exp()])?;
/// let (graph, values) = drop_bitcast_pairs(&graph);
/// assert_eq!(graph.len(), 2); // the parameter, its exponential
/// assert_eq!(values[1].index(), 3);
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
pub fn drop_bitcast_pairs(graph: &Graph) -> (Graph, Vec<ValueId>) {
    let (shorter, values) = rebuild_with_sources(graph, bitcast::read_through);
    let (used, kept) = rebuild_with_sources(&shorter, GraphArena::add);
    (used, kept.into_iter().map(|value| values[value.index()]).collect())
}

/// The graph of the nodes that `rule` adds for the live values, with the first value of `graph` that became
/// each value. Each node that `rule` adds must be the result of one call of it.
fn rebuild_with_sources(
    graph: &Graph,
    rule: impl Fn(&mut GraphArena, Node) -> ValueId,
) -> (Graph, Vec<ValueId>) {
    let is_live = live_values(graph);
    let Rebuilt { arena, outputs, renamed } =
        rebuilt(graph, &is_live, |arena, _, node| rule(arena, node));
    let rebuilt = arena.finish(outputs);
    let mut sources = vec![None; rebuilt.len()];
    for (value, _) in graph.iter().filter(|(value, _)| is_live[value.index()]) {
        sources[renamed[value.index()].index()].get_or_insert(value);
    }
    let sources = sources.into_iter().map(|source| source.expect("invariant: each is a result"));
    (rebuilt, sources.collect())
}

/// The graph in the form that loops need: reductions only along axes of at least two elements,
/// without stacks that are reduced again, and without concatenations among the operands of concatenations.
pub fn expand_for_loops(graph: &Graph) -> Cow<'_, Graph> {
    let is_expanded =
        |node: &Node| matches!(node.kind, NodeKind::Reduce { .. } | NodeKind::Concatenate { .. });
    if !graph.iter().any(|(_, node)| is_expanded(node)) {
        return Cow::Borrowed(graph);
    }
    let is_stack_reduced = stack::reductions(graph);
    let rule = |arena: &mut GraphArena, value: ValueId, node: Node| match node.kind {
        NodeKind::Concatenate { .. } => concatenation::copy_nested(arena, node),
        _ if is_stack_reduced[value.index()] => stack::reduce_parts(arena, &node),
        _ => reduction::expand_reduction(arena, node),
    };
    let Rebuilt { arena, outputs, .. } = rebuilt(graph, &live_values(graph), rule);
    Cow::Owned(finished(arena, outputs))
}

/// Rebuilds `graph`: `rule` adds each live node, whose operands are already those of the new graph.
fn rewrite(graph: &Graph, rule: impl Fn(&mut GraphArena, Node) -> ValueId) -> Graph {
    let Rebuilt { arena, outputs, .. } =
        rebuilt(graph, &live_values(graph), |arena, _, node| rule(arena, node));
    finished(arena, outputs)
}

/// The graph of what rules have added, without what they then did not use.
fn finished(arena: GraphArena, outputs: Vec<ValueId>) -> Graph {
    let graph = arena.finish(outputs);
    without_unused(&graph).unwrap_or(graph)
}

/// The graph with other outputs, which `rule` finds among its values or adds to them.
fn replace_outputs(graph: &Graph, rule: impl Fn(&mut GraphArena, ValueId) -> ValueId) -> Graph {
    let (mut arena, outputs) = copied(graph, &live_values(graph));
    let outputs = outputs.into_iter().map(|output| rule(&mut arena, output)).collect();
    finished(arena, outputs)
}

/// A graph in the making.
struct Rebuilt {
    arena: GraphArena,
    outputs: Vec<ValueId>,
    /// The new value of each live value of the old graph.
    renamed: Vec<ValueId>,
}

/// The nodes of these values, and the outputs among them.
fn copied(graph: &Graph, is_live: &[bool]) -> (GraphArena, Vec<ValueId>) {
    let Rebuilt { arena, outputs, .. } = rebuilt(graph, is_live, |arena, _, node| arena.add(node));
    (arena, outputs)
}

/// The nodes that `rule` adds for these values, and the outputs among them.
fn rebuilt(
    graph: &Graph,
    is_live: &[bool],
    rule: impl Fn(&mut GraphArena, ValueId, Node) -> ValueId,
) -> Rebuilt {
    let mut arena = GraphArena::new();
    let mut renamed = vec![ValueId::from_index(0); graph.len()];
    for (value, node) in graph.iter().filter(|(value, _)| is_live[value.index()]) {
        let operands = node.operands.map(|operand| renamed[operand.index()]);
        renamed[value.index()] = rule(&mut arena, value, Node { operands, ..node.clone() });
    }
    let outputs = graph.outputs().iter().map(|output| renamed[output.index()]).collect();
    Rebuilt { arena, outputs, renamed }
}

/// For each value, whether an output needs it or it is a parameter.
pub fn live_values(graph: &Graph) -> Vec<bool> {
    let mut is_live = vec![false; graph.len()];
    graph.outputs().iter().for_each(|output| is_live[output.index()] = true);
    for (value, node) in graph.iter().rev() {
        is_live[value.index()] |= matches!(node.kind, NodeKind::Parameter { .. });
        if is_live[value.index()] {
            node.operands.iter().for_each(|operand| is_live[operand.index()] = true);
        }
    }
    is_live
}
