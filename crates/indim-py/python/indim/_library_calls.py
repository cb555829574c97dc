"""The call of a library that the traced function runs: its name, for advice in messages."""

from __future__ import annotations

import builtins
import dis
import sys
import types

import numpy as np

#: Libraries whose functions may be called with traced values by mistake.
LIBRARIES = {
    *("jax", "jaxlib", "numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn", "statsmodels", "torch"),
}

#: Modules of Python with frames between those of a library.
_BETWEEN = {"contextlib", "functools", "inspect"}

#: Local names of decorators of libraries for the function that they decorate.
_DECORATED = ("hypotest_fun_in", "func", "fun", "f")

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, np.ufunc)

#: Instructions that load what a name stands for.
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF")

#: Maximum number of frames between a call of a library and its request for elements.
MAX_FRAMES = 64


def package_of(frame):
    """The package of the code of a frame."""
    return (frame.f_globals.get("__name__") or "").partition(".")[0]


def is_library(frame):
    """Whether the code of a frame is of a library, or called by one."""
    return package_of(frame) in LIBRARIES | _BETWEEN


def library_frames(frame):
    """The frames of libraries from ``frame`` outwards, the innermost first."""
    found = []
    while frame is not None and len(found) < MAX_FRAMES and is_library(frame):
        found.append(frame)
        frame = frame.f_back
    return found


def called(frame):
    """The full name, as ``pandas.cut``, of the function that the user's code calls; ``frame`` is that of this
    call or of a function within it. None if the name is unknown."""
    frames = library_frames(frame)
    outside = frames[-1].f_back if frames else frame
    # The traced function may be the library's, so that no code of the user calls it.
    name = None if outside is None else callee(outside, outside.f_lasti)
    return _of_library(name, frames[-1:])


def raised(traceback):
    """The full name of the function that the user's code calls, and that raised the error of a traceback."""
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    within = []
    while len(entries) > 1 and package_of(entries[-1].tb_frame) == "indim":
        entries.pop()
    while len(entries) > 1 and is_library(entries[-1].tb_frame):
        within = [entries.pop().tb_frame]
    return _of_library(callee(entries[-1].tb_frame, entries[-1].tb_lasti), within) if entries else None


def _of_library(name, frames):
    """The name of a callee; if it is unknown or none of a library, that of the function in the frame."""
    is_known = name is not None and name.partition(".")[0] in LIBRARIES
    return name if is_known or not frames else _name_of_frame(frames[-1])


def _name_of_frame(frame):
    """The name of the function of a library that a frame runs."""
    functions = (frame.f_locals.get(name) for name in _DECORATED)
    decorated = (full_name(value) for value in functions if isinstance(value, _FUNCTIONS))
    known = next(filter(None, decorated), None)
    if known is not None:
        return known
    owner = frame.f_locals.get("self")
    name = frame.f_code.co_name if owner is None else type(owner).__name__
    if name.endswith("_gen"):
        return f"scipy.stats.{name.removesuffix('_gen')}.{frame.f_code.co_name}"
    found = getattr(sys.modules.get(frame.f_globals["__name__"]), name, None)
    found = found if owner is None else type(owner)
    return full_name(found) or f"{package_of(frame)}.{name}"


def callee(frame, at):
    """The full name of the function whose call the instruction at the offset ``at`` in a frame is."""
    return _resolved(frame, _names_of_callee(frame.f_code, at))


def _names_of_callee(code, at):
    """The names of the callee of a call, as ``["np", "random", "normal"]``."""
    if not hasattr(code, "co_positions"):
        return _names_by_stack(code, at)
    instructions = [i for i in dis.get_instructions(code) if i.positions and i.positions.lineno is not None]
    # While a function in Python runs, the offset may be that of a cache behind the call.
    call = next((i for i in reversed(instructions) if i.offset <= at), None)
    if call is None or not call.opname.startswith(("CALL", "PRECALL")):
        return []
    begin = call.positions.lineno, call.positions.col_offset
    names, ends = [], set()
    for i in instructions:
        end = i.positions.end_lineno, i.positions.end_col_offset
        is_name = i.opname.startswith(_LOADS)
        is_part = is_name or i.opname in ("LOAD_ATTR", "LOAD_METHOD")
        starts_there = (i.positions.lineno, i.positions.col_offset) == begin
        is_whole = end == (call.positions.end_lineno, call.positions.end_col_offset)
        if i.offset >= call.offset or not starts_there or is_whole or end in ends:
            continue
        if is_part and isinstance(i.argval, str):
            # The callee begins with a name.
            names += [i.argval] if names or is_name else []
            ends.add(end)
        elif names and i.opname.startswith("CALL"):
            names[-1] += "()"
            ends.add(end)
    return names


def _names_by_stack(code, at):
    """``_names_of_callee`` in Python 3.10, which does not record the columns of instructions: the callee is
    below the arguments on the stack."""
    before = [i for i in dis.get_instructions(code) if i.offset <= at]
    call, after, method = before.pop(), [], None
    below = {"CALL_FUNCTION": 1, "CALL_METHOD": 2, "CALL_FUNCTION_KW": 2}.get(call.opname)
    wanted = 0 if below is None else call.arg + below
    while before and wanted > 0:
        i = before.pop()
        after.insert(0, i)
        wanted -= dis.stack_effect(i.opcode, i.arg, jump=False)
        if wanted == 1 and method is None and i.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            method = i
    names = []
    for i in after:
        if not i.opname.startswith(_LOADS if not names else ("LOAD_ATTR", "LOAD_METHOD")):
            # An inner call makes the object whose method is called.
            return [*names[:-1], f"{names[-1]}()", method.argval] if names and method else []
        names.append(i.argval)
        if i is method or (method is None and i.opname != "LOAD_ATTR"):
            return names
    return names


def _resolved(frame, names):
    """The full name of what a frame calls by these names; None for a function of the user."""
    for position, name in enumerate(names):
        if name.endswith("()"):
            made = _resolved(frame, [*names[:position], name.removesuffix("()")])
            return made and ".".join([f"{made}()", *names[position + 1 :]])
    if not names:
        return None
    first, *attributes = names
    spaces = frame.f_locals, frame.f_globals, vars(builtins)
    found = next((space[first] for space in spaces if first in space), None)
    for position, attribute in enumerate(attributes):
        if not isinstance(found, types.ModuleType):
            name = full_name(found if isinstance(found, type) else type(found))
            return name and ".".join([name, *attributes[position:]])
        try:
            following = getattr(found, attribute)
        except AttributeError:
            return None
        if not isinstance(following, types.ModuleType):
            rest = [found.__name__, *attributes[position:]]
            return ".".join(rest) if _is_known(rest[0]) else None
        found = following
    return full_name(found)


def _is_known(module):
    return module.partition(".")[0] in LIBRARIES | {"builtins", "json", "math", "pickle"}


def full_name(value):
    """The shortest full name of a function or class of a library; None for others."""
    try:
        name, module = getattr(value, "__name__", None), getattr(value, "__module__", None)
    except Exception:
        # The attributes of an object of the user may raise any error.
        return None
    module = module or (type(value).__module__ if name else None)
    if not isinstance(name, str) or not isinstance(module, str) or not _is_known(module):
        return None
    parts = module.split(".")
    parents = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    # The public name is that in the outermost module that has it.
    holders = [parent for parent in parents if hasattr(sys.modules.get(parent), name)]
    exact = [parent for parent in holders if getattr(sys.modules[parent], name) is value]
    return f"{(exact or holders or parts)[0]}.{name}"
