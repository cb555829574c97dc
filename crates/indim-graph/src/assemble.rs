//! Graphs from nodes with stated types: for builders and for readers of texts and files.

use core::ops::Index;

use indim_ops::ArrayType;

use crate::describe::describe;
use crate::graph::{Graph, GraphArena, Node, NodeKind, Operands, ValueId};
use crate::verify::{VerifyError, VerifyErrorKind, check_node, check_parameter, verify};
use indim_arrays::Array;

/// Builds a graph from nodes with stated types, and verifies each node when it is added.
///
/// `GraphBuilder` of `indim-builder` infers the type of a node; here the caller states it. Equal nodes become
/// one.
///
/// ```
/// use indim_graph::{GraphAssembler, NodeKind};
/// use indim_ops::{ArrayType, DType, Op};
///
/// let mut assembler = GraphAssembler::new();
/// let x = NodeKind::Parameter { index: 0, name: "x".to_owned() };
/// let x = assembler.add(x, &[], ArrayType::new(DType::F32, [2]))?;
/// let wrong = assembler.add(NodeKind::Elementwise(Op::Neg), &[x], ArrayType::new(DType::F32, [9]));
/// assert_eq!(wrong.unwrap_err().code(), "operand-shape");
/// let y = assembler.add(NodeKind::Elementwise(Op::Neg), &[x], ArrayType::new(DType::F32, [2]))?;
/// assert_eq!(assembler.finish(vec![y])?.len(), 2);
/// # Ok::<(), indim_graph::VerifyErrorKind>(())
/// ```
#[derive(Debug, Default)]
pub struct GraphAssembler {
    arena: GraphArena,
}

impl GraphAssembler {
    /// An assembler without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of parameters so far, which is the index of the next one.
    pub fn parameter_count(&self) -> usize {
        self.arena.parameters().len()
    }

    /// The number of values so far.
    pub fn value_count(&self) -> usize {
        self.arena.len()
    }

    /// Whether a parameter has this name.
    pub fn has_parameter(&self, name: &str) -> bool {
        self.arena.has_parameter(name)
    }

    /// Like [`Graph::value_name`], for the values so far.
    ///
    /// # Panics
    /// If the value does not exist.
    pub fn value_name(&self, value: ValueId) -> String {
        describe(&self.arena, value)
    }

    /// Adds a node of this kind and type with these operands.
    ///
    /// # Errors
    /// `operand-not-earlier` for a value that does not exist yet; the code of any other broken invariant.
    pub fn add(
        &mut self,
        kind: NodeKind,
        operands: &[ValueId],
        array_type: ArrayType,
    ) -> Result<ValueId, VerifyErrorKind> {
        let kind = in_row_major_order(kind);
        if let NodeKind::Parameter { index, name } = &kind {
            let is_new = !self.has_parameter(name);
            check_parameter(*index, self.parameter_count(), name, is_new)?;
        }
        if let Some(&operand) = operands.iter().find(|operand| operand.index() >= self.arena.len())
        {
            return Err(VerifyErrorKind::OperandNotEarlier { operand });
        }
        let types: Vec<ArrayType> =
            operands.iter().map(|&operand| self.arena[operand].array_type.clone()).collect();
        check_node(&kind, &types, &array_type)?;
        Ok(self.arena.add(Node { kind, operands: Operands::new(operands), array_type }))
    }

    /// Adds a constant as a new node, even if an equal one exists. A builder may have facts about this
    /// constant that are false for the equal one, such as a count (`sizes/counts.rs`).
    pub fn add_distinct(&mut self, constant: Array) -> ValueId {
        let array_type = constant.array_type().clone();
        let kind = in_row_major_order(NodeKind::Constant(constant));
        self.arena.add_distinct(Node { kind, operands: Operands::new(&[]), array_type })
    }

    /// The graph of these nodes that returns `outputs`.
    ///
    /// # Errors
    /// `unknown-output` for an output that is not a value of the graph.
    pub fn finish(self, outputs: Vec<ValueId>) -> Result<Graph, VerifyErrorKind> {
        self.check_outputs(&outputs)?;
        Ok(self.arena.finish(outputs))
    }

    /// Like [`GraphAssembler::finish`], for a copy of the nodes so far.
    ///
    /// # Errors
    /// Like [`GraphAssembler::finish`].
    pub fn snapshot(&self, outputs: Vec<ValueId>) -> Result<Graph, VerifyErrorKind> {
        self.check_outputs(&outputs)?;
        Ok(self.arena.snapshot(outputs))
    }

    fn check_outputs(&self, outputs: &[ValueId]) -> Result<(), VerifyErrorKind> {
        match outputs.iter().find(|output| output.index() >= self.arena.len()) {
            Some(&output) => Err(VerifyErrorKind::UnknownOutput { output }),
            None => Ok(()),
        }
    }
}

/// The same kind, with a constant in row-major order: passes and executors read constants in this order.
fn in_row_major_order(kind: NodeKind) -> NodeKind {
    match kind {
        NodeKind::Constant(array) => NodeKind::Constant(array.into_row_major()),
        kind => kind,
    }
}

/// The node of a value added so far.
impl Index<ValueId> for GraphAssembler {
    type Output = Node;
    fn index(&self, value: ValueId) -> &Node {
        &self.arena[value]
    }
}

impl Graph {
    /// The graph of these nodes, in execution order, that returns `outputs`.
    ///
    /// Checks every invariant, because compiled programs access memory as the graph states.
    ///
    /// ```
    /// use indim_ops::{ArrayType, DType, Op};
    /// use indim_graph::{Graph, Node, NodeKind, Operands, ValueId};
    ///
    /// let x = NodeKind::Parameter { index: 0, name: "x".to_owned() };
    /// let node = |kind, operands: &[ValueId], shape: [usize; 1]| {
    ///     let array_type = ArrayType::new(DType::F32, shape);
    ///     Node { kind, operands: Operands::new(operands), array_type }
    /// };
    /// let first = ValueId::from_index(0);
    /// let negated = |shape| node(NodeKind::Elementwise(Op::Neg), &[first], shape);
    /// let outputs = vec![ValueId::from_index(1)];
    /// assert!(Graph::from_nodes(vec![node(x.clone(), &[], [2]), negated([2])], outputs.clone()).is_ok());
    ///
    /// let error = Graph::from_nodes(vec![node(x, &[], [2]), negated([9])], outputs).unwrap_err();
    /// assert_eq!(error.code(), "operand-shape");
    /// ```
    ///
    /// # Errors
    /// The first invalid node, or else the first invalid output.
    ///
    /// # Panics
    /// If the graph has 2^32 nodes or more.
    pub fn from_nodes(nodes: Vec<Node>, outputs: Vec<ValueId>) -> Result<Graph, VerifyError> {
        let in_order = |node: Node| Node { kind: in_row_major_order(node.kind), ..node };
        let graph = Graph::from_unverified(nodes.into_iter().map(in_order).collect(), outputs);
        verify(&graph)?;
        Ok(graph)
    }
}
