"""Programs written for other systems."""

from __future__ import annotations

from typing import NamedTuple


class Composed(NamedTuple):
    """An operation that a format lacks, what stands for it, and how often."""

    operation: str
    by: str
    times: int


class Written:
    """A program in the format of another system.

    ``content`` is the file, ``beside`` its companion file, a name and its content, or ``None``.
    ``composed`` lists the operations that the format lacks, with what stands for each; ``warnings`` says
    where the other system may compute something else.
    """

    def __init__(self, content, beside, composed, warnings):
        self.content = content
        self.beside = beside
        self.composed = [Composed(*entry) for entry in composed]
        self.warnings = warnings

    @property
    def text(self):
        """The content as text, of a format that is one."""
        return self.content.decode()

    def __bytes__(self):
        return self.content

    def __repr__(self):
        return f"<indim.Written: {len(self.content)} bytes, {len(self.composed)} operations composed>"
