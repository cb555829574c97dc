//! Materialisation: the values that a nest writes to memory, and the order of the nests.
//!
//! An output is kept, and the result of a reduction. A concatenation is too, but no nest computes it: its
//! parts are kept, each where it belongs in the whole. So is a value that another nest reads because
//! computing it again at every point of its consumer would repeat work: one that is read through a broadcast
//! that expands it, unless it is one cheap operation on one array, or under several views, or as the operand
//! of a reshape that is not a view; and, unless it is cheap, one that is both reduced and used beside that,
//! or both folded and searched.
//! Every other value is computed where it is needed, and under one view only, so that a nest holds at most
//! one instruction for each node of the graph. Where nests after nests would compute the same values, each is
//! kept that is used twice: what is lowered stays in proportion to the graph.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashMapExt};
use indim_graph::{Graph, Node, NodeKind, ValueId};
use indim_ops::Fact;

use crate::origin::Origins;
use crate::sought::{Sought, Source, is_computed, is_search, iteration, reduced_value, sought};
use crate::view::View;

/// A graph of fewer nodes may have any number of instructions.
const SMALL_GRAPH: usize = 1000;

/// All nests of a larger graph together have at most so many instructions for each of its nodes.
const MAX_INSTRUCTIONS_PER_NODE: usize = 8;

/// The kept values, grouped into nests.
pub(crate) struct Kept {
    origins: Origins,
    groups: Vec<Vec<ValueId>>,
    positions: HashMap<ValueId, usize>,
    read: BTreeSet<ValueId>,
    dense: BTreeSet<ValueId>,
    places: HashMap<ValueId, Vec<Place>>,
    /// The stored conversions of reductions that have no other use.
    conversions: HashMap<ValueId, ValueId>,
}

/// The destination of a part of a concatenation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The concatenation.
    pub(crate) whole: ValueId,
    /// Its axis.
    pub(crate) axis: usize,
    /// The offset of the part along that axis.
    pub(crate) start: usize,
}

impl Kept {
    /// The values of each nest, in the order in which the nests run.
    pub(crate) fn groups(&self) -> &[Vec<ValueId>] {
        &self.groups
    }

    /// The values that another nest reads.
    pub(crate) fn read_values(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.read.iter().copied()
    }

    /// The form in which a nest stores a value of its group: the value, or its conversion.
    pub(crate) fn stored(&self, value: ValueId) -> ValueId {
        self.conversions.get(&value).copied().unwrap_or(value)
    }

    /// The destinations of a value as a part of concatenations.
    pub(crate) fn places(&self, value: ValueId) -> &[Place] {
        self.places.get(&value).map_or(&[], Vec::as_slice)
    }

    /// Whether a value is read under another shape, and so must be dense in row-major order.
    pub(crate) fn needs_dense(&self, value: ValueId) -> bool {
        self.dense.contains(&value)
    }

    /// The source of an operand in a nest that computes `group`.
    pub(crate) fn source(&self, graph: &Graph, group: &[ValueId], sought: Sought) -> Source {
        match sought.resolve(graph, &self.origins) {
            Source::Computed(value, view)
                if self.read.contains(&value)
                    && self.positions[&value] != self.positions[&group[0]] =>
            {
                Source::Kept(value, view, graph[value].array_type.shape.clone())
            }
            source => source,
        }
    }
}

/// The values that one nest computes, in order, each with the view that needs it.
pub(crate) fn computed_values(
    graph: &Graph,
    group: &[ValueId],
    kept: &Kept,
) -> BTreeMap<ValueId, View> {
    let mut computed = BTreeMap::new();
    let mut pending: BTreeMap<ValueId, View> = BTreeMap::new();
    let sources = |value: ValueId, view: &View| {
        let source = |sought| kept.source(graph, group, sought);
        sought(graph, value, view).into_iter().map(source).collect::<Vec<Source>>()
    };
    for &root in group {
        pending.insert(root, View::identity(&iteration(graph, root).0));
    }
    // Operands come earlier, so the latest pending value is needed by nothing that is still to come.
    while let Some((value, view)) = pending.pop_last() {
        for source in sources(value, &view) {
            if let Source::Computed(operand, operand_view) = source {
                pending.insert(operand, operand_view);
            }
        }
        if is_computed(&graph[value].kind) {
            computed.insert(value, view);
        }
    }
    computed
}

/// Whether to compute it again costs less than to write it and read it back.
fn is_cheap(kind: &NodeKind) -> bool {
    match kind {
        NodeKind::Elementwise(op) => op.is(Fact::Cheap),
        NodeKind::Take { .. } | NodeKind::ScatterAdd { .. } => false,
        _ => true,
    }
}

fn is_taken(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Take { .. })
}

/// Finds the kept values of a graph and orders them into nests.
pub(crate) fn kept_values(graph: &Graph) -> Kept {
    let kept = kept_where(graph, false);
    match graph.len() >= SMALL_GRAPH && repeats_too_much(graph, &kept) {
        true => kept_where(graph, true),
        false => kept,
    }
}

/// Whether recomputation in nests exceeds the maximal number of instructions.
fn repeats_too_much(graph: &Graph, kept: &Kept) -> bool {
    let mut left = MAX_INSTRUCTIONS_PER_NODE.saturating_mul(graph.len());
    kept.groups().iter().any(|group| {
        let computed = computed_values(graph, group, kept).len();
        let is_exceeded = computed > left;
        left = left.saturating_sub(computed);
        is_exceeded
    })
}

/// The kept values; if `keeps_shared` is set, all that are used more than once are among them.
fn kept_where(graph: &Graph, keeps_shared: bool) -> Kept {
    let origins = Origins::of(graph);
    let needs = Needs::of(graph, &origins, keeps_shared);
    let levels = needs.levels(graph, &origins);
    let mut groups = group(graph, &needs, &levels);
    let conversions = conversions(graph, &needs, &groups);
    let stored: BTreeSet<ValueId> = conversions.values().copied().collect();
    groups.retain(|group| !group.iter().any(|value| stored.contains(value)));
    let mut positions = HashMap::new();
    for (position, group) in groups.iter().enumerate() {
        for value in group {
            positions.insert(*value, position);
            positions.extend(conversions.get(value).map(|&conversion| (conversion, position)));
        }
    }
    let mut read = needs.read;
    read.retain(|value| !conversions.contains_key(value));
    // The reduction itself is not in memory, so no nest can convert it again.
    let is_operand = if stored.is_empty() { Vec::new() } else { operands(graph) };
    read.extend(stored.into_iter().filter(|value| is_operand[value.index()]));
    let places = places(graph, &needs.concatenations);
    Kept { origins, positions, groups, read, dense: needs.dense, places, conversions }
}

/// The reductions whose only reader is a conversion, which is all that a nest computes: then the nest that
/// reduces stores the converted values.
fn conversions(graph: &Graph, needs: &Needs, groups: &[Vec<ValueId>]) -> HashMap<ValueId, ValueId> {
    let mut uses = vec![0; graph.len()];
    let operands = graph.iter().flat_map(|(_, node)| node.operands.iter().copied());
    let read = operands.chain(widened(graph)).chain(graph.outputs().iter().copied());
    read.for_each(|value| uses[value.index()] += 1);
    let converted = |&value: &ValueId| match graph[value].kind {
        NodeKind::Convert => {
            let operand = graph[value].operands[0];
            let is_reduced =
                matches!(graph[operand].kind, NodeKind::Reduce { op, .. } if !op.is_search());
            let is_used_once = uses[operand.index()] == 1 && !needs.dense.contains(&operand);
            (is_reduced && is_used_once).then_some((operand, value))
        }
        _ => None,
    };
    let all = |group: &Vec<ValueId>| group.iter().map(converted).collect::<Option<Vec<_>>>();
    groups.iter().filter_map(all).flatten().collect()
}

/// The values that reductions read in place of what these are converted to.
fn widened(graph: &Graph) -> impl Iterator<Item = ValueId> + '_ {
    graph.iter().filter_map(|(value, node)| match node.kind {
        NodeKind::Reduce { .. } => {
            Some(reduced_value(graph, value)).filter(|read| *read != node.operands[0])
        }
        _ => None,
    })
}

/// For each value whether a node reads it; the parts of a concatenation are only written.
fn operands(graph: &Graph) -> Vec<bool> {
    let mut is_operand = vec![false; graph.len()];
    let reads = |node: &&Node| !matches!(node.kind, NodeKind::Concatenate { .. });
    let readers = graph.iter().map(|(_, node)| node).filter(reads);
    readers
        .flat_map(|node| node.operands.iter())
        .for_each(|value| is_operand[value.index()] = true);
    is_operand
}

/// The destinations of the parts of these concatenations.
fn places(graph: &Graph, concatenations: &BTreeSet<ValueId>) -> HashMap<ValueId, Vec<Place>> {
    let mut places: HashMap<ValueId, Vec<Place>> = HashMap::new();
    for &whole in concatenations {
        let NodeKind::Concatenate { axis } = graph[whole].kind else { continue };
        let mut start = 0;
        for &part in graph[whole].operands.iter() {
            places.entry(part).or_default().push(Place { whole, axis, start });
            start += graph[part].array_type.shape[axis];
        }
    }
    places
}

/// In which nests of one iteration shape a value is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    /// In those with this reduced axis, which search along it or not.
    Nests { reduced: Option<usize>, searches: bool },
    /// In those with one reduced axis and in others, again: that is cheaper than to keep it.
    Several,
}

impl Home {
    /// Those that reduce nothing.
    const ELEMENTWISE: Home = Home::Nests { reduced: None, searches: false };
}

/// The requirements of all nests.
struct Needs {
    /// The view under which each value is computed, if it is; a kept value is under the identity.
    views: Vec<Option<View>>,
    /// In which nests each value is computed.
    homes: Vec<Home>,
    /// The outputs, and the values that nests read.
    kept: BTreeSet<ValueId>,
    /// The kept values that are written part by part, by the nests of the parts.
    concatenations: BTreeSet<ValueId>,
    read: BTreeSet<ValueId>,
    dense: BTreeSet<ValueId>,
    keeps_shared: bool,
}

impl Needs {
    fn of(graph: &Graph, origins: &Origins, keeps_shared: bool) -> Self {
        let mut needs = Needs {
            views: vec![None; graph.len()],
            homes: vec![Home::ELEMENTWISE; graph.len()],
            kept: BTreeSet::new(),
            concatenations: BTreeSet::new(),
            read: BTreeSet::new(),
            dense: BTreeSet::new(),
            keeps_shared,
        };
        graph.outputs().iter().for_each(|&output| needs.keep(graph, output));
        // Operands come earlier, so a value is reached after everything that needs it.
        for (value, _) in graph.iter().rev() {
            if let Some(view) = needs.views[value.index()].clone() {
                let home = needs.homes[value.index()];
                for sought in sought(graph, value, &view) {
                    needs.add(graph, sought.resolve(graph, origins), home);
                }
            }
        }
        needs
    }

    fn keep(&mut self, graph: &Graph, value: ValueId) {
        if let NodeKind::Concatenate { .. } = graph[value].kind {
            if self.concatenations.insert(value) {
                graph[value].operands.iter().for_each(|&part| self.keep_part(graph, part));
            }
            return;
        }
        let (shape, reduced) = iteration(graph, value);
        self.kept.insert(value);
        self.views[value.index()] = Some(View::identity(&shape));
        let searches = is_search(&graph[value].kind);
        self.homes[value.index()] = Home::Nests { reduced, searches };
    }

    /// A part of a concatenation, which is none itself. Who computed it otherwise, now reads it.
    fn keep_part(&mut self, graph: &Graph, part: ValueId) {
        let before = self.views[part.index()].clone().map(|view| (view, self.homes[part.index()]));
        self.keep(graph, part);
        let after = self.views[part.index()].clone().map(|view| (view, self.homes[part.index()]));
        if before.is_some() && before != after {
            self.read.insert(part);
        }
    }

    /// The values for which other nests wait.
    fn awaited(&self, graph: &Graph) -> BTreeSet<ValueId> {
        let whole = self.concatenations.intersection(&self.read);
        let parts = whole.flat_map(|&whole| graph[whole].operands.iter().copied());
        parts.chain(self.read.iter().copied()).collect()
    }

    /// Values computed from `source` are computed in the nests of `home`.
    fn add(&mut self, graph: &Graph, source: Source, home: Home) {
        match source {
            Source::Leaf(..) => {}
            Source::Kept(value, _, shape) => {
                if shape != graph[value].array_type.shape {
                    self.dense.insert(value);
                }
                self.read.insert(value);
                self.keep(graph, value);
            }
            Source::Computed(value, view) => match &self.views[value.index()] {
                // Elements are taken in nests of their own, not where others are reduced.
                _ if home != Home::ELEMENTWISE && is_taken(&graph[value].kind) => {
                    self.read.insert(value);
                    self.keep(graph, value);
                }
                None => {
                    self.views[value.index()] = Some(view);
                    self.homes[value.index()] = home;
                }
                Some(other)
                    if *other == view
                        && self.homes[value.index()] == home
                        && !self.keeps_shared => {}
                Some(other)
                    if *other == view && is_cheap(&graph[value].kind) && !self.keeps_shared =>
                {
                    self.homes[value.index()] = Home::Several;
                }
                Some(_) => {
                    self.read.insert(value);
                    self.keep(graph, value);
                }
            },
        }
    }

    /// The number of nests that must run before each value.
    fn levels(&self, graph: &Graph, origins: &Origins) -> Vec<usize> {
        let mut levels = vec![0; graph.len()];
        for (value, node) in graph.iter() {
            if self.concatenations.contains(&value) {
                let parts = node.operands.iter().map(|part| levels[part.index()]);
                levels[value.index()] = parts.max().unwrap_or(0);
            }
            let Some(view) = &self.views[value.index()] else { continue };
            let after = |sought: Sought| match sought.resolve(graph, origins) {
                Source::Leaf(..) => 0,
                Source::Kept(operand, ..) => levels[operand.index()] + 1,
                Source::Computed(operand, view) => {
                    // It is kept, and read through a view, when it is computed under another.
                    let is_read = self.views[operand.index()].as_ref() != Some(&view);
                    levels[operand.index()] + usize::from(is_read)
                }
            };
            let level = sought(graph, value, view).into_iter().map(after).max().unwrap_or(0);
            levels[value.index()] = level;
        }
        levels
    }
}

/// Groups kept values by iteration shape, by reduced axis, by whether that is searched, and by how many nests
/// must run before.
fn group(graph: &Graph, needs: &Needs, levels: &[usize]) -> Vec<Vec<ValueId>> {
    let nest = |value: ValueId| {
        let (shape, reduced) = iteration(graph, value);
        // A scatter is a nest by itself.
        let scatter = matches!(graph[value].kind, NodeKind::ScatterAdd { .. }).then_some(value);
        (reduced, is_search(&graph[value].kind), scatter, shape)
    };
    let mut last_level = HashMap::new();
    for &value in &needs.kept {
        let last = last_level.entry(nest(value)).or_default();
        *last = levels[value.index()].max(*last);
    }
    let awaited = needs.awaited(graph);
    // Within one level, reductions may read other values.
    let mut groups: BTreeMap<(usize, _), Vec<ValueId>> = BTreeMap::new();
    for &value in &needs.kept {
        let nest = nest(value);
        // A value without readers joins the last nest of its shape, where it may share work.
        let is_awaited = awaited.contains(&value);
        let level = if is_awaited { levels[value.index()] } else { last_level[&nest] };
        groups.entry((level, nest)).or_default().push(value);
    }
    groups.into_values().collect()
}
