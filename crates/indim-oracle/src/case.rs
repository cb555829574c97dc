//! The fields of a case, read by name and type.

use core::fmt;

use indim_graph::terminal::printable;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{CaseError, ReductionAttributes, bad_request};

/// The fields of a case.
pub(super) const FIELDS: [&str; 15] = [
    "rule",
    "op",
    "operands",
    "dims",
    "axis",
    "target",
    "names",
    "broadcast",
    "to",
    "axes",
    "axes_input",
    "keepdims",
    "noop_with_empty_axes",
    "opset",
    "id",
];

/// The fields of an operand.
const OPERAND_FIELDS: [&str; 3] = ["dtype", "shape", "data"];

/// A case with every field of the right type.
pub(super) struct Case<'a> {
    pub(super) rule: String,
    pub(super) op: Option<String>,
    pub(super) operands: Vec<CaseOperand<'a>>,
    pub(super) dims: Option<Vec<i64>>,
    pub(super) axis: Option<i64>,
    pub(super) target: Option<Vec<u64>>,
    /// The names of the axes of each operand.
    pub(super) names: Option<Vec<Vec<String>>>,
    /// `broadcast` of ONNX's legacy rule; 1 if absent.
    pub(super) broadcast: Option<u8>,
    /// The element type of a `convert`.
    pub(super) to: Option<String>,
    pub(super) reduction: ReductionAttributes,
}

pub(super) struct CaseOperand<'a> {
    pub(super) dtype: Option<String>,
    pub(super) shape: Vec<u64>,
    /// A list of elements, unread until the element type is known.
    pub(super) data: Option<&'a RawValue>,
}

/// The fields of a JSON object. Their values are unparsed text of the line.
pub(super) struct Fields<'a> {
    names: &'static [&'static str],
    values: Vec<Option<&'a RawValue>>,
    /// The error of the first field that is unknown or repeated.
    fault: Option<String>,
}

impl<'a> Fields<'a> {
    /// Reads a text that must be one JSON object with fields of these names.
    ///
    /// [`Fields::case`] reports a field that is unknown or repeated, so that the verdict can have the `id`
    /// of the case.
    pub(super) fn read(
        text: &'a str,
        names: &'static [&'static str],
    ) -> Result<Fields<'a>, CaseError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let fields = FieldsVisitor { names }.deserialize(&mut reader);
        let fields = fields.and_then(|fields| reader.end().map(|()| fields));
        fields.map_err(|error| bad_request(printable(&error.to_string())))
    }

    /// The text of a field, `null` included.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        let index = self.names.iter().position(|known| *known == name)?;
        self.values[index]
    }

    /// The value of a field; `null` counts as absent.
    fn optional<T: Deserialize<'a>>(&self, name: &str) -> Result<Option<T>, CaseError> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        serde_json::from_str(raw.get()).map_err(|error| {
            let error = error.to_string();
            // Removes the position, which counts within the field, not within the line.
            let error = error.rsplit_once(" at line ").map_or(&*error, |(message, _)| message);
            bad_request(format!("`{name}`: {}", printable(error)))
        })
    }

    fn required<T: Deserialize<'a>>(&self, name: &str) -> Result<T, CaseError> {
        self.optional(name)?.ok_or_else(|| bad_request(format!("`{name}` is missing")))
    }

    fn refuse_faults(&self) -> Result<(), CaseError> {
        self.fault.as_ref().map_or(Ok(()), |fault| Err(bad_request(fault)))
    }

    /// Parses the case. Fails if a field is unknown, repeated, missing or of the wrong type.
    pub(super) fn case(&self) -> Result<Case<'a>, CaseError> {
        self.refuse_faults()?;
        let operands: Vec<&'a RawValue> = self.required("operands")?;
        let operand = |(index, raw): (usize, &&'a RawValue)| {
            let operand =
                Fields::read(raw.get(), &OPERAND_FIELDS).and_then(|fields| fields.operand());
            operand.map_err(|error| bad_request(format!("operand {index}: {}", error.message)))
        };
        Ok(Case {
            rule: self.required("rule")?,
            op: self.optional("op")?,
            operands: operands.iter().enumerate().map(operand).collect::<Result<_, _>>()?,
            dims: self.optional("dims")?,
            axis: self.optional("axis")?,
            target: self.optional("target")?,
            names: self.optional("names")?,
            broadcast: self.optional("broadcast")?,
            to: self.optional("to")?,
            reduction: ReductionAttributes {
                axes: self.optional("axes")?,
                axes_input: self.optional("axes_input")?,
                keepdims: self.flag("keepdims")?,
                noop_with_empty_axes: self.flag("noop_with_empty_axes")?,
                opset: self.optional("opset")?,
            },
        })
    }

    /// A Boolean, or 0 or 1.
    fn flag(&self, name: &str) -> Result<Option<bool>, CaseError> {
        match self.optional::<u8>(name) {
            Ok(Some(flag @ 0..=1)) => Ok(Some(flag == 1)),
            _ => self.optional::<bool>(name),
        }
    }

    fn operand(&self) -> Result<CaseOperand<'a>, CaseError> {
        self.refuse_faults()?;
        Ok(CaseOperand {
            dtype: self.optional("dtype")?,
            shape: self.required("shape")?,
            data: self.optional("data")?,
        })
    }
}

/// Reads a JSON object, and refuses a list of the same fields without their names.
struct FieldsVisitor {
    names: &'static [&'static str],
}

impl<'de> DeserializeSeed<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Fields<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let names = self.names;
        let mut fields = Fields { names, values: vec![None; names.len()], fault: None };
        while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
            let fault = match names.iter().position(|known| *known == name) {
                Some(index) if fields.values[index].is_none() => {
                    fields.values[index] = Some(value);
                    continue;
                }
                Some(_) => format!("`{name}` is given twice"),
                None => {
                    let known = names.join("`, `");
                    format!("there is no field `{}`; the fields are `{known}`", printable(&name))
                }
            };
            fields.fault.get_or_insert(fault);
        }
        Ok(fields)
    }
}
