//! Optimisation of the regions of loops and branches by all passes of `optimize`.

use core::cell::RefCell;
use std::borrow::Cow;

use super::{Tracker, optimize, rewrite_with};
use crate::graph::{Graph, GraphArena, Node};
use crate::regions::Region;

/// The graph with optimised regions. Nodes that share a region still share it.
pub(super) fn optimize_regions<'g>(graph: &'g Graph, tracker: &mut dyn Tracker) -> Cow<'g, Graph> {
    if graph.iter().all(|(_, node)| node.kind.regions().next().is_none()) {
        return Cow::Borrowed(graph);
    }
    let optimized_regions: RefCell<Vec<(Region, Region)>> = RefCell::default();
    let optimize_region = |region: &Region| {
        let found = optimized_regions
            .borrow()
            .iter()
            .find(|(from, _)| from == region)
            .map(|(_, to)| to.clone());
        found.unwrap_or_else(|| {
            let result = Region::new(optimize(region.graph()));
            optimized_regions.borrow_mut().push((region.clone(), result.clone()));
            result
        })
    };
    Cow::Owned(rewrite_with(graph, tracker, |arena: &mut GraphArena, node: Node| {
        let kind = node.kind.map_regions(optimize_region);
        arena.add(Node { kind, ..node })
    }))
}
