"""Captures: names, attributes and entries that a traced function reads from outside its arguments.

A trace is valid while these are unchanged: the compiled part compares the captures at each call. The search
follows the code of the function and of the Python functions that it may call. It finds the names that the
code reads, the attributes of the objects with these names that some code mentions, and the entries of lists,
dicts, sets and deques.
"""

from __future__ import annotations

import builtins
import collections
import dis
import functools
import os
import sys
import sysconfig
import types
import warnings

#: The types of containers whose entries are compared.
CONTAINERS = (list, dict, set, collections.deque)

#: Containers of more entries, and captures beyond _MAX_CAPTURES, are not compared.
MAX_ENTRIES = 256
_MAX_CAPTURES = 1000

#: The value of a capture that does not exist.
MISSING = object()


def read(kind, holder, key):
    """The current value of a capture; for a container, its entries in a tuple."""
    if kind == "name":
        return holder.get(key, MISSING)
    if kind == "attribute":
        try:
            return getattr(holder, key)
        except (AttributeError, ValueError):
            return MISSING
    return (*holder.keys(), *holder.values()) if isinstance(holder, dict) else tuple(holder)


def reachable_objects(function):
    """The objects that ``function`` may read, other than its arguments, and their contents."""
    return list(search(function, ()).visited.values())


def search(function, objects):
    """The walk over all that ``function`` may read, or reach from ``objects``, its static arguments. Its
    ``captures`` are ``{identity: (kind, holder, key, value)}``."""
    names = frozenset()
    while True:
        walk = _Search(function, names)
        walk.run([function, *objects])
        if walk.names <= names:
            return walk
        # Code found late may mention attributes of objects found early.
        names |= walk.names


def unchanged_captures(before, after):
    """The captures of ``after``, except those that the function itself changed, and attributes that create
    a new object at each access."""
    return [
        (kind, holder, key, value)
        for identity, (kind, holder, key, value) in after.items()
        if (identity not in before or _is_same(before[identity][3], value))
        # Some attributes create a new object at each access.
        and _is_same(read(kind, holder, key), value)
    ]


def _is_same(x, y):
    """Whether two values of a capture are the same, as the compiled part compares them."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if isinstance(x, tuple):
        return len(x) == len(y) and all(a is b for a, b in zip(x, y))
    return type(x) in (int, float, str) and repr(x) == repr(y)


class _Search:
    """One walk over all reachable objects. Of their attributes it takes those in ``mentioned``: the names
    that earlier walks found in code."""

    def __init__(self, function, mentioned):
        self.package = _package(getattr(function, "__module__", None))
        self.mentioned = mentioned
        self.names = set()
        self.captures = {}
        self.visited = {}
        self.pending = []

    def run(self, objects):
        self.pending.extend(objects)
        while self.pending and len(self.captures) <= _MAX_CAPTURES:
            value = self.pending.pop()
            if id(value) not in self.visited:
                self.visited[id(value)] = value
                self.visit(value)

    def add(self, kind, holder, key):
        if len(self.captures) == _MAX_CAPTURES:
            _warn(f"it reads more than {_MAX_CAPTURES} names, attributes and entries; the others")
        value = read(kind, holder, key)
        self.captures[kind, id(holder), key] = (kind, holder, key, value)
        self.pending.extend(value if kind == "entries" else (value,))

    def visit(self, value):
        if isinstance(value, types.FunctionType):
            self.function(value)
        elif isinstance(value, types.MethodType):
            self.pending += [value.__func__, value.__self__]
        elif isinstance(value, functools.partial):
            self.pending += [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, CONTAINERS):
            self.entries(value)
            if type(value).__module__ not in ("builtins", "collections"):
                self.instance(value)
        elif isinstance(value, tuple):
            self.pending.extend(value[:MAX_ENTRIES])
        elif isinstance(value, types.ModuleType):
            if self.is_own(value.__name__):
                self.attributes(value, lambda name: vars(value).get(name, MISSING))
        elif isinstance(value, type):
            if self.is_own(value.__module__):
                self.attributes(value, lambda name: of_class(value, name))
        elif _package(type(value).__module__) not in ("builtins", "numpy", "indim"):
            self.instance(value)
        elif hasattr(value, "__wrapped__"):
            # A compiled function in this one, the gradient of a function, or a function with derivatives of
            # its own, which are functions too.
            self.pending += [value.__wrapped__, *getattr(value, "_rules", ())]

    def is_own(self, module):
        """Whether the code of a module is inspected: that of users is, that of installed packages is not."""
        package = _package(module)
        return package != "indim" and (package == self.package or not _is_installed(package))

    def function(self, function):
        if not self.is_own(function.__module__):
            return
        loaded, mentioned = _loads(function.__code__)
        self.names |= mentioned
        for cell in function.__closure__ or ():
            self.add("attribute", cell, "cell_contents")
        for name in loaded:
            value = function.__globals__.get(name, MISSING)
            if isinstance(value, types.ModuleType):
                # The name of a module is assumed to stay bound to it.
                self.pending.append(value)
            elif value is not MISSING or hasattr(builtins, name):
                self.add("name", function.__globals__, name)

    def entries(self, container):
        if len(container) > MAX_ENTRIES:
            _warn(f"it reads a {type(container).__name__} of {len(container)} entries, which")
            return
        self.add("entries", container, None)

    def attributes(self, holder, find):
        """The mentioned attributes of a module or class."""
        for name in self.mentioned:
            value = find(name)
            if isinstance(value, types.ModuleType):
                self.pending.append(value)
            elif value is not MISSING:
                self.code(value)
                self.add("attribute", holder, name)

    def code(self, found):
        """Queues an attribute of a module or class, and the function behind a descriptor, such as a
        property."""
        self.pending.append(found)
        for kind, function in _CODE.items():
            if isinstance(found, kind):
                self.pending.append(getattr(found, function))

    def instance(self, value):
        cls = type(value)
        if isinstance(cls.__getattribute__, types.FunctionType):
            # The class defines its attributes by code of its own, which the search does not run.
            return
        try:
            instance_dict = object.__getattribute__(value, "__dict__")
        except AttributeError:
            instance_dict = {}
        if isinstance(instance_dict.get("__wrapped__"), types.FunctionType):
            self.pending.append(instance_dict["__wrapped__"])
        self.pending.append(of_class(cls, "__call__"))
        for name in self.mentioned:
            found = of_class(cls, name)
            if found is not MISSING:
                self.code(found)
            is_slot = isinstance(found, types.MemberDescriptorType)
            if is_slot or (name in instance_dict and not isinstance(found, property)):
                self.add("attribute", value, name)
            elif found is not MISSING and not hasattr(type(found), "__get__"):
                # A later attribute of the instance takes precedence.
                self.add("attribute", value, name)
            elif found is not MISSING and self.is_own(cls.__module__):
                self.add("attribute", cls, name)


def name_of(value):
    """The name of ``value`` in the traced function, as messages quote it: a name, ``h.weights`` or
    ``d['weights']``; ``None`` where it has no name."""
    names = (_name_in(frame, value) for frame in frames_of_trace())
    return next((name for name in names if name is not None), None)


#: Packages whose frames may lie between the traced function and the call of ``name_of``; their names are
#: not the user's.
_LIBRARIES = ("indim", "numpy", "xarray", "pandas", "dask", "cubed")


def is_library(module):
    """Whether a module is of indim or of a library that traced functions call."""
    return _package(module) in _LIBRARIES


def innermost_user_frame():
    """The innermost frame whose code is not that of a library."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_library(frame.f_globals.get("__name__")):
        frame = frame.f_back
    return frame


def frames_of_trace():
    """The frames of the traced function and of the functions that it calls, without those of libraries."""
    frames, frame = [], sys._getframe(1)
    # The caller of `trace` is outside the function.
    while frame is not None and frame.f_code.co_name != "trace":
        if not is_library(frame.f_globals.get("__name__")):
            frames.append(frame)
        frame = frame.f_back
    return frames


def place_of_call():
    """The place in the traced function that called a library: its code, and the offset of the call there."""
    frame = innermost_user_frame()
    return frame.f_code, frame.f_lasti


def _name_in(frame, value):
    """The name of ``value`` in the code of a frame."""
    local, mentioned = frame.f_locals, frame.f_code.co_names
    names = local | {name: frame.f_globals[name] for name in mentioned if name in frame.f_globals}
    for name, found in names.items():
        if found is value:
            return name
    for name, holder in names.items():
        if type(holder) is dict:
            entries = list(holder.items())[:MAX_ENTRIES]
        elif type(holder) in (list, tuple):
            entries = list(enumerate(holder[:MAX_ENTRIES]))
        else:
            try:
                instance_dict = object.__getattribute__(holder, "__dict__")
            except AttributeError:
                continue
            attributes = [name for name in mentioned if name in instance_dict]
            found = next((name for name in attributes if instance_dict[name] is value), None)
            if found is not None:
                return f"{name}.{found}"
            continue
        found = next((key for key, entry in entries if entry is value), None)
        if found is not None:
            return f"{name}[{found!r}]"
    return None


def is_index(frame):
    """Whether a frame executes an index, ``x[i]``."""
    code, at = frame.f_code.co_code, frame.f_lasti
    name = dis.opname[code[at]]
    # From Python 3.14 on an index is a binary operator, the last in the interpreter's table.
    return name == "BINARY_SUBSCR" or (name == "BINARY_OP" and code[at + 1] == 26)


def is_remainder(frame):
    """Whether a frame executes ``%``, which formats a text."""
    code, at = frame.f_code.co_code, frame.f_lasti
    name = dis.opname[code[at]]
    return name == "BINARY_MODULO" or (name == "BINARY_OP" and code[at + 1] == 6)


def is_call(frame):
    """Whether a frame executes a call, ``f(x)``."""
    # Python 3.11 has an instruction before each call.
    return dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith(("CALL", "PRECALL"))


def is_assignment(frame):
    """Whether a frame executes an assignment to a part of an object, ``y[0] = x``."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] == "STORE_SUBSCR"


#: Descriptors of classes, with the attribute that holds their function.
_CODE = {
    staticmethod: "__func__",
    classmethod: "__func__",
    property: "fget",
    functools.cached_property: "func",
    functools.partialmethod: "func",
}


def of_class(cls, name):
    for base in cls.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return MISSING


def global_names(code):
    """The global names that some code reads."""
    return _loads(code)[0]


@functools.lru_cache(maxsize=1024)
def _loads(code):
    """The global names that some code reads, and the names that may be those of attributes."""
    loaded = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    mentioned = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner_loaded, inner_mentioned = _loads(constant)
            loaded |= inner_loaded
            mentioned |= inner_mentioned
        elif isinstance(constant, str) and constant.isidentifier():
            # `getattr(x, "name")`
            mentioned.add(constant)
    return frozenset(loaded), frozenset(mentioned)


def _package(module):
    return module.partition(".")[0] if isinstance(module, str) else ""


_INSTALLED = tuple(
    os.path.join(os.path.realpath(path), "")
    for path in {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    if path
)

#: Folders of installed packages anywhere: of a user, of Debian's Python, of another environment on the path.
_PACKAGE_FOLDERS = {"site-packages", "dist-packages"}


@functools.lru_cache(maxsize=1024)
def _is_installed(package):
    """Whether a package is Python's own or installed."""
    if package in ("indim", "numpy") or package in sys.stdlib_module_names:
        return True
    path = getattr(sys.modules.get(package), "__file__", None)
    if path is None:
        return False
    path = os.path.realpath(path)
    return path.startswith(_INSTALLED) or not _PACKAGE_FOLDERS.isdisjoint(path.split(os.sep))


def _warn(what):
    warnings.warn(
        f"a compiled function is traced: {what} are not read again in later calls. Pass values that "
        "change as arguments",
        stacklevel=2,
    )
