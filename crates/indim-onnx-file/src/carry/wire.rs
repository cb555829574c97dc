//! Fields of encoded protobuf messages. Messages that are copied field by field keep the fields that
//! `messages.rs` does not declare.

use bytes::Buf;
use indim_model::FormatErrorKind;
use prost::Message;
use prost::encoding::encode_varint;

use crate::skip_weights::{Header, LENGTH};

/// A field of a message.
pub(super) struct Field<'b> {
    pub(super) number: u64,
    /// The content of a text, a message or a packed list; empty for a number.
    content: &'b [u8],
    /// All bytes of the field, with its tag.
    pub(super) whole: &'b [u8],
}

impl<'b> Field<'b> {
    /// The content of a text or a message; empty for a number.
    pub(super) fn bytes(&self) -> &'b [u8] {
        self.content
    }

    /// The content as text; empty for a number.
    ///
    /// # Errors
    /// `damaged`: the content is no text.
    pub(super) fn text(&self) -> Result<&'b str, FormatErrorKind> {
        core::str::from_utf8(self.bytes()).map_err(|_| damaged("a name is not UTF-8"))
    }
}

/// The fields of an encoded message, in order.
///
/// # Errors
/// `damaged`.
pub(super) fn fields(mut bytes: &[u8]) -> Result<Vec<Field<'_>>, FormatErrorKind> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let header = Header::read(bytes).ok_or_else(|| damaged("a field has no valid tag"))?;
        let is_bytes = header.tag & 7 == LENGTH;
        let length = if is_bytes { usize::try_from(header.value).ok() } else { Some(0) };
        let end = length.and_then(|length| header.bytes.checked_add(length));
        let whole = end.and_then(|end| bytes.get(..end));
        let whole = whole.ok_or_else(|| damaged("a field ends behind its message"))?;
        fields.push(Field { number: header.tag >> 3, content: &whole[header.bytes..], whole });
        bytes = &bytes[whole.len()..];
    }
    Ok(fields)
}

/// Appends a text or a message as the field with this number.
pub(super) fn push(message: &mut Vec<u8>, number: u64, content: &[u8]) {
    encode_varint(number << 3 | LENGTH, message);
    encode_varint(content.len() as u64, message);
    message.extend_from_slice(content);
}

/// Copies a message; `replace` returns the new content of a text or a message, or `None` for a field that
/// stays.
///
/// # Errors
/// `damaged`, and those of `replace`.
pub(super) fn replaced(
    message: &[u8],
    mut replace: impl FnMut(&Field<'_>) -> Result<Option<Vec<u8>>, FormatErrorKind>,
) -> Result<Vec<u8>, FormatErrorKind> {
    let mut copy = Vec::with_capacity(message.len());
    for field in fields(message)? {
        match replace(&field)? {
            Some(content) => push(&mut copy, field.number, &content),
            None => copy.extend_from_slice(field.whole),
        }
    }
    Ok(copy)
}

/// The text field of a message with this number, such as the name of a declared value.
///
/// # Errors
/// `damaged`.
pub(super) fn text_of(message: &[u8], number: u64) -> Result<String, FormatErrorKind> {
    let fields = fields(message)?;
    let field = fields.iter().rev().find(|field| field.number == number);
    field.map_or(Ok(String::new()), |field| field.text().map(str::to_owned))
}

/// Decodes a message.
pub(super) fn decode<M: Message + Default>(message: impl Buf) -> Result<M, FormatErrorKind> {
    M::decode(message).map_err(|error| damaged(&error.to_string()))
}

pub(super) fn damaged(problem: &str) -> FormatErrorKind {
    FormatErrorKind::Damaged { problem: problem.to_owned() }
}
