//! The parameters of a compiled function, and the arguments of a call in their order.

use pyo3::PyTraverseError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::argument::Argument;

/// Arguments by keyword.
pub(crate) type Keywords<'py> = Vec<(Bound<'py, PyString>, Bound<'py, PyAny>)>;

/// A parameter as `indim/_signatures.py` describes it: name, kind, whether it is static, and the default with
/// whether the function receives it unchanged.
pub(crate) type ParameterDescription<'py> =
    (Bound<'py, PyString>, String, bool, Option<(Bound<'py, PyAny>, bool)>);

/// The kind of a parameter: how arguments are bound to it.
#[derive(PartialEq)]
enum Kind {
    PositionOnly,
    PositionOrKeyword,
    KeywordOnly,
}

struct Parameter {
    name: Py<PyString>,
    text: String,
    kind: Kind,
    is_static: bool,
    default: Option<DefaultValue>,
}

/// The default value of a parameter.
struct DefaultValue {
    value: Py<PyAny>,
    /// Whether it holds neither arrays nor numbers, so the function receives the default itself.
    is_static: bool,
}

/// The parameters of a function, in the order of its arguments.
pub(crate) struct Parameters {
    parameters: Vec<Parameter>,
    /// The parameter `*arguments`, which takes all positions after the other parameters.
    rest: Option<Parameter>,
    /// The number of parameters that take arguments by position; they come first.
    positional: usize,
    /// Python's binding of arguments, which reports invalid calls.
    bind: Py<PyAny>,
}

impl Parameters {
    pub(crate) fn new(
        py: Python<'_>,
        descriptions: Vec<ParameterDescription<'_>>,
        bind: Py<PyAny>,
    ) -> PyResult<Self> {
        let (mut parameters, mut rest) = (Vec::with_capacity(descriptions.len()), None);
        for (name, kind, is_static, default) in descriptions {
            let text = name.to_str()?.to_owned();
            let default =
                default.map(|(value, is_static)| DefaultValue { value: value.unbind(), is_static });
            // Keywords are interned, so names compare by address.
            let name = PyString::intern(py, &text).unbind();
            let of_kind = |kind| Parameter { name, text, kind, is_static, default };
            match kind.as_str() {
                "rest" => rest = Some(of_kind(Kind::PositionOnly)),
                "position" => parameters.push(of_kind(Kind::PositionOnly)),
                "keyword" => parameters.push(of_kind(Kind::KeywordOnly)),
                _ => parameters.push(of_kind(Kind::PositionOrKeyword)),
            }
        }
        let positional = parameters.iter().filter(|it| it.kind != Kind::KeywordOnly).count();
        Ok(Parameters { parameters, rest, positional, bind })
    }

    /// The name of the argument at a position, for messages.
    pub(crate) fn name(&self, position: usize) -> &str {
        self.get(position).map_or("argument", |parameter| parameter.text.as_str())
    }

    fn get(&self, position: usize) -> Option<&Parameter> {
        self.parameters.get(position).or(self.rest.as_ref())
    }

    /// All arguments by position, with defaults filled in.
    pub(crate) fn bind_arguments<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        keywords: &Keywords<'py>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let py = args.py();
        let is_complete = args.len() == self.parameters.len()
            || (self.rest.is_some() && args.len() > self.parameters.len());
        if keywords.is_empty() && self.positional == self.parameters.len() && is_complete {
            return Ok(args.clone());
        }
        if let Some(arguments) = self.arguments_in_order(args, keywords) {
            return PyTuple::new(py, arguments);
        }
        let keyword_dict = PyDict::new(py);
        keywords.iter().try_for_each(|(key, value)| keyword_dict.set_item(key, value))?;
        Ok(self.bind.bind(py).call1((args, keyword_dict))?.cast_into::<PyTuple>()?)
    }

    /// The arguments in order; `None` for an invalid call.
    fn arguments_in_order<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        keywords: &Keywords<'py>,
    ) -> Option<Vec<Bound<'py, PyAny>>> {
        if args.len() > self.positional && self.rest.is_none() {
            return None;
        }
        let mut values: Vec<Option<Bound<'py, PyAny>>> = args.iter().map(Some).collect();
        values.resize(args.len().max(self.parameters.len()), None);
        for (key, value) in keywords {
            if values[self.position(key)?].replace(value.clone()).is_some() {
                return None;
            }
        }
        let with_default = |(position, value): (usize, Option<Bound<'py, PyAny>>)| {
            let default = || self.parameters.get(position)?.default.as_ref();
            value.or_else(|| Some(default()?.value.bind(args.py()).clone()))
        };
        values.into_iter().enumerate().map(with_default).collect()
    }

    /// Whether a parameter takes this keyword.
    pub(crate) fn takes_keyword(&self, key: &str) -> bool {
        self.parameters.iter().any(|it| it.kind != Kind::PositionOnly && it.text == key)
    }

    /// The position of the parameter that a keyword names.
    fn position(&self, key: &Bound<'_, PyString>) -> Option<usize> {
        let by_address = self.parameters.iter().position(|parameter| parameter.name.is(key));
        let by_text = || self.parameters.iter().position(|parameter| *key == *parameter.text);
        let position = by_address.or_else(by_text)?;
        (self.parameters[position].kind != Kind::PositionOnly).then_some(position)
    }

    /// The argument at a position.
    ///
    /// # Errors
    /// If it is neither static nor an array.
    pub(crate) fn argument<'py>(
        &self,
        position: usize,
        object: &Bound<'py, PyAny>,
    ) -> PyResult<Argument<'py>> {
        let parameter = self.get(position);
        if parameter.is_some_and(|parameter| parameter.is_static) {
            return Argument::new_static(object.clone());
        }
        let default = parameter.and_then(|parameter| parameter.default.as_ref());
        if default.is_some_and(|default| default.is_static && object.is(&default.value)) {
            return Ok(Argument::Static { value: object.clone(), key: object.clone() });
        }
        Argument::of_arrays(object, self.name(position))
    }

    /// Visits the held objects for the garbage collector.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let parameters = self.parameters.iter().chain(&self.rest);
        let defaults = parameters.filter_map(|parameter| parameter.default.as_ref());
        visit.call(&self.bind)?;
        defaults.map(|default| &default.value).try_for_each(|value| visit.call(value))
    }
}
