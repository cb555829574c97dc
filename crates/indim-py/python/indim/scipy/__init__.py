"""The names of ``jax.scipy`` that compose indim's operations: `special.py`, `stats.py`, `signal.py`."""

from . import signal as signal, special as special, stats as stats

__all__ = ["signal", "special", "stats"]
