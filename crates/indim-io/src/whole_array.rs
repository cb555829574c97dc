//! Reads or writes a whole array in one call.

use indim_arrays::Array;
use indim_ops::ArrayType;

use crate::copy::copy_from_region;
use crate::{ArrayRegion, Sink, Source, StoreError};

/// Reads a whole array in row-major order.
///
/// # Errors
/// Like [`Source::read`].
pub fn read_whole(source: &dyn Source) -> Result<Array, StoreError> {
    let whole = source.read(&ArrayRegion::whole(&source.array_type().shape))?;
    match whole.is_row_major() {
        true => Ok(whole),
        false => whole.to_row_major().map_err(|error| StoreError::new("memory", error)),
    }
}

/// Writes a whole array: as one region, whose chunks the sink encodes and stores concurrently, or chunk by
/// chunk if the sink is sequential and the array is row-major.
///
/// # Errors
/// Like [`Sink::write`].
pub fn write_whole(sink: &mut dyn Sink, array: &Array) -> Result<(), StoreError> {
    let ArrayType { dtype, shape } = array.array_type().clone();
    let whole = ArrayRegion::whole(&shape);
    let chunks = match sink.chunks() {
        Some(chunks) if sink.is_sequential() && array.is_row_major() => chunks.to_vec(),
        _ => return sink.write(&whole, array),
    };
    for region in ArrayRegion::grid(&shape, &chunks) {
        let values = Array::filled(ArrayType::new(dtype, region.extents().clone()), |bytes| {
            copy_from_region(array.bytes(), &shape, dtype.size(), &region, bytes);
            Ok::<(), indim_arrays::ArrayError>(())
        });
        let values = values.map_err(|error| StoreError::new("memory", error))?;
        sink.write(&region, &values)?;
    }
    Ok(())
}
