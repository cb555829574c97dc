//! The state of the writer: nodes, constants and names of values.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use indim_builder::GraphBuilder;
use indim_graph::{Array, Graph, Literal, ValueId, evaluate};
use indim_model::Notes;
use indim_ops::DType;
use indim_shape::Shape;

use crate::messages::{AttributeProto, NodeProto, TensorProto};
use crate::types::number_of;

/// A value in the file without materialised broadcasts: its broadcast axes have size 1 or, if leading, are
/// missing. Operators broadcast them.
#[derive(Debug, Clone)]
pub(super) struct CompactValue {
    pub(super) name: String,
    /// The sizes in the file.
    pub(super) sizes: Shape,
}

/// The state of the writer of one graph.
pub(super) struct ModelWriter<'g> {
    pub(super) graph: &'g Graph,
    pub(super) opset: i64,
    pub(super) nodes: Vec<NodeProto>,
    pub(super) initializers: Vec<TensorProto>,
    pub(super) notes: Notes,
    /// The values written so far, by their index in the graph.
    compact_values: Vec<Option<CompactValue>>,
    /// Names of values in their full shape.
    materialized: HashMap<ValueId, String>,
    constants: HashMap<Array, String>,
    /// Names of parameters and outputs, which the user chose: `fresh_name` avoids them.
    reserved_names: HashSet<String>,
    /// Number of the next new name.
    next_name: usize,
}

/// An integer attribute.
pub(super) fn int_attribute(name: &str, number: i64) -> AttributeProto {
    AttributeProto { name: name.to_owned(), i: Some(number), r#type: 2, ..Default::default() }
}

/// A float attribute.
pub(super) fn float_attribute(name: &str, number: f32) -> AttributeProto {
    AttributeProto { name: name.to_owned(), f: Some(number), r#type: 1, ..Default::default() }
}

/// A text attribute.
pub(super) fn text_attribute(name: &str, text: &'static str) -> AttributeProto {
    let s = Some(Bytes::from_static(text.as_bytes()));
    AttributeProto { name: name.to_owned(), s, r#type: 3, ..Default::default() }
}

/// An attribute with a list of integers.
pub(super) fn ints_attribute(name: &str, numbers: Vec<i64>) -> AttributeProto {
    AttributeProto { name: name.to_owned(), ints: numbers, r#type: 7, ..Default::default() }
}

impl<'g> ModelWriter<'g> {
    pub(super) fn new(graph: &'g Graph, outputs: &[String], opset: i64) -> Self {
        let parameters = (0..graph.parameters().len()).map(|i| graph.parameter_name(i).to_owned());
        ModelWriter {
            graph,
            opset,
            nodes: Vec::new(),
            initializers: Vec::new(),
            notes: Notes::default(),
            compact_values: vec![None; graph.len()],
            materialized: HashMap::new(),
            constants: HashMap::new(),
            reserved_names: parameters.chain(outputs.iter().cloned()).collect(),
            next_name: 0,
        }
    }

    /// A new name, which no other value has.
    pub(super) fn fresh_name(&mut self, prefix: &str) -> String {
        loop {
            let name = format!("{prefix}{}", self.next_name);
            self.next_name += 1;
            if !self.reserved_names.contains(&name) {
                return name;
            }
        }
    }

    /// Adds a node and returns the name of its result.
    pub(super) fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attribute: Vec<AttributeProto>,
    ) -> String {
        let output = self.fresh_name("v");
        self.named_node(operator, inputs, attribute, output.clone());
        output
    }

    /// Adds a node and returns the names of its two results.
    pub(super) fn two_result_node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attribute: Vec<AttributeProto>,
    ) -> [String; 2] {
        let second = self.fresh_name("v");
        let first = self.node(operator, inputs, attribute);
        self.nodes.iter_mut().last().into_iter().for_each(|node| node.output.push(second.clone()));
        [first, second]
    }

    pub(super) fn named_node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attribute: Vec<AttributeProto>,
        output: String,
    ) {
        self.nodes.push(NodeProto {
            input: inputs.iter().map(|&input| input.to_owned()).collect(),
            output: vec![output],
            op_type: operator.to_owned(),
            attribute,
            ..NodeProto::default()
        });
    }

    /// Adds an operator without attributes and returns the name of its result.
    pub(super) fn op(&mut self, operator: &str, inputs: &[&str]) -> String {
        self.node(operator, inputs, Vec::new())
    }

    /// Adds an array to the file; equal arrays share one entry.
    pub(super) fn constant(&mut self, array: &Array) -> String {
        if let Some(name) = self.constants.get(array) {
            return name.clone();
        }
        let name = self.fresh_name("c");
        self.initializers.push(TensorProto {
            dims: array.shape().iter().map(|&size| size as i64).collect(),
            data_type: number_of(array.dtype()),
            name: name.clone(),
            raw_data: Some(Bytes::from(array.to_le_bytes())),
            ..TensorProto::default()
        });
        self.constants.insert(array.clone(), name.clone());
        name
    }

    /// Adds a scalar constant of type `dtype`; returns its name.
    pub(super) fn number(&mut self, number: f64, dtype: DType) -> String {
        let builder = GraphBuilder::new();
        let literal = match number.fract() == 0.0 {
            true => Literal::Int(number as i128),
            false => Literal::Float(number),
        };
        let graph = builder.literal(literal, dtype).and_then(|value| builder.finish(&[value]));
        let arrays = graph.ok().and_then(|graph| evaluate(&graph, &[]).ok()).unwrap_or_default();
        let array = arrays.into_iter().next().expect("invariant: each type has such a number");
        self.constant(&array)
    }

    /// Adds a constant list of integers; returns its name.
    pub(super) fn integer_list(&mut self, numbers: &[i64]) -> String {
        let array = Array::new([numbers.len()], numbers.to_vec());
        self.constant(&array.expect("invariant: a list has as many elements as it has"))
    }

    /// Adds a conversion to another element type; returns the name of its result.
    pub(super) fn cast(&mut self, input: &str, dtype: DType) -> String {
        self.node("Cast", &[input], vec![int_attribute("to", number_of(dtype).into())])
    }

    /// Sets the name and the sizes that a value has in the file.
    pub(super) fn set_value(&mut self, value: ValueId, name: String, sizes: Shape) {
        self.compact_values[value.index()] = Some(CompactValue { name, sizes });
    }

    /// The value in the file, with broadcasts not materialised.
    pub(super) fn compact_value(&self, value: ValueId) -> CompactValue {
        self.compact_values[value.index()].clone().expect("invariant: operands are earlier")
    }

    /// Name of a value in its full shape.
    pub(super) fn materialized(&mut self, value: ValueId) -> String {
        if let Some(name) = self.materialized.get(&value) {
            return name.clone();
        }
        let compact = self.compact_value(value);
        let shape = self.graph[value].array_type.shape.clone();
        let name = match compact.sizes == shape {
            true => compact.name,
            false => {
                let sizes: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
                let target = self.integer_list(&sizes);
                self.op("Expand", &[&compact.name, &target])
            }
        };
        self.materialized.insert(value, name.clone());
        name
    }

    /// The result sizes of operands that broadcast by NumPy's rule. The operands of an element-wise node
    /// always do: in the graph they have one shape, and in the file only broadcast axes lack their size.
    pub(super) fn broadcast_sizes(operands: &[CompactValue]) -> Shape {
        let rank = operands.iter().map(|compact| compact.sizes.rank()).max().unwrap_or(0);
        let size = |axis: usize| {
            let from_end = rank - axis;
            let sizes = operands.iter().filter_map(|compact| {
                let sizes = compact.sizes.sizes();
                sizes.len().checked_sub(from_end).map(|axis| sizes[axis])
            });
            sizes.reduce(|a, b| if a == 1 { b } else { a }).unwrap_or(1)
        };
        (0..rank).map(size).collect()
    }
}
