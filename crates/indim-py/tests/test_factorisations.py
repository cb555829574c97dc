"""Inverses, solutions, determinants and Cholesky factors of traced matrices, against LAPACK's; their
derivatives against finite differences."""

import indim
import numpy as np
import pytest

SHAPES = [(3, 3), (1, 1), (2, 4, 5, 5), (17, 17), (0, 0), (3, 0, 0)]


def matrices(shape, dtype):
    generator = np.random.default_rng(sum(shape))
    a = generator.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * generator.standard_normal(shape)
    return a.astype(dtype)


def is_close(found, expected, dtype):
    tolerance = 1e-9 if np.dtype(dtype).type(0).real.itemsize == 8 else 1e-3
    return found.dtype == expected.dtype and np.allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_results_are_those_of_lapack(shape, dtype):
    a, b = matrices(shape, dtype), matrices((*shape[:-1], 2), dtype)
    definite = a @ np.conj(np.swapaxes(a, -1, -2)) + (shape[-1] + 1) * np.eye(shape[-1], dtype=dtype)
    cases = [
        (np.linalg.inv, (a,)),
        (np.linalg.solve, (a, b)),
        (np.linalg.solve, (a, b[(0,) * (len(shape) - 2)][:, 0])),
        (np.linalg.det, (a,)),
        (lambda a: tuple(np.linalg.slogdet(a)), (a,)),
        (np.linalg.cholesky, (definite,)),
        (lambda a: np.linalg.matrix_power(a, -2), (definite,)),
    ]
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        cases.append((lambda a: np.linalg.cholesky(a, upper=True), (definite,)))
    for function, arguments in cases:
        found, expected = indim.jit(function)(*arguments), function(*arguments)
        pairs = zip(found, expected) if isinstance(expected, tuple) else [(found, expected)]
        assert all(is_close(np.asarray(x), np.asarray(y), dtype) for x, y in pairs), function


@pytest.mark.parametrize("dtype", ["f4", "c8"])
def test_elements_of_32_bits_are_computed_in_64_bits(dtype):
    numbers = np.arange(7)
    hilbert = (1 / (numbers[:, None] + numbers + 1)).astype(dtype)
    side = hilbert[:, :2]
    cases = [
        (np.linalg.det, (hilbert,)),
        (np.linalg.inv, (hilbert,)),
        (np.linalg.solve, (hilbert, side)),
        (lambda a: np.linalg.slogdet(a)[1], (hilbert,)),
        (np.linalg.cholesky, (hilbert[:5, :5],)),
    ]
    for function, arguments in cases:
        found, expected = indim.jit(function)(*arguments), function(*arguments)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_rows_are_swapped_and_singular_matrices_have_no_error():
    swapped = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert indim.jit(np.linalg.det)(swapped) == -1
    assert np.array_equal(indim.jit(np.linalg.inv)(swapped), swapped)
    singular = np.ones((3, 3))
    assert indim.jit(np.linalg.det)(singular) == 0
    assert tuple(indim.jit(np.linalg.slogdet)(singular)) == (0, -np.inf)
    assert not np.isfinite(indim.jit(np.linalg.inv)(singular)).all()
    assert np.isnan(indim.jit(np.linalg.cholesky)(-np.eye(2))).any()
    # NumPy reads one triangle.
    lower = np.array([[4.0, np.nan], [2.0, 3.0]])
    assert np.allclose(indim.jit(np.linalg.cholesky)(lower), np.linalg.cholesky(lower))


def test_wrong_matrices_are_refused():
    for function, arguments, error in (
        (np.linalg.inv, (np.ones((2, 3)),), np.linalg.LinAlgError),
        (np.linalg.det, (np.ones(3),), np.linalg.LinAlgError),
        (np.linalg.solve, (np.eye(3), np.ones(4)), ValueError),
        (np.linalg.inv, (np.eye(3, dtype="f2"),), TypeError),
    ):
        with pytest.raises(error):
            function(*arguments)
        with pytest.raises(error):
            indim.jit(function)(*arguments)


def gradient(function, x, step):
    found = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        change = np.zeros_like(x)
        change[index] = step
        found[index] = (function(x + change) - function(x - change)) / (2 * step)
    return found


A = matrices((4, 4), "f8") + 3 * np.eye(4)
B = matrices((4, 2), "f8")
FUNCTIONS = {
    "solve": (lambda a: np.sum(np.sin(np.linalg.solve(a, B))), A),
    "right side": (lambda b: np.sum(np.sin(np.linalg.solve(A, b))), B),
    "inv": (lambda a: np.sum(np.sin(np.linalg.inv(a))), A),
    "det": (lambda a: np.linalg.det(a / 3) ** 2, A),
    "slogdet": (lambda a: np.linalg.slogdet(a)[1], A),
    "cholesky": (lambda x: np.sum(np.sin(np.linalg.cholesky(x @ x.T + np.eye(4)))), A),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_of_finite_differences(name):
    function, x = FUNCTIONS[name]
    direction = np.cos(np.arange(x.size)).reshape(x.shape)
    expected = gradient(function, x, 1e-6)
    assert np.allclose(indim.grad(function)(x), expected, rtol=1e-5, atol=1e-6)
    tangent = indim.jvp(function, (x,), (direction,))[1]
    assert np.isclose(tangent, np.sum(expected * direction), rtol=1e-5, atol=1e-6)

    def slope(x):
        return np.sum(indim.grad(function)(x) * direction)

    assert np.allclose(indim.grad(slope)(x), gradient(slope, x, 1e-6), rtol=1e-5, atol=1e-5)


def test_batches_are_stacks():
    a, b = matrices((6, 3, 3), "f8"), matrices((6, 3), "f8")
    assert np.allclose(indim.vmap(np.linalg.solve)(a, b), np.linalg.solve(a, b[..., None])[..., 0])
    slopes = indim.vmap(indim.grad(lambda a: np.linalg.slogdet(a)[1]))(a)
    assert np.allclose(slopes, np.swapaxes(np.linalg.inv(a), -1, -2))


def cofactors(a):
    size = len(a)
    minor = lambda i, k: np.linalg.det(np.delete(np.delete(a, i, 0), k, 1))  # noqa: E731
    return np.array([[(-1) ** (i + k) * minor(i, k) for k in range(size)] for i in range(size)])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7])
def test_the_derivative_of_a_determinant_is_the_adjugate_at_every_rank(size):
    generator = np.random.default_rng(size)
    for rank in range(size + 1):
        for draw in (generator.standard_normal, lambda shape: generator.integers(-3, 4, shape) * 1.0):
            a = draw((size, rank)) @ draw((rank, size))
            expected = cofactors(a)
            tolerance = 1e-12 * max(1, np.abs(a).max()) ** size
            np.testing.assert_allclose(indim.grad(np.linalg.det)(a), expected, rtol=1e-11, atol=tolerance)
    stack = generator.standard_normal((3, size, size))
    found = indim.grad(lambda a: np.linalg.det(a).sum())(stack)
    np.testing.assert_allclose(found, np.stack([cofactors(a) for a in stack]), rtol=1e-9, atol=1e-11)


def test_second_derivatives_of_small_singular_determinants():
    function = lambda a: np.linalg.det(a)  # noqa: E731
    found = indim.hessian(function)(np.array([[1.0, 2.0], [2.0, 4.0]]))
    np.testing.assert_array_equal(found[:, :, 0, 0], [[0, 0], [0, 1]])
    np.testing.assert_array_equal(found[:, :, 0, 1], [[0, 0], [-1, 0]])
    # The second derivatives of a determinant of 3 rows are elements of the matrix.
    found = indim.hessian(function)(np.zeros((3, 3)) + np.diag([5.0, 0, 0]))
    assert found[1, 1, 2, 2] == 5 and found[1, 2, 2, 1] == -5 and np.isfinite(found).all()


@pytest.mark.parametrize(
    "diagonal",
    [[1e200, 1e200, 1e-200, 1e-200], [1e-200, 1e-200, 1e200, 1e200], [0.6] * 99, [1e200, 1e200]],
)
def test_parts_of_a_determinant_do_not_overflow(diagonal):
    a = np.diag(diagonal)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(indim.jit(np.linalg.det)(a), np.linalg.det(a), rtol=1e-11)
    if len(diagonal) == 4:
        np.testing.assert_allclose(indim.jit(np.linalg.det)(a * 1j), np.linalg.det(a * 1j), rtol=1e-11)


def test_infinite_pivots_give_zeros():
    for diagonal in ([np.inf, 1.0], [1.0, np.inf, 2.0], [np.inf, np.inf]):
        a = np.diag(diagonal)
        np.testing.assert_array_equal(indim.jit(np.linalg.inv)(a), np.linalg.inv(a))
        b = np.ones(len(diagonal))
        np.testing.assert_array_equal(indim.jit(np.linalg.solve)(a, b), np.linalg.solve(a, b))


@pytest.mark.parametrize(
    "matrix",
    [
        *([[np.inf, 1], [1, 2]], [[-np.inf, 1], [1, 2]], [[1, 2], [np.inf, 1]], [[0, 1], [-np.inf, 0]]),
        [[0, 0], [0, 1]],
    ],
)
def test_the_sign_of_an_infinite_determinant(matrix):
    matrix = np.array(matrix, float)
    with np.errstate(all="ignore"):
        assert tuple(indim.jit(np.linalg.slogdet)(matrix)) == tuple(np.linalg.slogdet(matrix))


def test_integers_beside_floats_are_of_64_bits():
    solve = indim.jit(np.linalg.solve)
    for of_a, of_b in (("f4", "i2"), ("i2", "f4"), ("f4", "?"), ("f4", "f4"), ("i1", "i1"), ("c8", "i1")):
        a, b = np.eye(2).astype(of_a), np.ones(2).astype(of_b)
        assert solve(a, b).dtype == np.linalg.solve(a, b).dtype
