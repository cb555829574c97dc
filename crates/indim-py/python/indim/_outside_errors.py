"""Help for errors that Python and libraries raise for a traced value, which they do not know."""

from __future__ import annotations

import re

from . import _elements_advice, _library_calls
from ._errors import IndimError
from ._recording import is_tracer

#: The class of traced values in messages of others.
_CLASS = re.compile(r"\bTracer\b")

_BEFORE = "compute it before the call and pass it as an argument, or on the result of the call"
_LOOKUP = (
    "a key of a dict and a member of a set need the elements: write np.array(values)[x] for a table of "
    "numbers by whole numbers, indim.switch for functions, and np.isin(x, values) for `x in values`"
)

#: Parts of messages for traced values that do not name the class.
_OTHERS = ("Iterator operand is flagged",)

#: A message of NumPy that replaces that of a traced value whose elements it asked for.
_REPLACED = "setting an array element with a sequence"

#: Parts of messages, and the help for them.
_HELP = {
    "Decimal'": "write x * float(value)",
    "'Fraction'": "write x * float(value)",
    "'NoneType'": "the other operand is None, so check what gave it",
    "'str'": "a text is no operand: write float(text), or compare texts outside and pass the mask",
    "'Timedelta'": "write value.total_seconds()",
    "'Timestamp'": "write value.timestamp()",
    "'dict'": "write the operation for each value of the dict, or indim.tree.map",
    "'set'": "write np.array(sorted(values))",
    "unhashable type": _LOOKUP,
    "sequence": "write np.stack(values) of a list of traced values",
    "format: a": "return the value, and format the result of the call",
    "JSON serializable": "return x, and write f(x).tolist() for JSON",
    "__trunc__": "write np.trunc(x)",
    "os.PathLike": "name an argument that is not an array in `static=`",
    "is not callable": "write x[i] for an element",
    "must be real number": "write np.sin(x) for math.sin(x), and so for other functions",
}


def add_help(error, recording):
    """Adds what to write instead to the message of an error that Python or a library raised for a traced
    value of a recording. Other errors stay."""
    if isinstance(error, IndimError) or not error.args or not isinstance(error.args[0], str):
        return
    text = error.args[0]
    is_of_class = _CLASS.search(text) is not None
    is_replaced = _REPLACED in text and recording.outermost().has_requested_elements
    is_other = is_replaced or any(part in text for part in _OTHERS) or _is_of_library(error.__traceback__)
    if "= help:" in text or not (is_of_class or is_other):
        return
    traced = f"`Tracer` is a traced value, without known elements while {recording.function} is traced; "
    message = f"{text}\n   = help: {traced if is_of_class else ''}{_help(error, text)}"
    error.args = (message, *error.args[1:])


def _is_of_library(traceback):
    """Whether code of a library other than NumPy raised an error while it held a traced value."""
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    package = _library_calls.package_of(traceback.tb_frame)
    if package not in _library_calls.LIBRARIES - {"numpy"}:
        return False
    held = traceback.tb_frame.f_locals.values()
    parts = [value if type(value) in (list, tuple) else (value,) for value in held]
    return any(is_tracer(part) for values in parts for part in values)


def _help(error, text):
    name = _library_calls.raised(error.__traceback__)
    package = "" if name is None else name.partition(".")[0]
    if package in _library_calls.LIBRARIES:
        return f"for {name} {_elements_advice.advice_of(name)}"
    return next((help for part, help in _HELP.items() if part in text), _BEFORE)
