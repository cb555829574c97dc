"""The memory of traced values as NumPy would share it: views, and writes into arrays and their views.

The elements of a traced value never change. A write replaces the value that an array stands for, and the
values of the arrays that it is a view of. Views are made again when they are used.
"""

from __future__ import annotations

import sys
import warnings
from typing import NamedTuple

from ._callers import is_library, is_of_jax
from ._operators import UFUNCS_OF_SYMBOLS
from ._recording import is_tracer, resumed, running_recording

#: Whose memory a traced value stands for: that of an argument or an outside array, which a function does not
#: write into; an array that the function has made (see `_assignments.py`); or one that it has made by a
#: function of `indim.numpy`, which is not written into, as in JAX.
SHARED, OWNED, IMMUTABLE = range(3)


class Rebinding(NamedTuple):
    """An operator that assigns, at a line of a file, which has bound a name to a new array."""

    symbol: str
    filename: str
    line: int
    #: The new array.
    result: object
    #: Whether the name was that of a view of another array.
    is_of_view: bool
    #: How the array whose name was bound is made of the one that notes this; None for the array itself.
    part: tuple | None = None


class Memory:
    """The memory that an array would share with its views in NumPy."""

    __slots__ = ("version",)

    def __init__(self):
        #: The number of writes.
        self.version = 0


class SharedMemory:
    """The methods of a traced value that share its memory, and write into it."""

    __slots__ = ()

    def _assign(self, symbol, other):
        """``self symbol= other``."""
        result = self._operator(symbol, self, other)
        if self._is_number or not (self._is_writable() and is_tracer(result)):
            return result
        has_type = (result._dtype, result._shape) == (self._dtype, self._shape)
        if not self._is_of_numpy and not self._is_assigned_in_place(has_type, sys._getframe(2)):
            self._note_rebinding(symbol, result, sys._getframe(2))
            return result
        if not has_type:
            from ._outputs import write_result

            return write_result(UFUNCS_OF_SYMBOLS[symbol].__name__, result, self)
        self._become(result)
        return self

    def _is_assigned_in_place(self, has_type, frame):
        """Whether ``y symbol= v`` in the code of ``frame`` writes into this array, as in NumPy, if the result
        has its type or not. A copy of rank 0 is a number in NumPy, or an array. Arrays of xarray share memory
        without views."""
        if self._recording.namespace is not None or (self._base is None and not self._shape):
            return False
        if is_of_jax(frame) or is_library(frame):
            return False
        return has_type if self._base is None else self._origin is not None

    def _snapshot(self):
        """The same elements, which later assignments do not change."""
        return type(self)(self._recording, (self._name, self._value_text, self._dtype, self._shape))

    def _made(self):
        """The same elements as a new array, which the function has just made."""
        self._warn_of_rebinding()
        self._recording.lift(self)
        made = self._snapshot()
        made._storage, made._is_number = OWNED, self._is_number
        return made

    def _made_by_numpy(self):
        """The same elements as a new array that NumPy would have made."""
        made = self._made()
        made._is_of_numpy, made._is_number = True, False
        return made

    def _share(self, view, made_by):
        """Notes that ``view`` shares memory with this value, its operand. Without ``made_by`` it is a view
        or a copy, as the layout in memory decides: after a write into one, the other is an error."""
        if self._is_number:
            # NumPy makes a new array.
            view._storage = OWNED
            return
        view._storage = SHARED
        # A read-only view, as a diagonal, has a memory too.
        is_tracked = self._storage is OWNED or self._memory is not None
        if is_tracked and view._recording is self._recording:
            if self._memory is None:
                self._memory = Memory()
            view._storage, view._memory, view._version = self._storage, self._memory, self._memory.version
            view._origin = None if made_by is None else (self, *made_by)
            view._base = self
            view._is_of_numpy = self._is_of_numpy and made_by is not None
            view._inherit_rebinding()

    def _shared_or_copied(self):
        """The same elements, in a view or a copy: the layout in memory decides."""
        self._recording.lift(self)
        result = self._snapshot()
        self._share(result, None)
        return result

    def _is_writable(self):
        """Whether the function that runs has made the array."""
        return self._storage is OWNED and self._recording is running_recording()

    def _update(self):
        """Makes a view again if an array was assigned to meanwhile whose memory it shares."""
        if self._memory is None or self._version == self._memory.version:
            return
        if self._origin is None or self._recording.is_over:
            raise ValueError(
                f"`{self._value_text}` shares memory with a view of it that was assigned to, or may share "
                "memory with an array that was, as a reshape may: assign to the array itself and make the "
                "view afterwards, or use a copy() of either"
            )
        base, function, attributes, rule = self._origin
        base._update()
        # A function of a loop may read the view.
        with resumed(self._recording):
            again = function(base) if callable(function) else base._call(function, attributes, rule)
        self._name, self._version = again._name, self._memory.version

    def _bases(self):
        """The arrays that this one is a view of, or may be."""
        found = self
        while found._base is not None:
            found = found._base
            yield found

    def _note_rebinding(self, symbol, result, frame):
        """Notes that ``y symbol= v`` in the code of ``frame`` binds the name of this array to ``result``."""
        if is_of_jax(frame) or is_library(frame):
            return
        is_of_view = self._base is not None
        noted = Rebinding(symbol, frame.f_code.co_filename, frame.f_lineno, result, is_of_view)
        self._rebound = noted
        for view in (self, *self._bases()):
            if view._base is not None and view._base._rebound is None:
                view._base._rebound = noted._replace(part=view._origin or ())

    def _inherit_rebinding(self):
        """Notes the operator that bound the name of another view of the same array, unless the two views are
        parts by different indices, which may not overlap."""
        noted = self._base._rebound
        if noted is None or noted.part is None:
            return
        made_by = [origin[1:3] if origin else None for origin in (self._origin, noted.part)]
        if made_by[0] == made_by[1] or not all(by and by[0] == "[]" for by in made_by):
            self._rebound = noted._replace(part=None)

    def _forget_rebinding(self, value):
        """Notes that ``value`` is written into the array: ``y[key] += v`` first computes ``y[key] + v`` of a
        view."""
        for array in (self, *self._bases()):
            if array._rebound is not None and array._rebound.result is value:
                array._rebound = None

    def _warn_of_rebinding(self):
        """Warns if NumPy would have written into this array, which is read, where a name was bound. A write
        into a view is an error."""
        of_bases = (base for base in self._bases() if base._rebound and base._rebound.part is None)
        holder = self if self._rebound else next(of_bases, None)
        if holder is None:
            return
        (symbol, filename, line, _, is_of_view, _), holder._rebound = holder._rebound, None
        if is_of_view:
            # A write into a view makes other uses of its array errors.
            raise ValueError(
                f"`y {symbol}= v` assigns to a view, `y`, in line {line}, and the array that it views is "
                f"read afterwards, as `{self._value_text}`: the layout in memory decides whether NumPy "
                f"would write into it. Write array[key] {symbol}= v, to write into that array, and make "
                f"the view afterwards, or y = y {symbol} v"
            )
        what = "binds `y` to a new array, as in JAX, and the old one"
        advice = "with [...] for a whole array, to write into the array"
        warnings.warn_explicit(
            f"a compiled function is traced: `y {symbol}= v` {what} is read afterwards, as "
            f"`{self._value_text}`; NumPy would write into it. Write array[key] {symbol}= v, {advice}, or "
            f"y = y {symbol} v",
            UserWarning,
            filename,
            line,
        )

    def _become(self, value):
        """Replaces the elements by those of ``value``, of this type and shape, also in the array that this
        one is a view of."""
        written = [(self, value)]
        if self._memory is not None:
            written = self._written(value)
            self._memory.version += 1
        for array, value in written:
            array._name, array._value_text = value._name, value._value_text
            array._dtype, array._shape = value._dtype, value._shape
            if array._memory is not None:
                array._version = array._memory.version

    def _written(self, value):
        """This array and the arrays that it is a view of, with their elements after a write of ``value``. The
        list ends with a view that may be a copy of its array."""
        from . import _view_writes

        written, view = [(self, value)], self
        while view._origin is not None:
            base, *made_by = view._origin
            base._update()
            value = _view_writes.base_after_write(base._snapshot(), made_by, value._snapshot())
            if value is None:
                break
            written.append((base, value))
            view = base
        return written
