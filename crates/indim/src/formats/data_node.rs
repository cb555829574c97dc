//! Nodes of models whose sizes depend on data: `NonZero`, `Compress`, `Unique` and `NonMaxSuppression`,
//! computed on arrays.

use core::cmp::Ordering;

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{Array, ArrayView, CompileOptions, RunError, RunOptions, compile};
use indim_graph::signature::existing_axis;
use indim_graph::{AxisSlice, GraphError, TakeMode};
use indim_model::FormatErrorKind;
use indim_model::outline::OutlineNode;
use indim_ops::{ArrayType, DType};

use super::error::{LoadError, LoadErrorKind};
use super::loaded::LoadedModel;
use super::suppression::{Suppression, SuppressionRules, choose};

/// Maximum number of parts without elements that `Unique` counts: 16 Mi, so 128 MiB of indices.
const MAX_EMPTY_PARTS: usize = 1 << 24;

/// A node whose sizes depend on the elements of its operands.
#[derive(Debug, Clone)]
pub(super) struct DataNode {
    kind: DataNodeKind,
    axis: Option<i64>,
    /// Whether `Unique` sorts its elements.
    is_sorted: bool,
    /// The types of the results after the first one.
    index_type: DType,
    count_type: DType,
}

#[derive(Debug, Clone, Copy)]
enum DataNodeKind {
    NonZero,
    Compress,
    Unique,
    /// ONNX's operator. Its only result is the positions of the chosen boxes.
    NonMaxSuppression(SuppressionRules),
    /// OpenVINO's operation. Its results are positions, scores and their number; if it sorts, the best boxes
    /// of all batches and classes come first.
    ScoredSuppression(SuppressionRules, bool),
}

/// The model and the run of a node.
pub(super) struct NodeContext<'r> {
    /// The model that errors name.
    pub(super) model: &'r LoadedModel,
    pub(super) options: &'r RunOptions<'r>,
}

impl NodeContext<'_> {
    pub(super) fn error(&self, kind: impl Into<LoadErrorKind>) -> LoadError {
        self.model.error(kind)
    }
}

impl DataNode {
    /// The node, if its operator is one whose sizes depend on data. OpenVINO's `NonMaxSuppression` is read
    /// from opset 5 on, where it has three results; earlier ones pad their only result.
    pub(super) fn of(node: &OutlineNode, is_onnx: bool) -> Option<DataNode> {
        let text = |name: &str| {
            let found = node.attributes.iter().find(|(known, _)| known == name);
            found.map(|(_, text)| text.as_str())
        };
        let is_false = |text: &str| matches!(text, "0" | "false");
        let kind = match node.operator.as_str() {
            "NonZero" => DataNodeKind::NonZero,
            "Compress" => DataNodeKind::Compress,
            "Unique" => DataNodeKind::Unique,
            "NonMaxSuppression" => match (is_onnx, node.results.len()) {
                (true, 1) => {
                    let has_centers = text("center_point_box").is_some_and(|it| it == "1");
                    let rules = SuppressionRules { has_centers, drops_equal: false };
                    DataNodeKind::NonMaxSuppression(rules)
                }
                (false, 3) => {
                    let has_centers = text("box_encoding").is_some_and(|it| it == "center");
                    let sorts = !text("sort_result_descending").is_some_and(is_false);
                    let rules = SuppressionRules { has_centers, drops_equal: true };
                    DataNodeKind::ScoredSuppression(rules, sorts)
                }
                _ => return None,
            },
            _ => return None,
        };
        let index_type = |name: &str| match text(name) {
            Some("i32") => DType::I32,
            _ => DType::I64,
        };
        let index_name = match kind {
            DataNodeKind::Unique => "index_element_type",
            _ => "output_type",
        };
        Some(DataNode {
            kind,
            axis: match text("axis") {
                Some(axis) => Some(axis.parse().ok()?),
                None => None,
            },
            is_sorted: !text("sorted").is_some_and(is_false),
            index_type: index_type(index_name),
            count_type: index_type("count_element_type"),
        })
    }

    /// The results of the node.
    pub(super) fn compute(
        &self,
        context: &NodeContext<'_>,
        operands: &[Option<ArrayView<'_>>],
    ) -> Result<Vec<Array>, LoadError> {
        let operand = |position: usize| {
            operands.get(position).and_then(Option::as_ref).ok_or_else(|| {
                let expected = format!("at least {}", position + 1);
                let given = operands.iter().flatten().count();
                context.error(
                    FormatErrorKind::Count { what: "operands", expected, given }.without_location(),
                )
            })
        };
        match self.kind {
            DataNodeKind::NonZero => self.non_zero(context, operand(0)?),
            DataNodeKind::Compress => self.compress(context, operand(0)?, operand(1)?),
            DataNodeKind::NonMaxSuppression(rules) => self.suppress(context, operands, rules, None),
            DataNodeKind::ScoredSuppression(rules, sorts) => {
                self.suppress(context, operands, rules, Some(sorts))
            }
            DataNodeKind::Unique => {
                let axis = match operands.get(1).and_then(Option::as_ref) {
                    Some(axis) => {
                        let axis = run(context, &[axis], |b, x| {
                            Ok(vec![b.reshape(b.convert(&x[0], DType::I64)?, [1])?])
                        })?;
                        Some(numbers(&axis[0])[0])
                    }
                    None => self.axis,
                };
                self.unique(context, operand(0)?, axis)
            }
        }
    }

    /// The boxes that remain: rows of batch, class and box. If `sorts` is given, also rows of batch, class
    /// and score, and the number of rows.
    fn suppress(
        &self,
        context: &NodeContext<'_>,
        operands: &[Option<ArrayView<'_>>],
        rules: SuppressionRules,
        sorts: Option<bool>,
    ) -> Result<Vec<Array>, LoadError> {
        let given = Suppression::read(context, operands, sorts.map(|_| 0.0))?;
        let mut rows = Vec::new();
        for (batch, class) in given.classes() {
            let scores = given.scores_of(batch, class);
            let boxes = given.boxes_of(batch);
            let proceed = |pairs| (context.options.progress)(pairs).is_continue();
            let thresholds = (rules, given.thresholds);
            let Some(chosen) = choose(boxes, scores, given.max, thresholds, proceed) else {
                return Err(context.error(RunError::Stopped));
            };
            rows.extend(chosen.into_iter().map(|at| ([batch, class, at], scores[at])));
        }
        if sorts == Some(true) {
            rows.sort_by(|(_, a), (_, b)| b.partial_cmp(a).unwrap_or(Ordering::Equal));
        }
        let positions = rows.iter().flat_map(|(row, _)| row.map(|at| at as i64)).collect();
        let mut results = vec![indices(context, vec![rows.len(), 3], positions, self.index_type)?];
        if sorts.is_some() {
            let scored = |&([batch, class, _], score): &([usize; 3], f32)| {
                [batch as f32, class as f32, score]
            };
            let scores: Vec<f32> = rows.iter().flat_map(scored).collect();
            results.push(array(context, Array::new([rows.len(), 3], scores))?);
            results.push(indices(context, vec![1], vec![rows.len() as i64], self.index_type)?);
        }
        Ok(results)
    }

    /// The positions of the elements that are not 0: a row for each axis.
    fn non_zero(
        &self,
        context: &NodeContext<'_>,
        x: &ArrayView<'_>,
    ) -> Result<Vec<Array>, LoadError> {
        let of_x = x.array_type().clone();
        let count = of_x.shape.element_count().unwrap_or(0);
        let mask = run(context, &[x], |b, x| {
            let flat = b.reshape(&x[0], [count])?;
            Ok(vec![if of_x.dtype == DType::Bool { flat } else { flat.ne(0) }])
        })?;
        let positions = true_positions(&mask[0]);
        let mut rows = Vec::with_capacity(of_x.shape.rank() * positions.len());
        // Without positions the product of sizes may be too large.
        for axis in (0..of_x.shape.rank()).filter(|_| !positions.is_empty()) {
            let stride: usize = of_x.shape[axis + 1..].iter().product();
            rows.extend(positions.iter().map(|&at| at / stride as i64 % of_x.shape[axis] as i64));
        }
        let sizes = vec![of_x.shape.rank(), positions.len()];
        Ok(vec![indices(context, sizes, rows, self.index_type)?])
    }

    /// The parts along an axis, or the elements, for which the condition is true.
    fn compress(
        &self,
        context: &NodeContext<'_>,
        x: &ArrayView<'_>,
        condition: &ArrayView<'_>,
    ) -> Result<Vec<Array>, LoadError> {
        let mask = run(context, &[condition], |b, x| Ok(vec![b.convert(&x[0], DType::Bool)?]))?;
        let positions = indices_of(context, true_positions(&mask[0]))?;
        parts(context, x, &positions, self.axis).map(|part| vec![part])
    }

    /// The distinct elements, or the distinct parts along an axis; the position of the first of each, the
    /// position of each one among the distinct ones, and their counts. NaNs are equal, and greatest.
    fn unique(
        &self,
        context: &NodeContext<'_>,
        x: &ArrayView<'_>,
        axis: Option<i64>,
    ) -> Result<Vec<Array>, LoadError> {
        let rows = RankedRows::new(context, x, axis)?;
        let mut groups = Groups::of(&rows);
        if !self.is_sorted {
            groups = groups.by_first_row();
        }
        let firsts: Vec<i64> = groups.groups.iter().map(|&(first, _)| first as i64).collect();
        let counts = groups.groups.iter().map(|&(_, count)| count).collect();
        let inverse = groups.group_of.iter().map(|&group| group as i64).collect();
        let found = parts(context, x, &indices_of(context, firsts.clone())?, axis)?;
        let list = |numbers: Vec<i64>, dtype| indices(context, vec![numbers.len()], numbers, dtype);
        Ok(vec![
            found,
            list(firsts, self.index_type)?,
            list(inverse, self.index_type)?,
            list(counts, self.count_type)?,
        ])
    }
}

/// The ranks of the elements of an array, in rows: the parts along an axis, or the single elements.
struct RankedRows {
    ranks: Vec<i64>,
    count: usize,
    /// The number of elements of a row before the axis, and after it.
    outer: usize,
    inner: usize,
}

impl RankedRows {
    fn new(
        context: &NodeContext<'_>,
        x: &ArrayView<'_>,
        axis: Option<i64>,
    ) -> Result<RankedRows, LoadError> {
        let shape = &x.array_type().shape;
        let ranks = ranks(context, x)?;
        let Some(axis) = axis else {
            return Ok(RankedRows { count: ranks.len(), ranks, outer: 1, inner: 1 });
        };
        let axis = existing_axis(axis, shape.rank()).map_err(|kind| {
            let error = GraphError::new(kind, "Unique", Vec::new());
            context.error(FormatErrorKind::from(error).without_location())
        })?;
        let count = shape[axis];
        if ranks.is_empty() {
            if count > MAX_EMPTY_PARTS {
                let limit = MAX_EMPTY_PARTS;
                let kind = FormatErrorKind::Limit { what: "parts without elements", limit };
                return Err(context.error(kind.without_location()));
            }
            return Ok(RankedRows { ranks, count, outer: 0, inner: 0 });
        }
        let inner = shape[axis + 1..].iter().product();
        let outer = ranks.len() / (count * inner);
        Ok(RankedRows { ranks, count, outer, inner })
    }

    /// The ranks of a row.
    fn row(&self, row: usize) -> impl Iterator<Item = i64> {
        let RankedRows { ranks, count, outer, inner } = self;
        (0..outer * inner).map(move |at| ranks[(at / inner * count + row) * inner + at % inner])
    }
}

/// Groups of equal rows.
struct Groups {
    /// The first row of each group, and the number of its rows.
    groups: Vec<(usize, i64)>,
    /// The group of each row.
    group_of: Vec<usize>,
}

impl Groups {
    /// The groups in the order of their ranks.
    fn of(rows: &RankedRows) -> Groups {
        let mut order: Vec<usize> = (0..rows.count).collect();
        order.sort_by(|&a, &b| rows.row(a).cmp(rows.row(b)));
        let mut groups: Vec<(usize, i64)> = Vec::new();
        let mut group_of = vec![0; rows.count];
        let mut before = None;
        for row in order {
            match before.is_some_and(|before| rows.row(before).eq(rows.row(row))) {
                true => groups.last_mut().expect("the group of the row before").1 += 1,
                false => groups.push((row, 1)),
            }
            group_of[row] = groups.len() - 1;
            before = Some(row);
        }
        Groups { groups, group_of }
    }

    /// The same groups in the order of their first rows.
    fn by_first_row(self) -> Groups {
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by_key(|&group| self.groups[group].0);
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &group)| place[group] = at);
        Groups {
            groups: order.iter().map(|&group| self.groups[group]).collect(),
            group_of: self.group_of.iter().map(|&group| place[group]).collect(),
        }
    }
}

/// The rank of each element among the distinct elements.
fn ranks(context: &NodeContext<'_>, x: &ArrayView<'_>) -> Result<Vec<i64>, LoadError> {
    let count = x.array_type().shape.element_count().unwrap_or(0);
    if count == 0 {
        return Ok(Vec::new());
    }
    let found = run(context, &[x], |b, x| {
        let x = match x[0].array_type()?.dtype {
            DType::Bool => b.convert(&x[0], DType::U8)?,
            _ => x[0].clone(),
        };
        let flat = b.reshape(x, [count])?;
        let order = b.convert(b.argsort(&flat, 0, false)?, DType::I64)?;
        let sorted = b.take(&flat, &order, 0, TakeMode::Clip)?;
        let slice = |first: usize| b.slice(&sorted, &[AxisSlice::new(first, count - 1, 1)]);
        let (before, after) = (slice(0)?, slice(1)?);
        let differs = match flat.array_type()?.dtype.is_float() {
            true => before.ne(&after) & !(before.is_nan() & after.is_nan()),
            false => before.ne(&after),
        };
        Ok(vec![order, differs])
    })?;
    let differs =
        found[1].elements::<bool>().expect("a mask").iter().map(|&differs| i64::from(differs));
    let mut ranks = vec![0; count];
    let mut current = 0;
    for (&position, differs) in numbers(&found[0]).iter().zip([0].into_iter().chain(differs)) {
        current += differs;
        ranks[position as usize] = current;
    }
    Ok(ranks)
}

/// The parts of an array at positions along an axis, or the elements at positions of the flat array.
fn parts(
    context: &NodeContext<'_>,
    x: &ArrayView<'_>,
    positions: &Array,
    axis: Option<i64>,
) -> Result<Array, LoadError> {
    let of_x = x.array_type().clone();
    let found = run(context, &[x, &ArrayView::from(positions)], |b, values| {
        let x = match axis {
            None => b.reshape(&values[0], [of_x.shape.element_count().unwrap_or(0)])?,
            Some(_) => values[0].clone(),
        };
        let axis = axis.unwrap_or(0);
        let shape = x.array_type()?.shape;
        // Nothing is taken from an axis without elements.
        let is_empty = positions.element_count() == 0;
        Ok(vec![match existing_axis(axis, shape.rank()) {
            Ok(at) if is_empty => {
                let mut slices: Vec<AxisSlice> =
                    shape.iter().map(|&n| AxisSlice::whole(n)).collect();
                slices[at] = AxisSlice::new(0, 0, 1);
                b.slice(&x, &slices)?
            }
            _ => b.take(&x, &values[1], axis, TakeMode::Error)?,
        }])
    })?;
    Ok(found.into_iter().next().expect("one result"))
}

/// The positions of true elements.
fn true_positions(mask: &Array) -> Vec<i64> {
    let elements = mask.elements::<bool>().expect("a mask").iter().enumerate();
    elements.filter_map(|(position, &is_true)| is_true.then_some(position as i64)).collect()
}

pub(super) fn numbers(array: &Array) -> &[i64] {
    array.elements().expect("an array of i64")
}

fn indices_of(context: &NodeContext<'_>, positions: Vec<i64>) -> Result<Array, LoadError> {
    indices(context, vec![positions.len()], positions, DType::I64)
}

/// An array of integers.
fn indices(
    context: &NodeContext<'_>,
    sizes: Vec<usize>,
    numbers: Vec<i64>,
    dtype: DType,
) -> Result<Array, LoadError> {
    let array = match dtype {
        DType::I32 => Array::new(sizes, numbers.into_iter().map(|n| n as i32).collect::<Vec<_>>()),
        _ => Array::new(sizes, numbers),
    };
    self::array(context, array)
}

fn array(
    context: &NodeContext<'_>,
    array: Result<Array, impl ToString>,
) -> Result<Array, LoadError> {
    array.map_err(|error| {
        context
            .error(FormatErrorKind::Unexpected { expected: error.to_string() }.without_location())
    })
}

/// Runs a small graph over arrays.
pub(super) fn run(
    context: &NodeContext<'_>,
    arrays: &[&ArrayView<'_>],
    build: impl FnOnce(&GraphBuilder, &[Value]) -> Result<Vec<Value>, GraphError>,
) -> Result<Vec<Array>, LoadError> {
    let graph = || {
        let b = GraphBuilder::new();
        let mut values = Vec::with_capacity(arrays.len());
        for (position, array) in arrays.iter().enumerate() {
            let ArrayType { dtype, shape } = array.array_type().clone();
            values.push(b.parameter(&position.to_string(), dtype, shape)?);
        }
        b.finish(&build(&b, &values)?)
    };
    let graph = graph().map_err(|e| context.error(FormatErrorKind::from(e).without_location()))?;
    let compiled =
        compile(&graph, &CompileOptions::default()).map_err(|error| context.error(error))?;
    let views: Vec<ArrayView<'_>> = arrays.iter().map(|&view| view.clone()).collect();
    let results = compiled.run_with(&views, context.options);
    results.map_err(|error| context.error(error))
}
