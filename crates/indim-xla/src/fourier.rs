//! Fourier transforms along the last axes.

use indim_builder::{FourierOptions, GraphBuilder, Value};
use indim_model::FormatErrorKind;
use indim_ops::fourier::function::{FourierNorm, FourierTransform};

/// A Fourier transform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FourierOperation {
    transform: FourierTransform,
    /// The lengths along the last axes; that of real results is the length of the result.
    sizes: Vec<usize>,
}

/// The most axes of a transform.
const MAX_AXES: usize = 3;

impl FourierOperation {
    /// The transform of type `name` with these lengths.
    ///
    /// # Errors
    /// `attribute` for another name, and unless there are 1 to 3 lengths above 0.
    pub fn new(name: &str, lengths: &[i64]) -> Result<FourierOperation, FormatErrorKind> {
        let transform = match name {
            "FFT" => FourierTransform::Fft,
            "IFFT" => FourierTransform::Ifft,
            "RFFT" => FourierTransform::Rfft,
            "IRFFT" => FourierTransform::Irfft,
            _ => {
                let problem = "is not FFT, IFFT, RFFT or IRFFT";
                return Err(FormatErrorKind::attribute("fft_type", problem));
            }
        };
        let size = |&length: &i64| usize::try_from(length).ok().filter(|&size| size > 0);
        let sizes: Option<Vec<usize>> = lengths.iter().map(size).collect();
        match sizes.filter(|sizes| (1..=MAX_AXES).contains(&sizes.len())) {
            Some(sizes) => Ok(FourierOperation { transform, sizes }),
            None => {
                let problem = "is not a list of 1 to 3 numbers above 0";
                Err(FormatErrorKind::attribute("fft_length", problem))
            }
        }
    }

    /// The transform of a value.
    ///
    /// # Errors
    /// `attribute` if the lengths are not those of the operand; those of [`GraphBuilder::fourier`].
    pub(crate) fn build(
        &self,
        b: &GraphBuilder,
        operand: &Value,
    ) -> Result<Value, FormatErrorKind> {
        let shape = operand.array_type()?.shape;
        let mut expected = self.sizes.clone();
        if self.transform == FourierTransform::Irfft
            && let Some(last) = expected.last_mut()
        {
            *last = *last / 2 + 1;
        }
        if !shape.ends_with(&expected) {
            let problem = format!("needs the sizes {expected:?} along the last axes of {shape}");
            return Err(FormatErrorKind::attribute("fft_length", &problem));
        }
        let first = shape.rank() - expected.len();
        let options = FourierOptions {
            axes: (first..shape.rank()).map(|axis| axis as i64).collect(),
            sizes: Some(self.sizes.clone()),
            norm: FourierNorm::Backward,
        };
        Ok(b.fourier(operand, self.transform, &options)?)
    }
}
