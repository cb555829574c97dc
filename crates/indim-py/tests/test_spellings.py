"""Arguments of NumPy's functions, ufuncs and methods, each as its users write it: compiled functions, and
those of `indim.numpy`, give NumPy's results."""

import numpy as np
import pytest

import indim
import indim.numpy as inp
from numpy_calls import quietly

RANDOM = np.random.default_rng(0)
X, Y, V, W = (np.round(RANDOM.normal(size=shape), 2) for shape in ((3, 4), (3, 4), 4, 4))
N = np.where(RANDOM.random((3, 4)) < 0.3, np.nan, X)
MASK = RANDOM.random((3, 4)) < 0.6
I, J = np.array([0, 1, 3, 2]), np.array([0, 1, 1, 2])


def written(make, write):
    """The array after a call that writes into it."""

    def call(np, *operands):
        out = make(np)
        write(np, out, *operands)
        return out

    return call


#: What a function of the module and of operands computes, and the operands.
CALLS = {
    "sum(out)": (written(lambda np: np.zeros(4), lambda np, o, x: np.sum(x, axis=0, out=o)), X),
    "cumsum(out)": (written(lambda np: np.zeros((3, 4)), lambda np, o, x: np.cumsum(x, 0, out=o)), X),
    "dot(out)": (written(lambda np: np.zeros(3), lambda np, o, x, v: np.dot(x, v, out=o)), X, V),
    "einsum(out)": (
        written(lambda np: np.zeros(3), lambda np, o, x, v: np.einsum("ij,j", x, v, out=o)), X, V,
    ),
    "concatenate(out)": (lambda np, x, y: np.concatenate([x, y], out=np.zeros((6, 4))), X, Y),
    "take(out)": (lambda np, x: np.take(x, [0], axis=0, out=np.zeros((1, 4))), X),
    "round(out)": (lambda np, x: np.round(x, 1, out=np.zeros((3, 4))), X),
    "isneginf(out)": (lambda np, x: np.isneginf(x, out=np.ones((3, 4), bool)), X),
    "add.reduce(out)": (lambda np, x: np.add.reduce(x, axis=1, out=np.zeros(3)), X),
    "sum(out) narrower": (lambda np, x: np.sum(x, axis=0, out=np.zeros(4, np.float32)), X),
    "add(where, out)": (lambda np, x, m: np.add(x, 1, where=m, out=np.zeros((3, 4))), X, MASK),
    "sqrt(where, out)": (lambda np, x: np.sqrt(x, where=x > 0, out=np.zeros((3, 4))), X),
    "add(casting)": (lambda np, x, y: np.add(x, y, casting="unsafe"), X, Y),
    "add(order)": (lambda np, x, y: np.add(x, y, order="F", subok=False), X, Y),
    "add(signature)": (lambda np, x, i: np.add(x, i, signature="dd->d"), V, I),
    "exp(where=True)": (lambda np, x: np.exp(x, where=True), X),
    "add(dtype)": (lambda np, i: np.add(i, i, dtype=np.int16, casting="unsafe"), I),
    "matmul(dtype)": (lambda np, x: np.matmul(x, x.T, dtype=np.float32, casting="same_kind"), X),
    "clip(dtype)": (lambda np, x: np.clip(x, -1, 1, dtype=np.float32), X),
    "std(mean)": (lambda np, x: np.std(x, axis=0, mean=np.mean(x, axis=0, keepdims=True)), X),
    "std(mean, where)": (
        lambda np, x, m: np.std(x, axis=1, ddof=1, where=m, mean=np.mean(x, axis=1, keepdims=True, where=m)),
        X, MASK | (np.arange(4) < 2),
    ),
    "var(mean) complex": (lambda np, x: np.var(x, mean=np.mean(x, keepdims=True)), V + 1j * W),
    "nanvar(mean)": (lambda np, x: np.nanvar(x, axis=1, mean=np.nanmean(x, axis=1, keepdims=True)), N),
    "nanstd(mean) method": (lambda np, x: x.std(axis=0, mean=x.mean(axis=0, keepdims=True)), X),
    "fmax.accumulate": (lambda np, x: np.fmax.accumulate(x, axis=1), N),
    "subtract.accumulate": (lambda np, x: np.subtract.accumulate(x), X),
    "divide.accumulate": (lambda np, x: np.divide.accumulate(x, dtype=np.float32), V),
    "bitwise_or.accumulate": (lambda np, i: np.bitwise_or.accumulate(i), I),
    "gcd.reduce": (lambda np, i: np.gcd.reduce(i * 6), I),
    "lcm.reduce(initial)": (lambda np, i: np.lcm.reduce(i + 1, initial=5), I),
    "subtract.reduce": (lambda np, x: np.subtract.reduce(x, axis=1, keepdims=True), X),
    "logical_xor.reduce": (lambda np, m: np.logical_xor.reduce(m, axis=(0, 1)), MASK),
    "logical_xor.reduce(where)": (lambda np, x, m: np.logical_xor.reduce(x, axis=1, where=m), X, MASK),
    "logaddexp2.reduce": (lambda np, x: np.logaddexp2.reduce(x, axis=1), X),
    "bitwise_or.reduceat": (lambda np, i: np.bitwise_or.reduceat(i, [0, 2, 1]), I),
    "subtract.reduceat": (lambda np, x: np.subtract.reduceat(x, [0, 2], axis=1), X),
    "divide.at": (written(lambda np: np.ones(3), lambda np, o, j, w: np.divide.at(o, j, w)), J, W),
    "bitwise_or.at": (
        written(lambda np: np.zeros(3, int), lambda np, o, j, i: np.bitwise_or.at(o, j, i)), J, I,
    ),
    "negative.at": (written(lambda np: np.ones(3), lambda np, o, x: np.negative.at(o, [0, 1, 0])), X),
    "add.at of rows": (
        written(lambda np: np.zeros((3, 4)), lambda np, o, j: np.add.at(o, (j, slice(None)), 1.5)), J,
    ),
    "pad(constant_values)": (
        lambda np, x: np.pad(x, ((1, 1), (2, 0)), constant_values=((1, 2), (3, 4))), X,
    ),
    "pad(traced constant)": (lambda np, x, v: np.pad(x, 1, constant_values=v[0]), X, V),
    "pad(mean)": (lambda np, x: np.pad(x, (1, 2), mode="mean", stat_length=2), X),
    "pad(mean) integers": (lambda np, i: np.pad(i, 1, mode="mean"), I),
    "pad(median)": (lambda np, x: np.pad(x, 1, mode="median"), X),
    "pad(maximum)": (lambda np, x: np.pad(x, 1, mode="maximum", stat_length=((1, 2), (2, 1))), X),
    "pad(minimum)": (lambda np, x: np.pad(x, ((0, 1), (2, 0)), mode="minimum"), X),
    "pad(linear_ramp)": (lambda np, x: np.pad(x, 2, mode="linear_ramp", end_values=(3, 4)), X),
    "pad(linear_ramp) integers": (lambda np, i: np.pad(i, 3, mode="linear_ramp", end_values=-7), I),
    "pad(odd reflect)": (lambda np, x: np.pad(x, (7, 8), mode="reflect", reflect_type="odd"), X),
    "pad(odd truth values)": (lambda np, x: np.pad(x > 0, 3, mode="reflect", reflect_type="odd"), X),
    "pad(odd symmetric)": (lambda np, x: np.pad(x, (9, 5), mode="symmetric", reflect_type="odd"), X),
    "size of two axes": (lambda np, x: np.size(x[None], (0, 2)), X),
    "atleast_1d of several": (lambda np, x: np.atleast_1d(3.0, x), X),
    "atleast_2d of several": (lambda np, v, x: np.atleast_2d(v, x), V, X),
    "broadcast_to(subok)": (lambda np, v: np.broadcast_to(v, (2, 4), subok=True), V),
    "fill_diagonal(wrap)": (
        written(lambda np: np.zeros((7, 2)), lambda np, o, v: np.fill_diagonal(o, v, wrap=True)), V,
    ),
}  # fmt: skip


def assert_same(found, expected):
    found, expected = (x if isinstance(x, (list, tuple)) else [x] for x in (found, expected))
    assert len(found) == len(expected)
    for ours, theirs in zip(found, map(np.asarray, expected)):
        ours = np.asarray(ours)
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        tolerance = 1e-5 if theirs.dtype.itemsize == 4 else 1e-12
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", CALLS)
def test_arguments_give_numpys_results(name):
    call, *operands = CALLS[name]
    expected = quietly(lambda operands: call(np, *operands), operands)
    compiled = indim.jit(lambda operands: call(np, *operands))
    assert_same(compiled(operands), expected)
    assert_same(quietly(lambda operands: call(inp, *operands), operands), expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda np, x: np.add.reduce(x, axis=None),
        lambda np, x: np.maximum.reduce(x, axis=1, initial=0.0),
        lambda np, x: np.add.accumulate(x, axis=1),
        lambda np, x: np.multiply.outer(x, x),
        lambda np, x: np.add.reduceat(x, [0, 2], axis=1),
        lambda np, x: np.log(np.abs(x) + 1, dtype=np.float32),
    ],
)
def test_functions_of_indim_numpy_have_the_methods_of_ufuncs(call):
    for compile in (lambda function: function, indim.jit):
        assert_same(compile(lambda x: call(inp, x))(X), call(np, X))


def test_at_of_a_function_returns_a_new_array_unless_in_place():
    x = np.zeros(3)
    np.testing.assert_array_equal(inp.add.at(x, [0, 0], 1.0, inplace=False), [2, 0, 0])
    np.testing.assert_array_equal(x, 0)
    inp.add.at(x, [1, 1], 1.0)
    np.testing.assert_array_equal(x, [0, 2, 0])
    compiled = indim.jit(lambda x: inp.add.at(x, np.array([0, 0]), 1.0, inplace=False))
    np.testing.assert_array_equal(compiled(x), [2, 2, 0])


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (TypeError, "write y = np.sum", lambda x: np.sum(x, axis=0, out=OUTSIDE)),
        (ValueError, "mode 'cubic' is not supported", lambda x: np.pad(x, 1, mode="cubic")),
        (ValueError, "can't extend empty axis 1", lambda x: np.pad(x[:, :0], 1, mode="mean")),
        (IndexError, "axis 5 of an array of 2 axes", lambda x: np.pad(x, {0: 1, 5: 1})),
        (ValueError, "unsupported keyword", lambda x: np.pad(x, 1, mode="edge", stat_length=1)),
        (TypeError, "write np.concatenate", lambda x: np.pad(x, 1, lambda *arguments: None)),
        (ValueError, "not reorderable", lambda x: np.subtract.reduce(x, axis=None)),
        (ValueError, "no identity", lambda x: np.fmod.reduce(x[:0])),
        (ValueError, "specify 'initial'", lambda x: np.fmod.reduce(x, where=x > 0)),
        (TypeError, "64 are the most", lambda x: np.subtract.reduceat(np.zeros_like(x[0]), [0] * 65)),
        (TypeError, r"choose by np.where\(mask", lambda x: np.add(x, 1, where=x > 0)),
    ],
)
def test_what_cannot_be_traced_says_what_to_write(error, message, call):
    with pytest.raises(error, match=message):
        indim.jit(call)(X)


#: An array from outside, which a compiled function does not write into.
OUTSIDE = np.zeros(4)


#: What `np.vectorize` and `jnp.vectorize` compute, of the class and operands.
VECTORIZED = {
    "numbers": (lambda vectorize, x, v: vectorize(lambda a, b: a * b + 1)(x, v), X, V),
    "several results": (lambda vectorize, v, w: vectorize(lambda a, b: (a + b, a > b))(v, w), V, W),
    "core axes": (
        lambda vectorize, x, v: vectorize(lambda a, b: np.sum(a * b), signature="(n),(n)->()")(x, v), X, V,
    ),
    "matrices": (lambda vectorize, x, v: vectorize(np.matmul, signature="(m,n),(n)->(m)")(x[None], v), X, V),
    "excluded": (lambda vectorize, v: vectorize(lambda a, k: a * k, excluded=["k"])(v, k=2.0), V),
    "excluded position": (lambda vectorize, v: vectorize(lambda a, k: a * k, excluded={1})(v, 2.0), V),
    "keyword": (lambda vectorize, v, w: vectorize(lambda a, b: a - b)(v, b=w), V, W),
    "types": (lambda vectorize, v: vectorize(lambda a: a * 2, otypes=[np.float32])(v), V),
}  # fmt: skip


@pytest.mark.parametrize("name", VECTORIZED)
def test_vectorize_is_that_of_numpy(name):
    call, *operands = VECTORIZED[name]
    expected = call(np.vectorize, *operands)
    assert_same(indim.jit(lambda operands: call(np.vectorize, *operands))(operands), expected)
    assert_same(call(inp.vectorize, *operands), expected)


@np.vectorize
def doubled(a):
    return 2 * a


def test_a_vectorized_function_may_be_made_outside():
    assert_same(indim.jit(lambda x: doubled(x) + 1)(X), doubled(X) + 1)


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ValueError, "not a valid gufunc signature", lambda: inp.vectorize(len, signature="(n)>()")),
        (ValueError, "`n` .* the sizes 4 and 3", lambda: inp.vectorize(np.dot, signature=PAIR)(V, V[:3])),
        (ValueError, "2 core axes", lambda: inp.vectorize(np.sum, signature="(m,n)->()")(V)),
        (TypeError, "has 2 arguments, not 1", lambda: inp.vectorize(np.dot, signature=PAIR)(V)),
        (ValueError, "a result has 1 axes", lambda: inp.vectorize(lambda a: a, signature="(n)->()")(V)),
        (TypeError, "indim.where", lambda: inp.vectorize(lambda a: a if a > 0 else -a)(V)),
    ],
)
def test_what_cannot_be_vectorized_is_named(error, message, call):
    with pytest.raises(error, match=message):
        call()


#: The signature of a function of two vectors.
PAIR = "(n),(n)->()"


def test_layouts_in_memory_are_those_of_traced_values():
    assert_same(indim.jit(lambda x: np.asfortranarray(x))(X), X)
    assert_same(indim.jit(lambda x: np.require(x, np.float32, "C"))(X), X.astype(np.float32))
