//! Elaboration of slices whose starts are elements of arrays: `dynamic_slice` and `dynamic_update_slice`.

use indim_builder::{Index, Value};
use indim_graph::{GraphError, GraphErrorKind};

use super::data_movement::DataMovementCall;
use super::elaborate::{ElaborateResult, Elaborator};
use super::error::{ExprError, ExprErrorKind};
use super::parameter::AttributeKey;

impl Elaborator<'_, '_> {
    pub(super) fn dynamic_slice(&self, call: &DataMovementCall<'_>) -> ElaborateResult<Value> {
        let [x, starts] = [self.value(call.nodes[0])?, self.value(call.nodes[1])?];
        let Some(given) = call.integers(AttributeKey::Sizes) else {
            let function = call.function.name().to_owned();
            let kind = ExprErrorKind::MissingArgument { function, argument: "sizes" };
            return Err(ExprError::new(kind, call.mark));
        };
        let mut sizes = Vec::with_capacity(given.len());
        for &size in given {
            let span = call.span_of(AttributeKey::Sizes).unwrap_or(call.mark);
            let negative = || ExprError::new(ExprErrorKind::NegativeSize { size }, span);
            sizes.push(usize::try_from(size).map_err(|_| negative())?);
        }
        let starts = self.starts(call, &x, &starts)?;
        self.graph(call, self.builder.dynamic_slice(x, &starts, &sizes))
    }

    pub(super) fn dynamic_update_slice(
        &self,
        call: &DataMovementCall<'_>,
    ) -> ElaborateResult<Value> {
        let [x, update, starts] = [0, 1, 2].map(|operand| self.value(call.nodes[operand]));
        let (x, update) = (x?, update?);
        let starts = self.starts(call, &x, &starts?)?;
        self.graph(call, self.builder.dynamic_update_slice(x, update, &starts))
    }

    /// The start along each axis of `x` as a scalar; a negative start counts from the end.
    fn starts(
        &self,
        call: &DataMovementCall<'_>,
        x: &Value,
        starts: &Value,
    ) -> ElaborateResult<Vec<Value>> {
        let shape = self.array_shape(x, call.mark)?;
        let of_starts = self.array_shape(starts, call.mark)?;
        let [given] = of_starts[..] else {
            let (function, expected) =
                (call.function.name(), "a vector with a start for each axis");
            let kind = ExprErrorKind::BadArgument { function, argument: "starts", expected };
            return Err(ExprError::new(kind, call.mark));
        };
        if given != shape.rank() {
            let kind = GraphErrorKind::SliceRank { given, rank: shape.rank() };
            let error = GraphError::new(kind, call.function.name(), Vec::new());
            return Err(self.graph_error(error, call.nodes, call.mark));
        }
        self.builder.pin(starts, 0, "it has a start for each axis");
        let start = |(axis, &size): (usize, &usize)| {
            let start = self.graph(call, self.builder.index(starts, &[Index::At(axis as i64)]))?;
            self.graph(call, self.builder.starts_from_end(&start, size))
        };
        shape.iter().enumerate().map(start).collect()
    }
}
