//! Comparison of results with expected results.

use indim_graph::Array;
use indim_ops::elements::*;
use indim_ops::{Complex, DType, for_each_element};

use crate::model::Tolerance;

/// The difference between two arrays that do not agree.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// Number of elements that do not agree.
    pub count: usize,
    /// Number of elements of each array.
    pub elements: usize,
    /// Row-major index of the first element that does not agree.
    pub first: usize,
    /// The computed element at this index.
    pub found: String,
    /// The expected element at this index.
    pub expected: String,
}

impl Tolerance {
    /// Compares the elements of two arrays of one type. Returns `None` if all agree.
    ///
    /// ```
    /// use indim_model::Tolerance;
    /// use indim_graph::Array;
    ///
    /// let found = Array::new([2], vec![1.0f32, f32::NAN])?;
    /// let expected = Array::new([2], vec![1.0f32 + f32::EPSILON, f32::NAN])?;
    /// assert_eq!(Tolerance::Exact.compare(&found, &expected).unwrap().first, 0);
    /// assert_eq!(Tolerance::Ulps { min: 0, max: 1 }.compare(&found, &expected), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compare(self, found: &Array, expected: &Array) -> Option<Mismatch> {
        if found.array_type() != expected.array_type() {
            let count = expected.element_count();
            return Some(Mismatch {
                count,
                elements: count,
                first: 0,
                found: found.array_type().to_string(),
                expected: expected.array_type().to_string(),
            });
        }
        macro_rules! compare {
            ($($variant:ident $type:ident $class:ident;)*) => {
                match found.dtype() {
                    $(DType::$variant => {
                        let [found, expected] = [found, expected].map(|it| it.to_vec::<$type>().ok());
                        mismatch(&found?, &expected?, self)
                    })*
                }
            };
        }
        for_each_element!(compare)
    }
}

/// A distance between two elements of one type.
///
/// ```
/// use indim_model::Distance;
///
/// assert!(Distance::Difference(7) < Distance::Ulps(1) && Distance::Ulps(1) < Distance::Ulps(2));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// The difference of two integers, or of two truth values as 0 and 1.
    Difference(u64),
    /// Units in the last place between two floats: 0 between NaNs and equal numbers, `u64::MAX` between a
    /// number and a NaN or an infinity. For complex numbers, the larger distance of the two parts.
    Ulps(u64),
}

/// The largest distance between elements of two arrays. `None` for arrays of different types.
///
/// ```
/// use indim_graph::Array;
/// use indim_model::{Distance, largest_distance};
///
/// let found = Array::new([2], vec![1.0f32, f32::NAN])?;
/// let expected = Array::new([2], vec![1.0f32 + 2.0 * f32::EPSILON, f32::NAN])?;
/// assert_eq!(largest_distance(&found, &expected), Some(Distance::Ulps(2)));
/// let [three, five] = [3, 5].map(Array::from_scalar::<i32>);
/// assert_eq!(largest_distance(&three, &five), Some(Distance::Difference(2)));
/// assert_eq!(largest_distance(&found, &Array::from_scalar(1.0f32)), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn largest_distance(found: &Array, expected: &Array) -> Option<Distance> {
    if found.array_type() != expected.array_type() {
        return None;
    }
    macro_rules! largest {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match found.dtype() {
                $(DType::$variant => {
                    let [found, expected] = [found, expected].map(|it| it.to_vec::<$type>().ok());
                    let pairs = found?.into_iter().zip(expected?);
                    let largest = pairs.map(|(found, expected)| found.distance(&expected)).max();
                    Some(<$type as Comparable>::UNIT(largest.unwrap_or(0)))
                })*
            }
        };
    }
    for_each_element!(largest)
}

/// An element type with a comparison.
trait Comparable: core::fmt::Debug {
    /// The unit of `distance`.
    const UNIT: fn(u64) -> Distance;

    fn agrees(&self, expected: &Self, tolerance: Tolerance) -> bool;

    fn distance(&self, expected: &Self) -> u64;
}

macro_rules! exact {
    ($($($type:ty)*: |$x:ident, $y:ident| $distance:expr;)*) => {$($(
        impl Comparable for $type {
            const UNIT: fn(u64) -> Distance = Distance::Difference;

            fn agrees(&self, expected: &Self, _: Tolerance) -> bool {
                self == expected
            }

            fn distance(&self, expected: &Self) -> u64 {
                let ($x, $y) = (self, expected);
                $distance
            }
        }
    )*)*};
}

exact! {
    i8 i16 i32 i64 u8 u16 u32 u64: |x, y| (i128::from(*x) - i128::from(*y)).unsigned_abs() as u64;
    bool: |x, y| (x != y).into();
    i4 u4: |x, y| (x.to_f64() - y.to_f64()).abs() as u64;
}

macro_rules! floats {
    ($($type:ty, $signed:ty, $to_f64:expr;)*) => {$(
        impl Comparable for $type {
            const UNIT: fn(u64) -> Distance = Distance::Ulps;

            fn agrees(&self, expected: &Self, tolerance: Tolerance) -> bool {
                let distance = self.distance(expected);
                tolerance.holds_for($to_f64(*self), $to_f64(*expected), distance)
            }

            fn distance(&self, expected: &Self) -> u64 {
                // The position of a float in the order of all floats: neighbours differ by 1.
                let location = |x: Self| {
                    let bits = x.to_bits() as $signed;
                    let size = i64::from(bits & <$signed>::MAX);
                    if bits < 0 { -size } else { size }
                };
                let apart = location(*self).abs_diff(location(*expected));
                ulp_distance($to_f64(*self), $to_f64(*expected), apart)
            }
        }
    )*};
}

floats! {
    f16, i16, f16::to_f64;
    bf16, i16, bf16::to_f64;
    f32, i32, f64::from;
    f64, i64, f64::from;
    f8e4m3fn, i8, f8e4m3fn::to_f64;
    f8e5m2, i8, f8e5m2::to_f64;
    f8e4m3fnuz, i8, f8e4m3fnuz::to_f64;
    f8e5m2fnuz, i8, f8e5m2fnuz::to_f64;
    f8e4m3b11fnuz, i8, f8e4m3b11fnuz::to_f64;
}

impl<F: Comparable> Comparable for Complex<F> {
    const UNIT: fn(u64) -> Distance = F::UNIT;

    fn agrees(&self, expected: &Self, tolerance: Tolerance) -> bool {
        self.re.agrees(&expected.re, tolerance) && self.im.agrees(&expected.im, tolerance)
    }

    fn distance(&self, expected: &Self) -> u64 {
        self.re.distance(&expected.re).max(self.im.distance(&expected.im))
    }
}

impl Tolerance {
    /// Whether two numbers agree; `distance` is that of [`ulp_distance`].
    fn holds_for(self, found: f64, expected: f64, distance: u64) -> bool {
        if let Tolerance::Ulps { min, max } = self {
            return (min..=max).contains(&distance);
        }
        if found.is_nan() || expected.is_nan() {
            return found.is_nan() && expected.is_nan();
        }
        match self {
            // An infinity agrees only with itself.
            Tolerance::Close { .. } if found.is_infinite() || expected.is_infinite() => {
                found == expected
            }
            Tolerance::Exact | Tolerance::Ulps { .. } => found == expected,
            Tolerance::Close { absolute, relative } => {
                (found - expected).abs() <= absolute + relative * expected.abs()
            }
        }
    }
}

/// The distance of two numbers in ulps as StableHLO's interpreter measures it; `apart` is that of two
/// finite numbers. It is 0 for two NaNs and for equal infinities, and `u64::MAX` for every other pair
/// with a NaN or an infinity.
fn ulp_distance(found: f64, expected: f64, apart: u64) -> u64 {
    let are_same = found == expected || (found.is_nan() && expected.is_nan());
    match found.is_finite() && expected.is_finite() {
        true => apart,
        false if are_same => 0,
        false => u64::MAX,
    }
}

fn mismatch<T: Comparable>(found: &[T], expected: &[T], tolerance: Tolerance) -> Option<Mismatch> {
    let pairs = found.iter().zip(expected).enumerate();
    let mut wrong = pairs.filter(|(_, (x, y))| !x.agrees(y, tolerance));
    let (first, (x, y)) = wrong.next()?;
    let count = 1 + wrong.count();
    let (found, wanted) = (format!("{x:?}"), format!("{y:?}"));
    Some(Mismatch { count, elements: expected.len(), first, found, expected: wanted })
}
