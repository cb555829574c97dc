//! Names of values. A region sees the names of the graphs around it; a function sees only its own names.

use std::collections::HashMap;
use std::sync::Arc;

use indim_model::outline::{OutlineValue, SymbolicSize, ValueType};
use indim_model::{FormatError, FormatErrorKind, FormatLimits, Location, ModelInput};

use indim_onnx_file::body::{GraphBody, NodeAttributes, decoded};
use indim_onnx_file::messages::{ContainedTypeProto, TypeProto, ValueInfoProto};
use indim_onnx_file::types::{declared_at, element_name, sizes_of};
use indim_onnx_rules::TypedValue;

/// Bytes from which on the place of a scope is not repeated in the places of scopes inside it.
const MAX_PLACE_BYTES: usize = 200;

/// A body during its traversal, with the values of its names.
pub(super) struct Scope {
    pub(super) body: Arc<GraphBody>,
    /// The value of each name, as index in the outline; `None` for an input that a call omits.
    names: HashMap<String, Option<usize>>,
    /// Types that the file states.
    pub(super) stated: HashMap<String, StatedType>,
    /// Arguments of the function, for references to its attributes.
    pub(super) arguments: NodeAttributes,
    /// Name of the innermost function that contains the nodes.
    pub(super) function: Option<Arc<str>>,
    /// See [`Scope::within`]; `None` for the main graph.
    place: Option<Arc<str>>,
    /// Whether names of the scopes before this one are hidden.
    pub(super) is_function: bool,
    /// Whether this is a body of a loop or branch.
    pub(super) is_body: bool,
    /// The start of the addresses of its values, at which a run can start or end: empty for the main graph,
    /// `None` within a body.
    pub(super) address: Option<Arc<str>>,
    /// Path of the function or body, such as `/my.Scaled/Loop_3.body`; empty for the main graph.
    pub(super) region: Arc<str>,
}

impl Scope {
    pub(super) fn new(body: Arc<GraphBody>, region: Arc<str>) -> Scope {
        Scope {
            body,
            names: HashMap::new(),
            stated: HashMap::new(),
            arguments: NodeAttributes::default(),
            function: None,
            place: None,
            is_function: false,
            is_body: false,
            address: Some(Arc::from("")),
            region,
        }
    }

    /// # Errors
    /// `duplicate`.
    pub(super) fn define(
        &mut self,
        name: &str,
        value: Option<usize>,
    ) -> Result<(), FormatErrorKind> {
        if self.names.insert(name.to_owned(), value).is_some() {
            let name = name.to_owned();
            return Err(FormatErrorKind::Duplicate { what: "value", name });
        }
        Ok(())
    }

    /// Records a type that the file states. An output without a shape keeps the type that `value_info` has
    /// for its name.
    pub(super) fn state(&mut self, stated: StatedType) {
        let known = self.stated.get(&stated.input.name);
        if stated.value_type.is_known() || known.is_none_or(|known| !known.value_type.is_known()) {
            self.stated.insert(stated.input.name.clone(), stated);
        }
    }

    /// The function with its call, or the body with its node, that contains the nodes of the scope, for
    /// messages; then what contains that call or node, unless the text is long.
    pub(super) fn within(&self) -> Option<Arc<str>> {
        self.place.clone()
    }

    /// The same scope inside `outer`, with this place.
    pub(super) fn placed(mut self, place: String, outer: &Scope) -> Scope {
        let around = outer.place.as_ref().filter(|around| around.len() < MAX_PLACE_BYTES);
        let around = around.map_or(String::new(), |around| format!(", in {around}"));
        self.place = Some(Arc::from(place + &around));
        self
    }

    /// The value of a name of this scope; `None` if the scope lacks the name.
    pub(super) fn local(&self, name: &str) -> Option<Option<usize>> {
        self.names.get(name).copied()
    }
}

/// The value of a name. The search begins in the innermost scope and ends with the enclosing function.
///
/// # Errors
/// `undefined`.
pub(super) fn value_of(scopes: &[Scope], name: &str) -> Result<Option<usize>, FormatErrorKind> {
    if name.is_empty() {
        return Ok(None);
    }
    for scope in scopes.iter().rev() {
        if let Some(value) = scope.local(name) {
            return Ok(value);
        }
        if scope.is_function {
            break;
        }
    }
    Err(FormatErrorKind::Undefined { what: "value", name: name.to_owned() })
}

/// A type that the file states, in two forms: `input` has only indim's element types, `value_type` names
/// any element type.
#[derive(Debug, Clone)]
pub(super) struct StatedType {
    pub(super) input: ModelInput,
    pub(super) value_type: ValueType,
    /// The type of the elements of a sequence.
    pub(super) item: Option<ValueType>,
}

impl StatedType {
    /// # Errors
    /// `damaged`, `limit`.
    pub(super) fn decode(
        bytes: &bytes::Bytes,
        what: &'static str,
        limits: &FormatLimits,
    ) -> Result<StatedType, FormatError> {
        let location = || Location::described(format!("a type of {what}"));
        let info: ValueInfoProto = decoded(bytes.clone(), location)?;
        let at = |kind: FormatErrorKind| kind.at(declared_at(what, &info.name));
        let contained = |bytes: bytes::Bytes| {
            let contained: ContainedTypeProto = decoded(bytes, location)?;
            Ok::<TypeProto, FormatError>(contained.elem_type.unwrap_or_default())
        };
        let mut stated = info.r#type.unwrap_or_default();
        // An optional value has the type of its value.
        if let Some(bytes) = stated.optional_type.take() {
            stated = contained(bytes)?;
        }
        let (input, value_type) = array_type(&info.name, &stated, limits).map_err(at)?;
        let Some(bytes) = stated.sequence_type.take() else {
            return Ok(StatedType { input, value_type, item: None });
        };
        let name = format!("{}.each", info.name);
        let (_, item) = array_type(&name, &contained(bytes)?, limits).map_err(at)?;
        let typed = TypedValue::sequence(item, SymbolicSize::open(&info.name, 0));
        Ok(StatedType { input, value_type: typed.value_type, item: typed.item })
    }

    pub(super) fn value(&self) -> OutlineValue {
        OutlineValue {
            name: self.input.name.clone(),
            value_type: self.value_type.clone(),
            source: indim_model::outline::TypeSource::File,
            ..OutlineValue::default()
        }
    }
}

/// A declared array; its types are unknown if it is no array.
///
/// # Errors
/// `limit`.
fn array_type(
    name: &str,
    stated: &TypeProto,
    limits: &FormatLimits,
) -> Result<(ModelInput, ValueType), FormatErrorKind> {
    let tensor = stated.tensor_type.as_ref();
    let sizes = tensor.and_then(|tensor| tensor.shape.as_ref());
    let element = tensor.map(|tensor| tensor.elem_type).filter(|&number| number != 0);
    let element = element.map(|number| Arc::<str>::from(element_name(number.into())));
    let input = ModelInput {
        dtype: element.as_ref().and_then(|element| element.parse().ok()),
        sizes: sizes.map(|shape| sizes_of(shape, limits)).transpose()?,
        has_default: false,
        is_shape: false,
        name: name.to_owned(),
    };
    let value_type = ValueType { element, ..ValueType::declared(&input) };
    Ok((input, value_type))
}
