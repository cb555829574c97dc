from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike

from ._types import Operand

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

def fft(a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None) -> Any: ...
def ifft(a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None) -> Any: ...
def rfft(a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None) -> Any: ...
def irfft(a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None) -> Any: ...
def hfft(a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None) -> Any: ...
def ihfft(a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None) -> Any: ...
def fft2(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
    out: None = None,
) -> Any: ...
def ifft2(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
    out: None = None,
) -> Any: ...
def rfft2(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
    out: None = None,
) -> Any: ...
def irfft2(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
    out: None = None,
) -> Any: ...
def fftn(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: None = None,
) -> Any: ...
def ifftn(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: None = None,
) -> Any: ...
def rfftn(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: None = None,
) -> Any: ...
def irfftn(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: None = None,
) -> Any: ...
def fftshift(x: Operand, axes: int | Sequence[int] | None = None) -> Any: ...
def ifftshift(x: Operand, axes: int | Sequence[int] | None = None) -> Any: ...
def fftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike | None = None, device: Any = None) -> Any: ...
def rfftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike | None = None, device: Any = None) -> Any: ...
