from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

def ravel_pytree(pytree: Any) -> tuple[NDArray[Any], Callable[[Any], Any]]: ...
