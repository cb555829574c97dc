"""Element-wise computation on NumPy arrays in which every broadcast is explicit, checked and free.

``evaluate`` computes expressions given as text, with numexpr's habits; ``jit`` compiles Python functions;
``indim.xla``, ``indim.numpy``, ``indim.pdpd`` and their kin hold every operation under one rule.
"""

from __future__ import annotations

import json as _json
import os as _os

from . import _indim
from ._errors import (
    ElementTypeError,
    ExprError,
    FormatError,
    IndimError,
    InternalError,
    ShapeError,
    UnknownNameError,
)
from ._explain import Explanation, explain
from ._functions import (
    asarray,
    astype,
    broadcast_in_dim,
    broadcast_to,
    convert_element_type,
    expand_dims,
    permute_dims,
    reshape,
    signbit,
    transpose,
)
from ._gradients import Gradient, grad, value_and_grad, vjp
from ._indim import (
    broadcast_shapes,
    convert,
    evaluate,
    explain_error,
    get_num_threads,
    limit_memory,
    re_evaluate,
    set_memory_pool_limit,
    set_num_threads,
    validate,
)
from ._jit import CompiledFunction, jit
from ._models import Model, ModelInput, load
from ._numexpr import (
    MAX_THREADS,
    detect_number_of_cores,
    detect_number_of_threads,
    get_vml_num_threads,
    get_vml_version,
    set_vml_accuracy_mode,
    set_vml_num_threads,
    use_vml,
)
from ._operations import define as _define, exported as _exported
from . import _array_functions, _compositions, _reductions, _views, expressions, necompiler, none, numpy
from . import onnx_legacy
from . import pdpd, stablehlo, utils, xla
from ._written import Decomposition, WrittenModel
from .expressions import E
from .necompiler import NumExpr, disassemble

__version__ = _indim.__version__

_functions_by_attributes = _define("as-written")
for _function in _functions_by_attributes.values():
    _function.__module__ = __name__
globals().update(_functions_by_attributes)
_compositions.register(_functions_by_attributes)
_reductions.register(_functions_by_attributes)
del _function


def oracle(case):
    """The verdict on one case, a dict or a line of JSON: what the rules say of it, and the values if it has
    data."""
    text = case if isinstance(case, str) else _json.dumps(case)
    return _json.loads(_indim._verdict(text))


if hasattr(_os, "register_at_fork"):
    # A forked child has none of its parent's threads.
    _os.register_at_fork(after_in_child=_indim._forget_threads)

# Not `numpy`: `from indim import *` leaves the reader's own.
__all__ = _exported(
    {
        "CompiledFunction",
        "Decomposition",
        "E",
        "ElementTypeError",
        "Explanation",
        "ExprError",
        "FormatError",
        "Gradient",
        "IndimError",
        "InternalError",
        "MAX_THREADS",
        "Model",
        "ModelInput",
        "NumExpr",
        "ShapeError",
        "UnknownNameError",
        "WrittenModel",
        "asarray",
        "astype",
        "broadcast_in_dim",
        "broadcast_shapes",
        "broadcast_to",
        "convert",
        "convert_element_type",
        "detect_number_of_cores",
        "detect_number_of_threads",
        "disassemble",
        "evaluate",
        "expand_dims",
        "explain",
        "explain_error",
        "get_num_threads",
        "get_vml_num_threads",
        "get_vml_version",
        "grad",
        "jit",
        "limit_memory",
        "load",
        "none",
        "onnx_legacy",
        "oracle",
        "pdpd",
        "permute_dims",
        "re_evaluate",
        "reshape",
        "set_memory_pool_limit",
        "set_num_threads",
        "set_vml_accuracy_mode",
        "set_vml_num_threads",
        "signbit",
        "stablehlo",
        "transpose",
        "use_vml",
        "validate",
        "value_and_grad",
        "vjp",
        "xla",
    }
    | set(_functions_by_attributes)
)
