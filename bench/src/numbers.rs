//! Arguments for the jobs.

/// A type of which jobs have arguments.
pub(crate) trait Numbers: Sized {
    /// `count` ordinary numbers, the same on every machine.
    fn numbers(count: usize, seed: usize) -> Vec<Self>;
}

macro_rules! define_numbers {
    ($($type:ident |$number:ident| $value:expr;)*) => {
        $(impl Numbers for $type {
            fn numbers(count: usize, seed: usize) -> Vec<Self> {
                (0..count).map(|index| { let $number = (index * 7 + seed * 131) % 1009; $value }).collect()
            }
        })*
    };
}

define_numbers! {
    f32 |number| number as f32 * 0.01 - 5.0;
    f64 |number| number as f64 * 0.01 - 5.0;
    u8 |number| number as u8;
    u16 |number| number as u16 * 7 + 1;
}
