//! Memory of decoding a chunk, computed from metadata alone.
//!
//! Codecs form a chain of stages. Decoding holds the input and the output of one stage at a time. A shard is
//! decoded by inner chunks: decoding holds its index and one inner chunk.

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

/// Bytes of an entry in the index of a shard: offset and length.
const INDEX_ENTRY_BYTES: u64 = 16;
/// Copies of an index alive while it is read: file bytes, decoded bytes, numbers.
const INDEX_COPIES: u64 = 3;
/// Bytes of the checksum of an index, rounded up.
const CHECKSUM_BYTES: u64 = 64;
/// Maximum nesting of shards. Each level doubles the work of computing a plan.
const MAX_NESTED_SHARDS: usize = 4;

/// How the chunks of an array are decoded, and upper bounds of the memory in bytes.
#[derive(Debug, Clone)]
pub(super) struct DecodePlan {
    /// Shape of a stored chunk: one file.
    pub(super) stored_chunk: Vec<u64>,
    /// Shape of what is decoded at a time: a stored chunk, or an inner chunk of a shard.
    pub(super) decoded_chunk: Vec<u64>,
    /// Whether stored chunks are shards, decoded by inner chunks.
    pub(super) is_sharded: bool,
    /// Whether a chunk has only the `bytes` codec, so that a part can be read alone.
    pub(super) is_uncompressed: bool,
    /// Bytes of one read from a file.
    pub(super) max_read_bytes: u64,
    /// Bytes held while a chunk is decoded, including its encoded bytes and its elements.
    pub(super) decode_bytes: u64,
    /// Bytes of the index of a shard, all copies.
    pub(super) index_bytes: u64,
    /// Bytes of the largest stage.
    pub(super) largest_stage_bytes: u64,
}

/// Upper bounds for decoding one chunk by a chain of codecs, in bytes.
#[derive(Debug, Clone, Copy)]
struct ChainMemory {
    /// The encoded chunk.
    encoded: u64,
    /// Memory held, including the decoded elements.
    held: u64,
    largest: u64,
}

/// Shape, data type and fill value of a chunk at one stage of its codec chain.
#[derive(Debug, Clone)]
struct ChunkRepresentation {
    shape: ChunkShape,
    dtype: DataType,
    fill: FillValue,
}

impl ChunkRepresentation {
    fn bytes(&self) -> Result<u64, StoreErrorKind> {
        let size = self.dtype.fixed_size().ok_or_else(|| bad_text("elements without a size"))?;
        Ok(self.shape.iter().fold(size as u64, |bytes, size| bytes.saturating_mul(size.get())))
    }

    fn in_chunks(&self, shape: ChunkShape) -> Self {
        ChunkRepresentation { shape, ..self.clone() }
    }
}

impl DecodePlan {
    /// The plan for an array.
    pub(super) fn of<S: ?Sized>(array: &Array<S>) -> Result<Self, StoreErrorKind> {
        let grid = array.chunk_grid().metadata();
        if grid.name() != "regular" {
            let name = grid.name();
            return Err(bad_text(&format!(
                "a `{name}` grid of chunks is not read: only regular ones are"
            )));
        }
        let first = vec![0; array.dimensionality()];
        // An array without elements has no first chunk, and nothing to decode.
        let shape = match array.chunk_shape(&first) {
            Ok(shape) => shape,
            Err(_) if array.shape().contains(&0) => vec![NonZeroU64::MIN; first.len()],
            Err(error) => return Err(bad(&error)),
        };
        let (dtype, fill) = (array.data_type().clone(), array.fill_value().clone());
        let elements = ChunkRepresentation { shape, dtype, fill };
        let codecs = array.codecs();
        let inner = array.effective_subchunk_shape().filter(|_| is_by_inner_chunks(&codecs));
        match inner {
            Some(inner) => Self::of_shard(&codecs, &elements, inner),
            None => Self::of_chunk(&codecs, &elements),
        }
    }

    fn of_chunk(
        codecs: &CodecChain,
        elements: &ChunkRepresentation,
    ) -> Result<Self, StoreErrorKind> {
        let chain = chain(codecs, elements, 0)?;
        let stored_chunk: Vec<u64> = elements.shape.iter().map(|size| size.get()).collect();
        let is_bytes = codecs.array_to_bytes_codec().as_any().is::<BytesCodec>();
        let is_alone =
            codecs.array_to_array_codecs().is_empty() && codecs.bytes_to_bytes_codecs().is_empty();
        Ok(DecodePlan {
            decoded_chunk: stored_chunk.clone(),
            stored_chunk,
            is_sharded: false,
            is_uncompressed: is_bytes && is_alone,
            max_read_bytes: chain.encoded,
            decode_bytes: chain.held,
            index_bytes: 0,
            largest_stage_bytes: chain.largest,
        })
    }

    fn of_shard(
        codecs: &CodecChain,
        elements: &ChunkRepresentation,
        effective: ChunkShape,
    ) -> Result<Self, StoreErrorKind> {
        // Each transposition holds its input and its output.
        let copies = 2 + codecs.array_to_array_codecs().len() as u64;
        let stages = array_stages(codecs, elements.clone())?;
        let shard =
            ShardMemory::of(codecs, stages.last().unwrap_or(elements), 0)?.ok_or_else(damaged)?;
        let decoded_chunk = elements.in_chunks(effective);
        let decode_bytes = decoded_chunk.bytes()?;
        Ok(DecodePlan {
            stored_chunk: elements.shape.iter().map(|size| size.get()).collect(),
            decoded_chunk: decoded_chunk.shape.iter().map(|size| size.get()).collect(),
            is_sharded: true,
            is_uncompressed: false,
            max_read_bytes: shard.inner.encoded.max(shard.index),
            decode_bytes: shard.inner.held.saturating_add(copies.saturating_mul(decode_bytes)),
            index_bytes: shard.index.saturating_mul(INDEX_COPIES),
            largest_stage_bytes: shard.inner.largest.max(shard.index),
        })
    }
}

/// Whether inner chunks can be read alone: no codec compresses the shard as a whole.
fn is_by_inner_chunks(codecs: &CodecChain) -> bool {
    codecs.array_to_bytes_codec().as_any().is::<ShardingCodec>()
        && codecs.bytes_to_bytes_codecs().is_empty()
}

/// The stages of the array-to-array codecs, beginning with the decoded chunk.
fn array_stages(
    codecs: &CodecChain,
    first: ChunkRepresentation,
) -> Result<Vec<ChunkRepresentation>, StoreErrorKind> {
    let mut stages = vec![first];
    for codec in codecs.array_to_array_codecs() {
        let ChunkRepresentation { shape, dtype, fill } = &stages[stages.len() - 1];
        let encoded = codec.encoded_representation(shape, dtype, fill);
        let (shape, dtype, fill) = encoded.map_err(|error| bad(&error))?;
        stages.push(ChunkRepresentation { shape, dtype, fill });
    }
    Ok(stages)
}

/// The memory of decoding a chunk by these codecs; `depth` is the number of enclosing shards.
fn chain(
    codecs: &CodecChain,
    elements: &ChunkRepresentation,
    depth: usize,
) -> Result<ChainMemory, StoreErrorKind> {
    let arrays = array_stages(codecs, elements.clone())?;
    let mut stages =
        arrays.iter().map(ChunkRepresentation::bytes).collect::<Result<Vec<_>, _>>()?;
    let largest = stages.iter().copied().max().unwrap_or(0);
    if largest > MAX_CHUNK_BYTES {
        // The caller refuses this chunk. The library must not compute with these sizes: they would overflow.
        return Ok(ChainMemory { encoded: largest, held: largest, largest });
    }
    let innermost = &arrays[arrays.len() - 1];
    let shard = ShardMemory::of(codecs, innermost, depth)?;
    let codec = codecs.array_to_bytes_codec();
    let mut representation = match &shard {
        Some(shard) => BytesRepresentation::BoundedSize(shard.encoded),
        None => {
            let ChunkRepresentation { shape, dtype, fill } = innermost;
            let bytes = codec.encoded_representation(shape, dtype, fill);
            bytes.map_err(|error| bad(&error))?
        }
    };
    // The `bytes` codec holds no copy: the elements are swapped in place.
    if !codec.as_any().is::<BytesCodec>() {
        stages.push(size_of(&representation)?);
    }
    let mut scratch = shard.as_ref().map_or(0, ShardMemory::held);
    for codec in codecs.bytes_to_bytes_codecs() {
        representation = codec.encoded_representation(&representation);
        scratch = scratch.max(codec::scratch_bytes(codec.as_any(), stages[stages.len() - 1]));
        stages.push(size_of(&representation)?);
    }
    let of_two = stages.windows(2).map(|two| two[0].saturating_add(two[1]));
    let held = of_two.max().unwrap_or(stages[0]).saturating_add(scratch);
    let largest = stages.iter().copied().max().unwrap_or(0);
    let largest = largest.max(shard.map_or(0, |shard| shard.inner.largest.max(shard.index)));
    Ok(ChainMemory { encoded: size_of(&representation)?, held, largest })
}

/// Upper bounds for decoding one inner chunk of a shard, in bytes.
struct ShardMemory {
    index: u64,
    inner: ChainMemory,
    /// The decoded inner chunk.
    decoded: u64,
    /// The encoded shard, as the library bounds it: it takes each inner chunk to be as large as the shard.
    encoded: u64,
}

impl ShardMemory {
    /// The bounds for a shard; `None` if the codecs have no shards.
    fn of(
        codecs: &CodecChain,
        elements: &ChunkRepresentation,
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
        Ok(Some(ShardMemory { index, decoded, inner, encoded }))
    }

    /// Bytes held during decoding in addition to the encoded shard and its elements.
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
