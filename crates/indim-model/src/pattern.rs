//! Graph patterns: small graphs that match values of other graphs.
//!
//! A pattern is the graph of a composition, or of a function along axes, over one parameter. The parameter
//! matches any value, a placeholder any number.

use indim_graph::{Array, Graph, NodeKind, ValueId};
use indim_ops::Fact;

/// Numbers that stand for the free numbers of a pattern, such as an epsilon: exact in f16, bf16, f32 and f64,
/// and equal to no constant of a composition or function.
pub(crate) const PLACEHOLDERS: [f64; 2] = [0.343_75, 1.406_25];

/// The graph of a composition or function along axes, to be matched.
pub(crate) struct Pattern {
    graph: Graph,
    /// The value to match.
    root: ValueId,
    /// Whether shapes must match in addition to element types.
    compares_shapes: bool,
}

/// Values and numbers bound to a pattern by a match.
#[derive(Clone)]
pub(crate) struct Bindings {
    pub(crate) operand: Option<ValueId>,
    pub(crate) numbers: [Option<f64>; PLACEHOLDERS.len()],
    /// The matched value of each value of the pattern.
    counterparts: Vec<Option<ValueId>>,
}

impl Pattern {
    /// A pattern that matches values of any shape.
    pub(crate) fn of_any_shape(graph: Graph) -> Pattern {
        let root = graph.outputs()[0];
        Pattern { graph, root, compares_shapes: false }
    }

    /// A pattern that matches values of the types in `graph`.
    pub(crate) fn of_shape(graph: Graph, root: ValueId) -> Pattern {
        Pattern { graph, root, compares_shapes: true }
    }

    /// The bindings of a match of `value`, if it has the structure of the pattern.
    pub(crate) fn match_value(&self, graph: &Graph, value: ValueId) -> Option<Bindings> {
        let mut found = Bindings {
            operand: None,
            numbers: [None; PLACEHOLDERS.len()],
            counterparts: vec![None; self.graph.len()],
        };
        self.matches(self.root, graph, value, &mut found).then_some(found)
    }

    /// Whether a value matches a value of the pattern. The recursion depth is that of the pattern.
    fn matches(
        &self,
        pattern_value: ValueId,
        graph: &Graph,
        value: ValueId,
        found: &mut Bindings,
    ) -> bool {
        let pattern_value = broadcast_source(&self.graph, pattern_value);
        let pattern = &self.graph[pattern_value];
        if let NodeKind::Parameter { .. } = pattern.kind {
            return *found.operand.get_or_insert(value) == value;
        }
        let value = broadcast_source(graph, value);
        if let Some(counterpart) = found.counterparts[pattern_value.index()] {
            return counterpart == value;
        }
        let node = &graph[value];
        if let (NodeKind::Constant(wanted), NodeKind::Constant(given)) = (&pattern.kind, &node.kind)
        {
            return found.match_number(wanted, given);
        }
        let is_alike = pattern.kind == node.kind
            && pattern.array_type.dtype == node.array_type.dtype
            && (!self.compares_shapes || pattern.array_type.shape == node.array_type.shape);
        if !is_alike {
            return false;
        }
        found.counterparts[pattern_value.index()] = Some(value);
        let is_commutative =
            matches!(node.kind, NodeKind::Elementwise(op) if op.is(Fact::Commutative));
        let before = found.clone();
        if self.all_match(&pattern.operands, graph, node.operands.iter(), found) {
            return true;
        }
        *found = before;
        is_commutative
            && self.all_match(&pattern.operands, graph, node.operands.iter().rev(), found)
    }

    fn all_match<'g>(
        &self,
        pattern_values: &[ValueId],
        graph: &Graph,
        values: impl Iterator<Item = &'g ValueId>,
        found: &mut Bindings,
    ) -> bool {
        let mut pairs = pattern_values.iter().zip(values);
        pairs.all(|(&pattern_value, &value)| self.matches(pattern_value, graph, value, found))
    }
}

impl Bindings {
    /// Whether a constant equals that of the pattern, or can be bound to its placeholder.
    fn match_number(&mut self, wanted: &Array, given: &Array) -> bool {
        let value_of = |array: &Array| array.scalar_text()?.parse::<f64>().ok();
        let stands = |&placeholder: &f64| value_of(wanted) == Some(placeholder);
        match PLACEHOLDERS.iter().position(stands) {
            Some(position) => {
                let number = value_of(given);
                let known = *self.numbers[position].get_or_insert(number.unwrap_or(f64::NAN));
                number == Some(known) && wanted.dtype() == given.dtype()
            }
            None => wanted == given,
        }
    }
}

/// The scalar that a value broadcasts, or the value itself.
fn broadcast_source(graph: &Graph, value: ValueId) -> ValueId {
    match &graph[value].kind {
        NodeKind::BroadcastInDim(map) if map.is_empty() => graph[value].operands[0],
        _ => value,
    }
}
