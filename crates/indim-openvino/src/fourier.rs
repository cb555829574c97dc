//! Fourier transforms: `DFT`, `IDFT`, `RDFT`, `IRDFT`. Complex numbers are parts along the last axis.

use indim_builder::FourierOptions;
use indim_model::FormatErrorKind;
use indim_model::compositions::{from_parts, to_parts};
use indim_ops::DType;
use indim_ops::fourier::function::{FourierNorm, FourierTransform};

use crate::call::{Call, LoweringResult};

pub(super) fn forward(call: &Call<'_>) -> LoweringResult {
    fourier(call, FourierTransform::Fft)
}

pub(super) fn inverse(call: &Call<'_>) -> LoweringResult {
    fourier(call, FourierTransform::Ifft)
}

/// `RDFT`: of real numbers; the last axis of the list has half a spectrum.
pub(super) fn forward_real(call: &Call<'_>) -> LoweringResult {
    fourier(call, FourierTransform::Rfft)
}

/// `IRDFT`: of half a spectrum along the last axis of the list; the result is real.
pub(super) fn inverse_real(call: &Call<'_>) -> LoweringResult {
    fourier(call, FourierTransform::Irfft)
}

/// A transform along the axes in operand 1, which do not count the axis of the parts; the optional operand 2
/// has their lengths; -1 is the size of the axis.
fn fourier(call: &Call<'_>, transform: FourierTransform) -> LoweringResult {
    call.check_dtype_of(0, DType::is_float, "data")?;
    let (b, dtype, shape) = (call.builder, call.dtype(0)?, call.shape(0)?);
    let numbers = match (transform.takes_real(), shape.last()) {
        (true, _) => call.value(0),
        (false, Some(2)) => from_parts(&call.value(0))?,
        (false, _) => {
            let expected = "a last axis of size 2 of operand 0".to_owned();
            return Err(FormatErrorKind::Unexpected { expected });
        }
    };
    let sizes = numbers.array_type()?.shape;
    let axes = call.axes(1, sizes.rank())?;
    let mut lengths: Vec<usize> = axes.iter().map(|&axis| sizes[axis]).collect();
    if let (FourierTransform::Irfft, Some(last)) = (transform, lengths.last_mut()) {
        *last = 2 * last.saturating_sub(1);
    }
    if call.has(2) {
        let given = call.integers(2)?;
        if given.len() != lengths.len() {
            let problem = format!("has {} elements for {} axes", given.len(), lengths.len());
            return Err(FormatErrorKind::attribute("signal_size", problem));
        }
        for (length, given) in lengths.iter_mut().zip(given).filter(|(_, given)| *given != -1) {
            let wrong = |_| FormatErrorKind::attribute("signal_size", format!("has {given}"));
            *length = usize::try_from(given).map_err(wrong)?;
        }
    }
    let options = FourierOptions {
        axes: axes.into_iter().map(|axis| axis as i64).collect(),
        sizes: Some(lengths),
        norm: FourierNorm::Backward,
    };
    let result = b.fourier(&numbers, transform, &options)?;
    Ok(match transform.has_real_result() {
        true => b.convert(result, dtype)?,
        false => to_parts(&result, dtype)?,
    })
}
