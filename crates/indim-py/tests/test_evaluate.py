"""``evaluate``, ``re_evaluate`` and ``validate``: numexpr's interface with NumPy 2's types."""

import gc
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import indim
import indim as ne

OUTSIDE = np.array([10.0, 20.0, 30.0])


def test_names_come_from_the_frame_of_the_caller():
    x = np.array([1.0, 2.0, 3.0])
    assert indim.evaluate("x + OUTSIDE").tolist() == [11.0, 22.0, 33.0]


def test_local_names_hide_global_ones():
    OUTSIDE = np.array([1.0])
    assert indim.evaluate("OUTSIDE * 2").tolist() == [2.0]


def test_dictionaries_replace_the_frame():
    x = np.array([1.0])
    assert indim.evaluate("x + y", {"x": 2.0, "y": np.array([3.0])}).tolist() == [5.0]
    assert indim.evaluate("x", {}, {"x": np.array([7.0])}).tolist() == [7.0]
    with pytest.raises(KeyError):
        indim.evaluate("x", {}, {})
    assert x[0] == 1.0


def test_a_class_body_is_a_namespace_too():
    class Body:
        inside = np.array([1.0, 2.0])
        doubled = indim.evaluate("inside * 2")

    assert Body.doubled.tolist() == [2.0, 4.0]


def test_keywords_are_names():
    assert indim.evaluate("a * k", a=np.array([1, 2, 3]), k=2).tolist() == [2, 4, 6]
    with pytest.raises(TypeError, match="`b` is neither a name"):
        indim.evaluate("a + 1", a=np.array([1]), b=2)


def test_python_numbers_are_weak_and_numpy_scalars_are_not():
    a = np.array([1, 2], np.float32)
    assert indim.evaluate("a * k", k=0.5).dtype == np.float32
    assert indim.evaluate("a * k", k=np.float64(0.5)).dtype == np.float64
    u = np.array([250], np.uint8)
    assert indim.evaluate("u + 10").tolist() == [4]
    with pytest.raises(indim.ExprError) as info:
        indim.evaluate("u + k", k=300)
    assert info.value.code == "literal-out-of-range"


def test_numbers_of_equal_value_and_other_kind_are_told_apart():
    a = np.array([3, 4], np.int32)
    assert indim.evaluate("a * k", k=1).dtype == np.int32
    assert indim.evaluate("a * k", k=1.0).dtype == np.float64
    assert indim.evaluate("a * k", k=True).dtype == np.int32
    x = np.array([1.0])
    assert np.signbit(indim.evaluate("x * k", k=-0.0))[0]
    assert not np.signbit(indim.evaluate("x * k", k=0.0))[0]
    assert np.isnan(indim.evaluate("x * k", k=float("nan")))[0]


def test_lists_and_scalars_are_operands():
    assert indim.evaluate("a + b", a=[1, 2, 3], b=np.int64(1)).tolist() == [2, 3, 4]
    result = indim.evaluate("a + 1", a=2)
    assert result.shape == () and result == 3


def test_out_is_written_and_returned():
    a = np.arange(6.0).reshape(2, 3)
    out = np.empty((2, 3))
    assert indim.evaluate("a * 2", out=out) is out
    np.testing.assert_array_equal(out, a * 2)


def test_out_of_another_type_is_cast_as_numpy_casts():
    a = np.array([1.5, -2.5])
    out = np.empty(2, np.float32)
    indim.evaluate("a * 2", out=out)
    assert out.tolist() == [3.0, -5.0]
    whole = np.empty(2, np.int32)
    with pytest.raises(TypeError, match="same_kind"):
        indim.evaluate("a * 2", out=whole)
    indim.evaluate("a * 2", out=whole, casting="unsafe")
    assert whole.tolist() == [3, -5]
    with pytest.raises(TypeError):
        indim.evaluate("a * 2", out=out, casting="safe")


def test_a_result_is_broadcast_to_a_larger_out():
    a = np.array([1.0, 2.0])
    out = np.empty((3, 2))
    indim.evaluate("a + 1", out=out)
    assert out.tolist() == [[2.0, 3.0]] * 3
    with pytest.raises(indim.ShapeError, match=r"`out` cannot broadcast `the result` to \[3\]"):
        indim.evaluate("a + 1", out=np.empty(3))


def test_an_output_may_overlap_inputs():
    a = np.arange(10.0)
    expected = a[:-1] + a[1:]
    indim.evaluate("x + y", x=a[:-1], y=a[1:], out=a[1:])
    np.testing.assert_array_equal(a[1:], expected)
    b = np.arange(6.0).reshape(2, 3)
    indim.evaluate("b + 1", out=b)
    np.testing.assert_array_equal(b, np.arange(6.0).reshape(2, 3) + 1)
    c = np.arange(4.0)
    indim.evaluate("c * 2", out=c[::-1])
    assert c.tolist() == [6.0, 4.0, 2.0, 0.0]


@pytest.mark.parametrize("size", [5, 3_000_000])
def test_outputs_that_cannot_be_written_are_refused(size):
    a = np.zeros(size)
    out = np.zeros(size)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        indim.evaluate("a + 1", out=out)
    with pytest.raises(TypeError, match="not a NumPy array"):
        indim.evaluate("a + 1", out=[0.0] * 5)
    with pytest.raises(ValueError, match="share memory"):
        indim.evaluate("a + 1", out=np.lib.stride_tricks.as_strided(np.zeros(1), (size,), (0,)))


def test_re_evaluate_uses_the_values_of_now():
    a = np.array([1.0])
    indim.evaluate("a + 1")
    a = np.array([5.0])
    assert indim.re_evaluate().tolist() == [6.0]
    assert indim.re_evaluate({"a": np.array([[1, 2]])}).tolist() == [[2, 3]]


def test_re_evaluate_writes_to_the_same_out():
    a = np.array([1.0])
    out = np.empty(1)
    indim.evaluate("a + 1", out=out)
    a = np.array([8.0])
    assert indim.re_evaluate() is out
    assert out[0] == 9.0 and a[0] == 8.0


def test_validate_returns_what_evaluate_would_raise():
    a = np.zeros((2, 3))
    b = np.zeros(4)
    assert isinstance(indim.validate("a + b"), indim.ShapeError)
    assert isinstance(indim.validate("a +"), indim.ExprError)
    assert isinstance(indim.validate("a + nothing_such"), KeyError)
    assert indim.validate("a + 1") is None
    assert indim.re_evaluate().shape == (2, 3)
    assert b.shape == (4,)


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        ("numpy", "x + v", (2, 3)),
        ("as-written", "x + v", (2, 3)),
        ("as-written", "add(x, w, dims=[0])", (2, 3)),
        ("as-written", "add(x, w, axis=0)", (2, 3)),
        ("numpy", "add(x, w, dims=[0])", "foreign-attribute"),
        ("numpy", "add(x, w, axis=0)", "foreign-attribute"),
        ("xla", "add(x, v, dims=[1])", (2, 3)),
        ("pdpd", "add(x, w, axis=0)", (2, 3)),
        ("none", "x + x", (2, 3)),
        ("stablehlo", "x + x", (2, 3)),
        ("xla", "x + v", "rank-mismatch-without-dims"),
        ("none", "x + v", "shapes-differ"),
        ("pdpd", "v + x", "rank-too-large"),
    ],
)
def test_the_rule_is_the_one_asked_for(rule, text, expected):
    x, v, w = np.zeros((2, 3)), np.zeros(3), np.zeros(2)
    names = {name: value for name, value in {"x": x, "v": v, "w": w}.items() if name in text}
    if isinstance(expected, tuple):
        assert indim.evaluate(text, names, rule=rule).shape == expected
    else:
        with pytest.raises((indim.ShapeError, indim.ExprError)) as info:
            indim.evaluate(text, names, rule=rule)
        assert info.value.code == expected


def test_an_unknown_rule_order_or_casting_is_refused():
    a = np.zeros(2)
    with pytest.raises(ValueError, match="rule"):
        indim.evaluate("a", rule="broadcast-somehow")
    with pytest.raises(ValueError, match="not-elementwise"):
        indim.evaluate("a", rule="bidirectional")
    with pytest.raises(ValueError, match="order"):
        indim.evaluate("a", order="Z")
    with pytest.raises(ValueError):
        indim.evaluate("a", out=np.zeros(2, np.float32), casting="maybe")


def test_the_cache_is_bounded_and_right_at_every_size():
    for n in range(1, 200):
        a = np.arange(float(n))
        assert indim.evaluate("a * 2").sum() == n * (n - 1)
    for k in range(1200):
        assert indim.evaluate(f"a + {k}", {"a": np.array([1])})[0] == k + 1


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ever_new_long_texts_do_not_fill_the_memory():
    program = """
        import resource
        import numpy as np
        import indim
        x = np.ones(4)
        # Each text compiles to some 9 MiB.
        for k in range(40):
            indim.evaluate("+".join(f"sin(x*{i}.{k})" for i in range(4000)), {"x": x}, {})
        pages = int(open("/proc/self/statm").read().split()[1])
        print(pages * resource.getpagesize() >> 20)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert int(ran.stdout) < 250, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "text", ["__import__('os')", "a.__class__", "a[b := 0]", "lambda: 0", "a if a else a", "'x'", ""]
)
def test_nothing_of_python_is_evaluated(text):
    with pytest.raises(indim.ExprError):
        indim.evaluate(text, {"a": np.zeros(2)})


def test_hostile_texts_meet_a_limit():
    for text in ["(" * 100_000, "-" * 100_000 + "1", "a" * (2 << 20), "+".join(["1"] * 400_000)]:
        with pytest.raises(indim.IndimError):
            indim.evaluate(text, {})


@pytest.mark.parametrize(
    "function",
    "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh log log10 log1p log2 exp expm1 sqrt "
    "abs floor "
    "ceil trunc round sign isnan isinf isfinite".split(),
)
def test_the_functions_of_numexpr(function):
    x = np.linspace(0.05, 0.95, 13)
    np.testing.assert_allclose(indim.evaluate(f"{function}(x)"), getattr(np, function)(x), rtol=1e-15)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_a_power_of_one_half_is_that_of_c(dtype):
    # NumPy computes a square root for the number 0.5, and a power for an array of halves.
    z = np.array([-np.inf, -0.0, 4.0, -1.0, np.inf], dtype)
    halves = np.full_like(z, 0.5)
    with np.errstate(invalid="ignore"):
        as_root, as_power = z**0.5, z**halves
    assert np.isnan(as_root[0]) and np.signbit(as_root[1])
    assert as_power[0] == np.inf and not np.signbit(as_power[1])
    for result in (
        ne.evaluate("z ** 0.5"),
        ne.evaluate("z ** halves"),
        ne.jit(lambda z: z**0.5)(z),
        ne.jit(lambda z, k: z**k)(z, 0.5),
        ne.power(z, 0.5),
    ):
        np.testing.assert_array_equal(result, as_power)
        assert not np.signbit(result[1])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(ne.sqrt(z), np.sqrt(z))


@pytest.mark.parametrize("function", "arctan2 fmod minimum maximum hypot copysign power".split())
def test_the_functions_of_numexpr_of_two_operands(function):
    x, y = np.linspace(0.05, 3, 13), np.linspace(2, 0.1, 13)
    np.testing.assert_allclose(indim.evaluate(f"{function}(x, y)"), getattr(np, function)(x, y), rtol=1e-15)


def test_programs_hold_a_bounded_amount_of_memory():
    from indim._indim import _held_bytes

    # Functions of earlier tests hold their programs until their cycles are collected.
    gc.collect()
    x, bound = np.array([1.0, 2.0, 3.0]), 64 << 20
    f = indim.jit(lambda x: x * 2)
    f(x)
    before, held = _held_bytes(), []
    for k in range(16):
        result = indim.evaluate("sin(x) * 2 + " * 6000 + f"{k} * x")
        np.testing.assert_allclose(result, 12000 * np.sin(x) + k * x, rtol=1e-10)
        held.append(_held_bytes())
    assert max(held) <= bound
    # All together exceed the limit, so some were evicted, the function among them.
    assert 16 * (held[0] - before) > bound
    np.testing.assert_array_equal(f(x), x * 2)


@pytest.mark.parametrize("name", ["pi", "inf", "nan", "true"])
def test_a_constant_that_something_is_bound_to_is_that(name):
    x, mine = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    text = f"{name} * x"
    constant = {"pi": np.pi, "inf": np.inf, "nan": np.nan, "true": 1.0}[name]
    for expected, bound in (
        (constant * x, {}),
        (mine * x, {name: mine}),
        (7 * x, {name: 7}),
        (constant * x, {}),
    ):
        # A local name, a keyword, and an entry of a dict.
        result = eval("indim.evaluate(text)", {"indim": indim, "text": text, "x": x}, bound)
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(indim.evaluate(text, x=x, **bound), expected)
        np.testing.assert_array_equal(indim.evaluate(text, {"x": x, **bound}, {}), expected)
        np.testing.assert_array_equal(indim.re_evaluate({"x": x, **bound}, {}), expected)
    explained = indim.explain(text, x="f64[2]", **{name: "f64[3, 1]"})
    assert explained.json["outputs"][0]["shape"] == [3, 2]
    with pytest.raises(indim.ShapeError):
        indim.explain(text, x="f64[2]", **{name: "f64[3]"})
