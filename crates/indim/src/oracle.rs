//! The oracle: one case as a JSON object in, one verdict as a JSON object out.
//!
//! For people who test other systems against the rules. A case names a rule, its attributes, and
//! operands by element type and shape; operands with data are evaluated too. Whatever the line
//! holds, there is a verdict: what is not a case gets the code `bad-request`.

use core::fmt;
use core::marker::PhantomData;

use indim_graph::{
    Array, ArrayData, ArrayType, Complex, DType, GraphBuilder, GraphError, GraphErrorKind, Op,
    evaluate, for_each_element,
};
use indim_shape::{Broadcast, RuleSet, Shape, ShapeError, TargetRule};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Number, Value, json};

/// Results with more elements are not evaluated: a short line may ask for terabytes.
const MAXIMUM_ELEMENTS: usize = 1 << 24;

/// A JSON object; a list of the same fields without their names is not taken.
#[derive(Debug)]
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Object<T>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

/// A case as it stands in the line.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    rule: String,
    op: Option<String>,
    operands: Vec<Object<Operand>>,
    dims: Option<Vec<i64>>,
    axis: Option<i64>,
    target: Option<Vec<u64>>,
    /// `broadcast` of ONNX's legacy rule, 1 when absent.
    broadcast: Option<u8>,
    /// The element type of a `convert`.
    to: Option<String>,
    /// A name for the case; it comes back in the verdict.
    id: Option<Value>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Operand {
    dtype: Option<String>,
    shape: Vec<u64>,
    data: Option<Vec<Value>>,
}

/// Why there is no answer.
enum Refusal {
    /// The line is not a case.
    BadRequest(String),
    /// The shapes or types are not legal.
    Illegal { code: &'static str, label: Option<&'static str>, message: String },
}

impl From<ShapeError> for Refusal {
    fn from(error: ShapeError) -> Self {
        Refusal::Illegal {
            code: error.code(),
            label: Some(error.label()),
            message: error.to_string(),
        }
    }
}

impl From<GraphError> for Refusal {
    fn from(error: GraphError) -> Self {
        let (code, label, message) = (error.code(), error.label(), error.to_string());
        Refusal::Illegal { code, label, message }
    }
}

fn bad_request(message: impl Into<String>) -> Refusal {
    Refusal::BadRequest(message.into())
}

/// The verdict on one case.
///
/// ```
/// let case = r#"{"rule":"xla","op":"add","dims":[1],
///     "operands":[{"dtype":"f32","shape":[2,3]},{"dtype":"f32","shape":[3]}]}"#;
/// assert_eq!(indim::oracle::verdict(case), r#"{"ok":true,"dtype":"f32","shape":[2,3],"maps":[[0,1],[1]]}"#);
/// ```
pub fn verdict(line: &str) -> String {
    let mut verdict = Map::new();
    let answer = match serde_json::from_str::<Object<Case>>(line) {
        Ok(Object(case)) => {
            if let Some(id) = &case.id {
                verdict.insert("id".to_owned(), id.clone());
            }
            answer(&case)
        }
        Err(error) => Err(bad_request(error.to_string())),
    };
    match answer {
        Ok(answer) => {
            verdict.insert("ok".to_owned(), json!(true));
            verdict.extend(answer);
        }
        Err(refusal) => refuse(&mut verdict, refusal),
    }
    Value::Object(verdict).to_string()
}

/// The verdict on a line that cannot be given to [`verdict`].
///
/// ```
/// let verdict = indim::oracle::bad_line("the line is too long");
/// assert_eq!(verdict, r#"{"ok":false,"code":"bad-request","message":"the line is too long"}"#);
/// ```
pub fn bad_line(message: &str) -> String {
    let mut verdict = Map::new();
    refuse(&mut verdict, bad_request(message));
    Value::Object(verdict).to_string()
}

fn refuse(verdict: &mut Map<String, Value>, refusal: Refusal) {
    let (code, label, message) = match refusal {
        Refusal::BadRequest(message) => ("bad-request", None, message),
        Refusal::Illegal { code, label, message } => (code, label, message),
    };
    verdict.insert("ok".to_owned(), json!(false));
    verdict.insert("code".to_owned(), json!(code));
    if let Some(label) = label {
        verdict.insert("rule".to_owned(), json!(label));
    }
    verdict.insert("message".to_owned(), json!(message));
}

/// What a case asks for.
enum Request {
    /// Only where the axes land.
    Shapes,
    /// An operation of the table.
    Operation(Op),
    /// A conversion.
    Convert(DType),
    /// A broadcast of one operand to a target shape.
    Target(TargetRule, Shape),
}

fn answer(case: &Case) -> Result<Map<String, Value>, Refusal> {
    let types = case
        .operands
        .iter()
        .map(|Object(operand)| operand_type(operand))
        .collect::<Result<Vec<_>, _>>()?;
    let shapes: Vec<Shape> = types.iter().map(|t| t.shape.clone()).collect();
    let request = request(case)?;
    let dtype = result_dtype(case, &request, &types)?;
    let broadcast = match &request {
        Request::Target(rule, target) => rule.elaborate(&shapes[0], target)?,
        Request::Operation(op) => op.rule_set(&rule_set(case)?).elaborate(&shapes)?,
        _ => rule_set(case)?.elaborate(&shapes)?,
    };
    broadcast.result().byte_count(dtype.size())?;
    let mut answer = Map::new();
    answer.insert("dtype".to_owned(), json!(dtype.name()));
    answer.insert("shape".to_owned(), json!(broadcast.result().sizes()));
    let maps: Vec<&[usize]> = broadcast.maps().iter().map(|map| &map[..]).collect();
    answer.insert("maps".to_owned(), json!(maps));
    if let Some(data) = evaluated(case, &request, &types, &broadcast)? {
        answer.insert("data".to_owned(), data);
    }
    Ok(answer)
}

fn operand_type(operand: &Operand) -> Result<ArrayType, Refusal> {
    let dtype = match &operand.dtype {
        Some(name) => name.parse().map_err(|error| bad_request(format!("`{name}`: {error}")))?,
        None => DType::F32,
    };
    Ok(ArrayType { dtype, shape: shape(&operand.shape)? })
}

fn shape(sizes: &[u64]) -> Result<Shape, Refusal> {
    let size = |&size: &u64| usize::try_from(size).map_err(|error| bad_request(error.to_string()));
    sizes.iter().map(size).collect()
}

fn request(case: &Case) -> Result<Request, Refusal> {
    if let Some(rule) = target_rule(case)? {
        let [_] = &case.operands[..] else {
            return Err(bad_request("a broadcast to a target takes one operand"));
        };
        let Some(target) = &case.target else {
            return Err(bad_request("a broadcast to a target needs `target`, a shape"));
        };
        return Ok(Request::Target(rule, shape(target)?));
    }
    match case.op.as_deref() {
        None => Ok(Request::Shapes),
        Some("convert") if case.operands.len() != 1 => {
            Err(bad_request("`convert` takes one operand"))
        }
        Some("convert") => {
            let to = case.to.as_deref().ok_or_else(|| bad_request("`convert` needs `to`"))?;
            Ok(Request::Convert(to.parse().map_err(|e| bad_request(format!("`{to}`: {e}")))?))
        }
        Some(name) => name.parse().map(Request::Operation).map_err(|_| unknown_op(case, name)),
    }
}

/// The rule of a broadcast to a target: by its name, by the operation, or by a target without one.
fn target_rule(case: &Case) -> Result<Option<TargetRule>, Refusal> {
    let op = case.op.as_deref().or(case.target.is_some().then_some("broadcast"));
    let is_in_dim = op == Some("broadcast_in_dim") || case.op.is_none();
    Ok(Some(match (case.rule.as_str(), op) {
        ("unidirectional", None | Some("broadcast")) | ("numpy", Some("broadcast")) => {
            TargetRule::Unidirectional
        }
        ("bidirectional", None | Some("broadcast")) => TargetRule::Bidirectional,
        ("explicit", None | Some("broadcast")) => TargetRule::Explicit { axes: dims(case) },
        ("unidirectional" | "bidirectional" | "explicit", Some(name)) => {
            return Err(unknown_op(case, name));
        }
        ("pdpd", Some("broadcast")) => TargetRule::Pdpd { axis: case.axis },
        ("xla", Some("broadcast_in_dim" | "broadcast")) if is_in_dim => {
            TargetRule::XlaBroadcastInDim { dims: dims(case) }
        }
        ("xla", Some("broadcast")) => TargetRule::XlaBroadcast,
        ("stablehlo", Some("broadcast_in_dim" | "broadcast")) if is_in_dim => {
            TargetRule::StableHloBroadcastInDim { dims: dims(case) }
        }
        (_, Some(name @ ("broadcast" | "broadcast_in_dim"))) => {
            return rule_set(case).and_then(|_| Err(unknown_op(case, name)));
        }
        _ => return Ok(None),
    }))
}

fn unknown_op(case: &Case, name: &str) -> Refusal {
    bad_request(format!("there is no operation `{name}` under rule `{}`", case.rule))
}

fn dims(case: &Case) -> Vec<i64> {
    case.dims.clone().unwrap_or_default()
}

fn rule_set(case: &Case) -> Result<RuleSet, Refusal> {
    match case.rule.as_str() {
        "none" => Ok(RuleSet::None),
        "numpy" => Ok(RuleSet::Numpy),
        "xla" => Ok(RuleSet::Xla { dims: dims(case) }),
        "stablehlo" => Ok(RuleSet::StableHlo),
        "pdpd" => Ok(RuleSet::Pdpd { axis: case.axis }),
        "onnx-legacy" if case.broadcast.is_some_and(|flag| flag > 1) => {
            Err(bad_request("`broadcast` is 0 or 1"))
        }
        "onnx-legacy" => {
            Ok(RuleSet::OnnxLegacy { broadcast: case.broadcast != Some(0), axis: case.axis })
        }
        other => Err(bad_request(format!(
            "there is no rule `{other}`; the rules are xla, stablehlo, none, numpy, pdpd, unidirectional, bidirectional, explicit, onnx-legacy"
        ))),
    }
}

/// The element type of the result; types are checked before shapes.
fn result_dtype(case: &Case, request: &Request, types: &[ArrayType]) -> Result<DType, Refusal> {
    let first = types.first().ok_or_else(|| bad_request("there are no operands"))?;
    match request {
        Request::Target(..) => Ok(first.dtype),
        Request::Convert(dtype) => Ok(*dtype),
        Request::Operation(op) => {
            op.check_signature(types).map(|dtype| op.result_dtype(dtype)).map_err(|kind| {
                let operands =
                    (0..).map(|index| format!("operand {index}")).zip(types.iter().cloned());
                let error = GraphError::new(kind, op.name(), operands.collect());
                let is_mismatch = matches!(error.kind, GraphErrorKind::ElementTypeMismatch { .. });
                let label =
                    if is_mismatch && case.rule == "xla" { Some("X1") } else { error.label() };
                Refusal::Illegal { code: error.code(), label, message: error.to_string() }
            })
        }
        Request::Shapes => match types.iter().position(|t| t.dtype != first.dtype) {
            Some(index) if case.rule == "xla" && types.len() == 2 => Err(Refusal::Illegal {
                code: "element-type-mismatch",
                label: Some("X1"),
                message: format!(
                    "operand {index} is {}, operand 0 is {}",
                    types[index].dtype, first.dtype
                ),
            }),
            _ => Ok(types[types.len() - 1].dtype),
        },
    }
}

/// The elements of the result, if every operand has data.
fn evaluated(
    case: &Case,
    request: &Request,
    types: &[ArrayType],
    broadcast: &Broadcast,
) -> Result<Option<Value>, Refusal> {
    if matches!(request, Request::Shapes) || case.operands.iter().any(|o| o.0.data.is_none()) {
        return Ok(None);
    }
    let count = broadcast.result().element_count()?;
    if count > MAXIMUM_ELEMENTS {
        return Err(bad_request(format!(
            "the result has {count} elements and at most {MAXIMUM_ELEMENTS} are evaluated; \
             without `data` the shapes are answered"
        )));
    }
    let read = |(Object(operand), array_type): (&Object<Operand>, &ArrayType)| {
        array(array_type, operand.data.as_deref().unwrap_or_default())
    };
    let arrays = case.operands.iter().zip(types).map(read).collect::<Result<Vec<_>, _>>()?;
    let b = GraphBuilder::new();
    let mut values = Vec::with_capacity(types.len());
    for (index, t) in types.iter().enumerate() {
        values.push(b.parameter(&format!("operand {index}"), t.dtype, t.shape.clone())?);
    }
    let result = match request {
        Request::Operation(op) => b.elementwise(*op, &values, &rule_set(case)?)?,
        Request::Convert(dtype) => b.convert(&values[0], *dtype)?,
        Request::Target(..) | Request::Shapes => {
            let dims: Vec<i64> = broadcast.maps()[0].iter().map(|&axis| axis as i64).collect();
            b.broadcast_in_dim(&values[0], &dims, broadcast.result().clone())?
        }
    };
    let graph = b.finish(&[result])?;
    let results = evaluate(&graph, &arrays).map_err(|error| bad_request(error.to_string()))?;
    Ok(Some(elements(&results[0])))
}

/// The operand's elements; as many as the shape has, each of the element type.
fn array(array_type: &ArrayType, data: &[Value]) -> Result<Array, Refusal> {
    macro_rules! read {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match array_type.dtype {
                $(DType::$variant => ArrayData::$variant(
                    data.iter().map(read!(@one $class $type)).collect::<Option<_>>().ok_or_else(|| {
                        bad_request(concat!("an element of `data` is not of type ", stringify!($type)))
                    })?,
                ),)*
            }
        };
        (@one boolean $type:ident) => { truth };
        (@one float $type:ident) => { number };
        (@one half $type:ident) => { number };
        (@one complex $type:ident) => {
            |value| match value.as_array().map(Vec::as_slice) {
                Some([re, im]) => Some(Complex { re: number(re)?, im: number(im)? }),
                _ => None,
            }
        };
        (@one $class:ident $type:ident) => {
            |value| match value {
                Value::Number(number) => number.as_str().parse::<$type>().ok(),
                _ => None,
            }
        };
    }
    let data = for_each_element!(read);
    Array::from_data(array_type.shape.clone(), data).map_err(|error| bad_request(error.to_string()))
}

/// A float: a number, or the text of one that JSON has not.
fn number<F: core::str::FromStr>(value: &Value) -> Option<F> {
    match value {
        Value::Number(number) => number.as_str().parse().ok(),
        Value::String(text) if matches!(text.as_str(), "nan" | "inf" | "-inf") => text.parse().ok(),
        _ => None,
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::Number(number) if number.as_str() == "0" => Some(false),
        Value::Number(number) if number.as_str() == "1" => Some(true),
        _ => None,
    }
}

/// Elements as JSON; floats as the shortest decimals that read back the same.
fn elements(array: &Array) -> Value {
    macro_rules! write {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match array.data() {
                $(ArrayData::$variant(elements) => elements.iter().map(write!(@one $class)).collect(),)*
            }
        };
        (@one float) => { |&element| float(f64::from(element), format!("{element:?}")) };
        (@one half) => { |&element| float(f64::from(element), format!("{element:?}")) };
        (@one complex) => {
            |element| {
                let parts = [element.re, element.im];
                parts.map(|part| float(f64::from(part), format!("{part:?}"))).into_iter().collect()
            }
        };
        (@one $class:ident) => { |&element| json!(element) };
    }
    Value::Array(for_each_element!(write))
}

fn float(value: f64, shortest: String) -> Value {
    match value {
        _ if value.is_nan() => json!("nan"),
        f64::INFINITY => json!("inf"),
        f64::NEG_INFINITY => json!("-inf"),
        _ => Value::Number(Number::from_string_unchecked(shortest)),
    }
}
