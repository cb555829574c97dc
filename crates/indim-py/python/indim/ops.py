"""The names of ``jax.ops``; `_scatters.py` defines the functions."""

import indim as _package  # Waits for a thread that imports the package.

from ._scatters import segment_max, segment_min, segment_prod, segment_sum

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]
