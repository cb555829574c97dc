//! Files that indim writes are read back by zarr-python, xarray, Pillow, tifffile and rasterio.
//!
//! The tests run if `INDIM_STORES_PYTHON` names a Python with these packages (`requirements-test.txt`);
//! `cargo xtask stores` makes one.

mod samples;

use std::fs;
use std::path::Path;
use std::process::Command;

use indim_arrays::{Array, ArrayError};
use indim_ops::{ArrayType, DType};
use indim_stores::png::PngSink;
use indim_stores::tiff::{TiffFile, TiffSink};
use indim_stores::zarr::{ZarrOptions, ZarrSink};
use indim_stores::{ArrayRegion, Geography, MemorySource, OutputFile, Sink, Source};
use samples::Samples;

/// Small numbers that every element type represents.
fn counted(array_type: &ArrayType) -> Array {
    let element = |index: usize| -> Vec<u8> {
        let number = (index % 120) as u8;
        match array_type.dtype {
            DType::F32 => f32::from(number).to_ne_bytes().to_vec(),
            DType::F64 => f64::from(number).to_ne_bytes().to_vec(),
            DType::Bool => vec![number & 1],
            dtype => {
                let mut bytes = vec![0; dtype.size()];
                let low = if cfg!(target_endian = "little") { 0 } else { dtype.size() - 1 };
                bytes[low] = number;
                bytes
            }
        }
    };
    Array::filled(array_type.clone(), |bytes| {
        let places = bytes.chunks_exact_mut(array_type.dtype.size());
        places.enumerate().for_each(|(index, place)| place.copy_from_slice(&element(index)));
        Ok::<(), ArrayError>(())
    })
    .unwrap()
}

fn write(mut sink: Box<dyn Sink>) {
    let source = MemorySource::new(counted(sink.array_type())).unwrap();
    let steps = sink.chunks().unwrap().to_vec();
    for region in ArrayRegion::grid(&source.array_type().shape, &steps) {
        sink.write(&region, &source.read(&region).unwrap()).unwrap();
    }
    sink.finish().unwrap();
}

const TYPES: [DType; 11] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F32,
    DType::F64,
];

fn write_zarr(folder: &Path) {
    for dtype in TYPES {
        let array_type = ArrayType::new(dtype, [5, 7]);
        let options =
            ZarrOptions::new().chunks([2, 3]).axis_names(["y".to_owned(), "x".to_owned()]);
        let path = folder.join("all.zarr").join(dtype.name());
        write(Box::new(ZarrSink::create(&path, &array_type, &options).unwrap()));
    }
    let array_type = ArrayType::new(DType::F32, [300, 400]);
    let sink = ZarrSink::create(&folder.join("root.zarr"), &array_type, &ZarrOptions::default());
    write(Box::new(sink.unwrap()));
}

fn write_pictures(folder: &Path, geography: &Geography) {
    for dtype in [DType::U8, DType::U16] {
        for channels in 1..=4 {
            if dtype == DType::U16 && channels > 1 {
                // Pillow reads 16-bit images only in grey.
                continue;
            }
            let shape = if channels == 1 { vec![6, 5] } else { vec![6, 5, channels] };
            let path = folder.join(format!("{}-{channels}.png", dtype.name()));
            let sink =
                PngSink::create(OutputFile::create(&path).unwrap(), &ArrayType::new(dtype, shape));
            write(Box::new(sink.unwrap()));
        }
    }
    for dtype in TYPES.into_iter().filter(|&dtype| dtype != DType::Bool) {
        for shape in [vec![6, 5], vec![6, 5, 3], vec![6, 5, 4], vec![6, 5, 7], vec![1500, 400]] {
            let name = shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
            let path = folder.join(format!("{}-{name}.tif", dtype.name()));
            let array_type = ArrayType::new(dtype, shape);
            let sink =
                TiffSink::create(OutputFile::create(&path).unwrap(), &array_type, Some(geography));
            write(Box::new(sink.unwrap()));
        }
    }
}

#[test]
fn others_read_what_is_written() {
    let Ok(interpreter) = std::env::var("INDIM_STORES_PYTHON") else {
        eprintln!("NOT TESTED: what others read of what is written; `cargo xtask stores` does");
        return;
    };
    let samples = Samples::unpack("tiff");
    let geo = TiffFile::open(&samples.path("tiff/geo.tif"), None, usize::MAX).unwrap();
    let folder = tempfile::tempdir().unwrap();
    write_zarr(folder.path());
    write_pictures(folder.path(), geo.geography().unwrap());
    fs::copy(samples.path("tiff/geo.tif"), folder.path().join("original-geo")).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/read_back.py");
    let output = Command::new(interpreter).arg(script).arg(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("read 67 arrays"), "{said}");
}
