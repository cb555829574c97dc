from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import DTypeLike

from ._types import Operand

_Shape: TypeAlias = int | Sequence[int]

__all__ = [
    "PRNGKey",
    "bernoulli",
    "bits",
    "categorical",
    "cauchy",
    "choice",
    "exponential",
    "fold_in",
    "gumbel",
    "key",
    "laplace",
    "logistic",
    "normal",
    "permutation",
    "rademacher",
    "randint",
    "split",
    "truncated_normal",
    "uniform",
]

def key(seed: int) -> Any: ...
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

PRNGKey = key
