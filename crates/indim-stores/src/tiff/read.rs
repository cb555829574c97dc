//! Pages of TIFF files as sources, read by strips or tiles with the library `tiff`.

use std::io::Seek;
use std::path::Path;
use std::sync::Mutex;

use indim_arrays::{Array, ArrayError};
use indim_ops::{ArrayType, DType};
use indim_shape::{Diagnostic, ErrorCode};
use tiff::ColorType;
use tiff::decoder::{ChunkType, Decoder, Limits};
use tiff::tags::{PlanarConfiguration, SampleFormat, Tag};

use super::page_storage::{PageStorage, refuse_fax};
use super::patched_file::PatchedFile;
use super::zstd_page::{ChunkLayout, ZstdPage};
use super::{bad_tiff, geo, lists, tiff_error};
use crate::library_panics::catch_library_panic;
use crate::{ArrayRegion, Geography, MemoryLimitError, Source, StoreError, StoreErrorKind, image};
use indim_io::check_region;
use indim_io::copy::{BlockOrigin, copy_block};
use indim_io::open_file::OpenFile;
use indim_io::regular_file::open_file;
use indim_io::result_metadata::memory_limit_advice;

/// Maximum decoded bytes of a strip or tile.
const MAX_CHUNK_BYTES: usize = 1 << 31;
/// Maximum number of pages counted.
const MAX_PAGES: usize = 1 << 16;

type FileDecoder = Decoder<PatchedFile>;

/// A page of a TIFF file, of shape `[height, width]`, or `[height, width, bands]` with several bands, chunky
/// or planar. Elements are integers of 8 to 64 bits or floats of 16 to 64 bits.
///
/// Scales, offsets and missing values of the tags are not applied.
///
/// ```
/// use indim_stores::tiff::TiffFile;
///
/// assert_eq!(TiffFile::open("no such.tif".as_ref(), None, 1000).unwrap_err().code(), "io");
/// ```
pub struct TiffFile {
    file: OpenFile,
    array_type: ArrayType,
    grid: ChunkGrid,
    page_storage: PageStorage,
    /// `Some` if the page is compressed by zstd.
    zstd_page: Option<ZstdPage>,
    geography: Geography,
    decoder: Mutex<FileDecoder>,
    /// Shape of a strip or tile, with all bands.
    chunks: Vec<usize>,
}

/// The grid of strips or tiles of a page.
#[derive(Debug, Clone, Copy)]
struct ChunkGrid {
    height: usize,
    width: usize,
    /// Number of bands of a pixel.
    bands: usize,
    /// Number of planes: 1 if bands are interleaved, otherwise one for each band.
    planes: usize,
    /// Rows and columns of a strip or tile.
    chunk: [usize; 2],
    /// Whether the chunks are tiles. Tiles at the edges are stored whole, strips are not.
    is_tiled: bool,
}

impl ChunkGrid {
    fn column_count(&self) -> usize {
        self.width.div_ceil(self.chunk[1])
    }

    fn chunks_of_plane(&self) -> usize {
        self.height.div_ceil(self.chunk[0]) * self.column_count()
    }

    /// Width and height rounded up to whole tiles; `None` for strips, or if no tile crosses an edge.
    fn padded_size(&self) -> Option<[u32; 2]> {
        let sizes = [(self.width, self.chunk[1]), (self.height, self.chunk[0])];
        let crosses_edge = sizes.iter().any(|(size, tile)| !size.is_multiple_of(*tile));
        let padded = sizes.map(|(size, tile)| u32::try_from(size.next_multiple_of(tile)).ok());
        match padded {
            [Some(width), Some(height)] if self.is_tiled && crosses_edge => Some([width, height]),
            _ => None,
        }
    }

    /// Number of bands in one strip or tile.
    fn bands_of_chunk(&self) -> usize {
        self.bands / self.planes
    }
}

impl TiffFile {
    /// Opens a page, counted from 0. `None` selects the only page; overviews (smaller copies of the
    /// first page) and transparency masks do not count. Fails if decoding a strip or tile takes more
    /// than `limit` bytes.
    ///
    /// # Errors
    /// `io`; `bad-tiff` if it is damaged or uses a feature that the library does not read; `several-pages`,
    /// `no-page`; `unknown-element-type`; `memory-limit`, `too-large`.
    pub fn open(path: &Path, page: Option<usize>, limit: usize) -> Result<Self, StoreError> {
        let open = || Self::open_inner(path, page, limit);
        catch_library_panic(ErrorCode::BAD_TIFF, open)
            .map_err(|kind| StoreError::new(path.to_string_lossy(), kind))
    }

    fn open_inner(path: &Path, page: Option<usize>, limit: usize) -> Result<Self, StoreErrorKind> {
        let mut file = open_file(path)?;
        let file_length = file.metadata()?.len();
        lists::check_directories(&mut file, file_length)?;
        file.rewind()?;
        let opened = OpenFile::new(path, file.try_clone()?)?;
        let mut decoder = decoder_at_page(PatchedFile::without_patches(file), page)?;
        refuse_fax(&mut decoder)?;
        let (array_type, grid) = page_layout(&mut decoder)?;
        array_type.shape.byte_count(array_type.dtype.size()).map_err(ArrayError::TooLarge)?;
        let page_storage = PageStorage::of(&mut decoder, grid.is_tiled, file_length)?;
        let bytes = chunk_bytes(&grid, array_type.dtype);
        let (scratch, max_bytes) = (page_storage.scratch_bytes(bytes), limit.min(MAX_CHUNK_BYTES));
        if bytes > max_bytes || scratch > limit {
            let message = format!(
                "decoding its strips or tiles of {bytes} bytes takes {scratch} bytes of memory, the maximum \
                 is {max_bytes}; {}",
                memory_limit_advice(&array_type, scratch)
            );
            return Err(MemoryLimitError::new(Some(scratch.max(bytes)), max_bytes, message).into());
        }
        let zstd_page = match page_storage.is_zstd() {
            true => Some(ZstdPage::of(&mut decoder, grid.is_tiled, path, open_file(path)?)?),
            false => None,
        };
        let mut limits = Limits::default();
        limits.decoding_buffer_size = max_bytes;
        limits.intermediate_buffer_size = max_bytes;
        if let Some(sizes) = grid.padded_size() {
            let padded = PatchedFile::with_sizes(open_file(path)?, page.unwrap_or(0), sizes)?;
            decoder = decoder_at_page(padded, page)?;
        }
        let mut decoder = decoder.with_limits(limits);
        let geography = geo::read(&mut decoder, [grid.height, grid.width]);
        let chunk = [grid.chunk[0].min(grid.height), grid.chunk[1].min(grid.width)];
        let chunks = [chunk[0], chunk[1], grid.bands];
        let chunks = chunks[..array_type.shape.rank()].to_vec();
        let (file, decoder) = (opened, decoder.into());
        Ok(TiffFile { file, array_type, grid, page_storage, zstd_page, geography, decoder, chunks })
    }

    fn read_into(&self, region: &ArrayRegion, to: &mut [u8]) -> Result<(), StoreErrorKind> {
        // The lock is poisoned after a panic of the decoder, whose state is then unknown.
        let mut decoder =
            self.decoder.lock().map_err(|_| bad_tiff("damaged: an earlier read failed"))?;
        self.for_each_chunk(region, |chunk| {
            let bytes = self.read_chunk(&mut decoder, &chunk)?;
            self.copy_chunk(&bytes, &chunk, region, to);
            Ok(())
        })
    }

    /// Fails if a strip or tile of the region claims more elements than its stored bytes can decode to.
    fn check_stored(&self, region: &ArrayRegion) -> Result<(), StoreErrorKind> {
        self.for_each_chunk(region, |chunk| {
            self.page_storage.check_ratio(chunk.index, self.bytes_of(&chunk))
        })
    }

    /// Calls `each` with the strips or tiles that intersect a region.
    fn for_each_chunk(
        &self,
        region: &ArrayRegion,
        mut each: impl FnMut(PageChunk) -> Result<(), StoreErrorKind>,
    ) -> Result<(), StoreErrorKind> {
        let ChunkGrid { height, width, planes, chunk, .. } = self.grid;
        let ranges: Vec<_> = region.ranges().collect();
        let bands = ranges.get(2).cloned().unwrap_or(0..1);
        if region.extents().contains(&0) {
            return Ok(());
        }
        for plane in 0..planes {
            if planes > 1 && !bands.contains(&plane) {
                continue;
            }
            for row in ranges[0].start / chunk[0]..ranges[0].end.div_ceil(chunk[0]) {
                for column in ranges[1].start / chunk[1]..ranges[1].end.div_ceil(chunk[1]) {
                    let (top, left) = (row * chunk[0], column * chunk[1]);
                    let sizes = match self.grid.is_tiled {
                        true => chunk,
                        false => [chunk[0].min(height - top), chunk[1].min(width - left)],
                    };
                    let index = plane * self.grid.chunks_of_plane()
                        + row * self.grid.column_count()
                        + column;
                    each(PageChunk { index, start: [top, left, plane], sizes })?;
                }
            }
        }
        Ok(())
    }

    fn bytes_of(&self, chunk: &PageChunk) -> usize {
        let elements = chunk.sizes[0] * chunk.sizes[1] * self.grid.bands_of_chunk();
        elements * self.array_type.dtype.size()
    }

    /// Decodes one strip or tile.
    fn read_chunk(
        &self,
        decoder: &mut FileDecoder,
        chunk: &PageChunk,
    ) -> Result<Vec<u8>, StoreErrorKind> {
        let bytes = self.bytes_of(chunk);
        if let Some(page) = &self.zstd_page {
            let layout = ChunkLayout {
                dtype: self.array_type.dtype,
                columns: chunk.sizes[1],
                bands: self.grid.bands_of_chunk(),
                bytes,
                max_bytes: chunk_bytes(&self.grid, self.array_type.dtype),
            };
            return page.read(chunk.index, self.page_storage.stored_bytes(chunk.index), layout);
        }
        let index = u32::try_from(chunk.index).map_err(|error| tiff_error(&error))?;
        let layout =
            decoder.image_chunk_buffer_layout(index).map_err(|error| tiff_error(&error))?;
        if layout.len != bytes {
            return Err(bad_tiff(&format!(
                "a strip or tile of {} bytes instead of {bytes}",
                layout.len
            )));
        }
        let mut elements = vec![0; bytes];
        decoder.read_chunk_bytes(index, &mut elements).map_err(|error| tiff_error(&error))?;
        Ok(elements)
    }

    /// Copies the intersection of a strip or tile with the region to `to`, the array of the region.
    fn copy_chunk(&self, elements: &[u8], chunk: &PageChunk, region: &ArrayRegion, to: &mut [u8]) {
        let rank = self.array_type.shape.rank();
        let whole = [chunk.sizes[0], chunk.sizes[1], self.grid.bands_of_chunk()];
        let (mut within, mut target, mut extents) = (Vec::new(), Vec::new(), Vec::new());
        for (axis, range) in region.ranges().enumerate() {
            let first = range.start.max(chunk.start[axis]);
            within.push(first - chunk.start[axis]);
            target.push(first - range.start);
            extents.push(range.end.min(chunk.start[axis] + whole[axis]) - first);
        }
        let from = (elements, BlockOrigin::new(&whole[..rank], &within));
        let to = (to, BlockOrigin::new(region.extents(), &target));
        copy_block(from, to, &extents, self.array_type.dtype.size());
    }
}

/// A strip or tile of a page.
struct PageChunk {
    /// Its index in the tags of offsets and byte counts: plane by plane, row-major.
    index: usize,
    /// Its first row, column and band.
    start: [usize; 3],
    /// Its rows and columns.
    sizes: [usize; 2],
}

fn chunk_bytes(grid: &ChunkGrid, dtype: DType) -> usize {
    let [rows, columns] = grid.chunk;
    rows.saturating_mul(columns).saturating_mul(grid.bands_of_chunk()).saturating_mul(dtype.size())
}

/// A decoder at the requested page.
fn decoder_at_page(file: PatchedFile, page: Option<usize>) -> Result<FileDecoder, StoreErrorKind> {
    let mut decoder = Decoder::new(file).map_err(|error| tiff_error(&error))?;
    seek_page(&mut decoder, page)?;
    Ok(decoder)
}

/// Seeks to the requested page.
fn seek_page(decoder: &mut FileDecoder, page: Option<usize>) -> Result<(), StoreErrorKind> {
    match page {
        Some(page) => {
            let no_page = |message| Err(Diagnostic::new(ErrorCode::NO_PAGE, message).into());
            if page > MAX_PAGES {
                return no_page(format!("page {page}: pages after {MAX_PAGES} are not read"));
            }
            for _ in 0..page {
                if !decoder.more_images() {
                    return no_page(format!("there is no page {page}: they are counted from 0"));
                }
                decoder.next_image().map_err(|error| tiff_error(&error))?;
            }
            Ok(())
        }
        None if !decoder.more_images() => Ok(()),
        None => {
            // Overviews (bit 0 of the tag: smaller copies of the first page) and transparency masks (bit
            // 2) are not counted.
            let (mut pages, mut index) = (1, 0);
            while decoder.more_images() && index < MAX_PAGES {
                index += 1;
                let overview =
                    decoder.next_image().map_err(|error| tiff_error(&error)).and_then(|()| {
                        let kind = decoder.find_tag_unsigned::<u32>(Tag::NewSubfileType);
                        Ok(kind.map_err(|error| tiff_error(&error))?.unwrap_or(0) & 0b101 != 0)
                    })?;
                pages += usize::from(!overview);
            }
            if pages > 1 {
                let mut error = Diagnostic::new(
                    ErrorCode::SEVERAL_PAGES,
                    format!("the file has {pages} pages: name one"),
                );
                error.help("write its number after a colon, from 0 on, as in `file.tif:0`");
                return Err(error.into());
            }
            decoder.seek_to_image(0).map_err(|error| tiff_error(&error))
        }
    }
}

/// Array type and chunk grid of the page.
fn page_layout(decoder: &mut FileDecoder) -> Result<(ArrayType, ChunkGrid), StoreErrorKind> {
    let (width, height) = decoder.dimensions().map_err(|error| tiff_error(&error))?;
    let color = decoder.colortype().map_err(|error| tiff_error(&error))?;
    let bands = match color {
        ColorType::Gray(_) => 1,
        ColorType::GrayA(_) => 2,
        ColorType::RGB(_) => 3,
        ColorType::RGBA(_) | ColorType::CMYK(_) => 4,
        ColorType::Multiband { num_samples, .. } => usize::from(num_samples),
        other => {
            let message = format!(
                "pixels of kind {other:?} are not read: convert the file to RGB or gray first"
            );
            return Err(Diagnostic::new(ErrorCode::UNKNOWN_ELEMENT_TYPE, message).into());
        }
    };
    let format =
        decoder.find_tag_unsigned_vec::<u16>(Tag::SampleFormat).map_err(|e| tiff_error(&e))?;
    let format = format.and_then(|formats| formats.first().copied()).unwrap_or(1);
    let dtype = dtype(SampleFormat::from_u16_exhaustive(format), color.bit_depth())?;
    let planar =
        decoder.find_tag_unsigned::<u16>(Tag::PlanarConfiguration).map_err(|e| tiff_error(&e))?;
    let is_planar = planar == Some(PlanarConfiguration::Planar.to_u16());
    let is_tiled = decoder.get_chunk_type() == ChunkType::Tile;
    let (chunk_width, chunk_height) = decoder.chunk_dimensions();
    let sizes = [height, width, chunk_height, chunk_width].map(|size| size as usize);
    let [height, width, chunk_height, chunk_width] = sizes;
    if sizes.contains(&0) || bands == 0 {
        return Err(bad_tiff("a grid without elements"));
    }
    let grid = ChunkGrid {
        height,
        width,
        bands,
        planes: if is_planar { bands } else { 1 },
        chunk: [if is_tiled { chunk_height } else { chunk_height.min(height) }, chunk_width],
        is_tiled,
    };
    Ok((ArrayType::new(dtype, image::shape(height, width, bands)), grid))
}

fn dtype(format: SampleFormat, bits: u8) -> Result<DType, StoreErrorKind> {
    Ok(match (format, bits) {
        (SampleFormat::Uint, 8) => DType::U8,
        (SampleFormat::Uint, 16) => DType::U16,
        (SampleFormat::Uint, 32) => DType::U32,
        (SampleFormat::Uint, 64) => DType::U64,
        (SampleFormat::Int, 8) => DType::I8,
        (SampleFormat::Int, 16) => DType::I16,
        (SampleFormat::Int, 32) => DType::I32,
        (SampleFormat::Int, 64) => DType::I64,
        (SampleFormat::IEEEFP, 16) => DType::F16,
        (SampleFormat::IEEEFP, 32) => DType::F32,
        (SampleFormat::IEEEFP, 64) => DType::F64,
        (format, bits) => {
            let message =
                format!("elements of {bits} bits ({format:?}) are not numbers that indim knows");
            return Err(Diagnostic::new(ErrorCode::UNKNOWN_ELEMENT_TYPE, message).into());
        }
    })
}

impl core::fmt::Debug for TiffFile {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "TiffFile({}, {})", self.file.path().display(), self.array_type)
    }
}

impl Source for TiffFile {
    fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    fn chunks(&self) -> Option<&[usize]> {
        Some(&self.chunks)
    }

    fn geography(&self) -> Option<&Geography> {
        Some(&self.geography)
    }

    /// A decoded strip or tile, and the memory of its decoding.
    fn scratch_bytes(&self) -> usize {
        self.page_storage.scratch_bytes(chunk_bytes(&self.grid, self.array_type.dtype))
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        let read = || {
            check_region(region, &self.array_type)?;
            self.check_stored(region)?;
            let array_type = ArrayType::new(self.array_type.dtype, region.extents().clone());
            Array::filled(array_type, |bytes| {
                catch_library_panic(ErrorCode::BAD_TIFF, || self.read_into(region, bytes))
            })
        };
        read().map_err(|kind| self.file.error(kind))
    }

    fn check_unchanged(&self) -> Result<(), StoreError> {
        self.file.check_unchanged()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiff::TiffSink;
    use crate::{OutputFile, Sink};

    #[test]
    fn a_decoder_that_panicked_is_not_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.tif");
        let array_type = ArrayType::new(DType::U8, [2, 3]);
        let region = ArrayRegion::whole(&array_type.shape);
        let array = Array::filled(array_type.clone(), |_| Ok::<(), ArrayError>(())).unwrap();
        let output = OutputFile::create(&path).unwrap();
        let mut sink = TiffSink::create(output, &array_type, None).unwrap();
        sink.write(&region, &array).unwrap();
        Box::new(sink).finish().unwrap();
        let file = TiffFile::open(&path, None, usize::MAX).unwrap();
        assert_eq!(file.read(&region).unwrap().bytes(), [0; 6]);
        let panicked =
            catch_library_panic(ErrorCode::BAD_TIFF, || -> Result<(), StoreErrorKind> {
                let _decoder = file.decoder.lock();
                panic!("a panic of the library");
            });
        assert!(panicked.is_err());
        assert_eq!(file.read(&region).unwrap_err().code(), "bad-tiff");
    }
}
