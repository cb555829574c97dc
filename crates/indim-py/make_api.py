"""Writes `tests/api.txt`, the public names of the package with their signatures: `python make_api.py`.

With `--check` it only compares. The names are those that the type stubs declare; the signatures are those of
the installed package.
"""

import ast
import difflib
import importlib
import inspect
import sys
from pathlib import Path

import numpy

HERE = Path(__file__).parent
PACKAGE = HERE / "python" / "indim"
SNAPSHOT = HERE / "tests" / "api.txt"
ADVICE = (
    "The public API differs from tests/api.txt. If you mean it, run `python make_api.py` with the package "
    "installed, and review the diff. A name or a parameter that is removed or renamed breaks programs: it "
    "needs an entry in CHANGELOG.md."
)


def modules():
    """The names of the public modules, which are those with stubs."""
    for path in sorted(PACKAGE.rglob("*.pyi")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if not parts[-1].startswith("_") or parts[-1] == "__init__":
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def declared(body):
    """The public names that the statements of a stub declare."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            names = [statement.name]
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names = [statement.target.id]
        elif isinstance(statement, ast.ImportFrom):
            # `import x as x` exports the name.
            names = [alias.asname for alias in statement.names if alias.asname == alias.name]
        else:
            names = []
        yield from (name for name in names if not name.startswith("_") or name == "__version__")


def signature(function):
    """The parameters of a function, with defaults that look the same in each version of Python."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return "(...)"
    parts, is_keyword_only, is_positional_only = [], False, False
    for parameter in parameters:
        kind = parameter.kind
        if is_positional_only and kind is not parameter.POSITIONAL_ONLY:
            parts.append("/")
        is_positional_only = kind is parameter.POSITIONAL_ONLY
        if kind is parameter.KEYWORD_ONLY and not is_keyword_only:
            parts.append("*")
        is_keyword_only = is_keyword_only or kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(kind, "")
        parts.append(stars + parameter.name + default(parameter))
    return f"({', '.join([*parts, '/'] if is_positional_only else parts)})"


def default(parameter):
    """The default of a parameter: its value if it is a constant, else dots."""
    value = parameter.default
    if value is parameter.empty:
        return ""
    is_constant = value is None or isinstance(value, bool | int | float | str)
    return f"={value!r}" if is_constant else "=..."


def lines_of_class(name, value, body):
    """The lines of a class: its bases, and the public members that its stub declares."""
    bases = [base.__name__ for base in value.__bases__ if base is not object]
    yield f"class {name}({', '.join(bases)})"
    for constructor in ("__init__", "__call__"):
        found = inspect.getattr_static(value, constructor, None)
        if inspect.isfunction(found):
            yield f"    {constructor}{signature(found)}"
    for member in sorted(set(declared(body))):
        # Attributes of instances are not attributes of the class.
        found = inspect.getattr_static(value, member, None)
        if isinstance(found, classmethod | staticmethod):
            found = found.__func__
        yield f"    {member}{signature(found) if callable(found) else ''}"


def lines_of_module(module, path):
    """The lines of a module."""
    statements = ast.parse(path.read_text()).body
    classes = {it.name: it.body for it in statements if isinstance(it, ast.ClassDef)}
    loaded = importlib.import_module(module)
    for name in sorted({*declared(statements), *getattr(loaded, "__all__", ())}):
        value = getattr(loaded, name)
        if inspect.ismodule(value):
            yield f"module {name}"
        elif inspect.unwrap(value) is getattr(numpy, name, None):
            # A function of NumPy, or a wrapper with its signature, which versions of NumPy change.
            yield f"{name}: of numpy"
        elif inspect.isclass(value):
            yield from lines_of_class(name, value, classes.get(name, []))
        elif inspect.isroutine(value):
            yield f"{name}{signature(value)}"
        else:
            yield f"{name}: {type(value).__name__}"


def text():
    """The snapshot."""
    return "\n".join(
        "\n".join([f"[{module}]", *lines_of_module(module, path), ""]) for module, path in modules()
    )


def main():
    """Writes or compares."""
    found = text()
    if "--check" not in sys.argv:
        SNAPSHOT.write_text(found)
        return 0
    recorded = SNAPSHOT.read_text() if SNAPSHOT.exists() else ""
    if recorded == found:
        return 0
    names = {"fromfile": "recorded", "tofile": "found"}
    lines = difflib.unified_diff(recorded.splitlines(), found.splitlines(), **names, lineterm="", n=0)
    print("\n".join(lines), ADVICE, sep="\n\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
