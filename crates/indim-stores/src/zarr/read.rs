//! Reads regions of arrays, chunk by chunk.

use std::sync::{Arc, PoisonError};

use rayon::prelude::*;
use zarrs::array::{
    ArrayBytes, ArrayError, ArrayPartialDecoderTraits, ArraySubset, CodecError, CodecOptions,
};

use super::pieces::{Piece, pieces};
use super::{ZarrArray, bad, bad_text, guarded};
use crate::copy::{BlockOrigin, copy_block, fill_block};
use crate::{Region, StoreErrorKind};

/// Bytes of small chunks that wait for one another, so that threads have enough of them.
pub(super) const BATCH_BYTES: usize = 64 << 10;
/// Bytes of memory that a chunk takes in addition to its elements.
const PIECE_BYTES: usize = 256;
/// Chunks that wait for one another.
const MAX_BATCH: usize = 128;
/// A part of an uncompressed chunk is read without the rest if its runs have this many bytes.
const MIN_RUN_BYTES: usize = 4 << 10;

/// The shard that was read last, whose index is kept for the next region.
pub(super) struct Shard {
    index: Vec<u64>,
    /// Decodes what is in it; `None` where it is not stored.
    decoder: Option<Arc<dyn ArrayPartialDecoderTraits>>,
}

/// The decoded bytes of a chunk.
enum Decoded {
    /// The chunk is not stored: its elements are the fill value.
    Missing,
    Whole(Vec<u8>),
    /// The part that the region has.
    Part(Vec<u8>),
}

impl ZarrArray {
    /// Reads a region into memory of its size.
    pub(super) fn read_into(&self, region: &Region, to: &mut [u8]) -> Result<(), StoreErrorKind> {
        if to.is_empty() {
            return Ok(());
        }
        let chunks = pieces(region, &self.stored);
        if !self.forecast.is_sharded {
            return self.read_pieces(chunks, region, to, |piece| self.decode_chunk(piece));
        }
        let mut last = self.shard.lock().unwrap_or_else(PoisonError::into_inner).take();
        for chunk in chunks {
            let shard = match last.take().filter(|shard| shard.index == chunk.index) {
                Some(shard) => shard,
                None => guarded(|| self.open_shard(&chunk.index))?,
            };
            let shard = last.insert(shard);
            match &shard.decoder {
                None => self.put(&chunk, Decoded::Missing, region, to)?,
                Some(decoder) => {
                    let inner = pieces(&chunk.common, &self.chunks);
                    let decode = |piece: &Piece| self.decode_inner(&**decoder, &chunk, piece);
                    self.read_pieces(inner, region, to, decode)?;
                }
            }
        }
        *self.shard.lock().unwrap_or_else(PoisonError::into_inner) = last;
        Ok(())
    }

    /// Reads pieces of a region, several at the same time.
    fn read_pieces(
        &self,
        mut pieces: impl Iterator<Item = Piece>,
        region: &Region,
        to: &mut [u8],
        decode: impl Fn(&Piece) -> Result<Decoded, StoreErrorKind> + Sync,
    ) -> Result<(), StoreErrorKind> {
        let small = BATCH_BYTES / self.piece_len().saturating_add(PIECE_BYTES);
        let at_once = self.concurrency.max(small.min(MAX_BATCH));
        loop {
            let batch: Vec<Piece> = pieces.by_ref().take(at_once).collect();
            if batch.is_empty() {
                return Ok(());
            }
            let decode = |piece: &Piece| guarded(|| decode(piece));
            let decoded: Vec<_> = batch.par_iter().map(decode).collect();
            for (piece, decoded) in batch.iter().zip(decoded) {
                self.put(piece, decoded?, region, to)?;
            }
        }
    }

    /// The bytes of a decoded chunk.
    fn piece_len(&self) -> usize {
        crate::format::chunk_bytes(self.array_type.dtype, &self.chunks)
    }

    /// Puts what was read of a chunk where it belongs in the region.
    fn put(
        &self,
        piece: &Piece,
        decoded: Decoded,
        region: &Region,
        to: &mut [u8],
    ) -> Result<(), StoreErrorKind> {
        let (extents, size) = (piece.common.extents(), self.array_type.dtype.size());
        let (in_region, in_chunk) =
            (piece.starts_from(region.starts()), piece.starts_from(&piece.origin));
        let zeros = vec![0; extents.rank()];
        let target = BlockOrigin::new(region.extents(), &in_region);
        let (bytes, place) = match &decoded {
            Decoded::Missing => {
                fill_block(self.array.fill_value().as_ne_bytes(), to, target, extents);
                return Ok(());
            }
            Decoded::Whole(bytes) => (bytes, BlockOrigin::new(&self.chunks, &in_chunk)),
            Decoded::Part(bytes) => (bytes, BlockOrigin::new(extents, &zeros)),
        };
        let expected = place.shape.iter().product::<usize>() * size;
        if bytes.len() != expected {
            return Err(bad_text(&format!("a chunk has {} bytes of {expected}", bytes.len())));
        }
        copy_block((bytes, place), (to, target), extents, size);
        Ok(())
    }

    fn decode_chunk(&self, piece: &Piece) -> Result<Decoded, StoreErrorKind> {
        if self.forecast.is_plain && self.is_worth_a_part(piece) {
            let part = subset(&piece.starts_from(&piece.origin), piece.common.extents())?;
            let read = self.array.retrieve_chunk_subset_opt(&piece.index, &part, &options());
            return Ok(Decoded::Part(fixed(read.map_err(|error| of_array(&error))?)?));
        }
        let read = self.array.retrieve_chunk_if_exists_opt(&piece.index, &options());
        match read.map_err(|error| of_array(&error))? {
            None => Ok(Decoded::Missing),
            Some(bytes) => fixed(bytes).map(Decoded::Whole),
        }
    }

    /// Whether a part of an uncompressed chunk lies in few long runs: each takes memory of its own.
    fn is_worth_a_part(&self, piece: &Piece) -> bool {
        let (extents, size) = (piece.common.extents(), self.array_type.dtype.size());
        let is_whole = |axis: &usize| extents[*axis] == self.chunks[*axis];
        let whole = (0..extents.rank()).rev().take_while(is_whole).count();
        let outer = (extents.rank() - whole).saturating_sub(1);
        let run = extents[outer..].iter().product::<usize>() * size;
        whole < extents.rank() && run >= MIN_RUN_BYTES
    }

    fn decode_inner(
        &self,
        decoder: &dyn ArrayPartialDecoderTraits,
        shard: &Piece,
        piece: &Piece,
    ) -> Result<Decoded, StoreErrorKind> {
        let starts: Vec<usize> =
            piece.origin.iter().zip(&shard.origin).map(|(inner, outer)| inner - outer).collect();
        let whole = subset(&starts, &self.chunks)?;
        let bytes = decoder.partial_decode(&whole, &options()).map_err(|error| of_codec(&error))?;
        fixed(bytes.into_owned()).map(Decoded::Whole)
    }

    fn open_shard(&self, index: &[u64]) -> Result<Shard, StoreErrorKind> {
        let decoder = self.array.partial_decoder_opt(index, &options());
        let decoder = decoder.map_err(|error| of_array(&error))?;
        let exists = decoder.exists().map_err(|error| bad(&error))?;
        Ok(Shard { index: index.to_vec(), decoder: exists.then_some(decoder) })
    }
}

/// The library decodes one chunk at a time; several are decoded here.
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
