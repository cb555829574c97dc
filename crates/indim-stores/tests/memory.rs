//! Peak memory of reads and writes, counted by an allocator: at most the amount that sources and sinks
//! declare, also for hostile files.

mod samples;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use indim_arrays::{Array, ArrayError};
use indim_ops::{ArrayType, DType};
use indim_shape::Shape;
use indim_stores::png::PngSink;
use indim_stores::zarr::{ZarrArray, ZarrOptions, ZarrSink};
use indim_stores::{ArrayRegion, MemorySource, OutputFile, Sink, Source, StoreError, open};
use samples::Samples;

/// An allocator that counts the allocated bytes.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller passes a layout of a size other than 0, as this function requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the pointer comes from `alloc`, so from the system's allocator, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that a call may need for names, errors, lists of sizes and the threads' queues.
const SLACK: usize = 256 << 10;

/// Tests run one at a time, because the allocator counts for all of them.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result of a call, and its peak memory in bytes, including the result.
fn measured<T>(call: impl FnOnce() -> T) -> (T, usize) {
    // The first call starts the threads.
    rayon::broadcast(|_| ());
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let result = call();
    (result, MOST.load(Ordering::Relaxed) - before)
}

/// Reads a region, and compares its peak memory with the source's declaration.
fn read_within_forecast(source: &dyn Source, region: &ArrayRegion, name: &Path) -> Array {
    let (read, peak) = measured(|| source.read(region));
    let read = read.unwrap_or_else(|error| panic!("{error}"));
    let allowed = read.bytes().len() + source.scratch_bytes() + SLACK;
    assert!(peak <= allowed, "{}: {peak} bytes are held, {allowed} are said", name.display());
    read
}

/// Incompressible bytes.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 1u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

fn buffer(array_type: ArrayType, elements: &[u8]) -> Array {
    let filled = Array::filled(array_type, |bytes| {
        bytes.copy_from_slice(elements);
        Ok::<(), ArrayError>(())
    });
    filled.unwrap()
}

/// Metadata of an array of `u8`, version 3.
fn metadata(shape: &str, chunk: &str, codecs: &str) -> String {
    format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":{shape},"data_type":"uint8","fill_value":7,
        "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{chunk}}}}},
        "chunk_key_encoding":{{"name":"default"}},"codecs":{codecs},"attributes":{{}}}}"#
    )
}

fn sharded(inner: &str, codecs: &str) -> String {
    format!(
        r#"[{{"name":"sharding_indexed","configuration":{{"chunk_shape":{inner},"codecs":{codecs},
        "index_codecs":[{{"name":"bytes","configuration":{{"endian":"little"}}}},{{"name":"crc32c"}}]}}}}]"#
    )
}

const BYTES: &str = r#"[{"name":"bytes"}]"#;
const GZIP: &str = r#"[{"name":"bytes"},{"name":"gzip","configuration":{"level":1}}]"#;
const BLOSC: &str = r#"[{"name":"bytes"},{"name":"blosc","configuration":{"cname":"lz4","clevel":5,
    "shuffle":"noshuffle","typesize":1,"blocksize":0}}]"#;

/// A Zarr array of at most one chunk.
fn array(folder: &Path, metadata: &str, chunk: Option<&[u8]>) {
    fs::create_dir_all(folder.join("c")).unwrap();
    fs::write(folder.join("zarr.json"), metadata).unwrap();
    if let Some(chunk) = chunk {
        fs::write(folder.join("c/0"), chunk).unwrap();
    }
}

/// Bytes in a gzip stream, stored without compression.
fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let blocks = bytes.chunks(65_535).len();
    for (index, block) in bytes.chunks(65_535).enumerate() {
        let length = (block.len() as u16).to_le_bytes();
        file.push(u8::from(index + 1 == blocks));
        file.extend(length);
        file.extend(length.map(|byte| !byte));
        file.extend(block);
    }
    let crc = bytes.iter().fold(!0u32, |crc, &byte| {
        let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        (0..8).fold(crc ^ u32::from(byte), step)
    });
    file.extend((!crc).to_le_bytes());
    file.extend((bytes.len() as u32).to_le_bytes());
    file
}

/// Bytes in a Blosc buffer, stored without compression: a header and a copy.
fn blosc(bytes: &[u8]) -> Vec<u8> {
    let size = (bytes.len() as u32).to_le_bytes();
    let file = (bytes.len() as u32 + 16).to_le_bytes();
    [&[2, 1, 2, 1][..], &size, &size, &file, bytes].concat()
}

/// A page of one strip.
fn tiff(height: u32, width: u32, compression: u32, strip: &[u8], claimed: u32) -> Vec<u8> {
    let tags = [
        (256, width),
        (257, height),
        (258, 8),
        (259, compression),
        (262, 1),
        (273, 8 + 2 + 9 * 12 + 4),
        (277, 1),
        (278, height),
        (279, claimed),
    ];
    let mut file = b"II*\0\x08\0\0\0\x09\0".to_vec();
    for (tag, value) in tags {
        file.extend((tag as u16).to_le_bytes());
        file.extend([4, 0, 1, 0, 0, 0]);
        file.extend(value.to_le_bytes());
    }
    file.extend([0; 4]);
    file.extend(strip);
    file
}

#[test]
fn samples_are_read_within_their_forecasts() {
    let _turn = turn();
    let samples = Samples::unpack("");
    for (kind, min_samples) in [("zarr", 50), ("png", 7), ("tiff", 20)] {
        let mut count = 0;
        for (path, _) in samples.pairs(kind) {
            let page = if path.ends_with("pages.tif") { ":1" } else { "" };
            let name = format!("{}{page}", path.display());
            let Some(Ok(source)) = open(&name, usize::MAX) else { continue };
            let shape = source.array_type().shape.clone();
            read_within_forecast(&*source, &ArrayRegion::whole(&shape), &path);
            let steps: Vec<usize> = shape.iter().map(|size| size.div_ceil(2)).collect();
            for region in ArrayRegion::grid(&shape, &steps) {
                read_within_forecast(&*source, &region, &path);
            }
            count += 1;
        }
        assert!(count >= min_samples, "{count} samples of {kind}");
    }
}

/// One chunk, strip or image of 8 MiB in each format.
#[test]
fn large_chunks_are_read_within_their_forecasts() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let elements = noise(8 << 20);
    let of = |name: &str| folder.path().join(name);
    let size = "[8388608]";
    array(&of("plain.zarr"), &metadata(size, size, BYTES), Some(&elements));
    array(&of("gzip.zarr"), &metadata(size, size, GZIP), Some(&gzipped(&elements)));
    array(&of("blosc.zarr"), &metadata(size, size, BLOSC), Some(&blosc(&elements)));
    let index = {
        let half = 4u64 << 20;
        let entries = [0, half, half, half].map(u64::to_le_bytes).concat();
        let crc = crc32c(&entries);
        [entries, crc.to_le_bytes().to_vec()].concat()
    };
    let shard = [&elements[..], &index].concat();
    let codecs = sharded("[4194304]", BYTES);
    array(&of("shard.zarr"), &metadata(size, size, &codecs), Some(&shard));
    let array_type = ArrayType::new(DType::U8, [8 << 20]);
    let options = ZarrOptions::new().chunks([8 << 20]);
    let mut sink = ZarrSink::create(&of("result.zarr"), &array_type, &options).unwrap();
    let whole = buffer(array_type.clone(), &elements);
    let (written, peak) = measured(|| sink.write(&ArrayRegion::whole(&array_type.shape), &whole));
    written.unwrap();
    assert!(peak <= sink.scratch_bytes() + 2 * SLACK + (2 << 20), "{peak} bytes to write a chunk");
    Box::new(sink).finish().unwrap();
    fs::write(of("strip.tif"), tiff(2048, 4096, 1, &elements, 8 << 20)).unwrap();
    write_png(&of("x.png"), [2048, 4096], &elements);
    let names = [
        "plain.zarr",
        "gzip.zarr",
        "blosc.zarr",
        "shard.zarr",
        "result.zarr",
        "strip.tif",
        "x.png",
    ];
    for name in names {
        let path = of(name);
        let source = open(path.to_str().unwrap(), usize::MAX).unwrap().unwrap();
        assert!(source.scratch_bytes() <= 30 << 20, "{name}: {}", source.scratch_bytes());
        let shape = source.array_type().shape.clone();
        let read = read_within_forecast(&*source, &ArrayRegion::whole(&shape), &path);
        assert!(read.bytes() == elements, "{name}");
        let rows: Vec<usize> = [&[shape[0] / 3], &shape[1..]].concat();
        let row_bytes = shape[1..].iter().product::<usize>();
        for region in ArrayRegion::grid(&shape, &rows) {
            let part = read_within_forecast(&*source, &region, &path);
            let start = region.starts()[0] * row_bytes;
            assert!(part.bytes() == &elements[start..start + part.bytes().len()], "{name}");
        }
        // A limit below that is refused.
        let denied = open(path.to_str().unwrap(), source.scratch_bytes() / 4).unwrap();
        assert_eq!(denied.unwrap_err().code(), "memory-limit", "{name}");
    }
    // A read of a part of an image does not hold the whole.
    let image = open(of("x.png").to_str().unwrap(), 1 << 20).unwrap().unwrap();
    assert!(image.is_sequential());
    read_within_forecast(&*image, &ArrayRegion::new([1000, 1], [2, 7]), &of("x.png"));
    read_within_forecast(&*image, &ArrayRegion::new([10, 1], [2, 7]), &of("x.png"));
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &byte| {
        let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
        (0..8).fold(crc ^ u32::from(byte), step)
    })
}

fn write_png(path: &Path, shape: [usize; 2], elements: &[u8]) {
    let array_type = ArrayType::new(DType::U8, shape);
    let mut sink =
        Box::new(PngSink::create(OutputFile::create(path).unwrap(), &array_type).unwrap());
    let source = MemorySource::new(buffer(array_type.clone(), elements)).unwrap();
    let strip = sink.chunks().unwrap().to_vec();
    for region in ArrayRegion::grid(&array_type.shape, &strip) {
        sink.write(&region, &source.read(&region).unwrap()).unwrap();
    }
    sink.finish().unwrap();
}

/// 2^36 inner chunks of one element: an index of 2^40 bytes.
#[test]
fn indices_of_shards_are_bounded() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    let refused = |metadata: &str, limit: usize| {
        array(&path, metadata, Some(b"a short shard"));
        let (opened, peak) = measured(|| {
            let source = ZarrArray::open(&path, limit)?;
            source.read(&ArrayRegion::new([0], [2])).map(drop)
        });
        assert!(peak < SLACK, "{peak} bytes for {metadata}");
        opened.unwrap_err().code()
    };
    let big = "[68719476736]";
    for limit in [usize::MAX, 64 << 20] {
        assert_eq!(refused(&metadata(big, big, &sharded("[1]", BYTES)), limit), "memory-limit");
        // Nested shards; the inner one has the index.
        let nested = sharded("[34359738368]", &sharded("[1]", BYTES));
        assert_eq!(refused(&metadata(big, big, &nested), limit), "memory-limit");
    }
    // An index that is smaller than memory, but larger than the limit or the file.
    let fitting = metadata("[1048576]", "[1048576]", &sharded("[1]", BYTES));
    assert_eq!(refused(&fitting, 16 << 20), "memory-limit");
    assert_eq!(refused(&fitting, usize::MAX), "bad-zarr");
    let deep = (0..6).fold(BYTES.to_owned(), |codecs, _| sharded("[1]", &codecs));
    assert_eq!(refused(&metadata("[2]", "[2]", &deep), usize::MAX), "bad-zarr");
    // Each codec can expand the data of the one before it, so the bounds multiply.
    let gzip = r#",{"name":"gzip","configuration":{"level":1}}"#.repeat(100);
    let chain = format!(r#"[{{"name":"bytes"}}{gzip}]"#);
    assert_eq!(refused(&metadata("[1024]", "[1024]", &chain), usize::MAX), "memory-limit");
}

#[test]
fn headers_of_gzip_may_be_long_but_not_without_end() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    let read = |name: usize| {
        let mut file = gzipped(&[1, 2]);
        let rest = file.split_off(10);
        // After the fixed header: an extra field of maximal size, and a name.
        file[3] = 4 | 8;
        file.extend([255, 255]);
        file.extend(vec![b'e'; 65_535]);
        file.extend(vec![b'n'; name]);
        file.push(0);
        file.extend(rest);
        array(&path, &metadata("[2]", "[2]", GZIP), Some(&file));
        let source = ZarrArray::open(&path, usize::MAX).unwrap();
        source.read(&ArrayRegion::new([0], [2])).map(|read| read.bytes().to_vec())
    };
    assert_eq!(read(50_000).unwrap(), [1, 2]);
    let refused = read(100_000).unwrap_err().to_string();
    assert!(refused.contains("bytes are stored for what takes at most"), "{refused}");
}

#[test]
fn very_many_chunks_are_not_listed() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    array(&path, &metadata("[1000000000]", "[2]", GZIP), Some(&gzipped(&[1, 2])));
    let source = ZarrArray::open(&path, 16 << 20).unwrap();
    let read = read_within_forecast(&source, &ArrayRegion::new([0], [1 << 17]), &path);
    assert_eq!(
        (&read.bytes()[..4], read.bytes().iter().all(|&it| it <= 7)),
        (&[1, 2, 7, 7][..], true)
    );
    // A shard without stored inner chunks.
    array(&path, &metadata("[65536]", "[65536]", &sharded("[1]", BYTES)), None);
    fs::remove_file(path.join("c/0")).unwrap();
    let source = ZarrArray::open(&path, 16 << 20).unwrap();
    let read = read_within_forecast(&source, &ArrayRegion::new([0], [65_536]), &path);
    assert!(read.bytes().iter().all(|&element| element == 7));
    // Written in chunks of one element.
    let array_type = ArrayType::new(DType::U8, [20_000]);
    let options = ZarrOptions::new().chunks([1]);
    let mut sink = ZarrSink::create(&folder.path().join("y.zarr"), &array_type, &options).unwrap();
    let whole = buffer(array_type.clone(), &[0; 20_000]);
    let (written, peak) = measured(|| sink.write(&ArrayRegion::whole(&array_type.shape), &whole));
    written.unwrap();
    assert!(peak <= sink.scratch_bytes() + SLACK, "{peak} bytes to write chunks of one");
}

/// Rows of one element: each is a run of its own.
#[test]
fn very_many_runs_are_not_listed() {
    let _turn = turn();
    let (tall, one) = (Shape::from([1 << 18, 2]), ArrayRegion::new([0, 1], [1 << 18, 1]));
    let source =
        MemorySource::new(buffer(ArrayType::new(DType::U8, tall), &noise(1 << 19))).unwrap();
    let (read, peak) = measured(|| source.read(&one));
    assert!(read.is_ok() && peak <= (1 << 18) + SLACK, "{peak} bytes");
}

/// Files that claim more than they hold are refused before memory is allocated.
#[test]
fn short_files_make_no_large_arrays() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, file: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, file).unwrap();
        let read = || -> Result<(), StoreError> {
            let source = open(path.to_str().unwrap(), usize::MAX).unwrap()?;
            source.read(&ArrayRegion::whole(&source.array_type().shape)).map(drop)
        };
        let (read, peak) = measured(read);
        assert!(peak < 2 * SLACK, "{name}: {peak} bytes");
        read.unwrap_err().code()
    };
    for compression in [1, 5, 8, 32773] {
        let file = tiff(1 << 15, 1 << 15, compression, &[0; 8], 1 << 30);
        assert_eq!(refused("x.tif", &file), "bad-tiff", "{compression}");
    }
    // The header of an image of 2^15 rows and 2^15 columns.
    let mut header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x80\0\0\0\x80\0\x08\0\0\0\0".to_vec();
    let crc = |bytes: &[u8]| {
        !bytes.iter().fold(!0u32, |crc, &byte| {
            let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            (0..8).fold(crc ^ u32::from(byte), step)
        })
    };
    header.extend(crc(&header[12..]).to_be_bytes());
    let data = [&b"IDAT"[..], &[0x78, 0x9c], &[0; 900]].concat();
    header.extend(902u32.to_be_bytes());
    header.extend(&data);
    header.extend(crc(&data).to_be_bytes());
    assert_eq!(refused("x.png", &header), "bad-png");
}

/// Parsed metadata takes many times the bytes of its text.
#[test]
fn metadata_is_bounded_by_the_limit() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    let list = format!(r#""attributes":{{"a":[{}0]}}"#, "0,".repeat(1 << 19));
    let text = metadata("[2]", "[2]", BYTES).replace(r#""attributes":{}"#, &list);
    array(&path, &text, None);
    let (opened, peak) = measured(|| ZarrArray::open(&path, 16 << 20));
    assert_eq!(opened.unwrap_err().code(), "bad-zarr");
    assert!(peak <= 16 << 20, "{peak} bytes");
    let (opened, peak) = measured(|| ZarrArray::open(&path, 256 << 20));
    assert!(opened.is_ok() && peak <= 256 << 20, "{peak} bytes");
}
