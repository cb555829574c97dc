//! The bodies of operations, conversions and reductions. Each is recorded once per process.
//!
//! An operation that computes in a wider type is composed of three bodies: widening, operation, narrowing.
//! One inlined Rust function for each of these operations would take the Rust compiler a minute.

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use foldhash::HashMap;
use indim_ops::{
    Binary, ConvertTo, ConvertVisitor, DType, Element, ElementLanes, Fold, FoldVisitor, FromWide,
    NarrowElement, Op, OpVisitor, ReduceOp, Ternary, Unary, visit_convert,
};

use crate::bf16::push_bf16_bits;
use crate::body::{Body, LaneType, Primitive, SsaValue};
use crate::builder::BodyBuilder;
use crate::record::{RecordingBackend, record};

/// Names a definition of `indim-ops`: a function that is written once over any lane back end. Its body
/// computes this function as SSA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Definition {
    /// An operation whose last operand has this element type.
    Operation(Op, DType),
    /// A conversion of the first type to the second.
    Conversion(DType, DType),
    /// Combines an accumulator and an element of this type. Not for arg-reductions. A NaN result need
    /// not be canonical: only the final result of a reduction is made canonical.
    Fold(ReduceOp, DType),
    /// The identity of a reduction for this type; the body has no inputs. Not for arg-reductions.
    Identity(ReduceOp, DType),
}

/// The bodies recorded so far.
static BODIES: LazyLock<RwLock<HashMap<Definition, Arc<Body>>>> = LazyLock::new(RwLock::default);

impl Definition {
    /// The body, with an input per operand. `None` if the operation or reduction is undefined for the type.
    ///
    /// ```
    /// use indim_codegen::Definition;
    /// use indim_ops::{DType, Op};
    /// let body = Definition::Operation(Op::Add, DType::I8).body().unwrap();
    /// assert_eq!(body.interpret(&[[100, 0], [100, 0]]), [[200, 0]]);
    /// ```
    pub fn body(self) -> Option<Arc<Body>> {
        let found = BODIES.read().unwrap_or_else(PoisonError::into_inner).get(&self).cloned();
        if found.is_some() {
            return found;
        }
        // Two threads may record the same definition; the first body is kept.
        let body = Arc::new(match self {
            Definition::Operation(op, dtype) => op.visit(dtype, OperationRecorder { op })?,
            Definition::Conversion(from, to) => conversion(from, to),
            Definition::Fold(op, dtype) => op.visit(dtype, FoldRecorder { op })?,
            Definition::Identity(op, dtype) => op.visit(dtype, IdentityRecorder)?,
        });
        let mut recorded = BODIES.write().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(recorded.entry(self).or_insert(body)))
    }
}

/// Records an operation.
struct OperationRecorder {
    op: Op,
}

impl OpVisitor for OperationRecorder {
    type Output = Body;

    fn unary<O: Unary<T> + 'static, T: Element>(self) -> Body {
        record(&[T::DTYPE], |operands| {
            Some(O::Result::into_any(O::apply_in::<RecordingBackend>(T::from_any(operands[0])?)))
        })
    }

    fn binary<O: Binary<T> + 'static, T: Element>(self) -> Body {
        record(&[T::DTYPE; 2], |operands| {
            let (x, y) = (T::from_any(operands[0])?, T::from_any(operands[1])?);
            Some(O::Result::into_any(O::apply_in::<RecordingBackend>(x, y)))
        })
    }

    fn ternary<O: Ternary<T> + 'static, T: Element>(self) -> Body {
        record(&[O::First::DTYPE, T::DTYPE, T::DTYPE], |operands| {
            let first = O::First::from_any(operands[0])?;
            let (x, y) = (T::from_any(operands[1])?, T::from_any(operands[2])?);
            Some(O::Result::into_any(O::apply_in::<RecordingBackend>(first, x, y)))
        })
    }

    fn widened_unary<O, T>(self) -> Body
    where
        O: Unary<T, Result: FromWide<<O as Unary<T::Wide>>::Result>> + Unary<T::Wide> + 'static,
        T: NarrowElement,
    {
        self.widened::<T>(&[T::DTYPE], narrowing::<<O as Unary<T>>::Result, _>())
    }

    fn widened_binary<O, T>(self) -> Body
    where
        O: Binary<T, Result: FromWide<<O as Binary<T::Wide>>::Result>> + Binary<T::Wide> + 'static,
        T: NarrowElement,
    {
        self.widened::<T>(&[T::DTYPE; 2], narrowing::<<O as Binary<T>>::Result, _>())
    }

    fn widened_ternary<O, T>(self) -> Body
    where
        O: Ternary<T, Result: FromWide<<O as Ternary<T::Wide>>::Result>>
            + Ternary<T::Wide>
            + 'static,
        T: NarrowElement,
    {
        let dtypes = [<O as Ternary<T>>::First::DTYPE, T::DTYPE, T::DTYPE];
        self.widened::<T>(&dtypes, narrowing::<<O as Ternary<T>>::Result, _>())
    }
}

impl OperationRecorder {
    /// Widens the operands, applies the operation of the wider type, and narrows the result. An operand of
    /// type `bool` is not widened.
    fn widened<T: NarrowElement>(&self, dtypes: &[DType], narrowing: Body) -> Body {
        let operation = Definition::Operation(self.op, T::Wide::DTYPE).body();
        let operation = operation.expect("invariant: the wider type has the operation");
        compose_widened(dtypes, &widening::<T>(), &operation, &narrowing)
    }
}

/// The body of an operation on widened operands, with its result narrowed.
fn compose_widened(dtypes: &[DType], widening: &Body, operation: &Body, narrowing: &Body) -> Body {
    let mut builder = BodyBuilder::default();
    let mut operands: Vec<[SsaValue; 2]> = Vec::with_capacity(dtypes.len());
    for &dtype in dtypes {
        let lanes = builder.input(dtype);
        operands.push(match dtype {
            DType::Bool => lanes,
            _ => builder.inline(widening, &[lanes]),
        });
    }
    let wide = builder.inline(operation, &operands);
    let result = builder.inline(narrowing, &[wide]);
    builder.output(narrowing.outputs[0].0, result);
    builder.finish()
}

/// The body that converts `T` to the wider type in which it is computed.
fn widening<T: NarrowElement>() -> Body {
    if T::DTYPE == DType::F16 {
        return unary_body(DType::F16, Primitive::WidenF16, DType::F32);
    }
    record(&[T::DTYPE], |operands| {
        Some(T::Wide::into_any(T::widen::<RecordingBackend>(T::from_any(operands[0])?)))
    })
}

/// The body that converts a result from the wider type to `T`.
fn narrowing<T: FromWide<Wide>, Wide: Element>() -> Body {
    if T::DTYPE == DType::F16 {
        return unary_body(DType::F32, Primitive::RoundToF16, DType::F16);
    }
    if T::DTYPE == DType::Bf16 && Wide::DTYPE == DType::F32 {
        return rounding_to_bf16();
    }
    record(&[Wide::DTYPE], |operands| {
        Some(T::into_any(T::from_wide::<RecordingBackend>(Wide::from_any(operands[0])?)))
    })
}

/// The body of one unary primitive.
fn unary_body(from: DType, primitive: Primitive, to: DType) -> Body {
    let mut builder = BodyBuilder::default();
    let [x, _] = builder.input(from);
    let result = builder.push(primitive, LaneType::of_element(to).0, &[x]);
    builder.output(to, [result]);
    builder.finish()
}

/// The rounding of an `f32` to `bf16`.
fn rounding_to_bf16() -> Body {
    let mut builder = BodyBuilder::default();
    let [x, _] = builder.input(DType::F32);
    let result = push_bf16_bits(&mut builder, x);
    builder.output(DType::Bf16, [result]);
    builder.finish()
}

/// The body of a conversion. Conversions from `f16` go through `f32`, and so do conversions to `f16` and
/// `bf16` from types that `f32` represents exactly: the bits are those of the definitions. These bodies
/// use the conversion primitives that processors have, and the rounding primitive of `bf16`.
fn conversion(from: DType, to: DType) -> Body {
    use DType::{Bf16, Bool, F16, F32, I8, I16, U8, U16};
    let f32_conversion = |from, to| {
        let body = Definition::Conversion(from, to).body();
        body.expect("invariant: there is a conversion between any two types")
    };
    match (from, to) {
        (F16, F16) => visit_convert(from, to, ConversionRecorder),
        (F16, _) => compose(&unary_body(F16, Primitive::WidenF16, F32), &f32_conversion(F32, to)),
        (F32, F16) => unary_body(F32, Primitive::RoundToF16, F16),
        (F32, Bf16) => rounding_to_bf16(),
        (Bool | I8 | I16 | U8 | U16 | Bf16, F16) => {
            compose(&f32_conversion(from, F32), &unary_body(F32, Primitive::RoundToF16, F16))
        }
        (Bool | I8 | I16 | U8 | U16, Bf16) => {
            compose(&f32_conversion(from, F32), &rounding_to_bf16())
        }
        _ => visit_convert(from, to, ConversionRecorder),
    }
}

/// The composition of two unary bodies: `second` applied to the result of `first`.
fn compose(first: &Body, second: &Body) -> Body {
    let mut builder = BodyBuilder::default();
    let x = builder.input(first.inputs[0]);
    let between = builder.inline(first, &[x]);
    let result = builder.inline(second, &[between]);
    builder.output(second.outputs[0].0, result);
    builder.finish()
}

/// Records a conversion.
struct ConversionRecorder;

impl ConvertVisitor for ConversionRecorder {
    type Output = Body;

    fn convert<A: ConvertTo<B>, B: Element>(self) -> Body {
        record(&[A::DTYPE], |operands| {
            Some(B::into_any(A::convert_in::<RecordingBackend>(A::from_any(operands[0])?)))
        })
    }

    fn convert_through(self, from: DType, through: DType, to: DType) -> Body {
        let [first, second] = [(from, through), (through, to)].map(|(from, to)| {
            let body = Definition::Conversion(from, to).body();
            body.expect("invariant: there is a conversion between any two types")
        });
        compose(&first, &second)
    }
}

/// Records the combination of two elements in a reduction.
struct FoldRecorder {
    op: ReduceOp,
}

impl FoldVisitor for FoldRecorder {
    type Output = Body;

    fn fold<F: Fold<T>, T: Element>(self) -> Body {
        if matches!(T::DTYPE, DType::F16 | DType::Bf16) {
            // 16-bit floats round after each combination, as the operation does.
            let operation = Definition::Operation(self.op.operation(), T::DTYPE).body();
            return (*operation.expect("invariant: a reduction's operation takes its types"))
                .clone();
        }
        record(&[T::DTYPE; 2], |operands| {
            let (x, y) = (T::from_any(operands[0])?, T::from_any(operands[1])?);
            Some(T::into_any(F::combine::<RecordingBackend>(x, y)))
        })
    }
}

/// Records the identity of a reduction.
struct IdentityRecorder;

impl FoldVisitor for IdentityRecorder {
    type Output = Body;

    fn fold<F: Fold<T>, T: Element>(self) -> Body {
        record(&[], |_| Some(T::into_any(F::identity::<RecordingBackend>())))
    }
}
