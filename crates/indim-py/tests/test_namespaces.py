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
"""

SCIKIT_LEARN = """
import sklearn
from sklearn import preprocessing
from sklearn.metrics import pairwise

# A check of elements ends the run of a compiled function.
sklearn.set_config(array_api_dispatch=True, assume_finite=True)
check(lambda x: pairwise.cosine_similarity(x), x)
check(lambda x: pairwise.euclidean_distances(x), x)
check(lambda x: preprocessing.normalize(x), x)

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
