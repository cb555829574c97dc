//! Expressions of one operation that a tracer records, without parsing a text.
//!
//! The operation is printed as well, so that errors are drawn as in a parsed expression.

use core::fmt;

use indim_builder::Index;
use indim_graph::Literal;
use indim_ops::{BinaryOperator, DType};
use indim_shape::{MAX_RANK, RankLimitError};

use super::Expression;
use super::call::{attribute_named, check_complete, function_named};
use super::error::{ExprError, ExprErrorKind};
use super::function::Function;
use super::parameter::{AttributeKey, CallParameter};
use super::product_function::ProductFunction;
use super::statement::Output;
use super::syntax::{
    AttributeValue, IndexItem, NamedAttribute, NodeIndex, SyntaxNode, SyntaxNodeKind, UnaryOperator,
};
use crate::limits::LimitError;
use crate::span::Span;

/// The keyword of the equation of an `einsum`.
const EQUATION: &str = "equation";

/// One operation: a function or an operator, its operands, and its attributes.
///
/// ```
/// use indim_text::{RecordedCall, CallAttribute, CallOperand, Expression};
///
/// let x = CallOperand::Name("x".to_owned());
/// let sizes = CallAttribute::Integers(vec![2, 3]);
/// let (operands, attributes) = (vec![x], vec![(None, sizes)]);
/// let call = RecordedCall { function: "reshape".to_owned(), operands, attributes };
/// assert_eq!(call.to_string(), "reshape(x, [2, 3])");
/// assert_eq!(Expression::of_call(&call)?.names(), ["x"]);
/// # Ok::<(), indim_text::ExprError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    /// The name of a function, or the symbol of an operator.
    pub function: String,
    /// The operands, in order.
    pub operands: Vec<CallOperand>,
    /// The attributes, by keyword, or by position after the operands.
    pub attributes: Vec<(Option<String>, CallAttribute)>,
}

/// An operand of a [`RecordedCall`].
#[derive(Debug, Clone, PartialEq)]
pub enum CallOperand {
    /// A bound name.
    Name(String),
    /// A number, which adapts to the types of other operands.
    Number(Literal),
}

/// The value of an attribute of a [`RecordedCall`].
#[derive(Debug, Clone, PartialEq)]
pub enum CallAttribute {
    /// A list of axes or sizes.
    Integers(Vec<i64>),
    /// A parameter of a composition, one axis, or an argument such as `where`.
    Operand(CallOperand),
    /// An element type.
    ElementType(DType),
    /// A pair for each axis.
    Pairs(Vec<(i64, i64)>),
    /// A word: a mode, or the equation of `einsum`.
    Word(String),
    /// Names of axes, which need not be identifiers.
    Names(Vec<String>),
    /// The indices of the function `[]`.
    Index(Vec<Index<CallOperand>>),
}

impl RecordedCall {
    fn is_operator(&self) -> bool {
        !self.function.starts_with(|c: char| c.is_alphanumeric() || c == '_') && !self.is_index()
    }

    fn is_index(&self) -> bool {
        self.function == "[]"
    }

    /// The equation of an `einsum`, which is printed before the operands.
    fn equation(&self) -> Option<&str> {
        self.attributes.iter().find_map(|(keyword, value)| match (keyword.as_deref(), value) {
            (Some(EQUATION), CallAttribute::Word(word)) => Some(word.as_str()),
            _ => None,
        })
    }
}

impl fmt::Display for RecordedCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&PrintedCall::of(self).text)
    }
}

impl Expression {
    /// The expression of one operation.
    ///
    /// # Errors
    /// Like [`Expression::parse`] of the printed `call`, without syntax errors.
    pub fn of_call(call: &RecordedCall) -> Result<Expression, ExprError> {
        let printed = PrintedCall::of(call);
        let kind = match (call.is_operator(), printed.operands.as_slice()) {
            (_, &[operand]) if call.is_index() => {
                let items = printed.items.clone();
                RankLimitError::check(items.len(), MAX_RANK)
                    .map_err(|error| ExprError::limit(LimitError::Rank(error), printed.mark))?;
                SyntaxNodeKind::Index { operand, items }
            }
            (true, &[operand]) => printed.unary(call, operand)?,
            (true, &[x, y]) if ProductFunction::from_recorded_name(&call.function).is_none() => {
                printed.binary(call, [x, y])?
            }
            _ => printed.call(call)?,
        };
        let PrintedCall { text, mut nodes, names, mark, .. } = printed;
        nodes.push(SyntaxNode { kind, extent: Span::new(0, text.len()), mark });
        let outputs = vec![Output { name: None, node: nodes.len() - 1 }];
        let (assignments, max_rank) = (Vec::new(), MAX_RANK);
        Ok(Expression { text, nodes, names, assignments, outputs, max_rank })
    }
}

/// The printed operation, and the nodes of its operands.
#[derive(Default)]
struct PrintedCall {
    text: String,
    nodes: Vec<SyntaxNode>,
    names: Vec<String>,
    operands: Vec<NodeIndex>,
    /// For each attribute, the node of its value if the value is an operand, and the attribute's span.
    attributes: Vec<(Option<NodeIndex>, Span)>,
    /// The items of an index.
    items: Vec<IndexItem>,
    /// The span of the function's name, or of the operator.
    mark: Span,
}

impl PrintedCall {
    /// Prints the operation.
    fn of(call: &RecordedCall) -> PrintedCall {
        let mut printed = PrintedCall::default();
        if let (true, [x]) = (call.is_index(), call.operands.as_slice()) {
            printed.operand(x);
            printed.index(call);
            return printed;
        }
        if let (true, [x, y]) = (call.is_operator(), call.operands.as_slice()) {
            printed.operand(x);
            printed.text.push(' ');
            printed.function(call);
            printed.text.push(' ');
            printed.operand(y);
            return printed;
        }
        printed.function(call);
        if let (true, [x]) = (call.is_operator(), call.operands.as_slice()) {
            printed.operand(x);
            return printed;
        }
        printed.text.push('(');
        let equation = call.equation().map(|equation| printed.write(&format!("{equation:?}")));
        printed.text.push_str(if equation.is_some() { ", " } else { "" });
        let takes_list = Function::from_name(&call.function).is_some_and(Function::takes_list);
        printed.text.push_str(if takes_list { "[" } else { "" });
        for (position, operand) in call.operands.iter().enumerate() {
            printed.text.push_str(if position > 0 { ", " } else { "" });
            printed.operand(operand);
        }
        printed.text.push_str(if takes_list { "]" } else { "" });
        for (keyword, value) in &call.attributes {
            if let (Some(span), Some(EQUATION)) = (equation, keyword.as_deref()) {
                printed.attributes.push((None, span));
                continue;
            }
            printed.text.push_str(if printed.text.ends_with('(') { "" } else { ", " });
            printed.attribute(keyword.as_deref(), value);
        }
        printed.text.push(')');
        printed
    }

    fn function(&mut self, call: &RecordedCall) {
        self.mark = self.write(&call.function);
    }

    fn operand(&mut self, operand: &CallOperand) {
        let node = match operand {
            CallOperand::Name(name) => self.name(name),
            CallOperand::Number(number) => self.number(*number),
        };
        self.operands.push(node);
    }

    fn index(&mut self, call: &RecordedCall) {
        let start = self.write("[").start;
        for (position, (_, value)) in call.attributes.iter().enumerate() {
            let CallAttribute::Index(items) = value else { continue };
            for (item, index) in items.iter().enumerate() {
                self.text.push_str(if position + item > 0 { ", " } else { "" });
                let item = self.index_item(index);
                self.items.push(item);
            }
        }
        self.text.push(']');
        self.mark = Span::new(start, self.text.len());
    }

    fn index_item(&mut self, index: &Index<CallOperand>) -> IndexItem {
        let (text, item) = match index {
            Index::Elements(operand) => {
                return Index::Elements(match operand {
                    CallOperand::Name(name) => self.name(name),
                    CallOperand::Number(number) => self.number(*number),
                });
            }
            &Index::At(index) => (index.to_string(), Index::At(index)),
            &Index::Slice { start, stop, step } => {
                let [from, to] =
                    [start, stop].map(|end| end.map_or(String::new(), |end| end.to_string()));
                let by = step.map_or(String::new(), |step| format!(":{step}"));
                (format!("{from}:{to}{by}"), Index::Slice { start, stop, step })
            }
            Index::NewAxis => ("None".to_owned(), Index::NewAxis),
            Index::Ellipsis => ("...".to_owned(), Index::Ellipsis),
        };
        self.text.push_str(&text);
        item
    }

    fn name(&mut self, name: &str) -> NodeIndex {
        let span = self.write(name);
        let position = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        self.add(SyntaxNodeKind::Name(position), span)
    }

    fn number(&mut self, number: Literal) -> NodeIndex {
        let printed = number.to_string();
        let span = match printed.starts_with('-') {
            true => self.write(&format!("({printed})")),
            false => self.write(&printed),
        };
        self.add(SyntaxNodeKind::Literal(number), span)
    }

    fn attribute(&mut self, keyword: Option<&str>, value: &CallAttribute) {
        let start = self.text.len();
        if let Some(keyword) = keyword {
            self.text.push_str(keyword);
            self.text.push('=');
        }
        let node = match value {
            CallAttribute::Integers(integers) => {
                self.text.push_str(&format!("{integers:?}"));
                None
            }
            CallAttribute::Operand(CallOperand::Number(number)) => Some(self.number(*number)),
            CallAttribute::Operand(CallOperand::Name(name)) => Some(self.name(name)),
            CallAttribute::ElementType(dtype) => {
                self.text.push_str(dtype.name());
                None
            }
            CallAttribute::Pairs(pairs) => {
                let pairs: Vec<[i64; 2]> = pairs.iter().map(|&(low, high)| [low, high]).collect();
                self.text.push_str(&format!("{pairs:?}"));
                None
            }
            CallAttribute::Word(word) => {
                self.text.push_str(word);
                None
            }
            CallAttribute::Names(names) => {
                let names: Vec<String> = names.iter().map(|name| axis_name(name)).collect();
                self.text.push_str(&format!("[{}]", names.join(", ")));
                None
            }
            CallAttribute::Index(_) => None,
        };
        self.attributes.push((node, Span::new(start, self.text.len())));
    }

    fn write(&mut self, piece: &str) -> Span {
        let start = self.text.len();
        self.text.push_str(piece);
        Span::new(start, self.text.len())
    }

    fn add(&mut self, kind: SyntaxNodeKind, span: Span) -> NodeIndex {
        self.nodes.push(SyntaxNode { kind, extent: span, mark: span });
        self.nodes.len() - 1
    }

    fn unary(&self, call: &RecordedCall, operand: NodeIndex) -> Result<SyntaxNodeKind, ExprError> {
        let operator =
            UnaryOperator::ALL.iter().find(|operator| operator.symbol() == call.function);
        match operator {
            Some(&operator) => Ok(SyntaxNodeKind::Unary { operator, operand }),
            None => Err(self.unknown_function(call)),
        }
    }

    fn binary(
        &self,
        call: &RecordedCall,
        operands: [NodeIndex; 2],
    ) -> Result<SyntaxNodeKind, ExprError> {
        let operator =
            BinaryOperator::ALL.iter().find(|operator| operator.symbol() == call.function);
        match operator {
            Some(&operator) => Ok(SyntaxNodeKind::Binary { operator, operands }),
            None => Err(self.unknown_function(call)),
        }
    }

    fn unknown_function(&self, call: &RecordedCall) -> ExprError {
        let (name, suggestion) = (call.function.clone(), None);
        ExprError::new(ExprErrorKind::UnknownFunction { name, suggestion }, self.mark)
    }

    fn call(&self, call: &RecordedCall) -> Result<SyntaxNodeKind, ExprError> {
        let at_name = |kind| ExprError::new(kind, self.mark);
        let function = match ProductFunction::from_recorded_name(&call.function) {
            Some(product) => Function::Product(product),
            None => {
                let function = function_named(&call.function).map_err(at_name)?;
                function.of_operands(self.operands.len())
            }
        };
        let mut attributes: Vec<NamedAttribute> = Vec::with_capacity(call.attributes.len());
        let mut position = if function.takes_list() { 1 } else { self.operands.len() };
        for ((keyword, value), &(node, span)) in call.attributes.iter().zip(&self.attributes) {
            let given = || {
                let attribute = match keyword {
                    Some(keyword) => attribute_named(function, &call.function, keyword)?,
                    None => attribute_at(function, &call.function, position)?,
                };
                if attributes.iter().any(|given| given.attribute == attribute) {
                    return Err(ExprErrorKind::DuplicateKeyword { keyword: attribute.keyword() });
                }
                let value = attribute_value(attribute, value, node).map_err(|expected| {
                    let found = span.of(&self.text).to_owned();
                    ExprErrorKind::Unexpected { found, expected }
                })?;
                // A list has an entry for each axis.
                let entries = match &value {
                    AttributeValue::Integers(integers) => integers.len(),
                    AttributeValue::Pairs(pairs) => pairs.len(),
                    AttributeValue::Names(names) => names.len(),
                    _ => 0,
                };
                RankLimitError::check(entries, MAX_RANK)
                    .map_err(|error| ExprErrorKind::Limit(LimitError::Rank(error)))?;
                Ok(NamedAttribute { attribute, value, span })
            };
            let given = given().map_err(|kind| ExprError::new(kind, span))?;
            position += usize::from(keyword.is_none());
            attributes.push(given);
        }
        let operands = self.operands.clone();
        check_complete(function, &call.function, operands.len(), &attributes).map_err(at_name)?;
        Ok(SyntaxNodeKind::Call { function, operands, attributes })
    }
}

/// An axis name as printed: in quotes unless it is an identifier, so that different names print differently.
fn axis_name(name: &str) -> String {
    let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_identifier = is_word && name.starts_with(|c: char| !c.is_ascii_digit());
    if is_identifier { name.to_owned() } else { format!("{name:?}") }
}

/// The attribute at this position of a call of `function`; `name` is the name in the text.
fn attribute_at(
    function: Function,
    name: &str,
    position: usize,
) -> Result<AttributeKey, ExprErrorKind> {
    match function.parameter(position) {
        Some(CallParameter::Attribute(attribute)) => Ok(attribute),
        _ => Err(ExprErrorKind::WrongOperandCount {
            function: name.to_owned(),
            expected: function.operand_count(),
            given: position + 1,
        }),
    }
}

/// Converts a value to the form of `attribute`. `number` is the node of the value, if the value is an
/// operand.
///
/// # Errors
/// The expected form.
fn attribute_value(
    attribute: AttributeKey,
    value: &CallAttribute,
    number: Option<NodeIndex>,
) -> Result<AttributeValue, &'static str> {
    match (attribute, value, number) {
        (AttributeKey::Argument(_), _, Some(node)) => Ok(AttributeValue::Number(node)),
        (AttributeKey::Argument(_), ..) => Err("a number"),
        (AttributeKey::ElementType, CallAttribute::ElementType(dtype), _) => {
            Ok(AttributeValue::ElementType(*dtype))
        }
        (AttributeKey::ElementType, ..) => Err("an element type such as f32"),
        (AttributeKey::Widths, CallAttribute::Pairs(pairs), _) => {
            Ok(AttributeValue::Pairs(pairs.clone()))
        }
        (AttributeKey::Widths, ..) => Err("two numbers for each axis"),
        (
            AttributeKey::Mode | AttributeKey::Side | AttributeKey::Norm | AttributeKey::Equation,
            CallAttribute::Word(word),
            _,
        ) => Ok(AttributeValue::Word(word.clone())),
        (AttributeKey::Mode, ..) => Err("the name of a mode"),
        (AttributeKey::Side, ..) => Err("`left` or `right`"),
        (AttributeKey::Equation, ..) => Err("an equation such as \"ij,jk->ik\""),
        (AttributeKey::Axes, CallAttribute::Names(names), _) => {
            Ok(AttributeValue::Names(names.clone()))
        }
        (_, CallAttribute::Integers(integers), _) => Ok(AttributeValue::Integers(integers.clone())),
        (_, CallAttribute::Operand(CallOperand::Number(Literal::Int(integer))), _) => {
            let integer = i64::try_from(*integer).map_err(|_| "an integer of 64 bits")?;
            Ok(AttributeValue::Integers(vec![integer]))
        }
        _ => Err("a whole number, or a list of them such as [0, 2]"),
    }
}
