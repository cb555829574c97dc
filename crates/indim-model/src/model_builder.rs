//! The builder of a program from a file: counts resources and records the source operation of each node.

use std::collections::BTreeMap;

use indim_builder::{GraphBuilder, RegionBody, Value};
use indim_graph::{Array, GraphError, MAX_REGION_DEPTH};
use indim_ops::{ArrayData, ArrayType, DType};
use indim_shape::Shape;

use crate::error::{FormatError, FormatErrorKind, Location, Unsupported};
use crate::limits::FormatLimits;
use crate::model::{Expectation, ModelProgram};
use crate::source_operation::{BroadcastRule, SourceOperation};

/// Maximum number of remarks; more do not help the user.
const MAX_REMARKS: usize = 64;

/// Builds the graph of a model, within limits.
pub struct ModelBuilder {
    /// Builder of the nodes.
    pub builder: GraphBuilder,
    /// Builders outside the current body of a loop or branch, the innermost last.
    outer: Vec<GraphBuilder>,
    limits: FormatLimits,
    operations: usize,
    constant_bytes: usize,
    origins: Vec<SourceOperation>,
    remarks: Vec<String>,
}

impl ModelBuilder {
    /// An empty program with these limits.
    pub fn new(limits: &FormatLimits) -> Self {
        ModelBuilder {
            builder: GraphBuilder::new(),
            outer: Vec::new(),
            limits: *limits,
            operations: 0,
            constant_bytes: 0,
            origins: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Counts an operation and makes it the source of the next nodes. `number` is its key for
    /// [`Model::location`](crate::Model::location).
    ///
    /// # Errors
    /// `limit`.
    pub fn operation(
        &mut self,
        number: usize,
        location: impl FnOnce() -> Location,
    ) -> Result<(), FormatError> {
        self.count(1).map_err(|kind| kind.at(location()))?;
        // The nodes of a body belong to its loop or branch.
        if self.is_in_region() {
            return Ok(());
        }
        self.origins.push(SourceOperation { first: self.builder.next_id(), number, rule: None });
        Ok(())
    }

    /// Counts operations, such as those of a body that is applied many times.
    ///
    /// # Errors
    /// `limit`.
    pub fn count(&mut self, operations: usize) -> Result<(), FormatErrorKind> {
        self.operations = self.operations.saturating_add(operations);
        let limit = self.limits.operations;
        match self.operations <= limit {
            true => Ok(()),
            false => Err(FormatErrorKind::Limit { what: "operations, with calls inlined,", limit }),
        }
    }

    /// Records the broadcast rule of the current operation.
    pub fn rule(&mut self, rule: Option<BroadcastRule>) {
        if let (Some(source_operation), Some(_)) = (self.origins.last_mut(), &rule)
            && self.outer.is_empty()
        {
            source_operation.rule = rule;
        }
    }

    /// Fails if a constant of this size exceeds the limit on the bytes of all constants together.
    ///
    /// # Errors
    /// `limit`.
    pub fn check_constant(&self, bytes: usize) -> Result<(), FormatErrorKind> {
        let limit = self.limits.constant_bytes;
        match bytes <= limit.saturating_sub(self.constant_bytes) {
            true => Ok(()),
            false => Err(FormatErrorKind::Limit { what: "bytes of constants", limit }),
        }
    }

    /// A constant with these elements. Call [`ModelBuilder::check_constant`] before you allocate them.
    ///
    /// # Errors
    /// `limit`.
    pub fn constant(
        &mut self,
        array: Array,
        location: impl FnOnce() -> Location,
    ) -> Result<Value, FormatError> {
        let bytes = array.element_count() * array.dtype().size();
        self.check_constant(bytes).map_err(|kind| kind.at(location()))?;
        self.constant_bytes += bytes;
        Ok(self.builder.constant(array))
    }

    /// A broadcast scalar constant: one element repeated over the shape.
    ///
    /// # Errors
    /// `too-large`.
    pub fn splat(&self, element: Array, shape: &Shape) -> Result<Value, GraphError> {
        let scalar = self.builder.constant(element);
        if shape.is_scalar() {
            return Ok(scalar);
        }
        self.builder.broadcast_in_dim(scalar, &[], shape)
    }

    /// Whether the current nodes are those of a body of a loop or branch.
    pub fn is_in_region(&self) -> bool {
        !self.outer.is_empty()
    }

    /// Begins the body of a loop or branch with parameters of these types: `builder` builds its nodes, which
    /// may use the values outside, until [`ModelBuilder::end_region`].
    ///
    /// # Errors
    /// `limit` for too many nested bodies; E5 `too-large`.
    pub fn begin_region(
        &mut self,
        parameters: &[ArrayType],
    ) -> Result<Vec<Value>, FormatErrorKind> {
        if self.outer.len() == MAX_REGION_DEPTH {
            let what = "nested loops and branches";
            return Err(FormatErrorKind::Limit { what, limit: MAX_REGION_DEPTH });
        }
        let (inner, states) = self.builder.begin_region(parameters)?;
        self.outer.push(core::mem::replace(&mut self.builder, inner));
        Ok(states)
    }

    /// Ends the body of a loop or branch.
    ///
    /// # Errors
    /// The first error that its builder recorded.
    ///
    /// # Panics
    /// If no body was begun.
    pub fn end_region(&mut self, results: &[Value]) -> Result<RegionBody, FormatErrorKind> {
        let outer = self.outer.pop().expect("a body was begun");
        let inner = core::mem::replace(&mut self.builder, outer);
        Ok(inner.end_region(results)?)
    }

    /// Records a change that the reader makes to the program of the file. Duplicates are dropped.
    pub fn remark(&mut self, text: impl Into<String>) {
        let text = text.into();
        if self.remarks.len() < MAX_REMARKS && !self.remarks.contains(&text) {
            self.remarks.push(text);
        }
    }

    /// Finishes the program with these outputs. Each expectation compares two values, which become outputs
    /// too.
    ///
    /// # Errors
    /// Returns the first error that the graph builder recorded.
    pub fn finish(
        self,
        outputs: Vec<(String, Value)>,
        expectations: Vec<(Expectation, Value, Value)>,
    ) -> Result<ModelProgram, FormatError> {
        let (names, mut values): (Vec<String>, Vec<Value>) = outputs.into_iter().unzip();
        let mut compared = Vec::new();
        for (expectation, result, expected) in expectations {
            let first = values.len();
            values.extend([result, expected]);
            compared.push(Expectation { result: first, expected: first + 1, ..expectation });
        }
        let graph = self
            .builder
            .finish(&values)
            .map_err(|e| FormatErrorKind::from(e).without_location())?;
        let ModelBuilder { origins, remarks, .. } = self;
        Ok(ModelProgram { graph, outputs: names, expectations: compared, origins, remarks })
    }
}

/// The array with these little-endian bytes; their number must match the type exactly.
///
/// # Errors
/// `wrong-element-count`.
pub fn array_of_bytes(array_type: &ArrayType, bytes: &[u8]) -> Result<Array, FormatErrorKind> {
    let wrong = || FormatErrorKind::ElementCount {
        array_type: array_type.clone(),
        given: format!("{} bytes", bytes.len()),
    };
    if array_type.shape.byte_count(array_type.dtype.size()) != Ok(bytes.len()) {
        return Err(wrong());
    }
    let data = ArrayData::from_le_bytes(array_type.dtype, bytes);
    Array::from_data(array_type.shape.clone(), data).map_err(|_| wrong())
}

/// Number of bytes of the elements in a file that packs integers of 4 bits, two in a byte.
///
/// # Errors
/// `wrong-element-count` if they overflow.
pub fn packed_bytes(array_type: &ArrayType) -> Result<usize, FormatErrorKind> {
    let bytes = array_type.shape.byte_count(array_type.dtype.size());
    let bytes = bytes.map_err(|_| FormatErrorKind::ElementCount {
        array_type: array_type.clone(),
        given: "too few bytes".to_owned(),
    })?;
    Ok(if array_type.dtype.is_nibble() { bytes.div_ceil(2) } else { bytes })
}

/// Like [`array_of_bytes`], for a file that packs integers of 4 bits, two in a byte: the first has the low
/// bits.
///
/// # Errors
/// `wrong-element-count`.
pub fn array_of_packed_bytes(
    array_type: &ArrayType,
    bytes: &[u8],
) -> Result<Array, FormatErrorKind> {
    if !array_type.dtype.is_nibble() || packed_bytes(array_type)? != bytes.len() {
        return array_of_bytes(array_type, bytes);
    }
    let mut nibbles: Vec<u8> = bytes.iter().flat_map(|byte| [byte & 0xf, byte >> 4]).collect();
    nibbles.truncate(array_type.shape.element_count().unwrap_or_default());
    array_of_bytes(array_type, &nibbles)
}

/// The elements of an integer array, for shapes and axes.
pub fn integers(array: &Array) -> Option<Vec<i64>> {
    let data = match array.dtype() {
        DType::I64 => array.elements::<i64>().ok()?.to_vec(),
        DType::I32 => array.elements::<i32>().ok()?.iter().map(|&n| n.into()).collect(),
        DType::U64 => {
            let convert = |&n: &u64| i64::try_from(n).ok();
            array.elements::<u64>().ok()?.iter().map(convert).collect::<Option<_>>()?
        }
        DType::U32 => array.elements::<u32>().ok()?.iter().map(|&n| n.into()).collect(),
        DType::I16 => array.elements::<i16>().ok()?.iter().map(|&n| n.into()).collect(),
        DType::U16 => array.elements::<u16>().ok()?.iter().map(|&n| n.into()).collect(),
        DType::I8 => array.elements::<i8>().ok()?.iter().map(|&n| n.into()).collect(),
        DType::U8 => array.elements::<u8>().ok()?.iter().map(|&n| n.into()).collect(),
        _ => return None,
    };
    Some(data)
}

/// Unsupported operations of a file, in the order of their first occurrence.
#[derive(Debug, Default)]
pub struct UnsupportedOperations {
    counts: BTreeMap<(String, Option<String>), (usize, Location)>,
    order: Vec<(String, Option<String>)>,
}

impl UnsupportedOperations {
    /// Counts an unsupported operation at this location; operations of one name and reason share an entry.
    pub fn add(&mut self, name: &str, reason: Option<String>, location: Location) {
        let key = (name.to_owned(), reason);
        let order = &mut self.order;
        let entry = self.counts.entry(key).or_insert_with_key(|key| {
            order.push(key.clone());
            (0, location)
        });
        entry.0 += 1;
    }

    /// Succeeds if all operations are supported.
    ///
    /// # Errors
    /// `unsupported-op`, with all unsupported operations.
    pub fn check(self) -> Result<(), FormatError> {
        let UnsupportedOperations { mut counts, order } = self;
        let operations: Vec<Unsupported> = order
            .into_iter()
            .filter_map(|key| {
                let (count, location) = counts.remove(&key)?;
                Some(Unsupported { name: key.0, reason: key.1, count, location })
            })
            .collect();
        match operations.first() {
            Some(first) => {
                let location = first.location.clone();
                Err(FormatErrorKind::UnsupportedOperations(operations).at(location))
            }
            None => Ok(()),
        }
    }
}
