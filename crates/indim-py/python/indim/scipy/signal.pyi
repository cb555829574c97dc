from typing import Any

from numpy.typing import NDArray

from .._types import Operand

def convolve(
    in1: Operand,
    in2: Operand,
    mode: str = "full",
    method: str = "auto",
    precision: Any = None,
) -> NDArray[Any]: ...
def convolve2d(
    in1: Operand,
    in2: Operand,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> NDArray[Any]: ...
def correlate(
    in1: Operand,
    in2: Operand,
    mode: str = "full",
    method: str = "auto",
    precision: Any = None,
) -> NDArray[Any]: ...
def correlate2d(
    in1: Operand,
    in2: Operand,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> NDArray[Any]: ...
def fftconvolve(in1: Operand, in2: Operand, mode: str = "full", axes: None = None) -> NDArray[Any]: ...
