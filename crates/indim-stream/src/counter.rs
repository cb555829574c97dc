//! A source of element indices, generated on read, for programs that count elements.

use indim_cpu::Array;
use indim_graph::VerifyErrorKind;
use indim_io::{ArrayRegion, Source, StoreError, check_region};
use indim_ops::{ArrayType, DType};
use indim_transforms::chunks::{CounterGraph, InputSlice, SlicedGraph};

/// The array `0, 1, 2, ...` as `i64[n]`.
#[derive(Debug)]
pub(crate) struct IndexSource(ArrayType);

impl IndexSource {
    pub(crate) fn new(size: usize) -> Self {
        IndexSource(ArrayType::new(DType::I64, [size]))
    }
}

impl Source for IndexSource {
    fn array_type(&self) -> &ArrayType {
        &self.0
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        let error = |kind| StoreError::new("a counter", kind);
        check_region(region, &self.0).map_err(error)?;
        let array_type = ArrayType::new(DType::I64, region.extents().clone());
        Array::filled(array_type, |bytes| {
            for (index, element) in (region.starts()[0]..).zip(bytes.as_chunks_mut().0) {
                *element = (index as i64).to_ne_bytes();
            }
            Ok::<(), indim_cpu::ArrayError>(())
        })
        .map_err(|kind| error(kind.into()))
    }
}

/// The graph with its counters (such as `iota`) turned into inputs, so that their axes can be cut; `None` if
/// it has none.
///
/// # Errors
/// None for a legal graph.
pub(crate) fn with_counters_as_inputs(
    sliced: &SlicedGraph,
) -> Result<Option<SlicedGraph>, VerifyErrorKind> {
    let graph = CounterGraph::of(&sliced.graph)?.graph;
    let counters = &graph.parameters()[sliced.slices.len()..];
    let counters = counters.iter().map(|_| InputSlice { input: None, starts: vec![0] });
    let parts: Vec<InputSlice> = sliced.slices.iter().cloned().chain(counters).collect();
    let is_changed = parts.len() > sliced.slices.len();
    Ok(is_changed.then_some(SlicedGraph { graph, slices: parts }))
}
