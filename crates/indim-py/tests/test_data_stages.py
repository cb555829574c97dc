"""Sizes that depend on data: compiled functions that run in stages, compared with NumPy."""

import functools
import pickle

import numpy as np
import pytest

import indim

X = np.array([[3.0, -1.0, 2.0, 0.5], [-2.0, 7.0, -0.0, np.nan], [1.0, 1.0, -5.0, 4.0]])
Y = np.arange(12.0).reshape(3, 4)
V = np.array([4.0, -1.0, 9.0, 2.0, 7.0, -3.0, 2.0])


def same(actual, expected):
    if isinstance(expected, (tuple, list)):
        assert type(actual) is type(expected)
        for one, other in zip(actual, expected, strict=True):
            same(one, other)
        return
    expected = np.asarray(expected)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    np.testing.assert_array_equal(actual, expected)


PROGRAMS = {
    "elements": lambda x, y: x[x > 0],
    "elements of another": lambda x, y: y[np.isfinite(x)],
    "an expression of both": lambda x, y: (x * 2 + y)[(x > 0) & (y < 9)] - 1,
    "rows": lambda x, y: x[y[:, 1] > 2],
    "columns": lambda x, y: x[:, y[1] > 5],
    "after an ellipsis": lambda x, y: x[..., y[1] > 5],
    "with a new axis": lambda x, y: x[None, y[:, 0] > 1],
    "with a number": lambda x, y: x[y[:, 0] > 1, 2],
    "with indices": lambda x, y: x[y[:, 0] > 1, np.array([2])],
    "a mask of rank 2 in rank 3": lambda x, y: np.stack([x, y], axis=2)[x > 0],
    "a mask of rank 2 at the end": lambda x, y: np.stack([x, y])[:, y > 3],
    "a mask of a mask": lambda x, y: x[x > 0][x[x > 0] < 3],
    "the mean of rows": lambda x, y: x[x.sum(axis=1) > 0].mean(axis=0),
    "two masks": lambda x, y: (x[x > 1].sum(), y[y > 1].sum()),
    "one mask of two arrays": lambda x, y: x[y > 4] * y[y > 4],
    "none is true": lambda x, y: x[y > 100],
    "the sum of none": lambda x, y: x[y > 100].sum(),
    "a list": lambda x, y: x[[True, False, True]],
    "nonzero": lambda x, y: np.nonzero(x),
    "the method nonzero": lambda x, y: (x > 1).nonzero(),
    "where": lambda x, y: np.where(x > 1),
    "flatnonzero": lambda x, y: np.flatnonzero(x > 1),
    "argwhere": lambda x, y: np.argwhere(x > 1),
    "compress": lambda x, y: np.compress(x[:, 0] > 0, y, axis=0),
    "a short condition": lambda x, y: np.compress(x[0, :2] > 0, y, axis=1),
    "compress of all": lambda x, y: np.compress(x.ravel() > 0, y),
    "compress of a list": lambda x, y: np.compress([False, True], y, axis=1),
    "the method compress": lambda x, y: y.compress(x[:, 0] > 0, axis=0),
    "extract": lambda x, y: np.extract(x > 0, y),
    "unique": lambda x, y: np.unique(x),
    "unique with counts": lambda x, y: np.unique(np.floor(y / 3), return_counts=True),
    "all of unique": lambda x, y: np.unique(np.floor(y / 3).ravel(), True, True, True),
    "unique of integers": lambda x, y: np.unique(y.astype("i4") % 5),
    "union": lambda x, y: np.union1d(x[0], y[0]),
    "intersection": lambda x, y: np.intersect1d(x[0], y[0]),
    "difference": lambda x, y: np.setdiff1d(y, x),
    "symmetric difference": lambda x, y: np.setxor1d(y[0], x[0]),
    "an update": lambda x, y: indim.at(x)[x > 1].add(10.0),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_results_are_those_of_numpy(program):
    function = indim.jit(program)
    for x, y in [(X, Y), (Y - 4, X), (X[::-1], -Y), (X[:, ::-1].astype("f4"), Y), (X * 0, Y)]:
        same(function(x, y), program(x, y))


def test_random_masks():
    random = np.random.default_rng(5)
    programs = {
        "rows": indim.jit(lambda x, m: x[m[0]]),
        "columns": indim.jit(lambda x, m: x[:, m[1]]),
        "elements": indim.jit(lambda x, m: x[m[2]]),
    }
    for _ in range(40):
        rows, columns = random.integers(0, 6, 2)
        dtype = random.choice(["f4", "f8", "i1", "u2", "?", "c8"])
        x = random.integers(0, 9, (rows, columns)).astype(dtype)
        masks = tuple(random.integers(0, 2, shape).astype(bool) for shape in (rows, columns, (rows, columns)))
        same(programs["rows"](x, masks), x[masks[0]])
        same(programs["columns"](x, masks), x[:, masks[1]])
        same(programs["elements"](x, masks), x[masks[2]])


def test_programs_serve_all_lengths():
    traces = []

    @indim.jit
    def best(x):
        traces.append(None)
        kept = x[x > 0]
        return kept / kept.sum(), np.sort(kept)

    for length in (5, 6, 7, 50, 3):
        x = np.arange(length) - 1.0
        same(best(x), (x[x > 0] / x[x > 0].sum(), np.sort(x[x > 0])))
    # One without data, one for the mask, and one for the results.
    assert len(traces) == 3


def test_masks_that_occur_twice_are_one_stage():
    traces = []

    @indim.jit
    def function(x, y):
        traces.append(None)
        mask = x > 1
        return x[mask] + y[mask] + np.flatnonzero(mask)

    same(function(X, Y), X[X > 1] + Y[X > 1] + np.flatnonzero(X > 1))
    assert len(traces) == 3


def test_arguments_and_results_are_those_of_other_functions():
    @indim.jit(static="mode")
    def function(tree, *more, mode, scale=2.0, order=None):
        kept = tree["x"][tree["x"] > more[0]]
        return {"kept": kept * scale if mode == "scale" else kept, "none": None, "pair": (more[1], [kept])}

    for mode, scale in (("scale", 3.0), ("plain", 3.0), ("scale", 2.0)):
        found = function({"x": V}, 2.0, V, mode=mode, scale=scale, order=1)
        kept = V[V > 2.0]
        same(found["kept"], kept * scale if mode == "scale" else kept)
        assert found["none"] is None
        same(found["pair"], (V, [kept]))


def test_arrays_from_outside_are_read_at_each_call():
    mask, table = np.array([True, False, True]), np.arange(3.0)
    function = indim.jit(lambda x: (x + table)[mask])
    same(function(np.ones(3)), np.array([1.0, 3.0]))
    mask[1], table[0] = True, 5.0
    same(function(np.ones(3)), np.array([6.0, 2.0, 3.0]))
    mask[:] = False
    same(function(np.ones(3)), np.zeros(0))


def test_user_code_does_not_catch_the_end_of_a_stage():
    @indim.jit
    def function(x):
        try:
            return x[x > 2]
        except Exception:
            return x

    same(function(V), V[V > 2])

    @indim.jit
    def always(x):
        try:
            kept = x[x > 2]
        except BaseException:
            kept = x
        return kept.sum()

    assert always(V) == V[V > 2].sum()

    @indim.jit
    def returned(x):
        try:
            kept = x[x > 2]
        finally:
            return kept.sum() if "kept" in locals() else x.sum()

    assert returned(V) == V[V > 2].sum()


def test_callables_without_a_name():
    function = indim.jit(functools.partial(lambda low, x: x[x > low], 2.0))
    same(function(V), V[V > 2])

    class Above:
        def __call__(self, x):
            return x[x > 2]

    same(indim.jit(Above())(V), V[V > 2])


def test_empty_and_other_arrays_share_a_function():
    for arrays in ([V[:0], V], [V, V[:0]]):
        function = indim.jit(lambda x: np.unique(x, True, True, True))
        different = indim.jit(lambda x: np.setdiff1d(x, np.array([2.0])))
        for x in arrays:
            same(function(x), np.unique(x, True, True, True))
            same(different(x), np.setdiff1d(x, [2.0]))


def test_known_masks_in_batches_and_loops():
    mask = np.array([True, False, True])
    rows = np.arange(12.0).reshape(4, 3)
    same(indim.vmap(lambda row: row[mask].sum())(rows), rows[:, mask].sum(axis=1))
    looped = indim.jit(lambda x: indim.fori_loop(0, 3, lambda i, s: s + x[mask].sum(), 0.0))
    same(looped(rows[0]), 3 * rows[0, mask].sum())


def test_sets_of_an_array_and_a_traced_value():
    values = np.arange(6)
    for name in ("setdiff1d", "intersect1d", "setxor1d", "union1d"):
        function = getattr(np, name)
        same(indim.jit(lambda x: function(values, x))(np.array([1, 7, 1])), function(values, [1, 7, 1]))


def test_where_of_a_condition_in_the_namespace_of_jax():
    jnp = indim.numpy
    same(indim.jit(lambda x: jnp.where(x > 2))(V), np.where(V > 2))
    same(indim.jit(lambda x: jnp.where(x > 2, size=2))(V), (np.array([0, 2]),))
    same(jnp.where(V > 2, V, 0), np.where(V > 2, V, 0))


def test_each_number_of_elements_has_the_same_program():
    traces = []

    @indim.jit
    def function(x):
        traces.append(None)
        rows = x[:, 0] > 0
        return x[x > 0], x[rows], x[:, x[0] > 0], np.nonzero(x > 0), np.stack([x, x], axis=2)[x > 0]

    random = np.random.default_rng(3)
    for _ in range(20):
        x = random.normal(size=(6, 5))
        found = function(x)
        kept = np.stack([x, x], axis=2)[x > 0]
        same(found, (x[x > 0], x[x[:, 0] > 0], x[:, x[0] > 0], np.nonzero(x > 0), kept))
    # One without data, one for each of five masks, and one for the results.
    assert len(traces) == 7


def test_gradients():
    total = indim.grad(lambda x: (x[x > 2] ** 2).sum())
    same(total(V), np.where(V > 2, 2 * V, 0))
    same(indim.jit(total)(V), np.where(V > 2, 2 * V, 0))
    value, gradient = indim.value_and_grad(lambda x: (x * 2)[x * 2 > 4].prod())(V[:3])
    same((value, gradient), (np.prod(2 * V[[0, 2]]), np.array([36.0, 0.0, 16.0])))
    _, tangent = indim.jvp(lambda x: x[x > 2] ** 2, (V,), (np.ones_like(V),))
    same(tangent, 2 * V[V > 2])


def test_a_pickle_runs_in_stages_too():
    indim_function = indim.jit(positive)
    same(indim_function(V), V[V > 0])
    same(pickle.loads(pickle.dumps(indim_function))(V), V[V > 0])


def positive(x):
    return x[x > 0]


def test_a_compiled_function_within_another():
    inner = indim.jit(lambda x: x[x > 0])
    same(inner(V), V[V > 0])
    same(indim.jit(lambda x: inner(x * 2) + 1)(V), V[V > 0] * 2 + 1)


def test_an_explanation_is_that_of_the_last_stage():
    function = indim.jit(lambda x: x[x > 0] * 2)
    assert "i64[5]" in function.explain(V)
    assert "i64[5]" in function.explain()
    assert "i64[2]" in function.explain(V[:2] * 0 + 1)
    with pytest.raises(TypeError, match="depends on data, which types, exported"):
        indim.jit(lambda x: x[x > 0]).explain("f64[5]")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: indim.vmap(lambda row: row[row > 0].sum())(x), "depends on data, and loops, branches"),
        (lambda x: indim.jacobian(lambda x: x[x > 2] ** 2)(V), "depends on data, and loops, branches"),
        (lambda x: indim.fori_loop(0, 2, lambda i, s: s + x[x > s].sum(), 0.0), "depends on data, and loops"),
        (lambda x: indim.jit(lambda x: x[x > 0]).export("onnx", x), "exported programs"),
        (lambda x: indim.jit(lambda x: x[x > 0])(x, out=np.zeros(3)), "takes no `out`"),
        (lambda x: indim.jit(lambda x: x[x[:, :2] > 0])(x), "2 elements along axis 1, and `x` has 4"),
        (lambda x: indim.jit(lambda x: x[0][x > 0])(x), "too many indices"),
        (lambda x: indim.jit(lambda x: np.compress(x[:, 0] == x[:, 0], x[0, :2]))(x), "index"),
        (lambda x: indim.jit(lambda x: np.unique(np.tile(x, (2, 99)), axis=0))(x), "slices of up to 256"),
    ],
)
def test_what_has_no_stages_says_what_to_write(function, message):
    with pytest.raises((TypeError, IndexError, ValueError), match=message):
        function(X)


def test_shapes_are_checked_at_each_call():
    function = indim.jit(lambda x, mask: x[mask])
    for length in (3, 4, 5):
        same(function(np.arange(length), np.arange(length) > 1), np.arange(length)[2:])
    for other in (4, 6):
        with pytest.raises((ValueError, IndexError)):
            function(np.arange(5), np.arange(other) > 1)


def test_an_endless_chain_of_sizes_ends():
    def halve(x):
        while True:
            x = x[x > 0]

    with pytest.raises(TypeError, match="more than 32 sizes that depend on data"):
        indim.jit(halve)(V)
