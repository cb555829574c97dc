"""Keywords of ``jax.numpy`` that NumPy's functions lack. The expected values are those of JAX."""

import numpy as np
import pytest

import indim
import indim.numpy as jnp

A, B = np.array([3, 1, 2, 3, 5]), np.array([3, 7, 1])
X = np.arange(6.0).reshape(2, 3)

#: A call of an array, and its results.
CALLS = {
    "setdiff1d": (lambda a: jnp.setdiff1d(a, B, size=4), [2, 5, 0, 0]),
    "setdiff1d filled": (lambda a: jnp.setdiff1d(a, B, size=4, fill_value=-1), [2, 5, -1, -1]),
    "setdiff1d cut": (lambda a: jnp.setdiff1d(a, B, size=1), [2]),
    "setdiff1d in order": (lambda a: jnp.setdiff1d(a, B, True, size=3), [2, 5, 0]),
    "intersect1d": (lambda a: jnp.intersect1d(a, B, size=4), [1, 3, 1, 1]),
    "intersect1d filled": (lambda a: jnp.intersect1d(a, B, size=4, fill_value=-1), [1, 3, -1, -1]),
    "intersect1d indices": (
        lambda a: jnp.stack(jnp.intersect1d(a, B, return_indices=True, size=4)),
        [[1, 3, 1, 1], [1, 0, 5, 5], [2, 0, 3, 3]],
    ),
    "setxor1d": (lambda a: jnp.setxor1d(a, B, size=5), [2, 5, 7, 2, 2]),
    "setxor1d filled": (lambda a: jnp.setxor1d(a, B, size=5, fill_value=-1), [2, 5, 7, -1, -1]),
    "isin": (lambda a: jnp.isin(a, B, method="sort"), [True, True, False, True, False]),
    "digitize": (lambda a: jnp.digitize(a, jnp.array([1, 3]), right=True, method="scan"), [1, 0, 1, 1, 2]),
    "delete": (lambda a: jnp.delete(a, np.array([0, 1]), assume_unique_indices=True), [2, 3, 5]),
    "polyval": (lambda a: jnp.polyval(a, 2, unroll=4), 75),
    "polymul": (lambda a: jnp.polymul(a[1:3], jnp.array([0, 1])), [0, 1, 2]),
    "interp": (
        lambda a: jnp.interp(jnp.array([-1.0, 2.5, 9.0]), jnp.arange(5.0), a, "extrapolate", "extrapolate"),
        [5, 2.5, 15],
    ),
    "interp left": (lambda a: jnp.interp(jnp.array([-1.0, 9.0]), jnp.arange(5.0), a, "extrapolate"), [5, 5]),
    "sum": (lambda a: jnp.sum(a.astype(np.int8), promote_integers=False), np.int8(14)),
    "prod": (lambda a: jnp.prod(a.astype(np.int8), promote_integers=True), 90),
    "convolve": (lambda a: jnp.convolve(a, B, "same", preferred_element_type=float), [24.0, 16, 24, 38, 38]),
    "mask_indices": (
        lambda a: jnp.stack(jnp.mask_indices(2, jnp.triu, size=4)) + 0 * a[0],
        [[0, 0, 1, 0], [0, 1, 1, 0]],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_keywords_of_jax(name):
    function, expected = CALLS[name]
    for call in (function, indim.jit(function)):
        np.testing.assert_array_equal(call(A), expected)
        if hasattr(expected, "dtype"):
            assert call(A).dtype == expected.dtype


@pytest.mark.skipif(not hasattr(np, "unique_all"), reason="NumPy 2 has these functions")
def test_unique_with_a_size():
    for call in (lambda a: jnp.unique_all(a, size=5), indim.jit(lambda a: tuple(jnp.unique_all(a, size=5)))):
        expected = [1, 2, 3, 5, 1], [1, 2, 0, 4, 1], [2, 0, 1, 2, 3], [1, 1, 2, 1, 0]
        for found, of in zip(call(A), expected, strict=True):
            np.testing.assert_array_equal(found, of)
    found = jnp.unique_counts(A, size=5)
    np.testing.assert_array_equal(found.counts, [1, 1, 2, 1, 0])
    np.testing.assert_array_equal(jnp.unique_inverse(A, size=5).inverse_indices, [2, 0, 1, 2, 3])
    np.testing.assert_array_equal(jnp.unique_values(A, size=2), [1, 2])


def test_hints_of_linear_algebra():
    m = X @ X.T + np.eye(2)
    calls = (
        (lambda m: jnp.linalg.slogdet(m, method="lu")[1], lambda m: np.linalg.slogdet(m)[1]),
        (lambda m: jnp.linalg.eigh(m, symmetrize_input=True)[0], lambda m: np.linalg.eigh(m)[0]),
        (lambda m: jnp.linalg.multi_dot([m, m], precision=None), lambda m: m @ m),
        (lambda m: jnp.roots(m[0], strip_zeros=False), lambda m: np.roots(m[0])),
    )
    for call, expected in calls:
        np.testing.assert_allclose(indim.jit(call)(m), expected(m), rtol=1e-12)
    with pytest.raises(TypeError, match="omit the keyword"):
        jnp.polydiv(A, B, trim_leading_zeros=False)
    with pytest.raises(TypeError, match="unexpected keyword argument 'metod'"):
        jnp.isin(A, B, metod="sort")
