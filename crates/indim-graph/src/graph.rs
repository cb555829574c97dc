//! Graphs: values, the nodes that define them, and hash-consing.
//!
//! Invariants, which `verify.rs` checks:
//! - a node refers only to earlier nodes, so index order is execution order;
//! - the operands of an element-wise node have exactly the result's shape: every broadcast is a
//!   `BroadcastInDim` node of its own, which costs nothing at run time;
//! - the element types are those of the operation's signature: every conversion is a `Convert` node.
//!
//! Code outside the table of operations matches on the node kind, not on the operation.

use core::fmt;
use core::hash::{BuildHasher, Hash, Hasher};
use core::ops::{Deref, Index};
use std::borrow::Cow;
use std::sync::Arc;

// The standard hasher took a fifth of the time of building and compiling.
use foldhash::HashSet;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use indim_ops::{ArrayType, Fact, Op, ReduceOp, ScatterOp, SearchSide};
use indim_shape::AxisMap;

use crate::regions::Region;
use crate::sorting::SortResult;
use crate::views::{AxisSlice, AxisWindow, ScatterMode, TakeMode};
use indim_arrays::Array;

/// The id of a node's result within one graph; prints as `%3`.
///
/// ```
/// use indim_graph::ValueId;
///
/// let value = ValueId::from_index(3);
/// assert_eq!((value.index(), value.to_string().as_str()), (3, "%3"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(u32);

impl ValueId {
    /// The value of the node at `index`.
    ///
    /// # Panics
    /// If `index` does not fit 32 bits.
    pub fn from_index(index: usize) -> Self {
        ValueId(u32::try_from(index).expect("a graph has fewer than 2^32 nodes"))
    }

    /// The position of the node in the graph.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ValueId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "%{}", self.0)
    }
}

/// The operands of a node; up to three are stored inline.
///
/// ```
/// use indim_graph::{Operands, ValueId};
///
/// let (x, y) = (ValueId::from_index(0), ValueId::from_index(1));
/// let operands = Operands::new(&[x, y]);
/// assert_eq!(operands.map(|value| if value == y { x } else { value })[..], [x, x]);
/// assert_eq!(Operands::new(&[x; 7]).len(), 7);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operands(OperandStorage);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum OperandStorage {
    Inline { values: [ValueId; 3], count: u8 },
    Shared(Arc<[ValueId]>),
}

impl Operands {
    /// The operands of a node.
    pub fn new(values: &[ValueId]) -> Self {
        let mut stored = [ValueId(0); 3];
        Operands(match stored.get_mut(..values.len()) {
            Some(few) => {
                few.copy_from_slice(values);
                OperandStorage::Inline { values: stored, count: values.len() as u8 }
            }
            None => OperandStorage::Shared(Arc::from(values)),
        })
    }

    /// The same operands in ascending order.
    fn in_ascending_order(&self) -> Self {
        let mut values = self.to_vec();
        values.sort_unstable();
        Operands::new(&values)
    }

    /// The operands, each replaced by `rename(operand)`.
    pub fn map(&self, rename: impl FnMut(ValueId) -> ValueId) -> Self {
        let renamed: Vec<ValueId> = self.iter().copied().map(rename).collect();
        Operands::new(&renamed)
    }

    /// The operands in a shared allocation; empty if they are inline.
    pub fn shared(&self) -> &[ValueId] {
        match &self.0 {
            OperandStorage::Inline { .. } => &[],
            OperandStorage::Shared(values) => values,
        }
    }
}

impl Deref for Operands {
    type Target = [ValueId];
    fn deref(&self) -> &[ValueId] {
        match &self.0 {
            OperandStorage::Inline { values, count } => &values[..usize::from(*count)],
            OperandStorage::Shared(values) => values,
        }
    }
}

/// The kind of a node.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::NodeKind;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3])?;
/// let v = b.parameter("v", DType::F32, [3])?;
/// let graph = b.finish(&[b.sub(&x, &v, &[1])?])?;
///
/// let kinds: Vec<&str> = graph.iter().map(|(_, node)| node.kind.name()).collect();
/// assert_eq!(kinds, ["parameter", "parameter", "broadcast_in_dim", "sub"]);
/// let spread = graph.iter().find_map(|(_, node)| match &node.kind {
///     NodeKind::BroadcastInDim(map) => Some(map.to_vec()),
///     _ => None,
/// });
/// assert_eq!(spread, Some(vec![1]));
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// An input of the graph.
    Parameter {
        /// The position among the parameters.
        index: usize,
        /// The user's name for it.
        name: String,
    },
    /// A constant array.
    Constant(Array),
    /// The index of each element along one axis, converted to the element type.
    Iota {
        /// The axis.
        axis: usize,
    },
    /// An element-wise operation of the table.
    Elementwise(Op),
    /// Conversion to the node's element type.
    Convert,
    /// The bits of the elements, reinterpreted as the node's element type, which has the same width.
    Bitcast,
    /// The explicit form of a broadcast: the result axis of each operand axis. It may permute axes, so a
    /// transposition is a `BroadcastInDim` that expands nothing.
    BroadcastInDim(AxisMap),
    /// The same elements in row-major order under another shape.
    Reshape,
    /// A reduction along one axis, which is removed; `indim_ops::fold` defines the order.
    Reduce {
        /// The reduction.
        op: ReduceOp,
        /// The axis of the operand.
        axis: usize,
    },
    /// A slice along each axis.
    Slice(Arc<[AxisSlice]>),
    /// The windows along one axis, like NumPy's `sliding_window_view`: their positions replace the axis, and
    /// the elements of a window are a new last axis. A view: windows that overlap share elements.
    Window {
        /// The axis of the operand.
        axis: usize,
        /// The windows.
        window: AxisWindow,
    },
    /// Concatenation of the operands.
    Concatenate {
        /// The axis.
        axis: usize,
    },
    /// A gather, like NumPy's `take`: elements of the first operand, the table, at the indices in the second
    /// operand along one axis.
    Take {
        /// The axis of the table; in the result, the axes of the indices replace it.
        axis: usize,
        /// The treatment of an index out of range.
        mode: TakeMode,
    },
    /// A scatter, like NumPy's `add.at`. The operands are an array, indices along one axis, and updates: each
    /// update is combined with the array's element at its index. Several updates of one element are combined
    /// in row-major order ([`indim_ops::ScatterFold`]).
    Scatter {
        /// The operation that combines an element with its updates.
        op: ScatterOp,
        /// The axis of the first operand; in the updates, the axes of the indices replace it.
        axis: usize,
        /// The treatment of an index out of range.
        mode: ScatterMode,
    },
    /// A sum of products: the elements of two operands of one shape are multiplied in pairs, and the
    /// products summed along the last axes, in row-major order of these ([`indim_ops::contract`]). A
    /// matrix product is the contraction of two broadcasts to the shape `[rows, columns, summed]`; no
    /// program writes these broadcasts to memory.
    Contract {
        /// The number of summed axes, the last ones of the operands.
        summed: usize,
    },
    /// A scan along one axis: at each position the fold of the elements up to it ([`indim_ops::scan`]), in
    /// the operand's shape and element type.
    Scan {
        /// The operation.
        op: ReduceOp,
        /// The axis.
        axis: usize,
        /// Whether the scan begins at the last element and runs backwards.
        reverse: bool,
        /// Whether the element itself is left out: the first result is then the identity.
        exclusive: bool,
    },
    /// A stable sort along one axis, in the total order of [`indim_ops::SortOrder`]. Each operand is a key,
    /// the first most significant.
    Sort {
        /// The axis.
        axis: usize,
        /// Whether the greatest element comes first. Equal elements keep their order.
        descending: bool,
        /// The result: the elements of a single key, or the positions of the elements.
        result: SortResult,
    },
    /// A binary search ([`indim_ops::search_sorted`]). The operands are a sorted table with one axis, and the
    /// values whose positions in the table are the result.
    SearchSorted {
        /// The position found among equal elements.
        side: SearchSide,
    },
    /// A loop: while the condition is true, the body computes the next states. The operands are the
    /// initial states, then the values that the loop only reads; both regions have them as parameters. A
    /// loop with several results is several nodes with the same operands; executors run the loop once for
    /// all of them.
    While {
        /// Returns one bool: whether another step follows.
        condition: Region,
        /// Returns the next states, in the types of the first operands.
        body: Region,
        /// Maximum number of steps; a run that needs more is an error.
        limit: u64,
        /// The state whose final value is the result.
        result: usize,
    },
    /// A branch. The first operand, an integer or bool, selects the one region that runs. An index out of
    /// range selects the last region. The other operands are the parameters of every region.
    Branch {
        /// The regions; false is index 0, true is index 1.
        branches: Arc<[Region]>,
        /// The result of the regions that is the value.
        result: usize,
    },
}

impl NodeKind {
    /// The name of this kind in the text form of graphs.
    pub fn name(&self) -> &'static str {
        match self {
            NodeKind::Parameter { .. } => "parameter",
            NodeKind::Constant(_) => "constant",
            NodeKind::Iota { .. } => "iota",
            NodeKind::Elementwise(op) => op.name(),
            NodeKind::Convert => "convert",
            NodeKind::Bitcast => "bitcast",
            NodeKind::BroadcastInDim(_) => "broadcast_in_dim",
            NodeKind::Reshape => "reshape",
            NodeKind::Reduce { op, .. } => op.name(),
            NodeKind::Slice(_) => "slice",
            NodeKind::Window { .. } => "window",
            NodeKind::Concatenate { .. } => "concatenate",
            NodeKind::Take { .. } => "take",
            NodeKind::Scatter { op, .. } => scatter_name(*op),
            NodeKind::Contract { .. } => "contract",
            NodeKind::Scan { op, .. } => op.scan_name(),
            NodeKind::Sort { .. } => "sort",
            NodeKind::SearchSorted { .. } => "search_sorted",
            NodeKind::While { .. } => "while",
            NodeKind::Branch { .. } => "branch",
        }
    }
}

/// The name of a scatter by this operation.
const fn scatter_name(op: ScatterOp) -> &'static str {
    match op {
        ScatterOp::Set => "scatter_set",
        ScatterOp::Add => "scatter_add",
        ScatterOp::Mul => "scatter_mul",
        ScatterOp::Min => "scatter_min",
        ScatterOp::Max => "scatter_max",
    }
}

/// A node: its kind, its operands, and the type of its result.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::NodeKind;
/// use indim_ops::{DType, Op};
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3])?;
/// let v = b.parameter("v", DType::F32, [3])?;
/// let graph = b.finish(&[b.sub(&x, &v, &[1])?])?;
///
/// let difference = &graph[graph.outputs()[0]];
/// assert_eq!(difference.kind, NodeKind::Elementwise(Op::Sub));
/// assert_eq!(difference.array_type.to_string(), "f32[2, 3]");
/// let spread = &graph[difference.operands[1]]; // v, already of the shape of the result
/// assert_eq!(spread.array_type, difference.array_type);
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Node {
    /// The kind of the node.
    pub kind: NodeKind,
    /// The operands, all of them earlier values.
    pub operands: Operands,
    /// Element type and shape of the result.
    pub array_type: ArrayType,
}

/// A graph: nodes in execution order, and outputs.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::NodeKind;
/// use indim_ops::{DType, Op};
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2])?;
/// let graph = b.finish(&[-&x])?;
/// let negated = &graph[graph.outputs()[0]];
/// assert_eq!(negated.kind, NodeKind::Elementwise(Op::Neg));
/// assert_eq!(negated.operands[..], *graph.parameters());
/// assert_eq!((graph.parameter_name(0), graph.len()), ("x", 2));
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    nodes: Vec<Node>,
    parameters: Vec<ValueId>,
    outputs: Vec<ValueId>,
}

impl Graph {
    /// The graph of these nodes, without verification.
    pub(crate) fn from_unverified(nodes: Vec<Node>, outputs: Vec<ValueId>) -> Graph {
        let is_parameter = |node: &Node| matches!(node.kind, NodeKind::Parameter { .. });
        let numbered = nodes.iter().enumerate().filter(|(_, node)| is_parameter(node));
        let parameters = numbered.map(|(index, _)| ValueId::from_index(index)).collect();
        Graph { nodes, parameters, outputs }
    }

    /// Every value with its node, in execution order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (ValueId, &Node)> + ExactSizeIterator {
        self.nodes.iter().enumerate().map(|(index, node)| (ValueId::from_index(index), node))
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the graph has no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The inputs, in the order in which arrays are bound to them.
    pub fn parameters(&self) -> &[ValueId] {
        &self.parameters
    }

    /// The results, in order; a value may be returned twice.
    pub fn outputs(&self) -> &[ValueId] {
        &self.outputs
    }

    /// For each value, the number of its uses as an operand or an output.
    pub fn use_counts(&self) -> Vec<usize> {
        let mut uses = vec![0; self.len()];
        let operands = self.iter().flat_map(|(_, node)| node.operands.iter());
        operands.chain(self.outputs()).for_each(|value| uses[value.index()] += 1);
        uses
    }

    /// The same graph with only the outputs at these positions, in this order.
    ///
    /// # Panics
    /// If it has no such output.
    #[must_use]
    pub fn with_outputs(&self, outputs: impl IntoIterator<Item = usize>) -> Graph {
        let outputs = outputs.into_iter().map(|output| self.outputs[output]).collect();
        Graph { outputs, ..self.clone() }
    }

    /// The name of parameter `index`.
    ///
    /// # Panics
    /// If the parameter does not exist.
    pub fn parameter_name(&self, index: usize) -> &str {
        match &self[self.parameters[index]].kind {
            NodeKind::Parameter { name, .. } => name,
            _ => unreachable!("invariant: `parameters` lists parameter nodes"),
        }
    }
}

impl Index<ValueId> for Graph {
    type Output = Node;
    fn index(&self, value: ValueId) -> &Node {
        &self.nodes[value.index()]
    }
}

/// A hash-consing arena of nodes: an equal node is not added twice.
///
/// The assembler and all passes build graphs in it. It checks nothing, so it is private: other crates build
/// graphs through verifying interfaces such as [`Graph::from_nodes`].
#[derive(Debug, Default)]
pub(crate) struct GraphArena {
    nodes: Vec<Node>,
    parameters: Vec<ValueId>,
    parameter_names: HashSet<String>,
    /// A table of the values, hashed by their nodes; it holds no second copy of the nodes.
    value_table: HashTable<ValueId>,
    hasher: RandomState,
}

impl GraphArena {
    /// An arena without nodes.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Returns the value of an equal earlier node if one exists; otherwise adds `node` as a new value.
    pub(crate) fn add(&mut self, node: Node) -> ValueId {
        let hash = self.hasher.hash_one(NodeKey(&node));
        let is_same =
            |&existing: &ValueId| NodeKey(&self.nodes[existing.index()]) == NodeKey(&node);
        if let Some(&existing) = self.value_table.find(hash, is_same) {
            return existing;
        }
        let value = ValueId::from_index(self.nodes.len());
        if let NodeKind::Parameter { name, .. } = &node.kind {
            self.parameters.push(value);
            self.parameter_names.insert(name.clone());
        }
        self.nodes.push(node);
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        let rehash = |existing: &ValueId| hasher.hash_one(NodeKey(&nodes[existing.index()]));
        self.value_table.insert_unique(hash, value, rehash);
        value
    }

    /// Adds `node`, which is not a parameter, as a new value even if an equal node exists.
    pub(crate) fn add_distinct(&mut self, node: Node) -> ValueId {
        self.nodes.push(node);
        ValueId::from_index(self.nodes.len() - 1)
    }

    /// The number of nodes so far.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The parameters so far.
    pub(crate) fn parameters(&self) -> &[ValueId] {
        &self.parameters
    }

    /// Whether a parameter has this name.
    pub(crate) fn has_parameter(&self, name: &str) -> bool {
        self.parameter_names.contains(name)
    }

    /// The graph of these nodes that returns `outputs`.
    pub(crate) fn finish(self, outputs: Vec<ValueId>) -> Graph {
        Graph { nodes: self.nodes, parameters: self.parameters, outputs }
    }

    /// Like [`GraphArena::finish`], for a copy of the nodes so far.
    pub(crate) fn snapshot(&self, outputs: Vec<ValueId>) -> Graph {
        Graph { nodes: self.nodes.clone(), parameters: self.parameters.clone(), outputs }
    }
}

/// The key of a node for hash-consing: it ignores the order of operands of a commutative operation.
struct NodeKey<'a>(&'a Node);

impl NodeKey<'_> {
    fn operands(&self) -> Cow<'_, Operands> {
        let Node { kind, operands, .. } = self.0;
        match kind {
            NodeKind::Elementwise(op) if op.is(Fact::Commutative) => {
                Cow::Owned(operands.in_ascending_order())
            }
            _ => Cow::Borrowed(operands),
        }
    }
}

impl PartialEq for NodeKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.kind == other.0.kind
            && self.operands() == other.operands()
            && self.0.array_type == other.0.array_type
    }
}

impl Hash for NodeKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.kind.hash(state);
        self.operands().hash(state);
        self.0.array_type.hash(state);
    }
}

impl Index<ValueId> for GraphArena {
    type Output = Node;
    fn index(&self, value: ValueId) -> &Node {
        &self.nodes[value.index()]
    }
}
