//! The stages in which a graph is computed over chunks.

use std::collections::BTreeMap;

use crate::graph::{Graph, NodeKind, ValueId};
use crate::passes::live_values;
use crate::verify::VerifyErrorKind;

use super::cuts::Cuts;
use super::demand::{Axes, RereadLimit, demanded};
use super::template::{Reading, Template};

/// An input of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageInput {
    /// A parameter of the graph, or a result of an earlier stage.
    pub value: ValueId,
    /// For each axis of the value the axis of the stage that it moves with; none where a chunk of the stage
    /// reads all of it.
    pub axes: Vec<Option<usize>>,
}

/// One program that runs over chunks.
///
/// It goes through an array of chunks, those of its results, or, where it reduces them, of what is reduced.
#[derive(Debug, Clone)]
pub struct Stage {
    /// The sizes of what it goes through.
    pub shape: Vec<usize>,
    /// For each of these axes its cut; none where it is not cut.
    pub cuts: Vec<Option<usize>>,
    /// Its inputs, in the order of the parameters of its program.
    pub inputs: Vec<StageInput>,
    /// The values of the graph that it computes.
    pub outputs: Vec<ValueId>,
    /// The axis along which chunks are reduced. The program gives what is made of one chunk, with size 1
    /// along it: of each output so many arrays as [`partial_count`](super::partial_count) says. Those of all
    /// chunks, combined by pairs ([`combine`](super::combine)), neighbours first, an odd one carried up, are
    /// the values, without this axis.
    pub reduced: Option<usize>,
    template: Template,
}

impl Stage {
    /// The program for chunks of these sizes, one for each axis.
    ///
    /// # Errors
    /// When an array would be too large.
    ///
    /// # Panics
    /// If too few sizes are given.
    pub fn program(&self, sizes: &[usize]) -> Result<Graph, VerifyErrorKind> {
        self.template.graph(sizes)
    }
}

/// The stages of a graph where these of its cuts are cut, each after those that it reads from. Outputs that
/// are parameters, or that an earlier stage gives, belong to no later one.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::chunks::{Cuts, stages};
/// use indim_ops::{DType, ReduceOp};
///
/// // The sum along an axis that is cut is a stage of its own, over the rows of `x`.
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F64, [1024, 3])?;
/// let total = b.reduce(ReduceOp::Add, &x, 0)?;
/// let graph = b.finish(&[b.sub(&x, &total, &[1])?])?;
/// let stages = stages(&graph, &Cuts::of(&graph), &[true, false])?;
/// assert_eq!(stages.len(), 2);
/// assert_eq!((stages[0].reduced, stages[1].reduced), (Some(0), None));
/// // The program for a chunk of 512 rows.
/// let outputs = |sizes: &[usize], stage: usize| {
///     let graph = stages[stage].program(sizes).unwrap();
///     graph[graph.outputs()[0]].array_type.to_string()
/// };
/// assert_eq!(outputs(&[512, 3], 0), "f64[1, 3]");
/// assert_eq!(outputs(&[512, 3], 1), "f64[512, 3]");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// [`RereadLimit`].
///
/// # Panics
/// When `is_cut` has not an answer for every cut.
pub fn stages(graph: &Graph, cuts: &Cuts, is_cut: &[bool]) -> Result<Vec<Stage>, RereadLimit> {
    let planned = Planned::new(graph, cuts, is_cut);
    let reducing = planned.reductions().into_iter().map(|(key, values)| {
        let axis = Some(key.reduced);
        planned.stage(&values, axis)
    });
    let giving = planned.outputs().into_values().map(|values| planned.stage(&values, None));
    reducing.chain(giving).collect()
}

struct Planned<'a> {
    graph: &'a Graph,
    cuts: &'a Cuts,
    is_cut: &'a [bool],
    /// For each value how many stages of reductions come before it.
    levels: Vec<usize>,
}

/// The common properties of reductions that are computed together.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ReductionKey {
    level: usize,
    shape: Vec<usize>,
    cuts: Vec<Option<usize>>,
    reduced: usize,
}

/// The sizes and cuts of outputs that are computed together.
type OutputKey = (Vec<usize>, Vec<Option<usize>>);

impl<'a> Planned<'a> {
    fn new(graph: &'a Graph, cuts: &'a Cuts, is_cut: &'a [bool]) -> Self {
        let mut planned = Planned { graph, cuts, is_cut, levels: vec![0; graph.len()] };
        for (value, node) in graph.iter() {
            let before = node.operands.iter().map(|operand| planned.levels[operand.index()]).max();
            let own = usize::from(planned.reduced_axis(value).is_some());
            planned.levels[value.index()] = before.unwrap_or(0) + own;
        }
        planned
    }

    /// The cuts of a value's axes, of those that are cut.
    fn cuts_of(&self, value: ValueId) -> Vec<Option<usize>> {
        let axes = self.cuts.axes(value).iter();
        axes.map(|cut| cut.filter(|&cut| self.is_cut[cut])).collect()
    }

    /// The axis along which a value is made of chunks.
    fn reduced_axis(&self, value: ValueId) -> Option<usize> {
        let node = &self.graph[value];
        let NodeKind::Reduce { axis, .. } = node.kind else { return None };
        self.cuts_of(node.operands[0])[axis].map(|_| axis)
    }

    fn is_given(&self, value: ValueId) -> bool {
        let is_parameter = matches!(self.graph[value].kind, NodeKind::Parameter { .. });
        is_parameter || self.reduced_axis(value).is_some()
    }

    /// The reductions along axes that are cut, grouped by what is computed together.
    fn reductions(&self) -> BTreeMap<ReductionKey, Vec<ValueId>> {
        let mut groups: BTreeMap<ReductionKey, Vec<ValueId>> = BTreeMap::new();
        let is_live = live_values(self.graph);
        for (value, node) in self.graph.iter().filter(|(value, _)| is_live[value.index()]) {
            let Some(reduced) = self.reduced_axis(value) else { continue };
            let operand = node.operands[0];
            let key = ReductionKey {
                level: self.levels[value.index()],
                shape: self.graph[operand].array_type.shape.to_vec(),
                cuts: self.cuts_of(operand),
                reduced,
            };
            groups.entry(key).or_default().push(value);
        }
        groups
    }

    /// The outputs that no other stage gives, grouped by what is computed together.
    fn outputs(&self) -> BTreeMap<OutputKey, Vec<ValueId>> {
        let mut groups: BTreeMap<OutputKey, Vec<ValueId>> = BTreeMap::new();
        for &value in self.graph.outputs().iter().filter(|&&value| !self.is_given(value)) {
            let key = (self.graph[value].array_type.shape.to_vec(), self.cuts_of(value));
            let group = groups.entry(key).or_default();
            if !group.contains(&value) {
                group.push(value);
            }
        }
        groups
    }

    /// The stage that computes these values, or reduces chunks of their operands along an axis.
    fn stage(&self, values: &[ValueId], reduced: Option<usize>) -> Result<Stage, RereadLimit> {
        let source = |value: ValueId| match reduced {
            Some(_) => self.graph[value].operands[0],
            None => value,
        };
        let first = source(values[0]);
        let cuts = self.cuts_of(first);
        let axes: Axes = (0..cuts.len()).map(|axis| cuts[axis].map(|_| axis)).collect();
        let roots: Vec<Reading> =
            values.iter().map(|&value| (source(value), axes.clone())).collect();
        let demanded = demanded(self.graph, &roots, |value| self.is_given(value))?;
        let given: Vec<Reading> = demanded
            .iter()
            .filter(|&(&value, _)| self.is_given(value))
            .flat_map(|(&value, readings)| readings.iter().map(move |axes| (value, axes.clone())))
            .collect();
        let (mut template, places) = Template::new(self.graph, &demanded, &given);
        for (&value, root) in values.iter().zip(&roots) {
            match reduced {
                Some(axis) => {
                    let NodeKind::Reduce { op, .. } = self.graph[value].kind else { continue };
                    template.give_reduced(places[root], op, axis);
                }
                None => template.give(places[root]),
            }
        }
        let shape = self.graph[first].array_type.shape.to_vec();
        let inputs = given.into_iter().map(|(value, axes)| StageInput { value, axes }).collect();
        Ok(Stage { shape, cuts, inputs, outputs: values.to_vec(), reduced, template })
    }
}
