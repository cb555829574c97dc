//! Reads regions of Zarr arrays, chunk by chunk.

#[cfg(feature = "remote")]
use std::sync::Mutex;
use std::sync::PoisonError;

use indim_shape::ErrorCode;
use rayon::prelude::*;

use super::chain::{ElementCodec, ShardEntry, Sharding};
use super::store::ChunkFile;
use super::{ZarrArray, bad_zarr};
use crate::library_panics::catch_library_panic;
use crate::npy::header::swap_bytes;
use crate::{ArrayRegion, StoreErrorKind};
use indim_io::FirstRead;
#[cfg(feature = "remote")]
use indim_io::concurrent::for_each_concurrently;
use indim_io::copy::{BlockOrigin, copy_block, fill_block};
use indim_io::grid_cells::{GridCell, cells};
use indim_io::result_metadata::chunk_bytes;
use indim_io::runs::FileRuns;

/// Bytes of a batch of small chunks, so that each thread has enough work.
pub(super) const BATCH_BYTES: usize = 64 << 10;
/// Bookkeeping bytes of a chunk in a batch.
const CELL_BYTES: usize = 256;
/// Maximum chunks in a batch.
const MAX_BATCH_CHUNKS: usize = 128;
/// A part of an uncompressed chunk is read alone if its contiguous runs have at least this many bytes.
const MIN_RUN_BYTES: usize = 4 << 10;

/// The same in a remote store, where each run is a request.
const MIN_REQUEST_BYTES: usize = 1 << 20;

/// The shard read last, with the parsed index of its inner chunks. The next region may need the shard
/// again.
pub(super) struct CachedShard {
    /// Index of the shard in the grid of stored chunks.
    index: Vec<u64>,
    /// `None` if the shard is not stored.
    stored: Option<StoredShard>,
}

/// The file of a shard, and the offsets and lengths of its inner chunks in row-major order.
struct StoredShard {
    file: ChunkFile,
    entries: Vec<ShardEntry>,
}

/// The decoded bytes of a chunk.
enum DecodedChunk {
    /// The chunk is not stored: its elements are the fill value.
    Missing,
    Whole(Vec<u8>),
    /// Only the elements of the region.
    Partial(Vec<u8>),
}

impl ZarrArray {
    /// Reads a region into `to`, which has the size of the region.
    pub(super) fn read_into(
        &self,
        region: &ArrayRegion,
        to: &mut [u8],
    ) -> Result<(), StoreErrorKind> {
        if to.is_empty() {
            return Ok(());
        }
        let chunks = cells(region, &self.stored_chunk);
        let sharding = match &self.metadata.codecs.elements {
            ElementCodec::Shards(sharding) if self.decode_plan.is_sharded => sharding,
            _ => return self.read_cells(chunks, region, to, |cell| self.decode_chunk(cell)),
        };
        let mut last = self.cached_shard.lock().unwrap_or_else(PoisonError::into_inner).take();
        for chunk in chunks {
            let shard = match last.take().filter(|shard| shard.index == chunk.index) {
                Some(shard) => shard,
                None => self.open_shard(sharding, &chunk.index)?,
            };
            let shard = last.insert(shard);
            match &shard.stored {
                None => self.copy_cell(&chunk, DecodedChunk::Missing, region, to)?,
                Some(stored) => {
                    let inner = cells(&chunk.intersection, &self.chunks);
                    let decode =
                        |cell: &GridCell| self.decode_inner(sharding, stored, &chunk, cell);
                    self.read_cells(inner, region, to, decode)?;
                }
            }
        }
        *self.cached_shard.lock().unwrap_or_else(PoisonError::into_inner) = last;
        Ok(())
    }

    /// Reads the parts of a region in these cells, batch by batch; threads decode the cells of a batch.
    fn read_cells(
        &self,
        mut cells: impl Iterator<Item = GridCell> + Send,
        region: &ArrayRegion,
        to: &mut [u8],
        decode: impl Fn(&GridCell) -> Result<DecodedChunk, StoreErrorKind> + Sync,
    ) -> Result<(), StoreErrorKind> {
        #[cfg(feature = "remote")]
        if self.store.concurrent_requests().is_some() {
            let to = Mutex::new(to);
            return for_each_concurrently(cells, self.concurrency, |cell| {
                let decoded = catch_library_panic(ErrorCode::BAD_ZARR, || decode(&cell))?;
                let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
                self.copy_cell(&cell, decoded, region, &mut to)
            });
        }
        let small_count = BATCH_BYTES / self.chunk_len().saturating_add(CELL_BYTES);
        let batch_len = self.concurrency.max(small_count.min(MAX_BATCH_CHUNKS));
        loop {
            let batch: Vec<GridCell> = cells.by_ref().take(batch_len).collect();
            if batch.is_empty() {
                return Ok(());
            }
            let decode =
                |cell: &GridCell| catch_library_panic(ErrorCode::BAD_ZARR, || decode(cell));
            let decoded: Vec<_> = batch.par_iter().map(decode).collect();
            for (cell, decoded) in batch.iter().zip(decoded) {
                self.copy_cell(cell, decoded?, region, to)?;
            }
        }
    }

    /// Bytes of a decoded chunk, or inner chunk of a shard.
    fn chunk_len(&self) -> usize {
        chunk_bytes(self.array_type.dtype, &self.chunks)
    }

    /// Copies decoded elements of a cell to their position in the region.
    fn copy_cell(
        &self,
        cell: &GridCell,
        decoded: DecodedChunk,
        region: &ArrayRegion,
        to: &mut [u8],
    ) -> Result<(), StoreErrorKind> {
        let (extents, size) = (cell.intersection.extents(), self.array_type.dtype.size());
        let (in_region, in_chunk) =
            (cell.starts_relative_to(region.starts()), cell.starts_relative_to(&cell.origin));
        let zeros = vec![0; extents.rank()];
        let target = BlockOrigin::new(region.extents(), &in_region);
        let (bytes, origin) = match &decoded {
            DecodedChunk::Missing => {
                fill_block(&self.metadata.coding.fill, to, target, extents);
                return Ok(());
            }
            DecodedChunk::Whole(bytes) => (bytes, BlockOrigin::new(&self.chunks, &in_chunk)),
            DecodedChunk::Partial(bytes) => (bytes, BlockOrigin::new(extents, &zeros)),
        };
        let expected = origin.shape.iter().product::<usize>() * size;
        if bytes.len() != expected {
            return Err(bad_zarr(&format!("a chunk has {} bytes of {expected}", bytes.len())));
        }
        copy_block((bytes, origin), (to, target), extents, size);
        Ok(())
    }

    fn chunk_file(
        &self,
        index: &[u64],
        first: FirstRead,
    ) -> Result<Option<ChunkFile>, StoreErrorKind> {
        ChunkFile::open(&*self.store, self.metadata.keys.key(index), first)
    }

    fn decode_chunk(&self, cell: &GridCell) -> Result<DecodedChunk, StoreErrorKind> {
        let max_bytes = self.decode_plan.max_read_bytes;
        let is_partial = self.decode_plan.is_uncompressed && self.should_read_partially(cell);
        let first = match is_partial {
            true => FirstRead::Nothing,
            false => FirstRead::Whole { max_bytes },
        };
        let Some(file) = self.chunk_file(&cell.index, first)? else {
            return Ok(DecodedChunk::Missing);
        };
        if is_partial {
            return self.read_partial(&file, cell).map(DecodedChunk::Partial);
        }
        let bytes = file.read_whole(max_bytes)?;
        let (codecs, coding) = (&self.metadata.codecs, &self.metadata.coding);
        codecs.decode(bytes, &self.decode_plan.stored_chunk, coding).map(DecodedChunk::Whole)
    }

    /// Reads the part of an uncompressed chunk that the region needs.
    fn read_partial(&self, file: &ChunkFile, cell: &GridCell) -> Result<Vec<u8>, StoreErrorKind> {
        let (dtype, expected) = (self.array_type.dtype, self.chunk_len());
        if file.length() != expected as u64 {
            return Err(bad_zarr(&format!("a chunk has {} bytes of {expected}", file.length())));
        }
        let part = ArrayRegion::new(
            cell.starts_relative_to(&cell.origin),
            cell.intersection.extents().clone(),
        );
        let mut bytes = vec![0; chunk_bytes(dtype, part.extents())];
        let mut rest = &mut bytes[..];
        for run in FileRuns::new(&self.chunks, &part, false) {
            let (first, following) = rest.split_at_mut(run.elements * dtype.size());
            file.read_into((run.start * dtype.size()) as u64, first)?;
            rest = following;
        }
        if matches!(self.metadata.codecs.elements, ElementCodec::Dense { is_swapped: true }) {
            swap_bytes(dtype, &mut bytes);
        }
        Ok(bytes)
    }

    /// Whether the region needs only a part of an uncompressed chunk, and this part consists of runs of
    /// at least `MIN_RUN_BYTES`.
    fn should_read_partially(&self, cell: &GridCell) -> bool {
        let (extents, size) = (cell.intersection.extents(), self.array_type.dtype.size());
        let is_whole = |axis: &usize| extents[*axis] == self.chunks[*axis];
        let whole = (0..extents.rank()).rev().take_while(is_whole).count();
        let outer = (extents.rank() - whole).saturating_sub(1);
        let run = extents[outer..].iter().product::<usize>() * size;
        let min_run_bytes = match self.store.concurrent_requests() {
            None => MIN_RUN_BYTES,
            Some(_) => MIN_REQUEST_BYTES,
        };
        whole < extents.rank() && run >= min_run_bytes
    }

    /// Decodes the inner chunk `cell` of the shard `shard`.
    fn decode_inner(
        &self,
        sharding: &Sharding,
        stored: &StoredShard,
        shard: &GridCell,
        cell: &GridCell,
    ) -> Result<DecodedChunk, StoreErrorKind> {
        let codecs = &self.metadata.codecs;
        let offsets = cell.index_in(&shard.origin, &self.chunks);
        let counts =
            sharding.chunk_counts(&codecs.transposed_shape(&self.decode_plan.stored_chunk));
        let offsets = codecs.transposed_shape(&offsets);
        // The index of a shard has the row-major order of the transposed shard.
        let position = offsets.iter().zip(&counts);
        let position = position.fold(0, |position, (index, count)| position * count + index);
        let entry = usize::try_from(position).ok().and_then(|it| stored.entries.get(it));
        let Some((start, bytes)) = entry.copied().flatten() else {
            return Ok(DecodedChunk::Missing);
        };
        let bytes = stored.file.read(start, bytes, self.decode_plan.max_read_bytes)?;
        let coding = &self.metadata.coding;
        let elements = sharding.codecs.decode(bytes, &sharding.chunk, coding)?;
        Ok(DecodedChunk::Whole(codecs.inverse_transpose(
            elements,
            &sharding.chunk,
            coding.dtype.size(),
        )))
    }

    /// Opens the file of the shard with this index in the grid, and reads the index of its inner chunks.
    fn open_shard(
        &self,
        sharding: &Sharding,
        index: &[u64],
    ) -> Result<CachedShard, StoreErrorKind> {
        let shape = self.metadata.codecs.transposed_shape(&self.decode_plan.stored_chunk);
        let bytes = sharding.index.stored_bytes(sharding.chunk_count(&shape));
        let first = match sharding.index.is_at_start {
            true => FirstRead::Start(bytes),
            false => FirstRead::End(bytes),
        };
        let Some(file) = self.chunk_file(index, first)? else {
            return Ok(CachedShard { index: index.to_vec(), stored: None });
        };
        let start = match sharding.index.is_at_start {
            true => 0,
            false => file.length().saturating_sub(bytes),
        };
        let entries = sharding.index.decode(file.read(start, bytes, bytes)?)?;
        let stored = Some(StoredShard { file, entries });
        Ok(CachedShard { index: index.to_vec(), stored })
    }
}
