//! Activation functions and `MVN`.

use indim_builder::Composition;
use indim_model::{Epsilon, FormatErrorKind};
use indim_shape::Shape;

use crate::write::file::{Attribute, WriterPort};
use crate::write::layer_writer::{LayerResult, LayerWriter};

impl LayerWriter {
    /// Writes a composition as one operation.
    ///
    /// # Errors
    /// `unsupported` for a composition that the matcher finds and this table lacks.
    pub(super) fn composition(
        &mut self,
        composition: Composition,
        numbers: &[f64],
        x: &WriterPort,
    ) -> LayerResult {
        let approximation = |mode: &str| vec![("approximation_mode", mode.to_owned())];
        let alpha = || numbers.iter().map(|alpha| ("alpha", format!("{alpha:?}"))).collect();
        let (operation, attributes, operands): (_, Vec<Attribute>, &[f64]) = match composition {
            Composition::Gelu => (("Gelu", 7), approximation("ERF"), &[]),
            Composition::GeluTanh => (("Gelu", 7), approximation("TANH"), &[]),
            Composition::Elu => (("Elu", 1), alpha(), &[]),
            Composition::Mish => (("Mish", 4), Vec::new(), &[]),
            Composition::HardSwish => (("HSwish", 4), Vec::new(), &[]),
            Composition::Softsign => (("SoftSign", 9), Vec::new(), &[]),
            Composition::Swish if *numbers == [1.0] => (("Swish", 4), Vec::new(), &[]),
            Composition::Swish => (("Swish", 4), Vec::new(), numbers),
            Composition::HardSigmoid => (("HardSigmoid", 1), Vec::new(), numbers),
            Composition::Relu => (("ReLU", 1), Vec::new(), &[]),
            other => {
                let what = format!("`{}` as a layer of OpenVINO is", other.name());
                return Err(FormatErrorKind::Unsupported { what });
            }
        };
        let mut inputs = vec![x.clone()];
        for &number in operands {
            inputs.push(self.number(number, x.array_type.dtype)?);
        }
        Ok(self.file.layer(operation, &attributes, &inputs, x.array_type.clone()))
    }

    /// `(x - mean) / deviation` along the axes.
    pub(super) fn mvn(&mut self, x: &WriterPort, axes: &[usize], epsilon: Epsilon) -> WriterPort {
        let (epsilon, mode) = match epsilon {
            Epsilon::InsideRoot(epsilon) => (epsilon, "inside_sqrt"),
            Epsilon::OutsideRoot(epsilon) => (epsilon, "outside_sqrt"),
        };
        let attributes = [
            ("normalize_variance", "true".to_owned()),
            ("eps", format!("{epsilon:?}")),
            ("eps_mode", mode.to_owned()),
        ];
        let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
        let operands = [x.clone(), self.file.integer_list(&axes)];
        self.file.layer(("MVN", 6), &attributes, &operands, x.array_type.clone())
    }

    /// Writes a PReLU. OpenVINO reads a slope with one axis as one number per channel, so the slope is
    /// reshaped to the rank of the operand.
    pub(super) fn prelu(&mut self, x: &WriterPort, slope: &WriterPort) -> WriterPort {
        let rank = x.array_type.shape.rank();
        let own = &slope.array_type.shape;
        let missing = core::iter::repeat_n(1, rank.saturating_sub(own.rank()));
        let shape: Shape = missing.chain(own.iter().copied()).collect();
        let slope = self.reshape(slope, &shape);
        self.file.layer(("PReLU", 1), &[], &[x.clone(), slope], x.array_type.clone())
    }
}
