"""Messages for names that the modules of ``indim.scipy`` do not have."""

from __future__ import annotations

import types

from ._elements_advice import instead_of_scipy

_BEFORE = "call SciPy before the call and pass the result as an argument"


def absent(module, name, advice=None):
    """The error of a name that a module, such as ``indim.scipy.stats``, does not have."""
    instead = advice or instead_of_scipy(f"{module.removeprefix('indim.')}.{name}")
    written = "" if instead is None else instead if instead.startswith("write ") else f"write {instead}"
    return AttributeError(
        f"{module} has no {name!r}: {f'{written}; or ' if written else ''}{_BEFORE}", name=name
    )


class Distribution(types.SimpleNamespace):
    """The functions of a distribution, as a namespace."""

    def __init__(self, name=None, **functions):
        super().__init__(**functions)
        self._name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        of = f"indim.scipy.stats.{vars(self).get('_name') or 'distribution'}"
        raise AttributeError(f"{of} has no {name!r}, but {self._listed()}: {_BEFORE}", name=name)

    def __call__(self, *args, **kwargs):
        name = f"indim.scipy.stats.{self._name or 'norm'}"
        raise TypeError(
            f"{name} is not called, but its functions are, {self._listed()}: write the parameters behind the "
            f"values, as in {name}.{min(self._functions())}(x, ...)"
        )

    def _functions(self):
        return [name for name in vars(self) if not name.startswith("_")]

    def _listed(self):
        return ", ".join(sorted(self._functions()))
