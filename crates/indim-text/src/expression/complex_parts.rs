//! Functions of complex numbers that are computed from real and imaginary parts. NumPy has these
//! functions; the table of operations has them for real numbers only.

use core::f64::consts::{LN_2, LOG2_E, LOG10_E};

use indim_builder::Value;
use indim_graph::GraphError;
use indim_ops::Op;
use indim_shape::RuleSet;

use super::elaborate::Elaborator;
use super::typing::ComplexPlan;
use indim_graph::Literal;

type BuildResult = Result<Value, GraphError>;

impl<'b> Elaborator<'_, 'b> {
    pub(super) fn complex(&self, plan: ComplexPlan, x: Value) -> BuildResult {
        let b = self.builder;
        let scaled = |part: Value, factor: f64| {
            let factor = b.literal(Literal::Float(factor), part.array_type()?.dtype)?;
            b.elementwise(Op::Mul, &[part, factor], &RuleSet::Numpy)
        };
        match plan {
            ComplexPlan::Log2 => self.map_parts(b.log(x)?, |part| scaled(part, LOG2_E)),
            ComplexPlan::Log10 => self.map_parts(b.log(x)?, |part| scaled(part, LOG10_E)),
            ComplexPlan::Exp2 => b.exp(self.map_parts(x, |part| scaled(part, LN_2))?),
            ComplexPlan::Round => self.map_parts(x, |part| b.round_even(part)),
        }
    }

    /// Applies `function` to the real and to the imaginary part of `x`.
    fn map_parts(&self, x: Value, function: impl Fn(Value) -> BuildResult) -> BuildResult {
        let b = self.builder;
        let parts = [function(b.real(&x)?)?, function(b.imag(x)?)?];
        b.elementwise(Op::Complex, &parts, &RuleSet::None)
    }
}
