"""Functions with derivatives of their own: `custom_jvp` and `custom_vjp`."""

import indim
import numpy as np
import pytest

X = np.array([0.5, -1.0, 2.0])


def custom(kind):
    """``sin``, whose derivative is 10 cos(x), so that it is seen whose derivative is used."""
    f = kind(lambda x: np.sin(x))
    if kind is indim.custom_jvp:

        @f.defjvp
        def rule(primals, tangents):
            (x,), (t,) = primals, tangents
            return f(x), 10 * np.cos(x) * t

    else:
        f.defvjp(lambda x: (np.sin(x), x), lambda x, g: (10 * np.cos(x) * g,))
    return f


KINDS = [indim.custom_jvp, indim.custom_vjp]


@pytest.mark.parametrize("kind", KINDS)
def test_the_value_is_that_of_the_function(kind):
    f = custom(kind)
    np.testing.assert_array_equal(f(X), np.sin(X))
    np.testing.assert_allclose(indim.jit(f)(X), np.sin(X))
    np.testing.assert_allclose(indim.jit(lambda x: f(x) + 1)(X), np.sin(X) + 1)
    np.testing.assert_allclose(indim.vmap(f)(X), np.sin(X))


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_use_the_rule(kind):
    f = custom(kind)
    inner = 10 * np.cos(X**2) * 2 * X
    np.testing.assert_allclose(indim.grad(lambda x: np.sum(f(x**2)))(X), inner)
    np.testing.assert_allclose(indim.grad(lambda x: np.sum(f(x**2) * x))(X), inner * X + np.sin(X**2))
    value, gradient = indim.value_and_grad(lambda x: np.sum(np.exp(f(x))))(X)
    np.testing.assert_allclose(value, np.sum(np.exp(np.sin(X))))
    np.testing.assert_allclose(gradient, np.exp(np.sin(X)) * 10 * np.cos(X))
    outputs, pullback = indim.vjp(f, X)
    np.testing.assert_allclose(pullback(np.ones(3))[0], 10 * np.cos(X))
    np.testing.assert_allclose(indim.jacrev(f)(X), np.diag(10 * np.cos(X)))
    np.testing.assert_allclose(indim.jit(lambda x: indim.grad(lambda x: np.sum(f(x)))(x))(X), 10 * np.cos(X))


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_of_a_call(kind):
    f = custom(kind)
    expected = 10 * np.cos(np.sin(X)) * 10 * np.cos(X)
    np.testing.assert_allclose(indim.grad(lambda x: np.sum(f(f(x))))(X), expected)
    np.testing.assert_allclose(
        indim.grad(lambda x: np.sum(f(x) * f(2 * x)))(X),
        10 * np.cos(X) * np.sin(2 * X) + np.sin(X) * 20 * np.cos(2 * X),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_second_derivatives(kind):
    f = custom(kind)
    # The rule itself is differentiated as usual.
    second = indim.grad(lambda x: np.sum(indim.grad(lambda x: np.sum(f(x)))(x)))(X)
    np.testing.assert_allclose(second, -10 * np.sin(X))
    np.testing.assert_allclose(indim.hessian(lambda x: np.sum(f(x)))(X), np.diag(-10 * np.sin(X)))


@pytest.mark.parametrize("kind", KINDS)
def test_batches(kind):
    f, rows = custom(kind), np.stack([X, 2 * X])
    of_row = indim.grad(lambda x: np.sum(f(x)))
    np.testing.assert_allclose(indim.vmap(of_row)(rows), 10 * np.cos(rows))
    np.testing.assert_allclose(indim.grad(lambda x: np.sum(indim.vmap(f)(x)))(rows), 10 * np.cos(rows))
    shared = indim.grad(lambda w, x: np.sum(indim.vmap(lambda r: f(w * r))(x)))(2.0, rows)
    np.testing.assert_allclose(shared, np.sum(10 * np.cos(2 * rows) * rows))
    nested = indim.grad(lambda x: np.sum(indim.vmap(indim.vmap(f))(x)))(rows)
    np.testing.assert_allclose(nested, 10 * np.cos(rows))


def test_tangents_of_custom_jvp():
    f = custom(indim.custom_jvp)
    value, tangent = indim.jvp(lambda x: f(x * x), (X,), (np.ones(3),))
    np.testing.assert_allclose(value, np.sin(X * X))
    np.testing.assert_allclose(tangent, 10 * np.cos(X * X) * 2 * X)
    np.testing.assert_allclose(indim.jacfwd(f)(X), np.diag(10 * np.cos(X)))
    tangents = indim.jit(lambda x: indim.jvp(f, (x,), (2 * x,))[1])(X)
    np.testing.assert_allclose(tangents, 10 * np.cos(X) * 2 * X)
    rows = np.stack([X, X])
    tangents = indim.jvp(indim.vmap(f), (rows,), (rows,))[1]
    np.testing.assert_allclose(tangents, 10 * np.cos(rows) * rows)


def test_several_arguments_and_results():
    @indim.custom_vjp
    def f(p, x):
        return {"product": p["w"] * x, "sum": np.sum(x)}

    f.defvjp(
        lambda p, x: (f(p, x), (p["w"], x)),
        lambda residuals, g: ({"w": 3 * g["product"]}, g["product"] * residuals[0] + g["sum"]),
    )
    loss = lambda p, x: np.sum(f(p, x)["product"]) + 5 * f(p, x)["sum"]
    by_p, by_x = indim.grad(loss, argnums=(0, 1))({"w": X}, X + 1)
    np.testing.assert_allclose(by_p["w"], 3 * np.ones(3))
    np.testing.assert_allclose(by_x, X + 5)


def test_none_is_a_gradient_of_zeros():
    f = indim.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, y), lambda y, g: (y * g, None))
    by_x, by_y = indim.grad(lambda x, y: np.sum(f(x, y)), argnums=(0, 1))(X, X + 1)
    np.testing.assert_array_equal(by_x, X + 1)
    np.testing.assert_array_equal(by_y, np.zeros(3))


def test_nondiff_argnums():
    @indim.custom_jvp
    def plain(x):
        return x

    @indim.custom_vjp
    def unused(x):
        return x

    def apply(f, x, scale):
        return f(x) * scale

    forward = indim.custom_jvp(apply, nondiff_argnums=(0,))
    forward.defjvp(lambda f, p, t: (f(p[0]) * p[1], 7 * t[0] * p[1] + t[1] * f(p[0])))
    by_x, by_scale = indim.grad(lambda x, s: np.sum(forward(np.sin, x, s)), argnums=(0, 1))(X, 2.0)
    np.testing.assert_allclose(by_x, np.full(3, 14.0))
    np.testing.assert_allclose(by_scale, np.sum(np.sin(X)))
    backward = indim.custom_vjp(apply, nondiff_argnums=(0,))
    backward.defvjp(lambda f, x, s: (f(x) * s, (x, s)), lambda f, r, g: (g * r[1] * 7, np.sum(g * f(r[0]))))
    by_x, by_scale = indim.grad(lambda x, s: np.sum(backward(np.sin, x, s)), argnums=(0, 1))(X, 2.0)
    np.testing.assert_allclose(by_x, np.full(3, 14.0))
    np.testing.assert_allclose(by_scale, np.sum(np.sin(X)))


def test_defjvps_has_a_rule_for_each_argument():
    f = indim.custom_jvp(lambda x, y: x * y)
    f.defjvps(lambda t, result, x, y: t * y, None)
    by_x, by_y = indim.grad(lambda x, y: np.sum(f(x, y)), argnums=(0, 1))(X, X + 1)
    np.testing.assert_array_equal(by_x, X + 1)
    np.testing.assert_array_equal(by_y, np.zeros(3))


def test_whole_numbers_and_python_numbers_among_the_arguments():
    f = indim.custom_vjp(lambda x, k, n: x * k + n)
    f.defvjp(lambda x, k, n: (f(x, k, n), k), lambda k, g: (g * k, None, None))
    gradient = indim.grad(lambda x, k: np.sum(f(x, k, 3.0)))(X, np.array([1, 2, 3]))
    np.testing.assert_array_equal(gradient, [1.0, 2.0, 3.0])


def test_a_rule_avoids_a_nan():
    @indim.custom_jvp
    def log1pexp(x):
        return np.log(1.0 + np.exp(x))

    @log1pexp.defjvp
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        return log1pexp(x), (1 - 1 / (1 + np.exp(x))) * t

    np.testing.assert_array_equal(indim.grad(log1pexp)(1000.0), 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_name_in_a_rule_is_seen(kind):
    scale = 2.0
    f = kind(lambda x: x)
    if kind is indim.custom_jvp:
        f.defjvp(lambda p, t: (p[0], scale * t[0]))
    else:
        f.defvjp(lambda x: (x, None), lambda _, g: (scale * g,))
    gradient = indim.grad(lambda x: np.sum(f(x)))
    np.testing.assert_array_equal(gradient(X), np.full(3, 2.0))
    scale = 5.0
    np.testing.assert_array_equal(gradient(X), np.full(3, 5.0))


def test_mistakes_name_what_to_do():
    f = indim.custom_vjp(lambda x: x)
    with pytest.raises(AttributeError, match=r"defvjp\(fwd, bwd\)"):
        f(X)
    f.defvjp(lambda x: (x, None), lambda _, g: (g,))
    with pytest.raises(TypeError, match="custom_vjp, which has no tangents.*custom_jvp"):
        indim.jvp(f, (X,), (X,))
    f.defvjp(lambda x: x, lambda _, g: (g,))
    with pytest.raises(TypeError, match=r"not \(results, residuals\)"):
        indim.grad(lambda x: np.sum(f(x)))(X)
    f.defvjp(lambda x: (x, None), lambda _, g: g)
    with pytest.raises(TypeError, match="one gradient for each argument"):
        indim.grad(lambda x: np.sum(f(x)))(X)
    f.defvjp(lambda x: (x, None), lambda _, g: (g[0],))
    with pytest.raises(TypeError, match=r"a gradient of float64\[\] for float64\[3\]"):
        indim.grad(lambda x: np.sum(f(x)))(X)
    def closing_over(w):
        h = indim.custom_vjp(lambda x: x * w)
        h.defvjp(lambda x: (x * w, None), lambda _, g: (g * w,))
        return np.sum(h(w * 2))

    with pytest.raises(ValueError, match="pass it as an argument"):
        indim.grad(closing_over)(X)
    g = indim.custom_jvp(lambda x: x)
    g.defjvp(lambda p, t: t[0])
    with pytest.raises(TypeError, match=r"not \(results, tangents\)"):
        indim.grad(lambda x: np.sum(g(x)))(X)
    h = indim.custom_vjp(lambda k, x: x, nondiff_argnums=(0,))
    h.defvjp(lambda k, x: (x, None), lambda k, _, g: (g,))
    with pytest.raises(TypeError, match="in nondiff_argnums, and a traced value"):
        indim.grad(lambda x: np.sum(h(x, x)))(X)


def test_arrays_from_outside_are_whole_in_every_element_of_a_batch():
    @indim.custom_jvp
    def weighted(weights, x):
        return np.sum(weights * x**2)

    @weighted.defjvp
    def weighted_jvp(primals, tangents):
        (weights, x), (weights_tangent, x_tangent) = primals, tangents
        change = np.sum(2 * weights * x * x_tangent) + np.sum(weights_tangent * x**2)
        return weighted(weights, x), change

    # As many weights as elements of the batch.
    for weights in (np.array([1.0, 10.0, 100.0]), np.float64(111.0), 111.0):

        def total(xs):
            return np.sum(indim.vmap(lambda x: weighted(weights, x))(xs))

        np.testing.assert_array_equal(indim.grad(total)(np.ones(3)), [222.0] * 3)


def test_hessians_through_functions_of_outside_arrays():
    a = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 4.0]])
    hessian = indim.hessian(lambda x: x @ np.linalg.solve(a, x))(np.ones(3))
    inverse = np.linalg.inv(a)
    np.testing.assert_allclose(hessian, inverse + inverse.T, rtol=1e-12, atol=1e-15)


def test_arguments_of_integers_have_no_gradient():
    @indim.custom_jvp
    def chosen(index, x):
        return x[index] ** 2

    @chosen.defjvp
    def rule(primals, tangents):
        (index, x), (_, t) = primals, tangents
        return chosen(index, x), 20 * x[index] * t[index]

    found = indim.grad(lambda index, x: chosen(index, x).sum(), argnums=1)(np.array([0, 2]), X)
    np.testing.assert_array_equal(found, [10.0, 0.0, 40.0])


@indim.custom_jvp
def tenfold(x):
    return x * 1.0


@tenfold.defjvp
def tenfold_jvp(primals, tangents):
    return tenfold(primals[0]), 10 * tangents[0]


def test_pickles():
    import pickle

    assert pickle.loads(pickle.dumps(tenfold)) is tenfold
    cloudpickle = pytest.importorskip("cloudpickle")
    for kind in (indim.custom_jvp, indim.custom_vjp):
        f = custom(kind)
        found = pickle.loads(cloudpickle.dumps(f))
        np.testing.assert_array_equal(indim.grad(lambda x, f=found: np.sum(f(x)))(X), 10 * np.cos(X))
