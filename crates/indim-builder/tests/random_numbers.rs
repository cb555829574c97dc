//! Random numbers: those of JAX 0.10 for the key 42, recorded with `jax_enable_x64`; and their errors.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, evaluate};
use indim_ops::DType::{self, Bf16, F16, F32, F64, I32, U8, U16, U32, U64};

/// The result of `build` on a builder and the key 42.
fn result(build: impl Fn(&GraphBuilder, &Value) -> Value) -> Array {
    let b = GraphBuilder::new();
    let key = b.parameter("key", U32, [2]).unwrap();
    let graph = b.finish(&[build(&b, &key)]).unwrap();
    evaluate(&graph, &[Array::new([2], vec![0u32, 42]).unwrap()]).unwrap().remove(0)
}

#[test]
fn bits_are_those_of_jax() {
    let bits = |dtype: DType| result(|b, key| b.random_bits(key, dtype, [3]).unwrap());
    assert_eq!(bits(U8).elements::<u8>().unwrap(), [162, 217, 249]);
    assert_eq!(bits(U16).elements::<u16>().unwrap(), [5026, 12505, 63993]);
    assert_eq!(bits(U32).elements::<u32>().unwrap(), [2098992034, 2919706841, 2646866425]);
    assert_eq!(
        bits(U64).elements::<u64>().unwrap(),
        [7871734211187709741, 276886910877598708, 10591095138341673235]
    );
}

#[test]
fn keys_are_those_of_jax() {
    let keys = result(|b, key| b.random_split(key, [2]).unwrap());
    assert_eq!(keys.elements::<u32>().unwrap(), [1832780943, 270669613, 64467757, 2916123636]);
    let grid = result(|b, key| b.random_split(key, [1, 2]).unwrap());
    assert_eq!(grid.array_type().to_string(), "u32[1, 2, 2]");
    assert_eq!(grid.elements::<u32>().unwrap(), keys.elements::<u32>().unwrap());
    let folded = result(|b, key| b.random_fold_in(key, 7i64).unwrap());
    assert_eq!(folded.elements::<u32>().unwrap(), [2547012911, 1371500959]);
}

#[test]
fn uniform_numbers_are_those_of_jax() {
    let uniform = |dtype: DType| {
        result(|b, key| b.random_uniform(key, dtype, [3]).unwrap().convert(F64))
            .elements::<f64>()
            .unwrap()
            .to_vec()
    };
    assert_eq!(uniform(F32), [0.48870956897735596, 0.6797971725463867, 0.6162714958190918]);
    assert_eq!(uniform(F64), [0.4267275666499091, 0.015010069515314584, 0.5741444178995352]);
    assert_eq!(uniform(F16), [0.076171875, 0.1904296875, 0.9755859375]);
    assert_eq!(uniform(Bf16), [0.6328125, 0.84375, 0.96875]);
}

/// JAX has another approximation of `erf_inv`.
#[test]
fn normal_numbers_are_near_those_of_jax() {
    let near = |dtype: DType, expected: [f64; 3], tolerance: f64| {
        let numbers = result(|b, key| b.random_normal(key, dtype, [3]).unwrap().convert(F64));
        for (number, expected) in numbers.elements::<f64>().unwrap().iter().zip(expected) {
            assert!((number - expected).abs() <= tolerance * expected.abs(), "{number} {expected}");
        }
    };
    let singles = [-0.02830461598932743, 0.4671318531036377, 0.2957029640674591];
    near(F32, singles, 4.0 * f64::from(f32::EPSILON));
    let doubles = [-0.18471174528191162, -2.169824560397754, 0.18693555179382582];
    near(F64, doubles, 4.0 * f64::EPSILON);
}

/// An element depends on its place in row-major order alone.
#[test]
fn a_shape_only_arranges_the_numbers() {
    let flat = result(|b, key| b.random_bits(key, U32, [6]).unwrap());
    let rows = result(|b, key| b.random_bits(key, U32, [2, 3]).unwrap());
    assert_eq!(flat.elements::<u32>().unwrap(), rows.elements::<u32>().unwrap());
    assert_eq!(rows.array_type().to_string(), "u32[2, 3]");
    let scalar = result(|b, key| b.random_uniform(key, F32, []).unwrap());
    assert_eq!(scalar.elements::<f32>().unwrap(), [0.48870957]);
    let none = result(|b, key| b.random_normal(key, F64, [0, 3]).unwrap());
    assert!(none.elements::<f64>().unwrap().is_empty());
}

#[test]
fn keys_and_types_are_checked() {
    let b = GraphBuilder::new();
    let (key, vector) = (b.constant(Array::new([2], vec![0u32, 1]).unwrap()), b.scalar(1i32));
    let code = |result: Result<Value, indim_graph::GraphError>| result.unwrap_err().code();
    assert_eq!(code(b.random_bits(&vector, U32, [3])), "random-key");
    assert_eq!(code(b.random_split(key.convert(I32), [2])), "random-key");
    assert_eq!(code(b.random_bits(&key, I32, [3])), "element-type-not-allowed");
    assert_eq!(code(b.random_uniform(&key, I32, [3])), "element-type-not-allowed");
    assert_eq!(code(b.random_fold_in(&key, 1.5)), "element-type-not-allowed");
    assert_eq!(code(b.random_bits(&key, U32, [usize::MAX, 2])), "too-large");
    assert_eq!(code(b.random_split(&key, [usize::MAX])), "too-large");
    let message = b.random_uniform(&key, I32, [3]).unwrap_err().to_string();
    assert!(message.contains("`random_uniform` makes no arrays of i32"), "{message}");
    let message = b.random_normal(&vector, F32, [3]).unwrap_err().to_string();
    assert!(message.contains("`random_normal` takes a key, u32[2]"), "{message}");
    let message = b.random_bits(&vector, U32, [3]).unwrap_err().to_string();
    assert!(
        message.contains("`random_bits` takes a key, u32[2], such as u32([0, 42])"),
        "{message}"
    );
}
