//! Other Rust libraries on the same jobs: `ndarray` with rayon, and `candle-core`.
//!
//! The macro `job!` makes them from the sections `ndarray` and `candle` of a job.

use candle_core::{Device, Tensor};
use indim::{bf16, f16};
use ndarray::{ArrayView, Dimension};

use crate::numbers::{Number, is_near};

/// A job as another library does it, ready to run.
pub(crate) struct Peer<'a, T> {
    pub(crate) engine: &'static str,
    pub(crate) computation: Computation<'a, T>,
}

/// The memory for results.
pub(crate) enum Computation<'a, T> {
    /// Into memory that is given.
    Into(Box<dyn Fn(&mut [T]) + 'a>),
    /// Into memory that the library allocates each time.
    Fresh(Box<dyn Fn() -> candle_core::Result<Tensor> + 'a>),
}

impl<T: Number> Peer<'_, T> {
    /// Computes once; `output` is overwritten by some.
    pub(crate) fn run(&self, output: &mut [T]) {
        match &self.computation {
            Computation::Into(run) => run(output),
            Computation::Fresh(run) => drop(run().expect("candle runs it")),
        }
    }

    /// Whether its results are ours, as near as their type can be expected to be.
    pub(crate) fn agrees(&self, ours: &[T], scratch: &mut [T], tolerance: f64) -> bool {
        let near = |ours: f64, theirs: f64| is_near(ours, theirs, tolerance);
        match &self.computation {
            Computation::Into(run) => {
                scratch.fill(T::from_index(0));
                run(scratch);
                ours.iter().zip(scratch).all(|(ours, theirs)| {
                    near(ours.real(), theirs.real()) && near(ours.imaginary(), theirs.imaginary())
                })
            }
            Computation::Fresh(run) => {
                let theirs = run().and_then(|tensor| tensor.flatten_all());
                let theirs = theirs.and_then(|tensor| tensor.to_dtype(candle_core::DType::F64));
                let theirs = theirs.and_then(|tensor| tensor.to_vec1::<f64>());
                let theirs = theirs.expect("candle runs it");
                theirs.len() == ours.len()
                    && ours.iter().zip(theirs).all(|(ours, theirs)| near(ours.real(), theirs))
            }
        }
    }
}

/// The sizes of a result; empty for a scalar.
pub(crate) fn shape<const RANK: usize>(sizes: [usize; RANK]) -> [usize; RANK] {
    sizes
}

/// An element type that candle has.
pub(crate) trait CandleElement: Copy {
    /// Its type there.
    type There: candle_core::WithDType;

    fn there(self) -> Self::There;
}

macro_rules! define_candle_elements {
    ($($type:ident $there:ty, |$value:ident| $conversion:expr;)*) => {$(
        impl CandleElement for $type {
            type There = $there;

            fn there(self) -> $there {
                let $value = self;
                $conversion
            }
        }
    )*};
}

define_candle_elements! {
    u8 u8, |value| value;
    f16 half::f16, |value| half::f16::from_bits(value.to_bits());
    bf16 half::bf16, |value| half::bf16::from_bits(value.to_bits());
    f32 f32, |value| value;
    f64 f64, |value| value;
}

/// A copy for candle.
pub(crate) fn tensor<T: CandleElement, D: Dimension>(view: &ArrayView<'_, T, D>) -> Tensor {
    let elements: Vec<T::There> = view.iter().map(|element| element.there()).collect();
    Tensor::from_vec(elements, view.shape(), &Device::Cpu).expect("the shape holds the elements")
}

/// `ndarray::Zip` over an output and arguments that are broadcast to it; with all threads where the
/// hand-written loop takes them too.
#[macro_export]
macro_rules! zip {
    ($output:ident, [$($argument:expr),*], $each:expr) => {{
        let zip = ndarray::Zip::from($output)$(.and_broadcast(&$argument))*;
        if zip.size() < $crate::job::SERIAL_BELOW {
            zip.for_each($each)
        } else {
            zip.par_for_each($each)
        }
    }};
}
