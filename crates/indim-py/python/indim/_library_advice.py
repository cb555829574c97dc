"""The code to write instead of functions of libraries that need the elements of a traced value.

SciPy's functions are in `_scipy_advice.py`, methods of other libraries' arrays in `_member_advice.py`.
"""

from __future__ import annotations

import sys

_KEY = ", with key = indim.random.key(seed)"
_SERIES = "np.polynomial.polynomial.polyval(x, coefficients) or np.polyval(coefficients, x) for powers"
_MASKED = "np.where(mask, other, x), and np.sum(x, where=~mask) for reductions"
_CHECK = "return the value, and check the result of the call"
_POWERS = {
    "polyadd": "x + y of equal lengths",
    "polyder": "np.polyder(coefficients[::-1])[::-1]",
    "polyfit": "np.polyfit(x, y, degree)[::-1]",
    "polyint": "np.polyint(coefficients[::-1])[::-1]",
    "polymul": "np.convolve(x, y)",
    "polysub": "x - y of equal lengths",
    "polyvander": "np.vander(x, degree + 1, increasing=True)",
    "polyfromroots": "np.poly(roots)[::-1]",
}

#: Draws by the methods of NumPy's generators and by the functions of the same names.
_DRAWS = {
    "beta": "indim.random.beta(key, a, b)",
    "binomial": "np.sum(indim.random.bernoulli(key, p, (n, *shape)), axis=0)",
    "chisquare": "indim.random.chisquare(key, df)",
    "choice": "indim.random.choice(key, x), or x[order] with rng.integers(len(x), size=n) as argument",
    "dirichlet": "indim.random.dirichlet(key, alpha)",
    "exponential": "scale * indim.random.exponential(key, shape)",
    "gamma": "scale * indim.random.gamma(key, a)",
    "geometric": "indim.random.geometric(key, p)",
    "gumbel": "loc + scale * indim.random.gumbel(key, shape)",
    "integers": "indim.random.randint(key, shape, low, high)",
    "laplace": "loc + scale * indim.random.laplace(key, shape)",
    "logistic": "loc + scale * indim.random.logistic(key, shape)",
    "lognormal": "indim.random.lognormal(key, sigma, shape)",
    "multivariate_normal": "indim.random.multivariate_normal(key, mean, cov)",
    "normal": "loc + scale * indim.random.normal(key, shape)",
    "pareto": "indim.random.pareto(key, b) - 1",
    "permutation": "indim.random.permutation(key, x), or x[order] with rng.permutation(len(x)) as argument",
    "permuted": "indim.random.permutation(key, x, independent=True)",
    "poisson": "indim.random.poisson(key, lam)",
    "randint": "indim.random.randint(key, shape, low, high)",
    "rayleigh": "indim.random.rayleigh(key, scale)",
    "shuffle": "x = indim.random.permutation(key, x)",
    "standard_exponential": "indim.random.exponential(key, shape)",
    "standard_gamma": "indim.random.gamma(key, a)",
    "standard_normal": "indim.random.normal(key, shape)",
    "standard_t": "indim.random.t(key, df)",
    "triangular": "indim.random.triangular(key, left, mode, right)",
    "uniform": "indim.random.uniform(key, shape, minval=low, maxval=high)",
    "wald": "indim.random.wald(key, mean) for the scale 1",
}

_OF_PANDAS = {
    "Categorical": "codes, as pd.factorize(x)[0] gives them before the call, as an argument",
    "DataFrame": "return the arrays, as in {'a': x}, and call pd.DataFrame(f(...))",
    "Index": "return the array, and call pd.Index(f(...))",
    "Series": "return the array, and call pd.Series(f(...)); a Series as argument has a Series as result",
    "concat": "np.concatenate([x, y])",
    "crosstab": "np.histogram2d(x, y, bins=[n, m], range=[(0, n), (0, m)])[0] of codes from 0",
    "cut": "np.searchsorted(edges, x) - 1, the number of the interval",
    "factorize": "np.unique(x, return_inverse=True)[1], the codes in the order of the values",
    "get_dummies": "indim.nn.one_hot(codes, n)",
    "isna": "np.isnan(x)",
    "isnull": "np.isnan(x)",
    "notna": "~np.isnan(x)",
    "notnull": "~np.isnan(x)",
    "qcut": "np.searchsorted(np.quantile(x, [0.25, 0.5, 0.75]), x), the number of the quarter",
    "to_numeric": "leave it out: x is an array of numbers",
    "unique": "np.unique(x), whose elements are sorted",
    "value_counts": "np.unique(x, return_counts=True)",
}

_OF_METRICS = {
    "accuracy_score": "np.mean(y == p)",
    "brier_score_loss": "np.mean((p - y) ** 2)",
    "confusion_matrix": "indim.segment_sum(np.ones_like(y), y * n + p, n * n).reshape(n, n)",
    "explained_variance_score": "1 - np.var(y - p) / np.var(y)",
    "f1_score": "2 * np.sum(y & p) / (np.sum(y) + np.sum(p)) of arrays of bool",
    "log_loss": "-np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))",
    "max_error": "np.max(np.abs(y - p))",
    "mean_absolute_error": "np.mean(np.abs(y - p))",
    "mean_absolute_percentage_error": "np.mean(np.abs((y - p) / y))",
    "mean_squared_error": "np.mean((y - p) ** 2)",
    "mean_squared_log_error": "np.mean((np.log1p(y) - np.log1p(p)) ** 2)",
    "median_absolute_error": "np.median(np.abs(y - p))",
    "precision_score": "np.sum(y & p) / np.sum(p) of arrays of bool",
    "r2_score": "1 - np.sum((y - p) ** 2) / np.sum((y - y.mean()) ** 2)",
    "recall_score": "np.sum(y & p) / np.sum(y) of arrays of bool",
    "root_mean_squared_error": "np.sqrt(np.mean((y - p) ** 2))",
    "zero_one_loss": "np.mean(y != p)",
}

_IMPORTS = "`import indim as jax`, `import indim.numpy as jnp`, `from indim import lax, nn`"
_JAX = f"functions of indim, after {_IMPORTS}"

#: By the full name of a function, or of a module or package for all its functions.
INSTEAD = {
    "jax": _JAX,
    "jaxlib": _JAX,
    "numpy.lib.stride_tricks.as_strided": "np.lib.stride_tricks.sliding_window_view(x, shape), slices or "
    "reshape",
    "numpy.ma": _MASKED,
    "numpy.matrix": "indim.asarray(x), and x @ y for products",
    "numpy.ndenumerate": "`for index in np.ndindex(x.shape)` and x[index], or operations on whole arrays",
    "numpy.fromiter": "np.stack(list(values))",
    "numpy.ndarray": "the method of the value, as in x.sum()",
    "numpy.nditer": "operations on whole arrays, or indim.scan for a loop over axis 0",
    "numpy.polynomial": _SERIES,
    "numpy.random": "a draw of indim.random, as in indim.random.normal(key, shape)" + _KEY,
    "numpy.testing": _CHECK,
    **{f"numpy.polynomial.polynomial.{name}": code for name, code in _POWERS.items()},
    **{f"pandas.{name}": code for name, code in _OF_PANDAS.items()},
    **{f"sklearn.metrics.{name}": code for name, code in _OF_METRICS.items()},
    "torch": "functions of NumPy or of indim.nn",
}

#: Functions of NumPy that make an array, or a number of a type, of the elements.
CONVERSIONS = {"array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "copy", "require"}


def _is_public(names):
    """Whether indim has a public object of these names, as ``["numpy", "sin"]``."""
    found = sys.modules["indim"]
    for name in names:
        # Modules are imported when they are read.
        found = None if name.startswith("_") else getattr(found, name, None)
    return found is not None


def instead_of(name):
    """The advice of the tables for a function by its full name, or None."""
    if name.startswith("numpy.random."):
        draw = _DRAWS.get(name.rpartition(".")[2])
        if draw is not None:
            return draw + (_KEY if "indim.random" in draw else "")
    parts = name.replace("()", "").split(".")
    if parts[0] == "jax" and _is_public(parts[1:]):
        return f"{'.'.join(['indim', *parts[1:]])}, after {_IMPORTS}"
    names = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((INSTEAD[of] for of in names if of in INSTEAD), None)
