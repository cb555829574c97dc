"""Updates at indices, segments and counts, against NumPy's `ufunc.at` and loops."""

import numpy as np
import pytest

import indim

X = np.arange(24.0).reshape(2, 3, 4) - 7.5
I = np.array([[1, -1, 0], [0, 2, -3]])
METHODS = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}

KEYS = {
    "one": 1,
    "a number from the end": (-1, 2),
    "slices": (slice(None), slice(1, None), slice(None, None, -2)),
    "an array": np.array([1, 0, 1, 1]),
    "an array behind a slice": (slice(None), I),
    "arrays": (I % 2, I, I - 1),
    "arrays apart": ([1, 0, 1], slice(None), [3, 0, -1]),
    "a new axis": (np.array([1, 1]), None, 0),
    "nothing": [],
}


def updated(x, key, name, values):
    """The definition in NumPy; `set` assigns in row-major order."""
    x = x.copy()
    if name == "set":
        x[key] = values
    else:
        METHODS[name].at(x, key, values)
    return x


@pytest.mark.parametrize("name", ["set", *METHODS])
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_updates_are_those_of_numpy(name, key):
    key_of_array = np.asarray(key, np.intp) if isinstance(key, list) else key
    shape = X[key_of_array].shape
    # Halves, whose sums and products are exact.
    values = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 5 - 2) / 2
    expected = updated(X, key_of_array, name, values)
    np.testing.assert_array_equal(getattr(indim.at(X)[key], name)(values), expected)
    traced = indim.jit(lambda x, values: getattr(x.at[key], name)(values))
    np.testing.assert_array_equal(traced(X, values), expected)
    expected = updated(X, key_of_array, name, 3)
    np.testing.assert_array_equal(getattr(indim.at(X)[key], name)(3), expected)


def test_traced_indices_may_have_any_place():
    function = indim.jit(lambda x, i, v: indim.at(x)[:, i, 1].add(v) + indim.at(x)[i % 2].max(0))
    i, v = np.array([2, 0, -1]), np.float64(1.5)
    expected = updated(X, (slice(None), i, 1), "add", v) + updated(X, i % 2, "max", 0)
    np.testing.assert_array_equal(function(X, i, v), expected)


def test_modes_say_what_an_index_out_of_range_does():
    x, i = np.zeros(3, np.int32), np.array([0, 5, -4, 2])
    np.testing.assert_array_equal(indim.at(x)[i].add(1, mode="drop"), [1, 0, 1])
    np.testing.assert_array_equal(indim.at(x)[i].add(1, mode="clip"), [2, 0, 2])
    np.testing.assert_array_equal(indim.at(x)[i].add(1, mode="wrap"), [1, 0, 3])
    with pytest.raises(IndexError, match="index 5"):
        indim.at(x)[i].add(1)
    with pytest.raises(TypeError, match="along the first axes"):
        indim.at(X)[:, 0].add(1, mode="drop")
    np.testing.assert_array_equal(indim.at(x)[i - 1].add(1, mode="drop"), [0, 1, 1])
    with pytest.raises(ValueError, match="drop"):
        indim.at(x)[i].add(1, mode="nothing")


def test_counts_are_those_of_numpy():
    x = np.random.default_rng(0).integers(0, 9, 200)
    weights = np.arange(200.0)
    for minlength in (0, 5, 20):
        found = indim.bincount(x, minlength=minlength)
        np.testing.assert_array_equal(found, np.bincount(x, minlength=minlength))
    np.testing.assert_array_equal(indim.bincount(x, weights), np.bincount(x, weights))
    assert indim.bincount(np.array([], int)).shape == (0,)
    counted = indim.jit(lambda x: indim.bincount(x, length=6))
    np.testing.assert_array_equal(counted(x), np.bincount(x)[:6])
    with pytest.raises(ValueError, match="negative"):
        indim.bincount(np.array([1, -1]))
    with pytest.raises(ValueError, match="weights"):
        indim.bincount(x, [2.0])


def test_updates_lose_no_digits():
    whole = np.zeros(3, int)
    for update in (0.5, np.array([0.5])):
        with pytest.raises(TypeError, match="same_kind"):
            indim.at(whole)[0].add(update)
    with pytest.raises(TypeError, match="astype"):
        indim.jit(lambda x, u: x.at[0].add(u[0]))(whole, np.full(1, 0.5))
    np.testing.assert_array_equal(indim.at(whole)[0].add(2), [2, 0, 0])
    np.testing.assert_array_equal(indim.at(np.zeros(2, np.float32))[1].set(0.1), np.float32([0, 0.1]))


def test_segments_combine_rows_of_one_id():
    data, ids = X.reshape(6, 4), np.array([2, 0, 2, 7, -1, 0])
    expected = np.stack([data[1] + data[5], np.zeros(4), data[0] + data[2]])
    np.testing.assert_array_equal(indim.segment_sum(data, ids, 3), expected)
    np.testing.assert_array_equal(indim.jit(lambda d, i: indim.segment_sum(d, i, 3))(data, ids), expected)
    expected = np.stack([np.maximum(data[1], data[5]), np.full(4, -np.inf), np.maximum(data[0], data[2])])
    np.testing.assert_array_equal(indim.segment_max(data, ids, 3), expected)
    whole = np.array([5, 2, 9], np.int8)
    np.testing.assert_array_equal(indim.segment_min(whole, [0, 0, 2], 3), [2, 127, 9])
    np.testing.assert_array_equal(indim.segment_prod(whole, [0, 0, 2], 3), [10, 1, 9])


def test_one_hot_rows_have_a_one_at_the_index():
    expected = np.eye(4, dtype=np.float32)[[2, 0]]
    np.testing.assert_array_equal(indim.one_hot(np.array([2, 0]), 4), expected)
    np.testing.assert_array_equal(indim.jit(lambda i: indim.one_hot(i, 4))(np.array([2, 0])), expected)
    assert not indim.one_hot(np.array([-1, 4]), 4).any()
    assert indim.one_hot(np.uint8([0]), 300).sum() == 1
    assert not indim.one_hot(np.int8([-1]), 300).any()


def test_diagonals_are_those_of_numpy():
    function = indim.jit(lambda x: (np.diagonal(x, 1, 1, 2), np.trace(x, -1, 2, 1), np.diagonal(x[0], 7)))
    for found, expected in zip(function(X), (np.diagonal(X, 1, 1, 2), np.trace(X, -1, 2, 1), np.empty(0))):
        np.testing.assert_array_equal(found, expected)


def test_counts_whose_number_depends_on_data():
    count = indim.jit(lambda i: (np.bincount(i), np.bincount(i, i * 0.5), np.bincount(i[i > 1])))
    for i in (np.array([3, 0, 3, 1]), np.array([7, 2], np.uint8)):
        expected_counts = np.bincount(i), np.bincount(i, i * 0.5), np.bincount(i[i > 1])
        for found, expected in zip(count(i), expected_counts):
            np.testing.assert_array_equal(found, expected, strict=True)
    assert count(np.array([], np.int64))[0].shape == (0,)
    with pytest.raises(ValueError, match="negative"):
        count(np.array([1, -1]))
    gradient = indim.grad(lambda w: np.sum(np.bincount((w * 2).astype(int), weights=w) ** 2))
    np.testing.assert_array_equal(gradient(np.arange(4.0)), 2 * np.arange(4.0))


def test_counts_of_a_known_length():
    count = indim.jit(lambda i, w: (np.bincount(i, minlength=4), np.bincount(i, w, minlength=4)))
    i, w = np.array([3, 0, 3, 1]), np.array([0.5, 2, 0.25, 1])
    for found, expected in zip(count(i, w), (np.bincount(i, minlength=4), np.bincount(i, w, minlength=4))):
        np.testing.assert_array_equal(found, expected, strict=True)
    for outside in (4, -1):
        with pytest.raises(IndexError):
            count(np.array([0, outside, 1, 2]), w)
    advice = r"write np.bincount\(x, minlength=n\).*indim.bincount\(x, length=n\)"
    with pytest.raises(TypeError, match=advice):
        indim.vmap(lambda i: np.bincount(i))(i[None])
    np.testing.assert_array_equal(indim.jit(lambda i: indim.bincount(i, length=2))(i), [1, 1])


def test_gradients_of_updates():
    def loss(x, v):
        return np.sum(x.at[[0, 0, 2]].add(v) ** 2) + np.sum(x.at[[1, 1]].set(v[:2]) * np.arange(3.0))

    x, v = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25, 2.0])
    to_x, to_v = indim.grad(loss, argnums=(0, 1))(x, v)
    total = x + [v[0] + v[1], 0, v[2]]
    np.testing.assert_allclose(to_x, 2 * total + [0, 0, 2])
    np.testing.assert_allclose(to_v, 2 * total[[0, 0, 2]] + [0, 1, 0])


def test_further_updates_of_jax():
    x, i = np.array([1.0, 2.0, 4.0]), np.array([2, 0])
    for wrap in (lambda f: f, indim.jit):
        for name, expected in {
            "subtract": [0.5, 2.0, 3.5],
            "mul": [0.5, 2.0, 2.0],
            "divide": [2.0, 2.0, 8.0],
            "power": [1.0, 2.0, 2.0],
        }.items():
            found = wrap(lambda x: getattr(indim.at(x)[i], name)(0.5))(x)
            np.testing.assert_array_equal(found, expected)
            found = wrap(lambda x: getattr(indim.at(x)[0], name)(0.5))(x)
            np.testing.assert_array_equal(found, [expected[0], 2.0, 4.0])
        found = wrap(lambda x: indim.at(x)[i].apply(lambda part: part * 10 + 1))(x)
        np.testing.assert_array_equal(found, [11.0, 2.0, 41.0])
        found = wrap(lambda x: indim.at(x)[1:].add(1, indices_are_sorted=True, unique_indices=True))(x)
        np.testing.assert_array_equal(found, [1.0, 3.0, 5.0])


def test_updates_of_elements_read_those_that_they_write():
    x, i = np.array([1.0, 2.0, 4.0]), np.array([-1, 3, -4, 0])
    for wrap in (lambda f: f, indim.jit):
        for mode in ("drop", "fill"):
            of = lambda update: wrap(lambda x, i: update(indim.at(x)[i]))(x, i)
            np.testing.assert_array_equal(of(lambda at: at.divide(2.0, mode=mode)), [0.5, 2, 2])
            np.testing.assert_array_equal(of(lambda at: at.power(2.0, mode=mode)), [1, 2, 16])
            np.testing.assert_array_equal(of(lambda at: at.apply(lambda x: x + 1, mode=mode)), [2, 2, 5])
        # As in JAX, negative indices count from the end in every mode.
        found = wrap(lambda x, i: indim.at(x)[i].divide(2.0, mode="clip"))(x, np.array([-4, 2]))
        np.testing.assert_array_equal(found, [0.5, 2, 2])
        found = wrap(lambda x, i: indim.at(x)[i].divide(2.0, mode="wrap"))(x, np.array([-1, 3]))
        np.testing.assert_array_equal(found, [0.5, 2, 2])
    for update in ("divide", "power"):
        with pytest.raises(TypeError, match="mode='drop' takes integers and arrays of integers"):
            getattr(indim.at(x)[1:], update)(2.0, mode="drop")


def test_elements_at_indices_out_of_range():
    x, i = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([0, 5, -1, -4])
    for wrap in (lambda f: f, indim.jit):
        get = lambda **options: wrap(lambda x, i: indim.at(x)[i].get(**options))(x, i)
        nan = [np.nan, np.nan]
        np.testing.assert_array_equal(get(mode="fill"), [x[0], nan, x[2], nan])
        np.testing.assert_array_equal(get(mode="fill", fill_value=7), [x[0], [7, 7], x[2], [7, 7]])
        np.testing.assert_array_equal(get(mode="clip"), [x[0], x[2], x[2], x[0]])
        with pytest.raises(IndexError):
            get()
        whole = wrap(lambda x: indim.at(x)[i].get(mode="fill"))(x.astype(int))
        least = [np.iinfo(int).min] * 2
        np.testing.assert_array_equal(whole, [x[0], least, x[2], least])
        for dtype, missing in ((np.uint8, 255), (bool, True), (np.float32, np.nan)):
            found = wrap(lambda x: indim.at(x)[7].get(mode="fill"))(np.zeros(3, dtype))
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, missing)
        np.testing.assert_array_equal(wrap(lambda x: indim.at(x)[1:, 0].get())(x), x[1:, 0])
        set_ = wrap(lambda x: indim.at(x)[i].set(0, mode="fill"))(x)
        np.testing.assert_array_equal(set_, [[0, 0], x[1], [0, 0]])
    with pytest.raises(TypeError, match="arrays of integers, along the first axes"):
        indim.at(x)[1:].get(mode="fill")
    with pytest.raises(IndexError, match="3 indices for an array of 2 axes"):
        indim.at(x)[0, 0, 0].get(mode="fill")
    with pytest.raises(ValueError, match="the mode of a scatter"):
        indim.at(x)[i].get(mode="none")
    with pytest.raises(TypeError, match="not 'unique'"):
        indim.at(x)[i].add(1, unique=True)


def test_modes_of_keys_of_several_indices():
    x = np.arange(12.0).reshape(3, 4)
    i, j = np.array([0, 5, -1, 1]), np.array([1, 1, 9, -1])
    for wrap in (lambda f: f, indim.jit):
        of = lambda update: wrap(lambda x, i, j: update(indim.at(x)))(x, i, j)
        nan = np.nan
        np.testing.assert_array_equal(of(lambda at: at[i, j].get(mode="fill")), [1, nan, nan, 7])
        np.testing.assert_array_equal(of(lambda at: at[i, j].get(mode="clip")), [1, 9, 11, 7])
        np.testing.assert_array_equal(of(lambda at: at[i, j].get(mode="wrap")), [1, 9, 9, 7])
        expected = x.copy()
        expected[0, 1] += 2
        expected[1, 3] += 2
        np.testing.assert_array_equal(of(lambda at: at[i, j].add(2, mode="drop")), expected)
        np.testing.assert_array_equal(of(lambda at: at[9].set(0, mode="drop")), x)
        expected = x.copy()
        expected[2, [1, 3]] = 0
        found = of(lambda at: at[-1, np.array([1, 7, 3])].set(0, mode="drop"))
        np.testing.assert_array_equal(found, expected)
        take = wrap(lambda x, i: indim.numpy.take(x, i, axis=1, mode="fill", fill_value=-1.0))
        np.testing.assert_array_equal(take(x, i), np.stack([x[:, 0], [-1] * 3, x[:, 3], x[:, 1]], axis=1))
        np.testing.assert_array_equal(take(x, np.array(9)), [-1] * 3)
        take = wrap(lambda x, i: indim.numpy.take(x, i, mode="fill"))
        np.testing.assert_array_equal(take(x, np.array([[1, 20], [-12, -13]])), [[1, nan], [0, nan]])
        assert wrap(lambda x: indim.numpy.take(x, 20, mode="fill"))(x.astype(np.int8)) == -128


@pytest.mark.parametrize("mode", ["raise", "clip", "wrap", "drop", "fill"])
@pytest.mark.parametrize("keys", [1, 2])
def test_sizes_may_not_fit_the_type_of_indices(mode, keys):
    x, i = np.arange(200.0), np.array([-1, 5, -128], np.int8)
    key = (i,) if keys == 1 else (0, i)
    x = x if keys == 1 else x[None]

    def update(x, i):
        key = (i,) if keys == 1 else (0, i)
        return x.at[key].get(mode=mode), x.at[key].set(-1.0, mode=mode)

    expected = np.arange(200.0)
    expected[[-1, 5, 72]] = -1
    for got, updated in (
        (indim.at(x)[key].get(mode=mode), indim.at(x)[key].set(-1.0, mode=mode)),
        indim.jit(update)(x, i),
    ):
        np.testing.assert_array_equal(got, [199, 5, 72])
        np.testing.assert_array_equal(updated.ravel(), expected)


def test_an_empty_key_is_the_whole_array():
    for x in (np.arange(3.0), np.float64(3)):
        np.testing.assert_array_equal(indim.jit(lambda x: x.at[()].add(1))(x), x + 1)
    np.testing.assert_array_equal(indim.at(np.arange(3.0))[()].multiply(2.0), [0, 2, 4])


def test_take_has_the_parameters_of_jax():
    jnp, x = indim.numpy, np.arange(6.0).reshape(2, 3)
    expected = [[1, np.nan], [4, np.nan]]
    np.testing.assert_array_equal(jnp.take(x, [1, 5], 1, None, "fill"), expected)
    hints = {"unique_indices": True, "indices_are_sorted": True}
    np.testing.assert_array_equal(jnp.take(x, [1, 5], axis=1, mode="fill", **hints), expected)
    np.testing.assert_array_equal(jnp.take(x, [1, 2], axis=1, **hints), x[:, 1:])
    with pytest.raises(TypeError, match="takes no `out`"):
        jnp.take(x, [1], axis=1, mode="fill", out=np.zeros((2, 1)))
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        jnp.take(x, [1], axis=1, mode="fill", other=1)


@pytest.mark.parametrize("rows", [1, 2, 300])
def test_unsigned_indices_of_several_axes_are_those_of_one(rows):
    x = np.arange(rows * 3.0).reshape(rows, 3)
    for dtype in ("u1", "u2", "u4", "u8"):
        i = np.array([np.iinfo(dtype).max, 1, 0], dtype)
        for mode in ("clip", "wrap", "fill"):
            of_one = indim.at(x)[i].get(mode=mode)[:, 1]
            np.testing.assert_array_equal(indim.at(x)[i, 1].get(mode=mode), of_one)
            np.testing.assert_array_equal(indim.jit(lambda x, i: x.at[i, 1].get(mode=mode))(x, i), of_one)


@pytest.mark.parametrize("mode", ["raise", "clip", "wrap", "drop", "fill"])
def test_floats_are_no_indices(mode):
    x, i = np.ones((2, 3)), np.array([0.5])
    for use in (lambda at: at.get(mode=mode), lambda at: at.set(0.0, mode=mode)):
        for key in (i, (0, i), [0.5]):
            with pytest.raises((TypeError, IndexError), match="integer"):
                use(indim.at(x)[key])
        with pytest.raises((TypeError, IndexError), match="integer"):
            indim.jit(lambda x, i: use(x.at[i]))(x, i)
        assert use(indim.at(x)[[]]).shape in ((0, 3), x.shape)


@pytest.mark.parametrize("dtype", ["f8", "u1"])
def test_ufunc_at_without_updates(dtype):
    def divided(y, i, v):
        y = y.copy()
        np.divide.at(y, i, v)
        return y

    none = np.array([], int), np.array([], dtype)
    assert np.array_equal(indim.jit(divided)(np.array([10, 7], dtype), *none), [10, 7])
    rows = np.zeros((3, 0), "f8"), np.array([1, 1]), np.zeros((2, 0))
    assert indim.jit(divided)(*rows).shape == (3, 0)


def test_a_ufunc_reduces_a_number():
    assert indim.jit(lambda x: np.subtract.reduce(x))(np.array(3)) == 3
