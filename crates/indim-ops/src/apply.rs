//! Dynamic dispatch of operations and conversions on lanes of any back end.
//!
//! A code generator calls these functions, because it knows operations and types only at run time.

use crate::dtype::DType;
use crate::element::Element;
use crate::element_lanes::{AnyLane, ElementLanes};
use crate::meaning::convert::{ConvertTo, ConvertVisitor, visit_convert};
use crate::op::{Binary, Op, OpVisitor, Ternary, Unary};
use indim_lanes::lane::LaneBackend;

impl Op {
    /// The result of the operation on one element of each operand, in any lane back end; `None` if the
    /// operation takes another number of operands, or other types.
    ///
    /// ```
    /// use indim_ops::{AnyLane, Op, ScalarBackend};
    /// let operands = [AnyLane::<ScalarBackend>::I8(100), AnyLane::I8(100)];
    /// assert!(matches!(Op::Add.apply(&operands), Some(AnyLane::I8(-56))));
    /// assert!(Op::Sqrt.apply(&operands[..1]).is_none(), "integers have no square root");
    /// ```
    pub fn apply<L: LaneBackend>(self, operands: &[AnyLane<L>]) -> Option<AnyLane<L>> {
        self.visit(operands.last()?.dtype(), ApplyVisitor { operands })?
    }
}

impl<L: LaneBackend> AnyLane<L> {
    /// The element converted to type `to`.
    ///
    /// ```
    /// use indim_ops::{AnyLane, DType, ScalarBackend};
    /// let converted = AnyLane::<ScalarBackend>::F64(-1.5).convert(DType::I32);
    /// assert!(matches!(converted, AnyLane::I32(-1)));
    /// ```
    pub fn convert(self, to: DType) -> AnyLane<L> {
        let converted = visit_convert(self.dtype(), to, ApplyVisitor { operands: &[self] });
        converted.expect("invariant: visited with its own type")
    }
}

/// Visitor that applies an operation or a conversion to these operands.
struct ApplyVisitor<'a, L: LaneBackend> {
    operands: &'a [AnyLane<L>],
}

impl<L: LaneBackend> OpVisitor for ApplyVisitor<'_, L> {
    type Output = Option<AnyLane<L>>;

    fn unary<O: Unary<T> + 'static, T: Element>(self) -> Option<AnyLane<L>> {
        let &[x] = self.operands else { return None };
        Some(O::Result::into_any(O::apply_in::<L>(T::from_any(x)?)))
    }

    fn binary<O: Binary<T> + 'static, T: Element>(self) -> Option<AnyLane<L>> {
        let &[x, y] = self.operands else { return None };
        Some(O::Result::into_any(O::apply_in::<L>(T::from_any(x)?, T::from_any(y)?)))
    }

    fn ternary<O: Ternary<T> + 'static, T: Element>(self) -> Option<AnyLane<L>> {
        let &[first, x, y] = self.operands else { return None };
        let first = O::First::from_any(first)?;
        Some(O::Result::into_any(O::apply_in::<L>(first, T::from_any(x)?, T::from_any(y)?)))
    }
}

impl<L: LaneBackend> ConvertVisitor for ApplyVisitor<'_, L> {
    type Output = Option<AnyLane<L>>;

    fn convert<A: ConvertTo<B>, B: Element>(self) -> Option<AnyLane<L>> {
        let &[x] = self.operands else { return None };
        Some(B::into_any(A::convert_in::<L>(A::from_any(x)?)))
    }

    fn convert_through(self, _: DType, through: DType, to: DType) -> Option<AnyLane<L>> {
        let &[x] = self.operands else { return None };
        Some(x.convert(through).convert(to))
    }
}
