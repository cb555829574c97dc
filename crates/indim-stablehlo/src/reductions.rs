//! Elaboration of `reduce` and `reduce_window`: by a recognised reducer, or by any body.

use indim_builder::RegionBody;
use indim_model::FormatErrorKind;

use super::elaborate::{ElaborationResult, Elaborator, at};
use super::reducer;
use super::syntax::SyntaxOperation;
use super::windows;
use indim_xla::operation::Operation;
use indim_xla::reduction::{ReducedElements, reduce, reduce_by_body};
use indim_xla::value::{ArrayValue, XlaValue, scalar_types};

impl<'m> Elaborator<'m> {
    pub(super) fn reduce(
        &mut self,
        operation: &'m SyntaxOperation,
        operands: &[XlaValue],
        has_windows: bool,
    ) -> ElaborationResult<Vec<XlaValue>> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        let elements = if has_windows {
            let window = windows::of_reduce_window(operation, &self.attributes)?;
            ReducedElements::Windows(window)
        } else {
            ReducedElements::Axes(self.attributes.integers(operation, "dimensions")?)
        };
        let known = XlaValue::all_arrays(operands).map_err(fail)?;
        let b = &self.model_builder.builder;
        let reducer = reducer::of(operation, &self.attributes);
        let results = reducer.map_or(Ok(None), |reducer| reduce(b, &reducer, &known, &elements));
        let results = match results.map_err(fail)? {
            Some(results) => results,
            None => {
                let body = self.reducer_body(operation, &known)?;
                reduce_by_body(&mut self.model_builder, &body, &known, &elements).map_err(fail)?
            }
        };
        Ok(results.into_iter().map(XlaValue::from).collect())
    }

    /// The body of a reduction of values and as many starts: its region, or the operation that it applies.
    fn reducer_body(
        &mut self,
        operation: &'m SyntaxOperation,
        operands: &[ArrayValue],
    ) -> ElaborationResult<RegionBody> {
        let fail = |kind: FormatErrorKind| kind.in_text(at(operation));
        let (values, _) = operands.split_at(operands.len() / 2);
        let types = scalar_types(values.iter().chain(values)).map_err(fail)?;
        if let [block] = &operation.regions[..] {
            return self.region(operation, block, &types);
        }
        let Some(op) = reducer::applied(operation, &self.attributes) else {
            let what = "a reduction with this body is".to_owned();
            return Err(fail(FormatErrorKind::Unsupported { what }));
        };
        let states = self.model_builder.begin_region(&types).map_err(fail)?;
        let result = Operation::Elementwise(op).build(&self.model_builder.builder, &states, None);
        let result = result.map_err(fail)?;
        self.model_builder.end_region(&[result]).map_err(fail)
    }
}
