//! No operation looks at the sign of a NaN that an operation made, which IEEE 754 leaves to the processor.
//!
//! Each definition runs on lanes that make negative NaNs and on lanes that make positive ones, and has to
//! give the same bits. A complex definition does not even look at the signs of NaNs among its operands: what
//! widens them need not keep those.

mod lane;

use indim_ops::lane::FloatLane;
use indim_ops::{Complex, for_each_op, meaning};
use lane::Signed;

/// The parts of special values, the first NaN positive and the second negative.
const PARTS: [f64; 18] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -1.5,
    2.0,
    18.0,
    -3.25,
    1e-310,
    -5e-324,
    750.0,
    -1e200,
    1e308,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    -f64::NAN,
];

/// What an operation gives, as the bits of its parts with every NaN the same.
trait Outcome {
    fn bits(self) -> [u64; 2];
}

macro_rules! outcomes {
    ($($type:ident)*) => {$(
        impl<const NEGATIVE: bool> Outcome for Signed<$type, NEGATIVE> {
            fn bits(self) -> [u64; 2] {
                [if self.0.is_nan() { u64::MAX } else { self.0.to_bits().into() }, 0]
            }
        }

        impl<const NEGATIVE: bool> Outcome for Complex<Signed<$type, NEGATIVE>> {
            fn bits(self) -> [u64; 2] {
                [self.re.bits()[0], self.im.bits()[0]]
            }
        }
    )*};
}

outcomes!(f32 f64);

impl Outcome for bool {
    fn bits(self) -> [u64; 2] {
        [self.into(), 0]
    }
}

/// The results of one definition for every combination of the operands.
type Results = Vec<[u64; 2]>;

fn combined<T: Copy, R: Outcome>(
    operands: &[T],
    arity: u32,
    apply: impl Fn([T; 3]) -> R,
) -> Results {
    let at =
        |index: usize, place: u32| operands[index / operands.len().pow(place) % operands.len()];
    let count = operands.len().pow(arity);
    (0..count).map(|index| apply([0, 1, 2].map(|place| at(index, place))).bits()).collect()
}

/// All pairs of parts, each NaN with the sign that operations make.
fn complexes<F: FloatLane>() -> Vec<Complex<F>> {
    let pair = |re: f64| PARTS.map(|im| Complex::new(F::constant(re), F::constant(im)));
    PARTS.into_iter().flat_map(pair).collect()
}

/// Makes, from the table of operations, the functions that run every definition of a module.
macro_rules! define_results {
    (
        unary { $(#[doc = $udoc:literal] $uname:ident = $uop:ident [$($uclass:ident)*] -> $uresult:ident, $ulaws:tt, $ualiases:tt;)* }
        binary { $(#[doc = $bdoc:literal] $bname:ident = $bop:ident [$($bclass:ident)*] -> $bresult:ident, $blaws:tt, $baliases:tt;)* }
        ternary { $(#[doc = $tdoc:literal] $tname:ident = $top:ident $tfirst:tt [$($tclass:ident)*] -> $tresult:ident, $tlaws:tt, $taliases:tt;)* }
    ) => {
        /// Every definition on floats: its name, and its results.
        fn real_results<F: FloatLane<Bool = bool> + Outcome>(x: &[F]) -> Vec<(&'static str, Results)> {
            let mut all = Vec::new();
            $($(define_results!(@real $uclass all x $uname 1 (a b c) (a));)*)*
            $($(define_results!(@real $bclass all x $bname 2 (a b c) (a b));)*)*
            $($(define_results!(@ternary $tfirst $tclass all x $tname);)*)*
            all
        }

        /// Every definition on complex numbers: its name, and its results.
        fn complex_results<F>(x: &[Complex<F>]) -> Vec<(&'static str, Results)>
        where
            F: FloatLane<Bool = bool> + Outcome,
            Complex<F>: Outcome,
        {
            let mut all = Vec::new();
            $($(define_results!(@complex $uclass all x $uname 1 (a b c) (a));)*)*
            $($(define_results!(@complex $bclass all x $bname 2 (a b c) (a b));)*)*
            all
        }
    };
    (@real float $all:ident $x:ident $name:ident $arity:literal ($a:ident $b:ident $c:ident) ($($argument:ident)*)) => {
        $all.push((stringify!($name), combined($x, $arity, |[$a, $b, $c]| {
            let _ = (&$a, &$b, &$c);
            meaning::float::$name($($argument),*)
        })));
    };
    (@complex complex $all:ident $x:ident $name:ident $arity:literal ($a:ident $b:ident $c:ident) ($($argument:ident)*)) => {
        $all.push((stringify!($name), combined($x, $arity, |[$a, $b, $c]| {
            let _ = (&$a, &$b, &$c);
            meaning::complex::$name($($argument),*)
        })));
    };
    (@complex complex_widened $($rest:tt)*) => { define_results!(@complex complex $($rest)*); };
    (@ternary (same, same, same) float $all:ident $x:ident $name:ident) => {
        define_results!(@real float $all $x $name 3 (a b c) (a b c));
    };
    // The other classes have no NaN, or compare bits as they are given; a selection computes nothing.
    (@$($other:tt)*) => {};
}

for_each_op!(define_results);

fn differing(negative: Vec<(&str, Results)>, positive: Vec<(&str, Results)>) -> Vec<String> {
    assert!(negative.len() > 20);
    let pairs = negative.into_iter().zip(positive);
    pairs
        .filter_map(|((name, one), (_, other))| {
            let count = one.iter().zip(&other).filter(|(one, other)| one != other).count();
            (count > 0).then(|| format!("{name}: {count} of {} results", one.len()))
        })
        .collect()
}

#[test]
fn the_sign_of_a_nan_that_an_operation_made_is_never_looked_at() {
    let single = |x: f64| x as f32;
    let real_single = differing(
        real_results(&PARTS.map(|x| Signed::<f32, true>(single(x)))),
        real_results(&PARTS.map(|x| Signed::<f32, false>(single(x)))),
    );
    let real_double = differing(
        real_results(&PARTS.map(Signed::<f64, true>)),
        real_results(&PARTS.map(Signed::<f64, false>)),
    );
    let complex = differing(
        complex_results(&complexes::<Signed<f64, true>>()),
        complex_results(&complexes::<Signed<f64, false>>()),
    );
    let all = [real_single, real_double, complex].concat();
    assert!(all.is_empty(), "{}", all.join("\n"));
}
