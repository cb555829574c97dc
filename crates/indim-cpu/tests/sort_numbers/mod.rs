//! Elements for tests of sorts.

use indim_graph::Array;
use indim_ops::elements::*;
use indim_ops::{ArrayData, Complex, DType};

/// Numbers with many equal ones, and every special value of floats.
pub(crate) fn numbers(dtype: DType, shape: &[usize], few: u64) -> Array {
    let count: usize = shape.iter().product();
    let special = [f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1e-42, -1e-42, -f64::NAN];
    let mut state = 88172645463325252u64;
    let mut draw = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    };
    let mut float = move || match draw(4) {
        0 => special[draw(8) as usize],
        _ => draw(few) as f64 / 8.0 - few as f64 / 16.0,
    };
    macro_rules! elements {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match dtype {
                $(DType::$variant => {
                    let mut one = || elements!(@$class $type float);
                    ArrayData::$variant((0..count).map(|_| one()).collect())
                })*
            }
        };
        (@boolean $type:ident $float:ident) => { $float() > 0.0 };
        (@half $type:ident $float:ident) => { $type::from_f64($float()) };
        (@float8 $type:ident $float:ident) => { $type::from_f64($float()) };
        (@nibble $type:ident $float:ident) => { $type::from_f64($float()) };
        (@float $type:ident $float:ident) => { $float() as $type };
        (@complex $type:ident $float:ident) => { Complex::new($float() as _, $float() as _) };
        (@$class:ident $type:ident $float:ident) => { ($float() * 8.0) as i64 as $type };
    }
    let data = indim_ops::for_each_element!(elements);
    Array::from_data(shape, data).unwrap()
}

/// The bytes of arrays.
pub(crate) fn bits(arrays: &[Array]) -> Vec<Vec<u8>> {
    arrays.iter().map(|array| array.clone().to_le_bytes()).collect()
}
