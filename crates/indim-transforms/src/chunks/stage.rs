//! The stages in which a graph is computed over chunks.

use std::collections::BTreeMap;

use indim_graph::{Graph, NodeKind, ValueId, VerifyErrorKind, live_values};

use super::cuts::Cuts;
use super::demand::{RereadLimit, StageAxes, demanded_values};
use super::reduction::ChunkReduction;
use super::template::{Template, ValueUse};

/// An input of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageInput {
    /// A parameter of the graph, or a result of an earlier stage.
    pub value: ValueId,
    /// The stage axis of each axis of the value; `None` if every chunk of the stage reads the whole axis.
    pub axes: Vec<Option<usize>>,
}

/// A program that runs once for each chunk.
///
/// The stage iterates over the chunks of its results or, if it reduces chunks, over those of the reduced
/// operands.
#[derive(Debug, Clone)]
pub struct Stage {
    /// The shape over which the stage iterates.
    pub shape: Vec<usize>,
    /// The cut of each axis of `shape`, as an index in [`Cuts::cuts`]; `None` for an axis that is not cut.
    pub cuts: Vec<Option<usize>>,
    /// Its inputs, in the order of the parameters of its program.
    pub inputs: Vec<StageInput>,
    /// The values of the graph that it computes.
    pub outputs: Vec<ValueId>,
    /// The axis along which chunks are reduced. The program then returns the partial results of one chunk,
    /// with size 1 along this axis: [`partial_count`](super::partial_count) arrays for each output.
    /// Combine the partial results of all chunks in pairs of neighbours ([`combine`](super::combine)),
    /// level by level; an odd last result moves up to the next level. The combined results are the
    /// outputs, after this axis is removed.
    pub reduced: Option<usize>,
    template: Template,
}

impl Stage {
    /// The program for chunks of these sizes, one for each axis.
    ///
    /// # Errors
    /// If an array would be too large.
    ///
    /// # Panics
    /// If too few sizes are given.
    pub fn program(&self, sizes: &[usize]) -> Result<Graph, VerifyErrorKind> {
        self.template.graph(sizes)
    }

    /// Whether chunks can be cut anywhere along the reduced axis if [lanes](super::fold_lanes) are carried
    /// from chunk to chunk. Arg-reductions have no lanes; those of contractions are not carried.
    pub fn carries_lanes(&self) -> bool {
        self.reduced.is_some() && self.template.is_fold()
    }

    /// Whether lanes without elements, which hold identities, may be folded too. They may not in a complex
    /// product: multiplication by 1 can turn an infinity into a NaN.
    pub fn carries_empty_lanes(&self) -> bool {
        self.carries_lanes() && self.template.has_exact_identities()
    }

    /// Whether an input is the same for all chunks along the reduced axis.
    pub fn is_common(&self, input: &StageInput) -> bool {
        self.reduced.is_some_and(|axis| !input.axes.contains(&Some(axis)))
    }

    /// The program that combines lanes with `count` chunks of these sizes. Along the reduced axis each
    /// chunk has one element per lane.
    ///
    /// Its parameters are the lanes of each output, then for each input one parameter per chunk, or a single
    /// one if it [is common](Self::is_common). Its outputs are the new lanes of each output.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_transforms::chunks::{Cuts, stages};
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::{DType, ReduceOp};
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F64, [1000])?;
    /// let graph = b.finish(&[b.reduce(ReduceOp::Add, 2.0 * x, 0)?])?;
    /// let stages = stages(&graph, &Cuts::of(&graph), &[true])?;
    /// assert!(stages[0].carries_lanes());
    /// // Two chunks of two elements each, 32 elements apart, go to two lanes.
    /// let program = stages[0].lanes_program(&[2], 2).unwrap();
    /// let array = |elements: [f64; 2]| Array::new([2], elements.to_vec()).unwrap();
    /// let results = evaluate(&program, &[array([0.5, 0.0]), array([1.0, 2.0]), array([3.0, 4.0])])?;
    /// assert_eq!(results, [array([8.5, 12.0])]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When an array would be too large.
    ///
    /// # Panics
    /// If too few sizes are given.
    pub fn lanes_program(&self, sizes: &[usize], count: usize) -> Result<Graph, VerifyErrorKind> {
        let is_common: Vec<bool> = self.inputs.iter().map(|input| self.is_common(input)).collect();
        self.template.lanes_graph(sizes, &is_common, count)
    }
}

/// The stages of a graph in execution order, for the cuts that `is_cut` selects. An output that is a
/// parameter belongs to no stage; an output that an earlier stage computes belongs to no later stage.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_transforms::chunks::{Cuts, stages};
/// use indim_ops::{DType, ReduceOp};
///
/// // The sum along a cut axis is a stage of its own, over the rows of `x`.
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
/// If `is_cut` is shorter than the list of cuts.
pub fn stages(graph: &Graph, cuts: &Cuts, is_cut: &[bool]) -> Result<Vec<Stage>, RereadLimit> {
    let planner = StagePlanner::new(graph, cuts, is_cut);
    let reduction_stages = planner.reductions().into_iter().map(|(key, values)| {
        let axis = Some(key.reduced);
        planner.stage(&values, axis)
    });
    let output_stages = planner.outputs().into_values().map(|values| planner.stage(&values, None));
    reduction_stages.chain(output_stages).collect()
}

struct StagePlanner<'a> {
    graph: &'a Graph,
    cuts: &'a Cuts,
    is_cut: &'a [bool],
    /// For each value, the number of reducing stages that run one after another until it is known.
    levels: Vec<usize>,
}

/// The common properties of reductions that are computed together.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ReductionKey {
    level: usize,
    shape: Vec<usize>,
    cuts: Vec<Option<usize>>,
    reduced: usize,
    /// Lanes are carried only between chunks that are reduced.
    is_contraction: bool,
}

/// The sizes and cuts of outputs that are computed together.
type OutputKey = (Vec<usize>, Vec<Option<usize>>);

impl<'a> StagePlanner<'a> {
    fn new(graph: &'a Graph, cuts: &'a Cuts, is_cut: &'a [bool]) -> Self {
        let mut planner = StagePlanner { graph, cuts, is_cut, levels: vec![0; graph.len()] };
        for (value, node) in graph.iter() {
            let before = node.operands.iter().map(|operand| planner.levels[operand.index()]).max();
            let own = usize::from(planner.reduction(value).is_some());
            planner.levels[value.index()] = before.unwrap_or(0) + own;
        }
        planner
    }

    /// The selected cut of each axis of a value; `None` for an axis that is not cut.
    fn cuts_of(&self, value: ValueId) -> Vec<Option<usize>> {
        let axes = self.cuts.axes(value).iter();
        axes.map(|cut| cut.filter(|&cut| self.is_cut[cut])).collect()
    }

    /// The reduction that computes a value over chunks along a cut axis.
    fn reduction(&self, value: ValueId) -> Option<ChunkReduction> {
        let reduction = ChunkReduction::of(self.graph, value)?;
        self.cuts_of(self.graph[value].operands[0])[reduction.axis].map(|_| reduction)
    }

    fn is_input(&self, value: ValueId) -> bool {
        let is_parameter = matches!(self.graph[value].kind, NodeKind::Parameter { .. });
        is_parameter || self.reduction(value).is_some()
    }

    /// The reductions along cut axes, grouped by stage.
    fn reductions(&self) -> BTreeMap<ReductionKey, Vec<ValueId>> {
        let mut groups: BTreeMap<ReductionKey, Vec<ValueId>> = BTreeMap::new();
        let is_live = live_values(self.graph);
        for (value, node) in self.graph.iter().filter(|(value, _)| is_live[value.index()]) {
            let Some(reduction) = self.reduction(value) else { continue };
            let operand = node.operands[0];
            let key = ReductionKey {
                level: self.levels[value.index()],
                shape: self.graph[operand].array_type.shape.to_vec(),
                cuts: self.cuts_of(operand),
                reduced: reduction.axis,
                is_contraction: reduction.is_contraction,
            };
            groups.entry(key).or_default().push(value);
        }
        groups
    }

    /// The outputs that no stage of reductions computes, grouped by stage.
    fn outputs(&self) -> BTreeMap<OutputKey, Vec<ValueId>> {
        let mut groups: BTreeMap<OutputKey, Vec<ValueId>> = BTreeMap::new();
        for &value in self.graph.outputs().iter().filter(|&&value| !self.is_input(value)) {
            let key = (self.graph[value].array_type.shape.to_vec(), self.cuts_of(value));
            let group = groups.entry(key).or_default();
            if !group.contains(&value) {
                group.push(value);
            }
        }
        groups
    }

    /// The stage that computes these values, or reduces chunks of their operands along `reduced`.
    fn stage(&self, values: &[ValueId], reduced: Option<usize>) -> Result<Stage, RereadLimit> {
        let sources = |value: ValueId| match reduced {
            Some(_) => self.graph[value].operands.to_vec(),
            None => vec![value],
        };
        let first = sources(values[0])[0];
        let cuts = self.cuts_of(first);
        let axes: StageAxes = (0..cuts.len()).map(|axis| cuts[axis].map(|_| axis)).collect();
        let roots: Vec<Vec<ValueUse>> = values
            .iter()
            .map(|&value| sources(value).into_iter().map(|source| (source, axes.clone())).collect())
            .collect();
        let demanded = demanded_values(self.graph, &roots.concat(), |value| self.is_input(value))?;
        let input_uses: Vec<ValueUse> = demanded
            .iter()
            .filter(|&(&value, _)| self.is_input(value))
            .flat_map(|(&value, uses)| uses.iter().map(move |axes| (value, axes.clone())))
            .collect();
        let (mut template, node_indices) = Template::new(self.graph, &demanded, &input_uses);
        for (&value, root) in values.iter().zip(&roots) {
            let root: Vec<usize> = root.iter().map(|root| node_indices[root]).collect();
            match reduced.and_then(|_| self.reduction(value)) {
                Some(reduction) => {
                    let dtype = self.graph[value].array_type.dtype;
                    template.add_partial_outputs(&root, reduction, dtype);
                }
                None => template.add_output(root[0]),
            }
        }
        let shape = self.graph[first].array_type.shape.to_vec();
        let inputs =
            input_uses.into_iter().map(|(value, axes)| StageInput { value, axes }).collect();
        Ok(Stage { shape, cuts, inputs, outputs: values.to_vec(), reduced, template })
    }
}
