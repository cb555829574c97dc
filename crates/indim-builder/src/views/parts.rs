//! Parts of axes whose sizes follow from those of other values: the derivatives of slices and concatenations.

use indim_graph::{AxisSlice, GraphError, SlicePadding};

use crate::builder::{BuildResult, GraphBuilder, Value};

impl GraphBuilder {
    /// `elements` with `widths` copies of the scalar `value` before and after them along an axis. They then
    /// have the size of the sliced value again. `slice` has this value and the slice.
    #[track_caller]
    pub(crate) fn pad_slice(
        &self,
        slice: [&Value; 2],
        axis: usize,
        elements: &Value,
        value: &Value,
        widths: [usize; 2],
    ) -> BuildResult {
        let fill = |width: usize| match width {
            0 => Ok(None),
            width => self.filled_axis(elements, value, axis, width).map(Some),
        };
        let (low, high) = (fill(widths[0])?, fill(widths[1])?);
        let id = |value: &Value| self.id("pad", value);
        let padding = SlicePadding {
            slice: [id(slice[0])?, id(slice[1])?],
            axis,
            low: low.as_ref().map(id).transpose()?,
            middle: id(elements)?,
            high: high.as_ref().map(id).transpose()?,
        };
        self.with_facts(|facts| facts.padding(padding));
        let parts = low.into_iter().chain([elements.clone()]).chain(high);
        self.concatenate(&parts.collect::<Vec<Value>>(), axis as i64)
    }

    /// The part of an axis of a concatenation that has the elements of `part`, after those of `before`.
    #[track_caller]
    pub(crate) fn part_of_axis(
        &self,
        x: &Value,
        axis: usize,
        before: &[Value],
        part: &Value,
    ) -> BuildResult {
        let size_of = |value: &Value| Ok(value.array_type()?.shape[axis]);
        let start = before.iter().map(size_of).sum::<Result<usize, GraphError>>()?;
        let shape = x.array_type()?.shape;
        let mut slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
        slices[axis] = AxisSlice::new(start, size_of(part)?, 1);
        let [id, part] = [self.id("slice", x)?, self.id("slice", part)?];
        let result = self.slice_unpinned("slice", id, &slices)?;
        let values = [id, self.id("slice", &result)?];
        let before = self.ids("slice", before)?;
        self.with_facts(|facts| facts.part(values, axis, part, before));
        Ok(result)
    }
}
