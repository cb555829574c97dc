//! Patterns: small graphs that are compared with the values of other graphs.
//!
//! A parameter of a pattern stands for any value, a placeholder for any number.

use indim_graph::{Array, Graph, NodeKind, ValueId};
use indim_ops::Fact;

/// Numbers that stand for those of a definition: every float type has them, no definition does.
pub(crate) const PLACEHOLDERS: [f64; 2] = [0.343_75, 1.406_25];

/// The graph of a definition.
pub(crate) struct Pattern {
    graph: Graph,
    /// The value that is compared.
    root: ValueId,
    /// Whether shapes are compared too, and not only element types.
    compares_shapes: bool,
}

/// The values and numbers that a pattern stands for, as far as they are known.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) operand: Option<ValueId>,
    pub(crate) numbers: [Option<f64>; PLACEHOLDERS.len()],
    /// For each value of the pattern its counterpart.
    counterparts: Vec<Option<ValueId>>,
}

impl Pattern {
    /// A pattern of values of any shape: its own shape is not compared.
    pub(crate) fn of_any_shape(graph: Graph) -> Pattern {
        let root = graph.outputs()[0];
        Pattern { graph, root, compares_shapes: false }
    }

    /// A pattern of values of the types in `graph`.
    pub(crate) fn of_shape(graph: Graph, root: ValueId) -> Pattern {
        Pattern { graph, root, compares_shapes: true }
    }

    /// What the pattern stands for, if `value` is made in the same way.
    pub(crate) fn find(&self, graph: &Graph, value: ValueId) -> Option<Found> {
        let mut found = Found {
            operand: None,
            numbers: [None; PLACEHOLDERS.len()],
            counterparts: vec![None; self.graph.len()],
        };
        self.fits(self.root, graph, value, &mut found).then_some(found)
    }

    /// Whether a value is made as that of the pattern is. The recursion is as deep as the pattern.
    fn fits(&self, sought: ValueId, graph: &Graph, value: ValueId, found: &mut Found) -> bool {
        let sought = spread_from(&self.graph, sought);
        let pattern = &self.graph[sought];
        if let NodeKind::Parameter { .. } = pattern.kind {
            return *found.operand.get_or_insert(value) == value;
        }
        let value = spread_from(graph, value);
        if let Some(counterpart) = found.counterparts[sought.index()] {
            return counterpart == value;
        }
        let node = &graph[value];
        if let (NodeKind::Constant(wanted), NodeKind::Constant(given)) = (&pattern.kind, &node.kind)
        {
            return found.number(wanted, given);
        }
        let is_alike = pattern.kind == node.kind
            && pattern.array_type.dtype == node.array_type.dtype
            && (!self.compares_shapes || pattern.array_type.shape == node.array_type.shape);
        if !is_alike {
            return false;
        }
        found.counterparts[sought.index()] = Some(value);
        let is_commutative =
            matches!(node.kind, NodeKind::Elementwise(op) if op.is(Fact::Commutative));
        let before = found.clone();
        if self.all_fit(&pattern.operands, graph, node.operands.iter(), found) {
            return true;
        }
        *found = before;
        is_commutative && self.all_fit(&pattern.operands, graph, node.operands.iter().rev(), found)
    }

    fn all_fit<'g>(
        &self,
        sought: &[ValueId],
        graph: &Graph,
        values: impl Iterator<Item = &'g ValueId>,
        found: &mut Found,
    ) -> bool {
        sought.iter().zip(values).all(|(&sought, &value)| self.fits(sought, graph, value, found))
    }
}

impl Found {
    /// Whether a constant is that of the pattern, or the number for a placeholder.
    fn number(&mut self, wanted: &Array, given: &Array) -> bool {
        let number = |array: &Array| array.scalar_text()?.parse::<f64>().ok();
        let stands = |&placeholder: &f64| number(wanted) == Some(placeholder);
        match PLACEHOLDERS.iter().position(stands) {
            Some(position) => {
                let number = number(given);
                let known = *self.numbers[position].get_or_insert(number.unwrap_or(f64::NAN));
                number == Some(known) && wanted.dtype() == given.dtype()
            }
            None => wanted == given,
        }
    }
}

/// The scalar that a value repeats everywhere, or the value.
fn spread_from(graph: &Graph, value: ValueId) -> ValueId {
    match &graph[value].kind {
        NodeKind::BroadcastInDim(map) if map.is_empty() => graph[value].operands[0],
        _ => value,
    }
}
