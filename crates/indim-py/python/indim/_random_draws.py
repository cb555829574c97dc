"""Random numbers that NumPy or Python draws while a function is traced: each call of the compiled function
would use the same ones, so a warning says so."""

from __future__ import annotations

import sys
import warnings

from . import _captured

#: The modules whose functions draw from one generator.
_MODULES = ("numpy.random", "random")


class RandomDraws:
    """The states of the random generators that a function can reach, before it is traced."""

    def __init__(self, walk):
        #: Code that seeds a generator draws the same numbers at each call of the plain function too.
        self._is_seeded = "seed" in walk.names
        self._generators = [value for value in walk.visited.values() if _is_generator(value)]
        self._before = self._states()

    def _states(self):
        states = {name: _state_of(sys.modules[name]) for name in _MODULES if name in sys.modules}
        for position, generator in enumerate(self._generators):
            states[f"a generator, {type(generator).__name__},", position] = _state_of(generator)
        return states

    def warn(self, function):
        """Warns if a generator has drawn numbers since."""
        if self._is_seeded:
            return
        after = self._states()
        drawn = [key for key, state in self._before.items() if after.get(key, state) != state]
        frame = _captured.innermost_user_frame()
        for key in drawn:
            name = key if isinstance(key, str) else key[0]
            warnings.warn_explicit(
                f"{function} draws numbers from {name} while it is traced: they are constants of the "
                "program, so each call uses the same ones. Pass random numbers as arguments, or pass a key "
                "of indim.random and draw from it",
                RuntimeWarning,
                frame.f_code.co_filename,
                frame.f_lineno,
            )


def _is_generator(value):
    """Whether a value is a random generator of NumPy or Python."""
    module, name = type(value).__module__, type(value).__name__
    return (module.startswith("numpy.random") and name in ("Generator", "RandomState")) or (
        module == "random" and name == "Random"
    )


def _state_of(source):
    """The state of a generator, or of a module's one, as a value that can be compared."""
    if hasattr(source, "getstate"):
        return source.getstate()
    if hasattr(source, "get_state"):
        name, keys, *rest = source.get_state()
        return (name, keys.tobytes(), *rest)
    return repr(source.bit_generator.state)
