"""``jit``: tracing, operations, and features of compiled functions."""

import gc
import inspect
import pickle
import subprocess
import sys
import textwrap
import weakref

import numpy as np
import pytest

import compiled_functions
import indim


@pytest.fixture
def x():
    return np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def test_a_function_runs_once_for_types_and_ranks():
    runs = []

    @indim.jit
    def f(x, y):
        runs.append(1)
        return x * y + 1

    for n in (3, 4, 5):
        assert f(np.ones(n), np.ones(n)).tolist() == [2.0] * n
    assert len(runs) == 1
    f(np.ones(3, np.float32), np.ones(3, np.float32))
    f(np.ones((2, 3)), np.ones(3))
    assert len(runs) == 3 == f.trace_count


def test_a_function_that_looks_at_sizes_runs_once_for_all_or_for_each():
    for divided, count in [(lambda x: x / x.shape[0], 1), (lambda x: x / len(x), 2)]:
        runs = []

        @indim.jit
        def mean_of_sizes(x):
            runs.append(1)
            return divided(x)

        assert mean_of_sizes(np.ones(2)).tolist() == [0.5, 0.5]
        assert mean_of_sizes(np.ones(4)).tolist() == [0.25] * 4
        mean_of_sizes(np.ones(4))
        assert len(runs) == count


OPERATORS = {
    "arithmetic": lambda x, y: (x + y) * (x - y) / (y + 0.5) - -x,
    "integers": lambda x, y: (x // 2 + y % 3) ** 2,
    "reflected": lambda x, y: 1 + x - (2 - y) * 3 / (1 + x) + 2**y,
    "comparisons": lambda x, y: (x < y) | (x >= 2) & ~(y == 3) ^ (x != y),
    "number first": lambda x, y: (1 < x) & (2.5 >= y),
    "abs and round": lambda x, y: abs(x - y) + np.round(y),
    "divmod": lambda x, y: divmod(x, y + 1)[0] + divmod(x, y + 1)[1],
    "ufuncs": lambda x, y: np.maximum(np.exp(-x), np.hypot(x, y)) + np.arctan2(x, y),
    "logic": lambda x, y: np.logical_and(x > 1, np.logical_not(y > 2)),
    "tests": lambda x, y: np.isfinite(x / y) & ~np.isnan(y),
    "where": lambda x, y: np.where(x > y, x, -1),
    "clip": lambda x, y: np.clip(x, 2, 5) + x.clip(min=1) + np.clip(y, None, 2),
    "astype": lambda x, y: x.astype(np.float32) + y.astype("f4"),
    "new axes": lambda x, y: x[:, None, :] + y[..., None].reshape(2, 3, 1).transpose(0, 2, 1),
    "expand_dims": lambda x, y: np.expand_dims(x, (0, -1)) * np.expand_dims(y, 0)[..., None],
    "transposed": lambda x, y: np.transpose(x.T) + np.broadcast_to(y, (2, 3)),
    "mixed with arrays": lambda x, y: np.arange(3) + x + np.float32(2) * y,
    "ints to floats": lambda x, y: np.sqrt(x) + np.floor(y),
    "angles": lambda x, y: np.deg2rad(x) * np.degrees(y) + np.signbit(-x),
    "rint": lambda x, y: np.rint(x / 2) + np.round(y),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtypes", [("f8", "f8"), ("f4", "f8"), ("i4", "i8"), ("f4", "f4")], ids=str)
def test_a_compiled_function_is_the_function(name, dtypes):
    function = OPERATORS[name]
    x = np.array([[1, 2, 3], [4, 5, 6]], dtypes[0])
    y = np.array([[3, 2, 1], [1, 3, 2]], dtypes[1])
    expected = function(x, y)
    result = indim.jit(function)(x, y)
    assert result.dtype == expected.dtype and result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-6 if "f4" in dtypes or name == "astype" else 1e-15)


def test_operations_of_the_rule_sets(x):
    @indim.jit
    def f(x, v, w):
        return indim.add(x, v, broadcast_dimensions=(1,)), indim.pdpd.add(x, w, axis=0), indim.xla.mul(x, 2.0)

    by_column, by_row, doubled = f(x, np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0]))
    np.testing.assert_array_equal(by_column, x + [1, 2, 3])
    np.testing.assert_array_equal(by_row, x + [[10], [20]])
    np.testing.assert_array_equal(doubled, x * 2)


def test_the_array_api_finds_its_namespace(x):
    @indim.jit
    def f(x):
        xp = x.__array_namespace__()
        return xp.add(xp.atan2(x, 2.0), xp.bitwise_left_shift(xp.convert_element_type(x, "i32"), 1))

    np.testing.assert_allclose(f(x), np.arctan2(x, 2) + (x.astype(np.int32) << 1), rtol=1e-15)


def test_shape_mistakes_are_raised_where_they_are_made(x):
    @indim.jit
    def f(x, bias):
        y = x * 2
        return y + bias

    with pytest.raises(indim.ShapeError) as info:
        f(x, np.ones(2))
    assert (info.value.code, info.value.rule) == ("size-mismatch", "N2")
    assert "bias" in str(info.value)
    assert info.traceback[-2].frame.code.name in ("f", "_operator", "_record", "_record_element_wise")
    # The trace for these types and ranks exists; the rule still checks other shapes.
    f(x, np.ones(3))
    with pytest.raises(indim.ShapeError) as info:
        f(x, np.ones(2))
    assert info.value.operand == 1 and info.value.axis == 0


def test_results_keep_their_structure(x):
    assert isinstance(indim.jit(lambda x: [x, x + 1])(x), list)
    assert isinstance(indim.jit(lambda x: (x,))(x), tuple)
    result = indim.jit(lambda x: {"twice": x * 2, "one": 1})(x)
    np.testing.assert_array_equal(result["twice"], x * 2)
    assert result["one"] == 1
    assert indim.jit(lambda x: None)(x) is None


def test_a_parameter_or_a_captured_array_is_a_result(x):
    weights = np.array([1.0, 2.0])
    same, captured = indim.jit(lambda x: (x, weights))(x)
    np.testing.assert_array_equal(same, x)
    assert same is not x
    np.testing.assert_array_equal(captured, weights)


def test_captured_arrays_are_read_at_each_call(x):
    weights = np.array([1.0, 1.0, 1.0])
    f = indim.jit(lambda x: x * weights)
    np.testing.assert_array_equal(f(x), x)
    weights[:] = 2
    np.testing.assert_array_equal(f(x), 2 * x)


def test_out_of_one_and_of_several(x):
    f = indim.jit(lambda x: x + 1)
    out = np.empty_like(x)
    assert f(x, out=out) is out
    np.testing.assert_array_equal(out, x + 1)
    assert f(x, out=x) is x
    np.testing.assert_array_equal(x, out)
    g = indim.jit(lambda x: (x * 2, x > 3))
    outs = (np.empty((2, 3), np.float32), np.empty((2, 3), bool))
    assert g(x, out=outs) is outs
    np.testing.assert_array_equal(outs[0], x * 2)
    with pytest.raises(ValueError, match="`out` has 1 arrays for 2"):
        g(x, out=(out,))
    with pytest.raises(ValueError, match="share memory"):
        indim.jit(lambda x: (x, x))(x, out=(out, out))
    h = indim.jit(lambda x: {"y": x * 3})
    named = {"y": np.empty((2, 3))}
    assert h(x, out=named) is named and named["y"][0, 0] == x[0, 0] * 3


def test_outputs_may_lie_between_one_another(x):
    f = indim.jit(lambda x: (x + 1, x * 2))
    for shape, parts in [
        ((2, 3, 2), lambda o: (o[..., 0], o[..., 1])),
        ((2, 6), lambda o: (o[:, ::2], o[:, 1::2])),
    ]:
        both = np.zeros(shape)
        f(x, out=parts(both))
        for part, expected in zip(parts(both), (x + 1, x * 2)):
            np.testing.assert_array_equal(part, expected)
    overlapping = np.zeros((2, 7))
    with pytest.raises(ValueError, match="outputs 0 and 1 share memory"):
        f(x, out=(overlapping[:, :6:2], overlapping[:, 2::2][:, :3]))


def test_static_arguments_are_passed_as_they_are(x):
    @indim.jit(static=("kind", "n"))
    def f(x, kind, n=1):
        return x + n if kind == "add" else x * n

    np.testing.assert_array_equal(f(x, "add", 2), x + 2)
    np.testing.assert_array_equal(f(x, kind="multiply", n=3), x * 3)
    np.testing.assert_array_equal(f(x, "add"), x + 1)
    np.testing.assert_array_equal(f(x, "add", 1.0), x + 1)
    assert f.trace_count == 4
    with pytest.raises(TypeError, match="static='m'"):
        indim.jit(lambda x: x, static="m")


def test_objects_may_call_the_function_when_they_go():
    program = """
        import numpy as np
        import indim

        class Key:
            def __del__(self):
                f(np.ones(2), None)

        f = indim.jit(lambda x, key: x + 1, static="key")
        for _ in range(200):
            f(np.ones(2), Key())
        print("done")
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=100
    )
    assert ran.stdout == "done\n", ran.stderr


def test_compiled_functions_that_hold_themselves_are_collected():
    class Model:
        def __init__(self):
            self.double = indim.jit(lambda x: x * self.factor)
            self.factor = 2.0

    model = Model()
    assert model.double(np.ones(1)).tolist() == [2.0]
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_defaults_keywords_and_the_rest(x):
    f = indim.jit(lambda x, y=2.0, *, z=3: x * y + z)
    np.testing.assert_array_equal(f(x), x * 2 + 3)
    np.testing.assert_array_equal(f(x, z=np.ones(3)), x * 2 + 1)
    np.testing.assert_array_equal(f(y=x, x=x), x * x + 3)
    with pytest.raises(TypeError):
        f(x, x, x)
    total = indim.jit(lambda first, *rest: sum(rest, first))
    np.testing.assert_array_equal(total(x, x, x), 3 * x)
    with pytest.raises(TypeError, match="static"):
        indim.jit(lambda x, y: x)(x, "text")


def test_a_default_that_is_no_array_is_passed_as_it_is(x):
    sentinel = object()

    def f(x, mask=None, mode="all", *, marker=sentinel):
        assert marker is sentinel and mode == "all"
        return x if mask is None else np.where(mask, x, 0)

    f = indim.jit(f)
    np.testing.assert_array_equal(f(x), x)
    np.testing.assert_array_equal(f(x, mask=x > 1), np.where(x > 1, x, 0))
    np.testing.assert_array_equal(f(x, None), x)
    assert f.trace_count == 2
    with pytest.raises(TypeError, match="static"):
        f(x, mode="some")
    assert "add" in indim.jit(lambda x, y=None: x + 1).explain("f32[3]")


class _Positions:
    """Functions and calls of every kind."""

    functions = (
        lambda x, y=2.0, z=3.0: (x, y, z),
        lambda x, y, /, z=3.0: (x, y, z),
        lambda x, *, y=2.0, z: (x, y, z),
        lambda x, y=2.0, *z: (x, y, *z),
        lambda *x: x,
    )
    calls = [
        *(((1.0,) * count, {}) for count in range(5)),
        *(((), dict.fromkeys(names, 4.0)) for names in ("x", "xy", "zx", "zyx", "xw", "yz")),
        *(((1.0,), dict.fromkeys(names, 4.0)) for names in ("y", "zy", "z", "x")),
        *(((1.0, 5.0), dict.fromkeys(names, 4.0)) for names in ("z", "y", "yz")),
    ]


@pytest.mark.parametrize("function", _Positions.functions)
def test_arguments_are_bound_as_python_binds_them(function):
    compiled = indim.jit(function)
    for args, kwargs in _Positions.calls:
        try:
            expected = function(*args, **kwargs)
        except TypeError:
            with pytest.raises(TypeError):
                compiled(*args, **kwargs)
            continue
        if expected:
            assert [float(value) for value in compiled(*args, **kwargs)] == list(expected), (args, kwargs)


def test_calls_by_keyword_bind_no_signature(x, monkeypatch):
    f = indim.jit(lambda x, k=2.0, *, m=1.0: x * k + m)
    g = indim.jit(lambda *rest: rest[0] + rest[-1])

    def refuse(*_, **__):
        raise AssertionError("Python's own binding takes microseconds")

    monkeypatch.setattr(inspect.Signature, "bind", refuse)
    for result in (f(x), f(x=x), f(k=2.0, x=x), f(x, 2.0, m=1.0)):
        np.testing.assert_array_equal(result, x * 2 + 1)
    np.testing.assert_array_equal(g(x, x), x + x)


@pytest.mark.parametrize(
    "function",
    [np.diff, np.sum, np.std, np.var, np.mean, np.max, np.flip, np.ravel, np.nan_to_num, np.ptp, np.argmax],
)
def test_functions_of_numpy_are_compiled_as_they_are(function, x):
    np.testing.assert_allclose(indim.jit(function)(x), function(x))


def test_arguments_of_functions_of_numpy(x):
    np.testing.assert_array_equal(indim.jit(np.diff)(x, n=2), np.diff(x, n=2))
    np.testing.assert_array_equal(indim.jit(np.diff)(x, prepend=x[..., :1]), np.diff(x, prepend=x[..., :1]))
    np.testing.assert_array_equal(indim.jit(np.clip)(x, 1.0, 2.0), np.clip(x, 1.0, 2.0))
    np.testing.assert_allclose(indim.jit(np.std)(x, ddof=1), np.std(x, ddof=1))
    total = indim.jit(np.sum, static="keepdims")
    np.testing.assert_array_equal(total(x, 0, keepdims=True), np.sum(x, 0, keepdims=True))


def test_parameters_may_have_any_name():
    @indim.jit
    def f(_0, inf, add, pi, f32):
        return _0 + inf * add - pi / f32

    values = [np.array([float(n)]) for n in range(1, 6)]
    assert f(*values)[0] == pytest.approx(1 + 2 * 3 - 4 / 5)


def test_numbers_of_python_at_their_edges():
    f = indim.jit(lambda x, k: x + k)
    zero = np.array([0.0])
    assert f(zero, float("inf"))[0] == np.inf
    assert f(zero, float("-inf"))[0] == -np.inf
    assert np.isnan(f(zero, float("nan"))[0])
    assert f(zero, 5e-324)[0] == 5e-324
    assert f(zero, -1.7976931348623157e308)[0] == -1.7976931348623157e308
    assert np.signbit(indim.jit(lambda x, k: x * k)(np.array([1.0]), -0.0))[0]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x if x > 0 else -x,
        lambda x: float(x),
        lambda x: [0, 1][x],
        lambda x: np.gcd(x, x),
        lambda x: np.nditer(x),
    ],
)
def test_what_is_not_element_wise_is_refused(function):
    with pytest.raises(TypeError):
        indim.jit(function)(np.ones(3))


def test_an_assignment_says_what_to_write():
    def assign(x):
        x[0] = 1

    with pytest.raises(
        TypeError, match=r"`x` cannot be assigned to while .*assign is traced, .* write `x.at\[key\].set"
    ):
        indim.jit(assign)(np.ones(3))


def test_methods_that_are_none_here_say_what_to_do():
    with pytest.raises(AttributeError, match=r"has no `item`: write `x\[i\]`"):
        indim.jit(lambda x: x.item(1))(np.ones(3))


def test_tracing_values_do_not_leave_their_call(x):
    kept = []

    @indim.jit
    def keeper(x):
        kept.append(x * 2)
        return x

    keeper(x)
    leaked = kept[0]
    for use in (
        lambda: indim.jit(lambda x: x + leaked)(x),
        lambda: indim.jit(lambda x: leaked)(x),
        lambda: keeper(leaked),
        lambda: leaked + 1,
        lambda: np.exp(leaked),
        lambda: np.asarray(leaked),
        lambda: indim.add(leaked, 1),
        lambda: indim.evaluate("v + 1", v=leaked),
        lambda: leaked[0],
        lambda: leaked.shape,
        lambda: bool(leaked),
    ):
        with pytest.raises(
            ValueError, match=r"was kept beyond the call of .*keeper in which it stood for an array"
        ):
            use()


def test_tracing_values_of_an_outer_call_are_passed_as_arguments(x):
    @indim.jit
    def outer(y):
        inner = indim.jit(lambda x: x + y)
        return inner(x)

    with pytest.raises(
        ValueError, match=r"`y` belongs to another call, of .*outer, which is traced around .*<lambda>"
    ):
        outer(x)


def test_mistakes_of_the_function_are_its_own(x):
    @indim.jit
    def f(x):
        raise RuntimeError("mine")

    for _ in range(2):
        with pytest.raises(RuntimeError, match="mine"):
            f(x)


def test_thousands_of_operations():
    @indim.jit(static="n")
    def f(x, n):
        total = x
        for k in range(n):
            total = total + x * k
        return total

    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(f(x, 3000), x * (1 + 3000 * 2999 / 2))


def test_methods(x):
    class Model:
        @indim.jit(static="self")
        def predict(self, x):
            return x * self.factor

    model = Model()
    model.factor = 3
    np.testing.assert_array_equal(model.predict(x), x * 3)


def test_explanations(x):
    f = indim.jit(lambda x, v: indim.add(x, v, broadcast_dimensions=[1]))
    assert f._repr_svg_() is None
    with pytest.raises(ValueError, match="not called"):
        f.explain()
    text = f.explain("f64[2, 3]", np.ones(3))
    assert "broadcast_dimensions=[1]" in text and text.svg.startswith("<svg")
    assert text.machine_code.count(" = add.f64 ") == 1 or "nest 0 runs by kernels: " in text.machine_code
    assert "nest 0 runs by kernels: " in indim.explain("transpose(x)", x=x).machine_code
    assert indim.explain((2, 3), (3,)).machine_code == ""
    assert text.json["outputs"] == [{"dtype": "f64", "shape": [2, 3]}]
    f(x, np.ones(3))
    assert f.explain() == text and f._repr_svg_() == text.svg
    copied = pickle.loads(pickle.dumps(text))
    assert copied.json == text.json and copied.machine_code == text.machine_code


def test_compiled_functions_call_each_other(x):
    @indim.jit
    def square(x, *, scale=1):
        return x * x * scale

    @indim.jit
    def norm(x, y):
        return np.sqrt(square(x) + square(y, scale=2))

    np.testing.assert_allclose(norm(x, x), np.sqrt(3 * x * x), rtol=1e-15)
    assert square.trace_count == 0


def test_metadata():
    assert compiled_functions.standardise.__name__ == "standardise"
    assert "standardise" in repr(compiled_functions.standardise)


def test_compiled_functions_pickle(x):
    for f in (compiled_functions.standardise, compiled_functions.scaled):
        assert pickle.loads(pickle.dumps(f)) is f


def test_compiled_functions_pickle_in_main():
    program = """
        import multiprocessing
        import numpy as np
        import indim

        @indim.jit
        def f(x):
            return x * 2

        if __name__ == "__main__":
            context = multiprocessing.get_context("spawn")
            with context.Pool(2) as pool:
                print(sum(result.sum() for result in pool.map(f, [np.ones(3), np.ones(4)])))
    """
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "main.py"
        path.write_text(textwrap.dedent(program))
        ran = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120)
    assert ran.stdout.strip() == "14.0", ran.stderr


def test_lambdas_go_by_cloudpickle(x):
    cloudpickle = pytest.importorskip("cloudpickle")
    k = 3
    f = indim.jit(lambda x: x * k)
    again = pickle.loads(cloudpickle.dumps(f))
    np.testing.assert_array_equal(again(x), x * 3)


def test_messages_call_values_by_what_computes_them(x):
    @indim.jit
    def clash(x, v):
        scaled = np.exp(x) * 2
        return (scaled + 1) / v

    with pytest.raises(indim.ShapeError) as info:
        clash(x, np.ones(2))
    lines = str(info.value).splitlines()
    assert "cannot broadcast `v` onto `(exp(x) * 2) + 1`" in lines[0]
    assert lines[1:3] == ["   | ((exp(x) * 2) + 1) / v", "   |                    ^"]
    assert not any(f"_{index}" in line for line in lines for index in range(4))
    # The same if the trace exists, and the program is compiled for other sizes.
    clash(x, np.ones(3))
    with pytest.raises(indim.ShapeError) as info:
        clash(x, np.ones(2))
    assert str(info.value).splitlines()[:3] == lines[:3]

    @indim.jit
    def choice(x):
        return x if x * 2 > 1 else -x

    with pytest.raises(TypeError, match=r"elements of `\(x \* 2\) > 1`"):
        choice(x)


@pytest.mark.parametrize("name", ["true", "false", "pi", "inf", "nan"])
def test_a_parameter_may_be_called_like_a_constant(name):
    function = eval(f"lambda {name}: {name} * 2 + {name}")
    x = np.array([1.5, -3.0])
    np.testing.assert_array_equal(indim.jit(function)(x), x * 2 + x)


@pytest.mark.parametrize(
    "number", [0.1, -0.0, 1e-320, float("inf"), float("-inf"), float("nan"), 2**63, -(2**63), True]
)
def test_a_number_reaches_the_program_as_it_is(number):
    x = np.zeros(2)
    result = indim.jit(lambda x: np.where(x == 0, number, x))(x)
    expected = np.where(x == 0, np.float64(number), x)
    assert result.tobytes() == expected.tobytes()


def test_a_number_without_an_array_is_a_result():
    result = indim.jit(lambda x: (x, -7, 2.5, True))(np.ones(1))
    assert [value.dtype for value in result[1:]] == [np.int64, np.float64, np.bool_]
    assert [value.item() for value in result[1:]] == [-7, 2.5, True]
