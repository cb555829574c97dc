//! The XML of a file, under limits that keep it linear in its length.

use core::ops::Range;

use roxmltree::{Document, Error, Node, ParsingOptions};

use indim_model::{FormatError, FormatErrorKind, FormatLimits};

/// Elements, and texts between them, for each operation that is allowed: those of a layer with some ports.
const NODES_PER_OPERATION: usize = 64;
/// The most attributes of one element: each is compared with those before it.
const ATTRIBUTES: usize = 1000;
/// The most declarations of namespaces: each element may repeat all that are around it.
const NAMESPACES: usize = 100;

/// The document of this text.
///
/// # Errors
/// `limit`; `damaged`, where it ends early or is no XML.
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
    FormatErrorKind::Limit { what, limit }.nowhere()
}

/// What the parser takes memory or time for, it must not find: memory for each `<` and `=`, time for each
/// pair of attributes of an element, and of namespaces.
fn check_text(text: &str, nodes: usize) -> Result<(), FormatError> {
    let mut tags = 0;
    for tag in text.split('<') {
        tags += 1;
        if tag.bytes().filter(|&byte| byte == b'=').count() > ATTRIBUTES {
            return Err(too_many("attributes of one XML element", ATTRIBUTES));
        }
    }
    if tags > nodes {
        return Err(too_many("XML elements", nodes));
    }
    match text.matches("xmlns").count() > NAMESPACES {
        true => Err(too_many("XML namespaces", NAMESPACES)),
        false => Ok(()),
    }
}

/// Nodes stand in the order of the text, each behind the one that holds it.
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

/// The byte of a line and a column, both counted from 1, the latter in characters.
fn byte_of(text: &str, row: usize, column: usize) -> usize {
    let before = text.split_inclusive('\n').take(row - 1).map(str::len).sum::<usize>();
    let line = &text[before..];
    before + line.char_indices().nth(column - 1).map_or(line.len(), |(index, _)| index)
}

/// The piece of the text in which an element says its name and attributes, on its first line.
pub(super) fn start_tag(node: &Node<'_, '_>) -> Range<usize> {
    let Range { start, end } = node.range();
    let text = &node.document().input_text()[start..end];
    let length = text.find('>').map_or(text.len(), |last| last + 1);
    start..start + text[..length].find('\n').unwrap_or(length)
}

/// The first element of this name in another one.
pub(super) fn child<'a, 't>(node: Node<'a, 't>, name: &str) -> Option<Node<'a, 't>> {
    children(node, name).next()
}

/// The elements of this name in another one.
pub(super) fn children<'a, 't>(
    node: Node<'a, 't>,
    name: &str,
) -> impl Iterator<Item = Node<'a, 't>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

/// An attribute that has to be there.
///
/// # Errors
/// `attribute`.
pub(super) fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str, FormatError> {
    let missing = || FormatErrorKind::attribute(name, "is missing").in_text(start_tag(&node));
    node.attribute(name).ok_or_else(missing)
}

/// An attribute that is a number.
///
/// # Errors
/// `attribute`.
pub(super) fn number(node: Node<'_, '_>, name: &str) -> Result<u64, FormatError> {
    let wrong = || FormatErrorKind::attribute(name, "is no number").in_text(start_tag(&node));
    attribute(node, name)?.trim().parse().map_err(|_| wrong())
}
