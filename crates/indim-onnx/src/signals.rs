//! Signal processing: `DFT`, `MelWeightMatrix`, and the constants `HannWindow`, `HammingWindow` and
//! `BlackmanWindow`.

use indim_builder::{FourierOptions, Value};
use indim_graph::Array;
use indim_model::FormatErrorKind;
use indim_model::compositions::{from_parts, last_axis_element, to_parts};
use indim_onnx_file::types::dtype_of;
use indim_ops::DType;
use indim_ops::fourier::function::{FourierNorm, FourierTransform};
use indim_ops::fourier::roots::root_of_unity;

use super::call::{Call, LoweringResult, single_result};

/// Maximum number of elements of a constant.
const MAX_ELEMENTS: usize = 1 << 24;

pub(super) fn hann(call: &Call<'_>) -> LoweringResult {
    window(call, [0.5, -0.5, 0.0])
}

pub(super) fn hamming(call: &Call<'_>) -> LoweringResult {
    window(call, [25.0 / 46.0, -21.0 / 46.0, 0.0])
}

pub(super) fn blackman(call: &Call<'_>) -> LoweringResult {
    window(call, [0.42, -0.5, 0.08])
}

/// A window as a sum of cosines with these factors, computed in `f64` by the cosine of indim.
fn window(call: &Call<'_>, factors: [f64; 3]) -> LoweringResult {
    let size = count(call, 0)?;
    let period = match call.int("periodic", 1)? {
        0 => size.saturating_sub(1) as u64,
        _ => size as u64,
    };
    // The cosine of `n / 0` turns is no number.
    let cosine = |n: usize| match period {
        0 => f64::NAN,
        _ => root_of_unity(n as u64, period)[0],
    };
    let element = |n: usize| factors[0] + factors[1] * cosine(n) + factors[2] * cosine(2 * n);
    constant(call, &[size], (0..size).map(element).collect())
}

/// `DFT`: the last axis of the operand has the real and the imaginary part, or only the real part. Since
/// version 20 the axis is an operand.
pub(super) fn dft(call: &Call<'_>) -> LoweringResult {
    let (shape, dtype) = (call.shape(0)?, call.dtype(0)?);
    let rank = shape.rank();
    if rank < 2 || !matches!(shape[rank - 1], 1 | 2) {
        return Err(unexpected("a last axis of size 1 or 2 after other axes"));
    }
    let axis = match call.version() {
        ..20 => call.int("axis", 1)?,
        _ => call.optional_integers(2)?.and_then(|axis| axis.first().copied()).unwrap_or(-2),
    };
    let axis = call.axis(axis, rank)?;
    if axis == rank - 1 {
        return Err(unexpected("an axis before that of the parts"));
    }
    let transform = transform(call, shape[rank - 1] == 1)?;
    let length = call.optional_integers(1)?.map(|length| match length[..] {
        [length] => usize::try_from(length).map_err(|_| unexpected("a length above 0")),
        _ => Err(unexpected("one length")),
    });
    let options = FourierOptions {
        axes: vec![axis as i64],
        sizes: length.transpose()?.map(|length| vec![length]),
        norm: FourierNorm::Backward,
    };
    let (b, x) = (call.builder, call.value(0)?);
    let numbers = if shape[rank - 1] == 1 { last_axis_element(x, 0)? } else { from_parts(x)? };
    let result = b.fourier(&numbers, transform, &options)?;
    single_result(match transform.has_real_result() {
        true => b.stack(&[b.convert(result, dtype)?], -1)?,
        false => to_parts(&result, dtype)?,
    })
}

/// `MelWeightMatrix`: triangles over the bins of a spectrum, one for each column, at equal distances on the
/// mel scale. Computed in `f64`, in the order of ONNX's reference.
pub(super) fn mel_weights(call: &Call<'_>) -> LoweringResult {
    let (columns, length) = (count(call, 0)?, count(call, 1)?);
    let (b, rows) = (call.builder, length / 2 + 1);
    let number =
        |position: usize| Ok::<_, FormatErrorKind>(call.scalar(position)?.convert(DType::F64));
    let (rate, low, high) = (number(2)?, number(3)?, number(4)?);
    let mel = |frequency: Value| ((frequency / 700.0 + 1.0).log10()) * 2595.0;
    let low = mel(low);
    let step = (mel(high) - &low) / (columns as f64 + 2.0);
    // The first bin, the middle and the last bin of each triangle.
    let edge = |first: usize| {
        let mels = (b.iota(DType::F64, [columns], 0)? + first as f64) * &step + &low;
        let frequency = (b.scalar(10.0f64).pow(mels / 2595.0) - 1.0) * 700.0;
        let bin = (frequency * (length as f64 + 1.0) / &rate).floor();
        Ok::<_, FormatErrorKind>(b.broadcast_in_dim(bin, &[1], [rows, columns])?)
    };
    let (first, middle, last) = (edge(0)?, edge(1)?, edge(2)?);
    let bin = b.iota(DType::F64, [rows, columns], 0)?;
    let (rise, fall) = (&middle - &first, &last - &middle);
    let rising = (bin.ge(&first) & bin.le(&middle)).select((&bin - &first) / &rise, 0.0);
    let rising = rise.eq(0.0).select(b.convert(bin.eq(&middle), DType::F64)?, rising);
    let is_falling = fall.gt(0.0) & bin.ge(&middle) & bin.lt(&last);
    let weights = is_falling.select((&last - &bin) / &fall, rising);
    single_result(b.convert(weights, dtype_of(call.int("output_datatype", 1)?)?)?)
}

/// The transform that the attributes state.
fn transform(call: &Call<'_>, is_real: bool) -> Result<FourierTransform, FormatErrorKind> {
    let (is_inverse, is_one_sided) = (call.int("inverse", 0)? != 0, call.int("onesided", 0)? != 0);
    Ok(match (is_inverse, is_one_sided) {
        (false, true) if is_real => FourierTransform::Rfft,
        (false, true) => return Err(unexpected("real numbers for a one-sided transform")),
        (true, true) => FourierTransform::Irfft,
        (false, false) => FourierTransform::Fft,
        (true, false) => FourierTransform::Ifft,
    })
}

fn unexpected(expected: &str) -> FormatErrorKind {
    FormatErrorKind::Unexpected { expected: expected.to_owned() }
}

/// The size in an operand that must be known.
fn count(call: &Call<'_>, position: usize) -> Result<usize, FormatErrorKind> {
    let expected = || unexpected("one size, not negative");
    let [size] = call.integers(position)?[..] else { return Err(expected()) };
    match usize::try_from(size) {
        Ok(size) if size <= MAX_ELEMENTS => Ok(size),
        Ok(_) => Err(FormatErrorKind::Limit { what: "elements of a window", limit: MAX_ELEMENTS }),
        Err(_) => Err(expected()),
    }
}

/// A constant of the element type that `output_datatype` states.
fn constant(call: &Call<'_>, sizes: &[usize], elements: Vec<f64>) -> LoweringResult {
    let dtype = dtype_of(call.int("output_datatype", 1)?)?;
    let array = Array::new(sizes, elements)
        .map_err(|error| FormatErrorKind::Unexpected { expected: error.to_string() })?;
    let b = call.builder;
    single_result(b.convert(b.constant(array), dtype)?)
}
