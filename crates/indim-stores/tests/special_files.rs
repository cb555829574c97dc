//! Files that are not regular: pipes, on which a read can block for ever, and devices without an end.
#![cfg(unix)]

mod samples;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use indim_stores::{ArrayRegion, open};
use samples::Samples;

/// The error code of a read, which must end within seconds.
fn code(path: PathBuf) -> &'static str {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let read = open(path.to_str().unwrap(), 1 << 20).expect("a format").and_then(|source| {
            source.read(&ArrayRegion::whole(&source.array_type().shape)).map(drop)
        });
        let _ = sender.send(read.map_err(|error| error.code()));
    });
    receiver.recv_timeout(Duration::from_secs(60)).expect("an answer").unwrap_err()
}

fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn endless(path: &Path) {
    let _ = fs::remove_file(path);
    symlink("/dev/zero", path).unwrap();
}

#[test]
fn pipes_and_devices_are_refused_wherever_files_are_read() {
    let samples = Samples::unpack("");
    for array in ["v3-float32", "v3-sharded", "v2-int16"] {
        let path = samples.path("zarr").join(array);
        fs::rename(&path, path.with_extension("zarr")).unwrap();
    }
    let files = [
        ("zarr/v3-float32.zarr", "zarr.json", "not-a-file"),
        ("zarr/v3-float32.zarr", "c/0/0", "bad-zarr"),
        ("zarr/v3-sharded.zarr", "c/0/0", "bad-zarr"),
        ("zarr/v2-int16.zarr", ".zarray", "not-a-file"),
        ("zarr/v2-int16.zarr", ".zattrs", "not-a-file"),
        ("zarr/v2-int16.zarr", "0.0", "bad-zarr"),
        ("png/RGB.png", "", "not-a-file"),
        ("tiff/lzw.tif", "", "not-a-file"),
        ("table.csv", "", "not-a-file"),
    ];
    for make in [pipe, endless] {
        for (array, file, expected) in files {
            let path = samples.path(array);
            let special = if file.is_empty() { path.clone() } else { path.join(file) };
            let saved = fs::read(&special).ok();
            make(&special);
            assert_eq!(code(path), expected, "{array} {file}");
            fs::remove_file(&special).unwrap();
            if let Some(saved) = saved {
                fs::write(&special, saved).unwrap();
            }
        }
    }
}
