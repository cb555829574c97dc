//! Explanations: what a broadcast or a graph means, in words, as JSON and as a drawing.

mod broadcast;
#[cfg(feature = "json")]
mod json;
mod svg;

use core::fmt;

use indim_cpu::{CompileOptions, Executable, Forecast, compile};
use indim_graph::{Graph, GraphError, NodeKind, ValueId};
use indim_shape::{AxisMap, Broadcast, Shape};

pub use broadcast::ExplainedBroadcast;

/// A graph explained: its broadcasts, its nodes, its loops, and what a run costs.
///
/// ```
/// use indim::explain::Explanation;
/// use indim::{CompileOptions, DType, GraphBuilder};
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3])?;
/// let v = b.parameter("v", DType::F32, [3])?;
/// let graph = b.finish(&[b.add(x, v, &[1])?])?;
/// let explanation = Explanation::new(&graph, &CompileOptions::default())?;
/// assert!(explanation.to_string().contains("numpy"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Explanation {
    broadcasts: Vec<ExplainedBroadcast>,
    graph: Graph,
    executable: Executable,
}

impl Explanation {
    /// Explains a graph as it is compiled with these options.
    ///
    /// # Errors
    /// As [`compile`].
    pub fn new(graph: &Graph, options: &CompileOptions) -> Result<Self, GraphError> {
        Ok(Explanation {
            broadcasts: broadcasts(graph),
            graph: graph.clone(),
            executable: compile(graph, options)?,
        })
    }

    /// The operations of the graph that broadcast an operand.
    pub fn broadcasts(&self) -> &[ExplainedBroadcast] {
        &self.broadcasts
    }

    /// What a run reads, writes and holds.
    pub fn forecast(&self) -> Forecast {
        self.executable.forecast()
    }

    /// A drawing of the broadcasts, as an SVG document.
    pub fn to_svg(&self) -> String {
        svg::document(&self.broadcasts)
    }

    /// Everything as one JSON object.
    #[cfg(feature = "json")]
    pub fn to_json(&self) -> String {
        json::explanation(self)
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.broadcasts.is_empty() {
            writeln!(formatter, "nothing is broadcast\n")?;
        }
        for broadcast in &self.broadcasts {
            writeln!(formatter, "{broadcast}")?;
        }
        writeln!(formatter, "{}\n", self.graph)?;
        for nest in self.executable.nests() {
            writeln!(formatter, "{nest}")?;
        }
        for (index, program) in self.executable.programs().iter().enumerate() {
            writeln!(formatter, "\nprogram {index} for {}: {program}", self.executable.level())?;
        }
        let forecast = self.forecast();
        write!(
            formatter,
            "reads {} bytes, writes {} bytes, holds {} bytes between nests; peak memory {} bytes beside the inputs",
            forecast.bytes_read,
            forecast.bytes_written,
            forecast.temporary_bytes,
            forecast.peak_bytes()
        )
    }
}

/// Every operation of a graph that broadcasts an operand, in order.
fn broadcasts(graph: &Graph) -> Vec<ExplainedBroadcast> {
    graph.iter().filter_map(|(value, _)| broadcast_of(graph, value)).collect()
}

/// The broadcast of one operation, over the operands as they were before `broadcast_in_dim`.
fn broadcast_of(graph: &Graph, value: ValueId) -> Option<ExplainedBroadcast> {
    let node = &graph[value];
    let operation = match &node.kind {
        NodeKind::Elementwise(op) => op.name(),
        _ => return None,
    };
    let is_broadcast =
        |&operand: &ValueId| matches!(graph[operand].kind, NodeKind::BroadcastInDim(_));
    if !node.operands.iter().any(|operand| is_broadcast(operand)) {
        return None;
    }
    let mut labels = Vec::new();
    let mut shapes: Vec<Shape> = Vec::new();
    let mut dims: Vec<Vec<i64>> = Vec::new();
    for &operand in node.operands.iter() {
        let rank = graph[operand].array_type.shape.rank();
        let (source, map) = match &graph[operand].kind {
            NodeKind::BroadcastInDim(map) => (graph[operand].operands[0], map.clone()),
            _ => (operand, AxisMap::identity(rank)),
        };
        labels.push((graph.value_name(source), graph[source].array_type.dtype.name().to_owned()));
        shapes.push(graph[source].array_type.shape.clone());
        dims.push(map.iter().map(|&axis| axis as i64).collect());
    }
    let form = Broadcast::explicit(&shapes, &dims, node.array_type.shape.clone())
        .expect("invariant: a graph's broadcasts are legal");
    Some(ExplainedBroadcast::new(operation, labels, form))
}
