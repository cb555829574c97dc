//! Inlining of a graph into a builder: its nodes, with values in place of its parameters.

use indim_graph::{Graph, GraphError, GraphErrorKind, NodeKind, SizeFacts, ValueId};
use indim_ops::ArrayType;

use crate::builder::{GraphBuilder, Value};

impl GraphBuilder {
    /// Adds the nodes of `graph` with these arguments, one for each of its parameters; returns its outputs.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [3])?;
    /// let square = b.finish(&[x.square()])?;
    ///
    /// let b = GraphBuilder::new();
    /// let y = b.parameter("y", DType::F32, [3])?;
    /// let results = b.inline(&square, &[y.exp()])?;
    /// assert_eq!(b.finish(&results)?.value_name(indim_graph::ValueId::from_index(2)), "square(exp(y))");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// `wrong-operand-count`; `argument-type`; `foreign-value`.
    #[track_caller]
    pub fn inline(&self, graph: &Graph, arguments: &[Value]) -> Result<Vec<Value>, GraphError> {
        self.inline_with((graph, None), arguments)
    }

    /// Like [`GraphBuilder::inline`]. With the size facts of the graph's builder, the sizes that vary in the
    /// graph vary here.
    ///
    /// # Errors
    /// Those of [`GraphBuilder::inline`].
    #[track_caller]
    pub fn inline_with(
        &self,
        (graph, facts): (&Graph, Option<&SizeFacts>),
        arguments: &[Value],
    ) -> Result<Vec<Value>, GraphError> {
        let ids = self.ids("inline", arguments)?;
        let (expected, given) = (graph.parameters().len(), ids.len());
        if expected != given {
            return Err(self.error(
                "inline",
                &ids,
                GraphErrorKind::WrongOperandCount { expected, given },
            ));
        }
        for (operand, (&id, &parameter)) in ids.iter().zip(graph.parameters()).enumerate() {
            let expected: &ArrayType = &graph[parameter].array_type;
            if self.type_of(id) != *expected {
                let kind = GraphErrorKind::ArgumentType { operand, expected: expected.clone() };
                return Err(self.error("inline", &ids, kind));
            }
        }
        let values = self.inline_nodes(graph, facts, &ids);
        Ok(graph.outputs().iter().map(|output| values[output.index()].clone()).collect())
    }

    /// Adds the nodes of `graph`, and returns the value in this builder of each node. The arguments are
    /// values of this builder and have the types of the parameters. Without the size facts of the graph's
    /// builder, every size counts as fixed.
    pub(crate) fn inline_nodes(
        &self,
        graph: &Graph,
        facts: Option<&SizeFacts>,
        arguments: &[ValueId],
    ) -> Vec<Value> {
        let mut ids: Vec<ValueId> = Vec::with_capacity(graph.len());
        for (value, node) in graph.iter() {
            ids.push(match &node.kind {
                NodeKind::Parameter { index, .. } => arguments[*index],
                // Another equal constant may differ for other sizes.
                NodeKind::Constant(count) if facts.is_some_and(|facts| facts.is_count(value)) => {
                    self.add_distinct(count.clone())
                }
                kind => {
                    let operand = |operand: &ValueId| ids[operand.index()];
                    let operands: Vec<ValueId> = node.operands.iter().map(operand).collect();
                    self.add_id(kind.clone(), &operands, node.array_type.clone())
                }
            });
        }
        self.state_facts(facts, &ids);
        ids.into_iter().map(|id| self.value(id)).collect()
    }
    /// States the facts of another graph's builder for these values, one for each of its values. Without
    /// facts, every size counts as fixed.
    pub(crate) fn state_facts(&self, facts: Option<&SizeFacts>, ids: &[ValueId]) {
        match facts {
            Some(facts) => self.with_facts(|own| {
                own.inline(facts, |value| ids.get(value.index()).map(|&id| (id, 0)));
            }),
            None => ids.iter().for_each(|&id| self.pin_all(id, "an inlined graph has this size")),
        }
    }
}
