"""Names of numexpr, other than `evaluate`, that existing code uses. indim has no VML, so its configuration
does nothing."""

from __future__ import annotations

import os

from ._indim import get_num_threads

use_vml = False

#: More threads than this are refused.
MAX_THREADS = 4096


def detect_number_of_cores():
    """The number of processors."""
    return os.cpu_count() or 1


def detect_number_of_threads():
    """How many threads compute."""
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
