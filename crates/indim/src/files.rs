//! Arrays in files and folders: `.npy`, and, with features of their names, `.npz`, `.safetensors`, Zarr, PNG,
//! TIFF and columns of CSV.
//!
//! [`open`] takes the names of the command line, such as `x.npy`, `arrays.npz:x`, `climate.zarr/temperature`
//! or `table.csv:height`. [`create`] creates a result in the format of its name. [`ArrayFile`] reads or maps
//! a `.npy` file as a whole. `docs/files.md` lists the element types and shapes of each format.
//!
//! ```
//! use indim::files::{ArrayFile, ResultMetadata, create, open, read_whole, write_npy, write_whole};
//! use indim::{ArrayType, DType, evaluate};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("x.npy");
//! write_npy(&path, &ArrayType::new(DType::U8, [2, 2]), &[1, 2, 3, 4])?;
//! let x = ArrayFile::open(&path)?;
//! let doubled = evaluate("x * 2", [("x", x.view())])?;
//!
//! let result = folder.path().join("y.npy"); // or y.zarr, y.png, y.tif
//! let mut sink = create(&result, doubled.array_type(), &ResultMetadata::default())?;
//! write_whole(&mut *sink, &doubled)?;
//! sink.finish()?;
//!
//! let source = open(result.to_str().unwrap(), usize::MAX).expect("an ending that is known")?;
//! assert_eq!(read_whole(&*source)?.elements(), Ok(&[2u8, 4, 6, 8][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[doc(inline)]
pub use indim_stores::*;
