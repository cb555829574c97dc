"""Writes the type stubs of the functions that exist for every operation: `python make_stubs.py`.

With `--check` it only says whether they are up to date. The rest of the stubs is written by hand, in
`__init__.pyi.in` beside this file.
"""

import inspect
import sys
from pathlib import Path

import indim
from indim import _functions, none, numpy, onnx_legacy, pdpd, stablehlo, xla

HERE = Path(__file__).parent
PACKAGE = HERE / "python" / "indim"
HEADER = "# Written by make_stubs.py; do not edit.\n"
TYPES = {"broadcast_dimensions": "Integers | None", "axis": "int | None", "out": "NDArray[Any] | None"}


def stub(name, function):
    """The declaration of one function."""
    parts, is_keyword_only = [], False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            parts.append(f"*{parameter.name}: Operand")
            is_keyword_only = True
        elif parameter.kind is parameter.KEYWORD_ONLY:
            if not is_keyword_only:
                parts.append("*")
                is_keyword_only = True
            parts.append(f"{parameter.name}: {TYPES[parameter.name]} = ...")
        else:
            parts.append(f"{parameter.name}: Operand")
    return f"def {name}({', '.join(parts)}) -> Any: ...\n"


def operations(module, names):
    """The declarations of all operations of a module."""
    return "".join(stub(name, getattr(module, name)) for name in sorted(names))


def files():
    """The stubs by path."""
    imports = "from typing import Any\n\nfrom numpy.typing import NDArray\n\nfrom ._types import Integers, Operand\n\n"
    for module in (none, numpy, onnx_legacy, pdpd, stablehlo, xla):
        name = module.__name__.rpartition(".")[2]
        yield PACKAGE / f"{name}.pyi", HEADER + imports + operations(module, module.__all__)
    by_hand = (HERE / "__init__.pyi.in").read_text()
    own = {name for name in indim.__all__ if getattr(getattr(indim, name), "__code__", None) in OPERATION_CODES}
    yield PACKAGE / "__init__.pyi", HEADER + by_hand + "\n" + operations(indim, own)


def _codes():
    samples = [_functions.unary("abs", ""), _functions.by_attributes("add", 2, "")]
    return {sample.__code__ for sample in samples}


OPERATION_CODES = _codes()


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
