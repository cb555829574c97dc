"""Gradients of whole functions against finite differences of NumPy's values, and their calls."""

import pickle

import indim
import numpy as np
import pytest

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(6, 4))
Y = (RANDOM.random(6) < 0.5).astype(float)
LABELS = np.eye(3)[RANDOM.integers(0, 3, 6)]


def numerical(function, argument, step=1e-4):
    """The gradient by central differences of fourth order."""
    argument = np.array(argument, dtype=float)
    gradient = np.empty_like(argument)
    for index in np.ndindex(argument.shape):

        def at(move, index=index):
            moved = argument.copy()
            moved[index] += move
            return float(function(moved))

        difference = 8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))
        gradient[index] = difference / (12 * step)
    return gradient


def product(x, w):
    """The matrix product, written as a sum."""
    return np.sum(x[:, :, None] * w[None, :, :], axis=1)


def logistic_regression(w, b, x, y):
    z = np.sum(x * w, axis=1) + b
    return np.mean(np.logaddexp(0, z) - y * z) + 0.01 * np.sum(w * w)


def layer(w, b, x, labels):
    """A layer with softmax and cross entropy."""
    z = product(np.tanh(x), w) + b
    z = z - np.max(z, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - np.sum(labels * z, axis=1))


def gaussian(mean, spread, x):
    """The negative logarithm of the likelihood."""
    d = (x - mean) / np.exp(spread)
    return np.sum(0.5 * d * d + spread + 0.5 * np.log(2 * np.pi))


def standardised(x, weights):
    z = (x - np.mean(x, axis=0)) / np.std(x, axis=0)
    return np.sum(z * z * z * weights) + np.var(x) + np.ptp(x)


FUNCTIONS = [
    (logistic_regression, (RANDOM.normal(size=4), np.float64(0.3), X, Y), (0, 1, 2)),
    (layer, (RANDOM.normal(size=(4, 3)), RANDOM.normal(size=3), X, LABELS), (0, 1, 2)),
    (gaussian, (RANDOM.normal(size=4), RANDOM.normal(size=4), X), (0, 1, 2)),
    (standardised, (X, RANDOM.normal(size=(6, 4))), (0, 1)),
]


@pytest.mark.parametrize("function, arguments, argnums", FUNCTIONS)
def test_gradients_are_those_of_finite_differences(function, arguments, argnums):
    value, gradients = indim.value_and_grad(function, argnums=argnums)(*arguments)
    assert np.allclose(value, function(*arguments), rtol=1e-12)
    for position, gradient in zip(argnums, gradients):

        def alone(argument):
            return function(*arguments[:position], argument, *arguments[position + 1 :])

        expected = numerical(alone, arguments[position])
        assert gradient.shape == expected.shape
        assert np.allclose(gradient, expected, rtol=1e-7, atol=1e-7), position


def test_types_and_containers_are_those_of_the_arguments():
    def loss(parameters, x):
        return np.sum(np.tanh(product(x, parameters["w"]) + parameters["b"]) ** 2)

    parameters = {"w": RANDOM.normal(size=(4, 2)).astype(np.float32), "b": np.zeros(2, np.float32)}
    x = X.astype(np.float32)
    value, gradients = indim.value_and_grad(loss)(parameters, x)
    assert value.dtype == np.float32 and list(gradients) == ["w", "b"]
    assert gradients["w"].dtype == np.float32 and gradients["w"].shape == (4, 2)
    both = indim.grad(loss, argnums=(1, 0))(parameters, x)
    assert isinstance(both, tuple) and both[0].shape == x.shape
    assert np.array_equal(both[1]["b"], gradients["b"])
    nested = indim.grad(lambda pair: np.sum(pair[0] * pair[1][0]))((x, [x + 1]))
    assert np.array_equal(nested[0], x + 1) and np.array_equal(nested[1][0], x)


def test_numbers_keywords_and_defaults():
    def f(x, power=3.0, *, scale=2.0):
        return scale * x**power

    assert indim.grad(f)(2.0) == 24
    assert indim.grad(f)(x=2.0) == 24
    assert indim.grad(f)(2.0, scale=1.0) == 12
    assert np.isclose(indim.grad(f, argnums=1)(2.0), 16 * np.log(2))
    assert indim.grad(f, argnums=-1)(2.0, 1.0) == pytest.approx(4 * np.log(2))
    assert indim.grad(lambda x: np.sum(x * x))([1.0, 2.0]).tolist() == [2, 4]


def test_compiled_once_for_types_and_ranks():
    calls = []

    def f(x):
        calls.append(x.ndim)
        return np.sum(np.sin(x))

    gradient = indim.grad(f)
    for size in (3, 5, 3):
        x = np.linspace(0, 1, size)
        assert np.allclose(gradient(x), np.cos(x), rtol=1e-15)
    assert calls == [1]
    assert np.allclose(gradient(X), np.cos(X))
    assert calls == [1, 2]
    assert "cos" in gradient.explain("f64[3]")


def test_one_value_for_two_arguments_moves_by_one():
    def f(x, y):
        return np.sum(x * y * y)

    @indim.jit
    def both(x):
        return indim.grad(f)(x, x), indim.grad(f, argnums=1)(x, x)

    x = np.array([1.0, 2.0, 3.0])
    first, second = both(x)
    assert np.array_equal(first, x * x) and np.array_equal(second, 2 * x * x)


def test_within_a_compiled_function():
    @indim.jit
    def step(w, x, y):
        loss = lambda w: np.mean((np.sum(x * w, axis=1) - y) ** 2)  # noqa: E731
        value, gradient = indim.value_and_grad(loss)(w)
        return w - 0.1 * gradient, value

    w = expected = np.zeros(4)
    for _ in range(20):
        w, value = step(w, X, Y)
        residual = (X * expected).sum(axis=1) - Y
        expected = expected - 0.1 * 2 * (residual[:, None] * X).mean(axis=0)
    assert step.trace_count == 1
    assert np.allclose(w, expected, rtol=1e-12) and np.isclose(value, (residual**2).mean())


def test_slices_and_what_is_put_together_or_taken():
    def f(x):
        rough = np.sum(np.diff(x, axis=0) ** 2) + np.sum(x[1:, ::-2] * x[:-1, ::-2])
        padded = np.concatenate([np.pad(x, 1, mode="edge"), np.roll(np.pad(x, 1), 2, axis=1)])
        return rough + np.sum(padded**3) + np.sum(np.take(x, [0, 2, -1, 2], axis=0) ** 4)

    assert np.allclose(indim.grad(f)(X), numerical(f, X), rtol=1e-7, atol=1e-7)

    @indim.jit
    def embedded(table, words):
        return indim.grad(lambda table: np.sum(table[words] ** 2))(table)

    words = np.array([[1, 2], [1, 0]])
    expected = np.zeros_like(X)
    np.add.at(expected, words, 2 * X[words])
    assert np.allclose(embedded(X, words), expected)


def test_the_gradient_of_a_lookup_costs_what_the_lookup_costs():
    """A comparison of each index with each position would take 10^10 steps, which is minutes."""
    size, count = 100_000, 100_000
    table = RANDOM.normal(size=(size, 2)).astype(np.float32)
    words = RANDOM.integers(-size, size, count)
    # Half of all lookups are of one word.
    words[::2] = 7
    weights = RANDOM.normal(size=(count, 2)).astype(np.float32)
    gradient = indim.grad(lambda t, words, weights: np.sum(t[words] * weights))(table, words, weights)
    expected = np.zeros((size, 2))
    np.add.at(expected, words, weights.astype(np.float64))
    # Summed in order, in double precision, and rounded once.
    assert gradient.dtype == np.float32
    assert np.array_equal(gradient, expected.astype(np.float32))
    for words in (words[:0], words[:1]):
        gradient = indim.grad(lambda table: np.sum(table[words] ** 2))(table)
        expected = np.zeros_like(table)
        np.add.at(expected, words, 2 * table[words])
        assert np.array_equal(gradient, expected)


def test_gradients_of_gradients():
    f = lambda x: np.sin(x) * x**3  # noqa: E731
    second = indim.grad(indim.grad(f))
    third = indim.grad(second)
    x = 0.7
    assert np.isclose(indim.grad(f)(x), 3 * x**2 * np.sin(x) + x**3 * np.cos(x))
    assert np.isclose(second(x), (6 * x - x**3) * np.sin(x) + 6 * x**2 * np.cos(x))
    assert np.isclose(third(x), numerical(second, x), rtol=1e-8)
    # The product of the second derivatives of a likelihood with a direction.
    x, u = RANDOM.normal(size=5), RANDOM.normal(size=5)
    potential = lambda x: np.log(np.sum(np.exp(x))) + np.var(x)  # noqa: E731
    along = indim.grad(lambda x, u: np.sum(indim.grad(potential)(x) * u))
    expected = (numerical(potential, x + 1e-4 * u) - numerical(potential, x - 1e-4 * u)) / 2e-4
    assert np.allclose(along(x, u), expected, atol=1e-5)


def test_a_function_with_arrays_around_it():
    scale = np.array([1.0, 2.0, 3.0])
    gradient = indim.grad(lambda x: np.sum(scale * x**2))
    x = np.array([1.0, 1.0, 2.0])
    assert np.array_equal(gradient(x), 2 * scale * x)
    scale[0] = 10
    assert np.array_equal(gradient(x), 2 * scale * x)
    factor = 2.0
    gradient = indim.grad(lambda x: factor * x)
    assert gradient(1.0) == 2
    factor = 3.0
    assert gradient(1.0) == 3
    assert indim.grad(indim.grad(lambda x: factor * x * x))(1.0) == 6
    factor = 4.0
    assert indim.jit(gradient)(np.float64(1.0)) == 4


def test_products_with_jacobians():
    def f(x, y):
        return x * y, np.sum(x, axis=0)

    x, y = X, X[0]
    (first, second), pullback = indim.vjp(f, x, y)
    assert np.array_equal(first, x * y) and np.allclose(second, x.sum(axis=0))
    u, v = RANDOM.normal(size=x.shape), RANDOM.normal(size=4)
    by_x, by_y = pullback((u, v))
    assert np.allclose(by_x, u * y + v) and np.allclose(by_y, (u * x).sum(axis=0))

    @indim.jit
    def within(x, y, u):
        outputs, pullback = indim.vjp(lambda x, y: {"z": x * y}, x, y)
        return pullback({"z": u})[0] + outputs["z"]

    assert np.allclose(within(x, y, u), u * y + x * y)
    value, pullback = indim.vjp(lambda x: np.sum(x * x), np.float32([1, 2]))
    assert pullback(1)[0].dtype == np.float32
    assert np.array_equal(pullback(1)[0], [2, 4])


def test_complex_gradients_point_where_the_number_grows():
    z = np.array([1 + 2j, -3 + 0.5j])
    gradient = indim.grad(lambda z: np.sum(np.abs(z) ** 2))(z)
    assert gradient.dtype == np.complex128 and np.allclose(gradient, 2 * z)


def test_kinks():
    assert np.array_equal(indim.grad(lambda x: np.std(x))(np.ones(3)), np.zeros(3))
    assert indim.grad(np.abs)(0.0) == 0
    assert indim.grad(lambda x: np.maximum(x, 0))(0.0) == 0.5
    assert indim.grad(indim.relu)(0.0) == 0
    assert indim.grad(lambda x: x**0.0)(0.0) == 0


def test_products_of_zero_and_infinity_in_tangents():
    def function(x):
        return np.sum(np.sqrt(np.maximum(x, 0)))

    x = np.array([-1.0, 4.0])
    # JAX's tangent is NaN too, and so is its gradient.
    np.testing.assert_array_equal(indim.jvp(function, (x,), (np.ones(2),))[1], np.nan)
    np.testing.assert_array_equal(indim.grad(function)(x), [0, 0.25])
    np.testing.assert_array_equal(indim.jvp(function, (x[1:],), (np.ones(1),))[1], 0.25)


def test_what_is_refused():
    x = np.array([1.0, 2.0])
    with pytest.raises(indim.ShapeError, match="one output, a real scalar") as caught:
        indim.grad(lambda x: x * 2)(x)
    assert caught.value.code == "not-one-number" and "vjp" in str(caught.value)
    with pytest.raises(TypeError, match=r"returns \(an array, an array\).*indim.vjp"):
        indim.grad(lambda x: (x, x))(1.0)
    with pytest.raises(indim.ElementTypeError) as caught:
        indim.grad(lambda n: np.sum(n * 0.5))(np.arange(3))
    assert caught.value.code == "not-differentiable" and "`n`" in str(caught.value)
    with pytest.raises(TypeError, match="pass 2.0"):
        indim.grad(lambda x: x * x)(2)
    with pytest.raises(indim.ElementTypeError, match="`nextafter` has no derivative"):
        indim.grad(lambda x: np.nextafter(x, 2.0))(1.0)
    with pytest.raises(TypeError, match="argnums=2"):
        indim.grad(lambda x, y: x * y, argnums=2)(1.0, 2.0)
    _, pullback = indim.vjp(lambda x: x * 2, x)
    with pytest.raises(TypeError, match="f32"):
        pullback(np.float32([1, 1]))
    with pytest.raises(TypeError, match=r"the cotangents are \(an array, an array\)"):
        pullback((x, x))


def test_a_value_kept_beyond_the_function_means_nothing():
    kept = []

    def f(x):
        kept.append(x)
        return np.sum(x)

    indim.grad(f)(np.ones(2))
    with pytest.raises(ValueError, match="kept beyond the call"):
        kept[0] + 1


def cubed(x):
    return np.sum(x**3)


def test_gradients_are_pickled_as_their_functions():
    gradient = pickle.loads(pickle.dumps(indim.grad(cubed)))
    assert gradient(np.array([2.0])) == [12]


def test_scalars_of_numpy_have_tangents_and_gradients():
    three, one = np.float64(3.0), np.float64(1.0)
    value, tangent = indim.jvp(lambda x: x * x, (three,), (one,))
    assert (value, tangent) == (9.0, 6.0)
    value, tangent = indim.jvp(lambda p: p[0] * p[1], ([three, three],), ([one, three],))
    assert (value, tangent) == (9.0, 12.0)
    assert indim.grad(lambda p: p[0] * p[1])((three, one)) == (1.0, 3.0)
