//! The memory that decoding a chunk takes, from the metadata alone.
//!
//! Codecs form a chain of stages, each of which decodes the bytes of the stage before it: a chunk holds two
//! neighbouring stages at a time. A shard is decoded by inner chunks: it holds its index and one of them.

use std::num::NonZeroU64;

use zarrs::array::codec::{BytesCodec, ShardingCodec, ShardingCodecConfiguration};
use zarrs::array::{
    Array, ArrayShardedExt, BytesRepresentation, ChunkShape, CodecChain, CodecMetadataOptions,
    DataType, FillValue,
};
use zarrs::metadata::ConfigurationSerialize;
use zarrs::plugin::ZarrVersion;

use super::{MAX_CHUNK_BYTES, bad, bad_text, codec};
use crate::StoreErrorKind;

/// Bytes of an offset and a length in the index of a shard.
const INDEX_ENTRY_BYTES: u64 = 16;
/// Copies of an index that are alive while it is read: the bytes of the file, decoded bytes, numbers.
const INDEX_COPIES: u64 = 3;
/// Bytes of checksums in an index.
const CHECKSUM_BYTES: u64 = 64;
/// Shards within shards. The work of a forecast doubles with each.
const MAX_NESTED_SHARDS: usize = 4;

/// How an array is decoded, and what that takes, in bytes.
#[derive(Debug, Clone)]
pub(super) struct Forecast {
    /// The sizes of what one file holds.
    pub(super) chunk: Vec<u64>,
    /// The sizes of what is decoded at a time: a chunk, or an inner chunk of a shard.
    pub(super) piece: Vec<u64>,
    /// Whether a chunk is a shard that is decoded by inner chunks.
    pub(super) is_sharded: bool,
    /// Whether a part of a chunk can be read without the rest.
    pub(super) is_plain: bool,
    /// Bound of what one read takes from a file.
    pub(super) encoded_bytes: u64,
    /// Bound of what is held while a piece is decoded, with its encoded bytes and its elements.
    pub(super) piece_bytes: u64,
    /// Bound of what the index of a shard takes.
    pub(super) index_bytes: u64,
    /// The most that any stage holds.
    pub(super) largest_stage: u64,
}

/// The memory that a chain of codecs takes for one chunk, in bytes.
#[derive(Debug, Clone, Copy)]
struct Chain {
    /// Bound of what is stored.
    encoded: u64,
    /// Bound of what is held, the elements included.
    held: u64,
    largest: u64,
}

/// The contents of chunks: their elements and their sizes.
#[derive(Debug, Clone)]
struct Elements {
    shape: ChunkShape,
    dtype: DataType,
    fill: FillValue,
}

impl Elements {
    fn bytes(&self) -> Result<u64, StoreErrorKind> {
        let size = self.dtype.fixed_size().ok_or_else(|| bad_text("elements without a size"))?;
        Ok(self.shape.iter().fold(size as u64, |bytes, size| bytes.saturating_mul(size.get())))
    }

    fn in_chunks(&self, shape: ChunkShape) -> Self {
        Elements { shape, ..self.clone() }
    }
}

impl Forecast {
    /// The forecast of an array.
    pub(super) fn of<S: ?Sized>(array: &Array<S>) -> Result<Self, StoreErrorKind> {
        let grid = array.chunk_grid().metadata();
        if grid.name() != "regular" {
            let name = grid.name();
            return Err(bad_text(&format!(
                "a `{name}` grid of chunks is not read: only regular ones are"
            )));
        }
        let first = vec![0; array.dimensionality()];
        // An array without elements has no first chunk, and nothing is decoded of it.
        let shape = match array.chunk_shape(&first) {
            Ok(shape) => shape,
            Err(_) if array.shape().contains(&0) => vec![NonZeroU64::MIN; first.len()],
            Err(error) => return Err(bad(&error)),
        };
        let (dtype, fill) = (array.data_type().clone(), array.fill_value().clone());
        let elements = Elements { shape, dtype, fill };
        let codecs = array.codecs();
        let inner = array.effective_subchunk_shape().filter(|_| is_by_inner_chunks(&codecs));
        match inner {
            Some(inner) => Self::of_shard(&codecs, &elements, inner),
            None => Self::of_chunk(&codecs, &elements),
        }
    }

    fn of_chunk(codecs: &CodecChain, elements: &Elements) -> Result<Self, StoreErrorKind> {
        let chain = chain(codecs, elements, 0)?;
        let chunk: Vec<u64> = elements.shape.iter().map(|size| size.get()).collect();
        let is_bytes = codecs.array_to_bytes_codec().as_any().is::<BytesCodec>();
        let is_alone =
            codecs.array_to_array_codecs().is_empty() && codecs.bytes_to_bytes_codecs().is_empty();
        Ok(Forecast {
            piece: chunk.clone(),
            chunk,
            is_sharded: false,
            is_plain: is_bytes && is_alone,
            encoded_bytes: chain.encoded,
            piece_bytes: chain.held,
            index_bytes: 0,
            largest_stage: chain.largest,
        })
    }

    fn of_shard(
        codecs: &CodecChain,
        elements: &Elements,
        effective: ChunkShape,
    ) -> Result<Self, StoreErrorKind> {
        // Transpositions hold what they read and what they make of it.
        let copies = 2 + codecs.array_to_array_codecs().len() as u64;
        let stages = array_stages(codecs, elements.clone())?;
        let shard = Shard::of(codecs, stages.last().unwrap_or(elements), 0)?.ok_or_else(damaged)?;
        let piece = elements.in_chunks(effective);
        let piece_bytes = piece.bytes()?;
        Ok(Forecast {
            chunk: elements.shape.iter().map(|size| size.get()).collect(),
            piece: piece.shape.iter().map(|size| size.get()).collect(),
            is_sharded: true,
            is_plain: false,
            encoded_bytes: shard.inner.encoded.max(shard.index),
            piece_bytes: shard.inner.held.saturating_add(copies.saturating_mul(piece_bytes)),
            index_bytes: shard.index.saturating_mul(INDEX_COPIES),
            largest_stage: shard.inner.largest.max(shard.index),
        })
    }
}

/// Whether inner chunks are read without the shard around them: nothing compresses it as a whole.
fn is_by_inner_chunks(codecs: &CodecChain) -> bool {
    codecs.array_to_bytes_codec().as_any().is::<ShardingCodec>()
        && codecs.bytes_to_bytes_codecs().is_empty()
}

/// The elements, and what each codec from arrays to arrays makes of those before it.
fn array_stages(codecs: &CodecChain, first: Elements) -> Result<Vec<Elements>, StoreErrorKind> {
    let mut stages = vec![first];
    for codec in codecs.array_to_array_codecs() {
        let Elements { shape, dtype, fill } = &stages[stages.len() - 1];
        let encoded = codec.encoded_representation(shape, dtype, fill);
        let (shape, dtype, fill) = encoded.map_err(|error| bad(&error))?;
        stages.push(Elements { shape, dtype, fill });
    }
    Ok(stages)
}

/// What decoding a chunk by these codecs takes; `depth` counts the shards around it.
fn chain(codecs: &CodecChain, elements: &Elements, depth: usize) -> Result<Chain, StoreErrorKind> {
    let arrays = array_stages(codecs, elements.clone())?;
    let mut stages = arrays.iter().map(Elements::bytes).collect::<Result<Vec<_>, _>>()?;
    let largest = stages.iter().copied().max().unwrap_or(0);
    if largest > MAX_CHUNK_BYTES {
        // It is refused; the library would compute with sizes that do not fit.
        return Ok(Chain { encoded: largest, held: largest, largest });
    }
    let innermost = &arrays[arrays.len() - 1];
    let shard = Shard::of(codecs, innermost, depth)?;
    let codec = codecs.array_to_bytes_codec();
    let mut representation = match &shard {
        Some(shard) => BytesRepresentation::BoundedSize(shard.encoded),
        None => {
            let Elements { shape, dtype, fill } = innermost;
            let bytes = codec.encoded_representation(shape, dtype, fill);
            bytes.map_err(|error| bad(&error))?
        }
    };
    // Bytes in the order of this machine are the elements already; others are swapped in place.
    if !codec.as_any().is::<BytesCodec>() {
        stages.push(size_of(&representation)?);
    }
    let mut beside = shard.as_ref().map_or(0, Shard::held);
    for codec in codecs.bytes_to_bytes_codecs() {
        representation = codec.encoded_representation(&representation);
        beside = beside.max(codec::scratch_bytes(codec.as_any(), stages[stages.len() - 1]));
        stages.push(size_of(&representation)?);
    }
    let of_two = stages.windows(2).map(|two| two[0].saturating_add(two[1]));
    let held = of_two.max().unwrap_or(stages[0]).saturating_add(beside);
    let largest = stages.iter().copied().max().unwrap_or(0);
    let largest = largest.max(shard.map_or(0, |shard| shard.inner.largest.max(shard.index)));
    Ok(Chain { encoded: size_of(&representation)?, held, largest })
}

/// A shard: its index and what decoding one inner chunk takes, in bytes.
struct Shard {
    index: u64,
    inner: Chain,
    /// The memory of decoding one inner chunk.
    decoded: u64,
    /// The bound of the whole that the library computes: it takes each inner chunk for as large as the shard.
    encoded: u64,
}

impl Shard {
    /// The shard of these elements; `None` where codecs make none.
    fn of(
        codecs: &CodecChain,
        elements: &Elements,
        depth: usize,
    ) -> Result<Option<Self>, StoreErrorKind> {
        let codec = codecs.array_to_bytes_codec();
        if !codec.as_any().is::<ShardingCodec>() {
            return Ok(None);
        }
        if depth == MAX_NESTED_SHARDS {
            return Err(bad_text("too many shards within shards"));
        }
        let configuration = codec.configuration(ZarrVersion::V3, &CodecMetadataOptions::default());
        let configuration = configuration.ok_or_else(damaged)?;
        let parsed = ShardingCodecConfiguration::try_from_configuration(configuration);
        let Ok(ShardingCodecConfiguration::V1(configuration)) = parsed else {
            return Err(damaged());
        };
        let shape = &configuration.chunk_shape;
        let is_even = |(shard, inner): (&NonZeroU64, &NonZeroU64)| shard.get() % inner.get() == 0;
        if shape.len() != elements.shape.len() || !elements.shape.iter().zip(shape).all(is_even) {
            return Err(bad_text("shards that are not made of whole inner chunks"));
        }
        let counts =
            elements.shape.iter().zip(shape).map(|(shard, inner)| shard.get() / inner.get());
        let count = counts.fold(1, u64::saturating_mul);
        let index = count.saturating_mul(INDEX_ENTRY_BYTES).saturating_add(CHECKSUM_BYTES);
        let codecs =
            CodecChain::from_metadata(&configuration.codecs).map_err(|error| bad(&error))?;
        let inner = elements.in_chunks(shape.clone());
        let encoded = chain(&codecs, elements, depth + 1)?.encoded;
        let encoded = count.saturating_mul(encoded).saturating_add(index);
        let (decoded, inner) = (inner.bytes()?, chain(&codecs, &inner, depth + 1)?);
        Ok(Some(Shard { index, decoded, inner, encoded }))
    }

    /// Bytes held during decoding in addition to the shard and its elements.
    fn held(&self) -> u64 {
        let index = self.index.saturating_mul(INDEX_COPIES);
        index.saturating_add(self.inner.held).saturating_add(self.decoded)
    }
}

fn size_of(representation: &BytesRepresentation) -> Result<u64, StoreErrorKind> {
    representation.size().ok_or_else(|| bad_text("a codec whose output has no bound is not read"))
}

fn damaged() -> StoreErrorKind {
    bad_text("the configuration of its shards is damaged")
}
