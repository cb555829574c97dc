//! Printing graphs. `indim-text` parses this text and documents it.
//!
//! Regions come first, each once, as `@0 = graph { ... }`; nodes name them.

use core::fmt::{self, Display, Formatter, Write};

use indim_ops::DType;
use indim_ops::elements::*;
use indim_shape::is_printable;

use crate::element_text::ElementText;
use crate::graph::{Graph, Node, NodeKind, ValueId};
use crate::regions::Region;
use crate::views::AxisSlice;
use indim_arrays::Array;

/// Elements on a line of a constant. A constant with more elements has several lines.
const ELEMENTS_PER_LINE: usize = 16;

/// Maximum elements of a constant in the alternate form, as NumPy has it for its summaries.
const MAX_SHOWN_ELEMENTS: usize = 1000;

/// The text form. The alternate form, `{:#}`, is for readers: it omits the elements of a constant of more
/// than 1000 elements.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::Array;
///
/// let b = GraphBuilder::new();
/// let weights = b.constant(Array::new([1001], vec![0.5f32; 1001])?);
/// let graph = b.finish(&[weights.exp()])?;
/// assert!(format!("{graph:#}").contains("= constant : f32[1001] { ... }\n"));
/// assert!(format!("{graph}").contains("0.5, 0.5"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Display for Graph {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut regions = Vec::new();
        collect_regions(self, &mut regions);
        for (number, region) in regions.iter().enumerate() {
            write!(f, "@{number} = ")?;
            write_graph(f, region.graph(), &regions)?;
            f.write_str("\n")?;
        }
        write_graph(f, self, &regions)
    }
}

/// All regions of a graph, nested ones too, without duplicates. A region follows the regions inside it.
fn collect_regions<'a>(graph: &'a Graph, regions: &mut Vec<&'a Region>) {
    for region in graph.iter().flat_map(|(_, node)| node.kind.regions()) {
        if !regions.contains(&region) {
            collect_regions(region.graph(), regions);
            regions.push(region);
        }
    }
}

fn write_graph(f: &mut Formatter<'_>, graph: &Graph, regions: &[&Region]) -> fmt::Result {
    f.write_str("graph {\n")?;
    for (value, node) in graph.iter() {
        f.write_str("  ")?;
        write_node(f, value, node, regions)?;
        if let NodeKind::Constant(array) = &node.kind {
            write_elements(f, array)?;
        }
        f.write_str("\n")?;
    }
    f.write_str("  return")?;
    write_list(f, graph.outputs())?;
    f.write_str("\n}")
}

/// The line of a node, without the elements of a constant; regions are `@...` instead of their numbers.
pub(crate) fn describe_node(value: ValueId, node: &Node) -> String {
    struct Line<'a>(ValueId, &'a Node);
    impl Display for Line<'_> {
        fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
            write_node(formatter, self.0, self.1, &[])
        }
    }
    Line(value, node).to_string()
}

/// Writes the line of a node; the position of a region in `regions` is its number.
fn write_node(
    f: &mut Formatter<'_>,
    value: ValueId,
    node: &Node,
    regions: &[&Region],
) -> fmt::Result {
    write!(f, "{value} = ")?;
    f.write_str(node.kind.name())?;
    match &node.kind {
        NodeKind::Parameter { name, .. } => {
            f.write_char(' ')?;
            write_quoted(f, name)?;
        }
        NodeKind::Iota { axis } => write!(f, " axis={axis}")?,
        _ => {}
    }
    write_list(f, &node.operands)?;
    match &node.kind {
        NodeKind::BroadcastInDim(map) => write!(f, " dims={map}")?,
        NodeKind::Reduce { axis, .. } | NodeKind::Concatenate { axis } => {
            write!(f, " axis={axis}")?;
        }
        NodeKind::Take { axis, mode } => write!(f, " axis={axis} mode={mode}")?,
        NodeKind::Scatter { axis, mode, .. } => write!(f, " axis={axis} mode={mode}")?,
        NodeKind::Window { axis, window } => {
            let (size, stride, dilation) = (window.size(), window.stride(), window.dilation());
            write!(f, " axis={axis} size={size} stride={stride} dilation={dilation}")?;
        }
        NodeKind::Contract { summed } => write!(f, " summed={summed}")?,
        NodeKind::Scan { axis, reverse, exclusive, .. } => {
            write!(f, " axis={axis}")?;
            f.write_str(if *reverse { " reverse" } else { "" })?;
            f.write_str(if *exclusive { " exclusive" } else { "" })?;
        }
        NodeKind::Sort { axis, descending, result } => {
            let order = if *descending { "descending" } else { "ascending" };
            write!(f, " axis={axis} order={order} result={result}")?;
        }
        NodeKind::SearchSorted { side } => write!(f, " side={side}")?,
        NodeKind::While { condition, body, limit, result } => {
            write_region(f, " condition=", condition, regions)?;
            write_region(f, " body=", body, regions)?;
            write!(f, " limit={limit} result={result}")?;
        }
        NodeKind::Branch { branches, result } => {
            for (number, branch) in branches.iter().enumerate() {
                write_region(f, if number == 0 { " branches=" } else { ", " }, branch, regions)?;
            }
            write!(f, " result={result}")?;
        }
        NodeKind::Slice(slices) => {
            let starts: Vec<usize> = slices.iter().map(AxisSlice::start).collect();
            let steps: Vec<isize> = slices.iter().map(AxisSlice::step).collect();
            write!(f, " starts={starts:?} steps={steps:?}")?;
        }
        _ => {}
    }
    write!(f, " : {}", node.array_type)
}

/// Writes `before` and the number of a region; `@...` for one that `regions` lacks.
fn write_region(
    f: &mut Formatter<'_>,
    before: &str,
    region: &Region,
    regions: &[&Region],
) -> fmt::Result {
    match regions.iter().position(|&other| other == region) {
        Some(number) => write!(f, "{before}@{number}"),
        None => write!(f, "{before}@..."),
    }
}

fn write_list(f: &mut Formatter<'_>, values: &[ValueId]) -> fmt::Result {
    for (position, value) in values.iter().enumerate() {
        write!(f, "{}{value}", if position == 0 { " " } else { ", " })?;
    }
    Ok(())
}

/// A name in quotes, with quotes, backslashes and unprintable characters escaped.
fn write_quoted(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    f.write_char('"')?;
    for character in name.chars() {
        match character {
            '"' | '\\' => write!(f, "\\{character}")?,
            _ if !is_printable(character) => write!(f, "\\u{{{:x}}}", u32::from(character))?,
            _ => f.write_char(character)?,
        }
    }
    f.write_char('"')
}

fn write_elements(f: &mut Formatter<'_>, array: &Array) -> fmt::Result {
    macro_rules! write_each {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match array.dtype() {
                $(DType::$variant => {
                    let elements = array.elements::<$type>();
                    write_dense(f, elements.expect("invariant: constants are row-major"))
                })*
            }
        };
    }
    if f.alternate() && array.element_count() > MAX_SHOWN_ELEMENTS {
        return f.write_str(" { ... }");
    }
    indim_ops::for_each_element!(write_each)
}

fn write_dense<T: ElementText + Copy>(f: &mut Formatter<'_>, elements: &[T]) -> fmt::Result {
    let is_long = elements.len() > ELEMENTS_PER_LINE;
    f.write_str(" {")?;
    for (position, &element) in elements.iter().enumerate() {
        if position > 0 {
            f.write_char(',')?;
        }
        let begins_line = is_long && position % ELEMENTS_PER_LINE == 0;
        f.write_str(if begins_line { "\n    " } else { " " })?;
        element.write(f)?;
    }
    f.write_str(if is_long { "\n  }" } else { " }" })
}
