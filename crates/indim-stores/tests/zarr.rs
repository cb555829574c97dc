//! Zarr arrays: those of zarr-python are read, and written ones are read back.

mod samples;

use std::fs;
use std::path::Path;

use indim_arrays::{Array, ArrayError};
use indim_ops::{ArrayType, DType};
use indim_shape::Shape;
use indim_stores::zarr::{ZarrArray, ZarrOptions, ZarrSink, is_zarr};
use indim_stores::{ArrayRegion, Sink, Source, StoreError};
use samples::{Samples, assert_holds, read_by_pieces};

fn open(path: &Path) -> Result<ZarrArray, StoreError> {
    ZarrArray::open(path, usize::MAX)
}

#[test]
fn arrays_of_either_version_and_every_codec_are_what_zarr_python_reads() {
    let samples = Samples::unpack("zarr");
    let mut read = 0;
    for (path, npy) in samples.pairs("zarr") {
        if !path.to_string_lossy().contains("group") {
            let source = open(&path).unwrap_or_else(|error| panic!("{error}"));
            assert_holds(&source, &npy, &path);
            read += 1;
        }
    }
    assert!(read >= 50, "{read} samples were read");
}

/// Chunks are opened when they are read, so they can be those of an array that replaced the opened one.
#[test]
fn an_array_that_is_replaced_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    let array_type = ArrayType::new(DType::U8, [4]);
    let replace = || {
        let mut sink = ZarrSink::create(&path, &array_type, &ZarrOptions::default()).unwrap();
        let array = Array::new([4], vec![1u8, 2, 3, 4]).unwrap();
        sink.write(&ArrayRegion::whole(&array_type.shape), &array).unwrap();
        Box::new(sink).finish().unwrap();
    };
    for document in ["zarr.json", ".zarray"] {
        replace();
        if document == ".zarray" {
            fs::remove_file(path.join("zarr.json")).unwrap();
            let metadata = r#"{"zarr_format":2,"shape":[4],"chunks":[4],"dtype":"|u1","fill_value":7,
                "order":"C","compressor":null,"filters":null}"#;
            fs::write(path.join(document), metadata).unwrap();
        }
        let source = open(&path).unwrap();
        assert!(
            source.read(&ArrayRegion::new([0], [4])).is_ok() && source.check_unchanged().is_ok()
        );
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10);
        fs::File::options()
            .append(true)
            .open(path.join(document))
            .and_then(|file| file.set_modified(later))
            .unwrap();
        let error = source.check_unchanged().unwrap_err();
        assert_eq!(error.code(), "file-changed", "{document}: {error}");
    }
    replace();
    let source = open(&path).unwrap();
    fs::remove_dir_all(&path).unwrap();
    assert_eq!(source.check_unchanged().unwrap_err().code(), "file-changed");
}

#[test]
fn arrays_in_groups_have_names_and_remarks() {
    let samples = Samples::unpack("zarr");
    for version in ["v2", "v3"] {
        let group = samples.path(&format!("zarr/group-{version}"));
        let source = open(&group.join("climate/temperature")).unwrap();
        assert_holds(&source, &samples.path(&format!("zarr/group-{version}.npy")), &group);
        assert_eq!(source.axis_names(), Some(&["time".to_owned(), "y".to_owned()][..]));
        let remarks = source.remarks();
        assert_eq!(
            remarks,
            [
                "its attributes scale_factor, add_offset, _FillValue are not applied; `where(x == -9999, \
              f32(nan), f32(x) * f32(0.01) + f32(273.15))` does, with its name for x"
            ]
        );
        assert!(is_zarr(&group));
        let error = open(&group).unwrap_err().diagnostic().to_string();
        assert!(error.contains("[zarr-group]") && error.contains("there are climate"), "{error}");
        let error = open(&group.join("climate")).unwrap_err().diagnostic().to_string();
        assert!(error.contains("climate/temperature"), "{error}");
        // A misspelt name.
        let error = open(&group.join("climate/temprature")).unwrap_err().diagnostic().to_string();
        assert!(error.contains("[zarr-group]") && error.contains("climate/temperature"), "{error}");
        assert_eq!(open(&group.join("nowhere/temperature")).unwrap_err().code(), "io");
    }
}

#[test]
fn what_is_no_array_of_numbers_is_refused_by_name() {
    let samples = Samples::unpack("zarr");
    let error = open(&samples.path("zarr/v3-string")).unwrap_err();
    assert_eq!(error.code(), "unknown-element-type", "{error}");
    assert_eq!(open(&samples.path("zarr")).unwrap_err().code(), "not-zarr");
    assert_eq!(open(&samples.path("nothing")).unwrap_err().code(), "io");
    let limited = ZarrArray::open(&samples.path("zarr/v2-blosc-blocks"), 1000).unwrap_err();
    assert_eq!(limited.code(), "memory-limit", "{limited}");
}

#[test]
fn options_are_one_for_each_axis() {
    let folder = tempfile::tempdir().unwrap();
    let array_type = ArrayType::new(DType::F32, [4, 6]);
    let chunks = ZarrOptions::new().chunks([2]);
    let axis_names = ["row".to_owned()];
    for options in [chunks, ZarrOptions::new().axis_names(axis_names)] {
        let path = folder.path().join("x.zarr");
        let error = ZarrSink::create(&path, &array_type, &options).unwrap_err();
        assert_eq!(error.code(), "wrong-options", "{error}");
    }
}

/// The numbers from 1 on as an array; no element is the fill value.
fn counted(array_type: &ArrayType) -> Array {
    let size = array_type.dtype.size();
    let write = |bytes: &mut [u8]| {
        for (index, element) in bytes.chunks_exact_mut(size).enumerate() {
            element[0] =
                u8::from(array_type.dtype == DType::Bool || index > 0) * (index % 250 + 1) as u8;
        }
        Ok::<(), ArrayError>(())
    };
    Array::filled(array_type.clone(), write).unwrap()
}

fn write(path: &Path, array: &Array, options: &ZarrOptions) -> Result<(), StoreError> {
    let mut sink: Box<dyn Sink> = Box::new(ZarrSink::create(path, array.array_type(), options)?);
    let source = indim_stores::MemorySource::new(array.to_row_major().unwrap()).unwrap();
    let steps = sink.chunks().unwrap().to_vec();
    for region in ArrayRegion::grid(&array.array_type().shape, &steps) {
        sink.write(&region, &source.read(&region)?)?;
    }
    sink.finish()
}

#[test]
fn what_is_written_is_read_back_for_every_element_type_and_chunk() {
    let folder = tempfile::tempdir().unwrap();
    for &dtype in DType::ALL {
        if dtype.is_storage() {
            let array = counted(&ArrayType::new(dtype, [5, 7]));
            let error = write(&folder.path().join("x.zarr"), &array, &ZarrOptions::new());
            assert_eq!(error.unwrap_err().code(), "element-type-not-in-format");
            continue;
        }
        for (index, chunks) in
            [None, Some(vec![2, 3]), Some(vec![5, 7]), Some(vec![10, 1])].into_iter().enumerate()
        {
            let path = folder.path().join(format!("{}-{index}.zarr", dtype.name()));
            let array = counted(&ArrayType::new(dtype, [5, 7]));
            let axis_names = ["y".to_owned(), String::new()];
            let options = ZarrOptions::new().axis_names(axis_names.clone());
            let options = chunks.into_iter().fold(options, ZarrOptions::chunks);
            write(&path, &array, &options).unwrap();
            let source = open(&path).unwrap();
            assert_eq!(source.array_type(), array.array_type());
            assert_eq!(source.axis_names(), Some(&axis_names[..]));
            assert_eq!(read_by_pieces(&source), array.bytes(), "{}", path.display());
        }
    }
    for shape in [Shape::scalar(), Shape::from([0, 3]), Shape::from([3])] {
        let path = folder.path().join(format!("shape-{}.zarr", shape.rank()));
        let array = counted(&ArrayType::new(DType::F64, shape));
        write(&path, &array, &ZarrOptions::default()).unwrap();
        assert_eq!(read_by_pieces(&open(&path).unwrap()), array.bytes());
    }
    let hidden = fs::read_dir(folder.path()).unwrap();
    assert!(hidden.flatten().all(|entry| !entry.file_name().to_string_lossy().starts_with('.')));
}

#[test]
fn results_appear_whole_or_not_at_all_and_replace_arrays_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    let array = counted(&ArrayType::new(DType::U8, [4]));
    let options = ZarrOptions::default();
    write(&path, &array, &options).unwrap();
    let longer = counted(&ArrayType::new(DType::U8, [6]));

    let sink = ZarrSink::create(&path, longer.array_type(), &options).unwrap();
    assert_eq!(Box::new(sink).finish().unwrap_err().code(), "incomplete");
    assert_eq!(open(&path).unwrap().array_type().shape, Shape::from([4]));
    write(&path, &longer, &options).unwrap();
    assert_eq!(open(&path).unwrap().array_type().shape, Shape::from([6]));

    let group = folder.path().join("g.zarr");
    write(&group.join("low"), &array, &options).unwrap();
    write(&group.join("high"), &longer, &options).unwrap();
    write(&group.join("low"), &longer, &options).unwrap();
    assert_eq!(open(&group.join("low")).unwrap().array_type().shape, Shape::from([6]));
    assert_eq!(open(&group.join("high")).unwrap().array_type().shape, Shape::from([6]));
    assert_eq!(write(&group, &array, &options).unwrap_err().code(), "zarr-in-place");
    let other = folder.path().join("other.zarr");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("notes.txt"), "mine").unwrap();
    assert_eq!(write(&other, &array, &options).unwrap_err().code(), "zarr-in-place");
    assert_eq!(write(&folder.path().join("no/x.zarr"), &array, &options).unwrap_err().code(), "io");
    assert_eq!(write(&path.join("a/b"), &array, &options).unwrap_err().code(), "zarr-in-place");
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["g.zarr", "other.zarr", "x.zarr"]);
}

/// A symbolic link stays; its target is replaced.
#[test]
#[cfg(unix)]
fn links_to_arrays_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let [real, link, dangling] =
        ["real.zarr", "link.zarr", "no.zarr"].map(|it| folder.path().join(it));
    let options = ZarrOptions::default();
    let [four, six] = [4, 6].map(|length| counted(&ArrayType::new(DType::U8, [length])));
    write(&real, &four, &options).unwrap();
    std::os::unix::fs::symlink("real.zarr", &link).unwrap();
    write(&link, &six, &options).unwrap();
    assert_eq!(read_by_pieces(&open(&real).unwrap()), six.bytes());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    std::os::unix::fs::symlink("nothing.zarr", &dangling).unwrap();
    let error = write(&dangling, &six, &options).unwrap_err();
    assert!(error.to_string().contains("a link that leads nowhere"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

/// Missing groups are created together with the array, also by several sinks at once.
#[test]
fn groups_around_a_result_are_made_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let names = |path: &Path| {
        let mut names: Vec<_> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let array = counted(&ArrayType::new(DType::U8, [4]));
    let root = folder.path().join("x.zarr");
    let paths = ["a/b/low", "a/b/high", "a/wide", "c/d.zarr/e", "top"].map(|name| root.join(name));
    // All sinks are created before any is complete.
    let begin = |path: &Path| -> Box<dyn Sink> {
        Box::new(ZarrSink::create(path, array.array_type(), &ZarrOptions::default()).unwrap())
    };
    drop(begin(&paths[0]));
    assert_eq!(names(folder.path()), [""; 0]);
    let mut sinks = paths.each_ref().map(|path| begin(path));
    assert_eq!(names(folder.path()).len(), 5);
    for sink in &mut sinks {
        sink.write(&ArrayRegion::whole(&array.array_type().shape), &array).unwrap();
    }
    sinks.into_iter().for_each(|sink| sink.finish().unwrap());
    assert_eq!(names(folder.path()), ["x.zarr"]);
    assert_eq!(names(&root), ["a", "c", "top", "zarr.json"]);
    assert_eq!(names(&root.join("a/b")), ["high", "low", "zarr.json"]);
    for path in &paths {
        assert_eq!(read_by_pieces(&open(path).unwrap()), array.bytes(), "{}", path.display());
    }
    // Later sinks use the existing groups, and create a new one in them.
    write(&root.join("a/new/x"), &array, &ZarrOptions::default()).unwrap();
    assert_eq!(names(&root.join("a")), ["b", "new", "wide", "zarr.json"]);
    for bad in [root.join("a/../../y.zarr/b/c"), root.join("__b/c"), root.join("top/c")] {
        let error = write(&bad, &array, &ZarrOptions::default()).unwrap_err();
        assert_eq!(error.code(), "zarr-in-place", "{error}");
    }
    // A folder that must become a group is an array by now.
    let paths = ["n", "n/below"].map(|name| folder.path().join("y.zarr").join(name));
    let mut sinks = paths.each_ref().map(|path| begin(path));
    for sink in &mut sinks {
        sink.write(&ArrayRegion::whole(&array.array_type().shape), &array).unwrap();
    }
    let [put, refused] = sinks.map(|sink| sink.finish());
    assert!(put.is_ok());
    assert_eq!(refused.unwrap_err().code(), "zarr-in-place");
    assert!(!paths[1].exists());
    // The root has consolidated metadata, which would lack the new array.
    fs::write(
        root.join("zarr.json"),
        r#"{"zarr_format":3,"node_type":"group","consolidated_metadata":{"kind":"inline"}}"#,
    )
    .unwrap();
    let error = write(&root.join("a/b/c"), &array, &ZarrOptions::default()).unwrap_err();
    assert_eq!(error.code(), "zarr-in-place", "{error}");
}
