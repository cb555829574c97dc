"""The drop-in for numexpr: the examples of its documentation, its functions, its habits."""

import gc
import importlib.metadata
import importlib.util
import weakref
from pathlib import Path

import numpy as np
import pytest

import indim
import indim.numexpr as ne
from indim import numexpr_tests
from indim.numexpr import E

# Examples of numexpr's readme and user guide.


def test_the_examples_of_the_readme():
    a, b = np.arange(1e6), np.arange(1e6) + 1
    np.testing.assert_array_equal(ne.evaluate("a + 1"), a + 1)
    np.testing.assert_array_equal(ne.evaluate("a * b - 4.1 * a > 2.5 * b"), a * b - 4.1 * a > 2.5 * b)
    np.testing.assert_allclose(
        ne.evaluate("sin(a) + arcsinh(a/b)"), np.sin(a) + np.arcsinh(a / b), rtol=1e-15, atol=1e-15
    )


def test_the_examples_of_the_user_guide():
    a, b = np.arange(10), np.arange(0, 20, 2)
    np.testing.assert_array_equal(ne.evaluate("2*a + 3*b"), 2 * a + 3 * b)
    x = np.linspace(-1, 1, 1000)
    expected = ((0.25 * x + 0.75) * x - 1.5) * x - 2
    np.testing.assert_array_equal(ne.evaluate("((.25*x + .75)*x - 1.5)*x - 2"), expected)
    np.testing.assert_allclose(ne.evaluate(".25*x**3 + .75*x**2 - 1.5*x - 2"), expected, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(ne.evaluate("where(a > 4, b, a*0)"), np.where(a > 4, b, 0))
    np.testing.assert_array_equal(ne.evaluate("3*x*y", local_dict={"x": a, "y": b}), 3 * a * b)
    np.testing.assert_array_equal(ne.evaluate("(a < 5) & ~(b > 4) | (a == 9)"), (a < 5) & ~(b > 4) | (a == 9))
    out = np.empty(10, np.int16)
    ne.evaluate("a * 2", out=out, casting="unsafe")
    assert ne.re_evaluate() is out and out[9] == 18


def test_setting_up_threads_as_the_guide_does():
    before = ne.set_num_threads(max(1, ne.detect_number_of_cores() // 2))
    assert 1 <= ne.get_num_threads() <= ne.MAX_THREADS
    assert ne.set_num_threads(before) == ne.detect_number_of_cores() // 2 or ne.detect_number_of_cores() == 1
    assert ne.detect_number_of_threads() == before
    assert not ne.use_vml and ne.get_vml_version() is None
    assert ne.set_vml_accuracy_mode("high") is None and ne.set_vml_num_threads(1) is None


# The language.

REAL = {
    "copy": lambda x: x,
    "ones_like": np.ones_like,
    **{
        name: getattr(np, name)
        for name in "sqrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh log log1p log10 "
        "log2 exp expm1 abs ceil floor round trunc sign real imag conj isnan isfinite isinf signbit".split()
    },
}

COMPLEX = (
    "copy ones_like sqrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh log log1p "
    "log10 log2 exp expm1 abs round real imag conj isnan isfinite isinf".split()
)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_every_function_of_one_operand(name, dtype):
    x = np.array([0.05, -0.95, 0.5, -0.0, 0.9] if dtype != "i4" else [0, 0, 1, 0, 1], dtype)
    with np.errstate(all="ignore"):
        expected = np.asarray(REAL[name](x))
    if name == "sign":
        expected = np.where(x == 0, x, expected)  # The sign of -0.0 is -0.0.
    result = ne.evaluate(f"{name}(x)")
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=3e-7 if dtype == "f4" else 1e-15)


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("dtype", ["c16", "c8"])
def test_every_function_of_a_complex_operand(name, dtype):
    z = np.array([0.3 + 0.4j, -1.5 + 2.5j, 2 - 0.5j, -0.25 - 0.75j], dtype)
    expected = z if name == "copy" else getattr(np, name)(z)
    result = ne.evaluate(f"{name}(z)")
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=1e-6 if dtype == "c8" else 1e-14)


@pytest.mark.parametrize("name", "fmod arctan2 hypot nextafter copysign maximum minimum".split())
@pytest.mark.parametrize("other", ["y", "2"])
def test_every_function_of_two_operands(name, other):
    x, y = np.array([0.5, -3.25, 7, np.inf]), np.array([2.0, 0.75, -0.25, 3])
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x, y if other == "y" else 2)
    np.testing.assert_allclose(ne.evaluate(f"{name}(x, {other})"), expected, rtol=1e-15)


@pytest.mark.parametrize("operator", "+ - * / // % ** < <= == != > >= & | ^ << >>".split())
@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_every_operator_of_whole_numbers(operator, dtype):
    x, y = np.array([7, -7, 0, 100], dtype), np.array([2, 3, 5, 7], dtype)
    expected = eval(f"x {operator} y")
    result = ne.evaluate(f"x {operator} y")
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


def test_complex_numbers():
    a, b = np.array([1.0, -2.5]), np.array([0.5, 3.0])
    np.testing.assert_array_equal(ne.evaluate("complex(a, b)"), a + 1j * b)
    np.testing.assert_array_equal(ne.evaluate("a + 1.5j*b"), a + 1.5j * b)
    z = a + 1j * b
    np.testing.assert_array_equal(ne.evaluate("(z*2).real + z.imag"), 2 * a + b)
    assert ne.evaluate("1.2e3 + 4.5e6j")[()] == 1.2e3 + 4.5e6j


@pytest.mark.parametrize(
    "text", ["median(a)", "sum(a, axis=1)", "contains(a, a)", "a == 'x'", "a and a"]
)
def test_texts_beyond_arithmetic_of_arrays_are_errors(text):
    with pytest.raises(ValueError):
        ne.evaluate(text, {"a": np.ones(3)})


# Habits.


def wrapped(text, **arguments):
    return ne.evaluate(text, _frame_depth=4, **arguments)


def test_a_wrapper_can_evaluate_in_its_callers_frame():
    inside = np.array([1.0, 2.0])
    np.testing.assert_array_equal(wrapped("inside * 3"), inside * 3)
    with pytest.raises(KeyError):
        ne.evaluate("inside * 3", global_dict={}, _frame_depth=4)
    assert (lambda: ne.validate("inside * 2", _frame_depth=3))() is None
    np.testing.assert_array_equal((lambda: ne.re_evaluate(_frame_depth=3))(), inside * 2)
    with pytest.raises(ValueError, match="deep"):
        ne.evaluate("inside", _frame_depth=10_000)


def test_no_array_is_kept_alive():
    def work(keyword):
        a, out = np.ones(1000), np.empty(1000)
        kept = [weakref.ref(a), weakref.ref(out)]
        if keyword:
            ne.evaluate("x + 1", out=out, x=a)
        else:
            ne.evaluate("a + 1", out=out)
        del a, out
        # The call read the names of this frame and keeps none of them.
        gc.collect()
        return [reference() is None for reference in kept]

    assert work(False) == [True, True]
    assert work(True) == [True, True]
    x = np.ones(1000)
    # Its `out` is freed, so the result is a new array.
    np.testing.assert_array_equal(ne.re_evaluate(), x + 1)


def test_the_names_of_the_caller_stay_as_they_are():
    a = np.array([1.0])
    mine = locals()
    ne.evaluate("a + 1")
    assert mine["a"] is a and "a" in locals()

    class Body:
        b = np.array([1.0, 2.0])
        c = ne.evaluate("b + a", {"b": b, "a": 1.0})
        d = ne.evaluate("b * 2")

    assert Body.b[1] == 2.0 and Body.d[1] == 4.0
    namespace = {"ne": ne, "np": np}
    exec("x = np.ones(2)\ny = ne.evaluate('x + 1')\nz = x + y", namespace)
    assert namespace["z"].tolist() == [3.0, 3.0]
    local = {}
    exec("x = np.ones(2)\ny = ne.evaluate('x + 1')\nz = x + y", {"ne": ne, "np": np}, local)
    assert local["z"].tolist() == [3.0, 3.0]


def test_arguments_of_numexpr_without_effect_are_accepted():
    a = np.array([1.0])
    assert (
        ne.evaluate("a + 1", optimization="aggressive", truediv="auto", sanitize=True, disable_cache=True)[0]
        == 2.0
    )


@pytest.mark.parametrize("order", "CFAK")
def test_orders(order):
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    expected = np.add(x, 1, order=order)
    result = ne.evaluate("x + 1", order=order)
    assert (result.flags.c_contiguous, result.flags.f_contiguous) == (
        expected.flags.c_contiguous,
        expected.flags.f_contiguous,
    )
    assert ne.validate("x + 1", order="Z") is not None


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize("target", ["f8", "f4", "i4", "c16"])
def test_casts_are_allowed_as_by_numpy(casting, target):
    x, out = np.array([1.5, -2.5]), np.empty(2, target)
    if np.can_cast(x.dtype, target, casting):
        ne.evaluate("x + 0", out=out, casting=casting)
        np.testing.assert_array_equal(out, x.astype(target))
    else:
        with pytest.raises(TypeError, match=f"from float64 to {out.dtype} of `out` with casting='{casting}'"):
            ne.evaluate("x + 0", out=out, casting=casting)


def test_a_wrong_casting_is_refused_whether_or_not_it_matters():
    with pytest.raises(ValueError, match="same_kind"):
        ne.evaluate("1 + 1", casting="perhaps")
    with pytest.raises(ValueError, match="same_kind"):
        indim.jit(lambda x: x)(np.ones(2), casting="perhaps")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (E.a + 2 * E.b, "(a + (2 * b))"),
        (2 - E.a, "(2 - a)"),
        (-(E.a**-2), "(-(a ** (-2)))"),
        ((E.a < 1) & ~(E.b >= E.a), "((a < 1) & (~(b >= a)))"),
        (abs(E.a).real / E.b.imag, "(real(abs(a)) / imag(b))"),
        (1 << E.a % 3, "(1 << (a % 3))"),
        (
            ne.expressions.functions["where"](E.m, E.a, np.float32(0.1)),
            "where(m, a, f32(0.10000000149011612))",
        ),
        (E.a * 2j, "(a * 2.0j)"),
        (E.a * (1 - 2j), "(a * (1.0 - 2.0j))"),
        (E.a + np.float64("nan"), "(a + f64((1e999 - 1e999)))"),
    ],
)
def test_expressions_made_by_operators(expression, text):
    assert repr(expression) == text
    assert ne.NumExpr(expression).input_names == tuple(sorted(expression.names))


@pytest.mark.parametrize("real", [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("imag", [0.0, -0.0, 0.1, -1e300, np.inf, -np.inf, np.nan])
def test_complex_constants_have_their_bits_and_are_weak(real, imag):
    value = complex(real, imag)
    result = ne.NumExpr(ne.expressions.ConstantNode(value))()
    assert (repr(result.real.item()), repr(result.imag.item())) == (repr(value.real), repr(value.imag))


def test_complex_numbers_of_texts_and_operators_are_weak():
    x = np.ones(3, np.float32)
    for expression in ("x * 2j", E.x * 2j, E.x * (1 - 2j)):
        assert ne.NumExpr(expression, [("x", np.float32)])(x).dtype == np.complex64


def test_expressions_have_no_truth_value():
    with pytest.raises(TypeError, match="write &"):
        E.a and E.b
    with pytest.raises(TypeError, match="neither a number nor an expression"):
        E.a + "text"


def test_compiled_expressions_are_functions():
    a, b = np.arange(3), np.array([0.5, 1.5, 2.5])
    f = ne.NumExpr("2*a - b")
    assert f.input_names == ("a", "b")
    np.testing.assert_array_equal(f(a, b), 2 * a - b)
    swapped = ne.NumExpr("2*a - b", [("b", np.float64), ("a", np.int64)], optimization="none")
    result = swapped.run(b, a, out=b)
    assert result is b
    np.testing.assert_array_equal(b, 2 * a - [0.5, 1.5, 2.5])
    single = ne.NumExpr(E.x / 3, [("x", float)])
    assert single(np.float32([1, 2])).dtype == np.float32
    assert ne.NumExpr("1 + 1")().item() == 2
    assert ne.NumExpr("2*pi*a").input_names == ("a",)
    for variable in (ne.NumExpr("pi*a", [("pi", np.float64), ("a", np.float64)]), ne.NumExpr(E.pi * E.a)):
        np.testing.assert_array_equal(variable(b, b), b * b)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ne.NumExpr("a + ")(1), indim.ExprError, "unexpected"),
        (lambda: ne.NumExpr("a + b")(1), ValueError, "takes 2 arrays"),
        (
            lambda: ne.NumExpr("a", [("b", float)]),
            ValueError,
            r"the signature has \['b'\], the expression \['a'\]",
        ),
        (lambda: ne.NumExpr("a", [("a", float)])(np.ones(2)), TypeError, "float64 to float32"),
        (lambda: ne.NumExpr("a", optimization="much"), ValueError, "optimization"),
        (lambda: ne.NumExpr("a", speed=1), ValueError, "speed"),
        (
            lambda: ne.disassemble(ne.NumExpr("a*2")),
            NotImplementedError,
            r"indim.explain\('a\*2', a=\"f64\[1000\]\"\)",
        ),
    ],
)
def test_mistakes_with_compiled_expressions(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_modules_of_numexpr():
    assert ne.utils.detect_number_of_cores() == ne.detect_number_of_cores()
    assert ne.utils.get_num_threads() == ne.get_num_threads()
    assert ne.necompiler.getExprNames("b * sin(a)", {}) == (["a", "b"], False)
    assert ne.expressions.ConstantNode(np.float32(1)).astKind == "float"


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("axis", ["1", "0", "-0", "0 + 1", "True", "+1", "(1)"])
def test_an_axis_of_numexpr_is_not_taken_for_an_operand(name, axis):
    a = np.array([[1.0, 5, 3], [4, 2, 9]])
    text = f"{name}(a, {axis})"
    for call in (ne.evaluate, ne.NumExpr, lambda text: indim.explain(text, a=a)):
        message = "has two meanings: numexpr and NumPy reduce along"
        with pytest.raises(indim.ExprError, match=message) as raised:
            call(text)
        assert raised.value.code == "axis-or-operand"
    assert type(ne.validate(text)).__name__ == "ExprError"
    numexpr = pytest.importorskip("numexpr")
    np.testing.assert_array_equal(numexpr.evaluate(text), getattr(a, name)(axis=int(eval(axis))))


def test_the_advice_for_an_axis_or_an_operand_works():
    a = np.array([[1, 5, 3], [4, 2, 9]])
    np.testing.assert_array_equal(ne.evaluate("max(a, axis=1)"), a.max(axis=1))
    np.testing.assert_array_equal(ne.evaluate("maximum(a, 3)"), np.maximum(a, 3))
    np.testing.assert_array_equal(ne.evaluate("min(a, axis=0) + minimum(a, 1)"), a.min(0) + np.minimum(a, 1))
    # numexpr refuses these, so no program gives them another meaning.
    for text, expected in (
        ("max(a, a * 2)", a * 2),
        ("max(a, 2.5)", np.maximum(a, 2.5)),
        ("max(a, -1)", a),
        ("max(3, a)", np.maximum(a, 3)),
    ):
        np.testing.assert_array_equal(ne.evaluate(text), expected)
    np.testing.assert_array_equal(ne.evaluate("max(a, 3)", rule="xla"), np.maximum(a, 3))
    np.testing.assert_array_equal(ne.evaluate("sum(a, 1) + prod(a, 1)"), a.sum(1) + a.prod(1))


# numexpr's own tests.


def test_the_tests_of_numexpr_pass_but_for_known_differences():
    if importlib.util.find_spec("numexpr") is None:
        pytest.skip("numexpr is not installed")
    # The optimisation has no effect here, so one of its values suffices.
    outcome, printed = numexpr_tests.run(["-k", "not moderate and not aggressive"])
    assert outcome.count(is_repeated=False) >= 100 and outcome.count(is_repeated=True) > 1900, printed
    assert None not in outcome.failures(), f"{outcome}\n{printed}"
    # Every reason occurs, so the page is current, and the tests ran on indim.
    assert set(outcome.failures()) == set(numexpr_tests.REASONS), outcome
    if not importlib.metadata.version("numexpr").startswith("2.14."):
        return
    counts = outcome.count(is_repeated=False, has_failed=True), outcome.count(is_repeated=False)
    page = (Path(__file__).parents[3] / "docs" / "python.md").read_text()
    assert "{} of the other {} tests fail".format(*counts) in " ".join(page.split()), (
        outcome
    )
