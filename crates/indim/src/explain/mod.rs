//! Explanations of broadcasts and graphs, as text, JSON and SVG.
//!
//! ```
//! use indim::explain::Explanation;
//! use indim::{CompileOptions, DType, GraphBuilder};
//!
//! let b = GraphBuilder::new();
//! let x = b.parameter("x", DType::F32, [2, 3])?;
//! let v = b.parameter("v", DType::F32, [3])?;
//! let graph = b.finish(&[b.numpy().add(&x, &v)?.exp()])?;
//! println!("{}", Explanation::new(&graph, &CompileOptions::default())?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - `broadcast.rs`: a broadcast: picture, explicit form, and attributes under other rule sets;
//! - `cost.rs`: the cost of a run: bytes read, broadcast, written and held;
//! - `inputs.rs`: graphs of expressions over typed inputs with known or symbolic sizes;
//! - `json.rs`: explanations as JSON;
//! - `listing.rs`: loop nests as pseudocode in the style of NumPy;
//! - `outline_svg.rs`: models with nodes that indim does not compute, as an SVG document;
//! - `reduction.rs`: a reduction: axes, explicit form, and attributes under other rules;
//! - `svg.rs`: broadcasts and reductions as an SVG document.

mod broadcast;
mod cost;
mod inputs;
#[cfg(feature = "json")]
mod json;
mod listing;
#[cfg(feature = "formats")]
mod outline_svg;
mod reduction;
mod svg;

use core::fmt;

use indim_cpu::{
    CompileError, CompileOptions, Executable, Forecast, KernelFallback, TiledGroup, compile,
};
use indim_graph::{Graph, NodeKind, ValueId, drop_bitcast_pairs};
use indim_shape::{AxisMap, Broadcast, RuleSetName, Shape};

use listing::Listing;

pub use broadcast::{ExplainedBroadcast, ValueOrigin};
pub use inputs::{
    InputError, InputErrorKind, InputType, SymbolicExpression, TypedInput, build_typed,
    check_axis_names,
};
#[cfg(feature = "formats")]
pub(crate) use outline_svg::outline_document;
pub use reduction::{ExplainedReduction, reductions};

/// The explanation of a graph: broadcasts, reductions, nodes, loops, and the cost of a run.
///
/// ```
/// use indim::explain::Explanation;
/// use indim::{CompileOptions, DType, GraphBuilder};
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3])?;
/// let v = b.parameter("v", DType::F32, [3])?;
/// let graph = b.finish(&[b.add(x, v, &[1])?])?;
/// let explanation = Explanation::new(&graph, &CompileOptions::default())?;
/// assert!(explanation.to_string().contains("numpy"));
/// assert_eq!(explanation.broadcasts()[0].title(), "add(x, v)");
/// assert!(explanation.loops_text().contains("result[i0, i1] = add(x[i0, i1], v[i1])"));
/// assert!(explanation.programs_text().contains("add"));
/// assert_eq!(explanation.broadcast_bytes(), (12, 24)); // 3 elements stand for 6
/// assert!(explanation.forecast_text().starts_with("reads 36 bytes"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Explanation {
    broadcasts: Vec<ExplainedBroadcast>,
    reductions: Vec<ExplainedReduction>,
    graph: Graph,
    executable: Executable,
}

impl Explanation {
    /// Explains a graph, compiled with these options.
    ///
    /// # Errors
    /// Like [`compile`].
    pub fn new(graph: &Graph, options: &CompileOptions) -> Result<Self, CompileError> {
        Explanation::of_file(graph, options, |_| None)
    }

    /// Like [`Explanation::new`], for a graph from a file; `origin` returns the origin of a value.
    ///
    /// # Errors
    /// Like [`compile`].
    pub fn of_file(
        graph: &Graph,
        options: &CompileOptions,
        origin: impl Fn(ValueId) -> Option<ValueOrigin>,
    ) -> Result<Self, CompileError> {
        let executable = compile(graph, options)?;
        let (graph, sources) = drop_bitcast_pairs(graph);
        let broadcasts =
            broadcasts_with_origins(&graph, |value| origin(*sources.get(value.index())?));
        let reductions = reductions(&graph);
        Ok(Explanation { broadcasts, reductions, graph, executable })
    }

    /// The operations of the graph that broadcast an operand.
    pub fn broadcasts(&self) -> &[ExplainedBroadcast] {
        &self.broadcasts
    }

    /// The reductions of the graph.
    pub fn reductions(&self) -> &[ExplainedReduction] {
        &self.reductions
    }

    /// The bytes that a run reads, writes and holds.
    pub fn forecast(&self) -> Forecast {
        self.executable.forecast()
    }

    /// An SVG document of the broadcasts and the reductions.
    pub fn to_svg(&self) -> String {
        svg::document(&self.broadcasts, &self.reductions)
    }

    /// The explanation as one JSON object.
    #[cfg(feature = "json")]
    pub fn to_json(&self) -> String {
        json::explanation(self, false)
    }

    /// Like [`Explanation::to_json`], with [`Explanation::machine_code_text`] as the field `machine_code`:
    /// for each loop nest a `listing`, or the `reason` why kernels run it.
    #[cfg(feature = "json")]
    pub fn to_json_with_machine_code(&self) -> String {
        json::explanation(self, true)
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.broadcasts.is_empty() {
            writeln!(formatter, "nothing is broadcast\n")?;
        }
        for broadcast in &self.broadcasts {
            writeln!(formatter, "{broadcast}")?;
        }
        for reduction in &self.reductions {
            writeln!(formatter, "{reduction}")?;
        }
        writeln!(formatter, "graph\n{}", indent(&format!("{:#}", self.graph)))?;
        writeln!(formatter, "loops\n{}", indent(&self.loops_text()))?;
        writeln!(formatter, "programs\n{}", indent(&self.programs_text()))?;
        writeln!(formatter, "one run\n{}", indent(&self.forecast_text()))
    }
}

impl Explanation {
    /// The loop nests as pseudocode in the style of NumPy.
    pub fn loops_text(&self) -> String {
        self.listing().text()
    }

    /// The code of each loop nest for the instruction-set level: `a` is an array, `r` a virtual register of
    /// one block. The last lines are the groups of nests that run together, tile by tile.
    pub fn programs_text(&self) -> String {
        let listing = self.listing();
        let mut text = String::new();
        for (index, program) in self.executable.compiled_nests().iter().enumerate() {
            text += &format!("{index} for {}: ", self.executable.level());
            text += &program.listing(&|access| listing.access(access));
        }
        self.executable.tiled_groups().for_each(|group| text += &tiled_group_text(&group));
        text
    }

    /// The machine code of each loop nest for dense arrays: each value of the nest, followed by its
    /// instructions. For a nest that always runs by kernels, the reason.
    ///
    /// ```
    /// use indim::explain::Explanation;
    /// use indim::{CompileOptions, DType, GraphBuilder};
    /// use indim::run::ExecutorChoice;
    ///
    /// let b = GraphBuilder::new();
    /// let graph = b.finish(&[2 * b.parameter("x", DType::F32, [100])?])?;
    /// let options = CompileOptions::new().executor(ExecutorChoice::Blocks);
    /// let by_blocks = Explanation::new(&graph, &options)?.machine_code_text();
    /// assert_eq!(by_blocks, "nest 0 runs by kernels: kernels were requested\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn machine_code_text(&self) -> String {
        let of_nest = |(index, code): (usize, Result<String, KernelFallback>)| match code {
            Ok(code) => format!("nest {index}:\n{code}"),
            Err(reason) => format!("nest {index} runs by kernels: {reason}\n"),
        };
        self.machine_code().enumerate().map(of_nest).collect()
    }

    fn machine_code(&self) -> impl Iterator<Item = Result<String, KernelFallback>> {
        let listing = self.listing();
        let programs = self.executable.compiled_nests().iter();
        programs.map(move |program| program.machine_code(&|access| listing.access(access)))
    }

    fn listing(&self) -> Listing<'_> {
        listing_of(&self.executable)
    }
}

fn listing_of(executable: &Executable) -> Listing<'_> {
    Listing { names: executable.parameter_names(), loops: executable.loops() }
}

/// The loop nests of an executable as pseudocode, a text for each.
#[doc(hidden)]
pub fn nest_texts(executable: &Executable) -> Vec<String> {
    let listing = listing_of(executable);
    executable.nests().iter().map(|nest| listing.nest(nest)).collect()
}

/// `nests 0 to 4 run tile by tile: 16 of i0 at a time`.
fn tiled_group_text(group: &TiledGroup) -> String {
    let axes = group.axes.iter().map(|(axis, count)| format!("{count} of i{axis}"));
    let axes = axes.collect::<Vec<_>>().join(" and ");
    let (first, last) = (group.nests.start, group.nests.end - 1);
    format!("nests {first} to {last} run tile by tile: {axes} at a time\n")
}

/// Whether a value is a scalar constant, like a number in an expression.
fn is_number(graph: &Graph, value: ValueId) -> bool {
    let node = &graph[value];
    matches!(node.kind, NodeKind::Constant(_)) && node.array_type.shape.is_scalar()
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("   {line}\n")).collect()
}

/// A drawn error, or any other text, as an SVG document.
///
/// ```
/// let drawing = indim::explain::message_svg("error[size-mismatch]: `add` cannot ...");
/// assert!(drawing.contains("class=\"error\""));
/// ```
pub fn message_svg(text: &str) -> String {
    svg::message(text)
}

/// Every operation of a graph that broadcasts an operand, in order. Scalar constants do not count.
///
/// An explicit broadcast that is not an operand of an element-wise operation has its own entry.
///
/// ```
/// use indim::{DType, GraphBuilder, explain};
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3])?;
/// let v = b.parameter("v", DType::F32, [3])?;
/// let graph = b.finish(&[2 * b.add(x, v, &[1])?])?;
/// let titles: Vec<String> = explain::broadcasts(&graph).iter().map(|b| b.title()).collect();
/// assert_eq!(titles, ["add(x, v)"]);
/// # Ok::<(), indim::GraphError>(())
/// ```
pub fn broadcasts(graph: &Graph) -> Vec<ExplainedBroadcast> {
    broadcasts_with_origins(graph, |_| None)
}

fn broadcasts_with_origins(
    graph: &Graph,
    origin: impl Fn(ValueId) -> Option<ValueOrigin>,
) -> Vec<ExplainedBroadcast> {
    let is_standalone = standalone_broadcasts(graph);
    let explained = graph.iter().filter_map(|(value, node)| {
        let explained = match &node.kind {
            NodeKind::Elementwise(op) => broadcast_of(graph, value, op.name()),
            NodeKind::BroadcastInDim(_) if is_standalone[value.index()] => {
                Some(explain_operands(graph, value, "broadcast_in_dim", &[value]))
            }
            _ => None,
        };
        let explained = explained?;
        Some(match origin(value) {
            Some(own_origin) => {
                let rules = rules_of(graph, value, &own_origin, &origin);
                explained.with_origin(own_origin.place, rules)
            }
            None => explained,
        })
    });
    explained.collect()
}

/// The rules that broadcast the operands of an operation: its own rule, unless that requires equal shapes,
/// and the rules of separate broadcasts of its operands, with their places.
fn rules_of(
    graph: &Graph,
    value: ValueId,
    own_origin: &ValueOrigin,
    origin: &impl Fn(ValueId) -> Option<ValueOrigin>,
) -> Vec<String> {
    // A rule that requires equal shapes broadcasts nothing, even if an operand is a broadcast.
    let wants_equal = |rule: &String| {
        [RuleSetName::None, RuleSetName::StableHlo].iter().any(|name| name.as_str() == rule)
    };
    let mut rules: Vec<String> =
        own_origin.rule.clone().filter(|rule| !wants_equal(rule)).into_iter().collect();
    let broadcast = [value];
    let operands = match graph[value].kind {
        NodeKind::BroadcastInDim(_) => &broadcast[..],
        _ => &graph[value].operands,
    };
    for &operand in operands {
        let node = &graph[operand];
        if !matches!(node.kind, NodeKind::BroadcastInDim(_)) || is_number(graph, node.operands[0]) {
            continue;
        }
        let Some(ValueOrigin { place, rule: Some(rule) }) = origin(operand) else { continue };
        let rule = match place == own_origin.place {
            true => rule,
            false => format!("{rule} of {}, {place}", graph.value_name(node.operands[0])),
        };
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

/// The broadcast of an operation, over the operands of its `broadcast_in_dim` nodes.
fn broadcast_of(
    graph: &Graph,
    value: ValueId,
    operation: &'static str,
) -> Option<ExplainedBroadcast> {
    let operands = &graph[value].operands;
    let is_broadcast = |&operand: &ValueId| {
        let node = &graph[operand];
        matches!(node.kind, NodeKind::BroadcastInDim(_)) && !is_number(graph, node.operands[0])
    };
    operands.iter().any(is_broadcast).then(|| explain_operands(graph, value, operation, operands))
}

fn explain_operands(
    graph: &Graph,
    result: ValueId,
    operation: &'static str,
    operands: &[ValueId],
) -> ExplainedBroadcast {
    let mut labels = Vec::new();
    let mut shapes: Vec<Shape> = Vec::new();
    let mut dims: Vec<Vec<i64>> = Vec::new();
    for &operand in operands {
        let rank = graph[operand].array_type.shape.rank();
        let (source, map) = match &graph[operand].kind {
            NodeKind::BroadcastInDim(map) => (graph[operand].operands[0], map.clone()),
            _ => (operand, AxisMap::identity(rank)),
        };
        let source_type = &graph[source].array_type;
        labels.push((graph.value_name(source), source_type.dtype.name().to_owned()));
        shapes.push(source_type.shape.clone());
        dims.push(map.iter().map(|&axis| axis as i64).collect());
    }
    let form = Broadcast::explicit(&shapes, &dims, graph[result].array_type.shape.clone())
        .expect("invariant: a graph's broadcasts are legal");
    ExplainedBroadcast::new(operation, labels, form)
}

/// For each value, whether it is a broadcast with its own entry: it is an output, or an operand of a node
/// that is not element-wise. A pure transposition does not count.
fn standalone_broadcasts(graph: &Graph) -> Vec<bool> {
    let mut is_standalone = vec![false; graph.len()];
    graph.outputs().iter().for_each(|output| is_standalone[output.index()] = true);
    for (_, node) in graph.iter() {
        if !matches!(node.kind, NodeKind::Elementwise(_)) {
            node.operands.iter().for_each(|operand| is_standalone[operand.index()] = true);
        }
    }
    for (value, node) in graph.iter() {
        let repeats = |map: &AxisMap| {
            let source = &graph[node.operands[0]].array_type.shape;
            let mut axes = source.iter().zip(map.iter());
            let result = &node.array_type.shape;
            source.rank() < result.rank() || axes.any(|(size, &axis)| *size != result[axis])
        };
        is_standalone[value.index()] &=
            matches!(&node.kind, NodeKind::BroadcastInDim(map) if repeats(map));
    }
    is_standalone
}
