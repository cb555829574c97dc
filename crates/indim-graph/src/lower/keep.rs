//! Which values are kept between nests, and in which order they are computed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use indim_shape::Shape;

use super::{View, is_leaf, is_unit_reshape};
use crate::graph::{Graph, NodeKind, ValueId};

/// Where the operand of an instruction comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// Read from a parameter, a constant or a counter.
    Leaf(ValueId, View),
    /// Read from where an earlier nest kept it, under a shape of the same elements.
    Kept(ValueId, View, Shape),
    /// Computed in this nest.
    Computed(ValueId, View),
}

/// The kept values, grouped into nests.
pub(super) struct Kept {
    groups: Vec<Vec<ValueId>>,
    read: BTreeSet<ValueId>,
    dense: BTreeSet<ValueId>,
    use_counts: Vec<usize>,
}

impl Kept {
    /// The values of each nest, in the order in which the nests run.
    pub(super) fn groups(&self) -> &[Vec<ValueId>] {
        &self.groups
    }

    /// The values that another nest reads.
    pub(super) fn read_values(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.read.iter().copied()
    }

    /// The position of the nest that computes a kept value.
    fn position(&self, value: ValueId) -> Option<usize> {
        self.groups.iter().position(|group| group.contains(&value))
    }

    /// Whether a value is read under another shape, and so must be dense in row-major order.
    pub(super) fn needs_dense(&self, value: ValueId) -> bool {
        self.dense.contains(&value)
    }

    /// Where `value`, seen through `view` in a nest that computes `group`, comes from.
    pub(super) fn source(
        &self,
        graph: &Graph,
        group: &[ValueId],
        value: ValueId,
        view: View,
    ) -> Source {
        let source = resolve(graph, &self.use_counts, value, view);
        if let Source::Computed(value, view) = &source
            && self.read.contains(value)
            && self.position(*value) < group.first().and_then(|&other| self.position(other))
        {
            // An earlier nest has computed it anyway.
            return Source::Kept(*value, view.clone(), graph[*value].array_type.shape.clone());
        }
        source
    }
}

/// Follows views from `value` to something that is read or computed.
fn resolve(graph: &Graph, use_counts: &[usize], mut value: ValueId, mut view: View) -> Source {
    let mut is_expanded = false;
    let mut is_viewed = false;
    loop {
        let node = &graph[value];
        match &node.kind {
            NodeKind::BroadcastInDim(map) => {
                let operand = node.operands[0];
                let shape = &graph[operand].array_type.shape;
                is_expanded |= is_smaller(shape, &node.array_type.shape);
                view = view.through_broadcast(map, shape);
                value = operand;
            }
            NodeKind::Reshape => {
                let operand = node.operands[0];
                let shape = &graph[operand].array_type.shape;
                if !is_unit_reshape(&node.array_type.shape, shape) {
                    let source = reshaped_source(graph, operand);
                    return Source::Kept(source, view, node.array_type.shape.clone());
                }
                view = view.through_unit_reshape(&node.array_type.shape, shape);
                value = operand;
            }
            kind if is_leaf(kind) => return Source::Leaf(value, view),
            _ if is_expanded || (is_viewed && use_counts[value.index()] > 1) => {
                return Source::Kept(value, view, node.array_type.shape.clone());
            }
            _ => return Source::Computed(value, view),
        }
        is_viewed = true;
    }
}

/// The value whose dense elements a chain of reshapes shows.
fn reshaped_source(graph: &Graph, mut value: ValueId) -> ValueId {
    while matches!(graph[value].kind, NodeKind::Reshape) {
        value = graph[value].operands[0];
    }
    value
}

fn is_smaller(operand: &Shape, result: &Shape) -> bool {
    operand.element_count().ok() < result.element_count().ok()
}

/// What one nest computes: values with the views under which they are needed, latest first.
pub(super) fn computed_values(
    graph: &Graph,
    roots: &[ValueId],
    mut source: impl FnMut(ValueId, View) -> Source,
) -> BTreeMap<ValueId, Vec<View>> {
    let mut computed = BTreeMap::new();
    let mut pending: BTreeMap<ValueId, Vec<View>> = BTreeMap::new();
    let need = |pending: &mut BTreeMap<ValueId, Vec<View>>, source: Source| {
        if let Source::Computed(value, view) = source {
            let views = pending.entry(value).or_default();
            if !views.contains(&view) {
                views.push(view);
            }
        }
    };
    for &root in roots {
        let view = View::identity(&graph[root].array_type.shape);
        need(&mut pending, source(root, view));
    }
    // Operands come earlier, so every view of the latest pending value is known.
    while let Some((value, views)) = pending.pop_last() {
        for view in &views {
            for &operand in graph[value].operands.iter() {
                need(&mut pending, source(operand, view.clone()));
            }
        }
        computed.insert(value, views);
    }
    computed
}

/// Finds the kept values of a graph and orders them into nests.
pub(super) fn kept_values(graph: &Graph) -> Kept {
    let use_counts = use_counts(graph);
    let mut read = BTreeSet::new();
    let mut dense = BTreeSet::new();
    let mut dependencies: BTreeMap<ValueId, Vec<ValueId>> = BTreeMap::new();
    let mut pending: Vec<ValueId> = graph.outputs().to_vec();
    while let Some(root) = pending.pop() {
        if dependencies.contains_key(&root) {
            continue;
        }
        let mut depends_on = Vec::new();
        computed_values(graph, &[root], |value, view| {
            let source = resolve(graph, &use_counts, value, view);
            if let Source::Kept(value, _, shape) = &source {
                depends_on.push(*value);
                read.insert(*value);
                if *shape != graph[*value].array_type.shape {
                    dense.insert(*value);
                }
            }
            source
        });
        pending.extend_from_slice(&depends_on);
        dependencies.insert(root, depends_on);
    }
    let groups = group(graph, &dependencies, &read);
    Kept { groups, read, dense, use_counts }
}

fn use_counts(graph: &Graph) -> Vec<usize> {
    let mut counts = vec![0; graph.len()];
    let operands = graph.iter().flat_map(|(_, node)| node.operands.iter());
    operands.chain(graph.outputs()).for_each(|value| counts[value.index()] += 1);
    counts
}

/// Groups kept values by iteration shape and by how many nests must run before.
fn group(
    graph: &Graph,
    dependencies: &BTreeMap<ValueId, Vec<ValueId>>,
    read: &BTreeSet<ValueId>,
) -> Vec<Vec<ValueId>> {
    let mut levels: HashMap<ValueId, usize> = HashMap::new();
    let mut last_level: HashMap<&Shape, usize> = HashMap::new();
    for (&value, depends_on) in dependencies {
        let level = depends_on.iter().map(|other| levels[other] + 1).max().unwrap_or(0);
        levels.insert(value, level);
        let last = last_level.entry(&graph[value].array_type.shape).or_default();
        *last = level.max(*last);
    }
    let mut groups: BTreeMap<(usize, Vec<usize>), Vec<ValueId>> = BTreeMap::new();
    for &value in dependencies.keys() {
        let shape = &graph[value].array_type.shape;
        // What nobody waits for joins the last nest of its shape, where it may share work.
        let level = if read.contains(&value) { levels[&value] } else { last_level[shape] };
        groups.entry((level, shape.to_vec())).or_default().push(value);
    }
    groups.into_values().collect()
}
