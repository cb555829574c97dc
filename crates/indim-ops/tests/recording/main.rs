//! Definitions of operations and conversions work with any lane back end. A back end that only records the
//! primitives gives the bits of Rust's scalars when the test replays them.
//!
//! A recorded definition cannot depend on the values of operands, because none exist during the recording. No
//! definition depends on the sign of a NaN that arithmetic made, which IEEE 754 leaves to the processor: the
//! bits are the same under both signs. A complex definition does not even depend on the signs of NaNs among
//! its operands, because widening need not keep them.

mod back_end;
mod special;
mod words;

use back_end::{NanSign, RecordingBackend, Tape};
use indim_ops::{AnyLane, DType, Op, ScalarBackend};
use special::{lane_count, special_values};
use words::{Word, WordLanes, any_of, words_of};

/// A definition: the types of its operands, and its function in each back end.
struct Definition<'a> {
    name: String,
    dtypes: Vec<DType>,
    scalar: &'a dyn Fn(&[AnyLane<ScalarBackend>]) -> AnyLane<ScalarBackend>,
    recorded: &'a dyn Fn(&[AnyLane<RecordingBackend>]) -> AnyLane<RecordingBackend>,
}

impl Definition<'_> {
    /// The operands whose lanes are these words, one after another.
    fn operands<L: WordLanes>(&self, words: &[u64]) -> Vec<AnyLane<L>> {
        let mut rest = words;
        let operand = |&dtype: &DType| {
            let (lanes, behind) = rest.split_at(lane_count(dtype));
            rest = behind;
            any_of(dtype, lanes)
        };
        self.dtypes.iter().map(operand).collect()
    }

    /// All combinations of special values.
    fn combinations(&self) -> Vec<Vec<u64>> {
        let appended = |combinations: Vec<Vec<u64>>, &dtype: &DType| -> Vec<Vec<u64>> {
            let values = special_values(dtype, self.dtypes.len());
            let with_each = |words: Vec<u64>| {
                values.iter().map(move |value| [&words[..], value].concat()).collect::<Vec<_>>()
            };
            combinations.into_iter().flat_map(with_each).collect()
        };
        self.dtypes.iter().fold(vec![vec![]], appended)
    }

    /// Records the definition once, and compares the replay with the scalars.
    fn check(&self) {
        let count: usize = self.dtypes.iter().map(|&dtype| lane_count(dtype)).sum();
        let indices: Vec<u64> = (0..count as u64).collect();
        let tape = Tape::record(count, || {
            let result = (self.recorded)(&self.operands(&indices));
            words_of(result).into_iter().map(|index| index as usize).collect()
        });
        for words in self.combinations() {
            let expected = words_of((self.scalar)(&self.operands(&words)));
            for sign in [NanSign::Negative, NanSign::Positive] {
                let found = tape.replay(&self.with_nans(&words, sign), sign);
                assert_eq!(found, expected, "{} of {words:x?}, {sign:?} NaNs", self.name);
            }
        }
    }

    /// The words; NaNs of complex numbers get this sign.
    fn with_nans(&self, words: &[u64], sign: NanSign) -> Vec<u64> {
        match self.dtypes.last() {
            Some(DType::C64) => {
                words.iter().map(|&word| f32::of_word(word).with_nan(sign).to_word()).collect()
            }
            Some(DType::C128) => {
                words.iter().map(|&word| f64::of_word(word).with_nan(sign).to_word()).collect()
            }
            _ => words.to_vec(),
        }
    }
}

#[test]
fn recorded_operations_give_the_bits_of_scalars() {
    let mut checked = 0;
    for &op in Op::ALL {
        for &dtype in DType::ALL.iter().filter(|&&dtype| op.takes(dtype)) {
            let dtypes = (0..op.arity().count()).map(|index| op.operand_dtype(index, dtype));
            Definition {
                name: format!("{op} {dtype}"),
                dtypes: dtypes.collect(),
                scalar: &|operands| op.apply(operands).expect("operands of the signature's types"),
                recorded: &|operands| {
                    op.apply(operands).expect("operands of the signature's types")
                },
            }
            .check();
            checked += 1;
        }
    }
    assert!(checked > 4 * Op::ALL.len());
}

#[test]
fn recorded_conversions_give_the_bits_of_scalars() {
    for &from in DType::ALL {
        for &to in DType::ALL {
            Definition {
                name: format!("{from} to {to}"),
                dtypes: vec![from],
                scalar: &|operands| operands[0].convert(to),
                recorded: &|operands| operands[0].convert(to),
            }
            .check();
        }
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let [float, double] = [AnyLane::<ScalarBackend>::F32(1.0), AnyLane::F64(1.0)];
    assert!(Op::Add.apply(&[float, float]).is_some());
    assert!(Op::Add.apply(&[float, double]).is_none());
    assert!(Op::Add.apply(&[double]).is_none());
    assert!(Op::Select.apply(&[float, float, float]).is_none());
    assert!(Op::Popcnt.apply(&[float]).is_none());
    assert!(Op::Neg.apply::<ScalarBackend>(&[]).is_none());
}
