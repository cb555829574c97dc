"""Calls of NumPy's functions, ufuncs and methods for `test_numpy_names.py`: one or several for each name.

A call takes the module, NumPy or one of its own names, and arrays of one element type (`arrays`). It returns
an array, or a tuple or list of arrays. Elements are multiples of 1/4, so sums, differences and products of
few elements are exact in every type.
"""

import types
import warnings

import numpy as np

from indim._refused import REFUSED_UFUNCS

DTYPES = ("bool", "int8", "uint8", "int32", "int64", "float32", "float64", "complex64", "complex128")

#: Names whose results NumPy rounds: they are compared within a tolerance.
ROUNDED = {
    *(
        "angle",
        "average",
        "corrcoef",
        "cov",
        "exp",
        "geomspace",
        "gradient",
        "histogram",
        "interp",
        "linspace",
    ),
    *("linalg.lstsq", "linalg.matrix_norm", "linalg.norm", "linalg.vector_norm"),
    *("logspace", "mean", "median", "nanmean"),
    *("nanmedian", "nanpercentile", "nanquantile", "nanstd", "nanvar", "percentile", "polyint", "polyval"),
    *(
        "quantile",
        "sinc",
        "std",
        "unwrap",
        "vander",
        "var",
        "histogram2d",
        "histogramdd",
        "histogram_bin_edges",
        "i0",
        "polyfit",
        "trapezoid",
    ),
    *("hypot.reduce", "logaddexp.reduce", "round", "around", "prod", "cumprod", "nancumprod", "nanprod"),
    *("add.reduceat", "multiply.reduceat"),
    *("multiply.reduce", "multiply.accumulate", "cumulative_prod", "linalg.matrix_power", "linalg.multi_dot"),
    *("linalg.cholesky", "linalg.det", "linalg.inv", "linalg.slogdet", "linalg.solve"),
    "logaddexp.accumulate",
    *("convolve", "correlate", "isclose", "einsum", "linalg.cross"),
    *("fft.fft", "fft.fft2", "fft.fftn", "fft.hfft", "fft.ifft", "fft.ifft2", "fft.ifftn", "fft.ihfft"),
    *("fft.irfft", "fft.irfft2", "fft.irfftn", "fft.rfft", "fft.rfft2", "fft.rfftn"),
}


def arrays(random, dtype):
    """Arrays of an element type, and indices and truth values."""
    dtype = np.dtype(dtype)

    def of(*shape):
        if dtype.kind == "b":
            return random.integers(0, 2, shape).astype(dtype)
        low = 0 if dtype.kind == "u" else -6
        values = random.integers(low, 7, shape)
        if dtype.kind in "fc":
            values = values + random.integers(0, 4, shape) / 4
        if dtype.kind == "c":
            values = values + 1j * random.integers(-8, 8, shape) / 4
        return values.astype(dtype)

    return types.SimpleNamespace(
        **{"x": of(3, 4), "y": of(3, 4), "v": of(4), "w": of(4), "s": of(3, 3), "c": of(2, 3, 4)},
        **{"t": of(5, 3), "u": of(5, 3), "z": of(), "e": of(0), "long": of(9), "dtype": dtype},
        ordered=np.sort(np.unique(random.integers(0, 40, 7))).astype(dtype),
        mask=random.integers(0, 2, (3, 4)).astype(bool),
        i=random.integers(0, 3, (3, 4)),
        j=random.integers(0, 4, 5),
    )


def _flat(counts_and_edges):
    """The counts and edges of a histogram as one tuple."""
    counts, edges = counts_and_edges
    return counts, *edges


def _written(x, write):
    """A copy of an array after ``write(copy)``."""
    x = x.copy()
    write(x)
    return x


def _regular(np, a):
    """A matrix that is far from singular."""
    return a.s + 999 * np.eye(3)


def _definite(np, a):
    """A positive definite matrix."""
    return _regular(np, a) + np.conj(_regular(np, a).T)


def _parts(result):
    """A named tuple as a tuple."""
    return tuple(result) if isinstance(result, tuple) else result


def _each(*names, call):
    """The same call for several names."""
    return {name: [lambda np, a, name=name: call(_named(np, name), a)] for name in names}


def _named(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


#: Names that refuse element types which NumPy takes, by the kind or name of the type. Complex numbers have
#: no order in indim, and a mask has a number of elements that depends on data.
REFUSED_TYPES = {
    "c": {
        *(
            "amax",
            "amin",
            "argmax",
            "argmin",
            "clip",
            "fmax",
            "fmax.reduce",
            "fmin",
            "fmin.reduce",
            "geomspace",
        ),
        *(
            "greater",
            "greater_equal",
            "histogram",
            "histogram2d",
            "histogramdd",
            "histogram_bin_edges",
            "less",
            "less.outer",
            "less_equal",
        ),
        *("max", "maximum", "maximum.accumulate", "maximum.outer", "maximum.reduce", "min", "minimum"),
        *("maximum.reduceat", "minimum.reduceat"),
        *("minimum.accumulate", "minimum.reduce", "nanargmax", "nanargmin", "nanmax", "nanmedian", "nanmin"),
        "ptp",
    },
    "b": {"ix_"},
}

#: Names whose results differ from NumPy's, as `docs/numpy-differences.md` says.
DIFFERENT = {"bitwise_count"}

#: Functions of `numpy`, `numpy.fft` and `numpy.linalg` by name.
FUNCTIONS = {
    **_each(
        *("fft.fft", "fft.ifft", "fft.irfft", "fft.hfft"),
        call=lambda f, a: (f(a.c), f(a.c, 3, 0, "ortho"), f(a.x, n=9, norm="forward")),
    ),
    **_each(
        *("fft.rfft", "fft.ihfft"),
        call=lambda f, a: (f(a.c.real), f(a.c.real, 3, 0, "ortho"), f(a.x.real, n=9, norm="forward")),
    ),
    **_each(
        *("fft.fft2", "fft.ifft2", "fft.fftn", "fft.ifftn", "fft.irfft2", "fft.irfftn"),
        call=lambda f, a: (f(a.c), f(a.c, (5, 3), (0, 1), "ortho"), f(a.c, s=(-1, 6), axes=(2, 0))),
    ),
    **_each(
        *("fft.rfft2", "fft.rfftn"),
        call=lambda f, a: (f(a.c.real), f(a.c.real, (5, 3), (0, 1)), f(a.c.real, s=(-1, 6), axes=(2, 0))),
    ),
    **_each(
        *("fft.fftshift", "fft.ifftshift"), call=lambda f, a: (f(a.c), f(a.c, 1), f(a.c, axes=(0, -1)))
    ),
    **_each(
        *("all", "any", "argmax", "argmin", "count_nonzero", "max", "min", "amax", "amin", "mean", "median"),
        *(
            "nanargmax",
            "nanargmin",
            "nanmax",
            "nanmean",
            "nanmedian",
            "nanmin",
            "nanprod",
            "nanstd",
            "nansum",
        ),
        *("nanvar", "prod", "ptp", "std", "sum", "var"),
        call=lambda f, a: (f(a.x), f(a.x, axis=0), f(a.c, axis=1)),
    ),
    **_each(*("cumprod", "cumsum", "nancumprod", "nancumsum"), call=lambda f, a: (f(a.x), f(a.x, axis=1))),
    **_each(
        *("cumulative_prod", "cumulative_sum"),
        call=lambda f, a: (f(a.v), f(a.x, axis=1, include_initial=True)),
    ),
    **_each(*("percentile", "nanpercentile"), call=lambda f, a: (f(a.x, 30), f(a.x, [0, 25, 90], axis=1))),
    **_each(*("quantile", "nanquantile"), call=lambda f, a: (f(a.x, 0.3), f(a.x, [0, 0.25, 0.9], axis=1))),
    **_each(
        *("imag", "isposinf", "isneginf", "iscomplex", "isreal", "real", "fix", "nan_to_num", "sinc", "copy"),
        call=lambda f, a: f(a.x),
    ),
    **_each(*("iscomplexobj", "isrealobj", "ndim", "size"), call=lambda f, a: np.asarray(f(a.x))),
    **_each(*("atleast_1d", "atleast_2d", "atleast_3d"), call=lambda f, a: (f(a.x), f(a.z), f(a.v))),
    **_each(*("fliplr", "flipud", "matrix_transpose", "linalg.matrix_transpose"), call=lambda f, a: f(a.c)),
    **_each(*("transpose", "permute_dims"), call=lambda f, a: (f(a.x), f(a.c, (1, 2, 0)))),
    **_each(*("around", "round"), call=lambda f, a: (f(a.x), f(a.x, 1))),
    **_each(
        *("zeros_like", "ones_like"), call=lambda f, a: (f(a.x), f(a.x, dtype="f4"), f(a.x, shape=(2, 5)))
    ),
    **_each(
        *("concatenate", "concat"),
        call=lambda f, a: (f([a.x, a.y]), f([a.x, a.y], axis=1), f((a.x, a.v), axis=None)),
    ),
    **_each(
        *("hstack", "vstack", "dstack", "column_stack"), call=lambda f, a: (f([a.x, a.y]), f((a.v, a.w)))
    ),
    **_each(
        *("convolve", "correlate"),
        call=lambda f, a: tuple(
            f(*pair, mode) for mode in ("full", "same", "valid") for pair in ((a.long, a.v), (a.v, a.long))
        ),
    ),
    **_each(*("polyadd", "polysub"), call=lambda f, a: (f(a.long, a.v), f(a.v, a.long), f(a.v, a.w))),
    **_each(*("tril", "triu"), call=lambda f, a: (f(a.x), f(a.c, 1), f(a.x, -1), f(a.v))),
    **_each(*("diag_indices_from", "tril_indices_from", "triu_indices_from"), call=lambda f, a: f(a.s)),
    **_each(
        *("split", "array_split"),
        call=lambda f, a: (*f(a.x, 2, axis=1), *f(a.x, [1, 3], 1), *f(a.long, [2, 1, -2, 20])),
    ),
    **_each(*("inner", "vdot", "dot"), call=lambda f, a: f(a.v, a.w)),
    **_each(*("outer", "linalg.outer"), call=lambda f, a: f(a.v, a.w)),
    **_each(
        *("tensordot", "linalg.tensordot"), call=lambda f, a: (f(a.x, a.y), f(a.x, a.y, axes=([0], [0])))
    ),
    **_each("cross", "linalg.cross", call=lambda f, a: (f(a.t, a.u), f(a.t.T, a.u.T, axis=0))),
    "allclose": [lambda np, a: np.allclose(a.x, a.y), lambda np, a: np.allclose(a.x, a.x)],
    "angle": [lambda np, a: np.angle(a.x), lambda np, a: np.angle(a.x, deg=True)],
    "append": [
        lambda np, a: np.append(a.x, a.y),
        lambda np, a: np.append(a.x, a.y, axis=1),
        lambda np, a: np.append(a.v, 2),
    ],
    "apply_along_axis": [
        lambda np, a: np.apply_along_axis(lambda row: row[1:] - row[0], 1, a.x),
        lambda np, a: np.apply_along_axis(np.sort, 0, a.x),
        lambda np, a: np.apply_along_axis(lambda row, k: row[::k] * 2, 1, a.c, 2),
        lambda np, a: np.apply_along_axis(lambda row: row[:, None] * row[:2], axis=-1, arr=a.c),
        lambda np, a: np.apply_along_axis(lambda row: [row[0], row.sum()], 1, a.c),
        lambda np, a: np.apply_along_axis(np.cumsum, 0, a.v),
    ],
    "apply_over_axes": [lambda np, a: np.apply_over_axes(np.sum, a.c, [0, 2])],
    "argpartition": [lambda np, a: np.take_along_axis(a.x, np.argpartition(a.x, 1), -1)[:, 1]],
    "argsort": [
        lambda np, a: np.argsort(a.x, kind="stable"),
        lambda np, a: np.argsort(a.x, None, kind="stable"),
    ],
    "array_equal": [
        lambda np, a: np.array_equal(a.x, a.y),
        lambda np, a: np.array_equal(a.x, a.x),
        lambda np, a: np.array_equal(a.x, a.v),
    ],
    "array_equiv": [lambda np, a: np.array_equiv(a.x, a.v), lambda np, a: np.array_equiv(a.x, a.w[:3])],
    "astype": [lambda np, a: np.astype(a.x, "c16")],
    "average": [
        lambda np, a: np.average(a.x),
        lambda np, a: np.average(a.x, axis=1, weights=a.ordered[1:2] + a.ordered[1:2] * a.mask[0]),
        lambda np, a: np.average(a.x, axis=1, weights=np.arange(1, 5), returned=True),
        lambda np, a: np.average(a.c, axis=(0, 2), weights=np.arange(1, 9).reshape(2, 4), keepdims=True),
    ],
    "bincount": [
        lambda np, a: np.bincount(a.j, minlength=6),
        lambda np, a: np.bincount(a.j, a.t[:, 0].real, 4),
    ],
    "block": [lambda np, a: np.block([[a.x, a.y], [a.y, a.x]]), lambda np, a: np.block([a.v, a.z, 2])],
    "broadcast_arrays": [lambda np, a: np.broadcast_arrays(a.x, a.v, 1)],
    "broadcast_to": [lambda np, a: np.broadcast_to(a.v, (3, 4))],
    "choose": [
        lambda np, a: np.choose(a.i, [a.x, a.y, 5]),
        lambda np, a: np.choose(a.i - 1, [a.x, a.v], mode="wrap"),
        lambda np, a: np.choose(a.i - 1, [a.x, a.v], mode="clip"),
    ],
    "clip": [lambda np, a: np.clip(a.x, 1, 3), lambda np, a: np.clip(a.x, a.v, None)],
    "common_type": [lambda np, a: np.zeros(2, np.common_type(a.x, a.y))],
    "compress": [
        lambda np, a: np.compress([True, False, True], a.x, axis=0),
        lambda np, a: np.compress([0, 1, 1], a.x),
    ],
    "copyto": [
        lambda np, a: _written(a.x, lambda x: np.copyto(x, a.y, where=a.mask)),
        lambda np, a: _written(a.x, lambda x: np.copyto(x, a.v)),
    ],
    "corrcoef": [lambda np, a: np.corrcoef(a.x), lambda np, a: np.corrcoef(a.v, a.w)],
    "cov": [
        lambda np, a: np.cov(a.x),
        lambda np, a: np.cov(a.x, a.y, rowvar=False, bias=True),
        lambda np, a: np.cov(a.v),
        lambda np, a: np.cov(a.x, fweights=[1, 2, 3, 0], aweights=[0.5, 1, 2, 1]),
        lambda np, a: np.cov(a.x, aweights=[0.5, 1, 2, 1], ddof=0),
        lambda np, a: np.cov(a.x, fweights=[2, 2, 1, 1]),
    ],
    "delete": [
        lambda np, a: np.delete(a.x, 1),
        lambda np, a: np.delete(a.x, [0, -1], axis=1),
        lambda np, a: np.delete(a.x, slice(0, 2), axis=0),
        lambda np, a: np.delete(a.v, [True, False, False, True]),
    ],
    "diag": [lambda np, a: (np.diag(a.v), np.diag(a.v, 2), np.diag(a.v, -1), np.diag(a.x, 1), np.diag(a.x))],
    "diagflat": [lambda np, a: np.diagflat(a.x, 1)],
    "diagonal": [lambda np, a: np.diagonal(a.x), lambda np, a: np.diagonal(a.c, 1, 1, 2)],
    "diff": [lambda np, a: np.diff(a.x), lambda np, a: np.diff(a.x, 2, 0, prepend=a.v[None])],
    "digitize": [lambda np, a: np.digitize(a.x, a.ordered), lambda np, a: np.digitize(a.x, a.ordered, True)],
    "dsplit": [lambda np, a: np.dsplit(a.c, 2)],
    "ediff1d": [
        lambda np, a: np.ediff1d(a.x),
        lambda np, a: np.ediff1d(a.x, to_begin=a.v[:2], to_end=a.z),
    ],
    "einsum": [lambda np, a: np.einsum("ij,kj->ik", a.x, a.y)],
    "einsum_path": [lambda np, a: np.ones(len(np.einsum_path("ij,kj->ik", a.x, a.y)[0]))],
    "empty_like": [
        lambda np, a: np.empty_like(a.x) * 0 + 1,
        lambda np, a: np.empty_like(a.x, "f4", shape=3) * 0,
    ],
    "expand_dims": [lambda np, a: np.expand_dims(a.x, (0, 2))],
    **_each("nonzero", "flatnonzero", "argwhere", call=lambda f, a: f(a.x)),
    "extract": [
        lambda np, a: np.extract([[True, False, True, False]] * 3, a.x),
        lambda np, a: np.extract(a.mask, a.x),
    ],
    "unique": [lambda np, a: np.unique(a.x), lambda np, a: np.unique(a.long, True, True, True)],
    **_each("unique_all", "unique_counts", "unique_inverse", call=lambda f, a: tuple(f(a.x))),
    "unique_values": [lambda np, a: np.sort(np.unique_values(a.x))],
    **_each("union1d", "intersect1d", "setdiff1d", "setxor1d", call=lambda f, a: f(a.x, a.y)),
    "fill_diagonal": [
        lambda np, a: _written(a.x, lambda x: np.fill_diagonal(x, 1)),
        lambda np, a: _written(a.s, lambda x: np.fill_diagonal(x, a.v[:2])),
    ],
    "flip": [lambda np, a: (np.flip(a.x), np.flip(a.x, 0))],
    "full_like": [
        lambda np, a: (np.full_like(a.x, 1), np.full_like(a.x, a.z), np.full_like(a.x, a.v)),
        lambda np, a: np.full_like(a.x, [1, 0, 1, 0], dtype="f8"),
        lambda np, a: np.full_like(a.x, 1, shape=(2, 2)),
    ],
    "geomspace": [
        lambda np, a: np.geomspace(a.v * a.v + 1, 1000, 5),
        lambda np, a: np.geomspace(-1 - a.z * a.z, -8, 4, False),
    ],
    "gradient": [
        lambda np, a: np.gradient(a.x),
        lambda np, a: np.gradient(a.x, 0.5, axis=1),
        lambda np, a: np.gradient(a.long, edge_order=2),
        lambda np, a: np.gradient(a.long, [0, 1, 3, 4, 6, 9, 10, 12, 15]),
        lambda np, a: np.gradient(a.long, [0, 1, 3, 4, 6, 9, 10, 12, 15], edge_order=2),
        lambda np, a: np.gradient(a.x, 2, [0, 1, 3, 7]),
    ],
    "histogram": [
        lambda np, a: np.histogram(a.x, 5),
        lambda np, a: np.histogram(a.x, 4, (-2, 3)),
        lambda np, a: np.histogram(a.x, [-4, -1, 0, 2, 5]),
        lambda np, a: np.histogram(a.x, [-4, -1, 0, 2, 5], weights=a.y),
        lambda np, a: np.histogram(a.x, 4, (0, 3), density=True),
    ],
    "histogram2d": [
        lambda np, a: np.histogram2d(a.v, a.w, 3),
        lambda np, a: np.histogram2d(a.long, a.long[::-1], [4, [0, 1, 3]], weights=np.arange(9)),
        lambda np, a: np.histogram2d(a.long, a.long[::-1], [-3, 0, 1, 3]),
        lambda np, a: np.histogram2d(a.long, a.long[::-1], 2, [[0, 2], [0, 4]], density=True),
    ],
    "histogramdd": [
        lambda np, a: _flat(np.histogramdd(a.c.reshape(8, 3), 2)),
        lambda np, a: _flat(np.histogramdd([a.long, a.long[::-1]], [3, [0, 1, 3]], weights=np.arange(9))),
        lambda np, a: _flat(np.histogramdd(a.t, 3, [(0, 2), (-1, 3), None], density=True)),
        lambda np, a: _flat(np.histogramdd(a.long, 4, density=True)),
    ],
    "i0": [lambda np, a: np.i0(a.x), lambda np, a: np.i0(a.x * a.dtype.type(7))],
    "histogram_bin_edges": [
        lambda np, a: np.histogram_bin_edges(a.x, 5),
        lambda np, a: np.histogram_bin_edges(a.x, a.ordered),
    ],
    "hsplit": [lambda np, a: np.hsplit(a.x, 2), lambda np, a: np.hsplit(a.long, [3])],
    "insert": [
        lambda np, a: np.insert(a.x, 1, a.v, axis=0),
        lambda np, a: np.insert(a.x, [1, 3], 5, axis=1),
        lambda np, a: np.insert(a.x, 2, 5),
        lambda np, a: np.insert(a.v, [0, 4, 1], a.w[:3]),
        lambda np, a: np.insert(a.x, [2], a.y, axis=0),
        lambda np, a: np.insert(a.x, slice(0, 3, 2), 1, axis=0),
        lambda np, a: np.insert(a.x, 1, a.t[:3, 0], axis=1),
    ],
    "interp": [
        lambda np, a: np.interp(a.x, [0, 2, 5], [1.0, 7, 2]),
        lambda np, a: np.interp(a.v, [0, 2, 5], [1.0, 7, 2], left=-1, right=9),
        lambda np, a: np.interp(a.v, [0.0, 2, 5], [1.0, 7, 2], period=4),
    ],
    "isclose": [lambda np, a: np.isclose(a.x, a.y)],
    "isin": [
        lambda np, a: np.isin(a.x, a.v),
        lambda np, a: np.isin(a.x, [1, 2, 3], invert=True),
        lambda np, a: np.isin(a.x, []),
    ],
    "ix_": [lambda np, a: np.ix_(a.ordered, a.ordered)],
    "kron": [lambda np, a: (np.kron(a.x, a.s), np.kron(a.v, a.x), np.kron(a.c, a.v), np.kron(a.z, a.x))],
    "lexsort": [lambda np, a: np.lexsort((a.v, a.w))],
    "linalg.diagonal": [lambda np, a: np.linalg.diagonal(a.c, offset=1)],
    "linalg.matmul": [lambda np, a: np.linalg.matmul(a.x, a.y.T)],
    "linalg.lstsq": [
        lambda np, a: np.linalg.lstsq([[0.0, 1], [1, 1], [3, 1]], a.x)[:2],
        lambda np, a: np.linalg.lstsq([[1.0, 2], [2, 4], [3, 6], [1, 2]], a.v)[:2],
        lambda np, a: np.linalg.lstsq([[1.0, 2, 1, 0], [2, 5, 0, 1], [3, 6, 1, 1]], a.x)[0],
    ],
    "linalg.matrix_norm": [
        lambda np, a: (np.linalg.matrix_norm(a.x), np.linalg.matrix_norm(a.c, ord=1, keepdims=True)),
    ],
    "linalg.matrix_power": [lambda np, a: [np.linalg.matrix_power(a.s, n) for n in (0, 1, 2, 3)]],
    "linalg.inv": [lambda np, a: np.linalg.inv(_regular(np, a))],
    "linalg.solve": [lambda np, a: [np.linalg.solve(_regular(np, a), b) for b in (a.s, a.s[0])]],
    "linalg.det": [lambda np, a: np.linalg.det(_regular(np, a))],
    "linalg.slogdet": [lambda np, a: tuple(np.linalg.slogdet(_regular(np, a)))],
    **_each(
        *("linalg.cond", "linalg.eigvalsh", "linalg.matrix_rank", "linalg.pinv", "linalg.svdvals"),
        *("linalg.eig", "linalg.eigh", "linalg.eigvals", "linalg.qr", "linalg.svd"),
        call=lambda function, a: _parts(function(_definite(np, a))),
    ),
    "linalg.tensorinv": [lambda np, a: np.linalg.tensorinv(_regular(np, a), ind=1)],
    "linalg.tensorsolve": [lambda np, a: np.linalg.tensorsolve(_regular(np, a), a.s[0])],
    "roots": [lambda np, a: np.roots(_regular(np, a)[0])],
    "linalg.cholesky": [lambda np, a: np.linalg.cholesky(_definite(np, a))],
    "linalg.multi_dot": [
        lambda np, a: np.linalg.multi_dot([a.x, a.y.T, a.s]),
        lambda np, a: np.linalg.multi_dot([a.v, a.y.T, a.s[0]]),
    ],
    "linalg.norm": [
        lambda np, a: (np.linalg.norm(a.x), np.linalg.norm(a.x, axis=0), np.linalg.norm(a.v, 1)),
        lambda np, a: [np.linalg.norm(a.v, order) for order in (np.inf, -np.inf, 0, 2, 3, 1.5)],
        lambda np, a: [
            np.linalg.norm(a.x, order, keepdims=True) for order in (1, -1, np.inf, -np.inf, "fro")
        ],
        lambda np, a: np.linalg.norm(a.c, 1, axis=(2, 0)),
        lambda np, a: [np.linalg.norm(_definite(np, a), order) for order in (2, -2, "nuc")],
        lambda np, a: np.linalg.norm(a.c, axis=(2, 0), keepdims=True),
    ],
    "linalg.trace": [lambda np, a: np.linalg.trace(a.c, offset=1)],
    "linalg.vecdot": [lambda np, a: np.linalg.vecdot(a.x, a.y)],
    "linalg.vector_norm": [
        lambda np, a: (np.linalg.vector_norm(a.c), np.linalg.vector_norm(a.c, axis=(0, 2), keepdims=True)),
        lambda np, a: np.linalg.vector_norm(a.c, axis=1, ord=3),
    ],
    "linspace": [
        lambda np, a: np.linspace(a.v, a.w, 5),
        lambda np, a: np.linspace(a.z, 9, 7, endpoint=False, retstep=True),
        lambda np, a: np.linspace(a.v, a.v, 3, axis=1),
        lambda np, a: np.linspace(0, a.z, 6, dtype=int),
        lambda np, a: np.linspace(a.z, 9, 1),
    ],
    "logspace": [
        lambda np, a: np.logspace(a.v, 2, 5),
        lambda np, a: np.logspace(a.z, 3, 4, base=2.0, endpoint=False),
    ],
    "meshgrid": [
        lambda np, a: np.meshgrid(a.v, a.long),
        lambda np, a: np.meshgrid(a.v, a.long, indexing="ij", sparse=True),
        lambda np, a: np.meshgrid(a.v, a.w, a.long),
    ],
    "moveaxis": [lambda np, a: np.moveaxis(a.c, 0, -1)],
    "packbits": [
        lambda np, a: (np.packbits(a.x), np.packbits(a.x, axis=0), np.packbits(a.x, 1, bitorder="little")),
    ],
    "pad": [lambda np, a: np.pad(a.x, 1), lambda np, a: np.pad(a.x, ((0, 1), (2, 0)), mode="edge")],
    "partition": [lambda np, a: np.partition(a.x, 1)[:, 1]],
    "piecewise": [
        lambda np, a: np.piecewise(a.x, [a.x == 0, a.x == 1], [3, lambda x: x * 2, lambda x: x * x]),
        lambda np, a: np.piecewise(a.v, a.mask[0], [1]),
    ],
    "place": [lambda np, a: _written(a.x, lambda x: np.place(x, a.mask, a.v[:3]))],
    "put": [lambda np, a: _written(a.x, lambda x: np.put(x, [1, -1, 5], a.v[:2]))],
    "put_along_axis": [
        lambda np, a: _written(a.x, lambda x: np.put_along_axis(x, a.i[:1], a.y[:1], 0)),
        lambda np, a: _written(a.x, lambda x: np.put_along_axis(x, np.array([[3], [0], [1]]), 1, 1)),
    ],
    "putmask": [lambda np, a: _written(a.x, lambda x: np.putmask(x, a.mask, a.v[:3]))],
    "poly": [lambda np, a: np.poly(a.v[:3].real), lambda np, a: np.poly(a.v[:0].real)],
    "polydiv": [lambda np, a: np.polydiv(a.v, [2, 1]), lambda np, a: np.polydiv(a.v[:1], a.v + 1j)],
    "polymul": [lambda np, a: np.polymul(a.v, a.v[:2]), lambda np, a: np.polymul([0, 1], a.v)],
    "polyder": [lambda np, a: np.polyder(a.v), lambda np, a: np.polyder(a.long, 3)],
    "polyfit": [
        lambda np, a: np.polyfit([0.0, 1.0, 2.0, 4.0], a.v, 2),
        lambda np, a: np.polyfit([0, 1, 2], a.x, 1),
        lambda np, a: np.polyfit([0, 1, 3], a.x, 1, w=[1, 2, 0.5]),
    ],
    "polyint": [lambda np, a: np.polyint(a.v), lambda np, a: np.polyint(a.v, 2, [1, 2])],
    "polyval": [lambda np, a: np.polyval([1, 2, 0.5], a.x), lambda np, a: np.polyval(a.v, a.x)],
    "ravel_multi_index": [
        lambda np, a: np.ravel_multi_index((a.i, a.i[::-1]), (3, 4)),
        lambda np, a: np.ravel_multi_index((a.i, a.i * 3, a.i), (3, 4, 2), mode=("raise", "wrap", "clip")),
        lambda np, a: np.ravel_multi_index((a.i, a.i[::-1]), (3, 4), order="F"),
    ],
    "ravel": [lambda np, a: (np.ravel(a.x), np.ravel(a.x, "F"))],
    "repeat": [lambda np, a: np.repeat(a.x, 2), lambda np, a: np.repeat(a.x, [1, 0, 2], axis=0)],
    "reshape": [lambda np, a: np.reshape(a.x, (2, -1))],
    "resize": [
        lambda np, a: np.resize(a.x, (5, 4)),
        lambda np, a: np.resize(a.x, 3),
        lambda np, a: np.resize(a.e, 3),
    ],
    "result_type": [lambda np, a: np.zeros(1, np.result_type(a.x, np.float32))],
    "roll": [lambda np, a: (np.roll(a.x, 2), np.roll(a.x, (1, -1), (0, 1)))],
    "rollaxis": [lambda np, a: np.rollaxis(a.c, 2)],
    "rot90": [lambda np, a: [np.rot90(a.c, k, (1, 2)) for k in (-1, 0, 1, 2, 3)]],
    "searchsorted": [
        lambda np, a: np.searchsorted(a.ordered, a.x),
        lambda np, a: np.searchsorted(a.ordered, a.x, "right"),
    ],
    "select": [lambda np, a: np.select([a.mask, a.x == 1], [a.x, a.y], 3)],
    "shape": [lambda np, a: np.asarray(np.shape(a.x))],
    "sort": [lambda np, a: (np.sort(a.x), np.sort(a.x, 0), np.sort(a.x, None))],
    "sort_complex": [lambda np, a: np.sort_complex(a.v)],
    "squeeze": [lambda np, a: np.squeeze(a.x[None])],
    "stack": [lambda np, a: np.stack([a.x, a.y], axis=1)],
    "swapaxes": [lambda np, a: np.swapaxes(a.c, 0, 2)],
    "take": [lambda np, a: (np.take(a.x, a.j), np.take(a.x, a.j, axis=1), np.take(a.x, [9], 1, mode="clip"))],
    "take_along_axis": [lambda np, a: np.take_along_axis(a.x, a.i, 0)],
    "tile": [lambda np, a: np.tile(a.x, (2, 1, 2))],
    "trace": [lambda np, a: np.trace(a.x), lambda np, a: np.trace(a.c, 1, 0, 2)],
    "trim_zeros": [lambda np, a: np.trim_zeros(a.v), lambda np, a: np.trim_zeros(a.v * 0, "f")],
    "trapezoid": [
        lambda np, a: np.trapezoid(a.x),
        lambda np, a: np.trapezoid(a.x, [0, 1, 3, 4.5]),
        lambda np, a: np.trapezoid(a.x, dx=0.5, axis=0),
        lambda np, a: np.trapezoid(a.x, a.y),
    ],
    "unpackbits": [
        lambda np, a: (np.unpackbits(a.x), np.unpackbits(a.x, axis=1), np.unpackbits(a.x, 0, 20)),
        lambda np, a: (np.unpackbits(a.x, 1, -3, "little"), np.unpackbits(a.v, count=40)),
    ],
    "unstack": [lambda np, a: np.unstack(a.x), lambda np, a: np.unstack(a.c, axis=1)],
    "unravel_index": [
        lambda np, a: np.unravel_index(a.i * 5, (3, 2, 2)),
        lambda np, a: np.unravel_index(a.j, 7),
        lambda np, a: np.unravel_index(a.i * 5, (3, 2, 2), order="F"),
    ],
    "unwrap": [
        lambda np, a: np.unwrap(a.long),
        lambda np, a: np.unwrap(a.x, axis=0, period=4),
        lambda np, a: np.unwrap(a.x, 2.5, period=5),
    ],
    "vander": [
        lambda np, a: np.vander(a.v),
        lambda np, a: np.vander(a.v, 3, increasing=True),
        lambda np, a: np.vander(a.v, 0),
    ],
    "vsplit": [lambda np, a: np.vsplit(a.x, [1])],
    "where": [lambda np, a: np.where(a.mask, a.x, 1), lambda np, a: np.where(a.x)],
}


#: Ufuncs that round their results for real numbers too; for complex numbers all do.
ROUNDED_UFUNCS = {
    *("acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin"),
    *("asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "deg2rad", "degrees", "exp", "exp2", "expm1"),
    *("float_power", "hypot", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "pow", "power"),
    *("rad2deg", "radians", "sin", "sinh", "tan", "tanh", "arctan2.outer"),
}


def _ufunc(name):
    """A call of a ufunc on arrays in whose elements it is defined."""
    count, signature = _named(np, name).nin, _named(np, name).signature

    def call(np, a):
        if signature is not None:
            operands = {"matmul": (a.x, a.y.T), "matvec": (a.x, a.v), "vecmat": (a.v, a.y.T)}
            return _named(np, name)(*operands.get(name, (a.x, a.y)))
        return _named(np, name)(*_operands_of(name, a)[:count])

    return call


def _operands_of(name, a):
    """Operands of a ufunc; shifts and powers take small numbers, and quotients no zeros."""
    if name == "reciprocal":
        return (a.y * a.y + a.y.dtype.type(1),)
    if name in ("left_shift", "right_shift", "bitwise_left_shift", "bitwise_right_shift", "ldexp"):
        return a.x, a.i
    if name in ("power", "pow", "float_power"):
        return a.x, a.y * a.y
    if name in ("divide", "true_divide", "floor_divide", "mod", "remainder", "fmod", "divmod"):
        return a.x, a.y * a.y + a.y.dtype.type(1)
    return a.x, a.y


def ufuncs():
    """Calls of every ufunc of `numpy`."""
    names = [name for name in sorted(np.__all__) if isinstance(getattr(np, name), np.ufunc)]
    names = [name for name in names if name not in {*REFUSED_UFUNCS, *DIFFERENT}]
    return {name: [_ufunc(name)] for name in names}


#: Methods of ufuncs.
UFUNC_METHODS = {
    **_each(
        *(
            f"{name}.reduce"
            for name in (
                "add",
                "multiply",
                "maximum",
                "minimum",
                "fmax",
                "fmin",
                "logical_and",
                "logical_or",
                "logaddexp",
                "hypot",
            )
        ),
        call=lambda f, a: (f(a.x), f(a.c, axis=1, keepdims=True), f(a.v, axis=None)),
    ),
    **_each(
        *(f"bitwise_{name}.reduce" for name in ("and", "or", "xor")),
        call=lambda f, a: (f(a.x), f(a.c, axis=(0, 2), keepdims=True), f(a.v, axis=None), f(a.long), f(a.e)),
    ),
    **_each(
        *(
            f"{name}.reduceat"
            for name in ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or")
        ),
        call=lambda f, a: (f(a.x, [0, 2, 1]), f(a.x, [0, 1, 3], axis=1), f(a.long, [2, 2, 0, 8, 4])),
    ),
    **_each(
        *(
            f"{name}.accumulate"
            for name in ("add", "logaddexp", "multiply", "maximum", "minimum", "logical_and", "logical_or")
        ),
        call=lambda f, a: (f(a.x), f(a.x, axis=1)),
    ),
    **_each(
        *(f"{name}.outer" for name in ("add", "multiply", "subtract", "maximum", "less", "arctan2")),
        call=lambda f, a: (f(a.x, a.v), f(a.v, [1, 2]), f([1, 2], a.v)),
    ),
}

#: Methods and attributes of arrays.
METHODS = {
    "T": lambda a: a.x.T,
    "all": lambda a: (a.x.all(), a.x.all(axis=1)),
    "any": lambda a: (a.x.any(), a.x.any(0)),
    "argmax": lambda a: (a.x.argmax(), a.x.argmax(1)),
    "argmin": lambda a: (a.x.argmin(), a.x.argmin(1)),
    "argpartition": lambda a: np.take_along_axis(a.x, a.x.argpartition(1), -1)[:, 1],
    "argsort": lambda a: a.x.argsort(kind="stable"),
    "astype": lambda a: a.x.astype("c16"),
    "choose": lambda a: a.i.choose([a.x, a.y, 5]),
    "clip": lambda a: a.x.clip(1, 3),
    "compress": lambda a: a.x.compress([True, False, True], axis=0),
    "conj": lambda a: a.x.conj(),
    "conjugate": lambda a: a.x.conjugate(),
    "copy": lambda a: a.x.copy(),
    "cumprod": lambda a: a.x.cumprod(axis=1),
    "cumsum": lambda a: (a.x.cumsum(), a.x.cumsum(1)),
    "device": lambda a: a.x if a.x.device == "cpu" else None,
    "diagonal": lambda a: (a.x.diagonal(), a.c.diagonal(1, 1, 2)),
    "dot": lambda a: a.x.dot(a.y.T),
    "dtype": lambda a: np.zeros(1, a.x.dtype),
    "fill": lambda a: _written(a.x, lambda x: x.fill(1)),
    "flat": lambda a: (a.x.flat[1:7], a.x.flat[-1], _written(a.x, lambda x: x.flat.__setitem__([0, 5], 1))),
    "flatten": lambda a: a.x.flatten(),
    "imag": lambda a: a.x.imag,
    "itemsize": lambda a: np.asarray(a.x.itemsize),
    "mT": lambda a: a.c.mT,
    "max": lambda a: (a.x.max(), a.x.max(0)),
    "mean": lambda a: (a.x.mean(), a.x.mean(0)),
    "min": lambda a: (a.x.min(), a.x.min(0)),
    "nbytes": lambda a: np.asarray(a.x.nbytes),
    "ndim": lambda a: np.asarray(a.x.ndim),
    "nonzero": lambda a: a.x.nonzero(),
    "partition": lambda a: _written(a.x, lambda x: x.partition(1))[:, 1],
    "prod": lambda a: a.v.prod(),
    "put": lambda a: _written(a.x, lambda x: x.put([1, 1, 3], a.v[:3])),
    "ravel": lambda a: a.x.ravel(),
    "real": lambda a: a.x.real,
    "repeat": lambda a: a.x.repeat(2, axis=1),
    "reshape": lambda a: a.x.reshape(2, 6),
    "round": lambda a: a.x.round(1),
    "searchsorted": lambda a: a.ordered.searchsorted(a.x),
    "shape": lambda a: np.asarray(a.x.shape),
    "size": lambda a: np.asarray(a.x.size),
    "sort": lambda a: _written(a.x, lambda x: x.sort(axis=0)),
    "squeeze": lambda a: a.x[None].squeeze(0),
    "std": lambda a: (a.x.std(), a.x.std(0, ddof=1)),
    "sum": lambda a: (a.x.sum(), a.x.sum(0)),
    "swapaxes": lambda a: a.c.swapaxes(0, 2),
    "take": lambda a: a.x.take(a.j, axis=1),
    "to_device": lambda a: a.x.to_device("cpu"),
    "trace": lambda a: (a.x.trace(), a.c.trace(1, 0, 2)),
    "transpose": lambda a: a.c.transpose(1, 2, 0),
    "var": lambda a: (a.x.var(), a.x.var(0, ddof=1)),
}


def is_rounded(name, kind):
    """Whether NumPy rounds the results of this name, of arrays of this kind of type."""
    is_ufunc = isinstance(getattr(np, name, None), np.ufunc)
    return name in {*ROUNDED, *ROUNDED_UFUNCS} or (is_ufunc and kind == "c")


def quietly(call, *arguments):
    """The result of a call without NumPy's warnings, as a tuple of arrays."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = call(*arguments)
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)
