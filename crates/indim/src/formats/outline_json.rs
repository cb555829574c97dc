//! A model as JSON: every node with its types and the verdicts on its broadcasts, and the findings.

use indim_graph::terminal::printable;
use indim_model::outline::{Outline, OutlineBroadcast, OutlineNode, ValueIndex, Verdict};
use serde_json::{Value, json};

use super::lint::LintReport;

impl LintReport {
    /// The object of [`LintReport::to_json`], with all inputs, nodes and outputs. The finding of a node has
    /// its index as `node_index`.
    ///
    /// ```
    /// use indim::formats::{LintOptions, LintReport, SourceFile};
    ///
    /// let text = "
    /// func.func @main(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
    ///   %0 = stablehlo.add %x, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ///   return %0 : tensor<4x8xf32>
    /// }";
    /// let report = LintReport::new(SourceFile::new("bias.mlir", text), &LintOptions::default())?;
    /// let json: serde_json::Value = serde_json::from_str(&report.outline_json())?;
    /// assert_eq!(json["nodes"][0]["is_illegal"], true);
    /// assert_eq!(json["findings"][0]["node_index"], 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn outline_json(&self) -> String {
        let outline = self.outline();
        let listed = |values: &[ValueIndex]| -> Vec<Value> {
            values.iter().map(|&value| typed(outline, Some(value))).collect()
        };
        let mut object = self.json();
        if let Some(findings) = object["findings"].as_array_mut() {
            for (object, finding) in findings.iter_mut().zip(self.findings()) {
                object["node_index"] = json!(finding.node);
            }
        }
        object["inputs"] = listed(&outline.inputs).into();
        object["nodes"] = outline.nodes.iter().map(|node| self.node_json(node)).collect();
        object["outputs"] = listed(&outline.outputs).into();
        object.to_string()
    }

    fn node_json(&self, node: &OutlineNode) -> Value {
        let outline = self.outline();
        let all = |values: &[Option<ValueIndex>]| -> Vec<Value> {
            values.iter().map(|&value| typed(outline, value)).collect()
        };
        let conditions = node.conditions.iter().map(|condition| condition.shown());
        let problems = node.problems.iter().map(ToString::to_string);
        json!({
            "label": outline.label(node),
            "operator": printable(&node.operator),
            "region": printable(&node.region),
            "place": self.place_of(node),
            "is_opaque": node.is_opaque,
            "is_illegal": node.is_illegal(),
            "operands": all(&node.operands),
            "results": all(&node.results),
            "broadcasts": node.broadcasts.iter().map(broadcast_json).collect::<Vec<_>>(),
            "conditions": conditions.collect::<Vec<_>>(),
            "problems": problems.collect::<Vec<_>>(),
        })
    }
}

/// A value with its name and type; `null` for a missing one.
fn typed(outline: &Outline, value: Option<ValueIndex>) -> Value {
    let Some(value) = value.map(|value| outline.value(value)) else { return Value::Null };
    json!({ "name": printable(&value.name), "type": value.value_type.to_string() })
}

fn broadcast_json(broadcast: &OutlineBroadcast) -> Value {
    let (verdict, conditions, drawing) = match &broadcast.verdict {
        Verdict::Legal(_) => ("legal", Vec::new(), None),
        Verdict::LegalIf(_, conditions) => {
            ("legal-if", conditions.iter().map(|it| it.shown()).collect(), None)
        }
        Verdict::Illegal(diagnostic) => ("illegal", Vec::new(), Some(diagnostic.to_string())),
        Verdict::Unknown => ("unknown", Vec::new(), None),
    };
    let form = broadcast.form();
    let maps = form.map(|form| form.maps.iter().map(|map| map.to_vec()).collect::<Vec<_>>());
    let result = form.map(|form| form.result.iter().map(ToString::to_string).collect::<Vec<_>>());
    json!({
        "rule": broadcast.rule.to_string(),
        "verdict": verdict,
        "conditions": conditions,
        "result": result,
        "axes": maps,
        "drawing": drawing,
    })
}
