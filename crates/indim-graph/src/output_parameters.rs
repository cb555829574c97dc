//! Graphs that compute outputs and also take them as inputs.

use foldhash::{HashMap, HashMapExt as _};

use crate::graph::{Graph, Node, NodeKind, Operands, ValueId};

impl Graph {
    /// Returns a graph in which nodes read the selected outputs from new parameters; the outputs
    /// themselves are computed as before. `is_selected` selects outputs by position. The new parameters
    /// follow the graph's own. Also returns, for each new parameter, the position of its output. An output
    /// that is a parameter or a constant gets no new parameter.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [3])?;
    /// let doubled = &x + &x;
    /// let negated = -&doubled;
    /// let (graph, selected) = b.finish(&[doubled, negated])?.with_output_parameters(|output| output == 0);
    /// assert_eq!(selected, [0]);
    /// assert_eq!((graph.parameters().len(), graph.outputs().len()), (2, 2));
    /// // The second output negates the new parameter.
    /// assert_eq!(graph[graph.outputs()[1]].operands[0], graph.parameters()[1]);
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    pub fn with_output_parameters(
        &self,
        is_selected: impl Fn(usize) -> bool,
    ) -> (Graph, Vec<usize>) {
        let selected = self.computed_outputs(is_selected);
        let own = self.parameters().len();
        let mut nodes: Vec<Node> =
            self.parameters().iter().map(|&parameter| self[parameter].clone()).collect();
        nodes.extend(selected.iter().enumerate().map(|(added, &(value, _))| Node {
            kind: NodeKind::Parameter { index: own + added, name: self.unused_name(own + added) },
            operands: Operands::new(&[]),
            array_type: self[value].array_type.clone(),
        }));
        // The new id of each value: as an output in `new_values`, as an operand of a node in `operands`.
        let mut new_values: HashMap<ValueId, ValueId> = HashMap::with_capacity(self.len());
        let of_parameters = self.parameters().iter().enumerate();
        new_values.extend(of_parameters.map(|(index, &value)| (value, ValueId::from_index(index))));
        let mut operands = new_values.clone();
        let of_selected = selected.iter().zip(own..);
        operands
            .extend(of_selected.map(|(&(value, _), index)| (value, ValueId::from_index(index))));
        let is_parameter = |node: &Node| matches!(node.kind, NodeKind::Parameter { .. });
        for (value, node) in self.iter().filter(|(_, node)| !is_parameter(node)) {
            let new_value = ValueId::from_index(nodes.len());
            new_values.insert(value, new_value);
            operands.entry(value).or_insert(new_value);
            let read = node.operands.map(|operand| operands[&operand]);
            nodes.push(Node { operands: read, ..node.clone() });
        }
        let outputs = self.outputs().iter().map(|output| new_values[output]).collect();
        (
            Graph::from_unverified(nodes, outputs),
            selected.into_iter().map(|(_, output)| output).collect(),
        )
    }

    /// The selected outputs that are neither parameters nor constants, sorted by value. An output that is
    /// returned twice occurs once, with its first position.
    fn computed_outputs(&self, is_selected: impl Fn(usize) -> bool) -> Vec<(ValueId, usize)> {
        let is_computed = |value: ValueId| {
            !matches!(self[value].kind, NodeKind::Parameter { .. } | NodeKind::Constant(_))
        };
        let outputs = self.outputs().iter().copied().enumerate();
        let selected = outputs.filter(|&(output, value)| is_selected(output) && is_computed(value));
        let mut selected: Vec<(ValueId, usize)> =
            selected.map(|(output, value)| (value, output)).collect();
        selected.sort_unstable();
        selected.dedup_by_key(|(value, _)| *value);
        selected
    }

    /// A name for parameter `index` that no parameter has.
    fn unused_name(&self, index: usize) -> String {
        let mut name = format!("given {index}");
        while (0..self.parameters().len()).any(|other| self.parameter_name(other) == name) {
            name.push('\'');
        }
        name
    }
}
