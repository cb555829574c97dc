"""Assignments in compiled functions, `y[key] = values`, and functions that write into arrays: as in NumPy."""

import numpy as np
import pytest

import indim

RANDOM = np.random.default_rng(11)
X = RANDOM.integers(-9, 10, (4, 5, 3)) / 4
V = RANDOM.integers(-9, 10, 5) / 4


def check(function, *arguments):
    """The function compiled and the function itself give the same."""
    expected = function(*(argument.copy() for argument in arguments))
    found = indim.jit(function)(*arguments)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def assigned(key, values):
    def function(x):
        y = x * 2
        y[key] = values
        return y

    return function


KEYS = {
    "row": 1,
    "row from the end": -1,
    "element": (0, 2, -1),
    "slice": slice(1, 3),
    "slices": (slice(1, -1), slice(None, 2)),
    "column": (..., 1),
    "all": ...,
    "backwards": (slice(None, None, -1), slice(3, 0, -1)),
    "every second": slice(None, None, 2),
    "nothing": slice(2, 2),
    "beyond": slice(2, 99),
    "rows": [2, 0],
    "points": ([0, 1, 1], [4, 4, 0]),
    "new axis": (None, 1),
    "mask": X > 0,
    "mask of rows": np.array([True, False, False, True]),
    "mask and number": (X[:, :, 0] > 0, 1),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_one_value(key):
    check(assigned(key, 7), X)


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_as_many_values(key):
    values = RANDOM.integers(-9, 10, X[key].shape) / 8

    def function(x, values):
        y = x * 2
        y[key] = values
        return y

    check(function, X, values)
    check(assigned(key, values), X)
    if values.size:
        check(assigned(key, values.tolist()), X)


def test_random_slices():
    for _ in range(60):
        key = tuple(
            slice(*RANDOM.integers(-7, 8, 2).tolist(), int(RANDOM.choice([-2, -1, 1, 2])))
            if RANDOM.random() < 0.7
            else int(RANDOM.integers(0, size))
            for size in X.shape
        )
        check(assigned(key, RANDOM.integers(-9, 10, X[key].shape) / 8), X)


def backward_euler(x):
    u = x.copy()
    for _ in range(3):
        u[1:-1] = u[1:-1] + 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0], u[-1] = u[1], u[-2]
    return u


def filtered(x):
    y = np.zeros_like(x)
    for k in range(len(x)):
        y[k] = x[k] + (0.5 * y[k - 1] if k else 0)
    return y


def labels(x):
    y = np.zeros_like(x, dtype="u1")
    y[x > 0] = 1
    y[x > 1] = 2.9
    y[~np.isfinite(x)] = 9
    return y


def doubled_where_positive(x):
    y = x + 0
    y[y > 0] *= 2
    y[y < 0] = y[y < 0] - 1
    return y


def exchanged(x):
    y = np.copy(x)
    y[[0, 1]] = y[[1, 0]]
    y[..., 0] += y[..., 1]
    return y


def views(x):
    y = x * 2
    row, column, reversed_rows = y[0], y.T[0], y[::-1]
    diagonal = np.diagonal(y[2])
    corner = reversed_rows[0][:2]
    y[0] = 1
    y[-1, :2] = 5
    first = row + 0
    y[0] = y[0] * 2
    y[2] += 1
    return np.concatenate([corner, first + row, column[:, :3], diagonal[None]])


def through_a_view(x):
    y = (x * 2).reshape(5, 12)
    z = y.T
    z[0] = 3
    return z


def written_by_functions(x):
    y = x[:3, :3, 0].copy()
    np.fill_diagonal(y, [5, 6])
    np.put(y, [1, -1], [8, 9])
    np.putmask(y, y > 4, [1, 2])
    np.place(y, y < 0, [3, 4])
    np.put_along_axis(y, np.array([[0], [1], [2]]), 7, axis=1)
    np.add.at(y, [0, 0], 2)
    np.maximum.at(y, (1, 1), 0.5)
    z = y.copy()
    np.copyto(z, 1, where=y > 3)
    z.flat[1::4] = 4
    z.put([0], -1)
    z.sort(axis=0)
    w = np.empty_like(z)
    w.fill(2)
    np.multiply(w, z, out=w)
    w.partition(1)
    return np.stack([y, z, w + len(z.flat)])


@pytest.mark.parametrize(
    "function",
    [backward_euler, labels, doubled_where_positive, exchanged, views, through_a_view, written_by_functions],
)
def test_programs(function):
    check(function, X)


def test_a_loop_over_elements():
    check(filtered, V)


def test_numbers_are_inputs_of_the_program():
    def function(x, k):
        y = x.copy()
        y[0] = k
        return y

    f = indim.jit(function)
    for k in (2.0, 3.5, -1.0):
        np.testing.assert_array_equal(f(V, k), function(V, k))
    assert f.trace_count == 1


def test_outside_arrays_are_read_by_each_call():
    w = np.array([1.0, 2.0])

    @indim.jit
    def function(x):
        y = x.copy()
        y[:2] = w
        y.astype("f4")[2:4] = w
        return y

    np.testing.assert_array_equal(function(V)[:2], [1, 2])
    w[:] = 5
    np.testing.assert_array_equal(function(V)[:2], [5, 5])


def test_a_copy_keeps_its_elements():
    import copy

    def function(x):
        y = x * 2
        before, deep, row = y.copy(), copy.deepcopy(y), y[1].copy()
        number, largest = y[0, 0, 0], y.max()
        y[...] = 9
        return before + deep + row + number + largest, y

    for found, expected in zip(indim.jit(function)(X), function(X.copy())):
        np.testing.assert_array_equal(found, expected)


def test_the_same_array_under_two_names():
    def function(x):
        y = x * 2
        z = y
        z[0] = 5
        return y

    check(function, X)


def test_gradients_and_batches():
    def function(x):
        y = x * x
        y[1:3] = 3 * x[:2]
        y[x < -1] = 0
        return np.sum(y)

    # The elements 0, 3 and 4 are squares, 1 and 2 are copies of others; the mask takes no element.
    def gradient(x):
        return np.array([2 * x[0] + 3, 3, 0, 2 * x[3], 2 * x[4]])

    x = np.array([0.5, 1.0, 2.0, -1.0, 3.0])
    np.testing.assert_array_equal(indim.grad(function)(x), gradient(x))
    batch = np.stack([x, x + 1, -x])
    expected = [function(row.copy()) for row in batch]
    np.testing.assert_allclose(indim.vmap(function)(batch), expected)


def argument(x):
    x[0] = 1
    return x


def view_of_an_argument(x):
    y = x[0]
    y[:] = 1
    return x


def loop(x):
    y = x * 2

    def step(i, s):
        y[0] = s[0]
        return s

    return indim.fori_loop(0, 2, step, x)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (argument, TypeError, r"an argument or comes from outside.*write y = x\.copy\(\) first"),
        (view_of_an_argument, TypeError, r"an argument or comes from outside"),
        (loop, TypeError, r"belongs to loop.* cannot assign to it: return `.*\.at\[key\]\.set"),
        (lambda x: x.sort(), TypeError, r"write y = x\.copy\(\) first"),
        (lambda x: np.fill_diagonal(x[0], 1), TypeError, "comes from outside"),
        (lambda x: np.einsum("ijk->kji", x).fill(1), TypeError, "comes from outside"),
        (assigned((slice(1, 3), 0), np.ones((3, 3))), ValueError, "broadcast"),
        (assigned(4, 1), IndexError, "out of bounds"),
        (assigned((0, 0, 0, 0), 1), IndexError, "4 indices"),
        (assigned(X[0] > 0, 1), IndexError, "mask"),
        (assigned(0, 1j), TypeError, "complex|imaginary"),
        (assigned(0, np.array([1j, 0, 0])), TypeError, "imaginary parts"),
    ],
)
def test_what_cannot_be_assigned(function, error, message):
    with pytest.raises(error, match=message):
        indim.jit(function)(X)


def test_what_the_messages_advise():
    def copied(x):
        y = x.copy()
        y[0] = 1
        return y

    def copied_view(x):
        y = x * 2
        z = y.T.copy()
        z[0] = 1
        return y + z.T

    check(copied, X)
    check(copied_view, X)


def test_labelled_arrays_are_not_shared():
    xr = pytest.importorskip("xarray")

    def function(x):
        y = x.copy(deep=True)
        y[0] = 0
        return x + y

    x = xr.DataArray(V, dims="i")
    with pytest.warns(RuntimeWarning, match="plain xarray"):
        found = indim.jit(function)(x)
    np.testing.assert_array_equal(found.values, [V[0], *(2 * V[1:])])


#: Functions whose results share the memory of `y`, or do not, for every layout.
OF_MEMORY = {
    "astype": lambda y: y.astype(y.dtype, copy=False),
    "astype of NumPy": lambda y: np.astype(y, y.dtype, copy=False),
    "asarray": lambda y: np.asarray(y, dtype=float),
    "array without a copy": lambda y: np.array(y, copy=None),
    "array": lambda y: np.array(y, ndmin=4),
    "type": lambda y: np.float64(y),
    "flatten": lambda y: y.flatten(),
    "tile": lambda y: np.tile(y, 1),
    "block": lambda y: np.block(y),
    "meshgrid": lambda y: np.meshgrid(y[0, 0])[0],
    "conjugate": lambda y: (y * 1j).conj(),
    "conjugate of real numbers": lambda y: y.conj(),
    "splits": lambda y: y.reshape(2, 2, 1, 5, 3),
    "transposed by einsum": lambda y: np.einsum("ijk->kij", y),
    "diagonal by einsum": lambda y: np.einsum("iij->ij", y[:3, :3]),
    "sum by einsum": lambda y: np.einsum("ijk->ik", y),
    "nan_to_num": lambda y: np.nan_to_num(y, copy=False),
    "no difference": lambda y: np.diff(y, n=0),
}


@pytest.mark.parametrize("made", OF_MEMORY.values(), ids=OF_MEMORY)
def test_results_share_the_memory_that_they_share_in_numpy(made):
    def function(x):
        y = x * 2
        z = made(y)
        y[...] = 77
        return z

    check(function, X)
    # The other direction may be an error, but no other result.
    if not np.shares_memory(y := X * 2, made(y)):
        return

    def written(x):
        y = x * 2
        z = made(y)
        z[...] = 77
        return y

    try:
        check(written, X)
    except ValueError as error:
        assert "shares memory" in str(error)


@pytest.mark.parametrize(
    "made",
    [
        lambda y: np.diagonal(y[0])[::-1],
        lambda y: y[:, :3].diagonal()[None, 1:],
        lambda y: np.flip(y.T.diagonal(1)),
    ],
)
def test_views_of_diagonals_follow_the_array(made):
    def function(x):
        y = x * 2
        z = made(y)
        y[0] = 77
        return z

    check(function, X)


@pytest.mark.parametrize(
    "made",
    [
        lambda y: y.T.reshape(-1),
        lambda y: y.reshape(20, 3),
        lambda y: y[:, 1:].reshape(-1),
        lambda y: y[0, 0, ::2].ravel(),
        lambda y: np.ascontiguousarray(y.T),
    ],
)
def test_what_shares_memory_in_some_layouts_is_an_error_after_a_write(made):
    def function(x):
        y = x * 2
        z = made(y)
        y[...] = 77
        return z

    with pytest.raises(ValueError, match="may share memory"):
        indim.jit(function)(X)

    def read(x):
        y = x * 2
        return made(y) + 1

    check(read, X)


def test_nan_to_num_writes_into_the_arrays_that_the_function_made():
    def function(x):
        y = np.where(x > 0, np.nan, x)
        np.nan_to_num(y, copy=False, nan=3.0)
        return y

    check(function, X)
    with pytest.raises(TypeError, match="an argument or comes from outside"):
        indim.jit(lambda x: np.nan_to_num(x, copy=False))(X)


def _filled(y, v):
    y.fill(v)


def _flat(y, v):
    y.flat[1], y.flat[-1] = v, 2 * v


def _all_flat(y, v):
    y.flat = v


def _diagonal(y, v):
    np.fill_diagonal(y, v)


def _placed(y, v):
    np.place(y, y > 1, [v, 2 * v])


@pytest.mark.parametrize("write", [_filled, _flat, _all_flat, _diagonal, _placed])
@pytest.mark.parametrize(
    "make",
    [
        lambda: np.arange(4.0).reshape(2, 2),
        lambda: np.array([[1, 2], [3, 4.0]]),
        lambda: np.zeros((2, 2)) + [[1.0, 2.0], [3.0, 4.0]],
    ],
)
def test_arrays_of_numpy_are_written_into_by_every_method(make, write):
    def function(v):
        y = make()
        write(y, v)
        return y

    check(function, np.array(7.0))


def test_flat_of_an_array_of_numpy_is_that_of_numpy():
    def function(i):
        y = np.arange(6.0).reshape(2, 3)
        flat = y.flat
        y.flat[0] = 9.0
        y.flat = [*flat][::-1]
        return np.array([flat[i], flat[1], len(flat), sum(flat), *flat[2:4]])

    check(function, np.array(5))


def _add_one(v):
    v += 1


def _add_one_to_rows(y):
    for row in y:
        row += 1


def _add_one_to_field(y):
    fields = {"y": y}
    fields["y"] += 1


def _subtract_from_a_view(y):
    row = y[0]
    y -= 1
    row *= 2


@pytest.mark.parametrize("write", [_add_one, _add_one_to_rows, _add_one_to_field, _subtract_from_a_view])
@pytest.mark.parametrize(
    "read", [lambda y: y, lambda y: y.T, lambda y: y[0], lambda y: y.reshape(-1), lambda y: y.ravel() * 2]
)
def test_operators_that_assign_write_into_arrays_of_the_function(write, read, recwarn):
    def function(x):
        y = x * 2
        write(y)
        return read(y)

    check(function, X)
    assert not recwarn.list


def test_reads_of_arrays_that_numpy_would_have_written_into_warn():
    def function(x):
        y = x * 2
        old = y
        y += np.ones(3, np.complex64)
        return old

    with pytest.raises(TypeError, match="Cannot cast"):
        function(X)
    with pytest.warns(UserWarning, match=r"Write array\[key\] \+= v") as caught:
        found = indim.jit(function)(X)
    np.testing.assert_array_equal(found, X * 2)
    # The place is that of the operator.
    assert {warning.filename for warning in caught} == {__file__}


def test_views_keep_their_type():
    def function(x):
        y = x.astype(np.float32)
        part = y[1:]
        part += x[1:]
        return y, part

    for found, expected in zip(indim.jit(function)(X / 3), function(X / 3)):
        np.testing.assert_array_equal(found, expected, strict=True)

    def whole(x):
        part = x.astype(int)[1:]
        part += 0.5
        return part

    for f in (whole, indim.jit(whole)):
        with pytest.raises(TypeError, match="Cannot cast ufunc 'add' output"):
            f(X)


def test_numbers_are_bound_anew(recwarn):
    def function(x):
        total = first = x.sum()
        total += 1
        element = y = x[0, 0, 0]
        element -= 1
        array = first.reshape(1)
        array[0] = 7
        more = np.atleast_1d(y)
        more += 3
        return np.stack([total, first, element, y, array[0], more[0]])

    check(function, X)
    assert not recwarn.list


def test_the_advice_for_operators_that_assign_to_views():
    def view(y):
        return y.reshape(-1)

    def function(x):
        y = x * 2
        part = view(y)
        part += 1
        return y

    def advised(x):
        y = x * 2
        y[...] += 1
        return y, view(y) + 0

    # A write into the view, `part[...] += 1`, would be no advice: it makes the use of `y` an error.
    with pytest.raises(ValueError, match="a view, `y`, .*into that array, and make the view afterwards"):
        indim.jit(function)(X)
    for found, expected in zip(indim.jit(advised)(X), advised(X)):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("make", [np.array, np.ones_like, lambda x: x * 1, lambda x: np.zeros(x.shape) + x])
@pytest.mark.parametrize("flat", [np.ravel, lambda y: y.reshape(-1)])
def test_operators_that_assign_to_flat_arrays(make, flat):
    def function(x):
        y = make(x)
        part = flat(y)
        part += 2
        return y

    def of_copy(x):
        y = x.copy()
        part = flat(y)
        part += 2
        return y, part

    def of_part(x):
        part = flat(make(x))
        part += 2
        return part

    with pytest.raises(ValueError, match="assigns to a view, `y`, in line"):
        indim.jit(function)(X)
    for found, expected in zip(indim.jit(of_copy)(X), of_copy(X)):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(indim.jit(of_part)(X), of_part(X))


def test_operators_that_assign_warn_of_no_other_reads(recwarn):
    def function(x):
        y = x * 2
        y += 1
        y[0] += 1
        y[:, 1] *= 2
        y[...] -= y
        y.real += 3
        z = y * 1j
        z.imag -= 1
        z[0, 1:] /= 2
        row = y[1]
        row = row * 2
        row += 1
        y[1] = row
        return y + z

    def parts(x):
        # Parts that do not overlap.
        y = x * 2
        p, q = y[0], y[1]
        p -= q
        q += p
        rows = x * 4
        total = rows[0]
        for row in rows[1:]:
            total += row
        real, imaginary = (x * (1 + 1j)).real, (x * (1 + 2j)).imag
        real += imaginary
        first, second = np.split(x * 3, 2, axis=1)
        first *= second
        return p.sum() + q.sum() + total.sum() + real.sum() + first.sum()

    check(function, X)
    check(parts, np.arange(12.0).reshape(3, 4))
    assert not recwarn.list


def test_code_with_arrays_of_jax_gets_no_warning(recwarn):
    # A module of its own, whose global names are those of a program of JAX.
    source = "def function(x):\n    old = y = x * 2\n    y += 1\n    return jnp.sum(y - old)"
    exec(source, names := {"jnp": indim.numpy})
    assert indim.jit(names["function"])(X) == X.size
    assert not recwarn.list


@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_put_beyond_both_ends(mode):
    def put(x, indices):
        y = x.copy()
        np.put(y, indices, [10.0, 20.0, 30.0], mode=mode)
        return y

    for indices in ([-2, 1, 9], [-7, 2, 4]):
        x = np.arange(5.0)
        assert np.array_equal(indim.jit(put)(x, np.array(indices)), put(x, indices))
