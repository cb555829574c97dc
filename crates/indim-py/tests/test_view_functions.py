"""Eager `indim.take`, `concatenate` and other view functions against NumPy."""

import indim
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays

TYPES = st.sampled_from(["?", "i1", "u2", "i8", "f2", "f4", "f8", "c8"])
X = np.arange(24.0).reshape(2, 3, 4)


def same(result, expected):
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(result, expected)


@st.composite
def an_array(draw, min_dims=1, min_side=0):
    shape = draw(arrays.array_shapes(min_dims=min_dims, max_dims=3, min_side=min_side, max_side=5))
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(draw(TYPES))
    turned = values.transpose(draw(st.permutations(range(values.ndim))))
    return turned[tuple(slice(None, None, draw(st.sampled_from([1, -1, 2]))) for _ in turned.shape)]


NAMES = ["take", "take_along_axis", "concatenate", "stack", "pad", "roll", "flip", "diff"]
NAMES += ["sliding_window_view"]


@st.composite
def a_case(draw):
    """A function of NumPy, and its arguments."""
    x = draw(an_array())
    axis = draw(st.integers(-x.ndim, x.ndim - 1))
    maybe = st.sampled_from([None, axis])
    name = draw(st.sampled_from(NAMES))
    if name == "take":
        axis = draw(maybe)
        size = x.size if axis is None else x.shape[axis]
        mode = draw(st.sampled_from(["raise", "clip", "wrap"])) if size else "raise"
        bound = size if mode == "raise" else 3 * size
        length = draw(st.integers(0, 6)) if size else 0
        elements = st.integers(-bound, max(bound - 1, -bound))
        indices = draw(st.lists(elements, min_size=length, max_size=length))
        indices = np.array(indices, draw(st.sampled_from(["i2", "i8"])))
        return name, (x, indices, axis), {"mode": mode}
    if name == "take_along_axis":
        size = x.shape[axis]
        shape = [draw(st.sampled_from([1, other])) for other in x.shape]
        shape[axis] = draw(st.integers(1, 5)) if size else 0
        indices = draw(arrays.arrays("i4", shape, elements=st.integers(-size, max(size - 1, 0))))
        return name, (x, indices, axis), {}
    if name in ("concatenate", "stack"):
        others = [x.astype(draw(TYPES)) for _ in range(draw(st.integers(0, 4)))]
        return name, ([x, *others], draw(maybe) if name == "concatenate" else axis), {}
    if name == "pad":
        modes = ["constant", "edge", "wrap", "reflect", "symmetric"]
        mode = draw(st.sampled_from(modes if x.size else ["constant"]))
        widths = st.integers(0, 7 if mode in ("constant", "edge", "wrap") else min(x.shape) - 1)
        widths = [(draw(widths), draw(widths)) for _ in x.shape]
        return name, (x, widths, mode), {"constant_values": 1} if mode == "constant" else {}
    if name == "roll":
        shifts = st.integers(-9, 9)
        shift = draw(st.one_of(shifts, st.tuples(*[shifts] * x.ndim)))
        return name, (x, shift, tuple(range(x.ndim)) if isinstance(shift, tuple) else draw(maybe)), {}
    if name == "sliding_window_view":
        axes = draw(st.lists(st.integers(0, x.ndim - 1), max_size=2, unique=True))
        axes = [axis for axis in axes if x.shape[axis]]
        return name, (x, [draw(st.integers(1, x.shape[axis])) for axis in axes], axes), {}
    if name == "flip":
        return name, (x, draw(maybe)), {}
    return name, (x, draw(st.integers(0, 3)), axis), {}


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@settings(max_examples=300, deadline=None)
@given(a_case())
def test_functions_of_arrays_are_those_of_numpy(case):
    name, given, keywords = case
    expected = getattr(np, name, None) or np.lib.stride_tricks.sliding_window_view
    expected = expected(*given, **keywords)
    same(getattr(indim, name)(*given, **keywords), expected)
    same(getattr(indim.numpy, name)(*given, **keywords), expected)
    out = np.empty_like(expected)
    assert getattr(indim, name)(*given, **keywords, out=out) is out
    same(out, expected)


def sliced(x, starts, sizes):
    """The slices of a dynamic slice, as JAX clamps its starts."""
    starts = [start + size if start < 0 else start for start, size in zip(map(int, starts), x.shape)]
    starts = [min(max(start, 0), of - size) for start, size, of in zip(starts, sizes, x.shape)]
    return tuple(slice(start, start + size) for start, size in zip(starts, sizes))


@pytest.mark.parametrize("starts", [[0, 0, 0], [1, 2, 3], [-1, -9, 9], [0, -2, 1]])
@pytest.mark.parametrize("sizes", [(1, 2, 2), (2, 3, 4), (2, 1, 0)])
def test_dynamic_slices_clamp_their_starts(starts, sizes):
    place = sliced(X, starts, sizes)
    update = -np.ones(sizes)
    updated = X.copy()
    updated[place] = update
    read = indim.jit(lambda x, i, j, k: indim.dynamic_slice(x, (i, j, k), sizes))
    write = indim.jit(lambda x, u, i: indim.dynamic_update_slice(x, u, [i, starts[1], starts[2]]))
    for dtype in (np.int8, np.int64):
        given = np.array(starts, dtype)
        same(indim.dynamic_slice(X, given, sizes), X[place])
        same(read(X, *given), X[place])
        same(indim.dynamic_update_slice(X, update, given), updated)
        same(write(X, update, given[0]), updated)
    same(indim.dynamic_slice(X, starts, slice_sizes=sizes), X[place])


def test_wrong_dynamic_slices_are_refused():
    with pytest.raises(indim.ShapeError):
        indim.dynamic_slice(X, [0, 0, 0], (3, 1, 1))
    with pytest.raises((TypeError, ValueError)):
        indim.dynamic_slice(X, [0, 0], (1, 1, 1))
    with pytest.raises(TypeError):
        indim.dynamic_slice(X, [0.5, 0, 0], (1, 1, 1))
    with pytest.raises((TypeError, ValueError)):
        indim.dynamic_update_slice(X, X[0], [0, 0, 0])


def test_what_goes_beside_a_difference():
    same(indim.diff(X, axis=1, prepend=0), np.diff(X, axis=1, prepend=0))
    sevens = [[[7.0]] * 3] * 2
    same(indim.diff(X, prepend=X[..., :1], append=sevens), np.diff(X, prepend=X[..., :1], append=7))
    traced = indim.jit(lambda x: indim.diff(x, prepend=x[..., -1:]))
    same(traced(X), np.diff(X, prepend=X[..., -1:]))


def test_traced_functions_take_them_too():
    function = indim.jit(lambda x, i: indim.concat([indim.take(x, i, 1), indim.pad(x, 1)[1:-1]], axis=-1)[0])
    x, i = X[0], np.array([1, 0, -1])
    same(function(x, i), np.concatenate([x[:, i], np.pad(x, 1)[1:-1]], axis=-1)[0])
    same(indim.jit(lambda x: indim.stack([x, np.ones(4)]))(x[0]), np.stack([x[0], np.ones(4)]))


def test_many_arrays_and_numbers_are_put_together():
    same(indim.concatenate([X[0]] * 200, axis=1), np.concatenate([X[0]] * 200, axis=1))
    same(indim.stack([1, 2.5, True]), np.stack([1, 2.5, True]))
    same(indim.take([5, 6, 7], 2), np.take([5, 6, 7], 2))
    same(indim.take(X, []), np.take(X, []))
    same(indim.pad(np.float32(3), 4), np.pad(np.float32(3), 4))


def test_types_are_promoted_under_the_numpy_rule_alone():
    x, y = np.ones(2, "i4"), np.ones(2, "f4")
    assert indim.concatenate([x, y]).dtype == np.float64
    for module in (indim.xla, indim.stablehlo, indim.none):
        with pytest.raises(indim.IndimError, match="element types"):
            module.concatenate([x, y])


def test_an_index_that_names_nothing_leaves_the_output_alone():
    out = np.full(3, -1.0)
    with pytest.raises(IndexError, match="index 4"):
        indim.take(np.arange(4.0), [0, 4, 1], out=out)
    assert (out == -1).all()


def test_a_negative_axis_reaches_the_rule():
    same(indim.pdpd.add(X, X[0], axis=-1), X + X[0])
    same(indim.diff(X, axis=-2), np.diff(X, axis=-2))


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: indim.take_along_axis(X, X > 3, 0), TypeError, "np.where"),
        (lambda: indim.take(X, [0.5]), indim.ElementTypeError, "indices are integers"),
        (lambda: indim.take(X, 0, mode="nearest"), ValueError, "raise, clip, wrap"),
        (lambda: indim.take(X, 0, axis=3), indim.IndimError, "axis-out-of-range"),
        (lambda: indim.concatenate([]), indim.IndimError, "nothing-to-concatenate"),
        (lambda: indim.concatenate(np.float64(3)), TypeError, "several arrays"),
        (lambda: indim.concatenate([X, X[0]]), indim.IndimError, "concatenate-shape"),
        (lambda: indim.stack([X, np.ma.array([1])]), TypeError, r"`arrays\[1\]` is a masked array"),
        (lambda: indim.pad(X, 1, mode="mean"), TypeError, "reflect"),
        (lambda: indim.pad(X, 1, constant_values=[1, 2]), TypeError, "one number"),
        (lambda: indim.pad(X, 1, constant_values=2j), TypeError, "not 'complex'"),
        (lambda: indim.pad(X, -1), ValueError, "negative"),
        (lambda: indim.roll(X, (1, 2), (0, 1, 2)), indim.IndimError, "shift"),
        (lambda: indim.diff(X, 65), indim.IndimError, "64"),
        (lambda: indim.jit(lambda x: indim.flip(x, out=X))(X), TypeError, "`out`"),
    ],
)
def test_what_cannot_be_done_says_what_to_do(call, error, words):
    with pytest.raises(error, match=words):
        call()
