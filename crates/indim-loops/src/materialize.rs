//! Materialisation: the values that a nest writes to memory, and the order of the nests.
//!
//! Outputs are materialised, and so are results of reductions and of standalone operations
//! (`is_standalone` in `value_source.rs`), such as sorts. A contraction of floats is materialised as the
//! conversion that rounds its sums, if nothing else reads them. A concatenation is materialised too, but no
//! nest computes it: each of its parts is written into its slice of the concatenation.
//!
//! A value that another nest reads is materialised if its consumer cannot compute it, or if recomputing
//! it at every point of its consumer would repeat work:
//!
//! - a value read through a broadcast that expands it, unless it is one cheap operation on one array;
//! - a value read under several views;
//! - the operand of a reshape that is not a view;
//! - an operand that must be in memory, such as the table of a gather or the operand of a standalone
//!   operation;
//! - a gather that a reduction reads;
//! - a value that is both reduced and used elsewhere, or read by a reduction and an arg-reduction, unless it
//!   is cheap and computed from at most three arrays of its size.
//!
//! A *fill* is a part of a concatenation that repeats one constant, such as the zeros around an image. Each
//! concatenation has its own nests for fills, which run after those of its other parts. So the
//! concatenation needs no memory before these parts, and its nests may run tile by tile together.
//!
//! Every other value is computed in the nests that need it, under one view only: a nest has at most one
//! instruction for each node of the graph. If nests would recompute too many values, every value with at
//! least two uses is materialised, so that the size of lowered code stays proportional to the graph.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashMapExt};
use indim_graph::{Node, NodeKind, ShapedGraph, ValueId};
use indim_ops::Fact;
use smallvec::SmallVec;

use crate::axis_index::AxisIndex;
use crate::value_source::{
    OperandView, ValueSource, converted_fold, first_results, is_arg_reduction, is_computed,
    is_standalone, iteration, operand_views, reduction_operand,
};
use crate::view::View;
use crate::view_base::ViewBases;

/// Nodes of a graph below which [`MAX_INSTRUCTIONS_PER_NODE`] does not apply.
const SMALL_GRAPH: usize = 1000;

/// Instructions of all nests together, per node of the graph. Above this, shared values are materialised.
const MAX_INSTRUCTIONS_PER_NODE: usize = 8;

/// Maximum arrays of its size that the computation of a shared value reads, if nests of several kinds
/// recompute the value. Each term of a chain of sums would otherwise read all terms before it, so that a
/// network whose layers add to one array would take time quadratic in the number of layers.
const MAX_RECOMPUTED_ARRAYS: usize = 3;

/// The materialised values, grouped into nests.
pub(crate) struct Materialized {
    bases: ViewBases,
    groups: Vec<NestValues>,
    /// For each value of a group, and for its stored conversion, the position of the group.
    positions: HashMap<ValueId, usize>,
    /// The values that another nest reads.
    read: BTreeSet<ValueId>,
    /// The values that are read under another shape, so that they must be stored in row-major order.
    dense: BTreeSet<ValueId>,
    /// The destinations of each part of a concatenation.
    concat_targets: HashMap<ValueId, Vec<ConcatTarget>>,
    /// For each reduction or contraction that is stored only as a conversion, the conversion.
    conversions: HashMap<ValueId, ValueId>,
}

/// The materialised values of one nest.
pub(crate) struct NestValues {
    pub(crate) values: Vec<ValueId>,
    /// The concatenation into which a nest of fills writes them; other nests write to all destinations.
    filled: Option<ValueId>,
}

/// The destination of one part of a concatenation.
#[derive(Debug, Clone)]
pub(crate) struct ConcatTarget {
    /// The concatenation, which is not a part of another concatenation.
    pub(crate) concatenation: ValueId,
    /// The index of its first element along each axis, a constant.
    pub(crate) starts: Vec<AxisIndex>,
}

impl Materialized {
    /// The values of each nest, in the order in which the nests run.
    pub(crate) fn groups(&self) -> &[NestValues] {
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

    /// The destinations of a value of this nest as a part of concatenations.
    pub(crate) fn concat_targets(
        &self,
        nest: &NestValues,
        value: ValueId,
    ) -> impl Iterator<Item = &ConcatTarget> {
        let filled = nest.filled;
        let targets = self.concat_targets.get(&value).into_iter().flatten();
        targets.filter(move |target| filled.is_none_or(|filled| target.concatenation == filled))
    }

    /// Whether a value is read under another shape, so that it must be stored in row-major order.
    pub(crate) fn needs_dense(&self, value: ValueId) -> bool {
        self.dense.contains(&value)
    }

    /// The source of an operand in a nest that computes `group`.
    pub(crate) fn source(
        &self,
        graph: &ShapedGraph<'_>,
        group: &[ValueId],
        operand: OperandView,
    ) -> ValueSource {
        match operand.resolve(graph, &self.bases) {
            ValueSource::Computed(value, view)
                if self.read.contains(&value)
                    && self.positions[&value] != self.positions[&group[0]] =>
            {
                ValueSource::Materialized(value, view, graph.shape(value).clone())
            }
            source => source,
        }
    }
}

/// The values that one nest computes, in order, each with the view that needs it.
pub(crate) fn computed_values(
    graph: &ShapedGraph<'_>,
    group: &[ValueId],
    materialized: &Materialized,
) -> BTreeMap<ValueId, View> {
    let mut computed = BTreeMap::new();
    let mut pending: BTreeMap<ValueId, View> = BTreeMap::new();
    let sources = |value: ValueId, view: &View| {
        let source = |operand| materialized.source(graph, group, operand);
        operand_views(graph, value, view).into_iter().map(source).collect::<Vec<ValueSource>>()
    };
    for &root in group {
        pending.insert(root, View::identity(&iteration(graph, root).0));
    }
    // Operands have smaller ids, so nothing that is still pending needs the largest pending value.
    while let Some((value, view)) = pending.pop_last() {
        for source in sources(value, &view) {
            if let ValueSource::Computed(operand, operand_view) = source {
                pending.insert(operand, operand_view);
            }
        }
        if is_computed(&graph[value].kind) {
            computed.insert(value, view);
        }
    }
    computed
}

/// Whether recomputing a node costs less than writing and reading back its values.
fn is_cheap(kind: &NodeKind) -> bool {
    match kind {
        NodeKind::Elementwise(op) => op.is(Fact::Cheap),
        NodeKind::Take { .. } => false,
        kind => !is_standalone(kind),
    }
}

fn is_take(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Take { .. })
}

/// Finds the materialised values of a graph and orders them into nests.
pub(crate) fn materialize(graph: &ShapedGraph<'_>) -> Materialized {
    let materialized = materialize_with(graph, ViewBases::of(graph), false);
    match graph.len() >= SMALL_GRAPH && exceeds_recompute_limit(graph, &materialized) {
        true => materialize_with(graph, materialized.bases, true),
        false => materialized,
    }
}

/// Whether recomputation in nests exceeds the maximal number of instructions.
fn exceeds_recompute_limit(graph: &ShapedGraph<'_>, materialized: &Materialized) -> bool {
    let mut left = MAX_INSTRUCTIONS_PER_NODE.saturating_mul(graph.len());
    materialized.groups().iter().any(|group| {
        let computed = computed_values(graph, &group.values, materialized).len();
        let is_exceeded = computed > left;
        left = left.saturating_sub(computed);
        is_exceeded
    })
}

/// The materialised values; with `materializes_shared`, also every value with more than one use.
fn materialize_with(
    graph: &ShapedGraph<'_>,
    bases: ViewBases,
    materializes_shared: bool,
) -> Materialized {
    let requirements = Requirements::of(graph, &bases, materializes_shared);
    let levels = requirements.levels(graph, &bases);
    let concat_targets = concat_targets(graph, &requirements.concatenations);
    let mut groups = group(graph, &bases, &requirements, &levels, &concat_targets);
    let conversions = conversions(graph, &bases, &requirements, &groups);
    let stored: BTreeSet<ValueId> = conversions.values().copied().collect();
    groups.retain(|group| !group.values.iter().any(|value| stored.contains(value)));
    let mut positions = HashMap::new();
    for (position, group) in groups.iter().enumerate() {
        for value in &group.values {
            positions.insert(*value, position);
            positions.extend(conversions.get(value).map(|&conversion| (conversion, position)));
        }
    }
    let mut read = requirements.read;
    read.retain(|value| !conversions.contains_key(value));
    // The reduction itself is not in memory, so no nest can convert it again.
    let is_operand = if stored.is_empty() { Vec::new() } else { operands(graph) };
    read.extend(stored.into_iter().filter(|value| is_operand[value.index()]));
    Materialized {
        bases,
        positions,
        groups,
        read,
        dense: requirements.dense,
        concat_targets,
        conversions,
    }
}

/// The reductions and contractions that are stored as their conversion, each with the conversion. The
/// conversion must be the only reader, and all values of its nest must be such conversions: that nest is
/// then dropped.
fn conversions(
    graph: &ShapedGraph<'_>,
    bases: &ViewBases,
    requirements: &Requirements,
    groups: &[NestValues],
) -> HashMap<ValueId, ValueId> {
    let mut uses = graph.use_counts();
    unwidened_operands(graph, bases).for_each(|value| uses[value.index()] += 1);
    let converted = |&value: &ValueId| {
        let operand = converted_fold(graph, value)?;
        let is_used_once = uses[operand.index()] == 1 && !requirements.dense.contains(&operand);
        is_used_once.then_some((operand, value))
    };
    let converted_group =
        |group: &NestValues| group.values.iter().map(converted).collect::<Option<Vec<_>>>();
    groups.iter().filter_map(converted_group).flatten().collect()
}

/// The operands of widening conversions that reductions and contractions read instead of the converted
/// values.
fn unwidened_operands<'a>(
    graph: &'a ShapedGraph<'_>,
    bases: &'a ViewBases,
) -> impl Iterator<Item = ValueId> + 'a {
    graph.iter().flat_map(|(value, node)| match node.kind {
        NodeKind::Reduce { .. } => {
            let read = reduction_operand(graph, value);
            if read == node.operands[0] { Vec::new() } else { vec![read] }
        }
        NodeKind::Contract { .. } => {
            let factors = operand_views(graph, value, &View::identity(&iteration(graph, value).0));
            let narrow = factors.iter().filter_map(|factor| factor.unwidened(graph, bases));
            narrow.map(|factor| bases.get(factor.value).value).collect()
        }
        _ => Vec::new(),
    })
}

/// For each value whether a node reads it. A concatenation does not read its parts: their nests write them.
fn operands(graph: &ShapedGraph<'_>) -> Vec<bool> {
    let mut is_operand = vec![false; graph.len()];
    let reads = |node: &&Node| !matches!(node.kind, NodeKind::Concatenate { .. });
    let readers = graph.iter().map(|(_, node)| node).filter(reads);
    readers
        .flat_map(|node| node.operands.iter())
        .for_each(|value| is_operand[value.index()] = true);
    is_operand
}

/// The destinations of each part of these concatenations that is not itself one of them.
fn concat_targets(
    graph: &ShapedGraph<'_>,
    concatenations: &BTreeSet<ValueId>,
) -> HashMap<ValueId, Vec<ConcatTarget>> {
    let mut concat_targets: HashMap<ValueId, Vec<ConcatTarget>> = HashMap::new();
    let parts = concatenations.iter().flat_map(|&whole| graph[whole].operands.iter().copied());
    let nested: BTreeSet<ValueId> = parts.filter(|part| concatenations.contains(part)).collect();
    for &concatenation in concatenations.difference(&nested) {
        let rank = graph.shape(concatenation).rank();
        let mut pending = vec![(concatenation, vec![AxisIndex::zero(); rank])];
        while let Some((whole, starts)) = pending.pop() {
            let NodeKind::Concatenate { axis } = graph[whole].kind else { continue };
            let mut next: Vec<AxisIndex> = starts;
            for &part in graph[whole].operands.iter() {
                let starts = next.clone();
                next[axis].move_by(graph.shape(part)[axis]);
                if nested.contains(&part) {
                    pending.push((part, starts));
                } else {
                    let target = ConcatTarget { concatenation, starts };
                    concat_targets.entry(part).or_default().push(target);
                }
            }
        }
    }
    concat_targets
}

/// The kind of nest that computes a value. Nests of one iteration shape differ in their reduced axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NestKind {
    /// Nests with this reduced axis; `is_arg` if they are arg-reductions along it.
    One { reduced: Option<usize>, is_arg: bool },
    /// Nests of several kinds: recomputing the value is cheaper than materialising it.
    Several,
}

impl NestKind {
    /// Nests without a reduced axis.
    const ELEMENTWISE: NestKind = NestKind::One { reduced: None, is_arg: false };
}

/// The requirements of all nests on the values of a graph: view, kind of nest and storage.
struct Requirements {
    /// The view under which each computed value is computed; the identity for a materialised value.
    views: Vec<Option<View>>,
    /// The kind of nest that computes each value.
    nest_kinds: Vec<NestKind>,
    /// The values that nests store: outputs, and values that other nests read.
    materialized: BTreeSet<ValueId>,
    /// The materialised concatenations, which the nests of their parts write.
    concatenations: BTreeSet<ValueId>,
    /// The values that another nest reads.
    read: BTreeSet<ValueId>,
    /// The values that are read under another shape, so that they must be stored in row-major order.
    dense: BTreeSet<ValueId>,
    /// Whether every value with more than one use is materialised.
    materializes_shared: bool,
    /// For each value whether it is shared and computed from more than [`MAX_RECOMPUTED_ARRAYS`] arrays.
    is_long: Vec<bool>,
}

impl Requirements {
    fn of(graph: &ShapedGraph<'_>, bases: &ViewBases, materializes_shared: bool) -> Self {
        // Only a graph with reductions has nests of several kinds.
        let is_reduction =
            |(_, node): (ValueId, &Node)| matches!(node.kind, NodeKind::Reduce { .. });
        let is_long = match !materializes_shared && graph.iter().any(is_reduction) {
            true => long_values(graph, bases),
            false => vec![false; graph.len()],
        };
        let mut requirements = Requirements {
            views: vec![None; graph.len()],
            nest_kinds: vec![NestKind::ELEMENTWISE; graph.len()],
            materialized: BTreeSet::new(),
            concatenations: BTreeSet::new(),
            read: BTreeSet::new(),
            dense: BTreeSet::new(),
            materializes_shared,
            is_long,
        };
        graph.outputs().iter().for_each(|&output| requirements.materialize(graph, output));
        // Operands come earlier, so the reverse order visits a value after all of its consumers.
        for (value, _) in graph.iter().rev() {
            if let Some(view) = requirements.views[value.index()].clone() {
                let nest_kind = requirements.nest_kinds[value.index()];
                for operand in operand_views(graph, value, &view) {
                    requirements.add(graph, operand.resolve(graph, bases), nest_kind);
                }
            }
        }
        requirements
    }

    fn materialize(&mut self, graph: &ShapedGraph<'_>, value: ValueId) {
        if let NodeKind::Concatenate { .. } = graph[value].kind {
            if self.concatenations.insert(value) {
                graph[value].operands.iter().for_each(|&part| self.materialize_part(graph, part));
            }
            return;
        }
        let (shape, reduced) = iteration(graph, value);
        self.materialized.insert(value);
        self.views[value.index()] = Some(View::identity(&shape));
        let is_arg = is_arg_reduction(&graph[value].kind);
        self.nest_kinds[value.index()] = NestKind::One { reduced, is_arg };
    }

    /// Materialises a part of a concatenation. If nests would have computed it under another view or in a
    /// nest of another kind, they now read it.
    fn materialize_part(&mut self, graph: &ShapedGraph<'_>, part: ValueId) {
        let before =
            self.views[part.index()].clone().map(|view| (view, self.nest_kinds[part.index()]));
        self.materialize(graph, part);
        let after =
            self.views[part.index()].clone().map(|view| (view, self.nest_kinds[part.index()]));
        if before.is_some() && before != after {
            self.read.insert(part);
        }
    }

    /// The values that later nests read, and the parts of concatenations that they read.
    fn read_later(&self, graph: &ShapedGraph<'_>) -> BTreeSet<ValueId> {
        let mut read_later = self.read.clone();
        let mut pending: Vec<ValueId> =
            self.concatenations.intersection(&self.read).copied().collect();
        while let Some(concatenation) = pending.pop() {
            for &part in graph[concatenation].operands.iter() {
                let is_new = read_later.insert(part);
                if is_new && self.concatenations.contains(&part) {
                    pending.push(part);
                }
            }
        }
        read_later
    }

    /// Adds a use of `source` by nests of `nest_kind`; materialises the value if these nests cannot share
    /// its computation with the other uses.
    fn add(&mut self, graph: &ShapedGraph<'_>, source: ValueSource, nest_kind: NestKind) {
        match source {
            ValueSource::Leaf(..) => {}
            ValueSource::Materialized(value, _, shape) => {
                if shape != *graph.shape(value) {
                    self.dense.insert(value);
                }
                self.read.insert(value);
                self.materialize(graph, value);
            }
            ValueSource::Computed(value, view) => match &self.views[value.index()] {
                // A gather has a nest of its own, outside of nests that reduce.
                _ if nest_kind != NestKind::ELEMENTWISE && is_take(&graph[value].kind) => {
                    self.read.insert(value);
                    self.materialize(graph, value);
                }
                None => {
                    self.views[value.index()] = Some(view);
                    self.nest_kinds[value.index()] = nest_kind;
                }
                Some(other)
                    if *other == view
                        && self.nest_kinds[value.index()] == nest_kind
                        && !self.materializes_shared => {}
                Some(other)
                    if *other == view
                        && is_cheap(&graph[value].kind)
                        && !self.is_long[value.index()]
                        && !self.materializes_shared =>
                {
                    self.nest_kinds[value.index()] = NestKind::Several;
                }
                Some(_) => {
                    self.read.insert(value);
                    self.materialize(graph, value);
                }
            },
        }
    }

    /// The level of each value: the longest chain of nests that must run before its own.
    fn levels(&self, graph: &ShapedGraph<'_>, bases: &ViewBases) -> Vec<usize> {
        let mut levels = vec![0; graph.len()];
        for (value, node) in graph.iter() {
            if self.concatenations.contains(&value) {
                let parts = node.operands.iter().map(|part| levels[part.index()]);
                levels[value.index()] = parts.max().unwrap_or(0);
            }
            let Some(view) = &self.views[value.index()] else { continue };
            let after = |operand: OperandView| match operand.resolve(graph, bases) {
                ValueSource::Leaf(..) => 0,
                ValueSource::Materialized(operand, ..) => levels[operand.index()] + 1,
                ValueSource::Computed(operand, view) => {
                    // A value computed under another view is materialised, and read through this view.
                    let is_read = self.views[operand.index()].as_ref() != Some(&view);
                    levels[operand.index()] + usize::from(is_read)
                }
            };
            let level = operand_views(graph, value, view).into_iter().map(after).max().unwrap_or(0);
            levels[value.index()] = level;
        }
        levels
    }
}

/// For each value whether it has several uses, and its computation reads more than [`MAX_RECOMPUTED_ARRAYS`]
/// arrays of at least its size. Such a value counts as one array for the values computed from it.
fn long_values(graph: &ShapedGraph<'_>, bases: &ViewBases) -> Vec<bool> {
    let uses = graph.use_counts();
    let mut is_long = vec![false; graph.len()];
    // The arrays that each value is computed from, up to one more than the maximum.
    let mut arrays: Vec<SmallVec<[ValueId; MAX_RECOMPUTED_ARRAYS + 1]>> =
        vec![SmallVec::new(); graph.len()];
    for (value, node) in graph.iter() {
        let is_array = !is_computed(&node.kind) || bases.is_alone(graph, value);
        let mut read: SmallVec<[ValueId; MAX_RECOMPUTED_ARRAYS + 1]> = SmallVec::new();
        if is_array {
            read.push(value);
        } else {
            for &operand in node.operands.iter() {
                let base = bases.get(operand);
                for &array in arrays[base.value.index()].iter().filter(|_| !base.is_expanded) {
                    if read.len() <= MAX_RECOMPUTED_ARRAYS && !read.contains(&array) {
                        read.push(array);
                    }
                }
            }
            if uses[value.index()] > 1 && read.len() > MAX_RECOMPUTED_ARRAYS {
                is_long[value.index()] = true;
                read = SmallVec::from_slice(&[value]);
            }
        }
        arrays[value.index()] = read;
    }
    is_long
}

/// Groups materialised values into nests: values of one group have the same iteration shape, reduced axis,
/// kind of reduction (value or index) and level. Conversions that contractions store have groups of their
/// own, and so have the fills of each concatenation.
fn group(
    graph: &ShapedGraph<'_>,
    bases: &ViewBases,
    requirements: &Requirements,
    levels: &[usize],
    concat_targets: &HashMap<ValueId, Vec<ConcatTarget>>,
) -> Vec<NestValues> {
    let firsts = first_results(graph);
    let nest = |value: ValueId| {
        let (shape, reduced) = iteration(graph, value);
        let first = || *firsts.get(&value).unwrap_or(&value);
        let alone = bases.is_alone(graph, value).then(first);
        (reduced, is_arg_reduction(&graph[value].kind), alone, shape)
    };
    let mut last_level = HashMap::new();
    for &value in &requirements.materialized {
        let last = last_level.entry(nest(value)).or_default();
        *last = levels[value.index()].max(*last);
    }
    let is_fill = |value: ValueId| {
        let base = bases.get(value);
        let is_constant = matches!(graph[base.value].kind, NodeKind::Constant(_));
        is_constant && graph.shape(base.value).rank() == 0 && !graph.outputs().contains(&value)
    };
    let read_later = requirements.read_later(graph);
    // A reduction may read a value of its own level. Keys sort element-wise nests before reductions, and
    // fills after all other nests: no nest of their level reads them, nor their concatenation.
    let mut groups: BTreeMap<(usize, Option<ValueId>, _), Vec<ValueId>> = BTreeMap::new();
    for &value in &requirements.materialized {
        let nest = nest(value);
        let targets = concat_targets.get(&value).map_or(&[][..], Vec::as_slice);
        if !targets.is_empty() && !requirements.read.contains(&value) && is_fill(value) {
            let filled: BTreeSet<ValueId> =
                targets.iter().map(|target| target.concatenation).collect();
            for whole in filled {
                let level = levels[whole.index()];
                groups.entry((level, Some(whole), nest.clone())).or_default().push(value);
            }
            continue;
        }
        // A value without readers joins the last nest of its shape, where it may share work.
        let is_read_later = read_later.contains(&value);
        let level = if is_read_later { levels[value.index()] } else { last_level[&nest] };
        groups.entry((level, None, nest)).or_default().push(value);
    }
    let nests = groups.into_iter();
    nests.map(|((_, filled, _), values)| NestValues { values, filled }).collect()
}
