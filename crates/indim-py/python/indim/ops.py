"""The names of ``jax.ops``; `_scatters.py` defines the functions."""

from ._scatters import segment_max, segment_min, segment_prod, segment_sum

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]
