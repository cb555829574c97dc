//! Arrays of the file: their elements are raw bytes, typed fields, or in an external file.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use indim_graph::Array;
use indim_model::{
    FormatError, FormatErrorKind, FormatLimits, SourceFile, array_of_packed_bytes, packed_bytes,
};
use indim_ops::{ArrayType, DType};
use indim_shape::{Shape, saturating_size};
use prost::Message;

use crate::messages::TensorProto;
use crate::types::{declared_at, dtype_of};

/// The value of `data_location` for elements in an external file.
pub(crate) const EXTERNAL: i32 = 1;

/// The reader of the arrays of one model.
pub struct Tensors {
    source: SourceFile,
    limits: FormatLimits,
    /// Cache of attribute arrays by the address of their message. Each call of a function reads the same
    /// messages again.
    arrays: Mutex<HashMap<usize, Array>>,
}

impl Tensors {
    /// The tensors of a file, and of the files that it names.
    pub fn new(source: &SourceFile, limits: &FormatLimits) -> Self {
        Tensors { source: source.clone(), limits: *limits, arrays: Mutex::default() }
    }

    /// The array of an attribute; the cache key is the address of `tensor`.
    ///
    /// # Errors
    /// Those of [`Tensors::array`].
    pub fn attribute_array(&self, tensor: &TensorProto) -> Result<Array, FormatErrorKind> {
        let address = core::ptr::from_ref(tensor).addr();
        let known = || self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(array) = known().get(&address) {
            return Ok(array.clone());
        }
        let array = self.array(tensor)?;
        known().insert(address, array.clone());
        Ok(array)
    }

    /// The array in the message.
    ///
    /// # Errors
    /// `unsupported-type`, `unsupported`, `limit`, `attribute`, `wrong-element-count`, `bad-element`,
    /// `file-beside`.
    pub fn array(&self, tensor: &TensorProto) -> Result<Array, FormatErrorKind> {
        let array_type = self.array_type(tensor)?;
        array_of_packed_bytes(&array_type, &self.elements(tensor, &array_type)?)
    }

    /// The elements in the message or its external file, as little-endian bytes.
    pub(crate) fn elements(
        &self,
        tensor: &TensorProto,
        array_type: &ArrayType,
    ) -> Result<Bytes, FormatErrorKind> {
        if tensor.segment.is_some() {
            let what = "an array that is stored in segments is".to_owned();
            return Err(FormatErrorKind::Unsupported { what });
        }
        if tensor.data_location == EXTERNAL {
            return self.external_bytes(tensor, array_type);
        }
        match &tensor.raw_data {
            Some(raw) if !raw.is_empty() => Ok(raw.clone()),
            _ => Ok(typed_bytes(tensor, array_type.dtype)?.into()),
        }
    }

    /// Checks the sizes, and the number of bytes that the message has or states, without reading the
    /// elements. Types that indim does not compute are not checked.
    ///
    /// # Errors
    /// `limit`, `attribute`, `wrong-element-count`.
    pub fn check(&self, tensor: &TensorProto) -> Result<(), FormatErrorKind> {
        if dtype_of(tensor.data_type.into()).is_err() {
            return Ok(());
        }
        let array_type = self.array_type(tensor)?;
        let bytes = match tensor.data_location {
            EXTERNAL => external_entry(tensor, "length").and_then(|length| length.parse().ok()),
            _ => tensor.raw_data.as_ref().map(Bytes::len).filter(|&bytes| bytes > 0),
        };
        match bytes.filter(|_| tensor.segment.is_none()) {
            Some(bytes) if packed_bytes(&array_type).ok() != Some(bytes) => {
                let given = format!("{bytes} bytes");
                Err(FormatErrorKind::ElementCount { array_type, given })
            }
            _ => Ok(()),
        }
    }

    /// Replaces the reference to an external file by the elements.
    ///
    /// # Errors
    /// Those of [`Tensors::array`].
    pub fn embed(&self, tensor: &mut TensorProto) -> Result<(), FormatErrorKind> {
        if tensor.data_location == EXTERNAL {
            let array_type = self.array_type(tensor)?;
            tensor.raw_data = Some(self.external_bytes(tensor, &array_type)?);
            (tensor.data_location, tensor.external_data) = (0, Vec::new());
        }
        Ok(())
    }

    pub(crate) fn array_type(&self, tensor: &TensorProto) -> Result<ArrayType, FormatErrorKind> {
        let dtype = dtype_of(tensor.data_type.into())?;
        if tensor.dims.len() > self.limits.rank {
            return Err(FormatErrorKind::Limit { what: "axes", limit: self.limits.rank });
        }
        let size = |&size: &i64| u64::try_from(size).ok().map(saturating_size);
        let shape: Option<Vec<usize>> = tensor.dims.iter().map(size).collect();
        let negative = || FormatErrorKind::attribute("dims", "has a negative size");
        Ok(ArrayType::new(dtype, Shape::from(shape.ok_or_else(negative)?)))
    }

    /// The bytes of an array in an external file; only these are read.
    fn external_bytes(
        &self,
        tensor: &TensorProto,
        array_type: &ArrayType,
    ) -> Result<Bytes, FormatErrorKind> {
        let entry = |key: &str| external_entry(tensor, key);
        let location = entry("location")
            .ok_or_else(|| FormatErrorKind::attribute("external_data", "has no location"))?;
        let number = |key: &'static str| match entry(key).map(str::parse::<usize>) {
            None => Ok(None),
            Some(Ok(number)) => Ok(Some(number)),
            Some(Err(_)) => Err(FormatErrorKind::attribute(key, "is not a number of bytes")),
        };
        let external_file =
            |problem: String| FormatErrorKind::ExternalFile { file: location.to_owned(), problem };
        let offset = number("offset")?.unwrap_or(0);
        let needed = packed_bytes(array_type)?;
        let length = number("length")?.unwrap_or(needed);
        // Both checks precede the read, so a wrong length reads nothing.
        if length != needed {
            let (array_type, given) = (array_type.clone(), format!("{length} bytes"));
            return Err(FormatErrorKind::ElementCount { array_type, given });
        }
        if length > self.limits.constant_bytes {
            let limit = self.limits.constant_bytes;
            return Err(FormatErrorKind::Limit { what: "bytes of constants", limit });
        }
        let range = offset..offset.saturating_add(length);
        self.source.external_file_range(location, range).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                external_file(format!("{length} bytes from byte {offset} on are not all there"))
            }
            _ => external_file(error.to_string()),
        })
    }
}

/// The text of an entry about the external file.
fn external_entry<'t>(tensor: &'t TensorProto, key: &str) -> Option<&'t str> {
    let mut entries = tensor.external_data.iter();
    entries.find(|entry| entry.key == key).map(|entry| entry.value.as_str())
}

/// The elements in the typed field for `dtype`, such as `float_data`, as little-endian bytes.
fn typed_bytes(tensor: &TensorProto, dtype: DType) -> Result<Vec<u8>, FormatErrorKind> {
    let words = |words: &[i32]| encode_numbers(dtype, words.iter().map(|&word| word.into()));
    let bytes = match dtype {
        // A complex number is a pair of floats.
        DType::F32 | DType::C64 => {
            tensor.float_data.iter().flat_map(|number| number.to_le_bytes()).collect()
        }
        DType::F64 | DType::C128 => {
            tensor.double_data.iter().flat_map(|number| number.to_le_bytes()).collect()
        }
        DType::I64 => tensor.int64_data.iter().flat_map(|number| number.to_le_bytes()).collect(),
        DType::U32 | DType::U64 => {
            encode_numbers(dtype, tensor.uint64_data.iter().map(|&number| number.into()))?
        }
        _ => words(&tensor.int32_data)?,
    };
    Ok(bytes)
}

/// Encodes numbers in the byte width of the type, with a range check; 16-bit floats and storage types are
/// given as their bits.
fn encode_numbers(
    dtype: DType,
    numbers: impl Iterator<Item = i128>,
) -> Result<Vec<u8>, FormatErrorKind> {
    let size = dtype.size();
    let bits = match dtype {
        DType::Bool => DType::U8,
        DType::F16 | DType::Bf16 => DType::U16,
        // Two 4-bit elements share one number.
        dtype if dtype.is_storage() => DType::U8,
        dtype => dtype,
    };
    let (low, high) = indim_graph::literal::integer_range(bits).unwrap_or((0, 0));
    let mut bytes = Vec::with_capacity(numbers.size_hint().0.saturating_mul(size));
    for number in numbers {
        if !(low..=high).contains(&number) {
            return Err(FormatErrorKind::Element { dtype });
        }
        bytes.extend_from_slice(&number.to_le_bytes()[..size]);
    }
    Ok(bytes)
}

/// Reads a file of one `TensorProto`, the format of inputs and results in ONNX's node tests. Returns the
/// name and the array.
///
/// # Errors
/// `damaged`, and the errors of the array.
pub fn read_onnx_tensor(
    source: &SourceFile,
    limits: &FormatLimits,
) -> Result<(String, Array), FormatError> {
    let tensor = TensorProto::decode(source.shared_bytes()).map_err(|error| {
        FormatErrorKind::Damaged { problem: error.to_string() }.without_location()
    })?;
    let array = Tensors::new(source, limits).array(&tensor);
    let array = array.map_err(|kind| kind.at(declared_at("tensor", &tensor.name)))?;
    Ok((tensor.name, array))
}
