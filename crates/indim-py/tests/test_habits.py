"""Habits of programs written for NumPy and JAX: spellings, classes of errors, and advice in messages."""

import pickle
import warnings

import numpy as np
import pytest

import indim
import indim.numpy as jnp
from indim import lax, nn

MASK = np.array([True, False, True])


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (0,)])
@pytest.mark.parametrize("q", [0.5, [0.1, 0.5]])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_nan_quantiles_of_no_elements_are_nan_as_in_numpy(shape, q, dtype):
    x = np.ones(shape, dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for axis in (None, 0, -1):
            expected = np.nanquantile(x, q, axis=axis)
            for found in (
                indim.jit(lambda x: np.nanquantile(x, q, axis=axis))(x),
                indim.jit(lambda x: np.nanpercentile(x, np.multiply(q, 100), axis=axis))(x),
                indim.nanquantile(x, q, axis=axis),
            ):
                np.testing.assert_array_equal(found, expected, strict=True)


def test_argsort_of_a_number_is_the_position_0():
    x = np.array(2.5)
    for function in (np.argsort, lambda x: x.argsort(axis=0), lambda x: np.argpartition(x, 0)):
        np.testing.assert_array_equal(indim.jit(function)(x), function(x), strict=True)
    with pytest.raises(np.exceptions.AxisError):
        indim.jit(np.sort)(x)
    with pytest.raises(TypeError, match=r"write np.lexsort\(\[x\]\)"):
        indim.jit(np.lexsort)(x)


def test_truth_values_are_positions():
    for function in (np.bincount, lambda m: np.bincount(m, minlength=4)):
        np.testing.assert_array_equal(indim.jit(function)(MASK), function(MASK), strict=True)
    np.testing.assert_array_equal(indim.bincount(MASK), np.bincount(MASK), strict=True)
    table = np.array([5.0, 6.0])
    expected = np.take(table, MASK)
    for found in (indim.jit(np.take)(table, MASK), jnp.take(table, MASK), indim.take(table, MASK)):
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize(
    "function, x",
    [
        (lambda x: x[5], np.ones(3)),
        (lambda x: x[0, 0, 0], np.ones((3, 3))),
        (lambda x: np.sum(x, axis=3), np.ones((3, 3))),
        (lambda x: np.sort(x, axis=3), np.ones(3)),
        (lambda x: np.stack([x, x], axis=4), np.ones(3)),
        (lambda x: -x, MASK),
        (lambda x: x - x, MASK),
        (lambda x: x << 1, np.ones(3)),
        (lambda x: x & 1, np.ones(3)),
        (lambda x: x + 300, np.ones(3, np.uint8)),
        (lambda x: x * -1, np.ones(3, np.uint8)),
    ],
)
def test_errors_are_of_the_classes_of_numpy(function, x):
    with pytest.raises(Exception) as expected:
        function(x)
    with pytest.raises(expected.type) as found:
        indim.jit(function)(x)
    # Code that expects the general classes still works.
    error = found.value
    assert isinstance(error, (indim.ShapeError, indim.ExprError)) and isinstance(error, ValueError)
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is type(error) and (copied.code, str(copied)) == (error.code, str(error))


def test_advice_on_numbers_is_in_the_words_of_python():
    x = np.arange(3, dtype=np.uint8)
    for function in (lambda x: x + 300, lambda x: x * -1):
        with pytest.raises(OverflowError, match=r"x\.astype\(np\.int64\)"):
            indim.jit(function)(x)
    with pytest.raises(OverflowError, match=r"i64\(x\)"):
        indim.evaluate("x + 300", x=x)


def test_names_and_arguments_of_jax():
    index = np.array([0, 2])
    np.testing.assert_array_equal(nn.one_hot(index, 3, axis=0), nn.one_hot(index, 3).T, strict=True)
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(lax.reshape(x, (6,), (1, 0)), x.T.reshape(6))
    np.testing.assert_array_equal(lax.reshape(x, new_sizes=(3, -1)), x.reshape(3, 2))
    assert jnp.searchsorted(x[0], 1.5, method="sort") == 2
    with pytest.raises(ValueError, match="no method 'guess'"):
        jnp.searchsorted(x[0], 1.5, method="guess")
    assert indim.jacfwd(lambda x: x * x, holomorphic=False)(2.0) == 4
    for function in (indim.jacrev, indim.jacfwd, indim.hessian):
        with pytest.raises(TypeError, match="holomorphic=True: write indim.jvp"):
            function(np.sum, holomorphic=True)


def test_functions_that_write_return_new_arrays_on_request():
    x = np.ones((3, 3))
    for call in (
        lambda module, x, **new: module.fill_diagonal(x, 5.0, **new),
        lambda module, x, **new: module.place(x, x > 0, np.array([2.0, 3.0]), **new),
        lambda module, x, **new: module.put(x, [0, 4], [7.0, 8.0], **new),
    ):
        expected = x.copy()
        call(np, expected)
        for found in (call(jnp, x, inplace=False), indim.jit(lambda x: call(jnp, x, inplace=False))(x)):
            np.testing.assert_array_equal(found, expected, strict=True)
    assert (x == 1).all()
    jnp.fill_diagonal(x, 5.0)
    assert x[1, 1] == 5


def test_take_along_axis_has_the_modes_of_jax():
    x, index = np.arange(6.0).reshape(2, 3) + 10, np.array([[0, -1, 5, -7], [1, 1, 3, -4]])
    # The results of JAX 0.10.
    nan = np.nan
    filled, clipped = [[10, 12, nan, nan], [14, 14, nan, nan]], [[10, 12, 12, 10], [14, 14, 15, 13]]
    for mode, expected in (("fill", filled), ("clip", clipped)):
        function = lambda x, index: jnp.take_along_axis(x, index, 1, mode=mode)
        for found in (function(x, index), indim.jit(function)(x, index)):
            np.testing.assert_array_equal(found, expected)
    found = jnp.take_along_axis(x, index, axis=-1, mode="fill", fill_value=-1)
    np.testing.assert_array_equal(found, np.nan_to_num(filled, nan=-1))
    with pytest.raises(IndexError):
        jnp.take_along_axis(x, index, 1)


def test_bits_of_arrays_are_elements_of_another_type():
    x = np.array([1.0, -2.0], np.float32)
    np.testing.assert_array_equal(lax.bitcast_convert_type(x, np.int32), x.view(np.int32), strict=True)
    octets = lax.bitcast_convert_type(x, np.uint8)
    np.testing.assert_array_equal(octets, x.view(np.uint8).reshape(2, 4), strict=True)
    np.testing.assert_array_equal(lax.bitcast_convert_type(octets, np.float32), x, strict=True)
    with pytest.raises(ValueError, match="the last axis has 4 elements"):
        lax.bitcast_convert_type(octets[:, :3], np.float32)
    with pytest.raises(TypeError, match="call it before the call"):
        indim.jit(lambda x: lax.bitcast_convert_type(x, np.int32))(x)


def test_functions_may_return_none():
    x = np.ones(3)
    function = indim.jit(lambda x: None)
    assert function(x) is None and function(np.ones(4)) is None and indim.vmap(lambda x: None)(x) is None
    assert indim.jit(lambda x: lax.fori_loop(0, 3, lambda i, state: None, None))(x) is None
    with pytest.raises(TypeError, match="`out` has the containers of the results: None"):
        function(x, out=np.ones(3))
    with pytest.raises(TypeError, match="gradient is that of one number"):
        indim.grad(lambda x: None)(1.0)
    with pytest.raises(TypeError, match="associative_scan returns None, not an array"):
        lax.associative_scan(lambda a, b: None, x)


def lower_and_upper(a):
    lower, upper = np.eye(len(a)), a.copy()
    for k in range(len(a)):
        for i in range(k + 1, len(a)):
            lower[i, k] = upper[i, k] / upper[k, k]
            upper[i] = upper[i] - lower[i, k] * upper[k]
    return lower, upper


def test_arrays_that_numpy_makes_take_traced_values():
    a = np.random.default_rng(0).random((4, 4)) + 4 * np.eye(4)
    for found, expected in zip(indim.jit(lower_and_upper)(a), lower_and_upper(a)):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert indim.grad(lambda a: lower_and_upper(a)[0][1, 0])(a)[1, 0] == 1 / a[0, 0]


MAKERS = {
    "arange": lambda: np.arange(3),
    "array": lambda: np.array([1.0, 2.0, 3.0]),
    "computed": lambda: 2 * np.arange(3.0) + 1,
    "copy": lambda: np.array(TABLE),
    "fftfreq": lambda: np.fft.fftfreq(3),
    "hanning": lambda: np.hanning(3),
    "identity": lambda: np.identity(3)[0],
    "linspace": lambda: np.linspace(0, 1, 3),
    "rfftfreq": lambda: np.fft.rfftfreq(4, 0.5),
    "triu_indices": lambda: np.triu_indices(3, 1)[1],
}
TABLE = np.array([4.0, 5.0, 6.0])


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_arrays_of_numpy_are_read_at_traced_positions_and_written_into(make):
    def written(x):
        y = make()
        y[1] = x
        y[y.argmin()] += 2
        return y

    def added(x):
        y = make()
        np.add.at(y, [0, 0], x.astype(y.dtype))
        np.maximum(y, 1, out=y)
        return y

    x, position = np.array(2.5), np.array(1)
    for function, argument in ((written, x), (added, x), (lambda at: make()[at], position)):
        np.testing.assert_array_equal(indim.jit(function)(argument), function(argument), strict=True)
    np.testing.assert_array_equal(TABLE, [4, 5, 6])


def test_arrays_from_outside_are_not_written_into():
    def alias(x):
        y = np.asarray(TABLE)
        y[0] = x
        return y

    with pytest.raises(TypeError, match="takes no traced values"):
        indim.jit(alias)(np.array(2.0))

    def sizes(x):
        sizes, y = np.array([2, 3]), np.arange(6.0)
        y[0] = x
        return y.reshape(sizes)

    np.testing.assert_array_equal(indim.jit(sizes)(np.array(2.0)), sizes(2.0))


def test_parts_of_complex_arrays_are_written():
    def function(z):
        w = z.copy()
        w.imag = 0
        w.real = np.arange(3)
        return w

    z = np.array([1 + 2j, np.inf - 1j, 3])
    np.testing.assert_array_equal(indim.jit(function)(z), function(z), strict=True)
    with pytest.raises(TypeError, match="has no imaginary part"):
        indim.jit(function)(np.ones(3))
    with pytest.raises(TypeError, match="is an argument"):
        indim.jit(lambda z: setattr(z, "real", 1) or z)(z)


def test_functions_of_jax_write_into_arrays_of_numpy():
    x = np.arange(12.0).reshape(3, 4)
    for function in (
        lambda x: jnp.sum(x, axis=0, out=np.empty(4)),
        lambda x: jnp.add(x, x[0], out=np.zeros((3, 4))),
        lambda x: jnp.add(x, 1, where=x > 3, out=np.zeros((3, 4))),
        lambda x: jnp.matmul(x, x.T, out=np.zeros((3, 3))),
    ):
        np.testing.assert_array_equal(indim.jit(function)(x), function(x), strict=True)


def assigned_zeros(x):
    y = jnp.zeros(5)
    y[1] = x[0]
    return y


def reshaped(x):
    x.shape = (3, 1)


SCIPY = pytest.importorskip("scipy.special")


@pytest.mark.parametrize(
    "function, error, message",
    [
        (assigned_zeros, TypeError, r"write y = y\.at\[key\]\.set\(values\), or make it by numpy"),
        (lambda x: jnp.add(x, x, out=jnp.zeros(3)), TypeError, "or make `out` by numpy, such as np.zeros"),
        (reshaped, AttributeError, r"write y = x\.reshape\(\(3, 1\)\)"),
        (lambda x: 0.5 in x, TypeError, r"write np\.any\(x == value\)"),
        (lambda x: np.quantile(x, np.ones(99) * x[0]), TypeError, r"write np\.interp\(q \* \(x\.size - 1\)"),
        (lambda x: x["a"], IndexError, r"pass the column, x\['a'\], as an argument"),
        (lambda x: indim.jvp(lambda x: (x, x.astype(int)), (x,), (x,)), TypeError, "has_aux=True"),
        (lambda x: SCIPY.logsumexp(x, axis=0), TypeError, r"write indim\.scipy\.special\.logsumexp, or"),
    ],
)
def test_messages_say_what_to_write(function, error, message):
    with pytest.raises(error, match=message):
        indim.jit(function)(np.ones(3))


def test_the_advice_for_a_traced_fraction_is_the_quantile():
    x, q = np.random.default_rng(0).random(9), np.array([0.1, 0.5, 0.95])
    advised = indim.jit(lambda x, q: np.interp(q * (x.size - 1), np.arange(x.size), np.sort(x)))
    np.testing.assert_allclose(advised(x, q), np.quantile(x, q), rtol=1e-14)


def test_products_at_different_positions_have_gradients():
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(indim.grad(lambda x: x.at[0].multiply(x[1]).sum())(x), [2, 2, 1])
    gradient = indim.grad(lambda x, i: (x.at[i].multiply(x[1]) ** 2).sum())
    np.testing.assert_array_equal(gradient(x, np.array(2)), [2, 4 + 2 * 2 * 9, 2 * 3 * 4])
    tangent = indim.jvp(lambda x: x.at[np.array([0, 2])].multiply(5.0), (x,), (x,))[1]
    np.testing.assert_array_equal(tangent, [5, 2, 15])
    with pytest.raises(TypeError, match=r"write x\.at\[i\]\.set\(x\[i\] \* v\)"):
        indim.grad(lambda x: x.at[np.array([0, 0])].multiply(x[1]).sum())(x)


def in_place(y, v):
    z = y
    y += v
    y -= 1
    y *= 2
    return z


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.arange(3.0),
        lambda: np.zeros(3),
        lambda: np.array([1, 2, 3], np.float32),
        lambda: np.full((2, 3), 0.5),
        lambda: np.eye(3),
    ],
)
def test_operators_that_assign_write_into_arrays_that_numpy_makes(make):
    def function(v):
        return in_place(make(), v)

    expected, found = function(np.array([7.0, 8, 9])), indim.jit(function)(np.array([7.0, 8, 9]))
    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected)


def test_operators_that_assign_keep_type_and_shape_of_arrays_that_numpy_makes():
    def half(v):
        y = np.arange(3)
        y += 0.5 * v
        return y

    def larger(v):
        y = np.zeros(3)
        y += v
        return y

    for function, v, error in ((half, np.ones(3), TypeError), (larger, np.ones((2, 3)), ValueError)):
        with pytest.raises(error):
            function(v)
        with pytest.raises(error):
            indim.jit(function)(v)


def test_a_view_of_an_array_of_numpy_follows_operators_that_assign():
    def function(v):
        y = np.zeros((2, 3))
        row = y[1]
        y += v
        y[0] += 1
        return row, y

    v = np.arange(6.0).reshape(2, 3)
    for found, expected in zip(indim.jit(function)(v), function(v)):
        assert np.array_equal(found, expected)


def test_truth_values_are_assigned_to_elements():
    def function(k):
        y = np.zeros(3, bool)
        y[1] = k > 0
        z = np.array([True, False])
        z[0] = k > 2
        return y, z

    for k in (1, 3, -1):
        for found, expected in zip(indim.jit(function)(k), function(k)):
            assert np.array_equal(found, expected)


NUMBERS = np.arange(10.0)


def test_known_arrays_are_cut_at_computed_positions():
    def function(k):
        return NUMBERS[np.max(k) :], np.arange(20)[np.min(k) : 5], np.full((np.max(k), 2), [1, 2.5])

    k = np.array([3, 4])
    for found, expected in zip(indim.jit(function)(k), function(k)):
        assert np.array_equal(found, expected)


def test_a_mask_of_another_length_deletes_nothing():
    with pytest.raises(ValueError, match="mask of np.delete"):
        indim.jit(lambda x, m: np.delete(x, m))(np.arange(6.0), np.array([True, False]))
