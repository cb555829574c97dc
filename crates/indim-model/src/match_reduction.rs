//! Matching of functions along axes: finds the nodes of their definitions in a graph.
//!
//! The reductions close to a value give the candidate axes. The definition is built for these axes and
//! matched against the value.

use std::collections::{HashMap, VecDeque};

use indim_builder::{GraphBuilder, ReduceOptions, Reduction, Value};
use indim_graph::{Graph, GraphError, Literal, NodeKind, ValueId, drop_bitcast_pairs};
use indim_ops::{ArrayType, ReduceOp};
use indim_shape::{ReductionRuleName, Shape};

use crate::pattern::{PLACEHOLDERS, Pattern};
use crate::standardise::{Epsilon, standardise};

/// Maximum number of values visited in the search for reductions; twice the size of the largest
/// definition.
const MAX_VISITED: usize = 96;

/// Maximum number of reductions tried for one value.
const MAX_REDUCTIONS: usize = 8;

/// A function along axes that other formats have as one operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AxisOperation {
    /// A function of `Reduction`.
    Function(Reduction),
    /// `(x - mean) / deviation`
    Standardised(Epsilon),
}

/// A match of a function along axes in a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct ReductionMatch {
    /// The function.
    pub function: AxisOperation,
    /// The axes, in ascending order.
    pub axes: Vec<usize>,
    /// Whether a reduced axis stays, with size 1.
    pub keepdims: bool,
    /// Its operand.
    pub operand: ValueId,
}

/// The definitions to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Definition {
    Function(Reduction),
    /// The standardisation with `Epsilon::InsideRoot`.
    InsideRoot,
    /// The standardisation with `Epsilon::OutsideRoot`.
    OutsideRoot,
    /// `layer_norm` before gain and bias.
    LayerNorm,
}

const DEFINITIONS: [Definition; 10] = [
    Definition::Function(Reduction::Softmax),
    Definition::Function(Reduction::LogSoftmax),
    Definition::Function(Reduction::LogSumExp),
    Definition::Function(Reduction::Norm),
    Definition::Function(Reduction::Mean),
    Definition::Function(Reduction::Sum),
    Definition::Function(Reduction::Prod),
    Definition::LayerNorm,
    Definition::InsideRoot,
    Definition::OutsideRoot,
];

/// A definition for an operand type, axes and `keepdims`.
type DefinitionKey = (Definition, ArrayType, Vec<usize>, bool);

/// The matcher of functions along axes in one graph; caches its patterns.
#[derive(Default)]
pub struct ReductionMatcher {
    patterns: HashMap<DefinitionKey, Option<Pattern>>,
}

impl ReductionMatcher {
    /// The function of floats along axes that computes `value`, if any. The graph must have no pairs of
    /// bitcasts: [`drop_bitcast_pairs`] removes them.
    pub fn find(&mut self, graph: &Graph, value: ValueId) -> Option<ReductionMatch> {
        let node = &graph[value];
        let can_end_definition = matches!(
            node.kind,
            NodeKind::Elementwise(_)
                | NodeKind::Convert
                | NodeKind::Reshape
                | NodeKind::Reduce { op: ReduceOp::Add | ReduceOp::Mul, .. }
        );
        if !can_end_definition || !node.array_type.dtype.is_float() {
            return None;
        }
        let keys = nearby_reductions(graph, value).into_iter().flat_map(|(reduced, axes)| {
            let shape = graph[reduced].array_type.shape.clone();
            keys(&ArrayType::new(node.array_type.dtype, shape), &axes, &node.array_type.shape)
        });
        keys.collect::<Vec<_>>().into_iter().find_map(|key| self.compare(key, graph, value))
    }

    fn compare(
        &mut self,
        key: DefinitionKey,
        graph: &Graph,
        value: ValueId,
    ) -> Option<ReductionMatch> {
        let pattern = self.patterns.entry(key.clone()).or_insert_with(|| pattern(&key));
        let found = pattern.as_ref()?.match_value(graph, value)?;
        let (definition, operand_type, axes, keepdims) = key;
        let operand = found.operand.filter(|&x| graph[x].array_type == operand_type)?;
        let function = match definition {
            Definition::Function(function) => AxisOperation::Function(function),
            Definition::OutsideRoot => {
                AxisOperation::Standardised(Epsilon::OutsideRoot(found.numbers[0]?))
            }
            Definition::InsideRoot | Definition::LayerNorm => {
                AxisOperation::Standardised(Epsilon::InsideRoot(found.numbers[0]?))
            }
        };
        Some(ReductionMatch { function, axes, keepdims, operand })
    }
}

/// The definitions whose results along these axes have this shape.
fn keys(operand: &ArrayType, axes: &[usize], result: &Shape) -> Vec<DefinitionKey> {
    let candidates = DEFINITIONS.iter().flat_map(|&definition| {
        let keepdims = if definition.keeps_shape() { &[true][..] } else { &[true, false] };
        keepdims.iter().map(move |&keepdims| (definition, keepdims))
    });
    let fitting = candidates.filter(|&(definition, keepdims)| {
        definition.result(&operand.shape, axes, keepdims) == *result
    });
    fitting
        .map(|(definition, keepdims)| (definition, operand.clone(), axes.to_vec(), keepdims))
        .collect()
}

impl Definition {
    fn keeps_shape(self) -> bool {
        !matches!(self, Definition::Function(function) if !function.keeps_shape())
    }

    fn result(self, shape: &Shape, axes: &[usize], keepdims: bool) -> Shape {
        if self.keeps_shape() {
            return shape.clone();
        }
        let sizes = shape.iter().enumerate().filter_map(|(axis, &size)| {
            match (axes.contains(&axis), keepdims) {
                (false, _) => Some(size),
                (true, true) => Some(1),
                (true, false) => None,
            }
        });
        sizes.collect()
    }

    /// The value of the definition, with placeholders for its numbers.
    fn build(self, x: &Value, axes: &[usize], keepdims: bool) -> Result<Value, GraphError> {
        let b = x.builder();
        let positions: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
        let options = ReduceOptions::axes(&positions);
        match self {
            Definition::Function(function) => {
                let rule = ReductionRuleName::Xla;
                let keepdims = keepdims && !function.keeps_shape();
                b.along(function, x, options.keepdims(keepdims).rule(rule))
            }
            Definition::InsideRoot => standardise(x, axes, Epsilon::InsideRoot(PLACEHOLDERS[0])),
            Definition::OutsideRoot => standardise(x, axes, Epsilon::OutsideRoot(PLACEHOLDERS[0])),
            Definition::LayerNorm => {
                let one = b.literal(Literal::Int(1), x.array_type()?.dtype)?;
                let operands = [x.clone(), one.clone(), one];
                let rule = indim_shape::RuleSet::None;
                b.along_of(Reduction::LayerNorm, &operands, options.epsilon(PLACEHOLDERS[0]), &rule)
            }
        }
    }

    /// The value to match in the graph of the definition.
    fn root(self, graph: &Graph) -> ValueId {
        let output = graph.outputs()[0];
        match self {
            // The sum with the bias; its first operand is the product with the gain.
            Definition::LayerNorm => graph[graph[output].operands[0]].operands[0],
            _ => output,
        }
    }
}

/// The pattern of a definition. `None` if the function does not support the type, and for `layer_norm`
/// of a 16-bit float type, because its definition ends in a conversion to that type.
fn pattern((definition, operand, axes, keepdims): &DefinitionKey) -> Option<Pattern> {
    let is_half = operand.dtype.size() == 2;
    if *definition == Definition::LayerNorm && is_half {
        return None;
    }
    let b = GraphBuilder::new();
    let x = b.parameter("x", operand.dtype, operand.shape.clone()).ok()?;
    let value = definition.build(&x, axes, *keepdims).ok()?;
    let (graph, _) = drop_bitcast_pairs(&b.finish(&[value]).ok()?);
    let root = definition.root(&graph);
    Some(Pattern::of_shape(graph, root))
}

/// The reduced values close to a value, nearest first, and their reduced axes.
fn nearby_reductions(graph: &Graph, value: ValueId) -> Vec<(ValueId, Vec<usize>)> {
    let (mut queue, mut visited) = (VecDeque::from([value]), vec![value]);
    let mut found: Vec<(ValueId, Vec<usize>)> = Vec::new();
    let mut shapes = Vec::new();
    while let Some(value) = queue.pop_front() {
        let node = &graph[value];
        if let NodeKind::Reduce { op, .. } = node.kind {
            let reduction = reduced_axes(graph, value, op);
            let shape = (&graph[reduction.0].array_type.shape, reduction.1.clone());
            if !shapes.contains(&shape) {
                shapes.push(shape);
                found.push(reduction);
            }
            if found.len() == MAX_REDUCTIONS {
                break;
            }
            continue;
        }
        for &operand in node.operands.iter() {
            if visited.len() < MAX_VISITED && !visited.contains(&operand) {
                visited.push(operand);
                queue.push_back(operand);
            }
        }
    }
    found
}

/// Merges consecutive reductions by one operation: the reduced value and its axes.
fn reduced_axes(graph: &Graph, value: ValueId, op: ReduceOp) -> (ValueId, Vec<usize>) {
    let (mut reduced, mut axes) = (value, Vec::new());
    while let NodeKind::Reduce { op: inner, axis } = graph[reduced].kind {
        if inner != op {
            break;
        }
        // `axis` was removed before the collected axes: those from `axis` on move up by one in the operand.
        axes.iter_mut().for_each(|later: &mut usize| *later += usize::from(*later >= axis));
        axes.push(axis);
        reduced = graph[reduced].operands[0];
    }
    axes.sort_unstable();
    (reduced, axes)
}
