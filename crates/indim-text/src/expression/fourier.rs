//! Elaboration of Fourier transforms; `indim-ops` has their table.

use indim_builder::{FourierOptions, Value};
use indim_ops::fourier::function::{FourierAxes, FourierFunction, FourierNorm};

use super::elaborate::{ElaborateResult, Elaborator};
use super::error::{ExprError, ExprErrorKind};
use super::parameter::AttributeKey;
use super::structure::StructuralCall;
use super::syntax::AttributeValue;

impl Elaborator<'_, '_> {
    pub(super) fn fourier(
        &self,
        function: &FourierFunction,
        call: &StructuralCall<'_>,
    ) -> ElaborateResult<Value> {
        let x = self.value(call.nodes[0])?;
        let sizes = call.lengths()?;
        let rank = self.array_shape(&x, call.mark)?.rank() as i64;
        let unexpected = |found: &str, expected| {
            let kind = ExprErrorKind::Unexpected { found: found.to_owned(), expected };
            Err(ExprError::new(kind, call.mark))
        };
        let mut options = FourierOptions { axes: Vec::new(), sizes, ..FourierOptions::default() };
        options.axes = match (function.axes, &options.sizes) {
            (FourierAxes::Last, _) => vec![-1],
            (FourierAxes::LastTwo, _) => vec![-2, -1],
            (FourierAxes::All, None) => (0..rank).collect(),
            (FourierAxes::All, Some(sizes)) => (-(sizes.len() as i64)..0).collect(),
        };
        for given in call.attributes {
            match (given.attribute, &given.value) {
                (AttributeKey::Axes, AttributeValue::Integers(axes)) => options.axes = axes.clone(),
                (AttributeKey::Axes, AttributeValue::Names(names)) => {
                    return unexpected(&names.join(", "), "numbers of axes");
                }
                (_, AttributeValue::Word(word)) => match FourierNorm::from_name(word) {
                    Some(norm) => options.norm = norm,
                    None => return unexpected(word, "`backward`, `ortho` or `forward`"),
                },
                _ => {}
            }
        }
        if function.axes == FourierAxes::Last && options.axes.len() != 1 {
            return unexpected("a list", "one axis; `fftn` and `rfftn` take several");
        }
        self.builder
            .fourier(x, function.transform, &options)
            .map_err(|error| self.graph_error(error, call.nodes, call.mark))
    }
}
