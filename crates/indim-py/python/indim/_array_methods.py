"""The methods and attributes of arrays that convert elements, or move them, on traced values."""

from __future__ import annotations

import numpy as np

from . import _arrays
from ._numbers import Number


class ArrayMethods:
    """The methods of NumPy's arrays."""

    __slots__ = ()

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        target = _arrays.indim_name(dtype)
        if not np.can_cast(self.dtype, _arrays.numpy_dtype(target), casting=casting):
            raise TypeError(
                f"cannot cast `{self._value_text}` from {self.dtype} to {target} with casting={casting!r}"
            )
        if not copy and self.dtype == _arrays.numpy_dtype(target):
            return self
        return self._call(target)

    def conj(self):
        # NumPy's function `conj`, unlike the method, copies, and converts truth values.
        return self._call("conj") if self.dtype.kind == "c" else self

    conjugate = conj

    @property
    def real(self):
        return self._call("real")

    @property
    def imag(self):
        return self._call("imag")

    @real.setter
    def real(self, values):
        from ._assignments import write_part

        write_part(self, "real", values)

    @imag.setter
    def imag(self, values):
        from ._assignments import write_part

        write_part(self, "imag", values)

    @property
    def T(self):
        return self._call("transpose")

    @property
    def mT(self):
        if not self.ndim >= 2:
            raise ValueError(f"`{self._value_text}` has fewer than two axes, and `mT` exchanges the last two")
        return np.swapaxes(self, -1, -2)

    def round(self, decimals=0):
        return self.__round__(decimals)

    def clip(self, min=None, max=None, out=None, **kwargs):
        return np.clip(self, min, max, out, **kwargs)

    def reshape(self, *shape, order="C", copy=None):
        if order not in ("C", "F"):
            raise TypeError(f"order={order!r} depends on how arrays lie in memory: write 'C' or 'F'")
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if type(shape) in (tuple, list) and any(type(size) is Number for size in shape):
            from ._slices_by_sizes import reshape

            shape = reshape(self, shape)
        shape = _arrays.integers(shape)
        if order == "F":
            return self.T.reshape(shape[::-1]).T
        return self._call("reshape", [(None, shape)])

    def ravel(self, order="C"):
        return np.ravel(self, order)

    def flatten(self, order="C"):
        return np.ravel(self, order)._made()

    def copy(self, order="C"):
        made = self._made()
        made._is_row_major = order == "C"
        return made

    def squeeze(self, axis=None):
        return np.squeeze(self, axis)

    def swapaxes(self, axis1, axis2):
        return np.swapaxes(self, axis1, axis2)

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        axes = None if axes is None else _arrays.integers(axes)
        return self._call("transpose", [(None, axes)] if axes else ())
