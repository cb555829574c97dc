//! Matrix products as `MatMul` and `Gemm`.

use indim_graph::{Node, ValueId};
use indim_model::{MatMulOperand, ProductMatch, location_of};
use indim_ops::{DType, DTypeClass, ReduceOp};

use super::model_writer::{ModelWriter, int_attribute};

/// The type in which `MatMul` computes elements of `dtype`. `MatMul` lacks integers of 8 and 16 bits.
/// Products in 32 bits give the same bits after the conversion back.
fn product_dtype(dtype: DType) -> DType {
    match (dtype.class(), dtype.size()) {
        (DTypeClass::Signed, 1 | 2) => DType::I32,
        (DTypeClass::Unsigned, 1 | 2) => DType::U32,
        _ => dtype,
    }
}

impl ModelWriter<'_> {
    pub(super) fn product(&mut self, value: ValueId, found: &ProductMatch) {
        let node = &self.graph[value];
        let shape = node.array_type.shape.clone();
        if !found.is_exact {
            let location = location_of(self.graph, value);
            self.notes.composed(node.kind.name(), "a product in double precision", location);
        }
        let matmul = found.matmul();
        let dtype = product_dtype(found.dtype);
        // `Gemm` can transpose its operands, but ONNX Runtime takes only matrices of floats.
        let is_matrix = |operand: &MatMulOperand| operand.matrices.rank() == 2;
        let is_gemm = dtype.is_float()
            && matmul.operands.iter().all(is_matrix)
            && matmul.operands.iter().any(|operand| operand.is_transposed);
        let [x, y] =
            matmul.operands.each_ref().map(|operand| self.matrices(operand, dtype, is_gemm));
        let mut name = match is_gemm {
            true => {
                let transposed = matmul.operands.each_ref().map(|operand| operand.is_transposed);
                let attributes = [("transA", transposed[0]), ("transB", transposed[1])].into_iter();
                let attributes = attributes.filter(|(_, transposed)| *transposed);
                self.node(
                    "Gemm",
                    &[&x, &y],
                    attributes.map(|(name, _)| int_attribute(name, 1)).collect(),
                )
            }
            false => self.op("MatMul", &[&x, &y]),
        };
        if dtype != found.dtype {
            name = self.cast(&name, found.dtype);
        }
        name = self.reshape_value(&name, &matmul.result, &matmul.unmerged);
        name = self.transpose(name, matmul.order);
        self.set_value(value, name, shape);
    }

    /// An operand as matrices. If `is_transposed_later` is set, `Gemm` transposes it if necessary.
    fn matrices(
        &mut self,
        operand: &MatMulOperand,
        dtype: DType,
        is_transposed_later: bool,
    ) -> String {
        let array_type = self.graph[operand.source].array_type.clone();
        let mut name = self.materialized(operand.source);
        if array_type.dtype != dtype {
            name = self.cast(&name, dtype);
        }
        name = self.reshape_value(&name, &array_type.shape, &operand.shape);
        name = self.transpose(name, operand.order.clone());
        let sizes = operand.order.iter().map(|&axis| operand.shape[axis]).collect();
        name = self.reshape_value(&name, &sizes, &operand.matrices);
        if operand.is_transposed && !is_transposed_later {
            let mut axes: Vec<usize> = (0..operand.matrices.rank()).collect();
            let last = axes.len() - 1;
            axes.swap(last - 1, last);
            name = self.transpose(name, axes);
        }
        name
    }

    /// Writes a contraction that is no matrix product as products and their sum, floats in double precision.
    pub(super) fn contract(&mut self, value: ValueId, node: &Node, summed: usize) {
        self.notes.multiplied_and_added(self.graph, value);
        let own = self.graph[node.operands[0]].array_type.clone();
        let dtype = if own.dtype.is_float() { DType::F64 } else { product_dtype(own.dtype) };
        let operands: Vec<String> = node
            .operands
            .iter()
            .map(|&operand| {
                let name = self.materialized(operand);
                if own.dtype == dtype { name } else { self.cast(&name, dtype) }
            })
            .collect();
        let mut name = self.op("Mul", &[&operands[0], &operands[1]]);
        let kept = own.shape.rank() - summed;
        for axis in (kept..own.shape.rank()).rev() {
            name = self.fold(&name, dtype, ReduceOp::Add, axis);
        }
        if node.array_type.dtype != dtype {
            name = self.cast(&name, node.array_type.dtype);
        }
        self.set_value(value, name, node.array_type.shape.clone());
    }
}
