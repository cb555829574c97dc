//! The parameters with respect to which a graph is differentiated.

use core::panic::Location;

use indim_graph::{Graph, GraphError, GraphErrorKind};

/// Parameters of a graph by position or by name: `&[0, 2]`, `&["x", "bias"]`.
///
/// Arrays, slices and vectors of positions or of names implement this trait.
pub trait ParameterSelection {
    /// The positions of the parameters in `graph`, from 0; the caller checks that they exist.
    ///
    /// # Errors
    /// `unknown-parameter` if no parameter has one of the names.
    #[track_caller]
    fn positions(&self, graph: &Graph) -> Result<Vec<usize>, GraphError>;
}

impl ParameterSelection for [usize] {
    fn positions(&self, _: &Graph) -> Result<Vec<usize>, GraphError> {
        Ok(self.to_vec())
    }
}

impl ParameterSelection for [&str] {
    #[track_caller]
    fn positions(&self, graph: &Graph) -> Result<Vec<usize>, GraphError> {
        let location = Location::caller();
        self.iter().map(|name| position(graph, name).map_err(|error| error.at(location))).collect()
    }
}

impl<T, const N: usize> ParameterSelection for [T; N]
where
    [T]: ParameterSelection,
{
    #[track_caller]
    fn positions(&self, graph: &Graph) -> Result<Vec<usize>, GraphError> {
        self.as_slice().positions(graph)
    }
}

impl<T> ParameterSelection for Vec<T>
where
    [T]: ParameterSelection,
{
    #[track_caller]
    fn positions(&self, graph: &Graph) -> Result<Vec<usize>, GraphError> {
        self.as_slice().positions(graph)
    }
}

/// The position of the parameter with this name.
fn position(graph: &Graph, name: &str) -> Result<usize, GraphError> {
    /// The number of names in the message.
    const LISTED: usize = 10;
    let count = graph.parameters().len();
    let found = (0..count).find(|&index| graph.parameter_name(index) == name);
    found.ok_or_else(|| {
        let listed = (0..count.min(LISTED)).map(|index| graph.parameter_name(index).to_owned());
        let kind = GraphErrorKind::UnknownParameterName {
            name: name.to_owned(),
            parameters: listed.collect(),
            count,
        };
        GraphError::new(kind, super::GRADIENT, Vec::new())
    })
}
