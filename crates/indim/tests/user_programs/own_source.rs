//! A user-defined source: an array computed on read, never whole in memory.

use indim::prelude::*;
use indim::stream::{ArrayRegion, MemorySink, Source, StoreError, StreamInput, StreamOptions, run};

/// `0, 1, 2, ...`
#[derive(Debug)]
struct Ramp {
    array_type: ArrayType,
}

impl Source for Ramp {
    fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        let first = region.starts()[0];
        Ok(Array::from_fn(region.extents(), |index| (first + index[0]) as f32)?)
    }
}

#[test]
fn runs() -> Result<(), Box<dyn std::error::Error>> {
    let source = Ramp { array_type: ArrayType::new(DType::F32, [1_000_000]) };
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1_000_000])?;
    let graph = b.finish(&[x.max(())])?;
    let (sink, result) = MemorySink::new(ArrayType::new(DType::F32, []))?;
    let options = StreamOptions::new().memory_limit(1 << 20);
    run(&graph, &[StreamInput::Stored(&source)], vec![Box::new(sink)], &options)?;
    assert_eq!(result.take().expect("the sink is complete").scalar::<f32>()?, 999_999.0);
    Ok(())
}
