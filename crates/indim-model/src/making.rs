//! A program in the making, whatever its format: what is counted, and which node comes from where.

use std::collections::BTreeMap;

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, GraphError};
use indim_ops::{ArrayData, ArrayType, DType};
use indim_shape::Shape;

use crate::error::{FormatError, FormatErrorKind, Location, Unsupported};
use crate::limits::FormatLimits;
use crate::model::{Expectation, ModelProgram};
use crate::origin::{BroadcastRule, SourceOperation};

/// More remarks than these tell nobody more.
const REMARKS: usize = 64;

/// What readers build a graph by.
pub struct ModelBuilder {
    /// Makes the nodes.
    pub builder: GraphBuilder,
    limits: FormatLimits,
    operations: usize,
    constant_bytes: usize,
    origins: Vec<SourceOperation>,
    remarks: Vec<String>,
}

impl ModelBuilder {
    /// Nothing yet, within these limits.
    pub fn new(limits: &FormatLimits) -> Self {
        ModelBuilder {
            builder: GraphBuilder::new(),
            limits: *limits,
            operations: 0,
            constant_bytes: 0,
            origins: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Counts an operation, from which the next nodes come; its model knows its place by this number.
    ///
    /// # Errors
    /// `limit`.
    pub fn operation(
        &mut self,
        number: usize,
        place: impl FnOnce() -> Location,
    ) -> Result<(), FormatError> {
        self.operations += 1;
        if self.operations > self.limits.operations {
            let limit = self.limits.operations;
            let kind = FormatErrorKind::Limit {
                what: "operations, calls replaced by what they call,",
                limit,
            };
            return Err(kind.at(place()));
        }
        self.origins.push(SourceOperation { first: self.builder.next_id(), number, rule: None });
        Ok(())
    }

    /// The rule by which the last operation has operands broadcast.
    pub fn rule(&mut self, rule: Option<BroadcastRule>) {
        if let (Some(origin), Some(_)) = (self.origins.last_mut(), &rule) {
            origin.rule = rule;
        }
    }

    /// A constant with these elements, bounded together with all others.
    ///
    /// # Errors
    /// `limit`.
    pub fn constant(
        &mut self,
        array: Array,
        place: impl FnOnce() -> Location,
    ) -> Result<Value, FormatError> {
        let array_type = array.array_type();
        let bytes = array.data().len().saturating_mul(array_type.dtype.size());
        self.constant_bytes = self.constant_bytes.saturating_add(bytes);
        if self.constant_bytes > self.limits.constant_bytes {
            let limit = self.limits.constant_bytes;
            return Err(FormatErrorKind::Limit { what: "bytes of constants", limit }.at(place()));
        }
        Ok(self.builder.constant(array))
    }

    /// One element for all of a shape: a scalar constant, broadcast.
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

    /// Says what was done that the file does not say.
    pub fn remark(&mut self, text: impl Into<String>) {
        let text = text.into();
        if self.remarks.len() < REMARKS && !self.remarks.contains(&text) {
            self.remarks.push(text);
        }
    }

    /// The program with these outputs; each expectation compares two values, which become outputs too.
    ///
    /// # Errors
    /// What the builder has kept.
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
        let graph = self.builder.finish(&values).map_err(|e| FormatErrorKind::from(e).nowhere())?;
        let ModelBuilder { origins, remarks, .. } = self;
        Ok(ModelProgram { graph, outputs: names, expectations: compared, origins, remarks })
    }
}

/// The array of these little-endian bytes, which have to fill it exactly.
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

/// An array of whole numbers, for shapes and axes.
pub fn integers(array: &Array) -> Option<Vec<i64>> {
    let data = match array.dtype() {
        DType::I64 => return array.elements::<i64>().map(<[i64]>::to_vec),
        DType::I32 => array.elements::<i32>()?.iter().map(|&n| n.into()).collect(),
        DType::U64 => {
            let convert = |&n: &u64| i64::try_from(n).ok();
            array.elements::<u64>()?.iter().map(convert).collect::<Option<_>>()?
        }
        DType::U32 => array.elements::<u32>()?.iter().map(|&n| n.into()).collect(),
        DType::I16 => array.elements::<i16>()?.iter().map(|&n| n.into()).collect(),
        DType::U16 => array.elements::<u16>()?.iter().map(|&n| n.into()).collect(),
        DType::I8 => array.elements::<i8>()?.iter().map(|&n| n.into()).collect(),
        DType::U8 => array.elements::<u8>()?.iter().map(|&n| n.into()).collect(),
        _ => return None,
    };
    Some(data)
}

/// The operations of a file that are not to be had, as they are come upon.
#[derive(Debug, Default)]
pub struct Census {
    found: BTreeMap<(String, Option<String>), (usize, Location)>,
    order: Vec<(String, Option<String>)>,
}

impl Census {
    /// One more operation that is not to be had, at this place; those of one name and reason are counted.
    pub fn add(&mut self, name: &str, reason: Option<String>, place: Location) {
        let key = (name.to_owned(), reason);
        let order = &mut self.order;
        let entry = self.found.entry(key).or_insert_with_key(|key| {
            order.push(key.clone());
            (0, place)
        });
        entry.0 += 1;
    }

    /// Whether there are none.
    ///
    /// # Errors
    /// `unsupported-op`, with all of them, if there are any.
    pub fn check(self) -> Result<(), FormatError> {
        let Census { mut found, order } = self;
        let operations: Vec<Unsupported> = order
            .into_iter()
            .filter_map(|key| {
                let (count, place) = found.remove(&key)?;
                Some(Unsupported { name: key.0, reason: key.1, count, place })
            })
            .collect();
        match operations.first() {
            Some(first) => {
                let place = first.place.clone();
                Err(FormatErrorKind::UnsupportedOperations(operations).at(place))
            }
            None => Ok(()),
        }
    }
}
