//! Jobs, and the run of their hand-written loops.

#![allow(unsafe_code)]

use indim::array::ElementLayout;
use indim::{ArrayView, Element, Shape};
use rayon::prelude::*;

use crate::numbers::Number;
#[cfg(feature = "peers")]
use crate::peers::Peer;
use crate::sizes::{Sizes, Space};

/// Minimum elements of a hand-written loop that runs on several threads.
pub(crate) const SERIAL_BELOW: usize = 64 * 1024;

/// One computation at one size, with its arguments.
pub(crate) trait Job: Sync {
    /// The element type of the result.
    type Result: Element + ElementLayout + Number;

    /// Its name in the table.
    const NAME: &'static str;
    /// The sizes at which it is measured.
    const SIZES: Sizes;
    /// The tolerance for results of peers, relative to their magnitude or to 1; by default that of their
    /// type.
    const TOLERANCE: f64 = Self::Result::TOLERANCE;
    /// Whether the hand-written loop gives indim's bits; it does not if it adds in another order.
    const IS_EXACT: bool = true;

    /// The job at one size.
    fn new(space: Space) -> Self;
    /// The expression that indim evaluates under the numpy rule.
    fn expression(&self) -> &'static str;
    /// The arguments of the expression.
    fn arguments(&self) -> Vec<(&'static str, ArrayView<'_>)>;
    /// The shape of the result.
    fn shape(&self) -> Shape;
    /// The iteration space.
    fn space(&self) -> Space;
    /// The limit: the hand-written loop, with the threads of the current pool.
    fn run_by_hand(&self, output: &mut [Self::Result]);
    /// The job in other Rust libraries.
    #[cfg(feature = "peers")]
    fn peers(&self) -> Vec<Peer<'_, Self::Result>>;
}

/// A job whose hand-written loop runs row by row.
pub(crate) trait RowJob: Job {
    /// The hand-written loop for one row.
    fn row(&self, row: usize, output: &mut [Self::Result]);
}

/// The hand-written loop over all rows.
pub(crate) fn run_all_rows<J: RowJob>(job: &J, output: &mut [J::Result]) {
    let Space { rows, columns, .. } = job.space();
    let threads = rayon::current_num_threads();
    if output.len() < SERIAL_BELOW || threads == 1 {
        return run_rows(job, 0, output);
    }
    let rows_per_thread = rows.div_ceil(threads);
    let pieces = output.par_chunks_mut(rows_per_thread * columns).enumerate();
    pieces.for_each(|(index, output)| run_rows(job, index * rows_per_thread, output));
}

/// The rows from `first` on that fill `output`.
fn run_rows<J: RowJob>(job: &J, first: usize, output: &mut [J::Result]) {
    with_best_instructions(
        #[inline(always)]
        || {
            let columns = job.space().columns;
            for (index, output) in output.chunks_exact_mut(columns).enumerate() {
                job.row(first + index, output);
            }
        },
    );
}

/// Runs `work` with the best instruction set of the processor.
#[inline(always)]
pub(crate) fn with_best_instructions<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512dq") && has!("avx512bw") && has!("avx512vl") {
            // SAFETY: the feature detection above has found these instructions.
            return unsafe { with_avx512(work) };
        }
        if has!("avx2") && has!("fma") {
            // SAFETY: the feature detection above has found these instructions.
            return unsafe { with_avx2(work) };
        }
    }
    work()
}

/// # Safety
/// The processor has AVX-512 F, DQ, BW and VL.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,fma")]
unsafe fn with_avx512<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Defines a job: its arguments with their shapes, its expression, its loop over one row, and its code in
/// other Rust libraries.
///
/// Shapes use the iteration space. The section `ndarray` fills its output from views of the arguments;
/// `candle` makes a tensor from tensors of the named arguments.
#[macro_export]
macro_rules! job {
    (
        $(#[$doc:meta])*
        $job:ident, $name:literal: $expression:literal
        -> $result:ident [$($size:expr),*] in $sizes:ident;
        |$($axis:ident),*| $($argument:ident: $type:ident [$($argument_size:expr),*]),* ;
        |$this:ident, $row:ident, $output:ident| $body:block
        $(ndarray |$place:ident| $fill:expr;)?
        $(candle |$($input:ident),*| $tensor:expr;)?
    ) => {
        $crate::define_job! {
            $(#[$doc])*
            $job, $name: $expression -> $result [$($size),*] in $sizes;
            |$($axis),*| $($argument: $type [$($argument_size),*]),* ;
            |own, output| { $crate::job::run_all_rows(own, output) }
            {}
            $(ndarray |$place| $fill;)?
            $(candle |$($input),*| $tensor;)?
        }

        impl $crate::job::RowJob for $job {
            #[inline(always)]
            fn row(&self, $row: usize, $output: &mut [$result]) {
                let $this = self;
                $body
            }
        }
    };
}

/// Defines a job whose hand-written loop computes the whole result, in an order of its own. Its results, and
/// those of peers, are compared with a tolerance.
#[macro_export]
macro_rules! reduction {
    (
        $(#[$doc:meta])*
        $job:ident, $name:literal: $expression:literal
        -> $result:ident [$($size:expr),*] in $sizes:ident, within $tolerance:literal;
        |$($axis:ident),*| $($argument:ident: $type:ident [$($argument_size:expr),*]),* ;
        |$this:ident, $output:ident| $body:block
        $(ndarray |$place:ident| $fill:expr;)?
        $(candle |$($input:ident),*| $tensor:expr;)?
    ) => {
        $crate::define_job! {
            $(#[$doc])*
            $job, $name: $expression -> $result [$($size),*] in $sizes;
            |$($axis),*| $($argument: $type [$($argument_size),*]),* ;
            |$this, $output| $body
            {
                const TOLERANCE: f64 = $tolerance;
                const IS_EXACT: bool = false;
            }
            $(ndarray |$place| $fill;)?
            $(candle |$($input),*| $tensor;)?
        }
    };
}

/// The shared part of `job!` and `reduction!`.
#[macro_export]
macro_rules! define_job {
    (
        $(#[$doc:meta])*
        $job:ident, $name:literal: $expression:literal
        -> $result:ident [$($size:expr),*] in $sizes:ident;
        |$($axis:ident),*| $($argument:ident: $type:ident [$($argument_size:expr),*]),* ;
        |$this:ident, $output:ident| $body:block
        { $($constant:item)* }
        $(ndarray |$place:ident| $fill:expr;)?
        $(candle |$($input:ident),*| $tensor:expr;)?
    ) => {
        $(#[$doc])*
        pub(crate) struct $job {
            space: $crate::sizes::Space,
            $($argument: Vec<$type>,)*
        }

        impl $crate::job::Job for $job {
            type Result = $result;

            const NAME: &'static str = $name;
            const SIZES: $crate::sizes::Sizes = $crate::sizes::$sizes;
            $($constant)*

            fn new(space: $crate::sizes::Space) -> Self {
                let $crate::sizes::Space { $($axis,)* .. } = space;
                let _ = ($($axis,)*);
                let mut seed = 0;
                $job {
                    space,
                    $($argument: {
                        seed += 1;
                        let count = [$($argument_size),*].iter().product::<usize>();
                        $crate::numbers::Number::numbers(count, seed)
                    },)*
                }
            }

            fn expression(&self) -> &'static str {
                $expression
            }

            fn arguments(&self) -> Vec<(&'static str, indim::ArrayView<'_>)> {
                let $crate::sizes::Space { $($axis,)* .. } = self.space;
                let _ = ($($axis,)*);
                vec![$((
                    stringify!($argument),
                    indim::ArrayView::from_slice([$($argument_size),*], &self.$argument[..])
                        .expect("it fits"),
                )),*]
            }

            fn shape(&self) -> indim::Shape {
                let $crate::sizes::Space { $($axis,)* .. } = self.space;
                let _ = ($($axis,)*);
                indim::Shape::from([$($size),*])
            }

            fn space(&self) -> $crate::sizes::Space {
                self.space
            }

            fn run_by_hand(&self, $output: &mut [$result]) {
                let $this = self;
                $body
            }

            #[cfg(feature = "peers")]
            fn peers(&self) -> Vec<$crate::peers::Peer<'_, $result>> {
                #[allow(unused_imports)]
                use $crate::peers::{Computation, Peer};
                let $crate::sizes::Space { $($axis,)* .. } = self.space;
                let shape = $crate::peers::shape([$($size),*]);
                $(let $argument = {
                    let elements = &self.$argument[..];
                    ndarray::ArrayView::from_shape([$($argument_size),*], elements).expect("it fits")
                };)*
                let _ = (shape, $(&$argument,)* $($axis,)*);
                vec![
                    $({
                        $(let $input = $crate::peers::tensor(&$input);)*
                        let run = move || $tensor;
                        Peer { engine: "candle", computation: Computation::Fresh(Box::new(run)) }
                    },)?
                    $({
                        let run = move |output: &mut [$result]| {
                            let $place = ndarray::ArrayViewMut::from_shape(shape, output);
                            #[allow(unused_mut)]
                            let mut $place = $place.expect("it fits");
                            $fill
                        };
                        Peer { engine: "ndarray", computation: Computation::Into(Box::new(run)) }
                    },)?
                ]
            }
        }
    };
}
