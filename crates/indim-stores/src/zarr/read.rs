//! Reads regions of Zarr arrays, chunk by chunk.

use std::sync::{Arc, PoisonError};

use rayon::prelude::*;
use zarrs::array::{
    ArrayBytes, ArrayError, ArrayPartialDecoderTraits, ArraySubset, CodecError, CodecOptions,
};

use super::grid_cells::{GridCell, cells};
use super::{ZarrArray, bad, bad_text, guarded};
use crate::copy::{BlockOrigin, copy_block, fill_block};
use crate::{Region, StoreErrorKind};

/// Bytes of a batch of small chunks, so that each thread has enough work.
pub(super) const BATCH_BYTES: usize = 64 << 10;
/// Bookkeeping bytes of a chunk in a batch.
const CELL_BYTES: usize = 256;
/// Maximum chunks in a batch.
const MAX_BATCH: usize = 128;
/// A part of an uncompressed chunk is read alone if its contiguous runs have at least this many bytes.
const MIN_RUN_BYTES: usize = 4 << 10;

/// The shard read last, with its parsed index, for the next region.
pub(super) struct CachedShard {
    index: Vec<u64>,
    /// Decoder of its inner chunks; `None` if the shard is not stored.
    decoder: Option<Arc<dyn ArrayPartialDecoderTraits>>,
}

/// The decoded bytes of a chunk.
enum DecodedChunk {
    /// The chunk is not stored: its elements are the fill value.
    Missing,
    Whole(Vec<u8>),
    /// Only the elements of the region.
    Part(Vec<u8>),
}

impl ZarrArray {
    /// Reads a region into `to`, which has its size.
    pub(super) fn read_into(&self, region: &Region, to: &mut [u8]) -> Result<(), StoreErrorKind> {
        if to.is_empty() {
            return Ok(());
        }
        let chunks = cells(region, &self.stored);
        if !self.decode_plan.is_sharded {
            return self.read_cells(chunks, region, to, |cell| self.decode_chunk(cell));
        }
        let mut last = self.shard.lock().unwrap_or_else(PoisonError::into_inner).take();
        for chunk in chunks {
            let shard = match last.take().filter(|shard| shard.index == chunk.index) {
                Some(shard) => shard,
                None => guarded(|| self.open_shard(&chunk.index))?,
            };
            let shard = last.insert(shard);
            match &shard.decoder {
                None => self.put(&chunk, DecodedChunk::Missing, region, to)?,
                Some(decoder) => {
                    let inner = cells(&chunk.common, &self.chunks);
                    let decode = |cell: &GridCell| self.decode_inner(&**decoder, &chunk, cell);
                    self.read_cells(inner, region, to, decode)?;
                }
            }
        }
        *self.shard.lock().unwrap_or_else(PoisonError::into_inner) = last;
        Ok(())
    }

    /// Reads the parts of a region in these cells, batch by batch; threads decode the cells of a batch.
    fn read_cells(
        &self,
        mut cells: impl Iterator<Item = GridCell>,
        region: &Region,
        to: &mut [u8],
        decode: impl Fn(&GridCell) -> Result<DecodedChunk, StoreErrorKind> + Sync,
    ) -> Result<(), StoreErrorKind> {
        let small = BATCH_BYTES / self.chunk_len().saturating_add(CELL_BYTES);
        let at_once = self.concurrency.max(small.min(MAX_BATCH));
        loop {
            let batch: Vec<GridCell> = cells.by_ref().take(at_once).collect();
            if batch.is_empty() {
                return Ok(());
            }
            let decode = |cell: &GridCell| guarded(|| decode(cell));
            let decoded: Vec<_> = batch.par_iter().map(decode).collect();
            for (cell, decoded) in batch.iter().zip(decoded) {
                self.put(cell, decoded?, region, to)?;
            }
        }
    }

    /// Bytes of a decoded chunk.
    fn chunk_len(&self) -> usize {
        crate::format::chunk_bytes(self.array_type.dtype, &self.chunks)
    }

    /// Copies decoded elements of a cell to their place in the region.
    fn put(
        &self,
        cell: &GridCell,
        decoded: DecodedChunk,
        region: &Region,
        to: &mut [u8],
    ) -> Result<(), StoreErrorKind> {
        let (extents, size) = (cell.common.extents(), self.array_type.dtype.size());
        let (in_region, in_chunk) =
            (cell.starts_from(region.starts()), cell.starts_from(&cell.origin));
        let zeros = vec![0; extents.rank()];
        let target = BlockOrigin::new(region.extents(), &in_region);
        let (bytes, place) = match &decoded {
            DecodedChunk::Missing => {
                fill_block(self.array.fill_value().as_ne_bytes(), to, target, extents);
                return Ok(());
            }
            DecodedChunk::Whole(bytes) => (bytes, BlockOrigin::new(&self.chunks, &in_chunk)),
            DecodedChunk::Part(bytes) => (bytes, BlockOrigin::new(extents, &zeros)),
        };
        let expected = place.shape.iter().product::<usize>() * size;
        if bytes.len() != expected {
            return Err(bad_text(&format!("a chunk has {} bytes of {expected}", bytes.len())));
        }
        copy_block((bytes, place), (to, target), extents, size);
        Ok(())
    }

    fn decode_chunk(&self, cell: &GridCell) -> Result<DecodedChunk, StoreErrorKind> {
        if self.decode_plan.is_uncompressed && self.is_worth_a_part(cell) {
            let part = subset(&cell.starts_from(&cell.origin), cell.common.extents())?;
            let read = self.array.retrieve_chunk_subset_opt(&cell.index, &part, &options());
            return Ok(DecodedChunk::Part(fixed(read.map_err(|error| of_array(&error))?)?));
        }
        let read = self.array.retrieve_chunk_if_exists_opt(&cell.index, &options());
        match read.map_err(|error| of_array(&error))? {
            None => Ok(DecodedChunk::Missing),
            Some(bytes) => fixed(bytes).map(DecodedChunk::Whole),
        }
    }

    /// Whether the part of an uncompressed chunk consists of long runs. The library allocates for each run.
    fn is_worth_a_part(&self, cell: &GridCell) -> bool {
        let (extents, size) = (cell.common.extents(), self.array_type.dtype.size());
        let is_whole = |axis: &usize| extents[*axis] == self.chunks[*axis];
        let whole = (0..extents.rank()).rev().take_while(is_whole).count();
        let outer = (extents.rank() - whole).saturating_sub(1);
        let run = extents[outer..].iter().product::<usize>() * size;
        whole < extents.rank() && run >= MIN_RUN_BYTES
    }

    fn decode_inner(
        &self,
        decoder: &dyn ArrayPartialDecoderTraits,
        shard: &GridCell,
        cell: &GridCell,
    ) -> Result<DecodedChunk, StoreErrorKind> {
        let starts: Vec<usize> =
            cell.origin.iter().zip(&shard.origin).map(|(inner, outer)| inner - outer).collect();
        let whole = subset(&starts, &self.chunks)?;
        let bytes = decoder.partial_decode(&whole, &options()).map_err(|error| of_codec(&error))?;
        fixed(bytes.into_owned()).map(DecodedChunk::Whole)
    }

    fn open_shard(&self, index: &[u64]) -> Result<CachedShard, StoreErrorKind> {
        let decoder = self.array.partial_decoder_opt(index, &options());
        let decoder = decoder.map_err(|error| of_array(&error))?;
        let exists = decoder.exists().map_err(|error| bad(&error))?;
        Ok(CachedShard { index: index.to_vec(), decoder: exists.then_some(decoder) })
    }
}

/// Options without threads in the library: `read_cells` decodes chunks in parallel.
fn options() -> CodecOptions {
    CodecOptions::default().with_concurrent_target(1)
}

fn fixed(bytes: ArrayBytes<'static>) -> Result<Vec<u8>, StoreErrorKind> {
    Ok(bytes.into_fixed().map_err(|error| bad(&error))?.into_owned())
}

fn subset(starts: &[usize], extents: &[usize]) -> Result<ArraySubset, StoreErrorKind> {
    let numbers = |sizes: &[usize]| sizes.iter().map(|&size| size as u64).collect();
    ArraySubset::new_with_start_shape(numbers(starts), numbers(extents))
        .map_err(|error| bad(&error))
}

fn of_array(error: &ArrayError) -> StoreErrorKind {
    bad(error)
}

fn of_codec(error: &CodecError) -> StoreErrorKind {
    bad(error)
}
