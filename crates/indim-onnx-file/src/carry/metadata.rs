//! Metadata of a model: properties of the model, its graph and its nodes, and annotations of quantization. A
//! written model of the same format keeps those whose values it has.

use std::collections::HashSet;

use indim_model::{FormatErrorKind, WrittenModel};

use super::splice::names_in;
use super::wire::{Field, fields, push, text_of};

// Numbers of the fields.
const MODEL_GRAPH: u64 = 7;
const MODEL_PROPERTIES: u64 = 14;
const GRAPH_NODE: u64 = 1;
const GRAPH_ANNOTATIONS: u64 = 14;
const GRAPH_PROPERTIES: u64 = 16;
const NODE_PROPERTIES: u64 = 9;

/// Maximum number of keys that a note names.
const MAX_KEYS: usize = 8;

/// The metadata of a model, encoded.
#[derive(Debug, Clone, Default)]
pub struct Metadata {
    model: Vec<Vec<u8>>,
    graph: Vec<Vec<u8>>,
    annotations: Vec<Vec<u8>>,
    /// The number of nodes of the graph that have properties.
    nodes: usize,
}

impl Metadata {
    /// The metadata of an encoded model; that of a damaged model is empty, because the reader refuses it.
    pub fn read(model: &[u8]) -> Metadata {
        Metadata::of(model).unwrap_or_default()
    }

    fn of(model: &[u8]) -> Result<Metadata, FormatErrorKind> {
        let mut metadata = Metadata::default();
        for field in fields(model)? {
            match field.number {
                MODEL_PROPERTIES => metadata.model.push(field.bytes().to_vec()),
                MODEL_GRAPH => metadata.add_graph(field.bytes())?,
                _ => {}
            }
        }
        Ok(metadata)
    }

    fn add_graph(&mut self, graph: &[u8]) -> Result<(), FormatErrorKind> {
        for field in fields(graph)? {
            match field.number {
                GRAPH_PROPERTIES => self.graph.push(field.bytes().to_vec()),
                GRAPH_ANNOTATIONS => self.annotations.push(field.bytes().to_vec()),
                GRAPH_NODE => {
                    let is_own = |field: &Field<'_>| field.number == NODE_PROPERTIES;
                    self.nodes += usize::from(fields(field.bytes())?.iter().any(is_own));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The written model, in the same format, with the properties of the model and its graph, and the
    /// annotations whose values it has. Notes what is dropped.
    ///
    /// # Errors
    /// `damaged`.
    pub fn keep(&self, written: WrittenModel) -> Result<WrittenModel, FormatErrorKind> {
        let [model, graph, annotations] = [&self.model, &self.graph, &self.annotations];
        if model.is_empty() && graph.is_empty() && annotations.is_empty() && self.nodes == 0 {
            return Ok(written);
        }
        let before = Metadata::of(&written.content)?;
        let mut content = Vec::with_capacity(written.content.len());
        let mut lost = annotations.len();
        for field in fields(&written.content)? {
            if field.number != MODEL_GRAPH {
                content.extend_from_slice(field.whole);
                continue;
            }
            let mut copy = field.bytes().to_vec();
            let names = names_of(field.bytes())?;
            for annotation in annotations {
                if is_about(annotation, &names)? {
                    push(&mut copy, GRAPH_ANNOTATIONS, annotation);
                    lost -= 1;
                }
            }
            graph.iter().for_each(|property| push(&mut copy, GRAPH_PROPERTIES, property));
            push(&mut content, MODEL_GRAPH, &copy);
        }
        model.iter().for_each(|property| push(&mut content, MODEL_PROPERTIES, property));
        let nodes = self.nodes.saturating_sub(before.nodes);
        let dropped = dropped_texts(lost, nodes);
        Ok(WrittenModel { content, dropped, ..written })
    }

    /// The metadata that a file of another format lacks, each as a text for a note.
    pub fn dropped(&self) -> Vec<String> {
        let of = |what: &str, properties: &[Vec<u8>]| {
            let keys = properties.iter().filter_map(|property| text_of(property, 1).ok());
            let mut keys: Vec<String> = keys.take(MAX_KEYS).collect();
            if properties.len() > MAX_KEYS {
                keys.push(format!("{} more", properties.len() - MAX_KEYS));
            }
            let text = || format!("metadata_props of the {what}: {}", keys.join(", "));
            (!properties.is_empty()).then(text)
        };
        let properties = [of("model", &self.model), of("graph", &self.graph)];
        let others = dropped_texts(self.annotations.len(), self.nodes);
        properties.into_iter().flatten().chain(others).collect()
    }
}

/// The texts of notes about these numbers of annotations and of nodes with properties.
fn dropped_texts(annotations: usize, nodes: usize) -> Vec<String> {
    let counted = |count: usize, what: &str, one: &str, many: &str| {
        (count > 0).then(|| format!("{what} of {count} {}", if count == 1 { one } else { many }))
    };
    let annotations = counted(annotations, "quantization_annotation", "value", "values");
    let nodes = counted(nodes, "metadata_props", "node", "nodes");
    annotations.into_iter().chain(nodes).collect()
}

/// The names of the values of a graph.
fn names_of(graph: &[u8]) -> Result<HashSet<String>, FormatErrorKind> {
    let mut names = HashSet::new();
    for field in fields(graph)? {
        match field.number {
            GRAPH_NODE => names_in(field.bytes(), &mut names)?,
            5 => drop(names.insert(text_of(field.bytes(), 8)?)),
            11 => drop(names.insert(text_of(field.bytes(), 1)?)),
            _ => {}
        }
    }
    Ok(names)
}

/// Whether an annotation is about values with these names: its own, and those of its parameters.
fn is_about(annotation: &[u8], names: &HashSet<String>) -> Result<bool, FormatErrorKind> {
    for field in fields(annotation)? {
        let name = match field.number {
            1 => field.text()?.to_owned(),
            2 => text_of(field.bytes(), 2)?,
            _ => continue,
        };
        if !names.contains(&name) {
            return Ok(false);
        }
    }
    Ok(true)
}
