//! The part of a network between values that the caller names.

use std::collections::HashSet;

use indim_model::{FormatError, FormatErrorKind, ProgramPart, remaining_positions};

use crate::layer::{Edge, Layer};
use crate::network::{Network, topological_order};

/// A name with its layer and the output of that layer.
type NamedOutput<'n> = (&'n str, (usize, usize));

impl Network {
    /// The network restricted to a part: its first values become inputs, its last values outputs, and layers
    /// that the outputs do not need are removed.
    ///
    /// # Errors
    /// `undefined`: no value has the name; `duplicate`: several have it.
    pub(super) fn part(mut self, part: &ProgramPart) -> Result<Network, FormatError> {
        if part.is_whole() {
            return Ok(self);
        }
        let mut needed = HashSet::new();
        let ends: Vec<NamedOutput<'_>> = outputs_of_names(&self, &part.ends())?;
        for (name, (layer, output)) in outputs_of_names(&self, &part.starts())? {
            needed.insert(match self.layers[layer].is("Parameter") {
                true => layer,
                false => self.add_start(name, (layer, output)),
            });
            self.name(name, (layer, output));
        }
        if !ends.is_empty() {
            self.layers.iter_mut().filter(|layer| layer.is("Result")).for_each(Layer::disconnect);
        }
        for (name, (layer, output)) in ends {
            let end = self.add_end(name, (layer, output));
            needed.insert(end);
        }
        let connected = self.layers.iter().enumerate();
        let results =
            connected.filter(|(_, layer)| layer.is("Result") && !layer.sources.is_empty());
        needed.extend(results.map(|(position, _)| position));
        self.retain_needed(needed)
    }

    /// Adds an input that replaces a value; returns its position.
    fn add_start(&mut self, name: &str, (layer, output): (usize, usize)) -> usize {
        let position = self.layers.len();
        let start = self.layers[layer].as_parameter(self.next_id(), name, output);
        self.layers.push(start);
        let edges = self.layers.iter_mut().flat_map(|layer| &mut layer.sources);
        for edge in edges.filter(|edge| (edge.layer, edge.output) == (layer, output)) {
            (edge.layer, edge.output) = (position, 0);
        }
        position
    }

    /// Adds an output for a value, or for the input that replaces the value; returns its position.
    fn add_end(&mut self, name: &str, source: (usize, usize)) -> usize {
        let is_start = |layer: &Layer| {
            layer.is("Parameter") && layer.outputs.first().is_some_and(|it| it.is_called(name))
        };
        let start = self.layers.iter().rposition(is_start);
        let (layer, output) = start.map_or(source, |start| (start, 0));
        self.name(name, (layer, output));
        let edge = Edge { layer, output, span: self.layers[layer].outputs[output].span.clone() };
        self.layers.push(self.layers[layer].as_result(self.next_id(), name, edge));
        self.layers.len() - 1
    }

    /// Makes this the first name of a value.
    fn name(&mut self, name: &str, (layer, output): (usize, usize)) {
        let names = &mut self.layers[layer].outputs[output].names;
        names.retain(|known| known != name);
        names.insert(0, name.to_owned());
    }

    fn next_id(&self) -> u64 {
        self.layers.iter().map(|layer| layer.id).max().map_or(0, |id| id.saturating_add(1))
    }

    /// Keeps only the layers at `roots` and the layers on which they depend.
    fn retain_needed(mut self, roots: HashSet<usize>) -> Result<Network, FormatError> {
        let sources = |position: usize| self.layers[position].sources.iter().map(|it| it.layer);
        let positions =
            remaining_positions(self.layers.len(), roots.into_iter().collect(), sources);
        let mut remains = positions.iter().map(Option::is_some);
        self.layers.retain(|_| remains.next() == Some(true));
        for edge in self.layers.iter_mut().flat_map(|layer| &mut layer.sources) {
            edge.layer = positions[edge.layer].unwrap_or_default();
        }
        self.bodies.retain_mut(|body| {
            let position = positions[body.layer];
            body.layer = position.unwrap_or_default();
            position.is_some()
        });
        let order = topological_order(&self.layers)?;
        Ok(Network { order, ..self })
    }
}

/// The layer and the output of each name.
fn outputs_of_names<'n>(
    network: &Network,
    names: &[&'n str],
) -> Result<Vec<NamedOutput<'n>>, FormatError> {
    let find = |name: &str| {
        let layers = network.layers.iter().enumerate();
        let mut found = layers.flat_map(|(position, layer)| {
            let outputs = (0..layer.outputs.len()).filter(|&output| layer.has_value(output, name));
            outputs.map(move |output| (position, output)).collect::<Vec<_>>()
        });
        match (found.next(), found.next()) {
            (Some(value), None) => Ok(value),
            (None, _) => Err(FormatErrorKind::undefined_value(name)),
            (Some(_), Some(_)) => {
                Err(FormatErrorKind::Duplicate { what: "value", name: name.to_owned() })
            }
        }
    };
    let one = |&name: &&'n str| Ok((name, find(name).map_err(FormatErrorKind::without_location)?));
    names.iter().map(one).collect()
}
