"""What a traced value refuses, because it needs elements: truth values, numbers, texts, arrays of NumPy."""

from __future__ import annotations

import sys

from . import _captured, _elements_advice, _refused

#: Maximum number of parts of a traced array that Python iterates over: each adds operations to the program.
LONGEST_ITERATION = 64


#: What to write instead of Python's choices and loops.
_OF_CHOICES = (
    "use indim.where or indim.cond for choices and indim.while_loop for loops, and name arguments that are "
    "not arrays in `static=`"
)


_OF_TRUTH = (
    _OF_CHOICES + "; write `(a < x) & (x < b)` for `a < x < b`, and `&`, `|` and `~` for and, or and not"
)


#: What to write instead of writing a traced value to a file or to another process.
_WHOLE = "return the value, and write or send the result of the call"

#: Attributes of arrays in memory.
_OF_MEMORY = {"data", "flags", "strides"}


class Refusals:
    """The methods of a traced value that raise, with advice."""

    __slots__ = ()

    def _refuse(self, what, advice=None):
        self._recording.recorder(self._value_text)
        raise TypeError(
            f"{what} needs the elements of `{self._value_text}`, which are not known while "
            f"{self._recording.function} is traced; {advice or _OF_CHOICES}"
        )

    def __getattr__(self, name):
        if name.startswith("_") and name != "__dlpack__":
            raise AttributeError(name)
        of_function = _elements_advice.of_function(sys._getframe(1)) if name in _OF_MEMORY else None
        if of_function is not None and of_function[0].startswith("scipy."):
            message = f"{of_function[0]} reads the memory of `{self._value_text}`; {of_function[1]}"
        else:
            message = _refused.method_message(self._value_text, name, type(self), self._is_frame())
        raise AttributeError(message, name=name)

    def __reduce_ex__(self, protocol):
        self._refuse("a copy of an object, as of pickle and joblib", _WHOLE)

    def __delitem__(self, key):
        text = self._text_of_operand()
        raise TypeError(
            f"arrays have no elements to delete: write np.delete({text}, i), a new array, or {text}[mask]"
        )

    def __bool__(self):
        frame = sys._getframe(1)
        if _captured.is_call(frame) or _captured.is_assignment(frame):
            # A function in C, such as `np.arange(k, dtype=float)`, or an array of bool, `y[0] = x > 0`.
            self._recording.request_elements()
        of_function = _elements_advice.of_function(frame)
        advice = _elements_advice.of_scikit_learn(frame) or _elements_advice.of_metrics(frame)
        if of_function is not None and advice is None:
            self._refuse(*of_function)
        if advice is None and _captured.is_call(frame):
            advice = _elements_advice.of_names(frame, ("all", "any", "max", "min", "sorted"))
        self._refuse("a truth value", advice or _OF_TRUTH)

    def __format__(self, specification):
        if specification:
            self._refuse("a text", "return the value, and format the result of the call")
        return repr(self)

    def __contains__(self, value):
        text = self._text_of_operand()
        self._refuse_labels(isinstance(value, str), f"`{value!r} in {text}`")
        self._refuse("`in`", f"write np.any({text} == value), an array of one truth value, and return it")

    # NumPy calls these three for `array[0] = x`, and replaces their errors.

    def __int__(self):
        self._recording.request_elements()
        self._refuse("int()", _elements_advice.of_number(sys._getframe(1), "int"))

    def __float__(self):
        self._recording.request_elements()
        frame = sys._getframe(1)
        advice = _elements_advice.of_metrics(frame) or _elements_advice.of_math(frame)
        self._refuse("float()", advice or _elements_advice.of_number(frame, "float"))

    def __complex__(self):
        self._recording.request_elements()
        self._refuse("complex()", _elements_advice.of_number(sys._getframe(1), "complex"))

    def __index__(self):
        self._recording.request_elements()
        if _captured.is_index(sys._getframe(1)):
            self._refuse("an index of a list", f"write np.array(values)[{self._value_text}] for numbers, and "
                         "indim.switch for a choice between functions")
        self._refuse(
            "an index",
            "use indim.fori_loop for `for i in range(n)`, and name arguments that are not arrays in "
            "`static=`",
        )

    def _text_of_operand(self):
        """The text of the value, in parentheses if it is longer than a word."""
        return self._value_text if " " not in self._value_text else f"({self._value_text})"

    def __array__(self, dtype=None, copy=None):
        self._recording.request_elements()
        if _captured.is_index(sys._getframe(1)):
            self._refuse(
                "an index of a NumPy array",
                f"write indim.take(array, {self._value_text}, axis=0), which takes arrays and traced values",
            )
        text = self._text_of_operand()
        advice = _elements_advice.of_function(sys._getframe(1))
        if advice is not None:
            self._refuse(*advice)
        self._refuse(
            "a NumPy array",
            f"write indim.asarray({self._value_text}) for np.asarray({self._value_text}), "
            f"{text}.astype(np.float32) for np.float32({self._value_text}), and "
            "np.stack([x, y]) for np.array([x, y])",
        )

    def _is_frame(self):
        """Whether this value stands for a whole DataFrame, some of whose methods differ from NumPy's."""
        return self._name in self._recording.frames

    def _refuse_labels(self, may_be_label, use):
        """Raises ``LabelIndexError`` for a use of the labels of a whole DataFrame."""
        if may_be_label and self._is_frame():
            from ._views import LabelIndexError

            raise LabelIndexError(f"{use} reads labels of columns, and the DataFrame is one array here")

    def __iter__(self):
        self._refuse_labels(self._value_text.isidentifier(), f"iteration over `{self._value_text}`")
        # `len` makes the program valid for these sizes alone.
        if self._shape and len(self) <= LONGEST_ITERATION:
            return iter([self[index] for index in range(len(self))])
        self._refuse(
            f"iteration over more than {LONGEST_ITERATION} parts" if self._shape else "iteration",
            "pass what it consists of as a list or tuple of arrays, or use indim.scan, a loop over axis 0",
        )
