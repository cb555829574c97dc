//! Elaboration of random numbers.

use indim_builder::Value;
use indim_ops::DType;

use super::elaborate::{ElaborateResult, Elaborator};
use super::random_function::RandomFunction;
use super::structure::StructuralCall;

impl Elaborator<'_, '_> {
    pub(super) fn random(
        &self,
        function: RandomFunction,
        call: &StructuralCall<'_>,
    ) -> ElaborateResult<Value> {
        let (b, key) = (self.builder, self.value(call.nodes[0])?);
        let shape = call.given_sizes()?;
        let dtype = |default: DType| call.given_element_type().unwrap_or(default);
        let result = match (function, shape) {
            (RandomFunction::FoldIn, _) => b.random_fold_in(key, self.value(call.nodes[1])?),
            (RandomFunction::Split, shape) => {
                b.random_split(key, shape.unwrap_or_else(|| [2].into()))
            }
            (RandomFunction::Bits, shape) => {
                b.random_bits(key, dtype(DType::U32), shape.unwrap_or_default())
            }
            (RandomFunction::Uniform, shape) => {
                b.random_uniform(key, dtype(DType::F32), shape.unwrap_or_default())
            }
            (RandomFunction::Normal, shape) => {
                b.random_normal(key, dtype(DType::F32), shape.unwrap_or_default())
            }
        };
        result.map_err(|error| self.graph_error(error, call.nodes, call.mark))
    }
}
