//! Outlines: every node of a model with types and broadcasts, also around nodes that indim does not compute.
//!
//! Read in this order:
//!
//! * `size.rs`: symbolic sizes; `value_type.rs`: types with such sizes.
//! * `condition.rs`: conditions on sizes; `broadcast.rs`: verdicts on broadcasts; `illegal.rs`: the drawing
//!   of illegal ones; `node.rs`: nodes and values.
//! * `stated.rs`: builds outlines of formats that state all types; `axis_pair.rs`: operand axes whose
//!   sizes must agree.
//! * `contradiction.rs`: contradictions between stated types and the types that nodes compute.
//! * `counts.rs`: the numbers of verdicts; `text.rs`: an outline as text; `needed.rs`: the nodes that a run
//!   needs, and the values that replace opaque ones; `stages.rs`: the stages of a run whose sizes depend on
//!   data.

mod axis_pair;
mod broadcast;
mod condition;
mod contradiction;
mod counts;
mod illegal;
mod needed;
mod node;
mod size;
mod stages;
mod stated;
mod text;
mod value_type;

pub use axis_pair::AxisPair;
pub use broadcast::{OutlineBroadcast, SymbolicForm, Verdict, shape_problem};
pub use condition::NamedCondition;
pub use contradiction::{Contradiction, SizeNames};
pub use counts::{NodeCounts, VerdictCounts};
pub use node::{NodeRole, OutlineNode, OutlineValue, TypeSource, ValueIndex, operator_label};
pub use size::SymbolicSize;
pub use stages::OutlineStage;
pub use stated::StatedNode;
pub use value_type::ValueType;

/// Options of an outline.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct OutlineOptions {
    /// Types of values that the caller declares, by their names.
    pub declared: Vec<(String, ValueType)>,
}

impl OutlineOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Types of values that the caller declares, by their names.
    pub fn declared(self, types: impl Into<Vec<(String, ValueType)>>) -> Self {
        OutlineOptions { declared: types.into() }
    }
}

/// All nodes of a model: those of a region or function in the order of execution, and those of a region
/// before the node that has it.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    /// The nodes.
    pub nodes: Vec<OutlineNode>,
    /// The values.
    pub values: Vec<OutlineValue>,
    /// The inputs.
    pub inputs: Vec<ValueIndex>,
    /// The outputs.
    pub outputs: Vec<ValueIndex>,
    /// Contradictions between the types that the file states and the types that its nodes compute.
    pub contradictions: Vec<Contradiction>,
}

impl Outline {
    /// The value with this index.
    ///
    /// # Panics
    /// If the outline has no such value.
    pub fn value(&self, index: ValueIndex) -> &OutlineValue {
        &self.values[index]
    }

    /// The label of a node in messages: its name, else the name of its first result, else its operator.
    pub fn label(&self, node: &OutlineNode) -> String {
        if !node.name.is_empty() {
            return indim_graph::terminal::printable(&node.name);
        }
        let result = node.results.iter().flatten().next();
        match result.map(|&index| self.values[index].name.as_str()) {
            Some(name) if !name.is_empty() => indim_graph::terminal::printable(name),
            _ => node.operator.clone(),
        }
    }
}
