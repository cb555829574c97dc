"""Findings about the broadcasts of models: illegal, unknown, or legal but probably unintended."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from ._indim import _lint


class OperandType(NamedTuple):
    """An operand of a node: its name, and its type as far as it is known (``"f32[N, 3]"``)."""

    name: str
    type: str


class Finding(NamedTuple):
    """A finding about a node of a model.

    ``code`` switches the finding off, and ``indim.explain_error(code)`` explains it. ``verdict`` is one of
    ``"illegal"``, ``"contradiction"``, ``"suspicious"``, ``"legal-if"``, ``"unknown"`` and ``"advice"``,
    ``level`` one of ``"error"``, ``"warning"`` and ``"note"``. ``line`` and ``column`` count from 1, and are
    ``None`` in a binary file; ``drawing`` shows the shapes of an illegal broadcast, ``repair`` one that was
    tried.
    """

    code: str
    verdict: str
    level: str
    node: str
    operator: str
    operands: tuple[OperandType, ...]
    results: tuple[str, ...]
    place: str
    line: int | None
    column: int | None
    message: str
    drawing: str | None
    repair: str | None


class LintReport(Sequence):
    """The findings about a model, in the order of its nodes.

    ``broadcasts`` counts the broadcasts by their verdicts, ``other_nodes`` the other nodes that are illegal,
    legal under conditions, or not judged by any rule; ``outline`` lists every node with its types, and
    ``str(report)`` is the text of ``indim lint``.
    """

    def __init__(self, text, json_text, sarif, outline):
        import json

        data = json.loads(json_text)
        self.file = data["file"]
        self.findings = tuple(_finding(**fields) for fields in data["findings"])
        self.broadcasts = data["broadcasts"]
        self.other_nodes = data["other_nodes"]
        self.outline = outline
        self.sarif = sarif
        self._texts = text, json_text, sarif, outline

    def passes(self, strict=False):
        """Whether no finding is an error, and with ``strict`` no broadcast is unknown."""
        return not any(
            finding.level == "error" or strict and finding.verdict == "unknown" for finding in self.findings
        )

    def __getitem__(self, index):
        return self.findings[index]

    def __len__(self):
        return len(self.findings)

    def __str__(self):
        return self._texts[0]

    def __repr__(self):
        return self._texts[0].rstrip()

    def __reduce__(self):
        return LintReport, self._texts


def _finding(operands, results, **fields):
    operands = tuple(OperandType(operand["name"], operand["type"]) for operand in operands)
    return Finding(operands=operands, results=tuple(results), **fields)


def lint(source, *, function=None, declare=None, allow=()):
    """Finds broadcasts in a model that are illegal, unknown or probably unintended, also around operators
    that indim does not compute. Nothing is computed, and weights are not read.

    ``source`` is the path of a file of StableHLO, HLO, OpenVINO IR or ONNX, its content as ``bytes``, or a
    loaded model. ``declare`` has types of values that the file leaves open, ``{"y": "f32[2, N]"}``;
    ``allow`` the codes of findings to leave out.
    """
    if isinstance(allow, str):
        raise TypeError(f"allow is a list of codes: write allow=[{allow!r}]")
    if hasattr(source, "lint"):
        return source.lint(declare=declare, allow=allow)
    if isinstance(source, (bytes, bytearray, memoryview)):
        path, content = "<bytes>", bytes(source)
    else:
        path, content = os.fspath(source), None
    return lint_file(path, content, function, declare, allow)


def lint_file(path, content, function, declare, allow):
    """The findings about a file, or about ``content``, which messages call ``path``."""
    return LintReport(*_lint(path, content, function, list((declare or {}).items()), list(allow)))
