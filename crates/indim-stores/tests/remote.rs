//! Arrays on a web server: they are what the same files are in a folder, by few requests.

mod samples;
#[path = "../../indim-remote/tests/server/mod.rs"]
mod server;

use std::time::Duration;

use indim_ops::{ArrayType, DType};
use indim_stores::zarr::{ZarrOptions, ZarrSink};
use indim_stores::{
    ArrayRegion, ResultMetadata, Sink, Source, StoreError, create, open, write_npy,
};
use samples::{Samples, assert_holds};
use server::{Fault, Server};

fn source(server: &Server, path: &str) -> Result<Box<dyn Source>, StoreError> {
    open(&format!("{}{path}", server.address()), 1 << 30).unwrap()
}

/// The paths of requests, without those that the server answered by 404.
fn requested(server: &Server) -> Vec<String> {
    let paths = server.take_requests().into_iter().map(|request| request.path);
    let mut paths: Vec<String> = paths.filter(|path| server.object(path).is_some()).collect();
    paths.sort();
    paths
}

/// An array of `u8[steps, 10]` with one chunk for each step, whose elements are not zero.
fn put_steps(server: &Server, path: &str, steps: usize) {
    let folder = tempfile::tempdir().unwrap();
    let local = folder.path().join("x.zarr");
    let array_type = ArrayType::new(DType::U8, [steps, 10]);
    let mut sink =
        ZarrSink::create(&local, &array_type, &ZarrOptions::new().chunks([1, 10])).unwrap();
    for step in 0..steps {
        let elements = vec![1 + step as u8; 10];
        let row = indim_arrays::Array::new([1, 10], elements).unwrap();
        sink.write(&ArrayRegion::new([step, 0], [1, 10]), &row).unwrap();
    }
    Box::new(sink).finish().unwrap();
    server.put_folder(path, &local);
}

#[test]
fn all_samples_of_zarr_are_what_they_are_in_a_folder() {
    let (samples, server) = (Samples::unpack("zarr"), Server::start());
    let mut read = 0;
    for (path, npy) in samples.pairs("zarr") {
        if path.to_string_lossy().contains("group") {
            continue;
        }
        let name = format!("/data/{}", path.file_name().unwrap().to_str().unwrap());
        server.put_folder(&name, &path);
        let array = source(&server, &name).unwrap_or_else(|error| panic!("{error}"));
        assert_holds(&*array, &npy, &path);
        array.check_unchanged().unwrap();
        read += 1;
    }
    assert!(read >= 50, "{read} samples were read");
}

#[test]
fn arrays_in_groups_and_consolidated_metadata() {
    let (samples, server) = (Samples::unpack("zarr"), Server::start());
    for (path, npy) in samples.pairs("zarr") {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.contains("group") {
            continue;
        }
        let root = format!("/{name}.zarr");
        server.put_folder(&root, &path);
        let array = format!("{root}/climate/temperature");
        assert_holds(&*source(&server, &array).unwrap(), &npy, &path);
        let error = source(&server, &format!("{root}/climate/pressure")).unwrap_err();
        assert!(["zarr-group", "not-zarr"].contains(&error.code()), "{error}");
        let consolidated = match name.contains("v2") {
            true => ".zmetadata",
            false => "zarr.json",
        };
        let has_list = String::from_utf8(server.object(&format!("{root}/{consolidated}")).unwrap());
        if !has_list.unwrap().contains("climate/temperature") {
            continue;
        }
        let error = source(&server, &root).unwrap_err();
        assert_eq!(error.code(), "zarr-group");
        let help = error.diagnostic().to_string();
        assert!(help.contains("climate/temperature"), "{help}");
        let error = source(&server, &format!("{root}/climate/pressure")).unwrap_err();
        assert!(error.diagnostic().to_string().contains("climate/temperature"), "{error}");
        // The list alone describes the array.
        for document in ["zarr.json", ".zarray", ".zattrs"] {
            server.remove(&format!("{array}/{document}"));
        }
        assert_holds(&*source(&server, &array).unwrap(), &npy, &path);
    }
}

/// A bucket answers 403 for objects that do not exist to those who may not list it.
#[test]
fn attributes_may_be_refused() {
    let server = Server::start();
    let array = r#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|u1", "compressor": null,
        "fill_value": 0, "order": "C", "filters": null}"#;
    server.put("/x/.zarray", array);
    server.put("/x/0", [1, 2]);
    let open = |zattrs| {
        server.fail("/x/zarr.json", Fault::Status(403), 1);
        server.fail("/x/.zattrs", Fault::Status(zattrs), 1);
        source(&server, "/x")
    };
    for status in [401, 403, 404] {
        let read = open(status).unwrap().read(&ArrayRegion::new([0], [2])).unwrap();
        assert_eq!(read.bytes(), [1, 2]);
    }
    // Another error may hide a scale factor.
    assert_eq!(open(400).unwrap_err().code(), "request-failed");
}

#[test]
fn opening_takes_one_round_trip_and_each_chunk_one_request() {
    let server = Server::start();
    put_steps(&server, "/x.zarr", 40);
    server.delay(Duration::from_millis(50));
    let array = source(&server, "/x.zarr").unwrap();
    assert_eq!(server.take_requests().len(), 3);
    assert_eq!(array.chunks(), Some(&[1, 10][..]));
    let whole = ArrayRegion::new([0, 0], [40, 10]);
    let elements = array.read(&whole).unwrap();
    assert_eq!(elements.elements::<u8>().unwrap()[390..], [40; 10]);
    let chunks: Vec<String> = requested(&server);
    assert_eq!(chunks.len(), 40);
    assert!(chunks.windows(2).all(|pair| pair[0] != pair[1]));
    let most = server.most_running();
    assert!((8..=32).contains(&most), "{most} requests at once");
    // Regions of one chunk each are read at once too.
    let steps: Vec<_> = ArrayRegion::grid(&[40, 10].into(), &[1, 10]).collect();
    let read = array.read_each(&steps).unwrap();
    assert!(read.iter().zip(1..).all(|(row, step)| row.bytes() == [step; 10]));
    assert_eq!(requested(&server).len(), 40);
}

#[test]
fn a_chunk_is_the_fill_value_only_if_it_does_not_exist() {
    let server = Server::start();
    put_steps(&server, "/x.zarr", 3);
    let array = source(&server, "/x.zarr").unwrap();
    let read = || array.read(&ArrayRegion::new([0, 0], [3, 10]));
    for fault in [Fault::Status(403), Fault::Status(500), Fault::Status(429), Fault::Cut] {
        server.fail("/x.zarr/c/1/0", fault, 99);
        let error = read().unwrap_err();
        assert_eq!(error.code(), "request-failed", "{error}");
        let message = error.to_string();
        assert!(message.contains("/x.zarr: the request for `c/1/0` failed"), "{message}");
    }
    server.fail("/x.zarr/c/1/0", Fault::Status(503), 2);
    assert_eq!(read().unwrap().elements::<u8>().unwrap()[10..20], [2; 10]);
    server.remove("/x.zarr/c/1/0");
    assert_eq!(read().unwrap().elements::<u8>().unwrap()[10..20], [0; 10]);
}

#[test]
fn an_array_that_changes_is_noticed() {
    let server = Server::start();
    put_steps(&server, "/x.zarr", 2);
    let array = source(&server, "/x.zarr").unwrap();
    array.check_unchanged().unwrap();
    put_steps(&server, "/x.zarr", 2);
    assert_eq!(array.check_unchanged().unwrap_err().code(), "file-changed");
}

#[test]
fn a_chunk_that_is_too_large_is_not_read() {
    let server = Server::start();
    put_steps(&server, "/x.zarr", 2);
    let array = source(&server, "/x.zarr").unwrap();
    server.put("/x.zarr/c/0/0", vec![0; 1 << 20]);
    let error = array.read(&ArrayRegion::new([0, 0], [2, 10])).unwrap_err();
    assert!(error.to_string().contains("1048576 bytes, of at most"), "{error}");
}

#[test]
fn the_index_of_a_shard_and_each_inner_chunk_take_one_request() {
    let (samples, server) = (Samples::unpack("zarr"), Server::start());
    let mut shards = 0;
    for (path, _) in samples.pairs("zarr") {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.contains("shard") {
            continue;
        }
        server.put_folder(&format!("/{name}"), &path);
        let array = source(&server, &format!("/{name}")).unwrap();
        server.take_requests();
        let region: Vec<usize> = array.array_type().shape.iter().map(|_| 1).collect();
        let first = ArrayRegion::new(vec![0; region.len()], region);
        array.read(&first).unwrap();
        let requests = server.take_requests();
        assert!(requests.len() <= 2, "{name}: {requests:?}");
        shards += 1;
    }
    assert!(shards > 0);
}

#[test]
fn npy_is_read_by_ranges() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::start());
    let path = folder.path().join("x.npy");
    let shape = [600, 50, 100];
    let bytes: Vec<u8> = (0..600 * 50 * 100 * 2).map(|index: usize| (index % 251) as u8).collect();
    write_npy(&path, &ArrayType::new(DType::U16, shape), &bytes).unwrap();
    server.put("/x.npy", std::fs::read(&path).unwrap());
    let array = source(&server, "/x.npy").unwrap();
    assert_eq!(array.array_type().to_string(), "u16[600, 50, 100]");
    assert_eq!(server.take_requests().len(), 1);
    let local = open(path.to_str().unwrap(), 1 << 30).unwrap().unwrap();
    let regions = [
        ([0, 0, 0], [600, 50, 100]),
        ([599, 49, 99], [1, 1, 1]),
        ([3, 1, 5], [500, 7, 20]),
        ([0, 0, 0], [0, 50, 100]),
        ([7, 0, 0], [2, 50, 100]),
    ];
    for (starts, extents) in regions {
        let region = ArrayRegion::new(starts, extents);
        assert_eq!(array.read(&region).unwrap().bytes(), local.read(&region).unwrap().bytes());
    }
    server.take_requests();
    array.read(&ArrayRegion::new([0, 0, 0], [600, 50, 1])).unwrap();
    let requests = server.take_requests();
    assert!(requests.len() <= 3, "runs with small gaps share a request: {}", requests.len());
    server.put("/x.npy", std::fs::read(&path).unwrap());
    let error = array.read(&ArrayRegion::new([500, 0, 0], [1, 1, 1])).unwrap_err();
    assert_eq!(error.code(), "file-changed");
    assert_eq!(source(&server, "/none.npy").unwrap_err().code(), "io");
    server.put("/short.npy", "no array");
    assert_eq!(source(&server, "/short.npy").unwrap_err().code(), "not-npy");
}

#[test]
fn other_formats_and_results_are_refused() {
    for name in ["https://host/x.npz:x", "s3://bucket/x.png", "s3://bucket/x.csv:a"] {
        assert_eq!(open(name, 1 << 20).unwrap().unwrap_err().code(), "remote-name");
    }
    let array_type = ArrayType::new(DType::U8, [1]);
    for name in ["https://u:HIDDEN@host/x.jpeg", "https://host/x.jpeg?sig=HIDDEN"] {
        let created = create(name.as_ref(), &array_type, &ResultMetadata::default());
        let error = created.unwrap_err();
        assert_eq!(error.code(), "unknown-format");
        assert!(!error.to_string().contains("HIDDEN"), "{error}");
    }
    let error = open("https://u:HIDDEN@host/x.zarr", 1 << 20).unwrap().unwrap_err();
    assert_eq!(error.code(), "remote-name");
    assert!(!error.to_string().contains("HIDDEN"), "{error}");
}
