//! The chain of codecs of an array: a transposition, a codec from elements to bytes (dense or sharded),
//! and codecs from bytes to bytes.

use indim_graph::terminal::printable;
use indim_ops::DType;
use serde_json::Value;

use super::bad_zarr;
use super::codec::ByteCodec;
use crate::StoreErrorKind;
use crate::npy::header::swap_bytes;
use indim_io::copy::{BlockOrigin, copy_block, fill_block};

/// Maximum nesting of shards. Each level decodes the one below it as a whole.
const MAX_NESTED_SHARDS: usize = 4;
/// Bytes of an entry in the index of a shard: offset and length.
pub(super) const INDEX_ENTRY_BYTES: u64 = 16;
/// Whether this machine is little-endian.
const NATIVE_IS_LITTLE: bool = cfg!(target_endian = "little");

/// Element type and fill value of an array, for decoding.
#[derive(Debug, Clone)]
pub(super) struct ElementCoding {
    pub(super) dtype: DType,
    /// The bytes of the fill value, in native byte order.
    pub(super) fill: Vec<u8>,
}

/// The codecs of a chunk, in the order of encoding.
#[derive(Debug, Clone)]
pub(super) struct CodecChain {
    /// Axis `i` of the transposed chunk is axis `permutation[i]` of the decoded chunk; `None` without
    /// transposition.
    pub(super) permutation: Option<Vec<usize>>,
    pub(super) elements: ElementCodec,
    pub(super) bytes: Vec<ByteCodec>,
}

/// The codec from elements to bytes.
#[derive(Debug, Clone)]
pub(super) enum ElementCodec {
    /// The elements in row-major order, in native or non-native byte order.
    Dense {
        is_swapped: bool,
    },
    Shards(Box<Sharding>),
}

/// The codec of shards. A shard is a chunk that consists of inner chunks, and an index of their offsets
/// and lengths. The shapes of shards and inner chunks in this codec have the axis order after the
/// transposition of the outer chain.
#[derive(Debug, Clone)]
pub(super) struct Sharding {
    /// Shape of an inner chunk.
    pub(super) chunk: Vec<u64>,
    pub(super) codecs: CodecChain,
    pub(super) index: IndexCodec,
}

/// How the index of a shard is stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexCodec {
    is_swapped: bool,
    has_checksum: bool,
    pub(super) is_at_start: bool,
}

/// Offset and length of an inner chunk in its shard; `None` if it is not stored.
pub(super) type ShardEntry = Option<(u64, u64)>;

impl IndexCodec {
    /// Bytes of an index of `count` inner chunks.
    pub(super) fn stored_bytes(self, count: u64) -> u64 {
        let checksum = if self.has_checksum { 4 } else { 0 };
        count.saturating_mul(INDEX_ENTRY_BYTES).saturating_add(checksum)
    }

    /// The entries of an index.
    pub(super) fn decode(self, mut bytes: Vec<u8>) -> Result<Vec<ShardEntry>, StoreErrorKind> {
        if self.has_checksum {
            let length = bytes.len();
            bytes = ByteCodec::Crc32c.decode(bytes, length).map_err(|it| bad_zarr(&it))?;
        }
        let number = |bytes: &[u8; 8]| match self.is_swapped {
            true => u64::from_ne_bytes(*bytes).swap_bytes(),
            false => u64::from_ne_bytes(*bytes),
        };
        let entry = |entry: &[[u8; 8]]| {
            let (offset, length) = (number(&entry[0]), number(&entry[1]));
            (offset != u64::MAX || length != u64::MAX).then_some((offset, length))
        };
        Ok(bytes.as_chunks::<8>().0.chunks_exact(2).map(entry).collect())
    }
}

impl Sharding {
    /// Number of inner chunks along each axis of a shard.
    pub(super) fn chunk_counts(&self, shard: &[u64]) -> Vec<u64> {
        shard.iter().zip(&self.chunk).map(|(shard, inner)| shard / inner).collect()
    }

    pub(super) fn chunk_count(&self, shard: &[u64]) -> u64 {
        self.chunk_counts(shard).into_iter().fold(1, u64::saturating_mul)
    }
}

impl CodecChain {
    /// The chain of metadata in version 3, for chunks of shape `chunk` within `depth` shards.
    pub(super) fn of_version_3(
        codecs: &Value,
        dtype: DType,
        chunk: &[u64],
        depth: usize,
    ) -> Result<Self, StoreErrorKind> {
        let codecs = codecs.as_array().ok_or_else(|| bad_zarr("`codecs` is not a list"))?;
        let (mut shape, mut permutation) = (chunk.to_vec(), None::<Vec<usize>>);
        let (mut elements, mut bytes) = (None, Vec::new());
        for codec in codecs {
            let (name, configuration) = name_and_configuration(codec)?;
            match name {
                "transpose" if elements.is_none() => {
                    let order = order(&configuration["order"], shape.len())?;
                    shape = order.iter().map(|&axis| shape[axis]).collect();
                    permutation = Some(match permutation {
                        None => order,
                        Some(earlier) => compose_permutations(&earlier, &order),
                    });
                }
                "bytes" if elements.is_none() => {
                    let is_swapped = is_swapped(configuration, dtype.size())?;
                    elements = Some(ElementCodec::Dense { is_swapped });
                }
                "sharding_indexed" if elements.is_none() => {
                    let sharding = sharding(configuration, dtype, &shape, depth)?;
                    elements = Some(ElementCodec::Shards(Box::new(sharding)));
                }
                name => match ByteCodec::of(name, configuration) {
                    Some(codec) if elements.is_some() => bytes.push(codec),
                    Some(_) => return Err(bad_zarr(&format!("the codec `{name}` of elements"))),
                    None => return Err(unknown_codec(name)),
                },
            }
        }
        let elements = elements.ok_or_else(|| bad_zarr("no codec makes bytes of the elements"))?;
        Ok(CodecChain { permutation, elements, bytes })
    }

    /// The chain of metadata in version 2: filters, and a compressor.
    pub(super) fn of_version_2(
        filters: &Value,
        compressor: &Value,
        is_swapped: bool,
        permutation: Option<Vec<usize>>,
    ) -> Result<Self, StoreErrorKind> {
        let filters = filters.as_array().map_or(&[][..], Vec::as_slice);
        let codecs = filters.iter().chain(Some(compressor).filter(|codec| !codec.is_null()));
        let codec = |codec: &Value| {
            let name = codec["id"].as_str().ok_or_else(|| bad_zarr("a codec without a name"))?;
            ByteCodec::of(name, codec).ok_or_else(|| unknown_codec(name))
        };
        let bytes = codecs.map(codec).collect::<Result<_, _>>()?;
        Ok(CodecChain { permutation, elements: ElementCodec::Dense { is_swapped }, bytes })
    }

    /// Shape of a chunk after the transposition.
    pub(super) fn transposed_shape(&self, chunk: &[u64]) -> Vec<u64> {
        match &self.permutation {
            None => chunk.to_vec(),
            Some(axes) => axes.iter().map(|&axis| chunk[axis]).collect(),
        }
    }

    /// The inverse of [`CodecChain::transposed_shape`].
    pub(super) fn untransposed_shape(&self, chunk: &[u64]) -> Vec<u64> {
        let mut decoded = chunk.to_vec();
        for (axis, &from) in self.permutation.iter().flatten().enumerate() {
            decoded[from] = chunk[axis];
        }
        decoded
    }

    /// Upper bounds of the bytes of a chunk at each step of encoding. The first is `encoded_elements`, the
    /// output of the codec of elements; each codec of bytes adds the bound of its output.
    pub(super) fn encoded_sizes(&self, encoded_elements: u64) -> Vec<u64> {
        let mut encoded_sizes = vec![encoded_elements];
        for codec in &self.bytes {
            encoded_sizes.push(codec.encoded_bytes(encoded_sizes[encoded_sizes.len() - 1]));
        }
        encoded_sizes
    }

    /// Decodes a chunk of this shape.
    pub(super) fn decode(
        &self,
        mut bytes: Vec<u8>,
        chunk: &[u64],
        coding: &ElementCoding,
    ) -> Result<Vec<u8>, StoreErrorKind> {
        let shape = self.transposed_shape(chunk);
        let size = decoded_bytes(&shape, coding)?;
        let encoded = match &self.elements {
            ElementCodec::Dense { .. } => size as u64,
            ElementCodec::Shards(sharding) => sharding.encoded_bytes(&shape, coding.dtype),
        };
        let encoded_sizes = self.encoded_sizes(encoded);
        for (codec, &limit) in self.bytes.iter().zip(&encoded_sizes).rev() {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            bytes = codec.decode(bytes, limit).map_err(|error| bad_zarr(&error))?;
        }
        let elements = match &self.elements {
            ElementCodec::Dense { is_swapped } => {
                if bytes.len() != size {
                    return Err(bad_zarr(&format!("a chunk has {} bytes of {size}", bytes.len())));
                }
                if *is_swapped {
                    swap_bytes(coding.dtype, &mut bytes);
                }
                bytes
            }
            ElementCodec::Shards(sharding) => sharding.decode(&bytes, &shape, coding)?,
        };
        Ok(self.inverse_transpose(elements, &shape, coding.dtype.size()))
    }

    /// The elements in the order of the decoded chunk. `shape` is the shape after the transposition.
    pub(super) fn inverse_transpose(
        &self,
        elements: Vec<u8>,
        shape: &[u64],
        size: usize,
    ) -> Vec<u8> {
        match &self.permutation {
            None => elements,
            Some(axes) => inverse_transpose(&elements, axes, &sizes(shape), size),
        }
    }
}

impl Sharding {
    /// Upper bound of the bytes of an encoded shard.
    pub(super) fn encoded_bytes(&self, shard: &[u64], dtype: DType) -> u64 {
        let inner = self.codecs.encoded_bytes(&self.chunk, dtype);
        let count = self.chunk_count(shard);
        count.saturating_mul(inner).saturating_add(self.index.stored_bytes(count))
    }

    /// Decodes a whole shard.
    fn decode(
        &self,
        bytes: &[u8],
        shard: &[u64],
        coding: &ElementCoding,
    ) -> Result<Vec<u8>, StoreErrorKind> {
        let short = || bad_zarr("a shard is shorter than its index says");
        let index_bytes = usize::try_from(self.index.stored_bytes(self.chunk_count(shard)));
        let index_bytes = index_bytes.ok().filter(|it| *it <= bytes.len()).ok_or_else(short)?;
        let index = match self.index.is_at_start {
            true => &bytes[..index_bytes],
            false => &bytes[bytes.len() - index_bytes..],
        };
        let entries = self.index.decode(index.to_vec())?;
        let mut elements = vec![0; decoded_bytes(shard, coding)?];
        let (shape, inner) = (sizes(shard), sizes(&self.chunk));
        let zeros = vec![0; inner.len()];
        let grid = crate::ArrayRegion::grid(&shape.as_slice().into(), &inner);
        for (cell, entry) in grid.zip(entries) {
            let origin = BlockOrigin::new(&shape, cell.starts());
            let Some((offset, length)) = entry else {
                fill_block(&coding.fill, &mut elements, origin, &inner);
                continue;
            };
            let range = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
            let stored =
                range.and_then(|(start, length)| bytes.get(start..start.checked_add(length)?));
            let stored = stored.ok_or_else(short)?;
            let decoded = self.codecs.decode(stored.to_vec(), &self.chunk, coding)?;
            let from = BlockOrigin::new(&inner, &zeros);
            copy_block((&decoded, from), (&mut elements, origin), &inner, coding.dtype.size());
        }
        Ok(elements)
    }
}

impl CodecChain {
    /// Upper bound of the bytes of an encoded chunk of this shape.
    pub(super) fn encoded_bytes(&self, chunk: &[u64], dtype: DType) -> u64 {
        let shape = self.transposed_shape(chunk);
        let elements = match &self.elements {
            ElementCodec::Dense { .. } => saturating_bytes(&shape, dtype),
            ElementCodec::Shards(sharding) => sharding.encoded_bytes(&shape, dtype),
        };
        let encoded_sizes = self.encoded_sizes(elements);
        encoded_sizes[encoded_sizes.len() - 1]
    }
}

/// Bytes of a chunk of this shape, saturating.
pub(super) fn saturating_bytes(chunk: &[u64], dtype: DType) -> u64 {
    chunk.iter().fold(dtype.size() as u64, |bytes, &size| bytes.saturating_mul(size))
}

fn decoded_bytes(chunk: &[u64], coding: &ElementCoding) -> Result<usize, StoreErrorKind> {
    let bytes = usize::try_from(saturating_bytes(chunk, coding.dtype));
    bytes.map_err(|_| bad_zarr("a chunk that does not fit into memory"))
}

fn sizes(chunk: &[u64]) -> Vec<usize> {
    chunk.iter().map(|&size| usize::try_from(size).unwrap_or(usize::MAX)).collect()
}

/// Name and configuration of a codec or another extension of version 3: an object, or its name alone.
pub(super) fn name_and_configuration(value: &Value) -> Result<(&str, &Value), StoreErrorKind> {
    let name = value.as_str().or_else(|| value["name"].as_str());
    let name = name.ok_or_else(|| bad_zarr("metadata with an extension without a name"))?;
    Ok((name, &value["configuration"]))
}

fn unknown_codec(name: &str) -> StoreErrorKind {
    bad_zarr(&format!("the codec `{}` is not read", printable(name)))
}

/// Whether elements are in non-native byte order.
fn is_swapped(configuration: &Value, size: usize) -> Result<bool, StoreErrorKind> {
    match configuration["endian"].as_str() {
        Some("little") => Ok(!NATIVE_IS_LITTLE),
        Some("big") => Ok(NATIVE_IS_LITTLE),
        None if size == 1 => Ok(false),
        _ => Err(bad_zarr("the codec `bytes` without a byte order")),
    }
}

/// The axes of a transposition.
fn order(order: &Value, rank: usize) -> Result<Vec<usize>, StoreErrorKind> {
    let axes: Option<Vec<usize>> = order
        .as_array()
        .and_then(|axes| axes.iter().map(|axis| usize::try_from(axis.as_u64()?).ok()).collect());
    let mut sorted = axes.clone().unwrap_or_default();
    sorted.sort_unstable();
    match axes {
        Some(axes) if sorted.iter().copied().eq(0..rank) => Ok(axes),
        _ => Err(bad_zarr("a transposition that does not name each axis once")),
    }
}

/// The axes of two transpositions, one after the other.
fn compose_permutations(first: &[usize], second: &[usize]) -> Vec<usize> {
    second.iter().map(|&axis| first[axis]).collect()
}

/// The codec of shards from its configuration, for shards of shape `shard`.
fn sharding(
    configuration: &Value,
    dtype: DType,
    shard: &[u64],
    depth: usize,
) -> Result<Sharding, StoreErrorKind> {
    if depth == MAX_NESTED_SHARDS {
        return Err(bad_zarr("too many shards within shards"));
    }
    let chunk = super::metadata::chunk_shape(&configuration["chunk_shape"], shard.len())?;
    let is_even = |(shard, inner): (&u64, &u64)| shard.is_multiple_of(*inner);
    if !shard.iter().zip(&chunk).all(is_even) {
        return Err(bad_zarr("shards that are not made of whole inner chunks"));
    }
    let codecs = CodecChain::of_version_3(&configuration["codecs"], dtype, &chunk, depth + 1)?;
    let index = match &configuration["index_codecs"] {
        Value::Null => {
            IndexCodec { is_swapped: !NATIVE_IS_LITTLE, has_checksum: false, is_at_start: false }
        }
        codecs => {
            // At this depth, codecs of the index that are shards are refused.
            let codecs = CodecChain::of_version_3(codecs, DType::U64, &[1, 2], MAX_NESTED_SHARDS)?;
            let (has_checksum, is_supported) = match codecs.bytes[..] {
                [] => (false, codecs.permutation.is_none()),
                [ByteCodec::Crc32c] => (true, codecs.permutation.is_none()),
                _ => (false, false),
            };
            match codecs.elements {
                ElementCodec::Dense { is_swapped } if is_supported => {
                    IndexCodec { is_swapped, has_checksum, is_at_start: false }
                }
                _ => return Err(bad_zarr("an index of shards that is compressed is not read")),
            }
        }
    };
    let is_at_start = match configuration["index_location"].as_str() {
        Some("start") => true,
        None | Some("end") => false,
        Some(other) => {
            return Err(bad_zarr(&format!("an index of shards at `{}`", printable(other))));
        }
    };
    Ok(Sharding { chunk, codecs, index: IndexCodec { is_at_start, ..index } })
}

/// Undoes a transposition: axis `i` of `elements`, of shape `shape`, is axis `axes[i]` of the result. An
/// element has `size` bytes.
fn inverse_transpose(elements: &[u8], axes: &[usize], shape: &[usize], size: usize) -> Vec<u8> {
    let rank = shape.len();
    let (mut sizes, mut strides) = (vec![1; rank], vec![0; rank]);
    let mut stride = 1;
    for axis in (0..rank).rev() {
        sizes[axes[axis]] = shape[axis];
        strides[axes[axis]] = stride;
        stride *= shape[axis];
    }
    let mut transposed = vec![0; elements.len()];
    let (inner, inner_stride) =
        (sizes.last().copied().unwrap_or(1), strides.last().copied().unwrap_or(1));
    if elements.is_empty() {
        return transposed;
    }
    let mut index = vec![0; rank.saturating_sub(1)];
    let mut start = 0;
    for row in transposed.chunks_exact_mut(inner * size) {
        match size {
            1 => gather::<1>(elements, start, inner_stride, row),
            2 => gather::<2>(elements, start, inner_stride, row),
            4 => gather::<4>(elements, start, inner_stride, row),
            8 => gather::<8>(elements, start, inner_stride, row),
            _ => gather::<16>(elements, start, inner_stride, row),
        }
        for axis in (0..index.len()).rev() {
            index[axis] += 1;
            start += strides[axis];
            if index[axis] < sizes[axis] {
                break;
            }
            start -= index[axis] * strides[axis];
            index[axis] = 0;
        }
    }
    transposed
}

/// Copies every `stride`th element from element `start` on.
fn gather<const SIZE: usize>(from: &[u8], start: usize, stride: usize, to: &mut [u8]) {
    let from = from.as_chunks::<SIZE>().0;
    let to = to.as_chunks_mut::<SIZE>().0;
    for (element, &value) in to.iter_mut().zip(from[start..].iter().step_by(stride.max(1))) {
        *element = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transpositions_are_undone() {
        // The transposed chunk has shape [3, 2]: its axis 0 is axis 1 of the chunk.
        let transposed = inverse_transpose(&[0, 3, 1, 4, 2, 5], &[1, 0], &[3, 2], 1);
        assert_eq!(transposed, [0, 1, 2, 3, 4, 5]);
        let chain = CodecChain {
            permutation: Some(compose_permutations(&[2, 0, 1], &[1, 2, 0])),
            elements: ElementCodec::Dense { is_swapped: false },
            bytes: Vec::new(),
        };
        assert_eq!(chain.transposed_shape(&[5, 6, 7]), [5, 6, 7]);
        let chain = CodecChain { permutation: Some(vec![2, 0, 1]), ..chain };
        assert_eq!(chain.transposed_shape(&[5, 6, 7]), [7, 5, 6]);
        assert_eq!(chain.untransposed_shape(&[7, 5, 6]), [5, 6, 7]);
    }
}
