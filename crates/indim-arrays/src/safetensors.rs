//! Tensors of the crate `safetensors` as views, and their element types.

use indim_ops::{ArrayType, DType};
use indim_shape::Shape;
use safetensors::Dtype;
use safetensors::tensor::TensorView;

use crate::strides::row_major_byte_strides;
use crate::view::{ArrayError, ArrayView};

/// The element types of both `safetensors` and indim.
const DTYPE_PAIRS: [(Dtype, DType); 18] = [
    (Dtype::BOOL, DType::Bool),
    (Dtype::U8, DType::U8),
    (Dtype::I8, DType::I8),
    (Dtype::U16, DType::U16),
    (Dtype::I16, DType::I16),
    (Dtype::U32, DType::U32),
    (Dtype::I32, DType::I32),
    (Dtype::U64, DType::U64),
    (Dtype::I64, DType::I64),
    (Dtype::F16, DType::F16),
    (Dtype::BF16, DType::Bf16),
    (Dtype::F32, DType::F32),
    (Dtype::F64, DType::F64),
    (Dtype::C64, DType::C64),
    (Dtype::F8_E4M3, DType::F8E4m3fn),
    (Dtype::F8_E5M2, DType::F8E5m2),
    (Dtype::F8_E4M3FNUZ, DType::F8E4m3fnuz),
    (Dtype::F8_E5M2FNUZ, DType::F8E5m2fnuz),
];

/// The element type of a tensor, if indim has it.
///
/// ```
/// use indim_arrays::safetensors::dtype_of;
/// use indim_ops::DType;
/// use safetensors::Dtype;
///
/// assert_eq!(dtype_of(Dtype::BF16), Some(DType::Bf16));
/// assert_eq!(dtype_of(Dtype::F8_E4M3), Some(DType::F8E4m3fn));
/// assert_eq!(dtype_of(Dtype::F8_E8M0), None);
/// ```
pub fn dtype_of(tensor: Dtype) -> Option<DType> {
    DTYPE_PAIRS.iter().find(|(theirs, _)| *theirs == tensor).map(|(_, ours)| *ours)
}

/// The element type of a tensor with these elements; `None` if the format lacks it, such as `c128`.
///
/// ```
/// use indim_arrays::safetensors::tensor_dtype;
/// use indim_ops::DType;
/// use safetensors::Dtype;
///
/// assert_eq!(tensor_dtype(DType::Bf16), Some(Dtype::BF16));
/// assert_eq!(tensor_dtype(DType::C128), None);
/// ```
pub fn tensor_dtype(elements: DType) -> Option<Dtype> {
    DTYPE_PAIRS.iter().find(|(_, ours)| *ours == elements).map(|(theirs, _)| *theirs)
}

/// A view of a tensor in a file, which may be mapped.
///
/// ```
/// use indim_arrays::ArrayView;
/// use safetensors::tensor::{Dtype, TensorView};
///
/// let bytes: Vec<u8> = [1.0f32, 2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
/// let tensor = TensorView::new(Dtype::F32, vec![1, 2], &bytes)?;
/// # #[cfg(target_endian = "little")]
/// assert_eq!(ArrayView::try_from(&tensor)?.array_type().to_string(), "f32[1, 2]");
/// let scales = TensorView::new(Dtype::F8_E8M0, vec![2], &[0, 0])?;
/// assert_eq!(ArrayView::try_from(&scales).unwrap_err().code(), "unsupported-type");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `unsupported-type` if indim lacks the element type, or, on a big-endian machine, if elements have
/// several bytes, which the format stores in little-endian order; `out-of-bounds`; `too-large`.
impl<'a> TryFrom<&TensorView<'a>> for ArrayView<'a> {
    type Error = ArrayError;

    fn try_from(tensor: &TensorView<'a>) -> Result<Self, ArrayError> {
        let is_in_order = |dtype: &DType| cfg!(target_endian = "little") || dtype.size() == 1;
        let Some(dtype) = dtype_of(tensor.dtype()).filter(is_in_order) else {
            return Err(ArrayError::ForeignElements { name: tensor.dtype().to_string() });
        };
        let array_type = ArrayType::new(dtype, Shape::from(tensor.shape()));
        // Checked first, because sizes that overflow give strides that overflow.
        array_type.shape.byte_count(dtype.size()).map_err(ArrayError::TooLarge)?;
        let strides = row_major_byte_strides(&array_type);
        Self::from_bytes(array_type, strides, tensor.data(), 0)
    }
}
