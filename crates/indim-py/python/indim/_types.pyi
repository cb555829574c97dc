from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

Integers: TypeAlias = int | Sequence[int]
Operand: TypeAlias = ArrayLike | Any
