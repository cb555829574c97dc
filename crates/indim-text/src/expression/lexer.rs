//! The lexer: splits a text into tokens on demand of the parser, without recursion or allocation, except for
//! the digits of a number.

use super::error::{ExprError, ExprErrorKind};
use super::foreign;
use crate::cursor::Cursor;
use crate::span::Span;
use indim_graph::Literal;
use indim_ops::c128;

/// An operator or punctuation symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Or,
    Xor,
    And,
    ShiftLeft,
    ShiftRight,
    Plus,
    Minus,
    Star,
    Slash,
    DoubleSlash,
    Percent,
    At,
    DoubleStar,
    Tilde,
    OpenParenthesis,
    CloseParenthesis,
    OpenBracket,
    CloseBracket,
    Comma,
    Semicolon,
    Assign,
    Colon,
    Ellipsis,
    Dot,
}

/// The texts of symbols. A text comes before its prefixes.
const SYMBOLS: &[(&str, Symbol)] = &[
    ("<=", Symbol::LessEqual),
    (">=", Symbol::GreaterEqual),
    ("==", Symbol::Equal),
    ("!=", Symbol::NotEqual),
    ("<<", Symbol::ShiftLeft),
    (">>", Symbol::ShiftRight),
    ("**", Symbol::DoubleStar),
    ("//", Symbol::DoubleSlash),
    ("<", Symbol::Less),
    (">", Symbol::Greater),
    ("|", Symbol::Or),
    ("^", Symbol::Xor),
    ("&", Symbol::And),
    ("+", Symbol::Plus),
    ("-", Symbol::Minus),
    ("*", Symbol::Star),
    ("/", Symbol::Slash),
    ("%", Symbol::Percent),
    ("@", Symbol::At),
    ("~", Symbol::Tilde),
    ("(", Symbol::OpenParenthesis),
    (")", Symbol::CloseParenthesis),
    ("[", Symbol::OpenBracket),
    ("]", Symbol::CloseBracket),
    (",", Symbol::Comma),
    (";", Symbol::Semicolon),
    ("=", Symbol::Assign),
    (":", Symbol::Colon),
    ("...", Symbol::Ellipsis),
    (".", Symbol::Dot),
];

/// Operators of other languages, with their replacements.
const FOREIGN_SYMBOLS: &[(&str, &str)] = &[("&&", "&"), ("||", "|"), ("!", "~")];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token {
    /// A number; `2j` is a complex one.
    Number(Literal),
    Name,
    Symbol(Symbol),
    End,
}

/// The lexer. A copy serves as lookahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexer<'t>(Cursor<'t>);

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Lexer(Cursor::new(text))
    }

    /// The next token and its span.
    pub(super) fn next(&mut self) -> Result<(Token, Span), ExprError> {
        let Lexer(cursor) = self;
        while cursor.peek() == Some('#') {
            cursor.run(|character| character != '\n');
        }
        let Some(first) = cursor.peek() else { return Ok((Token::End, cursor.here())) };
        let rest = cursor.rest();
        if is_name_start(first) {
            return Ok((Token::Name, cursor.run(is_name_part)));
        }
        let after_dot = rest.strip_prefix('.').and_then(|rest| rest.chars().next());
        let starts_number = first.is_ascii_digit() || after_dot.is_some_and(|c| c.is_ascii_digit());
        let (token, length) = if starts_number {
            let length = number_length(rest);
            (numeric_token(&rest[..length]), length)
        } else {
            symbol(rest)
        };
        let span = cursor.advance(length);
        token.map(|token| (token, span)).map_err(|kind| ExprError::new(kind, span))
    }

    /// The text in quotes that follows, and its span with the quotes; `None` if none follows.
    pub(super) fn quoted(&mut self) -> Option<(&'t str, Span)> {
        let Lexer(cursor) = self;
        let quote = cursor.peek().filter(|first| matches!(first, '"' | '\''))?;
        let text = cursor.rest().get(1..)?;
        let length = text.find(quote).filter(|&length| !text[..length].contains('\n'))?;
        let span = cursor.advance(length + 2);
        Some((&text[..length], span))
    }

    /// Whether only white space or a comment precedes the end of the line.
    pub(super) fn is_at_line_end(&self) -> bool {
        let Lexer(cursor) = self;
        let is_blank = |character: char| character.is_whitespace() && character != '\n';
        let next = cursor.rest().trim_start_matches(is_blank).chars().next();
        matches!(next, None | Some('\n' | '#'))
    }
}

fn is_name_start(character: char) -> bool {
    character == '_' || character.is_alphabetic()
}

fn is_name_part(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// The symbol at the start of `rest`, and its length.
fn symbol(rest: &str) -> (Result<Token, ExprErrorKind>, usize) {
    let is_not_equal = rest.starts_with("!=");
    if let Some((text, instead)) =
        FOREIGN_SYMBOLS.iter().find(|(text, _)| rest.starts_with(text) && !is_not_equal)
    {
        return (Err(ExprErrorKind::ForeignOperator { operator: text, instead }), text.len());
    }
    if let Some((text, symbol)) = SYMBOLS.iter().find(|(text, _)| rest.starts_with(text)) {
        return (Ok(Token::Symbol(*symbol)), text.len());
    }
    let character = rest.chars().next().unwrap_or_default();
    let kind = match character {
        '"' | '\'' => ExprErrorKind::StringLiteral,
        _ => foreign::character_replacement(character)
            .unwrap_or(ExprErrorKind::UnexpectedCharacter { character }),
    };
    (Err(kind), character.len_utf8())
}

/// The length of a number. It includes letters and digits, so that `2x` is one error and not two tokens, and
/// a sign after the `e` of a decimal number.
fn number_length(rest: &str) -> usize {
    let is_decimal = is_decimal(rest);
    let mut previous = ' ';
    let mut has_exponent = false;
    for (index, character) in rest.char_indices() {
        let is_sign = matches!(character, '+' | '-');
        let starts_exponent = is_decimal && matches!(previous, 'e' | 'E') && !has_exponent;
        let continues_number = is_name_part(character)
            || (is_decimal && character == '.' && !has_exponent)
            || (is_sign && starts_exponent);
        if !continues_number {
            return index;
        }
        has_exponent |= starts_exponent;
        previous = character;
    }
    rest.len()
}

fn is_decimal(text: &str) -> bool {
    !["0x", "0X", "0b", "0B", "0o", "0O"].iter().any(|prefix| text.starts_with(prefix))
}

fn numeric_token(text: &str) -> Result<Token, ExprErrorKind> {
    match text.strip_suffix(['j', 'J']) {
        Some(imaginary) if is_decimal(text) => {
            let part = number(imaginary)?.to_float();
            Ok(Token::Number(Literal::Complex(c128::new(0.0, part))))
        }
        _ => number(text).map(Token::Number),
    }
}

fn number(text: &str) -> Result<Literal, ExprErrorKind> {
    let bad = || ExprErrorKind::BadNumber;
    let prefixed = |radix: u32| integer(&text[2..], radix, true);
    match text.get(..2) {
        Some("0x" | "0X") => return prefixed(16),
        Some("0o" | "0O") => return prefixed(8),
        Some("0b" | "0B") => return prefixed(2),
        _ => {}
    }
    if text.contains(['.', 'e', 'E']) {
        let digits = without_underscores(text, false).ok_or_else(bad)?;
        // Rust also parses `inf` and `nan`, but this text begins with a digit or a dot.
        return digits.parse().map(Literal::Float).map_err(|_| bad());
    }
    // Python refuses 007, which is octal in other languages.
    if text.len() > 1 && text.starts_with('0') && text.contains(|c| !matches!(c, '0' | '_')) {
        return Err(bad());
    }
    integer(text, 10, false)
}

fn integer(text: &str, radix: u32, after_prefix: bool) -> Result<Literal, ExprErrorKind> {
    let digits = without_underscores(text, after_prefix).ok_or(ExprErrorKind::BadNumber)?;
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(ExprErrorKind::BadNumber);
    }
    i128::from_str_radix(&digits, radix)
        .map(Literal::Int)
        .map_err(|_| ExprErrorKind::NumberTooLarge)
}

/// The text without underscores. As in Python, each must be between two digits or after a radix prefix.
fn without_underscores(text: &str, after_prefix: bool) -> Option<String> {
    let mut digits = String::with_capacity(text.len());
    let mut previous = if after_prefix { '0' } else { '_' };
    for character in text.chars() {
        match character {
            '_' if !previous.is_ascii_alphanumeric() => return None,
            '_' => {}
            _ if previous == '_' && !digits.is_empty() && !character.is_ascii_alphanumeric() => {
                return None;
            }
            _ => digits.push(character),
        }
        previous = character;
    }
    (previous != '_').then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::{Lexer, Literal, Token, c128};

    fn first(text: &str) -> Result<Token, &'static str> {
        Lexer::new(text).next().map(|(token, _)| token).map_err(|error| error.code())
    }

    #[test]
    fn numbers_are_read_as_python_reads_them() {
        let int = |value| Ok(Token::Number(Literal::Int(value)));
        let float = |value| Ok(Token::Number(Literal::Float(value)));
        let imaginary = |part| Ok(Token::Number(Literal::Complex(c128::new(0.0, part))));
        assert_eq!(first("0"), int(0));
        assert_eq!(first("00"), int(0));
        assert_eq!(first("1_000_000"), int(1_000_000));
        assert_eq!(first("0xFF"), int(255));
        assert_eq!(first("0x_ff"), int(255));
        assert_eq!(first("0b101"), int(5));
        assert_eq!(first("0o17"), int(15));
        assert_eq!(first("1."), float(1.0));
        assert_eq!(first(".5"), float(0.5));
        assert_eq!(first("1e3"), float(1000.0));
        assert_eq!(first("1_0.2_5e-1_0"), float(10.25e-10));
        assert_eq!(first("1e999"), float(f64::INFINITY));
        assert_eq!(first("1e-2-3"), float(0.01));
        assert_eq!(first("1.5e1j"), imaginary(15.0));
        assert_eq!(first("2J"), imaginary(2.0));
        for bad in [
            "007", "1__0", "1_", "1_.5", "1._5", "2x", "1jj", "0x1j", "1ej", "0xg", "0x", "0b2",
            "1e", "1e+", "1.2.3",
        ] {
            assert_eq!(first(bad), Err("bad-number"), "{bad}");
        }
        assert_eq!(first(&"9".repeat(60)), Err("number-too-large"));
    }

    #[test]
    fn names_may_be_of_any_script() {
        for name in ["x", "_", "größe", "λ1", "温度"] {
            let (token, span) = Lexer::new(name).next().unwrap();
            assert_eq!((token, span.end), (Token::Name, name.len()));
        }
    }
}
