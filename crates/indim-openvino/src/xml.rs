//! The XML parser, with limits that keep its time linear in the length of the text.

use core::ops::Range;

use roxmltree::{Document, Error, Node, ParsingOptions};

use indim_model::{FormatError, FormatErrorKind, FormatLimits};

/// Maximum number of XML elements and texts for each allowed operation; enough for a layer with some
/// ports.
const NODES_PER_OPERATION: usize = 64;
/// Maximum attributes of one element, because the parser compares each with all before it.
const MAX_ATTRIBUTES: usize = 1000;
/// Maximum namespace declarations, because each element can repeat all namespaces of the elements around
/// it.
const MAX_NAMESPACES: usize = 100;

/// Parses the document.
///
/// # Errors
/// `limit`; `damaged` if it is truncated or not XML.
pub(super) fn parse<'t>(text: &'t str, limits: &FormatLimits) -> Result<Document<'t>, FormatError> {
    let nodes = limits.operations.saturating_mul(NODES_PER_OPERATION).min(u32::MAX as usize);
    check_text(text, nodes)?;
    let options = ParsingOptions { nodes_limit: nodes as u32, ..ParsingOptions::default() };
    match Document::parse_with_options(text, options) {
        Ok(document) => check_depth(&document, limits.depth).map(|()| document),
        Err(Error::NodesLimitReached) => Err(too_many("XML elements and texts", nodes)),
        Err(error) => Err(damaged(text, &error)),
    }
}

fn too_many(what: &'static str, limit: usize) -> FormatError {
    FormatErrorKind::Limit { what, limit }.without_location()
}

/// Rejects text that costs the parser too much: memory for each `<` and `=`, time for each pair of
/// attributes of an element and for each pair of namespaces.
fn check_text(text: &str, nodes: usize) -> Result<(), FormatError> {
    let mut tags = 0;
    for tag in text.split('<') {
        tags += 1;
        if tag.bytes().filter(|&byte| byte == b'=').count() > MAX_ATTRIBUTES {
            return Err(too_many("attributes of one XML element", MAX_ATTRIBUTES));
        }
    }
    if tags > nodes {
        return Err(too_many("XML elements", nodes));
    }
    match text.matches("xmlns").count() > MAX_NAMESPACES {
        true => Err(too_many("XML namespaces", MAX_NAMESPACES)),
        false => Ok(()),
    }
}

/// Checks the depth of nesting. Nodes are in document order, so the depth of a parent is known before its
/// children.
fn check_depth(document: &Document<'_>, limit: usize) -> Result<(), FormatError> {
    let mut depths: Vec<usize> = Vec::new();
    for node in document.descendants() {
        let depth = node.parent().map_or(0, |parent| depths[parent.id().get_usize()] + 1);
        if depth > limit {
            let kind = FormatErrorKind::Limit { what: "nested XML elements", limit };
            return Err(kind.in_text(start_tag(&node)));
        }
        depths.push(depth);
    }
    Ok(())
}

fn damaged(text: &str, error: &Error) -> FormatError {
    let position = match error {
        Error::UnclosedRootNode | Error::NoRootNode | Error::UnexpectedEndOfStream => text.len(),
        _ => byte_of(text, error.pos().row as usize, error.pos().col as usize),
    };
    FormatErrorKind::Damaged { problem: error.to_string() }.in_text(position..position)
}

/// Byte offset of a line and a column; both count from 1, columns in characters.
fn byte_of(text: &str, row: usize, column: usize) -> usize {
    let before = text.split_inclusive('\n').take(row - 1).map(str::len).sum::<usize>();
    let line = &text[before..];
    before + line.char_indices().nth(column - 1).map_or(line.len(), |(index, _)| index)
}

/// Byte range of the start tag, at most to the end of its first line.
pub(super) fn start_tag(node: &Node<'_, '_>) -> Range<usize> {
    let Range { start, end } = node.range();
    let text = &node.document().input_text()[start..end];
    let length = text.find('>').map_or(text.len(), |last| last + 1);
    start..start + text[..length].find('\n').unwrap_or(length)
}

/// The first child element of this name.
pub(super) fn child<'a, 't>(node: Node<'a, 't>, name: &str) -> Option<Node<'a, 't>> {
    children(node, name).next()
}

/// The child elements of this name.
pub(super) fn children<'a, 't>(
    node: Node<'a, 't>,
    name: &str,
) -> impl Iterator<Item = Node<'a, 't>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

/// A required attribute.
///
/// # Errors
/// `attribute`.
pub(super) fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str, FormatError> {
    let missing = || FormatErrorKind::attribute(name, "is missing").in_text(start_tag(&node));
    node.attribute(name).ok_or_else(missing)
}

/// A numeric attribute.
///
/// # Errors
/// `attribute`.
pub(super) fn number(node: Node<'_, '_>, name: &str) -> Result<u64, FormatError> {
    let wrong = || FormatErrorKind::attribute(name, "is not a number").in_text(start_tag(&node));
    attribute(node, name)?.trim().parse().map_err(|_| wrong())
}

/// An integer attribute, also negative.
///
/// # Errors
/// `attribute`; a missing one without a default.
pub(super) fn integer(
    node: Node<'_, '_>,
    name: &str,
    default: Option<i64>,
) -> Result<i64, FormatError> {
    match (node.attribute(name), default) {
        (None, Some(default)) => Ok(default),
        _ => {
            let wrong = |_| {
                FormatErrorKind::attribute(name, "is not a whole number").in_text(start_tag(&node))
            };
            attribute(node, name)?.trim().parse().map_err(wrong)
        }
    }
}
