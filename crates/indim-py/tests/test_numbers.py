"""Python numbers among the arguments: inputs that adapt to the arrays they meet, not parts of the program."""

import math

import numpy as np
import pytest

import indim

DTYPES = ["bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64",
          "complex128"]
NUMBERS = [0, 1, -1, 3, 0.5, -0.0, 2.0, 1e300, float("nan"), 200, 2**40, True]

FUNCTIONS = {
    "product": lambda x, k: x * k,
    "first": lambda x, k: k - x,
    "of numbers": lambda x, k: (1 - k) * x + k / 3,
    "twice": lambda x, k: np.where(x > k, x, k),
    "comparison": lambda x, k: (x < k) | (x == k),
    "branch": lambda x, k: x + k if k > 1 else x * k,
    "negative": lambda x, k: x + -k,
    "maximum": lambda x, k: np.maximum(x, k) if x.dtype.kind != "c" else x * k,
}


def outcome(compute):
    """The result of a function; ``None`` if it raises."""
    with np.errstate(all="ignore"):
        try:
            return compute()
        except (OverflowError, TypeError, ZeroDivisionError, indim.IndimError):
            return None


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_adapt_as_those_of_numpy(name, dtype):
    x = np.array([0, 1, 1, 0, 1]).astype(dtype)
    compiled = indim.jit(FUNCTIONS[name])
    for k in NUMBERS + NUMBERS[::-1]:
        expected, result = outcome(lambda: FUNCTIONS[name](x, k)), outcome(lambda: compiled(x, k))
        alone = outcome(lambda: indim.jit(FUNCTIONS[name], static="k")(x, k))
        assert (result is None) == (alone is None)
        if result is not None:
            assert result.dtype == alone.dtype
            assert result.tobytes() == alone.tobytes(), (k, result, alone)
        if expected is not None and result is not None:
            assert result.dtype == expected.dtype


def test_a_changing_number_is_traced_and_compiled_once():
    x = np.arange(5, dtype=np.float32)
    traced = []

    @indim.jit
    def blend(x, alpha, low=0.0):
        traced.append(1)
        return np.maximum(x * (1 - alpha) + alpha / 2, low)

    for step in range(1000):
        alpha = step / 7
        expected = np.maximum(x * (1 - alpha) + alpha / 2, 0.0)
        np.testing.assert_array_equal(blend(x, alpha), expected)
    assert blend.trace_count == 1 and len(traced) == 1
    before = indim._indim._held_bytes()
    for step in range(1000):
        blend(x, step / 3, low=-step / 3)
        indim.evaluate("x * (1 - alpha)", {"x": x, "alpha": step / 3}, {})
    assert indim._indim._held_bytes() - before < 200_000


def test_numbers_out_of_range_are_refused_as_before():
    x = np.arange(3, dtype=np.uint8)
    product = indim.jit(lambda x, k: x * k)
    np.testing.assert_array_equal(product(x, 3), x * 3)
    for k in (300, -1):
        with pytest.raises(indim.IndimError, match=f"{k} is not a value of u8") as refused:
            product(x, k)
        assert refused.value.code == "literal-out-of-range"
        with pytest.raises(indim.IndimError, match="literal-out-of-range"):
            indim.evaluate("x * k", {"x": x, "k": k}, {})
    greater = indim.jit(lambda x, k: x > k)
    for k in (1, 300, -1, 2):
        np.testing.assert_array_equal(greater(x, k), x > k)


def test_what_needs_the_number_is_made_for_it():
    x = np.arange(12.0).reshape(3, 4) + 1
    power = indim.jit(lambda x, k: x**k)
    for k in (2, 3, 0.5, -1.0, 2):
        np.testing.assert_array_equal(power(x, k), indim.jit(lambda x: x**k)(x))
    assert "the program is made for k = 3" in str(power.explain(x, 3))

    total = indim.jit(lambda x, axis, count: x.sum(axis=axis) * [1, 2, 3][count])
    for axis, count in ((0, 1), (1, 2), (-1, 0)):
        np.testing.assert_array_equal(total(x, axis, count), x.sum(axis=axis) * [1, 2, 3][count])
    assert "axis = 1, count = 2" in str(total.explain(x, 1, 2))

    branch = indim.jit(lambda x, k: x if k > 1 else -x)
    for k in (2, 3, 0, -5, 7):
        np.testing.assert_array_equal(branch(x, k), x if k > 1 else -x)
    assert branch.trace_count == 2
    assert "(k > 1) = True" in str(branch.explain(x, 3))


@pytest.mark.parametrize(
    "use",
    [
        lambda k: math.sqrt(k),
        lambda k: k**2,
        lambda k: int(k),
        lambda k: float(k),
        lambda k: round(k),
        lambda k: abs(k) + divmod(k, 2)[1] + divmod(7, k)[0],
        lambda k: k // 2 + k % 2,
        lambda k: max(k, 2) + min(1, k),
        lambda k: len(f"{k}{k:.1f}{k!r}"),
        lambda k: {3: 5}.get(k, 7),
        lambda k: sum(range(int(k))),
        lambda k: np.sqrt(k),
        lambda k: np.asarray(k) + 1,
        lambda k: isinstance(k, int) + 2 * isinstance(k, float),
        lambda k: float(np.float32(2) * k) + float(k + np.ones(2)[0]),
        lambda k: k == 3,
        lambda k: k != "a",
        lambda k: bool(k),
        lambda k: +k - -k,
        lambda k: math.floor(k) + math.ceil(k) + math.trunc(k),
        lambda k: hash(k),
        lambda k: 1 / (k - 3) if k != 3 else k.real,
    ],
)
def test_numbers_are_python_numbers_to_the_function(use):
    x = np.array([1.0, 2.0])
    compiled = indim.jit(lambda x, k: x * use(k))
    for k in (3, 4, 3.0, 4.5, 3, 1, 4.5):
        np.testing.assert_array_equal(compiled(x, k), x * use(k), err_msg=str(k))


def test_division_by_zero_is_pythons():
    x = np.array([1.0, 2.0])
    inverse = indim.jit(lambda x, k: x * (1 / k))
    np.testing.assert_array_equal(inverse(x, 2), x * 0.5)
    with pytest.raises(ZeroDivisionError):
        inverse(x, 0)
    np.testing.assert_array_equal(inverse(x, 4), x * 0.25)


def test_numbers_in_containers_and_beyond_the_call():
    x, kept = np.array([1.0, 2.0]), []

    @indim.jit
    def layer(x, parameters):
        kept.append(parameters["rate"])
        return x * parameters["rate"] + parameters["others"][0]

    for rate in (0.5, 0.25):
        others = [rate, x]
        np.testing.assert_array_equal(layer(x, {"rate": rate, "others": others}), x * rate + rate)
    assert layer.trace_count == 1
    assert kept[0] + 1 == 1.5 and float(kept[0]) == 0.5


def test_numbers_meet_gradients():
    x = np.array([1.0, 2.0])

    @indim.jit
    def step(x, rate, decay):
        return x - rate * indim.grad(lambda x: np.sum(decay * x * x))(x)

    for rate, decay in ((0.1, 1.0), (0.2, 1.0), (0.1, 3.0)):
        np.testing.assert_allclose(step(x, rate, decay), x - rate * 2 * decay * x)


def test_a_number_alone_and_results_that_are_numbers():
    assert indim.jit(lambda k: k + 1)(2).dtype == np.int64
    both = indim.jit(lambda x, k: (x, k, 2 * k))
    for k in (1, 5):
        assert [value.tolist() for value in both(np.ones(1), k)] == [[1.0], k, 2 * k]
    outer = indim.jit(lambda x, k: indim.jit(lambda y, m: y * m)(x, k))
    for k in (2, 3.5):
        np.testing.assert_array_equal(outer(np.ones(2), k), [k, k])
    assert indim.evaluate("k + m", {"k": 2, "m": 3.5}, {}) == 5.5


def test_numbers_and_lengths_change_together():
    shifted = indim.jit(lambda x, k: x * k + 1)
    for length in range(2, 500):
        x = np.arange(length, dtype=np.float32)
        np.testing.assert_array_equal(shifted(x, length / 4), x * (length / 4) + 1)
    assert shifted.trace_count == 1


X = np.array([-1.5, 0.25, 2.0, 7.0])

#: Functions of an array and a number, which need not know the number.
WITHOUT_VALUE = {
    "product": lambda x, n: x * n,
    "difference": lambda x, n: n - x,
    "quotient": lambda x, n: x / n,
    "whole quotient": lambda x, n: x // n + x % n,
    "comparison": lambda x, n: np.where(x > n, x, -x),
    "choice": lambda x, n: np.where(x > 0, x, n),
    "maximum": lambda x, n: np.maximum(x, n) + np.minimum(n, x),
    "clip": lambda x, n: np.clip(x, -n, n + 1),
    "arithmetic": lambda x, n: x * (n * 2 - 1),
}


@pytest.mark.parametrize("name", WITHOUT_VALUE)
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "u1", "c8"])
def test_numbers_in_batches_are_inputs(name, dtype):
    function, x, traces = WITHOUT_VALUE[name], X.astype(dtype), []
    if dtype == "c8" and name not in ("product", "difference", "quotient", "arithmetic"):
        return
    if dtype == "u1" and name in ("clip", "comparison"):
        return

    def traced(x, n):
        traces.append(n)
        return function(x, n)

    batched = indim.vmap(traced, in_axes=(0, None))
    plain = indim.jit(function)
    for numbers in ((2, 3, 5), (0.1, 1.5, 3.25)):
        del traces[:]
        for n in numbers:
            expected = plain(x, n)
            found = batched(x, n)
            assert found.dtype == expected.dtype
            assert found.tobytes() == expected.tobytes()
        # A number among narrow integers is one of their type, so it is known.
        is_known = dtype in ("i4", "u1") and type(n) is int
        assert len(traces) == (3 if is_known else 1)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_adapt_in_batches_as_outside(name, dtype):
    x = np.array([0, 1, 1, 0, 1]).astype(dtype)
    plain = indim.jit(FUNCTIONS[name])
    batched = indim.vmap(FUNCTIONS[name], in_axes=(0, None))
    for k in NUMBERS + NUMBERS[::-1]:
        expected, found = outcome(lambda: plain(x, k)), outcome(lambda: batched(x, k))
        assert (found is None) == (expected is None), k
        if expected is not None:
            assert found.dtype == expected.dtype, k
            np.testing.assert_array_equal(found, expected, err_msg=repr(k))


@pytest.mark.parametrize("name", WITHOUT_VALUE)
def test_numbers_in_gradients_are_inputs(name):
    function, traces = WITHOUT_VALUE[name], []

    def total(x, n):
        traces.append(n)
        return np.sum(function(x, n))

    gradients = [
        indim.grad(total),
        indim.jit(lambda x, n: indim.grad(lambda y: total(y, n))(x)),
        indim.jit(lambda x, n: indim.jvp(lambda y: total(y, n), (x,), (np.ones_like(x),))[1]),
    ]
    for gradient in gradients:
        del traces[:]
        for n in (2, 3, 5):
            known = indim.grad(lambda x, n=n: np.sum(function(x, n)))(X)
            found = gradient(X, n)
            np.testing.assert_allclose(found, known if np.ndim(found) else known.sum())
        assert len(traces) == 1


def test_a_number_as_the_condition_of_a_batch_is_not_converted():
    chosen = indim.vmap(lambda x, n: np.where(n, x, 0), in_axes=(0, None))
    for n in (0.5, 0, 2, 0.0, np.nan):
        np.testing.assert_array_equal(chosen(np.array([1, 2]), n), np.where(n, np.array([1, 2]), 0))


def test_numbers_among_choices_take_the_type_of_arrays():
    chosen = indim.jit(lambda x, n: np.select([x > n, x < 0], [n, x], n * 2))
    for n in (1, 2):
        found, x = chosen(X.astype("f4"), n), X.astype("f4")
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, np.select([x > n, x < 0], [n, x], n * 2))


def test_numbers_that_a_batch_must_know_are_known():
    powers = indim.vmap(lambda x, n: x**n, in_axes=(0, None))
    for n in (2, 3, 0.5):
        np.testing.assert_array_equal(powers(abs(X), n), indim.jit(lambda x, n: x**n)(abs(X), n))
    steps = indim.vmap(lambda x, n: indim.fori_loop(0, n, lambda i, s: s + x * n, x), in_axes=(0, None))
    for n in (2, 3):
        np.testing.assert_array_equal(steps(X, n), X + n * n * X)
    branches = indim.vmap(lambda x, n: indim.cond(x > 0, lambda: x * n, lambda: x - n), in_axes=(0, None))
    for n in (2, 3):
        np.testing.assert_array_equal(branches(X, n), np.where(X > 0, X * n, X - n))
    with pytest.raises(indim.IndimError):
        indim.vmap(lambda x, n: x + n, in_axes=(0, None))(X.astype("u1") % 2, 300)


COMPLEX_USES = {
    "product": lambda x, k: x * k,
    "left": lambda x, k: k + x,
    "quotient": lambda x, k: x / k,
    "negative": lambda x, k: -k * x,
    "where": lambda x, k: np.where(x == 1, x, k),
    "select": lambda x, k: np.select([x == 1], [k], x),
    "ufunc": lambda x, k: np.subtract(k, x),
    "comparison": lambda x, k: x == k,
}


@pytest.mark.parametrize("use", COMPLEX_USES.values(), ids=COMPLEX_USES)
@pytest.mark.parametrize("dtype", ["?", "i1", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_complex_numbers_are_weak(use, dtype):
    x = np.array([1, 0, 1]).astype(dtype)
    for k in (1 + 2j, complex(-0.5, 3)):
        expected = use(x, k)
        for result in (
            indim.jit(use)(x, k),
            indim.jit(lambda x: use(x, k))(x),
            indim.jit(lambda x, k: indim.vmap(lambda x: use(x, k))(x))(x, k),
            indim.vmap(use, in_axes=(0, None))(x, k),
            indim.jit(lambda x, k: indim.lax.map(lambda x: use(x, k), x))(x, k),
        ):
            assert result.dtype == expected.dtype
            np.testing.assert_allclose(result, expected, rtol=1e-3 if dtype == "f2" else 1e-6)


def test_complex_numbers_are_inputs_of_programs():
    x = np.ones(3, np.float32)
    f = indim.jit(lambda x, k: x * k + k)
    for k in (1j, 2 - 1j, 0j):
        assert f(x, k).dtype == np.complex64 and f(x, k)[0] == 2 * k
    assert f.trace_count == 1
    for text in ("x * k", "x * 2j", "x * (1 + 2j - 1)", "-x * -k"):
        result = indim.evaluate(text, local_dict={"x": x, "k": 2j})
        assert result.dtype == np.complex64 and result[0] == 2j
    assert indim.multiply(x, 2j).dtype == np.complex64
    assert indim.evaluate("x * k", x=x, k=np.complex128(2j)).dtype == np.complex128
    gradient = indim.grad(lambda x, k: np.sum(np.abs(x * k) ** 2))(x, 3j)
    assert gradient.dtype == np.float32 and gradient[0] == 18
    assert indim.fori_loop(0, 2, lambda i, s: s * 1j, x.astype(np.complex64)).dtype == np.complex64
    assert indim.fori_loop(0, 2, lambda i, s: s * 1j, 1j) == -1j
    padded = indim.jit(lambda z: np.pad(z, 1, constant_values=1j))(x.astype(np.complex64))
    assert padded[0] == 1j and padded.dtype == np.complex64
    assert indim.jit(lambda x: 2j)(x) == 2j


def test_arithmetic_of_complex_numbers_in_texts():
    pairs = {"(1 + 2j) * (3 - 1j)": 5 + 5j, "-2j": -2j, "+2j": 2j, "1j / 2": 0.5j, "2j == 2j": True, "1j": 1j}
    for text, expected in pairs.items():
        assert indim.evaluate(text) == expected
    assert abs(indim.evaluate("2j ** 2") + 4) < 1e-15
    with pytest.raises(indim.ExprError, match="divide by zero"):
        indim.evaluate("1j / 0")
    with pytest.raises(indim.ElementTypeError, match="complex numbers have no order"):
        indim.evaluate("1j < 2")
    with pytest.raises(indim.ExprError, match="is a complex number, but meets f32"):
        indim.evaluate("x * 2j", x=np.ones(2, np.float32), rule="xla")
