"""xarray's DataArrays, Datasets and Variables: dimensions by name.

A compiled function is traced with labelled arrays of traced values. So xarray itself defines their
operations: the alignment of dimensions and coordinates, and the attributes. The program computes exactly
the operations that xarray would have requested from NumPy. It is cached with the labels of its results, for
arguments with equal labels (`_labels.py`). Operations of indim and expressions go through
`xarray.apply_ufunc`.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
import re
import threading

import numpy as np
import xarray as xr

from . import _captured, _labels, _moved_labels, _xarray_hooks
from ._engines import name_of, refuse_mixture, refuse_out
from ._errors import IndimError, InternalError
from ._foreign import LABELLED_PRODUCT, ForeignArrayError, package_of
from ._indim import _names_axes
from ._indim import evaluate as _evaluate
from ._lookups import Lookup
from ._open_labels import LabelsReadError, OpenLabels
from ._result_labels import ResultLabels, has_coordinates, variables_of
from ._signatures import ADAPTED
from ._tracing import Tracer
from ._trees import flatten, in_container

_LABELLED = (xr.DataArray, xr.Dataset, xr.Variable)


#: Cached programs of each function, one for each combination of labels.
_MAX_PROGRAMS = 32

_lock = threading.Lock()

#: Counts the calls, so that the program whose last use is longest ago is found without a search at each call.
_uses = itertools.count()

_xarray_hooks.install()


def call(compiled, function, arguments, out):
    """A compiled function called with labelled arrays."""
    for leaf, name in zip(arguments.leaves, arguments.names):
        _variables(leaf, name)
    try:
        key, groups = _labels.of_open_call(arguments)
        return _call_with_open_labels(compiled, function, arguments, key, groups)
    except (_labels.NoKeyError, LabelsReadError):
        # The program is one for these labels alone.
        pass
    try:
        key = _labels.of_call(arguments)
    except _labels.NoKeyError:
        key = None
    cached = compiled._labelled.get(key)
    program = cached
    if program is None or not program.is_current():
        program = _Program(compiled, function, arguments)
    results, program = _run(program, compiled, function, arguments)
    program.last_use = next(_uses)
    if key is not None and program is not cached:
        _cache_program(compiled._labelled, key, program)
    return results


def _call_with_open_labels(compiled, function, arguments, key, groups):
    """The results of a program for all labels of the arguments.

    Raises:
        LabelsReadError: If the function reads labels, or fails.
    """
    program = cached = compiled._labelled.get(key)
    if program is None or not program.is_current():
        program = _Program(compiled, function, arguments, groups=groups)
    try:
        results = program(arguments)
    except Exception as error:
        # The function runs once more, for these labels alone, and raises its own errors then.
        if cached is None:
            _cache_program(compiled._labelled, key, _NoProgram(next(_uses)))
        raise LabelsReadError from error
    program.last_use = next(_uses)
    if program is not cached:
        _cache_program(compiled._labelled, key, program)
    return results


class _NoProgram:
    """Takes the place of a program for all labels if the function reads them."""

    def __init__(self, last_use):
        self.last_use = last_use

    def is_current(self):
        return True

    def __call__(self, arguments):
        self.last_use = next(_uses)
        raise LabelsReadError


def _run(program, compiled, function, arguments):
    """The results of a program, and the program that computed them: another one if this one cannot."""
    try:
        return program(arguments), program
    except ForeignArrayError:
        if program.takes_coordinates or not any(map(_dask_coordinates, arguments.leaves)):
            raise
        # The function computes with coordinates in chunks: they are inputs too.
        program = _Program(compiled, function, arguments, takes_coordinates=True)
        untraceable = None
    except Exception as error:
        # If this function is traced within another one, the other one runs as plain xarray.
        if error is not program.untraceable or any(map(holds_tracers, arguments.leaves)):
            raise
        untraceable = error
    if untraceable is not None:
        # Outside of `except`, so that errors of the function do not show this one as their context.
        from . import _plain_xarray

        return _plain_xarray.call(compiled, function, arguments, untraceable)
    return _run(program, compiled, function, arguments)


def _cache_program(programs, key, program):
    with _lock:
        programs[key] = program
        while len(programs) > _MAX_PROGRAMS:
            del programs[min(programs, key=lambda key: programs[key].last_use)]


class _Program:
    """The program of a function for labelled arrays with the same labels; with ``groups`` of their indexes,
    for all labels that are equal as these are."""

    def __init__(self, compiled, function, arguments, takes_coordinates=False, groups=None):
        self._function, self._arguments = function, arguments.without_leaves()
        self._groups = groups
        #: Whether the function computes with coordinates in Dask's chunks; otherwise they stay unchanged.
        self.takes_coordinates = takes_coordinates
        self._coordinates = [
            _dask_coordinates(leaf) if takes_coordinates else [] for leaf in arguments.leaves
        ]
        self._leaves = [
            _template(leaf, names) for leaf, names in zip(arguments.leaves, self._coordinates)
        ]
        self._counts = [len(of_leaf) for of_leaf in self._argument_arrays(arguments)]
        #: The object from which the compiled part searches for captured objects.
        self._search_root = functools.partial(
            getattr(function, ADAPTED, function), *self._arguments.static
        )
        self._search_root.__module__ = getattr(function, "__module__", None)
        #: The captured arrays, with their key.
        self._captured = None
        #: The labels of the results, for a call whose function computes no array.
        self._results = None
        #: The time of the last use, on the clock of `_uses`.
        self.last_use = 0
        #: The error of a part of the function that only arrays can run.
        self.untraceable = None

        def traced(*arrays):
            return self._traced(arrays)

        traced.__qualname__ = traced.__name__ = name_of(compiled)
        traced.__signature__ = _signature(arguments, self._coordinates)
        setattr(traced, ADAPTED, self._search_root)
        self._compiled = type(compiled)(traced)

    def is_current(self):
        """Whether the captured arrays are unchanged: labels may derive from their elements."""
        if self._captured is None:
            return False
        objects, key = self._captured
        try:
            return _labels.of_captured(objects) == key
        except _labels.NoKeyError:
            return False

    def _argument_arrays(self, arguments):
        """The arrays of each argument."""
        return [
            _variables(leaf, name, coordinates)
            for leaf, name, coordinates in zip(arguments.leaves, arguments.names, self._coordinates)
        ]

    def __call__(self, arguments):
        computed = self._compiled(*itertools.chain.from_iterable(self._argument_arrays(arguments)))
        results = next(iter(computed), self._results)
        return results.labelled(iter(computed.values()), arguments.leaves)

    def _traced(self, arrays):
        """The arrays of the results, in a dict. Its first key is the ``_Results`` that has their labels."""
        _refuse_stored(_labels.arrays_among(_captured.reachable_objects(self._search_root)))
        for array in arrays:
            if isinstance(array, Tracer):
                # xarray then calls NumPy's functions, which are all traced; the array API has fewer.
                array._recording.namespace = np
                array._recording.gives_sizes = self._groups is not None
        labels_of_trace = None if self._groups is None else OpenLabels()
        rebuilt = self._rebuilt(iter(arrays), labels_of_trace)
        before = list(map(_own_coordinates, rebuilt))
        try:
            results = self._function(*self._arguments.with_leaves(rebuilt))
            _check_unwritten(self._arguments.names, rebuilt, before)
        except (IndimError, InternalError, ForeignArrayError):
            raise
        except Exception as error:
            # Libraries raise errors of any class for traced values. A mistake is one for plain xarray too.
            self.untraceable = error
            raise
        kind, keys, values = flatten(results)
        outputs, labels = [], []
        for value in values:
            coordinates = _traced_coordinates(value)
            outputs.extend(_variables(value, "a result", coordinates))
            own = _numeric(value) if isinstance(value, xr.Dataset) else [None]
            names = [*own, *coordinates]
            tables = _tables(value, names)
            template = (
                _template(value, coordinates)
                if labels_of_trace is None
                else labels_of_trace.template(value)
            )
            labels.append(ResultLabels(template, value, names, rebuilt, tables))
        if labels_of_trace is not None and labels_of_trace.are_read:
            raise LabelsReadError
        self._results = _Results(kind, keys, labels)
        self._note_captured()
        return dict(zip(itertools.chain([self._results], itertools.count()), outputs))

    def _rebuilt(self, arrays, labels):
        """The arguments with these arrays, and with open labels if ``labels`` are those of the trace."""
        if labels is None:
            return [
                _with_arrays(leaf, [next(arrays) for _ in range(count)], names)
                for leaf, count, names in zip(self._leaves, self._counts, self._coordinates)
            ]
        return [
            next(arrays)
            if leaf is None
            else labels.argument(leaf, groups, list(itertools.islice(arrays, count)))
            for leaf, count, groups in zip(self._leaves, self._counts, self._groups)
        ]

    def _note_captured(self):
        objects = _labels.arrays_among(_captured.reachable_objects(self._search_root))
        try:
            self._captured = objects, _labels.of_captured(objects)
        except _labels.NoKeyError:
            self._captured = None


def _own_coordinates(leaf):
    """The coordinates of an argument, by name."""
    if isinstance(leaf, xr.Dataset):
        return {name: leaf._variables[name] for name in leaf._coord_names}
    return dict(leaf._coords) if isinstance(leaf, xr.DataArray) else {}


def _check_unwritten(names, leaves, before):
    """Refuses a function that writes into the coordinates of its arguments: as plain xarray it may."""
    for name, leaf, known in zip(names, leaves, before):
        found = _own_coordinates(leaf)
        written = [key for key in known if found.get(key) is not known[key]]
        if written:
            raise TypeError(
                f"the function writes into the coordinate {written[0]!r} of its argument `{name}`: write "
                f"{name} = {name}.assign_coords({written[0]}=...), or {name} = {name}.copy() before"
            )


def _refuse_stored(captured):
    """Refuses captured lazy arrays, which xarray would load whole."""
    for value in captured:
        variables = value.data_vars.values() if isinstance(value, xr.Dataset) else [value]
        for variable in variables:
            if isinstance(variable, _LABELLED) and _is_stored(getattr(variable, "variable", variable)):
                raise TypeError(
                    f"the function reads {_description(value)} which is not in memory, and would be loaded "
                    "whole: pass it as an argument after `.chunk()`, or call `.load()` before"
                )


def _description(value):
    name = getattr(value, "name", None)
    return f"a {type(value).__name__}" + (f", {name!r}," if name is not None else "")


def _is_stored(variable):
    """Whether a variable is in a file, and not in chunks of Dask."""
    return isinstance(variable._data, xr.core.indexing.ExplicitlyIndexed) and not variable._in_memory


def _signature(arguments, coordinates):
    """A signature with one parameter for each array; messages call the arrays by these names."""
    names = []
    for leaf, name, of_leaf in zip(arguments.leaves, arguments.names, coordinates):
        keys = _numeric(leaf) if isinstance(leaf, xr.Dataset) else [""]
        for key in [*keys, *of_leaf]:
            base = re.sub(r"\W+", "_", f"{name}_{key}").strip("_")
            names.append(base if base not in names else f"{base}_{len(names)}")
    kind = inspect.Parameter.POSITIONAL_ONLY
    return inspect.Signature([inspect.Parameter(name, kind) for name in names])


class _Results:
    """The containers and labels of the results of a traced function, without the arrays."""

    def __init__(self, kind, keys, labels):
        self._kind, self._keys, self._labels = kind, keys, labels

    def labelled(self, arrays, leaves):
        """The results with these arrays, for a call with these arguments."""
        values = [labels.filled(itertools.islice(arrays, labels.count), leaves) for labels in self._labels]
        return in_container(self._kind, self._keys, values)


def _variables(value, name, coordinates=()):
    """The arrays of an argument or a result: its own, and those of these coordinates."""
    if type(value) is xr.DataArray and not coordinates and type(value.variable._data) is np.ndarray:
        # The most frequent kind, without the checks of the others.
        return [value.variable._data]
    if has_coordinates(value):
        own = [(name, value.variable)] if isinstance(value, xr.DataArray) else []
        if isinstance(value, xr.Dataset):
            own = [(f"{name}[{key!r}]", value._variables[key]) for key in _numeric(value)]
        own += [(f"{name}[{key!r}]", variables_of(value)[key]) for key in coordinates]
        return [array for called, variable in own for array in _variables(variable, called)]
    if not isinstance(value, xr.Variable):
        return [value.positions if isinstance(value, Lookup) else value]
    if _is_stored(value):
        raise TypeError(
            f"`{name}` is not in memory, and would be loaded whole: call `.load()`, or `.chunk()` to have "
            "Dask load its chunks, and the result is not in memory either"
        )
    data = value.data
    if package_of(data) == "dask":
        from . import _dask

        _dask.check(data, name)
    return [data.positions if isinstance(data, Lookup) else data]


def _tables(value, names):
    """The tables of the variables of a result whose elements the program looks up, by name; ``None`` is the
    result itself."""
    found = {}
    for name in names:
        data = variables_of(value)[name] if name is not None else getattr(value, "variable", value)
        data = getattr(data, "_data", data)
        if isinstance(data, Lookup):
            found[name] = data.table
    return found


def _numeric(dataset):
    """The numeric variables of a Dataset; others are returned unchanged."""
    coordinates = dataset._coord_names
    variables = dataset._variables.items()
    return [name for name, it in variables if name not in coordinates and _is_computed(it)]


def _is_computed(variable):
    """Whether a program computes a variable: numbers, or positions of elements in a table."""
    return _labels.is_numeric(variable) or isinstance(variable._data, Lookup)


def _dask_coordinates(value):
    """The numeric coordinates in Dask's chunks, which indexes never are."""
    return _coordinates(value, lambda data: package_of(data) == "dask")


def _traced_coordinates(value):
    """The coordinates that a function computed."""
    return _coordinates(value, lambda data: isinstance(data, (Tracer, Lookup)))


def _coordinates(value, is_one):
    if not has_coordinates(value):
        return []
    variables = [(name, variables_of(value)[name]) for name in value.coords]
    return [name for name, it in variables if is_one(it._data) and _is_computed(it)]


def _with_arrays(value, arrays, coordinates=()):
    """A deep copy of an argument or a result with other arrays; the last ones are those of these coordinates.
    """
    if coordinates:
        arrays, of_coordinates = arrays[: -len(coordinates)], arrays[-len(coordinates) :]
        variables = [variables_of(value)[name] for name in coordinates]
        variables = [variable.copy(data=array) for variable, array in zip(variables, of_coordinates)]
        value = value.assign_coords(dict(zip(coordinates, variables)))
    if isinstance(value, xr.Dataset):
        numeric = dict(zip(_numeric(value), arrays))
        others = {name: it._data for name, it in value.drop_vars(numeric).copy(deep=True)._variables.items()}
        return value.copy(deep=True, data={name: (others | numeric)[name] for name in value.data_vars})
    return _without_index(value).copy(data=arrays[0]) if isinstance(value, _LABELLED) else arrays[0]


def _without_index(value):
    """An array or Variable over an index, converted to one with free elements."""
    if isinstance(value, xr.IndexVariable):
        return value.to_base_variable()
    if isinstance(value, xr.DataArray) and isinstance(value.variable, xr.IndexVariable):
        return xr.DataArray(value.variable.to_base_variable(), coords=value.coords, name=value.name)
    return value


def _template(value, coordinates):
    """An argument or a result with placeholders of no memory for its arrays; ``None`` without labels."""
    if not isinstance(value, _LABELLED):
        return None
    arrays = _variables(value, "a value", coordinates)
    stand_ins = [np.broadcast_to(np.zeros((), it.dtype), it.shape) for it in arrays]
    return _with_arrays(value, stand_ins, coordinates)


def apply(function, operands, is_positional):
    """Applies a function of arrays to labelled ones: dimensions meet by name, and the result has all of them.

    ``is_positional`` is whether the function counts axes. Then all arrays need the same dimensions in the
    same order.
    """
    if is_positional and len(_dimensions(operands)) > 1:
        raise ValueError(
            f"axes are counted, but the dimensions differ: {', '.join(map(str, _dimensions(operands)))}. "
            "Within a function of `indim.jit` reduce along a dimension by its name, `x.mean('time')`, or "
            "`transpose` and `broadcast` the arrays alike first"
        )

    def computed(*arrays):
        rank = max(np.ndim(array) for array in arrays)
        result = function(*arrays)
        if result.ndim != rank:
            raise ValueError(
                "the result has not all of the dimensions, and which it has is not known: within a function "
                "of `indim.jit` reduce along a dimension by its name, `x.mean('time')`"
            )
        return result

    join = xr.get_options()["arithmetic_join"]
    result = xr.apply_ufunc(
        computed,
        *operands,
        join=join,
        dataset_join=join,
        dataset_fill_value=np.nan,
        keep_attrs=keep_attributes(),
        dask="allowed",
    )
    if isinstance(result, xr.Dataset):
        result.attrs = attributes_of([value for value in operands if isinstance(value, _LABELLED)])
    return with_common_name(result, operands)


def with_common_name(result, operands):
    """The result with the common name of all operands, as operators keep it."""
    if isinstance(result, xr.DataArray):
        names = {value.name for value in operands if isinstance(value, xr.DataArray)}
        result.name = names.pop() if len(names) == 1 else None
    return result


def attributes_of(operands):
    """The attributes that operators combine from all operands; `apply_ufunc` of Datasets does not."""
    alike = [
        xr.Dataset(attrs=value.attrs)
        if isinstance(value, xr.Dataset)
        else xr.DataArray(0.0, attrs=value.attrs)
        for value in operands
    ]
    return functools.reduce(operator.add, alike[1:], alike[0] if len(alike) > 1 else +alike[0]).attrs


def keep_attributes():
    """The attributes that operators keep; the default of the option depends on the version of xarray."""
    option = xr.get_options()["keep_attrs"]
    if option == "default":
        kept = xr.Variable((), 0.0, {"units": "K"}) * xr.Variable((), 0.0)
        option = bool(kept.attrs)
    return "drop_conflicts" if option else "drop"


def _dimensions(operands):
    """The dimensions of labelled arrays, each order once."""
    dimensions = set()
    for value in operands:
        if isinstance(value, xr.Dataset):
            dimensions |= _dimensions(value.data_vars.values())
        elif isinstance(value, _LABELLED):
            dimensions.add(value.dims)
    return dimensions


#: Parts of an expression that count axes.
_POSITIONAL = re.compile(
    r"\b(axis|axes|dims|broadcast_dimensions|shape)\s*=|\[|\b(transpose|reshape|broadcast_to)\s*\("
)

#: Products of arrays in an expression.
_PRODUCT = re.compile(r"@|\b(matmul|matvec|vecmat|inner|outer|tensordot|einsum)\s*\(")


def evaluate(text, objects, rule, results, out):
    """An expression of labelled arrays."""
    operands = list(objects.values())
    if _PRODUCT.search(re.sub("#.*", "", str(text))):
        raise TypeError(LABELLED_PRODUCT)
    for name, value in objects.items():
        _variables(value, name)
        if rule == "named" and not isinstance(value, _LABELLED) and np.ndim(value):
            raise without_names(name)
    labelled = {name for name, value in objects.items() if isinstance(value, _LABELLED)}
    names_axes = _names_axes(text, rule)
    _moved_labels.refuse_in_expression(str(text), labelled, names_axes)
    if names_axes:
        from . import _axis_names

        return _axis_names.evaluate(text, objects, rule, results)
    # The arrays are aligned by the names of their dimensions before this rule applies.
    rule = "numpy" if rule == "named" else rule
    calls = []

    def first(*arrays):
        calls.append(_evaluate(text, dict(zip(objects, arrays)), {}, rule=rule, results=results))
        return _results(calls[-1])[0]

    is_positional = _POSITIONAL.search(str(text)) is not None
    values = [apply(first, operands, is_positional)]
    if not calls:
        raise nothing_in_common([name for name, value in objects.items() if isinstance(value, xr.Dataset)])
    for position in range(1, len(_results(calls[0]))):
        # The same calls computed the other results, which are labelled alike.
        computed = iter([_results(call)[position] for call in calls])
        values.append(apply(lambda *_: next(computed), operands, is_positional))
    kind = (
        "single"
        if not isinstance(calls[0], (tuple, dict))
        else "dict"
        if isinstance(calls[0], dict)
        else "tuple"
    )
    return in_container(kind, list(calls[0]) if kind == "dict" else [], values)


def nothing_in_common(names):
    """The error of Datasets without a common numeric variable."""
    called = ", ".join(f"`{name}`" for name in names)
    if len(names) == 1:
        return ValueError(f"the Dataset {called} has no variable of numbers")
    return ValueError(f"the Datasets {called} have no variable of numbers in common")


def without_names(name):
    """The error of an operand without names of axes under a rule that needs them."""
    return ValueError(
        f"error[axis-name-missing]: the axes of `{name}` have no names, by which rule named matches "
        "them (D4): give it as an `xarray.DataArray` with `dims`"
    )


def _results(computed):
    if isinstance(computed, dict):
        return list(computed.values())
    return computed if isinstance(computed, tuple) else [computed]


def operation(function_name, function, operands, attributes, out):
    """One operation of indim, a function of arrays, on labelled ones, which may be traced values with
    labels."""
    refuse_out(out)
    refuse_mixture([f"operand {position}" for position in range(len(operands))], operands)
    for position, value in enumerate(operands):
        _variables(value, f"operand {position}")
    _moved_labels.refuse(function_name)
    is_positional = any(keyword in (None, "axis", "broadcast_dimensions") for keyword, _ in attributes)
    return apply(function, operands, is_positional)


def holds_tracers(value):
    """Whether a labelled array, or a variable of a Dataset, holds a traced value."""
    if isinstance(value, xr.Dataset):
        return any(holds_tracers(variable) for variable in value.data_vars.values())
    return isinstance(value, _LABELLED) and isinstance(getattr(value, "variable", value)._data, Tracer)


def along(function, operands, names, out):
    """``function(array, axes)`` along named dimensions of an array with labels, within a traced function."""
    refuse_out(out)
    if len(operands) != 1:
        raise TypeError(
            "a function of several operands names no axes while a function is traced: write it by products "
            "and `x.sum('time')`"
        )
    operand = operands[0]
    _variables(operand, "operand 0")

    def reduced(array, axis=None):
        # xarray passes no axis if it reduces along all of them.
        axes = range(array.ndim) if axis is None else axis
        return function(array, [axes] if isinstance(axes, int) else list(axes))

    return operand.reduce(reduced, dim=names, keep_attrs=keep_attributes() != "drop")
