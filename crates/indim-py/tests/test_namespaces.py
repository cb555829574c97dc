"""SciPy and scikit-learn with the namespace of arrays, in compiled functions and on results."""

import os
import subprocess
import sys

import pytest

#: SciPy reads the variable when it is imported, so each program is a process of its own.
SETTINGS = {"SCIPY_ARRAY_API": "1"}

START = """
import numpy as np
import indim
from indim import array_api as xp

x = np.random.default_rng(0).normal(size=(8, 5))


def check(function, *arrays):
    expected = function(*arrays)
    for found in (indim.jit(function)(*arrays), function(*map(xp.asarray, arrays))):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def refused(function, *arguments):
    try:
        indim.jit(function)(*arguments)
    except TypeError as error:
        return str(error)

"""

SCIPY = """
import scipy.fft, scipy.integrate, scipy.special, scipy.stats

check(lambda x: scipy.fft.rfft(x), x)
check(lambda x: scipy.integrate.trapezoid(x), x)
check(lambda x: scipy.stats.zscore(x), x)
check(lambda x: scipy.stats.skew(x), x)
check(lambda x: scipy.stats.kurtosis(x), x)
check(lambda x: scipy.special.softmax(x, axis=1), x)
check(lambda x: scipy.special.logsumexp(x, axis=1), x)

# Ufuncs of SciPy are functions around them.
positive = np.abs(x) / 4 + 0.01
for name in ("cbrt digamma entr erf erfc erfinv exp2 expit expm1 gamma gammaln gammasgn i0 i0e log1p "
             "log_ndtr logit ndtr ndtri psi sinc softplus").split():
    check(lambda x, function=getattr(scipy.special, name): function(x), positive % 1)
for name in ("betaln", "gammainc", "gammaincc", "kl_div", "rel_entr", "xlog1py", "xlogy"):
    check(lambda x, function=getattr(scipy.special, name): function(x, x * 0.5), positive)
assert "scipy.special.erfcx cannot be traced" in refused(lambda x: scipy.special.erfcx(x), x)
message = refused(lambda x: scipy.stats.rankdata(x), x[0])
assert "np.argsort(np.argsort(x)) + 1" in message and "SCIPY_ARRAY_API" not in message
"""

SCIKIT_LEARN = """
import sklearn
from sklearn import preprocessing
from sklearn.metrics import mean_squared_error, pairwise

sklearn.set_config(array_api_dispatch=True)
assert "set_config(assume_finite=True)" in refused(lambda x: pairwise.euclidean_distances(x), x)

# A check of elements ends the run of a compiled function.
sklearn.set_config(array_api_dispatch=True, assume_finite=True)
check(lambda x: pairwise.cosine_similarity(x), x)
check(lambda x: pairwise.euclidean_distances(x), x)
check(lambda x: pairwise.manhattan_distances(x), x)
check(lambda x: pairwise.laplacian_kernel(x), x)
check(lambda x: preprocessing.normalize(x), x)
check(lambda x: preprocessing.PolynomialFeatures(2).fit_transform(x), x)
scaler = preprocessing.MinMaxScaler().fit(x)
check(lambda x: scaler.transform(x), x)
check(lambda x: mean_squared_error(x, x * 2, multioutput="raw_values"), x)
assert "multioutput='raw_values' return arrays" in refused(lambda x: mean_squared_error(x, x * 2), x)

sklearn.set_config(array_api_dispatch=True, assume_finite=False)
scaled = preprocessing.StandardScaler().fit_transform(xp.asarray(indim.jit(lambda x: x * 2)(x)))
np.testing.assert_allclose(scaled, (x - x.mean(axis=0)) / x.std(axis=0), rtol=1e-12)
"""


@pytest.mark.parametrize(("package", "program"), [("scipy", SCIPY), ("sklearn", SCIKIT_LEARN)])
def test_libraries_that_take_namespaces(package, program):
    pytest.importorskip("scipy")
    pytest.importorskip(package)
    command = [sys.executable, "-W", "ignore", "-c", START + program]
    run = subprocess.run(command, env={**os.environ, **SETTINGS}, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_modules_are_imported_when_they_are_read():
    late = ["array_api", "lax", "nn", "none", "numexpr", "numpy", "pdpd", "random", "scipy", "tree", "xla"]
    code = f"""
import sys, numpy
before = set(sys.modules)
import indim
new = set(sys.modules) - before
assert not new & {{f"indim.{{name}}" for name in {late}}}, new
assert not new & {{"dataclasses", "hashlib", "html", "json", "ml_dtypes", "pandas", "scipy"}}, new
assert set(dir(indim)) >= {{*{late}, "detect_number_of_cores", "jit"}}
for name in {late}:
    assert getattr(indim, name) is sys.modules[f"indim.{{name}}"]
assert indim.detect_number_of_cores() > 0
"""
    subprocess.run([sys.executable, "-c", code], check=True)
