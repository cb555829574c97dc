//! The cases of a kit as model files, which state the rule of their own system.

use indim_model::{ModelFormat, WrittenModel};
use indim_ops::{ArrayType, DType};
use indim_shape::RuleSetName as Rule;

use super::operation::KitOperation;
use super::{Kit, KitCase, hlo, openvino, stablehlo};

/// The rules that a format can state.
///
/// ```
/// use indim_model::ModelFormat;
/// use indim_oracle::native_rules;
/// use indim_shape::RuleSetName;
///
/// assert!(native_rules(ModelFormat::OpenVino).contains(&RuleSetName::Pdpd));
/// assert!(!native_rules(ModelFormat::Onnx).contains(&RuleSetName::Pdpd));
/// ```
pub fn native_rules(format: ModelFormat) -> &'static [Rule] {
    match format {
        ModelFormat::Onnx => &[Rule::Numpy, Rule::OnnxLegacy, Rule::Bidirectional],
        ModelFormat::OpenVino => &[
            Rule::None,
            Rule::Numpy,
            Rule::Pdpd,
            Rule::Unidirectional,
            Rule::Bidirectional,
            Rule::Explicit,
            Rule::PdpdBroadcast,
        ],
        ModelFormat::StableHlo => &[Rule::StableHlo, Rule::StableHloBroadcastInDim],
        ModelFormat::Hlo => &[Rule::StableHlo, Rule::HloBroadcast],
        _ => &[],
    }
}

impl Kit {
    /// Cases that can all be files of the format, or `None` if it cannot state the rule.
    ///
    /// ```
    /// use indim_model::ModelFormat;
    /// use indim_oracle::Kit;
    /// use indim_shape::RuleSetName;
    ///
    /// let case = Kit::of_files(RuleSetName::Pdpd, 7, ModelFormat::OpenVino).unwrap().next().unwrap();
    /// let text = String::from_utf8(case.file(ModelFormat::OpenVino).unwrap().content).unwrap();
    /// assert!(text.starts_with("<?xml"));
    /// ```
    pub fn of_files(rule: Rule, seed: u64, format: ModelFormat) -> Option<Kit> {
        let mut kit = native_rules(format).contains(&rule).then(|| Kit::new(rule, seed))?;
        kit.operations.retain(|operation| match format {
            ModelFormat::Onnx if rule == Rule::OnnxLegacy => !operation.legacy_dtypes.is_empty(),
            ModelFormat::Onnx => operation.onnx.is_some(),
            ModelFormat::OpenVino => operation.openvino.is_some(),
            _ => true,
        });
        Some(kit)
    }
}

impl KitCase {
    /// The case as a model file, whose inputs are the operands in their order. The name of its external
    /// file, if any, assumes that the model is stored as `model.xml`. `None` if the format lacks the rule
    /// or the operation.
    pub fn file(&self, format: ModelFormat) -> Option<WrittenModel> {
        if !native_rules(format).contains(&self.rule) {
            return None;
        }
        let (content, external_file) = match format {
            ModelFormat::Onnx => (super::onnx::file(self)?, None),
            ModelFormat::OpenVino => openvino::file(self)?,
            ModelFormat::Hlo => (hlo::file(self).into_bytes(), None),
            _ => (stablehlo::file(self).into_bytes(), None),
        };
        Some(WrittenModel {
            content,
            external_file,
            composed: Vec::new(),
            warnings: Vec::new(),
            ..WrittenModel::default()
        })
    }

    /// The result type that the file states; for an illegal case the shape is arbitrary.
    pub(super) fn stated_result(&self) -> ArrayType {
        if let Some(expected) = &self.expected {
            return expected.array_type().clone();
        }
        let dtype = self.draft.dtypes.last().copied().unwrap_or(DType::F32);
        let dtype = self.operation().map_or(dtype, |it| it.op.result_dtype(dtype));
        let shape = self.draft.target.as_ref().unwrap_or(&self.draft.shapes[0]);
        ArrayType::new(dtype, &shape[..])
    }

    pub(super) fn operation(&self) -> Option<&'static KitOperation> {
        self.draft.operation
    }

    /// The target shape, as a list.
    pub(super) fn target(&self) -> Option<Vec<i64>> {
        Some(self.draft.target.as_ref()?.iter().map(|&size| size as i64).collect())
    }
}
