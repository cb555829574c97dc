from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from .._types import Operand

def map_coordinates(
    input: Operand,
    coordinates: Sequence[Operand],
    order: int,
    mode: str = "constant",
    cval: float = 0.0,
) -> NDArray[Any]: ...
