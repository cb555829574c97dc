"""Element-wise computation on NumPy arrays in which every broadcast is explicit, checked and free.

``evaluate`` computes expressions given as text, and ``indim.numexpr`` is a drop-in for numexpr. ``jit``
compiles Python functions. ``indim.xla``, ``indim.numpy``, ``indim.pdpd`` and the like have every operation
under one rule.
"""

from __future__ import annotations

import os as _os
import warnings as _warnings

from . import _indim
from ._errors import (
    AxisError,
    ElementTypeError,
    ExprError,
    FormatError,
    IndexRangeError,
    IndimError,
    InternalError,
    NumberRangeError,
    ShapeError,
    UndefinedOperationError,
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
from ._associative import linear_recurrence
from ._custom_derivatives import custom_jvp, custom_vjp
from ._gradients import Gradient, grad, jvp, value_and_grad, vjp
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
from ._jacobians import hessian, jacfwd, jacobian, jacrev
from ._jax_names import Array, ShapeDtypeStruct, block_until_ready, checkpoint, default_backend, device_count
from ._jax_names import device_get, device_put, devices, eval_shape, linearize, local_device_count
from ._jax_names import local_devices, make_jaxpr, named_call, remat, typeof
from ._jit import CompiledFunction, jit
from ._lint import Finding, LintReport, OperandType, lint
from ._loops import cond, fori_loop, scan, switch, while_loop
from ._models import Model, ModelInput
from ._operations import define as _define, exported as _exported
from ._profile import Profile, ProfiledNest, ProfiledProgram, profile
from ._progress import set_progress
from ._opaque_model import OpaqueModel
from ._provided import ProvidedModel, load
from . import _array_functions, _compositions, _data_size_functions, _products, _reductions, _sorting
from . import _assignments, _calculus_functions, _creation_functions, _elementwise_functions, _linear_algebra
from . import _determinants, _factorisations, _fourier, _polynomials
from . import _host_calls, _shape_functions, _statistics_functions, _views
from ._scatters import at, bincount, one_hot, put_along_axis
from ._scatters import segment_max, segment_min, segment_prod, segment_sum
from ._sizes_from_data import argwhere, compress, extract, flatnonzero, nonzero, unique
from ._sorting import digitize, interp, median, nanmedian, nanquantile, percentile, quantile, top_k
from ._written import Decomposition, WrittenModel
from ._vectorized import vmap

__version__ = _indim.__version__

_functions_by_attributes = _define("as-written")
for _function in _functions_by_attributes.values():
    _function.__module__ = __name__
# The public `linear_recurrence` promotes and broadcasts its operands.
globals().update(_functions_by_attributes | {"linear_recurrence": linear_recurrence})
_compositions.register(_functions_by_attributes)
_reductions.register(_functions_by_attributes)
_products.register(_functions_by_attributes)
_sorting.register(_functions_by_attributes)
del _function


def oracle(case):
    """The verdict of the rules on a case, a dict or a line of JSON, with values if the case has data."""
    # `import indim` is faster without this module.
    import json

    text = case if isinstance(case, str) else json.dumps(case)
    return json.loads(_indim._verdict(text))


#: numexpr's names, which earlier versions had here.
_NUMEXPR_NAMES = (
    *("E", "MAX_THREADS", "NumExpr", "disassemble", "expressions", "get_vml_num_threads", "get_vml_version"),
    *("necompiler", "set_vml_accuracy_mode", "set_vml_num_threads", "use_vml", "utils"),
)


#: Modules that are imported when they are read, and names that are read from them.
_LATE_MODULES = {
    *("array_api", "debug", "fft", "flatten_util", "image", "lax", "nn", "none", "numexpr", "numpy"),
    *("onnx_legacy", "ops", "pdpd", "random", "scipy", "stablehlo", "tree", "tree_util", "xla"),
}
_LATE_NAMES = {"detect_number_of_cores": "numexpr", "detect_number_of_threads": "numexpr"}


#: Names of `jax` that indim does not have, with advice.
_REFUSED = {
    "config": "there are no such settings, and float64 and int64 keep their types as with jax_enable_x64; "
    "delete the line",
    "disable_jit": "call the function without indim.jit",
    "linear_transpose": "write indim.vjp at any point, whose pullback is the transpose",
    "named_scope": "names have no effect; delete the line",
    "pure_callback": "compute it before the call and pass it as an argument",
}


def __getattr__(name):
    if name in _LATE_MODULES:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name in _LATE_NAMES:
        return getattr(__getattr__(_LATE_NAMES[name]), name)
    if name in _NUMEXPR_NAMES:
        moved = f"indim.{name} is now indim.numexpr.{name}"
        _warnings.warn(moved, DeprecationWarning, stacklevel=2)
        return getattr(__getattr__("numexpr"), name)
    if name in _REFUSED:
        raise AttributeError(f"indim has no {name!r} of JAX: {_REFUSED[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted(globals().keys() | _LATE_MODULES | _LATE_NAMES.keys())


if hasattr(_os, "register_at_fork"):
    # A forked child has no threads of its parent.
    _os.register_at_fork(after_in_child=_indim._forget_threads)

# Without `numpy`, `numexpr` and `random`: after `from indim import *` these names are the packages.
__all__ = _exported(
    {
        "Array",
        "AxisError",
        "CompiledFunction",
        "Decomposition",
        "ElementTypeError",
        "Explanation",
        "ExprError",
        "Finding",
        "FormatError",
        "Gradient",
        "IndexRangeError",
        "IndimError",
        "InternalError",
        "LintReport",
        "Model",
        "ModelInput",
        "NumberRangeError",
        "OperandType",
        "Profile",
        "ProfiledNest",
        "ProfiledProgram",
        "OpaqueModel",
        "ProvidedModel",
        "ShapeDtypeStruct",
        "ShapeError",
        "UndefinedOperationError",
        "UnknownNameError",
        "WrittenModel",
        "argwhere",
        "array_api",
        "asarray",
        "astype",
        "at",
        "bincount",
        "block_until_ready",
        "broadcast_in_dim",
        "broadcast_shapes",
        "broadcast_to",
        "checkpoint",
        "compress",
        "cond",
        "convert",
        "convert_element_type",
        "custom_jvp",
        "custom_vjp",
        "default_backend",
        "detect_number_of_cores",
        "detect_number_of_threads",
        "device_count",
        "device_get",
        "device_put",
        "devices",
        "digitize",
        "eval_shape",
        "evaluate",
        "expand_dims",
        "explain",
        "explain_error",
        "extract",
        "flatnonzero",
        "fft",
        "fori_loop",
        "get_num_threads",
        "grad",
        "hessian",
        "interp",
        "jacfwd",
        "jacobian",
        "jacrev",
        "jit",
        "jvp",
        "limit_memory",
        "lax",
        "linear_recurrence",
        "linearize",
        "lint",
        "load",
        "local_device_count",
        "local_devices",
        "make_jaxpr",
        "median",
        "named_call",
        "nanmedian",
        "nanquantile",
        "nn",
        "none",
        "nonzero",
        "one_hot",
        "put_along_axis",
        "onnx_legacy",
        "ops",
        "oracle",
        "pdpd",
        "percentile",
        "permute_dims",
        "profile",
        "quantile",
        "re_evaluate",
        "remat",
        "reshape",
        "scan",
        "segment_max",
        "segment_min",
        "segment_prod",
        "segment_sum",
        "set_memory_pool_limit",
        "set_num_threads",
        "set_progress",
        "signbit",
        "stablehlo",
        "switch",
        "top_k",
        "tree",
        "tree_util",
        "transpose",
        "typeof",
        "unique",
        "validate",
        "value_and_grad",
        "vjp",
        "vmap",
        "while_loop",
        "xla",
    }
    | set(_functions_by_attributes)
)
