"""numexpr's module of threads, processors and VML. indim has no VML, so its configuration does nothing."""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

import os

from .._indim import get_num_threads, set_num_threads

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

use_vml = False

#: Maximum number of threads; `set_num_threads` refuses more.
MAX_THREADS = 4096


def detect_number_of_cores():
    """The number of processors."""
    return os.cpu_count() or 1


def detect_number_of_threads():
    """The number of computing threads."""
    return get_num_threads()


def get_vml_version():
    """Returns ``None``, because indim does not use VML."""
    return None


def get_vml_num_threads():
    """Returns ``None``, because indim does not use VML."""
    return None


def set_vml_num_threads(nthreads):
    """Does nothing, because indim does not use VML."""


def set_vml_accuracy_mode(mode):
    """Does nothing, because indim does not use VML; the accuracy is always the same."""
