//! Passes: rewrites of graphs that keep every bit of the results.
//!
//! Every pass rebuilds the graph in a `GraphArena`, which merges equal nodes, and drops values that no
//! output needs. Parameters always stay.
//!
//! - `bitcast.rs`: removal of bitcasts to another type and back;
//! - `concatenation.rs`: merging of nested concatenations along one axis;
//! - `empty.rs`: replacement of values without elements by constants;
//! - `factor.rs`: transposition of constant factors of contractions to the order of the summed axes;
//! - `fold.rs`: constant folding of small computations, by the reference evaluator;
//! - `power.rs`: replacement of powers by `square` and `reciprocal`;
//! - `reduction.rs`: expansion of reductions along axes of fewer than two elements;
//! - `reshape.rs`: removal of a pair of reshapes around the computation of an output, such as those of
//!   `keepdims`;
//! - `regions.rs`: optimisation of the regions of loops and branches by all passes of `optimize`;
//! - `sink.rs`: sinking of broadcasts below computations, so that no operation computes repeated elements;
//! - `stack.rs`: reduction of stacks by element-wise operations on their parts, without writing the stack;
//! - `window.rs`: windows as concatenations of slices, for formats without windows.

mod bitcast;
mod concatenation;
mod empty;
mod factor;
mod fold;
mod power;
mod reduction;
mod regions;
mod reshape;
mod sink;
mod stack;
mod window;

use core::cell::Cell;
use std::borrow::Cow;

use crate::graph::{Graph, GraphArena, Node, NodeKind, ValueId};

/// Runs the passes that every graph gets: all except those of [`expand_for_loops`] and [`expand_windows`].
///
/// Differentiate a graph before its passes: they keep every bit of the values, but may change the derivative
/// at a kink.
pub fn optimize(graph: &Graph) -> Graph {
    optimize_with(graph, &mut Untracked)
}

/// Like [`optimize`], but reports each rewrite.
pub(crate) fn optimize_with(graph: &Graph, tracker: &mut dyn Tracker) -> Graph {
    // Each assignment frees the previous graph, so that at most two graphs are in memory at a time.
    let mut graph =
        rewrite_with(&regions::optimize_regions(graph, tracker), tracker, empty::replace_empty);
    graph = rewrite_with(&graph, tracker, bitcast::drop_pairs);
    graph = replace_outputs(&graph, tracker, reshape::drop_axes);
    graph = rewrite_with(&graph, tracker, sink::sink_broadcasts);
    graph = rewrite_with(&graph, tracker, concatenation::merge_nested);
    let folded_elements = Cell::new(0);
    let fold = |arena: &mut GraphArena, node| fold::fold_constants(arena, node, &folded_elements);
    graph = rewrite_with(&graph, tracker, fold);
    let budget = Cell::new(factor::constant_elements(&graph));
    let order = |arena: &mut GraphArena, node| factor::order_factors(arena, node, &budget);
    graph = rewrite_with(&graph, tracker, order);
    rewrite_with(&graph, tracker, power::replace_powers)
}

/// Follows the values of a graph through rewrites.
pub(crate) trait Tracker {
    /// A rewrite of `before` gave `after`. `renamed` has, for each value of `before`, the value that replaces
    /// it and has its type; `None` for one that `after` does not need.
    fn follow(&mut self, before: &Graph, after: &Graph, renamed: &[Option<ValueId>]);
}

/// Follows nothing.
struct Untracked;

impl Tracker for Untracked {
    fn follow(&mut self, _: &Graph, _: &Graph, _: &[Option<ValueId>]) {}
}

/// Dead-code elimination: the graph without values that no output needs; its parameters stay.
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
    match without_unused(graph) {
        Some(Rewrite { arena, outputs, .. }) => Cow::Owned(arena.finish(outputs)),
        None => Cow::Borrowed(graph),
    }
}

/// A copy of the graph without unused values; `None` if all values are used.
fn without_unused(graph: &Graph) -> Option<Rewrite> {
    let is_live = live_values(graph);
    is_live.contains(&false).then(|| copy_live(graph, &is_live))
}

/// The graph without pairs of bitcasts to another type and back, and without unused values; also returns, for
/// each of its values, the value of `graph` that it came from.
///
/// Compositions of the builder use such pairs to stop derivatives.
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
    let (without_pairs, values) = rebuild_with_sources(graph, bitcast::drop_pairs);
    let (pruned, kept) = rebuild_with_sources(&without_pairs, GraphArena::add);
    (pruned, kept.into_iter().map(|value| values[value.index()]).collect())
}

/// The graph of the nodes that `rule` adds for the live values; also returns, for each of its values, the
/// first value of `graph` that it replaces. One call of `rule` may add only the node that it returns.
fn rebuild_with_sources(
    graph: &Graph,
    rule: impl Fn(&mut GraphArena, Node) -> ValueId,
) -> (Graph, Vec<ValueId>) {
    let Rewrite { arena, outputs, renamed } =
        rebuild(graph, &live_values(graph), |arena, _, node| rule(arena, node));
    let rebuild = arena.finish(outputs);
    let mut sources = vec![None; rebuild.len()];
    for ((value, _), new) in graph.iter().zip(renamed) {
        if let Some(new) = new {
            sources[new.index()].get_or_insert(value);
        }
    }
    let sources = sources.into_iter().map(|source| source.expect("invariant: each is a result"));
    (rebuild, sources.collect())
}

/// The graph in the form that lowering to loops requires: reductions only along axes of at least two
/// elements, no stack of at most 32 parts that is only reduced along the stacked axis by folds, and no
/// concatenation that is an operand of another concatenation and has other uses.
pub fn expand_for_loops(graph: &Graph) -> Cow<'_, Graph> {
    expand_for_loops_with(graph, &mut Untracked).map_or(Cow::Borrowed(graph), Cow::Owned)
}

/// Like [`expand_for_loops`], but reports each rewrite; `None` if the graph already has this form.
pub(crate) fn expand_for_loops_with(graph: &Graph, tracker: &mut dyn Tracker) -> Option<Graph> {
    let is_expanded =
        |node: &Node| matches!(node.kind, NodeKind::Reduce { .. } | NodeKind::Concatenate { .. });
    if !graph.iter().any(|(_, node)| is_expanded(node)) {
        return None;
    }
    let is_stack_reduced = stack::reductions(graph);
    let is_live = live_values(graph);
    let mut uses = vec![0_usize; graph.len()];
    let live = graph.iter().filter(|(value, _)| is_live[value.index()]);
    let read = live.flat_map(|(_, node)| node.operands.iter());
    read.chain(graph.outputs()).for_each(|value| uses[value.index()] += 1);
    let rule = |arena: &mut GraphArena, value: ValueId, node: Node| match node.kind {
        NodeKind::Concatenate { .. } => {
            let operands = &graph[value].operands;
            concatenation::copy_nested(arena, node, |part| uses[operands[part].index()] == 1)
        }
        _ if is_stack_reduced[value.index()] => stack::reduce_stack(arena, &node),
        _ => reduction::expand_reduction(arena, node),
    };
    let rewrite = rebuild(graph, &is_live, rule);
    Some(finish(graph, rewrite, tracker))
}

/// The graph with windows as concatenations of slices, for writers of formats that have no windows.
/// Windows of more than 256 elements stay.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::{AxisWindow, NodeKind, expand_windows};
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [9])?;
/// let graph = b.finish(&[b.window(x, 0, AxisWindow::sliding(3))?])?;
/// let kinds = |kind: &NodeKind| matches!(kind, NodeKind::Slice(_));
/// assert_eq!(expand_windows(&graph).iter().filter(|(_, node)| kinds(&node.kind)).count(), 3);
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
pub fn expand_windows(graph: &Graph) -> Cow<'_, Graph> {
    match graph.iter().any(|(_, node)| matches!(node.kind, NodeKind::Window { .. })) {
        true => Cow::Owned(rewrite(graph, window::expand_windows)),
        false => Cow::Borrowed(graph),
    }
}

/// Rebuilds `graph`: `rule` adds each live node, whose operands are values of the new graph.
fn rewrite(graph: &Graph, rule: impl Fn(&mut GraphArena, Node) -> ValueId) -> Graph {
    rewrite_with(graph, &mut Untracked, rule)
}

/// Like [`rewrite`], but reports the rewrite.
fn rewrite_with(
    graph: &Graph,
    tracker: &mut dyn Tracker,
    rule: impl Fn(&mut GraphArena, Node) -> ValueId,
) -> Graph {
    let rewrite = rebuild(graph, &live_values(graph), |arena, _, node| rule(arena, node));
    finish(graph, rewrite, tracker)
}

/// The result of a rewrite of `graph`, without unused values.
fn finish(graph: &Graph, rewrite: Rewrite, tracker: &mut dyn Tracker) -> Graph {
    let Rewrite { arena, outputs, mut renamed } = rewrite;
    let mut rewritten = arena.finish(outputs);
    if let Some(kept) = without_unused(&rewritten) {
        let kept_value = |value: &mut Option<ValueId>| {
            *value = value.and_then(|value| kept.renamed[value.index()]);
        };
        renamed.iter_mut().for_each(kept_value);
        rewritten = kept.arena.finish(kept.outputs);
    }
    tracker.follow(graph, &rewritten, &renamed);
    rewritten
}

/// The graph with each output replaced by the value that `rule` returns for it.
fn replace_outputs(
    graph: &Graph,
    tracker: &mut dyn Tracker,
    rule: impl Fn(&mut GraphArena, ValueId) -> ValueId,
) -> Graph {
    let mut copy = copy_live(graph, &live_values(graph));
    copy.outputs = copy.outputs.iter().map(|&output| rule(&mut copy.arena, output)).collect();
    finish(graph, copy, tracker)
}

/// The result of a rebuild, before unused values are dropped.
struct Rewrite {
    arena: GraphArena,
    outputs: Vec<ValueId>,
    /// The new value of each value of the old graph; `None` for one that is not live.
    renamed: Vec<Option<ValueId>>,
}

/// A copy of the live nodes, and the outputs among them.
fn copy_live(graph: &Graph, is_live: &[bool]) -> Rewrite {
    rebuild(graph, is_live, |arena, _, node| arena.add(node))
}

/// The nodes that `rule` adds for the live values, and the outputs among them.
fn rebuild(
    graph: &Graph,
    is_live: &[bool],
    rule: impl Fn(&mut GraphArena, ValueId, Node) -> ValueId,
) -> Rewrite {
    let mut arena = GraphArena::new();
    let mut renamed = vec![None; graph.len()];
    let new_value = |renamed: &[Option<ValueId>], value: ValueId| {
        renamed[value.index()].expect("invariant: outputs and operands of live values are live")
    };
    for (value, node) in graph.iter().filter(|(value, _)| is_live[value.index()]) {
        let operands = node.operands.map(|operand| new_value(&renamed, operand));
        renamed[value.index()] = Some(rule(&mut arena, value, Node { operands, ..node.clone() }));
    }
    let outputs = graph.outputs().iter().map(|&output| new_value(&renamed, output)).collect();
    Rewrite { arena, outputs, renamed }
}

/// For each value, whether it is live: an output needs it, or it is a parameter.
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
