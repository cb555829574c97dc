//! Reads an ONNX file range by range and skips its large constants, for callers that cannot hold the file.
//!
//! The result is a smaller ONNX file. Each skipped constant has the form of an external constant: its
//! location is the file itself. Damage in the file stays in the result, so that the reader reports it.

use core::ops::Range;

use indim_model::{FormatError, FormatErrorKind};
use prost::Message as _;
use prost::encoding::encode_varint;

use crate::messages::{StringStringEntryProto, TensorProto};
use crate::tensor::EXTERNAL;

/// Maximum bytes of a message or field that is copied without a look at its parts. Constants that
/// determine shapes have at most 1024 elements, so they are never skipped.
const INLINE_BYTES: u64 = 1 << 16;

/// Bytes of one requested range. A request has a fixed cost, so skips inside a range are free.
const RANGE_BYTES: u64 = 1 << 18;

/// Maximum bytes of a tag and a length.
const HEADER_BYTES: usize = 20;

/// Maximum depth of messages whose parts are inspected. A deeper message is copied.
const MAX_DEPTH: usize = 64;

/// Maximum bytes of the result: far more than the nodes within the default limit on operations.
const MAX_KEPT_BYTES: usize = 1 << 26;

/// Wire types of protobuf.
const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
pub(crate) const LENGTH: u64 = 2;
const FIXED_32: u64 = 5;

/// A copy of an ONNX file without its large constants, made from the ranges that it requests.
///
/// ```
/// use indim_onnx_file::WeightSkipper;
///
/// let file = b"\x08\x0a\x3a\x02\x12\x00";
/// let mut skipper = WeightSkipper::new("model.onnx", file.len() as u64);
/// while let Some(range) = skipper.wanted() {
///     skipper.give(&file[range.start as usize..range.end as usize])?;
/// }
/// assert_eq!(skipper.finish().content, file);
/// # Ok::<(), indim_model::FormatError>(())
/// ```
#[derive(Debug)]
pub struct WeightSkipper {
    /// Name of the file, which skipped constants name as their location.
    name: String,
    /// Bytes of the file.
    length: u64,
    /// Offset of the next byte to read.
    position: u64,
    /// Bytes from `position` on that belong to the innermost message as they are.
    to_copy: u64,
    /// The messages around `position`, the model first. Empty once all is read.
    open: Vec<OpenMessage>,
    /// Bytes of all parts of the result.
    kept_bytes: usize,
    done: SkippedModel,
}

/// An ONNX file without its large constants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkippedModel {
    /// The smaller ONNX file.
    pub content: Vec<u8>,
    /// Number of skipped constants.
    pub constants: usize,
    /// Bytes of the skipped constants.
    pub constant_bytes: u64,
    /// Whether a skipped constant is not one run of raw bytes: its elements are in typed fields, such as
    /// `float_data`, so they cannot be read as those of an external constant.
    pub has_typed_elements: bool,
}

/// A message whose parts are being read.
#[derive(Debug)]
struct OpenMessage {
    kind: MessageKind,
    /// The tag of the message in the message around it.
    tag: u64,
    /// Offset of its end.
    end: u64,
    /// Its content so far.
    content: Vec<u8>,
    /// The skipped elements of a tensor.
    elements: Option<SkippedElements>,
    /// Whether the elements of a tensor are in an external file already.
    is_external: bool,
}

/// Elements that the result lacks.
#[derive(Debug, Clone, Copy)]
struct SkippedElements {
    offset: u64,
    bytes: u64,
    /// Whether they are raw, so that `bytes` follows from the type.
    is_raw: bool,
}

/// The messages that can contain large constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageKind {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    SparseTensor,
    Function,
}

/// The treatment of a large field.
enum FieldKind {
    Message(MessageKind),
    Elements,
    Kept,
    /// The reader does not declare the field.
    Undeclared,
}

impl MessageKind {
    /// The treatment of a field, by its number in [`crate::messages`].
    fn field(self, number: u64) -> FieldKind {
        use MessageKind::{Attribute, Function, Graph, Model, Node, SparseTensor, Tensor};
        let kind = match (self, number) {
            (Model, 7) | (Attribute, 6 | 11) => Graph,
            (Model, 25) => Function,
            (Graph, 1) | (Function, 7) => Node,
            (Graph, 5) | (Attribute, 5) | (SparseTensor, 1 | 2) => Tensor,
            (Graph, 15) => SparseTensor,
            (Node, 5) | (Function, 11) => Attribute,
            (Tensor, 4 | 5 | 7 | 9 | 10 | 11) => return FieldKind::Elements,
            (Model, 1 | 8)
            | (Graph, 2 | 11..=13)
            | (Node, 1..=8)
            | (Attribute, 1..=9 | 20 | 21)
            | (Tensor, 1..=3 | 6 | 8 | 13 | 14)
            | (SparseTensor, 3)
            | (Function, 1..=13) => return FieldKind::Kept,
            _ => return FieldKind::Undeclared,
        };
        FieldKind::Message(kind)
    }
}

/// The field of a tensor with its elements as raw bytes.
const RAW_DATA: u64 = 9;

/// The field of a tensor that tells where its elements are.
const DATA_LOCATION: u64 = 14;

/// The tag of a field, and its length or value.
pub(crate) struct Header {
    pub(crate) tag: u64,
    pub(crate) value: u64,
    /// Bytes of the tag and the length; of a number also its value.
    pub(crate) bytes: usize,
}

impl Header {
    /// The header at the beginning of `bytes`; `None` if it is damaged.
    pub(crate) fn read(bytes: &[u8]) -> Option<Header> {
        let (tag, tag_bytes) = varint(bytes)?;
        let rest = &bytes[tag_bytes..];
        let (value, value_bytes) = match tag & 7 {
            VARINT | LENGTH => varint(rest)?,
            FIXED_64 => (0, 8),
            FIXED_32 => (0, 4),
            // Groups, which ONNX lacks, and unknown wire types.
            _ => return None,
        };
        (value_bytes <= rest.len()).then_some(Header { tag, value, bytes: tag_bytes + value_bytes })
    }

    fn is_length(&self) -> bool {
        self.tag & 7 == LENGTH
    }
}

/// The varint at the beginning of `bytes`, and its length in bytes.
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0;
    for (index, &byte) in bytes.iter().take(10).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Some((number, index + 1));
        }
    }
    None
}

impl WeightSkipper {
    /// Begins to read a file of this length in bytes.
    pub fn new(name: impl Into<String>, length: u64) -> Self {
        let model = OpenMessage::new(MessageKind::Model, 0, length);
        WeightSkipper {
            name: name.into(),
            length,
            position: 0,
            to_copy: 0,
            open: vec![model],
            kept_bytes: 0,
            done: SkippedModel::default(),
        }
    }

    /// The range of the file that [`WeightSkipper::give`] takes next; `None` once all is read.
    pub fn wanted(&self) -> Option<Range<u64>> {
        let end = self.position.saturating_add(RANGE_BYTES).min(self.length);
        (!self.open.is_empty() && self.position < end).then_some(self.position..end)
    }

    /// Reads the bytes of the wanted range.
    ///
    /// # Errors
    /// `limit`: the file without its large constants is too large.
    pub fn give(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        let mut rest = bytes;
        while let Some(message) = self.open.last() {
            if self.to_copy > 0 {
                let count = usize::try_from(self.to_copy).unwrap_or(usize::MAX).min(rest.len());
                self.keep(&rest[..count])?;
                self.to_copy -= count as u64;
                rest = self.advance(rest, count as u64);
                if self.to_copy > 0 {
                    break;
                }
                continue;
            }
            if message.end <= self.position {
                self.close()?;
                continue;
            }
            let is_last = self.position + rest.len() as u64 >= self.length;
            if rest.len() < HEADER_BYTES && !is_last {
                break;
            }
            let available = usize::try_from(message.end - self.position).unwrap_or(usize::MAX);
            let header = &rest[..HEADER_BYTES.min(available).min(rest.len())];
            let count = self.field(header)?;
            rest = self.advance(rest, count);
        }
        Ok(())
    }

    /// The file without its large constants.
    pub fn finish(self) -> SkippedModel {
        self.done
    }

    /// Moves `count` bytes on; returns the bytes from there on.
    fn advance<'b>(&mut self, rest: &'b [u8], count: u64) -> &'b [u8] {
        self.position += count;
        usize::try_from(count).ok().and_then(|count| rest.get(count..)).unwrap_or_default()
    }

    /// Begins the field whose header `bytes` has; returns the number of bytes that are done with it.
    fn field(&mut self, bytes: &[u8]) -> Result<u64, FormatError> {
        let (kind, end) = (self.message().kind, self.message().end);
        let remaining = end - self.position;
        let header = Header::read(bytes).filter(|header| {
            let length = if header.is_length() { header.value } else { 0 };
            length <= remaining - header.bytes as u64
        });
        let Some(header) = header else {
            // The reader finds the damage in the result too, so nothing may follow the damaged bytes.
            self.name_elements();
            self.keep(bytes)?;
            while !self.open.is_empty() {
                self.close()?;
            }
            return Ok(0);
        };
        let number = header.tag >> 3;
        let (start, count) = (header.bytes as u64, header.value);
        let (position, depth) = (self.position + start, self.open.len());
        if !header.is_length() {
            let is_element = kind == MessageKind::Tensor
                && number != RAW_DATA
                && matches!(kind.field(number), FieldKind::Elements);
            if is_element {
                self.skip_elements(position, start, false);
                return Ok(start);
            }
            if (kind, number) == (MessageKind::Tensor, DATA_LOCATION) {
                self.message().is_external = i64::try_from(header.value) == Ok(EXTERNAL.into());
            }
            self.keep(&bytes[..header.bytes])?;
            return Ok(start);
        }
        match kind.field(number) {
            FieldKind::Elements if number != RAW_DATA => {
                self.skip_elements(position, count, false);
                return Ok(start + count);
            }
            FieldKind::Elements => {
                // The last field holds, if a message has several.
                self.message().elements = None;
                if count > INLINE_BYTES {
                    self.skip_elements(position, count, true);
                    return Ok(start + count);
                }
            }
            FieldKind::Undeclared if count > INLINE_BYTES => return Ok(start + count),
            FieldKind::Message(kind) if count > INLINE_BYTES && depth < MAX_DEPTH => {
                self.open.push(OpenMessage::new(kind, header.tag, position + count));
                return Ok(start);
            }
            _ => {}
        }
        self.keep(&bytes[..header.bytes])?;
        self.to_copy = count;
        Ok(start)
    }

    fn message(&mut self) -> &mut OpenMessage {
        self.open.last_mut().expect("invariant: a message is open")
    }

    fn skip_elements(&mut self, offset: u64, bytes: u64, is_raw: bool) {
        let message = self.open.last_mut().expect("invariant: a message is open");
        let elements = &mut message.elements;
        self.done.has_typed_elements |= !is_raw || elements.is_some();
        // Typed elements may be in many fields.
        let bytes = bytes + elements.map_or(0, |known| known.bytes);
        *elements = Some(SkippedElements { offset, bytes, is_raw });
    }

    /// # Errors
    /// `limit`.
    fn keep(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        self.kept_bytes += bytes.len();
        if self.kept_bytes > MAX_KEPT_BYTES {
            let (what, limit) = ("bytes without large constants", MAX_KEPT_BYTES);
            return Err(FormatErrorKind::Limit { what, limit }.without_location());
        }
        self.message().content.extend_from_slice(bytes);
        Ok(())
    }

    /// Adds the place of the skipped elements to the innermost message, if it has any.
    fn name_elements(&mut self) {
        let Some(message) = self.open.last_mut() else { return };
        let Some(elements) = message.elements.take() else { return };
        self.done.constants += 1;
        self.done.constant_bytes += elements.bytes;
        if !message.is_external {
            message.content.extend(external(&self.name, elements).encode_to_vec());
        }
    }

    /// Ends the innermost message, and adds it to the message around it.
    fn close(&mut self) -> Result<(), FormatError> {
        self.name_elements();
        let Some(mut message) = self.open.pop() else { return Ok(()) };
        let Some(outer) = self.open.last_mut() else {
            self.done.content = message.content;
            return Ok(());
        };
        encode_varint(message.tag, &mut outer.content);
        encode_varint(message.content.len() as u64, &mut outer.content);
        outer.content.append(&mut message.content);
        Ok(())
    }
}

impl OpenMessage {
    fn new(kind: MessageKind, tag: u64, end: u64) -> Self {
        OpenMessage { kind, tag, end, content: Vec::new(), elements: None, is_external: false }
    }
}

/// The fields of a tensor whose elements are in the file of this name.
fn external(name: &str, elements: SkippedElements) -> TensorProto {
    let entry = |key: &str, value: String| StringStringEntryProto { key: key.to_owned(), value };
    let mut entries =
        vec![entry("location", name.to_owned()), entry("offset", elements.offset.to_string())];
    if elements.is_raw {
        entries.push(entry("length", elements.bytes.to_string()));
    }
    TensorProto { external_data: entries, data_location: EXTERNAL, ..TensorProto::default() }
}
