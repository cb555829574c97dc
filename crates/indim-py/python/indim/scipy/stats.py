"""The names of ``jax.scipy.stats``: distributions as namespaces, ``norm.logpdf(x, loc, scale)``."""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

import math

import numpy as np

from .. import nn
from .._absent import Distribution, absent
from .special import _floats, betainc, betaln, gammainc, gammaincc, gammaln, log_ndtr, ndtr, ndtri
from .special import xlog1py, xlogy

__all__ = [
    *("bernoulli", "beta", "binom", "cauchy", "chi2", "dirichlet", "expon", "gamma", "laplace", "logistic"),
    *("norm", "poisson", "t", "uniform"),
]


def _distribution(shapes, logpdf, **others):
    """The functions of a continuous distribution, from those of its standard form, which take ``x`` and its
    ``shapes`` parameters. ``loc`` and ``scale`` follow them."""

    def of(formula):
        def located(x, *parameters, loc=0, scale=1):
            given, parameters = parameters[:shapes], parameters[shapes:]
            loc, scale = (*parameters, *(loc, scale)[len(parameters) :])
            x, loc, scale, *given = _floats(x, loc, scale, *given)
            return formula(x, loc, scale, *given)

        return located

    def placed(function):
        return of(lambda x, loc, scale, *given: function((x - loc) / scale, *given))

    def quantile(function):
        found = of(lambda q, loc, scale, *given: function(q, *given) * scale + loc)
        return lambda q, *parameters, loc=0, scale=1: found(q, *parameters, loc=loc, scale=scale)

    functions = {
        "logpdf": of(lambda x, loc, scale, *given: logpdf((x - loc) / scale, *given) - np.log(scale)),
        "pdf": of(lambda x, loc, scale, *given: np.exp(logpdf((x - loc) / scale, *given)) / scale),
    }
    for name, function in others.items():
        functions[name] = quantile(function) if name in ("ppf", "isf") else placed(function)
    for name, function in functions.items():
        function.__name__ = function.__qualname__ = name
    return Distribution(**functions)


def _inside(mask, x, value, outside=-np.inf):
    """A value where ``mask`` holds, NaN where ``x`` is NaN, else a number."""
    return np.where(mask | np.isnan(x), value, np.full((), outside, x.dtype))


def _of_probability(q, value):
    """A quantile, and NaN if ``q`` is no probability."""
    return _inside((q >= 0) & (q <= 1), q, value, np.nan)


norm = _distribution(
    0,
    lambda x: -0.5 * np.square(x) - 0.5 * math.log(2 * math.pi),
    cdf=ndtr,
    logcdf=log_ndtr,
    sf=lambda x: ndtr(-x),
    logsf=lambda x: log_ndtr(-x),
    ppf=ndtri,
    isf=lambda q: -ndtri(q),
)

expon = _distribution(
    0,
    lambda x: _inside(x >= 0, x, -x),
    cdf=lambda x: -np.expm1(-np.maximum(x, 0)),
    logcdf=lambda x: np.log1p(-np.exp(-np.maximum(x, 0))),
    sf=lambda x: np.exp(-np.maximum(x, 0)),
    logsf=lambda x: -np.maximum(x, 0),
    ppf=lambda q: _of_probability(q, -np.log1p(-q)),
)

uniform = _distribution(
    0,
    lambda x: _inside((x >= 0) & (x <= 1), x, x * 0),
    cdf=lambda x: np.clip(x, 0, 1),
    ppf=lambda q: _of_probability(q, q),
)

laplace = _distribution(
    0,
    lambda x: -np.abs(x) - math.log(2),
    cdf=lambda x: np.where(x < 0, 0.5 * np.exp(-np.abs(x)), 1 - 0.5 * np.exp(-np.abs(x))),
)

logistic = _distribution(
    0,
    lambda x: -np.abs(x) - 2 * np.log1p(np.exp(-np.abs(x))),
    cdf=nn.sigmoid,
    sf=lambda x: nn.sigmoid(-x),
    ppf=lambda q: np.log(q) - np.log1p(-q),
    isf=lambda q: np.log1p(-q) - np.log(q),
)

def _cauchy_ppf(q):
    # The tangent of rounded halves of pi is finite.
    found = np.tan(math.pi * (q - 0.5))
    infinity = np.full((), np.inf, q.dtype)
    return np.where(q == 0, -infinity, np.where(q == 1, infinity, found))


cauchy = _distribution(
    0,
    lambda x: -math.log(math.pi) - np.log1p(np.square(x)),
    cdf=lambda x: 0.5 + np.arctan(x) / math.pi,
    sf=lambda x: 0.5 - np.arctan(x) / math.pi,
    ppf=lambda q: _of_probability(q, _cauchy_ppf(q)),
)

t = _distribution(
    1,
    lambda x, df: (
        gammaln(0.5 * (df + 1))
        - gammaln(0.5 * df)
        - 0.5 * np.log(math.pi * df)
        - 0.5 * (df + 1) * np.log1p(np.square(x) / df)
    ),
)

beta = _distribution(
    2,
    lambda x, a, b: _inside((x >= 0) & (x <= 1), x, xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b)),
    cdf=lambda x, a, b: betainc(a, b, np.clip(x, 0, 1)),
    sf=lambda x, a, b: betainc(b, a, 1 - np.clip(x, 0, 1)),
)

gamma = _distribution(
    1,
    lambda x, a: _inside(x >= 0, x, xlogy(a - 1, np.maximum(x, 0)) - x - gammaln(a)),
    cdf=lambda x, a: gammainc(a, np.maximum(x, 0)),
    sf=lambda x, a: gammaincc(a, np.maximum(x, 0)),
)

chi2 = _distribution(
    1,
    lambda x, df: _inside(
        x >= 0,
        x,
        xlogy(0.5 * df - 1, np.maximum(x, 0)) - 0.5 * x - gammaln(0.5 * df) - 0.5 * math.log(2) * df,
    ),
    cdf=lambda x, df: gammainc(0.5 * df, 0.5 * np.maximum(x, 0)),
    sf=lambda x, df: gammaincc(0.5 * df, 0.5 * np.maximum(x, 0)),
)


def _discrete(logpmf):
    """The functions of a distribution of whole numbers."""

    def located(k, parameter, loc=0):
        k, parameter, loc = _floats(k, parameter, loc)
        return logpmf(k - loc, parameter)

    return _namespace(located)


def _namespace(logpmf):
    """The functions of a distribution of whole numbers by the logarithm of its probabilities."""

    def pmf(*args, **kwargs):
        return np.exp(logpmf(*args, **kwargs))

    logpmf.__name__ = logpmf.__qualname__ = "logpmf"
    return Distribution(logpmf=logpmf, pmf=pmf)


poisson = _discrete(
    lambda k, mu: _inside((k >= 0) & (np.floor(k) == k), k, xlogy(k, mu) - gammaln(np.maximum(k, 0) + 1) - mu)
)


def _poisson_cdf(k, mu, loc=0):
    """The probability of at most ``k`` events."""
    k, mu, loc = _floats(k, mu, loc)
    k = np.floor(k - loc)
    found = gammaincc(np.maximum(k, 0) + 1, mu)
    return np.where(np.isnan(k), k, np.where(k < 0, np.zeros((), k.dtype), found))


_poisson_cdf.__name__ = _poisson_cdf.__qualname__ = "cdf"
poisson.cdf = _poisson_cdf

bernoulli = _discrete(
    lambda k, p: np.where(k == 0, np.log1p(-p), _inside(k == 1, k, np.log(p) + k * 0))
)


def _binomial_logpmf(k, n, p, loc=0):
    """The logarithm of the probability of ``k`` successes in ``n`` trials."""
    k, n, p, loc = _floats(k, n, p, loc)
    k = k - loc
    is_inside = (k >= 0) & (k <= n) & (np.floor(k) == k)
    inside = np.where(is_inside | np.isnan(k), k, np.zeros((), k.dtype))
    found = gammaln(n + 1) - gammaln(inside + 1) - gammaln(n - inside + 1)
    found = found + xlogy(inside, p) + xlog1py(n - inside, -p)
    is_valid = (n >= 0) & (np.floor(n) == n) & (p >= 0) & (p <= 1)
    return np.where(is_valid, _inside(is_inside, k, found), np.full((), np.nan, k.dtype))


binom = _namespace(_binomial_logpmf)


def _dirichlet_logpdf(x, alpha):
    """The logarithm of the density of shares ``x`` along the first axis, which may lack the last share."""
    x, alpha = _floats(x, alpha)
    if alpha.ndim != 1 or x.shape[0] not in (alpha.shape[0], alpha.shape[0] - 1):
        raise ValueError(
            "dirichlet takes parameters along one axis, and as many shares along the first axis, or one "
            f"less; the shapes are {tuple(alpha.shape)} and {tuple(x.shape)}"
        )
    if x.shape[0] < alpha.shape[0]:
        x = np.concatenate([x, 1 - np.sum(x, axis=0, keepdims=True)])
    powers = alpha.reshape(-1, *(1,) * (x.ndim - 1)) - 1
    found = np.sum(xlogy(powers, x), axis=0) + gammaln(np.sum(alpha)) - np.sum(gammaln(alpha))
    is_inside = np.all((x >= 0) & (x <= 1), axis=0) & (np.abs(np.sum(x, axis=0) - 1) < 1e-9)
    return np.where(is_inside, found, np.full((), -np.inf, found.dtype))


dirichlet = Distribution(logpdf=_dirichlet_logpdf)
dirichlet.pdf = lambda x, alpha: np.exp(_dirichlet_logpdf(x, alpha))


#: Names of ``jax.scipy.stats`` that indim does not have, with advice.
_REFUSED = {
    "multivariate_normal": "write L = np.linalg.cholesky(cov), and np.sum(norm.logpdf(np.linalg.solve(L, x - "
    "mean))) - np.sum(np.log(np.diagonal(L)))",
}


def __getattr__(name):
    raise absent(__name__, name, _REFUSED.get(name))


for _name in __all__:
    globals()[_name]._name = _name
del _name
