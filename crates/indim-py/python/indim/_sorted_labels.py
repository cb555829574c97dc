"""Labels of sorted elements: a sort moves elements along its axis, so those of the axis are not theirs.

Positions of sorted elements keep the labels, as pandas' ``argsort`` does; ranks, which are positions of
positions, belong to the elements. What is read at positions has labels of its own, which a program lacks.
"""

from __future__ import annotations

import re

_BODY = re.compile(r"^graph \{$(.*?)^\}", re.MULTILINE | re.DOTALL)

_LINE = re.compile(r" *(%\d+) = (\w+)(.*?) : (\w+)\[(.*?)\]")


def lines_of(text):
    """The lines of a graph in text form, without those of its regions."""
    return _BODY.search(text)[1].splitlines()


def line_parts(line):
    """The name of the value that a line computes, the operation, the names of its operands, the type of
    elements and the shape as text; None of a line that computes none."""
    made = _LINE.match(line)
    if made is None:
        return None
    name, operation, operands, element, shape = made.groups()
    return name, operation, re.findall(r"%\d+", operands), element, shape


def with_moved_elements(text):
    """The graph in text form for the classes of its axes: each sort reverses its axis, too, which joins it
    with no other."""
    lines, positions = [], {}
    for line in lines_of(text):
        parts = line_parts(line)
        if parts is not None:
            name, operation, operands, element, shape = parts
            ordered = next((positions[operand] for operand in operands if operand in positions), None)
            if operation == "sort":
                axis = int(re.search(r" axis=(\d+)", line)[1])
                if " result=values " in line:
                    lines.append(line.replace(f"{name} = ", f"{name}_sorted = ", 1))
                    line = _reversed(name, f"{name}_sorted", element, shape, axis)
                elif ordered is None:
                    positions[name] = element, shape, axis
            elif operation == "take" and operands[1] in positions:
                lines.append(_reversed(f"{name}_at", operands[1], *positions[operands[1]]))
                line = line.replace(f", {operands[1]} ", f", {name}_at ", 1)
            elif ordered is not None and ordered[1] == shape:
                positions[name] = element, shape, ordered[2]
        lines.append(line)
    body = "\n".join(lines) + "\n"
    return _BODY.sub(lambda _: f"graph {{{body}}}", text, count=1)


def _reversed(name, operand, element, shape, axis):
    """The line that computes an operand in reverse along an axis."""
    sizes = [int(size) for size in shape.split(",")]
    starts, steps = [0] * len(sizes), [1] * len(sizes)
    if sizes[axis] > 1:
        starts[axis], steps[axis] = sizes[axis] - 1, -1
    return f"  {name} = slice {operand} starts={starts} steps={steps} : {element}[{shape}]"
