"""Findings about the broadcasts of models."""

import json
import pickle

import numpy as np
import pytest

import indim

#: A bias on an unstated axis, behind an operation that indim does not compute.
BIAS = b"""
func.func @main(%x: tensor<4x16xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.mine %x : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.add %0, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
"""

#: A column and a row: the note that every operand expands.
OUTER = b"""
func.func @main(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
"""


def test_a_finding_has_its_code_node_place_and_operands():
    report = indim.lint(BIAS)
    (finding,) = report
    assert (finding.code, finding.verdict, finding.level) == ("shapes-differ", "illegal", "error")
    assert (finding.node, finding.operator, finding.results) == ("1", "stablehlo.add", ("1",))
    assert finding.operands == (("0", "f32[4, 8]"), ("b", "f32[8]"))
    assert finding.operands[1].type == "f32[8]"
    assert (finding.line, finding.column) == (4, 8)
    assert finding.place.startswith("<bytes>:4:8")
    assert finding.message in str(report) and "f32[4, 8]" in finding.drawing
    assert not report.passes()
    assert report.broadcasts == {"legal": 0, "illegal": 1, "legal_if": 0, "unknown": 0}
    assert "opaque 0 (stablehlo.mine)" in report.outline
    assert pickle.loads(pickle.dumps(report)).findings == report.findings


def test_codes_are_allowed_and_levels_are_told_apart():
    report = indim.lint(OUTER)
    assert [(finding.code, finding.level) for finding in report] == [("outer-product", "note")]
    assert report.passes() and report.passes(strict=True)
    assert len(indim.lint(OUTER, allow=["outer-product"])) == 0
    with pytest.raises(ValueError, match="no error has the code `outer-products`"):
        indim.lint(OUTER, allow=["outer-products"])
    with pytest.raises(TypeError, match="allow is a list of codes"):
        indim.lint(OUTER, allow="outer-product")


def test_a_path_its_content_and_a_loaded_model_give_the_same_findings(tmp_path):
    path = tmp_path / "outer.mlir"
    path.write_bytes(OUTER)
    model = indim.load(path)
    assert model(np.ones(4, np.float32), np.ones(8, np.float32)).shape == (4, 8)
    texts = {str(indim.lint(path)), str(indim.lint(model)), str(model.lint())}
    assert len(texts) == 1 and str(path) in texts.pop()
    assert len(model.lint(allow=["outer-product"])) == 0
    with pytest.raises(FileNotFoundError):
        indim.lint(tmp_path / "nothing.mlir")
    with pytest.raises(indim.FormatError):
        indim.lint(b"nothing of this kind")


def test_types_are_declared_for_values_that_the_file_leaves_open():
    network = b"""<?xml version="1.0"?>
<net name="n" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="f32" shape="4,8"/>
<output><port id="0" precision="FP32"><dim>4</dim><dim>8</dim></port></output></layer>
<layer id="1" name="foreign" type="Foreign" version="mine">
<input><port id="0"><dim>4</dim><dim>8</dim></port></input>
<output><port id="1" precision="FP32"><dim>-1</dim></port></output></layer>
<layer id="2" name="sum" type="Add" version="opset1"><data auto_broadcast="numpy"/>
<input><port id="0"><dim>4</dim><dim>8</dim></port><port id="1"><dim>-1</dim></port></input>
<output><port id="2" precision="FP32"><dim>4</dim><dim>8</dim></port></output></layer>
<layer id="3" name="r" type="Result" version="opset1">
<input><port id="0"><dim>4</dim><dim>8</dim></port></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
</edges></net>"""
    assert [finding.code for finding in indim.lint(network)] == ["sizes-may-differ"]
    assert len(indim.lint(network, declare={"foreign": "f32[8]"})) == 0
    illegal = indim.lint(network, declare={"foreign": "f32[4]"})
    assert [finding.code for finding in illegal] == ["size-mismatch"]
    with pytest.raises(ValueError, match="a declared type is one such as"):
        indim.lint(network, declare={"foreign": "f32"})


def test_the_sarif_log_has_a_rule_for_each_result():
    (run,) = json.loads(indim.lint(BIAS).sarif)["runs"]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "shapes-differ"
