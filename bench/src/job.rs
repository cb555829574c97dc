//! What a job is, and how its hand-written loop is run.

#![allow(unsafe_code)]

use indim::{ArrayView, Element, Shape};
use rayon::prelude::*;

/// Rows and columns of the iteration space.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Space {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Space {
    pub(crate) fn elements(self) -> usize {
        self.rows * self.columns
    }
}

/// One computation at one size, with its arguments.
pub(crate) trait Job: Sync {
    /// The element type of the result.
    type Result: Element;

    /// What it is called in the table.
    fn name(&self) -> &'static str;
    /// The expression that indim evaluates under the numpy rule.
    fn expression(&self) -> &'static str;
    /// The arguments of the expression.
    fn arguments(&self) -> Vec<(&'static str, ArrayView<'_>)>;
    /// The shape of the result.
    fn shape(&self) -> Shape;
    /// The iteration space of the hand-written loop.
    fn space(&self) -> Space;
    /// The hand-written loop for one row.
    fn row(&self, row: usize, output: &mut [Self::Result]);
}

/// The limit: the hand-written loop over all rows, with the threads of the current pool.
pub(crate) fn run_by_hand<J: Job>(job: &J, output: &mut [J::Result]) {
    let Space { rows, columns } = job.space();
    let threads = rayon::current_num_threads();
    if output.len() < 64 * 1024 || threads == 1 {
        return run_rows(job, 0, output);
    }
    let rows_per_thread = rows.div_ceil(threads);
    let pieces = output.par_chunks_mut(rows_per_thread * columns).enumerate();
    pieces.for_each(|(index, output)| run_rows(job, index * rows_per_thread, output));
}

/// The rows from `first` on, as many as `output` holds, with the best instructions there are.
fn run_rows<J: Job>(job: &J, first: usize, output: &mut [J::Result]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512vl")
    {
        // SAFETY: the processor has these instructions.
        return unsafe { run_rows_avx512(job, first, output) };
    }
    run_rows_of(job, first, output);
}

/// # Safety
/// The processor has AVX-512 F, DQ, BW and VL.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,fma")]
unsafe fn run_rows_avx512<J: Job>(job: &J, first: usize, output: &mut [J::Result]) {
    run_rows_of(job, first, output);
}

#[inline(always)]
fn run_rows_of<J: Job>(job: &J, first: usize, output: &mut [J::Result]) {
    let columns = job.space().columns;
    for (index, output) in output.chunks_exact_mut(columns).enumerate() {
        job.row(first + index, output);
    }
}

/// Defines a job: its arguments with their shapes, its expression, and its loop over one row.
///
/// Shapes are given in terms of the rows and columns of the iteration space.
#[macro_export]
macro_rules! job {
    (
        $(#[$doc:meta])*
        $job:ident, $name:literal: $expression:literal -> $result:ident [$($size:expr),*];
        |$rows:ident, $columns:ident|
        $($argument:ident: $type:ident [$($argument_size:expr),*]),* ;
        |$this:ident, $row:ident, $output:ident| $body:block
    ) => {
        $(#[$doc])*
        pub(crate) struct $job {
            space: $crate::job::Space,
            $($argument: Vec<$type>,)*
        }

        impl $job {
            pub(crate) fn new(space: $crate::job::Space) -> Self {
                let $crate::job::Space { rows: $rows, columns: $columns } = space;
                let _ = ($rows, $columns);
                let mut seed = 0;
                $job {
                    space,
                    $($argument: {
                        seed += 1;
                        $crate::numbers::Numbers::numbers([$($argument_size),*].iter().product::<usize>(), seed)
                    },)*
                }
            }
        }

        impl $crate::job::Job for $job {
            type Result = $result;

            fn name(&self) -> &'static str {
                $name
            }

            fn expression(&self) -> &'static str {
                $expression
            }

            fn arguments(&self) -> Vec<(&'static str, indim::ArrayView<'_>)> {
                let $crate::job::Space { rows: $rows, columns: $columns } = self.space;
                let _ = ($rows, $columns);
                vec![$((
                    stringify!($argument),
                    indim::ArrayView::from_slice([$($argument_size),*], &self.$argument[..]).expect("it fits"),
                )),*]
            }

            fn shape(&self) -> indim::Shape {
                let $crate::job::Space { rows: $rows, columns: $columns } = self.space;
                let _ = ($rows, $columns);
                indim::Shape::from([$($size),*])
            }

            fn space(&self) -> $crate::job::Space {
                self.space
            }

            #[inline(always)]
            fn row(&self, $row: usize, $output: &mut [$result]) {
                let $this = self;
                $body
            }
        }
    };
}
