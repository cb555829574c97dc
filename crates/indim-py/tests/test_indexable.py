"""NumPy arrays from outside a compiled function, indexed by traced values."""

import importlib
import functools
import threading
import types

import numpy as np
import pytest

import indim

TABLE = np.arange(12.0).reshape(4, 3)
TABLES = {"first": TABLE, "others": [TABLE + 10, (TABLE + 20,)]}
INDICES = np.array([[3, 0], [1, -1]])


class Model:
    """An object with a table, whose methods read tables."""

    shift = 1.0

    def __init__(self):
        self.table = TABLE * 2

    def rows(self, i):
        return self.table[i] + self.shift

    def rows_of_the_module(self, i):
        return TABLE[i] + self.rows(i)

    @functools.partial(indim.jit, static="self")
    def compiled(self, i):
        return self.rows_of_the_module(i)


MODEL = Model()
MODULE = types.ModuleType("tables")
MODULE.TABLE = TABLE


def helper(i, table=None):
    return (TABLE if table is None else table)[i]


def helper_with_defaults(i, first=TABLE, *, second=TABLE):
    return first[i] + second[i]


def of_closure():
    table = TABLE + 1
    return lambda i: table[i]


@indim.jit
def compiled_helper(i):
    return TABLE[i] * 2


FUNCTIONS = {
    "a name": lambda i: TABLE[i],
    "a closure": of_closure(),
    "with a slice": lambda i: TABLE[1:][i[1], :2] + TABLE[i[1], :2],
    "a single index": lambda i: TABLE[i[0, 0]] + TABLE[0],
    "twice": lambda i: TABLE[i] + TABLE[i][:, ::-1] * TABLE.shape[0],
    "what is computed from it": lambda i: (TABLE * 2).T[1][i],
    "take": lambda i: np.take(TABLE, i, axis=0) + TABLE.take(i, 0),
    "a dict and a list": lambda i: TABLES["first"][i] + TABLES["others"][0][i] + TABLES["others"][1][0][i],
    "an attribute": lambda i: MODEL.table[i],
    "a method": MODEL.rows,
    "a method that reads names": lambda i: MODEL.rows_of_the_module(i),
    "a module": lambda i: MODULE.TABLE[i],
    "a helper": lambda i: helper(i),
    "a helper with an argument": lambda i: helper(i, TABLES["first"]),
    "defaults of a helper": lambda i: helper_with_defaults(i),
    "a partial": functools.partial(helper, table=TABLE),
    "a compiled helper": lambda i: compiled_helper(i),
    "a keyword": lambda i, *, k=2.0: TABLE[i] * k,
    "a number of it": lambda i: TABLE[i] * TABLE.sum() + float(TABLE[1, 1]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_array_from_around_a_function_is_indexed_as_by_numpy(name):
    function = FUNCTIONS[name]
    expected = function(INDICES)
    result = indim.jit(function)(INDICES)
    assert type(result) is np.ndarray and result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


def test_the_elements_are_read_at_each_call():
    table = np.arange(5.0)
    f = indim.jit(lambda i: table[i] * 2)
    np.testing.assert_array_equal(f(np.array([1, 4])), [2, 8])
    table[4] = 100
    np.testing.assert_array_equal(f(np.array([1, 4])), [2, 200])
    assert f.trace_count == 1
    table = np.arange(5.0) + 1
    np.testing.assert_array_equal(f(np.array([1, 4])), [4, 10])
    assert f.trace_count == 1
    with pytest.raises(IndexError, match="index 5, at .0. of `i`"):
        f(np.array([5]))


def test_a_static_table_and_a_static_self():
    f = indim.jit(lambda table, i: table[i], static="table")
    np.testing.assert_array_equal(f(TABLE, INDICES), TABLE[INDICES])
    np.testing.assert_array_equal(f(TABLE + 1, INDICES), TABLE[INDICES] + 1)
    np.testing.assert_array_equal(MODEL.compiled(INDICES), MODEL.rows_of_the_module(INDICES))


WEIGHTS = np.arange(3.0)


def weighted(x, i):
    return x * WEIGHTS[i]


def weighted_with_index(x, i):
    return x * WEIGHTS[i], i


def rounded_weight(x):
    return WEIGHTS[x.astype(int)]


def with_derivative(kind, function=lambda x: x * rounded_weight(x)):
    """A function with a derivative of its own, ten times as large as ``rounded_weight``."""
    f = kind(function)
    if kind is indim.custom_vjp:
        f.defvjp(lambda x: (f(x), x), lambda x, g: (10 * g * rounded_weight(x),))
        return f

    @f.defjvp
    def rule(primals, tangents):
        return f(*primals), 10 * tangents[0] * rounded_weight(*primals)

    return f


def with_derivatives_by_argument():
    f = indim.custom_jvp(lambda x: x * rounded_weight(x))
    f.defjvps(lambda t, result, x: 10 * t * rounded_weight(x) + 0 * result)
    return f


TRANSFORMED = {
    "grad": (indim.grad(weighted), 2),
    "value_and_grad": (indim.value_and_grad(weighted), (4, 2)),
    "grad with auxiliary results": (indim.grad(weighted_with_index, has_aux=True), (2, 2)),
    "jacrev": (indim.jacrev(weighted), 2),
    "jacfwd with auxiliary results": (indim.jacfwd(weighted_with_index, has_aux=True), (2, 2)),
    "hessian": (indim.hessian(lambda x, i: x * x * WEIGHTS[i]), 4),
    "jvp": (lambda x, i: indim.jvp(lambda x: weighted(x, i), (x,), (1.0,)), (4, 2)),
    "vjp": (lambda x, i: indim.vjp(lambda x: weighted(x, i), x)[1](1.0), (2,)),
    "vmap": (lambda x, i: indim.vmap(weighted, in_axes=(0, None))(x[None], i)[0], 4),
}
CUSTOM = {
    "custom_jvp": with_derivative(indim.custom_jvp),
    "custom_vjp": with_derivative(indim.custom_vjp),
    "defjvps": with_derivatives_by_argument(),
    "a rule of custom_jvp": with_derivative(indim.custom_jvp, lambda x: x * 2),
    "a rule of custom_vjp": with_derivative(indim.custom_vjp, lambda x: x * 2),
}


@pytest.mark.parametrize("name", CUSTOM)
def test_a_function_with_a_derivative_of_its_own_keeps_it(name):
    f, x = CUSTOM[name], np.array(2.0)
    for compiled in (indim.jit(f), indim.jit(lambda x: f(x))):
        assert compiled(x) == 4
    for of in (indim.grad, indim.jacrev):
        gradient = of(f)
        for compiled in (gradient, indim.jit(gradient), indim.jit(lambda x: gradient(x))):
            assert compiled(x) == 20
    np.testing.assert_array_equal(indim.jit(lambda x: indim.vmap(indim.grad(f))(x))(WEIGHTS), [0, 10, 20])


@pytest.mark.parametrize("name", TRANSFORMED)
def test_a_transformed_function_stays_transformed(name):
    function, expected = TRANSFORMED[name]
    x, i = np.array(2.0), np.array(2)
    for compiled in (indim.jit(lambda x, i: function(x, i)), indim.jit(function)):
        found = compiled(x, i)
        assert type(found) is (tuple if isinstance(expected, tuple) else np.ndarray)
        np.testing.assert_array_equal(found, expected)


MAPPED = indim.vmap(weighted, in_axes=(0, None), out_axes=1)


def test_a_batch_keeps_its_axes():
    f = indim.jit(lambda x, i: MAPPED(x, i))
    rows = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(f(rows, np.array([1, 2])), (rows * [1, 2]).T)


def test_gradients_go_through_a_table():
    indices = np.array([2, 0, 2])
    loss = indim.grad(lambda w: np.sum(w * TABLE[indices][:, 0]))
    np.testing.assert_array_equal(loss(np.ones(3)), TABLE[indices][:, 0])
    by_index = indim.grad(lambda w, i: np.sum(w * TABLE[i][:, 1] ** 2))
    np.testing.assert_array_equal(by_index(np.ones(3), indices), TABLE[indices][:, 1] ** 2)


def test_what_the_function_reads_stays_as_it_is():
    before = TABLE, dict(TABLES), MODEL, vars(MODEL).copy()
    seen = []

    def watched(i):
        seen.append(type(TABLES["first"]))
        return TABLES["first"][i] + MODEL.table[i]

    indim.jit(watched)(INDICES)
    # The second run is of a copy, over views.
    assert [kind.__name__ for kind in seen] == ["ndarray", "Indexable"]
    assert TABLE is before[0] and type(TABLE) is np.ndarray
    assert TABLES == before[1] and TABLES["first"] is TABLE
    assert vars(MODEL).keys() == before[3].keys() and MODEL.table is before[3]["table"]


def test_what_leads_to_no_array_is_not_copied():
    log, counter = [], types.SimpleNamespace(calls=0)

    def counted(i):
        log.append(1)
        counter.calls += 1
        return TABLE[i]

    f = indim.jit(counted)
    np.testing.assert_array_equal(f(INDICES), TABLE[INDICES])
    assert len(log) == counter.calls == 2


def test_other_threads_see_no_view():
    def indexed(i):
        return TABLE[i] + helper(i)

    kinds, stop = set(), threading.Event()

    def watch():
        while not stop.is_set():
            kinds.add((type(TABLE), type(MODEL.table), type(helper(0))))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        for _ in range(20):
            indim.jit(indexed)(INDICES)
    finally:
        stop.set()
        thread.join()
    assert kinds == {(np.ndarray,) * 3}


def test_an_array_that_the_function_makes():
    def made(i):
        table = np.linspace(0, 1, 5)
        return table[i]

    def from_a_package(i):
        return np.polynomial.chebyshev.chebpts1(5)[i]

    np.testing.assert_array_equal(indim.jit(made)(np.array([1, 4])), [0.25, 1])
    with pytest.raises(TypeError, match=r"write indim.take\(array, i, axis=0\)"):
        indim.jit(from_a_package)(np.array([1, 4]))

    def advised(i):
        array = np.polynomial.chebyshev.chebpts1(5)
        return indim.take(array, i, axis=0)

    np.testing.assert_array_equal(indim.jit(advised)(np.array([1, 4])), from_a_package([1, 4]))


def test_what_is_advised_for_conversions_works(tmp_path, monkeypatch):
    x, y = np.arange(3.0), np.ones(3)
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "installed_for_a_test.py").write_text(
        "import numpy as np\n\n\ndef converted(x):\n    return np.array(x)\n"
    )
    monkeypatch.syspath_prepend(folder)
    converted = importlib.import_module("installed_for_a_test").converted
    with pytest.raises(TypeError, match=r"indim.asarray\(x\) for .*, and np.stack\(\[x, y\]\) for"):
        indim.jit(lambda x: converted(x))(x)
    np.testing.assert_array_equal(indim.jit(lambda x, y: indim.asarray(x) + y)(x, y), x + y)
    np.testing.assert_array_equal(indim.jit(lambda x, y: np.stack([x, y]))(x, y), [x, y])


def test_a_function_that_fails_otherwise_is_run_once():
    runs = []

    def failing(x):
        runs.append(1)
        return x if x > 0 else -x

    with pytest.raises(TypeError):
        indim.jit(failing)(np.ones(3))
    assert len(runs) == 1


def _choices(i):
    return [1, 2, 3][i]


@pytest.mark.parametrize(
    "table",
    [
        lambda: np.arange(4) ** 2,
        lambda: np.array([1, 2, 3]) * 2,
        lambda: np.float32([1, 2, 3]),
        lambda: np.concatenate([np.arange(3), np.arange(4)]),
        lambda: np.where(np.arange(5) > 2, 1, 0),
        lambda: np.outer(np.arange(5), np.arange(5)),
        lambda: np.r_[1:5],
        lambda: np.add([1, 2, 3], [4, 5, 6]),
        lambda: np.multiply.outer([1, 2, 3], [4, 5, 6]),
        lambda: np.split(np.arange(8), 2)[1],
        lambda: np.meshgrid([1, 2, 3], [4, 5, 6])[0],
        lambda: np.sort([3, 1, 2]),
    ],
)
def test_tables_that_numpy_computes_from_constants(table):
    def function(i, x):
        rows = table()
        found = rows[i]
        rows[0] = x
        return found, rows

    expected = function(np.array([2, 0]), 7)
    for found, other in zip(indim.jit(function)(np.array([2, 0]), np.int64(7)), expected):
        np.testing.assert_array_equal(found, other)


def test_an_index_of_a_list_says_what_to_write():
    with pytest.raises(TypeError, match=r"an index of a list .*write np.array\(values\)\[i\] for numbers"):
        indim.jit(_choices)(np.int64(1))
    assert indim.jit(lambda i: np.array([1, 2, 3])[i])(np.int64(1)) == 2


def test_updates_of_an_array_that_a_function_passes_to_a_compiled_one():
    inner = indim.jit(lambda a, d: a.at[0].set(7.0) + d)
    f = indim.jit(lambda d: inner(np.arange(3.0), d))
    for d in (np.array([1.0, 2.0, 3.0]), np.array([0.0, 5.0, 1.0])):
        assert np.array_equal(f(d), [7 + d[0], 1 + d[1], 2 + d[2]])
