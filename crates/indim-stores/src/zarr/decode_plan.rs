//! How chunks are decoded, and the memory that takes, from metadata alone. A chunk is decoded by its
//! codecs, one after another. A shard that no codec compresses as a whole is decoded by inner chunks:
//! decoding holds its index and one inner chunk.

use indim_ops::DType;

use super::MAX_CHUNK_BYTES;
use super::chain::{CodecChain, ElementCodec, Sharding, saturating_bytes};
use super::metadata::ArrayMetadata;

/// Copies of an index alive while it is read: file bytes, decoded bytes, numbers.
const INDEX_COPIES: u64 = 3;
/// Slack for the checksum of an index, in bytes; the checksum itself has 4.
const CHECKSUM_BYTES: u64 = 64;

/// How the chunks of an array are decoded, and upper bounds of the memory in bytes.
#[derive(Debug, Clone)]
pub(super) struct DecodePlan {
    /// Shape of a stored chunk: one file.
    pub(super) stored_chunk: Vec<u64>,
    /// Shape of the unit of decoding: a stored chunk, or an inner chunk of a shard.
    pub(super) decoded_chunk: Vec<u64>,
    /// Whether stored chunks are shards, decoded by inner chunks.
    pub(super) is_sharded: bool,
    /// Whether a chunk is stored as its elements, so that a part can be read alone.
    pub(super) is_uncompressed: bool,
    /// Maximum bytes of one read of encoded elements: an encoded chunk, or inner chunk of a shard.
    pub(super) max_read_bytes: u64,
    /// Bytes held while a chunk is decoded, including its encoded bytes and its elements.
    pub(super) decode_bytes: u64,
    /// Bytes of the index of a shard, all copies.
    pub(super) index_bytes: u64,
    /// Bytes of the largest single buffer: an encoded chunk, the output of a codec, or an index.
    pub(super) max_buffer_bytes: u64,
}

/// Upper bounds for decoding one chunk by a chain of codecs, in bytes.
#[derive(Debug, Clone, Copy)]
struct ChainMemory {
    /// The encoded chunk.
    encoded: u64,
    /// Memory held, including the decoded elements.
    held: u64,
    /// The largest single buffer.
    largest: u64,
}

impl DecodePlan {
    /// The plan for an array.
    pub(super) fn of(metadata: &ArrayMetadata) -> Self {
        let (codecs, dtype) = (&metadata.codecs, metadata.coding.dtype);
        // An array without elements has nothing to decode.
        let chunk = match metadata.shape.contains(&0) {
            true => vec![1; metadata.shape.len()],
            false => metadata.chunk.clone(),
        };
        match &codecs.elements {
            // Inner chunks can be read alone if no codec compresses the shard as a whole.
            ElementCodec::Shards(sharding)
                if codecs.bytes.is_empty() && !metadata.shape.contains(&0) =>
            {
                Self::of_shard(codecs, sharding, chunk, dtype)
            }
            _ => Self::of_chunk(codecs, chunk, dtype),
        }
    }

    fn of_chunk(codecs: &CodecChain, chunk: Vec<u64>, dtype: DType) -> Self {
        let chain = chain_memory(codecs, &chunk, dtype);
        let is_dense = matches!(codecs.elements, ElementCodec::Dense { .. });
        DecodePlan {
            decoded_chunk: chunk.clone(),
            stored_chunk: chunk,
            is_sharded: false,
            is_uncompressed: is_dense && codecs.permutation.is_none() && codecs.bytes.is_empty(),
            max_read_bytes: chain.encoded,
            decode_bytes: chain.held,
            index_bytes: 0,
            max_buffer_bytes: chain.largest,
        }
    }

    fn of_shard(codecs: &CodecChain, sharding: &Sharding, chunk: Vec<u64>, dtype: DType) -> Self {
        // A transposition holds its input and its output.
        let copies = 2 + u64::from(codecs.permutation.is_some());
        let shard = ShardMemory::of(sharding, &codecs.transposed_shape(&chunk), dtype);
        let decoded_chunk = codecs.untransposed_shape(&sharding.chunk);
        let decode_bytes = saturating_bytes(&decoded_chunk, dtype);
        DecodePlan {
            stored_chunk: chunk,
            decoded_chunk,
            is_sharded: true,
            is_uncompressed: false,
            max_read_bytes: shard.inner.encoded,
            decode_bytes: shard.inner.held.saturating_add(copies.saturating_mul(decode_bytes)),
            index_bytes: shard.index.saturating_mul(INDEX_COPIES),
            max_buffer_bytes: shard.inner.largest.max(shard.index),
        }
    }
}

/// The memory of decoding a chunk by these codecs.
fn chain_memory(codecs: &CodecChain, chunk: &[u64], dtype: DType) -> ChainMemory {
    let elements = saturating_bytes(chunk, dtype);
    let shard = match &codecs.elements {
        ElementCodec::Dense { .. } => None,
        ElementCodec::Shards(sharding) => {
            Some(ShardMemory::of(sharding, &codecs.transposed_shape(chunk), dtype))
        }
    };
    let mut buffers = vec![elements];
    if codecs.permutation.is_some() {
        buffers.push(elements);
    }
    // The codec `bytes` swaps elements in place, so it has no buffer of its own.
    let encoded = shard.as_ref().map_or(elements, |shard| shard.encoded);
    if shard.is_some() {
        buffers.push(encoded);
    }
    let mut scratch = shard.as_ref().map_or(0, ShardMemory::held);
    let bytes = codecs.encoded_sizes(encoded);
    for (codec, pair) in codecs.bytes.iter().zip(bytes.windows(2)) {
        scratch = scratch.max(codec.scratch_bytes(pair[0]));
        buffers.push(pair[1]);
    }
    // A codec holds its input and its output.
    let pairs = buffers.windows(2).map(|pair| pair[0].saturating_add(pair[1]));
    let held = pairs.max().unwrap_or(buffers[0]).saturating_add(scratch);
    let largest = buffers.iter().copied().max().unwrap_or(0);
    let largest = largest.max(shard.map_or(0, |shard| shard.inner.largest.max(shard.index)));
    debug_assert!(largest > MAX_CHUNK_BYTES || held < u64::MAX, "only a refused chunk saturates");
    ChainMemory { encoded: bytes[bytes.len() - 1], held, largest }
}

/// Upper bounds for decoding one inner chunk of a shard, in bytes.
struct ShardMemory {
    index: u64,
    inner: ChainMemory,
    /// The decoded inner chunk.
    decoded: u64,
    /// The encoded shard.
    encoded: u64,
}

impl ShardMemory {
    fn of(sharding: &Sharding, shard: &[u64], dtype: DType) -> Self {
        let index = sharding.index.stored_bytes(sharding.chunk_count(shard));
        ShardMemory {
            index: index.saturating_add(CHECKSUM_BYTES),
            inner: chain_memory(&sharding.codecs, &sharding.chunk, dtype),
            decoded: saturating_bytes(&sharding.chunk, dtype),
            encoded: sharding.encoded_bytes(shard, dtype),
        }
    }

    /// Bytes held during decoding in addition to the encoded shard and its elements.
    fn held(&self) -> u64 {
        let index = self.index.saturating_mul(INDEX_COPIES);
        index.saturating_add(self.inner.held).saturating_add(self.decoded)
    }
}
