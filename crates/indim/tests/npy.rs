//! `.npy` files: those of NumPy are read, and written files equal NumPy's byte for byte.
//!
//! The fixtures come from `data/make_npy.py`.

mod common;

use std::fs;
use std::io::Read;
use std::path::Path;

use common::{bytes, data, dense, shape};
use indim::array::{ArrayData, MappedFile, bf16};
use indim::files::{
    ArrayFile, FileError, OutputFile, read_npy_type, write_npy, write_npy_to, write_text,
};
use indim::{ArrayType, ArrayView, CompileOptions, DType, GraphBuilder, Shape, compile};

/// A file that NumPy wrote, with the type and elements that NumPy reported.
struct Fixture {
    name: String,
    file: Vec<u8>,
    array_type: ArrayType,
    elements: Vec<u8>,
}

/// Number of fixtures whose sizes exceed the machine word.
const LARGE_FIXTURES: usize = if usize::BITS < 64 { 1 } else { 0 };

fn fixtures() -> Vec<Fixture> {
    let archive = fs::File::open(data("npy_files.npz")).unwrap();
    let mut archive = zip::ZipArchive::new(archive).unwrap();
    let text = fs::read_to_string(data("npy_files.txt")).unwrap();
    let fixture = |line: &str| {
        let [name, dtype, sizes, elements] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("not a line of the fixtures: {line}");
        };
        let mut file = Vec::new();
        archive.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut file).unwrap();
        let array_type = ArrayType::new(dtype.parse().unwrap(), shape(sizes)?);
        Some(Fixture { name: name.to_owned(), file, array_type, elements: bytes(elements) })
    };
    text.lines().filter_map(fixture).collect()
}

fn check(fixture: &Fixture, array: &ArrayFile) {
    let Fixture { name, array_type, elements, .. } = fixture;
    assert_eq!(array.array_type(), array_type, "{name}");
    assert_eq!(array.byte_strides().len(), array_type.shape.rank(), "{name}");
    let found = dense(&array.view()).clone().to_le_bytes();
    assert_eq!(found, *elements, "{name}");
}

/// The array in a file that no other process changes.
fn mapped(path: &Path) -> Result<ArrayFile, FileError> {
    // SAFETY: the file is the test's own.
    let file = unsafe { MappedFile::open(path) }.unwrap();
    ArrayFile::from_mapped(path, file, usize::MAX)
}

#[test]
fn files_of_numpy_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let fixtures = fixtures();
    for fixture in &fixtures {
        fs::write(&path, &fixture.file).unwrap();
        check(fixture, &ArrayFile::open(&path).unwrap());
        check(fixture, &mapped(&path).unwrap());
        check(fixture, &ArrayFile::from_bytes(fixture.file.clone()).unwrap());
        assert_eq!(read_npy_type(&path).unwrap(), fixture.array_type);
    }
    assert_eq!(fixtures.len() + LARGE_FIXTURES, 126);
}

/// `np.load` takes the first array of a file and ignores what follows.
#[test]
fn bytes_behind_the_elements_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    for fixture in fixtures() {
        let twice = [&fixture.file[..], &fixture.file[..]].concat();
        fs::write(&path, &twice).unwrap();
        check(&fixture, &ArrayFile::open(&path).unwrap());
        let read = ArrayFile::from_bytes(twice).unwrap();
        check(&fixture, &read);
        assert_eq!(read.bytes().len(), fixture.elements.len());
    }
}

/// The bytes that `np.save` writes for an array of `ml_dtypes.bfloat16`.
#[test]
fn bf16_has_the_name_that_ml_dtypes_gives_it() {
    let (mut file, array_type) = (Vec::new(), ArrayType::new(DType::Bf16, [2]));
    let elements = [0x3fc0u16, 0xc000].map(u16::to_ne_bytes).concat();
    write_npy_to(&mut file, &array_type, &elements).unwrap();
    let [own, other] = if cfg!(target_endian = "little") { ['<', '>'] } else { ['>', '<'] };
    let header = format!("{{'descr': '{own}V2', 'fortran_order': False, 'shape': (2,), }}");
    assert!(contains(&file, header.as_bytes()));
    let array = ArrayFile::from_bytes(file.clone()).unwrap();
    assert_eq!(dense(&array.view()).elements::<bf16>().unwrap(), [1.5, -2.0].map(bf16::from_f32));
    let order = file.iter().position(|&byte| byte == own as u8).unwrap();
    file[order] = other as u8;
    let array = ArrayFile::from_bytes(file).unwrap();
    assert_eq!(dense(&array.view()).clone().to_le_bytes(), [0x3f, 0xc0, 0xc0, 0x00]);
}

/// Old files, and files of other programs, have unaligned elements.
#[test]
fn elements_anywhere_in_the_file_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    for mut fixture in fixtures().into_iter().filter(|fixture| fixture.name.contains("_little_")) {
        let header_end = fixture.file.iter().position(|&byte| byte == b'\n').unwrap();
        for spaces in 1..=16 {
            fixture.file.insert(header_end, b' ');
            let length = (header_end + 1 + spaces - 10) as u16;
            fixture.file[8..10].copy_from_slice(&length.to_le_bytes());
            fs::write(&path, &fixture.file).unwrap();
            check(&fixture, &ArrayFile::open(&path).unwrap());
            check(&fixture, &mapped(&path).unwrap());
            check(&fixture, &ArrayFile::from_bytes(fixture.file.clone()).unwrap());
        }
    }
}

/// The file as NumPy writes it on this machine: on a big-endian one, descriptor and elements have the other
/// byte order.
fn as_numpy_writes_here(fixture: &Fixture) -> Vec<u8> {
    if cfg!(target_endian = "little") {
        return fixture.file.clone();
    }
    let start = fixture.file.len() - fixture.elements.len();
    let mut file = fixture.file.clone();
    if let Some(quote) = file[..start].windows(2).position(|two| two == b"'<") {
        file[quote + 1] = b'>';
    }
    file.truncate(start);
    file.extend(native(fixture));
    file
}

/// The elements of a fixture, which are little-endian, in native byte order.
fn native(fixture: &Fixture) -> Vec<u8> {
    ArrayData::from_le_bytes(fixture.array_type.dtype, &fixture.elements).to_ne_bytes()
}

#[test]
fn files_of_indim_are_those_of_numpy() {
    let is_plain = |fixture: &&Fixture| {
        let name = &fixture.name;
        let is_plain =
            !name.contains("big") && !name.ends_with("version_2") && !name.ends_with("_3");
        is_plain && !contains(&fixture.file, b"'fortran_order': True")
    };
    let fixtures = fixtures();
    let mut count = 0;
    for fixture in fixtures.iter().filter(is_plain) {
        let mut file = Vec::new();
        write_npy_to(&mut file, &fixture.array_type, &native(fixture)).unwrap();
        let expected = as_numpy_writes_here(fixture);
        let show = |file: &[u8]| String::from_utf8_lossy(file).into_owned();
        assert_eq!(show(&file), show(&expected), "{}", fixture.name);
        assert!(file == expected, "{}", fixture.name);
        count += 1;
    }
    assert_eq!(count + LARGE_FIXTURES, 60);
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[test]
fn files_are_replaced_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    fs::write(&path, "a longer file than the one that replaces it, ".repeat(10)).unwrap();
    let array_type = ArrayType::new(DType::U8, [3]);
    write_npy(&path, &array_type, &[1, 2, 3]).unwrap();
    let array = ArrayFile::open(&path).unwrap();
    assert_eq!((array.array_type(), array.bytes()), (&array_type, &[1, 2, 3][..]));
    write_text(&path, "text").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"text");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_is_open_may_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let array_type = ArrayType::new(DType::U8, [10_000]);
    write_npy(&path, &array_type, &[1; 10_000]).unwrap();
    let (read, old) = (ArrayFile::open(&path).unwrap(), mapped(&path).unwrap());
    write_npy(&path, &ArrayType::new(DType::U8, [1]), &[2]).unwrap();
    assert_eq!((read.bytes(), old.bytes()), (&[1; 10_000][..], &[1; 10_000][..]));
    assert!(old.is_unchanged());
    assert_eq!(ArrayFile::open(&path).unwrap().bytes(), [2]);
}

#[test]
fn wrong_elements_leave_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    fs::write(&path, "old").unwrap();
    let code = |array_type: ArrayType, elements: &[u8]| {
        let error = write_npy(&path, &array_type, elements).unwrap_err();
        assert!(error.to_string().contains("x.npy: "), "{error}");
        error.code()
    };
    let f32s = |shape: &[usize]| ArrayType::new(DType::F32, Shape::from(shape.to_vec()));
    assert_eq!(code(f32s(&[2]), &[0; 7]), "wrong-length");
    assert_eq!(code(f32s(&[2]), &[0; 9]), "wrong-length");
    assert_eq!(code(f32s(&[usize::MAX, 2]), &[]), "too-large");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn places_that_take_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let array_type = ArrayType::new(DType::U8, [1]);
    let missing = folder.path().join("missing/x.npy");
    assert_eq!(write_npy(&missing, &array_type, &[1]).unwrap_err().code(), "io");
    assert_eq!(write_npy(folder.path(), &array_type, &[1]).unwrap_err().code(), "not-a-file");
    assert_eq!(write_npy(Path::new(""), &array_type, &[1]).unwrap_err().code(), "io");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn paths_that_hold_no_array() {
    let folder = tempfile::tempdir().unwrap();
    let code = |path: &Path| ArrayFile::open(path).unwrap_err().code();
    assert_eq!(code(folder.path()), "not-a-file");
    assert_eq!(code(&folder.path().join("missing.npy")), "io");
    let empty = folder.path().join("empty.npy");
    fs::write(&empty, "").unwrap();
    assert_eq!(code(&empty), "not-npy");
    let below_a_file = empty.join("x.npy");
    assert_eq!(code(&below_a_file), "io");
}

#[test]
fn a_read_array_does_not_change_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    write_npy(&path, &ArrayType::new(DType::U8, [3]), &[1, 2, 3]).unwrap();
    let (read, mapped) = (ArrayFile::open(&path).unwrap(), mapped(&path).unwrap());
    assert_eq!((read.held_bytes(), mapped.held_bytes()), (3, 0));
    assert!(read.is_unchanged() && mapped.is_unchanged());
    fs::File::options().write(true).open(&path).unwrap().set_len(200).unwrap();
    assert!(read.is_unchanged() && !mapped.is_unchanged());
    fs::write(&path, "").unwrap();
    assert_eq!(read.bytes(), [1, 2, 3]);
    let error = ArrayFile::open_within(&data("npy_files.npz"), 10).unwrap_err();
    let expected = if cfg!(feature = "npz") { "member-not-named" } else { "not-npy" };
    assert_eq!(error.code(), expected);
    write_npy(&path, &ArrayType::new(DType::U8, [3]), &[1, 2, 3]).unwrap();
    assert_eq!(ArrayFile::open_within(&path, 2).unwrap_err().code(), "memory-limit");
}

#[test]
fn results_are_computed_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::U8, [3]).unwrap();
    let graph = b.finish(&[b.broadcast_in_dim(x, &[1], [20_000_000, 3]).unwrap()]).unwrap();
    let executable = compile(&graph, &CompileOptions::default()).unwrap();
    let array_type = &executable.outputs()[0];
    let mut file = OutputFile::create(&path).unwrap();
    match file.map_npy(array_type).unwrap() {
        Some(output) => {
            let x = ArrayView::from_slice([3], &[1u8, 2, 3]).unwrap();
            executable.run_into(&[x], &mut [output]).unwrap();
        }
        // On Linux the file systems on which tests run support mapping.
        None if cfg!(target_os = "linux") => panic!("it is mapped"),
        None => return,
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let mut written = 0;
    file.finish(&mut |bytes| written += bytes).unwrap();
    assert_eq!(written as u64, fs::metadata(&path).unwrap().len());
    let array = ArrayFile::open(&path).unwrap();
    assert_eq!(array.array_type(), array_type);
    assert!(array.bytes().chunks(3).all(|row| row == [1, 2, 3]));
}

#[test]
fn outputs_that_can_be_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let error = |path: &Path| OutputFile::create(path).unwrap_err();
    let told = error(folder.path());
    assert_eq!(told.code(), "not-a-file");
    assert!(told.to_string().contains("a folder; to write there name a file in it"), "{told}");
    assert_eq!(error(&folder.path().join("new/")).code(), "not-a-file");
    let told = error(&folder.path().join("no/file"));
    assert!(
        told.to_string()
            .ends_with(&format!("there is no folder {}", folder.path().join("no").display()))
    );
    let mut file = OutputFile::create(&folder.path().join("x.npy")).unwrap();
    // More bytes than any disk has; with words of 32 bits that number does not exist.
    if let Ok(size) = usize::try_from(1u64 << 60) {
        let error = file.map_npy(&ArrayType::new(DType::U8, [size]));
        assert!(error.map_or_else(|error| error.code() == "io", |file| file.is_none()));
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    use std::process::Command;

    use super::*;

    #[test]
    fn a_pipe_is_refused_without_waiting_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.npy");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = ArrayFile::open(&pipe).unwrap_err();
        assert_eq!(error.code(), "not-a-file");
        assert!(error.to_string().contains("pipe.npy: not a regular file"), "{error}");
    }

    #[test]
    fn a_pipe_is_written_to_and_stays_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| fs::read(&pipe).unwrap());
            write_text(&pipe, "text").unwrap();
            assert_eq!(reader.join().unwrap(), b"text");
        });
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }

    #[test]
    fn the_file_behind_a_link_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("x.npy"), folder.path().join("link.npy"));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        write_text(&link, "new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn the_file_behind_a_link_to_nothing_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let (far, near) = (folder.path().join("far"), folder.path().join("near"));
        symlink("far", &near).unwrap();
        symlink("new", &far).unwrap();
        write_text(&near, "text").unwrap();
        assert_eq!(fs::read(folder.path().join("new")).unwrap(), b"text");
        assert!(fs::symlink_metadata(&near).unwrap().is_symlink());
        assert!(fs::symlink_metadata(&far).unwrap().is_symlink());
        let round = folder.path().join("round");
        symlink("round", &round).unwrap();
        assert_eq!(write_text(&round, "text").unwrap_err().code(), "io");
    }

    #[test]
    fn a_new_file_has_the_owner_of_the_old() {
        use std::os::unix::fs::{MetadataExt, chown};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("theirs");
        write_text(&path, "old").unwrap();
        // Only the superuser can change the owner of a file.
        if chown(&path, Some(1234), Some(4321)).is_ok() {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o6755)).unwrap();
            write_text(&path, "new").unwrap();
            let new = fs::metadata(&path).unwrap();
            assert_eq!((new.uid(), new.gid(), new.mode() & 0o7777), (1234, 4321, 0o6755));
            assert_eq!(fs::read(&path).unwrap(), b"new");
        }
    }

    #[test]
    fn a_new_file_has_the_permissions_of_the_old() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("private");
        write_text(&path, "old").unwrap();
        for mode in [0o600, 0o666, 0o640] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            write_text(&path, "new").unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        }
    }

    #[test]
    fn a_file_that_may_not_be_written_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        write_text(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        // The superuser can write to it nevertheless.
        let may_write = fs::OpenOptions::new().write(true).open(&path).is_ok();
        assert_eq!(write_text(&path, "new").is_ok(), may_write);
        assert_eq!(fs::read(&path).unwrap(), if may_write { b"new" } else { b"old" });
    }

    #[test]
    fn an_unreadable_file_is_an_error_of_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        write_npy(&path, &ArrayType::new(DType::U8, [1]), &[1]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        // The superuser can read it nevertheless.
        match fs::read(&path) {
            Ok(_) => assert!(ArrayFile::open(&path).is_ok()),
            Err(_) => assert_eq!(ArrayFile::open(&path).unwrap_err().code(), "io"),
        }
    }
}
