//! The cost of a run: bytes read, broadcast, written and held.

use indim_graph::{Graph, NodeKind, ValueId};

use super::{Explanation, is_number};

impl Explanation {
    /// The bytes that a run reads, writes and holds, as text.
    pub fn forecast_text(&self) -> String {
        let forecast = self.forecast();
        let mut text = format!("reads {}, each element once\n", bytes_text(forecast.bytes_read));
        let (unique, stands_for) = self.broadcast_bytes();
        if unique > 0 {
            let (unique, stands_for) = (bytes_text(unique), bytes_text(stands_for));
            text += &format!("broadcasts {unique}, which stand for {stands_for}\n");
        }
        text += &format!("writes {}\n", bytes_text(forecast.bytes_written));
        text += &format!("keeps {} between loops\n", bytes_text(forecast.temporary_bytes));
        let peak = bytes_text(forecast.peak_bytes(1));
        text + &format!("peak memory {peak} in addition to the inputs, with one thread\n")
    }

    /// Bytes of the broadcast operands, each counted once, and bytes of their broadcast shapes.
    pub fn broadcast_bytes(&self) -> (usize, usize) {
        let mut sources: Vec<ValueId> = Vec::new();
        let mut stands_for = 0;
        for (value, node) in self.graph.iter().filter(|&(value, _)| expands(&self.graph, value)) {
            stands_for = bytes(&self.graph, value).saturating_add(stands_for);
            sources.push(node.operands[0]);
        }
        sources.sort_unstable();
        sources.dedup();
        let unique = sources.iter().map(|&source| bytes(&self.graph, source));
        (unique.fold(0, usize::saturating_add), stands_for)
    }
}

/// Whether a node repeats elements of its operand; scalar constants do not count.
fn expands(graph: &Graph, value: ValueId) -> bool {
    let node = &graph[value];
    let is_source = |&operand: &ValueId| {
        !is_number(graph, operand)
            && graph[operand].array_type.shape.element_count()
                != node.array_type.shape.element_count()
    };
    matches!(node.kind, NodeKind::BroadcastInDim(_)) && node.operands.iter().all(is_source)
}

fn bytes(graph: &Graph, value: ValueId) -> usize {
    let array_type = &graph[value].array_type;
    array_type.shape.byte_count(array_type.dtype.size()).unwrap_or(usize::MAX)
}

/// A number of bytes, from 1 KiB on also in a larger unit.
fn bytes_text(bytes: usize) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let plural = if bytes == 1 { "" } else { "s" };
    let mut scaled = bytes as f64;
    let mut unit = None;
    for name in UNITS {
        if scaled >= 1024.0 {
            scaled /= 1024.0;
            unit = Some(name);
        }
    }
    match unit {
        Some(unit) => format!("{bytes} bytes ({scaled:.1} {unit})"),
        None => format!("{bytes} byte{plural}"),
    }
}
