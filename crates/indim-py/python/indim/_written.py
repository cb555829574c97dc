"""Writes programs in the formats of other systems."""

from __future__ import annotations

from typing import NamedTuple


class Decomposition(NamedTuple):
    """An operation that a format lacks, its replacement, and how often it occurs."""

    operation: str
    by: str
    times: int


class WrittenModel:
    """A program in the format of another system.

    ``content`` is the file; ``external_file`` is the name and the content of its companion file, or ``None``.
    ``composed`` lists the operations that the format lacks, with their replacements; ``warnings`` lists
    possible differences of the other system's results. ``carried`` maps each operation that indim cannot
    compute or write, and that is copied from the source, to the number of copies.
    """

    def __init__(self, content, external_file, composed, warnings, carried=()):
        self.content = content
        self.external_file = external_file
        self.composed = [Decomposition(*entry) for entry in composed]
        self.warnings = warnings
        self.carried = dict(carried)

    @property
    def text(self):
        """The content as text, for text formats."""
        return self.content.decode()

    def __bytes__(self):
        return self.content

    def __repr__(self):
        return f"<indim.WrittenModel: {len(self.content)} bytes, {len(self.composed)} operations composed>"
