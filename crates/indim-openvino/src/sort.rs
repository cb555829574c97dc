//! `TopK`, and `SearchSorted`: searches in sorted tables.

use indim_builder::Value;
use indim_graph::{AxisSlice, TakeMode};
use indim_model::{FormatErrorKind, search_rows};
use indim_ops::{DType, SearchSide};

use crate::call::{Call, LoweringResult};

/// `TopK`: the first elements of a sort and their positions. The results are sorted even if OpenVINO
/// allows any order.
pub(super) fn top_k(call: &Call<'_>) -> LoweringResult<Vec<Value>> {
    let (b, x, shape) = (call.builder, call.value(0), call.shape(0)?);
    let axis = call.axis(call.layer.integer("axis", None)?, shape.rank())?;
    let count = call.integer(1)?;
    let wrong = || FormatErrorKind::Unexpected {
        expected: format!("a number up to {}, the size of axis {axis}, as operand 1", shape[axis]),
    };
    let count = usize::try_from(count).ok().filter(|&count| count <= shape[axis]);
    let count = count.ok_or_else(wrong)?;
    let is_largest = match &call.layer.word("mode", "")[..] {
        "max" => true,
        "min" => false,
        _ => return Err(FormatErrorKind::attribute("mode", "is neither max nor min")),
    };
    let along = axis as i64;
    let results = match &call.layer.word("sort", "value")[..] {
        "index" => {
            let mut first: Vec<AxisSlice> =
                shape.iter().map(|&size| AxisSlice::whole(size)).collect();
            first[axis] = AxisSlice::new(0, count, 1);
            let positions = b.slice(b.argsort(&x, along, is_largest)?, &first)?;
            let positions = b.sort(positions, along, false)?;
            [b.take_along_axis(x, &positions, along, TakeMode::Clip)?, positions]
        }
        "value" | "none" => b.top_k(&x, count, along, is_largest)?,
        _ => return Err(FormatErrorKind::attribute("sort", "is none of value, index and none")),
    };
    let dtype = index_type(call, "index_element_type", DType::I32)?;
    let [values, positions] = results;
    Ok(vec![values, b.convert(positions, dtype)?])
}

fn index_type(call: &Call<'_>, name: &str, default: DType) -> LoweringResult<DType> {
    match call.layer.attribute(name) {
        Some(_) => call.layer.element_type(name),
        None => Ok(default),
    }
}

/// `SearchSorted`: the position of each value in a sorted table. A table of higher rank has one sorted
/// row for each row of values.
pub(super) fn search_sorted(call: &Call<'_>) -> LoweringResult {
    let b = call.builder;
    let is_right = call.layer.flag("right_mode", Some(false))?;
    let dtype = index_type(call, "output_type", DType::I64)?;
    let [table, values] = [0, 1].map(|operand| call.value(operand));
    let side = if is_right { SearchSide::Right } else { SearchSide::Left };
    if call.shape(0)?.rank() == 1 {
        return Ok(b.convert(b.search_sorted(table, values, side)?, dtype)?);
    }
    let (of_table, mut sizes) = (call.shape(0)?, call.shape(1)?.to_vec());
    let (Some(&length), rank) = (of_table.last(), of_table.rank()) else {
        return Err(FormatErrorKind::Unexpected { expected: "a table with axes".to_owned() });
    };
    if sizes.len() != rank {
        let expected = "a table and values with equally many axes".to_owned();
        return Err(FormatErrorKind::Unexpected { expected });
    }
    sizes.push(length);
    let along: Vec<i64> = (0..rank as i64).collect();
    let mut table_axes = along.clone();
    table_axes[rank - 1] = rank as i64;
    // Each value is compared with all elements of its row: both operands get the axes of the values, then one
    // of the length of the table.
    let table = b.broadcast_in_dim(table, &table_axes, sizes.clone())?;
    let values = b.broadcast_in_dim(values, &along, sizes)?;
    Ok(b.convert(search_rows(&table, &values, side)?, dtype)?)
}
