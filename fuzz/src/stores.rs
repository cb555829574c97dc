//! Files and folders of other formats: Zarr, TIFF, PNG, and tensors of `.safetensors` files.

use std::fs;
use std::path::Path;
use std::sync::Once;

use indim::ArrayType;
use indim::files::{FileErrorKind, read_tensor, read_tensor_type};
use indim_stores::{ArrayRegion, Source, StoreError, copy_from_region, open};

use crate::allocations::peak;
use crate::npy;

/// The memory limit with which sources are opened, and the size of the largest array that is read as a
/// whole, in bytes.
const LIMIT: usize = 1 << 20;
/// Allowance for names, errors, and the tables of libraries, in bytes.
const SLACK: usize = 512 << 10;
/// Allowance for the tags of a TIFF, in bytes of memory for each byte of the file.
const TAG_BYTES: usize = 256;
/// Begins the line with the name of a file, in the bytes that describe a folder.
const MARK: &[u8] = b"\n--- ";

/// Reads the bytes as a TIFF.
pub fn tiff(bytes: &[u8]) {
    read_file("x.tif", bytes, SLACK + TAG_BYTES * bytes.len());
}

/// Reads the bytes as a PNG, after correcting its checksums.
pub fn png(bytes: &[u8]) {
    read_file("x.png", &with_checksums(bytes), SLACK);
}

/// The bytes of a PNG with the right checksum in each chunk. The reader would stop at a chunk with a
/// wrong one.
fn with_checksums(bytes: &[u8]) -> Vec<u8> {
    let mut file = bytes.to_vec();
    let mut at = 8;
    while let Some(length) = file.get(at..at + 4) {
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let Some(checked) = file.get(at + 4..(at + 8).saturating_add(length)) else { break };
        let checksum = crc32(checked).to_be_bytes();
        at += 8 + length;
        let Some(place) = file.get_mut(at..at + 4) else { break };
        place.copy_from_slice(&checksum);
        at += 4;
    }
    file
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0u32, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

/// Reads the bytes as a folder with an array of Zarr: each line `--- NAME` begins a file.
pub fn zarr(bytes: &[u8]) {
    in_folder(|folder| {
        let array = folder.join("x.zarr");
        let _ = fs::remove_dir_all(&array);
        fs::create_dir(&array).unwrap();
        for (name, content) in files(bytes).into_iter().take(32) {
            let path = array.join(name);
            let _ = fs::create_dir_all(path.parent().unwrap());
            // The write fails if an earlier file made a folder of this name.
            let _ = fs::write(path, content);
        }
        read(&array, SLACK);
    });
}

/// Reads the tensor `x` of the bytes as a `.safetensors` file; if there is none, the first four tensors.
pub fn safetensors(bytes: &[u8]) {
    in_folder(|folder| {
        let path = folder.join("x.safetensors");
        fs::write(&path, bytes).unwrap();
        let tensor = |name: &str| {
            let (read, held) = peak(|| read_tensor(&path, name, LIMIT));
            let allowed = LIMIT + SLACK + 8 * bytes.len();
            assert!(held <= allowed, "{held} bytes for a file of {}", bytes.len());
            read
        };
        let members = match tensor("x") {
            Err(error) => match error.kind {
                FileErrorKind::NoMember { members, .. } => members,
                _ => return assert!(!error.code().is_empty()),
            },
            Ok(_) => vec!["x".to_owned()],
        };
        for name in members.iter().take(4) {
            if let Ok(array) = tensor(name) {
                npy::check(&array);
                assert_eq!(read_tensor_type(&path, name).unwrap(), *array.array_type());
            }
        }
    });
}

/// Calls `call` with the folder of this thread, in a thread pool that consists of this thread alone:
/// only its allocations are counted.
fn in_folder(call: impl FnOnce(&Path) + Send) {
    thread_local! {
        static FOLDER: tempfile::TempDir = tempfile::tempdir().unwrap();
        static POOL: rayon::ThreadPool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build()
            .unwrap();
    }
    print_panics_shortly();
    FOLDER.with(|folder| POOL.with(|pool| pool.install(|| call(folder.path()))));
}

/// Replaces the panic hook by one that only prints the panic. The readers of files catch panics of
/// libraries, but libFuzzer's hook would end the process before that, and a backtrace would take memory,
/// which is counted.
fn print_panics_shortly() {
    static IS_SET: Once = Once::new();
    IS_SET.call_once(|| std::panic::set_hook(Box::new(|panic| eprintln!("{panic}"))));
}

/// The files that the bytes describe: a line `--- NAME` begins each. A file is left out if its name is
/// empty, leads out of the folder, has 64 bytes or more, or has a character other than ASCII letters, digits
/// and `._/-`.
fn files(bytes: &[u8]) -> Vec<(&str, &[u8])> {
    let mut files = Vec::new();
    let mut rest = bytes;
    while let Some(at) = position(rest, MARK) {
        rest = &rest[at + MARK.len()..];
        let line = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let (name, content) = rest.split_at(line);
        let content = content.strip_prefix(b"\n").unwrap_or(content);
        let end = position(content, MARK).unwrap_or(content.len());
        rest = &content[end..];
        let name = std::str::from_utf8(name).unwrap_or_default();
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
        let is_inside = !name.starts_with('/') && !name.contains("..") && name.len() < 64;
        if !name.is_empty() && is_inside && name.chars().all(is_allowed) {
            files.push((name, &content[..end]));
        }
    }
    files
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn read_file(name: &str, bytes: &[u8], slack: usize) {
    in_folder(|folder| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        read(&path, slack);
    });
}

/// Opens an array, and reads it as a whole and by parts. Opening takes at most `LIMIT` and `slack`. Each
/// read stays within the memory that `Source::scratch_bytes` states, plus the result and `slack`.
fn read(path: &Path, slack: usize) {
    let text = path.to_str().unwrap();
    let (opened, held) = peak(|| open(text, LIMIT).expect("a format"));
    assert!(held <= LIMIT + slack, "{held} bytes to open {text}");
    match opened.and_then(|source| read_parts(&*source, slack)) {
        Ok(()) => {}
        Err(error) => assert!(!error.code().is_empty() && !error.to_string().is_empty()),
    }
}

fn read_parts(source: &dyn Source, slack: usize) -> Result<(), StoreError> {
    let ArrayType { dtype, shape } = source.array_type();
    assert!(source.scratch_bytes() <= LIMIT + slack, "{} bytes", source.scratch_bytes());
    let bytes = shape.byte_count(dtype.size()).unwrap_or(usize::MAX);
    let read = |region: &ArrayRegion| {
        let (read, held) = peak(|| source.read(region));
        let result = region.extents().byte_count(dtype.size()).unwrap_or(usize::MAX);
        let allowed = result + source.scratch_bytes() + slack;
        assert!(held <= allowed, "{held} bytes for a region of {result}, {allowed} are said");
        let array = read?;
        assert_eq!(array.bytes().len(), result);
        array.to_row_major().map_err(|error| StoreError::new("memory", error))
    };
    // A small part of an array that may be very large.
    let corner: Vec<usize> = shape.iter().map(|&size| size.min(2)).collect();
    read(&ArrayRegion::new(vec![0; corner.len()], corner))?;
    // The limit on elements bounds the time: a small file can describe many chunks that are not stored.
    let elements = shape.element_count().unwrap_or(usize::MAX);
    if bytes > LIMIT || elements > 1 << 13 {
        return Ok(());
    }
    let whole = read(&ArrayRegion::whole(shape))?;
    let steps: Vec<usize> = shape.iter().map(|size| size.div_ceil(2)).collect();
    for region in ArrayRegion::grid(shape, &steps) {
        let part = read(&region)?;
        let mut expected = vec![0; part.bytes().len()];
        let size = dtype.size();
        copy_from_region(whole.bytes(), shape, size, &region, &mut expected);
        assert!(part.bytes() == expected, "{region} of {shape}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reader holds one entry of a header with 200,000 entries, not all of them.
    #[test]
    fn headers_of_many_entries_take_little_memory() {
        let tensor = |at: usize| {
            format!(r#""{at:x}":{{"dtype":"U8","shape":[],"data_offsets":[{at},{}]}}"#, at + 1)
        };
        let tensors: Vec<String> = (0..100_000).map(tensor).collect();
        let texts: Vec<String> = (0..100_000).map(|at| format!(r#""{at:x}":"""#)).collect();
        let (tensors, texts) = (tensors.join(","), texts.join(","));
        let header = format!(r#"{{"__metadata__":{{{texts}}},{tensors}}}"#);
        let length = (header.len() as u64).to_le_bytes();
        let file = [&length[..], header.as_bytes(), &[7; 100_000]].concat();
        in_folder(|folder| {
            let path = folder.join("many.safetensors");
            fs::write(&path, &file).unwrap();
            let (read, held) = peak(|| read_tensor(&path, "ff", LIMIT));
            assert_eq!(read.unwrap().bytes(), [7]);
            assert!(held <= 2 * file.len(), "{held} bytes for a file of {}", file.len());
            let (read, held) = peak(|| read_tensor(&path, "none", LIMIT));
            assert!(read.is_err() && held <= 2 * file.len(), "{held} bytes for the names");
        });
    }
}
