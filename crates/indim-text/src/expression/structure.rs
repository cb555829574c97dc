//! Elaboration of functions outside the table of operations; most of them change shapes or element types.

use indim_builder::Value;
use indim_graph::{GraphError, GraphErrorKind};
use indim_ops::{DType, Op};
use indim_shape::{RuleSet, Shape, TargetRule, saturating_size};

use super::elaborate::{ElaborateResult, Elaborator};
use super::error::{ExprError, ExprErrorKind};
use super::function::StructuralFunction;
use super::parameter::AttributeKey;
use super::syntax::{AttributeValue, NamedAttribute, NodeIndex};
use crate::span::Span;
use indim_graph::Literal;

/// A call of a function of this file, of random numbers or of a Fourier transform.
pub(super) struct StructuralCall<'c> {
    pub(super) nodes: &'c [NodeIndex],
    pub(super) attributes: &'c [NamedAttribute],
    pub(super) mark: Span,
}

impl<'e, 'b> Elaborator<'e, 'b> {
    pub(super) fn structural(
        &self,
        function: StructuralFunction,
        nodes: &[NodeIndex],
        attributes: &[NamedAttribute],
        mark: Span,
    ) -> ElaborateResult<Value> {
        let call = StructuralCall { nodes, attributes, mark };
        let result = match function {
            StructuralFunction::Cast(dtype) => return self.cast(nodes[0], dtype),
            StructuralFunction::Convert => return self.cast(nodes[0], call.element_type()),
            StructuralFunction::BroadcastInDim => return self.broadcast_in_dim(&call),
            StructuralFunction::Broadcast => {
                self.builder.broadcast(self.value(nodes[0])?, &call.sizes()?)
            }
            StructuralFunction::BroadcastTo => self.builder.broadcast_to_target(
                self.value(nodes[0])?,
                &TargetRule::Unidirectional,
                call.sizes()?,
            ),
            StructuralFunction::Reshape => {
                let x = self.value(nodes[0])?;
                let (shape, inferred) = self.reshape_target(&x, &call)?;
                self.builder.reshape_inferred(&x, shape, inferred)
            }
            StructuralFunction::Transpose => return self.transpose(&call),
            StructuralFunction::Iota => {
                let shape = call.sizes()?;
                let axis = self.iota_axis(&call, &shape)?;
                self.builder.iota(call.element_type(), shape, axis)
            }
            StructuralFunction::Copy => return self.value(nodes[0]),
            StructuralFunction::OnesLike => self.ones_like(self.value(nodes[0])?),
            StructuralFunction::SignBit => self.sign_bit(self.value(nodes[0])?),
        };
        result.map_err(|error| self.graph_error(error, nodes, mark))
    }

    fn ones_like(&self, x: Value) -> Result<Value, GraphError> {
        let one = self.builder.convert(self.builder.scalar(true), x.array_type()?.dtype)?;
        self.builder.broadcast_like(one, &[], &x)
    }

    /// `copysign(1, x) < 0`, which sees the sign of -0.0 and NaN. Under the rules numpy and named,
    /// integers and truth values are converted to `f64` first.
    fn sign_bit(&self, x: Value) -> Result<Value, GraphError> {
        let array_type = x.array_type()?;
        let dtype = array_type.dtype;
        let is_numpy = self.rule.is_none_or(super::typing::promotes);
        let x = match dtype.is_integer() || dtype == DType::Bool {
            true if is_numpy => self.builder.convert(x, DType::F64)?,
            _ => x,
        };
        let dtype = x.array_type()?.dtype;
        if !dtype.is_float() {
            let kind = GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype };
            let operands = vec![(String::new(), array_type)];
            return Err(GraphError::new(kind, "signbit", operands));
        }
        let number = |value| self.builder.literal(Literal::Int(value), dtype);
        let signed = self.builder.elementwise(Op::Copysign, &[number(1)?, x], &RuleSet::Numpy)?;
        self.builder.elementwise(Op::Lt, &[signed, number(0)?], &RuleSet::Numpy)
    }

    /// Under xla the list `dims` must increase; otherwise StableHLO's rule allows permutations.
    fn broadcast_in_dim(&self, call: &StructuralCall<'_>) -> ElaborateResult<Value> {
        let x = self.value(call.nodes[0])?;
        let shape = call.sizes()?;
        let dims = call.integers(&[AttributeKey::Dims]).unwrap_or_default();
        let result = match self.rule {
            Some(RuleSet::Xla { .. }) => {
                let rule = TargetRule::XlaBroadcastInDim { dims: dims.to_vec() };
                self.builder.broadcast_to_target(x, &rule, shape)
            }
            _ => self.builder.broadcast_in_dim(x, dims, shape),
        };
        result.map_err(|error| self.graph_error(error, call.nodes, call.mark))
    }

    /// The default permutation reverses the axes, as in NumPy.
    fn transpose(&self, call: &StructuralCall<'_>) -> ElaborateResult<Value> {
        let x = self.value(call.nodes[0])?;
        let rank = self.array_shape(&x, call.mark)?.rank() as i64;
        let reversed: Vec<i64> = (0..rank).rev().collect();
        let permutation = call.integers(&[AttributeKey::Permutation]).unwrap_or(&reversed);
        self.builder
            .transpose(x, permutation)
            .map_err(|error| self.graph_error(error, call.nodes, call.mark))
    }

    fn iota_axis(&self, call: &StructuralCall<'_>, shape: &Shape) -> ElaborateResult<i64> {
        match call.integers(&[AttributeKey::Axis]).and_then(<[i64]>::first) {
            Some(axis) => Ok(*axis),
            None if shape.rank() == 1 => Ok(0),
            None => {
                let function = self.text(call.mark).to_owned();
                let kind = ExprErrorKind::MissingArgument { function, argument: "axis" };
                Err(ExprError::new(kind, call.mark))
            }
        }
    }

    /// The target shape of a reshape, and the axis whose size is -1, which is inferred from the number of
    /// elements.
    fn reshape_target(&self, x: &Value, call: &StructuralCall<'_>) -> ReshapeTarget {
        let target = call.integers(&[AttributeKey::Shape]).unwrap_or_default();
        let Some(inferred) = target.iter().position(|size| *size == -1) else {
            return Ok((call.sizes()?, None));
        };
        let not_inferable = || ExprError::new(ExprErrorKind::SizeNotInferable, call.mark);
        let mut known_axes = (0..target.len()).filter(|axis| *axis != inferred);
        let known_product = known_axes.try_fold(1usize, |product, axis| {
            product.checked_mul(usize::try_from(target[axis]).ok()?)
        });
        let count = self.array_shape(x, call.mark)?.element_count().map_err(|_| not_inferable())?;
        let known_product = known_product.filter(|product| *product != 0 && count % product == 0);
        let size = count / known_product.ok_or_else(not_inferable)?;
        let sizes = target.iter().map(|&given| usize::try_from(given).unwrap_or(size));
        Ok((sizes.collect(), Some(inferred)))
    }
}

/// The target shape of a reshape, and the axis whose size is inferred.
type ReshapeTarget = ElaborateResult<(Shape, Option<usize>)>;

impl StructuralCall<'_> {
    fn integers(&self, keys: &[AttributeKey]) -> Option<&[i64]> {
        self.attributes.iter().find_map(|attribute| match &attribute.value {
            AttributeValue::Integers(values) if keys.contains(&attribute.attribute) => {
                Some(&values[..])
            }
            _ => None,
        })
    }

    fn element_type(&self) -> DType {
        self.given_element_type()
            .expect("invariant: the parser refuses a call without its required attributes")
    }

    pub(super) fn given_element_type(&self) -> Option<DType> {
        self.attributes.iter().find_map(|attribute| match attribute.value {
            AttributeValue::ElementType(dtype) => Some(dtype),
            _ => None,
        })
    }

    /// The value of `shape=` or `sizes=`.
    fn sizes(&self) -> ElaborateResult<Shape> {
        let sizes = self.given_sizes()?;
        Ok(sizes.expect("invariant: the parser refuses a call without its required attributes"))
    }

    /// Like [`StructuralCall::sizes`], but `None` if the call has neither attribute.
    pub(super) fn given_sizes(&self) -> ElaborateResult<Option<Shape>> {
        self.sizes_of(&[AttributeKey::Shape, AttributeKey::Sizes])
    }

    /// The value of `n=` or `s=`.
    pub(super) fn lengths(&self) -> ElaborateResult<Option<Vec<usize>>> {
        Ok(self.sizes_of(&[AttributeKey::Lengths])?.map(|shape| shape.to_vec()))
    }

    fn sizes_of(&self, keys: &[AttributeKey]) -> ElaborateResult<Option<Shape>> {
        let sizes = self.attributes.iter().find_map(|attribute| match &attribute.value {
            AttributeValue::Integers(sizes) if keys.contains(&attribute.attribute) => {
                Some((sizes, attribute.span))
            }
            _ => None,
        });
        let Some((sizes, span)) = sizes else { return Ok(None) };
        let size = |size: &i64| match u64::try_from(*size) {
            Ok(size) => Ok(saturating_size(size)),
            Err(_) => Err(ExprError::new(ExprErrorKind::NegativeSize { size: *size }, span)),
        };
        Ok(Some(sizes.iter().map(size).collect::<ElaborateResult<Shape>>()?))
    }
}
