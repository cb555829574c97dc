//! Codecs of bytes with bounded output. They know no arrays.
//!
//! - `zstd/`: decodes Zstandard frames;
//! - `blosc.rs`: decodes Blosc buffers, and encodes them with LZ4; `blosc_lz.rs`: decodes BloscLZ;
//! - `shuffle.rs`: shuffles of bytes and bits; `crc32c.rs`: checksums.

#[cfg(feature = "blosc")]
pub mod blosc;
#[cfg(feature = "blosc")]
mod blosc_lz;
#[cfg(feature = "blosc")]
pub mod crc32c;
#[cfg(feature = "blosc")]
pub mod shuffle;
pub mod zstd;
