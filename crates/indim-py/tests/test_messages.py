"""Advice in messages: the tests follow it."""

import os
import pickle
import re

import numpy as np
import pytest

import indim

X = np.arange(6.0).reshape(2, 3)
V = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "c16"])
def test_a_product_of_vectors(dtype):
    x = (V + (1j if dtype == "c16" else 0)).astype(dtype)
    for function in (lambda x, y: x @ y, np.matmul, lambda x, y: x.dot(y), np.dot):
        expected = function(x, x * 2)
        result = indim.jit(lambda x, y: function(x, y))(x, x * 2)
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, rtol=1e-6)
    np.testing.assert_allclose(indim.jit(lambda x: V @ x)(x), V @ x, rtol=1e-6)


OUTSIDE = np.zeros(3)


def test_an_operator_that_would_write_into_an_array():
    def adds(x):
        k = OUTSIDE
        k += x
        return k

    advice = r"into an array of NumPy, `k`.* write k = k \+ x for k \+= x, and k = np.add\(...\)"
    with pytest.raises(TypeError, match=advice):
        indim.jit(adds)(V)

    def mended(x):
        k = OUTSIDE
        k = k + x
        return k

    np.testing.assert_array_equal(indim.jit(mended)(V), V)
    with pytest.raises(TypeError, match=r"numpy.hypot cannot write .* = np.hypot\(...\) without `out="):
        indim.jit(lambda x: np.hypot(x, 1, out=OUTSIDE))(V)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: np.add(x, 1, where=x > 1), r"takes no `where` .*np.where\(mask, x, other\)"),
        (lambda x: np.matmul(x, x, axes=[(1, 0), (0, 1), (0, 1)]), "takes no `axes` .*np.moveaxis"),
        (lambda x: np.add.reduceat(x, x.astype(int)), r"no traced indices: .*indim.segment_sum\(x, ids, n\)"),
        (lambda x: np.polyfit(x, [1.0, 2.0, 4.0], 7), "a degree from 0 to 5, not 7: fit outside"),
        (lambda x: np.poly(x * 1j), "numpy.poly of complex roots cannot be traced, .*: write `np.convolve"),
        (lambda x: np.in1d(x, x), "numpy.in1d cannot be traced, .*: write `np.isin")
        if hasattr(np, "in1d")
        else (lambda x: np.save("x", x), "numpy.save cannot be traced, .*: return x"),
    ],
)
def test_what_cannot_be_traced_says_what_to_write(function, message):
    with pytest.raises(TypeError, match=message):
        indim.jit(function)(V)


class Scale:
    factor = 3.0

    @indim.jit
    def traced(self, x):
        return x * self.factor


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: Scale().traced(V), "self"),
        (lambda: indim.jit(lambda x, mode: x)(V, "mean"), "mode"),
        (lambda: indim.jit(lambda x, mode: x)(V, ["a", "b"]), "mode"),
        (lambda: indim.jit(lambda x, mode: x)(V, {"kind": np.sin}), "mode"),
        (lambda: indim.jit(lambda x, s: x.reshape(s))(X, [3, 2]), "s"),
        (lambda: indim.jit(lambda x, s: np.reshape(x, s))(X, [3, 2]), "s"),
        (lambda: indim.jit(lambda x, s: x.transpose(s))(X, [1, 0]), "s"),
        (lambda: indim.jit(lambda x, s: np.transpose(x, s))(X, [1, 0]), "s"),
        (lambda: indim.jit(lambda x, s: np.broadcast_to(x, s))(V, [2, 3]), "s"),
        (lambda: indim.jit(lambda x, s: np.sum(x, axis=np.s_[s]))(X, [0, 1]), "s"),
    ],
)
def test_what_is_no_array_is_named_in_static(call, name):
    with pytest.raises(TypeError, match=rf"`static=`, as in indim.jit\(f, static='{name}'\)"):
        call()


def test_tuples_of_sizes_are_known():
    """A tuple is a tree of numbers. A function is compiled again for another number that is a size."""
    for call, tuples in (
        (lambda x, s: x.reshape(s), [(3, 2), (2, 3), (6, 1)]),
        (lambda x, s: np.reshape(x, s), [(3, 2), (1, 6)]),
        (lambda x, s: x.transpose(s), [(1, 0), (0, 1)]),
        (lambda x, s: np.transpose(x, s), [(1, 0), (0, 1)]),
        (lambda x, s: np.broadcast_to(x[0], s), [(2, 3), (5, 3)]),
        (lambda x, s: np.sum(x, axis=s), [(0, 1), (1, 0)]),
    ):
        compiled = indim.jit(call)
        for sizes in [*tuples, *tuples]:
            found, expected = compiled(X, sizes), call(X, sizes)
            assert np.shape(found) == np.shape(expected)
            np.testing.assert_array_equal(found, expected)


def test_what_is_advised_of_static_works():
    f = indim.jit(lambda x, s: x.reshape(s), static="s")
    np.testing.assert_array_equal(f(X, (3, 2)), X.reshape(3, 2))
    scaled = indim.jit(Scale.traced.__wrapped__, static="self")
    np.testing.assert_array_equal(scaled(Scale(), V), V * 3)


def test_ddof_says_correction():
    for function in (indim.std, indim.none.var, indim.nanstd):
        with pytest.raises(TypeError, match="takes no `ddof`: write correction=1$"):
            function(X, ddof=1)
    with pytest.raises(indim.ExprError, match="help: write correction="):
        indim.evaluate("std(X, ddof=1)", X=X)
    expected = np.std(X, ddof=1)
    np.testing.assert_allclose(indim.numpy.std(X, ddof=1), expected)
    np.testing.assert_allclose(indim.std(X, correction=1), expected)
    np.testing.assert_allclose(indim.evaluate("std(X, correction=1)", X=X), expected)


def test_the_help_of_jit_says_what_it_compiles():
    text = " ".join(indim.jit.__doc__.split())
    assert "made of element-wise operations" not in text
    assert "reductions along axes, slices and indices" in text
    assert "``self``" in text


def test_tracebacks_name_exceptions_as_users_import_them():
    with pytest.raises(indim.ShapeError) as raised:
        indim.xla.add(np.ones((2, 3)), np.ones(3))
    error = raised.value
    assert f"{type(error).__module__}.{type(error).__qualname__}" == "indim.ShapeError"
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is indim.ShapeError and copy.code == error.code and str(copy) == str(error)


def test_error_codes_have_pages():
    assert indim.explain_error("size-mismatch").startswith("error[size-mismatch]: Two sizes")
    with pytest.raises(ValueError, match="did you mean `size-mismatch`"):
        indim.explain_error("size-mismach")


def test_a_broken_invariant_is_an_exception_that_says_how_to_report_it(capfd):
    with pytest.raises(indim.InternalError, match="invariant: broken by a test") as raised:
        indim._indim._break_invariant()
    assert isinstance(raised.value, Exception) and not isinstance(raised.value, indim.IndimError)
    assert raised.value.code == "internal-error" and "report it" in str(raised.value)
    if os.environ.get("RUST_BACKTRACE", "0") == "0":
        assert capfd.readouterr().err == ""


BEFORE = r"call it before the call and pass"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("scipy.stats.zscore(x)", r"write \(x - x.mean\(\)\) / x.std\(\), or " + BEFORE),
        ("scipy.stats.norm.pdf(x)", "write indim.scipy.stats.norm.pdf, or " + BEFORE),
        ("scipy.fft.rfft(x)", "write np.fft.rfft, or " + BEFORE),
        ("scipy.integrate.trapezoid(x)", r"write np.trapezoid\(y, x\), or " + BEFORE),
        ("scipy.special.logsumexp(x)", "write indim.scipy.special.logsumexp, or " + BEFORE),
        ("scipy.signal.hilbert(x)", "scipy.signal.hilbert needs .*; " + BEFORE + ".*SCIPY_ARRAY_API is 1$"),
        ("np.polynomial.Polynomial(x)(2.0)", r"polynomial.Polynomial needs .* np.polyval\(coefficients, x\)"),
        ("np.ma.masked_where(x > 1, x)", r"numpy.ma.masked_where .* np.where\(mask, other, x\)"),
        ("np.lib.stride_tricks.as_strided(x, (2,), (8,))", "stride_tricks.as_strided .*sliding_window_view"),
        ("list(np.ndenumerate(x))", r"numpy.ndenumerate .*np.ndindex\(x.shape\)"),
        ("np.random.default_rng(0).permutation(x)", r"write indim.random.permutation\(key, x\), or x"),
        ("max(x)", r"write np.max\(x\) for max\(x\)"),
        ("min(1, x[0])", r"np.minimum\(x, y\) for min\(x, y\)"),
        ("sorted(x)", r"write np.sort\(x\) for sorted\(x\)"),
        ("f'{x[0]:.2f}'", r"a text needs the elements of `x\[0\]`.* format the result of the call"),
    ],
)
def test_functions_that_ask_for_elements_say_what_to_write(function, message):
    names = {"np": np}
    if "scipy" in function:
        module = ".".join(function.split("(")[0].split(".")[:2])
        names["scipy"] = pytest.importorskip("scipy")
        pytest.importorskip(module)
    with pytest.raises(TypeError, match=message):
        indim.jit(eval(f"lambda x: {function}", names))(V)


def test_lists_of_lists_with_traced_values_are_joined():
    def joined(x):
        rows = [[x[0], x[1]], (x[2], 1.0)]
        flat = np.concatenate(rows), np.hstack(rows)
        return np.vstack(rows), np.stack(rows), np.column_stack(rows), np.dstack(rows), *flat

    for found, expected in zip(indim.jit(joined)(V), joined(V), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_meshgrid_of_jax_is_a_list():
    def grids(x):
        return indim.numpy.meshgrid(x, x[:2]) + [x]

    expected = *np.meshgrid(V, V[:2]), V
    for found in (grids(V), indim.jit(grids)(V)):
        assert type(found) is list
        for grid, of_numpy in zip(found, expected, strict=True):
            np.testing.assert_array_equal(grid, of_numpy)


def test_histogramdd_gives_a_list_of_edges():
    counts, edges = indim.jit(lambda x: np.histogramdd([x, x], bins=3))(V)
    expected = np.histogramdd([V, V], bins=3)
    assert type(edges) is type(expected[1])
    np.testing.assert_array_equal(counts, expected[0])


def test_methods_of_compiled_functions_of_jax():
    f = indim.jit(lambda x: x + 1)
    for name, advice in (
        ("lower", r"write f.explain\(x\) .*f.export\('stablehlo', x\)"),
        ("eval_shape", r"write indim.eval_shape\(f, x\)"),
        ("clear_cache", "delete the line"),
    ):
        assert not hasattr(f, name)
        with pytest.raises(AttributeError, match=f"a compiled function has no {name!r}: .*{advice}"):
            getattr(f, name)
    with pytest.raises(AttributeError, match="a compiled function has no 'unknown'$"):
        f.unknown
