"""numexpr's module of this name: threads, processors, VML."""

from ._indim import get_num_threads, set_num_threads
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

__all__ = [
    "MAX_THREADS",
    "detect_number_of_cores",
    "detect_number_of_threads",
    "get_num_threads",
    "get_vml_num_threads",
    "get_vml_version",
    "set_num_threads",
    "set_vml_accuracy_mode",
    "set_vml_num_threads",
    "use_vml",
]
