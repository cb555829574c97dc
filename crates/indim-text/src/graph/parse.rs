//! The parser of graphs: one pass over the text, without recursion. Its memory grows with the length of the
//! text, not with the sizes that the text states.

use core::str::FromStr;
use std::collections::{HashMap, HashSet};

use indim_graph::element_text::ElementText;
use indim_graph::{
    Array, AxisSlice, AxisWindow, Graph, GraphAssembler, GraphError, GraphErrorKind, NodeKind,
    Region, ValueId, VerifyErrorKind,
};
use indim_ops::elements::*;
use indim_ops::{ArrayType, DType, Element, Op, ReduceOp, ScatterOp};
use indim_shape::{AxisMap, MAX_RANK, RankLimitError, Shape, saturating_size};

use super::error::{ParseError, ParseErrorKind};
use crate::cursor::Cursor;
use crate::limits::LimitError;
use crate::span::Span;

/// Limit on the length of a text, so that the number of values fits 32 bits.
const MAX_TEXT_BYTES: usize = 1 << 30;

/// The orders of a sort, in messages.
const ORDERS: &str = "`ascending` or `descending`";

type ParseResult<T> = Result<T, ParseError>;

/// Parses the text form of a graph and verifies the graph.
///
/// Names of values consist of ASCII letters, digits and `_`, in any order. Equal nodes are merged, except
/// constants.
///
/// ```
/// use indim_text::parse_graph;
/// let text = "graph {\n  %0 = parameter \"x\" : f32[2]\n  %1 = neg %0 : f32[2]\n  return %1\n}";
/// assert_eq!(parse_graph(text)?.to_string(), text);
/// # Ok::<(), indim_text::ParseError>(())
/// ```
///
/// # Errors
/// Syntax errors, arrays of more than [`MAX_RANK`] axes, and nodes that break
/// an invariant; each with its span.
pub fn parse_graph(text: &str) -> Result<Graph, ParseError> {
    parse_graph_up_to_rank(text, MAX_RANK)
}

/// Like [`parse_graph`], with arrays of at most `rank` axes.
///
/// ```
/// use indim_text::parse_graph_up_to_rank;
///
/// let text = "graph {\n  %0 = parameter \"x\" : f32[2, 3]\n  return %0\n}";
/// assert!(parse_graph_up_to_rank(text, 2).is_ok());
/// assert_eq!(parse_graph_up_to_rank(text, 1).unwrap_err().code(), "rank-limit");
/// ```
///
/// # Errors
/// Like [`parse_graph`].
pub fn parse_graph_up_to_rank(text: &str, rank: usize) -> Result<Graph, ParseError> {
    LimitError::check_length(text, MAX_TEXT_BYTES)
        .map_err(|error| ParseError::new(ParseErrorKind::Limit(error), text, Span::default()))?;
    let parser = Parser {
        text,
        max_rank: rank,
        cursor: Cursor::new(text),
        assembler: GraphAssembler::new(),
        known: HashMap::new(),
        parameter_names: HashSet::new(),
        regions: HashMap::new(),
    };
    parser.text()
}

struct Parser<'t> {
    text: &'t str,
    max_rank: usize,
    cursor: Cursor<'t>,
    assembler: GraphAssembler,
    /// The values by their names.
    known: HashMap<&'t str, ValueId>,
    parameter_names: HashSet<String>,
    /// The regions by their names.
    regions: HashMap<&'t str, Region>,
}

/// The part of a node before its type: kind and attributes.
enum NodeHead {
    Constant,
    /// A slice without its sizes, which follow from the type.
    Slice {
        starts: Vec<usize>,
        steps: Vec<isize>,
    },
    Other(NodeKind),
}

impl<'t> Parser<'t> {
    /// The regions, each as `@0 = graph { ... }`, and the graph.
    fn text(mut self) -> ParseResult<Graph> {
        while self.cursor.peek() == Some('@') {
            let (name, span) = self.region_name()?;
            if self.regions.contains_key(name) {
                let kind = ParseErrorKind::DuplicateRegion { name: name.to_owned() };
                return Err(self.error(kind, span));
            }
            self.expect('=', "`=`")?;
            let region = Region::new(self.graph()?);
            self.regions.insert(name, region);
        }
        let graph = self.graph()?;
        match self.cursor.peek() {
            None => Ok(graph),
            Some(_) => Err(self.unexpected("the end of the text")),
        }
    }

    /// `graph { ... }`
    fn graph(&mut self) -> ParseResult<Graph> {
        self.known.clear();
        self.parameter_names.clear();
        self.keyword("graph", "`graph`")?;
        self.expect('{', "`{`")?;
        while self.cursor.peek() == Some('%') {
            self.definition()?;
        }
        self.keyword("return", "a value or `return`")?;
        let outputs = self.values()?;
        self.expect('}', "`}`")?;
        let assembler = core::mem::take(&mut self.assembler);
        Ok(assembler.finish(outputs).expect("invariant: outputs are known values"))
    }

    /// `%3 = add %0, %2 : f32[4, 3]`
    fn definition(&mut self) -> ParseResult<()> {
        let (name, name_span) = self.value_name()?;
        if self.known.contains_key(name) {
            let kind = ParseErrorKind::DuplicateValue { name: name.to_owned() };
            return Err(self.error(kind, name_span));
        }
        self.expect('=', "`=`")?;
        let (operation, operation_span) = self.word("an operation")?;
        let (head, operands) = self.head(operation, operation_span)?;
        self.expect(':', "`:` and the type of the result")?;
        let array_type = self.array_type()?;
        let kind = match head {
            NodeHead::Constant => {
                // Equal constants stay separate nodes, as in the text.
                let constant = self.constant(&array_type)?;
                self.known.insert(name, self.assembler.add_distinct(constant));
                return Ok(());
            }
            NodeHead::Slice { starts, steps } => {
                let sizes = array_type.shape.iter().chain(core::iter::repeat(&0));
                let slices = starts.into_iter().zip(steps).zip(sizes);
                let slices = slices.map(|((start, step), &n)| AxisSlice::new(start, n, step));
                NodeKind::Slice(slices.collect())
            }
            NodeHead::Other(kind) => kind,
        };
        let value = self
            .assembler
            .add(kind, &operands, array_type)
            .map_err(|kind| self.error(ParseErrorKind::Verify(kind), operation_span))?;
        self.known.insert(name, value);
        Ok(())
    }

    /// Parses the operands and attributes of `operation`, up to the colon.
    fn head(&mut self, operation: &str, span: Span) -> ParseResult<(NodeHead, Vec<ValueId>)> {
        let kind = match operation {
            "constant" => return Ok((NodeHead::Constant, Vec::new())),
            "parameter" => NodeKind::Parameter {
                index: self.assembler.parameter_count(),
                name: self.parameter_name()?,
            },
            "iota" => {
                self.attribute("axis")?;
                NodeKind::Iota { axis: self.size()? }
            }
            "convert" => NodeKind::Convert,
            "bitcast" => NodeKind::Bitcast,
            "reshape" => NodeKind::Reshape,
            "broadcast_in_dim" => {
                let operands = self.values()?;
                self.attribute("dims")?;
                let map = AxisMap::from(self.sizes()?);
                return Ok((NodeHead::Other(NodeKind::BroadcastInDim(map)), operands));
            }
            "slice" => {
                let operands = self.values()?;
                self.attribute("starts")?;
                let starts = self.sizes()?;
                self.attribute("steps")?;
                let steps = self.steps(starts.len())?;
                return Ok((NodeHead::Slice { starts, steps }, operands));
            }
            "window" => {
                let operands = self.values()?;
                let mut numbers = [0; 4];
                for (number, name) in numbers.iter_mut().zip(["axis", "size", "stride", "dilation"])
                {
                    self.attribute(name)?;
                    *number = self.size()?;
                }
                let [axis, size, stride, dilation] = numbers;
                let window = AxisWindow::new(size, stride, dilation);
                return Ok((NodeHead::Other(NodeKind::Window { axis, window }), operands));
            }
            "concatenate" => {
                let operands = self.values()?;
                self.attribute("axis")?;
                let axis = self.size()?;
                return Ok((NodeHead::Other(NodeKind::Concatenate { axis }), operands));
            }
            "take" => {
                let operands = self.values()?;
                self.attribute("axis")?;
                let axis = self.size()?;
                self.attribute("mode")?;
                let mode = self.parse_word("`error`, `clip` or `wrap`")?;
                return Ok((NodeHead::Other(NodeKind::Take { axis, mode }), operands));
            }
            _ if let Some(op) = scatter_op(operation) => {
                let operands = self.values()?;
                self.attribute("axis")?;
                let axis = self.size()?;
                self.attribute("mode")?;
                let mode = self.parse_word("`error`, `clip`, `wrap` or `drop`")?;
                return Ok((NodeHead::Other(NodeKind::Scatter { op, axis, mode }), operands));
            }
            "contract" => {
                let operands = self.values()?;
                self.attribute("summed")?;
                let summed = self.size()?;
                return Ok((NodeHead::Other(NodeKind::Contract { summed }), operands));
            }
            "sort" => {
                let operands = self.values()?;
                self.attribute("axis")?;
                let axis = self.size()?;
                self.attribute("order")?;
                let descending = match self.word(ORDERS)? {
                    ("ascending", _) => false,
                    ("descending", _) => true,
                    (_, span) => return Err(self.unexpected_word(ORDERS, span)),
                };
                self.attribute("result")?;
                let result = self.parse_word("`values` or `positions`")?;
                let kind = NodeKind::Sort { axis, descending, result };
                return Ok((NodeHead::Other(kind), operands));
            }
            "search_sorted" => {
                let operands = self.values()?;
                self.attribute("side")?;
                let side = self.parse_word("`left` or `right`")?;
                return Ok((NodeHead::Other(NodeKind::SearchSorted { side }), operands));
            }
            "while" => {
                let operands = self.values()?;
                self.attribute("condition")?;
                let condition = self.region()?;
                self.attribute("body")?;
                let body = self.region()?;
                self.attribute("limit")?;
                let limit = self.count()?;
                self.attribute("result")?;
                let result = self.size()?;
                let kind = NodeKind::While { condition, body, limit, result };
                return Ok((NodeHead::Other(kind), operands));
            }
            "branch" => {
                let operands = self.values()?;
                self.attribute("branches")?;
                let mut branches = vec![self.region()?];
                while self.cursor.eat(',').is_some() {
                    branches.push(self.region()?);
                }
                self.attribute("result")?;
                let result = self.size()?;
                let kind = NodeKind::Branch { branches: branches.into(), result };
                return Ok((NodeHead::Other(kind), operands));
            }
            _ if let Some(op) = ReduceOp::from_scan_name(operation) => {
                let operands = self.values()?;
                self.attribute("axis")?;
                let axis = self.size()?;
                let reverse = self.flag("reverse")?;
                let exclusive = self.flag("exclusive")?;
                let kind = NodeKind::Scan { op, axis, reverse, exclusive };
                return Ok((NodeHead::Other(kind), operands));
            }
            _ if let Ok(op) = operation.parse::<ReduceOp>() => {
                let operands = self.values()?;
                self.attribute("axis")?;
                let axis = self.size()?;
                return Ok((NodeHead::Other(NodeKind::Reduce { op, axis }), operands));
            }
            _ => match operation.parse::<Op>() {
                Ok(op) => NodeKind::Elementwise(op),
                Err(_) => {
                    let kind = ParseErrorKind::UnknownOperation { name: operation.to_owned() };
                    return Err(self.error(kind, span));
                }
            },
        };
        Ok((NodeHead::Other(kind), self.values()?))
    }

    /// `"x"`, a unique parameter name.
    fn parameter_name(&mut self) -> ParseResult<String> {
        let (name, span) = self.quoted()?;
        if !self.parameter_names.insert(name.clone()) {
            let kind = GraphErrorKind::DuplicateParameter { name };
            let error = Box::new(GraphError::new(kind, "parameter", Vec::new()));
            return Err(self.error(ParseErrorKind::Verify(VerifyErrorKind::Rule(error)), span));
        }
        Ok(name)
    }

    /// `f32[4, 3]`
    fn array_type(&mut self) -> ParseResult<ArrayType> {
        let (name, span) = self.word("an element type")?;
        let Ok(dtype) = name.parse::<DType>() else {
            let kind = ParseErrorKind::UnknownElementType { name: name.to_owned() };
            return Err(self.error(kind, span));
        };
        Ok(ArrayType::new(dtype, Shape::from(self.sizes()?)))
    }

    /// The elements of a constant of type `array_type`.
    fn constant(&mut self, array_type: &ArrayType) -> ParseResult<Array> {
        macro_rules! read_each {
            ($($variant:ident $type:ident $class:ident;)*) => {
                match array_type.dtype {
                    $(DType::$variant => self.elements::<$type>(array_type),)*
                }
            };
        }
        indim_ops::for_each_element!(read_each)
    }

    /// `{ 1.5, nan }`
    fn elements<T: Element + ElementText>(&mut self, array_type: &ArrayType) -> ParseResult<Array> {
        let open = self.expect('{', "`{` and the elements")?;
        let mut elements: Vec<T> = Vec::new();
        while self.cursor.peek() != Some('}') {
            if !elements.is_empty() {
                self.expect(',', "`,` or `}`")?;
            }
            elements.push(self.element()?);
        }
        self.expect('}', "`}`")?;
        let given = elements.len();
        Array::from_data(&array_type.shape, T::into_data(elements)).map_err(|_| {
            let array_type = array_type.clone();
            let kind = ParseErrorKind::WrongElementCount { array_type, given };
            self.error(kind, self.cursor.since(open))
        })
    }

    fn element<T: Element + ElementText>(&mut self) -> ParseResult<T> {
        let is_part =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '(' | ')');
        let (text, span) = self.run(is_part, "an element")?;
        T::read(text)
            .ok_or_else(|| self.error(ParseErrorKind::BadElement { dtype: T::DTYPE }, span))
    }

    /// `%0, %2`, or an empty list.
    fn values(&mut self) -> ParseResult<Vec<ValueId>> {
        let mut values = Vec::new();
        if self.cursor.peek() != Some('%') {
            return Ok(values);
        }
        loop {
            let (name, span) = self.value_name()?;
            match self.known.get(name) {
                Some(&value) => values.push(value),
                None => {
                    let kind = ParseErrorKind::UndefinedValue { name: name.to_owned() };
                    return Err(self.error(kind, span));
                }
            }
            if self.cursor.eat(',').is_none() {
                return Ok(values);
            }
        }
    }

    /// A region that is defined above.
    fn region(&mut self) -> ParseResult<Region> {
        let (name, span) = self.region_name()?;
        match self.regions.get(name) {
            Some(region) => Ok(region.clone()),
            None => {
                let kind = ParseErrorKind::UndefinedRegion { name: name.to_owned() };
                Err(self.error(kind, span))
            }
        }
    }

    fn region_name(&mut self) -> ParseResult<(&'t str, Span)> {
        let sign = self.expect('@', "a region, such as `@0`")?;
        let (name, span) = self.word("the name of a region")?;
        Ok((name, sign.to(span)))
    }

    fn value_name(&mut self) -> ParseResult<(&'t str, Span)> {
        let sign = self.expect('%', "a value")?;
        let (name, span) = self.word("the name of a value")?;
        Ok((name, sign.to(span)))
    }

    /// One of the words that `expected` lists.
    fn parse_word<T: FromStr<Err = ()>>(&mut self, expected: &'static str) -> ParseResult<T> {
        let (name, span) = self.word(expected)?;
        name.parse().map_err(|()| self.unexpected_word(expected, span))
    }

    fn unexpected_word(&self, expected: &'static str, span: Span) -> ParseError {
        self.error(ParseErrorKind::Unexpected { expected }, span)
    }

    /// `[1, -2]`, for `count` axes.
    fn steps(&mut self, count: usize) -> ParseResult<Vec<isize>> {
        const EXPECTED: &str = "a step for each axis";
        let open = self.expect('[', "`[`")?;
        let mut steps = Vec::new();
        while self.cursor.eat(']').is_none() {
            if !steps.is_empty() {
                self.expect(',', "`,` or `]`")?;
            }
            let (number, span) = self.run(|c| c.is_ascii_digit() || c == '-', "a step")?;
            let step =
                number.parse().map_err(|_| self.error(ParseErrorKind::NumberTooLarge, span))?;
            steps.push(step);
            if steps.len() > count {
                break;
            }
        }
        match steps.len() == count {
            true => Ok(steps),
            false => {
                let list = self.cursor.since(open);
                Err(self.error(ParseErrorKind::Unexpected { expected: EXPECTED }, list))
            }
        }
    }

    /// Reads `name=`.
    fn attribute(&mut self, name: &'static str) -> ParseResult<()> {
        let expected = match name {
            "axis" => "`axis=`",
            "dims" => "`dims=`",
            "starts" => "`starts=`",
            "steps" => "`steps=`",
            "condition" => "`condition=`",
            "body" => "`body=`",
            "branches" => "`branches=`",
            "limit" => "`limit=`",
            "result" => "`result=`",
            "order" => "`order=`",
            "side" => "`side=`",
            "summed" => "`summed=`",
            "mode" => "`mode=`",
            _ => "the attribute of the node",
        };
        self.keyword(name, expected)?;
        self.expect('=', "`=`").map(drop)
    }

    /// Reads the word `name` if it comes next, before the colon. Returns whether the word was there.
    fn flag(&mut self, name: &'static str) -> ParseResult<bool> {
        let mut lookahead = self.cursor;
        let is_next = lookahead.peek() != Some(':')
            && lookahead.run(|c| c.is_ascii_alphabetic()).of(self.text) == name;
        if is_next {
            self.keyword(name, "`reverse` or `exclusive`")?;
        }
        Ok(is_next)
    }

    /// `[4, 3]`
    fn sizes(&mut self) -> ParseResult<Vec<usize>> {
        let open = self.expect('[', "`[`")?;
        let mut sizes = Vec::new();
        while self.cursor.eat(']').is_none() {
            if !sizes.is_empty() {
                self.expect(',', "`,` or `]`")?;
            }
            sizes.push(self.size()?);
            let list = self.cursor.since(open);
            RankLimitError::check(sizes.len(), self.max_rank).map_err(|error| {
                self.error(ParseErrorKind::Limit(LimitError::Rank(error)), list)
            })?;
        }
        Ok(sizes)
    }

    fn size(&mut self) -> ParseResult<usize> {
        self.count().map(saturating_size)
    }

    fn count(&mut self) -> ParseResult<u64> {
        let (digits, span) = self.run(|c| c.is_ascii_digit(), "a number")?;
        digits.parse().map_err(|_| self.error(ParseErrorKind::NumberTooLarge, span))
    }

    /// A quoted text, with the escapes `\"`, `\\` and `\u{1f}`.
    fn quoted(&mut self) -> ParseResult<(String, Span)> {
        let open = self.expect('"', "a name in quotes")?;
        let mut content = String::new();
        loop {
            match self.cursor.next_character() {
                Some('"') => return Ok((content, self.cursor.since(open))),
                Some('\\') => content.push(self.escaped()?),
                Some(character) if !character.is_control() => content.push(character),
                _ => return Err(self.unexpected("a closing quote on the same line")),
            }
        }
    }

    fn escaped(&mut self) -> ParseResult<char> {
        const EXPECTED: &str = "an escape: `\\\"`, `\\\\` or `\\u{1f}`";
        match self.cursor.next_character() {
            Some(character @ ('"' | '\\')) => Ok(character),
            Some('u') => {
                self.expect('{', EXPECTED)?;
                let (digits, span) = self.run(|c| c.is_ascii_hexdigit(), EXPECTED)?;
                self.expect('}', EXPECTED)?;
                let code = u32::from_str_radix(digits, 16).ok();
                code.and_then(char::from_u32).ok_or_else(|| {
                    self.error(ParseErrorKind::Unexpected { expected: "a character's code" }, span)
                })
            }
            _ => Err(self.unexpected(EXPECTED)),
        }
    }

    fn keyword(&mut self, keyword: &str, expected: &'static str) -> ParseResult<()> {
        let (word, span) = self.word(expected)?;
        match word == keyword {
            true => Ok(()),
            false => Err(self.error(ParseErrorKind::Unexpected { expected }, span)),
        }
    }

    fn word(&mut self, expected: &'static str) -> ParseResult<(&'t str, Span)> {
        self.run(|c| c.is_ascii_alphanumeric() || c == '_', expected)
    }

    /// The longest run of characters that `is_part` accepts; at least one.
    fn run(
        &mut self,
        is_part: impl Fn(char) -> bool,
        expected: &'static str,
    ) -> ParseResult<(&'t str, Span)> {
        let span = self.cursor.run(is_part);
        match span.of(self.text) {
            "" => Err(self.unexpected(expected)),
            run => Ok((run, span)),
        }
    }

    fn expect(&mut self, character: char, expected: &'static str) -> ParseResult<Span> {
        self.cursor.eat(character).ok_or_else(|| self.unexpected(expected))
    }

    fn unexpected(&self, expected: &'static str) -> ParseError {
        self.error(ParseErrorKind::Unexpected { expected }, self.cursor.here())
    }

    fn error(&self, kind: ParseErrorKind, span: Span) -> ParseError {
        ParseError::new(kind, self.text, span)
    }
}

/// The operation of a scatter with this name.
fn scatter_op(name: &str) -> Option<ScatterOp> {
    name.strip_prefix("scatter_")?.parse().ok()
}
