"""Reductions by own functions, along axes and in windows: ``lax.reduce`` and ``lax.reduce_window``."""

import functools
import itertools

import numpy as np
import pytest

import indim
from indim import lax

RANDOM = np.random.default_rng(12)


def complex_product(x, y):
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def last_largest(x, y):
    wins = y["key"] >= x["key"]
    return {name: np.where(wins, y[name], x[name]) for name in x}


def ordered(x, y):
    """Not associative, so that the result tells the order."""
    return x * 3 + y * 5


def tree(elements):
    while len(elements) > 1:
        pairs = zip(elements[::2], elements[1::2])
        elements = [ordered(*pair) for pair in pairs] + elements[len(elements) // 2 * 2 :]
    return elements[0]


@pytest.mark.parametrize(
    ("shape", "axes"), [((7,), (0,)), ((3, 4, 5), (1,)), ((3, 4, 5), (0, 2)), ((1, 2), (0,))]
)
def test_several_arrays_together(shape, axes):
    parts = RANDOM.normal(size=(2, *shape)).astype("f4")
    expected = np.prod(parts[0] + 1j * parts[1], axis=axes)
    for run in (lambda f: f, indim.jit):
        product = run(lambda x, y: lax.reduce((x, y), (1.0, 0.0), complex_product, axes))(*parts)
        assert type(product) is tuple and all(part.dtype == np.float32 for part in product)
        np.testing.assert_allclose(product[0] + 1j * product[1], expected, rtol=1e-5, atol=1e-6)


def test_trees_keep_their_containers():
    keys = np.round(RANDOM.normal(size=(4, 9)))
    operands = {"key": keys, "place": np.tile(np.arange(9), (4, 1))}
    found = lax.reduce(operands, {"key": -np.inf, "place": -1}, last_largest, (1,))
    np.testing.assert_array_equal(found["key"], keys.max(1))
    np.testing.assert_array_equal(found["place"], 8 - keys[:, ::-1].argmax(1))
    assert found["place"].dtype == operands["place"].dtype


def test_neighbours_are_combined_first():
    for size in range(1, 20):
        x = np.arange(size) ** 2 % 17
        assert int(lax.reduce(x, 7, ordered, (0,))) == ordered(7, int(tree(list(x)))), size


@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (4, 7), (3, 12)])
@pytest.mark.parametrize(
    ("strides", "steps", "between"), [((1, 1), (1, 1), (1, 1)), ((2, 3), (1, 2), (2, 1))]
)
def test_windows_have_the_tree_of_an_axis(sizes, strides, steps, between):
    x = RANDOM.integers(0, 9, size=(5, 6))
    padding = ((3, 1), (11, 20))
    found = lax.reduce_window(x, 7, ordered, sizes, strides, padding, between, steps)
    spread = np.full([(size - 1) * gap + 1 for size, gap in zip(x.shape, between)], 7)
    spread[tuple(slice(None, None, gap) for gap in between)] = x
    padded = np.pad(spread, padding, constant_values=7)
    places = [
        range(0, size - (of - 1) * step, stride)
        for size, of, stride, step in zip(padded.shape, sizes, strides, steps)
    ]
    expected = np.zeros(tuple(map(len, places)), int)
    for (i, row), (j, column) in itertools.product(*map(enumerate, places)):
        rows = range(row, row + sizes[0] * steps[0], steps[0])
        columns = range(column, column + sizes[1] * steps[1], steps[1])
        expected[i, j] = ordered(7, tree([tree([int(padded[r, c]) for c in columns]) for r in rows]))
    np.testing.assert_array_equal(found, expected)


def test_windows_of_trees_and_scans():
    x = RANDOM.normal(size=12)
    found = lax.reduce_window((x, np.zeros(12)), (1.0, 0.0), complex_product, (12,), padding=[(11, 0)])
    np.testing.assert_allclose(found[0], np.cumprod(x))
    same = lax.reduce_window(x, 0.0, lambda a, b: a + b - a * b, (3,), (2,), "SAME")
    padded = np.pad(x, (0, 1))
    expected = [1 - np.prod(1 - padded[at : at + 3]) for at in range(0, 12, 2)]
    np.testing.assert_allclose(same, expected)


def test_no_elements_give_the_initial_values():
    np.testing.assert_array_equal(lax.reduce(np.ones((2, 0)), 7.0, ordered, (1,)), [7, 7])
    assert lax.reduce(np.ones((0, 2)), 7.0, ordered, (1,)).shape == (0,)
    assert lax.reduce_window(np.ones(2), 7.0, ordered, (3,)).shape == (0,)


def test_derivatives_and_batches():
    options = {"init_values": 0.0, "computation": lambda a, b: a + b - a * b, "dimensions": (0,)}
    either = functools.partial(lax.reduce, **options)
    x = np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(indim.grad(either)(x), [0.8 * 0.7, 0.9 * 0.7, 0.9 * 0.8])
    np.testing.assert_allclose(indim.vmap(either)(np.stack([x, x])), [1 - 0.9 * 0.8 * 0.7] * 2)


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ValueError, "one shape", lambda x: lax.reduce((x, x[1:]), (0.0, 0.0), complex_product, (0,))),
        (ValueError, "value for each operand", lambda x: lax.reduce((x, x), (0.0,), complex_product, (0,))),
        (ValueError, "one number for each", lambda x: lax.reduce(x, x, ordered, (0,))),
        (ValueError, "at least one array", lambda x: lax.reduce((), (), ordered, (0,))),
        (ValueError, "an axis twice", lambda x: lax.reduce(x, 0.0, ordered, (0, -1))),
        (ValueError, "axis 1", lambda x: lax.reduce(x, 0.0, ordered, (1,))),
        (TypeError, "returns bool for float64", lambda x: lax.reduce(x, 0.0, lambda a, b: a < b, (0,))),
        (TypeError, "not the containers of", lambda x: lax.reduce(x, 0.0, lambda a, b: (a, b), (0,))),
        (ValueError, "window_dimensions", lambda x: lax.reduce_window(x, 0.0, ordered, (2, 2))),
    ],
)
def test_mistakes(error, message, call):
    with pytest.raises(error, match=message):
        call(np.ones(3))


def test_containers_are_those_of_the_operands():
    x, sums = np.ones((2, 3)), lambda s, t: {"b": s["b"] + t["b"], "a": s["a"] + t["a"]}
    found = lax.reduce({"a": x, "b": 2 * x}, {"b": 1.0, "a": 0.0}, sums, (0, 1))
    assert {name: float(value) for name, value in found.items()} == {"a": 6.0, "b": 13.0}
    with pytest.raises(ValueError, match="same containers"):
        lax.reduce({"a": x}, [0.0], sums, (0,))
    with pytest.raises(TypeError, match="not the containers of the operands"):
        lax.reduce((x, x), (0.0, 0.0), lambda s, t: [s[0], t[1]], (0,))
    with pytest.raises(TypeError, match="shape of its arguments"):
        lax.reduce((x,), (0.0,), lambda s, t: ((s[0] + t[0])[..., None],), (0,))


@pytest.mark.parametrize(
    "function",
    [
        *(np.subtract, np.true_divide, np.remainder, np.power, np.arctan2, np.floor_divide),
        *(lax.sub, lax.div, lax.rem, lax.pow, lambda a, b: a - b, lambda a, b: b - a, lambda a, b: a / b),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda x, function: lax.reduce(x, 0.0, function, (0,)),
        lambda x, function: lax.reduce([x], [0.0], lambda a, b: [function(a[0], b[0])], (0,)),
        lambda x, function: lax.reduce_window(x, 0.0, function, (2, 1)),
        lambda x, function: lax.associative_scan(function, x),
    ],
)
def test_operations_that_are_not_associative_are_refused(call, function):
    for run in (call, lambda *arguments: indim.jit(lambda x: call(x + 1.0, arguments[1]))(arguments[0])):
        with pytest.raises(ValueError, match="is not associative.*write"):
            run(np.ones((3, 2)), function)


def test_the_advice_for_differences():
    with pytest.raises(ValueError, match=r"`x - y` is not .*write the difference from a sum, `init - oper"):
        lax.reduce(np.ones(3), 0.0, lambda a, b: a - b, (0,))
    with pytest.raises(ValueError, match=r"`y - x` is not .*write indim.scan"):
        lax.reduce(np.ones(3), 0.0, lambda a, b: b - a, (0,))


def test_the_function_gets_numbers():
    shapes = []

    def combine(x, y):
        shapes.append((x.shape, y.shape, x.dtype))
        return x + y - x * y

    lax.reduce(np.full((3, 4), 0.5, "f4"), 0.0, combine, (0,))
    lax.reduce_window(np.full((3, 4), 0.5, "f4"), 0.0, combine, (2, 2))
    assert set(shapes) == {((), (), np.dtype("f4"))} and len(shapes) == 2


def test_values_from_outside_and_derivatives_in_them():
    x, table = np.array([0.1, 0.2, 0.3]), np.array([0.5, 2.0])

    def function(x, k):
        return lax.reduce(x, k, lambda a, b: a + b - a * b * k * table[0], (0,))

    def expected(x, k):
        combine = lambda a, b: a + b - a * b * k * 0.5  # noqa: E731
        return combine(k, combine(combine(x[0], x[1]), x[2]))

    np.testing.assert_allclose(indim.jit(function)(x, 0.1), expected(x, 0.1))
    slope = (expected(x, 0.1 + 1e-6) - expected(x, 0.1 - 1e-6)) / 2e-6
    np.testing.assert_allclose(indim.grad(function, 1)(x, 0.1), slope, rtol=1e-8)
    many = indim.vmap(function, (None, 0))(x, np.array([0.1, 0.2]))
    np.testing.assert_allclose(many, [expected(x, 0.1), expected(x, 0.2)])
    f = indim.jit(function)
    for size in (3, 2, 5, 3):
        line = np.linspace(0, 0.5, size)
        np.testing.assert_allclose(f(line, 0.1), indim.jit(function)(line, 0.1), rtol=0)


@indim.custom_jvp
def marked(x):
    """A square whose derivative is three times as large, so that the result tells whether it is used."""
    return x * x


@marked.defjvp
def marked_jvp(primals, tangents):
    return marked(primals[0]), 6 * primals[0] * tangents[0]


def joined(x, y):
    return x + y + 0.25 * marked(x * y)


def joined_by_pairs(elements):
    while len(elements) > 1:
        pairs = zip(elements[::2], elements[1::2])
        elements = [joined(*pair) for pair in pairs] + elements[len(elements) // 2 * 2 :]
    return elements[0]


DERIVATIVES = {
    "grad": lambda f, x: indim.grad(f)(x),
    "jvp": lambda f, x: indim.jvp(f, (x,), (np.cos(x),)),
    "jacrev": lambda f, x: indim.jacrev(f)(x),
    "jacfwd": lambda f, x: indim.jacfwd(f)(x),
    "hessian": lambda f, x: indim.hessian(f)(x[:3]),
    "batch": lambda f, x: indim.vmap(indim.grad(f))(np.stack([x, x / 2])),
}


@pytest.mark.parametrize("derivative", DERIVATIVES.values(), ids=DERIVATIVES)
def test_functions_with_derivatives_of_their_own(derivative):
    x = np.linspace(0.1, 0.9, 6)

    def reduced(x):
        return lax.reduce(x, 0.5, joined, (0,))

    def expected(x):
        return joined(0.5, joined_by_pairs(list(x)))

    def scanned(x):
        return np.sum(lax.associative_scan(joined, x))

    def expected_scan(x):
        totals = [x[0]]
        for element in x[1:]:
            totals.append(joined(totals[-1], element))
        return sum(totals)

    assert indim.jit(reduced)(x) == expected(x)
    for f, by_hand in ((reduced, expected), (scanned, expected_scan)):
        found, wanted = derivative(f, x), derivative(by_hand, x)
        np.testing.assert_allclose(np.hstack(np.array(found)), np.hstack(np.array(wanted)), rtol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_derivatives_of_windows_of_such_functions(size):
    x, stride, step = np.linspace(0.1, 0.9, 6), 2, 1 + (size < 4)

    def windows(x):
        return lax.reduce_window(x, 0.5, joined, (size,), (stride,), [(3, 2)], window_dilation=(step,))

    def by_hand(x):
        padded = [0.5, 0.5, 0.5, *x, 0.5, 0.5]
        starts = range(0, len(padded) - (size - 1) * step, stride)
        parts = [[padded[start + step * k] for k in range(size)] for start in starts]
        return np.stack([joined(0.5, joined_by_pairs(part)) + 0 * x[0] for part in parts])

    np.testing.assert_allclose(windows(x), by_hand(x), rtol=1e-14)
    np.testing.assert_allclose(indim.jacobian(windows)(x), indim.jacobian(by_hand)(x), rtol=1e-12)

    def of_padding(start):
        return np.sum(lax.reduce_window(x[:0], start, joined, (1,), (1,), [(2, 0)]))

    assert indim.grad(of_padding)(0.5) == 2 * indim.grad(lambda start: joined(start, start))(0.5)


def test_several_axes_and_arrays_of_such_functions():
    x = np.linspace(-0.5, 0.5, 12).reshape(3, 4)

    def both(s, t):
        return {"a": joined(s["a"], t["a"]), "b": s["b"] + lax.stop_gradient(t["b"])}

    def reduced(x):
        found = lax.reduce({"a": x, "b": x * x}, {"a": 0.0, "b": 0.0}, both, (0, 1))
        return found["a"] * found["b"]

    def expected(x):
        rows = [joined_by_pairs(list(row)) for row in x]
        # All elements of `b` come after its initial value.
        return joined(0.0, joined_by_pairs(rows)) * np.sum(lax.stop_gradient(x * x))

    np.testing.assert_allclose(indim.grad(reduced)(x), indim.grad(expected)(x), rtol=1e-12)
    without = indim.grad(lambda x: np.sum(lax.reduce(x[:0], 0.5, joined, (0,))))
    np.testing.assert_array_equal(without(x), np.zeros((3, 4)))


def test_functions_of_batches_with_derivatives_of_their_own_in_loops_are_refused():
    def f(x):
        return np.sum(indim.fori_loop(0, 2, lambda i, s: indim.vmap(marked)(s), x))

    with pytest.raises(TypeError, match="^marked has a derivative of its own, which the body of fori_loop"):
        indim.grad(f)(np.ones(3))


def test_the_operation_itself_is_recognised():
    # The names of the function's arguments are those of outside arrays.
    x, y = np.array([4.0, 2.0, 1.0]), np.array(2.0)
    function = indim.jit(lambda x, y: lax.reduce(x, 0.0, lambda a, b: a + b + (x[0] - y) * 0, (0,)))
    assert function(x, y) == 7
    outer = indim.jit(lambda x, y: lax.reduce(np.ones(3), 0.0, lambda a, b: x - y, (0,)))
    assert outer(x[1], y) == 0
