//! Sparse initializers: arrays stored as some elements and their positions; the other elements are 0.

use bytes::Bytes;
use indim_model::{FormatErrorKind, integers};
use indim_ops::ArrayType;
use prost::Message as _;

use crate::carry::decode_all;
use crate::messages::{GraphProto, SparseTensorProto, TensorProto};
use crate::tensor::Tensors;

/// Maximum bytes of the dense arrays of all sparse initializers: without it, a file of a few bytes could fill
/// the memory.
const MAX_DENSE_BYTES: usize = 1 << 28;

/// Name, element type and sizes of a sparse array, without elements.
pub fn sparse_header(sparse: &SparseTensorProto) -> TensorProto {
    let values = sparse.values.as_ref();
    TensorProto {
        dims: sparse.dims.clone(),
        data_type: values.map_or(0, |values| values.data_type),
        name: values.map_or_else(String::new, |values| values.name.clone()),
        ..TensorProto::default()
    }
}

/// Replaces the sparse initializers of a graph by dense ones.
///
/// # Errors
/// `damaged`, `attribute`, `limit`, and those of [`Tensors::array`].
pub fn make_dense(graph: &mut GraphProto, tensors: &Tensors) -> Result<(), FormatErrorKind> {
    let all: Vec<SparseTensorProto> = decode_all(&graph.sparse_initializer)?;
    let mut bytes_left = MAX_DENSE_BYTES;
    for sparse in &all {
        let array = dense(sparse, tensors, bytes_left)?;
        bytes_left -= array.raw_data.as_ref().map_or(0, Bytes::len);
        graph.initializer.push(array.encode_to_vec().into());
    }
    graph.sparse_initializer.clear();
    Ok(())
}

/// The dense array with the elements of a sparse one, of at most `limit` bytes.
fn dense(
    sparse: &SparseTensorProto,
    tensors: &Tensors,
    limit: usize,
) -> Result<TensorProto, FormatErrorKind> {
    let header = sparse_header(sparse);
    let array_type = tensors.array_type(&header)?;
    if array_type.dtype.is_nibble() {
        let what = format!("a sparse array of {} elements is", array_type.dtype);
        return Err(FormatErrorKind::Unsupported { what });
    }
    let bytes = array_type.shape.byte_count(array_type.dtype.size()).unwrap_or(usize::MAX);
    if bytes > limit {
        let what = "bytes of sparse initializers as dense arrays";
        return Err(FormatErrorKind::Limit { what, limit: MAX_DENSE_BYTES });
    }
    let positions = positions(sparse, &array_type, tensors)?;
    let elements = elements(sparse, &array_type, positions.len(), tensors)?;
    let size = array_type.dtype.size();
    let mut data = vec![0; bytes];
    for (element, position) in elements.chunks_exact(size).zip(positions) {
        data[position * size..][..size].copy_from_slice(element);
    }
    Ok(TensorProto { raw_data: Some(data.into()), ..header })
}

/// The bytes of the stored elements, `count` of them.
fn elements(
    sparse: &SparseTensorProto,
    array_type: &ArrayType,
    count: usize,
    tensors: &Tensors,
) -> Result<Bytes, FormatErrorKind> {
    let values = sparse.values.clone().unwrap_or_default();
    let own_type = ArrayType::new(array_type.dtype, [count]);
    if tensors.array_type(&values)? != own_type {
        let problem = format!("are not {own_type}: one for each of the indices");
        return Err(FormatErrorKind::attribute("values", &problem));
    }
    let elements = tensors.elements(&values, &own_type)?;
    match elements.len() == count.saturating_mul(array_type.dtype.size()) {
        true => Ok(elements),
        false => {
            let given = format!("{} bytes", elements.len());
            Err(FormatErrorKind::ElementCount { array_type: own_type, given })
        }
    }
}

/// The positions of the stored elements in row-major order. The file has one index for each element, or one
/// for each axis.
fn positions(
    sparse: &SparseTensorProto,
    array_type: &ArrayType,
    tensors: &Tensors,
) -> Result<Vec<usize>, FormatErrorKind> {
    let wrong = |problem: &str| FormatErrorKind::attribute("indices", problem);
    let indices = sparse.indices.as_ref().ok_or_else(|| wrong("are missing"))?;
    let rank = array_type.shape.rank();
    let count = array_type.shape.element_count().unwrap_or(usize::MAX);
    let sizes = match tensors.array_type(indices)?.shape.sizes() {
        [_] => vec![count],
        [_, axes] if *axes == rank && rank > 0 => array_type.shape.to_vec(),
        _ => return Err(wrong("have neither one axis nor one index for each axis of the array")),
    };
    let indices = integers(&tensors.array(indices)?).ok_or_else(|| wrong("are no integers"))?;
    let position = |indices: &[i64]| {
        indices.iter().zip(&sizes).try_fold(0_usize, |position, (&index, &size)| {
            let index = usize::try_from(index).ok().filter(|&index| index < size)?;
            Some(position * size + index)
        })
    };
    let positions: Option<Vec<usize>> = indices.chunks_exact(sizes.len()).map(position).collect();
    let positions = positions.ok_or_else(|| wrong("are outside the array"))?;
    match positions.windows(2).all(|pair| pair[0] < pair[1]) {
        true => Ok(positions),
        false => Err(wrong("do not ascend")),
    }
}
