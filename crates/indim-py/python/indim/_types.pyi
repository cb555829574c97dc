from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from numpy.typing import ArrayLike

class _SupportsDLPack(Protocol):
    def __dlpack__(self) -> Any: ...

class _SupportsArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

Integers: TypeAlias = int | Sequence[int]
Operand: TypeAlias = ArrayLike | _SupportsDLPack | _SupportsArrayInterface
