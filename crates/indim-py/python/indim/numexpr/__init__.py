"""A drop-in for numexpr: `import indim.numexpr as ne`.

Expressions, threads and VML's names are those of numexpr 2.14. indim has no VML, so its configuration does
nothing. docs/python.md lists the differences.
"""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

from .._indim import __version__, get_num_threads, set_num_threads
from . import expressions, necompiler, utils
from .expressions import E
from .necompiler import NumExpr, disassemble, evaluate, re_evaluate, validate
from .utils import (
    MAX_THREADS,
    detect_number_of_cores,
    detect_number_of_threads,
    get_vml_num_threads,
    get_vml_version,
    set_vml_accuracy_mode,
    set_vml_num_threads,
    use_vml,
)

#: The number of processors, as numexpr calls it.
ncores = detect_number_of_cores()

__all__ = [
    "E",
    "MAX_THREADS",
    "NumExpr",
    "detect_number_of_cores",
    "detect_number_of_threads",
    "disassemble",
    "evaluate",
    "expressions",
    "get_num_threads",
    "get_vml_num_threads",
    "get_vml_version",
    "ncores",
    "necompiler",
    "re_evaluate",
    "set_num_threads",
    "set_vml_accuracy_mode",
    "set_vml_num_threads",
    "use_vml",
    "utils",
    "validate",
]


def __getattr__(name):
    # The number of threads is not fixed when the module is imported.
    if name == "nthreads":
        return get_num_threads()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
