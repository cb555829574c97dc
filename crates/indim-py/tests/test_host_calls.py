"""Factorisations that NumPy computes between two programs."""

import warnings

import numpy as np
import pytest

import indim

RANDOM = np.random.default_rng(7)
X = RANDOM.normal(size=(30, 4))
SQUARE = X.T @ X


@pytest.fixture(autouse=True)
def without_warnings():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(.*) is compiled around", RuntimeWarning)
        yield


def components(x):
    centred = x - x.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    values[0] = 0.0
    return {"scores": centred @ vectors[:, ::-1], "values": np.sqrt(values)}


def test_a_function_around_a_call_of_numpy():
    compiled = indim.jit(components)
    for x in (X, X[:10], X[:10, :2].copy(), X.astype("f4")):
        found, expected = compiled(x), components(x)
        np.testing.assert_allclose(found["values"], expected["values"], rtol=1e-4)
        np.testing.assert_allclose(abs(found["scores"]), abs(expected["scores"]), rtol=1e-2, atol=1e-3)
        assert found["scores"].dtype == x.dtype


def test_the_results_are_those_of_numpy():
    for function in (
        lambda a: np.linalg.svd(2.0 * a, full_matrices=False),
        lambda a: np.linalg.eigh(2.0 * a, UPLO="U"),
        lambda a: np.linalg.qr(2.0 * a[:, :2], mode="complete"),
        lambda a: np.linalg.lstsq(2.0 * a, a[0], None),
        lambda a: np.linalg.lstsq(a[0] * np.eye(4), a[:, :2])[0],
        lambda a: [np.linalg.pinv(2.0 * a, 1e-3), np.linalg.pinv(2.0 * a), np.linalg.cond(2.0 * a, 1)],
        lambda a: np.linalg.eigvals(np.stack([2.0 * a, a - a.T])),
        lambda a: np.linalg.tensorsolve(2.0 * a, a[0]),
        lambda a: np.linalg.svd(2.0 * a).S[np.linalg.svd(2.0 * a).S > 20],
        lambda a: np.roots(2.0 * a[0]),
    ):
        found, expected = indim.jit(function)(SQUARE), function(SQUARE)
        assert type(found).__name__ in (type(expected).__name__, "ndarray")
        for one, other in zip(indim.tree.leaves(found), indim.tree.leaves(expected)):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype


@pytest.mark.parametrize("ord", [2, -2, "nuc"])
def test_norms_by_singular_values(ord):
    x = RANDOM.normal(size=(2, 3, 4))
    for options in ({"axis": (0, 2)}, {"axis": (2, 1), "keepdims": True}, {"axis": (-1, 0)}):
        found = indim.jit(lambda x, options=options: np.linalg.norm(2 * x, ord, **options))(x)
        expected = np.linalg.norm(2 * x, ord, **options)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    if ord != -2:
        assert indim.jit(lambda x: np.linalg.norm(x, ord))(x[0, :, :0]) == 0
    if hasattr(np.linalg, "matrix_norm"):
        found = indim.jit(lambda x: np.linalg.matrix_norm(x, ord=ord))(x)
        np.testing.assert_allclose(found, np.linalg.matrix_norm(x, ord=ord), rtol=1e-14)


def test_a_warning_says_so_once():
    def function(x):
        return np.linalg.svd(x)[1] + np.linalg.svd(x + 1)[1]

    compiled = indim.jit(function)
    with pytest.warns(RuntimeWarning, match="compiled around a call of numpy.linalg.svd") as caught:
        compiled(SQUARE)
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(SQUARE)
        compiled(SQUARE[:3])


def test_calls_without_programs_around_them_are_refused():
    compiled = indim.jit(components)
    for call in (
        lambda: indim.grad(lambda x: np.sum(np.linalg.eigvalsh(x)))(SQUARE),
        lambda: indim.vmap(np.linalg.pinv)(SQUARE[None]),
        lambda: indim.fori_loop(0, 2, lambda i, s: np.linalg.pinv(s), SQUARE),
    ):
        with pytest.raises(TypeError, match="between two programs, which loops, branches, `vmap` and deriv"):
            call()
    for call in (
        lambda: compiled.export("stablehlo", X),
        lambda: indim.jit(components).explain("f64[5, 3]"),
        lambda: compiled(X, out={"scores": np.zeros_like(X), "values": np.zeros(4)}),
    ):
        with pytest.raises(TypeError, match="between two programs|takes no `out`"):
            call()
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        indim.jit(np.linalg.eigh)(X)


def test_derivatives_take_the_results_of_calls_around_them():
    def function(x):
        values = np.linalg.eigvalsh(x)
        return indim.grad(lambda row: np.sum(row**2 * values))(x[0])

    np.testing.assert_array_equal(indim.jit(function)(SQUARE), 2 * SQUARE[0] * np.linalg.eigvalsh(SQUARE))
