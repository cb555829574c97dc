"""Random numbers that NumPy or Python draws while a function is traced: each call of the compiled function
would use the same ones, so a warning says so."""

from __future__ import annotations

import pickle
import sys
import warnings

from . import _captured

#: The modules whose functions draw from one generator, and where it is.
_MODULES = {"numpy.random": "mtrand._rand", "random": "_inst"}


class RandomDraws:
    """The states of the random generators that a function can reach, before it is traced."""

    def __init__(self, walk):
        #: Code that seeds a generator draws the same numbers at each call of the plain function too.
        self._is_seeded = "seed" in walk.names
        reachable = [value for value in walk.visited.values() if _is_generator(value)]
        named = [(f"a generator, {type(value).__name__},", value) for value in reachable]
        #: The name and the generator by identity: a function may reach the generator of a module.
        self._generators = {id(value): (name, value) for name, value in [*named, *_of_modules()]}
        self._before = self._states()

    def _states(self):
        return {identity: _state_of(generator) for identity, (_, generator) in self._generators.items()}

    def warn(self, function):
        """Warns if a generator has drawn numbers since."""
        if self._is_seeded:
            return
        frame, after = _captured.innermost_user_frame(), self._states()
        for identity, (name, _) in self._generators.items():
            if after[identity] == self._before[identity]:
                continue
            warnings.warn_explicit(
                f"{function} draws numbers from {name} while it is traced: they are constants of the "
                "program, so each call uses the same ones. Pass random numbers as arguments, or pass a key "
                "of indim.random and draw from it",
                RuntimeWarning,
                frame.f_code.co_filename,
                frame.f_lineno,
            )


def _of_modules():
    """The names and generators of the modules that are imported."""
    for name, path in _MODULES.items():
        found = sys.modules.get(name)
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is not None:
            yield name, found


def _is_generator(value):
    """Whether a value is a random generator of NumPy or Python."""
    module, name = type(value).__module__, type(value).__name__
    return (module.startswith("numpy.random") and name in ("Generator", "RandomState")) or (
        module == "random" and name == "Random"
    )


def _state_of(generator):
    """The state of a generator, as a value that can be compared."""
    if hasattr(generator, "getstate"):
        return generator.getstate()
    if hasattr(generator, "get_state"):
        return pickle.dumps(generator.get_state(legacy=False))
    return pickle.dumps(generator.bit_generator.state)
