//! The builder's methods for products of two operands.

use indim_graph::signature::{check_contraction, check_operands};
use indim_graph::{GraphError, GraphErrorKind, NodeKind, ValueId};
use indim_ops::{ArrayType, DType, DTypeClass};
use indim_shape::{ContractionForm, ContractionRule, DotDimensions};

use super::types::{NamedForm, ProductTypes};
use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::{Operand, OperandArg};

impl GraphBuilder {
    /// The sum of the products of two values of one shape along their last `summed` axes, in row-major order.
    ///
    /// It takes integers, `f32` and `f64`. The result of floats is an `f64`, the sum before its rounding;
    /// integers keep their type and wrap. The other methods in this file are built on this one.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [2, 3])?;
    /// let v = b.parameter("v", DType::I32, [3])?;
    /// let product = b.contract(&x, b.broadcast_in_dim(&v, &[1], [2, 3])?, 1)?;
    /// let graph = b.finish(&[product])?;
    /// let arguments = [Array::new([2, 3], vec![1, 2, 3, 4, 5, 6])?, Array::new([3], vec![1, 10, 100])?];
    /// assert_eq!(evaluate(&graph, &arguments)?[0].elements::<i32>(), Ok(&[321, 654][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// TY1, TY2; `shapes-differ`; `axis-out-of-range` for more summed axes than the values have.
    #[track_caller]
    pub fn contract(&self, x: impl Operand, y: impl Operand, summed: usize) -> BuildResult {
        let ids = self.ids_of("contract", &[x.into_arg(), y.into_arg()], 0)?;
        let types: Vec<ArrayType> = ids.iter().map(|&id| self.type_of(id)).collect();
        match check_contraction(summed, &types) {
            Ok(array_type) => {
                self.check_size("contract", &array_type, &ids)?;
                Ok(self.add_node(NodeKind::Contract { summed }, &ids, array_type))
            }
            Err(kind) => Err(self.error("contract", &ids, kind)),
        }
    }

    /// NumPy's `matmul`, the operator `@`: products of matrices in the last two axes. A vector is a row on
    /// the left and a column on the right. Other axes broadcast.
    ///
    /// The result has the operands' type. Sums of floats are rounded once, in a fixed order; 16-bit floats
    /// are multiplied in `f32`; integers wrap; for `bool` the result tells whether any product is true.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [7, 5, 3])?;
    /// let y = b.parameter("y", DType::F32, [3, 4])?;
    /// assert_eq!(b.matmul(&x, &y)?.array_type()?.to_string(), "f32[7, 5, 4]");
    /// assert_eq!(b.matmul(&y, &x).unwrap_err().code(), "size-mismatch");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// TY2; [P1 to P5](indim_shape::rules#products-p); E5 `too-large`.
    #[track_caller]
    pub fn matmul(&self, x: impl Operand, y: impl Operand) -> BuildResult {
        self.product(&ContractionRule::Matmul, x, y, None)
    }

    /// NumPy's `dot`: sums products along the last axis of `x` and the second last axis of `y`, or the
    /// only axis of `y`. The result has the remaining axes of `x`, then those of `y`. If an operand is a
    /// scalar, the product is element-wise.
    ///
    /// # Errors
    /// Like [`GraphBuilder::matmul`].
    #[track_caller]
    pub fn dot(&self, x: impl Operand, y: impl Operand) -> BuildResult {
        self.product(&ContractionRule::Dot, x, y, None)
    }

    /// NumPy's `inner`: sums products along the last axis of each operand. If an operand is a scalar, the
    /// product is element-wise.
    ///
    /// # Errors
    /// Like [`GraphBuilder::matmul`].
    #[track_caller]
    pub fn inner(&self, x: impl Operand, y: impl Operand) -> BuildResult {
        self.product(&ContractionRule::Inner, x, y, None)
    }

    /// NumPy's `outer`: each element of `x` times each of `y`, both flattened.
    ///
    /// # Errors
    /// Like [`GraphBuilder::matmul`].
    #[track_caller]
    pub fn outer(&self, x: impl Operand, y: impl Operand) -> BuildResult {
        let [x, y] = self.operands_of("outer", x, y)?;
        let rule = ContractionRule::Tensordot { x: Vec::new(), y: Vec::new() };
        self.product_of("outer", &rule, [self.flatten_value(x)?, self.flatten_value(y)?], None)
    }

    /// NumPy's `matvec`: matrices in the last two axes of `x` times vectors in the last axis of `y`.
    ///
    /// # Errors
    /// Like [`GraphBuilder::matmul`].
    #[track_caller]
    pub fn matvec(&self, x: impl Operand, y: impl Operand) -> BuildResult {
        self.product(&ContractionRule::Matvec, x, y, None)
    }

    /// NumPy's `vecmat`: vectors in the last axis of `x`, conjugated if they are complex, times matrices in
    /// the last two axes of `y`.
    ///
    /// # Errors
    /// Like [`GraphBuilder::matmul`].
    #[track_caller]
    pub fn vecmat(&self, x: impl Operand, y: impl Operand) -> BuildResult {
        self.product(&ContractionRule::Vecmat, x, y, None)
    }

    /// NumPy's `vecdot`: products of vectors along one axis of each operand; the other axes broadcast.
    /// Complex elements of `x` are conjugated.
    ///
    /// # Errors
    /// Like [`GraphBuilder::matmul`].
    #[track_caller]
    pub fn vecdot(&self, x: impl Operand, y: impl Operand, axis: i64) -> BuildResult {
        self.product(&ContractionRule::Vecdot { axis }, x, y, None)
    }

    /// NumPy's `tensordot`: sums products along pairs of axes, the first of `x_axes` with the first of
    /// `y_axes` and so on. The result has the remaining axes of `x`, then those of `y`. Without axes it
    /// is the outer product.
    ///
    /// # Errors
    /// Like [`GraphBuilder::matmul`].
    #[track_caller]
    pub fn tensordot(
        &self,
        x: impl Operand,
        y: impl Operand,
        x_axes: &[i64],
        y_axes: &[i64],
    ) -> BuildResult {
        let rule = ContractionRule::Tensordot { x: x_axes.to_vec(), y: y_axes.to_vec() };
        self.product(&rule, x, y, None)
    }

    /// XLA's `dot_general`. `dtype` is the element type of the result, XLA's `preferred_element_type`;
    /// the default is the operands' type. If `dtype` is wider, by class and then by size, operands are
    /// converted to it first, as in [`GraphBuilder::product`].
    ///
    /// # Errors
    /// Like [`GraphBuilder::matmul`].
    #[track_caller]
    pub fn dot_general(
        &self,
        lhs: impl Operand,
        rhs: impl Operand,
        dimensions: &DotDimensions,
        dtype: Option<DType>,
    ) -> BuildResult {
        self.product(&ContractionRule::DotGeneral(dimensions.clone()), lhs, rhs, dtype)
    }

    /// The product of two operands under a rule. `dtype` is the element type of the result; the default
    /// is the operands' type. If `dtype` is wider, the operands are converted to it first; otherwise the
    /// sum is converted. A type is wider by class (`bool`, integers, floats, complex numbers), then by
    /// size. The conversion of operands rounds where the wider type has fewer digits: `i64` to `f32`,
    /// `i32` to `f16`, `f64` to `c64`.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    /// use indim_shape::ContractionRule;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I8, [2])?;
    /// let sum = b.product(&ContractionRule::Dot, &x, &x, Some(DType::I32))?;
    /// let graph = b.finish(&[sum])?;
    /// let x = Array::new([2], vec![100_i8, 100])?;
    /// assert_eq!(evaluate(&graph, &[x])?, [Array::from_scalar(20_000_i32)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Like [`GraphBuilder::matmul`].
    #[track_caller]
    pub fn product(
        &self,
        rule: &ContractionRule,
        x: impl Operand,
        y: impl Operand,
        dtype: Option<DType>,
    ) -> BuildResult {
        let name = name_of(rule);
        let operands = self.operands_of(name, x, y)?;
        self.product_of(name, rule, operands, dtype)
    }

    /// The values of two operands of one type.
    #[track_caller]
    fn operands_of(
        &self,
        name: &'static str,
        x: impl Operand,
        y: impl Operand,
    ) -> Result<[Value; 2], GraphError> {
        let operands: [OperandArg; 2] = [x.into_arg(), y.into_arg()];
        let ids = self.ids_of(name, &operands, 0)?;
        self.check_types(name, &ids)?;
        Ok([self.value(ids[0]), self.value(ids[1])])
    }

    /// The common element type of the operands; an error if their types differ.
    #[track_caller]
    pub(crate) fn check_types(
        &self,
        name: &'static str,
        ids: &[ValueId],
    ) -> Result<DType, GraphError> {
        let types: Vec<ArrayType> = ids.iter().map(|&id| self.type_of(id)).collect();
        self.checked(name, ids, check_operands(&types, types.len(), false, |_| true))
    }

    #[track_caller]
    fn product_of(
        &self,
        name: &'static str,
        rule: &ContractionRule,
        [x, y]: [Value; 2],
        dtype: Option<DType>,
    ) -> BuildResult {
        let ids = [x.expect_id(), y.expect_id()];
        let form = match rule.elaborate(&ids.map(|id| self.type_of(id).shape)) {
            Ok(form) => form,
            Err(error) => return Err(self.error(name, &ids, GraphErrorKind::Contraction(error))),
        };
        let own = self.type_of(ids[0]).dtype;
        let types = ProductTypes::new(own, dtype.unwrap_or(own));
        let is_conjugated = own.class() == DTypeClass::Complex && conjugates(rule);
        let x = if is_conjugated { x.conj() } else { x };
        self.elaborated_product(name, &form, [&x, &y], types)
    }

    /// The product of two values in an explicit form.
    #[track_caller]
    pub(super) fn elaborated_product(
        &self,
        name: &'static str,
        form: &ContractionForm,
        [x, y]: [&Value; 2],
        types: ProductTypes,
    ) -> BuildResult {
        let [x, y] = [self.convert(x, types.operands)?, self.convert(y, types.operands)?];
        self.sum_of_products(&NamedForm { name, form }, [&x, &y], types)
    }

    /// All elements of a value along one axis.
    fn flatten_value(&self, value: Value) -> BuildResult {
        let shape = value.array_type()?.shape;
        if shape.rank() == 1 {
            return Ok(value);
        }
        self.reshape_units(&value, [shape.iter().product::<usize>()])
    }
}

/// The name of a rule in messages.
fn name_of(rule: &ContractionRule) -> &'static str {
    match rule {
        ContractionRule::Matmul => "matmul",
        ContractionRule::Dot => "dot",
        ContractionRule::Inner => "inner",
        ContractionRule::Matvec => "matvec",
        ContractionRule::Vecmat => "vecmat",
        ContractionRule::Vecdot { .. } => "vecdot",
        ContractionRule::Tensordot { .. } => "tensordot",
        ContractionRule::DotGeneral(_) => "dot_general",
        _ => "product",
    }
}

/// Whether a rule conjugates the complex elements of the first operand.
fn conjugates(rule: &ContractionRule) -> bool {
    matches!(rule, ContractionRule::Vecdot { .. } | ContractionRule::Vecmat)
}
