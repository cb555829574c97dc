//! The header of a `.safetensors` file, parsed entry by entry. A file may have hundreds of thousands of
//! tensors; the library `safetensors` would store all of them, this parser only the requested one.

use core::fmt;
use std::borrow::Cow;

use safetensors::tensor::TensorInfo;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};

use crate::FileErrorKind;

/// The name that a header reserves for its metadata; no tensor has this name.
pub(crate) const METADATA_KEY: &str = "__metadata__";

/// The header's entry for one tensor, and the bytes of all tensors.
#[derive(Debug)]
pub(crate) struct HeaderEntry {
    /// The requested tensor, if the file has it.
    pub(crate) tensor: Option<TensorInfo>,
    /// The bytes of all tensors.
    pub(crate) data_bytes: usize,
}

/// Finds a tensor, and checks the whole header: the byte ranges of the tensors must be contiguous and
/// match their types and shapes.
pub(crate) fn find(header: &[u8], wanted: &str) -> Result<HeaderEntry, FileErrorKind> {
    let mut tensor = None;
    let mut spans = Vec::new();
    for_each(header, |name, info| {
        check_bytes(name, &info)?;
        spans.push(info.data_offsets);
        match name == wanted && tensor.replace(info).is_some() {
            true => Err(format!("a second tensor is called `{name}`")),
            false => Ok(()),
        }
    })?;
    spans.sort_unstable();
    let mut end = 0;
    for (start, next) in spans {
        if start != end {
            return Err(bad_archive(format!("no tensor begins at byte {end} behind the header")));
        }
        end = next;
    }
    Ok(HeaderEntry { tensor, data_bytes: end })
}

/// The names of all tensors, sorted.
pub(crate) fn names(header: &[u8]) -> Result<Vec<String>, FileErrorKind> {
    let mut names = Vec::new();
    for_each(header, |name, _| {
        names.push(name.to_owned());
        Ok(())
    })?;
    names.sort_unstable();
    Ok(names)
}

/// Fails if the byte range of a tensor does not match its type and shape.
fn check_bytes(name: &str, info: &TensorInfo) -> Result<(), String> {
    let (start, end) = info.data_offsets;
    let elements = info.shape.iter().try_fold(1usize, |count, &size| count.checked_mul(size));
    let bits = elements.and_then(|elements| elements.checked_mul(info.dtype.bitsize()));
    match bits.zip(end.checked_sub(start)) {
        Some((bits, bytes)) if bits % 8 == 0 && bits / 8 == bytes => Ok(()),
        _ => Err(format!("the bytes {start} to {end} are not those of the tensor `{name}`")),
    }
}

/// Calls `each` with the tensors of a header.
fn for_each(
    header: &[u8],
    each: impl FnMut(&str, TensorInfo) -> Result<(), String>,
) -> Result<(), FileErrorKind> {
    let mut parser = serde_json::Deserializer::from_slice(header);
    let entries = parser.deserialize_map(HeaderVisitor(each));
    let read = entries.and_then(|()| parser.end());
    read.map_err(|error| bad_archive(format!("the header cannot be read: {error}")))
}

fn bad_archive(message: String) -> FileErrorKind {
    FileErrorKind::BadArchive(message)
}

/// Visits the entries of a header.
struct HeaderVisitor<F>(F);

impl<'de, F: FnMut(&str, TensorInfo) -> Result<(), String>> Visitor<'de> for HeaderVisitor<F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("tensors by their names")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(JsonString(name)) = map.next_key()? {
            if name == METADATA_KEY {
                map.next_value::<Option<StringMap>>()?;
                continue;
            }
            let info = map.next_value::<TensorInfo>()?;
            (self.0)(&name, info).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// A JSON string, borrowed if it has no escapes.
struct JsonString<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for JsonString<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StringVisitor;
        impl<'de> Visitor<'de> for StringVisitor {
            type Value = JsonString<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<JsonString<'de>, E> {
                Ok(JsonString(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<JsonString<'de>, E> {
                Ok(JsonString(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(StringVisitor)
    }
}

/// A JSON map of strings, checked and discarded.
struct StringMap;

impl<'de> Deserialize<'de> for StringMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MapVisitor;
        impl<'de> Visitor<'de> for MapVisitor {
            type Value = StringMap;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("texts by their names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StringMap, A::Error> {
                while map.next_entry::<JsonString<'de>, JsonString<'de>>()?.is_some() {}
                Ok(StringMap)
            }
        }
        deserializer.deserialize_map(MapVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tensor_is_found_and_all_are_checked() {
        let tensor = |name: &str, start: usize, end: usize| {
            let size = end - start;
            format!(r#""{name}":{{"dtype":"U8","shape":[{size}],"data_offsets":[{start},{end}]}}"#)
        };
        let header = |tensors: &[String]| {
            format!(r#"{{"__metadata__":{{"a":"b"}},{}}}"#, tensors.join(",")).into_bytes()
        };
        let both = header(&[tensor("b", 3, 5), tensor("a\\u0041", 0, 3)]);
        let found = find(&both, "aA").unwrap();
        assert_eq!((found.tensor.unwrap().data_offsets, found.data_bytes), ((0, 3), 5));
        assert!(find(&both, "a").unwrap().tensor.is_none());
        assert_eq!(names(&both).unwrap(), ["aA", "b"]);
        for bad in [
            header(&[tensor("a", 1, 3)]),
            header(&[tensor("a", 0, 3), tensor("b", 2, 5)]),
            header(&[tensor("a", 0, 3), tensor("a", 3, 5)]),
            br#"{"__metadata__":{"a":1}}"#.to_vec(),
            br#"{} {}"#.to_vec(),
        ] {
            assert!(matches!(find(&bad, "a"), Err(FileErrorKind::BadArchive(_))));
        }
    }
}
