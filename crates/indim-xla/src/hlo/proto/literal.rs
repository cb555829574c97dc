//! Literals in protobufs.

use bytes::Bytes;
use indim_graph::Array;
use indim_model::{FormatErrorKind, array_of_bytes};
use indim_ops::{ArrayType, DType};

use super::super::syntax::{HloLayout, HloShape};
use super::messages::{LiteralProto, ShapeProto};
use super::{decode, shape};

type ReadResult<T> = Result<T, FormatErrorKind>;

/// The arrays of a literal: one, or those of a tuple in order. The recursion is bounded by the nesting
/// limit of the reader of types (`shape.rs`).
///
/// # Errors
/// `damaged`, `wrong-element-count`, `wrong-count`, `type-mismatch`, `attribute`, `unsupported`.
pub(in super::super) fn arrays(encoded: &Bytes, shape: &HloShape) -> ReadResult<Vec<Array>> {
    let literal: LiteralProto = decode(encoded.clone())?;
    match shape {
        HloShape::Array(array_type, _) => Ok(vec![array(&literal, array_type)?]),
        HloShape::Tuple(parts) => {
            let given = literal.tuple_literals.len();
            if given != parts.len() {
                let (what, expected) = ("parts of a tuple", parts.len().to_string());
                return Err(FormatErrorKind::Count { what, expected, given });
            }
            let mut found = Vec::new();
            for (part, shape) in literal.tuple_literals.iter().zip(parts) {
                found.extend(arrays(part, shape)?);
            }
            Ok(found)
        }
        HloShape::Dynamic(_) | HloShape::Other(_) => {
            Err(FormatErrorKind::Unsupported { what: "constants of this type are".to_owned() })
        }
    }
}

fn array(literal: &LiteralProto, array_type: &ArrayType) -> ReadResult<Array> {
    let layout = match &literal.shape {
        Some(encoded) => {
            let stated: ShapeProto = decode(encoded.clone())?;
            check_sizes(&stated, array_type)?;
            shape::layout(&stated)?
        }
        None => HloLayout::RowMajor,
    };
    let elements = elements(literal, array_type.dtype);
    match layout {
        HloLayout::MinorToMajor(axes) if !axes.iter().rev().copied().eq(0..axes.len()) => {
            // Checks the element count before the transposition to row-major order.
            array_of_bytes(array_type, &elements)?;
            array_of_bytes(array_type, &to_row_major(&elements, array_type, &axes))
        }
        _ => array_of_bytes(array_type, &elements),
    }
}

fn check_sizes(stated: &ShapeProto, array_type: &ArrayType) -> ReadResult<()> {
    let sizes = stated.dimensions.iter().map(|&size| usize::try_from(size).ok());
    match sizes.eq(array_type.shape.iter().map(|&size| Some(size))) {
        true => Ok(()),
        false => {
            let stated = format!("elements of sizes {:?}", stated.dimensions);
            Err(FormatErrorKind::TypeMismatch { stated, inferred: array_type.to_string() })
        }
    }
}

/// The bytes of the elements in memory order.
fn elements(literal: &LiteralProto, dtype: DType) -> Bytes {
    fn bytes<T: Copy, const N: usize>(numbers: &[T], to_bytes: fn(T) -> [u8; N]) -> Bytes {
        numbers.iter().flat_map(|&number| to_bytes(number)).collect()
    }
    match dtype {
        DType::Bool => literal.preds.iter().map(|&truth| u8::from(truth)).collect(),
        DType::I8 => literal.s8s.clone(),
        DType::I16 => literal.s16s.clone(),
        DType::I32 => bytes(&literal.s32s, i32::to_le_bytes),
        DType::I64 => bytes(&literal.s64s, i64::to_le_bytes),
        DType::U8 => literal.u8s.clone(),
        DType::U16 => literal.u16s.clone(),
        DType::U32 => bytes(&literal.u32s, u32::to_le_bytes),
        DType::U64 => bytes(&literal.u64s, u64::to_le_bytes),
        DType::F16 => literal.f16s.clone(),
        DType::Bf16 => literal.bf16s.clone(),
        DType::F32 => bytes(&literal.f32s, f32::to_le_bytes),
        DType::F64 => bytes(&literal.f64s, f64::to_le_bytes),
        DType::C64 => bytes(&literal.c64s, f32::to_le_bytes),
        DType::C128 => bytes(&literal.c128s, f64::to_le_bytes),
        DType::F8E4m3fn => literal.f8e4m3fns.clone(),
        DType::F8E5m2 => literal.f8e5m2s.clone(),
        DType::F8E4m3fnuz => literal.f8e4m3fnuzs.clone(),
        DType::F8E5m2fnuz => literal.f8e5m2fnuzs.clone(),
        DType::F8E4m3b11fnuz => literal.f8e4m3b11fnuzs.clone(),
        DType::I4 => literal.s4s.iter().map(|byte| byte & 0xf).collect(),
        DType::U4 => literal.u4s.iter().map(|byte| byte & 0xf).collect(),
    }
}

/// Transposes elements from the layout `minor_to_major` to row-major order.
fn to_row_major(elements: &[u8], array_type: &ArrayType, minor_to_major: &[usize]) -> Vec<u8> {
    let sizes = array_type.shape.sizes();
    let mut strides = vec![array_type.dtype.size(); sizes.len()];
    let mut stride = array_type.dtype.size();
    for &axis in minor_to_major {
        strides[axis] = stride;
        stride *= sizes[axis];
    }
    let mut ordered = Vec::with_capacity(elements.len());
    let (mut index, mut offset) = (vec![0; sizes.len()], 0);
    while ordered.len() < elements.len() {
        ordered.extend_from_slice(&elements[offset..offset + array_type.dtype.size()]);
        // The next index; the last axis varies fastest.
        for axis in (0..sizes.len()).rev() {
            index[axis] += 1;
            offset += strides[axis];
            if index[axis] < sizes[axis] {
                break;
            }
            offset -= strides[axis] * sizes[axis];
            index[axis] = 0;
        }
    }
    ordered
}
