//! Damaged files give errors, never panics or aborts: truncated samples, and samples with changed bytes.

mod samples;

use std::fs;
use std::path::{Path, PathBuf};

use indim_stores::{ArrayRegion, open};
use proptest::prelude::*;
use samples::Samples;

/// Memory limit in bytes; every sample needs less.
const LIMIT: usize = 1 << 20;

/// Reads the whole array if it is small, and a corner of it.
fn read(path: &Path) -> Result<(), String> {
    let source = open(path.to_str().unwrap(), LIMIT)
        .ok_or("no format")?
        .map_err(|error| error.to_string())?;
    let shape = &source.array_type().shape;
    let bytes = shape.byte_count(source.array_type().dtype.size()).unwrap_or(usize::MAX);
    if bytes <= 64 * LIMIT {
        source.read(&ArrayRegion::whole(shape)).map_err(|error| error.to_string())?;
    }
    // A corner, because the whole may be very large.
    let corner: Vec<usize> = shape.iter().map(|&size| size.min(2)).collect();
    let part = ArrayRegion::new(vec![0; corner.len()], corner);
    source.read(&part).map(drop).map_err(|error| error.to_string())
}

/// The files of all samples, each with the path that opens it.
fn files(samples: &Samples) -> Vec<(PathBuf, PathBuf)> {
    let single = [
        "png/RGB.png",
        "png/L16.png",
        "png/palette.png",
        "tiff/geo.tif",
        "tiff/lzw.tif",
        "tiff/big.tif",
    ];
    let mut files: Vec<_> =
        single.iter().map(|name| (samples.path(name), samples.path(name))).collect();
    let zarr = [
        "v3-float32/zarr.json",
        "v3-float32/c/0/0",
        "v3-sharded/zarr.json",
        "v3-sharded/c/0/0",
        "v2-int16/.zarray",
        "v2-int16/0.0",
        "v2-blosc-blosclz-1/0.0",
        "v2-blosc-lz4-2/0.0",
        "v2-gzip/0.0",
        "v3-checksum/c/0/0",
    ];
    for name in zarr {
        let array = samples.path("zarr").join(name.split('/').next().unwrap());
        files.push((samples.path("zarr").join(name), array));
    }
    files
}

#[test]
fn files_that_are_cut_off_are_errors_or_what_they_were() {
    let samples = Samples::unpack("");
    for (file, array) in files(&samples) {
        let whole = fs::read(&file).unwrap();
        read(&array).unwrap();
        for length in (0..whole.len()).step_by(1 + whole.len() / 200) {
            fs::write(&file, &whole[..length]).unwrap();
            // A truncated file can still have all elements.
            let _ = read(&array);
        }
        fs::write(&file, &whole[..whole.len() / 2]).unwrap();
        assert!(read(&array).is_err(), "half of {}", file.display());
        fs::write(&file, &whole).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn files_with_changed_bytes_do_no_harm(
        index in 0..16usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        thread_local!(static SAMPLES: Samples = Samples::unpack(""));
        SAMPLES.with(|samples| {
            let (file, array) = files(samples).swap_remove(index);
            let whole = fs::read(&file).unwrap();
            let mut changed = whole.clone();
            for (place, byte) in changes {
                *place.get_mut(&mut changed) = byte;
            }
            fs::write(&file, &changed).unwrap();
            let _ = read(&array);
            fs::write(&file, &whole).unwrap();
        });
    }

    #[test]
    fn tables_of_any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        fs::write(&path, bytes).unwrap();
        let _ = read(&path);
    }
}

/// Metadata that claims more memory than the machine has.
#[test]
fn absurd_sizes_are_refused_before_anything_is_allocated() {
    let samples = Samples::unpack("zarr");
    let metadata = samples.path("zarr/v3-float32/zarr.json");
    let text = fs::read_to_string(&metadata).unwrap();
    let compact: String = text.split_whitespace().collect();
    assert!(
        compact.contains(r#""shape":[5,7]"#) && compact.contains(r#""chunk_shape":[2,3]"#),
        "{compact}"
    );
    let cases = [
        (r#""shape":[5,7]"#, r#""shape":[4611686018427387904,4611686018427387904]"#),
        (r#""shape":[5,7]"#, r#""shape":[18446744073709551615,7]"#),
        (r#""chunk_shape":[2,3]"#, r#""chunk_shape":[4611686018427387904,3]"#),
        (r#""chunk_shape":[2,3]"#, r#""chunk_shape":[1099511627776,1]"#),
        (r#""chunk_shape":[2,3]"#, r#""chunk_shape":[0,3]"#),
        (r#""chunk_shape":[2,3]"#, r#""chunk_shape":[2]"#),
    ];
    for (from, to) in cases {
        fs::write(&metadata, compact.replace(from, to)).unwrap();
        let error = read(&samples.path("zarr/v3-float32")).unwrap_err();
        assert!(!error.contains("gave up"), "{to}: {error}");
    }
    // A shape other than the one the chunks were made for, but a valid one.
    fs::write(&metadata, compact.replace(r#""shape":[5,7]"#, r#""shape":[1000000000,7]"#)).unwrap();
    read(&samples.path("zarr/v3-float32")).unwrap();
}

/// A chunk of a few bytes that claims the size of the address space.
#[test]
fn what_decompresses_to_more_than_a_chunk_is_refused() {
    let samples = Samples::unpack("zarr");
    let chunk = samples.path("zarr/v3-float32/c/0/0");
    let bombs: [&[u8]; 2] = [
        // A zstd frame that claims a content of 2^60 bytes.
        &[0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0x10, 1, 0, 0],
        // A block that repeats one byte 2^20 times.
        &[0x28, 0xb5, 0x2f, 0xfd, 0xa4, 0, 0, 16, 0, 3, 0, 0x80, 7],
    ];
    for bomb in bombs {
        fs::write(&chunk, bomb).unwrap();
        assert!(read(&samples.path("zarr/v3-float32")).is_err());
    }
}
