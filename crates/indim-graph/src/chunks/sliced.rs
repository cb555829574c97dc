//! Graphs whose parameters are slices of inputs.
//!
//! `x[1:] - x[:-1]` becomes a difference of two inputs, which can be cut along the sliced axis, and
//! `x[:10] * 2` reads ten rows.

use std::collections::{BTreeMap, HashMap};

use indim_ops::ArrayType;
use indim_shape::Shape;

use crate::assemble::GraphAssembler;
use crate::graph::{Graph, Node, NodeKind, ValueId};
use crate::verify::VerifyErrorKind;
use crate::views::{AxisSlice, AxisWindow};

/// Maximum number of required slices of a value, averaged over the values of the graph. Above this, the
/// graph stays unchanged.
const MAX_SLICES: usize = 16;

/// The slice of an input that a parameter stands for. The parameter has the shape of the slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputSlice {
    /// The index of the input; `None` for a counter, which is not an input of the program.
    pub input: Option<usize>,
    /// The first index along each axis.
    pub starts: Vec<usize>,
}

/// A graph over slices of its inputs.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::AxisSlice;
/// use indim_graph::chunks::SlicedGraph;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [100])?;
/// let graph = b.finish(&[b.slice(2.0 * x, &[AxisSlice::new(10, 5, 1)])?])?;
/// let sliced = SlicedGraph::of(&graph).unwrap().expect("a slice");
/// // The whole input comes first; nothing reads it.
/// let slice = &sliced.parts[1];
/// assert_eq!((slice.input, &slice.starts[..]), (Some(0), &[10][..]));
/// let parameter = sliced.graph.parameters()[1];
/// assert_eq!(sliced.graph[parameter].array_type.to_string(), "f32[5]");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SlicedGraph {
    /// The graph.
    pub graph: Graph,
    /// The slice that each parameter stands for: whole inputs first, then slices of them.
    pub parts: Vec<InputSlice>,
}

impl SlicedGraph {
    /// The graph with whole inputs as parameters.
    pub fn unchanged(graph: Graph) -> Self {
        let whole = |(input, &value): (usize, &ValueId)| {
            let starts = vec![0; graph[value].array_type.shape.rank()];
            InputSlice { input: Some(input), starts }
        };
        let parts = graph.parameters().iter().enumerate().map(whole).collect();
        SlicedGraph { graph, parts }
    }

    /// The graph with slices of inputs as parameters; `None` if it slices no input, or too many slices would
    /// be computed.
    ///
    /// # Errors
    /// Only if this function has a bug: the nodes are those of a legal graph.
    pub fn of(graph: &Graph) -> Result<Option<Self>, VerifyErrorKind> {
        match asked(graph) {
            Some(asked) => SliceRewriter::new(graph)?.rewritten(&asked).map(Some),
            None => Ok(None),
        }
    }
}

/// The part of a value that is read: `None` for the whole value, or else a slice with step 1 along each
/// axis.
type RequiredSlice = Option<Vec<AxisSlice>>;

/// The required slices of each value; `None` if no input is sliced, or there would be too many slices.
fn asked(graph: &Graph) -> Option<BTreeMap<ValueId, Vec<RequiredSlice>>> {
    let mut pending: BTreeMap<ValueId, Vec<RequiredSlice>> = BTreeMap::new();
    let mut found: BTreeMap<ValueId, Vec<RequiredSlice>> = BTreeMap::new();
    let mut left = MAX_SLICES * graph.len();
    let ask = |pending: &mut BTreeMap<ValueId, Vec<RequiredSlice>>,
               value: ValueId,
               wanted: RequiredSlice| {
        let all = pending.entry(value).or_default();
        if !all.contains(&wanted) {
            all.push(wanted);
        }
    };
    for &output in graph.outputs() {
        ask(&mut pending, output, None);
    }
    // Operands are earlier values, so all required slices of the last pending value are known.
    while let Some((value, mut all)) = pending.pop_last() {
        let node = &graph[value];
        let is_stuck =
            |wanted: &RequiredSlice| wanted.is_some() && operands_of(graph, node, wanted).is_none();
        if all.iter().any(is_stuck) && !is_parameter(node) && !all.contains(&None) {
            all.push(None);
        }
        left = left.checked_sub(all.len())?;
        for wanted in &all {
            for (operand, wanted) in operands_of(graph, node, wanted).into_iter().flatten() {
                ask(&mut pending, operand, wanted);
            }
        }
        // The whole value precedes its slices.
        all.sort_by_key(Option::is_some);
        found.insert(value, all);
    }
    let is_sliced = |&value: &ValueId| found[&value].iter().any(Option::is_some);
    let parameters = graph.parameters().iter().filter(|value| found.contains_key(value));
    parameters.into_iter().any(is_sliced).then_some(found)
}

fn is_parameter(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Parameter { .. })
}

/// The slices of its operands that a node needs for a required slice; `None` if the node must be computed as
/// a whole and then sliced.
fn operands_of(
    graph: &Graph,
    node: &Node,
    wanted: &RequiredSlice,
) -> Option<Vec<(ValueId, RequiredSlice)>> {
    let of_each = |wanted: &RequiredSlice| {
        node.operands.iter().map(|&operand| (operand, wanted.clone())).collect::<Vec<_>>()
    };
    match (&node.kind, wanted) {
        (NodeKind::Slice(slices), _) if slices.iter().all(|slice| slice.step() == 1) => {
            let part = slices.iter().enumerate().map(|(axis, slice)| match wanted {
                Some(wanted) => {
                    AxisSlice::new(slice.start() + wanted[axis].start(), wanted[axis].count(), 1)
                }
                None => *slice,
            });
            Some(vec![(node.operands[0], Some(part.collect()))])
        }
        (_, None) => Some(of_each(&None)),
        (NodeKind::Elementwise(_) | NodeKind::Convert | NodeKind::Bitcast, _) => {
            Some(of_each(wanted))
        }
        // A scan needs its whole axis.
        (NodeKind::Scan { axis, .. }, Some(wanted))
            if wanted[*axis].is_whole(node.array_type.shape[*axis]) =>
        {
            Some(of_each(&Some(wanted.clone())))
        }
        (NodeKind::BroadcastInDim(map), Some(wanted)) => {
            let operand = node.operands[0];
            let sizes = graph[operand].array_type.shape.iter();
            let part = map.iter().zip(sizes).map(|(&to, &size)| match size {
                1 => AxisSlice::whole(1),
                _ => wanted[to],
            });
            Some(vec![(operand, Some(part.collect()))])
        }
        (NodeKind::Reduce { axis, .. }, Some(wanted)) => {
            let operand = node.operands[0];
            let mut part = wanted.clone();
            part.insert(*axis, AxisSlice::whole(graph[operand].array_type.shape[*axis]));
            Some(vec![(operand, Some(part))])
        }
        (NodeKind::Window { axis, window }, Some(wanted)) => {
            Some(vec![(node.operands[0], Some(of_windows(*axis, window, wanted)?))])
        }
        (NodeKind::Sort { axis, .. }, Some(wanted)) => {
            // A sort needs its whole axis.
            let is_whole = wanted[*axis].is_whole(node.array_type.shape[*axis]);
            is_whole.then(|| of_each(&Some(wanted.clone())))
        }
        (NodeKind::SearchSorted { .. }, Some(wanted)) => {
            Some(vec![(node.operands[0], None), (node.operands[1], Some(wanted.clone()))])
        }
        (NodeKind::Contract { summed }, Some(wanted)) => {
            let factor = &graph[node.operands[0]].array_type.shape;
            let whole = factor[factor.rank() - summed..].iter().map(|&size| AxisSlice::whole(size));
            Some(of_each(&Some(wanted.iter().copied().chain(whole).collect())))
        }
        (NodeKind::Reshape, Some(wanted)) => {
            let operand = node.operands[0];
            let (from, to) = (&graph[operand].array_type.shape, &node.array_type.shape);
            Some(vec![(operand, Some(behind_units(from, to, wanted)?))])
        }
        _ => None,
    }
}

/// The part of the operand that the `wanted` windows along `axis` read; `None` for parts of windows, and for
/// no windows.
fn of_windows(axis: usize, window: &AxisWindow, wanted: &[AxisSlice]) -> Option<Vec<AxisSlice>> {
    let (inside, positions) = wanted.split_last()?;
    let (first, last) = (positions[axis], positions[axis].count().checked_sub(1)?);
    let mut part = positions.to_vec();
    let count = last * window.stride() + window.span();
    part[axis] = AxisSlice::new(first.start() * window.stride(), count, 1);
    inside.is_whole(window.size()).then_some(part)
}

/// The slices of the operand of a reshape that the slices `wanted` of its result read. `None` unless the
/// reshape only adds or drops axes of size 1, as after a reduction that keeps its axes.
fn behind_units(from: &Shape, to: &Shape, wanted: &[AxisSlice]) -> Option<Vec<AxisSlice>> {
    let mut others = to.iter().zip(wanted).filter(|&(&size, _)| size != 1);
    let part = from.iter().map(|&size| match size {
        1 => Some(AxisSlice::whole(1)),
        _ => others.next().filter(|&(&of, _)| of == size).map(|(_, slice)| *slice),
    });
    let part = part.collect::<Option<Vec<_>>>()?;
    let are_units_whole =
        to.iter().zip(wanted).all(|(&size, slice)| size != 1 || slice.count() == 1);
    (others.next().is_none() && are_units_whole).then_some(part)
}

/// The graph over slices while it is built.
struct SliceRewriter<'a> {
    graph: &'a Graph,
    assembler: GraphAssembler,
    parts: Vec<InputSlice>,
    made: HashMap<(ValueId, RequiredSlice), ValueId>,
}

impl<'a> SliceRewriter<'a> {
    /// A rewriter whose graph has the whole inputs as parameters.
    fn new(graph: &'a Graph) -> Result<Self, VerifyErrorKind> {
        let mut rewriting = SliceRewriter {
            graph,
            assembler: GraphAssembler::new(),
            parts: Vec::new(),
            made: HashMap::new(),
        };
        for (input, &value) in graph.parameters().iter().enumerate() {
            let Node { kind, array_type, .. } = &graph[value];
            let starts = vec![0; array_type.shape.rank()];
            rewriting.parts.push(InputSlice { input: Some(input), starts });
            let made = rewriting.assembler.add(kind.clone(), &[], array_type.clone())?;
            rewriting.made.insert((value, None), made);
        }
        Ok(rewriting)
    }

    /// The graph that computes the required slices `asked`.
    fn rewritten(
        mut self,
        asked: &BTreeMap<ValueId, Vec<RequiredSlice>>,
    ) -> Result<SlicedGraph, VerifyErrorKind> {
        for (&value, all) in asked {
            for wanted in all {
                if !self.made.contains_key(&(value, wanted.clone())) {
                    let made = self.make(value, wanted)?;
                    self.made.insert((value, wanted.clone()), made);
                }
            }
        }
        let outputs = self.graph.outputs().iter().map(|&output| self.made[&(output, None)]);
        let outputs = outputs.collect();
        Ok(SlicedGraph { graph: self.assembler.finish(outputs)?, parts: self.parts })
    }

    /// Adds the required slice of a value; the required slices of its operands exist already.
    fn make(&mut self, value: ValueId, wanted: &RequiredSlice) -> Result<ValueId, VerifyErrorKind> {
        let node = &self.graph[value];
        let ArrayType { dtype, shape } = &node.array_type;
        let shape = match wanted {
            Some(part) => part.iter().map(AxisSlice::count).collect::<Shape>(),
            None => shape.clone(),
        };
        let array_type = ArrayType::new(*dtype, shape);
        let operands = operands_of(self.graph, node, wanted);
        match (&node.kind, wanted, operands) {
            (NodeKind::Parameter { index, name }, Some(part), _) => {
                self.part(*index, name, part, array_type)
            }
            // The required slice of the operand is the value, so the slice node vanishes.
            (NodeKind::Slice(_), _, Some(operands)) if operands[0].1.is_some() => {
                Ok(self.made[&operands[0]])
            }
            (kind, _, Some(operands)) => {
                let operands: Vec<ValueId> = operands.iter().map(|of| self.made[of]).collect();
                self.assembler.add(kind.clone(), &operands, array_type)
            }
            (_, wanted, None) => {
                let slices = wanted.iter().flatten().copied().collect();
                let whole = self.made[&(value, None)];
                self.assembler.add(NodeKind::Slice(slices), &[whole], array_type)
            }
        }
    }

    /// A new parameter for a slice of an input.
    fn part(
        &mut self,
        input: usize,
        name: &str,
        part: &[AxisSlice],
        array_type: ArrayType,
    ) -> Result<ValueId, VerifyErrorKind> {
        let index = self.assembler.parameter_count();
        let mut name = format!("{name} part {index}");
        while self.assembler.has_parameter(&name) {
            name.push('\'');
        }
        self.parts.push(InputSlice {
            input: Some(input),
            starts: part.iter().map(AxisSlice::start).collect(),
        });
        self.assembler.add(NodeKind::Parameter { index, name }, &[], array_type)
    }
}
