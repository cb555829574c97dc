"""The elements of outside arrays that NumPy or Python may read while a function is traced.

``x * w.sum()`` has a number of NumPy in its program. So the trace is valid while the elements of ``w`` are
those of the trace, and each call compares them with a copy. Arrays that the program itself reads at each call
are compared only if the code of the function uses them elsewhere too, as in ``x * w + w[0]``.
"""

from __future__ import annotations

import collections
import dis
import functools
import types

import numpy as np

from ._captured import CONTAINERS, MAX_ENTRIES, frames_of_trace

#: Maximum bytes of an array whose elements are compared: a comparison takes less than a microsecond.
MAX_BYTES = 16 << 10

#: Maximum bytes of all arrays of a trace that are compared.
MAX_TOTAL_BYTES = 128 << 10

#: Instructions that read names and attributes, other than local names.
_READS = {"LOAD_ATTR", "LOAD_CLASSDEREF", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_METHOD", "LOAD_NAME"}

#: Attributes of an array that do not depend on its elements.
_OF_TYPE = {"dtype", "itemsize", "nbytes", "ndim", "shape", "size", "strides"}


def has_contents(array, copy):
    """Whether an array has the element type, the sizes and the bytes of a copy."""
    return array.dtype == copy.dtype and array.shape == copy.shape and array.tobytes() == copy.tobytes()


class ArrayUses:
    """The places in a traced function where its program takes outside arrays as inputs."""

    def __init__(self):
        #: By the identity of the array: the array, the places, and the names of the array by their code.
        self._uses = {}

    def note(self, value):
        """Notes that the program reads the elements of ``value``, or of the array that it is a view of."""
        frames = None
        while isinstance(value, np.ndarray):
            frames = frames_of_trace() if frames is None else frames
            _, places, names = self._uses.setdefault(id(value), (value, set(), collections.defaultdict(set)))
            for frame in frames:
                places.add((frame.f_code, frame.f_lasti))
                names[frame.f_code].update(name for name, held in frame.f_locals.items() if held is value)
            value = value.base

    def read_elsewhere(self, names, codes):
        """The identities of the arrays that some code may read where the program does not take them as
        inputs. ``names`` has the identities of the arrays that each name leads to."""
        found, local_names = set(), collections.defaultdict(set)
        for identity, (_, _, names_by_code) in self._uses.items():
            for code, local in names_by_code.items():
                local_names[code] |= {(name, identity) for name in local}
        for code in {*codes, *local_names}:
            counts = _read_counts(code)
            of_code = {name: set(names[name]) for name in counts if name in names}
            for name, identity in local_names.get(code, ()):
                of_code.setdefault(name, set()).add(identity)
            for name, identities in of_code.items():
                if counts.get(name, 0) > len(self._places(code, identities)):
                    found |= identities
        return found

    def _places(self, code, identities):
        """The places in some code where the program takes one of these arrays."""
        uses = [self._uses[identity][1] for identity in identities if identity in self._uses]
        return {offset for places in uses for of, offset in places if of == code}

    def __contains__(self, array):
        return id(array) in self._uses


class Contents:
    """Copies of the small arrays that a function can reach, before it is traced."""

    def __init__(self, walk):
        self._copies, total = [], 0
        for value in walk.visited.values():
            if isinstance(value, np.ndarray) and not value.dtype.hasobject and value.nbytes <= MAX_BYTES:
                total += value.nbytes
                if total <= MAX_TOTAL_BYTES:
                    self._copies.append((value, np.array(value, order="C", subok=False)))

    def captures(self, walk, uses):
        """The captures of the arrays whose elements NumPy or Python may have read; ``walk`` is the one after
        the trace. Arrays that the function itself has changed are left out."""
        elsewhere = uses.read_elsewhere(_names_of_arrays(walk), _codes(walk))
        return [
            ("contents", array, None, copy)
            for array, copy in self._copies
            if (array not in uses or id(array) in elsewhere) and has_contents(array, copy)
        ]


def _names_of_arrays(walk):
    """The identities of the arrays that each name or attribute leads to, in containers too."""
    names = collections.defaultdict(set)
    for kind, holder, key, value in walk.captures.values():
        if kind != "entries":
            for name in walk.cell_names.get(id(holder), (key,)):
                names[name] |= _arrays_in(value)
    return names


def _arrays_in(value):
    """The identities of the arrays in nested containers."""
    pending, visited, found = [value], set(), set()
    while pending:
        value = pending.pop()
        if isinstance(value, np.ndarray):
            found.add(id(value))
            continue
        is_searched = isinstance(value, (tuple, *CONTAINERS)) and len(value) <= MAX_ENTRIES
        if is_searched and id(value) not in visited:
            visited.add(id(value))
            pending.extend(value.values() if isinstance(value, dict) else value)
    return found


def _codes(walk):
    """The code of the functions that a walk has found, with that of the functions within them."""
    pending = [value.__code__ for value in walk.visited.values() if isinstance(value, types.FunctionType)]
    found = set()
    while pending:
        code = pending.pop()
        if code not in found:
            found.add(code)
            pending += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return found


@functools.lru_cache(maxsize=1024)
def _read_counts(code):
    """How often some code reads each name, other than for the type of an array."""
    instructions, counts = list(dis.get_instructions(code)), collections.Counter()
    for instruction, after in zip(instructions, (*instructions[1:], None)):
        if instruction.opname not in _READS and not instruction.opname.startswith("LOAD_FAST"):
            continue
        if after is None or after.opname != "LOAD_ATTR" or after.argval not in _OF_TYPE:
            # One instruction may read two names.
            names = instruction.argval
            counts.update(names if isinstance(names, tuple) else (names,))
    return counts
