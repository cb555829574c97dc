"""`out=` and `where=` of NumPy's ufuncs in compiled functions: what NumPy computes, or an error."""

import warnings

import numpy as np
import pytest

import indim

RANDOM = np.random.default_rng(8)
X, Y = RANDOM.integers(-4, 5, (2, 5, 6)).astype("f8")

#: Functions of two arrays.
FUNCTIONS = {
    "safe division": lambda x, y: np.divide(x, y, out=np.zeros_like(x), where=y != 0),
    "of a number": lambda x, y: np.divide(1, y, out=np.ones_like(y), where=y != 0),
    "logarithms": lambda x, y: np.log(x, out=np.full_like(x, -1), where=x > 0),
    "a row of truth values": lambda x, y: np.add(x, y, out=np.zeros_like(x), where=np.arange(6) > 2),
    "a traced row": lambda x, y: np.add(x, y, out=np.zeros_like(x), where=x[0] > 0),
    "one truth value": lambda x, y: np.add(x, y, out=np.copy(x), where=False),
    "where=True": lambda x, y: np.sqrt(x * x, out=np.empty_like(x), where=True),
    "broadcast operands": lambda x, y: np.add(x[0], 1, out=np.empty_like(y)),
    "another type": lambda x, y: np.multiply(x, y, out=np.zeros_like(x, dtype="f4"), where=x > y),
    "unsafe": lambda x, y: np.multiply(x, y, out=np.zeros_like(x, dtype="i2"), casting="unsafe"),
    "known operands": lambda x, y: np.add(np.ones(6), 1, out=np.zeros_like(x), where=x > y),
    "known operands of one type": lambda x, y: np.add(np.ones((5, 6), "f4"), 1, out=np.empty_like(x)),
    "in a tuple": lambda x, y: np.add(x, y, out=(x.copy(),), where=x > y),
    "one after the other": lambda x, y: np.add(np.multiply(x, 2, out=np.empty_like(x)), 1, out=np.copy(y)),
    "clip": lambda x, y: np.clip(x, -1, 1, out=np.empty_like(x)),
    "method": lambda x, y: (x + y).clip(0, out=np.empty_like(x)),
}


def renamed(x, y):
    z = x * 2
    largest = z > y
    z = np.add(z, 1, out=z, where=largest)
    z = np.clip(z, 0, 3, out=z)
    return z


def overwritten(x, y):
    z = x * 2
    np.add(z, 1, out=z)
    return z


def with_view(x, y):
    z = x * 2
    row = z[0]
    z = np.add(z, 1, out=z)
    return row


def into_a_new_array(x, y):
    z = np.empty((5, 6))
    np.multiply(x, y, out=z)
    z += 1
    return z


SEVERAL = {function.__name__: function for function in (renamed, overwritten, with_view, into_a_new_array)}

OUTSIDE = np.zeros((5, 6))


@pytest.mark.parametrize("name", [*FUNCTIONS, *SEVERAL])
def test_results_are_those_of_numpy(name):
    function = FUNCTIONS.get(name) or SEVERAL[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = function(X.copy(), Y.copy())
    found = indim.jit(function)(X, Y)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_a_safe_division_is_one_program_for_all_shapes():
    f = indim.jit(FUNCTIONS["safe division"])
    for size in (3, 5, 9):
        np.testing.assert_array_equal(f(np.ones(size), np.full(size, 2.0)), np.full(size, 0.5))
    assert f.trace_count == 1
    with pytest.raises(indim.ShapeError):
        f(np.ones(3), np.ones(5))


def test_safe_divisions_in_batches_and_gradients():
    def divided(x, y):
        return np.divide(x, y, out=np.zeros_like(x), where=y != 0)

    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(indim.vmap(divided)(X, Y), np.where(Y == 0, 0, X / Y))
    gradient = indim.grad(lambda x, y: np.sum(divided(x, y)))
    np.testing.assert_array_equal(gradient(np.ones(2), np.array([4.0, 2.0])), [0.25, 0.5])


def of_outer(x, y):
    z = x * 2
    return indim.fori_loop(0, 2, lambda i, s: np.add(s, 1, out=z), x)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (of_outer, TypeError, r"cannot write into `x \* 2`"),
        (lambda x, y: np.add(x, 1, out=x), TypeError, "cannot write into `x` .* it is an argument"),
        (lambda x, y: np.add(x, 1, out=OUTSIDE), TypeError, "array of NumPy"),
        (lambda x, y: np.clip(x, 0, 1, out=OUTSIDE), TypeError, "numpy.clip takes no `out`"),
        (lambda x, y: np.clip(x, 0, 1, where=x > 0), TypeError, "numpy.clip takes no `where`"),
        (lambda x, y: np.add(x, 1, out=np.zeros_like(x, dtype=int)), TypeError, "Cannot cast ufunc 'add'"),
        (lambda x, y: np.add(x, 1, out=np.zeros_like(x), where=y), TypeError, "not truth values"),
        (lambda x, y: np.add(x, y, out=np.zeros_like(x[0])), ValueError, "non-broadcastable output"),
    ],
)
def test_what_cannot_be_written_is_an_error(function, error, message):
    with pytest.raises(error, match=message):
        indim.jit(function)(X, Y)


#: Calls with `out` of another shape than the result, or of a type to which NumPy may not convert.
WHOLE = {
    "sum": lambda x: np.sum(x, axis=0, out=np.zeros_like(x)),
    "sum of one row": lambda x: np.sum(x[:1], axis=0, out=np.zeros_like(x[:1])),
    "keepdims": lambda x: np.sum(x, axis=0, keepdims=True, out=np.zeros_like(x[0])),
    "mean": lambda x: x.mean(axis=0, out=np.zeros_like(x)),
    "max": lambda x: np.max(x, axis=0, out=np.zeros_like(x)),
    "cumsum": lambda x: np.cumsum(x, axis=0, out=np.zeros((2, 5, 6))),
    "trace": lambda x: np.trace(x, out=np.zeros_like(x)),
    "take": lambda x: np.take(x, [0], axis=0, out=np.zeros_like(x)),
    "reduce": lambda x: np.add.reduce(x, axis=0, out=np.zeros_like(x)),
    "a right shape": lambda x: np.sum(x, axis=0, out=np.zeros_like(x[0])),
    "quantile": lambda x: np.quantile(x, 0.5, axis=0, out=np.zeros_like(x)),
    "nanmedian": lambda x: np.nanmedian(x, axis=0, out=np.zeros_like(x)),
    "outer": lambda x: np.outer(x[0], x[0], out=np.zeros((2, 6, 6))),
}


def same_outcome(function, x):
    """Compares a compiled function with the function: results, or the classes of errors."""
    try:
        expected = function(x.copy())
    except (TypeError, ValueError) as error:
        with pytest.raises(TypeError if isinstance(error, TypeError) else ValueError):
            indim.jit(function)(x)
        return
    found = indim.jit(function)(x)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("name", WHOLE)
def test_out_of_a_reduction_has_the_shape_of_the_result(name):
    same_outcome(WHOLE[name], X)


@pytest.mark.parametrize("dtype", ["i4", "i8", "u8", "?", "f4", "f8", "c8"])
@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd", "argmax", "nanargmin", "nanmedian", "var"])
@pytest.mark.filterwarnings("ignore")
def test_types_of_out(name, dtype):
    # Conversions of negative numbers to unsigned types differ.
    for x in (np.abs(X), np.abs(X).astype(int)):
        same_outcome(lambda x: getattr(np, name)(x, axis=0, out=np.zeros(6, dtype)), x)


def test_put_along_axis_returns_a_new_array():
    indices = np.argsort(X, axis=1)[:, :2]
    for axis, positions, values in ((1, indices, 9.0), (0, indices[:1, :1] % 5, 2), (None, [3, 1], [7, 8])):
        expected = X.copy()
        positions = np.broadcast_to(positions, (1, 6)) if axis == 0 else np.asarray(positions)
        np.put_along_axis(expected, positions, values, axis)
        before = X.copy()
        np.testing.assert_array_equal(indim.put_along_axis(X, positions, values, axis), expected)
        compiled = indim.jit(lambda x, i, axis=axis, values=values: indim.put_along_axis(x, i, values, axis))
        np.testing.assert_array_equal(compiled(X, positions), expected)
        of_jax = indim.numpy.put_along_axis(X, positions, values, axis, inplace=False)
        np.testing.assert_array_equal(of_jax, expected)
        np.testing.assert_array_equal(X, before)
    with pytest.raises(ValueError, match="same number of dimensions"):
        indim.put_along_axis(X, [1], 2, 0)


def test_out_and_where_of_equal_shapes_and_then_of_a_broadcast():
    def divided(x, y):
        return np.divide(x, y, out=np.zeros_like(x), where=y != 0)

    f, x = indim.jit(divided), np.ones((4, 3))
    for shape in ((4, 3), (1, 3), (4, 1), (4, 3)):
        y = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(float)
        np.testing.assert_array_equal(f(x, y), divided(x, y))
        np.testing.assert_array_equal(f(x[:2], y[:2]), divided(x[:2], y[:2]))
    with pytest.raises(indim.ShapeError, match="select|divide"):
        f(x, np.ones((4, 2)))
    with pytest.raises(ValueError, match="broadcast"):
        f(x[:1], x)


def doubled(x, y):
    return np.multiply(x, 2, out=x + 0, where=y != 0)


@pytest.mark.parametrize("use", ["explain", "export", "dask"])
def test_other_uses_of_a_compiled_function_are_traced_again_too(use, tmp_path):
    f, x, y = indim.jit(doubled), np.ones((4, 3)), np.arange(3.0)[None]
    f(x, x)
    if use == "explain":
        assert "bool" in f.explain("f64[4, 3]", "f64[1, 3]") and "f64" in f.explain(x[:2], y)
    elif use == "export":
        path = str(tmp_path / "doubled.mlir")
        f.export("stablehlo", x, y, path=path)
        np.testing.assert_array_equal(indim.load(path)(x, y), doubled(x, y))
    else:
        dask_array = pytest.importorskip("dask.array")
        chunks = [dask_array.from_array(array, chunks=2) for array in (x, y)]
        np.testing.assert_array_equal(f(*chunks).compute(), doubled(x, y))
    with pytest.raises(ValueError, match="shape"):
        f.explain("f64[4, 3]", "f64[4, 2]")
