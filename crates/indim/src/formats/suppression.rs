//! `NonMaxSuppression`: for each batch and class the boxes with the greatest scores that overlap no chosen
//! one.

use core::cmp::Ordering;

use indim_cpu::ArrayView;
use indim_model::FormatErrorKind;
use indim_ops::DType;

use super::data_node::{NodeContext, numbers, run};
use super::error::LoadError;

/// The rules of an operator.
#[derive(Debug, Clone, Copy)]
pub(super) struct SuppressionRules {
    /// Whether a box is its centre and its size, and not two opposite corners.
    pub(super) has_centers: bool,
    /// Whether a box is dropped if its overlap equals the threshold, as in OpenVINO.
    pub(super) drops_equal: bool,
}

/// The thresholds of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thresholds {
    pub(super) iou: f32,
    /// Only boxes with a greater score are chosen; `None` for all whose score is a number.
    pub(super) score: Option<f32>,
}

/// The operands of `NonMaxSuppression`.
pub(super) struct Suppression {
    boxes: Vec<[f32; 4]>,
    scores: Vec<f32>,
    /// Batches, classes and boxes.
    sizes: [usize; 3],
    /// Maximum number of chosen boxes of each class.
    pub(super) max: usize,
    pub(super) thresholds: Thresholds,
}

impl Suppression {
    /// Reads the operands; `score` is the threshold of scores if the node states none.
    pub(super) fn read(
        context: &NodeContext<'_>,
        operands: &[Option<ArrayView<'_>>],
        score: Option<f32>,
    ) -> Result<Suppression, LoadError> {
        let unexpected = |expected: &str| {
            let expected = expected.to_owned();
            context.error(FormatErrorKind::Unexpected { expected }.without_location())
        };
        let operand = |position: usize| operands.get(position).and_then(Option::as_ref);
        let (Some(boxes), Some(scores)) = (operand(0), operand(1)) else {
            return Err(unexpected("boxes and scores"));
        };
        let number = |position: usize| {
            let read = |view| Ok(floats(context, view)?.first().copied());
            operand(position).map_or(Ok(None), read)
        };
        let max = match operand(2) {
            Some(max) => {
                let max = run(context, &[max], |b, x| Ok(vec![b.convert(&x[0], DType::I64)?]))?;
                numbers(&max[0]).first().map_or(0, |&max| usize::try_from(max).unwrap_or(0))
            }
            None => 0,
        };
        let iou = number(3)?.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&iou) {
            return Err(unexpected(&format!("an iou_threshold between 0 and 1, not {iou}")));
        }
        if number(5)?.is_some_and(|sigma| sigma != 0.0) {
            let what = "NonMaxSuppression with a soft_nms_sigma other than 0 is".to_owned();
            return Err(context.error(FormatErrorKind::Unsupported { what }.without_location()));
        }
        let sizes = |view: &ArrayView<'_>| view.array_type().shape.sizes().to_vec();
        let (of_boxes, of_scores) = (sizes(boxes), sizes(scores));
        match (&of_boxes[..], &of_scores[..]) {
            (&[batches, count, 4], &[of_batches, classes, scored])
                if batches == of_batches && count == scored =>
            {
                let boxes = floats(context, boxes)?;
                let boxes = boxes.chunks_exact(4);
                Ok(Suppression {
                    boxes: boxes.map(|it| [it[0], it[1], it[2], it[3]]).collect(),
                    scores: floats(context, scores)?,
                    sizes: [batches, classes, count],
                    max,
                    thresholds: Thresholds { iou, score: number(4)?.or(score) },
                })
            }
            _ => Err(unexpected(&format!(
                "boxes [batches, boxes, 4] and scores [batches, classes, boxes], not {of_boxes:?} and \
                 {of_scores:?}"
            ))),
        }
    }

    /// The batches and classes, in order.
    pub(super) fn classes(&self) -> impl Iterator<Item = (usize, usize)> {
        let [batches, classes, _] = self.sizes;
        (0..batches).flat_map(move |batch| (0..classes).map(move |class| (batch, class)))
    }

    pub(super) fn boxes_of(&self, batch: usize) -> &[[f32; 4]] {
        let count = self.sizes[2];
        &self.boxes[batch * count..][..count]
    }

    pub(super) fn scores_of(&self, batch: usize, class: usize) -> &[f32] {
        let [_, classes, count] = self.sizes;
        &self.scores[(batch * classes + class) * count..][..count]
    }
}

/// The elements of an array as f32.
fn floats(context: &NodeContext<'_>, view: &ArrayView<'_>) -> Result<Vec<f32>, LoadError> {
    let found = run(context, &[view], |b, x| Ok(vec![b.convert(&x[0], DType::F32)?]))?;
    Ok(found[0].elements::<f32>().expect("an array of f32").to_vec())
}

/// Chooses from the boxes of one batch and class. Returns their positions, best first.
///
/// Boxes with equal scores keep their order. A box whose score is NaN is not chosen. `proceed` is called
/// with the number of compared pairs since its last call, and ends the choice by `false`.
pub(super) fn choose(
    boxes: &[[f32; 4]],
    scores: &[f32],
    max: usize,
    (rules, thresholds): (SuppressionRules, Thresholds),
    mut proceed: impl FnMut(usize) -> bool,
) -> Option<Vec<usize>> {
    let is_candidate = |score: f32| match thresholds.score {
        Some(threshold) => score > threshold,
        None => !score.is_nan(),
    };
    let mut order: Vec<usize> = (0..boxes.len()).filter(|&at| is_candidate(scores[at])).collect();
    order.sort_by(|&a, &b| scores[b].partial_cmp(&scores[a]).unwrap_or(Ordering::Equal));
    let mut chosen: Vec<usize> = Vec::new();
    let mut areas: Vec<Rectangle> = Vec::new();
    for at in order {
        if chosen.len() >= max {
            break;
        }
        if !proceed(areas.len() + 1) {
            return None;
        }
        let area = Rectangle::of(boxes[at], rules.has_centers);
        let is_dropped = |other: &Rectangle| match area.overlap(other) {
            overlap if rules.drops_equal => overlap >= thresholds.iou,
            overlap => overlap > thresholds.iou,
        };
        if !areas.iter().any(is_dropped) {
            chosen.push(at);
            areas.push(area);
        }
    }
    Some(chosen)
}

/// A box by its lower and upper corner.
struct Rectangle {
    low: [f32; 2],
    high: [f32; 2],
}

impl Rectangle {
    fn of([a, b, c, d]: [f32; 4], has_center: bool) -> Rectangle {
        match has_center {
            true => Rectangle { low: [a - c / 2.0, b - d / 2.0], high: [a + c / 2.0, b + d / 2.0] },
            // A comparison with NaN is false, so a box with NaN keeps one, and its area is NaN.
            false => {
                let [(a, c), (b, d)] =
                    [(a, c), (b, d)].map(|(a, b)| if a >= b { (b, a) } else { (a, b) });
                Rectangle { low: [a, b], high: [c, d] }
            }
        }
    }

    fn area(&self) -> f32 {
        (self.high[0] - self.low[0]) * (self.high[1] - self.low[1])
    }

    /// Intersection over union in f32: 0 for boxes without a common area, NaN if one has NaN.
    fn overlap(&self, other: &Rectangle) -> f32 {
        let side = |axis: usize| {
            self.high[axis].min(other.high[axis]) - self.low[axis].max(other.low[axis])
        };
        let (height, width) = (side(0), side(1));
        let (area, other) = (self.area(), other.area());
        if height <= 0.0 || width <= 0.0 || area <= 0.0 || other <= 0.0 {
            return 0.0;
        }
        let common = height * width;
        let union = area + other - common;
        if common <= 0.0 || union <= 0.0 { 0.0 } else { common / union }
    }
}
