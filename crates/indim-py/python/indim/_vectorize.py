"""``vectorize``: a function of numbers, or of arrays of core axes, over broadcast arguments."""

from __future__ import annotations

import functools
import re

import numpy as np

from ._functions import asarray
from ._tracing import Tracer
from ._vectorized import vmap

_ARGUMENT = r"\(\s*(\w+\s*(,\s*\w+\s*)*)?\)"
_LIST = f"{_ARGUMENT}(\\s*,\\s*{_ARGUMENT})*"


class vectorize:
    """The function that applies ``pyfunc`` to every element, as ``np.vectorize`` and ``jnp.vectorize`` do.

    The arguments broadcast against each other. ``excluded`` has positions and names of arguments that are
    passed unchanged. With a ``signature`` such as ``"(m,n),(n)->(m)"`` the function takes arrays of these
    core axes, which are the last axes of the arguments. ``pyfunc`` is recorded once and computed for all
    elements at once; so it takes no ``if`` on elements: write ``np.where``. ``otypes`` are the types of the
    results.

    >>> import indim, numpy as np
    >>> weighted = indim.numpy.vectorize(lambda x, w: x @ w, signature="(n),(n)->()")
    >>> weighted(np.ones((2, 3)), np.array([1.0, 2.0, 4.0]))
    array([7., 7.])
    """

    def __init__(self, pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None):
        functools.update_wrapper(self, pyfunc)
        self.pyfunc, self.excluded = pyfunc, frozenset(excluded or ())
        self.otypes = None if otypes is None else [np.dtype(code) for code in otypes]
        self.signature = signature
        self._cores = None if signature is None else _parsed(signature)

    def __call__(self, *args, **kwargs):
        places = [place for place in range(len(args)) if place not in self.excluded]
        names = [name for name in kwargs if name not in self.excluded]
        operands = [asarray(args[place]) for place in places] + [asarray(kwargs[name]) for name in names]
        if not operands:
            return self.pyfunc(*args, **kwargs)
        cores = [()] * len(operands) if self._cores is None else self._cores[0]
        if len(cores) != len(operands):
            raise TypeError(
                f"vectorize: the signature {self.signature} has {len(cores)} arguments, not {len(operands)}"
            )
        _check(self.signature, cores, operands)
        ranks = [operand.ndim - len(core) for operand, core in zip(operands, cores)]
        shapes = [tuple(operand.shape) for operand in operands]
        outer = np.broadcast_shapes(*(shape[:rank] for shape, rank in zip(shapes, ranks)))
        count = int(np.prod(outer, dtype=object))
        rows = [
            np.broadcast_to(operand, outer + shape[rank:]).reshape((count, *shape[rank:]))
            for operand, shape, rank in zip(operands, shapes, ranks)
        ]

        def of_one(*row):
            passed, named = list(args), dict(kwargs)
            for place, item in zip(places, row):
                passed[place] = item
            named.update(zip(names, row[len(places) :]))
            return self._typed(self.pyfunc(*passed, **named))

        of_one.__qualname__ = getattr(self.pyfunc, "__qualname__", "vectorize")
        of_one.__module__ = getattr(self.pyfunc, "__module__", None)
        results = vmap(of_one)(*rows)
        if isinstance(results, tuple):
            return tuple(result.reshape(outer + tuple(result.shape[1:])) for result in results)
        return results.reshape(outer + tuple(results.shape[1:]))

    def _typed(self, results):
        """The results of one element in their types, with the number of axes that the signature has."""
        is_tuple = isinstance(results, tuple)
        found = [asarray(result) for result in (results if is_tuple else (results,))]
        cores = [()] * len(found) if self._cores is None else self._cores[1]
        if len(cores) != len(found):
            raise ValueError(
                f"vectorize: the function returns {len(found)} results, the signature has {len(cores)}"
            )
        for result, core in zip(found, cores):
            if result.ndim != len(core):
                raise ValueError(
                    f"vectorize: a result has {result.ndim} axes, where the signature has {len(core)}"
                )
        if self.otypes is not None:
            found = [result.astype(dtype) for result, dtype in zip(found, self.otypes)]
        return tuple(found) if is_tuple else found[0]

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)


def _parsed(signature):
    """The names of the core axes of each argument and of each result."""
    text = signature.replace(" ", "")
    if not re.fullmatch(f"({_LIST})?->{_LIST}", text):
        raise ValueError(f"not a valid gufunc signature: {signature}")
    return tuple(
        [tuple(filter(None, axes.split(","))) for axes in re.findall(r"\(([^()]*)\)", side)]
        for side in text.split("->")
    )


def _check(signature, cores, operands):
    """Refuses arguments whose core axes differ in size."""
    sizes = {}
    for core, operand in zip(cores, operands):
        if operand.ndim < len(core):
            raise ValueError(
                f"vectorize: an argument has {operand.ndim} axes, where {signature} has {len(core)} core axes"
            )
        shape = operand._shape if isinstance(operand, Tracer) else operand.shape
        for name, size in zip(core, shape[len(shape) - len(core) :]):
            if sizes.setdefault(name, size) != size:
                raise ValueError(
                    f"vectorize: the core axis `{name}` of {signature} has the sizes {sizes[name]} and {size}"
                )
