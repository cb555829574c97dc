"""Explanations of broadcasts, expressions and functions."""

from __future__ import annotations

import re
import warnings

from . import _arrays, _profile
from ._foreign import package_of
from ._indim import _explain_expression, _explain_shapes, _explain_types


#: The height of a line and the width of a character of an SVG's small text, in pixels.
_LINE_PIXELS, _CHARACTER_PIXELS = 18, 7.3


def of_program(text, json_text, svg, *rest):
    """The explanation of a program, with its times in the last profile."""
    of_run = _profile.times_of(text, json_text)
    if of_run is not None:
        # `import indim` is faster without this module.
        import json

        times, data = of_run
        text, json_text = f"{text.rstrip()}\n\n{times}", json.dumps({**json.loads(json_text), "times": data})
        svg = _with_lines(svg, times.splitlines())
    return Explanation(text, json_text, svg, *rest)


def _with_lines(svg, lines):
    """A drawing with lines of text below it."""
    size = re.search(r'width="(\d+)" height="(\d+)"', svg)
    if size is None:
        return svg
    width, height = map(int, size.groups())
    new_width = max(width, int(max(map(len, lines)) * _CHARACTER_PIXELS) + 48)
    new_height = height + (len(lines) + 1) * _LINE_PIXELS
    for old, new in (
        (f'width="{width}" height="{height}"', f'width="{new_width}" height="{new_height}"'),
        (f'viewBox="0 0 {width} {height}"', f'viewBox="0 0 {new_width} {new_height}"'),
    ):
        svg = svg.replace(old, new)
    import html

    texts = (
        f'<text class="small" x="24" y="{height + index * _LINE_PIXELS}" xml:space="preserve">'
        f"{html.escape(line, quote=False)}</text>\n"
        for index, line in enumerate(lines)
    )
    return svg.replace("</svg>", "".join(texts) + "</svg>")


class Explanation(str):
    """The text of an explanation; ``json`` is the same as data, ``svg`` as a drawing, which notebooks show.

    ``machine_code`` lists the instructions of each loop nest for dense arrays below the values that they
    compute, or the reason why kernels run it. It is empty for a rule.
    """

    def __new__(cls, text, json_text, svg, machine_code=""):
        self = super().__new__(cls, text)
        self._json_text = json_text
        self.svg = svg
        #: The text, or an object whose ``text()`` makes it at the first use.
        self._machine_code = machine_code
        return self

    @property
    def machine_code(self):
        """The machine code, and the loop nests that run without."""
        if not isinstance(self._machine_code, str):
            self._machine_code = self._machine_code.text()
        return self._machine_code

    @property
    def json(self):
        """The explanation as a dict."""
        import json

        return json.loads(self._json_text)

    def _repr_svg_(self):
        return self.svg

    def __repr__(self):
        return str(self)

    def __reduce__(self):
        return Explanation, (str(self), self._json_text, self.svg, self.machine_code)


def explain(
    *what, rule="as-written", broadcast_dimensions=None, axis=None, target=None, names=None, **operands
):
    """Explains an expression, a compiled function or a rule.

    ``explain("add(x, v, broadcast_dimensions=[1])", x="f32[2, 3]", v="f32[3]")`` explains an expression over
    arrays or types. Sizes may have names, ``x="f32[n, 3]"``, and under ``rule="named"`` axes,
    ``x="f32[time: n, lat: 3]"``. ``explain((2, 3), (3,), rule="pdpd", axis=1)`` explains the broadcast of
    shapes under a rule, and ``explain((2, 3), (3,), rule="named", names=[["time", "lat"], ["lat"]])`` by the
    names of their axes. ``explain(f, x)`` is ``f.explain(x)``.
    """
    given = (broadcast_dimensions, axis, target, names)
    if what and hasattr(what[0], "explain"):
        if rule != "as-written" or any(value is not None for value in given):
            raise TypeError("a compiled function has the rules of its operations")
        return what[0].explain(*what[1:], **operands)
    if what and isinstance(what[0], str):
        if len(what) > 1 or any(value is not None for value in given):
            raise TypeError(
                "an expression states `broadcast_dimensions=` and `axis=` in its text; operands are keywords"
            )
        return _of_expression(what[0], operands, rule)
    if "dims" in operands:
        warnings.warn("`dims=` is now `broadcast_dimensions=`", DeprecationWarning, stacklevel=2)
        given = (operands.pop("dims"), axis, target, names)
    if operands:
        raise TypeError("operands by name belong to an expression")
    return Explanation(*_explain_shapes(list(what), rule, *given))


def _of_expression(text, operands, rule):
    operands = [(name, _typed(value, name, rule)) for name, value in operands.items()]
    if any(_arrays.is_type_with_names(value) for _, value in operands):
        return of_program(*_explain_types(text, operands, rule))
    operands = [(name, _arrays.placeholder(value)) for name, value in operands]
    return of_program(*_explain_expression(text, operands, rule))


def _typed(value, name, rule):
    """The type of an operand of another package, for explanations."""
    if rule != "named" or package_of(value) != "xarray" or not hasattr(value, "dtype"):
        return _arrays.foreign_placeholder(value, f"`{name}`")
    sizes = ", ".join(f"{dimension}: {size}" for dimension, size in value.sizes.items())
    return f"{_arrays.indim_name(value.dtype)}[{sizes}]"
