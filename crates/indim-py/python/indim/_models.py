"""Programs in the files of other systems: StableHLO, HLO, OpenVINO IR and ONNX."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy

from . import _arrays, _foreign
from ._explain import of_program
from ._indim import _Model
from ._lint import lint_file
from ._written import WrittenModel


class ModelInput(NamedTuple):
    """An input of a model: its name, element type and sizes, as far as the file says them.

    A size is a number, a name (equal names, equal sizes), a range (``"1..5"``) or ``None``; ``dtype`` and
    ``shape`` are ``None`` if the file leaves them open. An input with a default may be omitted. The elements
    of an input with ``is_shape`` are sizes; the program is compiled again for other elements.
    """

    name: str
    dtype: str | None
    shape: tuple[int | str | None, ...] | None
    has_default: bool
    is_shape: bool


class Model:
    """A program from a file, to be called on arrays.

    The inputs are positional in the file's order, or keywords of their names. A program with one output
    returns an array, one with several a tuple. A model called again with arrays of the same types is compiled
    once.
    """

    def __init__(self, path, content=None, function=None, part=None):
        self._model = _Model(path, content, function, part)
        self._options = function, part
        self.inputs = tuple(
            ModelInput(name, dtype, None if sizes is None else tuple(sizes), has_default, is_shape)
            for name, dtype, sizes, has_default, is_shape in self._model.inputs()
        )
        self.outputs = tuple(self._model.outputs())

    def __call__(self, *args, order="K", **kwargs):
        results = self._model.run(self._bind(args, kwargs, _input), order)
        return results[0] if len(results) == 1 else tuple(results)

    def explain(self, *args, **kwargs):
        """Explains every broadcast of the program, with its place in the file.

        Inputs are arrays or types (``"f32[8, 3]"``); where the file declares them whole, none are needed.
        """
        return of_program(*self._model.explain(self._bind(args, kwargs, _arrays.placeholder)))

    def lint(self, *, declare=None, allow=()):
        """Findings about the broadcasts of the file: see :func:`indim.lint`."""
        name, content = self._model.content()
        # A network of OpenVINO keeps its constants next to the file, but findings need no elements.
        return lint_file(name, content, self._options[0], declare, allow)

    def to(self, format, *args, path=None, exact=False, opset=None, **kwargs):
        """The program in the format of another system: ``"stablehlo"``, ``"hlo"``, ``"openvino"`` or
        ``"onnx"``.

        Inputs are arrays or types (``"f32[8, 3]"``); where the file declares them whole, none are needed.
        Operations that the format lacks are composed of others, and listed in ``composed`` of the result;
        ``exact=True`` refuses them. In the format of the file itself, nodes that indim cannot write are
        copied, and counted in ``carried``. ``opset`` is the version of the operation set. With ``path`` the
        file is written there, and its companion file into the same folder.
        """
        inputs = self._bind(args, kwargs, _arrays.placeholder)
        return WrittenModel(*self._model.write((format, path, exact, opset), inputs))

    def _bind(self, args, kwargs, convert=None):
        return bind_arguments(self.inputs, args, kwargs, convert)

    def __repr__(self):
        return f"<indim.Model {signature(self)}>"

    def __reduce__(self):
        name, content = self._model.content()
        # The path alone, if the file exists: its external file is found only next to it.
        return Model, (name, None if os.path.exists(name) else content, *self._options)


def _input(value):
    """An input of a model, whose results are arrays."""
    return value if type(value) is numpy.ndarray else _foreign.without_package(value, "an input")


def bind_arguments(inputs, args, kwargs, convert=None):
    """The argument of each input, ``None`` for an omitted one."""
    if len(args) > len(inputs):
        raise TypeError(f"the program takes {len(inputs)} inputs, {len(args)} were given")
    bound = dict(zip((declared.name for declared in inputs), args))
    for name, value in kwargs.items():
        if name in bound:
            raise TypeError(f"the input `{name}` is given twice")
        bound[name] = value
    unknown = bound.keys() - {declared.name for declared in inputs}
    if unknown:
        names = ", ".join(declared.name for declared in inputs)
        raise TypeError(f"no input is called `{sorted(unknown)[0]}`: the inputs are {names}")
    return [_convert_argument(declared, bound.get(declared.name), convert) for declared in inputs]


def signature(model):
    """The inputs of a model with their types, and its outputs."""
    inputs = ", ".join(f"{declared.name}: {_type_text(declared)}" for declared in model.inputs)
    return f"({inputs}) -> {', '.join(model.outputs)}"


def _type_text(declared):
    if declared.shape is None:
        return f"{declared.dtype or '?'}[...]"
    sizes = ", ".join("?" if size is None else str(size) for size in declared.shape)
    return f"{declared.dtype or '?'}[{sizes}]"


def _convert_argument(declared, value, convert):
    """The argument of an input; a Python number takes the type that the file declares."""
    if value is None:
        return None
    if declared.dtype is not None and isinstance(value, (bool, int, float, complex)):
        return _number_of_type(declared, value)
    if convert is not None and (isinstance(value, str) or not declared.is_shape):
        return convert(value)
    return value if isinstance(value, numpy.ndarray) else numpy.asarray(value)


def _number_of_type(declared, number):
    """A Python number as an array of the element type that the file declares for the input."""
    dtype = _arrays.numpy_dtype(_arrays.indim_name(declared.dtype))
    is_whole = isinstance(number, (bool, int))
    if not is_whole and dtype.kind in "biu" or isinstance(number, complex) and dtype.kind == "f":
        raise TypeError(
            f"the input `{declared.name}` has the element type {dtype}, and {number!r} is not a number of it"
        )
    return numpy.asarray(number, dtype=dtype)


def names_of(names, argument):
    """A list of names, from an argument that may be a single name by mistake."""
    if isinstance(names, str):
        raise TypeError(f"{argument} is a list of names: write {argument}=[{names!r}]")
    return list(names)
