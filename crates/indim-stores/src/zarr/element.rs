//! Element types of Zarr arrays.

use indim_ops::DType;
use zarrs::array::{DataType, data_type};

/// indim's element types and Zarr's data types.
fn types() -> [(DType, DataType); 15] {
    [
        (DType::Bool, data_type::bool()),
        (DType::I8, data_type::int8()),
        (DType::I16, data_type::int16()),
        (DType::I32, data_type::int32()),
        (DType::I64, data_type::int64()),
        (DType::U8, data_type::uint8()),
        (DType::U16, data_type::uint16()),
        (DType::U32, data_type::uint32()),
        (DType::U64, data_type::uint64()),
        (DType::F16, data_type::float16()),
        (DType::Bf16, data_type::bfloat16()),
        (DType::F32, data_type::float32()),
        (DType::F64, data_type::float64()),
        (DType::C64, data_type::complex64()),
        (DType::C128, data_type::complex128()),
    ]
}

/// The element type of an array, if it is supported.
pub(super) fn dtype(given: &DataType) -> Option<DType> {
    types().into_iter().find(|(_, known)| known == given).map(|(dtype, _)| dtype)
}

/// Zarr's name of an element type.
pub(super) fn data_type(wanted: DType) -> DataType {
    let known = types().into_iter().find(|(dtype, _)| *dtype == wanted);
    known.expect("invariant: Zarr has every element type").1
}
