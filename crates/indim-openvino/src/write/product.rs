//! Contractions: matrix products as `MatMul`, others as `Multiply` and `ReduceSum`.

use indim_graph::{Node, ValueId};
use indim_model::{MatMulOperand, ProductMatch, location_of};
use indim_ops::{ArrayType, DType};

use crate::write::NetworkWriter;
use crate::write::file::WriterPort;
use crate::write::layer_writer::LayerResult;

impl NetworkWriter<'_> {
    /// Writes a matrix product; `None` if an operand is unsupported.
    pub(super) fn product(&mut self, value: ValueId, found: &ProductMatch) -> Option<WriterPort> {
        // Sums that the graph does not round to the operands' type are written in `f64`.
        if !found.is_exact {
            let name = self.graph[value].kind.name();
            let location = location_of(self.graph, value);
            self.notes.composed(name, "a product in double precision", location);
        }
        let matmul = found.matmul();
        let [x, y] = matmul.operands.each_ref().map(|operand| self.matrices(operand, found.dtype));
        let transposed = |index: usize| matmul.operands[index].is_transposed.to_string();
        let attributes = [("transpose_a", transposed(0)), ("transpose_b", transposed(1))];
        let result = ArrayType::new(found.dtype, matmul.result.clone());
        let product = self.layers.file.layer(("MatMul", 1), &attributes, &[x?, y?], result);
        let unmerged = self.layers.reshape(&product, &matmul.unmerged);
        Some(self.layers.transpose(&unmerged, &matmul.order))
    }

    /// An operand as matrices.
    fn matrices(&mut self, operand: &MatMulOperand, dtype: DType) -> Option<WriterPort> {
        let mut port = self.ports[operand.source.index()].clone()?;
        if port.array_type.dtype != dtype {
            port = self.layers.convert(&port, dtype);
        }
        let shaped = self.layers.reshape(&port, &operand.shape);
        let transposed = self.layers.transpose(&shaped, &operand.order);
        Some(self.layers.reshape(&transposed, &operand.matrices))
    }

    /// Writes a contraction that is no matrix product: multiplies the operands, then sums the last `summed`
    /// axes, in the element type of the node, which is `f64` for floats.
    pub(super) fn contract(
        &mut self,
        value: ValueId,
        node: &Node,
        operands: &[WriterPort],
        summed: usize,
    ) -> LayerResult {
        self.notes.multiplied_and_added(self.graph, value);
        let dtype = node.array_type.dtype;
        let [x, y] = [0, 1].map(|index| match operands[index].array_type.dtype == dtype {
            true => operands[index].clone(),
            false => self.layers.convert(&operands[index], dtype),
        });
        let products = self.layers.binary("Multiply", &x, &y)?;
        let rank = products.array_type.shape.rank();
        let axes: Vec<usize> = (rank - summed..rank).collect();
        Ok(self.reduced(("ReduceSum", 1), &axes, &products))
    }
}
