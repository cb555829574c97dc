//! Bodies that fold their results into accumulators, for reductions.

use indim_ops::{DType, ReduceOp};

use crate::body::{Body, LaneType, Primitive, SsaValue};
use crate::builder::BodyBuilder;
use crate::definitions::Definition;

impl Body {
    /// Folds each output into an accumulator. `folds` gives the reduction and the accumulator type of each
    /// output. Accumulators become the outputs and the last inputs. Booleans are folded as bytes.
    ///
    /// `None` for arg-reductions, for a reduction that does not take the type, for complex numbers, and for
    /// 16-bit floats, which round after each fold.
    ///
    /// ```
    /// use indim_codegen::{BodyBuilder, LaneType, Primitive};
    /// use indim_ops::{DType, ReduceOp};
    /// let mut builder = BodyBuilder::new(vec![DType::F32]);
    /// let x = builder.push(Primitive::Load { input: 0, component: 0 }, LaneType::F32, &[]);
    /// builder.output(DType::F32, [x]);
    /// let sum = builder.finish().with_folds(&[(ReduceOp::Add, DType::F64)]).unwrap();
    /// assert_eq!(sum.to_string(), "\
    /// v0 = load.f32 input 0
    /// v1 = cast.f32.f64 v0
    /// v2 = load.f64 input 1
    /// v3 = add.f64 v1, v2
    /// output 0: f64 = v3, initially 0x0
    /// ");
    /// ```
    pub fn with_folds(&self, folds: &[(ReduceOp, DType)]) -> Option<Body> {
        let mut builder = BodyBuilder::default();
        let inputs: Vec<[SsaValue; 2]> =
            self.inputs.iter().map(|&dtype| builder.input(dtype)).collect();
        let elements = builder.inline_all(self, &inputs);
        let mut identities = Vec::with_capacity(folds.len());
        for (&(op, dtype), (&(source, _), element)) in
            folds.iter().zip(self.outputs.iter().zip(elements))
        {
            let dtype = if dtype == DType::Bool { DType::U8 } else { dtype };
            let is_rounded = matches!(dtype, DType::F16 | DType::Bf16);
            if op.is_arg_reduction() || is_rounded || LaneType::of_element(dtype).1 > 1 {
                return None;
            }
            let element = match source == dtype {
                true => element,
                false => {
                    let conversion = Definition::Conversion(source, dtype).body()?;
                    builder.inline(&conversion, &[element])
                }
            };
            let accumulator = builder.input(dtype);
            let fold = Definition::Fold(op, dtype).body()?;
            let lanes = builder.inline(&fold, &[accumulator, element]);
            builder.output(dtype, lanes);
            identities.push(identity(op, dtype)?);
        }
        Some(Body { identities, ..builder.finish() }.simplified())
    }
}

/// The bits of a reduction's identity; `None` for arg-reductions and undefined types.
fn identity(op: ReduceOp, dtype: DType) -> Option<u64> {
    let body = Definition::Identity(op, dtype).body()?;
    match body.instruction(body.outputs[0].1[0]).primitive {
        Primitive::Constant(bits) => Some(bits),
        _ => None,
    }
}
