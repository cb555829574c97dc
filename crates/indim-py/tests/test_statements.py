"""Texts of several statements, and of several results."""

import numpy as np
import pytest

import indim

# The texts refer to names around them.
x = np.array([[1.0, 2.0, 4.0], [3.0, 6.0, 8.0]])
RANGE = "low, high = min(x, axis=0), max(x, axis=0); (x - low) / (high - low)"


def test_one_result_is_an_array_and_several_are_a_tuple():
    low, high = x.min(axis=0), x.max(axis=0)
    assert np.array_equal(indim.evaluate(RANGE), (x - low) / (high - low))
    several = indim.evaluate("low = min(x, axis=0)\nlow, max(x, axis=0), 2")
    assert type(several) is tuple
    assert [part.tolist() for part in several] == [low.tolist(), high.tolist(), 2]
    assert indim.evaluate("m = mean(x)").shape == ()


def test_results_are_asked_for_by_name():
    assert indim.evaluate(RANGE, results="high").tolist() == [3.0, 6.0, 8.0]
    named = indim.evaluate(RANGE, results=["high", "low"])
    assert list(named) == ["high", "low"]
    assert named["low"].tolist() == [1.0, 2.0, 4.0]
    assert list(indim.evaluate(RANGE, results=("low",))) == ["low"]
    with pytest.raises(indim.ExprError, match="did you mean `high`") as info:
        indim.evaluate(RANGE, results="hihg")
    assert info.value.code == "unknown-result"
    with pytest.raises(TypeError, match="`results` is the name"):
        indim.evaluate(RANGE, results=3)


def test_assigned_names_are_not_looked_up():
    m = np.array([np.nan])
    assert indim.evaluate("m = mean(x); x - m").tolist() == (x - x.mean()).tolist()
    assert np.isnan(m[0])
    with pytest.raises(TypeError, match="`m` is assigned in the expression"):
        indim.evaluate("m = mean(x); x - m", m=m)
    with pytest.raises(indim.ExprError, match="assigned-input"):
        indim.evaluate("x = x + 1")


def test_out_has_the_form_of_the_results():
    low, high = np.empty(3), np.empty(3, np.float32)
    out = (low, high)
    text = "min(x, axis=0), max(x, axis=0)"
    assert indim.evaluate(text, out=out) is out
    assert (low.tolist(), high.tolist()) == ([1.0, 2.0, 4.0], [3.0, 6.0, 8.0])
    first, second = indim.evaluate(text, out=(None, high))
    assert second is high and first.tolist() == low.tolist()
    named = {"low": low}
    assert indim.evaluate(RANGE, results=("low",), out=named) is named
    with pytest.raises(ValueError, match="`out` has 1 arrays for 2 results"):
        indim.evaluate(text, out=(low,))
    with pytest.raises(TypeError):
        indim.evaluate(text, out=3)


def test_what_was_evaluated_is_evaluated_again_in_its_form():
    out = (np.empty(3), np.empty(3))
    text = "min(x, axis=0), max(x, axis=0)"
    indim.evaluate(text, out=out)
    out[0][:] = 0
    again = indim.re_evaluate()
    assert again[0] is out[0] and out[0].tolist() == [1.0, 2.0, 4.0]
    assert indim.validate(RANGE, results=("low", "high")) is None
    assert set(indim.re_evaluate()) == {"low", "high"}
    assert indim.validate(text, out=out) is None
    assert indim.re_evaluate()[1] is out[1]


def test_the_same_text_with_other_results_is_another_program():
    for _ in range(2):
        assert indim.evaluate("a = x + 1; b = x + 2", results="a")[0, 0] == 2.0
        assert indim.evaluate("a = x + 1; b = x + 2")[0, 0] == 3.0
        assert list(indim.evaluate("a = x + 1; b = x + 2", results=("a",))) == ["a"]
    for name in range(200):
        text = f"a{name} = x + {name}; x"
        assert indim.evaluate(text, results=f"a{name}")[0, 0] == 1.0 + name


def test_errors_show_the_line():
    with pytest.raises(indim.ShapeError) as info:
        indim.evaluate("m = mean(x, axis=1)\nx - m")
    assert "cannot broadcast `m` onto `x`" in str(info.value)
    assert " 2 | x - m\n" in str(info.value)
    assert info.value.text[slice(*info.value.span)] == "-"


def test_explanations_and_compiled_expressions():
    explained = indim.explain(RANGE, x="f64[2, 3]")
    assert explained.json["outputs"] == [{"dtype": "f64", "shape": [2, 3]}]
    assert len(indim.explain("min(x), max(x)", x=x).json["outputs"]) == 2
    compiled = indim.numexpr.NumExpr("m = a * 2; m + b")
    assert compiled.input_names == ("a", "b")
    assert compiled(np.array([1.0]), np.array([3.0])).tolist() == [5.0]


def test_what_is_shared_is_computed_once_and_what_is_not_used_never():
    x = np.ones((100, 100))
    text = "d = x - mean(x, axis=0); e = exp(x) * 2; sum(d * d), sum(d)"
    programs = " ".join(indim.explain(text, x=x).json["programs"])
    assert "exp" not in programs
    assert 1 <= programs.count("sub") <= 2
