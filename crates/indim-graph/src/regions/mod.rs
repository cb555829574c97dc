//! Regions: the graphs inside loops and branches.
//!
//! - `check.rs`: the checks that builder and verifier share;
//! - `evaluate.rs`: reference evaluation;
//! - `limits.rs`: the limits on regions and on the steps of loops.

pub(crate) mod check;
pub(crate) mod evaluate;
pub(crate) mod limits;

use core::hash::{Hash, Hasher};
use std::hash::DefaultHasher;
use std::sync::Arc;

use indim_ops::ArrayType;

use crate::graph::{Graph, GraphArena, Node, NodeKind, ValueId};

/// A graph inside a loop or a branch. Its parameters are the operands of the node, its outputs the results.
///
/// Clones share the graph.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::Region;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [3])?;
/// let region = Region::new(b.finish(&[x.exp()])?);
/// assert_eq!(region.graph().outputs().len(), 1);
/// assert_eq!((region.depth(), region.node_count()), (1, 2));
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Region(Arc<RegionData>);

#[derive(Debug)]
struct RegionData {
    graph: Graph,
    depth: usize,
    nodes: usize,
    /// The hash of the graph, so that no region is hashed twice.
    hash: u64,
}

impl Region {
    /// The region of this graph.
    pub fn new(graph: Graph) -> Region {
        let inner = || graph.iter().flat_map(|(_, node)| node.kind.regions());
        let depth = 1 + inner().map(Region::depth).max().unwrap_or(0);
        let nodes = inner().map(Region::node_count).fold(graph.len(), usize::saturating_add);
        let mut hasher = DefaultHasher::new();
        graph.iter().for_each(|(_, node)| node.hash(&mut hasher));
        (graph.parameters(), graph.outputs()).hash(&mut hasher);
        let hash = hasher.finish();
        Region(Arc::new(RegionData { graph, depth, nodes, hash }))
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.0.graph
    }

    /// The nesting of regions: 1 for a region without regions inside.
    pub fn depth(&self) -> usize {
        self.0.depth
    }

    /// The number of nodes of the region and of the regions inside it.
    pub fn node_count(&self) -> usize {
        self.0.nodes
    }

    /// The types of the parameters.
    pub fn parameter_types(&self) -> impl ExactSizeIterator<Item = &ArrayType> {
        let graph = self.graph();
        graph.parameters().iter().map(|&parameter| &graph[parameter].array_type)
    }

    /// The types of the results.
    pub fn result_types(&self) -> impl ExactSizeIterator<Item = &ArrayType> {
        let graph = self.graph();
        graph.outputs().iter().map(|&output| &graph[output].array_type)
    }
}

impl PartialEq for Region {
    fn eq(&self, other: &Region) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash && self.0.graph == other.0.graph)
    }
}

impl Eq for Region {}

impl Hash for Region {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}

impl NodeKind {
    /// The regions of a loop or branch; none for other kinds.
    pub fn regions(&self) -> impl Iterator<Item = &Region> {
        let (loop_regions, branches) = match self {
            NodeKind::While { condition, body, .. } => ([Some(condition), Some(body)], &[][..]),
            NodeKind::Branch { branches, .. } => ([None, None], &branches[..]),
            _ => ([None, None], &[][..]),
        };
        loop_regions.into_iter().flatten().chain(branches)
    }

    /// The same kind with each region replaced by `replace(region)`.
    #[must_use]
    pub fn map_regions(&self, mut replace: impl FnMut(&Region) -> Region) -> NodeKind {
        match self {
            NodeKind::While { condition, body, limit, result } => NodeKind::While {
                condition: replace(condition),
                body: replace(body),
                limit: *limit,
                result: *result,
            },
            NodeKind::Branch { branches, result } => NodeKind::Branch {
                branches: branches.iter().map(replace).collect(),
                result: *result,
            },
            kind => kind.clone(),
        }
    }
}

/// The region that an index selects among `count`: the last one if the index is out of range, as in XLA.
///
/// ```
/// use indim_graph::chosen_branch;
///
/// assert_eq!([0, 1, 2, -1].map(|index| chosen_branch(index, 2)), [0, 1, 1, 1]);
/// ```
///
/// # Panics
/// If `count` is 0; a branch has at least one region.
pub fn chosen_branch(index: i128, count: usize) -> usize {
    let last = count.checked_sub(1).expect("invariant: a branch has a region");
    usize::try_from(index).map_or(last, |index| index.min(last))
}

/// The graph of one step of a loop. It has the parameters of the regions, and returns the new values of the
/// states whose indices `changing` lists, then the condition for the new values of all states.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::{Array, Region, evaluate, loop_step};
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let i = b.parameter("i", DType::I64, [])?;
/// let condition = Region::new(b.finish(&[i.lt(5)])?);
/// let body = Region::new(b.finish(&[&i + 3])?);
/// let step = loop_step(&condition, &body, &[0]);
/// let results = evaluate(&step, &[Array::from_scalar(1i64)])?;
/// assert_eq!(results[0].scalar::<i64>(), Ok(4));
/// assert_eq!(results[1].scalar::<bool>(), Ok(true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If the regions are not those of a verified loop, or a state does not exist.
pub fn loop_step(condition: &Region, body: &Region, changing: &[usize]) -> Graph {
    let mut arena = GraphArena::new();
    let mut add_all = |graph: &Graph, arguments: &[ValueId]| {
        let mut renamed: Vec<ValueId> = Vec::with_capacity(graph.len());
        for (_, node) in graph.iter() {
            renamed.push(match &node.kind {
                NodeKind::Parameter { index, .. } if !arguments.is_empty() => arguments[*index],
                _ => {
                    let operands = node.operands.map(|operand| renamed[operand.index()]);
                    arena.add(Node { operands, ..node.clone() })
                }
            });
        }
        renamed
    };
    let in_body = add_all(body.graph(), &[]);
    let value = |value: &ValueId| in_body[value.index()];
    let states: Vec<ValueId> = body.graph().outputs().iter().map(value).collect();
    let mut arguments: Vec<ValueId> = body.graph().parameters().iter().map(value).collect();
    arguments[..states.len()].copy_from_slice(&states);
    let in_condition = add_all(condition.graph(), &arguments);
    let next = changing.iter().map(|&state| states[state]);
    let outputs = next.chain([in_condition[condition.graph().outputs()[0].index()]]).collect();
    arena.finish(outputs)
}
