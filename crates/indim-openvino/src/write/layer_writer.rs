//! Writes layers and infers the types of their results.

use indim_builder::GraphBuilder;
use indim_graph::{Array, Literal, evaluate};
use indim_model::FormatErrorKind;
use indim_ops::{ArrayType, DType};
use indim_shape::{RuleSet, Shape};

use crate::element_type::attribute_name;
use crate::write::file::{Attribute, File, WriterPort};

/// The result of a written layer, or an error.
pub(super) type LayerResult = Result<WriterPort, FormatErrorKind>;

/// Writes layers into a file.
#[derive(Default)]
pub(super) struct LayerWriter {
    pub(super) file: File,
}

impl LayerWriter {
    /// A layer whose result has the type of its operand.
    pub(super) fn unary(&mut self, operation: (&'static str, u32), x: &WriterPort) -> WriterPort {
        self.file.layer(operation, &[], core::slice::from_ref(x), x.array_type.clone())
    }

    /// A layer whose operands broadcast by NumPy's rule.
    ///
    /// # Errors
    /// `damaged` if the shapes break the rule, which those of a valid graph do not.
    pub(super) fn broadcasting(
        &mut self,
        operation: (&'static str, u32),
        attributes: &[Attribute],
        operands: &[&WriterPort],
        dtype: DType,
    ) -> LayerResult {
        let shapes: Vec<Shape> =
            operands.iter().map(|port| port.array_type.shape.clone()).collect();
        let met = RuleSet::Numpy.elaborate(&shapes);
        let result =
            met.map_err(|error| FormatErrorKind::Damaged { problem: error.to_string() })?;
        let array_type = ArrayType::new(dtype, result.result().clone());
        let rule = [("auto_broadcast", "numpy".to_owned())];
        let operands: Vec<WriterPort> = operands.iter().map(|&port| port.clone()).collect();
        Ok(self.file.layer(operation, &[&rule, attributes].concat(), &operands, array_type))
    }

    /// An operation of the first operation set on two operands of one type.
    pub(super) fn binary(
        &mut self,
        operation: &'static str,
        x: &WriterPort,
        y: &WriterPort,
    ) -> LayerResult {
        self.broadcasting((operation, 1), &[], &[x, y], x.array_type.dtype)
    }

    /// A comparison, or a logical operation on booleans.
    pub(super) fn compare(
        &mut self,
        operation: &'static str,
        x: &WriterPort,
        y: &WriterPort,
    ) -> LayerResult {
        self.broadcasting((operation, 1), &[], &[x, y], DType::Bool)
    }

    /// `x` if the condition holds, else `y`.
    pub(super) fn select(
        &mut self,
        condition: &WriterPort,
        x: &WriterPort,
        y: &WriterPort,
    ) -> LayerResult {
        self.broadcasting(("Select", 1), &[], &[condition, x, y], x.array_type.dtype)
    }

    /// Adds a scalar constant of type `dtype`.
    ///
    /// # Errors
    /// None in practice: each type can represent the numbers.
    pub(super) fn number(&mut self, number: f64, dtype: DType) -> LayerResult {
        let b = GraphBuilder::new();
        let graph = b.finish(&[b.literal(Literal::Float(number), dtype)?])?;
        let wrong =
            |error: indim_graph::EvalError| FormatErrorKind::Damaged { problem: error.to_string() };
        let arrays: Vec<Array> = evaluate(&graph, &[]).map_err(wrong)?;
        Ok(self.file.constant(&arrays[0]))
    }

    pub(super) fn convert(&mut self, x: &WriterPort, dtype: DType) -> WriterPort {
        let attribute = ("destination_type", attribute_name(dtype).to_owned());
        let array_type = ArrayType::new(dtype, x.array_type.shape.clone());
        self.file.layer(("Convert", 1), &[attribute], core::slice::from_ref(x), array_type)
    }

    pub(super) fn reshape(&mut self, x: &WriterPort, shape: &Shape) -> WriterPort {
        if x.array_type.shape == *shape {
            return x.clone();
        }
        let target = self.size_list(shape);
        let attribute = ("special_zero", "false".to_owned());
        let array_type = ArrayType::new(x.array_type.dtype, shape.clone());
        self.file.layer(("Reshape", 1), &[attribute], &[x.clone(), target], array_type)
    }

    /// Axis `i` of the result is axis `order[i]` of the operand.
    pub(super) fn transpose(&mut self, x: &WriterPort, order: &[usize]) -> WriterPort {
        if order.iter().enumerate().all(|(axis, &from)| axis == from) {
            return x.clone();
        }
        let sizes: Shape = order.iter().map(|&from| x.array_type.shape[from]).collect();
        let order: Vec<i64> = order.iter().map(|&from| from as i64).collect();
        let order = self.file.integer_list(&order);
        let array_type = ArrayType::new(x.array_type.dtype, sizes);
        self.file.layer(("Transpose", 1), &[], &[x.clone(), order], array_type)
    }

    /// Axis `i` of the operand becomes axis `axes[i]` of the result; `axes` must be ascending.
    pub(super) fn broadcast(
        &mut self,
        x: &WriterPort,
        axes: &[usize],
        shape: &Shape,
    ) -> WriterPort {
        let target = self.size_list(shape);
        let array_type = ArrayType::new(x.array_type.dtype, shape.clone());
        if axes.is_empty() {
            let mode = ("mode", "numpy".to_owned());
            return self.file.layer(("Broadcast", 3), &[mode], &[x.clone(), target], array_type);
        }
        let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
        let (mode, axes) = (("mode", "explicit".to_owned()), self.file.integer_list(&axes));
        self.file.layer(("Broadcast", 3), &[mode], &[x.clone(), target, axes], array_type)
    }

    fn size_list(&mut self, shape: &Shape) -> WriterPort {
        let sizes: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
        self.file.integer_list(&sizes)
    }
}
