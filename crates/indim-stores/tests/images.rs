//! Images and grids: files of other packages are read, and written files are read back.

mod samples;

use std::path::Path;

use indim_arrays::{Array, ArrayError};
use indim_ops::{ArrayType, DType};
use indim_stores::png::{PngFile, PngSink};
use indim_stores::tiff::{TiffFile, TiffSink};
use indim_stores::{ArrayRegion, MemorySource, OutputFile, Sink, Source, StoreError};
use samples::{Samples, assert_holds, read_by_pieces};

#[test]
fn pictures_of_every_kind_are_what_pillow_wrote() {
    let samples = Samples::unpack("png");
    let pairs = samples.pairs("png");
    assert_eq!(pairs.len(), 7);
    for (path, npy) in pairs {
        assert_holds(&PngFile::open(&path, usize::MAX).unwrap(), &npy, &path);
    }
}

#[test]
fn grids_of_every_kind_are_what_tifffile_and_rasterio_wrote() {
    let samples = Samples::unpack("tiff");
    let pairs = samples.pairs("tiff");
    assert!(pairs.len() > 20);
    for (path, npy) in pairs {
        if path.ends_with("zstd.tif") && cfg!(not(feature = "zarr")) {
            continue;
        }
        let page = path.ends_with("pages.tif").then_some(1);
        let source = TiffFile::open(&path, page, usize::MAX).unwrap_or_else(|e| panic!("{e}"));
        assert_holds(&source, &npy, &path);
    }
    let pages = samples.path("tiff/pages.tif");
    assert_eq!(TiffFile::open(&pages, None, usize::MAX).unwrap_err().code(), "several-pages");
    assert_eq!(TiffFile::open(&pages, Some(3), usize::MAX).unwrap_err().code(), "no-page");
    // A file with that many pages must not give another page.
    let error = TiffFile::open(&pages, Some((1 << 16) + 1), usize::MAX).unwrap_err();
    assert!(error.code() == "no-page" && error.to_string().contains("not read"), "{error}");
}

#[test]
fn what_takes_more_memory_than_there_is_is_refused_before_it_is_decoded() {
    let samples = Samples::unpack("");
    let error = PngFile::open(&samples.path("png/RGB.png"), 89).unwrap_err();
    assert_eq!(error.code(), "memory-limit", "{error}");
    let error = TiffFile::open(&samples.path("tiff/tiles.tif"), None, 100).unwrap_err();
    assert_eq!(error.code(), "memory-limit", "{error}");
}

/// The library `png` panics on such palettes.
#[test]
fn a_palette_that_ends_within_a_colour_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.png");
    let write = |palette: Vec<u8>| {
        let mut encoder = png::Encoder::new(std::fs::File::create(&path).unwrap(), 2, 1);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(palette);
        encoder.write_header().unwrap().write_image_data(&[0, 1]).unwrap();
    };
    for length in [4, 49, 766] {
        write(vec![7; length]);
        let error = PngFile::open(&path, usize::MAX).unwrap_err();
        assert_eq!(error.code(), "bad-png", "{error}");
        assert!(error.to_string().contains(&format!("palette of {length} bytes")), "{error}");
    }
    write(vec![7; 6]);
    let image = PngFile::open(&path, usize::MAX).unwrap();
    let row = image.read(&ArrayRegion::whole(&image.array_type().shape)).unwrap();
    assert_eq!(row.bytes(), [7; 6]);
}

/// An array whose neighbouring elements differ.
/// Fax compression stores pixels of 1 bit, which are no elements.
#[test]
fn fax_compression_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tif");
    for (compression, name) in [(2, "modified Huffman"), (3, "group 3"), (4, "group 4")] {
        for bits in [1, 8] {
            let offset = 8 + 2 + 9 * 12 + 4;
            let tags = [(256, 8), (257, 1), (258, bits), (259, compression), (262, 1)];
            let strip = [(273, offset), (277, 1), (278, 1), (279, 8)];
            let mut file = b"II*\0\x08\0\0\0\x09\0".to_vec();
            for (tag, value) in tags.into_iter().chain(strip) {
                file.extend(u16::to_le_bytes(tag));
                file.extend([4, 0, 1, 0, 0, 0]);
                file.extend(u32::to_le_bytes(value));
            }
            file.extend([0; 4 + 8]);
            std::fs::write(&path, file).unwrap();
            let error = TiffFile::open(&path, None, usize::MAX).unwrap_err();
            assert_eq!(error.code(), "bad-tiff", "{error}");
            assert!(error.to_string().contains("fax compression"), "{error}");
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}

fn counted(array_type: &ArrayType) -> Array {
    Array::filled(array_type.clone(), |bytes| {
        bytes.iter_mut().enumerate().for_each(|(index, byte)| *byte = (index * 37 % 251) as u8);
        Ok::<(), ArrayError>(())
    })
    .unwrap()
}

/// Writes an array strip by strip.
fn write(mut sink: Box<dyn Sink>, array: Array) -> Result<(), StoreError> {
    let source = MemorySource::new(array).unwrap();
    let steps = sink.chunks().unwrap().to_vec();
    for region in ArrayRegion::grid(&source.array_type().shape, &steps) {
        sink.write(&region, &source.read(&region)?)?;
    }
    sink.finish()
}

fn png_sink(path: &Path, array_type: &ArrayType) -> Result<Box<dyn Sink>, StoreError> {
    Ok(Box::new(PngSink::create(OutputFile::create(path).unwrap(), array_type)?))
}

fn tiff(path: &Path, array_type: &ArrayType) -> Result<Box<dyn Sink>, StoreError> {
    Ok(Box::new(TiffSink::create(OutputFile::create(path).unwrap(), array_type, None)?))
}

/// An open image is that of the file that was opened: another file under its name is not read, and a change
/// of the file itself is noticed.
#[test]
fn an_open_image_does_not_become_that_of_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let array_type = ArrayType::new(DType::U8, [40, 50]);
    let (old, zeros) = (counted(&array_type), vec![0; 2000]);
    let new = Array::filled(array_type.clone(), |bytes| {
        bytes.copy_from_slice(&zeros);
        Ok::<(), ArrayError>(())
    });
    let new = new.unwrap();
    type Format = (
        &'static str,
        fn(&Path, &ArrayType) -> Result<Box<dyn Sink>, StoreError>,
        fn(&Path) -> Result<Box<dyn Source>, StoreError>,
    );
    let formats: [Format; 2] = [
        ("x.png", png_sink, |path| Ok(Box::new(PngFile::open(path, usize::MAX)?))),
        ("x.tif", tiff, |path| Ok(Box::new(TiffFile::open(path, None, usize::MAX)?))),
    ];
    for (name, create, open) in formats {
        let [path, other] =
            ["", "other-"].map(|prefix| folder.path().join(prefix.to_owned() + name));
        write(create(&path, &array_type).unwrap(), counted(&array_type)).unwrap();
        write(create(&other, &array_type).unwrap(), new.clone()).unwrap();
        let source = open(&path).unwrap();
        let first_rows = ArrayRegion::new([0, 0], [2, 50]);
        source.read(&first_rows).unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(source.read(&first_rows).unwrap().bytes(), &old.bytes()[..100], "{name}");
        assert_eq!(read_by_pieces(&*source), old.bytes(), "{name}");
        assert!(source.check_unchanged().is_ok(), "{name}");

        let source = open(&path).unwrap();
        assert_eq!(source.read(&first_rows).unwrap().bytes(), &zeros[..100], "{name}");
        let file = std::fs::File::options().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut &file, b"more").unwrap();
        assert_eq!(source.check_unchanged().unwrap_err().code(), "file-changed", "{name}");
    }
}

#[test]
fn pictures_that_are_written_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.png");
    for dtype in [DType::U8, DType::U16] {
        for shape in [vec![3, 4], vec![3, 4, 1], vec![3, 4, 2], vec![3, 4, 3], vec![700, 900, 4]] {
            let array_type = ArrayType::new(dtype, shape);
            let array = counted(&array_type);
            write(png_sink(&path, &array_type).unwrap(), counted(&array_type)).unwrap();
            let read = PngFile::open(&path, usize::MAX).unwrap();
            assert_eq!(read_by_pieces(&read), array.bytes(), "{array_type}");
        }
    }
    for (dtype, shape) in
        [(DType::F32, vec![3, 4]), (DType::U8, vec![3]), (DType::U8, vec![3, 4, 5])]
    {
        let error = png_sink(&path, &ArrayType::new(dtype, shape)).unwrap_err();
        assert_eq!(error.code(), "not-an-image");
    }
}

#[test]
fn grids_that_are_written_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tif");
    for &dtype in DType::ALL {
        for shape in
            [vec![3, 4], vec![3, 4, 3], vec![3, 4, 4], vec![5, 3, 7], vec![1, 1], vec![700, 900]]
        {
            let array_type = ArrayType::new(dtype, shape);
            let array = counted(&array_type);
            let sink = match tiff(&path, &array_type) {
                Ok(sink) => sink,
                Err(error) => {
                    let refused =
                        matches!(dtype, DType::Bool | DType::Bf16 | DType::C64 | DType::C128)
                            || dtype.is_storage();
                    assert!(refused && error.code() == "not-an-image", "{error}");
                    continue;
                }
            };
            write(sink, counted(&array_type)).unwrap();
            let read = TiffFile::open(&path, None, usize::MAX).unwrap();
            assert_eq!(read.array_type(), &array_type);
            assert_eq!(read_by_pieces(&read), array.bytes(), "{array_type}");
        }
    }
    for shape in [vec![3], vec![0, 3], vec![1, 2, 3, 4]] {
        assert_eq!(
            tiff(&path, &ArrayType::new(DType::U8, shape)).unwrap_err().code(),
            "not-an-image"
        );
    }
}

#[test]
fn the_tags_of_geotiff_go_from_a_file_to_a_result_of_its_size() {
    let samples = Samples::unpack("tiff");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ndvi.tif");
    let source = TiffFile::open(&samples.path("tiff/geo.tif"), None, usize::MAX).unwrap();
    assert!(!source.geography().unwrap().is_empty());
    let copy = |shape: [usize; 2]| {
        let array_type = ArrayType::new(DType::F32, shape);
        let sink =
            TiffSink::create(OutputFile::create(&path).unwrap(), &array_type, source.geography());
        write(Box::new(sink.unwrap()), counted(&array_type)).unwrap();
        TiffFile::open(&path, None, usize::MAX).unwrap()
    };
    assert_eq!(copy([6, 5]).geography(), source.geography());
    assert!(copy([5, 6]).geography().unwrap().is_empty());
}

#[test]
fn rows_out_of_order_and_missing_rows_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let array_type = ArrayType::new(DType::U8, [2, 3]);
    let row = || counted(&ArrayType::new(DType::U8, [1, 3]));
    for create in [png_sink, tiff] {
        let mut sink = create(&path, &array_type).unwrap();
        let error = sink.write(&ArrayRegion::new([1, 0], [1, 3]), &row()).unwrap_err();
        assert_eq!(error.code(), "wrong-order");
        sink.write(&ArrayRegion::new([0, 0], [1, 3]), &row()).unwrap();
        assert_eq!(sink.finish().unwrap_err().code(), "incomplete");
        assert!(!path.exists());
    }
}
