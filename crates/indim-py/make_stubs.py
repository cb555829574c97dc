"""Writes the type stubs of the functions that exist for every operation: `python make_stubs.py`.

With `--check` it only reports whether they are up to date. The rest of the stubs is written by hand, in
`__init__.pyi.in` and `numpy.pyi.in`.
"""

import inspect
import sys
from pathlib import Path

import indim
from indim import _functions, none, numpy, onnx_legacy, pdpd, stablehlo, xla

HERE = Path(__file__).parent
PACKAGE = HERE / "python" / "indim"
HEADER = "# Written by make_stubs.py; do not edit.\n"
IMPORTS = (
    "from collections.abc import Sequence\nfrom typing import Any\n\n"
    "from numpy.typing import DTypeLike, NDArray\n\nfrom ._types import Integers, Operand\n\n"
)
#: Columns of a line, as in sources.
MAX_COLUMNS = 110
TYPES = {"broadcast_dimensions": "Integers | None", "axis": "int | None", "out": "NDArray[Any] | None"}


def stub(name, function):
    """The declaration of one function."""
    parts, is_keyword_only = [], False
    for parameter in inspect.signature(function).parameters.values():
        is_rest = parameter.kind is parameter.VAR_POSITIONAL
        if parameter.kind is parameter.KEYWORD_ONLY and not is_keyword_only:
            parts.append("*")
        is_keyword_only = is_keyword_only or is_rest or parameter.kind is parameter.KEYWORD_ONLY
        annotation = parameter.annotation
        if annotation is parameter.empty:
            annotation = TYPES.get(parameter.name, "Operand")
        default = "" if parameter.default is parameter.empty else " = ..."
        parts.append(f"{'*' * is_rest}{parameter.name}: {annotation}{default}")
    line = f"def {name}({', '.join(parts)}) -> NDArray[Any]: ...\n"
    if len(line) <= MAX_COLUMNS:
        return line
    return f"def {name}(\n" + "".join(f"    {part},\n" for part in parts) + ") -> NDArray[Any]: ...\n"


def operations(module, by_hand=""):
    """The declarations of all operations of a module, including those outside `__all__`, without those that
    are declared by hand."""
    codes = _functions.OPERATION_CODES
    found = [
        (name, value) for name, value in vars(module).items() if getattr(value, "__code__", None) in codes
    ]
    declared = dict(found)
    for name, value in vars(module).items():
        # A function that also takes NumPy's arguments: see `_jax_numpy.py`.
        if hasattr(value, "__wrapped__") and getattr(inspect.unwrap(value), "__code__", None) in codes:
            declared[name] = None
    return "".join(
        f"def {name}(*args: Any, **kwargs: Any) -> NDArray[Any]: ...\n"
        if declared[name] is None
        else stub(name, declared[name])
        for name in sorted(declared)
        if f"def {name}(" not in by_hand
    )


def exports(module):
    """The declaration of `__all__`."""
    return "__all__ = [\n" + "".join(f'    "{name}",\n' for name in module.__all__) + "]\n\n"


def files():
    """The stubs by path."""
    for module in (none, numpy, onnx_legacy, pdpd, stablehlo, xla):
        name = module.__name__.rpartition(".")[2]
        by_hand = HERE / f"{name}.pyi.in"
        rest = by_hand.read_text() if by_hand.exists() else ""
        yield PACKAGE / f"{name}.pyi", HEADER + IMPORTS + exports(module) + operations(module, rest) + rest
    by_hand = (HERE / "__init__.pyi.in").read_text()
    yield PACKAGE / "__init__.pyi", HEADER + by_hand + "\n" + exports(indim) + operations(indim)


def main():
    """Writes or checks."""
    stale = [path for path, text in files() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.name} is not up to date; run make_stubs.py")
        return 1 if stale else 0
    for path, text in files():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
