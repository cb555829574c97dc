//! The jobs in other Rust libraries: `ndarray` with rayon, and `candle-core`.
//!
//! The macro `job!` builds them from the sections `ndarray` and `candle` of a job.

use candle_core::{Device, Tensor};
use indim::array::{bf16, f16};
use ndarray::{ArrayView, Dimension};

use crate::numbers::{Number, is_near};

/// A job in another library, ready to run.
pub(crate) struct Peer<'a, T> {
    pub(crate) engine: &'static str,
    pub(crate) computation: Computation<'a, T>,
}

/// A computation, by the memory of its result.
pub(crate) enum Computation<'a, T> {
    /// Into given memory.
    Into(Box<dyn Fn(&mut [T]) + 'a>),
    /// Into memory that the library allocates for each run.
    Fresh(Box<dyn Fn() -> candle_core::Result<Tensor> + 'a>),
}

impl<T: Number> Peer<'_, T> {
    /// Computes once; some computations overwrite `output`.
    pub(crate) fn run(&self, output: &mut [T]) {
        match &self.computation {
            Computation::Into(run) => run(output),
            Computation::Fresh(run) => drop(run().expect("candle runs it")),
        }
    }

    /// Whether its results are ours, within the tolerance of their type.
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

/// An element type of candle.
pub(crate) trait CandleElement: Copy {
    /// The type in candle.
    type CandleType: candle_core::WithDType;

    fn to_candle(self) -> Self::CandleType;
}

macro_rules! define_candle_elements {
    ($($type:ident $candle:ty, |$value:ident| $conversion:expr;)*) => {$(
        impl CandleElement for $type {
            type CandleType = $candle;

            fn to_candle(self) -> $candle {
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
    let elements: Vec<T::CandleType> = view.iter().map(|element| element.to_candle()).collect();
    Tensor::from_vec(elements, view.shape(), &Device::Cpu).expect("the shape holds the elements")
}

/// `ndarray::Zip` over an output and arguments that are broadcast to it; on all threads if the hand-written
/// loop uses them too.
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
