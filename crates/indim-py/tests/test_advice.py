"""Advice for what is refused in a compiled function: its names exist, its code runs, errors have it."""

import ast
import builtins
import decimal
import fractions
import importlib.util
import inspect
import json
import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import indim
from indim import _library_advice, _member_advice, _refused, _scipy_advice
from indim._tracing import Tracer

X = np.array([0.5, 0.25, 0.75, 0.125])
PACKAGE = Path(indim.__file__).parent


def message(function, *arguments, error=(TypeError, AttributeError)):
    with pytest.raises(error) as raised:
        indim.jit(function)(*arguments or (X,))
    return str(raised.value)


# The names in advice.


def _texts():
    """The texts in the code of the package that are no documentation, with their files."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        documented = [node for node in ast.walk(tree) if isinstance(node, ast.Expr)]
        documentation = {id(node.value) for node in documented}
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if is_text and id(node) not in documentation:
                yield path.name, node.value


#: A name of indim or NumPy in a text; a name that ends in a dot is completed when the message is made.
NAME = re.compile(r"(?<![\w./`'])(indim|np|numpy)((?:\.[A-Za-z]\w*)+)(?![\w{]|\.?\{)")

#: Names that NumPy had, and those of its file formats and parts that are imported when they are used.
OTHER_NAMES = {"numpy.lib.scimath", "indim.egg"}


def test_each_name_in_a_text_of_the_package_exists():
    found, missing = 0, []
    for file, text in _texts():
        for package, names in NAME.findall(text):
            value = indim if package == "indim" else np
            found += 1
            for name in names[1:].split("."):
                value = getattr(value, name, None)
            if value is None:
                missing.append((file, package + names))
    assert found > 300
    assert not missing


#: Values of the names in advised code.
NAMES = {
    **{"np": np, "indim": indim, "math": math},
    **{"n": 2, "i": 1, "j": 3, "axis": 0, "value": 2.0, "other": 0.0, "old": 0.5, "new": 3.0, "q": 0.5},
    **{"low": 0.2, "high": 0.6, "alpha": 0.3, "eps": 1e-5, "shape": (4,), "axes": (0,)},
    **{"dtype": np.float32, "codes": np.array([0, 1, 0, 1]), "indices": np.array([1, 0, 2, 3])},
    **{"positions": np.array([1, 0]), "values": np.array([0.5, 2.0, 1.0, 0.0])},
    **{"keys": np.array([0.1, 0.3, 0.5, 0.9])},
    **{"wanted": np.array([0.3]), "places": np.array([0.5]), "known": np.array([0.0, 1.0, 2.0, 3.0])},
    **{"key": indim.random.key(0), "f": lambda x: np.sum(x * x), "v": X, "a": np.eye(4), "b": np.eye(4)},
    **{"p": X, "loc": 0.0, "scale": 1.0, "lam": X, "df": X, "sigma": 0.5, "order": 2, "step": 1, "k": 3},
    **{"r": 1, "left": 0.0, "mode": 0.5, "right": 1.0, "mean": 0.3, "edges": np.array([0.0, 0.5, 1.0])},
    **{"coefficients": X, "degree": 1, "roots": X, "lmbda": 0.5, "bins": 3, "width": 0.1},
    **{"score": 0.5, "c": X, "weights": X, "points": X, "columns": np.arange(4), "rows": np.arange(4)},
}


def _runs(code, **given):
    """Whether a code is an expression whose names are known; then it runs in a compiled function."""
    try:
        tree = ast.parse(code, mode="eval")
    except SyntaxError:
        return False
    loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names = NAMES | given
    bound = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    if not loaded <= names.keys() | {"x", "y", "mask"} | bound | set(dir(builtins)):
        return False

    def function(x):
        y = x * 0.5 + 0.1
        result = eval(code, {**names, "x": x, "y": y, "mask": x > 0.3})
        return result if isinstance(result, Tracer) else x

    try:
        indim.jit(function)(X)
    except Exception as error:
        raise AssertionError(code) from error
    return True


@pytest.mark.filterwarnings("ignore")
def test_advised_code_runs():
    own = {name: code for name, (_, code) in _member_advice._MEMBERS.items()}
    if importlib.util.find_spec("ml_dtypes") is None:
        del own["bfloat16"]
    ran = {name for name, code in own.items() if _runs(code, **({"key": 0.2} if "keys" in code else {}))}
    assert len(ran) > 120, len(ran)
    whole = {"low": 0, "high": 9}
    draws = {
        name
        for name, code in _library_advice._DRAWS.items()
        if _runs(code, a=X, b=X, alpha=X, **(whole if "randint" in code else {}))
    }
    assert len(draws) > 15, len(draws)
    of_scipy = {name for name, code in _scipy_advice.INSTEAD_OF_SCIPY.items() if name.startswith("stats.")}
    ran = {name for name in of_scipy if _runs(_scipy_advice.INSTEAD_OF_SCIPY[name])}
    assert len(ran) > 12, len(ran)


# Methods of the arrays of other libraries.


def test_each_method_of_other_libraries_says_what_to_write():
    for name, (library, code) in _member_advice._MEMBERS.items():
        assert not hasattr(Tracer, name) and name not in _refused.REFUSED_METHODS, name
        found = message(lambda x, name=name: getattr(x, name))
        assert found == f"`x` is traced as an array, which has no `{name}` {library}: write {code}"


def test_unknown_names_are_no_columns_of_an_array():
    pytest.importorskip("pandas")
    assert "traced as an array, which has no `summ`; did you mean `sum`?" in message(lambda x: x.summ())
    assert "f(x[" not in message(lambda x: x.unknown_name)
    assert "did you mean" not in message(lambda x: x.unknown_name)
    assert "write x = ..., a new array: np.clip(x, low, high)" in message(lambda x: x.clamp_(0, 1))


@pytest.mark.parametrize(
    ("of_pandas", "advised"),
    [
        (
            lambda x: x.ffill(),
            lambda x: x[np.maximum.accumulate(np.where(np.isnan(x), 0, np.arange(x.size)))],
        ),
        (lambda x: x.skew(), lambda x: np.mean(((x - x.mean()) / x.std()) ** 3)),
        (lambda x: x.nsmallest(2), lambda x: np.sort(x)[:2]),
        (lambda x: x.combine_first(x * 0 + 1), lambda x: np.where(np.isnan(x), x * 0 + 1, x)),
        (lambda x: x.replace(3.0, 7.0), lambda x: np.where(x == 3.0, 7.0, x)),
        (lambda x: x.resample, None),
    ],
)
def test_advice_for_missing_values_and_moments(of_pandas, advised):
    pd = pytest.importorskip("pandas")
    if advised is None:
        assert "x.reshape(-1, n).mean(axis=1)" in message(of_pandas)
        return
    x = pd.Series([3.0, 1.0, 2.5, 5.0, 1.5, 9.0])
    if "ffill" in inspect.getsource(of_pandas):
        x[2] = np.nan
    expected = np.asarray(of_pandas(x))
    if "skew" in inspect.getsource(of_pandas):
        # pandas corrects the moment for small samples.
        n = x.size
        expected = expected * (n - 2) / np.sqrt(n * (n - 1))
    np.testing.assert_allclose(indim.jit(advised)(x.to_numpy()), expected, rtol=1e-12)


# Functions of other libraries.


def test_functions_of_jax_say_the_name_in_indim():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    for function, name in [
        (lambda x: jnp.sin(x), "indim.numpy.sin"),
        (lambda x: jnp.asarray(x), "indim.numpy.asarray"),
        (lambda x: jnp.where(x > 0, x, 0), "indim.numpy.where"),
        (lambda x: jnp.stack([x, x]), "indim.numpy.stack"),
        (lambda x: jax.lax.add(x, x), "indim.lax.add"),
        (lambda x: jax.lax.scan(lambda c, v: (c, v), 0.0, x), "indim.lax.scan"),
        (lambda x: jax.nn.relu(x), "indim.nn.relu"),
        (lambda x: jax.grad(lambda v: v.sum())(x), "indim.grad"),
        (lambda x: jax.random.normal(x), "indim.random.normal"),
        (lambda x: jnp.apply_over_axes(np.sum, x, 0), "indim"),
    ]:
        assert f"write {name}" in message(function) or "write functions of indim" in message(function)
        assert "import indim.numpy as jnp" in message(function)
    # Arrays of JAX are operands.
    np.testing.assert_allclose(indim.jit(lambda x: jnp.ones(4, "f4") + x)(X), X + 1)
    np.testing.assert_allclose(indim.jit(lambda x: jax.tree.map(lambda v: v * 2, x))(X), X * 2)


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        ("np.ma.sum(x)", r"numpy.ma.sum needs .* write np.where\(mask, other, x\)"),
        ("np.random.normal(x)", r"\* indim.random.normal\(key, shape\), with key = indim.random.key"),
        ("np.random.default_rng(0).poisson(x)", r"indim.random.poisson\(key, lam\)"),
        ("np.random.default_rng(0).hypergeometric(x, 2, 2)", "write a draw of indim.random"),
        ("np.polynomial.polynomial.polymul(x, x)", r"polymul needs .* write np.convolve\(x, y\)"),
        ("np.polynomial.hermite.hermval(0.5, x)", r"np.polyval\(coefficients, x\) for powers"),
        ("np.emath.sqrt(x)", r"write `np.sqrt\(x.astype\(complex\)\)`"),
        ("np.fromiter(x, float)", r"help: for numpy.fromiter write np.stack\(list\(values\)\)"),
        ("np.ndarray.sum(x)", r"help: .*the method of the value, as in x.sum\(\)"),
        ("np.polynomial.polynomial.polyvalfromroots(x, [1, 2])", r"np.prod\(x - roots.reshape\(-1,"),
        ("np.polynomial.polynomial.polyval(x, np.ones((3, 4)))", r"write np.stack\(\[polyval\(x, row\)"),
        ("np.polynomial.chebyshev.chebval(x, np.ones((3, 4)))", r"write np.stack\(\[chebval\(x, row\)"),
        ("np.ones(x[0])", r"write x\[0\].astype\(int\)"),
        ("np.ones(x)", "write a tuple of sizes"),
        ("np.char.upper(x)", "computes with texts|numpy.char.upper needs .*; call it before"),
        ("np.nditer(x)", r"help: for numpy.nditer write operations on whole arrays"),
        ("math.sin(x[0])", r"write np.sin\(x\) for math.sin\(x\)"),
        ("math.atan2(x[0], 1.0)", r"write np.arctan2\(x\) for math.atan2"),
        ("math.trunc(x[0])", r"help: .* write np.trunc\(x\)"),
        ("float(x[0])", r"leave float\(\) out"),
        ("int(x[0]) + 1", r"leave int\(\) out, .*write x.astype\(int\)"),
        ("complex(x[0])", r"write x.astype\(complex\)"),
        ("'%f' % x[0]", "format the result of the call"),
        ("'%d' % x[0]", "format the result of the call"),
        ("any(x)", r"write np.any\(x\)"),
        ("all(x > 0)", r"write np.all\(x\)"),
        ("pow(x, 2, 3)", r"write x\*\*y % m"),
        ("x * decimal.Decimal(2)", r"help: .*write x \* float\(value\)"),
        ("fractions.Fraction(1, 2) * x", r"help: .*write x \* float\(value\)"),
        ("x + None", "help: .*the other operand is None"),
        ("x + 'a'", "help: .*a text is no operand"),
        ("{0.5: 1}[x[0]]", r"help: .*write np.array\(values\)\[x\]"),
        ("hash(x)", "help: .*a key of a dict"),
        ("pickle.dumps(x)", "write or send the result of the call"),
        ("json.dumps(x)", r"help: .*write f\(x\).tolist\(\) for JSON"),
        ("x.astype(str)", r"call .astype\(str\) on the result"),
        ("x.astype(object)", "write a type of numbers"),
        ("x.astype('M8[s]')", "compute with int64"),
        ("x * np.timedelta64(1, 's')", r"pass .*.view\('i8'\)"),
        ("np.argmax(x + 1j)", "help: take x.real, x.imag or np.abs"),
        ("np.ptp(x + 1j)", "help: take x.real, x.imag or np.abs"),
        ("np.nanmax(x + 1j)", "help: take x.real, x.imag or np.abs"),
        ("np.maximum.accumulate(x + 1j)", "help: take x.real, x.imag or np.abs"),
        ("{1, 2}", "return a tuple or list"),
        ("str(x)", "make the text of the result"),
        ("x.sum", r"return its results, .*\(...\), and not the function"),
        ("indim.lax.polygamma(x, x)", "write np.stack"),
        ("indim.scipy.stats.norm(x)", r"as in indim.scipy.stats.norm.cdf\(x, ...\)"),
        ("indim.scipy.stats.gamma.fit(x)", "indim.scipy.stats.gamma has no 'fit', but cdf, logpdf"),
        ("indim.scipy.signal.stft(x)", "indim.scipy.signal has no 'stft': write np.fft.rfft"),
        ("indim.scipy.ndimage.zoom(x, 2)", r"write indim.image.resize\(x, shape, 'linear'\)"),
        ("indim.scipy.special.nothing(x)", "call SciPy before the call"),
    ],
)
def test_each_says_what_to_write(code, advice):
    names = {"decimal": decimal, "fractions": fractions, "json": json, "math": math, "pickle": pickle}
    found = message(eval(f"lambda x: {code}", {**names, "np": np, "indim": indim}), error=Exception)
    assert re.search(advice, found, re.DOTALL), found


def test_series_of_polynomials_have_the_values_of_numpy():
    series, rows = np.polynomial, np.arange(6.0).reshape(3, 2)
    for function in (series.polynomial.polyval, series.chebyshev.chebval, series.legendre.legval):
        found = indim.jit(lambda x, f=function: np.stack([f(x, row) for row in rows.T]))(X)
        np.testing.assert_allclose(found, function(X, rows), rtol=1e-14)
    roots = np.array([1.0, 2.0])
    found = indim.jit(lambda x: np.prod(x - roots.reshape(-1, *(1,) * x.ndim), axis=0))(X)
    np.testing.assert_allclose(found, series.polynomial.polyvalfromroots(X, roots), rtol=1e-14)


def test_elements_are_not_deleted():
    def deletes(x):
        del x[0]
        return x

    assert "write np.delete(x, i)" in message(deletes)
    np.testing.assert_array_equal(indim.jit(lambda x: np.delete(x, 0))(X), X[1:])


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("stats.gaussian_kde", "write np.mean(indim.scipy.stats.norm.pdf("),
        ("stats.shapiro", "call it before the call and pass the result as an argument"),
        ("signal.welch", "write np.fft.rfft("),
        ("signal.detrend", "write x - np.polyval("),
        ("ndimage.sobel", "convolve2d("),
        ("spatial.distance.pdist", "the distances of all pairs"),
        ("interpolate.CubicSpline", "np.interp("),
        ("sparse.csr_array", "indim.segment_sum("),
        ("sparse.lil_array", "help: for scipy.sparse.lil_array"),
        ("stats.multiscale_graphcorr", "help: for scipy.stats.multiscale_graphcorr"),
    ],
)
def test_functions_of_scipy_say_what_to_write(name, advice):
    pytest.importorskip("scipy")
    module, _, function = f"scipy.{name}".rpartition(".")
    namespace = pytest.importorskip(module)
    two = function in ("CubicSpline", "multiscale_graphcorr")
    x = np.arange(12.0).reshape(3, 4) if function in ("pdist", "csr_array", "lil_array") else np.arange(12.0)
    call = getattr(namespace, function)
    found = message(lambda x: call(*(x, x) if two else (x,)), x, error=(TypeError, ValueError))
    assert advice in found and ".__init__" not in found and "SCIPY_ARRAY_API" not in found


def test_the_setting_of_scipy_is_advised_where_it_helps(monkeypatch):
    stats = pytest.importorskip("scipy.stats")
    assert "if the environment variable SCIPY_ARRAY_API is 1" in message(lambda x: stats.zscore(x))
    assert "SCIPY_ARRAY_API" not in message(lambda x: stats.rankdata(x))
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    assert "SCIPY_ARRAY_API" not in message(lambda x: stats.zscore(x))
    assert "return what it computes" in message(lambda x: stats.norm(2.0))


def test_functions_of_pandas_say_what_to_write():
    pd = pytest.importorskip("pandas")
    for function, advice in [
        (lambda x: pd.Series(x), "return the array, and call pd.Series(f(...))"),
        (lambda x: pd.DataFrame({"a": x}), "call pd.DataFrame(f(...))"),
        (lambda x: pd.cut(x, 3), "write np.searchsorted(edges, x) - 1"),
        (lambda x: pd.unique(x), "write np.unique(x)"),
        (lambda x: pd.factorize(x), "np.unique(x, return_inverse=True)[1]"),
        (lambda x: pd.Categorical(x), "write codes, as pd.factorize(x)[0]"),
        (lambda x: pd.isna(x), "write np.isnan(x)"),
        (lambda x: pd.concat([x, x]), "write np.concatenate([x, y])"),
    ]:
        assert advice in message(function)
    edges = np.array([0.0, 0.2, 0.5, 1.0])
    np.testing.assert_array_equal(
        indim.jit(lambda x: np.searchsorted(edges, x) - 1)(X), pd.cut(X, edges, labels=False)
    )
    np.testing.assert_array_equal(
        indim.jit(lambda x: np.searchsorted(np.quantile(x, [0.25, 0.5, 0.75]), x))(X),
        pd.qcut(X, 4, labels=False),
    )


def test_metrics_of_scikit_learn_say_what_to_write():
    metrics = pytest.importorskip("sklearn.metrics")
    truth, found = np.array([0.5, 1.0, 2.0, 4.0]), np.array([0.75, 0.5, 2.5, 3.0])
    is_true, is_found = np.array([True, False, True, True]), np.array([True, True, False, True])
    labels, guesses = np.array([0, 1, 2, 1]), np.array([0, 2, 2, 1])
    for name, code in _library_advice._OF_METRICS.items():
        function = getattr(metrics, name, None)
        if function is None:
            continue
        arrays = (labels, guesses) if name == "confusion_matrix" else (truth, found)
        if "arrays of bool" in code:
            arrays = is_true, is_found
        if name in ("brier_score_loss", "log_loss"):
            arrays = is_true.astype(float), np.array([0.9, 0.2, 0.7, 0.6])
        if name in ("accuracy_score", "zero_one_loss"):
            arrays = labels, guesses
        assert f"write {code}" in message(lambda y, p, function=function: function(y, p), *arrays)
        expression = code.removesuffix(" of arrays of bool")
        names = {"n": 3, "np": np, "indim": indim}
        advised = indim.jit(lambda y, p, e=expression: eval(e, {"y": y, "p": p, **names}))
        np.testing.assert_allclose(advised(*arrays), function(*arrays), rtol=1e-12)


def test_columns_of_lists_say_how_they_are_arrays():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    rows = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    for column in (
        polars.Series("v", rows),
        pyarrow.array(rows),
        pyarrow.chunked_array([rows[:1], rows[1:]]),
        pyarrow.array(rows, pyarrow.list_(pyarrow.float64(), 3)),
    ):
        advised = re.search("pass `(.*)`, an array of two axes", message(lambda x: x * 2, column))[1]
        np.testing.assert_array_equal(eval(advised, {"x": column}), rows)


def test_errors_of_other_code_stay():
    def fails(x):
        raise ValueError("Tracers are not mentioned")

    assert message(fails, error=ValueError) == "Tracers are not mentioned"

    class Own(Exception):
        def __str__(self):
            return "own Tracer"

    def raises(x):
        raise Own(1)

    assert message(raises, error=Own) == "own Tracer"
    found = message(lambda x: indim.grad(lambda v: v * decimal.Decimal(1))(x))
    assert found.count("= help:") == 1


def test_the_order_of_a_derivative_may_be_a_float():
    special = pytest.importorskip("scipy.special")
    for order in (1, 1.0, np.float64(1)):
        found = indim.jit(lambda x: indim.lax.polygamma(order, x))(X)
        np.testing.assert_allclose(found, special.polygamma(1, X), rtol=1e-13)


def test_the_distribution_function_of_poisson_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    k = np.array([-1.0, 0.0, 0.5, 2.0, 7.0, 40.0, np.nan])
    for mu, loc in ((0.3, 0), (4.5, 0), (4.5, 1)):
        found = indim.jit(lambda k: indim.scipy.stats.poisson.cdf(k, mu, loc))(k)
        np.testing.assert_allclose(found, stats.poisson.cdf(k, mu, loc), rtol=1e-11)


def test_a_second_profile_says_which_to_leave_out():
    with indim.profile(), pytest.raises(RuntimeError, match="leave out the inner `with indim.profile"):
        with indim.profile():
            pass


def test_advice_for_scipy_computes_what_scipy_does():
    """Each advised expression gives SciPy's values."""
    scipy = pytest.importorskip("scipy")
    stats, signal, linalg = (pytest.importorskip(f"scipy.{name}") for name in ("stats", "signal", "linalg"))
    y, t = X[::-1] + np.sin(X * 20), np.linspace(0.1, 20, 50)
    a = np.array([[4.0, 1.0], [1.0, 3.0]])
    expected = {
        "stats.gmean": stats.gmean(X),
        "stats.gstd": stats.gstd(X),
        "stats.hmean": stats.hmean(X),
        "stats.iqr": stats.iqr(X),
        "stats.kendalltau": stats.kendalltau(X, y).statistic * 0.75,
        "stats.kurtosis": stats.kurtosis(X),
        "stats.median_abs_deviation": stats.median_abs_deviation(X),
        "stats.moment": stats.moment(X, 2),
        "stats.pearsonr": stats.pearsonr(X, y)[0],
        "stats.percentileofscore": stats.percentileofscore(X, 0.3),
        "stats.sem": stats.sem(X),
        "stats.skew": stats.skew(X),
        "stats.tstd": stats.tstd(X),
        "stats.variation": stats.variation(X),
        "stats.wasserstein_distance": stats.wasserstein_distance(X, y),
        "stats.zscore": stats.zscore(X),
        "signal.sawtooth": signal.sawtooth(t),
        "signal.square": signal.square(t),
        "linalg.issymmetric": linalg.issymmetric(a),
        "linalg.pinvh": linalg.pinvh(a),
        "integrate.trapezoid": pytest.importorskip("scipy.integrate").trapezoid(y, X),
    }
    assert scipy.__version__
    given = {**NAMES, "a": a, "score": 0.3}
    for name, value in expected.items():
        code = _scipy_advice.INSTEAD_OF_SCIPY[name].partition(" of pairs")[0].partition(" for as many")[0]
        found = indim.jit(lambda x, y, t, code=code: eval(code, {**given, "x": x, "y": y, "t": t}))(X, y, t)
        np.testing.assert_allclose(found, value, rtol=1e-11, err_msg=name)
