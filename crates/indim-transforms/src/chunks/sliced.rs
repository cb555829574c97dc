//! Graphs whose parameters are slices of inputs.
//!
//! `x[1:] - x[:-1]` becomes the difference of two parameters, one for each slice of `x`, so that it can be
//! cut along the sliced axis. `x[:10] * 2` reads only ten rows.

use std::collections::{BTreeMap, HashMap};

use indim_ops::ArrayType;
use indim_shape::Shape;

use indim_graph::{
    AxisSlice, AxisWindow, Graph, GraphAssembler, Node, NodeKind, ValueId, VerifyErrorKind,
};

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
/// use indim_transforms::chunks::SlicedGraph;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [100])?;
/// let graph = b.finish(&[b.slice(2.0 * x, &[AxisSlice::new(10, 5, 1)])?])?;
/// let sliced = SlicedGraph::of(&graph).unwrap().expect("a slice");
/// // The whole input comes first; nothing reads it.
/// let slice = &sliced.slices[1];
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
    pub slices: Vec<InputSlice>,
}

impl SlicedGraph {
    /// The graph with whole inputs as parameters.
    pub fn with_whole_inputs(graph: Graph) -> Self {
        let whole = |(input, &value): (usize, &ValueId)| {
            let starts = vec![0; graph[value].array_type.shape.rank()];
            InputSlice { input: Some(input), starts }
        };
        let slices = graph.parameters().iter().enumerate().map(whole).collect();
        SlicedGraph { graph, slices }
    }

    /// The graph with slices of inputs as parameters; `None` if the original graph slices no input, or too
    /// many slices would be computed.
    ///
    /// # Errors
    /// Only if this function has a bug: the nodes are those of a legal graph.
    pub fn of(graph: &Graph) -> Result<Option<Self>, VerifyErrorKind> {
        match required_slices(graph) {
            Some(required) => SliceRewriter::new(graph)?.rewrite(&required).map(Some),
            None => Ok(None),
        }
    }
}

/// The part of a value that is read: `None` for the whole value, or else a slice with step 1 along each
/// axis.
type RequiredSlice = Option<Vec<AxisSlice>>;

/// The required slices of each value; `None` if no input is sliced, or there would be too many slices.
fn required_slices(graph: &Graph) -> Option<BTreeMap<ValueId, Vec<RequiredSlice>>> {
    let mut pending: BTreeMap<ValueId, Vec<RequiredSlice>> = BTreeMap::new();
    let mut found: BTreeMap<ValueId, Vec<RequiredSlice>> = BTreeMap::new();
    let mut budget = MAX_SLICES * graph.len();
    let request = |pending: &mut BTreeMap<ValueId, Vec<RequiredSlice>>,
                   value: ValueId,
                   required: RequiredSlice| {
        let slices = pending.entry(value).or_default();
        if !slices.contains(&required) {
            slices.push(required);
        }
    };
    for &output in graph.outputs() {
        request(&mut pending, output, None);
    }
    // Operands are earlier values, so all required slices of the last pending value are known.
    while let Some((value, mut slices)) = pending.pop_last() {
        let node = &graph[value];
        let needs_whole_value = |required: &RequiredSlice| {
            required.is_some() && operand_slices(graph, node, required).is_none()
        };
        if slices.iter().any(needs_whole_value) && !is_parameter(node) && !slices.contains(&None) {
            slices.push(None);
        }
        budget = budget.checked_sub(slices.len())?;
        for required in &slices {
            for (operand, required) in operand_slices(graph, node, required).into_iter().flatten() {
                request(&mut pending, operand, required);
            }
        }
        // The whole value precedes its slices.
        slices.sort_by_key(Option::is_some);
        found.insert(value, slices);
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
fn operand_slices(
    graph: &Graph,
    node: &Node,
    required: &RequiredSlice,
) -> Option<Vec<(ValueId, RequiredSlice)>> {
    let same_for_each = |required: &RequiredSlice| {
        node.operands.iter().map(|&operand| (operand, required.clone())).collect::<Vec<_>>()
    };
    match (&node.kind, required) {
        (NodeKind::Slice(slices), _) if slices.iter().all(|slice| slice.step() == 1) => {
            let part = slices.iter().enumerate().map(|(axis, slice)| match required {
                Some(required) => AxisSlice::new(
                    slice.start() + required[axis].start(),
                    required[axis].count(),
                    1,
                ),
                None => *slice,
            });
            Some(vec![(node.operands[0], Some(part.collect()))])
        }
        (_, None) => Some(same_for_each(&None)),
        (NodeKind::Elementwise(_) | NodeKind::Convert | NodeKind::Bitcast, _) => {
            Some(same_for_each(required))
        }
        // A scan needs its whole axis.
        (NodeKind::Scan { axis, .. }, Some(required))
            if required[*axis].is_whole(node.array_type.shape[*axis]) =>
        {
            Some(same_for_each(&Some(required.clone())))
        }
        (NodeKind::BroadcastInDim(map), Some(required)) => {
            let operand = node.operands[0];
            let sizes = graph[operand].array_type.shape.iter();
            let part = map.iter().zip(sizes).map(|(&to, &size)| match size {
                1 => AxisSlice::whole(1),
                _ => required[to],
            });
            Some(vec![(operand, Some(part.collect()))])
        }
        (NodeKind::Reduce { axis, .. }, Some(required)) => {
            let operand = node.operands[0];
            let mut part = required.clone();
            part.insert(*axis, AxisSlice::whole(graph[operand].array_type.shape[*axis]));
            Some(vec![(operand, Some(part))])
        }
        (NodeKind::Window { axis, window }, Some(required)) => {
            Some(vec![(node.operands[0], Some(slices_under_windows(*axis, window, required)?))])
        }
        (NodeKind::Sort { axis, .. }, Some(required)) => {
            // A sort needs its whole axis.
            let is_whole = required[*axis].is_whole(node.array_type.shape[*axis]);
            is_whole.then(|| same_for_each(&Some(required.clone())))
        }
        (NodeKind::SearchSorted { .. }, Some(required)) => {
            Some(vec![(node.operands[0], None), (node.operands[1], Some(required.clone()))])
        }
        (NodeKind::Contract { summed }, Some(required)) => {
            let factor = &graph[node.operands[0]].array_type.shape;
            let whole = factor[factor.rank() - summed..].iter().map(|&size| AxisSlice::whole(size));
            Some(same_for_each(&Some(required.iter().copied().chain(whole).collect())))
        }
        (NodeKind::Reshape, Some(required)) => {
            let operand = node.operands[0];
            let (from, to) = (&graph[operand].array_type.shape, &node.array_type.shape);
            Some(vec![(operand, Some(slices_before_reshape(from, to, required)?))])
        }
        _ => None,
    }
}

/// The part of the operand that the `required` windows along `axis` read; `None` for parts of windows, and
/// for no windows.
fn slices_under_windows(
    axis: usize,
    window: &AxisWindow,
    required: &[AxisSlice],
) -> Option<Vec<AxisSlice>> {
    let (inside, positions) = required.split_last()?;
    let (first, last) = (positions[axis], positions[axis].count().checked_sub(1)?);
    let mut part = positions.to_vec();
    let count = last * window.stride() + window.span();
    part[axis] = AxisSlice::new(first.start() * window.stride(), count, 1);
    inside.is_whole(window.size()).then_some(part)
}

/// The slices of the operand of a reshape that the slices `required` of its result read. `None` unless the
/// reshape only adds or drops axes of size 1, as after a reduction that keeps its axes.
fn slices_before_reshape(
    from: &Shape,
    to: &Shape,
    required: &[AxisSlice],
) -> Option<Vec<AxisSlice>> {
    let mut others = to.iter().zip(required).filter(|&(&size, _)| size != 1);
    let part = from.iter().map(|&size| match size {
        1 => Some(AxisSlice::whole(1)),
        _ => others.next().filter(|&(&of, _)| of == size).map(|(_, slice)| *slice),
    });
    let part = part.collect::<Option<Vec<_>>>()?;
    let reads_unit_axes =
        to.iter().zip(required).all(|(&size, slice)| size != 1 || slice.count() == 1);
    (others.next().is_none() && reads_unit_axes).then_some(part)
}

/// The graph over slices while it is built.
struct SliceRewriter<'a> {
    graph: &'a Graph,
    assembler: GraphAssembler,
    slices: Vec<InputSlice>,
    new_values: HashMap<(ValueId, RequiredSlice), ValueId>,
}

impl<'a> SliceRewriter<'a> {
    /// A rewriter whose graph has the whole inputs as parameters.
    fn new(graph: &'a Graph) -> Result<Self, VerifyErrorKind> {
        let mut rewriter = SliceRewriter {
            graph,
            assembler: GraphAssembler::new(),
            slices: Vec::new(),
            new_values: HashMap::new(),
        };
        for (input, &value) in graph.parameters().iter().enumerate() {
            let Node { kind, array_type, .. } = &graph[value];
            let starts = vec![0; array_type.shape.rank()];
            rewriter.slices.push(InputSlice { input: Some(input), starts });
            let new_value = rewriter.assembler.add(kind.clone(), &[], array_type.clone())?;
            rewriter.new_values.insert((value, None), new_value);
        }
        Ok(rewriter)
    }

    /// The graph that computes the required slices `required`.
    fn rewrite(
        mut self,
        required: &BTreeMap<ValueId, Vec<RequiredSlice>>,
    ) -> Result<SlicedGraph, VerifyErrorKind> {
        for (&value, slices) in required {
            for required in slices {
                if !self.new_values.contains_key(&(value, required.clone())) {
                    let new_value = self.add(value, required)?;
                    self.new_values.insert((value, required.clone()), new_value);
                }
            }
        }
        let outputs = self.graph.outputs().iter().map(|&output| self.new_values[&(output, None)]);
        let outputs = outputs.collect();
        Ok(SlicedGraph { graph: self.assembler.finish(outputs)?, slices: self.slices })
    }

    /// Adds the required slice of a value; the required slices of its operands exist already.
    fn add(
        &mut self,
        value: ValueId,
        required: &RequiredSlice,
    ) -> Result<ValueId, VerifyErrorKind> {
        let node = &self.graph[value];
        let ArrayType { dtype, shape } = &node.array_type;
        let shape = match required {
            Some(part) => part.iter().map(AxisSlice::count).collect::<Shape>(),
            None => shape.clone(),
        };
        let array_type = ArrayType::new(*dtype, shape);
        let operands = operand_slices(self.graph, node, required);
        match (&node.kind, required, operands) {
            (NodeKind::Parameter { index, name }, Some(part), _) => {
                self.add_parameter(*index, name, part, array_type)
            }
            // The required slice of the operand is the value, so the slice node vanishes.
            (NodeKind::Slice(_), _, Some(operands)) if operands[0].1.is_some() => {
                Ok(self.new_values[&operands[0]])
            }
            (kind, _, Some(operands)) => {
                let operands: Vec<ValueId> =
                    operands.iter().map(|of| self.new_values[of]).collect();
                self.assembler.add(kind.clone(), &operands, array_type)
            }
            (_, required, None) => {
                let slices = required.iter().flatten().copied().collect();
                let whole = self.new_values[&(value, None)];
                self.assembler.add(NodeKind::Slice(slices), &[whole], array_type)
            }
        }
    }

    /// A new parameter for a slice of an input.
    fn add_parameter(
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
        self.slices.push(InputSlice {
            input: Some(input),
            starts: part.iter().map(AxisSlice::start).collect(),
        });
        self.assembler.add(NodeKind::Parameter { index, name }, &[], array_type)
    }
}
