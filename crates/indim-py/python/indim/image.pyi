from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from ._types import Operand

class ResizeMethod:
    NEAREST: str
    LINEAR: str
    LANCZOS3: str
    LANCZOS5: str
    CUBIC: str

def resize(
    image: Operand,
    shape: Sequence[int],
    method: str,
    antialias: bool = True,
    precision: Any = None,
) -> NDArray[Any]: ...
