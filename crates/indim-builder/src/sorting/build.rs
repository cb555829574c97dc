//! The builder's methods for sorts, the greatest elements, and searches in sorted tables.

use indim_graph::signature::{check_search, check_sort};
use indim_graph::{AxisSlice, GraphError, NodeKind, SortResult};
use indim_ops::{ArrayType, SearchSide};

use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::{Operand, OperandArg};

impl GraphBuilder {
    /// The elements sorted along an axis, with unchanged bits: a stable sort in the total order of
    /// [`indim_ops::SortOrder`]. NaN comes last, or first in descending order. Equal elements, such as
    /// -0 and +0, keep their order in both directions.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [2, 3])?;
    /// let graph = b.finish(&[b.sort(&x, 1, false)?, b.argsort(&x, 1, true)?])?;
    /// let results = evaluate(&graph, &[Array::new([2, 3], vec![3, 1, 2, 5, 5, 9])?])?;
    /// assert_eq!(results[0].elements::<i32>(), Ok(&[1, 2, 3, 5, 5, 9][..]));
    /// assert_eq!(results[1].elements::<i64>(), Ok(&[0, 2, 1, 2, 0, 1][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `axis-out-of-range`.
    #[track_caller]
    pub fn sort(&self, x: impl Operand, axis: i64, descending: bool) -> BuildResult {
        self.sort_node("sort", vec![x.into_arg()], axis, descending, SortResult::Values)
    }

    /// The positions of the elements along an axis in sorted order, as `i64`, like NumPy's
    /// `argsort(kind="stable")`.
    ///
    /// # Errors
    /// `axis-out-of-range`.
    #[track_caller]
    pub fn argsort(&self, x: impl Operand, axis: i64, descending: bool) -> BuildResult {
        self.sort_node("argsort", vec![x.into_arg()], axis, descending, SortResult::Positions)
    }

    /// The positions along an axis in the sorted order of several keys of one shape, as `i64`. The first
    /// key is the most significant; NumPy's `lexsort` takes the keys in reverse.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let year = b.parameter("year", DType::I16, [3])?;
    /// let price = b.parameter("price", DType::F32, [3])?;
    /// let graph = b.finish(&[b.argsort_by(&[year, price], 0, false)?])?;
    /// let arguments = [Array::new([3], vec![2i16, 1, 2])?, Array::new([3], vec![0.5f32, 9.0, 0.25])?];
    /// assert_eq!(evaluate(&graph, &arguments)?[0].elements::<i64>(), Ok(&[1, 2, 0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `wrong-operand-count` without keys; `shapes-differ`; `axis-out-of-range`.
    #[track_caller]
    pub fn argsort_by(&self, keys: &[Value], axis: i64, descending: bool) -> BuildResult {
        let keys = keys.iter().cloned().map(OperandArg::Value).collect();
        self.sort_node("argsort", keys, axis, descending, SortResult::Positions)
    }

    #[track_caller]
    fn sort_node(
        &self,
        operation: &'static str,
        keys: Vec<OperandArg>,
        axis: i64,
        descending: bool,
        result: SortResult,
    ) -> BuildResult {
        let ids = self.ids_of(operation, &keys, 0)?;
        let types: Vec<ArrayType> = ids.iter().map(|&id| self.type_of(id)).collect();
        match check_sort(axis, result, &types) {
            Ok((axis, array_type)) => {
                self.check_size(operation, &array_type, &ids)?;
                ids[1..].iter().for_each(|&other| self.equate(ids[0], other));
                let kind = NodeKind::Sort { axis, descending, result };
                Ok(self.add_node(kind, &ids, array_type))
            }
            Err(kind) => Err(self.error(operation, &ids, kind)),
        }
    }

    /// The `count` greatest elements along an axis in descending order, and their positions. Equal elements
    /// keep the order of their positions; NaN is greatest. If `largest` is false, the smallest elements in
    /// ascending order.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [4])?;
    /// let graph = b.finish(&b.top_k(&x, 2, 0, true)?)?;
    /// let results = evaluate(&graph, &[Array::new([4], vec![1.0f32, 7.0, 3.0, 7.0])?])?;
    /// assert_eq!(results[0].elements::<f32>(), Ok(&[7.0, 7.0][..]));
    /// assert_eq!(results[1].elements::<i64>(), Ok(&[1, 3][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `axis-out-of-range`; `slice-out-of-range` for more elements than the axis has.
    #[track_caller]
    pub fn top_k(
        &self,
        x: impl Operand,
        count: usize,
        axis: i64,
        largest: bool,
    ) -> Result<[Value; 2], GraphError> {
        let (x, _, from_front) = self.along_axis("top_k", x, axis)?;
        let first =
            |sorted: Value| self.slice_axis(&sorted, from_front, AxisSlice::new(0, count, 1));
        Ok([first(self.sort(&x, axis, largest)?)?, first(self.argsort(&x, axis, largest)?)?])
    }

    /// NumPy's `searchsorted`: for each element of `values`, as `i64`, the position in a sorted table before
    /// which the element could be inserted. NaN is greater than every number. [`indim_ops::search_sorted`]
    /// also defines the result for a table that is not sorted.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::{DType, SearchSide};
    ///
    /// let b = GraphBuilder::new();
    /// let table = b.parameter("table", DType::I32, [3])?;
    /// let values = b.parameter("values", DType::I32, [2])?;
    /// let graph = b.finish(&[b.search_sorted(&table, &values, SearchSide::Right)?])?;
    /// let arguments = [Array::new([3], vec![10, 20, 30])?, Array::new([2], vec![20, 5])?];
    /// assert_eq!(evaluate(&graph, &arguments)?[0].elements::<i64>(), Ok(&[2, 0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// TY2; `table-rank` for a table that does not have one axis.
    #[track_caller]
    pub fn search_sorted(
        &self,
        table: impl Operand,
        values: impl Operand,
        side: SearchSide,
    ) -> BuildResult {
        let ids = self.ids_of("searchsorted", &[table.into_arg(), values.into_arg()], 0)?;
        let [table, values] = [ids[0], ids[1]].map(|id| self.type_of(id));
        match check_search(&table, &values) {
            Ok(array_type) => {
                self.check_size("searchsorted", &array_type, &ids)?;
                Ok(self.add_node(NodeKind::SearchSorted { side }, &ids, array_type))
            }
            Err(kind) => Err(self.error("searchsorted", &ids, kind)),
        }
    }
}
