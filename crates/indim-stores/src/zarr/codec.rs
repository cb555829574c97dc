//! Compression codecs for `zarrs` with bounded output. Its own codecs allocate the size that the data claims.

use std::any::Any;
use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::sync::{Arc, Once};

use flate2::Compression;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};
use zarrs::array::codec::api::{
    CodecRuntimePluginV2, CodecRuntimePluginV3, PartialDecoderCapability, PartialEncoderCapability,
    register_codec_v2, register_codec_v3,
};
use zarrs::array::{
    ArrayBytesRaw, BytesRepresentation, BytesToBytesCodecTraits, Codec, CodecError,
    CodecMetadataOptions, CodecOptions, CodecTraits, RecommendedConcurrency,
};
use zarrs::metadata::Configuration;
use zarrs::plugin::{ExtensionName, ZarrVersion};

use super::blosc;

/// Compression level of zarr-python.
const ZSTD_LEVEL: i32 = 0;

/// Maximum ratio of deflate: decompressed bytes per compressed byte.
const DEFLATE_RATIO: usize = 1032;
/// Maximum ratio of zstd: a block that repeats a byte encodes 128 KiB in 4 bytes.
const ZSTD_RATIO: usize = 1 << 15;
/// Bound for the header of incompressible data; its body grows by less than a quarter.
const HEADER_BYTES: u64 = 1 << 10;
/// The same for gzip, whose header may have an extra field of 64 KiB, a name and a comment.
const GZIP_HEADER_BYTES: u64 = 1 << 17;

/// The compression formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodecKind {
    Blosc,
    Gzip,
    Zlib,
    Zstd,
}

/// Codec names in metadata of both versions.
const NAMES: [(&str, CodecKind); 6] = [
    ("blosc", CodecKind::Blosc),
    ("gzip", CodecKind::Gzip),
    ("zlib", CodecKind::Zlib),
    ("numcodecs.zlib", CodecKind::Zlib),
    ("numcodecs.gzip", CodecKind::Gzip),
    ("zstd", CodecKind::Zstd),
];

fn kind(name: &str) -> Option<(&'static str, CodecKind)> {
    NAMES.into_iter().find(|(known, _)| *known == name)
}

/// Registers the codecs with `zarrs`, once.
pub(super) fn register() {
    static IS_REGISTERED: Once = Once::new();
    IS_REGISTERED.call_once(|| {
        register_codec_v2(CodecRuntimePluginV2::new(
            |name| kind(name).is_some(),
            |metadata| Ok(codec(metadata.id(), Some(metadata.configuration().clone()))),
        ));
        register_codec_v3(CodecRuntimePluginV3::new(
            |name| kind(name).is_some(),
            |metadata| Ok(codec(metadata.name(), metadata.configuration().cloned())),
        ));
    });
}

fn codec(name: &str, configuration: Option<Configuration>) -> Codec {
    let (name, kind) = kind(name).unwrap_or(("zstd", CodecKind::Zstd));
    Codec::BytesToBytes(Arc::new(CompressionCodec { name, kind, configuration }))
}

/// The codec of results.
pub(super) fn zstd() -> Arc<dyn BytesToBytesCodecTraits> {
    let mut configuration = serde_json::Map::new();
    configuration.insert("level".to_owned(), ZSTD_LEVEL.into());
    configuration.insert("checksum".to_owned(), false.into());
    let configuration = Some(Configuration::from(configuration));
    Arc::new(CompressionCodec { name: "zstd", kind: CodecKind::Zstd, configuration })
}

/// A codec with its name and configuration from the metadata.
#[derive(Debug, Clone)]
struct CompressionCodec {
    name: &'static str,
    kind: CodecKind,
    configuration: Option<Configuration>,
}

/// Bytes of memory that a codec takes in addition to its input and its output of `decoded` bytes.
pub(super) fn scratch_bytes(codec: &dyn Any, decoded: u64) -> u64 {
    match codec.downcast_ref::<CompressionCodec>() {
        // A buffer for unshuffling one block; a single block may be the whole chunk.
        Some(CompressionCodec { kind: CodecKind::Blosc, .. }) => decoded,
        _ => 0,
    }
}

impl CompressionCodec {
    fn decompress(&self, data: &[u8], limit: usize) -> Result<Vec<u8>, CodecError> {
        let decompressed = match self.kind {
            CodecKind::Blosc => blosc::decompress(data, limit),
            CodecKind::Gzip => read_within(MultiGzDecoder::new(data), data.len(), limit),
            CodecKind::Zlib => read_within(ZlibDecoder::new(data), data.len(), limit),
            CodecKind::Zstd => decompress_zstd(data, limit),
        };
        decompressed.map_err(|error| CodecError::Other(format!("{}: {error}", self.name)))
    }

    fn compress(&self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self.kind {
            CodecKind::Zstd => zstd::bulk::compress(bytes, ZSTD_LEVEL),
            CodecKind::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(bytes)?;
                encoder.finish()
            }
            CodecKind::Zlib => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(bytes)?;
                encoder.finish()
            }
            CodecKind::Blosc => Err(io::Error::other("chunks are not written with Blosc")),
        }
    }
}

/// An output buffer: at most `limit`, and at most what the format can produce from `compressed` bytes.
fn room(compressed: usize, ratio: usize, limit: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let most = compressed.saturating_mul(ratio).min(limit);
    bytes.try_reserve_exact(most).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Inflates `compressed` bytes to at most `limit` bytes.
fn read_within(reader: impl Read, compressed: usize, limit: usize) -> Result<Vec<u8>, String> {
    let mut bytes = room(compressed, DEFLATE_RATIO, limit)?;
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    reader.take(most).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    match bytes.len() <= limit {
        true => Ok(bytes),
        false => Err(format!("more than the {limit} bytes that it can hold")),
    }
}

/// Decompresses zstd frames in one call: a streaming decoder would allocate the window that the frame claims.
fn decompress_zstd(data: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    let mut bytes = room(data.len(), ZSTD_RATIO, limit)?;
    let mut decompressor = zstd::bulk::Decompressor::new().map_err(|error| error.to_string())?;
    let decompressed = decompressor.decompress_to_buffer(data, &mut bytes);
    decompressed.map_err(|error| format!("{error}, of at most {limit} bytes"))?;
    Ok(bytes)
}

impl ExtensionName for CompressionCodec {
    fn name(&self, _: ZarrVersion) -> Option<Cow<'static, str>> {
        Some(Cow::Borrowed(self.name))
    }
}

impl CodecTraits for CompressionCodec {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn configuration(&self, _: ZarrVersion, _: &CodecMetadataOptions) -> Option<Configuration> {
        self.configuration.clone()
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability { partial_read: false, partial_decode: false }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PartialEncoderCapability { partial_encode: false }
    }
}

impl BytesToBytesCodecTraits for CompressionCodec {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }

    fn recommended_concurrency(
        &self,
        _: &BytesRepresentation,
    ) -> Result<RecommendedConcurrency, CodecError> {
        Ok(RecommendedConcurrency::new_maximum(1))
    }

    /// Upper bound for any encoder; longer encodings are refused.
    fn encoded_representation(&self, decoded: &BytesRepresentation) -> BytesRepresentation {
        decoded.size().map_or(BytesRepresentation::UnboundedSize, |size| {
            let header = match self.kind {
                CodecKind::Gzip => GZIP_HEADER_BYTES,
                CodecKind::Blosc | CodecKind::Zlib | CodecKind::Zstd => HEADER_BYTES,
            };
            let more = (size / 4).saturating_add(header);
            BytesRepresentation::BoundedSize(size.saturating_add(more))
        })
    }

    fn encode<'a>(
        &self,
        decoded: ArrayBytesRaw<'a>,
        _: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        self.compress(&decoded)
            .map(Cow::Owned)
            .map_err(|error| CodecError::Other(error.to_string()))
    }

    fn decode<'a>(
        &self,
        encoded: ArrayBytesRaw<'a>,
        decoded: &BytesRepresentation,
        _: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        let limit = decoded.size().and_then(|size| usize::try_from(size).ok());
        let limit = limit.ok_or_else(|| CodecError::Other("a chunk without bound".to_owned()))?;
        self.decompress(&encoded, limit).map(Cow::Owned)
    }
}
