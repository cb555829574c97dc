"""Loads programs from files, with nodes that indim lacks computed by Python functions."""

from __future__ import annotations

import os

import numpy

from . import _arrays
from ._errors import IndimError
from ._indim import _foreign_nodes, _write_carried
from ._lint import lint_file
from ._models import Model, bind_arguments, names_of, signature
from ._opaque_model import OpaqueModel
from ._written import WrittenModel


class ProvidedModel:
    """A callable program from a file, some of whose nodes Python functions compute.

    Each function takes the operands of its node as NumPy arrays, ``None`` for one that the node omits, and
    returns its result, or a tuple of its results. The parts of the program between these nodes are compiled.
    """

    def __init__(self, path, content, function, part, provide):
        self._options = path, content, function, part, dict(provide)
        order, nodes, inner_nodes = _foreign_nodes(path, content, function, part)
        _check_inner_nodes(inner_nodes, provide)
        starts, ends = part
        if not starts and not ends:
            _check_known(provide, (*nodes, *inner_nodes))
        available = list(starts)
        self._stages = []
        for operator, name, operands, results in nodes:
            node_function = provide.get(name) or provide.get(operator)
            if node_function is None or all(result is None or result in available for result in results):
                continue
            requested = _distinct(operand for operand in operands if operand not in available)
            model = self._model(available, requested)
            self._stages.append((model, requested, node_function, operands, results))
            available += requested + [result for result in results if result is not None]
        self._last = Model(path, content, function, (available, ends))
        self.inputs = self._inputs(order, starts)
        self.outputs = self._last.outputs

    def _model(self, available, requested):
        path, content, function, _, _ = self._options
        return Model(path, content, function, (tuple(available), tuple(requested))) if requested else None

    def _inputs(self, order, starts):
        """The inputs of the program: inputs of stages that no earlier stage computes, in the file's order."""
        computed = {name for _, requested, _, _, results in self._stages for name in (*requested, *results)}
        models = [stage[0] for stage in self._stages if stage[0]] + [self._last]
        declared = {}
        for model in models:
            for model_input in model.inputs:
                name = model_input.name
                if name in order or name in starts or name not in computed:
                    declared.setdefault(name, model_input)
        first = [name for name in order if name in declared]
        return tuple(declared[name] for name in _distinct([*first, *declared]))

    def __call__(self, *args, order="K", **kwargs):
        names = [declared.name for declared in self.inputs]
        values = dict(zip(names, bind_arguments(self.inputs, args, kwargs)))
        for model, requested, node_function, operands, results in self._stages:
            if model is not None:
                values.update(zip(requested, self._run(model, values, order)))
            arguments = (None if name is None else _array(values[name]) for name in operands)
            node_results = node_function(*arguments)
            node_results = node_results if isinstance(node_results, (tuple, list)) else (node_results,)
            if len(node_results) != len(results):
                counts = f"has {len(results)} results, {len(node_results)} were returned"
                raise ValueError(f"the node of {results[0]} {counts}")
            values.update(
                (name, numpy.asarray(value)) for name, value in zip(results, node_results) if name is not None
            )
        results = self._run(self._last, values, order)
        return results[0] if len(results) == 1 else tuple(results)

    def to(self, format, *args, path=None, exact=False, opset=None, **kwargs):
        """The program in its own format, with copies of the nodes that indim lacks: see :meth:`Model.to`.

        The functions that compute these nodes are no part of it. Another format is an error, which names the
        nodes.
        """
        file, content, function, part, _ = self._options
        bound = bind_arguments(self.inputs, args, kwargs, _arrays.placeholder)
        inputs = list(zip((declared.name for declared in self.inputs), bound))
        destination = format, path, exact, opset
        part = tuple(list(names) for names in part)
        return WrittenModel(*_write_carried(file, content, function, part, destination, inputs))

    def lint(self, *, declare=None, allow=()):
        """Findings about the broadcasts of the file: see :func:`indim.lint`."""
        path, content, function, _, _ = self._options
        return lint_file(path, content, function, declare, allow)

    @staticmethod
    def _run(model, values, order):
        arguments = [values.get(declared.name) for declared in model.inputs]
        return model._model.run(arguments, order)

    def __repr__(self):
        return f"<indim.ProvidedModel {signature(self)}>"

    def __reduce__(self):
        path, content, function, part, provide = self._options
        return ProvidedModel, (path, content, function, part, provide)


def check_names(path, content, function, part, names):
    """Refuses names of functions for nodes that the program lacks, or that indim computes itself."""
    _, nodes, inner_nodes = _foreign_nodes(path, content, function, part)
    if not any(part):
        _check_known(names, (*nodes, *inner_nodes))


def _check_known(provide, nodes):
    """Refuses functions for nodes that the program lacks, or that indim computes itself."""
    known = _distinct(name for operator, node_name, *_ in nodes for name in (operator, node_name))
    for name in provide:
        # The loop or branch around a foreign node is known by its own operator and name.
        if name not in known and all(name not in node[2:] for node in nodes if len(node) == 4):
            listed = ", ".join(map(repr, known[:10])) or "none"
            raise ValueError(
                f"provide has a function for {name!r}, but the program has no such node that indim lacks; "
                f"operators and names of such nodes: {listed}"
            )


def _check_inner_nodes(nodes, provide):
    """Refuses functions for nodes of loops and branches, unless the loop or branch is provided as a whole."""
    for operator, name, outer_operator, outer_name in nodes:
        is_provided = name in provide or operator in provide
        if is_provided and outer_name not in provide and outer_operator not in provide:
            raise ValueError(
                f"{operator} {name} stands in a body of {outer_operator} {outer_name}, and functions compute "
                f"only nodes outside of bodies: provide {{{outer_name!r}: function}} instead, a function of "
                "the operands of this node and of the values that its bodies read, which returns its results"
            )


def _distinct(names):
    return list(dict.fromkeys(name for name in names if name is not None))


def _array(value):
    return value if isinstance(value, numpy.ndarray) else numpy.asarray(value)


def load(source, *, function=None, inputs=(), outputs=(), provide=None):
    """Loads a program: StableHLO, HLO, OpenVINO IR or ONNX. The content determines the format.

    ``source`` is the path of a file, or the content as ``bytes``. ``function`` is the function that runs, if
    the file has several. With ``inputs`` and ``outputs`` only the part of the program between values of these
    names is loaded. Nodes outside that part do not run, so they may be nodes that indim lacks.

    ``provide`` maps the operator or the name of a node that indim lacks to a function that computes it:
    ``{"com.acme.Whiten": whiten}``. The function takes the operands as arrays, and returns the result, or a
    tuple of results. The node may stand in a function of the model. If it stands in the body of a loop or
    branch, provide the loop or branch, by its name: its function takes the operands, then the other values
    that the bodies read.

    A program that has nodes which indim lacks is an `OpaqueModel`: ``lint`` checks it, ``provide`` adds a
    function, and a call without the functions raises an error that names these nodes.
    """
    part = (names_of(inputs, "inputs"), names_of(outputs, "outputs"))
    is_content = isinstance(source, (bytes, bytearray, memoryview))
    path, content = ("<bytes>", bytes(source)) if is_content else (os.fspath(source), None)
    if provide:
        return with_functions(path, content, function, part, provide)
    try:
        return Model(path, content, function, part)
    except IndimError as error:
        # A part that the caller chose runs as it is, or not at all.
        if error.code != "unsupported-op" or any(part):
            raise
        return OpaqueModel(path, content, function, part)


def with_functions(path, content, function, part, provide):
    """The program with functions for nodes that indim lacks; without functions it has none to lack."""
    if not provide:
        return Model(path, content, function, part)
    return ProvidedModel(path, content, function, part, provide)
