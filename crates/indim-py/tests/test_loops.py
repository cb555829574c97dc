"""``while_loop``, ``fori_loop``, ``scan``, ``cond`` and ``switch``, against loops of Python."""

import collections
import sys

import indim
import numpy as np
import pytest
from interrupted import output_after_ctrl_c

X = np.linspace(-1.0, 2.0, 12).reshape(4, 3)


def both(function):
    """The function as it is called outside of compiled functions, and compiled."""
    return [function, indim.jit(function)]


def test_while_loop_runs_until_the_condition_is_false():
    for function in both(lambda x: indim.while_loop(lambda x: np.max(x) > 1.0, lambda x: x * 0.5, x)):
        for factor in [1.0, 8.0]:
            expected = X * factor
            while expected.max() > 1.0:
                expected = expected * 0.5
            np.testing.assert_array_equal(function(X * factor), expected)
    same = indim.while_loop(lambda x: np.max(x) > 9.0, lambda x: x * 0.5, X)
    np.testing.assert_array_equal(same, X)


def newton(a, loop):
    """Square roots by Newton's iteration, and the number of steps to convergence."""

    def is_far(state):
        root, before, _ = state
        return np.any(np.abs(root - before) > 1e-12 * np.abs(root))

    def step(state):
        root, _, steps = state
        return (root + a / root) * 0.5, root, steps + 1

    root, _, steps = loop(is_far, step, (a, a + 1.0, 0))
    return root, steps


def test_newtons_iteration_converges():
    def python_loop(condition, body, state):
        while condition(state):
            state = body(state)
        return state

    a = np.array([2.0, 9.0, 1e6, 1e-3])
    root, steps = indim.jit(lambda a: newton(a, indim.while_loop))(a)
    expected, expected_steps = newton(a, python_loop)
    np.testing.assert_array_equal(root, expected)
    np.testing.assert_allclose(root, np.sqrt(a), rtol=1e-15)
    assert steps == expected_steps > 5


def test_states_are_containers_of_arrays_and_numbers():
    def body(state):
        # The order of keys has no meaning.
        one, other = state["pair"]
        return {"pair": (other, one + X), "n": state["n"] + 1, "none": None, "list": [state["list"][0] * 2]}

    init = {"n": 0, "pair": (X, np.zeros_like(X)), "none": None, "list": [1.5]}
    found = indim.while_loop(lambda state: state["n"] < 5, body, init)
    expected = init
    while expected["n"] < 5:
        expected = body(expected)
    assert list(found) == list(init) and found["none"] is None
    assert found["n"] == 5 and found["n"].dtype == np.int64
    assert found["list"] == [48.0] and found["list"][0].dtype == np.float64
    assert isinstance(found["pair"], tuple)
    for one, other in zip(found["pair"], expected["pair"]):
        np.testing.assert_array_equal(one, other)


def test_a_named_tuple_stays_one():
    Pair = collections.namedtuple("Pair", "x y")
    found = indim.fori_loop(0, 3, lambda i, s: Pair(s.y, s.x + i), Pair(1, 10))
    assert found == Pair(11, 3)
    with pytest.raises(TypeError, match=r"returns \(an array, an array\), not Pair\(an array, an array\)"):
        indim.fori_loop(0, 3, lambda i, s: (s.y, s.x), Pair(1, 10))


def test_fori_loop_counts():
    def looped(lower, upper):
        return indim.fori_loop(lower, upper, lambda i, s: s * 2.0 + i, 1.0)

    for function in both(looped):
        for lower, upper in [(0, 5), (2, 7), (3, 3), (5, 1), (-4, 2), (np.int32(1), np.uint8(4))]:
            expected = 1.0
            for i in range(lower, upper):
                expected = expected * 2.0 + i
            assert function(lower, upper) == expected
    assert indim.fori_loop(2**62, 2**62 + 2, lambda i, s: s + (i - 2**62), 5) == 6


def test_a_number_of_steps_that_changes_compiles_once():
    traces = []

    @indim.jit
    def looped(x, n):
        traces.append(n)
        return indim.fori_loop(0, n, lambda i, s: s + 1.0, x)

    for n in [3, 0, 7, 100]:
        np.testing.assert_array_equal(looped(np.arange(3.0), n), np.arange(3.0) + n)
    assert len(traces) == 1


@pytest.mark.parametrize("dtype", ["f4", "i2", "u8", "c16", "?", "f2"])
def test_states_have_any_element_type(dtype):
    state = (np.arange(6) % 3).astype(dtype)

    def body(i, s):
        return ~s if dtype == "?" else s + s

    found = indim.fori_loop(0, 3, body, state)
    expected = state
    for i in range(3):
        expected = body(i, expected)
    assert found.dtype == state.dtype
    np.testing.assert_array_equal(found, expected)


def test_scan_stacks_the_results_of_all_steps():
    def step(carry, x):
        carry = carry * 0.5 + x
        return carry, {"carry": carry, "double": 2.0 * x}

    begin = np.array([1.0, 2.0, 3.0])
    for reverse in [False, True]:
        for function in both(lambda begin, x: indim.scan(step, begin, x, reverse=reverse)[1]["carry"]):
            carry, rows = begin, [None] * len(X)
            for i in reversed(range(len(X))) if reverse else range(len(X)):
                carry, rows[i] = step(carry, X[i])
            np.testing.assert_array_equal(function(begin, X), [row["carry"] for row in rows])
        last, found = indim.scan(step, begin, X, reverse=reverse)
        np.testing.assert_array_equal(last, carry)
        np.testing.assert_array_equal(found["double"], [row["double"] for row in rows])


def test_scan_takes_a_length_or_several_arrays():
    last, counted = indim.scan(lambda n, _: (n + 1, n), 0, length=4)
    assert last == 4
    np.testing.assert_array_equal(counted, [0, 1, 2, 3])
    _, sums = indim.scan(lambda c, x: (c, x[0] + x[1]), 0, (X, X * 2))
    np.testing.assert_array_equal(sums, X + X * 2)
    carry, squares = indim.scan(lambda c, x: (c, x * x), None, X)
    assert carry is None
    np.testing.assert_array_equal(squares, X * X)
    last, none = indim.scan(lambda c, x: (c + x, None), np.zeros(3), X)
    assert none is None
    np.testing.assert_allclose(last, X.sum(axis=0))
    with pytest.raises(ValueError, match=r"needs one length.*\[3, 4\]"):
        indim.scan(lambda c, x: (c, c), 0, (X, X[:3]))
    with pytest.raises(ValueError, match="none is given"):
        indim.scan(lambda c, x: (c, c), 0)
    with pytest.raises(ValueError, match="has no axes"):
        indim.scan(lambda c, x: (c, c), 0, 3.0)
    with pytest.raises(ValueError, match=r"there are \[-1\]"):
        indim.scan(lambda c, x: (c, c), 0, length=-1)


def test_scan_of_no_steps():
    def scanned(x):
        last, (doubled, larger) = indim.scan(lambda c, x: (c + x, (x * 2, c > x)), np.full(3, 7.0), x)
        return last, doubled, larger

    for function in both(scanned):
        last, doubled, larger = function(X[:0])
        np.testing.assert_array_equal(last, np.full(3, 7.0))
        assert doubled.shape == (0, 3) and doubled.dtype == np.float64
        assert larger.shape == (0, 3) and larger.dtype == bool
    last, counted = indim.scan(lambda n, _: (n + 1, n), 5, length=0)
    assert last == 5 and counted.shape == (0,)


def test_cond_and_switch_choose():
    for pred in [True, False, np.bool_(True), 0, 3]:
        for function in both(lambda pred, x: indim.cond(pred, np.add, np.multiply, x, 2.0)):
            np.testing.assert_array_equal(function(pred, X), X + 2.0 if pred else X * 2.0)
    branches = [lambda x: x, lambda x: -x, lambda x: x * x]
    for index in [-3, 0, 1, 2, 7, np.uint8(200), np.int8(-128)]:
        for function in both(lambda index, x: indim.switch(index, branches, x)):
            np.testing.assert_array_equal(function(index, X), branches[min(max(index, 0), 2)](X))
    many = [lambda k=k: k for k in range(200)]
    assert indim.switch(np.int8(127), many) == 127 and indim.switch(np.uint8(255), many) == 199


def test_a_number_among_the_operands_of_a_branch_adapts():
    x = X.astype("f4")
    assert indim.cond(True, lambda x, k: x * k, lambda x, k: x, x, 0.1).dtype == np.float32
    assert indim.jit(lambda x, k: indim.cond(x[0, 0] < 9, np.add, np.subtract, x, k))(x, 2).dtype == "f4"


def test_only_the_chosen_branch_runs():
    x = np.arange(4.0)

    @indim.jit
    def by_operands(index, x):
        return indim.cond(index < 4, lambda i: x[i], lambda i: np.float64(0.0) + 0 * i, index)

    @indim.jit
    def by_values_around(index, x):
        return indim.cond(index < 4, lambda: x[index], lambda: np.float64(0.0) + 0 * index)

    @indim.jit
    def in_a_loop(index, x):
        def body(i, s):
            return indim.cond(i < 4, lambda: s + x[i], lambda: s + x[index % 4])

        return indim.fori_loop(0, index, body, 0.0)

    for chosen in [by_operands, by_values_around]:
        assert chosen(np.int64(2), x) == 2.0
        assert chosen(np.int64(9), x) == 0.0
    assert in_a_loop(np.int64(6), x) == x.sum() + 2 * x[2]
    with pytest.raises(IndexError):
        indim.jit(lambda index, x: indim.cond(index > 4, lambda: x[index], lambda: x[0]))(np.int64(9), x)


def test_loops_within_compiled_functions_read_values_around_them():
    @indim.jit
    def powers(x, scale):
        y = x * scale

        def body(i, s):
            inner = indim.fori_loop(0, 2, lambda j, t: t + y * j + i, s)
            return indim.cond(np.sum(inner) > 100.0, lambda t: t * 0.5, lambda t: t, inner)

        return indim.fori_loop(0, 6, body, np.zeros(3)), y

    def expected(x, scale):
        y, s = x * scale, np.zeros(3)
        for i in range(6):
            for j in range(2):
                s = s + y * j + i
            s = s * 0.5 if s.sum() > 100.0 else s
        return s, y

    for scale in [1.0, 10.0]:
        x = np.array([1.0, 2.0, 3.0])
        for one, other in zip(powers(x, scale), expected(x, scale)):
            np.testing.assert_allclose(one, other, rtol=1e-15)


TABLE = np.array([1.0, 2.0, 4.0, 8.0])


def summed(x):
    return indim.fori_loop(0, 4, lambda i, s: s + TABLE[i] * np.sum(TABLE), x)


def add_table(i, s):
    return s + TABLE


def test_captured_arrays_are_read_again_at_each_call(monkeypatch):
    compiled = indim.jit(summed)
    for table in [TABLE, TABLE * 3, np.array([1, 2, 3, 4])]:
        monkeypatch.setitem(globals(), "TABLE", table)
        for function in [summed, compiled]:
            assert function(np.float64(1.0)) == 1.0 + table.sum() ** 2
        np.testing.assert_array_equal(indim.fori_loop(0, 2, add_table, np.zeros(4)), 2 * table)
    # In place, after a call with the same array.
    table = TABLE.astype(float)
    monkeypatch.setitem(globals(), "TABLE", table)
    for value in [1.0, 5.0]:
        table[:] = value
        assert indim.fori_loop(0, 2, add_table, np.zeros(4)).tolist() == [2 * value] * 4
        assert indim.jit(lambda x: indim.fori_loop(0, 2, add_table, x))(np.zeros(4))[0] == 2 * value


def test_functions_run_once_on_traced_values():
    calls = []

    def body(i, s):
        calls.append(i)
        return s + i

    assert indim.fori_loop(0, 1000, body, 0) == sum(range(1000))
    assert len(calls) == 1
    assert indim.fori_loop(0, 10, body, 0) == sum(range(10))
    assert len(calls) == 1


def test_functions_may_be_any_callables():
    class Step:
        __hash__ = None

        def __init__(self, by):
            self.by = by

        def __call__(self, i, s):
            return s + self.by

    for by in [1, 2]:
        assert indim.fori_loop(0, 5, Step(by), 0) == 5 * by
    with pytest.raises(TypeError, match="fori_loop takes functions, not ndarray"):
        indim.fori_loop(0, 5, X, X)
    with pytest.raises(ValueError, match="at least one branch"):
        indim.switch(0, [])


def test_a_loop_beyond_its_limit_is_an_error():
    with pytest.raises(ValueError, match="a loop needs more than 10 steps, its limit: check"):
        indim.while_loop(lambda x: x > 0.0, lambda x: x + 1.0, 1.0, limit=10)
    assert indim.while_loop(lambda x: x < 11.0, lambda x: x + 1.0, 1.0, limit=10) == 11.0
    with pytest.raises(ValueError, match="number of steps, not -1"):
        indim.while_loop(lambda x: x < 11.0, lambda x: x + 1.0, 1.0, limit=-1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: indim.while_loop(
                lambda s: s[0] < 3.0, lambda s: (s[0] + 1, s[1] + np.ones(3)), (0.0, np.zeros(3, np.float32))
            ),
            r"the body of while_loop returns f64\[3\] for `state\[1\]`, and it begins as f32\[3\]; convert "
            r"it, as x.astype\('float32'\), or begin with float64",
        ),
        (
            lambda: indim.fori_loop(0, 3, lambda i, s: {"a": s["a"] + X}, {"a": np.zeros(3)}),
            r"the body of fori_loop returns f64\[4, 3\] for `state\['a'\]`, and it begins as f64\[3\]; .* or "
            r"begin with an array of shape \[4, 3\]",
        ),
        (
            lambda: indim.fori_loop(0, 3, lambda i, s: s + 0.5, 0),
            r"returns f64\[\] for `state`, and it begins as i64\[\]; .* or begin with float64",
        ),
        (
            lambda: indim.scan(lambda c, x: (c + x, c), 0.0, X),
            r"the function of scan returns f64\[3\] for `carry`, and it begins as f64\[\]",
        ),
        (
            lambda: indim.while_loop(lambda x: x > 0.0, lambda x: x, X),
            r"condition of while_loop is one bool, not bool\[4, 3\]: reduce it by np.any or np.all",
        ),
        (
            lambda: indim.while_loop(lambda x: x, lambda x: x - 1, 3),
            r"condition of while_loop is one bool, not i64\[\]: compare it",
        ),
        (
            lambda: indim.fori_loop(0, 3, lambda i, s: (s, s), 0.0),
            r"returns \(an array, an array\), not an array: return the same containers",
        ),
        (
            lambda: indim.fori_loop(0, 3, lambda i, s: {"b": s["a"]}, {"a": 0.0}),
            r"returns \{'b': an array\}, not \{'a': an array\}",
        ),
        (lambda: indim.fori_loop(0, 3, lambda i, s: None, 0.0), "returns None, not an array"),
        (lambda: indim.fori_loop(0, 2.5, lambda i, s: s, 0.0), r"bounds of fori_loop are integers, not f64"),
        (
            lambda: indim.cond(True, lambda: 1, lambda: 1.0),
            r"a branch of cond returns i64\[\] for `result`, and another branch returns f64\[\]; convert it",
        ),
        (
            lambda: indim.switch(0, [lambda: (X, X), lambda: (X, X[0])]),
            r"a branch of switch returns f64\[3\] for `result\[1\]`, and another branch returns f64\[4, 3\]",
        ),
        (
            lambda: indim.cond(X > 0, lambda: 1, lambda: 2),
            r"predicate of cond is one bool, not bool\[4, 3\]: choose element by element by np.where",
        ),
        (lambda: indim.switch(1.0, [lambda: 1, lambda: 2]), r"index of switch is one integer, not f64\[\]"),
        (
            lambda: indim.scan(lambda c, x: c, 0.0, X),
            r"the function of scan returns an array, not \(carry, y\)",
        ),
        (lambda: indim.fori_loop(0, 3, lambda i, s: s, "abc"), "is an array of <U3"),
    ],
)
def test_errors_say_what_to_do(call, message):
    with pytest.raises(TypeError, match=message):
        call()
    with pytest.raises(TypeError, match=message):
        indim.jit(lambda x: (call(), x)[1])(X)


def test_errors_of_operations_name_states():
    with pytest.raises(indim.ShapeError, match=r"onto `state_a_0` under rule numpy"):
        indim.fori_loop(0, 3, lambda i, s: {"a": [s["a"][0] + np.ones(5)]}, {"a": [X]})


def test_traced_values_in_statements_of_python_advise_loops():
    with pytest.raises(TypeError, match="indim.cond for choices and indim.while_loop for loops"):
        indim.jit(lambda x: x if np.sum(x) > 0 else -x)(X)
    with pytest.raises(TypeError, match=r"indim.fori_loop for `for i in range\(n\)`"):
        indim.jit(lambda x, n: [x for _ in range(n)])(X, np.int64(3))
    with pytest.raises(TypeError, match="indim.scan, a loop over axis 0"):
        indim.jit(lambda x: [row * 2 for row in x])(np.ones((65, 3)))
    with pytest.raises(TypeError, match="while the body of fori_loop is traced; use indim.where or"):
        indim.fori_loop(0, 3, lambda i, s: s if s > 0 else -s, 1.0)


def test_values_of_a_body_mean_nothing_outside_it():
    kept = []

    def keep(i, s):
        kept.append(s)
        return s

    @indim.jit
    def leaking(x):
        return indim.fori_loop(0, 3, keep, x) + kept[0]

    with pytest.raises(ValueError, match="kept beyond the call of the body of fori_loop"):
        leaking(X)


def nested(depth):
    if depth == 0:
        return lambda i, s: s + 1
    body = nested(depth - 1)
    return lambda i, s: indim.fori_loop(0, 2, body, s)


def test_loops_nest():
    assert indim.fori_loop(0, 2, nested(5), 0) == 2**6
    with pytest.raises(indim.IndimError) as caught:
        indim.fori_loop(0, 2, nested(20), 0)
    assert caught.value.code == "region-limit"


def test_a_loop_may_use_gradients():
    def step(i, w):
        return w - 0.25 * indim.grad(lambda w: np.sum((w - 3.0) ** 2))(w)

    expected = X
    for _ in range(8):
        expected = expected - 0.25 * 2 * (expected - 3.0)
    np.testing.assert_allclose(indim.jit(lambda w: indim.fori_loop(0, 8, step, w))(X), expected)

    # A loop that the differentiated values do not pass through.
    def loss(w, x):
        return np.sum(w * indim.fori_loop(0, 3, lambda i, s: s * 2.0, x))

    np.testing.assert_array_equal(indim.grad(loss)(X, X), 8 * X)


def test_sizes_may_change_between_calls():
    @indim.jit
    def doubled(x):
        return indim.fori_loop(0, 3, lambda i, s: s * 2.0, x)

    @indim.jit
    def sums(x):
        last, found = indim.scan(lambda c, row: (c + row, c), np.zeros(2), x.reshape(-1, 2))
        return found[1:] + last

    for size in [4, 6, 8, 4, 10]:
        x = np.arange(float(size))
        np.testing.assert_array_equal(doubled(x), 8.0 * x)
        rows = x.reshape(-1, 2)
        np.testing.assert_array_equal(sums(x), np.cumsum(rows, axis=0)[:-1] + rows.sum(axis=0))


def test_programs_with_loops_are_explained():
    @indim.jit
    def looped(x):
        y = indim.fori_loop(0, 3, lambda i, s: s * 2.0, x)
        return indim.cond(np.sum(y) > 0, lambda: y, lambda: -y)

    looped(X)
    explained = looped.explain()
    assert "while" in str(explained) and "branch" in str(explained)
    assert explained.svg.startswith("<svg") and explained.json
    assert "while" in str(looped.explain("f64[5]"))
    assert "jit of" in repr(looped)
    with pytest.raises(indim.IndimError, match="while"):
        looped.export("stablehlo", X)


def test_labelled_arrays_are_refused():
    xarray = pytest.importorskip("xarray")
    x = xarray.DataArray(X, dims=("a", "b"))
    with pytest.raises(TypeError, match="fori_loop takes arrays without labels.*pass `x.data`"):
        indim.fori_loop(0, 3, lambda i, s: s * 2.0, x)
    with pytest.raises(TypeError, match="scan takes arrays without labels"):
        indim.scan(lambda c, row: (c, row), 0, x)

    @indim.jit
    def looped(x):
        return indim.fori_loop(0, 3, lambda i, s: s * 2.0, x)

    with pytest.raises(TypeError, match="fori_loop takes arrays without labels.*pass `x.data`"):
        looped(x)
    inside = indim.jit(lambda x: x.copy(data=indim.fori_loop(0, 3, lambda i, s: s * 2.0, x.data)))
    np.testing.assert_array_equal(inside(x).values, 8.0 * X)
    with pytest.raises(TypeError, match="returns a DataArray of xarray.*return `x.data`"):
        indim.jit(lambda x: indim.fori_loop(0, 3, lambda i, s: s + x, X))(x)


def test_series_lose_their_labels():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1.0, 2.0], index=["a", "b"])
    with pytest.raises(TypeError, match=r"a Series of pandas: pass `x.to_numpy\(\)`"):
        indim.fori_loop(0, 3, lambda i, s: s * 2.0, series)
    found = indim.jit(lambda x: indim.fori_loop(0, 3, lambda i, s: s * 2.0, x))(series)
    assert isinstance(found, np.ndarray) and found.tolist() == [8.0, 16.0]


def test_arrays_of_dask_are_not_loaded_unseen():
    da = pytest.importorskip("dask.array")
    looped = indim.jit(lambda x: indim.fori_loop(0, 3, lambda i, s: s * 2.0, x))
    loaded = []

    def load(block):
        loaded.append(block.shape)
        return block

    for chunks in [(4, 3), (2, 3)]:
        x = da.from_array(X, chunks=chunks).map_blocks(load, meta=X)
        for call in [looped, lambda x: indim.fori_loop(0, 3, lambda i, s: s * 2.0, x)]:
            if chunks == (4, 3):
                result = call(x)
            else:
                with pytest.warns(da.PerformanceWarning, match="merged into one chunk"):
                    result = call(x)
            assert not loaded
            np.testing.assert_array_equal(result.compute(scheduler="single-threaded"), 8.0 * X)
            loaded.clear()
    with pytest.raises(TypeError, match="would be loaded whole"):
        indim.fori_loop(0, 3, lambda i, s: s + x, X)
    assert not loaded


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_long_loop_stops_on_ctrl_c():
    program = """
        import signal
        import indim
        # A process started in the background may ignore the signal.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("start", flush=True)
        try:
            indim.while_loop(lambda x: x > 0.0, lambda x: x * 1.0, 1.0)
        except KeyboardInterrupt:
            print("interrupted")
        assert indim.fori_loop(0, 3, lambda i, s: s + 1, 0) == 3
    """
    assert output_after_ctrl_c(program) == "interrupted\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_loop_of_a_model_file_stops_on_ctrl_c(tmp_path):
    file = tmp_path / "endless.mlir"
    file.write_text(
        """func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.while(%s = %x) : tensor<f32>
    cond {
      %c = stablehlo.compare GE, %s, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      stablehlo.return %s : tensor<f32>
    }
  return %0 : tensor<f32>
}
"""
    )
    program = f"""
        import signal
        import indim
        signal.signal(signal.SIGINT, signal.default_int_handler)
        model = indim.load({str(file)!r})
        print("start", flush=True)
        try:
            model(1.0)
        except KeyboardInterrupt:
            print("interrupted")
        assert model(-1.0) == -1.0
    """
    assert output_after_ctrl_c(program) == "interrupted\n"
