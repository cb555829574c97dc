from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import DTypeLike

from ._types import Operand

_Shape: TypeAlias = int | Sequence[int]

__all__ = [
    "PRNGKey",
    "ball",
    "bernoulli",
    "beta",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]

def key(seed: int) -> Any: ...
def key_data(keys: Operand) -> Any: ...
def wrap_key_data(key_bits_array: Operand) -> Any: ...
def split(key: Operand, num: _Shape = 2) -> Any: ...
def fold_in(key: Operand, data: Operand) -> Any: ...
def bits(key: Operand, shape: _Shape = (), dtype: DTypeLike | None = None) -> Any: ...
def uniform(
    key: Operand,
    shape: _Shape = (),
    dtype: DTypeLike | None = None,
    minval: Operand = 0.0,
    maxval: Operand = 1.0,
) -> Any: ...
def normal(key: Operand, shape: _Shape = (), dtype: DTypeLike | None = None) -> Any: ...
def multivariate_normal(
    key: Operand,
    mean: Operand,
    cov: Operand,
    shape: _Shape | None = None,
    dtype: DTypeLike | None = None,
    method: str = "cholesky",
) -> Any: ...
def bernoulli(key: Operand, p: Operand = 0.5, shape: _Shape | None = None) -> Any: ...
def rademacher(key: Operand, shape: _Shape = (), dtype: DTypeLike | None = None) -> Any: ...
def randint(
    key: Operand,
    shape: _Shape,
    minval: Operand,
    maxval: Operand,
    dtype: DTypeLike | None = None,
) -> Any: ...
def permutation(key: Operand, x: Operand, axis: int = 0, independent: bool = False) -> Any: ...
def choice(
    key: Operand,
    a: Operand,
    shape: _Shape = (),
    replace: bool = True,
    p: Operand | None = None,
    axis: int = 0,
) -> Any: ...
def exponential(key: Operand, shape: _Shape = (), dtype: DTypeLike | None = None) -> Any: ...
def gumbel(key: Operand, shape: _Shape = (), dtype: DTypeLike | None = None) -> Any: ...
def laplace(key: Operand, shape: _Shape = (), dtype: DTypeLike | None = None) -> Any: ...
def logistic(key: Operand, shape: _Shape = (), dtype: DTypeLike | None = None) -> Any: ...
def cauchy(key: Operand, shape: _Shape = (), dtype: DTypeLike | None = None) -> Any: ...
def truncated_normal(
    key: Operand,
    lower: Operand,
    upper: Operand,
    shape: _Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...
def categorical(key: Operand, logits: Operand, axis: int = -1, shape: _Shape | None = None) -> Any: ...
def gamma(key: Operand, a: Operand, shape: _Shape | None = None, dtype: DTypeLike | None = None) -> Any: ...
def loggamma(
    key: Operand,
    a: Operand,
    shape: _Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...
def beta(
    key: Operand,
    a: Operand,
    b: Operand,
    shape: _Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...
def dirichlet(
    key: Operand,
    alpha: Operand,
    shape: _Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...
def chisquare(
    key: Operand,
    df: Operand,
    shape: _Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...
def f(
    key: Operand,
    dfnum: Operand,
    dfden: Operand,
    shape: _Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...
def t(key: Operand, df: Operand, shape: _Shape | None = None, dtype: DTypeLike | None = None) -> Any: ...
def generalized_normal(
    key: Operand,
    p: Operand,
    shape: _Shape = (),
    dtype: DTypeLike | None = None,
) -> Any: ...
def ball(
    key: Operand,
    d: int,
    p: Operand = 2,
    shape: _Shape = (),
    dtype: DTypeLike | None = None,
) -> Any: ...
def pareto(key: Operand, b: Operand, shape: _Shape | None = None, dtype: DTypeLike | None = None) -> Any: ...
def rayleigh(
    key: Operand,
    scale: Operand,
    shape: _Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...
def lognormal(
    key: Operand,
    sigma: Operand = 1.0,
    shape: _Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...
def weibull_min(
    key: Operand,
    scale: Operand,
    concentration: Operand,
    shape: _Shape = (),
    dtype: DTypeLike | None = None,
) -> Any: ...
def triangular(
    key: Operand,
    left: Operand,
    mode: Operand,
    right: Operand,
    shape: _Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...
def maxwell(key: Operand, shape: _Shape = (), dtype: DTypeLike | None = None) -> Any: ...
def double_sided_maxwell(
    key: Operand,
    loc: Operand,
    scale: Operand,
    shape: _Shape = (),
    dtype: DTypeLike | None = None,
) -> Any: ...
def wald(
    key: Operand,
    mean: Operand,
    shape: _Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...
def geometric(
    key: Operand,
    p: Operand,
    shape: _Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...
def poisson(
    key: Operand,
    lam: Operand,
    shape: _Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...

PRNGKey = key
