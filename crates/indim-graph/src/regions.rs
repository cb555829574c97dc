//! Regions: the graphs inside loops and branches. Checks that builder and verifier share, and reference
//! evaluation.

use core::hash::{Hash, Hasher};
use std::sync::Arc;

use indim_arrays::Array;
use indim_ops::{ArrayType, DType};

use crate::error::{GraphErrorKind, RegionMismatch};
use crate::eval::{EvalError, evaluate};
use crate::graph::{Graph, GraphArena, Node, NodeKind, ValueId};

/// Maximum nesting of regions. Verification, compilation and evaluation recurse once for each level.
pub const MAX_REGION_DEPTH: usize = 16;

/// Maximum number of nodes of a region, with those of the regions inside it, each counted where it is used.
pub const MAX_REGION_NODES: usize = 1 << 20;

/// The limit on the steps of a loop, unless the caller sets another.
pub const DEFAULT_STEP_LIMIT: u64 = 1 << 32;

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
pub struct Region(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    graph: Graph,
    depth: usize,
    nodes: usize,
}

impl Region {
    /// The region of this graph.
    pub fn new(graph: Graph) -> Region {
        let inner = || graph.iter().flat_map(|(_, node)| node.kind.regions());
        let depth = 1 + inner().map(Region::depth).max().unwrap_or(0);
        let nodes = inner().map(Region::node_count).fold(graph.len(), usize::saturating_add);
        Region(Arc::new(Shared { graph, depth, nodes }))
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.0.graph
    }

    /// The nesting of regions: 1 for a region without regions inside.
    pub fn depth(&self) -> usize {
        self.0.depth
    }

    /// The number of nodes, with those of the regions inside.
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
        Arc::ptr_eq(&self.0, &other.0) || self.0.graph == other.0.graph
    }
}

impl Eq for Region {}

/// A hash of a few facts: to hash every node of a region for each pass would take long.
impl Hash for Region {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0.graph.len(), self.0.nodes, self.0.graph.outputs()).hash(state);
    }
}

impl NodeKind {
    /// The regions of a loop or branch; none for other kinds.
    pub fn regions(&self) -> impl Iterator<Item = &Region> {
        let (looped, branches) = match self {
            NodeKind::While { condition, body, .. } => ([Some(condition), Some(body)], &[][..]),
            NodeKind::Branch { branches, .. } => ([None, None], &branches[..]),
            _ => ([None, None], &[][..]),
        };
        looped.into_iter().flatten().chain(branches)
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

/// The type of result `result` of a loop over these operands: the initial states, then the values that the
/// loop only reads.
///
/// # Errors
/// `region-limit`; `region-type` if a region's parameters are not the operands, if the condition is not one
/// bool, or if `result` does not exist; `loop-state-type` if the body changes the type of a state.
pub fn check_while(
    condition: &Region,
    body: &Region,
    result: usize,
    operands: &[ArrayType],
) -> Result<ArrayType, GraphErrorKind> {
    check_parameters("condition", condition, operands)?;
    check_parameters("body", body, operands)?;
    let wanted = ArrayType::new(DType::Bool, []);
    let results = condition.result_types();
    check_count("condition", "results", 1, results.len())?;
    for found in results {
        check_type("condition", "result 0", &wanted, found)?;
    }
    let states = body.result_types().len();
    if states > operands.len() {
        return Err(count_error("body", "results", operands.len(), states));
    }
    for (state, (found, expected)) in body.result_types().zip(operands).enumerate() {
        if found != expected {
            return Err(GraphErrorKind::LoopStateType(Box::new(RegionMismatch {
                region: "body".to_owned(),
                place: format!("state {state}, `{}`", body.graph().parameter_name(state)),
                expected: expected.clone(),
                found: found.clone(),
            })));
        }
    }
    let missing = || count_error("body", "results", result.saturating_add(1), states);
    operands[..states].get(result).cloned().ok_or_else(missing)
}

/// The type of result `result` of a branch: the first operand is the index of the region that runs, the
/// others are its arguments.
///
/// # Errors
/// `wrong-operand-count` without an index; `element-type-not-allowed` if it is neither bool nor integer;
/// `region-limit`; `region-type` if it is no scalar, if no region exists, if the parameters of one are not
/// the arguments, if results differ between regions, or if `result` does not exist.
pub fn check_branch(
    branches: &[Region],
    result: usize,
    operands: &[ArrayType],
) -> Result<ArrayType, GraphErrorKind> {
    let [index, arguments @ ..] = operands else {
        return Err(GraphErrorKind::WrongOperandCount { expected: 1, given: 0 });
    };
    if index.dtype != DType::Bool && !index.dtype.is_integer() {
        return Err(GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype: index.dtype });
    }
    check_type("branch", "the index", &ArrayType::new(index.dtype, []), index)?;
    let [first, others @ ..] = branches else {
        return Err(count_error("branch", "regions", 1, 0));
    };
    check_parameters("branch 0", first, arguments)?;
    for (number, branch) in (1..).zip(others) {
        let region = &format!("branch {number}");
        check_parameters(region, branch, arguments)?;
        check_count(region, "results", first.result_types().len(), branch.result_types().len())?;
        for (number, (expected, found)) in
            first.result_types().zip(branch.result_types()).enumerate()
        {
            check_type(region, &format!("result {number}"), expected, found)?;
        }
    }
    let results = first.result_types().len();
    let missing = || count_error("branch 0", "results", result.saturating_add(1), results);
    first.result_types().nth(result).cloned().ok_or_else(missing)
}

/// The graph of one step of a loop: with the parameters of both regions, the states that `changing` lists
/// after the step, then the condition for the states after it.
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

/// Checks the size of a region, and that its parameters have the types of these operands.
fn check_parameters(
    region: &str,
    checked: &Region,
    operands: &[ArrayType],
) -> Result<(), GraphErrorKind> {
    let (depth, nodes) = (checked.depth(), checked.node_count());
    if depth > MAX_REGION_DEPTH || nodes > MAX_REGION_NODES {
        return Err(GraphErrorKind::RegionLimit { region: region.to_owned(), depth, nodes });
    }
    let parameters = checked.parameter_types();
    check_count(region, "parameters", operands.len(), parameters.len())?;
    for (number, (found, expected)) in parameters.zip(operands).enumerate() {
        let name = checked.graph().parameter_name(number);
        check_type(region, &format!("parameter {number}, `{name}`,"), expected, found)?;
    }
    Ok(())
}

fn check_count(
    region: &str,
    counted: &'static str,
    expected: usize,
    given: usize,
) -> Result<(), GraphErrorKind> {
    if expected == given { Ok(()) } else { Err(count_error(region, counted, expected, given)) }
}

fn count_error(
    region: &str,
    counted: &'static str,
    expected: usize,
    given: usize,
) -> GraphErrorKind {
    GraphErrorKind::RegionCount { region: region.to_owned(), counted, expected, given }
}

fn check_type(
    region: &str,
    place: &str,
    expected: &ArrayType,
    found: &ArrayType,
) -> Result<(), GraphErrorKind> {
    if expected == found {
        return Ok(());
    }
    Err(GraphErrorKind::RegionType(Box::new(RegionMismatch {
        region: region.to_owned(),
        place: place.to_owned(),
        expected: expected.clone(),
        found: found.clone(),
    })))
}

/// The final value of state `result` of a loop.
pub(crate) fn looped(
    condition: &Region,
    body: &Region,
    limit: u64,
    result: usize,
    operands: &[&Array],
) -> Result<Array, EvalError> {
    let mut values: Vec<Array> = operands.iter().map(|&operand| operand.clone()).collect();
    let mut steps = 0;
    while is_true(&evaluate(condition.graph(), &values)?[0]) {
        if steps == limit {
            return Err(EvalError::StepLimit { limit });
        }
        let states = evaluate(body.graph(), &values)?;
        values.splice(..states.len(), states);
        steps += 1;
    }
    Ok(values.swap_remove(result))
}

/// Result `result` of the region that the index selects.
pub(crate) fn branched(
    branches: &[Region],
    result: usize,
    operands: &[&Array],
) -> Result<Array, EvalError> {
    let last = branches.len() - 1;
    let chosen = usize::try_from(index(operands[0])).unwrap_or(last).min(last);
    let arguments: Vec<Array> = operands[1..].iter().map(|&operand| operand.clone()).collect();
    Ok(evaluate(branches[chosen].graph(), &arguments)?.swap_remove(result))
}

fn is_true(array: &Array) -> bool {
    index(array) != 0
}

/// The value of a scalar integer or bool.
fn index(array: &Array) -> i128 {
    macro_rules! read {
        ($($variant:ident $type:ident;)*) => {
            match array.dtype() {
                $(DType::$variant => array.scalar::<$type>().map(i128::from).unwrap_or(-1),)*
                _ => unreachable!("invariant: the verifier checked the index"),
            }
        };
    }
    read! {
        Bool bool; I8 i8; I16 i16; I32 i32; I64 i64; U8 u8; U16 u16; U32 u32; U64 u64;
    }
}
