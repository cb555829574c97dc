"""Derivatives through loops and branches, compared with formulas, unrolled loops and finite differences."""

import indim
import numpy as np
import pytest

SEED = np.random.default_rng(7)
INPUTS = SEED.standard_normal((5, 3))
WEIGHTS = SEED.standard_normal((3, 3)) * 0.5
START = SEED.standard_normal(3)


def differences(f, x, step=1e-6):
    """The gradient of ``f`` at ``x`` by central differences."""
    x = np.asarray(x, np.float64)
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        moved = np.zeros_like(x)
        moved[index] = step
        gradient[index] = (float(f(x + moved)) - float(f(x - moved))) / (2 * step)
    return gradient


def network(params, inputs):
    """A recurrent network, with the results of all steps."""

    def step(state, x):
        state = np.tanh(state @ params["w"] + x + params["b"])
        return state, np.sum(state**2)

    last, losses = indim.scan(step, params["start"], inputs)
    return np.sum(losses) + np.sum(last)


def unrolled(params, inputs):
    state, total = params["start"], 0.0
    for row in range(5):
        state = np.tanh(state @ params["w"] + inputs[row] + params["b"])
        total = total + np.sum(state**2)
    return total + np.sum(state)


PARAMS = {"w": WEIGHTS, "b": np.array([0.1, -0.2, 0.3]), "start": START}


def test_a_recurrent_network_has_the_gradient_of_the_unrolled_one():
    value, (of_params, of_inputs) = indim.value_and_grad(network, argnums=(0, 1))(PARAMS, INPUTS)
    expected, (params, inputs) = indim.value_and_grad(unrolled, argnums=(0, 1))(PARAMS, INPUTS)
    np.testing.assert_allclose(value, expected, rtol=1e-14)
    np.testing.assert_allclose(of_inputs, inputs, rtol=1e-12)
    for name in PARAMS:
        np.testing.assert_allclose(of_params[name], params[name], rtol=1e-12)
    compiled = indim.jit(indim.grad(network))(PARAMS, INPUTS)
    np.testing.assert_array_equal(compiled["w"], of_params["w"])
    np.testing.assert_allclose(
        of_params["w"], differences(lambda w: network({**PARAMS, "w": w}, INPUTS), WEIGHTS), rtol=1e-7
    )


def test_a_compiled_gradient_serves_several_lengths():
    def loss(w, xs):
        return np.sum(indim.scan(lambda s, x: (np.sin(s * w + x), None), np.zeros(3), xs)[0])

    gradient = indim.jit(indim.grad(loss))
    for length in [5, 3, 4, 1]:
        xs = INPUTS[:length]
        np.testing.assert_allclose(
            gradient(START, xs), differences(lambda w, xs=xs: loss(w, xs), START), rtol=1e-6, atol=1e-9
        )


def test_an_unrolled_runge_kutta_method():
    # s' = -k * s, whose solution is s0 * exp(-k * t).
    def solution(k, s0, steps=50, h=0.02):
        def step(i, s):
            slope = lambda s: -k * s  # noqa: E731
            k1 = slope(s)
            k2 = slope(s + h / 2 * k1)
            k3 = slope(s + h / 2 * k2)
            k4 = slope(s + h * k3)
            return s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

        return indim.fori_loop(0, steps, step, s0)

    k, s0 = 1.3, 2.0
    of_k, of_s0 = indim.grad(solution, argnums=(0, 1))(np.float64(k), np.float64(s0))
    np.testing.assert_allclose(of_k, -s0 * np.exp(-k), rtol=1e-7)
    np.testing.assert_allclose(of_s0, np.exp(-k), rtol=1e-7)
    _, tangent = indim.jvp(solution, (k, s0), (1.0, 0.0))
    np.testing.assert_allclose(tangent, of_k, rtol=1e-13)
    second = indim.grad(indim.grad(solution))(np.float64(k), np.float64(s0))
    np.testing.assert_allclose(second, s0 * np.exp(-k), rtol=1e-6)


def root(a):
    return indim.while_loop(lambda x: np.abs(x * x - a) > 1e-13 * a, lambda x: (x + a / x) / 2, a)


def test_a_loop_of_unknown_length_has_tangents():
    value, tangent = indim.jvp(root, (9.0,), (1.0,))
    np.testing.assert_allclose([value, tangent], [3.0, 1 / 6], rtol=1e-12)
    with pytest.raises(indim.IndimError, match="its length is not known: write fori_loop") as caught:
        indim.grad(root)(9.0)
    assert caught.value.code == "not-differentiable"
    # A bound that is an array is an input of the program.
    def power(x, n):
        return indim.fori_loop(0, n, lambda i, s: s * x, x)

    with pytest.raises(indim.IndimError, match="its length is not known"):
        indim.grad(power)(2.0, np.int64(3))
    # A Python number is a part of the program.
    gradient = indim.jit(lambda x, n: indim.grad(power)(x, n))
    for n in [3, 4, 0]:
        assert indim.grad(power)(2.0, n) == gradient(2.0, n) == (n + 1) * 2.0**n


def test_counters_of_while_loops_are_recognised():
    def power(x):
        def step(state):
            i, product = state
            return i - 2, product * x

        return indim.while_loop(lambda state: state[0] > 0, step, (9, x))[1]

    np.testing.assert_allclose(indim.grad(power)(1.5), 6 * 1.5**5, rtol=1e-14)
    np.testing.assert_allclose(indim.grad(indim.grad(power))(1.5), 30 * 1.5**4, rtol=1e-14)


def test_branches_have_the_gradient_of_the_function_that_runs():
    def chosen(x, y):
        return indim.cond(x > y, lambda x, y: x * y, lambda x, y: np.sin(y), x, y)

    assert [float(g) for g in indim.grad(chosen, argnums=(0, 1))(3.0, 2.0)] == [2.0, 3.0]
    assert [float(g) for g in indim.grad(chosen, argnums=(0, 1))(1.0, 2.0)] == [0.0, np.cos(2.0)]

    def switched(x, index):
        return indim.switch(index, [np.sin, lambda x: x**3, np.exp], x)

    for index, expected in enumerate([np.cos(0.7), 3 * 0.7**2, np.exp(0.7)]):
        np.testing.assert_allclose(indim.grad(switched)(0.7, np.int64(index)), expected, rtol=1e-14)
        _, tangent = indim.jvp(lambda x: switched(x, np.int64(index)), (0.7,), (2.0,))
        np.testing.assert_allclose(tangent, 2 * expected, rtol=1e-14)
    # A function that does not run is not evaluated, so its infinite derivative does no harm.
    assert indim.grad(lambda x: indim.cond(x > 0, np.log, lambda x: x, x))(0.0) == 1.0


def test_a_branch_in_a_scan():
    def loss(x):
        def step(total, part):
            total = indim.cond(part > 0, lambda: total + part**2, lambda: total * 0.5)
            return total, total

        last, totals = indim.scan(step, 1.0, x)
        return last + np.sum(totals * np.arange(4.0))

    x = np.array([0.5, -1.0, 2.0, 1.5])
    np.testing.assert_allclose(indim.grad(loss)(x), differences(loss, x), rtol=1e-8, atol=1e-9)


def test_rows_of_an_outside_array_are_read_at_every_step():
    def loss(table, indices):
        def step(i, total):
            return np.sin(total + table[indices[i]] * table[i])

        return np.sum(indim.fori_loop(0, 4, step, np.zeros(3)))

    indices = np.array([2, 0, 2, 1])
    np.testing.assert_allclose(
        indim.grad(loss)(INPUTS, indices),
        differences(lambda table: loss(table, indices), INPUTS),
        rtol=1e-7,
        atol=1e-9,
    )


def test_hessians_and_jacobians_of_loops():
    def cube(x):
        return np.sum(indim.fori_loop(0, 2, lambda i, s: s * x, x))

    x = np.array([1.0, 2.0, -3.0])
    np.testing.assert_allclose(indim.hessian(cube)(x), np.diag(6 * x), rtol=1e-14)

    def running(x):
        return indim.scan(lambda s, x: (s * x, s * x), 1.0, x)[1]

    expected = [[1, 0, 0], [2, 1, 0], [-6, -3, 2]]
    np.testing.assert_allclose(indim.jacrev(running)(x), expected, rtol=1e-14)
    np.testing.assert_allclose(indim.jacfwd(running)(x), expected, rtol=1e-14)
    hessian = indim.hessian(network)(PARAMS, INPUTS)["start"]["start"]
    gradient = indim.grad(lambda start: network({**PARAMS, "start": start}, INPUTS))
    for row in range(3):
        np.testing.assert_allclose(
            hessian[row], differences(lambda s, row=row: gradient(s)[row], START), rtol=1e-6, atol=1e-8
        )


def test_gradients_of_batches_and_batches_of_gradients():
    def loss(w, x):
        return np.sum(indim.scan(lambda s, x: (np.sin(s * w + x), None), 0.5, x)[0])

    of_each = [indim.grad(loss)(np.float64(0.7), row) for row in INPUTS]
    each = indim.vmap(indim.grad(loss), in_axes=(None, 0))(np.float64(0.7), INPUTS)
    np.testing.assert_array_equal(each, of_each)
    total = indim.grad(lambda w: np.sum(indim.vmap(loss, in_axes=(None, 0))(w, INPUTS)))(0.7)
    np.testing.assert_allclose(total, np.sum(each), rtol=1e-13)

    def chosen(x):
        return indim.cond(x > 0, lambda x: x**2, lambda x: -x, x)

    x = np.array([2.0, -1.0, 3.0])
    np.testing.assert_array_equal(indim.vmap(indim.grad(chosen))(x), [4.0, -1.0, 6.0])
    np.testing.assert_array_equal(indim.grad(lambda x: np.sum(indim.vmap(chosen)(x)))(x), [4.0, -1.0, 6.0])


def test_no_steps_pass_the_gradient_on():
    grown = lambda x, w: np.sum(indim.fori_loop(2, 2, lambda i, s: s * w, x) * x)  # noqa: E731
    of_x, of_w = indim.grad(grown, argnums=(0, 1))(START, START)
    np.testing.assert_array_equal(of_x, 2 * START)
    np.testing.assert_array_equal(of_w, np.zeros(3))
    scanned = lambda w, xs: indim.scan(lambda s, x: (s * w + x, None), w, xs)[0]  # noqa: E731
    assert indim.grad(scanned)(2.0, np.zeros(0)) == 1.0


def test_training_in_a_loop_is_differentiated():
    # The gradient with respect to the step size, of the loss after three steps.
    def after(rate):
        step = lambda i, w: w - rate * indim.grad(lambda w: np.sum((w - 3.0) ** 2))(w)  # noqa: E731
        return np.sum((indim.fori_loop(0, 3, step, np.zeros(2)) - 3.0) ** 2)

    # 2 * 9 * (1 - 2 rate)^6
    np.testing.assert_allclose(after(0.1), 18 * 0.8**6, rtol=1e-13)
    np.testing.assert_allclose(indim.grad(after)(0.1), -18 * 12 * 0.8**5, rtol=1e-13)


def test_functions_with_derivatives_of_their_own_are_refused_in_differentiated_bodies():
    @indim.custom_vjp
    def clipped(x):
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, g: (np.clip(g, -1, 1),))

    def loss(x):
        return np.sum(indim.fori_loop(0, 3, lambda i, s: clipped(s) * 2.0, x))

    np.testing.assert_array_equal(loss(START), np.sum(8 * START))
    with pytest.raises(TypeError, match="call it outside the loop or branch"):
        indim.grad(loss)(START)
    with pytest.raises(TypeError, match="call it outside the loop or branch"):
        indim.vmap(indim.grad(loss))(np.stack([START, START]))
    # The derivative of a function around the loop.
    outer = indim.custom_vjp(lambda x: indim.fori_loop(0, 3, lambda i, s: clipped(s) * 2.0, x))
    outer.defvjp(lambda x: (outer(x), None), lambda _, g: (7.0 * g,))
    np.testing.assert_array_equal(indim.grad(lambda x: np.sum(outer(x)))(START), np.full(3, 7.0))


def test_complex_states_and_keys():
    def squares(z):
        return np.abs(indim.fori_loop(0, 3, lambda i, s: s * s + z, z)) ** 2

    z, step = 0.3 + 0.2j, 1e-6
    along = [squares(np.array(z + step * d)) - squares(np.array(z - step * d)) for d in (1, 1j)]
    expected = (along[0] + 1j * along[1]) / (2 * step)
    np.testing.assert_allclose(indim.grad(squares)(np.array(z)), expected, rtol=1e-8)

    # Keys are integers, which have no derivative.
    def noisy(w):
        def step(state, _):
            key, s = state
            key, used = indim.random.split(key)
            s = s * w + indim.random.normal(used, (2,), np.float64)
            return (key, s), s

        last, parts = indim.scan(step, (indim.random.PRNGKey(0), np.zeros(2)), None, length=5)
        return np.sum(last[1] ** 2) + np.sum(parts)

    np.testing.assert_allclose(indim.grad(noisy)(0.5), differences(noisy, 0.5), rtol=1e-7)


def test_states_that_are_read_and_written_in_part():
    def loss(x):
        states = indim.fori_loop(0, 4, lambda i, s: s.at[i + 1].set(np.sin(s[i]) * x[i]), x)
        return np.sum(states**2)

    x = INPUTS[:, 0]
    np.testing.assert_allclose(indim.grad(loss)(x), differences(loss, x), rtol=1e-7, atol=1e-9)
    hessian = indim.hessian(loss)(x)
    for row in range(5):
        expected = differences(lambda x, row=row: indim.grad(loss)(x)[row], x)
        np.testing.assert_allclose(hessian[row], expected, rtol=1e-6, atol=1e-8)


def test_second_tangents_of_a_loop_of_unknown_length():
    slope = lambda a: indim.jvp(root, (a,), (1.0,))[1]  # noqa: E731
    np.testing.assert_allclose(indim.jvp(slope, (4.0,), (1.0,))[1], -1 / 32, rtol=1e-9)


def test_float32_stays_float32():
    step = lambda s, x: (np.tanh(s * x), s)  # noqa: E731
    loss = lambda x: np.sum(indim.scan(step, np.ones(3, np.float32), x)[1])  # noqa: E731
    assert indim.grad(loss)(np.ones((4, 3), np.float32)).dtype == np.float32


def test_saved_states_that_cannot_be_had_are_an_error():
    long = lambda n: indim.grad(lambda x: indim.fori_loop(0, n, lambda i, s: np.sin(s), x))  # noqa: E731
    with pytest.raises(MemoryError):
        long(1 << 50)(1.0)
    with pytest.raises(indim.IndimError, match="too large"):
        long(1 << 61)(1.0)


def test_numbers_that_are_no_bound_are_inputs_of_gradients():
    traces = []

    def f(x, n):
        traces.append(n)
        total = indim.fori_loop(0, 3, lambda i, state: (state[0] * 2, state[1] * x), (n, x))
        chosen = indim.cond(n, lambda y: y * 2, lambda y: y, total[1])
        return chosen + indim.scan(lambda carry, _: (carry * x, None), n * 1.0, length=2)[0] + total[0]

    gradient = indim.jit(indim.grad(f))
    for n in (2, 3, 4):
        expected = 2 * 4 * 1.5**3 + n * 2 * 1.5
        assert abs(float(gradient(1.5, n)) - expected) < 1e-12
    assert len(traces) == 1


def test_counters_of_while_loops_are_known():
    def f(x, n):
        return indim.while_loop(lambda s: s[0] > 0, lambda s: (s[0] - 1, s[1] * x), (n, x))[1]

    gradient = indim.jit(indim.grad(f))
    for n in (2, 3):
        assert abs(float(gradient(1.5, n)) - (n + 1) * 1.5**n) < 1e-12


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_stop_gradient_in_a_loop_gives_the_same_bits(dtype):
    """The derivative is that of the bits as constants, as in JAX, whose values these are."""
    stop, scan, fori = indim.lax.stop_gradient, indim.scan, indim.fori_loop
    steps = np.arange(1.0, 4.0)
    for f, expected in (
        (lambda x: scan(lambda c, u: (c * u + stop(c), c), x, steps)[0], (6.0, 0.0)),
        (lambda x: fori(0, 3, lambda i, c: c * x + stop(c * x), x), (64.0, 56.0)),
        (lambda x: indim.cond(x > 0, lambda x: x * stop(x), lambda x: x, x), (2.0, 0.0)),
        (lambda x: scan(lambda c, u: (stop([c[0] * u]), c[0]), [x], steps)[1].sum(), (1.0, 0.0)),
    ):
        found = indim.grad(f)(2.0), indim.grad(indim.grad(f))(2.0)
        assert (*map(float, found), float(indim.jvp(f, (2.0,), (1.0,))[1])) == (*expected, expected[0])
    of_complex = lambda x: np.abs(scan(lambda c, u: (c * u + stop(c), c), x * (1 + 2j), steps)[0])
    np.testing.assert_allclose(indim.grad(of_complex)(2.0), 6 * 5**0.5)
    x = SEED.integers(0, 256, 4000, np.uint8).view(dtype)
    x = np.concatenate([x, np.array([0.0, -0.0, np.inf, -np.inf, np.finfo(dtype).max], dtype)])
    once = lambda x: indim.fori_loop(0, 1, lambda i, c: stop(c), x)
    found = indim.jvp(once, (x,), (np.ones_like(x),))
    assert found[0][~np.isnan(x)].tobytes() == x[~np.isnan(x)].tobytes()
    assert not found[1].any() and np.isnan(found[0][np.isnan(x)]).all()


def test_a_loop_of_unknown_length_behind_stop_gradient():
    """No derivative flows through it, as in JAX."""
    stop = indim.lax.stop_gradient

    def root(x):
        return indim.while_loop(lambda y: abs(y * y - x) > 1e-4, lambda y: (y + x / y) / 2, x)

    functions = [
        lambda x: x * stop(root(x)),
        lambda x: x * root(stop(x)),
        lambda x: x * root(4.0),
        lambda x: x * stop(indim.jit(root)(x)),
    ]
    for function in functions:
        for gradient in (indim.grad(function), lambda x, f=function: indim.vjp(f, x)[1](1.0)[0]):
            assert abs(float(gradient(4.0)) - 2) < 1e-4
        assert abs(float(indim.jvp(function, (4.0,), (1.0,))[1]) - 2) < 1e-4
        assert float(indim.hessian(function)(4.0)) == 0
    np.testing.assert_allclose(indim.vmap(indim.grad(functions[0]))(np.array([4.0, 9.0])), [2, 3], 1e-4)
    np.testing.assert_allclose(indim.vmap(indim.grad(functions[1]))(np.array([4.0, 9.0])), [2, 3], 1e-4)
    # Another part of the state may depend on the input.
    step = lambda s: (s[0] * 2, s[1] + 1)
    both = lambda x: indim.while_loop(lambda s: s[0] < 3.5, step, (stop(x), 0))[0] * x
    assert float(indim.grad(both)(1.0)) == 4
    with pytest.raises(indim.ElementTypeError, match="its length is not known"):
        indim.grad(root)(4.0)


SQUARE = SEED.standard_normal((4, 4)) + 4 * np.eye(4)


def _symmetric(a):
    return np.matmul(a, a.T)


OF_MATRICES = {
    "solve": lambda a: np.linalg.solve(a, a[:, :2] + 1),
    "solve a vector": lambda a: np.linalg.solve(a, a[0]),
    "inv": np.linalg.inv,
    "det": lambda a: np.linalg.det(a) * np.eye(4),
    "stack of det": lambda a: np.linalg.det(np.stack([a, 2 * a, a.T])),
    "slogdet": lambda a: np.linalg.slogdet(a)[1] * np.linalg.slogdet(-a)[0] * a,
    "cholesky": lambda a: np.linalg.cholesky(_symmetric(a)),
    "upper": lambda a: np.linalg.cholesky(_symmetric(a), upper=True)
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0"
    else a,
    "power": lambda a: np.linalg.matrix_power(a, -2),
    "batch": lambda a: indim.vmap(np.linalg.solve)(np.stack([a, a.T]), np.stack([a[0], a[1]])),
}


@pytest.mark.parametrize("name", OF_MATRICES)
def test_matrix_functions_in_loops_have_the_derivatives_of_unrolled_ones(name):
    def step(a, shift):
        return a * 0.5 + shift * np.eye(4) + 0.1 * np.sum(np.sin(OF_MATRICES[name](a))) * a[0]

    def unrolled(a):
        for shift in (0.25, 0.5):
            a = step(a, shift)
        return np.sum(a * a)

    def scanned(a):
        return np.sum(indim.scan(lambda a, s: (step(a, s), None), a, np.array([0.25, 0.5]))[0] ** 2)

    def counted(a):
        return np.sum(indim.fori_loop(1, 3, lambda i, a: step(a, 0.25 * i), a) ** 2)

    def conditional(a):
        return indim.cond(a[0, 0] > 0, unrolled, lambda a: np.sum(a), a)

    def while_known(a):
        of = lambda state: (state[0] + 1, step(state[1], 0.25 * state[0]))  # noqa: E731
        return np.sum(indim.while_loop(lambda state: state[0] < 3, of, (1, a))[1] ** 2)

    value, expected = indim.value_and_grad(unrolled)(SQUARE)
    tangent = np.sum(expected * SQUARE[::-1])
    for function in (scanned, counted, conditional, while_known):
        found, gradient = indim.jit(indim.value_and_grad(function))(SQUARE)
        np.testing.assert_allclose(found, value, rtol=1e-12)
        np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(indim.jvp(function, (SQUARE,), (SQUARE[::-1],))[1], tangent, rtol=1e-9)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_determinants_of_singular_matrices_in_loops(rank):
    singular = np.arange(16.0).reshape(4, 4)[:, :rank] @ np.eye(rank, 4) + np.eye(rank, 4).T @ np.eye(rank, 4)

    def looped(a):
        return indim.fori_loop(0, 1, lambda i, total: total + np.linalg.det(a), 0.0)

    np.testing.assert_allclose(
        indim.grad(looped)(singular), indim.grad(np.linalg.det)(singular), rtol=1e-12, atol=1e-12
    )
    empty = indim.grad(lambda a: looped(a[:0, :0]) + np.sum(a))(singular)
    np.testing.assert_array_equal(empty, np.ones((4, 4)))


def test_second_derivatives_of_matrix_functions_in_loops():
    def looped(a):
        return np.sum(indim.fori_loop(0, 2, lambda i, a: np.linalg.inv(a) + np.eye(3), a))

    def unrolled(a):
        return np.sum(np.linalg.inv(np.linalg.inv(a) + np.eye(3)) + np.eye(3))

    a = SQUARE[:3, :3]
    np.testing.assert_allclose(indim.hessian(looped)(a), indim.hessian(unrolled)(a), rtol=1e-8, atol=1e-11)
