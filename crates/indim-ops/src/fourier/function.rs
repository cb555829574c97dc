//! The table of Fourier transforms, with the names and parameters of NumPy's, and their normalisations.

/// A kind of transform along axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FourierTransform {
    /// Forward, of complex or real numbers.
    Fft,
    /// Inverse.
    Ifft,
    /// Forward, of real numbers: the first half of the result, up to index `n / 2`, along the last axis.
    Rfft,
    /// The inverse of `Rfft`: real numbers.
    Irfft,
    /// Forward, of the first half of an array with conjugate symmetry: real numbers.
    Hfft,
    /// The inverse of `Hfft`.
    Ihfft,
}

/// A normalisation: the factor of forward and inverse transforms of length `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FourierNorm {
    /// 1 forward, `1 / n` inverse.
    #[default]
    Backward,
    /// `1 / sqrt(n)` for both.
    Ortho,
    /// `1 / n` forward, 1 inverse.
    Forward,
}

impl FourierNorm {
    /// The normalisation of this name.
    ///
    /// ```
    /// use indim_ops::fourier::function::FourierNorm;
    ///
    /// assert_eq!(FourierNorm::from_name("ortho"), Some(FourierNorm::Ortho));
    /// assert_eq!(FourierNorm::from_name("none"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<FourierNorm> {
        Some(match name {
            "backward" => FourierNorm::Backward,
            "ortho" => FourierNorm::Ortho,
            "forward" => FourierNorm::Forward,
            _ => return None,
        })
    }
}

impl FourierTransform {
    /// Whether the transform is an inverse one, for the normalisation.
    pub fn is_inverse(self) -> bool {
        matches!(self, FourierTransform::Ifft | FourierTransform::Irfft | FourierTransform::Ihfft)
    }

    /// Whether the result is real.
    pub fn has_real_result(self) -> bool {
        matches!(self, FourierTransform::Irfft | FourierTransform::Hfft)
    }

    /// Whether the operand is real.
    pub fn takes_real(self) -> bool {
        matches!(self, FourierTransform::Rfft | FourierTransform::Ihfft)
    }
}

/// The default axes of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FourierAxes {
    /// The last axis; the function takes one axis.
    Last,
    /// The last two axes.
    LastTwo,
    /// All axes, or the last ones if sizes are given.
    All,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FourierFunction {
    /// The name.
    pub name: &'static str,
    /// The transform.
    pub transform: FourierTransform,
    /// The default axes.
    pub axes: FourierAxes,
    /// The element types, by the classes of `docs/ops.md`.
    pub types: &'static str,
    /// A call with the defaults.
    pub call: &'static str,
    /// The documentation.
    pub doc: &'static str,
}

macro_rules! functions {
    ($($name:ident $transform:ident $axes:ident $types:literal $call:literal $doc:literal;)*) => {
        &[$(FourierFunction {
            name: stringify!($name),
            transform: FourierTransform::$transform,
            axes: FourierAxes::$axes,
            types: $types,
            call: concat!(stringify!($name), $call),
            doc: $doc,
        }),*]
    };
}

impl FourierFunction {
    /// The table.
    pub const ALL: &[FourierFunction] = functions! {
        fft Fft Last "any → C" "(x, n=None, axis=-1, norm=backward)"
            "The Fourier transform along an axis, cropped or padded with zeros to `n` elements: \
             `X[k]` is the sum of `x[j] * exp(-2i*pi*j*k/n)`. `norm` is `backward`, `ortho` or `forward`, as \
             in NumPy. It is computed in `f64` and rounded once.";
        ifft Ifft Last "any → C" "(x, n=None, axis=-1, norm=backward)"
            "The inverse of `fft`: with `+2i` in the exponent, divided by `n`.";
        rfft Rfft Last "P S U F → C" "(x, n=None, axis=-1, norm=backward)"
            "The first `n // 2 + 1` elements of the `fft` of real numbers; the others are their conjugates.";
        irfft Irfft Last "any → F" "(x, n=None, axis=-1, norm=backward)"
            "The inverse of `rfft`: `n` real numbers, by default `2 * (size - 1)`.";
        hfft Hfft Last "any → F" "(x, n=None, axis=-1, norm=backward)"
            "The `fft` of `n` elements with conjugate symmetry, of which `x` is the first half: real \
             numbers. By default `n` is `2 * (size - 1)`.";
        ihfft Ihfft Last "P S U F → C" "(x, n=None, axis=-1, norm=backward)"
            "The inverse of `hfft`: the first `n // 2 + 1` elements.";
        fft2 Fft LastTwo "any → C" "(x, s=None, axis=[-2, -1], norm=backward)"
            "The Fourier transform along two axes, cropped or padded to the sizes `s`.";
        ifft2 Ifft LastTwo "any → C" "(x, s=None, axis=[-2, -1], norm=backward)" "The inverse of `fft2`.";
        rfft2 Rfft LastTwo "P S U F → C" "(x, s=None, axis=[-2, -1], norm=backward)"
            "The `fft2` of real numbers; along the last of the axes only its first half.";
        irfft2 Irfft LastTwo "any → F" "(x, s=None, axis=[-2, -1], norm=backward)" "The inverse of `rfft2`.";
        fftn Fft All "any → C" "(x, s=None, axis=None, norm=backward)"
            "The Fourier transform along several axes: by default all, or the last ones if `s` is given.";
        ifftn Ifft All "any → C" "(x, s=None, axis=None, norm=backward)" "The inverse of `fftn`.";
        rfftn Rfft All "P S U F → C" "(x, s=None, axis=None, norm=backward)"
            "The `fftn` of real numbers; along the last of the axes only its first half.";
        irfftn Irfft All "any → F" "(x, s=None, axis=None, norm=backward)" "The inverse of `rfftn`.";
    };

    /// The function of this name.
    pub fn from_name(name: &str) -> Option<&'static FourierFunction> {
        FourierFunction::ALL.iter().find(|function| function.name == name)
    }
}
