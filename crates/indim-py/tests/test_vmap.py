"""``vmap``, ``jvp``, Jacobians and Hessians, against loops over the elements and finite differences."""

import pickle

import indim
import numpy as np
import pytest

RANDOM = np.random.default_rng(11)
X = RANDOM.normal(size=(5, 3, 4))
W = RANDOM.normal(size=(4, 2))
ROW = RANDOM.normal(size=4)


def same(found, expected):
    """Equal bits, types and shapes."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(expected).tobytes()


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


FUNCTIONS = {
    "elementwise": lambda x: np.tanh(x) + 1,
    "reductions": lambda x: np.sum(x, axis=0) * np.mean(x),
    "softmax": softmax,
    "product": lambda x: x @ W,
    "sort": lambda x: np.sort(x, axis=0),
    "scan": lambda x: np.cumsum(x, axis=1),
    "slice": lambda x: x[1:, ::-1],
    "gather": lambda x: x[[0, 2, 1], 1],
    "argmax": lambda x: np.argmax(x, axis=-1),
    "transpose": lambda x: x.T,
    "reshape": lambda x: x.reshape(2, 6),
    "shared": lambda x: x - ROW,
    "number": lambda x: 2.5,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_each_element_has_the_bits_of_the_function(name, axis):
    function = FUNCTIONS[name]
    batch = np.moveaxis(X, 0, axis)
    expected = np.stack([indim.jit(function)(x) for x in X])
    same(indim.vmap(function, in_axes=axis)(batch), expected)
    same(indim.jit(lambda x: indim.vmap(function, in_axes=axis)(x))(batch), expected)
    moved = indim.vmap(function, in_axes=axis, out_axes=-1)(batch)
    same(moved, np.moveaxis(expected, 0, -1))


def test_new_sizes_need_no_new_trace():
    calls = []

    @indim.vmap
    def row(x):
        calls.append(x)
        return np.sum(x) / 2

    for count in (3, 7, 3, 1):
        x = RANDOM.normal(size=(count, 4))
        same(row(x), np.array([float(indim.sum(one)) / 2 for one in x]))
    assert len(calls) == 1


def test_axes_of_containers_keywords_and_numbers():
    def f(parameters, x, scale, *, shift):
        return {"y": (parameters["w"] * x) * scale + shift, "w": parameters["b"]}

    w, b, x, shift = np.arange(8.0).reshape(2, 4), np.float64(3), X[:2, 0], np.array([1.0, 2.0])
    mapped = indim.vmap(f, in_axes=({"w": 0, "b": None}, 0, None), out_axes={"y": 1, "w": None})
    result = mapped({"w": w, "b": b}, x, 0.5, shift=shift)
    same(result["y"], ((w * x) * 0.5 + shift[:, None]).T)
    same(result["w"], b)


def test_both_operands_and_all_pairs():
    def distance(x, y):
        return np.sqrt(np.sum((x - y) ** 2))

    x, y = X[0], X[1]
    pairs = indim.vmap(indim.vmap(distance, in_axes=(None, 0)), in_axes=(0, None))(x, y)
    one = indim.jit(distance)
    same(pairs, np.array([[one(a, b) for b in y] for a in x]))


def test_loops_and_branches_of_each_element():
    def collatz(n):
        steps = n * 0
        return indim.while_loop(
            lambda s: s[0] > 1,
            lambda s: (np.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1),
            (n, steps),
        )[1]

    numbers = np.arange(1, 30)
    one = indim.jit(collatz)
    same(indim.vmap(collatz)(numbers), np.array([one(np.int64(n)) for n in numbers]))

    def chosen(x):
        return indim.cond(x > 0, lambda x: np.sqrt(x), lambda x: -x, x)

    x = np.array([4.0, -3.0, 0.0, 2.0])
    same(indim.vmap(chosen)(x), np.array([2.0, 3.0, -0.0, np.sqrt(2.0)]))


def test_gradients_of_each_element():
    def loss(w, x):
        return np.mean((x @ w) ** 2)

    per_example = indim.vmap(indim.grad(loss), in_axes=(None, 0))(W, X)
    same(per_example, np.stack([indim.grad(loss)(W, x) for x in X]))
    total = indim.grad(lambda w: np.sum(indim.vmap(loss, in_axes=(None, 0))(w, X)))(W)
    np.testing.assert_allclose(total, per_example.sum(axis=0), rtol=1e-12)


def test_random_keys_of_each_element():
    keys = indim.random.split(indim.random.key(7), 4)
    mapped = indim.vmap(lambda key: indim.random.normal(key, (3,)))(keys)
    same(mapped, np.stack([indim.random.normal(key, (3,)) for key in keys]))


def difference(function, x, direction, step=1e-5):
    return (function(x + step * direction) - function(x - step * direction)) / (2 * step)


@pytest.mark.parametrize("name", ["elementwise", "reductions", "softmax", "product", "scan", "slice"])
def test_tangents_are_differences(name):
    function, direction = FUNCTIONS[name], RANDOM.normal(size=X[0].shape)
    value, tangent = indim.jvp(function, (X[0],), (direction,))
    same(value, indim.jit(function)(X[0]))
    np.testing.assert_allclose(tangent, difference(function, X[0], direction), rtol=1e-6, atol=1e-8)


def test_tangents_of_containers():
    def f(p, x):
        return {"sum": p["a"] * x + p["b"][0], "product": p["a"] * x * p["b"][0]}

    primals = {"a": np.float64(2.0), "b": [np.float64(5.0)]}, np.array([1.0, 3.0])
    tangents = {"a": np.float64(1.0), "b": [np.float64(0.5)]}, np.array([0.0, 1.0])
    value, tangent = indim.jvp(f, primals, tangents)
    same(value["sum"], np.array([7.0, 11.0]))
    same(tangent["sum"], np.array([1.5, 5.5]))
    same(tangent["product"], np.array([6.0, 28.0]))


def test_jacobians():
    def f(x, y):
        return np.tanh(x)[:, None] * y[None, :] ** 2

    x, y = np.array([0.5, -1.0, 2.0]), np.array([1.0, 3.0])
    by_x = np.zeros((3, 2, 3))
    by_y = np.zeros((3, 2, 2))
    for i in range(3):
        by_x[i, :, i] = (1 - np.tanh(x[i]) ** 2) * y**2
    for j in range(2):
        by_y[:, j, j] = np.tanh(x) * 2 * y[j]
    for jacobian in (indim.jacrev, indim.jacfwd, indim.jacobian):
        np.testing.assert_allclose(jacobian(f)(x, y), by_x, rtol=1e-12)
        found = jacobian(f, argnums=(0, -1))(x, y)
        np.testing.assert_allclose(found[0], by_x, rtol=1e-12)
        np.testing.assert_allclose(found[1], by_y, rtol=1e-12)
        several = jacobian(lambda x: {"double": 2 * x, "sum": np.sum(x)})(x)
        same(several["double"], 2 * np.eye(3))
        same(several["sum"], np.ones(3))


def test_hessians():
    def rosenbrock(x):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    x = np.array([1.2, 0.7, -0.3])
    expected = np.zeros((3, 3))
    for i in range(2):
        expected[i, i] += 1200 * x[i] ** 2 - 400 * x[i + 1] + 2
        expected[i, i + 1] -= 400 * x[i]
        expected[i + 1, i] -= 400 * x[i]
        expected[i + 1, i + 1] += 200
    np.testing.assert_allclose(indim.hessian(rosenbrock)(x), expected, rtol=1e-12)
    batch = np.stack([x, 2 * x])
    mapped = indim.vmap(indim.hessian(rosenbrock))(batch)
    np.testing.assert_allclose(mapped[0], expected, rtol=1e-12)
    np.testing.assert_allclose(mapped[1], indim.hessian(rosenbrock)(2 * x), rtol=1e-12)


def test_captured_arrays_are_read_again():
    w = np.ones(4)
    calls = [
        indim.vmap(lambda x: np.sum(x * w)),
        indim.vmap(indim.jit(lambda x: np.sum(x * w))),
        indim.vmap(indim.grad(lambda x: np.sum(x * x * w))),
        indim.jit(indim.vmap(lambda x: np.sum(x * w))),
        indim.jacrev(lambda x: x * w),
        indim.jacfwd(lambda x: x * w),
        indim.hessian(lambda x: np.sum(x * x * w)),
    ]
    for _ in range(2):
        before = [call(X[0] if i < 4 else X[0, 0]) for i, call in enumerate(calls)]
        w *= 10
        after = [call(X[0] if i < 4 else X[0, 0]) for i, call in enumerate(calls)]
        for one, other in zip(before, after):
            np.testing.assert_allclose(other, 10 * one, rtol=1e-12)


def test_functions_use_traced_values_of_their_closure():
    x, y, v = X[0], X[1, :2] + 1, X[2, 0]
    pairs = indim.vmap(lambda a: indim.vmap(lambda b: np.sum(a * b))(y))(x)
    same(pairs, indim.jit(lambda: np.sum(x[:, None] * y[None], axis=-1))())
    total = indim.grad(lambda w: np.sum(indim.vmap(lambda a: np.sum(a * w))(x)))(v)
    np.testing.assert_allclose(total, x.sum(axis=0), rtol=1e-12)
    each = indim.vmap(lambda a: indim.grad(lambda w: np.sum(w * a) ** 2)(v))(x)
    np.testing.assert_allclose(each, 2 * (x @ v)[:, None] * x, rtol=1e-12)

    def step(i, s):
        return s + np.sum(indim.vmap(lambda row: row * s)(x), axis=0)

    looped = indim.fori_loop(0, 2, step, v)
    np.testing.assert_allclose(looped, v * (1 + x.sum(axis=0)) ** 2, rtol=1e-12)

    @indim.jit
    def inside(a):
        value, tangent = indim.jvp(lambda t: t * a, (v,), (np.ones(4),))
        _, pullback = indim.vjp(lambda t: t * a, v)
        jacobian = indim.jacrev(lambda t: t * a)(v)
        return value, tangent, pullback(np.ones(4))[0], jacobian

    value, tangent, gradient, jacobian = inside(x[0])
    same(value, v * x[0])
    same(tangent, x[0])
    same(gradient, x[0])
    np.testing.assert_array_equal(jacobian, np.diag(x[0]))


def test_numbers_and_lists_of_numbers():
    value, tangent = indim.jvp(lambda x: x**2, (3.0,), (1.0,))
    assert (float(value), float(tangent)) == (9.0, 6.0)
    value, tangent = indim.jvp(lambda x, y: x * y, (2.0, 5.0), (1.0, 0.5))
    assert (float(value), float(tangent)) == (10.0, 6.0)
    same(indim.jvp(lambda x: x * 2, ([1.0, 2.0],), ([1.0, 0.0],))[1], np.array([2.0, 0.0]))
    shuffled = indim.jvp(lambda p: p["a"] * p["b"], ({"a": 2.0, "b": 3.0},), ({"b": 0.0, "a": 1.0},))
    assert float(shuffled[1]) == 3.0
    assert float(indim.jacrev(lambda x: x**3)(2.0)) == 12.0
    assert float(indim.jacfwd(lambda x: x**3)(2.0)) == 12.0
    assert float(indim.hessian(lambda x: x**3)(2.0)) == 12.0


def test_an_unequal_batch_of_a_later_call_is_an_error():
    add = indim.vmap(lambda x, y: x + y)
    add(X, X)
    with pytest.raises((ValueError, indim.IndimError), match="5 elements in `x`.*and 2 in `y`"):
        add(X, X[:2])
    searched = indim.vmap(lambda t, x: np.searchsorted(t, x))
    assert searched(np.zeros((0, 3)), np.zeros((0, 2))).shape == (0, 2)


def test_labelled_arrays_are_refused():
    xarray = pytest.importorskip("xarray")
    for transformed in (indim.vmap(named), indim.jacrev(named), indim.hessian(named)):
        with pytest.raises(TypeError, match="arrays without labels"):
            transformed(xarray.DataArray(X[0], dims=("a", "b")))


@indim.vmap
def decorated(x):
    return np.sum(x**2)


def test_decorated_functions_can_be_pickled():
    copy = pickle.loads(pickle.dumps(decorated))
    same(copy(X[0]), decorated(X[0]))


def named(x):
    return np.sum(x**3)


def test_transformed_functions_have_the_name_and_can_be_pickled():
    for transformed in (indim.vmap(named), indim.jacrev(named), indim.hessian(named)):
        assert transformed.__name__ == "named"
        copy = pickle.loads(pickle.dumps(transformed))
        x = X[0]
        same(copy(x), transformed(x))
    assert repr(indim.vmap(named)) == "<indim.vmap of 'named'>"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: indim.vmap(lambda x: x)(np.float64(1)), ValueError, "has no axis 0"),
        (lambda: indim.vmap(lambda x, y: x + y)(X, X[:2]), ValueError, "5 elements .* and 2 in"),
        (lambda: indim.vmap(lambda x: x, in_axes=None)(X), ValueError, "no argument with a batch axis"),
        (lambda: indim.vmap(lambda x, y: x, in_axes=(0,))(X, X), ValueError, "1 positions for 2 arguments"),
        (lambda: indim.vmap(lambda x: (x, x), out_axes=(0, 0, 0))(X), ValueError, "returns .an array, an"),
        (lambda: indim.vmap(lambda x: x, out_axes=None)(X), indim.IndimError, "out_axes"),
        (lambda: indim.vmap(lambda x: x, in_axes=5)(X), ValueError, "has no axis 5"),
        (lambda: indim.vmap(lambda x, y: x, in_axes=(0, None))(X, y=X), TypeError, "`y` by position"),
        (lambda: indim.vmap(lambda x, w=W: x)(X), TypeError, "default of `w` is an array"),
        (lambda: indim.vmap(lambda x, p: x, in_axes=(0,))(X, {"w": X}), ValueError, "1 positions for 2"),
        (lambda: indim.vmap(lambda p: p["w"], in_axes=({"q": 0},))({"w": X}), ValueError, "keys"),
        (lambda: indim.vmap(lambda x: x, in_axes=({"q": 0},))(X), ValueError, "for the array"),
        (lambda: indim.jvp(lambda x: x, (X,), (X, X)), TypeError, "one tangent for each argument"),
        (lambda: indim.jvp(lambda x: x, (X,), (X[0],)), TypeError, "has the type of its argument"),
        (lambda: indim.jvp(lambda x: x > 0, (X,), (X,)), TypeError, "only floats"),
        (lambda: indim.jacrev(lambda x: x)(np.arange(3)), TypeError, "respect to floats"),
        (lambda: indim.jacrev(lambda x: x * 1j)(X), TypeError, "is that of floats"),
        (lambda: indim.jacrev(lambda x: np.argmax(x))(X[0, 0]), TypeError, "is that of floats"),
        (lambda: indim.jacrev(lambda x: x, argnums=())(X), TypeError, "no position"),
        (lambda: indim.hessian(lambda x: x, argnums=()), TypeError, "no position"),
        (lambda: indim.jacrev(lambda x: x, argnums=1)(X), TypeError, "not a position"),
        (lambda: indim.jacrev(lambda p: p[0])([X, X > 0]), TypeError, "respect to floats"),
        (lambda: indim.jacrev(lambda p: p["w"])({}), TypeError, "the argument has none"),
        (lambda: indim.jacfwd(lambda x: x, has_aux=True)(X), TypeError, "a pair .value, auxiliary"),
    ],
)
def test_mistakes_name_what_to_do(call, error, words):
    with pytest.raises(error, match=words):
        call()
