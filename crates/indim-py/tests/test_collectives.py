"""Collectives of ``indim.lax`` within ``vmap``: errors and sizes. `jax_programs.py` has their results."""

import pickle

import numpy as np
import pytest

import indim
from indim import lax

X = np.arange(12.0).reshape(4, 3)


def normalised(x):
    return x / lax.psum(x, "i")


def test_a_sum_over_the_batch():
    each = indim.vmap(normalised, axis_name="i")
    np.testing.assert_array_equal(each(X), X / X.sum(axis=0))
    # Another size.
    np.testing.assert_array_equal(each(X[:2]), X[:2] / X[:2].sum(axis=0))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(each))(X), each(X))


def test_sizes_and_positions():
    def of_element(x):
        return x[0] + lax.axis_index("i"), lax.axis_size("i") * lax.psum(1, "i"), lax.pmean(2, "i")

    each = indim.vmap(of_element, axis_name="i", axis_size=4, out_axes=(0, None, None))
    for found, expected in zip(each(X), (X[:, 0] + np.arange(4), 16, 2), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert indim.vmap(lambda: lax.axis_index("i"), axis_name="i", axis_size=3)().tolist() == [0, 1, 2]


def test_an_element_that_is_no_destination_gets_zeros():
    found = indim.vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (3, 0)]), axis_name="i")(X)
    np.testing.assert_array_equal(found, [X[3], X[0], 0 * X[0], 0 * X[0]])


@pytest.mark.parametrize("dtype", ["?", "i1", "i4", "u1", "u4", "i8", "f2", "f4"])
def test_sums_over_a_batch_have_the_types_of_jax(dtype):
    found = indim.vmap(lambda x: lax.psum(x, "i"), axis_name="i", out_axes=None)(X.astype(dtype))
    assert found.dtype == ("i4" if dtype == "?" else dtype)
    np.testing.assert_array_equal(found, X.astype(dtype).sum(axis=0))


@pytest.mark.parametrize("pair", [(0, 4), (4, 0), (-1, 0), (0, -1)])
def test_permutations_name_elements_of_the_batch(pair):
    with pytest.raises(ValueError, match="elements from 0 to 3"):
        indim.vmap(lambda x: lax.ppermute(x, "i", [pair]), axis_name="i")(X)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lax.psum(X, "i"), NameError, r"'i' is none: write indim.vmap\(f, axis_name='i'\)"),
        (lambda: indim.vmap(normalised, axis_name="j")(X), NameError, "psum takes the name"),
        (lambda: indim.vmap(lambda x: x, axis_size=3)(X), ValueError, "axis_size is 3, and .* 4 elements"),
        (
            lambda: indim.vmap(lambda x: lax.psum(x, "i", axis_index_groups=[[0]]), axis_name="i")(X),
            TypeError,
            "two nested calls of vmap",
        ),
        (
            lambda: indim.vmap(indim.grad(lambda x: np.sum(lax.psum(x, "i"))), axis_name="i")(X),
            TypeError,
            "in the derivative of a function within vmap",
        ),
        (
            lambda: indim.vmap(
                lambda x: lax.fori_loop(0, 2, lambda i, x: lax.pmax(x, "i"), x), axis_name="i"
            )(X),
            TypeError,
            "in a loop or branch within vmap",
        ),
        (
            lambda: indim.vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (2, 1)]), axis_name="i")(X),
            ValueError,
            "each destination once",
        ),
        (
            lambda: indim.vmap(lambda x: lax.all_to_all(x, "i", 0, 0), axis_name="i")(X),
            ValueError,
            "splits an axis of 3 among 4",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_errors_of_sorts_by_keys():
    with pytest.raises(ValueError, match="1 to 2 keys"):
        lax.sort((X, X), num_keys=3)
    with pytest.raises(TypeError, match="one shape"):
        lax.sort((X, X[0]))


def test_errors_of_attention():
    attend = indim.nn.dot_product_attention
    query, key = np.ones((2, 5, 4, 8)), np.ones((2, 6, 3, 8))
    for arguments, keywords, message in (
        ((query, key, key), {}, "4 heads of `query` are no multiple of the 3 heads"),
        ((query, key, key[:, :5]), {}, "`value` has the shape"),
        ((query[..., :7], key, key), {}, "7 features"),
        ((query, query, query), {"mask": np.ones((2, 4, 5, 5))}, "an additive mask is a `bias`"),
        ((query, query, query), {"bias": np.ones((2, 3, 5, 5))}, "`bias` has 3 heads"),
        ((query, query.astype(np.float32), query), {}, "one element type"),
        ((query[0, 0], key, key), {}, "position, head and feature"),
        ((query, query, query), {"implementation": "cudnn"}, "needs a GPU"),
    ):
        with pytest.raises(ValueError, match=message):
            attend(*arguments, **keywords)
