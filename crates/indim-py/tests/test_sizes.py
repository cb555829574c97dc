"""Calls with new sizes: one program serves all sizes that meet its guards, with NumPy's results."""

import itertools
import subprocess
import sys

import indim as im
from traces import counting
import numpy as np
import pytest


@im.jit
def standardise(x, m, s):
    return (x - m) / s * 2.0 + 1.0


def test_many_lengths_give_numpys_results():
    for length in [*range(8), 100, 1000, 70_000, *range(8, 200)]:
        x = np.linspace(-1, 1, length, dtype=np.float32)
        m, s = np.float32(0.25), np.full(length, 1.5, np.float32)
        np.testing.assert_array_equal(standardise(x, m, s), (x - m) / s * np.float32(2) + np.float32(1))
        np.testing.assert_array_equal(im.evaluate("x * 2 - s"), x * 2 - s)


def test_sizes_that_broadcast_otherwise_have_programs_of_their_own():
    pairs = [
        ((3, 4), (4,)),
        ((5, 6), (6,)),
        ((5, 6), (1,)),
        ((5, 1), (7,)),
        ((6, 1), (8,)),
        ((1, 6), (6,)),
        ((0, 6), (6,)),
        ((2, 2), (2,)),
        ((7, 3), (3,)),
        ((1, 1), (1,)),
        ((9, 1), (1,)),
        ((4, 0), (1,)),
    ]
    for left, right in pairs:
        x = np.arange(np.prod(left), dtype=np.float64).reshape(left)
        v = np.arange(np.prod(right), dtype=np.float64).reshape(right) + 1
        np.testing.assert_array_equal(im.evaluate("x / v + sum(x, axis=0)"), x / v + x.sum(axis=0))
    for left, right in [((3, 4), (5,)), ((5, 6), (5,)), ((6, 7), (6, 8))]:
        x, v = np.zeros(left), np.zeros(right)
        with pytest.raises(im.ShapeError):
            im.evaluate("x / v + sum(x, axis=0)")


def test_what_needs_a_number_follows_each_size():
    texts = {
        "mean(x, axis=0)": lambda x: x.mean(axis=0),
        "mean(x, axis=1)": lambda x: x.mean(axis=1),
        "x - mean(x)": lambda x: x - x.mean(),
        "x[-1]": lambda x: x[-1],
        "x[1:]": lambda x: x[1:],
        "x[:4]": lambda x: x[:4],
        "x[::-1]": lambda x: x[::-1],
        "reshape(x, -1)": lambda x: x.reshape(-1),
        "roll(x, 3, axis=0)": lambda x: np.roll(x, 3, axis=0),
        "concatenate([x, x], axis=1)": lambda x: np.concatenate([x, x], axis=1),
        "argmax(x, axis=0)": lambda x: x.argmax(axis=0),
        "ones_like(x)": np.ones_like,
        "pad(x, [[1, 2], [0, 0]])": lambda x: np.pad(x, [[1, 2], [0, 0]]),
        "max(x, axis=1)": lambda x: x.max(axis=1),
    }
    generator = np.random.default_rng(7)
    for text, expected in texts.items():
        for shape in [
            (4, 3),
            (5, 3),
            (6, 4),
            (4, 3),
            (2, 9),
            (9, 2),
            (7, 7),
            (80, 3),
            (3, 80),
            (1, 5),
            (5, 1),
        ]:
            x = generator.integers(-8, 8, shape).astype(np.float64)
            np.testing.assert_allclose(im.evaluate(text), expected(x), rtol=1e-15, err_msg=f"{text} {shape}")


def test_functions_that_use_sizes_are_traced_for_each():
    @im.jit
    def centred(x):
        return x - x.sum(axis=0) / x.shape[0]

    for rows in [3, 4, 5, 6]:
        x = np.arange(rows * 2, dtype=np.float64).reshape(rows, 2)
        np.testing.assert_allclose(centred(x), x - x.mean(axis=0))


def test_gradients_follow_each_size():
    gradient = im.jit(im.grad(lambda x, v: (x * v + 2).sum()))
    for rows, columns in [(3, 4), (5, 4), (6, 2), (7, 7), (1, 3)]:
        x, v = np.full((rows, columns), 2.0), np.full(columns, 3.0)
        np.testing.assert_array_equal(gradient(x, v), np.full((rows, columns), 3.0))


def test_out_of_other_sizes_and_types():
    for length in [3, 4, 5, 6]:
        x = np.arange(length, dtype=np.float32)
        out = np.zeros(length, np.float32)
        assert im.evaluate("x + 1", out=out) is out
        np.testing.assert_array_equal(out, x + 1)
        rows = np.zeros((2, length))
        np.testing.assert_array_equal(im.evaluate("x + 1", out=rows), np.tile(x + 1, (2, 1)))


def test_sizes_with_names_are_explained_with_guards():
    text = im.explain("x + y", x="f32[n,3]", y="float32[m, 3]")
    assert "\nsizes\n  x: [n, 3], y: [n, 3]; n >= 2\n" in text
    assert "n = m, which a rule needs" in text and "211 stands for `n`" in text
    mixed = im.explain("x * k + y", x="f32[n]", k=2.5, y=np.ones(1, np.float32))
    assert "x: [n], y: [1]; n >= 2" in mixed and "1: an axis of size 1 may be broadcast" in mixed
    assert text.json["peak_bytes"] > 0 and text.svg.startswith("<svg") and "nest 0" in text.machine_code
    named = im.explain("x - m", x="f32[time: n, lat: k]", m="f32[lat: k]", rule="named")
    assert "axes of the results\n  x - m [time, lat]\n" in named and "n, k >= 2" in named


@pytest.mark.parametrize(
    "text, types, error, code",
    [
        ("x + y", {"x": "f32[n, 3]", "y": "f32[4]"}, im.ShapeError, "size-mismatch"),
            ("sliding_window_view(x, 2, axis=0)", {"x": "f32[n, 3]"}, im.IndimError, "size-not-free"),
        ("x + y", {"x": "f32[n]"}, im.UnknownNameError, "unknown-name"),
        ("x + 1", {"x": "f99[n]"}, im.IndimError, "unknown-element-type"),
        ("x + 1", {"x": "f32[n; 3]"}, im.IndimError, "bad-shape"),
        ("x + y", {"x": "f32[t: n]", "y": "f32[u: 3]"}, im.IndimError, "axis-names-not-taken"),
    ],
)
def test_what_is_wrong_with_sizes_with_names_is_said(text, types, error, code):
    with pytest.raises(error) as raised:
        im.explain(text, **types)
    assert raised.value.code == code
    if code == "size-mismatch":
        assert "211 stands for `n`" in str(raised.value)


def test_arrays_of_other_packages_are_explained_by_their_types():
    pd, xr = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    da = pytest.importorskip("dask.array")
    x, m = xr.DataArray(np.ones((3, 2)), dims=("t", "l")), xr.DataArray(np.ones(2, "f4"), dims="l")
    named = im.explain("x - m", x=x, m=m, rule="named")
    assert "axes of the results" in named and "[t, l]" in named and "x : f64" in named
    with pytest.raises(TypeError, match='`x` is a DataArray of xarray.*rule="named"'):
        im.explain("x - m", x=x, m=m)
    lazy, series = da.ones((4, 3), chunks=2), pd.Series([1.0, 2.0, 3.0])
    assert im.explain("x * s", x=lazy, s=series) == im.explain("x * s", x="f64[4, 3]", s="f64[3]")


@pytest.mark.parametrize("shape", ["f32[n]", "f32[3]"])
def test_what_an_explained_expression_does_not_have_is_an_error(shape):
    with pytest.raises(TypeError, match="`y` is neither a name of the expression nor an argument of explain"):
        im.explain("x * 2", x=shape, y="f32[3]")
    with pytest.raises(TypeError, match="`sum` is neither a name of the expression"):
        im.explain("sum(x)", x=shape, sum="f32[3]")
    assert im.explain("y = x * 2; y", x=shape, y="f32[3]").startswith("nothing is broadcast")


def test_types_of_arguments_have_no_names():
    with pytest.raises(ValueError, match=r"f32\[n\].* has names, which types in `indim.explain"):
        im.jit(lambda x: x + 1).explain("f32[n]")


HELD = """
import numpy as np
import indim as im

text = " + ".join(f"x * {k}.5" for k in range(400))
for length in range(5, 25):
    before = im._indim._held_bytes()
    im.evaluate(text, {"x": np.ones(length)}, {})
    print(im._indim._held_bytes() - before)
"""


def test_what_programs_of_many_lengths_share_counts_once():
    # In its own process, so that programs of other tests are not evicted meanwhile.
    printed = subprocess.run([sys.executable, "-c", HELD], capture_output=True, text=True, check=True).stdout
    held = [int(line) for line in printed.split()]
    # The first program is for one length, the second for all lengths; later calls bind it.
    assert max(held[2:]) * 3 < held[1], held


def test_a_thousand_lengths_are_found_again_or_bound_again():
    arrays = [np.arange(length, dtype=np.float64) for length in range(2, 1002)]
    doubled = im.jit(lambda x: x * 2 + 1)
    raised = im.jit(lambda x, k: x**k)
    held = None
    for _ in range(3):
        for x in arrays:
            np.testing.assert_array_equal(doubled(x), x * 2 + 1)
        now = im._indim._held_bytes()
        # After the first round each binding evicts another one.
        assert held is None or now <= held + (1 << 20)
        held = now
    # Exponents are part of a program, so one length has two programs.
    for x in [*arrays[:4], *arrays[:4], *arrays[-4:]]:
        for k in (2, 3, 2):
            np.testing.assert_array_equal(raised(x, k), x**k)


def test_axes_of_2_to_the_31_elements_follow_short_ones():
    standardise = im.jit(lambda x, m: (x - m) * 2)
    for size in [2, 2**31, 3, 2**31 + 1, 0, 1, 2**31 - 1, 2**31]:
        x = np.empty((0, size))
        assert im.evaluate("x - 1").shape == (0, size)
        assert standardise(x, np.float64(1)).shape == (0, size)
    for size in [5, 2**31, 6, 2**33, 7]:
        x = np.broadcast_to(np.uint8(7), (size, 3))
        np.testing.assert_array_equal(im.evaluate("int32(x[:4]) - 5"), np.full((4, 3), 2))
    # A row would make the intermediate array of f64 too large.
    for n, m in [(4, 5), (2**31 - 1, 2**31 - 2), (3, 4)]:
        x = np.empty((0, n, m), np.uint8)
        assert im.evaluate("sum(x * 0.5)") == 0


NUMBERS_OF_SIZES = {
    "quotient": lambda x: x / x.shape[0],
    "last axis": lambda x: x * x.shape[-1] + x.shape[0],
    "product": lambda x: x.sum() / x.size,
    "arithmetic": lambda x: x * ((x.shape[0] - 1) / (2 * x.shape[1])) - x.shape[0] // 2 % 3,
    "comparison": lambda x: x + x.shape[0] if x.shape[0] > 1 else x,
    "choice": lambda x: np.where(x > x.shape[0], x, x.shape[1]),
    "whole shape": lambda x: x * (1 if x.shape > (2, 0) else 2),
    "gradient": im.grad(lambda x: (x * x).sum() / x.shape[0]),
    "batch": im.vmap(lambda row: row * row.shape[0]),
    "batch of columns": im.vmap(lambda column: column - column.shape[0], in_axes=1, out_axes=1),
}


@pytest.mark.parametrize("name", NUMBERS_OF_SIZES)
def test_sizes_that_a_function_reads_are_numbers_of_each_call(name):
    function = NUMBERS_OF_SIZES[name]
    f, traces = counting(function)
    generator = np.random.default_rng(5)
    for shape in [(3, 4), (5, 4), (6, 7), (7, 2), (6, 7), (1, 9), (9, 1), (0, 3), (300, 200), (3, 4)]:
        x = generator.uniform(0.5, 9, shape)
        np.testing.assert_allclose(f(x), im.jit(function)(x), rtol=1e-13, err_msg=f"{name} {shape}")
    expected = {
        "gradient": lambda x: 2 * x / len(x),
        "batch": lambda x: x * x.shape[1],
        "batch of columns": lambda x: x - len(x),
    }
    np.testing.assert_allclose(f(x), expected.get(name, function)(x), rtol=1e-13)
    assert len(traces) <= 4, "only a comparison whose truth changes asks for another trace"


def test_sizes_of_every_use_are_those_of_the_call():
    uses = {
        "loop": lambda x: sum(x[i] for i in range(x.shape[0])),
        "length": lambda x: x * len(x),
        "shape of a new array": lambda x: x + np.ones(x.shape),
        "reshape": lambda x: x.reshape(x.shape[0] * x.shape[1]),
        "slice": lambda x: x[: x.shape[0] // 2 + 1],
        "unpacking": lambda x: (lambda rows, columns: x.reshape(columns, rows) / rows)(*x.shape),
        "computed value": lambda x: x[1:] * x[1:].shape[0],
        "exponent": lambda x: x ** x.shape[0],
        "text": lambda x: x * len(f"{x.shape[0]}"),
        "function": lambda x: x / np.sqrt(x.shape[0]) + max(x.shape),
        "equal shapes": lambda x: x * (1 if x.shape == x.T.shape else 2),
        "key": lambda x: x * {2: 5.0}.get(x.shape[0], 3.0),
        "shape of NumPy": lambda x: x * np.shape(x)[0] + np.size(x),
        "helper": lambda x: np.stack([x, np.full(x.shape, float(x.shape[1]))]),
    }
    for name, function in uses.items():
        f = im.jit(function)
        for shape in [(2, 3), (4, 3), (5, 6), (2, 6), (4, 3), (12, 2)]:
            x = np.random.default_rng(6).uniform(0.5, 2, shape)
            np.testing.assert_allclose(f(x), function(x), rtol=1e-13, err_msg=f"{name} {shape}")


def test_sizes_within_containers_and_beside_numbers_and_captured_arrays():
    scale = np.array(2.0)
    f, traces = counting(lambda pair, k: pair["x"] * scale / pair["y"].shape[0] + k + pair["x"].shape[0])
    for length, other, k in [(3, 5, 1), (4, 6, 2), (7, 7, 3)]:
        x, y = np.arange(length, dtype=float), np.ones(other)
        np.testing.assert_allclose(f({"x": x, "y": y}, k), x * scale / other + k + length, rtol=1e-15)
        scale[...] += 1
    assert len(traces) == 1


def test_a_size_that_an_element_type_does_not_hold_is_an_error():
    f = im.jit(lambda x: x + x.shape[0])
    x = np.ones(100, np.int8)
    np.testing.assert_array_equal(f(x), x + 100)
    with pytest.raises(im.ExprError, match="200 is not a value of i8"):
        f(np.ones(200, np.int8))


def test_sizes_that_meet_numbers_beyond_128_bits():
    f = im.jit(lambda x: x[:1] + (x.shape[0] * 10**40 + (x.shape[0] + 2**100) * 2**100) / 10**40)
    for length in (3, 4, 3):
        np.testing.assert_allclose(f(np.ones(length)), [1 + length + (length + 2**100) * 2**100 / 10**40])


#: Functions with sizes that follow from the length of an array.
DERIVED_SIZES = {
    "differences": lambda x: x[1:] - x[:-1],
    "np.diff": lambda x: np.diff(x, n=2) - np.diff(x)[1:],
    "stencil": lambda x: x[2:] - 2 * x[1:-1] + x[:-2],
    "first elements": lambda x: x[2:5] * x[0],
    "last element": lambda x: x - x[-1],
    "last elements": lambda x: x[-3:] * x[-1],
    "last but one": lambda x: x[-3:-1] / x[-2],
    "first and last": lambda x: x[3] + x[-1],
    "flipped differences": lambda x: np.flip(np.diff(x)),
    "second from behind": lambda x: x[::-2] * x[::-1][::2],
    "between, backwards": lambda x: x[-2:1:-1],
    "last of every second": lambda x: x[::2][-1] + x[::-1][-1],
    "taken at last indices": lambda x: x[:4][np.argsort(x[:4])[-2:]],
    "last rows": lambda x: x.reshape(-1, 2)[-1] - x.reshape(-1, 2)[-2:, ::-1],
    "sums from behind": lambda x: np.cumsum(x[::-1])[::-1],
    "every second": lambda x: x[::2] * 3,
    "interleaved": lambda x: x[::2] + x[1::2],
    "backwards": lambda x: x[::-1] + x,
    "slices of slices": lambda x: x[1:][1:] + x[:-1][:-1],
    "rows of 4": lambda x: x.reshape(-1, 4).sum(axis=1),
    "4 rows": lambda x: x.reshape(4, -1).mean(axis=0),
    "there and back": lambda x: (x.reshape(-1, 2) * 2).reshape(-1) + x,
    "rows of a slice": lambda x: x[1:].reshape(-1, 3).sum(axis=0),
    "padding": lambda x: np.pad(x, (2, 1)) * 2,
    "padding of a slice": lambda x: np.pad(x, (1, 0))[1:] - x,
    "concatenated slices": lambda x: np.concatenate([x[:1], x[2:] - x[:-2], x[-1:]]),
    "mean": lambda x: x[1:].mean() - x[:-1].mean(),
    "variance": lambda x: x.reshape(2, -1).var(axis=1),
    "outer product": lambda x: x[1:, None] * x[None, :-1],
    "broadcast": lambda x: x[1:] + x[:1],
    "wrong": lambda x: x[1:] + x,
    "scan": lambda x: np.cumsum(x[1:]),
    "product": lambda x: x.reshape(2, -1) @ x.reshape(-1, 2),
    "softmax": lambda x: im.softmax(x[1:], axis=0),
    "gradient of squares": im.grad(lambda x: (x * x).sum()),
    "gradient of a mean": im.grad(lambda x: (x * x).mean()),
    "gradient of slices": im.grad(lambda x: ((x[1:] - x[:-1]) ** 2).sum()),
    "gradient of rows": im.grad(lambda x: (x.reshape(-1, 2).sum(axis=1) ** 2).sum()),
    "gradient of a maximum": im.grad(lambda x: x.max()),
    "gradient of softmax": im.grad(lambda x: (im.softmax(x, axis=0) ** 2).sum()),
    "gradient of one element": im.grad(lambda x: (x[:1] * 0).sum() + 1),
    "gradient of padding": im.grad(lambda x: (np.pad(x, (1, 1)) ** 2).sum()),
    "batch": lambda x: im.vmap(lambda row: row[1:] - row[:-1])(x.reshape(2, -1)),
    "differences with a first one": lambda x: np.diff(x, prepend=0) + np.diff(x, append=x[-1:]),
    "joined": lambda x: np.hstack([x, x * 2])[3:] - np.block([x, x])[:-3],
    "rows": lambda x: np.vstack([x, x[::-1]]),
    "layers": lambda x: np.dstack([x, x + 1])[0],
    "tiled": lambda x: np.tile(x, 2) * np.concatenate([x, x]),
    "tiled rows": lambda x: np.tile(x, (2, 1)) - np.tile(x, (2, 1, 1))[0],
    "repeated": lambda x: np.repeat(x, 3) + np.repeat(x, 3)[::-1],
    "rolled": lambda x: np.roll(x, 1) + np.roll(x, -2) - 2 * x,
    "mirrored": lambda x: np.pad(x, (2, 1), mode="reflect"),
    "edges": lambda x: np.pad(x, 1, mode="edge") - np.pad(x, 1, mode="wrap"),
    "split": lambda x: np.split(x, [3, -2])[1] * 2,
    "slopes": lambda x: np.gradient(x, 0.5),
    "slopes of second order": lambda x: np.gradient(x, edge_order=2),
    "gradient of a part": im.grad(lambda x: (x[3:5] ** 2).sum()),
    "gradient of ends": im.grad(lambda x: (x[-3:] * x[:3]).sum() + x[-1] ** 2),
    "gradient of steps": im.grad(lambda x: (x[1::2] ** 2).sum() + (x[::-2] ** 3).sum()),
    "gradient of parts": im.grad(lambda x: (np.concatenate([x[1:], x * 2, x[:2]]) ** 2).sum()),
    "gradient of a roll": im.grad(lambda x: ((x - np.roll(x, 1)) ** 2).sum()),
    "gradient of a loop": im.grad(
        lambda x: (lambda mean: (x * im.fori_loop(0, 3, lambda _, s: s * mean, mean)).sum())(x.mean())
    ),
    "second gradient": im.grad(lambda x: (im.grad(lambda y: ((y[1:] - y[:-1]) ** 3).sum())(x) ** 2).sum()),
    "tangent": lambda x: im.jvp(lambda y: np.diff(y) * y.mean(), (x,), (x[::-1],))[1],
    "tangent of parts": lambda x: im.jvp(lambda y: np.hstack([y[1:], y * y.std()]), (x,), (x,))[1],
    "batch of means": lambda x: im.vmap(lambda row: row - row.mean())(x[:, None] * x),
    "batch of ends": lambda x: im.vmap(lambda row: row[-1] * row, in_axes=1, out_axes=1)(x[:, None] * x[1:]),
    "batch of gradients": lambda x: im.vmap(im.grad(lambda row: (row[1:] * row[:-1]).sum()))(x[:, None] * x),
    "batch with a shared array": lambda x: im.vmap(lambda row, y: row * y + y.mean(), (0, None))(
        x[:, None] * x[1:], x[1:]
    ),
}


def outcome(function, *arguments):
    """The result, or the type and the message of the exception."""
    try:
        return np.asarray(function(*arguments))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", DERIVED_SIZES)
def test_sizes_that_follow_from_a_length_are_those_of_a_fresh_trace(name):
    function = DERIVED_SIZES[name]
    generator = np.random.default_rng(8)
    for lengths in [range(21), range(20, -1, -1), generator.permutation(21)]:
        f = im.jit(function)
        for length in lengths:
            x = np.random.default_rng(length).uniform(0.5, 2, length)
            result, fresh = outcome(f, x), outcome(im.jit(function), x)
            assert type(result) is type(fresh), (length, result, fresh)
            if isinstance(fresh, tuple):
                assert result == fresh, length
            else:
                np.testing.assert_array_equal(result, fresh, err_msg=f"{length}")
                if not any(word in name for word in OF_INDIM) and length > 5:
                    np.testing.assert_allclose(result, function(x), rtol=1e-12, atol=1e-15)


#: Words in the names of functions that NumPy alone cannot run.
OF_INDIM = ("gradient", "tangent", "softmax", "batch")

#: Those that are errors for the lengths of the test.
REFUSED = {"rows of a slice", "wrong"}


@pytest.mark.parametrize("name", [name for name in DERIVED_SIZES if name not in REFUSED])
def test_functions_of_a_length_are_traced_once(name):
    f, traces = counting(DERIVED_SIZES[name])
    # All numbers of rows and columns that are asked for divide these lengths.
    for length in (60, 120, 180, 240, 600):
        outcome(f, np.linspace(0.5, 2, length))
    assert len(traces) <= 2, f"{len(traces)} traces"


def test_gradients_of_reshapes_of_arrays_without_elements():
    for shapes in [(5, 4, 0), (6, 4, 0), (6, 3, 0)], [(5, 0, 4), (6, 0, 5), (6, 2, 5)]:
        f = im.jit(im.grad(lambda x: (x.reshape(-1) * 2).sum()))
        for shape in shapes:
            np.testing.assert_array_equal(f(np.ones(shape)), np.full(shape, 2.0))


def test_sizes_of_several_axes_and_arguments_are_those_of_a_fresh_trace():
    functions = [
        lambda x, y: x[1:, :-1] - x[:-1, 1:],
        lambda x, y: x.reshape(-1) * 2,
        lambda x, y: x[:, 1:].reshape(-1, 2).sum(axis=0),
        lambda x, y: x[1:] * y[:, None],
        lambda x, y: np.concatenate([x[0, :1], y]) - x[0],
    ]
    sizes = range(5), range(5), range(0, 5, 2)
    shapes = list(itertools.product(*sizes))
    np.random.default_rng(9).shuffle(shapes)
    for index, function in enumerate(functions):
        f = im.jit(function)
        for rows, columns, length in shapes:
            x, y = np.arange(rows * columns, dtype=float).reshape(rows, columns), np.ones(length)
            result, fresh = outcome(f, x, y), outcome(im.jit(function), x, y)
            if isinstance(fresh, tuple):
                assert result == fresh, (index, rows, columns, length)
            else:
                np.testing.assert_array_equal(result, fresh, err_msg=f"{index} {x.shape} {length}")


def test_sizes_of_results_are_numbers_of_the_program():
    runs = []

    @im.jit
    def f(x, y):
        runs.append(1)
        z = (x + y) * 2
        return z / z.shape[0] + z.size

    def check(n, m):
        x, y = np.arange(n * 1.0), np.arange(m * 1.0)
        z = (x + y) * 2
        np.testing.assert_array_equal(f(x, y), z / z.shape[0] + z.size)

    for n in (5, 6, 9, 100, 2):
        check(n, n)
    assert len(runs) == 1
    # Another broadcast has another size.
    for n, m in ((5, 1), (1, 5), (1, 1), (7, 7), (1, 9), (9, 1), (0, 0), (0, 1), (3, 3)):
        check(n, m)
    with pytest.raises(ValueError):
        f(np.ones(3), np.ones(4))


def test_the_size_of_an_added_axis():
    runs = []

    @im.jit
    def f(x):
        runs.append(1)
        column = x.sum(0)[None] + 1
        windows = np.lib.stride_tricks.sliding_window_view(x, 2, axis=0)[..., 0]
        return column * column.shape[0] + windows * windows.shape[0] + x.reshape(-1, 3).shape[0]

    def expected(x):
        return f.__wrapped__(x)

    for n in (2, 3, 9, 4, 2):
        x = np.arange(n * 3.0).reshape(n, 3)
        np.testing.assert_array_equal(f(x), expected(x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[:5].sum() / x[:5].shape[0],
        lambda x: x[-5:].sum() / x[-5:].shape[0],
        lambda x: x[::2] * x[::2].shape[0],
        lambda x: (x[:5] * 2).size + x,
        lambda x: np.diff(x) * np.diff(x).shape[0],
        lambda x: np.split(x, [5])[0].sum() / np.split(x, [5])[0].shape[0],
        lambda x: im.grad(lambda x: x[:5].sum() / x[:5].shape[0])(x),
        lambda x: x[: x[:5].shape[0] // 2],
    ],
)
@pytest.mark.parametrize("lengths", [(3, 8, 5, 6, 1), (1, 3, 8), (8, 3, 5)])
def test_sizes_of_slices_that_were_whole_at_the_first_call(function, lengths):
    compiled = im.jit(function)
    for length in lengths:
        x = np.arange(length) + 1.0
        np.testing.assert_array_equal(compiled(x), function(x))


def test_sizes_of_reshapes_that_had_the_sizes_of_their_operand():
    for shape in ((-1, 4), (3, -1), (2, -1, 2)):
        compiled = im.jit(lambda x: x.reshape(shape) * x.reshape(shape).shape[0] + x.reshape(shape).shape[1])
        for sizes in ((3, 4), (6, 4), (3, 8), (4, 6), (12, 1)):
            x = np.ones(sizes)
            y = x.reshape(shape)
            np.testing.assert_array_equal(compiled(x), y * y.shape[0] + y.shape[1])
