//! Regions of images, resampled to grids of one size.

use indim_builder::{GraphBuilder, ReduceOptions, Reduction, Value};
use indim_graph::{AxisSlice, GraphError, TakeMode};
use indim_ops::DType;

use crate::FormatErrorKind;

/// Maximum number of samples of a cell: 256 along each axis. A run with more is the error `step-limit`.
const MAX_SAMPLES: i64 = 1 << 16;

/// The value of a cell of the grid from its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegionMode {
    /// The average of the samples.
    Average,
    /// The largest of the four weighted elements of all samples. A sample outside the image is 0.
    Max,
}

/// Options of [`align_regions`].
#[derive(Debug, Clone, Copy)]
pub struct RegionOptions {
    /// The rows and columns of the grid.
    pub grid: [usize; 2],
    /// The number of samples of a cell along each axis; `None` for the size of the cell, rounded up.
    pub samples: Option<usize>,
    /// The factor from coordinates of regions to those of the image.
    pub scale: f64,
    /// The number that is added to a coordinate before it is scaled, and after.
    pub offsets: [f64; 2],
    /// Whether a region has at least the size 1 along each axis.
    pub has_least_size: bool,
    /// The value of a cell.
    pub mode: RegionMode,
}

/// `RoiAlign`: a grid of cells for each region of an image. `x` is `[n, channels, rows, columns]`;
/// `regions` has the corners `x1, y1, x2, y2` of each region, `images` the position of its image. A sample
/// is interpolated linearly between four elements; it is 0 if it is more than 1 outside the image. Samples
/// are added in row-major order, in `f32`, or in `f64` for `f64`. The result is
/// `[regions, channels, grid rows, grid columns]`.
///
/// # Errors
/// `unexpected` for other ranks; errors of the builder.
pub fn align_regions(
    x: &Value,
    regions: &Value,
    images: &Value,
    options: &RegionOptions,
) -> Result<Value, FormatErrorKind> {
    let (b, of_x) = (x.builder(), x.array_type()?);
    let (of_regions, of_images) = (regions.array_type()?, images.array_type()?);
    let count = of_images.shape.iter().next().copied().unwrap_or(0);
    if of_x.shape.rank() != 4 || of_images.shape.rank() != 1 || *of_regions.shape != [count, 4] {
        let expected = "images of rank 4, four numbers for each region, and its image".to_owned();
        return Err(FormatErrorKind::Unexpected { expected });
    }
    let number = if of_x.dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let (height, width) = (of_x.shape[2], of_x.shape[3]);
    let pixels = [of_x.shape[0], height, width].iter().try_fold(1usize, |n, &m| n.checked_mul(m));
    let Some(pixels) = pixels.filter(|&pixels| i64::try_from(pixels).is_ok()) else {
        return Err(FormatErrorKind::Limit { what: "elements of images", limit: usize::MAX });
    };
    let [rows, columns] = options.grid;
    if pixels == 0 {
        // All samples are outside the image.
        let zero = b.convert(b.scalar(0.0f64), of_x.dtype)?;
        let sizes = [count, of_x.shape[1], rows, columns];
        return Ok(b.broadcast_in_dim(zero, &[], sizes)?);
    }
    // All channels of a position are adjacent, so that a gather copies them together.
    let channels = of_x.shape[1];
    let last = b.transpose(b.convert(x, number)?, &[0, 2, 3, 1])?;
    let elements = b.reshape(last, [pixels, channels])?;
    let regions = b.convert(regions, number)?;
    let vertical = Side::new(&regions, 1, (rows, height), options)?;
    let horizontal = Side::new(&regions, 0, (columns, width), options)?;
    // An image that does not exist has no element; negative positions do not count from the end.
    let images = b.convert(images, DType::I64)?;
    let is_image = images.ge(0i64) & images.lt(of_x.shape[0] as i64);
    let first = is_image.select(images * ((height * width) as i64), pixels as i64);
    let cells = [count, rows, columns];
    let first = b.broadcast_in_dim(first, &[0], cells)?;
    let body = |b: &GraphBuilder, [row, column]: [&Value; 2], sum: &Value| {
        let (y, x) = (vertical.sample(b, row)?, horizontal.sample(b, column)?);
        let spread_y = |value: &Value| b.broadcast_in_dim(value, &[0, 1], cells);
        let spread_x = |value: &Value| b.broadcast_in_dim(value, &[0, 2], cells);
        let mut products = Vec::with_capacity(4);
        for (at_y, y_weight) in &y.taps {
            for (at_x, x_weight) in &x.taps {
                let index = &first + spread_y(at_y)? * (width as i64) + spread_x(at_x)?;
                let element = b.take(&elements, index, 0, TakeMode::Error)?;
                let weight = spread_y(y_weight)? * spread_x(x_weight)?;
                let onto = element.array_type()?.shape;
                products.push(element * b.broadcast_in_dim(weight, &[0, 1, 2], onto)?);
            }
        }
        let joined = products.into_iter().reduce(|a, b| match options.mode {
            RegionMode::Average => a + b,
            RegionMode::Max => a.maximum(b),
        });
        let Some(sample) = joined else { return Ok(sum.clone()) };
        let onto = sample.array_type()?.shape;
        let spread = |mask: Value| b.broadcast_in_dim(mask, &[0, 1, 2], onto.clone());
        let is_inside = spread_y(&y.is_inside)? & spread_x(&x.is_inside)?;
        let is_sample = spread(spread_y(&y.is_sample)? & spread_x(&x.is_sample)?)?;
        let sample = spread(is_inside)?.select(sample, 0.0);
        Ok(match options.mode {
            RegionMode::Average => is_sample.select(sum + sample, sum),
            RegionMode::Max => is_sample.select(sum.maximum(sample), sum),
        })
    };
    let initial = match options.mode {
        RegionMode::Average => 0.0,
        RegionMode::Max => f64::NEG_INFINITY,
    };
    let initial = b.convert(b.scalar(initial), number)?;
    let initial = b.broadcast_in_dim(initial, &[], [count, rows, columns, channels])?;
    let sums = sample_loop(b, [&vertical, &horizontal], initial, options.samples, body)?;
    let counts = &vertical.counts * &horizontal.counts;
    let onto = sums.array_type()?.shape;
    let result = match options.mode {
        RegionMode::Average => sums / b.broadcast_in_dim(counts.maximum(1.0), &[0], onto)?,
        RegionMode::Max => {
            let is_sampled = vertical.counts.gt(0.0) & horizontal.counts.gt(0.0);
            b.broadcast_in_dim(is_sampled, &[0], onto)?.select(sums, 0.0)
        }
    };
    Ok(b.convert(b.transpose(result, &[0, 3, 1, 2])?, of_x.dtype)?)
}

/// The regions along one axis of the image. Values have one element for each region.
struct Side {
    starts: Value,
    /// The size of a cell.
    cell: Value,
    /// The number of samples of a cell, a whole number.
    counts: Value,
    cells: usize,
    /// The size of the axis of the image.
    size: usize,
}

/// Samples of all cells along one axis.
struct Samples {
    /// The two elements around each sample, with their weights: `[regions, cells]`.
    taps: [(Value, Value); 2],
    is_inside: Value,
    /// Whether the cells of a region have this sample.
    is_sample: Value,
}

impl Side {
    /// `column` is that of the first corner in `regions`.
    fn new(
        regions: &Value,
        column: usize,
        (cells, size): (usize, usize),
        options: &RegionOptions,
    ) -> Result<Side, GraphError> {
        let (b, count) = (regions.builder(), regions.array_type()?.shape[0]);
        let corner = |column: usize| {
            let slices = [AxisSlice::whole(count), AxisSlice::new(column, 1, 1)];
            let corner = b.reshape(b.slice(regions, &slices)?, [count])?;
            Ok((corner + options.offsets[0]) * options.scale + options.offsets[1])
        };
        let (starts, ends): (Value, Value) = (corner(column)?, corner(column + 2)?);
        let mut length = ends - &starts;
        if options.has_least_size {
            length = length.maximum(1.0);
        }
        let cell = length / cells as f64;
        // A larger number is beyond the limit too, and has a product that an `i64` holds.
        let counts = match options.samples {
            None => cell.ceil().minimum((MAX_SAMPLES + 1) as f64),
            Some(samples) => {
                let samples = b.convert(b.scalar(samples as f64), cell.array_type()?.dtype)?;
                b.broadcast_in_dim(samples, &[], [count])?
            }
        };
        Ok(Side { starts, cell, counts, cells, size })
    }

    /// The samples with this number.
    fn sample(&self, b: &GraphBuilder, number: &Value) -> Result<Samples, GraphError> {
        let of_region = self.starts.array_type()?;
        let onto = [of_region.shape[0], self.cells];
        let spread = |value: &Value| b.broadcast_in_dim(value, &[0], onto);
        let number = b.convert(number, of_region.dtype)?;
        let cells = b.iota(of_region.dtype, onto, 1)?;
        let within = (&number + 0.5) * &self.cell / &self.counts;
        let position = spread(&self.starts)? + cells * spread(&self.cell)? + spread(&within)?;
        let is_inside = position.ge(-1.0) & position.le(self.size as f64);
        let last = self.size as f64 - 1.0;
        let position = b.clamp(0.0, position, last)?;
        let low = position.floor();
        let ratio = position - &low;
        let at = b.convert(&low, DType::I64)?;
        let next = (&at + 1i64).minimum((self.size as i64 - 1).max(0));
        let is_sample = spread(&number.lt(&self.counts))?;
        let taps = [(at, -&ratio + 1.0), (next, ratio)];
        Ok(Samples { taps, is_inside, is_sample })
    }
}

/// Adds all samples of a cell in row-major order. The number of steps is the largest that a region needs.
fn sample_loop(
    b: &GraphBuilder,
    sides: [&Side; 2],
    initial: Value,
    samples: Option<usize>,
    body: impl Fn(&GraphBuilder, [&Value; 2], &Value) -> Result<Value, GraphError>,
) -> Result<Value, GraphError> {
    if let Some(samples) = samples {
        let (per_axis, steps) = (samples as i64, (samples as i64).saturating_mul(samples as i64));
        let mut sums = b.fori_loop(0..steps, &[initial], |b, step, states| {
            Ok(vec![body(b, [&(step / per_axis), &(step % per_axis)], &states[0])?])
        })?;
        return Ok(sums.remove(0));
    }
    let largest = |side: &Side| {
        let counts = b.convert(&side.counts, DType::I64)?;
        Ok(b.along(Reduction::Max, counts, ReduceOptions::axes([0]).initial(0i64))?.maximum(0i64))
    };
    let [rows, columns]: [Value; 2] = [largest(sides[0])?, largest(sides[1])?];
    let steps = rows * &columns;
    // Counts the steps first: a run with too many fails before the work.
    let is_less = |_: &GraphBuilder, states: &[Value]| Ok(states[0].lt(&steps));
    let next = |_: &GraphBuilder, states: &[Value]| Ok(vec![&states[0] + 1i64]);
    let steps = b.while_loop_up_to(MAX_SAMPLES as u64, &[b.scalar(0i64)], is_less, next)?.remove(0);
    let states = [b.scalar(0i64), initial];
    let mut states = b.while_loop_up_to(
        MAX_SAMPLES as u64,
        &states,
        |_, states| Ok(states[0].lt(&steps)),
        |b, states| {
            let step = &states[0];
            let sum = body(b, [&(step / &columns), &(step % &columns)], &states[1])?;
            Ok(vec![step + 1i64, sum])
        },
    )?;
    Ok(states.remove(1))
}
