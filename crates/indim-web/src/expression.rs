//! An expression over types or small arrays: drawings of its broadcasts and reductions, its loop nests, the
//! cost of a run, and, if every name has elements, its results.

use indim::broadcast::{AxisNames, RuleChoice};
use indim::errors::Diagnostic;
use indim::explain::Explanation;
use indim::graph::GraphErrorKind;
use indim::literal::parse_literal;
use indim::print::array_text;
use indim::run::ExecutorChoice;
use indim::text::{Binding, ExprError, ExprErrorKind, Expression, ParseLimits};
use indim::{
    Array, ArrayType, ArrayView, CompileError, CompileOptions, Graph, GraphBuilder, GraphError,
    Value, compile,
};
use indim_shape::{ErrorCode, RuleConversion, RuleSetName, ShapeError, convert_broadcast};
use serde::{Deserialize, Serialize};

use crate::broadcast::{BroadcastAnswer, refuse_shapes};
use crate::reduction::ReductionAnswer;
use crate::report::Refusal;
use crate::request::{answered, check_count};
use crate::state::{BroadcastState, FormOffer, State};

/// Limits of a text on a page, far below those of the library.
const LIMITS: ParseLimits = ParseLimits::new().text_bytes(1 << 14).depth(100).nodes(1000);

/// Maximum elements of all values of an expression together; above this, results are not computed.
const MAX_ELEMENTS: usize = 1 << 20;

/// Memory limit of compilation, in bytes.
const COMPILE_BYTES: usize = 1 << 26;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpressionRequest {
    text: String,
    #[serde(default)]
    rule: Option<String>,
    inputs: Vec<InputText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputText {
    name: String,
    /// A type, `f32[2, 3]`, or elements, `[[1, 2], [3, 4]]`. Axes may have names, `f32[time: 2, lat: 3]` and
    /// `[[1, 2], [3, 4]][time, lat]`.
    value: String,
}

/// The value of an input.
struct InputValue {
    array_type: ArrayType,
    /// `None` if only the type is given.
    elements: Option<Array>,
    axis_names: Option<AxisNames>,
}

#[derive(Serialize)]
struct ExpressionAnswer {
    ok: bool,
    /// The input names of the expression.
    names: Vec<String>,
    broadcasts: Vec<BroadcastDrawing>,
    reductions: Vec<ReductionAnswer>,
    outputs: Vec<OutputText>,
    /// The loop nests.
    loops: String,
    graph: String,
    /// Bytes that a run reads, writes and holds.
    costs: String,
    /// The reason why results are not computed, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    svg: String,
}

/// A broadcast, and the contents of the form that explores it, if a rule states the broadcast without a
/// reshape.
#[derive(Serialize)]
struct BroadcastDrawing {
    #[serde(flatten)]
    explained: BroadcastAnswer,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<BroadcastState>,
    names: Vec<String>,
}

#[derive(Serialize)]
struct OutputText {
    name: String,
    #[serde(rename = "type")]
    array_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    elements: Option<String>,
}

/// Explains an expression, and computes it if every name has elements.
///
/// ```
/// let request = r#"{"text": "add(x, v, dims=[0])",
///     "inputs": [{"name": "x", "value": "[[1, 2], [3, 4]]"}, {"name": "v", "value": "[10, 20]"}]}"#;
/// let answer = indim_web::expression(request);
/// assert!(answer.contains(r#""elements":"[[11 12]\n [23 24]]""#), "{answer}");
/// ```
pub fn expression(request: &str) -> String {
    answered(request, |request: ExpressionRequest| request.answer())
}

impl ExpressionRequest {
    fn answer(&self) -> Result<ExpressionAnswer, Box<Refusal>> {
        check_count(self.inputs.len())?;
        let rule = self.rule.as_deref().unwrap_or(RuleChoice::AsWritten.as_str());
        let rule: RuleChoice = rule.parse().map_err(|error| {
            Refusal::of_field(&Diagnostic::new(ErrorCode::UNKNOWN_RULE, format!("{error}")), "rule")
        })?;
        let expression = Expression::parse(&self.text, &LIMITS)
            .map_err(|error| Refusal::of_field(&error.diagnostic(&self.text), "text"))?;
        let names: Vec<String> = expression.names().iter().map(ToString::to_string).collect();
        self.explain(&expression, rule, &names).map_err(|mut refusal| {
            refusal.names = Some(names.clone());
            refusal
        })
    }

    fn explain(
        &self,
        expression: &Expression,
        rule: RuleChoice,
        names: &[String],
    ) -> Result<ExpressionAnswer, Box<Refusal>> {
        let inputs = self.inputs.iter().enumerate().map(|(index, input)| input.read(index));
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let graph = self.graph(expression, &inputs, rule)?;
        let explanation = Explanation::new(&graph, &options()).map_err(refuse_compile)?;
        let (results, note) = match results(&graph, &inputs)? {
            Computation::Results(texts) => (texts, None),
            Computation::Skipped(why) => (Vec::new(), Some(why)),
        };
        Ok(ExpressionAnswer {
            ok: true,
            names: names.to_vec(),
            broadcasts: explanation.broadcasts().iter().map(draw_broadcast).collect(),
            reductions: explanation.reductions().iter().map(draw_reduction).collect(),
            outputs: outputs(expression, &graph, &results),
            loops: explanation.loops_text(),
            graph: graph.to_string(),
            costs: explanation.forecast_text(),
            note,
            svg: explanation.to_svg(),
        })
    }

    fn graph(
        &self,
        expression: &Expression,
        inputs: &[InputValue],
        rule: RuleChoice,
    ) -> Result<Graph, Box<Refusal>> {
        let rule = rule.of_expression().map_err(|error| {
            let mut diagnostic = Diagnostic::new(error.error_code(), error.to_string());
            diagnostic.help(error.advice());
            Refusal::of_field(&diagnostic, "rule")
        })?;
        let b = GraphBuilder::new();
        let refuse = |error: ExprError| refuse_expression(&error, &self.text);
        let mut bindings: Vec<(&str, Binding)> = Vec::new();
        for (index, (text, input)) in self.inputs.iter().zip(inputs).enumerate() {
            let name = text.name.trim();
            if bindings.iter().any(|(earlier, _)| *earlier == name) {
                let diagnostic =
                    Diagnostic::new(ErrorCode::DUPLICATE_NAME, format!("`{name}` is bound twice"));
                return Err(Refusal::of_field(&diagnostic, format!("inputs.{index}")));
            }
            let value =
                parameter(&b, name, input).map_err(|error| Refusal::new(&error.diagnostic()))?;
            bindings.push((name, Binding::Array(value)));
        }
        let values = expression.build_results(&b, &bindings, rule.as_ref()).map_err(refuse)?;
        b.finish(&values).map_err(|error| Refusal::new(&error.diagnostic()))
    }
}

/// The value of an input in a graph.
fn parameter(b: &GraphBuilder, name: &str, input: &InputValue) -> Result<Value, GraphError> {
    let ArrayType { dtype, shape } = input.array_type.clone();
    let value = b.parameter(name, dtype, shape)?;
    match &input.axis_names {
        Some(names) => b.name_axes(&value, names.clone()),
        None => Ok(value),
    }
}

/// Options that select kernels, because a browser runs only WebAssembly.
fn options() -> CompileOptions {
    CompileOptions::new().executor(ExecutorChoice::Blocks).memory_limit(COMPILE_BYTES)
}

fn refuse_compile(error: CompileError) -> Box<Refusal> {
    Refusal::new(&error.diagnostic())
}

/// The answer for a mistake in the expression; a mistake in shapes has a drawing and repairs.
fn refuse_expression(error: &ExprError, text: &str) -> Box<Refusal> {
    let mut refusal = Refusal::of_field(&error.diagnostic(text), "text");
    if let ExprErrorKind::Graph(graph) = &error.kind
        && let GraphErrorKind::Shape(shape) = &graph.kind
    {
        let operands = graph.operands.iter();
        let names: Vec<(String, String)> =
            operands.map(|(name, t)| (name.clone(), t.dtype.name().to_owned())).collect();
        let drawn = refuse_shapes(shape, graph.operation, &names);
        refusal.label = drawn.label;
        refusal.picture = drawn.picture;
        refusal.repairs = explore_offer(shape).into_iter().collect();
    }
    refusal
}

/// An offer to explore the mistake in the form for broadcasts, which shows the repairs; `None` for a
/// rule that the form lacks.
fn explore_offer(error: &ShapeError) -> Option<FormOffer> {
    let state = BroadcastState::of_rule(error.rule(), &[], error.target(), error.shapes())?;
    let text = "explore it, with what would work".to_owned();
    Some(FormOffer { text, reason: None, state: State::Broadcast(state) })
}

impl InputText {
    fn read(&self, index: usize) -> Result<InputValue, Box<Refusal>> {
        let field = || format!("inputs.{index}");
        let value = self.value.trim();
        let is_type = value.starts_with(|c: char| c.is_ascii_alphabetic())
            && !value.contains('(')
            && value.contains('[');
        let refuse = |diagnostic: Diagnostic| Refusal::of_field(&diagnostic, field());
        if is_type {
            let (plain, axis_names) = indim_text::split_axis_names(value).map_err(refuse)?;
            let array_type = indim_text::parse_array_type(&plain).map_err(refuse)?;
            return Ok(InputValue { array_type, elements: None, axis_names });
        }
        let (value, axis_names) = match indim_text::split_trailing_axis_names(value) {
            Some((elements, names)) => (elements, Some(names)),
            None => (value, None),
        };
        let array = parse_literal(value).map_err(|error| refuse(error.diagnostic(value)))?;
        Ok(InputValue { array_type: array.array_type().clone(), elements: Some(array), axis_names })
    }
}

/// The outcome of computing an expression.
enum Computation {
    /// The printed results.
    Results(Vec<String>),
    /// No results, with the reason.
    Skipped(String),
}

/// Computes the results, if every name has elements and the values have at most [`MAX_ELEMENTS`].
fn results(graph: &Graph, inputs: &[InputValue]) -> Result<Computation, Box<Refusal>> {
    let elements = inputs.iter().map(|input| input.elements.clone());
    let Some(arrays) = elements.collect::<Option<Vec<Array>>>() else {
        let note = "give every name elements, such as [[1, 2], [3, 4]], and the result is computed";
        return Ok(Computation::Skipped(note.to_owned()));
    };
    let counts = graph.iter().map(|(_, node)| node.array_type.shape.element_count());
    let total = counts.fold(0_usize, |sum, count| sum.saturating_add(count.unwrap_or(usize::MAX)));
    if total > MAX_ELEMENTS {
        let note = format!(
            "nothing is computed here where the values have more than {MAX_ELEMENTS} elements together"
        );
        return Ok(Computation::Skipped(note));
    }
    let executable = compile(graph, &options()).map_err(refuse_compile)?;
    let views: Vec<ArrayView<'_>> = arrays.iter().map(ArrayView::from).collect();
    let results = executable.run(&views).map_err(|error| Refusal::new(&error.diagnostic()))?;
    Ok(Computation::Results(results.iter().map(array_text).collect()))
}

/// The results with their names or positions, and their elements if they were computed.
fn outputs(expression: &Expression, graph: &Graph, texts: &[String]) -> Vec<OutputText> {
    let names = expression.results();
    let output = |(index, value): (usize, &indim::graph::ValueId)| OutputText {
        name: names.get(index).copied().flatten().map_or_else(|| index.to_string(), str::to_owned),
        array_type: graph[*value].array_type.to_string(),
        elements: texts.get(index).cloned(),
    };
    graph.outputs().iter().enumerate().map(output).collect()
}

/// Rules under which a drawn broadcast may be edited, in order of preference.
const DRAWN_RULES: [RuleSetName; 4] =
    [RuleSetName::Numpy, RuleSetName::Xla, RuleSetName::Pdpd, RuleSetName::StableHloBroadcastInDim];

fn draw_broadcast(explained: &indim::explain::ExplainedBroadcast) -> BroadcastDrawing {
    let form = explained.form();
    let conversion = DRAWN_RULES.iter().find_map(|&rule| {
        let conversion = convert_broadcast(form, rule).ok()?;
        // Only a rule that needs no reshape states the broadcast of the expression itself.
        conversion.reshapes.iter().all(Option::is_none).then_some(conversion)
    });
    let state = conversion.and_then(|RuleConversion { rule, reshapes, target }| {
        BroadcastState::of_rule(&rule, &reshapes, target.as_ref(), form.operands())
    });
    BroadcastDrawing {
        explained: BroadcastAnswer::new(String::new(), explained),
        state,
        names: explained.labels().iter().map(|(name, _)| name.clone()).collect(),
    }
}

fn draw_reduction(explained: &indim::explain::ExplainedReduction) -> ReductionAnswer {
    ReductionAnswer::new("", explained.title(), explained.form(), explained.label())
}
