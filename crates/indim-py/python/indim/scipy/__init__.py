"""The names of ``jax.scipy`` that compose indim's operations: `special.py`, `stats.py`, `signal.py`."""

import indim as _package  # Waits for a thread that imports the package.

from . import signal as signal, special as special, stats as stats

__all__ = ["signal", "special", "stats"]
