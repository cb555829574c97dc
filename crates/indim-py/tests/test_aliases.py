"""Writes into views of arrays: random programs give what they give in NumPy."""

import operator
import re

import numpy as np
import pytest

import indim

X = np.arange(24.0).reshape(4, 6)


def check(function, *arguments):
    """The function compiled and the function itself give the same."""
    expected = function(*(argument.copy() for argument in arguments))
    found = indim.jit(function)(*arguments)
    for one, other in zip(found, expected, strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other)


def slice_then_operator(x):
    y = x.copy()
    v = y[2:]
    v += 1
    return y, v


def row(x):
    y = x * 2
    row = y[0]
    row *= 2
    return y.sum(), row


def every_way(x):
    y = x * 2
    parts = [y[1:, ::2], y.T, y[::-1], y[:, None], y[..., 1:3], y.reshape(2, 2, 6)]
    parts += [np.flip(y, 1), y.swapaxes(0, 1)]
    for number, part in enumerate(parts):
        part += number
        part[0] = part[0] * 2
        part[..., -1] -= 1
    return y, *parts


def chain(x):
    y = x.copy()
    z = y.T[1:4][:, ::-1]
    w = z.reshape(3, 2, 2)[0]
    w[...] = w + 10
    before = y.copy()
    y[0] = 5
    z -= 1
    return y, z, w, before


def ravels(x):
    y = x.copy()
    flat, part, rest = y.ravel(), y[1:3].reshape(-1), y[0].ravel()
    flat += 1
    part *= 2
    rest[1:] = 0
    zeros = np.zeros((2, 3))
    zeros.reshape(-1)[::2] = x[0, :3]
    return y, flat, part, rest, zeros


def rows(x):
    y = x * 3
    for index, line in enumerate(y):
        line += index
    first, second = np.split(y, 2)
    first -= second
    np.multiply(second, 2, out=second)
    y.sort(axis=1)
    return y, first, second


def parts_of_complex_numbers(x):
    z = x * (1 + 2j)
    z.real += 1
    part = z.imag
    part[0] = 7
    part *= 2
    real = x * 2
    real.real[1] = 0
    return z, part, real


def diagonal_and_windows(x):
    y = x * 2
    d, windows = y.diagonal(), np.lib.stride_tricks.sliding_window_view(y, 2, axis=0)
    y[1:, 1:][0] += 5
    return y, d, windows


def a_view_of_an_array_that_numpy_makes(x):
    y = np.zeros(6)
    first = y[:3]
    first += x[0, 3:]
    y[4:] -= 1
    return y, first


def a_view_read_in_a_loop(x):
    y = x * 2
    row = y[0]
    y[0, 1] = 100
    row += 1
    total = indim.fori_loop(0, 3, lambda i, s: s + row, np.zeros(6))
    return y, total


def sizes(x):
    y = x[0] * 2
    half = y[: y.shape[0] // 2]
    half += 10
    last = y[-2:]
    last[:] = 0
    return y, half


@pytest.mark.parametrize(
    "function",
    [
        slice_then_operator,
        row,
        every_way,
        chain,
        ravels,
        rows,
        parts_of_complex_numbers,
        diagonal_and_windows,
        a_view_of_an_array_that_numpy_makes,
        a_view_read_in_a_loop,
        sizes,
    ],
)
def test_programs(function, recwarn):
    check(function, X)
    assert not recwarn.list


def test_gradients_and_batches():
    def function(x):
        y = x * x
        middle = y[1:-1]
        middle *= x[0]
        y[::-1][0] = 3 * x[1]
        return np.sum(y)

    # x0^2 + (x1^2 + x2^2) * x0 + 3 * x1
    x = np.array([0.5, 1.0, 2.0, -1.0])
    expected = np.array([2 * x[0] + x[1] ** 2 + x[2] ** 2, 2 * x[1] * x[0] + 3, 2 * x[2] * x[0], 0])
    np.testing.assert_array_equal(indim.grad(function)(x), expected)
    batch = np.stack([x, 2 * x])
    np.testing.assert_array_equal(indim.vmap(function)(batch), [function(row.copy()) for row in batch])


LAST_ROWS = indim.jit(lambda y: y[1:])


@indim.jit
def incremented(y):
    y += 1
    return y


@pytest.mark.parametrize(
    "made",
    [
        LAST_ROWS,
        incremented,
        lambda y: indim.cond(True, lambda r: r, lambda r: r * 2, y),
        lambda y: indim.fori_loop(0, 2, lambda i, r: r * 2, y),
        lambda y: indim.scan(lambda r, _: (r, r), y, length=2)[1],
        indim.grad(lambda y: np.sum(y * y)),
        indim.vmap(lambda r: r),
        lambda y: indim.jit(lambda y: {"rows": [y]})(y)["rows"][0],
    ],
)
def test_results_of_other_functions_are_new_arrays(made, recwarn):
    def function(x):
        y = x * 2
        found = other = made(y)
        found += 1
        found[0] = 3
        before = y + 0
        y *= 2
        return y, found, other, before

    check(function, X)
    assert not recwarn.list


def test_a_compiled_function_does_not_write_into_its_arguments():
    @indim.jit
    def written(y):
        y[0] = 1
        return y

    with pytest.raises(TypeError, match="an argument or comes from outside"):
        indim.jit(lambda x: written(x * 2))(X)


def test_diagonals_are_read_only():
    def function(x):
        diagonal = (x * 2).diagonal()
        diagonal[0] = 1
        return diagonal

    with pytest.raises(ValueError, match="read-only"):
        function(X)
    with pytest.raises(TypeError, match="read-only in NumPy: assign to the array itself"):
        indim.jit(function)(X)


@pytest.mark.parametrize(
    "view",
    [
        lambda y: y.reshape(-1),
        np.asfortranarray,
        lambda y: y.T.reshape(-1)[1:],
        lambda y: np.broadcast_to(y, (2, 4, 6)),
        lambda y: np.lib.stride_tricks.sliding_window_view(y, 2, axis=0),
        lambda y: np.trim_zeros(y[0]),
    ],
)
def test_what_is_a_view_in_some_layouts_only_or_read_only_is_refused(view):
    def function(x):
        y = x * 2
        part = view(y)
        part[0] = 7
        return y

    with pytest.raises(ValueError, match="shares memory with a view of it"):
        indim.jit(function)(X)


# Random programs: lists of steps, which a function runs on arrays of NumPy or on traced values.


def _key(random, shape):
    keys = []
    for size in shape[: int(random.integers(0, len(shape) + 1))]:
        if size and random.random() < 0.25:
            keys.append(int(random.integers(-size, size)))
        else:
            step = int(random.choice([1, 1, 1, 2, -1, -2]))
            ends = random.integers(-size - 1, size + 2, 2).tolist()
            keys.append(slice(*(None if random.random() < 0.4 else end for end in ends), step))
    if random.random() < 0.2:
        keys.insert(int(random.integers(0, len(keys) + 1)), None)
    if random.random() < 0.2:
        keys.append(Ellipsis)
    return tuple(keys)


def _views(random, array, any_layout):
    rank = array.ndim
    yield lambda y, key=_key(random, array.shape): y[key]
    yield lambda y, key=_key(random, array.shape): y[key]
    yield lambda y: y.T
    yield lambda y: np.squeeze(y)
    if rank:
        axis = int(random.integers(-rank, rank))
        yield lambda y: np.flip(y, axis)
        yield lambda y: np.expand_dims(y, axis)
        yield lambda y: np.moveaxis(y, axis, 0)
        halves = [(2, size // 2) if size and size % 2 == 0 else (size,) for size in array.shape]
        yield lambda y: y.reshape([part for half in halves for part in half])
        yield lambda y: np.array_split(y, 2, axis)[1]
    yield lambda y: y.real
    if any_layout:
        yield lambda y: y.reshape(-1)
        yield lambda y: y.ravel()
        yield np.ascontiguousarray


def _writes(random, run, index):
    array, key, number = run[index], _key(random, run[index].shape), float(random.integers(1, 4))
    other = int(random.integers(0, len(run)))
    symbol = random.choice([operator.iadd, operator.isub])

    def whole(run):
        run[index] = symbol(run[index], number)

    def part(run):
        run[index][key] = symbol(run[index][key], number)

    def assigned(run):
        run[index][key] = number

    def by_other(run):
        run[index] = symbol(run[index], run[other])

    def copied(run):
        run[index][...] = run[other]

    def into(run):
        np.add(run[index], number, out=run[index])

    steps = [whole, part, assigned] if array.ndim else [whole]
    if array.ndim and run[other].shape in ((), array.shape, array.shape[1:]):
        steps += [by_other, copied]
    return [*steps, into] if array.ndim else steps


def _difference(random, run):
    first, second = random.integers(0, len(run), 2).tolist()
    if run[first].shape != run[second].shape:
        second = first
    return lambda run: run.append(run[first] - run[second] * 0.5)


def random_program(seed, any_layout=False):
    """A function that returns the arrays of a random program."""
    random = np.random.default_rng(seed)
    steps, run = [], [X * 2 if any_layout else X.copy()]
    while len(steps) < 9:
        index, kind = int(random.integers(0, len(run))), random.random()
        if kind < 0.4:
            view = random.choice(list(_views(random, run[index], any_layout)))
            step = lambda run, view=view, index=index: run.append(view(run[index]))  # noqa: E731
        elif kind < 0.85:
            step = random.choice(_writes(random, run, index))
        elif kind < 0.95 or not run[index].ndim:
            step = _difference(random, run)
        else:
            step = lambda run, index=index: run.append(run[index].copy())  # noqa: E731
        try:
            step(run)
        except (ValueError, IndexError):
            # It changed nothing.
            continue
        steps.append(step)

    def program(x):
        run = [x * 2 if any_layout else x.copy()]
        for step in steps:
            step(run)
        return run

    return program


@pytest.mark.parametrize("first", range(0, 320, 40))
def test_random_programs(first):
    for seed in range(first, first + 40):
        check(random_program(seed), X)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("first", range(0, 160, 40))
def test_random_programs_whose_views_depend_on_the_layout(first):
    for seed in range(first, first + 40):
        program = random_program(10_000 + seed, any_layout=True)
        for x in (X, np.asfortranarray(X)):
            try:
                check(program, x)
            except (UserWarning, ValueError) as error:
                # A view, or a copy: a read of the array after a write is an error.
                assert re.search("assigns to a view, `y`|shares? memory", str(error))


def view_of_a_part(y, k):
    y[k][0] = -1.0
    return y


def row_in_place(y, k):
    row = y[k]
    row += 1
    return y, row


def row_before_a_write(y, k):
    row = y[k]
    y[:] = 9.0
    return row


def parts_in_place(y, k):
    y[k] += 2.0
    y[:, k] *= 3
    y[k, 1:] -= 1
    return y


def swap_of_views(y, k):
    row = y[k]
    y[k] = y[1]
    y[1] = row
    return y


def view_of_a_view(y, k):
    row = y[k][::-1]
    row[0] = 4.0
    y[k] -= 1
    return y, row


def moved_position(y, k):
    row = y[k]
    k = k + 1
    row[1] = 7.0
    return y, y[k]


def copy_of_a_row(y, k):
    row = y[k].copy()
    row[0] = 3.0
    return y, row


OF_POSITIONS = [view_of_a_part, row_in_place, row_before_a_write, parts_in_place, swap_of_views]
OF_POSITIONS += [view_of_a_view, moved_position, copy_of_a_row]


@pytest.mark.parametrize("function", OF_POSITIONS)
def test_parts_at_traced_positions_are_views(function):
    def at_a_minimum(x):
        y = x.copy()
        return function(y, np.argmin(y[:, 0]))

    def at_an_argument(x, k):
        return function(x.copy(), k - 1)

    x = np.array([[1.0, 2.0], [5.0, 6.0]])
    check(at_a_minimum, x)
    check(at_an_argument, x, np.int64(1))
