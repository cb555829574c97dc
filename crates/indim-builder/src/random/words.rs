//! Keys derived from keys, and random bits.

use indim_graph::{GraphError, GraphErrorKind};
use indim_ops::{ArrayType, DType, DTypeClass};
use indim_shape::Shape;

use super::threefry::threefry;
use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;
use crate::views::Index;

impl GraphBuilder {
    /// New keys from `key`, a `u32[2]`: an array of this shape, with an additional last axis of size 2.
    /// The keys are independent of each other and of `key`, and equal those of `jax.random.split`. A key
    /// always gives the same numbers, so use each key for one array of numbers, or for new keys.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let key = b.parameter("key", DType::U32, [2])?;
    /// let graph = b.finish(&[b.random_split(&key, [2])?])?;
    /// let keys = &evaluate(&graph, &[Array::new([2], vec![0u32, 42])?])?[0];
    /// assert_eq!(keys.array_type().to_string(), "u32[2, 2]");
    /// assert_eq!(keys.elements::<u32>().unwrap(), [1832780943, 270669613, 64467757, 2916123636]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `random-key`; [E5](indim_shape::rules#the-explicit-form-e) `too-large`.
    #[track_caller]
    pub fn random_split(&self, key: impl Operand, shape: impl Into<Shape>) -> BuildResult {
        let key = self.key("random_split", key)?;
        let shape = shape.into();
        let [x, y] = threefry(key, self.counters("random_split", &shape)?);
        let [x, y] = [self.reshape(x, shape.clone())?, self.reshape(y, shape.clone())?];
        self.stack(&[x, y], shape.rank() as i64)
    }

    /// A new key from `key`, a `u32[2]`, and the lower 32 bits of `data`, an integer; equal to the key of
    /// `jax.random.fold_in`.
    ///
    /// # Errors
    /// `random-key`; TY1 for data that is no integer; `reshape-element-count` for data that is not one
    /// number.
    #[track_caller]
    pub fn random_fold_in(&self, key: impl Operand, data: impl Operand) -> BuildResult {
        let key = self.key("random_fold_in", key)?;
        let id = self.operand_id("random_fold_in", data)?;
        let dtype = self.type_of(id).dtype;
        if !dtype.is_integer() {
            let kind = GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype };
            return Err(self.error("random_fold_in", &[id], kind));
        }
        let data = self.reshape(self.convert(self.value(id), DType::U32)?, Shape::scalar())?;
        self.stack(&threefry(key, [self.scalar(0u32), data]), 0)
    }

    /// Random bits as unsigned integers, equal to those of `jax.random.bits`: element `i` in row-major
    /// order depends on `key`, a `u32[2]`, and `i`. Types of 8 and 16 bits get the lower bits of the
    /// `u32`.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let key = b.parameter("key", DType::U32, [2])?;
    /// let graph = b.finish(&[b.random_bits(&key, DType::U32, [3])?])?;
    /// let bits = &evaluate(&graph, &[Array::new([2], vec![0u32, 42])?])?[0];
    /// assert_eq!(bits.elements::<u32>().unwrap(), [2098992034, 2919706841, 2646866425]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `random-key`; TY1 for a type that is not unsigned; [E5](indim_shape::rules#the-explicit-form-e)
    /// `too-large`.
    #[track_caller]
    pub fn random_bits(
        &self,
        key: impl Operand,
        dtype: DType,
        shape: impl Into<Shape>,
    ) -> BuildResult {
        if dtype.class() != DTypeClass::Unsigned {
            let kind = GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype };
            return Err(self.error("random_bits", &[], kind));
        }
        self.bits_of("random_bits", key, dtype, shape)
    }

    /// Random bits of an unsigned type; `operation` is the name of the function in errors.
    #[track_caller]
    pub(super) fn bits_of(
        &self,
        operation: &'static str,
        key: impl Operand,
        dtype: DType,
        shape: impl Into<Shape>,
    ) -> BuildResult {
        let key = self.key(operation, key)?;
        let shape = shape.into();
        let [high, low] = threefry(key, self.counters(operation, &shape)?);
        let bits = match dtype {
            DType::U64 => high.convert(dtype).shl(32u64) | low.convert(dtype),
            _ => (high ^ low).convert(dtype),
        };
        self.reshape(bits, shape)
    }

    /// The two words of a key.
    #[track_caller]
    fn key(&self, operation: &'static str, key: impl Operand) -> Result<[Value; 2], GraphError> {
        let id = self.operand_id(operation, key)?;
        let array_type = self.type_of(id);
        if array_type.dtype != DType::U32 || array_type.shape.sizes() != [2] {
            return Err(self.error(operation, &[id], GraphErrorKind::RandomKey));
        }
        let key = self.value(id);
        self.pin(&key, 0, "a key has two words");
        Ok([self.index(&key, &[Index::At(0)])?, self.index(&key, &[Index::At(1)])?])
    }

    /// The positions of the elements of an array in row-major order, as 64-bit numbers: their upper and
    /// lower words, each with one axis. The upper word is a scalar if it is 0 for all positions.
    #[track_caller]
    fn counters(&self, operation: &'static str, shape: &Shape) -> Result<[Value; 2], GraphError> {
        self.check_size(operation, &ArrayType::new(DType::U64, shape), &[])?;
        let count: usize = shape.iter().product();
        let low = self.iota(DType::U32, [count], 0)?;
        if u32::try_from(count).is_ok() {
            return Ok([self.scalar(0u32), low]);
        }
        let high = self.iota(DType::U64, [count], 0)?.shr_logical(32u64);
        Ok([high.convert(DType::U32), low])
    }
}
