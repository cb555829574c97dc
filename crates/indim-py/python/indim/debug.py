"""The names of ``jax.debug``: they print values that are known."""

import indim as _package  # Waits for a thread that imports the package.

from ._operands import has_tracer

__all__ = ["callback", "print"]

_print = print


def _check(name, values):
    if has_tracer(values):
        raise TypeError(
            f"debug.{name} is called while a function is traced, when values are not known: return the value "
            f"and call debug.{name} on the result, or call the function without jit"
        )


def print(fmt, *args, ordered=False, **kwargs):
    """Prints ``fmt.format(*args, **kwargs)``; in a compiled function it is an error."""
    _check("print", [args, kwargs])
    _print(fmt.format(*args, **kwargs))


def callback(callback, *args, ordered=False, **kwargs):
    """Calls ``callback(*args, **kwargs)``; in a compiled function it is an error."""
    _check("callback", [args, kwargs])
    callback(*args, **kwargs)
